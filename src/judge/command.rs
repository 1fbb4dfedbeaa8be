//! Finds the project files that a command runs: files that its words name in any spelling, and its tests. Such files
//! judge the work: a change to one casts doubt on what the command proves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::engine::is_deaf;
use crate::evidence::pattern::Pattern;
use crate::system::files::names_of_program;
use crate::world;

const SETTINGS: &str = ".spool/ralph.toml";
/// Folders of tests; then names of tests and test folders, or beginnings or ends of such names.
const FOLDERS: &str = "__snapshots__ e2e testdata testing";
const TESTS: [&str; 5] = ["test", "tests", "spec", "specs", "conftest"];
/// Parts of words in a command that runs tests.
const RUNS_TESTS: &str = "test spec jest check mocha tox nox rake verify ava gradle mvn cypress playwright behave cucumber unit karma bats \
    busted ginkgo pest";
/// Files that a program reads without their names in the command, besides files named after the program, such as
/// `pytest.ini` and `justfile`.
const DEFINED_IN: [(&str, &str); 6] = [
    ("npm pnpm yarn bun npx jest mocha ava", "package.json"),
    ("make", "GNUmakefile"),
    ("composer", "composer.json"),
    ("pytest tox nox", "pyproject.toml setup.cfg tox.ini"),
    ("mvn mvnw", "pom.xml"),
    ("gradle gradlew", "build.gradle build.gradle.kts"),
];
/// Endings behind the program's name in such file names.
const AFTER_PROGRAM: [&str; 6] = ["file", ".config.", ".conf.", "rc", ".ini", ".xml"];
/// Programs that run the files of a pattern, and do not only read them.
const INTERPRETERS: &str = "sh bash zsh dash ksh source python python3 node ruby perl php";
/// Shell keywords and builtins: words that need no program file.
const OF_SHELL: &str = "! . : [ [[ { break builtin case command continue do done echo elif else esac eval exec exit export false fi for function \
    if local printf pwd read readonly return set shift source test then time trap true type ulimit umask unset until wait while";

/// The words of each command.
pub struct Commands(Vec<Vec<String>>);

impl Commands {
    pub fn of<'a>(commands: impl Iterator<Item = &'a str>) -> Self {
        Self(commands.map(words_of).collect())
    }

    /// A command runs this file of the project. `beside` is the folder of the loop's feature.
    pub fn run(&self, path: &str, beside: &str) -> bool {
        self.0.iter().any(|words| names(words, path) || runs_test(words, path, beside))
    }

    /// Words that may name a file; `a/../b` would be a second name of `b`.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        let is_path = |word: &&String| word.contains(['.', '/']) && !word.contains("/../");
        self.0.iter().flatten().filter(is_path)
    }
}

/// Programs and scripts that are not found, and commands that pass whatever they run. Runs nothing.
pub fn doubtful<'a>(commands: impl Iterator<Item = &'a str>, root: &Path) -> [Vec<String>; 2] {
    let [mut missing, mut deaf] = [const { BTreeSet::new() }; 2];
    let path = world::raw_variable("PATH").unwrap_or_default();
    // Many tasks share one command.
    for line in commands.collect::<BTreeSet<_>>() {
        deaf.extend(is_deaf(line).then(|| line.to_owned()));
        // Signs in quotation marks belong to a text.
        let is_shell = |part: &&str| part.matches(['"', '\'', '`']).count().is_multiple_of(2);
        let parts = line.split([';', '|', '&', '\n']).take_while(is_shell);
        let parts = parts.map(|part| part.trim_matches([' ', '(', ')']));
        for part in parts.filter(|part| !part.is_empty()) {
            let mut words = part.split_whitespace().skip_while(|word| word.contains('='));
            let Some(program) = words.next().filter(|word| *word != "cd") else { break };
            let mut files = words.take_while(|word| !matches!(*word, "-c" | "-m"));
            let script = files.find(|word| !word.starts_with('-'));
            let script = script.filter(|_| is_one_of(INTERPRETERS, program));
            let here = || vec![root.to_owned()];
            let is_path = program.contains('/');
            let places = if is_path { here() } else { std::env::split_paths(&path).collect() };
            let is_missing = !is_one_of(OF_SHELL, program) && !is_among(&places, program);
            missing.extend(is_missing.then(|| program.to_owned()));
            missing.extend(script.filter(|script| !is_among(&here(), script)).map(str::to_owned));
        }
    }
    [missing, deaf].map(|names| names.into_iter().collect())
}

