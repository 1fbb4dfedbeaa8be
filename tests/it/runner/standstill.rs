//! A person stops the runner (Ctrl-Z): no limit counts that time, and the screen says so.

use std::fs;
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::process::Signal;

use crate::runner::ran::Running;
use crate::runner::support::{Bench, PROMISE, says};
use crate::support::witness::PATIENCE;

/// A process with its id, its state as the system has it, and its command line.
type Seen = (i32, char, String);

/// The living processes that descend from a runner's supervisor.
fn tree_of(bench: &Bench) -> Vec<Seen> {
    let runner = bench.state()["pid"].as_u64().unwrap();
    let name = format!("spool-keeper of {runner}");
    let ids = || {
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    };
    let command = |id: i32| {
        fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default().replace('\0', " ")
    };
    let all: Vec<(Seen, i32)> = ids()
        .filter_map(|id: i32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?.chars().next()?;
            Some(((id, state, command(id)), fields.next()?.parse().ok()?))
        })
        .collect();
    let root = all.iter().find(|((_, _, command), _)| command.starts_with(&name));
    let Some(((root, ..), _)) = root else { return Vec::new() };
    // A shell waits in `vfork`, where no signal reaches it, until its new child runs another program: behind one that is
    // stopped, it stands still as well.
    let waits = |(id, state, _): &Seen| {
        *state == 'D' && all.iter().any(|((_, state, _), parent)| parent == id && *state == 'T')
    };
    let (mut tree, mut parents) = (Vec::new(), vec![*root]);
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|(_, other)| *other == parent);
        for (seen, _) in children {
            parents.push(seen.0);
            if seen.1 != 'Z' {
                let mut seen = seen.clone();
                seen.1 = if waits(&seen) { 'T' } else { seen.1 };
                tree.push(seen);
            }
        }
    }
    tree
}

/// Waits until all of a tree is in such a state, or none of it that is not named.
#[track_caller]
fn wait_until_all(bench: &Bench, what: &str, is_so: impl Fn(&Seen) -> bool) {
    let deadline = Deadline::after(PATIENCE);
    loop {
        let tree = tree_of(bench);
        if !tree.is_empty() && tree.iter().all(&is_so) {
            return;
        }
        assert!(!deadline.is_over(), "{what}: {tree:#?}");
        pause(Duration::from_millis(20));
    }
}

fn is_stopped((_, state, _): &Seen) -> bool {
    *state == 'T'
}

/// Its own limits, each shorter than it is stopped.
const LIMITS: &str = "--iteration-timeout 1h --idle-timeout 1h --max-runtime 1h --grace 1s";
/// So long it is stopped.
const STOPPED: Duration = Duration::from_hours(2);

#[test]
fn ctrl_z_stops_agent_and_runner() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!(
        "setsid sh -c 'while :; do sleep 0.05; done' &\nsleep 600 & kill -STOP $!; echo $! > \"$DESK/own\"\n\
         echo there; read -r _ < \"$DESK/gate\"\n{}",
        says(PROMISE)
    ));
    let shell = "set -m; \"$@\"; echo \"suspended: $?\"; read -r key; fg; echo \"left: $?\"";
    let call = bench.ralph(LIMITS).started_by(&["sh", "-c", shell, "sh"]);
    let Some(mut running) = call.on_a_terminal() else { return };
    running.wait_for("there");
    running.types("\x1a");
    running.wait_for("suspended: 14");
    wait_until_all(&bench, "the agent works on", is_stopped);
    // The agent, the loop that it has started, and what it has stopped itself; a `sleep` of the loop may just be over.
    assert!(tree_of(&bench).len() >= 3, "{:#?}", tree_of(&bench));
    bench.let_pass(STOPPED);
    wait_until_all(&bench, "the agent works on", is_stopped);
    running.types("\n");
    running.wait_for("ralph: this program was stopped for ");
    // What the agent itself had stopped stays so.
    let own: i32 = bench.desk("own").trim().parse().unwrap();
    wait_until_all(&bench, "the agent stands still", |process| {
        is_stopped(process) == (process.0 == own)
    });
    gate.open();
    let ran = running.finish();
    ran.says("and its agent with it; that time is not counted")
        .says("on the agent's word alone: no check")
        .says("left: 0");
    let iteration = &bench.iterations()[0];
    assert!(iteration["seconds"].as_f64().unwrap() < 3600.0, "{iteration:#}");
    assert!(iteration.get("timed_out").is_none(), "{iteration:#}");
    let state = bench.state();
    assert_eq!(state["status"], "done");
    assert!(state["ran_seconds"].as_f64().unwrap() < 3600.0, "{state:#}");
}

#[test]
fn check_keeps_its_limit_over_standstill() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&says(PROMISE));
    let check = "echo > \"$DESK/checking\"; read -r _ < \"$DESK/gate\"";
    let mut running = bench.ralph("--check-timeout 3600").arg("--check").arg(check).start();
    let deadline = Deadline::after(PATIENCE);
    while !bench.beside("desk/checking").exists() {
        assert!(!deadline.is_over(), "no check has begun");
        pause(Duration::from_millis(10));
    }
    running.signal(Signal::STOP);
    wait_until_all(&bench, "the check works on", is_stopped);
    bench.let_pass(STOPPED);
    running.signal(Signal::CONT);
    running.wait_for("ralph: this program was stopped for ");
    gate.open();
    running.finish().with_code(0).says(" passed: exit code 0");
}

/// A runner whose agent does not listen and has a child in a session of its own, stopped with all of it.
fn stopped(bench: &Bench) -> (Running, crate::support::witness::Witness) {
    let witness = Bench::witness();
    bench.agent(&witness.stubborn());
    let running = bench.ralph("--grace 500ms").start();
    witness.wait_for("ready");
    running.signal(Signal::STOP);
    wait_until_all(bench, "the agent works on", is_stopped);
    (running, witness)
}

#[test]
fn stopped_runner_killed_leaves_nothing() {
    let bench = Bench::new();
    let (running, witness) = stopped(&bench);
    running.signal(Signal::KILL);
    running.finish();
    witness.wait_for_the_end();
}

#[test]
fn stopped_runner_hears_spool_stop() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench.agent(&format!(
        "{}trap 'echo asked >&9; exit' TERM\necho ready >&9\nwhile :; do sleep 0.1; done",
        witness.held()
    ));
    let running = bench.ralph("--grace 1m").start();
    witness.wait_for("ready");
    running.signal(Signal::STOP);
    wait_until_all(&bench, "the agent works on", is_stopped);
    bench.spool("stop --wait 60").run().with_code(0).says("has ended");
    witness.wait_for("asked");
    running.finish().with_code(130);
    witness.wait_for_the_end();
    let bench = Bench::new();
    let (running, witness) = stopped(&bench);
    bench.spool("stop --wait 60").run().with_code(0).says("has ended");
    running.finish().with_code(130);
    witness.wait_for_the_end();
}

#[test]
fn stopped_runner_ends_with_its_terminal() {
    let bench = Bench::new();
    let (running, witness) = stopped(&bench);
    // As the system does it.
    running.signal(Signal::HUP);
    running.signal(Signal::CONT);
    running.finish().with_code(129);
    witness.wait_for_the_end();
}
