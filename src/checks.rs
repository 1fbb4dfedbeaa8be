//! Runs checks and reviews as evidence.
//!
//! Beside the commands of `notice`, these are the only programs that the hook starts, and only if a person armed them.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::engine::proof::refuse_empty_run;
use crate::engine::{Check, CheckResult, FinishedPart, ReviewResult};
use crate::evidence::progress::{LookMoment, outdated};
use crate::exec::{Program, shell};
use crate::mask::masked;
use crate::world::{self, FileTime};

const SPOOL: &str = if cfg!(windows) { "spool.exe" } else { "spool" };
/// Bytes kept of an output's end.
const TAIL: usize = 1_500;
/// Bytes of an output in which a check's demand is searched.
pub const LOOKED_AT: usize = 256 << 10;

/// Runs one check. Arguments: the check, its number from 1 and that of all, for a review the results of the commands.
/// Returns when the check began, by the files' clock, and its result. `None`: too little time for a review.
pub type RunOne<'a, S> = &'a mut dyn FnMut(
    &Check,
    (usize, usize),
    Option<&[CheckResult]>,
) -> Result<Option<(FileTime, CheckResult)>, S>;

/// Runs all commands, and repeats those that a later change of a file outdated. The review runs last, once all commands
/// have passed.
///
/// The error means that `run` was stopped.
pub fn run_all<S>(
    (commands, review): (&[Check], Option<&Check>),
    root: &Path,
    run: RunOne<'_, S>,
) -> Result<Vec<CheckResult>, S> {
    let all = commands.len() + usize::from(review.is_some());
    let have_passed = |results: &[CheckResult]| results.iter().all(|result| result.passed);
    let (mut began, mut results) = (Vec::new(), Vec::new());
    for (check, number) in commands.iter().zip(1..) {
        let (at, result) = run(check, (number, all), None)?.unwrap_or_default();
        began.push(at);
        results.push(result);
    }
    if have_passed(&results) {
        let old = &commands[..outdated(root, &began, LookMoment::after_checks())];
        for (at, check) in old.iter().enumerate() {
            results[at] = run(check, (at + 1, all), None)?.unwrap_or_default().1;
        }
        if let Some(review) = review.filter(|_| have_passed(&results)) {
            let ran = run(review, (all, all), Some(&results))?;
            results.extend(ran.map(|(_, result)| result));
        }
    }
    Ok(results)
}

/// Runs one command in `folder`, at most for `left`.
pub fn run_command(check: &Check, folder: &Path, left: Duration) -> CheckResult {
    let limit = Duration::from_secs(check.limit_seconds).min(left);
    let kept = if check.looks_at_output() { LOOKED_AT } else { TAIL };
    result(check, run_shell(&check.run, folder, limit, kept), limit)
}

/// Hands `spool review` the commands that have just passed, each with the end of its output. The review is then for a
/// loop, and answers in the form that [`reviewed`] reads.
pub const PASSED: &str = "RALPH_CHECKS";
/// Separator in [`PASSED`]: begins the text, ends each command and each output. Neither contains it.
pub const MARK: &str = "\u{1e}";
/// Stands before a line for the person in a passed review's answer.
pub const NOTE: &str = "note: ";
/// Seconds that a review may take beside its reader: for git, a look at the files, and the reader's end.
pub const BESIDE_READER: u64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewCall {
    /// Arguments for `spool`.
    pub arguments: Vec<String>,
    /// The value of [`PASSED`].
    pub passed: String,
    pub limit: Duration,
}

