//! A program with everything it starts: run to its end or to its time limit, and nothing of it left behind.

use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use ralph_speckit::exec::{Program, ProgramEnd, Source};

/// How a program ended.
pub(super) struct Ended {
    /// How it left by itself, `None` when it was ended at its limit.
    pub(super) status: Option<ExitStatus>,
    /// The beginning of what it said beside its output.
    pub(super) stderr: Vec<u8>,
}

impl Ended {
    pub(super) fn timed_out(&self) -> bool {
        self.status.is_none()
    }
}

/// The most that is kept of standard error, in bytes.
const ERRORS: usize = 16 << 20;

/// Runs a command, hands on every line of its standard output, and kills what is left of it when the program ends or the limit is
/// reached, also what has a session of its own.
pub(super) fn run(
    command: Command,
    limit: Duration,
    on_line: &mut dyn FnMut(&[u8]),
) -> io::Result<Ended> {
    let (mut line, mut stderr) = (Vec::new(), Vec::new());
    let program = Program::new(command, limit);
    let end = program.stream(&mut || false, &mut |source, piece| match source {
        Source::Errors => {
            let room = ERRORS - stderr.len();
            stderr.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        Source::Output => {
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if line.ends_with(b"\n") {
                    on_line(&std::mem::take(&mut line));
                }
            }
        }
    })?;
    if !line.is_empty() {
        on_line(&line);
    }
    let status = match end {
        ProgramEnd::Left(status) => Some(status),
        ProgramEnd::OverTime | ProgramEnd::Interrupted => None,
    };
    Ok(Ended { status, stderr })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::wait_until_gone;

    fn run_shell(script: &str, limit: Duration) -> (Ended, Vec<String>) {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let ended = run(command, limit, &mut |line| {
            lines.push(String::from_utf8_lossy(line).trim().to_owned());
        });
        (ended.expect("a shell"), lines)
    }

    #[test]
    fn lines_errors_and_status_arrive() {
        let (ended, lines) =
            run_shell("echo one; echo two; echo three >&2; exit 3", Duration::from_mins(1));
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(ended.stderr, b"three\n");
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert!(!ended.timed_out());
    }

    #[test]
    fn left_child_delays_nothing() {
        let (ended, lines) = run_shell("sleep 1000 & echo $!", Duration::from_mins(1));
        assert!(ended.status.is_some_and(|status| status.success()));
        wait_until_gone(&lines[0]);
    }

    #[test]
    fn limit_kills_the_group() {
        let (ended, lines) = run_shell("sleep 1000 & echo $!; wait", Duration::from_millis(300));
        assert!(ended.timed_out());
        wait_until_gone(&lines[0]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn session_child_dies_too() {
        let (ended, lines) =
            run_shell("setsid sleep 1000 & echo $!; wait", Duration::from_millis(300));
        assert!(ended.timed_out());
        wait_until_gone(&lines[0]);
        let (ended, lines) = run_shell("setsid sleep 1000 & echo $!", Duration::from_mins(1));
        assert!(!ended.timed_out());
        wait_until_gone(&lines[0]);
    }
}
