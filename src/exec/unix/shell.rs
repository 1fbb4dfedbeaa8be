//! The shell for a person's command lines.

use std::path::PathBuf;
use std::process::Command;

use crate::exec::find::find;

/// The shell for scripts.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there may be none")]
pub fn sh() -> Option<PathBuf> {
    Some(PathBuf::from("sh"))
}

pub fn line(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}

/// The command line reads the words of `RALPH_WORDS` on its standard input.
pub fn line_with_words(command: &str) -> Command {
    // The whole path: a relative folder of the `PATH` could name the project's file.
    let sh = find("sh").unwrap_or_else(|| PathBuf::from("/bin/sh"));
    let mut shell = Command::new(&sh);
    shell.args(["-c", r#"printf '%s\n' "$RALPH_WORDS" | "$1" -c "$0""#, command]).arg(sh);
    shell
}
