//! Time limits against an agent that will not end.

use std::time::Duration;

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

/// Runs one iteration with this limit and a grace of 1 s, and returns how long it took.
fn limited_to(limit: Duration) -> Duration {
    let place = Place::new(STUBBORN);
    let limit = format!("{}s", limit.as_secs());
    let output =
        place.run(&["--iteration-timeout", &limit, "--grace", "1s", "--max-iterations", "1"]);
    let history = place.history();
    assert_eq!(output.status.code(), Some(3), "{output:#?}");
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
    assert_eq!(history.len(), 1, "{history:#?}");
    assert_eq!(history[0]["timed_out"], true, "{history:#?}");
    assert!(history[0]["ended"].is_string(), "{history:#?}");
    Duration::from_secs_f64(history[0]["seconds"].as_f64().unwrap())
}

#[test]
fn a_limit_of_60_seconds_ends_the_iteration_within_limit_and_grace_and_a_second() {
    let limit = Duration::from_mins(1);
    let lasted = limited_to(limit);
    assert!(lasted >= limit && lasted <= limit + Duration::from_secs(2), "it lasted {lasted:?}");
}

#[test]
fn so_does_a_short_one() {
    let limit = Duration::from_secs(2);
    // A busy machine may miss it once, but not each time.
    let lasted: Vec<_> = (0..3).map(|_| limited_to(limit)).collect();
    let kept = lasted.iter().any(|it| *it >= limit && *it <= limit + Duration::from_secs(2));
    assert!(kept, "they lasted {lasted:?}");
}
