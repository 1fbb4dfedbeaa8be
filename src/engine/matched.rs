//! Two task lists, task by task: which earlier task became which later one.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use memchr::arch::all::is_prefix;

use super::aside::AsideKind;
use super::line::Piece;
use super::observation::Tampered;
use super::order::{map_of, sorted};
use super::tasks::{Task, TaskList};

/// The tasks of a later list, each with the task of an earlier list that it was.
#[derive(Clone, Debug)]
pub struct Matched<'a> {
    earlier: &'a TaskList,
    pub later: &'a TaskList,
    /// For the later tasks, and then for those left out.
    all: Vec<Pair<'a>>,
    /// Titles of the earlier tasks that are ticked now, by id in capitals.
    done: OnceCell<BTreeMap<String, Piece>>,
}

/// The tasks of a later list that differ, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListChanges {
    /// Open tasks that are gone or reworded.
    pub tampered: Tampered,
    /// Were open, and are ticked now.
    pub ticked: Vec<String>,
    /// Were not there, and those of them that are ticked.
    pub added: Vec<String>,
    pub added_ticked: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    then: Option<&'a Task>,
    /// The earlier list has the id.
    has_known_id: bool,
}

impl<'a> Matched<'a> {
    /// Id and title decide; then the title alone, because an id may count places; then the id alone, because a title may
    /// be reworded. Where tasks took over each other's ids, the chain of ids is followed.
    pub fn of(earlier: &'a TaskList, later: &'a TaskList) -> Self {
        let is_same =
            |(now, then): (&Task, &Task)| (&now.id, &now.title) == (&then.id, &then.title);
        let is_alike = |later: &[Task], earlier: &[Task]| {
            later.len() == earlier.len() && later.iter().zip(earlier).all(is_same)
        };
        // Usually a list keeps its tasks in order.
        let all = if is_alike(&later.tasks, &earlier.tasks)
            && is_alike(&later.left_out, &earlier.left_out)
        {
            let is_found = |then: &&Task| then.aside == Some(AsideKind::Optional);
            let left_out = earlier.left_out.iter().map(|then| Some(then).filter(is_found));
            let all = earlier.tasks.iter().map(Some).chain(left_out);
            all.map(|then| Pair { then, has_known_id: then.is_some() }).collect()
        } else {
            matches(earlier, later)
        };
        Self { earlier, later, all, done: OnceCell::new() }
    }

    /// The later tasks, without those left out.
    fn pairs(&self) -> impl Iterator<Item = (&'a Task, Pair<'a>)> {
        self.later.tasks.iter().zip(self.all.iter().copied())
    }

