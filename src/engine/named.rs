//! The files and folders that a text names.

use std::collections::BTreeSet;

/// A file or folder that the text of a task names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// As it is written, without a `./` before it.
    pub path: String,
    pub(super) is_folder: bool,
}

impl NamedPath {
    /// Returns whether a path of a file is this one, is in it, or ends with it; for a folder also one without its last slash.
    pub fn is_at(&self, file: &str) -> bool {
        self.covers(file) || self.path.strip_suffix('/') == Some(file)
    }

    /// Returns whether a path of a file, relative to the project, is this one, is in it, or ends with it.
    pub fn covers(&self, file: &str) -> bool {
        let path = self.path.as_str();
        if self.is_folder {
            let mut ends = memchr::memchr_iter(b'/', file.as_bytes());
            return file.starts_with(path) || ends.any(|end| file[end + 1..].starts_with(path));
        }
        file == path || file.strip_suffix(path).is_some_and(|before| before.ends_with('/'))
    }
}

/// Returns the files and folders that a text names: words with a slash and an ending, or a slash at the end, or an ending in
/// backticks. Lines that begin with `Verify` name what a command reads and not what is to be changed.
pub fn paths_in(text: &str) -> Vec<NamedPath> {
    let mut found: Vec<NamedPath> = Vec::new();
    each_path(text, false, &mut |path| {
        if !found.contains(&path) {
            found.push(path);
        }
        true
    });
    found
}

/// Returns the files, without the folders, that a task list names, in the order of the alphabet; the first ones where it names
/// more than that.
pub fn files_named_in(list: &str, most: usize) -> Vec<String> {
    let mut found = BTreeSet::new();
    each_path(list, false, &mut |path| {
        if !path.is_folder {
            found.insert(path.path);
        }
        found.len() < most
    });
    found.into_iter().collect()
}

/// Returns whether a text names this file also by its bare name, without backticks: for a file that is known to be one.
pub fn names_file(text: &str, file: &str) -> bool {
    let mut is_named = false;
    each_path(text, true, &mut |path| {
        is_named = path.covers(file);
        !is_named
    });
    is_named
}

/// Hands out each path that a text names, until `visit` wants no more; as code, each word with an ending is one.
fn each_path(text: &str, all_code: bool, visit: &mut dyn FnMut(NamedPath) -> bool) {
    for line in text.lines() {
        let start = line.trim_start_matches([' ', '\t', '-', '*', '_']);
        if start.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("verify")) {
            continue;
        }
        for (number, piece) in line.split('`').enumerate() {
            let in_code = all_code || number % 2 == 1;
            let mut rest = piece;
            // Only a word with one of these is a path, and most have none: whole lists are read here.
            while let Some(at) = memchr::memchr2(b'.', b'/', rest.as_bytes()) {
                let (before, after) = rest.split_at(at);
                let start = before.rfind(ends_word_at).map_or(0, |space| {
                    space + before[space..].chars().next().map_or(0, char::len_utf8)
                });
                let end = after.find(ends_word_at).map_or(rest.len(), |end| at + end);
                if let Some(path) = path_of(&rest[start..end], in_code)
                    && !visit(path)
                {
                    return;
                }
                rest = &rest[end..];
            }
        }
    }
}

/// Whether a word ends before this character.
fn ends_word_at(it: char) -> bool {
    match u8::try_from(it) {
        Ok(byte) if byte.is_ascii() => ends_word(byte),
        _ => it.is_whitespace(),
    }
}

/// Whether a word ends before this character.
const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | b',' | b';' | b'(' | b')')
}

fn path_of(word: &str, in_code: bool) -> Option<NamedPath> {
    let word = word.trim_matches(['"', '\'', '*', '<', '>', ':']).trim_end_matches(['.', '!', '?']);
    let word = word.strip_prefix("./").unwrap_or(word);
    let is_ascii_path = |it: u8| {
        it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-' | b'/' | b'@' | b'+')
    };
    let is_path = |it: char| it.is_alphanumeric() || u8::try_from(it).is_ok_and(is_ascii_path);
    let (path, is_folder) = word.strip_suffix('/').map_or((word, false), |path| (path, true));
    let mut parts = path.as_bytes().split(|byte| *byte == b'/');
    if word.len() > 300
        || word.starts_with('-')
        || !parts.all(|part| !matches!(part, b"" | b"." | b".."))
        || !(word.bytes().all(is_ascii_path) || word.chars().all(is_path))
    {
        return None;
    }
    if is_folder {
        return Some(NamedPath { path: word.to_owned(), is_folder });
    }
    let name = word.rsplit('/').next()?;
    let has_slash = name.len() < word.len();
    let (_, ending) = name.rsplit_once('.')?;
    let is_ending = (1..=10).contains(&ending.len())
        && ending.chars().all(|it| it.is_ascii_alphanumeric())
        && ending.starts_with(|it: char| it.is_ascii_alphabetic());
    (is_ending && (has_slash || in_code))
        .then(|| NamedPath { path: word.to_owned(), is_folder: false })
}
