//! `spool` beside a ralph loop: what it shows, and how a person or the agent ends the loop with it.

use crate::hook::support::{Bench, executing};
use crate::ralph::{PROMISE, armed, ralph, works_and_says};
use crate::support::has::Has;
use crate::support::limited::Limited;
use serde_json::Value;
use std::process::Output;

/// Runs `spool` in the project, inside of a session or from a terminal.
pub fn spool(bench: &Bench, session: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = bench.spool();
    command.args(arguments).current_dir(bench.path("src"));
    command.envs(session.map(|session| ("CLAUDE_CODE_SESSION_ID", session)));
    command.finish()
}

/// What it printed; the test fails when it failed.
pub fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Why it refused; the test fails when it did not.
pub fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn status_needs_no_spec_kit() {
    let bench = armed("\"Make it\" --max-iterations 5");
    works_and_says(&bench, "no").reason();
    let status = printed(&spool(&bench, None, &["status"]));
    status.has_all(&[
        "Task: Make it",
        "Loop: live",
        "Iteration: 2 of 5 (",
        "Session: s1",
        "Before this iteration: 1 tool call",
    ]);
    let report: Value =
        serde_json::from_str(&printed(&spool(&bench, None, &["status", "--json"]))).unwrap();
    assert_eq!(report["tasks"][0]["state"], "live");
    assert_eq!(report["tasks"][0]["task"], "Make it");
    works_and_says(&bench, PROMISE).told();
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("Loop: done: "), "{status}");
    let log = printed(&spool(&bench, None, &["log"]));
    log.has_all(&["armed", "Limit: 5 iterations", "continue", "no promise", "  done  "]);
}

#[test]
fn agent_says_a_person_is_needed() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    let said = printed(&spool(&bench, Some("s1"), &["block", "Give me\na password"]));
    assert!(said.contains("the loop has ended (blocked). End your turn now"), "{said}");
    let stop = bench.stop("s1").saying("I need a password").run();
    stop.told()
        .has("(blocked): Make it · the agent needs a person: Give me a password · 1 iteration");
    bench.stop("s1").run().silent();
    refused(&spool(&bench, Some("s1"), &["block", "again"])).has("no ralph loop is live");
}

#[test]
fn stop_in_a_terminal_is_told() {
    for is_task in [true, false] {
        let bench = if is_task { armed("\"Make it\"") } else { Bench::ready() };
        if !is_task {
            bench.implement("s1", "").context();
        }
        bench.stop("s1").run().reason();
        printed(&spool(&bench, None, &["stop"]));
        let stop = bench.stop("s1").run();
        assert!(stop.told().contains("ended (cancelled): "), "{stop}");
        bench.stop("s1").run().silent();
    }
    let bench = armed("\"Make it\"");
    printed(&spool(&bench, Some("s1"), &["stop"]));
    let stop = bench.stop("s1").run();
    stop.told().has("ended (cancelled): Make it · asked for inside of an agent's session ·");
    bench.stop("s1").run().silent();
}

#[test]
fn unheld_session_tells_person() {
    let bench = Bench::armed();
    bench.stop("s2").run().silent().logged("driven by session s1; this session may stop");
    let status = printed(&spool(&bench, None, &["status"]));
    status.has("session s2 stopped ").has(" s ago and was not blocked: the loop is session s1's; /speckit:implement 001-login --force takes it over");
    let mut doctor = bench.spool();
    doctor.arg("doctor").env("HOME", bench.outside());
    doctor.env("XDG_STATE_HOME", bench.kept().parent().unwrap());
    let doctor = String::from_utf8(doctor.finish().stdout).unwrap();
    doctor.has("session s2 stopped and was not blocked: feature 001-login is driven by session s1");

    // It is noted once; whoever takes the loop over is told of no longer.
    let noted = std::fs::read(bench.path(".claude/ralph/let-go.json")).unwrap();
    bench.stop("s2").run().silent();
    assert_eq!(std::fs::read(bench.path(".claude/ralph/let-go.json")).unwrap(), noted);
    bench.implement("s2", "--force").context();
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(!status.contains("was not blocked"), "{status}");
}

