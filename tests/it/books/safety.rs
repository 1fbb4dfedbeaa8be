//! A command runs only because a person armed it: the ways around that, each from the agent's side.

use crate::support::has::Has;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use super::support::{FEATURE, Hooked, Project, SPOOL, Said, boxes};

/// A list whose Verify command leaves a trace.
const TRAP: &str = "- [ ] T001 Create it\n  - **Verify**: `touch pwned`\n- [ ] T002 Fill it\n";
const PLAIN: &str = "- [ ] T001 Create it\n- [ ] T002 Fill it\n";
const SETTINGS: &str = ".claude/ralph-speckit.local.md";

/// `spool start` as a person types it in a terminal of their own.
fn start(project: &Project, arguments: &[&str]) -> Said {
    let mut command = project.command(SPOOL);
    Said::of(command.env_remove("CLAUDE_CODE_SESSION_ID").arg("start").args(arguments))
}

/// What the person's home folder keeps for the feature of the scratch project.
fn pin(project: &Project, prefix: &str) -> PathBuf {
    let projects = project.beside("home/.local/state/ralph-speckit/projects");
    let mut folders = fs::read_dir(projects).unwrap();
    folders.next().unwrap().unwrap().path().join(format!("{prefix}feature-{FEATURE}.json"))
}

/// Neither `verify` nor `done` runs the trap's command; each names it.
#[track_caller]
fn nothing_runs(project: &Project, arguments: &[&str]) {
    let with = |words: &[&str]| project.task(&[words, arguments].concat());
    for said in [with(&["verify", "T001"]), with(&["done", "T001"])] {
        assert!(!project.root.join("pwned").exists(), "the command has run: {said:?}");
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains("`touch pwned`"), "the command is not named: {said:?}");
    }
}

#[test]
fn s1_foreign_feature_command_stays_unrun() {
    let project = Project::armed(PLAIN);
    project.write("specs/002-x/tasks.md", TRAP);
    for action in ["verify", "done"] {
        let said = project.task(&[action, "T001", "--feature", "002-x"]);
        assert!(!project.root.join("pwned").exists(), "the command has run: {said:?}");
        let said = said.refused();
        assert!(said.contains("002-x") && said.contains(FEATURE), "it names both: {said}");
    }
    assert_eq!(fs::read_to_string(project.root.join("specs/002-x/tasks.md")).unwrap(), TRAP);
    // In a session without a loop, nobody has armed it either.
    let project = Project::with(PLAIN);
    project.write("specs/002-x/tasks.md", TRAP);
    nothing_runs(&project, &["--feature", "002-x"]);
}

#[test]
fn s1_foreign_project_command_stays_unrun() {
    let project = Project::armed(PLAIN);
    let other = Project::with(TRAP);
    let place = other.root.to_str().unwrap();
    for action in ["verify", "done"] {
        let said = project.task(&[action, "T001", "--project", place]);
        let has_run = other.root.join("pwned").exists() || project.root.join("pwned").exists();
        assert!(!has_run, "the command has run: {said:?}");
        let said = said.refused();
        let both = said.contains(place) && said.contains(project.root.to_str().unwrap());
        assert!(both, "it names both: {said}");
    }
    assert_eq!(boxes(&other.tasks()), [false, false]);
}

#[test]
fn s1_later_written_commands_stay_unrun() {
    for stops in [0, 2] {
        let project =
            Project::with("- [ ] T001 Create it\n  - Verify: `touch armed`\n- [ ] T002 Fill it\n");
        let shown = start(&project, &[]).ok();
        for _ in 0..stops {
            project.agent_works();
            project.stop("Not yet.").reason();
        }
        project.edit_tasks("T002 Fill it\n", "T002 Fill it\n  - Verify: `touch pwned`\n");
        let said = project.task(&["verify", "T002"]);
        let has_run = project.root.join("pwned").exists();
        assert!(!has_run, "after {stops} stops, the command has run: {said:?}");
        let said = said.refused();
        assert!(said.contains("`touch pwned`"), "{said}");
        project.edit_tasks("`touch armed`", "`touch pwned`");
        let said = project.task(&["done", "T001"]).refused();
        assert!(said.contains("Put it back: `touch armed`"), "{said}");
        assert!(!project.root.join("pwned").exists(), "after {stops} stops");
        // What the person was shown is run.
        assert!(shown.contains("touch armed") && shown.contains("T001"), "{shown}");
        project.edit_tasks(
            "  - Verify: `touch pwned`\n- [ ] T002",
            "  - Verify: `touch armed`\n- [ ] T002",
        );
        project.task(&["done", "T001"]).ok();
        assert!(project.root.join("armed").exists(), "after {stops} stops");
    }
}

