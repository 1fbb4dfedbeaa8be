//! The two forms of an answer that continues a turn: a block, and more context where the client is known to take it.

use crate::hook::outcome::Outcome;
use crate::hook::support::{Bench, Call};
use serde_json::Value;

const OLD: &str = "claude-code_2-1-143_harness";
const NEW: &str = "claude-code_2-1-330_harness";

/// A stop as a client of this name has its hook started.
fn stop_by<'a>(bench: &'a Bench, client: &str) -> Call<'a> {
    bench.transcript("s1").tool("Edit");
    let call = bench.stop("s1").by_plugin().variable("AI_AGENT", client);
    // Older clients name the session only to their agent's programs.
    if client == OLD { call } else { call.variable("CLAUDE_CODE_SESSION_ID", "s1") }
}

/// The text for the agent in an answer of this form; the test fails for any other one.
fn context(stop: &Outcome) -> &str {
    let answer = stop.answer.as_ref().unwrap_or_else(|| panic!("silence: {stop}"));
    let mut keys: Vec<_> = answer.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["hookSpecificOutput", "systemMessage"], "{stop}");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "Stop");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap()
}

fn is_block(stop: &Outcome) {
    let answer = stop.answer.as_ref().unwrap_or_else(|| panic!("silence: {stop}"));
    let mut keys: Vec<_> = answer.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["decision", "reason", "systemMessage"], "{stop}");
    assert_eq!(answer["decision"], "block");
}

#[test]
fn known_client_gets_more_context() {
    let bench = Bench::armed();
    let stop = stop_by(&bench, NEW).run();
    assert!(context(&stop).starts_with("Continue feature: 001-login (Task 2/3, Iter 1)"), "{stop}");
    assert!(stop.message().contains("1 of 3 done"), "{stop}");
    assert!(context(&stop_by(&bench, "claude-code_2-1-163_harness").held().run()).contains("T002"));
    assert_eq!(bench.verdicts("s1"), ["continue", "continue"]);
}

#[test]
fn uncertain_client_is_blocked() {
    let others = [
        OLD,
        "claude-code_2-1-162_harness",
        "claude-code_2-1-330_agent",
        "claude-code_2-1-330-rc_harness",
        "claude-code/2.1.332",
        "goose",
        "",
    ];
    for client in others {
        let bench = Bench::armed();
        is_block(&stop_by(&bench, client).run());
    }
    let bench = Bench::armed();
    let transcript = bench.transcript("s1").tool("Edit");
    // An environment that the client of another session has left behind.
    let call = bench.stop("s1").by_plugin().variable("AI_AGENT", NEW);
    is_block(&call.variable("CLAUDE_CODE_SESSION_ID", "s0").run());
    transcript.tool("Edit");
    is_block(&bench.stop("s1").by_plugin().variable("AI_AGENT", NEW).held().run());
    bench.transcript("s1").tool("Edit");
    // Without the plugin the contract of spec 003 holds.
    let bare = bench.stop("s1").variable("AI_AGENT", NEW);
    is_block(&bare.variable("CLAUDE_CODE_SESSION_ID", "s1").held().run());
}

#[test]
fn late_event_is_blocked() {
    let bench = Bench::armed();
    let call = stop_by(&bench, NEW).variable("CLAUDE_PROJECT_DIR", bench.root.to_str().unwrap());
    is_block(&call.with_bytes("{").left_open().run());
}

#[test]
fn a_person_may_break_off_any_turn() {
    let bench = Bench::armed();
    context(&stop_by(&bench, NEW).run());
    // The first of a turn again: a person has pressed Esc and typed, or resumed a killed session.
    context(&stop_by(&bench, NEW).run());
    context(&stop_by(&bench, NEW).held().run());
    is_block(&stop_by(&bench, OLD).run());
    context(&stop_by(&bench, NEW).run());
}

#[test]
fn a_turn_that_failed_changes_nothing() {
    let bench = Bench::armed();
    context(&stop_by(&bench, NEW).run());
    bench.event("StopFailure", "s1").with("error", "rate_limit").by_plugin().run();
    context(&stop_by(&bench, NEW).run());
}

#[test]
fn settings_cannot_choose_the_ending_form() {
    let run = |word: &str, client: &str| {
        let bench = Bench::armed();
        bench.write(".claude/ralph-speckit.local.md", format!("---\ncontinue_with: {word}\n---\n"));
        stop_by(&bench, client).run()
    };
    context(&run("auto", NEW));
    is_block(&run("block", NEW));
    context(&run("context", NEW));
    context(&run("context", "goose"));
    is_block(&run("auto", "goose"));
    is_block(&run("context", OLD));
}

#[test]
fn task_loops_answer_alike() {
    let bench = Bench::project();
    bench.command("s1", "speckit:ralph-loop", "\"Make it\"").run();
    assert!(context(&stop_by(&bench, NEW).run()).ends_with("Original task: Make it"));
    let bench = Bench::ready().raw_state("{\"phase\":");
    let stop = stop_by(&bench, NEW).run();
    assert!(context(&stop).starts_with("ERROR: Corrupt state file"), "{stop}");
    let ended = stop_by(&bench, NEW).held().run();
    assert_eq!(ended.answer.as_ref().and_then(|answer| answer.get("decision")), None::<&Value>);
    assert_eq!(bench.verdicts("s1"), ["continue", "end corrupt_state"]);
}
