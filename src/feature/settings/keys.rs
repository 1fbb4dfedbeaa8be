//! What the keys of the settings mean; whatever is not known is an error with its line.

use super::error::SettingsError;
use super::yaml::{Node, YamlValue, short};
use crate::engine::order::sorted;
use crate::engine::proof::LeastProof;
use crate::engine::{Check, REVIEW, ReviewWhen};
use crate::evidence::pattern::Pattern;
use crate::text::{self, distance};

/// The keys that the settings have.
pub const NAMES: [&str; 12] = [
    "enabled",
    "checks",
    "continue_with",
    "converge",
    "include_optional",
    "landing",
    "notify",
    "proof",
    "protect",
    "quiet",
    "review",
    "spec_kit_command",
];
/// The keys that a check has.
const OF_A_CHECK: [&str; 4] = ["run", "limit", "expect", "min_tests"];
/// The keys that a review has.
const OF_A_REVIEW: [&str; 6] =
    ["harness", "model", "timeout", "token_budget", "token-budget", "when"];
/// When it is made.
const WHEN: [(&str, ReviewWhen); 3] =
    [("end", ReviewWhen::End), ("phases", ReviewWhen::Phases), ("verify", ReviewWhen::Verify)];
/// The agent programs that can be held to reading, the one of the session first.
pub const READERS: [&str; 5] = ["claude", "codex", "opencode", "gemini", "copilot"];
/// The keys, each with other words that people use for it.
const ALIKE: [(&str, &str); 15] = [
    ("protect", "protected forbidden readonly"),
    ("timeout", "limit"),
    ("harness", "agent"),
    ("proof", "proved evidence"),
    ("landing", "handoff"),
    ("spec_kit_command", "speckit_command"),
    ("checks", "check commands verify tests"),
    ("enabled", "active disabled"),
    ("continue_with", "continue continue-with answer"),
    ("notify", "notification on_end"),
    ("quiet", "silent"),
    ("run", "command cmd check"),
    ("limit", "timeout limit_seconds seconds"),
    ("expect", "output pattern"),
    ("min_tests", "tests least_tests"),
];
/// Seconds that a check without a limit of its own has.
const CHECK_LIMIT: u64 = 300;
/// The most seconds that a check has.
const LONGEST_LIMIT: u64 = 1_500;
/// The most seconds that a review has: the end of its reader belongs to the time of all checks, too.
const LONGEST_REVIEW: u64 = 1_400;
/// The most tokens that a review can be given.
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// The most tests that a check can be made to have.
const MOST_TESTS: u64 = 1_000_000;
/// The longest text that is expected in an output, in characters.
const LONGEST_EXPECT: usize = 300;

const WRITE_READER: &str = "write `claude`, `codex`, `opencode`, `gemini` or `copilot`";
const CONTINUE_WITH: [(&str, ContinueWith); 3] = [
    ("auto", ContinueWith::Auto),
    ("block", ContinueWith::Block),
    ("context", ContinueWith::Context),
];
const PROOF: [(&str, LeastProof); 2] = [("files", LeastProof::Files), ("word", LeastProof::Word)];

const ONE_CHECK: &str = "write it as a list, one command a line with `- ` before it";
const IN_QUOTES: &str = "if this is a command, put quotes around all of it";

/// How a stop that sends the agent back is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContinueWith {
    /// With more context where the client is known to take it, with a block everywhere else.
    #[default]
    Auto,
    /// With a block.
    Block,
    /// With more context, also where nobody knows whether the client takes it.
    Context,
}

