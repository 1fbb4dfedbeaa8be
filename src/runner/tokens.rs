//! An iteration's tokens: the agent program's own figure if it is exact, else `wt-usage`, which counts all sessions of
//! a machine, else an estimate from the growth of the session files (spec 001, "Token tracking reliability").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::harness::{AgentReport, Harness, Missing, RunOutcome, TokenUsage, sessions};
use crate::world::WallTime;

/// Counts the tokens of all sessions, if a person has it.
pub const USAGE: &str = "wt-usage";
/// Bytes of a session file for one token.
const BYTES: u64 = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// The known tokens.
    pub tokens: u64,
    /// The figure is only an estimate.
    pub estimated: bool,
    /// Nothing tells the tokens.
    pub unknown: bool,
    /// The tokens by kind, if the agent program tells them.
    pub usage: Option<TokenUsage>,
    /// A remark on the figure for the person.
    pub warning: Option<String>,
}

/// Counts from iteration to iteration.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    /// The last count of each session, for programs that count on from run to run.
    sessions: BTreeMap<String, TokenUsage>,
    /// The lengths of the session files at the last look, in bytes.
    sizes: BTreeMap<PathBuf, u64>,
}

/// The answers of `wt-usage --since` around an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WtUsage {
    /// `None` when it failed.
    pub before: Option<u64>,
    /// `None` when it failed.
    pub after: Option<u64>,
}

impl Counter {
    /// An iteration's tokens. `usage` is `None` without `wt-usage`; `began_at` is the iteration's start.
    pub fn count(
        &mut self,
        usage: Option<WtUsage>,
        report: &AgentReport,
        harness: &dyn Harness,
        began_at: WallTime,
    ) -> TokenCount {
        let reported = self.own_report(report);
        let own = reported.map(TokenUsage::total);
        let known = own.filter(|tokens| *tokens > 0);
        let (growth, warning) = growth_of(usage);
        if let (Some(tokens), Missing::Nothing) = (known, report.missing) {
            return TokenCount { tokens, usage: reported, warning, ..TokenCount::default() };
        }
        // A program may record tokens of an unanswered question, which cost nothing.
        let is_unanswered = is_unanswered(report);
        let written =
            if is_unanswered { None } else { self.written_down(report, harness, began_at) };
        let is_exact = written.is_some() && report.missing != Missing::Lost;
        if let Some(tokens) = growth.filter(|_| !is_exact) {
            return TokenCount { tokens, ..TokenCount::default() };
        }
        if is_unanswered {
            return TokenCount { warning, ..TokenCount::default() };
        }
        if let Some(written) = written {
            let usage = reported.filter(|own| own.total() > written.total()).unwrap_or(written);
            let (tokens, usage) = (usage.total(), Some(usage));
            let estimated = report.missing == Missing::Lost;
            return TokenCount { tokens, estimated, usage, warning, ..TokenCount::default() };
        }
        if let Some(tokens) = known {
            let usage = reported;
            return TokenCount { tokens, estimated: true, usage, warning, unknown: false };
        }
        // Before the first answer, session files hold only the prompt and notes, which tell nothing of tokens.
        let tells_nothing = has_nothing(report) && report.outcome == RunOutcome::Cut;
        let grown = || self.growth(report.session.as_deref(), &harness.session_folders(), began_at);
        let Some(growth) = (!tells_nothing).then(grown).flatten() else {
            let nothing = own.map(|_| "the agent program reported 0 tokens".to_owned());
            let warning = warning.or(nothing).map(|why| format!("{why}; what it used is unknown"));
            return TokenCount { unknown: true, warning, ..TokenCount::default() };
        };
        let tokens = growth / BYTES;
        let why = match (warning, own) {
            (Some(why), _) => why,
            (None, Some(_)) => "the agent program reported 0 tokens".to_owned(),
            (None, None) => return TokenCount { tokens, estimated: true, ..TokenCount::default() },
        };
        let warning = Some(format!("{why}; {tokens} are estimated from its session file"));
        TokenCount { tokens, estimated: true, warning, ..TokenCount::default() }
    }

    /// The agent program's report on this run alone.
    fn own_report(&mut self, report: &AgentReport) -> Option<TokenUsage> {
        let all = report.tokens?;
        let Some(session) = &report.session else { return Some(all) };
        let before = self.sessions.insert(session.clone(), all).unwrap_or_default();
        if report.tokens_of_session { Some(all.minus(before)) } else { Some(all) }
    }

