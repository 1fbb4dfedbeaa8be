//! What all readers share: a line as JSON, text that is bounded, and things that are counted once.

use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use serde::Deserialize;
use serde_json::Value;

use super::{ExitInfo, RunOutcome};
use crate::engine::MOST_DENIED;
use crate::hosts::json::read_json;

/// The most that is kept of an agent's final text, in bytes: its end, where a promise stands.
pub const FINAL_TEXT: usize = 1 << 20;
/// The most letters of what a program says in a message.
const WORDS: usize = 400;
/// The most letters of what a tool is used with.
const WHAT: usize = 200;
/// Tool calls among which a repeated one is recognised; repetitions stand close together.
const RECENT: usize = 4_096;
/// Lines of standard error that are kept of its beginning, and of its end.
const ERROR_LINES: usize = 4;

/// Returns the `type` of a line that is a JSON object, `None` for any other line.
///
/// Nothing else of the line is kept, so that a huge one that nobody wants costs no memory.
pub fn kind(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: String,
    }
    read_json::<Head>(String::from_utf8_lossy(line.trim_ascii()).as_bytes()).map(|head| head.kind)
}

/// Returns a line as JSON; bytes that are no text are replaced, a line that is cut is `None`.
pub fn value(line: &[u8]) -> Option<Value> {
    read_json(String::from_utf8_lossy(line.trim_ascii()).as_bytes())
}

/// Returns a text on one line of at most `most` letters, without control characters and escape sequences.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut letters = text.chars().peekable();
    let mut blank = false;
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.peek() == Some(&'[') {
            letters.next();
            // A sequence ends with a letter; what comes before it are numbers.
            while letters.next_if(|it| !('\u{40}'..='\u{7e}').contains(it)).is_some() {}
            letters.next();
            continue;
        }
        if letter.is_whitespace() {
            blank = true;
            continue;
        }
        // Colors and bells of a program are noise; what is left goes through the one room for text.
        if letter.is_control() {
            continue;
        }
        if length > most {
            break;
        }
        if blank && !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        blank = false;
        line.push(letter);
        length += 1;
    }
    crate::text::title(&line, most)
}

/// Returns what a program says, fit for a message.
pub fn words(text: &str) -> String {
    one_line(text, WORDS)
}

/// Returns on one line what a tool is used with: its command or its file, else all of it.
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

/// Returns a session id that may be handed back to a program as an argument, `None` for any other value.
pub fn session(value: &Value) -> Option<String> {
    value.as_str().filter(|id| is_plain(id)).map(str::to_owned)
}

/// Returns whether a word from a file may stand as an argument: short, plain letters, no flag.
pub fn is_plain(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=128).contains(&word.len()) && !word.starts_with('-') && word.bytes().all(plain)
}

/// Returns dollars in millionths, a billion dollars at most; `None` for what is no sum of money.
pub fn millionths(dollars: f64) -> Option<u64> {
    format!("{:.0}", dollars.min(1e9) * 1e6).parse().ok()
}

/// Returns a number of tokens, 0 for what is none.
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// The agent's own words since its last tool call; only the end of a very long text is kept.
#[derive(Clone, Debug, Default)]
pub struct FinalText(String);

impl FinalText {
    /// Puts this text in the place of what was there.
    pub fn set(&mut self, text: &str) {
        self.0.clear();
        self.add(text);
    }

    /// Appends to what is there.
    pub fn add(&mut self, text: &str) {
        self.0.push_str(text);
        if self.0.len() > 2 * FINAL_TEXT {
            self.0 = end_of(&self.0).to_owned();
        }
    }

    /// Forgets what is there: the agent went on to do something else.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the end of the text, and forgets it.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.0);
        if text.len() <= FINAL_TEXT { text } else { end_of(&text).to_owned() }
    }
}

fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(FINAL_TEXT);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    &text[from.unwrap_or(text.len())..]
}

/// Counts things by their id, each once.
#[derive(Clone, Debug, Default)]
pub struct Once {
    recent: VecDeque<u64>,
    count: u64,
}

impl Once {
    /// Returns whether this is a new one, and counts it; a thing without an id always is.
    pub fn is_new(&mut self, id: &str) -> bool {
        if !id.is_empty() {
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            let id = hasher.finish();
            if self.recent.contains(&id) {
                return false;
            }
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(id);
        }
        self.count += 1;
        true
    }

