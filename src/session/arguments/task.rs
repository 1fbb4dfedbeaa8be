//! What a person typed behind `/ralph-loop`: the task, unchanged, and the flags around it.
//!
//! A task is in quotes or not. Flags come before it or after it; whatever could be a mistyped
//! flag is an error, so that no limit is ever swallowed into the prompt.

use super::{meant, refused_promise, whole_number};
use crate::engine::fields::named;
use crate::engine::{Check, PromiseMatch, REVIEW, WithoutWork};
use crate::feature::project::printable;
use crate::refusal::Refusal;

/// How the command is written.
pub const USAGE: &str = "Usage: /speckit:ralph-loop \"TASK\" [--max-iterations N] [--completion-promise TEXT] [--promise-match anywhere|exact] [--min-tool-calls N] [--min-iterations N] [--on-promise-no-work reject|warn|accept] [--check \"CMD\"]… [--check-timeout SECONDS] [--no-final-check] [--no-progress N] [--prompt-file PATH] [--replace]\nor, to continue the loop of a session that is gone: /speckit:ralph-loop --adopt [SESSION] [--force] [--replace]";
/// The promise that is asked for where a person names none and no check either.
pub const PROMISE: &str = "DONE";
/// Iterations without `--max-iterations`.
const MAX_ITERATIONS: u32 = 50;
/// Seconds that each check has without `--check-timeout`.
const CHECK_TIMEOUT: u64 = 300;
/// The most seconds that one check may be given: all of them together have 25 minutes.
const MOST_CHECK_TIMEOUT: u64 = 1_500;
/// The quotes that a task or a value may stand in.
const QUOTES: [char; 2] = ['"', '\''];

/// A request for a ralph loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRequest {
    /// The task, empty when a file holds it.
    pub task: String,
    /// `--prompt-file`, the file that holds the task.
    pub prompt_file: Option<String>,
    /// `--max-iterations`, 0 for no limit.
    pub max_iterations: u32,
    /// `--completion-promise`.
    pub promise: Option<String>,
    /// `--promise-match`.
    pub promise_match: PromiseMatch,
    /// `--min-tool-calls`.
    pub min_tool_calls: u64,
    /// `--min-iterations`, 0 for none.
    pub min_iterations: u32,
    /// `--on-promise-no-work`.
    pub without_work: WithoutWork,
    /// `--check`, as often as it was given.
    pub checks: Vec<String>,
    /// `--no-final-check`.
    pub no_final_check: bool,
    /// `--check-timeout`, in seconds.
    pub check_timeout: u64,
    /// `--no-progress`, iterations in a row without a change.
    pub no_progress: Option<u32>,
    /// `--replace`: a live loop of the session ends with this.
    pub replace: bool,
    /// `--adopt`: no loop is armed, that of another session is taken over; empty for the only one
    /// that was left behind.
    pub adopt: Option<String>,
    /// `--force`: also one whose session may still be there.
    pub force: bool,
}

impl Default for TaskRequest {
    fn default() -> Self {
        Self {
            task: String::new(),
            prompt_file: None,
            max_iterations: MAX_ITERATIONS,
            promise: None,
            promise_match: PromiseMatch::Anywhere,
            min_tool_calls: 1,
            min_iterations: 0,
            without_work: WithoutWork::Reject,
            checks: Vec::new(),
            no_final_check: false,
            check_timeout: CHECK_TIMEOUT,
            no_progress: None,
            replace: false,
            adopt: None,
            force: false,
        }
    }
}

