//! What a try left that did not come to its own end: kept under a ref, and named to the next agent and the person.

use crate::support::has::Has;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::runner::ran::Ran;
use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, PROMISE, in_change, says};

/// An agent whose first run changes two files and then does this; its second one comes to its own end.
fn first_run(bench: &Bench, then: &str) {
    bench.write("tracked.txt", "as it was\n");
    bench.commit("a file");
    bench.agent(&format!(
        "if [ $n = 1 ]; then printf 'half of an ed' > tracked.txt; echo new > new.txt; {then}\nfi\n{}",
        says(PROMISE)
    ));
}

/// What a first run does that a limit of time ends.
const SAYS_SO_AND_STAYS: &str = "echo half done; exec sleep 600";

/// Runs a loop whose first try a limit of an hour ends.
fn cut_short(bench: &Bench, limit: &str) -> Ran {
    let mut running = bench.ralph(limit).start();
    running.wait_for("half done");
    if limit.contains("idle") {
        bench.let_pass_until(MORE_THAN_AN_HOUR, &mut running, "-- iteration 1 (");
    } else {
        bench.let_pass(MORE_THAN_AN_HOUR);
    }
    running.finish()
}

/// The only ref of ours.
fn the_ref(bench: &Bench) -> String {
    let refs = bench.git(&["for-each-ref", "--format=%(refname)", "refs/ralph"]);
    let refs: Vec<&str> = refs.lines().collect();
    let [only] = refs[..] else { panic!("{refs:?}") };
    assert!(only.starts_with(&format!("refs/ralph/{CHANGE}/20")) && only.ends_with("-1"), "{only}");
    only.to_owned()
}

/// The ref has what was on the disk, and the second prompt says where it is.
fn is_kept_and_named(bench: &Bench) -> String {
    let name = the_ref(bench);
    assert_eq!(bench.git(&["show", &format!("{name}:tracked.txt")]), "half of an ed");
    assert_eq!(bench.git(&["show", &format!("{name}:new.txt")]), "new");
    let prompt = bench.prompt(2);
    prompt.has(&format!(
        "- The last try did not come to its own end. The work tree as it was then is kept as `{name}`: `git show {name}` shows what it had changed, `git diff {name}` what is different now.",
    ));
    name
}

#[test]
fn timed_out_tries_are_kept() {
    let bench = Bench::new();
    first_run(&bench, SAYS_SO_AND_STAYS);
    let ran = cut_short(&bench, "--iteration-timeout 1h").with_code(0);
    let name = is_kept_and_named(&bench);
    ran.says(&format!("unfinished work is kept as {name}"));
    let history = bench.state_lines("history.jsonl");
    assert_eq!((&history[0]["kept_as"], &history[1]["kept_as"]), (&json!(name), &Value::Null));
    assert_eq!(bench.state()["kept_as"], Value::Null, "the second one came to its own end");
    let journal = bench.state_lines("journal.jsonl");
    let told = |entry: &Value| entry["words"].as_str().is_some_and(|words| words.ends_with(&name));
    assert!(journal.iter().any(told), "{journal:#?}");
    assert_eq!(bench.git(&["status", "--porcelain", "tracked.txt"]), "M tracked.txt");
}

#[test]
fn crashed_tries_are_kept_once() {
    let bench = Bench::new();
    first_run(&bench, "exit 7; elif [ $n -lt 4 ]; then exit 7");
    let ran = bench.ralph("").run().with_code(0);
    let name = is_kept_and_named(&bench);
    assert_eq!(bench.runs(), 4);
    // What all of them have left is named once in the end.
    ran.says(&format!("       Earlier tries: git show {name}\n"));
    assert_eq!(ran.output.matches(&format!("git show {name}")).count(), 1, "{ran}");
    for run in 3..=4 {
        assert!(bench.prompt(run).contains(&name), "run {run}");
    }
}

#[test]
fn usage_limited_tries_are_kept() {
    let bench = Bench::new();
    bench.claude(&format!(
        "if [ $n = 1 ]; then echo half > half.txt; limit $(($(date +%s) + 1)); fi\ncalls Bash\nsays '{PROMISE}'\nresult '{PROMISE}'"
    ));
    let mut running = bench.ralph("--max-limit-wait 0").start();
    running.wait_for("waiting for the usage limit, ");
    bench.let_pass(MORE_THAN_AN_HOUR);
    running.finish().with_code(0);
    let name = the_ref(&bench);
    assert_eq!(bench.git(&["show", &format!("{name}:half.txt")]), "half");
    let prompt = bench.arguments(2).join("\n");
    assert!(prompt.contains(&format!("is kept as `{name}`")), "{prompt}");
}

