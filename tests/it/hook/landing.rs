//! The last iteration before a limit: it is asked to leave a handoff, and the next loop reads it.

use crate::hook::support::{Bench, FEATURE, numbered_tasks};

const ASKED: &str = "This is the last iteration before the limit. Unless all is done by its end: begin nothing new, leave a tree that builds, and write what is done, what is open and what comes next to .specify/specs/001-login/handoff.md.";

/// A stop after work, with the next box ticked.
fn works(bench: &Bench, done: usize) -> crate::hook::outcome::Outcome {
    bench.write_tasks(&numbered_tasks(9, done));
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").held().saying("One more.").run()
}

fn armed(arguments: &str) -> Bench {
    let bench = Bench::project().current_feature(FEATURE).tasks(&numbered_tasks(9, 0));
    bench.implement("s1", arguments).context();
    bench
}

#[test]
fn last_iteration_writes_the_handoff() {
    let bench = armed("--max-iterations 4");
    for done in 1..=2 {
        let stop = works(&bench, done);
        assert!(!stop.reason().contains("handoff"), "{stop}");
    }
    let stop = works(&bench, 3);
    assert!(stop.reason().ends_with(&format!("\n{ASKED}")), "{stop}");
    assert!(stop.reason().chars().count() < 900, "{stop}");
    let stop = works(&bench, 4);
    assert!(stop.told().contains("(max_iters)") && !stop.told().contains("handoff"), "{stop}");
    let asked: Vec<bool> = bench
        .journal("s1")
        .iter()
        .filter(|entry| entry["event"] == "stop")
        .map(|entry| entry["words"].as_str().unwrap().ends_with("; a handoff was asked for"))
        .collect();
    assert_eq!(asked, [false, false, true, false]);
}

#[test]
fn last_iteration_work_is_done() {
    let bench = armed("--max-iterations 2");
    assert!(works(&bench, 3).reason().contains(ASKED));
    works(&bench, 9).silent();
}

#[test]
fn newer_client_gets_one_sentence() {
    let bench = armed("--max-iterations 2");
    bench.transcript("s1").tool("Edit");
    let call = bench.stop("s1").by_plugin().held().saying("One more.");
    let call = call.variable("AI_AGENT", "claude-code_2-1-330_harness");
    let stop = call.variable("CLAUDE_CODE_SESSION_ID", "s1").run();
    let text = stop.answer.as_ref().unwrap()["hookSpecificOutput"]["additionalContext"].clone();
    let words = " Last iteration: leave a tree that builds, write what is done, what is open and what comes next to .specify/specs/001-login/handoff.md.";
    assert!(text.as_str().unwrap().ends_with(words), "{stop}");
}

#[test]
fn setting_switches_handoff_off() {
    let bench = Bench::project().current_feature(FEATURE).tasks(&numbered_tasks(9, 0));
    let bench = bench.settings("---\nlanding: false\n---\n");
    bench.write(".specify/specs/001-login/handoff.md", "# Handoff\n");
    let armed = bench.implement("s1", "--max-iterations 2");
    assert!(!armed.context().contains("handoff"), "{armed}");
    let stop = works(&bench, 1);
    assert!(!stop.reason().contains("handoff"), "{stop}");

    let bench = self::armed("--max-iterations 2");
    bench.write_state("{");
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").held().run();
    assert!(stop.reason().contains("Recovery options"), "{stop}");
    assert!(!stop.reason().contains("handoff"), "{stop}");
}

#[test]
fn next_loop_hears_the_handoff() {
    let bench = Bench::project().current_feature(FEATURE).tasks(&numbered_tasks(9, 0));
    bench.write(".specify/specs/001-login/handoff.md", "# Handoff\nT004 is half done.\n");
    let armed = bench.implement("s1", "");
    let words = "An earlier loop left handoff.md beside tasks.md: read it first. Where it and the files differ, the files count.";
    assert!(armed.context().contains(&format!("\n{words}")), "{armed}");
    assert!(armed.message().contains(words), "{armed}");
}

#[test]
fn ralph_loop_says_its_handoff() {
    let bench = Bench::folder();
    bench.command("s1", "speckit:ralph-loop", "\"Make it\" --max-iterations 3").run().context();
    let reasons: Vec<String> = (0..2)
        .map(|number| {
            bench.write(format!("made/{number}"), "x");
            bench.transcript("s1").tool("Edit");
            bench.stop("s1").held().saying("no").run().reason().to_owned()
        })
        .collect();
    assert!(!reasons[0].contains("last iteration"), "{}", reasons[0]);
    let words = "\nThis is the last iteration before the limit. Unless all is done by its end: begin nothing new, leave a tree that builds, and end your turn with what is done, what is open and what comes next.";
    assert!(reasons[1].ends_with(words), "{}", reasons[1]);
    assert!(reasons[1].chars().count() < 900, "{}", reasons[1]);
    bench.transcript("s1").tool("Edit");
    assert!(bench.stop("s1").held().saying("no").run().told().contains("(max_iters"));
}
