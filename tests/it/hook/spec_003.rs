//! Spec 003 (speckit-stop-hook): each criterion and requirement that the hook meets, by its id.
//!
//! AC-1.1, AC-5.1, AC-5.2, FR-9 to FR-12 and FR-14 are about the plugin's files: see `tests/it/plugin`.

use crate::hook::support::{ALL_DONE, Bench, FEATURE, THREE_TASKS, date, executing};
use crate::support::has::Has;
use ralph_speckit::world;
use serde_json::json;
use std::fs;
use std::time::Duration;

const SIGNAL: &str = "ALL_TASKS_COMPLETE";

#[test]
fn ac_1_2_tasks_remain_so_the_agent_is_sent_back_with_one_json_object() {
    let bench = Bench::in_execution();
    let stop = bench.stop("s1").run();
    let mut keys: Vec<_> = stop.answer.as_ref().unwrap().as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["decision", "reason", "systemMessage"]);
    assert_eq!(stop.answer.as_ref().unwrap()["decision"], "block");
}

#[test]
fn ac_1_3_all_tasks_complete_is_silence() {
    let bench = Bench::project().current_feature(FEATURE).tasks(ALL_DONE).state(&executing(3, 3));
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1"), ["end completed"]);
}

#[test]
fn ac_1_3_a_state_without_a_task_list_is_complete_when_its_index_is_at_the_end() {
    let bench = Bench::project().current_feature(FEATURE).state(&executing(3, 3));
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1"), ["end completed"]);
}

#[test]
fn ac_1_4_the_loop_goes_on_until_the_signal() {
    let bench = Bench::armed();
    let transcript = bench.transcript("s1").user("/speckit:implement").tool("Edit");
    bench.stop("s1").run().reason();
    bench.tick("T002");
    let transcript = transcript.tool("Edit").tool("Edit");
    bench.stop("s1").held().run().reason();
    bench.tick("T003");
    transcript.tool("Edit");
    let last = bench.stop("s1").held().saying("Good.\n\nALL_TASKS_COMPLETE").run();
    last.silent().logged("[ralph-speckit] ALL_TASKS_COMPLETE detected in transcript");
    assert_eq!(bench.verdicts("s1"), ["continue", "continue", "end completed"]);
}

#[test]
fn ac_1_4_the_loop_goes_on_until_the_most_iterations() {
    let bench = Bench::ready();
    bench.implement("s1", "--max-iterations 4");
    for iteration in 1..=3 {
        bench.transcript("s1").tool("Edit");
        let stop = bench.stop("s1").run();
        assert!(stop.reason().contains(&format!("Iter {iteration})")), "{stop}");
    }
    bench.transcript("s1").tool("Edit");
    assert!(bench.stop("s1").run().told().contains("(max_iters)"));
    bench.stop("s1").run().silent();
}

#[test]
fn ac_2_1_a_corrupt_state_file_is_answered_with_recovery_options() {
    let bench = Bench::ready().raw_state("{\"phase\": \"execution\",\n \"taskIndex\": }\n");
    let stop = bench.stop("s1").run();
    let reason = stop.reason();
    let path = bench.state_path();
    assert!(reason.starts_with(&format!("ERROR: Corrupt state file at {}\n", path.display())));
    let (_, options) = reason.split_once("Recovery options:\n").expect("the options");
    assert!(options.contains("/speckit:implement") && options.contains("/speckit:cancel"));
    assert!(reason.contains("expected value at line 2 column 15"), "{reason}");
    assert!(stop.message().starts_with("Ralph-speckit: ERROR: Corrupt state file at "));
}

#[test]
fn ac_2_1_the_same_corrupt_bytes_a_second_time_let_the_agent_stop() {
    let bench = Bench::ready().raw_state("{\"phase\":");
    bench.stop("s1").run().reason();
    let second = bench.stop("s1").held().run();
    assert!(second.told().contains("(corrupt_state)"), "{second}");
    assert!(second.told().contains("/speckit:implement"), "{second}");
    bench.stop("s1").run().silent();
    assert_eq!(fs::read(bench.state_path()).unwrap(), b"{\"phase\":", "evidence is kept");
}

#[test]
fn ac_2_1_a_state_that_was_repaired_is_driven_on() {
    let bench = Bench::ready().raw_state("{\"phase\":");
    bench.stop("s1").run().reason();
    bench.write_state(executing(1, 3).to_string());
    assert!(bench.stop("s1").held().run().reason().starts_with("Continue feature: 001-login"));
}

