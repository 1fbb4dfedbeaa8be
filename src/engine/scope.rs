//! The part of a task list that a loop is about.

use super::aside::AsideKind;
use super::choice::LONGEST_CHAIN;
use super::edit::split_number;
use super::markdown::{self, Kind};
use super::matched::Matched;
use super::order::{map_of, sorted};
use super::tasks::{Task, TaskList, stem};

/// Words in the kind of a part with its number: `User Story 2`.
const LONGEST_KIND: usize = 4;
/// Words that are read of a heading, and of typed words.
const LONGEST_HEADING: usize = 100;
/// Shorter runs of tasks are named one by one.
const RUN: usize = 3;
pub const NUMBERS: &str = "one two three four five six seven eight nine ten";
const NUMERALS: &str =
    "\u{4e00}\u{4e8c}\u{4e09}\u{56db}\u{4e94}\u{516d}\u{4e03}\u{516b}\u{4e5d}\u{5341}";

impl TaskList {
    /// Keeps every task of these ids, however often the list has it, and its repairs; without ids, the whole list.
    /// Ids are those of the `armed` list, because an agent may number the list anew. Lines that do not count stay if they
    /// lie among these tasks or right above the first.
    pub fn within(mut self, ids: &[String], armed: Option<&Self>) -> Self {
        if ids.is_empty() {
            return self;
        }
        let keys = |ids: &mut dyn Iterator<Item = &str>| {
            map_of(ids.map(|id| (id.to_ascii_uppercase(), ())))
        };
        let wanted = keys(&mut ids.iter().map(|id| stem(id)));
        let whole = keys(&mut ids.iter().map(|id| &**id));
        let matched = armed.map(|armed| Matched::of(armed, &self));
        let is_asked = |task: &&Task| {
            let id = matched.as_ref().map_or(&*task.id, |matched| matched.lasting_id(task));
            // What does not count is taken in only by its whole id.
            match task.aside {
                None => wanted.contains_key(&stem(id).to_ascii_uppercase()),
                Some(_) => whole.contains_key(&id.to_ascii_uppercase()),
            }
        };
        let asked = self.tasks.iter().chain(&self.left_out).filter(is_asked);
        let asked = sorted(asked.map(|task| task.mark_at).collect(), Ord::cmp);
        let is_wanted = |task: &Task| asked.binary_search(&task.mark_at).is_ok();
        self.take_in(is_wanted);
        let by_id = self.by_id();
        let fixed = |task: &Task| by_id.get(task.fixes.as_deref()?).copied();
        let fixed: Vec<Option<usize>> = self.tasks.iter().map(fixed).collect();
        let mut kept: Vec<bool> = self.tasks.iter().map(is_wanted).collect();
        for _ in 0..LONGEST_CHAIN {
            for (place, fixed) in fixed.iter().enumerate() {
                kept[place] |= fixed.is_some_and(|fixed| kept[fixed]);
            }
        }
        let line = |place: usize| self.tasks.get(place).map_or(usize::MAX, |task| task.line);
        let first = kept.iter().position(|kept| *kept).unwrap_or(kept.len());
        let behind = kept.iter().rposition(|kept| *kept).map_or(0, |last| last + 1);
        let before = first.checked_sub(1).map_or(0, line);
        let among = before + 1..line(behind);
        self.left_out.retain(|task| among.contains(&task.line));
        self.unread.retain(|unread| among.contains(&unread.line));
        let mut kept = kept.into_iter();
        self.tasks.retain(|_| kept.next() == Some(true));
        self
    }

    /// Optional tasks count if `counts` is set.
    pub fn with_optional(mut self, counts: bool) -> Self {
        if counts {
            self.take_in(|task| task.aside == Some(AsideKind::Optional));
        }
        self
    }

    /// Moves tasks from `left_out` to `tasks`.
    fn take_in(&mut self, is_wanted: impl Fn(&Task) -> bool) {
        let wanted: Vec<Task> = self.left_out.extract_if(.., |task| is_wanted(task)).collect();
        if !wanted.is_empty() {
            self.tasks.extend(wanted);
            let tasks = std::mem::take(&mut self.tasks);
            self.tasks = sorted(tasks, |one: &Task, other| one.mark_at.cmp(&other.mark_at));
        }
    }

