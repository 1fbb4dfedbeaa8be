//! A file that was meant as the settings and has another name.

use std::fs;
use std::path::Path;

use super::error::SETTINGS;
use crate::system::files::FileId;
use crate::text::distance;

/// Names in the folder.
const MOST: usize = 1_000;
/// Ends of names that a person may have meant; a kept copy has another one.
const ENDS: [&str; 9] = ["", "local", "md", "markdown", "txt", "yml", "yaml", "json", "toml"];

/// The path, relative to the project, of a file with nearly the name of the settings: nothing in that file counts.
pub fn misnamed(root: &Path) -> Option<String> {
    let path = root.join(SETTINGS);
    let (folder, _) = SETTINGS.rsplit_once('/')?;
    let entries = fs::read_dir(path.parent()?).ok()?.take(MOST).flatten();
    let mut names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
        (is_file && is_near(&name) && !is_same(&entry.path(), &path)).then_some(name)
    });
    names.next().map(|name| format!("{folder}/{name}"))
}

fn is_near(name: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    if stem.is_empty()
        || name.starts_with('.')
        || name.ends_with('~')
        || !ENDS.contains(&plain(end).as_str())
    {
        return false;
    }
    let stem = plain(stem);
    let stem = stem.strip_suffix("md").unwrap_or(&stem);
    distance(stem.strip_suffix("local").unwrap_or(stem), "ralphspeckit") <= 2
}

/// Some systems do not tell capital letters from small ones.
fn is_same(one: &Path, other: &Path) -> bool {
    FileId::of_entry(one) == FileId::of_entry(other)
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn s3_near_names_are_seen() {
        for name in [
            "ralph-speckit.md",
            "ralph-speckit.local.MD",
            "Ralph-Speckit.local.md",
            "ralph_speckit.local.md",
            "ralphspeckit.md",
            "ralph-speckit-local.md",
            "ralph-spekit.local.md",
            "ralph-speckit.local.md.txt",
            "ralph-speckit.local",
            "ralph-speckit",
            "ralph-speckit.yaml",
        ] {
            assert!(is_near(name), "{name}");
        }
        for name in [
            "settings.local.json",
            "ralph-speckit.local.md.bak",
            "ralph-speckit.local.md~",
            ".ralph-speckit.local.md.swp",
            "ralph-speckit.example.md",
            "ralph-loop.local.md",
            "ralph",
            "CLAUDE.md",
            "",
        ] {
            assert!(!is_near(name), "{name}");
        }
    }
}
