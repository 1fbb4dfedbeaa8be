//! What a loop must not be taken in by, and what it must not hang on: the finds of its first attacker.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::runner::ran::Ran;
use crate::runner::support::{Bench, CHANGE, PROMISE, in_change, in_state, says};
use crate::support::schema::holds;

/// Two open tasks.
const TASKS: &str = "- [ ] T001 Begin it\n- [ ] T002 End it\n";
/// Ticks the first open box.
const TICK: &str = "list=.spool/changes/*/tasks.md\nawk '!d && sub(/\\[ \\]/, \"[x]\") { d = 1 } 1' $list > new && cat new > $(echo $list) && rm new\n";

fn hook(bench: &Bench, script: &str) {
    let path = bench.root.join(".git/hooks/pre-commit");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn note_commits_are_no_progress() {
    let bench = Bench::with_tasks(TASKS);
    bench.agent("git add -A; git add -f .claude/loop-state.json && git commit --quiet --message wip\necho nothing to do");
    let ran = bench.ralph("--no-progress 2 --max-iterations 9").run().with_code(5);
    // They are told all the same.
    ran.says("2 commits, 0 files");
    assert_eq!(bench.runs(), 2);
}

#[test]
fn note_commits_stop_no_stall() {
    let bench = Bench::new();
    bench.agent("git add -A; git add -f .claude/loop-state.json && git commit --quiet --message wip\necho $n > made.txt");
    // The first commit holds the proposal's folder at most, the later ones the file that was made before.
    bench.ralph("--stall-threshold 2 --max-iterations 4").run().with_code(3);
    let bench = Bench::new();
    bench.write(".gitignore", "made.txt\n");
    bench.commit("nothing that is made counts");
    bench.agent("git add -A; git add -f .claude/loop-state.json && git commit --quiet --message wip\necho $n > made.txt");
    bench.ralph("--stall-threshold 2 --no-progress 0 --max-iterations 9").run().with_code(4);
}

#[test]
fn d1_check_commits_are_no_progress() {
    let bench = Bench::new();
    bench.agent(&format!("echo '{PROMISE}'"));
    let call = bench.ralph("--no-progress 2 --max-iterations 9").arg("--check");
    call.arg("git commit --quiet --allow-empty --message wip; exit 1").run().with_code(5);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn d1_check_writes_are_no_progress() {
    let bench = Bench::with_tasks("- [x] T001 Begin it\n");
    bench.agent("echo nothing to do");
    let call = bench.ralph("--no-progress 2 --max-iterations 9").arg("--check");
    call.arg("for list in .spool/changes/*/tasks.md; do echo >> $list; done; exit 1")
        .run()
        .with_code(5);
    assert_eq!(bench.runs(), 2);
}

#[test]
fn hanging_commit_hook_ends_with_loop() {
    let bench = Bench::with_tasks(TASKS);
    let gate = bench.gate();
    hook(
        &bench,
        &format!("read -r _ < '{}'\nexec tail -f /dev/null", bench.beside("desk/gate").display()),
    );
    bench.agent(&format!("{TICK}echo 1 > made.txt"));
    let running = bench.ralph("--commit").start();
    gate.open();
    bench.spool("stop").run().with_code(0);
    let ran = running.finish().with_code(130);
    ran.warns("could not commit this iteration").says("could not be committed");
    assert_eq!(bench.git(&["log", "--oneline"]).lines().count(), 1);
}

#[test]
fn next_commit_takes_uncommitted_files() {
    let bench = Bench::with_tasks(TASKS);
    hook(
        &bench,
        &format!("[ -e '{0}' ] || {{ : > '{0}'; exit 1; }}", bench.beside("desk/once").display()),
    );
    bench.agent(&format!("{TICK}echo $n > made-$n.txt"));
    let ran = bench.ralph("--commit").run().with_code(0);
    ran.warns("`git commit` ended with code 1 and without a word");
    assert!(!ran.output.contains("could not be committed"), "{ran:?}");
    let names = bench.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(names.contains("made-1.txt") && names.contains("made-2.txt"), "{names}");
}

#[test]
fn bare_ticks_are_named_at_end() {
    let bench = Bench::with_tasks(TASKS);
    bench.agent(&format!("{TICK}{TICK}"));
    let ran = bench.ralph("--proof word").run().with_code(0);
    ran.says("2 boxes were ticked, and no other file was changed");
    let honest = Bench::with_tasks(TASKS);
    honest.agent(&format!("{TICK}{TICK}echo 1 > made.txt"));
    let ran = honest.ralph("").run().with_code(0);
    assert!(!ran.output.contains("no other file"), "{ran:?}");
}

#[test]
fn t1_a_promise_without_proof() {
    let bench = Bench::new();
    bench.agent(&format!("echo '{PROMISE}'"));
    let words = "on the agent's word alone: no check, no changed file";
    let ran = bench.ralph("").run().with_code(0);
    ran.says(words);
    assert!(!ran.output.contains("all the work is done"), "{ran:?}");
    assert_eq!(bench.state()["words"], words);
    let ran = bench.ralph("--check true").run().with_code(0);
    assert!(!ran.output.contains(words), "{ran:?}");
    bench.write("TODO.md", "- [ ] Write\n");
    let call = bench.ralph("--check true --strict --restart").asking("Do TODO.md");
    let ran = call.run().with_code(11);
    ran.says("the checks passed, but 1 task open in TODO.md");
    assert!(!ran.output.contains("all the work is done"), "{ran:?}");
}

#[test]
fn l6_strict_cut_list_has_exit_code() {
    for arguments in ["", "--strict"] {
        let bench = Bench::with_tasks(TASKS);
        bench.agent(&format!(
            "printf -- '- [x] T001 Begin it\\n' > {}\necho 1 > made.txt",
            in_change("tasks.md")
        ));
        let words = "1 task was open at the start, and not in the list any more: T002";
        bench.ralph(arguments).run().with_code(6).says(words);
        let state = bench.state();
        assert_eq!((&state["reason"], &state["exit_code"]), (&"blocked".into(), &6.into()));
        let journal = bench.read(&in_state("journal.jsonl"));
        assert!(journal.lines().last().unwrap().contains(words), "{journal}");
    }
}

/// Its boxes count, but for two.
const BESIDE: &str = "- [ ] T001 Begin it\n- [ ]* T002 Polish it\n\n**[ ] T003 Tell them**\n";

#[test]
fn end_beside_open_boxes_is_doubtful() {
    let words = "2 boxes are open and do not count: T002 (optional), line 4 (later: **[ ] T003";
    for (arguments, code) in [("", 0), ("--strict", 11)] {
        let bench = Bench::with_tasks(BESIDE);
        bench.agent(&format!("{TICK}echo 1 > made.txt"));
        let ran = bench.ralph(arguments).run().with_code(code);
        ran.says(words).says("all the work is done");
        let journal = bench.read(&in_state("journal.jsonl"));
        assert!(journal.lines().last().unwrap().contains(words), "{journal}");
        let log = bench.spool("log").run().with_code(0);
        assert!(log.output.contains(words), "{log}");
    }
}

#[test]
fn optional_tasks_count_where_asked() {
    let optional = "- [ ] T001 Begin it\n- [ ]* T002 Polish it\n";
    let yaml = ".claude/ralph-speckit.local.md";
    for (arguments, settings) in [("--include-optional", ""), ("", "include_optional: true\n")] {
        let bench = Bench::with_tasks(optional);
        bench.write(yaml, format!("---\n{settings}---\n"));
        bench.agent(&format!("{TICK}echo $n > made.txt"));
        let ran = bench.ralph(&format!("--strict {arguments}")).run().with_code(0);
        ran.says("2/2 tasks");
        assert_eq!(bench.runs(), 2, "{ran}");
        let status = bench.spool("ralph --status").run().with_code(0);
        assert!(!format!("{ran:?}{status:?}").contains("left out"), "{ran}{status}");
    }
    let bench = Bench::with_tasks(optional);
    bench.write(".spool/ralph.toml", "include-optional = true\n");
    bench.agent(&format!("{TICK}echo $n > made.txt"));
    bench.ralph("").run().with_code(0).says("2/2 tasks");
}

#[test]
fn plan_and_status_name_these_boxes() {
    let bench = Bench::with_tasks(BESIDE);
    bench.agent(&format!("{TICK}echo 1 > made.txt"));
    let expected = ["optional, and left out: T002", "line 4 looks like a task and does not count"];
    let named = |ran: &Ran, indent: &str| {
        for line in expected {
            ran.says(&format!("\n{indent}List: {line}"));
        }
    };
    let kinds = |ran: &Ran, at: &str, form: &str| {
        let form_of: Value = serde_json::from_str(&ran.output).unwrap();
        holds(form, &form_of);
        let asides = form_of.pointer(at).unwrap().as_array().unwrap().clone();
        let kinds: Vec<_> = asides.iter().map(|aside| aside["kind"].clone()).collect();
        assert_eq!(kinds, ["optional", "later"], "{ran}");
    };
    named(&bench.ralph("--dry-run").run().with_code(0), "");
    let plan = bench.ralph("--dry-run --json").run().with_code(0);
    kinds(&plan, "/change/asides", "ralph-plan");
    bench.ralph("").run().with_code(0);
    named(&bench.spool("ralph --status").run().with_code(0), "  ");
    let status = bench.spool("ralph --status --json").run().with_code(0);
    kinds(&status, "/runner/asides", "ralph-status");
}

#[test]
fn l6_strict_undoubted_loop_is_done() {
    let bench = Bench::with_tasks(TASKS);
    bench.agent(&format!("sed -i 's/\\[ \\]/[x]/' {}\necho 1 > made.txt", in_change("tasks.md")));
    bench.ralph("--strict").run().with_code(0);
}

#[test]
fn list_without_open_tasks_is_named() {
    let bench = Bench::with_tasks("- [x] T001 Make it\n");
    bench.agent("true");
    bench.ralph("--max-iterations 1").run().with_code(0).warns("has no open task");
}

#[test]
fn boxes_ticked_before_verify_nothing() {
    let words = "every box was ticked before, and nothing was verified";
    for (list, arguments, code, is_said) in [
        ("- [x] T001 Make it\n  Verify: false\n", "", 0, true),
        ("- [x] T001 Make it\n- [X] T002 Try it\n", "--strict", 11, true),
        ("- [x] T001 Make it\n", "--check true", 0, false),
        ("- [x] T001 Make it\n- [ ] T002 Try it\n", "", 0, false),
    ] {
        let bench = Bench::with_tasks(list);
        bench.agent(&format!("{TICK}echo 1 > made.txt"));
        let ran = bench.ralph(arguments).run().with_code(code);
        let (status, log) = (bench.spool("ralph --status").run(), bench.spool("log").run());
        for said in [&ran, &status.with_code(0), &log.with_code(0)] {
            assert_eq!(said.output.contains(words), is_said, "{list}: {said}");
            assert_eq!(said.output.contains("all the work is done"), !is_said, "{list}: {said}");
        }
    }
}

#[test]
fn work_being_moved_stays_done() {
    let bench = Bench::with_tasks(
        "- [ ] T001 Create lib/new.py\n- [ ] T002 Move lib/new.py to src/new.py\n",
    );
    bench.agent(&format!(
        "if [ $n = 1 ]; then mkdir lib && echo 'n = 1' > lib/new.py\n{TICK}else mkdir src && mv lib/new.py src/; fi"
    ));
    let ran = bench.ralph("--max-iterations 2").run();
    ran.says("1/2 tasks").says("Proved: 1 by");
    assert!(!ran.output.contains("open again"), "{ran}");
}

#[test]
fn proved_boxes_stay_proved() {
    let bench = Bench::with_tasks("- [ ] T001 Make made.txt\n");
    bench.agent(&format!("{TICK}echo 1 > made.txt"));
    bench.ralph("").run().with_code(0).says("Proved: 1 by files");
    bench.ralph("--strict").run().with_code(0).says("all the work is done");
    bench.write(in_change("tasks.md"), "- [x] T001 Make made.txt\n- [x] T002 Make b.txt\n");
    bench.ralph("--strict").run().with_code(11).says("nothing was verified");
}

#[test]
fn agent_is_told_its_runner() {
    let bench = Bench::new();
    bench.agent(&format!("echo \"$RALPH_RUNNER\" > made.txt\necho '{PROMISE}'"));
    let running = bench.ralph("").env("RALPH_RUNNER", "1").start();
    let id = running.id().to_string();
    running.finish().with_code(0);
    assert_eq!(bench.read("made.txt").trim(), id);
}

#[test]
fn program_output_has_no_colours() {
    let bench = Bench::new();
    bench.agent(&format!("echo 1 > made.txt\n{}", says(PROMISE)));
    let ran = bench.ralph("--json").env("CLICOLOR_FORCE", "1").run().with_code(0);
    for event in ran.events() {
        assert!(!event.to_string().contains("\\u001b"), "{event}");
    }
}

#[test]
fn refused_runner_leaves_no_status() {
    let bench = Bench::new();
    let gate = bench.gate();
    bench.write(".spool/changes/003-01_other/proposal.md", "# Other\n");
    bench.agent(&format!("read -r _ < \"$DESK/gate\"\necho 1 > made.txt\n{}", says(PROMISE)));
    let mut running = bench.ralph("").start();
    running.wait_for("-- iteration 1");
    let other = bench.spool("ralph --change 003-01_other --harness-command agent x");
    other.run().with_code(12).warns("a runner works in this work tree already");
    let ran = bench.spool("status").run().with_code(0);
    ran.says(CHANGE);
    assert!(!ran.output.contains("003-01_other"), "{ran:?}");
    gate.open();
    running.finish().with_code(0);
    let ran = bench.spool("pause").run().with_code(1);
    ran.warns("no runner is running");
    assert!(fs::exists(bench.root.join(in_state("state.json"))).unwrap());
}

#[test]
fn agent_cleaning_the_tree_ends_nothing() {
    let bench = Bench::with_tasks(TASKS);
    bench.agent(&format!("git clean -fdxq -e 'made-*'\n{TICK}echo $n > made-$n.txt"));
    bench.ralph("").run().with_code(0);
    assert_eq!(bench.runs(), 2);
    let state = bench.state();
    assert_eq!((&state["status"], bench.iterations().len()), (&"done".into(), 2), "{state}");
    bench.spool(&format!("ralph --status --change {CHANGE}")).run().with_code(0).says("done");
}

#[test]
fn lost_repository_is_told_to_committers() {
    let bench = Bench::with_tasks(TASKS);
    bench.agent(&format!("rm -rf .git\n{TICK}echo $n > made.txt"));
    let ran = bench.ralph("--commit").run().with_code(0);
    ran.warns("could not commit this iteration").says("could not be committed");
}

#[cfg(target_os = "linux")]
#[test]
fn non_utf_8_path_is_a_path() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    bench.agent(&format!("echo 1 > made.txt\n{}", says(PROMISE)));
    let odd = bench.beside("home").join(OsStr::from_bytes(b"odd\xff"));
    fs::rename(&bench.root, &odd).unwrap();
    bench.ralph("").within(&odd).run().with_code(0);
    assert!(odd.join("made.txt").exists());
}

#[test]
fn s5_hook_leaves_runner_sessions_alone() {
    let bench = Bench::new();
    bench.write(".specify/.current-feature", "001-login\n");
    bench.write(".specify/specs/001-login/tasks.md", "- [x] T001 Create it\n- [ ] T002 Fill it\n");
    let state = r#"{"phase": "execution", "taskIndex": 1, "totalTasks": 2, "globalIteration": 1}"#;
    bench.write(".specify/specs/001-login/.speckit-state.json", state);
    let event = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s1", "cwd": bench.root, "stop_hook_active": false,
        "last_assistant_message": "Done.", "background_tasks": [], "session_crons": [],
    });
    bench.write("event.json", event.to_string());
    let hook = env!("CARGO_BIN_EXE_ralph-hook");
    bench.agent(&format!(
        "'{hook}' <event.json >answer 2>said\nRALPH_RUNNER=1 '{hook}' <event.json >other\n{}",
        says(PROMISE)
    ));
    // The driver's own id would be as good as any to somebody who does not ask who started whom.
    let running = bench.ralph("").start();
    let id = running.id();
    running.finish().with_code(0);
    assert_eq!(bench.read("answer"), "");
    let said = bench.read("said");
    assert!(said.contains(&format!("belongs to `spool ralph` (process {id})")), "{said}");
    assert!(bench.read("other").contains("\"decision\":\"block\""), "{}", bench.read("other"));
}

