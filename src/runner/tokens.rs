//! Tokens of an iteration: `wt-usage` where it is there, else the agent's own report, else an
//! estimate from the growth of its session files (spec 001, "Token tracking reliability").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::harness::{Outcome, Report};
use crate::evidence::tree::walk;
use crate::world;

/// The program that counts tokens over all sessions, where a person has it.
pub const USAGE: &str = "wt-usage";
/// Bytes of a session file that stand for one token.
const BYTES: u64 = 4;
/// The longest that the session files are looked through.
const LIMIT: Duration = Duration::from_secs(2);

/// What one iteration used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Tokens.
    pub tokens: u64,
    /// Whether that is only an estimate.
    pub estimated: bool,
    /// What a person should know about the figure.
    pub warning: Option<String>,
}

/// Counts from iteration to iteration.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    /// What each session's own count stood at, for programs that count on from run to run.
    sessions: BTreeMap<String, u64>,
    /// How long the session files were when they were last looked at, in bytes.
    sizes: BTreeMap<PathBuf, u64>,
}

/// What `wt-usage --since` said before and after an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Before, `None` when it failed.
    pub before: Option<u64>,
    /// After, `None` when it failed.
    pub after: Option<u64>,
}

impl Counter {
    /// Returns what the iteration used. `usage` is `None` where there is no `wt-usage`; `began_at` is
    /// the start of the iteration in milliseconds since the Unix epoch.
    pub fn count(
        &mut self,
        usage: Option<Usage>,
        report: &Report,
        session_folders: &[PathBuf],
        began_at: u64,
    ) -> Counted {
        let own = self.own_report(report);
        let mut warning = None;
        if let Some(Usage { before, after }) = usage {
            match (before, after) {
                (Some(before), Some(after)) if after > before => {
                    return Counted { tokens: after - before, ..Counted::default() };
                }
                (Some(before), Some(after)) => {
                    let grown = i128::from(after) - i128::from(before);
                    warning = Some(format!("`{USAGE}` counted {grown} tokens for this iteration"));
                }
                _ => warning = Some(format!("`{USAGE}` failed")),
            }
        }
        if let Some(tokens) = own.filter(|tokens| *tokens > 0) {
            return Counted { tokens, estimated: false, warning };
        }
        let growth = self.growth(session_folders, began_at);
        // What a program writes down about a question that was never answered is no use of tokens.
        let tokens = if is_unanswered(report) { 0 } else { growth / BYTES };
        let why = match (warning, own) {
            (Some(why), _) => why,
            (None, Some(_)) => "the agent program reported 0 tokens".to_owned(),
            (None, None) => return Counted { tokens, estimated: true, warning: None },
        };
        let warning = Some(format!("{why}; {tokens} are estimated from its session files"));
        Counted { tokens, estimated: true, warning }
    }

    /// What the agent program reported for this run alone.
    fn own_report(&mut self, report: &Report) -> Option<u64> {
        let total = report.tokens?.total();
        let Some(session) = &report.session else {
            return Some(total);
        };
        let before = self.sessions.insert(session.clone(), total).unwrap_or(0);
        if report.tokens_of_session { Some(total.saturating_sub(before)) } else { Some(total) }
    }

    /// By how many bytes the session files grew that were written since `began_at`.
    fn growth(&mut self, folders: &[PathBuf], began_at: u64) -> u64 {
        let mut growth = 0_u64;
        for folder in folders {
            let mut visit = |path: &Path, meta: &std::fs::Metadata| {
                let changed = meta.modified().map(world::millis).unwrap_or_default();
                // Some file systems keep whole seconds.
                if changed + 1_000 < began_at {
                    return;
                }
                let before = self.sizes.insert(path.to_owned(), meta.len()).unwrap_or(0);
                growth = growth.saturating_add(meta.len().saturating_sub(before));
            };
            // What was not seen is not counted: it is an estimate.
            let _ = walk(folder, LIMIT, &mut visit);
        }
        growth
    }
}

/// Whether the agent program failed before anything came back.
fn is_unanswered(report: &Report) -> bool {
    let has_failed = !matches!(report.outcome, Outcome::Finished | Outcome::Cut);
    has_failed && report.final_text.is_empty() && report.tool_calls.unwrap_or(0) == 0
}

