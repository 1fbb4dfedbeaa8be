//! A disk that is full: what cannot be written is tried again, until there is room, somebody ends the loop, or it takes too
//! long.

use std::time::Duration;

use anyhow::{Result, bail};

use super::parts::{Driver, GivenUp, LOOK};
use crate::engine::TerminalReason;
use crate::forms::events::RunnerEvent;
use crate::forms::plain::JsonTime;
use crate::runner::console::EndRequest;
use crate::runner::exit;
use crate::runner::screen::lasted;
use crate::runner::state::{is_disk_full, note_wait_for_room, readable};
use crate::store::names::JournalEvent;
use crate::world::{self, Stopwatch};

/// How long after the first try the second one is made; the pause is doubled with each more.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// What a person does when the disk stayed full.
const MAKE_ROOM: &str =
    "Make room on the disk, then run the same command again: it continues this loop.";

impl Driver<'_> {
    /// Has something written into the loop's own files; where their disk is full, again and again until there is room. When that is
    /// given up, once more in the room that was kept free for the end; an error says that it is not written.
    pub(super) fn write<T>(&mut self, mut write: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        match self.write_with_room(&mut write) {
            Err(error) if is_disk_full(&error) && self.files.frees_reserve() => write(self),
            done => done,
        }
    }

    /// Does the same for what comes before the agent: an error means that it may not be started.
    pub(super) fn write_with_room<T>(
        &mut self,
        mut write: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        match write(self) {
            Err(error) if is_disk_full(&error) && self.given_up.is_none() => {
                self.write_again(error, &mut write)
            }
            done => done,
        }
    }

    /// Returns an error where a full disk was given up: no other step is begun.
    pub(super) fn has_room(&self) -> Result<()> {
        match &self.given_up {
            None => Ok(()),
            Some(GivenUp::TooLong(words)) => bail!("{words}"),
            Some(GivenUp::Asked(_)) => bail!("it was stopped while the disk was full"),
        }
    }

    fn write_again<T>(
        &mut self,
        error: anyhow::Error,
        write: &mut impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let most = self.plan.options.disk_wait;
        if !most.is_zero() {
            self.say_full(&error, most);
        }
        let done = self.write_until(error, most, write);
        note_wait_for_room(&self.files.folder, 0);
        done
    }

    fn write_until<T>(
        &mut self,
        mut error: anyhow::Error,
        most: Duration,
        write: &mut impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let clock = Stopwatch::start();
        let mut pause = FIRST_PAUSE;
        loop {
            let left = most.saturating_sub(clock.elapsed());
            if let Some(request) = self.rest_while_full(pause.min(left), left) {
                self.console.screen.still();
                self.given_up = Some(GivenUp::Asked(request));
                return Err(error);
            }
            match write(self) {
                Err(again) if is_disk_full(&again) => error = again,
                done => {
                    self.console.screen.still();
                    self.note_room(clock.elapsed(), &first_line(&error));
                    return done;
                }
            }
            if clock.elapsed() >= most {
                self.console.screen.still();
                let how_long =
                    if most.is_zero() { String::new() } else { format!(" for {}", lasted(most)) };
                let words = format!("the disk was full{how_long}: {}", first_line(&error));
                self.given_up = Some(GivenUp::TooLong(words));
                return Err(error);
            }
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// Says and writes down that there is room again, after how long and for what: who sleeps meanwhile reads it in the morning.
    fn note_room(&mut self, waited: Duration, full: &str) {
        self.totals.waited_for_room += waited;
        let iteration = self.files.running().map_or(0, |it| it.n);
        let words = format!("{full}; it was waited {} for room", lasted(waited));
        let entry = self.entry(JournalEvent::DiskFull, iteration, &words);
        // Where it is full again, the next entry says so.
        let _ = self.files.note(&entry);
        let words = format!("ralph: the disk has room again, after {}", lasted(waited));
        self.console.screen.report(RunnerEvent::Resumed, &words);
    }

    /// Says that the disk is full, and how long the loop waits for room.
    fn say_full(&self, error: &anyhow::Error, most: Duration) {
        let until = world::now().after(most);
        note_wait_for_room(&self.files.folder, until.millis().div_ceil(1000));
        let words = format!(
            "ralph: the disk is full: {}; it is tried again until {} ({}), Ctrl-C or `spool stop --change {}` ends the loop",
            first_line(error),
            readable(until),
            lasted(most),
            self.plan.change.id
        );
        let r#for = "room on the disk".to_owned();
        let event = RunnerEvent::Waiting { r#for, until: JsonTime::of(until) };
        self.console.screen.report(event, &words);
    }

    /// Waits before the next try; returns what ends the loop meanwhile.
    fn rest_while_full(&self, pause: Duration, left: Duration) -> Option<EndRequest> {
        let clock = Stopwatch::start();
        loop {
            let found = self.console.end_request();
            let rest = pause.saturating_sub(clock.elapsed());
            if found.is_some() || rest.is_zero() {
                return found;
            }
            let left = left.saturating_sub(clock.elapsed());
            self.console
                .screen
                .live(&format!("waiting for room on the disk, {} left", lasted(left)));
            self.console.signals.wait(LOOK.min(rest));
        }
    }

    /// Ends the loop after a full disk was given up.
    pub(super) fn end_on_full_disk(&mut self) -> Result<u8> {
        if let Some(GivenUp::Asked(request)) = self.given_up {
            return self.stop(request);
        }
        self.finish(&self.stopped(), None)
    }

    /// Returns in words that the loop ended because its disk stayed full, `None` where it did not.
    pub(super) fn full_disk(&self, reason: &TerminalReason) -> Option<&str> {
        match (&self.given_up, reason) {
            (Some(GivenUp::TooLong(words)), TerminalReason::Stopped) => Some(words),
            _ => None,
        }
    }

    /// Returns what a person does next, in one or two sentences; empty when there is nothing to do.
    pub(super) fn what_next(&self, reason: &TerminalReason) -> String {
        let next =
            || exit::what_next(reason, &self.plan.change.id, self.files.state.current_iteration);
        self.full_disk(reason).map_or_else(next, |_| MAKE_ROOM.to_owned())
    }
}

/// What happened to which file, without what to do.
fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}
