//! The task list at the arming of the loop, and the fate of its tasks.

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

    /// The ticked tasks that were open when the loop was armed, or have been `opened` since; each with the id of its
    /// receipt.
    pub fn ticked<'b>(
        &'b self,
        list: &'b TaskList,
        opened: &dyn Fn(&Task, &str) -> bool,
    ) -> Vec<(&'b Task, &'b str)> {
        let mut then = self.list.tasks.as_slice();
        let mut ticked = Vec::new();
        for task in list.tasks.iter().filter(|task| task.done) {
            // Usually a list keeps its order.
            let is_same = |other: &Task| other.id == task.id && other.title == task.title;
            let (was_done, id) = if let Some(place) = then.iter().position(is_same) {
                let was_done = then[place].done;
                then = &then[place + 1..];
                (was_done, task.id.as_str())
            } else {
                let then = self.list.same_task(task, list);
                (then.is_some_and(|then| then.done), self.id_of(task, list))
            };
            if !was_done || opened(task, id) {
                ticked.push((task, id));
            }
        }
        ticked
    }

    /// The id in a task's receipt: the armed id, if another task of the list has that id now.
    pub fn id_of<'b>(&'b self, task: &'b Task, list: &TaskList) -> &'b str {
        let then = self.list.same_task(task, list).map(|then| then.id.as_str());
        then.filter(|id| *id != task.id && list.find(id).is_some()).unwrap_or(&task.id)
    }

    /// Open tasks that have left the list by both id and words.
    pub fn missing(&self, list: &TaskList) -> Vec<String> {
        // Nearly every list keeps its tasks in order.
        let mut now = list.tasks.iter();
        if self.list.open().all(|then| now.any(|task| task.id == then.id)) {
            return Vec::new();
        }
        let (removed, _) = list.since(&self.list.open_lines());
        let is_elsewhere = |id: &String| {
            let then = self.list.find(id);
            then.is_some_and(|then| list.tasks.iter().any(|task| task.title == then.title))
        };
        removed.removed.into_iter().filter(|id| !is_elsewhere(id)).collect()
    }
}
