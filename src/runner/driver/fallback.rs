//! Chooses the agent: the first choice, or a fallback while that is at a usage limit or overloaded.

use std::time::Duration;

use anyhow::{Context, Result};

use super::agents::AgentSeat;
use super::parts::Driver;
use crate::engine::RestCause;
use crate::forms::events::RunnerEvent;
use crate::forms::plain::JsonTime;
use crate::runner::console::EndRequest;
use crate::runner::harness::harness;
use crate::runner::options::Options;
use crate::runner::requests::RunnerRequest;
use crate::runner::state::{PAUSED, readable};
use crate::world::{self, WallTime};

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

impl Driver<'_> {
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

    /// Waits until a usage limit is lifted, after a person's confirmation where nobody allowed the wait at the start.
    /// The result is what ends the wait early.
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
}
