//! Whether the agent program is there, which version it has, and how it takes its prompt.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::adapter::KnownProgram;
use super::lines::{is_plain, words};
use super::{Input, Launch, environment};
use crate::exec::find::find;
use crate::exec::version::Version;
use crate::exec::{self, ProgramAnswer};
use crate::store::read::read;
use crate::world;

/// The longest prompt as an argument, in bytes: Linux takes 128 KiB for one argument.
const LONGEST_ARGUMENT: usize = 100_000;
/// Time for a question about the program itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes.
const ANSWER: usize = 64 << 10;

/// A relative path starts here, not in the work tree where the program will run.
pub fn from_here(program: String) -> PathBuf {
    let program = PathBuf::from(program);
    if program.components().count() > 1 {
        std::path::absolute(&program).unwrap_or(program)
    } else {
        program
    }
}

pub fn is_there(program: &Path) -> Result<()> {
    if find(program).is_none() {
        bail!(
            "`{}` cannot be started\nname a program on the PATH, or give its path",
            program.display()
        );
    }
    Ok(())
}

impl KnownProgram {
    /// `None` where the program does not say within 10 s; an error when it is missing, does not start, or is too old.
    pub fn check(&self) -> Result<Option<Version>> {
        if find(self.name).is_none() {
            bail!(
                "`{}` is not on the PATH, so {} cannot be driven\ninstall it with `{}`, or choose another agent with --harness",
                self.name,
                self.accepts.title,
                self.install
            );
        }
        match self.ask(&["--version"])? {
            Some(answer) => self.judge(&answer),
            // On a busy machine, some programs take this long to tell their version.
            None => Ok(None),
        }
    }

    /// `None` after 10 s without an answer; an error when the program does not start.
    pub fn ask(&self, arguments: &[&str]) -> Result<Option<ProgramAnswer>> {
        ask(self.name, arguments, self.set, PATIENCE)
    }

    pub fn launch<T: Into<OsString>>(&self, arguments: Vec<T>, input: Input) -> Launch {
        Launch {
            program: self.name.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            set: self.set.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect(),
            unset: environment::scrubbed(),
            input,
            ..Launch::default()
        }
    }

    fn judge(&self, answer: &ProgramAnswer) -> Result<Option<Version>> {
        if !answer.status.success() {
            bail!(
                "`{} --version` failed: {}\nsee that `{}` runs by itself, then try again",
                self.name,
                words(&format!("{} {}", answer.output, answer.errors)),
                self.name
            );
        }
        let version = Version::find(&answer.output).or_else(|| Version::find(&answer.errors));
        if let (Some(version), Some(oldest)) = (version, self.oldest)
            && version < oldest
        {
            bail!(
                "{} {version} is too old: {oldest} or later is needed\nupdate it with `{}`",
                self.accepts.title,
                self.install
            );
        }
        Ok(version)
    }

    /// A warning when this version is older than the proven one.
    pub fn caution(&self, version: &str) -> Option<String> {
        let version = Version::find(version).filter(|version| *version < self.proven)?;
        Some(format!(
            "{} {version} is older than {}, with which this was proven; `{}` updates it",
            self.accepts.title, self.proven, self.install
        ))
    }
}

fn ask(
    program: &str,
    arguments: &[&str],
    set: &[(&str, &str)],
    patience: Duration,
) -> Result<Option<ProgramAnswer>> {
    let mut command = Command::new(program);
    command.args(arguments);
    for name in environment::scrubbed() {
        command.env_remove(name);
    }
    command.envs(set.iter().copied());
    let ran = exec::Program::new(command, patience)
        .kept()
        .run(ANSWER, &mut || false)
        .with_context(|| format!("could not start `{program}`"))?;
    Ok(ran.answer())
}

/// The folder in the variable, else this folder of the person's home.
pub fn home(variable: &str, folder: &str) -> Option<PathBuf> {
    world::folder(variable).or_else(|| Some(world::home()?.join(folder)))
}

/// A file of settings has one of these words.
pub fn says_one_of(file: &Path, words: &[&str]) -> bool {
    read(file, 1 << 20).is_ok_and(|content| {
        let text = String::from_utf8_lossy(&content.bytes);
        words.iter().any(|word| text.contains(word))
    })
}

