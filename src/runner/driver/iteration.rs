//! One iteration, from its prompt to its entry in the history.

use std::fs::{self, File};
use std::io::Seek;
use std::time::Duration;

use anyhow::{Context, Result};

use super::agents::{AgentRun, Agents};
use super::between::Next;
use super::parts::Driver;
use crate::engine::{Demand, NearLimit, Observation, Verdict, Work};
use crate::forms::events::RunnerEvent;
use crate::forms::iteration::IterationForm;
use crate::forms::spent::{Amount, in_dollars};
use crate::runner::harness::{AgentOrder, AgentReport, RunOutcome};
use crate::runner::live_line::LiveLine;
use crate::runner::messages;
use crate::runner::prices::BudgetsLeft;
use crate::runner::process::{Cut, ProcessLimits};
use crate::runner::prompt::{self, Material};
use crate::runner::report::form;
use crate::runner::screen::lasted;
use crate::runner::state::{self, Iteration, LoopStatus, iso};
use crate::runner::task_list::{TaskListUpdate, Tasks};
use crate::runner::tokens::{TokenCount, WtUsage};
use crate::store::journal::Entry;
use crate::store::names::{EndName, EndStatus, JournalEvent, PromiseState, VerdictName};
use crate::text::counted_as;
use crate::world::{self, WallTime};

/// The time that a program may linger after its result.
const LINGERING: Duration = Duration::from_secs(10);

