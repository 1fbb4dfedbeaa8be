//! What a person does beside a loop: short names, status, words to add, the lines of an iteration.

use crate::review::support::Built;
use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE, in_change, says};

/// A loop that stands at a gate in its first iteration.
fn at_the_gate(bench: &Bench) -> (crate::runner::support::Gate, crate::runner::ran::Running) {
    let gate = bench.gate();
    bench.agent(&format!("read -r _ < \"$DESK/gate\"\necho 1 > made.txt\n{}", says(PROMISE)));
    let mut running = bench.ralph("").start();
    running.wait_for("-- iteration 1");
    (gate, running)
}

#[test]
fn d11_short_forms_work_beside_loops() {
    let bench = Bench::new();
    let (_gate, running) = at_the_gate(&bench);
    for (command, words) in [
        ("pause --change 2-1", format!("The loop of `{CHANGE}` pauses")),
        ("resume --change add-ralph", format!("The loop of `{CHANGE}` continues")),
        ("log --change 002-01", String::new()),
        ("stop --change 2-1", format!("The loop of `{CHANGE}` has ended")),
    ] {
        bench.spool(command).run().with_code(0).says(&words);
    }
    running.finish().with_code(130);
    bench.spool("log --change 2-1").run().with_code(0).says(CHANGE);
    bench.spool("stop --change 2-1").run().with_code(1).warns(&format!("`{CHANGE}`"));
    bench.spool("log --change 9-9").run().with_code(1).warns("on a change that is called `9-9`\n");
}

#[test]
fn runner_and_session_loops_share_names() {
    let bench = Bench::new();
    let (_gate, running) = at_the_gate(&bench);
    for command in ["pause 2-1", "resume -c add-ralph", "status 2-1", "cancel -c 2", "log 002-01"] {
        bench.spool(command).run().with_code(0).says(CHANGE);
    }
    running.finish().with_code(130);
    bench.spool("stop 2-1").run().with_code(1).warns("no runner is running here");
    let unknown = bench.spool("stop 002-01_add-ralph-lop").run().with_code(1);
    unknown.warns("no loop here is called").warns(&format!("did you mean `{CHANGE}`?"));
    let told = bench.spool("log 2-1 --iteration 1").run().with_code(0);
    told.says(&format!("{CHANGE} · iteration 1"));
}

/// A feature can have a loop in a session and one of a runner at once: neither ends, or pauses, in place of the other.
#[test]
fn session_and_runner_loops_differ() {
    let bench = Bench::new();
    bench.write("specs/001-login/spec.md", "# Login\n");
    bench.write("specs/001-login/tasks.md", "- [ ] T001 Begin\n");
    bench.write(".specify/.current-feature", "001-login\n");
    let gate = bench.gate();
    bench.agent("read -r _ < \"$DESK/gate\"\nexit 1");
    let mut running = bench.spool("ralph Build --change 001-login --harness-command agent").start();
    running.wait_for("-- iteration 1");
    // Only the runner lives: it is meant by its name, and without one.
    bench.spool("pause 001-login").run().with_code(0).says("pauses after its iteration");
    bench.spool("resume").run().with_code(0).says("continues");
    bench.spool("start 001-login --ignore-checklists").run().with_code(0);
    for command in ["stop", "cancel", "stop 001-login", "stop login"] {
        let ran = bench.spool(command).run().with_code(1);
        ran.warns("--feature 001-login\n  --change 001-login");
    }
    bench.spool("stop --feature login").run().with_code(0).says("Loop cancelled.");
    bench.spool("stop login").run().with_code(0).says("The loop of `001-login` has ended");
    running.finish().with_code(130);
    drop(gate);
}

#[test]
fn cancelled_loop_keeps_its_next() {
    let bench = Bench::new();
    bench.write("specs/001-login/spec.md", "# Login\n");
    bench.write("specs/001-login/tasks.md", "- [ ] T001 Begin\n");
    bench.write(".specify/.current-feature", "001-login\n");
    bench.agent("true");
    let ralph = "ralph Build --change 001-login --harness-command agent --max-iterations 1";
    bench.spool("start 001-login --ignore-checklists").run().with_code(0);
    let ran = bench.spool(ralph).run();
    bench.spool("stop --feature login").run().with_code(0).says("Loop cancelled.");
    let status = bench.spool("status").run().with_code(0);
    status.says("ended (cancelled)").says("Next: continue with /speckit:implement 001-login");
    assert!(!status.output.contains("  Next: Run the same command"), "{ran}\n{status}");
}

