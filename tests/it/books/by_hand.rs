//! Agents that go their own way: boxes ticked by hand, tasks taken out or reworded.

use crate::support::has::Has;
use serde_json::{Value, json};

use super::support::{FOUR, Project, SESSION, SPOOL, Said};

const ALL: &str = "ALL_TASKS_COMPLETE";

#[test]
fn hand_tick_reported_late_counts() {
    let project = Project::armed(FOUR);
    project.edit_tasks("[ ] T002", "[x] T002");
    assert_eq!(
        project.task(&["done", "T002"]).ok(),
        "T002 is done already.\n2 of 4 open, next T003: spool task next\n"
    );
    assert_eq!(project.entries(), ["done T002 Model in src/user.py"]);
    project.assert_books_agree();
}

#[test]
fn removed_tasks_are_named_once() {
    let project = Project::armed(FOUR);
    project.edit_tasks("- [ ] T003 [P] [US1] Page in src/page.py\n", "");
    project.edit_tasks("T004 [VERIFY] Try it", "T004 [VERIFY] Look at it");
    let first = project.stop("I tidied up.");
    let reason = first.reason();
    reason.has("Open tasks have left tasks.md: T003. They are still open. Put them back");
    reason.has("Open tasks were reworded in tasks.md: T004. Do what they asked for first.");
    project.agent_works();
    let second = project.stop("Anything else?");
    assert!(
        second.reason().contains("left tasks.md: T003") && !second.reason().contains("reworded")
    );
    project.call(&["drop", "T003", "nobody needs it"]).ok();
    assert!(!project.stop("And now?").reason().contains("left tasks.md"));
    project.call(&["drop", "T002", "nor that one"]).ok();
    let dropped = ["dropped T003 Page in src/page.py", "dropped T002 Model in src/user.py"];
    assert_eq!(project.entries(), dropped);
}

#[test]
fn emptied_list_is_never_done() {
    let project = Project::armed(FOUR);
    std::fs::write(project.tasks_path(), "# Tasks\n").unwrap();
    for _ in 0..3 {
        project.agent_works();
        assert!(project.stop(ALL).reason().contains("an empty one is not done"));
    }
    let said = project.task(&["next"]).ok();
    assert_eq!(said, "tasks.md holds no task. An empty list is not done: restore it.\n");
}

#[test]
fn own_additions_are_no_tampering() {
    let project = Project::armed_with(FOUR, "--recovery-mode");
    project.task(&["add", "--after", "T002", "One more"]).ok();
    project.task(&["fail", "T003", "no"]).ok();
    project.task(&["done", "T002", "T005", "T003.F1"]).ok();
    let reason = project.stop("On it.");
    assert!(
        !reason.reason().contains("taken out") && !reason.reason().contains("reworded"),
        "{}",
        reason.reason()
    );
    assert!(reason.reason().contains("2 of 6: T003, T004"), "{}", reason.reason());
}

#[test]
fn tick_keeps_foreign_edits() {
    let project = Project::armed(FOUR);
    project.edit_tasks("T003 [P] [US1] Page", "T003 [P] [US1] (see plan.md) Page");
    project.task(&["done", "T002"]).ok();
    assert!(project.tasks().contains("- [ ] T003 [P] [US1] (see plan.md) Page"));
    project.assert_books_agree();
}

/// Ticks a task, and does nothing else.
fn tick_alone(project: &Project, id: &str) {
    let ticked = project.tasks().replace(&format!("[ ] {id}"), &format!("[x] {id}"));
    std::fs::write(project.tasks_path(), ticked).unwrap();
    project.agent_works();
}

#[test]
fn one_change_proves_once_a_turn() {
    for changes_again in [false, true] {
        let project = Project::with(
            "- [ ] T001 Sum in src/a.rs\n- [ ] T002 Total in src/a.rs\n- [ ] T003 c\n",
        );
        project.write("src/a.rs", "fn old() {}");
        project.arm("");
        project.write("src/a.rs", "fn sum() {}");
        project.task(&["done", "T001"]).ok();
        if changes_again {
            project.write("src/a.rs", "fn sum() {}\nfn total() {}");
        }
        tick_alone(&project, "T002");
        assert!(!project.stop("Two are done.").reason().contains("still open:"));
        let [receipt] = &project.receipts("T002")[..] else { panic!("not one") };
        let proof = if changes_again { "files" } else { "tick" };
        assert_eq!(receipt["proof"], proof, "{receipt}");
        if !changes_again {
            let doubt = "src/a.rs has changed only for another task";
            assert_eq!(receipt["doubt"], doubt, "{receipt}");
        }
    }
}

#[test]
fn ticked_work_proves_no_other_task() {
    let list = "- [ ] T001 Do src/a.rs and src/b.rs\n- [ ] T002 Total in src/a.rs\n- [ ] T003 c\n";
    for (from, to) in [("", ""), ("[x] T001", "[ ] T001"), ("T001 Do", "T001 Write x in")] {
        let project = Project::with(list);
        project.write("src/a.rs", "fn old() {}");
        project.write("src/b.rs", "fn old() {}");
        project.arm("");
        project.write("src/a.rs", "fn sum() {}");
        project.write("src/b.rs", "fn mean() {}");
        project.task(&["done", "T001"]).ok();
        std::fs::write(project.tasks_path(), project.tasks().replace(from, to)).unwrap();
        tick_alone(&project, "T002");
        project.stop("Two are done.").reason();
        let doubt = json!("src/a.rs has changed only for another task");
        assert_eq!(proved(&project, "T002"), (json!("tick"), doubt), "{from}");
    }
}

