//! Changing a task list: one box, or one line more; every other byte stays as it is.

use super::tasks::{Task, TaskList};

/// Returns the text with the box of one task ticked: one byte differs, or none when it was ticked.
pub fn tick(text: &[u8], task: &Task) -> Vec<u8> {
    let mut ticked = text.to_vec();
    if !task.done
        && let Some(mark) = ticked.get_mut(task.mark_at)
    {
        *mark = b'x';
    }
    ticked
}

/// Returns the text with one more open task behind another one and the lines that belong to it.
///
/// `line` is what stands behind the box, without a line break; indent, bullet and line ending are
/// those of the task before.
pub fn insert_after(text: &[u8], task: &Task, line: &str) -> Vec<u8> {
    let block = &text[task.block.clone()];
    let own_line = block.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let ending: &[u8] = if own_line.ends_with(b"\r") { b"\r\n" } else { b"\n" };
    let bullet = task.mark_at.saturating_sub(task.block.start + 1);
    // The blank lines that end a block stay behind the new task.
    let used = block.trim_ascii_end().len();
    let rest = &block[used..];
    let after_line = memchr::memchr(b'\n', rest).map(|end| task.block.start + used + end + 1);
    let at = after_line.unwrap_or(task.block.end);
    let mut grown = text[..at].to_vec();
    if after_line.is_none() {
        grown.extend_from_slice(ending);
    }
    grown.extend_from_slice(&own_line[..bullet.min(own_line.len())]);
    grown.extend_from_slice(b"[ ] ");
    grown.extend_from_slice(line.as_bytes());
    grown.extend_from_slice(if after_line.is_none() { b"" } else { ending });
    grown.extend_from_slice(&text[at..]);
    grown
}

/// Returns an id for a new task behind another one, in the manner of the list: `T052`, `1.4`, or
/// nothing where the list has no ids.
pub fn new_id(list: &TaskList, after: &Task) -> Option<String> {
    let (head, digits) = split_number(&after.id)?;
    let numbers = list.tasks.iter().filter_map(|task| {
        let (other, digits) = split_number(&task.id)?;
        (other == head).then(|| digits.parse::<u64>().ok()).flatten()
    });
    let next = numbers.max()?.checked_add(1)?;
    Some(format!("{head}{next:0width$}", width = digits.len()))
}

/// Returns the id of the next repair of a task: `T003.F1`, `T003.F2`, …
pub fn repair_id(list: &TaskList, original: &Task) -> String {
    let mut number = 1_usize;
    loop {
        let id = format!("{}.F{number}", original.id);
        if list.find(&id).is_none() {
            return id;
        }
        number += 1;
    }
}

/// `T012` as `("T", "012")`; an id that does not end in digits, or a repair's, is none.
fn split_number(id: &str) -> Option<(&str, &str)> {
    let head = id.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &id[head.len()..];
    let plain = !digits.is_empty() && !head.starts_with('#') && !head.ends_with('F');
    plain.then_some((head, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# T\r\n- [ ] T001 a\r\n  - Do: x\r\n\r\n  * [X] T009 b\r\n";

    #[test]
    fn a_tick_changes_one_byte() {
        let list = TaskList::parse(LIST.as_bytes());
        let ticked = tick(LIST.as_bytes(), &list.tasks[0]);
        assert_eq!(String::from_utf8(ticked).unwrap(), LIST.replace("[ ] T001", "[x] T001"));
        assert_eq!(tick(LIST.as_bytes(), &list.tasks[1]), LIST.as_bytes());
    }

    #[test]
    fn a_new_task_stands_behind_the_block_in_the_manner_of_its_neighbour() {
        let list = TaskList::parse(LIST.as_bytes());
        let grown = insert_after(LIST.as_bytes(), &list.tasks[0], "T010 new");
        assert_eq!(
            String::from_utf8(grown).unwrap(),
            "# T\r\n- [ ] T001 a\r\n  - Do: x\r\n- [ ] T010 new\r\n\r\n  * [X] T009 b\r\n"
        );
        let grown = insert_after(LIST.as_bytes(), &list.tasks[1], "T010 new");
        assert!(String::from_utf8(grown).unwrap().ends_with("T009 b\r\n  * [ ] T010 new\r\n"));
        let bare = "- [ ] T001 a";
        let list = TaskList::parse(bare.as_bytes());
        let grown = insert_after(bare.as_bytes(), &list.tasks[0], "T002 b");
        assert_eq!(String::from_utf8(grown).unwrap(), "- [ ] T001 a\n- [ ] T002 b");
    }

    #[test]
    fn a_new_id_follows_the_manner_of_the_list() {
        let list = TaskList::parse(LIST.as_bytes());
        assert_eq!(new_id(&list, &list.tasks[0]).as_deref(), Some("T010"));
        assert_eq!(repair_id(&list, &list.tasks[0]), "T001.F1");
        let list = TaskList::parse(b"- [ ] 1.9 a\n- [ ] 2.1 b\n- [ ] plain words\n");
        assert_eq!(new_id(&list, &list.tasks[0]).as_deref(), Some("1.10"));
        assert_eq!(new_id(&list, &list.tasks[2]), None);
    }
}
