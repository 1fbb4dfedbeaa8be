//! OpenAI's Responses, as <https://platform.openai.com/docs/api-reference/responses> describes them.

use super::{Envelope, call_id, items, named_event};
use crate::reply::{Block, Message};
use serde_json::{Value, json};

/// A tool call and its result are items of their own here; each becomes a message with one block.
pub(super) fn question(body: &Value) -> Value {
    let messages: Vec<Value> = match &body["input"] {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        input => items(input).iter().filter_map(message_of).collect(),
    };
    let tools: Vec<Value> = items(&body["tools"])
        .iter()
        .map(|tool| json!({"name": tool["name"].as_str().or(tool["type"].as_str())}))
        .collect();
    json!({
        "model": body["model"], "stream": body["stream"], "system": body["instructions"],
        "tools": tools, "messages": messages,
    })
}

pub(super) fn whole(message: &Message, envelope: &Envelope<'_>) -> Value {
    let output: Vec<Value> = message
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| item(block, envelope, index))
        .collect();
    let mut whole = frame(envelope);
    whole["status"] = json!("completed");
    whole["output"] = Value::Array(output);
    whole["usage"] = json!({
        "input_tokens": envelope.usage.prompt(),
        "input_tokens_details": {"cached_tokens": envelope.usage.cache_read},
        "output_tokens": envelope.usage.output + envelope.usage.thinking,
        "output_tokens_details": {"reasoning_tokens": envelope.usage.thinking},
        "total_tokens": envelope.usage.total(),
    });
    whole
}

pub(super) fn stream(message: &Message, envelope: &Envelope<'_>) -> String {
    let mut events = vec![json!({"type": "response.created", "response": frame(envelope)})];
    for (index, block) in message.blocks.iter().enumerate() {
        let done = item(block, envelope, index);
        let mut added = done.clone();
        added["status"] = json!("in_progress");
        let (id, place) = (done["id"].clone(), index);
        match block {
            Block::Text(text) => {
                added["content"] = json!([]);
                let at = |kind: &str, field: &str, value: Value| {
                    let mut event = json!({"type": kind, "item_id": id, "output_index": place, "content_index": 0});
                    event[field] = value;
                    event
                };
                let empty = json!({"type": "output_text", "text": "", "annotations": []});
                events.extend([
                    json!({"type": "response.output_item.added", "output_index": place, "item": added}),
                    at("response.content_part.added", "part", empty),
                    at("response.output_text.delta", "delta", json!(text)),
                    at("response.output_text.done", "text", json!(text)),
                    at("response.content_part.done", "part", done["content"][0].clone()),
                ]);
            }
            Block::ToolCall { input, .. } => {
                added["arguments"] = json!("");
                let at = |kind: &str, field: &str| {
                    let mut event = json!({"type": kind, "item_id": id, "output_index": place});
                    event[field] = json!(input.to_string());
                    event
                };
                events.extend([
                    json!({"type": "response.output_item.added", "output_index": place, "item": added}),
                    at("response.function_call_arguments.delta", "delta"),
                    at("response.function_call_arguments.done", "arguments"),
                ]);
            }
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": place, "item": done}),
        );
    }
    events.push(json!({"type": "response.completed", "response": whole(message, envelope)}));
    let mut stream = String::new();
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
        named_event(&mut stream, event);
    }
    stream
}

fn frame(envelope: &Envelope<'_>) -> Value {
    json!({
        "id": format!("resp_scripted_{:06}", envelope.serial),
        "object": "response",
        "created_at": 1,
        "status": "in_progress",
        "model": envelope.model,
        "output": [],
        "usage": null,
    })
}

fn item(block: &Block, envelope: &Envelope<'_>, index: usize) -> Value {
    match block {
        Block::Text(text) => json!({
            "id": call_id("msg", envelope.serial, index), "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Block::ToolCall { name, input } => json!({
            "id": call_id("fc", envelope.serial, index), "type": "function_call", "status": "completed",
            "call_id": call_id("call", envelope.serial, index), "name": name, "arguments": input.to_string(),
        }),
    }
}

fn message_of(item: &Value) -> Option<Value> {
    match item["type"].as_str() {
        Some("message") | None => {
            let role = match item["role"].as_str()? {
                "assistant" => "assistant",
                "user" => "user",
                _ => "system",
            };
            Some(json!({"role": role, "content": texts(&item["content"])}))
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let result = json!({"type": "tool_result", "content": texts(&item["output"])});
            Some(json!({"role": "user", "content": [result]}))
        }
        Some("function_call" | "custom_tool_call") => {
            let call = json!({"type": "tool_use", "name": item["name"]});
            Some(json!({"role": "assistant", "content": [call]}))
        }
        _ => None,
    }
}

/// A content is one text, or a list of parts that have one each.
fn texts(content: &Value) -> Value {
    if content.is_string() {
        return content.clone();
    }
    let texts = items(content).iter().filter_map(|part| part["text"].as_str());
    texts.map(|text| json!({"type": "text", "text": text})).collect()
}
