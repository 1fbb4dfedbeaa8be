//! A repository that git cannot read: its place, git's words, and the remedy.

use std::path::{Path, PathBuf};

use crate::mask::masked_text;
use crate::text::title;

/// How many levels up to look, as everywhere.
const LEVELS: usize = 64;
/// The most letters of git's words.
const SAID: usize = 300;
/// The setting that permits another user's repository.
const OWNER: &str = "safe.directory";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadRepository {
    /// `.git`, a folder or a file.
    pub place: PathBuf,
    /// git's words, in one safe line.
    pub said: String,
    /// The command that permits the repository, as git names it.
    pub remedy: Option<String>,
}

impl UnreadRepository {
    pub fn of(place: PathBuf, said: &str) -> Self {
        let mut lines = said.lines().map(str::trim);
        let shown = |line: &str| title(&masked_text(line), SAID);
        // Warnings and hints may come before the error.
        let fatal = lines.clone().find(|line| line.starts_with("fatal: "));
        let first = lines.clone().find(|line| !line.is_empty()).unwrap_or("it says nothing");
        let remedy = lines.find(|line| line.starts_with("git config ") && line.contains(OWNER));
        // A mutilated command could permit another folder.
        let remedy = remedy.filter(|line| shown(line) == *line).map(str::to_owned);
        Self { place, said: shown(fatal.unwrap_or(first)), remedy }
    }
}

/// The `.git` around a folder; a dangling link counts.
pub fn place_around(folder: &Path) -> Option<PathBuf> {
    let mut places = folder.ancestors().take(LEVELS).map(|folder| folder.join(".git"));
    places.find(|place| place.symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_words_are_one_line() {
        let key = format!("ghp_{}", "abcDEF0123456789abcDEF0123");
        let said = format!(
            "warning: x\nfatal: detected dubious ownership in repository at '/a/{key}\u{1b}[31m'\n\
             To add an exception for this directory, call:\n\n\
             \tgit config --global --add safe.directory '/a b'\n"
        );
        let of = |said: &str| UnreadRepository::of(PathBuf::from("/a/.git"), said);
        let unread = of(&said);
        assert!(unread.said.starts_with("fatal: detected dubious ownership"), "{unread:?}");
        assert!(!unread.said.contains(&key) && unread.said.ends_with("�[31m'"), "{unread:?}");
        assert_eq!(
            unread.remedy.as_deref(),
            Some("git config --global --add safe.directory '/a b'")
        );
        let longer = said.replace("/a b", &"b".repeat(300));
        assert_eq!((of(&longer).remedy, of(&longer).said), (None, unread.said));
        // In another language, and without a word.
        let unread = of("\nSchwerwiegend: kein Git-Repository: /x\nmehr");
        assert_eq!(
            (unread.said.as_str(), unread.remedy),
            ("Schwerwiegend: kein Git-Repository: /x", None)
        );
        assert_eq!(of("").said, "it says nothing");
        assert_eq!(of(&"x".repeat(5_000)).said.chars().count(), SAID);
    }
}
