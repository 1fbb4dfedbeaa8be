//! The rules by which git ignores files: the `.gitignore` of each folder, `info/exclude`, and a person's own list.
//!
//! Nothing here starts a program. In doubt a file is not ignored.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::commits::{repository_of, top_of};
use super::pattern::{Pattern, end_bits};
use crate::store::read;
use crate::world;

/// Bytes of one list.
pub const MOST: u64 = 1 << 20;
/// Files that hold no work in a folder without git. A `.gitignore` with `!target/` takes a name out.
const WITHOUT_GIT: &str = include_str!("without_git.gitignore");

/// First names that are never work, even if git tracks them: leftovers, folders of agents. Then paths that look
/// generated.
const NOISE: &str = include_str!("noise.names");

/// A bit for the first two bytes of each name of noise, and for the last two of each ending.
static BEGINS: [u64; 16] = marks(false);
static ENDS: [u64; 16] = marks(true);

const fn marks(of_ends: bool) -> [u64; 16] {
    let names = NOISE.as_bytes();
    let (mut marks, mut start, mut at) = ([0; 16], 0, 0);
    while at < names.len() {
        if names[at] == b'\n' {
            if at > start + 1 && names[start] != b'/' && (names[start] == b'*') == of_ends {
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

/// A file or folder of this name is never work.
pub fn is_noise(name: &[u8]) -> bool {
    // Fast, since most names begin and end in another way.
    let is_in = |marks: &[u64; 16], [one, other]: &[u8; 2]| {
        let place = place(*one, *other);
        marks[place / 64] >> (place % 64) & 1 == 1
    };
    let find = |name: &[u8]| {
        memchr::memmem::find(NOISE.as_bytes(), &[b"\n", name, b"\n"].concat()).is_some()
    };
    let ending = || name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot..]);
    matches!(name, [.., b'~'] | [b'#', .., b'#'])
        || (name.first() == Some(&b'.')
            && (name.ends_with(b"cache") || name.starts_with(b".aider.tags")))
        || (name.first_chunk().is_some_and(|begin| is_in(&BEGINS, begin)) && find(name))
        || (name.last_chunk().is_some_and(|end| is_in(&ENDS, end))
            && ending().is_some_and(|end| find(&[b"*", end].concat())))
}

/// The file looks as if a program had made it, such as a lock file. `path` is relative to the project.
pub fn is_made(path: &str) -> bool {
    let is_it = |mark: &str| match mark.strip_prefix('*') {
        Some(part) => path.contains(part),
        None => path.starts_with(mark),
    };
    NOISE.lines().filter_map(|line| line.strip_prefix('/')).any(is_it)
}

/// The patterns of one folder: its own list, then those above.
#[derive(Debug, Default)]
pub struct Rules {
    patterns: Vec<Pattern>,
    /// Places of patterns that may match a file, with [`Pattern::end_bits`].
    of_files: Vec<(u64, usize)>,
    /// Bytes of the list's folder in a path from the top of the repository.
    base: usize,
    above: Option<Rc<Rules>>,
}

impl Rules {
    /// Another list before these rules. `base` is the length of its folder's path from the top of the repository, with
    /// the last slash, in bytes.
    pub fn with(self: &Rc<Self>, text: &[u8], base: usize) -> Rc<Self> {
        let patterns = Pattern::all(text);
        if patterns.is_empty() {
            return Rc::clone(self);
        }
        let of_files = patterns.iter().enumerate().filter(|(_, pattern)| !pattern.only_folders);
        let of_files = of_files.map(|(place, pattern)| (pattern.end_bits(), place)).collect();
        Rc::new(Self { patterns, of_files, base, above: Some(Rc::clone(self)) })
    }

    /// `path` is relative to the top of the repository, and no folder above is ignored.
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

/// A repository, or its stand-in without git.
#[derive(Debug, Default)]
pub struct Repository {
    /// The repository's data; `None` without git.
    pub data: Option<PathBuf>,
    /// The path of the folder from the top of the repository, with its last slash.
    pub prefix: Vec<u8>,
    /// The rules above the folder's own `.gitignore`.
    pub rules: Rc<Rules>,
}

impl Repository {
    /// The repository around a folder, unless the repository ignores the folder.
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

    /// A repository inside another one, by its top.
    pub fn at(top: &Path) -> Self {
        let data = repository_of(top);
        let rules = data.as_deref().map(rules_of_all_folders).unwrap_or_default();
        Self { data, prefix: Vec::new(), rules }
    }
}

/// The lists for the whole work tree: a person's own, then the repository's.
fn rules_of_all_folders(data: &Path) -> Rc<Rules> {
    let common = common_folder(data);
    let own = excludes_file(&common).map(|path| list(&path)).unwrap_or_default();
    let rules = Rc::new(Rules::default()).with(&own, 0);
    rules.with(&list(&common.join("info").join("exclude")), 0)
}

/// The data that all work trees of a repository share.
pub fn common_folder(data: &Path) -> PathBuf {
    let named = read::read(&data.join("commondir"), 4096).ok();
    let named = named.and_then(|content| String::from_utf8(content.bytes).ok());
    named.map_or_else(|| data.to_owned(), |named| data.join(named.trim()))
}

/// Places of git's configuration, the nearest first, with or without a file.
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

/// A person's own list: `core.excludesFile`, or git's default.
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

/// The value of `core.excludesFile`.
fn excludes_in(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let (mut in_core, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            in_core = head.split(']').next().is_some_and(|name| name.eq_ignore_ascii_case("core"));
        }
        let Some((key, value)) = line.split_once('=').filter(|_| in_core) else { continue };
        if key.trim().eq_ignore_ascii_case("excludesfile") {
            let value = value.split([';', '#']).next().unwrap_or_default();
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found.filter(|value| !value.is_empty())
}

/// Empty if the list cannot be read.
fn list(path: &Path) -> Vec<u8> {
    read::read(path, MOST).map(|content| content.bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_leave_is_noise() {
        for name in NOISE.lines().filter(|line| !line.starts_with(['#', '/'])) {
            assert!(is_noise(name.replace('*', "a").as_bytes()), "{name}");
        }
        for name in ["a.rs~", "#a.rs#", "npm-debug.log", ".main.c.swp", "Main.class", "a.c.orig"] {
            assert!(is_noise(name.as_bytes()), "{name}");
        }
        for name in
            [".cache", ".ruff_cache", ".eslintcache", ".phpunit.result.cache", ".aider.tags"]
        {
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
            "cache",
            ".cached",
            ".aider.conf.yml",
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
