//! Kills at random moments, between tick and receipt too: no box with nothing behind it counts, and no honest one is opened
//! again.
//!
//! `STRESS_SEED=N` plays the moments of one night again, `STRESS_TICKS=N` plays another number.

use std::fs;
use std::process::Child;
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::{PATIENCE, Place};
use crate::support::amounts::few_or_all;
use crate::support::limited::Ended;
use crate::support::moments::Moments;

const TASKS: &str = "- [ ] 1.1 Write `f1.rs`\n- [ ] 1.2 Write `f2.rs`\n- [ ] 1.3 Write `f3.rs`\n- [ ] 1.4 Write `f4.rs`\n\
                     - [ ] 1.5 Write `f5.rs`\n- [ ] 1.6 Write `f6.rs`\n";
/// It ticks two boxes at most in a run. Those with an even number it ticks without any work at first.
const AGENT: &str = r#"
list=$(echo .spool/changes/*/tasks.md)
tick() { sed "s/\[ \] 1.$1 /[x] 1.$1 /" "$list" > "$NOTES.list" && mv "$NOTES.list" "$list"; }
left=2
for t in 1 2 3 4 5 6; do
    grep -q "\[ \] 1.$t " "$list" && [ $left -gt 0 ] || continue
    left=$((left - 1))
    if [ $((t % 2)) = 1 ] || [ -e "$NOTES.$t" ]; then
        echo "fn f$t() {}" > f$t.rs
    else
        : > "$NOTES.$t"
    fi
    sleep 0.03
    tick $t
    sleep 0.02
done
"#;

#[test]
fn kills_lose_no_honest_tick() {
    let latest = Duration::from_millis(600);
    let moments =
        Moments { variable: "STRESS_TICKS", plays: few_or_all(12, 40), at_once: 4, latest };
    moments.play(one_row_of_kills);
}

/// Kills three runners of one loop after this time each, lets the fourth come to the end, and returns how many had begun.
fn one_row_of_kills(number: u64, moment: Duration) -> u64 {
    let place = if number.is_multiple_of(2) { Place::with_git(AGENT) } else { Place::new(AGENT) };
    let list = format!(".spool/changes/{}/tasks.md", crate::place::CHANGE);
    place.write(&list, TASKS);
    let arguments = ["--max-iterations", "40", "--grace", "100ms"];
    let mut began = 0;
    for _ in 0..3 {
        let mut runner: Child = place.start(&arguments);
        pause(moment);
        kill_process(Pid::from_child(&runner), Signal::KILL).unwrap();
        runner.ended();
        place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
        began += u64::from(place.document().is_some());
    }
    let ran = place.run(&arguments);
    let told =
        format!("number {number} after {moment:?}: {}", String::from_utf8_lossy(&ran.stdout));
    assert_eq!(ran.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(place.read(&list), TASKS.replace("[ ]", "[x]"), "{told}");
    for honest in ["1.1", "1.3", "1.5"] {
        assert!(!told.contains(&format!("{honest} is open again")), "{told}");
    }
    let receipt_of = |task: u32| {
        receipts(&place).into_iter().rfind(|receipt| receipt["task"] == format!("1.{task}"))
    };
    for task in 1..=6 {
        let receipt = receipt_of(task).unwrap_or_else(|| panic!("1.{task} has no receipt: {told}"));
        assert_eq!(receipt["proof"], "files", "{receipt:#}\n{told}");
        assert_eq!(receipt["own"], json!([format!("f{task}.rs")]), "{told}");
    }
    began
}

/// What is kept outside of the project of each tick.
fn receipts(place: &Place) -> Vec<Value> {
    let projects = place.home().join(".local/state/ralph-speckit/projects");
    let folders = fs::read_dir(projects).into_iter().flatten().flatten();
    let name = format!("receipts-{}.jsonl", crate::place::CHANGE);
    let text = folders.filter_map(|folder| fs::read_to_string(folder.path().join(&name)).ok());
    let text: String = text.collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
