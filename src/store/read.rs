//! Reading files that somebody else may have put there: regular, bounded, inside the project.

use std::fmt;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::system::files::{self, real_path};
use crate::world::WallTime;

/// A regular file's content and the time of its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// All bytes of the file.
    pub bytes: Vec<u8>,
    /// When it was last changed.
    pub changed_at: WallTime,
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is nothing of that name.
    Missing,
    /// It is no regular file; the word says what it is.
    NotAFile(&'static str),
    /// It is no folder.
    NotAFolder,
    /// It is larger than allowed.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The most that is read, in bytes.
        most: u64,
    },
    /// A symbolic link leads out of the project.
    Outside,
    /// The system refused; its words.
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

/// The content of a regular file of at most `most` bytes; never waits for a writer.
pub fn read(path: &Path, most: u64) -> Result<FileContent, Problem> {
    let (file, meta) = open(path)?;
    if meta.len() > most {
        return Err(Problem::TooLarge { size: meta.len(), most });
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    // The file may grow while it is read; the limit holds all the same.
    let size = file.take(most + 1).read_to_end(&mut bytes)? as u64;
    if size > most {
        return Err(Problem::TooLarge { size, most });
    }
    Ok(FileContent { bytes, changed_at: meta.modified()?.into() })
}

/// An open regular file and its metadata; a pipe, a folder or a device is refused.
pub fn open(path: &Path) -> Result<(File, fs::Metadata), Problem> {
    let mut options = File::options();
    options.read(true);
    // Opening a pipe nobody writes to would wait forever without this.
    files::without_waiting(&mut options);
    let file = match files::open(&options, path) {
        Ok(file) => file,
        // Each system has words of its own for opening a socket.
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

/// The real path of a folder when it lies inside `root`, whatever links lead there.
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

/// Whether a real path is that of a folder or of something in it.
fn is_inside(folder: &Path, real: &Path) -> bool {
    // Nearly always the bytes of the one begin with those of the other: names need not be compared.
    let rest = real.as_os_str().as_encoded_bytes();
    let rest = rest.strip_prefix(folder.as_os_str().as_encoded_bytes());
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/'))) || real.starts_with(folder)
}

/// The entries of a folder, up to a bound.
#[derive(Debug, Default)]
pub struct FolderEntries {
    /// Those that were read, in the order of the system.
    pub entries: Vec<DirEntry>,
    /// Whether the folder has more.
    pub has_more: bool,
}

/// Returns at most `most` entries of a folder, none where it cannot be read: somebody may have put millions
/// there.
pub fn entries(folder: &Path, most: usize) -> FolderEntries {
    let mut found = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = found.by_ref().take(most).collect();
    FolderEntries { entries, has_more: found.next().is_some() }
}

/// The path of something below a folder, put together in one piece.
pub fn below(folder: &Path, names: &[&str]) -> PathBuf {
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + length);
    path.push(folder);
    path.extend(names);
    path
}

/// The content of a file of the project that is not reached through a link out of it.
///
/// `folder` must be a real path inside the project already (see [`folder_inside`]).
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
    fn a_folder_is_listed_up_to_its_bound() {
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
