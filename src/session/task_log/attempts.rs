//! Failed attempts and repairs in the state file.

use serde_json::{Map, Value, json};

use crate::feature::state::State;

impl State {
    pub fn failures(&self, task: &str) -> u32 {
        let counted = self.object("taskAttempts").and_then(|all| all.get(task));
        counted.and_then(Value::as_u64).map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    pub(super) fn set_failures(&mut self, task: &str, count: u32) {
        let mut all = self.object("taskAttempts").cloned().unwrap_or_default();
        all.insert(task.to_owned(), count.into());
        self.set("taskAttempts", Value::Object(all));
    }

    pub(super) fn forget_failures(&mut self, task: &str) {
        if let Some(mut all) = self.object("taskAttempts").cloned() {
            all.shift_remove(task);
            self.set("taskAttempts", Value::Object(all));
        }
    }

    /// Repairs of an original task so far (`fixTaskMap`).
    pub(super) fn repairs(&self, original: &str) -> u64 {
        let entry = self.object("fixTaskMap").and_then(|map| map.get(original));
        entry.and_then(|entry| entry.get("attempts")).and_then(Value::as_u64).unwrap_or(0)
    }

    pub(super) fn add_repair(&mut self, original: &str, id: &str, failed: &str, why: &str) {
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
}
