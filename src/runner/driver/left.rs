//! What a run begins with, kept until its work is done: where it is stopped, a limit ends it, or its runner is killed, the next one
//! judges by it what the agent had ticked.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anyhow::{Result, anyhow};

use super::parts::Driver;
use super::ticks::{HandTick, TickProof, TickProofs};
use crate::engine::Work;
use crate::engine::proof::LeastProof;
use crate::engine::resumed::continued;
use crate::engine::tasks::TaskList;
use crate::evidence::contents::{Contents, KeptContents};
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::runner::options::Counting;
use crate::runner::state::time_of;
use crate::runner::task_list::Tasks;
use crate::session::proof::named_in;
use crate::store::kept_run::{KeptRun, StoppedRun};
use crate::store::receipts::{MOST_FILES, Receipt, Receipts, Witness};
use crate::world::{self, WallTime};

/// What a run had begun with that was stopped, or whose runner was killed.
pub(super) struct LeftRun {
    /// When it began.
    pub(super) began_at: WallTime,
    /// The task list then, with what a person has changed since a stop.
    pub(super) list: TaskFile,
    named: Vec<String>,
    /// How often it had been stopped.
    stops: u32,
    /// How it was left, `None` where its runner was killed: whatever is different then is the agent's.
    stop: Option<LeftAtStop>,
    /// What the files contained then, `None` where there was more than could be looked through.
    at_start: Option<Contents>,
    /// The same when a task was proved last.
    at_tick: Option<Contents>,
}

/// How a run was left that was stopped.
struct LeftAtStop {
    /// What the files contained, `None` where there was more than could be looked through.
    contents: Option<Contents>,
    /// Whether a person has changed the list since.
    is_list_changed: bool,
}

