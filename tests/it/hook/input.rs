//! What arrives on standard input, and names that no honest project has.

use crate::hook::support::{ALL_DONE, Bench, FEATURE, LONG, SHORT, THREE_TASKS, date, executing};
use crate::support::has::Has;
use crate::support::limited::until;
use ralph_speckit::world;
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

/// So late a caller hands over its event: the hook waits by then, unless the machine is very busy.
const LATE: Duration = Duration::from_millis(400);

#[test]
fn other_input_gets_silence() {
    let bench = Bench::in_execution();
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    let inputs: [Vec<u8>; 16] = [
        b"".to_vec(),
        b" \n".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"Stop\"".to_vec(),
        b"{".to_vec(),
        b"{}{}".to_vec(),
        b"not json".to_vec(),
        vec![0; 5_000],
        b"\xff\xfe\x00{".to_vec(),
        b"{\"session_id\":\"\xff\xff\"}".to_vec(),
        b"{\"hook_event_name\":\"Stop\"".to_vec(),
        deep("[", "]").into_bytes(),
        "[".repeat(100_000).into_bytes(),
        deep("{\"a\":", "}").into_bytes(),
        vec![b'"'; 3 << 20],
    ];
    for input in inputs {
        let shown = String::from_utf8_lossy(&input[..input.len().min(40)]).into_owned();
        assert!(bench.raw(input).silent().log.is_empty(), "{shown}");
    }
    assert!(!bench.path(".claude").exists());
}

#[test]
fn mistyped_events_are_read_partly() {
    let bench = Bench::in_execution();
    for (field, value) in [
        ("stop_hook_active", json!("true")),
        ("last_assistant_message", json!({"text": ["ALL_TASKS_COMPLETE"]})),
        ("transcript_path", json!(7)),
        ("transcript_path", json!("relative/path.jsonl")),
        ("background_tasks", json!("subagent")),
        ("background_tasks", json!([null, [], {"type": "subagent", "status": "killed"}])),
        ("effort", Value::Null),
        ("unknown", json!({"deep": [[[[1.5e300]]]]})),
        ("agent_id", json!("")),
    ] {
        bench.transcript("s1").tool("Edit");
        bench.stop("s1").with(field, value).run().reason();
    }
    bench.stop("s1").without("cwd").run().silent();
    bench.stop("s1").with("cwd", "relative").run().silent();
    bench.stop("s1").with("cwd", "/nul\0byte").run().silent();
    let root = bench.root.to_str().unwrap();
    bench.stop("s1").without("cwd").variable("CLAUDE_PROJECT_DIR", root).run().reason();
}

#[test]
fn nameless_event_is_a_stop() {
    let bench = Bench::in_execution();
    bench.stop("s1").without("hook_event_name").run().reason();
}

#[test]
fn other_events_pass_through() {
    for name in ["SubagentStop", "PreToolUse", "SessionEnd", "stop", "\u{1b}[2J"] {
        let bench = Bench::in_execution();
        assert!(bench.event(name, "s1").run().silent().log.is_empty(), "{name}");
        assert!(!bench.path(".claude").exists(), "{name}");
    }
    let bench = Bench::in_execution();
    let inside = bench.stop("s1").with("agent_id", "a1").with("agent_type", "spec-executor");
    assert!(inside.run().silent().log.is_empty());
    assert!(!bench.path(".claude").exists());
}

#[test]
fn unclosed_input_is_answered() {
    let bench = Bench::in_execution();
    bench.stop("s1").left_open().run().reason();
    // Nothing at all, and half an event.
    bench.raw_left_open("").silent();
    bench.raw_left_open("{\"hook_event_name\":").silent();
}

#[test]
fn late_caller_is_answered() {
    let bench = Bench::in_execution();
    bench.stop("s1").waiting(LONG, LONG).late_by(LATE).run().reason();
}

