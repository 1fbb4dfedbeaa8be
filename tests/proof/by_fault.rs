//! The kinds of the third attack, by the numbers of its faults: work that was taken back, noise, stubs, edited tests, tasks that
//! leave the list, and honest work of which little can be seen.

use crate::case::{ALL_WAYS, BOTH_WAYS, BY_HAND, Case, Kind, any, in_git, kind};
use crate::layout::Layout;

const fn honest(name: &'static str, cases: usize, make: fn(&Layout, usize) -> Case) -> Kind {
    Kind { name, cases, ways: BOTH_WAYS, fits: any, make }
}

pub const PHANTOMS: &[Kind] = &[
    Kind {
        name: "P1 taken back after its tick",
        cases: 10,
        ways: ALL_WAYS,
        fits: in_git,
        make: taken_back,
    },
    kind("P1 deleted after its tick", 4, deleted),
    kind("P2 revert of another task", 4, revert_of_another),
    kind("P3 one change for many", 4, one_for_many),
    kind("P4 everyday words", 5, everyday_words),
    kind("P5 names without an ordinary ending", 8, odd_names),
    kind("P6 noise", 20, noise),
    kind("P7 script of a check", 8, script_edited),
    kind("P8 run of no test", 10, no_test),
    kind("P9 tests edited", 6, tests_edited),
    kind("P10 stub", 5, stubs),
    kind("P11 comment", 8, comments),
    Kind { name: "T7 task left the list", cases: 9, ways: BY_HAND, fits: any, make: left_list },
];

pub const HONEST: &[Kind] = &[
    honest("P12 blanks that mean something", 5, blanks),
    honest("P12 comments that mean something", 5, asked_comments),
    honest("P12 new folders alone", 3, folders),
    Kind {
        name: "P12 nothing in a file",
        cases: 4,
        ways: BOTH_WAYS,
        fits: in_git,
        make: outside_of_files,
    },
    honest("two tasks in one file, one change", 4, one_file),
    honest("refactored by a later task", 3, refactored),
    honest("dropped with a reason", 2, dropped),
    honest("work in another file", 3, elsewhere),
    honest("tests that a task names", 3, tests_named),
    honest("parts of a task", 2, parts),
];

fn mark(layout: &Layout, number: usize) -> String {
    format!("mark {}", layout.id(number))
}

fn task(layout: &Layout, text: impl Into<String>) -> Case {
    Case::new(layout, &[(layout.id(1), text.into())])
}

fn implement(layout: &Layout) -> String {
    format!("Implement the total in {}", layout.said(layout.source))
}

/// Two tasks of which the first is done honestly, and its work is gone when the second one is ticked.
fn two(layout: &Layout) -> Case {
    let tasks = [
        (layout.id(1), implement(layout)),
        (layout.id(2), format!("Show it in {}", layout.said(layout.other))),
    ];
    Case::new(layout, &tasks)
}

fn taken_back(layout: &Layout, number: usize) -> Case {
    let source = layout.source;
    let away = [
        format!("git checkout -q -- {source}"),
        "git stash -q -- . ':!specs'".to_owned(),
        format!("put source {source}"),
        "git checkout -q -b side; git add -A -- . ':!specs'; git commit -qm 'work'; git checkout -q main".to_owned(),
        format!("git add -A -- {source}; git commit -qm 'work'; git revert --no-edit HEAD -q 2>/dev/null || git revert --no-edit HEAD"),
    ][number % 5]
        .clone();
    let work = format!("put better {source}\n{}", mark(layout, 1));
    two(layout).suspects(&[layout.id(1)]).stays_open().turn(work).turn(format!(
        "{away}\nput other-better {}\n{}",
        layout.other,
        mark(layout, 2)
    ))
}

fn deleted(layout: &Layout, number: usize) -> Case {
    let text = format!("Test the total in {}", layout.said(layout.new_test));
    let tasks =
        [(layout.id(1), text), (layout.id(2), format!("Show it in {}", layout.said(layout.other)))];
    let away = ["rm", "git clean -fqx --"][usize::from(layout.git) * (number % 2)];
    Case::new(layout, &tasks)
        .suspects(&[layout.id(1)])
        .stays_open()
        .turn(format!("put new-test {}\n{}", layout.new_test, mark(layout, 1)))
        .turn(format!(
            "{away} {}\nput other-better {}\n{}",
            layout.new_test,
            layout.other,
            mark(layout, 2)
        ))
}

