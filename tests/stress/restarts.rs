//! A runner that is killed, and started again at once.

use ralph_speckit::world::Deadline;

use crate::place::{PATIENCE, Place};

/// Does not listen, and commits for as long as it lives.
const STUBBORN: &str = r#"
trap '' TERM INT HUP
echo began >>"$NOTES"
while :; do git commit --quiet --allow-empty --message more; sleep 0.05; done
"#;

#[test]
fn next_runner_waits_for_trees() {
    let place = Place::with_git(STUBBORN);
    place.commit("first");
    let before = place.commits();
    // Without its runner, a tree has two seconds.
    let mut runner = place.start(&["--grace", "10m"]);
    place.wait_for("began");
    runner.kill().unwrap();
    runner.wait().unwrap();
    let next = place.run_idle_agent();
    let (alive, commits) = (place.alive(), place.commits());
    assert_eq!(next.status.code(), Some(3), "{next:#?}");
    assert_eq!(alive, [] as [String; 0]);
    let history = place.history();
    assert_eq!(history.len(), 2, "{history:#?}");
    let cut_off: Vec<&str> = history[0]["commits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|commit| commit.as_str().unwrap())
        .collect();
    assert_eq!(cut_off, commits[before.len()..], "{history:#?}");
    assert!(!cut_off.is_empty());
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
}
