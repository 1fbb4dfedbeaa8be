//! A runner in a process of its own, for what happens to runners: this test program, started again.

use crate::limited::{Ended, within};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use ralph_speckit::runner::harness::{Input, Launch, Stream};
use ralph_speckit::runner::process::{Control, ProcessLimits, Watcher};
use ralph_speckit::runner::signals::Signals;
use ralph_speckit::world;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::hearing::hear_all_signals;
use super::support::{no_limits, run, script};

/// The variable with the script of the agent program.
const SCRIPT: &str = "RALPH_TEST_SCRIPT";
/// The variable with the grace, in seconds.
const GRACE: &str = "RALPH_TEST_GRACE";

/// A runner at work.
pub struct Driver {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Driver {
    /// Starts a runner in a process group of its own, as a shell with a terminal would.
    pub fn start(text: &str, grace: Duration) -> Self {
        hear_all_signals();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["driver::a_runner", "--exact", "--ignored", "--nocapture"]);
        command.env(SCRIPT, text).env(GRACE, grace.as_secs().to_string());
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal to the runner alone.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).unwrap();
    }

    /// Sends a signal to the whole process group, as a terminal does.
    pub fn signal_as_terminal(&self, signal: Signal) {
        kill_process_group(self.id(), signal).unwrap();
    }

    /// Waits until the runner has ended, and returns its line that begins with `word`, without it.
    pub fn told(mut self, word: &str) -> String {
        let output = self.output;
        let lines: Vec<String> =
            within("the end of a runner", move || output.lines().map(Result::unwrap).collect());
        let told =
            lines.iter().filter_map(|line| Some(line.split_once(word)?.1.to_owned())).next_back();
        self.child.ended();
        told.unwrap_or_else(|| panic!("the runner did not say `{word}`"))
    }

    /// Waits for a runner that was killed.
    pub fn wait(mut self) {
        self.child.ended();
    }
}

struct Obedient {
    signals: Signals,
}

impl Watcher for Obedient {
    fn line(&mut self, _: Stream, _: &[u8]) -> Control {
        Control::GoOn
    }

    fn moment(&mut self) -> Control {
        if self.signals.hurry() {
            return Control::Kill;
        }
        if self.signals.asked().is_some() { Control::End } else { Control::GoOn }
    }
}

#[test]
#[ignore = "other tests start it, as a runner in a process of its own"]
fn a_runner() {
    let Some(text) = world::variable(SCRIPT) else {
        return;
    };
    let grace = world::variable(GRACE).unwrap().parse().unwrap();
    let limits = ProcessLimits { grace: Duration::from_secs(grace), ..no_limits() };
    let mut watcher = Obedient { signals: Signals::listen().unwrap() };
    // The supervisor writes it once it has told the runner which process the script is: one that has read it is known.
    let launch = Launch { input: Input::Text(b"go\n".to_vec()), ..script(&text) };
    let ended = run(&launch, &limits, &mut watcher).unwrap();
    writeln!(std::io::stdout(), "\nended:{ended:?} {:?}", watcher.signals.asked()).unwrap();
}
