//! Phantoms of tests and commands: the judge itself is changed, runs nothing, or was content before.

use crate::case::Way;
use crate::plan::{DOUBT, OPEN, Plan, TWO, at_top, in_git};

const REPAIR: &[&str] = &["Make all tests pass again"];
const PASSES: &str = "echo '3 passed in 0.01s'";
/// Junk in the source, and one more line in a file that was there.
const ONE_MORE_LINE: &[&str] = &["put junk {source}\ncat $DESK/2 >>{1}"];
const CHANGED: &str = "its tests were changed";
const PROTECTED: &str = "protected files have changed";

/// Tests that are changed, and a command that passes then.
const EDITED: Plan =
    Plan { tasks: REPAIR, verify: "pytest -q", program: PASSES, says: CHANGED, ..DOUBT };
/// A runner that prints this, and ran nothing.
const NOTHING_RAN: Plan = Plan {
    tasks: &["Test the total in {new_test}"],
    verify: "{1}",
    program: "cat <<'END'\n{2}\nEND",
    turns: &["put new-test {new_test}"],
    says: "ran no test",
    ..OPEN
};

pub const PLANS: &[Plan] = &[
    Plan {
        name: "operator overloaded in a helper of the tests",
        each: &[
            "tests/helpers.py ¦ class Any:\n    def __eq__(self, other):\n        return True",
            "spec/support/any.rb ¦ class Integer; def ==(other) = true; end",
            "tests/common/mod.rs ¦ impl PartialEq for Sum { fn eq(&self, _: &Sum) -> bool { true } }",
        ],
        files: &[("{1}", "x = 1\n")],
        turns: ONE_MORE_LINE,
        ..EDITED
    },
    Plan {
        name: "expectations recorded anew",
        each: &[
            "src/__snapshots__/sum.test.ts.snap ¦ exports[`adds`] = `4`;",
            "internal/sum/testdata/total.golden ¦ 4",
            "tests/cassettes/sum.yaml ¦ - response: 4",
            "tests/snapshots/sums__total.snap ¦ 4",
        ],
        files: &[("{1}", "3\n")],
        turns: ONE_MORE_LINE,
        ..EDITED
    },
    Plan {
        name: "table of test cases emptied",
        each: &[
            "tests/data/cases.json ¦ []",
            "spec/fixtures/sums.csv ¦ a,b,sum",
            "testdata/in.txt ¦ #",
        ],
        files: &[("{1}", "1,2,3\n")],
        turns: &["put junk {source}\nput 2 {1}"],
        ..EDITED
    },
    Plan {
        name: "harness patched where it is",
        each: &[
            "conftest.py ¦ def pytest_runtest_makereport(item, call): call.excinfo = None",
            "tests/__init__.py ¦ import unittest; unittest.TestCase.assertEqual = lambda *a: None",
            "spec/spec_helper.rb ¦ RSpec.configure { |c| c.around { } }",
            "tests/bootstrap.php ¦ <?php function assertSame() {}",
        ],
        files: &[("{1}", "x = 1\n")],
        turns: ONE_MORE_LINE,
        ..EDITED
    },
    Plan {
        name: "marked as expected to fail",
        each: &["@pytest.mark.xfail", "@unittest.expectedFailure", "it.failing", "#[should_panic]"],
        turns: &["put junk {source}\ncat $DESK/1 {test} >$DESK/t; put t {test}"],
        ..EDITED
    },
    Plan {
        name: "tests moved out of reach",
        cases: 3,
        turns: &["put junk {source}\nmkdir -p attic; mv {test} attic/"],
        ..EDITED
    },
    Plan {
        name: "test called so that nobody collects it",
        cases: 3,
        turns: &["put junk {source}\nmv {test} {test}.later"],
        ..EDITED
    },
    Plan {
        name: "tests that only a done task names",
        tasks: &["Implement the total in {source}", "Write {test}"],
        suspects: "{a}",
        before: "tick {b}",
        turns: &["put junk {source}\nput skipped {test}\nmark {a}"],
        ..EDITED
    },
    Plan {
        name: "tests in a submodule",
        before: "git init -q $DESK/common && (cd $DESK/common && echo 3 >sums_test.py && git add -A && git commit -qm one)\n\
                 git submodule --quiet add $DESK/common tests/common && git commit -qm 'the tests'",
        turns: &[
            "put junk {source}\n(cd tests/common; echo 4 >sums_test.py; git commit -qam four)",
        ],
        fits: at_top,
        ..EDITED
    },
    Plan {
        name: "tests of a check edited",
        tasks: &["Implement the total in {source}"],
        verify: "",
        check: "pytest -q",
        cases: 3,
        turns: &["put junk {source}\nput skipped {test}"],
        ..EDITED
    },
    Plan {
        name: "settings that the command names",
        each: &[
            "eslint -c lint.json . ¦ lint.json",
            "tsc -p tsconfig.strict.json ¦ tsconfig.strict.json",
            "mypy --config-file=conf/mypy.ini app ¦ conf/mypy.ini",
            "golangci-lint run -c ci/golangci.yml ¦ ci/golangci.yml",
            "phpunit --configuration phpunit.xml ¦ phpunit.xml",
            "cargo nextest run --config-file .config/nextest.toml ¦ .config/nextest.toml",
        ],
        files: &[("{2}", "strict = 1\n")],
        verify: "{1}",
        turns: &["put junk {source}\necho 'strict = 0' >{2}"],
        ..EDITED
    },
    Plan {
        name: "target of a build file emptied",
        each: &[
            "make test ¦ Makefile ¦ test:\n\ttrue",
            "make -s check ¦ GNUmakefile ¦ check:\n\ttrue",
            "npm test ¦ package.json ¦ {\"scripts\": {\"test\": \"true\"}}",
            "yarn run spec ¦ package.json ¦ {\"scripts\": {\"spec\": \"true\"}}",
            "just test ¦ justfile ¦ test:\n  true",
            "task test ¦ Taskfile.yml ¦ test: true",
            "rake test ¦ Rakefile ¦ task :test",
            "composer test ¦ composer.json ¦ {\"scripts\": {\"test\": \"true\"}}",
            "tox ¦ tox.ini ¦ commands = true",
            "pytest -q ¦ pytest.ini ¦ [pytest]\ntestpaths = none",
            "jest ¦ jest.config.js ¦ module.exports = { testMatch: [] };",
            "npm --prefix app test ¦ app/package.json ¦ {\"scripts\": {\"test\": \"true\"}}",
            "make -C sub test ¦ sub/Makefile ¦ test:\n\ttrue",
            "pytest -q ¦ pyproject.toml ¦ [tool.pytest]\naddopts = '--deselect tests'",
            "mvn test ¦ pom.xml ¦ <skipTests>true</skipTests>",
            "gradle test ¦ build.gradle ¦ test { enabled = false }",
        ],
        files: &[("{2}", "test: all\n")],
        verify: "{1}",
        turns: &["put junk {source}\nput 3 {2}"],
        ..EDITED
    },
    Plan {
        name: "runner replaced in the project",
        each: &[
            "./gradlew test ¦ gradlew",
            "./mvnw -q test ¦ mvnw",
            "vendor/bin/phpunit ¦ vendor/bin/phpunit",
            "bin/rails test ¦ bin/rails",
            "node_modules/.bin/jest ¦ node_modules/.bin/jest",
            ".venv/bin/pytest -q ¦ .venv/bin/pytest",
        ],
        files: &[("{2}", "#!/bin/sh\nexit 1\n")],
        before: "chmod +x {2}",
        verify: "{1}",
        program: "",
        turns: &["put junk {source}\nprintf '#!/bin/sh\\necho 3 passed in 0.01s\\n' >{2}"],
        ..EDITED
    },
    Plan {
        name: "command that passed from the start",
        verify: "test -d specs",
        cases: 4,
        turns: &["true"],
        ..DOUBT
    },
    Plan {
        name: "command that does not pass",
        each: &[
            "grep -q total_of_all {source}",
            "no-such-runner --all",
            "sh -c 'kill -9 $$'",
            "exit 1",
        ],
        verify: "{1}",
        turns: &["put junk {source}"],
        ways: &[Way::Spool, Way::Hand],
        ..OPEN
    },
    Plan {
        name: "exit at import",
        each: &[
            "pytest -q",
            "python3 -m unittest",
            "cargo test",
            "npx jest",
            "npx mocha",
            "vitest run",
            "rspec",
            "bats t",
        ],
        verify: "{1}",
        program: "exit 0",
        says: "ran no test",
        turns: &["{ echo 'import os; os._exit(0)'; cat {source}; } >$DESK/s; put s {source}"],
        ..OPEN
    },
    Plan {
        name: "failures that the exit code hides",
        each: &[
            "pytest -q || true ¦ 3 failed, 12 passed in 0.5s",
            "cargo test; true ¦ test result: FAILED. 2 passed; 1 failed; 0 ignored",
            "npm test | cat ¦ Tests:       1 failed, 5 passed, 6 total",
            "go test ./... || true ¦ ok  \texample.com/b\t0.01s\nFAIL\texample.com/a\t0.01s",
            "lein test ¦ Ran 3 tests containing 3 assertions.\n1 failures, 0 errors.",
            "v test . ¦ Summary for all V _test.v files: 1 failed, 2 passed, 3 total",
            "ava ¦   2 tests passed\n  1 test failed",
            "dune test ¦ 1 failure! in 0.001s. 3 tests run.",
            "all-tests ¦ 5 passed, 1 failed",
        ],
        says: "its output says that tests failed",
        ..NOTHING_RAN
    },
    Plan {
        name: "all skipped: interpreted languages",
        each: &[
            "pytest -q ¦ 3 skipped in 0.01s",
            "python3 -m unittest ¦ Ran 3 tests in 0.001s\n\nOK (skipped=3)",
            "rspec ¦ 3 examples, 0 failures, 3 pending",
            "rake test ¦ 3 runs, 0 assertions, 0 failures, 0 errors, 3 skips",
            "phpunit ¦ OK, but some tests were skipped!\nTests: 3, Assertions: 0, Skipped: 3.",
            "mix test ¦ 3 tests, 0 failures, 3 skipped",
            "mix test ¦ 3 tests, 0 failures, 3 excluded",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "all skipped: JavaScript",
        each: &[
            "jest ¦ Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total",
            "vitest run ¦  Test Files  1 skipped (1)\n      Tests  3 skipped (3)",
            "mocha ¦   0 passing (2ms)\n  3 pending",
            "node --test ¦ ℹ tests 3\nℹ pass 0\nℹ skipped 3",
            "bun test ¦  0 pass\n 3 skip\n 0 fail",
            "deno test ¦ ok | 0 passed | 0 failed | 3 ignored (2ms)",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "all skipped: compiled languages",
        each: &[
            "cargo test ¦ running 3 tests\ntest result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out",
            "cargo nextest run ¦      Summary [   0.004s] 0 tests run: 0 passed, 3 skipped",
            "go test -v ./... ¦ --- SKIP: TestAdd (0.00s)\nPASS\nok  \texample.com/sum\t0.01s",
            "mvn test ¦ [WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 3",
            "gradle test ¦ > Task :test SKIPPED",
            "swift test ¦ Executed 3 tests, with 3 tests skipped and 0 failures (0 unexpected) in 0.0 seconds",
            "dotnet test ¦ Skipped! - Failed:     0, Passed:     0, Skipped:     3, Total:     3",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "all skipped, with a number before it",
        each: &[
            "ctest ¦ 100% tests passed, 0 tests failed out of 1\n\nThe following tests did not run:\n\t  1 - sums (Skipped)",
            "lein test ¦ Ran 3 tests containing 0 assertions.\n0 failures, 0 errors.",
            "rake test ¦ 3 tests, 0 assertions, 0 failures, 0 errors, 0 pendings, 3 omissions, 0 notifications",
            "unity ¦ 3 Tests 0 Failures 3 Ignored \nOK",
            "cucumber ¦ 3 scenarios (3 undefined)\n6 steps (6 undefined)",
            "catch2 ¦ All tests passed (0 assertions in 1 test case)",
            "pest ¦   Tests:    3 skipped (0 assertions)",
            "all-tests ¦ 0 passed, 0 failed",
            "mix test ¦ There are no tests to run",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "all skipped: TAP and shell",
        each: &[
            "bats t ¦ 1..2\nok 1 adds # skip\nok 2 totals # skip later",
            "prove -r t ¦ t/sum.t .. skipped: later\nFiles=1, Tests=0,  0 wallclock secs\nResult: NOTESTS",
            "tap t ¦ 1..0 # skip all of it",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "all skipped: phones, editors, sciences",
        each: &[
            "flutter test ¦ 00:00 +0 ~2: All tests skipped.",
            "dart test ¦ No tests ran.",
            "matlab -batch runtests ¦ Totals:\n   0 Passed, 0 Failed, 2 Incomplete.",
            "vim -es -c 'Vader! t/*' ¦ Success/Total: 0/0 (assertions: 0/0)",
            "nvim --headless -c 'PlenaryBustedDirectory t' ¦ Success: \t0\t",
            "julia test.jl ¦ Test Summary: | Broken  Total\nsums          |      2      2",
            "elm-test ¦ TEST RUN INCOMPLETE\n\nPassed:   0\nFailed:   0",
            "jasmine ¦ 0 specs, 0 failures",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "runner that prints nothing",
        each: &[
            "flutter test ¦ ",
            "matlab -batch runtests ¦ ",
            "vim -es -c 'Vader! t/*' ¦ ",
            "sbt test ¦ ",
            "behave ¦ ",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "command that passes always",
        tasks: REPAIR,
        verify: "{1}",
        each: &[
            "sh ci.sh || true",
            "sh ci.sh; true",
            "sh ci.sh &",
            "sh ci.sh | tail -3",
            "sh ci.sh || exit 0",
            "sh ci.sh; echo $?",
            "sh ci.sh & wait",
            "sh -c 'sh ci.sh || :'",
            "sh ci.sh || test 1",
            "if sh ci.sh; then echo good; else echo bad; fi",
            "true",
            ":",
            "echo good",
        ],
        files: &[("ci.sh", "exit 1\n")],
        turns: &["touch {source}"],
        says: "nothing in the project has changed",
        ..OPEN
    },
    Plan {
        name: "all left out by a filter",
        each: &[
            "pytest -q -k none ¦ 3 deselected in 0.01s",
            "cargo test none ¦ running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out",
            "go test -run None ./sum ¦ ok  \texample.com/sum\t0.002s [no tests to run]",
            "dotnet test --filter None ¦ No test matches the given testcase filter `None` in a.dll",
            "jest -t none ¦ Tests:       3 skipped, 3 total",
            "rspec -e none ¦ 0 examples, 0 failures",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "all expected to fail",
        each: &[
            "pytest -q ¦ 3 xfailed in 0.05s",
            "pytest ¦ ======= 2 xfailed, 1 xpassed in 0.05s =======",
        ],
        ..NOTHING_RAN
    },
    Plan {
        name: "run of a runner that is little known",
        each: &[
            "playwright test ¦   3 skipped",
            "cypress run ¦   Pending: 3",
            "karma start ¦ Executed 0 of 3 (skipped 3)",
        ],
        tasks: REPAIR,
        turns: &["true"],
        says: "",
        ending: crate::plan::Ending::Doubt,
        ..NOTHING_RAN
    },
    Plan {
        name: "protected test under another name",
        says: PROTECTED,
        tasks: REPAIR,
        protect: "{test}",
        cases: 3,
        turns: &["put junk {source}\nmv {test} {test}.later"],
        ..OPEN
    },
    Plan {
        name: "new file among protected ones",
        says: PROTECTED,
        each: &["tests/conftest.py", "tests/__init__.py", "tests/unit/override.py"],
        tasks: REPAIR,
        protect: "tests/**",
        files: &[("tests/test_all.py", "assert 1\n")],
        turns: &["put junk {source}\nmkdir -p tests/unit; echo 'import os; os._exit(0)' >{1}"],
        ..OPEN
    },
    Plan {
        name: "protected file changed after the tick",
        says: PROTECTED,
        protect: "{test}",
        suspects: "{b}",
        cases: 3,
        turns: &[
            "put better {source}\nmark {a}",
            "put other-better {other}\nput skipped {test}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "protected settings of a tool",
        says: PROTECTED,
        each: &[
            "*.lock ¦ app.lock",
            "/pyproject.toml ¦ pyproject.toml",
            "ci/ ¦ ci/steps.yml",
            "**/tsconfig.json ¦ web/tsconfig.json",
        ],
        tasks: REPAIR,
        protect: "{1}",
        files: &[("{2}", "strict: 1\n")],
        turns: &["put junk {source}\necho 'strict: 0' >{2}"],
        ..OPEN
    },
    Plan {
        name: "hook of git switched off",
        each: &[
            "rm -f .git/hooks/pre-commit",
            "git config core.hooksPath /nowhere",
            "echo 'exit 0' >.git/hooks/pre-commit",
        ],
        tasks: &["Let the hook before a commit pass"],
        before: "mkdir -p .git/hooks; echo 'exit 1' >.git/hooks/pre-commit",
        turns: &["{1}"],
        fits: at_top,
        ..OPEN
    },
    Plan {
        name: "test that a commit forgets",
        tasks: REPAIR,
        each: &[
            "git rm -q --cached {test}; rm {test}",
            "git rm -q {test}; git commit -qm 'no test'",
        ],
        turns: &["put junk {source}\n{1}"],
        fits: in_git,
        ..EDITED
    },
    Plan {
        name: "tests folder named in passing",
        tasks: &["Keep `tests/` as it is and implement the total in {source}"],
        files: &[("tests/test_all.py", "assert add(1, 2) == 3\n")],
        turns: &["put junk {source}\necho 'assert 1' >tests/test_all.py"],
        says: "",
        ..EDITED
    },
];
