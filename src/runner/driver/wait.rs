//! Pauses and waits between two iterations.

use std::time::Duration;

use anyhow::Result;

use super::parts::{Driver, LOOK};
use crate::engine;
use crate::forms::events::RunnerEvent;
use crate::forms::plain::JsonTime;
use crate::runner::console::EndRequest;
use crate::runner::screen::lasted;
use crate::runner::state::readable;
use crate::world::{self, Stopwatch, WallTime};

impl Driver<'_> {
    /// Waits while a person wants a pause and the time is not up; the result is what ends the wait early. `what` names
    /// the pause and its reason, `words` tell what to do.
    pub(super) fn wait_while_paused(
        &mut self,
        what: &str,
        words: &str,
    ) -> Result<Option<EndRequest>> {
        let mut reported = false;
        loop {
            self.look_for_standstill();
            if let Some(request) = self.console.end_request() {
                return Ok(Some(request));
            }
            if self.console.requests.paused().is_none() {
                if reported {
                    self.console.screen.still();
                    self.console.screen.report(RunnerEvent::Resumed, "ralph: resumed");
                }
                return Ok(None);
            }
            if !reported {
                reported = true;
                what.clone_into(&mut self.files.state.doing);
                self.files.save()?;
                self.console.screen.report(RunnerEvent::Paused, words);
            }
            if engine::time_is_up(&self.plan.contract, self.files.elapsed().as_secs()).is_some() {
                self.console.screen.still();
                return Ok(None);
            }
            self.console.screen.live(what);
            self.console.signals.wait(LOOK);
        }
    }

    /// Waits, at most until the same time by the wall clock: after a sleep of the machine a usage limit that is lifted
    /// at 07:00 is lifted then. The result is what ends the wait early. The loop's own limits are judged after the next
    /// iteration.
    pub(super) fn rest(&mut self, length: Duration, what: &str) -> Result<Option<EndRequest>> {
        let (over, rest) = (world::now().after(length), Stopwatch::start());
        let length = self.time_left().map_or(length, |left| length.min(left));
        // A moment in the future, also for a wait of less than a second.
        let until = WallTime::from_seconds(world::now().after(length).millis().div_ceil(1000));
        let clock = readable(until);
        self.files.state.doing = format!("waiting for {what} until {clock}");
        self.files.state.waits_until = until.millis() / 1000;
        self.files.save()?;
        let words = format!("   waiting for {what}, {} (until {clock})", lasted(length));
        let event = RunnerEvent::Waiting { r#for: what.to_owned(), until: JsonTime::of(until) };
        self.console.screen.report(event, &words);
        let mut found = None;
        while found.is_none() {
            self.look_for_standstill();
            let left = rest_left(length, rest.elapsed(), over.since(world::now()));
            let left = self.time_left().map_or(left, |of_the_loop| left.min(of_the_loop));
            if left.is_zero() {
                break;
            }
            self.console.screen.live(&format!("waiting for {what}, {} left", lasted(left)));
            // A signal ends the wait at once, a request within a moment.
            self.console.signals.wait(LOOK.min(left));
            found = self.console.end_request();
        }
        self.console.screen.still();
        self.files.state.waits_until = 0;
        Ok(found)
    }
}

/// The rest of a wait. `waited` was counted by a clock that stands still with the machine; `by_the_wall` is the rest by
/// the wall clock. The wall clock may shorten the wait after a sleep; set back, it does not make the wait longer.
fn rest_left(length: Duration, waited: Duration, by_the_wall: Duration) -> Duration {
    length.saturating_sub(waited).min(by_the_wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_follows_the_wall_clock() {
        let (hour, minute) = (Duration::from_hours(1), Duration::from_mins(1));
        assert_eq!(rest_left(hour, minute, 59 * minute), 59 * minute);
        // Asleep for 58 minutes, or for longer.
        assert_eq!(rest_left(hour, minute, minute), minute);
        assert_eq!(rest_left(hour, minute, Duration::ZERO), Duration::ZERO);
        // Set back by a day.
        assert_eq!(rest_left(hour, 59 * minute, 24 * hour), minute);
        assert_eq!(rest_left(hour, hour, 24 * hour), Duration::ZERO);
    }
}