/// A prompt as an argument or as standard input, never as both; an empty prompt is an error.
///
/// An argument has to be short and unmistakable: no flag, and no single word, which could be a subcommand.
pub fn way(prompt: &str) -> Result<(Option<&str>, Input)> {
    let input = by_input(prompt)?;
    let takes_argument = prompt.len() < LONGEST_ARGUMENT
        && !prompt.starts_with('-')
        && !prompt.contains('\0')
        && prompt.contains(char::is_whitespace);
    Ok(if takes_argument { (Some(prompt), Input::Nothing) } else { (None, input) })
}

/// An empty prompt is an error.
pub fn by_input(prompt: &str) -> Result<Input> {
    if prompt.trim().is_empty() {
        bail!("the prompt is empty\nsay what is to be done");
    }
    Ok(Input::Text(prompt.as_bytes().to_vec()))
}

/// Refuses a model name that could be read as a flag.
pub fn model(name: &str) -> Result<&str> {
    if name.trim().is_empty() || name.starts_with('-') || !crate::text::is_plain(name) {
        bail!("`{}` is no name of a model\nname one with --model", words(name));
    }
    Ok(name)
}

/// Refuses an id that is not safe as an argument.
pub fn session(id: &str) -> Result<&str> {
    if !is_plain(id) {
        bail!("`{}` is no session id", words(id));
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;
    use crate::runner::harness::permissions::{Accepts, Letters};

    const AGENT: KnownProgram = KnownProgram {
        name: "no-such-agent",
        install: "npm install -g the-agent",
        set: &[],
        oldest: Some(Version(2, 1, 143)),
        proven: Version(2, 1, 332),
        lasting: &[],
        gone: &[],
        accepts: Accepts {
            title: "The Agent",
            denies: "",
            mode: None,
            allow: None,
            deny: None,
            settings: "",
            letters: Letters::WithValue,
            own: "",
            ours: &[],
        },
    };

    fn judged(code: i32, output: &str, errors: &str) -> Result<Option<Version>> {
        let status = ExitStatus::from_raw(code << 8);
        AGENT.judge(&ProgramAnswer { status, output: output.to_owned(), errors: errors.to_owned() })
    }

    #[test]
    fn missing_program_says_remedy() {
        assert_eq!(
            AGENT.check().unwrap_err().to_string(),
            "`no-such-agent` is not on the PATH, so The Agent cannot be driven\ninstall it with `npm install -g the-agent`, or choose another agent with --harness"
        );
    }

    #[test]
    fn old_program_says_remedy() {
        assert_eq!(
            judged(0, "2.1.142 (The Agent)\n", "").unwrap_err().to_string(),
            "The Agent 2.1.142 is too old: 2.1.143 or later is needed\nupdate it with `npm install -g the-agent`"
        );
        assert_eq!(judged(0, "2.1.143\n", "").unwrap(), Some(Version(2, 1, 143)));
        assert_eq!(judged(0, "", "v10.0.0\n").unwrap(), Some(Version(10, 0, 0)));
        assert_eq!(judged(0, "a development build\n", "").unwrap(), None, "no guess");
    }

    #[test]
    fn dead_program_says_its_words() {
        assert_eq!(
            judged(1, "", "error while loading\n\u{1b}[31mlibx.so\n").unwrap_err().to_string(),
            "`no-such-agent --version` failed: error while loading libx.so\nsee that `no-such-agent` runs by itself, then try again"
        );
    }

    #[test]
    fn unproven_version_gets_a_line() {
        assert_eq!(
            AGENT.caution("2.1.143").unwrap(),
            "The Agent 2.1.143 is older than 2.1.332, with which this was proven; `npm install -g the-agent` updates it"
        );
        assert_eq!(AGENT.caution("2.1.332"), None);
        assert_eq!(AGENT.caution("3.0.0"), None);
        assert_eq!(AGENT.caution("unknown"), None);
    }

    #[test]
    fn unanswered_question_ends_with_children() {
        let short = Duration::from_millis(50);
        let answer = ask("sh", &["-c", "sleep 600 & wait"], &[], short).unwrap();
        assert!(answer.is_none(), "{answer:?}");
    }

    #[test]
    fn question_has_launch_variables() {
        let set = [("SOME_SWITCH", "off")];
        let answer = ask("sh", &["-c", "echo $SOME_SWITCH"], &set, PATIENCE).unwrap().unwrap();
        assert_eq!(answer.output, "off\n");
    }
}
