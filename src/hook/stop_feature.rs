//! A stop in a feature's loop (spec 003): the guards stand in the order in which they are tried.

use std::io;
use std::time::Duration;

use super::notices::{notices, other_phase, tampered, told};
use super::stop::{
    Ran, Scene, Turn, names_of, own_loop, pause_to_tell, run_checks, waited_for,
    waiting_and_telling, waiting_answer,
};
use crate::claude::answer::Answer;
use crate::claude::input::Event;
use crate::engine::{
    Demand, Evaluation, Files, Judgement, Observation, Pending, Shortfall, TerminalReason, Verdict,
    ends, evaluate,
};
use crate::evidence::commits;
use crate::evidence::progress::still;
use crate::speckit::arm::{new_record, path_of};
use crate::speckit::armed;
use crate::speckit::ending::complete_end;
use crate::speckit::observe::{Desk, add_seen, observe, wait_for_transcript};
use crate::speckit::project::{Feature, Project};
use crate::speckit::reconcile::{self, agree};
use crate::speckit::state::State;
use crate::speckit::words;
use crate::store::closing::{Telling, close_record};
use crate::store::journal::Entry;
use crate::store::loops::{Claim, Loops, RALPH, Record, Session};
use crate::store::pausing::resume_after_failure;
use crate::store::pins::{BY_TERMINAL, BY_UNKEPT, Pin, Standing};
use crate::text;
use crate::world;

/// The most tasks that are gone and remembered.
const MOST_GONE: usize = 200;

/// Judges a stop in the loop of this session.
pub fn own_turn(scene: &Scene<'_>, record: &Record, ran: Option<Ran>) -> io::Result<Turn> {
    if record.ledger.is_live() && ran.is_none() {
        wait_for_transcript(scene.event, record, scene.deadline);
    }
    // The files are read before the lock is taken: who waits for a writer keeps nobody waiting.
    let feature = scene.project.feature_at(&record.folder).ok();
    let desk = feature.as_ref().and_then(|feature| Desk::read_by(feature, scene.deadline));
    turn(scene, desk, ran)
}

/// One stop of the session's loop, with the session's folder locked.
fn turn(scene: &Scene<'_>, desk: Option<Desk>, ran: Option<Ran>) -> io::Result<Turn> {
    let (root, session) = (&scene.project.root, scene.event.session());
    let folder = scene.loops.session(session)?;
    let Some(record) = folder.record()?.filter(|record| record.kind != RALPH) else {
        return Ok(Turn::Judged(None));
    };
    let standing = armed::standing_in(root, &record, session);
    let claim = scene.loops.read_claim(&record.about)?;
    let is_own = |pin: &&Pin| pin.session.is_empty() || pin.session == session;
    let mut owner = claim.as_ref().and_then(|claim| claim.session.clone());
    if let Some(pin) = standing.pin() {
        if is_own(&pin) && !agree(&record, claim.as_ref(), pin, session) {
            return Ok(Turn::Contradicted);
        }
        if !is_own(&pin) {
            owner = Some(pin.session.clone());
        }
    }
    let mut seat = Seat { scene, folder, record, standing };
    let settled = seat.record.ledger.settled;
    seat.record.marks.begin(seat.folder.written_at(), settled);
    if let Some(reason) = seat.record.ledger.ended.clone() {
        let told = if seat.record.untold { seat.tell_end(&reason)? } else { None };
        return Ok(Turn::Judged(told));
    }
    let claim = Claim { session: owner, ..claim.unwrap_or_default() };
    match seat.turn(claim, desk, ran)? {
        Judged::Answer(answer) => Ok(Turn::Judged(Some(seat.leave(answer)))),
        Judged::RunChecks(pending) => {
            // Nobody waits for the checks: a cancel in the meantime counts.
            let Seat { folder, record, .. } = seat;
            drop(folder);
            let ran = run_checks(scene, *pending, &record);
            own_loop(scene, Some(ran)).map(Turn::Judged)
        }
    }
}

/// The same for a session that has just got its loop.
fn first_turn(scene: &Scene<'_>, desk: Option<Desk>) -> io::Result<Answer> {
    match turn(scene, desk, None)? {
        Turn::Judged(answer) => Ok(answer.unwrap_or_default()),
        Turn::Contradicted => own_loop(scene, None).map(Option::unwrap_or_default),
    }
}

