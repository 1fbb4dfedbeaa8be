//! Any program that takes a prompt and answers on its standard output.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::lines::{self, Errors, StreamEnd};
use super::program;
use super::{
    AgentEvent, AgentOrder, AgentReport, ExitInfo, Harness, Input, Launch, OutputReader,
    RunOutcome, Stream, environment,
};
use crate::store::write::{Flush, write_whole};

/// The most that is kept of what a program prints, in bytes: its end, where a promise stands.
const TAIL: usize = 256 << 10;
/// The longest argument that Linux takes, in bytes.
const LONGEST_ARGUMENT: usize = 128 << 10;
/// The file in the iteration's own folder that holds the prompt.
const PROMPT_FILE: &str = "prompt.md";
/// What is replaced in an argument.
const PLACES: [&str; 4] = ["{prompt_file}", "{prompt}", "{model}", "{session}"];

/// Programs that read one of their arguments as a command line.
const SHELLS: [&str; 10] =
    ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "cmd", "powershell", "pwsh"];

const EMPTY: &str = "the command is empty\nname a program, as in --harness-command \"my-agent --file {prompt_file}\"";

/// Any program.
#[derive(Clone, Debug)]
pub struct Any {
    program: PathBuf,
    arguments: Vec<String>,
    /// Makes the session ids of this loop its own.
    salt: RandomState,
}

impl Any {
    /// Returns the harness for a command line; it is split as a shell would, and never given to one.
    pub fn new(line: &str) -> Result<Self> {
        let (program, arguments) = program_of(line)?.context(EMPTY)?;
        if PLACES.iter().any(|place| program.contains(place)) {
            bail!("`{}` is no program", lines::words(&program));
        }
        if let Some(shell) = shell_of_prompt(&program, &arguments) {
            bail!(
                "`{}` would run the words of the prompt as commands\nput {{prompt_file}} in the place of {{prompt}}, or leave it out: the prompt then comes on standard input",
                lines::words(shell)
            );
        }
        let program = program::from_here(program);
        Ok(Self { program, arguments, salt: RandomState::new() })
    }

    fn asks_for(&self, place: &str) -> bool {
        self.arguments.iter().any(|argument| argument.contains(place))
    }

    /// The session of an order: the one to continue with, or a new id, which is the same whenever it is
    /// asked for.
    fn session(&self, order: &AgentOrder<'_>) -> Option<String> {
        if !self.asks_for("{session}") {
            return None;
        }
        if let Some(session) = order.resume {
            return Some(session.to_owned());
        }
        // No two iterations have the same prompt: it has their number.
        let own = |part: u8| self.salt.hash_one((order.scratch, order.prompt, part));
        let (high, low) = (own(0), own(1));
        // The form of a random UUID: some programs take nothing else.
        Some(format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (low >> 48) & 0xfff,
            low & 0xffff_ffff_ffff
        ))
    }
}

impl Harness for Any {
    fn name(&self) -> &'static str {
        "command"
    }

    fn program(&self) -> Option<&Path> {
        Some(&self.program)
    }

    fn check(&self) -> Result<Option<String>> {
        program::is_there(&self.program)?;
        Ok(None)
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch> {
        let input = program::by_input(order.prompt)?;
        let file = order.scratch.join(PROMPT_FILE);
        if self.asks_for("{prompt_file}") {
            write_whole(&file, order.prompt.as_bytes(), Flush::ToSystem)
                .with_context(|| format!("cannot write `{}`", file.display()))?;
        }
        if self.asks_for("{prompt}")
            && (order.prompt.len() >= LONGEST_ARGUMENT || order.prompt.contains('\0'))
        {
            bail!(
                "the prompt is too long for an argument\nput {{prompt_file}} in the place of {{prompt}}"
            );
        }
        let model = match order.model {
            Some(model) if self.asks_for("{model}") => plain_model(model)?,
            Some(model) => program::model(model)?,
            None if self.asks_for("{model}") => bail!(
                "the command asks for {{model}}, but there is none\nname one with --model, or leave it out of the command"
            ),
            None => "",
        };
        let session = match self.session(order) {
            Some(session) => program::session(&session)?.to_owned(),
            None => String::new(),
        };
        let file_name = if self.asks_for("{prompt_file}") {
            file.to_str().context("the path of the prompt is no UTF-8")?.to_owned()
        } else {
            String::new()
        };
        let values = [
            ("{prompt_file}", file_name.as_str()),
            ("{prompt}", order.prompt),
            ("{model}", model),
            ("{session}", &session),
        ];
        let is_given = self.asks_for("{prompt}") || self.asks_for("{prompt_file}");
        Ok(Launch {
            program: self.program.clone(),
            arguments: self.arguments.iter().map(|it| filled(it, &values).into()).collect(),
            unset: environment::scrubbed(),
            input: if is_given { Input::Nothing } else { input },
            ..Launch::default()
        })
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        Box::new(CommandReader::new(&self.program, self.session(order), order.prompt))
    }
}

/// Returns a model's name that may stand in a command; an error for one that a shell there could take for more than a name.
pub fn plain_model(name: &str) -> Result<&str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.:/@+[]".contains(letter);
    if !name.chars().all(is_plain) {
        bail!(
            "`{}` cannot stand in a command as {{model}}: only letters, digits and - _ . : / @ + [ ] can\nwrite the model into the command itself",
            lines::words(name)
        );
    }
    program::model(name)
}