impl TaskRequest {
    /// Returns the request in the text after the command; the error names what is wrong and how to write it.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let rest = request.take_flags(text)?;
        match rest {
            Rest::Literal(text) => without_quotes(text).clone_into(&mut request.task),
            Rest::Words(text) => request.take_task(text)?,
        }
        request.checked()
    }

    /// Takes in flags from the start of a text and returns what stands behind them.
    fn take_flags<'a>(&mut self, text: &'a str) -> Result<Rest<'a>, Refusal> {
        let mut rest = text.trim();
        while let Some(flag) = flag_at_start(rest) {
            let behind = &rest[flag.len()..];
            if flag == "--" {
                return Ok(Rest::Literal(behind.trim()));
            }
            let (name, joined) = match flag.split_once('=') {
                // A joined value may be quoted and have blanks in it.
                Some((name, _)) => (name, Some(&rest[name.len() + 1..])),
                None => (flag, None),
            };
            rest = self.take_flag(name, joined, behind)?.trim_start();
        }
        Ok(Rest::Words(rest))
    }

    /// Takes in one flag and returns what stands behind its value.
    fn take_flag<'a>(
        &mut self,
        name: &str,
        joined: Option<&'a str>,
        behind: &'a str,
    ) -> Result<&'a str, Refusal> {
        let flag = match name {
            "--replace" => Some(&mut self.replace),
            "--force" => Some(&mut self.force),
            "--no-final-check" => Some(&mut self.no_final_check),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            return match joined {
                None => Ok(behind),
                Some(_) => Err(wrong(&format!("`{name}` takes no value"))),
            };
        }
        if name == "--adopt" {
            // The session may be left out: then another flag follows, or nothing.
            let next = behind.trim_start();
            let left_out = next.is_empty() || flag_at_start(next).is_some();
            if joined.is_none() && left_out {
                self.adopt = Some(String::new());
                return Ok(behind);
            }
            let (session, rest) = value_at_start(name, joined, behind)?;
            self.adopt = Some(session);
            return Ok(rest);
        }
        if !FLAGS.split(' ').any(|flag| flag == name) {
            return Err(wrong(&format!(
                "unknown option `{}`{}\nA task that has such words in it goes in quotes, or behind ` -- `.",
                printable(name),
                meant(FLAGS, name)
            )));
        }
        let (value, rest) = value_at_start(name, joined, behind)?;
        self.set(name, &value)?;
        Ok(rest)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        match name {
            "--max-iterations" => self.max_iterations = number(name, value, 0)?,
            "--min-iterations" => self.min_iterations = number(name, value, 0)?,
            "--min-tool-calls" => self.min_tool_calls = number(name, value, 0)?.into(),
            "--no-progress" => self.no_progress = Some(number(name, value, 1)?),
            "--check-timeout" => {
                self.check_timeout = u64::from(number(name, value, 1)?);
                if self.check_timeout > MOST_CHECK_TIMEOUT {
                    return Err(wrong(&format!(
                        "`--check-timeout` is {MOST_CHECK_TIMEOUT} s at most: a stop has to be over before Claude Code ends it"
                    )));
                }
            }
            "--completion-promise" => self.promise = Some(promise(value)?),
            "--promise-match" => {
                let unknown = || neither(name, value, "`anywhere` or `exact`");
                self.promise_match = named(value).ok_or_else(unknown)?;
            }
            "--on-promise-no-work" => {
                let unknown = || neither(name, value, "`reject`, `warn` or `accept`");
                self.without_work = named(value).ok_or_else(unknown)?;
            }
            "--check" if Check::runs_nothing(value) || value.contains('\0') => {
                return Err(wrong("`--check` needs a command: this one runs nothing"));
            }
            // Such a loop has no requirements to judge.
            "--check" if value.starts_with(REVIEW) => {
                return Err(wrong("`--check` needs a command: a review is for features"));
            }
            "--check" => self.checks.push(value.to_owned()),
            _ if value.is_empty() => return Err(wrong("`--prompt-file` needs a path")),
            _ => self.prompt_file = Some(value.to_owned()),
        }
        Ok(())
    }

    /// Takes in a text that begins with the task, flags after it.
    fn take_task(&mut self, text: &str) -> Result<(), Refusal> {
        if let Some((task, flags)) = self.quoted_task(text)? {
            self.task = task.to_owned();
            return self.take_last_flags(flags);
        }
        let end = first_flag(text).unwrap_or(text.len());
        text[..end].trim().clone_into(&mut self.task);
        self.take_last_flags(&text[end..])
    }

    /// The task and the flags after it when the whole task is in quotes.
    fn quoted_task<'a>(&self, text: &'a str) -> Result<Option<(&'a str, &'a str)>, Refusal> {
        let Some(quote) = text.chars().next().filter(|first| QUOTES.contains(first)) else {
            return Ok(None);
        };
        for (index, end) in closing_quotes(text, quote).into_iter().enumerate() {
            let behind = &text[end + 1..];
            let flags = behind.trim_start();
            let apart = flags.is_empty() || (flags.len() < behind.len() && flags.starts_with("--"));
            if !apart {
                continue;
            }
            let parsed = self.clone().take_last_flags(flags);
            // What comes after the quote that balances the first one can only be flags.
            if parsed.is_ok() || index == 0 {
                return parsed.map(|()| Some((&text[1..end], flags)));
            }
        }
        Ok(None)
    }

    fn take_last_flags(&mut self, text: &str) -> Result<(), Refusal> {
        match self.take_flags(text)? {
            Rest::Words("") | Rest::Literal("") => Ok(()),
            Rest::Words(rest) | Rest::Literal(rest) => {
                let word = rest.split_whitespace().next().unwrap_or_default();
                Err(wrong(&format!(
                    "`{}` comes after the flags, and the task before them; put the whole task in quotes",
                    printable(word)
                )))
            }
        }
    }

    fn checked(mut self) -> Result<Self, Refusal> {
        if self.adopt.is_some() {
            return self.only_adopts();
        }
        if self.force {
            return Err(wrong("`--force` is for `--adopt` alone"));
        }
        let named = self.prompt_file.is_some();
        if self.task.trim().is_empty() && !named {
            return Err(wrong("there is no task"));
        }
        if !self.task.trim().is_empty() && named {
            return Err(wrong("there are two tasks: one was typed, `--prompt-file` names another"));
        }
        if self.max_iterations > 0 && self.min_iterations > self.max_iterations {
            return Err(wrong("`--min-iterations` is more than `--max-iterations`"));
        }
        if self.promise.is_none() && self.checks.is_empty() {
            self.promise = Some(PROMISE.to_owned());
        }
        Ok(self)
    }

    /// A loop that is taken over keeps its task and its contract.
    fn only_adopts(self) -> Result<Self, Refusal> {
        let rest = Self { adopt: None, force: false, replace: false, ..self.clone() };
        if rest != Self::default() {
            return Err(wrong(
                "`--adopt` continues with the task and the limits that the loop has: only a session, `--force` and `--replace` go with it",
            ));
        }
        Ok(self)
    }
}

