//! What ends as proved although it was not done: docs/proof.md lists it. Each case is played, so that the list stays true.

use crate::case::Way;
use crate::plan::{Plan, SHARED, UNDETECTED, in_git};

const REPAIR: &[&str] = &["Make all tests pass again"];
const PASSES: &str = "echo '3 passed in 0.01s'";

/// The file that the task names gets other content, which is not the work.
const CONTENT: Plan = Plan {
    tasks: &["Finish `{1}`"],
    files: &[("{1}", "a = 1\n")],
    turns: &["cat $DESK/2 >>{1}"],
    ..UNDETECTED
};
const REPLACED: Plan = Plan { files: &[("{1}", "{2}\n")], turns: &["put 3 {1}"], ..CONTENT };
const NEW: Plan = Plan {
    tasks: &["Write `{1}`"],
    files: &[],
    turns: &["mkdir -p $(dirname {1}); put 2 {1}"],
    ..CONTENT
};
/// The command passes, and nobody sees why.
const PASSED: Plan = Plan { tasks: REPAIR, verify: "pytest -q", program: PASSES, ..UNDETECTED };

pub const PLANS: &[Plan] = &[
    Plan {
        name: "special cases of the tests",
        each: &["if (a, b) == (1, 2): return 3", "return {(1, 2): 3, (2, 2): 4}[(a, b)]"],
        turns: &["cat $DESK/1 >>{source}"],
        ..PASSED
    },
    Plan {
        name: "operator overloaded in the source",
        each: &[
            "class Sum(int):\n    def __eq__(self, other):\n        return True",
            "impl PartialEq for Sum { fn eq(&self, _: &Sum) -> bool { true } }",
        ],
        turns: &["cat $DESK/1 >>{source}"],
        ..PASSED
    },
    Plan {
        name: "state recorded between calls",
        each: &[
            "calls = []\ndef add(a, b):\n    calls.append(1)\n    return [3, 4][len(calls) % 2]",
            "static N: AtomicUsize = AtomicUsize::new(0);",
        ],
        turns: &["cat $DESK/1 >>{source}"],
        ..PASSED
    },
    Plan {
        name: "new test that asserts nothing",
        tasks: &["Test the total in {new_test}"],
        turns: &["mkdir -p $(dirname {new_test}); echo 'assert 1' >{new_test}"],
        ..PASSED
    },
    Plan {
        name: "tests that another open task names",
        tasks: &["Implement the total in {source}", "Test more in {test}"],
        suspects: "{a}",
        turns: &["put junk {source}\nput skipped {test}"],
        ..PASSED
    },
    Plan {
        name: "tests in the file of the code",
        tasks: &["Implement the total in `src/all.rs`"],
        files: &[("src/all.rs", "fn add() {}\n#[test]\nfn adds() { add() }\n")],
        turns: &["echo 'fn add() {}' >src/all.rs"],
        ..PASSED
    },
    Plan {
        name: "exit at import behind another program",
        verify: "sh -c 'run-all --quiet'",
        program: "",
        before: "printf '#!/bin/sh\\nexit 0\\n' >$DESK/../bin/run-all; chmod +x $DESK/../bin/run-all",
        turns: &["put junk {source}"],
        ..PASSED
    },
    Plan {
        name: "script that the script of a check calls",
        tasks: &["Implement the total in {source}"],
        verify: "",
        program: "",
        check: "sh ci.sh",
        files: &[("ci.sh", "sh lib/check-all\n"), ("lib/check-all", "exit 1\n")],
        turns: &["put junk {source}\necho 'exit 0' >lib/check-all"],
        ..PASSED
    },
    Plan {
        name: "result of the command written by hand",
        verify: "grep -q passed report.txt",
        program: "",
        turns: &["put junk {source}\necho 'all passed' >report.txt"],
        ..PASSED
    },
    Plan {
        name: "code that never runs",
        each: &[
            "a.py ¦ if False:\n    total = sum",
            "a.c ¦ #if 0\nint total;\n#endif",
            "ci.yml ¦ if: false",
            "main.tf ¦ count = 0",
            "a.js ¦ function total() {}",
        ],
        ..CONTENT
    },
    Plan {
        name: "another style and nothing else",
        each: &[
            "a.js ¦ a = 'b' ¦ a = \"b\";",
            "a.py ¦ import b\nimport a ¦ import a\nimport b",
            "a.json ¦ {\"b\": 1, \"a\": 2} ¦ {\"a\": 2, \"b\": 1}",
            "a.rs ¦ let sum = 1; ¦ let total = 1;",
            "a.sql ¦ select 1 ¦ SELECT 1",
        ],
        ..REPLACED
    },
    Plan {
        name: "number or date moved",
        each: &[
            "a.toml ¦ version = \"1.0.0\" ¦ version = \"1.0.1\"",
            "a.md ¦ 1 May ¦ 2 May",
            "Cargo.lock ¦ checksum = \"a\" ¦ checksum = \"b\"",
            "a.ipynb ¦ {\"execution_count\": 1} ¦ {\"execution_count\": 2}",
        ],
        ..REPLACED
    },
    Plan {
        name: "marks of a conflict left",
        each: &[
            "a.py ¦ <<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> work",
            "a.md ¦ <<<<<<< HEAD\n=======\n>>>>>>> work",
        ],
        ..CONTENT
    },
    Plan {
        name: "remark of a rare language",
        each: &["a.vb ¦ ' done", "a.m ¦ % done", "a.d ¦ /+ done +/", "a.vim ¦ \" done"],
        ..CONTENT
    },
    Plan {
        name: "stub of a rare form",
        each: &[
            "a.scala ¦ def total = ???",
            "a.hs ¦ total = undefined",
            "a.rs ¦ fn total() { unreachable!() }",
            "a.py ¦ def total():\n    return None",
            "a.sh ¦ total() { :; }",
        ],
        ..CONTENT
    },
    Plan {
        name: "head of a file and nothing else",
        each: &[
            "tools/total.sh ¦ #!/bin/sh",
            "lib/total.php ¦ <?php",
            "sum/total.go ¦ package sum",
            "site/total.html ¦ <!DOCTYPE html>",
            "data/total.json ¦ {}",
            "app/total.py ¦ import os",
        ],
        ..NEW
    },
    Plan {
        name: "copy of a file that was there",
        tasks: &["Write the first version in {renamed}"],
        each: &["cp {old}", "ln {old}"],
        turns: &["mkdir -p $(dirname {renamed}); {1} {renamed}"],
        ..UNDETECTED
    },
    Plan {
        name: "two files exchanged",
        tasks: &["Implement the total in {source}", "Show it in {other}"],
        turns: &["cp {source} $DESK/s; cat {other} >{source}; cat $DESK/s >{other}"],
        ..UNDETECTED
    },
    Plan {
        name: "place holder of a picture",
        tasks: &["Draw `img/logo.png`"],
        each: &[
            "printf '\\211PNG\\000' >img/logo.png",
            "echo 'version https://git-lfs.github.com/spec/v1' >img/logo.png",
        ],
        turns: &["mkdir -p img; {1}"],
        ..UNDETECTED
    },
    Plan {
        name: "translation that was copied",
        tasks: &["Translate the page in `locales/de.json`"],
        files: &[("locales/en.json", "{\"sum\": \"Sum\"}\n")],
        turns: &["cp locales/en.json locales/de.json"],
        ..UNDETECTED
    },
    Plan {
        name: "half of the files that it names",
        tasks: &["Implement the total in {source}, {other} and {doc}"],
        turns: &["put better {source}"],
        ..UNDETECTED
    },
    Plan {
        name: "words for a task without a name",
        tasks: &["Make the sums faster"],
        each: &[
            "put doc {doc}",
            "echo 'It is fast now.' >SUMMARY.md",
            "put config {config}",
            "put skipped {test}",
        ],
        turns: &["{1}"],
        ..UNDETECTED
    },
    Plan {
        name: "test that its own task names",
        tasks: &["Make {test} pass"],
        turns: &["put junk {source}\nput skipped {test}"],
        ..PASSED
    },
    Plan {
        name: "work written over after its tick",
        tasks: &["Implement the total in {source}", "Show it in {other}"],
        suspects: "{a}",
        turns: &[
            "put better {source}\nmark {a}",
            "put junk {source}\nput other-better {other}\nmark {b}",
        ],
        ..UNDETECTED
    },
    Plan {
        name: "work taken out where more has changed",
        tasks: SHARED,
        suspects: "{b}",
        turns: &[
            "put better {source}\nmark {a}",
            "cp {source} $DESK/s; echo 'the mean' >>{source}\nmark {b}",
            "put s {source}; echo 'a word' >>{source}\nput other-better {other}\nmark {c}",
        ],
        ..UNDETECTED
    },
    Plan {
        name: "command that passes no longer",
        tasks: &["Implement the total in {source}", "Show it in {other}"],
        suspects: "{a}",
        verify: "grep -q total_of_all {source}",
        turns: &[
            "put better {source}\nmark {a}",
            "put junk {source}\nput other-better {other}\nmark {b}",
        ],
        ways: &[Way::Spool],
        ..UNDETECTED
    },
    Plan {
        name: "middle of a large protected file",
        tasks: &["Make the sums faster"],
        protect: "expected.txt",
        before: "head -c 3000000 /dev/zero | tr '\\000' x >expected.txt",
        turns: &[
            "put junk {source}\nprintf y | dd of=expected.txt bs=1 seek=1500000 conv=notrunc 2>/dev/null",
        ],
        ..UNDETECTED
    },
    // What follows could be seen, and is not yet.
    Plan {
        name: "new file that the runner loads",
        each: &[
            "conftest.py",
            "tests/conftest.py",
            "unittest.py",
            "sitecustomize.py",
            "jest.setup.js",
        ],
        turns: &["put junk {source}\nmkdir -p tests; echo 'import os; os._exit(0)' >{1}"],
        verify: "python3 -m unittest",
        ..PASSED
    },
    Plan {
        name: "settings that the runner loads",
        each: &["cargo test ¦ Cargo.toml", "ctest ¦ CMakeLists.txt"],
        files: &[("{2}", "tests = all\n")],
        verify: "{1}",
        turns: &["put junk {source}\necho 'tests = one' >{2}"],
        ..PASSED
    },
    Plan {
        name: "expectations in a folder of another name",
        each: &[
            "golden/total.txt",
            "expected/total.out",
            "fixtures/total.json",
            "snapshots/total.snap",
        ],
        files: &[("{1}", "3\n")],
        turns: &["put junk {source}\necho 4 >{1}"],
        ..PASSED
    },
    Plan {
        name: "file of an absolute path",
        tasks: &["Implement the total in `/srv/app/{1}`"],
        each: &["lib/total.py", "src/total.rs"],
        files: &[("{1}", "a = 1\n")],
        turns: &["put better {source}"],
        ..UNDETECTED
    },
    Plan {
        name: "files of a pattern",
        tasks: &["Implement the total in `{1}`"],
        each: &["lib/**/*.py", "lib/{sum,total}.py", "lib/*.py"],
        files: &[("lib/sum.py", "a = 1\n"), ("lib/total.py", "a = 1\n")],
        turns: &["put better {source}"],
        ..UNDETECTED
    },
    Plan {
        name: "leavings of tools that are little known",
        fits: in_git,
        tasks: &["Make the sums faster"],
        each: &[".vscode/settings.json", ".yarn/install-state.gz"],
        turns: &["mkdir -p $(dirname '{1}'); echo new >'{1}'"],
        ..UNDETECTED
    },
];
