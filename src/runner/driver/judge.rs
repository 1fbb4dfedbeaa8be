//! Turns an iteration into an observation, and asks the engine for the verdict.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::agents::AgentRun;
use super::cut_off::review_of_cut_off;
use super::parts::Driver;
use super::ticks::TickProofs;
use crate::checks::{BESIDE_READER, ReviewCall, run_all};
use crate::engine::promise::{blocked, promise};
use crate::engine::proof::Proof;
use crate::engine::{
    Check, CheckResult, Contract, Demand, Difference, Evaluation, FinishedPart, Observation,
    Pending, Promise, TerminalReason, UnchangedFiles, Verdict, Waiting, Work, evaluate,
};
use crate::evidence::progress::{LookMoment, changed_since};
use crate::forms::events::RunnerEvent;
use crate::forms::spent::Spent;
use crate::runner::capture::run_check;
use crate::runner::harness::{AgentReport, RunOutcome, is_passing};
use crate::runner::messages::in_short;
use crate::runner::screen::lasted;
use crate::runner::state::Iteration;
use crate::runner::task_list::{TaskListUpdate, Tasks};
use crate::runner::tokens::TokenCount;
use crate::session::messages::shortfall::of_check;
use crate::session::stop::LAST_WORDS;
use crate::store::lock::LONGEST_STEP;
use crate::store::loops::Checked;
use crate::store::names::{JournalEvent, PromiseState};
use crate::store::receipts::newest;
use crate::world::{Deadline, FileTime, Stopwatch, WallTime};

/// Characters of what the agent asks of a person.
const LONGEST_NEED: usize = 500;

