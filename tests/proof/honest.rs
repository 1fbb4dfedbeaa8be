//! Work that was done, also where little of it can be seen.

use crate::case::{BOTH_WAYS, Case, Kind, Way, any, in_git, with_words};
use crate::layout::{Layout, MARKER};

const BY_COMMAND: &[Way] = &[Way::Spool];

fn without_git(layout: &Layout) -> bool {
    !layout.git
}

const fn kind(name: &'static str, cases: usize, make: fn(&Layout, usize) -> Case) -> Kind {
    Kind { name, cases, ways: BOTH_WAYS, fits: any, make }
}

const fn of_git(name: &'static str, cases: usize, make: fn(&Layout, usize) -> Case) -> Kind {
    Kind { name, cases, ways: BOTH_WAYS, fits: in_git, make }
}

pub const KINDS: &[Kind] = &[
    kind("new function", 7, new_function),
    kind("docs only", 6, docs),
    kind("config", 6, config),
    kind("deletion", 6, deletion),
    kind("rename", 6, rename),
    of_git("submodule", 5, submodule),
    kind("generated file", 5, generated),
    Kind {
        name: "no change with a reason",
        cases: 6,
        ways: BY_COMMAND,
        fits: any,
        make: no_change,
    },
    of_git("several tasks in one commit", 5, one_commit),
    of_git("a commit for each task", 4, commit_each),
    kind("parallel group", 6, parallel),
    kind("[VERIFY] task", 6, verify_task),
    kind("formatting", 5, formatting),
    kind("comments that were asked for", 5, comments),
    kind("new test", 5, new_test),
    of_git("merge", 4, merge),
    kind("binary file", 5, binary),
    Kind {
        name: "file without git",
        cases: 3,
        ways: BOTH_WAYS,
        fits: without_git,
        make: outside_git,
    },
    Kind { name: "file that git ignores", cases: 2, ways: BOTH_WAYS, fits: in_git, make: ignored },
    kind("task done before its turn", 5, before_its_turn),
    kind("task that names no file", 5, nameless),
    kind("word that looks like a file", 14, words),
    kind("bare name of a file", 16, bare_name),
    kind("two tasks in one file", 6, one_file),
    kind("Verify passes", 6, verify_passes),
    kind("work in several turns", 4, several_turns),
    kind("ticked before the loop", 4, ticked_before),
    kind("many files that a program made", 4, many_files),
    kind("file behind a link", 4, behind_link),
    kind("link that was asked for", 4, link),
    kind("end of a large file", 3, large_file),
    Kind { name: "ticked again", cases: 4, ways: &[Way::Hand], fits: any, make: ticked_again },
];

fn mark(layout: &Layout, number: usize) -> String {
    format!("mark {}", layout.id(number))
}

fn task(layout: &Layout, text: String) -> Case {
    Case::new(layout, &[(layout.id(1), text)])
}

fn implement(layout: &Layout) -> String {
    format!("Implement the total in {}", layout.said(layout.source))
}

fn commit(layout: &Layout, number: usize) -> &'static str {
    if layout.git && number.is_multiple_of(2) { "git add -A; git commit -qm 'work'" } else { "" }
}

fn new_function(layout: &Layout, number: usize) -> Case {
    let commit = commit(layout, number);
    let work = format!("put better {}\n{commit}\n{}", layout.source, mark(layout, 1));
    task(layout, implement(layout)).turn(work)
}

fn docs(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => format!("Describe the use in {}", layout.said(layout.doc)),
        _ => "Say in the documentation how it is used".to_owned(),
    };
    task(layout, text).turn(format!("put doc {}\n{}", layout.doc, mark(layout, 1)))
}

fn config(layout: &Layout, number: usize) -> Case {
    let file = layout.config.0;
    let text = match number % 2 {
        0 => format!("Set the limit in {}", layout.said(file)),
        _ => "Configure the limit".to_owned(),
    };
    task(layout, text).turn(format!("put config {file}\n{}", mark(layout, 1)))
}

fn deletion(layout: &Layout, number: usize) -> Case {
    let old = layout.old;
    let text = match number % 3 {
        0 => format!("Remove {}", layout.said(old)),
        1 => format!("Delete {}, which nobody uses", layout.said(old)),
        _ => "Drop the dead code".to_owned(),
    };
    let commit = commit(layout, number);
    task(layout, text).turn(format!("rm {old}\n{commit}\n{}", mark(layout, 1)))
}

