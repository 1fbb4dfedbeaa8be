//! The Agent Client Protocol: what is told to an agent program, and what its answers come to.

use serde_json::{Value, json};

use super::super::acp::Acp;
use super::super::permissions::Permissions;
use super::super::{
    AgentOrder, AgentReport, Approval, ExitInfo, Harness, Input, Missing, OutputReader, RunOutcome,
    Stream, TokenUsage,
};
use super::{code, order};

/// A run in which the test plays the agent program.
struct Played(Box<dyn OutputReader>, bool);

impl Played {
    fn new(order: &AgentOrder<'_>) -> Self {
        Self(Acp::new("agent acp").unwrap().reader(order), false)
    }

    /// Up to the prompt.
    fn prompted(order: &AgentOrder<'_>) -> Self {
        let mut played = Self::new(order);
        played.says(&json!({"id": 0, "result": {"protocolVersion": 1}}));
        let told = played.says(&json!({"id": 1, "result": {"sessionId": "s1"}}));
        assert_eq!(told[0]["method"], "session/prompt");
        assert_eq!(told[0]["params"]["prompt"][0]["text"], order.prompt);
        played
    }

    fn prints(&mut self, line: &str) -> Vec<Value> {
        self.0.line(Stream::Output, line.as_bytes(), &mut |_| {});
        let told = self.0.tells();
        self.1 |= told.closes;
        let text = String::from_utf8(told.text).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn says(&mut self, message: &Value) -> Vec<Value> {
        self.prints(&message.to_string())
    }

    fn updates(&mut self, update: &Value) {
        let params = json!({"sessionId": "s1", "update": update});
        self.says(&json!({"method": "session/update", "params": params}));
    }

    fn asks(&mut self, call: &str, kind: &str) -> Value {
        let options = json!([
            {"optionId": "always", "kind": "allow_always"},
            {"optionId": "yes", "kind": "allow_once"},
            {"optionId": "no", "kind": "reject_once"},
        ]);
        let call = json!({"toolCallId": call, "kind": kind, "title": "rm x"});
        let params = json!({"sessionId": "s1", "toolCall": call, "options": options});
        let ask = json!({"id": "q", "method": "session/request_permission", "params": params});
        let told = self.says(&ask);
        assert_eq!(told[0]["id"], "q");
        told[0]["result"]["outcome"].clone()
    }

    fn ended(mut self, left: &ExitInfo) -> AgentReport {
        self.0.report(left)
    }

    fn lasting(self) -> String {
        assert!(self.1, "its input was not closed");
        match self.ended(&code(0)).outcome {
            RunOutcome::Lasting(why) => why,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn whole_turn_counts_and_ends() {
    let launch = Acp::new("agent acp").unwrap().launch(&order("do it")).unwrap();
    let Input::Dialog(hello) = launch.input else { panic!("no dialog") };
    let hello: Value = serde_json::from_slice(&hello).unwrap();
    assert_eq!((&hello["id"], &hello["method"]), (&json!(0), &json!("initialize")));

    let mut played = Played::prompted(&order("do it"));
    let words = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    played.updates(&words("first"));
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "kind": "edit", "title": "write"});
    played.updates(&call);
    played.updates(
        &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}),
    );
    played.updates(&json!({"sessionUpdate": "tool_call", "toolCallId": "c2", "kind": "execute"}));
    for _ in 0..2 {
        played.updates(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c2", "status": "failed"}),
        );
    }
    played.updates(&words("all "));
    played.updates(&words("done"));
    assert!(!played.1);
    let usage =
        json!({"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 4, "totalTokens": 19});
    played.says(&json!({"id": 5, "result": {"stopReason": "end_turn", "usage": usage}}));
    assert!(played.1, "its input is closed");
    let report = played.ended(&code(0));
    assert_eq!(report.outcome, RunOutcome::Finished);
    assert_eq!(report.final_text, "all done");
    assert_eq!((report.tool_calls, report.failed_calls), (Some(2), 1));
    assert_eq!(report.session.as_deref(), Some("s1"));
    let tokens = TokenUsage { input: 10, output: 5, cache_read: 4, cache_write: 0 };
    assert_eq!(report.tokens, Some(tokens));
}

#[test]
fn tokens_count_like_real_programs() {
    // Copilot CLI: what was read from a cache and what was thought are parts of the two sums.
    let copilot = json!({"usage": {"inputTokens": 2600, "outputTokens": 54, "totalTokens": 2654,
        "thoughtTokens": 14, "cachedReadTokens": 600, "cachedWriteTokens": 0}});
    // Gemini CLI: a place of its own, without what was thought.
    let gemini =
        json!({"_meta": {"quota": {"token_count": {"input_tokens": 2600, "output_tokens": 40}}}});
    let whole = TokenUsage { input: 2000, output: 54, cache_read: 600, cache_write: 0 };
    let part = TokenUsage { input: 2600, output: 40, ..TokenUsage::default() };
    for (answer, tokens, missing) in [
        (copilot, Some(whole), Missing::Nothing),
        (gemini, Some(part), Missing::Lost),
        (json!({}), None, Missing::Lost),
    ] {
        let mut played = Played::prompted(&order("do it"));
        played.says(&json!({"id": 5, "result": answer}));
        let report = played.ended(&code(0));
        assert_eq!((report.tokens, report.missing), (tokens, missing), "{answer}");
    }
    // opencode: the last reply of the model alone.
    let mut played = Played::new(&order("do it"));
    let hello = json!({"protocolVersion": 1, "agentInfo": {"name": "OpenCode"}});
    played.says(&json!({"id": 0, "result": hello}));
    played.says(&json!({"id": 1, "result": {"sessionId": "s1"}}));
    let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
    played.says(&json!({"id": 5, "result": {"usage": usage}}));
    let report = played.ended(&code(0));
    assert_eq!((report.tokens.map(|used| used.input), report.missing), (Some(10), Missing::Lost));
}

#[test]
fn permissions_answer_its_requests() {
    let yes = json!({"outcome": "selected", "optionId": "yes"});
    let no = json!({"outcome": "selected", "optionId": "no"});
    let mut own = Played::prompted(&order("do it"));
    assert_eq!(own.asks("c1", "execute"), no);
    own.updates(
        &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed"}),
    );
    let report = own.ended(&code(0));
    assert_eq!(report.denied, ["execute: rm x"]);
    assert_eq!((report.tool_calls, report.failed_calls), (Some(1), 1));

    let all = AgentOrder { approval: Approval::All, ..order("do it") };
    let mut all = Played::prompted(&all);
    assert_eq!(all.asks("c1", "execute"), yes);
    assert!(all.ended(&code(0)).denied.is_empty());

    let permissions = Permissions {
        allow: vec!["edit".to_owned()],
        deny: vec!["execute".to_owned()],
        ..Permissions::default()
    };
    let some = AgentOrder { permissions: &permissions, ..order("do it") };
    let mut some = Played::prompted(&some);
    assert_eq!(some.asks("c1", "edit"), yes);
    assert_eq!(some.asks("c2", "execute"), no);
    assert_eq!(some.asks("c3", "fetch"), no);
    let but = AgentOrder { approval: Approval::All, permissions: &permissions, ..order("do it") };
    assert_eq!(Played::prompted(&but).asks("c1", "execute"), no);
    let accepts = Acp::new("agent").unwrap().accepts().unwrap();
    assert!(accepts.refuse(&permissions).is_ok());
    let bash = Permissions { allow: vec!["Bash".to_owned()], ..Permissions::default() };
    let why = accepts.refuse(&bash).unwrap_err().to_string();
    assert!(why.contains("no kind of tool") && why.contains("execute"), "{why}");
}

#[test]
fn cancelled_turn_allows_nothing() {
    let all = AgentOrder { approval: Approval::All, ..order("do it") };
    assert!(Played::new(&all).0.cancels().is_empty(), "there is no turn yet");
    let mut played = Played::prompted(&all);
    let told: Value = serde_json::from_slice(&played.0.cancels()).unwrap();
    assert_eq!(
        (&told["method"], &told["params"]["sessionId"]),
        (&json!("session/cancel"), &json!("s1"))
    );
    assert!(played.0.cancels().is_empty());
    assert_eq!(played.asks("c1", "edit"), json!({"outcome": "cancelled"}));
    played.says(&json!({"id": 5, "result": {"stopReason": "cancelled"}}));
    assert!(played.1);
    let cut = ExitInfo { cut: true, ..code(0) };
    assert_eq!(played.ended(&cut).outcome, RunOutcome::Cut);
}

#[test]
fn failures_say_what_to_do() {
    let mut login = Played::new(&order("do it"));
    login.says(&json!({"id": 0, "result": {"protocolVersion": 1}}));
    login.says(&json!({"id": 1, "error": {"code": -32000, "message": "Authentication required"}}));
    let why = login.lasting();
    assert!(why.contains("session/new") && why.contains("log in with `agent` itself"), "{why}");

    let mut old = Played::new(&order("do it"));
    old.says(&json!({"id": 0, "result": {"protocolVersion": 9}}));
    assert!(old.lasting().contains("speaks version 9"));

    let named = AgentOrder { model: Some("big"), ..order("do it") };
    for (session, expected) in [
        (json!({"sessionId": "s1"}), "does not let its client choose"),
        (
            json!({"sessionId": "s1", "models": {"availableModels": [{"modelId": "small"}]}}),
            "it has small",
        ),
    ] {
        let mut model = Played::new(&named);
        model.says(&json!({"id": 0, "result": {"protocolVersion": 1}}));
        model.says(&json!({"id": 1, "result": session}));
        let why = model.lasting();
        assert!(why.contains(expected), "{why}");
    }
    let mut model = Played::new(&named);
    model.says(&json!({"id": 0, "result": {"protocolVersion": 1}}));
    let offered = json!({"sessionId": "s1", "models": {"availableModels": [{"modelId": "big"}]}});
    let told = model.says(&json!({"id": 1, "result": offered}));
    assert_eq!(
        (&told[0]["method"], &told[0]["params"]["modelId"]),
        (&json!("session/set_model"), &json!("big"))
    );
    assert_eq!(model.says(&json!({"id": 3, "result": {}}))[0]["method"], "session/prompt");

    // As opencode offers them, and in groups, as the protocol also lets a program.
    for options in
        [json!([{"value": "big"}]), json!([{"group": "g", "options": [{"value": "big"}]}])]
    {
        let mut model = Played::new(&named);
        model.says(&json!({"id": 0, "result": {"protocolVersion": 1}}));
        let option =
            json!({"id": "m", "category": "model", "currentValue": "small", "options": options});
        let opened = json!({"sessionId": "s1", "configOptions": [{"id": "mode", "category": "mode"}, option]});
        let told = model.says(&json!({"id": 1, "result": opened}));
        assert_eq!(told[0]["method"], "session/set_config_option");
        let asked = (&told[0]["params"]["configId"], &told[0]["params"]["value"]);
        assert_eq!(asked, (&json!("m"), &json!("big")));
        assert_eq!(model.0.so_far().model, Some("small"));
        assert_eq!(model.says(&json!({"id": 4, "result": {}}))[0]["method"], "session/prompt");
        assert_eq!(model.0.so_far().model, Some("big"));
    }

    let resumed = AgentOrder { resume: Some("s0"), ..order("do it") };
    let mut none = Played::new(&resumed);
    none.says(&json!({"id": 0, "result": {"protocolVersion": 1}}));
    assert!(none.lasting().contains("leave --continue-session out"));
    let mut gone = Played::new(&resumed);
    let able = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}});
    assert_eq!(gone.says(&json!({"id": 0, "result": able}))[0]["method"], "session/load");
    gone.says(&json!({"id": 2, "error": {"code": -32002, "message": "not found"}}));
    assert!(matches!(gone.ended(&code(0)).outcome, RunOutcome::SessionGone(_)));

    let mut busy = Played::prompted(&order("do it"));
    busy.says(&json!({"id": 5, "error": {"code": -32603, "message": "Internal error", "data": {"details": "overloaded"}}}));
    let RunOutcome::Failed(why) = busy.ended(&code(0)).outcome else { panic!("lasting") };
    assert!(why.contains("Internal error: overloaded"), "{why}");
    for (number, lasts) in [(429, false), (403, true)] {
        let mut status = Played::prompted(&order("do it"));
        status.says(&json!({"id": 5, "error": {"code": number, "message": "no"}}));
        let outcome = status.ended(&code(0)).outcome;
        assert_eq!(matches!(outcome, RunOutcome::Lasting(_)), lasts, "{number}: {outcome:?}");
    }
}

#[test]
fn noise_is_no_result() {
    let mut played = Played::prompted(&order("do it"));
    for noise in [
        "not json",
        "[1]",
        "{\"id\":5",
        "{\"id\":77,\"result\":{\"stopReason\":\"end_turn\"}}",
        "\u{0}",
    ] {
        assert!(played.prints(noise).is_empty(), "{noise}");
    }
    let told = played.says(&json!({"id": 9, "method": "fs/read_text_file", "params": {}}));
    assert_eq!((&told[0]["id"], &told[0]["error"]["code"]), (&json!(9), &json!(-32601)));
    assert!(!played.1);
    let RunOutcome::Failed(why) = played.ended(&code(3)).outcome else { panic!("lasting") };
    assert!(why.contains("exit code 3") && why.contains("not json"), "{why}");
}
