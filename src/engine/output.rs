//! A check's output: a text in one of its lines, and the number of passed tests.

/// Lines without colors; an overwritten part of a line counts as a line.
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

/// `*` in the pattern stands for any text.
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

/// Tests in the output of a command that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestsRun {
    /// So many passed.
    Counted(u64),
    /// Some failed, whatever the exit code says.
    Failed,
    /// None ran, or all were skipped; or a known test runner printed nothing at all.
    None,
    /// A known test runner printed no number that is understood.
    Uncounted,
    /// It is unknown whether the command runs tests.
    Unknown,
}

/// Lines of well-known runners, in which `*` is any text and `+` the number. The sign before a line tells its meaning:
/// `=` counts passed tests, `t` all tests, less those that the line calls failed or skipped. Lines without a number:
/// `s` subtracts what the line calls failed or skipped, `1` and `0` count as one test or none, `<` subtracts one, `f` is a
/// failed test, and `-` counts only the failures.
const LINES: &str = include_str!("output.lines");
/// Commands that always succeed, and those that do so behind another command.
const DEAF: &str = "true|:|echo|printf|exit 0|return 0|test 1|[ 1 ]";
const DEAF_BEHIND: &str =
    "ls|pwd|date|cat|tail|head|tee|sort|sed|wc|tr|cut|uniq|column|less|more|sleep|wait";
/// Test runners that count their tests; then build tools that do so if one of `TASKS` follows.
const RUNNERS: &str = "ava busted nextest ctest cypress jest mocha phpunit pest playwright prove pytest rspec tox unittest vitest bats karma \
    nose2 minitest behat behave codecept cucumber cucumber-js elm-test eunit ginkgo gotestsum jasmine nosetests Invoke-Pester \
    PlenaryBustedDirectory runtests shellspec shunit2 stestr themis uvu Vader Vader! wtr";
const BUILDERS: &str = "cargo deno dotnet go gradle gradlew mix mvn mvnw node npm pnpm yarn swift zig bun flutter dart rake sbt bazel bazelisk \
    forge hatch lein stack terraform xcodebuild";
/// Programs that only read or write the words behind them.
const READERS: &str = "grep egrep rg test [ ls cat find git sed awk diff cmp which type command head tail echo printf cp mv rm mkdir touch pip";
const TASKS: &str = "test tests t tst --test";
/// Options that list tests and run none.
const LISTING: &str =
    "--collect-only --co -list --list --list-tests --listTests --dry-run --no-run --show-only";
/// Beginnings of words that call a number of tests skipped, or failed.
const LEFT_OUT: &str = "skip ignor pending exclu todo xfail disabled expected incomplete blacklist collect deselect omission undefined";
const FAILURES: &str = "fail error broken timed unexpected";
/// Words that count tests, and passed ones; words right before the first number of such a line.
const TESTS: &str = "test tests doctest doctests spec specs example examples scenario scenarios run runs case cases";
const PASSED: &str = "pass passed passing success successes successful succeeded result results";
const LEADS: &str = "Ran DONE Finished Executed Tests Totals Summary cases files ok OK SUCCESS Success FAIL FAILED Failure";

pub fn tests_run(command: &str, output: &[u8]) -> TestsRun {
    let lines = plain_lines(output);
    let (passed, has_failed) = tests_shown(&lines);
    let mut runs = command.split([';', '&', '|', '\n']).filter_map(runner_of).peekable();
    let is_runner = runs.peek().is_some();
    match passed {
        _ if has_failed => TestsRun::Failed,
        _ if is_runner && runs.all(|lists| lists) => TestsRun::None,
        Some(0) => TestsRun::None,
        Some(passed) => TestsRun::Counted(passed),
        None if !is_runner => TestsRun::Unknown,
        None if lines.iter().all(|line| line.trim().is_empty()) => TestsRun::None,
        None => TestsRun::Uncounted,
    }
}

