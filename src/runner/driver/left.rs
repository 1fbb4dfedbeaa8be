//! The beginning of a run: the terms that a person arms by starting the run, and the baseline of an earlier run.
//!
//! Baseline of a run: the list and file contents with which it began. After a stop, a limit or a kill, the next run judges
//! ticks by the baseline.

use std::collections::BTreeSet;
use std::io;
use std::rc::Rc;

use anyhow::{Result, anyhow};

use super::parts::Driver;
use super::ticks::TickProofs;
use super::work_tree::WorkTree;
use crate::engine::Check;
use crate::engine::proof::LeastProof;
use crate::engine::resumed::continued;
use crate::engine::tasks::Task;
use crate::evidence::contents::{Contents, KeptContents};
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::feature::project::{Feature, Project};
use crate::feature::requirements::specification;
use crate::judge::{LOOK, Looks, TickJudge};
use crate::runner::options::{Counting, Options};
use crate::runner::screen::Screen;
use crate::runner::state::{EarlierLoop, time_of};
use crate::runner::target::{Change, ChangeKind};
use crate::runner::task_list::Tasks;
use crate::session::arm::feature::keep_specification;
use crate::session::pinned;
use crate::session::view::{judge_of, list_of};
use crate::store::kept_run::{KeptRun, StoppedRun};
use crate::store::loops::VerifyCommands;
use crate::store::names::ArmedBy;
use crate::store::pins::{Pin, PinKey, Pins};
use crate::store::receipts::{MOST_FILES, Receipts, armed_specification, newest};
use crate::world::{self, WallTime};

/// The baseline of a run that was stopped or whose runner was killed.
pub(super) struct LeftRun {
    pub(super) run: KeptRun,
    /// The task list at the beginning, with a person's changes since a stop.
    pub(super) list: Rc<TaskFile>,
    /// `None` for a killed runner: then every difference is the agent's.
    stop: Option<LeftAtStop>,
    /// Contents at the beginning, and at the last proved task.
    looks: Looks,
}

/// The state at a stop.
struct LeftAtStop {
    /// `None` for a project too large for a look.
    contents: Option<Contents>,
    /// A person changed the list since.
    is_list_changed: bool,
}

/// The pin of a run; removed on drop.
pub(super) struct RunPin<'a> {
    change: &'a Change,
    /// The beginning of the run, or of the run that it continues.
    pub(super) armed_at: WallTime,
    /// Empty if they could not be kept.
    pub(super) commands: VerifyCommands,
    /// The time of arming for `spool task done`, if that can judge by the run's rule.
    pub(super) judged_since: Option<WallTime>,
    /// Lines that show the commands, or say that they cannot be kept; empty for none.
    pub(super) words: String,
}

impl WorkTree<'_> {
    /// The baseline of the last run. `None` if that run is over, if a person starts from zero, or if every tick counts.
    /// An unreadable baseline is an error: without it, unproved ticks would count.
    pub(super) fn left_run(&self) -> Result<Option<LeftRun>> {
        let options = self.plan.options;
        if options.counting == Counting::FromZero || options.settings.proof() == LeastProof::Word {
            return Ok(None);
        }
        let Some((_, receipts)) = self.list_path().zip(self.run_receipts().ok()) else {
            return Ok(None);
        };
        self.read_left_run(&receipts).map_err(|error| {
            anyhow!(
                "what the last run began with cannot be read, and nothing else tells which of its ticks are proved: {error}\nmake that readable and run it again; --restart begins a new loop with the boxes as they are"
            )
        })
    }

    fn read_left_run(&self, receipts: &Receipts) -> io::Result<Option<LeftRun>> {
        let run = receipts.run()?.filter(|run| run.folder == self.path());
        let folder = self.list_folder();
        let Some((run, folder)) = run.zip(folder) else { return Ok(None) };
        let look = |bytes: Vec<u8>| {
            // A look without files ends with its number; a look of another version has other bytes behind the number.
            let has_none = bytes.last() == Some(&0);
            KeptContents::parse(bytes).filter(|kept| {
                kept.number == run.began_at.millis() && (kept.contents.is_some() || has_none)
            })
        };
        let [start, tick] = receipts.run_contents()?;
        let at_start = look(start).ok_or_else(|| receipts.broken("armed"))?.contents;
        let tick = look(tick).ok_or_else(|| receipts.broken("contents"))?;
        let (mut bytes, mut stop) = (run.list.clone(), None);
        if let Some(left) = receipts.stop_of(&run)? {
            let now = task_list::read(&folder).map_err(|why| {
                io::Error::other(format!("`{}`: {why}", folder.join(TASKS).display()))
            })?;
            bytes = continued(&run.list, &left.list, &now.bytes);
            let is_list_changed = left.list != now.bytes;
            let contents = look(left.contents).and_then(|kept| kept.contents);
            stop = Some(LeftAtStop { contents, is_list_changed });
        }
        let tick = tick.contents.or_else(|| at_start.clone());
        let (looks, list) = (Looks { armed: at_start, tick }, Rc::new(TaskFile::of(bytes)));
        Ok(Some(LeftRun { run, list, stop, looks }))
    }
}

