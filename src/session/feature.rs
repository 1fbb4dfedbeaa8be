//! A stop in a feature's loop (spec 003): what is observed of the feature, and what is said.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::context::{ChecksRun, StopContext, StopSession};
use super::notices::{self, Notice};
use super::observe::feature::{self as observe, add_seen, hooks_due, wait_for_transcript};
use crate::engine::matched::ListChanges;
use crate::engine::{
    Check, CheckResult, Contract, Demand, FinishedPart, Observation, Shortfall, TerminalReason,
    Verdict, ended_by,
};
use crate::evidence::contents::{Contents, KeptContents};
use crate::evidence::task_list::TASKS;
use crate::evidence::work_trees::copies;
use crate::feature::project::{Project, printable};
use crate::feature::snapshot::{FeatureSnapshot, armed_list};
use crate::feature::state::State;
use crate::hosts::{ContinueForm, HookAnswer};
use crate::judge::TickJudge;
use crate::judge::ticks::{Tick, TickClaim, Ticks};
use crate::session::messages::landing::{self, HandoffPlace};
use crate::session::messages::shortfall::ticked_elsewhere;
use crate::session::messages::{ends, feature as messages};
use crate::session::view::{FeatureView, judge_of, receipt_of_stop, receipts_of};
use crate::store::closing::{EndNotice, save_and_note};
use crate::store::loops::{Loops, Record};
use crate::store::pins::PinState;
use crate::store::receipts::{Receipt, Receipts};
use crate::store::settled::PATIENCE;
use crate::text;
use crate::world::{self, WallTime};

/// Tasks that are remembered as gone.
const MOST_GONE: usize = 200;
/// The limit of a look at the files at a stop.
const LOOK: Duration = Duration::from_millis(1_200);
/// Seconds for a Verify command that runs with the checks.
const VERIFY_LIMIT: u64 = 300;

/// The feature at a stop.
pub struct FeatureStop {
    pub snapshot: FeatureSnapshot,
    /// The task list has changed since the stop before.
    list_changed: bool,
    /// Boxes ticked by hand.
    pub ticks: Ticks,
}

/// Reads the feature's files before any lock. `waits` also waits for a transcript that lags.
pub fn read(context: &StopContext<'_>, record: &Record, waits: bool) -> Option<FeatureSnapshot> {
    if waits {
        wait_for_transcript(context.event, record, context.deadline);
    }
    let feature = context.project.feature_at(&record.folder).ok()?;
    FeatureSnapshot::read_by(&feature, context.deadline)
}

/// Waits until the list is 2 s old if all its tasks are done and no person armed the loop (spec 003, FR-5): a list that
/// is written in two steps ends nothing.
pub fn left_alone(
    context: &StopContext<'_>,
    record: &Record,
    snapshot: FeatureSnapshot,
) -> FeatureSnapshot {
    let pin = || context.loops.pin(&record.about).ok().flatten();
    if !snapshot.all_done() || pin().is_some_and(|pin| pin.is_armed()) {
        return snapshot;
    }
    let changed = fs::metadata(snapshot.feature.folder.join(TASKS)).and_then(|of| of.modified());
    let age = changed.map(WallTime::from).unwrap_or_default().age();
    let Some(rest) = PATIENCE.checked_sub(age).filter(|rest| !rest.is_zero()) else {
        return snapshot;
    };
    world::pause(rest.min(context.deadline.left()));
    FeatureSnapshot::read_by(&snapshot.feature, context.deadline).unwrap_or(snapshot)
}

