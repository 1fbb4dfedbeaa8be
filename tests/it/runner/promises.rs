//! What an agent's words are taken for: a promise, talk about one, or a need for a person.

use crate::runner::support::{Bench, CHANGE, PROMISE, in_state};

/// Runs two iterations of an agent that does some work and says this.
fn said(words: &str, arguments: &str) -> crate::runner::ran::Ran {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\ncat <<'END'\n{words}\nEND"));
    bench.ralph(&format!("--max-iterations 2 {arguments}")).run()
}

#[test]
fn d3_denied_promise_ends_nothing() {
    for words in [
        format!("Two tests fail: I will not write {PROMISE} yet."),
        format!("When the tests pass I will write {PROMISE}."),
    ] {
        said(&words, "").with_code(3).says("the promise is quoted or denied, not made");
    }
}

#[test]
fn d3_a_quoted_promise_ends_nothing() {
    for words in [
        format!("`{PROMISE}`"),
        format!("The marker is \"{PROMISE}\"."),
        format!("What I am to write:\n```\n{PROMISE}\n```"),
        format!("~~~\n{PROMISE}"),
        format!("> {PROMISE}"),
    ] {
        said(&words, "").with_code(3);
        said(&format!("This is what I am to write:\n{words}"), "").with_code(3);
        said(&words, "--promise-match exact").with_code(0);
    }
}

#[test]
fn t8_promise_on_a_shared_line() {
    said(&format!("Done. {PROMISE}"), "").with_code(0);
    said(&format!("All is done. {PROMISE} Bye."), "").with_code(0);
}

#[test]
fn d3_blocked_outranks_a_promise() {
    let need = "<blocked>set the key</blocked>";
    for words in [format!("{need}\n{PROMISE}"), format!("{PROMISE}\n{need}")] {
        said(&words, "").with_code(6).says("set the key");
    }
    said(&format!("```\n{need}\n```\n{PROMISE}"), "").with_code(0);
}

#[test]
fn d3_next_iteration_reads_promise_rules() {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\necho 'I do not write {PROMISE} yet'"));
    bench.ralph("--max-iterations 2").run().with_code(3);
    let prompt = bench.prompt(2);
    assert!(prompt.contains("write it alone on the last line"), "{prompt}");
}

#[test]
fn check_without_tests_refuses_the_promise() {
    let bench = Bench::new();
    bench.write(
        ".claude/ralph-speckit.local.md",
        "---\nchecks:\n  - { run: cat out, min_tests: 3, expect: '3 passed' }\n---\n",
    );
    let filler = "[ $n = 3 ] && seq 1 9000 >> out";
    let output = "echo \"test result: ok. $n passed; 0 failed\" > out";
    bench.agent(&format!("{output}\n{filler}\necho '{PROMISE}'"));
    let ran = bench.ralph("--max-iterations 5").run().with_code(0);
    ran.says("cat out (within 300 s, tests passed: 3 or more, output has `3 passed`)");
    ran.says("`cat out` failed: exit code 0, but no line of its output has `3 passed`");
    assert_eq!(bench.runs(), 3);
    let prompt = bench.prompt(2);
    assert!(prompt.contains("`cat out` (within 300 s, tests passed: 3 or more"), "{prompt}");
}

#[test]
fn checks_rerun_after_a_later_change() {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\necho '{PROMISE}'"));
    // It ends only when the time of what it has written is later than that of the state.
    let late = format!("until [ built -nt {} ]; do echo x > built; done", in_state("state.json"));
    let call = |first: &str, last: &str| {
        bench.ralph("--max-iterations 1").arg("--check").arg(first).arg("--check").arg(last).run()
    };
    call("echo one >> \"$DESK/noted\"", "echo two >> \"$DESK/noted\"").with_code(0);
    assert_eq!(bench.desk("noted"), "one\ntwo\n");
    call("echo one >> \"$DESK/noted\"", &late).with_code(0);
    assert_eq!(bench.desk("noted"), "one\ntwo\none\none\n");
    std::fs::remove_file(bench.path("built")).unwrap();
    let ran = call("! test -e built || exit 4", &late);
    ran.with_code(3).says("`! test -e built || exit 4` failed: exit code 4");
}

/// A change right at a check's start has the time of that start, unless the clock of the files moves on first.
#[test]
fn a_check_may_write_at_once() {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\necho '{PROMISE}'"));
    for _ in 0..12 {
        let call = bench.ralph("--max-iterations 1 --restart").arg("--check");
        let ran = call.arg("! test -e built || exit 4").arg("--check").arg(": > built").run();
        ran.with_code(3).says("`! test -e built || exit 4` failed: exit code 4");
        std::fs::remove_file(bench.path("built")).unwrap();
    }
}

#[test]
fn failed_check_waits_for_a_change() {
    let bench = Bench::new();
    bench.claude(&format!(
        "case $n in 1) calls Bash ;; 3) echo 1 > good ;; esac\nresult \"{PROMISE}\""
    ));
    let check = "echo one >> \"$DESK/noted\"; test -e good";
    let ran = bench.ralph("--harness claude --allow-all").arg("--check").arg(check).run();
    ran.with_code(0).says("failed before, and nothing has changed since: exit code 1");
    assert_eq!((bench.runs(), bench.desk("noted").as_str()), (3, "one\none\n"));
    let failed: Vec<_> = bench
        .iterations()
        .iter()
        .map(|iteration| iteration["checks"][0]["passed"].clone())
        .collect();
    assert_eq!(failed, [false, false, true]);
}