fn rename(layout: &Layout, number: usize) -> Case {
    let (old, new) = (layout.old, layout.renamed);
    let text = match number % 3 {
        0 => format!("Rename {} to {}", layout.said(old), layout.said(new)),
        1 => format!("Move {} to {}", layout.said(old), layout.said(new)),
        _ => "Put the first version with the other old code".to_owned(),
    };
    let commit = commit(layout, number);
    let work = format!("mkdir -p $(dirname {new}); mv {old} {new}\n{commit}");
    task(layout, text).turn(format!("{work}\n{}", mark(layout, 1)))
}

fn submodule(layout: &Layout, number: usize) -> Case {
    let library = "git init -q $DESK/library && (cd $DESK/library && echo 1 >one && git add -A && git commit -qm one)";
    let add = "git submodule --quiet add $DESK/library vendor/library";
    if number.is_multiple_of(2) {
        let case = task(layout, "Add the library as a submodule in vendor/library/".to_owned());
        return case
            .before(library)
            .turn(format!("{add} && git commit -qm 'the library'\n{}", mark(layout, 1)));
    }
    let text = "Update the submodule vendor/library/ to its newest commit".to_owned();
    let newer = "(cd $DESK/library && echo 2 >two && git add -A && git commit -qm two)";
    task(layout, text)
        .before(format!("{library}\n{add}\ngit commit -qm 'the library'\n{newer}"))
        .turn(format!(
            "(cd vendor/library && git pull -q)\ngit add -A; git commit -qm 'newer'\n{}",
            mark(layout, 1)
        ))
}

fn generated(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => "Generate gen/tables/sums.inc with `sh scripts/generate.sh`".to_owned(),
        _ => "Generate the tables again".to_owned(),
    };
    let program = "mkdir -p gen/tables; seq 1 400 >gen/tables/sums.inc\n";
    let case = task(layout, text).file("scripts/generate.sh", program);
    case.turn(format!("sh scripts/generate.sh\n{}", mark(layout, 1)))
}

/// What is asked for is there already.
fn no_change(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => format!("See that {} adds two numbers", layout.said(layout.source)),
        _ => "See that no number is added twice".to_owned(),
    };
    let why = "it does so already: I have read it";
    task(layout, text).turn(format!("spool task done {} --no-change '{why}'", layout.id(1)))
}

fn three(layout: &Layout) -> Case {
    Case::new(
        layout,
        &[
            (layout.id(1), implement(layout)),
            (layout.id(2), format!("Show it in {}", layout.said(layout.other))),
            (layout.id(3), format!("Describe it in {}", layout.said(layout.doc))),
        ],
    )
}

fn work_on_three(layout: &Layout) -> [String; 3] {
    [
        format!("put better {}", layout.source),
        format!("put other-better {}", layout.other),
        format!("put doc {}", layout.doc),
    ]
}

fn one_commit(layout: &Layout, number: usize) -> Case {
    let work = work_on_three(layout).join("\n");
    let [a, b, c] = [1, 2, 3].map(|number| layout.id(number));
    let marks = match number % 2 {
        0 => format!("mark {a} {b} {c}"),
        _ => format!("mark {a}\nmark {b}\nmark {c}"),
    };
    three(layout).turn(format!("{work}\ngit add -A; git commit -qm 'all of it'\n{marks}"))
}

fn commit_each(layout: &Layout, number: usize) -> Case {
    let each = work_on_three(layout).into_iter().enumerate().map(|(at, work)| {
        format!("{work}\ngit add -A; git commit -qm 'part {at}'\n{}", mark(layout, at + 1))
    });
    match number % 2 {
        0 => each.fold(three(layout), Case::turn),
        _ => three(layout).turn(each.collect::<Vec<_>>().join("\n")),
    }
}

fn parallel(layout: &Layout, number: usize) -> Case {
    let [a, b] = [1, 2].map(|number| layout.id(number));
    let tasks = [
        (a, format!("[P] {}", implement(layout))),
        (b, format!("[P] Show it in {}", layout.said(layout.other))),
    ];
    let [one, two, _] = work_on_three(layout);
    let case = Case::new(layout, &tasks);
    match number % 3 {
        0 => case.turn(format!("{one}\n{two}\nmark {a}\nmark {b}")),
        1 => case.turn(format!("{two}\n{one}\nmark {b}\nmark {a}")),
        _ => case.turn(format!("{one}\n{two}\nmark {a} {b}")),
    }
}

fn verify_task(layout: &Layout, number: usize) -> Case {
    let (a, b) = (layout.id(1), layout.id(2));
    let check = match number % 2 {
        0 => "[VERIFY] Run all tests\n- Verify: `cat tools/run.txt`".to_owned(),
        _ => "[VERIFY] Read all of it once more".to_owned(),
    };
    let case = Case::new(layout, &[(a, implement(layout)), (b, check)]);
    let case = case.file("tools/run.txt", format!("{}\n", layout.good_run));
    match number % 3 {
        0 => case.turn(format!("put better {}\nmark {a}\nmark {b}", layout.source)),
        _ => case.turn(format!("put better {}\nmark {a}", layout.source)).turn(format!("mark {b}")),
    }
}

