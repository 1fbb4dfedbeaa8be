//! Arming and cancelling: what a person types, and what may never come back afterwards.

use crate::hook::outcome::Outcome;
use crate::hook::support::{ALL_DONE, Bench, FEATURE, THREE_TASKS, executing, numbered_tasks};
use crate::support::has::Has;
use crate::support::limited::Limited;
use crate::support::scratch::Said;
use crate::support::system::symlink;
use ralph_speckit::store::pins::Pin;
use serde_json::{Value, json};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

/// Arms with bad arguments or in a bad place: the command is stopped and no file is touched.
#[track_caller]
fn refused(bench: &Bench, arguments: &str) -> Outcome {
    let before = bench.everything();
    let answer = bench.implement("s1", arguments);
    assert!(answer.reason().starts_with("Ralph-speckit: "), "{answer}");
    assert!(answer.reason().lines().count() > 1, "what to do stands on its own line: {answer}");
    assert_eq!(bench.everything(), before, "nothing is armed: {answer}");
    bench.stop("s1").run().silent();
    answer
}

#[test]
fn command_arms_with_one_line() {
    let bench = Bench::ready();
    let answer = bench.implement("s1", "");
    let context = answer.context();
    context.has_all(&["feature 001-login", "2 of 3 tasks open", "next T002", "100 iterations"]);
    assert!(context.contains(&bench.state_path().display().to_string()), "{context}");
    answer.logged("Armed feature 001-login for session s1");
    let state = bench.read_state();
    assert_eq!(
        state,
        json!({"version": 1, "featureId": "001", "name": "login",
            "basePath": ".specify/specs/001-login", "phase": "execution", "taskIndex": 1,
            "totalTasks": 3, "taskIteration": 1, "maxTaskIterations": 5, "globalIteration": 1,
            "maxGlobalIterations": 100, "awaitingApproval": false, "recoveryMode": false,
            "maxFixTasksPerOriginal": 3, "taskAttempts": {}, "fixTaskMap": {}})
    );
    assert_eq!(bench.path(".claude/ralph/.gitignore").metadata().unwrap().len(), 2);
}

#[test]
fn flags_work_with_equals_sign() {
    for (arguments, iterations, attempts, recovery) in [
        ("", 100, 5, false),
        ("--max-iterations 7", 7, 5, false),
        ("--max-iterations=7", 7, 5, false),
        ("--max-task-iterations 2 --max-iterations=08", 8, 2, false),
        ("--max-task-iterations=2\n--recovery-mode\t--max-iterations 1000000", 1_000_000, 2, true),
        ("--recovery-mode=true", 100, 5, true),
        ("--recovery-mode=false", 100, 5, false),
        ("001-login --max-iterations 7", 7, 5, false),
        ("--max-iterations 7 001-login", 7, 5, false),
    ] {
        let bench = Bench::ready();
        bench.implement("s1", arguments).context();
        let state = bench.read_state();
        assert_eq!(state["maxGlobalIterations"], iterations, "{arguments}");
        assert_eq!(state["maxTaskIterations"], attempts, "{arguments}");
        assert_eq!(state["recoveryMode"], recovery, "{arguments}");
    }
}

#[test]
fn e3_a_typed_limit_is_kept() {
    let bench = Bench::ready();
    bench.implement("s1", "--max-iterations 250");
    bench.stop("s1").run().reason();
    assert_eq!(bench.read_state()["maxGlobalIterations"], 250);
    // Also at the next arming, which names no limit.
    bench.implement("s1", "");
    assert_eq!(bench.read_state()["maxGlobalIterations"], 250);
    // What a state file says of a loop that nobody armed is no limit of a person.
    let unarmed = Bench::in_execution();
    unarmed.set_state("maxGlobalIterations", 250);
    unarmed.stop("s1").run().reason();
    assert_eq!(unarmed.read_state()["maxGlobalIterations"], 250, "the file is theirs");
}

#[test]
fn long_list_gets_more_iterations() {
    let bench = Bench::project().current_feature(FEATURE).tasks(&numbered_tasks(50, 0));
    bench.implement("s1", "");
    assert_eq!(bench.read_state()["maxGlobalIterations"], 150);
}

