//! The loop: gather, ask the engine, carry out.

mod agents;
mod between;
mod caveats;
mod commits;
mod cut_off;
mod ending;
mod iteration;
mod judge;
mod left;
mod notices;
mod parts;
mod plan;
mod proof;
mod ticks;
mod work_tree;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::engine::{self, Converging, Demand, RunSign, TerminalReason, ended_by};
use crate::exec::family;
use crate::feature::{PROGRESS, STATE};
use crate::forms::events::RunnerEvent;
use crate::forms::loops::LoopCheck;
use crate::print;
use crate::runner::console::EndRequest;
use crate::runner::options::{Options, time_in_words};
use crate::runner::screen::lasted;
use crate::runner::signals::Signals;
use crate::runner::state::{
    LockTaken, PAUSED, holder, read_state, readable, state_folder, time_of,
};
use crate::runner::target::Change;
use crate::runner::task_list::is_in_place;
use crate::runner::{exit, process};
use crate::session::arm::exclude::keep_out;
use crate::session::pinned;
use crate::store::loops::VerifyCommands;
use crate::system::processes;
use crate::text;
use crate::world::{self, Stopwatch, WallTime};
use agents::{LONGEST_LIMIT, limit_pause, until};
use between::Next;
use parts::{Driver, LOOK};
use plan::Plan;

/// The time in which the supervisor of a killed runner ends its tree, with some room.
const ORPHANS: Duration = Duration::from_secs(10);

/// Drives a change's loop to its end; the result is that end's exit code.
///
/// An error means that the loop did not begin, or that its state can no longer be written.
pub fn run(change: &Change, options: &Options) -> Result<ExitCode> {
    let signals = Signals::listen().context("signals cannot be listened to")?;
    let seats = match between::seats(options) {
        Ok(seats) => seats,
        Err(why) => {
            print::error(&why);
            return Ok(ExitCode::from(exit::HARNESS_FAILED));
        }
    };
    let left = end_what_was_left_before(change, &signals);
    let plan = Plan::of(change, options);
    let mut driver = match Driver::new(&plan, seats, &signals) {
        Err(error) if error.is::<LockTaken>() => {
            print::error(&error);
            return Ok(ExitCode::from(exit::TAKEN));
        }
        driver => driver?,
    };
    driver.keep_awake();
    driver.greet();
    driver.count_on()?;
    keep_out(&change.folder, &[STATE, PROGRESS]);
    keep_out(&change.worktree.join(".claude"), &["loop-state.json"]);
    let checks = pinned::shown(&options.checks, options.checks_from, &VerifyCommands::new(), "");
    let notify = pinned::shown_notice(&options.settings.notify(), "your settings");
    let converge = options.spec_kit.converge.as_ref().map_or_else(String::new, |command| {
        let most = Converging::MOST;
        format!("spec-kit's converge command, in an iteration of its own before the end, at most {most} times:\n  {}\n", command.file)
    });
    let checks = checks + &converge + &notify;
    if !checks.is_empty() {
        let checks_in_force = driver.plan.options.checks.iter().map(LoopCheck::from).collect();
        let event = RunnerEvent::Armed { checks: checks_in_force };
        driver.console.screen.report(event, checks.trim_end());
    }
    if let Some(git) = &driver.tree.git {
        git.remove_leftovers();
    }
    driver.tree.tidy_list();
    // The list as it was left, with its boxes.
    driver.settle_unfinished();
    let left_run = driver.tree.left_run().inspect_err(|error| driver.give_up(error))?;
    let began = time_of(&driver.files.state.started_at).unwrap_or_default();
    let began = left_run.as_ref().map_or(began, |left| left.run.began_at);
    let pinned = left::pin(change, options, left_run.as_ref(), began);
    driver.pin_specification();
    driver.begin_proofs(pinned.as_ref(), left_run, began);
    driver.warn_of_list();
    let words = pinned.as_ref().map(|pin| pin.words.as_str());
    let behind = driver.proofs.armed_lines();
    let words: Vec<&str> =
        words.into_iter().chain([behind.trim_end()]).filter(|line| !line.is_empty()).collect();
    if !words.is_empty() {
        let event = RunnerEvent::Armed { checks: Vec::new() };
        driver.console.screen.report(event, &words.join("\n"));
    }
    if let Some(words) = left {
        driver.console.screen.warn(&words);
    }
    driver.say_if_it_may_sleep();
    let end = driver.until_the_end();
    match &end {
        Ok(_) => driver.leave_run(),
        Err(error) => {
            driver.proofs.keep_stop(&driver.tree, &driver.console.screen);
            driver.give_up(error);
        }
    }
    driver.console.screen.close();
    end.map(ExitCode::from)
}

/// Waits for the end of a killed runner's tree: two agents would work on the same files, and a late commit of the first
/// would count for no iteration, or for a wrong one. If the supervisor was killed, too, ends the rest of the tree and
/// returns a line about that.
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
    // The process number may be another process's by now.
    if before.pid == 0 || before.pid == std::process::id() || processes::is_alive(before.pid) {
        return None;
    }
    let rest = family::end_marked(world::RUNNER, &before.pid.to_string());
    let (count, what) = match (rest.ended.len(), rest.alive.len()) {
        (0, _) => return None,
        (ended, 0) => (ended, "were ended"),
        (_, alive) => (alive, "cannot be ended"),
    };
    let processes = text::counted_as(count, "process", "processes");
    Some(format!("{processes} that a killed runner (process {}) had left {what}", before.pid))
}

