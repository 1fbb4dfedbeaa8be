//! How a run ends, and that nothing of its tree is left, whatever happens to whom.

use crate::limited::Limited;
use std::time::Duration;

#[cfg(target_os = "linux")]
use ralph_speckit::runner::process::ProcessLimits;
use ralph_speckit::runner::process::{Control, Cut};
use rustix::process::{Pid, Signal, kill_process};

use super::driver::Driver;
use super::support::{Scribe, no_limits, run, script};
use super::witness::{PATIENCE, Witness, has_setsid};

#[test]
fn exit_code_differs_from_signal() {
    let left = |text: &str| run(&script(text), &no_limits(), &mut Scribe::new()).unwrap().left;
    let code = |text: &str| (left(text).code, left(text).signal);
    assert_eq!(code("exit 0"), (Some(0), None));
    assert_eq!(code("exit 137"), (Some(137), None));
    assert_eq!(code("kill -KILL $$"), (None, Some(9)));
    assert_eq!(code("kill -TERM $$"), (None, Some(15)));
}

#[test]
fn background_processes_end_and_are_counted() {
    let witness = Witness::new();
    let own_session = if has_setsid() { "setsid" } else { "" };
    let text =
        format!("{}{own_session} sh -c 'sleep 3600 & wait' & echo done; exit 0", witness.held());
    let mut scribe = Scribe::new();
    let ended = run(&script(&text), &no_limits(), &mut scribe).unwrap();
    witness.wait_for_the_end();
    assert_eq!((ended.cut, ended.left.code), (None, Some(0)), "{ended:?}");
    assert_eq!(scribe.output(), ["done"]);
    if cfg!(target_os = "linux") {
        assert!(ended.survivors > 0, "{ended:?}");
    }
}

#[test]
fn talking_leftovers_are_cut_off() {
    let witness = Witness::new();
    let text = format!("{}trap '' TERM; (setsid yes || yes) & exit 7", witness.held());
    let ended = run(&script(&text), &no_limits(), &mut Scribe::new()).unwrap();
    witness.wait_for_the_end();
    assert_eq!((ended.cut, ended.left.code), (None, Some(7)), "{ended:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn orphan_in_own_session_is_found() {
    if !has_setsid() {
        return;
    }
    let witness = Witness::new();
    let text = format!(
        "{}(setsid sh -c 'trap \"\" TERM; echo orphan >&9; exec sleep 3600' &)
         while :; do sleep 3600; done",
        witness.held()
    );
    let limits = ProcessLimits { grace: Duration::from_secs(1), ..no_limits() };
    let driver = Driver::start(&text, limits.grace);
    witness.wait_for("orphan");
    driver.signal(Signal::TERM);
    let told = driver.told("ended:");
    witness.wait_for_the_end();
    assert!(told.contains("cut: Some(Asked)") && told.ends_with("Some(15)"), "{told}");
}

#[test]
fn a_watcher_ends_the_agent() {
    let mut scribe = Scribe::answering("enough", Control::End);
    let ended = run(&script("echo enough; exec sleep 3600"), &no_limits(), &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.signal), (Some(Cut::Asked), Some(15)), "{ended:?}");
    assert!(ended.left.cut);
}

#[test]
fn impatient_watcher_kills() {
    let witness = Witness::new();
    let text = format!("echo now; {}", witness.stubborn());
    let mut scribe = Scribe::answering("now", Control::Kill);
    let ended = run(&script(&text), &no_limits(), &mut scribe).unwrap();
    assert_eq!((ended.cut, ended.left.signal), (Some(Cut::Asked), Some(9)), "{ended:?}");
}

#[test]
fn runner_passes_ctrl_c_on_itself() {
    let witness = Witness::new();
    let text = format!(
        "{}trap 'echo interrupted >&9' INT
         trap 'echo terminated >&9; exit 0' TERM
         echo ready >&9
         while :; do sleep 0.1; done",
        witness.held()
    );
    let driver = Driver::start(&text, PATIENCE);
    witness.wait_for("ready");
    driver.signal_as_terminal(Signal::INT);
    let told = driver.told("ended:");
    assert!(told.contains("code: Some(0)") && told.contains("cut: Some(Asked)"), "{told}");
    assert!(told.ends_with("Some(2)"), "{told}");
    assert_eq!(witness.all(), ["terminated"]);
}

