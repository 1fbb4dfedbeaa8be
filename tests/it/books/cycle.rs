//! The cycle of an agent: what is next, show it, do it, say that it is done.

use serde_json::json;

use super::support::{FOUR, Project, SESSION, boxes, text};

#[test]
fn next_shows_the_whole_group() {
    let project = Project::armed(FOUR);
    assert_eq!(
        project.task(&["next"]).ok(),
        "- [ ] T002 [P] [US1] Model in src/user.py\n\n\
         - [ ] T003 [P] [US1] Page in src/page.py\n\n\
         A parallel group, delegate it in one message: T002 spec-executor, T003 spec-executor. 3 of 4 open.\n\
         Then: spool task done T002 T003   or: spool task fail ID \"why\"\n"
    );
}

#[test]
fn books_agree_until_the_end() {
    let project = Project::armed(FOUR);
    project.assert_books_agree();
    let said = project.task(&["done", "T003"]).ok();
    assert_eq!(said, "T003 is done.\n2 of 4 open, next T002: spool task next\n");
    project.assert_books_agree();
    let said = project.task(&["done", "T002"]).ok();
    assert_eq!(said, "T002 is done.\n1 of 4 open, next T004: spool task next\n");
    project.assert_books_agree();
    let next = project.task(&["next"]).ok();
    assert!(next.contains("- [ ] T004 [VERIFY] Try it\n"), "{next}");
    assert!(next.contains("Delegate it to qa-engineer (attempt 1 of 5). 1 of 4 open."), "{next}");
    let said = project.task(&["done", "T004"]).ok();
    let end = "All 4 tasks are done. Look once more that nothing is left, then end with ALL_TASKS_COMPLETE on a line of its own.\n";
    assert_eq!(said, format!("T004 is done.\n{end}"));
    project.assert_books_agree();
    assert_eq!(project.task(&["next"]).ok(), end);
    assert_eq!(
        project.entries(),
        ["done T003 Page in src/page.py", "done T002 Model in src/user.py", "done T004 Try it"]
    );
    project.stop("All is built and checked.\n\nALL_TASKS_COMPLETE").silent();
    assert_eq!(project.end(), "completed");
}

#[test]
fn next_json_has_everything() {
    let project = Project::armed(FOUR);
    let next = project.task(&["next", "--json"]).json();
    assert_eq!(next["status"], "group");
    assert_eq!((&next["done"], &next["total"]), (&json!(1), &json!(4)));
    assert_eq!(
        next["tasks"][0],
        json!({"id": "T002", "title": "Model in src/user.py", "done": false, "parallel": true,
            "agent": "spec-executor", "fixes": null, "phase": "Phase 2: Story", "line": 9,
            "failures": 0, "verify": null, "block": "- [ ] T002 [P] [US1] Model in src/user.py"})
    );
    project.task(&["done", "T002", "T003"]).ok();
    let next = project.task(&["next", "--json"]).json();
    assert_eq!(
        (&next["status"], &next["tasks"][0]["agent"]),
        (&json!("task"), &json!("qa-engineer"))
    );
    project.task(&["done", "T004"]).ok();
    let next = project.task(&["next", "--json"]).json();
    assert_eq!((&next["status"], &next["tasks"]), (&json!("done"), &json!([])));
    project.stop("ALL_TASKS_COMPLETE").silent();
    let next = project.task(&["next", "--json"]).json();
    assert_eq!((&next["status"], &next["reason"]), (&json!("over"), &json!("completed")));
}

#[test]
fn show_prints_one_whole_task() {
    let list = "- [ ] 1.1 First\n  - **Do**: this\n\n    and that\n\n- [ ] 1.10 Tenth\n  - **Do**: the other\n\n## Phase 2\nProse.\n";
    let project = Project::armed(list);
    let shown = project.task(&["show", "1.1"]).ok();
    assert_eq!(shown, "- [ ] 1.1 First\n  - **Do**: this\n\n    and that\n");
    let shown = project.task(&["show", "1.10"]).ok();
    assert_eq!(shown, "- [ ] 1.10 Tenth\n  - **Do**: the other\n");
}

#[test]
fn ticking_1_1_leaves_1_10() {
    let project = Project::armed("- [ ] 1.10 Tenth\n- [ ] 1.1 First\n- [ ] 11 No id, eleven\n");
    project.task(&["done", "1.1"]).ok();
    assert_eq!(project.tasks(), "- [ ] 1.10 Tenth\n- [x] 1.1 First\n- [ ] 11 No id, eleven\n");
    project.assert_books_agree();
}