#[test]
fn ac_2_2_a_state_file_that_is_being_written_is_waited_for() {
    let bench = Bench::in_execution();
    let whole = executing(2, 3).to_string();
    fs::write(bench.state_path(), &whole[..40]).unwrap();
    date(&bench.state_path(), 3_600);
    let hook = bench.stop("s1").with_stopped_clocks().start();
    // The hook sees the half meanwhile, unless the machine is very busy.
    world::pause(Duration::from_millis(400));
    fs::write(bench.state_path(), &whole).unwrap();
    hook.let_the_clocks_run();
    let stop = hook.finish();
    assert!(stop.reason().contains("(taskIndex 2, totalTasks 3,"), "{stop}");
}

#[test]
fn ac_2_2_a_state_file_that_parses_but_is_still_changing_is_waited_for() {
    let bench = Bench::ready();
    fs::write(bench.state_path(), executing(0, 3).to_string()).unwrap();
    // However late the hook begins, the file does not look as if it had been left alone.
    date(&bench.state_path(), 3_600);
    let hook = bench.stop("s1").with_stopped_clocks().start();
    world::pause(Duration::from_millis(40));
    fs::write(bench.state_path(), executing(2, 3).to_string()).unwrap();
    hook.let_the_clocks_run();
    let stop = hook.finish();
    assert!(stop.reason().contains("(taskIndex 2, totalTasks 3,"), "{stop}");
}

#[test]
fn ac_2_3_the_signal_in_the_transcript_ends_the_loop() {
    let bench = Bench::project().current_feature(FEATURE).state(&executing(2, 3));
    bench.transcript("s1").tool("Edit").assistant("All done.\n\nALL_TASKS_COMPLETE");
    let stop = bench.stop("s1").run();
    stop.silent();
    assert_eq!(stop.log, ["[ralph-speckit] ALL_TASKS_COMPLETE detected in transcript"]);
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1"), ["end completed"], "and nothing invokes it again");
}

#[test]
fn ac_2_4_a_turn_that_somebody_else_held_is_not_held_again() {
    let bench = Bench::in_execution();
    let stop = bench.stop("s1").held().run();
    stop.silent().logged("Another hook had blocked the turn");
    assert!(!bench.loops().knows("s1"), "nothing was claimed for it either");
}

#[test]
fn ac_2_4_a_turn_that_this_loop_held_goes_on_while_work_is_done() {
    let bench = Bench::taken();
    for _ in 0..12 {
        bench.write(
            "src/main.rs",
            world::now().millis().to_string() + &bench.verdicts("s1").concat(),
        );
        bench.transcript("s1").tool("Edit");
        bench.stop("s1").held().run().reason();
    }
}

#[test]
fn ac_2_4_a_held_turn_without_work_cannot_go_round_for_ever() {
    let bench = Bench::taken();
    bench.stop("s1").held().run().reason();
    assert!(bench.stop("s1").held().run().told().contains("(no_progress)"));
    bench.stop("s1").held().run().silent();
}

#[test]
fn ac_2_5_the_global_limit_ends_the_loop_with_an_error_line() {
    let bench = Bench::in_execution();
    bench.set_state("globalIteration", 7);
    bench.set_state("maxGlobalIterations", 7);
    let stop = bench.stop("s1").run();
    assert!(stop.told().contains("the limit of 7 iterations was reached"), "{stop}");
    assert_eq!(stop.log.len(), 1);
    assert!(
        stop.log[0].starts_with("[ralph-speckit] ERROR: Maximum global iterations (7) reached. ")
    );
    assert_eq!(bench.verdicts("s1"), ["end max_iters"]);
}

#[test]
fn ac_3_1_enabled_false_disables_the_hook() {
    for text in [
        "---\nenabled: false\n---\n",
        "---\r\nenabled: false\r\n---\r\nmy notes\r\n",
        "---\nenabled: false # for now\n---\nThe switch is enabled: true again on Monday.\n",
        "\u{feff}---\nenabled: \"false\"\n---\n",
        "enabled: False\n",
    ] {
        let bench = Bench::in_execution().settings(text);
        let stop = bench.stop("s1").run();
        assert!(stop.silent().log.is_empty(), "{text:?}: {stop}");
        assert!(!bench.loops().knows("s1"), "{text:?}");
    }
}

#[test]
fn ac_3_1_a_loop_that_runs_rests_while_it_is_disabled_and_goes_on_after() {
    let bench = Bench::armed();
    let off = bench.settings("---\nenabled: false\n---\n");
    assert!(off.stop("s1").run().told().contains("`enabled: false`"));
    off.stop("s1").run().silent();
    let on = off.settings("---\nenabled: true\n---\n");
    assert!(on.stop("s1").run().reason().contains("Iter 1)"));
}