/// What comes after the first flags.
enum Rest<'a> {
    /// Words, among which more flags may be.
    Words(&'a str),
    /// A text that a `--` has closed to flags.
    Literal(&'a str),
}

const FLAGS: &str = "\
    --adopt --force --replace --max-iterations --min-iterations --min-tool-calls --no-progress \
    --check-timeout --completion-promise --promise-match --on-promise-no-work --check --no-final-check --prompt-file";

fn wrong(what: &str) -> Refusal {
    Refusal::Usage(what.to_owned(), USAGE)
}

fn neither(name: &str, value: &str, allowed: &str) -> Refusal {
    wrong(&format!("`{name}` is {allowed}, not `{}`", printable(value)))
}

/// The word at the start of a text when it is `--` or looks like a flag; a line of dashes does not.
fn flag_at_start(text: &str) -> Option<&str> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let word = &text[..end];
    let rest = word.strip_prefix("--")?;
    (rest.is_empty() || rest.contains(|letter| letter != '-')).then_some(word)
}

/// The value of a flag, and what comes after it.
fn value_at_start<'a>(
    name: &str,
    joined: Option<&'a str>,
    behind: &'a str,
) -> Result<(String, &'a str), Refusal> {
    let text = joined.unwrap_or_else(|| behind.trim_start());
    if let Some(quote) = text.chars().next().filter(|first| QUOTES.contains(first)) {
        let Some(end) = closing_quotes(text, quote).first().copied() else {
            return Err(wrong(&format!("the quote behind `{name}` is never closed")));
        };
        let value = text[1..end].replace(&format!("\\{quote}"), &quote.to_string());
        return Ok((value, &text[end + 1..]));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    if joined.is_none() && (end == 0 || flag_at_start(text).is_some()) {
        return Err(wrong(&format!("`{name}` needs a value")));
    }
    Ok((text[..end].to_owned(), &text[end..]))
}

fn number(name: &str, value: &str, least: u32) -> Result<u32, Refusal> {
    whole_number(name, value, least).map_err(|why| wrong(&why))
}

fn promise(value: &str) -> Result<String, Refusal> {
    match refused_promise(value) {
        Some(why) => Err(wrong(&["the promise ", &why].concat())),
        None => Ok(value.to_owned()),
    }
}

/// Where the first flag after a task begins: outside of quotes, at the start of a word.
///
/// A `--` alone closes the rest to flags and stays what the person wrote.
fn first_flag(text: &str) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        match flag_at_start(rest) {
            Some("--") => return None,
            Some(_) => return Some(at),
            None => {}
        }
        at += word_or_quoted(rest);
    }
    None
}

