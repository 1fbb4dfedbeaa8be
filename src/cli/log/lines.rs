//! The journals as loops, each from its arming to its end, with a short line for each entry.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::feature::project::printable;
use crate::session::messages::person::{more_than, reviews_of};
use crate::session::report::session_loop::sums;
use crate::store::journal::Entry;
use crate::store::loops::{RUNNER, TERMINAL};
use crate::store::names::{EndName, JournalEvent, VerdictName};
use crate::style::{BAD, BOLD, DIM, GOOD, WARN};
use crate::world::WallTime;

/// Letters of a session's id.
const SHORT: usize = 8;

#[derive(Clone, Debug)]
pub struct LoggedEntry {
    /// The session of the journal; `RUNNER` or `TERMINAL` if no session wrote it.
    pub whose: String,
    pub entry: Entry,
    /// An earlier look has found it.
    pub is_old: bool,
}

/// One loop, from its arming to its end.
#[derive(Clone, Copy, Debug)]
pub struct LoggedLoop<'a> {
    pub entries: &'a [LoggedEntry],
    /// The beginning of the next loop about the same.
    pub next_began: Option<WallTime>,
}

impl<'a> LoggedLoop<'a> {
    /// The loops in the order of their beginnings.
    pub fn all(entries: &'a mut [LoggedEntry]) -> Vec<Self> {
        entries.sort_by(|one, other| one.place().cmp(&other.place()));
        let loops = entries.chunk_by(LoggedEntry::goes_on_with);
        let mut all: Vec<Self> = loops.map(|entries| Self { entries, next_began: None }).collect();
        all.sort_by_key(Self::began);
        for place in 0..all.len() {
            let next = all[place + 1..].iter().find(|next| next.about() == all[place].about());
            all[place].next_began = next.map(Self::began);
        }
        all
    }

    /// The session of the journal; `RUNNER` or `TERMINAL` if no session wrote it.
    pub fn whose(&self) -> &'a str {
        self.entries.first().map_or("", |first| &first.whose)
    }

    /// The feature, the task or the change.
    pub fn about(&self) -> &'a str {
        self.entries.first().map_or("", |first| &first.entry.about)
    }

    pub fn began(&self) -> WallTime {
        self.entries.first().map(|first| first.entry.at).unwrap_or_default()
    }

    /// The line above the entries.
    pub fn title(&self) -> String {
        let whose = match self.whose() {
            RUNNER => "spool ralph".to_owned(),
            TERMINAL => "terminal".to_owned(),
            session => {
                format!("session {}", printable(session).chars().take(SHORT).collect::<String>())
            }
        };
        format!(
            "{BOLD}{}{BOLD:#} · {whose} · {}",
            printable(self.about()),
            local(self.began(), "%F %:z")
        )
    }

    /// The entry ends an iteration, and has its number: entries between two stops of a session were written while the
    /// next iteration ran.
    fn ends_an_iteration(&self, entry: &Entry) -> bool {
        let is_judged = matches!(entry.verdict, VerdictName::Continue | VerdictName::End);
        let is_stop = entry.event == JournalEvent::Stop && is_judged;
        entry.iteration > 0 && (is_stop || self.whose() == RUNNER)
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
        let task = Some(printable(&entry.task)).filter(|task| !task.is_empty());
        let task = task.map_or_else(String::new, |task| format!(" task {task}"));
        let iteration = || format!("  iteration {}{task}", entry.iteration);
        let iteration = self.ends_an_iteration(entry).then(iteration).unwrap_or_default();
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

impl LoggedEntry {
    /// Sorts by loop: brings a run's two journals together.
    fn place(&self) -> (&str, &str, WallTime) {
        (&self.whose, &self.entry.about, self.entry.at)
    }

    /// `next` belongs to the same loop. A runner that continues an ended loop says so first.
    fn goes_on_with(&self, next: &Self) -> bool {
        let event = &next.entry.event;
        let begins =
            matches!(event, JournalEvent::Armed | JournalEvent::Claimed | JournalEvent::Adopted);
        let is_its_end = matches!(event, JournalEvent::Ended | JournalEvent::Resumed);
        let runs_again = self.whose == RUNNER && self.is_end() && !is_its_end;
        let is_same = (&self.whose, &self.entry.about) == (&next.whose, &next.entry.about);
        is_same && !begins && !runs_again
    }

    pub fn is_end(&self) -> bool {
        self.entry.verdict == VerdictName::End || self.entry.event == JournalEvent::Ended
    }

    /// The entry of the last iteration has said this.
    pub fn is_said(&self) -> bool {
        self.whose == RUNNER
            && self.entry.event == JournalEvent::Ended
            && self.entry.words.is_empty()
    }
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
        let whose = whose.to_owned();
        let logged = |entry| LoggedEntry { whose: whose.clone(), entry, is_old: false };
        let mut entries: Vec<LoggedEntry> = entries.into_iter().map(logged).collect();
        LoggedLoop::all(&mut entries).iter().map(|logged| logged.entries.len()).collect()
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
