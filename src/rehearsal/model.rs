//! A scripted model on loopback: enough of the Messages API to drive the real Claude Code with no account and no network.

use super::asked::{Asked, Asker};
use super::http::{self, Answer, Request, Unreadable};
use super::reply::{Envelope, Failure, Kind, Reply, tokens_in};
use serde_json::{Value, json};
use std::io::{self, BufReader};
use std::mem::discriminant;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

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
    answers: usize,
    stopping: bool,
}

impl ScriptedModel {
    /// Returns a model that listens on a free port of 127.0.0.1 and asks `script` for every reply.
    pub fn start(
        script: impl FnMut(&Asked) -> Reply + Send + 'static,
    ) -> io::Result<ScriptedModel> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(script)),
            record: Mutex::default(),
            changed: Condvar::new(),
        });
        let served = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("scripted-model".to_owned())
            .spawn(move || accept(&listener, &served))?;
        Ok(ScriptedModel {
            address,
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// Returns a model that plays a fixed list: the conversation gets one reply after the other, the last one again and again.
    ///
    /// Subagents are answered `done`.
    pub fn playing(replies: Vec<Reply>) -> io::Result<ScriptedModel> {
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

    /// Returns the address that `ANTHROPIC_BASE_URL` needs.
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
        self.shared
            .record()
            .requests
            .iter()
            .filter(|asked| asked.is_subagent())
            .cloned()
            .collect()
    }

    /// Returns what went wrong that no script asked for: requests that could not be read, and panics of the script.
    pub fn complaints(&self) -> Vec<String> {
        self.shared.record().complaints.clone()
    }

    /// Waits until the main conversation has sent its request of this number, which is 1 for the first.
    ///
    /// Only for a run that goes on in another thread: it waits as long as it takes.
    pub fn wait_for_main_request(&self, number: usize) {
        let missing = |record: &mut Record| {
            record
                .requests
                .iter()
                .filter(|asked| asked.asker == Asker::Main)
                .count()
                < number
        };
        drop(
            self.shared
                .changed
                .wait_while(self.shared.record(), missing)
                .unwrap_or_else(PoisonError::into_inner),
        );
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

    fn note(&self, asker: Asker, body: Value) -> Arc<Asked> {
        let mut record = self.record();
        let kind = discriminant(&asker);
        let number = record
            .requests
            .iter()
            .filter(|earlier| discriminant(&earlier.asker) == kind)
            .count()
            + 1;
        let request = Arc::new(Asked {
            number,
            asker,
            body,
        });
        record.requests.push(Arc::clone(&request));
        drop(record);
        self.changed.notify_all();
        request
    }

    fn next_serial(&self) -> usize {
        let mut record = self.record();
        record.answers += 1;
        record.answers
    }

    fn ask_script(&self, asked: &Asked) -> Reply {
        if asked.asker == Asker::Side {
            return Reply::text("A rehearsal");
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
        let waiting = self
            .changed
            .wait_while(self.record(), |record| !record.stopping);
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
    let (method, answer) = match http::read_request(&mut BufReader::new(stream), &mut writer) {
        Ok(request) => {
            let answer = answer_to(&request, shared);
            (request.method, answer)
        }
        Err(Unreadable::Gone) => return,
        Err(Unreadable::Refused { status, why }) => {
            shared.complain(why.clone());
            (
                String::new(),
                Some(error_answer(&Failure::of_request(status, why))),
            )
        }
    };
    if let Some(answer) = answer {
        // The client may have gone away meanwhile, which is its right.
        let _ = http::write_answer(&mut writer, &method, &answer);
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn answer_to(request: &Request, shared: &Shared) -> Option<Answer> {
    if request.method != "POST" {
        return Some(json_answer(200, &json!({})));
    }
    if request.route().ends_with("/messages/count_tokens") {
        return Some(json_answer(
            200,
            &json!({"input_tokens": tokens_in(request.body.len())}),
        ));
    }
    if !request.route().ends_with("/messages") {
        return Some(json_answer(200, &json!({})));
    }
    let body: Value = match serde_json::from_slice(&request.body) {
        Ok(body) => body,
        Err(error) => {
            let why = format!("the body is not JSON: {error}");
            shared.complain(why.clone());
            return Some(error_answer(&Failure::of_request(400, why)));
        }
    };
    let asked = shared.note(asker_of(request, &body), body);
    let envelope = Envelope {
        serial: shared.next_serial(),
        model: &asked.body["model"],
        request_bytes: request.body.len(),
    };
    match shared.ask_script(&asked).kind {
        Kind::Message(message) if asked.body["stream"] == true => Some(Answer {
            status: 200,
            content_type: "text/event-stream",
            headers: vec![("Cache-Control", "no-cache".to_owned())],
            body: message.as_events(&envelope).into_bytes(),
        }),
        Kind::Message(message) => Some(json_answer(200, &message.as_json(&envelope))),
        Kind::Failure(failure) => Some(error_answer(&failure)),
        Kind::Silence => {
            shared.wait_until_stopped();
            None
        }
    }
}

fn asker_of(request: &Request, body: &Value) -> Asker {
    if body["tools"].as_array().is_none_or(Vec::is_empty) {
        return Asker::Side;
    }
    match request.header(AGENT_HEADER) {
        Some(agent) => Asker::Subagent(agent.to_owned()),
        None => Asker::Main,
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

fn error_answer(failure: &Failure) -> Answer {
    let error = json!({"type": failure.error_type, "message": failure.message});
    let mut answer = json_answer(failure.status, &json!({"type": "error", "error": error}));
    if let Some(seconds) = failure.retry_after_seconds {
        answer.headers.push(("Retry-After", seconds.to_string()));
    }
    answer
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(words) = panic.downcast_ref::<String>() {
        return words.clone();
    }
    panic
        .downcast_ref::<&str>()
        .map_or_else(|| "no words".to_owned(), |words| (*words).to_owned())
}