    fn match_of(&self, task: &Task) -> Option<Pair<'a>> {
        let place = |tasks: &[Task]| tasks.binary_search_by_key(&task.mark_at, |one| one.mark_at);
        let left_out = |_| Ok(self.later.tasks.len() + place(&self.later.left_out)?);
        let place: Result<_, usize> = place(&self.later.tasks).or_else(left_out);
        Some(self.all[place.ok()?])
    }

    /// The earlier form of a task of the later list; `None` for a new one.
    pub fn then(&self, task: &Task) -> Option<&'a Task> {
        self.match_of(task)?.then
    }

    /// The id by which receipts know a task of the later list.
    pub fn lasting_id(&self, task: &'a Task) -> &'a str {
        self.match_of(task).map_or(&task.id, |found| found.lasting_id(task))
    }

    /// The ticked tasks that were open in the earlier list, or have been `opened` since; each with its lasting id.
    pub fn ticked(&self, opened: &dyn Fn(&Task, &str) -> bool) -> Vec<(&'a Task, &'a str)> {
        let is_ticked = |(task, found): (&'a Task, Pair<'a>)| {
            let id = found.lasting_id(task);
            let is_new = !found.then.is_some_and(|then| then.done) || opened(task, id);
            (task.done && is_new).then_some((task, id))
        };
        self.pairs().filter_map(is_ticked).collect()
    }

    pub fn changes(&self) -> ListChanges {
        let mut changes = ListChanges::default();
        for (task, Pair { then, .. }) in self.pairs() {
            if then.is_some_and(|then| !then.done && then.title != task.title) {
                changes.tampered.reworded.push(task.id.clone());
            }
            match then {
                None => {
                    changes.added.push(task.id.clone());
                    changes.added_ticked.extend(task.done.then(|| task.id.clone()));
                }
                Some(then) if task.done && !then.done => changes.ticked.push(task.id.clone()),
                Some(_) => {}
            }
        }
        changes.tampered.removed = self.missing();
        changes
    }

    /// Tasks that have left the list by both id and words.
    pub fn absent(&self) -> impl Iterator<Item = &'a Task> {
        let there = self.pairs().filter_map(|(_, found)| Some(found.then?.mark_at));
        let there = sorted(there.collect(), Ord::cmp);
        self.earlier.tasks.iter().filter(move |task| there.binary_search(&task.mark_at).is_err())
    }

    /// Open tasks that have left the list.
    pub fn missing(&self) -> Vec<String> {
        self.absent().filter(|task| !task.done).map(|task| task.id.clone()).collect()
    }

    /// True if the earlier task repeats one that is ticked now, or all tasks nested in it are ticked.
    pub fn has_done_parts(&self, then: &Task) -> bool {
        let ticked = |(now, found): (&Task, Pair<'a>)| {
            let then = found.then.filter(|_| now.done)?;
            Some((then.id.to_ascii_uppercase(), then.title.clone()))
        };
        let done = |id: &str| {
            let done = self.done.get_or_init(|| map_of(self.pairs().filter_map(ticked)));
            done.get(&id.to_ascii_uppercase())
        };
        let first = then.id.split_once('~').and_then(|(first, _)| done(first));
        let parts = self.earlier.nested_in(then);
        first.is_some_and(|title| *title == then.title)
            || (!parts.is_empty() && parts.iter().all(|part| done(&part.id).is_some()))
    }
}

impl<'a> Pair<'a> {
    /// The earlier id. A new task that took over an id of the earlier list goes by its words.
    fn lasting_id(self, task: &'a Task) -> &'a str {
        match self.then {
            Some(then) => &then.id,
            None if self.has_known_id => &task.title,
            None => &task.id,
        }
    }
}

/// Boxes in the lines of a list.
const OPEN: &str = "- ";
const DONE: &str = "x ";

impl TaskList {
    /// A line for each task: box, id, title.
    pub fn to_lines(&self) -> String {
        let mut lines = String::new();
        for task in &self.tasks {
            let mark = if task.done { DONE } else { OPEN };
            lines.extend([mark, &*task.id, " ", &*task.title, "\n"]);
        }
        lines
    }

