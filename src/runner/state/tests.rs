//! The books on the disk: what stands in them after every step, and after every kind of death.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::engine::CheckResult;
use crate::runner::options::DoneCriteria;
use crate::runner::requests::Request;
use crate::runner::target::Kind;
use crate::store::names::VerdictName;

const ID: &str = "002-01_add-ralph-loop";

/// A project with one change.
struct Desk {
    scratch: TempDir,
    change: Change,
}

impl Desk {
    fn new() -> Self {
        let scratch = TempDir::with_prefix("books-").unwrap();
        let root = scratch.path().canonicalize().unwrap().join("project");
        let folder = root.join(".spool/changes").join(ID);
        fs::create_dir_all(&folder).unwrap();
        let change = Change {
            id: ID.to_owned(),
            kind: Kind::Spool,
            folder,
            worktree: root.clone(),
            root,
            module: Some("002".to_owned()),
        };
        Self { scratch, change }
    }

    fn open(&self) -> Books {
        Books::open(&self.change, starting()).unwrap()
    }

    fn refused(&self) -> String {
        format!("{:#}", Books::open(&self.change, starting()).unwrap_err())
    }

    fn root(&self) -> &Path {
        &self.change.root
    }

    fn folder(&self) -> PathBuf {
        state_folder(self.root(), &self.change.id)
    }

    fn document_path(&self) -> PathBuf {
        self.root().join(".claude/loop-state.json")
    }

    fn document(&self) -> Value {
        serde_json::from_slice(&fs::read(self.document_path()).unwrap()).unwrap()
    }

    fn state(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder().join("state.json")).unwrap()).unwrap()
    }

    fn history(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder().join("history.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn journal(&self) -> Vec<Entry> {
        let text = fs::read(self.folder().join("journal.jsonl")).unwrap_or_default();
        journal::entries(&text).0
    }
}

fn starting() -> LoopState {
    LoopState {
        task: "Make it work".to_owned(),
        harness: "demo".to_owned(),
        max_iterations: 50,
        stall_threshold: 2,
        iteration_timeout_min: 45.0,
        ..LoopState::default()
    }
}

fn begun(n: u32) -> Iteration {
    Iteration {
        n,
        started: iso(world::now()),
        head_at_start: format!("head{n}"),
        ..Iteration::default()
    }
}

fn finished(n: u32) -> Iteration {
    Iteration {
        commits: vec![format!("{n:040x}")],
        tokens_used: 100,
        exit_code: Some(0),
        verdict: VerdictName::Continue,
        words: "2 tasks are open".to_owned(),
        ended: Some(iso(world::now())),
        ..begun(n)
    }
}

/// The runner dies as by SIGKILL: nothing is written any more, and the system frees the locks.
fn kill(mut books: Books) {
    books.running = None;
    books.state.status = Status::Done;
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|it| it["n"].as_u64().unwrap()).collect()
}

