//! Ticks with nothing behind them: they are taken back, named to the next agent, and told to the person.

use std::fs;

use serde_json::{Value, json};

use crate::runner::support::{Bench, CHANGE, in_change};

const TWO: &str = "- [ ] 1.1 Begin it\r\n- [ ] 1.2 End it\r\n";
/// Ticks every box.
const TICK: &str = "sed -i 's/\\[ \\]/[x]/' .spool/changes/*/tasks.md\n";

#[test]
fn bare_ticks_are_taken_back() {
    for behind in ["", "touch old.rs\n"] {
        let bench = Bench::with_tasks(TWO);
        bench.write("old.rs", "fn old() {}\n");
        bench.commit("a file");
        bench.agent(&format!("{behind}{TICK}"));
        let ran = bench.ralph("--no-progress 3 --max-iterations 5").run();
        ran.says("1.1 is open again: it was ticked, but nothing in the project has changed");
        ran.says("Ticked with nothing behind it, and taken back: 1.1, 1.2");
        assert!(ran.code != Some(0), "{behind}: {ran:?}");
        assert_eq!(bench.read(&in_change("tasks.md")), TWO, "{behind}");
        let entry = &bench.iterations()[0];
        assert_eq!(entry["tasks_ticked"], json!([]), "{entry}");
        assert_eq!(entry["unproved"].as_array().unwrap().len(), 2, "{entry}");
        assert_eq!(bench.receipts(CHANGE), [Value::Null; 0]);
        let prompt = bench.prompt(2);
        assert!(prompt.contains("The box of 1.1 is open again"), "{prompt}");
        assert!(prompt.contains("<no-change>1.1: why</no-change>"), "{prompt}");
        assert_eq!(bench.state()["done_criteria"], "tasks");
    }
}

#[test]
fn counted_work_has_receipts() {
    let bench = Bench::with_tasks("- [ ] 1.1 Write src/a.rs\n- [ ] 1.2 See whether it is there\n");
    bench.agent(&format!(
        "if [ $n = 1 ]; then mkdir -p src; echo 'fn a() {{}}' > src/a.rs; sed -i 's/\\[ \\] 1.1/[x] 1.1/' {list}; exit; fi\n\
         {TICK}if [ $n = 3 ]; then echo '<no-change>1.2: it was there before</no-change>'; fi",
        list = in_change("tasks.md")
    ));
    let ran = bench.ralph("").run().with_code(0);
    ran.says("1.2 is open again")
        .says("1 task changed nothing, and the agent says why: 1.2 (it was there before)");
    let wanted = [
        json!(["1.1", "files", ["src/a.rs"], null]),
        json!(["1.2", "word", [], "it was there before"]),
    ];
    assert_eq!(bench.receipts_in(CHANGE, &["task", "proof", "own", "no_change"]), wanted);
}

#[test]
fn vanished_work_is_open_at_limit() {
    let bench = Bench::with_tasks("- [ ] 1.1 Write src/a.rs\n- [ ] 1.2 End it\n");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "if [ $n = 1 ]; then mkdir -p src; echo 'fn a() {{}}' > src/a.rs; sed -i 's/\\[ \\] 1.1/[x] 1.1/' {list}; exit; fi\n\
         rm src/a.rs"
    ));
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    ran.says("1.1 is open again: it was ticked, but its work is gone").says("0/2 tasks");
    assert!(bench.read(&list).contains("[ ] 1.1"), "{}", bench.read(&list));
}

#[test]
fn prompt_words_are_no_reason() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n");
    bench.agent(&format!("{TICK}cat \"$DESK/prompt-$n\"; echo '<no-change>1.1: why</no-change>'"));
    bench.ralph("--max-iterations 2").run().with_code(3).says("1.1 is open again");
    assert!(bench.prompt(2).contains("say why in two words or more"), "{}", bench.prompt(2));
}

