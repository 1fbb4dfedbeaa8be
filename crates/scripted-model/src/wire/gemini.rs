//! Gemini's generateContent, as <https://ai.google.dev/api/generate-content> describes it.

use super::{Envelope, event, items, object};
use crate::reply::{Block, Failure, Message};
use serde_json::{Map, Value, json};

/// The model and the wish for a stream stand in the path here.
pub(super) fn question(route: &str, body: &Value) -> Value {
    let method = route.rsplit('/').next().unwrap_or_default();
    let (model, method) = method.split_once(':').unwrap_or((method, ""));
    let tools: Vec<Value> = items(&body["tools"])
        .iter()
        .flat_map(|tool| items(&tool["functionDeclarations"]))
        .map(|function| json!({"name": function["name"]}))
        .collect();
    let messages: Vec<Value> = items(&body["contents"]).iter().map(message_of).collect();
    json!({
        "model": model, "stream": method == "streamGenerateContent",
        "system": parts(&body["systemInstruction"]["parts"]), "tools": tools, "messages": messages,
    })
}

pub(super) fn whole(message: &Message, envelope: &Envelope<'_>) -> Value {
    let part = |block: &Block| match block {
        Block::Text(text) => json!({ "text": text }),
        Block::ToolCall { name, input } => json!({"functionCall": {"name": name, "args": input}}),
    };
    let parts: Vec<Value> = message.blocks.iter().map(part).collect();
    let reason = message.stop_reason.as_deref().unwrap_or("STOP");
    let usage = &envelope.usage;
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.prompt(),
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output,
            "thoughtsTokenCount": usage.thinking,
            "totalTokenCount": usage.total(),
        },
        "modelVersion": envelope.model,
        "responseId": format!("scripted_{:06}", envelope.serial),
    })
}

pub(super) fn stream(message: &Message, envelope: &Envelope<'_>) -> String {
    let mut stream = String::new();
    event(&mut stream, &whole(message, envelope));
    stream
}

pub(super) fn error(failure: &Failure) -> Map<String, Value> {
    let status = match failure.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        _ => "UNKNOWN",
    };
    object(json!({"code": failure.status, "message": failure.message, "status": status}))
}

fn message_of(content: &Value) -> Value {
    let role = if content["role"] == "model" { "assistant" } else { "user" };
    json!({"role": role, "content": parts(&content["parts"])})
}

fn parts(parts: &Value) -> Value {
    let block = |part: &Value| {
        if let Some(text) = part["text"].as_str() {
            return Some(json!({"type": "text", "text": text}));
        }
        let response = &part["functionResponse"]["response"];
        let output = response["output"].as_str().or(response["error"].as_str());
        if response.is_null() {
            return None;
        }
        let text = output.map_or_else(|| response.to_string(), str::to_owned);
        Some(json!({"type": "tool_result", "content": text}))
    };
    items(parts).iter().filter_map(block).collect()
}
