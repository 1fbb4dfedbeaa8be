//! A loop over a part of a list, and words for its agent.

use crate::hook::support::{ALL_DONE, Bench, FEATURE, THREE_TASKS};
use crate::support::has::Has;
use crate::support::limited::Limited;
use serde_json::{Value, json};
use std::fs;

const LIST: &str = "\
# Tasks
## Phase 1: Setup
- [x] T001 Create it
- [ ] T002 Fill it
## Phase 2: Story
- [ ] T003 [US1] Show it
- [ ] T004 [US1] Try it
## Phase 3: Polish
- [ ] T005 Paint it
";

fn ready() -> Bench {
    Bench::project().current_feature(FEATURE).tasks(LIST)
}

#[track_caller]
fn refused(arguments: &str, words: &[&str]) {
    let bench = ready();
    let before = bench.everything();
    let answer = bench.implement("s1", arguments);
    for words in words {
        assert!(answer.reason().contains(words), "{arguments}: {answer}");
    }
    assert_eq!(bench.everything(), before, "{arguments}: nothing is armed");
    bench.stop("s1").run().silent();
}

/// What `spool` prints for these arguments, as the agent of this session calls it.
fn spool(bench: &Bench, session: &str, arguments: &[&str]) -> String {
    let output = bench
        .spool()
        .args(arguments)
        .env("CLAUDE_CODE_SESSION_ID", session)
        .env("CLAUDECODE", "1")
        .finish();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn named_boxes_alone_end_it() {
    let bench = ready();
    let answer = bench.implement("s1", "T002-T003");
    answer.context().has_all(&["Only these tasks: T002, T003.", "2 of 2 tasks open", "next T002"]);
    assert!(answer.message().contains("Only these tasks: T002, T003."), "{answer}");
    assert_eq!(bench.read_state()["totalTasks"], 2);
    let sent = bench.stop("s1").saying("ALL_TASKS_COMPLETE").run();
    assert!(sent.reason().contains("(Task 1/2, Iter 1)"), "{sent}");
    assert!(!sent.reason().contains("T004") && !sent.reason().contains("T005"), "{sent}");
    // Another box is none of its business.
    bench.tick("T005");
    assert!(bench.stop("s1").held().run().reason().contains("(Task 1/2,"));
    bench.tick("T002");
    assert!(bench.stop("s1").held().run().reason().contains("(Task 2/2,"));
    bench.tick("T003");
    bench.stop("s1").held().run().silent();
    let verdicts = ["continue", "continue", "continue", "end completed"];
    assert_eq!(bench.verdicts("s1"), verdicts);
    let list = fs::read_to_string(bench.feature_path("tasks.md")).unwrap();
    assert!(list.contains("- [ ] T004"), "{list}");
    let status: Value =
        serde_json::from_slice(&bench.spool().args(["status", "--json"]).finish().stdout).unwrap();
    assert_eq!(
        (&status["features"][0]["done"], &status["features"][0]["total"]),
        (&2.into(), &2.into())
    );
}

#[test]
fn failed_task_completes_no_part() {
    let bench = ready().settings("---\nchecks:\n  - touch src/ran; false\n---\n");
    bench.implement("s1", "T002-T003 --max-task-iterations 1").context();
    bench.tick("T002");
    bench.tick("T003");
    let said = spool(&bench, "s1", &["task", "fail", "T005", "no paint"]);
    let end = bench.loops().pin(FEATURE).unwrap().unwrap().ended;
    assert_eq!(end.unwrap().reason.name(), "task_failed", "{said}");
}

#[test]
fn same_command_continues_the_part() {
    let again = |command: &str| {
        let bench = ready();
        let source = if command.contains(':') { "plugin" } else { "projectSettings" };
        let typed = |text: &str| {
            let call = bench.command("s1", command, text).with("command_source", source);
            let armed = call.run().context().to_owned();
            assert!(armed.contains("Only these tasks: T002, T003."), "{armed}");
        };
        typed("T002-T003");
        bench.stop("s1").run().reason();
        spool(&bench, "s1", &["task", "block", "the key"]);
        let told = bench.stop("s1").by_plugin().held().run().told().to_owned();
        let status = spool(&bench, "s1", &["status"]);
        let next = told.lines().find(|line| line.starts_with("Next: ")).unwrap().to_owned();
        assert!(status.ends_with(&format!("  {next}\n")), "{status}");
        // What it says can be typed.
        typed("T002, T003");
        next
    };
    let next = again("speckit:implement");
    assert_eq!(next, "Next: do that, then continue with /speckit:implement 001-login T002, T003.");
    let next = again("speckit-implement");
    let by_hand = "Next: do that, then continue with spec-kit's implement command for T002, T003.";
    assert_eq!(next, by_hand);
}

#[test]
fn person_sees_named_tasks_counted() {
    let bench = ready();
    bench.implement("s1", "T002-T003");
    bench.stop("s1").run().reason();
    bench.tick("T002");
    let status = spool(&bench, "s1", &["status"]);
    let ticked =
        "  Tasks: 0 of 2 named tasks done\n  Ticked by hand and not proved yet, so open: T002\n";
    assert!(status.contains(ticked), "{status}");
    let typed = bench.command("s1", "speckit:status", "").run();
    assert!(typed.reason().contains(ticked), "{typed}");
    let cancelled = spool(&bench, "s1", &["cancel"]);
    // The cancel judges the tick.
    assert!(cancelled.contains("Task: 2/2 (1 of 2 named tasks done)\n"), "{cancelled}");

    let bench = ready();
    bench.implement("s1", "T002-T003");
    let cancelled = bench.cancel("s1", "");
    assert!(cancelled.reason().contains("Task: 1/2 (0 of 2 named tasks done)\n"), "{cancelled}");

    let bench = ready();
    bench.implement("s1", "T002");
    bench.tick("T002");
    let ended = bench.stop("s1").by_plugin().run();
    assert!(ended.message().contains("done: 001-login · 1 of 1 named task · "), "{ended}");
}

#[test]
fn the_list_counts_the_named_tasks() {
    let bench = ready();
    bench.implement("s1", "T003");
    let said = spool(&bench, "s1", &["task", "list"]);
    assert!(said.contains("[x] T001 Create it (not of this loop)\n"), "{said}");
    assert!(said.ends_with("\n0 of 1 done; the loop leaves out 4\n"), "{said}");
    let list: Value =
        serde_json::from_str(&spool(&bench, "s1", &["task", "list", "--json"])).unwrap();
    assert_eq!((&list["done"], &list["total"]), (&0.into(), &1.into()), "{list:#}");
    assert_eq!(list["tasks"].as_array().map(Vec::len), Some(5));
}

#[test]
fn story_and_phase_name_tasks() {
    for (arguments, tasks) in [
        ("US1", "T003, T004."),
        ("phase 2", "T003, T004."),
        ("Phase 2: Story T005", "T003-T005."),
        ("001-login US1, T005", "T003-T005."),
    ] {
        let answer = ready().implement("s1", arguments);
        assert!(answer.context().contains(&format!("Only these tasks: {tasks}")), "{answer}");
    }
    let answer = ready().implement("s1", "T001 T002");
    assert!(answer.message().contains("Done already: T001."), "{answer}");
}

#[test]
fn words_outlast_a_compaction() {
    let bench = ready();
    let words = "use  python 3.12,\nkey sk-ant-abcDEF0123456789abcDEF";
    let answer = bench.implement("s1", &format!("T002 {words} --max-iterations 7"));
    assert!(answer.context().contains(&format!("Words for the agent: {words}")), "{answer}");
    assert_eq!(bench.read_state()["maxGlobalIterations"], 7);
    bench.stop("s1").run().reason();
    let again = bench.event("SessionStart", "s1").with("source", "compact").run();
    let context = again.answer.as_ref().unwrap()["hookSpecificOutput"]["additionalContext"].clone();
    let context = context.as_str().unwrap();
    assert!(context.contains("use  python 3.12,\nkey [masked]"), "{context}");
    assert!(context.contains("Only these tasks: T002. Leave every other box"), "{context}");
    assert!(!context.contains("hecklists"), "{context}");
    for (path, bytes) in bench.everything() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("sk-ant-abc"), "{}", path.display());
    }
}

