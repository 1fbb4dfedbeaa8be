//! Files: opened without waiting, told apart, replaced in one step, closed to others.

use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::{Resource, getrlimit};

use crate::world::{FileTime, WallTime};

/// Has a file opened without waiting for a writer of a pipe, and without getting a terminal to control this process.
pub fn without_waiting(options: &mut OpenOptions) {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
}

/// Has a file opened without waiting, and a link refused.
pub fn without_links(options: &mut OpenOptions) {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.custom_flags(flags.bits().cast_signed());
}

/// Has a file that is made closed to all but its owner.
pub fn for_its_owner(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Opens a file; the system makes nobody wait here who asked not to.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Opens a folder to lock it; an error where it is none.
pub fn open_folder(folder: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(folder)
}

/// Returns a word for what is neither a file nor a folder, `None` where there is none.
pub fn special_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        return Some("a pipe");
    }
    if kind.is_socket() {
        return Some("a socket");
    }
    (kind.is_char_device() || kind.is_block_device()).then_some("a device")
}

/// What tells one file from all others, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    fn of_metadata(meta: &Metadata) -> Self {
        Self(meta.dev(), meta.ino())
    }

    /// Returns that of an open file, `None` where the system does not say.
    pub fn of(file: &File) -> Option<Self> {
        file.metadata().ok().as_ref().map(Self::of_metadata)
    }

    /// Returns that of what a path leads to.
    pub fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::of_metadata)
    }

    /// Returns that of what is at a path, a link being itself.
    pub fn of_entry(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::of_metadata)
    }
}

/// Returns when a file or its entry was last changed, by the clock of the files.
pub fn changed_at(meta: &Metadata) -> FileTime {
    let content = FileTime::of(meta.mtime(), meta.mtime_nsec());
    content.max(FileTime::of(meta.ctime(), meta.ctime_nsec()))
}

/// Returns when the entry of a file was last changed, by the wall clock; unknown where the system does not say.
pub fn entry_changed_at(meta: &Metadata) -> WallTime {
    let millis = meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000);
    u64::try_from(millis).map(WallTime::from_millis).unwrap_or_default()
}

/// Returns how long a file may become, in bytes.
pub fn longest() -> u64 {
    getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}

/// Gives a file another name, and takes the place of what had it.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Puts a new file in the place of an old one, in one step and without waiting for the disk.
///
/// A rename over a file makes ext4 write the new one out first: half a millisecond, and many on a busy
/// disk. Two names that swap their files do not. Where nothing swaps, it is a rename after all.
#[cfg(target_os = "linux")]
pub fn swap(temporary: &Path, path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, temporary, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => {
            // It is written; a leftover of the old one that cannot be removed is only litter.
            let _ = fs::remove_file(temporary);
            Ok(())
        }
        Err(_) => fs::rename(temporary, path),
    }
}

/// Puts a new file in the place of an old one, in one step.
#[cfg(not(target_os = "linux"))]
pub fn swap(temporary: &Path, path: &Path) -> io::Result<()> {
    fs::rename(temporary, path)
}

/// Has two files or folders swap their names in one step; `false` where the file system cannot.
pub fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Closes an open file to all but its owner.
pub fn close_to_all_but_its_owner(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))
}

/// Takes from others what they may do with something of this user; `set` gives it other permissions.
pub fn close_to_others(meta: &Metadata, set: impl FnOnce(Permissions) -> io::Result<()>) {
    let mode = meta.mode();
    if mode & 0o077 != 0 && meta.uid() == rustix::process::geteuid().as_raw() {
        // Where it cannot be closed, it stays as somebody made it.
        let _ = set(Permissions::from_mode(mode & 0o7700));
    }
}

/// Returns whether others than the owner may do nothing with it.
pub fn is_closed_to_others(meta: &Metadata) -> bool {
    let for_others = meta.mode() & 0o077;
    for_others == 0
}

/// Returns whether a file is the user's own and closed to all others. A file that came with a repository never is:
/// git opens every file to its group and to others.
pub fn is_own_and_closed(meta: &Metadata) -> bool {
    let allowed = meta.mode() & 0o777;
    meta.uid() == rustix::process::geteuid().as_raw() && matches!(allowed, 0o600 | 0o400)
}

/// Has the folders that are made closed to all but their owner.
pub fn folders_for_their_owner(builder: &mut DirBuilder) {
    builder.mode(0o700);
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// To be read.
    Data,
    /// To be run.
    Program,
}

/// Has the file that is made open to all to read, and as a program to all to run.
pub fn for_all(options: &mut OpenOptions, for_what: FileUse) {
    options.mode(match for_what {
        FileUse::Data => 0o644,
        FileUse::Program => 0o755,
    });
}

/// Makes a folder or a program one that all may enter or run.
pub fn open_to_all(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Returns whether this is a file that somebody may start.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns the names that a program of this name may have in a folder.
pub fn names_of_program(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    std::iter::once(path)
}
/// Returns the real path of what a path leads to.
#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
