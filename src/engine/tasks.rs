//! The task list of a feature: `tasks.md` as data, without the loss of a byte.
//!
//! A task is a list item or a heading with a box in front. Other lines with something like a box are reported
//! (`reading`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use memchr::arch::all::is_equal;

use super::aside::{Aside, AsideKind, in_words, uncounted};
use super::boxes::open_in;
use super::line::{Piece, code_in};
use super::markdown::NO_BREAK;
use super::observation::Tampered;
use super::order::{map_of, sorted};

/// Extra columns of a nested task: the width of the bullet above.
pub(super) const NESTED: usize = 2;
/// Tasks that are searched before all are sorted by their ids.
const NEAR: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    /// In the order of the file.
    pub tasks: Vec<Task>,
    /// Boxes that are no work of the loop, in the order of the file.
    pub left_out: Vec<Task>,
    /// Lines that only look like tasks.
    pub unread: Vec<Aside>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// `T001`, `1.2`, or `@` and the first words of a task without an id.
    ///
    /// An id needs no quotes in a shell, where `#` would start a comment.
    pub id: String,
    /// The text after the id and the marks.
    pub title: Piece,
    /// The reason why the task is no work.
    pub aside: Option<AsideKind>,
    pub done: bool,
    /// The mark in the box; a blank for none.
    pub mark: char,
    /// `[P]`: may be done side by side with its neighbours.
    pub parallel: bool,
    /// `[VERIFY]`: a check, not a change.
    pub verify: bool,
    /// `[FIX T003]`: the task that this one repairs.
    pub fixes: Option<String>,
    /// The heading above, empty before the first one.
    pub phase: Arc<str>,
    /// The place of the mark between the brackets, in bytes from the start of the file.
    pub mark_at: usize,
    /// From 1.
    pub line: usize,
    /// Columns of indent.
    pub column: usize,
    /// The bytes of the task and its lines, up to the first nested task.
    pub block: Range<usize>,
    /// The end of all lines of the task, nested tasks included.
    pub end: usize,
    /// The first `Verify` line.
    pub check: Option<Range<usize>>,
    /// Headings and checkpoints above: tasks of one parallel group share the number.
    pub section: usize,
    /// Headings above that begin a phase: of the first or second level, or `Phase N`.
    pub phases: usize,
}

impl Task {
    /// The id is in the list; other ids are made from the text.
    pub fn has_own_id(&self) -> bool {
        !self.id.starts_with('@')
    }

    pub fn stem(&self) -> &str {
        stem(&self.id)
    }

    /// The report of a task that does not count, or has an odd mark.
    fn as_aside(&self) -> Aside {
        let kind = self.aside.unwrap_or(AsideKind::Mark);
        let id = self.has_own_id().then(|| self.id.clone());
        Aside { id, text: self.title.to_string(), ..Aside::new(kind, self.line, b"", !self.done) }
    }

    /// `other`, which stands behind this task, is nested in it or numbered as a part of it.
    fn has_part(&self, other: &Self) -> bool {
        let own = self.id.strip_suffix(".0").unwrap_or(&self.id);
        let number = other.id.strip_prefix(own).and_then(|rest| rest.strip_prefix('.'));
        let is_numbered =
            number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        other.mark_at < self.end || (is_numbered && other.column == self.column)
    }

    /// The command in backticks on the task's `Verify` line.
    ///
    /// Only the first code on that line runs; prose is for the reader.
    pub fn verify_command(&self, text: &[u8]) -> Option<String> {
        let line = String::from_utf8_lossy(text.get(self.check.clone()?)?);
        code_in(line.split_once(':')?.1).map(str::to_owned)
    }
}

impl TaskList {
    pub fn done(&self) -> usize {
        self.tasks.iter().filter(|task| task.done).count()
    }

