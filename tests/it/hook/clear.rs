//! `/clear` in a session with a loop: the loop goes on in the session that follows in the same process.

use crate::hook::outcome::Outcome;
use crate::hook::support::{Bench, Call};
use crate::support::scratch::Said;
use serde_json::json;
use std::fs;

/// What this client's list says: this process has the session.
fn lists(bench: &Bench, session: &str) {
    let folder = bench.outside().join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let id = std::process::id();
    let entry = json!({"pid": id, "sessionId": session, "status": "busy"});
    fs::write(folder.join(format!("{id}.json")), entry.to_string()).unwrap();
}

fn in_client<'a>(bench: &'a Bench, call: Call<'a>, session: &str) -> Outcome {
    let path = bench.outside().join(format!("projects/-some-project/{session}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    call.with("transcript_path", path.to_str().unwrap()).run()
}

fn clears(bench: &Bench, session: &str) -> Outcome {
    in_client(bench, bench.event("SessionStart", session).with("source", "clear"), session)
}

#[test]
fn t6_next_session_continues_the_loop() {
    // Also where the list still has the session before.
    for listed in ["s2", "s1"] {
        let bench = Bench::ready();
        lists(&bench, "s1");
        in_client(&bench, bench.command("s1", "speckit:implement", ""), "s1").context();
        bench.stop("s1").run().reason();
        lists(&bench, listed);
        let answer = clears(&bench, "s2");
        assert!(answer.to_string().contains("task 2 of 3"), "{answer}");
        assert!(answer.message().contains("goes on in this session"), "{answer}");
        bench.transcript("s2").tool("Edit");
        assert!(bench.stop("s2").run().reason().contains("T002"));
        bench.stop("s1").run();
        assert!(!bench.record("s1").ledger.is_live(), "never in two sessions");
        // Once more.
        lists(&bench, "s3");
        assert!(clears(&bench, "s3").message().contains("goes on in this session"));
    }
}

#[test]
fn paused_loop_says_its_continuation() {
    let bench = Bench::ready();
    lists(&bench, "s1");
    in_client(&bench, bench.command("s1", "speckit:implement", ""), "s1").context();
    Said::of(bench.spool().arg("pause")).ok();
    lists(&bench, "s2");
    let answer = clears(&bench, "s2");
    assert!(answer.message().contains("`spool resume`"), "{answer}");
    assert!(bench.stop("s2").run().message().contains("paused"));
}

#[test]
fn a_loop_of_another_process_stays() {
    let bench = Bench::armed();
    lists(&bench, "s2");
    clears(&bench, "s2").silent();
    bench.stop("s1").run().reason();
    let bench = Bench::project();
    lists(&bench, "s2");
    clears(&bench, "s2").silent();
}
