//! The person's side of a loop: the screen, and requests to end.

use std::cell::Cell;
use std::time::Duration;

use super::messages;
use super::requests::{Requests, RunnerRequest};
use super::screen::Screen;
use super::signals::Signals;
use crate::forms::events::RunnerEvent;
use crate::world;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRequest {
    Signal(i32),
    /// `spool stop`.
    Stop,
}

pub struct Console<'a> {
    pub screen: Screen,
    pub signals: &'a Signals,
    /// Requests from other terminals.
    pub requests: Requests,
    /// The standstill that was reported so far.
    pub noticed: Cell<Duration>,
}

impl Console<'_> {
    /// The request to end the loop, if there is one now. Every wait asks for it, and so tells a standstill, too.
    pub fn end_request(&self) -> Option<EndRequest> {
        self.tell_standstill();
        if let Some(signal) = self.signals.asked() {
            return Some(EndRequest::Signal(signal));
        }
        (self.requests.pending() == Some(RunnerRequest::Stop)).then_some(EndRequest::Stop)
    }

    /// Told at the end of a wait as well: a program may be over when it is continued.
    pub fn tell_standstill(&self) {
        let all = world::standstill();
        let new = all.saturating_sub(self.noticed.replace(all));
        if !new.is_zero() {
            let event = RunnerEvent::Standstill { stopped_seconds: new.as_secs().into() };
            self.screen.report(event, &messages::stood_still(new));
        }
    }

    /// A request has come; the screen then says so.
    pub fn wants_end(&self) -> bool {
        let wanted = self.end_request().is_some();
        if wanted {
            self.screen.ending("ralph: ending, what runs is being ended");
        }
        wanted
    }
}
