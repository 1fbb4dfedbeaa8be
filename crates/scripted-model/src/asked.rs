//! One request of the client to the scripted model, with the questions that a script puts to it.

use serde_json::Value;

/// The words with which Claude Code opens the message that carries a Stop hook's reason to the model.
pub const HOOK_FEEDBACK: &str = "Stop hook feedback:";

/// The words around a reminder of Claude Code.
const REMINDER: &str = "<system-reminder>\n";
const END_OF_REMINDER: &str = "</system-reminder>";
/// The words with which it opens the reminder that carries a Stop hook's additional context.
const HOOK_CONTEXT: &str = "Stop hook additional context:";
/// The words with which 2.1.332 opens the reminder that carries a Stop hook's reason: it says what a hook's words count for.
const HOOK_OUTPUT: &str = "The text below is the output of a hook";

/// The words with which Claude Code opens its request for the summary of a compaction.
const COMPACTION: &str = "CRITICAL: Respond with TEXT ONLY";

/// Who sent a request: the conversation, one of its subagents, or the client on its own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The main conversation.
    Main,
    /// A subagent, with the identifier that the client gave it.
    Subagent(String),
    /// The client itself, for a title or for the summary of a compaction. No script is asked.
    Side,
}

/// One request as the scripted model received it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How many requests of this kind of asker came before, plus one: the first main request is 1. A request that is tried
    /// again after an error counts again.
    pub number: usize,
    /// Who asks.
    pub asker: Asker,
    /// The body of the request in the form of the Messages API: whole where it came in that form, else what scripts ask for.
    pub body: Value,
}

impl Asked {
    /// Returns every message of the conversation so far, oldest first.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns what is new in this request as plain text: the user messages since the last answer, tool results included.
    pub fn last_text(&self) -> String {
        self.fresh_parts().join("\n")
    }

    /// Returns the first user message as plain text, which is the prompt with the reminders around it.
    pub fn first_text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(message) = self.messages().iter().find(|message| is_from_user(message)) {
            collect_text(&message["content"], &mut parts);
        }
        parts.join("\n")
    }

    /// Returns the system prompt as plain text; a subagent's begins with the body of its definition.
    pub fn system_text(&self) -> String {
        let mut parts = Vec::new();
        collect_text(&self.body["system"], &mut parts);
        parts.join("\n")
    }

    /// Returns the reasons of the Stop hooks that this request brings, without the words the client puts before them.
    pub fn hook_feedback(&self) -> Vec<String> {
        self.fresh_parts().iter().filter_map(|part| feedback_in(part)).map(str::to_owned).collect()
    }

    /// Returns whether a Stop hook sent the conversation back to work with this request.
    pub fn is_hook_feedback(&self) -> bool {
        !self.hook_feedback().is_empty()
    }

    /// Returns the text of each tool result that this request brings, in order.
    pub fn tool_results(&self) -> Vec<String> {
        let blocks = self.fresh().filter_map(|message| message["content"].as_array()).flatten();
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| {
                let mut parts = Vec::new();
                collect_text(&block["content"], &mut parts);
                parts.join("\n")
            })
            .collect()
    }

    /// Returns the names of the tools that this request offers to the model.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// Returns whether a subagent asks.
    pub fn is_subagent(&self) -> bool {
        matches!(self.asker, Asker::Subagent(_))
    }

    /// Returns whether this request asks for a summary with which the client replaces the conversation so far.
    ///
    /// Such a request offers tools like any other; only its words tell.
    pub fn is_compaction(&self) -> bool {
        self.fresh_parts().iter().any(|part| part.starts_with(COMPACTION))
    }

    fn fresh_parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        for message in self.fresh() {
            collect_text(&message["content"], &mut parts);
        }
        parts
    }

    /// User messages after the last answer. Newer clients append messages of the role `system`, so the last message will not do.
    fn fresh(&self) -> impl Iterator<Item = &Value> {
        let messages = self.messages();
        let after_last_answer = messages
            .iter()
            .rposition(|message| message["role"] == "assistant")
            .map_or(0, |index| index + 1);
        messages[after_last_answer..].iter().filter(|message| is_from_user(message))
    }
}

