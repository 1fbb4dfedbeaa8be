//! What would keep a runner waiting for ever, or make it grow without end: files that are none.

#[cfg(target_os = "linux")]
use crate::support::limited::Limited;
use rustix::process::Signal;
use std::time::Duration;

use crate::runner::support::{Bench, CHANGE, MORE_THAN_AN_HOUR, in_change};

const TASKS: &str = "- [ ] T001 Begin it\n- [ ] T002 End it\n";

/// Ways to put something else in the place of a task list, and what is said of it.
const IN_ITS_PLACE: [(&str, &str); 4] = [
    ("mkfifo \"$list\"", "a pipe"),
    ("ln -s /dev/zero \"$list\"", "a symbolic link leads out of its folder"),
    ("truncate -s 64M \"$list\"", "at most 8388608 are read"),
    ("mkdir \"$list\"", "a folder"),
];

fn agent_that_runs(bench: &Bench, command: &str) {
    let list = in_change("tasks.md");
    bench.agent(&format!("list={list}\nrm -rf \"$list\"\n{command}\necho $n > made-$n.txt"));
}

#[test]
fn h1_strange_list_is_named_promptly() {
    std::thread::scope(|scope| {
        for (command, what) in IN_ITS_PLACE {
            scope.spawn(move || {
                let bench = Bench::with_tasks(TASKS);
                agent_that_runs(&bench, command);
                let ran = bench.ralph("").run().with_code(10);
                ran.says("the task list stayed unreadable").warns(what);
            });
        }
    });
}

#[test]
fn h1_list_pipe_makes_nobody_deaf() {
    for signal in [Signal::TERM, Signal::INT] {
        let bench = Bench::with_tasks(TASKS);
        agent_that_runs(&bench, "mkfifo \"$list\"\necho there\nexec sleep 3600");
        let mut running = bench.ralph("--grace 1s").start();
        running.wait_for("there");
        running.signal(signal);
        running.finish().with_code(128 + signal.as_raw());
    }
    let bench = Bench::with_tasks(TASKS);
    agent_that_runs(&bench, "mkfifo \"$list\"\necho there\nexec sleep 3600");
    let mut running = bench.ralph("--grace 1s").start();
    running.wait_for("there");
    bench.spool(&format!("stop --change {CHANGE}")).run().with_code(0);
    let ran = running.finish();
    assert!(ran.code.is_some_and(|code| code != 0), "{ran}");
    assert_eq!(bench.state()["reason"], "stopped", "{ran}");
}

#[test]
fn vanished_change_is_a_named_end() {
    let bench = Bench::with_tasks(TASKS);
    bench.agent(&format!("rm -rf {}\necho $n > made-$n.txt", in_change("")));
    let ran = bench.ralph("").run().with_code(6);
    assert_eq!((bench.state()["reason"].clone(), bench.runs()), ("blocked".into(), 1), "{ran}");
    ran.says("the folder of the change,").says("is gone").says("Bring that folder back, then run");
}

#[test]
fn vanished_project_ends_and_tells() {
    for (how, flags) in [
        ("rm -rf \"$PWD\"", ""),
        ("mv \"$PWD\" \"$DESK/elsewhere\"", "--commit"),
        ("mv \"$PWD\" \"$DESK/elsewhere\"\nexit 3", ""),
        // It stays until the check runs.
        ("sed -i 's/\\[ \\]/[x]/' \"$list\"", "--proof word --check=away"),
    ] {
        let bench = Bench::with_tasks(TASKS);
        bench.program("away", "#!/bin/sh\nmv \"$PWD\" \"$DESK/elsewhere\"\n");
        bench.agent(&format!("list={}\necho $n > made-$n.txt\n{how}", in_change("tasks.md")));
        let notify = "printf '%s %s' \"$RALPH_REASON\" \"$RALPH_PROJECT\" > \"$DESK/told\"";
        let call = bench.ralph(flags).arg("--notify").arg(notify);
        let ran = call.run().with_code(6);
        let root = bench.root.display();
        ran.says(&format!("needs a person: the folder of the project, `{root}`, is gone\n"));
        ran.says("\n       1 iteration, ").says("Bring that folder back, then run the same");
        assert_eq!((bench.runs(), bench.desk("told")), (1, format!("blocked {root}")), "{ran}");
        for noise in ["os error", "--status", "could not", "warning"] {
            assert!(!ran.to_string().contains(noise), "{noise}: {ran}");
        }
        assert!(!bench.root.exists(), "{ran}");
    }
}

