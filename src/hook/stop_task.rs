//! A stop in a ralph loop (spec 002): completion first, then what is waited for, then the guardrails.

use std::io;

use super::notices::{notices, told};
use super::stop::{
    Ran, Scene, Turn, names_of, own_loop, pause_to_tell, run_checks, waited_for,
    waiting_and_telling,
};
use crate::claude::answer::Answer;
use crate::engine::{
    Contract, Evaluation, Judgement, Observation, TerminalReason, Verdict, evaluate,
};
use crate::evidence::progress::still;
use crate::ralph::{PROMISE, end, observe, words};
use crate::speckit::arm::path_of;
use crate::speckit::armed;
use crate::speckit::reconcile::agree;
use crate::store::closing::{Telling, close_record};
use crate::store::journal::Entry;
use crate::store::loops::{Checked, RALPH, Record, Session};
use crate::store::pausing::resume_after_failure;
use crate::store::pins::{Limits, Standing};
use crate::world;

/// Judges a stop in the loop of this session.
///
/// `record` is the loop as it stood before the session's folder was locked.
pub fn own_turn(scene: &Scene<'_>, record: &Record, ran: Option<Ran>) -> io::Result<Turn> {
    if record.ledger.is_live() && ran.is_none() {
        observe::wait_for_transcript(scene.event, record, scene.deadline);
    }
    let folder = scene.loops.session(scene.event.session())?;
    let Some(record) = folder.record()?.filter(|record| record.kind == RALPH) else {
        return Ok(Turn::Judged(None));
    };
    let session = scene.event.session();
    let standing = armed::standing_in(&scene.project.root, &record, session);
    if standing.pin().is_some_and(|pin| !agree(&record, None, pin, session)) {
        return Ok(Turn::Contradicted);
    }
    if record.ralph().is_none() {
        return Ok(Turn::Judged(None));
    }
    let mut seat = Seat { scene, folder, record };
    if !seat.record.ledger.is_live() {
        return seat.tell_end().map(Turn::Judged);
    }
    if let Standing::Ended(end) = &standing {
        // Whoever ended it was killed before the notes had it: it keeps its name and words.
        let is_cancel = end.reason == TerminalReason::Cancelled;
        // Whoever cancels knows of it.
        let telling = if is_cancel { Telling::Done } else { Telling::AtNextStop };
        close_record(&seat.folder, &mut seat.record, &end.reason, &end.words, telling)?;
        armed::unpin(&scene.project.root, &seat.record);
        return seat.tell_end().map(Turn::Judged);
    }
    seat.begin();
    resume_after_failure(&seat.folder, &mut seat.record)?;
    armed::hold_to(&mut seat.record, &standing, PROMISE);
    armed::recall_told(&mut seat.record, &standing);
    match seat.evaluate(ran) {
        (contract, Evaluation::Decided(judgement)) => {
            seat.keep(&contract, *judgement, &standing).map(|answer| Turn::Judged(Some(answer)))
        }
        (_, Evaluation::RunChecks(pending)) => {
            // Nobody waits for the checks: a cancel in the meantime counts.
            let Seat { folder, record, .. } = seat;
            drop(folder);
            let ran = run_checks(scene, *pending, &record);
            own_loop(scene, Some(ran)).map(Turn::Judged)
        }
    }
}

/// A session at its loop: where the verdict is asked for, kept and spoken.
struct Seat<'a> {
    scene: &'a Scene<'a>,
    folder: Session,
    record: Record,
}

