//! Text that anybody may have written, made fit for a terminal.
//!
//! A file, an agent, a path or an argument may hold characters that steer a terminal, reorder what is read
//! or cannot be seen. They are shown as `�`, so that nothing is hidden and nothing is run.

use std::borrow::Cow;

/// The most characters of one line.
const LONGEST_LINE: usize = 4_096;
/// What is shown in place of a character that must not reach a terminal.
const SHOWN: char = '\u{fffd}';

/// Returns a text as one line that a terminal only shows: line breaks and tabs become blanks, what would
/// steer it or cannot be seen becomes `�`, and what is longer than 4,096 characters ends with `…`.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| is_break(letter) || is_hidden(letter))
        && text.chars().nth(LONGEST_LINE).is_none()
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shortened(in_a_line(text), LONGEST_LINE))
}

/// Returns the same in at most `most` characters, the last of them `…` when there is more.
pub fn title(text: &str, most: usize) -> String {
    shortened(in_a_line(text), most)
}

/// Returns a text of several lines that a terminal only shows: line breaks stay, a tab becomes four blanks,
/// a carriage return a line break, and what would steer it or cannot be seen becomes `�`.
pub fn block(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| letter != '\n' && (is_break(letter) || is_hidden(letter))) {
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

/// Returns a number with commas, such as `1,234,567`.
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

/// Returns a number with its thing, such as `1 file` or `2 files`.
pub fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(number)) }
}

/// Returns whether a text has a character that [`line`] would not show as it is.
pub fn is_plain(text: &str) -> bool {
    !text.contains(|letter| is_break(letter) || is_hidden(letter))
}

/// Returns how many columns of a terminal a line takes.
#[cfg(feature = "cli")]
pub fn columns(line: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(line)
}

/// Returns a line cut to this many columns of a terminal, the last of them `…` when there is more.
#[cfg(feature = "cli")]
pub fn fit(line: &str, most: usize) -> Cow<'_, str> {
    if columns(line) <= most {
        return Cow::Borrowed(line);
    }
    let mut short = String::new();
    for letter in line.chars() {
        short.push(letter);
        if columns(&short) + 1 > most {
            short.pop();
            break;
        }
    }
    if most > 0 {
        short.push('…');
    }
    Cow::Owned(short)
}

fn in_a_line(text: &str) -> impl Iterator<Item = char> {
    shown(text).map(|letter| if is_break(letter) { ' ' } else { letter })
}

/// The characters of a text with one `�` in place of those that are hidden. A joiner after a letter that is
/// no ASCII shapes a word or an emoji, and stays.
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

/// Whether a character ends a line or moves to a tab stop.
fn is_break(letter: char) -> bool {
    matches!(letter, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character steers a terminal (controls of both sets), changes the direction of what is read, or
/// has no width where it stands. Variation selectors belong to the character before them and stay.
fn is_hidden(letter: char) -> bool {
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
    fn s7_a_title_is_as_long_as_it_may_be() {
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
    fn s7_a_line_is_cut_by_its_columns() {
        assert_eq!([columns("你好"), columns("é"), columns("ab")], [4, 1, 2]);
        assert_eq!(fit("你好吗", 6), "你好吗");
        assert_eq!(fit("你好吗", 5), "你好…");
        assert_eq!(fit("你好吗", 4), "你…");
        assert_eq!([fit("abc", 2), fit("abc", 1), fit("abc", 0)], ["a…", "…", ""]);
    }
}
