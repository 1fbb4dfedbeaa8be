//! From the first look at a stopped session's loop to the answer. The two kinds of loops observe and speak differently,
//! each in its own file.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::claim::{Unowned, unowned};
use super::context::{ChecksRun, StopContext, StopSession, waited_for, waiting_with_message};
use super::feature::FeatureStop;
use super::notices::{self, Notice};
use super::observe::{self, count_open_turn};
use super::{feature, task};
use crate::checks::{ReviewCall, run_all, run_command, run_review};
use crate::engine::{
    Check, CheckResult, Contract, Demand, Evaluation, Judgement, Observation, Pending,
    TerminalReason, Verdict, Waiting, evaluate,
};
use crate::evidence::progress::still;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::{AnswerForm, ContinueForm, HookAnswer};
use crate::judge::ticks::Ticks;
use crate::session::messages::ends;
use crate::session::messages::landing::JOURNALED;
use crate::session::messages::shortfall::of_check;
use crate::session::messages::task::title;
use crate::session::{pause, pinned};
use crate::settings::ContinueWith;
use crate::store::closing::{EndNotice, save_and_note};
use crate::store::journal::Entry;
use crate::store::lock::Lock;
use crate::store::loops::{Checked, Record, is_session_id};
use crate::store::names::{EndName, JournalEvent, LoopKind, VerdictName};
use crate::store::pins::{LoopLimits, Pin, PinnedEnd};
use crate::text;
use crate::world::{self, Deadline, FileTime, Stopwatch};

/// The limit of all checks together; `hooks.json` gives the hook a little more.
const CHECKS_LIMIT: Duration = Duration::from_mins(25);

/// Characters of the agent's last words that a person reads.
pub const LAST_WORDS: usize = 300;

/// The additional time for the command that tells a person, after everything else.
const NOTICE_PATIENCE: Duration = Duration::from_millis(500);

enum StopKind {
    Feature(Box<FeatureStop>),
    Task,
}

impl StopKind {
    fn limits(&self) -> LoopLimits {
        match self {
            Self::Feature(stop) => stop.snapshot.limits,
            Self::Task => LoopLimits::default(),
        }
    }
}

/// The outcome of one look at the session's loop.
enum Look {
    /// The session has no live loop.
    NoLoop,
    Answered(HookAnswer),
    /// Checks must run first: the lock is released, and this is the loop as it was.
    RunChecks(Box<Pending>, Box<Record>, Box<Ticks>),
}

/// Answers a stop: in the session's own loop, or in one without an owner.
pub fn answer(context: &StopContext<'_>) -> io::Result<HookAnswer> {
    let StopContext { settings, broken, loops, event, .. } = context;
    let session = &event.session;
    if !is_session_id(session) {
        let line = "The event names no usable session: the agent may stop";
        return Ok(HookAnswer::silent().log(line));
    }
    if broken.map_or(!settings.chosen.enabled(), |error| error.is_off) {
        return Ok(notices::switched_off(loops, session).unwrap_or_default());
    }
    let is_known = loops.knows(session);
    if is_known && let Some(answer) = own_loop(context, None)? {
        return Ok(answer);
    }
    let earlier = if is_known { loops.peek(session) } else { None };
    match unowned(context, earlier.as_ref())? {
        Unowned::Answer(answer) => Ok(answer),
        Unowned::HasLoop(snapshot) => {
            Ok(own_loop(context, snapshot.map(|snapshot| *snapshot))?.unwrap_or_default())
        }
    }
}

/// Judges this session's own loop; `None` without a live one. `snapshot`: the feature's files, if they were just read.
fn own_loop(
    context: &StopContext<'_>,
    mut snapshot: Option<FeatureSnapshot>,
) -> io::Result<Option<HookAnswer>> {
    let mut checks = None;
    loop {
        match look(context, snapshot.take(), checks.take())? {
            Look::NoLoop => return Ok(None),
            Look::Answered(answer) => return Ok(Some(answer)),
            Look::RunChecks(pending, record, ticks) => {
                checks = run_checks(context, *pending, &record, *ticks);
            }
        }
    }
}

