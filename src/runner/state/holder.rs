//! The holder of a loop: locks on a change and on a work tree, which the system frees when the runner dies.

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

/// The time to wait for a lock: a program that only looks holds the lock for a moment.
const PATIENCE: Duration = Duration::from_millis(300);
/// The file with the holder's note. On Windows it is beside the lock, because a held lock cannot be read there.
const WORDS: &str = if cfg!(windows) { "holder.json" } else { LOCK };
/// A change's lock, in its state folder.
const LOCK: &str = "lock";
/// A work tree's lock, in its `.claude` folder, if folders cannot be locked.
const FILE: &str = "loop-state.lock";
/// Bytes read of a lock's file.
const MOST: u64 = 4096;

/// The runner that holds a lock, by its own note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holder {
    /// Its process; 0 if unknown.
    pub pid: u32,
    /// Its beginning, ISO 8601 with offset.
    pub since: String,
}

/// The other runner that keeps this one from beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTaken {
    /// The first runner's change; empty if unknown.
    pub change: String,
    pub both: Both,
    /// The first runner.
    pub holder: Holder,
}

/// The thing that two runners cannot share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Both {
    Change,
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

/// An error says who has the lock.
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
    // Written in place: a rename would leave the lock on a file without a name.
    let holder = Holder { pid: std::process::id(), since: since.to_owned() };
    let line = serde_json::to_vec(&holder)?;
    let words = folder.join(WORDS);
    must_be_free_or_a_file(&words)?;
    open_or_create(&words, File::options().write(true).truncate(true))
        .and_then(|mut file| file.write_all(&line))
        .map_err(|error| at(&words, &error))?;
    Ok(lock)
}

/// Locks the `.claude` folder of a work tree. If another runner has the lock, the error names that runner by
/// `document`.
///
/// The folder itself is locked, to add no file to it. A file system without locks on folders (NFS, Windows) gets a lock
/// file.
pub(super) fn lock_tree(claude: &Path, document: &Path) -> Result<Lock> {
    let lock = Lock::take_folder(claude, &claude.join(FILE), PATIENCE);
    lock.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => taken_tree(document).into(),
        _ => at(claude, &error),
    })
}

/// The locked file or folder is still in place.
pub(super) fn is_locked(folder: &Path, lock: &Lock) -> bool {
    lock.is_on(folder) || [LOCK, FILE].iter().any(|name| lock.is_on(&folder.join(name)))
}

/// The holder of the work tree, by `loop-state.json`.
fn taken_tree(document: &Path) -> LockTaken {
    let state = read::read(document, STATE).ok().and_then(|content| parse(&content.bytes).ok());
    let state = state.map(|read| read.state).filter(|state| processes::is_alive(state.pid));
    let state = state.unwrap_or_default();
    let holder = Holder { pid: state.pid, since: state.started_at };
    LockTaken { change: state.change_id, both: Both::WorkTree, holder }
}

/// The runner of a change's loop now; `None` for none. A lock that cannot be opened is an error, because it may be
/// held. Never waits.
pub fn holder(folder: &Path) -> io::Result<Option<Holder>> {
    let path = folder.join(LOCK);
    let refused = |why: &dyn fmt::Display| {
        let path = path.display();
        io::Error::other(format!("`{path}`: {why}; whether a runner has it is not known"))
    };
    let file = match read::open(&path) {
        Ok((file, _)) => file,
        Err(Problem::Refused(why)) => return Err(refused(&why)),
        // If no lock can be there, no runner holds one.
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

/// The holder by its own note; unknown if the lock has no note yet.
fn written_holder(folder: &Path) -> std::result::Result<Holder, Problem> {
    let content = read::read(&folder.join(WORDS), MOST)?;
    Ok(serde_json::from_slice(&content.bytes).unwrap_or_default())
}
