//! The next task: the first open one. A repair and nested tasks go before their task; a parallel group goes
//! together.

use std::collections::BTreeMap;
use std::iter::successors;

use super::order::map_of;
use super::tasks::{Task, TaskList};

/// A longer group comes in parts.
pub const MOST_AT_ONCE: usize = 10;
/// Steps along a chain of repairs: a list may have chains that run in a circle.
pub(super) const LONGEST_CHAIN: usize = 8;

impl TaskList {
    /// The tasks to do now, in the order of the list: none when all are done, several for a parallel group, at most
    /// `MOST_AT_ONCE`.
    ///
    /// A group is the run of `[P]` tasks around the first open one. A heading, a checkpoint or a task without the mark
    /// ends a group; a repair does not. An open repair goes before its task, and so do open nested tasks with ids of
    /// their own.
    pub fn next(&self) -> Vec<&Task> {
        let Some(first) = self.open().next() else { return Vec::new() };
        let first = self.innermost(first);
        let repairs = self.tasks.iter().rev().filter(|task| !task.done);
        let repairs = map_of(repairs.filter_map(|task| {
            let fixed = task.fixes.as_ref().filter(|fixed| **fixed != task.id)?;
            Some((fixed.to_ascii_lowercase(), task))
        }));
        if let Some(repair) = open_repair(&repairs, first) {
            return vec![repair];
        }
        if !first.parallel {
            return vec![first];
        }
        let place = self.tasks.partition_point(|other| other.mark_at < first.mark_at);
        let group = self.tasks[place..]
            .iter()
            .take_while(|other| other.section == first.section)
            .take_while(|other| other.parallel || other.fixes.is_some())
            .filter(|other| other.parallel && !other.done && other.column == first.column)
            .filter(|other| open_repair(&repairs, other).is_none());
        group.take(MOST_AT_ONCE).collect()
    }

    /// The first of them.
    pub fn present(&self) -> Option<&Task> {
        self.next().first().copied()
    }

    /// The first open part of a task, or the task itself. Boxes without ids are a checklist of the task with an id
    /// around them.
    fn innermost<'a>(&'a self, task: &'a Task) -> &'a Task {
        let mut inner = task;
        let part = |task: &Task| {
            let mut nested = self.nested_in(task).iter();
            let is_part = |other: &&Task| other.has_own_id() || !task.has_own_id();
            nested.find(|other| !other.done && is_part(other) && other.fixes.is_none())
        };
        while let Some(part) = part(inner) {
            inner = part;
        }
        inner
    }

    /// The task at the start of a chain of repairs, and the length of the chain: the task itself and 0 when it repairs
    /// nothing.
    pub fn original<'a>(&'a self, task: &'a Task) -> (&'a Task, usize) {
        let mut original = task;
        let mut depth = 0;
        while let Some(fixed) = original.fixes.as_ref().and_then(|id| self.find(id)) {
            if depth >= LONGEST_CHAIN || fixed.id == original.id {
                break;
            }
            original = fixed;
            depth += 1;
        }
        (original, depth)
    }
}

/// The innermost open repair of a task; `repairs` are by the id of what they repair.
fn open_repair<'a>(repairs: &BTreeMap<String, &'a Task>, task: &Task) -> Option<&'a Task> {
    let repair_of = |task: &Task| repairs.get(&task.id.to_ascii_lowercase()).copied();
    successors(repair_of(task), |repair| repair_of(repair)).take(1 + LONGEST_CHAIN).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(text: &str) -> Vec<String> {
        let list = TaskList::parse(text.as_bytes());
        list.next().iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn tasks_follow_the_list() {
        assert_eq!(next("- [x] T001 a\n- [ ] T002 b\n- [ ] T003 c\n"), ["T002"]);
        assert_eq!(next("- [x] T001 a\n"), Vec::<String>::new());
    }

    #[test]
    fn parallel_group_is_adjacent() {
        assert_eq!(
            next("- [ ] T001 [P] a\n- [x] T002 [P] b\n- [ ] T003 [P] c\n"),
            ["T001", "T003"]
        );
        assert_eq!(next("- [ ] T001 [P] a\n- [ ] T002 b\n- [ ] T003 [P] c\n"), ["T001"]);
        assert_eq!(next("- [ ] T001 [P] a\n## Phase 2\n- [ ] T002 [P] b\n"), ["T001"]);
        assert_eq!(
            next("- [ ] T001 [P] a\n\n**Checkpoint**: here\n\n- [ ] T002 [P] b\n"),
            ["T001"]
        );
    }

    #[test]
    fn long_group_comes_in_parts() {
        let list: Vec<_> = (1..=25).map(|number| format!("- [ ] T{number:03} [P] a")).collect();
        let part = next(&list.join("\n"));
        assert_eq!((part.len(), part[0].as_str(), part[9].as_str()), (10, "T001", "T010"));
    }

    #[test]
    fn repair_precedes_its_task() {
        let list = "- [ ] T001 a\n- [ ] T001.F1 [FIX T001] b\n- [ ] T001.F2 [FIX T001.F1] c\n";
        assert_eq!(next(list), ["T001.F2"]);
        let circle = "- [ ] T001 [FIX T002] a\n- [ ] T002 [FIX T001] b\n";
        assert_eq!(next(circle).len(), 1);
    }

    #[test]
    fn inner_repair_breaks_no_group() {
        let list = "- [ ] T001 [P] a\n- [x] T001.F1 [FIX T001] b\n- [ ] T002 [P] c\n";
        assert_eq!(next(list), ["T001", "T002"]);
        let list =
            "- [x] T001 [P] a\n- [ ] T002 [P] b\n- [ ] T003 [P] c\n- [ ] T003.F1 [FIX T003] d\n";
        assert_eq!(next(list), ["T002"]);
    }

    #[test]
    fn parts_precede_their_task() {
        let list = "- [ ] 1. a\n  - [x] 1.1 b\n  - [ ] 1.2 c\n    - [ ] 1.2.1 d\n- [ ] 2. e\n";
        assert_eq!(next(list), ["1.2.1"]);
        let list = "- [ ] T001 a\n  - [ ] the form checks its fields\n- [ ] T002 b\n";
        assert_eq!(next(list), ["T001"]);
    }

    #[test]
    fn repair_chain_reaches_its_original() {
        let list = TaskList::parse(
            b"- [ ] T001 a\n- [ ] T001.F1 [FIX T001] b\n- [ ] T001.F2 [FIX T001.F1] c\n",
        );
        let (original, depth) = list.original(&list.tasks[2]);
        assert_eq!((original.id.as_str(), depth), ("T001", 2));
    }
}
