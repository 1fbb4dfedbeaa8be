//! The loops of a project. Outside the project: one *record* per session (its loop and ledger) and one *pin* per
//! feature (the owner of its loop). In `<project>/.claude/ralph/`: one folder per session, with its journal.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use super::lock::PATIENCE;
pub use super::notes::{RUNNER, TERMINAL, VERSION, is_session_id, put_aside};
pub use super::pins::VerifyCommands;
pub use super::record::{
    Adopted, Asked, Assignment, Checked, LastMessage, Marks, Notified, Pause, Record,
};
pub use super::session::SessionFolder;

use super::journal::{self, Entry};
use super::lock::Lock;
use super::names::{JournalEvent, LoopKind};
use super::notes::{MOST_SESSIONS, NOTES, in_file, load, save};
use super::pins::{Pin, PinKey, Pins, kept_in, marker, may_be_there};
use super::private::state_home;
use super::read::{self, below, below_in};
use super::session::{Records, changed_at, record_path};
use super::undo::Undo;
use super::write::{
    Flush, LEFT_ALONE, is_private_folder, make_private_folder, remove_all_leftovers, write_private,
};
use crate::engine::fields::read_fields;
use crate::engine::order::{places, sorted};
use crate::system::files::real_path;
use crate::system::folders::{FolderEntry, NameRoom, OpenFolder};
use crate::world::{self, FileTime, WallTime};

/// The name of the file with the sessions that were allowed to stop.
const LET_GO: &str = "let-go.json";
/// Notes that are kept.
const MOST_LET_GO: usize = 8;
/// Attempts at an action whose result was removed meanwhile.
const TRIES: usize = 50;

/// A session that was allowed to stop because another session owns the feature's loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LetGo {
    /// The session that stopped.
    pub session: String,
    /// The feature.
    pub about: String,
    /// The session that drives it.
    pub owner: String,
    /// When it was allowed to stop for the first time.
    pub at: WallTime,
}

read_fields!(LetGo { session, about, owner, at });

/// `let-go.json`, as the file has it, the latest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct NotedLetGo {
    version: u32,
    sessions: Vec<LetGo>,
}

#[derive(Clone, Debug)]
pub struct Loops {
    folder: PathBuf,
    records: Records,
}

impl Loops {
    /// `root` is the project's real root.
    pub fn of(root: &Path) -> Self {
        Self::kept_at(root, state_home().ok().as_deref())
    }

    /// `home` is the folder outside of every project; `None` for none.
    pub fn kept_at(root: &Path, home: Option<&Path>) -> Self {
        let folder = below(root, &[NOTES]);
        Self { records: Records::of(root, folder.clone(), home), folder }
    }

    /// The project ever had a loop. Opens no file. Many are looked for in one buffer.
    pub fn are_in(root: &Path, path: &mut PathBuf) -> bool {
        may_be_there(below_in(path, root, &[NOTES]))
    }

    /// True if the session's loop is kept outside the project, out of the agent's reach. Opens no file.
    pub fn has_kept(root: &Path, session: &str) -> bool {
        kept_in(root).is_ok_and(|kept| may_be_there(&record_path(&kept, session)))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The session ever had a loop here. Opens no file.
    pub fn knows(&self, session: &str) -> bool {
        self.records.has(session)
    }

    /// Sessions that had a loop here.
    pub fn sessions(&self) -> Vec<String> {
        let record = |name: &str| {
            let session = name.strip_prefix("session-")?.strip_suffix(".json")?;
            is_session_id(session).then(|| session.to_owned())
        };
        let kept = sorted(names_in(&self.records.kept, &record), Ord::cmp);
        let mut ids = names_in(&self.folder, &|name| {
            let is_known = || self.has_journal(name) || self.knows(name);
            let is_other = kept.binary_search_by(|one| one.as_str().cmp(name)).is_err();
            (is_other && is_known() && is_session_id(name)).then(|| name.to_owned())
        });
        ids.extend(kept);
        sorted(ids, Ord::cmp)
    }

    /// Sessions with a journal here.
    pub fn journals(&self) -> Vec<String> {
        let journal = |name: &str| self.has_journal(name).then(|| name.to_owned());
        sorted(names_in(&self.folder, &journal), Ord::cmp)
    }

    fn has_journal(&self, session: &str) -> bool {
        may_be_there(&below(&self.folder, &[session, "journal.jsonl"]))
    }

    /// At most `most` sessions, those whose records were written last, in the given order.
    pub fn newest(&self, mut sessions: Vec<String>, most: usize) -> Vec<String> {
        if sessions.len() > most {
            let folder = self.records.folder();
            let paths = sessions.iter().map(|session| record_path(folder, session));
            let mut is_new = newest(paths, most, None).into_iter();
            sessions.retain(|_| is_new.next() == Some(true));
        }
        sessions
    }

    /// The session's record without its lock; `None` if there is none to read.
    pub fn peek(&self, session: &str) -> Option<Record> {
        if !is_session_id(session) {
            return None;
        }
        self.records.arrived(session).ok().flatten()
    }

    /// The records of all sessions, without their locks.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.sessions().into_iter().filter_map(|session| self.peek(&session))
    }

