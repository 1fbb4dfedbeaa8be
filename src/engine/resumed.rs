//! The task list that judges the ticks of a continued run, with a person's changes since the stop.

use super::matched::Matched;
use super::tasks::{Task, TaskList};

/// The list for judging ticks in a run that continues: the list as the run `began`, with a person's changes since it
/// `stopped`.
///
/// A box that a person ticked is done; a box that the run had ticked is open. Where a person left the words of a task
/// alone, the words of the beginning hold.
pub fn continued(began: &[u8], stopped: &[u8], now: &[u8]) -> Vec<u8> {
    if stopped == now {
        return began.to_vec();
    }
    let [at_begin, at_stop, list] = [began, stopped, now].map(TaskList::parse);
    let (mut text, mut copied) = (Vec::new(), 0);
    let [at_begin, at_stop] = [&at_begin, &at_stop].map(|earlier| Matched::of(earlier, &list));
    for task in &list.tasks {
        let (then, left) = (at_begin.then(task), at_stop.then(task));
        let was_ticked_by_run = left.is_some_and(|left| left.done);
        let is_done = task.done && (then.is_some_and(|then| then.done) || !was_ticked_by_run);
        let words = with_box(now, task, false);
        let is_untouched = left.is_some_and(|left| with_box(stopped, left, false) == words);
        let its = match then.filter(|_| is_untouched) {
            Some(then) => with_box(began, then, is_done),
            None => with_box(now, task, is_done),
        };
        text.extend_from_slice(now.get(copied..task.block.start).unwrap_or_default());
        text.extend_from_slice(&its);
        copied = task.block.end;
    }
    text.extend_from_slice(now.get(copied..).unwrap_or_default());
    text
}

/// The lines of a task, with a ticked or open box.
fn with_box(text: &[u8], task: &Task, is_done: bool) -> Vec<u8> {
    let mut lines = text.get(task.block.clone()).unwrap_or_default().to_vec();
    let mark = task.mark_at.checked_sub(task.block.start).and_then(|at| lines.get_mut(at));
    if let Some(mark) = mark {
        *mark = if is_done { b'x' } else { b' ' };
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: &str = "# A\n- [ ] 1.1 a\n  - Verify: `test -e a`\n- [ ] 1.2 b\n- [ ] 1.3 c\n";

    fn continued_with(stopped: &str, now: &str) -> String {
        let text = continued(BEGAN.as_bytes(), stopped.as_bytes(), now.as_bytes());
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn personal_list_changes_hold() {
        // The run ticked a box, weakened its command and removed a task.
        let stopped = "# A\n- [x] 1.1 a\n  - Verify: `true`\n- [ ] 1.2 b\n";
        assert_eq!(continued_with(stopped, stopped), BEGAN);
        // A person ticks 1.2 and adds a task.
        let now = "# A\n- [x] 1.1 a\n  - Verify: `true`\n- [x] 1.2 b\n\nMine:\n- [X] 1.4 d\n";
        assert_eq!(
            continued_with(stopped, now),
            "# A\n- [ ] 1.1 a\n  - Verify: `test -e a`\n- [x] 1.2 b\n\nMine:\n- [x] 1.4 d\n"
        );
        // A person writes another command; the tick is still the run's.
        let now = "# A\n- [x] 1.1 a\n  - Verify: `test -e b`\n- [ ] 1.2 b\n- [ ] 1.3 c\n";
        assert_eq!(
            continued_with(stopped, now),
            "# A\n- [ ] 1.1 a\n  - Verify: `test -e b`\n- [ ] 1.2 b\n- [ ] 1.3 c\n"
        );
    }

    #[test]
    fn personally_opened_box_is_open() {
        let began = "- [x] 1.1 a\n- [ ] 1.2 b\n  - [ ] 1.3 c\n";
        let stopped = "- [x] 1.1 a\n- [x] 1.2 b\n  - [x] 1.3 c\n";
        let text = |now: &str| {
            let text = continued(began.as_bytes(), stopped.as_bytes(), now.as_bytes());
            String::from_utf8(text).unwrap()
        };
        assert_eq!(text("- [x] 1.1 a\n- [x] 1.2 b\n  - [ ] 1.3 c\n"), began);
        assert_eq!(
            text("- [ ] 1.1 a\n- [x] 1.2 b\n  - [x] 1.3 c\n"),
            "- [ ] 1.1 a\n- [ ] 1.2 b\n  - [ ] 1.3 c\n"
        );
    }
}
