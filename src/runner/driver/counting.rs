//! The use of a loop before this run: a continued run counts on.

use anyhow::Result;

use super::parts::Driver;
use crate::engine::Dollars;
use crate::forms::events::RunnerEvent;
use crate::forms::plain;
use crate::forms::spent::Amount;
use crate::runner::messages;
use crate::runner::screen::{counted, grouped, lasted};
use crate::runner::state::{EarlierLoop, of_run};
use crate::store::names::JournalEvent;

impl Driver<'_> {
    /// Takes up the totals of earlier iterations of a continued loop.
    pub(super) fn take_up_totals(&mut self) {
        if self.files.earlier != EarlierLoop::GoesOn {
            return;
        }
        for iteration in of_run(&self.files.folder, &self.files.state.started_at) {
            self.tree.commits += iteration.commits.len() as u64;
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