/// The shell in a command line that would read the prompt as code: in its argument after `-c`, `ssh` in any.
fn shell_of_prompt<'a>(program: &'a str, arguments: &'a [String]) -> Option<&'a str> {
    let words: Vec<&str> =
        std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
    let at = words.iter().position(|word| word.contains("{prompt}"))?;
    let before = &words[..at];
    let is_code = before.last().is_some_and(|it| {
        let flag = it.trim_start_matches(['-', '/']);
        flag.len() < it.len() && flag.ends_with(['c', 'C']) || flag == "Command"
    });
    before.iter().copied().find(|word| {
        let name = Path::new(word).file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        name == "ssh" || is_code && SHELLS.contains(&name)
    })
}

/// Returns the program of a command line and its arguments, `None` where it names none.
pub fn program_of(line: &str) -> Result<Option<(String, Vec<String>)>> {
    let words = split(line);
    let mut words = words
        .with_context(|| format!("the command `{}` cannot be split", lines::words(line)))?
        .into_iter();
    let program = words.next().filter(|program| !program.is_empty());
    Ok(program.map(|program| (program, words.collect())))
}

/// Returns the words of a command line, split as a shell would; an error for a quotation mark that is never closed.
///
/// On Windows a backslash is one of a path, and nothing more.
pub fn split(line: &str) -> Result<Vec<String>, shell_words::ParseError> {
    if cfg!(windows) {
        shell_words::split(&with_plain_backslashes(line))
    } else {
        shell_words::split(line)
    }
}

/// The line with each backslash as a shell would have to be told of it.
fn with_plain_backslashes(line: &str) -> String {
    let (mut out, mut quote) = (String::with_capacity(line.len()), None);
    for letter in line.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            ('\'' | '"', Some(open)) if open == letter => quote = None,
            ('\\', None | Some('"')) => out.push('\\'),
            _ => {}
        }
        out.push(letter);
    }
    out
}

/// The argument with its places filled, in one pass: what is filled in is not looked at again.
fn filled(argument: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = argument;
    'places: while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        for (place, value) in values {
            if let Some(behind) = rest.strip_prefix(place) {
                out.push_str(value);
                rest = behind;
                continue 'places;
            }
        }
        out.push('{');
        rest = &rest[1..];
    }
    out + rest
}

/// Takes all of standard output for the agent's own words: nothing distinguishes them from the rest.
#[derive(Debug)]
pub(super) struct CommandReader {
    name: String,
    session: Option<String>,
    prompt: String,
    tail: Vec<u8>,
    errors: Errors,
}

impl CommandReader {
    pub(super) fn new(program: &Path, session: Option<String>, prompt: &str) -> Self {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let name = lines::one_line(&name.to_string_lossy(), 80);
        let prompt = prompt.trim().to_owned();
        Self { name, session, prompt, tail: Vec::new(), errors: Errors::default() }
    }

    /// The end of what was printed. A program that repeats its prompt repeats the promise that the
    /// prompt asks for: that is taken out, also where the program indents or marks each line.
    fn words(&self) -> String {
        let text = String::from_utf8_lossy(end_of(&self.tail)).into_owned();
        if self.prompt.is_empty() {
            return text;
        }
        let asking = self.prompt.lines().map(str::trim).filter(|line| asks(line));
        asking.fold(text.replace(&self.prompt, ""), |text, line| text.replace(line, ""))
    }
}

/// Whether a line of a prompt asks for a promise or for the words of a blocked agent. One that is nothing
/// but a promise is no such line: an agent that keeps it writes the same.
fn asks(line: &str) -> bool {
    let is_promise = line.starts_with("<promise>") && line.ends_with("</promise>");
    line.contains("<blocked>") || (line.contains("<promise>") && !is_promise)
}

fn end_of(tail: &[u8]) -> &[u8] {
    &tail[tail.len().saturating_sub(TAIL)..]
}

impl OutputReader for CommandReader {
    fn shows_calls(&self) -> bool {
        false
    }

    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(AgentEvent)) {
        if stream == Stream::Errors {
            self.errors.add(line);
            return;
        }
        let kept = end_of(line);
        self.tail.extend_from_slice(kept);
        self.tail.push(b'\n');
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
        heard(AgentEvent::Said(String::from_utf8_lossy(kept).into_owned()));
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport {
        let stream_end = if left.code == Some(0) { StreamEnd::Result } else { StreamEnd::Nothing };
        let outcome = match lines::outcome(&self.name, &stream_end, left, &self.errors, &[]) {
            // There is no result that could be missing: the exit code is all that is known.
            RunOutcome::Failed(message) => {
                RunOutcome::Failed(message.replacen(" and without a result", "", 1))
            }
            other => other,
        };
        AgentReport {
            final_text: self.words(),
            session: self.session.take(),
            outcome,
            ..AgentReport::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_of_a_path_stays_one_whatever_quotes_are_around_it() {
        let line = r#"C:\a\agent.exe "C:\a folder\" '\\server\b' -m {model}"#;
        let words = shell_words::split(&with_plain_backslashes(line)).unwrap();
        let path = [r"C:\a\agent.exe", r"C:\a folder\", r"\\server\b", "-m", "{model}"];
        assert_eq!(words, path);
        assert_eq!(split("a\\ b").unwrap().len(), if cfg!(windows) { 2 } else { 1 });
    }

    #[test]
    fn places_are_filled_once_and_other_braces_stay() {
        let values = [("{prompt}", "do {model} {prompt}"), ("{model}", "m")];
        assert_eq!(filled("a{prompt}b{model}", &values), "ado {model} {prompt}bm");
        assert_eq!(filled("{\"k\":{}}{prompts}{", &values), "{\"k\":{}}{prompts}{");
    }
}
