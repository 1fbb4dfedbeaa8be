//! Where other loops break: each trap has a test that fails on the naive behaviour.

use crate::hook::support::{ALL_DONE, Bench, FEATURE, THREE_TASKS, executing};
use crate::support::has::Has;
use crate::support::scratch::Said;
use serde_json::{Value, json};
use std::fs;

const SIGNAL: &str = "ALL_TASKS_COMPLETE";

/// A feature whose state counts two of three, and that has no list: words decide.
fn counted() -> Bench {
    Bench::project().current_feature(FEATURE).state(&executing(2, 3))
}

// Completion read from the wrong place.

#[test]
fn broken_line_hides_no_signal() {
    for broken in [
        &b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"te"[..],
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"\x01\x02\x1b[2J\"}}",
        b"\xff\xfe\xfd",
        b"\0\0\0\0\0\0\0\0",
        b"[[[[[[[[",
        b"{\"type\":7,\"message\":{\"content\":{\"tool_use\":true}}}",
    ] {
        let bench = counted();
        bench.transcript("s1").raw(broken).tool("Edit");
        bench.stop("s1").run().reason();
        assert_eq!(bench.record("s1").ledger.tool_calls, 1, "{broken:?}");
        bench.transcript("s1").assistant(SIGNAL).raw(broken);
        bench.stop("s1").held().run().silent();
        assert_eq!(bench.verdicts("s1"), ["continue", "end completed"], "{broken:?}");
    }
}

#[test]
fn half_character_loses_no_loop() {
    let bench = Bench::in_execution();
    let event = format!(
        r#"{{"hook_event_name":"Stop","session_id":"s1","cwd":{},"last_assistant_message":"cut \ud83d"}}"#,
        json!(&bench.root)
    );
    bench.raw(event).reason();
}

#[test]
fn earlier_signal_ends_no_armed_loop() {
    let bench = Bench::ready();
    bench.transcript("s1").assistant(SIGNAL);
    bench.implement("s1", "");
    fs::remove_file(bench.feature_path("tasks.md")).unwrap();
    bench.stop("s1").run().reason();
}

#[test]
fn earlier_signal_ends_no_unarmed_loop() {
    let bench = counted();
    bench.stop("s1").saying(SIGNAL).run().silent();
    // The client writes the last message after the hook has run.
    bench.transcript("s1").assistant(SIGNAL);
    let bench = bench.current_feature("002-next").state(&executing(0, 3));
    let stop = bench.stop("s1").run();
    assert!(stop.reason().starts_with("Continue feature: 002-next"), "{stop}");
}

#[test]
fn hook_reason_is_not_the_agent() {
    let bench = counted();
    let stop = bench.stop("s1").run();
    let reason = stop.reason().to_owned();
    bench
        .transcript("s1")
        .user(&format!("Stop hook feedback:\n{reason}"))
        .user("Stop hook feedback:\nALL_TASKS_COMPLETE")
        .assistant(&reason)
        .tool("Edit");
    bench.stop("s1").held().saying(&reason).run().reason();
}

#[test]
fn signal_in_prose_is_none() {
    for words in [
        "ALL_TASKS_COMPLETE.",
        "**ALL_TASKS_COMPLETE**",
        "I am not done, so no ALL_TASKS_COMPLETE yet",
        "all_tasks_complete",
        "NOT_ALL_TASKS_COMPLETE",
        "DONE",
        "",
    ] {
        counted().stop("s1").saying(words).run().reason();
    }
}

// Done without work.

#[test]
fn empty_task_list_is_not_done() {
    for list in ["", "# Tasks\n", "```\n- [x] T001 a\n```\n", "- [x] CHK001 a checklist item\n"] {
        let bench = Bench::project().current_feature(FEATURE).tasks(list).state(&executing(3, 3));
        let stop = bench.stop("s1").saying(SIGNAL).run();
        assert!(stop.reason().contains("holds no task any more"), "{list:?}: {stop}");
    }
}