#[test]
fn a_bad_flag_stops_the_command() {
    for arguments in [
        "--max-iterations",
        "--max-iterations=",
        "--max-iterations 0",
        "--max-iterations -1",
        "--max-iterations=+3",
        "--max-iterations 1e3",
        "--max-iterations 0x10",
        "--max-iterations 1000001",
        "--max-iterations 99999999999999999999",
        "--max-iterations \u{0663}",
        "--max-task-iterations five",
        "--recovery-mode=maybe",
        "--max-iteration 3",
        "-n 3",
        "--",
    ] {
        let answer = refused(&Bench::ready(), arguments);
        assert!(answer.reason().contains("Usage: /speckit:implement"), "{arguments}: {answer}");
    }
}

#[test]
fn arguments_reach_no_shell_or_path() {
    for arguments in [
        "it's",
        "\"001-login\"",
        "*",
        "$&",
        "../001-login",
        "..",
        ".",
        "/etc",
        "001-login/../001-login",
        "\u{1b}[31mred",
        "a\\b",
    ] {
        let bench = Bench::ready();
        let answer = refused(&bench, arguments);
        assert!(!answer.reason().contains('\u{1b}'), "{answer}");
        assert!(!bench.path("pwned").exists());
    }
}

#[test]
fn agent_words_reach_no_shell() {
    for arguments in ["$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned"] {
        let bench = Bench::ready();
        let context = bench.implement("s1", arguments).context().to_owned();
        assert!(context.contains(arguments), "{context}");
        bench.stop("s1").run().reason();
        assert!(!bench.path("pwned").exists());
    }
}