    /// In the order of the list.
    pub fn open(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.done)
    }

    /// A line for each open task: id, space, title.
    pub fn open_lines(&self) -> String {
        let mut lines = String::new();
        for task in self.open() {
            lines.extend([&*task.id, " ", &*task.title, "\n"]);
        }
        lines
    }

    /// Compares with such lines of an earlier list: the tasks that are gone or reworded, and the ids of done tasks.
    /// Usually each task stands right behind the one before; others are looked up.
    pub fn since(&self, lines: &str) -> (Tampered, Vec<String>) {
        let (mut tampered, mut done) = (Tampered::default(), Vec::new());
        let first = lines.split(' ').next().unwrap_or_default();
        let mut at = self.tasks.iter().position(|task| task.id == first).unwrap_or(0);
        let mut by_id = None;
        let last = Some(lines.len()).filter(|end| *end > 0 && !lines.ends_with('\n'));
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', lines.as_bytes()).chain(last) {
            let line = &lines[begin..end];
            begin = end + 1;
            // Usually the next task is the next line.
            let next = self.tasks.get(at).and_then(|task| {
                Some((task.id.as_str(), line.strip_prefix(&*task.id)?.strip_prefix(' ')?))
            });
            let (id, text) = next.or_else(|| line.split_once(' ')).unwrap_or((line, ""));
            let near = self.tasks.iter().skip(at).take(NEAR).position(|task| task.id == id);
            let place = match near {
                Some(steps) => Some(at + steps),
                None => by_id.get_or_insert_with(|| self.by_id()).get(id).copied(),
            };
            let Some(place) = place else {
                tampered.removed.push(id.to_owned());
                continue;
            };
            let task = &self.tasks[place];
            at = place + 1;
            if !is_equal(task.title.as_bytes(), text.as_bytes()) {
                tampered.reworded.push(id.to_owned());
            }
            if task.done {
                done.push(id.to_owned());
            }
        }
        (tampered, done)
    }

    /// Places of the tasks; the last task of an id wins.
    pub fn by_id(&self) -> BTreeMap<&str, usize> {
        map_of(self.tasks.iter().enumerate().map(|(place, task)| (&*task.id, place)))
    }

    /// Counts these ticked tasks as open; the ids of those that the list has.
    pub fn open_again(&mut self, ids: &[String]) -> Vec<String> {
        let ticked = self.tasks.iter_mut().filter(|task| task.done && ids.contains(&task.id));
        let opened = ticked.map(|task| {
            (task.done, task.mark) = (false, ' ');
            task.id.clone()
        });
        opened.collect()
    }

    /// From 0; the number of tasks when none is open.
    pub fn first_open(&self) -> usize {
        self.tasks.iter().position(|task| !task.done).unwrap_or(self.tasks.len())
    }

    /// Lines that do not count or have an odd mark, in the order of the file.
    pub fn asides(&self) -> Vec<Aside> {
        let odd = self.open().filter(|task| task.mark != ' ');
        let tasks = self.left_out.iter().chain(odd).map(Task::as_aside);
        // Searched here, and not at each reading of the list.
        let others = self.tasks.iter().filter_map(|task| {
            let text = &task.title.as_bytes()[open_in(task.title.as_bytes())?..];
            Some(Aside::new(AsideKind::Later, task.line, text, true))
        });
        let all = tasks.chain(self.unread.iter().cloned()).chain(others).collect();
        sorted(all, |one: &Aside, other| one.line.cmp(&other.line))
    }

    pub fn asides_in_words(&self) -> Vec<String> {
        in_words(&self.asides())
    }

    /// The open boxes that do not count, on one line.
    pub fn uncounted(&self) -> Option<String> {
        uncounted(self.asides())
    }

    /// Ignores letter case, and finds optional tasks, too.
    pub fn find(&self, id: &str) -> Option<&Task> {
        let optional = self.left_out.iter().filter(|task| task.aside == Some(AsideKind::Optional));
        self.tasks.iter().chain(optional).find(|task| {
            #[cfg(test)]
            tests::LOOKED_AT.set(tests::LOOKED_AT.get() + 1);
            task.id.eq_ignore_ascii_case(id)
        })
    }

    /// The task of this list that became a task of a later list; `None` for a new task. Id and title decide; then the
    /// title alone, because an id may count places; then the id alone, because a title may be reworded. Where tasks
    /// took over each other's ids, the chain of ids is followed.
    pub fn same_task<'a>(&'a self, task: &Task, later: &Self) -> Option<&'a Task> {
        let is_in = |list: &Self, task: &Task| {
            list.find(&task.id).is_some_and(|other| other.title == task.title)
        };
        // Usually a list keeps its order.
        let place = later.tasks.partition_point(|other| other.mark_at < task.mark_at);
        let near = self.tasks.get(place).filter(|then| then.id == task.id);
        let mut same = near.or_else(|| self.find(&task.id));
        if same.is_some_and(|then| then.title == task.title) {
            return same;
        }
        let of_title = |other: &&Task| other.title == task.title;
        let above = later.tasks.iter().take_while(|other| other.mark_at < task.mark_at);
        let place = above.filter(of_title).filter(|other| !is_in(self, other)).count();
        let mut then = self.tasks.iter().filter(of_title).filter(|then| !is_in(later, then));
        if let Some(then) = then.nth(place) {
            return Some(then);
        }
        for _ in &later.tasks {
            let title = &same?.title;
            let mut others = later.tasks.iter().filter(|other| other.title == *title);
            let Some(other) = others.find(|other| !is_in(self, other)) else { return same };
            same = self.find(&other.id);
        }
        None
    }

    /// For each task of a later list what [`Self::same_task`] says, in one pass over both lists.
    pub fn same_tasks<'a>(&'a self, later: &'a Self) -> Vec<Option<&'a Task>> {
        let (own, theirs) = (self.by_any_id(), later.by_any_id());
        let find = |list: &BTreeMap<String, &'a Task>, task: &Task| {
            list.get(&task.id.to_ascii_lowercase()).copied()
        };
        let stays = |list: &BTreeMap<String, &'a Task>, task: &Task| {
            find(list, task).is_some_and(|other| other.title == task.title)
        };
        let mut titled: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
        for then in self.tasks.iter().filter(|then| !stays(&theirs, then)) {
            titled.entry(&then.title).or_default().push(then);
        }
        let moved = later.tasks.iter().filter(|task| !stays(&own, task));
        let moved = map_of(moved.rev().map(|task| (&*task.title, task)));
        let mut ends: BTreeMap<&str, Option<&Task>> = BTreeMap::new();
        let mut follow = |mut then: &'a Task| {
            let mut passed: Vec<&str> = Vec::new();
            let end = loop {
                if let Some(known) = ends.get(&*then.id) {
                    break *known;
                }
                let Some(other) = moved.get(&*then.title) else { break Some(then) };
                passed.push(&then.id);
                // Ids that go round in a circle end nowhere.
                ends.insert(&then.id, None);
                match find(&own, other) {
                    Some(next) => then = next,
                    None => break None,
                }
            };
            ends.extend(passed.into_iter().map(|id| (id, end)));
            end
        };
        let mut met: BTreeMap<&str, usize> = BTreeMap::new();
        let of_task = |task: &'a Task| {
            let same = find(&own, task);
            if same.is_some_and(|then| then.title == task.title) {
                return same;
            }
            let place = met.entry(&task.title).or_default();
            *place += 1;
            let then = titled.get(&*task.title).and_then(|all| all.get(*place - 1));
            then.copied().or_else(|| follow(same?))
        };
        later.tasks.iter().map(of_task).collect()
    }

    /// What [`Self::find`] finds.
    fn by_any_id(&self) -> BTreeMap<String, &Task> {
        let optional = self.left_out.iter().filter(|task| task.aside == Some(AsideKind::Optional));
        let all = optional.rev().chain(self.tasks.iter().rev());
        map_of(all.map(|task| (task.id.to_ascii_lowercase(), task)))
    }

    /// The id by which receipts know a task of a later list: the one here. A new task that took over an id of this list
    /// goes by its words.
    pub fn lasting_id<'a>(&'a self, task: &'a Task, then: Option<&'a Task>) -> &'a str {
        match then {
            Some(then) => &then.id,
            None if self.find(&task.id).is_some() => &task.title,
            None => &task.id,
        }
    }

    /// Nested tasks at any depth: the parts right behind the task.
    pub fn nested_in(&self, task: &Task) -> &[Task] {
        let behind = self.tasks.partition_point(|other| other.mark_at <= task.mark_at);
        let behind = &self.tasks[behind..];
        &behind[..behind.iter().take_while(|other| task.has_part(other)).count()]
    }

    /// The task around another one.
    pub fn parent_of(&self, task: &Task) -> Option<&Task> {
        let before = self.tasks.partition_point(|other| other.mark_at < task.mark_at);
        self.tasks[..before].iter().rev().find(|other| other.has_part(task))
    }

    /// The bytes of a task with nested tasks, without blank lines at the end.
    pub fn whole_block<'a>(&self, task: &Task, text: &'a [u8]) -> &'a [u8] {
        let end = self.nested_in(task).last().map_or(task.end, |last| last.end.max(task.end));
        let mut block = text.get(task.block.start..end).unwrap_or_default().trim_ascii_end();
        while let Some(rest) = block.strip_suffix(NO_BREAK) {
            block = rest.trim_ascii_end();
        }
        block
    }

    /// The same as text.
    pub fn block_text(&self, task: &Task, text: &[u8]) -> String {
        String::from_utf8_lossy(self.whole_block(task, text)).into_owned()
    }
}