#[test]
fn vanished_task_list_is_not_done() {
    let bench = Bench::taken();
    fs::remove_file(bench.feature_path("tasks.md")).unwrap();
    bench.set_state("taskIndex", 3);
    let stop = bench.stop("s1").saying(SIGNAL).run();
    assert!(stop.reason().contains("is gone or holds no task"), "{stop}");
}

// Cannot be stopped.

#[test]
fn retry_limit_stops_a_task() {
    let bench = Bench::in_execution();
    bench.set_state("taskIteration", 5);
    bench.stop("s1").run().reason();
    bench.set_state("taskIteration", 6);
    let stop = bench.stop("s1").run();
    assert!(stop.told().contains("(task_failed): 001-login · task T002 is at attempt 6"), "{stop}");
    bench.stop("s1").run().silent();
}

#[test]
fn endless_corruption_blocks_not_forever() {
    let bench = Bench::in_execution();
    let mut blocks = 0;
    for stop in 0..30 {
        bench.write_state(format!("{{ broken {stop}"));
        bench.transcript("s1").tool("Write");
        if !bench.stop("s1").run().is_block() {
            break;
        }
        blocks += 1;
    }
    // Two to see what the work looks like, then ten that change nothing; the last one ends it.
    assert_eq!(blocks, 11);
}

// Stops too early.

#[test]
fn agent_may_stand_in_any_folder() {
    let bench = Bench::in_execution();
    let deep = bench.path("src/a/b/c");
    fs::create_dir_all(&deep).unwrap();
    bench.stop("s1").standing_in(&deep).run().reason();
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").standing_in(&bench.path("src/gone")).run().reason();
    // Another project inside the project does not take the session away from its loop.
    fs::create_dir_all(bench.path("vendor/.specify")).unwrap();
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").standing_in(&bench.path("vendor")).run().reason();
    // Outside of it, the client still says where the session was started.
    bench.transcript("s1").tool("Edit");
    let root = bench.root.to_str().unwrap();
    let call = bench.stop("s1").standing_in(&bench.outside());
    call.variable("CLAUDE_PROJECT_DIR", root).run().reason();
}

#[test]
fn silent_transcript_leaves_files_to_judge() {
    let bench = Bench::armed();
    for line in 0..12 {
        bench.write("src/main.rs", "x\n".repeat(line));
        bench.stop("s1").without("transcript_path").run().reason();
    }
}

#[test]
fn huge_tool_result_is_not_idleness() {
    let bench = Bench::armed();
    for line in 0..5 {
        bench.write("src/main.rs", "x\n".repeat(line));
        bench.transcript("s1").tool("Read").tool_result(&"x".repeat(1_500_000));
        bench.stop("s1").run().reason();
    }
}

#[test]
fn d1_check_writes_are_no_progress() {
    let bench = Bench::ready()
        .settings("---\nchecks:\n  - date +%N >> written-by-the-check; exit 1\n---\n");
    bench.implement("s1", "").context();
    bench.write_tasks(ALL_DONE);
    let stop = || {
        bench.transcript("s1").tool("Read");
        bench.stop("s1").start().finish()
    };
    let stops = (1..40).find(|_| !stop().is_block());
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end no_progress");
    // The first stop ticked the boxes, the second one has a look to compare with.
    assert!(stops <= Some(12), "{stops:?}");
}

#[test]
fn d1_agent_changes_before_checks_count() {
    let check = "date +%N >> src/main.rs; exit 1";
    let bench = Bench::ready().settings(&format!("---\nchecks:\n  - {check}\n---\n"));
    bench.implement("s1", "").context();
    bench.write_tasks(ALL_DONE);
    for line in 0..15 {
        bench.write("src/main.rs", "x\n".repeat(line));
        bench.transcript("s1").tool("Edit");
        bench.stop("s1").start().finish().reason();
    }
}

#[test]
fn own_loop_files_are_no_progress() {
    let bench = Bench::armed();
    for stop in 0..30 {
        bench.set_state("notes", stop);
        fs::write(bench.feature_path(".progress.md"), stop.to_string()).unwrap();
        bench.transcript("s1").tool("Write");
        if !bench.stop("s1").run().is_block() {
            assert_eq!(bench.verdicts("s1").last().unwrap(), "end no_progress");
            return;
        }
    }
    panic!("it never stalls");
}

