//! What was seen when a task was ticked.

use serde::Serialize;

use super::loops::CheckOutcome;
use super::plain::{JsonNumber, JsonTime, words};
use crate::engine::fields::name_of;
use crate::engine::proof::Proof;
use crate::engine::{TestsRun, tests_run};
use crate::store::receipts::{Receipt, Witness};
use crate::text::counted;

/// What was seen when a task was ticked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReceiptForm {
    /// When it was written.
    pub at: Option<JsonTime>,
    /// The id of the task.
    pub task: String,
    /// Who saw the tick.
    pub by: Witness,
    /// The session that drove the loop; null for none.
    pub session: Option<String>,
    /// The iteration that was going on; null for none.
    pub iteration: Option<u32>,
    /// The files that differ since the task began, the list itself left out, at most 50; null where nobody could look.
    pub files: Option<Vec<String>>,
    /// How many more there are.
    pub more_files: JsonNumber,
    /// Whether the files were told by their content; otherwise by their times and sizes alone.
    pub by_content: bool,
    /// Commits since the task began; null where that is not known.
    pub commits: Option<JsonNumber>,
    /// The run of its Verify command; null where it did not run.
    pub verify: Option<CheckOutcome>,
    /// Seconds that the run took; null where it did not run.
    pub verify_seconds: Option<f64>,
    /// The checks of the loop, where they ran at the same time.
    pub checks: Vec<CheckOutcome>,
    /// The number of the attempt, from 1; null where nobody counts.
    pub attempt: Option<u32>,
    /// Tokens of the iteration in which it was ticked; null where that is not known.
    pub tokens: Option<JsonNumber>,
    /// How well the task is proved; null where nobody judged that.
    pub proof: Option<Proof>,
    /// The files that are its work, at most 50.
    pub own: Vec<String>,
    /// Why it changes nothing, in the agent's words; null where it does not say so.
    pub no_change: Option<String>,
    /// Why it is proved by tick and not better; null where nothing says so.
    pub doubt: Option<String>,
    /// Who reviewed it; null for nobody.
    pub reviewer: Option<String>,
}

impl From<&Receipt> for ReceiptForm {
    fn from(receipt: &Receipt) -> Self {
        let verify = receipt.verify.as_ref();
        Self {
            at: JsonTime::of(receipt.at),
            task: receipt.task.clone(),
            by: receipt.by,
            session: words(&receipt.session),
            iteration: Some(receipt.iteration).filter(|number| *number > 0),
            files: receipt.files.clone(),
            more_files: receipt.more_files.into(),
            by_content: receipt.by_content,
            commits: receipt.commits.map(Into::into),
            verify: verify.map(|run| CheckOutcome::from(&run.result)),
            verify_seconds: verify.map(|run| run.millis as f64 / 1000.0),
            checks: receipt.checks.iter().map(CheckOutcome::from).collect(),
            attempt: Some(receipt.attempt).filter(|number| *number > 0),
            tokens: receipt.tokens.map(Into::into),
            proof: receipt.proof,
            own: receipt.own.clone(),
            no_change: receipt.no_change.clone(),
            doubt: receipt.doubt.clone(),
            reviewer: receipt.reviewer.clone(),
        }
    }
}

impl ReceiptForm {
    /// One line for a person.
    pub fn words(&self) -> String {
        let mut parts = vec![match self.by {
            Witness::Done => "Receipt of `spool task done`".to_owned(),
            Witness::Iteration => "Receipt of the runner, ticked by hand".to_owned(),
            Witness::Stop => "Receipt of a stop, ticked by hand".to_owned(),
            Witness::Review => "Receipt of a review".to_owned(),
            Witness::Drop => "Dropped by `spool task drop`".to_owned(),
        }];
        let by_reader = self.reviewer.as_ref().map(|_| "review".to_owned());
        let proof = by_reader.or_else(|| self.proof.map(name_of));
        parts.extend(proof.map(|proof| format!("proof: {proof}")));
        parts.push(match &self.files {
            None => "nobody could look at the files".to_owned(),
            Some(files) if files.is_empty() => "no file changed".to_owned(),
            Some(files) => {
                let count = counted(files.len() as u64 + self.more_files.get(), "file");
                let shown: Vec<&str> = files.iter().take(SHOWN).map(String::as_str).collect();
                let more = if files.len() > SHOWN { ", …" } else { "" };
                format!("{count} changed ({}{more})", shown.join(", "))
            }
        });
        parts.extend(self.commits.map(|commits| counted(commits.get(), "commit")));
        parts.push(match (&self.verify, self.verify_seconds) {
            (Some(run), Some(seconds)) => {
                let word = if run.passed { "passed" } else { "failed" };
                let output = run.output.as_deref().unwrap_or_default();
                let tests = match tests_run(&run.run, output.as_bytes()) {
                    TestsRun::Counted(tests) => format!("{} passed", counted(tests, "test")),
                    _ => "no tests counted".to_owned(),
                };
                format!("Verify {word} in {seconds:.1} s, {tests} (`{}`)", run.run)
            }
            _ => "no Verify command ran".to_owned(),
        });
        parts.extend(self.reviewer.as_ref().map(|reader| format!("found good by {reader}")));
        parts.extend(self.no_change.as_ref().map(|why| format!("it changes nothing: {why}")));
        parts.extend(self.doubt.as_ref().map(|doubt| format!("in doubt: {doubt}")));
        let again = self.attempt.filter(|attempt| *attempt > 1);
        parts.extend(again.map(|attempt| format!("attempt {attempt}")));
        parts.join(" · ")
    }
}

/// Files in one line.
const SHOWN: usize = 5;
