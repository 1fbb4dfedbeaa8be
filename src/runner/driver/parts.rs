//! What a loop is made of.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;

use super::agents::{AgentSeat, Agents};
use super::cut_off::{count_cut_off, review_of_cut_off};
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

/// How often a waiting loop looks for signals and requests.
pub const LOOK: Duration = Duration::from_millis(100);

/// A loop of the runner.
pub struct Driver<'a> {
    /// What it was asked for.
    pub plan: &'a Plan<'a>,
    /// What it writes down.
    pub files: StateFiles,
    /// The person's side of it.
    pub console: Console<'a>,
    /// The agent programs, and whose turn it is.
    pub agents: Agents,
    /// The work tree, and what changed in it.
    pub tree: WorkTree<'a>,
    /// What it came to so far.
    pub totals: RunTotals,
    /// What the next prompt says of the last iteration.
    pub feedback: Feedback,
    /// What the ticks of its tasks are judged by.
    pub proofs: TickProofs,
    /// What keeps the machine awake meanwhile, `None` for nothing.
    pub inhibitor: Option<Inhibitor>,
}

/// What a loop came to since its start.
#[derive(Default)]
pub struct RunTotals {
    /// The tasks that were open at the start, by id.
    pub open_at_start: Vec<String>,
    /// How many boxes were ticked.
    pub ticked: usize,
    /// Why the loop has ended, as the journal says it in the entry of the last iteration; empty before that.
    pub journaled_end: String,
}

/// What the next prompt says of the last iteration.
#[derive(Default)]
pub struct Feedback {
    /// What was missing at its end.
    pub missing: Vec<Shortfall>,
    /// What else the agent should know, a sentence each.
    pub remarks: Vec<String>,
}

impl<'a> Driver<'a> {
    /// Returns the loop of a change, locked and written down; an error when it cannot begin.
    pub fn new(plan: &'a Plan<'a>, seats: Vec<AgentSeat>, signals: &'a Signals) -> Result<Self> {
        let (change, options) = (plan.change, plan.options);
        let tasks = Tasks::of(change, options.include_optional);
        // Its questions end with the loop's time, by a signal, and by `spool stop`.
        let requests = Requests::of(&state_folder(&change.root, &change.id));
        let signaled = signals.any();
        let interrupt = move || {
            signaled.load(Ordering::Relaxed) || requests.pending() == Some(RunnerRequest::Stop)
        };
        let time = options.max_runtime.map(Deadline::after);
        let git = Git::within(&change.worktree, time, Box::new(interrupt));
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
            count_cut_off(left, &folder, &options.prices);
            review
        };
        let first = plan.first_state(&seats[0]);
        let files = StateFiles::open_with(change, first, options.counting, complete)?;
        let mut driver = Self {
            console: Console {
                screen: Screen::new((&change.id, &change.root), options.shown, options.form),
                signals,
                requests: files.requests(),
                noticed: Cell::default(),
            },
            agents: Agents::new(seats)?,
            tree: WorkTree::of(plan, git, tasks.filter(|_| plan.done == DoneWhen::Tasks)),
            totals: RunTotals::default(),
            feedback: Feedback::default(),
            proofs: TickProofs::default(),
            inhibitor: None,
            plan,
            files,
        };
        if let Some(tasks) = &mut driver.tree.tasks {
            driver.totals.open_at_start = tasks.look().open;
        }
        // What is there at the start is no progress of the first iteration.
        driver.files.state.ledger.fingerprint = Some(driver.tree.fingerprint());
        driver.take_up_totals();
        driver.files.save()?;
        Ok(driver)
    }

    /// Returns how long the loop may still take, `None` for no limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.plan.options.max_runtime.map(|all| all.saturating_sub(self.files.elapsed()))
    }
}
