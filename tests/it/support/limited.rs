//! Programs, threads and answers that a test waits for: each so long, and no longer.

#![allow(dead_code, reason = "not every test program waits for everything")]

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ralph_speckit::world::{self, Deadline};

/// So long a test waits for what must come; far longer than it takes.
pub const PATIENCE: Duration = Duration::from_mins(5);
/// So long it waits between two looks at what tells nobody of its end.
const MOMENT: Duration = Duration::from_millis(1);

/// What a test waits for; it fails when that takes longer than `PATIENCE`.
pub trait Limited {
    /// What there is in the end.
    type End;

    /// What there is in the end.
    fn finish(self) -> Self::End;
}

/// A program with nobody at the keyboard.
impl Limited for &mut Command {
    type End = Output;

    #[track_caller]
    fn finish(self) -> Output {
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawn().unwrap().finish()
    }
}

/// A program that runs; its standard input is closed.
impl Limited for Child {
    type End = Output;

    #[track_caller]
    fn finish(mut self) -> Output {
        drop(self.stdin.take());
        let deadline = Deadline::after(PATIENCE);
        let (stdout, stderr) = (heard(self.stdout.take()), heard(self.stderr.take()));
        let stdout = all(&mut self, &stdout, deadline);
        let stderr = all(&mut self, &stderr, deadline);
        Output { status: end(&mut self, deadline), stdout, stderr }
    }
}

/// A program that runs, and of which only the end matters.
pub trait Ended {
    /// How it ended. The test fails after `PATIENCE`.
    fn ended(&mut self) -> ExitStatus;
}

impl Ended for Child {
    #[track_caller]
    fn ended(&mut self) -> ExitStatus {
        end(self, Deadline::after(PATIENCE))
    }
}

/// A thread; what it panics with is the test's own.
impl<T> Limited for JoinHandle<T> {
    type End = T;

    #[track_caller]
    fn finish(self) -> T {
        let deadline = Deadline::after(PATIENCE);
        while !self.is_finished() {
            assert!(!deadline.is_over(), "a thread does not end");
            world::pause(MOMENT);
        }
        self.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The result of another wait, such as for a pipe. The test fails if nothing comes.
#[track_caller]
pub fn within<T: Send + 'static>(what: &str, wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (teller, heard) = channel();
    std::thread::spawn(move || teller.send(wait()));
    heard.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// The first result of a repeated look. The test fails if none comes.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Deadline::after(PATIENCE);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(!deadline.is_over(), "{what}: it never comes");
        world::pause(MOMENT);
    }
}

/// Says that something is over, also when the test fails before.
pub struct Over<'a>(pub &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[track_caller]
fn end(child: &mut Child, deadline: Deadline) -> ExitStatus {
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if deadline.is_over() {
            give_up(child, "it does not end", &[]);
        }
        world::pause(MOMENT);
    }
}

/// What is read from a pipe, in pieces as they come.
fn heard(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (teller, pieces) = channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(size) = pipe.read(&mut piece) {
                if size == 0 || teller.send(piece[..size].to_vec()).is_err() {
                    return;
                }
            }
        });
    }
    pieces
}

#[track_caller]
fn all(child: &mut Child, pieces: &Receiver<Vec<u8>>, deadline: Deadline) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match pieces.recv_timeout(deadline.left()) {
            Ok(piece) => all.extend(piece),
            Err(RecvTimeoutError::Disconnected) => return all,
            Err(RecvTimeoutError::Timeout) => give_up(child, "its output does not end", &all),
        }
    }
}

#[track_caller]
fn give_up(child: &mut Child, why: &str, printed: &[u8]) -> ! {
    let _ = child.kill();
    panic!("{why}; so far it printed:\n{}", String::from_utf8_lossy(printed));
}
