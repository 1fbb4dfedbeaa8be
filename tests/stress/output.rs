//! Agents that print what no agent should: too much, one endless line, noise, or nothing any more.

use crate::support::limited::Ended;
use std::fs;
use std::path::Path;

use ralph_speckit::world::Deadline;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::{PATIENCE, Place};
use crate::support::amounts::few_or_all;
use crate::support::memory::peak_of;

/// How many bytes the agent prints: more than a log keeps.
fn flood() -> u64 {
    few_or_all(70 << 20, 200 << 20)
}

/// The most memory that a runner or a supervisor may take, in KiB: less than the lines, and less than the one line.
const MOST: u64 = 32 << 10;

#[test]
fn memory_stays_flat_under_floods() {
    let half = flood() / 2;
    let place = Place::new(&format!(
        "if [ -e \"$NOTES\" ]; then echo again >>\"$NOTES\"; exec sleep 3600; fi
         yes 'a line of output that goes on and on' | head -c {half}
         head -c {half} /dev/zero | tr '\\0' a
         cat /proc/$PPID/status >\"$NOTES.part\"
         mv \"$NOTES.part\" \"$NOTES\""
    ));
    let mut runner = place.start(&["--max-iterations", "0", "--grace", "300ms", "--quiet"]);
    place.wait_for("again");
    let peak = peak_of(Path::new(&format!("/proc/{}/status", runner.id())));
    kill_process(Pid::from_child(&runner), Signal::TERM).unwrap();
    assert_eq!(runner.ended().code(), Some(143));
    let history = place.history();
    assert_eq!(history[0]["exit_code"], 0, "{history:#?}");
    let log = place.state_folder().join(history[0]["log"].as_str().unwrap());
    let length = fs::metadata(log).unwrap().len();
    assert!(length > 64 << 20 && length < 66 << 20, "the log has {length} bytes");
    let supervisor = peak_of(&place.notes());
    assert!(peak < MOST && supervisor < MOST, "runner {peak} KiB, supervisor {supervisor} KiB");
}

#[test]
fn promise_behind_huge_line_counts() {
    let place = Place::new(
        "echo 1 >made.txt; head -c 20000000 /dev/zero | tr '\\0' a; printf '\\n<promise>COMPLETE</promise>\\n'",
    );
    let output = place.run(&["--max-iterations", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn random_bytes_log_but_never_steer() {
    let place = Place::new(
        "echo 1 >made.txt; head -c 3000000 /dev/urandom | tee \"$NOTES\"; printf '\\n<promise>COMPLETE</promise>\\n'",
    );
    let output = place.run(&["--max-iterations", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let screen = String::from_utf8(output.stdout).unwrap();
    let steering: Vec<char> =
        screen.chars().filter(|letter| letter.is_control() && *letter != '\n').collect();
    assert_eq!(steering, [] as [char; 0]);
    let name = place.history()[0]["log"].as_str().unwrap().to_owned();
    let log = fs::read(place.state_folder().join(name)).unwrap();
    let printed = fs::read(place.notes()).unwrap();
    assert!(log.starts_with(&printed), "the log has other bytes than the agent printed");
}

#[test]
fn closed_output_is_waited_for() {
    let place = Place::new(
        "echo '<promise>COMPLETE</promise>'; exec >&- 2>&-; sleep 1; echo late >late.txt",
    );
    let output = place.run(&["--max-iterations", "1"]);
    assert_eq!(output.status.code(), Some(0), "{output:#?}");
    assert_eq!(place.history()[0]["files"], serde_json::json!(["late.txt"]));
    assert!(place.root.join(Path::new("late.txt")).is_file());
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
}
