//! The task list of a feature: `tasks.md` read as data, without losing a byte of it; long because what a list is and how it is compared belong together.
//!
//! A task is a list item with a box: any indent, `-` or `*`, `[ ]`, `[x]` or `[X]`. Boxes in code
//! fences and HTML comments and `CHK…` checklist items are no tasks (design, "What decides done").

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem;

use super::fingerprint::{Hasher, hash_of};
use super::hidden::{TextLine, column_of, hidden_lines, may_hide, split_lines};
use super::line::{Piece, TaskBox, TaskText, text_of};
use super::observation::Tampered;
use super::order::{map_of, places};

/// How many columns further in a nested task is: the width of the bullet it hangs from.
const NESTED: usize = 2;
/// How many tasks further on a task is looked for before all are sorted by their ids.
const NEAR: usize = 4;
/// The mark of a check.
const VERIFY: &[u8] = b"[VERIFY]";

/// A task list as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    /// The tasks in the order of the file.
    pub tasks: Vec<Task>,
}

/// The tasks of a list by their ids.
pub struct TasksById<'a> {
    tasks: &'a [Task],
    places: Vec<usize>,
}

/// One task of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What names the task: `T001`, `1.2`, or `@` and a hash of its text where it has no id.
    ///
    /// It needs no quotes in a shell: `#` would start a comment there.
    pub id: String,
    /// The text after the id and the marks.
    pub title: Piece,
    /// Whether the box is ticked.
    pub done: bool,
    /// `[P]`: may be done side by side with its neighbours.
    pub parallel: bool,
    /// `[VERIFY]`: a check, not a change.
    pub verify: bool,
    /// `[FIX T003]`: the task that this one repairs.
    pub fixes: Option<String>,
    /// The heading it is under, empty before the first one.
    pub phase: Arc<str>,
    /// Where the character between the brackets is, in bytes from the start of the file.
    pub mark_at: usize,
    /// The line it is on, from 1.
    pub line: usize,
    /// How far it is indented, in columns.
    pub column: usize,
    /// The bytes of the task with the lines that belong to it; tasks nested in it are not among them.
    pub block: std::ops::Range<usize>,
    /// The number of headings and checkpoints above it: tasks of one parallel group share it.
    pub section: usize,
    /// The number of headings above it that begin a phase: of the first or second level, or `Phase N`.
    pub phases: usize,
}

impl Task {
    /// Returns whether the id is in the list; otherwise it is made from the text.
    pub fn has_own_id(&self) -> bool {
        !self.id.starts_with('@')
    }

    /// Returns the command that proves the task: what is in backticks on its `Verify` line.
    ///
    /// Prose on that line is for the reader; only the first piece of code is run.
    pub fn verify_command(&self, text: &[u8]) -> Option<String> {
        let lines = split_lines(text.get(self.block.clone())?);
        let shown = lines.iter().zip(hidden_lines(&lines)).filter(|(_, hidden)| !hidden);
        shown.skip(1).find_map(|(line, _)| {
            let line = String::from_utf8_lossy(line.text);
            let line = line.trim_start().trim_start_matches(['-', '*', ' ', '_']);
            let value = line.strip_prefix("Verify").or_else(|| line.strip_prefix("verify"))?;
            let value = value.trim_start_matches(['*', '_', ' ']).strip_prefix(':')?;
            code_in(value).map(str::to_owned)
        })
    }
}

impl TasksById<'_> {
    /// Returns where the last task with this id is in the list, from 0; `None` when no task has it.
    pub fn last(&self, id: &str) -> Option<usize> {
        let id_of = |place: usize| self.tasks[place].id.as_str();
        let place = *self.places[..self.places.partition_point(|it| id_of(*it) <= id)].last()?;
        (id_of(place) == id).then_some(place)
    }
}

