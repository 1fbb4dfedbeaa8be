//! `.speckit-state.json`: read leniently, written whole, unknown fields kept (spec 003, FR-13, NFR-3).

use std::io;

use serde_json::{Map, Value};

use super::project::Feature;
use super::{MOST_STATE, STATE};
use crate::store::read::{Problem, read_in};
use crate::store::settled::{PATIENCE, read_settled};
use crate::store::write::{Flush, write_whole};
use crate::world::Deadline;

/// A feature's state: the fields of the file, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    fields: Map<String, Value>,
}

/// Why there is no state to work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// There is no file.
    Missing,
    /// It cannot be opened or read at the moment, and may be as good as ever.
    Unopened {
        /// The system's words.
        why: String,
    },
    /// It is not a file of ours, or no JSON object.
    Corrupt {
        /// What is wrong with it, with the line where the text breaks.
        why: String,
        /// The bytes that were found, empty when none could be read.
        bytes: Vec<u8>,
    },
}

impl State {
    /// Returns the settled state of a feature; waits at most 2 s for a writer to finish.
    pub fn read(feature: &Feature) -> Result<Self, StateError> {
        Self::read_by(feature, Deadline::after(PATIENCE))
    }

    /// Returns the settled state of a feature; waits until the deadline for a writer to finish.
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

    /// Returns the state as it is, for a reader that keeps others from writing; waits only for a
    /// file that is no whole document yet.
    pub fn read_at_once(feature: &Feature) -> Result<Self, StateError> {
        let found = read_in(&feature.folder, STATE, MOST_STATE).ok();
        match found.and_then(|content| Self::parse(&content.bytes).ok()) {
            Some(state) => Ok(state),
            None => Self::read(feature),
        }
    }

    /// Returns the state in these bytes, or what is wrong with them and on which line.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        // An editor on Windows writes a mark of the byte order first.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Err("the file is empty (line 1)".to_owned());
        }
        match serde_json::from_slice(bytes) {
            Ok(fields) => Ok(Self { fields }),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Writes the state whole, flushed to the disk.
    pub fn write(&self, feature: &Feature) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(&self.fields)?;
        bytes.push(b'\n');
        write_whole(&feature.folder.join(STATE), &bytes, Flush::ToDisk)
    }

    /// Returns the phase, empty when the file names none.
    pub fn phase(&self) -> &str {
        self.fields.get("phase").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns how many tasks are finished by the file's own count, from 0.
    pub fn task_index(&self) -> u64 {
        self.number("taskIndex", 0)
    }

    /// Returns how many tasks there are by the file's own count, from 0.
    pub fn total_tasks(&self) -> u64 {
        self.number("totalTasks", 0)
    }

    /// Returns the attempt that the present task is at, from 1.
    pub fn task_iteration(&self) -> u32 {
        self.count("taskIteration", 1)
    }

    /// Returns how many attempts a task has (default 5).
    pub fn max_task_iterations(&self) -> u32 {
        self.count("maxTaskIterations", 5)
    }

    /// Returns the iteration that the file counts, from 1.
    pub fn global_iteration(&self) -> u32 {
        self.count("globalIteration", 1)
    }

    /// Returns the iteration limit (default 100).
    pub fn max_global_iterations(&self) -> u32 {
        self.count("maxGlobalIterations", 100)
    }

    /// Returns whether the file names an iteration limit of its own.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Returns whether the loop is waiting for a person's approval.
    pub fn awaits_approval(&self) -> bool {
        self.fields.get("awaitingApproval").is_some_and(|value| *value == Value::Bool(true))
    }

    /// Returns whether a failed task gets a repair task (`recoveryMode`).
    pub fn recovers(&self) -> bool {
        self.fields.get("recoveryMode").is_some_and(|value| *value == Value::Bool(true))
    }

    /// Returns how many repairs one original task may have (default 3).
    pub fn max_fix_tasks(&self) -> u64 {
        self.number("maxFixTasksPerOriginal", 3)
    }

    /// Returns a field that is an object.
    pub fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        self.fields.get(name).and_then(Value::as_object)
    }

    /// Sets one field and leaves all others as they are.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    /// Sets one field unless the file has it already.
    pub fn set_default(&mut self, name: &str, value: impl Into<Value>) {
        if !self.has(name) {
            self.set(name, value);
        }
    }

    fn count(&self, name: &str, missing: u64) -> u32 {
        u32::try_from(self.number(name, missing)).unwrap_or(u32::MAX)
    }

    /// A whole number, also one that is written as text or with a point; anything else is missing.
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