#[test]
fn drop_leaves_work_to_its_task() {
    let list = "- [ ] T001 Refactor the sums\n- [ ] T002 b\n- [ ] T003 Commit\n- [ ] T004 d\n";
    let project = Project::with(list);
    project.write("src/a.rs", "fn old() {}");
    project.init();
    project.commit("begin");
    project.arm("");
    project.write("src/a.rs", "fn sum() {}");
    project.call(&["drop", "T002", "nobody needs it"]).ok().has("`spool status` says why");
    project.call(&["done", "T001"]).ok();
    assert_eq!(proved(&project, "T001").0, "files");
    ralph_speckit::world::pause(std::time::Duration::from_millis(2_100));
    project.commit("sums");
    project.call(&["drop", "T004", "nobody needs it"]).ok();
    project.call(&["done", "T003"]).ok();
    assert_eq!(proved(&project, "T003").0, "tick");
}

#[test]
fn reverted_tick_says_its_work_is_gone() {
    let project = Project::with("- [ ] T001 Sum in src/a.rs\n- [ ] T002 b\n");
    project.write("src/a.rs", "fn old() {}");
    project.arm("");
    project.write("src/a.rs", "fn sum() {}");
    project.call(&["done", "T001"]).ok();
    project.write("src/a.rs", "fn old() {}");
    let said = project.call(&["done", "T001"]).refused();
    said.has("T001 is ticked, and not proved: its work is gone");
}

#[test]
fn empty_tick_opens_at_stop() {
    let project =
        Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n- [ ] T003 c\n- [ ] T004 d\n");
    project.write("src/a.rs", "fn old() {}");
    project.arm("");
    project.write("src/main.rs", "fn main() {}");
    tick_alone(&project, "T001");
    let list = project.tasks();
    for _ in 0..2 {
        let stop = project.stop("One is done.");
        let reason = stop.reason();
        let lack = "T001 (it names src/a.rs, which is byte for byte as when the loop was armed)";
        assert!(reason.contains(lack) && reason.contains("4 of 4: T001"), "{reason}");
        assert!(reason.contains("--no-change \"why\"") && reason.contains("--with OTHER"));
        project.agent_works();
    }
    assert_eq!((project.tasks(), project.receipts("T001").len()), (list, 0));
    let log = project.log().pop().unwrap();
    assert!(log["words"].as_str().unwrap().contains("ticked and not proved: T001"), "{log}");
    project.write("src/a.rs", "fn a() {}");
    std::fs::remove_file(project.path("src/main.rs")).unwrap();
    assert!(!project.stop("Now it is.").reason().contains("still open:"));
    let [receipt] = &project.receipts("T001")[..] else { panic!("not one") };
    assert_eq!((&receipt["by"], &receipt["proof"]), (&json!("stop"), &json!("files")));
    assert_eq!(receipt["own"], json!(["src/a.rs"]));
    let shown = project.spool(&["log", "--json"]).ok();
    let line = shown.lines().last().unwrap();
    let entry: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(entry["receipts"].as_array().unwrap().len(), 1, "{entry}");
    // What the first one has taken is not the work of the next one, and a reason is a word.
    tick_alone(&project, "T002");
    assert!(project.stop("Two.").reason().contains("T002 (nothing in the project has changed"));
    project.agent_works();
    let said = "Two.\n<no-change>T002: it is there</no-change>";
    assert!(!project.stop(said).reason().contains("still open:"));
    assert_eq!(project.receipts("T002")[0]["no_change"], "it is there");
    for id in ["T003", "T004"] {
        tick_alone(&project, id);
    }
    assert!(project.stop(ALL).reason().contains("T003 (nothing in the project has changed"));
    assert_eq!(project.end(), json!(null), "nothing of it is completed");
    project.write("src/c.rs", "fn c() {}");
    let end = project.stop(ALL);
    end.silent();
    assert_eq!(project.end(), "completed");
    let proofs =
        ["T001", "T002", "T003", "T004"].map(|id| project.receipts(id)[0]["proof"].clone());
    assert_eq!(proofs, ["files", "word", "tick", "tick"].map(|proof| json!(proof)));
}

#[test]
fn hand_ticked_command_joins_checks() {
    let project = Project::armed(
        "- [ ] T001 a\n  - Verify: `echo ran >>../runs; test -e built`\n- [ ] T002 b\n",
    );
    project.write("src/a.rs", "fn a() {}");
    tick_alone(&project, "T001");
    project.stop("One.").reason();
    assert_eq!(project.receipts("T001")[0]["proof"], "files");
    assert!(!project.root.join("../runs").exists(), "not before all is done");
    project.write("src/b.rs", "fn b() {}");
    tick_alone(&project, "T002");
    let stop = project.stop(ALL);
    assert!(stop.reason().contains("Check failed: `echo ran >>../runs; test -e built`"));
    project.write("built", "x");
    project.agent_works();
    project.stop(ALL).silent();
    assert_eq!(std::fs::read_to_string(project.root.join("../runs")).unwrap(), "ran\nran\n");
    assert_eq!(project.end(), "completed");
    let all = project.receipts("T001");
    let last = all.last().unwrap();
    assert_eq!((all.len(), &last["proof"]), (2, &json!("command")));
    assert_eq!(last["verify"]["passed"], true);
}

