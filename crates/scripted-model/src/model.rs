//! A scripted model on loopback: enough of four providers' services to drive the real agent programs with no account and no network.

use super::asked::{Asked, Asker};
use super::http::{self, Answer, Request, Unreadable};
use super::reply::{Failure, Kind, Message, Reply, Usage, tokens_in};
use super::wire::{Envelope, Wire};
use serde_json::{Value, json};
use std::io::{self, BufReader, Read};
use std::mem::discriminant;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What decides the next reply to the conversation and to its subagents.
pub type Script = Box<dyn FnMut(&Asked) -> Reply + Send>;

/// A running model server. It stops, and all its threads with it, when it is dropped.
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// The header with which Claude Code marks the requests of a subagent.
const AGENT_HEADER: &str = "x-claude-code-agent-id";

/// How long a test waits for a request on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long and how much of a refused request is still read.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 1024 * 1024;
/// The answer to a request of the client's own for a title.
const TITLE: &str = "A scripted title";
/// The name of the model where none was asked for.
const MODEL: &str = "scripted";
/// The answer to a request of the client's own for the summary of a compaction.
const SUMMARY: &str =
    "<analysis>A scripted analysis.</analysis>\n<summary>The scripted summary.</summary>";

struct Shared {
    script: Mutex<Script>,
    record: Mutex<Record>,
    /// Notified at every request and when the server stops.
    changed: Condvar,
}

#[derive(Default)]
struct Record {
    requests: Vec<Arc<Asked>>,
    complaints: Vec<String>,
    bills: Vec<(Asker, Usage)>,
    stopping: bool,
}