impl Driver<'_> {
    /// Continues from a baseline, and judges the agent's ticks. Files that are protected only since then are compared
    /// with their current state.
    pub(super) fn begin_with(&mut self, left: LeftRun) {
        let LeftRun { run, stop, looks: Looks { mut armed, mut tick }, .. } = left;
        self.proofs.stops = run.stops;
        if let Some(judge) = &mut self.proofs.judge {
            let mut new = judge.looked_at();
            new.retain(|path| !run.named.contains(path));
            if !new.is_empty()
                && let Ok(now) = judge.contents(tick.as_ref(), LOOK)
            {
                let new = judge.place.looked_at(&new);
                let with_new = |look: Contents| {
                    let new = new.iter().zip(look.among(&new)).filter(|(_, is_there)| !is_there);
                    look.with_those_of(&now, &new.map(|(path, _)| path.as_str()).collect())
                };
                (armed, tick) = (armed.map(with_new), tick.map(with_new));
            }
            judge.looks = Looks { armed, tick }.into();
        }
        if let Some(stop) = stop {
            self.continue_stopped(&stop);
        }
        self.judge_left_ticks();
    }

    /// Accepts a person's changes since the stop: they are not the agent's work, and a person may change protected
    /// files. The agent's changes stay its work.
    fn continue_stopped(&mut self, stop: &LeftAtStop) {
        let both = self.proofs.judge.as_mut().zip(stop.contents.as_ref());
        let is_changed = both.is_some_and(|(judge, at_stop)| leave_to_person(judge, at_stop));
        if is_changed || stop.is_list_changed {
            self.proofs.keep_for_done(&self.tree, &self.console.screen);
        }
        self.proofs.stops += 1;
        self.keep_run();
    }

    /// Keeps the run's baseline.
    pub(super) fn keep_run(&mut self) {
        let Some(judge) = &self.proofs.judge else { return };
        let Some(list) = judge.armed_list() else { return };
        let run = KeptRun {
            began_at: judge.armed.at,
            folder: self.tree.path().to_owned(),
            named: judge.looked_at(),
            stops: self.proofs.stops,
            list: list.bytes.clone(),
        };
        let kept = judge.receipts.keep_run(&run, &kept_looks(judge));
        if let Err(error) = kept.map_err(anyhow::Error::from) {
            self.files.fills_disk(&error);
            let _ = judge.receipts.forget_stop();
            self.console.screen.warn(&format!(
                "what this run begins with is not kept: if its runner is killed, the boxes count that are ticked then: {error:#}"
            ));
        }
    }

    /// Removes the baseline. If the next run may have to judge work, keeps it with the state at this stop instead. If
    /// the removal fails, the next run judges ticks without a receipt once more.
    pub(super) fn leave_run(&self) {
        if self.files.state.leaves_work() {
            self.proofs.keep_stop(&self.tree, &self.console.screen);
        } else {
            let _ = self.tree.run_receipts().and_then(|receipts| receipts.end_run());
        }
    }

    /// Judges ticks that a stopped or killed run left unjudged: unproved ones count as open, the others get receipts.
    fn judge_left_ticks(&mut self) {
        let Some(folder) = self.tree.list_folder() else { return };
        let Ok(file) = task_list::read(&folder) else { return };
        let Some(judge) = &self.proofs.judge else { return };
        let known = judge.known();
        let words = newest(&known).into_iter();
        let words = words.filter_map(|(id, last)| Some((id.to_owned(), last.no_change.clone()?)));
        self.proofs.no_change.extend(words);
        let recovered = self.files.recovered.as_ref();
        // The receipts belong to the entry of the killed runner.
        let at = recovered.map_or_else(world::now, |last| last.at);
        let cut_off = recovered.and_then(|last| last.iteration.clone());
        let mut entry = cut_off.unwrap_or_default();
        let began_at = time_of(&entry.started).unwrap_or(judge.armed.at);
        if let Some(before) = &judge.looks().tick {
            let now = judge.contents(Some(before), LOOK);
            let files = now.map(|now| now.changed_since(before)).unwrap_or_default();
            entry.files_changed = files.len() as u64;
            entry.files = files.into_iter().take(MOST_FILES).map(|file| file.path).collect();
        }
        let mut looked = self.tree.tasks.as_mut().map(Tasks::look).unwrap_or_default();
        looked.ticked = judge.not_proved(&file.list);
        self.judge_ticks(&mut looked, None, &mut entry, began_at);
        self.totals.ticked += looked.ticked.len();
        entry.tasks_ticked = looked.ticked;
        self.keep_receipts(&entry, began_at, at);
        // Reopened boxes are no progress of the first iteration.
        self.files.state.ledger.fingerprint = Some(self.tree.fingerprint());
    }

    /// Keeps the specification that a review judges; a continued loop keeps the one that it began with.
    pub(super) fn pin_specification(&self) {
        let (root, name) = (&self.plan.change.root, &self.plan.change.id);
        let goes_on = self.files.earlier != EarlierLoop::None;
        if !self.plan.options.checks.iter().any(Check::is_review)
            || goes_on && armed_specification(root, name).is_some()
        {
            return;
        }
        let kept = specification(&self.plan.change.folder, "")
            .and_then(|(bytes, _)| keep_specification(root, name, &bytes));
        kept.unwrap_or_else(|why| self.console.screen.warn(&why));
    }
}

