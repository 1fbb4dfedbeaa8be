//! `spool ralph` on Windows: the agent programs are scripts of the system's own shell.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::limited::{Ended, Limited, until};
use crate::support::scratch::{HOOK, SPOOL, Said, Scratch};

const CHANGE: &str = "001-01_a-loop";
/// The last line of an agent that keeps its promise.
const PROMISE: &str = "echo made>made.txt& echo ^<promise^>COMPLETE^</promise^>";
/// Starts another script and does not wait for it.
const CHILD: &str = r#"start /b "" "%~dp0child.cmd""#;
/// That script: a program that never ends by itself, and has a file open as long as it lives.
const CHILD_ITSELF: &str =
    r#"@"%SPOOL%" log --follow --project "%DESK%" >"%DESK%\child" 2>&1 <nul"#;
/// Works until it is ended.
const FOR_EVER: &str = r#""%SPOOL%" log --follow --project "%DESK%" >"%DESK%\self" 2>&1 <nul"#;

/// A project with one change, and an agent program in a folder with a blank in its name.
struct Bench(Scratch);

impl Bench {
    /// The lines are those of the agent; it counts its runs in files on its desk.
    fn new(agent: &[&str]) -> Self {
        let mut scratch = Scratch::new("windows-runner-");
        scratch
            .write(format!(".spool/changes/{CHANGE}/proposal.md"), "# A loop\r\n\r\nBuild it\r\n");
        // A loop that `spool log --follow` waits for.
        scratch.write("../desk/specs/001-x/tasks.md", "- [ ] T001 Wait\n");
        scratch.write("../desk/.specify/feature.json", r#"{"feature_directory": "specs/001-x"}"#);
        let desk = scratch.beside("desk");
        scratch.set("DESK", desk);
        scratch.set("SPOOL", SPOOL);
        scratch.set("HOOK", HOOK);
        let count = r#"@echo off
if exist "%DESK%\2" echo run >"%DESK%\3"
if exist "%DESK%\1" echo run >"%DESK%\2"
echo run >"%DESK%\1""#;
        let lines = [&[count][..], agent, &["exit /b 0"]].concat().join("\n").replace('\n', "\r\n");
        scratch.write("../an agent/agent.cmd", lines + "\r\n");
        scratch.write("../an agent/child.cmd", CHILD_ITSELF);
        Self(scratch)
    }

    fn tasks(self, list: &str) -> Self {
        self.0.write(format!(".spool/changes/{CHANGE}/tasks.md"), list);
        self
    }

    fn ralph<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = self.0.command(SPOOL);
        command.args(["ralph", "Build it", "--change", CHANGE, "--retry-pause", "10ms"]);
        let agent = self.0.beside("an agent").join("agent.cmd");
        command.arg("--harness-command").arg(format!("\"{}\"", agent.display()));
        command.args(arguments);
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.ralph(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn spool(&self, arguments: &[&str]) -> Said {
        Said::of(self.0.command(SPOOL).args(arguments))
    }

    /// How often the agent was run, as far as it counts.
    fn runs(&self) -> usize {
        ["1", "2", "3"].iter().filter(|name| self.0.beside("desk").join(name).exists()).count()
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.0.read(".claude/loop-state.json")).unwrap()
    }

    /// Waits until a program on the desk has its file open.
    fn wait_for(&self, name: &str) {
        let path = self.0.beside("desk").join(name);
        until("the file is open", || is_open(&path).then_some(()));
    }

    /// Waits until no program has it open any more: the system may take a moment to close it.
    fn wait_until_gone(&self, name: &str) {
        let path = self.0.beside("desk").join(name);
        assert!(path.exists(), "it was never there");
        until("the program has gone", || (!is_open(&path)).then_some(()));
    }

    /// Nothing has it open.
    #[track_caller]
    fn assert_gone(&self, name: &str) {
        let path = self.0.beside("desk").join(name);
        assert!(path.exists() && !is_open(&path), "`{name}` is still open");
    }
}

fn is_open(path: &Path) -> bool {
    path.exists() && OpenOptions::new().write(true).share_mode(0).open(path).is_err()
}

#[track_caller]
fn ended(said: &Said, code: i32, words: &str) {
    assert!(said.code == Some(code) && said.out.contains(words), "{said}");
}

#[test]
fn promise_ends_a_blank_folder_loop() {
    let bench = Bench::new(&[r#"if exist "%DESK%\2" ("#, PROMISE, ")"]);
    let said = Said::of(&mut bench.ralph::<&str>(&[]));
    ended(&said, 0, "ralph: done: on the agent's word alone: no check");
    assert_eq!(bench.runs(), 2, "{said}");
    let state = bench.state();
    assert_eq!((&state["status"], &state["current_iteration"]), (&"done".into(), &2.into()));
}

#[test]
fn loop_ends_at_most_iterations() {
    let bench = Bench::new(&["echo more >> made.txt"]);
    let said = Said::of(&mut bench.ralph(&["--max-iterations", "2"]));
    ended(&said, 3, "ralph: ended (max_iters):");
    assert_eq!(bench.runs(), 2, "{said}");
}

#[test]
fn failing_check_sends_the_agent_back() {
    // Does some work and ticks the box at once; what the check asks for comes with the second run.
    let tick = format!(r"echo - [x] 1.1 Make it>.spool\changes\{CHANGE}\tasks.md");
    let make = r#"if exist "%DESK%\2" echo made>"all done.txt""#;
    let bench = Bench::new(&["echo begun>begun.txt", &tick, make]).tasks("- [ ] 1.1 Make it\r\n");
    let check = r#"if exist "all done.txt" (exit 0) else (echo not yet& exit 7)"#;
    let said = Said::of(&mut bench.ralph(&["--check", check]));
    ended(&said, 0, "ralph: done: all the work is done");
    assert!(said.out.contains("exit code 7") && said.out.contains("not yet"), "{said}");
    assert_eq!(bench.runs(), 2, "{said}");
}

#[test]
fn limit_ends_agent_and_children() {
    let bench = Bench::new(&[CHILD, FOR_EVER]);
    let limits = ["--iteration-timeout", "3s", "--max-iterations", "1"];
    let mut running = bench.start(&limits);
    bench.wait_for("child");
    bench.wait_for("self");
    running.ended();
    bench.assert_gone("child");
    bench.assert_gone("self");
    assert_eq!(bench.state()["iterations"][0]["timed_out"], true, "{:#}", bench.state());
}

#[test]
fn leftovers_end_with_the_iteration() {
    // It continues once its child has begun.
    let wait = ":again\nif not exist \"%DESK%\\child\" goto again";
    let bench = Bench::new(&[CHILD, wait, PROMISE]);
    let said = Said::of(&mut bench.ralph::<&str>(&[]));
    ended(&said, 0, "ralph: done: on the agent's word alone: no check");
    bench.assert_gone("child");
}

#[test]
fn stop_ends_agent_and_loop() {
    let bench = Bench::new(&[CHILD, FOR_EVER]);
    let running = bench.start(&[]);
    bench.wait_for("self");
    let taken = Said::of(&mut bench.ralph::<&str>(&[])).with_code(12);
    let words = format!("already: process {}, since", running.id());
    assert!(taken.err.contains(&words), "{taken}");
    bench.spool(&["stop"]).ok();
    let said = Said::from(&running.finish()).with_code(130);
    bench.assert_gone("child");
    bench.assert_gone("self");
    assert_eq!(bench.state()["reason"], "stopped", "{said}");
}

#[test]
fn killed_runner_leaves_no_agent() {
    let bench =
        Bench::new(&[CHILD, &format!(r#"if exist "%DESK%\2" ({PROMISE}) else {FOR_EVER}"#)]);
    let mut running = bench.start(&[]);
    bench.wait_for("child");
    bench.wait_for("self");
    running.kill().unwrap();
    running.ended();
    bench.wait_until_gone("child");
    bench.wait_until_gone("self");
    let said = Said::of(&mut bench.ralph::<&str>(&[]));
    ended(&said, 0, "ralph: done: on the agent's word alone: no check");
    let state = bench.state();
    assert_eq!(state["iterations"][0]["interrupted"], true, "{state:#}\n{said}");
}

#[test]
fn unstartable_agent_is_named() {
    let bench = Bench::new(&[]);
    let mut call = bench.0.command(SPOOL);
    call.args(["ralph", "Build it", "--change", CHANGE]);
    let said =
        Said::of(call.args(["--harness-command", r"C:\not here\agent.exe --fast"])).with_code(9);
    assert!(said.err.contains(r"`C:\not` cannot be started"), "{said}");
}

#[test]
fn runner_demo_plays_to_end() {
    let bench = Bench::new(&[]);
    let said = Said::of(bench.0.command(SPOOL).args(["ralph", "--harness", "demo"]));
    ended(&said, 0, "ralph: done: all the work is done");
    assert!(said.out.contains("7/7 tasks"), "{said}");
}