// Wrong session.

#[test]
fn an_empty_session_id_holds_nobody() {
    let bench = Bench::in_execution();
    for id in ["", "../s1", "a/b", ".", "-x", "claims", &"x".repeat(300), "a\nb", "\u{fc}"] {
        let call = bench.stop("s1").with("session_id", id).without("transcript_path");
        call.run().silent().logged("no usable session");
    }
    bench.stop("s1").with("session_id", Value::Null).without("transcript_path").run().silent();
    assert!(!bench.path(".claude").exists(), "nothing was written");
}

#[test]
fn transcript_replaces_a_missing_session_id() {
    let bench = Bench::in_execution();
    bench.stop("s1").without("session_id").run().reason();
    assert!(bench.loops().knows("s1"));
}

// Waiting.

#[test]
fn background_agents_are_awaited_uncounted() {
    let bench = Bench::taken();
    let agent = json!([{"id": "a1", "type": "subagent", "status": "running", "description": "build",
        "agent_type": "spec-executor"}]);
    for _ in 0..5 {
        let stop = bench.stop("s1").with("background_tasks", agent.clone()).run();
        stop.silent().logged("Waiting: background subagent build");
    }
    assert_eq!(bench.record("s1").ledger.iterations, 1);
    assert!(bench.stop("s1").run().reason().contains("Iter 2)"));
}

#[test]
fn t10_a_monitor_is_waited_for() {
    let bench = Bench::taken();
    let monitor =
        json!([{"id": "m1", "type": "monitor", "status": "running", "description": "watch CI"}]);
    let stop = bench.stop("s1").with("background_tasks", monitor).run();
    stop.silent().logged("Waiting: background monitor watch CI");
}

#[test]
fn background_shell_is_not_awaited() {
    let bench = Bench::in_execution();
    let tasks = json!([{"id": "b1", "type": "shell", "status": "running", "command": "npm run dev"},
        {"id": "a2", "type": "subagent", "status": "completed"}, 7, {"type": []}]);
    bench.stop("s1").with("background_tasks", tasks).run().reason();
}

#[test]
fn rate_limit_pauses_the_loop() {
    let bench = Bench::taken();
    for _ in 0..4 {
        let failure = bench.event("StopFailure", "s1").with("error", "rate_limit");
        let words = "Ralph-speckit: paused: 001-login · the turn broke off: rate_limit · nothing is counted\nNext: type anything to continue; /speckit:cancel ends it.";
        assert_eq!(failure.run().told(), words);
    }
    let words: Vec<_> =
        bench.journal("s1").into_iter().map(|entry| entry["words"].clone()).collect();
    let paused =
        "the turn broke off: rate_limit; the next prompt in this session continues the loop";
    assert_eq!(words.last().unwrap(), paused);
    assert!(bench.stop("s1").run().reason().contains("Iter 2)"));
}

// tasks.md.

#[test]
fn boxes_read_as_people_write() {
    for (list, left) in [
        ("- [X] T001 a\n* [x] T002 b\n  - [ ] T003 nested\n", "1 of 3: T003"),
        ("- [x] T001 a\n```\n- [ ] T002 fenced\n```\n- [ ] T003 c\n", "1 of 2: T003"),
        ("- [x] 1.1 a\n- [ ] 1.10 b\n", "1 of 2: 1.10"),
        ("- [ ] T003 c\n- [x] T001 a\n- [ ] T002.F1 [FIX T002] d\n", "2 of 3: T003, T002.F1"),
        ("- [x] T001 a\r\n- [ ] T002 b\r\n", "1 of 2: T002"),
    ] {
        let bench = Bench::project().current_feature(FEATURE).tasks(list).state(&executing(0, 9));
        let stop = bench.stop("s1").run();
        assert!(stop.reason().contains(left), "{list}: {stop}");
    }
}