/// A feature in execution that this session does not drive: somebody else's, finished, or to be claimed.
pub fn unowned(scene: &Scene<'_>) -> io::Result<Answer> {
    let Scene { project, loops, event, deadline, .. } = scene;
    let feature = match project.current_feature() {
        Ok(Some(feature)) => feature,
        Ok(None) => return Ok(Answer::silent()),
        Err(lost) => return Ok(Answer::silent().log(&lost.to_string())),
    };
    let there = loops.read_claim(&feature.name)?;
    let pin = unbound_pin(scene, &feature, there.as_ref());
    let (claim, wrong) = claimed(there, pin.as_deref());
    let earlier = loops.peek(event.session());
    let over = |claim: &Claim| let_go(claim, earlier.as_ref(), event.session());
    if let Some((claim, answer)) = claim.as_ref().and_then(|it| Some((it, over(it)?))) {
        if complete_end(loops, claim, event.session())? {
            return first_turn(scene, None);
        }
        // Whoever ended the loop may have been killed before its claim was closed.
        match earlier.as_ref().filter(|_| claim.closed.is_none()) {
            Some(record) => {
                let _closed = close_claim(loops, record);
                note_let_go(loops, loops.claim(&feature.name).as_ref(), event.session());
            }
            None => note_let_go(loops, Some(claim), event.session()),
        }
        return Ok(answer);
    }
    let Some(desk) = Desk::read_by(&feature, *deadline).filter(Desk::in_execution) else {
        return Ok(Answer::silent());
    };
    if let Err(error) = desk.opened() {
        return Ok(Answer::silent().log(&error.to_string()));
    }
    // Whether anything would be said at all is known without writing a byte.
    let mut trial = fresh_record(project, &feature, claim.as_ref(), earlier.as_ref(), event);
    let seen = observe(project, &desk, event, &mut trial);
    let standing = armed::standing(&project.root, &trial);
    let desk = desk.under(&standing);
    let contract = desk.contract(&standing);
    let nobody_looks = &mut || Files::Unknown;
    if let Evaluation::Decided(judgement) = evaluate(&contract, &trial.ledger, seen, nobody_looks)
        && let Verdict::Wait(waiting) = judgement.verdict
    {
        return Ok(waiting_answer(&waiting));
    }
    let mut notices = Vec::new();
    {
        let _lock = loops.lock()?;
        let there = loops.read_claim(&feature.name)?;
        let pin = unbound_pin(scene, &feature, there.as_ref());
        let (claim, _) = claimed(there, pin.as_deref());
        if let Some(answer) = claim.as_ref().and_then(over) {
            return Ok(answer);
        }
        claim_feature(scene, &feature, claim.as_ref())?;
        if let (Some(pin), Some(wrong)) = (&pin, wrong) {
            let words = reconcile::sentence(&trial, &[wrong], pin);
            loops.note(event.session(), &reconcile::entry(&feature.name, 0, &words))?;
            notices.push(tampered(words));
        }
    }
    let answer = first_turn(scene, Some(desk))?;
    Ok(told(answer, &notices))
}

/// The open pin of a feature that, as its claim says, no session drives; `None` where a live claim names one.
fn unbound_pin(scene: &Scene<'_>, feature: &Feature, claim: Option<&Claim>) -> Option<Box<Pin>> {
    let lives = |claim: &Claim| claim.closed.is_none() && claim.session.is_some();
    if claim.is_some_and(lives) {
        return None;
    }
    match armed::standing_of_feature(&scene.project.root, &feature.name) {
        Standing::Armed(pin) => Some(pin),
        _ => None,
    }
}

/// The claim as the open pin of the feature has it, and what was wrong with the one that was found.
fn claimed(found: Option<Claim>, pin: Option<&Pin>) -> (Option<Claim>, Option<String>) {
    let Some(pin) = pin else { return (found, None) };
    let session = Some(pin.session.as_str()).filter(|session| !session.is_empty());
    let wrong = reconcile::wrong_in_claim(found.as_ref(), pin, session);
    if wrong.is_none() {
        return (found, None);
    }
    (Some(reconcile::claim_of(found, pin, session)), wrong)
}

/// Silence with a line for the log when a claim is closed or another session's.
///
/// `earlier` is this session's last loop: a claim of the same arming is over with it.
fn let_go(claim: &Claim, earlier: Option<&Record>, session: &str) -> Option<Answer> {
    let ended = earlier
        .filter(|record| record.about == claim.about && record.armed_at == claim.armed_at)
        .and_then(|record| record.ledger.ended.as_ref().map(TerminalReason::name));
    if let Some(reason) = claim.closed.as_deref().or(ended) {
        let line = format!(
            "The loop of feature {} is over ({reason}); /speckit:implement starts a new one",
            claim.about
        );
        return Some(Answer::silent().log(&line));
    }
    let owner = claim.session.as_deref().filter(|owner| *owner != session)?;
    let line = format!(
        "Feature {} is driven by session {owner}; this one is let go. /speckit:implement takes it over",
        claim.about
    );
    Some(Answer::silent().log(&line))
}

