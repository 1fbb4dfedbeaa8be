//! Reads untrusted files: only regular files, within a size limit, inside the project.

use std::fmt;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::system::files::{self, real_path};
use crate::world::WallTime;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    /// The time of the last change.
    pub changed_at: WallTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Missing,
    /// Not a regular file; the word for what it is.
    NotAFile(&'static str),
    NotAFolder,
    TooLarge {
        /// The size in bytes.
        size: u64,
        /// Bytes that are read at most.
        most: u64,
    },
    /// A symbolic link leads out of the project.
    Outside,
    /// The words of the system's refusal.
    Refused(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(out, "it does not exist"),
            Self::NotAFile(what) => write!(out, "it is {what}, not a file"),
            Self::NotAFolder => write!(out, "it is not a folder"),
            Self::TooLarge { size, most } => {
                write!(out, "it has {size} bytes, and at most {most} are read")
            }
            Self::Outside => write!(out, "a symbolic link leads out of its folder"),
            Self::Refused(words) => write!(out, "{words}"),
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::IsADirectory => Self::NotAFile("a folder"),
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// Reads a regular file of at most `most` bytes, and never waits for a writer.
pub fn read(path: &Path, most: u64) -> Result<FileContent, Problem> {
    let (file, meta) = open(path)?;
    if meta.len() > most {
        return Err(Problem::TooLarge { size: meta.len(), most });
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    // A file may grow during the read: the limit holds all the same.
    let size = file.take(most + 1).read_to_end(&mut bytes)? as u64;
    if size > most {
        return Err(Problem::TooLarge { size, most });
    }
    Ok(FileContent { bytes, changed_at: meta.modified()?.into() })
}

/// As [`read`]; `None` where nothing is there.
pub fn read_if_there(path: &Path, most: u64) -> Result<Option<FileContent>, Problem> {
    match read(path, most) {
        Err(Problem::Missing) => Ok(None),
        found => found.map(Some),
    }
}

/// Opens a regular file; refuses a pipe, a folder or a device.
pub fn open(path: &Path) -> Result<(File, fs::Metadata), Problem> {
    let mut options = File::options();
    options.read(true);
    // Opening a pipe without a writer would wait forever.
    files::without_waiting(&mut options);
    let file = match files::open(&options, path) {
        Ok(file) => file,
        // Systems refuse to open a socket with different words.
        Err(error) => match fs::metadata(path) {
            Ok(meta) if !meta.is_file() => return Err(Problem::NotAFile(kind_of(&meta))),
            _ => return Err(error.into()),
        },
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(Problem::NotAFile(kind_of(&meta)));
    }
    Ok((file, meta))
}

fn kind_of(meta: &fs::Metadata) -> &'static str {
    if meta.is_dir() {
        return "a folder";
    }
    files::special_kind(meta.file_type()).unwrap_or("something else")
}

/// The real path of a folder, if it is inside `root`, through any links.
pub fn folder_inside(root: &Path, folder: &Path) -> Result<PathBuf, Problem> {
    let real = real_path(folder)?;
    if !is_inside(root, &real) {
        return Err(Problem::Outside);
    }
    if !real.is_dir() {
        return Err(Problem::NotAFolder);
    }
    Ok(real)
}

/// A real path is this folder or below it.
fn is_inside(folder: &Path, real: &Path) -> bool {
    // The fast path: a comparison of bytes nearly always decides.
    let rest = real.as_os_str().as_encoded_bytes();
    let rest = rest.strip_prefix(folder.as_os_str().as_encoded_bytes());
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/'))) || real.starts_with(folder)
}

#[derive(Debug, Default)]
pub struct FolderEntries {
    /// In the order of the system.
    pub entries: Vec<DirEntry>,
    /// The folder has more.
    pub has_more: bool,
}

/// At most `most` entries, because a folder may hold millions. An unreadable folder has none.
pub fn entries(folder: &Path, most: usize) -> FolderEntries {
    let mut found = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = found.by_ref().take(most).collect();
    FolderEntries { entries, has_more: found.next().is_some() }
}

/// Joins a path in one piece.
pub fn below(folder: &Path, names: &[&str]) -> PathBuf {
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + length);
    below_in(&mut path, folder, names);
    path
}

/// Joins a path in a buffer that is used again, because a new one takes 400 instructions.
pub fn below_in<'a>(path: &'a mut PathBuf, folder: &Path, names: &[&str]) -> &'a Path {
    path.clear();
    path.push(folder);
    path.extend(names);
    path
}

/// Reads a file of the project, if no link on its path leads out.
///
/// `folder` is a real path inside the project (see [`folder_inside`]).
pub fn read_in(folder: &Path, name: &str, most: u64) -> Result<FileContent, Problem> {
    let path = below(folder, &[name]);
    if path.symlink_metadata()?.is_symlink() && !is_inside(folder, &real_path(&path)?) {
        return Err(Problem::Outside);
    }
    read(&path, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_lists_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let counted = |most| {
            let found = entries(folder.path(), most);
            (found.entries.len(), found.has_more)
        };
        assert_eq!([counted(4), counted(5), counted(6)], [(4, true), (5, false), (5, false)]);
        assert_eq!(entries(&folder.path().join("missing"), 1).entries.len(), 0);
    }
}
