//! What becomes of a stop, from the first look at the session's loop to the answer. The two kinds of loops differ in
//! what is observed and in the words; each has its own file.

use std::io;
use std::time::Duration;

use super::claim::{Unowned, close_claim, unowned};
use super::context::{ChecksRun, StopContext, StopSession, waited_for, waiting_with_message};
use super::feature::{Entered, FeatureStop};
use super::notices::{self, Notice};
use super::{continuing, feature, task};
use crate::checks::{ReviewCall, run_each, run_review};
use crate::engine::{
    Check, CheckResult, Contract, Evaluation, Judgement, Observation, Pending, TerminalReason,
    Verdict, Waiting, evaluate,
};
use crate::evidence::progress::{LookMoment, outdated, still};
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::HookAnswer;
use crate::judge::ticks::Ticks;
use crate::session::messages::landing::JOURNALED;
use crate::session::messages::shortfall::of_check;
use crate::session::messages::task::title;
use crate::session::record::path_of;
use crate::session::{pause, pinned};
use crate::store::closing::{EndNotice, close_record};
use crate::store::journal::Entry;
use crate::store::lock::Lock;
use crate::store::loops::{Checked, Claim, Record};
use crate::store::names::{EndName, JournalEvent, LoopKind, VerdictName};
use crate::store::pausing::resume_after_failure;
use crate::store::pins::{LoopLimits, PinState};
use crate::text;
use crate::world::{self, Deadline, FileTime, Stopwatch};

/// How long all checks together may take; `hooks.json` gives the hook a little more.
pub const CHECKS_LIMIT: Duration = Duration::from_mins(25);

/// The most characters of the agent's last words that a person reads.
pub const LAST_WORDS: usize = 300;

/// How much longer than for everything else a stop waits for the command that tells a person.
const NOTICE_PATIENCE: Duration = Duration::from_millis(500);

/// What a session loops over.
enum StopKind {
    /// The task list of a feature.
    Feature(Box<FeatureStop>),
    /// One task, until its promise.
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

/// What became of a look at the session's loop.
enum Look {
    /// The session has no loop that lives.
    NoLoop,
    /// It was judged.
    Answered(HookAnswer),
    /// Checks have to run first; the lock is given up, and this is the loop as it was.
    RunChecks(Box<Pending>, Box<Record>, Box<Ticks>),
}

/// The same for a stop in a loop that lives.
enum Judged {
    Answer(HookAnswer),
    RunChecks(Box<Pending>, Box<Ticks>),
}

/// The answer to a stop of a session: in the loop that it has, or in one without an owner.
pub fn answer(context: &StopContext<'_>) -> io::Result<HookAnswer> {
    if let Some(answer) = own_loop(context, None)? {
        return Ok(answer);
    }
    match unowned(context)? {
        Unowned::Answer(answer) => Ok(answer),
        Unowned::HasLoop(snapshot) => {
            Ok(own_loop(context, snapshot.map(|snapshot| *snapshot))?.unwrap_or_default())
        }
    }
}

/// The loop that this session already has; `None` when it has none that lives. `snapshot` are the feature's files
/// where they were just read.
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
                checks = Some(run_checks(context, *pending, &record, *ticks));
            }
        }
    }
}