#[test]
fn s1_broken_notes_run_nothing() {
    let notes = |project: &Project| {
        let session = super::support::SESSION;
        project.record_path(session).with_file_name(format!("open-{session}.txt"))
    };
    let marker = |project: &Project| project.root.join(format!(".claude/ralph/armed-{FEATURE}"));
    for bytes in [None, Some("{"), Some("null"), Some("{\"verify\": null}")] {
        for file in [&notes as &dyn Fn(&Project) -> PathBuf, &marker] {
            let project = Project::armed(PLAIN);
            project.edit_tasks("T001 Create it\n", "T001 Create it\n  - Verify: `touch pwned`\n");
            match bytes {
                None => fs::remove_file(file(&project)).unwrap(),
                Some(bytes) => fs::write(file(&project), bytes).unwrap(),
            }
            nothing_runs(&project, &[]);
        }
    }
}

#[test]
fn s1_unreadable_arming_runs_nothing() {
    for prefix in ["", "verify-"] {
        for bytes in [None, Some(""), Some("{"), Some("[]")] {
            let project = Project::armed(TRAP);
            let path = pin(&project, prefix);
            assert!(!path.starts_with(&project.root));
            match bytes {
                None => fs::remove_file(&path).unwrap(),
                Some(bytes) => fs::write(&path, bytes).unwrap(),
            }
            nothing_runs(&project, &[]);
        }
    }
}

#[test]
fn s1_huge_list_keeps_arming() {
    let lines: Vec<_> = (1..=32_000).map(|number| format!("- [ ] T{number:05} Do\n")).collect();
    let list = lines.concat();
    let project = Project::armed(&(list.clone() + TRAP.replace("T001", "U001").as_str()));
    fs::write(
        project.tasks_path(),
        list.replace("T00002 Do\n", "T00002 Do\n  - Verify: `touch pwned`\n")
            + &TRAP.replace("T001", "U001"),
    )
    .unwrap();
    let said = project.task(&["verify", "T00002"]);
    assert!(!project.root.join("pwned").exists(), "the command has run: {said:?}");
    let said = said.refused();
    assert!(said.contains("`touch pwned`"), "{said}");
    project.task(&["verify", "U001"]).ok();
    assert!(project.root.join("pwned").exists(), "what was armed is run");
}

#[test]
fn s1_agent_session_arms_no_command() {
    let project = Project::with(TRAP);
    project.write(SETTINGS, "---\nchecks: [touch pwned]\n---\n");
    let said = project.spool(&["start"]).ok();
    nothing_runs(&project, &[]);
    assert!(said.contains("inside of an agent's session"), "{said}");
    fs::write(project.tasks_path(), TRAP.replace("[ ]", "[x]")).unwrap();
    let told = project.stop("ALL_TASKS_COMPLETE");
    assert!(told.told().contains("were not run"), "{told:?}");
    assert!(!project.root.join("pwned").exists());
}

#[test]
fn s1_unkept_commands_are_refused() {
    for home in ["", "/proc/nowhere"] {
        let project = Project::with(TRAP).variable("HOME", home);
        let said = start(&project, &[]).refused();
        assert!(said.contains("nothing is armed"), "{said}");
        assert!(
            !project.state_path().exists()
                && !project.root.join(format!(".claude/ralph/feature-{FEATURE}.json")).exists()
        );
        let project = Project::with(PLAIN).variable("HOME", home);
        start(&project, &["--max-iterations", "500"]).ok().has("the default limits hold");
    }
    // In the project, the agent could write it.
    let project = Project::with(TRAP);
    let inside = project.root.join("state").to_str().unwrap().to_owned();
    let project = project.variable("XDG_STATE_HOME", &inside);
    assert!(start(&project, &[]).refused().contains("lies in the project"));
    assert!(!project.root.join("state").exists());
}