#[test]
fn cut_list_returning_ticked_is_judged() {
    let bench = Bench::with_tasks("- [x] 1.0 Before\n- [ ] 1.1 Begin it\n");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "if [ $n = 1 ]; then echo '- [x] 1.0 Before' > {list}; rm {list}; exit; fi\n\
         printf -- '- [x] 1.0 Before\\n- [x] 1.1 Begin it\\n' > {list}"
    ));
    bench.ralph("--max-iterations 2").run().with_code(3).says("1.1 is open again");
    assert_eq!(bench.read(&list), "- [x] 1.0 Before\n- [ ] 1.1 Begin it\n");
}

#[test]
fn changed_protected_files_hold_the_loop() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n- [ ] 1.2 End it\n");
    bench.write("tests/a.sh", "exit 1\n");
    bench.write("check.sh", "test -e made.txt\n");
    bench.commit("tests");
    bench.agent(&format!(
        "echo $n > made.txt\nif [ $n = 1 ]; then echo exit 0 > tests/a.sh; elif [ $n = 2 ]; then git checkout -q tests; echo true > check.sh; else git checkout -q check.sh; fi\n{TICK}"
    ));
    let call =
        bench.ralph("--protect tests/** --protect check.sh --max-iterations 5").arg("--check");
    let ran = call.arg("sh check.sh").run().with_code(0);
    ran.says("protected files have changed: tests/a.sh")
        .says("protected files have changed: check.sh");
    assert_eq!(bench.runs(), 3);
    assert!(bench.prompt(2).contains("put them back as they were"), "{}", bench.prompt(2));
}

#[test]
fn protected_change_names_both_ways_out() {
    let list = "- [ ] 1.1 Write `a.rs`\n- [ ] 1.2 Write `b.rs`\n";
    let begin = || {
        let bench = Bench::with_tasks(list);
        bench.write("check.sh", "true\n");
        bench.commit("a check");
        let head = bench.head();
        // What it has changed it commits: HEAD has no longer what is to come back.
        bench.agent(&format!(
            "if [ $n = 1 ]; then echo 'fn a() {{}}' > a.rs; sed -i 's/ \\] 1.1/x] 1.1/' {0}\n\
             echo 'exit 0' > check.sh; git commit -qam 'changes its check'; exit; fi\n\
             echo \"fn b() {{ $n }}\" > b.rs\n{TICK}",
            in_change("tasks.md")
        ));
        let call = || {
            bench.ralph("--max-iterations 1 --protect check.sh").arg("--check").arg("sh check.sh")
        };
        let back = format!("git checkout {} -- check.sh", &head.trim()[..12]);
        let said = format!(
            "protected files have changed: check.sh\n    To put it back: {back}\n    To accept it: stop the loop, tick what is done, run it again with --restart\n"
        );
        call().run().with_code(3).says(&format!("  1.1 is open again: it was ticked, but {said}"));
        // The next run continues with it, and says so once.
        let ran = call().run().with_code(3);
        assert_eq!(ran.says(&said).output.matches("To put it back").count(), 1, "{ran}");
        assert_eq!(bench.read(&in_change("tasks.md")), list, "{ran}");
        (bench, back)
    };
    let call = |bench: &Bench, arguments: &str| {
        let call = bench.ralph(&format!("--max-iterations 1 --protect check.sh {arguments}"));
        call.arg("--check").arg("sh check.sh").run()
    };
    let (bench, back) = begin();
    let words: Vec<&str> = back.split(' ').collect();
    bench.git(&words[1..]);
    call(&bench, "").with_code(0);
    assert_eq!(bench.read("check.sh"), "true\n");
    for (ticked, arguments, code) in
        [(true, "", 3), (false, "--restart", 3), (true, "--restart", 0)]
    {
        let (bench, _) = begin();
        let ticks = if ticked { list.replace("[ ] 1.1", "[x] 1.1") } else { list.to_owned() };
        bench.tasks(&ticks);
        let ran = call(&bench, arguments).with_code(code);
        assert_eq!(bench.read("check.sh"), "exit 0\n");
        let is_held_up = ran.output.contains("protected files have changed: check.sh");
        assert_eq!(is_held_up, arguments.is_empty(), "{ran}");
        // What was done before begins as it is: it is not done once more.
        let has_to_do_it_again = ran.output.contains("it names a.rs, which is byte for byte");
        assert_eq!(has_to_do_it_again, !ticked, "{ran}");
    }
}

