//! The watch over one run of the agent program: its lines go to the reader and to the screen, and a
//! person's wish ends it.

use std::time::Duration;

use super::allowance::Allowance;
use super::console::{Console, EndRequest};
use super::harness::{AgentEvent, OutputReader, Stream, Told};
use super::options::time_in_words;
use super::process::{Control, Watcher};
use super::screen::{counted, lasted};
use crate::world::Stopwatch;

/// How often the live line is drawn again.
const DRAW: Duration = Duration::from_millis(250);

/// What the live line shows of an iteration.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Which one it is, such as `iteration 3/100`.
    pub iteration: String,
    /// What may be cut off where the terminal is narrow: tokens, the task.
    pub rest: String,
}

impl About {
    /// Returns the live line; a narrow terminal cuts off its end, so the time comes first.
    fn line(&self, elapsed: Duration, calls: u64) -> String {
        let (time, calls) = (lasted(elapsed), counted(calls, "tool call"));
        format!("{} · {time} · {calls}{}", self.iteration, self.rest)
    }
}

/// Watches one run.
pub struct RunMonitor<'a> {
    reader: &'a mut dyn OutputReader,
    console: &'a Console<'a>,
    about: &'a About,
    grace: Duration,
    clock: Stopwatch,
    /// When the live line was drawn.
    drawn: Duration,
    /// What asked for the end of the loop meanwhile.
    pub end_request: Option<EndRequest>,
    /// Tool calls that were seen.
    calls: u64,
    /// What the run may still use.
    pub allowance: Allowance<'a>,
    /// Whether the result is there: what is used then is used, and a run is not cut for it.
    finished: bool,
}

impl<'a> RunMonitor<'a> {
    /// Returns the monitor of a run that began with `clock`; `grace` is how long the program has once it is asked to
    /// end.
    pub fn new(
        reader: &'a mut dyn OutputReader,
        console: &'a Console<'a>,
        about: &'a About,
        grace: Duration,
        clock: Stopwatch,
        allowance: Allowance<'a>,
    ) -> Self {
        let (drawn, end_request, calls, finished) = (Duration::ZERO, None, 0, false);
        Self {
            reader,
            console,
            about,
            grace,
            clock,
            drawn,
            end_request,
            calls,
            allowance,
            finished,
        }
    }
}

impl Watcher for RunMonitor<'_> {
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control {
        self.console.screen.raw(line);
        let mut watch = Control::GoOn;
        let (screen, calls) = (&self.console.screen, &mut self.calls);
        self.reader.line(stream, line, &mut |event| {
            let next = match event {
                AgentEvent::Finished => Control::Finished,
                AgentEvent::Said(_) | AgentEvent::Called { .. } => Control::AtWork,
                AgentEvent::Returned { .. } | AgentEvent::Trouble(_) => Control::GoOn,
            };
            watch = watch.then(next);
            *calls += u64::from(matches!(event, AgentEvent::Called { .. }));
            screen.heard(&event);
        });
        match watch {
            Control::Finished => self.finished = true,
            Control::AtWork => self.finished = false,
            _ => {}
        }
        if !self.finished && self.allowance.is_passed_after_line(self.reader.so_far()) {
            watch = watch.then(Control::End);
        }
        watch
    }

    fn tells(&mut self) -> Told {
        self.reader.tells()
    }

    fn cancels(&mut self) -> Vec<u8> {
        self.reader.cancels()
    }

    fn moment(&mut self) -> Control {
        self.end_request = self.end_request.or_else(|| self.console.end_request());
        let by_stop = self.end_request == Some(EndRequest::Stop);
        let signals = self.console.signals;
        if signals.hurry() || by_stop && signals.asked().is_some() {
            return Control::Kill;
        }
        if self.end_request.is_some() {
            let (grace, again) = (time_in_words(self.grace), if by_stop { "" } else { " again" });
            self.console.screen.ending(&format!(
                "ralph: ending the agent, it has {grace}; Ctrl-C{again} kills it at once"
            ));
        }
        let elapsed = self.clock.elapsed();
        if elapsed >= self.drawn + DRAW {
            self.drawn = elapsed;
            let line = self.about.line(elapsed, self.calls);
            let ending = if self.end_request.is_some() { "ending · " } else { "" };
            self.console.screen.live(&format!("{ending}{line}"));
        }
        let is_passed = !self.finished && self.allowance.is_passed_now(self.reader.so_far());
        if self.end_request.is_some() || is_passed { Control::End } else { Control::GoOn }
    }
}
