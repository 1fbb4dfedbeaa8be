//! Boxes of a list that are open and do not count: a loop never ends beside one in silence.

use serde_json::Value;

use crate::hook::support::{ALL_DONE, Bench, FEATURE, THREE_TASKS};
use crate::support::schema;
use crate::support::scratch::Said;

/// All that counts is ticked; beside it stand an optional task, and a line that is no task.
const BESIDE: &str = "# Tasks\n\n- [x] T001 Create it\n- [x] T002 Fill it\n- [x] T003 [VERIFY] Try it\n- [ ]* T004 Polish it\n\n**[ ] T005 Tell them**\n";
const OPEN: &str =
    "2 boxes are open and do not count: T004 (optional), line 8 (later: **[ ] T005 Tell them**)";

fn ended(bench: &Bench, arguments: &str, list: &str) -> crate::hook::outcome::Outcome {
    bench.implement("s1", arguments).context();
    bench.write_tasks(list);
    bench.transcript("s1").tool("Write");
    let stop = bench.stop("s1").run();
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed", "{stop}");
    stop
}

#[test]
fn the_end_names_boxes_beside_it() {
    let bench = Bench::ready();
    let stop = ended(&bench, "", BESIDE);
    assert!(stop.told().contains(&format!("3 of 3 tasks, but {OPEN}")), "{stop}");
    let entry = bench.journal("s1").pop().unwrap();
    assert!(entry["words"].as_str().unwrap().ends_with(OPEN), "{entry}");
    let log = Said::of(bench.spool().arg("log")).ok();
    assert!(log.contains(OPEN), "{log}");
    let input = serde_json::json!({"session_id": "s1", "cwd": bench.root}).to_string();
    let band = Said::with_input(bench.spool().args(["statusline", "--json"]), input).json();
    schema::holds("statusline", &band);
    let words = band["end"]["words"].as_str().unwrap();
    assert!(words.contains(&format!("3 of 3 tasks, but {OPEN}")), "{words}");
}

#[test]
fn a_quiet_end_names_them_too() {
    let bench = Bench::ready().settings("---\nquiet: true\n---\n");
    let stop = ended(&bench, "", BESIDE);
    assert!(stop.told().contains(OPEN), "{stop}");
}

#[test]
fn long_lines_keep_their_ends() {
    let bench = Bench::ready();
    let row = format!("| [ ] | {} |\n", "word ".repeat(20));
    let stop = ended(&bench, "", &format!("{ALL_DONE}\n{}", row.repeat(4)));
    let told = stop.told();
    assert!(told.contains("line 7 (table: ") && told.contains("wo…) · 1 iteration"), "{stop}");
}

#[test]
fn ticked_boxes_beside_are_not_named() {
    let bench = Bench::ready();
    let ticked = BESIDE.replace("[ ]", "[x]");
    ended(&bench, "", &ticked).silent();
}

#[test]
fn part_names_what_stands_inside() {
    let bench = Bench::ready();
    ended(&bench, "T002", BESIDE).silent();
    let bench = Bench::ready();
    let list = ALL_DONE.replace("- [x] T003", "**[ ] T005 Tell them**\n\n- [x] T003");
    let stop = ended(&bench, "T002", &list);
    assert!(stop.told().contains("1 box is open and does not count: line 5"), "{stop}");
}

