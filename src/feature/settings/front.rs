//! The front matter of the settings: where it begins and ends, and what is no text at all.

use super::error::SettingsError;

const AS_UTF8: &str = "save it as UTF-8 text";
const SHAPE: &str = "put the settings between two lines of `---` at the top of the file";

/// The settings' part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front<'a> {
    /// The YAML text.
    pub yaml: &'a str,
    /// How many lines of the file come before it.
    pub lines_before: usize,
}

/// Returns the text of a file without its byte order mark; an error when it is not UTF-8 text.
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
    if let Some(at) = text.replace("\r\n", "\n").find('\r').map(|_| lone_return(bytes)) {
        let what = "a line ends with a carriage return alone";
        return Err(SettingsError::at(
            line_at(at),
            what,
            "save it with the line ends of Unix or Windows",
        ));
    }
    Ok(text)
}

/// Where a carriage return is that no line break follows.
fn lone_return(bytes: &[u8]) -> usize {
    let found = memchr::memchr_iter(b'\r', bytes).find(|at| bytes.get(at + 1) != Some(&b'\n'));
    found.unwrap_or_default()
}

/// Returns the YAML of a text: what is between its first line of `---` and the next one, or all
/// of a text without such a line.
pub fn matter_of(text: &str) -> Result<Front<'_>, SettingsError> {
    let mut lines = FrontLines { text, at: 0, number: 0 };
    let mut opening = lines.next();
    while opening.is_some_and(|line| line.text.trim().is_empty()) {
        opening = lines.next();
    }
    let Some(opening) = opening else {
        let what = "it is empty";
        return Err(SettingsError {
            what: what.to_owned(),
            advice: format!("{SHAPE}, or remove it"),
            ..SettingsError::default()
        });
    };
    if opening.text != "---" {
        return bare(text, opening);
    }
    let start = lines.at;
    let mut indented = None;
    while let Some(line) = lines.next() {
        if line.text == "---" {
            nothing_after(lines)?;
            return Ok(Front { yaml: &text[start..line.start], lines_before: opening.number });
        }
        if line.text.trim() == "---" {
            indented = Some(line.number);
        }
    }
    let what = "the `---` here opens the settings, and no line of `---` closes them";
    let advice = match indented {
        Some(number) => format!("line {number} has blanks before its `---`: remove them"),
        None => "write a line of `---` after the settings".to_owned(),
    };
    Err(SettingsError::at(opening.number, what, advice))
}

/// A text that does not begin with `---` is settings as a whole, or it is nothing that can be used.
fn bare<'a>(text: &'a str, first: FrontLine<'a>) -> Result<Front<'a>, SettingsError> {
    if first.text.starts_with("---") {
        let what = "there is other text after the `---` on its line";
        return Err(SettingsError::at(first.number, what, "write `---` alone on this line"));
    }
    let later = FrontLines { text, at: 0, number: 0 }.find(|line| line.text.trim() == "---");
    if let Some(later) = later {
        let what = "the settings begin with `---`, and there is other text before it";
        return Err(SettingsError::at(later.number, what, "make `---` the first line of the file"));
    }
    Ok(Front { yaml: text, lines_before: 0 })
}

/// Whether a key of ours is where nothing is read: after the settings, outside of a code block.
fn nothing_after(lines: FrontLines<'_>) -> Result<(), SettingsError> {
    let mut fenced = false;
    for line in lines {
        let is_fence = |mark| line.text.trim_start().starts_with(mark);
        if is_fence("```") || is_fence("~~~") {
            fenced = !fenced;
        }
        let Some((key, _)) = line.text.split_once(':').filter(|_| !fenced) else {
            continue;
        };
        let is_key = |name: &&&str| key.trim_end().eq_ignore_ascii_case(name);
        if let Some(name) = super::keys::NAMES.iter().find(is_key) {
            let what =
                format!("`{name}` comes after the settings' closing `---`, where nothing is read");
            let advice = "move it above that line, or put it into a code block if it is an example";
            return Err(SettingsError::at(line.number, what, advice));
        }
    }
    Ok(())
}

/// One line without its line break and the blanks before it.
#[derive(Clone, Copy, Debug)]
struct FrontLine<'a> {
    text: &'a str,
    start: usize,
    number: usize,
}

/// The lines of a text, with where the next one begins.
#[derive(Clone, Debug)]
struct FrontLines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Iterator for FrontLines<'a> {
    type Item = FrontLine<'a>;

    fn next(&mut self) -> Option<FrontLine<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let line =
            FrontLine { text: rest[..length].trim_end(), start: self.at, number: self.number + 1 };
        self.at += length;
        self.number += 1;
        Some(line)
    }
}
