//! The loop: gather, ask the engine, carry out.

mod gather;
mod iteration;
mod pin;
mod tell;
mod unfinished;
mod wait;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::engine::{
    self, Contract, Demand, Ledger, Observation, Shortfall, TerminalReason, Verdict, Work,
};
use crate::exec::family;
use crate::exec::find::find;
use crate::runner::exit;
use crate::runner::git::{Git, Moment};
use crate::runner::harness::{self, Harness, Outcome, Report};
use crate::runner::monitor::Asked;
use crate::runner::options::{DoneCriteria, Doubted, Options};
use crate::runner::process::{self, ProcessOutcome};
use crate::runner::requests::{Request, Requests};
use crate::runner::screen::Screen;
use crate::runner::signals::Signals;
use crate::runner::state::{Books, LoopState, Taken, holder, iso, read_state, state_folder};
use crate::runner::target::Change;
use crate::runner::task_list::Tasks;
use crate::runner::tokens::{self, Counter};
use crate::runner::worktree::Files;
use crate::session::pinned;
use crate::store::journal::Entry;
use crate::store::loops::VerifyCommands;
use crate::store::names::{EndName, JournalEvent};
use crate::world::{self, Deadline, Stopwatch};
use wait::{doubled, limit_pause, until};

/// How often a waiting loop looks for signals and requests.
const LOOK: Duration = Duration::from_millis(100);
/// The longest that the supervisor of a killed runner takes to end its tree, with some room.
const ORPHANS: Duration = Duration::from_secs(10);

/// Drives the loop of a change to its end and returns the exit code of that end.
///
/// An error means that the loop did not begin, or that its state could not be written any more.
pub fn run(change: &Change, options: &Options) -> Result<ExitCode> {
    let signals = Signals::listen().context("signals cannot be listened to")?;
    let harness = harness::harness(&options.harness)?;
    let version = match harness.check() {
        Ok(version) => version.unwrap_or_default(),
        Err(why) => {
            tell_error(&why);
            return Ok(ExitCode::from(exit::HARNESS_FAILED));
        }
    };
    let left = end_what_was_left_before(change, &signals);
    let mut drive = match Driver::new(change, options, harness, &version, &signals) {
        Err(error) if error.is::<Taken>() => {
            tell_error(&error);
            return Ok(ExitCode::from(exit::TAKEN));
        }
        drive => drive?,
    };
    drive.greet(&version);
    let checks = pinned::shown(
        &drive.options.checks,
        "the settings and the command line",
        &VerifyCommands::new(),
        "",
    );
    if !checks.is_empty() {
        drive.screen.tell("armed", checks.trim_end(), serde_json::json!({}));
    }
    let pinned = pin::pin(change);
    if let Some((_, words)) = &pinned {
        drive.screen.tell("armed", words, serde_json::json!({}));
    }
    if let Some(words) = left {
        drive.screen.warn(&words);
    }
    drive.settle_unfinished();
    let end = drive.go();
    if let Err(error) = &end {
        drive.give_up(error);
    }
    drive.screen.close();
    end.map(ExitCode::from)
}

/// Shows why no loop begins.
fn tell_error(error: &anyhow::Error) {
    let style = crate::style::BAD;
    errln!("{}error{}: {error:#}", style.render(), style.render_reset());
}

/// Waits until the tree of a runner that was killed has ended: two agents would work on the same files, and
/// what the first one still commits would be found in no iteration, or in the wrong one. What somebody has
/// left alive who killed the supervisor as well is ended; returns a line on it, `None` for nothing.
fn end_what_was_left_before(change: &Change, signals: &Signals) -> Option<String> {
    let folder = state_folder(&change.root, &change.id);
    let (before, _) = read_state(&folder).ok()??;
    if before.status.is_over() || !matches!(holder(&folder), Ok(None)) {
        return None;
    }
    let waited = Stopwatch::start();
    while waited.elapsed() < ORPHANS && process::has_supervisor(before.pid) {
        if signals.wait(LOOK / 2).is_some() {
            return None;
        }
    }
    // Its number may be another process's by now.
    if before.pid == 0 || before.pid == std::process::id() || world::is_alive(before.pid) {
        return None;
    }
    let rest = family::end_marked(world::RUNNER, &before.pid.to_string());
    let counted = |ids: usize| match ids {
        1 => "1 process".to_owned(),
        ids => format!("{ids} processes"),
    };
    match (rest.ended.len(), rest.alive.len()) {
        (0, _) => None,
        (ended, 0) => Some(format!(
            "{} that a killed runner (process {}) had left were ended",
            counted(ended),
            before.pid
        )),
        (_, alive) => Some(format!(
            "{} that a killed runner (process {}) had left cannot be ended",
            counted(alive),
            before.pid
        )),
    }
}

