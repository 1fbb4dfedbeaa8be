//! The shell that a command line of a person is handed to: that of Git for Windows, for which lists and settings that are
//! shared with others are written; without it, the system's own.

use std::os::windows::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::exec::find::find;
use crate::system::files::is_program;
use crate::world;

/// Returns the program that runs a command line.
pub fn line(command: &str) -> Command {
    let Some(sh) = sh() else { return of_the_system(command) };
    let mut shell = Command::new(sh);
    shell.arg("-c").arg(command);
    shell
}

/// Returns the program that runs a command line with the words in `RALPH_WORDS` on its standard input; the system's own
/// shell has them in the variable alone.
pub fn line_with_words(command: &str) -> Command {
    let Some(sh) = sh() else { return of_the_system(command) };
    let mut shell = Command::new(&sh);
    shell.args(["-c", r#"printf '%s\n' "$RALPH_WORDS" | "$1" -c "$0""#, command]).arg(sh);
    shell
}

/// Returns the shell that scripts are written for, `None` where there is none: that of Git for Windows, where Claude Code was told that it is, on the `PATH`, or beside `git`.
pub fn sh() -> Option<PathBuf> {
    let told = world::folder("CLAUDE_CODE_GIT_BASH_PATH").filter(|path| is_program(path));
    told.or_else(|| find("sh")).or_else(|| {
        let git = find("git")?;
        // `cmd\git.exe`, `bin\git.exe` or `mingw64\bin\git.exe` in its folder.
        let folders = git.ancestors().skip(2).take(2);
        folders.map(|folder| folder.join("bin").join("sh.exe")).find(|path| is_program(path))
    })
}

fn of_the_system(command: &str) -> Command {
    let cmd = SystemShell::of(command);
    let mut shell = Command::new(cmd.program);
    shell.args(cmd.arguments).raw_arg(cmd.line);
    shell
}

/// The system's own shell with a command line.
pub struct SystemShell {
    /// Where it is: a program that is looked for again would get its line with other quotation marks.
    pub program: PathBuf,
    /// What makes it run one command line, whatever the person's settings are.
    pub arguments: [&'static str; 3],
    /// The rest of its line, which it takes as it is, within one pair of quotation marks.
    pub line: String,
}

impl SystemShell {
    /// Returns the one that runs this command line.
    pub fn of(command: &str) -> Self {
        let in_system =
            || world::folder("SystemRoot").map(|it| it.join("System32").join("cmd.exe"));
        let program = find("cmd").or_else(in_system).unwrap_or_else(|| PathBuf::from("cmd.exe"));
        Self { program, arguments: ["/D", "/S", "/C"], line: format!("\"{command}\"") }
    }
}
