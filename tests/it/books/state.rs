//! The state file: what others wrote into it, older forms, broken ones, and its schema.

use crate::support::has::Has;
use std::fs;

use serde_json::json;

use super::support::{FOUR, Project};
use crate::support::schema::Schema;

#[test]
fn unknown_fields_survive_writes() {
    let project = Project::armed_with(FOUR, "--recovery-mode");
    let strange = json!({
        "zebra": {"deep": [1, 2.5, null, "\u{1f984}"]}, "aardvark": "first", "parallelGroup": {"taskIndices": [1, 2]},
        "fixTaskMap": {
            "T003": {"attempts": 1, "fixTaskIds": ["T003.F9"], "mood": "grim"},
            "T777": {"note": "somebody else's"},
        },
    });
    project.set_state(&strange);
    project.task(&["done", "T002"]).ok();
    project.task(&["fail", "T003", "no"]).ok();
    project.task(&["add", "--after", "T004", "More"]).ok();
    project.task(&["fail", "T003.F1", "no"]).ok();
    let state = project.state();
    for name in ["zebra", "aardvark", "parallelGroup"] {
        assert_eq!(state[name], strange[name]);
    }
    let map = &state["fixTaskMap"];
    assert_eq!(map["T777"], strange["fixTaskMap"]["T777"]);
    assert_eq!(map["T003"]["mood"], "grim");
    assert_eq!(map["T003"]["attempts"], 3, "counted on from what was there");
    assert_eq!(map["T003"]["fixTaskIds"], json!(["T003.F9", "T003.F1", "T003.F2"]));
    // The order of the fields is kept as well: a diff of the file shows what changed and no more.
    let text = fs::read_to_string(project.state_path()).unwrap();
    let at = |name: &str| text.find(&format!("\"{name}\"")).unwrap();
    assert!(at("version") < at("phase") && at("zebra") < at("aardvark"));
}

#[test]
fn older_state_files_load() {
    let older = [
        json!({"phase": "execution", "taskIndex": 1, "totalTasks": 4}),
        json!({"phase": "execution", "taskIndex": "1", "totalTasks": 4.0, "maxTaskIterations": "3"}),
        json!({"phase": "execution", "taskIndex": 99, "totalTasks": 2, "taskAttempts": [], "fixTaskMap": "none"}),
        json!({"phase": "execution", "source": "spec", "name": "user-login", "taskIteration": 2, "globalIteration": 7,
            "maxGlobalIterations": 100, "recoveryMode": true, "fixTaskMap": {}}),
    ];
    for state in older {
        let project = Project::with(FOUR);
        fs::write(project.state_path(), state.to_string()).unwrap();
        assert!(project.task(&["next"]).ok().contains("T002"));
        let said = project.task(&["fail", "T002", "no"]).ok();
        assert!(said.starts_with("Counted: T002 failed 1 of "), "{said}");
        project.task(&["done", "T002"]).ok();
        project.assert_books_agree();
        let kept = project.state();
        assert_eq!(kept["source"], state["source"]);
        assert_eq!(kept["maxTaskIterations"], state["maxTaskIterations"]);
        let iteration = state["globalIteration"].as_u64().unwrap_or(1);
        assert_eq!(kept["globalIteration"], iteration, "never counted back");
    }
}

#[test]
fn broken_state_is_never_overwritten() {
    for broken in ["{\"phase\": \"execution\",", "", "[1, 2]", "null", "{\"a\": 1}}", "\u{0}\u{1}"]
    {
        let project = Project::armed(FOUR);
        fs::write(project.state_path(), broken).unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH;
        filetime::set_file_mtime(project.state_path(), old.into()).unwrap();
        let done = project.task(&["done", "T002"]).ok();
        assert!(
            done.starts_with(
                "T002 is done. .speckit-state.json cannot be read and is left as it is: "
            ),
            "{done}"
        );
        let failed = project.task(&["fail", "T003", "no"]).ok();
        assert!(failed.starts_with("Noted, not counted:"), "{failed}");
        project.task(&["add", "--after", "T003", "More"]).ok();
        project.task(&["next"]).ok();
        project.task(&["list", "--json"]).ok();
        assert_eq!(fs::read_to_string(project.state_path()).unwrap(), broken);
        assert!(project.tasks().contains("[x] T002") && project.tasks().contains("T005 More"));
    }
}

#[test]
fn unreadable_list_names_way_out() {
    let project = Project::armed(FOUR);
    fs::remove_file(project.tasks_path()).unwrap();
    for call in [&["next"][..], &["done", "T002"], &["list"], &["fail", "T002", "x"]] {
        let said = project.task(call).refused();
        said.has("tasks.md` cannot be read: it does not exist\nmake the task list first");
    }
}

#[test]
#[cfg_attr(windows, ignore = "Wine 8 says that it made a link, and makes none")]
fn outside_link_is_not_followed() {
    let project = Project::armed(FOUR);
    fs::remove_file(project.tasks_path()).unwrap();
    let outside = project.beside("secret.md");
    fs::write(&outside, FOUR).unwrap();
    crate::support::system::symlink(&outside, project.tasks_path()).unwrap();
    let said = project.task(&["done", "T002"]).refused();
    assert!(said.contains("a symbolic link leads out of its folder"), "{said}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), FOUR);
}

#[test]
fn state_file_follows_its_schema() {
    let project = Project::armed_with(FOUR, "--recovery-mode --max-task-iterations 3");
    let conforms = |after: &str| {
        let problems = Schema::named("speckit-state").problems(&project.state());
        assert_eq!(problems, Vec::<String>::new(), "after {after}");
    };
    conforms("arming");
    for call in [
        &["fail", "T003", "no"][..],
        &["fail", "T003.F1", "no"],
        &["done", "T003.F2"],
        &["done", "T003.F1"],
        &["done", "T003"],
        &["add", "--after", "T004", "More"],
        &["done", "T002"],
        &["done", "T004", "T005"],
    ] {
        project.task(call).ok();
        conforms(call[0]);
    }
    project.stop("ALL_TASKS_COMPLETE").silent();
    conforms("completion");
}

#[test]
fn schema_check_sees_wrongs() {
    let wrong = json!({
        "taskIndex": -1, "totalTasks": "4", "maxTaskIterations": 0, "featureId": "x1", "awaitingApproval": 1,
        "taskAttempts": {"T001": "two"}, "fixTaskMap": {"T001": {"fixTaskIds": [3]}}, "unknown": [],
    });
    let problems = Schema::named("speckit-state").problems(&wrong);
    assert_eq!(problems.len(), 7, "{problems:#?}");
}
