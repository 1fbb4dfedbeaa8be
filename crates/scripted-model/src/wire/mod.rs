//! The wire: the four forms in which agent programs ask a model and are answered.

mod chat;
mod gemini;
mod messages;
mod responses;

use super::reply::{Failure, Message, Usage};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A provider's form of question and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    ChatCompletions,
    /// Gemini's generateContent.
    Gemini,
}

/// What an answer needs besides the message.
pub(super) struct Envelope<'a> {
    /// Unique among all answers of one scripted model.
    pub(super) serial: usize,
    /// The name of the model that was asked for.
    pub(super) model: &'a str,
    /// The tokens that the message reports.
    pub(super) usage: Usage,
}

impl Wire {
    /// Returns the form in which a path of the service is asked, or nothing where no message is asked for.
    pub(super) fn of(route: &str) -> Option<Wire> {
        let ends = |end: &str| route.ends_with(end);
        match () {
            () if ends("/messages") => Some(Wire::Messages),
            () if ends("/responses") => Some(Wire::Responses),
            () if ends("/chat/completions") => Some(Wire::ChatCompletions),
            () if ends(":generateContent") || ends(":streamGenerateContent") => Some(Wire::Gemini),
            () => None,
        }
    }

    /// Returns a question in the form of the Messages API, which is the one that scripts know. What no script asks for is
    /// left out.
    pub(super) fn question(self, route: &str, body: Value) -> Value {
        match self {
            Wire::Messages => body,
            Wire::Responses => responses::question(&body),
            Wire::ChatCompletions => chat::question(&body),
            Wire::Gemini => gemini::question(route, &body),
        }
    }

    /// Returns the message as one JSON object, for a request that did not ask for a stream.
    pub(super) fn whole(self, message: &Message, envelope: &Envelope<'_>) -> Value {
        match self {
            Wire::Messages => messages::whole(message, envelope),
            Wire::Responses => responses::whole(message, envelope),
            Wire::ChatCompletions => chat::whole(message, envelope),
            Wire::Gemini => gemini::whole(message, envelope),
        }
    }

    /// Returns the message as server-sent events.
    pub(super) fn stream(self, message: &Message, envelope: &Envelope<'_>) -> String {
        match self {
            Wire::Messages => messages::stream(message, envelope),
            Wire::Responses => responses::stream(message, envelope),
            Wire::ChatCompletions => chat::stream(message, envelope),
            Wire::Gemini => gemini::stream(message, envelope),
        }
    }

    /// Returns an error as the service words it.
    pub(super) fn failure(self, failure: &Failure) -> Value {
        let mut error = match self {
            Wire::Messages => {
                object(json!({"type": failure.error_type, "message": failure.message}))
            }
            Wire::Responses | Wire::ChatCompletions => object(
                json!({"message": failure.message, "type": failure.error_type, "param": null, "code": null}),
            ),
            Wire::Gemini => gemini::error(failure),
        };
        error.extend(failure.details.iter().cloned());
        match self {
            Wire::Messages => json!({"type": "error", "error": error}),
            _ => json!({ "error": error }),
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the identifier of a tool call, unique among all answers of one scripted model.
fn call_id(prefix: &str, serial: usize, index: usize) -> String {
    format!("{prefix}_scripted_{serial:06}_{index}")
}

/// Appends one event that is named after the type of its data.
fn named_event(stream: &mut String, data: &Value) {
    let kind = data["type"].as_str().unwrap_or_default();
    // Writing to a `String` cannot fail.
    let _ = write!(stream, "event: {kind}\ndata: {data}\n\n");
}

/// Appends one event without a name.
fn event(stream: &mut String, data: &Value) {
    let _ = write!(stream, "data: {data}\n\n");
}

#[cfg(test)]
mod tests;
