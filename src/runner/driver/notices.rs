//! Words at the start of a loop and of each iteration, and the use of a continued loop before this run.

use anyhow::Result;

use super::agents::AgentSeat;
use super::parts::Driver;
use crate::engine::Dollars;
use crate::engine::tasks::TaskList;
use crate::feature::converge::ConvergeCommand;
use crate::forms::events::RunnerEvent;
use crate::forms::plain;
use crate::forms::spent::Amount;
use crate::runner::git::UnreadRepository;
use crate::runner::harness::{Approval, HarnessChoice};
use crate::runner::live_line::{LiveLine, LiveSum, LiveTasks, named};
use crate::runner::messages;
use crate::runner::options::{DoneWhen, Options, time_in_words};
use crate::runner::screen::{counted, grouped, lasted};
use crate::runner::state::{EarlierLoop, add_left_ticks, of_run};
use crate::runner::target::Change;
use crate::store::names::JournalEvent;
use crate::text::line;

impl Driver<'_> {
    /// Tells the person what will run, with warnings about surprises.
    pub(super) fn greet(&mut self) {
        for path in &self.files.put_aside {
            self.console.screen.warn(&format!(
                "a file of an earlier loop cannot be read and was kept as `{}`",
                path.display()
            ));
        }
        if let Some(recovered) = &self.files.recovered {
            let iteration = recovered.iteration.as_ref().map_or_else(String::new, |iteration| {
                let commits = counted(iteration.commits.len() as u64, "commit");
                format!(" in iteration {}, with {commits}", iteration.n)
            });
            let process = recovered.pid;
            let words = format!(
                "ralph: the runner before this one (process {process}) was killed{iteration}"
            );
            self.console.screen.report(RunnerEvent::Recovered { process }, &words);
        }
        self.warn_of_the_agents();
        self.warn_of_the_place();
        let until = match self.plan.done {
            DoneWhen::Tasks => "until every box of tasks.md is ticked".to_owned(),
            DoneWhen::Manual => {
                let promise = self.plan.options.settings.completion_promise();
                format!("until <promise>{promise}</promise>")
            }
            DoneWhen::Check => "until every check passes".to_owned(),
        };
        let limit = limits(self.plan.options);
        let (name, version) =
            (self.agents.seat().harness.name(), self.agents.seat().version.as_str());
        let shown = match &self.plan.options.harness {
            // Nothing else tells which program runs.
            HarnessChoice::Acp(line) if self.agents.current == 0 => format!("acp:{line}"),
            _ => name.to_owned(),
        };
        let others: Vec<String> = self.agents.seats.iter().skip(1).map(AgentSeat::words).collect();
        let others = match others.as_slice() {
            [] => String::new(),
            others => format!(" (at a usage limit {})", others.join(", then ")),
        };
        let Change { id, module, .. } = self.plan.change;
        let of_module =
            module.as_ref().map_or_else(String::new, |module| format!(" (module {module})"));
        let shown = format!("{shown} {version}");
        let shown = shown.trim_end();
        let words = format!("ralph: {id}{of_module}, {shown}{others}, {until}, {limit}");
        let event = RunnerEvent::Start {
            change: id.clone(),
            module: module.clone(),
            harness: name.to_owned(),
            harness_version: plain::words(version),
            done_when: self.plan.done,
            max_iterations: self.plan.options.settings.max_iterations(),
            process: std::process::id(),
        };
        self.console.screen.report(event, &words);
    }

    /// Cautions about each agent program before it runs.
    fn warn_of_the_agents(&self) {
        let options = self.plan.options;
        let mut named: Vec<&str> = Vec::new();
        for seat in &self.agents.seats {
            // The same program with another model has the same cautions.
            if named.contains(&seat.harness.name()) {
                continue;
            }
            named.push(seat.harness.name());
            if options.allow_all == Approval::Own
                && options.permissions.permits_nothing()
                && let Some(accepts) = seat.harness.accepts()
            {
                self.console.screen.warn(accepts.denies);
            }
            if let Some(words) = seat.harness.caution(&seat.version) {
                self.console.screen.warn(&words);
            }
            if options.settings.max_usd().is_some()
                && options.prices.0.is_empty()
                && !seat.harness.reports_cost_while_it_runs()
            {
                self.console.screen.warn(&format!(
                    "{} says what a run cost only at its end: --max-usd is judged after each iteration; with --prices it ends one in its middle",
                    seat.harness.name()
                ));
            }
        }
    }

    /// Warns about the repository before the first token is spent.
    fn warn_of_the_place(&self) {
        if let Some(unread) = &self.tree.unread {
            return self.warn_of_unread(unread);
        }
        let why = match &self.tree.git {
            None => Some(": there is no git repository here".to_owned()),
            Some(git) => git
                .in_the_middle_of()
                .map(|what| format!(" while {what} is under way in the repository")),
        };
        if let Some(why) = why.filter(|_| self.plan.commits()) {
            self.console.screen.warn(&format!("nothing will be committed{why}"));
        }
    }

    /// Names the repository that git cannot read, the reason, the features that the loop lacks, and the next step.
    fn warn_of_unread(&self, unread: &UnreadRepository) {
        let UnreadRepository { place, said, remedy } = unread;
        let (place, folder) = (place.display().to_string(), self.tree.path().display().to_string());
        let commits = if self.plan.commits() { ", nothing will be committed" } else { "" };
        let next = match remedy {
            Some(command) => {
                format!("if you trust what is in it: `{command}`, then start the loop again")
            }
            None => {
                format!("make `git status` work in `{}`, then start the loop again", line(&folder))
            }
        };
        self.console.screen.warn(&format!(
            "git cannot read the repository `{}`: {said}\nthe loop continues without it: commits are not seen, files are looked at without git{commits}\n{next}",
            line(&place)
        ));
    }

    /// Names the lines of the list that do not count, and a list without an open task. Ticks of an earlier run are
    /// judged by then.
    pub(super) fn warn_of_list(&self) {
        let Some(tasks) = &self.tree.tasks else { return };
        for aside in self.tree.looked_list().map(TaskList::asides_in_words).unwrap_or_default() {
            self.console.screen.warn(&format!("`{}`: {}", tasks.path.display(), line(&aside)));
        }
        if tasks.open().is_empty() {
            let why = match self.tree.looked_list().map_or(0, |list| list.tasks.len()) {
                0 => "a task is a line such as `- [ ] T001 Do it`".to_owned(),
                all => format!("{all} of {all} tasks are ticked"),
            };
            let place = tasks.path.display();
            self.console.screen.warn(&format!("`{place}` has no open task: {why}"));
        }
    }

    /// Announces an iteration with its task or spec-kit's converge command, and returns the live line.
    pub(super) fn announce(
        &self,
        number: u32,
        task: Option<&(String, String)>,
        converge: Option<&ConvergeCommand>,
    ) -> LiveLine {
        let of = match self.plan.options.settings.max_iterations() {
            Some(limit) => format!("{number}/{limit}"),
            None => format!("{number}/∞"),
        };
        self.console.screen.begin();
        self.console.screen.title(&of);
        let next = task.map_or_else(String::new, |(id, title)| {
            format!(" · {}", named(id, &crate::text::title(title, 60)))
        });
        let next = converge.map_or(next, |command| format!(" · /{}", command.name));
        let words = format!("-- iteration {of}{next}");
        let event = RunnerEvent::Iteration { number, task: task.map(|(id, _)| id.clone()) };
        self.console.screen.report(event, &words);
        let (state, options) = (&self.files.state, self.plan.options);
        let rails = &self.plan.contract.guardrails;
        let spent = state.spent().plus(state.spent_on_reviews());
        LiveLine {
            iteration: of,
            list: self.tree.tasks.as_ref().map(|tasks| tasks.path.clone()),
            before: self.files.ran_before,
            clock: self.files.clock,
            max_runtime: options.max_runtime,
            iteration_timeout: options.settings.iteration_timeout(),
            tokens: LiveSum { sum: spent.tokens, limit: rails.max_tokens },
            cost: LiveSum { sum: spent.cost, limit: rails.max_cost },
            tasks: LiveTasks::beginning_with(task).into(),
        }
    }

    /// Takes up the totals of earlier iterations of a continued loop.
    pub(super) fn take_up_totals(&mut self) {
        if self.files.earlier != EarlierLoop::GoesOn {
            return;
        }
        let mut own = of_run(&self.files.folder, &self.files.state.started_at);
        add_left_ticks(own.iter_mut(), &self.plan.change.root, &self.plan.change.id);
        for iteration in own {
            self.totals.ticked += iteration.tasks_ticked.len();
            self.tree.touched.extend(iteration.files.into_iter().map(Into::into));
        }
    }

    /// Tells the use before this run, and how to begin at 0. An error means that the journal cannot be written.
    pub(super) fn count_on(&mut self) -> Result<()> {
        let words = match &self.files.earlier {
            EarlierLoop::None => return Ok(()),
            EarlierLoop::Used(reason) => {
                let name = reason.name();
                let words = format!(
                    "ralph: the loop before this one ended with `{name}`: iterations, time, tokens and money begin at 0"
                );
                self.console.screen.report(RunnerEvent::Restarted { reason: name }, &words);
                return Ok(());
            }
            EarlierLoop::GoesOn => self.used_before(),
        };
        let state = &self.files.state;
        let cost = messages::whole_cost(state);
        let event = RunnerEvent::Continued {
            iterations: state.ledger.iterations,
            seconds: self.files.ran_before.as_secs().into(),
            tokens: state.spent().known_tokens().map(|_| state.ledger.all_tokens().into()),
            cost_usd: plain::dollars(cost.value),
            cost_estimated: cost.estimated,
        };
        let line = format!("ralph: continues: {words}; --restart begins at 0");
        self.console.screen.report(event, &line);
        let iterations = self.files.state.ledger.iterations;
        let entry = self.entry(JournalEvent::Resumed, iterations, &format!("continues: {words}"));
        self.files.note(&entry)
    }

    /// Each use with its limit.
    fn used_before(&self) -> String {
        let (ledger, options) = (&self.files.state.ledger, self.plan.options);
        let next = ledger.iterations.saturating_add(1);
        let mut parts = vec![match options.settings.max_iterations() {
            Some(limit) if next > limit => {
                format!("{} of {limit} used", counted(ledger.iterations.into(), "iteration"))
            }
            Some(limit) => format!("iteration {next} of {limit}"),
            None => format!("iteration {next}"),
        }];
        let state = &self.files.state;
        let tokens = Amount { value: ledger.all_tokens(), ..state.spent().tokens };
        match (tokens.words(grouped), options.settings.token_budget()) {
            (None, None) => {}
            (Some(used), None) => parts.push(format!("{used} tokens")),
            (_, Some(limit)) => {
                parts.push(format!("{} of {} tokens", tokens.tokens(), grouped(limit)));
            }
        }
        match (messages::whole_cost(state).money(), options.settings.max_usd()) {
            (None, None) => {}
            (Some(used), None) => parts.push(used),
            (used, Some(limit)) => {
                let used = used.unwrap_or_else(|| Dollars(0).to_string());
                parts.push(format!("{used} of {}", Dollars(limit)));
            }
        }
        let ran = lasted(self.files.ran_before);
        parts.push(match options.max_runtime {
            Some(limit) => format!("{ran} of {}", lasted(limit)),
            None => ran,
        });
        parts.join(", ")
    }
}

/// The limits of the whole loop.
fn limits(options: &Options) -> String {
    let iterations = match options.settings.max_iterations() {
        Some(limit) => format!("at most {}", counted(limit.into(), "iteration")),
        None => "with no limit of iterations (`spool stop` ends it)".to_owned(),
    };
    let time = options.max_runtime.map(time_in_words);
    let tokens = options.settings.token_budget().map(|limit| format!("{} tokens", grouped(limit)));
    let money = options.settings.max_usd().map(|limit| Dollars(limit).to_string());
    let all: Vec<String> =
        [iterations].into_iter().chain(time).chain(tokens).chain(money).collect();
    all.join(", ")
}
