//! What a person does beside a running loop, and what they see of it.

use crate::support::has::Has;
use ralph_speckit::world::pause;
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::runner::ran::end_of;
use crate::runner::support::{Bench, CHANGE, PROMISE, in_change, in_state, says};

// Words that are added while it runs.

#[test]
fn added_words_reach_the_next_iteration() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!(
        "case $n in\n1) read -r _ < \"$DESK/gate\" ;;\n3) read -r _ < \"$DESK/gate\" ;;\n4) {} ;;\nesac\n\
         echo $n > made.txt",
        says(PROMISE)
    ));
    let mut running = bench.ralph("").start();
    running.wait_for("-- iteration 1");
    let add = bench.spool(&format!("ralph --change {CHANGE} --add-context"));
    add.arg("Leave the $(database) alone").run().with_code(0);
    gate.open();
    running.wait_for("-- iteration 3");
    bench.spool(&format!("ralph --change {CHANGE} --clear-context")).run().with_code(0);
    gate.open();
    running.finish().with_code(0);
    let has = |run: u32| bench.prompt(run).contains("Leave the $(database) alone");
    assert_eq!([has(1), has(2), has(3), has(4)], [false, true, true, false]);
}

#[test]
fn pause_holds_between_iterations() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!(
        "if [ $n = 1 ]; then read -r _ < \"$DESK/gate\"; echo 1 > made.txt; exit; fi\n{}",
        says(PROMISE)
    ));
    let mut running = bench.ralph("").start();
    running.wait_for("-- iteration 1");
    // A file by hand is meant for whoever runs.
    bench.write(in_state("pause"), "");
    gate.open();
    running.wait_for("ralph: paused");
    assert_eq!(bench.runs(), 1);
    let status = bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0);
    status.says("Doing: paused");
    fs::remove_file(bench.root.join(in_state("pause"))).unwrap();
    running.finish().with_code(0).says("ralph: resumed");
}

// Two runners.

#[test]
fn second_runner_is_refused_with_first() {
    let bench = Bench::new();
    bench.write(".spool/changes/003-01_other/proposal.md", "# Other\n");
    let gate = bench.gate();
    bench.agent(&format!("read -r _ < \"$DESK/gate\"\n{}", says(PROMISE)));
    let mut running = bench.ralph("").start();
    running.wait_for("-- iteration 1");
    let before = bench.state();
    let process = format!("process {}", running.id());
    let second = bench.ralph("").run().with_code(12);
    second.warns(&format!("a runner works on the change `{CHANGE}` already: {process}"));
    second.warns(&format!("end it with `spool stop --change {CHANGE}`"));
    // Another change in the same work tree would write the same file.
    let call = bench.spool("ralph Other --change 003-01_other --harness-command agent");
    let second = call.run().with_code(12);
    second.warns(&format!(
        "a runner works in this work tree already, on the change `{CHANGE}`: {process}"
    ));
    assert_eq!(bench.state(), before);
    gate.open();
    running.finish().with_code(0);
    assert_eq!(bench.runs(), 1);
}

#[test]
fn two_trees_run_side_by_side() {
    let bench = Bench::new();
    bench.write(".spool/changes/003-01_other/proposal.md", "# Other\n");
    bench.commit("another change");
    let other = bench.beside("other");
    bench.git(&["worktree", "add", "--quiet", other.to_str().unwrap()]);
    let gate = bench.gate();
    bench.program(
        "agent",
        "#!/bin/sh\nif [ -f ../desk/gate ]; then read -r _ < ../desk/gate; fi\necho '<promise>COMPLETE</promise>'\n",
    );
    bench
        .program("waiting", &format!("#!/bin/sh\nread -r _ < \"$DESK/gate\"\n{}\n", says(PROMISE)));
    let first = bench.spool(&format!("ralph Build --change {CHANGE} --harness-command waiting"));
    let mut first = first.start();
    first.wait_for("-- iteration 1");
    let second = bench.spool("ralph Other --change 003-01_other --harness-command agent");
    second.within(&other).run().with_code(0);
    gate.open();
    first.finish().with_code(0);
}

