//! The watch over one run of the agent program: its lines go to the reader and to the screen, and a
//! person's wish ends it.

use std::time::Duration;

use super::harness::{Event, Reader, Stream};
use super::process::{Watch, Watcher};
use super::requests::{Request, Requests};
use super::screen::{Screen, lasted};
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

/// Watches one run.
pub struct Eyes<'a> {
    /// Reads what the program prints.
    pub reader: &'a mut dyn Reader,
    /// Shows it.
    pub screen: &'a Screen,
    /// Signals to the runner.
    pub signals: &'a Signals,
    /// Requests from other terminals.
    pub requests: &'a Requests,
    /// What stands in front of the live line.
    pub about: &'a str,
    /// How long it has been going on.
    pub clock: Stopwatch,
    /// When the live line was drawn.
    pub drawn: Duration,
    /// What a person asked for.
    pub asked: Option<Asked>,
    /// Tool calls that were heard.
    pub calls: u64,
}

impl Watcher for Eyes<'_> {
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
        if self.signals.hurry() {
            return Watch::Kill;
        }
        if self.asked.is_some() {
            return Watch::End;
        }
        let elapsed = self.clock.elapsed();
        if elapsed >= self.drawn + DRAW {
            self.drawn = elapsed;
            let calls = self.calls;
            self.screen.live(&format!("{} · {} · {calls} tool calls", self.about, lasted(elapsed)));
        }
        Watch::GoOn
    }
}