    /// The session's tokens since the iteration's start, from the program's own files.
    fn written_down(
        &mut self,
        report: &AgentReport,
        harness: &dyn Harness,
        began_at: WallTime,
    ) -> Option<TokenUsage> {
        let session = report.session.as_deref()?;
        let tokens = harness.session_tokens(session, began_at)?;
        if report.tokens.is_none() {
            // A count over the whole session has these tokens next time.
            let stood = self.sessions.entry(session.to_owned()).or_default();
            *stood = stood.plus(tokens);
        }
        Some(tokens)
    }

    /// The growth in bytes of the session's own files since `began_at`; `None` without such files. Other sessions'
    /// files do not count.
    fn growth(
        &mut self,
        session: Option<&str>,
        folders: &[PathBuf],
        began_at: WallTime,
    ) -> Option<u64> {
        let session = session.filter(|id| !id.is_empty())?;
        let is_its = |path: &Path| path.to_string_lossy().contains(session);
        let mut growth = None;
        for path in sessions::files(folders, &is_its) {
            let Ok(meta) = path.metadata() else { continue };
            let changed = meta.modified().map(WallTime::from).unwrap_or_default();
            // Some file systems keep whole seconds.
            if began_at.since(changed) > Duration::from_secs(1) {
                continue;
            }
            let before = self.sizes.insert(path, meta.len()).unwrap_or(0);
            let grown: u64 = growth.unwrap_or(0);
            growth = Some(grown.saturating_add(meta.len().saturating_sub(before)));
        }
        growth
    }
}

/// The growth of `wt-usage`, and a remark if it did not grow.
fn growth_of(usage: Option<WtUsage>) -> (Option<u64>, Option<String>) {
    let Some(WtUsage { before, after }) = usage else { return (None, None) };
    match (before, after) {
        (Some(before), Some(after)) if after > before => (Some(after - before), None),
        (Some(before), Some(after)) => {
            let grown = i128::from(after) - i128::from(before);
            (None, Some(format!("`{USAGE}` counted {grown} tokens for this iteration")))
        }
        _ => (None, Some(format!("`{USAGE}` failed"))),
    }
}

/// The agent program failed before any answer.
fn is_unanswered(report: &AgentReport) -> bool {
    let has_failed = !matches!(report.outcome, RunOutcome::Finished | RunOutcome::Cut);
    has_failed && has_nothing(report)
}

/// The model did not answer.
fn has_nothing(report: &AgentReport) -> bool {
    report.final_text.is_empty() && report.tool_calls.unwrap_or(0) == 0
}