#[test]
fn list_shows_boxes_and_json() {
    let project = Project::armed(FOUR);
    assert_eq!(
        project.task(&["list"]).ok(),
        "[x] T001 Create the project\n[ ] T002 Model in src/user.py\n[ ] T003 Page in src/page.py\n[ ] T004 Try it\n1 of 4 done\n"
    );
    let long = Project::armed(&format!("- [ ] T001 {}\n", "word ".repeat(40)));
    assert!(long.task(&["list"]).ok().contains("word…\n"), "a cut title says so");
    let list = project.task(&["list", "--json"]).json();
    assert_eq!((&list["feature"], &list["done"]), (&json!("001-user-login"), &json!(1)));
    let ids: Vec<_> =
        list["tasks"].as_array().unwrap().iter().map(|task| text(&task["id"])).collect();
    assert_eq!(ids, ["T001", "T002", "T003", "T004"]);
}

#[test]
fn unknown_id_changes_nothing() {
    let project = Project::armed(FOUR);
    let before = (project.tasks(), project.state());
    for call in [
        &["done", "T099"][..],
        &["done", "T002", "T099", "T003"],
        &["fail", "T099", "no"],
        &["show", "T099"],
        &["verify", "T099"],
        &["add", "--after", "T099", "x"],
    ] {
        let said = project.task(call).refused();
        assert!(said.contains("there is no task `T099` in specs/"), "{said}");
        assert!(said.contains("spool task list") || said.contains("open tasks: T002"), "{said}");
    }
    assert_eq!((project.tasks(), project.state()), before);
    assert_eq!(project.entries(), Vec::<String>::new());
}

#[test]
#[cfg_attr(windows, ignore = "an agent's Bash tool: there is no bash under Wine")]
fn task_without_id_gets_one() {
    let list = "- [ ] Write the page\n- [ ] Write the page\n- [ ] Try it\n";
    let project = Project::armed(list);
    let next = project.task(&["next"]).ok();
    let command = next.lines().find_map(|line| line.strip_prefix("Then: ")).unwrap();
    let command = command.split("   or:").next().unwrap().replace("spool", super::support::SPOOL);
    project.work_on(&["page"]);
    // As the agent's Bash tool does: the words go through a shell unquoted.
    let said = super::support::Said::of(project.command("bash").args(["-c", &command])).ok();
    assert!(said.contains("is done.\n2 of 3 open"), "{said}");
    assert_eq!(boxes(&project.tasks()), [true, false, false]);
    project.assert_books_agree();
}

#[test]
fn new_task_follows_its_neighbour() {
    let project = Project::armed(FOUR);
    let said = project.task(&["add", "--after", "T003", "Page for errors"]).ok();
    assert_eq!(said, "Added T005 after T003. 4 of 5 open, next T002 T003: spool task next\n");
    assert!(project.tasks().contains(
        "- [ ] T003 [P] [US1] Page in src/page.py\n- [ ] T005 Page for errors\n- [ ] T004"
    ));
    project.assert_books_agree();
    // Behind the last task of a phase: in front of the checkpoint, not behind it.
    project.task(&["add", "--after", "T004", "Try the errors"]).ok();
    assert!(
        project.tasks().ends_with(
            "- [ ] T004 [VERIFY] Try it\n- [ ] T006 Try the errors\n\n**Checkpoint**: it works\n"
        ),
        "{}",
        project.tasks()
    );
    project.assert_books_agree();
}

#[test]
fn foreign_progress_notes_stay() {
    let project = Project::armed(FOUR);
    // The last line has no line break: the first entry must not be glued to it.
    let notes = "# Learned\r\n\n- port 8080 is taken \u{1f680}\n- [done] not a task, a word";
    std::fs::write(project.feature.join(".progress.md"), notes).unwrap();
    project.task(&["done", "T002"]).ok();
    project.task(&["fail", "T003", "the page is empty"]).ok();
    assert_eq!(
        project.progress(),
        format!(
            "{notes}\n- [done] T002 Model in src/user.py\n- [failed] T003 attempt 1 of 5: the page is empty\n"
        )
    );
}

#[test]
fn person_keeps_books_without_loop() {
    let project = Project::with(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
    project.task(&["done", "T002"]).ok();
    assert_eq!(project.tasks(), FOUR.replace("[ ] T002", "[x] T002"));
    assert!(!project.state_path().exists(), "a state file would be a loop that nobody armed");
    let noted = &project.log()[0];
    assert_eq!((&noted["session"], &noted["driver"]), (&json!(null), &json!("session")));
    project.stop("I am done.").silent();
}

#[test]
fn session_loop_outranks_current_feature() {
    let project = Project::armed(FOUR);
    project.write("specs/002-other/tasks.md", "- [ ] T001 Other\n");
    project.write(".specify/feature.json", r#"{"feature_directory":"specs/002-other"}"#);
    assert!(project.task(&["next"]).ok().contains("T002"), "the session's own loop");
    let said = project.task(&["next", "--feature", "002-other"]).refused();
    assert!(said.contains("this session works on feature `001-user-login`"), "{said}");
    let person = project.variable("CLAUDE_CODE_SESSION_ID", "another-session");
    assert!(person.task(&["next"]).ok().contains("Other"), "a session without a loop");
    assert!(person.record_path(SESSION).exists());
}