#[test]
fn s1_agents_replace_no_loop() {
    let project = Project::with(PLAIN);
    project.write(SETTINGS, "---\nchecks: [test -e built]\n---\n");
    project.arm("");
    let refused = |arguments: &[&str]| {
        let said = project.spool(arguments).refused();
        said.has_all(&["a person armed the loop of 001-user-login", "only a person replaces it"]);
    };
    project.write("specs/002-x/tasks.md", PLAIN);
    for part in [&["start"][..], &["start", FEATURE, "T001"], &["start", "002-x"]] {
        refused(part);
    }
    let mut other = project.command(SPOOL);
    let other = Said::of(other.env("CLAUDE_CODE_SESSION_ID", "s2").args(["start", "--force"]));
    other.refused().has("only a person replaces it");
    let mut other = project.command(SPOOL);
    Said::of(other.env("CLAUDE_CODE_SESSION_ID", "s2").args(["start", "002-x"])).ok();
    refused(&["adopt", "s2", "--replace"]);
    let run = ["ralph", "x", "--change", FEATURE, "--harness-command", "true"];
    project.spool(&run).with_code(2).err.has("only a person replaces it");
    // What the agent has ended is told first.
    project.spool(&["stop"]).ok();
    refused(&["start", FEATURE, "T001"]);
    refused(&["adopt", "s2"]);
    let told = project.stop("Done.");
    told.told().has("ended (cancelled): 001-user-login · it was cancelled; asked for inside of an agent's session");
    project.spool(&["start"]).ok();
    project.edit_tasks("[ ]", "[x]");
    project.agent_works();
    let end = project.hook_by_plugin(&project.stop_event("ALL_TASKS_COMPLETE"));
    end.told().has("· on the agent's word alone: no person armed it ·");
    let words = "all the work is done; on the agent's word alone: no person armed it";
    assert_eq!(project.status()["loop"]["end"]["words"], words);
}

#[test]
fn s1_agents_take_over_no_loop() {
    let project = Project::with(PLAIN);
    project.spool(&["start"]).ok();
    for command in [&["start"][..], &["start", "--force"], &["adopt"]] {
        let mut other = project.command(SPOOL);
        let other = other.env("CLAUDE_CODE_SESSION_ID", "s2").args(command);
        let said = Said::of(other).refused();
        assert!(said.ends_with("only a person takes it over all the same\n"), "{said}");
    }
}

#[test]
fn s1_unclaimed_loop_is_a_persons() {
    let project = Project::with(PLAIN);
    start(&project, &[]).ok();
    project.spool(&["start", FEATURE, "T001"]).refused().has("a person armed the loop");
    project.spool(&["stop"]).refused().has("only a person stops, pauses, resumes");
    project.stop("Done.").reason();
    project.spool(&["stop"]).ok();
    project.spool(&["start", FEATURE, "T001"]).refused().has("a person armed the loop");
    project.stop("Done.").told().has("asked for inside of an agent's session");
}

#[test]
fn s2_unarmed_loop_runs_nothing() {
    let project = Project::with(TRAP);
    project.write(SETTINGS, "---\nchecks: [touch checked]\n---\n");
    let state = json!({"phase": "execution", "taskIndex": 0, "totalTasks": 2, "taskIteration": 1,
        "maxTaskIterations": 4_294_967_295_u32, "globalIteration": 1, "maxGlobalIterations": 4_294_967_295_u32});
    fs::write(project.state_path(), state.to_string()).unwrap();
    let message = |stop: &super::support::Hooked| {
        stop.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap().to_owned()
    };
    let first = project.stop("Not yet.");
    assert!(first.reason().contains("iteration 1 of 100"), "{first:?}");
    assert!(message(&first).contains("no person armed the loop of 001-user-login"), "{first:?}");
    project.agent_works();
    assert!(!message(&project.stop("Not yet.")).contains("no person armed"), "it is said once");
    let status = project.status();
    assert_eq!(
        (&status["loop"]["max_iterations"], &status["max_attempts"]),
        (&json!(100), &json!(5))
    );
    nothing_runs(&project, &[]);
    fs::write(project.tasks_path(), TRAP.replace("[ ]", "[x]")).unwrap();
    project.agent_works();
    let end = project.stop("ALL_TASKS_COMPLETE");
    end.told().has("the checks in `.claude/ralph-speckit.local.md` (1) were not run");
    assert!(!project.root.join("checked").exists() && !project.root.join("pwned").exists());
}

