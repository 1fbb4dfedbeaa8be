//! Pauses: asked for, after a failed turn, and the turn that a person breaks off, which is none.

use crate::hook::outcome::Outcome;
use crate::hook::support::{ALL_DONE, Bench};
use crate::ralph::cli::{printed, refused, spool};
use crate::ralph::{PROMISE, armed, await_file, change, ralph, works_and_says};
use crate::support::has::Has;
use serde_json::{Value, json};

/// The events in the journal of session `s1`, with their words where they are no stop.
fn story(bench: &Bench) -> Vec<String> {
    let line = |entry: Value| {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        match text("event").as_str() {
            "stop" => text("verdict"),
            event => format!("{event}: {}", text("words")),
        }
    };
    bench.journal("s1").into_iter().skip(1).map(line).collect()
}

/// The line on the loop in `spool status`.
fn loop_line(bench: &Bench) -> String {
    let status = printed(&spool(bench, None, &["status"]));
    let line = status.lines().find(|line| line.trim_start().starts_with("Loop: "));
    line.unwrap_or_default().trim().to_owned()
}

/// The status says since when, why, and the way on, each once.
fn assert_paused(bench: &Bench, why: &str, next: &str) {
    let status = printed(&spool(bench, None, &["status"]));
    for words in ["\n  Loop: paused for ", why, next] {
        assert_eq!(status.matches(words).count(), 1, "{words}:\n{status}");
    }
    assert!(status.contains(&format!("\n  Waiting: for the end of a pause ({why})\n")), "{status}");
    assert!(status.ends_with(&format!("\n  Next: {next}\n")), "{status}");
}

fn failed_turn(bench: &Bench) -> Outcome {
    bench.event("StopFailure", "s1").with("error", "rate_limit").run()
}

#[test]
fn paused_loop_counts_nothing() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    let before = bench.record("s1").ledger;
    let said = printed(&spool(&bench, None, &["pause"]));
    assert!(said.starts_with("Ralph-speckit: paused: Make it · 1 iteration"), "{said}");
    assert!(said.contains("`spool resume` continues"), "{said}");
    assert_paused(&bench, "asked for in a terminal", "spool resume --session s1");

    let stop = works_and_says(&bench, "I go on.");
    let words = "Ralph-speckit: paused: Make it · asked for in a terminal · nothing is counted\nNext: `spool resume` in a terminal continues the loop; /speckit:cancel-ralph ends it.";
    assert_eq!(stop.told(), words);
    stop.logged("Waiting: the end of a pause (asked for in a terminal)");
    for _ in 0..12 {
        bench.stop("s1").held().run().silent().logged("Waiting: the end of a pause");
    }
    assert_eq!(bench.record("s1").ledger, before, "nothing is counted");

    let said = printed(&spool(&bench, None, &["resume"]));
    assert!(said.starts_with("Ralph-speckit: continued: Make it · 1 iteration"), "{said}");
    assert_eq!(loop_line(&bench), "Loop: live");
    let stop = works_and_says(&bench, "Now?");
    assert!(stop.reason().contains("iteration 2 of 50"), "{stop}");
    let mut expected = vec!["continue", "paused: asked for in a terminal"];
    expected.extend(["wait"; 13]);
    expected.extend(["resumed: asked for in a terminal", "continue"]);
    assert_eq!(story(&bench), expected);
}

#[test]
fn pause_hides_no_done_work() {
    let bench = armed("\"Make it\"");
    printed(&spool(&bench, None, &["pause"]));
    works_and_says(&bench, "no").told();
    assert!(works_and_says(&bench, PROMISE).told().contains("PROMISE_ACCEPTED"));
    assert!(loop_line(&bench).starts_with("Loop: done: "), "{}", loop_line(&bench));
    let error = refused(&spool(&bench, None, &["resume"]));
    assert!(error.contains("no loop is paused here"), "{error}");
}

#[test]
fn pause_work_counts_afterwards() {
    let bench = armed("\"Make it\" --min-tool-calls 3");
    printed(&spool(&bench, None, &["pause"]));
    works_and_says(&bench, "one").told();
    works_and_says(&bench, "two").silent();
    printed(&spool(&bench, None, &["resume"]));
    works_and_says(&bench, PROMISE)
        .told()
        .has("PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 1 iteration");
}

