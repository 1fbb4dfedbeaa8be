//! An agent program as a small script, and who listens to it.

use std::io;
use std::path::Path;
use std::time::Duration;

use ralph_speckit::runner::harness::{Launch, Stream};
use ralph_speckit::runner::process::{self, Control, ProcessLimits, ProcessOutcome, Watcher};

/// Limits that end nothing.
pub fn no_limits() -> ProcessLimits {
    ProcessLimits {
        wall: None,
        silence: None,
        lingering: Duration::from_hours(1),
        grace: Duration::from_hours(1),
    }
}

/// The program that is the supervisor.
pub fn supervisor() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_spool"))
}

/// A shell script as the agent program.
pub fn script(text: &str) -> Launch {
    Launch { program: "sh".into(), arguments: vec!["-c".into(), text.into()], ..Launch::default() }
}

/// A watcher that keeps all lines, and answers some of them.
pub struct Scribe {
    /// What was printed.
    pub lines: Vec<(Stream, Vec<u8>)>,
    /// What is answered to a line of these words.
    pub answers: Vec<(&'static str, Control)>,
}

impl Scribe {
    pub fn new() -> Self {
        Self { lines: Vec::new(), answers: Vec::new() }
    }

    pub fn answering(words: &'static str, watch: Control) -> Self {
        Self { lines: Vec::new(), answers: vec![(words, watch)] }
    }

    /// The lines of standard output as text.
    pub fn output(&self) -> Vec<String> {
        self.of(Stream::Output)
    }

    /// The lines of standard error as text.
    pub fn errors(&self) -> Vec<String> {
        self.of(Stream::Errors)
    }

    fn of(&self, wanted: Stream) -> Vec<String> {
        let lines = self.lines.iter().filter(|(stream, _)| *stream == wanted);
        lines.map(|(_, line)| String::from_utf8_lossy(line).into_owned()).collect()
    }
}

impl Watcher for Scribe {
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control {
        self.lines.push((stream, line.to_vec()));
        let answer = self.answers.iter().find(|(words, _)| words.as_bytes() == line);
        answer.map_or(Control::GoOn, |(_, watch)| *watch)
    }

    fn moment(&mut self) -> Control {
        Control::GoOn
    }
}

/// Runs a program in the root folder with a log that nobody reads.
pub fn run(
    launch: &Launch,
    limits: &ProcessLimits,
    watcher: &mut dyn Watcher,
) -> io::Result<ProcessOutcome> {
    let mut log = tempfile::tempfile().unwrap();
    process::run(supervisor(), launch, Path::new("/"), limits, &mut log, watcher)
}