#[test]
fn changed_protected_file_holds_loop() {
    let project = Project::with("- [ ] T001 a\n- [ ] T002 b\n");
    project.write(".claude/ralph-speckit.local.md", "---\nprotect: ['tests/']\n---\n");
    project.write("tests/a.rs", "fn a() {}");
    project.arm("");
    project.task(&["done", "T001"]).ok();
    project.task(&["done", "T002"]).ok();
    project.write("tests/a.rs", "");
    project.agent_works();
    let stop = project.stop(ALL);
    let wanted = "Nothing counts as done while protected files have changed: tests/a.rs. Only a person changes these: put them back";
    assert!(stop.reason().contains(wanted), "{}", stop.reason());
    let told = stop.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap();
    assert!(told.contains(" · protected files have changed: tests/a.rs"), "{told}");
    assert!(!told.contains("not proved"), "the person reads why: {told}");
    // Both tasks are done: no count and no next task, for nobody.
    let line =
        "Ralph-speckit: claimed done, but held back · protected files have changed: tests/a.rs";
    assert_eq!(told, line);
    for wrong in ["still open", "Open", "of 2 open", "`spool task next`", "T002"] {
        assert!(!stop.reason().contains(wrong), "{wrong}: {}", stop.reason());
    }
    let status = project.spool(&["status"]).out;
    let wanted = "claimed done, but held back: protected files have changed: tests/a.rs\n";
    assert!(status.contains("refused claims: 1") && status.contains(wanted), "{status}");
    project.agent_works();
    let stop = project.stop("Done.");
    let told = stop.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap();
    let line = "Ralph-speckit: every box is ticked · iteration 2 · protected files have changed: tests/a.rs";
    assert_eq!(told, line);
    project.write("tests/a.rs", "fn a() {}");
    project.agent_works();
    project.stop(ALL).silent();
    assert_eq!(project.end(), "completed");
}

/// Puts more files into a folder than are looked at.
fn fill(folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    for number in 0..20_001 {
        std::fs::File::create(folder.join(number.to_string())).unwrap();
    }
}

#[test]
fn oversized_project_holds_until_smaller() {
    let project = Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n");
    project.write(".claude/ralph-speckit.local.md", "---\nprotect: ['tests/']\n---\n");
    project.write("tests/a.rs", "fn a() {}");
    project.arm("");
    fill(&project.root.join("data/junk"));
    project.write("src/a.rs", "fn a() {}");
    let lack = "the project has more than can be looked at, 20,000 files and folders or 128 MB, most of the new ones in data/junk/";
    let said = project.call(&["done", "T001"]).refused();
    let wanted = format!(
        "T001 is not ticked: {lack}.\nRemove what is not needed, or name what programs have made in `.gitignore`, and call done again."
    );
    assert!(said.starts_with(&wanted), "{said}");
    let said = project.call(&["done", "T001", "--json"]).out;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let reason = json!({"reason": "tree_too_large", "files": ["data/junk/"]});
    assert_eq!(said["tasks"][0]["unproved"], reason);
    for id in ["T001", "T002"] {
        tick_alone(&project, id);
    }
    project.agent_works();
    let stop = project.stop(ALL);
    let wanted = format!("Nothing counts as done while {lack}. Remove");
    assert!(stop.reason().contains(&wanted), "{}", stop.reason());
    let told = stop.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap();
    assert!(told.contains(" · the project has more than can be looked at"), "{told}");
    // What is ignored is not looked at, and what is protected is looked at again.
    project.write(".gitignore", "junk/\n");
    project.write("tests/a.rs", "");
    project.agent_works();
    let stop = project.stop(ALL);
    assert!(stop.reason().contains("protected files have changed"), "{}", stop.reason());
    project.write("tests/a.rs", "fn a() {}");
    project.agent_works();
    project.stop(ALL).silent();
    assert_eq!(project.end(), "completed");
    assert_eq!(project.receipts("T001")[0]["proof"], "files");
}

#[test]
fn oversized_project_holds_not_forever() {
    let project = Project::armed("- [ ] T001 a\n");
    fill(&project.root.join("junk"));
    tick_alone(&project, "T001");
    project.stop(ALL).reason();
    for _ in 0..3 {
        project.stop(ALL);
    }
    assert_eq!(project.end(), "no_progress");
}

#[test]
fn always_oversized_project_uses_words() {
    let project = Project::with("- [ ] T001 a\n- [ ] T002 b\n");
    fill(&project.root.join("junk"));
    let told = project.arm("");
    assert!(told.contains("every tick counts on the agent's word"), "{told}");
    project.task(&["done", "T001"]).ok();
    tick_alone(&project, "T002");
    project.agent_works();
    project.stop(ALL).silent();
    assert_eq!(project.end(), "completed");
    for id in ["T001", "T002"] {
        assert_eq!(project.receipts(id)[0]["proof"], "word", "{id}");
    }
}

