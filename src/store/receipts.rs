//! Receipts: what was seen when a task was ticked. The file is beside the pins, out of reach of a repository and of the
//! agent, and is only ever appended to.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pins::Pins;
use super::read::{self, Problem};
use super::write::{
    Flush, append_private_line, remove_if_there, write_private, write_private_parts,
};
use crate::engine::CheckResult;
use crate::engine::fields::read_fields;
use crate::engine::matched::Matched;
use crate::engine::order::map_of;
use crate::engine::proof::Proof;
use crate::engine::scoreboard::{Scoreboard, ScoredTask};
use crate::engine::tasks::TaskList;
use crate::world::{self, WallTime};

const RECEIPT_VERSION: u32 = 1;
/// At this size in bytes a new file begins; the one before is kept.
const MOST: u64 = 4 << 20;
/// Files named in one receipt.
pub const MOST_FILES: usize = 50;
/// The file's ending for the specification at arming.
const SPECIFICATION: &str = "spec";

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Receipt {
    pub at: WallTime,
    pub version: u32,
    /// The task's id.
    pub task: String,
    /// The task list, relative to the project.
    pub list: String,
    pub by: Witness,
    /// The session that drove the loop; empty for none.
    pub session: String,
    /// The iteration at that time; 0 for none.
    pub iteration: u32,
    /// Files that differ since the task began, at most 50, without the list. `None` if no look was possible.
    pub files: Option<Vec<String>>,
    /// Files beyond these 50.
    pub more_files: u64,
    /// The files were compared by content, not only by times and sizes.
    pub by_content: bool,
    /// Commits since the task began; `None` if unknown.
    pub commits: Option<u64>,
    /// The log of the head was read up to this byte.
    pub log_read: u64,
    /// `None` if the Verify command did not run.
    pub verify: Option<VerifyRun>,
    /// The loop's checks, if they ran at the same time.
    pub checks: Vec<CheckResult>,
    /// The attempt, from 1; 0 if attempts are not counted.
    pub attempt: u32,
    /// Tokens of the iteration with the tick; `None` if unknown.
    pub tokens: Option<u64>,
    /// `None` if the tick was not judged.
    pub proof: Option<Proof>,
    /// The task's work, at most 50 files.
    pub own: Vec<String>,
    /// For each of them hashes of its content before and after the task.
    pub steps: Vec<[u64; 2]>,
    /// The agent's reason why nothing changed, or why the task was dropped.
    pub no_change: Option<String>,
    /// Why the grade is only a tick; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// `None` without a review.
    pub reviewer: Option<String>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Receipt {
    at, version, task, list, by, session, iteration, files, more_files, by_content, commits,
    log_read, verify, checks, attempt, tokens, proof, own, steps, no_change, doubt, reviewer,
} kept more);

/// Who saw that a task was ticked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Witness {
    /// `spool task done`, which ticked it.
    #[default]
    Done,
    /// The runner, after the iteration in which somebody ticked it by hand.
    Iteration,
    /// The hook, at the stop before which somebody ticked it by hand.
    Stop,
    /// The driver, whose review read its work later and found it good; the rest is as in the receipt of the tick.
    Review,
    /// `spool task drop`: it is not to be done.
    Drop,
}

impl Receipt {
    /// Files that had changed since the tick before, at most 50.
    pub fn changed(&self) -> &[String] {
        self.files.as_deref().unwrap_or_default()
    }

