//! A program on a terminal, with `script` (util-linux) as the terminal; left out where that is missing, and on other systems.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use ralph_speckit::world::Deadline;

use super::hearing::hear_all_signals;
use super::left_out::left_out;
use super::limited::{Ended, PATIENCE};

/// The key that interrupts.
pub const CTRL_C: &str = "\x03";

/// What runs on a terminal, and what stands on it.
pub struct Terminal {
    child: Child,
    pieces: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// Starts a line of shell on a terminal, with the folder and the environment of a command; `None` where there is no `script`,
    /// and says so, or another one than that of Linux.
    pub fn running(line: &str, place: &Command) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        hear_all_signals();
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).env_clear();
        for (name, value) in place.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.env("TERM", "xterm").env("SHELL", "/bin/sh");
        command.current_dir(place.get_current_dir().unwrap());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                left_out(&format!("`script` cannot be started: {error}"));
                return None;
            }
        };
        let mut output = child.stdout.take().unwrap();
        let (teller, pieces) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(size @ 1..) = output.read(&mut piece) {
                if teller.send(piece[..size].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self { child, pieces, seen: String::new() })
    }

    /// Waits until these words are on the screen.
    #[track_caller]
    pub fn until(&mut self, words: &str) -> &mut Self {
        let deadline = Deadline::after(PATIENCE);
        while !self.seen.contains(words) {
            let Ok(piece) = self.pieces.recv_timeout(deadline.left()) else {
                let _ = self.child.kill();
                panic!("`{words}` was never shown: {}", self.seen);
            };
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
        self
    }

    pub fn press(&mut self, keys: &str) -> &mut Self {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(keys.as_bytes()).unwrap();
        input.flush().unwrap();
        self
    }

    /// Waits for the end and returns the exit code and all that was on the screen.
    #[track_caller]
    pub fn end(mut self) -> (Option<i32>, String) {
        let deadline = Deadline::after(PATIENCE);
        while let Ok(piece) = self.pieces.recv_timeout(deadline.left()) {
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
        (self.child.ended().code(), self.seen)
    }
}