fn formatting(layout: &Layout, number: usize) -> Case {
    let path = layout.said(layout.source);
    let text = match number % 3 {
        0 => format!("Format {path}"),
        1 => format!("Indent {path} as the others are"),
        _ => "Run the formatter".to_owned(),
    };
    task(layout, text).turn(format!("put blanks {}\n{}", layout.source, mark(layout, 1)))
}

fn comments(layout: &Layout, number: usize) -> Case {
    let path = layout.said(layout.source);
    let text = match number % 3 {
        0 => format!("Document every function of {path}"),
        1 => format!("Add comments to {path}"),
        _ => "Add the license header".to_owned(),
    };
    task(layout, text).turn(format!("put commented {}\n{}", layout.source, mark(layout, 1)))
}

fn new_test(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => format!("Test the total in {}", layout.said(layout.new_test)),
        _ => "Cover the total with a test".to_owned(),
    };
    let text = format!("{text}\n- Verify: `cat tools/run.txt`");
    let case = task(layout, text).file("tools/run.txt", format!("{}\n", layout.good_run));
    case.turn(format!("put new-test {}\n{}", layout.new_test, mark(layout, 1)))
}

fn merge(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => "Merge the branch `work`".to_owned(),
        _ => format!("Bring the total of the branch `work` into {}", layout.said(layout.source)),
    };
    let branch = format!(
        "git checkout -q -b work\nput better {}\ngit commit -qam 'the total'\ngit checkout -q main",
        layout.source
    );
    task(layout, text)
        .before(branch)
        .turn(format!("git merge -q --no-ff -m merged work\n{}", mark(layout, 1)))
}

fn binary(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => "Add the logo assets/img/logo.png".to_owned(),
        _ => "Add a logo".to_owned(),
    };
    let bytes: Vec<u8> = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".iter().copied().chain(0..=255).collect();
    let case = task(layout, text).desk("logo", bytes);
    case.turn(format!("put logo assets/img/logo.png\n{}", mark(layout, 1)))
}

/// Git knows nothing of it, because there is no git.
fn outside_git(layout: &Layout, _: usize) -> Case {
    let text = "Put the address of the server into config/local.env".to_owned();
    let case = task(layout, text).desk("env", "SERVER=localhost\n");
    case.turn(format!("put env config/local.env\n{}", mark(layout, 1)))
}

/// Git ignores it, and the task names it.
fn ignored(layout: &Layout, number: usize) -> Case {
    let why = "git ignores config/local.env, and it has the address now";
    outside_git(layout, number)
        .second_word(format!("spool task done {} --no-change '{why}'", layout.id(1)))
}

fn before_its_turn(layout: &Layout, number: usize) -> Case {
    let [one, two, three_] = work_on_three(layout);
    let [a, b, c] = [1, 2, 3].map(|number| layout.id(number));
    match number % 2 {
        0 => three(layout)
            .turn(format!("{one}\n{two}\nmark {a}"))
            .turn(format!("mark {b}"))
            .turn(format!("{three_}\nmark {c}")),
        _ => three(layout)
            .turn(format!("{one}\n{two}\n{three_}"))
            .turn(format!("mark {a}"))
            .turn(format!("mark {b}\nmark {c}")),
    }
}

fn nameless(layout: &Layout, number: usize) -> Case {
    let text =
        if number.is_multiple_of(2) { "Sum up more than two" } else { "Handle an empty list" };
    task(layout, text.to_owned()).turn(format!("put better {}\n{}", layout.source, mark(layout, 1)))
}

fn words(layout: &Layout, number: usize) -> Case {
    let case = task(layout, with_words(layout, number));
    case.turn(format!("put better {}\n{}", layout.source, mark(layout, 1)))
}

/// The name of a file stands there with no folder and no backticks.
fn bare_name(layout: &Layout, number: usize) -> Case {
    let change = "echo 'limit = 2' >>calc.py".to_owned();
    let elsewhere = format!("put better {}", layout.source);
    let (text, work) = match (number / 2) % 8 {
        0 => ("Update calc.py", change),
        1 => ("Handle an empty list in calc.py", change),
        2 => ("Create totals.py", "echo 'total = 1' >totals.py".to_owned()),
        3 => ("Remove calc.py", "rm calc.py".to_owned()),
        4 => ("Sum up more than two per plan.md", elsewhere),
        5 => ("Update the sums in plan.md", elsewhere),
        6 => ("Sum up more than two, as calc.py does", elsewhere),
        _ => ("Fix the sums of calc.py", elsewhere),
    };
    let case = task(layout, text.to_owned()).file("calc.py", "limit = 1\n");
    let case = case.file("specs/001-sums/plan.md", "# Plan\n");
    case.turn(format!("{work}\n{}", mark(layout, 1)))
}

