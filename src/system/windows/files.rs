//! Files: opened although another program has them for a moment, told apart, replaced in one step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf, Prefix};
use std::time::Duration;

use crate::world::{self, Deadline, FileTime, WallTime};

/// Opens a link itself, and not what it leads to.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// Opens a folder, too.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// The system's numbers for: access is denied, another program has the file open, has a part of it locked.
const ACCESS_DENIED: i32 = 5;
const SHARING_VIOLATION: i32 = 32;
const LOCK_VIOLATION: i32 = 33;
/// How long another program may have a file open that is to be replaced: a reader, a scanner, an editor that saves.
const PATIENCE: Duration = Duration::from_millis(500);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(2);
/// What ends the name of a file that can be started, as `PATHEXT` has it from the start.
const PROGRAMS: [&str; 4] = ["com", "exe", "bat", "cmd"];

/// Has a file opened without waiting: no pipe has a place among files here.
pub fn without_waiting(_: &mut OpenOptions) {}

/// Has a link opened itself, so that it is no file.
pub fn without_links(options: &mut OpenOptions) {
    options.custom_flags(OPEN_REPARSE_POINT);
}

/// Has a file that is made closed to others, as the folder already is in which it lies.
pub fn for_its_owner(_: &mut OpenOptions) {}

/// Opens a file; one that another program is just replacing is tried again.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    with_patience(&[SHARING_VIOLATION], || options.open(path))
}

/// Tries again while another program has the file, for half a second at most.
fn with_patience<T>(passing: &[i32], mut once: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let deadline = Deadline::after(PATIENCE);
    loop {
        match once() {
            Err(error)
                if error.raw_os_error().is_some_and(|number| passing.contains(&number))
                    && !deadline.is_over() =>
            {
                world::pause(PAUSE);
            }
            done => return done,
        }
    }
}

/// Opens a folder to lock it: this system locks files only.
pub fn open_folder(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns a word for what is neither a file nor a folder, `None` where there is none.
pub fn special_kind(kind: FileType) -> Option<&'static str> {
    kind.is_symlink().then_some("a link")
}

/// What tells one file from all others, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Returns that of an open file, `None` where the system does not say.
    pub fn of(file: &File) -> Option<Self> {
        let about = winapi_util::file::information(file).ok()?;
        Some(Self(about.volume_serial_number(), about.file_index()))
    }

    /// Returns that of what a path leads to.
    pub fn at(path: &Path) -> Option<Self> {
        Self::opened(path, BACKUP_SEMANTICS)
    }

    /// Returns that of what is at a path, a link being itself.
    pub fn of_entry(path: &Path) -> Option<Self> {
        Self::opened(path, BACKUP_SEMANTICS | OPEN_REPARSE_POINT)
    }

    fn opened(path: &Path, flags: u32) -> Option<Self> {
        // No access is asked for, so that no other program is in the way.
        let file = OpenOptions::new().access_mode(0).custom_flags(flags).open(path).ok()?;
        Self::of(&file)
    }
}

/// Returns how long a file may become, in bytes.
pub fn longest() -> u64 {
    u64::MAX
}

/// Returns when a file or its entry was last changed, by the clock of the files.
pub fn changed_at(meta: &Metadata) -> FileTime {
    file_time(meta.last_write_time()).max(file_time(meta.creation_time()))
}

/// Returns a time that the system counts in steps of 100 nanoseconds from the year 1601.
pub fn file_time(steps: u64) -> FileTime {
    /// From then to the Unix epoch, in seconds.
    const EPOCH: u64 = 11_644_473_600;
    const SECOND: u64 = 10_000_000;
    match (steps / SECOND).checked_sub(EPOCH) {
        Some(seconds) => FileTime::of(seconds, steps % SECOND * 100),
        None => FileTime::default(),
    }
}

/// Returns when the entry of a file was made, by the wall clock; unknown where the system does not say.
pub fn entry_changed_at(meta: &Metadata) -> WallTime {
    meta.created().map(WallTime::from).unwrap_or_default()
}

/// Gives a file another name, and takes the place of what had it; a file that another program has open for a moment is
/// waited for.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let passing = [ACCESS_DENIED, SHARING_VIOLATION, LOCK_VIOLATION];
    // A folder in that place, or a place where nothing may be written, does not pass.
    let is_file = to.symlink_metadata().is_ok_and(|meta| meta.is_file());
    with_patience(if is_file { &passing } else { &[] }, || fs::rename(from, to))
}

/// Puts a new file in the place of an old one, in one step.
pub fn swap(temporary: &Path, path: &Path) -> io::Result<()> {
    rename(temporary, path)
}

/// Has two folders swap their names in one step, which this system cannot.
pub fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Closes an open file to all but its owner: the folders of a person are, with all that is in them.
pub fn close_to_all_but_its_owner(_: &File) -> io::Result<()> {
    Ok(())
}

/// Takes from others what they may do with something of this user; the lists that say who may are left alone.
pub fn close_to_others(_: &Metadata, _: impl FnOnce(Permissions) -> io::Result<()>) {}

/// Returns whether others than the owner may do nothing with it, as far as is looked: the lists that say so are not read.
pub fn is_closed_to_others(_: &Metadata) -> bool {
    true
}

/// Returns whether a file is the user's own and closed to all others, as far as is looked: it is as the folder in which
/// it lies.
pub fn is_own_and_closed(_: &Metadata) -> bool {
    true
}

/// Has the folders that are made closed to all but their owner, as those are in which they lie.
pub fn folders_for_their_owner(_: &mut DirBuilder) {}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// To be read.
    Data,
    /// To be run.
    Program,
}

/// Has the file that is made open to all to read, and as a program to all to run: its name says what it is.
pub fn for_all(_: &mut OpenOptions, _: FileUse) {}

/// Makes a folder or a program one that all may enter or run.
pub fn open_to_all(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether this is a file that somebody may start.
pub fn is_program(path: &Path) -> bool {
    has_name_of_program(path) && path.is_file()
}

fn has_name_of_program(path: &Path) -> bool {
    path.extension().is_some_and(|kind| PROGRAMS.iter().any(|it| kind.eq_ignore_ascii_case(it)))
}

/// Returns the names that a program of this name may have in a folder.
pub fn names_of_program(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    let own = has_name_of_program(&path).then(|| path.clone());
    let longer = PROGRAMS.iter().map(move |kind| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(kind);
        PathBuf::from(name)
    });
    own.into_iter().chain(longer)
}

/// Returns the real path of what a path leads to, in the form that people and other programs write.
#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let plain = without_prefix(&real);
    // A name that means something else without it keeps it: one such as `con`, or with a dot at its end.
    let is_same = plain.canonicalize().is_ok_and(|again| again == real);
    Ok(if is_same { plain } else { real })
}

/// Returns the same path without the `\\?\` that the system puts before it.
pub fn without_prefix(path: &Path) -> PathBuf {
    let mut parts = path.components();
    let Some(Component::Prefix(prefix)) = parts.next() else { return path.to_owned() };
    let top = match prefix.kind() {
        Prefix::VerbatimDisk(letter) => PathBuf::from(format!("{}:\\", char::from(letter))),
        Prefix::VerbatimUNC(server, share) => {
            let mut top = OsString::from("\\\\");
            for part in [server, OsStr::new("\\"), share, OsStr::new("\\")] {
                top.push(part);
            }
            PathBuf::from(top)
        }
        _ => return path.to_owned(),
    };
    parts.filter(|part| *part != Component::RootDir).fold(top, |path, part| path.join(part))
}
