//! What a person should look at who reads nothing but the end of a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::messages::some_of;
use super::screen::counted;
use super::task_list::{finder, list_at};
use crate::engine::Converging;
use crate::evidence::work_trees::{copies, path_from};
use crate::judge::promised::BY_WORD;
use crate::session::messages::shortfall::{NOT_COMPARED, NOT_CONVERGED};
use crate::system::files::real_path;
use crate::system::names;
use crate::text::{counted_as, title};
use crate::world::WallTime;

/// The most tasks that are named.
const NAMED: usize = 10;

/// What is known at the end of a loop.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The work tree.
    pub worktree: &'a Path,
    /// When the run began.
    pub run: Option<WallTime>,
    /// The task list that the loop went by, `None` for none.
    pub list: Option<&'a Path>,
    /// Which boxes of it are open although it counts as done, in words; `None` for none.
    pub uncounted: Option<String>,
    /// The tasks that were open at the start, by id.
    pub open_at_start: &'a [String],
    /// How many boxes were ticked.
    pub ticked: usize,
    /// The files that were changed, relative to the work tree.
    pub touched: &'a BTreeSet<PathBuf>,
    /// What speaks against the promise alone that ended the loop, in words; empty for nothing.
    pub by_word: &'a str,
    /// The tasks that change nothing, with why, in the agent's words.
    pub no_change: &'a BTreeMap<String, String>,
    /// What the review that has passed leaves to a person, a sentence each.
    pub noted: Vec<String>,
    /// How many files should have been committed, and were not.
    pub uncommitted: usize,
    /// What came of the converge command of spec-kit.
    pub converging: Converging,
    /// The extension hooks of spec-kit that had to run before the work was done, in words; empty for none.
    pub hooks: String,
}

/// Returns what speaks against taking the end at its word, a sentence each; nothing of it is proof.
pub fn doubts(facts: &Facts<'_>) -> Vec<String> {
    let all = [
        (!facts.by_word.is_empty()).then(|| [BY_WORD, facts.by_word].concat()),
        only_boxes(facts),
        unchanged(facts),
        vanished(facts),
        facts.uncounted.clone(),
        elsewhere(facts),
        uncommitted(facts),
        unseen_hooks(facts),
        not_compared(facts),
    ];
    all.into_iter().flatten().chain(facts.noted.iter().cloned()).collect()
}

fn only_boxes(facts: &Facts<'_>) -> Option<String> {
    let list = real_path(facts.list?).ok();
    let is_list =
        |file: &PathBuf| list.is_some() && real_path(&facts.worktree.join(file)).ok() == list;
    if facts.ticked == 0 || !facts.touched.iter().all(is_list) {
        return None;
    }
    let boxes = counted_as(facts.ticked, "box was", "boxes were");
    Some(format!("{boxes} ticked, and no other file was changed: see whether the work is there"))
}

fn unchanged(facts: &Facts<'_>) -> Option<String> {
    let all = facts.no_change;
    let shown = all.iter().take(NAMED).map(|(id, why)| format!("{id} ({})", title(why, 80)));
    let named = shown.collect::<Vec<_>>().join(", ");
    let more = if all.len() > NAMED { ", …" } else { "" };
    let tasks = counted(all.len() as u64, "task");
    (!all.is_empty())
        .then(|| format!("{tasks} changed nothing, and the agent says why: {named}{more}"))
}

fn vanished(facts: &Facts<'_>) -> Option<String> {
    let list = list_at(facts.list?)?;
    let find = finder(&list);
    let is_gone = |id: &&String| find(id).is_none();
    let gone: Vec<&str> = facts.open_at_start.iter().filter(is_gone).map(String::as_str).collect();
    let (tasks, named) = (counted_as(gone.len(), "task was", "tasks were"), some_of(&gone));
    (!gone.is_empty())
        .then(|| format!("{tasks} open at the start, and not in the list any more: {named}"))
}

fn elsewhere(facts: &Facts<'_>) -> Option<String> {
    let root = facts.worktree;
    let has_work = |copy: &PathBuf| {
        let path = path_from(root, copy);
        let path = names::from_bytes(&path);
        facts.touched.iter().any(|file| file.starts_with(&*path))
    };
    let copies = copies(root, facts.run).into_iter().filter(has_work);
    let named: Vec<String> = copies.map(|copy| title(&copy.to_string_lossy(), 200)).collect();
    (!named.is_empty()).then(|| format!("work is in another work tree: {}", named.join(", ")))
}

fn uncommitted(facts: &Facts<'_>) -> Option<String> {
    (facts.uncommitted > 0).then(|| {
        let files = counted(facts.uncommitted as u64, "file");
        format!("{files} could not be committed: see `git status`")
    })
}

fn not_compared(facts: &Facts<'_>) -> Option<String> {
    let is_over = facts.converging.is_over() && !facts.converging.passed;
    let words = if facts.converging.asked.is_some() { NOT_CONVERGED } else { NOT_COMPARED };
    (is_over || facts.converging.asked.is_some()).then(|| words.to_owned())
}

/// Nobody tells a runner which commands an agent has carried out.
fn unseen_hooks(facts: &Facts<'_>) -> Option<String> {
    (!facts.hooks.is_empty()).then(|| {
        format!(
            "whether the extension hooks of spec-kit ran cannot be seen from here: {}",
            facts.hooks
        )
    })
}
