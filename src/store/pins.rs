//! Pins: the owner of a loop and the terms that a person armed. Pins are kept outside the project, out of reach of the
//! repository's files and the agent's edits. Without such a place, a feature's pin is in the project and arms nothing.
//!
//! Every feature loop has a pin, even if no person armed it. A ralph loop's pin is inside its session's record. An end
//! is written into the pin before the record, and the ended pin stays: only arming brings the loop back.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::lock::{Lock, PATIENCE};
use super::notes::{self, NOTES};
use super::older;
use super::pin::Asked;
pub use super::pin::{LoopLimits, Pin, PinnedEnd, Root, SettingsThen};
use super::private::{in_file, load_private, make_private, refuse_inside, save, state_home};
use super::read::below;
use super::record::Record;
use super::write::{LEFT_ALONE, remove_all_leftovers, remove_if_there};
use crate::engine::fields::read_fields;
use crate::engine::hash_of;
use crate::world::WallTime;

/// The version that a file of Verify commands carries.
const VERIFY_VERSION: u32 = 1;
/// The version that a pin carries.
const PIN_VERSION: u32 = 2;
/// The most that is read or written of a pin, in bytes.
const MOST: u64 = 1 << 20;
/// Bytes of Verify commands, read or written: more than a task list may have.
const MOST_VERIFY: u64 = 64 << 20;

/// Verify commands of a list at arming, by the id of their task.
pub type VerifyCommands = BTreeMap<String, String>;

/// `verify-<loop>.json`.
#[derive(Clone, Debug, Default, Serialize)]
struct Verify {
    version: u32,
    armed_at: WallTime,
    commands: VerifyCommands,
}

read_fields!(Verify { version, armed_at, commands });

/// Who armed a loop, by what is kept outside of the project.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PinState {
    Armed(Box<Pin>),
    /// The record says that a person armed the loop, but no pin is found; the words say where it is missing.
    Lost(String),
    /// No person: no command of the repository runs, and the default limits hold.
    #[default]
    Nobody,
    /// Unknown, and treated like nobody; the words say why.
    Unknown(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinKey<'a> {
    Feature(&'a str),
    /// The change of `spool ralph`.
    Change(&'a str),
}

/// The folder of one project's pins; it may be missing.
#[derive(Clone, Debug)]
pub struct Pins {
    root: PathBuf,
    folder: PathBuf,
}

impl PinState {
    /// The state by the outcome of a read.
    pub fn found(pin: io::Result<Option<Pin>>) -> Self {
        match pin {
            Ok(Some(pin)) if pin.is_armed() => Self::Armed(Box::new(pin)),
            Ok(_) => Self::Nobody,
            Err(error) => Self::Unknown(error.to_string()),
        }
    }

    /// The arming, if a person made one and it can be read.
    pub fn pin(&self) -> Option<&Pin> {
        match self {
            Self::Armed(pin) => Some(pin),
            Self::Lost(_) | Self::Nobody | Self::Unknown(_) => None,
        }
    }

    /// The request beyond the feature itself, by the pin, else by the record.
    pub fn asked<'a>(&'a self, record: Option<&'a Record>) -> Option<&'a Asked> {
        let pinned = self.pin().map(|pin| pin.asked.as_deref());
        pinned.unwrap_or_else(|| record?.asked.as_deref())
    }
}

impl Pin {
    /// The key of the file that has this pin.
    pub fn key(&self) -> PinKey<'_> {
        if self.process == 0 { PinKey::Feature(&self.about) } else { PinKey::Change(&self.about) }
    }
}

impl PinKey<'_> {
    fn name(self) -> String {
        match self {
            Self::Feature(name) => ["feature-", name].concat(),
            Self::Change(id) => ["change-", id].concat(),
        }
    }
}

impl Pins {
    /// `root` is the project's real root. An error if nothing can be kept outside of the project.
    pub fn of(root: &Path) -> io::Result<Self> {
        let folder = kept_in(root)?;
        refuse_inside(root, &folder)?;
        Ok(Self { root: root.to_owned(), folder })
    }

    /// Pins in this folder: outside the project, or inside if there is no such place.
    pub(super) fn at(root: &Path, folder: &Path) -> Self {
        Self { root: root.to_owned(), folder: folder.to_owned() }
    }

    /// True if the agent cannot write the pins by editing files of the project.
    fn are_outside(&self) -> bool {
        !self.folder.starts_with(&self.root)
    }

    pub fn path(&self, whose: PinKey<'_>) -> PathBuf {
        below(&self.folder, &[&[&whose.name(), ".json"].concat()])
    }