/// Returns the reason in a text with which the client passes on what a Stop hook said, or nothing for any other text.
pub fn feedback_in(text: &str) -> Option<&str> {
    let plain = text.strip_prefix(HOOK_FEEDBACK);
    plain.map(str::trim_start).or_else(|| feedback_in_reminder(text).map(str::trim))
}

fn feedback_in_reminder(text: &str) -> Option<&str> {
    let reminder = text.trim_end().strip_prefix(REMINDER)?.strip_suffix(END_OF_REMINDER)?;
    let framed = || reminder.strip_prefix(HOOK_OUTPUT)?.split_once(HOOK_FEEDBACK);
    reminder.strip_prefix(HOOK_CONTEXT).or_else(|| framed().map(|(_, reason)| reason))
}

/// Appends the text of a message's content to `parts`: a string, or blocks of text and of tool results.
pub fn collect_text(content: &Value, parts: &mut Vec<String>) {
    if let Some(text) = content.as_str() {
        parts.push(text.to_owned());
        return;
    }
    for block in content.as_array().map_or(&[] as &[Value], Vec::as_slice) {
        match block["type"].as_str() {
            Some("text") => parts.extend(block["text"].as_str().map(str::to_owned)),
            Some("tool_result") => collect_text(&block["content"], parts),
            _ => {}
        }
    }
}

fn is_from_user(message: &Value) -> bool {
    message["role"] == "user"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(messages: &Value) -> Asked {
        Asked { number: 1, asker: Asker::Main, body: json!({ "messages": messages }) }
    }

    #[test]
    fn only_what_came_since_the_last_answer_is_new() {
        let request = asked(&json!([
            {"role": "user", "content": "Stop hook feedback:\nold"},
            {"role": "assistant", "content": [{"type": "text", "text": "answer"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "written"}]}, {"type": "text", "text": "go on"}]},
        ]));
        assert_eq!(request.last_text(), "written\ngo on");
        assert_eq!(request.tool_results(), ["written"]);
        assert!(!request.is_hook_feedback());
    }

    #[test]
    fn the_reason_of_a_hook_is_found_before_a_trailing_system_message() {
        let request = asked(&json!([
            {"role": "user", "content": "start"},
            {"role": "assistant", "content": "answer"},
            {"role": "user", "content": "Stop hook feedback:\nTwo tasks\nare open"},
            {"role": "system", "content": "Stop hook blocking error"},
        ]));
        assert_eq!(request.hook_feedback(), ["Two tasks\nare open"]);
        assert_eq!(request.first_text(), "start");
    }

    #[test]
    fn additional_context_of_a_stop_hook_is_feedback_too() {
        let reminder = "<system-reminder>\nStop hook additional context: Two tasks\nare open\n</system-reminder>";
        let request = asked(&json!([
            {"role": "assistant", "content": "answer"},
            {"role": "user", "content": [{"type": "text", "text": reminder}]},
        ]));
        assert_eq!(request.hook_feedback(), ["Two tasks\nare open"]);
        let other =
            "<system-reminder>\nSessionStart hook additional context: x\n</system-reminder>";
        assert!(!asked(&json!([{"role": "user", "content": other}])).is_hook_feedback());
    }

    #[test]
    fn a_framed_reason_is_feedback_too() {
        let reminder = |words: &str| format!("<system-reminder>\n{words}\n</system-reminder>");
        let of_hook = "The text below is the output of a hook that the user set up.";
        let framed = reminder(&format!("{of_hook}\nStop hook feedback:\nTwo tasks\nare open"));
        assert_eq!(feedback_in(&framed), Some("Two tasks\nare open"));
        assert_eq!(feedback_in(&reminder(of_hook)), None);
        assert_eq!(feedback_in(&reminder("Stop hook feedback:\nx")), None);
    }

    #[test]
    fn a_compaction_is_known_by_its_words() {
        let words = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.";
        assert!(
            asked(&json!([{"role": "user", "content": [{"type": "text", "text": words}]}]))
                .is_compaction()
        );
        assert!(
            !asked(&json!([{"role": "user", "content": "Respond with TEXT ONLY"}])).is_compaction()
        );
    }

    #[test]
    fn a_body_of_another_shape_is_simply_empty() {
        let request = Asked { number: 1, asker: Asker::Main, body: json!([1, 2]) };
        assert_eq!(request.last_text(), "");
        assert!(request.tool_names().is_empty());
    }
}
