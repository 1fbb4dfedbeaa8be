//! The agent program of a loop, and what one run of it came to.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::pauses::{limit_pause, until};
use crate::engine::{Lineup, RunSign};
use crate::exec::find::find;
use crate::runner::allowance::{Allowance, BudgetsLeft};
use crate::runner::capture::{TAIL, capture};
use crate::runner::console::{Console, EndRequest};
use crate::runner::harness::{AgentOrder, AgentReport, Harness, Launch, RunOutcome, TokenUsage};
use crate::runner::live_line::LiveLine;
use crate::runner::monitor::RunMonitor;
use crate::runner::process::{self, Cut, ProcessLimits, ProcessOutcome};
use crate::runner::tokens::{self, Counter, TokenCount, WtUsage};
use crate::world::{self, Stopwatch, WallTime};

/// The longest that `wt-usage` may take.
const USAGE_LIMIT: Duration = Duration::from_secs(20);

/// An agent program with the model that it is asked for.
pub struct AgentSeat {
    /// How it is driven.
    pub harness: Box<dyn Harness>,
    /// Its version, empty where it is not known.
    pub version: String,
    /// The model, `None` for its own choice.
    pub model: Option<String>,
    /// Whether its last run warned that its usage limit is near.
    pub near_usage_limit: bool,
}

/// The agent programs of a loop, with what starts them and what counts their tokens.
pub struct Agents {
    /// All of them, the first choice first.
    pub seats: Vec<AgentSeat>,
    /// The one that works.
    pub current: usize,
    /// Which of them may work.
    pub lineup: Lineup,
    /// How long their usage limits were waited for since the last answer.
    pub waited: Duration,
    /// The program between the runner and what it starts.
    pub supervisor: PathBuf,
    /// Where `wt-usage` is, `None` for nowhere.
    pub usage: Option<PathBuf>,
    /// Counts its tokens.
    pub counter: Counter,
}

/// One run of the agent program, with what came of it.
#[derive(Default)]
pub struct AgentRun {
    /// What its output says.
    pub report: AgentReport,
    /// How it ended.
    pub ended: ProcessOutcome,
    /// What asked for the end of the loop meanwhile.
    pub end_request: Option<EndRequest>,
    /// What it had used when it was ended because a limit was passed, `None` where none was.
    pub passed_at: Option<TokenUsage>,
    /// The tool call that had not come back when a time limit ended it, `None` where there was none.
    pub hung_call: Option<String>,
    /// How long it took.
    pub lasted: Duration,
}

impl AgentSeat {
    /// Returns it in words: the program, with the model that it is asked for.
    pub fn words(&self) -> String {
        let name = self.harness.name();
        self.model.as_ref().map_or_else(|| name.to_owned(), |model| format!("{name} {model}"))
    }
}

impl Agents {
    /// Returns these agent programs, the first of which works; an error when the running program cannot be
    /// found.
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

    /// Returns the one that works.
    pub fn seat(&self) -> &AgentSeat {
        &self.seats[self.current]
    }

    /// Returns whether the next iteration is another agent's: it does not wait for what this one has to wait for.
    pub fn another_goes_on(&self) -> bool {
        let next = self.lineup.next(world::now().millis());
        next.agent != self.current && next.wait_ms == 0
    }

    /// Takes in what a run of the one that works says of its service.
    pub fn ended(&mut self, sign: RunSign) {
        self.lineup.ended(self.current, sign, world::now().millis());
        if sign != RunSign::Limited {
            self.waited = Duration::ZERO;
        }
    }

    /// Notes that the one that works is at a usage limit, which is lifted at this moment, in seconds since the Unix epoch. Returns
    /// how long to wait, and when the limit is lifted for which that is; `None` where another agent goes on.
    pub fn at_limit(&mut self, resets_at: Option<u64>) -> Option<(Option<u64>, Duration)> {
        let pause = limit_pause(resets_at.map(until), self.lineup.rest(self.current).limits);
        let now = world::now();
        self.lineup.limit(self.current, now.after(pause).millis(), resets_at);
        let next = self.lineup.next(now.millis());
        let wait = Duration::from_millis(next.wait_ms);
        (next.wait_ms > 0).then(|| (self.lineup.rest(next.agent).reported, wait))
    }

    /// Returns what a run of it used; `began_at` is when its iteration began.
    pub fn count(
        &mut self,
        used: Option<WtUsage>,
        report: &AgentReport,
        began_at: WallTime,
    ) -> TokenCount {
        let Self { counter, seats, current, .. } = self;
        counter.count(used, report, seats[*current].harness.as_ref(), began_at)
    }

    /// Runs it once and returns what came of it; an error when it cannot be started. `note` writes down a sleep of the machine,
    /// or a stop.
    pub fn run(
        &self,
        order: &AgentOrder<'_>,
        (limits, left): (&ProcessLimits, BudgetsLeft<'_>),
        (live, note): (&LiveLine, &mut dyn FnMut(Duration)),
        console: &Console<'_>,
        log: &mut File,
    ) -> Result<AgentRun> {
        let harness = self.seat().harness.as_ref();
        let mut launch = harness.launch(order)?;
        launch.set.push((world::RUNNER.to_owned(), std::process::id().to_string().into()));
        let mut reader = harness.reader(order);
        let clock = Stopwatch::start();
        let allowance = Allowance::new(left, harness, world::now());
        let mut monitor =
            RunMonitor::new(reader.as_mut(), console, live, limits.grace, (clock, note), allowance);
        let ended =
            process::run(&self.supervisor, &launch, order.folder, limits, log, &mut monitor)
                .with_context(|| format!("cannot start `{}`", launch.program.display()))?;
        let (end_request, passed_at) = (monitor.end_request, monitor.allowance.passed_at);
        let is_late = matches!(ended.cut, Some(Cut::Wall | Cut::Silence));
        let hung_call = monitor.open_call().filter(|_| is_late).map(str::to_owned);
        let mut report = reader.report(&ended.left);
        report.model = report.model.or_else(|| order.model.map(str::to_owned));
        Ok(AgentRun { report, ended, end_request, passed_at, hung_call, lasted: clock.elapsed() })
    }

    /// Returns what `wt-usage` counts since a time in the form of ISO 8601, `None` without it or when it fails.
    pub fn used_since(
        &self,
        since: &str,
        worktree: &Path,
        console: &Console<'_>,
        log: &mut File,
    ) -> Option<u64> {
        let launch = Launch {
            program: self.usage.clone()?,
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
    /// Returns the run of a program that could not be started: a missing program stays missing, want of memory or
    /// of processes passes.
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
