//! Running a command as evidence: a time limit, its whole process group, the end of its output.
//!
//! These are the only programs that the hook ever starts, and only where a person configured them.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::engine::{Check, CheckResult};
use crate::world::{self, Deadline};

/// The most of the output that is kept, in bytes.
const TAIL: usize = 1_500;
/// How long an ended group has to leave by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How often the pipe of an ended command is read: more than a pipe holds.
const MOST_READS: usize = 256;
/// How often a silent command is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The variable that holds the command line for a program that is started as a keeper.
pub const KEEPER: &str = "RALPH_KEEPER";
/// The name of the program that knows how to be a keeper.
const HOOK: &str = "ralph-hook";

/// Runs the checks one after the other in `folder` and returns their results, in order.
///
/// `limit` bounds all of them together; what does not get its turn has failed. In the hook program
/// each has a keeper: a client ends a hook without asking, and nothing of the check may stay behind.
pub fn run_all(checks: &[Check], folder: &Path, limit: Duration) -> Vec<CheckResult> {
    run_each(checks, folder, limit, &mut |_, _| {})
}

/// Does the same, and tells of each check and its number, from 1, before it runs.
pub fn run_each(
    checks: &[Check],
    folder: &Path,
    limit: Duration,
    before: &mut dyn FnMut(&Check, usize),
) -> Vec<CheckResult> {
    let deadline = Deadline::after(limit);
    let keeper = world::program().filter(|it| it.file_name() == Some(OsStr::new(HOOK)));
    checks
        .iter()
        .zip(1..)
        .map(|(check, number)| {
            before(check, number);
            let own = Duration::from_secs(check.limit_seconds);
            run_by(keeper.as_deref(), &check.run, folder, own.min(deadline.left()))
        })
        .collect()
}

/// Runs one command line with `sh -c` in `folder` and returns how it ended; it passed only with code 0.
///
/// A missing program, a signal and the time limit are failures.
pub fn run(command: &str, folder: &Path, limit: Duration) -> CheckResult {
    run_by(None, command, folder, limit)
}

/// Runs the command of [`KEEPER`] and leaves with its code: 128 and more for a signal.
///
/// Whoever started this holds the other end of standard input. When that is closed, by hand or
/// because its holder was killed, everything in the command's process group is ended.
pub fn keep(command: &OsStr) -> ! {
    let mut shell = shell(command);
    shell.env_remove(KEEPER);
    let Ok(mut child) = shell.spawn() else {
        std::process::exit(126);
    };
    let stdin = io::stdin();
    let status = loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => break Some(status),
            Err(_) => break None,
        }
        // Nothing is ever written to it: readable means closed.
        if is_readable(&stdin, LOOK) {
            end_group(&mut child, GRACE);
            break child.wait().ok();
        }
    };
    end_group(&mut child, Duration::ZERO);
    std::process::exit(status.map_or(126, code_of))
}

fn run_by(keeper: Option<&Path>, command: &str, folder: &Path, limit: Duration) -> CheckResult {
    let result = |passed, outcome: String, tail: &[u8]| CheckResult {
        run: command.to_owned(),
        passed,
        outcome,
        tail: readable(tail),
    };
    let Started { child, pipe, lifeline } = match start(keeper, command, folder) {
        Ok(started) => started,
        Err(error) => return result(false, format!("it could not be started: {error}"), b""),
    };
    let (status, tail) = wait(child, pipe, lifeline, limit);
    match status {
        None => result(false, format!("over its limit of {} s, ended", limit.as_secs()), &tail),
        Some(status) if status.success() => result(true, "exit code 0".to_owned(), &tail),
        Some(status) => match status.code() {
            Some(127) => result(false, "exit code 127: no such program".to_owned(), &tail),
            Some(code) => result(false, format!("exit code {code}"), &tail),
            None => result(false, status.to_string(), &tail),
        },
    }
}

/// A command at work, or its keeper.
struct Started {
    child: Child,
    pipe: PipeReader,
    /// The end that the keeper watches; closing it ends the command.
    lifeline: Option<PipeWriter>,
}

fn start(keeper: Option<&Path>, command: &str, folder: &Path) -> io::Result<Started> {
    let (pipe, writer) = io::pipe()?;
    let (watched, lifeline) = io::pipe()?;
    if let Some(program) = keeper {
        let mut kept = Command::new(program);
        kept.env(KEEPER, command).current_dir(folder).stdin(watched);
        kept.stdout(writer.try_clone()?).stderr(writer.try_clone()?);
        in_group_of_its_own(&mut kept);
        // A program that was replaced while it runs cannot be started again: the check runs all the same.
        if let Ok(child) = kept.spawn() {
            return Ok(Started { child, pipe, lifeline: Some(lifeline) });
        }
    }
    let mut shell = shell(OsStr::new(command));
    shell.current_dir(folder).stdout(writer.try_clone()?).stderr(writer);
    Ok(Started { child: shell.spawn()?, pipe, lifeline: None })
}

fn shell(command: &OsStr) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null());
    in_group_of_its_own(&mut shell);
    shell
}

#[cfg(unix)]
fn in_group_of_its_own(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_group_of_its_own(_: &mut Command) {}

#[cfg(unix)]
fn code_of(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(not(unix))]
fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}

