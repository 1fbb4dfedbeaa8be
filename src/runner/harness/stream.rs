//! Common to all readers of streaming JSON: which lines count, the run so far, and its report.

use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use super::adapter::KnownProgram;
use super::lines::{self, Errors, FinalText, Once, Refusals, StreamEnd};
use super::usage::TokenUsage;
use super::{
    AgentEvent, AgentOrder, AgentReport, CallOutcome, ExitInfo, Missing, OutputReader, RunOutcome,
    SoFar, Stream,
};

/// How many open tool calls are remembered.
const OPEN: usize = 64;

/// The meaning of an agent program's lines.
pub trait Format: fmt::Debug {
    /// The function for lines of this type; `None` for lines that say nothing.
    ///
    /// The type may stand anywhere in a line, and a tool's result may hold any text. So each line is read as JSON.
    fn reads(kind: &str) -> Option<Take<Self>>;

    /// Reads a line of standard error, which is kept in any case.
    fn error_line(&mut self, _run: &mut RunState, _line: &[u8]) {}

    /// This run alone.
    fn usage_so_far(&self, run: &RunState) -> TokenUsage {
        run.tokens.unwrap_or_default()
    }

    /// The run used more since it reported its cost.
    fn costs_more(&self, _run: &RunState) -> bool {
        false
    }

    fn report(&mut self, run: &mut RunState, left: &ExitInfo) -> AgentReport;
}

pub type Take<F> = fn(&mut F, &mut RunState, &Value);

/// Reads the output of a program that prints one JSON object a line.
#[derive(Debug)]
pub struct StreamReader<F> {
    format: F,
    run: RunState,
}

impl<F: Format> StreamReader<F> {
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
        let (usage, costs_more) =
            (self.format.usage_so_far(&self.run), self.format.costs_more(&self.run));
        self.run.so_far(usage, costs_more)
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport {
        self.format.report(&mut self.run, left)
    }
}

/// The run so far.
#[derive(Debug, Default)]
pub struct RunState {
    /// The run continues an earlier session.
    pub resumed: bool,
    /// The agent's words since its last tool call.
    pub text: FinalText,
    pub calls: Once,
    /// Denied and failed calls.
    pub failed_calls: u64,
    pub refusals: Refusals,
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    pub tokens: Option<TokenUsage>,
    /// In millionths of a dollar.
    pub cost: Option<u64>,
    /// The HTTP status of the service's last failed answer.
    pub status: Option<u64>,
    pub near_usage_limit: bool,
    pub stream_end: StreamEnd,
    pub errors: Errors,
    /// Begun tool calls: the line of a call's end does not name its tool.
    open: VecDeque<OpenCall>,
    /// How many tool calls were shown.
    shown: u64,
    /// The events of the current line.
    events: Vec<AgentEvent>,
}

/// A tool call that has begun.
#[derive(Debug)]
struct OpenCall {
    id: String,
    /// The call's number, from 0, in the order shown.
    number: u64,
    tool: String,
    what: String,
}

impl RunState {
    pub fn new(order: &AgentOrder<'_>) -> Self {
        Self { resumed: order.resume.is_some(), ..Self::default() }
    }

    /// Hands on the events since the last time.
    pub fn reports(&mut self, heard: &mut dyn FnMut(AgentEvent)) {
        self.events.drain(..).for_each(heard);
    }

    /// Shows the agent's words.
    pub fn says(&mut self, text: &str) {
        self.events.push(AgentEvent::Said(text.to_owned()));
    }

    /// Shows the agent's words, which replace the final text.
    pub fn says_finally(&mut self, text: &str) {
        self.text.set(text);
        self.says(text);
    }

    /// Shows a tool call, and remembers it until its end.
    pub fn begins(&mut self, id: &str, tool: String, what: String) {
        if self.open.len() == OPEN {
            self.open.pop_front();
        }
        let (id, number) = (id.to_owned(), self.shown);
        self.open.push_back(OpenCall { id, number, tool: tool.clone(), what: what.clone() });
        self.shown += 1;
        self.events.push(AgentEvent::Called { tool, what });
    }

    /// Shows the end of a tool call. Returns its tool and input, both empty for a call that is not remembered. A denied
    /// call may fail later, so this may happen twice.
    pub fn ends(&mut self, id: &str, outcome: CallOutcome) -> (String, String) {
        let Some(call) = self.open.iter().rev().find(|call| call.id == id) else {
            return <(String, String)>::default();
        };
        self.events.push(AgentEvent::Returned { call: call.number, outcome });
        (call.tool.clone(), call.what.clone())
    }

    /// Counts and shows the end of a tool call. Returns the tool and its input, as [`Self::ends`], if it was refused.
    pub fn returns(&mut self, id: &str, refused: bool, failed: bool) -> Option<(String, String)> {
        self.failed_calls += u64::from(failed);
        let call = self.ends(id, CallOutcome::of(refused, failed));
        refused.then_some(call)
    }

    /// Shows and keeps a refusal.
    pub fn refuses(&mut self, tool: &str, what: &str) {
        self.trouble(lines::message(&format!("{tool} was refused"), what));
        self.refusals.add(tool, what);
    }

    /// Shows a fault that does not end the run.
    pub fn trouble(&mut self, words: String) {
        self.events.push(AgentEvent::Trouble(words));
    }

    /// Raises the run's cost to this figure; a lower one is ignored.
    pub fn costs(&mut self, cost: Option<u64>) {
        self.cost = self.cost.max(cost);
    }

    /// Raises the run's tokens to these figures; lower ones are ignored.
    pub fn uses(&mut self, tokens: TokenUsage) {
        self.tokens = Some(self.tokens.unwrap_or_default().at_least(tokens));
    }

    pub fn finished(&mut self) {
        self.events.push(AgentEvent::Finished);
    }

    pub fn so_far(&self, usage: TokenUsage, costs_more: bool) -> SoFar<'_> {
        let (session, model) = (self.session.as_deref(), self.model.as_deref());
        SoFar { usage, cost: self.cost, costs_more, session, model }
    }

    /// The part of the report that is the same for all programs.
    pub fn report(&mut self, program: &KnownProgram, left: &ExitInfo) -> AgentReport {
        let mut outcome =
            lines::outcome(program.name, &self.stream_end, left, &self.errors, program.lasting);
        if self.resumed {
            outcome = lines::resumed(outcome, &self.stream_end, &self.errors, program.gone);
        }
        let is_cut = self.stream_end == StreamEnd::Nothing;
        let missing = if is_cut { Missing::Elsewhere } else { Missing::Nothing };
        AgentReport { missing, ..self.report_on(outcome) }
    }

    /// The report on a run that ended like this.
    pub fn report_on(&mut self, outcome: RunOutcome) -> AgentReport {
        AgentReport {
            final_text: self.text.take(),
            tool_calls: Some(self.calls.count()),
            failed_calls: self.failed_calls,
            denied: self.refusals.take(),
            session: self.session.take(),
            tokens: self.tokens,
            cost: self.cost,
            status: self.status,
            model: self.model.take(),
            near_usage_limit: self.near_usage_limit,
            outcome,
            ..AgentReport::default()
        }
    }
}

/// Empty where the value is no string.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Empty where the value is no list.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A tool's name for the screen; `?` where there is none.
pub fn tool(name: &Value) -> String {
    lines::one_line(name.as_str().unwrap_or("?"), 80)
}

pub fn model(name: &Value) -> Option<String> {
    name.as_str().map(|name| lines::one_line(name, 120))
}
