//! Checks that a person asked for: when they run, what they say, and that they end.

use crate::hook::support::{ALL_DONE, Bench};
use crate::ralph::cli::{printed, spool};
use crate::ralph::{PROMISE, armed, await_file, ralph, works_and_says};
use crate::support::has::Has;
use crate::support::limited::until;
use serde_json::Value;
use std::fs;

/// Asks for a promise beside a check.
const PROMISED: &str = "--completion-promise DONE";

/// How often the counting check has run.
fn runs(bench: &crate::hook::support::Bench) -> usize {
    std::fs::read_to_string(bench.path("../runs")).unwrap_or_default().lines().count()
}

#[test]
fn checks_run_only_on_claims() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'echo x >> ../runs'");
    works_and_says(&bench, "no").reason();
    assert_eq!(runs(&bench), 0);
    works_and_says(&bench, PROMISE).told();
    assert_eq!(runs(&bench), 1);
}

#[test]
fn s3_settings_checks_precede_typed() {
    let settings = "---\nchecks: [echo settings >> ../runs, {run: 'true', limit: 9}]\n---\n";
    for command in ["speckit:ralph-loop", "speckit:ulw-loop"] {
        let bench = Bench::folder().settings(settings);
        let arguments = "\"Make it\" --completion-promise DONE --check 'true' --check 'echo typed >> ../runs; exit 1'";
        let armed = bench.command("s1", command, arguments).run();
        let (first, second) = ("`echo settings >> ../runs`", "`echo typed >> ../runs; exit 1`");
        let contract = armed.context();
        let from =
            "Checks, from .claude/ralph-speckit.local.md and the command that was typed, run";
        assert!(armed.to_string().contains(from), "{armed}");
        let log = printed(&spool(&bench, None, &["log"]));
        assert!(log.contains("; 3 checks (`echo settings >> ../runs`, `true`"), "{log}");
        assert!(contract.find(first).unwrap() < contract.find(second).unwrap(), "{contract}");
        assert_eq!(contract.matches("This check has to pass").count(), 3, "{contract}");
        assert!(contract.contains("within 9 s: `true`"), "{contract}");
        let stop = works_and_says(&bench, PROMISE);
        assert!(stop.reason().contains(second) && !stop.reason().contains(first), "{stop}");
        assert_eq!(fs::read_to_string(bench.path("../runs")).unwrap(), "settings\ntyped\n");
    }
}

#[test]
fn s3_promise_needs_settings_checks() {
    let bench = Bench::folder().settings("---\nchecks:\n  - test -f ../made\n---\n");
    let armed = ralph(&bench, "s1", "\"Make it\"");
    let from = "Checks, from .claude/ralph-speckit.local.md, run when";
    assert!(armed.to_string().contains(from), "{armed}");
    assert!(works_and_says(&bench, PROMISE).reason().contains("`test -f ../made` (exit code 1)"));
    fs::write(bench.path("../made"), "").unwrap();
    works_and_says(&bench, PROMISE).told();
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
}

#[test]
fn failed_check_runs_again() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'echo x >> ../runs; exit 1'");
    works_and_says(&bench, PROMISE).reason();
    bench.transcript("s1").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    assert_eq!(runs(&bench), 2, "a transcript that lags shows no tool call either");
    bench.write("src/main.rs", "fn main() {}");
    bench.transcript("s1").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    assert_eq!(runs(&bench), 3, "a file changed");
    works_and_says(&bench, PROMISE).reason();
    assert_eq!(runs(&bench), 4, "a tool call may have changed what no file shows");
}

#[test]
fn s1_forgeable_pass_runs_again() {
    for forged in ["passed", "nothing"] {
        let bench =
            armed("\"Make it\" --completion-promise DONE --check 'echo x >> ../runs; exit 1'");
        works_and_says(&bench, PROMISE).reason();
        let path = bench.record_path("s1");
        let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let results = &mut record["assignment"]["checked"]["results"];
        assert_eq!(results[0]["passed"], false, "{results}");
        match forged {
            "passed" => results[0]["passed"] = true.into(),
            _ => *results = Value::Array(Vec::new()),
        }
        fs::write(&path, record.to_string()).unwrap();
        bench.transcript("s1").assistant(PROMISE);
        let stop = bench.stop("s1").saying(PROMISE).run();
        assert!(stop.reason().contains("exit code 1"), "{forged}: {stop}");
        assert_eq!(runs(&bench), 2, "{forged}");
    }
}

#[test]
fn third_failure_asks_another_way() {
    let bench = armed("\"Make it\" --completion-promise DONE --check 'date +%N; exit 1'");
    for _ in 0..2 {
        let stop = works_and_says(&bench, PROMISE);
        assert!(!stop.reason().contains("change the approach"), "{stop}");
    }
    let stop = works_and_says(&bench, PROMISE);
    stop.reason().has("failed in the same way 3 times in a row: change the approach.");
}

#[test]
fn overdue_check_failed() {
    let bench = armed("\"Make it\" --check 'echo begun; sleep 60' --check-timeout 1");
    bench.transcript("s1").tool("Edit");
    let stop = bench.stop("s1").saying("done").start().finish();
    stop.reason().has("(over its limit of 1 s, ended)\nThe end of its output:\n| begun");
}