/// Programs that an agent has git start, and how git calls each.
const GIT_STARTS: [(&str, &str); 8] = [
    ("git config filter.x.clean \"$TRAP\"", "filter.x.clean"),
    (
        "printf '[filter \"x\"]\\n\\tclean = %s\\n' \"$TRAP\" >evil.cfg; git config include.path ../evil.cfg",
        "include.path",
    ),
    (
        "printf '[filter \"x\"]\\n\\tclean = %s\\n' \"$TRAP\" >evil.cfg; git config includeIf.gitdir:**.path \"$PWD/evil.cfg\"",
        "includeif.gitdir:**.path",
    ),
    (
        "git config extensions.worktreeConfig true; git config --worktree filter.x.process \"$TRAP\"",
        "filter.x.process",
    ),
    (
        "cp -r .git \"$DESK/other\"; echo \"$DESK/other\" >.git/commondir; git config filter.x.clean \"$TRAP\"",
        "filter.x.clean",
    ),
    ("git config gpg.program \"$TRAP\"; git config commit.gpgSign true", "gpg.program"),
    ("cp \"$TRAP\" .git/hooks/pre-commit", ".git/hooks/pre-commit"),
    (
        "git config remote.o.promisor true; git config remote.o.uploadpack \"$TRAP\"",
        "remote.o.promisor",
    ),
];

