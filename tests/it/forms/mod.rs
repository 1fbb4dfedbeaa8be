//! What programs read: every `--json` is held against its schema, and against the page that describes it.

mod fields;

use std::fs;
use std::path::Path;

use ralph_speckit::world::variable;
use serde_json::{Value, json};

use crate::books::support::{FOUR, Project, SESSION};
use crate::hook::support::{ALL_DONE, Bench};
use crate::runner::support::{Bench as RunnerBench, CHANGE, PROMISE, says};
use crate::support::schema::{Schema, holds};
use crate::support::scratch::Said;

/// Every form, by the name of its schema, with a command whose help has the `--json` that prints it.
const FORMS: [(&str, &str); 18] = [
    ("status", "status"),
    ("ralph-status", "ralph"),
    ("ralph-event", "ralph"),
    ("log", "log"),
    ("log-iteration", "log"),
    ("statusline", "statusline"),
    ("doctor", "doctor"),
    ("task-next", "task next"),
    ("task-list", "task list"),
    ("task-show", "task show"),
    ("task-proved", "task done"),
    ("task-noted", "task fail"),
    ("trust", "trust"),
    ("review", "review"),
    ("steered", "cancel"),
    ("ralph-plan", "ralph"),
    ("ralph-harnesses", "ralph"),
    ("setup", "setup"),
];

/// Set, it makes the test write the page on the fields instead of comparing it, as for the schemas.
const WRITE: &str = "RALPH_WRITE_SCHEMAS";

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The section of `docs/reference/json.md` on a form.
fn section(name: &str) -> String {
    let page = fs::read_to_string(checkout().join("docs/reference/json.md")).unwrap();
    let link = format!("(../../schemas/{name}.schema.json)");
    let sections = page.split("\n## ").find(|section| section.contains(&link));
    sections.unwrap_or_else(|| panic!("docs/reference/json.md does not link to {name}")).to_owned()
}

/// The JSON in the code blocks of a text.
fn examples(text: &str) -> Vec<Value> {
    let blocks = text.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let parse = |text: &str| -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    blocks.map(parse).collect()
}

#[test]
fn forms_have_schema_and_flag() {
    let bench = Bench::folder();
    for (name, command) in FORMS {
        let section = section(name);
        let examples = examples(&section);
        assert!(!examples.is_empty(), "docs/reference/json.md has no example of {name}");
        for example in &examples {
            holds(name, example);
        }
        let mut help = bench.spool();
        help.args(command.split(' ')).arg("--help");
        assert!(Said::of(&mut help).ok().contains("--json"), "spool {command} has no --json");
    }
    let kept = ["loop-state", "speckit-state"];
    for file in fs::read_dir(checkout().join("schemas")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".schema.json").unwrap();
        let is_known = kept.contains(&name) || FORMS.iter().any(|(form, _)| *form == name);
        assert!(is_known, "schemas/{name}.schema.json is the schema of nothing");
    }
}

#[test]
fn fields_page_comes_from_schemas() {
    let schemas = FORMS.map(|(name, _)| (name, Schema::named(name)));
    let forms: Vec<(&str, &Value)> =
        schemas.iter().map(|(name, schema)| (*name, schema.value())).collect();
    let page = fields::page(&forms);
    let path = checkout().join("docs/reference/json-fields.md");
    if variable(WRITE).is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == page,
        "write it again: {WRITE}=1 scripts/cargo test --test it forms::page"
    );
}

