//! A task that is added to the list of a loop.

use std::fs;

use serde_json::json;

use crate::hook::support::{Bench, FEATURE};
use crate::support::scratch::Said;

#[test]
fn an_added_task_takes_no_armed_id() {
    let list = "- [x] T001 Open it\n- [ ] T002 Fill it\n- [ ] T003 Close it\n";
    let bench = Bench::project().current_feature(FEATURE).tasks(list);
    bench.implement("s1", "T002").context();
    let fewer = "- [ ] T001 Fill it\n- [ ] T002 Close it\n";
    fs::write(bench.feature_path("tasks.md"), fewer).unwrap();
    let spool = |arguments: &[&str]| {
        Said::of(bench.spool().args(arguments).env("CLAUDE_CODE_SESSION_ID", "s1"))
    };
    let added = spool(&["task", "add", "--after", "T001", "Weigh it"]).ok();
    assert!(added.contains("T004"), "T003 is armed: {added}");
    let list = spool(&["task", "list", "--json"]).json();
    assert_eq!((&list["done"], &list["total"]), (&json!(0), &json!(2)), "{list:#}");
}
