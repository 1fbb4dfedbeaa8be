//! A tree that stands still with its runner: one that is stopped, by Ctrl-Z or SIGSTOP, reads no output and keeps no limit.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Signal, getppid};

use crate::exec::tree::{self, Process};
use crate::world::Deadline;

/// How often it is looked whether the runner is stopped; where another program has to say so, that takes a while.
const LOOK: Duration = Duration::from_secs(if cfg!(target_os = "linux") { 1 } else { 5 });
/// How often it is looked whether the runner continues.
const LOOK_WHILE_HELD: Duration =
    Duration::from_millis(if cfg!(target_os = "linux") { 100 } else { 500 });
/// How often a tree is looked through in a row: what is about to be stopped may have just started something.
const ROUNDS: usize = 10;

/// Picks a tree out of all processes.
pub type Members<'a> = dyn Fn(&[Process]) -> BTreeSet<i32> + 'a;

/// What of a tree is stopped because its runner is; the default holds nothing and looks at nobody.
#[derive(Default)]
pub struct Hold {
    /// The runner, `None` once the tree is not held with it any more.
    runner: Option<i32>,
    /// What was stopped here, parents first; `None` while the tree is not held.
    held: Option<Vec<i32>>,
    next: Option<Deadline>,
}

impl Hold {
    /// Returns one that holds nothing yet; the runner is the parent of this process.
    pub fn with_runner() -> Self {
        let runner = getppid().map(|id| id.as_raw_nonzero().get());
        Self { runner, held: None, next: runner.map(|_| Deadline::after(LOOK)) }
    }

    /// Returns when the runner is to be looked at next, `None` for never.
    pub fn next_look(&self) -> Option<Deadline> {
        self.next
    }

    /// Looks at the runner where it is time to, and stops the tree or continues it.
    pub fn look(&mut self, members: &Members<'_>) {
        let is_due = self.next.is_some_and(|next| next.is_over());
        let Some(runner) = self.runner.filter(|_| is_due) else { return };
        let is_stopped = tree::is_stopped(runner);
        if !is_stopped {
            self.let_go(members);
        } else if self.held.is_none() {
            self.held = Some(stop(members));
        }
        self.next = Some(Deadline::after(if is_stopped { LOOK_WHILE_HELD } else { LOOK }));
    }

    /// Continues what is stopped here, and stops nothing any more.
    pub fn end(&mut self, members: &Members<'_>) {
        (self.runner, self.next) = (None, None);
        self.let_go(members);
    }

    fn let_go(&mut self, members: &Members<'_>) {
        let Some(held) = self.held.take() else { return };
        // A number may be another process's by now.
        let members = members(&tree::all());
        tree::signal(held.iter().rev().filter(|id| members.contains(*id)), Signal::CONT);
    }
}

/// Stops a tree and returns what was stopped: parents first, so that none of them takes note of a child that is stopped.
fn stop(members: &Members<'_>) -> Vec<i32> {
    let mut held = Vec::new();
    for _ in 0..ROUNDS {
        let all = tree::all();
        // What somebody else has stopped is theirs to continue.
        let is_stopped = |id: &i32| all.iter().any(|it| it.id == *id && it.stopped);
        let mut new = members(&all);
        new.retain(|id| !held.contains(id) && !is_stopped(id));
        if new.is_empty() {
            break;
        }
        let new = tree::parents_first(&all, &new);
        tree::signal(&new, Signal::STOP);
        held.extend(new);
    }
    held
}
