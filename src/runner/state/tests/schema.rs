//! The files in the form of spec 001 ("Ralph loop state file format"), of others, and of older loops.

use super::*;

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
    if schema["format"] == "date-time" && time_of(value.as_str().unwrap()).is_none() {
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
    serde_json::from_str(include_str!("../../../../schemas/loop-state.schema.json")).unwrap()
}

#[test]
fn state_file_location() {
    let desk = Desk::new();
    let files = desk.open();
    assert!(desk.document_path().is_file());
    assert_eq!(files.folder, desk.root().join(".spool/.state/ralph").join(ID));
    assert_eq!(fs::read_to_string(desk.root().join(".spool/.state/.gitignore")).unwrap(), "*\n");
    let beside: Vec<_> = fs::read_dir(desk.root().join(".claude")).unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
}

#[test]
fn state_file_location_is_the_tree() {
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
    let mut files = desk.open();
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
        (LoopStatus::Running, "running"),
        (LoopStatus::Done, "done"),
        (LoopStatus::Stuck, "stuck"),
        (LoopStatus::Stalled, "stalled"),
        (LoopStatus::Stopped, "stopped"),
    ] {
        files.state.status = status;
        files.state.done_criteria = DoneWhen::Manual;
        files.state.ended_at = iso(world::now());
        files.state.exit_code = Some(0);
        files.save().unwrap();
        assert_eq!(conforms(word)["status"], word);
        assert_eq!(status.word(), word);
    }
    files.state.status = LoopStatus::Running;
    files.begin(&begun(1)).unwrap();
    conforms("beginning");
    let everything = Iteration {
        tokens_estimated: true,
        cost_usd: Some(0.25),
        cost_estimated: true,
        timed_out: true,
        tool_calls: Some(3),
        denied: vec!["Bash".to_owned()],
        checks: vec![CheckResult {
            run: "make".to_owned(),
            passed: false,
            outcome: "exit code 2".to_owned(),
            tail: "no".to_owned(),
            review: None,
        }],
        session_id: "s1".to_owned(),
        log: "logs/1.log".to_owned(),
        ..finished(1)
    };
    files.end(&everything).unwrap();
    conforms("an iteration with every field");
}

#[test]
fn written_fields_are_in_schema() {
    let schema = schema();
    let page = include_str!("../../../../docs/reference/loop-state.md");
    let everything = Iteration {
        ended: Some(String::new()),
        head_at_start: "x".to_owned(),
        tokens_estimated: true,
        cost_usd: Some(0.25),
        cost_estimated: true,
        timed_out: true,
        interrupted: true,
        denied: vec![String::new()],
        checks: vec![CheckResult {
            run: String::new(),
            passed: true,
            outcome: String::new(),
            tail: String::new(),
            review: None,
        }],
        session_id: "x".to_owned(),
        log: "x".to_owned(),
        harness: "x".to_owned(),
        model: "x".to_owned(),
        ..Iteration::default()
    };
    let paid = LoopState {
        total_cost_usd: 0.25,
        cost_estimated: true,
        cost_unknown: true,
        agents: vec![AgentShare::default()],
        ..LoopState::default()
    };
    let of_state = serde_json::to_value(paid).unwrap();
    let of_iteration = serde_json::to_value(everything).unwrap();
    let item = &schema["properties"]["iterations"]["items"]["properties"];
    for (fields, rules) in [(of_state, &schema["properties"]), (of_iteration, item)] {
        for name in fields.as_object().unwrap().keys() {
            assert!(rules[name].is_object(), "the schema has no {name}");
            assert!(rules[name]["description"].is_string(), "{name} is not described");
        }
        for name in rules.as_object().unwrap().keys() {
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/reference/loop-state.md has no `{name}`"
            );
        }
    }
}

#[test]
fn schema_check_sees_wrongs() {
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
    let mut files = desk.open();
    files.begin(&begun(1)).unwrap();
    let running = desk.document();
    assert_eq!(running["current_iteration"], 1);
    assert_eq!(numbers(&running["iterations"]), [1]);
    assert!(running["iterations"][0].get("ended").is_none(), "{running:#}");
    let iteration = Iteration { timed_out: true, done_check: true, ..finished(1) };
    files.end(&iteration).unwrap();
    files.begin(&begun(2)).unwrap();
    files.end(&finished(2)).unwrap();
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

#[test]
fn foreign_fields_are_kept() {
    let desk = Desk::new();
    fs::create_dir_all(desk.root().join(".claude")).unwrap();
    fs::write(
        desk.document_path(),
        r#"{"worktree_name": "add-login", "status": "running", "label": "night", "colour": {"a": 1}}"#,
    )
    .unwrap();
    let mut files = desk.open();
    files.begin(&begun(1)).unwrap();
    let document = desk.document();
    assert_eq!(document["label"], "night");
    assert_eq!(document["colour"], json!({"a": 1}));
    assert_eq!(document["worktree_name"], ID);
    assert!(files.put_aside.is_empty());
}

#[test]
fn older_file_keeps_its_types() {
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
fn foreign_field_never_doubles() {
    let desk = Desk::new();
    let mut files = desk.open();
    for name in ["iterations", "iterations_left_out", "running_iteration"] {
        files.state.more.insert(name.to_owned(), json!(7));
    }
    files.save().unwrap();
    let text = fs::read_to_string(desk.document_path()).unwrap();
    assert_eq!(text.matches("\n  \"iterations\"").count(), 1, "{text}");
}
