//! What a person typed while the agent worked, as the transcript shows the client's queue of it.

use serde::Deserialize;
use serde_json::Value;

use crate::hosts::json::read_json;

/// How the client begins a line on its queue.
const QUEUE_LINE: &[u8] = br#"{"type":"queue-operation","#;

/// The client's queue of what a person typed while the agent worked, as its lines show it.
///
/// What is taken out of it is not named, unless the person takes it back to edit it. Plain words go to
/// the agent at its next tool call, a slash command waits for the end of the turn: as long as anything
/// is left, the commands are.
#[derive(Default)]
pub struct Queue {
    length: u64,
    typed: Vec<String>,
}

impl Queue {
    /// Takes in a line of the transcript; any other line than one on the queue changes nothing.
    pub fn take(&mut self, line: &[u8]) {
        if !line.starts_with(QUEUE_LINE) {
            return;
        }
        let Some(line) = read_json::<QueueLine>(line) else {
            return;
        };
        match line.operation.as_str() {
            "enqueue" => {
                self.length += 1;
                self.typed.push(line.content.as_str().unwrap_or_default().to_owned());
            }
            "dequeue" | "remove" => self.length = self.length.saturating_sub(1),
            "popAll" => {
                self.length = self.length.saturating_sub(1);
                self.typed.retain(|typed| line.content.as_str() != Some(typed));
            }
            _ => {}
        }
    }

    /// Returns what was typed and not taken up yet, oldest first; empty for what the client does not name, as it does in a
    /// session with a function hook that may change what is typed.
    pub fn left(self) -> Vec<String> {
        if self.length > 0 { self.typed } else { Vec::new() }
    }
}

/// A line on the client's queue; the content is a text, or something else with a picture in it.
#[derive(Deserialize)]
struct QueueLine {
    operation: String,
    #[serde(default)]
    content: Value,
}

#[cfg(test)]
mod tests {
    use super::super::activity::since;
    use crate::store::loops::LastMessage;

    /// What is left in the client's queue after these operations; a text behind each enqueue and popAll.
    fn left(operations: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let lines = operations.iter().map(|operation| {
            let (name, content) = operation.split_once(' ').unwrap_or((operation, ""));
            let content = if content.is_empty() {
                String::new()
            } else {
                format!(r#","content":"{content}""#)
            };
            format!("{{\"type\":\"queue-operation\",\"operation\":\"{name}\"{content}}}\n")
        });
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        since(&path, 0, LastMessage::default(), 0).unwrap().typed_ahead
    }

    #[test]
    fn what_was_typed_ahead_is_known_until_it_is_taken_up_or_taken_back() {
        assert_eq!(left(&[]), [""; 0]);
        assert_eq!(left(&["enqueue /cancel"]), ["/cancel"]);
        assert_eq!(left(&["enqueue /cancel", "dequeue"]), [""; 0]);
        assert_eq!(left(&["enqueue /cancel", "popAll /cancel"]), [""; 0]);
        assert_eq!(left(&["enqueue /cancel", "remove"]), [""; 0]);
        // Plain words go to the agent in the middle of its turn, before and after the command.
        assert_eq!(left(&["enqueue hello", "enqueue /cancel", "remove"]), ["hello", "/cancel"]);
        assert_eq!(left(&["enqueue /cancel", "enqueue hello", "dequeue"]), ["/cancel", "hello"]);
        assert_eq!(left(&["dequeue", "remove", "enqueue /cancel"]), ["/cancel"]);
        assert_eq!(left(&["enqueue /cancel", "popAll /cancel", "enqueue no"]), ["no"]);
        // Something without a text has a place in the queue, too.
        assert_eq!(left(&["enqueue", "enqueue /cancel", "dequeue"]), ["", "/cancel"]);
        // Nor has anything one where a function hook may change what is typed.
        assert_eq!(left(&["enqueue"]), [""]);
        assert_eq!(left(&["enqueue", "remove"]), [""; 0]);
        assert_eq!(left(&["enqueue", "popAll"]), [""; 0]);
        assert_eq!(left(&["enqueue /cancel", "something new"]), ["/cancel"]);
    }
}
