//! Where other runners break: each trap has a test that fails on the naive behaviour.

use rustix::process::Signal;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use crate::runner::claude::TOKENS;
use crate::runner::support::{
    Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE, in_change, in_state, says,
};
use crate::support::witness::has_setsid;

/// The agent works in its first run and keeps the promise in its second.
fn works_then_promises() -> String {
    format!("if [ $n = 2 ]; then echo '{PROMISE}'; exit; fi\necho 1 > made.txt")
}

// The agent program fails.

#[test]
fn exit_1_is_recorded_and_passed() {
    let bench = Bench::new();
    bench.agent(&format!("if [ $n = 1 ]; then echo 'it broke' >&2; exit 1; fi\n{}", says(PROMISE)));
    bench.ralph("").run().with_code(0).says("failed: `agent` left with exit code 1: it broke");
    let list = bench.iterations();
    assert_eq!(list.len(), 2, "{list:#?}");
    assert_eq!(list[0]["exit_code"], 1);
    assert_eq!(list[0]["failure"], "`agent` left with exit code 1: it broke");
    assert_eq!(bench.state()["status"], "done");
}

#[test]
fn killed_agent_is_recorded_and_passed() {
    let bench = Bench::new();
    bench.agent(&format!("if [ $n = 1 ]; then kill -KILL $$; fi\n{}", says(PROMISE)));
    bench.ralph("").run().with_code(0);
    let list = bench.iterations();
    assert!(list[0]["failure"].as_str().unwrap().contains("signal 9"), "{list:#?}");
    assert_eq!(list[0]["exit_code"], json!(null));
}

#[test]
fn exit_1_promise_is_not_believed() {
    let bench = Bench::new();
    bench.agent(&format!("{}\nif [ $n = 1 ]; then exit 1; fi", says(PROMISE)));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 2);
    assert_eq!(bench.iterations()[0]["promise"], "missing");
}

#[test]
fn overdue_agent_is_recorded_and_passed() {
    let bench = Bench::new();
    bench.agent(&format!(
        "if [ $n = 1 ]; then git commit -q --allow-empty -m made; echo made; exec sleep 600; fi\n{}",
        says(PROMISE)
    ));
    let mut running = bench.ralph("--iteration-timeout 1h").start();
    running.wait_for("made");
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish().with_code(0);
    ran.says("cut short by its time limit");
    let list = bench.iterations();
    assert_eq!(list.len(), 2, "{list:#?}");
    assert_eq!(list[0]["timed_out"], true);
    assert_eq!(list[0]["commits"], json!([bench.head()]));
    assert!(list[0]["ended"].is_string());
    assert!(bench.prompt(2).contains("was cut short after 1 h"), "{}", bench.prompt(2));
    assert_eq!(bench.state()["status"], "done");
}

#[test]
fn silent_agents_are_cut_short() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!(
        "echo begun $n\ncase $n in\n\
         1) for i in 1 2; do until read -r _ < \"$DESK/gate\"; do :; done; echo on it $i; done ;;\n\
         2) exec sleep 600 ;;\n*) {} ;;\nesac",
        says(PROMISE)
    ));
    let mut running = bench.ralph("--idle-timeout 1h --iteration-timeout 24h").start();
    running.wait_for("begun 1");
    for said in ["on it 1", "on it 2"] {
        // Twice this is longer than the limit.
        bench.let_pass(Duration::from_mins(40));
        gate.open();
        running.wait_for(said);
    }
    running.wait_for("begun 2");
    bench.let_pass_until(MORE_THAN_AN_HOUR, &mut running, "-- iteration 2 (");
    running.finish().with_code(0);
    let list = bench.iterations();
    assert_eq!([&list[0]["timed_out"], &list[1]["timed_out"]], [&json!(null), &json!(true)]);
    assert!(bench.prompt(3).contains("nothing was heard of it"), "{}", bench.prompt(3));
}

// Processes that stay behind.

