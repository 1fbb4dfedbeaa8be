//! What the agent of a killed runner had ticked: the next runner judges it.

use std::fs;
use std::path::Path;

use filetime::FileTime;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::runner::support::{Bench, CHANGE, in_change};

const THREE: &str = "- [ ] 1.1 Write `a.rs`\n- [ ] 1.2 Write `b.rs`\n- [ ] 1.3 Write `c.rs`\n";
const SPEC_KIT: &str = "specs/001-login/tasks.md";

/// The fields of a receipt that are compared here.
const SHORT: &[&str] = &["task", "iteration", "proof", "own"];

/// What a script of an agent needs to tick a box of this list.
pub fn tick(list: &str) -> String {
    format!("tick() {{ sed -i \"s/\\[ \\] $1/[x] $1/\" {list}; }}\n")
}

/// Runs this call until its agent stands at the gate, and kills the runner there.
fn kill_at_the_gate(bench: &Bench, call: &super::support::Call<'_>, lock: &str) {
    let _ = fs::remove_file(bench.beside("desk/gate"));
    let gate = bench.gate();
    let running = call.start();
    gate.open();
    running.signal(Signal::KILL);
    running.finish();
    fs::File::open(bench.root.join(lock)).unwrap().lock_shared().unwrap();
}

/// A list and an agent that does the first task in its first run, ticks what this says in its second one, in which its runner
/// is killed, and does all that is open in later ones.
fn killed(second: &str) -> Bench {
    let bench = Bench::with_tasks(THREE);
    for file in ["b.rs", "c.rs"] {
        bench.write(file, "fn old() {}\n");
    }
    bench.agent(&format!(
        "{}case $n in\n1) echo 'fn a() {{}}' > a.rs; tick 1.1;;\n\
         2) {second}; read -r _ < \"$DESK/gate\"; exec sleep 60;;\n*) echo 'fn c() {{}}' > c.rs; tick 1.2; tick 1.3;;\nesac",
        tick(&in_change("tasks.md"))
    ));
    kill_at_the_gate(&bench, &bench.ralph(""), &super::support::in_state("lock"));
    bench
}

#[test]
fn killed_tick_is_judged_by_next() {
    let bench = killed("echo 'fn b() {}' > b.rs; tick 1.2; tick 1.3");
    assert_eq!(bench.receipts_in(CHANGE, SHORT), [json!(["1.1", 1, "files", ["a.rs"]])]);
    let ran = bench.ralph("").run().with_code(0);
    ran.says("  1.3 is open again: it was ticked, but it names c.rs");
    assert!(!format!("{ran}").contains("has no open task"), "{ran}");
    let prompt = bench.prompt(3);
    assert!(prompt.contains("The box of 1.3 is open again"), "{prompt}");
    let wanted = [
        json!(["1.1", 1, "files", ["a.rs"]]),
        json!(["1.2", 2, "files", ["b.rs"]]),
        json!(["1.3", 3, "files", ["c.rs"]]),
    ];
    assert_eq!(bench.receipts_in(CHANGE, SHORT), wanted, "{ran:?}");
    ran.says("Proved: 3 by files");
    ran.says("\n       Cost of 1.1: 1 iteration, ");
    ran.says("\n       Cost of 1.2: 1 iteration, ").says("\n       Cost of 1.3: 1 iteration, ");
    assert_eq!(bench.kept_for(CHANGE, "run-began"), None, "the run has ended");
    // All who read the iteration tell its tick, too.
    let shown = |arguments: &str| {
        let shown = bench.spool(&format!("{arguments} --change {CHANGE} --json")).run();
        let lines = shown.with_code(0).output;
        let all = serde_json::Deserializer::from_str(&lines).into_iter();
        all.map(Result::unwrap).collect::<Vec<Value>>()
    };
    assert_eq!(shown("log --iteration 2")[0]["iteration"]["tasks_ticked"], json!(["1.2"]));
    let status = shown("ralph --status").remove(0);
    let iterations = status["runner"]["iterations"].as_array().unwrap().clone();
    let second = iterations.iter().find(|iteration| iteration["number"] == 2).unwrap();
    assert_eq!(second["tasks_ticked"], json!(["1.2"]), "{status:#}");
    let cut_off = shown("log").into_iter().find(|entry| entry["event"] == "interrupted").unwrap();
    assert_eq!(cut_off["receipts"][0]["task"], json!("1.2"), "{cut_off:#}");
}