/// Takes the files that changed since the stop as a person's; `true` if there are any.
fn leave_to_person(judge: &mut TickJudge, at_stop: &Contents) -> bool {
    let Ok(now) = judge.contents(Some(at_stop), LOOK) else { return false };
    let changed = now.changed_since(at_stop);
    if changed.is_empty() {
        return false;
    }
    let protected = judge.protected(&judge.place.changed(&now, at_stop));
    let is_protected = |path: &str| protected.contains(&judge.place.in_project(path));
    let with_theirs = |then: &Contents| {
        let of_agent: BTreeSet<String> =
            at_stop.changed_since(then).into_iter().map(|file| file.path).collect();
        let is_theirs = |path: &&str| !of_agent.contains(*path) || is_protected(path);
        let theirs = changed.iter().map(|file| file.path.as_str()).filter(is_theirs);
        then.clone().with_those_of(&now, &theirs.collect())
    };
    let Looks { armed, tick } = judge.looks();
    let [armed, tick] = [armed, tick].map(|look| look.as_ref().map(with_theirs));
    judge.looks = Looks { armed, tick }.into();
    true
}

/// The contents at the beginning and at the last tick, as bytes.
fn kept_looks(judge: &TickJudge) -> [Vec<u8>; 2] {
    let Looks { armed, tick } = judge.looks();
    [armed, tick].map(|look| kept_look(judge, look.clone()))
}

/// A look in the bytes that a run keeps.
fn kept_look(judge: &TickJudge, contents: Option<Contents>) -> Vec<u8> {
    KeptContents { number: judge.number(), contents }.to_bytes()
}

impl TickProofs {
    /// Stores the contents for `spool task done`, if that command judges by the run's rule.
    pub(super) fn keep_for_done(&self, tree: &WorkTree<'_>, screen: &Screen) {
        let (Some(since), Some(judge)) = (self.judged_since, &self.judge) else { return };
        let Some(list) = judge.armed_list() else { return };
        let kept = tree.receipts().and_then(|receipts| {
            if tree.plan.change.root != tree.path() {
                // `spool task done` looks at the project alone, by its own paths.
                let contents = judge.contents_of_project(&tree.plan.change.root).ok();
                return receipts
                    .keep_contents(&KeptContents { number: since.millis(), contents }.to_bytes());
            }
            let [start, tick] = kept_looks(judge);
            receipts.keep_armed(since.millis(), &start, &list.bytes)?;
            receipts.keep_contents(&tick)
        });
        if let Err(error) = kept {
            screen.warn(&format!(
                "what the files contain is not kept, so `spool task done` compares with what was before: {error}"
            ));
        }
    }