impl TaskList {
    /// Returns the tasks found in the bytes of a `tasks.md`; never fails, whatever the input.
    pub fn parse(text: &[u8]) -> Self {
        // Whole text is checked in one go, and its lines need not be; broken text is read line by line.
        let whole: Option<Arc<str>> = std::str::from_utf8(text).ok().map(Arc::from);
        let mut checks = memmem::find_iter(text, VERIFY).peekable();
        let lines = split_lines(text);
        let hidden = if may_hide(text) { hidden_lines(&lines) } else { Vec::new() };
        let mut list = Self { tasks: Vec::with_capacity(lines.len()) };
        let mut phase: Arc<str> = Arc::from("");
        let (mut section, mut phases) = (0, 0);
        let mut open: Option<usize> = None;
        let mut ids = Ids::default();
        for (number, line) in lines.iter().enumerate() {
            if hidden.get(number) == Some(&true) {
                continue;
            }
            if let Some(heading) = heading_of(line.text) {
                list.close(open.take(), line.start);
                let is_high = !line.text.starts_with(b"###");
                phases += usize::from(is_high || phase_of(&heading).is_some());
                phase = heading.into();
                section += 1;
                continue;
            }
            let its_box = TaskBox::read(line.text);
            let words = its_box.as_ref().map(|it| text_behind(whole.as_deref(), line, it.text_at));
            let task = words.as_deref().and_then(TaskText::read);
            let (Some(its_box), Some(task)) = (its_box, task) else {
                let checkpoint = is_checkpoint(line.text);
                section += usize::from(checkpoint);
                // What is said between two groups belongs to neither.
                if checkpoint || is_rule(line.text) {
                    list.close(open.take(), line.start);
                }
                continue;
            };
            list.close(open.take(), line.start);
            open = Some(list.tasks.len());
            let end = line.start + line.text.trim_ascii_end().len();
            while checks.next_if(|at| *at < line.start).is_some() {}
            // A repair quotes what failed; only a mark of its own makes it a check.
            let names_check = task.fixes.is_none() && checks.peek().is_some_and(|at| *at < end);
            let id = ids.unused(&task, &list.tasks);
            list.tasks.push(Task {
                id,
                title: match &whole {
                    Some(whole) => Piece::of(whole, end - task.title.len()..end),
                    None => task.title.into(),
                },
                done: its_box.is_ticked(),
                parallel: task.parallel,
                verify: task.verify || names_check,
                fixes: task.fixes.map(str::to_owned),
                phase: phase.clone(),
                mark_at: line.start + its_box.mark_at,
                line: number + 1,
                column: column_of(line.text),
                block: line.start..text.len(),
                section,
                phases,
            });
        }
        list
    }

    /// Returns how many tasks are ticked.
    pub fn done(&self) -> usize {
        self.tasks.iter().filter(|task| task.done).count()
    }

