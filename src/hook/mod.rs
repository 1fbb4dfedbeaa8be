//! The hook: one event in, one answer out. It never fails, and never holds a session it cannot judge.

mod failure;
mod prompt;
mod session;
mod stop;

use std::io::{self, BufRead, Write};
use std::time::Duration;

use crate::exec::partner::{self, RunnerProof};
use crate::exec::supervise::supervise_if_asked;
use crate::hosts::claude::answer::Answer;
use crate::hosts::claude::input::Event;
use crate::world::{self, Deadline};

/// The most that is read of the event, in bytes.
const MOST: usize = 16 << 20;
/// How long a caller has to hand over the whole event; on a busy machine a client may start the hook long
/// before it gets to writing.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How much more it has for a stop in a project with loops, where nothing but the event tells whose stop it is.
const MORE_PATIENCE: Duration = Duration::from_secs(1);
/// How long a stop with such an event waits for others.
const LITTLE_PATIENCE: Duration = Duration::from_millis(100);
/// How long a stop waits for others, the caller included, all in all: the hook is over within 3 s on
/// every path (spec 003, NFR-1), and locks and files take their part of it.
const ALL_PATIENCE: Duration = Duration::from_secs(2);

/// Reads the event on standard input, answers it, and always leaves with code 0.
///
/// The first argument may name the event that the hook is started for. A `Stop` or a command is then answered also
/// when the client does not hand it over in time: no loop ends, and none is left unarmed, because the machine is busy.
pub fn main() {
    supervise_if_asked();
    let deadline = Deadline::after(ALL_PATIENCE);
    let answer = answer_to_caller(&mut Caller::default(), deadline);
    // Each line goes out in one write. A reader that has gone away is no reason to fail.
    for line in answer.stderr {
        let _ = io::stderr().write_all((line + "\n").as_bytes());
    }
    if let Some(line) = answer.stdout {
        let _ = io::stdout().write_all((line + "\n").as_bytes());
    }
}

fn answer_to_caller(caller: &mut Caller, deadline: Deadline) -> Answer {
    const LATE: &str = "The client has not handed over its event in time";
    match caller.event(PATIENCE) {
        Handed::Event(event) => return answer_by(&event, deadline),
        Handed::Nothing => return Answer::silent(),
        Handed::Late => {}
    }
    match started_for().as_deref() {
        Some("Stop") => late_stop(caller, deadline).log(LATE),
        Some("UserPromptExpansion") => late_command(caller).log(LATE),
        _ => Answer::silent().log(LATE),
    }
}

/// A stop whose event is late is judged without it where the environment names the session.
fn late_stop(caller: &mut Caller, deadline: Deadline) -> Answer {
    let stop = Event::stop_of_environment();
    if !stop.session().is_empty() {
        return answer_by(&stop, deadline);
    }
    if !stop::may_be_in_a_loop(&stop) {
        return Answer::silent();
    }
    match caller.event(MORE_PATIENCE) {
        Handed::Event(event) => answer_by(&event, Deadline::after(LITTLE_PATIENCE)),
        Handed::Nothing => Answer::silent(),
        Handed::Late => stop::unheard(&stop),
    }
}

/// A command that nobody read must not look as if it had armed a loop.
fn late_command(caller: &mut Caller) -> Answer {
    match caller.event(MORE_PATIENCE) {
        Handed::Event(event) => answer_by(&event, Deadline::after(LITTLE_PATIENCE)),
        Handed::Nothing => Answer::silent(),
        Handed::Late if matches!(partner::runner(), RunnerProof::Proven(_)) => Answer::silent(),
        Handed::Late => Answer::stop_command(
            "Ralph-speckit did nothing: Claude Code did not hand over the command in time. Type it again.",
        ),
    }
}

/// Returns the answer to one event; silence for everything that is not ours.
pub fn answer(input: &[u8]) -> Answer {
    let event = Event::read(input);
    event.map_or_else(Answer::silent, |event| answer_by(&event, Deadline::after(ALL_PATIENCE)))
}

/// The event that `hooks.json` starts the hook for, where it says so.
fn started_for() -> Option<String> {
    std::env::args_os().nth(1)?.into_string().ok()
}

fn answer_by(event: &Event, deadline: Deadline) -> Answer {
    if event.in_subagent() {
        return Answer::silent();
    }
    // A session of `spool ralph` belongs to its runner: a loop that waits for somebody is not for it.
    match partner::runner() {
        RunnerProof::None => answer_to(event, deadline),
        RunnerProof::Proven(id) => Answer::silent().log(&format!(
            "This session belongs to `spool ralph` (process {id}), which decides: the hook leaves it alone"
        )),
        RunnerProof::Unproven(named) => answer_to(event, deadline).log(&format!(
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

/// What came in on standard input.
enum Handed {
    /// A whole event.
    Event(Box<Event>),
    /// No event, and the caller has closed its end.
    Nothing,
    /// No whole event yet, and the time for it is over.
    Late,
}

/// Who hands over the event on standard input, and what came of it so far.
#[derive(Default)]
struct Caller {
    bytes: Vec<u8>,
}

impl Caller {
    /// Returns the event as soon as it is whole, whether or not the caller closes its end.
    fn event(&mut self, patience: Duration) -> Handed {
        let deadline = Deadline::after(patience);
        let mut stdin = io::stdin().lock();
        // What is there already is read, however late it is.
        while is_readable(deadline) {
            let left = MOST.saturating_sub(self.bytes.len());
            let count = match stdin.fill_buf() {
                Ok(read) => {
                    let count = read.len().min(left);
                    self.bytes.extend_from_slice(&read[..count]);
                    count
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Handed::Nothing,
            };
            stdin.consume(count);
            if count == 0 {
                return self.whole().unwrap_or(Handed::Nothing);
            }
            let may_be_whole = self.bytes.trim_ascii_end().ends_with(b"}");
            if may_be_whole
                && !is_readable(Deadline::after(Duration::ZERO))
                && let Some(event) = self.whole()
            {
                return event;
            }
        }
        self.whole().unwrap_or(Handed::Late)
    }

    fn whole(&self) -> Option<Handed> {
        Event::read(&self.bytes).map(|event| Handed::Event(Box::new(event)))
    }
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
