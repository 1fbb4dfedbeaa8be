//! Changes of a task list: one box, or one more line. Every other byte stays.

use super::line::{is_id, text_of};
use super::order::sorted;
use super::tasks::{Task, TaskList};

/// A list with one more task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grown {
    pub text: Vec<u8>,
    /// The same text, parsed.
    pub list: TaskList,
    pub id: String,
}

/// One byte differs, or none if the task was ticked.
pub fn tick(text: &[u8], task: &Task) -> Vec<u8> {
    if task.done { text.to_vec() } else { marked(text, task, b'x') }
}

/// Opens the boxes of these tasks.
pub fn untick_all(text: &[u8], ids: &[String]) -> Vec<u8> {
    let list = TaskList::parse(text);
    let found = ids.iter().filter_map(|id| list.find(id));
    let found: Vec<_> = found.filter(|task| task.done).collect();
    // From the last to the first: a check mark is longer than the blank that replaces it.
    let found = sorted(found, |one, other| other.mark_at.cmp(&one.mark_at));
    found.into_iter().fold(text.to_vec(), |text, task| marked(&text, task, b' '))
}

fn marked(text: &[u8], task: &Task, mark: u8) -> Vec<u8> {
    let behind = text.get(task.mark_at..).unwrap_or_default();
    let inner = behind.split(|byte| *byte == b']').next().unwrap_or_default();
    let inner = text_of(inner);
    let first = inner.chars().next().map_or(0, char::len_utf8);
    let length = first.max(inner.trim_end().trim_end_matches('\\').len());
    [&text[..text.len() - behind.len()], &[mark], &behind[length..]].concat()
}

/// Adds an open task after another one and all that belongs to it.
///
/// `line` is the text after the box. Indent, bullet and line ending are those of the task before. `None` when the line
/// would not parse as one new task, or would change another task's id, title, box or phase.
pub fn insert_after(text: &[u8], list: &TaskList, task: &Task, line: &str) -> Option<Grown> {
    if line.contains(['\n', '\r']) {
        return None;
    }
    let family = list.whole_block(task, text);
    let own_line = family.split(|byte| b"\r\n".contains(byte)).next()?;
    let before = own_line.get(..task.mark_at.checked_sub(task.block.start)?)?;
    let bullet = &before[..memchr::memrchr(b'[', before)?];
    // Blank lines behind the block stay behind the new task.
    let used = task.block.start + family.len();
    let line_end = memchr::memchr2(b'\n', b'\r', &text[used..]).map(|end| used + end);
    let ending = line_break(
        &text[line_end.or_else(|| memchr::memchr2(b'\n', b'\r', text)).unwrap_or(text.len())..],
    );
    let at = line_end.map_or(text.len(), |end| end + ending.len());
    let new = [bullet, b"[ ] ", line.as_bytes()].concat();
    let new = if line_end.is_some() { [&*new, ending] } else { [ending, &*new] }.concat();
    let grown = [&text[..at], &*new, &text[at..]].concat();
    let place = list.tasks.partition_point(|other| other.mark_at < at);
    let read = TaskList::parse(&grown);
    let mut others = read.tasks.clone();
    let id = (place < others.len()).then(|| others.remove(place))?.id;
    let seen = |task: &Task| (task.id.clone(), task.title.clone(), task.done, task.phase.clone());
    let is_same = others.iter().map(seen).eq(list.tasks.iter().map(seen));
    is_same.then_some(Grown { text: grown, list: read, id })
}

/// Adds a task after another one, with an id like those of the list: `T052`, `1.4`. A list without ids stays so. `None`
/// as for [`insert_after`].
pub fn add_after(text: &[u8], list: &TaskList, task: &Task, what: &str) -> Option<Grown> {
    let id = new_id(list, task);
    let line = match &id {
        // `5 retries` would be prose.
        Some(id) if !is_id(id) => format!("{id}. {what}"),
        Some(id) => format!("{id} {what}"),
        None => what.to_owned(),
    };
    let grown = insert_after(text, list, task, &line)?;
    id.is_none_or(|id| id == grown.id).then_some(grown)
}

