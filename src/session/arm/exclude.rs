//! Keeps the loop's files in a feature's folder out of `git status`, of commits and of the client's diffs.

use std::fs;
use std::path::Path;

use crate::evidence::ignored::{MOST, Repository, common_folder};
use crate::evidence::index;
use crate::store::read::{self, Problem};
use crate::store::write::append_line;
use crate::system::files::real_path;

/// The lines for `info/exclude`.
const LINES: &str = "\
# ralph-speckit: the loop's own files (docs/reference/files.md)
**/specs/**/.speckit-state.json
**/specs/**/.progress.md
**/.claude/loop-state.json
";

/// Makes git ignore the loop's files of these names in a folder. Returns a line for the person; `None` if git ignored
/// the files before, or if the rule cannot be written or says nothing of them. No failure refuses the loop.
pub fn keep_out(folder: &Path, names: &[&str]) -> Option<String> {
    let Repository { data: Some(data), prefix, rules } = Repository::around(folder) else {
        return None;
    };
    let ours = rules.with(LINES.as_bytes(), 0);
    let (mut is_ignored, mut helps) = (true, true);
    for name in names {
        let path = [&prefix, name.as_bytes()].concat();
        if index::tracks(&data, &path)? {
            return Some(format!("`{name}` is tracked by git, so it shows up in commits."));
        }
        is_ignored &= rules.ignore(&path, name.as_bytes(), false);
        helps &= ours.ignore(&path, name.as_bytes(), false);
    }
    let common = common_folder(&data);
    // Only the repository of this work tree is written to: a `.git` file may name any folder.
    let is_its = real_path(&data).ok()?.starts_with(real_path(&common).ok()?);
    let is_repository = is_its && common.join("HEAD").is_file() && common.join("objects").is_dir();
    if is_ignored || !is_repository || !helps {
        return None;
    }
    let info = common.join("info");
    // An existing folder is fine.
    let _ = fs::create_dir(&info);
    let path = info.join("exclude");
    let text = match read::read(&path, MOST) {
        Ok(content) => content.bytes,
        Err(Problem::Missing) => Vec::new(),
        Err(_) => return None,
    };
    if info.is_symlink() || text.windows(LINES.len()).any(|lines| lines == LINES.as_bytes()) {
        return None;
    }
    append_line(&path, LINES.trim_end().as_bytes()).ok()?;
    Some("git ignores the loop's own files from now on (`.git/info/exclude`).".to_owned())
}