#[test]
fn pause_checks_need_a_claim() {
    let runs = |bench: &Bench| {
        std::fs::read_to_string(bench.path("../runs")).unwrap_or_default().lines().count()
    };
    let bench = armed("\"Make it\" --check 'echo x >> ../runs'");
    printed(&spool(&bench, None, &["pause"]));
    works_and_says(&bench, "It is made.").told();
    assert_eq!(runs(&bench), 0, "checks alone decide, and nobody claims anything");
    let feature = || {
        let check = "---\nchecks:\n  - echo x >> ../runs; exit 1\n---\n";
        let bench = Bench::ready().settings(check);
        bench.implement("s1", "").context();
        bench.write_tasks(ALL_DONE);
        printed(&spool(&bench, None, &["pause"]));
        bench
    };
    let bench = feature();
    for _ in 0..3 {
        bench.stop("s1").saying("What do you think?").run();
    }
    assert_eq!(runs(&bench), 0, "each answer to a person is a stop");
    bench.stop("s1").saying("ALL_TASKS_COMPLETE").run().silent();
    assert_eq!(runs(&bench), 1, "the claim is looked at");
    assert_eq!(bench.verdicts("s1"), ["wait"; 4]);
}

#[test]
fn pause_during_checks_counts() {
    let check = "echo > ../begun; until test -f ../go; do sleep 0.02; done; exit 1";
    let bench = armed(&format!("\"Make it\" --check '{check}'"));
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").start();
    await_file(&bench.path("../begun"));
    printed(&spool(&bench, None, &["pause"]));
    bench.write("../go", "");
    assert!(stop.finish().told().starts_with("Ralph-speckit: paused: "));
    assert_eq!(bench.record("s1").ledger.iterations, 0);
}

#[test]
fn a_features_loop_pauses_too() {
    let bench = Bench::armed();
    let said = printed(&spool(&bench, None, &["pause"]));
    let words = "Ralph-speckit: paused: 001-login · ";
    assert!(said.starts_with(&format!("{words}0 iterations")), "{said}");
    assert_paused(&bench, "asked for in a terminal", "spool resume --session s1");
    let stop = bench.stop("s1").run();
    assert!(stop.told().starts_with(words) && stop.told().ends_with("/speckit:cancel ends it."));
    bench.stop("s1").run().silent();
    printed(&spool(&bench, None, &["resume"]));
    assert!(bench.stop("s1").run().reason().starts_with("Continue feature: 001-login"));
    assert_eq!(bench.verdicts("s1"), ["wait", "wait", "continue"]);
    // All is done: a pause is no obstacle.
    printed(&spool(&bench, None, &["pause"]));
    bench.write_tasks(ALL_DONE);
    bench.stop("s1").run().silent();
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
}

#[test]
fn arming_and_cancelling_end_a_pause() {
    let bench = Bench::armed();
    printed(&spool(&bench, None, &["pause"]));
    bench.implement("s1", "").context();
    bench.stop("s1").run().reason();
    printed(&spool(&bench, None, &["pause"]));
    bench.cancel("s1", "").reason();
    bench.stop("s1").run().silent();
    let error = refused(&spool(&bench, None, &["resume"]));
    assert!(error.contains("no loop is paused here"), "{error}");

    let bench = armed("\"Make it\"");
    printed(&spool(&bench, None, &["pause"]));
    ralph(&bench, "s1", "\"Make that\"").reason().has("this session has a ralph loop");
    ralph(&bench, "s1", "\"Make that\" --replace").context();
    works_and_says(&bench, "no").reason();
    printed(&spool(&bench, None, &["pause"]));
    bench.command("s1", "speckit:cancel-ralph", "").run().reason();
    assert_eq!(loop_line(&bench), "Loop: ended (cancelled)");
}