    /// Marks the tasks with a label such as `[US1]`; `true` if there are any.
    pub fn mark_story(&self, text: &[u8], label: &str, marks: &mut [bool]) -> bool {
        let label = format!("[{label}]");
        let has_label = |(task, _): &(&Task, &mut bool)| {
            let block = text.get(task.block.clone()).unwrap_or_default();
            let line = block.split(|byte| *byte == b'\n').next().unwrap_or_default();
            memchr::memmem::find(line, label.as_bytes()).is_some()
        };
        let labeled = self.tasks.iter().zip(marks).filter(has_label);
        labeled.map(|(_, mark)| *mark = true).count() > 0
    }
}

/// The headings of a list: typed words may name the part below one.
#[derive(Default)]
pub struct Headings {
    pub all: Vec<Heading>,
    /// Words before the numbers of parts, and forms of numbers with letters: `phase`, `m#`, `# stage`.
    pub kinds: Vec<String>,
}

pub struct Heading {
    pub title: String,
    /// From 1.
    line: usize,
    level: usize,
    words: Vec<HeadingWord>,
}

impl Headings {
    pub fn of(text: &[u8]) -> Self {
        let mut found = Self::default();
        for (place, line) in markdown::lines(text).iter().enumerate() {
            let Kind::Heading(level) = line.kind else { continue };
            let title = line.title().into_owned();
            let words = HeadingWord::all(&title);
            found.kinds.extend(labels(&words).filter_map(kind_in));
            found.all.push(Heading { line: place + 1, level, title, words });
        }
        found.kinds.dedup();
        found
    }

    /// Marks the tasks under the headings that typed words begin with, inner headings included: `phase 2`, `User Story
    /// 1: Log in`, a whole title. The result is the number of bytes that name them; `None` for no heading.
    pub fn mark(&self, list: &TaskList, typed: &str, marks: &mut [bool]) -> Option<usize> {
        let typed = HeadingWord::all(typed);
        let is = |words: &str, word: &HeadingWord| words.split(' ').any(|known| known == word.text);
        let before = typed.iter().take_while(|word| is("just only the", word)).count();
        let behind = typed.iter().rev().take_while(|word| is("only phase", word)).count();
        // `just the polish phase` is what `polish` is.
        let core = typed.get(before..typed.len() - behind).unwrap_or_default();
        let whole =
            |(end, is_own)| (core.last()?.end == end).then_some((typed.last()?.end, is_own));
        let named = |Heading { words, .. }: &Heading| {
            named_by(words, &typed).or_else(|| named_by(words, core).and_then(whole))
        };
        let named: Vec<_> = self.all.iter().map(named).collect();
        // A whole heading outdoes its beginning, and phase 3 the phases 3.1 and 3.2.
        let best = (*named.iter().max()?)?;
        let place = |line: usize| list.tasks.partition_point(|task| task.line < line);
        let mut inside = None;
        for (at, Heading { line, level, .. }) in self.all.iter().enumerate() {
            let outer = inside.filter(|outer| outer < level);
            inside = outer.or((named[at] == Some(best)).then_some(*level));
            if inside.is_some() {
                let end = self.all.get(at + 1).map_or(usize::MAX, |next| next.line);
                marks[place(*line)..place(end)].fill(true);
            }
        }
        Some(best.0)
    }
}

/// A word without the signs around it.
struct HeadingWord {
    /// In small letters.
    text: String,
    /// The end of the word and the separator behind it, in bytes from the start of the text.
    end: usize,
    /// A colon, a dash or a bracket stands before the word, or nothing.
    begins: bool,
}

