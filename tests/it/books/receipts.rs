//! What is seen when a task is ticked, and kept where the agent's files are not.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{FEATURE, FOUR, Project, SESSION, boxes};
use crate::support::schema;

/// The files that the only receipt of a task names.
fn files(project: &Project, id: &str) -> Value {
    let all = project.receipts(id);
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0]["by_content"], true, "{all:#?}");
    all[0]["files"].clone()
}

/// Where the receipts of the project are, with the end of their name.
fn kept(project: &Project, end: &str) -> PathBuf {
    let projects = project.home().join(".local/state/ralph-speckit/projects");
    let mut folders = fs::read_dir(projects).unwrap();
    folders.next().unwrap().unwrap().path().join(format!("receipts-{FEATURE}.{end}"))
}

#[test]
fn receipts_name_differing_files() {
    let project = Project::with("- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n- [ ] T004 d\n");
    for name in ["src/same.py", "src/gone.py", "src/edited.py"] {
        project.write(name, name);
    }
    project.arm("");
    project.call(&["next"]).ok();
    assert_eq!(project.receipts("T001"), Vec::<Value>::new());
    project.write("src/edited.py", "another line");
    project.write("src/same.py", "src/same.py");
    project.write("src/new.py", "");
    fs::remove_file(project.root.join("src/gone.py")).unwrap();
    project.call(&["done", "T001"]).ok();
    assert_eq!(files(&project, "T001"), json!(["src/edited.py", "src/gone.py", "src/new.py"]));
    project.call(&["done", "T002", "--no-change", "it is there"]).ok();
    assert_eq!(files(&project, "T002"), json!([]), "nothing but the box has changed since");
    project.write("src/edited.py", "src/edited.py");
    project.write("src/other.py", "other");
    project.call(&["done", "T003", "T004"]).ok();
    assert_eq!(files(&project, "T003"), json!(["src/edited.py", "src/other.py"]));
    assert_eq!(
        files(&project, "T004"),
        json!(["src/edited.py", "src/other.py"]),
        "ticked in one call"
    );
    let said = project.call(&["show", "T001"]).ok();
    let line = "Receipt of `spool task done` · proof: files · 3 files changed (src/edited.py, src/gone.py, src/new.py)";
    assert!(said.contains(line) && said.contains("no Verify command ran"), "{said}");
    assert!(project.call(&["show", "T002"]).ok().contains(" · proof: word · no file changed"));
}

#[test]
fn first_leftovers_prove_the_second() {
    let project = Project::armed(FOUR);
    project.call(&["next"]).ok();
    project.write("src/user.py", "x");
    project.write("src/page.py", "x");
    project.call(&["done", "T002"]).ok();
    project.call(&["done", "T003"]).ok();
    project.call(&["done", "T004"]).ok();
    assert_eq!(files(&project, "T002"), json!(["src/page.py", "src/user.py"]));
    assert_eq!(files(&project, "T003"), json!([]));
    let own = |id: &str| project.receipts(id)[0]["own"].clone();
    assert_eq!((own("T002"), own("T003")), (json!(["src/user.py"]), json!(["src/page.py"])));
    assert_eq!(project.receipts("T003")[0]["proof"], "files");
}

#[test]
fn receipt_has_run_and_attempt() {
    let project =
        Project::armed("- [ ] 1.1 a\n  - Verify: `echo 3 tests; test -e built`\n- [ ] 1.2 b\n");
    project.call(&["next"]).ok();
    project.call(&["done", "1.1"]).refused();
    project.call(&["fail", "1.1", "not built"]).ok();
    assert_eq!(project.receipts("1.1"), Vec::<Value>::new(), "no tick, no receipt");
    project.write("built", "");
    project.call(&["done", "1.1"]).ok();
    let [receipt] = &project.receipts("1.1")[..] else { panic!("not one") };
    let run = json!({"run": "echo 3 tests; test -e built", "passed": true, "outcome": "exit code 0", "output": "3 tests"});
    assert_eq!(receipt["verify"], run);
    assert!(receipt["verify_seconds"].as_f64().is_some_and(|seconds| seconds < 60.0), "{receipt}");
    assert_eq!((&receipt["attempt"], &receipt["files"]), (&json!(2), &json!(["built"])));
    assert_eq!((&receipt["by"], &receipt["session"]), (&json!("done"), &json!(SESSION)));
    let log = project.spool(&["log", "--json"]).ok();
    let done: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let with: Vec<_> = done.iter().filter(|line| line["receipts"] != json!([])).collect();
    assert_eq!(with.len(), 1, "{log}");
    assert_eq!((&with[0]["event"], &with[0]["receipts"][0]), (&json!("done"), receipt));
}