#[test]
fn killed_work_proves_a_later_tick() {
    let bench = killed("echo 'fn b() {}' > b.rs");
    let ran = bench.ralph("").run().with_code(0);
    assert!(!ran.output.contains("open again"), "{ran:?}");
    assert_eq!(bench.receipts_in(CHANGE, SHORT)[1], json!(["1.2", 3, "files", ["b.rs"]]));
}

#[test]
fn second_kill_is_judged_as_well() {
    let bench = killed("tick 1.2; cp a.rs d.rs");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "if [ $n = 3 ]; then read -r _ < \"$DESK/gate\"; exec sleep 60; fi\n\
         echo 'fn b() {{}}' > b.rs; echo 'fn c() {{}}' > c.rs; sed -i 's/\\[ \\]/[x]/' {list}"
    ));
    kill_at_the_gate(&bench, &bench.ralph(""), &super::support::in_state("lock"));
    assert_eq!(bench.read(&list), THREE.replacen("[ ]", "[x]", 1), "1.2 is open again");
    bench.ralph("").run().with_code(0).says("Proved: 3 by files");
    let all = bench.receipts_in(CHANGE, SHORT);
    let tasks: Vec<&Value> = all.iter().map(|receipt| &receipt[0]).collect();
    assert_eq!(tasks, ["1.1", "1.2", "1.3"]);
}

#[test]
fn armed_commands_and_protection_still_hold() {
    let bench = Bench::with_tasks(
        "- [ ] 1.1 Write `a.rs`\n  - Verify: `test -e proof`\n- [ ] 1.2 Write `b.rs`\n",
    );
    bench.write("check.sh", "true\n");
    bench.commit("a check");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "{}case $n in\n1) echo 'fn a() {{}}' > a.rs; tick 1.1;;\n\
         2) sed -i 's/test -e proof/true/' {list}; echo exit 0 > check.sh; read -r _ < \"$DESK/gate\"; exec sleep 60;;\n\
         3) echo 'fn b() {{}}' > b.rs; tick 1.1; tick 1.2;;\n4) git checkout -q check.sh; tick 1.1; tick 1.2;;\n*) touch proof;;\nesac",
        tick(&list)
    ));
    let call = || bench.ralph("--protect check.sh").arg("--check").arg("sh check.sh");
    kill_at_the_gate(&bench, &call(), &super::support::in_state("lock"));
    let ran = call().run().with_code(0);
    ran.says("protected files have changed: check.sh");
    ran.says("`test -e proof` failed: exit code 1").says("`test -e proof` passed");
    assert_eq!(bench.runs(), 5);
}

#[test]
fn done_judges_by_state_before_kill() {
    let bench = Bench::new();
    bench.write(
        SPEC_KIT,
        "- [ ] T001 Write `a.rs`\n- [ ] T002 Write `b.rs`\n- [ ] T003 Write `c.rs`\n",
    );
    bench.write(".specify/feature.json", "{\"feature_directory\": \"specs/001-login\"}\n");
    bench.write("specs/001-login/spec.md", "# Log in\n");
    bench.write("c.rs", "fn old() {}\n");
    bench.commit("a feature");
    let spool = crate::support::scratch::SPOOL;
    bench.agent(&format!(
        "{}done_() {{ {spool} task done $1 > \"$DESK/said-$1\" 2>&1; }}\ncase $n in\n\
         1) echo 'fn a() {{}}' > a.rs; done_ T001; echo 'fn b() {{}}' > b.rs; tick T003; read -r _ < \"$DESK/gate\"; exec sleep 60;;\n\
         *) done_ T002; echo 'fn c() {{}}' > c.rs; done_ T003;;\nesac",
        tick(SPEC_KIT)
    ));
    let call =
        || bench.spool("ralph Build --change 001-login --no-stay-awake --harness-command agent");
    kill_at_the_gate(&bench, &call(), ".spool/.state/ralph/001-login/lock");
    let ran = call().run().with_code(0);
    ran.says("  T003 is open again: it was ticked, but it names c.rs");
    ran.says("\n       Cost of T001: 1 iteration, ").says("\n       Cost of T002, T003: ");
    let wanted = [
        json!(["T001", "files", ["a.rs"]]),
        json!(["T002", "files", ["b.rs"]]),
        json!(["T003", "files", ["c.rs"]]),
    ];
    let all = bench.receipts_in("001-login", &["task", "proof", "own"]);
    assert_eq!(all, wanted, "{ran:?}{}", bench.desk("said-T002"));
}

