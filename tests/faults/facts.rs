//! What the files of a project say, read without the program's own eyes wherever that can be done.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ralph_speckit::evidence::contents::KeptContents;
use ralph_speckit::store::loops::{Loops, Record};
use serde_json::Value;

use super::world::{CORRUPT, OTHER, OURS, World};

/// What a person or an agent can rely on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The lines of the task list.
    pub tasks: Vec<String>,
    /// The phase of the state file, empty where there is none.
    pub phase: String,
    /// Failed attempts by task.
    pub attempts: BTreeMap<String, u64>,
    /// The loop of each session.
    pub loops: BTreeMap<String, LoopFacts>,
    /// The session and the end of each pin, by feature.
    pub pins: BTreeMap<String, (Option<String>, Option<String>)>,
    /// How often something stands in the journals: the event, and its first word.
    pub journal: BTreeMap<String, usize>,
    /// The lines of the progress notes.
    pub progress: Vec<String>,
    /// The task and the proof of each receipt that is whole.
    pub receipts: Vec<(String, String)>,
}

/// A session's loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopFacts {
    pub kind: String,
    pub about: String,
    pub armed_at: u64,
    /// The name of its end, empty while it lives.
    pub end: String,
    pub paused: bool,
    pub iterations: u32,
}

impl Facts {
    /// The facts in the files. An error if a JSON file holds something else.
    pub fn read(world: &World) -> Result<Self, String> {
        files_load(world)?;
        let lines = |path: &Path| -> Vec<String> {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        };
        let state = fs::read(world.feature(".speckit-state.json")).ok();
        let state: Value =
            state.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let attempts = state["taskAttempts"].as_object().cloned().unwrap_or_default();
        let loops = Loops::kept_at(&world.root, Some(&world.kept()));
        let pins = pins(world);
        // Whoever took the loop over may have died behind the pin: the record counts, and does not say so yet.
        let moved = |session: &str| {
            let bytes = fs::read(world.record_path(session)).ok()?;
            let record: Record = serde_json::from_slice(&bytes).ok()?;
            let is_its = pins.get(&record.about) == Some(&(Some(session.to_owned()), None));
            is_its.then_some(record)
        };
        let of = |session: &str| {
            let record = loops.peek(session).or_else(|| moved(session))?;
            let end = record.ledger.ended.as_ref().map(|reason| reason.name().to_owned());
            let facts = LoopFacts {
                paused: record.pause().is_some(),
                iterations: record.ledger.iterations,
                end: end.unwrap_or_default(),
                kind: record.kind.to_string(),
                about: record.about,
                armed_at: record.armed_at.millis(),
            };
            Some((session.to_owned(), facts))
        };
        Ok(Self {
            tasks: lines(&world.feature("tasks.md")),
            phase: state["phase"].as_str().unwrap_or_default().to_owned(),
            attempts: attempts
                .iter()
                .map(|(id, n)| (id.clone(), n.as_u64().unwrap_or(0)))
                .collect(),
            loops: [OURS, OTHER].into_iter().filter_map(of).collect(),
            pins,
            journal: journal(world),
            progress: lines(&world.feature(".progress.md")),
            receipts: receipts(world),
        })
    }

    pub fn is_done(&self, id: &str) -> bool {
        self.tasks.iter().any(|line| line.starts_with(&format!("- [x] {id} ")))
    }

    /// How often a task has a receipt.
    pub fn receipts_of(&self, task: &str) -> usize {
        self.receipts.iter().filter(|(id, _)| id == task).count()
    }

    /// How often something was noted.
    pub fn noted(&self, what: &str) -> usize {
        self.journal.get(what).copied().unwrap_or(0)
    }

    /// The end of a session's loop: empty while it lives, `none` without a loop.
    pub fn end(&self, session: &str) -> &str {
        self.loops.get(session).map_or("none", |known| known.end.as_str())
    }