impl ReviewCall {
    /// The call for the review of this feature, or of its finished part. `left` is the rest of the time of all checks,
    /// `results` are those of the commands.
    pub fn of(
        check: &Check,
        (feature, part): (&str, Option<&FinishedPart>),
        results: &[CheckResult],
        left: Duration,
    ) -> Self {
        let most = left.as_secs().saturating_sub(BESIDE_READER).max(1);
        let reader = check.limit_seconds.min(most);
        let words = check.review_words().split(' ').skip(1).map(str::to_owned);
        let tasks = part.map(|part| ["--tasks=", &part.tasks.join(",")].concat());
        let more = [["--timeout=", &reader.to_string(), "s"].concat(), feature.to_owned()];
        Self {
            arguments: words.chain(tasks).chain(more).collect(),
            passed: results.iter().fold(MARK.to_owned(), |text, ran| {
                [&text, &ran.run, MARK, &ran.tail, MARK].concat()
            }),
            // A review that a person has started ends first.
            limit: Duration::from_secs(2 * reader + BESIDE_READER).min(left),
        }
    }
}

/// What passed reviews leave to a person.
pub fn noted_by_reviews(results: &[CheckResult]) -> impl Iterator<Item = String> {
    let reviews = results.iter().filter(|result| result.review.is_some());
    let lines = reviews.flat_map(|review| review.tail.lines());
    lines.filter_map(|line| line.strip_prefix(NOTE)).map(str::to_owned)
}

/// Runs a review by the `spool` beside this program.
pub fn run_review(check: &Check, call: &ReviewCall, folder: &Path) -> CheckResult {
    let beside = world::program().map(|program| program.with_file_name(SPOOL)).unwrap_or_default();
    let mut spool = Command::new(beside);
    spool.args(&call.arguments).current_dir(folder).env(PASSED, &call.passed);
    reviewed(check, run_kept(spool, call.limit, LOOKED_AT), call.limit)
}

/// The status of a check's program, `None` at its limit, and the end of its output. An error if the program could not
/// be started.
pub type Ran = io::Result<(Option<ExitStatus>, Vec<u8>)>;

