//! The hook: one event in, one answer out. It never fails, and never blocks a session that cannot be judged.
//!
//! The hook starts no thread (on Windows one, to read), and no programs except the checks and the `notify` that a
//! person armed.

mod failure;
mod permission;
mod session;
mod stop;

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use crate::exec::partner::{self, RunnerProof};
use crate::exec::supervise::supervise_if_asked;
use crate::hosts::{
    AnswerForm, EventKind, HookAnswer, HookEvent, Host, HostName, LateEvent, started_by,
};
use crate::system::input::StandardInput;
use crate::world::{self, Deadline};

/// Bytes read of the event.
const MOST: usize = 16 << 20;
/// The caller's time to hand over the whole event: on a busy machine a client may start the hook long before it writes.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// The additional time for a stop in a project with loops: only the event says whose stop it is.
const MORE_PATIENCE: Duration = Duration::from_secs(1);
/// After that time, a stop hardly waits for others.
const LITTLE_PATIENCE: Duration = Duration::from_millis(100);
/// All waiting of a stop, for the caller, too: the hook ends within 3 s on every path (spec 003, NFR-1), and locks and
/// files need their part.
const ALL_PATIENCE: Duration = Duration::from_secs(2);
const _: () = assert!(
    PATIENCE.as_millis() + MORE_PATIENCE.as_millis() + LITTLE_PATIENCE.as_millis() < 3_000
        && ALL_PATIENCE.as_millis() < 3_000
);

/// Answers a slash command: the event, the command's name, the words behind the name.
pub(crate) type AnswerCommand = fn(&HookEvent, &str, &str) -> HookAnswer;

/// Answers the event on standard input as `ralph-hook` does, and always exits with code 0.
pub fn main() {
    run(std::env::args_os().skip(1), older_plugin);
}

/// In a plugin of this version, hooks start `spool` for slash commands.
fn older_plugin(_: &HookEvent, _: &str, _: &str) -> HookAnswer {
    HookAnswer::stop_command(
        "Ralph-speckit did nothing: the plugin is older than its programs.\nRun `spool setup`, then restart the session.",
    )
}

/// Reads the event on standard input, answers it, and always exits with code 0.
///
/// The arguments may name the host and the event. A stop or a command is then answered even if the client does not hand
/// it over in time: a busy machine ends no loop, and leaves none unarmed.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>, answer_command: AnswerCommand) {
    // A panic would be our mistake: the session is let go all the same, and nothing is printed twice.
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    supervise_if_asked();
    let deadline = Deadline::after(ALL_PATIENCE);
    let started = started_by(arguments.map_while(|argument| argument.into_string().ok()));
    let mut caller = Caller {
        host: started.host,
        form: started.form,
        answer_command,
        input: StandardInput::of_this_process(),
        bytes: Vec::new(),
    };
    let answer = answer_to_caller(&mut caller, &started.event, deadline);
    let output = HookOutput::of(started.host, answer, started.form);
    // Each line is one write. A reader that has left is no reason to fail.
    for line in output.stderr {
        let _ = io::stderr().write_all((line + "\n").as_bytes());
    }
    if let Some(line) = output.stdout {
        let _ = io::stdout().write_all((line + "\n").as_bytes());
    }
}

/// The output for one event of the first host; nothing for events that are not ours.
pub(crate) fn answer(input: &[u8], answer_command: AnswerCommand) -> HookOutput {
    let started = started_by(std::iter::empty());
    let event = started.host.read(input);
    let answer =
        event.map(|event| answer_by(&event, Deadline::after(ALL_PATIENCE), answer_command));
    HookOutput::of(started.host, answer.unwrap_or_default(), started.form)
}

fn answer_to_caller(caller: &mut Caller, started_for: &str, deadline: Deadline) -> HookAnswer {
    const LATE: &str = "The client has not handed over its event in time";
    match caller.event(world::limit("RALPH_TEST_PATIENCE", PATIENCE)) {
        Handed::Event(event) => {
            // The hook's folder names the session's work tree.
            event.cwd.as_deref().inspect(|cwd| world::stand_in(cwd));
            return answer_by(&event, deadline, caller.answer_command);
        }
        Handed::Nothing => return HookAnswer::silent(),
        Handed::Late => {}
    }
    match caller.host.late(started_for) {
        LateEvent::Stop(stop) => late_stop(caller, &stop, deadline).log(LATE),
        LateEvent::Command(host) => late_command(caller, host).log(LATE),
        LateEvent::Other => HookAnswer::silent().log(LATE),
    }
}

