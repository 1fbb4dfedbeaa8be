//! A model on this machine that plays a list of replies: as much of HTTP and of Anthropic's Messages as Claude Code needs.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The most that is read of a request, in bytes.
const MOST: u64 = 16 << 20;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the model answers.
pub enum ModelReply {
    /// Text, with which the turn ends.
    Text(String),
    /// A call of the client's shell tool.
    Shell {
        /// What the shell runs.
        command: String,
        /// What the client shows of it.
        description: String,
    },
}

/// Starts a model on a free port of 127.0.0.1 and returns its address as a URL. It serves until the program ends.
pub fn start(replies: Vec<ModelReply>) -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let url = format!("http://{}", listener.local_addr()?);
    let replies = Arc::new(replies);
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let replies = Arc::clone(&replies);
            // A connection that cannot be served is closed; the client tries again.
            drop(thread::Builder::new().spawn(move || serve(&stream, &replies)));
        }
    };
    thread::Builder::new().spawn(accept)?;
    Ok(url)
}

fn serve(mut stream: &TcpStream, replies: &[ModelReply]) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let (route, body) = request(BufReader::new(stream.take(MOST)))?;
    let (kind, answer) = answer(&route, &body, replies);
    let length = answer.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
    )
}

/// Returns the path of a request, without the query, and its body; `Null` where it has none.
fn request(mut reader: impl BufRead) -> io::Result<(String, Value)> {
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let route = path.split('?').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok((route, serde_json::from_slice(&body).unwrap_or_default()))
}

/// Returns the content type and the text of the answer to a request.
fn answer(route: &str, body: &Value, replies: &[ModelReply]) -> (&'static str, String) {
    if !route.ends_with("/messages") {
        return ("application/json", "{}".to_owned());
    }
    let is_empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    // A request without tools is the client's own, for a title.
    let title = ModelReply::Text("A demo".to_owned());
    let number = number(body);
    let reply =
        if is_empty(&body["tools"]) { None } else { replies.get(number).or(replies.last()) };
    let message = message(reply.unwrap_or(&title), number, &body["model"]);
    if body["stream"] == true {
        ("text/event-stream", events(&message))
    } else {
        ("application/json", message.to_string())
    }
}

/// Returns how many replies the conversation already holds. A request that is tried again gets the same one again.
fn number(body: &Value) -> usize {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

fn message(reply: &ModelReply, number: usize, model: &Value) -> Value {
    let (block, reason) = match reply {
        ModelReply::Text(text) => (json!({"type": "text", "text": text}), "end_turn"),
        ModelReply::Shell { command, description } => {
            let input = json!({"command": command, "description": description});
            let id = format!("toolu_demo_{number}");
            (json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}), "tool_use")
        }
    };
    json!({
        "id": format!("msg_demo_{number}"), "type": "message", "role": "assistant", "model": model,
        "content": [block], "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

/// Returns a message of one block as server-sent events.
fn events(message: &Value) -> String {
    let block = &message["content"][0];
    let (mut opened, mut start) = (message.clone(), block.clone());
    opened["content"] = json!([]);
    opened["stop_reason"] = Value::Null;
    let delta = if block["type"] == "text" {
        start["text"] = json!("");
        json!({"type": "text_delta", "text": block["text"]})
    } else {
        start["input"] = json!({});
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    };
    let ended = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    let mut events = String::new();
    for (name, mut data) in [
        ("message_start", json!({ "message": opened })),
        ("content_block_start", json!({"index": 0, "content_block": start})),
        ("content_block_delta", json!({"index": 0, "delta": delta})),
        ("content_block_stop", json!({"index": 0})),
        ("message_delta", json!({"delta": ended, "usage": {"output_tokens": 1}})),
        ("message_stop", json!({})),
    ] {
        data["type"] = json!(name);
        // Writing to a `String` cannot fail.
        let _ = write!(events, "event: {name}\ndata: {data}\n\n");
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(url: &str, body: &str) -> String {
        let address = url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("a connection");
        let length = body.len();
        let head = format!("POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: {length}");
        write!(stream, "{head}\r\n\r\n{body}").expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn question(messages: &Value) -> String {
        json!({"stream": true, "tools": [{"name": "Bash"}], "messages": messages}).to_string()
    }

    #[test]
    fn the_reply_is_the_one_whose_turn_it_is_and_the_last_one_repeats() {
        let shell = ModelReply::Shell { command: "ls".to_owned(), description: "look".to_owned() };
        let url = start(vec![shell, ModelReply::Text("Done.".to_owned())]).expect("a model");
        let (user, agent) = (json!({"role": "user"}), json!({"role": "assistant"}));
        let first = question(&json!([user]));
        assert!(ask(&url, &first).contains(r#""partial_json":"{\"command\":\"ls\""#));
        assert_eq!(ask(&url, &first), ask(&url, &first));
        for turns in [json!([user, agent, user]), json!([user, agent, user, agent, user])] {
            let answer = ask(&url, &question(&turns));
            assert!(answer.contains(r#""text":"Done.""#), "{answer}");
        }
    }

    #[test]
    fn a_request_for_a_title_and_one_that_is_no_request_for_a_message_play_nothing() {
        let url = start(vec![ModelReply::Text("Done.".to_owned())]).expect("a model");
        let title = ask(&url, r#"{"messages":[{"role":"user"}]}"#);
        assert!(title.contains(r#""text":"A demo""#), "{title}");
        for bytes in ["HEAD / HTTP/1.1\r\n\r\n", "no request\r\n\r\n"] {
            let mut stream =
                TcpStream::connect(url.trim_start_matches("http://")).expect("a connection");
            stream.write_all(bytes.as_bytes()).expect("a request");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("an answer");
            assert!(answer.ends_with("\r\n\r\n{}"), "{answer}");
        }
    }
}