    /// The task's work, or all changed files if no work is known.
    pub fn paths(&self) -> &[String] {
        if self.own.is_empty() { self.changed() } else { &self.own }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifyRun {
    #[serde(flatten)]
    pub result: CheckResult,
    pub millis: u64,
}

#[derive(Clone, Debug)]
pub struct Receipts {
    pub(super) pins: Pins,
    name: String,
    /// `None` for all lists.
    list: Option<String>,
    /// The beginning of the names of files beside the receipts.
    kept: &'static str,
}

impl Receipts {
    /// `name` is the feature or change, `list` a path relative to the project. An error if nothing can be kept outside
    /// of the project.
    pub fn of(root: &Path, name: &str, list: &str) -> io::Result<Self> {
        Ok(Self { list: Some(list.to_owned()), ..Self::named(root, name)? })
    }

    /// The receipts of all lists of this name, to be read only.
    pub fn named(root: &Path, name: &str) -> io::Result<Self> {
        Ok(Self { pins: Pins::of(root)?, name: name.to_owned(), list: None, kept: "" })
    }

    /// The same receipts, with the files of a run of `spool ralph` beside them.
    pub fn of_run(&self) -> Self {
        Self { kept: "run-", ..self.clone() }
    }

    /// Relative to the project; empty for all lists.
    pub fn list(&self) -> &str {
        self.list.as_deref().unwrap_or_default()
    }

    /// All readable receipts, the oldest first.
    pub fn all(&self) -> Vec<Receipt> {
        self.since(WallTime::default())
    }

    /// Those since a time, the oldest first.
    pub fn since(&self, at: WallTime) -> Vec<Receipt> {
        let files = self.files();
        let all = files.iter().flat_map(|bytes| lines(bytes)).filter_map(|line| self.receipt(line));
        all.filter(|receipt| receipt.at >= at).collect()
    }

    /// The newest receipt of a tick. Receipts of reviews behind it are skipped, and no older ones are parsed.
    pub fn last(&self) -> Option<Receipt> {
        let of_tick = |line: &[u8]| self.receipt(line).filter(|one| one.by != Witness::Review);
        let newest = |end| lines(&self.bytes(end)).rev().find_map(of_tick);
        newest("jsonl").or_else(|| newest("old.jsonl"))
    }

    /// Appends in one write: a killed program leaves all receipts, or none.
    pub fn add_all(&self, receipts: &[Receipt]) -> io::Result<()> {
        if receipts.is_empty() {
            return Ok(());
        }
        self.append(&self.lines(receipts)?)
    }

    fn lines(&self, receipts: &[Receipt]) -> io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for receipt in receipts {
            if !lines.is_empty() {
                lines.push(b'\n');
            }
            let list = self.list.clone().unwrap_or_default();
            let receipt = Receipt { version: RECEIPT_VERSION, list, ..receipt.clone() };
            serde_json::to_writer(&mut lines, &receipt)?;
        }
        Ok(lines)
    }

    fn append(&self, lines: &[u8]) -> io::Result<()> {
        self.pins.make()?;
        let path = self.path("jsonl");
        if fs::metadata(&path).is_ok_and(|meta| meta.len() > MOST) {
            fs::rename(&path, self.path("old.jsonl"))?;
        }
        append_private_line(&path, lines)
    }

    /// Repeats the last receipt of each task that `is_read` names, as found good by this reader.
    ///
    /// Only the driver of a loop calls this, when a review passed that it has run itself.
    pub fn reviewed(
        &self,
        reader: &str,
        since: WallTime,
        is_read: &dyn Fn(&str) -> bool,
    ) -> io::Result<()> {
        let (at, by, all) = (world::now(), Witness::Review, self.since(since));
        let reviewer = Some(reader.to_owned());
        let its = newest(&all).into_values().filter(|one| is_read(&one.task));
        let again: Vec<Receipt> = its
            .filter(|one| one.reviewer.is_none())
            .map(|one| Receipt { at, by, reviewer: reviewer.clone(), ..one.clone() })
            .collect();
        self.add_all(&again)
    }

    /// Appends receipts in one write and keeps the files' contents, in two parts, for the next task. A killed program
    /// leaves both, or neither.
    pub fn add_with(&self, receipts: &[Receipt], contents: (&[u8], &[u8])) -> io::Result<()> {
        let [next, kept] = ["next", "contents"].map(|end| self.path(end));
        let lines = self.lines(receipts)?;
        let last = memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1);
        // Time and task of the last one: a stop writes several receipts at one time.
        let head = memchr::memmem::find(&lines[last..], b",\"list\":").unwrap_or(0);
        self.pins.make()?;
        if self.kept_with_receipt().is_some() {
            // Renamed first: if the new file fails or gets no receipt, this one counts.
            fs::rename(&next, &kept)?;
        }
        let parts = [&lines[last..last + head], b"\n", contents.0, contents.1];
        write_private_parts(&next, &parts, Flush::ToSystem)?;
        self.append(&lines)?;
        fs::rename(&next, &kept)
    }

    /// Files that are kept at arming: the contents, twice; the list; the specification.
    pub fn armed_paths(&self) -> [PathBuf; 4] {
        ["contents", "armed", "list", SPECIFICATION].map(|end| self.path(end))
    }

    pub fn keep_specification(&self, bytes: &[u8]) -> io::Result<()> {
        self.pins.make()?;
        write_private(&self.path(SPECIFICATION), bytes, Flush::ToDisk)
    }

    /// Keeps the files' contents and the list at arming. `number` tells this loop from others.
    pub fn keep_armed(&self, number: u64, contents: &[u8], list: &[u8]) -> io::Result<()> {
        self.keep_contents(contents)?;
        write_private(&self.path("armed"), contents, Flush::ToSystem)?;
        let list = [format!("{number}\n").as_bytes(), list].concat();
        write_private(&self.path("list"), &list, Flush::ToSystem)
    }

    /// The files' contents at arming.
    pub fn armed_contents(&self) -> Option<Vec<u8>> {
        self.kept("armed")
    }

    /// The list at arming of the loop with this number.
    pub fn armed_list(&self, number: u64) -> Option<Vec<u8>> {
        let kept = self.kept("list")?;
        kept.strip_prefix(format!("{number}\n").as_bytes()).map(<[u8]>::to_vec)
    }

    /// The files' contents at the last tick or at arming, behind a line of the receipt that they were kept with, if
    /// any.
    pub fn contents(&self) -> Option<Vec<u8>> {
        self.kept_with_receipt().or_else(|| self.kept("contents"))
    }

