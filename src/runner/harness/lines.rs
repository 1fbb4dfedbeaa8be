//! Common to all readers: lines as JSON, bounded text, and things that count once.

use std::collections::{HashSet, VecDeque};

use anstream::adapter::strip_str;
use serde::Deserialize;
use serde_json::Value;

use super::{ExitInfo, RunOutcome};
use crate::engine::{MOST_DENIED, hash_of};
use crate::hosts::json::read_json;

/// The longest final text, in bytes: its end is kept, where a promise stands.
pub const FINAL_TEXT: usize = 1 << 20;
/// The most letters of a program's words in a message.
const WORDS: usize = 400;
/// The most letters of a tool's input.
const WHAT: usize = 200;
/// How many tool calls are known by their ids; repetitions stand close together.
const RECENT: usize = 4_096;
/// Kept lines of standard error, at its beginning and at its end.
const ERROR_LINES: usize = 4;

/// The `type` of a JSON object.
///
/// The rest of the line is not kept, so that a huge unwanted line costs no memory.
pub fn kind(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: String,
    }
    read_json::<Head>(String::from_utf8_lossy(line.trim_ascii()).as_bytes()).map(|head| head.kind)
}

/// Invalid UTF-8 is replaced; a truncated line is `None`.
pub fn value(line: &[u8]) -> Option<Value> {
    read_json(String::from_utf8_lossy(line.trim_ascii()).as_bytes())
}

/// One line of at most `most` letters, without control characters and escape sequences.
pub fn one_line(text: &str, most: usize) -> String {
    let text = &text[..text.floor_char_boundary(FINAL_TEXT)];
    // A program's colors and bells are noise.
    let plain = strip_str(text).to_string();
    let plain = plain.replace(|letter: char| letter.is_control() && !letter.is_whitespace(), "");
    crate::text::title(&plain.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// One line, short enough for a message.
pub fn words(text: &str) -> String {
    one_line(text, WORDS)
}

/// A tool's input on one line: the command or file, else all of the input.
pub fn what(input: &Value) -> String {
    const TELLING: [&str; 8] =
        ["command", "cmd", "file_path", "filePath", "path", "pattern", "url", "description"];
    let detail = TELLING.iter().find_map(|name| input[*name].as_str());
    match (detail, input) {
        (Some(detail), _) => one_line(detail, WHAT),
        (None, Value::String(text)) => one_line(text, WHAT),
        (None, Value::Null) => String::new(),
        (None, other) => one_line(&other.to_string(), WHAT),
    }
}

/// A session id that is safe as an argument.
pub fn session(value: &Value) -> Option<String> {
    value.as_str().filter(|id| is_plain(id)).map(str::to_owned)
}

/// The word is safe as an argument: short, plain letters, no flag.
pub fn is_plain(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=128).contains(&word.len()) && !word.starts_with('-') && word.bytes().all(plain)
}

/// Dollars in millionths, at most a billion dollars; `None` for a negative or invalid number.
pub fn millionths(dollars: f64) -> Option<u64> {
    format!("{:.0}", dollars.min(1e9) * 1e6).parse().ok()
}

pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// The agent's words since its last tool call; only the end of a very long text is kept.
#[derive(Clone, Debug, Default)]
pub struct FinalText(String);

impl FinalText {
    pub fn set(&mut self, text: &str) {
        self.0.clear();
        self.add(text);
    }

    pub fn add(&mut self, text: &str) {
        self.0.push_str(text);
        if self.0.len() > 2 * FINAL_TEXT {
            self.0 = end_of(&self.0).to_owned();
        }
    }

    /// The agent went on to other work.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.0);
        if text.len() <= FINAL_TEXT { text } else { end_of(&text).to_owned() }
    }
}

fn end_of(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(FINAL_TEXT))..]
}

/// Counts things by their ids, each once.
#[derive(Clone, Debug, Default)]
pub struct Once {
    recent: HashSet<u64>,
    count: u64,
}

impl Once {
    /// Counts the thing unless its id was seen. A thing without an id is always new.
    pub fn is_new(&mut self, id: &str) -> bool {
        if self.recent.len() == RECENT {
            self.recent.clear();
        }
        if !id.is_empty() && !self.recent.insert(hash_of(id.as_bytes())) {
            return false;
        }
        self.count += 1;
        true
    }

    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Refused tools, each once.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Vec<String>);

