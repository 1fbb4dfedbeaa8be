//! The commit that is checked out, and the commits between two moments.

use anyhow::{Result, bail};

use super::{Git, MOST};
use crate::evidence::commits::{LogPlace, log_place};

/// The repository at one moment.
#[derive(Clone, Debug, Default)]
pub struct GitMoment {
    pub(super) fingerprint: u64,
    /// The commit that is checked out; `None` before the first one.
    pub head: Option<String>,
    /// The commits of all branches, tags and remotes.
    pub(super) tips: Vec<String>,
    /// git has answered.
    pub(super) known: bool,
}

impl GitMoment {
    /// The same commit is checked out, and no branch, tag or remote moved; `false` where git did not say.
    pub fn has_commits_of(&self, other: &Self) -> bool {
        self.known && other.known && self.head == other.head && self.tips == other.tips
    }
}

impl Git {
    /// Reuses `before` where nothing moved.
    pub fn moment(&self, before: Option<GitMoment>) -> GitMoment {
        let LogPlace { length: log, line } = log_place(&self.worktree);
        let fingerprint = log.wrapping_add(line);
        let last = before.unwrap_or_default();
        if fingerprint != 0 && last.fingerprint == fingerprint {
            return last;
        }
        // Unknown is no news, so git is asked again.
        let unknown = GitMoment { fingerprint: 0, ..last };
        let Ok(printed) = self.run(&["for-each-ref", "--format=%(HEAD)%(objectname)"], &[]) else {
            return unknown;
        };
        let refs = String::from_utf8_lossy(&printed);
        // The branch that is checked out has a star; there is none without a branch.
        let branch = refs.lines().find_map(|line| line.strip_prefix('*'));
        let head = branch.map(str::to_owned).or_else(|| self.commit_named("HEAD"));
        if self.is_silent() {
            return unknown;
        }
        let tips = refs.lines().filter_map(|line| line.get(1..)).map(str::to_owned).collect();
        GitMoment { fingerprint, head, tips, known: true }
    }

    /// New commits, oldest first: reachable from the commit at `now`, and `then` from no branch or tag.
    ///
    /// Switching to another branch makes no commit. An error means that git did not answer.
    pub fn commits_between(&self, then: &GitMoment, now: &GitMoment) -> Result<Vec<String>> {
        if !then.known || !now.known {
            bail!("it did not say what is checked out");
        }
        let Some(head) = now.head.as_ref().filter(|head| then.head.as_ref() != Some(*head)) else {
            return Ok(Vec::new());
        };
        // A tip may be a tag on something else, or be gone by now.
        let asked = ["rev-list", "--reverse", "--ignore-missing", "--max-count", MOST, "--stdin"];
        let printed = self.run(&asked, &wanted(head, then))?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }
}

/// Input of `git rev-list --stdin`: one commit, without those of `then`.
///
/// Each commit is excluded by itself: git before 2.42 takes no `--not` there.
pub(super) fn wanted(head: &str, then: &GitMoment) -> Vec<u8> {
    let mut wanted = format!("{head}\n").into_bytes();
    for tip in then.tips.iter().chain(&then.head) {
        wanted.extend_from_slice(format!("^{tip}\n").as_bytes());
    }
    wanted
}
