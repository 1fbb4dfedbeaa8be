//! The receipts of tasks that somebody ticked by hand in an iteration.

use std::io;

use super::parts::Driver;
use crate::runner::state::Iteration;
use crate::store::receipts::{MOST_FILES, Receipt, Receipts, Witness};
use crate::system::names;
use crate::world::WallTime;

impl Driver<'_> {
    /// Keeps a receipt for each task that was ticked in an iteration and for which `spool task done` has kept none; a
    /// warning says why one cannot be kept.
    pub(super) fn keep_receipts(&self, entry: &Iteration, began_at: WallTime, at: WallTime) {
        let is_any = !entry.tasks_ticked.is_empty() || !self.verified().is_empty();
        if is_any && let Err(error) = self.try_to_keep_receipts(entry, began_at, at) {
            self.console
                .screen
                .warn(&format!("the receipts of this iteration are not kept: {error}"));
        }
    }

    fn try_to_keep_receipts(
        &self,
        entry: &Iteration,
        began_at: WallTime,
        at: WallTime,
    ) -> io::Result<()> {
        let root = self.view.folder;
        let list = self.view.tasks.as_ref().map_or(root, |tasks| tasks.path.as_path());
        let list = names::with_slashes(list.strip_prefix(root).unwrap_or(list));
        let receipts = Receipts::of(root, &self.plan.change.id, &list)?;
        let mut known = receipts.all();
        known.retain(|receipt| receipt.at >= began_at);
        let is_list = |file: &&String| **file == list;
        let lists = entry.files.iter().filter(is_list).count();
        let files = entry.files.iter().filter(|file| !is_list(file)).take(MOST_FILES);
        let files: Vec<String> = files.cloned().collect();
        let named = (lists + files.len()) as u64;
        let verified = self.verified();
        for task in entry.tasks_ticked.iter().chain(&verified) {
            if known.iter().any(|receipt| receipt.task == *task) {
                continue;
            }
            receipts.add(&self.add_proof(Receipt {
                at,
                task: task.clone(),
                by: Witness::Iteration,
                session: entry.session_id.clone(),
                iteration: entry.n,
                more_files: entry.files_changed.saturating_sub(named),
                files: Some(files.clone()),
                commits: self.view.git.as_ref().map(|_| entry.commits.len() as u64),
                checks: entry.checks.clone(),
                tokens: (!entry.tokens_unknown).then_some(entry.tokens_used),
                ..Receipt::default()
            }))?;
        }
        Ok(())
    }
}