/// The result of a review whose program printed a [`ReviewResult`], a line about its end, and what is missing. A pass
/// needs exit code 0 and a verdict.
pub fn reviewed(check: &Check, ran: Ran, limit: Duration) -> CheckResult {
    let (passed, outcome, output) = outcome(ran, limit);
    // Each line is read before what follows is cut to its end.
    let mut parts = output.splitn(3, |byte| *byte == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (review, outcome, tail) = match serde_json::from_slice(next()) {
        Ok(review) => (review, readable(next()), readable(next())),
        Err(_) => (ReviewResult::default(), outcome, readable(&output)),
    };
    let passed = passed && review.judged;
    CheckResult { run: check.run.clone(), passed, outcome, tail, review: Some(review) }
}

/// The result of a check that ran within `limit`. Exit code 0 is a failure if the output lacks what the check demands.
pub fn result(check: &Check, ran: Ran, limit: Duration) -> CheckResult {
    let (mut passed, mut outcome, output) = outcome(ran, limit);
    if passed && let Some(lack) = check.lacks(&output) {
        passed = false;
        outcome = outcome + ", but " + &lack;
    }
    CheckResult { run: check.run.clone(), passed, outcome, tail: readable(&output), review: None }
}

/// Runs one command line with `sh -c` in `folder`. A pass needs exit code 0 and, for a test runner, a test. `true`: the
/// check failed because no test ran.
///
/// A missing program, a signal and the time limit are failures. The command runs under a supervisor: a client ends a
/// hook without asking, a person ends `spool` with Ctrl-C, and nothing of the check may stay alive.
pub fn run_verify(command: &str, folder: &Path, limit: Duration) -> (CheckResult, bool) {
    let check = Check { run: command.to_owned(), ..Check::default() };
    let mut result = result(&check, run_shell(command, folder, limit, LOOKED_AT), limit);
    let ran_none = refuse_empty_run(&mut result);
    (result, ran_none)
}

fn run_shell(command: &str, folder: &Path, limit: Duration, kept: usize) -> Ran {
    let mut shell = shell::line(command);
    shell.current_dir(folder);
    run_kept(shell, limit, kept)
}

fn run_kept(command: Command, limit: Duration, kept: usize) -> Ran {
    let ran = Program::new(command, limit).kept().run_for_tail(kept, &mut || false)?;
    Ok((ran.status(), ran.output))
}

/// Whether the program passed, how it ended, and its output.
pub fn outcome(ran: Ran, limit: Duration) -> (bool, String, Vec<u8>) {
    let (end, output) = match ran {
        Err(error) => return (false, format!("it could not be started: {error}"), Vec::new()),
        Ok(ran) => ran,
    };
    let words = match end.map(|status| (status, status.code())) {
        None => format!("over its limit of {} s, ended", limit.as_secs()),
        Some((_, Some(127))) => "exit code 127: no such program".to_owned(),
        Some((_, Some(code))) => format!("exit code {code}"),
        Some((status, None)) => status.to_string(),
    };
    (end.is_some_and(|status| status.success()), words, output)
}

/// The end of an output as text, with keys masked and without control characters, except line breaks and tabs.
pub fn readable(output: &[u8]) -> String {
    let output = masked(&output[output.len().saturating_sub(4 * TAIL)..]);
    let start = output.len().saturating_sub(TAIL);
    let text = String::from_utf8_lossy(&output[start..]);
    let clean = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(clean).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, limit: u64) -> CheckResult {
        run_verify(command, Path::new("/"), Duration::from_secs(limit)).0
    }

    #[test]
    fn only_code_0_passes() {
        assert!(check("true", 20).passed);
        assert_eq!(check("echo no; exit 3", 20).outcome, "exit code 3");
        assert_eq!(check("echo no; exit 3", 20).tail, "no");
    }

    #[test]
    fn missing_program_fails_the_check() {
        let result = check("no-such-program-here --version", 20);
        assert!(!result.passed);
        assert_eq!(result.outcome, "exit code 127: no such program");
    }

    #[test]
    fn long_notes_cut_no_verdict() {
        let judged = ReviewResult { judged: true, met: 3, tokens: 420, ..ReviewResult::default() };
        let numbers = serde_json::to_string(&judged).unwrap();
        let text = format!("{numbers}\npassed (3 of 3 met)\n{NOTE}{}\n", "文".repeat(TAIL));
        let ran = Ok((Some(ExitStatus::default()), text.into_bytes()));
        let result = reviewed(&Check::default(), ran, Duration::from_secs(1));
        assert_eq!((result.passed, result.review), (true, Some(judged)));
        assert_eq!(result.outcome, "passed (3 of 3 met)");
        assert!(result.tail.ends_with('文'), "{}", result.tail);
    }

    #[test]
    fn limit_ends_the_whole_group() {
        let result =
            check("sh -c 'trap \"\" TERM; echo started; while :; do sleep 1; done' & wait", 1);
        assert!(!result.passed);
        assert_eq!(result.outcome, "over its limit of 1 s, ended");
        assert_eq!(result.tail, "started");
    }

    #[test]
    fn background_leftovers_delay_nothing() {
        assert!(check("sleep 60 & echo done", 20).passed);
    }

    #[test]
    fn talking_leftovers_are_cut_off() {
        assert!(check("yes & echo done", 20).passed);
        // It has left the process group; where there is no such program, the check is the same.
        assert!(check("(setsid yes || yes) & echo done", 20).passed);
    }

    #[test]
    fn last_words_belong_to_tail() {
        let result = check("trap 'echo caught; exit 0' TERM; while :; do sleep 0.1; done", 1);
        assert!(!result.passed && result.tail.ends_with("caught"), "{result:?}");
    }

    #[test]
    fn long_output_ends_uncontrolled() {
        let result = check("head -c 200000 /dev/zero | tr '\\0' a; printf '\\033[31mend\\n'", 20);
        assert!(result.tail.ends_with("[31mend"), "{}", result.tail);
        assert!(result.tail.len() <= TAIL);
    }
}
