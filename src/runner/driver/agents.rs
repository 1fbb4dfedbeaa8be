//! The agent programs of a loop, and their runs.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::engine::{Lineup, RunSign};
use crate::exec::find::find;
use crate::runner::capture::{TAIL, capture};
use crate::runner::console::{Console, EndRequest};
use crate::runner::harness::{AgentOrder, AgentReport, Harness, Launch, RunOutcome, TokenUsage};
use crate::runner::live_line::LiveLine;
use crate::runner::monitor::{RunMonitor, RunSeen};
use crate::runner::prices::{Allowance, BudgetsLeft};
use crate::runner::process::{self, Cut, ProcessLimits, ProcessOutcome};
use crate::runner::tokens::{self, Counter};
use crate::world::{self, Stopwatch, WallTime};

/// The limit of a call of `wt-usage`.
const USAGE_LIMIT: Duration = Duration::from_secs(20);
/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_mins(15);
/// The first wait for a usage limit with an unknown end; doubled each time.
const UNKNOWN_LIMIT: Duration = Duration::from_mins(1);
/// A usage limit is tried again this long after its reported end.
const AFTER_LIMIT: Duration = Duration::from_secs(5);
/// A longer wait for a usage limit is not believed: the longest limits last a week.
pub(super) const LONGEST_LIMIT: Duration = Duration::from_hours(8 * 24);

/// An agent program with its model.
pub struct AgentSeat {
    pub harness: Box<dyn Harness>,
    /// Empty if unknown.
    pub version: String,
    /// `None` for the program's own choice.
    pub model: Option<String>,
    /// The last run warned that the usage limit is near.
    pub near_usage_limit: bool,
}

/// The agent programs of a loop, with the program that starts them and the counters of their tokens.
pub struct Agents {
    /// The first choice first.
    pub seats: Vec<AgentSeat>,
    /// The place in `seats` of the agent at work.
    pub current: usize,
    pub lineup: Lineup,
    /// The wait for usage limits since the last answer.
    pub waited: Duration,
    /// The program that supervises everything the runner starts.
    pub supervisor: PathBuf,
    /// The path of `wt-usage`.
    pub usage: Option<PathBuf>,
    pub counter: Counter,
}

/// One run of the agent program.
#[derive(Default)]
pub struct AgentRun {
    pub report: AgentReport,
    pub ended: ProcessOutcome,
    /// The request to end the loop that came during the run.
    pub end_request: Option<EndRequest>,
    /// The use at which a passed limit ended the run.
    pub passed_at: Option<TokenUsage>,
    /// The tool call that had not come back when a time limit ended the run.
    pub hung_call: Option<String>,
    pub lasted: Duration,
}

impl AgentSeat {
    /// The program and its model.
    pub fn words(&self) -> String {
        let name = self.harness.name();
        self.model.as_ref().map_or_else(|| name.to_owned(), |model| format!("{name} {model}"))
    }
}

impl Agents {
    /// The first seat works. An error means that the running program cannot be found.
    pub fn new(seats: Vec<AgentSeat>) -> Result<Self> {
        Ok(Self {
            lineup: Lineup::new(seats.len()),
            seats,
            current: 0,
            waited: Duration::ZERO,
            supervisor: process::own_program().context("the running program cannot be found")?,
            usage: find(tokens::USAGE),
            counter: Counter::default(),
        })
    }

    /// The agent at work.
    pub fn seat(&self) -> &AgentSeat {
        &self.seats[self.current]
    }

    /// True if another agent can take the next iteration at once.
    pub fn another_goes_on(&self) -> bool {
        let next = self.lineup.next(world::now().millis());
        next.agent != self.current && next.wait_ms == 0
    }

    /// Counts the sign of the last run.
    pub fn ended(&mut self, sign: RunSign) {
        self.lineup.ended(self.current, sign, world::now().millis());
        if sign != RunSign::Limited {
            self.waited = Duration::ZERO;
        }
    }

    /// Notes a usage limit of the agent at work; `resets_at` is in seconds since the Unix epoch. Returns the end of the
    /// limit to wait for, and the wait; `None` if another agent goes on.
    pub fn at_limit(&mut self, resets_at: Option<u64>) -> Option<(Option<u64>, Duration)> {
        let pause = limit_pause(resets_at.map(until), self.lineup.rest(self.current).limits);
        let now = world::now();
        self.lineup.limit(self.current, now.after(pause).millis(), resets_at);
        let next = self.lineup.next(now.millis());
        let wait = Duration::from_millis(next.wait_ms);
        (next.wait_ms > 0).then(|| (self.lineup.rest(next.agent).reported, wait))
    }

