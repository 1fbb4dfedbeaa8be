//! Agents that go their own way: boxes ticked by hand, tasks taken out or reworded.

use serde_json::json;

use super::support::{FOUR, Project};

const ALL: &str = "ALL_TASKS_COMPLETE";

#[test]
fn an_agent_that_ticks_by_hand_and_never_touches_the_state_ends_as_completed() {
    let project = Project::armed(FOUR);
    for id in ["T002", "T003", "T004"] {
        let reason = project.stop(&format!("Before {id}. {ALL}"));
        assert!(reason.reason().contains(&format!("of 4: {id}")), "{}", reason.reason());
        let box_of = |mark: char| format!("- [{mark}] {id} ");
        project.edit_tasks(&box_of(' '), &box_of('X'));
        project.agent_works();
    }
    project.stop(ALL).silent();
    let status = project.status();
    assert_eq!((&status["loop"]["end"]["name"], &status["done"]), (&json!("completed"), &json!(4)));
    assert_eq!(project.log().pop().unwrap()["reason"], "completed");
    let state = project.state();
    assert_eq!(
        (&state["taskIndex"], &state["totalTasks"]),
        (&json!(4), &json!(4)),
        "brought up to date"
    );
    project.stop("And on.").silent();
}

#[test]
fn a_box_ticked_by_hand_is_written_down_when_it_is_reported_after_all() {
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
fn open_tasks_that_are_taken_out_or_reworded_are_named_at_the_next_stop_and_only_there() {
    let project = Project::armed(FOUR);
    project.edit_tasks("- [ ] T003 [P] [US1] Page in src/page.py\n", "");
    project.edit_tasks("T004 [VERIFY] Try it", "T004 [VERIFY] Look at it");
    let first = project.stop("I tidied up.");
    let reason = first.reason();
    assert!(reason.contains("Open tasks were taken out of tasks.md: T003. Put them back, or write down why they are no longer needed."), "{reason}");
    assert!(
        reason
            .contains("Open tasks were reworded in tasks.md: T004. Do what they asked for first."),
        "{reason}"
    );
    project.agent_works();
    let second = project.stop("Anything else?");
    assert!(!second.reason().contains("taken out") && !second.reason().contains("reworded"));
}

#[test]
fn an_agent_that_deletes_its_open_tasks_is_not_let_through_the_first_time() {
    let project = Project::armed(FOUR);
    project.edit_tasks(
        "- [ ] T002 [P] [US1] Model in src/user.py\n- [ ] T003 [P] [US1] Page in src/page.py\n- [ ] T004 [VERIFY] Try it\n",
        "",
    );
    let reason = project.stop(ALL);
    assert!(
        reason.reason().contains("taken out of tasks.md: T002, T003, T004."),
        "{}",
        reason.reason()
    );
    project.agent_works();
    // It insists: what is left of the list is done, and the person reads what is gone from it.
    let stop = project.stop(ALL);
    assert!(
        stop.told().contains("gone from tasks.md at the end: T002, T003, T004 · "),
        "{}",
        stop.told()
    );
    assert_eq!(project.end(), "completed");
    let told = project.log().iter().any(|entry| entry["words"].to_string().contains("T002"));
    assert!(told, "{:#?}", project.log());
}

#[test]
fn an_emptied_list_is_not_done_however_often_that_is_said() {
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
fn what_the_program_itself_adds_and_ticks_is_no_tampering() {
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
fn a_tick_keeps_what_somebody_else_wrote_into_the_list_meanwhile() {
    let project = Project::armed(FOUR);
    project.edit_tasks("T003 [P] [US1] Page", "T003 [P] [US1] (see plan.md) Page");
    project.task(&["done", "T002"]).ok();
    assert!(project.tasks().contains("- [ ] T003 [P] [US1] (see plan.md) Page"));
    project.assert_books_agree();
}
