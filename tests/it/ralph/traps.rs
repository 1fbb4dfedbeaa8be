//! Where other loops break: each trap has a test that fails on the naive behaviour.

use crate::hook::support::Bench;
use crate::ralph::{PROMISE, armed, change, ralph, works_and_says};
use crate::support::has::Has;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

// Completion read from the wrong place.

#[test]
fn late_transcript_is_awaited() {
    let bench = armed("\"Make it\"");
    change(&bench);
    let running = bench.stop("s1").saying(PROMISE).start();
    bench.transcript("s1").tool("Edit");
    assert!(running.finish().told().contains(
        "PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 1 iteration"
    ));
}

#[test]
fn changed_files_replace_a_transcript() {
    let bench = armed("\"Make it\"");
    bench.write("src/main.rs", "fn main() {}");
    let stop = bench.stop("s1").saying(PROMISE).run();
    let words = "Make it · on the agent's word alone: no check; tool calls could not be counted; files or commits changed · 1 iteration";
    assert_eq!(stop.told(), format!("Ralph-speckit: done (PROMISE_ACCEPTED): {words}"));
}

#[test]
fn no_transcript_asks_once() {
    let bench = armed("\"Make it\"");
    let stop = bench.stop("s1").saying(PROMISE).run();
    assert!(stop.reason().contains("nothing stands behind it"), "{stop}");
    let stop = bench.stop("s1").saying(PROMISE).run();
    stop.told().has(" · on the agent's word alone: no check, no changed file · ");
    let words: Vec<_> =
        bench.journal("s1").into_iter().map(|entry| entry["words"].clone()).collect();
    let refused = "promise refused: there is no record to read, and no changed file was seen";
    assert_eq!(words[1], refused);
    assert_eq!(words[2], "done on the agent's word alone: no check, no changed file");
}

#[test]
fn broken_line_hides_no_promise() {
    for broken in [
        &b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"te"[..],
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"\x01\x02\x1b[2J\"}}",
        b"\xff\xfe\xfd",
        b"\0\0\0\0",
        b"[[[[[[",
        b"<promise>DONE</promise>",
    ] {
        let bench = armed("\"Make it\"");
        bench.transcript("s1").raw(broken).tool("Edit").raw(broken);
        bench.stop("s1").run().reason();
        assert_eq!(bench.record("s1").ledger.tool_calls, 1, "{broken:?}");
        bench.transcript("s1").raw(broken).assistant(PROMISE).raw(broken);
        change(&bench);
        bench.stop("s1").without("last_assistant_message").run().told();
    }
}

#[test]
fn huge_transcript_hides_no_promise() {
    let bench = armed("\"Make it\"");
    let transcript = bench.transcript("s1").tool("Edit");
    let mut file = File::options().write(true).open(&transcript.path).unwrap();
    file.seek(SeekFrom::Start(5 << 30)).unwrap();
    file.write_all(b"\n").unwrap();
    let transcript = transcript.tool("Bash").assistant("almost");
    bench.stop("s1").saying("almost").run().reason();
    transcript.assistant(PROMISE);
    change(&bench);
    bench.stop("s1").saying(PROMISE).run().told();
}

#[test]
fn earlier_promise_ends_nothing() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, PROMISE).told();
    // The client writes the last message after the hook has run.
    bench.transcript("s1").assistant(PROMISE);
    ralph(&bench, "s1", "\"Make that\"").context();
    bench.stop("s1").run().reason();
    bench.stop("s1").without("last_assistant_message").run().reason();
    let ledger = bench.record("s1").ledger;
    assert_eq!((ledger.tool_calls, ledger.iterations), (0, 2), "nothing is taken over");
}

#[test]
fn hook_words_are_not_agents() {
    let bench = armed("\"Make it\"");
    let stop = works_and_says(&bench, "no");
    let reason = stop.reason().to_owned();
    bench
        .transcript("s1")
        .user(&format!("Stop hook feedback:\n{reason}"))
        .user(PROMISE)
        .tool_result(PROMISE)
        .sidechain(PROMISE)
        .meta(PROMISE)
        .tool("Edit");
    bench.stop("s1").saying("I go on").run().reason();
    bench.stop("s1").without("last_assistant_message").run().reason();
}

