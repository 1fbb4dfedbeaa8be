//! The live line: an iteration while it runs, in as many columns as there are.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::screen::{counted, lasted};
use crate::engine::Dollars;
use crate::evidence::task_list::{self, TaskFile};
use crate::forms::spent::Amount;
use crate::text::{columns, narrow};
use crate::world::{Stopwatch, WallTime};

/// The shortest time between two looks at the task list.
const LOOK: Duration = Duration::from_secs(1);
const BETWEEN: &str = " · ";
/// The columns that a task keeps beside any fact but the first.
const TASK: usize = 12;

/// The facts on an iteration from before its start.
#[derive(Debug)]
pub struct LiveLine {
    /// Such as `3/100`.
    pub iteration: String,
    /// The loop's task list.
    pub list: Option<PathBuf>,
    /// How long earlier runners had the loop.
    pub before: Duration,
    /// Since when this runner has it.
    pub clock: Stopwatch,
    pub max_runtime: Option<Duration>,
    pub iteration_timeout: Option<Duration>,
    /// Tokens used before.
    pub tokens: LiveSum,
    /// Millionths of a dollar spent before.
    pub cost: LiveSum,
    /// The list at the last look.
    pub tasks: RefCell<LiveTasks>,
}

/// A figure of the loop so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveSum {
    pub sum: Amount,
    /// `None` for no limit.
    pub limit: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct LiveTasks {
    looked: Option<Stopwatch>,
    /// The file's time of change, and its length.
    version: Option<(WallTime, u64)>,
    /// Ticked boxes, and all boxes.
    done: Option<(usize, usize)>,
    /// The first open task.
    next: String,
}

/// The facts in the middle of an iteration.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveMoment {
    pub elapsed: Duration,
    /// Tool calls so far.
    pub calls: u64,
    /// Tokens reported so far.
    pub tokens: u64,
    /// Millionths of a dollar, and whether they are an estimate.
    pub cost: Option<(u64, bool)>,
}

impl LiveLine {
    /// The line in at most `room` columns: the last facts are left out for the first open task.
    pub fn words(&self, now: &LiveMoment, room: usize) -> String {
        let mut tasks = self.tasks.borrow_mut();
        if let Some(list) = &self.list {
            tasks.look(list);
        }
        self.fitted(&tasks, now, (self.before + self.clock.elapsed(), room))
    }

    fn fitted(
        &self,
        tasks: &LiveTasks,
        now: &LiveMoment,
        (elapsed, room): (Duration, usize),
    ) -> String {
        let of = |time, limit: Option<Duration>| match limit {
            Some(limit) => format!("{} of {}", short_time(time), limit_time(limit)),
            None => short_time(time),
        };
        let own_time = of(now.elapsed, self.iteration_timeout);
        // Without a limit for the loop, the iteration's time shows that something happens.
        let (time, own_time) = match self.max_runtime {
            Some(_) => (of(elapsed, self.max_runtime), Some(format!("this one {own_time}"))),
            None => (own_time, None),
        };
        let cost = now.cost.map_or(self.cost, |(cost, estimated)| self.cost.with(cost, estimated));
        let facts = [
            tasks.done.map(|(done, all)| format!("{done}/{all} done")),
            Some(time),
            cost.words(money, ""),
            self.tokens.with(now.tokens, false).words(short_count, " tokens"),
            Some(format!("iteration {}", self.iteration)),
            own_time,
            (now.calls > 0).then(|| counted(now.calls, "tool call")),
        ];
        let mut facts: Vec<String> = facts.into_iter().flatten().collect();
        let least = if tasks.next.is_empty() { 0 } else { TASK.min(columns(&tasks.next)) + 3 };
        while facts.len() > 1 && columns(&facts.join(BETWEEN)) + least > room {
            facts.pop();
        }
        let left = room.saturating_sub(columns(&facts.join(BETWEEN)) + 3);
        if !tasks.next.is_empty() && left >= 4 {
            facts.push(narrow(&tasks.next, left));
        }
        narrow(&facts.join(BETWEEN), room)
    }
}

