//! Finds the tasks that a person asks for, and the words for the agent behind them. A word that looks like a task is
//! refused if the list lacks it or the word stands elsewhere: no loop is armed on a guess.

use super::{is_like_feature, is_like_task};
use crate::engine::AsideKind;
use crate::engine::order::few;
use crate::engine::scope::{Heading, Headings, NUMBERS, bare, form_of, is_numeral};
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TASKS;
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::text::{self, distance};

/// Most characters for the agent: each compaction repeats them.
const MOST: usize = 2_000;
/// Headings that are named.
const SHOWN: usize = 8;
/// Words for a part of any list.
const PARTS: &str = "phase story stories wave step stage milestone sprint fase etapa paso \u{e9}tape schritt \u{9636}\u{6bb5} \u{30d5}\u{30a7}\u{30fc}\u{30ba}";
/// Words between numbers: `phase 1 to 3`.
const JOINTS: &str =
    "and & + - – — .. … / ~ to through thru until till or bis und oder a hasta y o à et ou";
/// Signs between the ends of a range.
const DASHES: [&str; 5] = ["..", "…", "–", "—", "-"];
const LIST: &str = "`spool task list` shows the tasks";

/// The part of a feature that a person asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Ids in the order of the list; empty for all tasks.
    pub tasks: Vec<String>,
    /// Words for the agent, as typed.
    pub words: String,
}

impl Selection {
    /// Finds the tasks of `words` in a list and its bytes. `literal` goes to the agent unread. `features` lists the
    /// features for an error.
    pub fn of(
        words: &str,
        literal: &str,
        (list, text): (&TaskList, &[u8]),
        features: impl FnOnce() -> String,
    ) -> Result<Self, Refusal> {
        let marks = vec![false; list.tasks.len()];
        let headings = Headings::of(text);
        let mut reader =
            TaskReader { list, text, headings, marks, optional: Vec::new(), number: None };
        let words = words.trim_matches(is_gap);
        let mut rest = words;
        while let Some(after) = reader.take(rest)? {
            rest = after.trim_start_matches(is_gap);
        }
        let tasks = reader.selected();
        if tasks.is_empty() && rest.len() < words.len() {
            let typed = printable(words.trim_end_matches(rest).trim());
            return Err(Refusal::new(
                format!("no task that counts is among `{typed}`"),
                "name other tasks; optional ones count with --include-optional",
            ));
        }
        // A single word is likely a mistyped name.
        if tasks.is_empty() && !rest.is_empty() && item(rest).1.is_empty() {
            return Err(Refusal::new(
                format!("there is no feature and no task `{}`", printable(rest)),
                format!(
                    "{}; {LIST}; words that are only for the agent go after ` -- `",
                    features()
                ),
            ));
        }
        let words = [rest, literal].map(str::trim).join(" ").trim().to_owned();
        let letters = words.chars().count();
        if letters > MOST {
            let what = format!(
                "the words for the agent are {letters} characters long, and {MOST} are the most"
            );
            let next = "write them into a file of the project, and name that file";
            return Err(Refusal::new(what, next));
        }
        if let Some(word) = reader.unclear(rest) {
            return Err(Refusal::new(
                format!("`{}` may be a part of the work or a word for the agent", printable(word)),
                "name the tasks first, such as `001-login T001-T005 US1 use python 3.12`; what is only for the agent goes after ` -- `",
            ));
        }
        Ok(Self { tasks, words })
    }
}

struct TaskReader<'a> {
    list: &'a TaskList,
    text: &'a [u8],
    headings: Headings,
    marks: Vec<bool>,
    /// Ids of optional tasks that were named.
    optional: Vec<String>,
    /// A task named by digits alone: they may also be the first words for the agent.
    number: Option<&'a str>,
}