impl Driver<'_> {
    /// Asks the engine, and runs the checks that the engine wants.
    pub(super) fn judge(
        &mut self,
        seen: Observation,
        entry: &mut Iteration,
        log: &mut File,
    ) -> Verdict {
        let ledger = self.files.state.ledger.clone();
        let contract = self.contract();
        self.proofs.reviewed = None;
        let mut cut_off = Spent::default();
        let judgement =
            match evaluate(&contract, &ledger, seen, &mut || UnchangedFiles::InFingerprint) {
                Evaluation::Decided(judgement) => *judgement,
                Evaluation::RunChecks(pending) => match self.results(&pending, log) {
                    Ok(ChecksSeen::Earlier(results)) => {
                        entry.checks.clone_from(&results);
                        pending.with_earlier(&contract, &ledger, results)
                    }
                    Ok(ChecksSeen::Now(mut results)) => {
                        self.take_results(&mut results);
                        entry.checks.clone_from(&results);
                        // The checks, and a person meanwhile, may have written into the list.
                        let looked = self.tree.tasks.as_mut().map(Tasks::look);
                        let fingerprint = self.tree.fingerprint();
                        let (since, known) = (self.saved_now(), results.clone());
                        self.proofs.checked = Some(Checked { fingerprint, results: known, since });
                        let mut now = Observation { fingerprint, ..pending.seen().clone() };
                        // Whether a new tick counts is judged in the next iteration.
                        let opened = looked.filter(|list| !is_complete(&list.work));
                        if let Some(list) = opened.filter(|_| is_complete(&now.work)) {
                            now.work = list.work;
                        }
                        let is_judged = |made: &CheckResult| !made.passed || made.review.is_some();
                        if pending.review().is_some() && !results.iter().any(is_judged) {
                            // No time is left for a review: another iteration would have none either.
                            now.elapsed_seconds = u64::MAX;
                        }
                        let has_passed = results.iter().any(CheckResult::is_proof_by_review);
                        if let Some(review) = pending.review().filter(|_| has_passed) {
                            let part = pending.finished().map(|part| part.tasks.clone());
                            let seat = self.agents.seat().harness.name();
                            let reader = if self.worker_reads() { seat } else { review.reader() };
                            let reader = reader.to_owned();
                            self.proofs.reviewed = Some((reader, part.unwrap_or_default()));
                        }
                        pending.with(&contract, &ledger, results, now)
                    }
                    Err(Stopped) => {
                        self.proofs.checks_stopped = true;
                        let (state, prices) = (&self.files.state, &self.plan.options.prices);
                        cut_off = review_of_cut_off(entry, state, &self.files.folder, prices);
                        pending.interrupted(&contract, &ledger, Demand::Stopped)
                    }
                },
            };
        entry.done_check = judgement.verdict == Verdict::End(TerminalReason::Completed);
        if self.plan.contract.token.is_some() {
            entry.promise = match (judgement.seen.claimed, entry.done_check) {
                (false, _) => PromiseState::Missing,
                (true, true) => PromiseState::Accepted,
                (true, false) => PromiseState::Refused,
            };
        }
        // Save nothing before the iteration ends: after a kill, the next run would count this ledger twice.
        self.files.state.ledger = judgement.ledger;
        self.files.state.count_review(cut_off);
        judgement.verdict
    }

    /// Nothing names another reader than the loop's program: the one at work reads.
    pub(super) fn worker_reads(&self) -> bool {
        let (options, seats) = (self.plan.options, &self.agents.seats);
        let reader = options.checks.last().map_or("", Check::reader);
        let is_named = options.settings.review_harness().is_some()
            || options.settings.review_model().is_some()
            || seats[0].harness.name() != reader;
        !is_named && self.agents.seat().harness.can_only_read()
    }

    /// Adds the armed commands of tasks ticked by hand; a review stays the last check.
    fn contract(&self) -> Contract {
        let mut contract = self.plan.contract.clone();
        let limit = self.plan.options.settings.check_timeout().as_secs();
        contract.add_commands(self.proofs.ticks.checks(limit));
        contract
    }

    fn take_results(&mut self, results: &mut [CheckResult]) {
        let TickProofs { judge: Some(judge), ticks, millis, .. } = &mut self.proofs else { return };
        ticks.take_results(judge, results, &|run| millis.get(run).copied().unwrap_or_default());
    }

    /// `commits` counts commits with work in them.
    pub(super) fn observe(
        &self,
        ran: &AgentRun,
        counted: &TokenCount,
        looked: TaskListUpdate,
        commits: Option<u64>,
    ) -> Observation {
        let report = &ran.report;
        let token = self.plan.contract.token.as_deref();
        // Words count only after a good end of the agent program.
        let said =
            if report.outcome == RunOutcome::Finished { report.final_text.as_str() } else { "" };
        let promised = promise(token, self.plan.options.settings.promise_match(), said);
        let mut seen = Observation {
            work: looked.work,
            finished: self.finished(),
            claimed: promised == Promise::Kept,
            promise: promised,
            tampered: looked.tampered,
            tool_calls: report.tool_calls,
            failed_calls: report.failed_calls,
            denied: in_short(&report.denied),
            answered: is_answered(report),
            commits,
            tokens: counted.tokens,
            list: self.tree.list_hash(),
            fingerprint: self.tree.fingerprint(),
            elapsed_seconds: self.files.elapsed().as_secs(),
            last_words: crate::text::title(said, LAST_WORDS),
            ..Observation::default()
        };
        (seen.since_arming, seen.against) = self.against(seen.claimed);
        let at_start = self.proofs.list_at_start.as_ref();
        let was_open = at_start.is_none_or(|file| file.list.open().next().is_some());
        let contract = &self.plan.contract;
        let is_judged = !contract.checks.is_empty() || !contract.converge.is_empty();
        let judge = self.proofs.judge.as_ref();
        let receipts = || Some(judge?.receipts.since(WallTime::default()));
        let receipts = (!was_open).then(receipts).flatten().unwrap_or_default();
        let newest = newest(&receipts);
        let is_proved =
            |id: &str| newest.get(id).is_some_and(|last| last.proof != Some(Proof::Word));
        let are_proved =
            at_start.is_some_and(|file| file.list.tasks.iter().all(|task| is_proved(&task.id)));
        if !was_open && !is_judged && self.totals.ticked == 0 && !are_proved {
            "every box was ticked before, and nothing was verified".clone_into(&mut seen.against);
        }
        match &report.outcome {
            _ if ran.end_request.is_some() => seen.demand = Some(Demand::Stopped),
            RunOutcome::Finished => {
                // An agent that needs a person has not finished, whatever else it writes.
                seen.demand = need(said).map(Demand::Blocked);
            }
            RunOutcome::Lasting(why) if !is_complete(&seen.work) => {
                seen.demand = Some(Demand::HarnessFailed(why.clone()));
            }
            RunOutcome::Failed(why) | RunOutcome::Lasting(why) | RunOutcome::SessionGone(why) => {
                seen.failed = Some(why.clone());
            }
            RunOutcome::UsageLimit { words, .. } => {
                seen.waiting = vec![Waiting::UsageLimit(words.clone())];
            }
            RunOutcome::Cut => {}
        }
        seen
    }

    /// The part that was finished in this run, and is to be reviewed before the rest.
    fn finished(&self) -> Option<FinishedPart> {
        let when = self.plan.contract.checks.last()?.when();
        let list = self.tree.looked_list()?;
        let at_start = self.proofs.list_at_start.as_ref();
        let reviewed = &self.files.state.ledger.reviewed;
        FinishedPart::of(when, list, reviewed, &mut || at_start.map(|file| file.list.clone()))
    }

    /// The results of the checks: those of a failed last run that still holds, or of a new run.
    fn results(&mut self, pending: &Pending, log: &mut File) -> Result<ChecksSeen, Stopped> {
        let (checked, moment) = (self.proofs.checked.as_ref(), LookMoment::after_checks());
        let Some(known) = still_good(checked, pending.seen(), self.tree.path(), moment) else {
            return self.check(pending, log).map(ChecksSeen::Now);
        };
        for result in known.results.iter().filter(|result| !result.passed) {
            let CheckResult { run, outcome, .. } = result;
            let line = format!("  `{run}` failed before, and nothing has changed since: {outcome}");
            let event = RunnerEvent::Checked { run: run.clone(), passed: false };
            self.console.screen.report(event, &line);
        }
        Ok(ChecksSeen::Earlier(known.results))
    }

    /// Saves the state and returns the save's time by the files' clock: later changes have a later time.
    fn saved_now(&mut self) -> FileTime {
        // The state is for onlookers; the next step is written down in any case.
        let _ = self.files.save();
        self.files.saved_at()
    }

    /// Runs all checks. The error means that a person stopped the loop.
    fn check(&mut self, pending: &Pending, log: &mut File) -> Result<Vec<CheckResult>, Stopped> {
        let root = self.tree.path().to_owned();
        let checks = (pending.commands(), pending.review());
        run_all(checks, &root, &mut |check, place, passed| match passed {
            None => self.check_one(check, place, None, log).map(Some),
            Some(passed) => self.review(check, place, passed, pending, log),
        })
    }

    /// `None` where too little time is left.
    fn review(
        &mut self,
        review: &Check,
        place: (usize, usize),
        passed: &[CheckResult],
        pending: &Pending,
        log: &mut File,
    ) -> Result<Option<(FileTime, CheckResult)>, Stopped> {
        let left = self.time_left().unwrap_or(Duration::MAX);
        if left.as_secs() <= BESIDE_READER {
            self.console.screen.warn("what is left of --max-runtime is too short for a review");
            return Ok(None);
        }
        let about = (self.plan.change.id.as_str(), pending.finished());
        let mut call = ReviewCall::of(review, about, passed, left);
        let (rails, ledger) = (&self.plan.contract.guardrails, &self.files.state.ledger);
        let tokens = ledger.all_tokens().saturating_add(pending.seen().tokens);
        let cost = ledger.all_cost().saturating_add(pending.seen().cost);
        for (most, what, used) in
            [(rails.max_tokens, "tokens", tokens), (rails.max_cost, "cost", cost)]
        {
            let left = most.map(|most| most.saturating_sub(used));
            call.arguments.extend(left.map(|left| format!("--left-{what}={left}")));
        }
        if self.worker_reads() {
            let seat = self.agents.seat();
            let words = call.arguments.iter_mut().skip_while(|word| *word != "--harness");
            words.skip(1).take(1).for_each(|word| seat.harness.name().clone_into(word));
            let model = seat.model.iter().filter(|_| self.agents.current > 0);
            call.arguments.extend(model.map(|model| format!("--model={model}")));
        }
        let prices = self.plan.options.prices.0.iter();
        call.arguments.extend(prices.map(|price| format!("--prices={price}")));
        let (began, result) = self.check_one(review, place, Some(&call), log)?;
        let counts_money = rails.max_cost.is_some();
        if counts_money && result.review.is_some_and(|used| used.tokens > 0 && used.cost == 0) {
            self.console.screen.warn(
                "nothing tells what this review cost, so --max-usd does not count it; --prices does",
            );
        }
        // If the journal cannot be written, the entry of the iteration ends the loop.
        let iteration = self.files.state.ledger.iterations.saturating_add(1);
        let entry = self.entry(JournalEvent::Checks, iteration, &of_check(&result));
        let _ = self.files.note(&entry);
        Ok(Some((began, result)))
    }

    /// Also gives the check's beginning by the files' clock.
    pub(super) fn check_one(
        &mut self,
        check: &Check,
        (number, all): (usize, usize),
        review: Option<&ReviewCall>,
        log: &mut File,
    ) -> Result<(FileTime, CheckResult), Stopped> {
        let words = format!("checking `{}` ({number} of {all})", check.run);
        self.files.state.doing.clone_from(&words);
        self.tree.forget_look();
        let (began, step) = (self.saved_now(), Deadline::after(LONGEST_STEP));
        // The files' clock moves on in steps: what the check writes has a later time.
        while self.saved_now() == began && !step.is_over() {}
        // A check on a full disk says nothing about the work.
        self.files.has_room().map_err(|_| Stopped)?;
        let event = RunnerEvent::Check { run: check.run.clone() };
        self.console.screen.report(event, &format!("  {words}"));
        // A command is written for the project, which may lie below the top of the work tree.
        let folder = &self.plan.change.root;
        let (clock, console) = (Stopwatch::start(), &self.console);
        let mut interrupted = || {
            console.screen.live(&format!("{words} · {}", lasted(clock.elapsed())));
            console.wants_end()
        };
        let supervisor = &self.agents.supervisor;
        let result = run_check(supervisor, (check, review), folder, log, &mut interrupted);
        self.console.screen.still();
        self.proofs.millis.insert(check.run.clone(), clock.millis());
        self.files.state.doing = words.replacen("checking", "checked", 1);
        if self.console.end_request().is_some() {
            return Err(Stopped);
        }
        let outcome = if result.passed { "passed" } else { "failed" };
        let line = format!("  `{}` {outcome}: {}", result.run, result.outcome);
        let event = RunnerEvent::Checked { run: result.run.clone(), passed: result.passed };
        self.console.screen.report(event, &line);
        Ok((began, result))
    }
}