    /// The loops that live, by session. A feature's loop lives only where its pin says so.
    pub fn live_records(&self) -> Vec<Record> {
        self.records().filter(|record| record.ledger.is_live() && self.drives(record)).collect()
    }

    /// True if the session still owns the loop. A feature's pin decides; a missing or unreadable pin counts as yes.
    pub fn drives(&self, record: &Record) -> bool {
        let is_its = |pin: Pin| pin.is_live_in(&record.session);
        record.kind == LoopKind::Task || self.pin(&record.about).ok().flatten().is_none_or(is_its)
    }

    /// Empty for none.
    pub fn journal(&self, session: &str) -> Vec<u8> {
        let path = self.folder.join(session).join("journal.jsonl");
        read::read(&path, 256 << 20).map(|content| content.bytes).unwrap_or_default()
    }

    /// The pin of a feature, `None` when there is none; an error for one that cannot be read.
    pub fn pin(&self, feature: &str) -> io::Result<Option<Pin>> {
        self.records.pins().read(PinKey::Feature(feature))
    }

    /// Like [`Self::pin`]; a lost pin is rebuilt by [`Self::recorded`].
    pub fn found(&self, feature: &str) -> io::Result<Option<Pin>> {
        let pin = self.pin(feature)?;
        Ok(pin.or_else(|| self.recorded(feature)))
    }

    /// Rebuilds a feature's lost pin from the live record of its session.
    pub fn recorded(&self, feature: &str) -> Option<Pin> {
        let is_its = |record: &Record| {
            record.kind != LoopKind::Task && record.about == feature && record.ledger.is_live()
        };
        self.records().find(is_its).map(|record| record.bare_pin())
    }

    /// Like [`Self::pin`], but moves a file aside whose error is among `errors`, so that a new pin can be written.
    pub fn pin_or_aside(
        &self,
        feature: &str,
        errors: &[io::ErrorKind],
        undo: &mut Undo,
    ) -> io::Result<Option<Pin>> {
        match self.pin(feature) {
            Err(error) if errors.contains(&error.kind()) => {
                undo.put_aside(&self.pins().path(PinKey::Feature(feature)))?;
                self.pin(feature)
            }
            found => found,
        }
    }

    /// The pin of a live loop; `None` if no loop lives, or no pin can be read.
    pub fn live_pin(&self, feature: &str) -> Option<Pin> {
        self.found(feature).ok().flatten().filter(|pin| pin.ended.is_none())
    }

    /// The pins of all features whose loops live.
    pub fn live_pins(&self) -> Vec<Pin> {
        let claim = |file: &str| Some(file.strip_suffix(".json")?.to_owned());
        let pin = |file: &str| claim(file.strip_prefix("feature-")?);
        let mut features = names_in(self.records.folder(), &pin);
        features.extend(names_in(&below(&self.folder, &["claims"]), &claim));
        let mut features = sorted(features, Ord::cmp);
        features.dedup();
        let pins = features.iter().filter_map(|feature| self.pin(feature).ok().flatten());
        pins.filter(|pin| pin.ended.is_none()).collect()
    }

    /// The pins of the features.
    pub fn pins(&self) -> Pins {
        self.records.pins()
    }

    /// Writes the pin of a feature whole.
    pub fn save_pin(&self, pin: &Pin) -> io::Result<()> {
        self.records.make();
        self.pins().update(PinKey::Feature(&pin.about), pin)
    }

    /// The owner by the note in the project, for a session that finds no pin. The note arms nothing.
    pub fn noted(&self, feature: &str) -> Option<Pin> {
        let pin: Option<Pin> = load(&marker(&self.folder, feature)).ok()?;
        pin.map(Pin::bare)
    }

