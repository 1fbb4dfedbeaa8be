//! What a command runs of the project: the files that its words name, however it is spelled, and its tests. They are a part of the
//! judge: where they change, what the command proves is in doubt.

use crate::evidence::pattern::Pattern;

const SETTINGS: &str = ".spool/ralph.toml";
/// The folders that tests are in, and what the names of tests begin and end with, before their ending.
const FOLDERS: &str = " test tests spec specs __tests__ __snapshots__ e2e testdata testing ";
const BEGINS: [&str; 3] = ["test_", "test-", "conftest"];
const ENDS: [&str; 8] = ["_test", "-test", ".test", "_spec", "-spec", ".spec", "Test", "Tests"];
/// What the words of a command that runs tests have in them.
const RUNS_TESTS: &str = "test spec jest check mocha tox nox rake verify ava gradle mvn cypress playwright behave cucumber";
/// What a program reads that is called by its name alone.
const DEFINED_IN: [(&str, &str); 11] = [
    ("npm pnpm yarn bun", "package.json"),
    ("make", "Makefile"),
    ("make", "makefile"),
    ("make", "GNUmakefile"),
    ("just", "justfile"),
    ("task", "Taskfile.yml"),
    ("rake", "Rakefile"),
    ("composer", "composer.json"),
    ("tox", "tox.ini"),
    ("pytest", "pytest.ini"),
    ("jest", "jest.config.js"),
];

/// Commands, by their words.
pub struct Commands(Vec<Vec<String>>);

impl Commands {
    /// Returns these commands.
    pub fn of<'a>(commands: impl Iterator<Item = &'a str>) -> Self {
        Self(commands.map(words_of).collect())
    }

    /// Returns whether one of them runs this file of the project. `beside` is the folder of the feature, which has no tests.
    pub fn run(&self, path: &str, beside: &str) -> bool {
        self.0.iter().any(|words| names(words, path) || runs_test(words, path, beside))
    }

    /// Returns what their words name that may be a file.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        self.0.iter().flatten().filter(|word| word.contains(['.', '/']))
    }
}

/// The words of a command line without what a shell and its options put around them.
fn words_of(line: &str) -> Vec<String> {
    let is_end = |it: char| it.is_whitespace() || "'\"`;|&<>(){}=,".contains(it);
    let words = line.split(is_end).filter_map(|word| {
        let word = word.split("::").next()?;
        let word = word.strip_prefix("$PWD/").unwrap_or(word);
        let parts = word.split('/').filter(|part| !part.is_empty() && *part != ".");
        let word = parts.collect::<Vec<_>>().join("/");
        (!word.is_empty() && !word.starts_with('-')).then_some(word)
    });
    words.collect()
}

/// Whether one of the words names this file: by its path, from a folder that another word names, or as a module of Python.
fn names(words: &[String], path: &str) -> bool {
    let module = path
        .strip_suffix(".py")
        .map(|it| it.strip_suffix("/__main__").unwrap_or(it).replace('/', "."));
    words.iter().enumerate().any(|(place, word)| {
        let reads = |programs: &str| programs.split(' ').any(|program| program == word);
        let is_defined = || DEFINED_IN.iter().any(|(by, file)| *file == path && reads(by));
        let is_below = || {
            let above = path.strip_suffix(word.as_str()).and_then(|it| it.strip_suffix('/'));
            above.is_some_and(|above| words[..place].iter().any(|it| it == above))
        };
        // An absolute path ends with it.
        let is_absolute = || word.len() > path.len() && word.ends_with(&["/", path].concat());
        word == path || module.as_ref() == Some(word) || is_defined() || is_below() || is_absolute()
    })
}

/// Whether they run tests, and this file is one of those: in the folders and files that they name, where they name any.
fn runs_test(words: &[String], path: &str, beside: &str) -> bool {
    let runs = |word: &String| RUNS_TESTS.split(' ').any(|it| word.contains(it));
    if !is_test(path) || path.starts_with(&[beside, "/"].concat()) || !words.iter().any(runs) {
        return false;
    }
    let mut places = words
        .iter()
        .filter(|word| word.contains('/') && !word.ends_with("...") && !word.contains('*'));
    let is_in = |word: &String| {
        path.strip_prefix(word.as_str()).is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    words.iter().any(is_in) || places.all(|word| !is_test(word))
}

/// Returns whether a file is called a test, or is in a folder of tests.
pub fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_folder = |part: &str| FOLDERS.contains(&[" ", part, " "].concat());
    // The documents of spec-kit are in `specs/`.
    (folders.split('/').any(|part| !part.is_empty() && is_folder(part)) && ending != "md")
        || BEGINS.iter().any(|it| stem.starts_with(it))
        || ENDS.iter().any(|it| stem.ends_with(it))
}