#[test]
fn s2_unarmed_loop_has_default_limit() {
    let project = Project::with(PLAIN);
    let state = json!({"phase": "execution", "taskIndex": 0, "totalTasks": 2, "globalIteration": 100,
        "maxGlobalIterations": 4_294_967_295_u32});
    fs::write(project.state_path(), state.to_string()).unwrap();
    let end = project.stop("Not yet.");
    assert!(end.told().contains("the limit of 100 iterations was reached"), "{end:?}");
}

#[test]
fn s4_armed_checks_hold_through_changes() {
    let project = Project::with(PLAIN);
    project.write(SETTINGS, "---\nchecks:\n  - test -e built\n---\n");
    project.arm("");
    project.write(SETTINGS, "---\nchecks:\n  - touch pwned\n---\n");
    project.edit_tasks("[ ]", "[x]");
    let message = |stop: &super::support::Hooked| {
        stop.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap().to_owned()
    };
    let stop = project.stop("ALL_TASKS_COMPLETE");
    assert!(stop.reason().contains("`test -e built` (exit code 1)"), "{stop:?}");
    let words = "the checks armed then still hold: `test -e built`";
    assert!(message(&stop).contains(words), "{stop:?}");
    project.agent_works();
    assert!(!message(&project.stop("ALL_TASKS_COMPLETE")).contains(words), "once for a content");
    fs::remove_file(project.root.join(SETTINGS)).unwrap();
    project.agent_works();
    assert!(message(&project.stop("ALL_TASKS_COMPLETE")).contains("was removed"));
    let settings = project.log().into_iter().filter(|entry| entry["event"] == "settings");
    assert_eq!(settings.count(), 2);
    let status = project.spool(&["status"]).ok();
    assert!(status.contains("test -e built") && status.contains("changed since"), "{status}");
    project.write("built", "");
    project.agent_works();
    assert!(project.stop("ALL_TASKS_COMPLETE").answer.is_none());
    assert_eq!(project.end(), "completed");
    assert!(!project.root.join("pwned").exists());
}

#[test]
fn s4_switch_off_is_told_once() {
    let project = Project::armed(PLAIN);
    project.stop("Not yet.").reason();
    project.write(SETTINGS, "---\nenabled: false\n---\n");
    assert!(project.stop("Not yet.").told().contains("`enabled: false`"));
    project.stop("Not yet.").silent();
    assert_eq!(project.log().last().unwrap()["event"], "switched-off");
    let status = project.spool(&["status"]).ok();
    assert!(status.contains("Loop: live, but switched off by the settings"), "{status}");
    assert!(status.contains("  Next: set `enabled: true` in "), "{status}");
    project.write(SETTINGS, "---\nenabled: true\n---\n");
    project.agent_works();
    project.stop("Not yet.").reason();
    project.write(SETTINGS, "---\nenabled: false\n---\n");
    assert!(project.stop("Not yet.").told().contains("`enabled: false`"), "each time it happens");
}

#[test]
fn s9_state_file_moves_no_limit() {
    let project = Project::with(PLAIN);
    start(&project, &["--max-iterations", "3", "--max-task-iterations", "2"]).ok();
    project.set_state(&json!({"maxGlobalIterations": 4_294_967_295_u32, "maxTaskIterations": 900}));
    let first = project.stop("Not yet.");
    assert!(first.reason().contains("attempt 1 of 2, iteration 1 of 3"), "{first:?}");
    project.agent_works();
    project.stop("Not yet.").reason();
    let status = project.status();
    assert_eq!(
        (&status["loop"]["max_iterations"], &status["max_attempts"]),
        (&json!(3), &json!(2))
    );
    // A failure that the state file forgets still counts.
    assert!(project.task(&["fail", "T001", "no"]).ok().contains("failed 1 of 2 times"));
    project.set_state(&json!({"taskAttempts": {}, "taskIteration": 1}));
    let said = project.task(&["fail", "T001", "no"]).ok();
    assert!(said.contains("used up its 2 attempts"), "{said}");
    let told = project.stop("Done.");
    assert!(told.told().contains("task_failed"), "{told:?}");
}

