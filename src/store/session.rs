//! A session's loop: its record and its open tasks, kept outside of the project, and its journal in the folder of the session,
//! which is locked against other hooks.
//!
//! Nothing is read back from the project but what version 1.0.0 left there. Where nothing can be kept outside of the project the
//! record is in the project, and what a person armed counts for nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::journal::{self, Entry};
use super::lock::Lock;
use super::names::LoopKind;
use super::notes::{MOST, NotLoaded, in_file, is_session_id, put_aside, read_ours, save};
use super::older;
use super::pins::{PinKey, Pins, kept_below, may_be_there};
use super::private::{make_private, read_private};
use super::read::below;
use super::record::{Record, VERSION};
use super::write::{Flush, remove_if_there, write_private_parts};
use crate::system::files;
use crate::world::FileTime;

/// The most that is read of the open tasks of a list, in bytes: more than the longest list takes.
pub(super) const MOST_NOTED: u64 = 64 << 20;

/// The open tasks of a list, as [`TaskList::open_lines`](crate::engine::tasks::TaskList::open_lines) has them.
pub type OpenTasks = String;

/// What the file of the open tasks begins with: its version.
const NOTED: &str = "1\n";

/// The record that was read last, with its bytes: the same bytes are not taken apart twice at one stop, which
/// reads its record without the lock and under it.
type LastRead = Arc<Mutex<Option<(Vec<u8>, Record)>>>;

/// Where the records of a project's loops are.
#[derive(Clone, Debug)]
pub(super) struct Records {
    /// The folder in the project.
    pub(super) notes: PathBuf,
    /// The folder outside of the project; the same where there is none.
    pub(super) kept: PathBuf,
    last: LastRead,
}

impl Records {
    /// Those of the project with this root, whose notes are in this folder.
    pub(super) fn of(root: &Path, notes: PathBuf, home: Option<&Path>) -> Self {
        let outside = home.filter(|home| !home.starts_with(root));
        let kept = outside.map_or_else(|| notes.clone(), |home| kept_below(home, root));
        Self { notes, kept, last: LastRead::default() }
    }

    /// The folder that the records are in: the one in the project where the other cannot be made.
    pub(super) fn folder(&self) -> &Path {
        if may_be_there(&self.kept) { &self.kept } else { &self.notes }
    }

    /// The root of the project.
    fn root(&self) -> &Path {
        self.notes.ancestors().nth(2).unwrap_or(&self.notes)
    }

    /// The pins of the features' loops, beside the records.
    pub(super) fn pins(&self) -> Pins {
        Pins::at(self.root(), self.folder())
    }

    /// Makes the folder; where it cannot be made, the records are in the project.
    pub(super) fn make(&self) {
        if !may_be_there(&self.kept) {
            let _instead = make_private(&self.kept);
        }
    }

    /// The path of a session's record.
    pub(super) fn path(&self, session: &str) -> PathBuf {
        record_path(self.folder(), session)
    }

    /// Whether this session ever had a loop here; opens no file.
    pub(super) fn has(&self, session: &str) -> bool {
        may_be_there(&self.path(session)) || may_be_there(&older::path(&self.notes, session))
    }

    /// The record of a session, `None` when there is none; an error that names the file when it cannot be read.
    pub(super) fn load(&self, session: &str) -> io::Result<Option<Record>> {
        let folder = self.folder();
        let root = self.root();
        let older = |pin| older::record((&self.kept, root, &self.notes), session, pin);
        let Some(bytes) = read_private(&record_path(folder, session), MOST)? else {
            return older(None);
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, record)) = last.as_ref().filter(|(known, _)| *known == bytes) {
            return Ok(Some(record.clone()));
        }
        // What is in the project arms nothing.
        let is_kept = folder != self.notes;
        let record = serde_json::from_slice::<Record>(&bytes);
        let Some(mut record) = record.ok().filter(|record| record.version >= VERSION) else {
            return older(Some(bytes.as_slice()).filter(|_| is_kept));
        };
        record.armed = record.armed.filter(|_| is_kept);
        if record.project.iter().all(|project| Path::new(project) != root) {
            return Ok(None);
        }
        *last = Some((bytes, record.clone()));
        Ok(Some(record))
    }

    /// The record of a session, unless it was written for a loop that has not left its session after all: the process that
    /// took it over may have died on the way.
    pub(super) fn arrived(&self, session: &str) -> io::Result<Option<Record>> {
        let Some(record) = self.load(session)? else { return Ok(None) };
        let Some(adopted) = record.adopted.as_ref().filter(|_| record.ledger.is_live()) else {
            return Ok(Some(record));
        };
        let pin = match record.kind {
            LoopKind::Task => None,
            // The record itself may be good.
            _ => self.pins().read(PinKey::Feature(&record.about)).map_err(io::Error::other)?,
        };
        let has_left = if let Some(pin) = pin {
            pin.session == session
        } else {
            let from = Some(&adopted.from).filter(|from| is_session_id(from) && **from != session);
            let left = from.map(|from| self.load(from)).transpose()?.flatten();
            left.is_none_or(|left| left.armed_at != record.armed_at || !left.ledger.is_live())
        };
        Ok(has_left.then_some(record))
    }
}