    /// The files that change with the pin of a feature: the pin, its commands, and the notes in the project.
    pub fn files(&self, feature: &str) -> [PathBuf; 4] {
        let (whose, notes) = (PinKey::Feature(feature), below(&self.root, &[NOTES]));
        let claim = older::claim_path(&notes, feature);
        [self.path(whose), self.verify_path(whose), marker(&notes, feature), claim]
    }

    /// Makes the folder of the pins. An error if that fails, or if the folder leads into the project.
    pub fn make(&self) -> io::Result<()> {
        make_private(&self.folder)?;
        refuse_inside(&self.root, &self.folder)
    }

    /// Another file beside the pins.
    pub fn beside(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The pin's Verify commands.
    pub fn verify_path(&self, whose: PinKey<'_>) -> PathBuf {
        // A pin's name begins with its kind, so no pin has this file's name.
        self.folder.join(format!("verify-{}.json", whose.name()))
    }

    /// Only the owner can read the pin.
    pub fn write(&self, whose: PinKey<'_>, pin: &Pin, commands: &VerifyCommands) -> io::Result<()> {
        // The commands first: the pin says that there are some.
        self.keep_commands(whose, pin.armed_at, commands)?;
        self.update(whose, &Pin { verify: commands.len(), ..pin.clone() })
    }

    /// Without the pin, the commands count for nothing.
    pub fn keep_commands(
        &self,
        whose: PinKey<'_>,
        armed_at: WallTime,
        commands: &VerifyCommands,
    ) -> io::Result<()> {
        self.make()?;
        let verify = Verify { version: VERIFY_VERSION, armed_at, commands: commands.clone() };
        save(&self.verify_path(whose), &verify, MOST_VERIFY)
    }

    /// Writes a pin alone; its Verify commands stay as they are while the loop lives.
    pub fn update(&self, whose: PinKey<'_>, pin: &Pin) -> io::Result<()> {
        if self.are_outside() {
            self.make()?;
        }
        self.put(whose, pin, &self.lock()?)
    }

    fn put(&self, whose: PinKey<'_>, pin: &Pin, _: &Lock) -> io::Result<()> {
        remove_all_leftovers(&self.folder, LEFT_ALONE);
        let project = Root(self.root.to_string_lossy().into_owned());
        let path = self.checked(whose)?;
        save(&path, &Pin { version: PIN_VERSION, project, ..pin.clone() }, MOST)?;
        if let PinKey::Feature(feature) = whose {
            self.note(feature, pin);
        }
        Ok(())
    }

    /// Brings the notes in the project up to date, and removes the Verify commands of a loop that ended. None of this counts
    /// while the pin is there.
    fn note(&self, feature: &str, pin: &Pin) {
        let [_, verify, marker, claim] = self.files(feature);
        let _ = remove_if_there(&claim);
        let _ = if pin.ended.is_none() {
            notes::save(&marker, &pin.clone().bare())
        } else {
            remove_if_there(&marker)
        };
        let is_its = |verify: Verify| verify.armed_at == pin.armed_at;
        if pin.ended.is_some()
            && load_private(&verify, MOST_VERIFY).is_ok_and(|kept| kept.is_some_and(is_its))
        {
            let _ = remove_if_there(&verify);
        }
    }

    /// Arming and a stop of a session that loses its loop write the same pin. The holder of this lock takes no other
    /// lock.
    fn lock(&self) -> io::Result<Lock> {
        Lock::take_folder(&self.folder, &self.folder.join("pins.lock"), PATIENCE)
    }

    /// Changes a pin; `None` leaves it as it is.
    pub fn change(
        &self,
        whose: PinKey<'_>,
        change: impl FnOnce(Option<Pin>) -> Option<Pin>,
    ) -> io::Result<()> {
        let lock = self.lock()?;
        change(self.read(whose)?).map_or(Ok(()), |pin| self.put(whose, &pin, &lock))
    }

    /// Makes the session of a record the one that drives the loop.
    pub fn take(&self, record: &Record) -> io::Result<()> {
        self.change(PinKey::Feature(&record.about), |pin| {
            let pin = pin.unwrap_or_else(|| record.bare_pin());
            Some(Pin { session: record.session.clone(), ..pin })
        })
    }

    /// `None` for no pin. An error names a file that cannot be read, or is not the person's own.
    pub fn read(&self, whose: PinKey<'_>) -> io::Result<Option<Pin>> {
        let pin: Option<Pin> = load_private(&self.checked(whose)?, MOST)?;
        let mut pin = pin.filter(|pin| pin.project.0 == self.root.to_string_lossy());
        if let PinKey::Feature(feature) = whose
            && pin.as_ref().is_none_or(|pin| pin.version < PIN_VERSION)
        {
            pin = match (pin, older::claim(&below(&self.root, &[NOTES]), feature)) {
                (None, claim) => claim?,
                (Some(pin), Ok(Some(Pin { commits_from, commits_line, .. }))) => {
                    Some(Pin { commits_from, commits_line, ..pin })
                }
                (pin, _) => pin,
            };
        }
        // A file of the project arms nothing.
        Ok(if self.are_outside() { pin } else { pin.map(Pin::bare) })
    }

    /// The path of a pin; an error when its name cannot name a file.
    fn checked(&self, whose: PinKey<'_>) -> io::Result<PathBuf> {
        let path = self.path(whose);
        // Names come from files, too: a name with a folder in it is refused.
        if path.parent() != Some(&self.folder) {
            return Err(io::Error::other("the name of a loop cannot name a file"));
        }
        Ok(path)
    }

    /// The pin's Verify commands by the id of their task. An error if they cannot be read, or belong to another pin.
    pub fn verify(&self, whose: PinKey<'_>, pin: &Pin) -> io::Result<VerifyCommands> {
        if pin.verify == 0 {
            return Ok(VerifyCommands::new());
        }
        let path = self.verify_path(whose);
        match load_private::<Verify>(&path, MOST_VERIFY)? {
            Some(verify) if verify.armed_at == pin.armed_at => Ok(verify.commands),
            Some(_) => Err(in_file(&path, "it belongs to another arming")),
            None => Err(in_file(&path, "it does not exist")),
        }
    }

    /// Removes the pin of the ended loop that was armed at this time; a later pin stays.
    pub fn close(&self, whose: PinKey<'_>, armed_at: WallTime) -> io::Result<()> {
        if self.read(whose)?.is_none_or(|pin| pin.armed_at != armed_at) {
            return Ok(());
        }
        let _lock = self.lock()?;
        for path in [self.path(whose), self.verify_path(whose)] {
            remove_if_there(&path).map_err(|error| in_file(&path, &error.to_string()))?;
        }
        Ok(())
    }
}

/// The note about a live loop in the project, for the case that the pin is lost. The note arms nothing; it only lets
/// other sessions stop.
pub(super) fn marker(notes: &Path, feature: &str) -> PathBuf {
    below(notes, &[&["armed-", feature].concat()])
}

/// The folder outside of the project for its loops. Does not look whether it exists.
pub(super) fn kept_in(root: &Path) -> io::Result<PathBuf> {
    state_home().map(|home| kept_below(&home, root))
}

/// `home` stands for the person's state folder.
pub(super) fn kept_below(home: &Path, root: &Path) -> PathBuf {
    below(home, &["projects", &folder_name(root)])
}

/// True unless the path certainly does not exist.
pub(super) fn may_be_there(path: &Path) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    path.symlink_metadata().map_or_else(|error| !missing.contains(&error.kind()), |_| true)
}

