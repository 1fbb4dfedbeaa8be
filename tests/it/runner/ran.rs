//! A run of `spool`: while it goes on, and with all that it has printed.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ralph_speckit::world::{self, Deadline};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::hearing::hear_all_signals;
use crate::support::schema;
use crate::support::witness::PATIENCE;

/// A program that is at work; whoever drops it, also in a test that fails, ends it.
pub struct Running {
    child: Child,
    lines: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    errors: Option<JoinHandle<Vec<u8>>>,
}

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code, `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
}

impl Running {
    /// Starts a program and listens to it.
    pub fn start(command: &mut Command) -> Self {
        hear_all_signals();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (teller, lines) = channel();
        // Pieces, not lines: a question to a person ends with none.
        std::thread::spawn(move || {
            let mut output = output;
            loop {
                let piece = output.fill_buf().unwrap_or_default().to_vec();
                output.consume(piece.len());
                if piece.is_empty() || teller.send(piece).is_err() {
                    return;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            bytes
        });
        Self { child, lines, seen: Vec::new(), errors: Some(errors) }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.id().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// Types something, where its standard input is a pipe.
    pub fn types(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        stdin.write_all(keys.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits until it has printed these words on standard output.
    pub fn wait_for(&mut self, words: &str) {
        let deadline = Deadline::after(PATIENCE);
        while !String::from_utf8_lossy(&self.seen).contains(words) {
            match self.lines.recv_timeout(deadline.left()) {
                Ok(piece) => self.seen.extend(piece),
                Err(error) => {
                    let _ = self.child.kill();
                    let seen = String::from_utf8_lossy(&self.seen);
                    panic!("`{words}` was never printed ({error}):\n{seen}");
                }
            }
        }
    }

    /// Whether it prints these words on standard output soon.
    pub fn prints_soon(&mut self, words: &str) -> bool {
        let deadline = Deadline::after(Duration::from_secs(2));
        loop {
            if String::from_utf8_lossy(&self.seen).contains(words) {
                return true;
            }
            match self.lines.recv_timeout(deadline.left()) {
                Ok(piece) => self.seen.extend(piece),
                Err(_) => return false,
            }
        }
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Ran {
        drop(self.child.stdin.take());
        let deadline = Deadline::after(PATIENCE);
        while let Ok(piece) = self.lines.recv_timeout(deadline.left()) {
            self.seen.extend(piece);
        }
        if deadline.is_over() {
            let _ = self.child.kill();
            let seen = String::from_utf8_lossy(&self.seen);
            panic!("it does not end; so far it printed:\n{seen}");
        }
        let status = end_of(&mut self.child);
        let errors = self.errors.take().unwrap().join().unwrap();
        Ran {
            code: status.code(),
            signal: status.signal(),
            output: String::from_utf8(std::mem::take(&mut self.seen)).unwrap(),
            errors: String::from_utf8(errors).unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Its supervisor ends what it has started.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Waits for the end of a program, not for ever.
pub fn end_of(child: &mut Child) -> ExitStatus {
    let deadline = Deadline::after(PATIENCE);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if deadline.is_over() {
            let _ = child.kill();
            panic!("it does not end");
        }
        world::pause(Duration::from_millis(2));
    }
}

impl Ran {
    /// Checks the exit code.
    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Checks that standard output has these words.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(self.output.contains(words), "`{words}` is missing in:\n{self}");
        self
    }

    /// Checks that standard error has these words.
    #[track_caller]
    pub fn warns(&self, words: &str) -> &Self {
        assert!(self.errors.contains(words), "`{words}` is missing in:\n{self}");
        self
    }

    /// The lines of standard output, each a JSON object.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let object = |line: &str| -> Value {
            let value = serde_json::from_str(line);
            let value: Value = value.unwrap_or_else(|error| panic!("{error}: {line}\n{self}"));
            schema::holds("ralph-event", &value);
            value
        };
        self.output.lines().map(object).collect()
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, signal, output, errors } = self;
        write!(out, "code {code:?}, signal {signal:?}\n-- output\n{output}\n-- errors\n{errors}")
    }
}