#[test]
fn s9_higher_limit_must_be_typed() {
    let most = 4_294_967_295_u32;
    let asked =
        json!({"phase": "planning", "maxGlobalIterations": most, "maxTaskIterations": most});
    let limits = |project: &Project| {
        let status = project.status();
        let attempts = status["max_attempts"].as_u64().unwrap();
        (status["loop"]["max_iterations"].as_u64().unwrap(), attempts)
    };
    let project = Project::with(PLAIN);
    fs::write(project.state_path(), asked.to_string()).unwrap();
    let said = start(&project, &[]).ok();
    said.has_all(&["asked for 4294967295 iterations", "asked for 4294967295 attempts a task"]);
    assert_eq!(limits(&project), (100, 5));
    assert_eq!(project.state()["maxGlobalIterations"], 100);
    // What is typed counts, and again while that loop runs; what the file says above that does not.
    let said = start(&project, &["--max-iterations", "300", "--max-task-iterations", "9"]).ok();
    assert!(!said.contains("asked for"), "{said}");
    assert!(!start(&project, &[]).ok().contains("asked for"));
    assert_eq!(limits(&project), (300, 9));
    project.set_state(&json!({"maxGlobalIterations": 301, "maxTaskIterations": 10}));
    assert!(start(&project, &[]).ok().contains("asked for 301 iterations"));
    assert_eq!(limits(&project), (100, 5));
    // What is below the default may come from the file.
    project.set_state(&json!({"maxGlobalIterations": 7, "maxTaskIterations": 2}));
    assert!(!start(&project, &[]).ok().contains("asked for"));
    assert_eq!(limits(&project), (7, 2));
}

#[test]
fn s9_requested_approval_is_told_once() {
    let project = Project::armed(PLAIN);
    project.stop("Not yet.").reason();
    project.set_state(&json!({"awaitingApproval": true}));
    assert!(project.stop("Not yet.").told().contains("`awaitingApproval: true`"));
    project.stop("Not yet.").silent();
    let status = project.spool(&["status"]).ok();
    assert!(status.contains("awaitingApproval"), "{status}");
    assert!(project.log().iter().any(|entry| entry["event"] == "approval"));
}

#[test]
fn s1_armed_commands_are_shown() {
    let project = Project::with(TRAP);
    project.write(SETTINGS, "---\nchecks:\n  - cargo test --all\n---\n");
    let said = implement(&project);
    let shown = said.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap();
    shown.has_all(&[
        "cargo test --all (within 300 s)",
        SETTINGS,
        "touch pwned  (T001)",
        "specs/001-user-login/tasks.md",
    ]);
    let status = project.spool(&["status"]).ok();
    status.has_all(&["cargo test --all", "Verify commands of 1 task", " ago, by command"]);
    assert_eq!(project.status()["loop"]["checks"][0]["run"], "cargo test --all");
    let doctor = project.spool(&["doctor"]).out;
    let words = "armed by command with 1 check (`cargo test --all`), the Verify command of 1 task";
    assert!(doctor.contains(words), "{doctor}");
    let armed = project.log().into_iter().find(|entry| entry["event"] == "armed").unwrap();
    assert!(armed["words"].as_str().unwrap().contains("`cargo test --all`"), "{armed}");
}

/// What was armed for a feature, made unreadable: nothing is ticked for it.
#[test]
fn s3_unreadable_commands_tick_nothing() {
    for prefix in ["", "verify-"] {
        let project = Project::armed(TRAP);
        fs::write(pin(&project, prefix), "{").unwrap();
        // Without its line in the list, the task still has a command that was armed.
        for list in [TRAP, PLAIN] {
            fs::write(project.tasks_path(), list).unwrap();
            let said = project.task(&["done", "T001"]).refused();
            said.has("T001 is not ticked: the Verify commands that were armed cannot be read: ");
            assert!(said.contains(&format!("{prefix}feature-{FEATURE}.json")), "{said}");
            assert!(project.task(&["verify", "T001"]).refused().contains("T001 is not proved"));
            assert_eq!(boxes(&project.tasks()), [false, false]);
        }
    }
}

