//! A person hears of an end, and that they are needed: from the terminal, and from a command of their own.

use crate::hook::outcome::Outcome;
use crate::hook::support::{ALL_DONE, Bench};
use crate::support::has::Has;
use crate::support::limited::{Limited, until};
use crate::support::scratch::SPOOL;
use ralph_speckit::system::files::real_path;
use ralph_speckit::system::processes::is_alive;
use serde_json::{Value, json};
use std::fs;

/// Writes down all that it gets.
const WRITES: &str = r#"printf '%s|%s|%s|%s|' "$RALPH_ABOUT" "$RALPH_REASON" "$RALPH_WORDS" "$RALPH_PROJECT" >> ../heard; cat >> ../heard"#;

/// A feature's loop that a person armed with this command.
fn armed(notify: &str) -> Bench {
    let settings = format!("---\nnotify: |\n  {notify}\n---\n");
    let bench = Bench::ready().settings(&settings);
    bench.implement("s1", "").context();
    bench
}

fn heard(bench: &Bench) -> String {
    fs::read_to_string(bench.path("../heard")).unwrap_or_default()
}

fn completes(bench: &Bench) -> Outcome {
    bench.write_tasks(ALL_DONE);
    bench.stop("s1").by_plugin().start().finish()
}

fn events(bench: &Bench, name: &str) -> Vec<Value> {
    bench.journal("s1").into_iter().filter(|entry| entry["event"] == name).collect()
}

#[test]
fn command_gets_words_and_variables() {
    let bench = armed(WRITES);
    let stop = completes(&bench);
    let words =
        "done: 001-login · 3 of 3 tasks · 1 iteration\nProved: 1 by files; 1 by word alone: T003";
    let root = real_path(&bench.path("")).unwrap();
    let root = root.display();
    assert_eq!(heard(&bench), format!("001-login|completed|{words}|{root}|{words}\n"), "{stop}");
    assert_eq!(events(&bench, "notify"), [Value::Null; 0]);
}

#[test]
fn arming_shows_and_pins_it() {
    let bench = Bench::ready().settings(&format!("---\nnotify: |\n  {WRITES}\n---\n"));
    let shown = bench.implement("s1", "");
    shown.message().has("run when the loop ends or needs you (within 5 s):\n  printf");
    bench.write(".claude/ralph-speckit.local.md", "---\nnotify: touch ../other\n---\n");
    completes(&bench);
    assert!(heard(&bench).contains("|completed|"), "what was armed holds");
    assert!(!bench.path("../other").exists());
}

#[test]
fn missing_checks_are_said_beside() {
    let bench = Bench::ready().settings("---\nnotify: touch ../heard\n---\n");
    let shown = bench.implement("s1", "").message().to_owned();
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[1].starts_with("No checks: the list decides. Add them in "), "{shown}");
    assert!(lines[2].starts_with("Notice, from .claude/ralph-speckit.local.md"), "{shown}");
    let terminal = Bench::ready().settings("---\nnotify: touch ../heard\n---\n");
    let said = terminal.spool().arg("start").finish().stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("speckit.local.md.\nNotice, from"), "{said}");
    let checked = Bench::ready().settings("---\nchecks: [\"true\"]\nnotify: touch ../x\n---\n");
    let shown = checked.implement("s1", "").message().to_owned();
    assert!(!shown.contains("No checks"), "{shown}");
}

#[test]
fn status_shows_command_and_next_step() {
    let bench = armed("touch ../heard");
    let status = || String::from_utf8(bench.spool().arg("status").finish().stdout).unwrap();
    let line = "  Notice: touch ../heard (when it ends or needs you, within 5 s)\n";
    assert!(status().contains(line), "{}", status());
    bench.cancel("s1", "").reason();
    let ended = status();
    assert!(!ended.contains("Notice:"), "{ended}");
    assert!(ended.ends_with("  Next: continue with /speckit:implement 001-login.\n"), "{ended}");

    let bench = Bench::armed();
    bench.spool().args(["task", "block", "a key"]).env("CLAUDE_CODE_SESSION_ID", "s1").finish();
    let ended = bench.spool().arg("status").finish().stdout;
    let ended = String::from_utf8(ended).unwrap();
    let next = "  Next: do that, then continue with /speckit:implement 001-login.\n";
    assert!(ended.contains("ended (blocked)") && ended.ends_with(next), "{ended}");

    let bench = Bench::folder();
    bench.command("s1", "speckit:ralph-loop", "\"Make it\"").run().context();
    bench.command("s1", "speckit:cancel-ralph", "").run().reason();
    let ended = bench.spool().arg("status").finish().stdout;
    let ended = String::from_utf8(ended).unwrap();
    assert!(ended.ends_with("  Next: start it again with /speckit:ralph-loop.\n"), "{ended}");
}

