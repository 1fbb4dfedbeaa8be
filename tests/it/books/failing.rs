//! What becomes of a task that fails: attempts, repairs, and the ends that a person is told about.

use crate::support::has::Has;
use serde_json::{Value, json};

use super::support::{FOUR, Project, boxes, text};

/// One open task.
const ONE: &str = "- [x] T001 Create it\n- [ ] T002 Fill it\n";

#[test]
fn failure_counts_and_allows_retry() {
    let project = Project::armed(ONE);
    let said = project.task(&["fail", "T002", "no   such\nmodule"]).ok();
    assert_eq!(
        said,
        "Counted: T002 failed 1 of 5 times. Try it again in another way: spool task show T002\n"
    );
    project.assert_books_agree();
    project.task(&["fail", "t002", "still none"]).ok();
    let state = project.state();
    assert_eq!(state["taskAttempts"], json!({"T002": 2}));
    assert_eq!(state["taskIteration"], 3, "the third attempt runs");
    assert_eq!(
        project.entries(),
        ["failed T002 attempt 1 of 5: no such module", "failed T002 attempt 2 of 5: still none"]
    );
    let next = project.task(&["next"]).ok();
    assert!(next.contains("(attempt 3 of 5)"), "{next}");
    let reason = project.stop("I stop here.");
    assert!(reason.reason().contains("attempt 3 of 5"), "{}", reason.reason());
    project.task(&["done", "T002"]).ok();
    assert_eq!(project.state()["taskAttempts"], json!({}), "what is done has no failures");
    project.assert_books_agree();
}

#[test]
fn failing_task_ends_within_limit() {
    let project = Project::armed_with(ONE, "--max-task-iterations 3");
    for attempt in 1..3 {
        let said = project.task(&["fail", "T002", "no"]).ok();
        assert!(said.starts_with(&format!("Counted: T002 failed {attempt} of 3 times.")), "{said}");
    }
    let said = project.task(&["fail", "T002", "it never compiles"]).ok();
    assert_eq!(
        said,
        "Counted: T002 used up its 3 attempts, the loop has ended (task_failed). End your turn now with what was tried and what a person must do.\n"
    );
    project.assert_books_agree();
    assert_eq!(end(&project)["reason"], "task_failed", "ended before the agent stops");
    let status = project.status();
    assert_eq!(
        (&status["loop"]["state"], &status["loop"]["end"]["name"]),
        (&json!("ended"), &json!("task_failed"))
    );
    assert_eq!(status["loop"]["end"]["words"], "task T002 is at attempt 4, and 3 are allowed");
    let end = project.log().pop().unwrap();
    assert_eq!((&end["event"], &end["reason"]), (&json!("ended"), &json!("task_failed")));
    let stop = project.stop("I could not do it.");
    assert_eq!(
        stop.told(),
        "Ralph-speckit: ended (task_failed): 001-user-login · task T002 is at attempt 4, and 3 are allowed · 1 of 2 tasks · 0 iterations\nNext: look at the task and at .progress.md, fix what blocks it, then continue with /speckit:implement 001-user-login.\nOpen: T002"
    );
    project.stop("And again.").silent();
    let said = project.task(&["next"]).ok();
    assert_eq!(said, "The loop of 001-user-login has ended (task_failed). End your turn.\n");
    let said = project.task(&["fail", "T002", "and again"]).ok();
    assert_eq!(said, "Noted. The loop has ended (task_failed). End your turn.\n");
    // A person arms anew: the task has its attempts again.
    project.arm("");
    assert!(project.task(&["next"]).ok().contains("(attempt 1 of 3)"));
}

