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

/// What a command that passed shows of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestsRun {
    /// So many passed.
    Counted(u64),
    /// None ran, or all were skipped; or a program that is known to run tests printed nothing at all.
    None,
    /// It is known to run tests, and its output names no number that is understood.
    Uncounted,
    /// Nobody knows whether it runs tests.
    Unknown,
}

/// Lines of well-known runners: in those with no letter before them `+` is the number of tests and `-` one that is taken off, and
/// `*` is any text. With `p` or `P` the number stands before `passed` or `Passed`; with `1` the line counts as one, with `0` as none.
const LINES: [(&str, &str); 48] = [
    ("p", "test result: *"),
    ("p", "Summary [* run: *"),
    ("p", "Tests:*total"),
    ("p", "Tests  *)"),
    ("P", "SUCCESS! *"),
    ("", "Ran + test* in *"),
    ("", "OK (skipped=-)"),
    ("", "Ran + tests containing * assertions."),
    ("", "# pass +"),
    ("", "\u{2139} pass +"),
    ("", "+ passing (*)"),
    ("", "+ example*, * failure*, - pending"),
    ("", "+ example*, * failure*"),
    ("", "+ runs, * assertions, * errors, - skips"),
    ("", "OK (+ test*)"),
    ("", "Tests: +, Assertions: *, Skipped: -."),
    ("", "Passed! *Passed:+,*"),
    ("0", "Skipped! *"),
    ("", "*% tests passed, * tests failed out of +"),
    ("", "Executed + test*, with - test* skipped and *"),
    ("", "Executed + test*, with * failure*"),
    ("", "Executed + of * SUCCESS*"),
    ("", "+ tests, * failures, - skipped"),
    ("", "+ tests, * failures, - excluded"),
    ("", "+ tests, * failures, - excluded, - skipped"),
    ("", "+ test*, * failure*"),
    ("", "+ tests passed"),
    ("", "ok | + passed*"),
    ("", "+ pass"),
    ("", "[  PASSED  ] + test*"),
    ("", "All tests passed (* assertion* in + test case*"),
    ("", "All + tests passed*"),
    ("", "+ passed (*s)"),
    ("", "Files=*, Tests=+,*"),
    ("", "[ FAIL *PASS + ]"),
    ("", "Tests: succeeded +, *"),
    ("", "+ successes / *"),
    ("0", "*[no test files]"),
    ("0", "No test*found*"),
    ("0", "No test matches *"),
    ("0", "no tests ran*"),
    ("0", "*No tests to run."),
    ("0", "No tests were *"),
    ("0", "No tests executed*"),
    ("0", "1..0*"),
    ("0", "ok + *# skip*"),
    ("0", "ok + *# SKIP*"),
    ("1", "ok + *"),
];
/// What the first word, or the first two, of a command are that runs tests and says how many.
const RUNNERS: &str = " ava|busted|cargo nextest|cargo test|ctest|cypress run|deno test|dotnet test|go test|gradle test|jest|mix test|\
    mocha|mvn test|node --test|npm test|phpunit|playwright test|pnpm test|prove|pytest|rspec|swift test|tox|unittest|vitest|yarn test|\
    zig test|bun test|bats|karma start|flutter test|dart test|nose2|rake test|minitest|";

/// Returns what the output of this command, which passed, shows of tests.
pub fn tests_run(command: &str, output: &[u8]) -> TestsRun {
    let lines = plain_lines(output);
    match passed_tests(&lines) {
        Some(0) => TestsRun::None,
        Some(passed) => TestsRun::Counted(passed),
        None if !is_runner(command) => TestsRun::Unknown,
        None if lines.iter().all(|line| line.trim().is_empty()) => TestsRun::None,
        None => TestsRun::Uncounted,
    }
}

/// Returns whether this command passed without running a test.
pub fn ran_no_test(command: &str, output: &[u8]) -> bool {
    tests_run(command, output) == TestsRun::None
}

/// Whether one of its words, with or without the next one, is a program that runs tests.
fn is_runner(command: &str) -> bool {
    let words: Vec<&str> =
        command.split(|it: char| it.is_whitespace() || ";&|()\"'".contains(it)).collect();
    let is_one = |name: &str| !name.is_empty() && RUNNERS.contains(&["|", name, "|"].concat());
    let name = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
    words.iter().any(|word| is_one(&name(word)))
        || words.windows(2).any(|two| is_one(&[&name(&two[0]), " ", two[1]].concat()))
}

/// Returns how many tests have passed by what well-known runners print, `None` where no line is understood.
///
/// `go test` without `-v` and Gradle name no numbers: a package or a task that ran tests counts as one.
pub fn passed_tests(lines: &[String]) -> Option<u64> {
    let (mut sum, mut go, mut maven) = (None, [None; 2], [None; 2]);
    for whole in lines {
        let line = whole.trim();
        if let Some(task) = line.strip_prefix("> Task :") {
            more(&mut sum, of_gradle(task));
        } else if line.starts_with("--- PASS: ") || line.starts_with("--- SKIP: ") {
            more(&mut go[0], Some(i64::from(line.starts_with("--- PASS"))));
        } else if whole.starts_with("ok  \t") {
            more(&mut go[1], Some(i64::from(!line.contains("[no tests to run]"))));
        } else if let Some(at) = line.find("Tests run:") {
            let is_of_class = line.contains("Time elapsed");
            more(
                &mut maven[usize::from(is_of_class)],
                numbers(&line[at..], "Tests run:+, Failures:-, Errors:-, Skipped:-*"),
            );
        } else if is_pytest(line.trim_matches(['=', ' '])) {
            more(&mut sum, Some(number_before(line, "passed").unwrap_or(0)));
        } else {
            let found = LINES.iter().find_map(|(kind, row)| {
                let count = numbers(line, row)?;
                Some(match *kind {
                    "" => count,
                    "p" => number_before(line, "passed").unwrap_or(0),
                    "P" => number_before(line, "Passed").unwrap_or(0),
                    _ => i64::from(*kind == "1"),
                })
            });
            more(&mut sum, found);
        }
    }
    let all = [sum, go[0].or(go[1]), maven[0].or(maven[1])];
    all.into_iter().flatten().reduce(i64::saturating_add).map(|it| it.max(0).unsigned_abs())
}

