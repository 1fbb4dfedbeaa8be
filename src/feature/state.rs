//! `.speckit-state.json`: read leniently, written whole, unknown fields kept (spec 003, FR-13, NFR-3).

use std::io;

use serde_json::{Map, Value, json};

use super::project::Feature;
use super::{MOST_STATE, STATE};
use crate::store::read::{Problem, read_in};
use crate::store::settled::{PATIENCE, read_settled};
use crate::store::write::{Flush, write_whole};
use crate::world::Deadline;

/// The fields of the file, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    fields: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    Missing,
    /// The file cannot be opened or read at the moment, and may be whole.
    Unopened {
        /// The system's words.
        why: String,
    },
    /// The file is not ours, or no JSON object.
    Corrupt {
        /// With the line of the fault.
        why: String,
        /// Empty when nothing could be read.
        bytes: Vec<u8>,
    },
}

impl State {
    /// Waits at most 2 s for a writer to finish.
    pub fn read(feature: &Feature) -> Result<Self, StateError> {
        Self::read_by(feature, Deadline::after(PATIENCE))
    }

    /// Waits until the deadline for a writer to finish.
    pub fn read_by(feature: &Feature, deadline: Deadline) -> Result<Self, StateError> {
        let whole = |bytes: &[u8]| Self::parse(bytes).is_ok();
        match read_settled(&feature.folder, STATE, MOST_STATE, deadline, whole) {
            Ok(content) => Self::parse(&content.bytes)
                .map_err(|why| StateError::Corrupt { why, bytes: content.bytes }),
            Err(Problem::Missing) => Err(StateError::Missing),
            Err(Problem::Refused(why)) if !feature.folder.join(STATE).is_symlink() => {
                Err(StateError::Unopened { why })
            }
            Err(problem) => {
                Err(StateError::Corrupt { why: problem.to_string(), bytes: Vec::new() })
            }
        }
    }

    /// For a reader that keeps others from writing; waits only if the file is no whole document yet.
    pub fn read_at_once(feature: &Feature) -> Result<Self, StateError> {
        let found = read_in(&feature.folder, STATE, MOST_STATE).ok();
        let state = found.and_then(|content| Self::parse(&content.bytes).ok());
        state.map_or_else(|| Self::read(feature), Ok)
    }

    /// An error names the fault and its line.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        // An editor on Windows writes a byte order mark first.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Err("the file is empty (line 1)".to_owned());
        }
        let fields = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        Ok(Self { fields })
    }

    /// Writes the whole file, flushed to the disk.
    pub fn write(&self, feature: &Feature) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(&self.fields)?;
        bytes.push(b'\n');
        write_whole(&feature.folder.join(STATE), &bytes, Flush::ToDisk)
    }

    /// Empty when the file names none.
    pub fn phase(&self) -> &str {
        self.fields.get("phase").and_then(Value::as_str).unwrap_or_default()
    }

    /// Finished tasks by the file's own count.
    pub fn task_index(&self) -> u64 {
        self.number("taskIndex", 0)
    }

    /// All tasks by the file's own count.
    pub fn total_tasks(&self) -> u64 {
        self.number("totalTasks", 0)
    }

    /// The attempt at the present task, from 1.
    pub fn task_iteration(&self) -> u32 {
        self.count("taskIteration", 1)
    }

    /// Default 5.
    pub fn max_task_iterations(&self) -> u32 {
        self.count("maxTaskIterations", 5)
    }

    /// The iteration by the file's own count, from 1.
    pub fn global_iteration(&self) -> u32 {
        self.count("globalIteration", 1)
    }

    /// Default 100.
    pub fn max_global_iterations(&self) -> u32 {
        self.count("maxGlobalIterations", 100)
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The loop waits for a person's approval.
    pub fn awaits_approval(&self) -> bool {
        self.fields.get("awaitingApproval").is_some_and(|value| *value == Value::Bool(true))
    }

    /// A failed task gets a repair task (`recoveryMode`).
    pub fn recovers(&self) -> bool {
        self.fields.get("recoveryMode").is_some_and(|value| *value == Value::Bool(true))
    }

    /// Repairs of one original task; default 3.
    pub fn max_fix_tasks(&self) -> u64 {
        self.number("maxFixTasksPerOriginal", 3)
    }

    /// Failed attempts at a task.
    pub fn failures(&self, task: &str) -> u32 {
        let counted = self.object("taskAttempts").and_then(|all| all.get(task));
        counted.and_then(Value::as_u64).map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    pub fn set_failures(&mut self, task: &str, count: u32) {
        let mut all = self.object("taskAttempts").cloned().unwrap_or_default();
        all.insert(task.to_owned(), count.into());
        self.set("taskAttempts", Value::Object(all));
    }

    pub fn forget_failures(&mut self, task: &str) {
        if let Some(mut all) = self.object("taskAttempts").cloned() {
            all.shift_remove(task);
            self.set("taskAttempts", Value::Object(all));
        }
    }

    /// Repairs of an original task so far (`fixTaskMap`).
    pub fn repairs(&self, original: &str) -> u64 {
        let entry = self.object("fixTaskMap").and_then(|map| map.get(original));
        entry.and_then(|entry| entry.get("attempts")).and_then(Value::as_u64).unwrap_or(0)
    }

    pub fn add_repair(&mut self, original: &str, id: &str, failed: &str, why: &str) {
        let mut map = self.object("fixTaskMap").cloned().unwrap_or_else(Map::new);
        let entry = map.entry(original.to_owned()).or_insert_with(|| json!({}));
        if !entry.is_object() {
            *entry = json!({});
        }
        let count = entry.get("attempts").and_then(Value::as_u64).unwrap_or(0);
        let ids = entry.get("fixTaskIds").and_then(Value::as_array).cloned();
        let mut ids = ids.unwrap_or_default();
        ids.push(id.into());
        entry["attempts"] = (count + 1).into();
        entry["fixTaskIds"] = ids.into();
        entry["lastFailed"] = failed.into();
        entry["lastError"] = why.into();
        self.set("fixTaskMap", Value::Object(map));
    }

    pub fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        self.fields.get(name).and_then(Value::as_object)
    }

    /// Other fields stay.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    pub fn set_default(&mut self, name: &str, value: impl Into<Value>) {
        if !self.has(name) {
            self.set(name, value);
        }
    }

    fn count(&self, name: &str, missing: u64) -> u32 {
        u32::try_from(self.number(name, missing)).unwrap_or(u32::MAX)
    }

    /// A whole number, also as text or with a point; `missing` for anything else.
    fn number(&self, name: &str, missing: u64) -> u64 {
        match self.fields.get(name) {
            Some(Value::Number(number)) => match number.as_u64() {
                Some(whole) => whole,
                None => number.as_f64().filter(|real| *real >= 0.0).map_or(0, whole_part),
            },
            Some(Value::String(text)) => text.trim().parse().unwrap_or(missing),
            _ => missing,
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "negative numbers are filtered out; the cast saturates")]
fn whole_part(real: f64) -> u64 {
    real as u64
}