#[test]
fn commits_restore_no_uncommitted_protected_file() {
    let bench = Bench::with_tasks("- [ ] 1.1 Write `a.rs`\n");
    bench.write("check.sh", "true\n");
    bench.commit("a check");
    bench.write("check.sh", "true # mine\n");
    bench.agent(&format!("echo 'fn a() {{}}' > a.rs; echo 'exit 0' > check.sh\n{TICK}"));
    let ran = bench
        .ralph("--max-iterations 1 --protect check.sh")
        .arg("--check")
        .arg("sh check.sh")
        .run();
    ran.says("check.sh\n    To put it back: as before the loop began\n    To accept it: ");
}

#[test]
fn uncommitted_protected_file_gets_words() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n");
    bench.agent(&format!("echo 1 > made.txt; mkdir -p tests; echo 1 > tests/a.sh\n{TICK}"));
    let ran = bench.ralph("--max-iterations 1 --protect tests/**").run().with_code(3);
    ran.says("tests/a.sh\n    To put it back: as before the loop began\n    To accept it: ");
}

#[test]
fn late_protected_change_holds_the_loop() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n");
    bench.write("check.sh", "exit 1\n");
    bench.commit("a check");
    bench.agent(&format!(
        "if [ $n = 1 ]; then echo 1 > made.txt; fi\n\
         if [ $n = 2 ]; then echo exit 0 > check.sh; fi\n\
         if [ $n = 3 ]; then git checkout -q check.sh; fi\n{TICK}"
    ));
    let call = bench.ralph("--max-iterations 4 --protect check.sh").arg("--check");
    let ran = call.arg("./check.sh || sh check.sh").run().with_code(3);
    ran.says("protected files have changed: check.sh").says("failed");
    // The work is there: what was opened again because of the check alone is ticked without more of it.
    assert_eq!(bench.read(&in_change("tasks.md")), "- [x] 1.1 Begin it\n");
}

#[test]
fn hand_ticked_command_joins_checks() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n  - **Verify**: `test -e second.txt`\n");
    bench.agent(&format!("echo $n > made.txt; if [ $n = 2 ]; then echo > second.txt; fi\n{TICK}"));
    let ran = bench.ralph("--max-iterations 3").run().with_code(0);
    ran.says("`test -e second.txt` failed").says("`test -e second.txt` passed");
    let wanted = [json!(["1.1", "files", 1]), json!(["1.1", "command", 2])];
    assert_eq!(bench.receipts_in(CHANGE, &["task", "proof", "iteration"]), wanted);
    assert_eq!(bench.receipts(CHANGE)[1]["verify"]["run"], "test -e second.txt");
}

#[test]
fn backward_clock_loses_no_receipt() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n  - **Verify**: `test -e second.txt`\n");
    let receipts_file =
        bench.home().join(format!(".local/state/ralph-speckit/projects/*/receipts-{CHANGE}.jsonl"));
    bench.agent(&format!(
        "echo $n > made.txt; if [ $n = 2 ]; then echo > second.txt; sed -i 's/\"at\":1/\"at\":9/' {}; fi\n{TICK}",
        receipts_file.display()
    ));
    bench.ralph("--max-iterations 3").run().with_code(0);
    let all = bench.receipts(CHANGE);
    assert!(all[0]["at"].to_string().starts_with('9'), "{all:?}");
    let proofs: Vec<_> = all.iter().map(|receipt| receipt["proof"].clone()).collect();
    assert_eq!(proofs, ["files", "command"]);
}