struct Driver<'a> {
    change: &'a Change,
    options: &'a Options,
    harness: Box<dyn Harness>,
    contract: Contract,
    done: DoneCriteria,
    books: Books,
    requests: Requests,
    signals: &'a Signals,
    screen: Screen,
    git: Option<Git>,
    /// The repository at the start of the iteration.
    moment: Moment,
    /// The repository when it was last looked at.
    latest: Moment,
    tasks: Option<Tasks>,
    counter: Counter,
    /// Where `wt-usage` is, `None` for nowhere.
    usage: Option<PathBuf>,
    /// The program that stands between the runner and what it starts.
    supervisor: PathBuf,
    clock: Stopwatch,
    /// A number for the files as the work left them: it stands still while nothing but ignored files changes.
    visible: u64,
    /// All files that were changed since the start.
    touched: BTreeSet<PathBuf>,
    /// Files that should have been committed, and could not be.
    uncommitted: BTreeSet<PathBuf>,
    /// Files that an interrupted iteration of this run changed.
    interrupted: Vec<PathBuf>,
    /// The tasks that were open at the start, by id.
    open_at_start: Vec<String>,
    /// What is checked out, as far as it tells of work: a commit without any file of it does not count.
    head: Option<String>,
    /// Whether the commits of this iteration, when there are any, hold work.
    worked: bool,
    /// Whether any of the tokens were estimated.
    estimated: bool,
    /// All commits since the start.
    commits_made: u64,
    missing: Vec<Shortfall>,
    remarks: Vec<String>,
    /// Usage limits in a row.
    limits_in_a_row: u32,
    /// All boxes that were ticked since the start.
    ticked: usize,
}

/// What is to be done after an iteration.
enum Next {
    /// The next one, after a pause.
    On(Duration),
    /// Wait until a usage limit is lifted.
    Until(Option<u64>),
    /// Nothing.
    Over(TerminalReason),
}

/// One run of the agent program, with what came of it.
struct AgentRun {
    report: Report,
    ended: ProcessOutcome,
    asked: Option<Asked>,
    lasted: Duration,
}

impl<'a> Driver<'a> {
    fn new(
        change: &'a Change,
        options: &'a Options,
        harness: Box<dyn Harness>,
        version: &str,
        signals: &'a Signals,
    ) -> Result<Self> {
        let tasks = Tasks::of(change);
        let done = done_criteria(options, tasks.is_some());
        let contract = options.contract(done);
        let git = git_of(change, options, signals);
        let state = LoopState {
            change_id: change.id.clone(),
            worktree_name: change.id.clone(),
            max_iterations: options.max_iterations.unwrap_or(0),
            task: options.task.clone(),
            done_criteria: done,
            stall_threshold: options.stall_threshold,
            iteration_timeout_min: options
                .iteration_timeout
                .map_or(0.0, |limit| limit.as_secs_f64() / 60.0),
            harness: harness.name().to_owned(),
            harness_version: version.to_owned(),
            model: options.model.clone().unwrap_or_default(),
            module: change.module.clone().unwrap_or_default(),
            pid: std::process::id(),
            doing: "starting".to_owned(),
            ..LoopState::default()
        };
        let commits = |head: &str| git.iter().flat_map(|git| git.commits_on_top_of(head)).collect();
        let books = Books::open_with(change, state, commits)?;
        let screen = Screen::new(&change.id, options.shown, options.form);
        let files = Files::of(&change.worktree, git.as_ref());
        let mut drive = Self {
            requests: books.requests(),
            moment: Moment::default(),
            latest: git.as_ref().map(|git| git.moment(None)).unwrap_or_default(),
            usage: find(tokens::USAGE),
            supervisor: process::own_program().context("the running program cannot be found")?,
            tasks: tasks.filter(|_| done == DoneCriteria::Tasks),
            clock: Stopwatch::start(),
            visible: files.hash(),
            counter: Counter::default(),
            touched: BTreeSet::new(),
            missing: Vec::new(),
            remarks: Vec::new(),
            ticked: 0,
            uncommitted: BTreeSet::new(),
            interrupted: Vec::new(),
            open_at_start: Vec::new(),
            head: None,
            worked: false,
            estimated: false,
            commits_made: 0,
            limits_in_a_row: 0,
            change,
            options,
            harness,
            contract,
            done,
            books,
            signals,
            screen,
            git,
        };
        drive.head.clone_from(&drive.latest.head);
        if let Some(tasks) = &mut drive.tasks
            && let Work::List { open, .. } = tasks.look().work
        {
            drive.open_at_start = open;
        }
        // What stands there at the start is no progress of the first iteration.
        drive.books.state.ledger =
            Ledger { fingerprint: Some(drive.fingerprint(files.blind)), ..Ledger::default() };
        drive.books.save()?;
        Ok(drive)
    }