#[test]
fn meant_loop_is_found() {
    let bench = Bench::ready();
    let error = refused(&spool(&bench, None, &["pause"]));
    assert!(error.contains("no loop is live here; one that is only armed begins when"), "{error}");
    bench.implement("s1", "").context();
    ralph(&bench, "s2", "\"Make it\"").context();
    let error = refused(&spool(&bench, None, &["pause"]));
    error.has("several loops are live here\nname one of them:\n  --feature 001-login\n  --session s2  Make it\n");
    let error = refused(&spool(&bench, None, &["pause", "--session", "s3"]));
    assert!(error.contains("no session with a loop here is called `s3`\ndid you mean"), "{error}");

    let said = printed(&spool(&bench, Some("s2"), &["pause"]));
    assert!(said.starts_with("Ralph-speckit: paused: "), "{said}");
    let stop = bench.stop("s2").run();
    assert!(stop.told().contains(" · asked for inside of its session · "), "{stop}");
    bench.stop("s1").run().reason();
    // Only one of the two is paused.
    assert!(
        printed(&spool(&bench, None, &["resume"])).starts_with("Ralph-speckit: continued: Make it")
    );
    printed(&spool(&bench, None, &["pause", "--session", "s1"]));
    printed(&spool(&bench, None, &["pause", "--session", "s2"]));
    let error = refused(&spool(&bench, None, &["resume"]));
    assert!(error.contains("several loops are paused here"), "{error}");
    let error = refused(&spool(&bench, None, &["resume", "--session", "s3"]));
    assert!(error.contains("no session with a loop here is called `s3`\ndid you mean"), "{error}");
    printed(&spool(&bench, None, &["resume", "--session", "s1"]));
    bench.stop("s1").run().reason();
    bench.stop("s2").run().told();
    // A claim that another session has taken over is that session's alone.
    bench.implement("s4", "--force").context();
    let error = refused(&spool(&bench, None, &["pause", "--session", "s1"]));
    assert!(error.contains("no loop here that is live"), "{error}");
}

#[test]
fn failed_turn_pauses_until_next() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    let failure = failed_turn(&bench);
    let words = "Ralph-speckit: paused: Make it · the turn broke off: rate_limit · nothing is counted\nNext: type anything to continue; /speckit:cancel-ralph ends it.";
    assert_eq!(failure.told(), words);
    assert_paused(&bench, "the turn broke off: rate_limit", "type a prompt in its session");
    // Whatever wants to stop now belongs to a turn that came after the failure.
    let stop = works_and_says(&bench, "no");
    assert!(stop.reason().contains("iteration 2 of 50"), "{stop}");
    assert_eq!(loop_line(&bench), "Loop: live");
    failed_turn(&bench).told();
    failed_turn(&bench).told();
    works_and_says(&bench, PROMISE)
        .told()
        .has("PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 3 iterations");
    let paused = "paused: the turn broke off: rate_limit; the next prompt in this session continues the loop";
    let resumed = "resumed: a new turn has come to its end";
    let expected = ["continue", paused, resumed, "continue", paused, paused, resumed, "end"];
    assert_eq!(story(&bench), expected);
}

#[test]
fn failed_turn_ends_no_asked_pause() {
    let bench = armed("\"Make it\"");
    printed(&spool(&bench, None, &["pause"]));
    failed_turn(&bench).silent();
    works_and_says(&bench, "no").told();
    let last = bench.journal("s1");
    assert_eq!(last[2]["event"], "failure");
    assert_eq!(last[2]["words"], "the turn broke off: rate_limit; the loop is paused anyway");
    printed(&spool(&bench, None, &["resume"]));
    works_and_says(&bench, "no").reason();
}

#[test]
fn asked_pause_outlasts_failure() {
    let bench = armed("\"Make it\"");
    failed_turn(&bench).told();
    printed(&spool(&bench, None, &["pause"]));
    works_and_says(&bench, "no").told();
    works_and_says(&bench, "no").silent();
    failed_turn(&bench).silent();
    printed(&spool(&bench, None, &["resume"]));
    works_and_says(&bench, "no").reason();
}

