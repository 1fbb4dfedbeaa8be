//! Patterns: whatever git ignores is ignored, and nothing else.

use crate::evidence::support::Place;
use crate::support::amounts::few_or_all;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ralph_speckit::evidence::ignored::Rules;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Names that patterns of the same letters can meet.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab.]{1,3}",
        "[ab]\\.[oc]",
        Just("target".to_owned()),
        Just("build".to_owned()),
        Just("a b".to_owned()),
        Just("a*".to_owned()),
        Just("[a]".to_owned()),
        Just("\u{e9}".to_owned()),
        Just("#a".to_owned()),
        Just("!a".to_owned()),
        Just("a\\b".to_owned()),
        Just("A".to_owned()),
        Just("a-b1".to_owned()),
    ]
    .prop_filter("no name", |name| !matches!(name.as_str(), "." | ".."))
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..5).prop_map(|parts| parts.join("/"))
}

/// A line of a `.gitignore`: pieces that matter to git, in any order.
fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => name(),
        2 => Just("*".to_owned()),
        2 => Just("**".to_owned()),
        1 => Just("***".to_owned()),
        1 => Just("?".to_owned()),
        4 => Just("/".to_owned()),
        1 => Just("\\".to_owned()),
        1 => Just(" ".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[!a]".to_owned()),
        1 => Just("[^b]".to_owned()),
        1 => Just("[a-c]".to_owned()),
        1 => Just("[]a]".to_owned()),
        1 => Just("[[:alpha:]]".to_owned()),
        1 => Just("[[:digit:]-]".to_owned()),
        1 => Just("[[:nothing:]]".to_owned()),
        1 => Just("[\\]a]".to_owned()),
        1 => Just("[".to_owned()),
        1 => Just("]".to_owned()),
        1 => Just("[a".to_owned()),
        1 => Just("\\*".to_owned()),
        1 => Just("/**/".to_owned()),
        1 => Just("*.o".to_owned()),
    ];
    let start =
        prop_oneof![5 => Just(""), 2 => Just("!"), 1 => Just("/"), 1 => Just("#"), 1 => Just("\\")];
    let end = prop_oneof![5 => Just(""), 2 => Just("/"), 1 => Just(" "), 1 => Just("\\ "), 1 => Just("\r"), 1 => Just("/**")];
    (start, prop::collection::vec(piece, 0..5), end)
        .prop_map(|(start, pieces, end)| format!("{start}{}{end}", pieces.concat()))
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

/// Many paths at once: git is started once for each list of patterns.
#[test]
fn d2_lists_ignore_as_git_does() {
    let place = Place::repository();
    let lists = (prop::collection::vec(line(), 1..6), prop::collection::btree_set(path(), 1..80));
    let checked = std::cell::Cell::new(0_usize);
    let ignored = std::cell::Cell::new(0_usize);
    let result = runner(few_or_all(80, 400)).run(&lists, |(lines, paths)| {
        let text = lines.join("\n");
        place.write(".gitignore", &text);
        let rules = Rc::new(Rules::default()).with(text.as_bytes(), 0);
        // Nothing of it exists: git takes each path for a file, and what is above it for folders.
        let input: Vec<u8> =
            paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        let output = place.try_git("", &["check-ignore", "-z", "--stdin", "--no-index"], &input);
        prop_assert!(output.stderr.is_empty(), "{:?}", output);
        let by_git: BTreeSet<&str> = output
            .stdout
            .split(|byte| *byte == 0)
            .map(|name| std::str::from_utf8(name).unwrap())
            .collect();
        for path in &paths {
            let ours = is_ignored(&rules, path);
            checked.set(checked.get() + 1);
            ignored.set(ignored.get() + usize::from(ours));
            prop_assert_eq!(ours, by_git.contains(path.as_str()), "`{}` by {:?}", path, text);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    println!("{} paths agreed on, {} of them ignored", checked.get(), ignored.get());
    assert!(checked.get() > 1_000 && ignored.get() > 100, "the test tests something");
}

/// A path is ignored with the first folder above it that is.
fn is_ignored(rules: &Rules, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.into_iter().any(|end| {
        let above = &path[..end];
        let name = above.rsplit('/').next().unwrap();
        rules.ignore(above.as_bytes(), name.as_bytes(), end < path.len())
    })
}

/// Whole trees, with lists at each level and files that are tracked in spite of them.
#[test]
fn d2_random_trees_match_git() {
    let trees = (
        prop::collection::btree_set(path(), 1..40),
        prop::collection::vec((path(), prop::collection::vec(line(), 1..4)), 0..4),
        prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        prop::collection::vec(line(), 0..3),
    );
    let result = runner(few_or_all(15, 60)).run(&trees, |(files, lists, tracked, exclude)| {
        let place = Place::repository();
        let mut there = Vec::new();
        for file in &files {
            let path = place.path(file);
            // A name may be a folder by now, or a file above it.
            let made = std::fs::create_dir_all(path.parent().unwrap());
            if made.is_ok() && !path.exists() && std::fs::write(path, "x").is_ok() {
                there.push(file);
            }
        }
        for index in tracked {
            // Git refuses what it would have to escape in no other way.
            if !there.is_empty() {
                let name = index.get(&there).as_str();
                place.git(&["--literal-pathspecs", "add", "--force", "--", name]);
            }
        }
        for (at, lines) in lists {
            let folder = place.path(&at);
            let folder = if folder.is_dir() { folder } else { place.root.clone() };
            let path = folder.join(".gitignore");
            if !path.exists() {
                std::fs::write(path, lines.join("\n")).unwrap();
            }
        }
        place.write(".git/info/exclude", exclude.join("\n"));
        prop_assert_eq!(place.work(""), place.work_by_git(""));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
