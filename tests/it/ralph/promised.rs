//! A promise without a check: what stands behind it is told by the contents of files.

use crate::hook::outcome::Outcome;
use crate::hook::support::Bench;
use crate::ralph::{PROMISE, ralph};
use std::fs;

/// What an agent does.
type Work<'a> = &'a dyn Fn(&Bench);

const NOTHING: &str = "no check, no changed file";

/// A repository with one committed file and this list, in which a loop of this task is armed.
fn armed(list: (&str, &str), task: &str) -> Bench {
    let bench = Bench::folder().file("src/kept.rs", "fn kept() {}\n").file(list.0, list.1);
    bench.write(".gitignore", ".env\n");
    bench.init();
    bench.commit("the beginning");
    ralph(&bench, "s1", &format!("\"{task}\"")).context();
    bench
}

/// The agent calls a tool and promises.
fn promises(bench: &Bench) -> Outcome {
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").saying(PROMISE).run()
}

/// The promise is sent back once with these words, and ends the loop with them when it is made again.
fn lacks(bench: &Bench, why: &str) {
    let stop = promises(bench);
    assert!(stop.reason().contains(&format!("nothing stands behind it: {why}.")), "{why}: {stop}");
    let stop = promises(bench);
    assert!(stop.told().contains(&format!(" · on the agent's word alone: {why} · ")), "{stop}");
}

#[test]
fn p5_what_changes_no_content() {
    let same = |bench: &Bench| {
        bench.write("src/kept.rs", "fn kept() {}\n");
    };
    let cases: [Work<'_>; 6] = [
        &same,
        &|bench| {
            fs::remove_file(bench.path("src/kept.rs")).unwrap();
            same(bench);
        },
        &|bench| {
            bench.write("src/kept.rs", "fn other() {}\n");
            bench.git(&["checkout", "--quiet", "--", "src/kept.rs"]);
        },
        &|bench| {
            bench.write("src/__pycache__/kept.pyc", "1");
        },
        &|bench| {
            bench.write(".claude/settings.local.json", "{}");
        },
        &|bench| {
            bench.git(&["commit", "--quiet", "--allow-empty", "--message", "work"]);
        },
    ];
    for case in cases {
        let bench = armed(("notes.md", "none\n"), "Write the parser");
        case(&bench);
        lacks(&bench, NOTHING);
    }
}

