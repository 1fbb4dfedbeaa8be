//! A supervisor: this program again, between this process and a program that must not outlive it.
//!
//! It is asked for by an argument and never by a variable: an environment that somebody else wrote starts
//! nothing.

use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::find::with_all_of;

/// The argument that makes this program a supervisor of the program that follows.
pub const SUPERVISE: &str = "supervise-the-following";
/// The argument that makes this program a supervisor of the program that follows, for a while and for nobody.
pub const ALONE: &str = "supervise-for-a-while-the-following";
/// The name of a supervisor, as the system lists it.
const NAME: &str = "ralph-supervisor";

/// Whether this program, started once more, knows to be a supervisor.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// Notes that this program can be a supervisor.
pub fn can_be_one() {
    KNOWN.store(true, Ordering::Relaxed);
}

/// Has the system continue this process when its parent dies: somebody may have stopped it.
#[cfg(target_os = "linux")]
pub fn awake_when_orphaned() {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::CONT));
}

/// Has the system continue this process when its parent dies; it cannot be asked to here.
#[cfg(not(target_os = "linux"))]
pub fn awake_when_orphaned() {}

/// Returns the command that starts a supervisor for `command`, and the end of a pipe whose closing has the
/// program ended; `None` where this program knows no supervisor.
pub fn of(command: &Command) -> io::Result<Option<(Command, PipeWriter)>> {
    let Some(mut supervisor) = over(SUPERVISE, command) else { return Ok(None) };
    let (watched, lifeline) = io::pipe()?;
    supervisor.stdin(watched);
    Ok(Some((supervisor, lifeline)))
}

/// Returns the command that starts such a supervisor for `command`, `None` where this program knows none.
pub fn over(argument: &str, command: &Command) -> Option<Command> {
    let mut supervisor = own(argument)?;
    supervisor.arg(command.get_program());
    Some(with_all_of(supervisor, command))
}

/// Returns this program with this argument, under the name of a supervisor; `None` where it knows no supervisor.
pub fn own(argument: &str) -> Option<Command> {
    if !KNOWN.load(Ordering::Relaxed) {
        return None;
    }
    let mut own = Command::new(crate::exec::own_program()?);
    own.arg0(NAME).arg(argument);
    Some(own)
}
