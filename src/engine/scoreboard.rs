//! The proofs of a loop's tasks: counts, and the tasks that a person should look at first.

use std::collections::BTreeMap;

use super::proof::Proof;
use super::scope::in_runs;

/// Begins the doubt of a task whose tests were changed.
pub const TESTS_CHANGED: &str = "its tests were changed: ";
/// Tasks named in one line.
const NAMED: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scoreboard {
    tasks: Vec<ScoredTask>,
    /// Places in `tasks`, by id.
    places: BTreeMap<String, usize>,
    /// Ticked tasks that do not count, because their Verify command failed.
    pub failed: Vec<String>,
    /// Receipts added so far.
    pub receipts: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredTask {
    /// The id.
    pub task: String,
    pub proof: Proof,
    /// Another agent program read the task's work and found it good.
    pub reviewed: bool,
    /// The agent's words on a task without a change or a dropped task, or the reason of proof by tick.
    pub why: Option<String>,
    /// Dropped, not done.
    pub dropped: bool,
}

impl ScoredTask {
    /// Changed tests lowered the grade.
    fn is_of_changed_tests(&self) -> bool {
        let why = self.why.as_deref().unwrap_or_default();
        self.proof == Proof::Tick && why.starts_with(TESTS_CHANGED)
    }
}

impl Scoreboard {
    /// A later receipt replaces an earlier one of the same task.
    pub fn add(&mut self, task: ScoredTask) {
        self.receipts += 1;
        if let Some(place) = self.places.get(&task.task) {
            self.tasks[*place] = task;
        } else {
            self.places.insert(task.task.clone(), self.tasks.len());
            self.tasks.push(task);
        }
    }

    pub fn retain(&mut self, is_done: impl Fn(&ScoredTask) -> bool) {
        self.tasks.retain(is_done);
        let places = self.tasks.iter().enumerate();
        self.places = places.map(|(place, task)| (task.task.clone(), place)).collect();
    }

    /// Tasks with a good review, whatever else proves them.
    pub fn reviewed(&self) -> usize {
        self.tasks.iter().filter(|task| task.reviewed).count()
    }

    /// Tasks with this proof and no review.
    pub fn count(&self, proof: Proof) -> usize {
        self.of(proof).count()
    }

    /// Tasks with this proof and no review.
    pub fn of(&self, proof: Proof) -> impl Iterator<Item = &ScoredTask> {
        self.tasks.iter().filter(move |task| task.proof == proof && !task.reviewed)
    }

    /// One line for the end of a loop, such as `Proved: 7 by a command, 3 by files; 1 by word alone: T004`. Dropped
    /// tasks and tasks with changed tests stand before that. Empty without any proof.
    pub fn line(&self) -> String {
        let strong = [
            (self.reviewed(), "by a review"),
            (self.count(Proof::Command), "by a command"),
            (self.count(Proof::Files), "by files"),
        ];
        let strong = strong.iter().filter(|(count, _)| *count > 0);
        let strong: Vec<String> =
            strong.map(|(count, by)| [&count.to_string(), " ", by].concat()).collect();
        let mut parts = vec![strong.join(", ")];
        for (proof, by) in [(Proof::Tick, " by tick: "), (Proof::Word, " by word alone: ")] {
            let ids: Vec<String> = self.of(proof).map(|task| task.task.clone()).collect();
            if !ids.is_empty() {
                let more = if ids.len() > NAMED { ", …" } else { "" };
                let named = in_runs(&ids[..ids.len().min(NAMED)]);
                parts.push([&ids.len().to_string(), by, &named, more].concat());
            }
        }
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() {
            return String::new();
        }
        let named = |words: &str, is_it: &dyn Fn(&&ScoredTask) -> bool| {
            let ids: Vec<&str> =
                self.tasks.iter().filter(is_it).map(|task| task.task.as_str()).collect();
            if ids.is_empty() { String::new() } else { [words, &ids.join(", "), ". "].concat() }
        };
        let dropped = named("Dropped: ", &|task| task.dropped);
        let of_tests = named("Tests were changed for ", &|task| task.is_of_changed_tests());
        [&dropped, &of_tests, "Proved: ", &parts.join("; ")].concat()
    }

    /// A sentence for each task that a person should look at first: failed commands, dropped tasks, changed tests, words
    /// alone, then ticks.
    pub fn look_first(&self) -> Vec<String> {
        let word = |one: &ScoredTask| match &one.why {
            Some(why) if one.dropped => format!("{} was dropped: {why}", one.task),
            Some(why) => format!("{} changed nothing; the agent says: {why}", one.task),
            None => format!(
                "{} has nothing but the agent's word: nobody could look at its files",
                one.task
            ),
        };
        let tick = |task: &ScoredTask| {
            let why = task.why.as_deref().unwrap_or("nothing shows that what changed is its work");
            format!("{} is proved by tick alone: {why}", task.task)
        };
        let words = |dropped: bool| self.of(Proof::Word).filter(move |one| one.dropped == dropped);
        let ticks = |of_tests: bool| {
            self.of(Proof::Tick).filter(move |task| task.is_of_changed_tests() == of_tests)
        };
        let failed =
            self.failed.iter().map(|id| format!("{id} is not proved: its Verify command failed"));
        let first = failed.chain(words(true).map(word)).chain(ticks(true).map(tick));
        first.chain(words(false).map(word)).chain(ticks(false).map(tick)).take(NAMED).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(task: &str, proof: Proof) -> ScoredTask {
        ScoredTask { task: task.to_owned(), proof, reviewed: false, why: None, dropped: false }
    }

    #[test]
    fn line_names_what_needs_looking() {
        let mut board = Scoreboard::default();
        assert_eq!(board.line(), "");
        board.add(scored("T001", Proof::Command));
        board.add(scored("T002", Proof::Files));
        assert_eq!(board.line(), "Proved: 1 by a command, 1 by files");
        assert_eq!(board.look_first(), Vec::<String>::new());
        board.add(scored("T003", Proof::Tick));
        let why = Some("it is there".to_owned());
        board.add(ScoredTask { why, ..scored("T004", Proof::Word) });
        assert_eq!(
            board.line(),
            "Proved: 1 by a command, 1 by files; 1 by tick: T003; 1 by word alone: T004"
        );
        let first = board.look_first();
        assert_eq!(first[0], "T004 changed nothing; the agent says: it is there");
        assert!(first[1].starts_with("T003 is proved by tick alone"), "{first:?}");
        board.add(ScoredTask { reviewed: true, ..scored("T003", Proof::Tick) });
        assert_eq!(
            board.line(),
            "Proved: 1 by a review, 1 by a command, 1 by files; 1 by word alone: T004"
        );
        assert_eq!((board.reviewed(), board.receipts), (1, 5));
        board.retain(|task| task.task == "T004");
        let why = Some([TESTS_CHANGED, "tests/a.rs"].concat());
        board.add(ScoredTask { why, ..scored("T005", Proof::Tick) });
        board.add(ScoredTask { dropped: true, ..scored("T006", Proof::Word) });
        assert!(board.line().starts_with("Dropped: T006. Tests were changed for T005. Proved: "));
        board.retain(|task| task.task == "T004");
        assert_eq!(board.line(), "Proved: 1 by word alone: T004");
    }

    #[test]
    fn drop_gives_its_reason_alone() {
        let mut board = Scoreboard::default();
        let why = Some("not needed now".to_owned());
        board.add(ScoredTask { why, dropped: true, ..scored("T002", Proof::Word) });
        assert_eq!(board.look_first(), ["T002 was dropped: not needed now"]);
    }

    #[test]
    fn later_receipt_counts() {
        let mut board = Scoreboard::default();
        for number in 1..=12 {
            board.add(scored(&format!("T{number:03}"), Proof::Word));
        }
        assert_eq!(board.line(), "Proved: 12 by word alone: T001-T008, …");
        for number in 1..=12 {
            board.add(scored(&format!("T{number:03}"), Proof::Files));
        }
        assert_eq!(board.line(), "Proved: 12 by files");
    }
}