#[test]
fn tries_at_loop_limits_are_kept() {
    let limits = [
        "--max-runtime 1h",
        "--iteration-timeout 1h --max-iterations 1",
        "--idle-timeout 1h --max-iterations 1",
    ];
    std::thread::scope(|scope| {
        for limit in limits {
            scope.spawn(move || {
                let bench = Bench::new();
                first_run(&bench, SAYS_SO_AND_STAYS);
                let ran = cut_short(&bench, limit);
                assert!(ran.code != Some(0), "{limit}: {ran}");
                let name = the_ref(&bench);
                ran.says(&format!("Unfinished work: git show {name}"));
                bench.ralph("").run().with_code(0);
                is_kept_and_named(&bench);
            });
        }
    });
}

#[test]
fn interrupted_tries_are_kept() {
    let bench = Bench::new();
    let witness = Bench::witness();
    first_run(&bench, &format!("{}echo ready >&9; sleep 600", witness.held()));
    let running = bench.ralph("").start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    let name = the_ref(&bench);
    ran.says(&format!("Unfinished work: git show {name}"));
    let status = bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0);
    status.says(&format!("Kept: {name}\n"));
    status.says(&format!("(remove it: git update-ref --no-deref -d {name})"));
    let status = bench.spool(&format!("ralph --status --json --change {CHANGE}")).run();
    let form: Value = serde_json::from_str(&status.output).unwrap();
    assert_eq!(form["runner"]["kept_as"], json!(name));
    assert_eq!(form["runner"]["iterations"][0]["kept_as"], json!(name));
    bench.ralph("").run().with_code(0);
    is_kept_and_named(&bench);
}

#[test]
fn killed_tries_are_kept() {
    let bench = Bench::new();
    let witness = Bench::witness();
    first_run(&bench, &format!("{}echo ready >&9; sleep 600", witness.held()));
    let running = bench.ralph("").start();
    witness.wait_for("ready");
    running.signal(Signal::KILL);
    running.finish();
    witness.wait_for_the_end();
    bench.ralph("").run().with_code(0);
    is_kept_and_named(&bench);
}

#[test]
fn committed_and_finished_tries_stay_unkept() {
    let bench = Bench::new();
    first_run(&bench, SAYS_SO_AND_STAYS);
    cut_short(&bench, "--commit --iteration-timeout 1h").with_code(0);
    assert_eq!(bench.git(&["for-each-ref", "refs/ralph"]), "");
    assert!(!bench.prompt(2).contains("is kept as"));

    let bench = Bench::with_tasks("- [ ] 1.1 a\n- [ ] 1.2 b\n");
    let list = in_change("tasks.md");
    bench.agent(&format!("echo $n > new.txt; sed -i \"s/\\[ \\] 1.$n/[x] 1.$n/\" {list}"));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.git(&["for-each-ref", "refs/ralph"]), "");
}

#[test]
fn without_git_nothing_is_kept() {
    let bench = Bench::folder();
    bench.agent(&format!("if [ $n = 1 ]; then echo new > new.txt; exit 7; fi\n{}", says(PROMISE)));
    let ran = bench.ralph("").run().with_code(0);
    assert!(!ran.output.contains("kept"), "{ran}");
    assert!(!bench.prompt(2).contains("kept"));
}

#[test]
fn failing_git_is_named_and_passed() {
    let bench = Bench::new();
    first_run(&bench, &format!("git update-ref refs/ralph/{CHANGE} HEAD; exit 7"));
    let ran = bench.ralph("").run().with_code(0);
    ran.warns("what the unfinished iteration left is only in the work tree, git did not keep it: `git update-ref` failed");
    assert!(!bench.prompt(2).contains("is kept as"));
}

/// The names of what there is of ours in git's own folder.
fn left_in_git(bench: &Bench) -> Vec<String> {
    let entries = std::fs::read_dir(bench.root.join(".git")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut ours: Vec<String> = names.filter(|name| name.starts_with("ralph-")).collect();
    ours.sort();
    ours
}

#[test]
fn next_runner_clears_git_leftovers() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\n{}", says("On it.")));
    let hook = ".git/hooks/pre-commit";
    bench.write(hook, "#!/bin/sh\nread -r _ < \"$DESK/gate\"\nexec sleep 60\n");
    let path = bench.root.join(hook);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let gate = bench.gate();
    let running = bench.ralph("--commit --max-iterations 1").start();
    gate.open();
    running.signal(Signal::KILL);
    running.finish();
    bench.wait_until_nobody_runs();
    std::fs::remove_file(path).unwrap();
    assert_eq!(left_in_git(&bench), ["ralph-scratch"]);
    bench.write(".git/ralph-notes", "mine");
    bench.ralph("--commit --max-iterations 2").run().with_code(3);
    assert_eq!(left_in_git(&bench), ["ralph-notes"]);
    // A link in its place is removed, and never followed.
    bench.write("../elsewhere/index", "mine");
    let link = bench.root.join(".git/ralph-scratch");
    std::os::unix::fs::symlink("../../elsewhere", link).unwrap();
    bench.ralph("--max-iterations 3").run().with_code(3);
    assert_eq!(left_in_git(&bench), ["ralph-notes"]);
    assert_eq!(bench.read("../elsewhere/index"), "mine");
}
