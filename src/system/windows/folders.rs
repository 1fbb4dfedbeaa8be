//! Folders as they are looked through: entries, and what the system says of each.

use std::ffi::CStr;
use std::fs::{self, DirEntry, Metadata};
use std::io::Read;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::files::{changed_at, file_time};
use super::names;
use crate::system::EntryKind;
use crate::world::FileTime;

/// Opens a link itself, and not what it leads to.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// What the system says of a file, a link or a folder.
#[derive(Clone, Copy, Debug)]
pub struct FileStat {
    changed: FileTime,
    /// When its content last changed, in the system's own count.
    written: u64,
    size: u64,
    /// 0 for a file, 1 for a link, 2 for a folder.
    kind: u64,
}

impl FileStat {
    fn of(meta: &Metadata) -> Self {
        let kind = match meta.file_type() {
            kind if kind.is_symlink() => 1,
            kind if kind.is_dir() => 2,
            _ => 0,
        };
        let written = meta.last_write_time();
        Self { changed: changed_at(meta), written, size: meta.file_size(), kind }
    }

    /// Returns that of what is at a path, a link being itself; `None` where there is nothing.
    pub fn of_entry(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::of)
    }

    /// Returns when its content last changed, or when it was made.
    pub fn changed(&self) -> FileTime {
        self.changed
    }

    /// Returns when its content last changed.
    pub fn modified(&self) -> FileTime {
        file_time(self.written)
    }

    /// Returns whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == 2
    }

    /// Returns its size, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns a number for its kind: there is no more that git knows of here.
    pub fn mode(&self) -> u64 {
        self.kind
    }

    /// Returns the time of its content in a count of nanoseconds.
    pub fn modified_nanoseconds(&self) -> i128 {
        i128::from(self.written) * 100
    }
}

/// An entry of a folder.
pub struct FolderEntry<'a> {
    entry: &'a DirEntry,
    name: &'a [u8],
}

impl FolderEntry<'_> {
    /// Returns its name.
    pub fn name(&self) -> &[u8] {
        self.name
    }

    /// Returns what it is.
    pub fn kind(&self) -> EntryKind {
        match self.entry.file_type() {
            Ok(kind) if kind.is_dir() => EntryKind::Folder,
            Ok(kind) if kind.is_file() || kind.is_symlink() => EntryKind::File,
            Ok(_) => EntryKind::Other,
            Err(_) => EntryKind::Unknown,
        }
    }

    /// Returns what the system says of it, a link being itself.
    pub fn stat(&self) -> Option<FileStat> {
        self.entry.metadata().ok().as_ref().map(FileStat::of)
    }
}

/// Where the system puts the names of a folder: it has its own room here.
#[derive(Default)]
pub struct NameRoom(());

/// A folder.
pub struct OpenFolder(PathBuf);

impl OpenFolder {
    /// Returns the folder that a path leads to, `None` where there is none.
    pub fn at(path: &Path) -> Option<Self> {
        path.is_dir().then(|| Self(path.to_owned()))
    }

    /// Returns a folder below it that is no link, by its path without a slash at the end; itself for an empty one.
    pub fn below(&self, path: &[u8]) -> Option<Self> {
        if path.is_empty() {
            return Some(Self(self.0.clone()));
        }
        let path = self.path_of(path);
        FileStat::of_entry(&path).is_some_and(|it| it.is_folder()).then_some(Self(path))
    }

    fn path_of(&self, path: &[u8]) -> PathBuf {
        let parts = path.split(|byte| *byte == b'/');
        parts.fold(self.0.clone(), |path, part| path.join(names::from_bytes(part)))
    }

    /// Returns whether something with this name is in it.
    pub fn has(&self, name: &CStr) -> bool {
        self.stat_of(name.to_bytes()).is_some()
    }

    /// Returns what the system says of the folder itself.
    pub fn stat(&self) -> Option<FileStat> {
        FileStat::of_entry(&self.0)
    }

    /// Returns what the system says of a file below it, by its path, a link being itself.
    pub fn stat_of(&self, path: &[u8]) -> Option<FileStat> {
        FileStat::of_entry(&self.path_of(path))
    }

    /// Returns the bytes of a file in it that is no link, empty where there is none, or one with more than `most`.
    pub fn bytes_of(&self, name: &CStr, most: u64) -> Vec<u8> {
        let path = self.path_of(name.to_bytes());
        let mut text = Vec::new();
        let opened = fs::OpenOptions::new().read(true).custom_flags(OPEN_REPARSE_POINT).open(path);
        if let Ok(file) = opened
            && file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= most)
        {
            // What cannot be read is as good as empty.
            let _ = file.take(most).read_to_end(&mut text);
        }
        text
    }

    /// Shows `visit` the entries until it returns an error.
    pub fn list<E>(
        &self,
        _: &mut NameRoom,
        visit: &mut dyn FnMut(&FolderEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            visit(&FolderEntry { entry: &entry, name: name.as_encoded_bytes() })?;
        }
        Ok(())
    }
}
