//! Files that nobody but a person may change: those that a person named, the settings, and the programs of checks.

use std::path::Path;

use super::comments::Hashes;
use super::contents::Contents;
use super::pattern::Pattern;
use crate::engine::proof::{ChangedFile, names_file, paths_in};

/// The files that say what has to hold: the loop does not change them, unless a task names them.
const SETTINGS: [&str; 2] = [".claude/ralph-speckit.local.md", ".spool/ralph.toml"];
/// Programs whose first argument is the program that runs.
const INTERPRETERS: [&str; 9] =
    ["sh", "bash", "zsh", "python", "python3", "node", "ruby", "perl", "php"];

/// Options of programs that run what a file defines: where they begin like this, another file may do so.
const ELSEWHERE: [&str; 9] =
    ["-C", "-f", "-d", "--prefix", "--cwd", "--dir", "--file", "--makefile", "--justfile"];

/// What is protected in one project.
pub struct Protected {
    patterns: Vec<Pattern>,
    programs: Vec<String>,
}

/// Returns whether the file at this path had these bytes when its contents were looked at; `false` where they are not known.
pub fn had(contents: &Contents, path: &str, bytes: &[u8]) -> bool {
    let seen = contents.0.search().find(path.as_bytes());
    seen.is_some_and(|file| file.seen().content.bytes == Hashes::of(b"", bytes).bytes)
}

impl Protected {
    /// Returns what is protected where a person named these patterns and armed these commands; what is no pattern
    /// protects nothing.
    pub fn of<'a>(patterns: &[String], commands: impl Iterator<Item = &'a str>) -> Self {
        Self {
            patterns: patterns.iter().filter_map(|text| Pattern::protecting(text)).collect(),
            programs: commands.filter_map(program_of).collect(),
        }
    }

    /// Returns the paths of protected files that are known without a look: they are looked at also where git ignores them.
    pub fn known_paths<'a>(
        patterns: &'a [String],
        commands: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let mut known: Vec<String> = commands.filter_map(program_of).collect();
        let is_one =
            |text: &&String| !text.contains(['*', '?', '[', '!', '\\']) && !text.ends_with('/');
        let paths = patterns.iter().filter(is_one);
        known.extend(paths.map(|text| text.strip_prefix('/').unwrap_or(text).to_owned()));
        known
    }

    /// Returns those of these files that are protected and that no task of the list in these bytes names.
    pub fn among(&self, changed: &[ChangedFile], list: &[u8]) -> Vec<String> {
        let paths = changed.iter().map(|file| file.path.as_str());
        let mut found: Vec<&str> = paths.filter(|path| self.protects(path)).collect();
        if !found.is_empty() {
            let list = String::from_utf8_lossy(list);
            let named = paths_in(&list);
            // The program of a check that the loop is to write: `check.sh` is a name also without backticks.
            let is_asked =
                |path: &str| self.programs.iter().any(|it| it == path) && names_file(&list, path);
            found.retain(|path| !named.iter().any(|named| named.covers(path)) && !is_asked(path));
        }
        found.into_iter().map(str::to_owned).collect()
    }

    /// Returns the files of a project that say what these commands run (`package.json` for `npm test`) and that are not
    /// protected, each with the first of these commands.
    pub fn unprotected_behind<'a>(
        &self,
        root: &Path,
        commands: impl Iterator<Item = &'a str>,
    ) -> Vec<(&'a str, &'static str)> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for run in commands {
            for names in defining(run) {
                let Some(file) = names.iter().find(|name| root.join(name).is_file()) else {
                    continue;
                };
                if !self.protects(file) && found.iter().all(|(_, known)| known != file) {
                    found.push((run, file));
                }
            }
        }
        found
    }

    fn protects(&self, path: &str) -> bool {
        SETTINGS.contains(&path)
            || self.programs.iter().any(|it| it == path)
            || is_matched(&self.patterns, path)
    }
}

/// The names that the files have which say what a command line runs, for each program of it that is known for that: as it is
/// called in the folder of the project.
fn defining(run: &str) -> impl Iterator<Item = &'static [&'static str]> {
    let programs = run.split(['&', ';', '|', '\n']).map(str::trim_start);
    let is_here = |line: &&str| !line.starts_with("cd ");
    programs.take_while(is_here).filter_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| word.contains('=')).peekable();
        let (program, next) = (words.next()?, words.peek().copied().unwrap_or_default());
        // It is called with a file of its own, or in another folder.
        if words.any(|word| ELSEWHERE.iter().any(|flag| word.starts_with(flag))) {
            return None;
        }
        let runs_script = matches!(next, "test" | "t" | "run" | "run-script");
        let names: &[&str] = match program {
            "npm" | "pnpm" | "yarn" if runs_script => &["package.json"],
            "bun" if next == "run" => &["package.json"],
            "make" => &["GNUmakefile", "Makefile", "makefile"],
            "just" => &["justfile", "Justfile", ".justfile"],
            _ => return None,
        };
        Some(names)
    })
}

/// The file that a command line runs, where it is one of the project.
fn program_of(run: &str) -> Option<String> {
    let mut words = first_words(run)?.into_iter();
    let first = words.next()?;
    let name = first.rsplit('/').next().unwrap_or(&first);
    let program = if INTERPRETERS.contains(&name) { words.next()? } else { first };
    let program = program.strip_prefix("./").unwrap_or(&program);
    (!program.starts_with(['/', '-'])).then(|| program.to_owned())
}

