//! How well the tasks of a loop are proved, taken together: counts, and the tasks that a person should look at first.

use std::collections::BTreeMap;

use super::proof::Proof;
use super::scope::in_runs;

/// How the doubt of a task begins whose tests were changed.
pub const TESTS_CHANGED: &str = "its tests were changed: ";
/// The most tasks that are named in a line.
const NAMED: usize = 8;

/// How well the tasks of a loop are proved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scoreboard {
    tasks: Vec<ScoredTask>,
    /// The place of each, by its id.
    places: BTreeMap<String, usize>,
    /// How many receipts it was made from.
    pub receipts: usize,
}

/// What is known of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredTask {
    /// Its id.
    pub task: String,
    /// How well it is proved.
    pub proof: Proof,
    /// Whether another agent program read it and found it good.
    pub reviewed: bool,
    /// Why it changes nothing or was dropped, in the agent's words, or why it is proved by tick; `None` where nothing says so.
    pub why: Option<String>,
    /// Whether it was dropped, and not done.
    pub dropped: bool,
}

impl ScoredTask {
    /// Whether its grade was lowered because its tests were changed.
    fn is_of_changed_tests(&self) -> bool {
        let why = self.why.as_deref().unwrap_or_default();
        self.proof == Proof::Tick && why.starts_with(TESTS_CHANGED)
    }
}

impl Scoreboard {
    /// Adds what a receipt says of a task; a later one of the same task replaces it.
    pub fn add(&mut self, task: ScoredTask) {
        self.receipts += 1;
        if let Some(place) = self.places.get(&task.task) {
            self.tasks[*place] = task;
        } else {
            self.places.insert(task.task.clone(), self.tasks.len());
            self.tasks.push(task);
        }
    }

    /// Leaves out the tasks that are not done any more.
    pub fn retain(&mut self, is_done: impl Fn(&ScoredTask) -> bool) {
        self.tasks.retain(is_done);
        let places = self.tasks.iter().enumerate();
        self.places = places.map(|(place, it)| (it.task.clone(), place)).collect();
    }

    /// Returns how many tasks another agent program has read and found good, whatever else proves them.
    pub fn reviewed(&self) -> usize {
        self.tasks.iter().filter(|it| it.reviewed).count()
    }

    /// Returns how many tasks have this proof and no review.
    pub fn count(&self, proof: Proof) -> usize {
        self.of(proof).count()
    }

    /// Returns the tasks that have this proof and no review.
    pub fn of(&self, proof: Proof) -> impl Iterator<Item = &ScoredTask> {
        self.tasks.iter().filter(move |it| it.proof == proof && !it.reviewed)
    }

    /// Returns one line for the end of a loop, such as `Proved: 7 by a command, 3 by files; 1 by word alone: T004`, with what was
    /// dropped, and what was proved by changed tests, before it; empty where no task has a proof.
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
            let ids: Vec<String> = self.of(proof).map(|it| it.task.clone()).collect();
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
                self.tasks.iter().filter(is_it).map(|it| it.task.as_str()).collect();
            if ids.is_empty() { String::new() } else { [words, &ids.join(", "), ". "].concat() }
        };
        let dropped = named("Dropped: ", &|it| it.dropped);
        let of_tests = named("Tests were changed for ", &|it| it.is_of_changed_tests());
        [&dropped, &of_tests, "Proved: ", &parts.join("; ")].concat()
    }

    /// Returns what a person should look at first, a sentence for each task: what was dropped, what was proved by changed tests,
    /// words alone, then ticks.
    pub fn look_first(&self) -> Vec<String> {
        let word = |it: &ScoredTask| match &it.why {
            Some(why) if it.dropped => format!("{} was dropped; the agent says: {why}", it.task),
            Some(why) => format!("{} changed nothing; the agent says: {why}", it.task),
            None => format!(
                "{} has nothing but the agent's word: nobody could look at its files",
                it.task
            ),
        };
        let tick = |it: &ScoredTask| {
            let why = it.why.as_deref().unwrap_or("nothing shows that what changed is its work");
            format!("{} is proved by tick alone: {why}", it.task)
        };
        let words = |dropped: bool| self.of(Proof::Word).filter(move |it| it.dropped == dropped);
        let ticks = |of_tests: bool| {
            self.of(Proof::Tick).filter(move |it| it.is_of_changed_tests() == of_tests)
        };
        let first = words(true).map(word).chain(ticks(true).map(tick));
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
    fn the_line_names_what_a_person_should_look_at() {
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
        board.retain(|it| it.task == "T004");
        let why = Some([TESTS_CHANGED, "tests/a.rs"].concat());
        board.add(ScoredTask { why, ..scored("T005", Proof::Tick) });
        board.add(ScoredTask { dropped: true, ..scored("T006", Proof::Word) });
        assert!(board.line().starts_with("Dropped: T006. Tests were changed for T005. Proved: "));
        board.retain(|it| it.task == "T004");
        assert_eq!(board.line(), "Proved: 1 by word alone: T004");
    }

    #[test]
    fn a_later_receipt_counts_and_a_long_list_is_cut() {
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
