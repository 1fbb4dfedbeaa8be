//! Receipts of tasks ticked by hand in an iteration.

use std::collections::BTreeSet;
use std::io;

use anyhow::Result;

use super::parts::Driver;
use crate::runner::state::{Iteration, time_of};
use crate::store::receipts::{MOST_FILES, Receipt, Receipts, Witness};
use crate::world::WallTime;

impl Driver<'_> {
    /// Keeps a receipt for each ticked task without one from `spool task done`, and notes a passed review in the
    /// receipts of the tasks that it read. A warning tells why nothing is kept.
    pub(super) fn keep_receipts(&mut self, entry: &Iteration, began_at: WallTime, at: WallTime) {
        let is_any = !entry.tasks_ticked.is_empty()
            || self.proofs.ticks.to_keep().next().is_some()
            || self.proofs.reviewed.is_some();
        if !is_any {
            return;
        }
        let mut kept = self.try_to_keep_receipts(entry, began_at, at);
        if self.files.frees_room_for(&kept) {
            kept = self.try_to_keep_receipts(entry, began_at, at);
        }
        if let Err(error) = kept {
            self.console
                .screen
                .warn(&format!("the receipts of this iteration are not kept: {error:#}"));
        }
    }

    fn try_to_keep_receipts(
        &self,
        entry: &Iteration,
        began_at: WallTime,
        at: WallTime,
    ) -> Result<()> {
        let list = self.tree.list_under(self.tree.path());
        let receipts = self.tree.receipts()?;
        let mut known = receipts.all();
        // A clock that was set back makes an earlier iteration's receipt as new as this one's. The number is 0 for a
        // runner killed between two iterations: all receipts of its run are known.
        known.retain(|receipt| {
            let is_of_this = match receipt.by {
                Witness::Review => false,
                Witness::Iteration => receipt.iteration >= entry.n,
                _ => true,
            };
            is_of_this && receipt.at >= began_at
        });
        let files = entry.files.iter().filter(|file| **file != list).take(MOST_FILES);
        let judge = self.proofs.judge.as_ref();
        let in_project = |file: &String| judge.map(|judge| judge.place.in_project(file));
        let files: Vec<String> = files.filter_map(in_project).collect();
        let form = |task: &str| Receipt {
            at,
            task: task.to_owned(),
            by: Witness::Iteration,
            session: entry.session_id.clone(),
            iteration: entry.n,
            more_files: entry.files_changed.saturating_sub(files.len() as u64),
            files: Some(files.clone()),
            commits: self.tree.git.as_ref().map(|_| entry.commits.len() as u64),
            checks: entry.checks.clone(),
            tokens: (!entry.tokens_unknown).then_some(entry.tokens_used),
            reviewer: self.proofs.reviewer_of(task),
            ..Receipt::default()
        };
        let ticks = &self.proofs.ticks;
        let mut written: Vec<Receipt> =
            ticks.to_keep().map(|tick| ticks.receipt(tick, form(&tick.id))).collect();
        let mut new: BTreeSet<String> = ticks.to_keep().map(|tick| tick.id.clone()).collect();
        for task in &entry.tasks_ticked {
            if !new.contains(task) && known.iter().all(|receipt| receipt.task != *task) {
                new.insert(task.clone());
                written.push(form(task));
            }
        }
        match judge.filter(|_| !ticks.proved.is_empty()) {
            Some(judge) => judge.add_receipts(&written, judge.looks().tick.as_ref())?,
            None => receipts.add_all(&written)?,
        }
        Ok(self.keep_review(&receipts, &new)?)
    }

    /// Notes a passed review in the earlier receipts of done tasks that it read; new receipts already have it.
    fn keep_review(&self, receipts: &Receipts, new: &BTreeSet<String>) -> io::Result<()> {
        let Some((reader, _)) = &self.proofs.reviewed else { return Ok(()) };
        let list = self.tree.looked_list().into_iter();
        let done = list.flat_map(|list| &list.tasks).filter(|task| task.done);
        let read = done.map(|task| &task.id).filter(|id| self.proofs.reviewer_of(id).is_some());
        let read: BTreeSet<&str> =
            read.filter(|id| !new.contains(*id)).map(String::as_str).collect();
        let since = time_of(&self.files.state.started_at).unwrap_or_default();
        receipts.reviewed(reader, since, &|id| read.contains(id))
    }
}
