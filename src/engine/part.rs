//! The part that was finished while other tasks are open: a phase of the list, or the tasks up to a `[VERIFY]`
//! task.

use std::collections::BTreeMap;

use super::contract::ReviewWhen;
use super::fingerprint::Hasher;
use super::observation::FinishedPart;
use super::order::map_of;
use super::tasks::{Task, TaskList};

impl FinishedPart {
    /// The finished part of a list that is not reviewed yet. `None` also when no task is open: then all of the work is
    /// reviewed.
    ///
    /// `armed` gives the list at arming: tasks finished in that list are not reviewed. `armed` is called only if
    /// something is finished.
    pub fn of(
        when: ReviewWhen,
        list: &TaskList,
        reviewed: &[String],
        armed: &mut dyn FnMut() -> Option<TaskList>,
    ) -> Option<Self> {
        let tasks = &list.tasks;
        if when == ReviewWhen::End || tasks.iter().all(|task| task.done) {
            return None;
        }
        let (mut found, mut then) = (Self::default(), None);
        let mut from = 0;
        for (at, task) in tasks.iter().enumerate() {
            let next = tasks.get(at + 1);
            let is_last = match when {
                ReviewWhen::Verify => task.verify,
                _ => next.is_none_or(|next| next.phases != task.phases),
            };
            if !is_last {
                continue;
            }
            let group = &tasks[std::mem::replace(&mut from, at + 1)..=at];
            // Other tasks may be open before a check, but not in a phase.
            let deciding = if when == ReviewWhen::Verify { &tasks[at..=at] } else { group };
            if !deciding.iter().all(|task| task.done) {
                continue;
            }
            let mark = mark_of(deciding);
            if reviewed.contains(&mark) {
                continue;
            }
            let then: &BTreeMap<String, bool> = then.get_or_insert_with(|| {
                let armed = armed().unwrap_or_default();
                let all = armed.tasks.iter().chain(&armed.left_out);
                map_of(all.map(|task| (task.id.to_ascii_uppercase(), task.done)))
            });
            let was_done =
                |task: &Task| then.get(&task.id.to_ascii_uppercase()).is_some_and(|done| *done);
            if deciding.iter().all(was_done) {
                continue;
            }
            found.marks.push(mark);
            let done = group.iter().filter(|task| task.done);
            found.tasks.extend(done.map(|task| task.id.clone()));
        }
        (!found.marks.is_empty()).then_some(found)
    }
}

/// A phase with other tasks is another phase.
fn mark_of(tasks: &[Task]) -> String {
    let with_id = |hash: Hasher, task: &Task| hash.with(task.id.as_bytes()).with(b"\n");
    tasks.iter().fold(Hasher::default(), with_id).finish().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Tasks\n\n## Phase 1: Setup\n- [x] T001 a\n### Part\n- [x] T002 b\n- [x] T003 [VERIFY] c\n\n\
        ## Phase 2: Story\n- [x] T004 d\n- [x] T005 [VERIFY] e\n- [x] T006 f\n- [ ] T007 [VERIFY] g\n";

    fn part(
        when: ReviewWhen,
        text: &str,
        reviewed: &[String],
        armed: Option<&str>,
    ) -> Option<(String, Vec<String>)> {
        let list = TaskList::parse(text.as_bytes());
        let mut armed = || armed.map(|text| TaskList::parse(text.as_bytes()));
        let part = FinishedPart::of(when, &list, reviewed, &mut armed)?;
        Some((part.tasks.join(" "), part.marks))
    }

    #[test]
    fn finished_phase_is_reviewed_once() {
        let open = LIST.replace("[x] T002", "[ ] T002");
        let (tasks, marks) =
            part(ReviewWhen::Phases, LIST, &[], Some(&open)).expect("a finished phase");
        assert_eq!((tasks.as_str(), marks.len()), ("T001 T002 T003", 1));
        assert_eq!(part(ReviewWhen::Phases, LIST, &marks, Some(&open)), None);
        assert_eq!(part(ReviewWhen::Phases, &open, &[], Some(&open)), None);
        assert_eq!(part(ReviewWhen::End, LIST, &[], Some(&open)), None);
        // Tasks finished before arming are not the loop's work; a task added later is.
        assert_eq!(part(ReviewWhen::Phases, LIST, &[], Some(LIST)), None);
        let more = LIST.replace("- [x] T003", "- [x] T002.1 more\n- [x] T003");
        let (tasks, _) = part(ReviewWhen::Phases, &more, &marks, Some(LIST)).expect("a new task");
        assert_eq!(tasks, "T001 T002 T002.1 T003");
        let done = LIST.replace("[ ]", "[x]");
        assert_eq!(part(ReviewWhen::Phases, &done, &[], Some(&open)), None);
    }

    #[test]
    fn finished_phases_review_together() {
        let list = "### Phase 1\n- [x] T1 a\n### Phase 2\n- [x] T2 b\n### Phase 3\n- [ ] T3 c\n";
        let (tasks, marks) = part(ReviewWhen::Phases, list, &[], None).expect("two phases");
        assert_eq!((tasks.as_str(), marks.len()), ("T1 T2", 2));
        let (tasks, _) = part(ReviewWhen::Phases, list, &marks[..1], None).expect("one phase");
        assert_eq!(tasks, "T2");
    }

    #[test]
    fn ticked_check_has_tasks_reviewed() {
        let (tasks, marks) = part(ReviewWhen::Verify, LIST, &[], None).expect("checks");
        assert_eq!((tasks.as_str(), marks.len()), ("T001 T002 T003 T004 T005", 2));
        let open = LIST.replace("[x] T005", "[ ] T005");
        let (tasks, _) = part(ReviewWhen::Verify, LIST, &[], Some(&open)).expect("a check");
        assert_eq!(tasks, "T004 T005");
        // An open task before the check is not reviewed, and a task behind it has no check yet.
        let behind = LIST.replace("[x] T004", "[ ] T004");
        let (tasks, _) = part(ReviewWhen::Verify, &behind, &marks[..1], None).expect("a check");
        assert_eq!(tasks, "T005");
        assert_eq!(part(ReviewWhen::Verify, LIST, &marks, None), None);
    }
}