#[test]
fn late_stop_event_ends_nothing() {
    let bench = Bench::armed();
    let root = bench.root.to_str().unwrap();
    for handed_over in ["", "{\"hook_event_name\":"] {
        let stop = bench.stop("s1").with_bytes(handed_over).left_open().named_stop();
        let stop = stop
            .waiting(SHORT, LONG)
            .variable("CLAUDE_CODE_SESSION_ID", "s1")
            .variable("CLAUDE_PROJECT_DIR", root)
            .run();
        assert!(stop.is_block(), "{handed_over}: {stop}");
        let words = "has not handed over its event in time";
        assert!(stop.log.iter().any(|line| line.contains(words)), "{stop}");
    }
    // An older client names no session: its event is waited for.
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").waiting(SHORT, LONG).late_by(LATE).named_stop();
    let stop = stop.variable("CLAUDE_PROJECT_DIR", root).run();
    assert!(stop.is_block(), "{stop}");
    assert_eq!(bench.verdicts("s1"), ["continue", "continue", "continue"]);
    // One that never comes is allowed, told, and noted where a loop lives.
    let stop = bench.stop("s1").with_bytes("").left_open().named_stop().waiting(SHORT, SHORT);
    let stop = stop.variable("CLAUDE_PROJECT_DIR", root).run();
    assert!(stop.told().contains("a stop in this project was allowed unseen"), "{stop}");
    assert_eq!(bench.journal("s1").last().unwrap()["event"], "unseen-stop");
    assert!(bench.record("s1").ledger.is_live());
    // A session that has no loop is none of ours, and a caller that said all it had to say is not late.
    let other = bench.stop("s2").with_bytes("").left_open().named_stop().waiting(SHORT, SHORT);
    let other = other.variable("CLAUDE_CODE_SESSION_ID", "s2");
    other.variable("CLAUDE_PROJECT_DIR", root).run().silent();
    let closed = bench.stop("s1").with_bytes("").named_stop();
    let closed = closed.variable("CLAUDE_CODE_SESSION_ID", "s1");
    closed.variable("CLAUDE_PROJECT_DIR", root).run().silent();
}

#[test]
fn late_command_armed_nothing() {
    let bench = Bench::ready();
    let command = |bytes: &str| {
        let command = bench.command("s1", "speckit:implement", "").with_bytes(bytes).left_open();
        command.started_for("UserPromptExpansion").waiting(SHORT, SHORT).run()
    };
    let late = command("{");
    late.reason().has("did nothing").has("Type it again");
    assert!(!bench.path(".claude").exists());
    let late = bench.command("s1", "speckit:implement", "").late_by(LATE).waiting(SHORT, LONG);
    late.started_for("UserPromptExpansion").run().context();
}

#[test]
fn nfr_1_combined_waits_keep_nothing() {
    // The caller never closes its end, the state is half written and dated in the future, and
    // nobody has armed the loop, so the files are looked at before and after it is claimed.
    let bench = Bench::ready();
    fs::write(bench.state_path(), "{\"phase\": \"execution\"").unwrap();
    date(&bench.state_path(), 86_400);
    let stop = bench.stop("s1").left_open().run();
    assert!(stop.reason().starts_with("ERROR: Corrupt state file at "), "{stop}");
    // A list that somebody goes on writing.
    let bench = Bench::in_execution();
    let list = bench.feature_path("tasks.md");
    let mut hook = bench.stop("s1").left_open().start();
    let mut more = String::new();
    until("the hook ends while somebody writes", || {
        more.push('\n');
        fs::write(&list, THREE_TASKS.replace("[ ]", "[x]") + &more).unwrap();
        world::pause(Duration::from_millis(40));
        hook.is_over().then_some(())
    });
    hook.finish();
}

#[test]
fn future_files_are_read_alike() {
    let bench = Bench::in_execution().settings("---\nenabled: true\n---\n");
    bench.transcript("s1").tool("Edit");
    for (path, _) in bench.everything() {
        date(&path, 86_400);
    }
    date(&bench.transcript("s1").path, 86_400);
    bench.stop("s1").run().reason();
    bench.write_tasks(ALL_DONE);
    for (path, _) in bench.everything() {
        date(&path, 86_400);
    }
    bench.stop("s1").held().run().silent();
    assert_eq!(bench.verdicts("s1"), ["continue", "end completed"]);
}

#[test]
fn a_huge_event_is_answered() {
    let bench = Bench::in_execution();
    bench.stop("s1").saying(&"word ".repeat(1_000_000)).run().reason();
    // More than is ever read.
    bench.stop("s1").saying(&"word ".repeat(4_000_000)).run().silent();
}

#[test]
fn feature_name_is_checked() {
    for name in [
        "..",
        "../../etc",
        "a/../b",
        "/etc",
        "001-login/../../../../etc",
        "-rf",
        ".hidden",
        "a\\b",
        "a\u{1b}[31mb",
        "a\u{9b}31mb",
        "a\nb",
        "a\0b",
        &"x".repeat(201),
    ] {
        let bench = Bench::in_execution().file(".specify/.current-feature", name);
        let stop = bench.stop("s1").run();
        stop.silent().logged("cannot be a feature");
        let said = stop.log.concat();
        assert!(!said.chars().any(char::is_control), "{said:?}");
        assert!(!bench.path(".claude").exists(), "{name:?}");
        let pointer = json!({"feature_directory": format!("specs/{name}")}).to_string();
        let bench = Bench::in_execution().file(".specify/feature.json", &pointer);
        bench.stop("s1").run().silent();
    }
}