#[test]
fn shared_work_survives_a_kill() {
    let project = Project::armed("- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n");
    let kept = |end: &str| {
        let projects = project.home().join(".local/state/ralph-speckit/projects");
        let folder = std::fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let end = format!(".{end}");
        let is_its = |path: &std::path::PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("receipts-") && name.ends_with(&end)
        };
        files.into_iter().find(is_its).unwrap()
    };
    let (contents, before) = (kept("contents"), std::fs::read(kept("contents")).unwrap());
    project.write("src/a.rs", "fn a() {}");
    tick_alone(&project, "T001");
    tick_alone(&project, "T002");
    // What is kept for the next task cannot take its place: it stays beside it, as it does after a kill.
    std::fs::remove_file(&contents).unwrap();
    std::fs::create_dir(&contents).unwrap();
    project.stop("Two are done.");
    let lines = std::fs::read_to_string(kept("jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(kept("next").is_file());
    std::fs::remove_dir(&contents).unwrap();
    std::fs::write(&contents, before).unwrap();
    // And the kill came before the second receipt.
    let first = lines.lines().next().unwrap();
    std::fs::write(kept("jsonl"), format!("{first}\n")).unwrap();
    let was_open = project.tasks().replace("[x] T002", "[ ] T002");
    std::fs::write(project.tasks_path(), was_open).unwrap();
    project.agent_works();
    project.stop("One.");
    tick_alone(&project, "T002");
    let stop = project.stop("Two.");
    assert!(!stop.reason().contains("not proved"), "{}", stop.reason());
    assert_eq!(project.receipts("T002").len(), 1);
}

#[test]
fn hand_ticked_list_is_not_done() {
    let project = Project::armed("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n");
    tick_alone(&project, "T001");
    let next = project.call(&["next"]).ok();
    let said = "\nTicked by hand and not proved yet: T001. `spool task done ID` judges one now.\n";
    assert!(next.starts_with("- [x] T001 Write src/a.rs\n") && next.ends_with(said), "{next}");
    tick_alone(&project, "T002");
    let next = project.call(&["next"]).ok();
    assert!(next.contains("2 of 2 open.") && next.contains("proved yet: T001 T002."), "{next}");
    // No stop has judged them: the status does not call them done either.
    let status = project.spool(&["status"]).ok();
    let said = "  Tasks: 0 of 2 done\n  Ticked by hand and not proved yet, so open: T001, T002\n";
    assert!(status.contains(said), "{status}");
    assert_eq!(project.status()["not_proved"], json!(["T001", "T002"]));
    project.write("src/a.rs", "fn a() {}");
    let said = project.call(&["done", "T001"]).ok();
    assert!(said.contains("1 of 2 open, next T002:"), "{said}");
    let said = project.call(&["done", "T002", "--no-change", "it is there"]).ok();
    assert!(said.contains("All 2 tasks are done."), "{said}");
    assert_eq!(project.status()["not_proved"], json!([]));
    assert!(project.spool(&["status"]).ok().contains("  Tasks: 2 of 2 done\n"));
}

#[test]
fn a_refused_box_is_open_everywhere() {
    let project = Project::with(
        "- [ ] T001 Write src/a.rs\n- [ ] T002 Write src/b.rs\n- [ ] T003 Write src/c.rs\n",
    );
    for name in ["a", "b", "c"] {
        project.write(format!("src/{name}.rs"), "fn old() {}");
    }
    project.arm("");
    project.write("src/a.rs", "fn a() {}");
    for id in ["T001", "T002", "T003"] {
        tick_alone(&project, id);
    }
    let stop = project.stop("All.");
    assert!(stop.reason().contains("2 of 3: T002, T003"), "{}", stop.reason());
    let json = |call: &[&str]| project.call(call).json();
    let next = json(&["next", "--json"]);
    assert_eq!((&next["status"], &next["tasks"][0]["id"]), (&json!("task"), &json!("T002")));
    let counts = |form: &Value| (form["done"].clone(), form["total"].clone());
    let list = json(&["list", "--json"]);
    for form in [&next, &list, &project.status()] {
        assert_eq!(counts(form), (json!(1), json!(3)), "{form:#}");
    }
    assert_eq!(list["tasks"][1]["done"], false);
    assert_eq!(json(&["show", "T002", "--json"])["task"]["done"], false);
    let said = project.call(&["list"]).ok();
    assert!(said.contains("[ ] T002 ") && said.ends_with("1 of 3 done\n"), "{said}");
    let refused = project.call(&["done", "T002", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&refused.out).unwrap()["tasks"][0]["done"], false);
    let input = json!({"session_id": SESSION, "cwd": project.root}).to_string();
    let line = Said::with_input(project.command(SPOOL).arg("statusline"), input.clone()).ok();
    assert!(line.contains(" 1 of 3 · ") && line.contains("next T002"), "{line}");
    // After the end as well.
    let cancelled = project.spool(&["stop"]).ok();
    assert!(cancelled.contains("(1 done)"), "{cancelled}");
    for form in [&json(&["next", "--json"]), &json(&["list", "--json"]), &project.status()] {
        assert_eq!(counts(form), (json!(1), json!(3)), "{form:#}");
    }
    let mut ended = project.command(SPOOL);
    let ended = Said::with_input(ended.args(["statusline", "--json"]), input.clone()).json();
    assert!(ended["end"]["words"].to_string().contains("1 of 3"), "{ended:#}");
}

#[test]
fn the_next_task_is_one() {
    let project = Project::with("- [ ] 1 Build it\n  - [ ] 1.1 Part\n  - [ ] 1.2 Part two\n");
    project.arm("");
    let next = project.call(&["next", "--json"]).json();
    assert_eq!(next["tasks"][0]["id"], "1.1");
    let stop = project.hook_by_plugin(&project.stop_event("On it."));
    let answer = stop.answer.unwrap();
    assert!(answer.to_string().contains("next 1.1"), "{answer:#}");
    let status = project.spool(&["status"]).ok();
    assert!(status.contains("  Open: next 1.1, then 2 more\n"), "{status}");
    let input = json!({"session_id": SESSION, "cwd": project.root}).to_string();
    let band = Said::with_input(project.command(SPOOL).arg("statusline"), input).ok();
    assert!(band.contains("next 1.1"), "{band}");
}

#[test]
fn ticked_addition_finishes_no_parent() {
    let project = Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n");
    project.write("src/a.rs", "fn old() {}");
    project.arm("");
    let list = "- [x] T001 Write src/a.rs\n  - [x] T003 part\n- [ ] T002 b\n";
    std::fs::write(project.tasks_path(), list).unwrap();
    project.write("src/b.rs", "fn b() {}");
    project.agent_works();
    let stop = project.stop("One is done.");
    let lack = "Ticked and still open: T001 (it names src/a.rs";
    assert!(stop.reason().contains(lack), "{}", stop.reason());
    project.call(&["done", "T001"]).refused();
}

#[test]
fn no_reason_is_none() {
    let project = Project::armed("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n");
    for why in ["x", "\u{200b}\u{200b}\u{200b}", "\u{3164} \u{3164}\u{3164}", "unnecessary"] {
        let said = project.call(&["done", "T001", "--no-change", why]).refused();
        assert!(said.contains("say why in two words or more: --no-change"), "{said}");
    }
    tick_alone(&project, "T001");
    let stop = project.stop("Done.\n<no-change>T001: n/a</no-change>");
    let wanted = "(it rightly changes nothing); say why in two words or more.";
    assert!(stop.reason().contains(wanted), "{}", stop.reason());
    project.agent_works();
    project.stop("<no-change>T001: already there</no-change>").reason();
    assert_eq!(project.receipts("T001")[0]["proof"], "word");
}

#[test]
fn armed_command_follows_its_task() {
    let two = "- [ ] T001 a\n  - Verify: `false`\n- [ ] T002 b\n  - Verify: `true`\n";
    let project = Project::armed(two);
    project.write("src/a.rs", "fn a() {}");
    // Both ids are new: `T101` was armed as `T001`.
    project.edit_tasks("T001 a", "T101 a");
    project.edit_tasks("T002 b", "T102 b");
    let said = project.call(&["done", "T101"]).refused();
    assert!(said.contains("`false` failed"), "{said}");
    project.call(&["verify", "T101"]).refused();
    project.call(&["verify", "T102"]).ok();
    // One task has the id of the other.
    project.edit_tasks("T101 a", "T002 a");
    project.edit_tasks("T102 b", "T001 b");
    let said = project.call(&["done", "T002"]).refused();
    assert!(said.contains("`false` failed"), "{said}");
    project.call(&["done", "T001"]).ok();
    // And by hand.
    project.edit_tasks("- [ ] T002 a", "- [x] T103 a");
    project.write("src/b.rs", "fn b() {}");
    project.agent_works();
    // What became of the task that was T001 is the first thing that is said.
    project.stop(ALL).reason();
    project.agent_works();
    let stop = project.stop(ALL);
    assert!(stop.reason().contains("Check failed: `false`"), "{}", stop.reason());
}

#[test]
fn refused_boxes_open_at_end() {
    let project = Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n- [ ] T003 c\n");
    project.write("src/a.rs", "fn old() {}");
    project.arm("");
    project.write("src/main.rs", "fn main() {}");
    tick_alone(&project, "T001");
    tick_alone(&project, "T002");
    let stop = project.stop("Two.");
    assert!(stop.reason().contains("still open: T001"), "{}", stop.reason());
    let cancelled = project.spool(&["stop"]).ok();
    assert!(cancelled.contains("Task: 1/3 (1 done)"), "{cancelled}");
    let (status, open) = (project.status(), json!(["T001", "T003"]));
    assert_eq!((&status["done"], &status["open"]), (&json!(1), &open), "{status}");
    assert_eq!(status["asides"], json!([]));
    let list = project.tasks();
    // The next loop begins where this one has ended, and the list says so.
    project.arm("");
    let open = list.replace("[x] T001", "[ ] T001");
    assert_eq!((project.tasks(), project.status()["not_proved"].clone()), (open, json!([])));
    assert_eq!(project.state()["taskIndex"], 0);
    project.agent_works();
    let stop = project.stop("Again.");
    assert!(stop.reason().contains("2 of 3: T001, T003"), "{}", stop.reason());
    project.write("src/a.rs", "fn a() {}");
    project.edit_tasks("[ ] T001", "[x] T001");
    project.agent_works();
    assert!(project.stop("Now.").reason().contains("1 of 3: T003"));
    assert_eq!(project.spool(&["stop"]).ok().matches("(2 done)").count(), 1);
    assert_eq!(project.status()["done"], 2);
}

#[test]
fn ends_without_stop_judge_boxes() {
    for end in [&["stop"][..], &["task", "block", "the person must pay"]] {
        let project = Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n- [ ] T003 c\n");
        project.write("src/a.rs", "fn old() {}");
        project.arm("");
        project.write("src/main.rs", "fn main() {}");
        tick_alone(&project, "T001");
        tick_alone(&project, "T002");
        project.spool(end).ok();
        let (status, open) = (project.status(), json!(["T001", "T003"]));
        assert_eq!((&status["done"], &status["open"]), (&json!(1), &open), "{status}");
        let said = project.spool(&["status"]).ok();
        assert!(said.contains("Proved: 1 by "), "{said}");
        project.stop("It is over.");
        project.arm("");
        assert!(project.tasks().contains("[ ] T001"), "{}", project.tasks());
    }
}

#[test]
fn refused_arming_judges_nothing() {
    let project = Project::with("- [ ] T001 Make the sums work\n- [ ] T002 Make it faster\n");
    for file in ["sum.py", "mean.py"] {
        project.write(file, "a = 1");
    }
    project.arm("");
    for file in ["sum.py", "mean.py"] {
        project.write(file, "a = 2");
    }
    tick_alone(&project, "T001");
    project.spool(&["start", "001-user-login", "T999"]).refused().has("T999");
    assert_eq!(project.receipts("T001").len(), 0);
    tick_alone(&project, "T002");
    project.stop("Done.\n\nALL_TASKS_COMPLETE").silent();
    assert_eq!(project.status()["loop"]["end"]["name"], "completed");
}

#[test]
fn words_count_beside_many_files() {
    let project = Project::with("- [ ] T001 Make the sums work\n- [ ] T002 b\n");
    std::fs::create_dir(project.root.join("data")).unwrap();
    for number in 0..20_001 {
        std::fs::write(project.root.join(format!("data/{number}")), "").unwrap();
    }
    assert!(project.arm("").contains("every tick counts on the agent's word"));
    project.write("sum.py", "a = 2");
    tick_alone(&project, "T001");
    let cancelled = project.spool(&["stop"]).ok();
    assert!(cancelled.contains("(1 done)"), "{cancelled}");
    assert_eq!(project.status()["open"], json!(["T002"]));
}

#[test]
fn ticked_list_names_open_ones() {
    let project = Project::with("- [x] T001 Write src/a.rs\n");
    let beside = project.tasks_path().with_file_name("backend");
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("tasks.md"), "- [ ] T001 Write src/b.rs\n").unwrap();
    project.spool(&["start"]).refused().has("backend/tasks.md");
    let next = project.spool(&["task", "next"]).ok();
    assert!(next.contains("The only task is done. But boxes are open in lists"), "{next}");
}

