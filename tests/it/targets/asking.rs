//! What is asked for: the prompt, what counts as done, and what stands beside a run.

use crate::support::has::Has;
use crate::support::limited::Limited;
use std::fs;

use crate::targets::support::{Bench, CHANGE};

#[test]
fn alias_command_is_identical() {
    let bench = Bench::with(&[CHANGE]);
    let tries: [&[&str]; 5] = [
        &["--help"],
        &["-h"],
        &["go", "--change", CHANGE, "--dry-run", "--max-iterations", "3"],
        &["go", "--change", "nothing"],
        &["go", "--no-such-flag"],
    ];
    for arguments in tries {
        let run = |name: &str| {
            let mut all = vec![name];
            all.extend(arguments);
            bench.command(&all).finish()
        };
        let (one, other) = (run("ralph"), run("loop"));
        assert!(!one.stdout.is_empty() || !one.stderr.is_empty(), "{arguments:?}");
        assert_eq!(one, other, "{arguments:?}");
    }
}

#[test]
fn default_done_criteria_with_tasks_md_present() {
    let bench = Bench::with(&[CHANGE]);
    bench.write(".spool/changes/002-01_add-ralph-loop/tasks.md", "- [ ] T001 a\n");
    let plan = bench.plan(&["--change", CHANGE]);
    assert_eq!(plan.err, "");
    let told = plan.told();
    assert!(told.contains("/tasks.md is ticked") && told.contains("- [ ] T001 a"), "{told}");
}

#[test]
fn default_done_criteria_in_work_tree() {
    let bench = Bench::with(&[CHANGE]);
    bench.write("tasks.md", "- [ ] T001 of the work tree\n");
    let plan = bench.plan(&["--change", CHANGE]);
    assert_eq!(plan.err, "");
    assert!(plan.told().contains("- [ ] T001 of the work tree"));
    // The change's own list comes first.
    bench.write(".spool/changes/002-01_add-ralph-loop/tasks.md", "- [ ] T001 of the change\n");
    let told = bench.plan(&["--change", CHANGE]).told();
    assert!(told.contains("of the change") && !told.contains("of the work tree"), "{told}");
}

#[test]
fn default_done_criteria_without_tasks_md() {
    let plan = Bench::with(&[CHANGE]).plan(&["--change", CHANGE]);
    assert_eq!(plan.err, "warning: No tasks.md found, using manual done criteria\n");
    let told = plan.told();
    assert!(told.contains("Done: when the agent writes <promise>COMPLETE</promise>"), "{told}");
}

#[test]
fn explicit_manual_override() {
    let bench = Bench::with(&[CHANGE]);
    bench.write(".spool/changes/002-01_add-ralph-loop/tasks.md", "- [ ] T001 a\n");
    let plan = bench.plan(&["--change", CHANGE, "--done", "manual"]);
    assert_eq!(plan.err, "");
    assert!(plan.told().contains("Done: when the agent writes <promise>COMPLETE</promise>"));
}

#[test]
fn done_by_tasks_needs_a_list() {
    let bench = Bench::with(&[CHANGE]);
    let said = bench.plan(&["--change", CHANGE, "--done", "tasks"]).refused();
    assert!(said.contains("there is no tasks.md in"), "{said}");
    fs::write(bench.beside("tasks.md"), "- [ ] T001 of somebody else\n").unwrap();
    bench.link(&bench.beside("tasks.md"), ".spool/changes/002-01_add-ralph-loop/tasks.md");
    let said = bench.plan(&["--change", CHANGE, "--done", "tasks"]).refused();
    assert!(said.contains("a symbolic link leads out of its folder"), "{said}");
}

#[test]
fn prompt_arrives_whole_without_shell() {
    let bench = Bench::with(&[CHANGE]);
    let before = bench.listing();
    let words =
        "it's $(touch pwned) `touch pwned` \"$&\" * ~ ; touch pwned\n---\n --max-iterations=3 é";
    let told = bench.spool(&["ralph", words, "--change", CHANGE, "--dry-run"]).told();
    assert!(told.contains(&format!("# What is asked of you\n\n{words}\n")), "{told}");
    assert!(told.contains("  iterations: 50\n"), "{told}");
    assert_eq!(bench.listing(), before, "a plan writes nothing");
}

#[test]
fn dashed_prompt_follows_two_dashes() {
    let bench = Bench::with(&[CHANGE]);
    let told = bench.spool(&["ralph", "--change", CHANGE, "--dry-run", "--", "--fix it"]).told();
    assert!(told.contains("# What is asked of you\n\n--fix it\n"), "{told}");
    bench.spool(&["ralph", "--change", CHANGE, "--dry-run", "--fix it"]).refused();
}

