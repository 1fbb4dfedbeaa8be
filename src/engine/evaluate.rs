//! One step of a loop: an observation becomes a judgement, at once or after the checks.
//!
//! Every driver asks here. [`Pending`] keeps what was observed before the checks, so that no driver can compare what
//! the checks wrote.

use super::contract::{Check, Contract};
use super::decide::{
    Decision, converges_first, decide, waits, wants_checks, wants_files, wants_final_checks,
    wants_review,
};
use super::ledger::Ledger;
use super::observation::{CheckResult, Demand, FinishedPart, Observation, UnchangedFiles, Waiting};
use super::verdict::Verdict;

#[derive(Clone, Debug)]
pub enum Evaluation {
    Decided(Box<Judgement>),
    /// Everything else says "done": the checks have to run first.
    RunChecks(Box<Pending>),
}

/// A verdict with its grounds and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The loop's memory from now on; unchanged for [`Verdict::Wait`].
    pub ledger: Ledger,
    pub seen: Observation,
}

/// An observation that cannot be judged before the checks have run.
#[derive(Clone, Debug)]
pub struct Pending {
    checks: Vec<Check>,
    /// The loop does not complete now: it waits, the converge command has to run, or another end has come. A review
    /// would cost money for nothing.
    continues: bool,
    seen: Observation,
}

/// Judges an iteration, or names the checks that have to run first.
///
/// `look` counts the iterations without a change of the files. A look takes long in a large project, so at most one is
/// made, and only if the answer decides.
pub fn evaluate(
    contract: &Contract,
    ledger: &Ledger,
    mut seen: Observation,
    look: &mut dyn FnMut() -> UnchangedFiles,
) -> Evaluation {
    let runs_checks = wants_checks(contract, ledger, &seen);
    let converges = converges_first(contract, ledger, &seen);
    if runs_checks || converges {
        seen.finished = None;
    }
    let may_review = seen.finished.is_some();
    if seen.files == UnchangedFiles::NotLooked
        && (runs_checks || may_review || wants_files(contract, ledger, &seen))
    {
        seen.files = look();
    }
    if runs_checks || (may_review && wants_review(contract, ledger, &seen)) {
        let continues = converges || waits(ledger, &seen).is_some();
        let checks = contract.checks.clone();
        return Evaluation::RunChecks(Box::new(Pending { checks, continues, seen }));
    }
    let mut judgement = judged(contract, ledger, seen);
    if wants_final_checks(contract, &judgement.verdict, &judgement.seen) {
        judgement.seen.finished = None;
        let (checks, seen) = (contract.checks.clone(), judgement.seen);
        return Evaluation::RunChecks(Box::new(Pending { checks, continues: true, seen }));
    }
    Evaluation::Decided(Box::new(judgement))
}

fn judged(contract: &Contract, ledger: &Ledger, seen: Observation) -> Judgement {
    let Decision { verdict, ledger } = decide(contract, ledger, &seen);
    Judgement { verdict, ledger, seen }
}

impl Pending {
    /// In order; none for a part that was finished before the end.
    pub fn commands(&self) -> &[Check] {
        let commands = Contract::commands_and_review(&self.checks).0;
        if self.finished().is_some() { &[] } else { commands }
    }

    /// The part to review; `None` for all of the work.
    pub fn finished(&self) -> Option<&FinishedPart> {
        self.seen.finished.as_ref()
    }

    /// The review after the commands; none if the loop does not complete now.
    pub fn review(&self) -> Option<&Check> {
        Contract::commands_and_review(&self.checks).1.filter(|_| !self.continues)
    }

    /// The observation before the checks.
    pub fn seen(&self) -> &Observation {
        &self.seen
    }

    /// Judges with the results of the checks. `now` was observed after the checks: they may have written files, and a
    /// person may have paused or canceled the loop.
    ///
    /// The work is compared as it was before the checks; the next iteration is compared with what they wrote. Results
    /// count only if the contract still has the same checks.
    pub fn with(
        self,
        contract: &Contract,
        ledger: &Ledger,
        results: Vec<CheckResult>,
        mut now: Observation,
    ) -> Judgement {
        let is_limited = |check: &&CheckResult| check.review.is_some_and(|made| made.is_limited());
        if let Some(limited) = results.iter().find(is_limited) {
            // A limited review says nothing about the work, and the next one would be limited, too.
            now.waiting.push(Waiting::UsageLimit(limited.outcome.clone()));
        }
        let is_asked_for = self.checks == contract.checks;
        let seen = Observation {
            fingerprint: self.seen.fingerprint,
            files: self.seen.files,
            after_checks: Some(now.fingerprint),
            checks: is_asked_for.then_some(results),
            finished: self.seen.finished,
            ..now
        };
        judged(contract, ledger, seen)
    }