// Files that are broken.

#[test]
fn unreadable_state_file_is_kept_aside() {
    for broken in ["{\"status\": \"run", "", "\0\0\0", "[1, 2]", "null"] {
        let bench = Bench::new();
        bench.agent(&says(PROMISE));
        bench.write(".claude/loop-state.json", broken);
        bench.write(in_state("state.json"), broken);
        let ran = bench.ralph("").run().with_code(0);
        ran.warns("a file of an earlier loop cannot be read and was kept as `");
        assert_eq!(bench.state()["status"], "done");
        for folder in [".claude".to_owned(), in_state("")] {
            let names = fs::read_dir(bench.root.join(&folder)).unwrap().flatten();
            let kept = names.map(|entry| entry.path()).find(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                name.contains("state.json") && !name.ends_with("state.json")
            });
            let kept = kept.unwrap_or_else(|| panic!("nothing is kept in {folder}: {ran}"));
            assert_eq!(fs::read_to_string(kept).unwrap(), broken);
        }
    }
}

// Sessions.

#[test]
fn continue_session_resumes_the_last_one() {
    let script = format!(
        "calls Bash\nif [ $n = 2 ]; then says '{PROMISE}'; result '{PROMISE}'; else says more; result more; fi"
    );
    let bench = Bench::new();
    bench.claude(&script);
    bench.ralph("--continue-session").run().with_code(0);
    let session = bench.state()["session_id"].as_str().unwrap().to_owned();
    assert!(!bench.arguments(1).contains(&"--resume".to_owned()));
    let second = bench.arguments(2);
    let place = second.iter().position(|word| word == "--resume").expect("--resume");
    assert_eq!(second[place + 1], session);
    let bench = Bench::new();
    bench.claude(&script);
    bench.ralph("").run().with_code(0);
    assert!(!bench.arguments(2).contains(&"--resume".to_owned()), "a fresh one is the rule");
}

#[test]
fn continue_session_works_with_any_id() {
    let bench = Bench::new();
    bench.agent(&format!(
        "echo \"$1\" > \"$DESK/session-$n\"\nif [ $n = 2 ]; then {}; fi",
        says(PROMISE)
    ));
    let call =
        bench.spool(&format!("ralph Build --change {CHANGE} --continue-session --harness-command"));
    call.arg("agent {session}").run().with_code(0);
    assert_eq!(bench.desk("session-1"), bench.desk("session-2"));
    assert_eq!(bench.desk("session-1").trim().len(), 36);
}

// The screen.

#[test]
fn json_is_one_object_a_line() {
    let bench = Bench::with_tasks("- [ ] 1.1 Make \"it\"\n- [ ] 1.2 Try it\n");
    bench.agent(&format!(
        "echo 'words with \"quotes\"'; printf 'bytes \\377\\n'; printf 'tab\\there\\033[31m\\n'\n\
         echo $n > made.txt; if [ $n = 1 ]; then printf -- '- [x] 1.1 Make \"it\"\\n- [ ] 1.2 Try it\\n' > {path}; exit; fi\n\
         if [ $n = 2 ]; then exit 1; fi\n\
         printf -- '- [x] 1.1 Make \"it\"\\n- [x] 1.2 Try it\\n' > {path}",
        path = in_change("tasks.md")
    ));
    let ran = bench.ralph("--json").arg("--check").arg("true").run().with_code(0);
    let events = ran.events();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("start", "end"), "{names:?}");
    for name in ["iteration", "said", "iteration_end", "waiting", "check", "checked"] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    let end = &events[events.len() - 1];
    assert_eq!(end["exit_code"], 0);
    assert_eq!((&end["iterations"], &end["tasks"]), (&json!(3), &json!("2/2")));
    assert_eq!(end["status"], "done");
    let begun: Vec<_> = events.iter().filter(|event| event["event"] == "iteration").collect();
    assert_eq!((&begun[0]["number"], &begun[0]["task"]), (&json!(1), &json!("1.1")));
}

