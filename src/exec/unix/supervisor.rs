//! A supervisor: this program again, between this process and a program that must not outlive it.
//!
//! An argument asks for it, never a variable: a foreign environment starts nothing.

use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::find::with_all_of;

/// Makes this program a supervisor of the program that follows.
pub const SUPERVISE: &str = "supervise-the-following";
/// The same for a program that runs for hours.
pub const KEEP: &str = "keep-beside-the-following";
/// Makes this program a supervisor that nobody holds, and that ends the program at a limit.
pub const ALONE: &str = "supervise-for-a-while-the-following";
/// A supervisor's name in the system's list of processes.
const NAME: &str = "ralph-supervisor";

/// This program supervises when it is started again.
static KNOWN: AtomicBool = AtomicBool::new(false);

pub fn can_be_one() {
    KNOWN.store(true, Ordering::Relaxed);
}

/// The system continues this process when its parent dies, because somebody may have stopped it.
#[cfg(target_os = "linux")]
pub fn awake_when_orphaned() {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::CONT));
}

/// The system cannot continue an orphan here.
#[cfg(not(target_os = "linux"))]
pub fn awake_when_orphaned() {}

/// The command of a supervisor for `command`, and a pipe whose closing ends the program. `None` where this program
/// cannot supervise.
pub fn of(command: &Command) -> io::Result<Option<(Command, PipeWriter)>> {
    let Some(mut supervisor) = over(SUPERVISE, command) else { return Ok(None) };
    let (watched, lifeline) = io::pipe()?;
    supervisor.stdin(watched);
    Ok(Some((supervisor, lifeline)))
}

/// `None` where this program cannot supervise.
pub fn over(argument: &str, command: &Command) -> Option<Command> {
    let mut supervisor = own(argument)?;
    supervisor.arg(command.get_program());
    Some(with_all_of(supervisor, command))
}

/// This program with this argument, under a supervisor's name. `None` where this program cannot supervise.
pub fn own(argument: &str) -> Option<Command> {
    if !KNOWN.load(Ordering::Relaxed) {
        return None;
    }
    let mut own = Command::new(crate::exec::own_program()?);
    own.arg0(NAME).arg(argument);
    Some(own)
}
