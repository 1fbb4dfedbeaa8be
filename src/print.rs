//! Prints for `spool`, with line breaks between words on a narrow terminal. Output that cannot be written aborts
//! nothing, but changes the exit code at the end.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::style::{self, BAD};
use crate::system::signals::SIGINT;
use crate::system::terminal::{self, AsTerminal};
use crate::text;

/// Something could not be written to standard output.
static LOST: AtomicBool = AtomicBool::new(false);

macro_rules! outln {
    () => { $crate::print::output(format_args!(""), "\n") };
    ($($words:tt)*) => { $crate::print::output(format_args!($($words)*), "\n") };
}

macro_rules! out {
    ($($words:tt)*) => { $crate::print::output(format_args!($($words)*), "") };
}

/// Prints a line for programs on standard output, unbroken.
macro_rules! dataln {
    ($($words:tt)*) => { $crate::print::data(format_args!($($words)*)) };
}

/// Prints a line on standard error, if possible.
macro_rules! errln {
    ($($words:tt)*) => { $crate::print::errors(format_args!($($words)*), "\n") };
}

/// Prints text on standard error, if possible.
macro_rules! err {
    ($($words:tt)*) => { $crate::print::errors(format_args!($($words)*), "") };
}

/// Writes to standard output. If that fails, the words go to standard error: their news is true all the same. A reader
/// that has left, such as `head`, wants no more of them.
pub fn output(words: Arguments<'_>, end: &str) {
    written(&fitted(&shown(words), size_of(io::stdout())), end);
}

/// The same for a line that is not broken.
pub fn data(words: Arguments<'_>) {
    written(&shown(words), "\n");
}

/// Clears the terminal on standard output.
pub fn clear() -> io::Result<()> {
    let mut stream = io::stdout().lock();
    stream.write_all(b"\x1b[2J").and_then(|()| stream.flush())
}

/// Writes a text over the whole terminal on standard output: as many lines as there is room for, then `more` if some
/// are left. An error without a terminal.
pub fn screen(text: &str, more: &str) -> io::Result<()> {
    let Some(size) = size_of(io::stdout()) else {
        return Err(io::Error::other("standard output is no terminal"));
    };
    let text = fitted(&shown(format_args!("{text}")), Some(size));
    let room = size.rows.saturating_sub(2);
    let mut drawn = "\u{1b}[H".to_owned();
    for line in text.lines().take(room) {
        // The rest of each old line is wiped, line by line: nothing flickers.
        drawn.push_str(text::beginning(line, size.columns));
        drawn.push_str("\u{1b}[K\r\n");
    }
    let more = if text.lines().count() > room { more } else { "" };
    drawn.push_str(text::beginning(more, size.columns - 1));
    drawn.push_str("\u{1b}[J");
    let mut stream = io::stdout().lock();
    stream.write_all(drawn.as_bytes()).and_then(|()| stream.flush())
}

/// Output can no longer be written.
pub fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// The exit code after a signal: Ctrl-C is how a person ends what is shown.
pub fn ended_by(signal: i32) -> ExitCode {
    if signal == SIGINT {
        return ExitCode::SUCCESS;
    }
    u8::try_from(128 + signal).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// `None` without a terminal, or for one too narrow for line breaks.
pub fn size_of(stream: impl AsTerminal) -> Option<TerminalSize> {
    let (columns, rows) = terminal::size(stream)?;
    let rows = if rows == 0 { 24 } else { rows };
    Some(TerminalSize { columns, rows }).filter(|size| size.columns >= 5 * INDENT)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// A wide character takes two.
    pub columns: usize,
    pub rows: usize,
}

/// The additional indent of a broken line's further parts.
const INDENT: usize = 4;

/// Each line within this width.
pub fn fitted(text: &str, size: Option<TerminalSize>) -> String {
    let Some(TerminalSize { columns, .. }) = size else { return text.to_owned() };
    text.split_inclusive('\n').map(|line| wrapped(line, columns)).collect()
}

/// A line in parts of at most `width` columns, broken at blanks and beside wide characters. All parts but the first are
/// indented; colors have no width.
fn wrapped(line: &str, width: usize) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    indented(line, width, INDENT + blanks.min(width / 3))
}

/// A line wrapped in the same way, its further lines indented by so many columns.
pub fn indented(line: &str, width: usize, indent: usize) -> String {
    let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
    if shown_width(text) <= width {
        return line.to_owned();
    }
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let mut wrapped = " ".repeat(blanks);
    let mut column = blanks;
    for word in text[blanks..].split_inclusive(' ').flat_map(unbroken) {
        let shown = shown_width(word.trim_end());
        if shown > 0 && column > indent && column + shown > width {
            wrapped.truncate(wrapped.trim_end_matches(' ').len());
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            column = indent;
        }
        wrapped.push_str(word);
        column += shown_width(word);
    }
    wrapped + end
}