#[test]
fn cancel_takes_own_or_only_loop() {
    let bench = armed("\"Make it\"");
    let said = printed(&spool(&bench, None, &["cancel"]));
    assert!(
        said.starts_with("Ralph-speckit: ended (cancelled): Make it · 0 tool calls · 0 iterations"),
        "{said}"
    );
    assert!(works_and_says(&bench, "no").told().contains("ended (cancelled): Make it"));
    works_and_says(&bench, "no").silent();
    ralph(&bench, "s1", "\"Make it\"").context();
    ralph(&bench, "s2", "\"Make that\"").context();
    let error = refused(&spool(&bench, None, &["cancel"]));
    error.has("several loops are live here").has("\n  --session s2  Make that");
    printed(&spool(&bench, Some("s2"), &["cancel"]));
    bench.stop("s2").run().told().has("ended (cancelled): Make that");
    let error = refused(&spool(&bench, Some("s2"), &["cancel", "--session", "s1"]));
    error.has("only a person stops, pauses, resumes or adds words to the loop of `s1`\nthe person does so in a terminal");
    printed(&spool(&bench, None, &["cancel", "--session", "s1"]));
    works_and_says(&bench, "no").told().has("ended (cancelled): Make it");
}

#[test]
fn cancelled_kinds_differ() {
    let bench = Bench::armed();
    ralph(&bench, "s2", "\"Make it\"").context();
    let error = refused(&spool(&bench, None, &["cancel"]));
    error
        .has("several loops are live here")
        .has("--feature 001-login")
        .has("--session s2  Make it");
    let said = printed(&spool(&bench, None, &["cancel", "login"]));
    assert!(said.contains("Feature: 001-login"), "{said}");
    assert!(bench.stop("s2").run().is_block(), "the other loop lives");
}

#[test]
fn terminal_cancel_ends_only_loop() {
    let bench = Bench::ready().feature("002-logout").tasks("- [ ] T001 Build\n");
    let bench = bench.feature("003-search").current_feature("001-login");
    bench.implement("s1", "002-logout").context();
    // The current feature has no loop, and no state file is taken from it.
    let said = printed(&spool(&bench, None, &["cancel"]));
    assert!(said.contains("Feature: 002-logout") && said.contains("Loop cancelled."), "{said}");
    bench.implement("s1", "002-logout").context();
    ralph(&bench, "s2", "\"Make it\"").context();
    let refusal = refused(&spool(&bench, None, &["cancel"]));
    refusal.has_all(&[
        "several loops are live here",
        "--feature 002-logout",
        "--session s2  Make it",
    ]);
    printed(&spool(&bench, None, &["cancel", "002-logout"]));
    let said = printed(&spool(&bench, None, &["cancel"]));
    assert!(said.contains("ended (cancelled): Make it"), "{said}");
}

#[test]
fn terminal_cancel_prefers_living_loop() {
    let bench =
        Bench::ready().feature("002-logout").tasks("- [ ] T001 Build\n").state(&executing(0, 1));
    let bench = bench.feature("001-login").current_feature("002-logout");
    bench.implement("s1", "001-login").context();
    let said = printed(&spool(&bench, None, &["cancel"]));
    assert!(said.contains("Feature: 001-login"), "{said}");
    let said = printed(&spool(&bench, None, &["cancel"]));
    assert!(said.contains("Feature: 002-logout"), "the next stop would make a loop of it: {said}");
}

#[test]
fn moved_loop_does_not_end_here() {
    let bench = Bench::ready();
    let bench = bench.feature("002-logout").tasks("- [ ] T001 Build\n").feature("001-login");
    bench.implement("s1", "001-login").context();
    bench.stop("s1").run();
    bench.implement("s2", "001-login --force").context();
    let armed = bench.implement("s1", "002-logout");
    assert!(!armed.context().contains("001-login"), "{}", armed.context());
    let ended = bench.journal("s1").into_iter().any(|entry| entry["reason"] == "stopped");
    assert!(!ended, "{:?}", bench.journal("s1"));
    assert!(bench.stop("s2").run().is_block(), "it lives in the session that took it");
}

#[test]
fn session_cancel_spares_others() {
    let bench = Bench::ready().feature("002-logout").tasks("- [ ] T001 Build\n");
    let bench = bench.feature("003-search").current_feature("001-login");
    bench.implement("s1", "002-logout").context();
    let words = "feature `001-login` has no loop and no state file";
    assert!(bench.cancel("s2", "").reason().contains(words));
    assert!(refused(&spool(&bench, Some("s2"), &["cancel"])).contains(words));
    assert!(works_and_says(&bench, "no").is_block(), "the other session's loop lives");
    let error = refused(&spool(&bench, Some("s2"), &["cancel", "002-logout"]));
    error.has("only a person stops, pauses, resumes or adds words to the loop of `002-logout`");
    printed(&spool(&bench, None, &["cancel", "002-logout"]));
    ralph(&bench, "s1", "\"Make it\"").context();
    assert!(refused(&spool(&bench, Some("s2"), &["cancel"])).contains(words));
    assert!(works_and_says(&bench, "no").is_block(), "the other session's ralph loop lives");
}