    /// Keeps the state at the stop: later changes are not the agent's.
    pub(super) fn keep_stop(&self, tree: &WorkTree<'_>, screen: &Screen) {
        let judge = self.judge.as_ref().filter(|judge| judge.armed.least != LeastProof::Word);
        let (Some(judge), Some(folder)) = (judge, tree.list_folder()) else { return };
        let Ok(file) = task_list::read(&folder) else { return };
        let earlier = judge.looks().tick.as_ref();
        let look = || judge.contents(earlier, LOOK).ok();
        let stop = StoppedRun {
            began_at: judge.armed.at,
            stops: self.stops,
            list: file.bytes,
            contents: kept_look(judge, earlier.and_then(|_| look())),
            ..StoppedRun::default()
        };
        if let Err(error) = judge.receipts.keep_stop(&stop) {
            screen.warn(&format!(
                "how this run is left is not kept: boxes that you tick before the next one are judged as if its agent had ticked them: {error}"
            ));
        }
    }
}

/// Pins the Verify commands of a change's list, and the least proof of a feature's tasks. `None` if there is nothing to
/// pin. A continued run pins the terms of its beginning.
pub(super) fn pin<'a>(
    change: &'a Change,
    options: &Options,
    left: Option<&LeftRun>,
    armed_at: WallTime,
) -> Option<RunPin<'a>> {
    let proof = options.settings.proof();
    let now = task_list::read(&change.folder).ok()?;
    let file = left.map_or(&now, |left| &*left.list);
    let command = |task: &Task| Some((task.id.clone(), task.verify_command(&file.bytes)?));
    let list = file.list.clone().with_optional(options.settings.include_optional());
    let commands: VerifyCommands = list.tasks.iter().filter_map(command).collect();
    // Only a feature has `spool task`.
    let judges = proof == LeastProof::Files && change.kind == ChangeKind::SpecKit;
    if commands.is_empty() && !judges {
        return None;
    }
    let feature = change.feature();
    let pin = Pin {
        about: change.id.clone(),
        armed_at,
        armed_by: ArmedBy::Runner,
        process: std::process::id(),
        list: format!("{}/{TASKS}", feature.relative),
        proof: if judges { proof } else { LeastProof::Word },
        protect: options.protect.clone(),
        checks: options.checks.clone(),
        verify: commands.len(),
        ..Pin::default()
    };
    let kept = Pins::of(&change.root)
        .and_then(|pins| pins.write(PinKey::Change(&change.id), &pin, &commands));
    // The look takes the commands from the pin: it includes ignored files that a command runs.
    let contents = judges.then(|| match left {
        Some(_) => Ok(has_contents(change, &feature, &pin)),
        None => keep_contents(change, &feature, &pin, &file.bytes),
    });
    let mut words = match &kept {
        Ok(()) => pinned::shown(&[], "", &commands, &pin.list),
        Err(error) => format!("`spool task` runs no Verify command: {error}\n"),
    };
    let is_judged = contents.unwrap_or(Ok(false)).unwrap_or_else(|why| {
        words.push_str(&why);
        false
    });
    let judged_since = Some(armed_at).filter(|_| is_judged && kept.is_ok());
    let commands = if kept.is_ok() { commands } else { VerifyCommands::new() };
    let words = words.trim_end().to_owned();
    Some(RunPin { change, armed_at, commands, judged_since, words })
}

/// Stores the contents for `spool task done`. `false`: a session's loop is armed on the same feature, and its rule
/// holds. The error says why nothing can be stored.
fn keep_contents(
    change: &Change,
    feature: &Feature,
    pin: &Pin,
    list: &[u8],
) -> Result<bool, String> {
    if pinned::standing_of_feature(&change.root, &feature.name).pin().is_some() {
        return Ok(false);
    }
    let project = Project { root: change.root.clone() };
    let kept = judge_of(&project, feature, Some(pin)).and_then(|judge| judge.arm(list, LOOK));
    let not_seen = || io::Error::other("not all files could be looked at");
    kept.and_then(|files| files.ok_or_else(not_seen)).map(|_| true).map_err(|error| {
        format!(
            "`spool task done` cannot see what changes, and only the runner judges its ticks: {error}"
        )
    })
}

/// True if `spool task done` can judge by the contents of the continued run, and no session's loop rules instead.
fn has_contents(change: &Change, feature: &Feature, pin: &Pin) -> bool {
    let receipts = Receipts::of(&change.root, &feature.name, &list_of(feature));
    let is_kept = receipts.is_ok_and(|kept| kept.armed_list(pin.armed_at.millis()).is_some());
    is_kept && pinned::standing_of_feature(&change.root, &feature.name).pin().is_none()
}

impl Drop for RunPin<'_> {
    fn drop(&mut self) {
        // A pin whose runner is gone counts for nothing.
        let _ = Pins::of(&self.change.root)
            .and_then(|pins| pins.close(PinKey::Change(&self.change.id), self.armed_at));
    }
}