/// Reads the session's loop once, locks it, judges the stop, and keeps the verdict.
fn look(
    context: &StopContext<'_>,
    snapshot: Option<FeatureSnapshot>,
    checks: Option<ChecksRun>,
) -> io::Result<Look> {
    let (root, session) = (&context.project.root, &context.event.session);
    // The loop as it is before the lock: one that lives, or whose end is still to be reported.
    let before = context.loops.peek(session);
    let Some(record) = before.filter(|record| record.ledger.is_live() || record.unnotified) else {
        // One that cannot be read is an error.
        context.loops.session(session)?.record()?;
        return Ok(Look::NoLoop);
    };
    // Files are read before the lock is taken: other sessions must not wait for a writer.
    let is_task = record.kind == LoopKind::Task;
    let waits = snapshot.is_none() && record.ledger.is_live() && checks.is_none();
    let snapshot = match snapshot {
        None if is_task => {
            if waits {
                observe::task::wait_for_transcript(context.event, &record, context.deadline);
            }
            None
        }
        None => feature::read(context, &record, waits),
        snapshot => snapshot,
    };
    let snapshot = snapshot.map(|snapshot| feature::left_alone(context, &record, snapshot));
    let folder = context.loops.session(session)?;
    let Some(mut record) =
        folder.record()?.filter(|record| (record.kind == LoopKind::Task) == is_task)
    else {
        return Ok(Look::NoLoop);
    };
    let pin = if is_task {
        Ok(record.armed.as_deref().cloned())
    } else {
        context.loops.pin(&record.about)
    };
    let kept = pin.as_ref().ok().and_then(Option::clone).filter(|_| !is_task);
    let standing = pinned::standing_by(root, &record, pin);
    let is_open = |pin: &Pin| record.ledger.is_live() && pin.ended.is_none();
    if let Some(pin) = kept.as_ref().filter(|pin| is_open(pin)) {
        // The pin names the owner. A loop armed in a terminal has no owner yet: taking it comes first.
        if pin.session.is_empty() {
            return Ok(Look::NoLoop);
        }
        if pin.session == *session && pin.armed_at != record.armed_at {
            // A new arming may have been killed after the record and before the pin: the pin counts.
            record.armed_at = pin.armed_at;
            record.armed_by.clone_from(&pin.armed_by);
        }
    }
    if is_task && record.ralph().is_none() {
        return Ok(Look::NoLoop);
    }
    let mut stop = StopSession { context, folder, record, standing };
    if !stop.record.ledger.is_live() {
        return Ok(stop.report_end()?.map_or(Look::NoLoop, Look::Answered));
    }
    if let Some(answer) = kept.map(|pin| stop.over(&pin)).transpose()?.flatten() {
        return Ok(Look::Answered(stop.leave(answer)));
    }
    stop.judge(snapshot, checks)
}

/// Runs the loop's checks without the session's lock. A held lock and a journal entry tell `spool status` which check
/// runs, because the client's own line cannot change meanwhile. A check that passed before a file changed runs once
/// more. `None` for a loop that has ended meanwhile: nothing more is run for it.
fn run_checks(
    context: &StopContext<'_>,
    pending: Pending,
    record: &Record,
    ticks: Ticks,
) -> Option<ChecksRun> {
    let session = &context.event.session;
    let running = context.loops.checking(session);
    // Waits for the next tick of the files' clock, so that a check's writes are later than the agent's.
    let is_apart = || running.as_ref().is_some_and(Lock::outlasts_step);
    let was_apart = is_apart();
    let mut marks = record.marks.clone();
    let mut millis = BTreeMap::new();
    let write = |words: String, check: String| {
        // A broken journal is reported with the verdict.
        let iteration = record.ledger.iterations.saturating_add(1);
        let entry = record.entry(JournalEvent::Checks, &words);
        let _ = context.loops.note(session, &Entry { iteration, check, ..entry });
    };
    let (limit, root) = (Deadline::after(CHECKS_LIMIT), &context.project.root);
    let checks = (pending.commands(), pending.review());
    let is_live = || context.loops.peek(session).filter(|record| record.ledger.is_live());
    let results = run_all::<()>(checks, root, &mut |check, (number, all), passed| {
        is_live().ok_or(())?;
        let what = format!("`{}` ({number} of {all})", title(&check.run));
        write(["running ", &what].concat(), what);
        let began = context.loops.noted_at(session);
        if !marks.checking.is_known() {
            marks.checking = if was_apart { began } else { began.next() };
        }
        if number > 1 {
            is_apart();
        }
        let clock = Stopwatch::start();
        let result = if let Some(passed) = passed {
            let about = (record.about.as_str(), pending.finished());
            let call = ReviewCall::of(check, about, passed, limit.left());
            let result = run_review(check, &call, root);
            write(of_check(&result), String::new());
            result
        } else {
            run_command(check, root, limit.left())
        };
        millis.insert(check.run.clone(), clock.millis());
        Ok(Some((began, result)))
    });
    is_apart();
    Some(ChecksRun { pending, results: results.ok()?, millis, marks, ticks })
}

