//! The words behind a command, and the flags among them: a word that begins with a dash is a flag; in quotes or behind
//! ` -- ` it is text.

use crate::feature::project::printable;
use crate::settings::{Chosen, Setting, SettingKind, table};

/// The last lines of a usage text: the rule for dashes.
macro_rules! dashes {
    () => {
        "\nA word that begins with a dash is a flag. In quotes, or behind ` -- `, it is text."
    };
}
pub(super) use dashes;

/// Quotes around a word with blanks.
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Text programs turn `--` into one long dash.
const DASHES: [char; 3] = ['-', '–', '—'];
/// Quotes nested deeper are letters: finding their ends would take too long.
const DEEPEST: usize = 20;

/// Takes the flags at the beginning of a text and returns the rest. The error is in words for a person.
pub fn take_flags<'a>(chosen: &mut Chosen, place: u8, text: &'a str) -> Result<&'a str, String> {
    let mut rest = text.trim_start();
    while let (word, behind) = first_word(rest)
        && is_flag(word)
    {
        rest = take_flag(chosen, place, word, behind)?.trim_start();
    }
    Ok(rest)
}

fn take_flag<'a>(
    chosen: &mut Chosen,
    place: u8,
    word: &'a str,
    behind: &'a str,
) -> Result<&'a str, String> {
    let joined = word.split_once('=');
    let flag = joined.map_or(word, |(flag, _)| flag);
    if matches!(flag, "--help" | "-h") {
        return Err("nothing was done: this is how the command is written".to_owned());
    }
    let setting = flag.strip_prefix("--").and_then(|name| Setting::named(name, place));
    let setting = setting.ok_or_else(|| {
        let near = Setting::meant(flag.trim_start_matches(DASHES), place);
        let meant =
            near.map_or_else(String::new, |near| format!("; did you mean `--{}`?", near.name));
        format!("unknown option `{}`{meant}", printable(flag))
    })?;
    let (next, after) = first_word(behind);
    let (value, rest) = match joined {
        Some((_, value)) => (value, behind),
        None if setting.kind == SettingKind::Switch => ("true", behind),
        None if !next.is_empty() && next != "--" && !is_flag(next) => (next, after),
        // The session may be left out.
        None if *setting == table::adopt => ("", behind),
        None => return Err(format!("`{flag}` needs a value")),
    };
    let value = match value.chars().next().filter(|first| QUOTES.contains(first)) {
        Some(quote) => {
            let inside = value[1..].strip_suffix(quote);
            let inside =
                inside.ok_or_else(|| format!("the quote behind `{flag}` is never closed"))?;
            inside.replace(&format!("\\{quote}"), &quote.to_string())
        }
        None => value.to_owned(),
    };
    setting.kind.check(&value).map_err(|what| format!("`{flag}` {what}"))?;
    chosen.add(setting, [value]);
    Ok(rest)
}

/// The text begins with a flag, or with a mistyped one.
pub fn is_flag(text: &str) -> bool {
    let name = text.trim_start_matches(DASHES);
    name.len() < text.len() && name.starts_with(char::is_alphabetic)
}

/// The words before the first flag or ` -- `, and the rest.
pub fn words(text: &str) -> (&str, &str) {
    let mut rest = text.trim_start();
    while let (word, behind) = first_word(rest)
        && !(word.is_empty() || word == "--" || is_flag(word))
    {
        rest = behind.trim_start();
    }
    text.split_at(text.len() - rest.len())
}

/// The first word, or the text in quotes, and the rest.
pub fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let value = if is_flag(text) { text[..end].find('=').map_or(0, |at| at + 1) } else { 0 };
    text.split_at(quoted(&text[value..]).map_or(end, |length| value + length))
}

/// The length of the quoted words at the beginning of a text. `None`: the quote is never closed and counts as a letter.
/// A quote closes before a blank, a flag or another closing quote. After a blank, a quote opens an inner pair.
fn quoted(text: &str) -> Option<usize> {
    let first = text.chars().next().filter(|first| QUOTES.contains(first))?;
    let quote = if text.starts_with("```") { "```" } else { &text[..first.len_utf8()] };
    let mut open = 1_usize;
    for (at, _) in text.match_indices(quote).skip(1) {
        let (before, behind) = (&text[..at], &text[at + quote.len()..]);
        if before.ends_with('\\') {
            continue;
        }
        let is_inner_end = open > 1 && behind.starts_with(quote);
        if behind.chars().next().is_none_or(char::is_whitespace) {
            open -= 1;
        } else if before.ends_with(char::is_whitespace) {
            open += 1;
        } else if is_inner_end || behind.starts_with("--") {
            open -= 1;
        }
        match open {
            0 => return Some(at + quote.len()),
            DEEPEST.. => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_be_in_quotes() {
        for (text, word) in [
            ("a b", "a"),
            (" 'a b' c", "'a b'"),
            ("don't do 'it'", "don't"),
            ("\"a \"b\" c\" d", "\"a \"b\" c\""),
            (r#""a \" b" c"#, r#""a \" b""#),
            ("\"a \"b\"\" c", "\"a \"b\"\""),
            ("\"a \"--b\" c\" d", "\"a \"--b\" c\""),
            ("\"a\"--b", "\"a\""),
            ("\"\"\"a --b\"\"\" c", "\"\"\"a --b\"\"\""),
            ("```\n--a `b`\n``` c", "```\n--a `b`\n```"),
            ("--a='b c' d", "--a='b c'"),
            ("a='b c'", "a='b"),
            ("\u{e9}'t \u{e0}", "\u{e9}'t"),
            ("\"\" a", "\"\""),
            ("' a", "'"),
            ("", ""),
        ] {
            assert_eq!(first_word(text).0, word, "{text}");
        }
    }

    #[test]
    fn many_quotes_read_fast() {
        let text = "\"a ".repeat(100_000) + "--b";
        assert_eq!(words(&text), text.split_at(text.len() - 3));
    }
}