#[test]
fn check_writes_are_no_progress() {
    let bench = armed("\"Make it\" --no-progress 3 --check 'date +%N >> log; exit 1'");
    let stops = (1..30).find(|_| !works_and_says(&bench, "no").is_block());
    assert_eq!(stops, Some(3));
}

#[test]
fn checks_run_in_session_folder() {
    let bench = armed("\"Make it\" --check 'test -d src'");
    bench.transcript("s1").tool("Bash");
    bench.stop("s1").standing_in(&bench.path("src")).run().told();
}

#[test]
fn the_journal_says_which_are_running() {
    let bench = armed("\"Make it\" --check true --check 'test -d src'");
    works_and_says(&bench, "done").told();
    let entries: Vec<_> =
        bench.journal("s1").into_iter().filter(|entry| entry["event"] == "checks").collect();
    let words: Vec<_> = entries.iter().map(|entry| entry["words"].as_str().unwrap()).collect();
    assert_eq!(words, ["running `true` (1 of 2)", "running `test -d src` (2 of 2)"]);
}

#[test]
fn status_names_running_checks() {
    let check = "echo > ../begun; until test -f ../go; do sleep 0.02; done";
    let bench = armed(&format!("\"Make it\" --check true --check '{check}' --check false"));
    let checking = |bench: &Bench| {
        let status = printed(&spool(bench, None, &["status"]));
        status.lines().find(|line| line.contains("Checking")).map(|line| line.trim().to_owned())
    };
    assert_eq!(checking(&bench), None);
    bench.transcript("s1").tool("Edit");
    let running = bench.stop("s1").start();
    await_file(&bench.path("../begun"));
    let line = "Checking: `echo > ../begun; until test -f ../go; do sleep 0.02; done` (2 of 3)";
    assert_eq!(checking(&bench).as_deref(), Some(line));
    bench.write("../go", "");
    running.finish().reason();
    assert_eq!(checking(&bench), None);

    // A client that ends the hook leaves no word that a check still runs.
    fs::remove_file(bench.path("../go")).unwrap();
    fs::remove_file(bench.path("../begun")).unwrap();
    bench.transcript("s1").tool("Edit");
    let running = bench.stop("s1").start();
    await_file(&bench.path("../begun"));
    assert_eq!(checking(&bench).as_deref(), Some(line));
    running.kill();
    assert_eq!(checking(&bench), None);
}

#[test]
fn feature_checks_are_named_running() {
    let check = "echo > ../begun; until test -f ../go; do sleep 0.02; done";
    let settings = format!("---\nchecks:\n  - \"{check}\"\n---\n");
    let bench = Bench::ready().settings(&settings);
    bench.implement("s1", "").context();
    bench.write_tasks(ALL_DONE);
    let running = bench.stop("s1").start();
    await_file(&bench.path("../begun"));
    let status = printed(&spool(&bench, None, &["status", "--json"]));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["features"][0]["loop"]["running_check"], format!("`{check}` (1 of 1)"));
    bench.write("../go", "");
    running.finish().silent();
    assert_eq!(bench.verdicts("s1"), ["end completed"]);
}

#[cfg(unix)]
#[test]
fn killed_hook_leaves_no_check() {
    let check =
        "sh -c 'echo $$ > ../grandchild; while :; do sleep 1; done' & echo $$ > ../child; wait";
    let bench = armed(&format!("\"Make it\" --check \"{check}\""));
    bench.transcript("s1").tool("Edit");
    let running = bench.stop("s1").start();
    let [child, grandchild] = ["../child", "../grandchild"].map(|name| {
        until("the check begins", || {
            let text = std::fs::read_to_string(bench.path(name)).unwrap_or_default();
            text.ends_with('\n').then(|| text.trim().parse::<i32>().unwrap())
        })
    });
    running.kill();
    for pid in [child, grandchild] {
        until("the end of the check", || (!crate::support::system::is_alive(pid)).then_some(()));
    }
}

#[test]
fn t2_limit_runs_the_checks() {
    let fails = "--check 'echo x >> ../runs; echo E501 too long; exit 1'";
    for (arguments, words, times) in [
        (fails, "exit 1` (exit code 1): E501 too long", 1),
        ("--check 'echo x >> ../runs'", "; checks passed", 1),
        (&format!("{fails} --no-final-check"), "; checks not run", 0),
    ] {
        let bench = armed(&format!("\"Make it\" --max-iterations 1 {PROMISED} {arguments}"));
        let stop = works_and_says(&bench, "no");
        assert!(stop.told().contains(words), "{stop}");
        assert!(bench.journal("s1").pop().unwrap()["words"].as_str().unwrap().contains(words));
        assert_eq!(runs(&bench), times, "{arguments}");
    }
}

#[test]
fn t4_failed_output_is_kept() {
    let bench = armed(&format!("\"Make it\" {PROMISED} --check 'seq 1 9; exit 1'"));
    works_and_says(&bench, PROMISE).reason();
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("\n    `seq 1 9; exit 1` (exit code 1):\n    1\n    2\n"), "{status}");
    assert!(!status.contains("\n    9\n") && status.contains("`spool log` has all"), "{status}");
    let log = printed(&spool(&bench, None, &["log"]));
    assert!(log.contains("(exit code 1):\n      1\n") && log.contains("\n      9\n"), "{log}");
}