#[test]
fn project_only_makes_proof_stricter() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n");
    bench.agent(TICK);
    bench.write(".spool/ralph.toml", "proof = \"word\"\n");
    bench.ralph("").run().with_code(2).warns("changes what holds without it");
    bench.ralph("--proof word").run().with_code(0);
    bench.write(".spool/ralph.toml", "protect = [\"a/**\", \"\"]\n");
    bench.ralph("").run().with_code(2).warns("needs a pattern");
}

const FEATURE: &str = "001-login";
const SHORT: &[&str] = &["task", "by", "proof", "own"];

/// A project of spec-kit with this list, in a folder of the repository where it is not its root.
fn feature(below: &str, list: &str) -> Bench {
    let bench = Bench::new();
    bench.write(format!("{below}specs/{FEATURE}/spec.md"), "# Login\n");
    bench.write(format!("{below}specs/{FEATURE}/tasks.md"), list);
    let pointer = format!(r#"{{"feature_directory":"specs/{FEATURE}"}}"#);
    bench.write(format!("{below}.specify/feature.json"), pointer);
    bench.commit("a feature");
    bench
}

/// An agent that works in this folder; `done` is `spool task done`, and what it says is kept.
fn agent_in(bench: &Bench, below: &str, turns: &[&str]) {
    let spool = env!("CARGO_BIN_EXE_spool");
    let turns = turns.iter().zip(1..).map(|(turn, n)| format!("{n})\n{turn}\n;;\n"));
    let turns = turns.collect::<Vec<_>>().concat();
    let place = if below.is_empty() { "." } else { below };
    bench.agent(&format!(
        "cd {place}\nLIST=specs/{FEATURE}/tasks.md\ndone_() {{ {spool} task done \"$@\" >> \"$DESK/said-$n\" 2>&1; }}\n\
         tick() {{ sed -i \"s/\\[ \\] $1/[x] $1/\" $LIST; }}\ncase $n in\n{turns}esac"
    ));
}

fn ralph<'a>(bench: &'a Bench, below: &str, rest: &str) -> crate::runner::support::Call<'a> {
    let call = bench.spool(&format!(
        "ralph Build --change {FEATURE} --harness-command agent --retry-pause=10ms --no-stay-awake {rest}"
    ));
    call.within(&bench.root.join(below))
}

#[test]
fn done_judges_by_the_run() {
    let list = "- [ ] T001 Write src/a.rs\n- [ ] T002 Handle an empty list\n- [ ] T003 Be fast\n";
    // Also where the project is a folder of its repository.
    for below in ["", "parts/web/"] {
        let bench = feature(below, list);
        agent_in(
            &bench,
            below,
            &[
                "done_ T001",
                "mkdir -p src; echo 'fn a() {}' > src/a.rs; done_ T001; echo 'fn b() {}' > b.rs",
                // Begun in the iteration before.
                "done_ T002",
                "done_ T003",
                "echo 'fn c() {}' > c.rs; tick T003",
            ],
        );
        let ran = ralph(&bench, below, "--max-iterations 6").run().with_code(0);
        assert!(bench.desk("said-1").contains("T001 is not ticked"), "{}", bench.desk("said-1"));
        assert!(bench.desk("said-4").contains("T003 is not ticked"), "{}", bench.desk("said-4"));
        assert!(!ran.output.contains("is open again"), "{}", ran.output);
        assert_eq!(bench.runs(), 5, "{ran:?}");
        let wanted = [
            json!(["T001", "done", "files", ["src/a.rs"]]),
            json!(["T002", "done", "files", ["b.rs"]]),
            json!(["T003", "iteration", "files", ["c.rs"]]),
        ];
        assert_eq!(bench.receipts_in(FEATURE, SHORT), wanted, "{below}");
        ran.says("Proved: 3 by files");
        let shown = |command| bench.spool(command).within(&bench.root.join(below)).run();
        shown("status").with_code(0);
        // What the agent ticked with `spool task` stands in the run, before the iteration that it ended.
        let log = shown("log").with_code(0).output;
        assert_eq!(log.matches(" · spool ralph · ").count(), 1, "{log}");
        assert!(!log.contains(" · terminal · ") && log.contains("Proved: 3 by files"), "{log}");
        let places = ["  done  T001 ", "  iteration 2 ", "  done  T002 ", "  iteration 3 "];
        let places =
            places.map(|words| log.find(words).unwrap_or_else(|| panic!("{words}: {log}")));
        assert!(places.is_sorted(), "{log}");
    }
}