/// The service answered: with work or words, or that it is busy.
fn is_answered(report: &AgentReport) -> bool {
    let has_worked = !report.final_text.is_empty()
        || report.tool_calls.unwrap_or(0) > 0
        || report.tokens.is_some_and(|tokens| tokens.total() > 0);
    match report.outcome {
        RunOutcome::Finished | RunOutcome::Cut | RunOutcome::UsageLimit { .. } => true,
        _ => has_worked || is_passing(report.status),
    }
}

/// The results of the last checks, if one failed and nothing has happened since.
///
/// Files do not show every cause of a failure, so any tool call asks for a new run. The agent can write to the stored
/// results, so a stored pass never counts.
fn still_good(
    checked: Option<&Checked>,
    seen: &Observation,
    root: &Path,
    moment: LookMoment,
) -> Option<Checked> {
    let checked = checked.filter(|_| seen.tool_calls == Some(0) && !seen.more_calls)?;
    let results = &checked.results;
    // A review without a verdict says nothing about the work: it is made again.
    let is_unjudged = results.iter().any(|check| check.review.is_some_and(|review| !review.judged));
    if is_unjudged || results.iter().all(|result| result.passed) {
        return None;
    }
    let same = seen.fingerprint.work == checked.fingerprint.work
        && changed_since(root, checked.since, moment) == Difference::Same;
    same.then(|| checked.clone())
}

/// The results of the checks.
enum ChecksSeen {
    /// Of a run after this iteration.
    Now(Vec<CheckResult>),
    /// Of an earlier run; they still hold.
    Earlier(Vec<CheckResult>),
}

/// A person stopped the loop while checks ran.
pub(super) struct Stopped;

/// The agent's need for a person, in its own words, cut for a message.
fn need(text: &str) -> Option<String> {
    let need = crate::text::title(blocked(text)?, LONGEST_NEED);
    (!need.is_empty()).then_some(need)
}

fn is_complete(work: &Work) -> bool {
    matches!(work, Work::List { done: 1.., open: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn need_fits_a_message() {
        assert_eq!(need("<blocked>set API_KEY</blocked>"), Some("set API_KEY".to_owned()));
        assert_eq!(need("<blocked>\u{1b}[31mx</blocked>"), Some("�[31mx".to_owned()));
    }
}
