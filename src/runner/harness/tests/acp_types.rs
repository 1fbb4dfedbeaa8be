//! The Agent Client Protocol, held against the types that those who make the protocol publish: all that is sent to a program
//! can be read by them, and all that they write is understood.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AgentCapabilities, CancelNotification, ContentBlock, ContentChunk, InitializeRequest,
    InitializeResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, SessionUpdate,
    StopReason, TextContent, ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    ToolKind,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::acp::Acp;
use super::super::permissions::Permissions;
use super::super::{AgentOrder, Harness, Input, OutputReader, RunOutcome, Stream};
use super::{code, order};

/// A program that writes nothing but what the published types write.
struct SpeakingProgram {
    reader: Box<dyn OutputReader>,
    /// The number of the request that it has to answer.
    asked: Value,
}

impl SpeakingProgram {
    /// The program, once it was greeted.
    fn greeted(order: &AgentOrder<'_>) -> Self {
        let acp = Acp::new("agent acp").unwrap();
        let Input::Dialog(hello) = acp.launch(order).unwrap().input else { panic!("no dialog") };
        let hello: Value = serde_json::from_slice(&hello).unwrap();
        reads::<InitializeRequest>(&hello, "initialize");
        Self { reader: acp.reader(order), asked: hello["id"].clone() }
    }

    /// Writes a message, and returns what it is told.
    fn writes(&mut self, message: &Value) -> Vec<Value> {
        self.reader.line(Stream::Output, message.to_string().as_bytes(), &mut |_| {});
        let told = String::from_utf8(self.reader.tells().text).unwrap();
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Answers the last request, and returns the next one.
    fn answers(&mut self, result: &impl Serialize) -> Option<Value> {
        let answer = json!({"jsonrpc": "2.0", "id": self.asked, "result": result});
        let next = self.writes(&answer).pop();
        self.asked = next.as_ref().map_or(Value::Null, |asked| asked["id"].clone());
        next
    }

    fn updates(&mut self, update: SessionUpdate) {
        let params = SessionNotification::new("s1", update);
        let told =
            self.writes(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
        assert_eq!(told, Vec::<Value>::new());
    }

    /// Asks whether a tool may run, and returns the outcome.
    fn asks(&mut self, call: &'static str, kind: ToolKind) -> Value {
        let fields = ToolCallUpdateFields::new().kind(kind).title("rm x".to_owned());
        let option = |id: &'static str, kind| PermissionOption::new(id, id, kind);
        let options = vec![
            option("always", PermissionOptionKind::AllowAlways),
            option("yes", PermissionOptionKind::AllowOnce),
            option("never", PermissionOptionKind::RejectAlways),
            option("no", PermissionOptionKind::RejectOnce),
        ];
        let params =
            RequestPermissionRequest::new("s1", ToolCallUpdate::new(call, fields), options);
        let ask = json!({"jsonrpc": "2.0", "id": 70, "method": "session/request_permission", "params": params});
        let told = self.writes(&ask).pop().unwrap();
        assert_eq!((&told["jsonrpc"], &told["id"]), (&json!("2.0"), &json!(70)));
        is_whole::<RequestPermissionResponse>(&told["result"]);
        told["result"]["outcome"].clone()
    }
}

/// Fails unless the message is this request or notification, of which the published type knows every field.
fn reads<T: Serialize + DeserializeOwned>(message: &Value, method: &str) {
    assert_eq!((&message["jsonrpc"], &message["method"]), (&json!("2.0"), &json!(method)));
    is_whole::<T>(&message["params"]);
}

/// Fails unless the type can be read from the value, and nothing of it is lost.
fn is_whole<T: Serialize + DeserializeOwned>(value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap();
    let written = serde_json::to_value(read).unwrap();
    assert!(contains(&written, value), "{value}\nis read as\n{written}");
}

/// Whether all that is in the second value is in the first one, too.
fn contains(all: &Value, part: &Value) -> bool {
    match (all, part) {
        (Value::Object(all), Value::Object(part)) => {
            part.iter().all(|(name, value)| all.get(name).is_some_and(|of| contains(of, value)))
        }
        _ => all == part,
    }
}

fn chunk(words: &str) -> SessionUpdate {
    let text = ContentBlock::Text(TextContent::new(words));
    SessionUpdate::AgentMessageChunk(ContentChunk::new(text))
}

fn status(call: &'static str, status: ToolCallStatus) -> SessionUpdate {
    let fields = ToolCallUpdateFields::new().status(status);
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call, fields))
}

