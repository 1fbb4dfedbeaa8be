//! The keys of the settings. An unknown key is an error with its line.

use super::error::SettingsError;
use super::yaml::{Node, YamlValue, short};
use crate::engine::Check;
use crate::engine::order::sorted;
use crate::settings::{
    CHECK, Chosen, Origin, REVIEW, Setting, SettingKind, YAML, is_hidden, table,
};

/// Mistakes in one error.
const NAMED: usize = 3;
const IN_QUOTES: &str = "if this is a command, put quotes around all of it";
const A_LIST: &str =
    "write a list, one a line with `- ` before it, each in quotes, or `[]` for none";

/// A person's settings for this project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub chosen: Chosen,
    /// Commands that must pass before work counts as done, in the order of the file.
    pub checks: Vec<Check>,
    /// The review after the checks.
    pub review: Option<Check>,
    /// Hash of the file's bytes, 0 without a file: differs with the content.
    pub digest: u64,
}

impl Settings {
    /// Every command in the settings, in the order in which a person reads them.
    pub fn commands(&self) -> Vec<String> {
        let checks = self.checks.iter().chain(&self.review).map(|check| check.run.clone());
        checks.chain(Some(self.chosen.notify()).filter(|command| !command.is_empty())).collect()
    }
}

/// An error names the first mistakes and counts the others, so that a person mends several at once.
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
    let mut reader = KeyReader::default();
    let chosen = reader.map(pairs, YAML);
    let KeyReader { checks, review, errors } = reader;
    let is_off = !chosen.enabled();
    let review = chosen.review().unwrap_or_default().then(|| review_by(&review));
    let settings = Settings { chosen, checks, review, digest: 0 };
    together(errors).map_or(Ok(settings), |error| Err(SettingsError { is_off, ..error }))
}

/// The error for a text without settings.
pub fn no_settings(line: usize) -> SettingsError {
    let what = "here are no settings, such as `enabled: true`";
    let advice = "put them between two lines of `---` at the top, or remove the file";
    SettingsError::at(line, what, advice)
}

/// A review in these settings; the first agent program is the default.
pub fn review_by(how: &Chosen) -> Check {
    let seconds = how.reader_timeout().as_secs();
    let review = Check::review(&how.reader(), &how.reader_model(), how.reader_tokens(), seconds);
    review.made(how.reader_when().unwrap_or_default())
}

fn is_glued(text: &str) -> bool {
    text.split_once(':').is_some_and(|(key, _)| Setting::named(key.trim(), YAML).is_some())
}

/// Joins these mistakes into one error, in the order of their lines.
fn together(errors: Vec<SettingsError>) -> Option<SettingsError> {
    let mut errors = sorted(errors, |one: &SettingsError, other| one.line.cmp(&other.line));
    if errors.len() < 2 {
        return errors.pop();
    }
    let more = errors.len().saturating_sub(NAMED);
    errors.truncate(NAMED);
    let mut others: Vec<String> = errors[1..].iter().map(SettingsError::what).collect();
    if more > 0 {
        others.push(format!("and {more} more"));
    }
    let what = format!("{}; {}", errors[0].what, others.join("; "));
    let advice = errors.iter().filter(|error| !error.advice.is_empty());
    let advice =
        advice.map(|error| format!("line {}: {}", error.line.unwrap_or_default(), error.advice));
    let advice = advice.collect::<Vec<_>>().join("\n");
    Some(SettingsError { what, advice, ..errors.swap_remove(0) })
}

#[derive(Default)]
struct KeyReader {
    checks: Vec<Check>,
    /// The settings of the review.
    review: Chosen,
    errors: Vec<SettingsError>,
}

impl KeyReader {
    fn map(&mut self, pairs: Vec<(Node, Node)>, place: u8) -> Chosen {
        let mut chosen = Chosen::default();
        for (key, value) in pairs {
            if let Err(error) = self.pair(&mut chosen, &key, value, place) {
                self.errors.push(error);
            }
        }
        chosen
    }