#[test]
fn several_lists_alone_are_named() {
    let project = Project::with("");
    std::fs::remove_file(project.tasks_path()).unwrap();
    for side in ["backend", "frontend"] {
        let folder = project.tasks_path().with_file_name(side);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("tasks.md"), "- [ ] T001 Write src/b.rs\n").unwrap();
    }
    for words in [&["start"][..], &["task", "list"]] {
        let refused = project.spool(words).refused();
        refused.has("more lists than a loop goes by: backend/tasks.md, frontend/tasks.md");
        refused.has("put all tasks into `");
    }
}

#[test]
fn underlined_heading_is_no_pattern() {
    let list = "[ ] T001 Write src/a.rs\n---\n\nSay why.\n";
    let project = Project::with(list);
    let refused = project.spool(&["task", "add", "--after", "T001", "Write c"]).refused();
    refused.has("or write it in by hand");
    assert_eq!(project.tasks(), list);
}

#[test]
fn emptied_file_is_work() {
    let project = Project::with("- [ ] T001 Empty the file note.txt\n");
    project.write("note.txt", "TODO a");
    project.arm("");
    project.write("note.txt", "");
    project.agent_works();
    project.spool(&["task", "done", "T001"]).ok();
    project.stop("Done.\n\nALL_TASKS_COMPLETE").silent();
    assert_eq!(project.status()["loop"]["end"]["name"], "completed");
}

