//! A project with a feature that is built, and readers that judge it.

use std::ops::Deref;

use serde_json::{Value, json};

use crate::runner::ran::Ran;
use crate::runner::support::Bench;
use crate::support::schema::holds;
use crate::support::scratch::{HOOK, Said};

pub const FEATURE: &str = "001-login";
const SPEC: &str = "# Login\n\n### User Story 1 - Sign in (Priority: P1)\n\n**Acceptance Scenarios**:\n\n\
    1. **Given** a password, **When** it is right, **Then** the person is in\n\n\
    ## Requirements\n\n- **FR-001**: System MUST check the password\n- **FR-002**: System MUST log each try\n";
const CODE: &str =
    "fn login(password: &str) -> bool {\n    log(\"try\");\n    check(password)\n}\n";

/// Lines of an answer that judge everything as met, with evidence that is there.
pub const FR_001: &str = r#"{"id":"FR-001","verdict":"met","evidence":[{"file":"src/login.rs","line":3,"quote":"check(password)"}]}"#;
pub const FR_002: &str = r#"{"id":"FR-002","verdict":"met","why":"it logs","evidence":[{"file":"src/login.rs","line":2,"quote":"log(\"try\");"}]}"#;
pub const US1_1: &str = r#"{"id":"US1.1","verdict":"met","evidence":[{"file":"src/login.rs","line":1,"quote":"fn login(password: &str) -> bool"}]}"#;

/// A project with a feature, and its work in a commit of its own.
pub struct Built {
    bench: Bench,
}

impl Deref for Built {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.bench
    }
}

impl Built {
    pub fn new() -> Self {
        Self::with_spec(SPEC)
    }

    /// The same with one open task, which is to write `src/more.rs`.
    pub fn open() -> Self {
        let built = Self::new();
        built.write(format!("specs/{FEATURE}/tasks.md"), "- [ ] T001 Write src/more.rs\n");
        built.commit("open tasks");
        built
    }

    pub fn with_spec(spec: &str) -> Self {
        let bench = Bench::folder();
        bench.write(
            ".specify/feature.json",
            format!("{{\"feature_directory\":\"specs/{FEATURE}\"}}"),
        );
        bench.write(format!("specs/{FEATURE}/spec.md"), spec);
        bench.write(format!("specs/{FEATURE}/tasks.md"), "- [x] T001 Build the login\n");
        bench.init();
        bench.commit("the plan");
        bench.write("src/login.rs", CODE);
        bench.commit("the work");
        Self { bench }
    }

    /// The person's settings give a program that is asked to end little time.
    pub fn waits_for_nobody(&self) {
        self.write("../home/.config/ralph-speckit/ralph.toml", "grace = \"300ms\"\n");
    }

    /// A reader that answers with these lines, between the two that make them an answer.
    pub fn reader(&self, lines: &[&str]) -> &Self {
        self.script(&format!(
            "cat <<'ANSWER'\nI have read it.\nANSWER\necho \"REVIEW $code\"\ncat <<'ANSWER'\n{}\nANSWER\necho \"END $code\"",
            lines.join("\n")
        ))
    }

    /// A reader that does what the script says; `$code` is the code of the review.
    pub fn script(&self, script: &str) -> &Self {
        let code = "code=$(sed -n 's/.*The code of this review is `\\([0-9a-f]*\\)`.*/\\1/p' \"$DESK/prompt-$n\")";
        self.bench.agent(&format!("{code}\n{script}"));
        self
    }

    /// What a `claude` does that answers with these lines.
    pub fn answer_of_claude(lines: &[&str]) -> String {
        let escaped = |line: &&str| line.replace('\\', "\\\\").replace('"', "\\\"");
        let lines = lines.iter().map(escaped).collect::<Vec<_>>().join("\\n");
        let code = "code=$(printf '%s' \"$*\" | sed -n 's/.*The code of this review is `\\([0-9a-f]*\\)`.*/\\1/p')";
        format!("{code}\nresult \"REVIEW $code\\\\n\"'{lines}'\"\\\\nEND $code\"")
    }

    /// What a `claude` does that is content with everything.
    pub fn met() -> String {
        Self::answer_of_claude(&[US1_1, FR_001, FR_002])
    }

    /// A `claude` that works as this script says, and reads as this one.
    pub fn worker_and_reader(&self, work: &str, read: &str) {
        self.bench.claude(&format!(
            "case \"$*\" in *Read,Grep,Glob*) reads=yes; echo review >> \"$DESK/reviews\"\n{read}\n;; *)\n{work}\n;; esac"
        ));
    }

    /// How often the reader of [`Self::worker_and_reader`] was started.
    pub fn reviews(&self) -> usize {
        let reviews = std::fs::read_to_string(self.beside("desk/reviews"));
        reviews.map_or(0, |reviews| reviews.lines().count())
    }

    /// `spool ralph` on the feature with these further arguments; `claude` works and reads.
    pub fn loop_with(&self, arguments: &str) -> Ran {
        let call = self.spool(&format!("ralph --change {FEATURE} --retry-pause=10ms {arguments}"));
        call.arg("Build it").run()
    }

    /// What the hook answers to a stop of the session, with these last words of the agent.
    pub fn stop(&self, words: &str) -> String {
        let event = json!({
            "session_id": "3f2c8a10-0001-4000-8000-000000000001",
            "transcript_path": self.beside("transcript.jsonl"),
            "cwd": self.root,
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": words,
        });
        self.write("../event.json", event.to_string());
        let event = self.beside("event.json");
        let arguments = ["-c", "exec \"$0\" < \"$1\"", HOOK, event.to_str().unwrap()];
        let said = Said::of(self.command("sh").args(arguments)).with_code(0);
        said.out
    }

    /// `spool review` by the reader, with these further arguments.
    pub fn review(&self, arguments: &str) -> Ran {
        let call = self.spool(&format!("review --may-write {arguments}"));
        call.arg("--harness-command").arg("agent").run()
    }

    /// The last review, as programs read it.
    pub fn last(&self) -> Value {
        let ran = self.spool("review --last --json").run().with_code(0);
        let review: Value = serde_json::from_str(&ran.output).unwrap();
        holds("review", &review);
        review
    }
}
