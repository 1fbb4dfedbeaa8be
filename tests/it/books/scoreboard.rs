//! How well the tasks of a loop are proved, at its end and in `spool status` and `spool log`.

use std::fs::{self, File};
use std::io::Write;

use serde_json::{Value, json};

use super::support::{FEATURE, Project, text};

/// A loop of four tasks that are done, and what their receipts say of them.
fn done() -> Project {
    let ids = ["T001", "T002", "T003", "T004"];
    let list = ids
        .iter()
        .fold(String::new(), |text, id| text + &format!("- [ ] {id} Write src/{id}.py\n"));
    let project = Project::armed(&list);
    for id in ids {
        project.task(&["next"]).ok();
        project.write(format!("src/{id}.py"), id);
        project.task(&["done", id]).ok();
    }
    let folders = fs::read_dir(project.home().join(".local/state/ralph-speckit/projects"));
    let folder = folders.unwrap().next().unwrap().unwrap().path();
    let path = folder.join(format!("receipts-{FEATURE}.jsonl"));
    let kept = fs::read_to_string(&path).unwrap();
    let mut receipt: Value = serde_json::from_str(kept.lines().last().unwrap()).unwrap();
    let mut file = File::options().append(true).open(path).unwrap();
    let all = [
        ("T001", "command", Value::Null),
        ("T002", "files", Value::Null),
        ("T003", "tick", Value::Null),
        ("T004", "word", json!("it \u{1b}[31mwas there")),
        ("T009", "word", json!("it is not in the list")),
    ];
    for (task, proof, why) in all {
        receipt["task"] = task.into();
        receipt["proof"] = proof.into();
        receipt["no_change"] = why;
        writeln!(file, "{receipt}").unwrap();
    }
    project
}

const LINE: &str = "Proved: 1 by a command, 1 by files; 1 by tick: T003; 1 by word alone: T004";

#[test]
fn loop_end_says_its_proof() {
    let project = done();
    let said = project.hook_by_plugin(&project.stop_event("All done."));
    assert!(said.told().ends_with(&format!("\n{LINE}")), "{said:?}");
    let log = project.spool(&["log"]).ok();
    // The list is not looked at: a task that is gone from it has a receipt all the same.
    let whole = format!(
        "\n  {} (9 receipts)",
        LINE.replace("1 by word alone: T004", "2 by word alone: T004, T009")
    );
    assert!(log.contains(&whole), "{log}");
    assert!(log.contains("\n    Look first: T004 changed nothing; the agent says: it "), "{log}");
    let end = project.log().into_iter().find(|entry| entry["verdict"] == "end").unwrap();
    assert_eq!(end["proofs"]["by_tick"], json!(["T003"]), "{end}");
}

#[test]
fn status_scores_only_done_tasks() {
    let project = done();
    let said = project.spool(&["status"]).ok();
    assert!(said.contains(&format!("\n  {LINE} (")) && !said.contains('\u{1b}'), "{said}");
    let first = ["Look first: T004 changed nothing", "Look first: T003 is proved by tick alone"];
    let at = first.map(|words| said.find(words).unwrap_or_else(|| panic!("{words}: {said}")));
    assert!(at[0] < at[1], "{said}");
    let proofs = project.status()["loop"]["proofs"].clone();
    assert_eq!((&proofs["by_command"], &proofs["by_files"]), (&json!(1), &json!(1)), "{proofs}");
    assert_eq!(proofs["by_word"][0]["task"], "T004", "{proofs}");
    assert!(text(&proofs["by_word"][0]["why"]).starts_with("it "), "{proofs}");
    project.edit_tasks("[x] T004", "[ ] T004");
    assert_eq!(project.status()["loop"]["proofs"]["by_word"], json!([]));
    let other = Project::armed("- [ ] T001 Write src/a.py\n");
    assert_eq!(other.status()["loop"]["proofs"], Value::Null);
    assert!(!other.spool(&["status"]).ok().contains("Proved"));
}