#[test]
fn ac_3_2_a_missing_or_true_setting_lets_it_work() {
    Bench::in_execution().stop("s1").run().reason();
    for text in [
        "---\nenabled: true\n---\n",
        "---\n---\n",
        "---\n# none yet\n---\nIt is not enabled: false is the other value.\n",
    ] {
        Bench::in_execution().settings(text).stop("s1").run().reason();
    }
}

#[test]
fn ac_4_1_cancel_deletes_the_state_file_in_one_step() {
    let bench = Bench::armed();
    let cancel = bench.cancel("s1", "");
    assert!(cancel.is_block(), "no token is spent: {cancel}");
    assert!(!bench.state_path().exists());
    bench.stop("s1").run().silent();
}

#[test]
fn ac_4_2_cancel_keeps_the_progress_notes_and_the_journal() {
    let bench = Bench::in_execution();
    fs::write(bench.feature_path(".progress.md"), "learned").unwrap();
    bench.stop("s1").run().reason();
    bench.cancel("s1", "");
    assert_eq!(fs::read(bench.feature_path(".progress.md")).unwrap(), b"learned");
    assert_eq!(fs::read_to_string(bench.feature_path("tasks.md")).unwrap(), THREE_TASKS);
    let events: Vec<_> =
        bench.journal("s1").into_iter().map(|entry| entry["event"].clone()).collect();
    assert_eq!(events, ["claimed", "stop", "unarmed", "cancelled"]);
}

#[test]
fn ac_4_3_cancel_shows_the_state_before_it_cleans_up() {
    let bench = Bench::taken();
    let cancel = bench.cancel("s1", "");
    let text = cancel.reason();
    let before =
        text.find("Feature: 001-login\nPhase: execution\nTask: 2/3 (1 done)\nIterations: 1 of 100");
    let after = text.find("Removed .speckit-state.json; kept .progress.md");
    assert!(before.is_some() && before < after, "{text}");
}

#[test]
fn ac_5_3_the_stop_hook_itself_continues_the_loop() {
    let bench = Bench::ready();
    assert!(bench.implement("s1", "").context().contains("the loop is armed"));
    assert!(bench.stop("s1").run().reason().starts_with("Continue feature: 001-login"));
}

#[test]
fn fr_1_the_fixed_words_of_a_block() {
    let bench = Bench::in_execution();
    let stop = bench.stop("s1").run();
    assert!(stop.reason().starts_with("Continue feature: 001-login (Task 2/3, Iter 1)"), "{stop}");
    assert!(
        stop.message().starts_with("Ralph-speckit: 1 of 3 done · iteration 1 · next T002"),
        "{stop}"
    );
    assert_eq!(
        stop.log,
        ["[ralph-speckit] Session stopped during feature: 001-login | Task: 2/3 | Attempt: 1"]
    );
}

#[test]
fn fr_1_only_the_execution_phase_is_driven() {
    for phase in ["", "specify", "plan", "tasks", "EXECUTION", "execution "] {
        let bench = Bench::in_execution();
        bench.set_state("phase", phase);
        let stop = bench.stop("s1").run();
        assert!(stop.silent().log.is_empty(), "{phase}: {stop}");
    }
}

#[test]
fn fr_2_the_current_feature_names_the_state_file() {
    let bench = Bench::in_execution().feature("002-other").tasks(THREE_TASKS);
    bench.write_state(executing(1, 3).to_string());
    let stop = bench.stop("s1").run();
    let state = "State: .specify/specs/001-login/.speckit-state.json";
    assert!(stop.reason().contains(state), "{stop}");
    bench.write(".specify/.current-feature", "  002-other\r\n");
    assert!(bench.stop("s2").run().reason().starts_with("Continue feature: 002-other"));
}

#[test]
fn fr_2_a_real_spec_kit_project_works_the_same_way() {
    let pointer = json!({"feature_directory": "specs/001-user-login"}).to_string();
    let bench = Bench::project().file(".specify/feature.json", &pointer);
    bench.write("specs/001-user-login/tasks.md", THREE_TASKS);
    bench.write("specs/001-user-login/.speckit-state.json", executing(1, 3).to_string());
    assert!(bench.stop("s1").run().reason().starts_with("Continue feature: 001-user-login"));
}

#[test]
fn fr_3_the_settings_are_read_at_every_stop() {
    let bench = Bench::taken();
    let bench = bench.settings("---\nenabled: false\n---\n");
    assert!(!bench.stop("s1").run().is_block());
    bench.stop("s1").run().silent();
}

