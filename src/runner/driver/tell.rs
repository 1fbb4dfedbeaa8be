//! What a loop says of itself: its start, its iterations, its end.

use serde_json::json;

use super::Driver;
use crate::engine::TerminalReason;
use crate::runner::caveats::{self, Facts};
use crate::runner::exit;
use crate::runner::harness::Approval;
use crate::runner::messages;
use crate::runner::monitor::About;
use crate::runner::options::{Commits, DoneCriteria};
use crate::runner::screen::{counted, grouped, lasted};
use crate::runner::task_list::list_at;

impl Driver<'_> {
    pub(super) fn greet(&mut self, version: &str) {
        for path in &self.books.put_aside {
            self.screen.warn(&format!(
                "a file of an earlier loop cannot be read and was kept as `{}`",
                path.display()
            ));
        }
        if let Some(recovered) = &self.books.recovered {
            let iteration = recovered.iteration.as_ref().map_or_else(String::new, |iteration| {
                format!(
                    " in iteration {}, with {}",
                    iteration.n,
                    counted(iteration.commits.len() as u64, "commit")
                )
            });
            self.screen.tell(
                "recovered",
                &format!(
                    "ralph: the runner before this one (process {}) was killed{iteration}",
                    recovered.pid
                ),
                json!({"pid": recovered.pid}),
            );
        }
        if self.options.allow_all == Approval::Own
            && let Some(words) = self.harness.without_consent()
        {
            self.screen.warn(words);
        }
        if let Some(words) = self.harness.caution(version) {
            self.screen.warn(&words);
        }
        self.warn_of_the_place();
        let until = match self.done {
            DoneCriteria::Tasks => "until every box of tasks.md is ticked".to_owned(),
            DoneCriteria::Manual => format!("until <promise>{}</promise>", self.options.promise),
            DoneCriteria::Check => "until every check passes".to_owned(),
        };
        let limit = match self.options.max_iterations {
            Some(limit) => format!("at most {}", counted(limit.into(), "iteration")),
            None => "with no limit of iterations (`spool stop` ends it)".to_owned(),
        };
        let name = self.harness.name();
        let words = format!(
            "ralph: {}{}, {name} {version}, {until}, {limit}",
            self.change.id,
            self.change.module.as_ref().map_or_else(String::new, |it| format!(" (module {it})")),
        );
        let fields = json!({
            "change_id": self.change.id, "module": self.change.module, "harness": name,
            "harness_version": version, "done_criteria": self.done,
            "max_iterations": self.books.state.max_iterations, "pid": std::process::id(),
        });
        self.screen.tell("start", &words.replace(" , ", ", "), fields);
    }

    /// Says what will not go as a person expects, before the first token is spent.
    pub(super) fn warn_of_the_place(&self) {
        if self.options.commits == Commits::EachIteration {
            match &self.git {
                None => self.screen.warn(
                    "nothing will be committed: there is no git repository here, or git cannot read it",
                ),
                Some(git) => {
                    if let Some(what) = git.in_the_middle_of() {
                        self.screen.warn(&format!(
                            "nothing will be committed while {what} is under way in the repository"
                        ));
                    }
                }
            }
        }
        if let Some(tasks) = self.tasks.as_ref().filter(|_| self.open_at_start.is_empty()) {
            self.screen.warn(&format!(
                "`{}` has no open task: a task is a line such as `- [ ] T001 Do it`",
                tasks.path.display()
            ));
        }
    }

    /// Says that an iteration begins and returns what the live line tells of it.
    pub(super) fn announce(&self, number: u32, task: Option<&(String, String)>) -> About {
        let of = match self.options.max_iterations {
            Some(limit) => format!("{number}/{limit}"),
            None => format!("{number}/∞"),
        };
        self.screen.begin();
        self.screen.title(&of);
        let next = task.map_or_else(String::new, |(id, title)| {
            let title = crate::text::title(title, 60);
            if id.starts_with('@') { format!(" · {title}") } else { format!(" · {id} {title}") }
        });
        let words = format!("-- iteration {of}{next}");
        self.screen.tell("iteration", &words, json!({"n": number, "task": task.map(|it| &it.0)}));
        let used = match self.books.state.total_tokens {
            0 => String::new(),
            used => format!(" · {} tokens so far", grouped(used)),
        };
        About { iteration: format!("iteration {of}"), rest: format!("{used}{next}") }
    }

    /// What speaks against taking the end at its word, a sentence each.
    pub(super) fn doubts(&self, reason: &TerminalReason) -> Vec<String> {
        caveats::doubts(&Facts {
            worktree: &self.change.worktree,
            list: self.tasks.as_ref().map(|tasks| tasks.path.as_path()),
            open_at_start: &self.open_at_start,
            ticked: self.ticked,
            touched: &self.touched,
            by_word: *reason == TerminalReason::Completed
                && self.done == DoneCriteria::Manual
                && self.options.checks.is_empty(),
            uncommitted: self.uncommitted.len(),
        })
    }

    pub(super) fn summary(&self, reason: &TerminalReason, code: u8, doubts: &[String]) {
        let state = &self.books.state;
        let tasks = self.tasks_line();
        let mut parts = vec![
            counted(state.current_iteration.into(), "iteration"),
            lasted(self.clock.elapsed()),
            match messages::tokens(state, if self.estimated { "about " } else { "" }).as_str() {
                "unknown" => "tokens unknown".to_owned(),
                known => format!("{known} tokens"),
            },
            counted(self.commits_made, "commit"),
            counted(self.touched.len() as u64, "file"),
        ];
        if !tasks.is_empty() {
            parts.push(format!("{tasks} tasks"));
        }
        let style = match (code, doubts.is_empty()) {
            (0, true) => crate::style::GOOD,
            _ => crate::style::WARN,
        };
        let word = exit::status(reason).word();
        let mut words = format!(
            "ralph: {}{word}{}: {}\n       {}",
            style.render(),
            style.render_reset(),
            state.words,
            parts.join(", ")
        );
        let denied = messages::denied(state);
        if !denied.is_empty() {
            words = format!(
                "{words}\n       tools were denied {denied}\n       --allow-all lets the agent use all of its tools"
            );
        }
        for doubt in doubts.iter().chain(&self.unfinished_words()) {
            words = format!("{words}\n       {doubt}");
        }
        let next = exit::what_next(reason);
        if !next.is_empty() {
            words = format!("{words}\n       {next}");
        }
        let elsewhere = !self.options.start.starts_with(&self.change.root);
        let place = if elsewhere {
            format!(" --project {}", self.change.root.display())
        } else {
            String::new()
        };
        words = format!("{words}\n       spool ralph --status --change {}{place}", self.change.id);
        let fields = json!({
            "status": word, "reason": reason.name(), "exit_code": code,
            "iterations": state.current_iteration, "seconds": self.clock.elapsed().as_secs(),
            "total_tokens": state.total_tokens, "tokens_unknown": state.tokens_unknown,
            "denied": state.denied, "commits": self.commits_made,
            "files": self.touched.len(), "tasks": tasks, "next": next,
            "doubts": doubts,
        });
        self.screen.tell("end", &words, fields);
    }

    pub(super) fn tasks_line(&self) -> String {
        let Some(list) = self.tasks.as_ref().and_then(|tasks| list_at(&tasks.path)) else {
            return String::new();
        };
        format!("{}/{}", list.done(), list.tasks.len())
    }
}