impl Driver<'_> {
    /// Returns what the last run had begun with where it was stopped, or its runner killed; `None` where it came to its end, where
    /// a person wants to begin at 0, and where every tick counts. An error where that cannot be read: what nothing proves would
    /// count.
    pub(super) fn left_run(&self) -> Result<Option<LeftRun>> {
        let options = self.plan.options;
        if options.counting == Counting::FromZero || options.proof == LeastProof::Word {
            return Ok(None);
        }
        let Some((_, receipts)) = self.list_path().zip(self.receipts().ok()) else {
            return Ok(None);
        };
        self.read_left_run(&receipts).map_err(|error| {
            anyhow!(
                "what the last run began with cannot be read, and nothing else tells which of its ticks are proved: {error}\nrun it again; --restart begins a new loop with the boxes as they are"
            )
        })
    }

    fn read_left_run(&self, receipts: &Receipts) -> io::Result<Option<LeftRun>> {
        let run = receipts.run()?.filter(|run| run.folder == self.view.folder);
        let folder = self.view.tasks.as_ref().and_then(Tasks::folder);
        let Some((run, folder)) = run.zip(folder) else { return Ok(None) };
        let look = |bytes: Vec<u8>| {
            // One that has no files ends with its number; one of another version has other bytes behind it.
            let has_none = bytes.last() == Some(&0);
            KeptContents::parse(bytes).filter(|it| {
                it.number == run.began_at.millis() && (it.contents.is_some() || has_none)
            })
        };
        let [start, tick] = receipts.run_contents()?;
        let start = start.and_then(look).ok_or_else(|| receipts.broken("run-start"))?;
        let at_start = start.contents;
        let tick = tick.map(|bytes| look(bytes).ok_or_else(|| receipts.broken("run-tick")));
        let tick = tick.transpose()?;
        let (mut bytes, mut stop) = (run.list.clone(), None);
        if let Some(left) = receipts.stop_of(&run)? {
            let now = task_list::read(&folder).map_err(|why| {
                io::Error::other(format!("`{}`: {why}", folder.join(TASKS).display()))
            })?;
            bytes = continued(&run.list, &left.list, &now.bytes);
            let is_list_changed = left.list != now.bytes;
            let contents = look(left.contents).and_then(|it| it.contents);
            stop = Some(LeftAtStop { contents, is_list_changed });
        }
        Ok(Some(LeftRun {
            began_at: run.began_at,
            at_tick: tick.and_then(|it| it.contents).or_else(|| at_start.clone()),
            at_start,
            named: run.named,
            stops: run.stops,
            stop,
            list: TaskFile { list: TaskList::parse(&bytes), bytes },
        }))
    }

    /// Continues with what a run had begun with, and judges what its agent had ticked; `pinned` has what the run has pinned. What
    /// is protected only since then is compared with how it is now; `known` are the paths of what is protected.
    pub(super) fn begin_with(
        &mut self,
        left: LeftRun,
        pinned: TickProofs,
        known: &[String],
        list: &str,
    ) {
        let LeftRun { began_at, list: list_at_start, mut named, mut at_start, mut at_tick, .. } =
            left;
        let known = [known, &named_in(&list_at_start.bytes)].concat();
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
            stops: left.stops,
            ..pinned
        };
        if let Some(stop) = left.stop {
            self.continue_stopped(&stop, list);
        }
        self.judge_left_ticks();
    }

    /// Takes what a person has changed since the stop as it is: it is no work of the agent, and what is protected is theirs to
    /// change. What the agent had changed stays its work.
    fn continue_stopped(&mut self, stop: &LeftAtStop, list: &str) {
        let named = self.in_worktree(&self.proofs.named);
        let now = stop
            .contents
            .as_ref()
            .and_then(|it| Some((it, self.look(list, &named, Some(it)).ok()?)));
        let is_changed = now.is_some_and(|(at_stop, now)| self.leave_to_person(at_stop, &now));
        if is_changed || stop.is_list_changed {
            self.keep_for_done();
        }
        self.proofs.stops += 1;
        let looks = [&self.proofs.at_start, &self.proofs.at_tick];
        let [start, tick] = looks.map(|look| self.kept_look(look.clone()));
        let (Some(run), Ok(receipts)) = (self.run_to_keep(), self.receipts()) else { return };
        let kept = self.write_with_room(|_| Ok(receipts.continue_run(&run, [&start, &tick])?));
        if let Err(error) = kept {
            let _ = receipts.forget_stop();
            self.warn_not_kept(&error);
        }
    }

    /// Does so with the files that differ from how they were at the stop; returns whether there are any.
    fn leave_to_person(&mut self, at_stop: &Contents, now: &Contents) -> bool {
        let changed = now.changed_since(at_stop);
        let Some(file) = self.proofs.list_at_start.as_ref().filter(|_| !changed.is_empty()) else {
            return false;
        };
        let protected = self.protected(&self.changed_since(now, at_stop), file);
        let is_protected = |path: &str| protected.contains(&self.in_project(path));
        let with_theirs = |then: &Contents| {
            let of_agent: BTreeSet<String> =
                at_stop.changed_since(then).into_iter().map(|file| file.path).collect();
            let is_theirs = |path: &&str| !of_agent.contains(*path) || is_protected(path);
            let theirs = changed.iter().map(|file| file.path.as_str()).filter(is_theirs);
            then.clone().with_those_of(now, &theirs.collect())
        };
        let looks = [&self.proofs.at_start, &self.proofs.at_tick];
        let [at_start, at_tick] = looks.map(|look| look.as_ref().map(with_theirs));
        (self.proofs.at_start, self.proofs.at_tick) = (at_start, at_tick);
        true
    }

    /// Keeps the same for `spool task done`, where that judges by the rule of the run.
    fn keep_for_done(&self) {
        let (Some(since), Some(file)) = (self.proofs.judged_since, &self.proofs.list_at_start)
        else {
            return;
        };
        if self.plan.change.root != self.view.folder {
            return;
        }
        let looks = [&self.proofs.at_start, &self.proofs.at_tick];
        let [start, tick] = looks.map(|look| self.kept_look(look.clone()));
        let kept = self.receipts().and_then(|receipts| {
            receipts.keep_armed(since.millis(), &start, &file.bytes)?;
            receipts.keep_contents(&tick)
        });
        if let Err(error) = kept {
            self.console.screen.warn(&format!(
                "`spool task done` takes what you have changed since the stop for the work of the agent: it is not kept: {error}"
            ));
        }
    }

    /// A look at the files as bytes that are kept of this run.
    fn kept_look(&self, contents: Option<Contents>) -> Vec<u8> {
        KeptContents { number: self.proofs.began_at.millis(), contents }.to_bytes()
    }

    /// What this run begins with, `None` without a list.
    fn run_to_keep(&self) -> Option<KeptRun> {
        Some(KeptRun {
            began_at: self.proofs.began_at,
            folder: self.view.folder.to_owned(),
            named: self.proofs.named.clone(),
            stops: self.proofs.stops,
            list: self.proofs.list_at_start.as_ref()?.bytes.clone(),
        })
    }

    fn warn_not_kept(&self, error: &anyhow::Error) {
        self.console.screen.warn(&format!(
            "what this run begins with is not kept: if its runner is killed, the boxes count that are ticked then: {error:#}"
        ));
    }

    /// Keeps what this run begins with.
    pub(super) fn keep_run(&mut self) {
        let (Some(run), Ok(receipts)) = (self.run_to_keep(), self.receipts()) else { return };
        let kept = self.kept_look(self.proofs.at_start.clone());
        if let Err(error) = self.write_with_room(|_| Ok(receipts.keep_run(&run, &kept)?)) {
            self.warn_not_kept(&error);
        }
    }

    /// Removes what this run began with, or keeps it with how it is left where work of it may be judged by the next run. Where the
    /// first fails, the next one judges once more what has no receipt.
    pub(super) fn leave_run(&self) {
        if self.files.state.leaves_work() {
            self.keep_stop();
        } else {
            let _ = self.receipts().and_then(|receipts| receipts.end_run());
        }
    }

    /// Keeps how this run is left: what is changed later is not the agent's.
    pub(super) fn keep_stop(&self) {
        let list = self.list_path().filter(|_| self.plan.options.proof != LeastProof::Word);
        let folder = self.view.tasks.as_ref().and_then(Tasks::folder);
        let (Some(list), Some(folder), Ok(receipts)) = (list, folder, self.receipts()) else {
            return;
        };
        let Ok(file) = task_list::read(&folder) else { return };
        let earlier = self.proofs.at_tick.as_ref();
        let look = || self.look(&list, &self.in_worktree(&self.proofs.named), earlier).ok();
        let stop = StoppedRun {
            began_at: self.proofs.began_at,
            stops: self.proofs.stops,
            list: file.bytes,
            contents: self.kept_look(earlier.and_then(|_| look())),
            ..StoppedRun::default()
        };
        if let Err(error) = receipts.keep_stop(&stop) {
            self.console.screen.warn(&format!(
                "how this run is left is not kept: boxes that you tick before the next one are judged as if its agent had ticked them: {error}"
            ));
        }
    }

    /// Judges what the agent of a stopped or killed run had ticked, and that nobody has judged: what nothing proves counts as open, and
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
        if matches!(looked.work, Work::List { .. }) {
            self.totals.open_at_start = looked.open;
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
        for (task, id, _) in self.proofs.done(&file.list) {
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