/// One look at the session's loop: it is read, locked, judged and kept.
fn look(
    context: &StopContext<'_>,
    snapshot: Option<FeatureSnapshot>,
    checks: Option<ChecksRun>,
) -> io::Result<Look> {
    let (root, session) = (&context.project.root, &context.event.session);
    let Some(record) = to_judge(context) else { return without_loop(context) };
    // The files are read before the lock is taken: waiting for a writer makes no other session wait.
    let is_task = record.kind == LoopKind::Task;
    let waits = snapshot.is_none() && record.ledger.is_live() && checks.is_none();
    let snapshot = match snapshot {
        None if is_task => {
            if waits {
                task::wait_for_transcript(context, &record);
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
    let standing = pinned::standing(root, &record);
    // The pin says whose the loop is. One that was armed in a terminal is taken first.
    let pin = standing.pin().filter(|_| !is_task);
    if record.ledger.is_live() && pin.is_some_and(|pin| pin.session.is_empty()) {
        return Ok(Look::NoLoop);
    }
    let own = pin.filter(|pin| pin.session == *session);
    if let Some(pin) = own.filter(|_| record.ledger.is_live()) {
        // Whoever armed it again may have been killed between the record and the pin.
        record.armed_at = pin.armed_at;
        record.armed_by.clone_from(&pin.armed_by);
    }
    let claim =
        if is_task || own.is_some() { None } else { context.loops.read_claim(&record.about)? };
    if is_task && record.ralph().is_none() {
        return Ok(Look::NoLoop);
    }
    let mut stop = StopSession { context, folder, record, standing };
    if !stop.record.ledger.is_live() {
        return Ok(stop.report_end()?.map_or(Look::NoLoop, Look::Answered));
    }
    match stop.judge(claim, snapshot, checks)? {
        Judged::Answer(answer) => Ok(Look::Answered(stop.leave(answer))),
        Judged::RunChecks(pending, ticks) => {
            // Nobody waits for the checks: a cancel in the meantime counts.
            let StopSession { folder, record, .. } = stop;
            drop(folder);
            Ok(Look::RunChecks(pending, Box::new(record), ticks))
        }
    }
}

/// The session's loop, as it is before the lock: one that lives, or whose end is still to be reported.
fn to_judge(context: &StopContext<'_>) -> Option<Record> {
    let session = &context.event.session;
    let record = if context.loops.knows(session) { context.loops.peek(session) } else { None };
    record.filter(|record| record.ledger.is_live() || record.unnotified)
}

fn without_loop(context: &StopContext<'_>) -> io::Result<Look> {
    let session = &context.event.session;
    if context.loops.knows(session) {
        // One that cannot be read is an error.
        context.loops.session(session)?.record()?;
    }
    Ok(Look::NoLoop)
}

/// Runs the checks of this session's loop and returns their results, with what was observed before. The
/// journal names the one that runs, and a lock is held as long as it does: `spool status` shows it, because
/// the client's own line cannot change. Those that had passed before a file changed run once more.
fn run_checks(
    context: &StopContext<'_>,
    pending: Pending,
    record: &Record,
    ticks: Ticks,
) -> ChecksRun {
    let session = &context.event.session;
    let running = context.loops.checking(session);
    // The times of the files tell what the checks write from what the agent wrote before, and will write after them.
    let is_apart = || running.as_ref().is_some_and(Lock::outlasts_step);
    let was_apart = is_apart();
    let mut marks = record.marks.clone();
    let (checks, review) = (pending.commands(), pending.review());
    let all = checks.len() + usize::from(review.is_some());
    let mut began = Vec::new();
    let write = |words: String, check: String| {
        // A journal that cannot be written is reported with the verdict.
        let iteration = record.ledger.iterations.saturating_add(1);
        let entry = record.entry(JournalEvent::Checks, &words);
        let _ = context.loops.note(session, &Entry { iteration, check, ..entry });
    };
    let mut note = |check: &Check, number: usize| {
        let check = format!("`{}` ({number} of {all})", title(&check.run));
        write(["running ", &check].concat(), check);
        let noted = context.loops.noted_at(session);
        if !marks.checking.is_known() {
            marks.checking = if was_apart { noted } else { noted.next() };
        }
        if number > 1 {
            is_apart();
        }
        noted
    };
    let limit = Deadline::after(CHECKS_LIMIT);
    let (clock, mut times) = (Stopwatch::start(), Vec::new());
    let root = &context.project.root;
    let mut results = run_each(checks, root, limit.left(), &mut |check, number| {
        began.push(note(check, number));
        times.push(clock.elapsed());
    });
    times.push(clock.elapsed());
    let millis = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).as_millis());
    let millis = millis.map(|it| u64::try_from(it).unwrap_or(u64::MAX)).collect();
    if results.iter().all(|result| result.passed) {
        let old = &checks[..outdated(root, &began, LookMoment::after_checks())];
        let again = run_each(old, root, limit.left(), &mut |check, number| {
            note(check, number);
        });
        results.splice(..old.len(), again);
        if let Some(review) = review.filter(|_| results.iter().all(|result| result.passed)) {
            note(review, all);
            let call =
                ReviewCall::of(review, (&record.about, pending.finished()), &results, limit.left());
            let result = run_review(review, &call, root);
            write(of_check(&result), String::new());
            results.push(result);
        }
    }
    is_apart();
    ChecksRun { pending, results, millis, marks, ticks }
}

impl StopSession<'_> {
    /// What becomes of a stop in a loop that lives.
    fn judge(
        &mut self,
        claim: Option<Claim>,
        snapshot: Option<FeatureSnapshot>,
        mut checks: Option<ChecksRun>,
    ) -> io::Result<Judged> {
        if let PinState::Ended(end) = &self.standing {
            // The process that ended it was killed before the notes had it: it keeps its name and words.
            let (record, end) = (&mut self.record, end.clone());
            if end.reason == TerminalReason::Cancelled {
                close_record(&self.folder, record, &end.reason, &end.words, EndNotice::Done)?;
                let what = if record.kind == LoopKind::Task { "" } else { "feature " };
                let line = format!("The loop of {what}{} has ended (cancelled)", record.about);
                return Ok(Judged::Answer(HookAnswer::silent().log(&line)));
            }
            close_record(&self.folder, record, &end.reason, &end.words, EndNotice::AtNextStop)?;
            return Ok(Judged::Answer(self.report_end()?.unwrap_or_default()));
        }
        let mut kind = StopKind::Task;
        if self.record.kind != LoopKind::Task {
            match feature::enter(self, claim.unwrap_or_default(), snapshot)? {
                Entered::Answer(answer) => return Ok(Judged::Answer(answer)),
                Entered::Feature(stop) => kind = StopKind::Feature(stop),
            }
        }
        self.begin();
        resume_after_failure(&self.folder, &mut self.record)?;
        let before = self.record.clone();
        let (contract, seen) = match &mut kind {
            StopKind::Feature(stop) => stop.observe(self, checks.as_mut())?,
            StopKind::Task => task::observe(self),
        };
        match self.evaluate(&kind, &contract, seen, checks) {
            Evaluation::RunChecks(pending) => {
                let ticks = match kind {
                    StopKind::Feature(stop) => stop.ticks,
                    StopKind::Task => Ticks::default(),
                };
                Ok(Judged::RunChecks(pending, Box::new(ticks)))
            }
            Evaluation::Decided(judgement) => {
                self.keep(&kind, &contract, *judgement, &before).map(Judged::Answer)
            }
        }
    }

    /// Takes in when the iteration before ended.
    fn begin(&mut self) {
        let marks = &mut self.record.marks;
        marks.begin(self.folder.written_at(), self.record.ledger.settled);
        let ended = marks.ends.last().copied().unwrap_or_default();
        if let Some(checked) = self.record.assignment.as_mut().and_then(|it| it.checked.as_mut())
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

    /// Writes a verdict down, and returns what is said about it.
    fn keep(
        &mut self,
        kind: &StopKind,
        contract: &Contract,
        judgement: Judgement,
        before: &Record,
    ) -> io::Result<HookAnswer> {
        let (root, event) = (&self.context.project.root, self.context.event);
        let Judgement { verdict, ledger, seen } = judgement;
        pinned::may_end(root, &self.record, &self.standing, &verdict)?;
        self.record.seen_at = world::now();
        if let Some(path) = event.transcript_path() {
            self.record.transcript = path_of(Some(path));
        }
        self.record.ledger = ledger;
        let mut not_kept = None;
        self.record.marks.waited = matches!(verdict, Verdict::Wait(_));
        if self.record.marks.waited {
            // Nothing is counted while waiting: what was read is read again at the next stop.
            self.record.read_as_far_as(before);
        } else if let StopKind::Feature(stop) = kind {
            self.record.converge_ran = false;
            self.record.judged_at = self.record.seen_at;
            // The list comes last: what is killed before it is judged again.
            not_kept = stop.keep_ticks(self, &seen).err();
            stop.keep_list(self)?;
        }
        if let Some(results) = &seen.checks {
            self.record.output = output_of(results);
        }
        self.put_in_words(kind, contract, &seen, &verdict);
        let of_a_pause = pause_to_report(&mut self.record, &verdict);
        let form = continuing::form(self.context, &mut self.record.context, &verdict);
        let limits = kind.limits();
        let mut notices =
            notices::notices(self.context, &mut self.record, &self.standing, limits, &verdict);
        if let StopKind::Feature(stop) = kind {
            notices.extend(stop.other_phase(&mut self.record, &self.standing));
        }
        if let Verdict::End(reason) = &verdict {
            pinned::end(root, &self.record, reason, &self.record.words)?;
        }
        self.folder.save(&self.record)?;
        let noted = self.note(kind, contract, &seen, &verdict).and_then(|()| {
            notices.iter().try_for_each(|notice| self.folder.note(&notice.entry(&self.record)))
        });
        let answer = match (&verdict, kind) {
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
            // It has ended, and the record says so: the person is notified whatever the journal has.
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

    /// Writes down in words what came of the stop.
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

    fn note(
        &self,
        kind: &StopKind,
        contract: &Contract,
        seen: &Observation,
        verdict: &Verdict,
    ) -> io::Result<()> {
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
        self.folder.note(&if is_end { entry.with_sums(&self.record.ledger) } else { entry })
    }

    /// Reports once why the loop ended between two stops; `None` when that is reported already.
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
        // Whoever ended it has run the person's command; here only the terminal rings.
        Ok(Some(answer.alert(&self.record.about, reason.name(), &message)))
    }

    /// Gives the session's folder back; a loop that has ended gives its feature up as well.
    fn leave(self, answer: HookAnswer) -> HookAnswer {
        let Self { context, folder, record, standing } = self;
        // Arming and canceling take the lock of the project first and the session's second.
        drop(folder);
        if !record.ledger.is_live() {
            pinned::unpin(&context.project.root, &record);
        }
        let closed = match record.kind {
            LoopKind::Task => Ok(()),
            _ => close_claim(context.loops, &record, standing.pin()),
        };
        // Nobody waits for a program of the person's: all is written, and no lock is held.
        if let Some(alert) = &answer.alert {
            let patience = context.deadline.left() + NOTICE_PATIENCE;
            notices::tell(context.loops, &record, standing.pin(), &alert.notice, patience);
        }
        match closed {
            Ok(()) => answer,
            Err(error) => answer.log(&format!("The claim cannot be closed: {error}")),
        }
    }
}

/// What the checks printed that failed.
fn output_of(results: &[CheckResult]) -> String {
    let failed = results.iter().filter(|it| !it.passed && !it.tail.is_empty());
    failed.fold(String::new(), |text, it| {
        text + "`" + &it.run + "` (" + &it.outcome + "):\n" + &it.tail + "\n"
    })
}

/// Marks a pause that this verdict waits for as reported and returns what the person reads of it; `None`
/// when it was reported before.
fn pause_to_report(record: &mut Record, verdict: &Verdict) -> Option<String> {
    let Verdict::Wait(waiting) = verdict else { return None };
    waiting.iter().find(|one| matches!(one, Waiting::Paused(_)))?;
    let message = pause::told(record)?;
    if let Some(pause) = record.paused.as_mut().filter(|pause| !pause.notified) {
        pause.notified = true;
        return Some(message);
    }
    None
}