#[test]
fn end_and_restart_leave_ticks_alone() {
    let bench = Bench::with_tasks(THREE);
    bench.agent(&format!(
        "echo $n > a.rs; sed -i 's/\\[ \\] 1.1/[x] 1.1/' {}",
        in_change("tasks.md")
    ));
    bench.ralph("--max-iterations 1").run().with_code(3);
    bench.tasks(&THREE.replace("[ ]", "[x]"));
    bench.agent("echo nothing");
    let ran = bench.ralph("").run().with_code(0);
    assert!(!ran.output.contains("open again"), "{ran:?}");
    let bench = killed("tick 1.2; tick 1.3");
    bench.agent("echo nothing");
    let ran = bench.ralph("--restart").run().with_code(0);
    assert!(!ran.output.contains("open again"), "{ran:?}");
}

#[test]
fn killed_run_is_told_before_next() {
    let bench = killed("echo 'fn b() {}' > b.rs; tick 1.2");
    let known = |ran: &super::ran::Ran| {
        ran.says("ralph: killed: process ")
            .says(" was killed in iteration 2, or the machine went down");
        ran.says("       2 iterations, ").says(", tokens unknown, 0 commits, 2 files\n");
        ran.says("       Proved: 1 by files");
        ran.says("Not in it: what iteration 2 used and left; the next run counts it from its log");
        ran.says("Run the same command again: it continues this loop.");
    };
    let summary = format!("log --summary --change {CHANGE}");
    known(&bench.spool(&summary).run().with_code(0));
    known(&bench.spool(&format!("log --change {CHANGE}")).run().with_code(0));
    // What is on the disk of that iteration is shown, although it has no end.
    for which in ["--iteration 2", "--failed"] {
        let story = bench.spool(&format!("log --change {CHANGE} {which}")).run().with_code(0);
        story.says("· iteration 2 ·").says("Prompt");
        let words =
            "  cut off: the runner was killed in it; the next run counts it and continues\n\n";
        story.says(words);
        assert!(!story.output.contains("0.0 s"), "{story}");
        assert!(!story.output.contains("interrupted"), "{story}");
    }
    let json = bench.spool(&format!("{summary} --json")).run().with_code(0);
    let event: Value = serde_json::from_str(&json.output).unwrap();
    crate::support::schema::holds("ralph-event", &event);
    assert_eq!(
        (&event["status"], &event["exit_code"]),
        (&json!("killed"), &json!(137)),
        "{event:#}"
    );
    assert_eq!((&event["iterations"], &event["tokens_complete"]), (&json!(2), &json!(false)));
    let status = bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0);
    status
        .says("Loop: dead")
        .says("  Tokens: unknown\n")
        .says("  Not in it: what iteration 2 used, in which the runner was killed\n");
    status.says(&format!("What it came to: spool log --summary --change {CHANGE}"));
    bench.ralph("").run().with_code(0);
    let ran = bench.spool(&summary).run().with_code(0);
    assert!(ran.output.starts_with("ralph: done") && !ran.output.contains("killed"), "{ran}");
}

#[test]
fn broken_kept_file_counts_no_box() {
    let broken = |end: &str, path: &Path| match end {
        "empty" => fs::write(path, "").unwrap(),
        "garbage" => fs::write(path, b"\xff\0\xfe garbage\n").unwrap(),
        "gone" => fs::remove_file(path).unwrap(),
        "folder" => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        "of another version" => {
            let kept = fs::read(path).unwrap();
            let text = b"seen5";
            let at = kept.windows(text.len()).position(|part| part == text).unwrap();
            let with = [&kept[..at], b"seen9".as_slice(), &kept[at + text.len()..]].concat();
            fs::write(path, with).unwrap();
        }
        _ => unreachable!("{end}"),
    };
    let bench = killed("tick 1.2; tick 1.3");
    let projects = bench.home().join(".local/state/ralph-speckit/projects");
    let folder = fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
    let list = bench.read(&in_change("tasks.md"));
    for (end, ways) in [
        ("run-began", &["empty", "garbage", "folder"][..]),
        ("run-list", &["empty", "garbage", "gone"]),
        ("run-armed", &["empty", "garbage", "gone", "folder", "of another version"]),
        ("run-contents", &["empty", "garbage", "gone", "of another version"]),
    ] {
        let path = folder.join(format!("receipts-{CHANGE}.{end}"));
        let whole = fs::read(&path).unwrap();
        for way in ways {
            broken(way, &path);
            let ran = bench.ralph("").run().with_code(1);
            for words in [&path.display().to_string(), "--restart begins a new loop"] {
                assert!(ran.errors.contains(words), "{end} {way}: {ran:?}");
            }
            assert_eq!(
                (bench.runs(), bench.read(&in_change("tasks.md"))),
                (2, list.clone()),
                "{end} {way}"
            );
            if *way == "folder" {
                fs::remove_dir(&path).unwrap();
            }
            fs::write(&path, &whole).unwrap();
        }
    }
    bench.agent(&format!(
        "echo 'fn b() {{}}' > b.rs; echo 'fn c() {{}}' > c.rs; sed -i 's/\\[ \\]/[x]/' {}",
        in_change("tasks.md")
    ));
    bench.ralph("").run().with_code(0).says("  1.3 is open again");
}

