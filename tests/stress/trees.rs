//! Agents that leave a forest behind.

use ralph_speckit::world::Deadline;

use crate::place::{PATIENCE, Place};

fn nothing_is_left_of(script: &str) -> String {
    let place = Place::new(script);
    let output = place.run(&["--max-iterations", "1"]);
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
    assert_eq!(output.status.code(), Some(3), "{output:#?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn two_hundred_sessions_end_counted() {
    let said = nothing_is_left_of(
        "left=200
         child='echo there >>\"$NOTES\"; exec sleep 3600'
         while [ $left -gt 0 ]; do setsid sh -c \"$child\" & left=$((left - 1)); done
         until [ \"$(wc -l <\"$NOTES\")\" -ge 200 ]; do sleep 0.1; done",
    );
    assert!(said.contains("200 processes that the agent had left running were ended"), "{said}");
}

#[test]
fn two_hundred_deaf_end() {
    nothing_is_left_of(
        "trap '' TERM INT HUP
         left=200
         while [ $left -gt 0 ]; do setsid sleep 3600 & left=$((left - 1)); done",
    );
}

#[test]
fn late_forks_end() {
    nothing_is_left_of("(setsid sh -c '(sleep 3600 &)' &) ; exit 0");
    nothing_is_left_of("setsid sh -c 'setsid sh -c \"setsid sleep 3600 & exit\" & exit' & exit 0");
}

#[test]
fn endless_forks_end() {
    // Each round has one that starts the next and leaves, in the group of the agent.
    nothing_is_left_of("printf 'sleep 0.05; sh hop.sh & exit' >hop.sh; sh hop.sh & exit 0");
}
