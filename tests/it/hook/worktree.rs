//! A session that enters another work tree of the repository after its loop was armed.

use crate::hook::outcome::Outcome;
use crate::hook::support::Bench;
use crate::support::has::Has;
use crate::support::scratch::Said;
use std::path::{Path, PathBuf};

const LIST: &str = "# Tasks\n\n- [ ] T001 Write lib/a.py\n- [ ] T002 Write lib/b.py\n";
const INSIDE: &str = ".claude/worktrees/quiet";

/// A loop over two tasks, and a work tree that was entered since; git ignores those in the project where that is asked for.
fn entered(place: &str, ignored: bool) -> (Bench, PathBuf) {
    let bench = Bench::ready().tasks(LIST);
    bench.init();
    bench.write("lib/a.py", "pass\n");
    bench.write(".gitignore", if ignored { ".claude/\n" } else { ".claude/ralph/\n" });
    bench.commit("the beginning");
    bench.implement("s1", "").context();
    bench.git(&["worktree", "add", "--quiet", place]);
    let tree = bench.path(place).canonicalize().unwrap();
    (bench, tree)
}

fn stops_in(bench: &Bench, folder: &Path) -> Outcome {
    bench.transcript("s1").tool("Edit");
    let root = bench.root.to_str().unwrap();
    bench.stop("s1").standing_in(folder).variable("CLAUDE_PROJECT_DIR", root).run()
}

fn ticks_a(bench: &Bench, folder: &Path) -> Said {
    let mut done = bench.spool();
    done.args(["task", "done", "T001"]).env("CLAUDE_CODE_SESSION_ID", "s1").current_dir(folder);
    Said::of(&mut done)
}

#[test]
fn both_lists_are_named() {
    for (place, ignored) in [(INSIDE, true), (INSIDE, false), ("../beside", false)] {
        let (bench, tree) = entered(place, ignored);
        assert!(!stops_in(&bench, &tree).reason().contains("work tree"));
        let list = bench.feature_path("tasks.md");
        let copy = tree.join(list.strip_prefix(&bench.root).unwrap());
        std::fs::write(&copy, LIST.replace("[ ]", "[x]")).unwrap();
        let stop = stops_in(&bench, &tree);
        let words = format!(
            "The work tree's list is ticked ({}), and the loop's list is {list}: tick what is done in {list}.",
            copy.display(),
            list = list.display()
        );
        assert!(stop.reason().contains(&words), "{stop}");
        assert!(stop.message().contains(&words), "{stop}");
        assert!(!stops_in(&bench, &bench.root).reason().contains("work tree"), "it has left it");
    }
}

#[test]
fn differing_copy_is_named() {
    let (bench, tree) = entered(INSIDE, true);
    let list = bench.feature_path("tasks.md");
    let copy = tree.join(list.strip_prefix(&bench.root).unwrap());
    std::fs::write(&list, LIST.replace("[ ] T001", "[x] T001")).unwrap();
    std::fs::write(&copy, LIST.replace("[ ] T002", "[x] T002")).unwrap();
    assert!(stops_in(&bench, &tree).reason().contains("The work tree's list is ticked"));
}

#[test]
fn a_commit_there_is_progress() {
    for (place, ignored) in [(INSIDE, true), (INSIDE, false), ("../beside", false)] {
        let (bench, tree) = entered(place, ignored);
        for number in 0..25 {
            bench.git_in(&tree, &["commit", "--quiet", "--allow-empty", "-m", &number.to_string()]);
            stops_in(&bench, &tree).reason();
        }
        let mut last = None;
        let is_held = |_: &usize| last.insert(stops_in(&bench, &tree)).is_block();
        let stops = (0..30).take_while(is_held).count();
        assert!(stops < 14, "{place}: {stops}");
        let last = last.unwrap();
        let told = last.told();
        told.has(&format!(
            "The session is in another work tree, and its work may be there: {}",
            tree.display()
        ));
        assert_eq!(bench.verdicts("s1").last().unwrap(), "end no_progress");
    }
}

#[test]
fn work_there_proves_a_task() {
    for (place, ignored) in [(INSIDE, true), (INSIDE, false), ("../beside", false)] {
        let (bench, tree) = entered(place, ignored);
        let said = ticks_a(&bench, &tree).refused();
        assert!(
            said.contains("lib/a.py, which is byte for byte as"),
            "a checkout is no work: {said}"
        );
        std::fs::write(tree.join("lib/a.py"), "print('a')\n").unwrap();
        ticks_a(&bench, &tree).ok();
        let shown = Said::of(bench.spool().args(["task", "show", "T001"])).ok();
        assert!(shown.contains("files"), "{shown}");
        assert!(!tree.join(".claude/ralph").exists(), "{place}: the loop is the project's");
    }
}

#[test]
fn work_beside_proves_project_tasks() {
    let (bench, tree) = entered("../beside", false);
    std::fs::write(tree.join("lib/a.py"), "print('a')\n").unwrap();
    bench.tick("T001");
    let stop = stops_in(&bench, &tree);
    assert!(stop.reason().contains("1 of 2"), "{stop}");
    assert!(!stop.reason().contains("byte for byte"), "{stop}");
}

#[test]
fn work_of_another_session_counts_nothing() {
    let (bench, tree) = entered(INSIDE, true);
    std::fs::write(tree.join("lib/a.py"), "print('a')\n").unwrap();
    let said = ticks_a(&bench, &bench.root).refused();
    assert!(said.contains("nothing in the project has changed"), "{said}");
}

/// What a person is told in this folder.
fn told(bench: &Bench, folder: &Path, arguments: &[&str]) -> Said {
    let mut spool = bench.spool();
    Said::of(spool.args(arguments).current_dir(folder).env("CLAUDE_CODE_SESSION_ID", ""))
}

#[test]
fn other_tree_loop_is_found() {
    for place in [INSIDE, "../beside"] {
        let (bench, tree) = entered(place, true);
        let list = bench.feature_path("tasks.md");
        let feature = list.parent().unwrap().strip_prefix(&bench.root).unwrap().to_str().unwrap();
        stops_in(&bench, &bench.root);
        let project = format!("Project: {}\n", bench.root.display());
        let status = told(&bench, &tree, &["status"]).ok();
        assert!(status.contains(&project) && status.contains("Loop: live"), "{status}");
        assert!(told(&bench, &tree, &["log"]).ok().contains("armed"));
        for name in [feature, "tasks.md"] {
            let folder = if name == feature { &bench.root } else { list.parent().unwrap() };
            let path = format!("./{name}");
            assert!(told(&bench, folder, &["log", &path]).ok().contains("armed"), "{path}");
        }
        told(&bench, &tree, &["pause"]).ok();
        told(&bench, &tree, &["resume"]).ok();
        let input = serde_json::json!({"session_id": "s1", "cwd": tree}).to_string();
        let band = Said::with_input(bench.spool().arg("statusline"), input).ok();
        assert!(band.contains("0 of 2"), "{band}");
        let here = tree.to_str().unwrap();
        let status = told(&bench, &tree, &["status", "--project", here]).ok();
        assert!(status.contains("Loop: none"), "{status}");
        let other = format!("A loop is in the work tree {0}: spool", bench.root.display());
        assert!(status.contains(&other), "{status}");
        let said = told(
            &bench,
            &bench.root,
            &["log", &format!("elsewhere/{}", crate::hook::support::FEATURE)],
        );
        assert!(said.refused().contains("no loop here is called"));
        told(&bench, &tree, &["stop"]).ok();
        assert!(told(&bench, &bench.root, &["status"]).ok().contains("Loop: ended"));
    }
}