/// Notes that a session stopped beside the loop of another one, for a person who wonders why.
fn note_let_go(loops: &Loops, claim: Option<&Claim>, session: &str) {
    let Some(claim) = claim.filter(|claim| claim.closed.is_none()) else {
        return;
    };
    let owner = claim.session.as_deref().filter(|owner| *owner != session);
    // Nobody is kept waiting for a note, and nobody is told that it could not be written.
    let _noted = owner.map(|owner| loops.note_let_go(session, &claim.about, owner));
}

/// Binds the feature to this session, unless another hook of the same session has just done it.
fn claim_feature(scene: &Scene<'_>, feature: &Feature, claim: Option<&Claim>) -> io::Result<()> {
    let Scene { project, loops, event, .. } = *scene;
    let folder = loops.session(event.session())?;
    let earlier = folder.record()?;
    if earlier.as_ref().is_some_and(|it| it.ledger.is_live() && it.about == feature.name) {
        return Ok(());
    }
    earlier.as_ref().map_or(Ok(()), |earlier| loops.settle(earlier))?;
    let record = fresh_record(project, feature, claim, earlier.as_ref(), event);
    loops.write_claim(&Claim {
        session: Some(event.session().to_owned()),
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        armed_at: record.armed_at,
        commits_from: Some(record.commits_read),
        ..claim.cloned().unwrap_or_default()
    })?;
    folder.save(&record)?;
    if record.armed_by == BY_TERMINAL {
        let claim =
            Claim { armed_at: record.armed_at, about: record.about.clone(), ..Claim::default() };
        // Without it, the notes alone say which session drives the loop.
        let _bound = armed::bind(&project.root, &claim, event.session());
    }
    folder.note(&Entry {
        at: world::now(),
        event: "claimed".to_owned(),
        about: feature.name.clone(),
        words: format!(
            "the first session that stopped took the loop (armed by {})",
            record.armed_by
        ),
        ..Entry::default()
    })
}

/// A record with an empty ledger; `earlier` is the session's last loop, which is over.
fn fresh_record(
    project: &Project,
    feature: &Feature,
    claim: Option<&Claim>,
    earlier: Option<&Record>,
    event: &Event,
) -> Record {
    let by = match claim {
        Some(claim) if claim.session.is_none() && claim.unkept => BY_UNKEPT,
        Some(claim) if claim.session.is_none() => BY_TERMINAL,
        _ => "claim",
    };
    let claim = Claim {
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        armed_at: claim.map_or_else(world::now, |claim| claim.armed_at),
        // What was committed before nobody armed it is nobody's work for this loop.
        commits_from: claim
            .map_or_else(|| Some(commits::log_length(&project.root)), |claim| claim.commits_from),
        ..Claim::default()
    };
    // A session that nobody armed has said all of its transcript for this loop, unless it had a
    // loop before: then only what it says now is new.
    let said_before = earlier.and_then(|_| event.transcript());
    let mut record = new_record(&claim, event.session(), by, said_before.as_deref());
    if let Some(earlier) = earlier {
        record.transcript_read = earlier.transcript_read.min(record.transcript_from);
    }
    record
}

/// A session at its loop: where the verdict is asked for, kept and spoken.
struct Seat<'a> {
    scene: &'a Scene<'a>,
    folder: Session,
    record: Record,
    standing: Standing,
}

/// A stop is answered, or checks have to be run first.
enum Judged {
    Answer(Answer),
    RunChecks(Box<Pending>),
}