#[test]
fn s1_ended_session_keeps_no_books() {
    let project = Project::armed(PLAIN);
    let other = Project::with(TRAP);
    // Its own loop ended, or says so, or was never there.
    let record = project.record_path(super::support::SESSION);
    for step in ["ended", "forged", "gone"] {
        match step {
            "ended" => {
                project.task(&["block", "x"]).ok();
            }
            "forged" => {
                let forged = r#"{"ledger": {"ended": {"reason": "completed"}}}"#;
                fs::write(project.notes_of(super::support::SESSION).join("loop.json"), forged)
                    .unwrap();
            }
            _ => fs::remove_file(&record).unwrap(),
        }
        let armed = start(&other, &[]).ok();
        assert!(armed.contains("touch pwned"), "{armed}");
        for action in ["verify", "done"] {
            let place = other.root.to_str().unwrap();
            let said = project.task(&[action, "T001", "--project", place, "--feature", FEATURE]);
            let said = said.refused();
            said.has("this is an agent's session in another project");
        }
        assert_eq!(boxes(&other.tasks()), [false, false]);
        assert!(!other.root.join("pwned").exists() && !project.root.join("pwned").exists());
    }
}

#[test]
fn s1_driven_feature_keeps_its_books() {
    for closed in [false, true] {
        let project = Project::armed(TRAP);
        if closed {
            // The notes lie where the agent can write.
            let claim = json!({"session": super::support::SESSION, "closed": "completed"});
            project.write(format!(".claude/ralph/claims/{FEATURE}.json"), claim.to_string());
        }
        let project = project.variable("CLAUDE_CODE_SESSION_ID", "another-session");
        for named in [&["--feature", FEATURE][..], &[]] {
            for action in ["verify", "done"] {
                let said = project.task(&[&[action, "T001"], named].concat()).refused();
                said.has(&format!("session {} has one", super::support::SESSION));
            }
        }
        assert_eq!(boxes(&project.tasks()), [false, false]);
        assert!(!project.root.join("pwned").exists());
    }
}