impl<'a> TaskReader<'a> {
    /// Takes the selection of tasks at the beginning of the text and returns the rest; `None` without a selection.
    fn take(&mut self, text: &'a str) -> Result<Option<&'a str>, Refusal> {
        let (word, after) = item(text);
        if self.has_some() && matches!(word, "and" | "&" | "+") {
            return self.take(after);
        }
        if let Some(task) = self.task(word) {
            let (joint, behind) = item(after);
            let (last, behind) = item(behind);
            if matches!(joint, "onwards" | "onward" | "ff") {
                let end = self.list.tasks.last().map_or("", |last| &last.id);
                let what = format!("`{word} {joint}` names no last task");
                return Err(Refusal::new(what, format!("write `{word}-{end}`; {LIST}")));
            }
            if (DASHES.contains(&joint) || matches!(joint, "to" | "through")) && self.is_task(last)
            {
                self.mark_range(word, last)?;
                return Ok(Some(behind));
            }
            self.number =
                Some(word).filter(|word| !word.contains(char::is_alphabetic)).or(self.number);
            if task.aside == Some(AsideKind::Optional) {
                self.optional.push(task.id.clone());
            }
            self.mark(|other| other.stem() == task.stem());
            return Ok(Some(after));
        }
        if let Some((first, last)) = DASHES.iter().find_map(|dash| word.split_once(dash)) {
            let last = last.trim_start_matches('.');
            if self.task(first).is_some() || (is_like_task(first) && self.is_task(last)) {
                self.mark_range(first, last)?;
                return Ok(Some(after));
            }
        }
        if let Some(end) = self.headings.mark(self.list, text, &mut self.marks) {
            return Ok(Some(&text[end..]));
        }
        // After a named task, a word with a typo is more likely meant for the agent.
        if let Some((part, after)) = self.part_at(text, usize::from(!self.has_some())) {
            let number = part.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            let kind = part[..part.len() - number.len()].trim_end().to_lowercase();
            let label = format!("US{number}");
            if (kind == "us" || kind.ends_with("story"))
                && self.list.mark_story(self.text, &label, &mut self.marks)
            {
                return Ok(Some(after));
            }
            return Err(if kind == "us" {
                Refusal::new(format!("no task of {TASKS} is labeled `[{label}]`"), LIST)
            } else {
                self.no_part(part)
            });
        }
        if is_like_task(word) { Err(self.no_task(word)) } else { Ok(None) }
    }

    fn task(&self, id: &str) -> Option<&'a Task> {
        self.list.find(id)
    }

    fn is_task(&self, word: &str) -> bool {
        is_like_task(word) || self.task(word).is_some()
    }

    fn has_some(&self) -> bool {
        self.marks.contains(&true) || !self.optional.is_empty()
    }

    fn mark(&mut self, is_meant: impl Fn(&Task) -> bool) {
        for (task, mark) in self.list.tasks.iter().zip(&mut self.marks) {
            *mark |= is_meant(task);
        }
    }

    /// Marks a range by the tasks' numbers, or by their places if they have none.
    fn mark_range(&mut self, first: &str, last: &str) -> Result<(), Refusal> {
        let [from, to] = [first, last].map(|id| self.task(id).ok_or_else(|| self.no_task(id)));
        let (from, to) = (from?, to?);
        let numbers = numbered(&from.id).zip(numbered(&to.id));
        let numbers = numbers.filter(|((head, _), (other, _))| head == other);
        let is_backwards = match numbers {
            Some(((_, from), (_, to))) => from > to,
            None => from.mark_at > to.mark_at,
        };
        if is_backwards {
            let (from, to) = (printable(&from.id), printable(&to.id));
            return Err(Refusal::new(
                format!("`{from}-{to}` runs backwards"),
                format!("write `{to}-{from}`"),
            ));
        }
        self.mark(|task| match numbers {
            Some(((head, from), (_, to))) => numbered(&task.id)
                .is_some_and(|(other, number)| other == head && (from..=to).contains(&number)),
            None => (from.mark_at..=to.mark_at).contains(&task.mark_at),
        });
        Ok(())
    }