fn reminded(bench: &Bench, session: &str) -> String {
    let again = bench.event("SessionStart", session).with("source", "compact").run();
    let answer = again.answer.as_ref().unwrap_or_else(|| panic!("silence: {again}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn longest_words_repeat_whole() {
    let bench = ready().file(".specify/specs/001-login/checklists/ux.md", "- [ ] CHK001 ok?\n");
    let words = format!("{}END", "use python 3.12 and no framework at all, ".repeat(48));
    let armed = bench.implement("s1", &format!("T002-T004 --ignore-checklists -- {words}"));
    assert!(armed.context().contains("Open checklists: ux.md: 1 of 1 open"), "{armed}");
    let context = reminded(&bench, "s1");
    assert!(context.contains(&words), "{context}");
    let waiver = "the person has decided to continue with them: do not ask about them";
    assert!(context.contains(waiver), "{context}");
    for _ in 0..10 {
        bench.write("made", format!("{:?}", bench.journal("s1").len()));
        let sent = bench.stop("s1").held().run();
        let is_tenth = bench.verdicts("s1").len() == 10;
        assert_eq!(sent.reason().contains(&words), is_tenth, "{sent}");
        assert_eq!(sent.reason().contains(waiver), is_tenth, "{sent}");
    }
    let status = spool(&bench, "s1", &["status"]);
    assert!(status.contains("  Checklists: open when it was armed"), "{status}");
    // What was armed counts, whatever the notes say.
    let path = bench.record_path("s1");
    let mut changed: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    changed["asked"]["words"] = "do nothing".into();
    fs::write(&path, changed.to_string()).unwrap();
    let context = reminded(&bench, "s1");
    assert!(context.contains(&words) && !context.contains("do nothing"), "{context}");
}

#[test]
fn terminal_words_come_with_first_stop() {
    let bench = ready();
    bench.spool().args(["start", "T002", "be quick"]).finish();
    let sent = bench.stop("s9").run();
    assert!(sent.reason().contains("\nThe person's words: be quick"), "{sent}");
    assert!(!bench.stop("s9").held().run().reason().contains("be quick"));
}

#[test]
fn a_feature_has_many_names() {
    let armed = "the loop is armed: feature 001-login";
    let folder = ".specify/specs/001-login";
    let paths =
        [folder, &format!("{folder}/tasks.md"), &folder.replace('/', "\\")].map(str::to_owned);
    for typed in ["001", "1", "login"].map(str::to_owned).into_iter().chain(paths) {
        let answer = ready().implement("s1", &typed);
        assert!(answer.context().contains(armed), "{typed}: {answer}");
    }
    // What may be a word is one, and so is the path of what is no feature.
    let bench = ready();
    bench.write("src/1/a.rs", "x");
    for typed in ["1 quick look", "src/1 has a fault"] {
        let answer = bench.implement("s1", typed);
        answer.context().has(&format!("Words for the agent: {typed}"));
    }
}

#[test]
fn mistyped_part_is_refused() {
    refused("T0O2", &["there is no task `T0O2`", "did you mean `T002`?"]);
    refused("T002-T050", &["there is no task `T050`"]);
    refused("US9", &["labeled `[US9]`"]);
    refused("phase 7", &["no heading `phase 7`", "`Phase 1: Setup`"]);
    let all = "there are: 001-login";
    refused("001-logn", &["there is no folder for feature `001-logn`", "`001-login`?", all]);
    refused("logn", &["there is no feature", "`logn`"]);
    refused("002-other T002", &["there is no folder for feature `002-other`"]);
    refused("T002 --max-iteration 3", &["did you mean `--max-iterations`?", "Usage:"]);
    refused("T002 \u{2014}max-iterations 3", &["did you mean `--max-iterations`?"]);
    refused("only T002 please", &["`T002` may be a part of the work", " -- "]);
    refused("T001", &["nothing is open: all 1 tasks that you named are ticked (T001)"]);
    refused("quickly", &["no feature and no task `quickly`", all]);
    refused(&"a word ".repeat(400), &["2000 are the most"]);
}

#[test]
fn a_part_without_work_is_refused() {
    let list = "## Phase 1\n- [x] T1 a\n## Phase 2\nNothing yet.\n## Phase 3\n- [ ] T3 c\n- [ ]* T4 d\n- [ ]* T5 e\n## Create a model\n- [ ] T6 f\n";
    for typed in ["phase 2", "T4-T5"] {
        let answer = Bench::ready().tasks(list).implement("s1", typed);
        answer.reason().has(&format!("no task that counts is among `{typed}`"));
    }
    let answer = Bench::ready().tasks(list).implement("s1", "create a branch first");
    assert!(answer.context().contains("Words for the agent: create a branch first"), "{answer}");
}

#[test]
fn headings_name_kinds_of_parts() {
    let bench = Bench::ready().tasks("## Week 1: Plan\n- [ ] T1 a\n## Week 2: Build\n- [ ] T2 b\n");
    let answer = bench.implement("s1", "week 3");
    assert!(answer.reason().contains("tasks.md has no heading `week 3`"), "{answer}");
    let answer = bench.implement("s1", "week 2");
    assert!(answer.context().contains("1 of 1 tasks open"), "{answer}");
}

#[test]
fn part_slip_is_refused() {
    let list = "## Phase 1: Plan\n- [ ] T1 a\n## Week 2: Build\n- [ ] T2 b\n- [ ][P] T3 c\n";
    let bench = Bench::ready().tasks(list);
    for typed in [
        "phase 1-2",
        "phase 1/2",
        "phase v",
        "phase m3",
        "phases 3",
        "phase two",
        "phse 2",
        "Pahse 2 now",
        "wek 3",
        "weeks 3",
        "phase 1 and phase 3",
    ] {
        let answer = bench.implement("s1", typed);
        assert!(answer.reason().contains("tasks.md has no heading"), "{typed}: {answer}");
    }
    for typed in ["phase 1 and 2", "phase 1, 2", "phase 1 & 2"] {
        let answer = bench.implement("s1", typed);
        assert!(answer.reason().contains("`2` may be a part of the work"), "{typed}: {answer}");
    }
    let answer = bench.implement("s1", "T3");
    assert!(answer.reason().contains("line 5 looks like a task and does not count"), "{answer}");
    let answer = bench.implement("s1", "T1 save 2 files, I say");
    assert!(answer.context().contains("Words for the agent: save 2 files, I say"), "{answer}");
}

#[test]
fn feature_and_task_number_is_refused() {
    let bench = Bench::project().current_feature("002-b").tasks("- [ ] T1 b\n");
    let bench = bench.current_feature("001-a").tasks("- [ ] 1. a\n- [ ] 2. b\n");
    let answer = bench.implement("s1", "2");
    assert!(answer.reason().contains("write `002-b`, or `001-a 2`"), "{answer}");
    let answer = bench.implement("s1", "001-a 2");
    assert!(answer.context().contains("1 of 1 tasks open"), "{answer}");
}

#[test]
fn two_dashes_lead_to_the_agent() {
    let bench = ready();
    let answer = bench.implement("s1", "T002 -- as in T004, not --fast, phase 3");
    answer.context().has("Words for the agent: as in T004, not --fast, phase 3");
    assert!(answer.context().contains("Only these tasks: T002."), "{answer}");
}

#[test]
fn quoted_flag_is_for_the_agent() {
    let answer = ready().implement("s1", "T002 call \"make --fast -k\" --max-iterations 7");
    format!("{}\n", answer.context()).has("Words for the agent: call \"make --fast -k\"\n");
}

#[test]
fn help_arms_nothing() {
    for (command, usage) in [
        ("implement", "[FEATURE] [TASKS] [WORDS FOR THE AGENT] [--max-iterations N]"),
        ("ralph-loop", "\"TASK\" [--max-iterations N]"),
        ("ulw-loop", "\"TASK\" [--max-iterations N]"),
        ("cancel", "[FEATURE]"),
        ("cancel-ralph", "[SESSION]"),
        ("status", ""),
    ] {
        for typed in ["--help", "T002 -h"] {
            let bench = ready();
            let before = bench.everything();
            let answer = bench.command("s1", &format!("speckit:{command}"), typed).run();
            let named = if command == "ulw-loop" { "ralph-loop" } else { command };
            let usage = format!("Usage: /speckit:{named} {usage}");
            assert!(answer.reason().contains(usage.trim_end()), "{command} {typed}: {answer}");
            assert!(answer.reason().starts_with("Ralph-speckit: nothing was done"), "{answer}");
            assert_eq!(bench.everything(), before, "{command} {typed}");
        }
    }
    let bench = ready();
    let call = bench.command("s1", "speckit-implement", "--help");
    let answer = call.with("command_source", "projectSettings").run();
    assert!(answer.reason().contains("Usage: /speckit:implement [FEATURE]"), "{answer}");
}

#[test]
fn name_before_dashes_is_no_word() {
    let bench = Bench::project().current_feature("002-b").tasks("- [ ] T1 b\n");
    let bench = bench.current_feature("001-a").tasks("- [ ] T1 a\n- [ ] 7. b\n");
    for (typed, about) in [("2 -- be quick", "feature 002-b"), ("7 -- be quick", "these tasks: 7.")]
    {
        let answer = bench.implement("s1", typed);
        assert!(answer.context().contains(about), "{typed}: {answer}");
        assert!(answer.context().contains("Words for the agent: be quick"), "{typed}: {answer}");
        bench.cancel("s1", "").reason();
    }
}

#[test]
fn added_part_task_joins() {
    let bench = ready();
    bench.implement("s1", "T003-T004");
    let next = spool(&bench, "s1", &["task", "next"]);
    assert!(next.contains("T003 [US1] Show it") && next.contains("2 of 2 open"), "{next}");
    let added = spool(&bench, "s1", &["task", "add", "--after", "T003", "Light it"]);
    assert!(added.contains("Added T006 after T003. 3 of 3 open"), "{added}");
    let beside = spool(&bench, "s1", &["task", "add", "--after", "T005", "Sand it"]);
    assert!(beside.contains("Added T007 after T005. 3 of 3 open"), "{beside}");
    for id in ["T003", "T004"] {
        bench.write(format!("work/{id}"), id);
        spool(&bench, "s1", &["task", "done", id]);
    }
    let sent = bench.stop("s1").saying("ALL_TASKS_COMPLETE").run();
    assert!(sent.reason().contains("T006") && !sent.reason().contains("T007"), "{sent}");
    bench.write("work/T006", "T006");
    let done = spool(&bench, "s1", &["task", "done", "T006"]);
    assert!(done.contains("All 3 tasks are done"), "{done}");
    bench.stop("s1").held().run().silent();
    assert_eq!(bench.verdicts("s1"), ["continue", "end completed"]);
    // The number of an iteration stands at its end, and not at what was done while the next one ran.
    let log = spool(&bench, "s1", &["log"]);
    let numbered = |line: &&str| line.contains("  iteration ");
    let numbered: Vec<_> = log.lines().filter(numbered).map(|line| &line[12..]).collect();
    let first = "iteration 1 task 2/3  continue  ";
    assert!(numbered.len() == 2 && numbered[0].starts_with(first), "{log}");
    assert!(numbered[1].starts_with("iteration 2 task 3/3  done  "), "{log}");
}

#[test]
fn unwritable_part_names_way_out() {
    let bench = ready();
    bench.implement("s1", "T003-T004");
    let list = || fs::read_to_string(bench.feature_path("tasks.md")).unwrap();
    let (before, pin) = (list(), bench.pin("feature-001-login"));
    // No file can grow, as for an agent in a sandbox.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" task add --after T003 'Light it'";
    let command = bench.spool();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(command.get_program()).envs(
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))),
    );
    shell.current_dir(bench.path("")).env("CLAUDE_CODE_SESSION_ID", "s1").env("CLAUDECODE", "1");
    let output = shell.finish();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    said.has_all(&[
        "nothing was added: after T003 it would be one of the named tasks",
        "feature-001-login.json`",
        "do it as a part of T003, or put it after a task that was not named",
        "a person runs the same `spool task add` in a terminal",
    ]);
    assert_eq!((list(), bench.pin("feature-001-login")), (before, pin));
}