/// Returns whether one of these patterns matches a path, or a folder that it is in; the settings of the runner are always
/// protected.
pub fn is_protected(patterns: &[String], path: &str) -> bool {
    if path == SETTINGS {
        return true;
    }
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let parts: Vec<(&str, bool)> = ends.map(|end| (&path[..end], end < path.len())).collect();
    patterns.iter().filter_map(|text| Pattern::protecting(text)).any(|pattern| {
        parts.iter().any(|(part, is_folder)| {
            let name = part.rsplit('/').next().unwrap_or(part);
            pattern.matches(part.as_bytes(), name.as_bytes(), *is_folder)
        })
    })
}

/// Returns the paths of protected files that are known without a look: they are looked at also where git ignores them.
pub fn protected_paths(patterns: &[String]) -> impl Iterator<Item = String> {
    let is_one =
        |text: &&String| !text.contains(['*', '?', '[', '!', '\\']) && !text.ends_with('/');
    patterns.iter().filter(is_one).map(|text| text.strip_prefix('/').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(command: &str, path: &str) -> bool {
        Commands::of([command].into_iter()).run(path, "specs/001-sums")
    }

    #[test]
    fn a_script_is_known_however_it_is_called() {
        for command in [
            "sh x.sh",
            "./x.sh",
            "cd . && sh x.sh",
            "bash -e x.sh",
            "env A=1 x.sh",
            "timeout 10 sh x.sh",
            "sh <x.sh",
            ". ./x.sh",
            "sh 'x.sh'",
            "sh -c 'sh ./x.sh'",
            "$PWD/x.sh",
            "/home/me/project/x.sh",
            "a=$(sh x.sh)",
        ] {
            assert!(runs(command, "x.sh"), "{command}");
        }
        assert!(runs("cd tools && sh x.sh", "tools/x.sh"));
        assert!(
            runs("python3 -m tools.x", "tools/x.py")
                && runs("python3 -m tools", "tools/__main__.py")
        );
        assert!(runs("make check", "Makefile") && !runs("cmake .", "Makefile"));
        assert!(!runs("sh y.sh", "x.sh") && !runs("cargo build", "src/main.rs"));
    }

    #[test]
    fn the_tests_of_a_command_are_known() {
        for (command, path, is_run) in [
            ("pytest", "tests/test_a.py", true),
            ("pytest -q", "tests/__init__.py", true),
            ("pytest -q", "conftest.py", true),
            ("pytest tests/unit", "tests/unit/test_a.py", true),
            ("pytest tests/unit", "tests/e2e/test_b.py", false),
            ("pytest tests/test_a.py::test_sum", "tests/test_a.py", true),
            ("go test ./...", "sum/sum_test.go", true),
            ("npm test", "src/sum.test.ts", true),
            ("npm test", "src/sum.ts", false),
            ("npm run build", "src/sum.test.ts", false),
            ("cargo test", "specs/001-sums/plan.md", false),
        ] {
            assert_eq!(runs(command, path), is_run, "{command} {path}");
        }
    }

    #[test]
    fn patterns_protect_files_and_what_is_in_folders() {
        let is = |pattern: &str, path: &str| is_protected(&[pattern.to_owned()], path);
        assert!(
            is("tests/**", "tests/a/b.rs")
                && is("tests/", "tests/a/b.rs")
                && is("*.lock", "a/b.lock")
        );
        assert!(!is("tests/**", "src/tests.rs") && !is("!src", "src/a.rs"));
        let paths = ["/.env", "keys/id", "tests/**", "tests/", "*.lock"].map(str::to_owned);
        assert!(protected_paths(&paths).eq([".env", "keys/id"]));
    }
}
