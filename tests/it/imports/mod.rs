//! Imports between the files of the library: no two files need each other, whatever stands between them.

mod source;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use source::{Source, Use};

#[test]
fn no_two_files_need_each_other() {
    let library = Library::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(library.files.len() > 150, "{} files", library.files.len());
    let knots: Vec<String> = knots(&library.imports()).iter().map(Knot::to_string).collect();
    assert!(
        knots.is_empty(),
        "files that need each other; what both need goes into a third one:\n\n{}",
        knots.join("\n\n")
    );
}

#[test]
fn hosts_are_named_only_at_home() {
    let library = Library::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    for (module, source) in &library.files {
        let may = matches!(module[0].as_str(), "hosts" | "plugin" | "cli");
        let paths = source.uses.iter().map(|import| &import.path).chain(&source.paths);
        for path in paths.map(|path| absolute(module, path)) {
            let is_host = path.len() > 1 && path[0] == "hosts" && path[1] == "claude";
            assert!(may || !is_host, "{} names {}", module.join("/"), path.join("::"));
        }
    }
}

/// The files of a library, by the path of their module.
struct Library {
    files: BTreeMap<Vec<String>, Source>,
}

impl Library {
    /// Reads all files below a folder but those that hold only tests.
    fn read(folder: &Path) -> Library {
        let mut files = BTreeMap::new();
        let mut open: Vec<PathBuf> = vec![folder.to_owned()];
        while let Some(folder_or_file) = open.pop() {
            if folder_or_file.is_dir() {
                open.extend(
                    fs::read_dir(&folder_or_file).unwrap().map(|entry| entry.unwrap().path()),
                );
                continue;
            }
            let name = folder_or_file.strip_prefix(folder).unwrap().to_str().unwrap();
            let Some(module) = name.strip_suffix(".rs") else { continue };
            let module = module.strip_suffix("/mod").unwrap_or(module);
            let module: Vec<String> = module.split('/').map(str::to_owned).collect();
            let is_test = module.iter().any(|part| part == "tests" || part.ends_with("_tests"));
            if module[0] != "lib" && module[0] != "bin" && !is_test {
                files.insert(module, source::parse(&fs::read_to_string(&folder_or_file).unwrap()));
            }
        }
        Library { files }
    }

    /// Which files each file needs. That a module declares another one is no need.
    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let needed_by = |module: &Vec<String>, source: &Source| -> BTreeSet<String> {
            // What is handed on, and a module, is needed only where its name is used.
            let used = source.uses.iter().filter(|import| !import.is_public || import.name == "*");
            let used = used.map(|import| import.path.clone());
            let used = used.filter(|path| !self.files.contains_key(&absolute(module, path)));
            let named = source.paths.iter().filter_map(|path| {
                let (first, rest) = path.split_first()?;
                match first.as_str() {
                    // `pub(super)`, or the value `self`.
                    "crate" | "super" | "self" if rest.is_empty() => None,
                    "crate" | "super" | "self" => Some(path.clone()),
                    _ if source.modules.contains(first) => {
                        Some([&["self".to_owned()], path.as_slice()].concat())
                    }
                    _ => {
                        let import = source.uses.iter().find(|import| import.name == *first)?;
                        Some([import.path.as_slice(), rest].concat())
                    }
                }
            });
            let found =
                used.chain(named).filter_map(|path| self.file_of(&absolute(module, &path), 0));
            found.filter(|needed| needed != module).map(|needed| needed.join("/")).collect()
        };
        self.files.iter().map(|(name, source)| (name.join("/"), needed_by(name, source))).collect()
    }

    /// The file in which a path ends. What a module imports it hands on, to all or to the modules below it: that is looked
    /// for where it comes from.
    fn file_of(&self, path: &[String], depth: usize) -> Option<Vec<String>> {
        let length =
            (1..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let handed_on = |import: &&Use| rest.first() == Some(&import.name);
        if depth < 8
            && let Some(handed) = self.files[module].uses.iter().find(handed_on)
        {
            let from = [absolute(module, &handed.path).as_slice(), &rest[1..]].concat();
            if let Some(file) = self.file_of(&from, depth + 1) {
                return Some(file);
            }
        }
        Some(module.to_owned())
    }
}

