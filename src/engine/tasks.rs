//! The task list of a feature: `tasks.md` as data, without the loss of a byte.
//!
//! A task is a list item or a heading with a box in front. Other lines with something like a box are reported
//! (`reading`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::aside::{Aside, AsideKind, in_words, uncounted};
use super::boxes::open_in;
use super::line::{Piece, code_in};
use super::markdown::NO_BREAK;
use super::order::{map_of, sorted};

/// Extra columns of a nested task: the width of the bullet above.
pub(super) const NESTED: usize = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    /// In the order of the file.
    pub tasks: Vec<Task>,
    /// Boxes that are no work of the loop, in the order of the file.
    pub left_out: Vec<Task>,
    /// Lines that only look like tasks.
    pub unread: Vec<Aside>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The `Verify` lines.
    pub checks: Vec<Range<usize>>,
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

    /// True if `other`, a later task, is a subtask: nested in this task, or numbered under it (`1.2` under `1`).
    fn has_part(&self, other: &Self) -> bool {
        let own = self.id.strip_suffix(".0").unwrap_or(&self.id);
        let number = other.id.strip_prefix(own).and_then(|rest| rest.strip_prefix('.'));
        let is_numbered =
            number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        other.mark_at < self.end || (is_numbered && other.column == self.column)
    }

    /// The commands in backticks on the task's `Verify` lines. Several run one after the other, each in a shell of its
    /// own.
    ///
    /// The first code on a line runs, and what a comma, a semicolon or `and` adds to it; prose is for the reader.
    pub fn verify_command(&self, text: &[u8]) -> Option<String> {
        let mut all: Vec<String> = Vec::new();
        for line in self.checks.iter().filter_map(|line| text.get(line.clone())) {
            let line = String::from_utf8_lossy(line);
            let Some((_, mut rest)) = line.split_once(is_colon) else { continue };
            let mut is_first = true;
            while let Some((between, code, behind)) = code_in(rest)
                && (is_first || ADDS.contains(&between.trim()))
            {
                all.push(code.to_owned());
                (rest, is_first) = (behind, false);
            }
        }
        // A line break ends a comment in a command.
        match all.as_slice() {
            [] | [_] => all.pop(),
            _ => Some(format!("(\n{}\n)", all.join("\n) && (\n"))),
        }
    }
}

/// What stands between two commands of a `Verify` line.
const ADDS: [&str; 9] = [",", ";", "&", "&&", "and", ", and", "then", ", then", "; then"];

/// Ends the key of a `Verify` line.
fn is_colon(sign: char) -> bool {
    matches!(sign, ':' | '：')
}

impl TaskList {
    pub fn done(&self) -> usize {
        self.tasks.iter().filter(|task| task.done).count()
    }

    /// In the order of the list.
    pub fn open(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.done)
    }

    /// Places of the tasks; the last task of an id wins.
    pub fn by_id(&self) -> BTreeMap<&str, usize> {
        map_of(self.tasks.iter().enumerate().map(|(place, task)| (&*task.id, place)))
    }

    /// Counts these ticked tasks as open again, and returns the ids that the list has.
    pub fn open_again(&mut self, ids: &[String]) -> Vec<String> {
        let ids = map_of(ids.iter().map(|id| (&**id, 0)));
        let is_meant = |task: &&mut Task| task.done && ids.contains_key(&*task.id);
        let ticked = self.tasks.iter_mut().filter(is_meant);
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
            task.id.eq_ignore_ascii_case(id.trim_start_matches('#'))
        })
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
pub(super) mod tests {
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
    fn hash_is_no_part_of_an_id() {
        let text =
            "- [ ] #2 a\n- [ ] **#3** b\n- [ ] (#T4): c\n- [ ] # d\n- [ ] #now e\n- [ ] #5\n";
        assert_eq!(ids(text), ["2", "3", "T4", "@d", "@now-e", "5"]);
        let list = TaskList::parse(text.as_bytes());
        for id in ["2", "#2"] {
            assert_eq!(list.find(id).map(|task| &*task.title), Some("a"), "{id}");
        }
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
        for line in ["`a`, `b`", "`a` and `b`", "`a`; `b` `c`", "`a`, and `b` or `c`"] {
            let command = command(&format!("  - Verify commands: {line}\n"));
            assert_eq!(command.as_deref(), Some("(\na\n) && (\nb\n)"), "{line}");
        }
        let two = command("  - Verify: `a || b`\n  - Verify: `c # d`\n");
        assert_eq!(two.as_deref(), Some("(\na || b\n) && (\nc # d\n)"));
        assert_eq!(command("  - _Verify:_ `a`\n").as_deref(), Some("a"));
        assert_eq!(command("  Verify: ``echo `date` ``\n").as_deref(), Some("echo `date`"));
        assert_eq!(command("  - Verify: the tests pass\n"), None);
        assert_eq!(command("  - Verify: `open\n"), None);
        assert_eq!(command("  - Verify: ``\n"), None);
        assert_eq!(command("  ```\n  Verify: `fenced`\n  ```\n"), None);
        assert_eq!(command("  - [ ] T002 nested\n    - Verify: `of the nested one`\n"), None);
        assert_eq!(command("  - Verification: `x`\n"), None);
        assert_eq!(command("  - Verify with care: `x`\n"), None);
        assert_eq!(command("  - Verify without: `x`\n"), None);
        for line in [
            "VERIFY: `a`",
            "> Verify: `a`",
            "- ✅ **Verify:** `a`",
            "Verify command: `a`",
            "- **Verify Commands**: `a`",
            "- Verify：`a`",
            "- **Verify with**: `a`",
        ] {
            assert_eq!(command(&format!("  {line}\n")).as_deref(), Some("a"), "{line}");
        }
    }

    #[test]
    fn the_mark_stands_between_the_brackets() {
        let text = "x\n  *  [ ] T001 \u{e9}\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(&text[list.tasks[0].mark_at..=list.tasks[0].mark_at], " ");
        assert_eq!(&text[list.tasks[0].block.clone()], "  *  [ ] T001 \u{e9}\n");
    }
}
