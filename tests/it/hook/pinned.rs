//! What a person armed holds, whatever the loop's own notes say: an agent may edit each of them.

use crate::hook::outcome::Outcome;
use crate::hook::support::{ALL_DONE, Bench, FEATURE};
use crate::support::has::Has;
use crate::support::limited::Limited;
use serde_json::{Value, json};
use std::fs;

const RECORD: &str = ".claude/ralph/s1/loop.json";
const CLAIM: &str = ".claude/ralph/claims/001-login.json";

/// A loop that a person armed with a check that fails and leaves a trace, after its first stop.
fn armed() -> Bench {
    let bench = Bench::ready().settings("---\nchecks:\n  - touch src/ran; false\n---\n");
    bench.implement("s1", "").context();
    works(&bench).reason();
    bench
}

fn works(bench: &Bench) -> Outcome {
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").run()
}

/// Changes a file of the loop's own as an agent may; its record is where an older version had it, and where a project without
/// a home has it.
fn edit(bench: &Bench, name: &str, change: impl FnOnce(&mut Value)) {
    let path = if name == RECORD { bench.record_path("s1") } else { bench.path(name) };
    let mut value = if name.contains("claims") {
        claim(bench)
    } else {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    change(&mut value);
    bench.write(name, value.to_string());
    if name == RECORD {
        bench.write(".claude/ralph/session-s1.json", value.to_string());
    }
}

/// The claim as version 1.0.0 had it. Where a pin is, nobody reads it.
fn claim(bench: &Bench) -> Value {
    let armed_at = bench.loops().pin(FEATURE).unwrap().unwrap().armed_at.millis();
    json!({"version": 1, "session": "s1", "about": FEATURE, "folder": ".specify/specs/001-login",
        "armed_at": armed_at, "armed_by": "command", "closed": null, "words": ""})
}

/// The agent ticks every box and takes the checks out of the settings.
fn pretend(bench: &Bench) {
    bench.write_tasks(ALL_DONE);
    bench.write(".claude/ralph-speckit.local.md", "---\nchecks: []\n---\n");
}

fn events(bench: &Bench, name: &str) -> Vec<String> {
    let entries = bench.journal("s1").into_iter().filter(|entry| entry["event"] == name);
    entries.map(|entry| entry["words"].as_str().unwrap().to_owned()).collect()
}

/// The loop is held by what was armed, and nobody has to hear of it: what was changed is not read.
#[track_caller]
fn holds(bench: &Bench) {
    let stop = works(bench);
    assert!(!stop.message().contains("still holds"), "{stop}");
    goes_on(bench, &stop);
    assert_eq!(events(bench, "tampered"), [""; 0]);
}

/// The armed check is run at this stop and the next, and only a cancel ends the loop.
#[track_caller]
fn goes_on(bench: &Bench, stop: &Outcome) {
    assert!(bench.path("src/ran").exists(), "the armed check was not run:\n{stop}");
    assert!(stop.reason().contains("touch src/ran; false"), "{stop}");
    assert!(bench.pin("feature-001-login").is_some(), "it is armed");
    let again = works(bench);
    assert!(again.is_block() && !again.message().contains("still holds"), "told again:\n{again}");
    assert!(!bench.verdicts("s1").iter().any(|verdict| verdict.starts_with("end")));
    // Done is done, and ends it.
    let passes = fs::read_to_string(bench.pin_path("feature-001-login").unwrap()).unwrap();
    assert!(passes.contains("touch src/ran; false"));
    let cancelled = bench.cancel("s1", "");
    assert!(cancelled.reason().contains("Loop cancelled"), "{cancelled}");
    assert!(bench.pin("feature-001-login").is_none() && bench.pin("session-s1").is_none());
    bench.stop("s1").run().silent();
}

#[test]
fn s1_unarmed_notes_keep_the_checks() {
    let bench = armed();
    edit(&bench, RECORD, |record| record["armed_by"] = json!("claim"));
    pretend(&bench);
    holds(&bench);
}

#[test]
fn s1_other_arming_time_keeps_checks() {
    let bench = armed();
    edit(&bench, RECORD, |record| {
        record["armed_at"] = json!(5);
        record["told"] = json!({"unarmed": true});
    });
    pretend(&bench);
    holds(&bench);
}

#[test]
fn s1_garbage_notes_keep_the_checks() {
    for kind in ["garbage", "empty", "null", "folder", "link"] {
        let bench = armed();
        let path = bench.path(RECORD);
        match kind {
            "garbage" => drop(bench.write(RECORD, "{")),
            "empty" => drop(bench.write(RECORD, "")),
            "null" => drop(bench.write(RECORD, "null")),
            "folder" => fs::create_dir(&path).unwrap(),
            "link" => crate::support::system::symlink("/nowhere", &path).unwrap(),
            _ => {}
        }
        pretend(&bench);
        eprintln!("{kind}");
        holds(&bench);
    }
}

#[test]
fn s1_noted_end_ends_nothing() {
    for reason in ["completed", "cancelled", "stopped"] {
        let bench = armed();
        edit(&bench, RECORD, |record| record["ledger"]["ended"] = json!({"reason": reason}));
        let stop = works(&bench);
        assert!(stop.is_block(), "{reason}: {stop}");
        let status = bench.command("s1", "speckit:status", "").run();
        assert!(status.reason().contains("live"), "{status}");
        let bench = armed();
        edit(&bench, RECORD, |record| record["ledger"]["ended"] = json!({"reason": reason}));
        pretend(&bench);
        holds(&bench);
    }
}

#[test]
fn s1_noted_folder_is_not_judged() {
    let bench = armed();
    bench.write("x/001-login/tasks.md", "- [x] T001 Do\n");
    bench.write("x/001-login/.speckit-state.json", bench.read_state().to_string());
    edit(&bench, RECORD, |record| record["folder"] = json!("x/001-login"));
    let stop = works(&bench);
    assert!(stop.reason().contains("T002"), "{stop}");
    pretend(&bench);
    assert!(works(&bench).is_block() && bench.path("src/ran").exists());
}

#[test]
fn s1_forged_claim_lets_nobody_go() {
    type Change = fn(&mut Value);
    let changes: [Change; 5] = [
        |claim| claim["closed"] = json!("completed"),
        |claim| {
            claim["closed"] = json!("blocked");
            claim["reason"] = json!({"reason": "blocked", "need": "a key"});
        },
        |claim| claim["session"] = json!("other"),
        |claim| claim["session"] = Value::Null,
        |claim| claim["armed_at"] = json!(5),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let bench = armed();
        edit(&bench, CLAIM, change);
        eprintln!("change {number}");
        pretend(&bench);
        holds(&bench);
    }
    for bytes in [None, Some("{")] {
        let bench = armed();
        fs::remove_file(bench.path(".claude/ralph/armed-001-login")).unwrap();
        if let Some(bytes) = bytes {
            bench.write(CLAIM, bytes);
        }
        pretend(&bench);
        holds(&bench);
    }
}

#[test]
fn s1_loop_is_held_without_notes() {
    let bench = armed();
    let notes = bench.path(".claude/ralph");
    fs::rename(&notes, bench.path("../moved")).unwrap();
    pretend(&bench);
    holds(&bench);
    let bench = armed();
    fs::rename(bench.path(".claude/ralph"), bench.path("../moved")).unwrap();
    bench.write(".specify/.current-feature", "002-other");
    bench.write(".specify/specs/002-other/tasks.md", "- [x] T001 Do\n");
    pretend(&bench);
    holds(&bench);
}

#[test]
fn s1_retyped_loop_is_held() {
    type Change = fn(&mut Value);
    let changes: [Change; 3] = [
        |record| record["kind"] = json!("ralph"),
        |record| record["about"] = json!("002-other"),
        |record| record["session"] = json!("s2"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let bench = armed();
        edit(&bench, RECORD, change);
        eprintln!("change {number}");
        pretend(&bench);
        holds(&bench);
    }
}

#[test]
fn s1_seemingly_moving_loop_is_held() {
    let bench = armed();
    edit(&bench, RECORD, |record| {
        record["adopted"] = json!({"from": "s2", "at": 5, "arriving": true});
    });
    pretend(&bench);
    assert!(works(&bench).is_block() && bench.path("src/ran").exists());
}

#[test]
fn s1_books_ignore_a_forged_claim() {
    let bench = Bench::ready();
    let list =
        "# Tasks\n\n- [ ] T001 Create it\n  - Verify: `touch src/ran; false`\n- [ ] T002 Fill it\n";
    bench.write_tasks(list);
    bench.implement("s1", "").context();
    edit(&bench, CLAIM, |claim| claim["closed"] = json!("completed"));
    let mut spool = bench.spool();
    spool.args(["task", "done", "T001"]).env("CLAUDE_CODE_SESSION_ID", "s1");
    let spool = spool.finish();
    assert!(!spool.status.success(), "{spool:?}");
    assert!(bench.path("src/ran").exists(), "{spool:?}");
    assert_eq!(fs::read_to_string(bench.feature_path("tasks.md")).unwrap(), list);
}

#[test]
fn s1_terminal_loop_is_held_throughout() {
    for stops in [0, 1] {
        let bench = Bench::ready().settings("---\nchecks:\n  - touch src/ran; false\n---\n");
        let spool = bench.spool().arg("start").finish();
        assert!(spool.status.success(), "{spool:?}");
        for _ in 0..stops {
            works(&bench).reason();
        }
        edit(&bench, CLAIM, |claim| claim["closed"] = json!("completed"));
        pretend(&bench);
        holds(&bench);
    }
}

#[test]
fn s1_armed_check_outlasts_forged_notes() {
    let bench = Bench::ready().settings("---\nchecks:\n  - test -e src/built\n---\n");
    bench.implement("s1", "").context();
    works(&bench).reason();
    edit(&bench, RECORD, |record| record["armed_by"] = json!("claim"));
    pretend(&bench);
    assert!(works(&bench).reason().contains("test -e src/built"));
    bench.write("src/built", "");
    let stop = works(&bench);
    assert!(!stop.is_block(), "{stop}");
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
    assert!(bench.pin("feature-001-login").is_none() && bench.pin("session-s1").is_none());
    works(&bench).silent();
}

#[test]
fn s4_list_alone_completes_no_loop() {
    for kind in ["removed", "home", "no home", "inside"] {
        let bench = armed();
        bench.write_tasks(ALL_DONE);
        let inside = bench.path("state").display().to_string();
        let elsewhere = bench.outside().display().to_string();
        if kind == "removed" {
            fs::remove_file(bench.pin_path("feature-001-login").unwrap()).unwrap();
        }
        let stop = || {
            bench.transcript("s1").tool("Edit");
            let stop = bench.stop("s1");
            match kind {
                "home" => stop.variable("HOME", &elsewhere),
                "no home" => stop.variable("HOME", ""),
                "inside" => stop.variable("XDG_STATE_HOME", &inside),
                _ => stop,
            }
            .run()
        };
        let first = stop();
        assert!(!first.is_block(), "{kind}: {first}");
        let told = first.told();
        assert!(!told.contains("no person armed"), "{kind}: {told}");
        assert!(told.contains("a person armed the loop of 001-login"), "{kind}: {told}");
        assert!(told.contains("/speckit:implement"), "{kind}: {told}");
        let place =
            if matches!(kind, "removed" | "home") { "feature-001-login.json" } else { "HOME" };
        assert!(told.contains(place), "{kind}: {told}");
        stop();
        let verdicts = bench.verdicts("s1");
        assert!(!verdicts.iter().any(|verdict| verdict.starts_with("end")), "{kind}: {verdicts:?}");
        assert!(!bench.path("src/ran").exists(), "{kind}");
        if kind != "removed" {
            // The pin is there again: its check decides.
            assert!(works(&bench).reason().contains("touch src/ran; false"), "{kind}");
        }
    }
}

#[test]
fn s1_forged_phase_is_told_once() {
    let bench = armed();
    bench.set_state("phase", "tasks");
    let stop = works(&bench);
    assert!(stop.is_block(), "{stop}");
    stop.message().has("`phase`").has("/speckit:cancel");
    let again = works(&bench);
    assert!(again.is_block() && !again.message().contains("`phase`"), "{again}");
    assert_eq!(events(&bench, "phase").len(), 1);
    pretend(&bench);
    works(&bench).reason();
    assert!(bench.path("src/ran").exists());
}

#[test]
fn s1_forged_foreign_notes_drive_nothing() {
    let bench = armed();
    let bytes = fs::read(bench.record_path("s1")).unwrap();
    bench.write(".claude/ralph/s2/loop.json", bytes);
    edit(&bench, ".claude/ralph/s2/loop.json", |record| record["session"] = json!("s2"));
    edit(&bench, CLAIM, |claim| claim["session"] = json!("s2"));
    bench.write_tasks(ALL_DONE);
    let other = bench.stop("s2").run();
    assert!(!other.is_block(), "{other}");
    pretend(&bench);
    assert!(works(&bench).is_block() && bench.path("src/ran").exists());
    assert_eq!(bench.pin(&format!("feature-{FEATURE}")).unwrap()["session"], "s1");
}

/// Calls `spool` as the agent of a session does, and returns what it said.
fn as_agent(bench: &Bench, session: &str, arguments: &[&str]) -> std::process::Output {
    let mut spool = bench.spool();
    spool.args(arguments).env("CLAUDE_CODE_SESSION_ID", session).env("CLAUDECODE", "1").finish()
}

#[test]
fn s1_folder_notes_hide_no_loop() {
    let ended = json!({"version": 1, "kind": "speckit", "session": "s1", "about": "x",
        "folder": "specs/x", "ledger": {"ended": {"reason": "completed"}}});
    for with_start in [true, false] {
        let bench = armed();
        bench.write("sub/.specify/.current-feature", "x\n");
        bench.write("sub/.claude/ralph/s1/loop.json", ended.to_string());
        pretend(&bench);
        bench.transcript("s1").tool("Edit");
        let start = bench.root.display().to_string();
        let stop = bench.stop("s1").standing_in(&bench.path("sub"));
        let stop =
            if with_start { stop.variable("CLAUDE_PROJECT_DIR", &start) } else { stop }.run();
        assert!(stop.is_block() && bench.path("src/ran").exists(), "{stop}");
        // And the person is not trapped by it.
        let cancel = bench
            .command("s1", "speckit:cancel", "")
            .with("cwd", bench.path("sub").to_str().unwrap());
        let cancel = cancel.run();
        assert!(cancel.reason().contains("Loop cancelled"), "{cancel}");
        assert!(bench.pin("feature-001-login").is_none() && bench.pin("session-s1").is_none());
        bench.stop("s1").run().silent();
    }
}

#[test]
fn s1_forged_record_opens_no_books() {
    let verify = |name: &str| {
        format!("# Tasks\n\n- [ ] T001 Do\n  - Verify: `touch src/{name}`\n- [ ] T002 Do\n")
    };
    let bench = Bench::ready().feature("002-other").tasks(&verify("other"));
    bench.implement("s2", "002-other").context();
    let bench = bench.feature(FEATURE).tasks(&verify("own"));
    for has_own in [true, false] {
        if has_own {
            bench.implement("s1", "").context();
            works(&bench).reason();
            edit(&bench, RECORD, |record| {
                record["about"] = json!("002-other");
                record["folder"] = json!(".specify/specs/002-other");
            });
        } else {
            bench.cancel("s1", FEATURE).reason();
            let forged = json!({"version": 1, "kind": "speckit", "session": "s1",
                "about": "002-other", "folder": ".specify/specs/002-other", "armed_by": "claim",
                "ledger": {}});
            bench.write(RECORD, forged.to_string());
        }
        edit(&bench, ".claude/ralph/claims/002-other.json", |claim| claim["session"] = json!("s1"));
        for arguments in [
            ["task", "done", "T001", "--feature", "002-other"].as_slice(),
            &["task", "verify", "T001", "--feature", "002-other"],
            &["task", "done", "T001"],
        ] {
            let spool = as_agent(&bench, "s1", arguments);
            let said = String::from_utf8_lossy(&spool.stderr).into_owned();
            // Without a name they are those of its own feature.
            let is_own = spool.status.success() && arguments.len() == 3;
            let refused = "may not change the task log of feature `002-other`";
            assert!(is_own || said.contains(refused), "{arguments:?}: {spool:?}");
            assert!(!bench.path("src/other").exists(), "{arguments:?}");
        }
    }
}

#[test]
fn s1_replaced_loop_stays_away() {
    let bench = armed();
    fs::remove_dir_all(bench.path(".claude/ralph")).unwrap();
    let bench = bench.feature("002-other").tasks("# Tasks\n\n- [ ] T001 Do\n");
    bench.implement("s1", "002-other").context();
    assert!(bench.pin("feature-001-login").is_none(), "the first loop is over");
    let cancelled = bench.cancel("s1", "002-other");
    assert!(cancelled.reason().contains("Loop cancelled"), "{cancelled}");
    let stop = bench.stop("s1").run();
    assert!(!stop.is_block(), "a loop that is over came back:\n{stop}");
}

#[test]
fn s1_loop_without_notes_is_cancelled() {
    for what in ["notes", "notes and state", "claim and state", "current feature"] {
        let bench = armed();
        match what {
            "claim and state" => {
                edit(&bench, CLAIM, |claim| claim["closed"] = json!("completed"));
            }
            _ => fs::remove_dir_all(bench.path(".claude/ralph")).unwrap(),
        }
        if what.ends_with("state") {
            fs::remove_file(bench.state_path()).unwrap();
        }
        if what == "current feature" {
            bench.write(".specify/.current-feature", "002-other");
            bench.write(".specify/specs/002-other/tasks.md", "- [ ] T001 Do\n");
        }
        let cancelled = bench.cancel("s1", "");
        assert!(cancelled.reason().contains("Loop cancelled"), "{what}: {cancelled}");
        assert!(bench.pin("feature-001-login").is_none(), "{what}");
        assert!(!works(&bench).is_block(), "{what}");
    }
}

#[test]
fn s1_switch_off_without_notes_tells() {
    let bench = armed();
    fs::remove_dir_all(bench.path(".claude/ralph")).unwrap();
    bench.write(".claude/ralph-speckit.local.md", "---\nenabled: false\n---\n");
    let stop = works(&bench);
    assert!(!stop.is_block(), "{stop}");
    assert!(stop.told().contains("enabled: false"), "{stop}");
    assert_eq!(events(&bench, "switched-off").len(), 1);
    works(&bench).silent();
}

#[test]
fn s1_projectless_loop_without_notes_holds() {
    let bench = Bench::folder();
    let start = bench.root.display().to_string();
    let armed = bench.command("s1", "speckit:ralph-loop", "do it --check \"touch src/ran; false\"");
    armed.variable("CLAUDE_PROJECT_DIR", &start).run().context();
    fs::remove_dir_all(bench.path(".claude")).unwrap();
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").variable("CLAUDE_PROJECT_DIR", &start).run();
    assert!(stop.is_block() && bench.path("src/ran").exists(), "{stop}");
    fs::remove_dir_all(bench.path(".claude")).unwrap();
    let cancel = bench.command("s1", "speckit:cancel-ralph", "");
    let cancelled = cancel.variable("CLAUDE_PROJECT_DIR", &start).run();
    assert!(cancelled.reason().contains("cancelled"), "{cancelled}");
    assert!(bench.pin("session-s1").is_none());
}

#[test]
fn s1_forgotten_iterations_are_counted() {
    let bench = Bench::ready();
    bench.implement("s1", "--max-iterations 4").context();
    for stop in 1..=4 {
        let answer = works(&bench);
        assert_eq!(answer.is_block(), stop < 4, "stop {stop}: {answer}");
        if stop < 4 {
            edit(&bench, RECORD, |record| record["ledger"]["iterations"] = json!(0));
        }
    }
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end max_iters");
    // Arming begins anew.
    bench.implement("s1", "--max-iterations 4").context();
    works(&bench).reason();
    assert_eq!(bench.record("s1").ledger.iterations, 1);
}

#[test]
fn s1_removed_notes_keep_the_count() {
    let bench = Bench::ready();
    bench.implement("s1", "--max-iterations 4").context();
    let held = (1..20).take_while(|_| {
        let is_block = works(&bench).is_block();
        if is_block {
            fs::remove_dir_all(bench.path(".claude/ralph")).unwrap();
        }
        is_block
    });
    assert_eq!(held.count(), 3);
}

#[test]
fn s1_unasked_pause_pauses_nothing() {
    let bench = armed();
    edit(&bench, RECORD, |record| {
        record["paused"] = json!({"at": 5, "by": "terminal", "error": "", "told": true});
    });
    pretend(&bench);
    holds(&bench);
}

#[test]
fn s1_noted_telling_is_told() {
    let told =
        json!({"unarmed": true, "approval": true, "phase": 1, "switched_off": true, "settings": 1});
    let bench = armed();
    edit(&bench, RECORD, |record| record["told"] = told.clone());
    bench.set_state("awaitingApproval", true);
    let stop = works(&bench);
    assert!(stop.told().contains("awaitingApproval"), "{stop}");
    works(&bench).silent();
    bench.set_state("awaitingApproval", false);
    edit(&bench, RECORD, |record| record["told"] = told.clone());
    bench.write(".claude/ralph-speckit.local.md", "---\nenabled: false\n---\n");
    assert!(works(&bench).told().contains("`enabled: false`"));
    works(&bench).silent();
    // Notes that are gone say nothing either.
    let bench = armed();
    fs::remove_dir_all(bench.path(".claude/ralph")).unwrap();
    bench.write(".claude/ralph-speckit.local.md", "---\nenabled: false\n---\n");
    assert!(works(&bench).told().contains("`enabled: false`"));
    works(&bench).silent();
    bench.write(".claude/ralph-speckit.local.md", "");
    works(&bench).reason();
}

#[test]
fn s1_swapped_notes_keep_checks() {
    let bench = armed();
    let other = "# Tasks\n\n- [x] T001 Do\n";
    bench.write(".specify/specs/002-other/tasks.md", "# Tasks\n\n- [ ] T001 Do\n");
    bench.implement("s2", "002-other").context();
    bench.write(".specify/specs/002-other/tasks.md", other);
    let notes = ["s1", "s2"].map(|session| fs::read(bench.record_path(session)).unwrap());
    bench.write(RECORD, &notes[1]);
    bench.write(".claude/ralph/s2/loop.json", &notes[0]);
    edit(&bench, CLAIM, |claim| claim["session"] = json!("s2"));
    edit(&bench, ".claude/ralph/claims/002-other.json", |_| {});
    pretend(&bench);
    holds(&bench);
}

#[test]
fn s1_pipe_notes_are_put_aside() {
    for name in [RECORD, CLAIM] {
        let bench = armed();
        let _ = fs::remove_file(bench.path(name));
        fs::create_dir_all(bench.path(name).parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(bench.path(name)).finish();
        assert!(made.status.success(), "{made:?}");
        pretend(&bench);
        eprintln!("{name}");
        holds(&bench);
    }
}

#[test]
fn s1_forged_claim_frees_nobody() {
    type Change = fn(&mut Value);
    let changes: [Change; 3] = [
        |claim| claim["closed"] = json!("completed"),
        |claim| claim["session"] = json!("other"),
        |claim| claim["folder"] = json!("src"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let bench = armed();
        edit(&bench, CLAIM, change);
        eprintln!("change {number}");
        let status = bench.command("s1", "speckit:status", "").run();
        assert!(status.reason().contains("live"), "{status}");
        let other = bench.implement("s2", "");
        assert!(other.reason().contains("session s1 works on feature"), "{other}");
        bench.stop("s2").run().silent();
        assert!(!as_agent(&bench, "s2", &["pause"]).status.success());
        let paused = as_agent(&bench, "s1", &["pause"]);
        assert!(paused.status.success(), "{paused:?}");
        assert!(works(&bench).message().contains("paused"));
        assert!(!as_agent(&bench, "s2", &["resume"]).status.success());
        let resumed = as_agent(&bench, "s1", &["resume"]);
        assert!(resumed.status.success(), "{resumed:?}");
        works(&bench).reason();
        let cancelled = bench.cancel("s1", "");
        assert!(cancelled.reason().contains("Loop cancelled"), "{cancelled}");
        has_ended(&bench, "cancelled");
        bench.stop("s1").run().silent();
    }
}

#[test]
fn s1_a_completed_loop_outlives_no_forged_claim() {
    let bench = Bench::armed();
    works(&bench).reason();
    edit(&bench, CLAIM, |claim| claim["session"] = json!("other"));
    bench.write_tasks(ALL_DONE);
    works(&bench);
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
    has_ended(&bench, "completed");
    bench.stop("s2").run().silent();
}

/// The pin says how the loop of `s1` ended, and the claim is gone.
#[track_caller]
fn has_ended(bench: &Bench, reason: &str) {
    let pin = bench.loops().pin(FEATURE).unwrap().unwrap();
    assert_eq!((pin.session.as_str(), pin.ended.unwrap().reason.name()), ("s1", reason));
    assert!(!bench.path(CLAIM).exists());
}

#[test]
fn s1_reset_counters_lengthen_nothing() {
    for kind in ["none", "zero", "gone", "garbage"] {
        let bench = Bench::ready();
        bench.implement("s1", "--max-iterations 5").context();
        let mut held = 0;
        loop {
            // Each iteration changes something: only the limit ends the loop.
            bench.write("src/lib.rs", format!("{held}"));
            let stop = works(&bench);
            if !stop.is_block() {
                assert!(stop.told().contains("max_iters"), "{kind}: {stop}");
                assert!(stop.told().contains("5 iterations"), "{kind}: {stop}");
                break;
            }
            held += 1;
            assert!(held < 9, "{kind} runs away: {stop}");
            match kind {
                "zero" => edit(&bench, RECORD, |record| {
                    record["ledger"]["iterations"] = json!(0);
                    record["ledger"]["unchanged"] = json!(0);
                }),
                "gone" => fs::remove_dir_all(bench.path(".claude/ralph")).unwrap(),
                "garbage" => drop(bench.write(RECORD, "{")),
                _ => {}
            }
        }
        assert_eq!(held, 4, "{kind}");
        assert!(bench.pin("session-s1").is_none(), "{kind}");
    }
}

#[test]
fn s1_impersonal_pause_pauses_nothing() {
    let bench = armed();
    edit(&bench, RECORD, |record| {
        record["paused"] = json!({"at": 1, "by": "terminal", "told": true});
    });
    works(&bench).reason();
    let asked = bench.spool().arg("pause").finish();
    assert!(asked.status.success(), "{asked:?}");
    let paused = works(&bench);
    assert!(!paused.is_block() && paused.told().contains("paused"), "{paused}");
    // Nor does the end of one.
    edit(&bench, RECORD, |record| record["paused"] = Value::Null);
    assert!(!works(&bench).is_block());
    assert!(bench.spool().arg("resume").finish().status.success());
    works(&bench).reason();
}

#[test]
fn s1_telling_ignores_the_notes() {
    let forge = |bench: &Bench| {
        edit(bench, RECORD, |record| {
            record["told"] = json!({"approval": true, "switched_off": true, "unarmed": true});
        });
    };
    for stops in [0, 1] {
        let bench = Bench::armed();
        for _ in 0..stops {
            works(&bench).reason();
        }
        forge(&bench);
        bench.set_state("awaitingApproval", true);
        assert!(works(&bench).told().contains("awaitingApproval"), "{stops}");
        works(&bench).silent();
        bench.set_state("awaitingApproval", false);
        works(&bench).reason();
        forge(&bench);
        bench.write(".claude/ralph-speckit.local.md", "---\nenabled: false\n---\n");
        assert!(works(&bench).told().contains("enabled: false"), "{stops}");
        works(&bench).silent();
    }
}

#[test]
fn s1_unreadable_pin_revives_no_loop() {
    let bench = armed();
    fs::write(bench.pin_path("session-s1").unwrap(), "{").unwrap();
    assert!(works(&bench).message().contains("session-s1.json"));
    assert!(bench.cancel("s1", "").reason().contains("Loop cancelled"));
    assert!(bench.pin("session-s1").is_none());
    assert!(bench.stop("s1").run().message().is_empty());
}

/// Puts everything back to where version 1.0.0 had it: the record in the project, and the pin in the file of the session. Returns
/// the path of that file.
fn as_in_1_0_0(bench: &Bench) -> std::path::PathBuf {
    let (feature, session) =
        (bench.pin_path("feature-001-login").unwrap(), bench.record_path("s1"));
    let read = |path: &std::path::Path| -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let (mut pin, mut record) = (read(&feature), read(&session));
    bench.write(CLAIM, claim(bench).to_string());
    pin["version"] = json!(1);
    pin["project"] = pin["project"][0].clone();
    fs::write(&feature, pin.to_string()).unwrap();
    let mut own = json!({"version": 1, "session": "s1", "told": {}});
    for name in ["project", "about", "armed_at", "armed_by", "list"] {
        own[name] = pin[name].clone();
    }
    own["paused"] = json!(!record["paused"].is_null());
    record["version"] = json!(1);
    record.as_object_mut().unwrap().remove("project");
    let counted = record["ledger"]["iterations"].as_u64().unwrap();
    let count = format!("{}\n{}", pin["armed_at"], ".\n".repeat(usize::try_from(counted).unwrap()));
    fs::write(session.with_file_name("count-feature-001-login"), count).unwrap();
    let tasks = session.with_file_name("open-s1.txt");
    bench.write(".claude/ralph/s1/open-tasks.txt", fs::read(&tasks).unwrap());
    fs::remove_file(tasks).unwrap();
    bench.write(RECORD, record.to_string());
    fs::write(&session, own.to_string()).unwrap();
    session
}

/// Changes the record of version 1.0.0 as an agent may.
fn edit_1_0_0(bench: &Bench, change: impl FnOnce(&mut Value)) {
    let mut record: Value = serde_json::from_slice(&fs::read(bench.path(RECORD)).unwrap()).unwrap();
    change(&mut record);
    bench.write(RECORD, record.to_string());
}

#[test]
fn loop_of_1_0_0_moves_once() {
    let bench = armed();
    as_in_1_0_0(&bench);
    edit_1_0_0(&bench, |record| {
        record["ledger"]["iterations"] = json!(0);
        record["ledger"]["ended"] = json!({"reason": "completed"});
        record["armed"] = json!({"checks": [{"run": "touch pwned"}]});
    });
    let status = as_agent(&bench, "", &["status"]);
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("Loop: live") && status.contains("Iteration: 2 of"), "{status}");
    pretend(&bench);
    works(&bench).reason();
    assert_eq!(bench.record("s1").ledger.iterations, 2);
    assert!(
        !bench.path(RECORD).exists() && !bench.path(".claude/ralph/s1/open-tasks.txt").exists()
    );
    holds(&bench);
    assert!(!bench.path("pwned").exists());
}

#[test]
fn s1_forged_1_0_0_pause_fails() {
    let bench = armed();
    as_in_1_0_0(&bench);
    edit_1_0_0(&bench, |record| record["paused"] = json!({"at": 5, "by": "terminal"}));
    pretend(&bench);
    holds(&bench);
}

#[test]
fn s1_kept_1_0_0_pause_lifts() {
    let bench = armed();
    assert!(bench.spool().arg("pause").finish().status.success());
    as_in_1_0_0(&bench);
    edit_1_0_0(&bench, |record| record["paused"] = Value::Null);
    assert!(!works(&bench).is_block());
    assert!(bench.spool().arg("resume").finish().status.success());
    works(&bench).reason();
}

#[test]
fn kept_1_0_0_end_is_one() {
    let bench = armed();
    let session = as_in_1_0_0(&bench);
    let mut own: Value = serde_json::from_slice(&fs::read(&session).unwrap()).unwrap();
    own["ended"] = json!({"reason": {"reason": "cancelled"}, "words": "cancelled"});
    fs::write(&session, own.to_string()).unwrap();
    bench.stop("s1").run().silent().logged("The loop of feature 001-login has ended (cancelled)");
    assert!(bench.pin("feature-001-login").is_none() && bench.pin("session-s1").is_none());
}

#[test]
fn half_taken_loop_is_taken_again() {
    for has_own in [true, false] {
        let bench = Bench::ready().settings("---\nchecks:\n  - touch src/ran; false\n---\n");
        assert!(bench.spool().arg("start").finish().status.success());
        works(&bench).reason();
        // The hook was killed before it wrote the pin.
        let path = bench.pin_path("feature-001-login").unwrap();
        let mut pin = bench.pin("feature-001-login").unwrap();
        pin["session"] = json!("");
        fs::write(path, pin.to_string()).unwrap();
        if !has_own {
            fs::remove_file(bench.record_path("s1")).unwrap();
        }
        pretend(&bench);
        let stop = works(&bench);
        assert!(stop.reason().contains("touch src/ran; false"), "{has_own}: {stop}");
        assert_eq!(bench.pin("feature-001-login").unwrap()["session"], "s1");
        assert_eq!(events(&bench, "tampered"), [""; 0]);
        bench.stop("s2").run().silent();
    }
}

#[test]
fn s1_no_end_before_first_stop() {
    let bench = Bench::ready().settings("---\nchecks:\n  - touch src/ran; false\n---\n");
    assert!(bench.spool().arg("start").finish().status.success());
    let claim = claim(&bench);
    let forged = json!({"version": 1, "kind": "speckit", "session": "s1", "about": FEATURE,
        "folder": claim["folder"], "armed_at": claim["armed_at"], "armed_by": "terminal",
        "ledger": {"ended": {"reason": "completed"}}});
    bench.write(RECORD, forged.to_string());
    pretend(&bench);
    let stop = works(&bench);
    assert!(stop.is_block() && bench.path("src/ran").exists(), "{stop}");
}

#[test]
fn a_claim_of_1_0_0_is_moved_once() {
    let bench = Bench::in_execution();
    let claim = json!({"version": 1, "session": "s1", "about": FEATURE, "armed_by": "claim",
        "folder": ".specify/specs/001-login", "armed_at": 1, "closed": null});
    bench.write(CLAIM, claim.to_string());
    bench.stop("s2").run().silent().logged("Feature 001-login is driven by session s1");
    assert!(bench.pin_path("feature-001-login").is_none());
    works(&bench).reason();
    let pin = bench.loops().pin(FEATURE).unwrap().unwrap();
    assert_eq!((pin.session.as_str(), pin.armed_at.millis()), ("s1", 1));
    assert!(bench.pin_path("feature-001-login").is_some() && !bench.path(CLAIM).exists());
    bench.stop("s2").run().silent();
}

#[test]
fn a_closed_claim_of_1_0_0_is_an_end() {
    let bench = Bench::in_execution();
    let claim = json!({"version": 1, "session": "s1", "about": FEATURE, "armed_by": "claim",
        "folder": ".specify/specs/001-login", "armed_at": 1, "closed": "blocked",
        "reason": {"reason": "blocked", "need": "a key"}, "words": "the agent needs a key"});
    bench.write(CLAIM, claim.to_string());
    bench.stop("s2").run().silent().logged("The loop of feature 001-login has ended (blocked)");
    bench.implement("s2", "").context();
    assert!(!bench.path(CLAIM).exists());
    bench.stop("s2").run().reason();
}

#[test]
fn s1_a_claim_arms_nothing() {
    let bench = Bench::in_execution().settings("---\nchecks:\n  - touch src/ran; false\n---\n");
    let claim = json!({"version": 1, "session": null, "about": FEATURE, "armed_by": "terminal",
        "folder": ".specify/specs/001-login", "armed_at": 1, "closed": null});
    bench.write(CLAIM, claim.to_string());
    pretend(&bench);
    let stop = works(&bench);
    assert!(stop.told().contains("a person armed the loop of 001-login"), "{stop}");
    works(&bench);
    assert!(!bench.path("src/ran").exists());
    assert!(!bench.verdicts("s1").iter().any(|verdict| verdict.starts_with("end")));
}

#[cfg(unix)]
#[test]
fn s1_no_pin_in_the_project_arms_commands() {
    use std::os::unix::fs::PermissionsExt;
    for version in [1, 2] {
        let bench = armed();
        let mut pin = bench.pin("feature-001-login").unwrap();
        if version == 1 {
            pin["version"] = json!(1);
            pin["project"] = pin["project"][0].clone();
        }
        // Nothing was ever kept for this project.
        fs::remove_dir_all(bench.kept()).unwrap();
        let forged = bench.write(".claude/ralph/feature-001-login.json", pin.to_string());
        fs::set_permissions(forged, fs::Permissions::from_mode(0o600)).unwrap();
        pretend(&bench);
        let _ = fs::remove_file(bench.path("src/ran"));
        for _ in 0..2 {
            works(&bench);
            assert!(!bench.path("src/ran").exists(), "{version}");
        }
    }
}

#[test]
fn a_session_takes_no_loop_whose_pin_is_gone() {
    let bench = armed();
    fs::remove_file(bench.pin_path("feature-001-login").unwrap()).unwrap();
    bench.stop("s2").run().silent().logged("Feature 001-login is driven by session s1");
    assert!(works(&bench).is_block());
    let other = bench.implement("s2", "");
    assert!(other.reason().contains("session s1 works on feature"), "{other}");
    assert!(bench.cancel("s1", "").reason().contains("Loop cancelled"));
    bench.stop("s1").run().silent();
    bench.stop("s2").run().silent();
}

#[test]
fn a_session_of_another_home_stops() {
    let bench = armed();
    let home = bench.outside().display().to_string();
    for _ in 0..2 {
        let stop = bench.stop("s2").variable("HOME", &home).run();
        stop.silent().logged("Feature 001-login is driven by session s1");
    }
    assert!(works(&bench).is_block());
    assert!(bench.cancel("s1", "").reason().contains("Loop cancelled"));
    assert!(!bench.path(".claude/ralph/armed-001-login").exists());
    bench.stop("s2").variable("HOME", &home).run().silent();
}

#[test]
fn an_end_before_the_first_stop_is_told_although_its_record_is_missing() {
    let bench = Bench::ready();
    assert!(bench.spool().arg("start").finish().status.success());
    assert!(as_agent(&bench, "s1", &["task", "block", "a key"]).status.success());
    fs::remove_file(bench.record_path("s1")).unwrap();
    let stop = bench.stop("s1").run();
    assert!(stop.told().contains("a key"), "{stop}");
    bench.stop("s1").run().silent();
}

#[test]
fn an_arming_that_broke_off_holds_nobody() {
    let bench = Bench::armed();
    let mut pin = bench.pin("feature-001-login").unwrap();
    pin["session"] = json!("");
    pin["armed_at"] = json!(0);
    pin["ended"] = json!({"reason": {"reason": "stopped"}, "words": "armed in part"});
    fs::write(bench.pin_path("feature-001-login").unwrap(), pin.to_string()).unwrap();
    bench.stop("s2").run().silent();
    bench.stop("s1").run().silent().logged("The loop of feature 001-login has ended (stopped)");
    bench.stop("s1").run().silent();
    bench.implement("s1", "").context();
    works(&bench).reason();
}