#[test]
fn e7_state_schema_is_complete() {
    let source = fs::read_to_string(checkout().join("src/runner/state/loop_state.rs")).unwrap();
    let schema = fs::read_to_string(checkout().join("schemas/loop-state.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let state = &schema["properties"];
    let iteration = &state["iterations"]["items"]["properties"];
    for (name, known) in [("LoopState", state), ("Iteration", iteration)] {
        let (_, body) = source.split_once(&format!("pub struct {name} {{")).unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        let fields = body.lines().filter_map(|line| line.trim().strip_prefix("pub "));
        for field in
            fields.filter_map(|line| line.split(':').next()).filter(|field| *field != "more")
        {
            assert!(!known[field].is_null(), "the schema has no `{field}` of {name}");
        }
    }
}

#[test]
fn schemas_describe_every_field() {
    fn undescribed(schema: &Value, found: &mut Vec<String>) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if field["description"].is_null() && name != "event" {
                found.push(name.clone());
            }
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|field| undescribed(field, found)),
            Value::Array(all) => all.iter().for_each(|item| undescribed(item, found)),
            _ => {}
        }
    }
    for (name, _) in FORMS {
        let mut found = Vec::new();
        undescribed(Schema::named(name).value(), &mut found);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn schema_check_sees_wrongs() {
    let right = json!({"version": 2, "line": null, "end": {"name": "completed", "words": "x"}});
    holds("statusline", &right);
    let problems = |change: fn(&mut Value)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        Schema::named("statusline").problems(&wrong).join("\n")
    };
    let said = [
        problems(|form| form["version"] = json!(1)),
        problems(|form| form["line"] = json!(3)),
        problems(|form| form["end"]["more"] = json!(1)),
        problems(|form| form["hash"] = json!(18_446_744_073_709_551_615_u64)),
        problems(|form| drop(form.as_object_mut().unwrap().remove("end"))),
    ];
    let expected =
        ["$.version: 1", "$.line: 3", "$.end: no schema has `more`", "`hash`", "missing"];
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.contains(expected), "{expected} not in {said}");
    }
    let far = json!({"version": 2, "at": "yesterday", "event": "waiting", "for": "x",
        "until": "2026-11-22T01:05:12.345+01:00", "words": ""});
    let said = Schema::named("ralph-event").problems(&far).join("\n");
    assert!(said.contains("$.at: \"yesterday\"") && said.contains("$.until"), "{said}");
}

/// The status of a project, in its form.
fn status(bench: &Bench) -> Value {
    let status = Said::of(bench.spool().args(["status", "--json"])).json();
    holds("status", &status);
    status
}

