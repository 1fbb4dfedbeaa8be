//! The contract's checks, run by the runner: interruptible, and with nothing left of their processes.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::capture::{TAIL, capture};
use super::harness::Launch;
use super::process;
use crate::checks::{LOOKED_AT, PASSED, ReviewCall, result, reviewed};
use crate::engine::{Check, CheckResult};

/// Runs one check in a shell in `folder`.
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
    let ran = capture(supervisor, &launch, folder, (limit, kept), log, interrupted);
    result(check, ran.map(|ran| (ran.status(), ran.printed)), limit)
}

/// Runs a review with this same program.
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
    let ran = capture(supervisor, &launch, folder, (call.limit, LOOKED_AT), log, interrupted);
    let told = ran.map(|ran| {
        let status = ran.status();
        (status, if ran.output.is_empty() { ran.printed } else { ran.output })
    });
    reviewed(check, told, call.limit)
}
