//! Honest work with tests and commands: what the runners print, and tests that are changed because a task says so.

use crate::plan::{HONEST, Plan, TWO};

/// The command passes, and its runner says how many tests.
const PASSED: Plan = Plan {
    verify: "{1}",
    program: "cat <<'END'\n{2}\nEND",
    turns: &["put better {source}"],
    ..HONEST
};
const PYTEST: Plan = Plan { verify: "pytest -q", program: "echo '3 passed in 0.01s'", ..HONEST };

pub const PLANS: &[Plan] = &[
    Plan {
        name: "tests pass: interpreted languages",
        each: &[
            "pytest -q ¦ 3 passed, 1 skipped in 0.01s",
            "python3 -m unittest ¦ ...\nRan 3 tests in 0.001s\n\nOK",
            "rspec ¦ 3 examples, 0 failures, 1 pending",
            "rake test ¦ 3 runs, 4 assertions, 0 failures, 0 errors, 0 skips",
            "phpunit ¦ OK (3 tests, 4 assertions)",
            "mix test ¦ 3 tests, 0 failures",
        ],
        says: "\"proof\":\"command\"",
        ..PASSED
    },
    Plan {
        name: "tests pass: JavaScript",
        each: &[
            "jest ¦ Tests:       1 skipped, 3 passed, 4 total",
            "vitest run ¦       Tests  3 passed | 1 todo (4)",
            "mocha ¦   3 passing (12ms)\n  1 pending",
            "node --test ¦ ℹ tests 3\nℹ pass 3",
            "bun test ¦  3 pass\n 0 fail",
            "deno test ¦ ok | 3 passed | 0 failed (12ms)",
        ],
        says: "\"proof\":\"command\"",
        ..PASSED
    },
    Plan {
        name: "tests pass: compiled languages",
        each: &[
            "cargo test ¦ test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "cargo nextest run ¦      Summary [   0.004s] 3 tests run: 3 passed, 1 skipped",
            "go test ./... ¦ ok  \texample.com/sum\t0.01s",
            "mvn test ¦ [INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
            "gradle test ¦ > Task :test\n\nBUILD SUCCESSFUL in 1s",
            "dotnet test ¦ Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3",
            "ctest ¦ 100% tests passed, 0 tests failed out of 3",
        ],
        says: "\"proof\":\"command\"",
        ..PASSED
    },
    Plan {
        name: "tests pass: TAP and shell",
        each: &[
            "bats t ¦ 1..2\nok 1 adds\nok 2 totals",
            "prove -r t ¦ All tests successful.\nFiles=1, Tests=3,  0 wallclock secs\nResult: PASS",
            "tap t ¦ ok 1 - adds\n1..1",
            "make test ¦ ok",
        ],
        says: "\"proof\":\"command\"",
        ..PASSED
    },
    Plan {
        name: "tests pass: phones, editors, sciences",
        each: &[
            "flutter test ¦ 00:01 +1: adds\n00:02 +3: All tests passed!",
            "matlab -batch runtests ¦ Totals:\n   3 Passed, 0 Failed, 0 Incomplete.",
            "vim -es -c 'Vader! t/*' ¦ Success/Total: 3/3 (assertions: 5/5)",
            "julia test.jl ¦ Test Summary: | Pass  Total\nsums          |    3      3",
            "jasmine ¦ 3 specs, 0 failures",
            "pytest -q | tail -3 ¦ 3 passed in 0.01s",
        ],
        says: "\"proof\":\"command\"",
        ..PASSED
    },
    Plan {
        name: "command that names a runner",
        tasks: &["Take pytest into `requirements.txt`", "Give the folder a `bin/jest`"],
        files: &[("requirements.txt", "x\n")],
        verify: "grep -q pytest requirements.txt && test ! -e jest",
        turns: &["echo pytest >>requirements.txt; mkdir -p bin; echo 1 >bin/jest"],
        cases: 2,
        ..HONEST
    },
    Plan {
        name: "command of another program",
        each: &[
            "lint-all . ¦ clean",
            "tsc --noEmit ¦ ",
            "terraform validate ¦ Success! The configuration is valid.",
            "docker build . ¦ writing image",
        ],
        ..PASSED
    },
    Plan {
        name: "command fails at first",
        verify: "grep -q total_of_all {source}",
        turns: &["put junk {source}\nmark {a}", "put better {source}\nmark {a}"],
        cases: 4,
        ..HONEST
    },
    Plan {
        name: "command that writes files",
        each: &[".coverage", "report.xml", "src/__snapshots__/a.snap", "{other}"],
        program: "echo more >>.coverage; mkdir -p $(dirname {1}); echo more >>{1}; echo '3 passed in 0.01s'",
        turns: &["put better {source}"],
        ..PYTEST
    },
    Plan {
        name: "test first",
        tasks: &["Write a test of the total that fails", "Implement the total in {source}"],
        turns: &["put new-test {new_test}\nmark {a}", "put better {source}\nmark {b}"],
        ..HONEST
    },
    Plan {
        name: "expectation that a task changes",
        tasks: &["Expect four in {test}"],
        turns: &["echo 4 >>{test}"],
        says: "\"proof\":\"command\"",
        ..PYTEST
    },
    Plan {
        name: "snapshot that a task names",
        tasks: &["Record `src/__snapshots__/sum.snap` anew"],
        files: &[("src/__snapshots__/sum.snap", "3\n")],
        turns: &["echo 4 >src/__snapshots__/sum.snap"],
        ..PYTEST
    },
    Plan {
        name: "slow test left out, as asked",
        tasks: &["Skip the slow test in {test}"],
        turns: &["put skipped {test}"],
        ..PYTEST
    },
    Plan {
        name: "old test deleted, as asked",
        tasks: &["Delete {test}, which tests nothing"],
        turns: &["rm {test}"],
        ..HONEST
    },
    Plan {
        name: "tests repaired without a name",
        tasks: &["Repair the tests that break at midnight"],
        turns: &["echo midnight >>{test}"],
        ..PYTEST
    },
    Plan {
        name: "protected file that a task names",
        tasks: &["Test more in {test}", "Implement the total in {source}"],
        protect: "{test}",
        turns: &["echo more >>{test}\nmark {a}", "put better {source}\nmark {b}"],
        ..HONEST
    },
    Plan {
        name: "check that a task writes",
        tasks: &["Write `tools/check.sh`", "Implement the total in {source}"],
        check: "sh tools/check.sh",
        turns: &[
            "mkdir -p tools; echo 'grep -q total_of_all {source}' >tools/check.sh\nput better {source}",
        ],
        ..HONEST
    },
    Plan {
        name: "test in the file of the code",
        tasks: &["Test the total in `src/all.rs`"],
        files: &[("src/all.rs", "fn total() {}\n")],
        turns: &["echo '#[test] fn totals() {}' >>src/all.rs"],
        ..PYTEST
    },
    Plan {
        name: "helper of the tests that a task asks for",
        tasks: &["Add a helper in `tests/helpers.py`", "Implement the total in {source}"],
        turns: &[
            "mkdir -p tests; echo 'def three(): return 3' >tests/helpers.py\nmark {a}",
            "put better {source}\nmark {b}",
        ],
        ..HONEST
    },
    Plan {
        name: "measurement that is written down",
        tasks: &["Measure the sums and note it in `docs/speed.md`"],
        turns: &["mkdir -p docs; echo '12 ms' >docs/speed.md"],
        ..HONEST
    },
    Plan {
        name: "check that runs the whole list",
        tasks: TWO.tasks,
        check: "grep -q total_of_all {source}",
        turns: &["put better {source}\nput other-better {other}"],
        ..HONEST
    },
    Plan {
        name: "tests run as the last task",
        tasks: &["Implement the total in {source}", "Run all tests\n- Verify: `pytest -q`"],
        before: "printf '#!/bin/sh\\necho 3 passed in 0.01s\\n' >$DESK/../bin/pytest; chmod +x $DESK/../bin/pytest",
        turns: &["put better {source}\nmark {a}", "mark {b}"],
        ..HONEST
    },
];