#[test]
fn returned_project_continues() {
    let bench = Bench::with_tasks(TASKS);
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "[ $n -gt 1 ] || exit 3\nsed -i 's/\\[ \\]/[x]/' {list}\necho $n > made-$n.txt"
    ));
    let elsewhere = bench.beside("elsewhere");
    let mut running = bench.ralph("--retry-pause 1h --proof word").start();
    running.wait_for("waiting for a pause after a failed run");
    std::fs::rename(&bench.root, &elsewhere).unwrap();
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish().with_code(6);
    ran.says("the folder of the project, `").says("`, is gone");
    assert!(!bench.root.exists() && !ran.errors.contains("os error"), "{ran}");
    std::fs::rename(&elsewhere, &bench.root).unwrap();
    let ran = bench.ralph("--proof word").run().with_code(0);
    ran.says(") was killed\n");
    assert_eq!(bench.runs(), 2, "{ran}");
}

#[test]
fn committing_loop_needs_no_temporary_folder() {
    let bench = Bench::with_tasks(TASKS);
    let list = in_change("tasks.md");
    bench.agent(&format!("sed \"s/\\[ \\] T00$n/[x] T00$n/\" {list} > l; mv l {list}\necho $n > made-$n.txt\n[ $n = 1 ] || exit 0\necho half done\nexec sleep 600"));
    let call = bench.ralph("--commit --iteration-timeout 1h --grace 1s");
    let mut running = call.env("TMPDIR", "/nowhere").start();
    running.wait_for("half done");
    bench.let_pass(MORE_THAN_AN_HOUR);
    let ran = running.finish().with_code(0);
    assert!(!ran.errors.contains("could not"), "{ran}");
    assert_eq!(bench.git(&["status", "--porcelain", "made-1.txt", "made-2.txt"]), "", "{ran}");
    let left = bench.git(&["rev-list", "--all", "--count"]);
    assert!(left.parse::<u32>().unwrap() >= 3, "{left} {ran}");
    let names = std::fs::read_dir(bench.path(".git")).unwrap().flatten();
    assert!(
        names.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("ralph-"))
    );
}

/// Where git waits for ever, and what an agent does to bring that about.
const GIT_WAITS: [(&str, &str); 3] = [
    // `git check-ignore` opens it.
    ("rm -f .gitignore; mkfifo .gitignore", ""),
    // `git status` and `git add` start it.
    ("echo '*.txt filter=slow' >.gitattributes", "--commit"),
    ("git config core.fsmonitor 'sleep 3600'", "--commit"),
];

/// An agent that works, makes git wait by what the person has configured, and says so.
fn agent_that_makes_git_wait(bench: &Bench, how: &str) {
    if how.contains("filter=slow") {
        bench.git(&["config", "filter.slow.clean", "cat >/dev/null; sleep 3600"]);
        bench.git(&["config", "filter.slow.required", "true"]);
    } else if how.contains("fsmonitor") {
        let project = bench.root.file_name().unwrap().to_str().unwrap();
        bench.executable(&format!("{project}/.git/hooks/pre-commit"), "#!/bin/sh\nsleep 3600\n");
    }
    bench.agent(&format!("{how}\necho $n >made-$n.txt\necho there"));
}

#[test]
fn h2_hanging_git_hears_signals() {
    std::thread::scope(|scope| {
        for (how, flags) in GIT_WAITS {
            for ending in ["TERM", "stop"] {
                scope.spawn(move || ended_while_git_waits(how, flags, ending));
            }
        }
    });
}

