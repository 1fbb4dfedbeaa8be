//! Which tasks of a list a person asked for, and what is left as words for the agent. Tasks stand in front of the words;
//! what looks like one and stands behind them, or is none of the list, is refused: nobody guesses what a loop is about.

use super::{is_like_feature, is_like_task};
use crate::engine::AsideKind;
use crate::engine::order::few;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TASKS;
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::text::{self, counted, distance};

/// The most characters of the words for the agent: they are handed on at the start and after each compaction.
const MOST: usize = 2_000;
/// The most headings that are named.
const SHOWN: usize = 8;
/// What a part of a list is called.
const PARTS: &str = "phase story wave step stage milestone sprint fase etapa paso \u{e9}tape schritt \u{9636}\u{6bb5} \u{30d5}\u{30a7}\u{30fc}\u{30ba}";
const NUMBERS: &str = "one two three four five six seven eight nine ten";
/// Joins numbers, as in `phase 1 to 3`.
const JOINTS: &str =
    "and & + - – — .. … / ~ to through thru until till or bis und oder a hasta y o à et ou";
/// What joins the ends of a range.
const DASHES: [&str; 5] = ["..", "…", "–", "—", "-"];

/// What a person asked for within a feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The ids of the tasks in the order of the list, empty for all.
    pub tasks: Vec<String>,
    /// The words for the agent, as they were typed.
    pub words: String,
}

impl Selection {
    /// Returns what these words ask for of a list with these bytes; `literal` are words for the agent, whatever they
    /// look like.
    pub fn of(words: &str, literal: &str, list: &TaskList, text: &[u8]) -> Result<Self, Refusal> {
        let mut reader = TaskReader {
            list,
            text,
            marks: vec![false; list.tasks.len()],
            optional: Vec::new(),
            number: None,
        };
        let mut rest = words.trim_matches(is_gap);
        while let Some(after) = reader.take(rest)? {
            let (joint, behind) = first_item(after);
            let joined = is_joint(joint).then(|| reader.take(behind)).transpose()?;
            rest = joined.flatten().unwrap_or(after).trim_start_matches(is_gap);
        }
        let tasks = reader.selected();
        // `phase 1, 2` asks for more than what was found.
        let (word, behind) = first_item(rest);
        let next = first_item(behind).0;
        let is_joined = JOINTS.split(' ').any(|joint| joint == word) && is_part_number(next);
        if !tasks.is_empty() && (is_joined || is_number(word)) {
            return Err(not_clear(if is_joined { next } else { word }));
        }
        if tasks.is_empty() && rest.len() < words.trim_matches(is_gap).len() {
            let typed = printable(words.trim_end_matches(rest).trim());
            return Err(Refusal::new(
                format!("no task that counts is among `{typed}`"),
                "name other tasks; optional ones count with --include-optional",
            ));
        }
        // One word alone is sooner a name that was mistyped.
        if tasks.is_empty()
            && literal.is_empty()
            && !rest.is_empty()
            && first_item(rest).1.is_empty()
        {
            return Err(Refusal::new(
                format!("there is no feature and no task `{}`", printable(rest)),
                "name one that exists; words that are only for the agent go after ` -- `",
            ));
        }
        if let Some(number) = reader.number.filter(|_| !rest.is_empty()) {
            return Err(not_clear(number));
        }
        let words = [rest, literal].map(str::trim).join(" ").trim().to_owned();
        let letters = words.chars().count();
        if letters > MOST {
            return Err(Refusal::new(
                format!(
                    "the words for the agent are {letters} characters long, and {MOST} are the most"
                ),
                "write them into a file of the project, and name that file",
            ));
        }
        reader.refuse_tasks_in(rest)?;
        Ok(Self { tasks, words })
    }
}

struct TaskReader<'a> {
    list: &'a TaskList,
    text: &'a [u8],
    marks: Vec<bool>,
    /// The ids of optional tasks that were named.
    optional: Vec<String>,
    /// A task that was named by digits alone: they may be the first words for the agent as well.
    number: Option<&'a str>,
}

