//! Anthropic's Messages, as <https://docs.anthropic.com/en/api/messages> describes them.

use super::{Envelope, call_id, named_event};
use crate::reply::{Block, Message};
use serde_json::{Value, json};

pub(super) fn whole(message: &Message, envelope: &Envelope<'_>) -> Value {
    let content: Vec<Value> = message
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::ToolCall { name, input } => {
                json!({"type": "tool_use", "id": call_id("toolu", envelope.serial, index), "name": name, "input": input})
            }
        })
        .collect();
    let mut whole = frame(envelope);
    whole["content"] = Value::Array(content);
    whole["stop_reason"] = json!(reason_to_stop(message));
    whole["usage"]["output_tokens"] = json!(output_tokens(envelope));
    whole
}

pub(super) fn stream(message: &Message, envelope: &Envelope<'_>) -> String {
    let mut stream = String::new();
    named_event(&mut stream, &json!({"type": "message_start", "message": frame(envelope)}));
    for (index, block) in message.blocks.iter().enumerate() {
        let (start, delta) = match block {
            Block::Text(text) => {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
            }
            Block::ToolCall { name, input } => (
                json!({"type": "tool_use", "id": call_id("toolu", envelope.serial, index), "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            ),
        };
        named_event(
            &mut stream,
            &json!({"type": "content_block_start", "index": index, "content_block": start}),
        );
        named_event(
            &mut stream,
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        );
        named_event(&mut stream, &json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": reason_to_stop(message), "stop_sequence": null});
    let usage = json!({"output_tokens": output_tokens(envelope)});
    named_event(&mut stream, &json!({"type": "message_delta", "delta": delta, "usage": usage}));
    named_event(&mut stream, &json!({"type": "message_stop"}));
    stream
}

fn frame(envelope: &Envelope<'_>) -> Value {
    json!({
        "id": format!("msg_scripted_{:06}", envelope.serial),
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": envelope.usage.input,
            "output_tokens": 1,
            "cache_read_input_tokens": envelope.usage.cache_read,
            "cache_creation_input_tokens": envelope.usage.cache_write,
        },
    })
}

fn output_tokens(envelope: &Envelope<'_>) -> u64 {
    envelope.usage.output + envelope.usage.thinking
}

fn reason_to_stop(message: &Message) -> &str {
    if let Some(reason) = &message.stop_reason {
        return reason;
    }
    if message.calls_a_tool() { "tool_use" } else { "end_turn" }
}