#[test]
fn our_texts_promise_nothing() {
    let bench = Bench::folder();
    let start = ralph(
        &bench,
        "s1",
        "\"Make it\" --promise-match exact --check false --completion-promise DONE",
    );
    let mut texts = vec![start.context().to_owned(), start.message().to_owned()];
    for words in ["no", PROMISE] {
        bench.transcript("s1").assistant("x");
        let stop = bench.stop("s1").saying(words).run();
        texts.extend([stop.reason().to_owned(), stop.message().to_owned()]);
    }
    for text in texts {
        assert!(text.lines().all(|line| line.trim() != PROMISE), "{text}");
    }
}

// Done without work.

#[test]
fn earlier_tools_are_no_work() {
    let bench = Bench::folder();
    bench.transcript("s1").tool("Edit").tool("Edit").assistant("before");
    ralph(&bench, "s1", "\"Make it\"").context();
    bench.transcript("s1").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
}

#[test]
fn subagent_work_counts_once() {
    let bench = armed("\"Make it\" --min-tool-calls 2");
    bench.transcript("s1").tool("Task").sidechain("I edit").assistant(PROMISE);
    bench.stop("s1").saying(PROMISE).run().reason();
    assert_eq!(bench.record("s1").ledger.tool_calls, 1);
}

// Cannot be stopped, or stops too early.

#[test]
fn the_agent_may_stand_anywhere() {
    let bench = armed("\"Make it\"");
    let deep = bench.path("src/a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir_all(bench.path("vendor/.specify")).unwrap();
    let root = bench.root.to_str().unwrap();
    for folder in [deep, bench.path("vendor"), bench.path("src/gone"), bench.outside()] {
        bench.transcript("s1").tool("Bash");
        let stop = bench.stop("s1").standing_in(&folder);
        stop.variable("CLAUDE_PROJECT_DIR", root).run().reason();
    }
    // Another project, outside: the session's loop is where the session was started.
    fs::create_dir_all(bench.outside().join(".specify")).unwrap();
    bench.transcript("s1").tool("Bash");
    let stop = bench.stop("s1").standing_in(&bench.outside());
    stop.variable("CLAUDE_PROJECT_DIR", root).run().reason();
}

#[test]
fn session_start_places_the_loop() {
    let bench = Bench::folder();
    let root = bench.root.to_str().unwrap();
    let start = bench.command("s1", "speckit:ralph-loop", "\"Make it\"");
    let start = start.standing_in(&bench.path("src")).variable("CLAUDE_PROJECT_DIR", root).run();
    start.context();
    assert!(bench.loops().knows("s1"));
    works_and_says(&bench, "no").reason();
}

#[test]
fn unreadable_record_is_kept() {
    let bench = armed("\"Make it\"");
    let record = bench.record_path("s1");
    fs::write(&record, "{ broken").unwrap();
    for _ in 0..2 {
        let stop = works_and_says(&bench, "no");
        assert!(!stop.is_block() && stop.message().contains("session-s1.json"), "{stop}");
    }
    ralph(&bench, "s1", "\"Make it\"").context();
    let names: Vec<String> = fs::read_dir(record.parent().unwrap())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("session-s1.json.corrupt-")), "{names:?}");
    works_and_says(&bench, "no").reason();
}

// Wrong session.

#[test]
fn an_empty_session_id_holds_nobody() {
    let bench = armed("\"Make it\"");
    for id in [Value::Null, "".into(), "../s1".into()] {
        let call = bench.stop("x").with("session_id", id.clone()).without("transcript_path");
        call.run().silent();
        let start = bench.command("x", "speckit:ralph-loop", "\"Make it\"").with("session_id", id);
        assert!(start.without("transcript_path").run().reason().contains("no usable id"));
    }
}