#[test]
fn t2_checks_run_once_at_ends() {
    let fails = "echo one >> \"$DESK/noted\"; echo E501 too long; exit 1";
    let call = |arguments: &str, check: &str, says: &str| {
        let bench = Bench::new();
        bench.agent(&format!("echo $n > made.txt\necho '{says}'"));
        let ran = bench.ralph(arguments).arg("--check").arg(check).run();
        let words = bench.state()["words"].as_str().unwrap().to_owned();
        (ran, words, bench)
    };
    let need = "<blocked>set the key</blocked>";
    for (says, code) in [("no", 3), (need, 6)] {
        let (ran, words, bench) = call("--max-iterations 2", fails, says);
        ran.with_code(code).says("exit 1` (exit code 1): E501 too long");
        assert!(words.ends_with("(exit code 1): E501 too long"), "{words}");
        assert_eq!(bench.desk("noted"), "one\n", "{says}");
    }
    let (ran, words, _) = call("--max-iterations 1", "true", "no");
    ran.with_code(3).says("; checks passed");
    assert!(words.ends_with("; checks passed"), "{words}");
    let (ran, ..) = call("--max-iterations 1 --no-final-check", fails, "no");
    ran.with_code(3).says("; checks not run");
}

/// Runs an agent that does this before it promises, on this task, and says what the loop ended with.
fn promised(bench: &Bench, work: &str, task: &str) -> crate::runner::ran::Ran {
    bench.agent(&format!("{work}\necho '{PROMISE}'"));
    let call = bench.spool(&format!("ralph --change {CHANGE} --done manual --no-stay-awake"));
    call.arg("--harness-command").arg("agent").arg(task).run()
}

#[test]
fn p6_a_promise_with_nothing_changed() {
    for work in [
        "echo notes > proposal.md && rm proposal.md",
        "mkdir -p src/__pycache__ && echo 1 > src/__pycache__/a.pyc",
        "mkdir -p .claude && echo '{}' > .claude/settings.local.json",
        "git commit --quiet --allow-empty --message work",
    ] {
        let bench = Bench::new();
        let ran = promised(&bench, work, "Write the parser").with_code(0);
        let words = "on the agent's word alone: no check, no changed file";
        ran.says(words);
        assert_eq!((bench.runs(), &bench.state()["words"]), (2, &words.into()), "{work}: {ran}");
        let why = "nothing stands behind it: no check, no changed file.";
        assert!(bench.prompt(2).contains(why), "{work}");
        let log = bench.spool("log").run().with_code(0);
        assert!(log.output.contains(words), "{log}");
    }
}

#[test]
fn p6_open_boxes_of_lists() {
    let open = "- [x] Begin\n- [ ] Write\n- [ ] Test\n";
    for (path, task) in [
        ("TODO.md", "Do everything in `TODO.md`."),
        ("docs/my plan.md", "Do everything in `docs/my plan.md`."),
        ("TODO", "Do all that is in TODO."),
    ] {
        let bench = Bench::new();
        bench.write(path, open);
        let ran = promised(&bench, "echo $n >> made.txt", task).with_code(0);
        let words = format!("on the agent's word alone: no check, 2 tasks open in {path}");
        ran.says(&words);
        assert_eq!((bench.runs(), &bench.state()["words"]), (2, &words.as_str().into()), "{ran}");
        promised(&bench, "true", task).with_code(0).says("no changed file, 2 tasks open in");
    }
    let bench = Bench::new();
    bench.write("TODO.md", open);
    let strict = "sed -i '/Test/d; s/\\[ \\]/[x]/' TODO.md";
    let ran = promised(&bench, strict, "Do everything in `TODO.md`.").with_code(0);
    ran.says("on the agent's word alone: no check, 1 open task gone from the list");
}

#[test]
fn p6_work_behind_a_promise_counts() {
    let bench = Bench::new();
    bench.write("TODO.md", "- [ ] Write\n");
    let work = "sed -i 's/\\[ \\]/[x]/' TODO.md\necho $n > made.txt";
    let ran = promised(&bench, work, "Do everything in `TODO.md`.").with_code(0);
    ran.says("done: on the agent's word alone: no check");
    assert_eq!(bench.runs(), 1, "{ran}");
}

#[test]
fn r17_status_shows_the_failed_check() {
    let bench = Bench::new();
    bench.agent("echo $n > made.txt");
    let call = bench.ralph("--max-iterations 1").arg("--check").arg("seq 1 9; exit 1");
    call.run().with_code(3).says("check failed: `seq 1 9; exit 1` (exit code 1): 1 | 2");
    for arguments in ["status", "ralph --status", "status --json", "ralph --status --json", "log"] {
        let shown = bench.spool(arguments).run().with_code(0);
        assert!(shown.output.contains("`seq 1 9; exit 1` (exit code 1)"), "{arguments}: {shown}");
    }
}