#[test]
fn nothing_to_do_arms_nothing() {
    let no_list = Bench::project().current_feature(FEATURE);
    for (bench, words) in [
        (Bench::folder(), "this is no spec-kit project"),
        (Bench::project(), "no feature is selected"),
        (Bench::ready().file(".specify/.current-feature", " \n"), "no feature is selected"),
        (Bench::ready().file(".specify/.current-feature", "009-gone"), "no folder for feature"),
        (Bench::ready().file(".specify/.current-feature", "../x"), "cannot be a feature"),
        (Bench::ready().file(".specify/feature.json", "{"), "does not name a feature"),
        (no_list, "has no task list to work through"),
        (Bench::ready().tasks("# Tasks\n"), "holds no task"),
        (Bench::ready().tasks("- [ ] CHK001 only a checklist\n"), "holds no task"),
        (Bench::ready().tasks(ALL_DONE), "nothing is open: all 3 tasks"),
        (Bench::ready().settings("---\nenabled: false\n---\n"), "switched off for this project"),
        (Bench::ready().settings("---\ncheck: [x]\n---\n"), "line 2: unknown key `check`"),
    ] {
        let answer = refused(&bench, "");
        assert!(answer.reason().contains(words), "`{words}` not in: {answer}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "its check is a program of POSIX, and there is none under Wine")]
fn ticked_list_arms_its_checks() {
    let checks = "---\nchecks:\n  - test -e made.txt\n---\n";
    let bench = Bench::ready().tasks(ALL_DONE).settings(checks);
    bench.implement("s1", "").context();
    bench.transcript("s1").tool("Bash");
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("test -e made.txt"), "{stop}");
    bench.write("made.txt", "");
    bench.transcript("s1").tool("Bash");
    bench.stop("s1").run();
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
}

#[test]
fn s3_misnamed_settings_are_named() {
    for name in ["ralph-speckit.md", "ralph-speckit.local.MD", "ralph_speckit.local.md"] {
        if cfg!(windows) && name.ends_with("MD") {
            // There it is the settings file.
            continue;
        }
        let path = format!(".claude/{name}");
        let bench = Bench::ready().file(&path, "---\nchecks: [npm test]\n---\n");
        let answer = refused(&bench, "");
        answer.reason().has_all(&[
            &path,
            "is not the settings file",
            "did you mean `.claude/ralph-speckit.local.md`?",
        ]);
    }
}

#[test]
fn folder_as_list_is_refused() {
    let bench = Bench::project().current_feature(FEATURE);
    fs::create_dir(bench.feature_path("tasks.md")).unwrap();
    assert!(refused(&bench, "").reason().contains("it is a folder, not a file"));
}

#[test]
#[cfg_attr(windows, ignore = "Wine 8 says that it made a link, and makes none")]
fn foreign_list_is_refused() {
    let bench = Bench::project().current_feature(FEATURE);
    fs::write(bench.outside().join("tasks.md"), THREE_TASKS).unwrap();
    symlink(bench.outside().join("tasks.md"), bench.feature_path("tasks.md")).unwrap();
    assert!(refused(&bench, "").reason().contains("leads out of its folder"));
}

#[test]
fn unusable_session_id_arms_nothing() {
    let bench = Bench::ready();
    let call = bench.command("s1", "speckit:implement", "").with("session_id", "../x");
    assert!(call.run().reason().contains("no usable id"));
    assert!(!bench.state_path().exists());
}

#[test]
fn commands_of_others_are_let_through() {
    for name in ["speckit:plan", "implement", "/speckit:implement", "ralph-loop:ralph-loop", ""] {
        let bench = Bench::ready();
        assert!(bench.command("s1", name, "").run().silent().log.is_empty(), "{name}");
        assert!(!bench.state_path().exists());
    }
}

#[test]
fn corrupt_state_is_kept_aside() {
    let bench = Bench::ready().raw_state("{\"phase\": \"exec");
    let answer = bench.implement("s1", "");
    let kept: Vec<_> = fs::read_dir(bench.feature_path("")).unwrap().flatten().collect();
    let kept = kept.iter().find(|file| file.file_name().to_string_lossy().contains(".corrupt-"));
    let kept = kept.expect("the broken file");
    assert_eq!(fs::read(kept.path()).unwrap(), b"{\"phase\": \"exec");
    assert!(answer.context().contains(&*kept.file_name().to_string_lossy()), "{answer}");
    assert_eq!(bench.read_state()["phase"], "execution");
}

#[test]
fn arming_keeps_fields_and_resets_counters() {
    let bench = Bench::ready().state(&json!({"custom": {"a": [1]}, "phase": "tasks",
        "taskIndex": 9, "totalTasks": 9, "taskIteration": 4, "globalIteration": 77,
        "maxGlobalIterations": 60, "maxTaskIterations": 3, "awaitingApproval": true}));
    bench.implement("s1", "");
    let state = bench.read_state();
    assert_eq!(state["custom"], json!({"a": [1]}));
    for (field, value) in [
        ("phase", json!("execution")),
        ("taskIndex", json!(1)),
        ("totalTasks", json!(3)),
        ("taskIteration", json!(1)),
        ("globalIteration", json!(1)),
        ("maxGlobalIterations", json!(60)),
        ("maxTaskIterations", json!(3)),
        ("awaitingApproval", json!(false)),
    ] {
        assert_eq!(state[field], value, "{field}");
    }
}

#[cfg(unix)]
#[test]
fn state_file_keeps_its_permissions() {
    let bench = Bench::ready().state(&json!({}));
    fs::set_permissions(bench.state_path(), fs::Permissions::from_mode(0o640)).unwrap();
    bench.implement("s1", "");
    assert_eq!(bench.state_path().metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let leftovers = bench.everything();
    assert!(leftovers.iter().all(|(path, _)| path.extension().is_none_or(|end| end != "tmp")));
}

#[test]
fn arming_again_starts_anew() {
    let bench = Bench::ready();
    bench.implement("s1", "--max-iterations 2");
    bench.stop("s1").run().reason();
    bench.stop("s1").run().told();
    bench.stop("s1").run().silent();
    bench.implement("s1", "--max-iterations 9").context();
    assert!(bench.stop("s1").run().reason().contains("Iter 1)"));
    let events: Vec<Value> =
        bench.journal("s1").into_iter().map(|entry| entry["event"].clone()).collect();
    assert_eq!(events, ["armed", "stop", "stop", "armed", "stop"], "the journal goes on");
}

#[test]
fn t3_second_session_needs_force() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    let refused = bench.implement("s2", "");
    assert!(refused.reason().contains("session s1 works on feature `001-login`"), "{refused}");
    assert!(refused.reason().contains("--force"), "{refused}");
    assert!(bench.spool().arg("pause").finish().status.success());
    let refused = bench.implement("s2", "");
    assert!(refused.reason().contains("the loop of session s1 is paused\n"), "{refused}");
    assert!(bench.spool().arg("resume").finish().status.success());
    bench.stop("s2").run().silent().logged("is driven by session s1");
    assert!(bench.stop("s1").run().reason().contains("Iter 2)"));
    let answer = bench.implement("s2", "--force");
    assert!(answer.context().contains("It was driven by session s1 before"), "{answer}");
    let lost = bench.stop("s1").run();
    lost.logged("Feature 001-login is driven by session s2 now");
    assert!(lost.told().contains("session s2 has taken this loop over, this one may stop"));
    assert!(bench.stop("s2").run().reason().contains("Iter 1)"));
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1"), ["continue", "continue", "end stopped"]);
}

#[test]
fn one_session_drives_one_feature() {
    let bench = Bench::armed();
    let bench = bench.feature("002-other").tasks(THREE_TASKS);
    let answer = bench.implement("s1", "002-other");
    assert!(answer.context().contains("The loop of 001-login in this session ends"), "{answer}");
    let stop = bench.stop("s1").run();
    assert!(stop.reason().starts_with("Continue feature: 002-other"), "{stop}");
    bench.stop("s2").run().silent().logged("The loop of feature 001-login has ended (stopped)");
}

#[cfg(unix)]
#[test]
fn failed_arming_ends_no_loop() {
    let bench = Bench::armed();
    let bench = bench.feature("002-other").tasks(THREE_TASKS);
    let read_only = bench.feature_path("");
    let arming = bench.command("s1", "speckit:implement", "002-other");
    let answer = arming.start_without_rights(&[&read_only]).finish();
    assert!(answer.reason().contains(".speckit-state.json` cannot be written"), "{answer}");
    let stop = bench.stop("s1").start_without_rights(&[]).finish();
    assert!(stop.reason().starts_with("Continue feature: 001-login"), "{stop}");
}

#[test]
fn a_loop_armed_in_a_terminal_is_taken_by_the_first_session_that_stops() {
    let bench = Bench::ready();
    assert!(bench.spool().arg("start").finish().status.success());
    let path = bench.pin_path("feature-001-login").unwrap();
    let mut pin: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    pin["extra"] = json!([1]);
    fs::write(&path, pin.to_string()).unwrap();
    bench.stop("s1").run().reason();
    bench.stop("s2").run().silent();
    let pin = bench.pin("feature-001-login").unwrap();
    assert_eq!((&pin["session"], &pin["extra"]), (&json!("s1"), &json!([1])));
    assert_eq!(bench.record("s1").armed_by.as_str(), "terminal");
}

#[test]
fn asking_for_the_status_changes_nothing() {
    for bench in [Bench::folder(), Bench::project(), Bench::ready(), Bench::in_execution()] {
        let before = bench.everything();
        assert!(bench.command("s1", "speckit:status", "").run().is_block(), "no token is spent");
        assert_eq!(bench.everything(), before);
    }
}

// After a cancel.

#[test]
fn rewritten_state_revives_no_loop() {
    for armed in [true, false] {
        let bench = if armed { Bench::ready() } else { Bench::in_execution() };
        if armed {
            bench.implement("s1", "");
        }
        bench.stop("s1").run().reason();
        bench.cancel("s1", "").reason();
        bench.write_state(executing(1, 3).to_string());
        for session in ["s1", "s2"] {
            let stop = bench.stop(session).run();
            stop.silent().logged("The loop of feature 001-login has ended (cancelled)");
        }
        bench.implement("s2", "").context();
        bench.stop("s2").run().reason();
    }
}

#[test]
fn running_stops_undo_no_cancel() {
    for _ in 0..5 {
        let bench = Bench::armed();
        bench.transcript("s1").tool("Edit");
        let stops: Vec<_> = (0..2).map(|_| bench.stop("s1").start()).collect();
        bench.cancel("s2", "001-login").reason();
        let mut all: Vec<_> = stops.into_iter().map(|stop| stop.finish().to_string()).collect();
        all.push(bench.stop("s1").run().to_string());
        let told = all.iter().filter(|stop| stop.contains("ended (cancelled): 001-login"));
        assert_eq!(told.count(), 1, "{all:#?}");
        bench.stop("s1").run().silent();
        assert!(!bench.state_path().exists());
        assert_eq!(bench.record("s1").ledger.ended.unwrap().name(), "cancelled");
    }
}

#[test]
fn an_end_that_only_the_record_has_is_an_end() {
    let bench = Bench::in_execution();
    bench.set_state("maxGlobalIterations", 1);
    bench.stop("s1").run().told();
    let loops = bench.loops();
    let pin = loops.pin(FEATURE).unwrap().unwrap();
    loops.save_pin(&Pin { ended: None, ..pin }).unwrap();
    bench.stop("s1").run().silent().logged("The loop of feature 001-login has ended (max_iters)");
    let pin = loops.pin(FEATURE).unwrap().unwrap();
    assert_eq!(pin.ended.unwrap().reason.name(), "max_iters");
}

#[test]
fn broken_off_cancel_has_cancelled() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    bench.transcript("s1").tool("Edit");
    let path = bench.pin_path("feature-001-login").unwrap();
    let mut pin: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    pin["ended"] = json!({"reason": {"reason": "cancelled"}, "words": "cancelled"});
    fs::write(&path, pin.to_string()).unwrap();
    bench.stop("s1").run().silent().logged("The loop of feature 001-login has ended (cancelled)");
    assert_eq!(bench.verdicts("s1"), ["continue", "end cancelled"]);
    assert_eq!(bench.record("s1").ledger.tool_calls, 1, "the turn under way counts");
}

#[test]
fn linked_feature_ends_aloud() {
    // Each folder, the name that it gets, and where a link leads to then.
    for (folder, moved, link) in [
        (".specify/specs/001-login", ".specify/specs/002-moved", "002-moved"),
        (".specify/specs/001-login", "specs/001-login", "../../specs/001-login"),
        (".specify/specs", "specs", "../specs"),
        (".specify", "conf", "conf"),
    ] {
        let bench = Bench::armed();
        bench.stop("s1").run().reason();
        fs::create_dir_all(bench.path(moved).parent().unwrap()).unwrap();
        fs::rename(bench.path(folder), bench.path(moved)).unwrap();
        symlink(link, bench.path(folder)).unwrap();
        let stop = bench.stop("s1").run();
        assert!(stop.told().contains("ended (cancelled): 001-login"), "{moved}: {stop}");
        bench.stop("s1").run().silent();
    }
}

#[test]
fn missing_figures_are_not_zero() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    bench.cancel("s1", "");
    assert!(Said::of(bench.spool().arg("status")).ok().contains("  Iterations: 1"));
    bench.command("s1", "speckit:ralph-loop", "Do it").run();
    let status = Said::of(bench.spool().arg("status")).ok();
    let feature = status.split("\nTask: ").next().unwrap();
    assert!(feature.contains("ended (cancelled)"), "{status}");
    assert!(!feature.contains("Iterations:"), "{status}");
}