#[test]
fn task_log_is_free_meanwhile() {
    let add = format!(r#"'{SPOOL}' task add --after T003 "$RALPH_REASON" > ../heard 2>&1"#);
    for (arguments, reason) in [
        (&["task", "block", "a key"][..], "blocked"),
        (&["block", "a key"][..], "blocked"),
        (&["task", "fail", "T002", "broken"][..], "task_failed"),
    ] {
        let settings = format!("---\nnotify: |\n  {add}\n---\n");
        let bench = Bench::ready().settings(&settings);
        bench.implement("s1", "--max-task-iterations 1").context();
        bench.stop("s1").run().reason();
        let mut spool = bench.spool();
        assert!(
            spool.env("CLAUDE_CODE_SESSION_ID", "s1").args(arguments).finish().status.success()
        );
        let heard = heard(&bench);
        assert!(heard.contains("Added T004 after T003."), "{arguments:?}: {heard}");
        let list = fs::read_to_string(bench.feature_path("tasks.md")).unwrap();
        assert!(list.contains(&format!("T004 {reason}")), "{list}");
        assert_eq!(events(&bench, "notify"), [Value::Null; 0]);
    }
}

#[test]
fn unarmed_command_is_not_run() {
    let bench = Bench::in_execution().settings(&format!("---\nnotify: |\n  {WRITES}\n---\n"));
    bench.stop("s1").run().reason();
    completes(&bench);
    assert_eq!(heard(&bench), "");
}

#[test]
fn agent_words_reach_no_shell() {
    let bench = armed(WRITES);
    let need = "say \"yes\"; $(touch ../made) `touch ../made`\n'; touch ../made; '";
    bench.tick("T002");
    bench.stop("s1").run().reason();
    let mut spool = bench.spool();
    spool.env("CLAUDE_CODE_SESSION_ID", "s1").args(["task", "block", need]);
    assert!(spool.finish().status.success());
    let heard = heard(&bench);
    assert!(heard.starts_with("001-login|blocked|ended (blocked): 001-login · "), "{heard}");
    assert!(heard.contains(r#"say "yes"; $(touch ../made) `touch ../made`"#), "{heard}");
    assert!(!bench.path("../made").exists());
    let stop = bench.stop("s1").by_plugin().run();
    assert!(stop.told().contains("ended (blocked)"), "{stop}");
    assert_eq!(heard.matches("|blocked|").count(), 1, "once");
}

#[test]
fn misbehaving_command_changes_nothing() {
    let misbehaves = |command: &str, words: &str| {
        let bench = armed(command);
        let stop = completes(&bench);
        assert!(stop.message().starts_with("Ralph-speckit: done: 001-login"), "{command}: {stop}");
        assert_eq!(bench.verdicts("s1"), ["end completed"], "{command}");
        let failed = events(&bench, "notify");
        assert_eq!(failed.len(), 1, "{command}");
        assert_eq!(failed[0]["words"], format!("the notice failed: {words}"), "{command}");
        bench.stop("s1").run().silent();
    };
    std::thread::scope(|scope| {
        for (command, words) in [
            ("exit 3", "exit code 3"),
            ("no-such-program-here", "exit code 127: no such program"),
            ("sleep 1000 & sleep 1000 & exec sleep 1000", "not over yet, ended after 5 s"),
            ("yes | head -c 1000000; exec sleep 1000", "not over yet, ended after 5 s"),
        ] {
            scope.spawn(move || misbehaves(command, words));
        }
    });
}

#[test]
fn e4_hanging_command_keeps_no_stop() {
    let bench = armed("trap '' TERM; echo $$ > ../part; mv ../part ../id; sleep 1000; sleep 1000");
    completes(&bench);
    let id: u32 =
        until("its id", || fs::read_to_string(bench.path("../id")).ok()).trim().parse().unwrap();
    assert!(is_alive(id), "the stop was over before it");
    until("its end", || (!is_alive(id)).then_some(()));
}

#[test]
fn terminal_rings_only_with_plugin() {
    let sequence = |stop: &Outcome| {
        stop.answer
            .as_ref()
            .and_then(|answer| answer["terminalSequence"].as_str().map(str::to_owned))
    };
    let bench = Bench::in_execution();
    bench.write_tasks(ALL_DONE);
    let stop = bench.stop("s1").by_plugin().run();
    let words = "\u{1b}]9;Ralph-speckit: done: 001-login · 3 of 3 tasks · on the agent's word alone: no person armed it · 1 iteration\u{7}\u{7}";
    assert_eq!(sequence(&stop).as_deref(), Some(words));
    let bench = Bench::in_execution();
    let stop = bench.stop("s1").by_plugin().run();
    assert_eq!(sequence(&stop), None, "a loop that continues is silent: {stop}");
    bench.set_state("awaitingApproval", true);
    assert!(sequence(&bench.stop("s1").by_plugin().run()).unwrap().contains("awaitingApproval"));
    let failure = || bench.event("StopFailure", "s1").with("error", "rate_limit");
    assert!(sequence(&failure().by_plugin().run()).unwrap().contains("rate_limit"));
    assert_eq!(sequence(&failure().run()), None);
}

#[test]
fn approvals_and_broken_turns_are_told() {
    let bench = armed(WRITES);
    bench.set_state("awaitingApproval", true);
    bench.stop("s1").run().told();
    bench.stop("s1").run();
    bench.set_state("awaitingApproval", false);
    bench.event("StopFailure", "s1").with("error", "rate_limit").run();
    let heard = heard(&bench);
    assert_eq!(heard.matches("|approval|").count(), 1, "{heard}");
    assert!(heard.contains("|failure|paused: 001-login · the turn broke off"), "{heard}");
}

#[test]
fn question_to_the_person_is_noted() {
    let bench = armed(WRITES);
    let asks = |session: &str| {
        let input = json!({"command": "cargo test\n\u{1b}[31m --all", "description": "test"});
        let event = bench.event("PermissionRequest", session).with("tool_name", "Bash");
        event.with("tool_input", input).run()
    };
    asks("s1").silent();
    let noted = events(&bench, "permission");
    let words = "waits for a permission: Bash(cargo test �[31m --all)";
    assert_eq!(noted[0]["words"], words);
    assert!(heard(&bench).contains(&format!("|permission|{words}|")), "{}", heard(&bench));
    asks("s2").silent();
    assert!(!bench.path(".claude/ralph/s2").exists(), "a session without a loop leaves no trace");
}

#[test]
fn quiet_shows_only_needs() {
    let bench = Bench::ready().settings("---\nquiet: true\n---\n");
    let shown = bench.implement("s1", "");
    assert!(shown.message().starts_with("Ralph-speckit: armed: 001-login"), "{shown}");
    let stop = bench.stop("s1").by_plugin().run();
    assert!(!stop.reason().is_empty());
    assert_eq!(stop.message(), "");
    bench.set_state("awaitingApproval", true);
    assert!(bench.stop("s1").by_plugin().run().message().contains("awaitingApproval"));
    bench.set_state("awaitingApproval", false);
    bench.write_tasks(ALL_DONE);
    bench.stop("s1").by_plugin().run().silent();
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");

    let bench = Bench::ready().settings("---\nquiet: true\n---\n");
    bench.implement("s1", "--max-iterations 1").context();
    assert!(bench.stop("s1").by_plugin().run().told().contains("ended (max_iters)"));
    let bench = Bench::ready().settings("---\nquiet: maybe\n---\n");
    bench.implement("s1", "").reason().has("`quiet` needs `true` or `false`, not `maybe`");
}

#[test]
fn arming_names_later_questions() {
    for (mode, asks) in [
        ("default", Some("commands and changes of files")),
        ("acceptEdits", Some("commands")),
        ("plan", Some("everything but reading")),
        ("auto", None),
        ("dontAsk", None),
        ("bypassPermissions", None),
        ("another", None),
    ] {
        let bench = Bench::ready();
        let armed = bench.command("s1", "speckit:implement", "").with("permission_mode", mode);
        let armed = armed.run();
        let words = asks.map(|asks| format!("This session asks you about {asks}, and the loop"));
        let shown = words.as_ref().is_some_and(|words| armed.message().contains(words));
        assert_eq!(shown, asks.is_some(), "{mode}: {armed}");
        assert_eq!(armed.message().contains("/permissions"), asks.is_some(), "{mode}: {armed}");
    }
}
