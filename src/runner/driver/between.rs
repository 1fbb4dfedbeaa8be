//! Between two iterations: the next step, the agent that takes it, pauses and waits.

use std::time::Duration;

use anyhow::{Context, Result};

use super::agents::{AgentRun, AgentSeat, doubled};
use super::parts::{Driver, LOOK};
use crate::engine::{self, RestCause, RunSign, TerminalReason, Verdict};
use crate::forms::events::RunnerEvent;
use crate::forms::plain::JsonTime;
use crate::runner::console::EndRequest;
use crate::runner::harness::{HarnessChoice, RunOutcome, harness, is_overload};
use crate::runner::inhibitor::Inhibitor;
use crate::runner::options::Options;
use crate::runner::requests::RunnerRequest;
use crate::runner::screen::lasted;
use crate::runner::state::{PAUSED, readable};
use crate::world::{self, Stopwatch, WallTime};

/// The step after an iteration.
pub(super) enum Next {
    /// The next iteration after a pause.
    Iteration(Duration),
    /// Wait until a usage limit is lifted, in seconds since the Unix epoch; `None` if unknown.
    Limit(Option<u64>),
    End(TerminalReason),
}

impl Driver<'_> {
    /// Waits while a person pauses the loop and its time lasts. Returns the request that ended the wait early, if any.
    /// `what` names the pause and its reason, `words` tell the next step.
    pub(super) fn wait_while_paused(
        &mut self,
        what: &str,
        words: &str,
    ) -> Result<Option<EndRequest>> {
        let mut reported = false;
        loop {
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

    /// Waits, at most until the same time by the wall clock: a usage limit that is lifted at 07:00 is lifted then, even
    /// if the machine slept. Returns the request that ended the wait early, if any. The loop's own limits are judged
    /// after the next iteration.
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

    /// The end of the reader's usage limit that was just met, in seconds since the Unix epoch.
    pub(super) fn reader_resets_at(&self) -> Option<u64> {
        let result = self.proofs.checked.as_ref()?.results.last()?.review?;
        Some(result.verdicts).filter(|at| result.is_limited() && *at > 1)
    }

    /// The step after a run with this verdict.
    pub(super) fn after(&mut self, verdict: Verdict, ran: &AgentRun) -> Next {
        let sign = match (&verdict, &ran.report.outcome) {
            (Verdict::Wait(_), _) => RunSign::Limited,
            (_, RunOutcome::Failed(_)) if is_overload(ran.report.status) => RunSign::Overloaded,
            _ => RunSign::Answered,
        };
        self.agents.ended(sign);
        match (verdict, &ran.report.outcome) {
            (Verdict::End(reason), _) => Next::End(reason),
            (Verdict::Wait(_), RunOutcome::UsageLimit { resets_at, .. }) => Next::Limit(*resets_at),
            (Verdict::Wait(_), _) => Next::Limit(None),
            // A failed run with progress counts as none in a row, and rests all the same.
            (Verdict::Continue(_), RunOutcome::Failed(_) | RunOutcome::Lasting(_)) => {
                let times = self.files.state.ledger.failures.max(1);
                Next::Iteration(doubled(self.plan.options.settings.retry_pause(), times))
            }
            (Verdict::Continue(_), _) => Next::Iteration(Duration::ZERO),
        }
    }

    /// Reports a change of agents.
    pub(super) fn choose_agent(&mut self) {
        let before = self.agents.current;
        let next = self.agents.lineup.next(world::now().millis()).agent;
        if next == before {
            return;
        }
        let (old, seat) = (&self.agents.seats[before], &self.agents.seats[next]);
        let rest = self.agents.lineup.rest(before);
        let until = WallTime::from_millis(rest.until_ms);
        let why = match rest.cause {
            RestCause::UsageLimit => "is at its usage limit",
            RestCause::Overload => "is overloaded",
        };
        let words = if rest.until_ms > world::now().millis() {
            let (old, new, until) = (old.words(), seat.words(), readable(until));
            format!("ralph: {new} continues: {old} {why}, and is tried again at {until}")
        } else {
            format!("ralph: {} works again", seat.words())
        };
        let event = RunnerEvent::Agent {
            harness: seat.harness.name().to_owned(),
            model: seat.model.clone(),
            until: JsonTime::of(until).filter(|_| next > 0),
        };
        if old.harness.name() != seat.harness.name() {
            // A session belongs to the program that began it.
            self.files.state.session_id.clear();
        }
        let state = &mut self.files.state;
        seat.harness.name().clone_into(&mut state.harness);
        state.harness_version.clone_from(&seat.version);
        state.model = seat.model.clone().unwrap_or_default();
        self.agents.current = next;
        self.console.screen.report(event, &words);
    }

    /// Waits until a usage limit is lifted. Asks a person first, unless the options allow the wait. Returns the request
    /// that ended the wait early, if any.
    pub(super) fn rest_at_limit(
        &mut self,
        resets_at: Option<u64>,
        pause: Duration,
    ) -> Result<Option<EndRequest>> {
        let over = world::now().after(pause);
        if self.plan.options.asks_at_limit {
            let when = match resets_at {
                Some(at) => format!("lifted at {}", readable(WallTime::from_seconds(at))),
                None => "lifted at a time that nothing tells".to_owned(),
            };
            let words = format!(
                "ralph: paused: the usage limit is {when}; in another terminal, `spool resume --change {}` has the loop wait for that and continue, `spool stop` ends it; --max-limit-wait TIME waits without asking",
                self.plan.change.id
            );
            let asked = self.console.requests.ask(RunnerRequest::Pause);
            let asked = asked.context("the pause cannot be written down");
            asked.inspect_err(|error| _ = self.files.fills_disk(error))?;
            let what = format!("{PAUSED} for `spool resume`: usage limit, {when}");
            if let Some(request) = self.wait_while_paused(&what, &words)? {
                return Ok(Some(request));
            }
        }
        self.rest(over.since(world::now()), "the usage limit")
    }

    /// Keeps the machine awake, except in the demo and with `--no-stay-awake`.
    pub(super) fn keep_awake(&mut self) {
        let options = self.plan.options;
        if !options.settings.no_stay_awake() && options.harness != HarnessChoice::Demo {
            self.inhibitor = Some(Inhibitor::start());
        }
    }

    /// Says once why the machine may fall asleep.
    pub(super) fn say_if_it_may_sleep(&mut self) {
        let Some(why) = self.inhibitor.as_mut().and_then(Inhibitor::trouble) else { return };
        self.console.screen.warn(&format!(
            "this machine may fall asleep while the loop runs: {why}; --no-stay-awake does not try to hold it"
        ));
    }
}

/// The rest of a wait. `waited` was counted by a clock that stands still with the machine; `by_the_wall` is the rest by
/// the wall clock. The wall clock may shorten the wait after a sleep; set back, it does not make the wait longer.
fn rest_left(length: Duration, waited: Duration, by_the_wall: Duration) -> Duration {
    length.saturating_sub(waited).min(by_the_wall)
}

/// The agents of a loop, the first choice first. An error names the agent that cannot be used, and what to do.
pub(super) fn seats(options: &Options) -> Result<Vec<AgentSeat>> {
    let mut seats: Vec<AgentSeat> = Vec::new();
    for choice in options.agents() {
        let harness = harness(&choice.harness)?;
        // One program with two models is asked once.
        let version = match seats.first().filter(|_| choice.harness == options.harness) {
            Some(first) => first.version.clone(),
            None if seats.is_empty() => harness.check()?.unwrap_or_default(),
            None => {
                let found = harness.check().context("--fallback-harness cannot be used")?;
                found.unwrap_or_default()
            }
        };
        seats.push(AgentSeat { harness, version, model: choice.model, near_usage_limit: false });
    }
    Ok(seats)
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
