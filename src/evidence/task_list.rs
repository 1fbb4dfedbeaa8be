//! The one reader of `tasks.md`, within one limit.

use std::path::Path;

use crate::engine::hash_of_long;
use crate::engine::tasks::TaskList;
use crate::store::read::{self, Problem};
use crate::store::settled;
use crate::world::Deadline;

pub const TASKS: &str = "tasks.md";
/// Bytes of a task list.
pub const MOST: u64 = 8 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFile {
    pub list: TaskList,
    /// All bytes of the file.
    pub bytes: Vec<u8>,
}

impl TaskFile {
    /// Differs with the content.
    pub fn hash(&self) -> u64 {
        hash_of_long(&self.bytes)
    }

    pub fn of(bytes: Vec<u8>) -> Self {
        Self { list: TaskList::parse(&bytes), bytes }
    }
}

/// Reads the task list in a folder, which is a real path, without waiting.
///
/// A link out of the folder, anything but a regular file, and a file of more than 8 MiB are refused.
pub fn read(folder: &Path) -> Result<TaskFile, Problem> {
    read::read_in(folder, TASKS, MOST).map(|content| TaskFile::of(content.bytes))
}

/// Waits until the file is unchanged for 100 ms, at most until the deadline.
pub fn read_settled(folder: &Path, deadline: Deadline) -> Result<TaskFile, Problem> {
    let content = settled::read_settled(folder, TASKS, MOST, deadline, |_| true)?;
    Ok(TaskFile::of(content.bytes))
}

/// A list counts also if it cannot be read at the moment. A link out of the folder does not count, and neither does
/// anything but a regular file.
pub fn is_in(folder: &Path) -> bool {
    let found = read::read_in(folder, TASKS, MOST);
    !matches!(found, Err(Problem::Missing | Problem::Outside | Problem::NotAFile(_)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn list_reading_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let path = root.join(TASKS);
        assert_eq!(read(&root), Err(Problem::Missing));
        assert!(!is_in(&root));
        let line = "- [x] T001 a\n";
        let text = line.repeat(usize::try_from(MOST).unwrap() / line.len());
        fs::write(&path, &text).unwrap();
        let file = read(&root).unwrap();
        assert_eq!(file.bytes.len(), text.len());
        assert_eq!(file.list.done(), text.len() / line.len());
        fs::write(&path, text + line).unwrap();
        assert!(matches!(read(&root), Err(Problem::TooLarge { .. })));
        assert!(is_in(&root));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert_eq!(read(&root), Err(Problem::Outside));
        assert!(!is_in(&root));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(read(&root), Err(Problem::NotAFile("a folder")));
        assert!(!is_in(&root));
    }
}
