//! What breaks into an iteration: a person, a limit of time in a pause, an error of the agent program.

use std::time::{Duration, UNIX_EPOCH};

use ralph_speckit::world;
use rustix::process::Signal;
use serde_json::json;

use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE, in_change, says};

const FIVE: &str = "- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n- [ ] 1.4 d\n- [ ] 1.5 e\n";

#[test]
fn d15_ticking_failure_breaks_no_row() {
    let bench = Bench::with_tasks(FIVE);
    bench.agent(&format!(
        "echo $n > made.txt; sed -i \"s/\\[ \\] 1\\.$n/[x] 1.$n/\" {}\necho 'too many turns' >&2\nexit 53",
        in_change("tasks.md")
    ));
    let ran = bench.ralph("--max-failures 3 --retry-pause 20ms").run().with_code(0);
    ran.says("ralph: done: all the work is done");
    assert_eq!(bench.runs(), 5);
    let waits = ran.output.matches("waiting for a pause after a failed run, 0.0 s").count();
    assert_eq!(waits, 4, "the pause does not grow: {ran}");
}

#[test]
fn d15_idle_failures_end_the_loop() {
    let bench = Bench::with_tasks(FIVE);
    bench.agent(&format!(
        "if [ $n = 2 ]; then echo $n > made.txt; sed -i 's/\\[ \\] 1.1/[x] 1.1/' {}; fi\nexit 1",
        in_change("tasks.md")
    ));
    let ran = bench.ralph("--max-failures 3").run().with_code(9);
    ran.says("3 runs in a row failed");
    assert_eq!(bench.runs(), 5);
}

#[test]
fn h3_time_limit_ends_paused_loops() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent("read -r _ < \"$DESK/gate\"\necho $n > made.txt");
    let mut running = bench.ralph("--max-runtime 1h").start();
    running.wait_for("-- iteration 1");
    bench.spool(&format!("pause --change {CHANGE}")).run().with_code(0);
    gate.open();
    running.wait_for("ralph: paused");
    bench.let_pass(MORE_THAN_AN_HOUR);
    running.finish().with_code(7).says("ralph: ended (timed_out): the time limit of 1 h");
    assert_eq!(bench.runs(), 1);
    assert_eq!(bench.state()["reason"], "timed_out");
}

/// An agent that makes two files and then works on until it is ended.
fn busy(bench: &Bench) -> crate::support::witness::Witness {
    let witness = Bench::witness();
    bench.agent(&format!(
        "if [ $n = 1 ]; then\n{}echo half > half.txt; echo old > old.txt; echo ready >&9; while :; do sleep 1; done; fi\n\
         cat half.txt > whole.txt\n{}",
        witness.held(),
        says(PROMISE)
    ));
    witness
}

#[test]
fn d8_next_run_commits_stopped_work() {
    let bench = Bench::new();
    let witness = busy(&bench);
    let running = bench.ralph("--commit").start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    ran.says("2 files of the interrupted iteration are not committed: half.txt, old.txt");
    let log = bench.spool(&format!("log --change {CHANGE}")).run().with_code(0);
    log.says("ended (stopped)  it was stopped with Ctrl-C");
    assert_eq!(
        log.output.split("\n\n").next().unwrap().matches("it was stopped").count(),
        1,
        "{log}"
    );
    bench.write("mine.txt", "a person's own\n");
    let ran = bench.ralph("--commit").run().with_code(0);
    ran.says("committed 2 files that the interrupted iteration 1 left");
    let log = bench.git(&["log", "--format=%s", "--name-only"]);
    let mine = log.lines().any(|line| line == "mine.txt");
    assert!(!mine && log.contains("half.txt") && log.contains("whole.txt"), "{log}");
    assert!(log.contains(&format!("ralph: {CHANGE} iteration 1 (interrupted)")), "{log}");
    let prompt = bench.prompt(2);
    assert!(prompt.contains("was interrupted") && prompt.contains("half.txt, old.txt"), "{prompt}");
}

#[test]
fn d8_later_personal_changes_stay_personal() {
    let bench = Bench::new();
    let witness = busy(&bench);
    let running = bench.ralph("--commit").start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    running.finish().with_code(130);
    bench.write("old.txt", "a person's own\n");
    let later = Duration::from_millis(world::now().millis()) + Duration::from_mins(1);
    let file = std::fs::File::options().write(true).open(bench.root.join("old.txt")).unwrap();
    file.set_modified(UNIX_EPOCH + later).unwrap();
    let ran = bench.ralph("--commit").run().with_code(0);
    ran.says("committed 1 file that the interrupted iteration 1 left");
    ran.warns("changed since the interrupted iteration, and not committed: old.txt");
    assert!(bench.git(&["status", "--porcelain"]).contains("?? old.txt"));
}

