//! Git as evidence: the commits of an iteration, and what it may commit itself.
//!
//! Without git, or without a repository, there is simply no such evidence.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::capture::Captured;
use super::harness::{Input, Launch};
use crate::evidence::commits::{head_fingerprint, repository_of};
use crate::evidence::tree::is_own;

/// The most commits of one iteration that are recorded.
const MOST: &str = "1000";
/// Stands for a commit where a repository has none yet, as in git's own records.
pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";
/// What a surrounding git would tell ours about another repository.
const FOREIGN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// The repository around a work tree.
#[derive(Clone, Debug)]
pub struct Git {
    worktree: PathBuf,
}

/// What the repository looked like at one moment.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    fingerprint: u64,
    /// The commit that is checked out, `None` before the first one.
    pub head: Option<String>,
    /// The commits that all branches, tags and remotes stand at, one a line.
    tips: Vec<u8>,
}

impl Git {
    /// Returns the repository, `None` when there is none or git is missing.
    pub fn of(worktree: &Path) -> Option<Self> {
        repository_of(worktree)?;
        let git = Self { worktree: worktree.to_owned() };
        git.run(&["rev-parse", "--git-dir"], &[]).ok()?;
        Some(git)
    }

    /// Returns what the repository looks like now; the one before is taken over where nothing moved.
    pub fn moment(&self, before: Option<Moment>) -> Moment {
        let fingerprint = head_fingerprint(&self.worktree);
        if let Some(before) = before.filter(|it| fingerprint != 0 && it.fingerprint == fingerprint)
        {
            return before;
        }
        // One start of git tells both; it fails before the first commit.
        if let Ok(told) = self.run(&["rev-parse", "HEAD", "--all"], &[]) {
            let end = told.iter().position(|byte| *byte == b'\n').map_or(told.len(), |at| at + 1);
            let head = String::from_utf8_lossy(&told[..end]).trim().to_owned();
            let head = Some(head).filter(|head| is_commit_name(head));
            return Moment { fingerprint, head, tips: told[end..].to_vec() };
        }
        let tips = ["for-each-ref", "--format=%(objectname)"];
        Moment { fingerprint, head: self.head(), tips: self.run(&tips, &[]).unwrap_or_default() }
    }