#[test]
fn grandchildren_holding_pipes_stop_nothing() {
    let bench = Bench::new();
    let witness = Bench::witness();
    let own_session = if has_setsid() { "setsid" } else { "" };
    bench.agent(&format!(
        "if [ $n = 2 ]; then {promise}; exit; fi\n\
         {held}trap '' TERM INT HUP\n\
         (while :; do sleep 1; done) &\n\
         {own_session} sh -c 'echo there >&9; while :; do sleep 1; done' &\n\
         while :; do sleep 1; done",
        promise = says(PROMISE),
        held = witness.held()
    ));
    // A naive runner waits until the last of them closes the pipe: for ever.
    let mut running = bench.ralph("--iteration-timeout 1h --grace 200ms").start();
    witness.wait_for("there");
    bench.let_pass_until(MORE_THAN_AN_HOUR, &mut running, "-- iteration 1 (");
    running.finish().with_code(0);
    witness.wait_for_the_end();
    assert_eq!(bench.iterations()[0]["timed_out"], true);
}

#[test]
fn leftovers_end_and_answers_count() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&format!(
        "{}(trap '' TERM HUP; : > \"$DESK/there\"; while :; do sleep 1; done) &\n\
         until [ -e \"$DESK/there\" ]; do sleep 0.02; done\n{}",
        witness.held(),
        says(PROMISE)
    ));
    let ran = bench.ralph("").run().with_code(0);
    witness.wait_for_the_end();
    ran.says("that the agent had left running w");
}

#[test]
fn ctrl_c_ends_agent_and_children() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&witness.stubborn());
    let running = bench.ralph("--grace 200ms").start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    running.finish().with_code(130);
    witness.wait_for_the_end();
}

#[test]
fn agent_lingering_after_result_succeeded() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.claude(&format!(
        "{}calls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'\nwhile :; do sleep 1; done",
        witness.held()
    ));
    let mut running = bench.ralph("--grace 200ms").start();
    bench.let_pass_until(Duration::from_secs(11), &mut running, "ralph: done");
    running.finish().with_code(0);
    witness.wait_for_the_end();
    let entry = &bench.iterations()[0];
    assert_eq!((&entry["failure"], &entry["tokens_used"]), (&json!(""), &json!(TOKENS)));
    assert!(entry.get("timed_out").is_none(), "{entry:#}");
}

// What counts as made in this iteration.

#[test]
fn commit_in_same_second_is_earlier() {
    let bench = Bench::new();
    bench.agent(&works_then_promises());
    bench.commit("a person's own, just now");
    bench.ralph("").run().with_code(0);
    for entry in bench.iterations() {
        assert_eq!(entry["commits"], json!([]), "{entry:#}");
    }
}

#[test]
fn switching_branches_makes_no_commit() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "-b", "other"]);
    bench.write("other.txt", "1");
    bench.commit("on another branch");
    bench.git(&["checkout", "--quiet", "main"]);
    bench.agent(&format!(
        "case $n in\n1) git checkout -q other ;;\n2) git commit -q --allow-empty -m made ;;\n*) {} ;;\nesac",
        says(PROMISE)
    ));
    bench.ralph("").run().with_code(0);
    let list = bench.iterations();
    assert_eq!(list[0]["commits"], json!([]));
    assert_eq!(list[1]["commits"], json!([bench.head()]));
}

#[test]
fn without_repository_no_commits_or_stall() {
    let bench = Bench::folder();
    bench.agent(&format!("echo $n > made.txt\nif [ $n = 3 ]; then {}; fi", says(PROMISE)));
    bench.ralph("--stall-threshold 1").run().with_code(0);
    assert_eq!(bench.runs(), 3);
    assert_eq!(bench.iterations()[0]["files"], json!(["made.txt"]));
}

