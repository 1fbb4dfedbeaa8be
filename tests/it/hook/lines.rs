//! A line that a full disk has torn costs that line and no other.

use crate::hook::support::{Bench, THREE_TASKS};
use serde_json::{Value, json};
use std::fs::File;

#[test]
fn l1_verdict_behind_torn_line_stays() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    let path = bench.path(".claude/ralph/s1/journal.jsonl");
    let whole = path.metadata().unwrap().len();
    File::options().write(true).open(&path).unwrap().set_len(whole - 9).unwrap();
    bench.write_tasks(&THREE_TASKS.replace("[ ] T002", "[x] T002"));
    bench.stop("s1").run().reason();
    // Any reader of lines finds the verdict, not only ours.
    let text = String::from_utf8(bench.loops().journal("s1")).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).expect(&text);
    assert_eq!((&last["event"], &last["iteration"]), (&json!("stop"), &json!(2)), "{text}");
}