#[test]
fn list_outranks_the_index() {
    let behind = Bench::project().current_feature(FEATURE).tasks(ALL_DONE).state(&executing(0, 9));
    behind.stop("s1").run().silent();
    assert_eq!(behind.read_state()["taskIndex"], 3);
    assert_eq!(behind.read_state()["totalTasks"], 3);
    let ahead = Bench::project().current_feature(FEATURE).tasks(THREE_TASKS);
    ahead.write_state(executing(3, 3).to_string());
    assert!(ahead.stop("s1").run().reason().contains("(Task 2/3,"));
    assert_eq!(ahead.read_state()["taskIndex"], 3, "the agent's file is left to the agent");
}

#[test]
fn removed_state_after_ticks_completes() {
    let bench = Bench::taken();
    bench.write_tasks(ALL_DONE);
    fs::remove_file(bench.state_path()).unwrap();
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1"), ["continue", "end completed"]);
    assert!(!bench.state_path().exists());
}

// Which files are work.

/// A loop in a repository, whose agent calls tools in every iteration and does what `work` does.
/// The number of stops until the end; `None` if the loop lives after 30.
#[cfg(unix)]
fn stops_until_the_end(bench: &Bench, work: impl Fn(usize)) -> Option<usize> {
    bench.implement("s1", "").context();
    (1..=30).find(|stop| {
        await_clock_of_files(bench, 1);
        work(*stop);
        bench.transcript("s1").tool("Bash");
        let ended = !bench.stop("s1").run().is_block();
        assert!(!ended || bench.verdicts("s1").last().unwrap() == "end no_progress");
        ended
    })
}

/// Waits until the clock of the files, which goes in steps, has moved on by some nanoseconds: an agent is
/// never as fast as a test.
#[cfg(unix)]
fn await_clock_of_files(bench: &Bench, nanoseconds: u64) {
    let now = || {
        bench.write("../clock", "");
        bench.path("../clock").metadata().unwrap().modified().unwrap()
    };
    let start = now();
    while now() < start + std::time::Duration::from_nanos(nanoseconds) {}
}

fn repository() -> Bench {
    let bench = Bench::ready();
    bench.init();
    bench
}