#[test]
fn s11_what_agents_have_git_start() {
    for (how, name) in GIT_STARTS {
        let bench = Bench::with_tasks(TASKS);
        let trap = bench.executable("trap", "#!/bin/sh\n: >\"$DESK/trapped\"\ncat\n");
        bench.agent(&format!(
            "TRAP='{}'\n{TICK}{how}\necho '*.txt filter=x' >.gitattributes\necho $n >made.txt",
            trap.display()
        ));
        let ran = bench.ralph("--commit --proof word").run();
        assert!(!bench.beside("desk/trapped").exists(), "{how}: {ran}");
        ran.warns("could not commit this iteration");
        ran.warns(&format!("{name}` is new or other since the loop was armed"));
        assert_eq!(bench.git(&["rev-list", "--count", "HEAD"]), "1", "{how}");
    }
}

#[test]
fn s11_an_included_file_comes_later() {
    let bench = Bench::with_tasks(TASKS);
    bench.git(&["config", "include.path", "../later.cfg"]);
    let trap = bench.executable("trap", "#!/bin/sh\n: >\"$DESK/trapped\"\ncat\n");
    bench.agent(&format!(
        "{TICK}git config -f later.cfg filter.x.clean '{}'\necho '*.txt filter=x' >.gitattributes\necho $n >made.txt",
        trap.display()
    ));
    let ran = bench.ralph("--commit --proof word").run();
    assert!(!bench.beside("desk/trapped").exists(), "{ran}");
    ran.warns("filter.x.clean` is new or other since the loop was armed");
}