#[test]
fn block_ends_and_tells_needs() {
    let project = Project::armed(FOUR);
    project.stop("Working on it.").reason();
    let said = project.task(&["block", "put the API key into .env"]).ok();
    assert_eq!(
        said,
        "Noted, the loop has ended (blocked). End your turn now: say what the person must do and what is done so far.\n"
    );
    assert_eq!(end(&project)["reason"], "blocked");
    assert!(project.progress().ends_with("- [blocked] put the API key into .env\n"));
    let status = project.spool(&["status"]).ok();
    status.has("Loop: ended (blocked): the agent needs a person: put the API key into .env");
    let log = project.spool(&["log"]).ok();
    log.has("ended (blocked)  the agent needs a person: put the API key into .env");
    let stop = project.stop("I need a key.");
    let told = stop.told();
    told.has(
        "ended (blocked): 001-user-login · the agent needs a person: put the API key into .env · ",
    );
    told.has("\nNext: do that, then continue with /speckit:implement 001-user-login.\nOpen: ");
    project.stop("I need a key.").silent();
    assert_eq!(project.task(&["next", "--json"]).json()["reason"], "blocked");
}

#[test]
fn ended_loop_gets_no_second_end() {
    let project = Project::armed(FOUR);
    project.spool(&["cancel"]).ok();
    let said = project.task(&["block", "a key"]).ok();
    assert!(said.starts_with("Noted, the loop has ended (cancelled)."), "{said}");
    assert_eq!(end(&project)["reason"], "cancelled");
    assert!(project.stop("I need a key.").told().contains("ended (cancelled)"));
    project.stop("I need a key.").silent();
}

