//! What the output of a check shows: a text in one of its lines, and how many tests have passed.

/// Returns the lines of an output as text, without colors; what was overwritten on a line counts as one of its own.
pub fn plain_lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
        } else if letters.next_if_eq(&'[').is_some() {
            // A color ends with its first letter.
            while letters.next().is_some_and(|letter| !matches!(letter, '@'..='~')) {}
        }
    }
    plain.split(['\n', '\r']).map(str::to_owned).collect()
}

/// Returns whether a line has a text in it, in which `*` stands for any text.
pub fn shows(line: &str, pattern: &str) -> bool {
    let mut rest = line;
    pattern.split('*').all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// Returns how many tests have passed by what well-known runners print, `None` where no line is understood:
/// cargo test and nextest, pytest and unittest, Jest, Vitest, Mocha, node --test, go test, Maven, and Gradle.
///
/// `go test` without `-v` and Gradle name no numbers: a package or a task that ran tests counts as one.
pub fn passed_tests(lines: &[String]) -> Option<u64> {
    let mut counts = Counts::default();
    for line in lines {
        counts.add(line);
    }
    let Counts { sum, go_tests, go_packages, surefire_classes, surefire_totals } = counts;
    let go = go_tests.or(go_packages);
    let all = [sum, go, surefire_totals.or(surefire_classes)];
    all.into_iter().flatten().reduce(u64::saturating_add)
}

/// Returns whether an output says that no test ran.
pub fn ran_no_test(output: &[u8]) -> bool {
    passed_tests(&plain_lines(output)) == Some(0)
}

/// The numbers of the runners, each `None` until a line of it is found.
#[derive(Default)]
struct Counts {
    /// Of those that print each number once.
    sum: Option<u64>,
    go_tests: Option<u64>,
    go_packages: Option<u64>,
    surefire_classes: Option<u64>,
    surefire_totals: Option<u64>,
}

impl Counts {
    fn add(&mut self, whole: &str) {
        let line = whole.trim();
        let passed = || number_before(line, "passed").unwrap_or(0);
        if line.starts_with("test result: ")
            || (line.starts_with("Summary [") && line.contains(" run: "))
            || (is_pytest(line.trim_matches(['=', ' '])))
            || (line.starts_with("Tests:") && line.ends_with(" total"))
            || (line.starts_with("Tests  ") && line.ends_with(')'))
        {
            more(&mut self.sum, passed());
        } else if line.starts_with("Ran ") && line.contains(" test") && line.contains(" in ") {
            let ran = number_before(line, "tests").or_else(|| number_before(line, "test"));
            more(&mut self.sum, ran.unwrap_or(0));
        } else if let Some(pass) =
            line.strip_prefix("# pass ").or_else(|| line.strip_prefix("ℹ pass "))
        {
            more(&mut self.sum, pass.parse().unwrap_or(0));
        } else if line.ends_with(')') && number_before(line, "passing").is_some() {
            more(&mut self.sum, number_before(line, "passing").unwrap_or(0));
        } else if let Some(task) = line.strip_prefix("> Task :") {
            self.gradle(task);
        } else if line.starts_with("--- PASS: ") {
            more(&mut self.go_tests, 1);
        } else if whole.starts_with("ok  \t") {
            more(&mut self.go_packages, u64::from(!line.contains("[no tests to run]")));
        } else if is_nothing(line) {
            more(&mut self.sum, 0);
        } else {
            self.surefire(line);
        }
    }

    /// `> Task :app:test NO-SOURCE`; what is up to date has passed before, with the same files.
    fn gradle(&mut self, task: &str) {
        let (path, state) = task.split_once(' ').unwrap_or((task, ""));
        let name = path.rsplit(':').next().unwrap_or_default();
        if name == "test" || name.ends_with("Test") {
            let ran = !matches!(state, "NO-SOURCE" | "SKIPPED" | "FAILED");
            more(&mut self.sum, u64::from(ran));
        }
    }

    /// `[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 1`, for each class and once more for all.
    fn surefire(&mut self, line: &str) {
        let line = line.split_once("] ").filter(|_| line.starts_with('[')).map_or(line, |it| it.1);
        if !line.starts_with("Tests run:") {
            return;
        }
        let number = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            rest.trim_start().split(|it: char| !it.is_ascii_digit()).next()?.parse::<u64>().ok()
        };
        let lost = ["Failures:", "Errors:", "Skipped:"].map(|name| number(name).unwrap_or(0));
        let passed = number("Tests run:").unwrap_or(0).saturating_sub(lost.iter().sum());
        let of_class = line.contains("Time elapsed");
        more(if of_class { &mut self.surefire_classes } else { &mut self.surefire_totals }, passed);
    }
}

