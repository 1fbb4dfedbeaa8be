//! One reply of the scripted model, as a script gives it; `wire` puts it into a provider's words.

use serde_json::Value;
use std::ops::Add;

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
    pub(super) blocks: Vec<Block>,
    pub(super) stop_reason: Option<String>,
    usage: Option<Usage>,
    input_tokens: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    ToolCall { name: String, input: Value },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) error_type: String,
    pub(super) message: String,
    pub(super) headers: Vec<(String, String)>,
    /// What the error tells besides, by the name of the field.
    pub(super) details: Vec<(String, Value)>,
}

/// The tokens that one message reports, each of them in one place only; every provider's own sums are made from these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read afresh.
    pub input: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache. Only the Messages API tells them apart; elsewhere they are read afresh.
    pub cache_write: u64,
    /// Written, without thinking.
    pub output: u64,
    /// Thought. The Messages API has no place for them; there they are written.
    pub thinking: u64,
}

impl Usage {
    /// Returns the sum of all five.
    pub fn total(self) -> u64 {
        self.prompt() + self.output + self.thinking
    }

    /// Returns all that was read, cached or not.
    pub(super) fn prompt(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            input: self.input + other.input,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            output: self.output + other.output,
            thinking: self.thinking + other.thinking,
        }
    }
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
                headers: Vec::new(),
                details: Vec::new(),
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

    /// Sets all that a message reports of tokens; without it, plausible numbers are made from its length.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Reply {
        self.with_message(|message| message.usage = Some(usage))
    }

    /// Sets the `retry-after` header of an error, in seconds; a message or silence stays as it is.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Reply {
        self.header("Retry-After", &seconds.to_string())
    }

    /// Adds a header to an error; a message or silence stays as it is.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Reply {
        self.with_failure(|failure| failure.headers.push((name.to_owned(), value.to_owned())))
    }

    /// Adds a field to what an error tells of itself; a message or silence stays as it is.
    #[must_use]
    pub fn detail(self, name: &str, value: Value) -> Reply {
        self.with_failure(|failure| failure.details.push((name.to_owned(), value)))
    }

    fn message(block: Block) -> Reply {
        Reply { kind: Kind::Message(Message { blocks: vec![block], ..Message::default() }) }
    }

    fn with_failure(mut self, change: impl FnOnce(&mut Failure)) -> Reply {
        if let Kind::Failure(failure) = &mut self.kind {
            change(failure);
        }
        self
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
            headers: Vec::new(),
            details: Vec::new(),
        }
    }
}

impl Message {
    /// Returns what the message reports of tokens, as the answer to a request of so many bytes.
    pub(super) fn usage(&self, request_bytes: usize) -> Usage {
        if let Some(usage) = self.usage {
            return usage;
        }
        Usage {
            input: self.input_tokens.unwrap_or_else(|| tokens_in(request_bytes)),
            output: self.blocks.iter().map(|block| tokens_in(block.length())).sum(),
            ..Usage::default()
        }
    }

    /// Returns whether the message calls a tool.
    pub(super) fn calls_a_tool(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }))
    }

    /// Returns all texts of the message as one.
    pub(super) fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(
                |block| if let Block::Text(text) = block { Some(text.as_str()) } else { None },
            )
            .collect()
    }
}

impl Block {
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