#[test]
fn early_agent_is_heard() {
    // Armed from a terminal: nobody has the loop yet.
    let project = Project::with(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
    project.spool(&["start"]).ok();
    let project = project.variable("CLAUDE_CODE_SESSION_ID", super::support::SESSION);
    project.task(&["block", "a licence"]).ok();
    assert!(project.stop("I need a licence.").told().contains("a licence"));
    project.stop("Again.").silent();
}

#[test]
fn failed_task_gets_repair_first() {
    let project = Project::armed_with(FOUR, "--recovery-mode");
    let said = project.task(&["fail", "T003", "import error in [VERIFY] run"]).ok();
    assert_eq!(
        said,
        "Counted: T003 failed 1 of 5 times. Do its repair T003.F1 first, then T003 again: spool task next\n"
    );
    project.assert_books_agree();
    assert!(project.tasks().contains(
        "- [ ] T003 [P] [US1] Page in src/page.py\n- [ ] T003.F1 [FIX T003] Remove what made it fail: import error in [VERIFY] run\n- [ ] T004"
    ), "{}", project.tasks());
    assert_eq!(
        project.state()["fixTaskMap"]["T003"],
        json!({"attempts": 1, "fixTaskIds": ["T003.F1"], "lastFailed": "T003", "lastError": "import error in [VERIFY] run"})
    );
    assert_eq!(
        project.entries(),
        ["failed T003 attempt 1 of 5: import error in [VERIFY] run", "repair T003.F1 behind T003"]
    );
    // T002 stands first and is not held up; then the repair, then the task itself.
    let ids = |project: &Project| -> Vec<String> {
        let next = project.task(&["next", "--json"]).json();
        next["tasks"].as_array().unwrap().iter().map(|task| text(&task["id"]).to_owned()).collect()
    };
    assert_eq!(ids(&project), ["T002"]);
    project.task(&["done", "T002"]).ok();
    assert_eq!(ids(&project), ["T003.F1"]);
    let next = project.task(&["next"]).ok();
    assert!(next.contains("Delegate it to spec-executor (attempt 1 of 5)"), "{next}");
    // Failing again while the repair is open makes no second one.
    let said = project.task(&["fail", "T003", "again"]).ok();
    assert!(said.contains("T003 failed 2 of 5 times. Try it again"), "{said}");
    project.task(&["done", "T003.F1"]).ok();
    project.assert_books_agree();
    assert_eq!(ids(&project), ["T003"]);
    project.task(&["done", "T003"]).ok();
    assert_eq!(project.state()["taskAttempts"], json!({}));
    project.assert_books_agree();
}

#[test]
fn repairs_are_bounded() {
    let project = Project::armed_with(ONE, "--recovery-mode --max-task-iterations 9");
    let fail = |id: &str| project.task(&["fail", id, "no"]).ok();
    assert!(fail("T002").contains("repair T002.F1 first"));
    assert!(fail("T002.F1").contains("repair T002.F2 first"), "a repair of a repair");
    let deepest = fail("T002.F2");
    assert!(deepest.contains("T002.F2 failed 1 of 9 times. Try it again"), "{deepest}");
    for id in ["T002.F2", "T002.F1"] {
        project.task(&["done", id]).ok();
    }
    assert!(fail("T002").contains("repair T002.F3 first"));
    project.task(&["done", "T002.F3"]).ok();
    let fourth = fail("T002");
    assert!(fourth.contains("Try it again in another way"), "three for each original: {fourth}");
    let map = &project.state()["fixTaskMap"];
    assert_eq!(map["T002"]["fixTaskIds"], json!(["T002.F1", "T002.F2", "T002.F3"]));
    assert_eq!(map["T002"]["attempts"], 3);
    assert_eq!(boxes(&project.tasks()), [true, false, true, true, true]);
    project.assert_books_agree();
}

#[test]
fn failing_repair_ends_the_loop() {
    let project = Project::armed_with(ONE, "--recovery-mode --max-task-iterations 2");
    project.task(&["fail", "T002", "no"]).ok();
    project.task(&["fail", "T002.F1", "no"]).ok();
    project.task(&["fail", "T002.F2", "no"]).ok();
    let said = project.task(&["fail", "T002.F2", "no"]).ok();
    assert!(said.contains("T002.F2 used up its 2 attempts"), "{said}");
    project.stop("I give up.").told().has("task T002.F2 is at attempt 3, and 2 are allowed");
}

#[test]
fn tasks_without_ids_are_repaired_too() {
    let project = Project::armed_with("- [ ] Write the page\n- [ ] Try it\n", "--recovery-mode");
    let task = |project: &Project| {
        let next = project.task(&["next", "--json"]).json();
        (text(&next["tasks"][0]["id"]).to_owned(), next["tasks"][0]["fixes"].clone())
    };
    let (original, _) = task(&project);
    project.task(&["fail", &original, "no template"]).ok();
    let (repair, fixes) = task(&project);
    assert_eq!(fixes, json!(original));
    project.task(&["done", &repair]).ok();
    project.task(&["fail", &original, "no template"]).ok();
    let (second, fixes) = task(&project);
    assert_eq!(fixes, json!(original));
    assert_ne!(second, repair);
    assert_eq!(project.state()["fixTaskMap"][&original]["fixTaskIds"], json!([repair, second]));
    project.assert_books_agree();
}

#[test]
fn last_attempt_gets_no_repair() {
    let project = Project::armed_with(ONE, "--recovery-mode --max-task-iterations 1");
    project.task(&["fail", "T002", "no"]).ok();
    assert_eq!(project.tasks(), ONE);
    let project = Project::armed(ONE);
    project.task(&["fail", "T002", "no"]).ok();
    assert_eq!(project.tasks(), ONE);
}

#[test]
fn ticked_task_cannot_fail() {
    let project = Project::armed(ONE);
    let before = project.state();
    let said = project.task(&["fail", "T001", "it broke"]).refused();
    assert!(said.contains("T001 is ticked already"), "{said}");
    assert!(said.contains("spool task add --after T001"), "{said}");
    assert_eq!(project.state(), before);
}

#[test]
fn failure_without_state_is_noted() {
    let project = Project::with(ONE);
    let said = project.task(&["fail", "T002", "no luck"]).ok();
    assert!(said.starts_with("Noted, not counted: only the loop of a session"), "{said}");
    assert_eq!(project.entries(), ["failed T002 no luck"]);
    assert!(!project.state_path().exists());
}

#[test]
fn an_empty_reason_is_refused() {
    let project = Project::armed(ONE);
    for call in [&["fail", "T002", " \n"][..], &["block", ""], &["add", "--after", "T002", "\t"]] {
        let said = project.task(call).refused();
        assert!(said.contains("the text is empty\nsay in one line what it is about"), "{said}");
    }
    assert_eq!(project.tasks(), ONE);
    assert_eq!(project.entries(), Vec::<String>::new());
}

/// The end of the feature's loop, as its pin has it.
fn end(project: &Project) -> Value {
    let path = project.record_path("s1").with_file_name("feature-001-user-login.json");
    let pin: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    pin["ended"]["reason"].clone()
}