    /// Sessions that were allowed to stop because another session owns the loop, the latest first.
    pub fn let_go(&self) -> Vec<LetGo> {
        let noted: Option<NotedLetGo> = load(&below(&self.folder, &[LET_GO])).ok().flatten();
        noted.unwrap_or_default().sessions
    }

    /// Notes a session that is let go. A known one keeps its time, and costs no write.
    pub fn note_let_go(&self, session: &str, about: &str, owner: &str) -> io::Result<()> {
        let mut sessions = self.let_go();
        let is_it = |noted: &LetGo| noted.session == session && noted.about == about;
        if sessions.iter().any(|noted| is_it(noted) && noted.owner == owner) {
            return Ok(());
        }
        sessions.retain(|noted| !is_it(noted));
        let [session, about, owner] = [session, about, owner].map(str::to_owned);
        sessions.insert(0, LetGo { session, about, owner, at: world::now() });
        sessions.truncate(MOST_LET_GO);
        // A link in place of the folder would lead out of the project.
        self.create()?;
        save(&below(&self.folder, &[LET_GO]), &NotedLetGo { version: VERSION, sessions })
    }

    /// The lock under which loops are taken and given up.
    ///
    /// Also removes the leftovers of killed programs.
    pub fn lock(&self) -> io::Result<Lock> {
        self.create()?;
        let lock = take_lock(&self.folder, PATIENCE)?;
        self.remove_leftovers();
        Ok(lock)
    }

    /// Removes the leftovers of killed programs.
    pub fn remove_leftovers(&self) {
        for folder in [&self.folder, &self.records.kept] {
            remove_all_leftovers(folder, LEFT_ALONE);
        }
        for entry in read::entries(&self.folder, MOST_SESSIONS).entries {
            // A link in place of a folder is not followed.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove_all_leftovers(&entry.path(), LEFT_ALONE);
            }
        }
    }

    /// The lock for a feature's task list and state file, on the feature's folder: the folder exists as long as the
    /// list.
    pub fn feature_lock(
        &self,
        feature: &str,
        folder: &Path,
        patience: Duration,
    ) -> io::Result<Lock> {
        again_where_removed(|| self.create())?;
        let instead = below(&self.folder, &[&["feature-", feature, ".lock"].concat()]);
        Lock::take_folder(folder, &instead, patience).map_err(|error| in_file(folder, &error))
    }

    /// Appends to a session's journal without its lock: one entry is one write.
    pub fn note(&self, session: &str, entry: &Entry) -> io::Result<()> {
        self.note_all(session, std::slice::from_ref(entry))
    }

    /// Appends the entries in one write: all, or none and an error.
    pub fn note_all(&self, session: &str, entries: &[Entry]) -> io::Result<()> {
        let folder = self.folder.join(session);
        let path = folder.join("journal.jsonl");
        let append = || {
            self.create()?;
            make_inside(&self.root()?, &folder)?;
            journal::append(&path, entries).map_err(|error| in_file(&path, &error))
        };
        again_where_removed(append)
    }

    /// Makes and locks the session's folder.
    pub fn session(&self, session: &str) -> io::Result<SessionFolder> {
        self.session_within(session, PATIENCE)
    }

    /// `patience` bounds the wait for the lock.
    pub fn session_within(&self, session: &str, patience: Duration) -> io::Result<SessionFolder> {
        if !is_session_id(session) {
            return Err(io::Error::other("the session id has characters that no folder may have"));
        }
        let folder = self.folder.join(session);
        if !folder.exists() {
            self.create()?;
        }
        make_inside(&self.root()?, &folder)?;
        let lock = take_lock(&folder, patience)?;
        Ok(SessionFolder::new(self.records.clone(), session, lock))
    }

    /// The lock that shows that checks of a session's loop run. `None` if another process holds the lock: the checks do
    /// not need it.
    pub fn checking(&self, session: &str) -> Option<Lock> {
        Lock::take(&self.checks_path(session), Duration::from_millis(50)).ok()
    }

    /// The last write to a session's journal, by the files' clock.
    pub fn noted_at(&self, session: &str) -> FileTime {
        changed_at(&self.folder.join(session).join("journal.jsonl")).unwrap_or_default()
    }

    /// The check that runs for a session right now, such as `` `cargo test` (3 of 5) ``.
    pub fn running_check(&self, session: &str) -> Option<String> {
        if !is_session_id(session) || !Lock::is_held(&self.checks_path(session)) {
            return None;
        }
        let (entries, _) = journal::entries(&self.journal(session));
        entries
            .into_iter()
            .rfind(|entry| entry.event == JournalEvent::Checks)
            .map(|entry| entry.check)
    }

    fn checks_path(&self, session: &str) -> PathBuf {
        self.folder.join(session).join("checks.lock")
    }

    /// Makes the folder, with a `.gitignore` for all of it; refuses a link out of the project.
    fn create(&self) -> io::Result<()> {
        if !self.is_made() {
            let root = self.root()?;
            for folder in [&below(&root, &[".claude"]), &self.folder] {
                make_inside(&root, folder)?;
            }
        }
        let ignored = below(&self.folder, &[".gitignore"]);
        if ignored.is_file() {
            return Ok(());
        }
        write_private(&ignored, b"*\n", Flush::ToSystem).map_err(|error| in_file(&ignored, &error))
    }

    /// True if the folder is still as `create` makes it: no link on its path, and closed to others. Saves nearly every
    /// call the work of `create`.
    fn is_made(&self) -> bool {
        let is_real = |real: PathBuf| real.as_os_str() == self.folder.as_os_str();
        real_path(&self.folder).is_ok_and(is_real) && is_private_folder(&self.folder)
    }

    /// An error if the project is gone.
    pub fn root(&self) -> io::Result<PathBuf> {
        real_path(self.folder.ancestors().nth(2).unwrap_or(&self.folder))
    }
}