    /// The contents kept by a program that was killed right after it had written its receipt.
    fn kept_with_receipt(&self) -> Option<Vec<u8>> {
        self.kept("next").filter(|next| self.has_receipt_of(next))
    }

    /// The first line of `kept` is part of a written receipt.
    pub(super) fn has_receipt_of(&self, kept: &[u8]) -> bool {
        let Some(end) = memchr::memchr(b'\n', kept) else { return false };
        let begin = Finder::new(&kept[..end]);
        let files = self.files();
        let mut its = files.iter().flat_map(|bytes| lines(bytes));
        its.any(|line| begin.find(line).is_some() && self.receipt(line).is_some())
    }

    /// Stores the contents that the next task is compared with.
    pub fn keep_contents(&self, bytes: &[u8]) -> io::Result<()> {
        self.pins.make()?;
        write_private(&self.path("contents"), bytes, Flush::ToSystem)?;
        self.remove("next")
    }

    fn kept(&self, end: &str) -> Option<Vec<u8>> {
        read::read(&self.path(end), 8 * MOST).ok().map(|content| content.bytes)
    }

    /// `None` for a missing file; an unreadable one is an error.
    pub(super) fn kept_if_any(&self, end: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(end);
        match read::read(&path, 8 * MOST) {
            Ok(content) => Ok(Some(content.bytes)),
            Err(Problem::Missing) => Ok(None),
            Err(why) => Err(io::Error::other(format!("`{}`: {why}", path.display()))),
        }
    }

    pub(super) fn remove(&self, end: &str) -> io::Result<()> {
        remove_if_there(&self.path(end))
    }

    /// The older file first.
    fn files(&self) -> [Vec<u8>; 2] {
        ["old.jsonl", "jsonl"].map(|end| self.bytes(end))
    }

    fn bytes(&self, end: &str) -> Vec<u8> {
        read::read(&self.path(end), 2 * MOST).map(|content| content.bytes).unwrap_or_default()
    }

    fn receipt(&self, line: &[u8]) -> Option<Receipt> {
        let found: Receipt = serde_json::from_slice(behind_torn(line)?).ok()?;
        self.list.as_ref().is_none_or(|list| found.list == *list).then_some(found)
    }

    pub(super) fn path(&self, end: &str) -> PathBuf {
        let kept = if end.ends_with("jsonl") { "" } else { self.kept };
        self.pins.beside(&["receipts-", &self.name, ".", kept, end].concat())
    }
}

/// The receipt in a line, which may begin with a torn one.
fn behind_torn(line: &[u8]) -> Option<&[u8]> {
    Some(&line[memchr::memmem::rfind(line, b"{\"at\":")?..])
}

/// The last receipt of each task, by the task's id. A review says nothing of the tick.
pub fn newest(receipts: &[Receipt]) -> BTreeMap<&str, &Receipt> {
    let mut all: BTreeMap<&str, &Receipt> = BTreeMap::new();
    for receipt in receipts {
        if receipt.by != Witness::Review || !all.contains_key(&*receipt.task) {
            all.insert(&receipt.task, receipt);
        }
    }
    all
}

/// The feature's specification at the arming of its last loop.
pub fn armed_specification(root: &Path, feature: &str) -> Option<Vec<u8>> {
    Receipts::named(root, feature).ok()?.kept(SPECIFICATION)
}

pub fn scoreboard<'a>(receipts: impl IntoIterator<Item = &'a Receipt>) -> Scoreboard {
    let mut board = Scoreboard::default();
    for receipt in receipts {
        if let Some(proof) = receipt.proof {
            board.add(ScoredTask {
                task: receipt.task.clone(),
                proof,
                reviewed: receipt.reviewer.is_some(),
                why: receipt.no_change.clone().or_else(|| receipt.doubt.clone()),
                dropped: receipt.by == Witness::Drop,
            });
        }
    }
    board
}

impl Receipts {
    /// The grades of the list's done tasks, by receipts since a time. `then` is the armed list, if the driver knows it.
    pub fn scoreboard(
        &self,
        since: WallTime,
        tasks: Option<&TaskList>,
        then: Option<&TaskList>,
    ) -> Scoreboard {
        let mut board = scoreboard(&self.since(since));
        let (number, none) = (since.millis(), TaskList::default());
        let list = tasks.unwrap_or(&none);
        // The list may have other ids than the armed one.
        let kept = || self.armed_list(number).or_else(|| self.of_run().armed_list(number));
        let kept = if then.is_none() { kept().map(|kept| TaskList::parse(&kept)) } else { None };
        let armed = then.or(kept.as_ref()).unwrap_or(list);
        let tasks = list.tasks.iter().chain(&list.left_out).filter(|task| task.done);
        let matched = Matched::of(armed, list);
        let done = map_of(tasks.map(|task| (matched.lasting_id(task), ())));
        board.retain(|task| task.dropped || done.contains_key(&*task.task));
        board
    }
}

fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