#[test]
fn demo_json_is_line_objects() {
    let bench = Bench::folder();
    let temporary = bench.beside("home");
    let call =
        bench.spool("ralph --harness demo --json").env("TMPDIR", temporary.to_str().unwrap());
    let ran = call.run().with_code(0);
    assert_eq!(ran.events().last().unwrap()["status"], "done");
}

#[test]
fn agent_is_heard_in_three_degrees() {
    let bench = Bench::new();
    bench.claude(&format!(
        "calls Bash\nsays 'I have made it.'\nresult 'I have made it.\\n{PROMISE}'"
    ));
    let [quiet, normal, all] =
        ["--quiet", "", "-v"].map(|flag| bench.ralph(flag).run().with_code(0));
    assert!(
        !quiet.output.contains("I have made it") && quiet.output.contains("ralph: done"),
        "{quiet}"
    );
    assert!(normal.output.contains("  I have made it.") && !normal.output.contains("tool_result"));
    assert!(normal.output.contains("Bash: true"), "{normal}");
    assert!(all.output.contains("tool_result"), "{all}");
}

#[test]
fn printed_text_steers_no_terminal() {
    let escape = "\u{1b}]2;owned\u{7}\u{1b}[2J";
    let bench = Bench::with_tasks(&format!("- [ ] 1.1 Make {escape} it\n"));
    bench.agent(
        "printf 'said \\033]2;owned\\007\\033[2J\\n'\nif [ $n = 1 ]; then printf 'bad \\033]2;owned\\007\\n' >&2; exit 1; fi\n\
         if [ $n = 2 ]; then printf '<blocked>do \\033]2;owned\\007 it</blocked>\\n'; fi",
    );
    let Some(running) = bench.ralph("-v --max-iterations 3").on_a_terminal() else { return };
    let ran = running.finish().with_code(6);
    ran.output.has("Make").has("said").has("do ");
    assert!(!ran.output.contains("\u{1b}]2;owned") && !ran.output.contains("\u{1b}[2J"), "{ran}");
}

#[test]
fn terminals_get_colours_and_pipes_none() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    let Some(running) = bench.ralph("").on_a_terminal() else { return };
    let ran = running.finish().with_code(0);
    ran.says("\u{1b}[22;2t").says("\u{1b}[23;2t");
    // D12: the terminal forgets the title that it kept, and the last one stays.
    let (last, back) = (ran.output.rfind("[done]"), ran.output.rfind("\u{1b}[23;2t"));
    assert!(back.is_some() && back < last, "{ran}");
    let ran = bench.ralph("").env("TERM", "xterm").run().with_code(0);
    assert!(!ran.output.contains('\u{1b}') && !ran.errors.contains('\u{1b}'), "{ran}");
    let running = bench.ralph("").env("NO_COLOR", "1").on_a_terminal().unwrap();
    let ran = running.finish().with_code(0);
    assert!(!ran.output.contains("\u{1b}[3") && !ran.output.contains("\u{1b}[1m"), "{ran}");
}

#[test]
fn live_line_fits_its_terminal() {
    let long = "写一个解析器 for the whole of the grammar, with all of its tests and examples";
    let tables = [
        (60, " s of 8 h · $0.4200 · T002 写"),
        (80, " s of 8 h · $0.4200 · 581 tokens · iteration 2/50 · T002 写"),
    ];
    for (columns, shown) in tables {
        let bench = Bench::with_tasks(&format!("- [ ] T001 One\n- [ ] T002 {long}\n"));
        let gate = bench.gate();
        bench.claude(&format!(
            "cost=0.42\ncalls Bash; [ $n = 1 ] || read -r _ < \"$DESK/gate\"\necho $n > made.txt\n\
             sed -i '0,/\\[ \\]/s/\\[ \\]/[x]/' {}\nresult done",
            in_change("tasks.md")
        ));
        let call = bench.ralph("--max-runtime 8h").with_columns(columns);
        let Some(mut running) = call.on_a_terminal() else { return };
        running.wait_for(shown);
        gate.open();
        let ran = running.finish().with_code(0);
        let lines = ran.output.split(['\r', '\n', '\u{1b}']);
        let lines: Vec<&str> = lines.filter(|line| line.contains(" done · ")).collect();
        for line in &lines {
            let words = line.split_once('K').map_or(*line, |(_, words)| words).trim_end();
            let wide =
                |letter: char| if ('\u{2e80}'..='\u{ffef}').contains(&letter) { 2 } else { 1 };
            assert!(words.chars().map(wide).sum::<u32>() < columns, "{words:?}");
            assert!(words.contains("0/2 done · ") || words.contains("1/2 done · "), "{words:?}");
        }
    }
}