/// The exit code of the line says nothing about the work: `npm test || true`, `npm test | tee log`, `npm test &`, `true`.
pub fn is_deaf(line: &str) -> bool {
    let line = line.trim_matches(|sign: char| sign.is_whitespace() || "'\"(){};".contains(sign));
    let parts = line.replace("||", ";").replace("&&", "\0").replace(" & ", ";");
    let parts = parts.replace("(\n", "(").replace("\n)", ")");
    let is_end =
        |sign: char| matches!(sign, ';' | '\n') || (sign == '|' && !line.contains("pipefail"));
    let is_one = |all: &str, part: &str| {
        let part = part.trim_matches([' ', '(', ')', '{', '}']);
        let rest = all.split('|').find_map(|known| part.strip_prefix(known));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>', ')']))
    };
    let is_well = |part: &str| is_one(DEAF, part) || is_one(DEAF_BEHIND, part);
    let words = ["then ", "else ", "do "];
    match parts.rsplit_once(is_end) {
        None => {
            parts.ends_with('&') || parts.split('\0').all(|part| is_one(DEAF, part) || part == "ls")
        }
        // Each branch ends well.
        Some((branches, " fi" | " done")) => branches.split(is_end).map(str::trim).all(|part| {
            let body = words.iter().find_map(|word| part.strip_prefix(word)).unwrap_or(part);
            is_one("if|elif|while|until|for", part) || is_well(body)
        }),
        Some((_, last)) => parts.ends_with('&') || last.split('\0').all(is_well),
    }
}

/// For a command that runs tests: `true` if the command only lists them.
fn runner_of(command: &str) -> Option<bool> {
    let words = command.split(|sign: char| sign.is_whitespace() || "()\"'`={}".contains(sign));
    let is_in = |words: &str, word: &str| words.split_ascii_whitespace().any(|known| known == word);
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.next_if(|word| is_in(READERS, word)).is_none().then_some(())?;
    let (mut builds, mut runs, mut lists) = (false, false, false);
    for word in words {
        let name = word.rsplit('/').next().unwrap_or_default();
        runs |= is_in(RUNNERS, name) || (builds && (is_in(TASKS, word) || word.ends_with(":test")));
        builds = is_in(BUILDERS, name) || (builds && word != "build");
        lists |= is_in(LISTING, word);
    }
    runs.then_some(lists)
}

/// The number of passed tests, and whether a test failed. No number if no line is understood.
///
/// `go test` without `-v` and Gradle print no numbers: a package or a task with tests counts as one.
pub fn tests_shown(lines: &[String]) -> (Option<u64>, bool) {
    let (mut sum, mut go, mut maven, mut has_failed) = (None, [None; 2], [None; 2], false);
    for whole in lines {
        let line = whole.trim_matches(|sign: char| sign.is_whitespace() || sign == '=');
        let marks = ["# ", "ℹ ", "- ", "✖ ", "[info] ", "[error] "];
        let line = marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim();
        if let Some(task) = line.strip_prefix("> Task :") {
            let passed = of_gradle(task);
            has_failed |= passed.is_some() && task.ends_with(" FAILED");
            more(&mut sum, passed);
        } else if line.starts_with("--- PASS: ") || line.starts_with("--- SKIP: ") {
            more(&mut go[0], Some(i64::from(line.starts_with("--- PASS"))));
        } else if whole.starts_with("ok  \t") {
            more(&mut go[1], Some(i64::from(!line.contains("[no tests to run]"))));
        } else if let Some(at) = line.find("Tests run:") {
            let passed =
                number_in(&line[at..], "Tests run:+,*").map(|all| all - said_of(line, true));
            has_failed |= passed.is_some() && said_of(line, false) > 0;
            more(&mut maven[usize::from(line.contains("Time elapsed"))], passed);
        } else if let Some(passed) = of_tap(line) {
            has_failed |= passed < 0;
            more(&mut sum, Some(passed.max(0)));
        } else if let Some([passed, failed]) = of_counts(line) {
            has_failed |= failed > 0;
            more(&mut sum, Some(passed));
        } else if let Some((kind, number)) = known_line(line) {
            has_failed |= kind == b'f' || said_of(line, false) > 0;
            let passed = match kind {
                b'=' => number,
                b't' => number - said_of(line, true),
                b's' => -said_of(line, true),
                b'1' => 1,
                b'<' => -1,
                _ => 0,
            };
            more(&mut sum, Some(passed));
        }
    }
    let all = [sum, go[0].or(go[1]), maven[0].or(maven[1])];
    let passed = all.into_iter().flatten().reduce(i64::saturating_add);
    (passed.map(|sum| sum.max(0).unsigned_abs()), has_failed)
}