/// The length of the word at the start of a text; blanks inside of quotes do not end it.
fn word_or_quoted(text: &str) -> usize {
    let mut before = ' ';
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_whitespace() {
            return at;
        }
        if text[at..].starts_with("```") {
            let fence = at + 3;
            at = text[fence..].find("```").map_or(fence, |end| fence + end + 3);
            before = '`';
            continue;
        }
        let opens = (QUOTES.contains(&letter) || letter == '`') && !before.is_alphanumeric();
        let closing =
            if opens { closing_quotes(&text[at..], letter).first().copied() } else { None };
        at += closing.unwrap_or(0) + letter.len_utf8();
        before = letter;
    }
    at
}

/// Where the quote at the start of a text may be closed: first where the quotes inside are balanced,
/// then at each later one that closes what nothing has opened.
fn closing_quotes(text: &str, quote: char) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut depth = 1_usize;
    let mut before = quote;
    for (at, letter) in text.char_indices().skip(1) {
        let earlier = std::mem::replace(&mut before, letter);
        if letter != quote || earlier == '\\' {
            continue;
        }
        let next = text[at + 1..].chars().next();
        let behind_blank = earlier.is_whitespace() || "([{=".contains(earlier);
        if next.is_none_or(char::is_whitespace) {
            depth = depth.saturating_sub(1);
        } else if behind_blank || (earlier == quote && depth > 1) {
            // Something else is quoted after the end: then the first quote was not around the whole.
            if depth == 0 {
                return ends;
            }
            depth += 1;
            continue;
        } else if next.is_some_and(|next| next == quote || next.is_ascii_punctuation()) && depth > 1
        {
            depth -= 1;
            continue;
        } else {
            continue;
        }
        if depth == 0 {
            ends.push(at);
        }
    }
    ends
}