#[test]
fn driven_feature_is_cancelled_by_name() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    let words = "nothing to cancel: session s1 drives feature `001-login`";
    assert!(bench.cancel("s2", "").reason().contains(words));
    refused(&spool(&bench, Some("s2"), &["cancel"])).has(words);
    assert!(bench.stop("s1").run().is_block(), "it lives");
    bench.cancel("s2", "001-login").reason().has("Loop cancelled.");
    bench.stop("s1").run().told().has("ended (cancelled): 001-login");
    ralph(&bench, "s1", "\"Make it\"").context();
    bench.command("s2", "speckit:cancel-ralph", "s1").run().reason();
    bench.stop("s1").run().told().has("ended (cancelled): Make it");
}

#[test]
fn cancel_takes_every_name() {
    let bench = Bench::armed();
    for name in ["1", "login"] {
        bench.cancel("s2", name).reason().has("Loop cancelled.").has("Feature: 001-login");
        bench.implement("s1", "").context();
    }
    bench.cancel("s2", "1").reason();
    for (command, name) in [("cancel", "s1"), ("cancel-ralph", "s1"), ("cancel-ralph", "Make it")] {
        ralph(&bench, "s1", "\"Make it\"").context();
        let said = bench.command("s2", &format!("speckit:{command}"), name).run();
        said.reason().has("ended (cancelled): Make it");
        bench.stop("s1").run().told().has("ended (cancelled): Make it");
    }
}

#[test]
fn agent_steers_no_paused_loop() {
    let bench = armed("\"Make it\"");
    printed(&spool(&bench, None, &["pause"]));
    for name in [&[][..], &["--session", "s1"]] {
        for command in ["resume", "pause", "stop"] {
            let error = refused(&spool(&bench, Some("s2"), &[&[command], name].concat()));
            assert!(
                error.contains("only a person stops, pauses, resumes")
                    || error.contains("no feature is"),
                "{error}"
            );
        }
    }
    works_and_says(&bench, "no").told().has("paused: Make it");
}

#[test]
fn agent_ends_no_armed_loop() {
    let bench = Bench::ready();
    printed(&spool(&bench, None, &["start"]));
    for arguments in [&["stop"][..], &["stop", "001-login"], &["cancel", "-f", "1"]] {
        let error = refused(&spool(&bench, Some("s1"), arguments));
        error.has("only a person stops, pauses, resumes or adds words to the loop of `001-login`");
    }
    assert!(bench.stop("s1").run().is_block(), "it lives");
    printed(&spool(&bench, Some("s1"), &["stop"]));
    bench.stop("s1").run().told().has("ended (cancelled): 001-login");
}

#[test]
fn unread_record_keeps_its_driver() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    std::fs::write(bench.record_path("s1"), "{").unwrap();
    for command in ["stop", "pause"] {
        let error = refused(&spool(&bench, Some("s2"), &[command, "001-login"]));
        error.has("only a person stops, pauses, resumes or adds words to the loop of `001-login`");
    }
    printed(&spool(&bench, None, &["stop", "001-login"])).has("Loop cancelled.");
}

#[test]
fn status_shows_loop_without_notes() {
    let bench = Bench::armed();
    std::fs::remove_dir_all(bench.path(".claude/ralph")).unwrap();
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("Loop: live") && status.contains(" ago, by command\n"), "{status}");
    let said = printed(&spool(&bench, None, &["cancel"]));
    assert!(said.contains("Iterations: 0 of") && said.contains("Loop cancelled."), "{said}");
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(!status.contains("Loop: live") && !status.contains("Phase:"), "{status}");
}

#[test]
fn loop_without_its_folder_can_be_ended() {
    let bench = Bench::ready().feature("002-logout").tasks("- [ ] T001 Build\n");
    let bench = bench.current_feature("001-login");
    for by_session in [false, true] {
        let folder = bench.path(".specify/specs/002-logout");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("tasks.md"), "- [ ] T001 Build\n").unwrap();
        bench.implement("s1", "002-logout").context();
        std::fs::remove_dir_all(&folder).unwrap();
        if by_session {
            bench.cancel("s1", "").reason().has("Feature: 002-logout").has("Loop cancelled.");
        } else {
            printed(&spool(&bench, None, &["stop", "2"])).has("Loop cancelled.");
        }
        refused(&spool(&bench, None, &["pause"])).has("no loop is live here");
    }
}

#[test]
fn agent_adds_no_words_of_a_person() {
    let bench = armed("\"Make it\"");
    for arguments in [&["block", "a key"][..], &["stop"], &["pause"]] {
        let mut command = bench.spool();
        command.args(arguments).env("CODEX_SANDBOX", "seatbelt");
        assert_eq!(command.finish().status.code(), Some(1), "{arguments:?}");
    }
    works_and_says(&bench, "no").reason();
}
