//! Stops the tree while Ctrl-Z or SIGSTOP has stopped the runner, which then reads no output and keeps no limit.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Signal, getppid};

use crate::exec::tree::{self, Process};
use crate::world::Deadline;

/// How often to look whether the runner is stopped. Elsewhere another program has to tell, which takes a while.
const LOOK: Duration = Duration::from_secs(if cfg!(target_os = "linux") { 1 } else { 5 });
/// How often to look whether the runner continues.
const LOOK_WHILE_HELD: Duration =
    Duration::from_millis(if cfg!(target_os = "linux") { 100 } else { 500 });
/// How often in a row a tree is searched: a process may have just started another one.
const ROUNDS: usize = 10;

/// Picks a tree out of all processes.
pub type Members<'a> = dyn Fn(&[Process]) -> BTreeSet<i32> + 'a;

/// The stopped processes of a tree; the default stops none.
#[derive(Default)]
pub struct Hold {
    /// `None` once the tree no longer stops with the runner.
    runner: Option<i32>,
    /// Processes that were stopped here, parents first; `None` while the tree runs.
    held: Option<Vec<i32>>,
    next: Option<Deadline>,
}

impl Hold {
    /// The runner is the parent of this process.
    pub fn with_runner() -> Self {
        let runner = getppid().map(|id| id.as_raw_nonzero().get());
        Self { runner, held: None, next: runner.map(|_| Deadline::after(LOOK)) }
    }

    /// The next look at the runner; `None` for never.
    pub fn next_look(&self) -> Option<Deadline> {
        self.next
    }

    /// Looks at the runner if it is time, and stops or continues the tree.
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

    /// Continues the tree, and never stops it again.
    pub fn end(&mut self, members: &Members<'_>) {
        (self.runner, self.next) = (None, None);
        self.let_go(members);
    }

    fn let_go(&mut self, members: &Members<'_>) {
        let Some(held) = self.held.take() else { return };
        // Another process may have the id by now.
        let members = members(&tree::all());
        tree::signal(held.iter().rev().filter(|id| members.contains(*id)), Signal::CONT);
    }
}

/// Stops the tree and lists it. Parents stop first, so that none of them notices a stopped child.
fn stop(members: &Members<'_>) -> Vec<i32> {
    let mut held = Vec::new();
    for _ in 0..ROUNDS {
        let all = tree::all();
        // Somebody else stopped these, and continues them.
        let is_stopped = |id: &i32| all.iter().any(|process| process.id == *id && process.stopped);
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