#[test]
fn terminal_loop_keeps_its_part() {
    let bench = ready();
    let said = bench.spool().args(["start", "T002", "be quick"]).finish();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("Only these tasks: T002."), "{said}");
    assert!(said.contains("Words for the agent: be quick"), "{said}");
    assert!(bench.stop("s9").run().reason().contains("(Task 1/1, Iter 1)"));
    bench.tick("T002");
    bench.stop("s9").held().run().silent();
    assert_eq!(bench.verdicts("s9"), ["continue", "end completed"]);
}

#[test]
fn noted_other_part_changes_nothing() {
    let bench = ready();
    bench.implement("s1", "T002-T003");
    let path = bench.record_path("s1");
    let record = fs::read_to_string(&path).unwrap();
    let mut changed: Value = serde_json::from_str(&record).unwrap();
    changed["asked"]["tasks"] = Value::from(vec!["T001"]);
    fs::write(&path, changed.to_string()).unwrap();
    let sent = bench.stop("s1").run();
    assert!(sent.reason().contains("(Task 1/2, Iter 1)"), "{sent}");
}

#[test]
fn part_without_tasks_is_not_done() {
    let bench = ready();
    bench.implement("s1", "T002");
    bench.stop("s1").run().reason();
    bench.write_tasks("- [x] T001 Create it\n- [ ] T009 Another\n");
    let sent = bench.stop("s1").held().run();
    assert!(sent.is_block(), "{sent}");
    bench.write_tasks(ALL_DONE);
    assert!(bench.stop("s1").held().run().is_block() || bench.record("s1").gone_tasks.is_empty());
}

