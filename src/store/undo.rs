//! Changes to several files that are taken back together when one of them fails.
//!
//! Refused means unchanged: arming and taking over remember each file before they write the file, and write last what makes the
//! loop block a session.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::write::second_name;

/// Files as they were. Dropped, it puts them back; [`Undo::keep`] leaves the changes in place.
///
/// Putting back needs no room on the disk: each file has kept its old content under a second name. A
/// program that is killed in between leaves that name, which is a temporary file like any other.
#[derive(Debug, Default)]
pub struct Undo {
    steps: Vec<UndoStep>,
}

#[derive(Debug)]
enum UndoStep {
    /// A file that is about to be written, and the second name of what was in it, `None` for no file.
    Written { path: PathBuf, before: Option<PathBuf> },
    /// A file that was renamed.
    Renamed { from: PathBuf, to: PathBuf },
}

impl Undo {
    /// Remembers a file as it is now, also that there is none; an error when that cannot be done, and
    /// then nothing has changed.
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

    /// Remembers that a file was renamed.
    pub fn renamed(&mut self, from: &Path, to: &Path) {
        self.steps.push(UndoStep::Renamed { from: from.to_owned(), to: to.to_owned() });
    }

    /// Leaves all changes in place.
    pub fn keep(mut self) {
        for step in self.steps.drain(..) {
            if let UndoStep::Written { before: Some(before), .. } = step {
                // What is left of it is removed with other temporary files.
                let _ = fs::remove_file(before);
            }
        }
    }
}

impl Drop for Undo {
    /// Puts everything back, the last change first. What cannot be put back stays; the error that led here
    /// is the one to report.
    fn drop(&mut self) {
        for step in self.steps.drain(..).rev() {
            let _ = match step {
                UndoStep::Written { path, before: None } => fs::remove_file(path),
                UndoStep::Written { path, before: Some(before) } => {
                    // Two names of one file are left as they are by a rename: the second one goes then.
                    fs::rename(&before, path).and_then(|()| fs::remove_file(before))
                }
                UndoStep::Renamed { from, to } => fs::rename(to, from),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_what_is_not_kept_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("changed"), "old").unwrap();
        fs::write(path("untouched"), "old").unwrap();
        fs::write(path("corrupt"), "{").unwrap();
        let change = || {
            let mut undo = Undo::default();
            for name in ["changed", "untouched", "new"] {
                undo.remember(&path(name)).unwrap();
            }
            super::super::write::write_whole(
                &path("changed"),
                b"changed",
                super::super::write::Flush::ToSystem,
            )
            .unwrap();
            fs::write(path("new"), "new").unwrap();
            fs::rename(path("corrupt"), path("aside")).unwrap();
            undo.renamed(&path("corrupt"), &path("aside"));
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