impl Seat<'_> {
    /// What becomes of this stop.
    fn turn(&mut self, claim: Claim, desk: Option<Desk>, ran: Option<Ran>) -> io::Result<Judged> {
        let about = self.record.about.clone();
        if let Standing::Ended(end) = &self.standing {
            // Whoever ended it was killed before the notes had it: it keeps its name and words.
            let (record, end) = (&mut self.record, end.clone());
            if end.reason == TerminalReason::Cancelled {
                // Whoever cancels knows of it.
                close_record(&self.folder, record, &end.reason, &end.words, Telling::Done)?;
                let line = format!("The loop of feature {about} is over (cancelled)");
                return Ok(Judged::Answer(Answer::silent().log(&line)));
            }
            close_record(&self.folder, record, &end.reason, &end.words, Telling::AtNextStop)?;
            let told = self.tell_end(&end.reason)?;
            return Ok(Judged::Answer(told.unwrap_or_default()));
        }
        if let Some(owner) = claim.session.filter(|owner| *owner != self.record.session) {
            let line = format!("Feature {about} is driven by session {owner} now");
            return self.close(&Demand::Stopped, &line);
        }
        if let Some(reason) = claim.reason.filter(|reason| *reason != TerminalReason::Cancelled) {
            // Whoever ended it was killed before the record had the end: it keeps its name and words.
            let (record, telling) = (&mut self.record, Telling::AtNextStop);
            close_record(&self.folder, record, &reason, &claim.words, telling)?;
            return self.tell_end(&reason).map(|told| Judged::Answer(told.unwrap_or_default()));
        }
        if let Some(reason) = claim.closed {
            let line = format!("The loop of feature {about} is over ({reason})");
            return self.close(&Demand::Cancelled, &line);
        }
        let Some(desk) = desk.or_else(|| self.desk_without_state()) else {
            return self.state_gone();
        };
        desk.opened()?;
        let all_done = desk.place().total > 0 && desk.place().done == desk.place().total;
        // Another phase, or armed for another feature since the files were read.
        let ours = desk.in_execution()
            || (all_done && desk.state.phase().is_empty())
            // The agent can write the phase, too.
            || self.standing.pin().is_some();
        if !ours || desk.feature.relative != self.record.folder {
            return Ok(Judged::Answer(Answer::silent()));
        }
        self.judge(desk, ran)
    }

    /// Gives the session's folder back; a loop that is over gives its feature up as well.
    fn leave(self, answer: Answer) -> Answer {
        let Self { scene, folder, record, .. } = self;
        // Who arms or cancels takes the lock of the project first and the session's second.
        drop(folder);
        if !record.ledger.is_live() {
            armed::unpin(&scene.project.root, &record);
        }
        match close_claim(scene.loops, &record) {
            Ok(()) => answer,
            Err(error) => answer.log(&format!("The claim cannot be closed: {error}")),
        }
    }

    fn judge(&mut self, desk: Desk, ran: Option<Ran>) -> io::Result<Judged> {
        let Scene { project, event, .. } = self.scene;
        let standing = self.standing.clone();
        let desk = &desk.under(&standing);
        resume_after_failure(&self.folder, &mut self.record)?;
        armed::recall_told(&mut self.record, &standing);
        let before = self.record.clone();
        let mut seen = observe(project, desk, event, &mut self.record);
        add_seen(project, event, &mut self.record, &mut seen);
        let list_changed = desk.tasks.is_some() && self.record.tasks_hash != desk.tasks_hash();
        if list_changed && self.record.tasks_hash != 0 {
            seen.tampered = desk.tampered_since(&self.folder.open_tasks()?);
        }
        self.note_gone_tasks(desk, &seen);
        let contract = desk.contract(&standing);
        let judgement = if let Some(Ran { pending, results, marks }) = ran {
            self.record.marks = marks;
            pending.with(&contract, &self.record.ledger, results, seen)
        } else {
            let moment = self.scene.moment(&self.record);
            let Record { ledger, marks, .. } = &mut self.record;
            match evaluate(&contract, ledger, seen, &mut || still(&project.root, marks, moment)) {
                Evaluation::Decided(judgement) => *judgement,
                Evaluation::RunChecks(pending) => return Ok(Judged::RunChecks(pending)),
            }
        };
        let Judgement { verdict, ledger, seen } = judgement;
        armed::may_end(&project.root, &self.record, &standing, &verdict)?;
        self.record.seen_at = world::now();
        if let Some(path) = event.transcript() {
            self.record.transcript = path_of(Some(&path));
        }
        self.record.ledger = ledger;
        self.record.marks.waited = matches!(verdict, Verdict::Wait(_));
        if self.record.marks.waited {
            // Nothing is counted while waiting: what was read is read again at the next stop.
            self.record.read_as_far_as(&before);
        } else if list_changed {
            self.folder.save_open_tasks(&desk.open_tasks())?;
            self.record.tasks_hash = desk.tasks_hash();
        }
        self.record.words = spoken(desk, &seen, &verdict);
        if let (Verdict::End(_), Some(gone)) = (&verdict, words::gone_tasks(&self.record)) {
            self.record.words = format!("{}; {gone}", self.record.words);
        }
        let of_a_pause = pause_to_tell(&mut self.record, &verdict);
        let mut notices = notices(self.scene, &mut self.record, &standing, desk.limits, &verdict);
        if standing.pin().is_some() && desk.unreadable.is_none() {
            notices.extend(other_phase(&mut self.record, desk.state.phase()));
        }
        if let Verdict::End(reason) = &verdict {
            armed::end(&project.root, &self.record, reason, &self.record.words)?;
        }
        self.folder.save(&self.record)?;
        armed::keep(&project.root, &self.record, &standing, &verdict);
        let noted = self.note(desk, &verdict).and_then(|()| {
            notices.iter().try_for_each(|notice| self.folder.note(&notice.entry(&self.record)))
        });
        let answer = match (verdict, noted) {
            (Verdict::End(reason), Ok(())) => self.end_answer(desk, &seen, &reason),
            // It is over, and the record says so: the person hears of it whatever the journal has.
            (Verdict::End(reason), Err(error)) => self
                .end_answer(desk, &seen, &reason)
                .log(&format!("The end is not in the journal: {error}")),
            (_, Err(error)) => return Err(error),
            (Verdict::Wait(waiting), _) => waiting_and_telling(&waiting, of_a_pause.as_deref()),
            (Verdict::Continue(missing), _) => self.continue_answer(desk, &missing),
        };
        Ok(Judged::Answer(told(answer, &notices)))
    }

    /// Keeps which open tasks are gone from the list: they may come back, and are told at the end.
    fn note_gone_tasks(&mut self, desk: &Desk, seen: &Observation) {
        let Some(list) = &desk.tasks else { return };
        let gone = &mut self.record.gone_tasks;
        gone.retain(|id| list.find(id).is_none());
        let new = seen.tampered.removed.iter().filter(|id| list.find(id).is_none());
        let new: Vec<String> = new.filter(|id| !gone.contains(id)).cloned().collect();
        gone.extend(new);
        gone.truncate(MOST_GONE);
    }

    /// The feature's files when its state file is gone, and no cancel of ours took it away: older
    /// prompts have the agent remove it when all is done.
    fn desk_without_state(&self) -> Option<Desk> {
        let feature = self.scene.project.feature_at(&self.record.folder).ok()?;
        let desk = Desk::read_even_without_state(&feature);
        let place = desk.place();
        let all_done = place.total > 0 && place.done == place.total;
        // In execution: somebody has just written it.
        (all_done || desk.in_execution()).then_some(desk)
    }

    /// The state file is gone with work undone: a person is told, for nobody else will say so.
    fn state_gone(&mut self) -> io::Result<Judged> {
        let about = self.record.about.clone();
        let line = format!("The state file of feature {about} is gone: the loop is over");
        self.close(&Demand::Cancelled, &line)?;
        let feature = self.scene.project.feature_at(&self.record.folder).ok();
        let desk = feature.as_ref().map(Desk::read_even_without_state);
        let place = desk.as_ref().map(Desk::place).unwrap_or_default();
        let message = words::gone_message(&about, place, &self.record.ledger);
        Ok(Judged::Answer(Answer::tell(&message).log(&line)))
    }

    /// Ends the loop for a reason that lies outside the work; only the log says so.
    fn close(&mut self, demand: &Demand, line: &str) -> io::Result<Judged> {
        let seen = Observation { demand: Some(demand.clone()), ..Observation::default() };
        if let Some(reason) = ends(&self.record.ledger, &seen) {
            armed::end(&self.scene.project.root, &self.record, &reason, line)?;
            close_record(&self.folder, &mut self.record, &reason, line, Telling::Done)?;
        }
        Ok(Judged::Answer(Answer::silent().log(line)))
    }

    /// Tells the person once why the loop ended between two stops.
    fn tell_end(&mut self, reason: &TerminalReason) -> io::Result<Option<Answer>> {
        let feature = self.scene.project.feature_at(&self.record.folder);
        let (message, line) = match (words::moved_message(&self.record), feature) {
            (Some(message), _) => (message.clone(), message),
            (None, Ok(feature)) => {
                let desk = Desk::read_even_without_state(&feature);
                let message = words::end_message(&desk, &self.record.ledger, reason, None);
                (message, words::end_line(&desk, reason))
            }
            (None, Err(_)) => {
                let line = words::end_without_files(&self.record);
                (line.clone(), line)
            }
        };
        self.record.untold = false;
        self.folder.save(&self.record)?;
        Ok(Some(Answer::tell(&message).log(&line)))
    }

    fn note(&self, desk: &Desk, verdict: &Verdict) -> io::Result<()> {
        let place = desk.place();
        let is_end = matches!(verdict, Verdict::End(_));
        let (verdict, reason) = names_of(verdict);
        let entry = Entry {
            at: self.record.seen_at,
            event: "stop".to_owned(),
            about: self.record.about.clone(),
            iteration: self.record.ledger.iterations,
            task: format!("{}/{}", place.task, place.total),
            verdict: verdict.to_owned(),
            reason: reason.to_owned(),
            words: self.record.words.clone(),
            ..Entry::default()
        };
        self.folder.note(&if is_end { entry.with_sums(&self.record.ledger) } else { entry })
    }

    fn continue_answer(&self, desk: &Desk, missing: &[Shortfall]) -> Answer {
        let ledger = &self.record.ledger;
        let line = words::stopped_line(desk);
        if missing.contains(&Shortfall::Unreadable) {
            let text = words::corrupt(desk);
            let first = text.lines().next().unwrap_or_default().to_owned();
            return Answer::block(&text, &format!("Ralph-speckit: {first}")).log(&first);
        }
        Answer::block(
            &words::resume(desk, ledger, missing),
            &words::progress(desk, ledger, missing),
        )
        .log(&line)
    }

    fn end_answer(&self, desk: &Desk, seen: &Observation, reason: &TerminalReason) -> Answer {
        if *reason != TerminalReason::Completed {
            let failed = words::failed_checks(seen.checks.as_deref());
            let ledger = &self.record.ledger;
            let message = words::end_message(desk, ledger, reason, failed.as_deref());
            return Answer::tell(&message).log(&words::end_line(desk, reason));
        }
        let mut answer = match words::doubtful_message(&self.record) {
            Some(message) => Answer::tell(&message).log(&message),
            None => Answer::silent(),
        };
        if seen.claimed {
            answer = answer.log("ALL_TASKS_COMPLETE detected in transcript");
        }
        match bring_up_to_date(self.scene.loops, desk) {
            Ok(()) => answer,
            Err(error) => {
                answer.log(&format!("The state file could not be brought up to date: {error}"))
            }
        }
    }
}

