//! The rules of the house that a machine can hold: names, and the columns of prose.
//!
//! Circles of imports are held in `imports`, the length of functions by clippy (`clippy.toml`), the size of all by `scripts/size`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The most columns of a line of prose in `docs`.
const MOST_COLUMNS: usize = 130;

#[test]
fn every_type_name_means_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in files("src") {
        for line in text.lines() {
            if let Some(name) = defined(line) {
                // What a file does for one system, its twin does for the other, under the same names.
                let place = file.replace("/windows/", "/unix/");
                places.entry(name.to_owned()).or_default().insert(place);
            }
        }
    }
    assert!(places.len() > 300, "{} types", places.len());
    let twice = places.iter().filter(|(_, places)| places.len() > 1).map(|(name, places)| {
        format!("{name}: {}", places.iter().cloned().collect::<Vec<_>>().join(", "))
    });
    let twice: Vec<String> = twice.collect();
    assert!(twice.is_empty(), "one name, several types:\n{}", twice.join("\n"));
}

#[test]
fn prose_stays_within_130_columns() {
    let mut pages = files("docs");
    pages.retain(|(name, _)| Path::new(name).extension().is_some_and(|kind| kind == "md"));
    assert!(pages.len() > 15, "{} pages", pages.len());
    let mut wrong = Vec::new();
    for (page, text) in pages {
        for (number, columns) in too_long(&text) {
            wrong.push(format!("{page}:{number} has {columns} columns"));
        }
    }
    assert!(wrong.is_empty(), "at most {MOST_COLUMNS}:\n{}", wrong.join("\n"));
}

/// The other name of `spool stop`, and where it is named as that.
const ALIAS: &str = "spool cancel";
const NAMED_AS_ALIAS: [(&str, usize); 3] =
    [("docs/commands.md", 1), ("docs/ends.md", 1), ("src/cli/stop.rs", 1)];

#[test]
fn ending_command_has_one_name() {
    let mut texts = ["src", "docs", "commands", "agents"].map(files).concat();
    for name in ["README.md", "ARCHITECTURE.md"] {
        texts.push((name.to_owned(), fs::read_to_string(checkout().join(name)).unwrap()));
    }
    let mut found: Vec<(&str, usize)> = Vec::new();
    for (name, text) in &texts {
        let count = text.matches(ALIAS).count();
        found.extend((count > 0).then_some((name.as_str(), count)));
    }
    found.sort_unstable();
    assert_eq!(found, NAMED_AS_ALIAS);
}

#[test]
fn prose_differs_from_tables_and_code() {
    let (word, long) = ("word ".repeat(30), "w".repeat(131));
    assert_eq!(too_long(&"ü".repeat(130)), []);
    assert_eq!(too_long(&format!("| a | {long} |\n```sh\n{word}\n```\n- {long}\n")), [(5, 133)]);
}

/// The lines of prose of a document that are too long, each with its number and its columns; tables and code are none.
fn too_long(text: &str) -> Vec<(usize, usize)> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let (begins, columns) = (line.trim_start(), line.chars().count());
        is_code ^= begins.starts_with("```");
        if !is_code && !begins.starts_with('|') && columns > MOST_COLUMNS {
            found.push((number, columns));
        }
    }
    found
}

#[test]
fn type_definition_is_seen() {
    assert_eq!(defined("pub(crate) struct Record {"), Some("Record"));
    assert_eq!(defined("    enum Kind<'a> {"), Some("Kind"));
    assert_eq!(defined("pub type Answer = Result<()>;"), Some("Answer"));
    for other in
        ["    type Item = Line<'a>;", "// a struct Record", "let structure = 1;", "impl A {"]
    {
        assert_eq!(defined(other), None, "{other}");
    }
}

/// The name of the type that a line defines; a type that a trait asks for has its name from there.
fn defined(line: &str) -> Option<&str> {
    let is_associated = line.starts_with(' ') && line.trim_start().starts_with("type ");
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let is_kind = matches!(words.next()?, "struct" | "enum" | "trait" | "type" | "union");
    let name = words.next().filter(|_| is_kind && !is_associated)?;
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(name.len());
    name.starts_with(|letter: char| letter.is_ascii_uppercase()).then(|| &name[..end])
}

/// The files of a folder and those below it, each with its path from the checkout.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![checkout().join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(checkout()).unwrap().display().to_string();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