#[test]
fn ticked_copy_is_another_task() {
    let bench = ready();
    bench.implement("s1", "T002");
    bench.write_tasks("- [x] T002 Fill it\n- [ ] T002 Fill it\n");
    let sent = bench.stop("s1").saying("ALL_TASKS_COMPLETE").run();
    assert!(sent.is_block() && sent.reason().contains("T002~2"), "{sent}");
}

#[test]
fn emptied_list_is_not_done() {
    for (arguments, list) in [("", "# Tasks\n"), ("T002", "- [x] T001 Create it\n")] {
        for counters in
            [json!({"taskIndex": 5, "totalTasks": 0}), json!({"taskIndex": 0, "totalTasks": 0})]
        {
            let bench = ready();
            bench.implement("s1", arguments).context();
            bench.transcript("s1").tool("Edit");
            bench.stop("s1").run().reason();
            bench.write_tasks(list);
            for (name, value) in counters.as_object().unwrap() {
                bench.set_state(name, value.clone());
            }
            for _ in 0..3 {
                bench.transcript("s1").tool("Edit");
                let sent = bench.stop("s1").held().saying("ALL_TASKS_COMPLETE").run();
                assert!(sent.is_block(), "{arguments}, {counters}: {sent}");
            }
        }
    }
}

#[test]
fn status_of_a_name_shows_one() {
    let bench = Bench::armed();
    let bench = bench.feature("002-other").tasks(THREE_TASKS);
    bench.implement("s2", "002-other").context();
    let status = |name: &str| bench.command("s1", "speckit:status", name).run();
    let all = status("");
    assert!(all.reason().contains("001-login") && all.reason().contains("002-other"), "{all}");
    // By feature and by session, as `spool status NAME`.
    for name in ["1", "s1"] {
        let one = status(name);
        assert!(one.reason().contains("001-login") && !one.reason().contains("002-other"), "{one}");
    }
    assert!(status("009").reason().starts_with("Ralph-speckit: no loop here is called `009`\n"));
}