    /// [`Matched::changes`] against an earlier list that is given by its lines; no changes without lines.
    pub fn since(&self, lines: &str) -> ListChanges {
        let (mut rest, mut ticked) = (lines.as_bytes(), Vec::new());
        // Usually only boxes differ. Then comparing lines saves the cost of the earlier list.
        let is_alike = self.tasks.iter().all(|task| {
            if task.done && !rest.starts_with(DONE.as_bytes()) {
                ticked.push(task.id.clone());
            }
            rest = rest.get(DONE.len()..).unwrap_or_default();
            [&*task.id, " ", &*task.title, "\n"].iter().all(|piece| {
                let is_there = is_prefix(rest, piece.as_bytes());
                rest = rest.get(piece.len()..).unwrap_or_default();
                is_there
            })
        });
        if lines.is_empty() {
            return ListChanges::default();
        }
        if is_alike && rest.is_empty() {
            return ListChanges { ticked, ..ListChanges::default() };
        }
        let task = |(place, (done, line)): (usize, (bool, &str))| {
            let (id, title) = line.split_once(' ').unwrap_or((line, ""));
            let title = Piece::of(&title.into(), 0..title.len());
            Task { id: id.to_owned(), title, done, mark_at: place, ..Task::default() }
        };
        let tasks = lines_of(lines).enumerate().map(task).collect();
        Matched::of(&Self { tasks, ..Self::default() }, self).changes()
    }
}

/// The ids of the open tasks in such lines.
pub fn open_in(lines: &str) -> impl Iterator<Item = &str> {
    let open = lines_of(lines).filter(|(done, _)| !done);
    open.map(|(_, line)| line.split(' ').next().unwrap_or(line))
}

/// Whether each task was done; id, space, title.
fn lines_of(lines: &str) -> impl Iterator<Item = (bool, &str)> {
    lines.lines().filter_map(|line| Some((line.starts_with(DONE), line.get(OPEN.len()..)?)))
}

/// One pass over both lists.
fn matches<'a>(earlier: &'a TaskList, later: &'a TaskList) -> Vec<Pair<'a>> {
    let (own, theirs) = (by_any_id(earlier), by_any_id(later));
    let find = |list: &BTreeMap<String, &'a Task>, task: &Task| {
        list.get(&task.id.to_ascii_lowercase()).copied()
    };
    let stays = |list: &BTreeMap<String, &'a Task>, task: &Task| {
        find(list, task).is_some_and(|other| other.title == task.title)
    };
    let mut titled: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for then in earlier.tasks.iter().filter(|then| !stays(&theirs, then)) {
        titled.entry(&then.title).or_default().push(then);
    }
    let moved = later.tasks.iter().filter(|task| !stays(&own, task));
    let moved = map_of(moved.rev().map(|task| (&*task.title, task)));
    let mut ends: BTreeMap<&str, Option<&Task>> = BTreeMap::new();
    let mut follow = |mut then: &'a Task| {
        let mut passed: Vec<&str> = Vec::new();
        let end = loop {
            if let Some(known) = ends.get(&*then.id) {
                break *known;
            }
            let Some(other) = moved.get(&*then.title) else { break Some(then) };
            passed.push(&then.id);
            // Ids that go round in a circle end nowhere.
            ends.insert(&then.id, None);
            match find(&own, other) {
                Some(next) => then = next,
                None => break None,
            }
        };
        ends.extend(passed.into_iter().map(|id| (id, end)));
        end
    };
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    let of_task = |task: &'a Task| {
        let same = find(&own, task);
        let has_known_id = same.is_some();
        if same.is_some_and(|then| then.title == task.title) {
            return Pair { then: same, has_known_id };
        }
        let place = met.entry(&task.title).or_default();
        *place += 1;
        let then = titled.get(&*task.title).and_then(|all| all.get(*place - 1));
        Pair { then: then.copied().or_else(|| follow(same?)), has_known_id }
    };
    later.tasks.iter().chain(&later.left_out).map(of_task).collect()
}

