//! Folders: their entries, and the system's facts on each.

use std::ffi::CStr;
use std::fs::{self, DirEntry, Metadata};
use std::io::Read;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::files::{changed_at, file_time};
use super::names;
use crate::system::EntryKind;
use crate::world::FileTime;

/// Opens a link itself.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// The system's facts on a file, a link or a folder.
#[derive(Clone, Copy, Debug)]
pub struct FileStat {
    changed: FileTime,
    /// The content's last change, in the system's count.
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

    /// Follows no link.
    pub fn of_entry(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::of)
    }

    /// The last change of the content, or the creation.
    pub fn changed(&self) -> FileTime {
        self.changed
    }

    pub fn modified(&self) -> FileTime {
        file_time(self.written)
    }

    pub fn is_folder(&self) -> bool {
        self.kind == 2
    }

    pub fn is_file(&self) -> bool {
        !self.is_folder()
    }

    /// In bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The kind: git knows no more here.
    pub fn mode(&self) -> u64 {
        self.kind
    }

    pub fn modified_nanoseconds(&self) -> i128 {
        i128::from(self.written) * 100
    }
}

pub struct FolderEntry<'a> {
    entry: &'a DirEntry,
    name: &'a [u8],
}

impl FolderEntry<'_> {
    pub fn name(&self) -> &[u8] {
        self.name
    }

    pub fn kind(&self) -> EntryKind {
        match self.entry.file_type() {
            Ok(kind) if kind.is_dir() => EntryKind::Folder,
            Ok(kind) if kind.is_file() || kind.is_symlink() => EntryKind::File,
            Ok(_) => EntryKind::Other,
            Err(_) => EntryKind::Unknown,
        }
    }

    /// Follows no link.
    pub fn stat(&self) -> Option<FileStat> {
        self.entry.metadata().ok().as_ref().map(FileStat::of)
    }
}

/// Empty: the system has a buffer of its own.
#[derive(Default)]
pub struct NameRoom(());

pub struct OpenFolder(PathBuf);

impl OpenFolder {
    pub fn at(path: &Path) -> Option<Self> {
        path.is_dir().then(|| Self(path.to_owned()))
    }

    /// A folder below, which is no link. The path has no slash at its end; an empty path is the folder itself.
    pub fn below(&self, path: &[u8]) -> Option<Self> {
        if path.is_empty() {
            return Some(Self(self.0.clone()));
        }
        let path = self.path_of(path);
        FileStat::of_entry(&path).is_some_and(|stat| stat.is_folder()).then_some(Self(path))
    }

    fn path_of(&self, path: &[u8]) -> PathBuf {
        let parts = path.split(|byte| *byte == b'/');
        parts.fold(self.0.clone(), |path, part| path.join(names::from_bytes(part)))
    }

    pub fn has(&self, name: &CStr) -> bool {
        self.stat_of(name.to_bytes()).is_some()
    }

    pub fn stat(&self) -> Option<FileStat> {
        FileStat::of_entry(&self.0)
    }

    /// Follows no link.
    pub fn stat_of(&self, path: &[u8]) -> Option<FileStat> {
        FileStat::of_entry(&self.path_of(path))
    }

    /// A file's bytes; empty for a link, a missing file, or one with more than `most` bytes.
    pub fn bytes_of(&self, name: &CStr, most: u64) -> Vec<u8> {
        let path = self.path_of(name.to_bytes());
        let mut text = Vec::new();
        let opened = fs::OpenOptions::new().read(true).custom_flags(OPEN_REPARSE_POINT).open(path);
        if let Ok(file) = opened
            && file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= most)
        {
            // An unreadable file is as good as empty.
            let _ = file.take(most).read_to_end(&mut text);
        }
        text
    }

    /// Shows each entry to `visit` until it fails.
    pub fn list<E>(
        &self,
        _: &mut NameRoom,
        visit: &mut dyn FnMut(&FolderEntry<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        // As elsewhere, a folder that may not be opened shows nothing.
        for entry in fs::read_dir(&self.0).into_iter().flatten() {
            let Ok(entry) = entry else { return Ok(false) };
            let name = entry.file_name();
            visit(&FolderEntry { entry: &entry, name: name.as_encoded_bytes() })?;
        }
        Ok(true)
    }
}
