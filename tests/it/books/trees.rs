//! What a Verify command or a check starts: nothing of it outlives the program that ran it.

use crate::support::limited::{Ended, until};
use crate::support::system::is_alive;
use crate::support::witness::has_setsid;
use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::support::{Project, SPOOL};
use crate::support::hearing::hear_all_signals;

/// It goes on for ever, with a child that has left its group; both say who they are.
const ENDLESS: &str = "setsid sh -c 'echo $$ >child; exec sleep 3600' & echo $$ >leader; wait";

/// Waits until the process that writes its id into a file is gone.
fn wait_until_gone(project: &Project, name: &str) {
    let id = wait_for_id(project, name);
    until(name, || (!is_alive(id)).then_some(()));
}

fn wait_for_id(project: &Project, name: &str) -> i32 {
    until(name, || {
        let text = fs::read_to_string(project.root.join(name)).unwrap_or_default();
        text.ends_with('\n').then(|| text.trim().parse().unwrap())
    })
}

fn project_with(verify: &str) -> Project {
    Project::armed(&format!("- [ ] T001 Create it\n  - Verify: `{verify}`\n- [ ] T002 Fill it\n"))
}

#[test]
fn h5_ended_task_takes_its_command() {
    if !has_setsid() {
        return;
    }
    hear_all_signals();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        for verb in ["done", "verify"] {
            let project = project_with(ENDLESS);
            let mut command = project.command(SPOOL);
            command.args(["task", verb, "T001"]).stdin(Stdio::null());
            let mut spool = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            for name in ["leader", "child"] {
                wait_for_id(&project, name);
            }
            kill_process(Pid::from_child(&spool), signal).unwrap();
            assert!(!spool.ended().success(), "{signal:?}");
            for name in ["leader", "child"] {
                wait_until_gone(&project, name);
            }
            assert!(project.tasks().contains("- [ ] T001"), "{signal:?} {verb}");
        }
    }
}

#[test]
fn h5_strayed_child_dies_with_verify() {
    if !has_setsid() {
        return;
    }
    let leaves =
        "setsid sh -c 'echo $$ >child; exec sleep 3600' & until test -s child; do sleep 0.01; done";
    let project = project_with(leaves);
    project.task(&["verify", "T001"]).ok();
    wait_until_gone(&project, "child");
    fs::remove_file(project.root.join("child")).unwrap();
    project.task(&["done", "T001"]).ok();
    wait_until_gone(&project, "child");
}

#[test]
fn h5_strayed_child_dies_with_check() {
    if !has_setsid() {
        return;
    }
    let project = Project::with("- [ ] T001 Create it\n");
    let leaves =
        "setsid sh -c 'echo $$ >child; exec sleep 3600' & until test -s child; do sleep 0.01; done";
    project.write(
        ".claude/ralph-speckit.local.md",
        format!("---\nchecks:\n  - {leaves}\n  - run: {ENDLESS}\n    limit: 1\n---\n"),
    );
    project.arm("");
    project.edit_tasks("[ ]", "[x]");
    let stop = project.stop("ALL_TASKS_COMPLETE");
    assert!(stop.reason().contains("over its limit of 1 s"), "{}", stop.reason());
    for name in ["leader", "child"] {
        wait_until_gone(&project, name);
    }
}