impl<'a> TaskReader<'a> {
    /// Takes in what selects tasks at the start of a text and returns what stands behind it, `None` where nothing does.
    fn take(&mut self, text: &'a str) -> Result<Option<&'a str>, Refusal> {
        let (word, after) = first_item(text);
        let word = word.trim_end_matches([':', ';', '.']);
        if let Some(task) = self.task(word) {
            if !word.contains(|letter: char| letter.is_alphabetic()) {
                self.number = Some(word);
            }
            let (joint, behind) = first_item(after);
            let (end, after_end) = first_item(behind);
            if DASHES.contains(&joint) || matches!(joint, "to" | "through") {
                if let Some(last) = self.task(end) {
                    self.mark_range(task, last)?;
                    return Ok(Some(after_end));
                }
                if is_like_task(end) {
                    return Err(self.no_task(end));
                }
            }
            self.mark(|it| it.stem() == task.stem());
            if task.aside == Some(AsideKind::Optional) {
                self.optional.push(task.id.clone());
            }
            return Ok(Some(after));
        }
        for dash in DASHES {
            let Some((from, to)) = word.split_once(dash) else { continue };
            let to = to.trim_start_matches('.');
            match (self.task(from), self.task(to)) {
                (Some(from), Some(to)) => {
                    self.mark_range(from, to)?;
                    return Ok(Some(after));
                }
                (None, to) if is_like_task(from) && (to.is_some() || dash != "-") => {
                    return Err(self.no_task(from));
                }
                (Some(_), None) => return Err(self.no_task(to)),
                _ => {}
            }
        }
        if let Some(label) = story_of(word) {
            if self.list.mark_story(self.text, &label, &mut self.marks) {
                return Ok(Some(after));
            }
            return Err(Refusal::new(format!("no task of {TASKS} is labeled `[{label}]`"), LIST));
        }
        if let Some(end) = self.list.mark_part(self.text, text, &mut self.marks) {
            return Ok(Some(&text[end..]));
        }
        // Behind what was named, a word is sooner one for the agent than a slip.
        let slips = usize::from(!self.marks.contains(&true));
        if let Some((part, after)) = self.part_at(text, slips) {
            let number = part.rsplit(' ').next().unwrap_or_default();
            if part.to_lowercase().contains("story")
                && self.list.mark_story(self.text, &format!("US{number}"), &mut self.marks)
            {
                return Ok(Some(after));
            }
            return Err(self.no_part(part));
        }
        if is_like_task(word) { Err(self.no_task(word)) } else { Ok(None) }
    }

    fn task(&self, id: &str) -> Option<&'a Task> {
        self.list.find(id)
    }

    fn mark(&mut self, is_meant: impl Fn(&Task) -> bool) {
        for (task, mark) in self.list.tasks.iter().zip(&mut self.marks) {
            *mark |= is_meant(task);
        }
    }

    /// Marks a range by the numbers of the tasks, or by their places where they have none.
    fn mark_range(&mut self, from: &Task, to: &Task) -> Result<(), Refusal> {
        let numbered = |task| Some((head(task), number_behind(head(task), task)?));
        let backwards = || {
            let (from, to) = (printable(&from.id), printable(&to.id));
            Refusal::new(format!("`{from}-{to}` runs backwards"), format!("write `{to}-{from}`"))
        };
        match (numbered(from), numbered(to)) {
            (Some((head, first)), Some((other, last))) if head == other => {
                if first > last {
                    return Err(backwards());
                }
                self.mark(|task| {
                    number_behind(head, task).is_some_and(|it| (first..=last).contains(&it))
                });
            }
            _ if from.mark_at > to.mark_at => return Err(backwards()),
            _ => self.mark(|task| (from.mark_at..=to.mark_at).contains(&task.mark_at)),
        }
        Ok(())
    }

    /// The ids of what is marked, and of the tasks nested in it.
    fn selected(&self) -> Vec<String> {
        let mut marks = self.marks.clone();
        for (place, task) in self.list.tasks.iter().enumerate() {
            if self.marks[place] {
                marks[place..=place + self.list.nested_in(task).len()].fill(true);
            }
        }
        let all = self.list.tasks.iter().zip(marks);
        let all = all.filter(|(_, mark)| *mark).map(|(task, _)| task.id.clone());
        let mut all: Vec<String> = all.collect();
        all.extend(
            self.optional.iter().filter(|id| !all.contains(id)).cloned().collect::<Vec<_>>(),
        );
        all
    }