impl HeadingWord {
    fn all(text: &str) -> Vec<Self> {
        let (mut words, mut end, mut begins) = (Vec::new(), 0, true);
        let is_end =
            |letter: char| letter.is_whitespace() || matches!(letter, ',' | ':' | '\u{ff1a}');
        for piece in text.split_inclusive(is_end).take(LONGEST_HEADING) {
            end += piece.len();
            let text = bare(piece);
            let is_dash = text.is_empty() && !piece.trim().is_empty();
            begins |= is_dash || piece.starts_with(['(', '\u{ff08}']);
            if !text.is_empty() {
                words.push(Self { text, end, begins });
                begins = false;
            }
            begins |= piece.ends_with([':', '\u{ff1a}']);
        }
        words
    }

    /// A number: `2`, `3.2`, `20a`, `iv`; and `b`, `two` or `m2` with nothing or a title of its own behind it.
    fn is_number(&self, next: Option<&Self>) -> bool {
        let text = &self.text;
        let is_point = |letter: char| is_numeral(letter) || letter == '.';
        let plain = text.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(text);
        let may_be = text.contains(is_numeral)
            || text.chars().nth(1).is_none()
            || NUMBERS.split(' ').any(|number| number == text);
        (text.starts_with(is_numeral) && plain.chars().all(is_point))
            || text.chars().all(|letter| "ivx".contains(letter))
            || (may_be && next.is_none_or(|next| next.begins))
    }
}

/// A word in small letters, without the signs around it.
pub fn bare(word: &str) -> String {
    word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase()
}

pub fn is_numeral(letter: char) -> bool {
    letter.is_numeric() || NUMERALS.contains(letter)
}

/// A word of letters and numerals with one `#` for the numerals in a row; `None` for another word.
pub fn form_of(word: &str) -> Option<String> {
    let mut form = String::new();
    for letter in word.chars() {
        if !is_numeral(letter) {
            form.push(letter);
        } else if !form.ends_with('#') {
            form.push('#');
        }
    }
    (form.contains('#') && form.contains(char::is_alphabetic)).then_some(form)
}

/// The words from each place on where the name of a part may begin.
fn labels(heading: &[HeadingWord]) -> impl Iterator<Item = &[HeadingWord]> {
    let begins = |at: &usize| heading[*at].begins || form_of(&heading[*at].text).is_some();
    (0..heading.len()).filter(begins).map(|at| &heading[at..])
}

/// The place of the number in the name of a part.
fn number_in(label: &[HeadingWord]) -> Option<usize> {
    let is_number = |at: &usize| label[*at].is_number(label.get(at + 1));
    let is_own = form_of(&label[0].text).is_some() && (!label[0].text.is_ascii() || is_number(&0));
    if is_own { Some(0) } else { (1..label.len().min(LONGEST_KIND)).find(is_number) }
}

fn kind_in(label: &[HeadingWord]) -> Option<String> {
    let (first, next) = (&label[0].text, label.get(1));
    match number_in(label) {
        Some(0) => form_of(first),
        Some(number) => Some(label[number - 1].text.clone()),
        None if !first.starts_with(is_numeral) || !ends(label, 2) => None,
        None => next.map(|next| ["# ", &next.text].concat()),
    }
}

/// A title ends before this word.
fn ends(label: &[HeadingWord], at: usize) -> bool {
    label.get(at).is_none_or(|next| next.begins)
}

/// The number of bytes of typed words that name a heading: its kind and number with the words behind them as far as
/// they were typed, a title with a number, or a whole title alone. `phase 3` names `Phase 3.1`, too, but less well than
/// `Phase 3`: the second value is `false`.
fn named_by(heading: &[HeadingWord], typed: &[HeadingWord]) -> Option<(usize, bool)> {
    let named = |label: &[HeadingWord]| {
        let pairs = label.iter().zip(typed);
        let same = pairs.take_while(|(word, typed)| word.text == typed.text).count();
        let has_number =
            |end: usize| label[..end].iter().any(|word| word.text.contains(is_numeral));
        let is_title =
            |end| ends(label, end) && (end == typed.len() || (end > 1 && has_number(end)));
        if (1..=same).any(is_title) {
            return Some((typed[same - 1].end, true));
        }
        let (number, asked) = number_in(label).and_then(|at| Some((at, typed.get(at)?)))?;
        let has_point = |rest: &str| rest.starts_with('.') && asked.text.ends_with(is_numeral);
        let is_inside =
            same == number && label[number].text.strip_prefix(&asked.text).is_some_and(has_point);
        let last = if is_inside { number } else { same.checked_sub(1)? };
        (last >= number).then(|| (typed[last].end, !is_inside))
    };
    labels(heading).find_map(named)
}