/// True if one of the folders has this file, or if only a shell can tell.
fn is_among(folders: &[PathBuf], word: &str) -> bool {
    let is_plain = |sign: char| sign.is_alphanumeric() || "._+-/".contains(sign);
    let is_there =
        |path: PathBuf| path.exists() || names_of_program(path).any(|path| path.exists());
    !word.chars().all(is_plain) || folders.iter().any(|folder| is_there(folder.join(word)))
}

/// The words of a command line without shell signs and options.
fn words_of(line: &str) -> Vec<String> {
    let is_end = |sign: char| sign.is_whitespace() || "'\"`;|&<>(){}=,:".contains(sign);
    let words = line.split(is_end).filter_map(|word| {
        let word = word.strip_prefix("$PWD/").unwrap_or(word);
        let parts = word.split('/').filter(|part| !part.is_empty() && *part != ".");
        let word = parts.collect::<Vec<_>>().join("/");
        (!word.is_empty() && !word.starts_with('-')).then_some(word)
    });
    words.collect()
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// The words name this file, from the project's folder or from a folder among the words.
fn names(words: &[String], path: &str) -> bool {
    let below = |word: &String| path.strip_prefix(word.as_str())?.strip_prefix('/');
    let is_absolute = |word: &String| word.ends_with(&["/", path].concat());
    words.iter().any(is_absolute)
        || words.iter().filter_map(below).chain([path]).any(|path| names_here(words, path))
}

/// A word is this path, its Python module, a pattern of files to run, or a program that reads the file.
fn names_here(words: &[String], path: &str) -> bool {
    let module = path.strip_suffix(".py").unwrap_or_default();
    let module = module.strip_suffix("/__main__").unwrap_or(module).replace('/', ".");
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_python = words.iter().any(|word| word.starts_with("python"));
    let depth = |path: &str| path.matches('/').count();
    words.iter().any(|word| {
        let is_pattern = || {
            word.contains(['*', '?'])
                && (depth(word) == depth(path) || word.contains("**"))
                && (word.ends_with("sh") || words.iter().any(|word| is_one_of(INTERPRETERS, word)))
                && Pattern::parse(word.as_bytes())
                    .is_some_and(|pattern| pattern.matches(path.as_bytes(), name.as_bytes(), false))
        };
        let is_called_after = || {
            let lower = path.trim_start_matches('.').to_lowercase();
            let rest = lower.strip_prefix(word.as_str()).filter(|_| word.len() > 2);
            rest.is_some_and(|rest| AFTER_PROGRAM.iter().any(|end| rest.starts_with(end)))
                || path.strip_prefix('.').is_some_and(|name| name == word)
        };
        let is_read =
            || DEFINED_IN.iter().any(|(by, files)| is_one_of(files, path) && is_one_of(by, word));
        word == path
            || (*word == module && is_python)
            || is_called_after()
            || is_read()
            || is_pattern()
    })
}

/// The words run tests, and this file is one: in the named folders and files, or anywhere without such names.
fn runs_test(words: &[String], path: &str, beside: &str) -> bool {
    let runs = |word: &String| {
        word == "t" || RUNS_TESTS.split_ascii_whitespace().any(|part| word.contains(part))
    };
    if !is_test(path) || specifies(path, beside) || !words.iter().any(runs) {
        return false;
    }
    let mut places = words
        .iter()
        .filter(|word| word.contains('/') && !word.ends_with("...") && !word.contains('*'))
        // A script `test.sh` runs the tests of other folders.
        .filter(|word| !word.rsplit('/').next().is_some_and(|name| name.starts_with("test.")));
    let is_in = |word: &String| {
        path.strip_prefix(word.as_str()).is_some_and(|end| end.is_empty() || end.starts_with('/'))
    };
    words.iter().any(is_in) || places.all(|word| !is_test(word))
}

/// A file of the loop's own feature, of `OpenSpec`, or of another feature of spec-kit, whose name begins with a digit.
fn specifies(path: &str, beside: &str) -> bool {
    let is_in = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    [beside, ".specify", "openspec"].into_iter().any(is_in)
        || path.strip_prefix("specs/").is_some_and(|rest| rest.starts_with(char::is_numeric))
}

/// A file named like a test, or in a folder of tests. Markdown files are no tests, such as those of spec-kit in
/// `specs/`.
pub fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_folder = |part: &str| {
        is_one_of(FOLDERS, part) || TESTS.iter().any(|test| ends_with(part.trim_matches('_'), test))
    };
    let is_called =
        |part: &str| TESTS.iter().any(|test| begins_with(part, test) || ends_with(part, test));
    ending != "md" && (folders.split('/').any(is_folder) || stem.split('.').any(is_called))
}