/// Judges a late stop without its event, if the environment names the session.
fn late_stop(caller: &mut Caller, stop: &HookEvent, deadline: Deadline) -> HookAnswer {
    if !stop.session.is_empty() {
        return answer_by(stop, deadline, caller.answer_command);
    }
    if !stop::may_be_in_a_loop(stop) {
        return HookAnswer::silent();
    }
    caller.answer_later(|| stop::unheard(stop))
}

/// An unread command must not look as if it had armed a loop.
fn late_command(caller: &mut Caller, host: HostName) -> HookAnswer {
    caller.answer_later(|| match partner::runner() {
        RunnerProof::Proven(_) => HookAnswer::silent(),
        _ => HookAnswer::stop_command(&format!(
            "Ralph-speckit did nothing: {} did not hand over the command in time. Type it again.",
            host.title
        )),
    })
}

fn answer_by(event: &HookEvent, deadline: Deadline, answer_command: AnswerCommand) -> HookAnswer {
    if event.in_subagent {
        return HookAnswer::silent();
    }
    // A session of `spool ralph` belongs to its runner.
    match partner::runner() {
        RunnerProof::None => answer_to(event, deadline, answer_command),
        RunnerProof::Proven(id) => HookAnswer::silent().log(&format!(
            "This session belongs to `spool ralph` (process {id}), which decides: the hook leaves it alone"
        )),
        RunnerProof::Unproven(named) => answer_to(event, deadline, answer_command).log(&format!(
            "{}={named} is in the environment, and no such runner has started this session: it is not heeded",
            world::RUNNER
        )),
    }
}

fn answer_to(event: &HookEvent, deadline: Deadline, answer_command: AnswerCommand) -> HookAnswer {
    match &event.kind {
        EventKind::Stop => stop::answer(event, deadline),
        EventKind::Command { name, arguments } => answer_command(event, name, arguments),
        EventKind::Resumed { .. } => session::answer(event),
        EventKind::Cleared => session::carried_over(event).unwrap_or_default(),
        EventKind::AsksPermission { what } => permission::answer(event, what),
        EventKind::TurnFailed { class } => failure::answer(event, class),
        EventKind::Other => HookAnswer::silent(),
    }
}

pub struct HookOutput {
    /// The answer on one line; `None` for silence.
    pub stdout: Option<String>,
    /// Lines for the log; each starts with `[ralph-speckit]`.
    pub stderr: Vec<String>,
}

impl HookOutput {
    fn of(host: &dyn Host, answer: HookAnswer, form: AnswerForm) -> Self {
        Self { stdout: host.render(&answer, form), stderr: answer.log }
    }
}

/// The input so far.
enum Handed {
    Event(Box<HookEvent>),
    /// No event, and the caller has closed its end.
    Nothing,
    /// No whole event within the time.
    Late,
}

/// The program that hands over the event, and the bytes so far.
struct Caller {
    host: &'static dyn Host,
    form: AnswerForm,
    answer_command: AnswerCommand,
    input: StandardInput,
    bytes: Vec<u8>,
}

impl Caller {
    /// Waits once more for a late event; `unheard` answers if it never comes.
    fn answer_later(&mut self, unheard: impl FnOnce() -> HookAnswer) -> HookAnswer {
        match self.event(world::limit("RALPH_TEST_MORE_PATIENCE", MORE_PATIENCE)) {
            Handed::Event(event) => {
                answer_by(&event, Deadline::after(LITTLE_PATIENCE), self.answer_command)
            }
            Handed::Nothing => HookAnswer::silent(),
            Handed::Late => unheard(),
        }
    }

    /// The event as soon as it is whole, even if the caller keeps its end open.
    fn event(&mut self, patience: Duration) -> Handed {
        let deadline = Deadline::after(patience);
        let mut may_be_whole = false;
        // Existing bytes are read, however late it is.
        while self.input.is_readable(deadline) {
            let left = MOST.saturating_sub(self.bytes.len());
            let count = match self.input.read(left, &mut self.bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Handed::Nothing,
            };
            if count == 0 {
                return self.whole().unwrap_or(Handed::Nothing);
            }
            // Only the new bytes: an event may stand behind millions of blanks.
            let new = self.bytes[self.bytes.len() - count..].trim_ascii_end();
            may_be_whole = new.last().map_or(may_be_whole, |last| *last == b'}');
            if may_be_whole
                && !self.input.is_readable(Deadline::after(Duration::ZERO))
                && let Some(event) = self.whole()
            {
                return event;
            }
        }
        self.whole().unwrap_or(Handed::Late)
    }

    fn whole(&self) -> Option<Handed> {
        let event = self.host.read(&self.bytes)?;
        Some(Handed::Event(Box::new(HookEvent { form: self.form, ..event })))
    }
}