#[test]
fn min_iterations_counts_this_run() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    bench.ralph("--min-iterations 2").run().with_code(0);
    bench.ralph("--min-iterations 2").run().with_code(0);
    assert_eq!(bench.runs(), 4);
    let numbers: Vec<_> =
        bench.iterations().iter().map(|iteration| iteration["n"].clone()).collect();
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn own_loop_files_are_no_progress() {
    let bench = Bench::new();
    bench.write(".gitignore", "!loop-state.json\n");
    bench.commit("git shows the state");
    // Its state changes with every iteration; an agent that touches its notes on the loop does no work.
    bench.agent(&format!("echo on it\necho $n >> {}", in_state("logs/mine.log")));
    bench.ralph("--no-progress 2").run().with_code(5);
    assert_eq!(bench.runs(), 2);
    assert_eq!(bench.iterations()[0]["files_changed"], 0);
    assert_eq!(bench.git(&["status", "--porcelain"]), "?? .claude/", "{}", bench.git(&["status"]));
}

#[test]
fn ignored_files_are_no_progress_either() {
    let bench = Bench::new();
    bench.write(".gitignore", "build/\n");
    bench.commit("ignore");
    bench.agent("mkdir -p build; date +%N > build/stamp-$n");
    bench.ralph("--no-progress 2").run().with_code(5);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn d2_any_folder_name_is_progress() {
    let bench = Bench::new();
    bench.agent("mkdir -p src/target node_modules/own\necho $n > src/target/a.txt\necho $n > node_modules/own/b.txt");
    bench.ralph("--no-progress 2 --max-iterations 4 --commit").run().with_code(3);
    assert_eq!(bench.runs(), 4);
    // Packages are never work, whether git ignores them or not.
    assert_eq!(bench.iterations()[1]["files_changed"], 1);
    assert_eq!(bench.git(&["show", "--name-only", "--format=", "HEAD"]), "src/target/a.txt");
    assert_eq!(bench.git(&["status", "--porcelain", "--", "src"]), "");
}

#[test]
fn d2_file_modes_are_work() {
    let bench = Bench::new();
    bench.write("run.sh", "true\n");
    bench.commit("a script");
    bench.agent("chmod $((n % 2 ? 755 : 644)) run.sh");
    bench.ralph("--no-progress 2 --max-iterations 3 --commit").run().with_code(3);
    assert_eq!(bench.git(&["ls-files", "--stage", "run.sh"]).split(' ').next(), Some("100755"));
    assert_eq!(bench.git(&["status", "--porcelain", "--", "run.sh"]), "");
}

#[test]
fn d2_tracked_ignored_file_is_work() {
    let bench = Bench::new();
    bench.write(".gitignore", "out/\n");
    bench.write("out/kept.txt", "0");
    bench.git(&["add", "--force", "out/kept.txt"]);
    bench.commit("kept");
    bench.agent("echo $n > out/kept.txt; echo $n > out/other.txt");
    bench.ralph("--no-progress 2 --max-iterations 3 --commit").run().with_code(3);
    assert_eq!(bench.git(&["show", "--name-only", "--format=", "HEAD"]), "out/kept.txt");
}

// What the agent may do.

#[test]
fn allow_all_reaches_the_default_harness() {
    let bench = Bench::new();
    bench.claude(&format!("calls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"));
    bench.ralph("--allow-all").run().with_code(0);
    assert_eq!(bench.state()["harness"], "claude");
    let flag = "--dangerously-skip-permissions".to_owned();
    assert!(bench.arguments(1).contains(&flag), "{:?}", bench.arguments(1));
}

#[test]
fn commit_takes_only_agent_changes() {
    let bench = Bench::new();
    bench.write(".gitignore", ".env\n");
    bench.commit("ignore");
    // A person's own: ignored, not tracked, staged.
    bench.write(".env", "PASSWORD=1\n");
    bench.write("notes.txt", "mine\n");
    bench.write("staged.txt", "mine\n");
    bench.git(&["add", "staged.txt"]);
    bench.agent(&format!(
        "if [ $n = 2 ]; then echo '{PROMISE}'; exit; fi\n\
         echo PASSWORD=2 > .env; mkdir -p src; echo 1 > src/made.txt; echo 2 > -odd; echo 3 > 'a b'"
    ));
    bench.ralph("--commit").run().with_code(0);
    let committed = bench.git(&["show", "--name-only", "--format=", "HEAD"]);
    let committed: BTreeSet<&str> = committed.lines().collect();
    assert_eq!(committed, BTreeSet::from(["-odd", "a b", "src/made.txt"]));
    assert_eq!(
        bench.git(&["rev-list", "--count", "HEAD"]),
        "3",
        "an idle iteration commits nothing"
    );
    assert_eq!(bench.git(&["diff", "--cached", "--name-only"]), "staged.txt", "it stays staged");
    let all = bench.git(&["log", "--name-only", "--format="]);
    for own in ["loop-state.json", ".spool/.state", ".env"] {
        assert!(!all.contains(own), "{own} was committed:\n{all}");
    }
    assert_eq!(bench.iterations()[0]["commits"], json!([bench.head()]));
}

#[test]
fn commit_takes_gone_and_moved_files() {
    let bench = Bench::new();
    for name in ["gone.txt", "moved.txt", "stays.txt"] {
        bench.write(name, name);
    }
    bench.commit("three files");
    bench.agent(&format!(
        "if [ $n = 2 ]; then echo '{PROMISE}'; exit; fi\nrm gone.txt; git mv moved.txt new.txt"
    ));
    bench.ralph("--commit").run().with_code(0);
    let files = bench.git(&[
        "ls-tree",
        "--name-only",
        "HEAD",
        "--",
        "gone.txt",
        "moved.txt",
        "new.txt",
        "stays.txt",
    ]);
    assert_eq!(files, "new.txt\nstays.txt");
    assert_eq!(bench.iterations()[0]["commits"], json!([bench.head()]));
}

#[test]
fn commit_starts_a_repository() {
    let bench = Bench::folder();
    bench.git(&["init", "--quiet"]);
    bench.git(&["config", "user.name", "Somebody"]);
    bench.git(&["config", "user.email", "somebody@example.com"]);
    bench.agent(&works_then_promises());
    let ran = bench.ralph("--commit").run().with_code(0);
    assert_eq!(bench.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "made.txt", "{ran}");
    assert_eq!(bench.iterations()[0]["commits"], json!([bench.head()]));
}

#[test]
fn refused_commit_is_told_and_passed() {
    let bench = Bench::new();
    let hook = bench.root.join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::rename(bench.program("hook", "#!/bin/sh\necho 'the linter says no' >&2\nexit 1\n"), hook)
        .unwrap();
    bench.agent(&works_then_promises());
    let ran = bench.ralph("--commit").run().with_code(0);
    ran.warns("the runner could not commit this iteration").warns("the linter says no");
    assert!(bench.prompt(2).contains("the linter says no"), "{}", bench.prompt(2));
}

#[test]
fn without_commit_the_runner_commits_nothing() {
    let bench = Bench::new();
    let before = bench.head();
    bench.agent(&works_then_promises());
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.head(), before);
}

