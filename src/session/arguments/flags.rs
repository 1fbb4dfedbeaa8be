//! The flags behind a command, read by the table of the settings, and the quotes that a value may stand in.

use crate::feature::project::printable;
use crate::settings::{Chosen, Setting, SettingKind, table};

/// The quotes that a task or a value may stand in.
pub const QUOTES: [char; 2] = ['"', '\''];
/// What a word begins with that is a flag, or a mistyped one: some programs make a long dash of two.
const DASHES: [char; 3] = ['-', '–', '—'];

/// Takes in the flag at the start of a text, and returns what stands behind its value; an error in words.
pub fn take_flag<'a>(chosen: &mut Chosen, place: u8, text: &'a str) -> Result<&'a str, String> {
    let (word, behind) = first_word(text);
    let (flag, joined) = match word.split_once('=') {
        // A joined value may be quoted and have blanks in it.
        Some((flag, _)) => (flag, Some(&text[flag.len() + 1..])),
        None => (word, None),
    };
    let setting = flag.strip_prefix("--").and_then(|name| Setting::named(name, place));
    let setting = setting.ok_or_else(|| {
        let near = Setting::meant(flag.trim_start_matches(DASHES), place);
        let meant = near.map_or_else(String::new, |near| format!("; did you mean `--{}`?", near.name));
        let flag = printable(flag);
        format!("unknown option `{flag}`{meant}\nWords that begin with a dash go in quotes, or behind ` -- `.")
    })?;
    let next = behind.trim_start();
    let (value, rest) = match joined {
        None if setting.kind == SettingKind::Switch => ("true".to_owned(), behind),
        // The session may be left out: then another flag follows, or nothing.
        None if *setting == table::adopt && (next.is_empty() || flag_at_start(next).is_some()) => {
            (String::new(), behind)
        }
        _ => value_at_start(flag, joined, behind)?,
    };
    setting.kind.check(&value).map_err(|what| format!("`{flag}` {what}"))?;
    chosen.add(setting, [value]);
    Ok(rest)
}

/// Returns whether a word is a flag, or a mistyped one.
pub fn is_flag(word: &str) -> bool {
    let name = word.trim_start_matches(DASHES);
    name.len() < word.len() && name.starts_with(|letter: char| letter.is_alphanumeric())
}

/// Returns the first word of a text, and what stands behind it.
pub fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The word at the start of a text when it is `--` or looks like a flag; a line of dashes does not.
pub fn flag_at_start(text: &str) -> Option<&str> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let word = &text[..end];
    let rest = word.strip_prefix("--")?;
    (rest.is_empty() || rest.contains(|letter| letter != '-')).then_some(word)
}

/// The value of a flag, and what comes after it.
fn value_at_start<'a>(
    name: &str,
    joined: Option<&'a str>,
    behind: &'a str,
) -> Result<(String, &'a str), String> {
    let text = joined.unwrap_or_else(|| behind.trim_start());
    if let Some(quote) = text.chars().next().filter(|first| QUOTES.contains(first)) {
        let Some(end) = closing_quotes(text, quote).first().copied() else {
            return Err(format!("the quote behind `{name}` is never closed"));
        };
        let value = text[1..end].replace(&format!("\\{quote}"), &quote.to_string());
        return Ok((value, &text[end + 1..]));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    if joined.is_none() && (end == 0 || flag_at_start(text).is_some()) {
        return Err(format!("`{name}` needs a value"));
    }
    Ok((text[..end].to_owned(), &text[end..]))
}

/// Where the quote at the start of a text may be closed: first where the quotes inside are balanced,
/// then at each later one that closes what nothing has opened.
pub fn closing_quotes(text: &str, quote: char) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut depth = 1_usize;
    let mut before = quote;
    for (at, letter) in text.char_indices().skip(1) {
        let earlier = std::mem::replace(&mut before, letter);
        if letter != quote || earlier == '\\' {
            continue;
        }
        let next = text[at + 1..].chars().next();
        let behind_blank = earlier.is_whitespace() || "([{=".contains(earlier);
        if next.is_none_or(char::is_whitespace) {
            depth = depth.saturating_sub(1);
        } else if behind_blank || (earlier == quote && depth > 1) {
            // Something else is quoted after the end: then the first quote was not around the whole.
            if depth == 0 {
                return ends;
            }
            depth += 1;
            continue;
        } else if next.is_some_and(|next| next == quote || next.is_ascii_punctuation()) && depth > 1
        {
            depth -= 1;
            continue;
        } else {
            continue;
        }
        if depth == 0 {
            ends.push(at);
        }
    }
    ends
}