#[test]
fn p5_what_changes_content_counts() {
    let cases: [(&str, Work<'_>); 4] = [
        ("Write the parser", &|bench| {
            bench.write("src/kept.rs", "fn kept() { }\n");
        }),
        ("Write the parser", &|bench| {
            bench.write("src/new.rs", "");
            bench.git(&["add", "--all"]);
            bench.git(&["commit", "--quiet", "--message", "work"]);
        }),
        ("Write the parser", &|bench| fs::create_dir(bench.path("fixtures")).unwrap()),
        ("Put the key into `.env`", &|bench| {
            bench.write(".env", "KEY=1\n");
        }),
    ];
    for (task, case) in cases {
        let bench = armed(("notes.md", "none\n"), task);
        case(&bench);
        let stop = promises(&bench);
        assert!(stop.told().contains("word alone: no check · "), "{task}: {stop}");
    }
}

#[test]
fn p5_open_boxes_of_lists() {
    let open = "- [x] Begin\n- [ ] Write\n- [ ] Test\n";
    for (path, task) in [
        ("TODO.md", "Do everything in `TODO.md`."),
        ("TODO.md", "Do everything in todo.md, please"),
        ("TODO", "Do all that is in TODO."),
        ("TODO.org", "Do **TODO.org**!"),
        ("docs/my plan.md", "Do everything in `docs/my plan.md`."),
        ("docs/my plan.md", "Do everything in docs/my plan.md"),
        ("docs/plan.md", "Do the plan (plan.md)"),
        ("docs/plan.md", "Do everything in @docs/plan.md"),
        ("docs/plan.md", "Do everything in docs/*.md"),
        ("docs/TODO.md", "Do all that is in the TODO."),
        ("docs/todo/first.md", "Do everything in docs/todo/"),
        ("docs/todo/first.md", "Do everything in docs/todo"),
        ("todo/first.md", "Do everything in the folder `todo`"),
        ("plan.mdx", "Do everything in plan.mdx"),
        ("docs/plan.adoc", "Do the plan (plan.adoc)"),
        ("work.taskpaper", "Do everything in work.taskpaper"),
        ("work.list", "Do everything in work.list"),
        (
            "\u{4efb}\u{52a1}.md",
            "\u{5b8c}\u{6210}\u{4efb}\u{52a1}.md\u{91cc}\u{7684}\u{5168}\u{90e8}",
        ),
    ] {
        let bench = armed((path, open), task);
        bench.write("src/new.rs", "fn new() {}\n");
        lacks(&bench, &format!("no check, 2 tasks open in {path}"));
    }
    let bench = Bench::folder().file("a/TODO.md", open).file("b/TODO.md", "- [x] Done\n");
    ralph(&bench, "s1", "\"Do everything in TODO.md\"").context();
    bench.write("src/new.rs", "fn new() {}\n");
    lacks(&bench, "no check, 2 tasks open in a/TODO.md");
    let bench = Bench::folder().file("TODO.md", open);
    let path = bench.path("TODO.md");
    ralph(&bench, "s1", &format!("\"Do everything in {}\"", path.display())).context();
    bench.write("src/new.rs", "fn new() {}\n");
    lacks(&bench, "no check, 2 tasks open in TODO.md");
    let long = format!("{}\nDo everything in `TODO.md`.", "Write the parser. ".repeat(200));
    let bench = armed(("TODO.md", open), &long);
    bench.write("src/new.rs", "fn new() {}\n");
    lacks(&bench, "no check, 2 tasks open in TODO.md");
}

#[test]
fn p5_open_uncounted_boxes() {
    for open in [
        "☑ Begin\n☐ Write\n",
        "| | |\n|---|---|\n| [x] | Begin |\n| [ ] | Write |\n",
        "- [x] WP1 Begin\n- WP2 [~] Write\n",
    ] {
        let bench = armed(("TODO.md", open), "Do everything in TODO.md");
        bench.write("src/new.rs", "fn new() {}\n");
        let stop = promises(&bench);
        let why = stop.reason();
        assert!(why.contains("in TODO.md, 1 box is open and does not count"), "{why}");
    }
}

#[test]
fn p5_boxes_that_left_the_list() {
    let list = "- [ ] Write it\n- [ ] Test it\n- [ ] Ship it\n";
    for (left, why) in [
        ("- [x] Write it\n", "2 open tasks gone from the list"),
        (
            "- [x] Write it\n- [ ] Test it\n",
            "1 task open in TODO.md, 1 open task gone from the list",
        ),
        ("", "3 open tasks gone from the list"),
    ] {
        let bench = armed(("TODO.md", list), "Do everything in `TODO.md`.");
        match left {
            "" => fs::remove_file(bench.path("TODO.md")).unwrap(),
            left => drop(bench.write("TODO.md", left)),
        }
        lacks(&bench, &format!("no check, {why}"));
    }
    let bench = armed(("TODO.md", list), "Do everything in `TODO.md`.");
    bench.write("TODO.md", list.replace("[ ]", "[x]"));
    assert!(promises(&bench).told().contains("word alone: no check · "));
}

#[test]
fn p5_a_takeover_keeps_the_beginning() {
    let bench = armed(("notes.md", "none\n"), "Write the parser");
    bench.write("src/kept.rs", "fn kept() {}\n");
    ralph(&bench, "s2", "--adopt s1 --force").context();
    bench.transcript("s2").tool("Edit");
    let stop = bench.stop("s2").saying(PROMISE).run();
    assert!(stop.reason().contains(&format!("nothing stands behind it: {NOTHING}.")), "{stop}");
}

#[test]
fn p5_large_project_uses_times() {
    let bench = Bench::folder().file("src/kept.rs", "fn kept() {}\n");
    for number in 0..20_001 {
        bench.write(format!("data/{number}"), "");
    }
    for is_written in [false, true] {
        ralph(&bench, "s1", "\"Write the parser\"").context();
        if is_written {
            crate::ralph::change(&bench);
            assert!(promises(&bench).told().contains("word alone: no check · "));
        } else {
            lacks(&bench, NOTHING);
        }
    }
}

#[test]
fn p5_with_no_place_outside() {
    let bench = Bench::folder().file("TODO.md", "- [ ] Write\n");
    let inside = bench.path("state");
    let inside = inside.to_str().unwrap();
    let command = bench.command("s1", "speckit:ralph-loop", "\"Do everything in `TODO.md`.\"");
    command.variable("XDG_STATE_HOME", inside).run().context();
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").saying(PROMISE).variable("XDG_STATE_HOME", inside).run();
    let why = "no check, no changed file, 1 task open in TODO.md";
    assert!(stop.reason().contains(&format!("nothing stands behind it: {why}.")), "{stop}");
}

#[test]
fn p5_nothing_stays_beside_pins() {
    let bench = armed(("notes.md", "none\n"), "Write the parser");
    let pins = bench.pin_path("session-s1").unwrap().parent().unwrap().to_owned();
    let kept = || fs::read_dir(&pins).unwrap().count();
    assert_eq!(kept(), 4);
    lacks(&bench, NOTHING);
    assert_eq!(kept(), 1, "the record");
}