#[test]
fn outside_feature_folder_is_not_followed() {
    let bench = Bench::project();
    let outside = bench.outside();
    fs::write(outside.join("tasks.md"), THREE_TASKS).unwrap();
    fs::write(outside.join(".speckit-state.json"), executing(1, 3).to_string()).unwrap();
    for folder in ["../outside", outside.to_str().unwrap(), "specs/../../outside"] {
        let pointer = json!({"feature_directory": folder}).to_string();
        bench.write(".specify/feature.json", &pointer);
        bench.stop("s1").run().silent();
        bench.implement("s1", "").reason();
        let call = bench.stop("s1").variable("SPECIFY_FEATURE_DIRECTORY", folder);
        call.run().silent();
    }
    let untouched = fs::read_dir(&outside).unwrap().count();
    assert_eq!(untouched, 2, "nothing was written there");
}

#[test]
fn an_older_plugin_is_told() {
    let bench = Bench::ready();
    let event = json!({"hook_event_name": "UserPromptExpansion", "session_id": "s1", "cwd": bench.root,
        "command_name": "speckit:implement", "command_args": "", "command_source": "plugin"});
    let told = bench.stop("s1").with_bytes(&event.to_string()).run();
    assert!(told.reason().contains("older than its programs"), "{told}");
    assert!(!bench.path(".claude").exists(), "nothing is armed");
}

#[test]
fn file_escape_codes_stay_inside() {
    let bench = Bench::project().current_feature(FEATURE);
    bench.write_tasks("- [ ] T001 \u{1b}[31mred\u{7}\n- [ ] **\u{1b}]0;x\u{7}** b\n");
    let bench = bench.raw_state("{\"phase\":\u{1b}[31m\"execution\"}");
    let stop = bench.stop("s1").run();
    let text = format!("{}{}{}", stop.reason(), stop.message(), stop.log.concat());
    assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text:?}");
}

#[cfg(unix)]
#[test]
fn unwritable_notes_let_the_agent_stop() {
    let bench = Bench::in_execution().file(".claude/settings.json", "{}");
    let read_only = bench.path(".claude");
    let call = bench.stop("s1");
    let stop = call.start_without_rights(&[&read_only]).finish();
    assert!(stop.told().contains("allows the stop"), "{stop}");
    assert!(stop.told().contains(".claude/ralph`: Permission denied"), "{stop}");
    let arming = bench.command("s1", "speckit:implement", "");
    let answer = arming.start_without_rights(&[&read_only]).finish();
    assert!(answer.reason().contains("make that writable, then try again"), "{answer}");
    assert_eq!(bench.read_state(), executing(1, 3), "nothing is armed");
}

#[cfg(unix)]
#[test]
fn read_only_folder_lets_agents_stop() {
    let bench = Bench::armed();
    let record = bench.record_path("s1");
    let stop = bench.stop("s1").start_without_rights(&[record.parent().unwrap()]).finish();
    assert!(stop.told().contains("/session-s1.json`: Permission denied"), "{stop}");
}

#[cfg(target_os = "linux")]
#[test]
fn h8_blanks_before_an_event() {
    use crate::support::instructions::instructions;
    use crate::support::scratch::{HOOK, Scratch};

    let bench = Bench::in_execution();
    let event = json!({"hook_event_name": "PreToolUse"}).to_string();
    for (before, behind) in [(1, 0), (0, 1)] {
        let count = |blanks: usize| {
            let [before, behind] = [before, behind].map(|part| " ".repeat(part * blanks));
            instructions(
                &Scratch::command(&bench, HOOK),
                format!("{before}{event}{behind}").as_bytes(),
            )
        };
        let all: Option<Vec<u64>> = [0, 1 << 16, 1 << 17].map(count).into_iter().collect();
        let Some(all) = all else { return };
        assert!(all[2] - all[0] < (all[1] - all[0]) * 5 / 2, "{all:?}");
    }
}

#[test]
fn every_event_finds_the_loop() {
    let bench = Bench::ready();
    bench.implement("s1", "").context();
    let root = bench.root.to_str().unwrap();
    let elsewhere = |name: &str| bench.event(name, "s1").with("cwd", "/");
    let asked = elsewhere("PermissionRequest").with("tool_name", "Bash");
    asked.variable("CLAUDE_PROJECT_DIR", root).run();
    assert_eq!(bench.journal("s1").last().unwrap()["event"], "permission");
    let failure = elsewhere("StopFailure").with("error", "rate_limit");
    let failure = failure.variable("CLAUDE_PROJECT_DIR", root).run();
    assert!(failure.told().contains("paused: 001-login"), "{failure}");
}