/// `Ok`: the feature under the limits of its loop. `Err`: the answer if this stop judges nothing, because the files are
/// gone or the feature is not in execution here. `snapshot` was read before the lock.
pub fn enter(
    session: &mut StopSession<'_>,
    snapshot: Option<FeatureSnapshot>,
) -> io::Result<Result<Box<FeatureStop>, HookAnswer>> {
    let Some(snapshot) = snapshot.or_else(|| session.snapshot_without_state()) else {
        return session.state_gone().map(Err);
    };
    let snapshot =
        snapshot.under(&session.standing, Some(&session.record), session.context.deadline);
    snapshot.opened()?;
    // Another phase, or another feature since the files were read.
    let ours = snapshot.in_execution()
        || (snapshot.all_done() && snapshot.state.phase().is_empty())
        // The agent can write the phase, too.
        || session.standing.pin().is_some();
    let is_elsewhere = snapshot.feature.relative != session.record.folder;
    if is_elsewhere && session.standing.pin().is_some() {
        // A link leads to another folder now.
        return session.state_gone().map(Err);
    }
    if !ours || is_elsewhere {
        return Ok(Err(HookAnswer::silent()));
    }
    if let Some(pin) = session.standing.pin() {
        // The person's words and tasks stay in the notes after the pin is gone.
        session.record.asked.clone_from(&pin.asked);
    }
    let ticks = Ticks::default();
    Ok(Ok(Box::new(FeatureStop { snapshot, list_changed: false, ticks })))
}

/// The texts about an end between two stops: for the person, and for the log.
pub fn late_end_texts(
    context: &StopContext<'_>,
    record: &Record,
    reason: &TerminalReason,
) -> (String, String) {
    match (ends::moved_message(record), context.project.feature_at(&record.folder)) {
        (Some(message), _) => (message.clone(), message),
        (None, Ok(feature)) => {
            let (project, nobody) = (context.project, PinState::Nobody);
            let snapshot = FeatureView::under(project, &feature, nobody, Some(record)).snapshot();
            let left = record.words.strip_prefix(&*reason.to_string());
            let left = left.and_then(|left| left.strip_prefix("; "));
            let message = ends::end_message(&snapshot, record, reason, left);
            (message, ends::end_line(&snapshot, reason))
        }
        (None, Err(_)) => {
            let line = ends::end_without_files(record);
            (line.clone(), line)
        }
    }
}

impl FeatureStop {
    /// Observes this stop and returns its contract, too. The record advances in transcript and commits. Unproved ticks
    /// count as open from here on.
    pub fn observe(
        &mut self,
        session: &mut StopSession<'_>,
        checks: Option<&mut ChecksRun>,
    ) -> io::Result<(Contract, Observation)> {
        let hash = self.snapshot.tasks_hash();
        // A list with unproved ticks is judged again at the next stop.
        let is_new = session.record.tasks_hash != hash || !session.record.refused.is_empty();
        self.list_changed = self.snapshot.tasks.is_some() && is_new;
        let is_later = self.list_changed && session.record.tasks_hash != 0;
        let before = if is_later { session.folder.noted_tasks()? } else { String::new() };
        let changes = self.snapshot.since(&before);
        let judge = self.judge_ticks(session, &changes, checks);
        let mut tampered = changes.tampered;
        let StopContext { project, event, deadline, .. } = session.context;
        let (snapshot, record) = (&self.snapshot, &mut session.record);
        let from = record.transcript_read;
        let mut seen = observe::observe(snapshot, event, record);
        add_seen(project, event, record, &mut seen);
        // After the calls were counted: a line that comes between the two looks is in both.
        if let Some(pin) = session.standing.pin() {
            let when = (*event, *deadline);
            seen.hooks_due = hooks_due(pin, when, record, from, snapshot.all_done());
            seen.converge_ran = record.converge_ran;
        }
        seen.unproved.clone_from(&self.ticks.unproved);
        // An emptied list has left no line to compare with.
        let was_empty = is_later && before.is_empty();
        let is_there =
            |id: &String| snapshot.tasks.as_ref().is_some_and(|list| list.find(id).is_some());
        let is_back = |id: &String| changes.added.contains(id) || (was_empty && is_there(id));
        note_gone_tasks(record, &tampered.removed, &is_back);
        tampered.removed.clone_from(&record.gone_tasks);
        let looks_back = !tampered.removed.is_empty() || (snapshot.all_done() && judge.is_some());
        let pin = session.standing.pin();
        if let Some(list) = snapshot.tasks.as_ref().filter(|_| looks_back)
            && let Some(judge) = judge.or_else(|| judge_of(project, &snapshot.feature, pin).ok())
        {
            let tasks = record.asked.as_ref().map(|asked| &*asked.tasks).unwrap_or_default();
            tampered.removed = judge.missing(list, &record.gone_tasks, tasks);
        }
        seen.tampered = tampered;
        seen.finished = self.finished(session);
        let snapshot = &self.snapshot;
        let mut contract = snapshot.contract(&session.standing);
        if snapshot.all_done() {
            contract.add_commands(self.ticks.checks(VERIFY_LIMIT));
        }
        Ok((contract, seen))
    }

