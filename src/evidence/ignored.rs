//! What git ignores in a work tree: the `.gitignore` of each folder, `info/exclude`, and a person's own list.
//!
//! Nothing here starts a program. Where something is not known, a file is not ignored.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::commits::{repository_of, top_of};
use super::pattern::{Pattern, end_bits};
use crate::store::read;
use crate::world;

/// The most that is read of one list, in bytes.
pub const MOST: u64 = 1 << 20;
/// What holds no work where there is no git. A `.gitignore` that says `!target/` takes a name out.
const WITHOUT_GIT: &str = include_str!("without_git.gitignore");

/// What programs leave behind, and the folders of agents: never work, also where git tracks it.
const NOISE: &str = include_str!("noise.names");

/// The first two bytes of the names of noise, and the last two of its endings, each a bit.
static BEGINS: [u64; 16] = marks(false);
static ENDS: [u64; 16] = marks(true);

const fn marks(of_ends: bool) -> [u64; 16] {
    let names = NOISE.as_bytes();
    let (mut marks, mut start, mut at) = ([0; 16], 0, 0);
    while at < names.len() {
        if names[at] == b'\n' {
            if at > start + 1 && (names[start] == b'*') == of_ends {
                let first = if of_ends { at - 2 } else { start };
                let place = place(names[first], names[first + 1]);
                marks[place / 64] |= 1 << (place % 64);
            }
            start = at + 1;
        }
        at += 1;
    }
    marks
}

const fn place(one: u8, other: u8) -> usize {
    ((one as usize) << 3 ^ other as usize) % 1024
}

/// Returns whether a file or folder of this name is never work.
pub fn is_noise(name: &[u8]) -> bool {
    // Most names begin and end in another way.
    let is_in = |marks: &[u64; 16], [one, other]: &[u8; 2]| {
        let place = place(*one, *other);
        marks[place / 64] >> (place % 64) & 1 == 1
    };
    let find = |name: &[u8]| {
        memchr::memmem::find(NOISE.as_bytes(), &[b"\n", name, b"\n"].concat()).is_some()
    };
    let ending = || name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot..]);
    matches!(name, [.., b'~'] | [b'#', .., b'#'])
        || (name.first_chunk().is_some_and(|begin| is_in(&BEGINS, begin)) && find(name))
        || (name.last_chunk().is_some_and(|end| is_in(&ENDS, end))
            && ending().is_some_and(|end| find(&[b"*", end].concat())))
}

/// The patterns that hold in one folder: its own list, then those above it.
#[derive(Debug, Default)]
pub struct Rules {
    patterns: Vec<Pattern>,
    /// The places of those that may match a file, each with the bits of the ends of the names that it matches.
    of_files: Vec<(u64, usize)>,
    /// How long the path of the list's folder is, from the top of the repository, in bytes.
    base: usize,
    above: Option<Rc<Rules>>,
}

impl Rules {
    /// Returns these rules with another list before them; `base` is how long the path of its folder is,
    /// from the top of the repository and with its last slash, in bytes.
    pub fn with(self: &Rc<Self>, text: &[u8], base: usize) -> Rc<Self> {
        let patterns = Pattern::all(text);
        if patterns.is_empty() {
            return Rc::clone(self);
        }
        let of_files = patterns.iter().enumerate().filter(|(_, pattern)| !pattern.only_folders);
        let of_files = of_files.map(|(place, pattern)| (pattern.end_bits(), place)).collect();
        Rc::new(Self { patterns, of_files, base, above: Some(Rc::clone(self)) })
    }

    /// Returns whether a path from the top of the repository is ignored; the folders above it are not.
    pub fn ignore(&self, path: &[u8], name: &[u8], is_folder: bool) -> bool {
        let (mut level, end) = (Some(self), end_bits(name));
        while let Some(rules) = level {
            let path = path.get(rules.base..).unwrap_or_default();
            let matches = |one: &&Pattern| one.matches(path, name, is_folder);
            let found = if is_folder {
                rules.patterns.iter().rev().find(matches)
            } else {
                let ends_alike = rules.of_files.iter().rev().filter(|(ends, _)| ends & end != 0);
                ends_alike.map(|(_, place)| &rules.patterns[*place]).find(matches)
            };
            if let Some(found) = found {
                return !found.negated;
            }
            level = rules.above.as_deref();
        }
        false
    }
}

/// A repository, or what stands in for one where there is none.
#[derive(Debug, Default)]
pub struct Repository {
    /// The folder with its data, `None` without git.
    pub data: Option<PathBuf>,
    /// The path of the folder that is looked at from the top of the repository, with its last slash.
    pub prefix: Vec<u8>,
    /// The rules for that folder's own `.gitignore` to come before.
    pub rules: Rc<Rules>,
}