/// An id without the number of a repeated one.
pub(super) fn stem(id: &str) -> &str {
    id.split('~').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        /// Tasks looked at in searches by id.
        pub static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    fn ids(text: &str) -> Vec<String> {
        let list = TaskList::parse(text.as_bytes());
        list.tasks.iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn h7_long_list_tasks_are_found() {
        let list = |count: usize| {
            let text =
                (0..count).fold(String::new(), |text, at| text + &format!("- [ ] T{at} a\n"));
            TaskList::parse(text.as_bytes())
        };
        let steps = |count: usize| {
            let (earlier, later) = (list(count), list(count));
            LOOKED_AT.set(0);
            for task in &later.tasks {
                assert_eq!(earlier.same_task(task, &later).unwrap().id, task.id);
            }
            LOOKED_AT.get()
        };
        assert!(steps(2_000) <= 2 * steps(1_000), "{} {}", steps(1_000), steps(2_000));
    }

    #[test]
    fn task_matches_one_earlier_task() {
        let list = |text: &str| TaskList::parse(text.as_bytes());
        let earlier =
            list("- [x] T1 Write a\n- [ ] T2 Write b\n- [ ] T3 Try it\n- [ ] T4 Try it\n");
        let was = |text: &str| {
            let later = list(text);
            let id = |task| earlier.same_task(task, &later).map_or("", |then| &then.id);
            later.tasks.iter().map(id).collect::<Vec<_>>()
        };
        assert_eq!(was("- [ ] T1 Write a\n- [ ] T2 B\n- [ ] T9 More\n"), ["T1", "T2", ""]);
        assert_eq!(was("- [ ] T1 Write a\n- [ ] T2 Write a\n"), ["T1", "T2"], "words taken");
        assert_eq!(was("- [ ] T2 Write a\n- [ ] T1 Write b\n"), ["T1", "T2"], "swapped");
        assert_eq!(was("- [ ] T2 Write a\n- [ ] T1 B\n"), ["T1", "T2"], "swapped and reworded");
        assert_eq!(was("- [ ] T1 Write a\n- [ ] T2 New\n- [ ] T3 Write b\n"), ["T1", "T3", "T2"]);
        assert_eq!(was("- [ ] T7 Write a\n- [ ] T8 Write a\n"), ["T1", ""], "one of them is new");
        assert_eq!(was("- [ ] T8 Try it\n- [ ] T9 Try it\n- [ ] T3 Try\n"), ["T3", "T4", ""]);
        assert_eq!(was("- [ ] T3 Try it\n- [ ] T4 Try\n"), ["T3", "T4"], "the same words twice");
    }

    proptest::proptest! {
        #[test]
        fn all_tasks_match_as_each_does(
            earlier in proptest::collection::vec((1..6_u8, 0..5_u8), 0..7),
            later in proptest::collection::vec((1..6_u8, 0..5_u8), 0..7),
        ) {
            let list = |tasks: &[(u8, u8)]| {
                let lines = tasks.iter().map(|(id, word)| format!("- [ ] T{id} word {word}\n"));
                TaskList::parse(lines.collect::<String>().as_bytes())
            };
            let (earlier, later) = (list(&earlier), list(&later));
            let each: Vec<_> =
                later.tasks.iter().map(|task| earlier.same_task(task, &later)).collect();
            proptest::prop_assert_eq!(earlier.same_tasks(&later), each);
        }
    }

    #[test]
    fn an_open_task_is_found_again() {
        let list = |text: &str| TaskList::parse(text.as_bytes());
        let before = list("- [x] T0 z\n- [ ] T1 a b\n- [ ] T3\n- [ ] T4 d\n- [ ] T5 e\n");
        assert_eq!(before.open_lines(), "T1 a b\nT3 \nT4 d\nT5 e\n");
        for (now, removed, reworded, done) in [
            ("- [x] T1 a b\n- [ ] T3\n- [x] T4 d\n- [ ] T5 e\n", "", "", "T1 T4"),
            ("- [ ] T5 e\n- [ ] T9 f\n- [x] T4 D\n- [ ] T1 a\n", "T3", "T1 T4", "T4"),
            ("", "T1 T3 T4 T5", "", ""),
        ] {
            let (tampered, ticked) = list(now).since(&before.open_lines());
            let found = [tampered.removed, tampered.reworded, ticked].map(|ids| ids.join(" "));
            assert_eq!(found, [removed, reworded, done], "{now}");
        }
        assert_eq!(list("- [ ] T1 a\n").since(""), Default::default());
    }

    #[test]
    fn spec_kit_lines_are_read() {
        let list = TaskList::parse(
            b"# Tasks\r\n## Phase 1: Setup\r\n- [X] T001 Create it\r\n- [ ] T002 [P] [US1] Model in a.py\r\n  - Do: this\r\n## Phase 2\r\n* [ ] T003 [VERIFY] Run tests\r\n",
        );
        let seen: Vec<_> = list
            .tasks
            .iter()
            .map(|t| (t.id.as_str(), &*t.title, t.done, t.parallel, t.verify, &*t.phase))
            .collect();
        assert_eq!(
            seen,
            [
                ("T001", "Create it", true, false, false, "Phase 1: Setup"),
                ("T002", "Model in a.py", false, true, false, "Phase 1: Setup"),
                ("T003", "Run tests", false, false, true, "Phase 2"),
            ]
        );
        assert_eq!(list.done(), 1);
        assert_eq!(list.first_open(), 1);
    }

    #[test]
    fn boxes_in_fences_are_none() {
        let text = "```\n- [ ] T001 fenced\n```\n<!--\n- [ ] T002 hidden\n-->\n- [ ] CHK001 check\n    ~~~~\n    - [ ] T003 fenced\n    ~~~\n    ~~~~\n- [ ] T004 real\n";
        assert_eq!(ids(text), ["T004"]);
    }

    #[test]
    fn unclosed_fence_hides_nothing() {
        assert_eq!(
            ids("- [x] T001 a\n```\n- [ ] T002 b\n<!-- oh\n- [ ] T003 c\n"),
            ["T001", "T002", "T003"]
        );
    }

    #[test]
    fn older_ids_are_whole_words() {
        let text = "- [ ] 1.1 a\n- [ ] 1.10 b\n- [ ] **2.1** c\n- [ ] T003.F1 [FIX T003] d\n- [ ] TASK-7: e\n- [ ] 4. f\n";
        assert_eq!(ids(text), ["1.1", "1.10", "2.1", "T003.F1", "TASK-7", "4"]);
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(list.tasks[3].fixes.as_deref(), Some("T003"));
        assert_eq!(list.find("1.1").map(|task| &*task.title), Some("a"));
    }

    #[test]
    fn idless_task_has_its_text() {
        let found =
            ids("- [ ] 3 retries on failure\n- [ ] 3 retries on failure\n- [ ] Support it\n");
        assert!(found.iter().all(|id| id.starts_with('@')), "{found:?}");
        assert_eq!(found[1], format!("{}~2", found[0]));
        let moved = ids("- [ ] other\n- [ ] Support it\n");
        assert_eq!(moved[1], found[2]);
    }

    #[test]
    fn taken_id_is_told_apart() {
        assert_eq!(ids("- [ ] T9 a\n- [ ] T10 b\n- [ ] t9 c\n"), ["T9", "T10", "t9~2"]);
        assert_eq!(
            ids(
                "- [ ] T001 a\n- [ ] T002 b\n- [ ] T002 c\n- [ ] T001 d\n- [ ] T003 e\n- [ ] T002 f\n"
            ),
            ["T001", "T002", "T002~2", "T001~2", "T003", "T002~3"]
        );
        assert_eq!(ids("- [ ] T999 a\n- [ ] T1000 b\n- [ ] T999 c\n"), ["T999", "T1000", "T999~2"]);
        assert_eq!(ids("- [ ] T1a x\n- [ ] T1b y\n- [ ] T1a z\n"), ["T1a", "T1b", "T1a~2"]);
    }

    #[test]
    fn textless_line_changes_no_other() {
        let text = b"- [ ] T001 \xff\xfe [VERIFY]\n- [x]  \xc3\xa9t\xc3\xa9 \n\t- [ ] T002 \xe2\x80\x83b\xc2\xa0\r\n";
        let list = TaskList::parse(text);
        let seen: Vec<_> = list.tasks.iter().map(|task| (&*task.title, task.verify)).collect();
        assert_eq!(
            seen,
            [("\u{fffd}\u{fffd} [VERIFY]", true), ("\u{e9}t\u{e9}", false), ("b\u{a0}", false)]
        );
    }

    #[test]
    fn nested_boxes_count() {
        let text = "- [ ] T001 a\n\t- [x] T002 nested\n- [a] T004 odd\n- [x](http://x) no\n-[ ] no\n- [ ]slip\n- [~] T005 half\n";
        assert_eq!(ids(text), ["T001", "T002", "T004", "@slip", "T005"]);
    }

    #[test]
    fn text_between_groups_belongs_nowhere() {
        let text = "- [ ] T001 a\n  - Do: x\n\n**Checkpoint**: y\n\n---\n\n- [ ] T002 b\n\n---\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(list.block_text(&list.tasks[0], text.as_bytes()), "- [ ] T001 a\n  - Do: x");
        assert_eq!(list.block_text(&list.tasks[1], text.as_bytes()), "- [ ] T002 b");
    }

    #[test]
    fn deeper_tasks_belong_above() {
        let text = "- [ ] T001 a\n  - [ ] b\n    - [ ] c\n\t- [ ] d\n- [ ] T002 e\n - [ ] T003 f\n## X\n  - [ ] g\n";
        let list = TaskList::parse(text.as_bytes());
        let nested = |place: usize| list.nested_in(&list.tasks[place]).len();
        assert_eq!((0..7).map(nested).collect::<Vec<_>>(), [3, 2, 0, 0, 0, 0, 0]);
        let parent = |place: usize| list.parent_of(&list.tasks[place]).map(|task| task.line);
        assert_eq!(
            (0..7).map(parent).collect::<Vec<_>>(),
            [None, Some(1), Some(2), Some(2), None, None, None]
        );
        let whole = list.block_text(&list.tasks[0], text.as_bytes());
        assert_eq!(whole, "- [ ] T001 a\n  - [ ] b\n    - [ ] c\n\t- [ ] d");
    }

    #[test]
    fn byte_order_mark_hides_nothing() {
        assert_eq!(ids("\u{feff}- [ ] T001 a\n- [ ] T002 b\n"), ["T001", "T002"]);
    }

    #[test]
    fn quoting_repair_is_no_check() {
        let text = "- [ ] T001.F1 [FIX T001] Repair: the [VERIFY] step failed\n- [ ] T002 Look [VERIFY]\n- [ ] T003.F1 [FIX T003] [VERIFY] again\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(
            list.tasks.iter().map(|task| task.verify).collect::<Vec<_>>(),
            [false, true, true]
        );
    }

    #[test]
    fn verify_command_is_line_code() {
        let command = |lines: &str| {
            let text = format!("- [ ] T001 Verify: `no`\n{lines}");
            TaskList::parse(text.as_bytes()).tasks[0].verify_command(text.as_bytes())
        };
        assert_eq!(
            command("  - **Verify**: `make test` is green, not `x`\n").as_deref(),
            Some("make test")
        );
        assert_eq!(command("  - _Verify:_ `a`\n").as_deref(), Some("a"));
        assert_eq!(command("  Verify: ``echo `date` ``\n").as_deref(), Some("echo `date`"));
        assert_eq!(command("  - Verify: the tests pass\n"), None);
        assert_eq!(command("  - Verify: `open\n"), None);
        assert_eq!(command("  - Verify: ``\n"), None);
        assert_eq!(command("  ```\n  Verify: `fenced`\n  ```\n"), None);
        assert_eq!(command("  - [ ] T002 nested\n    - Verify: `of the nested one`\n"), None);
        assert_eq!(command("  - Verification: `x`\n"), None);
    }

    #[test]
    fn the_mark_stands_between_the_brackets() {
        let text = "x\n  *  [ ] T001 \u{e9}\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(&text[list.tasks[0].mark_at..=list.tasks[0].mark_at], " ");
        assert_eq!(&text[list.tasks[0].block.clone()], "  *  [ ] T001 \u{e9}\n");
    }
}
