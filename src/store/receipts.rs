//! Receipts: what was seen when a task was ticked. They are kept beside the pins, where no file of a repository and no
//! edit of the agent gets; only ever appended to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::journal::behind_a_torn_one;
use super::pins::Pins;
use super::read::{self, Problem};
use super::write::{
    Flush, append_private_line, remove_if_there, write_private, write_private_parts,
};
use crate::engine::CheckResult;
use crate::engine::fields::{named, read_fields};
use crate::engine::proof::Proof;
use crate::engine::scoreboard::{Scoreboard, ScoredTask};
use crate::engine::tasks::TaskList;
use crate::world::WallTime;

/// The version that a receipt carries.
pub const VERSION: u32 = 1;
/// The size of the file, in bytes, at which another one begins; the one before it is kept.
const MOST: u64 = 4 << 20;
/// The most files that a receipt names.
pub const MOST_FILES: usize = 50;
/// What the name of the file ends with that keeps the specification.
const SPECIFICATION: &str = "spec";

/// What was seen when a task was ticked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Receipt {
    /// When it was written.
    pub at: WallTime,
    /// The version of its form.
    pub version: u32,
    /// The id of the task.
    pub task: String,
    /// The task list, relative to the project.
    pub list: String,
    /// Who saw the tick.
    pub by: Witness,
    /// The session that drove the loop, empty for none.
    pub session: String,
    /// The iteration that was going on, 0 for none.
    pub iteration: u32,
    /// The files that differ since the task began, the list itself left out, at most 50; `None` where nobody could look.
    pub files: Option<Vec<String>>,
    /// How many more files there are.
    pub more_files: u64,
    /// Whether the files were told by their content; otherwise by their times and sizes alone.
    pub by_content: bool,
    /// Commits since the task began, `None` where that is not known.
    pub commits: Option<u64>,
    /// Where the log of the head was read to, in bytes.
    pub log_read: u64,
    /// The run of its Verify command, `None` where it did not run.
    pub verify: Option<VerifyRun>,
    /// The checks of the loop, where they ran at the same time.
    pub checks: Vec<CheckResult>,
    /// The number of the attempt, from 1; 0 where nobody counts.
    pub attempt: u32,
    /// Tokens of the iteration in which it was ticked, `None` where that is not known.
    pub tokens: Option<u64>,
    /// How well the task is proved, `None` where nobody judged that.
    pub proof: Option<Proof>,
    /// The files that are its work, at most 50.
    pub own: Vec<String>,
    /// Why it changes nothing, or was dropped, in the agent's words; `None` where it does not say so.
    pub no_change: Option<String>,
    /// Why it is proved by tick and not better, `None` where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Who reviewed it, `None` for nobody.
    pub reviewer: Option<String>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Receipt {
    at, version, task, list, by, session, iteration, files, more_files, by_content, commits,
    log_read, verify, checks, attempt, tokens, proof, own, no_change, doubt, reviewer,
} kept more);

/// What the hook knows of a receipt.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct KnownReceipt {
    /// When it was written.
    pub at: WallTime,
    /// The id of the task.
    pub task: String,
    /// Whether it is of a box that was ticked by hand.
    pub by_hand: bool,
    /// Whether a review has written it, of a task that was ticked before.
    pub by_review: bool,
    /// The number of its line, from 0.
    pub number: usize,
    /// How well the task is proved, `None` where nobody judged that.
    pub proof: Option<Proof>,
    /// The files that had changed since the tick before, at most 50.
    pub files: Vec<String>,
    /// Those that are its work, at most 50.
    pub own: Vec<String>,
    /// Why it changes nothing, in the agent's words; `None` where it does not say so.
    pub no_change: Option<String>,
    /// Why it is proved by tick and not better, `None` where nothing is known.
    pub doubt: Option<String>,
    /// Whether its Verify command ran for it.
    pub ran_verify: bool,
    /// Whether a review has found it good.
    pub reviewed: bool,
    /// Whether its task was dropped.
    pub dropped: bool,
}

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

impl KnownReceipt {
    /// The files that its task was ticked for.
    pub fn paths(&self) -> &[String] {
        if self.own.is_empty() { &self.files } else { &self.own }
    }
}

/// One run of a Verify command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifyRun {
    /// How it ended.
    #[serde(flatten)]
    pub result: CheckResult,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// The receipts of one task list.
#[derive(Clone, Debug)]
pub struct Receipts {
    pub(super) pins: Pins,
    name: String,
    /// The list, `None` for all.
    list: Option<String>,
    /// What the names of the files begin with that are kept besides the receipts.
    kept: &'static str,
}

