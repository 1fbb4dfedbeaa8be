//! Makes text of any origin fit for a terminal.
//!
//! A file, an agent, a path or an argument may have characters that steer a terminal, reorder text, or are invisible.
//! They appear as `�`: nothing is hidden, and nothing takes effect.

use std::borrow::Cow;
use std::time::Duration;

/// The beginning of all our messages.
pub const OURS: &str = "Ralph-speckit: ";
/// Characters of one line.
const LONGEST_LINE: usize = 4_096;
/// Appears in place of a character that must not reach a terminal.
const SHOWN: char = '\u{fffd}';

/// One line that a terminal only shows: line breaks and tabs become blanks, steering and invisible characters become
/// `�`. A line of more than 4,096 characters ends with `…`.
pub fn line(text: &str) -> Cow<'_, str> {
    if is_ascii_line(text) && text.len() <= LONGEST_LINE {
        return Cow::Borrowed(text);
    }
    if !text.contains(|letter| is_break(letter) || is_hidden(letter))
        && text.chars().nth(LONGEST_LINE).is_none()
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shortened(in_a_line(text), LONGEST_LINE))
}

/// The same within `most` characters.
pub fn title(text: &str, most: usize) -> String {
    if is_ascii_line(text) && text.len() <= most {
        return text.to_owned();
    }
    shortened(in_a_line(text), most)
}

/// Several lines that a terminal only shows. Line breaks stay; a tab becomes four blanks, a carriage return a line
/// break, and steering and invisible characters become `�`.
pub fn block(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(is_ascii_line)
        || !text.contains(|letter| letter != '\n' && (is_break(letter) || is_hidden(letter)))
    {
        return Cow::Borrowed(text);
    }
    let mut block = String::with_capacity(text.len());
    for letter in shown(&text.replace("\r\n", "\n")) {
        match letter {
            '\t' => block.push_str("    "),
            letter if is_break(letter) => block.push('\n'),
            letter => block.push(letter),
        }
    }
    Cow::Owned(block)
}

/// As [`block`], but these sequences of our own stay.
pub fn styled<'a>(text: &'a str, own: &[String]) -> Cow<'a, str> {
    if matches!(block(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let next = |rest: &str| {
        let found = own.iter().filter_map(|own| Some((rest.find(own.as_str())?, own.len())));
        found.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
    };
    while let Some((at, length)) = next(rest) {
        shown.push_str(&block(&rest[..at]));
        shown.push_str(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    shown.push_str(&block(rest));
    Cow::Owned(shown)
}

/// A person's words for an agent, unchanged except for control characters, which become `�`.
pub fn prose(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.chars().map(|letter| if steers(letter) { SHOWN } else { letter }).collect())
}

/// The largest whole number that every reader of JSON keeps exactly: 2^53 - 1.
pub const LARGEST: u64 = (1 << 53) - 1;

/// JSON with escapes for everything that a terminal would not just show; programs read the same.
pub fn json(text: &str) -> Cow<'_, str> {
    use std::fmt::Write;
    let is_bare = |letter: char| letter != '\n' && (is_break(letter) || is_hidden(letter));
    if !text.contains(is_bare) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_bare(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// Writes `  NAME: VALUE` for each value that is not empty.
pub fn rows<T: AsRef<str>>(text: &mut String, name: &str, values: impl IntoIterator<Item = T>) {
    for value in values.into_iter().filter(|value| !value.as_ref().is_empty()) {
        text.extend(["  ", name, ": ", value.as_ref(), "\n"]);
    }
}

/// With commas: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 file`, `2 files`.
pub fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(number)) }
}

/// A number with the words for one, or for several.
pub fn counted_as(number: usize, one: &str, several: &str) -> String {
    let words = if number == 1 { one } else { several };
    format!("{} {words}", grouped(number as u64))
}