impl LiveSum {
    fn with(self, more: u64, estimated: bool) -> Self {
        let more = Amount { value: more, estimated, partial: false };
        Self { sum: self.sum.plus(more), ..self }
    }

    fn words(self, shown: impl Fn(u64) -> String, unit: &str) -> Option<String> {
        let limit = self.limit.map(|limit| format!(" of {}", shown(limit))).unwrap_or_default();
        self.sum.words(shown).map(|sum| format!("{sum}{limit}{unit}"))
    }
}

impl LiveTasks {
    /// Before the first look, only the first open task is known.
    pub fn beginning_with(next: Option<&(String, String)>) -> Self {
        let next = next.map(|(id, title)| named(id, title)).unwrap_or_default();
        Self { next, ..Self::default() }
    }

    /// Reads the list if it has changed. An unreadable list stays as it was.
    fn look(&mut self, path: &Path) {
        if self.looked.is_some_and(|clock| clock.elapsed() < LOOK) {
            return;
        }
        self.looked = Some(Stopwatch::start());
        let version =
            path.metadata().and_then(|meta| Ok((meta.modified()?.into(), meta.len()))).ok();
        if version.is_none() || version == self.version {
            return;
        }
        if let Some(Ok(TaskFile { list, .. })) = path.parent().map(task_list::read) {
            self.version = version;
            self.done = Some((list.done(), list.tasks.len()));
            let next = list.next();
            self.next = next.first().map(|task| named(&task.id, &task.title)).unwrap_or_default();
        }
    }
}

/// A task as a person knows it.
pub fn named(id: &str, title: &str) -> String {
    if id.starts_with('@') { title.to_owned() } else { format!("{id} {title}") }
}

/// A time that does not shift the rest of the line every tenth of a second.
fn short_time(time: Duration) -> String {
    if time.as_secs() < 60 { format!("{} s", time.as_secs()) } else { lasted(time) }
}

/// A limit of time without zero parts.
fn limit_time(limit: Duration) -> String {
    let words = if limit.as_secs() == 0 { lasted(limit) } else { short_time(limit) };
    let short = [" 00 min", " 00 s"].iter().find_map(|end| words.strip_suffix(end));
    short.map(str::to_owned).unwrap_or(words)
}

/// At most five characters: `648`, `12.3k`, `1.24M`.
fn short_count(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}.{}k", number / 1_000, number / 100 % 10),
        _ => format!("{}.{:02}M", number / 1_000_000, number / 10_000 % 100),
    }
}