/// An agent that says when it is asked to end, and works on.
fn outliving(witness: &Witness) -> String {
    format!(
        "{}trap 'echo terminated >&9' TERM
         echo ready >&9
         while :; do sleep 0.1; done",
        witness.held()
    )
}

#[test]
fn ctrl_c_twice_kills_at_once() {
    let witness = Witness::new();
    let driver = Driver::start(&outliving(&witness), Duration::from_hours(1));
    witness.wait_for("ready");
    driver.signal_as_terminal(Signal::INT);
    witness.wait_for("terminated");
    driver.signal_as_terminal(Signal::INT);
    let told = driver.told("ended:");
    witness.wait_for_the_end();
    assert!(told.contains("signal: Some(9)") && told.contains("cut: Some(Asked)"), "{told}");
}

#[test]
fn a_closed_terminal_ends_the_tree() {
    let witness = Witness::new();
    let driver = Driver::start(&witness.stubborn(), Duration::from_secs(1));
    witness.wait_for("ready");
    driver.signal_as_terminal(Signal::HUP);
    let told = driver.told("ended:");
    witness.wait_for_the_end();
    assert!(told.contains("signal: Some(9)") && told.ends_with("Some(1)"), "{told}");
}

#[test]
fn killed_runner_leaves_no_process() {
    let witness = Witness::new();
    // The grace is the runner's; without a runner the tree has 2 s.
    let driver = Driver::start(&witness.stubborn(), Duration::from_hours(1));
    witness.wait_for("grandchild");
    driver.signal(Signal::KILL);
    driver.wait();
    witness.wait_for_the_end();
}

#[test]
fn runner_killed_while_ending_leaves_nothing() {
    let witness = Witness::new();
    let driver = Driver::start(&outliving(&witness), Duration::from_hours(1));
    witness.wait_for("ready");
    driver.signal(Signal::TERM);
    witness.wait_for("terminated");
    driver.signal(Signal::KILL);
    driver.wait();
    witness.wait_for_the_end();
}

#[test]
fn killed_supervisor_saves_no_agent() {
    let witness = Witness::new();
    let text = format!("read go\n{}", witness.stubborn()).replace("echo ready", "echo $PPID");
    let driver = Driver::start(&text, Duration::from_hours(1));
    let supervisor: i32 = witness.next_number();
    kill_process(Pid::from_raw(supervisor).unwrap(), Signal::KILL).unwrap();
    let told = driver.told("ended:");
    witness.wait_for_the_end();
    assert!(told.contains("code: None, signal: Some(9)"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn early_signals_leave_nothing() {
    use ralph_speckit::world::{Deadline, pause};
    let witness = Witness::new();
    for round in 0..40_u64 {
        let mark = format!("moment-{}-{round}", std::process::id());
        let text = format!(": {mark}\n{}", witness.stubborn().replace("exec 9>", "exec 9<>"));
        let driver = Driver::start(&text, Duration::ZERO);
        pause(Duration::from_millis(round));
        match round % 4 {
            0 => driver.signal(Signal::KILL),
            1 => driver.signal_as_terminal(Signal::INT),
            2 => driver.signal(Signal::TERM),
            _ => driver.signal_as_terminal(Signal::HUP),
        }
        driver.wait();
        let deadline = Deadline::after(PATIENCE);
        while marked(&mark) > 0 {
            assert!(!deadline.is_over(), "round {round}: {} processes are left", marked(&mark));
            pause(Duration::from_millis(20));
        }
    }
}

/// How many living processes have these words in their environment or their arguments.
#[cfg(target_os = "linux")]
fn marked(words: &str) -> usize {
    let has = |id: &str, file: &str| {
        let bytes = std::fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        bytes.windows(words.len()).any(|piece| piece == words.as_bytes())
    };
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.parse::<i32>().is_ok().then_some(name)
    });
    ids.filter(|id| has(id, "environ") || has(id, "cmdline")).count()
}

#[test]
fn h6_ignored_hangup_still_reaches_children() {
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "trap '' HUP; exec timeout 60 \"$0\" --exact \"$1\""]);
    shell.arg(std::env::current_exe().unwrap());
    let outcome = shell.arg("end::a_closed_terminal_ends_the_tree").finish();
    let said = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status.success() && said.contains("1 passed"), "{outcome:?}");
}
