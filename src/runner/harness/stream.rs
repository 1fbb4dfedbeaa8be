//! What all readers of streaming JSON share: which lines are read, what is known of the run so far, and its report.

use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use super::adapter::KnownProgram;
use super::lines::{self, Errors, FinalText, Once, Refusals, StreamEnd};
use super::usage::TokenUsage;
use super::{
    AgentEvent, AgentOrder, AgentReport, CallOutcome, ExitInfo, Missing, OutputReader, SoFar,
    Stream,
};

/// The last tool calls that are remembered.
const OPEN: usize = 64;

/// What an agent program's lines mean.
pub trait Format: fmt::Debug {
    /// Returns what takes in a line of this type, `None` for one that says nothing.
    ///
    /// The type need not come first in a line, and a tool's result may hold any text: no prefix is matched, each line is
    /// read as JSON.
    fn reads(kind: &str) -> Option<Take<Self>>;

    /// Takes in a line of standard error, which is kept in any case.
    fn error_line(&mut self, _run: &mut RunState, _line: &[u8]) {}

    /// Returns the tokens of this run alone that were reported so far.
    fn usage_so_far(&self, run: &RunState) -> TokenUsage {
        run.tokens.unwrap_or_default()
    }

    /// Returns whether more was used since it said what the run cost.
    fn costs_more(&self, _run: &RunState) -> bool {
        false
    }

    /// Returns what the whole run came to.
    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport;
}

/// What takes in one line.
pub type Take<F> = fn(&mut F, &mut RunState, &Value);

/// Reads the output of an agent program that prints one JSON object a line.
#[derive(Debug)]
pub struct StreamReader<F> {
    format: F,
    run: RunState,
}

impl<F: Format> StreamReader<F> {
    /// Returns a reader for one run.
    pub fn new(format: F, order: &AgentOrder<'_>) -> Self {
        Self { format, run: RunState::new(order) }
    }
}

impl<F: Format> OutputReader for StreamReader<F> {
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(AgentEvent)) {
        if stream == Stream::Errors {
            self.format.error_line(&mut self.run, line);
            self.run.errors.add(line);
        } else if let Some(take) = lines::kind(line).and_then(|kind| F::reads(&kind))
            && let Some(line) = lines::value(line)
        {
            take(&mut self.format, &mut self.run, &line);
        }
        self.run.reports(heard);
    }

    fn so_far(&self) -> SoFar<'_> {
        SoFar {
            usage: self.format.usage_so_far(&self.run),
            cost: self.run.cost,
            costs_more: self.format.costs_more(&self.run),
            session: self.run.session.as_deref(),
            model: self.run.model.as_deref(),
        }
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport {
        self.format.report(&mut self.run, left)
    }
}

/// What is known of a run so far.
#[derive(Debug, Default)]
pub struct RunState {
    /// Whether it continues with an earlier session.
    pub resumed: bool,
    /// The agent's own words since its last tool call.
    pub text: FinalText,
    /// Tool calls.
    pub calls: Once,
    /// How many of them were denied or failed.
    pub failed_calls: u64,
    /// Tools that were refused.
    pub refusals: Refusals,
    /// The session.
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens, `None` where nothing was reported of them.
    pub tokens: Option<TokenUsage>,
    /// What it cost, in millionths of a dollar, `None` where nothing was reported of it.
    pub cost: Option<u64>,
    /// The status of the service's last failed answer.
    pub status: Option<u64>,
    /// Whether it warned that its usage limit is near.
    pub near_usage_limit: bool,
    /// What the stream reported of its own end.
    pub stream_end: StreamEnd,
    /// Lines of standard error.
    pub errors: Errors,
    /// Tool calls that have begun: their end does not name them.
    open: VecDeque<OpenCall>,
    /// How many uses of a tool were shown.
    shown: u64,
    /// What the line that is taken in says.
    events: Vec<AgentEvent>,
}

/// A tool call that has begun.
#[derive(Debug)]
struct OpenCall {
    id: String,
    /// How many calls were shown before it.
    number: u64,
    tool: String,
    what: String,
}