impl Driver<'_> {
    /// One iteration from its prompt to its verdict.
    pub(super) fn iteration(&mut self) -> Result<Next> {
        let number = self.files.state.ledger.iterations + 1;
        let began_at = world::now();
        let before = self.tree.begin();
        let next_task = self.tree.tasks.as_mut().and_then(|tasks| tasks.look().next);
        let list_before = self.tree.list_hash();
        let (ledger, elapsed) = (&self.files.state.ledger, self.files.elapsed().as_secs());
        let warned = self.agents.seat().near_usage_limit.then_some(NearLimit::Usage);
        let near_limit = self.plan.options.near_limit(&self.plan.contract, ledger, elapsed, warned);
        let converges = self.files.state.ledger.converging.asked == Some(list_before);
        let text = self.prompt(number, near_limit, converges)?;
        let (mut log, log_name) = self.files.log(number)?;
        let mut entry = Iteration {
            n: number,
            started: iso(began_at),
            head_at_start: self.tree.head_at_start(),
            log: log_name,
            handoff_asked: near_limit.is_some(),
            harness: self.agents.seat().harness.name().to_owned(),
            model: self.agents.seat().model.clone().unwrap_or_default(),
            ..Iteration::default()
        };
        self.files.state.status = LoopStatus::Running;
        self.files.state.doing = format!("iteration {number}");
        let about = (near_limit, converges);
        let ran = self.begin_and_run(&entry, &text, next_task.as_ref(), about, &mut log);
        let (used_before, ran) = ran.inspect_err(|_| self.files.forget_begun())?;
        self.agents.seats[self.agents.current].near_usage_limit = ran.report.near_usage_limit;
        entry.agent_log_bytes = log.stream_position().unwrap_or(0);
        self.feedback.remarks.clear();
        self.console.screen.still();
        let usage = self.agents.usage.is_some();
        let used = usage.then(|| WtUsage { before: used_before, after: self.used(&mut log) });
        let Agents { counter, seats, current, .. } = &mut self.agents;
        let harness = seats[*current].harness.as_ref();
        let mut counted = counter.count(used, &ran.report, harness, began_at);
        if let Some(passed_at) = ran.passed_at {
            // The use that ended the run counts, even if another figure is lower.
            counted.tokens = counted.tokens.max(passed_at.total());
        }
        if let Some(warning) = &counted.warning {
            self.console.screen.warn(warning);
        }
        let cost = self.plan.options.prices.of_run(&ran.report, &counted, ran.passed_at);
        if cost.is_none() && self.plan.contract.guardrails.max_cost.is_some() {
            self.console.screen.warn(
                "nothing tells what this iteration cost, so --max-usd does not count it; --prices does",
            );
        }
        if let Some(reason) = self.project_is_gone() {
            self.fill(&mut entry, &ran, &counted, &TaskListUpdate::default());
            self.fill_cost(&mut entry, cost);
            return Ok(Next::End(reason));
        }
        let mut looked = self.tree.tasks.as_mut().map(Tasks::look).unwrap_or_default();
        if let (Some(tasks), Some(problem)) = (&self.tree.tasks, &looked.problem) {
            self.console
                .screen
                .warn(&format!("`{}` cannot be read: {problem}", tasks.path.display()));
        }
        self.judge_ticks(&mut looked, last_words(&ran.report), &mut entry, began_at);
        let commits = self.look_at_changes(&before, &looked, &ran, &mut entry, &mut log);
        self.fill(&mut entry, &ran, &counted, &looked);
        self.fill_cost(&mut entry, cost);
        if let Some(running) = &mut self.files.running {
            // What the next run knows if this runner is killed while it judges.
            running.clone_from(&entry);
        }
        self.keep_unfinished(&mut entry, &ran);
        let open = match &looked.work {
            Work::List { open, .. } => Some(*open),
            _ => None,
        };
        let seen = Observation {
            cost: cost.map_or(0, |amount| amount.value),
            converge_ran: converges && has_worked(&ran.report),
            ..self.observe(&ran, &counted, looked, commits)
        };
        let verdict = self.verdict(seen, &ran, &mut entry, &mut log)?;
        entry.words =
            messages::verdict(&verdict, &self.files.state, open, self.console.signals.asked());
        self.record(&mut entry, &ran, &verdict, began_at)?;
        Ok(self.after(verdict, &ran))
    }

    /// The verdict on what was seen. At the reader's limit only the review is due.
    fn verdict(
        &mut self,
        mut seen: Observation,
        ran: &AgentRun,
        entry: &mut Iteration,
        log: &mut File,
    ) -> Result<Verdict> {
        let is_limited = matches!(ran.report.outcome, RunOutcome::UsageLimit { .. });
        let mut verdict = self.judge(seen.clone(), entry, log);
        while matches!(verdict, Verdict::Wait(_)) && !is_limited {
            let end = self.wait_for_reader()?;
            seen.demand = end.as_ref().map(|_| Demand::Stopped);
            seen.elapsed_seconds = self.files.elapsed().as_secs();
            if let Some(tasks) = &mut self.tree.tasks {
                // A person may have added tasks meanwhile.
                seen.work = tasks.look().work;
            }
            verdict = self.judge(seen.clone(), entry, log);
            verdict = end.map_or(verdict, Verdict::End);
        }
        Ok(verdict)
    }

    /// Writes down the beginning of the iteration and runs its agent: the use before, and the run. An error means that
    /// the agent never ran, because the disk is full.
    fn begin_and_run(
        &mut self,
        entry: &Iteration,
        text: &str,
        task: Option<&(String, String)>,
        (near_limit, converges): (Option<NearLimit>, bool),
        log: &mut File,
    ) -> Result<(Option<u64>, AgentRun)> {
        self.begin(entry, text)?;
        let converge = self.plan.options.spec_kit.converge.as_ref().filter(|_| converges);
        let live = self.announce(entry.n, task, converge);
        let used_before = self.used(log);
        let mut ran = self.try_agent(text, &live, log)?;
        if let RunOutcome::SessionGone(why) = &ran.report.outcome
            && ran.end_request.is_none()
        {
            let screen = &self.console.screen;
            screen.warn(&format!("the session to continue is gone, so a fresh one begins: {why}"));
            self.files.state.session_id.clear();
            let text = self.prompt(entry.n, near_limit, converges)?;
            self.keep_prompt(entry, &text);
            ran = self.try_agent(&text, &live, log)?;
        }
        Ok((used_before, ran))
    }

    fn prompt(
        &mut self,
        number: u32,
        near_limit: Option<NearLimit>,
        converges: bool,
    ) -> Result<String> {
        let context = state::Context::of(&self.files.folder).read().unwrap_or_else(|error| {
            self.console.screen.warn(&format!("the added context is left out: {error:#}"));
            String::new()
        });
        let remarks: Vec<String> =
            self.feedback.remarks.iter().cloned().chain(self.kept_words()).collect();
        prompt::prompt(&Material {
            change: self.plan.change,
            task: &self.plan.options.task,
            context: &context,
            contract: &self.plan.contract,
            done: self.plan.done,
            iteration: number,
            missing: &self.feedback.missing,
            remarks: &remarks,
            near_limit,
            tasks: self.tree.tasks.as_ref().map(|tasks| tasks.path.as_path()),
            list: self.tree.tasks.as_ref().and_then(|tasks| tasks.looked.as_ref()),
            converge: self.plan.options.spec_kit.converge.as_ref().filter(|_| converges),
            resumed: self.resumes().is_some(),
            proof: self.plan.options.settings.proof(),
            spec_kit: &self.plan.options.spec_kit,
        })
    }

    /// Writes down the beginning of the iteration, and its prompt. An error means that the agent may not start.
    fn begin(&mut self, entry: &Iteration, text: &str) -> Result<()> {
        self.files.begin(entry)?;
        self.keep_prompt(entry, text);
        self.files.has_room()
    }

    /// Keeps the prompt for `spool log`.
    fn keep_prompt(&mut self, entry: &Iteration, text: &str) {
        let kept = self.files.keep_prompt(&entry.log, text);
        if let Err(error) = kept {
            self.console.screen.warn(&format!("the prompt is not kept for `spool log`: {error:#}"));
        }
    }

    /// A program that could not start is a failed run; an error means that the disk is full.
    fn try_agent(&mut self, prompt: &str, live: &LiveLine, log: &mut File) -> Result<AgentRun> {
        match self.run_agent(prompt, live, log) {
            Err(error) if self.files.fills_disk(&error) => Err(error),
            ran => Ok(ran.unwrap_or_else(|error| AgentRun::not_started(&error))),
        }
    }

    fn run_agent(&mut self, prompt: &str, live: &LiveLine, log: &mut File) -> Result<AgentRun> {
        let scratch = self.files.folder.join("scratch");
        // The last iteration's files say nothing about this one.
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch)
            .with_context(|| format!("cannot make `{}`", scratch.display()))?;
        let options = self.plan.options;
        let session = self.resumes().map(str::to_owned);
        let order = AgentOrder {
            prompt,
            model: self.agents.seat().model.as_deref(),
            version: &self.agents.seat().version,
            approval: options.allow_all,
            permissions: &options.permissions,
            resume: session.as_deref(),
            folder: self.tree.path(),
            scratch: &scratch,
        };
        let limits = ProcessLimits {
            wall: self.wall(),
            silence: options.settings.idle_timeout(),
            lingering: LINGERING,
            grace: options.settings.grace(),
        };
        let rails = &self.plan.contract.guardrails;
        let ledger = &self.files.state.ledger;
        let left = BudgetsLeft {
            tokens: rails.max_tokens.map(|limit| limit.saturating_sub(ledger.all_tokens())),
            cost: rails.max_cost.map(|limit| limit.saturating_sub(ledger.all_cost())),
            prices: &options.prices,
            model: order.model,
        };
        self.agents.run(&order, (&limits, left), live, &self.console, log)
    }

    /// The session to continue; `None` for a fresh one.
    fn resumes(&self) -> Option<&str> {
        let session = self.files.state.session_id.as_str();
        let continues = self.plan.options.settings.continue_session() && !session.is_empty();
        continues.then_some(session)
    }

    /// The shorter one of the iteration's limit and the loop's remaining time.
    fn wall(&self) -> Option<Duration> {
        match (self.plan.options.settings.iteration_timeout(), self.time_left()) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        }
    }

    fn used(&self, log: &mut File) -> Option<u64> {
        let since = &self.files.state.started_at;
        self.agents.used_since(since, self.tree.path(), &self.console, log)
    }

    fn fill(
        &mut self,
        entry: &mut Iteration,
        ran: &AgentRun,
        counted: &TokenCount,
        looked: &TaskListUpdate,
    ) {
        let report = &ran.report;
        entry.tokens_used = counted.tokens;
        entry.tokens_estimated = counted.estimated;
        entry.tokens_unknown = counted.unknown;
        entry.timed_out = matches!(ran.ended.cut, Some(Cut::Wall | Cut::Silence));
        entry.interrupted = ran.end_request.is_some();
        entry.seconds = (ran.lasted.as_secs_f64() * 1000.0).round() / 1000.0;
        entry.exit_code = ran.ended.left.code;
        entry.tool_calls = report.tool_calls;
        entry.failed_calls = report.failed_calls;
        entry.denied.clone_from(&report.denied);
        entry.session_id = report.session.clone().unwrap_or_default();
        entry.model = report.model.clone().unwrap_or_else(|| entry.model.clone());
        entry.tasks_ticked.clone_from(&looked.ticked);
        self.totals.ticked += looked.ticked.len();
        if let RunOutcome::Failed(why)
        | RunOutcome::Lasting(why)
        | RunOutcome::SessionGone(why)
        | RunOutcome::UsageLimit { words: why, .. } = &report.outcome
        {
            entry.failure.clone_from(why);
        }
        if let Some(call) = &ran.hung_call {
            entry.failure = format!("`{call}` did not come back");
        }
        if let Some(trouble) = &ran.ended.trouble {
            let failure = std::mem::take(&mut entry.failure);
            let both = [trouble.as_str(), failure.as_str()].map(str::trim);
            entry.failure =
                both.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ");
        }
        if !entry.session_id.is_empty() {
            self.files.state.session_id.clone_from(&entry.session_id);
        }
    }

    fn fill_cost(&mut self, entry: &mut Iteration, cost: Option<Amount>) {
        entry.cost_usd = cost.map(|cost| in_dollars(cost.value));
        entry.cost_estimated = cost.is_some_and(|cost| cost.estimated);
        self.files.state.count(entry);
        self.files.state.add_share(entry);
    }

    /// Writes the iteration down, reports it, and keeps what the next one must know.
    fn record(
        &mut self,
        entry: &mut Iteration,
        ran: &AgentRun,
        verdict: &Verdict,
        began_at: WallTime,
    ) -> Result<()> {
        entry.verdict = VerdictName::of(verdict);
        entry.ended = Some(iso(world::now()));
        let reason = match verdict {
            Verdict::End(reason) => Some(reason),
            _ => None,
        };
        let promised = entry.promise == PromiseState::Accepted;
        if reason.is_some() {
            self.totals.journaled_end.clone_from(&entry.words);
        }
        let at = world::now();
        self.keep_receipts(entry, began_at, at);
        let by = match self.agents.seats.as_slice() {
            [_] => String::new(),
            _ => format!("{}: ", self.agents.seat().words()),
        };
        let words = format!("{by}{}", messages::with_notes(entry));
        let noted = Entry {
            at,
            task: self.tree.tasks_line(),
            verdict: entry.verdict.clone(),
            reason: reason.map_or(EndName::None, EndName::of),
            status: reason.map_or(EndStatus::None, |reason| EndStatus::of(reason, promised)),
            promise: entry.promise.clone(),
            ..self.entry(JournalEvent::Iteration, entry.n, &words)
        };
        let ledger = &self.files.state.ledger;
        let noted = if reason.is_some() { noted.with_reviews(ledger) } else { noted };
        let is_noted = self.files.note(&noted);
        // The iteration is recorded even if the journal cannot be written.
        match verdict {
            Verdict::Wait(_) => self.files.give_back(entry),
            _ => self.files.end(entry),
        }?;
        is_noted?;
        let is_limit = matches!(ran.report.outcome, RunOutcome::UsageLimit { .. });
        let went = match (&entry.timed_out, &entry.interrupted, entry.failure.is_empty()) {
            (true, ..) => cut_short(ran),
            (_, true, _) => " (interrupted)".to_owned(),
            _ if ran.passed_at.is_some() => " (cut short: the budget is used up)".to_owned(),
            (.., false) if !is_limit => format!(" (failed: {})", entry.failure.replace('\n', "; ")),
            _ => String::new(),
        };
        // The agent has just said this on the screen.
        let why = if is_limit && self.console.screen.has_shown(&entry.failure) {
            "usage limit".to_owned()
        } else {
            entry.words.clone()
        };
        let line = format!("-- iteration {}{went}: {}; {why}", entry.n, messages::figures(entry));
        let run_started_at = form::time(&self.files.state.started_at);
        let iteration = Box::new(IterationForm { run_started_at, ..(&*entry).into() });
        self.console.screen.report(RunnerEvent::IterationEnd { iteration }, &line);
        self.keep_for_the_next(entry, ran, verdict);
        Ok(())
    }

    fn keep_for_the_next(&mut self, entry: &Iteration, ran: &AgentRun, verdict: &Verdict) {
        if let Verdict::Continue(missing) = verdict {
            self.feedback.missing.clone_from(missing);
        }
        match ran.ended.cut {
            Some(Cut::Wall) => self.feedback.remarks.push(format!(
                "The last iteration was cut short after {}: it had a time limit. Take smaller steps, and save your work often.",
                lasted(ran.lasted)
            )),
            Some(Cut::Silence) => self.feedback.remarks.push(
                "The last iteration was cut short because nothing was heard of it for too long."
                    .to_owned(),
            ),
            _ => {}
        }
        if let Some(call) = &ran.hung_call {
            self.feedback.remarks.push(format!(
                "This tool call did not come back: {call}. Do not make it again like that: run nothing that waits for a person or never ends by itself, and give what may take long a time limit of its own."
            ));
        }
        if !entry.denied.is_empty() {
            let denied = messages::some_denied(&entry.denied);
            self.feedback
                .remarks
                .push(format!("These tools were denied in the last iteration: {denied}."));
            // An end reports denied tools itself.
            if !matches!(verdict, Verdict::End(_)) {
                let remedies = self.remedies();
                self.console.screen.warn(&format!("tools were denied: {denied}\n{remedies}"));
            }
        }
        let (tree, log) = (&ran.ended.trouble, &ran.ended.log_trouble);
        let log = log.as_ref().map(|why| format!("the log of this iteration is not whole: {why}"));
        for trouble in tree.iter().chain(&log) {
            self.console.screen.warn(trouble);
        }
        if ran.ended.survivors > 0 {
            let count = ran.ended.survivors;
            let were = if count == 1 { "was" } else { "were" };
            let left = counted_as(count, "process", "processes");
            let words = format!("  {left} that the agent had left running {were} ended");
            let processes = (count as u64).into();
            self.console.screen.report(RunnerEvent::Survivors { processes }, &words);
        }
    }
}

/// The run had a good end and a tool call that worked, as far as can be seen.
fn has_worked(report: &AgentReport) -> bool {
    let has_called = report.tool_calls.is_none_or(|calls| calls > report.failed_calls);
    report.outcome == RunOutcome::Finished && has_called
}

/// The final text of a run with a good end.
fn last_words(report: &AgentReport) -> Option<&str> {
    (report.outcome == RunOutcome::Finished).then_some(report.final_text.as_str())
}

/// The limit that ended a run, and the tool call that had not come back.
fn cut_short(ran: &AgentRun) -> String {
    let limit = match ran.ended.cut {
        Some(Cut::Silence) => "cut short: nothing was heard of it",
        _ => "cut short by its time limit",
    };
    match &ran.hung_call {
        Some(call) => format!(" ({limit}, and `{call}` did not come back)"),
        None => format!(" ({limit})"),
    }
}