impl StopSession<'_> {
    /// Judges a stop in a live loop, and gives the session's folder back.
    fn judge(
        mut self,
        snapshot: Option<FeatureSnapshot>,
        mut checks: Option<ChecksRun>,
    ) -> io::Result<Look> {
        let mut kind = StopKind::Task;
        if self.record.kind != LoopKind::Task {
            match feature::enter(&mut self, snapshot)? {
                Err(answer) => return Ok(Look::Answered(self.leave(answer))),
                Ok(stop) => kind = StopKind::Feature(stop),
            }
        }
        self.begin();
        pause::resume_after_failure(&self.folder, &mut self.record)?;
        let before = self.record.clone();
        let (contract, seen) = match &mut kind {
            StopKind::Feature(stop) => stop.observe(&mut self, checks.as_mut())?,
            StopKind::Task => task::observe(&mut self),
        };
        match self.evaluate(&kind, &contract, seen, checks) {
            Evaluation::RunChecks(pending) => {
                let ticks = match kind {
                    StopKind::Feature(stop) => stop.ticks,
                    StopKind::Task => Ticks::default(),
                };
                // Checks run without a lock: a cancel in the meantime counts.
                drop(self.folder);
                Ok(Look::RunChecks(pending, Box::new(self.record), Box::new(ticks)))
            }
            Evaluation::Decided(judgement) => {
                let answer = self.keep(&mut kind, &contract, *judgement, &before)?;
                Ok(Look::Answered(self.leave(answer)))
            }
        }
    }

    /// The answer if the pin has ended the loop or names another session; `None` otherwise.
    fn over(&mut self, pin: &Pin) -> io::Result<Option<HookAnswer>> {
        let about = self.record.about.clone();
        if pin.session != self.record.session && !pin.session.is_empty() {
            let line = format!("Feature {about} is driven by session {} now", pin.session);
            count_open_turn(&mut self.record);
            let answer = self.close(&Demand::Stopped, &line)?;
            let lost = Record { moved_to: pin.session.clone(), ..self.record.clone() };
            let message = ends::moved_message(&lost).unwrap_or_default();
            return Ok(Some(answer.also_notify(&message)));
        }
        let Some(PinnedEnd { reason, words, unnotified }) = &pin.ended else { return Ok(None) };
        // A broken-off arming closed a pin older than the record. Any other end is news, unless this person cancelled.
        let is_known = *reason == TerminalReason::Cancelled && !unnotified;
        let is_told = is_known || pin.armed_at < self.record.armed_at;
        let telling = if is_told { EndNotice::Done } else { EndNotice::AtNextStop };
        count_open_turn(&mut self.record);
        self.record.end(reason.clone(), words, telling);
        let _noted = save_and_note(&self.folder, &self.record, &self.record.end_entry())?;
        let line = format!("The loop of feature {about} has ended ({})", reason.name());
        let told = self.report_end()?;
        Ok(Some(told.unwrap_or_else(|| HookAnswer::silent().log(&line))))
    }

    /// Notes the end of the previous iteration.
    fn begin(&mut self) {
        let marks = &mut self.record.marks;
        marks.begin(self.folder.written_at(), self.record.ledger.settled);
        let ended = marks.ends.last().copied().unwrap_or_default();
        if let Some(checked) = self.record.assignment.as_mut().and_then(|a| a.checked.as_mut())
            && !checked.since.is_known()
        {
            checked.since = ended;
        }
    }

    fn evaluate(
        &mut self,
        kind: &StopKind,
        contract: &Contract,
        mut seen: Observation,
        checks: Option<ChecksRun>,
    ) -> Evaluation {
        let root = &self.context.project.root;
        if contract.checks.last().is_some_and(Check::is_review) {
            seen.last_words = text::title(&self.context.event.last_message, LAST_WORDS);
        }
        let moment = self.context.moment(&self.record);
        if let Some(ChecksRun { pending, results, marks, .. }) = checks {
            self.record.marks = marks;
            if let Some(assignment) = &mut self.record.assignment {
                let (fingerprint, since) = (seen.fingerprint, FileTime::default());
                let results = results.clone();
                assignment.checked = Some(Checked { fingerprint, since, results });
            }
            let judgement = pending.with(contract, &self.record.ledger, results, seen);
            return Evaluation::Decided(Box::new(judgement));
        }
        let Record { ledger, marks, armed_at, .. } = &mut self.record;
        evaluate(contract, ledger, seen, &mut || {
            let kept = match kind {
                StopKind::Feature(stop) => stop.kept_contents(self.context.project, *armed_at),
                StopKind::Task => None,
            };
            still(root, marks, kept.as_ref(), moment)
        })
    }

    /// Writes the verdict down, and turns it into the answer.
    fn keep(
        &mut self,
        kind: &mut StopKind,
        contract: &Contract,
        judgement: Judgement,
        before: &Record,
    ) -> io::Result<HookAnswer> {
        let (root, event) = (&self.context.project.root, self.context.event);
        let Judgement { verdict, ledger, seen } = judgement;
        pinned::may_end(root, &self.record, &self.standing, &verdict)?;
        self.record.seen_at = world::now();
        if let Some(path) = event.transcript_path() {
            self.record.transcript = path.to_str().unwrap_or_default().to_owned();
        }
        self.record.ledger = ledger;
        let mut not_kept = None;
        self.record.marks.waited = matches!(verdict, Verdict::Wait(_));
        if self.record.marks.waited {
            // A wait counts nothing: the next stop reads everything again.
            self.record.read_as_far_as(before);
        } else if let StopKind::Feature(stop) = kind {
            self.record.converge_ran = false;
            self.record.judged_at = self.record.seen_at;
            // The list is kept last: a program killed before that leaves the ticks to be judged again.
            not_kept = stop.keep_ticks(self, &seen).err();
            stop.keep_list(self, &seen)?;
            if matches!(verdict, Verdict::End(_)) && !stop.snapshot.all_done() {
                stop.judge_at_end(self, &seen);
            }
        }
        if let Some(results) = &seen.checks {
            self.record.output = output_of(results);
        }
        self.put_in_words(kind, contract, &seen, &verdict);
        let of_a_pause = pause_to_report(&mut self.record, &verdict);
        let form = continue_form(self.context, &verdict);
        let limits = kind.limits();
        let mut notices =
            notices::notices(self.context, &mut self.record, &self.standing, limits, &verdict);
        if let StopKind::Feature(stop) = kind {
            notices.extend(stop.other_phase(&mut self.record, &self.standing));
        }
        let entry = self.entry(kind, contract, &seen, &verdict);
        let noted = save_and_note(&self.folder, &self.record, &entry)?.and_then(|()| {
            notices.iter().try_for_each(|notice| self.folder.note(&notice.entry(&self.record)))
        });
        let answer = match (&verdict, &*kind) {
            (Verdict::Wait(waiting), _) => {
                waiting_with_message(waiting, of_a_pause.as_deref(), self)
            }
            (Verdict::Continue(missing), StopKind::Feature(stop)) => {
                stop.continue_answer(self, missing, form)
            }
            (Verdict::Continue(missing), StopKind::Task) => {
                task::continue_answer(self, missing, form)
            }
            (Verdict::End(reason), StopKind::Feature(stop)) => {
                stop.end_answer(self, contract, &seen, reason)
            }
            (Verdict::End(reason), StopKind::Task) => task::end_answer(self, &seen, reason),
        };
        let answer = match noted {
            Ok(()) => answer.in_form(form),
            // The loop has ended, and the record says so: the person is notified without the journal, too.
            Err(error) if matches!(verdict, Verdict::End(_)) => {
                answer.log(&format!("The end is not in the journal: {error}"))
            }
            Err(error) => return Err(error),
        };
        let answer = match not_kept {
            Some(error) => answer.log(&["A receipt is not kept: ", &error.to_string()].concat()),
            None => answer,
        };
        let answer = notices::with_notices(answer, &notices);
        Ok(match notices.iter().find_map(Notice::needs_person) {
            Some(words) => answer.alert(&self.record.about, "approval", words),
            None => answer,
        })
    }

    /// Puts the outcome of the stop into words.
    fn put_in_words(
        &mut self,
        kind: &StopKind,
        contract: &Contract,
        seen: &Observation,
        verdict: &Verdict,
    ) {
        self.record.waits_for = match verdict {
            Verdict::Wait(waiting) => waited_for(waiting),
            _ => String::new(),
        };
        self.record.words = match kind {
            StopKind::Feature(stop) => stop.words(&self.record, contract, seen, verdict),
            StopKind::Task => task::words(&self.record, seen, verdict),
        };
        let is_asked = match kind {
            StopKind::Feature(stop) => stop.asks_for_handoff(self),
            StopKind::Task => task::asks_for_handoff(self),
        };
        if is_asked && matches!(verdict, Verdict::Continue(_)) {
            self.record.words += JOURNALED;
        }
    }

    /// The journal's entry for the verdict.
    fn entry(
        &self,
        kind: &StopKind,
        contract: &Contract,
        seen: &Observation,
        verdict: &Verdict,
    ) -> Entry {
        let entry = Entry {
            at: self.record.seen_at,
            event: JournalEvent::Stop,
            about: self.record.about.clone(),
            iteration: self.record.ledger.iterations,
            verdict: VerdictName::of(verdict),
            reason: match verdict {
                Verdict::End(reason) => EndName::of(reason),
                _ => EndName::None,
            },
            words: self.record.last_words(),
            output: seen.checks.iter().map(|_| self.record.output.clone()).collect(),
            ..Entry::default()
        };
        let entry = match kind {
            StopKind::Feature(stop) => Entry { task: stop.place(), ..entry },
            StopKind::Task => task::with_promise(entry, &self.record, contract, seen, verdict),
        };
        let is_end = matches!(verdict, Verdict::End(_));
        if is_end { entry.with_sums(&self.record.ledger) } else { entry }
    }

    /// Reports an end between two stops, once; `None` if it is reported.
    pub fn report_end(&mut self) -> io::Result<Option<HookAnswer>> {
        let Some(reason) = self.record.ledger.ended.clone().filter(|_| self.record.unnotified)
        else {
            return Ok(None);
        };
        let (message, line) = if self.record.kind == LoopKind::Task {
            task::late_end_texts(&self.record, &reason)
        } else {
            feature::late_end_texts(self.context, &self.record, &reason)
        };
        self.record.unnotified = false;
        self.folder.save(&self.record)?;
        let answer = HookAnswer::notify(&message).log(&line);
        // The command that ended the loop has told the person. Only the terminal rings here.
        Ok(Some(answer.alert(&self.record.about, reason.name(), &message)))
    }

    /// Gives the session's folder back.
    fn leave(self, answer: HookAnswer) -> HookAnswer {
        let Self { context, folder, record, standing } = self;
        drop(folder);
        if !record.ledger.is_live() {
            pinned::end_promise(&context.project.root, &record);
            context.loops.remove_leftovers();
        }
        // Everything is written and no lock is held, so the person's program delays no other session.
        if let Some(alert) = &answer.alert {
            let patience = context.deadline.left() + NOTICE_PATIENCE;
            notices::tell(context.loops, &record, standing.pin(), &alert.notice, patience);
        }
        answer
    }
}

