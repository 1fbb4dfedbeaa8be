//! The front matter of the settings: its beginning and end, and files that are no text.

use super::error::SettingsError;
use crate::settings::{Setting, YAML};

const AS_UTF8: &str = "save it as UTF-8 text";
const SHAPE: &str = "put the settings between two lines of `---` at the top of the file";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front<'a> {
    pub yaml: &'a str,
    /// Lines of the file before `yaml`.
    pub lines_before: usize,
}

/// The text without a byte order mark; an error for anything but UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, SettingsError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line_at = |at: usize| 1 + memchr::memchr_iter(b'\n', &bytes[..at]).count();
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(SettingsError::at(1, "it is UTF-16 text", AS_UTF8));
    }
    if let Some(at) = memchr::memchr(0, bytes) {
        let what = "it holds a NUL byte, so it is UTF-16 or no text";
        return Err(SettingsError::at(line_at(at), what, AS_UTF8));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        SettingsError::at(line_at(error.valid_up_to()), "it is not UTF-8 text", AS_UTF8)
    })?;
    let returns = memchr::memchr_iter(b'\r', bytes);
    if let Some(at) = returns.into_iter().find(|at| bytes.get(at + 1) != Some(&b'\n')) {
        let what = "a line ends with a carriage return alone";
        let advice = "save it with the line ends of Unix or Windows";
        return Err(SettingsError::at(line_at(at), what, advice));
    }
    Ok(text)
}

/// The YAML between the first line of `---` and the next one, or the whole text without such a line.
pub fn matter_of(text: &str) -> Result<Front<'_>, SettingsError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(first) = lines.iter().position(|line| !line.trim().is_empty()) else {
        let advice = format!("{SHAPE}, or remove it");
        return Err(SettingsError::of_file("it is empty", &advice));
    };
    let (before, settings) = lines.split_at(first + 1);
    if lines[first].trim_end() != "---" {
        bare(before, settings)?;
        return Ok(Front { yaml: text, lines_before: 0 });
    }
    let Some(length) = settings.iter().position(|line| line.trim_end() == "---") else {
        let what = "the `---` here opens the settings, and no line of `---` closes them";
        let advice = match settings.iter().rposition(|line| line.trim() == "---") {
            Some(at) => {
                format!("line {} has blanks before its `---`: remove them", before.len() + at + 1)
            }
            None => "write a line of `---` after the settings".to_owned(),
        };
        return Err(SettingsError::at(before.len(), what, advice));
    };
    nothing_after(&lines, before.len() + length + 1)?;
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let yaml = &text[bytes(before)..][..bytes(&settings[..length])];
    Ok(Front { yaml, lines_before: before.len() })
}

/// An error for a text that does not begin with `---` and is no settings as a whole.
fn bare(before: &[&str], rest: &[&str]) -> Result<(), SettingsError> {
    if before.last().is_some_and(|first| first.starts_with("---")) {
        let what = "there is other text after the `---` on its line";
        return Err(SettingsError::at(before.len(), what, "write `---` alone on this line"));
    }
    let Some(at) = rest.iter().position(|line| line.trim() == "---") else { return Ok(()) };
    let what = "the settings begin with `---`, and there is other text before it";
    let advice = "make `---` the first line of the file";
    Err(SettingsError::at(before.len() + at + 1, what, advice))
}

/// An error for a key of ours where nothing is read: after the settings, outside of a code block.
fn nothing_after(lines: &[&str], settings: usize) -> Result<(), SettingsError> {
    let mut fenced = false;
    for (number, line) in (1..).zip(lines).skip(settings) {
        if ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark)) {
            fenced = !fenced;
        }
        let Some((key, _)) = line.split_once(':').filter(|_| !fenced) else { continue };
        let key = key.trim_end().to_ascii_lowercase();
        if Setting::named(&key, YAML).is_some() {
            let what =
                format!("`{key}` comes after the settings' closing `---`, where nothing is read");
            let advice = "move it above that line, or put it into a code block if it is an example";
            return Err(SettingsError::at(number, what, advice));
        }
    }
    Ok(())
}