#[cfg(unix)]
#[test]
fn d2_any_folder_name_is_progress() {
    for name in ["src/target/a.rs", "node_modules/own/a.js", "build/a", "__pycache__/a", ".venv/a"]
    {
        let bench = repository();
        let stops = stops_until_the_end(&bench, |stop| {
            bench.write(name, stop.to_string());
        });
        assert_eq!(stops, None, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn files_of_programs_are_no_progress() {
    for name in ["app/__pycache__/sum.cpython-312.pyc", ".coverage", "src/.sum.rs.swp", "a.log"] {
        let bench = repository();
        let stops = stops_until_the_end(&bench, |stop| {
            bench.write(name, stop.to_string());
        });
        assert_eq!(stops, Some(11), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn d2_ignored_is_none_and_tracked_is() {
    let bench = repository().file(".gitignore", "/out/\n*.log\n");
    let ignored = |stop: usize| {
        bench.write("out/a", stop.to_string());
        bench.write("src/b.log", stop.to_string());
    };
    assert_eq!(stops_until_the_end(&bench, ignored), Some(11));

    let bench = repository().file(".gitignore", "/out/\n").file("out/kept", "x");
    bench.git(&["add", "--force", "out/kept"]);
    let tracked = |stop: usize| {
        bench.write("out/kept", stop.to_string());
    };
    assert_eq!(stops_until_the_end(&bench, tracked), None);
}

#[cfg(unix)]
#[test]
fn d2_every_change_is_progress() {
    use std::os::unix::fs::PermissionsExt;
    let bench = repository().file("src/a", "x").file("src/b", "x");
    for number in 0..40 {
        bench.write(format!("src/gone/{number}"), "x");
    }
    let path = |name: &str| bench.path(name);
    let kinds: &[(&str, &dyn Fn(usize))] = &[
        ("another content of a file, its time set back", &|stop| {
            bench.write("src/a", stop.to_string());
            filetime::set_file_mtime(path("src/a"), filetime::FileTime::zero()).unwrap();
        }),
        ("the same size and time", &|stop| {
            let time =
                filetime::FileTime::from_last_modification_time(&path("src/a").metadata().unwrap());
            bench.write("src/a", if stop % 2 == 0 { "x" } else { "y" });
            filetime::set_file_mtime(path("src/a"), time).unwrap();
        }),
        ("the mode of a file", &|stop| {
            let mode = if stop % 2 == 0 { 0o755 } else { 0o644 };
            fs::set_permissions(path("src/a"), fs::Permissions::from_mode(mode)).unwrap();
        }),
        ("a file that goes away", &|stop| {
            fs::remove_file(path(&format!("src/gone/{stop}"))).unwrap();
        }),
        ("a file that gets another name", &|stop| {
            let names = [path("src/b"), path("src/c")];
            fs::rename(&names[(stop + 1) % 2], &names[stop % 2]).unwrap();
        }),
    ];
    for (name, work) in kinds {
        assert_eq!(stops_until_the_end(&bench, work), None, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn d2_ninth_iteration_work_keeps_loops() {
    let bench = repository();
    let work = |stop: usize| {
        if stop.is_multiple_of(9) {
            bench.write("src/a", stop.to_string());
        }
    };
    assert_eq!(stops_until_the_end(&bench, work), None);
    let work = |stop: usize| {
        if stop <= 5 {
            bench.write("src/a", stop.to_string());
        }
    };
    assert_eq!(stops_until_the_end(&bench, work), Some(15));
}

#[cfg(unix)]
#[test]
fn d2_flickering_files_are_no_progress() {
    let bench = repository();
    // The first look cannot know that nothing of the work went away; the second one does.
    let work = |_| {
        bench.write("src/scratch-of-a-test", "x");
        await_clock_of_files(&bench, 30_000_000);
        fs::remove_file(bench.path("src/scratch-of-a-test")).unwrap();
    };
    let stops = stops_until_the_end(&bench, work);
    assert!(stops.is_some_and(|stops| stops <= 21), "{stops:?}");
}

#[test]
fn l6_cut_list_completes_aloud() {
    let bench = Bench::armed();
    bench.write_tasks("# Tasks\n\n- [x] T001 Create it\n");
    bench.transcript("s1").tool("Write");
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("left tasks.md: T002, T003"), "{stop}");
    bench.transcript("s1").tool("Write");
    let stop = bench.stop("s1").run();
    let words = "open tasks were taken out of the list: T002, T003";
    assert!(stop.told().contains(words), "{stop}");
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end blocked");
    let end = bench.journal("s1").pop().unwrap();
    assert!(end["words"].as_str().unwrap().contains(words), "{end}");
}

#[test]
fn cut_list_names_its_next_step() {
    let bench = Bench::armed();
    bench.write_tasks("# Tasks\n\n- [x] T001 Create it\n");
    bench.transcript("s1").tool("Write");
    let stop = bench.stop("s1").run();
    assert!(!stop.reason().contains(": . "), "{stop}");
    bench.transcript("s1").tool("Write");
    let stop = bench.stop("s1").run();
    stop.told().has_all(&[
        "T002, T003; put back what is to be done",
        "1 of 3 tasks",
        "Next: put back what is to be done, or: `spool task drop T002 \"why\"`. Then continue with /speckit:implement 001-login.",
    ]);
    let status = Said::of(bench.spool().arg("status")).ok();
    status.has("Next: put back what is to be done, or: `spool task drop T002 \"why\"`. Then");
    assert!(!status.contains("gone from tasks.md"), "{status}");
    bench.write_tasks("# Tasks\n\n- [x] T001 Create it\n- [ ] T002 Test it\n");
    bench.implement("s1", "001-login").context();
}

#[test]
fn l6_returned_tasks_stay_untold() {
    let bench = Bench::armed();
    bench.write_tasks("# Tasks\n\n- [x] T001 Create it\n");
    bench.transcript("s1").tool("Write");
    bench.stop("s1").run().reason();
    bench.write_tasks(ALL_DONE);
    bench.transcript("s1").tool("Write");
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
}