impl Repository {
    /// Returns the repository that a folder is a part of; one that ignores the folder is none.
    pub fn around(folder: &Path) -> Self {
        let without_git = || Self {
            rules: Rc::new(Rules::default()).with(WITHOUT_GIT.as_bytes(), 0),
            ..Self::default()
        };
        let Some((top, data)) = top_of(folder).and_then(|top| Some((top, repository_of(top)?)))
        else {
            return without_git();
        };
        let mut rules = rules_of_all_folders(&data);
        let mut prefix = Vec::new();
        let below = folder.strip_prefix(top).unwrap_or(Path::new(""));
        let mut at = top.to_owned();
        for part in below.components() {
            rules = rules.with(&list(&at.join(".gitignore")), prefix.len());
            let name = part.as_os_str().as_encoded_bytes();
            prefix.extend_from_slice(name);
            if rules.ignore(&prefix, name, true) {
                return without_git();
            }
            prefix.push(b'/');
            at.push(part);
        }
        Self { data: Some(data), prefix, rules }
    }

    /// Returns the repository whose top a folder is, as it is found inside of another one.
    pub fn at(top: &Path) -> Self {
        let data = repository_of(top);
        let rules = data.as_deref().map(rules_of_all_folders).unwrap_or_default();
        Self { data, prefix: Vec::new(), rules }
    }
}

/// The lists that hold in the whole work tree: a person's own, then the repository's.
fn rules_of_all_folders(data: &Path) -> Rc<Rules> {
    let common = common_folder(data);
    let own = excludes_file(&common).map(|path| list(&path)).unwrap_or_default();
    let rules = Rc::new(Rules::default()).with(&own, 0);
    rules.with(&list(&common.join("info").join("exclude")), 0)
}

/// Returns the data that all work trees of a repository share.
pub fn common_folder(data: &Path) -> PathBuf {
    let named = read::read(&data.join("commondir"), 4096).ok();
    let named = named.and_then(|content| String::from_utf8(content.bytes).ok());
    named.map_or_else(|| data.to_owned(), |named| data.join(named.trim()))
}

/// Returns where git looks for its configuration, the nearest first, whether there is a file or not.
pub fn config_files(common: &Path) -> Vec<PathBuf> {
    let own = git_folder_of_home().map(|folder| folder.join("config"));
    let home = world::home().map(|home| home.join(".gitconfig"));
    let all = [Some(common.join("config")), home, own, Some(PathBuf::from("/etc/gitconfig"))];
    all.into_iter().flatten().collect()
}

fn git_folder_of_home() -> Option<PathBuf> {
    let settings =
        world::folder("XDG_CONFIG_HOME").or_else(|| Some(world::home()?.join(".config")));
    settings.map(|folder| folder.join("git"))
}

/// A person's own list: `core.excludesFile`, or the one that git reads without it.
fn excludes_file(common: &Path) -> Option<PathBuf> {
    let configs = config_files(common);
    let named = configs.iter().find_map(|path| excludes_in(&list(path)));
    let Some(named) = named else {
        return git_folder_of_home().map(|folder| folder.join("ignore"));
    };
    match named.strip_prefix("~/") {
        Some(rest) => Some(world::home()?.join(rest)),
        None => Some(PathBuf::from(named)).filter(|path| path.is_absolute()),
    }
}

/// The value of `core.excludesFile` in a configuration of git's.
fn excludes_in(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let (mut in_core, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            in_core = section.split(']').next().is_some_and(|it| it.eq_ignore_ascii_case("core"));
        }
        let Some((key, value)) = line.split_once('=').filter(|_| in_core) else { continue };
        if key.trim().eq_ignore_ascii_case("excludesfile") {
            let value = value.split([';', '#']).next().unwrap_or_default();
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found.filter(|value| !value.is_empty())
}

/// The bytes of a list, empty where there is none that can be read.
fn list(path: &Path) -> Vec<u8> {
    read::read(path, MOST).map(|content| content.bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_leave_is_noise() {
        for name in NOISE.lines().skip(1) {
            assert!(is_noise(name.replace('*', "a").as_bytes()), "{name}");
        }
        for name in ["a.rs~", "#a.rs#", "npm-debug.log", ".main.c.swp", "Main.class", "a.c.orig"] {
            assert!(is_noise(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "a",
            "o",
            "log",
            "class",
            "tmp",
            "catalog",
            "blog.md",
            "a.css",
            "class.rs",
            "log.rs",
            "a.logs",
            "target",
            "targets",
            "target.rs",
            "coverage",
            "coverage.rs",
            "cover",
            "tests",
            "test",
            "node",
            "venv.sh",
            ".env",
            ".github",
            ".gitignore",
            ".vscode",
            ".clang-format",
            ".eslintrc",
            ".next.js",
            "build",
            "dist",
            "vendor",
            "CMakeLists.txt",
            "Theme.ts",
            "notes.md",
            ". ",
            "a b",
            "zig.rs",
        ] {
            assert!(!is_noise(name.as_bytes()), "{name}");
        }
    }
}