/// Returns the number that `wt-usage` printed: `total_tokens` of its JSON, or its first number.
pub fn printed_total(printed: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(printed);
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        return value.as_u64().or_else(|| value["total_tokens"].as_u64());
    }
    let start = text.find(|letter: char| letter.is_ascii_digit())?;
    let digits: String = text[start..]
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::harness::Tokens;
    use std::fs;

    fn reported(session: &str, input: u64) -> Report {
        let tokens = Tokens { input, output: 10, cache_read: 5, cache_write: 1 };
        Report { tokens: Some(tokens), session: Some(session.to_owned()), ..Report::default() }
    }

    fn usage(before: Option<u64>, after: Option<u64>) -> Usage {
        Usage { before, after }
    }

    #[test]
    fn the_growth_of_wt_usage_comes_first() {
        let counted =
            Counter::default().count(Some(usage(Some(100), Some(160))), &reported("s", 1), &[], 0);
        assert_eq!(counted, Counted { tokens: 60, estimated: false, warning: None });
    }

    #[test]
    fn a_growth_of_zero_or_less_warns_and_the_agents_report_counts() {
        for after in [100, 90] {
            let counted = Counter::default().count(
                Some(usage(Some(100), Some(after))),
                &reported("s", 1),
                &[],
                0,
            );
            assert_eq!((counted.tokens, counted.estimated), (17, false));
            assert!(counted.warning.unwrap().contains("wt-usage"));
        }
        let counted =
            Counter::default().count(Some(usage(None, Some(1))), &reported("s", 1), &[], 0);
        assert_eq!(counted.tokens, 17);
        assert!(counted.warning.unwrap().contains("`wt-usage` failed"));
    }

    #[test]
    fn the_last_resort_is_the_growth_of_the_session_files_and_it_is_marked() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let file = folder.path().join("session.jsonl");
        fs::write(&file, "x".repeat(400)).unwrap();
        let mut counter = Counter::default();
        let first = counter.count(None, &Report::default(), &folders, 0);
        assert_eq!(first, Counted { tokens: 100, estimated: true, warning: None });
        fs::write(&file, "x".repeat(480)).unwrap();
        assert_eq!(counter.count(None, &Report::default(), &folders, 0).tokens, 20);
        let later = world::now() + 60_000;
        fs::write(&file, "x".repeat(4_800)).unwrap();
        assert_eq!(counter.count(None, &Report::default(), &folders, later).tokens, 0);
    }

    #[test]
    fn a_question_that_was_never_answered_used_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("session.jsonl"), "x".repeat(400)).unwrap();
        let folders = [folder.path().to_owned()];
        let refused = Report { outcome: Outcome::Failed("429".to_owned()), ..Report::default() };
        let counted = Counter::default().count(None, &refused, &folders, 0);
        assert_eq!(counted, Counted { tokens: 0, estimated: true, warning: None });
        let half = Report { tool_calls: Some(1), ..refused };
        assert_eq!(Counter::default().count(None, &half, &folders, 0).tokens, 100);
    }

    #[test]
    fn a_report_of_nothing_is_estimated_with_a_warning() {
        let nothing = Report { tokens: Some(Tokens::default()), ..Report::default() };
        let counted = Counter::default().count(None, &nothing, &[], 0);
        assert!(counted.estimated && counted.warning.unwrap().contains("0 tokens"));
    }

    #[test]
    fn a_count_that_goes_on_over_a_session_is_taken_once() {
        let mut counter = Counter::default();
        let going_on = |input| Report { tokens_of_session: true, ..reported("thread", input) };
        assert_eq!(counter.count(None, &reported("thread", 100), &[], 0).tokens, 116);
        assert_eq!(counter.count(None, &going_on(200), &[], 0).tokens, 100);
        assert_eq!(counter.count(None, &reported("other", 100), &[], 0).tokens, 116);
    }

    #[test]
    fn what_wt_usage_prints_is_read_as_json_or_as_a_number() {
        assert_eq!(printed_total(b"{\"total_tokens\": 1234, \"x\": 1}\n"), Some(1234));
        assert_eq!(printed_total(b"1234\n"), Some(1234));
        assert_eq!(printed_total(b"Total: 1,234 tokens"), Some(1234));
        assert_eq!(printed_total(b"{\"error\": \"x\"}"), None);
        assert_eq!(printed_total(b"nothing"), None);
    }
}