#[test]
fn a_session_continues_after_its_cancel() {
    let bench = Bench::project().feature(FEATURE).tasks(THREE_TASKS);
    bench.implement("s1", FEATURE);
    bench.cancel("s1", "");
    let again = bench.implement("s1", "");
    assert!(again.context().contains("the loop is armed: feature 001-login"), "{again}");
    assert!(bench.implement("s2", "").reason().contains("no feature is selected"));
}

#[test]
fn cancel_without_loop_says_so() {
    for (bench, arguments, words) in [
        (Bench::folder(), "", "this is no spec-kit project"),
        (Bench::project(), "", "no feature is selected"),
        (Bench::ready(), "", "feature `001-login` has no loop and no state file"),
        (Bench::in_execution(), "009-gone", "no folder for feature `009-gone`"),
        (Bench::in_execution(), "../001-login", "cannot be a feature"),
    ] {
        let before = bench.everything();
        let answer = bench.cancel("s1", arguments);
        assert!(answer.reason().contains(words), "{answer}");
        assert_eq!(bench.everything(), before);
    }
}

#[test]
fn terminal_is_told_its_command() {
    let bench = Bench::project();
    for command in ["start", "stop"] {
        let said = Said::of(bench.spool().arg(command)).refused();
        assert!(said.contains(&format!(", in a terminal spool {command} 001-name")), "{said}");
    }
}

#[test]
fn cancel_prefers_the_session_feature() {
    let bench = Bench::armed();
    let bench = bench.current_feature("002-other").tasks(THREE_TASKS).state(&executing(1, 3));
    assert!(bench.cancel("s1", "").reason().contains("Feature: 001-login"));
    assert!(bench.state_path().exists(), "the other feature's state stays");
    assert!(bench.cancel("s1", "002-other").reason().contains("Feature: 002-other"));
    assert!(!bench.state_path().exists());
}

#[test]
fn a_corrupt_state_can_be_cancelled() {
    let bench = Bench::ready().raw_state("{");
    let answer = bench.cancel("s1", "");
    assert!(answer.reason().contains("State file: corrupt, EOF while parsing"), "{answer}");
    assert!(!bench.state_path().exists());
}