impl Receipts {
    /// The receipts of the task list of this feature or change, by its path relative to the project; an error where
    /// nothing can be kept outside of the project.
    pub fn of(root: &Path, name: &str, list: &str) -> io::Result<Self> {
        Ok(Self { list: Some(list.to_owned()), ..Self::named(root, name)? })
    }

    /// The receipts of all task lists of this name, for reading; an error in the same way.
    pub fn named(root: &Path, name: &str) -> io::Result<Self> {
        Ok(Self { pins: Pins::of(root)?, name: name.to_owned(), list: None, kept: "" })
    }

    /// The same receipts, beside which a run of `spool ralph` keeps what it began with.
    #[must_use]
    pub fn of_run(&self) -> Self {
        Self { kept: "run-", ..self.clone() }
    }

    /// The path of the list relative to the project, empty for all lists.
    pub fn list(&self) -> &str {
        self.list.as_deref().unwrap_or_default()
    }

    /// All that can be read, the oldest first; a line that a full disk has torn is left out.
    pub fn all(&self) -> Vec<Receipt> {
        let files = ["old.jsonl", "jsonl"].map(|end| self.bytes(end));
        files.iter().flat_map(|bytes| lines(bytes)).filter_map(|line| self.receipt(line)).collect()
    }

    /// The one of a tick that was written last, `None` without any; of the others only those of reviews behind it are
    /// taken apart.
    pub fn last(&self) -> Option<Receipt> {
        let of_tick = |line: &[u8]| self.receipt(line).filter(|it| it.by != Witness::Review);
        let newest = |end| lines(&self.bytes(end)).rev().find_map(of_tick);
        newest("jsonl").or_else(|| newest("old.jsonl"))
    }

    /// Returns those that have one of these texts in them, the oldest first; only they are taken apart.
    pub fn with(&self, texts: &[String]) -> Vec<Receipt> {
        let files = ["old.jsonl", "jsonl"].map(|end| self.bytes(end));
        let lines = files.iter().flat_map(|bytes| lines_with(bytes, texts));
        lines.filter_map(|line| self.receipt(line)).collect()
    }

    /// What each task has as its work by the receipts of this time or later that have one of these texts in them.
    ///
    /// The hook links it and [`Self::known`]: a receipt is read as a plain value, and not with all of its fields.
    pub fn claims(&self, texts: &[String], since: WallTime) -> Vec<KnownReceipt> {
        let files = ["old.jsonl", "jsonl"].map(|end| self.bytes(end));
        let lines = files.iter().flat_map(|bytes| lines_with(bytes, texts));
        lines.filter_map(|line| self.known_receipt(line, since, true)).collect()
    }

    /// What all receipts of this time or later say, the oldest first.
    pub fn since(&self, since: WallTime) -> Vec<KnownReceipt> {
        self.claims(&["\"task\":".to_owned()], since)
    }

    /// What `spool task done` has ticked since this time.
    pub fn done_since(&self, since: WallTime) -> Vec<KnownReceipt> {
        self.claims(&["\"by\":\"done\"".to_owned()], since)
    }

    /// The last receipt of each task of this time or later, by its id. Of those that no stop has written only the
    /// task is read.
    pub fn known(&self, since: WallTime) -> BTreeMap<String, KnownReceipt> {
        self.known_in(&self.files(), since)
    }

    fn known_in(&self, files: &[Vec<u8>; 2], since: WallTime) -> BTreeMap<String, KnownReceipt> {
        let lines = files.iter().flat_map(|bytes| lines(bytes)).zip(0..);
        let mut all: BTreeMap<String, KnownReceipt> = BTreeMap::new();
        for (line, number) in lines {
            let Some(known) = self.known_receipt(line, since, false) else { continue };
            // A review says nothing of the tick.
            if !(known.by_review && all.contains_key(&known.task)) {
                all.insert(known.task.clone(), KnownReceipt { number, ..known });
            }
        }
        all
    }

