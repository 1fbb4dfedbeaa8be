//! Any program that takes a prompt and answers on its standard output.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::lines::{self, Errors, FinalText, StreamEnd};
use super::{
    AgentEvent, AgentOrder, AgentReport, ExitInfo, Harness, Input, Launch, OutputReader,
    RunOutcome, Stream, TokensKnown, environment, program,
};
use crate::store::write::{Flush, write_whole};
use crate::text::distance;

/// In bytes; Linux takes no longer argument.
const LONGEST_ARGUMENT: usize = 128 << 10;
const PROMPT_FILE: &str = "prompt.md";
/// Placeholders in arguments.
const PLACES: [&str; 4] = ["{prompt_file}", "{prompt}", "{model}", "{session}"];

/// Programs that join all their arguments to one command line.
const JOINERS: [&str; 7] = ["ssh", "cmd", "powershell", "pwsh", "watch", "wsl", "eval"];

const EMPTY: &str = "the command is empty\nname a program, as in --harness-command \"my-agent --file {prompt_file}\"";

/// Any program, by its command line.
#[derive(Clone, Debug)]
pub struct Any {
    program: PathBuf,
    arguments: Vec<String>,
    /// Makes session ids unique to this loop.
    salt: RandomState,
}

impl Any {
    /// Splits the line as a shell would, but starts no shell.
    pub fn new(line: &str) -> Result<Self> {
        let (program, arguments) = program_of(line)?.context(EMPTY)?;
        if PLACES.iter().any(|place| program.contains(place)) {
            bail!("`{}` is no program", lines::words(&program));
        }
        if let Some(place) = arguments.iter().find_map(|argument| unknown_place(argument)) {
            bail!("`{}` is no placeholder\nthere are {}", lines::words(place), PLACES.join(", "));
        }
        if let Some(word) = runs_prompt(&program, &arguments) {
            bail!(
                "`{}` could run the words of the prompt as commands\nput {{prompt_file}} in the place of {{prompt}}, or leave it out: the prompt then comes on standard input",
                lines::words(word)
            );
        }
        let program = program::from_here(program);
        Ok(Self { program, arguments, salt: RandomState::new() })
    }

    fn asks_for(&self, place: &str) -> bool {
        self.arguments.iter().any(|argument| argument.contains(place))
    }

    /// The session to continue, else a new id; the same order always gets the same id.
    fn session(&self, order: &AgentOrder<'_>) -> Option<String> {
        if !self.asks_for("{session}") {
            return None;
        }
        if let Some(session) = order.resume {
            return Some(session.to_owned());
        }
        // Each iteration's prompt is unique, because it has the iteration's number.
        let own = |part: u8| self.salt.hash_one((order.scratch, order.prompt, part));
        let (high, low) = (own(0), own(1));
        // The form of a random UUID: some programs accept nothing else.
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

    fn reports_tokens(&self) -> TokensKnown {
        TokensKnown::Never
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
            program: self.program.clone().into(),
            arguments: self.arguments.iter().map(|word| filled(word, &values).into()).collect(),
            unset: environment::scrubbed(),
            input: if is_given { Input::Nothing } else { input },
            ..Launch::default()
        })
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader> {
        Box::new(CommandReader::new(&self.program, self.session(order), order.prompt))
    }
}

/// Refuses a model name that a shell in the command could read as more than a name.
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

/// A name in braces that is no placeholder.
fn unknown_place(argument: &str) -> Option<&str> {
    argument.match_indices('{').find_map(|(at, _)| {
        let place = &argument[at..=at + argument[at..].find('}')?];
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        let is_near = |known: &str| distance(known, place) <= 2;
        let is_typed = place.len() > 2 && place[1..place.len() - 1].chars().all(is_name);
        let is_one = is_typed && !PLACES.contains(&place) && !argument[..at].ends_with('$');
        // Among other words, braces may be code: `awk '{print}'`.
        let is_word = !argument.contains(char::is_whitespace);
        (is_one && (is_word || PLACES.into_iter().any(is_near))).then_some(place)
    })
}