fn more(count: &mut Option<i64>, passed: Option<i64>) {
    if let Some(passed) = passed {
        *count = Some(count.unwrap_or(0).saturating_add(passed));
    }
}

/// The number in a line of this form, `None` for another line: `+` counts, `-` is taken off, `*` is any text.
fn numbers(line: &str, row: &str) -> Option<i64> {
    let (mut rest, mut sum, mut is_open) = (line, 0_i64, false);
    for piece in row.split_inclusive(['+', '-', '*']) {
        let sign = piece.chars().next_back().filter(|it| "+-*".contains(*it));
        let text = piece.trim_end_matches(['+', '-', '*']);
        let at = match (is_open, sign) {
            (true, None) => rest.ends_with(text).then(|| rest.len() - text.len())?,
            (true, _) => rest.find(text)?,
            (false, _) => rest.starts_with(text).then_some(0)?,
        };
        rest = &rest[at + text.len()..];
        is_open = sign == Some('*');
        if let Some(sign @ ('+' | '-')) = sign {
            let rest_of = rest.trim_start();
            let end = rest_of.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest_of.len());
            let number: i64 = rest_of[..end].parse().ok()?;
            sum += if sign == '+' { number } else { -number };
            rest = &rest_of[end..];
        }
    }
    (is_open || rest.is_empty()).then_some(sum)
}

/// `:app:test NO-SOURCE`; what is up to date has passed before, with the same files.
fn of_gradle(task: &str) -> Option<i64> {
    let (path, state) = task.split_once(' ').unwrap_or((task, ""));
    let name = path.rsplit(':').next().unwrap_or_default();
    let is_test = name == "test" || name.ends_with("Test");
    is_test.then(|| i64::from(!matches!(state, "NO-SOURCE" | "SKIPPED" | "FAILED")))
}

/// The number right before a word, in `12 passed; 0 failed`.
fn number_before(line: &str, word: &str) -> Option<i64> {
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
            ("No test matches the given testcase filter `None` in a.dll", 0),
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
            // Others
            ("Ran 3 tests in 0.001s\n\nOK (skipped=3)\n", 0),
            ("--- SKIP: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n", 0),
            ("12 examples, 0 failures, 2 pending\n", 10),
            ("7 examples, 0 failures\n", 7),
            ("6 runs, 9 assertions, 0 failures, 0 errors, 1 skips\n", 5),
            ("OK (5 tests, 9 assertions)\n", 5),
            ("Tests: 3, Assertions: 0, Skipped: 3.\n", 0),
            ("Passed!  - Failed:     0, Passed:     4, Skipped:     1, Total:     5\n", 4),
            ("100% tests passed, 0 tests failed out of 6\n", 6),
            ("Executed 4 tests, with 0 failures (0 unexpected) in 0.1 seconds\n", 4),
            ("Executed 4 tests, with 1 test skipped and 0 failures (0 unexpected)\n", 3),
            ("5 tests, 0 failures, 1 skipped\n", 4),
            ("5 tests, 0 failures, 2 excluded\n", 3),
            ("5 tests, 0 failures, 2 excluded, 1 skipped\n", 2),
            ("ok | 8 passed | 0 failed (12ms)\n", 8),
            ("[  PASSED  ] 9 tests.\n", 9),
            ("All tests passed (3 assertions in 2 test cases)\n", 2),
            ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 5 ]\n", 5),
            ("1..2\nok 1 - first\nok 2 # skip later\n", 1),
            ("SUCCESS! -- 3 Passed | 0 Failed | 0 Pending | 0 Skipped\n", 3),
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
            "Tests are good",
            "> Task :compileTestJava\nBUILD SUCCESSFUL in 1s\n",
        ] {
            assert_eq!(passed(output), None, "{output}");
        }
    }

    #[test]
    fn a_runner_without_a_test_has_not_passed() {
        for (command, output, run) in [
            ("python3 -m unittest", "", TestsRun::None),
            ("cd app && npx jest", "\n", TestsRun::None),
            ("pytest -qq", "...\n", TestsRun::Uncounted),
            ("npm test", "> app@1.0.0 test\n", TestsRun::Uncounted),
            ("sh check.sh", "", TestsRun::Unknown),
            ("grep -q x tests.txt", "", TestsRun::Unknown),
            ("sh check.sh", "3 passed in 0.1s", TestsRun::Counted(3)),
        ] {
            assert_eq!(tests_run(command, output.as_bytes()), run, "{command}");
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