/// A text without the quotes around the whole of it.
fn without_quotes(text: &str) -> &str {
    let Some(quote) = text.chars().next().filter(|first| QUOTES.contains(first)) else {
        return text;
    };
    let ends = closing_quotes(text, quote);
    if ends.last() == Some(&(text.len() - 1)) { &text[1..text.len() - 1] } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> TaskRequest {
        TaskRequest::parse(text).unwrap_or_else(|refusal| panic!("{text}\n{refusal}"))
    }

    fn refused(text: &str) -> String {
        match TaskRequest::parse(text) {
            Ok(request) => panic!("{text}\n{request:?}"),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_task_arrives_letter_for_letter() {
        for task in [
            "Fix it",
            "it's the users' data, don't lose it",
            "a \"quoted\" word",
            "$(touch pwned) `touch pwned` ${HOME} *",
            "one\ntwo\n\n---\nthree: four\n---\n",
            "left -- right",
            "replace $& and $1 and \\1",
            "\u{1f600} \u{fc}\u{df}\u{4e2d}",
            "<promise>DONE</promise>",
        ] {
            for (before, after) in
                [("", ""), ("", " --max-iterations 3"), ("--max-iterations=3 ", "")]
            {
                let quoted = parsed(&format!("{before}\"{task}\"{after}"));
                assert_eq!(quoted.task, task);
                assert_eq!(quoted.max_iterations, if before == after { 50 } else { 3 });
            }
            assert_eq!(parsed(task).task, task.trim());
            assert_eq!(parsed(&format!("-- {task}")).task, task.trim());
        }
    }

    #[test]
    fn flags_in_a_quoted_task_are_text() {
        for (text, task) in [
            (r#""add --max-iterations 9 to it""#, "add --max-iterations 9 to it"),
            (r#""run "x" --check "y" in it""#, r#"run "x" --check "y" in it"#),
            (r#""make it 5" wide" --no-progress 4"#, r#"make it 5" wide"#),
            ("'the users' data' --no-progress 4", "the users' data"),
            (r#""a" and "b""#, r#""a" and "b""#),
            (r#""a" is broken --no-progress 4"#, r#""a" is broken"#),
            ("use `cargo test --all` here", "use `cargo test --all` here"),
            ("see\n```\nrun --all\n```\nhere", "see\n```\nrun --all\n```\nhere"),
            ("say 'use --all' and --no-progress 4", "say 'use --all' and"),
            ("left -- right --foo", "left -- right --foo"),
            ("a\n---\nb", "a\n---\nb"),
        ] {
            assert_eq!(parsed(text).task, task, "{text}");
        }
    }

    #[test]
    fn every_flag_is_read_before_and_behind_the_task() {
        let flags = "--max-iterations=08 --completion-promise 'ALL DONE' --promise-match exact --no-final-check \
            --min-tool-calls 3 --min-iterations=2 --on-promise-no-work warn --check \"npm test\" \
            --check='grep -q \"a b\" x' --check-timeout 60 --no-progress 4 --replace";
        let expected = TaskRequest {
            task: "Do it".to_owned(),
            prompt_file: None,
            max_iterations: 8,
            promise: Some("ALL DONE".to_owned()),
            promise_match: PromiseMatch::Exact,
            min_tool_calls: 3,
            min_iterations: 2,
            without_work: WithoutWork::Warn,
            no_final_check: true,
            checks: vec!["npm test".to_owned(), "grep -q \"a b\" x".to_owned()],
            check_timeout: 60,
            no_progress: Some(4),
            replace: true,
            adopt: None,
            force: false,
        };
        for text in [
            format!("{flags} Do it"),
            format!("Do it {flags}"),
            format!("\"Do it\"\n{flags}"),
            format!("{flags} -- Do it"),
        ] {
            assert_eq!(parsed(&text), expected, "{text}");
        }
    }

    #[test]
    fn the_promise_is_done_unless_checks_decide_alone() {
        assert_eq!(parsed("Do it").promise.as_deref(), Some("DONE"));
        assert_eq!(parsed("Do it --check true").promise, None);
        assert_eq!(
            parsed("Do it --check true --completion-promise X").promise.as_deref(),
            Some("X")
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("", "there is no task"),
            ("  \n ", "there is no task"),
            ("\"\"", "there is no task"),
            ("--max-iterations 3", "there is no task"),
            ("Do it --max-iteration 3", "unknown option `--max-iteration`"),
            ("\"Do it\" --max-iteration 3", "unknown option `--max-iteration`"),
            ("\"Do it\" --max-iteration \"3\"", "unknown option `--max-iteration`"),
            ("Do it --max-iterations", "`--max-iterations` needs a value"),
            ("Do it --max-iterations --replace", "`--max-iterations` needs a value"),
            ("Do it --max-iterations -1", "whole number from 0"),
            ("Do it --max-iterations 0x8", "not `0x8`"),
            ("Do it --max-iterations=", "not ``"),
            ("Do it --completion-promise \"\"", "the promise is empty"),
            ("Do it --completion-promise=' '", "the promise is empty"),
            ("Do it --completion-promise '<promise>X</promise>'", "only the words between"),
            ("Do it --completion-promise \"X", "is never closed"),
            ("Do it --no-progress 0", "whole number from 1"),
            ("Do it --check-timeout 5000", "1500 s at most"),
            ("Do it --promise-match maybe", "not `maybe`"),
            ("Do it --on-promise-no-work maybe", "not `maybe`"),
            ("Do it --check ''", "needs a command"),
            ("Do it --check '#'", "needs a command: this one runs nothing"),
            ("Do it --check ' # cargo test'", "needs a command: this one runs nothing"),
            ("Do it --replace=yes", "takes no value"),
            ("Do it --max-iterations 3 and that", "`and` comes after the flags"),
            ("Do it --min-iterations 9 --max-iterations 3", "is more than"),
            ("Do it --prompt-file x.md", "there are two tasks"),
        ] {
            let why = refused(text);
            assert!(why.contains(words), "{text}\n{why}");
            assert!(why.contains("\nUsage: "), "{why}");
        }
    }
}
