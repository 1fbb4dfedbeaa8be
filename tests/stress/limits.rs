//! Time limits against an agent that will not end.

use ralph_speckit::world::Deadline;

use crate::place::{PATIENCE, Place};

/// Ignores every polite signal, as do its child and its grandchild in a session of its own; all of them
/// hold its output.
const STUBBORN: &str = "
trap '' TERM INT HUP
(while :; do sleep 1; done) &
setsid sh -c 'while :; do sleep 1; done' &
echo ready
while :; do sleep 1; done
";

#[test]
fn stubborn_agent_ends_at_limit() {
    let place = Place::new(STUBBORN);
    let output =
        place.run(&["--iteration-timeout", "2s", "--grace", "1s", "--max-iterations", "1"]);
    let history = place.history();
    assert_eq!(output.status.code(), Some(3), "{output:#?}");
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
    assert_eq!(history.len(), 1, "{history:#?}");
    assert_eq!(history[0]["timed_out"], true, "{history:#?}");
    assert!(history[0]["ended"].is_string(), "{history:#?}");
    // Not before its limit; how soon after it is a matter of the machine.
    assert!(history[0]["seconds"].as_f64().unwrap() >= 2.0, "{history:#?}");
}