fn money(micros: u64) -> String {
    Dollars(micros).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(known: u64) -> Amount {
        Amount { value: known, ..Amount::default() }
    }

    const LONG: &str =
        "Write the parser for the whole of the grammar, with all of its tests and examples";

    fn line() -> LiveLine {
        LiveLine {
            iteration: "13/100".to_owned(),
            list: None,
            before: Duration::ZERO,
            clock: Stopwatch::start(),
            max_runtime: Some(Duration::from_hours(8)),
            iteration_timeout: Some(Duration::from_mins(30)),
            tokens: LiveSum { sum: known(1_200_000), limit: Some(5_000_000) },
            cost: LiveSum { sum: known(3_000_000), limit: Some(10_000_000) },
            tasks: RefCell::default(),
        }
    }

    fn tasks(next: &str) -> LiveTasks {
        LiveTasks { done: Some((12, 40)), next: next.to_owned(), ..LiveTasks::default() }
    }

    fn now() -> LiveMoment {
        LiveMoment {
            elapsed: Duration::from_secs(125),
            calls: 17,
            tokens: 34_567,
            cost: Some((420_000, true)),
        }
    }

    const HOUR: Duration = Duration::from_mins(62);

    #[test]
    fn last_fact_goes_first() {
        let tasks = tasks(&format!("T013 {LONG}"));
        let shown = |room| line().fitted(&tasks, &now(), (HOUR, room));
        let table = [
            (
                170,
                "12/40 done · 1 h 02 min of 8 h · ~$3.42 of $10.00 · 1.23M of 5.00M tokens · iteration 13/100 · this one 2 min 05 s of 30 min · 17 tool calls · T013 Write the parser for …",
            ),
            (
                117,
                "12/40 done · 1 h 02 min of 8 h · ~$3.42 of $10.00 · 1.23M of 5.00M tokens · iteration 13/100 · T013 Write the parser…",
            ),
            (77, "12/40 done · 1 h 02 min of 8 h · ~$3.42 of $10.00 · T013 Write the parser fo…"),
            (57, "12/40 done · 1 h 02 min of 8 h · T013 Write the parser f…"),
            (37, "12/40 done · T013 Write the parser f…"),
            (17, "12/40 done · T01…"),
        ];
        for (room, expected) in table {
            assert_eq!(shown(room), expected);
            assert!(columns(expected) <= room);
        }
    }

    #[test]
    fn time_of_earlier_runners_counts() {
        let continued = LiveLine { before: HOUR, ..line() };
        let shown = continued.words(&now(), 170);
        assert!(shown.starts_with("1 h 02 min of 8 h · "), "{shown}");
    }

    #[test]
    fn line_fits_at_every_width() {
        for next in [
            "",
            "1.1 写一个解析器，包括所有的测试和例子，以及文档",
            "T1 👩\u{200d}💻👩\u{200d}💻 e\u{301}e\u{301}",
            "x",
        ] {
            for room in 0..200 {
                let shown = line().fitted(&tasks(next), &now(), (HOUR, room));
                assert!(columns(&shown) <= room, "{room}: {shown}");
                if room > 14 {
                    assert!(shown.starts_with("12/40 done"), "{room}: {shown}");
                }
            }
        }
    }

    #[test]
    fn unknown_figures_stay_hidden() {
        let bare = LiveLine {
            max_runtime: None,
            iteration_timeout: None,
            tokens: LiveSum::default(),
            cost: LiveSum::default(),
            ..line()
        };
        let nothing = LiveMoment { elapsed: Duration::from_millis(900), ..LiveMoment::default() };
        let shown = bare.fitted(&LiveTasks::default(), &nothing, (HOUR, 80));
        assert_eq!(shown, "0 s · iteration 13/100");
        let sum =
            LiveSum { sum: Amount { value: 648, estimated: true, partial: true }, limit: None };
        let some = LiveLine { tokens: sum, ..bare };
        let shown = some.fitted(&LiveTasks::default(), &nothing, (HOUR, 80));
        assert_eq!(shown, "0 s · at least ~648 tokens · iteration 13/100");
        let counts = [648, 9_999, 10_000, 999_999, 1_000_000, 12_345_678];
        let counts = counts.map(short_count);
        assert_eq!(counts, ["648", "9999", "10.0k", "999.9k", "1.00M", "12.34M"]);
    }

    #[test]
    fn changed_list_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.md");
        std::fs::write(&path, "- [ ] T001 One\n- [ ] T002 Two\n").unwrap();
        let mut tasks = LiveTasks::default();
        tasks.look(&path);
        assert_eq!((tasks.done, tasks.next.as_str()), (Some((0, 2)), "T001 One"));
        std::fs::write(&path, "- [x] T001 One of them\n- [ ] T002 Two\n").unwrap();
        tasks.look(&path);
        assert_eq!(tasks.done, Some((0, 2)), "not within a second");
        tasks.looked = None;
        tasks.look(&path);
        assert_eq!((tasks.done, tasks.next.as_str()), (Some((1, 2)), "T002 Two"));
        std::fs::remove_file(&path).unwrap();
        tasks.looked = None;
        tasks.look(&path);
        assert_eq!(tasks.done, Some((1, 2)));
    }
}