#[test]
fn fr_4_whatever_breaks_the_state_file_gets_a_structured_answer() {
    for (bytes, why) in [
        (&b""[..], "the file is empty (line 1)"),
        (b" \n\t", "the file is empty (line 1)"),
        (b"[1]", "line 1"),
        (b"\"execution\"", "line 1"),
        (b"null", "line 1"),
        (b"{\"phase\":\"execution\"} {}", "trailing characters at line 1"),
        (b"\xff\xfe{}", "line 1"),
        (b"{\"phase\":\"\xff\"}", "line 1"),
        (b"\0\0\0\0", "line 1"),
        (b"<<<<<<< HEAD\n{}", "line 1"),
    ] {
        let stop = Bench::ready().raw_state(bytes).stop("s1").run();
        assert!(stop.reason().starts_with("ERROR: Corrupt state file at "), "{bytes:?}: {stop}");
        assert!(stop.reason().contains(why), "{bytes:?}: {stop}");
    }
}

#[test]
fn fr_5_a_fresh_state_file_is_waited_for_and_an_old_one_is_not() {
    // Fresh and broken for good: what is there is judged when two seconds are over.
    let bench = Bench::ready();
    fs::write(bench.state_path(), "{").unwrap();
    assert!(bench.stop("s1").run().reason().starts_with("ERROR: Corrupt state file"));
    // Fresh and whole: taken as it is.
    fs::write(bench.state_path(), executing(1, 3).to_string()).unwrap();
    bench.stop("s1").run().reason();
    // Its date is in the future, which says nothing.
    date(&bench.state_path(), 86_400);
    bench.write("src/new.rs", "");
    bench.stop("s1").run().reason();
}

#[test]
fn fr_6_the_last_500_lines_of_the_transcript_are_searched() {
    for (behind, found) in [(0, true), (499, true), (500, false)] {
        let bench = Bench::project().current_feature(FEATURE).state(&executing(2, 3));
        bench.transcript("s1").others(600).assistant(SIGNAL).others(behind);
        let stop = bench.stop("s1").run();
        assert_eq!(stop.answer.is_none(), found, "{behind} lines behind it: {stop}");
    }
}

#[test]
fn fr_6_the_last_20_lines_are_searched_however_long_they_are() {
    let bench = Bench::project().current_feature(FEATURE).state(&executing(2, 3));
    let mut transcript = bench.transcript("s1").assistant("Done.\nALL_TASKS_COMPLETE");
    for _ in 0..5 {
        transcript = transcript.tool_result(&"x".repeat(700_000));
    }
    bench.stop("s1").run().silent();
}

#[test]
fn fr_6_the_agents_last_words_come_before_the_transcript() {
    let bench = Bench::project().current_feature(FEATURE).state(&executing(2, 3));
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").saying("All done.\n  ALL_TASKS_COMPLETE \nBye.").run().silent();
}

#[test]
fn fr_6_a_signal_that_is_not_the_agents_own_is_no_signal() {
    let bench = Bench::project().current_feature(FEATURE).state(&executing(2, 3));
    bench
        .transcript("s1")
        .user("say\nALL_TASKS_COMPLETE\nwhen done")
        .tool_result("ALL_TASKS_COMPLETE\n")
        .sidechain("ALL_TASKS_COMPLETE")
        .meta("ALL_TASKS_COMPLETE")
        .assistant("I will say ALL_TASKS_COMPLETE later.\n`ALL_TASKS_COMPLETE`")
        .raw("{\"type\":\"assistant\",\"message\":{\"content\":\"ALL_TASKS_COMPLETE\"");
    let stop = bench.stop("s1").saying("Not ALL_TASKS_COMPLETE yet").run();
    stop.reason();
}

#[test]
fn fr_6_a_line_that_is_no_json_is_plain_text() {
    let bench = Bench::project().current_feature(FEATURE).state(&executing(2, 3));
    bench.transcript("s1").raw("some text").raw("  ALL_TASKS_COMPLETE  ");
    bench.stop("s1").run().silent();
}

#[test]
fn fr_7_stop_hook_active_is_a_question_of_proof_not_an_exit() {
    let bench = Bench::in_execution();
    for words in ["Good.", "Good.\n\nALL_TASKS_COMPLETE"] {
        bench.stop("other").held().saying(words).run().silent();
    }
    bench.stop("s1").run().reason();
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").held().run().reason();
}