fn ended_while_git_waits(how: &str, flags: &str, ending: &str) {
    let bench = Bench::new();
    agent_that_makes_git_wait(&bench, how);
    let mut running = bench.ralph(flags).env("RALPH_TEST_GIT", "2000").start();
    running.wait_for("there");
    if ending == "TERM" {
        running.signal(Signal::TERM);
    } else {
        bench.spool(&format!("stop --change {CHANGE}")).run().with_code(0);
    }
    let ran = running.finish();
    assert_eq!(bench.state()["reason"], "stopped", "{how}: {ran}");
    assert_ne!(ran.code, Some(0), "{how}: {ran}");
}

#[test]
fn h2_hanging_git_keeps_loop_limits() {
    std::thread::scope(|scope| {
        for (how, flags) in GIT_WAITS {
            scope.spawn(move || out_of_time_while_git_waits(how, flags));
        }
    });
}

fn out_of_time_while_git_waits(how: &str, flags: &str) {
    let bench = Bench::new();
    agent_that_makes_git_wait(&bench, how);
    bench.stop_the_clocks();
    let call = bench.ralph(&format!("{flags} --max-runtime 1s")).env("RALPH_TEST_GIT", "2000");
    let mut running = call.start();
    running.wait_for("there");
    // Less than the look at all files may take, which may have begun.
    bench.let_pass(Duration::from_millis(1_100));
    let ran = running.finish();
    assert_eq!(bench.state()["reason"], "timed_out", "{how}: {ran}");
    // The work was seen by other evidence, and the person reads what is missing.
    assert_ne!(bench.iterations()[0]["files_changed"], 0, "{how}: {ran}");
    let told = ["did not answer within 2 s and was ended", "took too long, and was ended"];
    assert!(told.iter().any(|words| ran.errors.contains(words)), "{how}: {ran}");
}

/// Only for somebody who has no other process a limit of processes can be set to the point.
#[cfg(target_os = "linux")]
#[test]
fn h2_threadless_runner_goes_on() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use crate::runner::ran::Running;
    use crate::runner::support::{PROMISE, says};
    use crate::support::left_out::left_out;

    let is_root = rustix::process::geteuid().is_root();
    if !is_root || Command::new("prlimit").arg("--version").output().is_err() {
        left_out("it needs root and `prlimit`");
        return;
    }
    let bench = Bench::new();
    // The runner and one more process; a thread beside git would be a third.
    bench.agent(&format!(
        "prlimit --nproc=2:2 --pid \"$RALPH_RUNNER\" || exit 9\necho 1 >made.txt\n{}",
        says(PROMISE)
    ));
    let nobody = 2_000_000_000 + std::process::id();
    let whose = format!("{nobody}:{nobody}");
    let place = bench.beside("");
    assert!(Command::new("chown").args(["-R", &whose]).arg(&place).finish().status.success());
    let call = bench.ralph("");
    let mut command = call.command();
    command.uid(nobody).gid(nobody);
    let ran = Running::start(&mut command).finish();
    assert_eq!((ran.code, bench.runs()), (Some(0), 1), "{ran}");
    assert_eq!(bench.iterations()[0]["files_changed"], 1, "{ran}");
}

#[test]
fn linked_change_is_neither_read_nor_written() {
    for folder in [".spool/changes", &format!(".spool/changes/{CHANGE}")] {
        let bench = Bench::with_tasks("- [ ] 1.1 Write `a.rs`\n");
        let elsewhere = bench.beside("elsewhere");
        bench.agent(&format!(
            "cp -a {folder} {0}; rm -rf {folder}; ln -s {0} {folder}; find {0} -name tasks.md -exec sed -i 's/\\[ \\]/[x]/' {{}} +",
            elsewhere.display()
        ));
        let ran = bench.ralph("").run().with_code(6);
        ran.says("the folder of the change,").says("is behind a link now");
        let list =
            elsewhere.join(if folder.ends_with(CHANGE) { "" } else { CHANGE }).join("tasks.md");
        assert_eq!(std::fs::read_to_string(list).unwrap(), "- [x] 1.1 Write `a.rs`\n");
        assert_eq!(bench.runs(), 1);
    }
}
