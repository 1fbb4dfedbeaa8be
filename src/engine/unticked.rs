//! Open tasks that may be done: the files that they name have changed, and nobody has ticked them.

use super::line::text_of;
use super::proof::{ChangedFile, NamedPath, TaskFacts, paths_in};
use super::tasks::{Task, TaskList};

/// The most tasks that are named at once.
const MOST: usize = 3;
/// The most open tasks that are asked about where time is no matter, the first ones of the list.
pub const FIRST: usize = 200;

/// An open task that may be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntickedTask {
    /// Its id.
    pub id: String,
    /// The files and folders that it names.
    pub names: Vec<String>,
}

/// Returns those of the `first` open tasks of a list, at most 3, that name files which have all changed and which no other task of
/// it names; never a check, one with open tasks nested in it, nor one that `is_known` leaves out. `text` are the bytes of the list,
/// `changed` the files that differ since the loop was armed. It is no proof: such a task may be done in part.
pub fn unticked(
    (list, text): (&TaskList, &[u8]),
    first: usize,
    changed: &[ChangedFile],
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<UntickedTask> {
    let mut found = Vec::new();
    if changed.is_empty() {
        return found;
    }
    for task in list.open().take(first) {
        if task.verify || is_known(&task.id) || list.nested_in(task).iter().any(|it| !it.done) {
            continue;
        }
        let (names, facts) = (names_of(task, text), TaskFacts::of(task, text));
        let is_work_of = |path: &NamedPath, of: &[NamedPath]| {
            changed.iter().any(|file| {
                path.covers(&file.path)
                    && facts.counts_as_named(file.change)
                    && of.iter().any(|other| other.covers(&file.path))
            })
        };
        if names.is_empty() || !names.iter().all(|path| is_work_of(path, &names)) {
            continue;
        }
        let others = list.tasks.iter().filter(|other| other.mark_at != task.mark_at);
        if others
            .map(|other| names_of(other, text))
            .any(|other| names.iter().any(|path| is_work_of(path, &other)))
        {
            continue;
        }
        let names = names.into_iter().map(|path| path.path).collect();
        found.push(UntickedTask { id: task.id.clone(), names });
        if found.len() == MOST {
            break;
        }
    }
    found
}

fn names_of(task: &Task, text: &[u8]) -> Vec<NamedPath> {
    paths_in(&text_of(text.get(task.block.clone()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::proof::ContentChange;

    fn named(list: &str, changed: &[(&str, ContentChange)], known: &[&str]) -> Vec<String> {
        let changed: Vec<ChangedFile> = changed
            .iter()
            .map(|(path, change)| ChangedFile { path: (*path).to_owned(), change: *change })
            .collect();
        let tasks = TaskList::parse(list.as_bytes());
        let found = unticked((&tasks, list.as_bytes()), FIRST, &changed, &|id| known.contains(&id));
        found.into_iter().map(|task| [&task.id, ": ", &task.names.join(" ")].concat()).collect()
    }

    const NEW: ContentChange = ContentChange::Content;

    #[test]
    fn an_open_task_is_named_when_all_its_files_have_changed_and_are_its_alone() {
        let list = "- [x] T001 Write lib/a.rs\n- [ ] T002 Write lib/b.rs and `README.md`\n- [ ] T003 Be fast\n";
        let both = [("lib/b.rs", NEW), ("README.md", NEW)];
        assert_eq!(named(list, &both, &[]), ["T002: lib/b.rs README.md"]);
        assert!(named(list, &both[..1], &[]).is_empty(), "one of two");
        assert!(named(list, &both, &["T002"]).is_empty(), "told before");
        assert!(named(list, &[], &[]).is_empty());
        let comments = [("lib/b.rs", ContentChange::Comments), ("README.md", NEW)];
        assert!(named(list, &comments, &[]).is_empty(), "comments are not what it asks for");
        let ignored = [("lib/b.rs", ContentChange::Ignored), ("README.md", NEW)];
        assert_eq!(named(list, &ignored, &[]).len(), 1);
        let shared = format!("{list}- [ ] T004 Test all in lib/\n");
        assert!(named(&shared, &both, &[]).is_empty(), "another task names its folder");
        let done = "- [x] T001 Begin lib/b.rs\n- [ ] T002 End lib/b.rs\n";
        assert!(named(done, &both, &[]).is_empty(), "it may have changed for the ticked one");
    }

    #[test]
    fn neither_a_check_nor_a_task_with_open_parts_is_named_and_no_more_than_three() {
        let changed = [("lib/a.rs", NEW), ("lib/b.rs", NEW), ("lib/c.rs", NEW), ("lib/d.rs", NEW)];
        assert!(named("- [ ] T001 [VERIFY] Look at lib/a.rs\n", &changed, &[]).is_empty());
        let nested = |mark: char| format!("- [ ] T001 Write lib/a.rs\n  - [{mark}] T002 Begin\n");
        assert!(named(&nested(' '), &changed, &[]).is_empty());
        assert_eq!(named(&nested('x'), &changed, &[]), ["T001: lib/a.rs"]);
        let four = ["a", "b", "c", "d"].map(|it| format!("- [ ] {it}1 Write lib/{it}.rs\n"));
        assert_eq!(named(&four.concat(), &changed, &[]).len(), MOST);
    }
}