#[test]
fn status_and_list_name_these_lines() {
    let bench = Bench::ready().tasks(&BESIDE.replace("[x] T003", "[-] T003"));
    let words = |arguments: &[&str]| Said::of(bench.spool().args(arguments)).ok();
    let in_json = |arguments: &[&str], form: &str| -> Value {
        let said = Said::of(bench.spool().args(arguments).arg("--json")).json();
        schema::holds(form, &said);
        said
    };
    let status = words(&["status"]);
    for line in [
        "  List: optional, and left out: T004\n",
        "  List: marked with something else than a tick, and count as open: T003\n",
        "  List: line 8 looks like a task and does not count, for its box does not stand first: **[ ] T005",
    ] {
        assert!(status.contains(line), "{line} not in {status}");
        let line = line.trim_start_matches("  List: ").trim_end();
        assert!(words(&["task", "list"]).contains(line), "{line}");
    }
    let listed = in_json(&["task", "list"], "task-list");
    let feature = in_json(&["status"], "status")["features"][0].clone();
    assert_eq!(feature["name"], FEATURE);
    assert_eq!(feature["asides"], listed["asides"]);
    let of = |aside: &Value| (aside["line"].clone(), aside["id"].clone(), aside["kind"].clone());
    let all: Vec<_> = listed["asides"].as_array().unwrap().iter().map(of).collect();
    let expected = [
        (5.into(), "T003".into(), "mark".into()),
        (6.into(), "T004".into(), "optional".into()),
        (8.into(), Value::Null, "later".into()),
    ];
    assert_eq!(all, expected);
    assert_eq!(listed["asides"][2]["why"], "its box does not stand first");
    assert_eq!(listed["asides"][2]["text"], "**[ ] T005 Tell them**");
}

#[test]
fn optional_tasks_count_before_arming() {
    let bench = Bench::ready().tasks("- [x] T001 Create it\n- [ ]* T002 Polish it\n");
    let bench = bench.settings("---\ninclude_optional: true\n---\n");
    let said = |call: &[&str]| Said::of(bench.spool().args(call)).ok();
    assert!(said(&["task", "list"]).ends_with("[ ] T002 Polish it\n1 of 2 done\n"));
    assert!(said(&["task", "next"]).starts_with("- [ ]* T002"));
    let status = said(&["status"]);
    assert!(status.contains("Tasks: 1 of 2 done\n  Open: T002\n"), "{status}");
}

#[test]
fn optional_tasks_count_where_asked() {
    let optional = |list: &str| format!("{list}- [ ]* T004 Polish it\n");
    let on = "---\ninclude_optional: true\n---\n";
    for (settings, flag) in [("", "--include-optional"), (on, "")] {
        let bench = Bench::ready().tasks(&optional(THREE_TASKS));
        let bench = if settings.is_empty() { bench } else { bench.settings(settings) };
        let armed = bench.implement("s1", flag);
        assert!(!armed.context().contains("left out"), "{armed}");
        bench.write_tasks(&optional(ALL_DONE));
        bench.transcript("s1").tool("Write");
        let stop = bench.stop("s1").run();
        assert!(stop.reason().contains("T004"), "{stop}");
        let list = Said::of(bench.spool().args(["task", "list"])).ok();
        assert!(list.ends_with("3 of 4 done\n"), "{list}");
        let next = Said::of(bench.spool().args(["task", "next"])).ok();
        assert!(next.contains("T004 Polish it"), "{next}");
        let status = Said::of(bench.spool().args(["status", "--json"])).json();
        let feature = &status["features"][0];
        assert_eq!((&feature["done"], &feature["total"]), (&3.into(), &4.into()), "{feature:#}");
        assert_eq!(feature["asides"], serde_json::json!([]));
        bench.write_tasks(&optional(ALL_DONE).replace("[ ]*", "[x]*"));
        bench.transcript("s1").tool("Write");
        bench.stop("s1").run().silent();
        assert_eq!(bench.verdicts("s1").last().unwrap(), "end completed");
    }
}

#[test]
fn a_flag_outranks_the_settings_here() {
    let bench = Bench::ready().settings("---\ninclude_optional: true\n---\n");
    let stop = ended(&bench, "--include-optional=false", BESIDE);
    assert!(stop.told().contains("T004 (optional)"), "{stop}");
}

#[test]
fn named_optional_task_is_looped() {
    let bench = Bench::ready().tasks(BESIDE);
    let armed = bench.implement("s1", "T004");
    assert!(armed.context().contains("Only these tasks: T004."), "{armed}");
    assert!(bench.stop("s1").run().reason().contains("T004"));
    bench.write_tasks(&BESIDE.replace("[ ]*", "[x]*"));
    bench.transcript("s1").tool("Write");
    let stop = bench.stop("s1").run();
    assert!(stop.told().contains("1 of 1 named task, but 1 box is open"), "{stop}");
    let refused = bench.implement("s2", "");
    assert!(refused.to_string().contains("nothing is open: all 3 tasks"), "{refused}");
}