    /// Returns the open tasks in the order of the list.
    pub fn open(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.done)
    }

    /// Returns the open tasks by id, each with a hash of its text.
    pub fn open_by_text(&self) -> BTreeMap<String, u64> {
        map_of(self.open().map(|task| (task.id.clone(), hash_of(task.title.as_bytes()))))
    }

    /// Returns the open tasks in the order of the list, a line for each: its id, a space, and its text.
    pub fn open_lines(&self) -> String {
        let mut lines = String::new();
        for task in self.open() {
            lines.extend([&*task.id, " ", &*task.title, "\n"]);
        }
        lines
    }

    /// Returns what became of the tasks of such lines of an earlier list: those that are gone or reworded, and the ids of those
    /// that are done. As a rule each stands right behind the one before; the others are looked up.
    pub fn since(&self, lines: &str) -> (Tampered, Vec<String>) {
        let (mut tampered, mut done) = (Tampered::default(), Vec::new());
        let first = lines.split(' ').next().unwrap_or_default();
        let mut at = self.tasks.iter().position(|task| task.id == first).unwrap_or(0);
        let mut by_id = None;
        for line in lines.split_terminator('\n') {
            let (id, text) = line.split_once(' ').unwrap_or((line, ""));
            let near = self.tasks.iter().skip(at).take(NEAR).position(|task| task.id == id);
            let place = match near {
                Some(steps) => Some(at + steps),
                None => by_id.get_or_insert_with(|| self.by_id()).last(id),
            };
            let Some(place) = place else {
                tampered.removed.push(id.to_owned());
                continue;
            };
            let task = &self.tasks[place];
            at = place + 1;
            if !is_same(task.title.as_bytes(), text.as_bytes()) {
                tampered.reworded.push(id.to_owned());
            }
            if task.done {
                done.push(id.to_owned());
            }
        }
        (tampered, done)
    }

    /// Returns what became of tasks that were open, other than being done.
    pub fn tampered_since(&self, before: &BTreeMap<String, u64>) -> Tampered {
        let now = self.by_id();
        let mut tampered = Tampered::default();
        for (id, text) in before {
            match now.last(id) {
                None => tampered.removed.push(id.clone()),
                Some(place) if hash_of(self.tasks[place].title.as_bytes()) != *text => {
                    tampered.reworded.push(id.clone());
                }
                Some(_) => {}
            }
        }
        tampered
    }

    /// Returns the tasks by their ids.
    pub fn by_id(&self) -> TasksById<'_> {
        let id = |place: usize| self.tasks[place].id.as_str();
        let places = places(self.tasks.len(), &|one, other| id(one).cmp(id(other)));
        TasksById { tasks: &self.tasks, places }
    }

    /// Returns the place of the first open task, from 0, or the number of tasks when none is open.
    pub fn first_open(&self) -> usize {
        let place = self.tasks.iter().position(|task| !task.done);
        place.unwrap_or(self.tasks.len())
    }

    /// Returns the task of that id, letter case ignored.
    pub fn find(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id.eq_ignore_ascii_case(id))
    }

    /// Returns what a task of a later list was in this one, `None` where it is new. Each of this list is at most one of the later
    /// one: of the same id and title; or of the title alone, for an id may count its place; or of the id alone, for its title
    /// may have been reworded. One that took the id of another, which has another id now, is what that other's new id was.
    pub fn same_task<'a>(&'a self, task: &Task, later: &Self) -> Option<&'a Task> {
        let is_in = |list: &Self, task: &Task| {
            list.find(&task.id).is_some_and(|other| other.title == task.title)
        };
        let mut same = self.find(&task.id);
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

    /// Returns the tasks nested in another one, at any depth: those that are deeper, right after it.
    pub fn nested_in(&self, task: &Task) -> &[Task] {
        let behind = self.tasks.partition_point(|other| other.mark_at <= task.mark_at);
        let behind = &self.tasks[behind..];
        let deeper =
            |other: &&Task| other.column >= task.column + NESTED && other.section == task.section;
        &behind[..behind.iter().take_while(deeper).count()]
    }

    /// Returns the task that another one is nested in.
    pub fn parent_of(&self, task: &Task) -> Option<&Task> {
        let before = self.tasks.partition_point(|other| other.mark_at < task.mark_at);
        let mut above = self.tasks[..before].iter().rev();
        let parent = above.find(|other| other.column + NESTED <= task.column)?;
        (parent.section == task.section).then_some(parent)
    }

    /// Returns the bytes of a task with all that belongs to it, nested tasks too, without the blank
    /// lines at its end.
    pub fn whole_block<'a>(&self, task: &Task, text: &'a [u8]) -> &'a [u8] {
        let end = self.nested_in(task).last().map_or(task.block.end, |last| last.block.end);
        text.get(task.block.start..end).unwrap_or_default().trim_ascii_end()
    }

    /// Returns the same as text, as it is in the list.
    pub fn block_text(&self, task: &Task, text: &[u8]) -> String {
        String::from_utf8_lossy(self.whole_block(task, text)).into_owned()
    }

    fn close(&mut self, open: Option<usize>, at: usize) {
        if let Some(task) = open.and_then(|index| self.tasks.get_mut(index)) {
            task.block.end = at;
        }
    }
}

/// The ids that are taken. As long as each is greater than the one before, as in nearly every list, no
/// two can be the same, and none is looked up.
#[derive(Default)]
struct Ids {
    /// How often each name is taken, by a hash of it without letter case; empty as long as none is looked up.
    taken: BTreeMap<u64, usize>,
}

