//! A transcript that its client writes later than the event of the stop: tool calls that do not show yet are not
//! taken for none.

use crate::hook::support::Bench;
use ralph_speckit::world;
use serde_json::json;
use std::time::Duration;

const WORDS: &str = "That is one. I stop here.";

/// A line of the agent, written at this time, in milliseconds since the Unix epoch.
fn line(bench: &Bench, block: &serde_json::Value, at: u64) {
    let millis = i64::try_from(at).unwrap();
    let time = jiff::Timestamp::from_millisecond(millis).unwrap();
    let line = json!({"type": "assistant", "isSidechain": false,
        "message": {"id": format!("msg_{at}"), "role": "assistant", "content": [block]},
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()});
    bench.transcript("s1").raw(line.to_string());
}

fn words(bench: &Bench, at: u64) {
    line(bench, &json!({"type": "text", "text": WORDS}), at);
}

fn call(bench: &Bench, at: u64) {
    line(bench, &json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}), at);
}

/// Both kinds of loops.
fn benches() -> [Bench; 2] {
    let feature = Bench::ready();
    feature.implement("s1", "").context();
    let task = Bench::folder();
    task.command("s1", "speckit:ralph-loop", "\"Write it\"").run().context();
    [feature, task]
}

fn stop(bench: &Bench) -> crate::hook::support::Running {
    bench.stop("s1").saying(WORDS).held().start()
}

#[test]
fn late_calls_delay_the_end() {
    for bench in benches() {
        stop(&bench).finish().reason();
        let second = world::now().millis();
        world::pause(Duration::from_millis(2));
        stop(&bench).finish().reason();
        // The words of the second turn arrive, the same as those of the third.
        words(&bench, second);
        let third = bench.stop("s1").saying(WORDS).held().with_stopped_clocks().start();
        world::pause(Duration::from_millis(150));
        let now = world::now().millis();
        call(&bench, now);
        words(&bench, now + 1);
        third.let_the_clocks_run();
        third.finish().reason();
        assert_eq!(bench.record("s1").ledger.idle_stops, 0);
    }
}

#[test]
fn late_transcript_proves_no_idleness() {
    for bench in benches() {
        for round in 0..6 {
            std::fs::write(bench.root.join("worked"), format!("{round}")).unwrap();
            let spoken = world::now().millis();
            world::pause(Duration::from_millis(2));
            stop(&bench).finish().reason();
            words(&bench, spoken);
        }
    }
}

#[test]
fn talking_agent_waits_for_no_transcript() {
    for bench in benches() {
        stop(&bench).finish().reason();
        stop(&bench).finish().reason();
        let told = stop(&bench).finish();
        assert!(told.told().contains("no_progress"), "{told}");
    }
}

#[test]
fn talking_agent_stops_with_full_transcript() {
    for bench in benches() {
        for _ in 0..2 {
            words(&bench, world::now().millis());
            stop(&bench).finish().reason();
        }
        let third = bench.stop("s1").saying(WORDS).held().with_stopped_clocks().start();
        std::fs::write(bench.root.join("notes-of-a-person"), "changed meanwhile").unwrap();
        words(&bench, world::now().millis());
        third.let_the_clocks_run();
        let told = third.finish();
        assert!(told.told().contains("no_progress"), "{told}");
    }
}