#[test]
fn s11_new_hooks_folder_is_off() {
    let bench = Bench::with_tasks(TASKS);
    let trap = bench.executable("hooks/pre-commit", "#!/bin/sh\n: >\"$DESK/trapped\"\n");
    hook(&bench, ": >\"$DESK/own\"");
    let folder = trap.parent().unwrap().display();
    bench.agent(&format!("git config core.hooksPath '{folder}'\n{TICK}echo $n >made.txt"));
    bench.ralph("--commit --proof word").run().with_code(0);
    assert!(!bench.beside("desk/trapped").exists() && bench.beside("desk/own").exists());
    assert_ne!(bench.git(&["rev-list", "--count", "HEAD"]), "1");
}

#[test]
fn s11_a_submodule_has_no_say() {
    let bench = Bench::with_tasks(TASKS);
    let trap = bench.executable("trap", "#!/bin/sh\n: >\"$DESK/trapped\"\n");
    bench.agent(&format!(
        "{TICK}echo $n >made.txt\n[ $n = 1 ] || exit 0\ngit init --quiet sub; echo 1 >sub/a\n\
         echo 'a filter=x' >sub/.gitattributes; git -C sub add .\n\
         git -C sub -c user.name=a -c user.email=a@b commit --quiet --message a; git add sub\n\
         git -C sub config filter.x.clean '{}'; echo 2 >sub/a",
        trap.display()
    ));
    let ran = bench.ralph("--commit --proof word").run();
    assert!(!bench.beside("desk/trapped").exists(), "{ran}");
}

#[test]
fn s11_hooks_from_before_arming_work() {
    let bench = Bench::with_tasks(TASKS);
    bench.git(&["config", "filter.x.clean", "sed s/1/one/"]);
    bench.write(".gitattributes", "*.txt filter=x\n");
    bench.commit("a filter");
    bench.agent(&format!("{TICK}git config branch.main.remote origin\necho 1 >made.txt"));
    let ran = bench.ralph("--commit --proof word").run().with_code(0);
    assert!(!ran.errors.contains("could not commit"), "{ran}");
    assert_eq!(bench.git(&["show", "HEAD:made.txt"]), "one");
}
