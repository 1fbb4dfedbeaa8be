//! What a loop has cost and made: tool calls, commits, tokens, each counted once.

use crate::hook::support::Bench;
use crate::ralph::cli::{printed, spool};
use crate::ralph::{PROMISE, armed, change, ralph};
use crate::support::has::Has;
use std::fs::{self, File};
use std::io::Write;

/// A line of a message as Claude Code writes it: each repeats what the whole message cost.
fn message(bench: &Bench, id: &str, block: &str, written: u64) {
    bench.transcript("s1").raw(format!(
        r#"{{"parentUuid":"a","isSidechain":false,"message":{{"id":"{id}","type":"message","role":"assistant","model":"m","content":[{block}],"stop_reason":null,"usage":{{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":{written},"service_tier":"standard"}}}},"type":"assistant","uuid":"b"}}"#
    ));
}

const TEXT: &str = r#"{"type":"text","text":"\"usage\":{\"output_tokens\":99}"}"#;
const TOOL: &str =
    r#"{"type":"tool_use","id":"t","name":"X","input":{"usage":{"output_tokens":9}}}"#;

fn commit(bench: &Bench, message: &str) {
    let path = bench.path(".git/logs/HEAD");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut log = File::options().create(true).append(true).open(path).unwrap();
    writeln!(log, "0 1 A B <a@b> 4000000000 +0000\t{message}").unwrap();
}

#[test]
fn tokens_and_commits_count_once() {
    let bench = Bench::folder();
    commit(&bench, "commit (initial): before");
    message(&bench, "before", TEXT, 5);
    ralph(&bench, "s1", "\"Make it\"").context();
    message(&bench, "m1", TEXT, 40);
    message(&bench, "m1", TOOL, 40);
    message(&bench, "m1", TOOL, 40);
    commit(&bench, "commit: one");
    commit(&bench, "commit (amend): one");
    bench.stop("s1").run().reason();
    let ledger = bench.record("s1").ledger;
    assert_eq!((ledger.tool_calls, ledger.commits), (2, 1));
    assert_eq!((ledger.tokens, ledger.written_tokens), (3250, 40));

    // The client writes the rest of a message after the hook has run.
    message(&bench, "m1", TEXT, 41);
    message(&bench, "m2", TOOL, 9);
    commit(&bench, "checkout: moving from main to side");
    commit(&bench, "commit: two");
    let status = printed(&spool(&bench, None, &["status"]));
    status.has("Before this iteration: 2 tool calls, 1 commit, 3,250 tokens (40 of them written)");
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
    let end = bench.journal("s1").pop().unwrap();
    assert_eq!(
        [&end["tool_calls"], &end["commits"], &end["tokens"]],
        [&3.into(), &2.into(), &serde_json::json!(3251 + 3219)],
        "{end}"
    );
    let log = printed(&spool(&bench, None, &["log"]));
    assert!(log.contains("(3 tool calls, 2 commits, 6,470 tokens)"), "{log}");
}

#[test]
fn l9_commits_before_terminal_arming() {
    let bench = Bench::ready();
    commit(&bench, "commit (initial): before");
    printed(&spool(&bench, None, &["start"]));
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").run().reason();
    assert_eq!(bench.record("s1").ledger.commits, 0);
    commit(&bench, "commit: after");
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").run().reason();
    assert_eq!(bench.record("s1").ledger.commits, 1);
}

#[test]
fn l9_commits_before_first_stop() {
    let bench = Bench::in_execution();
    commit(&bench, "commit (initial): before");
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").run().reason();
    assert_eq!(bench.record("s1").ledger.commits, 0);
}

#[test]
fn awaited_work_counts_once() {
    let bench = armed("\"Make it\"");
    message(&bench, "m1", TOOL, 40);
    commit(&bench, "commit: one");
    let running = serde_json::json!([{"id": "a1", "type": "subagent", "status": "running", "description": "d"}]);
    for _ in 0..3 {
        bench.stop("s1").with("background_tasks", running.clone()).run().silent();
    }
    assert_eq!(bench.record("s1").ledger.tokens, 0);
    bench.stop("s1").run().reason();
    let ledger = bench.record("s1").ledger;
    assert_eq!((ledger.tool_calls, ledger.commits, ledger.tokens), (1, 1, 3250));
}

#[test]
fn hundred_calls_count_at_once() {
    let bench = armed("\"Make it\" --min-tool-calls 100");
    for _ in 0..99 {
        bench.transcript("s1").tool("Edit");
    }
    let refused = bench.stop("s1").saying(PROMISE).run();
    assert!(refused.reason().contains("only 99 tool calls of 100"), "{refused}");
    bench.transcript("s1").tool("Edit");
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
    assert_eq!(bench.record("s1").ledger.tool_calls, 100);

    let bench = armed("\"Make it\" --min-tool-calls 100");
    for _ in 0..300 {
        bench.transcript("s1").tool("Edit");
    }
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
}

#[test]
fn a_features_loop_counts_the_same() {
    let bench = Bench::armed();
    message(&bench, "m1", TOOL, 40);
    commit(&bench, "commit: one");
    bench.stop("s1").run().reason();
    let ledger = bench.record("s1").ledger;
    assert_eq!((ledger.tool_calls, ledger.commits, ledger.tokens), (1, 1, 3250));
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("1 tool call, 1 commit, 3,250 tokens"), "{status}");
}
