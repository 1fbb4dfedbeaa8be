//! The journals as loops, each from its arming to its end, with a short line for each entry.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::feature::project::printable;
use crate::session::messages::person::{more_than, reviews_of};
use crate::session::report::session_loop::sums;
use crate::store::journal::Entry;
use crate::store::loops::TERMINAL;
use crate::store::names::{EndName, JournalEvent, VerdictName};
use crate::style::{BAD, BOLD, DIM, GOOD, WARN};
use crate::world::WallTime;

/// Stands for a session in the journal of a runner.
pub const RUNNER: &str = "ralph";

/// Letters of a session's id.
const SHORT: usize = 8;

/// The beginning of the last loop, by journal and subject.
pub type LoopBegins = BTreeMap<(String, String), WallTime>;

/// One loop in one journal, from its arming to its end.
#[derive(Clone, Debug, Default)]
pub struct LoggedLoop {
    /// The session of the journal, or [`RUNNER`].
    pub whose: String,
    /// The feature, the task or the change.
    pub about: String,
    /// As they were written.
    pub entries: Vec<Entry>,
    /// The entries continue a loop that began before them.
    pub is_a_part: bool,
    /// The beginning of a continued loop, if known.
    pub began_before: Option<WallTime>,
    /// The beginning of the next loop about the same.
    pub next_began: Option<WallTime>,
}

impl LoggedLoop {
    /// The loops of one journal, in its order.
    pub fn all(whose: &str, entries: Vec<Entry>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for entry in entries {
            match all.last_mut().filter(|last| last.goes_on_with(&entry)) {
                Some(last) => last.entries.push(entry),
                None => all.push(Self {
                    whose: whose.to_owned(),
                    about: entry.about.clone(),
                    entries: vec![entry],
                    ..Self::default()
                }),
            }
        }
        all
    }

    /// The loops in new entries of a journal: the first may have begun before.
    pub fn parts(whose: &str, entries: Vec<Entry>) -> Vec<Self> {
        let mut all = Self::all(whose, entries);
        if let Some(first) = all.first_mut() {
            first.is_a_part = !first.entries.first().is_some_and(begins);
        }
        all
    }

    /// The entry of the last iteration has said this.
    pub fn has_said(&self, entry: &Entry) -> bool {
        self.whose == RUNNER && entry.event == JournalEvent::Ended && entry.words.is_empty()
    }

    /// Notes the beginning of each loop, and sets that of continued ones.
    pub fn know_the_begin(all: &mut [Self], known: &mut LoopBegins) {
        for logged in all {
            let key = (logged.whose.clone(), logged.about.clone());
            if logged.is_a_part {
                logged.began_before = known.get(&key).copied();
            }
            known.insert(key, logged.began());
        }
    }

    /// The entry belongs to this loop as well. A runner that continues a stopped loop says so first.
    fn goes_on_with(&self, entry: &Entry) -> bool {
        let continues = |other: &Entry| other.event == JournalEvent::Resumed;
        let mut run = self.entries.iter().rev().take_while(|other| !continues(other));
        let mut is_over = || run.any(|other| other.verdict == VerdictName::End);
        let is_its_end = entry.event == JournalEvent::Ended || continues(entry);
        let runs_again = self.whose == RUNNER && !is_its_end && is_over();
        self.about == entry.about && !begins(entry) && !runs_again
    }

    pub fn began(&self) -> WallTime {
        let first = || self.entries.first().map(|entry| entry.at);
        self.began_before.or_else(first).unwrap_or_default()
    }

    /// The line above the entries.
    pub fn title(&self) -> String {
        let whose = match self.whose.as_str() {
            RUNNER => "spool ralph".to_owned(),
            TERMINAL => "terminal".to_owned(),
            session => {
                format!("session {}", printable(session).chars().take(SHORT).collect::<String>())
            }
        };
        format!(
            "{BOLD}{}{BOLD:#} · {whose} · {}",
            printable(&self.about),
            local(self.began(), "%F %:z")
        )
    }

    /// The entry ends an iteration, and has its number: entries between two stops of a session were written while the
    /// next iteration ran.
    fn ends_an_iteration(&self, entry: &Entry) -> bool {
        let is_judged = matches!(entry.verdict, VerdictName::Continue | VerdictName::End);
        let is_stop = entry.event == JournalEvent::Stop && is_judged;
        entry.iteration > 0 && (is_stop || self.whose == RUNNER)
    }

