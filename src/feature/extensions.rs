//! `.specify/extensions.yml`: the commands of spec-kit's extensions before and after an implementation.
//!
//! The commands are text for the agent: this program runs none of them. Anything that is not understood is named.

use std::path::Path;

use super::settings::yaml::{Node, YamlValue, read_generated};
use crate::store::due::{ExtensionHooks, name_of};
use crate::store::read::{self, Problem};

/// Relative to the project.
const FILE: &str = ".specify/extensions.yml";
/// Bytes of the file.
const MOST: u64 = 1 << 18;
/// Commands before an implementation, and as many after it.
const MOST_HOOKS: usize = 20;
/// Bytes of a command's name.
const LONGEST: usize = 80;

/// The commands that the template of spec-kit's implement command demands (enabled, `optional: false`, without a
/// condition), and the faults of the file in words.
pub fn mandatory(root: &Path) -> (ExtensionHooks, Vec<String>) {
    let folder = read::folder_inside(root, &root.join(".specify"));
    match folder.and_then(|folder| read::read_in(&folder, "extensions.yml", MOST)) {
        Ok(content) => mandatory_in(&content.bytes),
        Err(Problem::Missing) => (ExtensionHooks::default(), Vec::new()),
        Err(problem) => {
            (ExtensionHooks::default(), vec![in_file(&format!(" cannot be read: {problem}"))])
        }
    }
}

/// As [`mandatory`], for the bytes of a file.
pub fn mandatory_in(bytes: &[u8]) -> (ExtensionHooks, Vec<String>) {
    let mut wrong = Vec::new();
    let events = events(bytes).unwrap_or_else(|why| {
        wrong.push(in_file(&why));
        YamlValue::Nothing
    });
    let before = commands(&events, "before_implement", &mut wrong);
    let after = commands(&events, "after_implement", &mut wrong);
    (ExtensionHooks { before, after }, wrong)
}

/// Puts the file's name before the words.
fn in_file(why: &str) -> String {
    ["`", FILE, "`", why].concat()
}

/// The value of `hooks`.
fn events(bytes: &[u8]) -> Result<YamlValue, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| " is not UTF-8 text".to_owned())?;
    let file = read_generated(text.trim_start_matches('\u{feff}'));
    let file = file.map_err(|error| [", ", &error.what()].concat())?.value;
    match member(&file, "hooks") {
        Some(events @ (YamlValue::Map(_) | YamlValue::Nothing)) => Ok(events.clone()),
        None if matches!(file, YamlValue::Map(_) | YamlValue::Nothing) => Ok(YamlValue::Nothing),
        _ => Err(": its `hooks` are no map".to_owned()),
    }
}

/// In the order of the file.
fn commands(events: &YamlValue, event: &str, wrong: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    let (entries, mut is_odd) = match member(events, event) {
        None | Some(YamlValue::Nothing) => return found,
        Some(YamlValue::List(entries)) => (entries.as_slice(), false),
        Some(_) => (&[][..], true),
    };
    for Node { value, .. } in entries {
        if !matches!(value, YamlValue::Map(_)) {
            is_odd = true;
        } else if is_mandatory(value) {
            match command(value) {
                Some(command) if found.contains(&command) => {}
                Some(command) if found.len() < MOST_HOOKS => found.push(command),
                _ => is_odd = true,
            }
        }
    }
    if is_odd {
        wrong.push(in_file(&[": not all of `hooks.", event, "` is understood"].concat()));
    }
    found
}

/// The template demands the hook. A condition is for spec-kit's own program, so hooks with one are skipped.
fn is_mandatory(hook: &YamlValue) -> bool {
    let is_false = |name| match member(hook, name) {
        Some(YamlValue::Text(text)) => {
            ["false", "no", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        _ => false,
    };
    let is_free = match member(hook, "condition") {
        None | Some(YamlValue::Nothing) => true,
        Some(YamlValue::Text(condition)) => condition.trim().is_empty(),
        Some(_) => false,
    };
    is_free && is_false("optional") && !is_false("enabled")
}

/// A hook's command; `None` if the text could tell an agent anything but a name.
fn command(hook: &YamlValue) -> Option<String> {
    let Some(YamlValue::Text(command)) = member(hook, "command") else { return None };
    let name = name_of(command);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    let is_name = name.len() <= LONGEST
        && name.bytes().all(is_part)
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    is_name.then_some(name)
}

fn member<'a>(map: &'a YamlValue, name: &str) -> Option<&'a YamlValue> {
    let YamlValue::Map(pairs) = map else { return None };
    let is_it = |key: &Node| matches!(&key.value, YamlValue::Text(text) if text == name);
    pairs.iter().find(|(key, _)| is_it(key)).map(|(_, value)| &value.value)
}