/// The word that makes the prompt run as code: a word with more than the prompt, a flag in front as in `sh -c`, or a
/// program that joins its arguments.
fn runs_prompt<'a>(program: &'a str, arguments: &'a [String]) -> Option<&'a str> {
    let words = || std::iter::once(program).chain(arguments.iter().map(String::as_str));
    let joiner = words().take_while(|word| !word.contains("{prompt}")).find(|word| {
        let name = Path::new(word).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        JOINERS.iter().any(|joiner| joiner.eq_ignore_ascii_case(name))
    });
    words().zip(words().skip(1)).find_map(|(before, word)| match word {
        "{prompt}" => Some(before).filter(|flag| takes_code(flag)).or(joiner),
        _ => Some(word).filter(|word| word.contains("{prompt}")),
    })
}

/// Flags that code follows in any program: `-c`, `-lc`, `/C`, `-e`, `--command`.
fn takes_code(flag: &str) -> bool {
    let name = flag.trim_start_matches(['-', '/']).to_ascii_lowercase();
    let is_short = name.len() + 1 == flag.len() && name.len() <= 4;
    (is_short && (name.ends_with('c') || name == "e"))
        || (name.len() < flag.len() && matches!(&*name, "command" | "eval"))
}

/// `None` where the line names no program.
pub fn program_of(line: &str) -> Result<Option<(String, Vec<String>)>> {
    let words = split(line);
    let mut words = words
        .with_context(|| format!("the command `{}` cannot be split", lines::words(line)))?
        .into_iter();
    let program = words.next().filter(|program| !program.is_empty());
    Ok(program.map(|program| (program, words.collect())))
}

/// Splits as a shell would; an open quotation mark is an error.
///
/// On Windows, a backslash is part of a path and escapes nothing.
pub fn split(line: &str) -> Result<Vec<String>, shell_words::ParseError> {
    if cfg!(windows) {
        shell_words::split(&with_plain_backslashes(line))
    } else {
        shell_words::split(line)
    }
}

/// Doubles the backslashes that a shell would take away.
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

/// Fills the placeholders in one pass: inserted text is not searched again.
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

/// All of standard output is the agent's words: nothing sets them apart.
#[derive(Debug)]
pub(super) struct CommandReader {
    name: String,
    session: Option<String>,
    prompt: String,
    text: FinalText,
    errors: Errors,
}

impl CommandReader {
    pub(super) fn new(program: &Path, session: Option<String>, prompt: &str) -> Self {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let name = lines::one_line(&name.to_string_lossy(), 80);
        let prompt = prompt.trim().to_owned();
        Self { name, session, prompt, text: FinalText::default(), errors: Errors::default() }
    }

    /// The end of the output, without the prompt. A program that repeats its prompt also repeats the promise in it,
    /// perhaps with each line indented or marked.
    fn words(&mut self) -> String {
        let text = self.text.take();
        if self.prompt.is_empty() {
            return text;
        }
        let asking = self.prompt.lines().map(str::trim).filter(|line| asks(line));
        asking.fold(text.replace(&self.prompt, ""), |text, line| text.replace(line, ""))
    }
}

/// The line asks for a promise or for the words of a blocked agent. A line that is only a promise does not: an agent
/// that keeps the promise writes the same.
fn asks(line: &str) -> bool {
    let is_promise = line.starts_with("<promise>") && line.ends_with("</promise>");
    line.contains("<blocked>") || (line.contains("<promise>") && !is_promise)
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
        let end = &line[line.len().saturating_sub(lines::FINAL_TEXT)..];
        let words = String::from_utf8_lossy(end).into_owned();
        self.text.add(&words);
        self.text.add("\n");
        heard(AgentEvent::Said(words));
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport {
        let stream_end = if left.code == Some(0) { StreamEnd::Result } else { StreamEnd::Nothing };
        let outcome = match lines::outcome(&self.name, &stream_end, left, &self.errors, &[]) {
            // This program reports no result; only the exit code counts.
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
    fn path_backslash_stays_one() {
        let line = r#"C:\a\agent.exe "C:\a folder\" '\\server\b' -m {model}"#;
        let words = shell_words::split(&with_plain_backslashes(line)).unwrap();
        let path = [r"C:\a\agent.exe", r"C:\a folder\", r"\\server\b", "-m", "{model}"];
        assert_eq!(words, path);
        assert_eq!(split("a\\ b").unwrap().len(), if cfg!(windows) { 2 } else { 1 });
    }

    #[test]
    fn places_fill_once() {
        let values = [("{prompt}", "do {model} {prompt}"), ("{model}", "m")];
        assert_eq!(filled("a{prompt}b{model}", &values), "ado {model} {prompt}bm");
        assert_eq!(filled("{\"k\":{}}{prompts}{", &values), "{\"k\":{}}{prompts}{");
    }
}
