//! `.specify/extensions.yml`: what spec-kit's extensions want to be run before and after an implementation.
//!
//! It is text for the agent and nothing else: this program runs none of it. What is not understood is named.

use std::path::Path;

use super::settings::yaml::{Node, YamlValue, read_generated};
use crate::store::due::{ExtensionHooks, name_of};
use crate::store::read::{self, Problem};

/// The file, relative to the project.
const FILE: &str = ".specify/extensions.yml";
/// The most that is read of it, in bytes.
const MOST: u64 = 1 << 18;
/// The most commands before an implementation, and as many after it.
const MOST_HOOKS: usize = 20;
/// The longest name of a command, in bytes.
const LONGEST: usize = 80;

/// Returns the commands that have to be run before and after spec-kit's implement command, by the rules of its template
/// (enabled, `optional: false`, without a condition), and in words what is wrong with the file.
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

/// Returns the same of a file with these bytes.
pub fn mandatory_in(bytes: &[u8]) -> (ExtensionHooks, Vec<String>) {
    let mut hooks = ExtensionHooks::default();
    let mut wrong = Vec::new();
    match events(bytes) {
        Ok(None) => {}
        Ok(Some(events)) => {
            hooks.before = commands(&events, "before_implement", &mut wrong);
            hooks.after = commands(&events, "after_implement", &mut wrong);
        }
        Err(why) => wrong.push(in_file(&why)),
    }
    (hooks, wrong)
}

/// What is wrong, with the name of the file before it.
fn in_file(why: &str) -> String {
    ["`", FILE, "`", why].concat()
}

/// The value of `hooks` in the file; `None` where there is none.
fn events(bytes: &[u8]) -> Result<Option<YamlValue>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| " is not UTF-8 text".to_owned())?;
    let file = read_generated(text.trim_start_matches('\u{feff}'));
    let file = file.map_err(|error| [", ", &error.what()].concat())?.value;
    match member(&file, "hooks") {
        Some(YamlValue::Nothing) => Ok(None),
        Some(events @ YamlValue::Map(_)) => Ok(Some(events.clone())),
        None if matches!(file, YamlValue::Map(_) | YamlValue::Nothing) => Ok(None),
        _ => Err(": its `hooks` are no map".to_owned()),
    }
}

/// The mandatory commands of one event, in the order of the file.
fn commands(events: &YamlValue, event: &str, wrong: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    let entries = match member(events, event) {
        None | Some(YamlValue::Nothing) => return found,
        Some(YamlValue::List(entries)) => entries.as_slice(),
        Some(_) => &[],
    };
    let mut is_odd =
        entries.is_empty() && !matches!(member(events, event), Some(YamlValue::List(_)));
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

/// Whether the template demands a hook: a condition is for spec-kit's own program, and such a hook is skipped.
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

/// The name of a hook's command, `None` for one that may say something else to an agent than a name.
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
