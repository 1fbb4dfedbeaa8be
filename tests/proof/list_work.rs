//! Honest work and the list: how it is edited, how tasks hang together, and what the agent says of them.

use crate::case::Way;
use crate::plan::{HONEST, Plan, SHARED, TWO};

const BOTH: Plan = Plan { suspects: "", ending: HONEST.ending, ways: HONEST.ways, ..TWO };
const EDITED: Plan = Plan {
    turns: &["put better {source}\nmark {a}\n{1}", "put other-better {other}\nmark {b}"],
    ..BOTH
};

pub const PLANS: &[Plan] = &[
    Plan {
        name: "tasks added on the way",
        each: &[
            "relist 's/^( *)([-*]) \\[ \\] {b} .*/&\\n\\1\\2 [x] X9 See that it is quick/'",
            "printf '\\n- [x] X9 See that it is quick\\n' >>$LIST",
            "relist 's/^( *)([-*]) \\[ \\] {b} .*/&\\n\\1    \\2 [x] X9 A part of it/'",
        ],
        ..EDITED
    },
    Plan {
        name: "list made better to read",
        each: &[
            "relist 's/^## Phase 1.*/## Phase 1: The core of it/'",
            "printf '\\n## Notes\\n\\nIt went well.\\n' >>$LIST",
            "relist 's/({b} Show it)/\\1 to all/'",
            "relist 's/^( *)\\* /\\1- /'",
            "{ echo; cat $LIST; } >$DESK/l; put l $LIST",
        ],
        ..EDITED
    },
    Plan {
        name: "list in another order",
        each: &["sort -r", "grep -v '^$'"],
        turns: &[
            "put better {source}\nmark {a}\n{1} $LIST >$DESK/l; put l $LIST",
            "put other-better {other}\nmark {b}",
        ],
        ..BOTH
    },
    Plan {
        name: "list with other line ends or a mark",
        each: &[
            "sed 's/\\r*$/\\r/' $LIST",
            "tr -d '\\r' <$LIST",
            "{ printf '\\357\\273\\277'; cat $LIST; }",
        ],
        turns: &[
            "put better {source}\nmark {a}\n{1} >$DESK/l; put l $LIST",
            "put other-better {other}\nmark {b}",
        ],
        ..BOTH
    },
    Plan {
        name: "ticked with a capital letter",
        turns: &[
            "put better {source}\nput other-better {other}\nrelist 's/\\[ \\]/[X]/'; tick none",
        ],
        ways: &[Way::Hand],
        ..BOTH
    },
    Plan {
        name: "done from the last to the first",
        turns: &["put other-better {other}\nmark {b}", "put better {source}\nmark {a}"],
        ..BOTH
    },
    Plan {
        name: "done with another one, as said",
        tasks: &["Implement the total in {source}", "Make the total quick"],
        turns: &["put better {source}\nspool task done {a}\nspool task done {b} --with {a}"],
        ways: &[Way::Spool],
        ..HONEST
    },
    Plan {
        name: "all in one call",
        tasks: &["Implement the total in {source}", "Show it in {other}", "Describe it in {doc}"],
        turns: &[
            "put better {source}; put other-better {other}; put doc {doc}\nspool task done {ids}",
        ],
        ways: &[Way::Spool],
        ..HONEST
    },
    Plan {
        name: "reason in the last message",
        tasks: &["See that {source} adds two numbers"],
        each: &[
            "<no-change>{a}: it does so already</no-change>",
            "I have read it.\n\n<no-change>{a}: it does so already</no-change>\n\nThat is all.",
        ],
        turns: &["tick {a}"],
        words: "{1}",
        ways: &[Way::Hand],
        ..HONEST
    },
    Plan {
        name: "another file, in the last message",
        turns: &["put other-better {other}\ntick {a}"],
        words: "Done.\n<elsewhere>{a}: the sums are in the page now</elsewhere>",
        ways: &[Way::Hand],
        ..HONEST
    },
    Plan {
        name: "task in other scripts",
        each: &[
            "نفّذ المجموع في `{source}`",
            "Реализовать сумму в {source}",
            "Implémente la somme dans « {source} »",
            "ใน {source} ให้รวมทั้งหมด",
            "{source} में योग जोड़ें",
            "Υλοποίησε το άθροισμα στο {source}",
        ],
        tasks: &["{1}"],
        turns: &["put better {source}"],
        ..HONEST
    },
    Plan {
        name: "task with much text",
        tasks: &[
            "Implement the total in {source}\nThe total is the sum of all numbers of a list, in the order in which they are given.\n\
             - An empty list has the total 0.\n- It is told in the page, and in `GET /api/total`.\n\
             - Links: https://example.com/a.html, docs/none.md, `none.py`\n- See also \"the big picture\" (chapter 3).",
        ],
        turns: &["put better {source}"],
        cases: 3,
        ..HONEST
    },
    Plan {
        name: "two tasks with the same words",
        tasks: &["Implement the total in {source}", "Implement the total in {source}"],
        turns: &[
            "put better {source}\nmark {a}",
            "echo more >>{source}; echo and more >>{source}\nmark {b}",
        ],
        ..HONEST
    },
    Plan {
        name: "taken back and done again",
        turns: &[
            "put better {source}\nmark {a}\nput source {source}",
            "put better {source}\nput other-better {other}\nmark {a} {b}",
        ],
        ..BOTH
    },
    Plan {
        name: "taken back and done again in a shared file",
        tasks: SHARED,
        turns: &[
            "put better {source}\nmark {a}",
            "cp {source} $DESK/s; echo 'the mean' >>{source}\nmark {b}\nput s {source}",
            "echo 'the mean' >>{source}\nput other-better {other}\nmark {b} {c}",
        ],
        ..HONEST
    },
    Plan {
        name: "formatter over the work of two tasks",
        tasks: SHARED,
        each: &["sed 's/$/ /'", "sed 's/mean/middle/'", "sort"],
        turns: &[
            "put better {source}\nmark {a}",
            "echo 'the mean' >>{source}\nmark {b}",
            "{1} {source} >$DESK/s; put s {source}\nput other-better {other}\nmark {c}",
        ],
        ..HONEST
    },
    Plan {
        name: "file of two tasks moved by a third",
        tasks: &[
            "Implement the total in {source}",
            "Show the mean in {source}",
            "Move {source} to {renamed}",
        ],
        turns: &[
            "put better {source}\nmark {a}",
            "echo 'the mean' >>{source}\nmark {b}",
            "mkdir -p $(dirname {renamed}); mv {source} {renamed}\nmark {c}",
        ],
        ..HONEST
    },
    Plan {
        name: "taken out of a shared file, as asked",
        tasks: &[
            "Implement the total in {source}",
            "Try the mean in {source}",
            "Take the mean out of {source} again",
        ],
        turns: &[
            "put better {source}\nmark {a}",
            "cp {source} $DESK/s; echo 'the mean' >>{source}\nmark {b}",
            "put s {source}\nmark {c}",
        ],
        second_word: "spool task done {b} --no-change 'it was tried and is out again'",
        says: "only brought back",
        ..HONEST
    },
    Plan {
        name: "written twice, better the second time",
        turns: &[
            "put junk {source}\nmark {a}",
            "put better {source}\nput other-better {other}\nmark {b}",
        ],
        ..BOTH
    },
    Plan {
        name: "one of three files was enough",
        tasks: &["Implement the total in {source} (see {other} and {doc})"],
        turns: &["put better {source}"],
        ..HONEST
    },
    Plan {
        name: "first work replaced by a later task",
        tasks: &["Test the total in {new_test}", "Put all tests into better files"],
        turns: &[
            "put new-test {new_test}\nmark {a}",
            "mv {new_test} all-tests.txt; echo more >>all-tests.txt\nmark {b}",
        ],
        second_word: "spool task done {a} --elsewhere 'the tests are in all-tests.txt now'",
        ..HONEST
    },
    Plan {
        name: "subagents that work at the same time",
        tasks: &[
            "[P] Implement the total in {source}",
            "[P] Show it in {other}",
            "[P] Describe it in {doc}",
        ],
        turns: &[
            "(put better {source}; mark {a}) & wait; (put other-better {other}; put doc {doc}) & wait\nmark {c}\nmark {b}",
        ],
        ..HONEST
    },
    Plan {
        name: "nothing but a decision",
        tasks: &["Decide whether the total is a number or a text"],
        each: &[
            "spool task done {a} --no-change 'a number, as in the plan'",
            "echo '- A number.' >>specs/001-sums/research.md\nmark {a}",
            "mkdir -p docs/adr; echo '# A number' >docs/adr/1.md\nmark {a}",
        ],
        turns: &["{1}"],
        ..HONEST
    },
    Plan {
        name: "question that the project answers",
        tasks: &["Ask nobody: read {config} and say what the limit is"],
        turns: &["spool task done {a} --no-change 'the limit is in there'"],
        ..HONEST
    },
    Plan {
        name: "only a part is to be done",
        each: &[
            "relist '/ {b} /d'\nspool task drop {b} 'the person wants it later'",
            "spool task drop {b} 'it is done elsewhere already'",
        ],
        turns: &["put better {source}\nmark {a}\n{1}"],
        ..BOTH
    },
    Plan {
        name: "tried, and taken out again",
        tasks: &["{1}", "{2}"],
        each: &[
            "Try the total in {source} ¦ Take the total out of {source} again ¦ put better {source} ¦ put source {source}",
            "Write `tools/once.sh` ¦ Run `tools/once.sh` and delete it ¦ mkdir -p tools; echo 1 >tools/once.sh ¦ rm tools/once.sh",
        ],
        turns: &["{3}\nmark {a}", "{4}\nmark {b}"],
        second_word: "for id in {a} {b}; do spool task done $id --no-change 'it was tried and is out again'; done",
        ..HONEST
    },
    Plan {
        name: "all done first, ticked one by one",
        tasks: &["Implement the total in {source}", "Make the output easy to read"],
        turns: &["put better {source}; put other-better {other}\nmark {a}\nmark {b}"],
        second_word: "spool task done {b} --with {a}",
        cases: 4,
        ..HONEST
    },
    Plan {
        name: "all done first, ticked turn by turn",
        tasks: &["{1}", "{2}"],
        each: &[
            "Implement the total in {source} ¦ Make the output easy to read",
            "Make the sums faster ¦ Show it in {other}",
        ],
        turns: &["put better {source}; put other-better {other}\nmark {a}", "mark {b}"],
        second_word: "spool task done {b} --with {a}",
        ..HONEST
    },
    Plan {
        name: "removal that a command proves",
        tasks: &["Remove {old}", "Show it in {other}"],
        verify: "test ! -e {old}",
        turns: &["rm {old}\nmark {a}", "put other-better {other}\nmark {b}"],
        ..HONEST
    },
    Plan {
        name: "link that a command proves",
        tasks: &["Let `current` lead to the second version", "Show it in {other}"],
        files: &[("v1/a.txt", "1\n"), ("v2/a.txt", "2\n")],
        before: "ln -s v1 current",
        verify: "test -e v2/a.txt -a -L current",
        turns: &["ln -sfn v2 current\nmark {a}", "put other-better {other}\nmark {b}"],
        ..HONEST
    },
    Plan {
        name: "two removals in one go",
        tasks: &["Drop the dead code", "Clean up", "Show it in {other}"],
        turns: &["rm {old}\nmark {a} {b}", "put other-better {other}\nmark {c}"],
        ..HONEST
    },
    Plan {
        name: "file of a task removed by a later one",
        tasks: &["{1}", "{2}", "Show it in {other}"],
        each: &[
            "Implement the total in {source} ¦ Move {source} to {renamed} ¦ put better {source} ¦ {source}",
            "Test the total in {new_test} ¦ Move {new_test} to {renamed} ¦ put new-test {new_test} ¦ {new_test}",
        ],
        turns: &[
            "{3}\nmark {a}",
            "mkdir -p $(dirname {renamed}); mv {4} {renamed}\nmark {b}",
            "put other-better {other}\nmark {c}",
        ],
        ..HONEST
    },
    Plan {
        name: "ticked again after its command",
        verify: "grep -q total_of_all {source}",
        turns: &[
            "put better {source}\nmark {a}",
            "relist 's/\\[x\\]/[ ]/'",
            "tick {a}",
            "put other-better {other}\nmark {b}",
        ],
        ..BOTH
    },
    Plan {
        name: "list numbered anew",
        each: &[
            "relist 's#^( *[-*]) \\[ \\] {b} (.*)#\\1 [ ] {b} Write {renamed}\\n\\1 [ ] X9 \\2#'; tick none",
            "relist 's/ {a} / X8 /; s/ {b} / X9 /'; tick none",
        ],
        turns: &[
            "put better {source}\nmark {a}",
            "{1}",
            "mkdir -p $(dirname {renamed}); echo more >{renamed}; put other-better {other}\ntick {b} X9",
        ],
        ways: &[Way::Hand],
        ..BOTH
    },
];