    /// What a line says, `None` for one of another list or before this time.
    fn known_receipt(&self, line: &[u8], since: WallTime, whole: bool) -> Option<KnownReceipt> {
        let line = behind_torn(line)?;
        let mut value: Value = Value::Null;
        if let Some(end) = memchr::memmem::find(line, b",\"session\":").filter(|_| !whole) {
            value = serde_json::from_slice(&[&line[..end], b"}"].concat()).ok()?;
        }
        if value["by"] != "done" {
            value = serde_json::from_slice(line).ok()?;
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let is_its = self.list.as_deref().is_none_or(|list| text("list") == Some(list));
        let at = value.get("at").and_then(Value::as_u64)?;
        let paths = |name: &str| {
            let all = value.get(name).and_then(Value::as_array);
            all.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Some(KnownReceipt {
            task: text("task").filter(|_| is_its && at >= since.millis())?.to_owned(),
            at: WallTime::from_millis(at),
            by_hand: matches!(text("by"), Some("stop" | "iteration")),
            by_review: text("by") == Some("review"),
            number: 0,
            proof: text("proof").and_then(named),
            files: paths("files"),
            own: paths("own"),
            no_change: text("no_change").map(str::to_owned),
            doubt: text("doubt").map(str::to_owned),
            ran_verify: value.get("verify").is_some_and(Value::is_object),
            reviewed: text("reviewer").is_some(),
            dropped: text("by") == Some("drop"),
        })
    }

    /// Appends receipts in one write, nothing for none: a program that is killed leaves all of them or nothing.
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
            let receipt = Receipt { version: VERSION, list, ..receipt.clone() };
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

    /// Appends for each task that it names that this reader has found it good: its last receipt since that time once more.
    ///
    /// Only the driver of a loop calls it, when a review that it has run itself has passed.
    pub fn reviewed(
        &self,
        reader: &str,
        since: WallTime,
        is_read: &dyn Fn(&str) -> bool,
    ) -> io::Result<()> {
        let reader = serde_json::to_string(reader)?;
        let files = self.files();
        for known in self.known_in(&files, since).into_values().filter(|it| is_read(&it.task)) {
            let line = files.iter().flat_map(|bytes| lines(bytes)).nth(known.number);
            if let Some(reviewed) = line.and_then(|line| as_reviewed(line, &reader)) {
                self.append(&reviewed)?;
            }
        }
        Ok(())
    }

    /// Appends receipts in one write and keeps what the files contain now, as these bytes in two parts, for the next task: a
    /// program that is killed leaves all of it or nothing.
    pub fn add_with(&self, receipts: &[Receipt], contents: (&[u8], &[u8])) -> io::Result<()> {
        let [next, kept] = ["next", "contents"].map(|end| self.path(end));
        let lines = self.lines(receipts)?;
        let last = memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1);
        // Its time and its task: a stop writes several at the same time.
        let head = memchr::memmem::find(&lines[last..], b",\"list\":").unwrap_or(0);
        self.pins.make()?;
        if self.kept_with_receipt().is_some() {
            // It would be lost with the file that takes its place, where this one comes to nothing.
            fs::rename(&next, &kept)?;
        }
        let parts = [&lines[last..last + head], b"\n", contents.0, contents.1];
        write_private_parts(&next, &parts, Flush::ToSystem)?;
        self.append(&lines)?;
        fs::rename(&next, &kept)
    }

    /// The paths of what is kept when a loop is armed: what the files contain, also for the next task, the list, and the specification.
    pub fn armed_paths(&self) -> [PathBuf; 4] {
        ["contents", "armed", "list", SPECIFICATION].map(|end| self.path(end))
    }

    /// Keeps what the specification says when a loop is armed.
    pub fn keep_specification(&self, bytes: &[u8]) -> io::Result<()> {
        self.pins.make()?;
        write_private(&self.path(SPECIFICATION), bytes, Flush::ToDisk)
    }

    /// Keeps what the files contain, as these bytes, and the list when a loop is armed with this number.
    pub fn keep_armed(&self, number: u64, contents: &[u8], list: &[u8]) -> io::Result<()> {
        self.keep_contents(contents)?;
        write_private(&self.path("armed"), contents, Flush::ToSystem)?;
        let list = [format!("{number}\n").as_bytes(), list].concat();
        write_private(&self.path("list"), &list, Flush::ToSystem)
    }

    /// The bytes that were kept of what the files contained when the loop was armed; `None` where there are none.
    pub fn armed_contents(&self) -> Option<Vec<u8>> {
        self.kept("armed")
    }

    /// The list as it was when the loop was armed with this number; `None` where it was not kept.
    pub fn armed_list(&self, number: u64) -> Option<Vec<u8>> {
        let kept = self.kept("list")?;
        kept.strip_prefix(format!("{number}\n").as_bytes()).map(<[u8]>::to_vec)
    }

    /// The bytes that were kept last of what the files contained, behind a line of the receipt that they were kept with
    /// where there was one; `None` where there are none.
    pub fn contents(&self) -> Option<Vec<u8>> {
        self.kept_with_receipt().or_else(|| self.kept("contents"))
    }

    /// What was kept by a program that was killed after it had written its receipt.
    fn kept_with_receipt(&self) -> Option<Vec<u8>> {
        self.kept("next").filter(|next| self.has_receipt_of(next))
    }

    /// Whether the receipt is written that what is kept has a line of.
    pub(super) fn has_receipt_of(&self, kept: &[u8]) -> bool {
        memchr::memchr(b'\n', kept).is_some_and(|end| {
            let line = [String::from_utf8_lossy(&kept[..end]).into_owned()];
            !self.claims(&line, WallTime::default()).is_empty()
        })
    }

    /// Keeps the bytes of what the files contain, for the next task.
    pub fn keep_contents(&self, bytes: &[u8]) -> io::Result<()> {
        self.pins.make()?;
        write_private(&self.path("contents"), bytes, Flush::ToSystem)?;
        self.remove("next")
    }

    fn kept(&self, end: &str) -> Option<Vec<u8>> {
        read::read(&self.path(end), 8 * MOST).ok().map(|content| content.bytes)
    }

    /// The same; an error where there is something that cannot be read.
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

    /// The receipts as they are on the disk, the older ones first.
    fn files(&self) -> [Vec<u8>; 2] {
        ["old.jsonl", "jsonl"].map(|end| self.bytes(end))
    }

    fn bytes(&self, end: &str) -> Vec<u8> {
        read::read(&self.path(end), 2 * MOST).map(|content| content.bytes).unwrap_or_default()
    }

    fn receipt(&self, line: &[u8]) -> Option<Receipt> {
        let whole = serde_json::from_slice(line).ok();
        let found: Receipt = whole.or_else(|| behind_a_torn_one(line, b"{\"at\":"))?;
        self.list.as_ref().is_none_or(|list| found.list == *list).then_some(found)
    }

    pub(super) fn path(&self, end: &str) -> PathBuf {
        let kept = if end.ends_with("jsonl") { "" } else { self.kept };
        self.pins.beside(&["receipts-", &self.name, ".", kept, end].concat())
    }
}

/// The receipt in a line, which may begin with what a full disk has torn.
fn behind_torn(line: &[u8]) -> Option<&[u8]> {
    Some(&line[memchr::memmem::rfind(line, b"{\"at\":")?..])
}

/// The receipt in a line once more, as that of a reader, which is a text of JSON; `None` for one that a reader has already.
fn as_reviewed(line: &[u8], reader: &str) -> Option<Vec<u8>> {
    let find = memchr::memmem::find;
    let line = behind_torn(line)?;
    let line = &line[memchr::memchr(b',', line)?..];
    let by = find(line, b"\"by\":\"")? + 6;
    let after = &line[by + memchr::memchr(b'"', &line[by..])? + 1..];
    if find(after, b"\"reviewer\":\"").is_some() {
        return None;
    }
    let none = b",\"reviewer\":null";
    let none = find(after, none).map_or(after.len()..after.len(), |at| at..at + none.len());
    let at = ["{\"at\":", &crate::world::now().millis().to_string()].concat();
    let by = [&line[..by], b"review\",\"reviewer\":", reader.as_bytes()].concat();
    Some([at.as_bytes(), &by, &after[..none.start], &after[none.end..]].concat())
}

/// What the specification of a feature said when its last loop was armed; `None` where that was not kept.
pub fn armed_specification(root: &Path, feature: &str) -> Option<Vec<u8>> {
    Receipts::named(root, feature).ok()?.kept(SPECIFICATION)
}

/// How well the tasks of these receipts are proved, as far as somebody has judged that.
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
    /// How well the tasks are proved that are done in this list, as far as receipts of this time or later say.
    ///
    /// The hook links it: a receipt is read as a plain value, and not with all of its fields.
    pub fn scoreboard(&self, since: WallTime, tasks: Option<&TaskList>) -> Scoreboard {
        let mut board = Scoreboard::default();
        for KnownReceipt { task, proof, reviewed, no_change, doubt, dropped, .. } in
            self.since(since)
        {
            if let Some(proof) = proof {
                board.add(ScoredTask { task, proof, reviewed, why: no_change.or(doubt), dropped });
            }
        }
        let (number, none) = (since.millis(), TaskList::default());
        let list = tasks.unwrap_or(&none);
        // The list may have other ids than the armed one.
        let armed = self.armed_list(number).or_else(|| self.of_run().armed_list(number));
        let armed = armed.map_or_else(|| list.clone(), |bytes| TaskList::parse(&bytes));
        let tasks = list.tasks.iter().chain(&list.left_out).filter(|task| task.done);
        let done = tasks.map(|task| armed.lasting_id(task, armed.same_task(task, list)));
        let done: BTreeSet<&str> = done.collect();
        board.retain(|task| task.dropped || done.contains(&*task.task));
        board
    }
}

/// The lines that have one of these texts in them, in their order.
fn lines_with<'a>(bytes: &'a [u8], texts: &[String]) -> Vec<&'a [u8]> {
    let mut starts = BTreeSet::new();
    for text in texts {
        for at in memchr::memmem::find_iter(bytes, text.as_bytes()) {
            starts.insert(memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1));
        }
    }
    let line = |start: usize| {
        let rest = &bytes[start..];
        &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
    };
    starts.into_iter().map(line).collect()
}

fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
