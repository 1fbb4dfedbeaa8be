//! The entry `statusLine` in a person's own settings of Claude Code: added and removed byte for byte.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::call::Advise;
use crate::store::amend::amend;
use crate::store::read::{self, Problem};
use crate::system::files::real_path;

/// The longest settings file that is read, in bytes.
const MOST: u64 = 4 << 20;
const KEY: &str = "statusLine";

pub fn settings_of(config: &Path) -> PathBuf {
    config.join("settings.json")
}

/// The status line's command; the client hands it to a shell.
pub fn command(spool: &Path) -> String {
    let path = spool.display().to_string();
    if cfg!(windows) { for_windows(&path) } else { for_sh(&path) }
}

fn for_sh(path: &str) -> String {
    format!("'{}' statusline", path.replace('\'', r"'\''"))
}

/// The client uses the bash of Git for Windows, or else PowerShell: only a path without quotation marks is a command to
/// both.
fn for_windows(path: &str) -> String {
    let path = path.replace('\\', "/");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ":/._-~".contains(letter);
    if path.chars().all(is_plain) { format!("{path} statusline") } else { for_sh(&path) }
}

#[derive(Clone, Debug)]
pub struct NewSettings {
    /// The text before; empty without a file.
    before: String,
    after: String,
    /// The added text.
    pub entry: String,
}

/// `None` where the entry is there already. An error for another entry, or a file that is not understood.
pub fn with_entry(config: &Path, command: &str) -> Result<Option<NewSettings>> {
    let path = settings_of(config);
    let text = content(&path)?.unwrap_or_default();
    if text.trim().is_empty() {
        let entry = format!("{{{}\n}}\n", entry(command));
        return Ok(Some(NewSettings { before: text, after: entry.clone(), entry }));
    }
    let settings = parsed(&path, &text)?;
    match settings.get(KEY) {
        Some(there) if there["command"] == command => return Ok(None),
        Some(there) => {
            let theirs = there["command"].as_str().unwrap_or("another one");
            bail!(
                "`{}` has a `statusLine` already, and it stays as it is: {theirs}\n\
                 to see the loop in it, hand its input to this program as well: {command}",
                path.display()
            )
        }
        None => {}
    }
    if fs::metadata(&path).is_ok_and(|meta| meta.permissions().readonly()) {
        bail!("`{}` is read-only, and stays as it is\nmake it writable first", path.display());
    }
    let at = plain(&text).find('{').context("the settings have no beginning")? + 1;
    let is_empty = settings.as_object().is_some_and(serde_json::Map::is_empty);
    let comma = if is_empty { "" } else { "," };
    let end = if text[at..].starts_with(['\n', '\r']) { "" } else { "\n" };
    let entry = format!("{}{comma}{end}", entry(command));
    let after = format!("{}{entry}{}", &text[..at], &text[at..]);
    Ok(Some(NewSettings { before: text, after, entry }))
}