/// The output of `wt-usage`: `total_tokens` of its JSON, or its first number.
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

    /// Long ago.
    const EVER: WallTime = WallTime::from_millis(0);
    use crate::runner::harness::{AgentOrder, Launch, OutputReader, TokenUsage};
    use std::fs;

    fn reported(session: &str, input: u64) -> AgentReport {
        let tokens = TokenUsage { input, output: 10, cache_read: 5, cache_write: 1 };
        AgentReport {
            tokens: Some(tokens),
            session: Some(session.to_owned()),
            ..AgentReport::default()
        }
    }

    fn of_session(session: &str) -> AgentReport {
        AgentReport { session: Some(session.to_owned()), ..AgentReport::default() }
    }

    /// A fake harness with recorded sessions, each with these tokens.
    struct Kept {
        folders: Vec<PathBuf>,
        tokens: Option<TokenUsage>,
    }

    /// A program that keeps nothing.
    const NOTHING: Kept = Kept { folders: Vec::new(), tokens: None };

    impl Harness for Kept {
        fn name(&self) -> &'static str {
            "kept"
        }
        fn check(&self) -> anyhow::Result<Option<String>> {
            Ok(None)
        }
        fn launch(&self, _: &AgentOrder<'_>) -> anyhow::Result<Launch> {
            Ok(Launch::default())
        }
        fn reader(&self, _: &AgentOrder<'_>) -> Box<dyn OutputReader> {
            unreachable!("nothing is run")
        }
        fn session_folders(&self) -> Vec<PathBuf> {
            self.folders.clone()
        }
        fn session_tokens(&self, _: &str, _: WallTime) -> Option<TokenUsage> {
            self.tokens
        }
    }

    fn usage(before: Option<u64>, after: Option<u64>) -> WtUsage {
        WtUsage { before, after }
    }

    #[test]
    fn wt_exact_figure_outranks_usage() {
        let grown = Some(usage(Some(100), Some(160)));
        let count =
            |report: &AgentReport, kept: &Kept| Counter::default().count(grown, report, kept, EVER);
        let exact = count(&reported("s", 1), &NOTHING);
        let own = reported("s", 1).tokens;
        assert_eq!(exact, TokenCount { tokens: 17, usage: own, ..TokenCount::default() });
        let by_growth = TokenCount { tokens: 60, ..TokenCount::default() };
        // Nothing, only a part, or nothing that counts.
        assert_eq!(count(&AgentReport::default(), &NOTHING), by_growth);
        for missing in [Missing::Elsewhere, Missing::Lost] {
            let part = AgentReport { missing, ..reported("s", 1) };
            assert_eq!(count(&part, &NOTHING), by_growth);
        }
        let zero = AgentReport { tokens: Some(TokenUsage::default()), ..AgentReport::default() };
        assert_eq!(count(&zero, &NOTHING), by_growth);
        // What the program has written down of this session is its own figure as well.
        let written = TokenUsage { input: 1_000, ..TokenUsage::default() };
        let kept = Kept { folders: Vec::new(), tokens: Some(written) };
        let cut = AgentReport { outcome: RunOutcome::Cut, ..of_session("mine") };
        assert_eq!(count(&cut, &kept).tokens, 1_000);
        let lost = AgentReport { missing: Missing::Lost, ..of_session("mine") };
        assert_eq!(count(&lost, &kept), by_growth);
    }

    #[test]
    fn zero_growth_warns() {
        for after in [100, 90] {
            let counted = Counter::default().count(
                Some(usage(Some(100), Some(after))),
                &reported("s", 1),
                &NOTHING,
                EVER,
            );
            assert_eq!((counted.tokens, counted.estimated), (17, false));
            assert!(counted.warning.unwrap().contains("wt-usage"));
        }
        let counted =
            Counter::default().count(Some(usage(None, Some(1))), &reported("s", 1), &NOTHING, EVER);
        assert_eq!(counted.tokens, 17);
        assert!(counted.warning.unwrap().contains("`wt-usage` failed"));
    }

    #[test]
    fn session_growth_is_last_resort() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept { folders: vec![folder.path().to_owned()], tokens: None };
        let report = of_session("mine");
        let file = folder.path().join("mine.jsonl");
        fs::write(&file, "x".repeat(400)).unwrap();
        let mut counter = Counter::default();
        let first = counter.count(None, &report, &kept, EVER);
        assert_eq!(first, TokenCount { tokens: 100, estimated: true, ..TokenCount::default() });
        fs::write(&file, "x".repeat(480)).unwrap();
        assert_eq!(counter.count(None, &report, &kept, EVER).tokens, 20);
        let later = crate::world::now().after(Duration::from_mins(1));
        fs::write(&file, "x".repeat(4_800)).unwrap();
        assert!(counter.count(None, &report, &kept, later).unknown);
    }

    #[test]
    fn d7_other_session_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept { folders: vec![folder.path().to_owned()], tokens: None };
        fs::write(folder.path().join("theirs.jsonl"), "x".repeat(8_000_000)).unwrap();
        for report in [of_session("mine"), AgentReport::default()] {
            let counted = Counter::default().count(None, &report, &kept, EVER);
            assert_eq!(counted, TokenCount { unknown: true, ..TokenCount::default() });
        }
        fs::write(folder.path().join("mine.jsonl"), "x".repeat(400)).unwrap();
        assert_eq!(Counter::default().count(None, &of_session("mine"), &kept, EVER).tokens, 100);
    }

    #[test]
    fn d7_cut_run_reads_its_record() {
        let written = TokenUsage { input: 1_000, output: 400, cache_read: 90, cache_write: 4 };
        let kept = Kept { folders: Vec::new(), tokens: Some(written) };
        let cut = AgentReport { outcome: RunOutcome::Cut, ..of_session("mine") };
        let counted = Counter::default().count(None, &cut, &kept, EVER);
        let usage = Some(written);
        assert_eq!(counted, TokenCount { tokens: 1_494, usage, ..TokenCount::default() });
        // What the stream has reported is less: the agents of its own are not in it.
        let streamed = AgentReport { missing: Missing::Elsewhere, ..reported("mine", 1) };
        assert_eq!(Counter::default().count(None, &streamed, &kept, EVER).tokens, 1_494);
        let lost = AgentReport { missing: Missing::Lost, ..reported("mine", 1) };
        let counted = Counter::default().count(None, &lost, &kept, EVER);
        assert_eq!((counted.tokens, counted.estimated), (1_494, true));
        // Where it has written nothing down, the stream is an estimate.
        let counted = Counter::default().count(None, &streamed, &NOTHING, EVER);
        assert_eq!((counted.tokens, counted.estimated), (17, true));
    }

    #[test]
    fn d7_continued_cut_counts_once() {
        let written = TokenUsage { input: 500, ..TokenUsage::default() };
        let kept = Kept { folders: Vec::new(), tokens: Some(written) };
        let mut counter = Counter::default();
        assert_eq!(counter.count(None, &of_session("thread"), &kept, EVER).tokens, 500);
        let going_on = AgentReport { tokens_of_session: true, ..reported("thread", 600) };
        assert_eq!(counter.count(None, &going_on, &kept, EVER).tokens, 116);
    }

    #[test]
    fn d9_uncountable_is_unknown() {
        let counted = Counter::default().count(None, &AgentReport::default(), &NOTHING, EVER);
        assert_eq!(counted, TokenCount { unknown: true, ..TokenCount::default() });
    }

    #[test]
    fn unanswered_question_used_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.jsonl"), "x".repeat(400)).unwrap();
        let kept = Kept { folders: vec![folder.path().to_owned()], tokens: None };
        let refused =
            AgentReport { outcome: RunOutcome::Failed("429".to_owned()), ..of_session("mine") };
        let counted = Counter::default().count(None, &refused, &kept, EVER);
        assert_eq!(counted, TokenCount::default());
        let half = AgentReport { tool_calls: Some(1), ..refused };
        assert_eq!(Counter::default().count(None, &half, &kept, EVER).tokens, 100);
    }

    #[test]
    fn early_ended_run_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.jsonl"), "x".repeat(92_680)).unwrap();
        let kept = Kept { folders: vec![folder.path().to_owned()], tokens: None };
        let cut = AgentReport { outcome: RunOutcome::Cut, ..of_session("mine") };
        let counted = Counter::default().count(None, &cut, &kept, EVER);
        assert_eq!(counted, TokenCount { unknown: true, ..TokenCount::default() });
        // Words of the model are an answer: what it used can be told by the file.
        let half = AgentReport { final_text: "I look".to_owned(), ..cut };
        assert_eq!(Counter::default().count(None, &half, &kept, EVER).tokens, 23_170);
    }

    #[test]
    fn empty_report_warns() {
        let nothing = AgentReport { tokens: Some(TokenUsage::default()), ..AgentReport::default() };
        let counted = Counter::default().count(None, &nothing, &NOTHING, EVER);
        assert!(counted.unknown && counted.warning.unwrap().contains("0 tokens"));
    }

    #[test]
    fn continued_session_counts_once() {
        let mut counter = Counter::default();
        let going_on = |input| AgentReport { tokens_of_session: true, ..reported("thread", input) };
        assert_eq!(counter.count(None, &reported("thread", 100), &NOTHING, EVER).tokens, 116);
        assert_eq!(counter.count(None, &going_on(200), &NOTHING, EVER).tokens, 100);
        assert_eq!(counter.count(None, &reported("other", 100), &NOTHING, EVER).tokens, 116);
    }

    #[test]
    fn wt_usage_reads_json_or_number() {
        assert_eq!(printed_total(b"{\"total_tokens\": 1234, \"x\": 1}\n"), Some(1234));
        assert_eq!(printed_total(b"1234\n"), Some(1234));
        assert_eq!(printed_total(b"Total: 1,234 tokens"), Some(1234));
        assert_eq!(printed_total(b"{\"error\": \"x\"}"), None);
        assert_eq!(printed_total(b"nothing"), None);
    }
}