/// Two tasks name one file, and one change is the work of both, whoever ticks which of them first.
fn one_file(layout: &Layout, number: usize) -> Case {
    let [a, b] = [1, 2].map(|number| layout.id(number));
    let tasks = [(a, implement(layout)), (b, format!("Speed up {}", layout.said(layout.source)))];
    let marks = match number % 3 {
        0 => format!("tick {a}\nspool task done {b}"),
        1 => format!("spool task done {b}\ntick {a}"),
        _ => format!("mark {a} {b}"),
    };
    Case::new(layout, &tasks).turn(format!("put better {}\n{marks}", layout.source))
}

fn verify_passes(layout: &Layout, number: usize) -> Case {
    let text = if number.is_multiple_of(2) {
        implement(layout)
    } else {
        "Sum up more than two".to_owned()
    };
    let text = format!("{text}\n- **Verify**: `grep -q {MARKER} {}`", layout.source);
    task(layout, text).turn(format!("put better {}\n{}", layout.source, mark(layout, 1)))
}

fn several_turns(layout: &Layout, _: usize) -> Case {
    let [one, two, _] = work_on_three(layout);
    let text = format!("{} and {}", implement(layout), layout.said(layout.other));
    task(layout, text).turn(one).turn(two).turn(mark(layout, 1))
}

/// What was ticked before the loop began is nobody's claim in it.
fn ticked_before(layout: &Layout, _: usize) -> Case {
    let (a, b) = (layout.id(1), layout.id(2));
    let tasks = [(a, format!("Write {}", layout.said(layout.old))), (b, implement(layout))];
    let case = Case::new(layout, &tasks).suspects(&[b]).before(format!("tick {a}"));
    case.turn(format!("put better {}\nmark {b}", layout.source))
}

/// What git ignores, or a `.gitignore` without git, may grow as it likes.
fn many_files(layout: &Layout, number: usize) -> Case {
    let folder = if number.is_multiple_of(2) { "node_modules/many" } else { "build/many" };
    let make = format!("mkdir -p {folder}; (cd {folder}; seq 20001 | xargs touch)");
    let work = format!("put better {}\n{make}\n{}", layout.source, mark(layout, 1));
    let case = task(layout, implement(layout));
    if layout.git { case.file(".gitignore", "/node_modules\nbuild/\n") } else { case }.turn(work)
}

/// As `CLAUDE.md` is often a link to `AGENTS.md`, and a folder one to another.
fn behind_link(layout: &Layout, number: usize) -> Case {
    let (before, text, work) = match number % 2 {
        0 => ("ln -s AGENTS.md CLAUDE.md", "CLAUDE.md", "echo 'Build: make all' >>CLAUDE.md"),
        _ => {
            ("mkdir -p real/part; ln -s real/part linked", "linked/", "echo 'x = 1' >linked/new.py")
        }
    };
    let case = task(layout, format!("Say in `{text}` how it is built"))
        .file("AGENTS.md", "# For agents\n");
    case.before(before).turn(format!("{work}\n{}", mark(layout, 1)))
}

fn link(layout: &Layout, number: usize) -> Case {
    let text = match number % 2 {
        0 => format!("Make links/first.txt a link to {}", layout.said(layout.source)),
        _ => "Give the first file another name".to_owned(),
    };
    let work = format!("mkdir -p links; ln -s ../{} links/first.txt", layout.source);
    task(layout, text).turn(format!("{work}\n{}", mark(layout, 1)))
}

fn large_file(layout: &Layout, _: usize) -> Case {
    let work = "printf changed | dd of=data/table.bin bs=1 seek=2999000 conv=notrunc 2>/dev/null";
    task(layout, "Mend the last row of data/table.bin".to_owned())
        .file("data/table.bin", vec![7; 3_000_000])
        .turn(format!("{work}\n{}", mark(layout, 1)))
}

/// The agent opens a box that counted, and closes it again.
fn ticked_again(layout: &Layout, _: usize) -> Case {
    let (a, b) = (layout.id(1), layout.id(2));
    let tasks = [(a, implement(layout)), (b, format!("Show it in {}", layout.said(layout.other)))];
    Case::new(layout, &tasks)
        .turn(format!("put better {}\n{}", layout.source, mark(layout, 1)))
        .turn("relist 's/\\[x\\]/[ ]/'")
        .turn(mark(layout, 1))
        .turn(format!("put other-better {}\n{}", layout.other, mark(layout, 2)))
}