    /// Judges boxes ticked by hand since the last stop, or all boxes if every task is done. A judgement from before the
    /// checks stands, because checks may write files. Returns the judge if it was asked.
    fn judge_ticks(
        &mut self,
        session: &StopSession<'_>,
        changes: &ListChanges,
        checks: Option<&mut ChecksRun>,
    ) -> Option<TickJudge> {
        let (hash, context) = (self.snapshot.tasks_hash(), session.context);
        let all_done = self.snapshot.all_done();
        if !self.list_changed && !all_done {
            return None;
        }
        let judge = self.tick_judge(session)?;
        // The checks may have taken longer than a stop has.
        let limit = if checks.is_some() { LOOK } else { LOOK.min(context.deadline.left()) };
        if let Some(checks) = checks
            && checks.ticks.list == hash
        {
            self.ticks = std::mem::take(&mut checks.ticks);
            let millis = |run: &str| checks.millis.get(run).copied().unwrap_or_default();
            self.ticks.take_results(&judge, &mut checks.results, &millis);
            return Some(judge);
        }
        let list = self.snapshot.tasks.as_ref()?;
        let (since, said) = (session.record.judged_at, context.event.last_message.as_str());
        let (new, added) = (&*changes.ticked, &*changes.added_ticked);
        let claim = TickClaim { new, added, since, all_done, said };
        self.ticks = Ticks::of(&judge, (list, &self.snapshot.text), claim, limit);
        self.ticks.list = hash;
        self.snapshot.open_again(&self.ticks.refused());
        Some(judge)
    }

    /// The judge of ticks. `None` if no person armed the loop, or nothing can be kept.
    fn tick_judge(&self, session: &StopSession<'_>) -> Option<TickJudge> {
        let pin = session.standing.pin()?;
        judge_of(session.context.project, &self.snapshot.feature, Some(pin)).ok()
    }

    /// The files' contents at the loop's last tick, or at arming; `None` if no look succeeded.
    pub fn kept_contents(&self, project: &Project, armed_at: WallTime) -> Option<Contents> {
        let receipts = receipts_of(project, &self.snapshot.feature).ok()?;
        let kept = [Receipts::contents, Receipts::armed_contents].into_iter();
        let mut kept = kept.filter_map(|kept| KeptContents::parse(kept(&receipts)?));
        kept.find(|kept| kept.number == armed_at.millis())?.contents
    }

    /// Keeps the receipts of ticks by hand, and of a review that passed. An error says why one is not kept.
    pub fn keep_ticks(&self, session: &StopSession<'_>, seen: &Observation) -> io::Result<()> {
        let is_reviewed = seen.checks.iter().flatten().any(CheckResult::is_proof_by_review);
        if !is_reviewed && self.ticks.to_keep().next().is_none() {
            return Ok(());
        }
        let Some(judge) = self.tick_judge(session) else { return Ok(()) };
        let (record, snapshot) = (&session.record, &self.snapshot);
        if is_reviewed {
            let done = snapshot.tasks.iter().flat_map(|list| &list.tasks).filter(|task| task.done);
            let is_new = |id: &str| self.ticks.proved.iter().any(|tick| tick.task == id);
            let read: Vec<(&str, String)> = done
                .filter(|task| !is_new(&task.id))
                .filter_map(|task| Some((task.id.as_str(), reviewer_of(&task.id, seen)?)))
                .collect();
            if let Some((_, reader)) = read.first() {
                let is_read = |id: &str| read.iter().any(|(task, _)| *task == id);
                judge.receipts.reviewed(reader, judge.armed.at, &is_read)?;
            }
        }
        self.ticks.keep(&judge, seen.after_checks.is_some(), &|tick: &Tick| {
            let known = receipt_of_stop(tick, record.seen_at, record, session.context.project);
            Receipt {
                commits: seen.commits,
                checks: seen.checks.clone().unwrap_or_default(),
                attempt: known.attempt.max(snapshot.state.failures(&tick.task).saturating_add(1)),
                tokens: (seen.tokens > 0).then_some(seen.tokens),
                reviewer: reviewer_of(&tick.task, seen),
                ..known
            }
        })
    }