    pub fn line(&self, entry: &Entry) -> String {
        let (style, what) = match (&entry.verdict, &entry.event) {
            (VerdictName::Continue, _) => (WARN, "continue".to_owned()),
            (VerdictName::Wait, _) => (DIM, "wait".to_owned()),
            (VerdictName::End, _) | (_, JournalEvent::Ended) if entry.reason != EndName::None => {
                let is_done = entry.reason == EndName::Completed;
                (if is_done { GOOD } else { BAD }, entry.reason.in_words())
            }
            (_, event) => (BOLD, event.as_str().to_owned()),
        };
        let is_end = entry.verdict == VerdictName::End;
        let sums = is_end.then(|| sums(entry.tool_calls, entry.commits, entry.tokens)).flatten();
        let reviews =
            Some(reviews_of(entry.review_tokens, entry.review_cost, entry.review_cost_estimated));
        let reviews = reviews.filter(|cost| !cost.is_empty()).map(|cost| format!("reviews {cost}"));
        let sums: Vec<String> = sums.into_iter().chain(reviews).collect();
        let words = more_than(&entry.reason, &entry.words);
        let gap = if words.is_empty() { "" } else { " " };
        let sums =
            if sums.is_empty() { String::new() } else { format!("{gap}({})", sums.join(", ")) };
        let iteration = if self.ends_an_iteration(entry) {
            let task = Some(printable(&entry.task)).filter(|task| !task.is_empty());
            let task = task.map_or_else(String::new, |task| format!(" task {task}"));
            format!("  iteration {}{task}", entry.iteration)
        } else {
            String::new()
        };
        let day = |time| local(time, "%F");
        let is_same_day = day(entry.at) == day(self.began());
        let output = entry.output.lines().map(|line| format!("\n      {}", printable(line)));
        let line = format!(
            "  {}{iteration}  {style}{}{style:#}  {words}{sums}",
            local(entry.at, if is_same_day { "%T" } else { "%m-%d %T" }),
            printable(&what),
        );
        line.trim_end().to_owned() + &output.collect::<String>()
    }
}

/// A loop begins with this entry.
fn begins(entry: &Entry) -> bool {
    matches!(entry.event, JournalEvent::Armed | JournalEvent::Claimed | JournalEvent::Adopted)
}

/// A time of the wall clock in this form.
fn local(at: WallTime, form: &str) -> String {
    let time = i64::try_from(at.millis()).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let zoned = time.map(|time| time.to_zoned(TimeZone::system()));
    zoned.map_or_else(|| "?".to_owned(), |time| time.strftime(form).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: u64, event: &str, about: &str, verdict: &str) -> Entry {
        Entry {
            at: WallTime::from_seconds(at),
            event: event.to_owned().into(),
            about: about.to_owned(),
            verdict: verdict.to_owned().into(),
            ..Entry::default()
        }
    }

    fn lengths(whose: &str, entries: Vec<Entry>) -> Vec<usize> {
        LoggedLoop::all(whose, entries).iter().map(|logged| logged.entries.len()).collect()
    }

    #[test]
    fn armings_separate_loops() {
        let session = vec![
            entry(1, "armed", "a", ""),
            entry(2, "stop", "a", "continue"),
            entry(3, "stop", "a", "end"),
            entry(4, "armed", "a", ""),
            entry(5, "stop", "b", "continue"),
            entry(6, "adopted", "b", ""),
        ];
        assert_eq!(lengths("s1", session), [3, 1, 1, 1]);
    }

    #[test]
    fn rerun_begins_another_loop() {
        let runs = vec![
            entry(1, "iteration", "a", "continue"),
            entry(2, "iteration", "a", "end"),
            entry(3, "ended", "a", "end"),
            entry(4, "interrupted", "a", ""),
            entry(5, "iteration", "a", "end"),
        ];
        assert_eq!(lengths(RUNNER, runs), [3, 2]);
    }

    #[test]
    fn continued_runner_begins_none() {
        let runs = vec![
            entry(1, "iteration", "a", "end"),
            entry(2, "ended", "a", ""),
            entry(3, "resumed", "a", ""),
            entry(4, "iteration", "a", "continue"),
            entry(5, "iteration", "a", "end"),
            entry(6, "ended", "a", ""),
            entry(7, "iteration", "a", "continue"),
        ];
        assert_eq!(lengths(RUNNER, runs), [6, 1]);
    }
}