#[test]
fn vanished_work_is_open_after_limit() {
    let project = Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n");
    project.write("src/a.rs", "fn old() {}");
    project.arm("--max-iterations 2");
    project.write("src/a.rs", "fn a() {}");
    tick_alone(&project, "T001");
    assert!(project.stop("One.").reason().contains("1 of 2"));
    project.write("src/a.rs", "fn old() {}");
    project.agent_works();
    let ended = project.stop("Two.");
    let ended = ended.told();
    assert!(ended.contains("0 of 2 tasks"), "{ended}");
    let (status, open) = (project.status(), json!(["T001", "T002"]));
    assert_eq!((&status["done"], &status["open"]), (&json!(0), &open), "{status}");
}

#[test]
fn done_task_may_come_back() {
    let list = "- [x] T001 Create src/old.rs\n- [ ] T002 Write src/b.rs\n- [ ] T003 c\n";
    let project = Project::with(list);
    project.arm("");
    project.agent_works();
    project.stop("On it.").reason();
    let without = list.lines().skip(1).collect::<Vec<_>>().join("\n") + "\n";
    for list in [&*without, list] {
        std::fs::write(project.tasks_path(), list).unwrap();
        project.agent_works();
        let stop = project.stop("On it.");
        assert!(!stop.reason().contains("T001"), "{}", stop.reason());
    }
}