    /// Ids of the marked tasks, and of tasks nested in them.
    fn selected(&self) -> Vec<String> {
        let mut marks = self.marks.clone();
        for (place, task) in self.list.tasks.iter().enumerate().filter(|(at, _)| self.marks[*at]) {
            marks[place..=place + self.list.nested_in(task).len()].fill(true);
        }
        let marked = self.list.tasks.iter().zip(marks).filter(|(_, mark)| *mark);
        let mut ids: Vec<String> = marked.map(|(task, _)| task.id.clone()).collect();
        let optional = self.optional.iter().filter(|id| !ids.contains(id));
        let optional: Vec<String> = optional.cloned().collect();
        ids.extend(optional);
        ids
    }

    /// The first word for the agent that looks like a task.
    fn unclear(&self, words: &'a str) -> Option<&'a str> {
        let (word, behind) = item(words);
        let next = item(behind).0;
        // `phase 1, 2` asks for more than one part.
        if self.has_some() && word.starts_with(is_digit) && !word.contains(char::is_alphabetic) {
            return Some(word);
        }
        if self.has_some() && JOINTS.split(' ').any(|joint| joint == word) && is_number(next) {
            return Some(next);
        }
        if !words.is_empty() && self.number.is_some() {
            return self.number;
        }
        let is_end = |letter: char| is_gap(letter) || "()[]\"'`;:!?".contains(letter);
        let mut rest = words.trim_start_matches(is_end);
        while !rest.is_empty() {
            let (word, behind) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
            let ends =
                word.split(['-', '–', '—', '…']).flat_map(|end| end.split("..")).chain([word]);
            let mut ends = ends.map(|end| end.trim_end_matches('.'));
            let word = word.trim_end_matches('.');
            if is_like_feature(word) || ends.any(|end| self.is_task(end)) {
                return Some(word);
            }
            if let Some((part, _)) = self.part_at(rest, 0) {
                return Some(part);
            }
            rest = behind.trim_start_matches(is_end);
        }
        None
    }

    /// The name of a part at the beginning of the text, and the rest: `US1`, `phase 2`, a name in the form of the
    /// list's own headings, or a word and a number alone. `slips`: typos that are forgiven.
    fn part_at(&self, text: &'a str, slips: usize) -> Option<(&'a str, &'a str)> {
        let has = |form: String| form == "us#" || self.headings.kinds.contains(&form);
        let (mut kind, mut after) = item(text);
        if form_of(&bare(kind)).is_some_and(has) {
            return Some((kind, after));
        }
        let (second, third) = item(after);
        let second = bare(if second == "user" { item(third).0 } else { second });
        let is_place = matches!(&*bare(kind), "first" | "next" | "last" | "final" | "previous");
        let is_first = (kind.starts_with(is_numeral) && has(format!("# {second}")))
            || (is_place && PARTS.split(' ').any(|part| part == second));
        if kind.eq_ignore_ascii_case("user") {
            (kind, after) = item(after);
        }
        let (number, rest) = item(after);
        let part = text[..text.len() - rest.len()].trim_matches(is_gap);
        // Exactly two words, such as `fase dos`, name a part rather than work.
        let is_whole = slips > 0 && rest.is_empty() && !number.is_empty();
        let is_vowel = "aeiouy".contains(&number.to_lowercase());
        let is_letter =
            number.chars().count() == 1 && (is_whole || (number.is_ascii() && !is_vowel));
        let has_number = is_number(number) || number.contains(is_numeral) || is_letter;
        let is_alone = slips > 0 && (is_whole || rest.starts_with(',') || part.ends_with(':'));
        let slips = if has_number { slips } else { 0 };
        let kind = bare(kind);
        let is_meant = |known: &str| {
            known == kind
                || kind.strip_suffix('s') == Some(known)
                || (slips > 0 && distance(known, &kind) <= slips)
        };
        let is_own = || self.headings.kinds.iter().any(|own| is_meant(own));
        let is_part = is_first
            || (has_number && PARTS.split(' ').any(is_meant))
            || ((has_number || is_whole) && is_own())
            || (is_alone
                && number.starts_with(is_numeral)
                && kind.chars().all(char::is_alphabetic));
        is_part.then(|| (part.trim_end_matches([':', ';', '.']), rest))
    }

    fn no_part(&self, part: &str) -> Refusal {
        let quoted = |heading: &Heading| format!("`{}`", text::title(&heading.title, 60));
        let shown = few(&mut self.headings.all.iter().map(quoted), SHOWN);
        let there = if shown.is_empty() { LIST } else { &format!("its headings are {shown}") };
        Refusal::new(
            format!("{TASKS} has no heading `{}`", printable(part)),
            format!("{there}; words that are only for the agent go after ` -- `"),
        )
    }

    fn no_task(&self, id: &str) -> Refusal {
        if let Some(aside) = self.list.asides().iter().find(|aside| aside.has_word(id)) {
            return Refusal::new(aside.told(), LIST);
        }
        let near = text::nearest(id, self.list.tasks.iter().map(|task| &*task.id));
        let meant = near.map(|near| format!("did you mean `{}`? ", printable(near)));
        let next = meant.unwrap_or_default() + LIST;
        Refusal::new(format!("there is no task `{}` in {TASKS}", printable(id)), next)
    }
}

/// Numbers of parts: `2`, `3.1`, `1-2`, `4/5`, `m3`, `iv`, `two`.
fn is_number(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_roman = !word.is_empty() && word.chars().all(|letter| "ivx".contains(letter));
    word.find(is_digit).is_some_and(|at| at < 2)
        || is_roman
        || NUMBERS.split(' ').any(|number| number == word)
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn is_gap(letter: char) -> bool {
    letter == ',' || letter.is_whitespace()
}

/// The first word, up to a blank or comma, without a full stop at its end; and the rest.
fn item(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(is_gap);
    let (word, rest) = text.split_at(text.find(is_gap).unwrap_or(text.len()));
    let bare = word.trim_end_matches([':', ';', '.']);
    (if bare.is_empty() { word } else { bare }, rest)
}

/// An id's number, and the text before it. The first number behind a letter counts, otherwise the last: `T` and 4 in
/// `T004.F1`, `2.` and 1 in `2.1`.
fn numbered(id: &str) -> Option<(&str, u64)> {
    let start = if id.starts_with(is_digit) {
        id.trim_end_matches(is_digit).len()
    } else {
        id.find(is_digit)?
    };
    let (head, number) = id.split_at(start);
    let digits = number.find(|letter| !is_digit(letter)).unwrap_or(number.len());
    Some((head, number[..digits].parse().ok()?))
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
        let found = Selection::of(words, literal, (&list, TEXT.as_bytes()), String::new);
        found.map(|found| (in_runs(&found.tasks), found.words)).map_err(|error| error.to_string())
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
    fn headings_say_what_a_part_is() {
        let text = "# Tasks\n## Milestone M2: Beta\n- [ ] T1 a\n## Story US-12: Pay\n- [ ] T2 b\n## Krok II\n- [ ] T3 c\n\
            ## Iteration #4\n### Model\n- [ ] T4 d\n## Part B\n- [ ] T5 e\n## 3. f\u{e1}ze: Konec\n- [ ] T6 f\n\
            ## \u{7b2c}\u{4e00}\u{9636}\u{6bb5}\u{ff1a}\u{57fa}\n- [ ] T7 g\n## Block Two (late)\n- [ ] T8 h\n";
        let list = TaskList::parse(text.as_bytes());
        let of = |words: &str| Selection::of(words, "", (&list, text.as_bytes()), String::new);
        for (words, tasks, rest) in [
            ("milestone m2", "T1", ""),
            ("M2 fast", "T1", "fast"),
            ("story US-12", "T2", ""),
            ("us-12", "T2", ""),
            ("krok ii", "T3", ""),
            ("iteration 4", "T4", ""),
            ("Iteration #4 fast", "T4", "fast"),
            ("model", "T4", ""),
            ("part b", "T5", ""),
            ("3. f\u{e1}ze now", "T6", "now"),
            ("\u{7b2c}\u{4e00}\u{9636}\u{6bb5} now", "T7", "now"),
            ("block two", "T8", ""),
            ("use 3 threads", "", "use 3 threads"),
            ("part of it is done", "", "part of it is done"),
            ("model 2.0 is wanted", "", "model 2.0 is wanted"),
        ] {
            let found = of(words).unwrap_or_else(|error| panic!("{words}: {error}"));
            assert_eq!(
                (found.tasks.join(" ").as_str(), found.words.as_str()),
                (tasks, rest),
                "{words}"
            );
        }
        for words in [
            "milestone m3",
            "M3 fast",
            "story US-13 now",
            "US-13 now",
            "krok 2",
            "krok 2 now",
            "iteration 5",
            "iterations 5 now",
            "part c",
            "part c now",
            "4. f\u{e1}ze now",
            "\u{7b2c}\u{4e8c}\u{9636}\u{6bb5} now",
            "block three now",
            "batch 7",
            "batch 7: all of it",
        ] {
            let why = of(words).expect_err(words).to_string();
            let shown = why.contains("has no heading") && why.contains("`Milestone M2: Beta`");
            assert!(shown, "{words}: {why}");
        }
    }

    #[test]
    fn ids_ranges_and_stories_select() {
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
    fn part_without_number_is_refused() {
        for words in ["first phase", "Next phase", "last stage: fast", "first user story"] {
            let why = asked(words).unwrap_err();
            assert!(why.contains("`Phase 1: Setup`, `Phase 2: User Story 1 - Login`"), "{why}");
        }
        assert!(asked("do the next phase").unwrap_err().contains("`next phase` may be a part"));
        assert!(asked("T003 onwards").unwrap_err().contains("write `T003-2.1`"));
        assert_eq!(asked("take the last word").unwrap().1, "take the last word");
    }

    #[test]
    fn task_takes_its_nested_tasks() {
        assert_eq!(tasks("T003-T010"), "T003, T004, T004.F1, T010");
        let text = b"- [ ] T001 a\n  - [ ] T002 b\n    - [ ] T003 c\n- [ ] T004 d\n";
        let found = Selection::of("T001", "", (&TaskList::parse(text), text), String::new).unwrap();
        assert_eq!(found.tasks, ["T001", "T002", "T003"]);
    }

    #[test]
    fn words_after_tasks_stay_whole() {
        let words = |text: &str| asked(text).unwrap();
        let both = |tasks: &str, words: &str| (tasks.to_owned(), words.to_owned());
        assert_eq!(words("use python 3.12"), both("", "use python 3.12"));
        assert_eq!(
            words("T001-T003 use  python,\n\t3.12"),
            both("T001-T003", "use  python,\n\t3.12")
        );
        assert_eq!(words("phase 2 only"), both("T003, T004, T004.F1", "only"));
        assert_eq!(words("T001 polish phase"), both("T001, T010, TASK-7, 2.1", ""));
        assert_eq!(words("just the login form"), both("", "just the login form"));
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
    fn no_task_names_the_nearest() {
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
    fn selecting_words_are_not_passed() {
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
            "tasks 2.1 T002",
            "just 2.1 please",
            "do 2.1-2.2 and more",
            "finish the 2.1.",
            "all but (2.1)",
            "go on at 002-other",
            "as in task-7 before",
        ] {
            assert!(refused(words).contains("may be a part of the work"), "{words}");
        }
        assert!(refused("quickly").contains("no feature and no task `quickly`"));
        assert_eq!(asked_with("", "quickly").unwrap().1, "quickly");
        assert!(asked("use t3.micro and Tokio 1.0, USB, phase-locked").is_ok());
        assert!(asked_with("quickly", "and well").is_err(), "a name stands before the dashes");
        assert_eq!(asked_with("2.1", "is due").unwrap(), ("2.1".to_owned(), "is due".to_owned()));
    }

    #[test]
    fn long_words_belong_into_a_file() {
        assert!(asked(&"é ".repeat(1_000)).is_ok());
        assert!(refused(&"é ".repeat(1_001)).contains("2001 characters"));
        // They are not searched for tasks first, which would take long.
        assert!(refused(&"x phase 2 ".repeat(1_000)).contains("9999 characters"));
    }
}