/// The parts of a word between which a line may be broken: beside wide characters, unless a joiner binds two of them.
fn unbroken(word: &str) -> Vec<&str> {
    if word.is_ascii() {
        return vec![word];
    }
    let (mut parts, mut from) = (Vec::new(), 0);
    for (at, letter) in word.char_indices().skip(1) {
        let mut bytes = [0; 4];
        let width = text::columns(letter.encode_utf8(&mut bytes));
        let before = word[..at].chars().next_back().unwrap_or_default();
        let is_beside = width == 2 || text::columns(before.encode_utf8(&mut bytes)) == 2;
        // A closing sign begins no line, and joined characters have a width only together.
        let begins = width > 0 && !"、。，．！？：；）」』】〉》".contains(letter);
        if is_beside && begins && before != '\u{200d}' && letter != ' ' {
            parts.push(&word[from..at]);
            from = at;
        }
    }
    parts.push(&word[from..]);
    parts
}

fn shown_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let plain = text::columns(parts.next().unwrap_or_default());
    let after_color = |part: &str| part.split_once('m').map_or(0, |(_, rest)| text::columns(rest));
    plain + parts.map(after_color).sum::<usize>()
}

fn written(words: &str, end: &str) {
    let mut stream = anstream::stdout().lock();
    let written = write!(stream, "{words}{end}").and_then(|()| stream.flush());
    drop(stream);
    let Err(error) = written else { return };
    let is_first = !LOST.swap(true, Ordering::Relaxed);
    if error.kind() == io::ErrorKind::BrokenPipe {
        return;
    }
    if is_first {
        errors(format_args!("error: standard output cannot be written: {error}"), "\n");
    }
    errors(format_args!("{words}"), end);
}

/// Writes to standard error.
pub fn errors(words: Arguments<'_>, end: &str) {
    let words = fitted(&shown(words), size_of(io::stderr()));
    let mut stream = anstream::stderr().lock();
    // Nobody is left to tell.
    let _ = write!(stream, "{words}{end}").and_then(|()| stream.flush());
}

/// Shows why a command fails.
pub fn error(why: &anyhow::Error) {
    errln!("{BAD}error{BAD:#}: {why:#}");
}

/// Removes everything that steers the terminal, except our own styles. All output passes here, whatever file, path or
/// argument it came from.
fn shown(words: Arguments<'_>) -> String {
    let words = words.to_string();
    match text::styled(&words, &style::sequences()) {
        Cow::Borrowed(_) => words,
        Cow::Owned(shown) => shown,
    }
}

/// The exit code: 1 in place of 0 if something could not be written to standard output.
pub fn exit_code(code: ExitCode) -> ExitCode {
    if code == ExitCode::SUCCESS && LOST.load(Ordering::Relaxed) { ExitCode::FAILURE } else { code }
}

#[cfg(test)]
mod tests {
    use super::wrapped;
    use crate::text::{beginning, narrow};

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrapped("T001 日本語 ok", 14), "T001 日本語 ok");
        assert_eq!(wrapped("T001 日本語 ok", 13), "T001 日本語\n    ok");
        assert_eq!(wrapped("登录页面显示错误信息。", 12), "登录页面显示\n    错误信\n    息。");
        assert_eq!(wrapped("done 🎉🎉🎉 x", 12), "done 🎉🎉🎉\n    x");
        // Joined ones stay together, and an accent takes no column of its own.
        assert_eq!(
            wrapped("aaaa 👩\u{200d}💻👩\u{200d}💻", 6),
            "aaaa\n    👩\u{200d}💻\n    👩\u{200d}💻"
        );
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301} x", 5), "e\u{301}e\u{301}e\u{301} x");
    }

    #[test]
    fn cut_width_counts_columns() {
        assert_eq!((beginning("日本語", 5), beginning("日本語", 6)), ("日本", "日本語"));
        assert_eq!(beginning("abc", 2), "ab");
        assert_eq!((narrow("日本語", 5), narrow("abc", 5)), ("日本…".to_owned(), "abc".to_owned()));
        assert_eq!(narrow("日本語", 6), "日本語");
    }

    #[test]
    fn wide_line_continues_indented() {
        let line = "12:00 one \u{1b}[31mend: blocked\u{1b}[0m  words that need a second line";
        let second =
            "12:00 one \u{1b}[31mend: blocked\u{1b}[0m\n    words that need a\n    second line";
        assert_eq!(wrapped(line, 22), second);
        assert_eq!(wrapped(line, usize::MAX), line);
        assert_eq!(
            wrapped("  longer word-that-has-no-blank\n", 16),
            "  longer\n      word-that-has-no-blank\n"
        );
        assert_eq!(wrapped("", 16), "");
    }
}