    /// Refuses words for the agent that look as if they were to select tasks.
    fn refuse_tasks_in(&self, words: &str) -> Result<(), Refusal> {
        let is_end = |letter: char| is_gap(letter) || "()[]\"'`;:!?".contains(letter);
        for (at, _) in words.match_indices(|letter: char| !is_end(letter)) {
            if words[..at].ends_with(|letter: char| !is_end(letter)) {
                continue;
            }
            let rest = &words[at..];
            let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
            let mut parts = word.split(['-', '–', '—', '…']).flat_map(|part| part.split(".."));
            let word = word.trim_end_matches('.');
            if parts.any(|part| is_like_task(part.trim_end_matches('.')))
                || (word.starts_with(char::is_alphabetic) && self.task(word).is_some())
                || story_of(word).is_some()
                || is_like_feature(word)
            {
                return Err(not_clear(word));
            }
            if let Some((part, _)) = self.part_at(rest, 0) {
                return Err(not_clear(part));
            }
        }
        Ok(())
    }

    /// What looks like a part at the start of a text, such as `phase 2` or `week 3` of a list with weeks, with at most so many slips,
    /// and what stands behind it.
    fn part_at<'b>(&self, text: &'b str, slips: usize) -> Option<(&'b str, &'b str)> {
        let (word, after) = first_item(text);
        let (word, after) =
            if word.eq_ignore_ascii_case("user") { first_item(after) } else { (word, after) };
        let (number, rest) = first_item(after);
        let bare = number.trim_end_matches([':', ';', '.']);
        // Two words and no more name sooner a part than work, as `fase dos` does.
        let is_whole = slips > 0 && rest.is_empty() && !bare.is_empty();
        let is_vowel = "aeiouy".contains(&bare.to_lowercase());
        let is_letter = bare.len() == 1 && bare.is_ascii() && (is_whole || !is_vowel);
        let has_number = is_part_number(bare) || is_letter;
        if !has_number && !is_whole {
            return None;
        }
        let slips = if has_number { slips } else { 0 };
        let word = word.to_lowercase();
        let one = word.strip_suffix("ies").map(|stem| stem.to_owned() + "y");
        let one = one.unwrap_or_else(|| word.trim_end_matches('s').to_owned());
        let is_meant = |kind: &str| distance(kind, &one) <= slips;
        let is_kind = |task: &Task| {
            let (kind, number) = first_item(&task.phase);
            number.trim_start().starts_with(|letter: char| letter.is_ascii_digit())
                && is_meant(&kind.to_lowercase())
        };
        let is_part =
            (has_number && PARTS.split(' ').any(is_meant)) || self.list.tasks.iter().any(is_kind);
        let end = text.len() - rest.len() - (number.len() - bare.len());
        is_part.then(|| (text[..end].trim_matches(is_gap), rest))
    }

    fn no_part(&self, part: &str) -> Refusal {
        let mut headings: Vec<&str> = self.list.tasks.iter().map(|task| &*task.phase).collect();
        headings.dedup();
        let quoted = |heading: &&str| format!("`{}`", text::title(heading, 60));
        let shown = few(&mut headings.iter().map(quoted), SHOWN);
        Refusal::new(
            format!("{TASKS} has no heading `{}`", printable(part)),
            format!("its headings are {shown}; words that are only for the agent go after ` -- `"),
        )
    }

    fn no_task(&self, id: &str) -> Refusal {
        if let Some(aside) = self.list.asides().iter().find(|aside| aside.has_word(id)) {
            return Refusal::new(aside.told(), LIST);
        }
        let capital = id.to_ascii_uppercase();
        let near =
            self.list.tasks.iter().map(|task| (distance(&task.id, &capital), &task.id)).min();
        let next = match near {
            Some((apart, near)) if apart * 2 < near.len() => {
                format!("did you mean `{}`? `spool task list` shows all", printable(near))
            }
            _ => LIST.to_owned(),
        };
        Refusal::new(format!("there is no task `{}` in {TASKS}", printable(id)), next)
    }
}

fn is_joint(word: &str) -> bool {
    matches!(word, "and" | "&" | "+")
}

/// Whether a word is the number of a part, or several: `2`, `3.1`, `1-2`, `4/5`, `m3`, `iv`, `two`.
fn is_part_number(word: &str) -> bool {
    let bare = word.trim_end_matches([':', ';', '.']);
    let digits = bare.trim_matches(|letter: char| letter.is_ascii_alphabetic());
    let digits = if digits.len() + 1 < bare.len() { bare } else { digits };
    let is_roman =
        !bare.is_empty() && bare.to_lowercase().chars().all(|letter| "ivx".contains(letter));
    is_number(digits)
        || is_roman
        || NUMBERS.split(' ').any(|number| number.eq_ignore_ascii_case(bare))
}