impl Ids {
    /// The task's own id, or a hash of its text; a repeated one gets a number after it.
    fn unused(&mut self, found: &TaskText<'_>, tasks: &[Task]) -> String {
        let id = match found.id {
            Some(id) => id.to_owned(),
            None => format!("@{:08x}", hash_of(found.title.as_bytes()) & 0xffff_ffff),
        };
        if self.taken.is_empty() {
            if tasks.last().is_none_or(|last| comes_before(last.id.as_bytes(), id.as_bytes())) {
                return id;
            }
            self.taken.extend(tasks.iter().map(|task| (hash_of_name(&task.id), 1)));
        }
        // Two names of one hash would do no harm: the second gets a number without need.
        let copies = self.taken.entry(hash_of_name(&id)).or_default();
        *copies += 1;
        // No id of a list has a `~`, so this one is nobody else's.
        if *copies == 1 { id } else { format!("{id}~{copies}") }
    }
}

/// Compares two ids, letter case ignored, numbers by their length first: `T999` comes before `T1000`.
fn comes_before(one: &[u8], other: &[u8]) -> bool {
    let pairs = one.iter().zip(other);
    let same = pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count();
    let key = |id: &[u8]| {
        let rest = &id[same..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (digits, rest.first().map(u8::to_ascii_uppercase))
    };
    key(one) < key(other)
}

fn hash_of_name(id: &str) -> u64 {
    let capitals = id.bytes().map(|byte| byte.to_ascii_uppercase());
    capitals.fold(Hasher::default(), |hasher, byte| hasher.with(&[byte])).finish()
}

/// What a line says from a place on, without the blanks around it.
fn text_behind<'a>(whole: Option<&'a str>, line: &TextLine<'a>, at: usize) -> Cow<'a, str> {
    let bytes = line.text[at..].trim_ascii_end();
    let blanks = bytes.len() - bytes.trim_ascii_start().len();
    let start = line.start + at + blanks;
    let text = whole.and_then(|whole| whole.get(start..line.start + at + bytes.len()));
    text.map_or_else(|| text_of(&bytes[blanks..]), Cow::Borrowed)
}

pub(super) fn heading_of(line: &[u8]) -> Option<String> {
    if !line.starts_with(b"#") {
        return None;
    }
    let level = line.iter().take_while(|byte| **byte == b'#').count();
    if !(1..=6).contains(&level) || !matches!(line.get(level), None | Some(b' ' | b'\t')) {
        return None;
    }
    Some(text_of(line[level..].trim_ascii()).into_owned())
}

/// The number in a heading such as `Phase 2: Foundational`.
pub(super) fn phase_of(heading: &str) -> Option<&str> {
    let (word, rest) = heading.split_at_checked(5)?;
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (word.eq_ignore_ascii_case("phase") && digits > 0).then(|| &rest[..digits])
}

/// `**Checkpoint**: …` between two groups of tasks.
fn is_checkpoint(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let text = text.strip_prefix(b"**").unwrap_or(text);
    text.len() >= 10 && text[..10].eq_ignore_ascii_case(b"checkpoint")
}

/// `---`, `***` or `___` alone on a line.
fn is_rule(line: &[u8]) -> bool {
    let text = line.trim_ascii_end();
    let mark = text.first().copied().unwrap_or_default();
    text.len() >= 3 && b"-*_".contains(&mark) && text.iter().all(|byte| *byte == mark)
}

/// Whether these are the same bytes; eight at a step, where the library of a small program compares one by one.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let ((ones, rest), (others, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    one.len() == other.len()
        && rest == other_rest
        && ones.iter().zip(others).all(|(one, other)| one == other)
}