// What the agent's output means.

#[test]
fn quoted_rate_limit_is_no_wait() {
    let words = "Error 429: rate limit exceeded. You have hit your usage limit, resets 11pm. overloaded_error";
    let bench = Bench::new();
    bench.agent(&format!("echo '{words}'; echo '{words}' >&2\n{}", works_then_promises()));
    let ran = bench.ralph("").run().with_code(0);
    assert!(!ran.output.contains("waiting"), "{ran}");
    let bench = Bench::new();
    bench.claude(&format!(
        "calls Bash '{words}'\nsays '{words} {PROMISE}'\nresult '{words}\\n{PROMISE}'"
    ));
    let ran = bench.ralph("").run().with_code(0);
    assert!(!ran.output.contains("waiting"), "{ran}");
    assert_eq!(bench.runs(), 1);
}

#[test]
fn tool_output_promises_nothing() {
    let bench = Bench::new();
    bench.claude(&format!(
        "calls Bash 'cat notes: {PROMISE}'\n\
         if [ $n = 2 ]; then says '{PROMISE}'; result '{PROMISE}'; else says 'I go on.'; result 'I go on.'; fi"
    ));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn promise_before_last_call_is_early() {
    let bench = Bench::new();
    bench.claude(&format!(
        "says 'I will say {PROMISE} when I am through.'\ncalls Bash\n\
         if [ $n = 2 ]; then says '{PROMISE}'; result '{PROMISE}'; else says 'Half of it.'; result 'Half of it.'; fi"
    ));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn echoed_prompt_is_no_answer() {
    for echo in ["cat", "sed 's/^/  /'"] {
        let bench = Bench::new();
        bench.agent(&format!(
            "{echo} \"$DESK/prompt-$n\"\nif [ $n = 3 ]; then {}; fi\necho 1 > made-$n",
            says(PROMISE)
        ));
        bench.ralph("").run().with_code(0);
        assert_eq!(bench.runs(), 3, "{echo}");
    }
}

#[test]
fn promise_shown_in_prompt_can_count() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    let call = bench.spool(&format!("ralph --change {CHANGE} --harness-command agent"));
    call.arg(&format!("At the end, say\n{PROMISE}")).run().with_code(0);
    assert_eq!(bench.runs(), 1);
}

#[test]
fn standard_error_is_no_answer() {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\n{} >&2", says(PROMISE)));
    bench.ralph("--max-iterations 2").run().with_code(3);
}

#[test]
fn promise_counts_however_output_ends() {
    for script in [
        format!("printf '%s' '{PROMISE}'"),
        format!("printf '%s\\r\\n' '{PROMISE}'"),
        format!(
            "head -c 300000 /dev/zero | tr '\\0' 'x'; printf '\\n\\377\\n%s\\n\\n' '{PROMISE}'"
        ),
    ] {
        let bench = Bench::new();
        bench.agent(&format!("echo $n > made.txt\n{script}"));
        bench.ralph("--quiet").run().with_code(0);
        assert_eq!(bench.runs(), 1, "{script}");
    }
}

#[test]
fn earlier_iteration_promise_is_over() {
    let bench = Bench::new();
    bench.agent(&format!(
        "echo $n > made.txt\nif [ $n = 1 ]; then {promise}; fi\n\
         if [ $n -ge 3 ]; then touch good; fi\nif [ $n = 4 ]; then {promise}; fi",
        promise = says(PROMISE)
    ));
    bench.ralph("").arg("--check").arg("test -f good").run().with_code(0);
    assert_eq!(bench.runs(), 4, "the check alone, in iteration 3, is no promise");
}

#[test]
fn earlier_run_promise_is_over() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    bench.ralph("").run().with_code(0);
    fs::remove_file(bench.beside("desk/runs")).unwrap();
    bench.agent("echo $n > made.txt");
    bench.ralph("--max-iterations 2").run().with_code(3);
}