#[test]
fn failed_turn_pauses_living_loops() {
    let bench = Bench::folder();
    failed_turn(&bench).silent();
    assert!(!bench.path(".claude").exists());
    let bench = armed("\"Make it\"");
    bench.event("StopFailure", "s2").with("error", "rate_limit").run().silent();
    works_and_says(&bench, PROMISE).told();
    failed_turn(&bench).silent();
    let bench = armed("\"Make it\"").settings("---\nenabled: false\n---\n");
    failed_turn(&bench).silent();
    assert_eq!(story(&bench), [""; 0]);
}

#[test]
fn returned_session_stays_paused() {
    let bench = armed("\"Make it\"");
    let resumes = |bench: &Bench| bench.event("SessionStart", "s1").with("source", "resume").run();
    failed_turn(&bench).told();
    assert!(resumes(&bench).answer.is_some(), "the next prompt goes on, and the agent knows of it");
    printed(&spool(&bench, None, &["pause"]));
    resumes(&bench).silent();
    printed(&spool(&bench, None, &["resume"]));
    assert!(resumes(&bench).answer.is_some());
}

#[test]
fn broken_off_turn_spends_nothing() {
    let bench = armed("\"Make it\" --max-iterations 3 --min-tool-calls 4");
    works_and_says(&bench, "one").reason();
    for _ in 0..5 {
        // Esc: the client tells no hook, and the transcript has the half turn.
        bench.transcript("s1").tool("Edit").user("[Request interrupted by user]");
    }
    bench.transcript("s1").user("Go on.");
    let stop = works_and_says(&bench, "two");
    assert!(stop.reason().contains("iteration 2 of 3"), "{stop}");
    let ledger = bench.record("s1").ledger;
    assert_eq!((ledger.iterations, ledger.tool_calls), (2, 7), "each call counts once");
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
    assert_eq!(bench.verdicts("s1"), ["continue", "continue", "end completed"]);
}

#[test]
fn broken_off_checks_spend_nothing() {
    let check = "echo > ../begun; until test -f ../go; do sleep 0.02; done; exit 1";
    let bench = armed(&format!("\"Make it\" --check '{check}'"));
    bench.transcript("s1").tool("Edit");
    for _ in 0..2 {
        let stop = bench.stop("s1").start();
        await_file(&bench.path("../begun"));
        stop.kill();
        std::fs::remove_file(bench.path("../begun")).unwrap();
    }
    bench.write("../go", "");
    let stop = works_and_says(&bench, "Now?");
    assert!(stop.reason().contains("iteration 1 of 50"), "{stop}");
    let ledger = bench.record("s1").ledger;
    assert_eq!((ledger.iterations, ledger.tool_calls, ledger.same_failure), (1, 2, 1));
}

#[test]
fn strange_pause_ends_when_told() {
    let bench = armed("\"Make it\"");
    let path = bench.record_path("s1");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record.as_object_mut().unwrap().remove("paused");
    std::fs::write(&path, record.to_string()).unwrap();
    works_and_says(&bench, "no").reason();
    // Only a pause that somebody asked for counts.
    printed(&spool(&bench, None, &["pause"]));
    record["paused"] = json!({"by": "the moon", "phase": "full"});
    record["ledger"]["iterations"] = json!(1);
    std::fs::write(&path, record.to_string()).unwrap();
    assert!(works_and_says(&bench, "no").told().starts_with("Ralph-speckit: paused: "));
    let kept = serde_json::to_value(bench.record("s1")).unwrap();
    assert_eq!(kept["paused"]["phase"], "full");
    printed(&spool(&bench, None, &["resume"]));
    works_and_says(&bench, "no").reason();
}

#[test]
fn i26_repeated_approval_is_awaited() {
    let bench = armed("\"Make it\"");
    let asks = "All is built.\n\nMay I deploy it to production?";
    works_and_says(&bench, asks).reason();
    bench.transcript("s1").assistant(asks);
    let stop = bench.stop("s1").saying(asks).run();
    assert!(stop.told().contains("your answer: May I deploy it to production?"), "{stop}");
    assert_eq!(bench.record("s1").ledger.iterations, 1);
    bench.transcript("s1").assistant("Shall I go on?");
    bench.stop("s1").saying("Shall I go on?").run().reason();
}
