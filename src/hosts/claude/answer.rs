//! What a hook says back: nothing, or exactly one JSON object on standard output.

use serde_json::json;

use crate::text;

/// A hook's whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// One JSON object without a line break, or `None` for silence.
    pub stdout: Option<String>,
    /// Lines for the log; each starts with `[ralph-speckit]`.
    pub stderr: Vec<String>,
}

impl Answer {
    /// Returns the answer that lets everything happen as without us.
    pub fn silent() -> Self {
        Self::default()
    }

    /// Returns the answer that sends the agent back: `reason` for the model, `message` for the person.
    pub fn block(reason: &str, message: &str) -> Self {
        Self::object(
            &json!({"decision": "block", "reason": text::prose(reason), "systemMessage": text::block(message)}),
        )
    }

    /// Returns the answer that stops a slash command before a token is spent; the person reads the text.
    pub fn stop_command(text: &str) -> Self {
        Self::object(&json!({"decision": "block", "reason": text::block(text)}))
    }

    /// Returns the answer that lets it happen and tells the person why.
    pub fn tell(message: &str) -> Self {
        Self::object(&json!({"systemMessage": text::block(message)}))
    }

    /// Returns the answer that hands the model a context line with its command.
    pub fn context(event: &str, context: &str) -> Self {
        let output = json!({"hookEventName": event, "additionalContext": text::prose(context)});
        Self::object(&json!({"hookSpecificOutput": output}))
    }

    /// Returns the same answer with one more paragraph for the person.
    #[must_use]
    pub fn also_tell(self, message: &str) -> Self {
        let answer = self.stdout.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let mut answer: serde_json::Map<String, serde_json::Value> = answer.unwrap_or_default();
        let before = answer.get("systemMessage").and_then(|before| before.as_str());
        let message = text::block(message);
        let message = match before {
            Some(before) => format!("{before}\n{message}"),
            None => message.into_owned(),
        };
        answer.insert("systemMessage".to_owned(), message.into());
        Self { stdout: Some(serde_json::Value::Object(answer).to_string()), ..self }
    }

    /// Returns the same answer with one more line for the log.
    #[must_use]
    pub fn log(mut self, line: &str) -> Self {
        // A line from a file name must not draw on the terminal.
        self.stderr.push(format!("[ralph-speckit] {}", text::line(line)));
        self
    }

    /// Returns the answer that hands the model a context with its command, and the person a line.
    pub fn context_and_line(event: &str, context: &str, message: &str) -> Self {
        let output = json!({"hookEventName": event, "additionalContext": text::prose(context)});
        Self::object(&json!({"hookSpecificOutput": output, "systemMessage": text::block(message)}))
    }

    fn object(value: &serde_json::Value) -> Self {
        Self { stdout: Some(value.to_string()), stderr: Vec::new() }
    }
}