/// The folder of one session, locked against other hooks of the same session.
#[derive(Debug)]
pub struct Session {
    records: Records,
    id: String,
    lock: Lock,
}

impl Session {
    /// The folder of a session that was locked with this lock.
    pub(super) fn new(records: Records, session: &str, lock: Lock) -> Self {
        Self { records, id: session.to_owned(), lock }
    }

    /// The session's record, `None` when there is none. What version 1.0.0 left of it is moved out of the project.
    pub fn record(&self) -> io::Result<Option<Record>> {
        let record = self.records.arrived(&self.id)?;
        if let Some(older) = record.as_ref().filter(|record| record.version < VERSION) {
            let tasks = self.path(older::OPEN_TASKS);
            let noted = read_ours(&tasks, MOST_NOTED).ok().flatten();
            noted.map_or(Ok(()), |noted| self.write_open_tasks(&[&noted]))?;
            self.save(older)?;
            remove_if_there(&older::path(&self.records.notes, &self.id))?;
            remove_if_there(&tasks)?;
        }
        Ok(record)
    }

    /// The same for somebody who writes another one: a file that cannot be taken apart is moved aside.
    pub fn record_or_aside(&self) -> io::Result<Option<Record>> {
        match self.record() {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                put_aside(&self.record_path()).map(|_| None)
            }
            found => found,
        }
    }

    /// Writes the record whole.
    pub fn save(&self, record: &Record) -> io::Result<()> {
        let root = self.records.root().to_string_lossy().into_owned();
        self.records.make();
        let record = Record { version: VERSION, project: vec![root], ..record.clone() };
        save(&self.record_path(), &record)?;
        // By the clock of the project's files, which may be another one.
        self.lock.touch();
        Ok(())
    }

    /// The path of the record.
    pub fn record_path(&self) -> PathBuf {
        self.records.path(&self.id)
    }

    /// The path of the open tasks.
    pub fn open_tasks_path(&self) -> PathBuf {
        below(self.records.folder(), &[&["open-", &self.id, ".txt"].concat()])
    }

    /// The open tasks as they were last noted, none when what is there is broken; an error when it
    /// cannot be opened.
    pub fn open_tasks(&self) -> io::Result<OpenTasks> {
        let noted = read_ours(&self.open_tasks_path(), MOST_NOTED).or_else(NotLoaded::or_none)?;
        let noted = String::from_utf8(noted.unwrap_or_default()).unwrap_or_default();
        Ok(noted.strip_prefix(NOTED).unwrap_or_default().to_owned())
    }

    /// Notes the open tasks, so that one that is taken out of the list is noticed.
    pub fn save_open_tasks(&self, tasks: &str) -> io::Result<()> {
        self.write_open_tasks(&[NOTED.as_bytes(), tasks.as_bytes()])
    }

    fn write_open_tasks(&self, parts: &[&[u8]]) -> io::Result<()> {
        self.records.make();
        let path = self.open_tasks_path();
        write_private_parts(&path, parts, Flush::ToSystem).map_err(|error| in_file(&path, &error))
    }

    /// The path of a file of the session's own in the project.
    pub fn path(&self, name: &str) -> PathBuf {
        below(&self.records.notes, &[&self.id, name])
    }

    /// When the record was written last, by the clock of the project's files; `None` where that is not
    /// known.
    pub fn written_at(&self) -> Option<FileTime> {
        changed_at(&self.path("lock"))
    }

    /// Appends to the session's journal.
    pub fn note(&self, entry: &Entry) -> io::Result<()> {
        let path = self.path("journal.jsonl");
        journal::append(&path, std::slice::from_ref(entry)).map_err(|error| in_file(&path, &error))
    }
}

/// When a file last changed.
pub(super) fn changed_at(path: &Path) -> Option<FileTime> {
    fs::metadata(path).ok().as_ref().map(files::changed_at)
}

/// The path of a session's record in the folder where what is kept is.
pub(super) fn record_path(kept: &Path, session: &str) -> PathBuf {
    below(kept, &[&["session-", session, ".json"].concat()])
}