// The task list.

#[test]
fn promise_with_open_tasks_is_refused() {
    let bench = Bench::with_tasks("- [x] 1.1 Made\n- [ ] 1.2 Make it\n- [ ] 1.10 Make more\n");
    bench.agent(&format!("echo $n > made.txt\n{}", says(PROMISE)));
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    ran.says("claimed done, but 2 tasks are open");
    let entry = &bench.iterations()[1];
    assert_eq!((&entry["promise"], &entry["done_check"]), (&json!("refused"), &json!(false)));
    assert!(bench.prompt(2).contains("1.2"), "{}", bench.prompt(2));
}

#[test]
fn empty_list_is_not_finished() {
    let agent = format!("echo $n > made.txt\n{}", says(PROMISE));
    for list in ["", " \n", "# Tasks\n", "```\n- [x] 1.1 An example\n```\n"] {
        let bench = Bench::with_tasks(list);
        bench.agent(&agent);
        bench.ralph("--max-iterations 2").run().with_code(2).warns("holds no task");
    }
}

#[test]
fn unused_lists_are_named() {
    let bench = Bench::with_tasks("- [x] 1.1 Made\n");
    bench.agent(&says(PROMISE));
    let change = bench.path(&in_change(""));
    fs::create_dir(change.join("backend")).unwrap();
    fs::write(change.join("backend/tasks.md"), "- [ ] 1.1 Make it\n").unwrap();
    bench.ralph("").run().with_code(2).warns("than a loop goes by: backend/tasks.md");
    fs::remove_file(change.join("tasks.md")).unwrap();
    bench.ralph("").run().with_code(2).warns("than a loop goes by: backend/tasks.md");
    fs::write(change.join("backend/tasks.md"), "No task.\n").unwrap();
    bench.ralph("--max-iterations 1").run().warns("No tasks.md found");
    std::os::unix::fs::symlink("/etc/passwd", change.join("tasks.md")).unwrap();
    bench.ralph("").run().with_code(2).warns("a symbolic link leads out of its folder");
    assert_eq!(bench.runs(), 1);
}