/// Gives up the feature of a loop that is over, unless somebody else has taken it by now.
fn close_claim(loops: &Loops, record: &Record) -> io::Result<()> {
    let Some(reason) = &record.ledger.ended else {
        return Ok(());
    };
    let _lock = loops.lock()?;
    let claim = loops.read_claim(&record.about)?.filter(|claim| {
        claim.session.as_deref() == Some(&record.session)
            && claim.armed_at == record.armed_at
            && claim.closed.is_none()
    });
    let Some(claim) = claim else {
        return Ok(());
    };
    let closed = Some(reason.name().to_owned());
    loops.write_claim(&Claim { closed, words: record.words.clone(), ..claim })
}

/// Everything is done: the state file says so too. The agent has stopped, nobody else writes it.
///
/// A state file that the agent has removed is not written anew.
fn bring_up_to_date(loops: &Loops, desk: &Desk) -> io::Result<()> {
    let total = desk.place().total;
    let state = &desk.state;
    let right = state.task_index() >= total && state.total_tasks() == total;
    if right || state.phase() != "execution" {
        return Ok(());
    }
    let _lock =
        loops.feature_lock(&desk.feature.name, &desk.feature.folder, Duration::from_millis(200))?;
    let mut state = State::read_at_once(&desk.feature).unwrap_or_else(|_| state.clone());
    state.set("taskIndex", total);
    state.set("totalTasks", total);
    state.write(&desk.feature)
}

/// What the journal and `spool status` tell of a verdict, on one line.
fn spoken(desk: &Desk, seen: &Observation, verdict: &Verdict) -> String {
    let words = match verdict {
        Verdict::End(reason) => match words::failed_checks(seen.checks.as_deref()) {
            Some(failed) => format!("{reason}; {failed}"),
            None => reason.to_string(),
        },
        Verdict::Wait(waiting) => format!("waiting for {}", waited_for(waiting)),
        Verdict::Continue(missing) => {
            let words: Vec<_> = missing.iter().map(|one| words::missing(desk, one)).collect();
            words.join("; ")
        }
    };
    text::line(&words).into_owned()
}