/// A run of numbers by its ends: `T001-T005, T009`.
pub fn in_runs(ids: &[String]) -> String {
    let follows = |pair: &[String]| {
        let [Some((head, one)), Some((other, next))] = [0, 1].map(|at| split_number(&pair[at]))
        else {
            return false;
        };
        let number = |digits: &str| digits.parse::<u64>().ok();
        !head.starts_with('@')
            && head == other
            && number(one).and_then(|one| one.checked_add(1)) == number(next)
    };
    let mut words: Vec<String> = Vec::new();
    let mut at = 0;
    while at < ids.len() {
        let run = 1 + ids[at..].windows(2).take_while(|pair| follows(pair)).count();
        if run < RUN {
            words.push(ids[at].clone());
            at += 1;
        } else {
            words.push(format!("{}-{}", ids[at], ids[at + run - 1]));
            at += run;
        }
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
# Tasks
## Phase 1: Setup
- [x] T001 a
- [ ] T002 [P] b
## Phase 2: User Story 1 - Login
### Tests
- [ ] T003 [P] [US1] c
```
# Phase 9: no heading
```
### Implementation
- [ ] T004 [US1] d
- [ ] T004.F1 [FIX T004] e
- [ ] T004.F2 [FIX T004.F1] f
## Phase 12: Polish
- [ ] T005 g
";

    fn list() -> TaskList {
        TaskList::parse(LIST.as_bytes())
    }

    fn ids(list: &TaskList) -> Vec<&str> {
        list.tasks.iter().map(|task| task.id.as_str()).collect()
    }

    fn marked(marks: &[bool]) -> Vec<String> {
        let list = list();
        let all = list.tasks.iter().zip(marks);
        all.filter(|(_, mark)| **mark).map(|(task, _)| task.id.clone()).collect()
    }

    #[test]
    fn part_includes_its_repairs() {
        let of = |wanted: &[&str]| {
            list().within(&wanted.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), None)
        };
        assert_eq!(ids(&of(&[])), ids(&list()));
        assert_eq!(ids(&of(&["T005", "T001"])), ["T001", "T005"]);
        assert_eq!(ids(&of(&["T004"])), ["T004", "T004.F1", "T004.F2"]);
        assert_eq!(ids(&of(&["T004.F1"])), ["T004.F1", "T004.F2"]);
        assert_eq!(ids(&of(&["T999"])), Vec::<&str>::new());
        assert_eq!((of(&["T001", "T002"]).done(), of(&["T001", "T002"]).open().count()), (1, 1));
    }

    #[test]
    fn a_part_survives_new_numbers() {
        let armed = TaskList::parse(b"- [x] T1 a\n- [ ] T2 b\n- [ ] T3 c\n");
        for (now, part) in [
            ("- [ ] T2 a\n- [ ] T1 b\n- [ ] T3 c\n", "T1"),
            ("- [ ] T1 new\n- [x] T2 a\n- [ ] T3 b\n- [ ] T4 c\n", "T3"),
            ("- [x] T1 a\n- [ ] T2 in other words\n- [ ] T3 c\n", "T2"),
            ("- [x] T1 a\n- [ ] T2 c\n", ""),
        ] {
            let list = TaskList::parse(now.as_bytes()).within(&["T2".to_owned()], Some(&armed));
            assert_eq!(ids(&list).join(" "), part, "{now}");
        }
    }

    #[test]
    fn doubled_id_replaces_none() {
        let list = TaskList::parse(b"- [x] T2a x\n- [ ] T2a z\n- [ ] T20 x\n- [ ] T3 y\n");
        assert_eq!(ids(&list.within(&["T2a".to_owned()], None)), ["T2a", "T2a~2"]);
    }

    #[test]
    fn circular_repairs_belong_nowhere() {
        let list = TaskList::parse(b"- [ ] T1 [FIX T2] a\n- [ ] T2 [FIX T1] b\n- [ ] T3 c\n");
        assert_eq!(ids(&list.within(&["T3".to_owned()], None)), ["T3"]);
    }

    #[test]
    fn heading_names_a_part() {
        let of = |typed: &str| {
            let mut marks = vec![false; list().tasks.len()];
            let end = Headings::of(LIST.as_bytes()).mark(&list(), typed, &mut marks);
            (end.map(|end| typed[end..].trim_start().to_owned()), marked(&marks))
        };
        assert_eq!(of("1"), (None, vec![]));
        assert_eq!(
            of("phase 1 fast"),
            (Some("fast".to_owned()), vec!["T001".into(), "T002".into()])
        );
        assert_eq!(of("Phase 1: Setup, fast").0.as_deref(), Some("fast"));
        for typed in ["phase 2", "user story 1", "Phase 2: User Story 1 - Login"] {
            assert_eq!(of(typed).1, ["T003", "T004", "T004.F1", "T004.F2"], "{typed}");
        }
        assert_eq!(of("implementation").1, ["T004", "T004.F1", "T004.F2"]);
        assert_eq!(of("PHASE 12").1, ["T005"]);
        for typed in ["polish phase", "the polish", "Polish only", "just the polish phase, only"] {
            assert_eq!(of(typed), (Some(String::new()), vec!["T005".into()]), "{typed}");
        }
        for typed in [
            "phase 9",
            "phase out",
            "polish it",
            "implementation of it",
            "the phase 12 code",
            "the only phase",
            "",
        ] {
            assert_eq!(of(typed), (None, vec![]), "{typed}");
        }
    }

    #[test]
    fn part_kind_has_any_name() {
        let text = "## Phase 3.1: Setup\n- [ ] T1 a\n## Phase 3.2: Tests\n- [ ] T2 a\n## Fase 4 - Resto\n- [ ] T3 a\n## Phase IV\n- [ ] T4 a\n## \u{9636}\u{6bb5} 2\u{ff1a}\u{57fa}\n- [ ] T5 a\n## \u{7b2c}2\u{9636}\u{6bb5}\n- [ ] T6 a\n## Wave B\n- [ ] T7 a\n## Phase 20a: Late\n- [ ] T8 a\n";
        let list = TaskList::parse(text.as_bytes());
        for (typed, wanted) in [
            ("phase 3.2", "T2"),
            ("phase 3", "T1 T2"),
            ("phase 3.1.1", ""),
            ("fase 4", "T3"),
            ("phase iv", "T4"),
            ("\u{9636}\u{6bb5} 2", "T5"),
            ("\u{7b2c}2\u{9636}\u{6bb5} now", "T6"),
            ("wave b", "T7"),
            ("phase 20a", "T8"),
            ("phase 20", ""),
            ("wave", ""),
        ] {
            let mut marks = vec![false; list.tasks.len()];
            Headings::of(text.as_bytes()).mark(&list, typed, &mut marks);
            let marked = list.tasks.iter().zip(&marks).filter(|(_, mark)| **mark);
            let found: Vec<_> = marked.map(|(task, _)| task.id.as_str()).collect();
            assert_eq!(found.join(" "), wanted, "{typed}");
        }
    }

    #[test]
    fn label_names_a_story() {
        let mut marks = vec![false; list().tasks.len()];
        assert!(list().mark_story(LIST.as_bytes(), "US1", &mut marks));
        assert_eq!(marked(&marks), ["T003", "T004"]);
        assert!(!list().mark_story(LIST.as_bytes(), "US2", &mut marks));
    }

    #[test]
    fn runs_are_named_by_their_ends() {
        let runs = |wanted: &[&str]| {
            in_runs(&wanted.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(runs(&["T001", "T002", "T003", "T005"]), "T001-T003, T005");
        assert_eq!(runs(&["T001", "T002"]), "T001, T002");
        assert_eq!(
            runs(&["T009", "T010", "T011", "T012.F1", "@12ab"]),
            "T009-T011, T012.F1, @12ab"
        );
        assert_eq!(runs(&[]), "");
    }
}
