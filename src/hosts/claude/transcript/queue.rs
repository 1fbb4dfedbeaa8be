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
///
/// A client that was killed leaves what nobody takes up again. So what was there when a stop was let go for it counts
/// again only where something of it was taken out since then.
#[derive(Default)]
pub struct Queue {
    /// What was there when a stop was let go.
    earlier: Typed,
    /// What came since then.
    later: Typed,
    moves: bool,
}

/// Texts that were put on the queue, and how many of them are still there.
#[derive(Default)]
struct Typed {
    length: u64,
    texts: Vec<String>,
}

impl Queue {
    /// Takes in a line of the transcript; any other line than one on the queue changes nothing. `is_earlier` says that it
    /// was there when a stop was let go for what the queue held.
    pub fn take(&mut self, line: &[u8], is_earlier: bool) {
        if !line.starts_with(QUEUE_LINE) {
            return;
        }
        let Some(line) = read_json::<QueueLine>(line) else {
            return;
        };
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

    /// Returns what was typed and not taken up yet, oldest first; empty for what the client does not name, as it does in a
    /// session with a function hook that may change what is typed.
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

    #[test]
    fn what_nobody_takes_up_after_a_stop_was_let_go_for_it_counts_no_more() {
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