    /// Runs the agent at work once; an error means that it cannot start.
    pub fn run(
        &self,
        order: &AgentOrder<'_>,
        (limits, left): (&ProcessLimits, BudgetsLeft<'_>),
        live: &LiveLine,
        console: &Console<'_>,
        log: &mut File,
    ) -> Result<AgentRun> {
        let harness = self.seat().harness.as_ref();
        let mut launch = harness.launch(order)?;
        launch.set.push((world::RUNNER.to_owned(), std::process::id().to_string().into()));
        let mut reader = harness.reader(order);
        let clock = Stopwatch::start();
        let mut monitor = RunMonitor {
            reader: reader.as_mut(),
            console,
            live,
            grace: limits.grace,
            clock,
            allowance: Allowance::new(left, harness, world::now()),
            seen: RunSeen::default(),
        };
        let ended =
            process::run(&self.supervisor, &launch, order.folder, limits, log, &mut monitor)
                .with_context(|| format!("cannot start `{}`", launch.program.display()))?;
        console.tell_standstill();
        let (end_request, passed_at) = (monitor.seen.end_request, monitor.allowance.passed_at);
        let is_late = matches!(ended.cut, Some(Cut::Wall | Cut::Silence));
        let hung_call = monitor.open_call().filter(|_| is_late).map(str::to_owned);
        let mut report = reader.report(&ended.left);
        report.model = report.model.or_else(|| order.model.map(str::to_owned));
        Ok(AgentRun { report, ended, end_request, passed_at, hung_call, lasted: clock.elapsed() })
    }

    /// The count of `wt-usage` since a time in ISO 8601; `None` if it is missing or fails.
    pub fn used_since(
        &self,
        since: &str,
        worktree: &Path,
        console: &Console<'_>,
        log: &mut File,
    ) -> Option<u64> {
        let launch = Launch {
            program: self.usage.clone()?.into(),
            arguments: ["--since", since, "--format", "json"].map(Into::into).to_vec(),
            ..Launch::default()
        };
        let mut interrupted = || console.wants_end();
        let (supervisor, limit) = (&self.supervisor, USAGE_LIMIT);
        let captured =
            capture(supervisor, &launch, worktree, (limit, TAIL), log, &mut interrupted).ok()?;
        if captured.is_success() { tokens::printed_total(&captured.output) } else { None }
    }
}

impl AgentRun {
    /// A missing program stays missing; a lack of memory or of processes passes.
    pub fn not_started(error: &anyhow::Error) -> Self {
        let kind = error.chain().find_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
        let words = format!("{error:#}");
        let outcome = match kind {
            None | Some(io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                RunOutcome::Lasting(words)
            }
            Some(_) => RunOutcome::Failed(words),
        };
        Self { report: AgentReport { outcome, ..AgentReport::default() }, ..Self::default() }
    }
}

/// Doubled with each time after the first, up to [`LONGEST_PAUSE`].
pub(super) fn doubled(pause: Duration, times: u32) -> Duration {
    let longer = 2_u32.saturating_pow(times.saturating_sub(1).min(16));
    pause.saturating_mul(longer).min(LONGEST_PAUSE)
}

/// `at` is in seconds since the Unix epoch.
pub(super) fn until(at: u64) -> Duration {
    WallTime::from_seconds(at).since(world::now())
}

/// The wait for a usage limit that is lifted after `left`, if known, and was met `times` in a row.
///
/// A wrong clock, here or there, makes the loop neither restless nor endless.
pub(super) fn limit_pause(left: Option<Duration>, times: u32) -> Duration {
    let Some(left) = left.filter(|left| *left <= LONGEST_LIMIT) else {
        return doubled(UNKNOWN_LIMIT, times);
    };
    left + doubled(AFTER_LIMIT, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_clock_neither_hammers_nor_hangs() {
        let pauses: Vec<u64> =
            [1, 2, 3, 30].map(|times| limit_pause(Some(Duration::ZERO), times).as_secs()).into();
        assert_eq!(pauses, [5, 10, 20, 900]);
        assert_eq!(limit_pause(Some(Duration::from_mins(2)), 1), Duration::from_secs(125));
        // Milliseconds in place of seconds.
        assert_eq!(limit_pause(Some(until(1_795_000_000_000)), 1), UNKNOWN_LIMIT);
        assert_eq!(limit_pause(Some(until(u64::MAX)), 1), UNKNOWN_LIMIT);
        assert_eq!(limit_pause(None, 1), UNKNOWN_LIMIT);
    }
}
