//! The person's side of a loop: what they see of it, and how they end it.

use std::cell::Cell;
use std::time::Duration;

use super::requests::{Requests, RunnerRequest};
use super::screen::Screen;
use super::signals::Signals;
use crate::world;

/// What asks for the end of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRequest {
    /// A signal.
    Signal(i32),
    /// `spool stop`.
    Stop,
}

/// The person's side of a loop.
pub struct Console<'a> {
    /// What they see.
    pub screen: Screen,
    /// Signals to the runner.
    pub signals: &'a Signals,
    /// Requests from other terminals.
    pub requests: Requests,
    /// What of the time that does not count was noticed.
    pub noticed: Cell<Duration>,
}

impl Console<'_> {
    /// Returns what asks for the end of the loop now, `None` for nothing.
    pub fn end_request(&self) -> Option<EndRequest> {
        if let Some(signal) = self.signals.asked() {
            return Some(EndRequest::Signal(signal));
        }
        (self.requests.pending() == Some(RunnerRequest::Stop)).then_some(EndRequest::Stop)
    }

    /// Returns how long this program stood still since the last call; `None` for not at all.
    pub fn stood_still(&self) -> Option<Duration> {
        let all = world::standstill();
        Some(all.saturating_sub(self.noticed.replace(all))).filter(|new| !new.is_zero())
    }

    /// Returns whether the loop is asked to end, and says on the screen that it is ending.
    pub fn wants_end(&self) -> bool {
        let wanted = self.end_request().is_some();
        if wanted {
            self.screen.ending("ralph: ending, what runs is being ended");
        }
        wanted
    }
}
