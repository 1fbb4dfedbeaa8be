//! This program as a supervisor: it runs one program, and ends it when nobody wants it any more.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::supervisor::{ALONE, KEEP, SUPERVISE, awake_when_orphaned, can_be_one};
use super::{beside, family};
use crate::exec::{LIMIT_ALONE, Outputs, Program, ProgramEnd};

/// A shell's exit code for a program that did not start.
const NOT_STARTED: i32 = 126;
/// How often a program that runs for hours is looked at.
const SELDOM: Duration = Duration::from_millis(500);

/// Becomes a supervisor and exits, if this process was started as one. Otherwise declares that this program can be one,
/// and that it runs one program at a time.
pub fn supervise_if_asked() {
    can_be_one();
    family::alone();
    let mut arguments = std::env::args_os().skip(1);
    let asked = arguments.next();
    let asked = [SUPERVISE, ALONE, KEEP, beside::BESIDE]
        .into_iter()
        .find(|known| asked.as_deref() == Some(OsStr::new(known)));
    let Some((asked, program)) = asked.zip(arguments.next()) else { return };
    std::process::exit(match asked {
        beside::BESIDE => beside::start_supervisor(&program, arguments),
        ALONE => keep(&program, arguments, Some(LIMIT_ALONE), Duration::ZERO),
        KEEP => keep(&program, arguments, None, SELDOM),
        _ => keep(&program, arguments, None, Duration::ZERO),
    });
}

/// Runs a program until it ends, reaches its limit or, without a limit, standard input closes (its holder closed it or
/// was killed). The end of the program is seen up to `patience` late. Returns the exit code, or 128 plus the signal.
fn keep(
    program: &OsStr,
    arguments: impl Iterator<Item = OsString>,
    limit: Option<Duration>,
    patience: Duration,
) -> i32 {
    // A session of its own keeps Ctrl-C away.
    let _ = rustix::process::setsid();
    awake_when_orphaned();
    let mut command = Command::new(program);
    command.args(arguments);
    let stdin = io::stdin();
    let mut program = Program::new(command, Duration::ZERO);
    program.limit = limit;
    let mut interrupt = || limit.is_none() && is_closed(&stdin, patience);
    let end = program.go(Outputs::Inherited, &mut interrupt, &mut |_, _| {});
    match end {
        Ok(ProgramEnd::Left(status)) => {
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
        }
        Ok(ProgramEnd::OverTime | ProgramEnd::Interrupted) => {
            128 + rustix::process::Signal::TERM.as_raw()
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "it cannot be started: {error}");
            NOT_STARTED
        }
    }
}

/// Waits for the other end to close. Nothing is ever written to it.
fn is_closed(stdin: &io::Stdin, patience: Duration) -> bool {
    let patience = Timespec::try_from(patience).ok();
    let mut wanted = [PollFd::new(stdin, PollFlags::IN)];
    poll(&mut wanted, patience.as_ref()).is_ok_and(|ready| ready > 0)
}