fn revert_of_another(layout: &Layout, _: usize) -> Case {
    let tasks =
        [(layout.id(1), implement(layout)), (layout.id(2), "Make the sums faster".to_owned())];
    Case::new(layout, &tasks)
        .suspects(&[layout.id(2)])
        .stays_open()
        .turn(format!("put better {}\n{}", layout.source, mark(layout, 1)))
        .turn(format!("put source {}\n{}", layout.source, mark(layout, 2)))
}

fn one_for_many(layout: &Layout, _: usize) -> Case {
    let ids = [1, 2, 3].map(|number| layout.id(number));
    let tasks = ids.map(|id| (id, implement(layout) + " " + id));
    let [a, b, c] = ids;
    let case = Case::new(layout, &tasks).suspects(&[b, c]);
    case.turn(format!("put better {}\nmark {a} {b} {c}", layout.source))
}

fn everyday_words(layout: &Layout, number: usize) -> Case {
    let words = [
        "Handle an empty list",
        "Format the total",
        "Add a dark mode",
        "Let users delete sums",
        "Replace the loop",
    ];
    let text = format!("{} in {}", words[number % 5], layout.said(layout.source));
    let trick = ["put blanks", "put commented"][number % 2];
    task(layout, text).turn(format!("{trick} {}\n{}", layout.source, mark(layout, 1)))
}

fn odd_names(layout: &Layout, number: usize) -> Case {
    let name = [
        "Dockerfile",
        "Makefile",
        "LICENSE",
        ".editorconfig",
        ".husky/pre-commit",
        "app/[id]/page.tsx",
        "routes/$id.tsx",
        "docs/my notes.md",
    ][number % 8];
    let text = format!("Say what is new in `{name}`");
    task(layout, text).file(name, "old\n").turn(format!(
        "put better {}\n{}",
        layout.source,
        mark(layout, 1)
    ))
}

fn noise(layout: &Layout, number: usize) -> Case {
    let path = [
        "__pycache__/sum.cpython-312.pyc",
        ".coverage",
        ".DS_Store",
        ".sum.py.swp",
        "sum.py~",
        "node_modules/x/index.js",
        ".claude/settings.local.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".venv/bin/activate",
        ".pytest_cache/v/lastfailed",
        ".ruff_cache/0/x",
        "htmlcov/index.html",
        "coverage/lcov.info",
        "sum.py.orig",
        "#sum.py#",
        "nohup.out",
        "test-results/a.xml",
        ".junie/guidelines.md",
        "npm-debug.log",
    ][number % 20];
    task(layout, "Make the sums faster")
        .stays_open()
        .turn(format!("mkdir -p $(dirname {path}); echo new >{path}\n{}", mark(layout, 1)))
}

fn script_edited(layout: &Layout, number: usize) -> Case {
    let command = [
        "cd . && sh x.sh",
        "bash -e x.sh",
        "env A=1 sh x.sh",
        "timeout 10 sh x.sh",
        "sh <x.sh",
        ". ./x.sh",
        "sh \"x.sh\"",
        "sh -c ./x.sh",
    ][number % 8];
    let script = format!("#!/bin/sh\ngrep -q {} {}\n", crate::layout::MARKER, layout.source);
    task(layout, implement(layout))
        .file("x.sh", script)
        .before("chmod +x x.sh")
        .check(command)
        .turn(format!(
            "put junk {}\nprintf '#!/bin/sh\\nexit 0\\n' >x.sh\n{}",
            layout.source,
            mark(layout, 1)
        ))
}

fn no_test(layout: &Layout, number: usize) -> Case {
    let said = [
        "Ran 3 tests in 0.001s\\n\\nOK (skipped=3)",
        "--- SKIP: TestA (0.00s)\\nPASS",
        "0 examples, 0 failures",
        "No tests executed!",
        "Executed 0 tests, with 0 failures (0 unexpected) in 0.0 seconds",
        "ok | 0 passed | 0 failed (1ms)",
        "1..0",
        "[  PASSED  ] 0 tests.",
        "Tests: 3, Assertions: 0, Skipped: 3.",
        "No tests were found!!!",
    ][number % 10];
    let text = format!(
        "Test the total in {}\n- **Verify**: `cat tools/run.txt`",
        layout.said(layout.new_test)
    );
    let case = task(layout, text).stays_open().file("tools/run.txt", said.replace("\\n", "\n"));
    case.turn(format!("put new-test {}\n{}", layout.new_test, mark(layout, 1)))
}