    /// The sessions whose loop lives, that of a feature by its pin.
    pub fn live(&self) -> Vec<&str> {
        let lives = |session: &str, it: &LoopFacts| {
            let pin = self.pins.get(&it.about);
            let is_its = pin
                .is_some_and(|(owner, ended)| ended.is_none() && owner.as_deref() == Some(session));
            it.end.is_empty() && (it.kind == "ralph" || is_its)
        };
        let live = self.loops.iter().filter(|(session, known)| lives(session, known));
        live.map(|(session, _)| session.as_str()).collect()
    }
}

/// Fails when a file of ours does not load. The last line of a journal may be torn.
fn files_load(world: &World) -> Result<(), String> {
    for (path, bytes) in world.files() {
        let name = path.file_name().unwrap().to_string_lossy();
        if path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(".speckit-"))
        {
            // A plugin that is not in its place yet.
            continue;
        }
        let fails = |what: &str| Err(format!("{} {what}", path.display()));
        let is_whole = |text: &[u8]| serde_json::from_slice::<Value>(text).is_ok();
        match path.extension().and_then(|end| end.to_str()) {
            // What the story itself has broken is no fault of ours.
            Some("json") if !is_whole(&bytes) && bytes != CORRUPT.as_bytes() => {
                return fails("does not load");
            }
            Some("jsonl") if !name.contains(".corrupt-") => {
                let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                if lines.filter(|line| !is_whole(line)).count() > 1 {
                    return fails("has more than one torn line");
                }
            }
            Some("contents" | "armed")
                if KeptContents::parse(bytes.clone())
                    .is_none_or(|kept| kept.contents.is_none()) =>
            {
                return fails("is no look at the files");
            }
            _ => {}
        }
    }
    Ok(())
}

fn receipts(world: &World) -> Vec<(String, String)> {
    let is_one = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("receipts-") && name.ends_with(".jsonl")
    };
    let files = world.files().into_iter().filter(|(path, _)| is_one(path));
    let bytes: Vec<u8> = files.flat_map(|(_, bytes)| bytes).collect();
    let lines = bytes.split(|byte| *byte == b'\n');
    let whole = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    whole.map(|receipt| (text(&receipt["task"]), text(&receipt["proof"]))).collect()
}

/// What the pins say, by feature. A pin is open where its record has ended, on a full disk say: the record counts.
fn pins(world: &World) -> BTreeMap<String, (Option<String>, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let object = |path: &Path| -> Value {
        let read = fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        read.unwrap_or_default()
    };
    let files = world.files();
    let pinned = files.iter().filter_map(|(path, _)| {
        let name = path.file_name()?.to_str()?.strip_prefix("feature-")?.strip_suffix(".json")?;
        let pin = object(path);
        let session = text(&pin["session"]).filter(|session| !session.is_empty());
        let own = format!("session-{}.json", session.as_deref().unwrap_or_default());
        let own = object(&path.with_file_name(own));
        let of_record = &own["ledger"]["ended"]["reason"];
        let is_its = own["armed_at"] == pin["armed_at"] && own["about"] == pin["about"];
        let ended = text(&pin["ended"]["reason"]["reason"]);
        let ended = ended.or_else(|| text(of_record).filter(|_| is_its));
        Some((name.to_owned(), (session, ended)))
    });
    pinned.collect()
}

fn journal(world: &World) -> BTreeMap<String, usize> {
    let mut noted = BTreeMap::new();
    for (path, bytes) in world.files() {
        if !path.ends_with("journal.jsonl") {
            continue;
        }
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(entry) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
            let words = text("words");
            let (event, first) = (text("event"), words.split(' ').next().unwrap_or_default());
            let what = match event.as_str() {
                "done" | "failed" | "added" | "repair" => format!("{event} {first}"),
                "stop" | "ended" => format!("{event} {} {}", text("verdict"), text("reason")),
                _ => event,
            };
            *noted.entry(what.trim_end().to_owned()).or_default() += 1;
        }
    }
    noted
}
