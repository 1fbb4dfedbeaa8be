//! The end of a runner's loop: the status in its file, the exit code, and what a person does next.

use std::time::Duration;

use crate::system::signals::{SIGHUP, SIGINT, SIGTERM};

use super::screen::lasted;
use super::state::LoopStatus;
use crate::engine::{BudgetUnit, Obstacle, Stall, TerminalReason};
use crate::session::messages::NextStep;

/// The loop cannot continue: its files cannot be read or written.
pub const FAILURE: u8 = 1;
/// A usage error; the loop did not begin.
pub const USAGE: u8 = 2;
/// The agent program cannot be used.
pub const HARNESS_FAILED: u8 = 9;
/// The loop is done, but `--strict` finds something that speaks against it.
pub const DOUBTED: u8 = 11;
/// Another runner has the change or works in the work tree.
pub const TAKEN: u8 = 12;
/// The agent program is at a usage limit for which the loop does not wait.
const LIMITED: u8 = 13;
/// After SIGINT, `spool stop` or a cancel.
const STOPPED: u8 = 130;

/// Spec 001's status for an end; the field `reason` says more.
pub fn status(reason: &TerminalReason) -> LoopStatus {
    match reason {
        TerminalReason::Completed => LoopStatus::Done,
        TerminalReason::NoProgress { .. } => LoopStatus::Stalled,
        TerminalReason::Cancelled | TerminalReason::Stopped => LoopStatus::Stopped,
        _ => LoopStatus::Stuck,
    }
}

/// 0 only when the work is done; `signal` is the one that stopped the loop.
pub fn exit_code(reason: &TerminalReason, signal: Option<i32>) -> u8 {
    match reason {
        TerminalReason::Completed => 0,
        TerminalReason::MaxIters { .. } => 3,
        TerminalReason::NoProgress { stall: Stall::NoCommit, .. } => 4,
        TerminalReason::NoProgress { .. } => 5,
        TerminalReason::Blocked { .. } => 6,
        TerminalReason::TimedOut { .. } => 7,
        TerminalReason::Budget { .. } => 8,
        TerminalReason::HarnessFailed { .. } => HARNESS_FAILED,
        TerminalReason::UsageLimit { .. } => LIMITED,
        TerminalReason::CorruptState | TerminalReason::TaskFailed { .. } => 10,
        TerminalReason::Cancelled | TerminalReason::Stopped => {
            signal.and_then(|signal| u8::try_from(128 + signal).ok()).unwrap_or(STOPPED)
        }
    }
}

/// For a person who was not there; `signal` is the one that stopped the loop.
pub fn words(reason: &TerminalReason, signal: Option<i32>) -> String {
    match (reason, signal) {
        (TerminalReason::Stopped, Some(SIGINT)) => "it was stopped with Ctrl-C".to_owned(),
        (TerminalReason::Stopped, Some(SIGHUP)) => "its terminal was closed".to_owned(),
        (TerminalReason::Stopped, Some(SIGTERM)) => "it was stopped by SIGTERM".to_owned(),
        (TerminalReason::Stopped, None) => "it was stopped with `spool stop`".to_owned(),
        (TerminalReason::CorruptState, _) => "the task list stayed unreadable".to_owned(),
        (TerminalReason::TimedOut { limit }, _) => {
            format!("the time limit of {} was reached", lasted(Duration::from_secs(*limit)))
        }
        _ => reason.to_string(),
    }
}

/// One or two sentences; empty when there is nothing to do.
pub fn what_next(reason: &TerminalReason, change: &str, iteration: u32, harness: &str) -> String {
    if harness == "demo" && *reason != TerminalReason::Completed {
        return "A demo is not continued: the same command plays it on a new project.".to_owned();
    }
    let limit = |flag: &str| format!("Run the same command again; {flag} sets another limit.");
    let next = match reason {
        TerminalReason::Completed => "",
        TerminalReason::TimedOut { .. } => return limit("--max-runtime"),
        TerminalReason::Budget { unit: BudgetUnit::Tokens, .. } => return limit("--token-budget"),
        TerminalReason::Budget { unit: BudgetUnit::Money, .. } => return limit("--max-usd"),
        TerminalReason::Stopped => {
            "Run the same command again: it continues this loop; --restart begins a new one."
        }
        TerminalReason::HarnessFailed { .. } => "Fix that, then run the same command again.",
        TerminalReason::UsageLimit { .. } => {
            "Run the same command again when it is lifted: it continues. --max-limit-wait TIME waits for it."
        }
        TerminalReason::Blocked { by: Obstacle::Denial, .. } => {
            "Run the command again with what you permit: without that, the same is denied again."
        }
        TerminalReason::Blocked { by: Obstacle::FolderGone, .. } => {
            "Bring that folder back, then run the same command again."
        }
        TerminalReason::CorruptState => "Look at tasks.md, then run the same command again.",
        _ => {
            let look_at = format!("`spool log --change {change} --iteration {iteration}`");
            let step = NextStep { again: "run the same command again", look_at: &look_at };
            return step.after(reason);
        }
    };
    next.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_hook::consts::SIGQUIT;

    #[test]
    fn absent_person_reads_who_stopped() {
        let stopped = |signal| words(&TerminalReason::Stopped, signal);
        let said =
            [stopped(Some(SIGINT)), stopped(Some(SIGHUP)), stopped(Some(SIGTERM)), stopped(None)];
        let expected = [
            "it was stopped with Ctrl-C",
            "its terminal was closed",
            "it was stopped by SIGTERM",
            "it was stopped with `spool stop`",
        ];
        assert_eq!(said, expected);
        let limit = words(&TerminalReason::TimedOut { limit: 28_800 }, None);
        assert_eq!(limit, "the time limit of 8 h 00 min was reached");
    }

    #[test]
    fn no_command_continues_a_demo() {
        let next = |harness| what_next(&TerminalReason::Stopped, "001-todo-list", 1, harness);
        assert!(next("claude").contains("it continues this loop"));
        assert!(next("demo").contains("plays it on a new project"));
    }

    #[test]
    fn exit_codes_have_their_rows() {
        use TerminalReason as Reason;
        let no_commit = Reason::NoProgress { stall: Stall::NoCommit, times: 1 };
        let no_call = Reason::NoProgress { stall: Stall::NoToolCall, times: 1 };
        let mut codes = vec![FAILURE, USAGE, DOUBTED, TAKEN];
        for reason in [
            Reason::Completed,
            Reason::MaxIters { limit: 1 },
            no_commit,
            no_call,
            Reason::Blocked { need: String::new(), by: Obstacle::Other },
            Reason::TimedOut { limit: 1 },
            Reason::Budget { used: 1, limit: 1, unit: BudgetUnit::Tokens },
            Reason::HarnessFailed { why: String::new() },
            Reason::UsageLimit { why: String::new() },
            Reason::CorruptState,
            Reason::Stopped,
        ] {
            codes.push(exit_code(&reason, None));
        }
        for signal in [SIGHUP, SIGQUIT, SIGTERM] {
            codes.push(exit_code(&Reason::Stopped, Some(signal)));
        }
        codes.sort_unstable();
        let page = include_str!("../../docs/ends.md");
        let (_, table) = page.split_once("\n## Exit codes of `spool ralph`\n").expect("a heading");
        let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
        let rows: Vec<u8> = rows.filter_map(|(code, _)| code.parse().ok()).collect();
        assert_eq!(rows, codes);
    }
}