#[test]
fn deleted_task_of_a_part_holds() {
    let project =
        Project::with("- [x] T001 a\n- [ ] T002 Write src/b.rs\n- [ ] T003 Write src/c.rs\n");
    project.arm("T002 T003");
    project.write("src/c.rs", "fn c() {}");
    std::fs::write(project.tasks_path(), "- [x] T001 a\n- [x] T002 Write src/c.rs\n").unwrap();
    project.agent_works();
    let stop = project.stop(ALL);
    assert!(stop.reason().contains("have left tasks.md: T002"), "{}", stop.reason());
    let next = project.call(&["next"]).ok();
    assert!(next.contains("Open tasks have left tasks.md: T002"), "{next}");
    let status = project.spool(&["status"]).ok();
    assert!(status.contains("Tasks: 1 of 2 named tasks done\n"), "{status}");
    assert!(status.contains("tasks.md`, and are still open: T002\n"), "{status}");
    let list = project.call(&["list"]).ok();
    assert!(list.contains("have left tasks.md: T002") && list.contains("1 of 2 done"), "{list}");
    // The id means the task that has left, not the one that took the number.
    project.call(&["drop", "T002", "nobody needs it"]).ok();
    project.agent_works();
    assert!(project.stop(ALL).log.contains("Dropped: T002. Proved: 1 by files"));
    assert_eq!(project.end(), "completed");
}

#[test]
fn arming_names_tasks_that_left() {
    let list = "- [ ] T001 Write src/a.rs\n- [ ] T002 Write src/b.rs\n";
    let project = Project::with(list);
    project.arm("");
    std::fs::write(project.tasks_path(), "- [ ] T001 Write src/a.rs\n").unwrap();
    project.agent_works();
    assert!(project.stop("One.").reason().contains("have left tasks.md: T002"));
    project.spool(&["stop"]).ok();
    let told = "Open in the loop before, and gone from tasks.md: T002.";
    std::fs::write(project.tasks_path(), "- [x] T001 Write src/a.rs\n").unwrap();
    let refused = project.spool(&["start"]).refused();
    refused.has("nothing is open").has(told).has("spool task drop ID");
    std::fs::write(project.tasks_path(), "- [ ] T001 Write src/a.rs\n").unwrap();
    let armed = project.arm("");
    assert!(armed.contains(told), "{armed}");
    assert_eq!(project.status()["total"], json!(1));
    project.spool(&["stop"]).ok();
    let again = project.arm("");
    assert!(!again.contains(told), "{again}");
}

/// The one receipt of a task: its grade and the doubt.
fn proved(project: &Project, id: &str) -> (Value, Value) {
    let [receipt] = &project.receipts(id)[..] else { panic!("not one of {id}") };
    (receipt["proof"].clone(), receipt["doubt"].clone())
}

#[test]
fn one_commit_ticks_one_task() {
    let list = "- [ ] T001 Write src/a.rs\n- [ ] T002 Commit\n- [ ] T003 Push it\n- [ ] T004 d\n";
    let project = Project::with(list);
    project.init();
    project.commit("begin");
    project.arm("");
    project.write("src/a.rs", "fn a() {}");
    project.call(&["done", "T001"]).ok();
    project.call(&["done", "T002"]).refused().has("nothing in the project has changed");
    project.stop("One.").reason();
    project.commit("a");
    for id in ["T002", "T003"] {
        tick_alone(&project, id);
    }
    project.stop("All.").reason().has("still open: T003 (nothing in the project has changed");
    let doubt = json!("only a commit was made since the task before");
    assert_eq!(proved(&project, "T002"), (json!("tick"), doubt));
}

#[test]
fn empty_commit_ticks_no_task() {
    let project = Project::with("- [ ] T001 Be faster\n- [ ] T002 b\n");
    project.init();
    project.commit("begin");
    project.arm("");
    let mut commit = project.command("git");
    // Later than the second of the arming.
    commit.env("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z");
    Said::of(commit.args(["commit", "--quiet", "--allow-empty", "--message", "faster"])).ok();
    project.call(&["done", "T001"]).refused().has("nothing in the project has changed");
}

#[test]
fn ignored_folder_needs_no_slash() {
    let list = "- [ ] T001 Make the environment `.venv`\n- [ ] T002 Make out/client\n- [ ] T003 Install `.git/hooks/pre-commit`\n- [ ] T004 Write the rules for the editor\n";
    let project = Project::with(list);
    project.write(".gitignore", ".venv\nout/\n");
    project.init();
    project.arm("");
    for (id, file) in [
        ("T001", ".venv/pyvenv.cfg"),
        ("T002", "out/client/a.py"),
        ("T003", ".git/hooks/pre-commit"),
    ] {
        project.write(file, "x = 1\n");
        project.call(&["done", id]).ok();
        assert_eq!(proved(&project, id), (json!("files"), json!(null)), "{id}");
    }
    project.write(".cursor/rules/a.mdc", "x");
    let said = project.call(&["done", "T004"]).refused();
    said.has("apart from git's folder, caches, agents' folders and ignored files that it does not");
}