/// A block, which every client understands, or more context, which is not shown as a problem but ends the turn in an
/// older client. More context is used only if the client is known to continue a turn then, or if a person says so.
fn continue_form(context: &StopContext<'_>, verdict: &Verdict) -> ContinueForm {
    let event = context.event;
    if event.form == AnswerForm::Contract || !matches!(verdict, Verdict::Continue(_)) {
        return ContinueForm::Block;
    }
    let takes_context = event.takes_context.and_then(|known| known(&event.session));
    let takes = match context.settings.chosen.continue_with() {
        ContinueWith::Auto => takes_context == Some(true),
        ContinueWith::Block => false,
        // A version that is known to be older ends the turn, whatever the settings say.
        ContinueWith::Context => takes_context != Some(false),
    };
    if takes { ContinueForm::Context } else { ContinueForm::Block }
}

fn output_of(results: &[CheckResult]) -> String {
    let failed = results.iter().filter(|result| !result.passed && !result.tail.is_empty());
    failed.fold(String::new(), |text, result| {
        text + "`" + &result.run + "` (" + &result.outcome + "):\n" + &result.tail + "\n"
    })
}

/// The pause that this verdict waits for, as text for the person, marked as reported; `None` if the person knows.
fn pause_to_report(record: &mut Record, verdict: &Verdict) -> Option<String> {
    let Verdict::Wait(waiting) = verdict else { return None };
    waiting.iter().find(|one| matches!(one, Waiting::Paused(_)))?;
    let message = pause::told(record)?;
    let pause = record.paused.as_mut().filter(|pause| !pause.notified)?;
    pause.notified = true;
    Some(message)
}
