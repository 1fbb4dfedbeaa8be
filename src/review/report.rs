//! A review in words for a person, and for programs.

use std::fmt::Write;
use std::time::Duration;

use super::armed::REWORDED;
use super::form::{ReviewEvidence, ReviewJudgement, ReviewSeverity};
use super::record::{Review, ReviewOutcome};
use crate::checks::NOTE;
use crate::engine::fields::name_of;
use crate::engine::scope::in_runs;
use crate::engine::{Dollars, Hasher, ReviewResult};
use crate::forms::plain::JsonNumber;
use crate::forms::review::LastReview;
use crate::forms::spent::micros;
use crate::text::{self, rows};

/// Letters of a reader's sentence.
const SENTENCE: usize = 400;
const OVER_MONEY: &str = "no pass: the reader was over its money";
/// Letters for the names of tasks.
const TASKS: usize = 120;
/// Bytes of a loop's text: they fit into the kept end of an output.
const WORDS: usize = 1_400;
/// Caveats in a loop's text.
const NOTES: usize = 3;

impl Review {
    /// The outcome on one line.
    pub fn line(&self) -> String {
        let (words, counted, part) = (self.words(), self.counted(), self.part());
        format!("Review of {}{part} by {}: {words}{counted}", self.feature, self.harness)
    }

