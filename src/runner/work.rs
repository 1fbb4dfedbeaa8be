//! The task list of a change, from iteration to iteration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::target::Change;
use crate::engine::tasks::TaskList;
use crate::engine::{Tampered, Work, hash_of};
use crate::store::read::Problem;
use crate::store::settled::read_settled;
use crate::world::Deadline;

/// The name of a task list.
const TASKS: &str = "tasks.md";
/// The most that is read of a task list, in bytes.
const MOST: u64 = 4 << 20;
/// How long to wait for somebody who is writing it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A task list that a loop goes by.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// The file.
    pub path: PathBuf,
    open: BTreeMap<String, u64>,
    hash: u64,
}

/// What the list says after an iteration.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// The list as evidence.
    pub work: Work,
    /// Tasks that were open before and are ticked now, by id.
    pub ticked: Vec<String>,
    /// Tasks that were open before and are gone or reworded.
    pub tampered: Tampered,
    /// The first open task: id and title.
    pub next: Option<(String, String)>,
}

impl Tasks {
    /// Returns the list of a change: in its folder, or at the root of the work tree (spec 001);
    /// `None` where there is none.
    pub fn of(change: &Change) -> Option<Self> {
        let path = change.tasks()?;
        Some(Self { path, open: BTreeMap::new(), hash: 0 })
    }

    /// Reads the list and returns what it says, and what became of the tasks that were open before.
    pub fn look(&mut self) -> Looked {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let deadline = Deadline::after(PATIENCE);
        let bytes = match read_settled(folder, TASKS, MOST, deadline, |_| true) {
            Ok(content) => content.bytes,
            // A list that is gone is not done.
            Err(Problem::Missing) => {
                self.hash = 0;
                let work = Work::List { done: 0, open: Vec::new() };
                return Looked { work, ..Looked::default() };
            }
            Err(problem) => {
                let hash = hash_of(problem.to_string().as_bytes());
                self.hash = hash;
                return Looked { work: Work::Unreadable { hash }, ..Looked::default() };
            }
        };
        let list = TaskList::parse(&bytes);
        let done = |id: &&String| list.find(id).is_some_and(|task| task.done);
        let looked = Looked {
            work: Work::List {
                done: list.done(),
                open: list.open().map(|task| task.id.clone()).collect(),
            },
            ticked: self.open.keys().filter(done).cloned().collect(),
            tampered: list.tampered_since(&self.open),
            next: list.next().first().map(|task| (task.id.clone(), task.title.clone())),
        };
        self.open = list.open_by_text();
        self.hash = hash_of(&bytes);
        looked
    }

    /// Returns a hash of the list as it was last read.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}