/// In the largest unit: `42 s`, `3 min`, `5 h`, `2 d`.
pub fn age(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// In two units: `4.2 s`, `3 min 05 s`, `1 h 02 min`.
pub fn lasted(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => format!("{:.1} s", time.as_secs_f64()),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// Columns on a terminal: wide characters, such as Chinese ones, take two.
#[cfg(feature = "cli")]
pub fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { unicode_width::UnicodeWidthStr::width(text) }
}

/// The beginning that fits into `most` columns.
#[cfg(feature = "cli")]
pub fn beginning(text: &str, most: usize) -> &str {
    if columns(text) <= most {
        return text;
    }
    let ends = text.char_indices().map(|(at, _)| at);
    let fits = ends.take_while(|end| columns(&text[..*end]) <= most).last();
    &text[..fits.unwrap_or_default()]
}

/// As [`title`], within `most` columns.
#[cfg(feature = "cli")]
pub fn narrow(text: &str, most: usize) -> String {
    let text = title(text, most);
    if columns(&text) <= most {
        return text;
    }
    format!("{}…", beginning(&text, most.saturating_sub(1)))
}

/// Letters to add, remove, replace or swap with their neighbor to turn one text into the other.
pub fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for line in 0..one.len() {
        let mut row = vec![line + 1];
        for column in 0..other.len() {
            let replaced = above[column] + usize::from(one[line] != other[column]);
            let mut least = replaced.min(above[column + 1] + 1).min(row[column] + 1);
            let is_swapped = line > 0
                && column > 0
                && one[line] == other[column - 1]
                && one[line - 1] == other[column];
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[other.len()]
}

/// The name that a mistyped one nearly is. Of four letters one may be wrong, of ten three; a part of a name stands for
/// the name.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let most = 1 + typed.chars().count().min(14) / 5;
    let apart = |name: &str| {
        let name = name.to_lowercase();
        let is_part = typed.len() > 2 && (name.contains(&typed) || typed.contains(&name));
        distance(&typed, &name).min(if is_part { most } else { usize::MAX })
    };
    let near = names.into_iter().map(|name| (apart(name), name));
    near.filter(|(apart, _)| *apart <= most).min_by_key(|(apart, _)| *apart).map(|(_, name)| name)
}

/// [`line`] leaves the text as it is.
pub fn is_plain(text: &str) -> bool {
    is_ascii_line(text) || !text.contains(|letter| is_break(letter) || is_hidden(letter))
}

/// ASCII that is shown as it is, as nearly every text.
fn is_ascii_line(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn in_a_line(text: &str) -> impl Iterator<Item = char> {
    shown(text).map(|letter| if is_break(letter) { ' ' } else { letter })
}

/// The characters, with one `�` for hidden ones in a row. A joiner behind a letter outside of ASCII shapes a word or an
/// emoji, and stays.
fn shown(text: &str) -> impl Iterator<Item = char> {
    let mut before = ' ';
    text.chars().filter_map(move |letter| {
        let joins = matches!(letter, '\u{200c}' | '\u{200d}') && !before.is_ascii();
        if is_break(letter) || !is_hidden(letter) || joins && before != SHOWN {
            before = letter;
            return Some(letter);
        }
        let first = before != SHOWN;
        before = SHOWN;
        first.then_some(SHOWN)
    })
}

fn shortened(letters: impl Iterator<Item = char>, most: usize) -> String {
    let mut letters = letters.fuse();
    let mut short = String::new();
    for _ in 0..most {
        match letters.next() {
            Some(letter) => short.push(letter),
            None => return short,
        }
    }
    if letters.next().is_some() {
        short.pop();
        if most > 0 {
            short.push('…');
        }
    }
    short
}

/// The character ends a line, or moves to a tab stop.
fn is_break(letter: char) -> bool {
    matches!(letter, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The character steers a terminal, changes the direction of text, or has no width. Variation selectors belong to the
/// character before, and stay.
fn is_hidden(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_control();
    }
    letter.is_control()
        || matches!(letter,
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Each text on its own line, behind a line break.
pub fn below(texts: &[String]) -> String {
    texts.iter().fold(String::new(), |all, text| all + "\n" + &line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s7_a_line_only_shows() {
        assert!(matches!(line("a plain line, with ünï and 你好 👍🏽"), Cow::Borrowed(_)));
        assert_eq!(line("a\u{1b}]2;x\u{7}b\nc\u{9b}d\te\r\nf"), "a�]2;x�b c�d e  f");
        assert_eq!(line("\u{202e}x\u{2066}y\u{2069}\u{2028}z\u{2029}\u{85}"), "�x�y� z  ");
        assert_eq!(line("r\u{200b}m\u{feff}\u{ad}\u{7f}\u{0}\u{e0041}"), "r�m�");
        assert_eq!(
            line("☝\u{fe0f}"),
            "☝\u{fe0f}",
            "a variation selector belongs to what it varies"
        );
        assert_eq!(
            line("👩\u{200d}💻 می\u{200c}خواهم a\u{200d}b"),
            "👩\u{200d}💻 می\u{200c}خواهم a�b"
        );
        assert_eq!(line(&"é".repeat(5_000)).chars().count(), 4_096);
        assert!(line(&"é".repeat(4_097)).ends_with("é…"));
        assert_eq!(line(&"é".repeat(4_096)), "é".repeat(4_096));
    }

    #[test]
    fn s7_title_has_its_length() {
        let cut = |most| title("ab\ncd", most);
        assert_eq!([cut(0), cut(1), cut(4), cut(5), cut(6)], ["", "…", "ab …", "ab cd", "ab cd"]);
    }

    #[test]
    fn s7_a_block_keeps_its_lines() {
        assert!(matches!(block("a\nb"), Cow::Borrowed(_)));
        assert_eq!(block("a\r\nb\rc\td\u{1b}[2J\u{2028}e\n"), "a\nb\nc    d�[2J\ne\n");
        assert!(is_plain("ab") && !is_plain("a\nb") && !is_plain("a\u{202e}"));
    }

    #[cfg(feature = "cli")]
    #[test]
    fn s7_own_colors_stay() {
        let own =
            ["\u{1b}[1m".to_owned(), "\u{1b}[1m\u{1b}[31m".to_owned(), "\u{1b}[0m".to_owned()];
        let text = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: \u{1b}[7mx\u{1b}[0m\n";
        assert_eq!(styled(text, &own), "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: �[7mx\u{1b}[0m\n");
        assert!(matches!(styled("plain\n", &own), Cow::Borrowed(_)));
    }

    #[cfg(feature = "cli")]
    #[test]
    fn s7_json_steers_nothing() {
        let value = serde_json::json!({"a": "x\u{9b}\u{202e}\u{e0041}\u{7f}\n\u{1b}é"});
        let text = value.to_string();
        let escaped = json(&text);
        assert!(is_plain(&escaped), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        assert_eq!(prose("a\tb\n\u{200f}c\u{1b}[2J"), "a\tb\n\u{200f}c�[2J");
    }

    #[cfg(feature = "cli")]
    #[test]
    fn durations_are_for_people() {
        let ages = [0, 59_999, 60_000, 3_600_000, 172_800_000]
            .map(|millis| age(Duration::from_millis(millis)));
        assert_eq!(ages, ["0 s", "59 s", "1 min", "1 h", "2 d"]);
        let lengths = [40, 59_940, 61_000, 3_725_000, 360_000_000];
        let words = lengths.map(|millis| lasted(Duration::from_millis(millis)));
        assert_eq!(words, ["0.0 s", "59.9 s", "1 min 01 s", "1 h 02 min", "100 h 00 min"]);
    }

    #[test]
    fn numbers_are_written_for_people() {
        let grouped = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "file"), counted(0, "file")], ["1 file", "0 files"]);
    }
}