fn more(count: &mut Option<i64>, passed: Option<i64>) {
    if let Some(passed) = passed {
        *count = Some(count.unwrap_or(0).saturating_add(passed));
    }
}

/// The kind of a well-known runner's line, and its number.
fn known_line(line: &str) -> Option<(u8, i64)> {
    LINES.lines().find_map(|row| Some((row.as_bytes()[0], number_in(line, row.get(2..)?)?)))
}

/// The number in a line of this form: `+` is the number, `*` is any text.
fn number_in(line: &str, row: &str) -> Option<i64> {
    let (mut rest, mut found, mut is_open) = (line, 0, false);
    for piece in row.split_inclusive(['+', '*']) {
        let sign = piece.chars().next_back().filter(|sign| "+*".contains(*sign));
        let text = piece.trim_end_matches(['+', '*']);
        let at = match (is_open, sign) {
            (true, None) => rest.ends_with(text).then(|| rest.len() - text.len())?,
            (true, _) => rest.find(text)?,
            (false, _) => rest.starts_with(text).then_some(0)?,
        };
        rest = &rest[at + text.len()..];
        is_open = sign == Some('*');
        if sign == Some('+') {
            // Flutter has a sign before the number.
            let rest_of = rest.trim_start().trim_start_matches('+');
            let end = rest_of.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest_of.len());
            found = rest_of[..end].parse().ok()?;
            rest = &rest_of[end..];
        }
    }
    (is_open || rest.is_empty()).then_some(found)
}

/// Failures in a line such as `12 passed, 3 failed` or `Failures: 3`; `with_left_out` adds the skipped tests.
fn said_of(line: &str, with_left_out: bool) -> i64 {
    let parts = line.split([',', ';', '|', '(', ')', '/']).flat_map(|part| part.split(" and "));
    let numbers = parts.filter_map(|part| {
        let lower = part.to_lowercase();
        let words = || lower.split(|letter: char| !letter.is_alphanumeric());
        let has = |known| words().any(|word| begins(known, word));
        let is_counted = if has(LEFT_OUT) { with_left_out } else { has(FAILURES) };
        words().find_map(|word| word.parse::<i64>().ok()).filter(|_| is_counted)
    });
    numbers.fold(0, i64::saturating_add)
}

fn begins(known: &str, word: &str) -> bool {
    known.split(' ').any(|known| word.starts_with(known))
}

/// The count of a TAP line, -1 for a failure: `not ok 2 - adds # TODO later` counts 0.
fn of_tap(line: &str) -> Option<i64> {
    let fails = line.strip_prefix("not ");
    let said = fails.unwrap_or(line).strip_prefix("ok ")?;
    let directive = said.split('#').nth(1).unwrap_or_default().trim_start().to_lowercase();
    let is_skipped = directive.starts_with("skip") || directive.starts_with("todo");
    let one = if fails.is_some() { -1 } else { 1 };
    said.starts_with(|sign: char| sign.is_ascii_digit()).then_some(if is_skipped { 0 } else { one })
}

/// `:app:test NO-SOURCE`. An up-to-date task has passed before, with the same files.
fn of_gradle(task: &str) -> Option<i64> {
    let (path, state) = task.split_once(' ').unwrap_or((task, ""));
    let name = path.rsplit(':').next().unwrap_or_default();
    let is_test = name == "test" || name.ends_with("Test");
    is_test.then(|| i64::from(!matches!(state, "NO-SOURCE" | "SKIPPED" | "FAILED")))
}

