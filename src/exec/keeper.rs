//! A keeper: this program again, between this process and a program that must not outlive it.
//!
//! It is asked for by an argument and never by a variable: an environment that somebody else wrote starts
//! nothing.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::pipes::Outputs;
use super::{End, Program, family};
use crate::world;

/// The argument that makes this program a keeper of the program that follows.
const KEEP: &str = "keep-the-following";
/// The name of a keeper, as the system lists it.
const NAME: &str = "ralph-keeper";
/// The exit code of a keeper whose program could not be started, as a shell has it.
const NOT_STARTED: i32 = 126;

/// Whether this program, started once more, knows to be a keeper.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// Makes this process a keeper until it exits, when it was started as one; else notes that this program
/// can be one, and that it runs one program at a time.
pub fn keep_if_asked() {
    KNOWN.store(true, Ordering::Relaxed);
    family::alone();
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(KEEP)) {
        return;
    }
    let Some(program) = arguments.next() else { return };
    std::process::exit(keep(&program, arguments));
}

/// Runs a program to its end, or until standard input is closed, by hand or because its holder was
/// killed; returns its exit code, 128 and more for a signal.
fn keep(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> i32 {
    // Out of reach of what is meant for the caller's process group, such as Ctrl-C.
    let _ = rustix::process::setsid();
    awake_when_orphaned();
    let mut command = Command::new(program);
    command.args(arguments);
    let stdin = io::stdin();
    let mut program = Program::new(command, Duration::ZERO);
    program.limit = None;
    let end = program.go(Outputs::Inherited, &mut || is_closed(&stdin), &mut |_, _| {});
    match end {
        Ok(End::Left(status)) => {
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
        }
        Ok(End::OverTime | End::Interrupted) => 128 + rustix::process::Signal::TERM.as_raw(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "it cannot be started: {error}");
            NOT_STARTED
        }
    }
}

/// Has the system continue this process when its parent dies: somebody may have stopped it.
#[cfg(target_os = "linux")]
pub fn awake_when_orphaned() {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::CONT));
}

/// Has the system continue this process when its parent dies; it cannot be asked to here.
#[cfg(not(target_os = "linux"))]
pub fn awake_when_orphaned() {}

/// Whether the other end is closed: nothing is ever written to it.
fn is_closed(stdin: &io::Stdin) -> bool {
    let mut wanted = [PollFd::new(stdin, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut wanted, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

/// Returns the command that starts a keeper for `command`, and the end of a pipe whose closing has the
/// program ended; `None` where this program knows no keeper.
pub fn of(command: &Command) -> io::Result<Option<(Command, PipeWriter)>> {
    if !KNOWN.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let Some(own) = own_program() else { return Ok(None) };
    let (watched, lifeline) = io::pipe()?;
    let mut keeper = Command::new(own);
    keeper.arg0(NAME).arg(KEEP).arg(command.get_program()).args(command.get_args()).stdin(watched);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => keeper.env(name, value),
            None => keeper.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        keeper.current_dir(folder);
    }
    Ok(Some((keeper, lifeline)))
}

/// Returns the path under which this program can be started again, also when its file was replaced or
/// deleted meanwhile, where the system allows that; `None` where the system does not tell.
pub fn own_program() -> Option<PathBuf> {
    if cfg!(target_os = "linux") {
        return Some(PathBuf::from("/proc/self/exe"));
    }
    world::program()
}
