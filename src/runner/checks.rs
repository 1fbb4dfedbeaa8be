//! The contract's checks, run by the runner: interruptible, and with nothing left of their processes.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::capture::{Captured, TAIL, capture};
use super::harness::Launch;
use super::process;
use crate::checks::{LOOKED_AT, PASSED, ReviewCall, result, reviewed};
use crate::engine::{Check, CheckResult};

/// Runs one check in a shell in `folder` and returns how it ended; it passed only with code 0.
///
/// The command line is the person's own, from their command line or their settings.
pub fn run(
    supervisor: &Path,
    check: &Check,
    folder: &Path,
    log: &mut File,
    interrupted: &mut dyn FnMut() -> bool,
) -> CheckResult {
    let launch = process::shell(&check.run);
    let limit = Duration::from_secs(check.limit_seconds);
    let kept = if check.looks_at_output() { LOOKED_AT } else { TAIL };
    match capture(supervisor, &launch, folder, (limit, kept), log, interrupted) {
        Ok(captured) => {
            let outcome = outcome(&captured, check.limit_seconds);
            result(check, captured.is_success(), outcome, &captured.printed)
        }
        Err(error) => CheckResult {
            run: check.run.clone(),
            outcome: format!("it could not be started: {error}"),
            ..CheckResult::default()
        },
    }
}

/// Runs a review with this same program and returns what came of it.
pub fn run_review(
    supervisor: &Path,
    check: &Check,
    call: &ReviewCall,
    folder: &Path,
    log: &mut File,
    interrupted: &mut dyn FnMut() -> bool,
) -> CheckResult {
    let launch = Launch {
        program: supervisor.to_owned(),
        arguments: call.arguments.iter().map(Into::into).collect(),
        set: vec![(PASSED.to_owned(), call.passed.clone().into())],
        ..Launch::default()
    };
    match capture(supervisor, &launch, folder, (call.limit, LOOKED_AT), log, interrupted) {
        Ok(captured) => {
            let outcome = outcome(&captured, call.limit.as_secs());
            let told =
                if captured.output.is_empty() { &captured.printed } else { &captured.output };
            reviewed(check, captured.is_success(), outcome, told)
        }
        Err(error) => reviewed(check, false, format!("it could not be started: {error}"), b""),
    }
}

fn outcome(captured: &Captured, limit: u64) -> String {
    let left = &captured.ended.left;
    match (captured.timed_out(), left.code, left.signal) {
        (true, ..) => format!("over its limit of {limit} s, ended"),
        (_, Some(127), _) => "exit code 127: no such program".to_owned(),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, None, Some(signal)) => format!("ended by signal {signal}"),
        (_, None, None) => "ended".to_owned(),
    }
}
