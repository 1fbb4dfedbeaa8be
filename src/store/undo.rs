//! Changes to several files, undone together if one of them fails.
//!
//! Refused means unchanged: arming and adopting remember each file before they write it. The file that makes the loop
//! block a session is written last.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::notes::put_aside;
use super::write::second_name;

/// Files as they were. A drop puts them back; [`Undo::keep`] leaves the changes in place.
///
/// Putting back needs no room on the disk: each file keeps its old content under a second name. If the program is
/// killed, that name stays as a temporary file like any other.
#[derive(Debug, Default)]
pub struct Undo {
    steps: Vec<UndoStep>,
}

#[derive(Debug)]
enum UndoStep {
    /// A file about to be written, and the second name of its old content; `None` for no file.
    Written {
        path: PathBuf,
        before: Option<PathBuf>,
    },
    Renamed {
        from: PathBuf,
        to: PathBuf,
    },
}

impl Undo {
    /// Remembers the file as it is, or that there is none. After an error nothing has changed.
    pub fn remember(&mut self, path: &Path) -> io::Result<()> {
        let before = match path.symlink_metadata() {
            Ok(meta) if meta.is_file() => Some(second_name(path)?),
            // What is not a file is never overwritten.
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        self.steps.push(UndoStep::Written { path: path.to_owned(), before });
        Ok(())
    }

    /// Moves a broken file aside, and returns its new path.
    pub fn put_aside(&mut self, path: &Path) -> io::Result<PathBuf> {
        let aside = put_aside(path)?;
        self.steps.push(UndoStep::Renamed { from: path.to_owned(), to: aside.clone() });
        Ok(aside)
    }

    pub fn keep(mut self) {
        for step in self.steps.drain(..) {
            if let UndoStep::Written { before: Some(before), .. } = step {
                // A file that stays here is removed with other temporary files.
                let _ = fs::remove_file(before);
            }
        }
    }
}

impl Drop for Undo {
    /// Puts everything back, the last change first. A file that cannot be put back stays: the caller reports the first
    /// error.
    fn drop(&mut self) {
        for step in self.steps.drain(..).rev() {
            let _ = match step {
                UndoStep::Written { path, before: None } => fs::remove_file(path),
                UndoStep::Written { path, before: Some(before) } => {
                    // A rename between two names of one file does nothing: the second name is removed.
                    fs::rename(&before, path).and_then(|()| fs::remove_file(before))
                }
                UndoStep::Renamed { from, to } => fs::rename(to, from),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::write::remove_leftovers;

    #[test]
    fn l3_unkept_files_are_restored() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("changed"), "old").unwrap();
        fs::write(path("untouched"), "old").unwrap();
        fs::write(path("corrupt"), "{").unwrap();
        let change = || {
            let mut undo = Undo::default();
            for name in ["changed", "untouched", "new"] {
                undo.remember(&path(name)).unwrap();
                // A second name of a file that is as old as a leftover.
                remove_leftovers(&path(name), Duration::ZERO);
            }
            super::super::write::write_whole(
                &path("changed"),
                b"changed",
                super::super::write::Flush::ToSystem,
            )
            .unwrap();
            fs::write(path("new"), "new").unwrap();
            undo.put_aside(&path("corrupt")).unwrap();
            undo
        };
        let files = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut files: Vec<_> = entries
                .map(|entry| {
                    let entry = entry.unwrap();
                    let name = entry.file_name().into_string().unwrap();
                    (name, fs::read_to_string(entry.path()).unwrap())
                })
                .collect();
            files.sort();
            files
        };
        let before = files();
        drop(change());
        assert_eq!(files(), before);
        change().keep();
        let text = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert_eq!(
            (text("changed"), text("untouched"), text("new")),
            ("changed".into(), "old".into(), "new".into())
        );
        assert_eq!(files().len(), 4, "{:?}", files());
    }
}
