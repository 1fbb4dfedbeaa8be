//! An agent program as a small script, and a pipe that tells when the last process of its tree is gone.

use crate::limited::Limited;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ralph_speckit::runner::harness::{Launch, Stream};
use ralph_speckit::runner::process::{self, Ended, Limits, Watch, Watcher};

/// So long a test waits for what must come; far longer than it takes.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Limits that end nothing.
pub fn no_limits() -> Limits {
    Limits {
        wall: None,
        silence: None,
        lingering: Duration::from_hours(1),
        grace: Duration::from_hours(1),
    }
}

/// The program that is the keeper.
pub fn keeper() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_spool"))
}

/// A shell script as the agent program.
pub fn script(text: &str) -> Launch {
    Launch { program: "sh".into(), arguments: vec!["-c".into(), text.into()], ..Launch::default() }
}

/// Whether processes can be put into sessions of their own here.
pub fn has_setsid() -> bool {
    let there = Command::new("setsid").arg("true").stdin(Stdio::null()).status().is_ok();
    if !there {
        println!("there is no `setsid` here: without a grandchild in a session of its own");
    }
    there
}

/// A watcher that keeps all lines, and answers some of them.
pub struct Scribe {
    /// What was printed.
    pub lines: Vec<(Stream, Vec<u8>)>,
    /// What is answered to a line of these words.
    pub answers: Vec<(&'static str, Watch)>,
}

impl Scribe {
    pub fn new() -> Self {
        Self { lines: Vec::new(), answers: Vec::new() }
    }

    pub fn answering(words: &'static str, watch: Watch) -> Self {
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
    fn line(&mut self, stream: Stream, line: &[u8]) -> Watch {
        self.lines.push((stream, line.to_vec()));
        let answer = self.answers.iter().find(|(words, _)| words.as_bytes() == line);
        answer.map_or(Watch::GoOn, |(_, watch)| *watch)
    }

    fn moment(&mut self) -> Watch {
        Watch::GoOn
    }
}

/// Runs a program in the root folder with a log that nobody reads.
pub fn run(launch: &Launch, limits: &Limits, watcher: &mut dyn Watcher) -> io::Result<Ended> {
    let mut log = tempfile::tempfile().unwrap();
    process::run(keeper(), launch, Path::new("/"), limits, &mut log, watcher)
}

/// A pipe with a name: each process of a tree holds it open, and it ends with the last of them.
pub struct Witness {
    _folder: tempfile::TempDir,
    path: PathBuf,
    heard: Receiver<String>,
}

impl Witness {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("witness");
        assert!(Command::new("mkfifo").arg(&path).finish().status.success());
        let (teller, heard) = channel();
        let own = path.clone();
        std::thread::spawn(move || {
            // Opening waits for the first process that opens it for writing.
            let pipe = BufReader::new(File::open(own).unwrap());
            for line in pipe.lines() {
                let _ = teller.send(line.unwrap());
            }
        });
        Self { _folder: folder, path, heard }
    }

    /// The line of a script after which it, and all that it starts, holds the pipe as number 9.
    pub fn held(&self) -> String {
        format!("exec 9>'{}'\n", self.path.display())
    }

    /// Waits until a process of the tree says this.
    pub fn wait_for(&self, words: &str) {
        loop {
            match self.heard.recv_timeout(PATIENCE) {
                Ok(line) if line == words => return,
                Ok(_) => {}
                Err(error) => panic!("nobody says `{words}`: {error}"),
            }
        }
    }

    /// Waits until a process of the tree says a number, and returns it.
    pub fn next_number(&self) -> i32 {
        loop {
            let line = self.heard.recv_timeout(PATIENCE).expect("nobody says a number");
            if let Ok(number) = line.parse() {
                return number;
            }
        }
    }

    /// Waits until the last process that holds the pipe is gone.
    pub fn wait_for_the_end(&self, patience: Duration) {
        use std::sync::mpsc::RecvTimeoutError;
        let deadline = ralph_speckit::world::Deadline::after(patience);
        loop {
            match self.heard.recv_timeout(deadline.left()) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("a process of the tree is still alive"),
            }
        }
    }

    /// Waits for the end, and returns all that was said since the last wait.
    pub fn all(&self) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(line) = self.heard.recv_timeout(PATIENCE) {
            all.push(line);
        }
        all
    }

    /// A script that ignores every polite signal, with children and grandchildren that do the same,
    /// one of them in a session of its own; all of them hold its output too.
    pub fn stubborn(&self) -> String {
        let own_session = if has_setsid() { "setsid" } else { "" };
        format!(
            "{held}trap '' TERM INT HUP
             (while :; do sleep 1; done) &
             {own_session} sh -c 'echo grandchild >&9; while :; do sleep 1; done' &
             echo ready >&9
             while :; do sleep 1; done",
            held = self.held()
        )
    }
}