/// The word at the beginning, with another word or nothing behind: `test_sum`, `testSum`, `test1`, not `tester`.
fn begins_with(name: &str, word: &str) -> bool {
    let rest = name.get(word.len()..).filter(|_| name[..word.len()].eq_ignore_ascii_case(word));
    let is_apart = |letter: char| !letter.is_alphabetic() || letter.is_uppercase();
    rest.is_some_and(|rest| rest.chars().next().is_none_or(is_apart))
}

/// The word at the end: `sum_test`, `SumTest`, `Test`, not `latest`.
fn ends_with(name: &str, word: &str) -> bool {
    let at = name.len().saturating_sub(word.len());
    let Some((before, end)) = name.split_at_checked(at) else { return false };
    let is_hump = end.starts_with(char::is_uppercase) && end.ends_with(char::is_lowercase);
    end.eq_ignore_ascii_case(word) && (is_hump || !before.ends_with(char::is_alphabetic))
}

/// A pattern matches the path or a folder above. The runner's settings are always protected.
pub fn is_protected(patterns: &[String], path: &str) -> bool {
    let mut patterns = patterns.iter().filter_map(|text| Pattern::protecting(text));
    path == SETTINGS || patterns.any(|pattern| protects(&pattern, path))
}

/// The patterns that protect none of these files.
pub fn unmet(patterns: &[String], paths: &[String]) -> Vec<String> {
    let is_met = |pattern: Pattern| paths.iter().any(|path| protects(&pattern, path));
    let is_unmet = |text: &&String| !Pattern::protecting(text).is_some_and(is_met);
    patterns.iter().filter(is_unmet).cloned().collect()
}

fn protects(pattern: &Pattern, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut parts = ends.map(|end| (&path[..end], end < path.len()));
    parts.any(|(part, is_folder)| {
        let name = part.rsplit('/').next().unwrap_or(part);
        pattern.matches(part.as_bytes(), name.as_bytes(), is_folder)
    })
}

