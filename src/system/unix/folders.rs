//! Folders as they are looked through: entries, and what the system says of each.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use crate::system::EntryKind;
use crate::world::FileTime;

/// How much of a folder's names the system hands over at once, in bytes.
const ROOM: usize = 1 << 15;

/// What the system says of a file, a link or a folder.
#[derive(Clone, Copy, Debug)]
pub struct FileStat(Stat);

impl FileStat {
    /// Returns that of what is at a path, a link being itself; `None` where there is nothing.
    pub fn of_entry(path: &Path) -> Option<Self> {
        rustix::fs::lstat(path).ok().map(Self)
    }

    /// Returns when its content, name or mode last changed.
    ///
    /// The time of its content alone can be set back by anybody.
    pub fn changed(&self) -> FileTime {
        FileTime::of(self.0.st_ctime, self.0.st_ctime_nsec).max(self.modified())
    }

    /// Returns when its content last changed.
    pub fn modified(&self) -> FileTime {
        FileTime::of(self.0.st_mtime, self.0.st_mtime_nsec)
    }

    /// Returns whether it is a folder.
    pub fn is_folder(&self) -> bool {
        FileType::from_raw_mode(self.0.st_mode).is_dir()
    }

    /// Returns its size, in bytes.
    pub fn size(&self) -> u64 {
        self.0.st_size.cast_unsigned()
    }

    /// Returns a number for its kind, and whether its owner may run it: what git knows of a mode.
    pub fn mode(&self) -> u64 {
        u64::from(self.0.st_mode) & 0o170_100
    }

    /// Returns the time of its content in nanoseconds since the Unix epoch, as it is, also before that.
    pub fn modified_nanoseconds(&self) -> i128 {
        i128::from(self.0.st_mtime) * 1_000_000_000 + i128::from(self.0.st_mtime_nsec)
    }
}

/// An entry of a folder.
pub struct FolderEntry<'a> {
    folder: &'a OwnedFd,
    name: &'a CStr,
    kind: FileType,
}

impl FolderEntry<'_> {
    /// Returns its name.
    pub fn name(&self) -> &[u8] {
        self.name.to_bytes()
    }

    /// Returns what it is.
    pub fn kind(&self) -> EntryKind {
        match self.kind {
            FileType::Directory => EntryKind::Folder,
            FileType::RegularFile | FileType::Symlink => EntryKind::File,
            FileType::Unknown => EntryKind::Unknown,
            _ => EntryKind::Other,
        }
    }

    /// Returns what the system says of it, a link being itself.
    pub fn stat(&self) -> Option<FileStat> {
        statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok().map(FileStat)
    }
}

/// Where the system puts the names of a folder.
pub struct NameRoom(
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux is given room"))]
    Vec<u8>,
);

impl Default for NameRoom {
    fn default() -> Self {
        Self(Vec::with_capacity(ROOM))
    }
}

/// An open folder.
pub struct OpenFolder(OwnedFd);

impl OpenFolder {
    /// Returns the folder that a path leads to, `None` where there is none.
    pub fn at(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(Self)
    }

    /// Returns a folder below it that is no link, by its path without a slash at the end; itself for an empty one.
    pub fn below(&self, path: &[u8]) -> Option<Self> {
        let path =
            if path.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(path)) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.0, path, flags, Mode::empty()).ok().map(Self)
    }

    /// Returns whether something with this name is in it.
    pub fn has(&self, name: &CStr) -> bool {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Returns what the system says of the folder itself.
    pub fn stat(&self) -> Option<FileStat> {
        fstat(&self.0).ok().map(FileStat)
    }

    /// Returns what the system says of a file below it, by its path, a link being itself.
    pub fn stat_of(&self, path: &[u8]) -> Option<FileStat> {
        let path = Path::new(OsStr::from_bytes(path));
        statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(FileStat)
    }

    /// Returns the bytes of a file in it that is no link, empty where there is none, or one with more than `most`.
    pub fn bytes_of(&self, name: &CStr, most: u64) -> Vec<u8> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(&self.0, name, flags, Mode::empty()) else {
            return Vec::new();
        };
        let file = File::from(file);
        let mut text = Vec::new();
        match file.metadata() {
            Ok(meta) if meta.is_file() && meta.len() <= most => {
                // What cannot be read is as good as empty.
                let _ = file.take(most).read_to_end(&mut text);
            }
            _ => {}
        }
        text
    }

    /// Shows `visit` the entries until it returns an error.
    ///
    /// The names stay where the system has put them: this is most of what a look costs.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn list<E>(
        &self,
        room: &mut NameRoom,
        visit: &mut dyn FnMut(&FolderEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let NameRoom(room) = room;
        room.clear();
        let mut names = rustix::fs::RawDir::new(&self.0, room.spare_capacity_mut());
        // A second look begins again at the start.
        let _start = rustix::fs::seek(&self.0, rustix::fs::SeekFrom::Start(0));
        while let Some(Ok(entry)) = names.next() {
            let (name, kind) = (entry.file_name(), entry.file_type());
            visit(&FolderEntry { folder: &self.0, name, kind })?;
        }
        Ok(())
    }

    /// Shows `visit` the entries until it returns an error.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn list<E>(
        &self,
        _: &mut NameRoom,
        visit: &mut dyn FnMut(&FolderEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Ok(names) = rustix::fs::Dir::read_from(&self.0) else {
            return Ok(());
        };
        for entry in names.flatten() {
            let (name, kind) = (entry.file_name(), entry.file_type());
            visit(&FolderEntry { folder: &self.0, name, kind })?;
        }
        Ok(())
    }
}