#[test]
fn d11_status_tells_a_working_runner() {
    let bench = Bench::new();
    bench.write("specs/001-login/spec.md", "# Login\n");
    bench.write("specs/001-login/tasks.md", "- [ ] T001 Begin\n");
    bench.write(".specify/.current-feature", "001-login\n");
    let gate = bench.gate();
    bench.agent("read -r _ < \"$DESK/gate\"\necho 1 > made.txt; sed -i 's/\\[ \\]/[x]/' specs/001-login/tasks.md");
    let call = bench.spool("ralph Build --change 001-login --harness-command agent");
    let mut running = call.start();
    running.wait_for("-- iteration 1");
    let status = bench.spool("status").run().with_code(0);
    status.says("Loop: none in a session").says("Runner: 001-login: running, iteration 1 of 50");
    gate.open();
    running.finish().with_code(0);
    let status = bench.spool("status").run().with_code(0);
    assert!(
        status.output.contains("Loop: none\n") && !status.output.contains("Runner:"),
        "{status}"
    );
}

#[test]
fn d16_words_reach_the_only_loop() {
    let bench = Bench::new();
    bench.write(".spool/changes/003-01_other/proposal.md", "# Another\n");
    bench.spool("ralph --add-context").arg("Mind the gap").run().with_code(2);
    let (gate, running) = at_the_gate(&bench);
    let ran = bench.spool("ralph --add-context").arg("Mind the gap").run().with_code(0);
    ran.says(&format!("Every iteration of `{CHANGE}` gets these words"))
        .says("nothing was started");
    bench.spool("ralph --clear-context").run().with_code(0).says(CHANGE);
    gate.open();
    running.finish().with_code(0);
}

#[test]
fn d16_working_runner_has_exit_code() {
    let bench = Bench::new();
    let (gate, running) = at_the_gate(&bench);
    bench.ralph("").run().with_code(12).warns("error: ");
    gate.open();
    running.finish().with_code(0);
}

#[test]
fn d16_iterations_say_open_tasks() {
    let bench = Bench::with_tasks("- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n");
    bench.agent(&format!(
        "echo $n > made.txt; sed -i \"s/\\[ \\] 1\\.$n/[x] 1.$n/\" {}",
        in_change("tasks.md")
    ));
    let ran = bench.ralph("").run().with_code(0);
    ran.says("done: 1.1; 2 tasks are open").says("done: 1.2; 1 task is open");
    let journal = bench.state_lines("journal.jsonl");
    assert!(journal.iter().any(|entry| entry["words"] == "2 tasks are open"), "{journal:#?}");
}

#[test]
fn d16_usage_limit_shows_once() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 1 ]; then limit $(($(date +%s) + 1)); fi\ncalls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"
    ));
    let mut running = bench.ralph("--max-limit-wait 0").start();
    running.wait_for("waiting for the usage limit, ");
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish().with_code(0);
    assert_eq!(ran.output.matches("You have hit your 5-hour limit").count(), 1, "{ran}");
    ran.says("; usage limit\n").says("waiting for the usage limit, ");
    let history = bench.state_lines("history.jsonl");
    assert_eq!(history[0]["words"], "usage limit: You have hit your 5-hour limit");
}

#[test]
fn first_line_names_set_limits() {
    let bench = Bench::new();
    bench.claude(&format!("calls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"));
    let ran = bench.ralph("--max-runtime 8h --token-budget 100000 --max-usd 5").run().with_code(0);
    ran.says("at most 50 iterations, 8h, 100,000 tokens, $5.00\n");
}

#[test]
fn end_words_can_be_read_again() {
    let bench = Bench::new();
    let none = bench.spool("log --summary").run().with_code(1);
    none.warns("no loop of `spool ralph` has run");
    bench.agent(&format!("echo 1 > made.txt\n{}", says(PROMISE)));
    let ran = bench.ralph("").run().with_code(0);
    let (_, end) = ran.output.split_once("\nralph: done: ").unwrap();
    let end = format!("ralph: done: {end}");
    assert!(end.contains("Changed: 1 file"), "{end}");
    assert!(end.contains(" git diff ") && end.contains("and 1 new file that git does not track"));
    for name in ["", " 2-1", " --change 2-1"] {
        let again = bench.spool(&format!("log --summary{name}")).run().with_code(0).output.clone();
        assert_eq!(again, end, "{name}");
    }
    // The log of the change ends with it, that of all loops does not.
    let log = bench.spool("log --change 2-1").run().with_code(0).output.clone();
    assert!(log.ends_with(&format!("\n\n{end}")), "{log}");
    assert!(!bench.spool("log").run().with_code(0).output.contains("Changed:"));
    let json = bench.spool("log --summary --json").run().with_code(0).output.clone();
    let event: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&event["event"], &event["exit_code"]), (&"end".into(), &0.into()), "{event:#}");
    bench.spool("ralph --status").run().says(&format!("spool log --summary --change {CHANGE}"));
    bench.spool("status").run().says("`spool log --summary --change ID`");

    // Of a run that has not ended, the one before is named as such.
    let (_gate, running) = at_the_gate(&bench);
    bench
        .spool("log --summary")
        .run()
        .with_code(0)
        .says("Of an earlier run")
        .says("Changed: 1 file");
    let log = bench.spool("log --change 2-1").run().with_code(0).output.clone();
    assert!(!log.contains("Changed:"), "{log}");
    bench.spool("stop").run().with_code(0);
    running.finish().with_code(130);
    bench.spool("log --summary").run().with_code(0).says("--restart begins a new one");
}