    fn words(&self) -> &'static str {
        let is_of_tokens = |problem: &String| problem.contains(" tokens");
        match self.outcome {
            ReviewOutcome::TokenLimit if !self.problems.iter().any(is_of_tokens) => OVER_MONEY,
            outcome => outcome.words(),
        }
    }

    /// The finished tasks under review, behind a comma; empty for all work.
    fn part(&self) -> String {
        let tasks = text::title(&in_runs(&self.tasks), TASKS);
        if tasks.is_empty() { tasks } else { format!(", {tasks}") }
    }

    /// Outcome, reader and use, without the feature's name: `not passed (1 of 2 met), by codex, 48,210 tokens`.
    pub fn short(&self) -> String {
        let tokens = self.tokens.map(|used| format!(", {}", text::counted(used.get(), "token")));
        let counted = self.counted();
        format!(
            "{}{counted}{}, by {}{}{}",
            self.words(),
            self.part(),
            self.harness,
            tokens.unwrap_or_default(),
            self.money()
        )
    }

    /// The cost behind a comma, with `~` for an estimate; empty if unknown.
    fn money(&self) -> String {
        let about = if self.cost_estimated { "~" } else { "" };
        self.cost_usd.map_or(String::new(), |cost| format!(", {about}{}", Dollars(micros(cost))))
    }

    /// The text for the loop: the outcome in numbers and in words, and what is missing or why there is no verdict.
    pub fn for_loop(&self) -> String {
        let result = ReviewResult {
            judged: self.outcome.is_verdict(),
            met: self.met() as u64,
            verdicts: match self.outcome {
                ReviewOutcome::UsageLimit => self.resets_at.unwrap_or(1),
                outcome if outcome.is_verdict() => self.verdicts(),
                _ => 0,
            },
            tokens: self.tokens.map_or(0, JsonNumber::get),
            cost: micros(self.cost_usd.unwrap_or_default()),
            estimated: self.cost_estimated,
        };
        let mut notes = String::new();
        let passed = self.outcome == ReviewOutcome::Passed;
        if passed && !self.reworded.is_empty() {
            let ids = text::title(&self.reworded.join(", "), TASKS);
            let _ = writeln!(
                notes,
                "{NOTE}spec.md was reworded since the loop was armed, {ids}: `spool review --last` has both texts"
            );
        }
        for caveat in self.other_caveats().take(if passed { NOTES } else { 0 }) {
            let _ = writeln!(notes, "{NOTE}{}", text::title(caveat, SENTENCE / 2));
        }
        let numbers = serde_json::to_string(&result).unwrap_or_default();
        let mut words = format!("{numbers}\n{}\n", text::line(&self.short()));
        let found = self.found();
        for (place, line) in found.lines().enumerate() {
            let line = &line[2..line.floor_char_boundary(WORDS - 200)];
            if words.len() + line.len() + notes.len() > WORDS {
                let more = found.lines().count() - place;
                let _ = writeln!(words, "and {more} more lines: `spool review --last`");
                break;
            }
            let _ = writeln!(words, "{line}");
        }
        words + &notes
    }

    /// Caveats, except those with the two texts of a reworded requirement.
    fn other_caveats(&self) -> impl Iterator<Item = &String> {
        self.caveats.iter().filter(|caveat| !caveat.contains(REWORDED))
    }

    /// A hash of the judgements, and of the severity of findings against a pass, whatever the reader's words.
    fn verdicts(&self) -> u64 {
        let hash = self.requirements.iter().fold(Hasher::default(), |hash, judged| {
            hash.with(judged.id.as_bytes()).with_number(judged.verdict as u64)
        });
        let grave = self.findings.iter().filter(|finding| finding.severity >= ReviewSeverity::High);
        let hash = grave.fold(hash, |hash, finding| {
            let files = finding.evidence.iter().map(|evidence| evidence.file.as_bytes());
            files.fold(hash.with_number(finding.severity as u64), Hasher::with)
        });
        hash.finish()
    }

    /// Requirements found met.
    pub fn met(&self) -> usize {
        self.requirements.iter().filter(|judged| judged.verdict == ReviewJudgement::Met).count()
    }

    /// Ids of requirements that other, open tasks build.
    fn later(&self) -> impl Iterator<Item = &str> {
        let later = self.requirements.iter().filter(|one| one.verdict == ReviewJudgement::Later);
        later.map(|judged| judged.id.as_str())
    }

    fn counted(&self) -> String {
        let (met, all, later) = (self.met(), self.requirements.len(), self.later().count());
        let some = |count: usize, what| {
            if count > 0 { format!(", {count} {what}") } else { String::new() }
        };
        let reworded = some(self.reworded.len(), "reworded");
        let caveats = self.other_caveats().count();
        let reworded = reworded + &some(caveats, if caveats == 1 { "caveat" } else { "caveats" });
        match (all, later) {
            (0, _) => String::new(),
            (_, later) if later == all => format!(" (0 judged, {later} later{reworded})"),
            (_, 0) => format!(" ({met} of {all} met{reworded})"),
            _ => format!(" ({met} of {} met, {later} later{reworded})", all - later),
        }
    }

    /// The whole review in words.
    pub fn text(&self) -> String {
        let mut text = self.line() + "\n" + &self.found();
        let later: Vec<&str> = self.later().collect();
        rows(&mut text, "left for later tasks", [text::title(&later.join(", "), SENTENCE)]);
        let proves_nothing = self.outcome == ReviewOutcome::Passed && self.met() == 0;
        let nothing = proves_nothing.then_some("nothing was judged, so it proves no task");
        rows(&mut text, "note", nothing);
        rows(&mut text, "note", self.caveats.iter().map(|caveat| text::title(caveat, SENTENCE)));
        let model = self.model.as_ref().map_or(String::new(), |model| format!("{model}, "));
        let lasted = text::lasted(Duration::from_secs_f64(self.seconds.clamp(0.0, 1e9)));
        let tokens = self
            .tokens
            .map_or("tokens not known".to_owned(), |tokens| text::counted(tokens.get(), "token"));
        let money = self.money();
        let _ = writeln!(text, "  {model}{lasted}, {tokens}{money}; changes {}", self.since);
        rows(&mut text, "Log", [&self.log]);
        if let Some(next) = self.next() {
            let _ = writeln!(text, "Next: {next}");
        }
        text
    }

    /// What speaks against a pass, a line each.
    fn found(&self) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            let _ = writeln!(text, "  {}", text::title(problem, SENTENCE));
        }
        let changed = self.changed.iter().map(|changed| text::title(changed, SENTENCE));
        rows(&mut text, "changed meanwhile", changed);
        let speaks = [ReviewJudgement::NotMet, ReviewJudgement::CannotTell];
        for judged in self.requirements.iter().filter(|judged| speaks.contains(&judged.verdict)) {
            let why = text::title(&judged.why, SENTENCE);
            let why = if why.is_empty() { why } else { format!(": {why}") };
            let _ = writeln!(text, "  {} {}{why}", judged.id, judged.verdict.words());
            list(&mut text, &judged.evidence);
        }
        for finding in &self.findings {
            let what = text::title(&finding.finding, SENTENCE);
            let _ = writeln!(text, "  {}: {what}", name_of(finding.severity));
            list(&mut text, &finding.evidence);
        }
        text
    }

    /// A person's next step.
    fn next(&self) -> Option<&'static str> {
        Some(match self.outcome {
            ReviewOutcome::Passed => return None,
            ReviewOutcome::NotPassed => "have the agent repair what is named, then review again",
            ReviewOutcome::UnusableAnswer | ReviewOutcome::InventedEvidence => {
                "review again, or with another reader: --harness, --model"
            }
            ReviewOutcome::TreeChanged => "review again while nothing else works in the project",
            ReviewOutcome::TimeLimit => "give it more time with --timeout, then review again",
            ReviewOutcome::TokenLimit => {
                "give it more tokens with --token-budget, then review again"
            }
            ReviewOutcome::OutputLimit | ReviewOutcome::ReaderFailed => {
                "read the end of the log, then review again"
            }
            ReviewOutcome::UsageLimit => {
                "review again when the limit is lifted, or with another --harness"
            }
            ReviewOutcome::Interrupted => "review again when you have time for it",
        })
    }
}

fn list(text: &mut String, all: &[ReviewEvidence]) {
    for evidence in all {
        let _ = match evidence.command.as_str() {
            "" => {
                let quote = text::title(&evidence.quote, 100);
                writeln!(text, "    {}:{} {quote}", text::title(&evidence.file, 200), evidence.line)
            }
            command => writeln!(text, "    `{}`", text::title(command, 200)),
        };
    }
}

impl From<&Review> for LastReview {
    fn from(review: &Review) -> Self {
        Self {
            began_at: review.began_at,
            outcome: review.outcome,
            met: (review.met() as u64).into(),
            requirements: ((review.requirements.len() - review.later().count()) as u64).into(),
            harness: review.harness.clone(),
            model: review.model.clone(),
            tokens: review.tokens,
            cost_usd: review.cost_usd,
            cost_estimated: review.cost_estimated,
            words: review.short(),
        }
    }
}
