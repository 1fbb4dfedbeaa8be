//! A runner's loop and its iterations in the forms for programs.

use super::RunnerReport;
use crate::forms::events::RunnerEnd;
use crate::forms::iteration::IterationForm;
use crate::forms::loops::{
    CheckOutcome, ConvergeForm, EndForm, LoopArmer, LoopCheck, LoopDriver, LoopForm, LoopFormState,
    LoopSubject, PauseForm, StopForm,
};
use crate::forms::plain::{JsonTime, dollars, words};
use crate::forms::proofs::ProofsForm;
use crate::forms::runner::{AgentShareForm, RunnerForm};
use crate::runner::state::{AgentShare, Iteration, LoopState, Past, time_of};
use crate::store::names::{PromiseState, VerdictName};
use crate::world::WallTime;

impl From<&RunnerReport> for RunnerForm {
    fn from(report: &RunnerReport) -> Self {
        let state = &report.state;
        let is_known = report.is_alive() || !state.change_id.is_empty();
        let run = time(&state.started_at);
        let running = report.running_iteration.as_ref().map(IterationForm::from);
        let waits_until = WallTime::from_seconds(state.waits_until);
        Self {
            change: report.change_id.clone(),
            module: words(&state.module),
            folder: report.folder.clone(),
            problem: words(&report.unreadable),
            r#loop: (is_known || !report.unreadable.is_empty()).then(|| report.form()),
            ended_at: time(&state.ended_at),
            exit_code: state.exit_code,
            asides: report.asides.clone(),
            done_when: state.done_criteria,
            harness: words(&state.harness),
            harness_version: words(&state.harness_version),
            model: words(&state.model),
            waits_until: JsonTime::of(waits_until).filter(|_| report.is_alive()),
            spent: state.spent(),
            agents: state.agents.iter().map(AgentShareForm::from).collect(),
            denied_tools: state.denied.clone(),
            kept_as: words(&state.kept_as),
            running_iteration: running.map(|form| IterationForm { run_started_at: run, ..form }),
            iterations: report.iterations.iter().map(IterationForm::from).collect(),
        }
    }
}

impl From<&AgentShare> for AgentShareForm {
    fn from(share: &AgentShare) -> Self {
        let (harness, model) = (share.harness.clone(), words(&share.model));
        Self { harness, model, runs: share.runs, spent: share.spent() }
    }
}

/// The person's next step after a runner was killed.
pub const CONTINUES: &str = "Run the same command again: it continues this loop.";

impl RunnerReport {
    fn form(&self) -> LoopForm {
        let state = &self.state;
        let ledger = &state.ledger;
        let check = state.doing.strip_prefix("checking ");
        let is_alive = self.is_alive();
        LoopForm {
            kind: LoopSubject::Change,
            about: self.change_id.clone(),
            task: words(&state.task),
            state: self.is,
            driver: LoopDriver::Runner,
            session: words(&state.session_id),
            process: Some(state.pid).filter(|id| is_alive && *id > 0),
            armed_at: time(&state.started_at),
            armed_by: Some(LoopArmer::Runner),
            pinned: true,
            last_sign_at: time(&state.updated_at),
            end: words(&state.reason)
                .filter(|_| self.is_gone())
                .map(|name| EndForm { name: name.into(), words: state.words.clone() }),
            pause: self.paused_since.map(|since| PauseForm {
                since: JsonTime::of(since),
                words: "asked for in a terminal".to_owned(),
                ends_by_itself: false,
            }),
            iterations: state.current_iteration,
            max_iterations: Some(state.max_iterations).filter(|limit| *limit > 0),
            tokens: state.spent().known_tokens(),
            tokens_complete: !state.tokens_unknown,
            at_work: words(&state.doing).filter(|_| is_alive),
            last_stop: self.iterations.last().and_then(|past| {
                let at = time(past.iteration.ended.as_deref()?)?;
                Some(StopForm { at, words: past.iteration.words.clone() })
            }),
            checks: state.checks.iter().map(LoopCheck::from).collect(),
            running_check: check.filter(|_| is_alive).map(str::to_owned),
            converge: ConvergeForm::of(&state.converge, ledger),
            notify: words(&state.notify),
            waits_for: self.waits_for(),
            next: self.next(),
            proofs: ProofsForm::of(&self.proofs),
            ..LoopForm::from(ledger)
        }
    }