/// Protected paths without wildcards: a look includes them even if git ignores them.
pub fn protected_paths(patterns: &[String]) -> impl Iterator<Item = String> {
    let is_one =
        |text: &&String| !text.contains(['*', '?', '[', '!', '\\']) && !text.ends_with('/');
    let path = |text: &String| text.trim_start_matches("./").trim_start_matches('/').to_owned();
    patterns.iter().filter(is_one).map(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(command: &str, path: &str) -> bool {
        Commands::of([command].into_iter()).run(path, "specs/001-sums")
    }

    #[test]
    fn detour_is_no_second_name() {
        let command = Commands::of(["sh lib/../ci/t.sh"].into_iter());
        assert!(command.run("ci/t.sh", "specs/001-sums") && command.paths().next().is_none());
    }

    #[test]
    fn script_has_many_calls() {
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
    fn unfound_programs_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("there.sh"), "").unwrap();
        for (line, missing) in [
            ("pytset-for-sure -q", &["pytset-for-sure"][..]),
            ("sh check.sh", &["check.sh"]),
            ("bash -e ./ci/check.sh | tail", &["./ci/check.sh"]),
            ("A=1 ./run.sh && sh there.sh", &["./run.sh"]),
            ("if test -e x; then sh there.sh; fi", &[]),
            ("sh -c 'nothing-like-it; sh x.sh'", &[]),
            ("cd app && nothing-like-it", &[]),
            ("(\nsh check.sh\n) && (\nnothing-like-it\n)", &["check.sh", "nothing-like-it"]),
            ("$RUNNER --all", &[]),
            ("sh -m tools.x", &[]),
        ] {
            let [found, _] = doubtful([line].into_iter(), folder.path());
            assert_eq!(found, missing, "{line}");
        }
        let [_, deaf] = doubtful(["sh there.sh || true"].into_iter(), folder.path());
        assert_eq!(deaf, ["sh there.sh || true"]);
    }

    #[test]
    fn command_tests_are_known() {
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
    fn judging_files_are_known() {
        let all = [
            ("pytest", "app/tests.py"),
            ("sh tools/test.sh", "spec/sums.ts"),
            ("pytest", "sum_tests.py"),
            ("pytest", "test.py"),
            ("pytest", "test1.py"),
            ("node test.js", "test.js"),
            ("npm test", "test.js"),
            ("npm test", "src/sum.test.ts.snap"),
            ("npm test", "spec.ts"),
            ("cargo test", "src/tests.rs"),
            ("cargo t", "src/sum/tests.rs"),
            ("cargo test", "src/sum/test.rs"),
            ("swift test", "Tests/Sum.swift"),
            ("swift test", "Tests/AppTests/Sum.swift"),
            ("phpunit", "tests/SumTest.php"),
            ("vendor/bin/phpunit", "Tests/Sum.php"),
            ("vendor/bin/pest", "tests/Sum.php"),
            ("gradle check", "src/androidTest/Sum.kt"),
            ("gradle check", "src/integration-tests/Sum.kt"),
            ("mvn verify", "src/it/java/TestSum.java"),
            ("mvn verify", "src/it/java/HTTPTests.java"),
            ("cd app && npm test", "app/package.json"),
            ("npm --prefix app test", "app/package.json"),
            ("npm test -w packages/a", "packages/a/package.json"),
            ("cd app/web; yarn test", "app/web/package.json"),
            ("make -C sub check", "sub/Makefile"),
            ("make -C ./sub/ check", "sub/GNUmakefile"),
            ("just -d sub test", "sub/justfile"),
            ("npx jest", "package.json"),
            ("npx jest", "jest.config.ts"),
            ("npx vitest run", "vitest.config.mts"),
            ("mocha", ".mocharc.yml"),
            ("rspec", ".rspec"),
            ("rake", "Rakefile"),
            ("nox", "noxfile.py"),
            ("pytest", "pytest.ini"),
            ("python3 -m pytest -q", "pyproject.toml"),
            ("pytest", "setup.cfg"),
            ("pytest", "tox.ini"),
            ("phpunit", "phpunit.xml"),
            ("phpunit", "phpunit.xml.dist"),
            ("cd app && karma start", "app/karma.conf.js"),
            ("task test", "Taskfile.yml"),
            ("./mvnw test", "pom.xml"),
            ("./gradlew test", "build.gradle.kts"),
            ("sh scripts/*.sh", "scripts/a.sh"),
            ("for it in ci/*.sh; do . $it; done", "ci/a.sh"),
            ("cd tools && bash *.sh", "tools/a.sh"),
            ("PYTHONPATH=src python3 -m sums.check", "src/sums/check.py"),
            ("PYTHONPATH=src python3 -m sums", "src/sums/__main__.py"),
            ("cd src && python3 -m sums.check", "src/sums/check.py"),
            ("PYTHONPATH=lib:src python3 -m sums.check", "src/sums/check.py"),
            ("CLASSPATH=lib:ci java -cp ci/all.jar:lib Check", "ci/all.jar"),
        ];
        let missed: Vec<_> = all.iter().filter(|(command, path)| !runs(command, path)).collect();
        assert!(missed.is_empty(), "{} of {} are missed: {missed:#?}", missed.len(), all.len());
        let honest = [
            ("pytest", "src/latest.py"),
            ("pytest", "contest/sum.py"),
            ("pytest", "src/testimonials.py"),
            ("pytest", "src/tester.py"),
            ("pytest", "src/inspect.py"),
            ("pytest -k sum", "sum.py"),
            ("cargo test sum", "src/sum.rs"),
            ("cargo test sum", "Cargo.toml"),
            ("cargo test sum", "sum.json"),
            ("npm test", "src/LATEST.ts"),
            ("npm test", "src/spectrum.ts"),
            ("npm test", "tests/README.md"),
            ("npm test", "app/package.json"),
            ("npm test", "src/sum.ts"),
            ("npm run build", "src/tests.ts"),
            ("make -C sub check", "other/Makefile"),
            ("go test ./...", "sum/sum.go"),
            ("go test ./...", "go.mod"),
            ("eslint 'src/*.js'", "src/a.js"),
            ("grep -q x src/*.py", "src/a.py"),
            ("sh scripts/*.sh", "scripts/sub/a.sh"),
            ("sh scripts/*.sh", "a.sh"),
            ("PYTHONPATH=src python3 -m sums.check", "src/sums/total.py"),
            ("pytest", "specs/002-more/spec.md"),
        ];
        let caught: Vec<_> = honest.iter().filter(|(command, path)| runs(command, path)).collect();
        assert!(caught.is_empty(), "{} of {} are caught: {caught:#?}", caught.len(), honest.len());
    }

    #[test]
    fn specifications_are_no_tests() {
        for path in
            ["001-sums/a.yaml", "002-add-tests/contracts/api.yaml", "20261128-101112-x/test_a.py"]
        {
            assert!(!runs("sh test.sh", &["specs/", path].concat()), "{path}");
            assert!(!runs("sh test.sh", &[".specify/specs/", path].concat()), "{path}");
        }
        assert!(!runs("npm test", "openspec/specs/login/a.yaml"));
        for path in ["specs/login.js", "specs/unit/login.js", "web/specs/1-login.js"] {
            assert!(runs("npm test", path), "{path}");
        }
    }

    #[test]
    fn patterns_protect_folders() {
        let is = |pattern: &str, path: &str| is_protected(&[pattern.to_owned()], path);
        assert!(
            is("tests/**", "tests/a/b.rs")
                && is("tests/", "tests/a/b.rs")
                && is("*.lock", "a/b.lock")
        );
        assert!(!is("tests/**", "src/tests.rs") && !is("!src", "src/a.rs"));
        assert!(is("./tests/**", "tests/a.rs") && is("./tests/", "tests/a.rs"));
        assert!(is("./a.lock", "a.lock") && !is("./a.lock", "b/a.lock"));
        let paths = ["/.env", "keys/id", "./a.toml", "tests/**", "tests/", "*.lock"];
        assert!(protected_paths(&paths.map(str::to_owned)).eq([".env", "keys/id", "a.toml"]));
    }
}