    /// Judges with earlier results that still hold: nothing runs.
    pub fn with_earlier(
        &self,
        contract: &Contract,
        ledger: &Ledger,
        mut results: Vec<CheckResult>,
    ) -> Judgement {
        // The cost was counted when the review was made.
        for review in results.iter_mut().filter_map(|result| result.review.as_mut()) {
            (review.tokens, review.cost) = (0, 0);
        }
        judged(contract, ledger, Observation { checks: Some(results), ..self.seen.clone() })
    }

    /// Judges the case that a person ended the loop while the checks ran.
    pub fn interrupted(self, contract: &Contract, ledger: &Ledger, demand: Demand) -> Judgement {
        judged(contract, ledger, Observation { demand: Some(demand), ..self.seen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Fingerprint, Shortfall, TerminalReason, Work};

    fn check(run: &str) -> Check {
        Check { run: run.to_owned(), limit_seconds: 1, ..Check::default() }
    }

    fn contract() -> Contract {
        Contract { checks: vec![check("make test")], ..Contract::default() }
    }

    fn failed() -> Vec<CheckResult> {
        let (run, outcome) = ("make test".to_owned(), "exit code 1".to_owned());
        vec![CheckResult { run, passed: false, outcome, tail: String::new(), review: None }]
    }

    /// A ticked list, with a work tree that this number stands for.
    fn done(work: u64) -> Observation {
        Observation {
            work: Work::List { done: 1, open: 0 },
            fingerprint: Fingerprint { work, ..Fingerprint::default() },
            files: UnchangedFiles::NotLooked,
            tool_calls: Some(1),
            ..Observation::default()
        }
    }

    fn pending(contract: &Contract, ledger: &Ledger, seen: Observation) -> Pending {
        match evaluate(contract, ledger, seen, &mut || UnchangedFiles::Still(u32::MAX)) {
            Evaluation::RunChecks(pending) => *pending,
            Evaluation::Decided(judgement) => panic!("decided: {judgement:?}"),
        }
    }

    #[test]
    fn d1_check_writes_are_no_progress() {
        let contract = contract();
        let mut ledger = Ledger::default();
        for stop in 0_u64..20 {
            let pending = pending(&contract, &ledger, done(stop));
            let judged = pending.with(&contract, &ledger, failed(), done(stop + 1));
            ledger = judged.ledger;
            if let Verdict::End(reason) = judged.verdict {
                assert_eq!((reason.name(), stop), ("no_progress", 11));
                return;
            }
        }
        panic!("it never ends: {ledger:?}");
    }

    #[test]
    fn later_observation_counts() {
        let (contract, ledger) = (contract(), Ledger::default());
        let now = Observation { demand: Some(Demand::Cancelled), ..done(1) };
        let judged = pending(&contract, &ledger, done(1)).with(&contract, &ledger, Vec::new(), now);
        assert_eq!(judged.verdict, Verdict::End(TerminalReason::Cancelled));
    }

    #[test]
    fn dropped_check_results_complete_nothing() {
        let (old, ledger) = (contract(), Ledger::default());
        let new = Contract { checks: vec![check("make all")], ..Contract::default() };
        let judged = pending(&old, &ledger, done(1)).with(&new, &ledger, Vec::new(), done(1));
        assert_eq!(judged.verdict, Verdict::Continue(vec![Shortfall::ChecksNotRun]));
    }

    #[test]
    fn files_are_read_when_deciding() {
        let contract = Contract::default();
        let open = |work| Observation { work: Work::List { done: 0, open: 1 }, ..done(work) };
        let mut looks = 0;
        let mut ledger = Ledger::default();
        for stop in 1.. {
            let evaluation = evaluate(&contract, &ledger, open(7), &mut || {
                looks += 1;
                UnchangedFiles::Still(u32::MAX)
            });
            let Evaluation::Decided(judged) = evaluation else { panic!("there are no checks") };
            ledger = judged.ledger;
            if matches!(judged.verdict, Verdict::End(_)) {
                assert_eq!((looks, stop), (3, 12));
                return;
            }
            // To compare with later, before the agent is warned, and before the loop ends.
            assert_eq!(looks, u32::from(stop > 4) + u32::from(stop == 11), "{stop}");
        }
    }
}
