//! Other work trees of a repository with work on the project: the session's own, and those of a run's agents. Work
//! trees of other sessions are not this project's work.

use std::fs;
use std::path::{Path, PathBuf};

use super::commits::{repository_of, top_of};
use super::ignored::common_folder;
use super::task_list;
use crate::store::loops::Loops;
use crate::store::read;
use crate::system::files::real_path;
use crate::world::{self, WallTime};

/// Work trees that are looked at.
const MOST: usize = 4;
/// Work trees that are listed.
const MOST_LISTED: usize = 1_000;

/// Real paths of the project's copies in work trees with its work. A work tree made since `run` belongs to the run's
/// agents.
pub fn copies(root: &Path, run: Option<WallTime>) -> Vec<PathBuf> {
    let here = || real_path(top_of(&world::current_folder()?)?).ok();
    let is_at_work = |copy: &PathBuf| {
        let top = top_of(copy);
        top.is_some_and(|top| here().as_deref() == Some(top) || is_of_run(top, run))
    };
    let others = all_copies(root).into_iter().flatten().filter(|copy| !root.starts_with(copy));
    others.filter(is_at_work).take(MOST).collect()
}

/// Copies in all other work trees; `None` without a repository that has some.
pub fn all_copies(root: &Path) -> Option<Vec<PathBuf>> {
    let common = common_folder(&repository_of(root)?);
    let entries = fs::read_dir(common.join("worktrees")).ok()?.take(MOST_LISTED);
    let (root, common) = (real_path(root).ok()?, real_path(&common).ok()?);
    let below = root.strip_prefix(top_of(&root)?).ok()?;
    let others = entries.flatten().filter_map(|entry| top(&entry.path()));
    let tops = others.chain(common.parent().map(Path::to_owned));
    // `components` drops the slash that joining an empty path adds.
    let copies = tops.map(|top| top.join(below).components().collect());
    Some(copies.filter(|copy: &PathBuf| copy.is_dir() && *copy != root).collect())
}

/// The top of the work tree with this folder in the repository.
fn top(folder: &Path) -> Option<PathBuf> {
    let text = read::read(&folder.join("gitdir"), 4096).ok()?;
    let git = folder.join(String::from_utf8(text.bytes).ok()?.trim());
    real_path(git.parent()?).ok()
}

/// True if a run's agent made the work tree and no other loop is there. In the main work tree, `.git` is no file.
fn is_of_run(top: &Path, run: Option<WallTime>) -> bool {
    let made = fs::metadata(top.join(".git")).ok().filter(fs::Metadata::is_file);
    let made = made.and_then(|meta| meta.modified().ok()).map(WallTime::from);
    made.zip(run).is_some_and(|(made, began)| made >= began)
        && !Loops::are_in(top, &mut PathBuf::new())
        && !top.join(".spool/.state").exists()
}

/// The path of a copy from the project, with its last slash.
pub fn path_from(root: &Path, folder: &Path) -> Vec<u8> {
    let root = &real_path(root).unwrap_or_default();
    let both = root.components().zip(folder.components());
    let same = both.take_while(|(one, other)| one == other).count();
    let mut path = b"../".repeat(root.components().count() - same);
    for part in folder.components().skip(same) {
        path.extend_from_slice(part.as_os_str().as_encoded_bytes());
        path.push(b'/');
    }
    path
}

/// A task list in another work tree with a ticked task that is open in the project's own list. `folder` is the list's
/// folder in the project.
pub fn ticked_copy(root: &Path, folder: &Path, run: Option<WallTime>) -> Option<PathBuf> {
    let mut lists = copies(root, run).into_iter().map(|copy| copy.join(folder)).peekable();
    lists.peek()?;
    let own = task_list::read(&root.join(folder)).ok()?.list;
    let is_open = |id: &str| own.find(id).is_some_and(|task| !task.done);
    let has_more = |folder: &PathBuf| {
        task_list::read(folder)
            .is_ok_and(|file| file.list.tasks.iter().any(|task| task.done && is_open(&task.id)))
    };
    Some(lists.find(has_more)?.join(task_list::TASKS))
}
