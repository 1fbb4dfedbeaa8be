//! Files: opened in spite of other programs, told apart, replaced in one step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf, Prefix};
use std::time::Duration;

use crate::world::{self, Deadline, FileTime, WallTime};

/// Opens a link itself.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// Opens a folder, too.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// Error codes: access is denied; another program has the file open; another program locks a part.
const ACCESS_DENIED: i32 = 5;
const SHARING_VIOLATION: i32 = 32;
const LOCK_VIOLATION: i32 = 33;
/// How long another program may hold a file that is replaced: a reader, a scanner, an editor that saves.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(2);
/// Endings of programs, the defaults of `PATHEXT`.
const PROGRAMS: [&str; 4] = ["com", "exe", "bat", "cmd"];

/// No pipe has a place among files here.
pub fn without_waiting(_: &mut OpenOptions) {}

/// Opens a link itself, which is no file.
pub fn without_links(options: &mut OpenOptions) {
    options.custom_flags(OPEN_REPARSE_POINT);
}

/// The folder is closed to others already.
pub fn for_its_owner(_: &mut OpenOptions) {}

/// Tries again while another program replaces the file.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    with_patience(&[SHARING_VIOLATION], || options.open(path))
}

/// Tries again for half a second while another program has the file.
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

/// This system locks files only.
pub fn open_folder(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn special_kind(kind: FileType) -> Option<&'static str> {
    kind.is_symlink().then_some("a link")
}

/// Tells a file from all others, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    pub fn of(file: &File) -> Option<Self> {
        let about = winapi_util::file::information(file).ok()?;
        Some(Self(about.volume_serial_number(), about.file_index()))
    }

    /// Follows links.
    pub fn at(path: &Path) -> Option<Self> {
        Self::opened(path, BACKUP_SEMANTICS)
    }

    /// Follows no link.
    pub fn of_entry(path: &Path) -> Option<Self> {
        Self::opened(path, BACKUP_SEMANTICS | OPEN_REPARSE_POINT)
    }

    fn opened(path: &Path, flags: u32) -> Option<Self> {
        // Without access, no other program is in the way.
        let file = OpenOptions::new().access_mode(0).custom_flags(flags).open(path).ok()?;
        Self::of(&file)
    }
}

/// In bytes.
pub fn longest() -> u64 {
    u64::MAX
}

/// The last change of a file, by the files' clock.
pub fn changed_at(meta: &Metadata) -> FileTime {
    file_time(meta.last_write_time()).max(file_time(meta.creation_time()))
}

/// `steps` are 100 nanoseconds each, from the year 1601.
pub fn file_time(steps: u64) -> FileTime {
    /// Seconds from 1601 to the Unix epoch.
    const EPOCH: u64 = 11_644_473_600;
    const SECOND: u64 = 10_000_000;
    match (steps / SECOND).checked_sub(EPOCH) {
        Some(seconds) => FileTime::of(seconds, steps % SECOND * 100),
        None => FileTime::default(),
    }
}

/// When the entry was made, by the wall clock.
pub fn entry_changed_at(meta: &Metadata) -> WallTime {
    meta.created().map(WallTime::from).unwrap_or_default()
}

/// Replaces a file at `to`. Waits while another program has that file open.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let passing = [ACCESS_DENIED, SHARING_VIOLATION, LOCK_VIOLATION];
    // Neither a folder in the way nor a read-only place will pass.
    let is_file = to.symlink_metadata().is_ok_and(|meta| meta.is_file());
    with_patience(if is_file { &passing } else { &[] }, || fs::rename(from, to))
}

/// Replaces a file in one step.
pub fn swap(temporary: &Path, path: &Path) -> io::Result<()> {
    rename(temporary, path)
}

/// Not possible here.
pub fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A person's folders are closed with all that is in them.
pub fn close_to_all_but_its_owner(_: &File) -> io::Result<()> {
    Ok(())
}

/// Leaves access control lists alone.
pub fn close_to_others(_: &Metadata, _: impl FnOnce(Permissions) -> io::Result<()>) {}

/// Access control lists are not read.
pub fn is_closed_to_others(_: &Metadata) -> bool {
    true
}

/// Access control lists are not read: a file is as closed as its folder.
pub fn is_own_and_closed(_: &Metadata) -> bool {
    true
}

/// The parent folders are closed to others already.
pub fn folders_for_their_owner(_: &mut DirBuilder) {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    Data,
    Program,
}

/// All may read; the name makes a program.
pub fn for_all(_: &mut OpenOptions, _: FileUse) {}

pub fn open_to_all(_: &Path) -> io::Result<()> {
    Ok(())
}

pub fn is_program(path: &Path) -> bool {
    has_name_of_program(path) && path.is_file()
}

fn has_name_of_program(path: &Path) -> bool {
    path.extension()
        .is_some_and(|kind| PROGRAMS.iter().any(|known| kind.eq_ignore_ascii_case(known)))
}

/// The file names of a program in a folder.
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

/// The real path in the usual form.
#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let plain = without_prefix(&real);
    // Names such as `con`, or with a dot at the end, keep the prefix: without it they mean something else.
    let is_same = plain.canonicalize().is_ok_and(|again| again == real);
    Ok(if is_same { plain } else { real })
}

/// Removes the `\\?\` that the system puts in front.
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
