//! Spec 004 (`spool ralph`): its scenarios by their names.

use crate::support::has::Has;
use serde_json::{Value, json};

use crate::runner::support::{Bench, CHANGE, PROMISE, in_change, in_state, says};
use crate::support::schema;

/// The agent programs that have names, and the version with which each was recorded.
const AGENTS: [(&str, &str); 5] = [
    ("claude", "2.1.332 (Claude Code)"),
    ("opencode", "1.18.33"),
    ("codex", "codex-cli 0.169.0"),
    ("gemini", "0.61.0"),
    ("copilot", "GitHub Copilot CLI 1.0.102."),
];

// Requirement: Ralph loop command

#[test]
fn scenario_run_against_a_change_proposal() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n- [x] 1.2 Made\n");
    bench.write(in_change("design.md"), "HOW IT IS DESIGNED\n");
    bench
        .agent(&format!("echo 1 > made.txt; echo '- [x] 1.1 Make it' > {}", in_change("tasks.md")));
    bench.ralph("").run().with_code(0);
    let prompt = bench.prompt(1);
    prompt.has_all(&[
        "WHAT THE PROPOSAL WANTS",
        "HOW IT IS DESIGNED",
        "Build it",
        "1.1 Make it",
        PROMISE,
    ]);
    // At least once, also where nothing is left to do.
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn scenario_alias_command() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.agent(&says(PROMISE));
    let as_both = |arguments: &str| {
        let [ralph, alias] = ["ralph", "loop"].map(|name| {
            let call = bench.spool(&format!("{name} {arguments}")).arg("--harness-command");
            call.arg("agent --file {prompt_file}").run()
        });
        assert_eq!((ralph.output, ralph.errors), (alias.output, alias.errors), "{arguments}");
        assert_eq!(ralph.code, alias.code, "{arguments}");
        ralph.code
    };
    assert_eq!(as_both("--help"), Some(0));
    assert_eq!(as_both("-h"), Some(0));
    assert_eq!(as_both(&format!("Build --change {CHANGE} --commit --dry-run")), Some(0));
    assert_eq!(as_both("Build --change 2-1 --min-iterations 3 --done manual --dry-run"), Some(0));
    assert_eq!(as_both(&format!("Build --change {CHANGE} --allow-all --dry-run")), Some(2));
    assert_eq!(as_both("Build"), Some(2));
    assert_eq!(as_both("--change nothing"), Some(2));
    assert_eq!(as_both("--max-iterations=x"), Some(2));
    assert_eq!(bench.runs(), 0);
    let call = bench.spool(&format!("loop Build --done manual --change {CHANGE}"));
    call.arg("--harness-command").arg("agent").run().with_code(0).says("ralph: done");
    assert_eq!(bench.runs(), 1);
}

// Requirement: Change/module targeting defaults

#[test]
fn scenario_resolve_module_from_change() {
    let bench = Bench::new();
    bench.write(".spool/modules/002_runner/module.md", "WHAT THE MODULE IS\n");
    bench.agent(&says(PROMISE));
    bench.ralph("").run().with_code(0).says(&format!("{CHANGE} (module 002)"));
    assert_eq!(bench.state()["module"], "002");
    let prompt = bench.prompt(1);
    assert!(prompt.contains("(module 002)") && prompt.contains("WHAT THE MODULE IS"), "{prompt}");
    // A short form finds the same one.
    let call = bench.spool("ralph Build --change 2-1 --harness-command agent");
    call.run().with_code(0).says(CHANGE);
}

#[test]
fn scenario_interactive_selection_when_omitted() {
    let bench = Bench::new();
    bench.write(".spool/changes/002-02_add-more/proposal.md", "# More\n");
    bench.write(".spool/changes/archive/001-01_old/proposal.md", "# Old\n");
    bench.agent(&says(PROMISE));
    let call = bench.spool("ralph Build --harness-command agent");
    let Some(mut running) = call.on_a_terminal() else { return };
    running.wait_for("002-02_add-more");
    running.types("\u{1b}[B\r");
    let ran = running.finish().with_code(0);
    ran.says("Which change?").says("ralph: 002-02_add-more");
    assert!(!ran.output.contains("001-01_old"), "{ran}");
    assert_eq!(bench.state()["change_id"], "002-02_add-more");
    // Whoever leaves the list starts nothing.
    let mut running = call.on_a_terminal().unwrap();
    running.wait_for("002-02_add-more");
    running.types("q");
    running.finish().with_code(130);
    assert_eq!(bench.runs(), 1);
}

#[test]
fn scenario_non_interactive_error_when_omitted() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    let call = bench.spool("ralph Build --harness-command agent");
    let ran = call.run().with_code(2);
    ran.warns("--change is required").warns(CHANGE);
    assert_eq!(ran.output, "");
    let call = bench.spool("ralph Build --harness-command agent --no-interactive");
    if let Some(running) = call.on_a_terminal() {
        running.finish().with_code(2).says("--change is required").says(CHANGE);
    }
    assert_eq!(bench.runs(), 0);
}

// Requirement: Harness selection and model

#[test]
fn scenario_use_opencode_harness() {
    let bench = Bench::new();
    bench.recorded("opencode", "1.18.33");
    bench.ralph("--harness opencode").run().with_code(0);
    assert_eq!(bench.arguments(1)[..3], ["run", "--format", "json"]);
    let state = bench.state();
    assert_eq!(
        (&state["harness"], &state["harness_version"]),
        (&"opencode".into(), &"1.18.33".into())
    );
}

