//! Open tasks whose files have changed: the agent is asked once about each, and never taken at more than its word.

use super::support::Project;

const THREE: &str =
    "- [ ] T001 Write src/a.rs\n- [ ] T002 Write src/b.rs\n- [ ] T003 Write src/c.rs\n";
const ASKED: &str =
    "Not ticked, though its files have changed: T002 (src/b.rs). Where it is done: ";

#[test]
fn an_open_task_whose_files_have_changed_is_asked_about_once_at_a_stop() {
    let project = Project::armed(THREE);
    project.write("src/a.rs", "fn a() {}\n");
    project.write("src/b.rs", "fn b() {}\n");
    project.edit_tasks("[ ] T001", "[x] T001");
    project.agent_works();
    let first = project.stop("One is done.");
    let reason = first.reason();
    assert!(reason.contains(&format!("{ASKED}`spool task done ID`, or tick its box.")), "{reason}");
    assert!(reason.contains("2 of 3: T002"), "it stays open: {reason}");
    project.write("src/c.rs", "fn c() {}\n");
    project.edit_tasks("[ ] T003", "[x] T003");
    project.agent_works();
    let second = project.stop("And another one.");
    assert!(!second.reason().contains("Not ticked"), "{}", second.reason());
    // Nor does another program ask again, but it says so to whoever wants to know.
    let next = project.task(&["next"]).ok();
    assert!(!next.contains("Not ticked"), "{next}");
    let shown = project.task(&["show", "T002"]).ok();
    assert!(shown.ends_with(&format!("\n\n{ASKED}`spool task done T002`.\n")), "{shown}");
    let done = project.task(&["show", "T001"]).ok();
    assert!(!done.contains("Not ticked"), "{done}");
    project.call(&["done", "T002"]).ok();
    project.stop("ALL_TASKS_COMPLETE").silent();
    assert_eq!(project.end(), "completed");
}

#[test]
fn the_next_task_comes_with_the_question_about_one_that_may_be_done_once_in_a_loop() {
    let project = Project::armed(THREE);
    let next = |project: &Project| project.call(&["next"]).ok();
    assert!(!next(&project).contains("Not ticked"));
    project.write("src/b.rs", "fn b() {}\n");
    let asked = next(&project);
    assert!(asked.ends_with(&format!("{ASKED}`spool task done ID`.\n")), "{asked}");
    assert!(!next(&project).contains("Not ticked"), "it was asked before");
    project.agent_works();
    let stop = project.stop("On it.");
    assert!(!stop.reason().contains("Not ticked"), "{}", stop.reason());
    // What had changed before a person arms again is no work of the new loop.
    project.spool(&["cancel"]).ok();
    project.arm("");
    assert!(!next(&project).contains("Not ticked"));
    project.write("src/b.rs", "fn b() { 1 }\n");
    assert!(next(&project).contains(ASKED), "another loop asks again");
}

#[test]
fn an_agent_that_only_says_that_it_is_done_is_asked_before_its_loop_ends_without_progress() {
    let project = Project::armed(THREE);
    for file in ["src/a.rs", "src/b.rs", "src/c.rs"] {
        project.write(file, "fn it() {}\n");
    }
    project.agent_works();
    let reasons: Vec<String> =
        (0..3).map(|_| project.stop("All is done.").reason().to_owned()).collect();
    let asked = "Not ticked, though their files have changed: T001 (src/a.rs), T002 (src/b.rs), T003 (src/c.rs).";
    let is_asked: Vec<bool> = reasons.iter().map(|reason| reason.contains(asked)).collect();
    assert_eq!(is_asked, [false, false, true], "{reasons:#?}");
    project.stop("All is done.").told();
    assert_eq!(project.end(), "no_progress", "it is a question, and no work");
}

#[test]
fn neither_the_work_of_another_task_nor_a_loop_that_takes_every_word_makes_a_question() {
    let project = Project::armed("- [ ] T001 Be quick\n- [ ] T002 Write src/b.rs\n");
    project.write("src/b.rs", "fn b() {}\n");
    project.call(&["done", "T001"]).ok();
    let next = project.call(&["next"]).ok();
    assert!(!next.contains("Not ticked"), "T001 has it for its proof: {next}");
    let by_word = Project::with(THREE);
    by_word.write(".claude/ralph-speckit.local.md", "---\nproof: word\n---\n");
    by_word.arm("");
    by_word.write("src/b.rs", "fn b() {}\n");
    let next = by_word.call(&["next"]).ok();
    assert!(!next.contains("Not ticked"), "{next}");
}