#[test]
fn commits_since_task_start_count() {
    let project = Project::with("- [ ] T001 a\n- [ ] T002 b\n");
    project.init();
    project.commit("before");
    project.arm("");
    project.call(&["next"]).ok();
    project.write("one", "1");
    project.commit("one");
    project.call(&["done", "T001"]).ok();
    project.call(&["done", "T002", "--no-change", "it is there"]).ok();
    let commits = |id: &str| project.receipts(id)[0]["commits"].clone();
    assert_eq!((commits("T001"), commits("T002")), (json!(1), json!(0)));
    assert_eq!(files(&project, "T001"), json!(["one"]), "a committed file has changed as well");
}

#[test]
fn missing_receipt_is_added_once() {
    let project = Project::armed("- [ ] T001 a\n- [ ] T002 b\n");
    project.call(&["next"]).ok();
    project.write("made", "x");
    let ticked = project.tasks().replace("[ ] T001", "[x] T001");
    fs::write(project.tasks_path(), ticked).unwrap();
    for _ in 0..2 {
        project.call(&["done", "T001"]).ok();
        assert_eq!(files(&project, "T001"), json!(["made"]));
    }
    // A box that was opened again and is ticked again has been seen twice.
    let open = project.tasks().replace("[x] T001", "[ ] T001");
    fs::write(project.tasks_path(), open).unwrap();
    project.write("made", "y");
    project.call(&["done", "T001"]).ok();
    assert_eq!(project.receipts("T001").len(), 2);
}

#[test]
fn receipts_are_private_and_outside() {
    let project = Project::armed(FOUR);
    project.call(&["next"]).ok();
    project.task(&["done", "T002"]).ok();
    for end in ["jsonl", "contents"] {
        let path = kept(&project, end);
        assert!(!path.starts_with(&project.root), "{path:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{path:?}");
        }
    }
    // A file of the same name in the project is nobody's receipt.
    project.write(format!(".claude/ralph/receipts-{FEATURE}.jsonl"), "{\"task\":\"T003\"}\n");
    assert_eq!(project.receipts("T003"), Vec::<Value>::new());
}

#[test]
fn lost_receipt_leaves_task_done() {
    let project = Project::armed(FOUR);
    fs::create_dir(kept(&project, "jsonl")).unwrap();
    let said = project.task(&["done", "T002"]).ok();
    assert!(said.starts_with("T002 is done. Its receipt could not be kept: "), "{said}");
    assert_eq!(boxes(&project.tasks()), [true, true, false, false]);
}

#[test]
fn torn_line_hides_no_other() {
    let project = Project::armed(FOUR);
    project.call(&["next"]).ok();
    project.task(&["done", "T002"]).ok();
    let path = kept(&project, "jsonl");
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(b"{\"at\":7,\"ver");
    torn.resize(5 << 20, b' ');
    fs::write(&path, torn).unwrap();
    project.task(&["done", "T003"]).ok();
    assert_eq!((project.receipts("T002").len(), project.receipts("T003").len()), (1, 1));
    assert!(kept(&project, "old.jsonl").is_file());
    assert!(fs::metadata(&path).unwrap().len() < 10_000);
}

/// What `spool task done --json` says of its only task.
fn answer(said: &str) -> Value {
    let mut answer: Value = serde_json::from_str(said).unwrap();
    schema::holds("task-proved", &answer);
    answer["tasks"][0].take()
}

#[test]
fn unproved_task_is_not_ticked() {
    let project = Project::with("- [ ] T001 a\n- [ ] T002 Write src/b.rs\n- [ ] T003 Read it\n");
    project.write("src/b.rs", "fn old() {}");
    project.arm("");
    let before = project.tasks();
    let said = project.call(&["done", "T001"]).refused();
    assert!(said.starts_with("T001 is not ticked: nothing in the project has changed"), "{said}");
    project.write("src/other.rs", "fn other() {}");
    let said = project.call(&["done", "T002", "--json"]).with_code(1);
    let open = answer(&said.out);
    let wanted = json!({"reason": "named_files_unchanged", "files": ["src/b.rs"]});
    assert_eq!(
        (&open["done"], &open["unproved"], &open["proof"]),
        (&json!(false), &wanted, &json!(null))
    );
    assert_eq!(project.tasks(), before);
    assert_eq!(project.receipts("T001").len() + project.receipts("T002").len(), 0);
    let done = answer(&project.call(&["done", "T001", "--json"]).ok());
    assert_eq!((&done["done"], &done["proof"]), (&json!(true), &json!("files")));
    project.write("src/b.rs", "fn b() {}");
    project.call(&["done", "T002"]).ok();
    let said = project.call(&["done", "T003"]).refused();
    assert!(said.contains("--with ID") && said.contains("--no-change \"why\""), "{said}");
    let done =
        answer(&project.call(&["done", "T003", "--no-change", " it  reads well", "--json"]).ok());
    assert_eq!(done["proof"], "word");
    assert_eq!(project.receipts("T003")[0]["no_change"], "it reads well");
}