impl Refusals {
    pub fn add(&mut self, tool: &str, what: &str) {
        let tool = one_line(tool, WHAT);
        let refusal = if what.is_empty() { tool } else { format!("{tool}: {what}") };
        if self.0.len() < MOST_DENIED && !self.0.contains(&refusal) {
            self.0.push(refusal);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}

/// The first and the last lines of standard error. Some programs explain a failed start only there, at the beginning or
/// the end.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    first: Vec<String>,
    last: VecDeque<String>,
}

impl Errors {
    /// Skips empty lines and stack traces.
    pub fn add(&mut self, line: &[u8]) {
        let start = &line[..line.len().min(8 * WORDS)];
        let line = words(&String::from_utf8_lossy(start));
        if line.is_empty() || line.starts_with("at ") {
            return;
        }
        if self.first.len() < ERROR_LINES {
            self.first.push(line);
            return;
        }
        if self.last.len() == ERROR_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The first kept line with one of these texts.
    pub fn line_with(&self, texts: &[&str]) -> Option<&str> {
        self.lines().find(|line| texts.iter().any(|text| line.contains(text)))
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.first.iter().chain(&self.last).map(String::as_str)
    }

    /// One line, from the first mention of an error on.
    fn all(&self) -> String {
        let lines: Vec<&str> = self.lines().collect();
        let is_error = |line: &&str| line.to_ascii_lowercase().contains("error");
        let from = lines.iter().position(is_error).unwrap_or(0);
        words(&lines[from..].join(" | "))
    }
}

/// A stream's report on its own end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StreamEnd {
    /// There was no terminal event.
    #[default]
    Nothing,
    /// A result without an error.
    Result,
    Failure(RunOutcome),
}

/// An unknown flag means: the program is too old.
const UNKNOWN_FLAG: &[&str] = &["unknown option", "unexpected argument", "Unknown argument"];

/// Success needs a result without an error *and* exit code 0.
///
/// `lasting` are texts on standard error that mean: trying again does not help. They count only where the stream
/// reported nothing, because then the program never got to work.
pub fn outcome(
    program: &str,
    stream_end: &StreamEnd,
    left: &ExitInfo,
    errors: &Errors,
    lasting: &[&str],
) -> RunOutcome {
    if left.cut && !left.lingered {
        return RunOutcome::Cut;
    }
    let end = end(left);
    match stream_end {
        StreamEnd::Failure(outcome) => outcome.clone(),
        StreamEnd::Result if left.lingered || left.code == Some(0) => RunOutcome::Finished,
        StreamEnd::Result => RunOutcome::Failed(message(
            &format!("`{program}` left with {end} after its result"),
            &errors.all(),
        )),
        StreamEnd::Nothing => {
            let missed = message(
                &format!("`{program}` left with {end} and without a result"),
                &errors.all(),
            );
            let said = |texts| left.code != Some(0) && errors.line_with(texts).is_some();
            if said(lasting) {
                return RunOutcome::Lasting(missed);
            }
            if said(UNKNOWN_FLAG) {
                return RunOutcome::Lasting(format!("{missed}\nupdate `{program}`: it is too old"));
            }
            RunOutcome::Failed(missed)
        }
    }
}

/// The sentence, followed by the program's words.
pub fn message(sentence: &str, said: &str) -> String {
    let said = words(said);
    if said.is_empty() { sentence.to_owned() } else { format!("{sentence}: {said}") }
}

fn end(left: &ExitInfo) -> String {
    match (left.code, left.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

/// Error codes of services that no retry fixes.
const LASTING_CODES: &str = "\
    insufficient_quota billing_error billing_hard_limit_reached billing_not_active \
    account_deactivated authentication_error invalid_api_key API_KEY_INVALID model_not_found";
/// Services' words for an unknown model.
const NO_MODEL: [&str; 4] = ["does not exist", "not found", "no such model", "is not supported"];
/// Beginnings of such messages where no code is passed on.
const LASTING_WORDS: &str = include_str!("lasting.txt");

/// Only errors that no retry fixes are lasting. `said` comes from an error of the stream, never from the agent's words.
pub fn failure(status: Option<u64>, said: &str, message: String) -> RunOutcome {
    if matches!(status, Some(401..=404)) || is_lasting(said) {
        return RunOutcome::Lasting(message);
    }
    RunOutcome::Failed(message)
}

/// The service's error is one that no retry fixes.
pub fn is_lasting(said: &str) -> bool {
    let quoted = |code: &str| said.contains(&format!("\"{code}\"")) || said == code;
    // The words begin the message, or stand in the JSON of the service's answer.
    let begins = |words: &str| said.starts_with(words) || said.contains(&format!("\"{words}"));
    // Codex passes on the service's words without the status.
    let plain = said.to_lowercase();
    let no_model = plain.contains("model") && NO_MODEL.iter().any(|words| plain.contains(words));
    LASTING_CODES.split(' ').any(quoted) || LASTING_WORDS.lines().any(begins) || no_model
}

/// The service is busy or out of order, which passes.
pub fn is_passing(status: Option<u64>) -> bool {
    matches!(status, Some(408 | 425 | 429 | 500..=599))
}

/// The service has too much to do.
pub fn is_overload(status: Option<u64>) -> bool {
    matches!(status, Some(429 | 503 | 529))
}

/// Turns a failure into a missing session where standard error says so and the program never got to work.
pub fn resumed(
    outcome: RunOutcome,
    stream_end: &StreamEnd,
    errors: &Errors,
    gone: &[&str],
) -> RunOutcome {
    match outcome {
        RunOutcome::Failed(why) | RunOutcome::Lasting(why)
            if *stream_end == StreamEnd::Nothing && errors.line_with(gone).is_some() =>
        {
            RunOutcome::SessionGone(why)
        }
        other => other,
    }
}