fn is_number(word: &str) -> bool {
    let word = word.trim_end_matches([':', ';', '.']);
    word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.chars().all(|letter| letter.is_ascii_digit() || ".-–/+&~…—".contains(letter))
}

const LIST: &str = "`spool task list` shows the tasks";

fn not_clear(word: &str) -> Refusal {
    Refusal::new(
        format!("`{}` may be a part of the work or a word for the agent", printable(word)),
        "name the tasks first, such as `001-login T001-T005 US1 use python 3.12`; what is only for the agent goes after ` -- `",
    )
}

/// Returns which of these tasks are done, in words for a person, `None` for none.
pub fn done_already(list: &TaskList) -> Option<String> {
    let done: Vec<&str> =
        list.tasks.iter().filter(|task| task.done).map(|task| task.id.as_str()).collect();
    match done.len() {
        0 => None,
        1..=8 => Some(format!("Done already: {}.", done.join(", "))),
        many => Some(format!("Done already: {}.", counted(many as u64, "task"))),
    }
}

fn is_gap(letter: char) -> bool {
    letter == ',' || letter.is_whitespace()
}

/// The first word of a text, also up to a comma, and what stands behind it.
fn first_item(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(is_gap);
    text.split_at(text.find(is_gap).unwrap_or(text.len()))
}

/// What stands before the first number of an id with a letter in front, before the last one otherwise: `T` of `T004.F1`.
fn head(task: &Task) -> &str {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let id = task.id.as_str();
    if id.starts_with(is_digit) {
        return id.trim_end_matches(is_digit);
    }
    &id[..id.find(is_digit).unwrap_or(id.len())]
}