/// Reads until the command has ended or its time is over; `None` for a status means over.
///
/// A grandchild that keeps the pipe open is not waited for.
fn wait(
    mut child: Child,
    mut pipe: PipeReader,
    mut lifeline: Option<PipeWriter>,
    limit: Duration,
) -> (Option<ExitStatus>, Vec<u8>) {
    let deadline = Deadline::after(limit);
    let mut tail = Vec::new();
    loop {
        let silent = !take_what_is_there(&mut pipe, &mut tail, LOOK);
        match child.try_wait() {
            Ok(Some(status)) => {
                end_group(&mut child, Duration::ZERO);
                take_the_rest(&mut pipe, &mut tail);
                return (Some(status), tail);
            }
            Ok(None) if deadline.is_over() => {
                match lifeline.take() {
                    Some(lifeline) => {
                        drop(lifeline);
                        leave_time(&mut child, GRACE * 2);
                    }
                    None => end_group(&mut child, GRACE),
                }
                let _ = child.kill();
                let _ = child.wait();
                take_the_rest(&mut pipe, &mut tail);
                return (None, tail);
            }
            Ok(None) => {
                if silent {
                    world::pause(Duration::from_millis(1));
                }
            }
            Err(_) => return (None, tail),
        }
    }
}

/// Waits for a keeper that is ending its command.
fn leave_time(keeper: &mut Child, limit: Duration) {
    let deadline = Deadline::after(limit);
    while !deadline.is_over() && matches!(keeper.try_wait(), Ok(None)) {
        world::pause(Duration::from_millis(10));
    }
}

/// Reads what an ended command has left in the pipe: what one that left its group goes on writing
/// is not waited for.
fn take_the_rest(pipe: &mut PipeReader, tail: &mut Vec<u8>) {
    for _ in 0..MOST_READS {
        if !take_what_is_there(pipe, tail, Duration::ZERO) {
            return;
        }
    }
}

/// Reads once if there is something within `patience`; returns whether there was.
fn take_what_is_there(pipe: &mut PipeReader, tail: &mut Vec<u8>, patience: Duration) -> bool {
    if !is_readable(pipe, patience) {
        return false;
    }
    let mut chunk = [0; 8192];
    let Ok(count @ 1..) = pipe.read(&mut chunk) else {
        return false;
    };
    tail.extend_from_slice(&chunk[..count]);
    if tail.len() > 4 * TAIL {
        tail.drain(..tail.len() - TAIL);
    }
    true
}

#[cfg(unix)]
fn is_readable(pipe: &impl std::os::fd::AsFd, patience: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let limit = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
    let mut wanted = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut wanted, Some(&limit)).is_ok_and(|ready| ready > 0)
}

#[cfg(not(unix))]
fn is_readable<T>(_: &T, _: Duration) -> bool {
    true
}

/// Ends everything in the command's process group: asked first, then without asking.
#[cfg(unix)]
fn end_group(child: &mut Child, grace: Duration) {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return;
    };
    // A group that has gone already is no error.
    let _ = kill_process_group(group, Signal::TERM);
    let deadline = Deadline::after(grace);
    while !deadline.is_over() && test_kill_process_group(group).is_ok() {
        // A dead leader that nobody has asked about still counts as a member.
        let _ = child.try_wait();
        world::pause(Duration::from_millis(10));
    }
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(not(unix))]
fn end_group(_: &mut Child, _: Duration) {}

/// Returns the end of an output as text, without control characters but line breaks and tabs.
pub fn readable(output: &[u8]) -> String {
    let start = output.len().saturating_sub(TAIL);
    let text = String::from_utf8_lossy(&output[start..]);
    let clean = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(clean).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, limit: u64) -> CheckResult {
        run(command, Path::new("/"), Duration::from_secs(limit))
    }

    #[test]
    fn only_code_0_passes() {
        assert!(check("true", 20).passed);
        assert_eq!(check("echo no; exit 3", 20).outcome, "exit code 3");
        assert_eq!(check("echo no; exit 3", 20).tail, "no");
    }

    #[test]
    fn a_missing_program_is_a_failed_check() {
        let result = check("no-such-program-here --version", 20);
        assert!(!result.passed);
        assert_eq!(result.outcome, "exit code 127: no such program");
    }

    #[test]
    fn at_the_limit_the_whole_group_is_ended_also_a_grandchild_that_holds_the_pipe() {
        let result =
            check("sh -c 'trap \"\" TERM; echo started; while :; do sleep 1; done' & wait", 1);
        assert!(!result.passed);
        assert_eq!(result.outcome, "over its limit of 1 s, ended");
        assert_eq!(result.tail, "started");
    }

    #[test]
    fn a_command_that_ended_is_not_kept_waiting_by_what_it_left_in_the_background() {
        assert!(check("sleep 60 & echo done", 20).passed);
    }

    #[test]
    fn one_that_goes_on_talking_in_the_background_is_not_listened_to_for_ever() {
        assert!(check("yes & echo done", 20).passed);
        // It has left the process group; where there is no such program, the check is the same.
        assert!(check("(setsid yes || yes) & echo done", 20).passed);
    }

    #[test]
    fn what_is_said_while_being_ended_belongs_to_the_tail() {
        let result = check("trap 'echo caught; exit 0' TERM; while :; do sleep 0.1; done", 1);
        assert!(!result.passed && result.tail.ends_with("caught"), "{result:?}");
    }

    #[test]
    fn the_end_of_a_long_output_is_kept_without_control_characters() {
        let result = check("head -c 200000 /dev/zero | tr '\\0' a; printf '\\033[31mend\\n'", 20);
        assert!(result.tail.ends_with("[31mend"), "{}", result.tail);
        assert!(result.tail.len() <= TAIL);
    }
}
