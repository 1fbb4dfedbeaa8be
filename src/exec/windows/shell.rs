//! The shell for a person's command lines: that of Git for Windows, because shared lists and settings are written for
//! it, else the system's own.

use std::os::windows::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::exec::find::find;
use crate::system::files::is_program;
use crate::world;

pub fn line(command: &str) -> Command {
    let Some(sh) = sh() else { return of_the_system(command) };
    let mut shell = Command::new(sh);
    shell.arg("-c").arg(command);
    shell
}

/// The command line reads the words of `RALPH_WORDS` on its standard input. The system's own shell has only the
/// variable.
pub fn line_with_words(command: &str) -> Command {
    let Some(sh) = sh() else { return of_the_system(command) };
    let mut shell = Command::new(&sh);
    shell.args(["-c", r#"printf '%s\n' "$RALPH_WORDS" | "$1" -c "$0""#, command]).arg(sh);
    shell
}

/// The shell of Git for Windows: from Claude Code's setting, from the `PATH`, or beside `git`.
pub fn sh() -> Option<PathBuf> {
    let told = world::folder("CLAUDE_CODE_GIT_BASH_PATH").filter(|path| is_program(path));
    told.or_else(|| find("sh")).or_else(|| {
        let git = find("git")?;
        // git is `cmd\git.exe`, `bin\git.exe` or `mingw64\bin\git.exe` in that folder.
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

pub struct SystemShell {
    /// The whole path: the system would quote the line of a name differently.
    pub program: PathBuf,
    /// They run one command line, whatever the person's settings.
    pub arguments: [&'static str; 3],
    /// The shell takes this unchanged, within one pair of quotation marks.
    pub line: String,
}

impl SystemShell {
    pub fn of(command: &str) -> Self {
        let in_system =
            || world::folder("SystemRoot").map(|root| root.join("System32").join("cmd.exe"));
        let program = find("cmd").or_else(in_system).unwrap_or_else(|| PathBuf::from("cmd.exe"));
        Self { program, arguments: ["/D", "/S", "/C"], line: format!("\"{command}\"") }
    }
}