    /// The part of the list that was finished since arming, and is to be reviewed before the rest.
    fn finished(&self, session: &StopSession<'_>) -> Option<FinishedPart> {
        let (pin, list) = (session.standing.pin()?, self.snapshot.tasks.as_ref()?);
        let mut armed = || armed_list(&self.snapshot.feature, pin.armed_at);
        let reviewed = &session.record.ledger.reviewed;
        FinishedPart::of(pin.checks.last()?.when(), list, reviewed, &mut armed)
    }

    /// Notes the tasks of a changed list, and those whose Verify command has failed. From here on these count as open, and
    /// so do those that have left the list.
    pub fn keep_list(
        &mut self,
        StopSession { folder, record, .. }: &mut StopSession<'_>,
        seen: &Observation,
    ) -> io::Result<()> {
        if self.list_changed {
            folder.note_tasks(&self.snapshot.task_lines())?;
            record.tasks_hash = self.snapshot.tasks_hash();
        }
        record.refused = self.ticks.refused();
        self.ticks.note_failed(&mut record.unverified, seen.checks.as_deref().unwrap_or_default());
        self.snapshot.gone.clone_from(&seen.tampered.removed);
        if !record.unverified.is_empty() {
            self.snapshot.open_again(&record.unverified);
        }
        Ok(())
    }

    /// An end that leaves tasks open also opens those whose work has vanished.
    pub fn judge_at_end(&mut self, session: &mut StopSession<'_>, seen: &Observation) {
        let StopContext { project, deadline, .. } = session.context;
        let (standing, record) = (session.standing.clone(), Some(&session.record));
        let view = FeatureView::under(project, &self.snapshot.feature, standing, record);
        // Checks may have taken longer than a stop has.
        let left = if seen.checks.is_some() { LOOK } else { deadline.left() };
        let open = view.judge_at_end(left.min(LOOK));
        self.snapshot.open_again(&open);
        session.record.refused = open;
    }

    /// A notice if the state file of an armed loop has another phase.
    pub fn other_phase(&self, record: &mut Record, standing: &PinState) -> Option<Notice> {
        let is_readable = standing.pin().is_some() && self.snapshot.unreadable.is_none();
        if is_readable { notices::other_phase(record, self.snapshot.state.phase()) } else { None }
    }

    /// The current task and the number of tasks, for the journal.
    pub fn place(&self) -> String {
        let place = self.snapshot.place();
        format!("{}/{}", place.task, place.total)
    }

    /// The verdict on one line, for the journal and `spool status`.
    pub fn words(
        &self,
        record: &Record,
        contract: &Contract,
        seen: &Observation,
        verdict: &Verdict,
    ) -> String {
        let words = match verdict {
            Verdict::End(reason) => {
                let is_done = *reason == TerminalReason::Completed;
                let checks = if is_done { &[] } else { contract.checks.as_slice() };
                let left = messages::missing_at_end(seen, &record.ledger, checks);
                let worth = Some(ends::worth(record).to_owned());
                let more = left.or(worth.filter(|words| !words.is_empty()));
                more.map_or_else(|| reason.to_string(), |more| format!("{reason}; {more}"))
            }
            Verdict::Wait(_) => String::new(),
            Verdict::Continue(missing) => messages::missing(&self.snapshot, missing),
        };
        let words = text::line(&words).into_owned();
        let Verdict::End(reason) = verdict else { return words };
        let is_done = *reason == TerminalReason::Completed;
        let open = ends::uncounted(&self.snapshot).filter(|_| is_done);
        // The reason of a blocked loop names them.
        let is_blocked = matches!(reason, TerminalReason::Blocked { .. });
        let doubts = ends::gone_tasks(record).filter(|_| !is_blocked).into_iter().chain(open);
        doubts.fold(words, |words, doubt| format!("{words}; {doubt}"))
    }

