//! A pipe that tells when the last process of a tree is gone.

#![allow(dead_code, reason = "`tests/process` uses the rest")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::limited::Limited;

/// So long a test waits for what must come; far longer than it takes.
pub const PATIENCE: Duration = super::limited::PATIENCE;

/// Whether processes can be put into sessions of their own here.
pub fn has_setsid() -> bool {
    let there = Command::new("setsid").arg("true").stdin(Stdio::null()).status().is_ok();
    if !there {
        println!("there is no `setsid` here: without a grandchild in a session of its own");
    }
    there
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

    /// Fails where a process holds the pipe now.
    #[cfg(unix)]
    #[track_caller]
    pub fn is_over(&self) {
        use std::io::Read;
        use std::os::unix::fs::OpenOptionsExt;
        let at_once = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut pipe = File::options().read(true).custom_flags(at_once).open(&self.path).unwrap();
        pipe.read_to_end(&mut Vec::new()).expect("a process of the tree is still alive");
        self.wait_for_the_end();
    }

    /// Waits until the last process that holds the pipe is gone.
    pub fn wait_for_the_end(&self) {
        self.all();
    }

    /// Waits for the end, and returns all that was said since the last wait.
    pub fn all(&self) -> Vec<String> {
        use std::sync::mpsc::RecvTimeoutError;
        let deadline = ralph_speckit::world::Deadline::after(PATIENCE);
        let mut all = Vec::new();
        loop {
            match self.heard.recv_timeout(deadline.left()) {
                Ok(line) => all.push(line),
                Err(RecvTimeoutError::Disconnected) => return all,
                Err(RecvTimeoutError::Timeout) => panic!("a process of the tree is still alive"),
            }
        }
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