#[test]
fn other_lists_have_many_forms() {
    let bench = Bench::with_tasks("- [x] 1.1 Made\n");
    bench.agent(&says(PROMISE));
    let change = bench.path(&in_change(""));
    let beside = bench.beside("elsewhere");
    fs::create_dir_all(beside.join("deep")).unwrap();
    fs::write(beside.join("deep/tasks.md"), "- [ ] 1.1 Make it\n").unwrap();
    for (path, text) in [
        ("TASKS.md", "- [ ] 1.1 Make it\n"),
        ("tasks-backend.md", "- [ ] 1.1 Make it\n"),
        ("backend-tasks.md", "- [ ] 1.1 Make it\n"),
        ("tasks_backend.md", "- [ ] 1.1 Make it\n"),
        ("tasks2.md", "- [ ] 1.1 Make it\n"),
        ("TODO.md", "- [ ] 1.1 Make it\n"),
        ("tasks/a/b.md", "- [ ] 1.1 Make it\n"),
        ("tasks/01-login.md", "- [ ] 1.1 Make it\n"),
        ("api/Tasks.md", "- [ ] 1.1 Make it\n"),
        ("api/tasks.md", "\u{0}\u{1}- [ ] 1.1 Make it\n"),
        ("api/tasks.md", "| [ ] | Make it |\n"),
    ] {
        let path = change.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        bench.ralph("").run().with_code(2).warns("more lists than a loop goes by");
        fs::remove_file(&path).unwrap();
    }
    fs::remove_file(change.join("tasks.md")).unwrap();
    std::os::unix::fs::symlink("nowhere.md", change.join("tasks.md")).unwrap();
    bench.ralph("").run().with_code(2).warns("is a link to nothing");
    fs::remove_file(change.join("tasks.md")).unwrap();
    fs::write(change.join("tasks.md"), "- [x] 1.1 Made\n").unwrap();
    std::os::unix::fs::symlink(beside.join("deep"), change.join("linked")).unwrap();
    bench.ralph("").run().with_code(2).warns("loop goes by: linked/tasks.md");
    fs::remove_file(change.join("linked")).unwrap();
    bench.ralph("").run().with_code(0);
}

#[test]
fn new_list_is_named_at_end() {
    for (flags, code) in [("", 0), ("--strict", 11)] {
        let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
        bench.agent(&format!(
            "echo 1 > made.txt; sed -i 's/\\[ \\]/[x]/' {}; mkdir -p {}; echo '- [ ] 1.2 More' > {}",
            in_change("tasks.md"),
            in_change("b"),
            in_change("b/tasks.md")
        ));
        bench.ralph(flags).run().with_code(code).says("does not go by: b/tasks.md");
    }
}