#[test]
fn summary_says_changes_costs_and_reading() {
    let script = format!(
        "cost=0.42\ncalls Bash\nif [ $n = 2 ]; then echo thought > note.txt; else printf 'a\\nb\\n' > made-$n.txt; fi\n\
         git add . && git commit -qm step-$n\n\
         [ $n = 2 ] || sed -i '0,/\\[ \\]/s/\\[ \\]/[x]/' {}\nresult done",
        in_change("tasks.md")
    );
    let bench = Bench::with_tasks("- [ ] T001 One\n- [ ] T002 Two\n");
    bench.claude(&script);
    let start = bench.git(&["rev-parse", "HEAD"]);
    let ran = bench.ralph("--json").run().with_code(0);
    let end = ran.events().pop().unwrap();
    let summary = &end["summary"];
    let costs = summary["costs"].as_array().unwrap();
    let seen: Vec<_> =
        costs.iter().map(|cost| (&cost["tasks"], &cost["iterations"], &cost["tokens"])).collect();
    let (one, two) = (json!(["T001"]), json!(["T002"]));
    assert_eq!(seen, [(&one, &json!(1), &json!(420)), (&two, &json!(2), &json!(840))]);
    assert_eq!((&costs[0]["cost_usd"], &costs[1]["cost_usd"]), (&json!(0.42), &json!(0.84)));
    assert_eq!(summary["from_commit"], start.trim());
    let lines = summary["files"].as_array().unwrap();
    let made = lines.iter().find(|file| file["file"] == "made-1.txt").unwrap();
    assert_eq!((&made["added"], &made["removed"]), (&json!(2), &json!(0)));
    // The commands that it names work as they are.
    for command in summary["commands"].as_array().unwrap() {
        let words: Vec<&str> = command.as_str().unwrap().split(' ').collect();
        let shown = bench.git(&words[1..]);
        assert!(shown.contains("made-3.txt"), "{command}: {shown}");
    }
    let words = end["words"].as_str().unwrap();
    assert!(words.contains("\n       Cost of T002: 2 iterations, "), "{words}");
    assert!(words.lines().count() <= 24, "{words}");
}

#[test]
fn dumb_terminal_gets_no_live_line() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.agent(&format!("read -r _ < \"$DESK/gate\"\n{}", says(PROMISE)));
    let call = bench.ralph("--max-runtime 8h").with_columns(80);
    let Some(mut running) = call.with_term("dumb").on_a_terminal() else { return };
    running.wait_for("-- iteration 1");
    // A live line would come within a second.
    pause(Duration::from_secs(1));
    gate.open();
    let ran = running.finish().with_code(0);
    assert!(!ran.output.contains(" s of 8 h") && !ran.output.contains('\u{1b}'), "{ran}");
    let mut running = bench.ralph("--max-runtime 8h").with_columns(80).on_a_terminal().unwrap();
    running.wait_for(" s of 8 h");
    gate.open();
    running.finish().with_code(0);
}

#[test]
fn failing_test_leaves_no_runner() {
    let bench = Bench::new();
    bench.agent("tail -f /dev/null");
    let mut id = 0;
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut running = bench.ralph("").start();
        id = running.id();
        running.wait_for("-- iteration 1");
        panic!("as a test does that fails");
    }));
    assert!(failed.is_err() && !ralph_speckit::system::processes::is_alive(id));
}

