//! The watch over one run: lines go to the reader and the screen, and a person can end the run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::console::{Console, EndRequest};
use super::harness::{AgentEvent, OutputReader, Stream, Told};
use super::live_line::{LiveLine, LiveMoment};
use super::options::time_in_words;
use super::prices::Allowance;
use super::process::{Control, Watcher};
use crate::world::Stopwatch;

/// How often the live line is drawn.
const DRAW: Duration = Duration::from_millis(250);

/// Open tool calls, by their number in the order shown.
#[derive(Debug, Default)]
struct OpenCalls {
    open: BTreeMap<u64, String>,
    /// The program was asked to end: Claude Code then ends its tools, whose return means nothing.
    is_asked_to_end: bool,
}

/// The most open calls that are remembered.
const OPEN: usize = 64;

impl OpenCalls {
    fn take(&mut self, event: &AgentEvent, shown_before: u64) {
        if self.is_asked_to_end {
            return;
        }
        match event {
            AgentEvent::Called { tool, what } => {
                if self.open.len() == OPEN {
                    self.open.pop_first();
                }
                let words = if what.is_empty() { tool.clone() } else { format!("{tool}: {what}") };
                self.open.insert(shown_before, words);
            }
            AgentEvent::Returned { call, .. } => {
                self.open.remove(call);
            }
            AgentEvent::Finished => self.open.clear(),
            AgentEvent::Said(_) | AgentEvent::Trouble(_) => {}
        }
    }
}

pub struct RunMonitor<'a> {
    pub reader: &'a mut dyn OutputReader,
    pub console: &'a Console<'a>,
    pub live: &'a LiveLine,
    /// Time between asking and killing.
    pub grace: Duration,
    /// Since the beginning of the run.
    pub clock: Stopwatch,
    pub allowance: Allowance<'a>,
    pub seen: RunSeen,
}

/// The run so far.
#[derive(Debug, Default)]
pub struct RunSeen {
    /// When the live line was drawn.
    drawn: Duration,
    /// The request that ended the run.
    pub end_request: Option<EndRequest>,
    /// Tool calls so far.
    calls: u64,
    open: OpenCalls,
    /// The result is there: the tokens are spent, so no budget cuts the run.
    finished: bool,
}

impl RunMonitor<'_> {
    fn draw(&self, elapsed: Duration) {
        let Some(room) = self.console.screen.room() else { return };
        let so_far = self.reader.so_far();
        let (tokens, calls) = (self.allowance.used(so_far).total(), self.seen.calls);
        let now = LiveMoment { elapsed, calls, tokens, cost: self.allowance.cost(so_far) };
        let ending = if self.seen.end_request.is_some() { "ending · " } else { "" };
        let words = self.live.words(&now, room.saturating_sub(ending.len()));
        self.console.screen.live(&format!("{ending}{words}"));
    }

    /// The newest open tool call with its input.
    pub fn open_call(&self) -> Option<&str> {
        self.seen.open.open.last_key_value().map(|(_, words)| words.as_str())
    }
}

impl Watcher for RunMonitor<'_> {
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control {
        self.console.screen.raw(line);
        let mut watch = Control::GoOn;
        let (screen, calls, open) =
            (&self.console.screen, &mut self.seen.calls, &mut self.seen.open);
        self.reader.line(stream, line, &mut |event| {
            watch = watch.then(Control::of(&event));
            open.take(&event, *calls);
            *calls += u64::from(matches!(event, AgentEvent::Called { .. }));
            screen.heard(&event);
        });
        match watch {
            Control::Finished => self.seen.finished = true,
            Control::AtWork => self.seen.finished = false,
            _ => {}
        }
        if !self.seen.finished && self.allowance.is_passed_after_line(self.reader.so_far()) {
            watch = watch.then(Control::End);
        }
        watch
    }

    fn tells(&mut self) -> Told {
        self.reader.tells()
    }

    fn cancels(&mut self) -> Vec<u8> {
        self.seen.open.is_asked_to_end = true;
        self.reader.cancels()
    }

    fn is_thinking(&self) -> bool {
        self.reader.shows_calls() && self.seen.open.open.is_empty()
    }

    fn moment(&mut self) -> Control {
        self.seen.end_request = self.seen.end_request.or_else(|| self.console.end_request());
        let by_stop = self.seen.end_request == Some(EndRequest::Stop);
        let signals = self.console.signals;
        if signals.hurry() || by_stop && signals.asked().is_some() {
            return Control::Kill;
        }
        if self.seen.end_request.is_some() {
            let (grace, again) = (time_in_words(self.grace), if by_stop { "" } else { " again" });
            self.console.screen.ending(&format!(
                "ralph: ending the agent, it has {grace}; Ctrl-C{again} kills it at once"
            ));
        }
        let elapsed = self.clock.elapsed();
        if elapsed >= self.seen.drawn + DRAW {
            self.seen.drawn = elapsed;
            self.draw(elapsed);
        }
        let is_passed = !self.seen.finished && self.allowance.is_passed_now(self.reader.so_far());
        if self.seen.end_request.is_some() || is_passed { Control::End } else { Control::GoOn }
    }
}