/// A path from the root of the library, as the module means it.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let mut place = module.to_vec();
    for (at, name) in path.iter().enumerate() {
        match name.as_str() {
            "crate" if at == 0 => place.clear(),
            "self" => {}
            "super" => {
                place.pop();
            }
            _ => {
                let is_relative = matches!(path[0].as_str(), "crate" | "self" | "super");
                // In this edition a path begins with a crate, or with a module of this one.
                let start = if is_relative { place } else { module.to_vec() };
                return [start.as_slice(), &path[at..]].concat();
            }
        }
    }
    place
}

/// Files of which each needs all others.
struct Knot {
    files: BTreeSet<String>,
    /// One of the shortest circles.
    circle: Vec<String>,
}

impl fmt::Display for Knot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        write!(out, "{}\n  of {}", self.circle.join(" -> "), files.join(", "))
    }
}

fn knots(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Knot> {
    let mut knots: Vec<Knot> = Vec::new();
    for start in imports.keys() {
        if knots.iter().any(|knot| knot.files.contains(start)) {
            continue;
        }
        if let Some(circle) = circle_from(imports, start) {
            let reached = reachable(imports, start).into_iter();
            let files = reached.filter(|file| reachable(imports, file).contains(start.as_str()));
            knots.push(Knot { files: files.map(str::to_owned).collect(), circle });
        }
    }
    knots
}

fn reachable<'a>(
    imports: &'a BTreeMap<String, BTreeSet<String>>,
    start: &str,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(file) = open.pop() {
        for needed in imports.get(file).into_iter().flatten() {
            if reached.insert(needed.as_str()) {
                open.push(needed);
            }
        }
    }
    reached
}

/// The shortest way from a file back to itself.
fn circle_from(imports: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open: VecDeque<&str> = VecDeque::from([start]);
    while let Some(file) = open.pop_front() {
        for needed in imports.get(file).into_iter().flatten() {
            if needed == start {
                let mut circle = vec![file.to_owned()];
                while let Some(earlier) = before.get(circle[circle.len() - 1].as_str()) {
                    circle.push((*earlier).to_owned());
                }
                circle.reverse();
                return Some(circle);
            }
            if !before.contains_key(needed.as_str()) {
                before.insert(needed, file);
                open.push_back(needed);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(files: &[(&str, &str)]) -> Vec<String> {
        let path = |module: &str| module.split('/').map(str::to_owned).collect();
        let files = files.iter().map(|(module, text)| (path(module), source::parse(text)));
        let knots = knots(&Library { files: files.collect() }.imports());
        knots.iter().map(|knot| knot.circle.join(" ")).collect()
    }

    #[test]
    fn circles_are_found_through_aliases() {
        let found = library(&[
            ("room", "mod one; mod two; pub use two::Thing as Other;"),
            ("room/one", "use super::Other; fn f(it: Other) {}"),
            ("room/two", "use crate::room; fn f() -> room::three::Three {}"),
            ("room/three", "fn f() { super::one::g() }"),
            ("alone", "use crate::room::one::{self, g}; use std::fmt; fn h() { one::g() }"),
        ]);
        assert_eq!(found, ["room/one room/two room/three"]);
    }

    #[test]
    fn declaring_parents_make_no_circle() {
        let found = library(&[
            ("room", "pub mod one; pub use one::Thing; pub struct Left;"),
            ("room/one", "use super::Left; pub(super) struct Thing;"),
        ]);
        assert_eq!(found, [""; 0]);
        let found = library(&[
            ("room", "mod one; pub struct Left; fn f() -> one::Thing {}"),
            ("room/one", "use super::Left; pub struct Thing;"),
        ]);
        assert_eq!(found, ["room room/one"]);
    }
}