/// What a person has set for this project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch in the file")]
pub struct Settings {
    /// Whether the loop may hold a session.
    pub enabled: bool,
    /// Commands that must pass before work counts as done, in the order of the file.
    pub checks: Vec<Check>,
    /// The review that follows them, `None` for none.
    pub review: Option<Check>,
    /// Whether spec-kit's converge command has to run before the review and the end.
    pub converge: bool,
    /// Whether optional tasks count.
    pub include_optional: bool,
    /// How a stop that sends the agent back is answered.
    pub continue_with: ContinueWith,
    /// The command that tells the person of an end, and that they are needed; empty for none.
    pub notify: String,
    /// Whether the person is shown only what needs them: an arming, a wait for them, an end that is not completed.
    pub quiet: bool,
    /// Whether the last iteration before a limit is asked to leave a handoff for the next loop.
    pub landing: bool,
    /// How well each task has to be proved.
    pub proof: LeastProof,
    /// Patterns of files that nobody but a person may change, as `.gitignore` has them.
    pub protect: Vec<String>,
    /// Whether spec-kit's own implement command arms the loop.
    pub spec_kit_command: bool,
    /// Hash of the file's bytes, 0 where there is no file: tells one content from another.
    pub digest: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            checks: Vec::new(),
            review: None,
            converge: false,
            include_optional: false,
            continue_with: ContinueWith::Auto,
            notify: String::new(),
            quiet: false,
            landing: true,
            proof: LeastProof::Files,
            protect: Vec::new(),
            spec_kit_command: true,
            digest: 0,
        }
    }
}

impl Settings {
    /// Returns every command in them, in the order in which a person reads them.
    pub fn commands(&self) -> Vec<String> {
        let checks = self.checks.iter().chain(&self.review).map(|check| check.run.clone());
        checks.chain(Some(self.notify.clone()).filter(|it| !it.is_empty())).collect()
    }
}

/// Returns the settings in a YAML value, or the first thing in it that is not understood.
pub fn settings_of(node: Node) -> Result<Settings, SettingsError> {
    let pairs = match node.value {
        YamlValue::Nothing => return Ok(Settings::default()),
        YamlValue::Map(pairs) => pairs,
        YamlValue::Text(text) if is_glued(&text) => {
            let what = format!("no blank is after the `:` in `{}`", short(&text));
            return Err(SettingsError::at(node.line, what, "write one there"));
        }
        YamlValue::Text(_) | YamlValue::List(_) => return Err(no_settings(node.line)),
    };
    let is_off = pairs.iter().any(|(key, value)| {
        is_text(key, |key| key == "enabled") && switch("enabled", value) == Ok(false)
    });
    all_known(&pairs)
        .and_then(|()| settings_in(pairs))
        .map_err(|error| SettingsError { is_off, ..error })
}

fn settings_in(pairs: Vec<(Node, Node)>) -> Result<Settings, SettingsError> {
    let mut settings = Settings::default();
    for (key, value) in pairs {
        match name_of(&key, &NAMES)? {
            "enabled" => settings.enabled = switch("enabled", &value)?,
            "converge" => settings.converge = switch("converge", &value)?,
            "include_optional" => settings.include_optional = switch("include_optional", &value)?,
            "landing" => settings.landing = switch("landing", &value)?,
            "quiet" => settings.quiet = switch("quiet", &value)?,
            "notify" => settings.notify = command("`notify`", &value)?,
            "review" => settings.review = review(value)?,
            "spec_kit_command" => settings.spec_kit_command = switch("spec_kit_command", &value)?,
            "continue_with" => {
                settings.continue_with = one_of("continue_with", &CONTINUE_WITH, &value)?;
            }
            "proof" => settings.proof = one_of("proof", &PROOF, &value)?,
            "protect" => settings.protect = protect(value)?,
            _ => settings.checks = checks(value)?,
        }
    }
    Ok(settings)
}

/// Returns the error for a text that holds no settings on this line.
pub fn no_settings(line: usize) -> SettingsError {
    let what = "here are no settings, such as `enabled: true`";
    let advice = "put them between two lines of `---` at the top, or remove the file";
    SettingsError::at(line, what, advice)
}

fn is_glued(text: &str) -> bool {
    let key = text.split_once(':').map(|(key, _)| key.trim());
    key.is_some_and(|key| NAMES.contains(&key))
}

/// The most unknown keys that are named at once.
const NAMED: usize = 3;

