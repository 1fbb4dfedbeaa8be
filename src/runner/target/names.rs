//! Ids as a person types them: short forms, modules, and the nearest name to a mistyped one.

use crate::text::{distance, nearest};

/// The most names in one message.
pub const NAMES: usize = 20;
/// The ids that a name may mean.
///
/// The whole id comes first, then its numbers (`2-1`), then its beginning or words of it.
pub fn matching(name: &str, ids: &[String]) -> Vec<String> {
    let same = |id: &&String| id.as_str() == name;
    if let Some(id) = ids.iter().find(same) {
        return vec![id.clone()];
    }
    if name.is_empty() {
        // An unset variable of a script names nothing.
        return Vec::new();
    }
    let name = name.to_lowercase();
    let matching = |matches: &dyn Fn(&str) -> bool| -> Vec<String> {
        ids.iter().filter(|id| matches(&id.to_lowercase())).cloned().collect()
    };
    let tiers: [&dyn Fn(&str) -> bool; 3] =
        [&|id| id == name, &|id| has_numbers(id, &name), &|id| {
            id.starts_with(&name) || has_words(id, &name)
        }];
    tiers.iter().map(|tier| matching(tier)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// `002` of `002-01_add-ralph-loop`.
pub fn module_of(id: &str) -> Option<&str> {
    let (module, rest) = id.split_once('-')?;
    let number = rest.split_once('_').map_or(rest, |(number, _)| number);
    let is_module = !module.is_empty() && module.split('.').all(is_number);
    (is_module && is_number(number)).then_some(module)
}

/// `2` and `002` are the same module.
pub fn is_same_module(one: &str, other: &str) -> bool {
    let number = |module: &str| -> Option<Vec<u64>> {
        module.split('.').map(|part| is_number(part).then(|| part.parse().ok())?).collect()
    };
    one == other || number(one).is_some_and(|value| Some(value) == number(other))
}

/// A module's file or folder: `002`, `002_runner`, `002-runner.md`.
pub fn belongs_to_module(name: &str, module: &str) -> bool {
    let end = name.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let number = name[..end.unwrap_or(name.len())].trim_end_matches('.');
    let ends_there = name[number.len()..].chars().next().is_none_or(|next| "_-.".contains(next));
    ends_there && is_same_module(number, module)
}

/// The ids, the nearest one first.
fn nearest_first(name: &str, ids: &[String]) -> Vec<String> {
    let name = name.to_lowercase();
    let mut ids = ids.to_vec();
    ids.sort_by_cached_key(|id| {
        let id = id.to_lowercase();
        let words = id.split(is_separator).map(|word| distance(word, &name));
        let apart = words.chain([distance(&id, &name)]).min();
        (!id.contains(&name), apart, id)
    });
    ids
}

/// The nearest name as a question, then all names.
pub fn did_you_mean(name: &str, ids: &[String]) -> String {
    let ids = nearest_first(name, ids);
    let is_near = |id: &&String| {
        let words = id.split(is_separator).chain(id.split_once('_').map(|(_, words)| words));
        nearest(name, words.chain([id.as_str()])).is_some()
    };
    match ids.first().filter(is_near) {
        Some(near) if ids.len() > 1 => format!("did you mean `{near}`?\n{}", one_of(&ids)),
        Some(near) => format!("did you mean `{near}`?"),
        None => one_of(&ids),
    }
}

/// A line with the names; empty for none.
pub fn one_of(names: &[String]) -> String {
    if names.is_empty() {
        return "there is none".to_owned();
    }
    if let [only] = names {
        return format!("there is only `{only}`");
    }
    let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
    let more = names.len() - shown.len();
    let rest = if more == 0 { String::new() } else { format!("\n  … and {more} more") };
    format!("there are:\n  {}{rest}", shown.join("\n  "))
}

/// The id begins with the name's numbers: `002-01_add` with `2-1` and with `2`.
fn has_numbers(id: &str, name: &str) -> bool {
    let wanted: Option<Vec<u64>> = name.split(['-', '.', '_']).map(number).collect();
    let Some(wanted) = wanted else { return false };
    let own: Vec<u64> = id.split(['-', '.', '_']).map_while(number).collect();
    own.starts_with(&wanted)
}

/// The id has the name's words in their order.
fn has_words(id: &str, name: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(is_separator).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let wanted = words(name);
    !wanted.is_empty() && words(id).windows(wanted.len()).any(|own| own == wanted.as_slice())
}

fn is_separator(letter: char) -> bool {
    !letter.is_alphanumeric()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str) -> Option<u64> {
    if is_number(text) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 6] = [
        "002-01_add-ralph-loop",
        "002-02_ralph-status",
        "002-10_title",
        "add-two-factor",
        "2024-05-06-dates",
        "010-01_add",
    ];

    fn found(name: &str) -> Vec<String> {
        matching(name, &IDS.map(str::to_owned))
    }

    #[test]
    fn short_form_finds_one_change() {
        let table = [
            ("002-01_add-ralph-loop", "002-01_add-ralph-loop"),
            ("002-01", "002-01_add-ralph-loop"),
            ("2-1", "002-01_add-ralph-loop"),
            ("2-10", "002-10_title"),
            ("10", "010-01_add"),
            ("loop", "002-01_add-ralph-loop"),
            ("LOOP", "002-01_add-ralph-loop"),
            ("ralph-loop", "002-01_add-ralph-loop"),
            ("ralph loop", "002-01_add-ralph-loop"),
            ("add-two", "add-two-factor"),
            ("002-01_ad", "002-01_add-ralph-loop"),
            ("2024-5", "2024-05-06-dates"),
            ("Add-Two-Factor", "add-two-factor"),
        ];
        for (name, id) in table {
            assert_eq!(found(name), [id], "{name}");
        }
    }

    #[test]
    fn ambiguous_short_form_finds_none() {
        assert_eq!(found("ralph"), ["002-01_add-ralph-loop", "002-02_ralph-status"]);
        assert_eq!(found("2").len(), 3);
        assert_eq!(found("add").len(), 3);
    }

    #[test]
    fn unanswered_name_finds_none() {
        // The beginning of an id is a short form, a piece of a word in it is not.
        for name in
            ["", "ralp", "2-3", "02-01_x", "loop-ralph", "3", "-", "_", "99999999999999999999"]
        {
            assert_eq!(found(name), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn id_beginning_another_is_itself() {
        let ids = ["001-01".to_owned(), "001-01_more".to_owned()];
        assert_eq!(matching("001-01", &ids), ["001-01"]);
    }

    #[test]
    fn module_is_the_leading_number() {
        let table = [
            ("002-01_add-ralph-loop", Some("002")),
            ("002-01", Some("002")),
            ("005.01-03_deep", Some("005.01")),
            ("add-ralph", None),
            ("001-user-login", None),
            ("2024-05-06-dates", None),
            ("-01_x", None),
            ("002-_x", None),
        ];
        for (id, module) in table {
            assert_eq!(module_of(id), module, "{id}");
        }
    }

    #[test]
    fn module_may_lack_noughts() {
        assert!(is_same_module("2", "002") && is_same_module("5.1", "005.01"));
        assert!(!is_same_module("2", "020") && !is_same_module("x", "002"));
        for name in ["002", "002_runner", "002-runner", "002.md", "2_runner"] {
            assert!(belongs_to_module(name, "002"), "{name}");
        }
        for name in ["0020", "002runner", "020_runner", "runner", "002.01_part"] {
            assert!(!belongs_to_module(name, "002"), "{name}");
        }
    }

    #[test]
    fn the_nearest_name_comes_first() {
        let ids = IDS.map(str::to_owned);
        assert_eq!(
            nearest_first("ralp", &ids)[..2],
            ["002-01_add-ralph-loop", "002-02_ralph-status"]
        );
        assert_eq!(nearest_first("tilte", &ids)[0], "002-10_title");
        assert_eq!(nearest_first("add-two-fcator", &ids)[0], "add-two-factor");
        assert_eq!(
            (distance("kitten", "sitting"), distance("", "ab"), distance("é", "e")),
            (3, 2, 1)
        );
        let swapped = [("taks", "task"), ("ab", "ba"), ("start", "strta"), ("ca", "abc")];
        assert_eq!(swapped.map(|(one, other)| distance(one, other)), [1, 1, 2, 3]);
    }

    #[test]
    fn long_name_list_is_cut() {
        let ids: Vec<String> = (0..25).map(|number| format!("change-{number}")).collect();
        let said = one_of(&ids);
        assert!(said.contains("change-19") && !said.contains("change-20"), "{said}");
        assert!(said.ends_with("… and 5 more"), "{said}");
    }
}
