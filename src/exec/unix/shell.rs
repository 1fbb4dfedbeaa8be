//! The shell that a command line of a person is handed to.

use std::path::PathBuf;
use std::process::Command;

use crate::exec::find::find;

/// Returns the shell that scripts are written for, `None` where there is none.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there may be none")]
pub fn sh() -> Option<PathBuf> {
    Some(PathBuf::from("sh"))
}

/// Returns the program that runs a command line.
pub fn line(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}

/// Returns the program that runs a command line with the words in `RALPH_WORDS` on its standard input.
pub fn line_with_words(command: &str) -> Command {
    // The inner shell by its whole path: a name may be in a relative folder of the `PATH`, which is the project's.
    let sh = find("sh").unwrap_or_else(|| PathBuf::from("/bin/sh"));
    let mut shell = Command::new(&sh);
    shell.args(["-c", r#"printf '%s\n' "$RALPH_WORDS" | "$1" -c "$0""#, command]).arg(sh);
    shell
}
