//! OpenAI's Chat Completions, as <https://platform.openai.com/docs/api-reference/chat> describes them.

use super::{Envelope, call_id, event, items};
use crate::reply::{Block, Message};
use serde_json::{Value, json};

pub(super) fn question(body: &Value) -> Value {
    let messages: Vec<Value> = items(&body["messages"]).iter().map(message_of).collect();
    let system: Vec<Value> = items(&body["messages"])
        .iter()
        .filter(|message| matches!(message["role"].as_str(), Some("system" | "developer")))
        .map(|message| json!({"type": "text", "text": message["content"]}))
        .collect();
    let tools: Vec<Value> = items(&body["tools"])
        .iter()
        .map(|tool| json!({"name": tool["function"]["name"]}))
        .collect();
    json!({
        "model": body["model"], "stream": body["stream"], "system": system, "tools": tools, "messages": messages,
    })
}

pub(super) fn whole(message: &Message, envelope: &Envelope<'_>) -> Value {
    let calls = calls(message, envelope);
    let mut said = json!({"role": "assistant", "content": message.text()});
    if !calls.is_empty() {
        said["tool_calls"] = Value::Array(calls);
    }
    let mut whole = frame("chat.completion", envelope);
    whole["choices"] =
        json!([{"index": 0, "message": said, "finish_reason": reason_to_stop(message)}]);
    whole["usage"] = usage(envelope);
    whole
}

pub(super) fn stream(message: &Message, envelope: &Envelope<'_>) -> String {
    let mut stream = String::new();
    let mut chunk = |delta: Value, reason: Option<&str>| {
        let mut chunk = frame("chat.completion.chunk", envelope);
        chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        event(&mut stream, &chunk);
    };
    chunk(json!({"role": "assistant", "content": message.text()}), None);
    for (place, mut call) in calls(message, envelope).into_iter().enumerate() {
        call["index"] = json!(place);
        chunk(json!({"tool_calls": [call]}), None);
    }
    chunk(json!({}), Some(reason_to_stop(message)));
    let mut last = frame("chat.completion.chunk", envelope);
    last["choices"] = json!([]);
    last["usage"] = usage(envelope);
    event(&mut stream, &last);
    stream.push_str("data: [DONE]\n\n");
    stream
}

fn frame(object: &str, envelope: &Envelope<'_>) -> Value {
    json!({
        "id": format!("chatcmpl_scripted_{:06}", envelope.serial),
        "object": object,
        "created": 1,
        "model": envelope.model,
    })
}

fn usage(envelope: &Envelope<'_>) -> Value {
    json!({
        "prompt_tokens": envelope.usage.prompt(),
        "completion_tokens": envelope.usage.output + envelope.usage.thinking,
        "total_tokens": envelope.usage.total(),
        "prompt_tokens_details": {"cached_tokens": envelope.usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": envelope.usage.thinking},
    })
}

fn calls(message: &Message, envelope: &Envelope<'_>) -> Vec<Value> {
    let call = |(index, block): (usize, &Block)| match block {
        Block::Text(_) => None,
        Block::ToolCall { name, input } => Some(json!({
            "id": call_id("call", envelope.serial, index), "type": "function",
            "function": {"name": name, "arguments": input.to_string()},
        })),
    };
    message.blocks.iter().enumerate().filter_map(call).collect()
}

fn reason_to_stop(message: &Message) -> &str {
    if let Some(reason) = &message.stop_reason {
        return reason;
    }
    if message.calls_a_tool() { "tool_calls" } else { "stop" }
}

fn message_of(message: &Value) -> Value {
    let content = &message["content"];
    match message["role"].as_str() {
        Some("tool") => {
            json!({"role": "user", "content": [{"type": "tool_result", "content": content}]})
        }
        Some(role @ ("user" | "assistant")) => json!({"role": role, "content": content}),
        _ => json!({"role": "system", "content": content}),
    }
}
