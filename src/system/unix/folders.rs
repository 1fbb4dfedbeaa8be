//! Folders: their entries, and the system's facts on each.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::io::Errno;

use crate::system::EntryKind;
use crate::world::FileTime;

/// Bytes of names that the system hands over at once.
const ROOM: usize = 1 << 15;

/// The system's facts on a file, a link or a folder.
#[derive(Clone, Copy, Debug)]
pub struct FileStat(Stat);

impl FileStat {
    /// Follows no link.
    pub fn of_entry(path: &Path) -> Option<Self> {
        rustix::fs::lstat(path).ok().map(Self)
    }

    /// The last change of content, name or mode.
    ///
    /// Anybody can set back the time of the content alone.
    pub fn changed(&self) -> FileTime {
        FileTime::of(self.0.st_ctime, self.0.st_ctime_nsec).max(self.modified())
    }

    /// The last change of the content.
    pub fn modified(&self) -> FileTime {
        FileTime::of(self.0.st_mtime, self.0.st_mtime_nsec)
    }

    pub fn is_folder(&self) -> bool {
        FileType::from_raw_mode(self.0.st_mode).is_dir()
    }

    /// A link is one, too; a pipe, a socket and a device are none.
    pub fn is_file(&self) -> bool {
        let kind = FileType::from_raw_mode(self.0.st_mode);
        kind.is_file() || kind.is_symlink()
    }

    /// In bytes.
    pub fn size(&self) -> u64 {
        self.0.st_size.cast_unsigned()
    }

    /// The kind, and whether the owner may run it: all that git knows of a mode.
    pub fn mode(&self) -> u64 {
        u64::from(self.0.st_mode) & 0o170_100
    }

    /// The content's time in nanoseconds since the Unix epoch, negative before.
    pub fn modified_nanoseconds(&self) -> i128 {
        i128::from(self.0.st_mtime) * 1_000_000_000 + i128::from(self.0.st_mtime_nsec)
    }
}

pub struct FolderEntry<'a> {
    folder: &'a OwnedFd,
    name: &'a CStr,
    kind: FileType,
}

impl FolderEntry<'_> {
    pub fn name(&self) -> &[u8] {
        self.name.to_bytes()
    }

    pub fn kind(&self) -> EntryKind {
        match self.kind {
            FileType::Directory => EntryKind::Folder,
            FileType::RegularFile | FileType::Symlink => EntryKind::File,
            FileType::Unknown => EntryKind::Unknown,
            _ => EntryKind::Other,
        }
    }

    /// Follows no link.
    pub fn stat(&self) -> Option<FileStat> {
        statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok().map(FileStat)
    }
}

/// The buffer for a folder's names.
pub struct NameRoom(
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux is given room"))]
    Vec<u8>,
);

impl Default for NameRoom {
    fn default() -> Self {
        Self(Vec::with_capacity(ROOM))
    }
}

pub struct OpenFolder(OwnedFd);

impl OpenFolder {
    pub fn at(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(Self)
    }

    /// A folder below, which is no link. The path has no slash at its end; an empty path is the folder itself.
    pub fn below(&self, path: &[u8]) -> Option<Self> {
        let path =
            if path.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(path)) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.0, path, flags, Mode::empty()).ok().map(Self)
    }

    pub fn has(&self, name: &CStr) -> bool {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    pub fn stat(&self) -> Option<FileStat> {
        fstat(&self.0).ok().map(FileStat)
    }

    /// Follows no link.
    pub fn stat_of(&self, path: &[u8]) -> Option<FileStat> {
        let path = Path::new(OsStr::from_bytes(path));
        statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(FileStat)
    }

    /// A file's bytes; empty for a link, a missing file, or one with more than `most` bytes.
    pub fn bytes_of(&self, name: &CStr, most: u64) -> Vec<u8> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(&self.0, name, flags, Mode::empty()) else { return Vec::new() };
        let file = File::from(file);
        let mut text = Vec::new();
        match file.metadata() {
            Ok(meta) if meta.is_file() && meta.len() <= most => {
                // An unreadable file is as good as empty.
                let _ = file.take(most).read_to_end(&mut text);
            }
            _ => {}
        }
        text
    }

    /// Shows each entry to `visit` until it fails. `false`: the system did not give all entries.
    ///
    /// The names stay in the system's buffer, because copying them would cost most of a listing.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn list<E>(
        &self,
        room: &mut NameRoom,
        visit: &mut dyn FnMut(&FolderEntry<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let NameRoom(room) = room;
        room.clear();
        let mut names = rustix::fs::RawDir::new(&self.0, room.spare_capacity_mut());
        // A second listing begins at the start again.
        let _start = rustix::fs::seek(&self.0, rustix::fs::SeekFrom::Start(0));
        while let Some(entry) = names.next() {
            let entry = match entry {
                Ok(entry) => entry,
                // A folder that was removed meanwhile has no entries.
                Err(error) => return Ok(error == Errno::NOENT),
            };
            let (name, kind) = (entry.file_name(), entry.file_type());
            visit(&FolderEntry { folder: &self.0, name, kind })?;
        }
        Ok(true)
    }

    /// Shows each entry to `visit` until it fails. `false`: the system did not give all entries.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn list<E>(
        &self,
        _: &mut NameRoom,
        visit: &mut dyn FnMut(&FolderEntry<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Ok(names) = rustix::fs::Dir::read_from(&self.0) else { return Ok(false) };
        for entry in names {
            let Ok(entry) = entry else { return Ok(false) };
            let (name, kind) = (entry.file_name(), entry.file_type());
            visit(&FolderEntry { folder: &self.0, name, kind })?;
        }
        Ok(true)
    }
}