impl Driver<'_> {
    /// Runs the loop to its end, and returns the exit code.
    fn until_the_end(&mut self) -> Result<u8> {
        match self.one_after_the_other() {
            Err(_) if self.files.full_disk().is_some() => {
                self.finish(&ended_by(&Demand::Stopped), None)
            }
            Err(error) => match self.project_is_gone() {
                Some(reason) => self.finish(&reason, None),
                // Another runner has come, or a link leads elsewhere: nothing is written there.
                None if self.files.put_back().is_err() => Err(error),
                None => {
                    self.totals.trouble = Some(format!("{error:#}").replace('\n', "; "));
                    self.finish(&ended_by(&Demand::Stopped), None).and(Err(error))
                }
            },
            end => end,
        }
    }

    fn one_after_the_other(&mut self) -> Result<u8> {
        loop {
            self.files.has_room()?;
            if self.pause()?.is_some() {
                return self.stop();
            }
            // A wait, a pause or an earlier run may have used up a limit: then no agent is started.
            let (ledger, elapsed) = (&self.files.state.ledger, self.files.elapsed().as_secs());
            let is_up = engine::limit_is_up(&self.plan.contract, ledger, elapsed);
            let is_over = is_up.or_else(|| self.project_is_gone());
            if let Some(reason) = is_over.or_else(|| self.change_is_gone()) {
                return self.finish(&reason, None);
            }
            self.say_if_it_may_sleep();
            self.choose_agent();
            let next = self.iteration()?;
            if !matches!(&next, Next::End(reason) if *reason != TerminalReason::Stopped) {
                self.files.has_room()?;
            }
            let request = match next {
                Next::End(reason) => {
                    return self.finish(&reason, self.console.signals.asked());
                }
                Next::Iteration(pause) if pause.is_zero() || self.agents.another_goes_on() => None,
                Next::Iteration(pause) => self.rest(pause, "a pause after a failed run")?,
                Next::Limit(resets_at) => {
                    let limit = self.agents.at_limit(resets_at);
                    if let Some(reason) = self.wait_for_limit(limit)? {
                        return self.finish(&reason, self.console.signals.asked());
                    }
                    None
                }
            };
            if request.is_some() {
                return self.stop();
            }
        }
    }

    /// The end of a loop without its project: the loop's own files are gone as well.
    pub(super) fn project_is_gone(&self) -> Option<TerminalReason> {
        let root = &self.plan.change.root;
        let is_gone = matches!(root.try_exists(), Ok(false)) || !is_in_place(root);
        is_gone.then(|| engine::project_is_gone(&root.display().to_string()))
    }

    /// The end of a loop whose change is gone: without the change, there is no task.
    fn change_is_gone(&self) -> Option<TerminalReason> {
        let change = self.plan.change;
        let document = change.folder.join(change.primary());
        let shown = || change.folder.display().to_string();
        if !change.folder.is_dir() {
            return (!document.exists()).then(|| engine::change_is_gone(&shown()));
        }
        (!is_in_place(&change.folder)).then(|| engine::change_is_a_link(&shown()))
    }

    fn pause(&mut self) -> Result<Option<EndRequest>> {
        let words = format!(
            "ralph: paused; `spool resume --change {}` resumes it, `spool stop` ends it",
            self.plan.change.id
        );
        self.wait_while_paused(PAUSED, &words)
    }

    /// Waits until this usage limit is lifted, and while a person wants a pause. The result ends the loop.
    fn wait_for_limit(
        &mut self,
        limit: Option<(Option<u64>, Duration)>,
    ) -> Result<Option<TerminalReason>> {
        // A run that met a usage limit has used tokens, too.
        let is_up = engine::budget_is_up(&self.plan.contract, &self.files.state.ledger);
        let Some((resets_at, pause)) = limit.filter(|_| is_up.is_none()) else { return Ok(is_up) };
        if let Some(reason) = self.waits_too_long(resets_at, pause) {
            return Ok(Some(reason));
        }
        let request = self.rest_at_limit(resets_at, pause)?;
        let request = if request.is_none() { self.pause()? } else { request };
        Ok(request.map(|_| ended_by(&Demand::Stopped)))
    }

    /// Waits until the usage limit of the reader is lifted. The result ends the loop.
    fn wait_for_reader(&mut self) -> Result<Option<TerminalReason>> {
        self.agents.ended(RunSign::Limited);
        let resets_at = self.reader_resets_at();
        let limit = if self.worker_reads() {
            self.agents.at_limit(resets_at)
        } else {
            let times = self.agents.lineup.rest(self.agents.current).limits;
            Some((resets_at, limit_pause(resets_at.map(until), times)))
        };
        let end = self.wait_for_limit(limit)?;
        self.choose_agent();
        Ok(end)
    }

    /// The end by a usage limit that is lifted too late.
    fn waits_too_long(&mut self, at: Option<u64>, pause: Duration) -> Option<TerminalReason> {
        let limit = match self.plan.options.most_wait()? {
            Duration::ZERO => "not given".to_owned(),
            most => time_in_words(most),
        };
        let waited = self.agents.waited;
        self.agents.waited = waited.saturating_add(pause);
        let when = match at.filter(|at| until(*at) <= LONGEST_LIMIT && !until(*at).is_zero()) {
            Some(at) => {
                format!("the usage limit is lifted at {}", readable(WallTime::from_seconds(at)))
            }
            None if waited.is_zero() => "nothing tells when the usage limit is lifted".to_owned(),
            None => format!(
                "nothing tells when the usage limit is lifted, and the loop has waited {} so far",
                lasted(waited)
            ),
        };
        let words = format!("{when}; --max-limit-wait is {limit}");
        let seconds = self.agents.waited.as_secs();
        engine::waits_too_long(&self.plan.contract, seconds, &words)
    }
}