impl Seat<'_> {
    /// Takes in when the iteration before ended.
    fn begin(&mut self) {
        let marks = &mut self.record.marks;
        marks.begin(self.folder.written_at(), self.record.ledger.settled);
        if let Some(checked) = self.record.assignment.as_mut().and_then(|it| it.checked.as_mut())
            && checked.since == 0
        {
            checked.since = marks.ends.last().copied().unwrap_or_default();
        }
    }

    /// The contract, and what this stop comes to.
    fn evaluate(&mut self, ran: Option<Ran>) -> (Contract, Evaluation) {
        let root = &self.scene.project.root;
        let moment = self.scene.moment(&self.record);
        let seen = observe::observe(root, self.scene.event, &mut self.record, moment);
        let Record { assignment, ledger, marks, .. } = &mut self.record;
        let assignment = assignment.get_or_insert_default();
        let contract = assignment.contract.clone();
        if let Some(Ran { pending, results, marks: noted }) = ran {
            *marks = noted;
            let fingerprint = seen.fingerprint;
            assignment.checked = Some(Checked { fingerprint, results: results.clone(), since: 0 });
            let judgement = pending.with(&contract, ledger, results, seen);
            return (contract, Evaluation::Decided(Box::new(judgement)));
        }
        let mut evaluation = evaluate(&contract, ledger, seen, &mut || still(root, marks, moment));
        if let Evaluation::RunChecks(pending) = &evaluation
            && let Some(known) =
                observe::still_good(assignment.checked.as_ref(), pending.seen(), root, moment)
        {
            let judgement = pending.with_earlier(&contract, ledger, known.results);
            evaluation = Evaluation::Decided(Box::new(judgement));
        }
        (contract, evaluation)
    }

    fn keep(
        &mut self,
        contract: &Contract,
        judgement: Judgement,
        standing: &Standing,
    ) -> io::Result<Answer> {
        let before = self.folder.record()?.unwrap_or_default();
        let seen = &judgement.seen;
        armed::may_end(&self.scene.project.root, &self.record, standing, &judgement.verdict)?;
        self.record.seen_at = world::now();
        if let Some(path) = self.scene.event.transcript() {
            self.record.transcript = path_of(Some(&path));
        }
        self.record.ledger = judgement.ledger;
        let verdict = judgement.verdict;
        self.record.words = match &verdict {
            Verdict::Continue(missing) => words::why(missing),
            Verdict::Wait(waiting) => format!("waiting for {}", waited_for(waiting)),
            Verdict::End(reason) => format!("{reason}{}", self.grounds(reason)),
        };
        self.record.marks.waited = matches!(verdict, Verdict::Wait(_));
        if self.record.marks.waited {
            // Nothing is counted while waiting: what was read is read again at the next stop.
            self.record.read_as_far_as(&before);
        }
        let of_a_pause = pause_to_tell(&mut self.record, &verdict);
        let limits = Limits::default();
        let notices = notices(self.scene, &mut self.record, standing, limits, &verdict);
        if let Verdict::End(reason) = &verdict {
            armed::end(&self.scene.project.root, &self.record, reason, &self.record.words)?;
        }
        self.folder.save(&self.record)?;
        armed::keep(&self.scene.project.root, &self.record, standing, &verdict);
        if !self.record.ledger.is_live() {
            armed::unpin(&self.scene.project.root, &self.record);
        }
        let noted = self.note(contract, seen, &verdict).and_then(|()| {
            notices.iter().try_for_each(|notice| self.folder.note(&notice.entry(&self.record)))
        });
        if !matches!(verdict, Verdict::End(_)) {
            noted?;
        } else if let Err(error) = noted {
            // It is over, and the record says so: the person hears of it whatever the journal has.
            let answer = self.answer(&verdict, of_a_pause.as_deref());
            let answer = answer.log(&format!("The end is not in the journal: {error}"));
            return Ok(told(answer, &notices));
        }
        Ok(told(self.answer(&verdict, of_a_pause.as_deref()), &notices))
    }

    /// What is said about a verdict that is kept.
    fn answer(&self, verdict: &Verdict, of_a_pause: Option<&str>) -> Answer {
        match verdict {
            Verdict::Wait(waiting) => waiting_and_telling(waiting, of_a_pause),
            Verdict::Continue(missing) => {
                let reason = words::go_on(&self.record, &self.folder, missing);
                let line = words::progress(&self.record, missing);
                Answer::block(&reason, &line).log(&line)
            }
            Verdict::End(reason) => {
                let message = words::end_message(&self.record, reason);
                Answer::tell(&message).log(&message)
            }
        }
    }

    fn grounds(&self, reason: &TerminalReason) -> &'static str {
        if *reason == TerminalReason::Completed { words::grounds(&self.record) } else { "" }
    }

    /// Tells the person once why the loop ended between two stops.
    fn tell_end(&mut self) -> io::Result<Option<Answer>> {
        let Some(message) = end::told_late(&self.record).filter(|_| self.record.untold) else {
            return Ok(None);
        };
        self.record.untold = false;
        self.folder.save(&self.record)?;
        Ok(Some(Answer::tell(&message).log(&message)))
    }

    fn note(&self, contract: &Contract, seen: &Observation, verdict: &Verdict) -> io::Result<()> {
        let (name, reason) = names_of(verdict);
        let promise = match (verdict, seen.claimed) {
            _ if contract.token.is_none() => "",
            (Verdict::End(TerminalReason::Completed), _) => "accepted",
            (_, true) => "refused",
            (_, false) => "missing",
        };
        let status = match verdict {
            Verdict::End(reason) => words::status(&self.record, reason),
            _ => "",
        };
        let entry = Entry {
            at: self.record.seen_at,
            event: "stop".to_owned(),
            about: self.record.about.clone(),
            iteration: self.record.ledger.iterations,
            verdict: name.to_owned(),
            reason: reason.to_owned(),
            status: status.to_owned(),
            promise: promise.to_owned(),
            words: self.record.words.clone(),
            ..Entry::default()
        };
        let is_end = matches!(verdict, Verdict::End(_));
        self.folder.note(&if is_end { entry.with_sums(&self.record.ledger) } else { entry })
    }
}
