//! Caveats for a person who reads only the end of a loop.

use std::path::{Path, PathBuf};

use super::parts::Driver;
use super::work_tree::WorkTree;
use crate::checks::noted_by_reviews;
use crate::engine::matched::Matched;
use crate::engine::tasks::TaskList;
use crate::engine::{Converging, TerminalReason};
use crate::evidence::work_trees::{copies, path_from};
use crate::feature::lists::others_in_words;
use crate::judge::promised::doubt;
use crate::runner::messages::some_of;
use crate::runner::screen::counted;
use crate::session::messages::shortfall::{NOT_COMPARED, NOT_CONVERGED, hooks_in_words};
use crate::system::files::real_path;
use crate::system::names;
use crate::text::{counted_as, title};

/// Tasks in one line.
const NAMED: usize = 10;

impl Driver<'_> {
    /// Doubts about the end, a sentence each; none of them is proof.
    pub(super) fn doubts(&self, reason: &TerminalReason) -> Vec<String> {
        let is_done = *reason == TerminalReason::Completed;
        let list = self.tree.tasks.as_ref().map(|tasks| tasks.path.as_path());
        let tasks = self.tree.tasks.as_ref().filter(|_| is_done);
        let ledger = &self.files.state.ledger;
        let all = [
            Some(doubt(ledger)).filter(|words| !words.is_empty()),
            list.and_then(|list| self.only_boxes(list)),
            self.unchanged(),
            self.tree.looked_list().and_then(|list| self.vanished(list)),
            tasks.and_then(|tasks| tasks.looked.as_ref()?.list.uncounted()),
            self.tree.work_elsewhere(),
            self.tree.not_committed(),
            self.tree.lost_repository(),
            is_done.then(|| self.unseen_hooks()).flatten(),
            not_compared(ledger.converging),
        ];
        let checked = self.proofs.checked.iter().filter(|_| is_done);
        let noted = checked.flat_map(|run| noted_by_reviews(&run.results));
        // The agent may have written another list.
        let others = tasks.and_then(|_| others_in_words(&self.plan.change.folder));
        all.into_iter().flatten().chain(noted).chain(others).collect()
    }

    fn only_boxes(&self, list: &Path) -> Option<String> {
        let (ticked, list) = (self.totals.ticked, real_path(list).ok());
        let path_of = |file: &PathBuf| real_path(&self.tree.path().join(file)).ok();
        let is_list = |file: &PathBuf| list.is_some() && path_of(file) == list;
        if ticked == 0 || !self.tree.touched.iter().chain(&self.tree.aside).all(is_list) {
            return None;
        }
        let boxes = counted_as(ticked, "box was", "boxes were");
        Some(format!(
            "{boxes} ticked, and no other file was changed: see whether the work is there"
        ))
    }

    fn unchanged(&self) -> Option<String> {
        let all = &self.proofs.no_change;
        let shown = all.iter().take(NAMED).map(|(id, why)| format!("{id} ({})", title(why, 80)));
        let named = shown.collect::<Vec<_>>().join(", ");
        let more = if all.len() > NAMED { ", …" } else { "" };
        let tasks = counted(all.len() as u64, "task");
        (!all.is_empty())
            .then(|| format!("{tasks} changed nothing, and the agent says why: {named}{more}"))
    }

    fn vanished(&self, list: &TaskList) -> Option<String> {
        let then = self.proofs.list_at_start.as_ref()?;
        let gone = Matched::of(&then.list, list).missing();
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        let (tasks, named) = (counted_as(gone.len(), "task was", "tasks were"), some_of(&gone));
        (!gone.is_empty())
            .then(|| format!("{tasks} open at the start, and not in the list any more: {named}"))
    }

    /// A runner cannot see which commands its agent carried out.
    fn unseen_hooks(&self) -> Option<String> {
        let hooks = hooks_in_words(&self.plan.options.spec_kit.hooks);
        (!hooks.is_empty()).then(|| {
            format!("whether the extension hooks of spec-kit ran cannot be seen from here: {hooks}")
        })
    }
}

impl WorkTree<'_> {
    fn work_elsewhere(&self) -> Option<String> {
        let root = self.path();
        let has_work = |copy: &PathBuf| {
            let path = path_from(root, copy);
            let path = names::from_bytes(&path);
            self.aside.iter().any(|file| file.starts_with(&*path))
        };
        let copies = copies(root, Some(self.began)).into_iter().filter(has_work);
        let named: Vec<String> = copies.map(|copy| title(&copy.to_string_lossy(), 200)).collect();
        (!named.is_empty()).then(|| format!("work is in another work tree: {}", named.join(", ")))
    }

    fn lost_repository(&self) -> Option<String> {
        let why = self.git.as_ref()?.lasting("HEAD", Vec::new()).err()?.to_string();
        Some(format!("git cannot say what was committed and changed: {}", title(&why, 200)))
    }

    fn not_committed(&self) -> Option<String> {
        let files = counted(self.uncommitted.len() as u64, "file");
        (!self.uncommitted.is_empty())
            .then(|| format!("{files} could not be committed: see `git status`"))
    }
}

fn not_compared(converging: Converging) -> Option<String> {
    let is_over = converging.is_over() && !converging.passed;
    let words = if converging.asked.is_some() { NOT_CONVERGED } else { NOT_COMPARED };
    (is_over || converging.asked.is_some()).then(|| words.to_owned())
}
