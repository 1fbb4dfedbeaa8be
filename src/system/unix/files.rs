//! Files: opened without waiting, told apart, replaced in one step, closed to others.

use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::{Resource, getrlimit};

use crate::world::{FileTime, WallTime};

/// Opens neither wait for a pipe's writer nor let a terminal control this process.
pub fn without_waiting(options: &mut OpenOptions) {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
}

/// As [`without_waiting`], and a link is refused.
pub fn without_links(options: &mut OpenOptions) {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.custom_flags(flags.bits().cast_signed());
}

/// A new file is closed to all but its owner.
pub fn for_its_owner(options: &mut OpenOptions) {
    options.mode(0o600);
}

pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Opens a folder for a lock.
pub fn open_folder(folder: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(folder)
}

/// A word for something that is neither file nor folder.
pub fn special_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        return Some("a pipe");
    }
    if kind.is_socket() {
        return Some("a socket");
    }
    (kind.is_char_device() || kind.is_block_device()).then_some("a device")
}

/// Tells a file from all others, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    fn of_metadata(meta: &Metadata) -> Self {
        Self(meta.dev(), meta.ino())
    }

    pub fn of(file: &File) -> Option<Self> {
        file.metadata().ok().as_ref().map(Self::of_metadata)
    }

    /// Follows links.
    pub fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::of_metadata)
    }

    /// Follows no link.
    pub fn of_entry(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::of_metadata)
    }
}

/// The last change of a file or its entry, by the files' clock.
pub fn changed_at(meta: &Metadata) -> FileTime {
    let content = FileTime::of(meta.mtime(), meta.mtime_nsec());
    content.max(FileTime::of(meta.ctime(), meta.ctime_nsec()))
}

/// The last change of the entry, by the wall clock.
pub fn entry_changed_at(meta: &Metadata) -> WallTime {
    let millis = meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000);
    u64::try_from(millis).map(WallTime::from_millis).unwrap_or_default()
}

/// The longest file, in bytes.
pub fn longest() -> u64 {
    getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}

/// Replaces a file at `to`.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Replaces a file in one step, without waiting for the disk.
///
/// After a rename over a file, ext4 writes the new file out first: half a millisecond, and more on a busy disk.
/// Swapping two names avoids that. Where nothing swaps, a rename does.
#[cfg(target_os = "linux")]
pub fn swap(temporary: &Path, path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, temporary, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => {
            // The file is written; a leftover of the old one is only litter.
            let _ = fs::remove_file(temporary);
            Ok(())
        }
        Err(_) => fs::rename(temporary, path),
    }
}

/// Replaces a file in one step.
#[cfg(not(target_os = "linux"))]
pub fn swap(temporary: &Path, path: &Path) -> io::Result<()> {
    fs::rename(temporary, path)
}

/// Swaps two names in one step; `false` where the file system cannot.
pub fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub fn close_to_all_but_its_owner(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))
}

/// Takes the others' rights to something of this user; `set` changes the permissions.
pub fn close_to_others(meta: &Metadata, set: impl FnOnce(Permissions) -> io::Result<()>) {
    let mode = meta.mode();
    if mode & 0o077 != 0 && meta.uid() == rustix::process::geteuid().as_raw() {
        // Where `set` fails, the permissions stay.
        let _ = set(Permissions::from_mode(mode & 0o7700));
    }
}

pub fn is_closed_to_others(meta: &Metadata) -> bool {
    let for_others = meta.mode() & 0o077;
    for_others == 0
}

/// The file is this user's own and closed to all others. No file from a repository is: git opens every file to its
/// group and to others.
pub fn is_own_and_closed(meta: &Metadata) -> bool {
    let allowed = meta.mode() & 0o777;
    meta.uid() == rustix::process::geteuid().as_raw() && matches!(allowed, 0o600 | 0o400)
}

/// New folders are closed to all but their owner.
pub fn folders_for_their_owner(builder: &mut DirBuilder) {
    builder.mode(0o700);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    Data,
    Program,
}

/// All may read the new file, and run it if it is a program.
pub fn for_all(options: &mut OpenOptions, for_what: FileUse) {
    options.mode(match for_what {
        FileUse::Data => 0o644,
        FileUse::Program => 0o755,
    });
}

/// All may enter the folder or run the program.
pub fn open_to_all(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Somebody may start this file.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The file names of a program in a folder.
pub fn names_of_program(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    std::iter::once(path)
}
#[expect(clippy::disallowed_methods, reason = "this is the room for it")]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