/// Returns an error that names the unknown keys of the settings and of their checks, so that a person mends all at once.
fn all_known(pairs: &[(Node, Node)]) -> Result<(), SettingsError> {
    let lists = pairs.iter().filter_map(|(key, value)| match &value.value {
        YamlValue::List(items) if !is_text(key, |key| key == "protect") => Some(items),
        _ => None,
    });
    let of_checks = lists.flatten().filter_map(|item| match &item.value {
        YamlValue::Map(pairs) => Some(pairs),
        _ => None,
    });
    let of_settings = pairs.iter().filter_map(|(key, _)| name_of(key, &NAMES).err());
    let of_checks = of_checks.flatten().filter_map(|(key, _)| name_of(key, &OF_A_CHECK).err());
    let reviews = pairs.iter().filter_map(|(key, value)| match (&key.value, &value.value) {
        (YamlValue::Text(key), YamlValue::Map(pairs)) if key == "review" => Some(pairs),
        _ => None,
    });
    let of_reviews = reviews.flatten().filter_map(|(key, _)| name_of(key, &OF_A_REVIEW).err());
    let errors = of_settings.chain(of_checks).chain(of_reviews);
    let mut errors =
        sorted(errors.collect(), |one: &SettingsError, other| one.line.cmp(&other.line));
    if errors.len() < 2 {
        return errors.pop().map_or(Ok(()), Err);
    }
    let more = errors.len().saturating_sub(NAMED);
    errors.truncate(NAMED);
    let mut others: Vec<String> = errors[1..].iter().map(SettingsError::what).collect();
    if more > 0 {
        others.push(format!("and {more} more"));
    }
    let what = format!("{}; {}", errors[0].what, others.join("; "));
    let advice = errors
        .iter()
        .map(|error| format!("line {}: {}", error.line.unwrap_or_default(), error.advice));
    let advice = advice.collect::<Vec<_>>().join("\n");
    Err(SettingsError { what, advice, ..errors[0].clone() })
}