#[test]
fn status_keeps_its_form() {
    let settings = "---\nchecks:\n  - \"true\"\nnotify: \"true\"\n---\n";
    let bench = Bench::ready().settings(settings);
    assert_eq!(status(&bench)["features"][0]["loop"], Value::Null);
    Said::of(bench.spool().args(["start"])).ok();
    let unbound = status(&bench)["features"][0]["loop"].clone();
    assert_eq!((&unbound["state"], &unbound["session"]), (&json!("unbound"), &Value::Null));
    bench.implement("s1", "T002 use tabs").context();
    bench.stop("s1").run().reason();
    let live = status(&bench)["features"][0]["loop"].clone();
    assert_eq!((&live["state"], &live["armed_by"]), (&json!("live"), &json!("command")));
    assert_eq!((&live["iterations"], &live["sent_back"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&live["only_tasks"], &live["words_for_agent"]),
        (&json!(["T002"]), &json!("use tabs"))
    );
    assert_eq!(live["checks"][0]["run"], "true", "{live:#}");
    assert!(live["last_stop"]["at"].is_string() && live["armed_at"].is_string(), "{live:#}");
    Said::of(bench.spool().arg("pause")).ok();
    let paused = status(&bench)["features"][0]["loop"].clone();
    assert_eq!(
        (&paused["state"], &paused["pause"]["ends_by_itself"]),
        (&json!("paused"), &json!(false))
    );
    Said::of(bench.spool().arg("resume")).ok();
    bench.write_tasks(ALL_DONE);
    bench.stop("s1").run().silent();
    let ended = status(&bench)["features"][0]["loop"].clone();
    assert_eq!((&ended["state"], &ended["end"]["name"]), (&json!("ended"), &json!("completed")));
    bench.command("s2", "speckit:ralph-loop", "\"Make it\" --max-iterations 3").run();
    let task = status(&bench)["tasks"][0].clone();
    assert_eq!(
        (&task["kind"], &task["task"], &task["max_iterations"]),
        (&json!("task"), &json!("Make it"), &json!(3))
    );
    bench.cancel("s2", "");
    assert_eq!(status(&bench)["tasks"][0]["end"]["name"], "cancelled");
    let log = Said::of(bench.spool().args(["log", "--json"])).ok();
    for line in log.lines() {
        holds("log", &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn forms_hold_no_inner_fields() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    let path = bench.record_path("s1");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for name in ["tokens", "tool_calls", "commits"] {
        record["ledger"][name] = json!(u64::MAX);
    }
    fs::write(&path, record.to_string()).unwrap();
    let report = status(&bench);
    assert_eq!(report["features"][0]["loop"]["commits"], json!((1_u64 << 53) - 1));
    let text = report.to_string();
    for inner in ["hash", "fingerprint", "transcript_read", "ledger", "settled", "told"] {
        assert!(!text.contains(inner), "{inner} in {report:#}");
    }
}

#[test]
fn task_log_keeps_its_form() {
    let list = "- [ ] T001 First\n  - **Verify**: `true`\n- [ ] T002 Second\n  - **Verify**: `false`\n- [ ] T003 Third\n";
    let project = Project::armed(list);
    let said = |arguments: &[&str], form: &str| {
        let said = project.task(&[arguments, &["--json"]].concat());
        let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said}"));
        holds(form, &value);
        (said.code, value)
    };
    said(&["next"], "task-next");
    said(&["list"], "task-list");
    let (_, shown) = said(&["show", "T001"], "task-show");
    assert_eq!(
        (&shown["feature"], &shown["task"]["verify"]),
        (&json!("001-user-login"), &json!("true"))
    );
    let (code, proved) = said(&["verify", "T002"], "task-proved");
    assert_eq!((code, &proved["tasks"][0]["verify"]), (Some(1), &json!("failed")));
    let (code, proved) = said(&["done", "T001", "T002", "T003"], "task-proved");
    let tasks = proved["tasks"].as_array().unwrap();
    let became: Vec<_> =
        tasks.iter().map(|task| json!([task["id"], task["done"], task["verify"]])).collect();
    assert_eq!(
        json!(became),
        json!([["T001", true, "passed"], ["T002", false, "failed"], ["T003", true, "none"]])
    );
    assert_eq!((code, &tasks[1]["check"]["passed"]), (Some(1), &json!(false)));
    let (_, failed) = said(&["fail", "T002", "no"], "task-noted");
    assert_eq!(
        (&failed["used"], &failed["limit"], &failed["reason"]),
        (&json!(1), &json!(5), &Value::Null)
    );
    let (_, added) = said(&["add", "--after", "T002", "Repair it"], "task-noted");
    assert_eq!((&added["task"], &added["already"]), (&json!("T004"), &json!(false)), "{added}");
    let (_, blocked) = said(&["block", "a key"], "task-noted");
    assert_eq!(blocked["reason"], "blocked");
    assert_eq!(said(&["next"], "task-next").1["status"], "over");
}

#[test]
fn steering_answers_say_the_state() {
    let project = Project::armed(FOUR);
    let steered = |arguments: &[&str]| {
        let said = project.spool(&[arguments, &["--json"]].concat()).json();
        holds("steered", &said);
        said["loop"].clone()
    };
    assert_eq!(steered(&["pause"])["state"], "paused");
    let resumed = steered(&["resume", "--session", SESSION]);
    assert_eq!((&resumed["state"], &resumed["session"]), (&json!("live"), &json!(SESSION)));
    let ended = steered(&["cancel"]);
    assert_eq!((&ended["state"], &ended["end"]["name"]), (&json!("ended"), &json!("cancelled")));
    project.stop("It is over.").told();
    let armed = steered(&["start", "--max-iterations", "7"]);
    assert_eq!((&armed["about"], &armed["max_iterations"]), (&json!("001-user-login"), &json!(7)));
}

#[test]
fn block_says_the_state() {
    let feature = Project::armed(FOUR);
    let blocked = feature.spool(&["block", "a key is missing", "--json"]).json();
    holds("steered", &blocked);
    let ended = &blocked["loop"];
    assert_eq!(
        (&ended["kind"], &ended["session"], &ended["end"]["name"]),
        (&json!("feature"), &json!(SESSION), &json!("blocked")),
        "{blocked:#}"
    );
    let bench = Bench::folder();
    bench.command("s2", "speckit:ralph-loop", "\"Make it\" --max-iterations 3").run();
    let mut block = bench.spool();
    block.args(["block", "a key", "--json"]).env("CLAUDE_CODE_SESSION_ID", "s2");
    let blocked = Said::of(&mut block).json();
    holds("steered", &blocked);
    assert_eq!(
        (&blocked["loop"]["kind"], &blocked["loop"]["end"]["name"]),
        (&json!("task"), &json!("blocked")),
        "{blocked:#}"
    );
}

#[test]
fn planned_run_starts_nothing() {
    let bench = RunnerBench::new();
    bench.agent(&says(PROMISE));
    let plan = |arguments: &str| -> Value {
        let ran = bench.ralph(&format!("--dry-run --json {arguments}")).run().with_code(0);
        let plan: Value = serde_json::from_str(&ran.output).unwrap();
        holds("ralph-plan", &plan);
        plan
    };
    let made = plan("--check true --max-iterations 4 --max-runtime 90m --no-progress 0 --commit");
    assert_eq!((&made["change"]["name"], &made["agent"]["commit"]), (&json!(CHANGE), &json!(true)));
    assert_eq!(
        made["checks"],
        json!([{"run": "true", "review": false, "limit_seconds": 300, "expect": null, "min_tests": null}]),
        "{made:#}"
    );
    let limits = &made["limits"];
    assert_eq!((&limits["max_iterations"], &limits["no_progress"]), (&json!(4), &Value::Null));
    assert_eq!(limits["runtime_seconds"], json!(5400.0));
    let named =
        |setting: &Value| setting["name"] == "max-iterations" && setting["values"] == json!(["4"]);
    assert!(made["settings"].as_array().unwrap().iter().any(named), "{made:#}");
    let words = made["agent"]["command_line"]["words"].as_array().unwrap();
    assert!(words.iter().all(Value::is_string) && !words.is_empty(), "{made:#}");
    let prompt = made["prompt"].as_str().unwrap();
    assert!(prompt.contains(CHANGE), "{prompt}");
    let checked = plan("--done check --check true");
    assert_eq!((&checked["done_when"], &checked["promise"]), (&json!("check"), &Value::Null));
    let demo = bench.spool("ralph --harness demo --dry-run --json").run().with_code(0);
    let demo: Value = serde_json::from_str(&demo.output).unwrap();
    holds("ralph-plan", &demo);
    assert_eq!((&demo["change"], &demo["prompt"]), (&Value::Null, &Value::Null));
    assert_eq!(bench.runs(), 0);
}

#[test]
fn iteration_fits_80_columns() {
    let bench = RunnerBench::new();
    bench.agent(&format!(
        "if [ $n = 1 ]; then\necho I made it.\necho a > made.txt\ngit add made.txt\ngit commit -qm 'Make it'\n\
         else\necho two > two.txt\nfi\n{}",
        says(PROMISE)
    ));
    let ran = bench.ralph("").arg("--check").arg("test -e two.txt").run().with_code(0);
    let told = bench.spool(&format!("log --change {CHANGE} --iteration 1 --json")).run();
    let told: Value = serde_json::from_str(&told.with_code(0).output).unwrap();
    holds("log-iteration", &told);
    let iteration = &told["iteration"];
    assert_eq!((&iteration["number"], &told["harness"]), (&json!(1), &json!("command")), "{ran}");
    assert_eq!(iteration["checks"][0]["passed"], json!(false));
    assert_eq!(told["changed_lines"], json!([{"file": "made.txt", "added": 1, "removed": 0}]));
    assert_eq!(told["messages"][0]["message"], "Make it", "{told:#}");
    assert_eq!(told["steps"][0]["words"], "I made it.", "{told:#}");
    assert_eq!(told["prompt"].as_str().unwrap().trim(), bench.prompt(1).trim());
    // A short form, and the last one that failed: the second did not.
    let failed = bench.spool("log --change 2-1 --failed").run().with_code(0);
    failed.says(&format!("{CHANGE} · iteration 1 · command · "));
    failed.says("\n  +1 -0        made.txt\n").says(" Make it\n").says("\n  I made it.\n");
    failed.says("\n  failed  `test -e two.txt`: exit code 1\n");
    for line in failed.output.lines().filter(|line| !line.contains("/logs/")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // Without a change, the last one that ran.
    bench.spool("log --iteration 2").run().with_code(0).says("\n               two.txt\n");
    let none = bench.spool("log --iteration 3").run();
    none.warns(&format!("`{CHANGE}` has no iteration 3: the last one is 2"));
    assert_ne!(none.code, Some(0));
}

#[test]
fn runner_words_keep_their_form() {
    let bench = RunnerBench::new();
    bench.agent(&says(PROMISE));
    bench.ralph("").run().with_code(0);
    for arguments in ["--add-context Slowly", "--clear-context"] {
        let ran = bench.spool(&format!("ralph --change {CHANGE} --json {arguments}"));
        let said: Value = serde_json::from_str(&ran.run().with_code(0).output).unwrap();
        holds("steered", &said);
        assert_eq!(
            (&said["loop"]["about"], &said["loop"]["state"]),
            (&json!(CHANGE), &json!("ended")),
            "{said:#}"
        );
    }
}

#[test]
fn trust_is_listed_in_its_form() {
    let bench = Bench::ready().settings("---\nchecks:\n  - \"true\"\n---\n");
    Said::of(bench.spool().args(["trust", "--yes"])).ok();
    let trusted = Said::of(bench.spool().args(["trust", "--list", "--json"])).json();
    holds("trust", &trusted);
    assert_eq!(trusted["trusted"][0]["commands"], json!(["true"]), "{trusted:#}");
}

#[test]
fn runner_keeps_one_form() {
    let bench = RunnerBench::new();
    let gate = bench.gate();
    bench.agent(&format!("read -r _ < \"$DESK/gate\"\necho 1 > made.txt\n{}", says(PROMISE)));
    let status = || {
        let ran = bench.spool("status --json").run().with_code(0);
        let report: Value = serde_json::from_str(&ran.output).unwrap();
        holds("status", &report);
        let alone = bench.spool(&format!("ralph --status --json --change {CHANGE}"));
        let alone: Value = serde_json::from_str(&alone.run().with_code(0).output).unwrap();
        holds("ralph-status", &alone);
        let found = report["runners"][0]["loop"].clone();
        for name in ["state", "driver", "about", "process", "checks", "end"] {
            assert_eq!(alone["runner"]["loop"][name], found[name], "{name}");
        }
        found
    };
    let mut running = bench.ralph("--max-iterations 5 --check true").start();
    running.wait_for("-- iteration 1");
    let live = status();
    assert_eq!((&live["state"], &live["driver"]), (&json!("live"), &json!("runner")));
    assert_eq!((&live["process"], &live["max_iterations"]), (&json!(running.id()), &json!(5)));
    assert_eq!(live["checks"][0]["run"], "true", "{live:#}");
    gate.open();
    running.finish().with_code(0);
    let ended = status();
    assert_eq!((&ended["state"], &ended["process"]), (&json!("ended"), &Value::Null));
    assert_eq!(ended["end"]["name"], "completed");
    assert_eq!(ended["last_stop"]["words"], "all the work is done");
}

#[test]
fn agent_abilities_need_no_project() {
    let bench = RunnerBench::folder();
    let elsewhere = bench.beside("desk");
    let listed = bench.spool("ralph --list-harnesses --json").within(&elsewhere).run().with_code(0);
    let form: Value = serde_json::from_str(&listed.output).unwrap();
    holds("ralph-harnesses", &form);
    let all = form["harnesses"].as_array().unwrap();
    let reports: Vec<&str> = all
        .iter()
        .filter(|agent| agent["reports_cost"] == json!(true))
        .map(|agent| agent["harness"].as_str().unwrap())
        .collect();
    assert_eq!(reports, ["claude", "opencode"]);
    let words = bench.spool("ralph --list-harnesses").within(&elsewhere).run().with_code(0);
    words.says("name      --allow  --deny").says("command   no");
}