    /// Returns the commits that are reachable from what is checked out at the moment `now` and were not
    /// reachable from any branch or tag then, oldest first.
    ///
    /// Switching to another branch makes no commit, whatever stands on it. An error says that git could
    /// not be asked.
    pub fn commits_between(&self, then: &Moment, now: &Moment) -> Result<Vec<String>> {
        let Some(head) = now.head.as_ref().filter(|head| then.head.as_ref() != Some(*head)) else {
            return Ok(Vec::new());
        };
        // A tip may be a tag on something else than a commit, or be gone by now.
        let asked = ["rev-list", "--reverse", "--ignore-missing", "--max-count", MOST, "--stdin"];
        let printed = self.run(&asked, &wanted(head, then))?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    /// Returns the commits that came on top of `head`, oldest first; for an iteration whose runner died.
    /// On top of [`NO_COMMIT`], these are all that are reachable.
    pub fn commits_on_top_of(&self, head: &str) -> Vec<String> {
        if !is_commit_name(head) {
            return Vec::new();
        }
        let range = if head == NO_COMMIT { "HEAD".to_owned() } else { format!("{head}..HEAD") };
        let asked = ["rev-list", "--reverse", "--max-count", MOST, &range, "--"];
        let printed = self.run(&asked, &[]).unwrap_or_default();
        String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
    }

    /// Returns the files that differ between a commit and what is checked out, the loop's own left out.
    pub fn files_since(&self, head: Option<&str>) -> Vec<PathBuf> {
        // The empty tree stands for "no commit yet"; its name is the same in every repository.
        let head = head.unwrap_or("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let asked =
            ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", head, "HEAD", "--"];
        let mut files = paths(&self.run(&asked, &[]).unwrap_or_default());
        files.retain(|file| !file.ancestors().any(is_own));
        files
    }

    /// Returns the files that git calls changed or new, ignored ones left out.
    pub fn dirty(&self) -> Vec<PathBuf> {
        self.status().unwrap_or_default()
    }

    fn status(&self) -> Result<Vec<PathBuf>> {
        let asked = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
        let printed = self.run(&asked, &[])?;
        // Each entry begins with two letters and a blank.
        let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
        Ok(entries.map(|entry| path(&entry[3..])).collect())
    }

    /// Returns these files without the ignored ones.
    pub fn not_ignored(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        if files.is_empty() {
            return files;
        }
        // Its code is 1 when none is ignored: no error, and nothing printed.
        let ignored = self.run(&["check-ignore", "-z", "--stdin"], &joined(&files));
        let ignored = paths(&ignored.unwrap_or_default());
        files.into_iter().filter(|file| !ignored.contains(file)).collect()
    }

    /// Commits these files and no others, and returns whether there was a commit to make: not when none
    /// of them differs.
    ///
    /// What the person has staged stays staged. A commit runs programs of the repository's own, its
    /// hooks, which take as long as they like: `run` runs git in a way that can be ended.
    pub fn commit(
        &self,
        files: &[PathBuf],
        message: &str,
        run: &mut dyn FnMut(Launch) -> Result<Captured>,
    ) -> Result<bool> {
        let dirty = self.status().context("`git status` failed")?;
        let files: Vec<PathBuf> = files.iter().filter(|it| dirty.contains(it)).cloned().collect();
        if files.is_empty() {
            return Ok(false);
        }
        if let Some(what) = self.in_the_middle_of() {
            bail!("{what} is under way in the repository, and a commit would become a part of it");
        }
        let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        let names = joined(&files);
        // Only new files have to be made known; one that is gone from disk and index alike cannot be added.
        let is_there = |file: &&PathBuf| self.worktree.join(file).symlink_metadata().is_ok();
        let there: Vec<PathBuf> = files.iter().filter(is_there).cloned().collect();
        if !there.is_empty() {
            // `git status` has named none that is ignored, unless it is tracked all the same.
            let add = ["--literal-pathspecs", "add", "--all", "--force"];
            let add = [&add[..], &from_input].concat();
            self.run(&add, &joined(&there)).context("`git add` failed")?;
        }
        let commit = ["--literal-pathspecs", "commit", "--quiet", "--only", "--message", message];
        let launch = self.launch(&[&commit[..], &from_input].concat(), names);
        let done = run(launch).context("`git commit` failed")?;
        if done.is_success() {
            return Ok(true);
        }
        let said = String::from_utf8_lossy(&done.printed).trim().to_owned();
        match (done.ended.left.code, said.as_str()) {
            _ if done.timed_out() => bail!("`git commit` took too long, and was ended: a hook?"),
            (Some(code), "") => {
                bail!("`git commit` ended with code {code} and without a word: a hook?")
            }
            (None, "") => bail!("`git commit` was ended"),
            (_, said) => bail!("`git commit` failed: {said}"),
        }
    }

    /// Returns what is in the middle of being done in the repository, such as a rebase; a commit would
    /// become a part of it.
    pub fn in_the_middle_of(&self) -> Option<&'static str> {
        let repository = repository_of(&self.worktree)?;
        let marks = [
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
        ];
        marks.into_iter().find(|(name, _)| repository.join(name).exists()).map(|(_, what)| what)
    }

    fn head(&self) -> Option<String> {
        let printed = self.run(&["rev-parse", "--verify", "--quiet", "HEAD"], &[]).ok()?;
        let head = String::from_utf8_lossy(&printed).trim().to_owned();
        is_commit_name(&head).then_some(head)
    }

    /// A git that somebody else runs.
    fn launch(&self, arguments: &[&str], input: Vec<u8>) -> Launch {
        let mut all: Vec<OsString> = vec!["-C".into(), self.worktree.clone().into()];
        all.extend(arguments.iter().map(Into::into));
        Launch {
            program: "git".into(),
            arguments: all,
            set: vec![("GIT_TERMINAL_PROMPT".to_owned(), "0".into())],
            unset: FOREIGN.map(str::to_owned).to_vec(),
            input: Input::Text(input),
            ..Launch::default()
        }
    }

    /// Runs git with `input` on its standard input and returns what it printed.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.worktree).args(["-c", "core.quotePath=false"]);
        // A monitor of the repository's own may hang, and a daemon would stay behind.
        command.args(["-c", "core.fsmonitor=false"]).args(arguments);
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        let mut child = command.spawn().context("`git` cannot be started")?;
        let writer = child.stdin.take().map(|mut stdin| {
            let input = input.to_vec();
            // In a thread of its own, so that neither side waits for the other to read.
            std::thread::spawn(move || stdin.write_all(&input))
        });
        let output = child.wait_with_output()?;
        if let Some(writer) = writer {
            drop(writer.join());
        }
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output.stdout)
    }
}

/// What is asked of `git rev-list --stdin`: one commit, without those that were there then.
///
/// Each one is excluded by itself: git before 2.42 takes no `--not` there.
fn wanted(head: &str, then: &Moment) -> Vec<u8> {
    let mut wanted = format!("{head}\n").into_bytes();
    let before = then.head.as_deref().map(str::as_bytes);
    let tips = then.tips.split(|byte| *byte == b'\n').filter(|tip| !tip.is_empty());
    for tip in tips.chain(before) {
        wanted.push(b'^');
        wanted.extend_from_slice(tip);
        wanted.push(b'\n');
    }
    wanted
}

fn is_commit_name(name: &str) -> bool {
    name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn joined(files: &[PathBuf]) -> Vec<u8> {
    let mut names = Vec::new();
    for file in files {
        names.extend_from_slice(file.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    names
}

fn paths(printed: &[u8]) -> Vec<PathBuf> {
    printed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path).collect()
}

#[cfg(unix)]
fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsString::from(OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from(&*String::from_utf8_lossy(name)))
}

#[cfg(test)]
mod tests;