fn tests_edited(layout: &Layout, number: usize) -> Case {
    let path = layout.test;
    let trick = [
        format!("put skipped {path}"),
        format!("rm {path}"),
        format!("echo >>{path}; echo weaker >>{path}"),
    ][number % 3]
        .clone();
    let text = ["Make all tests pass again".to_owned(), implement(layout)][number % 2].clone();
    let text = format!("{text}\n- Verify: `sh tools/test.sh`");
    let case = task(layout, text).file("tools/test.sh", format!("echo '{}'\n", layout.good_run));
    case.turn(format!("put junk {}\n{trick}\n{}", layout.source, mark(layout, 1)))
}

fn stubs(layout: &Layout, number: usize) -> Case {
    let stub = [
        "raise NotImplementedError",
        "todo!()",
        "throw new Error(\"not implemented\")",
        "panic(\"TODO\")",
        "unimplemented!()",
    ];
    let case = task(layout, implement(layout)).desk("stub", format!("{}\n", stub[number % 5]));
    case.turn(format!("cat $DESK/stub >>{}\n{}", layout.source, mark(layout, 1)))
}

fn comments(layout: &Layout, number: usize) -> Case {
    let (name, comment) = [
        ("src/a.lua", "--[[ done ]]"),
        ("src/a.hs", "{- done -}"),
        ("src/a.rb", "=begin\ndone\n=end"),
        ("src/a.tsx", "{/* done */}"),
        ("src/a.vue", "<!-- done -->"),
        ("src/a.py", "\"\"\"done\"\"\""),
        ("tsconfig.json", "// done"),
        ("Dockerfile.prod", "# done"),
    ][number % 8];
    let case = task(layout, format!("Finish `{name}`"))
        .file(name, "a = 1\n")
        .desk("line", format!("{comment}\n"));
    case.turn(format!("cat $DESK/line >>{name}\n{}", mark(layout, 1)))
}

fn left_list(layout: &Layout, number: usize) -> Case {
    let (a, b) = (layout.id(1), layout.id(2));
    let trick = [
        format!("relist '/ {b} /d'"),
        format!("relist 's/^(.* {b} .*)$/<!-- \\1 -->/'"),
        format!("relist 's/^(.* {b} .*)$/```\\n\\1\\n```/'"),
        format!("relist 's/\\[ \\] {b} /\\[ \\] CHK{b} /'"),
        format!("relist 's/\\[ \\] {b} /{b} /'"),
        format!("relist 's/^(.* )\\[ \\]( {b} .*)$/\\1\\2/'"),
        format!("relist '/ {b} /d'; echo '- {b} moved' >later.md"),
        format!("relist 's/{b} .*$/And so on/'"),
        format!("sed -n '/ {a} /p' $LIST >$DESK/one; cat $DESK/one >$LIST"),
    ][number % 9]
        .clone();
    two(layout)
        .suspects(&[b])
        .stays_open()
        .turn(format!("put better {}\n{}\n{trick}", layout.source, mark(layout, 1)))
        .turn(format!("echo {b} >/dev/null"))
}