#[test]
fn s1_terminal_feature_must_be_current() {
    let project = Project::with(TRAP);
    start(&project, &[]).ok();
    project.task(&["verify", "T001"]).ok();
    assert!(project.root.join("pwned").exists(), "the first session that comes takes it");
    project.write("specs/002-x/tasks.md", PLAIN);
    project.write(".specify/feature.json", r#"{"feature_directory":"specs/002-x"}"#);
    let said = project.task(&["done", "T001", "--feature", FEATURE]).refused();
    assert!(said.contains("no loop of that feature"), "{said}");
    assert_eq!(boxes(&project.tasks()), [false, false]);
}

/// `/speckit:implement` as a person types it, through the hook.
fn implement(project: &Project) -> Hooked {
    project.hook(&json!({
        "session_id": super::support::SESSION, "cwd": project.root, "hook_event_name": "UserPromptExpansion",
        "transcript_path": project.beside("t.jsonl"), "expansion_type": "slash_command",
        "command_name": "speckit:implement", "command_args": "", "command_source": "plugin",
    }))
}

/// A list with this many different Verify commands, the last of them a trap.
fn many(count: usize, command: &str) -> String {
    let task = |number| {
        let run = if number == count { "touch pwned".into() } else { format!("{command}{number}") };
        format!("- [ ] T{number:03} Do\n  - Verify: `{run}`\n")
    };
    (1..=count).map(task).collect()
}

#[test]
fn s1_all_verify_commands_are_shown() {
    let project = Project::with(&many(150, "true "));
    let said = implement(&project);
    let shown = said.answer.as_ref().unwrap()["systemMessage"].as_str().unwrap();
    shown.has("  touch pwned  (T150)").has("  true 149  (T149)");
    assert!(shown.contains("Verify commands of 150 tasks") && shown.len() < 10_000, "{shown}");
}

#[test]
fn s1_many_commands_need_a_terminal() {
    let project = Project::with(&many(150, &format!("true {} ", "x".repeat(80))));
    let said = implement(&project).answer.unwrap().to_string();
    said.has("nothing is armed").has(&format!("spool start {FEATURE}"));
    assert!(!project.state_path().exists(), "refused is unchanged");
    let shown = start(&project, &[]).ok();
    assert!(shown.contains("  touch pwned  (T150)") && shown.contains("149  (T149)"), "{shown}");
    project.task(&["verify", "T150"]).ok();
    assert!(project.root.join("pwned").exists(), "what was shown is run");
}

#[test]
fn s1_blanks_hide_no_command() {
    let list = format!("- [ ] T001 Do\n  - Verify: `true{};touch pwned`\n", " ".repeat(500));
    let project = Project::with(&list);
    project.write(
        SETTINGS,
        format!("---\nchecks:\n  - \"true{}touch pwned\"\n---\n", "\\n".repeat(99)),
    );
    let shown = start(&project, &[]).ok();
    assert!(shown.contains("  true [500 blanks] ;touch pwned  (T001)"), "{shown}");
    shown.has("  true\n    [98 empty lines]\n    touch pwned (within 300 s)");
}

#[test]
fn s1_one_task_is_one_task() {
    assert!(start(&Project::with(TRAP), &[]).ok().contains("Verify commands of 1 task, from"));
}

#[test]
fn l4_unjournaled_session_is_named() {
    let project = Project::armed(PLAIN);
    for flags in [&[][..], &["--json"]] {
        let said = by_person(&project, &[&["log", "--session", "nope"][..], flags].concat());
        let err = said.refused();
        assert!(err.contains("no session with a loop here is called `nope`\n"), "{err}");
        assert!(err.contains(super::support::SESSION), "{err}");
    }
    by_person(&project, &["log", "--session", super::support::SESSION]).ok();
    let none = Project::with(PLAIN);
    assert!(by_person(&none, &["log", "--session", "nope"]).refused().contains("there is none"));
}

#[test]
fn log_of_session_reads_no_other() {
    let project = Project::armed(PLAIN);
    project.write(".claude/ralph/other/journal.jsonl", "no entry\n");
    project.write(".spool/.state/ralph/001-01_add/journal.jsonl", "");
    let unread = "1 lines could not be read and are left out.\n";
    assert_eq!(by_person(&project, &["log"]).with_code(0).err, unread);
    let session = super::support::SESSION;
    by_person(&project, &["log", "--session", session]).ok().has("armed by command");
    by_person(&project, &["log", "--change", "001-01_add"]).ok().has("Nothing is written of it");
}

#[test]
fn closed_journals_are_named() {
    let project = Project::armed(PLAIN);
    let session = format!(".claude/ralph/{}/journal.jsonl", super::support::SESSION);
    let runner = ".spool/.state/ralph/001-01_add/journal.jsonl";
    for journal in [&session, runner] {
        fs::remove_file(project.root.join(journal)).ok();
        fs::create_dir_all(project.root.join(journal)).unwrap();
    }
    let named = |path: &str| format!("{path}` cannot be read: it is a folder");
    let log = |arguments: &[&str]| by_person(&project, &[&["log"], arguments].concat());
    let all = log(&[]).with_code(0);
    assert!(all.err.contains(&named(&session)) && all.err.contains(&named(runner)), "{all:?}");
    assert_eq!(all.out, "", "{all:?}");
    let one = log(&["--change", "001-01_add"]).with_code(0);
    assert!(one.err.contains(&named(runner)) && !one.out.contains("Nothing is written"), "{one:?}");
}

/// Any `spool` command as a person types it, without a terminal.
fn by_person(project: &Project, arguments: &[&str]) -> Said {
    let mut command = project.command(SPOOL);
    Said::of(command.env_remove("CLAUDE_CODE_SESSION_ID").args(arguments))
}

#[cfg(unix)]
#[test]
fn s2_tracked_settings_need_trust() {
    let project = Project::with(PLAIN);
    project.write(SETTINGS, "---\nchecks:\n  - test -e built\n---\n");
    project.init();
    assert!(start(&project, &[]).ok().contains("test -e built"), "nothing came with a repository");
    by_person(&project, &["cancel"]).ok();
    project.git(&["add", "-A"]);
    let said = start(&project, &[]).refused();
    said.has_all(&["nothing is armed", "git tracks it", "  test -e built", "spool trust"]);
    assert!(!project.state_path().exists(), "refused is unchanged");
    // `spool doctor` does not call that a loop that works.
    let report = by_person(&project, &["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    let is_told = |check: &serde_json::Value| {
        let found = check["found"].as_str().unwrap_or_default();
        check["status"] == "fail" && found.contains("came with the repository")
    };
    assert!(report["checks"].as_array().unwrap().iter().any(is_told), "{report}");
    // The agent cannot say it for the person, nor can a script that does not say so.
    assert!(project.spool(&["trust", "--yes"]).refused().contains("an agent's session"));
    assert!(by_person(&project, &["trust"]).refused().contains("no person can be asked"));
    assert!(start(&project, &[]).code == Some(1));
    let said = by_person(&project, &["trust", "--yes"]).ok();
    assert!(said.contains("  test -e built\n") && said.contains("Trusted."), "{said}");
    assert!(by_person(&project, &["trust", "--list"]).ok().contains("test -e built"));
    start(&project, &[]).ok();
    let armed: serde_json::Value =
        serde_json::from_slice(&fs::read(pin(&project, "")).unwrap()).unwrap();
    assert_eq!(armed["settings"]["tracked"], true);
    by_person(&project, &["cancel"]).ok();
    // Another command needs trust anew; one that was removed does not.
    project.write(SETTINGS, "---\nchecks:\n  - test -e built\n  - touch pwned\n---\n");
    assert!(start(&project, &[]).refused().contains("touch pwned"));
    project.write(SETTINGS, "---\nchecks:\n  - run: test -e built\n    limit: 5\n---\n");
    start(&project, &[]).ok();
    by_person(&project, &["cancel"]).ok();
    assert_eq!(by_person(&project, &["trust", "--remove"]).ok(), "No longer trusted.\n");
    assert_eq!(start(&project, &[]).code, Some(1));
    let kept = project.beside("home/.local/state/ralph-speckit/trust.json");
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn s2_one_trust_covers_both_files() {
    let project = Project::with(PLAIN);
    project.write(".spool/ralph.toml", "check = [\"test -e built\"]\n");
    let plan = ["ralph", "Build it", "--change", FEATURE, "--dry-run"];
    let said = by_person(&project, &plan);
    assert!(said.code == Some(2) && said.err.contains("spool trust"), "{said:?}");
    let said = by_person(&project, &["trust", "--yes"]).ok();
    assert!(said.contains("check = test -e built"), "{said}");
    assert!(by_person(&project, &plan).ok().contains("Check: test -e built"));
    project.write(".spool/ralph.toml", "check = [\"touch pwned\"]\n");
    assert!(by_person(&project, &plan).err.contains("touch pwned"));
}

#[test]
fn arming_lists_each_protected_pattern() {
    let project = Project::with("- [ ] T001 a\n");
    project.write(".claude/ralph-speckit.local.md", "---\nprotect: ['tests/', '*.lock']\n---\n");
    let said = start(&project, &[]).ok();
    let shown = "Protected, from .claude/ralph-speckit.local.md, nobody but you may change:\n  tests/\n  *.lock\n";
    assert!(said.contains(shown), "{said}");
    assert!(said.contains("protects no file that is looked at: tests/, *.lock\n"), "{said}");
    project.write("tests/a.rs", "");
    let said = start(&project, &[]).ok();
    assert!(said.contains("protects no file that is looked at: *.lock\n"), "{said}");
}

#[test]
fn protected_path_may_begin_here() {
    let project = Project::with("- [ ] T001 Write src/a.rs\n");
    project.write(".claude/ralph-speckit.local.md", "---\nprotect: ['./tests/**']\n---\n");
    project.write("tests/a.rs", "fn a() {}");
    project.arm("");
    project.write("src/a.rs", "fn a() {}");
    project.write("tests/a.rs", "");
    assert!(project.call(&["done", "T001"]).refused().contains("protected files have changed"));
}

#[test]
fn arming_names_parts_of_judging() {
    let project = Project::with("- [ ] T001 a\n  - Verify: `make lint`\n- [ ] T002 b\n");
    let settings = |more: &str| {
        let text = format!("---\nchecks:\n  - npm test\n{more}---\n");
        project.write(".claude/ralph-speckit.local.md", &text);
    };
    settings("");
    assert!(!start(&project, &[]).ok().contains("part of the judge"), "there is none");
    for file in ["Makefile", "package.json", "src/sum.test.js", "src/sum.js"] {
        project.write(file, "lint:\n");
    }
    let said = start(&project, &[]).ok();
    let shown = "part of the judge: Makefile, package.json, src/sum.test.js. Where";
    assert!(said.contains(shown), "{said}");
    settings("proof: word\n");
    assert!(!start(&project, &[]).ok().contains("part of the judge"));
}
