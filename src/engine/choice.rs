//! Which task comes next: the first open one, its repairs before it, a parallel group together.

use super::tasks::{Task, TaskList};

impl TaskList {
    /// Returns the tasks to do now, in the order of the list: none when all are done, several for a
    /// parallel group.
    ///
    /// A group is the run of `[P]` tasks around the first open one; a heading, a checkpoint or a
    /// task without the mark ends it. An open repair of a task comes before the task itself.
    pub fn next(&self) -> Vec<&Task> {
        let Some(first) = self.tasks.iter().position(|task| !task.done) else {
            return Vec::new();
        };
        let task = &self.tasks[first];
        if let Some(repair) = self.open_repair(task, 0) {
            return vec![repair];
        }
        if !task.parallel {
            return vec![task];
        }
        let group = self.tasks[first..]
            .iter()
            .take_while(|other| other.parallel && other.section == task.section)
            .filter(|other| !other.done && self.open_repair(other, 0).is_none());
        group.collect()
    }

    /// The innermost open repair of a task; `depth` bounds lists whose repairs go round in a circle.
    fn open_repair(&self, task: &Task, depth: usize) -> Option<&Task> {
        let repair = self.tasks.iter().find(|other| {
            !other.done
                && other.id != task.id
                && other.fixes.as_ref().is_some_and(|id| id.eq_ignore_ascii_case(&task.id))
        })?;
        if depth >= 8 {
            return Some(repair);
        }
        self.open_repair(repair, depth + 1).or(Some(repair))
    }

    /// Returns the task that a chain of repairs goes back to: the task itself when it repairs nothing.
    pub fn original<'a>(&'a self, task: &'a Task) -> (&'a Task, usize) {
        let mut original = task;
        let mut depth = 0;
        while let Some(fixed) = original.fixes.as_ref().and_then(|id| self.find(id)) {
            if depth >= 8 || fixed.id == original.id {
                break;
            }
            original = fixed;
            depth += 1;
        }
        (original, depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(text: &str) -> Vec<String> {
        let list = TaskList::parse(text.as_bytes());
        list.next().iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn tasks_come_one_by_one_in_the_order_of_the_list() {
        assert_eq!(next("- [x] T001 a\n- [ ] T002 b\n- [ ] T003 c\n"), ["T002"]);
        assert_eq!(next("- [x] T001 a\n"), Vec::<String>::new());
    }

    #[test]
    fn a_parallel_group_is_adjacent_and_ends_at_a_heading_a_checkpoint_or_an_unmarked_task() {
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
    fn an_open_repair_comes_before_the_task_it_repairs() {
        let list = "- [ ] T001 a\n- [ ] T001.F1 [FIX T001] b\n- [ ] T001.F2 [FIX T001.F1] c\n";
        assert_eq!(next(list), ["T001.F2"]);
        let circle = "- [ ] T001 [FIX T002] a\n- [ ] T002 [FIX T001] b\n";
        assert_eq!(next(circle).len(), 1);
    }

    #[test]
    fn a_chain_of_repairs_goes_back_to_its_original() {
        let list = TaskList::parse(
            b"- [ ] T001 a\n- [ ] T001.F1 [FIX T001] b\n- [ ] T001.F2 [FIX T001.F1] c\n",
        );
        let (original, depth) = list.original(&list.tasks[2]);
        assert_eq!((original.id.as_str(), depth), ("T001", 2));
    }
}