    /// Returns how many there were.
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Tools that were refused, each named once.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Vec<String>);

impl Refusals {
    /// Takes in a tool, and what it was to do.
    pub fn add(&mut self, tool: &str, what: &str) {
        let tool = one_line(tool, WHAT);
        let refusal = if what.is_empty() { tool } else { format!("{tool}: {what}") };
        if self.0.len() < MOST_DENIED && !self.0.contains(&refusal) {
            self.0.push(refusal);
        }
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all of them, and forgets them.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }
}

/// The first and the last lines of standard error: the only place where some programs say why they
/// did not start. The reason is at the beginning or at the end of what they print.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    first: Vec<String>,
    last: VecDeque<String>,
}

impl Errors {
    /// Takes in one line; empty ones and those of a stack trace say nothing.
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

    /// Returns the first kept line that holds one of these texts.
    pub fn line_with(&self, texts: &[&str]) -> Option<&str> {
        self.lines().find(|line| texts.iter().any(|text| line.contains(text)))
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.first.iter().chain(&self.last).map(String::as_str)
    }

    /// All of it on one line, from the first line that speaks of an error.
    fn all(&self) -> String {
        let lines: Vec<&str> = self.lines().collect();
        let is_error = |line: &&str| line.to_ascii_lowercase().contains("error");
        let from = lines.iter().position(is_error).unwrap_or(0);
        words(&lines[from..].join(" | "))
    }
}

/// What a stream reported of its own end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StreamEnd {
    /// Nothing: there was no terminal event.
    #[default]
    Nothing,
    /// A result without an error.
    Result,
    /// How it failed.
    Failure(RunOutcome),
}

/// What a program says when it does not know a flag that it is given: it is too old.
const UNKNOWN_FLAG: &[&str] = &["unknown option", "unexpected argument", "Unknown argument"];

/// Returns how a run ended: with success only for a result without an error *and* exit code 0.
///
/// `lasting` are texts by which standard error shows what trying again does not fix. It is asked
/// only where the stream has reported nothing: there, the program never got to work.
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

/// Returns a sentence with what the program says after it.
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

/// What a service calls an error that trying again does not fix, in the code of its answer.
const LASTING_CODES: &str = "\
    insufficient_quota billing_error billing_hard_limit_reached billing_not_active \
    account_deactivated authentication_error invalid_api_key API_KEY_INVALID model_not_found";
/// What services say of a model that they do not have.
const NO_MODEL: [&str; 4] = ["does not exist", "not found", "no such model", "is not supported"];
/// How services and agent programs begin a message on such an error where no code is handed on.
const LASTING_WORDS: &str = include_str!("lasting.txt");

/// Returns a failure by the status of an answer and what the service says: only what trying again does not fix is
/// lasting. `said` is what is in an error of the stream, never a word of the agent.
pub fn failure(status: Option<u64>, said: &str, message: String) -> RunOutcome {
    if matches!(status, Some(401..=404)) || is_lasting(said) {
        return RunOutcome::Lasting(message);
    }
    RunOutcome::Failed(message)
}

/// Returns whether an error of the service is one that trying again does not fix.
pub fn is_lasting(said: &str) -> bool {
    let quoted = |code: &str| said.contains(&format!("\"{code}\"")) || said == code;
    // It begins the message, or is in the JSON of the service's answer.
    let begins = |words: &str| said.starts_with(words) || said.contains(&format!("\"{words}"));
    // Codex hands on the words of the service alone, without the status.
    let plain = said.to_lowercase();
    let no_model = plain.contains("model") && NO_MODEL.iter().any(|words| plain.contains(words));
    LASTING_CODES.split(' ').any(quoted) || LASTING_WORDS.lines().any(begins) || no_model
}

/// Returns whether a status says that the service is busy or out of order, which passes.
pub fn is_passing(status: Option<u64>) -> bool {
    matches!(status, Some(408 | 425 | 429 | 500..=599))
}

/// Returns whether a status says that the service has too much to do.
pub fn is_overload(status: Option<u64>) -> bool {
    matches!(status, Some(429 | 503 | 529))
}

/// Returns the outcome of a run that was to continue a session: gone where standard error says so and the program
/// never got to work.
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
