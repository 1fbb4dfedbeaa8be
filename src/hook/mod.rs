//! The hook: one event in, one answer out. It never fails, and never holds a session it cannot judge.

mod failure;
mod notices;
mod prompt;
mod session;
mod stop;
mod stop_feature;
mod stop_task;

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use crate::claude::answer::Answer;
use crate::claude::input::Event;
use crate::exec::keeper::keep_if_asked;
use crate::exec::partner::{self, Runner};
use crate::world::{self, Deadline};

/// The most that is read of the event, in bytes.
const MOST: u64 = 16 << 20;
/// How long a caller may be silent before it has handed over the event and closed its end.
const PATIENCE: Duration = Duration::from_millis(800);
/// How long a stop waits for others, the caller included, all in all: the hook is over within 3 s on
/// every path (spec 003, NFR-1), and locks and files take their part of it.
const ALL_PATIENCE: Duration = Duration::from_secs(2);

/// Reads the event on standard input, answers it, and always leaves with code 0.
pub fn main() {
    keep_if_asked();
    let deadline = Deadline::after(ALL_PATIENCE);
    let answer = answer_by(&read_event(deadline), deadline);
    // Each line goes out in one write. A reader that has gone away is no reason to fail.
    for line in answer.stderr {
        let _ = io::stderr().write_all((line + "\n").as_bytes());
    }
    if let Some(line) = answer.stdout {
        let _ = io::stdout().write_all((line + "\n").as_bytes());
    }
}

/// Returns the answer to one event; silence for everything that is not ours.
pub fn answer(input: &[u8]) -> Answer {
    answer_by(input, Deadline::after(ALL_PATIENCE))
}

fn answer_by(input: &[u8], deadline: Deadline) -> Answer {
    let Some(event) = Event::read(input) else {
        return Answer::silent();
    };
    if event.in_subagent() {
        return Answer::silent();
    }
    // A session of `spool ralph` belongs to its runner: a loop that waits for somebody is not for it.
    match partner::runner() {
        Runner::None => answer_to(&event, deadline),
        Runner::Proven(id) => Answer::silent().log(&format!(
            "This session belongs to `spool ralph` (process {id}), which decides: the hook leaves it alone"
        )),
        Runner::Unproven(named) => answer_to(&event, deadline).log(&format!(
            "{}={named} is in the environment, and no such runner has started this session: it is not heeded",
            world::RUNNER
        )),
    }
}

fn answer_to(event: &Event, deadline: Deadline) -> Answer {
    match event.name() {
        "Stop" => stop::answer(event, deadline),
        "UserPromptExpansion" => prompt::answer(event),
        "SessionStart" => session::answer(event),
        "StopFailure" => failure::answer(event),
        _ => Answer::silent(),
    }
}

/// The bytes on standard input, as many as arrive before the caller closes it or falls silent.
fn read_event(deadline: Deadline) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock().take(MOST);
    while !deadline.is_over() && is_readable(Deadline::after(PATIENCE)) {
        let count = match stdin.fill_buf() {
            Ok([]) => break,
            Ok(read) => {
                bytes.extend_from_slice(read);
                read.len()
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(_) => break,
        };
        stdin.consume(count);
    }
    bytes
}

/// Waits until there is something to read or the caller has closed its end; `false` at the limit.
#[cfg(unix)]
fn is_readable(deadline: Deadline) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    let stdin = io::stdin();
    loop {
        let mut wanted = [PollFd::new(&stdin, PollFlags::IN)];
        let left = deadline.left();
        let limit = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut wanted, Some(&limit)) {
            Err(Errno::INTR) if !deadline.is_over() => {}
            ready => return ready.is_ok_and(|count| count > 0),
        }
    }
}

#[cfg(not(unix))]
fn is_readable(_: Deadline) -> bool {
    true
}