#[test]
fn only_a_schema_names_its_list() {
    let bench = Bench::with_tasks("- [x] 1.1 Made\n");
    bench.agent(&says(PROMISE));
    let change = bench.path(&in_change(""));
    let schema = |name: &str, tracks: &str| {
        let text = format!("name: {name}\napply:\n  tracks: {tracks}\n");
        bench.write(format!("openspec/schemas/{name}/schema.yaml"), text);
    };
    schema("ours", "\"work/plan.md\"  # the list");
    schema("theirs", "steps.md");
    schema("many", "parts/**/*.md");
    for file in ["work/plan.md", "steps.md", "parts/a/one.md"] {
        let path = change.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "- [ ] 1.1 Make it\n").unwrap();
    }
    for (schema, list) in
        [("ours", "work/plan.md"), ("theirs", "steps.md"), ("many", "parts/a/one.md")]
    {
        fs::write(change.join(".openspec.yaml"), format!("schema: {schema}\n")).unwrap();
        bench.ralph("").run().with_code(2).warns(&format!("than a loop goes by: {list}\n"));
    }
    bench.write("openspec/schemas/flow/schema.yaml", "apply: {requires: [x], tracks: steps.md}\n");
    fs::write(change.join(".openspec.yaml"), "{schema: flow}\n").unwrap();
    bench.ralph("").run().with_code(2).warns("than a loop goes by: steps.md\n");
    fs::remove_file(change.join(".openspec.yaml")).unwrap();
    bench.write("openspec/config.yaml", "schema: theirs\n");
    bench.ralph("").run().with_code(2).warns("than a loop goes by: steps.md\n");
    bench.write("openspec/config.yaml", "schema: spec-driven\n");
    bench.ralph("").run().with_code(0);
}

#[test]
fn removed_list_is_not_finished() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.agent(&format!("rm -f {}\necho $n > made.txt\n{}", in_change("tasks.md"), says(PROMISE)));
    bench.ralph("--max-iterations 2").run().with_code(3);
    assert_eq!(bench.iterations()[1]["promise"], "refused");
}

#[test]
fn shortened_list_is_not_believed() {
    let bench = Bench::with_tasks("- [x] 1.1 Made\n- [ ] 1.2 Make it\n- [ ] 1.3 Try it\n");
    bench.agent(&format!(
        "if [ $n = 1 ]; then echo '- [x] 1.1 Made' > {path}; exit; fi\n\
         echo $n > made.txt; printf -- '- [x] 1.1 Made\\n- [x] 1.2 Make it\\n- [x] 1.3 Try it\\n' > {path}",
        path = in_change("tasks.md")
    ));
    let ran = bench.ralph("").run().with_code(0);
    ran.says("open tasks were taken out of the list: 1.2, 1.3");
    assert_eq!(bench.runs(), 2);
    let next = bench.prompt(2);
    assert!(next.contains("1.2") && next.contains("1.3"), "what was taken out is named:\n{next}");
}

// Arguments.

#[test]
fn prompts_are_neither_run_nor_lost() {
    let odd = "it's \"quoted\" $(touch run) `touch run` $HOME $& \\n * --max-iterations=3 -- end\n---\nsecond";
    for (harness, place) in [("agent", "input"), ("agent {prompt}", "argument")] {
        let bench = Bench::new();
        bench.program(
            "agent",
            "#!/bin/sh\nif [ $# = 0 ]; then cat > \"$DESK/got\"; else printf '%s' \"$1\" > \"$DESK/got\"; fi\n\
             echo '<promise>COMPLETE</promise>'\n",
        );
        let call = bench.spool(&format!("ralph --change {CHANGE}")).arg("--harness-command");
        call.arg(harness).arg("--").arg(odd).run().with_code(0);
        assert!(bench.desk("got").contains(odd), "{place}: {}", bench.desk("got"));
        assert_eq!(bench.state()["task"], odd);
        assert!(!bench.root.join("run").exists());
    }
}