#[test]
fn block_in_a_run_ends_nothing() {
    let bench = feature("", "- [ ] T001 Be fast\n");
    let spool = env!("CARGO_BIN_EXE_spool");
    let calls = ["task block 'buy it'", "block 'buy it'", "task fail T001 slow", "task next"];
    let calls = calls.map(|call| format!("{spool} {call} >> \"$DESK/said-$n\" 2>&1\n")).concat();
    let blocks = format!("{calls}echo '<blocked>buy it</blocked>'");
    agent_in(&bench, "", &[&calls, "done_ T001", &blocks]);
    let ran = ralph(&bench, "", "--max-iterations 5").run().with_code(6);
    ran.says("buy it");
    let refused = "error: the loop of `spool ralph` goes on: its agent ends it by its last words\n\
        end your turn with this line, alone: <blocked>buy it</blocked>\n";
    let said = format!(
        "{refused}{refused}Noted, not counted: only the loop of a session with a readable state file counts attempts. \
         Try T001 again in another way, or say what a person must do.\n- [ ] T001 Be fast\n\n1 of 1 open.\n"
    );
    assert!(bench.desk("said-1").starts_with(&said), "{}", bench.desk("said-1"));
    assert_eq!(bench.desk("said-3"), bench.desk("said-1"));
    assert!(bench.desk("said-2").contains("T001 is not ticked"), "{}", bench.desk("said-2"));
    let status = bench.spool("status").run().with_code(0).output;
    assert_eq!(status.matches("ended (blocked)").count(), 1, "{status}");
}

#[test]
fn earlier_hand_ticks_lend_no_work() {
    let bench = feature("", "- [ ] T001 Handle an empty list\n- [ ] T002 Be fast\n");
    agent_in(&bench, "", &["echo 1 > a.txt; tick T001", "done_ T002"]);
    ralph(&bench, "", "--max-iterations 2").run().with_code(3);
    assert!(bench.desk("said-2").contains("T002 is not ticked"), "{}", bench.desk("said-2"));
    assert_eq!(
        bench.receipts_in(FEATURE, SHORT),
        [json!(["T001", "iteration", "files", ["a.txt"]])]
    );
}

#[test]
fn log_summarizes_proof_once() {
    let bench = feature("", "- [ ] T001 Be fast\n");
    // Its last iteration and its end, with a doubt, are an entry each.
    agent_in(&bench, "", &["tick T001; echo '<no-change>T001: it is fast enough</no-change>'"]);
    ralph(&bench, "", "").run().with_code(0).says("the agent says why");
    let log = bench.spool("log").run().with_code(0).output;
    assert_eq!(log.matches("\n  Proved: 1 by word alone: T001 (").count(), 1, "{log}");
    assert_eq!(log.matches("Look first: T001 changed nothing").count(), 1, "{log}");
    assert_eq!(log.matches("  done  ").count(), 2, "{log}");
}

#[test]
fn run_by_words_ticks_everything() {
    let bench = feature("", "- [ ] T001 Write src/a.rs\n");
    agent_in(&bench, "", &["done_ T001"]);
    ralph(&bench, "", "--proof word").run().with_code(0);
    assert!(bench.desk("said-1").contains("T001 is done"), "{}", bench.desk("said-1"));
}

#[test]
fn protected_box_reopens_without_more_work() {
    let bench = feature("", "- [ ] T001 Handle an empty list\n");
    bench.write("tests/a.sh", "exit 1\n");
    bench.commit("a test");
    agent_in(
        &bench,
        "",
        &[
            "echo 1 > a.txt; done_ T001; echo exit 0 > tests/a.sh",
            "git checkout -q tests; done_ T001",
        ],
    );
    let ran = ralph(&bench, "", "--protect tests/** --max-iterations 3").run();
    ran.with_code(0).says("protected files have changed: tests/a.sh");
    assert_eq!(bench.runs(), 2);
}

