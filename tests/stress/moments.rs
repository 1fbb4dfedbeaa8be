//! Signals at random moments: whatever the moment, the books are whole and nothing of the tree is left.
//!
//! `STRESS_SEED=N` plays the moments of one night again, `STRESS_MOMENTS=N` plays another number.

use crate::support::amounts::few_or_all;
use crate::support::limited::Ended;
use crate::support::moments::Moments;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use ralph_speckit::world::{self, Deadline};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::place::{PATIENCE, Place};

/// How many loops run side by side: they wait most of the time.
const AT_ONCE: usize = 6;
/// The latest moment: a runner is at its second iteration by then.
const LATEST: Duration = Duration::from_millis(2_500);

/// It does not listen when it is asked to end, and commits again and again. Its first run leaves by itself,
/// but for a grandchild in a session of its own; later ones never do.
const STUBBORN: &str = r#"
trap '' TERM INT HUP
echo began >>"$NOTES"
setsid sh -c 'while :; do sleep 1; done' &
runs=$(wc -l <"$NOTES")
commits=0
while [ "$runs" -gt 1 ] || [ "$commits" -lt 3 ]; do
    git commit --quiet --allow-empty --message "commit $commits of run $runs"
    commits=$((commits + 1))
    sleep 0.04
done
"#;

const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL];

#[test]
fn signals_leave_whole_books() {
    // A quarter of each kind.
    let plays = few_or_all(20, 100);
    let moments = Moments { variable: "STRESS_MOMENTS", plays, at_once: AT_ONCE, latest: LATEST };
    moments.play(|number, moment| one_moment(SIGNALS[(number % 4) as usize], moment));
}

/// Plays one moment and returns how many iterations had begun by then.
fn one_moment(signal: Signal, moment: Duration) -> u64 {
    let place = Place::with_git(STUBBORN);
    // Half of the repositories have no commit when the loop begins.
    if moment.as_millis().is_multiple_of(2) {
        place.commit("first");
    }
    let before = place.commits();
    let mut runner =
        place.start(&["--max-iterations", "0", "--grace", "300ms", "--no-progress", "0"]);
    world::pause(moment);
    kill_process(Pid::from_child(&runner), signal).unwrap();
    let status = runner.ended();
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
    // Now that everybody is dead, no run and no commit is added any more.
    let began = place.noted().len();
    let told = |what: &str| format!("{signal:?} after {moment:?}, {status}: {what}");
    let Some(document) = place.document() else {
        assert_eq!(began, 0, "{}", told("an agent ran without a state file"));
        assert_eq!(place.history(), [] as [Value; 0]);
        return 0;
    };
    if signal == Signal::KILL {
        assert_eq!(status.signal(), Some(9));
        let next = place.run_idle_agent();
        assert_eq!(next.status.code(), Some(3), "{}\n{next:#?}", told("the next run failed"));
        let document = place.document().unwrap();
        check_the_next_run(&document, &place.history(), &told("the next document"));
    } else {
        check_the_end(signal, status, &document, &told(&format!("{document:#}")));
        assert_eq!(document["iterations"].as_array().unwrap().len(), place.history().len());
    }
    check_the_iterations(&place, began, &before, &told("the history"));
    began as u64
}

/// A loop that was asked to end has written down how.
fn check_the_end(signal: Signal, status: ExitStatus, document: &Value, words: &str) {
    assert_eq!(document["status"], "stopped", "{words}");
    assert_eq!(document["reason"], "stopped", "{words}");
    assert_eq!(status.code(), Some(128 + signal.as_raw()), "{words}");
    assert_eq!(document["exit_code"], 128 + signal.as_raw(), "{words}");
    assert_ne!(document["ended_at"], "", "{words}");
    let iterations = document["iterations"].as_array().unwrap();
    assert!(iterations.iter().all(|iteration| iteration["ended"].is_string()), "{words}");
}

/// The run behind a killed one shows what that one left unfinished.
fn check_the_next_run(document: &Value, history: &[Value], words: &str) {
    let cut_off = history.iter().find(|iteration| iteration["interrupted"] == true);
    let shown = &document["iterations"][0];
    match cut_off {
        Some(cut_off) => {
            assert_eq!(shown["run_started_at"], cut_off["run_started_at"], "{words}: {shown:#}");
            assert_eq!(shown["commits"], cut_off["commits"], "{words}: {shown:#}");
        }
        None => assert_eq!(shown["run_started_at"], Value::Null, "{words}: {shown:#}"),
    }
}

/// Every iteration that began is in the history, once, with its end and its commits.
fn check_the_iterations(place: &Place, began: usize, before: &[String], words: &str) {
    let history = place.history();
    let words = format!("{words}: {history:#?}");
    assert!(history.iter().all(|iteration| iteration["ended"].is_string()), "{words}");
    assert!(history.len() >= began, "{began} iterations began; {words}");
    let mut numbers: Vec<u64> =
        history.iter().map(|iteration| iteration["n"].as_u64().unwrap()).collect();
    // The run of the idle agent begins to count anew.
    if place.document().unwrap()["status"] == "stuck" {
        assert_eq!(numbers.pop(), Some(1), "{words}");
    }
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "{words}");
    let recorded = history.iter().flat_map(|iteration| iteration["commits"].as_array().unwrap());
    let recorded = recorded.map(|name| name.as_str().unwrap().to_owned());
    let all: Vec<String> = before.iter().cloned().chain(recorded).collect();
    assert_eq!(all, place.commits(), "{words}");
}
