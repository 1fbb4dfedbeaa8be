//! Lists in the folder of a feature or a change, besides the one that a loop goes by.

use std::path::Path;

use super::project::is_feature_name;
use crate::engine::order::sorted;
use crate::engine::tasks::TaskList;
use crate::evidence::task_list::{MOST, TASKS};
use crate::store::read;
use crate::system::files::real_path;
use crate::text;

/// Entries of a folder with changes.
pub const MOST_NAMES: usize = 10_000;

/// Folders of a change that are searched.
const MOST_FOLDERS: usize = 1_000;
/// Bytes of an OpenSpec file.
const MOST_OF_YAML: u64 = 64 << 10;
/// Endings of files that may be lists.
const LISTS: [&str; 9] =
    ["adoc", "asciidoc", "markdown", "md", "mdx", "org", "rst", "taskpaper", "txt"];
/// Words in the name of a list, or of a folder with lists.
const LIST_WORDS: [&str; 3] = ["tasks", "todo", "todos"];

/// The printable names in a folder, in alphabetical order; `true` if more than [`MOST_NAMES`] entries were there.
pub fn names_in(folder: &Path) -> (Vec<String>, bool) {
    let found = read::entries(folder, MOST_NAMES);
    let names = found.entries.iter().filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter(|name| is_feature_name(name)).collect();
    (sorted(names, Ord::cmp), found.has_more)
}

/// [`other_lists`] in words.
pub fn others_in_words(own: &Path) -> Option<String> {
    named(own, "boxes are open in lists that the loop does not go by")
}

/// Why no loop goes by the lists in a folder, and what to do; `None` without [`other_lists`].
pub fn too_many_lists(own: &Path) -> Option<(String, String)> {
    let folder = own.display();
    let why = named(own, &format!("`{folder}` has more lists than a loop goes by"))?;
    Some((why, format!("put all tasks into `{folder}/{TASKS}`")))
}

fn named(own: &Path, what: &str) -> Option<String> {
    let others = other_lists(own).join(", ");
    (!others.is_empty()).then(|| format!("{what}: {}", text::line(&others)))
}

/// Lists with open boxes that no loop goes by, as paths in the folder: texts with `tasks` or `todo` in their path,
/// and the list that OpenSpec's schema names. A list that cannot be read counts.
fn other_lists(own: &Path) -> Vec<String> {
    let (tracked, mut found) = (tracked(own), Vec::new());
    let is_project = |at: &&Path| at.join(".specify").is_dir() || at.join("openspec").is_dir();
    let root = own.ancestors().find(is_project).unwrap_or(own);
    let mut folders = vec![String::new()];
    for at in 0.. {
        let Some(inside) = folders.get(at).cloned() else { break };
        if at == MOST_FOLDERS {
            found.push(format!("what is in `{inside}` and more folders than are searched"));
            break;
        }
        let folder = own.join(&inside);
        for name in names_in(&folder).0 {
            let path = format!("{inside}{name}");
            let is_list = may_be_list(&name) && has_list_word(&path)
                || tracked.as_deref().is_some_and(|tracked| is_called(&path, tracked));
            if folder.join(&name).is_dir() {
                folders.push(path + "/");
            } else if is_list && path != TASKS && has_work(root, &folder.join(&name)) {
                found.push(path);
            }
        }
    }
    found
}

/// The name of the task list in the schema of an OpenSpec change.
fn tracked(own: &Path) -> Option<String> {
    let mut around = own.ancestors().map(|folder| folder.join("openspec"));
    let openspec = around.find(|folder| folder.is_dir())?;
    let own = value_of(own, ".openspec.yaml", "schema");
    let of_project = || {
        ["config.yaml", "config.yml"].iter().find_map(|name| value_of(&openspec, name, "schema"))
    };
    let schema = own.or_else(of_project)?;
    let schemas = openspec.join("schemas");
    is_feature_name(&schema).then(|| value_of(&schemas.join(schema), "schema.yaml", "tracks"))?
}

/// A box is open, counted or not. A list that cannot be read may have one.
fn has_work(root: &Path, path: &Path) -> bool {
    let real = real_path(path).ok().filter(|real| real.starts_with(root));
    let file = real.and_then(|real| read::read(&real, MOST).ok());
    let list = file.map(|file| TaskList::parse(&file.bytes));
    list.is_none_or(|list| list.open().next().is_some() || list.uncounted().is_some())
}

fn has_list_word(path: &str) -> bool {
    let mut words = path.split(|letter: char| !letter.is_alphabetic());
    words.any(|word| LIST_WORDS.iter().any(|list| word.eq_ignore_ascii_case(list)))
}

/// The ending of a file may be that of a list.
pub fn may_be_list(path: &str) -> bool {
    let end = Path::new(path).extension();
    end.is_none_or(|end| LISTS.iter().any(|list| end.eq_ignore_ascii_case(list)))
}

/// The value of a key in a YAML file, at any depth.
fn value_of(folder: &Path, name: &str, key: &str) -> Option<String> {
    let file = read::read_in(folder, name, MOST_OF_YAML).ok()?;
    let text = String::from_utf8_lossy(&file.bytes);
    let is_quote = |letter| matches!(letter, '"' | '\'');
    let value = |line: &str, at: usize| {
        let before = line[..at].trim_end_matches(is_quote).trim_end();
        let rest = line[at + key.len()..].trim_start_matches(is_quote).trim_start();
        let value = rest.strip_prefix(':')?.split(" #").next()?.split([',', '}']).next()?;
        (before.is_empty() || before.ends_with(['{', ',']))
            .then(|| value.trim().trim_matches(is_quote).to_owned())
    };
    let mut lines = text.lines();
    lines.find_map(|line| line.match_indices(key).find_map(|(at, _)| value(line, at)))
}

/// A pattern names this path; a star stands for anything.
pub fn is_called(path: &str, pattern: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    pattern.split_once('*').map_or(path == pattern, |(start, end)| {
        path.starts_with(start) && path.ends_with(end.trim_start_matches(['*', '/']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overfull_folder_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let make = |number: usize| std::fs::write(folder.path().join(format!("c{number}")), "");
        (0..MOST_NAMES).for_each(|number| make(number).unwrap());
        let (names, has_more) = names_in(folder.path());
        assert_eq!((names.len(), has_more), (MOST_NAMES, false));
        make(MOST_NAMES).unwrap();
        let (names, has_more) = names_in(folder.path());
        assert_eq!((names.len(), has_more), (MOST_NAMES, true));
    }
}
