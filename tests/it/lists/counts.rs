//! Hook, session commands and runner count a list alike, and as the table does.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{rows, words};
use crate::hook::support::{Bench, FEATURE};
use crate::support::limited::Limited;
use crate::support::scratch::Said;

#[test]
fn every_program_counts_the_same() {
    let mut tools: Vec<PathBuf> = Vec::new();
    for row in rows() {
        // One list of each tool: every program runs on it.
        let tool = row.file.parent().unwrap().to_owned();
        let (open, done) = (words(&row.cells[0]).len(), words(&row.cells[1]).len());
        if open == 0 || done == 0 || tools.contains(&tool) {
            continue;
        }
        tools.push(tool);
        let (name, all) = (row.file.display(), open + done);
        let bench = || {
            let bench = Bench::ready();
            fs::copy(&row.file, bench.feature_path("tasks.md")).unwrap();
            bench
        };

        let session = bench();
        let armed = session.implement("s1", "");
        let counted = format!("{open} of {all} tasks open");
        assert!(armed.context().contains(&counted), "{name}: {armed}");
        assert_eq!(session.read_state()["totalTasks"], json!(all), "{name}");
        let said = |arguments: &[&str]| Said::of(session.spool().args(arguments)).json();
        let list = said(&["task", "list", "--json"]);
        assert_eq!((&list["done"], &list["total"]), (&json!(done), &json!(all)), "{name}");
        let feature = &said(&["status", "--json"])["features"][0];
        assert_eq!((&feature["done"], &feature["total"]), (&json!(done), &json!(all)), "{name}");
        assert_eq!(feature["open"].as_array().map(Vec::len), Some(open), "{name}");
        let input = json!({"session_id": "s1", "cwd": session.root}).to_string();
        let band = Said::with_input(session.spool().arg("statusline"), input).ok();
        assert!(band.contains(&format!(" {done} of {all} ·")), "{name}: {band}");

        let runner = bench();
        fs::write(runner.feature_path("spec.md"), "# What is wanted\n").unwrap();
        let run = ["ralph", "--harness-command", "true", "--max-iterations", "1", "--change"];
        let ended = runner.spool().args(run).arg(FEATURE).finish();
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(told.contains(&format!(" {done}/{all} tasks")), "{name}: {told}");
    }
    assert!(tools.len() >= 25, "{} tools", tools.len());
}
