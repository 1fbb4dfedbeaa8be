//! What would keep a runner waiting for ever, or make it grow without end: files that are none.

use rustix::process::Signal;

use crate::support::{Bench, CHANGE, in_change};

const TASKS: &str = "- [ ] T001 Begin it\n- [ ] T002 End it\n";

/// Ways to put something else in the place of a task list, and what is said of it.
const IN_ITS_PLACE: [(&str, &str); 4] = [
    ("mkfifo \"$list\"", "a pipe"),
    ("ln -s /dev/zero \"$list\"", "a symbolic link leads out of the project"),
    ("truncate -s 5G \"$list\"", "at most 4194304 are read"),
    ("mkdir \"$list\"", "a folder"),
];

fn agent_that_runs(bench: &Bench, command: &str) {
    let list = in_change("tasks.md");
    bench.agent(&format!("list={list}\nrm -rf \"$list\"\n{command}\necho $n > made-$n.txt"));
}

#[test]
fn h1_whatever_stands_in_the_place_of_the_list_is_named_and_keeps_nobody_waiting() {
    for (command, what) in IN_ITS_PLACE {
        let bench = Bench::with_tasks(TASKS);
        agent_that_runs(&bench, command);
        let ran = bench.ralph("").run().with_code(10);
        ran.says("the task list stayed unreadable").warns(what);
    }
}

#[test]
fn h1_a_list_that_is_a_pipe_makes_nobody_deaf() {
    for signal in [Signal::TERM, Signal::INT] {
        let bench = Bench::with_tasks(TASKS);
        agent_that_runs(&bench, "mkfifo \"$list\"\necho there\nexec sleep 3600");
        let mut running = bench.ralph("--grace 1s").start();
        running.wait_for("there");
        running.signal(signal);
        running.finish().with_code(128 + signal.as_raw());
    }
    let bench = Bench::with_tasks(TASKS);
    agent_that_runs(&bench, "mkfifo \"$list\"\necho there\nexec sleep 3600");
    let mut running = bench.ralph("--grace 1s").start();
    running.wait_for("there");
    bench.spool(&format!("stop --change {CHANGE}")).run().with_code(0);
    let ran = running.finish();
    assert!(ran.code.is_some_and(|code| code != 0), "{ran}");
    assert_eq!(bench.state()["reason"], "stopped", "{ran}");
}
