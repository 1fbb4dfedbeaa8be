//! A part of a task list: what a loop is about that is not about all of it.

use std::borrow::Cow;

use super::edit::split_number;
use super::line::{TaskKind, text_of};
use super::markdown::{self, Kind};
use super::order::map_of;
use super::reading::phase_of;
use super::tasks::{Task, TaskList};

/// How long a chain of repairs is followed; lists may have chains that go round in a circle.
const LONGEST_CHAIN: usize = 8;
/// Shorter runs of tasks are named one by one.
const RUN: usize = 3;

impl TaskList {
    /// Returns the list with only those tasks that a loop over these ids is about: every task of these ids, however often
    /// the list has it, and the repairs of them. No ids are all tasks. What does not count stays where it stands among them.
    #[must_use]
    pub fn within(mut self, ids: &[String]) -> Self {
        if ids.is_empty() {
            return self;
        }
        self.take_in(|task| ids.iter().any(|id| task.id.eq_ignore_ascii_case(id)));
        let by_id = self.by_id();
        let wanted = map_of(ids.iter().map(|id| (stem(id), 0)));
        let named: Vec<bool> =
            self.tasks.iter().map(|task| wanted.contains_key(&stem(&task.id))).collect();
        let mut kept = named.clone();
        for (place, kept) in kept.iter_mut().enumerate() {
            let mut one = place;
            for _ in 0..LONGEST_CHAIN {
                let fixed = self.tasks[one].fixes.as_deref().and_then(|id| by_id.last(id));
                let Some(fixed) = fixed else { break };
                *kept |= named[fixed];
                one = fixed;
            }
        }
        let line = |place: usize| self.tasks.get(place).map_or(usize::MAX, |task| task.line);
        let first = kept.iter().position(|kept| *kept).unwrap_or(kept.len());
        let behind = kept.iter().rposition(|kept| *kept).map_or(0, |last| last + 1);
        let among = line(first)..line(behind);
        self.left_out.retain(|task| among.contains(&task.line));
        self.unread.retain(|unread| among.contains(&unread.line));
        let mut kept = kept.into_iter();
        self.tasks.retain(|_| kept.next() == Some(true));
        self
    }

    /// Returns the list with its optional tasks among those that count, where they do.
    #[must_use]
    pub fn with_optional(mut self, counts: bool) -> Self {
        if counts {
            self.take_in(|task| task.kind == TaskKind::Optional);
        }
        self
    }

    /// Puts tasks that are left out among those that count.
    fn take_in(&mut self, is_wanted: impl Fn(&Task) -> bool) {
        let wanted: Vec<Task> = self.left_out.extract_if(.., |task| is_wanted(task)).collect();
        if !wanted.is_empty() {
            self.tasks.extend(wanted);
            self.tasks.sort_by_key(|task| task.mark_at);
        }
    }

    /// Marks the tasks under the headings `Phase N`, headings inside of them included, and returns the first of these
    /// headings, `None` where there is none.
    pub fn mark_phase(&self, text: &[u8], number: &str, marks: &mut [bool]) -> Option<String> {
        let (mut inside, mut found) = (None, None);
        for (place, line) in markdown::lines(text).iter().enumerate() {
            if let Kind::Heading(level) = line.kind {
                let heading = text_of(line.words().trim_ascii_end());
                if phase_of(&heading) == Some(number) {
                    inside = Some(level);
                    found.get_or_insert(heading.into_owned());
                } else if inside.is_some_and(|outer| level <= outer) {
                    inside = None;
                }
                continue;
            }
            let task = self.tasks.binary_search_by_key(&(place + 1), |task| task.line);
            if let (Some(_), Ok(task)) = (inside, task) {
                marks[task] = true;
            }
        }
        found
    }

    /// Marks the tasks that carry a label such as `[US1]`, and returns whether there are any.
    pub fn mark_story(&self, text: &[u8], label: &str, marks: &mut [bool]) -> bool {
        let label = format!("[{label}]");
        let mut found = false;
        for (task, mark) in self.tasks.iter().zip(marks) {
            let block = text.get(task.block.clone()).unwrap_or_default();
            let line = block.split(|byte| *byte == b'\n').next().unwrap_or_default();
            if memchr::memmem::find(line, label.as_bytes()).is_some() {
                (*mark, found) = (true, true);
            }
        }
        found
    }
}

/// Returns ids in few words: a run of numbers by its ends, such as `T001-T005, T009`.
pub fn in_runs(ids: &[String]) -> String {
    let follows = |pair: &[String]| {
        let [Some((head, one)), Some((other, next))] = [0, 1].map(|at| split_number(&pair[at]))
        else {
            return false;
        };
        let number = |digits: &str| digits.parse::<u64>().ok();
        head == other && number(one).and_then(|one| one.checked_add(1)) == number(next)
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

/// An id in capitals, without the number that tells two of the same apart.
fn stem(id: &str) -> Cow<'_, str> {
    let stem = id.split('~').next().unwrap_or_default();
    if stem.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Cow::Owned(stem.to_ascii_uppercase());
    }
    Cow::Borrowed(stem)
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
    fn a_list_within_ids_has_these_tasks_in_its_order_and_the_repairs_of_them() {
        let of = |wanted: &[&str]| {
            list().within(&wanted.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(ids(&of(&[])), ids(&list()));
        assert_eq!(ids(&of(&["T005", "T001"])), ["T001", "T005"]);
        assert_eq!(ids(&of(&["T004"])), ["T004", "T004.F1", "T004.F2"]);
        assert_eq!(ids(&of(&["T004.F1"])), ["T004.F1", "T004.F2"]);
        assert_eq!(ids(&of(&["T999"])), Vec::<&str>::new());
        assert_eq!((of(&["T001", "T002"]).done(), of(&["T001", "T002"]).open().count()), (1, 1));
    }

    #[test]
    fn another_box_with_the_id_of_a_named_task_takes_the_place_of_none() {
        let list = TaskList::parse(b"- [x] T2a x\n- [ ] T2a x\n- [ ] T20 x\n- [ ] T3 y\n");
        assert_eq!(ids(&list.within(&["T2a".to_owned()])), ["T2a", "T2a~2"]);
    }

    #[test]
    fn repairs_that_go_round_in_a_circle_belong_to_nobody() {
        let list = TaskList::parse(b"- [ ] T1 [FIX T2] a\n- [ ] T2 [FIX T1] b\n- [ ] T3 c\n");
        assert_eq!(ids(&list.within(&["T3".to_owned()])), ["T3"]);
    }

    #[test]
    fn a_phase_is_known_by_its_number_and_ends_at_the_next_heading_of_its_level() {
        let of = |number: &str| {
            let mut marks = vec![false; list().tasks.len()];
            let heading = list().mark_phase(LIST.as_bytes(), number, &mut marks);
            (heading, marked(&marks))
        };
        assert_eq!(
            of("1"),
            (Some("Phase 1: Setup".to_owned()), vec!["T001".into(), "T002".into()])
        );
        assert_eq!(of("2").1, ["T003", "T004", "T004.F1", "T004.F2"]);
        assert_eq!(of("12").1, ["T005"]);
        assert_eq!(of("9"), (None, vec![]));
    }

    #[test]
    fn a_story_is_known_by_the_label_on_the_line_of_the_task() {
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