    fn waits_for(&self) -> Vec<String> {
        let pause = self.paused_since.map(|_| "the end of a pause".to_owned());
        let doing = self.state.doing.strip_prefix("waiting for ").map(str::to_owned);
        pause.into_iter().chain(doing.filter(|_| self.is_alive())).collect()
    }

    /// What a person does next.
    pub fn next(&self) -> Option<String> {
        let change = &self.change_id;
        Some(match self.is {
            LoopFormState::Paused => format!("spool resume --change {change}"),
            LoopFormState::Live => format!("nothing; `spool stop --change {change}` ends the loop"),
            LoopFormState::Dead => CONTINUES.to_owned(),
            _ => return words(&self.next_step()),
        })
    }
}

impl From<&Past> for IterationForm {
    fn from(past: &Past) -> Self {
        Self { run_started_at: time(&past.run_started_at), ..(&past.iteration).into() }
    }
}

impl From<&Iteration> for IterationForm {
    fn from(entry: &Iteration) -> Self {
        let is_over = entry.ended.is_some();
        Self {
            number: entry.n,
            run_started_at: None,
            started_at: time(&entry.started),
            ended_at: entry.ended.as_deref().and_then(time),
            seconds: is_over.then_some(entry.seconds),
            done: entry.done_check,
            verdict: Some(entry.verdict.clone()).filter(|verdict| *verdict != VerdictName::None),
            words: words(&entry.words),
            failure: words(&entry.failure),
            promise: Some(entry.promise.clone()).filter(|promise| *promise != PromiseState::None),
            commits: entry.commits.clone(),
            tasks_ticked: entry.tasks_ticked.clone(),
            unproved: entry.unproved.clone(),
            files: entry.files.clone(),
            files_changed: (is_over || entry.files_changed > 0).then(|| entry.files_changed.into()),
            tokens: (is_over && !entry.tokens_unknown).then(|| entry.tokens_used.into()),
            tokens_estimated: entry.tokens_estimated,
            tool_calls: entry.tool_calls.map(Into::into),
            failed_calls: is_over.then(|| entry.failed_calls.into()),
            cost_usd: entry.cost_usd,
            cost_estimated: entry.cost_estimated,
            denied_tools: entry.denied.clone(),
            timed_out: entry.timed_out,
            interrupted: entry.interrupted,
            handoff_asked: entry.handoff_asked,
            exit_code: entry.exit_code,
            checks: entry.checks.iter().map(CheckOutcome::from).collect(),
            kept_as: words(&entry.kept_as),
            harness: words(&entry.harness),
            model: words(&entry.model),
            session: words(&entry.session_id),
            log: words(&entry.log),
        }
    }
}

/// The time in a runner's file.
pub fn time(iso: &str) -> Option<JsonTime> {
    time_of(iso).and_then(JsonTime::of)
}

/// The end by the state of a loop, without the status and the changes of the run.
pub fn end(state: &LoopState) -> RunnerEnd {
    RunnerEnd {
        iterations: state.current_iteration,
        spent: state.spent(),
        agents: state.agents.iter().map(Into::into).collect(),
        review_tokens: state.ledger.review_tokens.into(),
        review_cost_usd: dollars(state.ledger.review_cost),
        review_cost_estimated: state.ledger.review_cost_estimated,
        denied_tools: state.denied.clone(),
        kept_as: words(&state.kept_as),
        ..RunnerEnd::default()
    }
}