#[test]
fn d8_next_run_commits_killed_work() {
    let bench = Bench::new();
    let witness = busy(&bench);
    bench.write("before.txt", "dirty before the loop began\n");
    let running = bench.ralph("--commit").start();
    witness.wait_for("ready");
    running.signal(Signal::KILL);
    running.finish();
    witness.wait_for_the_end();
    let ran = bench.ralph("--commit").run().with_code(0);
    ran.says("committed 2 files that the interrupted iteration 1 left");
    let log = bench.git(&["log", "--format=%s", "--name-only"]);
    assert!(log.contains("half.txt") && !log.contains("before.txt"), "{log}");
    let prompt = bench.prompt(2);
    assert!(prompt.contains("was interrupted") && prompt.contains("half.txt, old.txt"), "{prompt}");
}

#[test]
fn d8_uncommitted_leftovers_reach_the_prompt() {
    let bench = Bench::new();
    let witness = busy(&bench);
    let running = bench.ralph("").start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    assert!(!ran.output.contains("not committed"), "nobody asked for commits: {ran}");
    bench.ralph("").run().with_code(0);
    let prompt = bench.prompt(2);
    assert!(prompt.contains("was interrupted") && prompt.contains("half.txt, old.txt"), "{prompt}");
    assert!(bench.git(&["status", "--porcelain"]).contains("?? half.txt"));
}

/// An agent that takes its time to end.
fn slow(bench: &Bench) -> crate::support::witness::Witness {
    let witness = Bench::witness();
    bench.agent(&format!(
        "{}trap 'echo asked >&9' TERM\necho ready >&9\nwhile :; do sleep 1; done",
        witness.held()
    ));
    witness
}

#[test]
fn d14_ctrl_c_answers_at_once() {
    let bench = Bench::new();
    let witness = slow(&bench);
    let mut running = bench.ralph("--grace 5m").start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    // The agent does not end: what is read now was said before its end.
    running.wait_for("ralph: ending the agent, it has 5m; Ctrl-C again kills it at once");
    running.signal(Signal::INT);
    running.finish().with_code(130);
    witness.wait_for_the_end();
}

#[test]
fn d14_narrow_live_line_shows_time() {
    let long = "Write the parser for the whole of the grammar, with all of its tests and examples";
    let bench = Bench::with_tasks(&format!("- [ ] 1.1 {long}\n"));
    let gate = bench.gate();
    bench.claude(&format!(
        "calls Bash; read -r _ < \"$DESK/gate\"\necho 1 > made.txt; sed -i 's/\\[ \\]/[x]/' {}\nresult done",
        in_change("tasks.md")
    ));
    let call = bench.ralph("").with_columns(80);
    let Some(mut running) = call.on_a_terminal() else { return };
    running.wait_for(" s of 1 h · 161 tokens · iteration 1/50 · 1.1 Write");
    gate.open();
    let ran = running.finish().with_code(0);
    let live =
        ran.output.split(['\r', '\n']).filter(|line| line.contains("· iteration 1/50 · 1.1 "));
    for line in live {
        assert!(line.contains("0/1 done · "), "{line:?}");
        assert!(line.contains(" s of 1 h · "), "{line:?}");
    }
}

#[test]
fn d14_loop_screen_answers_spool_stop() {
    let bench = Bench::new();
    let witness = slow(&bench);
    let mut running = bench.ralph("--grace 5m --json").start();
    witness.wait_for("ready");
    bench.spool(&format!("stop --wait 0 --change {CHANGE}")).run().with_code(0);
    running.wait_for("\"event\":\"ending\"");
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    let told = ran.events().into_iter().filter(|event| event["event"] == json!("ending")).count();
    assert_eq!(told, 1, "{ran}");
}

#[test]
fn d14_checks_answer_ctrl_c() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&says(PROMISE));
    let check = format!(
        "{}trap 'echo asked >&9' TERM\necho checking >&9; while :; do sleep 1; done",
        witness.held()
    );
    let mut running = bench.ralph("--grace 5m").arg("--check").arg(&check).start();
    witness.wait_for("checking");
    running.signal(Signal::INT);
    running.wait_for("ralph: ending");
    running.finish().with_code(130);
}
