//! What a person can do about protected files that the agent changed: put them back, or accept them.

use std::path::Path;

use super::ticks::TickProofs;
use super::work_tree::WorkTree;
use crate::engine::proof::{Unproved, UnprovedReason};
use crate::runner::git::NO_COMMIT;
use crate::runner::state::{tail, time_of};
use crate::runner::summary::{SHORT, git_in};
use crate::world::WallTime;

/// Files in one command.
const MOST: usize = 10;

impl TickProofs {
    /// Lines about a tick that protected files hold up, each behind a line break. Empty for any other tick, and where
    /// this runner has named all of the files before.
    pub(super) fn how_to_put_back(
        &mut self,
        why: &Unproved,
        tree: &WorkTree<'_>,
        loop_folder: &Path,
    ) -> String {
        let paths = &why.files;
        if why.reason != UnprovedReason::ProtectedChanged {
            return String::new();
        }
        let known = self.told_put_back.len();
        self.told_put_back.extend(paths.iter().cloned());
        if self.told_put_back.len() == known {
            return String::new();
        }
        let them = if paths.len() == 1 { "it" } else { "them" };
        let back = match self.command_to_put_back(paths, tree, loop_folder) {
            Some(command) => format!("To put {them} back: {command}"),
            None => format!("To put {them} back: as before the loop began"),
        };
        format!(
            "\n    {back}\n    To accept {them}: stop the loop, tick what is done, run it again with --restart"
        )
    }

    /// The command that restores these files from the commit on which the run began; `None` if the commit does not have
    /// all of them as they were at arming.
    fn command_to_put_back(
        &self,
        paths: &[String],
        tree: &WorkTree<'_>,
        loop_folder: &Path,
    ) -> Option<String> {
        let git = tree.git.as_ref()?;
        let judge = self.judge.as_ref()?;
        let (files, at_start) = (judge.place.looked_at(paths), judge.looks().armed.as_ref()?);
        let commit = commit_at_begin(judge.armed.at, tree, loop_folder)?;
        // The command would lose what was not committed when the run began.
        let is_as_before = |path: &String| {
            // git would read a pattern.
            let is_plain = !path.starts_with(':') && !path.contains(['*', '?', '[', '\\']);
            let committed = is_plain.then(|| git.file_at(&commit, path)).flatten();
            committed.is_some_and(|bytes| at_start.had(path, &bytes))
        };
        if files.len() > MOST || !files.iter().all(is_as_before) {
            return None;
        }
        let is_elsewhere = tree.plan.options.start != tree.path();
        let git = git_in(is_elsewhere.then_some(tree.path()));
        let short: String = commit.chars().take(SHORT).collect();
        Some(format!("{git} checkout {short} -- {}", shell_words::join(&files)))
    }
}

/// The commit on which the run, or the run that it continues, began.
fn commit_at_begin(began_at: WallTime, tree: &WorkTree<'_>, loop_folder: &Path) -> Option<String> {
    let past = tail(&loop_folder.join("history.jsonl"), usize::MAX).unwrap_or_default();
    let mut past = past.iterations.into_iter().map(|past| past.iteration);
    let first = past.find(|first| time_of(&first.started).is_some_and(|at| at >= began_at));
    let commit = first.map_or_else(|| tree.head_at_start(), |first| first.head_at_start);
    Some(commit).filter(|commit| !commit.is_empty() && commit != NO_COMMIT)
}
