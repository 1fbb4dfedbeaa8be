//! What each form makes of one and the same conversation.

use super::*;
use crate::asked::{Asked, Asker};
use crate::reply::{Kind, Reply};

const ALL: [Wire; 4] = [Wire::Messages, Wire::Responses, Wire::ChatCompletions, Wire::Gemini];
const USAGE: Usage = Usage { input: 60, cache_read: 30, cache_write: 10, output: 43, thinking: 7 };

fn message() -> Message {
    let reply = Reply::text("I write.").and_tool("write", json!({"path": "a\"b"})).usage(USAGE);
    let Kind::Message(message) = reply.kind else { panic!("not a message") };
    message
}

fn envelope() -> Envelope<'static> {
    Envelope { serial: 3, model: "m", usage: message().usage(0) }
}

fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The same question in each form: a prompt, an answer with a call, the call's result.
fn questions() -> [(Wire, &'static str, Value); 4] {
    let tool = json!({"name": "write"});
    [
        (
            Wire::Messages,
            "/v1/messages",
            json!({"model": "m", "stream": true, "system": "be brief", "tools": [tool], "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [{"type": "tool_use", "name": "write", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "content": "written"}]},
            ]}),
        ),
        (
            Wire::Responses,
            "/v1/responses",
            json!({"model": "m", "stream": true, "instructions": "be brief", "tools": [{"type": "function", "name": "write"}], "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "name": "write", "arguments": "{}", "call_id": "c"},
                {"type": "function_call_output", "call_id": "c", "output": "written"},
            ]}),
        ),
        (
            Wire::ChatCompletions,
            "/v1/chat/completions",
            json!({"model": "m", "stream": true, "tools": [{"type": "function", "function": tool}], "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "go"}]},
                {"role": "assistant", "content": null, "tool_calls": []},
                {"role": "tool", "tool_call_id": "c", "content": "written"},
            ]}),
        ),
        (
            Wire::Gemini,
            "/v1beta/models/m:streamGenerateContent",
            json!({"systemInstruction": {"parts": [{"text": "be brief"}]}, "tools": [{"functionDeclarations": [tool]}], "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "write", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "write", "response": {"output": "written"}}}]},
            ]}),
        ),
    ]
}

#[test]
fn a_question_is_the_same_to_a_script_in_every_form() {
    for (wire, route, body) in questions() {
        assert_eq!(Wire::of(route), Some(wire));
        let body = wire.question(route, body);
        assert_eq!(body["model"], "m", "{wire:?}");
        assert_eq!(body["stream"], true, "{wire:?}");
        let asked = Asked { number: 1, asker: Asker::Main, body };
        assert_eq!(asked.tool_names(), ["write"], "{wire:?}");
        assert_eq!(asked.first_text(), "go", "{wire:?}");
        assert_eq!(asked.system_text(), "be brief", "{wire:?}");
        assert_eq!(asked.tool_results(), ["written"], "{wire:?}");
        assert_eq!(asked.last_text(), "written", "{wire:?}");
    }
}

#[test]
fn no_other_path_asks_for_a_message() {
    for route in ["/v1/messages/count_tokens", "/v1beta/models/m:countTokens", "/v1/models", "/"] {
        assert_eq!(Wire::of(route), None, "{route}");
    }
}

#[test]
fn text_and_call_and_tokens_are_in_each_stream_and_in_each_whole_answer() {
    for wire in ALL {
        let whole = wire.whole(&message(), &envelope());
        let stream = events(&wire.stream(&message(), &envelope()));
        let last = &stream[stream.len() - 1];
        match wire {
            Wire::Messages => {
                assert_eq!(whole["content"][1]["input"]["path"], "a\"b");
                assert_eq!(stream[0]["message"]["usage"]["cache_creation_input_tokens"], 10);
                assert_eq!(stream[stream.len() - 2]["usage"]["output_tokens"], 50);
                assert_eq!(last["type"], "message_stop");
            }
            Wire::Responses => {
                assert_eq!(last["type"], "response.completed");
                assert_eq!(last["response"], whole);
                assert_eq!(whole["output"][0]["content"][0]["text"], "I write.");
                assert_eq!(whole["output"][1]["arguments"], r#"{"path":"a\"b"}"#);
                assert_eq!(whole["usage"]["input_tokens"], 100);
                assert_eq!(whole["usage"]["input_tokens_details"]["cached_tokens"], 30);
                assert_eq!(whole["usage"]["output_tokens"], 50);
                assert_eq!(whole["usage"]["output_tokens_details"]["reasoning_tokens"], 7);
                assert!(stream.iter().any(|event| event["delta"] == "I write."));
                assert!(stream.iter().any(|event| event["delta"] == r#"{"path":"a\"b"}"#));
            }
            Wire::ChatCompletions => {
                assert_eq!(last["usage"], whole["usage"]);
                assert_eq!(last["usage"]["prompt_tokens"], 100);
                assert_eq!(last["usage"]["completion_tokens"], 50);
                assert_eq!(last["usage"]["total_tokens"], 150);
                assert_eq!(stream[0]["choices"][0]["delta"]["content"], "I write.");
                let call = &stream[1]["choices"][0]["delta"]["tool_calls"][0];
                assert_eq!(call["function"]["arguments"], r#"{"path":"a\"b"}"#);
                assert_eq!(call["index"], 0);
                assert_eq!(stream[2]["choices"][0]["finish_reason"], "tool_calls");
            }
            Wire::Gemini => {
                assert_eq!(last, &whole);
                let parts = &whole["candidates"][0]["content"]["parts"];
                assert_eq!(parts[0]["text"], "I write.");
                assert_eq!(parts[1]["functionCall"]["args"]["path"], "a\"b");
                assert_eq!(whole["usageMetadata"]["promptTokenCount"], 100);
                assert_eq!(whole["usageMetadata"]["candidatesTokenCount"], 43);
                assert_eq!(whole["usageMetadata"]["totalTokenCount"], 150);
            }
        }
    }
}

#[test]
fn an_error_is_worded_as_its_service_words_it() {
    let reply = Reply::error(429, "rate_limit_error", "slow down").detail("resets_at", json!(7));
    let Kind::Failure(failure) = reply.kind else { panic!("not a failure") };
    for wire in ALL {
        let body = wire.failure(&failure);
        assert_eq!(body["error"]["message"], "slow down", "{wire:?}");
        assert_eq!(body["error"]["resets_at"], 7, "{wire:?}");
        match wire {
            Wire::Messages => assert_eq!(body["type"], "error"),
            Wire::Responses | Wire::ChatCompletions => {
                assert_eq!(body["error"]["type"], "rate_limit_error");
            }
            Wire::Gemini => assert_eq!(body["error"]["status"], "RESOURCE_EXHAUSTED"),
        }
    }
}

#[test]
fn the_sum_of_tokens_counts_each_of_them_once() {
    assert_eq!(USAGE.total(), 150);
    assert_eq!((USAGE + USAGE).total(), 300);
}