fn number_behind(head: &str, task: &Task) -> Option<u64> {
    let rest = task.id.strip_prefix(head)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// The label that a word asks for: `US1`.
fn story_of(word: &str) -> Option<String> {
    let (us, number) = word.split_at_checked(2)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (us.eq_ignore_ascii_case("us") && is_number).then(|| format!("US{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scope::in_runs;

    const TEXT: &str = "\
## Phase 1: Setup
- [x] T001 a
- [ ] T002 b
## Phase 2: User Story 1 - Login
- [ ] T003 [US1] c
- [ ] T004 [P] [US1] d
- [ ] T004.F1 [FIX T004] e
## Phase 3: Polish
- [ ] T010 f
- [ ] TASK-7 g
- [ ] 2.1 h
";

    fn asked(words: &str) -> Result<(String, String), String> {
        asked_with(words, "")
    }

    fn asked_with(words: &str, literal: &str) -> Result<(String, String), String> {
        let list = TaskList::parse(TEXT.as_bytes());
        let found = Selection::of(words, literal, &list, TEXT.as_bytes());
        found.map(|it| (in_runs(&it.tasks), it.words)).map_err(|error| error.to_string())
    }

    fn tasks(words: &str) -> String {
        let (tasks, rest) = asked(words).unwrap_or_else(|error| panic!("{words}: {error}"));
        assert_eq!(rest, "", "{words}");
        tasks
    }

    fn refused(words: &str) -> String {
        asked(words).expect_err(words)
    }

    #[test]
    fn several_parts_are_never_the_first() {
        for words in [
            "phase 1 - 3",
            "phase 1 – 3",
            "phase 2 to 3",
            "phase 1 through 3",
            "phase 1 until 3",
            "phase 1 bis 3",
            "phase 1 or 2",
            "phase 1 to three",
            "phase 1+2",
            "phase 1 + 2",
            "phase 20a",
            "phase b",
            "wave c",
            "wave c fast",
            "phase a",
            "phase dos",
        ] {
            refused(words);
        }
        assert_eq!(asked("phase 1 use 3 threads").unwrap().1, "use 3 threads");
        assert_eq!(asked("phase out the old page").unwrap().1, "phase out the old page");
        assert_eq!(asked("stage it").unwrap().1, "stage it");
    }

    #[test]
    fn tasks_are_selected_by_id_range_story_and_phase() {
        assert_eq!(tasks(""), "");
        assert_eq!(tasks("T001 T003"), "T001, T003");
        assert_eq!(tasks("t002, T010 and task-7"), "T002, T010, TASK-7");
        assert_eq!(tasks("T001-T003"), "T001-T003");
        for range in ["T002..T003", "T002...T003", "T002–T003", "T002 - T003", "T002 to T003"] {
            assert_eq!(tasks(range), "T002, T003", "{range}");
        }
        assert_eq!(tasks("US1"), tasks("us1"));
        assert_eq!(tasks("phase 1"), "T001, T002");
        assert_eq!(tasks("Phase 3: Polish"), "T010, TASK-7, 2.1");
        assert_eq!(tasks("phase 1 T010"), "T001, T002, T010");
        assert_eq!(tasks("2.1"), "2.1");
    }

    #[test]
    fn a_task_takes_what_is_nested_in_it_and_a_range_what_has_its_numbers() {
        assert_eq!(tasks("T003-T010"), "T003, T004, T004.F1, T010");
        let text = b"- [ ] T001 a\n  - [ ] T002 b\n    - [ ] T003 c\n- [ ] T004 d\n";
        let found = Selection::of("T001", "", &TaskList::parse(text), text).unwrap();
        assert_eq!(found.tasks, ["T001", "T002", "T003"]);
    }

    #[test]
    fn words_behind_the_tasks_are_for_the_agent_letter_for_letter() {
        let words = |text: &str| asked(text).unwrap();
        let both = |tasks: &str, words: &str| (tasks.to_owned(), words.to_owned());
        assert_eq!(words("use python 3.12"), both("", "use python 3.12"));
        assert_eq!(
            words("T001-T003 use  python,\n\t3.12"),
            both("T001-T003", "use  python,\n\t3.12")
        );
        assert_eq!(words("phase 2 only"), both("T003, T004, T004.F1", "only"));
        assert_eq!(
            words("Phase 2: User Story 1 - Login and mocks"),
            both("T003, T004, T004.F1", "and mocks")
        );
        assert_eq!(words("T002 and be quick"), both("T002", "and be quick"));
        assert_eq!(
            words("phase out the old API, task by task"),
            both("", "phase out the old API, task by task")
        );
        assert_eq!(
            asked_with("T002 fast", "as in T003, phase 2").unwrap(),
            both("T002", "fast as in T003, phase 2")
        );
    }

    #[test]
    fn what_looks_like_a_task_and_is_none_is_refused_with_the_nearest() {
        for (words, near) in [
            ("T0O1", "did you mean `T001`?"),
            ("T001 T05", "there is no task `T05`"),
            ("T001-T005", "there is no task `T005`"),
            ("T1-T003", "there is no task `T1`"),
            ("T001 to T099", "there is no task `T099`"),
            ("US7", "no task of tasks.md is labeled `[US7]`"),
            ("phase 9", "no heading `phase 9`"),
            ("fase 9: x", "no heading `fase 9`"),
            ("phase IX", "its headings are `Phase 1: Setup`"),
            ("T003-T001", "write `T001-T003`"),
        ] {
            assert!(refused(words).contains(near), "{words}: {}", refused(words));
        }
    }

    #[test]
    fn words_that_may_select_tasks_are_not_taken_for_words_to_the_agent() {
        for words in [
            "only T001 please",
            "tasks T001-T003",
            "do (T002) first",
            "implement US1",
            "stop after phase 2",
            "T001 then T003",
            "use python T0O1",
            "T001 001-login",
            "2.1 is the version",
            "go on at 002-other",
            "as in task-7 before",
        ] {
            assert!(refused(words).contains("may be a part of the work"), "{words}");
        }
        assert!(refused("quickly").contains("no feature and no task `quickly`"));
        assert_eq!(asked_with("", "quickly").unwrap().1, "quickly");
        assert!(asked("use t3.micro and Tokio 1.0, USB, phase-locked").is_ok());
    }

    #[test]
    fn long_words_belong_into_a_file() {
        assert!(asked(&"é ".repeat(1_000)).is_ok());
        assert!(refused(&"é ".repeat(1_001)).contains("2001 characters"));
        // They are not searched for tasks first, which would take long.
        assert!(refused(&"x phase 2 ".repeat(1_000)).contains("9999 characters"));
    }
}
