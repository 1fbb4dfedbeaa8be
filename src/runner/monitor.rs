//! The watch over one run of the agent program: its lines go to the reader and to the screen, and a
//! person's wish ends it.

use std::time::Duration;

use super::harness::{Event, Reader, Stream};
use super::options::time_in_words;
use super::process::{Watch, Watcher};
use super::requests::{Request, Requests};
use super::screen::{Screen, counted, lasted};
use super::signals::Signals;
use crate::world::Stopwatch;

/// How often the live line is drawn anew.
const DRAW: Duration = Duration::from_millis(250);

/// What a person asked for while the agent program was at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A signal.
    Signal(i32),
    /// `spool stop`.
    Stop,
}

/// Returns what a person asks for now.
pub fn asked(signals: &Signals, requests: &Requests) -> Option<Asked> {
    if let Some(signal) = signals.asked() {
        return Some(Asked::Signal(signal));
    }
    (requests.pending() == Some(Request::Stop)).then_some(Asked::Stop)
}

/// Returns whether a person wants the loop to end, and says on the screen that it is ending.
pub fn wants_end(signals: &Signals, requests: &Requests, screen: &Screen) -> bool {
    let wanted = asked(signals, requests).is_some();
    if wanted {
        screen.ending("ralph: ending, what runs is being ended");
    }
    wanted
}

/// What the live line tells of an iteration.
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
    /// Reads what the program prints.
    pub reader: &'a mut dyn Reader,
    /// Shows it.
    pub screen: &'a Screen,
    /// Signals to the runner.
    pub signals: &'a Signals,
    /// Requests from other terminals.
    pub requests: &'a Requests,
    /// What the live line tells of the iteration.
    pub about: &'a About,
    /// How long the agent program has once it is asked to end.
    pub grace: Duration,
    /// How long it has been running.
    pub clock: Stopwatch,
    /// When the live line was drawn.
    pub drawn: Duration,
    /// What a person asked for.
    pub asked: Option<Asked>,
    /// Tool calls that were heard.
    pub calls: u64,
}

impl Watcher for RunMonitor<'_> {
    fn line(&mut self, stream: Stream, line: &[u8]) -> Watch {
        self.screen.raw(line);
        let mut watch = Watch::GoOn;
        let (screen, calls) = (self.screen, &mut self.calls);
        self.reader.line(stream, line, &mut |event| {
            let next = match event {
                Event::Finished => Watch::Finished,
                Event::Said(_) | Event::Called { .. } => Watch::AtWork,
                Event::Trouble(_) => Watch::GoOn,
            };
            watch = watch.then(next);
            *calls += u64::from(matches!(event, Event::Called { .. }));
            screen.heard(&event);
        });
        watch
    }

    fn moment(&mut self) -> Watch {
        self.asked = self.asked.or_else(|| asked(self.signals, self.requests));
        let by_stop = self.asked == Some(Asked::Stop);
        if self.signals.hurry() || by_stop && self.signals.asked().is_some() {
            return Watch::Kill;
        }
        if self.asked.is_some() {
            let (grace, again) = (time_in_words(self.grace), if by_stop { "" } else { " again" });
            self.screen.ending(&format!(
                "ralph: ending the agent, it has {grace}; Ctrl-C{again} kills it at once"
            ));
        }
        let elapsed = self.clock.elapsed();
        if elapsed >= self.drawn + DRAW {
            self.drawn = elapsed;
            let line = self.about.line(elapsed, self.calls);
            let ending = if self.asked.is_some() { "ending · " } else { "" };
            self.screen.live(&format!("{ending}{line}"));
        }
        if self.asked.is_some() { Watch::End } else { Watch::GoOn }
    }
}