#[test]
fn moved_file_is_its_folder() {
    let project = Project::armed("- [ ] T001 Write `lib/a.rs`\n- [ ] T002 Tidy up `lib/`\n");
    project.write("lib/a.rs", "fn a() {}");
    project.call(&["done", "T001"]).ok();
    std::fs::create_dir(project.path("attic")).unwrap();
    std::fs::rename(project.path("lib/a.rs"), project.path("attic/a.rs")).unwrap();
    project.call(&["done", "T002"]).ok();
    assert_eq!(proved(&project, "T002"), (json!("tick"), json!("only moved: lib/a.rs")));
}

#[test]
fn empty_commit_is_none_behind_status() {
    let project = Project::with("- [ ] T001 Commit\n- [ ] T002 b\n");
    project.write("a.txt", "a");
    project.init();
    project.commit("begin");
    project.arm("");
    project.stop("Not yet.").reason();
    // git writes its index for a file of the same content and another time.
    let commit = "touch a.txt && git add --all . && git status && git commit --allow-empty -m x";
    let mut shell = project.command("sh");
    shell.args(["-c", commit]).env("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z");
    Said::of(&mut shell).ok();
    project.call(&["done", "T001"]).refused().has("nothing in the project has changed");
}

#[test]
fn deleted_file_is_proved_by_no_twin() {
    let list = "- [ ] T001 Write lib/n.py\n- [ ] T002 Write lib/m.py\n- [ ] T003 c\n";
    let project = Project::armed(list);
    for (id, name) in [("T001", "lib/n.py"), ("T002", "lib/m.py")] {
        project.write(name, "def n():\n    return 1\n");
        project.call(&["done", id]).ok();
    }
    std::fs::remove_file(project.root.join("lib/n.py")).unwrap();
    project.write("src/c.py", "c = 1\n");
    project.call(&["done", "T003"]).ok();
    project.agent_works();
    assert!(project.stop(ALL).reason().contains("T001"));
}

#[test]
fn dropped_task_is_not_done() {
    let project = Project::armed(FOUR);
    project.call(&["drop", "T002", "nobody needs it"]).ok();
    project.call(&["done", "T002"]).refused().has("T002 was dropped, and is not to be done");
    assert!(!project.progress().contains("[done] T002"), "{}", project.progress());
    project.edit_tasks("[x] T002", "[ ] T002");
    project.task(&["done", "T002"]).ok().has("T002 is done");
}

#[test]
fn done_task_is_not_dropped() {
    let project = Project::armed(FOUR);
    project.task(&["done", "T002"]).ok();
    let drop = ["drop", "T002", "nobody needs it"];
    for end in [false, true] {
        if end {
            project.spool(&["stop"]).ok();
        }
        let noted = project.progress();
        project.call(&drop).refused().has("T002 is done\nto drop it all the same, open its box");
        assert_eq!(project.progress(), noted);
    }
    project.edit_tasks("[x] T002", "[ ] T002");
    project.call(&drop).ok();
    project.call(&drop).ok();
}

#[test]
fn left_task_is_dropped_after_end() {
    let project = Project::armed("- [ ] T001 a\n- [ ] T002 b\n");
    project.task(&["done", "T001"]).ok();
    project.edit_tasks("- [ ] T002 b\n", "");
    project.stop(ALL).reason().has("Open tasks have left tasks.md: T002");
    project.agent_works();
    let end = project.stop(ALL);
    end.told().has("1 of 2 tasks").has("or: `spool task drop T002 \"why\"`");
    let status = project.status();
    assert_eq!((&status["total"], &status["open"]), (&json!(2), &json!(["T002"])), "{status:#}");
    project.call(&["drop", "T002", "it is not wanted"]).ok();
    let status = project.status();
    assert_eq!((&status["total"], &status["open"]), (&json!(1), &json!([])), "{status:#}");
    project.spool(&["status"]).ok().has("Dropped: T002").has("Next: look at the work");
}

#[test]
fn added_task_that_left_is_open_everywhere() {
    let project = Project::with("- [ ] T001 a\n- [ ] T002 b\n");
    project.arm("");
    project.agent_works();
    project.stop("On it.").reason();
    project.call(&["add", "--after", "T002", "More"]).ok();
    project.agent_works();
    project.stop("On it.").reason();
    let list = project.tasks();
    let kept: Vec<&str> = list.lines().filter(|line| !line.contains("More")).collect();
    project.write("specs/001-user-login/tasks.md", kept.join("\n") + "\n");
    for id in ["T001", "T002"] {
        project.write(format!("src/{id}.rs"), id);
        project.call(&["done", id]).ok();
    }
    project.agent_works();
    project.stop("Now?").reason().has("T003");
    let status = project.status();
    assert_eq!((&status["total"], &status["open"]), (&json!(3), &json!(["T003"])), "{status}");
    let next = project.call(&["next"]).ok();
    assert!(next.contains("T003") && !next.contains("ALL_TASKS_COMPLETE"), "{next}");
}

#[test]
fn agents_arming_forgets_no_refused_tick() {
    let project = Project::with("- [ ] T001 Write src/a.rs\n- [ ] T002 b\n");
    project.arm("");
    project.write("src/main.rs", "fn main() {}");
    tick_alone(&project, "T001");
    project.stop("One.").reason();
    project.spool(&["stop"]).ok();
    project.stop("What now?");
    project.spool(&["start"]).ok();
    project.spool(&["stop"]).ok();
    assert!(project.tasks().contains("- [ ] T001"), "{}", project.tasks());
}