/// The first two words of a command line, as a shell would split it; `None` for a quotation mark that is never closed.
fn first_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => (quote, begun) = (Some(letter), true),
            (_, Some(open)) if open == letter => quote = None,
            ('\\', None | Some('"')) if cfg!(unix) => word.extend(letters.next()),
            (_, None) if letter.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                    begun = false;
                }
            }
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.truncate(2);
    quote.is_none().then_some(words)
}

/// Whether one of these patterns matches a path, or a folder that it is in.
fn is_matched(patterns: &[Pattern], path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let parts: Vec<(&str, bool)> = ends.map(|end| (&path[..end], end < path.len())).collect();
    patterns.iter().any(|pattern| {
        parts.iter().any(|(part, is_folder)| {
            let name = part.rsplit('/').next().unwrap_or(part);
            pattern.matches(part.as_bytes(), name.as_bytes(), *is_folder)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::proof::ContentChange;

    #[test]
    fn the_program_of_a_check_is_known() {
        for (run, program) in [
            ("./check.sh --all", Some("check.sh")),
            ("sh scripts/check.sh", Some("scripts/check.sh")),
            ("sh 'scripts/my check.sh' x", Some("scripts/my check.sh")),
            ("  \"./a b\"", Some("a b")),
            ("/usr/bin/python3 tools/x.py", Some("tools/x.py")),
            ("cargo test", Some("cargo")),
            ("/bin/true", None),
            ("bash -c true", None),
            ("sh 'a", None),
        ] {
            assert_eq!(program_of(run).as_deref(), program, "{run}");
        }
    }

    #[test]
    fn patterns_protect_files_and_what_is_in_folders() {
        let is_protected = |pattern: &str, path: &str| {
            Protected::of(&[pattern.to_owned()], [].into_iter()).protects(path)
        };
        assert!(is_protected("tests/**", "tests/a/b.rs"));
        assert!(is_protected("tests/", "tests/a/b.rs"));
        assert!(is_protected("*.lock", "a/b.lock"));
        assert!(!is_protected("tests/**", "src/tests.rs"));
        assert!(!is_protected("!src", "src/a.rs"));
    }

    #[test]
    fn the_file_that_says_what_a_check_runs_is_named_where_nothing_protects_it() {
        let root = tempfile::tempdir().unwrap();
        for name in ["package.json", "Makefile", "justfile"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        let behind = |patterns: &[&str], run: &str| {
            let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
            let found = Protected::of(&patterns, [run].into_iter())
                .unprotected_behind(root.path(), [run].into_iter());
            found.into_iter().map(|(_, file)| file).collect::<Vec<_>>()
        };
        for (run, files) in [
            ("npm test", &["package.json"][..]),
            ("CI=1 npm run lint -- --fix", &["package.json"]),
            ("yarn test && make -j4 check", &["package.json", "Makefile"]),
            ("just test", &["justfile"]),
            ("make", &["Makefile"]),
            ("npm ci", &[]),
            ("cd web && npm test", &[]),
            ("make -C web test", &[]),
            ("npm test --prefix web", &[]),
            ("cargo test", &[]),
            ("bun test", &[]),
            ("sh make test", &[]),
        ] {
            assert_eq!(behind(&[], run), files, "{run}");
        }
        assert!(behind(&["package.json"], "npm test").is_empty());
        assert!(behind(&["*"], "make").is_empty());
        assert!(behind(&["tests/"], "make").len() == 1);
        std::fs::remove_file(root.path().join("Makefile")).unwrap();
        assert!(behind(&[], "make").is_empty());
    }

    #[test]
    fn programs_and_plain_patterns_are_known_without_a_look() {
        let patterns = ["/.env", "keys/id", "tests/**", "tests/", "*.lock"].map(str::to_owned);
        let known = Protected::known_paths(&patterns, ["sh check.log", "bash -c true"].into_iter());
        assert_eq!(known, ["check.log", ".env", "keys/id"]);
    }

    #[test]
    fn what_a_task_names_is_its_work() {
        let changed = ["a.lock", "check.sh", "src/a.rs", ".spool/ralph.toml", "tests/b.rs"];
        let changed = changed
            .map(|path| ChangedFile { path: path.to_owned(), change: ContentChange::Content });
        let patterns = ["*.lock", "tests/"].map(str::to_owned);
        let protected = Protected::of(&patterns, ["sh check.sh", "true"].into_iter());
        let among = |list: &str| protected.among(&changed, list.as_bytes());
        assert_eq!(among(""), ["a.lock", "check.sh", ".spool/ralph.toml", "tests/b.rs"]);
        for name in ["`check.sh`", "check.sh.", "(check.sh)"] {
            let list = format!("- [ ] T1 Write tests/b.rs and {name}");
            assert_eq!(among(&list), ["a.lock", ".spool/ralph.toml"], "{name}");
        }
        let verify = "- [ ] T1 Write tests/b.rs and a.lock\n  - **Verify**: sh check.sh";
        assert_eq!(among(verify), ["a.lock", "check.sh", ".spool/ralph.toml"]);
    }
}