/// The first piece of code in backticks, without the blanks around it.
fn code_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_at(text.find('`')?);
    let length = rest.len() - rest.trim_start_matches('`').len();
    let (ticks, rest) = rest.split_at(length);
    let code = rest.split(ticks).next().filter(|code| code.len() < rest.len())?.trim();
    (!code.is_empty()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let list = TaskList::parse(text.as_bytes());
        list.tasks.iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn a_task_is_at_most_one_of_an_earlier_list() {
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
    fn spec_kit_lines_are_read_with_id_marks_and_phase() {
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
    fn boxes_in_fences_comments_and_checklists_are_no_tasks() {
        let text = "```\n- [ ] T001 fenced\n```\n<!--\n- [ ] T002 hidden\n-->\n- [ ] CHK001 check\n    ~~~~\n    - [ ] T003 fenced\n    ~~~\n    ~~~~\n- [ ] T004 real\n";
        assert_eq!(ids(text), ["T004"]);
    }

    #[test]
    fn an_unclosed_fence_or_comment_hides_nothing() {
        assert_eq!(
            ids("- [x] T001 a\n```\n- [ ] T002 b\n<!-- oh\n- [ ] T003 c\n"),
            ["T001", "T002", "T003"]
        );
    }

    #[test]
    fn ids_of_older_lists_and_fix_tasks_are_whole_words() {
        let text = "- [ ] 1.1 a\n- [ ] 1.10 b\n- [ ] **2.1** c\n- [ ] T003.F1 [FIX T003] d\n- [ ] TASK-7: e\n- [ ] 4. f\n";
        assert_eq!(ids(text), ["1.1", "1.10", "2.1", "T003.F1", "TASK-7", "4"]);
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(list.tasks[3].fixes.as_deref(), Some("T003"));
        assert_eq!(list.find("1.1").map(|task| &*task.title), Some("a"));
    }

    #[test]
    fn a_task_without_an_id_is_known_by_its_text() {
        let found =
            ids("- [ ] 3 retries on failure\n- [ ] 3 retries on failure\n- [ ] HTTP2 support\n");
        assert!(found.iter().all(|id| id.starts_with('@')), "{found:?}");
        assert_eq!(found[1], format!("{}~2", found[0]));
        let moved = ids("- [ ] other\n- [ ] HTTP2 support\n");
        assert_eq!(moved[1], found[2]);
    }

    #[test]
    fn an_id_that_is_taken_is_told_apart_wherever_it_is_taken_again() {
        assert_eq!(ids("- [ ] T9 a\n- [ ] T10 b\n- [ ] t9 c\n"), ["T9", "T10", "@4285ebab"]);
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
    fn a_line_that_is_no_text_changes_no_other_line() {
        let text = b"- [ ] T001 \xff\xfe [VERIFY]\n- [x]  \xc3\xa9t\xc3\xa9 \n\t- [ ] T002 \xe2\x80\x83b\xc2\xa0\r\n";
        let list = TaskList::parse(text);
        let seen: Vec<_> = list.tasks.iter().map(|task| (&*task.title, task.verify)).collect();
        assert_eq!(
            seen,
            [("\u{fffd}\u{fffd} [VERIFY]", true), ("\u{e9}t\u{e9}", false), ("b\u{a0}", false)]
        );
    }

    #[test]
    fn nested_boxes_count_and_links_do_not() {
        let text = "- [ ] T001 a\n\t- [x] T002 nested\n- [a] no\n- [x](http://x) no\n-[ ] no\n- [ ]no\n- [~] T005 half\n";
        assert_eq!(ids(text), ["T001", "T002", "T005"]);
    }

    #[test]
    fn what_stands_between_two_groups_belongs_to_no_task() {
        let text = "- [ ] T001 a\n  - Do: x\n\n**Checkpoint**: y\n\n---\n\n- [ ] T002 b\n\n---\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(list.block_text(&list.tasks[0], text.as_bytes()), "- [ ] T001 a\n  - Do: x");
        assert_eq!(list.block_text(&list.tasks[1], text.as_bytes()), "- [ ] T002 b");
    }

    #[test]
    fn nested_tasks_belong_to_the_one_above_as_long_as_they_stand_deeper() {
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
    fn a_byte_order_mark_hides_no_task() {
        assert_eq!(ids("\u{feff}- [ ] T001 a\n- [ ] T002 b\n"), ["T001", "T002"]);
    }

    #[test]
    fn a_repair_that_quotes_a_check_is_no_check() {
        let text = "- [ ] T001.F1 [FIX T001] Repair: the [VERIFY] step failed\n- [ ] T002 Look [VERIFY]\n- [ ] T003.F1 [FIX T003] [VERIFY] again\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(
            list.tasks.iter().map(|task| task.verify).collect::<Vec<_>>(),
            [false, true, true]
        );
    }

    #[test]
    fn the_verify_command_is_code_on_the_verify_line_and_nothing_else() {
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