/// Adds a repair after its task: `T003.F1 [FIX T003] …`. `None` as for [`insert_after`].
pub fn repair_after(text: &[u8], list: &TaskList, task: &Task, what: &str) -> Option<Grown> {
    let id = following(list, &[&list.original(task).0.id, ".F"].concat(), 0)?;
    if is_id(&id) {
        return insert_after(text, list, task, &format!("{id} [FIX {}] {what}", task.id));
    }
    // Without ids, a number tells the repairs apart.
    let number = list.tasks.iter().filter(|other| other.fixes.is_some()).count() + 1;
    insert_after(text, list, task, &format!("[FIX {}] Repair {number}: {what}", task.id))
}

/// `None` if the list has no ids.
fn new_id(list: &TaskList, after: &Task) -> Option<String> {
    // A repair has no successor; the repaired task has one.
    let (original, _) = list.original(after);
    let pattern = split_number(&after.id).or_else(|| split_number(&original.id));
    let others = list.tasks.iter().rev().filter(|_| after.has_own_id());
    let mut other = others.filter_map(|task| split_number(&task.id));
    let (head, digits) = pattern.or_else(|| other.next())?;
    following(list, head, digits.len())
}

/// The id behind the highest one of a head and a number: `T052` of `T`, `T003.F2` of `T003.F`.
fn following(list: &TaskList, head: &str, width: usize) -> Option<String> {
    let numbers = list.tasks.iter().chain(&list.left_out).filter_map(|task| {
        let (other, digits) = task.id.split_at_checked(head.len())?;
        other.eq_ignore_ascii_case(head).then(|| digits.parse::<u64>().ok()).flatten()
    });
    let next = numbers.max().unwrap_or(0).checked_add(1)?;
    Some(format!("{head}{next:0width$}"))
}

/// `T012` as `("T", "012")`; `None` for an id without digits at its end, for a repair's and for a made-up id.
pub(super) fn split_number(id: &str) -> Option<(&str, &str)> {
    let head = id.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &id[head.len()..];
    let listed = !id.starts_with('@') && !id.contains('~');
    let repair = [".F", "-F"].iter().any(|end| head.ends_with(end));
    (listed && !repair && !digits.is_empty()).then_some((head, digits))
}