#[test]
fn shared_work_counts_as_tick() {
    let project = Project::armed("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n- [ ] T003 c\n");
    project.write("src/a.rs", "fn a() {}");
    project.call(&["done", "T001"]).ok();
    let said = project.call(&["done", "T002", "--with", "T003"]).refused();
    assert!(said.contains("T003 has no receipt in this loop"), "{said}");
    let done = answer(&project.call(&["done", "T002", "--with", "T001", "--json"]).ok());
    assert_eq!(done["proof"], "tick");
    assert_eq!(files(&project, "T002"), json!(["src/a.rs"]));
    let both = ["done", "T003", "--with", "T001", "--with", "T002"];
    let said = project.call(&both).ok();
    assert!(said.contains("Proved by tick: done with T001 and T002."), "{said}");
}

#[test]
fn shared_work_stays_its_tasks() {
    let project =
        Project::with("- [ ] T001 Sum in src/a.rs\n- [ ] T002 Total in src/a.rs\n- [ ] T003 c\n");
    project.write("src/a.rs", "fn old() {}");
    project.arm("");
    project.write("src/a.rs", "fn sum() {}");
    project.call(&["done", "T001"]).ok();
    project.call(&["done", "T002", "--with", "T001"]).ok();
    assert_eq!(project.receipts("T002")[0]["doubt"], "done with T001");
    project.edit_tasks("[x] T001", "[ ] T001");
    project.call(&["done", "T001"]).ok();
    assert_eq!(project.receipts("T001").last().unwrap()["proof"], "files");
}

#[test]
fn word_loops_tick_as_told() {
    let words = Project::with("- [ ] T001 a\n");
    words.write(".claude/ralph-speckit.local.md", "---\nproof: word\n---\n");
    words.arm("");
    let unarmed = Project::with("- [ ] T001 a\n");
    for project in [words, unarmed] {
        project.call(&["done", "T001"]).ok();
        assert_eq!(project.receipts("T001").len(), 1);
    }
    // What was armed holds, whatever the file says now.
    let armed = Project::armed("- [ ] T001 a\n");
    armed.write(".claude/ralph-speckit.local.md", "---\nproof: word\n---\n");
    armed.call(&["done", "T001"]).refused();
}

#[test]
fn testless_verify_proves_nothing() {
    let project =
        Project::armed("- [ ] T001 a\n  - Verify: `echo 'test result: ok. 0 passed; 0 failed'`\n");
    project.write("src/a.rs", "fn a() {}");
    let said = project.call(&["done", "T001"]).refused();
    assert!(said.contains("exit code 0, but it ran no test"), "{said}");
    let open = answer(&project.call(&["done", "T001", "--json"]).out);
    assert_eq!((&open["verify"], &open["done"]), (&json!("no_test"), &json!(false)));
}

#[test]
fn verify_output_is_no_work() {
    let project = Project::armed("- [ ] T001 a\n  - Verify: `date >> report`\n- [ ] T002 b\n");
    project.write("src/a.rs", "fn a() {}");
    let done = answer(&project.call(&["done", "T001", "--json"]).ok());
    assert_eq!(done["proof"], "command");
    assert_eq!(files(&project, "T001"), json!(["src/a.rs"]));
    project.call(&["done", "T002"]).refused();
}

#[test]
fn changed_protection_keeps_task_open() {
    let settings = "---\nchecks: [sh check.sh]\nprotect:\n  - 'tests/**'\n---\n";
    let project =
        Project::with("- [ ] T001 a\n- [ ] T002 Write tests/b.rs\n- [ ] T003 c\n- [ ] T004 d\n");
    project.write(".claude/ralph-speckit.local.md", settings);
    let files = [("tests/a.rs", "fn a() {}"), (".spool/ralph.toml", "")];
    project.write("check.sh", "exit 1");
    for (path, text) in files {
        project.write(path, text);
    }
    project.arm("");
    let status = project.spool(&["status"]).ok();
    assert!(status.contains("Protected: tests/**"), "{status}");
    for (path, text) in files {
        project.write(format!("src/of-{}", path.len()), "fn work() {}");
        project.write(path, "exit 0");
        let said = project.call(&["done", "T001"]).refused();
        let wanted = format!("T001 is not ticked: protected files have changed: {path}.");
        assert!(said.starts_with(&wanted) && said.contains("put them back"), "{said}");
        let reason = answer(&project.call(&["done", "T001", "--json"]).out)["unproved"].take();
        assert_eq!(reason, json!({"reason": "protected_changed", "files": [path]}));
        project.write(path, text);
    }
    project.call(&["done", "T001"]).ok();
    project.write("tests/b.rs", "fn b() {}");
    project.call(&["done", "T002"]).ok();
    project.write("tests/c.rs", "fn c() {}");
    project.call(&["done", "T003"]).refused();
}