#[test]
fn folder_as_kept_file_is_named() {
    let bench = killed("tick 1.2");
    let projects = bench.home().join(".local/state/ralph-speckit/projects");
    let folder = fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
    let path = folder.join(format!("receipts-{CHANGE}.run-began"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let ran = bench.ralph("--restart").run().with_code(0);
    ran.warns(&format!("`{}` cannot be removed", path.display()));
}

#[test]
fn unfinished_iterations_show_no_figure() {
    let bench = Bench::with_tasks(THREE);
    bench.agent("read -r _ < \"$DESK/gate\"; exec sleep 60");
    let gate = bench.gate();
    let running = bench.ralph("").start();
    gate.open();
    let shown = |interrupted: bool, words: &str| {
        let text = bench.spool("log --iteration 1").run().with_code(0);
        text.says("· iteration 1 ·").says(&format!("\n  {words}\n\n"));
        assert!(!text.output.contains("0.0 s") && !text.output.contains("0 files"), "{text}");
        let story = bench.spool("log --iteration 1 --json").run().with_code(0);
        let story: Value = serde_json::from_str(&story.output).unwrap();
        crate::support::schema::holds("log-iteration", &story);
        let status = bench.spool(&format!("ralph --status --json --change {CHANGE}")).run();
        let status: Value = serde_json::from_str(&status.output).unwrap();
        crate::support::schema::holds("ralph-status", &status);
        for shown in [&story["iteration"], &status["runner"]["running_iteration"]] {
            for name in
                ["ended_at", "seconds", "files_changed", "tokens", "tool_calls", "failed_calls"]
            {
                assert_eq!(shown[name], Value::Null, "{name}: {shown:#}");
            }
            assert_eq!(shown["number"], 1, "{shown:#}");
        }
        assert_eq!(story["iteration"]["interrupted"], interrupted, "{story:#}");
    };
    shown(false, "still running: nothing is counted before its end");
    running.signal(Signal::KILL);
    running.finish();
    let lock = super::support::in_state("lock");
    fs::File::open(bench.root.join(lock)).unwrap().lock_shared().unwrap();
    shown(true, "cut off: the runner was killed in it; the next run counts it and continues");
}

#[test]
fn early_killed_runner_is_told_unnamed() {
    let bench = Bench::with_tasks(THREE);
    bench.agent("read -r _ < \"$DESK/gate\"; exec sleep 60");
    kill_at_the_gate(&bench, &bench.ralph(""), &super::support::in_state("lock"));
    let log = bench.spool("log").run().with_code(0);
    log.says("ralph: killed: process ").says("Run the same command again: it continues this loop.");
    let story = bench.spool("log --iteration 1").run().with_code(0);
    story.says("cut off: the runner was killed in it; the next run counts it and continues");
    let status = bench.spool("ralph --status").run().with_code(0);
    status.says("  Next: Run the same command again: it continues this loop.\n");
}

#[test]
fn start_removes_killed_leftovers_beside_list() {
    let bench = Bench::with_tasks(THREE);
    bench.agent(&format!("{}for n in 1 2 3; do tick 1.$n; done", tick(&in_change("tasks.md"))));
    // No process has the number 4194304.
    let new = |name: &str| {
        let file = bench.root.join(in_change(name));
        fs::write(&file, THREE).unwrap();
        file
    };
    let old = |name: &str| {
        let file = new(name);
        filetime::set_file_mtime(&file, FileTime::from_unix_time(1, 0)).unwrap();
        file
    };
    let stays =
        [old(&format!(".tasks.md.{}.0.tmp", std::process::id())), old(".notes.md.4194304.0.tmp")];
    let gone = [new(".tasks.md.4194304.1.tmp"), old(".tasks.md.4194304.0.tmp")];
    bench.ralph("--proof word").run().with_code(0);
    assert!(gone.iter().all(|file| !file.exists()), "{gone:?}");
    assert!(stays.iter().all(|file| file.exists()), "{stays:?}");
}
