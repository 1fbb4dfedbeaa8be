//! The state files on the disk, after every step, and after every kind of death.

mod deaths;
mod history;
mod killed;
mod people;
mod refused;
mod schema;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::engine::CheckResult;
use crate::runner::options::DoneWhen;
use crate::runner::requests::RunnerRequest;
use crate::runner::target::ChangeKind;
use crate::store::names::VerdictName;

const ID: &str = "002-01_add-ralph-loop";

/// A project with one change.
struct Desk {
    scratch: TempDir,
    change: Change,
}

/// The state files of a loop that counts from zero.
pub(in crate::runner) fn open_anew(change: &Change, state: LoopState) -> Result<StateFiles> {
    StateFiles::open_with(change, state, Counting::FromZero, |_, _| Spent::default())
}

impl Desk {
    fn new() -> Self {
        let scratch = TempDir::with_prefix("state-").unwrap();
        let root = scratch.path().canonicalize().unwrap().join("project");
        let folder = root.join(".spool/changes").join(ID);
        fs::create_dir_all(&folder).unwrap();
        let change = Change {
            id: ID.to_owned(),
            kind: ChangeKind::Spool,
            folder,
            worktree: root.clone(),
            root,
            module: Some("002".to_owned()),
        };
        Self { scratch, change }
    }

    fn open(&self) -> StateFiles {
        open_anew(&self.change, starting()).unwrap()
    }

    fn refused(&self) -> String {
        format!("{:#}", open_anew(&self.change, starting()).unwrap_err())
    }

    fn root(&self) -> &Path {
        &self.change.root
    }

    fn folder(&self) -> PathBuf {
        state_folder(self.root(), &self.change.id)
    }

    fn document_path(&self) -> PathBuf {
        self.root().join(".claude/loop-state.json")
    }

    fn document(&self) -> Value {
        serde_json::from_slice(&fs::read(self.document_path()).unwrap()).unwrap()
    }

    fn state(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder().join("state.json")).unwrap()).unwrap()
    }

    fn history(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder().join("history.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn journal(&self) -> Vec<Entry> {
        let text = fs::read(self.folder().join("journal.jsonl")).unwrap_or_default();
        journal::entries(&text).0
    }
}

fn starting() -> LoopState {
    LoopState {
        task: "Make it work".to_owned(),
        harness: "demo".to_owned(),
        max_iterations: 50,
        stall_threshold: 2,
        iteration_timeout_min: 45.0,
        ..LoopState::default()
    }
}

fn begun(n: u32) -> Iteration {
    Iteration {
        n,
        started: iso(world::now()),
        head_at_start: format!("head{n}"),
        ..Iteration::default()
    }
}

fn finished(n: u32) -> Iteration {
    Iteration {
        commits: vec![format!("{n:040x}")],
        tokens_used: 100,
        exit_code: Some(0),
        verdict: VerdictName::Continue,
        words: "2 tasks are open".to_owned(),
        ended: Some(iso(world::now())),
        ..begun(n)
    }
}

/// The runner dies as by SIGKILL: nothing is written any more, and the system frees the locks.
fn kill(mut files: StateFiles) {
    files.running = None;
    files.state.status = LoopStatus::Done;
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|iteration| iteration["n"].as_u64().unwrap()).collect()
}
