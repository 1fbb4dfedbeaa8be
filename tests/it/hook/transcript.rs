//! A transcript, line by line as Claude Code writes it.

use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// A session's transcript; each call appends one line.
pub struct Transcript {
    pub path: PathBuf,
}

impl Transcript {
    pub fn assistant(self, text: &str) -> Self {
        self.line("assistant", &json!([{"type": "text", "text": text}]), &json!({}))
    }

    pub fn tool(self, name: &str) -> Self {
        let block = json!([{"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}]);
        self.line("assistant", &block, &json!({}))
    }

    pub fn tool_result(self, text: &str) -> Self {
        let block = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]);
        self.line("user", &block, &json!({}))
    }

    pub fn user(self, text: &str) -> Self {
        self.line("user", &text.into(), &json!({}))
    }

    pub fn sidechain(self, text: &str) -> Self {
        let blocks = json!([{"type": "text", "text": text},
            {"type": "tool_use", "id": "toolu_2", "name": "Edit", "input": {}}]);
        self.line("assistant", &blocks, &json!({"isSidechain": true}))
    }

    pub fn meta(self, text: &str) -> Self {
        self.line("assistant", &json!([{"type": "text", "text": text}]), &json!({"isMeta": true}))
    }

    /// Lines of other kinds, such as a client writes all the time.
    pub fn others(self, count: usize) -> Self {
        (0..count).fold(self, |transcript, _| transcript.raw(r#"{"type":"attachment"}"#))
    }

    pub fn raw(self, line: impl AsRef<[u8]>) -> Self {
        let mut file = File::options().create(true).append(true).open(&self.path).unwrap();
        file.write_all(line.as_ref()).unwrap();
        file.write_all(b"\n").unwrap();
        self
    }

    fn line(self, role: &str, content: &Value, more: &Value) -> Self {
        let mut line = json!({"parentUuid": null, "isSidechain": false, "userType": "external",
            "type": role, "message": {"id": "msg_1", "role": role, "content": content},
            "uuid": "b1", "timestamp": "2026-02-14T10:00:00.000Z"});
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        self.raw(line.to_string())
    }
}
