//! Supervisors that are killed or stopped at random moments: nothing of the tree is left, whoever dies.
//!
//! `STRESS_SEED=N` plays the moments of one night again, `STRESS_SUPERVISORS=N` plays another number.

use crate::support::amounts::few_or_all;
use crate::support::limited::Limited;
use crate::support::moments::Moments;
use std::fs;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ralph_speckit::world::{self, Deadline};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::{PATIENCE, Place};

/// How many loops run side by side.
const AT_ONCE: usize = 4;
/// The latest moment after the start.
const LATEST: Duration = Duration::from_millis(900);

/// It does not listen, and leaves grandchildren in sessions of their own, more and more of them.
const FOREST: &str = r#"
trap '' TERM INT HUP
echo began >>"$NOTES"
while :; do
    setsid sh -c 'trap "" TERM HUP; (setsid sleep 3600 &) ; sleep 3600' &
    sleep 0.1
done
"#;

#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The supervisor is killed; the runner goes on.
    Killed,
    /// The supervisor is stopped; the runner goes on.
    Stopped,
    /// The supervisor is stopped, then the runner is killed.
    StoppedAndOrphaned,
}

#[test]
fn h4_supervisor_leaves_nothing() {
    let told = AtomicU64::new(0);
    let fates = [Fate::Killed, Fate::Stopped, Fate::Killed, Fate::StoppedAndOrphaned];
    let plays = few_or_all(16, 60);
    let rounds =
        Moments { variable: "STRESS_SUPERVISORS", plays, at_once: AT_ONCE, latest: LATEST };
    let met = rounds.play(|number, moment| {
        let (hit, warned) = one_round(fates[(number % 4) as usize], moment);
        told.fetch_add(u64::from(warned), Ordering::Relaxed);
        u64::from(hit)
    });
    let told = told.into_inner();
    println!("{met} supervisors met their fate, {told} were told of");
    assert!(told > 0, "nobody was told of a killed supervisor");
}

/// Plays one round; returns whether there was a supervisor, and whether the person was told of its death.
fn one_round(fate: Fate, moment: Duration) -> (bool, bool) {
    let place = Place::new(FOREST);
    let arguments = [
        "--max-iterations",
        "1",
        "--iteration-timeout",
        "2s",
        "--grace",
        "200ms",
        "--check",
        "true",
    ];
    let mut runner = place.start_heard(&arguments);
    world::pause(moment);
    let supervisor = supervisor_of(&runner);
    if let Some(supervisor) = supervisor {
        let signal = if matches!(fate, Fate::Killed) { Signal::KILL } else { Signal::STOP };
        // One that has just ended by itself met no fate.
        let _ = kill_process(supervisor, signal);
    }
    if matches!(fate, Fate::StoppedAndOrphaned) {
        runner.kill().unwrap();
        runner.wait().unwrap();
        place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
        return (supervisor.is_some(), false);
    }
    let output = runner.finish();
    // The runner has ended, and so has everything that it started: no time is given.
    let alive = place.alive();
    assert!(alive.is_empty(), "{fate:?} after {moment:?}: {alive:#?}\n{output:#?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    (supervisor.is_some(), errors.contains("the supervisor of the agent program was killed"))
}

/// The supervisor of a runner, `None` when it has none now. One that leads no session yet has only begun to be one, and
/// nothing continues it where it is stopped before that.
fn supervisor_of(runner: &Child) -> Option<Pid> {
    let name = format!("spool-keeper of {}", runner.id());
    let children = format!("/proc/{0}/task/{0}/children", runner.id());
    let children = fs::read_to_string(children).unwrap_or_default();
    let is_supervisor = |id: &&str| {
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).starts_with(&name) && leads_a_session(id)
    };
    let id = children.split_whitespace().find(is_supervisor)?;
    Pid::from_raw(id.parse().ok()?)
}

fn leads_a_session(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    behind_name.split_whitespace().nth(3) == Some(id)
}

#[test]
fn h4_next_runner_ends_leftovers() {
    let place = Place::new(FOREST);
    let mut runner = place.start(&["--max-iterations", "1"]);
    place.wait_for("began");
    let supervisor = supervisor_of(&runner).unwrap();
    // Nobody is left who could end the tree.
    kill_process(Pid::from_child(&runner), Signal::STOP).unwrap();
    kill_process(supervisor, Signal::KILL).unwrap();
    runner.kill().unwrap();
    runner.wait().unwrap();
    assert!(!place.alive().is_empty());
    let output = place.run_idle_agent();
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("that a killed runner"), "{output:#?}");
}