    /// Goes round until the end and returns its exit code.
    fn go(&mut self) -> Result<u8> {
        loop {
            if let Some(asked) = self.wait_while_paused()? {
                return self.stop(asked);
            }
            if let Some(reason) = self.time_is_up() {
                return self.finish(&reason, None);
            }
            let next = self.iteration()?;
            let asked = match next {
                Next::Over(reason) => return self.finish(&reason, self.signals.asked()),
                Next::On(pause) if pause.is_zero() => None,
                Next::On(pause) => self.rest(pause, "a pause after a failed run")?,
                Next::Until(resets_at) => {
                    let words = "the usage limit";
                    let pause = limit_pause(resets_at.map(until), self.limits_in_a_row);
                    self.rest(pause, words)?
                }
            };
            if let Some(asked) = asked {
                return self.stop(asked);
            }
        }
    }

    /// The end of a loop whose time a wait or a pause has used up: no agent is started for nothing.
    fn time_is_up(&mut self) -> Option<TerminalReason> {
        let reason = engine::time_is_up(&self.contract, self.clock.elapsed().as_secs())?;
        self.books.state.ledger.ended = Some(reason.clone());
        Some(reason)
    }

    fn after(&mut self, verdict: Verdict, ran: &AgentRun) -> Next {
        let waits = matches!(verdict, Verdict::Wait(_));
        self.limits_in_a_row = if waits { self.limits_in_a_row.saturating_add(1) } else { 0 };
        match verdict {
            Verdict::End(reason) => Next::Over(reason),
            Verdict::Wait(_) => Next::Until(match &ran.report.outcome {
                Outcome::UsageLimit { resets_at, .. } => *resets_at,
                _ => None,
            }),
            Verdict::Continue(_) => match &ran.report.outcome {
                // A run that failed and got the work further counts as none in a row, and rests all the same.
                Outcome::Failed(_) | Outcome::Lasting(_) => {
                    let times = self.books.state.ledger.failures.max(1);
                    Next::On(doubled(self.options.retry_pause, times))
                }
                _ => Next::On(Duration::ZERO),
            },
        }
    }

    /// Ends the loop between two iterations, because a person wants it.
    fn stop(&mut self, asked: Asked) -> Result<u8> {
        let seen = Observation { demand: Some(Demand::Stopped), ..Observation::default() };
        let reason =
            engine::ends(&self.books.state.ledger, &seen).unwrap_or(TerminalReason::Stopped);
        // No iteration was run for this verdict: nothing is counted.
        self.books.state.ledger.ended = Some(reason.clone());
        let signal = match asked {
            Asked::Signal(signal) => Some(signal),
            Asked::Stop => None,
        };
        self.finish(&reason, signal)
    }

    /// Writes the end down, says it, and returns its exit code.
    fn finish(&mut self, reason: &TerminalReason, signal: Option<i32>) -> Result<u8> {
        let doubts = self.doubts(reason);
        let is_doubted = self.options.doubted == Doubted::Fails && !doubts.is_empty();
        let code = match exit::exit_code(reason, signal) {
            0 if is_doubted => exit::DOUBTED,
            code => code,
        };
        let status = exit::status(reason);
        let words = exit::words(reason, signal);
        let state = &mut self.books.state;
        state.status = status;
        reason.name().clone_into(&mut state.reason);
        state.words.clone_from(&words);
        state.ended_at = iso(world::now());
        state.exit_code = Some(code);
        state.doing.clear();
        let saved = self.books.save();
        let noted = self.books.note(&Entry {
            at: world::now(),
            event: JournalEvent::Ended,
            about: self.change.id.clone(),
            iteration: self.books.state.current_iteration,
            task: self.tasks_line(),
            reason: EndName::of(reason),
            words: [&[words], &doubts[..]].concat().join("; "),
            ..Entry::default()
        });
        self.requests.clear_stop();
        self.screen.title(&status.word());
        self.summary(reason, code, &doubts);
        // The end is told in any case, also where it cannot be written down.
        saved.and(noted).map(|()| code)
    }

    /// Puts down why the runner cannot go on; the books write it when they are closed.
    fn give_up(&mut self, error: &anyhow::Error) {
        let state = &mut self.books.state;
        if !state.status.is_over() {
            TerminalReason::Stopped.name().clone_into(&mut state.reason);
            state.words = format!("{error:#}");
            state.exit_code = Some(exit::FAILURE);
            self.screen.title(&crate::runner::state::Status::Stopped.word());
        }
    }
}

/// The repository of a change, whose questions end with the loop's time, by a signal, and by `spool stop`.
fn git_of(change: &Change, options: &Options, signals: &Signals) -> Option<Git> {
    let requests = Requests::of(&state_folder(&change.root, &change.id));
    let signaled = signals.any();
    let interrupt =
        move || signaled.load(Ordering::Relaxed) || requests.pending() == Some(Request::Stop);
    Git::within(&change.worktree, options.max_runtime.map(Deadline::after), Box::new(interrupt))
}

/// What counts as done: what was asked for, or else the list where there is one (spec 001).
fn done_criteria(options: &Options, has_list: bool) -> DoneCriteria {
    match options.done {
        Some(done) => done,
        None if has_list => DoneCriteria::Tasks,
        None => DoneCriteria::Manual,
    }
}