/// A folder name that a person recognizes, and that no other project has.
fn folder_name(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().as_encoded_bytes().iter().copied();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let plain = name.filter(is_plain).take(40).skip_while(|byte| *byte == b'.');
    let mut folder: String = plain.map(char::from).collect();
    let _ = write!(folder, "-{:016x}", hash_of(root.as_os_str().as_encoded_bytes()));
    folder
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::engine::{Check, TerminalReason};
    use crate::store::write::{Flush, write_private};

    const SEVEN: WallTime = WallTime::from_millis(7);
    const EIGHT: WallTime = WallTime::from_millis(8);

    const WHOSE: PinKey<'_> = PinKey::Feature("001-login");

    fn place() -> (tempfile::TempDir, Pins) {
        let scratch = tempfile::TempDir::with_prefix("pins-").unwrap();
        let real = scratch.path().canonicalize().unwrap();
        let root = real.join("project");
        fs::create_dir_all(&root).unwrap();
        let folder = real.join("state").join(folder_name(&root));
        (scratch, Pins { root, folder })
    }

    fn armed(pins: &Pins) -> Pin {
        let check = Check { run: "cargo test".to_owned(), limit_seconds: 60, ..Check::default() };
        let pin = Pin { armed_at: SEVEN, checks: vec![check], ..Pin::default() };
        let commands = VerifyCommands::from([("T001".to_owned(), "true".to_owned())]);
        pins.write(WHOSE, &pin, &commands).unwrap();
        pins.read(WHOSE).unwrap().unwrap()
    }

    #[test]
    fn pin_reads_as_written() {
        let (_scratch, pins) = place();
        assert_eq!(pins.read(WHOSE).unwrap(), None);
        let pin = armed(&pins);
        assert_eq!((pin.checks[0].run.as_str(), pin.verify), ("cargo test", 1));
        assert_eq!(pins.verify(WHOSE, &pin).unwrap()["T001"], "true");
        for path in [pins.path(WHOSE), pins.verify_path(WHOSE)] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(pins.folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        pins.close(WHOSE, EIGHT).unwrap();
        assert!(pins.read(WHOSE).unwrap().is_some(), "a later arming stays");
        pins.close(WHOSE, SEVEN).unwrap();
        assert_eq!(fs::read_dir(&pins.folder).unwrap().count(), 0);
    }

    #[test]
    fn s1_name_reaches_no_other_pin() {
        let (_scratch, pins) = place();
        let pin = armed(&pins);
        let names = ["001-login.verify", "verify-001-login", "verify-feature-001-login"];
        for name in names {
            for whose in [PinKey::Feature(name), PinKey::Change(name)] {
                pins.write(whose, &Pin::default(), &VerifyCommands::new()).unwrap();
            }
        }
        assert_eq!(pins.verify(WHOSE, &pin).unwrap()["T001"], "true");
        assert_eq!(pins.read(WHOSE).unwrap(), Some(pin));
        assert_eq!(fs::read_dir(&pins.folder).unwrap().count(), 2 * (1 + 2 * names.len()));
    }

    #[test]
    fn damaged_pin_is_an_error() {
        let (_scratch, pins) = place();
        let pin = armed(&pins);
        let (path, verify) = (pins.path(WHOSE), pins.verify_path(WHOSE));
        let good = fs::read(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = pins.read(WHOSE).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && error.contains("feature-001-login.json"), "{error}");
        for bytes in [b"".as_slice(), b"{", b"[]", &good[..good.len() / 2]] {
            write_private(&path, bytes, Flush::ToDisk).unwrap();
            assert!(pins.read(WHOSE).is_err(), "{bytes:?}");
        }
        fs::remove_file(&path).unwrap();
        symlink(&verify, &path).unwrap();
        assert!(pins.read(WHOSE).unwrap_err().to_string().contains("symbolic link"));
        fs::remove_file(&verify).unwrap();
        assert!(pins.verify(WHOSE, &pin).unwrap_err().to_string().contains("does not exist"));
        write_private(&verify, br#"{"armed_at": 6, "commands": {"T1": "x"}}"#, Flush::ToDisk)
            .unwrap();
        assert!(pins.verify(WHOSE, &pin).unwrap_err().to_string().contains("another arming"));
    }

    #[test]
    fn inside_place_is_refused() {
        let (scratch, pins) = place();
        let inside = pins.root.join("state");
        fs::create_dir_all(&inside).unwrap();
        let link = scratch.path().join("link");
        symlink(&inside, &link).unwrap();
        for folder in [inside.join("a"), link.join("a/b")] {
            let pins = Pins { root: pins.root.clone(), folder };
            let error = pins.write(WHOSE, &Pin::default(), &VerifyCommands::new()).unwrap_err();
            assert!(error.to_string().contains("lies in the project"), "{error}");
        }
    }

    #[test]
    fn version_1_0_0_refuses_a_pin_by_its_name() {
        #[derive(Debug, serde::Deserialize)]
        struct Older {
            project: String,
        }

        let (_scratch, pins) = place();
        armed(&pins);
        let path = pins.path(WHOSE);
        let refused = load_private::<Older>(&path, MOST).unwrap_err().to_string();
        assert!(refused.contains("feature-001-login.json"), "{refused}");
        // What that version wrote is read.
        let mut pin: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        pin["project"] = pin["project"][0].clone();
        pin["version"] = 1.into();
        write_private(&path, pin.to_string().as_bytes(), Flush::ToDisk).unwrap();
        let older: Older = load_private(&path, MOST).unwrap().unwrap();
        assert_eq!(older.project, pins.root.to_string_lossy());
        assert_eq!(pins.read(WHOSE).unwrap().unwrap().checks[0].run, "cargo test");
    }

    #[test]
    fn an_ended_pin_keeps_nothing_that_was_armed() {
        let (_scratch, pins) = place();
        let mut pin = armed(&pins);
        pin.limits.max_iterations = 7;
        let (reason, words) = (TerminalReason::Cancelled, "cancelled".to_owned());
        let ended = PinnedEnd { reason, words, unnotified: false };
        pins.update(WHOSE, &pin.closed(ended)).unwrap();
        let pin = pins.read(WHOSE).unwrap().unwrap();
        assert_eq!((pin.checks.len(), pin.verify, pin.limits.max_iterations), (0, 0, 7));
        assert!(!pin.is_armed() && !pins.verify_path(WHOSE).exists());
    }

    #[test]
    fn the_pin_of_another_project_is_none() {
        let (scratch, pins) = place();
        armed(&pins);
        let root = scratch.path().join("other");
        fs::create_dir_all(&root).unwrap();
        let other = Pins { root, folder: pins.folder.clone() };
        assert_eq!(other.read(WHOSE).unwrap(), None);
    }
}