/// The results of `wanted` for the names in a folder, which may have thousands.
fn names_in(folder: &Path, wanted: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let (mut names, mut left) = (Vec::new(), MOST_SESSIONS);
    let mut take = |entry: &FolderEntry<'_>| -> Result<(), ()> {
        left = left.checked_sub(1).ok_or(())?;
        let name = std::str::from_utf8(entry.name()).ok();
        names.extend(name.filter(|name| !matches!(*name, "." | "..")).and_then(wanted));
        Ok(())
    };
    // An error keeps the names that were listed before it.
    let _ = OpenFolder::at(folder).map(|open| open.list(&mut NameRoom::default(), &mut take));
    names
}

/// Repeats an action whose result was removed at the same moment, as by `git clean`.
fn again_where_removed<T>(act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..TRIES {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    act()
}

fn take_lock(folder: &Path, patience: Duration) -> io::Result<Lock> {
    let path = folder.join("lock");
    Lock::take(&path, patience).map_err(|error| in_file(&path, &error))
}

/// Makes a folder if missing, and checks its place before anything is made inside.
fn make_inside(root: &Path, folder: &Path) -> io::Result<()> {
    // Claude Code's own folder is not ours to close.
    let made = if folder == root.join(".claude") {
        fs::create_dir(folder)
    } else {
        make_private_folder(folder)
    };
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(in_file(folder, &error));
        }
        _ => {}
    }
    let inside = read::folder_inside(root, folder);
    inside.map(drop).map_err(|error| io::Error::other(format!("`{}`: {error}", folder.display())))
}

/// For each file: it is among the `most` last written ones, or was written since `since`.
pub fn newest(
    files: impl Iterator<Item = impl AsRef<Path>>,
    most: usize,
    since: Option<WallTime>,
) -> Vec<bool> {
    let written = |file| fs::metadata(file).and_then(|meta| meta.modified()).ok();
    let times: Vec<_> = files.map(|file| written(file).map(WallTime::from)).collect();
    let is_since = |time: &Option<WallTime>| since.is_some() && *time >= since;
    let mut is_new: Vec<bool> = times.iter().map(is_since).collect();
    let places = places(times.len(), &|one, other| times[other].cmp(&times[one]));
    for place in places.into_iter().take(most) {
        is_new[place] = true;
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_sessions_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut loops = Loops::of(folder.path());
        loops.records.kept = folder.path().join("kept");
        fs::create_dir(&loops.records.kept).unwrap();
        for (session, seconds) in [("a", 3), ("b", 1), ("c", 4)] {
            let file = loops.records.path(session);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "{}").unwrap();
            filetime::set_file_mtime(file, filetime::FileTime::from_unix_time(seconds, 0)).unwrap();
        }
        let newest = |most| loops.newest(loops.sessions(), most).concat();
        assert_eq!([newest(1), newest(2), newest(3)], ["c", "ac", "abc"]);
    }
}