/// Follows a link, which stays a link. An error if another program has changed the file meanwhile, which then stays.
pub fn write(config: &Path, settings: &NewSettings) -> Result<()> {
    let (before, after) = (settings.before.as_str(), settings.after.as_str());
    let path = settings_of(config);
    let path = real_path(&path).unwrap_or(path);
    let is_as_before = |text: &[u8]| (text == before.as_bytes()).then(|| after.into());
    fs::create_dir_all(path.parent().unwrap_or(config))
        .and_then(|()| match before {
            "" => File::options().append(true).create(true).open(&path).map(drop),
            _ => Ok(()),
        })
        .and_then(|()| amend(&path, MOST, is_as_before))
        .at("could not write `{}`", &path)?
        .map(drop)
        .with_context(|| {
            format!(
                "`{}` was changed by another program just now, and stays as it is\nrun the same command again",
                path.display()
            )
        })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryRemoval {
    Removed,
    WasGone,
    /// The entry was changed, and stays.
    LeftAlone,
}

/// A changed entry stays.
pub fn remove(config: &Path, put_in: &str, command: &str) -> Result<EntryRemoval> {
    let path = settings_of(config);
    let Some(text) = content(&path)? else { return Ok(EntryRemoval::WasGone) };
    if text == put_in {
        return fs::remove_file(&path)
            .map(|()| EntryRemoval::Removed)
            .at("could not remove `{}`", &path);
    }
    let Ok(settings) = parsed(&path, &text) else { return Ok(EntryRemoval::LeftAlone) };
    if settings.get(KEY).is_none() {
        return Ok(EntryRemoval::WasGone);
    }
    if settings[KEY]["command"] != command {
        return Ok(EntryRemoval::LeftAlone);
    }
    let without = without(&text, put_in).filter(|text| {
        let mut expected = settings.clone();
        expected.as_object_mut().map(|settings| settings.shift_remove(KEY));
        parsed(&path, text).is_ok_and(|left| left == expected)
    });
    let Some(without) = without else { return Ok(EntryRemoval::LeftAlone) };
    let settings = NewSettings { before: text, after: without, entry: String::new() };
    write(config, &settings).map(|()| EntryRemoval::Removed)
}

fn entry(command: &str) -> String {
    let command = Value::from(command);
    format!("\n  \"{KEY}\": {{\"type\": \"command\", \"command\": {command}}}")
}

/// The text without the added entry. Where the client has rewritten the file, without the entry's lines.
fn without(text: &str, put_in: &str) -> Option<String> {
    if let Some((before, after)) = text.split_once(put_in) {
        return Some(format!("{before}{after}"));
    }
    let plain = plain(text);
    let start = plain.find(&format!("\"{KEY}\""))?;
    let end = start + plain[start..].find('}')? + 1;
    let (before, after) = (text[..start].trim_end(), &text[end..]);
    Some(match after.trim_start().strip_prefix(',') {
        Some(rest) => format!("{before}{rest}"),
        None => format!("{}{after}", before.strip_suffix(',').unwrap_or(before)),
    })
}

fn content(path: &Path) -> Result<Option<String>> {
    let bytes = match read::read(path, MOST) {
        Ok(content) => content.bytes,
        Err(Problem::Missing) => return Ok(None),
        Err(problem) => bail!("could not read `{}`: {problem}", path.display()),
    };
    let text = String::from_utf8(bytes);
    text.map(Some).at("could not understand `{}`", path)
}

fn parsed(path: &Path, text: &str) -> Result<Value> {
    let found: Option<Value> = serde_json::from_str(&plain(text)).ok();
    found.filter(Value::is_object).with_context(|| {
        format!("could not understand `{}`, and left it as it is\nrepair it first", path.display())
    })
}

/// Replaces comments, and the byte order mark of some editors on Windows, by blanks, so that all other bytes stay in place.
fn plain(text: &str) -> String {
    let marks = usize::from(text.starts_with('\u{feff}'));
    let (mut plain, mut at) = (text.replacen('\u{feff}', "   ", marks), 0);
    while let Some(next) = plain[at..].find(['"', '/']) {
        at += next;
        let rest = &plain[at..];
        let mut is_escaped = true;
        let ends_string = |byte: u8| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        };
        let (is_comment, end) = match &rest.as_bytes()[..rest.len().min(2)] {
            b"//" => (true, rest.find('\n')),
            b"/*" => (true, rest[2..].find("*/").map(|end| end + 4)),
            [b'"', ..] => (false, rest.bytes().position(ends_string).map(|end| end + 1)),
            _ => (false, Some(1)),
        };
        let end = end.map_or(plain.len(), |end| at + end);
        if is_comment {
            let blanks = plain[at..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
            let blanks: String = blanks.collect();
            plain.replace_range(at..end, &blanks);
        }
        at = end;
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::world::pause;

    const COMMAND: &str = "'/home/a person/bin/spool' statusline";

    fn folder_with(settings: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(settings_of(folder.path()), settings).unwrap();
        folder
    }

    fn text(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(settings_of(folder.path())).unwrap()
    }

    #[test]
    fn put_in_comes_out_whole() {
        for settings in [
            "{}",
            "{ }\n",
            "{\n}\n",
            "{\r\n  \"model\": \"opus\"\r\n}\r\n",
            "\u{feff}{\r\n  \"model\": \"opus\"\r\n}\r\n",
            "{\"model\":\"opus\",\"unknown\":{\"statusLine\":{\"command\":\"no\"}}}",
            "// {mine}\n{ /* a \"comment\" */ \"model\": \"é // no comment\", // {\n  \"url\": \"http://\\\"\" }",
        ] {
            let folder = folder_with(settings);
            let with = with_entry(folder.path(), COMMAND).unwrap().unwrap();
            write(folder.path(), &with).unwrap();
            let path = settings_of(folder.path());
            assert_eq!(parsed(&path, &text(&folder)).unwrap()[KEY]["command"], COMMAND);
            assert!(with_entry(folder.path(), COMMAND).unwrap().is_none(), "it is there already");
            assert_eq!(remove(folder.path(), &with.entry, COMMAND).unwrap(), EntryRemoval::Removed);
            assert_eq!(text(&folder), settings);
        }
    }

    #[test]
    fn absent_file_is_gone_again() {
        let folder = tempfile::tempdir().unwrap();
        let with = with_entry(folder.path(), COMMAND).unwrap().unwrap();
        write(folder.path(), &with).unwrap();
        assert_eq!(remove(folder.path(), &with.entry, COMMAND).unwrap(), EntryRemoval::Removed);
        assert!(!settings_of(folder.path()).exists());
        let again = remove(folder.path(), &with.entry, COMMAND).unwrap();
        assert_eq!(again, EntryRemoval::WasGone, "there is nothing left to do");
    }

    #[test]
    fn rewritten_entry_is_found() {
        let entry = "\"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"'/home/a person/bin/spool' statusline\"\n  }";
        for (settings, left) in [
            (format!("{{\n  {entry},\n  \"a\": 1\n}}\n"), "{\n  \"a\": 1\n}\n"),
            (format!("{{\n  \"a\": 1,\n  {entry}\n}}\n"), "{\n  \"a\": 1\n}\n"),
            (
                format!("{{\n  \"a\": 1,\n  {entry},\n  \"b\": 2\n}}\n"),
                "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
            ),
            (format!("{{\n  {entry}\n}}\n"), "{\n}\n"),
        ] {
            let folder = folder_with(&settings);
            assert_eq!(
                remove(folder.path(), "as it was put in", COMMAND).unwrap(),
                EntryRemoval::Removed
            );
            assert_eq!(text(&folder), left);
        }
    }

    #[test]
    fn foreign_entries_are_left_alone() {
        let folder = folder_with(r#"{"statusLine": {"type": "command", "command": "theirs"}}"#);
        let refused = with_entry(folder.path(), COMMAND).unwrap_err().to_string();
        assert!(refused.contains("it stays as it is: theirs\n"), "{refused}");
        assert_eq!(
            remove(folder.path(), "as it was put in", COMMAND).unwrap(),
            EntryRemoval::LeftAlone
        );
        for broken in ["{", "[]", "{\"a\": 1,}", "{} {}"] {
            let folder = folder_with(broken);
            let refused = with_entry(folder.path(), COMMAND).unwrap_err().to_string();
            assert!(refused.contains("could not understand"), "{broken}: {refused}");
            assert_eq!(text(&folder), broken);
        }
    }

    #[test]
    fn concurrent_writes_are_not_lost() {
        for before in [None, Some("{}")] {
            let folder = tempfile::tempdir().unwrap();
            let path = settings_of(folder.path());
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            let with = with_entry(folder.path(), COMMAND).unwrap().unwrap();
            fs::write(&path, "{\"model\": \"opus\"}").unwrap();
            let refused = write(folder.path(), &with).unwrap_err().to_string();
            assert!(refused.contains("changed by another program"), "{refused}");
            assert_eq!(text(&folder), "{\"model\": \"opus\"}");
        }
    }

    #[test]
    fn n1_settings_keep_client_saves() {
        for turn in 0..200 {
            let folder = folder_with("{}");
            let path = settings_of(folder.path());
            let with = with_entry(folder.path(), COMMAND).unwrap().unwrap();
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    // As the client saves: a new file takes the name of the old one.
                    let next = path.with_extension("new");
                    let now = fs::read_to_string(&path).unwrap();
                    fs::write(&next, now.replacen('{', "{\"deny\": 1,", 1).replace(",}", "}"))
                        .unwrap();
                    pause(Duration::from_micros(turn * 20));
                    fs::rename(&next, &path).unwrap();
                });
                let _ = write(folder.path(), &with);
            });
            assert!(text(&folder).contains("deny"), "lost in turn {turn}");
        }
    }

    #[test]
    fn read_only_settings_stay() {
        let folder = folder_with("{}");
        let path = settings_of(folder.path());
        let mut mode = fs::metadata(&path).unwrap().permissions();
        mode.set_readonly(true);
        fs::set_permissions(&path, mode).unwrap();
        let refused = with_entry(folder.path(), COMMAND).unwrap_err().to_string();
        assert!(refused.contains("is read-only"), "{refused}");
        assert_eq!(text(&folder), "{}");
    }

    #[test]
    fn settings_link_stays_a_link() {
        let (elsewhere, folder) = (folder_with("{}"), tempfile::tempdir().unwrap());
        let link = settings_of(folder.path());
        std::os::unix::fs::symlink(settings_of(elsewhere.path()), &link).unwrap();
        let with = with_entry(folder.path(), COMMAND).unwrap().unwrap();
        write(folder.path(), &with).unwrap();
        assert!(link.is_symlink());
        assert!(text(&elsewhere).contains(KEY));
        assert_eq!(remove(folder.path(), &with.entry, COMMAND).unwrap(), EntryRemoval::Removed);
        assert_eq!((link.is_symlink(), text(&elsewhere)), (true, "{}".to_owned()));
    }

    #[test]
    fn windows_command_suits_both_shells() {
        let command = for_windows(r"C:\Users\ada\bin\spool.exe");
        assert_eq!(command, "C:/Users/ada/bin/spool.exe statusline");
        assert_eq!(for_windows(r"C:\a b\spool.exe"), "'C:/a b/spool.exe' statusline");
    }

    #[test]
    fn quoted_path_keeps_its_quote() {
        assert_eq!(command(Path::new("/it's/spool")), r"'/it'\''s/spool' statusline");
    }
}
