//! `loop-state.json` as bytes: the state first, then one line for each iteration.

use std::collections::VecDeque;
use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::loop_state::{Iteration, LoopState};

/// Bytes read of either state file.
pub(super) const MOST: u64 = 32 << 20;
/// Most iterations in the file; older ones are only in the history. Every iteration writes the whole file twice, so a
/// long loop pays for its size.
pub const MOST_ITERATIONS: usize = 200;
/// Bytes of their lines.
pub const MOST_BYTES: usize = 1 << 20;
/// Fields beside those of the state.
pub(super) const OURS: [&str; 3] = [ITERATIONS, LEFT_OUT, RUNNING];
const ITERATIONS: &str = "iterations";
const LEFT_OUT: &str = "iterations_left_out";
const RUNNING: &str = "running_iteration";

/// Ended iterations of this run, oldest first, a line each.
#[derive(Debug, Default)]
pub(super) struct EndedIterations {
    pub lines: VecDeque<String>,
    pub left_out: u64,
}

/// The content of a state file, of ours or of another program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReadState {
    /// The state, as far as it was understood.
    pub state: LoopState,
    /// The iteration that runs by `state.json`.
    pub running: Option<Iteration>,
    /// The iterations, as far as they were understood.
    pub iterations: Vec<Iteration>,
    /// The number of iterations that are not in the file.
    pub left_out: u64,
}

impl EndedIterations {
    /// Adds an iteration, and drops the oldest ones beyond the limits.
    pub fn push(&mut self, iteration: &Iteration) -> io::Result<()> {
        self.lines.push_back(serde_json::to_string(iteration)?);
        let mut bytes: usize = self.lines.iter().map(String::len).sum();
        while self.lines.len() > 1 && (self.lines.len() > MOST_ITERATIONS || bytes > MOST_BYTES) {
            bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            self.left_out += 1;
        }
        Ok(())
    }
}

/// `state.json` and `loop-state.json`.
pub(super) fn written(
    state: &LoopState,
    ended: &EndedIterations,
    running: Option<&Iteration>,
) -> io::Result<[String; 2]> {
    let fields = serde_json::to_string_pretty(state)?;
    // The other fields come behind the state's last one, before the brace.
    let fields = fields.strip_suffix("\n}").unwrap_or(&fields);
    let running = running.map(serde_json::to_string).transpose()?;
    let lines: Vec<&str> = ended.lines.iter().chain(&running).map(String::as_str).collect();
    let list = match lines.as_slice() {
        [] => String::new(),
        lines => format!("\n    {}\n  ", lines.join(",\n    ")),
    };
    let left_out = ended.left_out;
    let running = running.as_deref().unwrap_or("null");
    Ok([
        format!("{fields},\n  \"{RUNNING}\": {running}\n}}\n"),
        format!("{fields},\n  \"{LEFT_OUT}\": {left_out},\n  \"{ITERATIONS}\": [{list}]\n}}\n"),
    ])
}

/// Parses a state file, of ours or of another program. The error says why the file is none.
pub(super) fn parse(bytes: &[u8]) -> Result<ReadState, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Value::Object(mut fields) = value else { return Err("it holds no JSON object".to_owned()) };
    if !["change_id", "worktree_name", "iterations"].iter().any(|name| fields.contains_key(*name)) {
        return Err("it is the file of another program".to_owned());
    }
    let list = fields.remove(ITERATIONS);
    let running = fields.remove(RUNNING);
    let left_out = fields.remove(LEFT_OUT).and_then(|number| number.as_u64());
    let as_iteration = |value: Value| match value {
        Value::Object(fields) => Some(lenient(fields)),
        _ => None,
    };
    let list = match list {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    Ok(ReadState {
        state: lenient(fields),
        running: running.and_then(as_iteration),
        iterations: list.into_iter().filter_map(as_iteration).collect(),
        left_out: left_out.unwrap_or_default(),
    })
}

/// The fields that are understood: a field of another type counts as missing.
fn lenient<T: DeserializeOwned + Default + Serialize>(fields: Map<String, Value>) -> T {
    if let Ok(value) = serde_json::from_value(Value::Object(fields.clone())) {
        return value;
    }
    let understood = |name: &String, field: &Value| {
        let alone = Map::from_iter([(name.clone(), field.clone())]);
        serde_json::from_value::<T>(Value::Object(alone)).is_ok()
    };
    let kept: Map<_, _> =
        fields.into_iter().filter(|(name, field)| understood(name, field)).collect();
    serde_json::from_value(Value::Object(kept)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e9_foreign_state_is_aside() {
        let foreign = br#"{"status": "idle", "queue": []}"#;
        assert_eq!(parse(foreign), Err("it is the file of another program".to_owned()));
        assert!(parse(br#"{"status": "done", "change_id": "x"}"#).is_ok());
    }
}