#[test]
fn ctrl_c_reaches_only_the_runner() {
    let bench = Bench::new();
    let witness = Bench::witness();
    // Ctrl-C on a terminal goes to all of the foreground; the agent must be ended by its runner.
    bench.agent(&format!(
        "{}trap 'echo interrupted >&9' INT\ntrap 'echo asked >&9; exit 1' TERM\necho ready >&9\nwhile :; do sleep 1; done",
        witness.held()
    ));
    let Some(mut running) = bench.ralph("").on_a_terminal() else { return };
    witness.wait_for("ready");
    running.types("\u{3}");
    running.finish().with_code(130);
    assert_eq!(witness.all(), ["asked"]);
    assert_eq!(bench.state()["status"], "stopped");
}

// A terminal that is gone.

/// A pipe that nobody reads.
fn deaf() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn loop_goes_on_unread() {
    for arguments in ["", "-v", "--json", "--quiet"] {
        let bench = Bench::new();
        bench
            .agent(&format!("echo on it\nif [ $n = 2 ]; then {}; exit; fi\nexit 1", says(PROMISE)));
        let mut command = bench.ralph(arguments).command();
        let status = end_of(&mut command.stdout(deaf()).stderr(deaf()).spawn().unwrap());
        assert_eq!(status.code(), Some(0), "{arguments}: {:#}", bench.state());
        assert_eq!(bench.runs(), 2, "{arguments}");
    }
}

#[test]
fn closed_terminal_ends_the_agent() {
    let bench = Bench::new();
    let witness = Bench::witness();
    bench
        .agent(&format!("{}echo ready >&9\nwhile :; do echo on it; sleep 1; done", witness.held()));
    let Some(running) = bench.ralph("").on_a_terminal() else { return };
    witness.wait_for("ready");
    // With its program gone, the terminal is closed, and the system sends SIGHUP.
    running.signal(Signal::KILL);
    witness.wait_for_the_end();
    bench.wait_until_nobody_runs();
    let state = bench.state();
    assert_eq!(
        (&state["status"], &state["exit_code"]),
        (&json!("stopped"), &json!(129)),
        "{state:#}"
    );
    assert_eq!(bench.iterations()[0]["interrupted"], true);
}

#[test]
fn status_and_help_survive_leaving_readers() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    bench.ralph("").run().with_code(0);
    for arguments in [
        format!("ralph --status --change {CHANGE}"),
        format!("ralph --status --json --change {CHANGE}"),
        format!("ralph Build --harness-command agent --dry-run --change {CHANGE}"),
        "ralph --help".to_owned(),
        "ralph --change nothing".to_owned(),
    ] {
        let mut command = bench.spool(&arguments).command();
        let status = end_of(&mut command.stdout(deaf()).stderr(deaf()).spawn().unwrap());
        assert_ne!(status.code(), Some(101), "{arguments}: it panics");
    }
}

// Settings of other people.

#[test]
fn agents_see_no_session_marks() {
    let bench = Bench::new();
    bench.agent(&format!("env > \"$DESK/env\"\n{}", says(PROMISE)));
    let call = bench.ralph("").env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    let call = call.env("RALPH_RUNNER_SUPERVISOR", "1").env("ANTHROPIC_API_KEY", "key");
    call.run().with_code(0);
    let environment = bench.desk("env");
    assert!(environment.contains("ANTHROPIC_API_KEY=key"), "{environment}");
    for mark in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "RALPH_RUNNER_SUPERVISOR"] {
        assert!(!environment.contains(mark), "{mark}: {environment}");
    }
}

#[test]
fn gone_change_shows_by_any_name() {
    let bench = Bench::new();
    bench.agent("");
    bench.ralph("--max-iterations 1").run().with_code(3);
    std::fs::remove_dir_all(bench.path(&format!(".spool/changes/{CHANGE}"))).unwrap();
    for name in [CHANGE, "2-1", "ralph-loop"] {
        let ran = bench.spool(&format!("ralph --status --change {name}")).run().with_code(0);
        ran.says(&format!("Change: {CHANGE}"));
    }
    let ran = bench.spool("ralph --status --change nothing").run().with_code(2);
    ran.warns("no change");
}