/// The line break at the start of a text, or that of Unix.
fn line_break(text: &[u8]) -> &'static [u8] {
    match text {
        [b'\r', b'\n', ..] => b"\r\n",
        [b'\r', ..] => b"\r",
        _ => b"\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# T\r\n- [ ] T001 a\r\n  - Do: x\r\n\r\n  * [X] T009 b\r\n";

    fn added(text: &str, place: usize, line: &str) -> Option<String> {
        let list = TaskList::parse(text.as_bytes());
        let grown = insert_after(text.as_bytes(), &list, &list.tasks[place], line)?;
        Some(String::from_utf8(grown.text).unwrap())
    }

    fn next_id(text: &str, place: usize) -> Option<String> {
        let list = TaskList::parse(text.as_bytes());
        add_after(text.as_bytes(), &list, &list.tasks[place], "new").map(|grown| grown.id)
    }

    #[test]
    fn a_tick_changes_one_byte() {
        let list = TaskList::parse(LIST.as_bytes());
        let ticked = tick(LIST.as_bytes(), &list.tasks[0]);
        assert_eq!(String::from_utf8(ticked).unwrap(), LIST.replace("[ ] T001", "[x] T001"));
        assert_eq!(tick(LIST.as_bytes(), &list.tasks[1]), LIST.as_bytes());
    }

    #[test]
    fn new_task_copies_its_neighbour() {
        let grown = added(LIST, 1, "T010 new").unwrap();
        assert_eq!(grown, format!("{LIST}  * [ ] T010 new\r\n"));
        // T009 is nested in T001 and stays so.
        let grown = added(LIST, 0, "T010 new").unwrap();
        assert_eq!(grown, format!("{LIST}- [ ] T010 new\r\n"));
        let grown = added("- [ ] T001 a\n\n---\n\n**Checkpoint**: b\n", 0, "T002 new").unwrap();
        assert_eq!(grown, "- [ ] T001 a\n- [ ] T002 new\n\n---\n\n**Checkpoint**: b\n");
    }

    #[test]
    fn last_line_may_lack_breaks() {
        assert_eq!(added("- [ ] T001 a", 0, "T002 b").unwrap(), "- [ ] T001 a\n- [ ] T002 b");
        let grown = added("x\r\n- [ ] T001 a", 0, "T002 b").unwrap();
        assert_eq!(grown, "x\r\n- [ ] T001 a\r\n- [ ] T002 b");
    }

    #[test]
    fn non_task_line_is_refused() {
        assert_eq!(added("- [ ] a\n", 0, "CHK001 b"), None);
        assert_eq!(added("- [ ] a\n", 0, "b\n- [ ] c"), None);
        assert_eq!(added("- [ ] a\n", 0, " "), None);
        // The second `b` would be called what the first one is called now.
        assert_eq!(added("- [ ] a\n- [ ] b\n", 0, "b"), None);
        assert_eq!(added("- [ ] T001 a\n- [ ] T002 b\n", 0, "T002 c"), None);
    }

    #[test]
    fn new_id_follows_its_list() {
        assert_eq!(next_id(LIST, 0).as_deref(), Some("T010"));
        let list = "- [ ] 1.9 a\n- [ ] 2.1 b\n- [ ] plain words\n";
        assert_eq!(next_id(list, 0).as_deref(), Some("1.10"));
        assert!(next_id(list, 2).is_some_and(|id| id.starts_with('@')));
        assert_eq!(next_id("- [ ] 1. a\n- [ ] 2. b\n", 0).as_deref(), Some("3"));
        assert_eq!(next_id("- [ ] F1 a\n", 0).as_deref(), Some("F2"));
        assert_eq!(next_id("- [ ] T003a a\n- [ ] T004 b\n", 0).as_deref(), Some("T005"));
        let repaired = "- [ ] T001 a\n- [ ] T001.F1 [FIX T001] b\n- [ ] T002 c\n";
        assert_eq!(next_id(repaired, 1).as_deref(), Some("T003"));
    }

    #[test]
    fn repair_says_what_it_repairs() {
        let repaired = |text: &str| {
            let list = TaskList::parse(text.as_bytes());
            let grown = repair_after(text.as_bytes(), &list, &list.tasks[0], "see why").unwrap();
            let repair = grown.list.find(&grown.id).unwrap();
            assert_eq!(repair.fixes.as_deref(), Some(list.tasks[0].id.as_str()));
            grown.id
        };
        assert_eq!(repaired("- [ ] T003 a\n"), "T003.F1");
        assert_eq!(repaired("- [ ] T003 a\n- [x] T003.F1 [FIX T003] b\n"), "T003.F2");
        let gap = "- [ ] T003 a\n- [x] T003.F1 [FIX T003] b\n- [x] T003.F3 [FIX T003] c\n";
        assert_eq!(repaired(gap), "T003.F4", "one look at each task, and no id comes twice");
        assert_eq!(repaired("- [ ] 4) a\n"), "4.F1");
        assert!(repaired("- [ ] no id\n").starts_with('@'));
        let again = "- [ ] no id\n- [x] [FIX @no-id] Repair 1: see why\n";
        assert!(repaired(again).starts_with('@'));
    }

    #[test]
    fn one_byte_opens_a_box() {
        let text = "\u{feff}- [X] T001 a\r\n- [ ] T002 b\r\n* [x] T003 c";
        let opened =
            |id: &str| String::from_utf8(untick_all(text.as_bytes(), &[id.to_owned()])).unwrap();
        assert_eq!(opened("T001"), text.replace("[X]", "[ ]"));
        assert_eq!(opened("T002"), text);
        assert_eq!(opened("T003"), text.replace("[x]", "[ ]"));
    }
}