#[test]
fn t11_agents_steer_no_run() {
    let spool = crate::support::scratch::SPOOL;
    for command in ["pause", "resume", "stop", "cancel"] {
        let bench = Bench::new();
        let call = format!("{spool} {command} --change {CHANGE} > \"$DESK/said\" 2>&1 || true");
        bench.agent(&format!("echo 1 > made.txt\n{call}\n{}", says(PROMISE)));
        bench.ralph("--max-iterations 2").run().with_code(0);
        let said = bench.desk("said");
        assert!(said.contains("only a person stops, pauses, resumes"), "{command}: {said}");
        assert!(said.contains("<blocked>"), "{command}: {said}");
    }
    let bench = Bench::new();
    let call = format!(
        "{spool} ralph --add-context 'Skip it' --change {CHANGE} > \"$DESK/said\" 2>&1 || true"
    );
    bench.agent(&format!("echo 1 > made.txt\n{call}\n{}", says(PROMISE)));
    bench.ralph("--max-iterations 2").run().with_code(0);
    assert!(
        bench.desk("said").contains("only a person stops, pauses, resumes"),
        "{}",
        bench.desk("said")
    );
}

#[test]
fn e8_plan_shows_added_context() {
    let bench = Bench::new();
    let add = format!("ralph --change {CHANGE} --add-context");
    bench.spool(&add).arg("Mind the gap").run().with_code(0);
    bench.ralph("--dry-run").run().with_code(0).says("Mind the gap");
}

const LIST: &str = "specs/001-login/tasks.md";
const REFUSED: &str = "Ticked in the loop before, not proved, and open: T001.";

/// A session's loop has refused the tick of T001, and has ended.
fn refused_tick() -> Built {
    let built = Built::open();
    let work = format!("echo more > src/more.rs; sed -i 's/\\[ \\]/[x]/' {LIST}\nresult worked");
    built.worker_and_reader(&work, "exit 1");
    built.spool("start 001-login").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    built.write(LIST, "- [x] T001 Write src/more.rs\n");
    let said = built.stop("All is done.");
    assert!(said.contains("T001") && said.contains("\"block\""), "{said}");
    built.spool("stop 001-login").run().with_code(0);
    built
}

#[test]
fn ticks_that_a_session_refused_are_open() {
    let built = refused_tick();
    let plan =
        built.spool("ralph --change 001-login --dry-run --harness claude").run().with_code(0);
    plan.says("- [ ] T001 Write src/more.rs");
    let ran = built.loop_with("").with_code(0);
    ran.warns(REFUSED).says("1/1").says("Proved: 1 by files");
    let again = built.loop_with("--restart --max-iterations 1");
    assert!(!again.errors.contains(REFUSED), "{again}");
}

#[test]
fn continued_run_opens_refused_ticks() {
    let built = refused_tick();
    built.worker_and_reader("echo 1 > src/a.rs\nresult worked", "exit 1");
    built.loop_with("--max-iterations 1").with_code(3).warns(REFUSED);
    built.write(LIST, "- [x] T001 Write src/more.rs\n");
    built.loop_with("--max-iterations 1").with_code(3).warns(REFUSED).says("0/1");
    built.spool("status").run().says("Tasks: 0 of 1 done");
}

#[test]
fn word_takes_no_refused_tick() {
    let built = refused_tick();
    built.loop_with("--proof word").with_code(0).warns(REFUSED).says("1/1");
    built.spool("status").run().says("Tasks: 1 of 1 done");
}

#[test]
fn run_names_tasks_that_left() {
    let built = Built::open();
    let work = format!("echo more > src/more.rs; sed -i 's/\\[ \\]/[x]/' {LIST}\nresult worked");
    built.worker_and_reader(&work, "exit 1");
    built.write(LIST, "- [ ] T001 Write src/more.rs\n- [ ] T002 Write src/b.rs\n");
    built.spool("start 001-login").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    built.write(LIST, "- [ ] T001 Write src/more.rs\n");
    assert!(built.stop("On it.").contains("have left tasks.md: T002"));
    built.spool("stop 001-login").run().with_code(0);
    let told = "Open in the loop before, and gone from tasks.md: T002.";
    built.loop_with("").with_code(0).warns(told).says("1/1");
}

#[test]
fn log_tells_failure_and_its_files() {
    let bench = Bench::new();
    bench.agent("echo x > \"f$n.txt\"\n[ \"$n\" -lt 3 ] || { echo broken >&2; exit 4; }");
    let ran = bench.ralph("--max-iterations 3").run();
    ran.says("failed: ");
    bench.spool("log").run().with_code(0).says("left with exit code 4");
    let story = bench.spool("log --failed").run().with_code(0);
    story.says("f3.txt");
    assert!(!story.output.contains("f1.txt"), "{story}");
}
