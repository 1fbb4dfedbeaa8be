//! The evidence behind a promise without a check, for every driver: changed files since arming, and open boxes in the
//! lists that the task names.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::names::{FileName, names_in};
use super::{ArmedTerms, FilesSeen, JudgedPlace, TickJudge};
use crate::engine::matched::Matched;
use crate::engine::order::map_of;
use crate::engine::tasks::TaskList;
use crate::engine::{Difference, Ledger, NO_CHECK};
use crate::evidence::contents::Contents;
use crate::feature::lists::{is_called, may_be_list};
use crate::store::read::read;
use crate::store::receipts::Receipts;
use crate::text::counted;
use crate::world::WallTime;

/// Names that are looked for, lists that are read, and bytes of each.
const MOST_NAMES: usize = 500;
const MOST_LISTS: usize = 128;
const MOST: u64 = 1 << 20;
/// Separates the task from its lists in the stored text.
const END: &str = "\n\0\n";

/// The judge of a promise armed at `at`.
pub fn promise_judge(folder: &Path, receipts: Receipts, at: WallTime) -> TickJudge {
    let place = JudgedPlace { folder: folder.to_owned(), ..JudgedPlace::default() };
    TickJudge::of(place, ArmedTerms { at, ..ArmedTerms::default() }, receipts)
}

/// Keeps the files' contents and the task's lists; `limit` bounds the look.
pub fn arm(judge: &TickJudge, task: &str, limit: Duration) -> io::Result<()> {
    let lists = lists_in(&judge.place.folder, task, None);
    judge.arm(&with_lists(task, &lists), limit).map(drop)
}

/// Compares the files, and lists the doubts about the promise. `task` counts only if no task was stored. `otherwise`
/// decides if the files cannot be compared.
pub fn against(
    judge: Option<&TickJudge>,
    (folder, task): (&Path, &str),
    limit: Duration,
    otherwise: impl FnOnce() -> Difference,
) -> (Difference, String) {
    let FilesSeen { now, facts, .. } = judge.map(|judge| judge.look(limit)).unwrap_or_default();
    let since = match &now {
        Some(_) if facts.since_arming.is_empty() => Difference::Same,
        Some(_) => Difference::Changed,
        None => otherwise(),
    };
    let armed = judge.and_then(TickJudge::armed_list);
    let kept = armed.map(|list| String::from_utf8_lossy(&list.bytes));
    let task = kept.as_deref().and_then(|kept| kept.split(END).next()).unwrap_or(task);
    let lists = lists_in(folder, task, now.as_ref());
    let still = (since == Difference::Same).then(|| "no changed file".to_owned());
    let open = open_tasks(&lists);
    let all = TaskList::parse(&with_lists(task, &lists));
    let gone = armed.map_or(0, |armed| Matched::of(&armed.list, &all).missing().len() as u64);
    let gone = (gone > 0).then(|| format!("{} gone from the list", counted(gone, "open task")));
    let words = [NO_CHECK.to_owned()].into_iter().chain(still).chain(open).chain(gone);
    (since, words.collect::<Vec<_>>().join(", "))
}

/// Doubts about an end that the checks decide: open boxes of the lists that the task names.
pub fn left_open(folder: &Path, task: &str) -> String {
    open_tasks(&lists_in(folder, task, None)).collect::<Vec<_>>().join(", ")
}

/// The doubts about an end, as a person reads them; empty for none.
pub fn doubt(Ledger { against, checked, .. }: &Ledger) -> String {
    let why = if *checked { "the checks passed, but " } else { "on the agent's word alone: " };
    if against.is_empty() { String::new() } else { [why, against].concat() }
}

fn open_tasks(lists: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    lists.iter().filter_map(|(path, text)| {
        let list = TaskList::parse(text.as_bytes());
        let open = list.open().count() as u64;
        let tasks = (open > 0).then(|| format!("{} open in {path}", counted(open, "task")));
        tasks.or_else(|| list.uncounted().map(|boxes| format!("in {path}, {boxes}")))
    })
}

/// The lists that a task names: path and text. A name means the file at its path, else all `files` that match, also below
/// a folder; without an ending it means the only one that matches. A pattern means all that match.
fn lists_in(folder: &Path, task: &str, files: Option<&Contents>) -> BTreeMap<String, String> {
    let task = task.replace(&format!("{}/", folder.display()), "").replace('@', " ");
    let files = files.into_iter().flat_map(|files| files.paths(u64::MAX));
    let files: Vec<&str> = files.filter(|path| may_be_list(path)).collect();
    let is_end = |sign: char| sign.is_whitespace() || "`'\",;()".contains(sign);
    let words: Vec<&str> = task.split(is_end).filter(|word| word.contains('*')).collect();
    let names = names_in(&task).into_iter().take(MOST_NAMES);
    let (there, mut others): (Vec<_>, Vec<_>) =
        names.partition(|name| folder.join(&name.path).is_file());
    for FileName { path, .. } in &mut others {
        if !path.ends_with('/') && folder.join(&*path).is_dir() {
            path.push('/');
        }
    }
    let is_meant = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        words.iter().any(|word| word.len() > 3 && is_called(path, word))
            || others.iter().any(|name| name.covers(path))
            // Words of some languages stand right beside a name.
            || (!name.is_ascii() && task.contains(name))
    };
    let all = files.iter().filter(|path| is_meant(path)).copied();
    // `the TODO` is `TODO.md`.
    let only = others.iter().filter_map(|name| {
        let has_stem =
            |path: &&&str| path.rsplit_once('.').is_some_and(|(stem, _)| name.covers(stem));
        let mut meant = files.iter().filter(has_stem);
        meant.next().filter(|_| meant.next().is_none()).copied()
    });
    let paths = there.iter().map(|name| &*name.path).chain(only).chain(all);
    map_of(paths.take(MOST_LISTS).filter_map(|path| {
        let bytes = read(&folder.join(path), MOST).ok()?.bytes;
        let is_list = may_be_list(path) || !TaskList::parse(&bytes).tasks.is_empty();
        is_list.then(|| (path.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
    }))
}

fn with_lists(task: &str, lists: &BTreeMap<String, String>) -> Vec<u8> {
    lists.values().fold([task, END].concat(), |all, list| all + list + "\n").into_bytes()
}
