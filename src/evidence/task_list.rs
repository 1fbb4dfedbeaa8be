//! The one reader of a task list on the disk: `tasks.md` of a feature or a change, within one limit.

use std::path::Path;

use crate::engine::hash_of_long;
use crate::engine::tasks::TaskList;
use crate::store::read::{self, Problem};
use crate::store::settled;
use crate::world::Deadline;

/// The name of a task list.
pub const TASKS: &str = "tasks.md";
/// The most that is read of a task list, in bytes.
pub const MOST: u64 = 8 << 20;

/// A task list as it is on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFile {
    /// The tasks.
    pub list: TaskList,
    /// All bytes of the file.
    pub bytes: Vec<u8>,
}

impl TaskFile {
    /// Returns a hash of the bytes: it differs where the content does.
    pub fn hash(&self) -> u64 {
        hash_of_long(&self.bytes)
    }

    /// The list in these bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { list: TaskList::parse(&bytes), bytes }
    }
}

/// Returns the task list in a folder, which is a real path; waits for nobody.
///
/// A link that leads out of the folder, whatever is no regular file, and a file of more than 8 MiB are refused.
pub fn read(folder: &Path) -> Result<TaskFile, Problem> {
    read::read_in(folder, TASKS, MOST).map(|content| TaskFile::of(content.bytes))
}

/// Returns the same once nobody has changed the file for 100 ms; at the deadline, what is there.
pub fn read_settled(folder: &Path, deadline: Deadline) -> Result<TaskFile, Problem> {
    let content = settled::read_settled(folder, TASKS, MOST, deadline, |_| true)?;
    Ok(TaskFile::of(content.bytes))
}

/// Returns whether a folder has a task list, also one that cannot be read at the moment; a link out of the
/// folder and whatever is no regular file is none.
pub fn is_in(folder: &Path) -> bool {
    let found = read::read_in(folder, TASKS, MOST);
    !matches!(found, Err(Problem::Missing | Problem::Outside | Problem::NotAFile(_)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_list_is_read_up_to_one_limit_and_nothing_in_its_place_is_waited_for() {
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