    /// Sends the agent back to work.
    pub fn continue_answer(
        &self,
        session: &StopSession<'_>,
        missing: &[Shortfall],
        form: ContinueForm,
    ) -> HookAnswer {
        let (snapshot, record) = (&self.snapshot, &session.record);
        let line = messages::stopped_line(snapshot);
        if missing.contains(&Shortfall::Unreadable) {
            let text = messages::corrupt(snapshot);
            let first = text.lines().next().unwrap_or_default().to_owned();
            return HookAnswer::block(&text, &format!("Ralph-speckit: {first}")).log(&first);
        }
        let mut shown = if session.context.settings.chosen.quiet() {
            String::new()
        } else {
            messages::progress(snapshot, &record.ledger, missing)
        };
        let mut text = messages::resume(snapshot, record, missing, form);
        let root = &session.context.project.root;
        let folder = Path::new(&snapshot.feature.relative);
        if let Some(words) = ticked_elsewhere(root, folder, None) {
            if !shown.is_empty() {
                shown.push('\n');
                shown += &words;
            }
            text.push(if form == ContinueForm::Block { '\n' } else { ' ' });
            text += &words;
        }
        if self.asks_for_handoff(session) {
            let folder = messages::shortened(&snapshot.feature.relative);
            text += &landing::words(HandoffPlace::Folder(&folder), form);
        }
        HookAnswer::block(&text, &shown).log(&line)
    }

    /// The next iteration is the last one, and should leave a handoff.
    pub fn asks_for_handoff(&self, session: &StopSession<'_>) -> bool {
        let limit = Some(self.snapshot.limits.max_iterations);
        let is_readable = self.snapshot.unreadable.is_none();
        is_readable && landing::is_asked(session.context.settings, limit, &session.record.ledger)
    }

    /// The message, with a line on the grades of done tasks.
    fn with_proofs(&self, session: &StopSession<'_>, mut message: String) -> String {
        let (snapshot, project) = (&self.snapshot, session.context.project);
        if let Ok(receipts) = receipts_of(project, &snapshot.feature) {
            let line =
                receipts.scoreboard(session.record.armed_at, snapshot.tasks.as_ref(), None).line();
            if !line.is_empty() {
                message += "\n";
                message += &printable(&line);
            }
        }
        for copy in copies(&project.root, None) {
            message += "\nThe session is in another work tree, and its work may be there: ";
            message += &text::line(&copy.to_string_lossy());
        }
        message
    }

    /// Says why the loop ended, and brings the state file of a completed loop up to date.
    pub fn end_answer(
        &self,
        session: &StopSession<'_>,
        contract: &Contract,
        seen: &Observation,
        reason: &TerminalReason,
    ) -> HookAnswer {
        let (snapshot, record) = (&self.snapshot, &session.record);
        if *reason != TerminalReason::Completed {
            let left = messages::missing_at_end(seen, &record.ledger, &contract.checks);
            let message = self
                .with_proofs(session, ends::end_message(snapshot, record, reason, left.as_deref()));
            let shown = HookAnswer::notify(&message).log(&ends::end_line(snapshot, reason));
            return shown.alert(&record.about, reason.name(), &message);
        }
        let checks = seen.checks.as_deref().unwrap_or_default();
        let doubts = ends::doubtful_message(snapshot, record, checks);
        let (shown, message) = if let Some(message) = doubts {
            let message = self.with_proofs(session, message);
            (HookAnswer::notify(&message).log(&message), message)
        } else {
            let message = self.with_proofs(session, ends::completed_message(snapshot, record));
            let shown = HookAnswer::silent();
            let quiet = session.context.settings.chosen.quiet();
            (if quiet { shown } else { shown.also_in_plugin(&message) }, message)
        };
        let mut answer = shown.alert(&record.about, reason.name(), &message);
        if seen.claimed {
            answer = answer.log("ALL_TASKS_COMPLETE detected in transcript");
        }
        match bring_up_to_date(session.context.loops, snapshot) {
            Ok(()) => answer,
            Err(error) => {
                answer.log(&format!("The state file could not be brought up to date: {error}"))
            }
        }
    }
}