impl RunState {
    /// Returns what is known of a run before its first line.
    pub fn new(order: &AgentOrder<'_>) -> Self {
        Self { resumed: order.resume.is_some(), ..Self::default() }
    }

    /// Hands on what was shown since the last time.
    pub fn reports(&mut self, heard: &mut dyn FnMut(AgentEvent)) {
        self.events.drain(..).for_each(heard);
    }

    /// Shows the agent's own words.
    pub fn says(&mut self, text: &str) {
        self.events.push(AgentEvent::Said(text.to_owned()));
    }

    /// Shows the agent's own words and keeps them in the place of those before.
    pub fn says_finally(&mut self, text: &str) {
        self.text.set(text);
        self.says(text);
    }

    /// Shows the use of a tool and remembers it until its end.
    pub fn begins(&mut self, id: &str, tool: String, what: String) {
        if self.open.len() == OPEN {
            self.open.pop_front();
        }
        let (id, number) = (id.to_owned(), self.shown);
        self.open.push_back(OpenCall { id, number, tool: tool.clone(), what: what.clone() });
        self.shown += 1;
        self.events.push(AgentEvent::Called { tool, what });
    }

    /// Shows what came of a tool call, and returns its tool and what it was used with; both are empty where the call is not
    /// remembered. It may be called again: a call that was denied fails later as well.
    pub fn ends(&mut self, id: &str, outcome: CallOutcome) -> (String, String) {
        let Some(call) = self.open.iter().rev().find(|call| call.id == id) else {
            return <(String, String)>::default();
        };
        self.events.push(AgentEvent::Returned { call: call.number, outcome });
        (call.tool.clone(), call.what.clone())
    }

    /// Shows that a tool was refused, and keeps its name.
    pub fn refuses(&mut self, tool: &str, what: &str) {
        self.trouble(lines::message(&format!("{tool} was refused"), what));
        self.refusals.add(tool, what);
    }

    /// Shows something that does not end the run.
    pub fn trouble(&mut self, words: String) {
        self.events.push(AgentEvent::Trouble(words));
    }

    /// Takes in what the whole run has cost so far: it cost no less before, whatever is said later.
    pub fn costs(&mut self, cost: Option<u64>) {
        self.cost = self.cost.max(cost);
    }

    /// Takes in what the whole run has used so far, in the same way.
    pub fn uses(&mut self, tokens: TokenUsage) {
        self.tokens = Some(self.tokens.unwrap_or_default().at_least(tokens));
    }

    /// Shows that the result is there.
    pub fn finished(&mut self) {
        self.events.push(AgentEvent::Finished);
    }

    /// Returns what the run of a program came to, as far as all programs say it in the same way.
    pub fn report(&mut self, program: &KnownProgram, left: &ExitInfo) -> AgentReport {
        let mut outcome =
            lines::outcome(program.name, &self.stream_end, left, &self.errors, program.lasting);
        if self.resumed {
            outcome = lines::resumed(outcome, &self.stream_end, &self.errors, program.gone);
        }
        AgentReport {
            final_text: self.text.take(),
            tool_calls: Some(self.calls.count()),
            failed_calls: self.failed_calls,
            denied: self.refusals.take(),
            session: self.session.take(),
            tokens: self.tokens,
            cost: self.cost,
            missing: if self.stream_end == StreamEnd::Nothing {
                Missing::Elsewhere
            } else {
                Missing::Nothing
            },
            status: self.status,
            tokens_of_session: false,
            model: self.model.take(),
            near_usage_limit: self.near_usage_limit,
            outcome,
        }
    }
}

/// Returns a string of a line, empty where there is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the name of a tool as it is shown; `?` where there is none.
pub fn tool(name: &Value) -> String {
    lines::one_line(name.as_str().unwrap_or("?"), 80)
}

/// Returns the name of a model as it is shown.
pub fn model(name: &Value) -> Option<String> {
    name.as_str().map(|name| lines::one_line(name, 120))
}
