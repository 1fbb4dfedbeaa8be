//! A session's loop: its record and open tasks outside of the project, and its journal in the session's folder. The
//! folder is locked against other hooks.
//!
//! Nothing is read back from the project, except files of version 1.0.0. If nothing can be kept outside of the project,
//! the record is in the project, and a person's arming counts for nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::journal::{self, Entry};
use super::lock::Lock;
use super::names::LoopKind;
use super::notes::{MOST, in_file, is_session_id, put_aside, read_ours, save};
use super::older;
use super::pins::{PinKey, Pins, kept_below, may_be_there};
use super::private::{make_private, read_private};
use super::read::below;
use super::record::{RECORD_VERSION, Record};
use super::write::{Flush, remove_if_there, write_private_parts};
use crate::system::files;
use crate::world::FileTime;

/// Bytes read of a list's tasks: more than the longest list takes.
pub(super) const MOST_NOTED: u64 = 64 << 20;

/// The first line of the file of tasks: its version.
const NOTED: &str = "2\n";

/// The last record with its bytes: a stop reads its record without the lock and again with it, and parses equal bytes
/// once.
type LastRead = Arc<Mutex<Option<(Vec<u8>, Record)>>>;

/// The places of a project's records.
#[derive(Clone, Debug)]
pub(super) struct Records {
    /// In the project.
    pub(super) notes: PathBuf,
    /// Outside of the project; the same as `notes` if there is no such place.
    pub(super) kept: PathBuf,
    last: LastRead,
}

impl Records {
    pub(super) fn of(root: &Path, notes: PathBuf, home: Option<&Path>) -> Self {
        let outside = home.filter(|home| !home.starts_with(root));
        let kept = outside.map_or_else(|| notes.clone(), |home| kept_below(home, root));
        Self { notes, kept, last: LastRead::default() }
    }

    /// The folder of the records: the one in the project if the other does not exist.
    pub(super) fn folder(&self) -> &Path {
        if may_be_there(&self.kept) { &self.kept } else { &self.notes }
    }

    fn root(&self) -> &Path {
        self.notes.ancestors().nth(2).unwrap_or(&self.notes)
    }

    /// The pins of the features' loops, beside the records.
    pub(super) fn pins(&self) -> Pins {
        Pins::at(self.root(), self.folder())
    }

    /// Makes the folder. If that fails, the records are in the project.
    pub(super) fn make(&self) {
        if !may_be_there(&self.kept) {
            let _instead = make_private(&self.kept);
        }
    }

    pub(super) fn path(&self, session: &str) -> PathBuf {
        record_path(self.folder(), session)
    }

    /// The session ever had a loop here. Opens no file.
    pub(super) fn has(&self, session: &str) -> bool {
        may_be_there(&self.path(session)) || may_be_there(&older::path(&self.notes, session))
    }

    /// `None` for no record. An error names a file that cannot be read.
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
        // A file of the project arms nothing.
        let is_kept = folder != self.notes;
        let record = serde_json::from_slice::<Record>(&bytes);
        let Some(mut record) = record.ok().filter(|record| record.version >= RECORD_VERSION) else {
            return older(Some(bytes.as_slice()).filter(|_| is_kept));
        };
        record.armed = record.armed.filter(|_| is_kept);
        if record.project.iter().all(|project| Path::new(project) != root) {
            return Ok(None);
        }
        *last = Some((bytes, record.clone()));
        Ok(Some(record))
    }

    /// The session's record. `None` while its loop still belongs to the former session, because the adoption died
    /// halfway.
    pub(super) fn arrived(&self, session: &str) -> io::Result<Option<Record>> {
        let Some(record) = self.load(session)? else { return Ok(None) };
        let Some(adopted) = record.adopted.as_ref().filter(|_| record.ledger.is_live()) else {
            return Ok(Some(record));
        };
        let pin = match record.kind {
            LoopKind::Task => None,
            // Another kind of error: an unreadable pin must not move a good record aside.
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

/// A session's folder, locked against other hooks of the session.
#[derive(Debug)]
pub struct SessionFolder {
    records: Records,
    id: String,
    lock: Lock,
}

impl SessionFolder {
    pub(super) fn new(records: Records, session: &str, lock: Lock) -> Self {
        Self { records, id: session.to_owned(), lock }
    }

    /// The record. A record of version 1.0.0 is moved out of the project.
    pub fn record(&self) -> io::Result<Option<Record>> {
        let record = self.records.arrived(&self.id)?;
        if let Some(older) = record.as_ref().filter(|record| record.version < RECORD_VERSION) {
            self.save(older)?;
            remove_if_there(&older::path(&self.records.notes, &self.id))?;
            remove_if_there(&self.path(older::OPEN_TASKS))?;
        }
        Ok(record)
    }

    /// The record, for a caller that writes a new one: a file that cannot be parsed is moved aside.
    pub fn record_or_aside(&self) -> io::Result<Option<Record>> {
        match self.record() {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                put_aside(&self.record_path()).map(|_| None)
            }
            found => found,
        }
    }

    pub fn save(&self, record: &Record) -> io::Result<()> {
        let root = self.records.root().to_string_lossy().into_owned();
        self.records.make();
        let record = Record { version: RECORD_VERSION, project: vec![root], ..record.clone() };
        save(&self.record_path(), &record)?;
        // The project's disk may have another clock, so the lock file notes this write's time there.
        self.lock.touch();
        Ok(())
    }

    pub(super) fn pins(&self) -> Pins {
        self.records.pins()
    }

    pub fn record_path(&self) -> PathBuf {
        self.records.path(&self.id)
    }

    pub fn open_tasks_path(&self) -> PathBuf {
        below(self.records.folder(), &[&["open-", &self.id, ".txt"].concat()])
    }

    /// The tasks as last noted, in the form of [`TaskList::to_lines`](crate::engine::tasks::TaskList::to_lines); none if
    /// the file is broken, or of another version. An error if the file cannot be opened.
    pub fn noted_tasks(&self) -> io::Result<String> {
        let noted = read_ours(&self.open_tasks_path(), MOST_NOTED)?;
        let noted = String::from_utf8(noted.unwrap_or_default()).unwrap_or_default();
        Ok(noted.strip_prefix(NOTED).unwrap_or_default().to_owned())
    }

    /// Notes the tasks, so that a task taken out of the list is noticed.
    pub fn note_tasks(&self, tasks: &str) -> io::Result<()> {
        self.records.make();
        let (path, parts) = (self.open_tasks_path(), [NOTED.as_bytes(), tasks.as_bytes()]);
        write_private_parts(&path, &parts, Flush::ToSystem).map_err(|error| in_file(&path, &error))
    }

    /// A file in the session's folder in the project.
    pub fn path(&self, name: &str) -> PathBuf {
        below(&self.records.notes, &[&self.id, name])
    }

    /// The last write of the record, by the clock of the project's files.
    pub fn written_at(&self) -> Option<FileTime> {
        changed_at(&self.path("lock"))
    }

    pub fn note(&self, entry: &Entry) -> io::Result<()> {
        let path = self.path("journal.jsonl");
        journal::append(&path, std::slice::from_ref(entry)).map_err(|error| in_file(&path, &error))
    }
}

pub(super) fn changed_at(path: &Path) -> Option<FileTime> {
    fs::metadata(path).ok().as_ref().map(files::changed_at)
}

pub(super) fn record_path(kept: &Path, session: &str) -> PathBuf {
    below(kept, &[&["session-", session, ".json"].concat()])
}
