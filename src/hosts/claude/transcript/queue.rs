//! The client's queue of a person's input during a turn, read from the transcript.

use serde::Deserialize;
use serde_json::Value;

use crate::hosts::json::read_json;

/// The beginning of a line about the queue.
const QUEUE_LINE: &[u8] = br#"{"type":"queue-operation","#;

/// A person's input during a turn that the agent has not got yet.
///
/// Lines that remove input do not name it, unless the person takes it back. The agent gets plain words at its next tool
/// call, and slash commands after the turn. So the commands are there as long as anything is left.
///
/// Nobody takes up the input of a killed client. So input from before an allowed stop counts only if some of it was
/// removed since.
#[derive(Default)]
pub struct Queue {
    /// Input from before the last allowed stop.
    earlier: Typed,
    later: Typed,
    moves: bool,
}

/// Queued texts, and how many of them are left.
#[derive(Default)]
struct Typed {
    length: u64,
    texts: Vec<String>,
}

impl Queue {
    /// Ignores lines about anything else. `is_earlier` marks lines from before the last allowed stop.
    pub fn take(&mut self, line: &[u8], is_earlier: bool) {
        if !line.starts_with(QUEUE_LINE) {
            return;
        }
        let Some(line) = read_json::<QueueLine>(line) else { return };
        match line.operation.as_str() {
            "enqueue" => {
                let typed = if is_earlier { &mut self.earlier } else { &mut self.later };
                typed.length += 1;
                typed.texts.push(line.content.as_str().unwrap_or_default().to_owned());
            }
            "dequeue" | "remove" => self.take_out(is_earlier),
            "popAll" => {
                self.take_out(is_earlier);
                for typed in [&mut self.earlier, &mut self.later] {
                    typed.texts.retain(|text| line.content.as_str() != Some(text));
                }
            }
            _ => {}
        }
    }

    fn take_out(&mut self, is_earlier: bool) {
        if self.later.length > 0 {
            self.later.length -= 1;
        } else if self.earlier.length > 0 {
            self.earlier.length -= 1;
            self.moves |= !is_earlier;
        }
    }

    /// The input that is left, oldest first. Empty for input that the client does not name, as with a function hook
    /// that may change input.
    pub fn left(self) -> Vec<String> {
        let earlier = if self.moves { self.earlier.left() } else { Vec::new() };
        [earlier, self.later.left()].concat()
    }
}

impl Typed {
    fn left(self) -> Vec<String> {
        if self.length > 0 { self.texts } else { Vec::new() }
    }
}

/// The content is a text, or more with a picture.
#[derive(Deserialize)]
struct QueueLine {
    operation: String,
    #[serde(default)]
    content: Value,
}

#[cfg(test)]
mod tests {
    use super::super::activity::since;
    use crate::hosts::transcript::TranscriptPart;

    /// What is left in the client's queue after these operations; a text behind each enqueue and popAll.
    fn left(operations: &[&str]) -> Vec<String> {
        left_after(&[], operations)
    }

    /// The same, where a stop was let go between the first ones and the others.
    fn left_after(earlier: &[&str], later: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let line = |operation: &&str| {
            let (name, content) = operation.split_once(' ').unwrap_or((operation, ""));
            let content = if content.is_empty() {
                String::new()
            } else {
                format!(r#","content":"{content}""#)
            };
            format!("{{\"type\":\"queue-operation\",\"operation\":\"{name}\"{content}}}\n")
        };
        let [earlier, later] = [earlier, later].map(|all| all.iter().map(line).collect::<String>());
        let let_go = earlier.len() as u64;
        std::fs::write(&path, earlier + &later).unwrap();
        since(&path, TranscriptPart { let_go, ..TranscriptPart::default() }).unwrap().typed_ahead
    }

    #[test]
    fn typed_ahead_words_are_known() {
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

    #[test]
    fn untaken_words_stop_counting() {
        assert_eq!(left_after(&["enqueue"], &[]), [""; 0]);
        assert_eq!(left_after(&["enqueue /cancel"], &[]), [""; 0]);
        // What is typed while the agent rests goes through the queue, too.
        assert_eq!(left_after(&["enqueue"], &["enqueue", "dequeue"]), [""; 0]);
        assert_eq!(left_after(&["enqueue"], &["enqueue hello", "remove"]), [""; 0]);
        assert_eq!(left_after(&["enqueue"], &["dequeue"]), [""; 0]);
        // What is new counts, and so does what is left of a queue that is taken up.
        assert_eq!(left_after(&["enqueue"], &["enqueue /cancel"]), ["/cancel"]);
        assert_eq!(left_after(&["enqueue", "enqueue"], &["dequeue"]), ["", ""]);
        let both = ["enqueue hello", "enqueue /cancel"];
        assert_eq!(left_after(&both, &["dequeue"]), ["hello", "/cancel"]);
        assert_eq!(left_after(&both, &["dequeue", "remove"]), [""; 0]);
        assert_eq!(left_after(&both, &["popAll hello", "popAll /cancel"]), [""; 0]);
        assert_eq!(left_after(&["enqueue", "remove"], &["dequeue"]), [""; 0]);
    }
}
