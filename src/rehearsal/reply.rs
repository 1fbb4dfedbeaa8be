//! One reply of the scripted model, and its two forms on the wire: a stream of events or one JSON message.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// What the scripted model answers: text, tool calls, an error of the service, or silence.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Message(Message),
    Failure(Failure),
    Silence,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Message {
    blocks: Vec<Block>,
    stop_reason: Option<String>,
    input_tokens: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Block {
    Text(String),
    ToolCall { name: String, input: Value },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) error_type: String,
    pub(super) message: String,
    pub(super) retry_after_seconds: Option<u32>,
}

/// What a message needs to go on the wire besides its own content.
pub(super) struct Envelope<'a> {
    /// Unique among all answers of one scripted model.
    pub(super) serial: usize,
    /// The name of the model that was asked for.
    pub(super) model: &'a Value,
    /// The length of the request in bytes, from which a plausible number of tokens is made.
    pub(super) request_bytes: usize,
}

impl Reply {
    /// Returns a reply that only talks.
    pub fn text(text: &str) -> Reply {
        Reply::message(Block::Text(text.to_owned()))
    }

    /// Returns a reply that calls one tool.
    pub fn tool(name: &str, input: Value) -> Reply {
        Reply::message(Block::ToolCall { name: name.to_owned(), input })
    }

    /// Returns a reply that fails with an HTTP status, the type of error in the words of the Messages API, and a message.
    pub fn error(status: u16, error_type: &str, message: &str) -> Reply {
        Reply {
            kind: Kind::Failure(Failure {
                status,
                error_type: error_type.to_owned(),
                message: message.to_owned(),
                retry_after_seconds: None,
            }),
        }
    }

    /// Returns a reply that never comes: the connection stays open and silent until the model stops.
    pub fn silence() -> Reply {
        Reply { kind: Kind::Silence }
    }

    /// Adds text to a message, after what it already holds; an error or silence stays as it is.
    #[must_use]
    pub fn and_text(self, text: &str) -> Reply {
        self.with_message(|message| message.blocks.push(Block::Text(text.to_owned())))
    }

    /// Adds a tool call to a message, after what it already holds; an error or silence stays as it is.
    #[must_use]
    pub fn and_tool(self, name: &str, input: Value) -> Reply {
        self.with_message(|message| {
            message.blocks.push(Block::ToolCall { name: name.to_owned(), input });
        })
    }

    /// Sets the stop reason of a message; without it, `tool_use` where there is a tool call and `end_turn` where there is none.
    #[must_use]
    pub fn stop_reason(self, reason: &str) -> Reply {
        self.with_message(|message| message.stop_reason = Some(reason.to_owned()))
    }

    /// Sets the number of input tokens that a message reports, by which the client decides when to compact the conversation.
    #[must_use]
    pub fn input_tokens(self, tokens: u64) -> Reply {
        self.with_message(|message| message.input_tokens = Some(tokens))
    }

    /// Sets the `retry-after` header of an error, in seconds; a message or silence stays as it is.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Reply {
        if let Kind::Failure(failure) = &mut self.kind {
            failure.retry_after_seconds = Some(seconds);
        }
        self
    }

    fn message(block: Block) -> Reply {
        Reply { kind: Kind::Message(Message { blocks: vec![block], ..Message::default() }) }
    }

    fn with_message(mut self, change: impl FnOnce(&mut Message)) -> Reply {
        if let Kind::Message(message) = &mut self.kind {
            change(message);
        }
        self
    }
}

impl Failure {
    /// Returns the answer to a request that cannot be served.
    pub(super) fn of_request(status: u16, message: String) -> Failure {
        Failure {
            status,
            error_type: "invalid_request_error".to_owned(),
            message,
            retry_after_seconds: None,
        }
    }
}

impl Message {
    /// Returns the message as one JSON object, for a request that did not ask for a stream.
    pub(super) fn as_json(&self, envelope: &Envelope<'_>) -> Value {
        let content: Vec<Value> = self
            .blocks
            .iter()
            .enumerate()
            .map(|(index, block)| block.whole(envelope.serial, index))
            .collect();
        let mut message = self.frame(envelope);
        message["content"] = Value::Array(content);
        message["stop_reason"] = json!(self.reason_to_stop());
        message["usage"]["output_tokens"] = json!(self.output_tokens());
        message
    }

    /// Returns the message as the server-sent events of the Messages API.
    pub(super) fn as_events(&self, envelope: &Envelope<'_>) -> String {
        let mut stream = String::new();
        event(&mut stream, &json!({"type": "message_start", "message": self.frame(envelope)}));
        for (index, block) in self.blocks.iter().enumerate() {
            let start = block.opening(envelope.serial, index);
            event(
                &mut stream,
                &json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            event(
                &mut stream,
                &json!({"type": "content_block_delta", "index": index, "delta": block.delta()}),
            );
            event(&mut stream, &json!({"type": "content_block_stop", "index": index}));
        }
        let delta = json!({"stop_reason": self.reason_to_stop(), "stop_sequence": null});
        let usage = json!({"output_tokens": self.output_tokens()});
        event(&mut stream, &json!({"type": "message_delta", "delta": delta, "usage": usage}));
        event(&mut stream, &json!({"type": "message_stop"}));
        stream
    }

    fn frame(&self, envelope: &Envelope<'_>) -> Value {
        json!({
            "id": format!("msg_rehearsal_{:06}", envelope.serial),
            "type": "message",
            "role": "assistant",
            "model": envelope.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.input_tokens.unwrap_or_else(|| tokens_in(envelope.request_bytes)),
                "output_tokens": 1,
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
        })
    }

    fn reason_to_stop(&self) -> &str {
        if let Some(reason) = &self.stop_reason {
            return reason;
        }
        let calls_a_tool = self.blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }));
        if calls_a_tool { "tool_use" } else { "end_turn" }
    }

    fn output_tokens(&self) -> u64 {
        self.blocks.iter().map(|block| tokens_in(block.length())).sum()
    }
}

impl Block {
    fn opening(&self, serial: usize, index: usize) -> Value {
        match self {
            Block::Text(_) => json!({"type": "text", "text": ""}),
            Block::ToolCall { name, .. } => {
                json!({"type": "tool_use", "id": call_id(serial, index), "name": name, "input": {}})
            }
        }
    }

    fn delta(&self) -> Value {
        match self {
            Block::Text(text) => json!({"type": "text_delta", "text": text}),
            Block::ToolCall { input, .. } => {
                json!({"type": "input_json_delta", "partial_json": input.to_string()})
            }
        }
    }

    fn whole(&self, serial: usize, index: usize) -> Value {
        match self {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::ToolCall { name, input } => {
                json!({"type": "tool_use", "id": call_id(serial, index), "name": name, "input": input})
            }
        }
    }

    fn length(&self) -> usize {
        match self {
            Block::Text(text) => text.len(),
            Block::ToolCall { name, input } => name.len() + input.to_string().len(),
        }
    }
}

/// Returns a plausible number of tokens for a number of bytes: about four bytes make one, and nothing is free.
pub(super) fn tokens_in(bytes: usize) -> u64 {
    bytes as u64 / 4 + 1
}

fn call_id(serial: usize, index: usize) -> String {
    format!("toolu_rehearsal_{serial:06}_{index}")
}

fn event(stream: &mut String, data: &Value) {
    let kind = data["type"].as_str().unwrap_or_default();
    // Writing to a `String` cannot fail.
    let _ = write!(stream, "event: {kind}\ndata: {data}\n\n");
}