fn more(count: &mut Option<u64>, passed: u64) {
    *count = Some(count.unwrap_or(0).saturating_add(passed));
}

/// The number right before a word, in `12 passed; 0 failed`.
fn number_before(line: &str, word: &str) -> Option<u64> {
    let mut before = "";
    for part in line.split([' ', '\t', ',', ';', '(', ')', '|']).filter(|part| !part.is_empty()) {
        if part == word {
            return before.parse().ok();
        }
        before = part;
    }
    None
}

/// `12 passed, 1 skipped in 0.12s`: nothing but numbers with their word, and the time.
fn is_pytest(line: &str) -> bool {
    let Some((counts, _)) = line.rsplit_once(" in ").filter(|(_, time)| {
        time.starts_with(|it: char| it.is_ascii_digit()) && time.ends_with(['s', ')'])
    }) else {
        return false;
    };
    let is_count = |part: &str| {
        let (number, word) = part.trim().split_once(' ').unwrap_or_default();
        number.parse::<u64>().is_ok() && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    counts == "no tests ran" || counts.split(',').all(is_count)
}

/// What runners say that found no test at all.
fn is_nothing(line: &str) -> bool {
    line.starts_with("No tests found")
        || line.starts_with("No test files found")
        || line.ends_with("[no test files]")
        || line.ends_with("No tests to run.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(output: &str) -> Option<u64> {
        passed_tests(&plain_lines(output.as_bytes()))
    }

    #[test]
    fn what_the_runners_print_is_counted() {
        for (output, count) in [
            // cargo test: one line for each binary.
            (
                "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
                15,
            ),
            (
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s\n",
                0,
            ),
            (
                "\u{1b}[32;1m     Summary\u{1b}[0m [   0.012s] 12 tests run: 12 passed, 0 skipped",
                12,
            ),
            // pytest and unittest
            ("======= 3 failed, 12 passed, 1 warning in 0.52s =======", 12),
            ("============ no tests ran in 0.01s ============", 0),
            ("12 passed in 0.03s", 12),
            ("1 skipped in 0.03s", 0),
            ("4 passed in 75.10s (0:01:15)", 4),
            ("Ran 7 tests in 0.001s\n\nOK", 7),
            ("Ran 1 test in 0.000s\n\nOK", 1),
            ("Ran 0 tests in 0.000s\n\nOK", 0),
            // Jest, Vitest, Mocha, node
            ("Test Suites: 1 passed, 1 total\nTests:       2 skipped, 5 passed, 7 total\n", 5),
            ("No tests found, exiting with code 0", 0),
            (" Test Files  2 passed (2)\n      Tests  9 passed | 1 skipped (10)\n", 9),
            ("No test files found, exiting with code 0", 0),
            ("  8 passing (12ms)\n", 8),
            ("  0 passing (1ms)\n", 0),
            ("# tests 4\n# pass 3\n# fail 1\n", 3),
            ("ℹ tests 0\nℹ pass 0\n", 0),
            // go test
            (
                "ok  \texample.com/a\t0.012s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test files]\n",
                2,
            ),
            (
                "testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.001s [no tests to run]\n",
                0,
            ),
            ("?   \texample.com/c\t[no test files]\n", 0),
            (
                "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n",
                2,
            ),
            // Maven and Gradle
            (
                "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.03 s - in com.A\n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n",
                2,
            ),
            ("[INFO] No tests to run.", 0),
            ("> Task :compileTestJava\n> Task :test\nBUILD SUCCESSFUL in 1s\n", 1),
            ("> Task :test NO-SOURCE\n> Task :app:integrationTest UP-TO-DATE\n", 1),
            ("> Task :test NO-SOURCE\n", 0),
        ] {
            assert_eq!(passed(output), Some(count), "{output}");
        }
    }

    #[test]
    fn what_no_runner_prints_is_no_number() {
        for output in [
            "",
            "all checks passed\n",
            "12 passed",
            "built 3 passed items in the shop",
            "ok 1 - first\n1..1\n",
            "Tests are good",
            "> Task :compileTestJava\nBUILD SUCCESSFUL in 1s\n",
        ] {
            assert_eq!(passed(output), None, "{output}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text_of_one_line() {
        for (line, pattern, is_there) in [
            ("test result: ok. 12 passed; 0 failed", "ok. * passed; 0 failed", true),
            ("test result: ok. 12 passed; 1 failed", "ok. * passed; 0 failed", false),
            ("passed ok.", "ok.*passed", false),
            ("aXb", "a*b", true),
            ("ab", "a*b", true),
            ("x", "*x*", true),
            ("a.b", "a?b", false),
        ] {
            assert_eq!(shows(line, pattern), is_there, "{line} {pattern}");
        }
    }
}
