//! The task list at the arming of the loop, and the fate of its tasks.

use crate::engine::order::sorted;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::task_list::TaskFile;

impl TaskFile {
    /// The texts of the open tasks.
    pub(super) fn open_text(&self) -> String {
        let blocks = self.list.open().filter_map(|task| self.bytes.get(task.block.clone()));
        blocks.map(String::from_utf8_lossy).collect()
    }

    /// The task repeats one that is ticked in a later list, or all tasks nested in it are ticked.
    pub(super) fn has_done_parts(&self, then: &Task, list: &TaskList) -> bool {
        let parts = self.list.nested_in(then);
        let done = || list.tasks.iter().filter(|task| task.done);
        let is_done = |part: &Task| {
            // Usually a list keeps its order.
            let place = self.list.tasks.partition_point(|other| other.mark_at < part.mark_at);
            let is_same = |now: &&Task| now.id == part.id && now.title == part.title;
            let near = list.tasks.get(place).filter(is_same);
            let is_any = || done().any(|now| self.list.same_task(now, list) == Some(part));
            near.map_or_else(is_any, |now| now.done)
        };
        let first = then.id.split_once('~').and_then(|(first, _)| self.list.find(first));
        let is_repeat = first.is_some_and(|first| {
            let is_first = |now: &Task| now.done && now.title == first.title;
            first.title == then.title && list.find(&first.id).is_some_and(is_first)
        });
        is_repeat || (!parts.is_empty() && parts.iter().all(is_done))
    }

    /// The tasks of a later list, each with the armed one that it was.
    fn pairs<'b>(&'b self, list: &'b TaskList) -> Vec<(&'b Task, Option<&'b Task>)> {
        let is_same =
            |(now, then): (&Task, &Task)| (&now.id, &now.title) == (&then.id, &then.title);
        // Usually a list keeps its tasks in order.
        if list.tasks.len() == self.list.tasks.len()
            && list.tasks.iter().zip(&self.list.tasks).all(is_same)
        {
            return list.tasks.iter().zip(self.list.tasks.iter().map(Some)).collect();
        }
        list.tasks.iter().zip(self.list.same_tasks(list)).collect()
    }

    /// The ticked tasks that were open when the loop was armed, or have been `opened` since; each with the id of its
    /// receipt.
    pub fn ticked<'b>(
        &'b self,
        list: &'b TaskList,
        opened: &dyn Fn(&Task, &str) -> bool,
    ) -> Vec<(&'b Task, &'b str)> {
        let is_ticked = |(task, then): (&'b Task, Option<&'b Task>)| {
            let id = self.list.lasting_id(task, then);
            let is_new = !then.is_some_and(|then| then.done) || opened(task, id);
            (task.done && is_new).then_some((task, id))
        };
        self.pairs(list).into_iter().filter_map(is_ticked).collect()
    }

    /// Tasks that have left the list by both id and words.
    pub fn absent(&self, list: &TaskList) -> impl Iterator<Item = &Task> {
        let there = self.pairs(list).into_iter().filter_map(|(_, then)| Some(then?.mark_at));
        let there = sorted(there.collect(), Ord::cmp);
        self.list.tasks.iter().filter(move |task| there.binary_search(&task.mark_at).is_err())
    }

    /// Such tasks that were open.
    pub fn missing(&self, list: &TaskList) -> Vec<String> {
        self.absent(list).filter(|task| !task.done).map(|task| task.id.clone()).collect()
    }
}