#[test]
fn turn_speaks_by_published_types() {
    let permissions = Permissions { allow: vec!["edit".to_owned()], ..Permissions::default() };
    let order = AgentOrder { permissions: &permissions, ..order("do it") };
    let mut program = SpeakingProgram::greeted(&order);
    let next = program.answers(&InitializeResponse::new(ProtocolVersion::V1)).unwrap();
    reads::<NewSessionRequest>(&next, "session/new");
    let next = program.answers(&NewSessionResponse::new("s1")).unwrap();
    reads::<PromptRequest>(&next, "session/prompt");
    assert_eq!(next["params"]["prompt"][0]["text"], "do it");

    program.updates(chunk("first"));
    program.updates(SessionUpdate::ToolCall(ToolCall::new("c1", "write").kind(ToolKind::Edit)));
    let yes = json!({"outcome": "selected", "optionId": "yes"});
    assert_eq!(program.asks("c1", ToolKind::Edit), yes);
    program.updates(status("c1", ToolCallStatus::InProgress));
    program.updates(status("c1", ToolCallStatus::Completed));
    let no = json!({"outcome": "selected", "optionId": "no"});
    assert_eq!(program.asks("c2", ToolKind::Execute), no);
    program.updates(status("c2", ToolCallStatus::Failed));
    program.updates(SessionUpdate::ToolCall(ToolCall::new("c3", "test").kind(ToolKind::Execute)));
    program.updates(status("c3", ToolCallStatus::Failed));
    program.updates(chunk("all "));
    program.updates(chunk("done"));
    assert_eq!(program.answers(&PromptResponse::new(StopReason::EndTurn)), None);

    let report = program.reader.report(&code(0));
    assert_eq!(report.outcome, RunOutcome::Finished);
    assert_eq!(report.final_text, "all done");
    assert_eq!((report.tool_calls, report.failed_calls), (Some(3), 2));
    assert_eq!(report.denied.len(), 1, "{:?}", report.denied);
    assert_eq!(report.session.as_deref(), Some("s1"));
}

#[test]
fn session_loads_and_turn_cancels() {
    let order = AgentOrder { resume: Some("s1"), ..order("continue") };
    let mut program = SpeakingProgram::greeted(&order);
    let capabilities = AgentCapabilities::new().load_session(true);
    let hello = InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(capabilities);
    let next = program.answers(&hello).unwrap();
    reads::<LoadSessionRequest>(&next, "session/load");
    program.updates(chunk("what was said before"));
    let next = program.answers(&LoadSessionResponse::new()).unwrap();
    reads::<PromptRequest>(&next, "session/prompt");
    program.updates(chunk("half"));
    let cancel: Value = serde_json::from_slice(&program.reader.cancels()).unwrap();
    reads::<CancelNotification>(&cancel, "session/cancel");
    assert_eq!(cancel.get("id"), None, "a notification");
    // What is asked after that is answered as the protocol wants it.
    assert_eq!(program.asks("c1", ToolKind::Edit), json!({"outcome": "cancelled"}));
    program.answers(&PromptResponse::new(StopReason::Cancelled));
    let report = program.reader.report(&code(0));
    assert!(matches!(report.outcome, RunOutcome::Failed(_)), "{:?}", report.outcome);
    assert_eq!(report.session.as_deref(), Some("s1"));
}

#[test]
fn tool_kinds_can_be_permitted() {
    let kinds = [
        ToolKind::Read,
        ToolKind::Edit,
        ToolKind::Delete,
        ToolKind::Move,
        ToolKind::Search,
        ToolKind::Execute,
        ToolKind::Think,
        ToolKind::Fetch,
        ToolKind::SwitchMode,
        ToolKind::Other,
    ];
    for kind in kinds {
        let name = serde_json::to_value(kind).unwrap();
        let allow = vec![name.as_str().unwrap().to_owned()];
        let permissions = Permissions { allow, ..Permissions::default() };
        let order = AgentOrder { permissions: &permissions, ..order("do it") };
        let mut program = SpeakingProgram::greeted(&order);
        program.answers(&InitializeResponse::new(ProtocolVersion::V1));
        program.answers(&NewSessionResponse::new("s1"));
        assert_eq!(program.asks("c1", kind)["optionId"], "yes", "{name}");
        let other = if kind == ToolKind::Edit { ToolKind::Read } else { ToolKind::Edit };
        assert_eq!(program.asks("c2", other)["optionId"], "no", "{name}");
    }
}