#[test]
fn oversized_tree_takes_ticks_back() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n- [ ] 1.2 End it\n");
    bench.agent(&format!(
        "if [ $n = 1 ]; then echo 1 > a.txt; mkdir junk; (cd junk; seq 20001 | xargs touch); fi\n\
         if [ $n = 3 ]; then rm -r junk; fi\n{TICK}"
    ));
    let ran = bench.ralph("--max-iterations 5").run().with_code(0);
    ran.says("1.1 is open again: it was ticked, but the project has more than can be looked at, 20,000 files and folders or 128 MB, most of the new ones in junk/");
    assert_eq!(bench.runs(), 3);
    let prompt = bench.prompt(2);
    assert!(prompt.contains("in junk/. Remove what is not needed"), "{prompt}");
}

#[test]
fn renumbered_task_keeps_its_command() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n  - **Verify**: `test -e second.txt`\n");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "echo $n > a.txt\nif [ $n = 1 ]; then sed -i 's/1.1 Begin/7.7 Begin/' {list}; fi\n\
         if [ $n = 3 ]; then touch second.txt; fi\n{TICK}"
    ));
    let ran = bench.ralph("--max-iterations 4").run().with_code(0);
    ran.says("`test -e second.txt` failed");
    assert_eq!(bench.runs(), 3);
}

#[test]
fn report_counts_renumbered_proofs() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n- [ ] 1.2 End it\n");
    let list = in_change("tasks.md");
    bench.agent(&format!("echo $n > a.txt\nsed -i 's/\\[ \\] 1.1 Begin/[x] 7.7 Begin/' {list}"));
    let proved = "Proved: 1 by files";
    bench.ralph("--max-iterations 1").run().with_code(3).says(proved);
    let status = format!("ralph --status --change {CHANGE}");
    bench.spool(&status).run().with_code(0).says(proved);
}

#[test]
fn pattern_is_told_of_files_now() {
    let bench = Bench::with_tasks(TWO);
    bench.agent("mkdir -p tests; echo $n > tests/a.sh");
    let call = || bench.ralph("--max-iterations 1 --protect tests/**");
    let meets_none = "protects no file that is looked at: tests/**";
    call().run().with_code(3).says(meets_none);
    let again = call().run().with_code(3);
    assert!(!again.output.contains(meets_none), "{again}");
}

#[test]
fn added_subtask_finishes_no_parent() {
    let bench = Bench::with_tasks("- [ ] 1.1 Write src/a.rs\n");
    bench.write("src/a.rs", "fn old() {}\n");
    bench.agent(&format!(
        "echo $n > b.txt\nif [ $n = 1 ]; then echo '  - [x] 1.2 Part' >> {}; fi\n{TICK}",
        in_change("tasks.md")
    ));
    let ran = bench.ralph("--max-iterations 2").run().with_code(3);
    ran.says("1.1 is open again: it was ticked, but it names src/a.rs");
}

/// A project below the top of its repository, with these tasks; its agent works in the project.
fn below(list: &str, script: &str) -> (Bench, std::path::PathBuf) {
    let bench = Bench::new();
    let project = bench.root.join("apps/web");
    bench.write(format!("apps/web/{}", in_change("proposal.md")), "# Change it\n");
    bench.write(format!("apps/web/{}", in_change("tasks.md")), list);
    for path in ["apps/web/tests/a.sh", "apps/web/lib/a.rs", "apps/api/a.rs"] {
        bench.write(path, "fn a() {}\n");
    }
    bench.commit("a project below");
    bench.agent(&format!("cd {}\n{script}{TICK}", project.display()));
    (bench, project)
}

