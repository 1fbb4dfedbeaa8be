//! What `spool` prints. Output that cannot be written aborts nothing: it changes the exit code at the end.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::style;
use crate::text;

/// Whether something could not be written to standard output.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a line on standard output.
macro_rules! outln {
    () => { $crate::print::output(format_args!(""), "\n") };
    ($($words:tt)*) => { $crate::print::output(format_args!($($words)*), "\n") };
}

/// Prints text on standard output.
macro_rules! out {
    ($($words:tt)*) => { $crate::print::output(format_args!($($words)*), "") };
}

/// Prints a line on standard error; dropped where that cannot be written.
macro_rules! errln {
    ($($words:tt)*) => { $crate::print::errors(format_args!($($words)*), "\n") };
}

/// Prints text on standard error in the same way.
macro_rules! err {
    ($($words:tt)*) => { $crate::print::errors(format_args!($($words)*), "") };
}

/// Writes to standard output. Where that fails, the words go to standard error: what they say was done is
/// done. A reader that has gone away, as `head` does, wants no more of them.
pub fn output(words: Arguments<'_>, end: &str) {
    let words = shown(words);
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
    let words = shown(words);
    let mut stream = anstream::stderr().lock();
    // There is nobody left to tell.
    let _ = write!(stream, "{words}{end}").and_then(|()| stream.flush());
}

/// The words with nothing in them that steers the terminal but our own styles: the last place through which
/// all goes, whatever file, path or argument it came from.
fn shown(words: Arguments<'_>) -> String {
    let words = words.to_string();
    match text::styled(&words, &style::sequences()) {
        Cow::Borrowed(_) => words,
        Cow::Owned(shown) => shown,
    }
}

/// Returns the exit code of a program that was to leave with this one: 1 in place of 0 where something could
/// not be written to standard output.
pub fn exit_code(code: ExitCode) -> ExitCode {
    if code == ExitCode::SUCCESS && LOST.load(Ordering::Relaxed) { ExitCode::FAILURE } else { code }
}