impl StopSession<'_> {
    /// Reads the feature without its state file: older prompts tell the agent to remove that file at the end.
    fn snapshot_without_state(&self) -> Option<FeatureSnapshot> {
        let feature = self.context.project.feature_at(&self.record.folder).ok()?;
        let (record, deadline) = (Some(&self.record), self.context.deadline);
        let snapshot = FeatureSnapshot::read_even_without_state(&feature);
        let snapshot = snapshot.under(&self.standing, record, deadline);
        // In execution: it has just been written.
        (snapshot.all_done() || snapshot.in_execution()).then_some(snapshot)
    }

    /// Ends the loop of a missing state file with open tasks: nothing else tells the person.
    fn state_gone(&mut self) -> io::Result<HookAnswer> {
        let about = self.record.about.clone();
        let line = format!("The state file of feature {about} is gone: the loop has ended");
        self.close(&Demand::Cancelled, &line)?;
        let (project, record) = (self.context.project, Some(&self.record));
        let place = project.feature_at(&self.record.folder).map(|feature| {
            FeatureView::under(project, &feature, PinState::Nobody, record).snapshot().place()
        });
        let message = ends::gone_message(&self.record, place.unwrap_or_default());
        Ok(HookAnswer::notify(&message).log(&line))
    }

    /// Ends the loop for a reason that lies outside the work; only the log says so.
    pub fn close(&mut self, demand: &Demand, line: &str) -> io::Result<HookAnswer> {
        self.record.end(ended_by(demand), line, EndNotice::Done);
        let _noted = save_and_note(&self.folder, &self.record, &self.record.end_entry())?;
        Ok(HookAnswer::silent().log(line))
    }
}

/// The reviewer that passed the task at this stop.
fn reviewer_of(task: &str, seen: &Observation) -> Option<String> {
    let is_read = seen.finished.as_ref().is_none_or(|part| part.tasks.iter().any(|id| id == task));
    let proof = seen.checks.iter().flatten().find(|check| check.is_proof_by_review() && is_read)?;
    Some(Check { run: proof.run.clone(), ..Check::default() }.reader().to_owned())
}

/// Remembers open tasks that have left the list: they may come back.
fn note_gone_tasks(record: &mut Record, left: &[String], is_back: &dyn Fn(&String) -> bool) {
    let gone = &mut record.gone_tasks;
    gone.retain(|id| !is_back(id));
    let new: Vec<String> = left.iter().filter(|id| !gone.contains(id)).cloned().collect();
    gone.extend(new);
    gone.truncate(MOST_GONE);
}

/// Updates the counters of a completed feature: the agent has stopped, so no other process writes them.
///
/// A state file that the agent removed is not written again.
fn bring_up_to_date(loops: &Loops, snapshot: &FeatureSnapshot) -> io::Result<()> {
    let total = snapshot.place().total;
    let state = &snapshot.state;
    let right = state.task_index() >= total && state.total_tasks() == total;
    if right || state.phase() != "execution" {
        return Ok(());
    }
    let (feature, patience) = (&snapshot.feature, Duration::from_millis(200));
    let _lock = loops.feature_lock(&feature.name, &feature.folder, patience)?;
    let mut state = State::read_at_once(&snapshot.feature).unwrap_or_else(|_| state.clone());
    state.set("taskIndex", total);
    state.set("totalTasks", total);
    state.write(&snapshot.feature)
}