    fn pair(
        &mut self,
        chosen: &mut Chosen,
        key: &Node,
        value: Node,
        place: u8,
    ) -> Result<(), SettingsError> {
        let YamlValue::Text(name) = &key.value else {
            return Err(SettingsError::at(key.line, "a key is no word", IN_QUOTES));
        };
        let setting = Setting::named(name, place).ok_or_else(|| unknown(key.line, name, place))?;
        let wrong = |line, what: &str| {
            SettingsError::at(line, ["`", &in_yaml(setting), "` ", what].concat(), "")
        };
        if chosen.made(setting).is_some() {
            return Err(wrong(key.line, "is set twice"));
        }
        let line = value.line;
        let mut texts = Vec::new();
        match value.value {
            YamlValue::Map(pairs) if *setting == table::review => {
                self.review = self.map(pairs, REVIEW);
                texts.push("true".to_owned());
            }
            YamlValue::List(items) if setting.is_list => {
                for item in items {
                    match item.value {
                        YamlValue::Map(pairs) if *setting == table::checks => {
                            texts.extend(self.check(item.line, pairs));
                        }
                        value => {
                            let text = text_of(setting, item.line, value)?;
                            setting.kind.check(&text).map_err(|what| wrong(item.line, &what))?;
                            if *setting == table::checks {
                                self.checks.push(check(text.clone(), &Chosen::default()));
                            }
                            texts.push(text);
                        }
                    }
                }
            }
            value if setting.is_list => {
                return Err(SettingsError { advice: A_LIST.to_owned(), ..wrong(line, is(&value)) });
            }
            value => texts.push(text_of(setting, line, value)?),
        }
        chosen.set(setting, texts, Origin::Settings(line)).map_err(|what| wrong(line, &what))
    }

    /// Takes a check with more than its command; the result is the command.
    fn check(&mut self, line: usize, pairs: Vec<(Node, Node)>) -> Option<String> {
        let before = self.errors.len();
        let how = self.map(pairs, CHECK);
        let run = how.run();
        if !run.is_empty() {
            self.checks.push(check(run.clone(), &how));
            return Some(run);
        }
        if self.errors.len() == before {
            let advice = "add `run:` with the command";
            self.errors.push(SettingsError::at(line, "a check has no `run`", advice));
        }
        None
    }
}

fn check(run: String, how: &Chosen) -> Check {
    let limit_seconds = how.limit().as_secs();
    Check { run, limit_seconds, expect: how.expect(), min_tests: how.min_tests() }
}

/// A value as text, in the form of all places for settings.
fn text_of(setting: &Setting, line: usize, value: YamlValue) -> Result<String, SettingsError> {
    let wrong = |what: &str, advice: String| {
        SettingsError::at(line, ["`", &in_yaml(setting), "` ", what].concat(), advice)
    };
    let YamlValue::Text(text) = value else {
        let advice = match setting.kind {
            SettingKind::Command => IN_QUOTES.to_owned(),
            kind => ["it ", &kind.needs()].concat(),
        };
        return Err(wrong(is(&value), advice));
    };
    let word = text.to_ascii_lowercase();
    match setting.kind {
        SettingKind::Switch => match word.as_str() {
            "true" | "yes" | "on" | "1" => Ok("true".to_owned()),
            "false" | "no" | "off" | "0" => Ok("false".to_owned()),
            _ => Ok(text),
        },
        // What a person reads in the file has to be what runs.
        SettingKind::Command if is_hidden(&text) => {
            Err(wrong("has an invisible character", "remove it".to_owned()))
        }
        SettingKind::Words(_) => Ok(word),
        // YAML's versions disagree about `010`.
        kind @ (SettingKind::Number(..) | SettingKind::Time(..)) if text.starts_with('0') => {
            Err(wrong(&kind.wrong(&text), String::new()))
        }
        _ => Ok(text),
    }
}

/// What is wrong with a value of another kind.
fn is(value: &YamlValue) -> &'static str {
    match value {
        YamlValue::Nothing => "has no value",
        YamlValue::Text(_) => "is no list",
        YamlValue::List(_) => "is a list",
        YamlValue::Map(_) => "is a map",
    }
}

/// The name of a setting as a key.
fn in_yaml(setting: &Setting) -> String {
    setting.name.replace('-', "_")
}

fn unknown(line: usize, name: &str, place: u8) -> SettingsError {
    let advice = match Setting::meant(name.trim(), place) {
        _ if name.contains(' ') => IN_QUOTES.to_owned(),
        Some(near) => ["did you mean `", &in_yaml(near), "`?"].concat(),
        None => {
            let known = Setting::all_in(place).map(|known| ["`", &in_yaml(known), "`"].concat());
            ["remove it; the keys here are ", &known.collect::<Vec<_>>().join(", ")].concat()
        }
    };
    SettingsError::at(line, ["unknown key `", &short(name), "`"].concat(), advice)
}