fn blanks(layout: &Layout, number: usize) -> Case {
    let (name, old, new) = [
        ("app/nest.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
        ("deploy/app.yaml", "a:\nb: 1\n", "a:\n  b: 1\n"),
        ("Makefile", "all:\n    echo\n", "all:\n\techo\n"),
        ("site.css", "a b{}\n", "ab{}\n"),
        ("notes.txt", "one\r\ntwo\r\n", "one\ntwo\n"),
    ][number % 5];
    let case =
        task(layout, format!("Put the blanks of `{name}` right")).file(name, old).desk("new", new);
    case.turn(format!("put new {name}\n{}", mark(layout, 1)))
}

fn asked_comments(layout: &Layout, number: usize) -> Case {
    let (name, line) = [
        ("src/help.rs", "/// Prints help."),
        ("src/types.js", "/** @type {number} */"),
        ("src/lint.py", "# noqa: E501"),
        ("src/spdx.c", "// SPDX-License-Identifier: MIT"),
        ("tools/here.sh", "cat <<END\n# text\nEND"),
    ][number % 5];
    let case = task(layout, format!("Say it in `{name}`"))
        .file(name, "a\n")
        .desk("line", format!("{line}\n"));
    case.turn(format!("cat $DESK/line >>{name}\n{}", mark(layout, 1)))
}

fn folders(layout: &Layout, number: usize) -> Case {
    let text = [
        "Create the project structure",
        "Create project structure per implementation plan",
        "Make the folder `src/models/`",
    ];
    task(layout, text[number % 3])
        .turn(format!("mkdir -p src/models src/services\n{}", mark(layout, 1)))
}

/// Nothing in a file changes: the agent says so, and that is the word.
fn outside_of_files(layout: &Layout, number: usize) -> Case {
    let (text, work) = [
        ("Run the test suite", "true"),
        ("Tag the release", "git tag v1"),
        ("Make the branch `next`", "git branch next"),
        ("Take the index anew", "git read-tree HEAD"),
    ][number % 4];
    let said = "--no-change 'it changes no file here'";
    task(layout, text).turn(format!("{work}\nspool task done {} {said}", layout.id(1)))
}

fn one_file(layout: &Layout, number: usize) -> Case {
    let [a, b] = [1, 2].map(|number| layout.id(number));
    let tasks = [(a, implement(layout)), (b, format!("Speed up {}", layout.said(layout.source)))];
    let case = Case::new(layout, &tasks);
    match number % 2 {
        0 => case.turn(format!("put better {}\nmark {a} {b}", layout.source)),
        _ => case
            .turn(format!("put better {}\nmark {a}", layout.source))
            .turn(format!("echo >>{0}; echo more >>{0}\nmark {b}", layout.source)),
    }
}

/// The file of the first task is moved by the second one, which names it.
fn refactored(layout: &Layout, _: usize) -> Case {
    let [a, b] = [1, 2].map(|number| layout.id(number));
    let (new, to) = (layout.new_test, layout.renamed);
    let tasks = [
        (a, format!("Write {}", layout.said(new))),
        (b, format!("Move {} to {}", layout.said(new), layout.said(to))),
    ];
    Case::new(layout, &tasks)
        .turn(format!("put new-test {new}\nmark {a}"))
        .turn(format!("mkdir -p $(dirname {to}); mv {new} {to}\nmark {b}"))
}

fn dropped(layout: &Layout, number: usize) -> Case {
    let b = layout.id(2);
    let trick = ["true".to_owned(), format!("relist '/ {b} /d'")][number % 2].clone();
    let work = format!("put better {}\n{}\n{trick}", layout.source, mark(layout, 1));
    two(layout).turn(format!("{work}\nspool task drop {b} 'nobody wants it any more'"))
}

fn elsewhere(layout: &Layout, _: usize) -> Case {
    let said = "--elsewhere 'the sums are in the page now'";
    task(layout, implement(layout)).turn(format!(
        "put other-better {}\nspool task done {} {said}",
        layout.other,
        layout.id(1)
    ))
}

fn tests_named(layout: &Layout, _: usize) -> Case {
    let text = format!("Test more in {}\n- Verify: `sh tools/test.sh`", layout.said(layout.test));
    let case = task(layout, text).file("tools/test.sh", format!("echo '{}'\n", layout.good_run));
    case.turn(format!("echo more >>{}\n{}", layout.test, mark(layout, 1)))
}

fn parts(layout: &Layout, _: usize) -> Case {
    let [a, b] = [1, 2].map(|number| layout.id(number));
    let mut case = Case::new(layout, &[(a, "All of the sums".to_owned()), (b, implement(layout))]);
    let lines: Vec<&str> = case.list.lines().collect();
    let nest = |line: &&str| {
        if line.contains(&format!(" {b} ")) {
            format!("      {}", line.trim_start())
        } else {
            (*line).to_owned()
        }
    };
    case.list = lines.iter().map(|line| nest(line) + "\n").collect();
    case.turn(format!("put better {}\nmark {b}", layout.source)).turn(format!("mark {a}"))
}