#[test]
fn fr_8_the_count_that_is_higher_is_the_one_that_ends_the_loop() {
    // The model never counts: the loop's own count ends it.
    let bench = Bench::in_execution();
    bench.set_state("maxGlobalIterations", 2);
    bench.stop("s1").run().reason();
    bench.transcript("s1").tool("Edit");
    assert!(bench.stop("s1").run().told().contains("(max_iters)"));
    // The state is ahead: it ends at once.
    let bench = Bench::in_execution();
    bench.set_state("globalIteration", 100);
    assert!(bench.stop("s1").run().told().contains("(max_iters)"));
}

#[test]
fn fr_13_fields_of_other_versions_stay_in_the_state_file() {
    let mut state = executing(0, 2);
    state["granularity"] = json!({"deep": [1, 2.5, null]});
    let bench = Bench::ready().state(&state);
    bench.implement("s1", "");
    bench.tick("T002");
    bench.tick("T003");
    bench.stop("s1").run().silent();
    let state = bench.read_state();
    assert_eq!(state["granularity"], json!({"deep": [1, 2.5, null]}));
    assert_eq!((&state["taskIndex"], &state["totalTasks"]), (&json!(3), &json!(3)));
}

#[test]
fn fr_15_the_reason_says_how_to_resume() {
    let bench = Bench::in_execution();
    let stop = bench.stop("s1").run();
    let reason = stop.reason();
    reason.has_all(&[
        "State: .specify/specs/001-login/.speckit-state.json",
        "taskIndex 1, totalTasks 3, attempt 1 of 5, iteration 1 of 100",
        "How to resume:",
        "spec-executor",
        "qa-engineer",
        "[VERIFY]",
        "2 of 3: T002, T003",
        SIGNAL,
    ]);
    assert!(reason.chars().count() < 4_000);
}

#[test]
fn nfr_2_names_and_paths_of_any_letters_come_out_as_valid_json() {
    // Windows takes no quotation marks in a name.
    let quoted = if cfg!(windows) { "quoted" } else { "\"quoted\"" };
    let name = format!("007-\u{fc}n\u{ef}code-\u{1f600} {quoted} $(touch x) 'a' $&");
    let bench = Bench::project().current_feature(&name).tasks("- [ ] T001 \"a\"\t\u{1b}[31m\\\n");
    bench.write_state(executing(0, 1).to_string());
    let stop = bench.stop("s1").run();
    assert!(stop.reason().starts_with(&format!("Continue feature: {name} (Task 1/1, Iter 1)")));
}

#[test]
fn nfr_3_an_old_state_file_without_the_new_fields_is_driven() {
    for state in [
        json!({"phase": "execution", "taskIndex": 1, "totalTasks": 3}),
        json!({"phase": "execution", "taskIndex": "1", "totalTasks": "3"}),
        json!({"phase": "execution", "taskIndex": 1.0, "totalTasks": 3.0}),
        json!({"phase": "execution", "taskIndex": 1, "totalTasks": 3, "globalIteration": null,
            "maxGlobalIterations": {}, "taskIteration": [], "awaitingApproval": "no"}),
    ] {
        let bench = Bench::project().current_feature(FEATURE).state(&state);
        let stop = bench.stop("s1").run();
        assert!(
            stop.reason().starts_with("Continue feature: 001-login (Task 2/3, Iter 1)"),
            "{state}: {stop}"
        );
        assert!(stop.reason().contains("iteration 1 of 100"), "{state}: {stop}");
    }
}

#[test]
fn e12_off_is_off_beside_an_unknown_key() {
    let bench = Bench::in_execution().settings("---\nenabled: false\nother: 1\n---\n");
    bench.stop("s1").run().silent().logged("line 3: unknown key `other`");
}

#[test]
fn e6_a_state_file_with_a_byte_order_mark() {
    let state = format!("\u{feff}{}", executing(2, 3));
    let bench = Bench::project().current_feature(FEATURE).raw_state(state);
    assert!(bench.stop("s1").run().reason().starts_with("Continue feature: "));
}

#[test]
fn e10_a_list_between_two_writes_ends_nothing() {
    let bench = Bench::in_execution();
    bench.write_tasks("- [ ] T001 Begin\n");
    bench.stop("s1").run().reason();
    std::fs::write(bench.feature_path("tasks.md"), "- [x] T001 Begin\n").unwrap();
    let hook = bench.stop("s1").with_stopped_clocks().start();
    world::pause(Duration::from_millis(300));
    bench.write_tasks("- [x] T001 Begin\n- [ ] T002 Write\n");
    hook.let_the_clocks_run();
    hook.finish().reason();
}
