//! Words at the start of a loop and of each iteration.

use super::agents::AgentSeat;
use super::parts::Driver;
use crate::engine::Dollars;
use crate::engine::tasks::TaskList;
use crate::feature::converge::ConvergeCommand;
use crate::forms::events::RunnerEvent;
use crate::forms::plain;
use crate::runner::git::{Git, UnreadRepository};
use crate::runner::harness::{Approval, HarnessChoice};
use crate::runner::live_line::{LiveLine, LiveSum, LiveTasks};
use crate::runner::options::{DoneWhen, Options, time_in_words};
use crate::runner::screen::{counted, grouped};
use crate::runner::target::Change;
use crate::text::line;

impl Driver<'_> {
    /// Says what is about to run, and what a person may not expect.
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
        let unread = match self.tree.git {
            None => Git::unread(&self.plan.change.worktree),
            Some(_) => None,
        };
        if let Some(unread) = &unread {
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

    /// Names the repository that git cannot read, the reason, what the loop goes without, and the next step.
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
        if self.totals.open_at_start.is_empty() {
            self.console.screen.warn(&format!(
                "`{}` has no open task: a task is a line such as `- [ ] T001 Do it`",
                tasks.path.display()
            ));
        }
    }

    /// Says that an iteration begins, with a task or spec-kit's converge command. The result is the live line.
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
            let title = crate::text::title(title, 60);
            if id.starts_with('@') { format!(" · {title}") } else { format!(" · {id} {title}") }
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
