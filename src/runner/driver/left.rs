//! What a run begins with, kept until it ends: where its runner is killed, the next one judges what the agent had ticked.

use std::collections::BTreeMap;

use super::parts::Driver;
use super::ticks::{HandTick, TickProof, TickProofs};
use crate::engine::Work;
use crate::engine::proof::LeastProof;
use crate::engine::tasks::TaskList;
use crate::evidence::contents::{Contents, KeptContents};
use crate::evidence::task_list::{self, TaskFile};
use crate::runner::options::Counting;
use crate::runner::state::time_of;
use crate::runner::task_list::Tasks;
use crate::store::receipts::{KeptRun, MOST_FILES, Receipt, Witness};
use crate::world::{self, WallTime};

/// What a runner that was killed had begun with.
pub(super) struct LeftRun {
    /// When it began.
    pub(super) began_at: WallTime,
    /// The task list then.
    pub(super) list: TaskFile,
    named: Vec<String>,
    /// What the files contained then, `None` where there was more than could be looked through.
    at_start: Option<Contents>,
    /// The same when a task was proved last.
    at_tick: Option<Contents>,
}

impl Driver<'_> {
    /// Returns what the last runner had begun with where it was killed; `None` where it came to its end, where a person wants to
    /// begin at 0, and where every tick counts.
    pub(super) fn left_run(&self) -> Option<LeftRun> {
        let options = self.plan.options;
        if options.counting == Counting::FromZero || options.proof == LeastProof::Word {
            return None;
        }
        self.list_path()?;
        let receipts = self.receipts().ok()?;
        let run = receipts.run().filter(|run| run.folder == self.view.folder)?;
        let look =
            |bytes| KeptContents::parse(bytes).filter(|it| it.number == run.began_at.millis());
        let [start, tick] = receipts.run_contents().map(|bytes| bytes.and_then(look));
        let at_start = start?.contents;
        Some(LeftRun {
            began_at: run.began_at,
            at_tick: tick.and_then(|it| it.contents).or_else(|| at_start.clone()),
            at_start,
            named: run.named,
            list: TaskFile { list: TaskList::parse(&run.list), bytes: run.list },
        })
    }

    /// Continues with what a killed runner had begun with, and judges what its agent had ticked; `pinned` has what the run has
    /// pinned. What is protected only since then is compared with how it is now; `known` are the paths of what is protected.
    pub(super) fn begin_with(
        &mut self,
        left: LeftRun,
        pinned: TickProofs,
        known: &[String],
        list: &str,
    ) {
        let LeftRun { began_at, list: list_at_start, mut named, mut at_start, mut at_tick } = left;
        let new: Vec<String> = known.iter().filter(|it| !named.contains(it)).cloned().collect();
        if !new.is_empty() {
            named = [new.as_slice(), &named].concat();
            let new = self.in_worktree(&new);
            if let Ok(now) = self.look(list, &new, at_tick.as_ref()) {
                let with_new = |look: Contents| look.with_missing(&now, &new);
                (at_start, at_tick) = (at_start.map(with_new), at_tick.map(with_new));
            }
        }
        self.proofs = TickProofs {
            began_at,
            named,
            at_start,
            at_tick,
            list_at_start: Some(list_at_start),
            ..pinned
        };
        self.judge_left_ticks();
    }

    /// Keeps what this run begins with.
    pub(super) fn keep_run(&self) {
        let (Some(file), Ok(receipts)) = (&self.proofs.list_at_start, self.receipts()) else {
            return;
        };
        let run = KeptRun {
            began_at: self.proofs.began_at,
            folder: self.view.folder.to_owned(),
            named: self.proofs.named.clone(),
            list: file.bytes.clone(),
        };
        let contents = self.proofs.at_start.clone();
        let kept = KeptContents { number: run.began_at.millis(), contents };
        if let Err(error) = receipts.keep_run(&run, &kept.to_bytes()) {
            self.console.screen.warn(&format!(
                "what this run begins with is not kept: if its runner is killed, the boxes count that are ticked then: {error}"
            ));
        }
    }

    /// Removes what this run began with. Where that fails, the next one judges once more what has no receipt.
    pub(super) fn end_run(&self) {
        let _ = self.receipts().and_then(|receipts| receipts.end_run());
    }

    /// Judges what the agent of a killed runner had ticked, and that nobody has judged: what nothing proves counts as open, and
    /// the rest gets its receipt.
    fn judge_left_ticks(&mut self) {
        let Some(folder) = self.view.tasks.as_ref().and_then(Tasks::folder) else { return };
        let Ok(file) = task_list::read(&folder) else { return };
        self.take_in_receipts(&file);
        let cut_off = self.files.recovered.as_ref().and_then(|it| it.iteration.clone());
        let mut entry = cut_off.unwrap_or_default();
        let began_at = time_of(&entry.started).unwrap_or(self.proofs.began_at);
        let files = self.files_since_tick();
        entry.files_changed = files.len() as u64;
        entry.files = files.into_iter().take(MOST_FILES).collect();
        let mut looked = self.view.tasks.as_mut().map(Tasks::look).unwrap_or_default();
        self.judge_ticks(&mut looked, None, &mut entry, began_at);
        self.totals.ticked += looked.ticked.len();
        entry.tasks_ticked = looked.ticked;
        self.keep_receipts(&entry, began_at, world::now());
        if let Work::List { open, .. } = looked.work {
            self.totals.open_at_start = open;
        }
        // Boxes that are open again are no progress of the first iteration.
        self.files.state.ledger.fingerprint = Some(self.view.fingerprint());
    }

    /// Takes in how well the tasks are proved that have a receipt of this run and are done; the armed command of one that was
    /// ticked by hand has still to pass.
    fn take_in_receipts(&mut self, file: &TaskFile) {
        let mut known: BTreeMap<String, Receipt> = BTreeMap::new();
        for receipt in self.receipts_since(self.proofs.began_at) {
            if receipt.by != Witness::Review {
                known.insert(receipt.task.clone(), receipt);
            }
        }
        let newest = known.values().map(|receipt| receipt.iteration).max();
        for task in file.list.tasks.iter().filter(|task| task.done) {
            let id = self.proofs.id_of(task, &file.list);
            let Some(receipt) = known.remove(&id) else { continue };
            let is_by_done = receipt.by == Witness::Done;
            let proof =
                if is_by_done { self.proofs.judged_by_done(&receipt) } else { receipt.proof };
            let Some(proof) = proof else { continue };
            if Some(receipt.iteration) == newest {
                self.proofs.last.push(task.id.clone());
            }
            if let Some(why) = &receipt.no_change {
                self.proofs.no_change.insert(task.id.clone(), why.clone());
            }
            let Receipt { own: files, no_change, verify, .. } = receipt;
            let is_to_pass = !is_by_done && verify.is_none();
            let its = TickProof { proof, files, no_change, verify };
            let command = self.proofs.armed_command(&task.id, &file.list);
            if let Some(command) = command.filter(|_| is_to_pass) {
                let tick = HandTick { command, proof: its.clone() };
                self.proofs.by_hand.insert(task.id.clone(), tick);
            }
            self.proofs.claimed.extend(its.files.iter().cloned());
            self.proofs.accepted.insert(id, its);
        }
    }

    /// The files that differ since a task was proved last, the list left out.
    fn files_since_tick(&self) -> Vec<String> {
        let Some((list, before)) = self.list_path().zip(self.proofs.at_tick.as_ref()) else {
            return Vec::new();
        };
        let now = self.look(&list, &self.in_worktree(&self.proofs.named), Some(before));
        let changed = now.map(|now| now.changed_since(before)).unwrap_or_default();
        changed.into_iter().map(|file| file.path).collect()
    }
}