#[test]
fn scenario_pass_model_to_harness() {
    for (name, version) in AGENTS {
        let bench = Bench::new();
        bench.recorded(name, version);
        bench
            .ralph(&format!("--harness {name} --model anthropic/claude-sonnet"))
            .run()
            .with_code(0);
        let arguments = bench.arguments(1);
        let place = arguments.iter().position(|word| word == "anthropic/claude-sonnet");
        let flag = &arguments[place.unwrap_or_else(|| panic!("{name}: {arguments:?}")) - 1];
        assert!(["-m", "--model"].contains(&flag.as_str()), "{name}: {arguments:?}");
        assert_eq!(bench.state()["model"], "anthropic/claude-sonnet");
    }
    let bench = Bench::new();
    bench.agent(&format!("echo \"$@\" > \"$DESK/arguments-$n\"\n{}", says(PROMISE)));
    let call =
        bench.spool(&format!("ralph Build --change {CHANGE} --model small --harness-command"));
    call.arg("agent --with {model}").run().with_code(0);
    assert_eq!(bench.arguments(1), ["--with small"]);
}

// Requirement: Loop control and completion promise

#[test]
fn scenario_completion_promise_ends_the_loop() {
    let bench = Bench::new();
    bench.agent(&format!("if [ $n = 3 ]; then {}; else echo $n > made.txt; fi", says(PROMISE)));
    bench.ralph("").run().with_code(0).says("ralph: done: on the agent's word alone: no check");
    assert_eq!(bench.runs(), 3);
    let promises: Vec<_> =
        bench.iterations().iter().map(|iteration| iteration["promise"].clone()).collect();
    assert_eq!(promises, ["missing", "missing", "accepted"]);
}

#[test]
fn scenario_minimum_iterations() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    bench.ralph("--min-iterations 3").run().with_code(0);
    assert_eq!(bench.runs(), 3);
    assert!(bench.prompt(1).contains("at least until iteration 3"), "{}", bench.prompt(1));
}

// Requirement: Per-change state persistence

#[test]
fn scenario_state_stored_per_change() {
    let bench = Bench::new();
    bench.write(".spool/changes/003-01_other/proposal.md", "# Other\n");
    bench.agent(&says(PROMISE));
    bench.ralph("").run().with_code(0);
    bench.spool("ralph Other --change 003-01_other --harness-command agent").run().with_code(0);
    for name in ["state.json", "history.jsonl", "journal.jsonl"] {
        assert!(bench.root.join(in_state(name)).is_file(), "{name}");
        let other = format!(".spool/.state/ralph/003-01_other/{name}");
        assert!(bench.root.join(other).is_file(), "{name}");
    }
    assert_eq!(bench.state_lines("history.jsonl").len(), 1, "only its own");
    // Words for one change are not words for the other.
    let call = bench.spool(&format!("ralph --change {CHANGE} --add-context"));
    call.arg("ONLY HERE").run().with_code(0);
    bench.spool("ralph Other --change 003-01_other --harness-command agent").run().with_code(0);
    bench.ralph("").run().with_code(0);
    assert!(!bench.prompt(3).contains("ONLY HERE") && bench.prompt(4).contains("ONLY HERE"));
}

#[test]
fn scenario_status_command() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!(
        "if [ $n = 1 ]; then echo 1 > made.txt; exit; fi\nread -r _ < \"$DESK/gate\"\n{}",
        says(PROMISE)
    ));
    let mut running = bench.ralph("--max-iterations 5").start();
    running.wait_for("-- iteration 2/5");
    let status = bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0);
    status.says("Iteration: 2 (of 5)").says("no promise yet");
    status.says(&format!("Loop: running (process {})", running.id()));
    gate.open();
    running.finish().with_code(0);
    let status = bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0);
    status.says("Loop: done").says("Iteration: 2 (of 5)");
    let table = status.output.split_once("Last iterations").expect("a table").1;
    for words in [
        "0  continue\n        no promise yet\n",
        "0  end\n        on the agent's word alone: no check\n",
    ] {
        assert_eq!(table.matches(words).count(), 1, "{words}\n{status}");
    }
    let status =
        bench.spool(&format!("ralph --status --json --change {CHANGE}")).run().with_code(0);
    let status: Value = serde_json::from_str(&status.output).unwrap();
    schema::holds("ralph-status", &status);
    let found = &status["runner"]["loop"];
    assert_eq!((&found["state"], &found["end"]["name"]), (&json!("ended"), &json!("completed")));
}

// Requirement: Safety and permissions

/// What stands between an agent program and a person's consent.
fn auto_approval(name: &str) -> &'static str {
    match name {
        "claude" => "--dangerously-skip-permissions",
        "opencode" => "--auto",
        "codex" => "--dangerously-bypass-approvals-and-sandbox",
        "gemini" => "--yolo",
        _ => "--allow-all",
    }
}

#[test]
fn scenario_allow_all_flag_enables_auto_approval() {
    for (name, version) in AGENTS {
        let bench = Bench::new();
        bench.recorded(name, version);
        let flag = auto_approval(name).to_owned();
        bench.ralph(&format!("--harness {name}")).run().with_code(0);
        assert!(!bench.arguments(1).contains(&flag), "{name}: only when it is asked for");
        bench.ralph(&format!("--harness {name} --allow-all")).run().with_code(0);
        assert!(bench.arguments(2).contains(&flag), "{name}: {:?}", bench.arguments(2));
    }
}

#[test]
fn scenario_allow_all_aliases() {
    for alias in ["--yolo", "--dangerously-allow-all"] {
        let bench = Bench::new();
        bench.recorded("claude", "2.1.332");
        bench.ralph("--allow-all").run().with_code(0);
        bench.ralph(alias).run().with_code(0);
        assert_eq!(bench.arguments(1), bench.arguments(2), "{alias}");
        assert!(bench.arguments(1).contains(&auto_approval("claude").to_owned()));
    }
}
