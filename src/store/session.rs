//! The folder of one session: its record, its open tasks and its journal, locked against other hooks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::claim::read_claim;
use super::journal::{self, Entry};
use super::lock::Lock;
use super::names::LoopKind;
use super::notes::{
    MOST, NotLoaded, VERSION, in_file, is_session_id, load, load_whole, put_aside, read_ours, save,
    taken_apart,
};
use super::read::below;
use super::record::Record;
use super::write::{Flush, write_private_parts};
use crate::system::files;
use crate::world::FileTime;

/// The name of the file with a session's record.
pub const RECORD: &str = "loop.json";
/// The name of the file with a session's open tasks.
pub const OPEN_TASKS: &str = "open-tasks.txt";
/// The most that is read of the open tasks of a list, in bytes: more than the longest list takes.
pub(super) const MOST_NOTED: u64 = 64 << 20;

/// The open tasks of a list, as [`TaskList::open_lines`](crate::engine::tasks::TaskList::open_lines) has them.
pub type OpenTasks = String;

/// What the file of the open tasks begins with: its version.
const NOTED: &str = "1\n";

/// The record that was read last, with its bytes: the same bytes are not taken apart twice at one stop, which
/// reads its record without the lock and under it.
pub(super) type LastRead = Arc<Mutex<Option<(Vec<u8>, Record)>>>;

/// The folder of one session, locked against other hooks of the same session.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    last: LastRead,
    _lock: Lock,
}

impl Session {
    /// Returns the folder of a session that was locked with this lock.
    pub(super) fn new(folder: PathBuf, last: LastRead, lock: Lock) -> Self {
        Self { folder, last, _lock: lock }
    }

    /// Returns the session's record; a broken one is moved aside and counts as none. One that cannot be
    /// opened is an error: it may be as good as ever.
    pub fn record(&self) -> io::Result<Option<Record>> {
        let path = below(&self.folder, &[RECORD]);
        let loops = self.folder.parent().unwrap_or(&self.folder);
        match load_record(&path, &self.last) {
            Ok(record) => record.map_or(Ok(None), |record| arrived(loops, record)),
            Err(NotLoaded::Broken) => put_aside(&path).map(|_| None),
            Err(NotLoaded::Unopened(error)) => Err(error),
        }
    }

    /// Returns the session's record for somebody who knows from elsewhere that the loop is here: also one that
    /// was written for a loop that had not left its session yet.
    pub fn record_as_it_is(&self) -> Option<Record> {
        let mut record: Record = load(&self.folder.join("loop.json")).ok().flatten()?;
        if let Some(adopted) = record.adopted.as_mut() {
            adopted.arriving = false;
        }
        Some(record)
    }

    /// Writes the record whole.
    pub fn save(&self, record: &Record) -> io::Result<()> {
        save(&below(&self.folder, &[RECORD]), &Record { version: VERSION, ..record.clone() })
    }

    /// Returns the open tasks as they were last noted, none when what is there is broken; an error when it
    /// cannot be opened.
    pub fn open_tasks(&self) -> io::Result<OpenTasks> {
        let noted = read_ours(&self.path(OPEN_TASKS), MOST_NOTED).or_else(NotLoaded::or_none)?;
        let noted = String::from_utf8(noted.unwrap_or_default()).unwrap_or_default();
        Ok(noted.strip_prefix(NOTED).unwrap_or_default().to_owned())
    }

    /// Notes the open tasks, so that one that is taken out of the list is noticed.
    pub fn save_open_tasks(&self, tasks: &str) -> io::Result<()> {
        let (path, parts) = (self.path(OPEN_TASKS), [NOTED.as_bytes(), tasks.as_bytes()]);
        write_private_parts(&path, &parts, Flush::ToSystem).map_err(|error| in_file(&path, &error))
    }

    /// Returns the path of a file of the session's own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns when the record was written last, by the clock of the files; `None` where that is not
    /// known.
    pub fn written_at(&self) -> Option<FileTime> {
        changed_at(&below(&self.folder, &[RECORD]))
    }

    /// Appends to the session's journal.
    pub fn note(&self, entry: &Entry) -> io::Result<()> {
        let path = self.folder.join("journal.jsonl");
        journal::append(&path, std::slice::from_ref(entry)).map_err(|error| in_file(&path, &error))
    }
}

/// When a file last changed.
pub(super) fn changed_at(path: &Path) -> Option<FileTime> {
    fs::metadata(path).ok().as_ref().map(files::changed_at)
}

/// The same for a record; one with the bytes of the last one is not taken apart again.
pub(super) fn load_record(path: &Path, last: &LastRead) -> Result<Option<Record>, NotLoaded> {
    let Some(bytes) = read_ours(path, MOST)? else {
        return Ok(None);
    };
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, record)) = last.as_ref().filter(|(known, _)| *known == bytes) {
        return Ok(Some(record.clone()));
    }
    let record: Record = taken_apart(&bytes)?;
    *last = Some((bytes, record.clone()));
    Ok(Some(record))
}

/// Returns the same record, unless it was written for a loop that has not left its session after all:
/// the process that took it over died on the way, and the loop is still where it was.
///
/// A task's loop has left when the other record says so, a feature's when its claim does.
pub(super) fn arrived(loops: &Path, mut record: Record) -> io::Result<Option<Record>> {
    let Some(adopted) = record.adopted.as_mut().filter(|adopted| adopted.arriving) else {
        return Ok(Some(record));
    };
    adopted.arriving = false;
    let has_left = if record.kind == LoopKind::Task {
        let from = Some(adopted.from.as_str()).filter(|from| is_session_id(from));
        let left = from.map(|from| load_whole::<Record>(&record_path(loops, from))).transpose()?;
        left.flatten()
            .is_some_and(|left| left.moved_to == record.session && left.armed_at == record.armed_at)
    } else {
        read_claim(loops, &record.about)?.is_some_and(|claim| {
            claim.session.as_ref() == Some(&record.session) && claim.armed_at == record.armed_at
        })
    };
    Ok(has_left.then_some(record))
}

/// Returns the path of a session's record below the folder of the loops.
pub(super) fn record_path(loops: &Path, session: &str) -> PathBuf {
    below(loops, &[session, RECORD])
}