/// An index for the lookups of [`TaskList::find`].
fn by_any_id(list: &TaskList) -> BTreeMap<String, &Task> {
    let optional = list.left_out.iter().filter(|task| task.aside == Some(AsideKind::Optional));
    let all = optional.rev().chain(list.tasks.iter().rev());
    map_of(all.map(|task| (task.id.to_ascii_lowercase(), task)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> TaskList {
        TaskList::parse(text.as_bytes())
    }

    #[test]
    fn h7_long_list_tasks_are_found() {
        let long = |first: usize| {
            let lines = (first..first + 2_000).map(|at| format!("- [ ] T{at} Write {at}\n"));
            list(&lines.collect::<String>())
        };
        let (earlier, later) = (long(1), long(2));
        super::super::tasks::tests::LOOKED_AT.set(0);
        let matched = Matched::of(&earlier, &later);
        for task in &later.tasks[..1_999] {
            assert_eq!(matched.then(task).unwrap().title, task.title);
        }
        assert_eq!(super::super::tasks::tests::LOOKED_AT.get(), 0, "no search for each task");
    }

    #[test]
    fn long_list_parts_are_found() {
        let pairs =
            (0..2_000).map(|at| format!("- [x] T{at} a\n  - [x] T{at} b\n- [ ] ~~c {at}~~\n"));
        let list = list(&pairs.collect::<String>());
        super::super::tasks::tests::LOOKED_AT.set(0);
        let matched = Matched::of(&list, &list);
        assert_eq!((list.tasks.len(), list.left_out.len()), (4_000, 2_000));
        let with_parts = list.tasks.iter().filter(|task| matched.has_done_parts(task));
        assert_eq!(with_parts.count(), 2_000);
        assert_eq!(super::super::tasks::tests::LOOKED_AT.get(), 0, "no search for each task");
    }

    #[test]
    fn task_matches_one_earlier_task() {
        let earlier =
            list("- [x] T1 Write a\n- [ ] T2 Write b\n- [ ] T3 Try it\n- [ ] T4 Try it\n");
        let was = |text: &str| {
            let later = list(text);
            let matched = Matched::of(&earlier, &later);
            let id = |task| matched.then(task).map_or(String::new(), |then| then.id.clone());
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
    fn a_task_left_out_is_matched() {
        let earlier = list("- [ ] T1 a\n- [ ] T2 b\n");
        let later = list("- [ ] ~~T1 a~~\n- [ ] T2 b\n");
        let matched = Matched::of(&earlier, &later);
        assert_eq!(matched.then(&later.left_out[0]).unwrap().id, "T1");
        assert_eq!(matched.then(&later.tasks[0]).unwrap().id, "T2");
    }

    #[test]
    fn an_open_task_is_found_again() {
        let before = list("- [x] T0 z\n- [ ] T1 a b\n- [ ] T3\n- [ ] T4 d\n- [ ] T5 e\n");
        assert_eq!(before.to_lines(), "x T0 z\n- T1 a b\n- T3 \n- T4 d\n- T5 e\n");
        for (now, removed, reworded, done) in [
            ("- [x] T0 z\n- [x] T1 a b\n- [ ] T3\n- [x] T4 d\n- [ ] T5 e\n", "", "", "T1 T4"),
            ("- [x] T1 a b\n- [ ] T3\n- [x] T4 d\n- [ ] T5 e\n", "", "", "T1 T4"),
            ("- [ ] T5 e\n- [ ] T9 f\n- [x] T4 D\n- [ ] T1 a\n", "T3", "T4 T1", "T4"),
            (
                "- [x] T0 z\n- [x] T1 y\n- [x] T2 a b\n- [ ] T3\n- [ ] T5 d\n- [ ] T6 e\n",
                "",
                "",
                "T2",
            ),
            ("", "T1 T3 T4 T5", "", ""),
        ] {
            let ListChanges { tampered, ticked, added_ticked, .. } =
                list(now).since(&before.to_lines());
            assert_eq!(added_ticked.join(" "), if now.contains("x] T1 y") { "T1" } else { "" });
            let found = [tampered.removed, tampered.reworded, ticked].map(|ids| ids.join(" "));
            assert_eq!(found, [removed, reworded, done], "{now}");
        }
        assert_eq!(list("- [x] T1 a\n").since(""), ListChanges::default());
    }

    /// The rule for one task, by searches.
    fn same_task<'a>(earlier: &'a TaskList, later: &TaskList, task: &Task) -> Option<&'a Task> {
        let is_in = |list: &TaskList, task: &Task| {
            list.find(&task.id).is_some_and(|other| other.title == task.title)
        };
        let mut same = earlier.find(&task.id);
        if same.is_some_and(|then| then.title == task.title) {
            return same;
        }
        let of_title = |other: &&Task| other.title == task.title;
        let above = later.tasks.iter().take_while(|other| other.mark_at < task.mark_at);
        let place = above.filter(of_title).filter(|other| !is_in(earlier, other)).count();
        let mut then = earlier.tasks.iter().filter(of_title).filter(|then| !is_in(later, then));
        if let Some(then) = then.nth(place) {
            return Some(then);
        }
        for _ in &later.tasks {
            let title = &same?.title;
            let mut others = later.tasks.iter().filter(|other| other.title == *title);
            let Some(other) = others.find(|other| !is_in(earlier, other)) else { return same };
            same = earlier.find(&other.id);
        }
        None
    }

    proptest::proptest! {
        #[test]
        fn all_tasks_match_as_each_does(
            earlier in proptest::collection::vec((1..6_u8, 0..5_u8), 0..7),
            later in proptest::collection::vec((1..6_u8, 0..5_u8), 0..7),
        ) {
            let list = |tasks: &[(u8, u8)]| {
                let lines = tasks.iter().map(|(id, word)| format!("- [ ] T{id} word {word}\n"));
                list(&lines.collect::<String>())
            };
            let (earlier, later) = (list(&earlier), list(&later));
            let each: Vec<_> =
                later.tasks.iter().map(|task| same_task(&earlier, &later, task)).collect();
            let matched = Matched::of(&earlier, &later);
            let all: Vec<_> = later.tasks.iter().map(|task| matched.then(task)).collect();
            proptest::prop_assert_eq!(all, each);
        }
    }
}
