//! The parts of a loop.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;

use super::agents::{AgentSeat, Agents};
use super::cut_off::{count_cut_off, name_cut_off_files, review_of_cut_off};
use super::plan::Plan;
use super::ticks::TickProofs;
use super::work_tree::WorkTree;
use crate::engine::Shortfall;
use crate::runner::console::Console;
use crate::runner::git::Git;
use crate::runner::inhibitor::Inhibitor;
use crate::runner::options::DoneWhen;
use crate::runner::requests::{Requests, RunnerRequest};
use crate::runner::screen::Screen;
use crate::runner::signals::Signals;
use crate::runner::state::{Iteration, LoopState, StateFiles, state_folder};
use crate::runner::task_list::Tasks;
use crate::world::Deadline;

/// The interval in which a waiting loop looks for signals and requests.
pub const LOOK: Duration = Duration::from_millis(100);

/// A loop of the runner.
pub struct Driver<'a> {
    pub plan: &'a Plan<'a>,
    /// The state files.
    pub files: StateFiles,
    /// The person's side.
    pub console: Console<'a>,
    pub agents: Agents,
    /// The work tree, and the changes in it.
    pub tree: WorkTree<'a>,
    /// Totals so far.
    pub totals: RunTotals,
    pub feedback: Feedback,
    /// Judges the ticks.
    pub proofs: TickProofs,
    /// Keeps the machine awake.
    pub inhibitor: Option<Inhibitor>,
}

/// Totals since the start.
#[derive(Default)]
pub struct RunTotals {
    /// Ticked boxes.
    pub ticked: usize,
    /// The end's words in the journal entry of the last iteration; empty before the end.
    pub journaled_end: String,
    /// The error that ends the loop, on one line.
    pub trouble: Option<String>,
}

/// Feedback on the last iteration, for the next prompt.
#[derive(Default)]
pub struct Feedback {
    /// Missing at the end of the iteration.
    pub missing: Vec<Shortfall>,
    /// Other remarks for the agent, a sentence each.
    pub remarks: Vec<String>,
}

impl<'a> Driver<'a> {
    /// Locks the change and writes the state down; an error means that the loop cannot begin.
    pub fn new(plan: &'a Plan<'a>, seats: Vec<AgentSeat>, signals: &'a Signals) -> Result<Self> {
        let (change, options) = (plan.change, plan.options);
        let tasks = Tasks::of(change, options.settings.include_optional());
        // The loop's time, a signal and `spool stop` end these questions to git.
        let requests = Requests::of(&state_folder(&change.root, &change.id));
        let signaled = signals.any();
        let interrupt = move || {
            signaled.load(Ordering::Relaxed) || requests.pending() == Some(RunnerRequest::Stop)
        };
        let time = options.max_runtime.map(Deadline::after);
        let (git, unread) = match Git::within(&change.worktree, time, Box::new(interrupt)) {
            Ok(git) => (git, None),
            Err(unread) => (None, Some(unread)),
        };
        let complete = |left: &mut Iteration, state: &LoopState| {
            let folder = state_folder(&change.root, &change.id);
            let review = review_of_cut_off(left, state, &folder, &options.prices);
            if left.ended.is_some() {
                return review;
            }
            let head = left.head_at_start.as_str();
            if !head.is_empty() {
                left.commits = git.iter().flat_map(|git| git.commits_on_top_of(head)).collect();
            }
            name_cut_off_files(left, git.as_ref(), &change.worktree);
            count_cut_off(left, &folder, &options.prices);
            review
        };
        let first = plan.first_state(&seats[0]);
        let files = StateFiles::open_with(change, first, options.counting, complete)?;
        let mut driver = Self {
            console: Console {
                screen: Screen::new((&change.id, &change.root), options.shown, options.form),
                signals,
                requests: Requests::of(&files.folder),
                noticed: Cell::default(),
            },
            agents: Agents::new(seats)?,
            tree: WorkTree::of(plan, (git, unread), tasks.filter(|_| plan.done == DoneWhen::Tasks)),
            totals: RunTotals::default(),
            feedback: Feedback::default(),
            proofs: TickProofs::default(),
            inhibitor: None,
            plan,
            files,
        };
        driver.tree.tasks.as_mut().map(Tasks::look);
        // The state at the start is no progress of the first iteration.
        driver.files.state.ledger.fingerprint = Some(driver.tree.fingerprint());
        driver.take_up_totals();
        driver.files.save()?;
        Ok(driver)
    }

    /// `None` for no limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.plan.options.max_runtime.map(|all| all.saturating_sub(self.files.elapsed()))
    }
}
