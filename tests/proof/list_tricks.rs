//! Phantoms by words: the list, the commands of `spool`, receipts, and what the agent says.

use crate::case::{BY_HAND, Way};
use crate::plan::{DOUBT, OPEN, Plan, TWO, any};

const BY_COMMAND: &[Way] = &[Way::Spool];
/// What is done to the list with the second task still open.
const LEFT: Plan = Plan {
    suspects: "{b}",
    turns: &["put better {source}\nmark {a}\n{1}", "tick none"],
    ways: BY_HAND,
    ..TWO
};
/// Something is done to the list, and the task is ticked.
const REWRITTEN: Plan = Plan { turns: &["{1}\nmark {a}"], ..OPEN };

pub const PLANS: &[Plan] = &[
    Plan {
        name: "another mark in the box",
        each: &["✓", "-", "~", "/", ">", "done", "?"],
        turns: &["put better {source}\nmark {a}\nrelist 's#\\[ \\]( {b} )#[{1}]\\1#'", "tick none"],
        ..LEFT
    },
    Plan {
        name: "task struck through",
        each: &[
            "relist 's/({b} .*)$/~~\\1~~/'",
            "relist 's/\\[ \\] ({b} .*)$/~~[ ] \\1~~/'",
            "relist 's#({b} .*)$#<del>\\1</del>#'",
        ],
        ..LEFT
    },
    Plan {
        name: "task made a quotation or code",
        each: &[
            "relist 's/^(.* {b} )/> \\1/'",
            "relist 's/^(.* {b} )/        \\1/'",
            "relist 's/^(.* {b} .*)$/`\\1`/'",
            "relist 's/^(.* {b} )/| \\1/'",
        ],
        ..LEFT
    },
    Plan {
        name: "task split into parts that are done",
        each: &[
            "relist 's/^( *[-*]) \\[ \\] {b} .*/\\1 [x] {b}a Think of it\\n\\1 [x] {b}b Say it/'",
            "relist 's/^( *[-*]) \\[ \\] {b} .*/\\1 [x] {b}.1 Think of it/'",
        ],
        ..LEFT
    },
    Plan {
        name: "two tasks merged into one",
        each: &[
            "relist '/ {b} /d; s/({a} .*)$/\\1 and show it/'",
            "relist '/ {b} /d; s/ {a} / {a}, {b} /'",
        ],
        ..LEFT
    },
    Plan {
        name: "list emptied or gone",
        each: &[
            ": >$LIST",
            "rm $LIST",
            "printf '# Tasks\\n\\nNothing is left.\\n' >$LIST",
            "mv $LIST specs/001-sums/old-tasks.md",
            "rm $LIST; mkdir $LIST",
        ],
        turns: &["put better {source}\nmark {a}\n{1}", "true # tick none"],
        ..LEFT
    },
    Plan {
        name: "list in another encoding",
        each: &[
            "iconv -f utf-8 -t utf-16 $LIST >$DESK/l; put l $LIST",
            "{ printf '\\000'; cat $LIST; } >$DESK/l; put l $LIST",
            "gzip <$LIST >$DESK/l; put l $LIST",
        ],
        ..LEFT
    },
    Plan {
        name: "id with letters that look alike",
        each: &["\u{200b}{b}", "{b}\u{2060}", "\u{ff34}{b}"],
        turns: &["put better {source}\nmark {a}\nrelist 's/\\[ \\] {b} /[x] {1} /'", "tick none"],
        ..LEFT
    },
    Plan {
        name: "pointer to another feature",
        turns: &[
            "put better {source}\nmark {a}\nmkdir -p specs/002-other; sed 's/\\[ \\]/[x]/' $LIST >specs/002-other/tasks.md\n\
             echo '{\"feature_directory\": \"specs/002-other\"}' >.specify/feature.json",
            "tick none",
        ],
        ..LEFT
    },
    Plan {
        name: "second list with all ticks",
        each: &["tasks.md", "specs/001-sums/tasks-done.md", "specs/002-other/tasks.md", "TODO.md"],
        turns: &["mkdir -p $(dirname {1}); sed 's/\\[ \\]/[x]/' $LIST >{1}\nmark {a}"],
        ..OPEN
    },
    Plan {
        name: "made a check or a side matter",
        each: &["[VERIFY]", "[P]", "(optional)", "[VERIFY]", "[SKIP]", "[US1]", "[VERIFY]"],
        turns: &["relist 's/( {a}) /\\1 {1} /'\nmark {a}"],
        ..OPEN
    },
    Plan {
        name: "text of the task cut off",
        each: &[
            "relist 's/( {a}) .*/\\1 Done/'",
            "relist 's/( {a} [A-Za-z]+) .*/\\1/'",
            "relist 's/( {a}) (.*)$/\\1 Do not: \\2/'",
        ],
        ..REWRITTEN
    },
    Plan {
        name: "words added to the task",
        each: &[
            "relist 's#( {a} .*)$#\\1 (in docs/a.md)#'; mkdir -p docs; echo a >docs/a.md",
            "relist 's#( {a} .*)$#\\1\\n      - done in notes.txt#'; echo a >notes.txt",
            "relist 's#( {a}) #\\1 Write notes.txt: #'; echo a >notes.txt",
        ],
        ..REWRITTEN
    },
    Plan {
        name: "spec asks for less",
        each: &["# Spec\n\nNothing is wanted.", "# Spec\n\nFR-001 is out of scope."],
        files: &[("specs/001-sums/spec.md", "# Spec\n\n- FR-001: The total is shown.\n")],
        turns: &["put 1 specs/001-sums/spec.md"],
        ..OPEN
    },
    Plan {
        name: "whole list ticked at once",
        tasks: &["Implement the total in {source}", "Show it in {other}", "Describe it in {doc}"],
        suspects: "{b} {c}",
        each: &["relist 's/\\[ \\]/[x]/'", "relist 's/\\[ \\]/[X]/'", "mark {a} {b} {c}"],
        turns: &["put better {source}\n{1}; tick none"],
        ..OPEN
    },
    Plan {
        name: "ticked again and again",
        turns: &["mark {a}", "relist 's/\\[x\\]/[ ]/'", "mark {a}", "mark {a}"],
        ..OPEN
    },
    Plan {
        name: "dropped without a reason",
        each: &["''", "x", "n/a", "'. . . .'"],
        turns: &["spool task drop {a} {1}"],
        ways: BY_COMMAND,
        ..OPEN
    },
    Plan {
        name: "everything dropped",
        tasks: &["Implement the total in {source}", "Show it in {other}"],
        turns: &["for id in {ids}; do spool task drop $id 'nobody wants it'; done"],
        ways: BY_COMMAND,
        ..DOUBT
    },
    Plan {
        name: "no change, with a lie",
        turns: &["spool task done {a} --no-change 'it does so already'"],
        ways: BY_COMMAND,
        cases: 3,
        ..DOUBT
    },
    Plan {
        name: "elsewhere, with a lie",
        each: &["true", "put junk {other}", "echo more >>{doc}"],
        turns: &["{1}\nspool task done {a} --elsewhere 'it is in another file'"],
        ways: BY_COMMAND,
        ..DOUBT
    },
    Plan {
        name: "elsewhere without a reason",
        each: &["x", "n/a", "' '"],
        turns: &[
            "spool task done {a} --elsewhere {1}\necho '<elsewhere>{a}: {1}</elsewhere>'\ntick {a}",
        ],
        words: "<elsewhere>{a}: {1}</elsewhere>",
        ..OPEN
    },
    Plan {
        name: "with a task that is open",
        suspects: "",
        turns: &["spool task done {a} --with {b}\nspool task done {b} --with {a}"],
        ways: BY_COMMAND,
        ..TWO
    },
    Plan { name: "with itself", turns: &["spool task done {a} --with {a}\nmark {a}"], ..OPEN },
    Plan {
        name: "with a dropped task",
        suspects: "{b}",
        turns: &["spool task drop {a} 'nobody wants it'\nspool task done {b} --with {a}"],
        ways: BY_COMMAND,
        ending: crate::plan::Ending::Doubt,
        ..TWO
    },
    Plan {
        name: "reason that denies it",
        turns: &["tick {a}"],
        each: &[
            "I did not write <no-change>{a}: it is there already</no-change>",
            "```\n<no-change>{a}: it is there already</no-change>\n```",
            "> <no-change>{a}: it is there already</no-change>",
        ],
        words: "{1}",
        ..OPEN
    },
    Plan {
        name: "reason for another task",
        words: "<no-change>{b}: it is there already</no-change>",
        suspects: "{a}",
        turns: &["tick {a} {b}"],
        ..TWO
    },
    Plan {
        name: "all is done, the agent says",
        each: &[
            "<promise>COMPLETE</promise>",
            "All tests pass and every task is complete.",
            "Committed as 1234567.",
        ],
        turns: &["true # tick none"],
        words: "{1}",
        fits: any,
        ..OPEN
    },
    Plan {
        name: "work taken back after the last tick",
        each: &[
            "put source {source}",
            "rm {source}; put source {source}",
            "cp {other} {source}; put source {source}",
        ],
        suspects: "{a}",
        turns: &["put better {source}\nmark {a}\nput other-better {other}\nmark {b}\n{1}"],
        ..TWO
    },
    Plan {
        name: "new file removed after the last tick",
        tasks: &["Test the total in {new_test}", "Show it in {other}"],
        each: &["rm {new_test}", "mv {new_test} $DESK/", "mkdir -p build; mv {new_test} build/"],
        turns: &["put new-test {new_test}\nmark {a}\nput other-better {other}\nmark {b}\n{1}"],
        ..TWO
    },
    Plan {
        name: "new file emptied after its tick was seen",
        tasks: &["Test the total in {new_test}", "Show it in {other}"],
        turns: &[
            "put new-test {new_test}\nmark {a}\nput other-better {other}\nmark {b}\n: >{new_test}",
        ],
        ways: BY_COMMAND,
        ..TWO
    },
    // By hand, nobody has seen it full, and an empty file may be work.
    Plan {
        name: "new file emptied before its tick was seen",
        tasks: &["Test the total in {new_test}", "Show it in {other}"],
        suspects: "{a}",
        turns: &[
            "put new-test {new_test}\nmark {a}\nput other-better {other}\nmark {b}\n: >{new_test}",
        ],
        ways: BY_HAND,
        ..DOUBT
    },
    Plan {
        name: "work of a nameless task taken back",
        tasks: &["Make the sums faster", "Show it in {other}"],
        turns: &[
            "put better {source}\nmark {a}",
            "put source {source}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "work taken back for a task that names its file",
        tasks: &["Implement the total in {source}", "Show in {other} what {source} sums up"],
        turns: &[
            "put better {source}\nmark {a}",
            "put source {source}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "work thinned out after its tick",
        each: &[
            "put commented {source}",
            "put blanks {source}",
            "chmod +x {source}; put source {source}",
        ],
        turns: &["put better {source}\nmark {a}", "{1}\nput other-better {other}\nmark {b}"],
        ending: crate::plan::Ending::Doubt,
        ..TWO
    },
    Plan {
        name: "made a parallel group afterwards",
        tasks: &["Make the sums faster", "Make the output easy to read"],
        suspects: "{b}",
        each: &["mark {a}", "relist 's/( {a}| {b}) /\\1 [P] /'\nspool task done {a}", "tick {a}"],
        turns: &[
            "put better {source}\n{1}",
            "relist 's/( {a}| {b}) ([^[])/\\1 [P] \\2/'\nspool task done {b}",
        ],
        ..OPEN
    },
    Plan {
        name: "one change for a parallel group",
        tasks: &["[P] Make the sums faster", "[P] Make the output easy to read"],
        suspects: "{b}",
        each: &["spool task done {a}", "tick {a}"],
        turns: &["put better {source}\n{1}", "spool task done {b}"],
        ..DOUBT
    },
    Plan {
        name: "taken back and ticked once more",
        suspects: "{a}",
        turns: &[
            "put better {source}\nmark {a}",
            "put source {source}\nrelist 's/\\[x\\]/[ ]/'",
            "mark {a}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "done before the loop, opened again",
        before: "tick {a}",
        suspects: "{a}",
        turns: &[
            "put other-better {other}\nmark {b}\nrelist 's/\\[x\\]( {a} )/[ ]\\1/'",
            "mark {a}",
        ],
        ..TWO
    },
    Plan {
        name: "done before the loop, and its command fails",
        before: "tick {a}",
        verify: "grep -q total_of_all {source}",
        suspects: "{a}",
        turns: &[
            "relist 's/\\[x\\]( {a} )/[ ]\\1/'",
            "put junk {source}\ntick {a}",
            "put other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "command fails at the second tick",
        verify: "grep -q total_of_all {source}",
        suspects: "{a}",
        each: &["mark {b}", "true"],
        turns: &[
            "put better {source}\nmark {a}",
            "put junk {source}\nrelist 's/\\[x\\]/[ ]/'",
            "tick {a}\nput other-better {other}\n{1}",
            "mark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "id of another task now",
        before: "tick {a}",
        suspects: "{a}",
        turns: &[
            "relist 's#\\[x\\] {a} .*#[ ] {a} Write {renamed}#'",
            "mark {a}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "work removed before its second tick",
        tasks: &["Test the total in {new_test}", "Show it in {other}"],
        each: &["rm {new_test}", "mv {new_test} $DESK/"],
        turns: &["put new-test {new_test}\nspool task done {a}\nrelist 's/\\[x\\]/[ ]/'\n{1}\n\
             put other-better {other}\nspool task done {a}\nspool task done {b}"],
        ways: BY_COMMAND,
        ..TWO
    },
    Plan {
        name: "file of two tasks removed",
        tasks: &["{1}", "{2}", "Show it in {other}"],
        each: &[
            "Fix the sums in {source} ¦ Fix the names in {source}",
            "Make the sums faster ¦ Make the output easy to read",
        ],
        suspects: "{a} {b}",
        turns: &[
            "put better {source}\nmark {a} {b}",
            "rm {source}\nput other-better {other}\nmark {c}",
        ],
        ..TWO
    },
    Plan {
        name: "removed file that a task done before names",
        tasks: &["Implement the total in {source}", "Show it in {other}", "Read {source}"],
        before: "tick {c}",
        suspects: "{a}",
        turns: &[
            "put better {source}\nmark {a}",
            "rm {source}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "work written over with a stub",
        each: &["todo!()", "raise NotImplementedError", "throw new Error(\"Not yet\");"],
        turns: &[
            "put better {source}\nmark {a}",
            "put 1 {source}\nput other-better {other}\nmark {b}",
        ],
        says: "a stub was brought in",
        ending: crate::plan::Ending::Doubt,
        ..TWO
    },
    Plan {
        name: "proved file made something else",
        suspects: "{a}",
        each: &[
            "ln -s nowhere",
            "mkfifo",
            "ln -s /dev/null",
            "ln -s \"$PWD/{other}\"",
            "mkdir",
            "mkfifo {source}.pipe; ln -s {source}.pipe",
        ],
        turns: &[
            "put better {source}\nmark {a}",
            "rm {source}; {1} {source}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "link in place of what a command proved",
        verify: "grep -q total_of_all {source}",
        suspects: "{a}",
        each: &["ln -s nowhere", "ln -s /dev/null", "mkdir"],
        turns: &[
            "put better {source}\nmark {a}",
            "rm {source}; {1} {source}\nput other-better {other}\nmark {b}",
        ],
        ways: BY_COMMAND,
        ..TWO
    },
    Plan {
        name: "command added on the way",
        turns: &[
            "relist 's/( {a} .*)$/\\1\\n      - Verify: `false`/'\nput better {source}\nmark {a}",
        ],
        says: "its Verify command was added after arming",
        ..DOUBT
    },
    Plan {
        name: "id taken over by a new task",
        suspects: "{b}",
        turns: &[
            "put better {source}\nmark {a}",
            "relist 's#^( *[-*]) \\[ \\] {b} (.*)#\\1 [ ] {b} Write {renamed}\\n\\1 [ ] X9 \\2#'; tick none",
            "put other-better {other}\nmark {b} X9",
            "tick none",
        ],
        ways: BY_HAND,
        ..TWO
    },
    Plan {
        name: "numbers moved up to a done one",
        suspects: "{b}",
        turns: &[
            "put better {source}\nmark {a}",
            "relist '/ {a} /d; s/ {b} / {a} /'; tick none",
            "tick {a}",
        ],
        ways: BY_HAND,
        ..TWO
    },
    Plan {
        name: "proved task hidden, its work taken back",
        each: &[
            "relist '/ {a} /d'",
            "relist 's/({a} .*)$/~~\\1~~/'",
            "relist 's/^(.* {a} )/> \\1/'",
        ],
        turns: &[
            "put better {source}\nmark {a}",
            "{1}; put source {source}; put other-better {other}\nmark {b}",
            "tick none",
        ],
        ..TWO
    },
    Plan {
        name: "task of an unrun command taken out",
        verify: "sh try.sh",
        files: &[("try.sh", "exit 1\n")],
        turns: &[
            "put better {source}\nmark {a}",
            "relist '/ {a} /d; /Verify/d'; put other-better {other}\nmark {b}",
            "tick none",
        ],
        ways: BY_HAND,
        ..TWO
    },
    Plan {
        name: "one of two tasks alike taken out",
        tasks: &["Write what is missing", "Write what is missing"],
        suspects: "{b}",
        turns: &["put better {source}\nmark {a}\nrelist '/ {b} /d'", "tick none"],
        ..OPEN
    },
    Plan {
        name: "reworded after its tick, open again",
        turns: &[
            "put better {source}\nmark {a}",
            "relist 's#\\[x\\] {a} .*#[ ] {a} Write {renamed}#'; tick none",
            "mark {a}\nput other-better {other}\nmark {b}",
        ],
        ..TWO
    },
    Plan {
        name: "reworded after its tick, its work taken back",
        turns: &[
            "put better {source}\nmark {a}",
            "relist 's#\\[x\\] {a} .*#[ ] {a} Write more#'; put source {source}; tick none",
            "echo more >more.txt\nmark {a}",
            "put other-better {other}\nmark {b}",
            "tick {a}",
        ],
        ..TWO
    },
];
