//! Spec-kit's own implement command: it arms the loop, and stays what it is.

use crate::hook::outcome::Outcome;
use crate::hook::support::{ALL_DONE, Bench, FEATURE};
use crate::support::has::Has;
use serde_json::json;

fn typed(bench: &Bench, arguments: &str) -> Outcome {
    let call = bench.command("s1", "speckit-implement", arguments);
    call.with("command_source", "projectSettings").run()
}

#[test]
fn command_arms_by_both_names() {
    for name in ["speckit-implement", "speckit.implement"] {
        let bench = Bench::ready();
        let call = bench.command("s1", name, "T002-T003 use python 3.12");
        let answer = call.with("command_source", "projectSettings").by_plugin().run();
        answer.context().has_all(&[
            "Only these tasks: T002, T003.",
            "Words for the agent: use python 3.12",
            "Work by the outline of this command",
            "never ask",
            "[X]",
            "ALL_TASKS_COMPLETE",
        ]);
        assert!(!answer.context().lines().any(|line| line.trim() == "ALL_TASKS_COMPLETE"));
        assert_eq!(bench.record("s1").armed_by.as_str(), "command");
        // The outline has the agent tick by itself, and what sends it back says nothing else.
        let sent = bench.stop("s1").run();
        assert!(sent.reason().contains("tick its box as [X]"), "{sent}");
        assert!(!sent.reason().contains("Never tick"), "{sent}");
        bench.write_tasks(&ALL_DONE.replace("[x]", "[X]"));
        bench.stop("s1").held().run().silent();
        assert_eq!(bench.verdicts("s1"), ["continue", "end completed"]);
    }
}

#[test]
fn outline_answer_speaks_of_no_helper() {
    let client = "claude-code_2-1-330_harness";
    let bench = Bench::ready();
    typed(&bench, "");
    bench.transcript("s1").tool("Edit");
    let short = bench.stop("s1").by_plugin().saying("ALL_TASKS_COMPLETE");
    let short = short.variable("AI_AGENT", client).variable("CLAUDE_CODE_SESSION_ID", "s1").run();
    let answer = short.answer.as_ref().unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("`spool task next`; stuck:"), "{text}");
    assert!(!text.contains("spec-executor"), "{text}");

    // A block has the words of spec 003, and one voice with the outline: the agent ticks.
    bench.transcript("s1").tool("Edit");
    let sent = bench.stop("s1").saying("ALL_TASKS_COMPLETE").held().run();
    assert!(sent.reason().contains("or tick the box of what is really done."), "{sent}");
    assert!(sent.reason().contains("tick its box as [X] or call `spool task done ID`"), "{sent}");
    assert!(sent.reason().lines().count() <= 5, "{sent}");

    let checked = Bench::ready().settings("---\nchecks: [\"exit 3\"]\n---\n").tasks(ALL_DONE);
    checked.write_tasks(&ALL_DONE.replacen("[x]", "[ ]", 1));
    typed(&checked, "");
    checked.write_tasks(ALL_DONE);
    let sent = checked.stop("s1").run();
    assert!(sent.reason().contains("Check failed: `exit 3`"), "{sent}");
    assert!(!sent.reason().contains("Delegate"), "{sent}");
}

#[test]
fn coordinator_never_ticks_a_box() {
    let bench = Bench::armed();
    let sent = bench.stop("s1").saying("ALL_TASKS_COMPLETE").run();
    assert!(sent.reason().contains("or `spool task done ID` for what is really done."), "{sent}");
    assert!(!sent.reason().to_lowercase().contains("tick"), "{sent}");
}

#[test]
fn only_project_command_is_spec_kit() {
    for (name, source) in [
        ("speckit-implement", "userSettings"),
        ("speckit-implement", "plugin"),
        ("speckit-implement", ""),
        ("speckit-plan", "projectSettings"),
        ("my-speckit-implement", "projectSettings"),
    ] {
        let bench = Bench::ready();
        let answer = bench.command("s1", name, "").with("command_source", source).run();
        answer.silent();
        assert!(!bench.state_path().exists(), "{name} {source}");
    }
}

#[test]
fn no_work_gets_a_line() {
    for (bench, words) in [
        (Bench::folder(), "no loop: this is no spec-kit project"),
        (Bench::project(), "no loop: no feature is selected"),
        (Bench::project().current_feature(FEATURE), "has no task list"),
        (Bench::ready().tasks(ALL_DONE), "no loop: nothing is open"),
    ] {
        let before = bench.everything();
        let answer = typed(&bench, "");
        assert!(!answer.is_block(), "{answer}");
        assert!(answer.message().contains(words), "{answer}");
        assert_eq!(bench.everything(), before);
        bench.stop("s1").run().silent();
    }
    let answer = typed(&Bench::ready(), "T001");
    assert!(!answer.is_block() && answer.message().contains("nothing is open"), "{answer}");
}

#[test]
fn personal_duties_stop_the_command() {
    for (bench, arguments, words) in [
        (Bench::ready(), "T0O2", "did you mean `T002`?"),
        (Bench::ready(), "--max-iteration 3", "did you mean `--max-iterations`?"),
        (Bench::ready(), "001-logn", "there is no folder for feature"),
        (Bench::ready().settings("---\ncheck: [x]\n---\n"), "", "unknown key `check`"),
    ] {
        let before = bench.everything();
        assert!(typed(&bench, arguments).reason().contains(words), "{arguments}");
        assert_eq!(bench.everything(), before);
    }
}

#[test]
fn the_settings_leave_the_command_alone() {
    let off = Bench::ready().settings("---\nspec_kit_command: false\n---\n");
    let answer = typed(&off, "T002 anything --at all");
    assert!(!answer.is_block(), "{answer}");
    assert!(answer.message().contains("/speckit:implement keeps working"), "{answer}");
    assert!(!off.state_path().exists());
    off.stop("s1").run().silent();
    off.implement("s1", "").context();
    let switched_off = Bench::ready().settings("---\nenabled: false\n---\n");
    typed(&switched_off, "").silent();
    let misspelt = Bench::ready().settings("---\nspec_kit_comand: false\n---\n");
    assert!(typed(&misspelt, "").reason().contains("did you mean `spec_kit_command`?"));
}

#[test]
fn scheduled_command_arms_nothing() {
    let fires = json!({"type": "system", "subtype": "scheduled_task_fire", "isMeta": false,
        "content": "Running scheduled task (Nov 23 6:05am)"});
    let bench = Bench::ready().settings("---\nchecks: [\"touch ran\"]\n---\n");
    bench.transcript("s1").user("Schedule it").assistant("It is.").raw(fires.to_string());
    let before = bench.everything();
    // Spec-kit's own command runs as it does without us.
    let answer = typed(&bench, "--ignore-checklists");
    assert!(!answer.is_block(), "{answer}");
    answer.message().has("no loop: a scheduled task entered this command");
    for (name, arguments) in [
        ("speckit:implement", ""),
        ("speckit:ralph-loop", "\"x\" --check \"touch ran\""),
        ("speckit:ulw-loop", "x"),
    ] {
        let refused = bench.command("s1", name, arguments).run();
        assert!(refused.reason().contains("only a person arms a loop"), "{name}: {refused}");
    }
    assert_eq!(bench.everything(), before, "nothing is armed");
    // That prompt was a turn of its own; what is typed after it arms.
    bench.transcript("s1").user("/speckit-implement").assistant("Done.");
    typed(&bench, "").context();
}
