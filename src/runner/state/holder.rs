//! Who runs a loop: the locks on a change and on a work tree, freed by the system when the runner dies.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use anyhow::Result;

use super::document::{MOST as STATE, parse};
use super::folder::{at, must_be_free_or_a_file};
use super::time::{readable, time_of};
use crate::feature::project::printable;
use crate::store::lock::Lock;
use crate::store::read::{self, Problem};
use crate::store::write::open_or_create;
use crate::system::processes;

/// How long to wait for a lock: one that only looks whether it is held has it for a moment.
const PATIENCE: Duration = Duration::from_millis(300);
/// The file in which the holder of a change writes itself down: the lock itself where others may read it while it is held.
const WORDS: &str = if cfg!(windows) { "holder.json" } else { LOCK };
/// The lock of a change, in its state folder.
const LOCK: &str = "lock";
/// The lock of a work tree, in its `.claude` folder, where no folder can be locked.
const FILE: &str = "loop-state.lock";
/// The most that is read of a lock's file, in bytes.
const MOST: u64 = 4096;

/// The runner that holds a lock, as it has written itself down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holder {
    /// Its process, 0 when it is not known.
    pub pid: u32,
    /// When it began, ISO 8601 with offset.
    pub since: String,
}

/// Why no second runner may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTaken {
    /// The change that the first one works on, empty when it is not known.
    pub change: String,
    /// What both want.
    pub both: Both,
    /// The first one.
    pub holder: Holder,
}

/// What two runners cannot have at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Both {
    /// The change.
    Change,
    /// The work tree.
    WorkTree,
}

impl std::error::Error for LockTaken {}

impl fmt::Display for LockTaken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = printable(&self.change);
        match self.both {
            Both::Change => write!(out, "a runner works on the change `{change}` already")?,
            Both::WorkTree if change.is_empty() => {
                write!(out, "a runner works in this work tree already")?;
            }
            Both::WorkTree => {
                write!(out, "a runner works in this work tree already, on the change `{change}`")?;
            }
        }
        if self.holder.pid > 0 {
            write!(out, ": process {}", self.holder.pid)?;
        }
        if let Some(since) = time_of(&self.holder.since) {
            write!(out, ", since {}", readable(since))?;
        }
        let stop = if change.is_empty() { String::new() } else { format!(" --change {change}") };
        write!(out, "\nend it with `spool stop{stop}`, or start this one in another git work tree")
    }
}

/// Takes the lock of a runner on its change, or says who has it.
pub(super) fn lock_change(folder: &Path, change: &str, since: &str) -> Result<Lock> {
    let path = folder.join(LOCK);
    must_be_free_or_a_file(&path)?;
    let lock = Lock::take(&path, PATIENCE).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => {
            let holder = written_holder(folder).unwrap_or_default();
            LockTaken { change: change.to_owned(), both: Both::Change, holder }.into()
        }
        _ => at(&path, &error),
    })?;
    // Written in place: a rename would leave the lock on a file that no name leads to.
    let holder = Holder { pid: std::process::id(), since: since.to_owned() };
    let line = serde_json::to_vec(&holder)?;
    let words = folder.join(WORDS);
    must_be_free_or_a_file(&words)?;
    open_or_create(&words, File::options().write(true).truncate(true))
        .and_then(|mut file| file.write_all(&line))
        .map_err(|error| at(&words, &error))?;
    Ok(lock)
}

/// Takes the lock of a runner on the `.claude` folder of its work tree; where another one has it, the error names whom the state
/// `document` names.
///
/// The folder itself is locked, so that no further file appears in it. A file system that locks no
/// folders (NFS, Windows) gets a file after all.
pub(super) fn lock_tree(claude: &Path, document: &Path) -> Result<Lock> {
    let lock = Lock::take_folder(claude, &claude.join(FILE), PATIENCE);
    lock.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => taken_tree(document).into(),
        _ => at(claude, &error),
    })
}

/// Whether what was locked in this folder, or the folder itself, is still there.
pub(super) fn is_locked(folder: &Path, lock: &Lock) -> bool {
    lock.is_on(folder) || [LOCK, FILE].iter().any(|name| lock.is_on(&folder.join(name)))
}

/// Who has the work tree, as far as `loop-state.json` says.
fn taken_tree(document: &Path) -> LockTaken {
    let state = read::read(document, STATE).ok().and_then(|content| parse(&content.bytes).ok());
    let state = state.map(|read| read.state).filter(|state| processes::is_alive(state.pid));
    let state = state.unwrap_or_default();
    let holder = Holder { pid: state.pid, since: state.started_at };
    LockTaken { change: state.change_id, both: Both::WorkTree, holder }
}

/// Returns who runs the loop of a change at the moment, `None` when nobody does; an error when the lock cannot
/// be opened, so that it is not known. Looks without waiting.
pub fn holder(folder: &Path) -> io::Result<Option<Holder>> {
    let path = folder.join(LOCK);
    let refused = |why: &dyn fmt::Display| {
        let path = path.display();
        io::Error::other(format!("`{path}`: {why}; whether a runner has it is not known"))
    };
    let file = match read::open(&path) {
        Ok((file, _)) => file,
        Err(Problem::Refused(why)) => return Err(refused(&why)),
        // Where no lock can be, nobody holds one.
        Err(_) => return Ok(None),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            written_holder(folder).map(Some).map_err(|problem| refused(&problem))
        }
        Err(TryLockError::Error(error)) => Err(refused(&error)),
    }
}

/// Who wrote itself down in a lock; nobody yet where it holds no such words.
fn written_holder(folder: &Path) -> std::result::Result<Holder, Problem> {
    let content = read::read(&folder.join(WORDS), MOST)?;
    Ok(serde_json::from_slice(&content.bytes).unwrap_or_default())
}