/// The known name of a key.
fn name_of(key: &Node, known: &[&'static str]) -> Result<&'static str, SettingsError> {
    let YamlValue::Text(name) = &key.value else {
        return Err(SettingsError::at(key.line, "a key is no word", IN_QUOTES));
    };
    if let Some(known) = known.iter().find(|known| *known == name) {
        return Ok(known);
    }
    let what = format!("unknown key `{}`", short(name));
    Err(SettingsError::at(key.line, what, meant(name, known)))
}

/// What to do about a key that is not known.
fn meant(name: &str, known: &[&'static str]) -> String {
    let name = name.trim().to_lowercase();
    let is_alike = |others: &str| others.split(' ').any(|other| other == name);
    let alike = ALIKE.iter().find(|(key, others)| known.contains(key) && is_alike(others));
    let near = || known.iter().find(|key| distance(&name, key) <= 2);
    match alike.map(|(key, _)| key).or_else(near) {
        Some(key) if name == "disabled" => format!("did you mean `{key}: false`?"),
        Some(key) => format!("did you mean `{key}`?"),
        None if name.contains(' ') => IN_QUOTES.to_owned(),
        None => {
            let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
            format!("remove it; the keys here are {}", known.join(", "))
        }
    }
}

fn switch(key: &str, node: &Node) -> Result<bool, SettingsError> {
    let advice = "write `true` or `false`";
    let is = match &node.value {
        YamlValue::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => return Ok(true),
            "false" | "no" | "off" | "0" => return Ok(false),
            _ => format!("is `{}`", short(text)),
        },
        YamlValue::Nothing => "has no value".to_owned(),
        YamlValue::List(_) | YamlValue::Map(_) => "is neither `true` nor `false`".to_owned(),
    };
    Err(SettingsError::at(node.line, format!("`{key}` {is}"), advice))
}

/// The one of these words that a key has.
fn one_of<T: Copy>(key: &str, words: &[(&str, T)], node: &Node) -> Result<T, SettingsError> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    Ok(words[place_in(key, &names, node)?].1)
}

/// The place of that word among them; one function for all kinds of values.
fn place_in(key: &str, words: &[&str], node: &Node) -> Result<usize, SettingsError> {
    let advice = || {
        let (last, first) = words.split_last().map_or(("", words), |(last, it)| (*last, it));
        let first: Vec<_> = first.iter().map(|word| format!("`{word}`")).collect();
        format!("write {} or `{last}`", first.join(", "))
    };
    let YamlValue::Text(text) = &node.value else {
        return Err(SettingsError::at(node.line, format!("`{key}` has no word"), advice()));
    };
    let word = text.to_ascii_lowercase();
    if let Some(place) = words.iter().position(|known| *known == word) {
        return Ok(place);
    }
    let what = format!("`{key}` is `{}`", short(text));
    let near = words.iter().find(|known| distance(&word, known) <= 2);
    let advice = near.map_or_else(advice, |known| format!("did you mean `{known}`?"));
    Err(SettingsError::at(node.line, what, advice))
}

fn checks(node: Node) -> Result<Vec<Check>, SettingsError> {
    match node.value {
        YamlValue::List(items) => items.into_iter().map(check).collect(),
        YamlValue::Nothing => {
            let advice = "write `checks: []` for none, or the commands below it, each with `- `";
            Err(SettingsError::at(node.line, "`checks` has no list", advice))
        }
        YamlValue::Text(_) => Err(SettingsError::at(node.line, "`checks` is no list", ONE_CHECK)),
        YamlValue::Map(_) => {
            Err(SettingsError::at(node.line, "`checks` is a map, not a list", ONE_CHECK))
        }
    }
}

/// Patterns of files, in a list.
fn protect(node: Node) -> Result<Vec<String>, SettingsError> {
    const A_LIST: &str = "write a list, one pattern a line with `- ` before it, each in quotes";
    let YamlValue::List(items) = node.value else {
        return Err(SettingsError::at(node.line, "`protect` is no list", A_LIST));
    };
    let pattern = |item: Node| match item.value {
        YamlValue::Text(text) if Pattern::protecting(&text).is_some() => Ok(text),
        value => {
            let what = match &value {
                YamlValue::Text(text) => ["`", &short(text), "` in `protect`"].concat(),
                _ => "something in `protect`".to_owned(),
            };
            let advice = "write one such as `tests/**`, without `!`";
            Err(SettingsError::at(item.line, what + " is no pattern of files to protect", advice))
        }
    };
    items.into_iter().map(pattern).collect()
}

fn check(node: Node) -> Result<Check, SettingsError> {
    match node.value {
        YamlValue::Map(pairs) => check_of(node.line, pairs),
        value => {
            let run = command("a check", &Node { line: node.line, value })?;
            Ok(Check { run, limit_seconds: CHECK_LIMIT, ..Check::default() })
        }
    }
}

fn check_of(line: usize, pairs: Vec<(Node, Node)>) -> Result<Check, SettingsError> {
    let mut check = Check { limit_seconds: CHECK_LIMIT, ..Check::default() };
    for (key, value) in pairs {
        match name_of(&key, &OF_A_CHECK)? {
            "run" => check.run = command("a check", &value)?,
            "expect" => check.expect = expected(&value)?,
            "min_tests" => check.min_tests = whole("min_tests", "", "numbers", MOST_TESTS, &value)?,
            _ => check.limit_seconds = whole("limit", "s", "seconds", LONGEST_LIMIT, &value)?,
        }
    }
    if check.run.is_empty() {
        return Err(SettingsError::at(line, "a check has no `run`", "add `run:` with the command"));
    }
    Ok(check)
}

/// The review that follows the checks, `None` where it is switched off.
fn review(node: Node) -> Result<Option<Check>, SettingsError> {
    let YamlValue::Map(pairs) = node.value else {
        return Ok(switch("review", &node)?.then(|| reviewer(READERS[0])));
    };
    let (mut harness, mut model, mut tokens) = (READERS[0], String::new(), 0);
    let (mut limit, mut when) = (Check::REVIEW_LIMIT, ReviewWhen::End);
    for (key, value) in pairs {
        match name_of(&key, &OF_A_REVIEW)? {
            "harness" => {
                let known = READERS.iter().find(|known| is_text(&value, |text| **known == text));
                harness = known.ok_or_else(|| {
                    SettingsError::at(
                        value.line,
                        "`harness` is no agent program that reviews",
                        WRITE_READER,
                    )
                })?;
            }
            "model" if is_text(&value, Check::is_model) => {
                if let YamlValue::Text(name) = value.value {
                    model = name;
                }
            }
            "model" => {
                let advice = "write it in one word, as the agent program knows it";
                return Err(SettingsError::at(value.line, "`model` is no name of a model", advice));
            }
            "timeout" => limit = whole("timeout", "s", "seconds", LONGEST_REVIEW, &value)?,
            "when" => when = one_of("when", &WHEN, &value)?,
            key => tokens = whole(key, "", "numbers", MOST_TOKENS, &value)?,
        }
    }
    Ok(Some(Check::review(harness, &model, tokens, limit).made(when)))
}

/// Returns the review by this agent program where nothing else is said.
pub fn reviewer(harness: &str) -> Check {
    Check::review(harness, "", 0, Check::REVIEW_LIMIT)
}

fn is_text(node: &Node, accepts: impl Fn(&str) -> bool) -> bool {
    matches!(&node.value, YamlValue::Text(text) if accepts(text))
}

/// What a line of the output has to show: one line of text that a person can see.
fn expected(node: &Node) -> Result<String, SettingsError> {
    let what = match &node.value {
        YamlValue::Text(text) if text.chars().count() > LONGEST_EXPECT => "is too long",
        YamlValue::Text(text) if text.contains('\n') => "has more than one line",
        YamlValue::Text(text) if text.trim_matches(['*', ' ']).is_empty() => "asks for nothing",
        YamlValue::Text(text) => match hidden(text) {
            None => return Ok(text.clone()),
            Some(_) => "has an invisible character",
        },
        YamlValue::Nothing => "has no value",
        YamlValue::List(_) | YamlValue::Map(_) => "is no text",
    };
    let advice = "write a part of one line of the output; `*` stands for any text in it";
    Err(SettingsError::at(node.line, ["`expect` ", what].concat(), advice))
}

fn command(of: &str, node: &Node) -> Result<String, SettingsError> {
    const WRITE: &str = "write the command, or remove the line";
    let (what, advice) = match &node.value {
        YamlValue::Text(run) => match hidden(run) {
            Some(hidden) => {
                let code = u32::from(hidden);
                let what = format!("a command has the invisible character U+{code:04X}");
                return Err(SettingsError::at(node.line, what, "remove it"));
            }
            None if Check::runs_nothing(run) => ("runs nothing", WRITE),
            None if run.starts_with(REVIEW) => ("is a review", "set `review` instead"),
            None => return Ok(run.clone()),
        },
        YamlValue::Nothing => ("has no command", WRITE),
        YamlValue::List(_) => ("is a list, not a command", IN_QUOTES),
        YamlValue::Map(_) => ("is a map, not a command", IN_QUOTES),
    };
    Err(SettingsError::at(node.line, [of, " ", what].concat(), advice))
}

/// The first character that cannot be seen or changes how others are shown: the command that a person
/// reads is the one that runs.
fn hidden(command: &str) -> Option<char> {
    let mut letters = command.chars().filter(|letter| !matches!(letter, '\n' | '\t'));
    let shown = text::block(&command.replace('\t', " ")) == command.replace('\t', " ");
    if shown {
        None
    } else {
        letters.find(|letter| !text::is_plain(letter.encode_utf8(&mut [0; 4])))
    }
}

/// A whole number from 1 to `most`, perhaps with the letter of its unit after it.
fn whole(key: &str, letter: &str, of: &str, most: u64, node: &Node) -> Result<u64, SettingsError> {
    let advice = format!("write whole {of} from 1 to {most}");
    let what = match &node.value {
        YamlValue::Text(text) => {
            let digits = text.strip_suffix(letter).unwrap_or(text).trim_end();
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            match digits.parse() {
                // YAML's versions do not agree on what `010` is.
                Ok(number)
                    if is_number && (1..=most).contains(&number) && !digits.starts_with('0') =>
                {
                    return Ok(number);
                }
                _ => format!("`{key}` is `{}`", short(text)),
            }
        }
        YamlValue::Nothing => format!("`{key}` has no value"),
        YamlValue::List(_) | YamlValue::Map(_) => format!("`{key}` is no number"),
    };
    Err(SettingsError::at(node.line, what, advice))
}