impl ScriptedModel {
    /// Returns a model that listens on a free port of 127.0.0.1 and asks `script` for every reply.
    ///
    /// # Panics
    /// Where the machine has no port or no thread for it.
    #[track_caller]
    pub fn start(script: impl FnMut(&Asked) -> Reply + Send + 'static) -> ScriptedModel {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(script)),
            record: Mutex::default(),
            changed: Condvar::new(),
        });
        let served = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("scripted-model".to_owned())
            .spawn(move || accept(&listener, &served))
            .expect("a thread");
        ScriptedModel { address, shared, acceptor: Some(acceptor) }
    }

    /// Returns a model that plays a fixed list: the conversation gets one reply after the other, the last one again and again.
    ///
    /// Subagents are answered `done`.
    #[track_caller]
    pub fn playing(replies: Vec<Reply>) -> ScriptedModel {
        ScriptedModel::start(move |asked| {
            if asked.is_subagent() {
                return Reply::text("done");
            }
            let last = replies.len().saturating_sub(1);
            replies
                .get((asked.number - 1).min(last))
                .cloned()
                .unwrap_or_else(|| Reply::text("done"))
        })
    }

    /// Returns the address that `ANTHROPIC_BASE_URL` and `GOOGLE_GEMINI_BASE_URL` need; with `/v1` after it, it is the base of
    /// OpenAI's services.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request for a message so far, oldest first, those of subagents and the client's own included.
    pub fn requests(&self) -> Vec<Arc<Asked>> {
        self.shared.record().requests.clone()
    }

    /// Returns the requests of the main conversation so far, oldest first.
    pub fn main_requests(&self) -> Vec<Arc<Asked>> {
        self.shared
            .record()
            .requests
            .iter()
            .filter(|asked| asked.asker == Asker::Main)
            .cloned()
            .collect()
    }

    /// Returns the requests of subagents so far, oldest first.
    pub fn subagent_requests(&self) -> Vec<Arc<Asked>> {
        self.shared.record().requests.iter().filter(|asked| asked.is_subagent()).cloned().collect()
    }

    /// Returns the tokens that all messages so far have reported: those to the conversation, and those to anybody else.
    pub fn usage(&self) -> (Usage, Usage) {
        let record = self.shared.record();
        let sum = |of_main: bool| {
            let bills = record.bills.iter().filter(|(asker, _)| (*asker == Asker::Main) == of_main);
            bills.fold(Usage::default(), |sum, (_, usage)| sum + *usage)
        };
        (sum(true), sum(false))
    }

    /// Returns what went wrong that no script asked for: requests that could not be read, and panics of the script.
    pub fn complaints(&self) -> Vec<String> {
        self.shared.record().complaints.clone()
    }

    /// Waits until the main conversation has sent its request of this number, which is 1 for the first.
    ///
    /// Only for a run that goes on in another thread.
    ///
    /// # Panics
    /// Where the request has not come after five minutes.
    pub fn wait_for_main_request(&self, number: usize) {
        let missing = |record: &mut Record| {
            record.requests.iter().filter(|asked| asked.asker == Asker::Main).count() < number
        };
        let waited =
            self.shared.changed.wait_timeout_while(self.shared.record(), PATIENCE, missing);
        let (record, end) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(record);
        assert!(!end.timed_out(), "request {number} never came");
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.record().stopping = true;
        self.shared.changed.notify_all();
        // The acceptor sleeps in `accept`: a connection wakes it. If none can be made, it is left to end with the process.
        if TcpStream::connect(self.address).is_err() {
            return;
        }
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

impl Shared {
    // A thread that panicked while it held a lock left nothing half done: every change is one assignment or one push.
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn complain(&self, what: String) {
        self.record().complaints.push(what);
    }

    /// Files a request under its asker and its number.
    fn note(&self, agent: Option<&str>, body: Value) -> Arc<Asked> {
        let mut request = Asked { number: 0, asker: Asker::Side, body };
        request.asker = match agent {
            _ if request.tool_names().is_empty() || request.is_compaction() => Asker::Side,
            Some(agent) => Asker::Subagent(agent.to_owned()),
            None => Asker::Main,
        };
        let mut record = self.record();
        let kind = discriminant(&request.asker);
        request.number =
            record.requests.iter().filter(|earlier| discriminant(&earlier.asker) == kind).count()
                + 1;
        let request = Arc::new(request);
        record.requests.push(Arc::clone(&request));
        drop(record);
        self.changed.notify_all();
        request
    }

    /// Writes down what a message reports of tokens and returns the message's number, from 1.
    fn bill(&self, asker: &Asker, usage: Usage) -> usize {
        let mut record = self.record();
        record.bills.push((asker.clone(), usage));
        record.bills.len()
    }

    fn ask_script(&self, asked: &Asked) -> Reply {
        if asked.asker == Asker::Side {
            return Reply::text(if asked.is_compaction() { SUMMARY } else { TITLE });
        }
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        // A script is a closure of a test and may fail an assertion; the client then gets an error that it does not try again.
        match catch_unwind(AssertUnwindSafe(|| script(asked))) {
            Ok(reply) => reply,
            Err(panic) => {
                let why = format!("the script panicked: {}", words_of(panic.as_ref()));
                self.complain(why.clone());
                Reply::error(400, "invalid_request_error", &why)
            }
        }
    }

    fn wait_until_stopped(&self) {
        let waiting = self.changed.wait_while(self.record(), |record| !record.stopping);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Serves every connection in a thread of its own until the server stops, then closes and joins them all.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
    for stream in listener.incoming() {
        if shared.record().stopping {
            break;
        }
        connections.retain(|(_, thread)| !thread.is_finished());
        let Ok(stream) = stream else { continue };
        let Ok(handle) = stream.try_clone() else {
            continue;
        };
        let served = Arc::clone(shared);
        let spawned = thread::Builder::new().spawn(move || serve(&stream, &served));
        if let Ok(thread) = spawned {
            connections.push((handle, thread));
        }
    }
    for (stream, thread) in connections {
        // Wakes a thread that waits for the rest of a request. It fails where the other side is already gone.
        let _ = stream.shutdown(Shutdown::Both);
        drop(thread.join());
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let mut writer = stream;
    // An answer may find nobody there: the client is free to go away. So what writing returns is of no interest.
    match http::read_request(&mut BufReader::new(stream), &mut writer) {
        Ok(request) => {
            if let Some(answer) = answer_to(&request, shared) {
                let _ = http::write_answer(&mut writer, &request.method, &answer);
            }
        }
        Err(Unreadable::Gone) => {}
        Err(Unreadable::Refused { status, why }) => {
            shared.complain(why.clone());
            let answer = error_answer(Wire::Messages, &Failure::of_request(status, why));
            let _ = http::write_answer(&mut writer, "", &answer);
            linger(stream);
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

/// Reads what the other side still sends, within bounds: a connection closed over unread bytes is reset, and the answer lost.
fn linger(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(LINGER));
    let _ = io::copy(&mut stream.take(LINGER_BYTES), &mut io::sink());
}

fn answer_to(request: &Request, shared: &Shared) -> Option<Answer> {
    let route = request.route();
    if request.method != "POST" {
        return Some(json_answer(200, &question_beside(route)));
    }
    if route.ends_with("/messages/count_tokens") {
        return Some(json_answer(200, &json!({"input_tokens": tokens_in(request.body.len())})));
    }
    if route.ends_with(":countTokens") {
        return Some(json_answer(200, &json!({"totalTokens": tokens_in(request.body.len())})));
    }
    let Some(wire) = Wire::of(route) else {
        return Some(json_answer(200, &json!({})));
    };
    let body: Value = match serde_json::from_slice(&request.body) {
        Ok(body) => body,
        Err(error) => {
            let why = format!("the body is not JSON: {error}");
            shared.complain(why.clone());
            return Some(error_answer(wire, &Failure::of_request(400, why)));
        }
    };
    let asked = shared.note(request.header(AGENT_HEADER), wire.question(route, body));
    match shared.ask_script(&asked).kind {
        Kind::Message(message) => {
            Some(message_answer(wire, &message, &asked, request.body.len(), shared))
        }
        Kind::Failure(failure) => Some(error_answer(wire, &failure)),
        Kind::Silence => {
            shared.wait_until_stopped();
            None
        }
    }
}

/// Some programs ask for the models that there are before they ask one of them.
fn question_beside(route: &str) -> Value {
    if route.ends_with("/models") {
        return json!({"object": "list", "data": [{"id": MODEL, "object": "model"}], "models": []});
    }
    json!({})
}

fn message_answer(
    wire: Wire,
    message: &Message,
    asked: &Asked,
    request_bytes: usize,
    shared: &Shared,
) -> Answer {
    let usage = message.usage(request_bytes);
    let serial = shared.bill(&asked.asker, usage);
    let model = asked.body["model"].as_str().unwrap_or(MODEL);
    let envelope = Envelope { serial, model, usage };
    if asked.body["stream"] != true {
        return json_answer(200, &wire.whole(message, &envelope));
    }
    Answer {
        status: 200,
        content_type: "text/event-stream",
        headers: vec![("Cache-Control".to_owned(), "no-cache".to_owned())],
        body: wire.stream(message, &envelope).into_bytes(),
    }
}

fn json_answer(status: u16, body: &Value) -> Answer {
    Answer {
        status,
        content_type: "application/json",
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    }
}

fn error_answer(wire: Wire, failure: &Failure) -> Answer {
    let mut answer = json_answer(failure.status, &wire.failure(failure));
    answer.headers.clone_from(&failure.headers);
    answer
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(words) = panic.downcast_ref::<String>() {
        return words.clone();
    }
    panic.downcast_ref::<&str>().map_or_else(|| "no words".to_owned(), |words| (*words).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const QUESTION: &str = r#"{"model":"m","stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"go"}]}"#;

    /// Sends bytes as they are and returns all that comes back.
    fn send(model: &ScriptedModel, bytes: &str) -> String {
        let mut stream = TcpStream::connect(model.address).expect("a connection");
        stream.write_all(bytes.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn post(model: &ScriptedModel, path: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        send(
            model,
            &format!("POST {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}"),
        )
    }

    fn ask(model: &ScriptedModel) -> String {
        post(model, "/v1/messages?beta=true", "", QUESTION)
    }

    #[test]
    fn a_list_is_played_in_order_and_its_last_reply_repeats() {
        let model = ScriptedModel::playing(vec![Reply::text("one"), Reply::text("two")]);
        let answers = [ask(&model), ask(&model), ask(&model)];
        assert!(answers[0].contains(r#""text":"one""#), "{}", answers[0]);
        assert!(answers[1].contains(r#""text":"two""#) && answers[2].contains(r#""text":"two""#));
        assert!(
            answers[0].contains("event: message_start\n")
                && answers[0].contains("event: message_stop\n")
        );
        assert!(
            answers[1].contains("msg_scripted_000002")
                && answers[2].contains("msg_scripted_000003")
        );
        assert_eq!(
            model.main_requests().iter().map(|asked| asked.number).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }

    #[test]
    fn a_request_without_a_stream_gets_one_message() {
        let reply = Reply::text("I run.").and_tool("Bash", json!({"command": "ls"}));
        let model = ScriptedModel::playing(vec![reply]);
        let answer = post(&model, "/v1/messages", "", &QUESTION.replace("true", "false"));
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let message: Value = serde_json::from_str(body).expect("one message");
        assert_eq!(message["content"][0]["text"], "I run.");
        assert_eq!(message["content"][1]["input"]["command"], "ls");
        assert_eq!(message["stop_reason"], "tool_use");
    }

    #[test]
    fn a_body_in_chunks_is_put_together() {
        let model = ScriptedModel::playing(vec![Reply::text("heard")]);
        let (first, second) = QUESTION.split_at(20);
        let head = "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = format!(
            "{:x}\r\n{first}\r\n{:X};x=y\r\n{second}\r\n0\r\nTrailer: t\r\n\r\n",
            20,
            second.len()
        );
        assert!(send(&model, &format!("{head}{body}")).contains("heard"));
        assert_eq!(model.main_requests()[0].last_text(), "go");
    }

    #[test]
    fn subagents_and_the_clients_own_requests_are_told_apart() {
        let model = ScriptedModel::start(|asked| {
            Reply::text(if asked.asker == Asker::Subagent("a1".to_owned()) {
                "from the subagent"
            } else {
                "from the main"
            })
        });
        assert!(
            post(&model, "/v1/messages", "X-Claude-Code-Agent-Id: a1\r\n", QUESTION)
                .contains("from the subagent")
        );
        assert!(ask(&model).contains("from the main"));
        assert!(post(&model, "/v1/messages", "", r#"{"messages":[],"tools":[]}"#).contains(TITLE));
        let askers: Vec<Asker> = model.requests().iter().map(|asked| asked.asker.clone()).collect();
        assert_eq!(askers, [Asker::Subagent("a1".to_owned()), Asker::Main, Asker::Side]);
        assert!(model.requests().iter().all(|asked| asked.number == 1));
    }

    #[test]
    fn an_error_carries_its_status_its_type_and_when_to_try_again() {
        let reply = Reply::error(429, "rate_limit_error", "slow down").retry_after(7);
        let model = ScriptedModel::playing(vec![reply]);
        let answer = ask(&model);
        assert!(answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"), "{answer}");
        assert!(answer.contains("Retry-After: 7\r\n"), "{answer}");
        assert!(
            answer.contains(r#"{"type":"rate_limit_error","message":"slow down"}"#),
            "{answer}"
        );
    }

    #[test]
    fn questions_beside_the_conversation_are_answered_without_the_script() {
        let model = ScriptedModel::start(|_| panic!("nobody asks me"));
        assert!(send(&model, "HEAD / HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
        assert!(send(&model, "GET /api/hello HTTP/1.1\r\n\r\n").ends_with("{}"));
        assert!(post(&model, "/v1/messages/count_tokens", "", QUESTION).contains("input_tokens"));
        assert!(post(&model, "/api/event_logging", "", "x").ends_with("{}"));
        assert!(model.requests().is_empty() && model.complaints().is_empty());
    }

    #[test]
    fn nonsense_is_refused_and_the_model_goes_on() {
        let model = ScriptedModel::playing(vec![Reply::text("still here")]);
        let too_long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(70_000));
        for (bytes, status) in [
            ("hello\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"),
            (too_long.as_str(), "431"),
            ("POST /v1/messages HTTP/1.1\r\nContent-Length: many\r\n\r\n", "400"),
            ("POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "413"),
            ("POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"),
            ("POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\n\r\n{[}", "400"),
            ("POST /v1/messages HTTP/1.1\r\nContent-Length: 4\r\n\r\n\"\u{e9}\"", "200"),
        ] {
            let answer = send(&model, bytes);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{bytes:?}: {answer}");
        }
        assert!(ask(&model).contains("still here"));
        assert_eq!(model.complaints().len(), 7, "{:?}", model.complaints());
    }

    #[test]
    fn a_script_that_panics_is_an_error_for_the_client_and_a_complaint_for_the_test() {
        let model = ScriptedModel::start(|asked| panic!("unexpected request {}", asked.number));
        assert!(ask(&model).starts_with("HTTP/1.1 400 "));
        assert!(ask(&model).contains("the script panicked: unexpected request 2"));
        assert_eq!(model.complaints().len(), 2);
    }

    #[test]
    fn the_model_stops_while_it_is_silent_and_while_a_request_is_half_sent() {
        let model = ScriptedModel::playing(vec![Reply::silence()]);
        let mut waiting = TcpStream::connect(model.address).expect("a connection");
        write!(
            waiting,
            "POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{QUESTION}",
            QUESTION.len()
        )
        .expect("a request");
        let mut half = TcpStream::connect(model.address).expect("a connection");
        half.write_all(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
            .expect("half a request");
        model.wait_for_main_request(1);
        drop(model);
        assert!(matches!(half.read(&mut [0; 8]), Ok(0) | Err(_)));
    }
}