#[test]
fn flags_after_dashes_are_for_agents() {
    let bench = Bench::with(&[CHANGE]);
    let list = format!(".spool/changes/{CHANGE}/tasks.md");
    std::fs::write(bench.root.join(list), "- [ ] 1.1 Make it\n").unwrap();
    for flags in [&["--mcp-config", "tools.json"][..], &["--verbose-notes"], &["-x"]] {
        let arguments = ["ralph", "--change", CHANGE, "--dry-run", "--"];
        let told = bench.spool(&[&arguments[..], flags].concat()).told();
        assert!(told.contains(&format!("claude -p THE_PROMPT {}", flags.join(" "))), "{told}");
        assert!(told.contains("Do the open tasks of the task list"), "{told}");
    }
}

#[test]
fn plan_needs_list_or_prompt() {
    let bench = Bench::with(&[CHANGE]);
    for arguments in
        [&["ralph", "--change", CHANGE][..], &["ralph", "--change", CHANGE, "--dry-run"]]
    {
        let said = bench.spool(arguments).refused();
        assert!(said.contains("there is no prompt") && said.contains("--prompt-file"), "{said}");
    }
    let said = bench.spool(&["ralph", " ", "--change", CHANGE]).refused();
    assert!(said.contains("the prompt is empty"), "{said}");
    bench.write(".spool/changes/002-01_add-ralph-loop/tasks.md", "- [ ] T001 a\n");
    let told = bench.spool(&["ralph", "--change", CHANGE, "--dry-run"]).told();
    told.has("# What is asked of you\n\nDo the open tasks of the task list");
    let said =
        bench.spool(&["ralph", "--change", CHANGE, "--dry-run", "--done", "manual"]).refused();
    assert!(said.contains("there is no prompt"), "{said}");
}

#[test]
fn prompt_file_is_relative_to_typing() {
    let bench = Bench::with(&[CHANGE]);
    bench.write("notes/ask.md", "Ask $(touch pwned)\n  as it is\n");
    let mut command =
        bench.command(&["ralph", "--prompt-file", "ask.md", "--change", CHANGE, "--dry-run"]);
    let output = command.current_dir(bench.root.join("notes")).finish();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("Ask $(touch pwned)\n  as it is\n"), "{told}");
    let said = bench.spool(&["ralph", "--prompt-file", "none.md", "--change", CHANGE]).refused();
    assert!(said.contains("none.md`: it does not exist"), "{said}");
    let both = ["ralph", "go", "--prompt-file", "notes/ask.md", "--change", CHANGE];
    assert!(bench.spool(&both).refused().contains("cannot be used with"));
}

#[test]
fn beside_a_run_one_thing_only() {
    let bench = Bench::with(&[CHANGE]);
    for wrong in [
        &["go", "--status"][..],
        &["go", "--add-context", "more"],
        &["go", "--clear-context"],
        &["--status", "--clear-context"],
        &["--add-context", "more", "--dry-run"],
        &["--add-context", " "],
        &["--add-context"],
    ] {
        let mut all = vec!["ralph", "--change", CHANGE];
        all.extend(wrong);
        bench.spool(&all).refused();
    }
}

#[test]
fn beside_a_run_no_prompt() {
    let bench = Bench::with(&[CHANGE]);
    bench.write(".spool/ralph.toml", "prompt-file = \"none.md\"\ncheck = [\"touch pwned\"]\n");
    let told = bench.spool(&["ralph", "--change", "2-1", "--clear-context"]).told();
    assert!(told.contains("002-01_add-ralph-loop"), "{told}");
}

#[test]
fn missing_proposal_is_told_first() {
    let bench = Bench::empty();
    bench.write(".spool/changes/001-01_one/tasks.md", "- [ ] T001 a\n");
    let plan = bench.plan(&["--change", "1-1"]);
    assert_ne!(plan.code, Some(0), "{plan:?}");
    assert!(plan.err.contains("proposal.md` cannot be read: it does not exist"), "{plan:?}");
}

#[test]
fn demo_asks_for_nothing() {
    let bench = Bench::empty();
    let told = bench.spool(&["ralph", "--harness", "demo", "--dry-run"]).told();
    assert!(told.contains("the demo's own, on a throw-away project"), "{told}");
    let said = bench.spool(&["ralph", "--harness", "demo", "--change", "x"]).refused();
    assert!(said.contains("`--change` means nothing to the demo"), "{said}");
}