/// What a value breaks of a schema, as far as ours goes.
fn problems(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let fits = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("a type that this check does not know: {other}"),
    };
    let allowed: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        _ => Vec::new(),
    };
    if !allowed.is_empty() && !allowed.iter().any(|kind| fits(kind)) {
        return vec![format!("{at}: {value} is none of {allowed:?}")];
    }
    let mut found = Vec::new();
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        found.push(format!("{at}: {value} is none of {words:?}"));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        found.push(format!("{at}: {number} is below {least}"));
    }
    if schema["format"] == "date-time" && millis_of(value.as_str().unwrap()).is_none() {
        found.push(format!("{at}: {value} is no time"));
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        found.extend(problems(&schema["properties"][name], field, &format!("{at}.{name}")));
    }
    for item in value.as_array().into_iter().flatten() {
        found.extend(problems(&schema["items"], item, &format!("{at}[]")));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        if value.get(name).is_none() {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    found
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../schemas/loop-state.schema.json")).unwrap()
}

// Spec 001, "Ralph loop state file format".

#[test]
fn state_file_location() {
    let desk = Desk::new();
    let books = desk.open();
    assert!(desk.document_path().is_file());
    assert_eq!(books.folder, desk.root().join(".spool/.state/ralph").join(ID));
    assert_eq!(fs::read_to_string(desk.root().join(".spool/.state/.gitignore")).unwrap(), "*\n");
    let beside: Vec<_> = fs::read_dir(desk.root().join(".claude")).unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
}

#[test]
fn state_file_location_is_the_work_tree_also_for_a_project_below_it() {
    let mut desk = Desk::new();
    let tree = desk.scratch.path().canonicalize().unwrap();
    desk.change.worktree.clone_from(&tree);
    let _books = desk.open();
    assert!(tree.join(".claude/loop-state.json").is_file());
    assert!(!desk.document_path().exists());
}

#[test]
fn state_file_schema() {
    let desk = Desk::new();
    let mut books = desk.open();
    let required = [
        "change_id",
        "status",
        "current_iteration",
        "max_iterations",
        "started_at",
        "task",
        "iterations",
        "done_criteria",
        "stall_threshold",
        "iteration_timeout_min",
        "total_tokens",
    ];
    let schema = schema();
    let conforms = |after: &str| {
        let document = desk.document();
        assert_eq!(problems(&schema, &document, "file"), Vec::<String>::new(), "after {after}");
        for name in required {
            assert!(document.get(name).is_some(), "{name} after {after}");
            let listed = schema["required"].as_array().unwrap().contains(&json!(name));
            assert!(listed, "the schema does not ask for {name}");
        }
        document
    };
    let document = conforms("opening");
    assert_eq!(document["status"], "starting");
    assert_eq!(document["change_id"], ID);
    assert_eq!(document["worktree_name"], ID);
    assert_eq!(document["iterations"], json!([]));
    assert_eq!(document["done_criteria"], "tasks");
    assert_eq!(document["pid"], std::process::id());
    for (status, word) in [
        (Status::Running, "running"),
        (Status::Done, "done"),
        (Status::Stuck, "stuck"),
        (Status::Stalled, "stalled"),
        (Status::Stopped, "stopped"),
    ] {
        books.state.status = status;
        books.state.done_criteria = DoneCriteria::Manual;
        books.state.ended_at = iso(world::now());
        books.state.exit_code = Some(0);
        books.save().unwrap();
        assert_eq!(conforms(word)["status"], word);
        assert_eq!(status.word(), word);
    }
    books.state.status = Status::Running;
    books.begin(&begun(1)).unwrap();
    conforms("beginning");
    let everything = Iteration {
        tokens_estimated: true,
        timed_out: true,
        tool_calls: Some(3),
        denied: vec!["Bash".to_owned()],
        checks: vec![CheckResult {
            run: "make".to_owned(),
            passed: false,
            outcome: "exit code 2".to_owned(),
            tail: "no".to_owned(),
        }],
        session_id: "s1".to_owned(),
        log: "logs/1.log".to_owned(),
        ..finished(1)
    };
    books.end(&everything).unwrap();
    conforms("an iteration with every field");
}

#[test]
fn every_field_that_is_written_is_in_the_schema_and_on_the_page() {
    let schema = schema();
    let page = include_str!("../../../docs/loop-state.md");
    let everything = Iteration {
        ended: Some(String::new()),
        head_at_start: "x".to_owned(),
        tokens_estimated: true,
        timed_out: true,
        interrupted: true,
        denied: vec![String::new()],
        checks: vec![CheckResult {
            run: String::new(),
            passed: true,
            outcome: String::new(),
            tail: String::new(),
        }],
        session_id: "x".to_owned(),
        log: "x".to_owned(),
        ..Iteration::default()
    };
    let of_state = serde_json::to_value(LoopState::default()).unwrap();
    let of_iteration = serde_json::to_value(everything).unwrap();
    let item = &schema["properties"]["iterations"]["items"]["properties"];
    for (fields, rules) in [(of_state, &schema["properties"]), (of_iteration, item)] {
        for name in fields.as_object().unwrap().keys() {
            assert!(rules[name].is_object(), "the schema has no {name}");
            assert!(rules[name]["description"].is_string(), "{name} is not described");
        }
        for name in rules.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{name}`")), "docs/loop-state.md has no `{name}`");
        }
    }
}

#[test]
fn the_check_of_the_schema_sees_what_is_wrong() {
    let wrong = json!({
        "change_id": 3, "status": "paused", "current_iteration": -1, "started_at": "today",
        "iterations": [{"n": "one", "commits": "none"}], "exit_code": "x",
    });
    let found = problems(&schema(), &wrong, "file").join("\n");
    for words in [
        "change_id: 3",
        "status: \"paused\"",
        "current_iteration: -1",
        "started_at: \"today\"",
        "iterations[].n",
        "iterations[].commits",
        "iterations[]: started is missing",
        "exit_code",
        "file: task is missing",
    ] {
        assert!(found.contains(words), "{words}\n{found}");
    }
}

#[test]
fn iteration_history_entry() {
    let desk = Desk::new();
    let mut books = desk.open();
    books.begin(&begun(1)).unwrap();
    let running = desk.document();
    assert_eq!(running["current_iteration"], 1);
    assert_eq!(numbers(&running["iterations"]), [1]);
    assert!(running["iterations"][0].get("ended").is_none(), "{running:#}");
    let iteration = Iteration { timed_out: true, done_check: true, ..finished(1) };
    books.end(&iteration).unwrap();
    books.begin(&begun(2)).unwrap();
    books.end(&finished(2)).unwrap();
    let document = desk.document();
    assert_eq!(numbers(&document["iterations"]), [1, 2]);
    let entry = &document["iterations"][0];
    for name in ["n", "started", "ended", "done_check", "commits", "tokens_used", "timed_out"] {
        assert!(entry.get(name).is_some(), "{name}: {entry:#}");
    }
    assert_eq!(entry["commits"], json!([format!("{:040x}", 1)]));
    let second = &document["iterations"][1];
    for name in ["timed_out", "tokens_estimated", "interrupted"] {
        assert!(second.get(name).is_none(), "{name} stands there although it is false");
    }
    assert_eq!(desk.history().len(), 2);
    assert_eq!(desk.history()[1]["run_started_at"], document["started_at"]);
}

// Spec 001, "Robust state recording on termination".

#[test]
fn partial_iteration_on_exit() {
    let desk = Desk::new();
    let mut books = desk.open();
    books.state.status = Status::Running;
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    books.begin(&Iteration { commits: vec!["abc".to_owned()], ..begun(2) }).unwrap();
    drop(books);
    let document = desk.document();
    assert_eq!(document["status"], "stopped");
    assert_eq!(numbers(&document["iterations"]), [1, 2]);
    let last = &document["iterations"][1];
    assert_eq!(last["interrupted"], true);
    assert_eq!(last["commits"], json!(["abc"]));
    assert!(millis_of(last["ended"].as_str().unwrap()).is_some());
    assert!(!document["ended_at"].as_str().unwrap().is_empty());
    assert_eq!(desk.history().len(), 2);
}

#[test]
fn an_end_that_was_written_down_stays_as_it_is() {
    let desk = Desk::new();
    let mut books = desk.open();
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    books.state.status = Status::Stopped;
    books.state.words = "SIGTERM".to_owned();
    books.save().unwrap();
    let before = fs::read(desk.document_path()).unwrap();
    drop(books);
    assert_eq!(fs::read(desk.document_path()).unwrap(), before);
}

#[test]
fn killed_with_sigkill_the_next_start_records_the_unfinished_iteration() {
    let desk = Desk::new();
    let mut books = desk.open();
    books.state.status = Status::Running;
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    books.begin(&begun(2)).unwrap();
    let run = books.state.started_at.clone();
    kill(books);
    let mut asked = String::new();
    let books = Books::open_with(&desk.change, starting(), |head| {
        asked = head.to_owned();
        vec!["c1".to_owned(), "c2".to_owned()]
    })
    .unwrap();
    assert_eq!(asked, "head2");
    let recovered = books.recovered.as_ref().unwrap();
    assert_eq!(recovered.iteration.as_ref().unwrap().n, 2);
    let history = desk.history();
    assert_eq!(history.len(), 2);
    assert_eq!(history[1]["interrupted"], true);
    assert_eq!(history[1]["run_started_at"], run.as_str());
    assert_eq!(history[1]["commits"], json!(["c1", "c2"]));
    assert!(history[1]["ended"].is_string());
    // The new run shows it in front of its own iterations, by the name of its run.
    let document = desk.document();
    assert_eq!(document["status"], "starting");
    assert_eq!(numbers(&document["iterations"]), [2]);
    assert_eq!(document["iterations"][0]["interrupted"], true);
    assert_eq!(document["iterations"][0]["run_started_at"], run.as_str());
    assert_eq!(desk.journal()[0].event.as_str(), "interrupted");
    drop(books);
    let books = desk.open();
    assert_eq!(books.recovered, None, "it is recorded once");
    assert_eq!(desk.history().len(), 2);
}

#[test]
fn the_last_output_of_the_agent_is_the_sign_of_life() {
    let desk = Desk::new();
    let mut books = desk.open();
    let (_file, log) = books.log(1).unwrap();
    books.begin(&Iteration { log: log.clone(), ..begun(1) }).unwrap();
    let printed = books.folder.join(&log);
    kill(books);
    // It began an hour ago, and the agent printed something after ten minutes.
    let hour_ago = world::now() - 3_600_000;
    let mut state = desk.state();
    state["updated_at"] = iso(hour_ago).into();
    state["running_iteration"]["started"] = iso(hour_ago).into();
    fs::write(desk.folder().join("state.json"), state.to_string()).unwrap();
    let seen = hour_ago + 600_000;
    let time = std::time::UNIX_EPOCH + Duration::from_millis(seen);
    filetime::set_file_mtime(&printed, time.into()).unwrap();
    let books = desk.open();
    let recovered = books.recovered.as_ref().unwrap();
    assert_eq!(millis_of(&recovered.seen_at), Some(seen));
    assert!((recovered.iteration.as_ref().unwrap().seconds - 600.0).abs() < 0.01);
    assert_eq!(desk.history()[0]["ended"], iso(seen));
}

#[test]
fn a_runner_killed_between_two_iterations_leaves_nothing_to_record() {
    let desk = Desk::new();
    let mut books = desk.open();
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    kill(books);
    let books = desk.open();
    assert_eq!(books.recovered.as_ref().unwrap().iteration, None);
    assert_eq!(desk.history().len(), 1);
    assert_eq!(desk.document()["iterations"], json!([]));
}

#[test]
fn old_logs_go_at_the_first_iteration_and_whenever_64_mib_more_were_logged() {
    let desk = Desk::new();
    let mut books = desk.open();
    let logs = books.folder.join("logs");
    // Files with a length and nothing in them.
    let write = |name: &str, length| {
        fs::File::create(logs.join(name)).unwrap().set_len(length).unwrap();
    };
    (1..=21).for_each(|number| write(&format!("1999-{number:04}.log"), 100 << 20));
    books.log(1).unwrap();
    assert!(!logs.join("1999-0001.log").exists());
    write("1999-0001.log", 1);
    let (second, _) = books.log(2).unwrap();
    assert!(logs.join("1999-0001.log").exists(), "nothing was logged in the first iteration");
    second.set_len(64 << 20).unwrap();
    books.log(3).unwrap();
    assert!(!logs.join("1999-0001.log").exists());
}

#[test]
fn an_iteration_that_does_not_count_is_in_the_history_only() {
    let desk = Desk::new();
    let mut books = desk.open();
    let (_, first_log) = books.log(1).unwrap();
    books.begin(&begun(1)).unwrap();
    books.give_back(&finished(1)).unwrap();
    assert_eq!(desk.document()["iterations"], json!([]));
    assert_eq!(desk.state()["running_iteration"], Value::Null);
    assert_eq!(desk.state()["current_iteration"], 0);
    let (_, second_log) = books.log(1).unwrap();
    assert_ne!(first_log, second_log, "no log is overwritten");
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    books.end(&finished(1)).unwrap();
    assert_eq!(desk.history().len(), 2, "an end that is told twice is recorded once");
    assert_eq!(numbers(&desk.document()["iterations"]), [1]);
}

#[test]
fn killed_in_the_iteration_after_one_that_did_not_count_is_recorded_too() {
    let desk = Desk::new();
    let mut books = desk.open();
    let at = |millis| Iteration { started: iso(millis), ..begun(1) };
    books.begin(&at(1000)).unwrap();
    books.give_back(&Iteration { ended: Some(iso(1500)), ..at(1000) }).unwrap();
    books.begin(&at(2000)).unwrap();
    kill(books);
    let books = desk.open();
    assert!(books.recovered.as_ref().unwrap().iteration.as_ref().unwrap().interrupted);
    let begins: Vec<Value> = desk.history().iter().map(|line| line["started"].clone()).collect();
    assert_eq!(begins, [iso(1000), iso(2000)]);
}

// Locks.

#[test]
fn a_second_runner_on_the_change_is_refused_and_told_of_the_first_one() {
    let desk = Desk::new();
    let books = desk.open();
    let words = desk.refused();
    let pid = format!("process {}", std::process::id());
    for part in [ID, pid.as_str(), ", since 2", "spool stop --change", "work tree"] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    assert_eq!(holder(&books.folder).unwrap().unwrap().pid, std::process::id());
    drop(books);
    assert_eq!(holder(&desk.folder()).unwrap(), None);
    drop(desk.open());
}

#[test]
fn a_second_runner_in_the_work_tree_is_refused_although_its_change_is_free() {
    let desk = Desk::new();
    let _books = desk.open();
    let other = Change { id: "003-01_other".to_owned(), ..desk.change.clone() };
    let error = Books::open(&other, starting()).unwrap_err();
    let taken = error.downcast_ref::<Taken>().unwrap();
    assert_eq!(taken.both, Both::WorkTree);
    assert_eq!(taken.change, ID);
    assert_eq!(taken.holder.pid, std::process::id());
    assert!(error.to_string().contains(&format!("spool stop --change {ID}")), "{error}");
    assert_eq!(desk.document()["change_id"], ID);
}

#[test]
fn whoever_looks_at_the_lock_keeps_no_runner_out() {
    let desk = Desk::new();
    drop(desk.open());
    std::thread::scope(|scope| {
        let looks =
            scope.spawn(|| (0..2000).filter_map(|_| holder(&desk.folder()).unwrap()).count());
        for _ in 0..20 {
            drop(desk.open());
        }
        looks.join().unwrap();
    });
}

// Files that are not as they should be.

#[test]
fn an_unreadable_file_is_kept_aside_and_never_overwritten() {
    for broken in ["{\"change_id\": \"x\"", "", "[]", "\"words\"", "{\"port\": 8080}", "\u{0}\u{1}"]
    {
        let desk = Desk::new();
        fs::create_dir_all(desk.root().join(".claude")).unwrap();
        fs::write(desk.document_path(), broken).unwrap();
        let books = desk.open();
        assert_eq!(books.put_aside.len(), 1, "{broken}");
        assert_eq!(fs::read_to_string(&books.put_aside[0]).unwrap(), broken);
        let name = books.put_aside[0].file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("loop-state.json.corrupt-"), "{name}");
        drop(books);
        let state = desk.folder().join("state.json");
        fs::write(&state, broken).unwrap();
        let books = desk.open();
        assert_eq!(fs::read_to_string(&books.put_aside[0]).unwrap(), broken);
        assert_eq!(desk.state()["change_id"], ID);
    }
}

#[test]
fn fields_of_others_are_kept_and_missing_ones_load() {
    let desk = Desk::new();
    fs::create_dir_all(desk.root().join(".claude")).unwrap();
    fs::write(
        desk.document_path(),
        r#"{"worktree_name": "add-login", "status": "running", "label": "night", "colour": {"a": 1}}"#,
    )
    .unwrap();
    let mut books = desk.open();
    books.begin(&begun(1)).unwrap();
    let document = desk.document();
    assert_eq!(document["label"], "night");
    assert_eq!(document["colour"], json!({"a": 1}));
    assert_eq!(document["worktree_name"], ID);
    assert!(books.put_aside.is_empty());
}

#[test]
fn a_file_of_the_older_loop_loads_with_its_types() {
    let older = json!({
        "worktree_name": "add-login", "task": "Do it", "done_criteria": "openspec", "max_iterations": 10,
        "current_iteration": 2, "status": "waiting:human", "terminal_pid": null, "change_id": null,
        "started_at": "2026-02-01T10:00:00+01:00", "stall_threshold": 2, "iteration_timeout_min": 45,
        "total_tokens": -5, "capacity_limit_pct": 80, "label": null,
        "iterations": [
            {"n": 1, "started": "2026-02-01T10:00:00+01:00", "ended": "2026-02-01T10:20:00+01:00",
             "done_check": false, "commits": ["abc"], "tokens_used": 1200, "team_mode": true},
            {"n": 2, "started": "2026-02-01T10:20:00+01:00", "commits": null}, "?"
        ]
    });
    let read = parse(older.to_string().as_bytes()).unwrap();
    assert_eq!(read.state.worktree_name, "add-login");
    assert_eq!(read.state.task, "Do it");
    assert_eq!((read.state.max_iterations, read.state.total_tokens), (10, 0));
    assert!((read.state.iteration_timeout_min - 45.0).abs() < f64::EPSILON);
    assert_eq!(read.state.more["capacity_limit_pct"], 80);
    assert_eq!(read.iterations.len(), 2);
    assert_eq!(read.iterations[0].commits, ["abc"]);
    assert_eq!(read.iterations[0].more["team_mode"], true);
    assert_eq!(read.iterations[1].n, 2);
    let desk = Desk::new();
    fs::create_dir_all(desk.root().join(".claude")).unwrap();
    fs::write(desk.document_path(), older.to_string()).unwrap();
    assert!(desk.open().put_aside.is_empty());
}

#[test]
fn a_field_of_others_never_stands_twice_in_the_file() {
    let desk = Desk::new();
    let mut books = desk.open();
    for name in ["iterations", "iterations_left_out", "running_iteration"] {
        books.state.more.insert(name.to_owned(), json!(7));
    }
    books.save().unwrap();
    let text = fs::read_to_string(desk.document_path()).unwrap();
    assert_eq!(text.matches("\n  \"iterations\"").count(), 1, "{text}");
}

#[test]
fn nothing_is_followed_out_of_the_project() {
    for place in [".spool/.state", ".spool/.state/ralph", ".claude"] {
        let desk = Desk::new();
        let outside = desk.scratch.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let path = desk.root().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&outside, &path).unwrap();
        let words = desk.refused();
        assert!(words.contains("leads out of the project"), "{place}: {words}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{place}");
    }
}

#[test]
fn what_is_not_a_file_is_refused_before_anything_begins() {
    let names = ["state.json", "history.jsonl", "journal.jsonl", "context.md", "lock"];
    for name in names {
        for kind in ["link", "folder", "pipe"] {
            let desk = Desk::new();
            let folder = make_state_folder(desk.root(), ID).unwrap();
            odd(&folder.join(name), kind, &desk);
            let words = desk.refused();
            assert!(words.contains(name) && words.contains("move it away"), "{kind}: {words}");
        }
    }
    for kind in ["link", "folder", "pipe"] {
        let desk = Desk::new();
        fs::create_dir_all(desk.root().join(".claude")).unwrap();
        odd(&desk.document_path(), kind, &desk);
        let words = desk.refused();
        assert!(words.contains("loop-state.json"), "{words}");
    }
}

fn odd(path: &Path, kind: &str, desk: &Desk) {
    match kind {
        "link" => {
            let outside = desk.scratch.path().join("victim");
            fs::write(&outside, "{}").unwrap();
            symlink(&outside, path).unwrap();
        }
        "folder" => fs::create_dir(path).unwrap(),
        _ => {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }
    }
}

#[test]
fn a_change_that_names_no_folder_is_refused() {
    for id in ["", "..", ".", "a/b", "/etc", "-x", "a\u{0}b", "a\nb", ".hidden", "a\\b"] {
        assert!(!is_change_id(id), "{id:?}");
        let mut desk = Desk::new();
        desk.change.id = id.to_owned();
        let words = desk.refused();
        assert!(words.contains("no folder may have"), "{id:?}: {words}");
        assert!(!words.contains('\u{0}'));
        assert!(find_state_folder(desk.root(), id).is_err());
    }
    for id in ["002-01_add-ralph-loop", "Überblick", "a b", &"x".repeat(200)] {
        assert!(is_change_id(id), "{id:?}");
    }
    assert!(!is_change_id(&"x".repeat(201)));
}

// Long runs.

#[test]
fn the_newest_two_hundred_are_listed_and_all_are_in_the_history() {
    let desk = Desk::new();
    let mut books = desk.open();
    for n in 1..=210 {
        books.ended.push(&finished(n)).unwrap();
        books.unwritten.extend(history::line("run", &finished(n)).unwrap());
        books.unwritten.push(b'\n');
    }
    books.save().unwrap();
    let document = desk.document();
    let listed = numbers(&document["iterations"]);
    assert_eq!((listed.len(), listed[0], listed[199]), (MOST_ITERATIONS, 11, 210));
    assert_eq!(document["iterations_left_out"], 10);
    assert_eq!(desk.history().len(), 210);
}

#[test]
fn the_list_stays_below_a_mebibyte_and_always_holds_the_last_one() {
    let mut ended = Ended::default();
    for n in 1..=20 {
        ended.push(&Iteration { words: "x".repeat(200_000), ..finished(n) }).unwrap();
    }
    let huge = Iteration { words: "x".repeat(2 * MOST_BYTES), ..finished(21) };
    let mut bytes = Bytes::default();
    bytes.fill(&starting(), &ended, None).unwrap();
    assert!(bytes.document.len() < MOST_BYTES + 4096);
    let read = parse(&bytes.document).unwrap();
    assert_eq!(read.iterations.len() as u64 + read.left_out, 20);
    assert_eq!(read.iterations.last().unwrap().n, 20);
    ended.push(&huge).unwrap();
    bytes.fill(&starting(), &ended, None).unwrap();
    let read = parse(&bytes.document).unwrap();
    assert_eq!((read.iterations.len(), read.iterations[0].n, read.left_out), (1, 21, 20));
}

#[test]
fn a_torn_line_of_the_history_costs_that_line_only() {
    let desk = Desk::new();
    let mut books = desk.open();
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    kill(books);
    let path = desk.folder().join("history.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"n\": 2, \"star");
    fs::write(&path, bytes).unwrap();
    let mut books = desk.open();
    books.begin(&begun(1)).unwrap();
    books.end(&finished(1)).unwrap();
    let found = tail(&path, 10).unwrap();
    assert_eq!((found.iterations.len(), found.unread), (2, 1));
}

#[test]
fn l1_an_iteration_behind_the_garbage_of_an_agent_is_in_the_history() {
    let desk = Desk::new();
    let mut books = desk.open();
    let path = desk.folder().join("history.jsonl");
    for n in 1..=2 {
        books.begin(&begun(n)).unwrap();
        let mut file = File::options().create(true).append(true).open(&path).unwrap();
        file.write_all(b"an agent was here").unwrap();
        books.end(&finished(n)).unwrap();
        let mut journal = File::options()
            .create(true)
            .append(true)
            .open(desk.folder().join("journal.jsonl"))
            .unwrap();
        journal.write_all(b"{\"at\":1,\"eve").unwrap();
        books.note(&Entry { at: u64::from(n), ..Entry::default() }).unwrap();
    }
    let found = tail(&path, 10).unwrap();
    let numbers: Vec<_> = found.iterations.iter().map(|past| past.iteration.n).collect();
    assert_eq!((numbers, found.unread), (vec![1, 2], 2));
    let (entries, unread) =
        journal::entries(&fs::read(desk.folder().join("journal.jsonl")).unwrap());
    assert_eq!((entries.len(), unread), (2, 2));
}

#[test]
fn the_tail_of_a_long_history_is_read_from_its_end() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("history.jsonl");
    let mut text = Vec::new();
    for n in 1..=5000 {
        let words = "x".repeat(if n == 4998 { 100_000 } else { 10 });
        text.extend(history::line("run", &Iteration { words, ..finished(n) }).unwrap());
        text.push(b'\n');
    }
    fs::write(&path, &text).unwrap();
    let last = tail(&path, 10).unwrap();
    let numbers: Vec<u32> = last.iterations.iter().map(|past| past.iteration.n).collect();
    assert_eq!(numbers, (4991..=5000).collect::<Vec<_>>());
    assert_eq!(last.unread, 0);
    assert_eq!(tail(&path, 0).unwrap().iterations.len(), 0);
    assert_eq!(tail(&scratch.path().join("none"), 3).unwrap(), Tail::default());
}

// Context and requests.

#[test]
fn context_is_added_and_cleared_while_a_runner_runs() {
    let desk = Desk::new();
    let books = desk.open();
    assert_eq!(books.context().unwrap(), "");
    let context = Context::of(&desk.folder());
    context.add("Use port 8081 $(touch pwned)").unwrap();
    context.add("Über\nalles\n").unwrap();
    assert_eq!(books.context().unwrap(), "Use port 8081 $(touch pwned)\n\nÜber\nalles\n");
    assert!(context.add(" \n").unwrap_err().to_string().contains("no words"));
    let words = context.add(&"x".repeat(MOST_CONTEXT)).unwrap_err().to_string();
    assert!(words.contains("--clear-context"), "{words}");
    context.clear().unwrap();
    context.clear().unwrap();
    assert_eq!(books.context().unwrap(), "");
    fs::write(desk.folder().join("context.md"), b"\xff").unwrap();
    assert!(books.context().unwrap_err().to_string().contains("not UTF-8"));
}

#[test]
fn many_who_add_context_at_once_lose_nothing() {
    let desk = Desk::new();
    let folder = make_state_folder(desk.root(), ID).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let context = Context::of(&folder);
            scope.spawn(move || {
                for line in 0..10 {
                    context.add(&format!("word {number} {line}")).unwrap();
                }
            });
        }
    });
    let text = Context::of(&folder).read().unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("word")).count(), 80);
}

#[test]
fn requests_reach_the_runner_and_can_be_taken_back() {
    let desk = Desk::new();
    let books = desk.open();
    let person = Requests::of(&desk.folder());
    let runner = books.requests();
    assert_eq!((runner.pending(), runner.paused()), (None, None));
    person.ask(Request::Pause).unwrap();
    assert_eq!(runner.pending(), Some(Request::Pause));
    assert!(runner.paused().unwrap() <= world::now());
    person.ask(Request::Stop).unwrap();
    assert_eq!(runner.pending(), Some(Request::Stop), "a stop outranks a pause");
    runner.clear_stop();
    person.ask(Request::Resume).unwrap();
    person.ask(Request::Resume).unwrap();
    assert_eq!((runner.pending(), runner.paused()), (None, None));
}

#[test]
fn a_stale_stop_of_an_earlier_run_never_ends_a_new_one() {
    let desk = Desk::new();
    drop(desk.open());
    Requests::of(&desk.folder()).ask(Request::Stop).unwrap();
    let books = desk.open();
    assert_eq!(books.requests().pending(), None, "it was there before the run began");
    // It was asked of another process, and only written down now.
    let stale = json!({"runner": std::process::id() + 1, "at": 5}).to_string();
    fs::write(desk.folder().join("stop"), stale).unwrap();
    assert_eq!(books.requests().pending(), None);
    // One that a person made by hand is meant for whoever runs.
    fs::write(desk.folder().join("stop"), "").unwrap();
    assert_eq!(books.requests().pending(), Some(Request::Stop));
}

// Every moment of death.

/// What a runner does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Save,
    Begin,
    End,
    GiveBack,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step =
        prop_oneof![Just(Step::Save), Just(Step::Begin), Just(Step::End), Just(Step::GiveBack)];
    prop::collection::vec(step, 1..8)
}

/// The files in the order in which a step writes them.
fn files(desk: &Desk) -> [PathBuf; 3] {
    [desk.folder().join("history.jsonl"), desk.folder().join("state.json"), desk.document_path()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// A runner that is killed in the middle of a step has written some of its files and not the
    /// others; beside them may lie a temporary file, cut anywhere.
    #[test]
    fn whenever_the_runner_dies_everything_loads_and_no_iteration_is_lost_or_counted_twice(
        lives in prop::collection::vec((steps(), 0..4_usize, 0..600_usize), 1..4)
    ) {
        let desk = Desk::new();
        let mut expected: Vec<(String, String)> = Vec::new();
        let mut clock = 0;
        for (steps, written, cut) in lives {
            let mut books = desk.open();
            books.state.status = Status::Running;
            let run = books.state.started_at.clone();
            let mut before = Vec::new();
            let mut expected_before = expected.clone();
            let mut n = 0;
            let mut open: Option<Iteration> = None;
            let mut open_before = None;
            for step in &steps {
                before = files(&desk).map(|path| fs::read(path).ok()).to_vec();
                expected_before.clone_from(&expected);
                open_before.clone_from(&open);
                match (step, open.take()) {
                    (Step::Save, running) => {
                        open = running;
                        books.save().unwrap();
                    }
                    (Step::Begin, running) => {
                        let iteration = running.unwrap_or_else(|| {
                            n += 1;
                            clock += 1;
                            Iteration { started: iso(clock), ..begun(n) }
                        });
                        books.begin(&iteration).unwrap();
                        open = Some(iteration);
                    }
                    (_, None) => {}
                    (step, Some(running)) => {
                        let ended = Iteration { started: running.started, ..finished(running.n) };
                        if matches!(step, Step::End) {
                            books.end(&ended).unwrap();
                        } else {
                            n -= 1;
                            books.give_back(&ended).unwrap();
                        }
                        expected.push((run.clone(), ended.started));
                    }
                }
            }
            let temporary = fs::read(desk.document_path()).unwrap();
            kill(books);
            // The last step got as far as `written` files.
            for (path, bytes) in files(&desk).iter().zip(&before).skip(written) {
                match bytes {
                    Some(bytes) => fs::write(path, bytes).unwrap(),
                    None => { let _ = fs::remove_file(path); }
                }
            }
            let name = desk.root().join(".claude/.loop-state.json.7.0.tmp");
            fs::write(&name, &temporary[..cut.min(temporary.len())]).unwrap();
            filetime::set_file_mtime(&name, filetime::FileTime::from_unix_time(1, 0)).unwrap();
            for path in files(&desk).iter().skip(1) {
                parse(&fs::read(path).unwrap()).unwrap();
            }
            // What is to be found: all that had ended, and what the state file shows as running.
            if written == 0 {
                expected = expected_before;
            }
            let running = if written >= 2 { open } else { open_before };
            let running = running.map(|iteration| (run.clone(), iteration.started));
            if let Some(entry) = running.filter(|entry| !expected.contains(entry)) {
                expected.push(entry);
            }
            let books = desk.open();
            prop_assert!(books.put_aside.is_empty());
            prop_assert!(!name.exists(), "a leftover stays");
            let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
            let entry = |line: &Value| (text(line, "run_started_at"), text(line, "started"));
            let found: Vec<_> = desk.history().iter().map(entry).collect();
            prop_assert_eq!(&found, &expected);
            let all_ended = desk.history().iter().all(|line| line["ended"].is_string());
            prop_assert!(all_ended);
            kill(books);
        }
    }
}