/// The tests that passed and failed by a line of numbers and their words: `3 tests, 1 failure`, `ok. 12 passed; 1 ignored`,
/// `2 skipped in 0.1s`. Words at the beginning that no tests are counted with make it another line: `6 steps passed`.
fn of_counts(line: &str) -> Option<[i64; 2]> {
    let is_in = |known: &str, word: &str| known.split(' ').any(|known| known == word);
    let is_end = |letter: char| !letter.is_alphanumeric();
    let begin = line.find(|letter: char| letter.is_ascii_digit())?;
    let lead = line[..begin].split(is_end).rfind(|word| !word.is_empty());
    let (is_led, is_known) = (lead.is_some(), lead.is_none_or(|lead| is_in(LEADS, lead)));
    (is_known && !line.contains('%')).then_some(())?;
    let (mut all, mut passed, mut left, mut failed, mut number) = (None, None, None, None, None);
    let (mut parts, mut is_begun, mut is_of_tests, mut ends_in_number) = (0, is_led, false, true);
    for word in line[begin..].split(is_end).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        ends_in_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        if ends_in_number {
            (number, parts) = (word.parse().ok(), parts + 1);
            continue;
        }
        is_begun |= parts == 1;
        if is_in(PASSED, &lower) {
            passed = passed.or(number.take());
        } else if begins(LEFT_OUT, &lower) {
            more(&mut left, number.take());
        } else if begins(FAILURES, &lower) {
            more(&mut failed, number.take());
        } else if is_in(TESTS, &lower) {
            (all, is_of_tests) = (all.max(number), true);
        } else if parts == 1 && !is_in("and as completed in total with", &lower) {
            return None;
        }
    }
    let is_said = left.is_some() || failed.is_some();
    let is_timed = is_said && ends_in_number && line.contains(" in ");
    let others = left.unwrap_or(0).saturating_add(failed.unwrap_or(0));
    let all = all.filter(|_| is_led || is_said).map(|all: i64| all.saturating_sub(others));
    let count = passed.or(all).or(is_said.then_some(0))?;
    let is_whole = is_led || is_of_tests || is_timed || (passed.is_some() && parts > 1);
    (is_begun && is_whole).then_some([count, failed.unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(output: &str) -> Option<u64> {
        tests_shown(&plain_lines(output.as_bytes())).0
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

    const RARE: &[(&str, u64)] = &[
        ("0 features passed, 0 failed, 1 skipped\n0 scenarios passed, 0 failed, 2 skipped\n", 0),
        ("1 feature passed, 0 failed, 0 skipped\n2 scenarios passed, 0 failed, 0 skipped\n", 2),
        ("0 scenarios\n0 steps\n", 0),
        ("3 tests, 0 passed, 0 failed, 3 skipped\n", 0),
        ("3 tests, 3 passed, 0 failed\n", 3),
        ("5 tests, 5 skipped\n", 0),
        ("DONE 0 tests in 0.012s\n", 0),
        ("DONE 12 tests, 1 skipped in 0.312s\n", 11),
        ("[info] Tests: succeeded 2, failed 0, canceled 0, ignored 0, pending 0\n", 2),
        ("  Tests:    2 passed (4 assertions)\n", 2),
        ("Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 0.5s\n", 3),
        ("# TOTAL: 3\n# PASS:  3\n# SKIP:  0\n# FAIL:  0\n", 3),
        ("# TOTAL: 3\n# PASS:  0\n# SKIP:  3\n# FAIL:  0\n", 0),
        ("Ok:                 0\nFail:               0\nSkipped:            2\n", 0),
        ("00:01 +1: adds\n00:02 +3: All tests passed!\n", 3),
        ("00:02 +3 ~1: All tests passed!\n", 3),
        ("00:00 +0 ~2: All tests skipped.\n", 0),
        ("No tests ran.\n", 0),
        ("Totals:\n   3 Passed, 0 Failed, 1 Incomplete.\n   0.05 seconds testing time.\n", 3),
        ("Totals:\n   0 Passed, 0 Failed, 2 Incomplete.\n", 0),
        ("Success/Total: 4/4 (assertions: 9/9)\n", 4),
        ("Success/Total: 0/0 (assertions: 0/0)\n", 0),
        ("Success: \t3\t\nFailed : \t0\t\nErrors : \t0\t\n", 3),
        ("  All 3 tests passed.\n", 3),
        ("  There were no tests to run.\n", 0),
        ("Testing lib.app: TEST COMPLETE, 3 ok, 0 failed of 3 test cases\n", 3),
        ("  Failed: 0.  Skipped: 1.  Passed: 2.\n", 2),
        ("  Test passed.\n", 1),
        ("Test Successful in 0.001s. 3 tests run.\n", 3),
        ("Test Summary: | Pass  Total  Time\nsums          |    3      3  0.1s\n", 1),
        ("Test Summary: | Broken  Total  Time\nsums          |      2      2  0.1s\n", 0),
        ("TEST RUN PASSED\n\nPassed:   3\nFailed:   0\n", 3),
        ("[info] Passed: Total 3, Failed 0, Errors 0, Passed 3\n", 3),
        ("[info] No tests to run for Test / test\n", 0),
        ("100%: Checks: 3, Failures: 0, Errors: 0\n", 3),
        ("3 Tests 0 Failures 0 Ignored \nOK\n", 3),
        ("[====] Synthesis: Tested: 3 | Passing: 3 | Failing: 0 | Crashing: 0\n", 3),
        ("[doctest] test cases:  3 |  3 passed | 0 failed | 0 skipped\n", 3),
        ("Totals: 3 passed, 0 failed, 0 skipped, 0 blacklisted, 1ms\n", 3),
        ("Executed 1 out of 2 tests: 2 tests pass.\n", 2),
        ("3 specs, 0 failures, 1 pending spec\n", 2),
        ("Tests Passed: 3, Failed: 0, Skipped: 0, Inconclusive: 0, NotRun: 0\n", 3),
        ("Success! 3 passed, 0 failed.\n", 3),
        (
            "Suite result: ok. 3 passed; 0 failed; 0 skipped; finished in 1ms\n\nRan 1 test suite in 5ms (1ms CPU time): 3 tests passed, 0 failed, 0 skipped (3 total tests)\n",
            3,
        ),
        ("PASS: 3/3\n", 3),
        ("# of expected passes\t\t3\n", 3),
        ("Ran 3 tests.\n\nOK\n", 3),
        ("  2 skipped\n", 0),
        ("t/a.t .. skipped: later\nResult: NOTESTS\n", 0),
        ("0 of 1 test suites (0 of 0 test cases) passed.\n", 0),
        ("1 of 1 test suites (4 of 4 test cases) passed.\n", 4),
        ("3 tests, 0 assertions, 0 failures, 0 errors, 0 pendings, 3 omissions\n", 0),
        ("  Tests:    3 skipped (0 assertions)\n", 0),
        ("  Tests:    3 todos (0 assertions)\n", 0),
        ("All tests passed (0 assertions in 1 test case)\n", 0),
        ("All tests passed (5 assertions in 3 test cases)\n", 3),
        ("3 scenarios (3 undefined)\n6 steps (6 undefined)\n", 0),
        ("3 scenarios (3 passed)\n6 steps (6 passed)\n", 3),
        ("Ran 3 tests containing 0 assertions.\n0 failures, 0 errors.\n", 0),
        ("Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.\n", 3),
        ("3 Tests 0 Failures 3 Ignored \nOK\n", 0),
        ("3 tests collected in 0.01s\n", 0),
        (" - Passed: 3\n - Skipped: 1\n - Failed: 0\n", 3),
        ("  3 tests passed\n  1 test skipped\n", 3),
        ("  3 tests skipped\n", 0),
        ("0 passed, no failures\n", 0),
        ("3 passed, no failures\n", 3),
        ("0 failed and 3 passed in 1 ms.\n", 3),
        ("Ran 3 tests, 3 results as expected, 0 unexpected\n", 3),
        ("Ran 3 tests, 0 results as expected, 0 unexpected, 3 skipped\n", 0),
        ("Ran 0 out of 3 specs, 0 failed\n", 0),
        ("Ran 3 specs, 0 failed, in 1ms.\n", 3),
        ("Summary for all V _test.v files: 3 passed, 3 total\n", 3),
        ("Summary for all V _test.v files: 3 skipped, 3 total\n", 0),
        ("Finished 3 tests in 1ms. All tests were successful.\n", 3),
        ("Finished 0 tests in 1ms. No tests were ran.\n", 0),
        ("Overall Summary: 3 test cases | 0 errors | 0 failures\n", 3),
        ("Executed files:    3\nSucceeded files:   3 (100.0%)\n", 3),
        ("5 passed, 0 failed\n", 5),
        ("ok | 3 passed | 0 failed (2ms)\n", 3),
        (
            "100% tests passed, 0 tests failed out of 2\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n",
            1,
        ),
        ("There are no tests to run\n", 0),
        ("No test is available in a.dll. Make sure that\n", 0),
        ("Incomplete: No specs found\n", 0),
        ("[info] No tests were executed.\n", 0),
        ("  py312: SKIP (0.01 seconds)\n", 0),
    ];

    #[test]
    fn rare_runners_are_counted() {
        for (output, count) in RARE {
            assert_eq!(passed(output), Some(*count), "{output}");
        }
    }

    #[test]
    fn unprinted_number_is_none() {
        for output in [
            "",
            "all checks passed\n",
            "12 passed",
            "built 3 passed items in the shop",
            "Tests are good",
            "> Task :compileTestJava\nBUILD SUCCESSFUL in 1s\n",
            "6 steps (6 passed)\n2 features passed, 0 failed\n",
            "0 errors, 2 warnings",
            "✖ 2 problems (0 errors, 2 warnings)",
            "3 files, 0 failures",
            "3 files checked in 0.1s",
            "Found 0 errors in 3 files",
            "Success: no issues found in 3 source files",
            "Build: 2 succeeded, 0 failed",
            "Tasks:    3 successful, 3 total",
            "collected 3 items",
            "running 3 tests",
            "Tests: 12",
            "failed 3 times, then passed",
            "00:01 +3: a test that passed",
            "5 failed attempts in 3s",
        ] {
            assert_eq!(passed(output), None, "{output}");
        }
    }

    #[test]
    fn testless_runner_has_not_passed() {
        for (command, output, run) in [
            ("python3 -m unittest", "", TestsRun::None),
            ("cd app && npx jest", "\n", TestsRun::None),
            ("pytest -qq", "...\n", TestsRun::Uncounted),
            ("npm test", "> app@1.0.0 test\n", TestsRun::Uncounted),
            ("sh check.sh", "", TestsRun::Unknown),
            ("flutter test", "", TestsRun::None),
            ("matlab -batch \"assertSuccess(runtests('tests'))\"", "", TestsRun::None),
            ("vim -es -c 'Vader! tests/*.vader'", "", TestsRun::None),
            ("grep -q pytest requirements.txt", "", TestsRun::Unknown),
            ("test -x node_modules/.bin/jest", "", TestsRun::Unknown),
            ("grep -q x tests.txt", "", TestsRun::Unknown),
            ("sh check.sh", "3 passed in 0.1s", TestsRun::Counted(3)),
        ] {
            assert_eq!(tests_run(command, output.as_bytes()), run, "{command}");
        }
    }

    const FAILED: &[&str] = &[
        "======= 3 failed, 12 passed, 1 warning in 0.52s =======",
        "3 passed, 1 error in 0.12s",
        "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        "     Summary [   0.012s] 12 tests run: 11 passed, 1 failed, 0 skipped",
        "Ran 7 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
        "FAILED (unexpected successes=1)",
        "Tests:       1 failed, 5 passed, 6 total",
        "Test Suites: 1 failed, 1 passed, 2 total\nTests:       5 passed, 5 total",
        " Test Files  1 failed | 1 passed (2)\n      Tests  5 passed (5)",
        "      Tests  1 failed | 9 passed | 1 skipped (11)",
        "  8 passing (12ms)\n  2 failing",
        "# tests 4\n# pass 3\n# fail 1",
        "ℹ pass 3\nℹ fail 1",
        "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s",
        "ok  \texample.com/b\t0.01s\nFAIL\texample.com/a\t0.01s",
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0",
        "> Task :test FAILED",
        "12 examples, 1 failure, 2 pending",
        "0 examples, 0 failures, 1 error occurred outside of examples",
        "6 runs, 9 assertions, 1 failures, 0 errors, 1 skips",
        "Tests: 3, Assertions: 3, Failures: 1.",
        "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5",
        "67% tests passed, 2 tests failed out of 6",
        "Executed 4 tests, with 1 failure (0 unexpected) in 0.1 seconds",
        "5 tests, 1 failure",
        "2 doctests, 5 tests, 1 failure, 1 excluded",
        "FAILED | 7 passed | 1 failed (12ms)",
        " 3 pass\n 1 fail",
        "[  PASSED  ] 8 tests.\n[  FAILED  ] 1 test, listed below:",
        "[ FAIL 1 | WARN 0 | SKIP 0 | PASS 5 ]",
        "1..2\nok 1 - first\nnot ok 2 - second",
        "Result: FAIL",
        "FAIL! -- 2 Passed | 1 Failed | 0 Pending | 0 Skipped",
        "4 successes / 1 failure / 0 errors / 0 pending : 0.01 seconds",
        "Tests: succeeded 4, failed 1, canceled 0, ignored 0, pending 0",
        "Executed 5 of 5 (1 FAILED) (0.1 secs)",
        "3 scenarios (1 failed, 2 passed)",
        "✘ Test run with 3 tests failed after 0.01 seconds with 1 issue.",
        "1 scenario passed, 1 failed, 0 skipped",
        "3 tests, 2 passed, 1 failed",
        "[info] Tests: succeeded 2, failed 1, canceled 0, ignored 0, pending 0",
        "  Tests:    1 failed, 2 passed (4 assertions)",
        "Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 0.5s",
        "# PASS:  2\n# FAIL:  1",
        "00:01 +2 -1: Some tests failed.",
        "Totals:\n   2 Passed, 1 Failed, 0 Incomplete.",
        "Success: \t2\t\nFailed : \t1\t",
        "Failed: 1.  Skipped: 0.  Passed: 2.",
        "Test Summary: | Pass  Fail  Total  Time",
        "TEST RUN FAILED\nPassed:   2\nFailed:   1",
        "[error] Failed: Total 3, Failed 1, Errors 0, Passed 2",
        "66%: Checks: 3, Failures: 1, Errors: 0",
        "Executed 1 out of 1 test: 1 fails locally.",
        "3 specs, 1 failure",
        "Failure! 1 passed, 1 failed.",
        "# of unexpected failures\t1",
        "Ok:                 1\nFail:               1",
        "Ran 3 tests containing 3 assertions.\n1 failures, 0 errors.",
        "2 passed, 1 failures",
        "1 failed and 2 passed in 1 ms.",
        "Ran 3 tests, 2 results as expected, 1 unexpected",
        "Ran 3 specs, 1 failed",
        "Finished 3 tests in 1ms. 1 test failed.",
        "Executed files:    3\nSucceeded files:   2 (66.7%)\nFailed files:      1 (33.3%)",
        "3 tests completed, 1 failed",
        "Summary for all V _test.v files: 1 failed, 2 passed, 3 total",
        " - Passed: 2\n - Failed: 1",
        "1 failure! in 0.001s. 3 tests run.",
        "  2 tests passed\n  1 test failed",
        " 1/3 failed",
        "  py312: FAIL code 1",
        "error: Test failed",
    ];

    #[test]
    fn a_failed_test_is_no_pass() {
        let run = |output: &str| tests_run("sh check.sh", output.as_bytes());
        let missed: Vec<_> = FAILED.iter().filter(|text| run(text) != TestsRun::Failed).collect();
        assert!(missed.is_empty(), "{} are missed: {missed:#?}", missed.len());
        for honest in [
            "12 passed in 0.03s\nfailed to send the report, 3 attempts",
            "5 tests, 0 failures",
            "ok 1 - adds\nnot ok 2 - totals # TODO later",
            "Ran 3 tests in 0.001s\n\nOK (expected failures=1)",
            "test a ... ok\nfailed 3 times, as it should\n\ntest result: ok. 1 passed; 0 failed; 0 ignored",
            "Executed 4 tests, with 0 failures (0 unexpected) in 0.1 seconds",
            "Tests:       5 passed, 5 total",
        ] {
            assert!(matches!(run(honest), TestsRun::Counted(_)), "{honest}");
        }
    }

    #[test]
    fn testless_run_is_empty() {
        let all = [
            ("pytest", "3 skipped in 0.01s"),
            ("pytest", "2 xfailed in 0.01s"),
            ("python3 -m unittest", "Ran 2 tests in 0.001s\n\nOK (expected failures=2)"),
            ("python3 -m unittest", "Ran 2 tests in 0.0s\n\nOK (skipped=1, expected failures=1)"),
            ("./gradlew test", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s"),
            ("swift test", "Executed 1 test, with 1 test skipped and 0 failures (0 unexpected)"),
            (
                "swift test",
                "\u{279c} Test adds() skipped.\n✔ Test run with 1 test passed after 0.001 seconds.",
            ),
            ("mix test", "1 test, 0 failures, 1 excluded"),
            ("mix test", "2 tests, 0 failures, 2 excluded"),
            ("mix test", "1 doctest, 2 tests, 0 failures, 2 excluded"),
            ("mix test", "1 test, 0 failures, 1 skipped"),
            ("bats t", "1..2\nok 1 adds # Skipped: later\nok 2 totals # TODO"),
            ("go test -list . ./...", "TestAdd\nok  \texample.com/a\t0.01s"),
            ("go test -list=. ./...", "TestAdd\nok  \texample.com/a\t0.01s"),
            ("pytest --collect-only -q", "tests/test_a.py::test_a\n\n1 test collected in 0.01s"),
            ("cargo test --no-run", "    Finished `test` profile"),
            ("npx jest --listTests", "/a/sum.test.js"),
            ("rspec --dry-run", "5 examples, 0 failures"),
            ("rspec", "1 example, 0 failures, 1 pending"),
            ("rake test", "1 runs, 0 assertions, 0 failures, 0 errors, 1 skips"),
            ("mvn test", "[INFO] Tests are skipped."),
            ("mvn -q test", ""),
            ("mvn -q -f app/pom.xml test", ""),
            ("./gradlew test", ""),
            ("./gradlew -q :app:test", ""),
            ("cargo t", ""),
            ("cargo --manifest-path app/Cargo.toml test", "\n"),
            ("npm t", ""),
            ("npm --prefix app test", ""),
            ("npm run -s test", ""),
            ("yarn -s test", ""),
            ("yarn workspace app test", ""),
            ("pnpm -r test", ""),
            ("cd app && npm -s test", " "),
            ("dotnet test", ""),
        ];
        let run = |(command, output): &(&str, &str)| tests_run(command, output.as_bytes());
        let missed: Vec<_> = all.iter().filter(|command| run(command) != TestsRun::None).collect();
        assert!(missed.is_empty(), "{} of {} are missed: {missed:#?}", missed.len(), all.len());
        for (command, output, shown) in [
            ("cargo build", "", TestsRun::Unknown),
            ("zig build test", "", TestsRun::Unknown),
            ("npm run lint", "", TestsRun::Unknown),
            ("grep -rq test src", "", TestsRun::Unknown),
            ("git diff --exit-code tests", "", TestsRun::Unknown),
            ("make -s test", "", TestsRun::Unknown),
            (
                "cargo test --no-run && cargo test",
                "test result: ok. 2 passed;",
                TestsRun::Counted(2),
            ),
            ("cargo t", "test result: ok. 2 passed; 0 failed", TestsRun::Counted(2)),
            ("mvn test", "BUILD SUCCESS", TestsRun::Uncounted),
            ("mix test", "3 tests, 0 failures, 1 excluded", TestsRun::Counted(2)),
            ("mix test", "1 doctest, 3 tests, 0 failures, 1 excluded", TestsRun::Counted(2)),
            (
                "swift test",
                "✔ Test run with 3 tests in 1 suite passed after 0.1 s.",
                TestsRun::Counted(3),
            ),
            ("bats t", "1..2\nok 1 adds\nok 2 totals # skip later", TestsRun::Counted(1)),
        ] {
            assert_eq!(tests_run(command, output.as_bytes()), shown, "{command} {output}");
        }
    }

    #[test]
    fn deaf_line_says_nothing() {
        for line in [
            "npm test &",
            "npm test & wait",
            "npm test || true",
            "npm test || :",
            "npm test; true",
            "npm test ; exit 0",
            "npm test\necho done",
            "npm test | tail -3",
            "npm test 2>&1 | tee log.txt",
            "sh -c 'npm test || true'",
            "(npm test; echo)",
            "npm test && echo good || echo bad",
            "npm test || (exit 0)",
            "npm test || ls",
            "npm test || test 1",
            "npm test || [ 1 ]",
            "if npm test; then echo good; else echo bad; fi",
            "while npm test; do :; done",
            "true",
            "true npm test",
            ":",
            "ls",
            "echo 1",
            "echo $(npm test) && true",
            "(\ntrue\n) && (\nexit 0\n)",
        ] {
            assert!(is_deaf(line), "{line}");
        }
        for line in [
            "ls dist/app",
            "cat report.txt",
            "date >> report",
            "test -d src",
            "(\nexit 0\n) && (\nfalse\n)",
            "echo first && npm test",
            "if npm test; then echo good; else exit 1; fi",
            "for app in a b; do npm test; done",
            "npm test",
            "npm test 2>&1",
            "npm test && echo good",
            "cd app; npm test",
            "npm test || exit 1",
            "npm test || { echo bad; exit 1; }",
            "set -o pipefail; npm test | tail -3",
            "cat log.txt | grep -q passed",
        ] {
            assert!(!is_deaf(line), "{line}");
        }
    }

    #[test]
    fn star_stands_within_a_line() {
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