#[test]
fn subfolder_link_is_a_doubt() {
    let (bench, project) = below(
        "- [ ] 1.1 Extend `lib/a.rs`\n- [ ] 1.2 Write `lib/b.rs`\n- [ ] 1.3 Extend `api/a.rs`\n",
        "if [ $n = 1 ]; then echo 'fn b() {}' >> lib/a.rs; ln -s a.rs lib/b.rs; echo 'fn c() {}' >> ../api/a.rs; fi\n\
         if [ $n = 2 ]; then rm lib/b.rs; echo 'fn b() {}' > lib/b.rs; fi\n",
    );
    bench.ralph("--max-iterations 3").within(&project).run().with_code(0);
    let wanted = [
        json!(["1.1", ["lib/a.rs"], "files"]),
        json!(["1.2", ["lib/b.rs"], "tick"]),
        json!(["1.3", ["../api/a.rs"], "files"]),
    ];
    assert_eq!(bench.receipts_in(CHANGE, &["task", "own", "proof"]), wanted);
    let files = bench.receipts(CHANGE)[2]["files"].clone();
    assert!(files.as_array().unwrap().contains(&json!("lib/b.rs")), "{files:?}");
}

#[test]
fn subfolder_protects_patterns_and_settings() {
    for (pattern, file) in [("/tests/*", "tests/a.sh"), ("nothing", ".spool/ralph.toml")] {
        let (bench, project) = below(
            "- [ ] 1.1 Extend `lib/a.rs`\n",
            &format!("echo 'fn b() {{}}' >> lib/a.rs; echo 'model = \"x\"' >> {file}\n"),
        );
        let call = bench.ralph(&format!("--max-iterations 2 --protect {pattern}"));
        let ran = call.within(&project).run().with_code(3);
        ran.says(&format!("protected files have changed: {file}"));
    }
}

#[test]
fn subfolder_commands_run_in_project() {
    let (bench, project) = below(
        "- [ ] 1.1 Extend `lib/a.rs`\n  - Verify: `grep -q twice lib/a.rs`\n",
        "echo 'fn twice() {}' >> lib/a.rs\n",
    );
    let call = bench.ralph("--max-iterations 1").arg("--check").arg("pwd > ran-in.txt");
    call.within(&project).run().with_code(0);
    assert_eq!(bench.receipts(CHANGE)[0]["proof"], "command");
    let ran_in = fs::read_to_string(project.join("ran-in.txt")).unwrap();
    assert_eq!(ran_in.trim(), project.display().to_string());
}

#[test]
fn earlier_link_lends_no_target() {
    let bench = Bench::with_tasks(
        "- [ ] 1.1 Create the symlink `link.rs`\n- [ ] 1.2 Extend `link.rs`\n- [ ] 1.3 Write `other.rs`\n",
    );
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "case $n in\n1) ln -s other.rs link.rs; sed -i 's/\\[ \\] 1.1/[x] 1.1/' {list};;\n\
         2) echo 'fn other() {{}}' > other.rs; sed -i 's/\\[ \\]/[x]/' {list};;\nesac"
    ));
    bench.ralph("--max-iterations 3").run().with_code(0);
    let doubted =
        bench.receipts(CHANGE).into_iter().find(|receipt| receipt["task"] == "1.2").unwrap();
    assert_eq!(doubted["proof"], "tick");
    assert_eq!(doubted["doubt"], "link.rs has changed only for another task");
}

#[test]
fn task_added_during_checks_counts() {
    let bench = Bench::with_tasks("- [ ] 1.1 Begin it\n");
    bench.agent(&format!("echo $n > made$n.txt\n{TICK}"));
    let list = in_change("tasks.md");
    let add = format!("grep -q 1.2 {list} || echo '- [ ] 1.2 Add more' >> {list}");
    let call = |most: &str| {
        bench.ralph(&format!("--max-iterations {most}")).arg("--check").arg(&add).run()
    };
    call("1").with_code(3);
    assert_eq!(bench.read(&list), "- [x] 1.1 Begin it\n- [ ] 1.2 Add more\n");
    call("2").with_code(0);
}
