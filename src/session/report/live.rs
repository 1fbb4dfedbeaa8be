//! The present state of a live loop, for a person while the agent works: only `spool` shows it.

use std::fmt::Write;

use serde::Serialize;

use crate::engine::tasks::TaskList;
use crate::feature::project::printable;
use crate::hosts::transcript::{Transcript, TranscriptPart};
use crate::hosts::transcript_at;
use crate::session::life::SessionLife;
use crate::session::pinned;
use crate::store::loops::Record;
use crate::store::pins::PinState;
use crate::text::{age, counted};
use crate::world::WallTime;

/// Characters of a task's title.
const TITLE: usize = 100;

/// What the session of a loop does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// Its agent works.
    Works,
    /// Its agent is idle.
    Idle,
    /// It waits for a person.
    Waits,
    /// It runs, and nobody says more.
    Runs,
    /// It is gone.
    Gone,
    /// Nobody can say.
    #[default]
    Unknown,
}

#[derive(Clone, Debug, Default)]
pub struct LiveReport {
    pub armed_at: WallTime,
    /// The session's last sign of life; unknown before a session has the loop.
    pub last_sign_at: WallTime,
    pub session_state: SessionState,
    /// The session's process; `None` if unknown.
    pub process: Option<u32>,
    /// The current task, or the group of tasks, as `spool task next` shows it; empty for none.
    pub at_work: String,
    /// Tool calls since the last stop; `None` if they cannot be seen.
    pub turn_tool_calls: Option<u64>,
    /// There may have been more.
    pub turn_more_calls: bool,
    pub turn_tokens: u64,
    /// Tokens since arming.
    pub tokens: u64,
    pub waits_for: Vec<String>,
    pub next: String,
}

impl LiveReport {
    /// A loop that no session has yet.
    pub fn unbound(armed_at: WallTime) -> Self {
        Self {
            armed_at,
            session_state: SessionState::Unknown,
            waits_for: vec!["the first session that stops".to_owned()],
            next: "start Claude Code in this project, and ask it to work through the tasks"
                .to_owned(),
            ..Self::default()
        }
    }

    /// `at_work` is the agent's current task.
    pub fn of(record: &Record, life: &SessionLife, at_work: String) -> Self {
        let transcript = transcript_at(&record.transcript);
        let turn = transcript.activity(TranscriptPart {
            from: record.transcript_read,
            last: record.last_message,
            needed: u64::MAX,
            ..TranscriptPart::default()
        });
        let turn = turn.unwrap_or_default();
        let (session_state, process) = match life {
            SessionLife::Unknown => (SessionState::Unknown, None),
            SessionLife::Gone => (SessionState::Gone, None),
            SessionLife::Runs(program) => {
                let state = match program.status.as_str() {
                    "busy" | "shell" => SessionState::Works,
                    "idle" => SessionState::Idle,
                    "waiting" => SessionState::Waits,
                    _ => SessionState::Runs,
                };
                (state, Some(program.id).filter(|id| *id > 0))
            }
        };
        let mut report = Self {
            armed_at: record.armed_at,
            last_sign_at: record.last_sign(),
            session_state,
            process,
            at_work,
            turn_tool_calls: turn.count,
            turn_more_calls: turn.more,
            turn_tokens: turn.tokens.all,
            tokens: record.ledger.tokens.saturating_add(turn.tokens.all),
            waits_for: Vec::new(),
            next: String::new(),
        };
        report.waits_for = report.waits(record, life);
        report.next = report.next_step(record, life);
        report
    }

    fn waits(&self, record: &Record, life: &SessionLife) -> Vec<String> {
        let mut waits = Vec::new();
        if let SessionLife::Runs(program) = life
            && self.session_state == SessionState::Waits
        {
            let what = printable(&program.waits_for);
            let what = if what.is_empty() { String::new() } else { format!(" ({what})") };
            waits.push(format!("your answer in its terminal{what}"));
        }
        let of_last_stop = record.marks.waited && !record.waits_for.is_empty();
        if let Some(pause) = record.pause() {
            waits.push(format!("the end of a pause ({})", printable(&pause.words())));
        } else if of_last_stop && self.session_state != SessionState::Works {
            waits.push(printable(&record.waits_for));
        }
        waits
    }

    fn next_step(&self, record: &Record, life: &SessionLife) -> String {
        let session = printable(&record.session);
        // Background work wakes its session, and nothing else does.
        let mut waits = record.waits_for.split(", ");
        let wakes = record.marks.waited && waits.any(|one| one.starts_with("background "));
        match (self.session_state, record.pause()) {
            (SessionState::Gone | SessionState::Unknown, _) if life.leaves_behind(record) => {
                format!("claude --resume {session}")
            }
            (SessionState::Gone, _) => {
                format!("spool resume --session {session}, then claude --resume {session}")
            }
            (_, Some(pause)) if pause.ends_by_itself() => "type a prompt in its session".to_owned(),
            (_, Some(_)) => format!("spool resume --session {session}"),
            (SessionState::Waits, None) => "answer in its terminal".to_owned(),
            (SessionState::Idle, None) if !wakes => {
                "type a prompt in its session, such as \"continue\": its agent is idle".to_owned()
            }
            _ => {
                "nothing; `spool pause` lets the agent stop, `spool stop` ends the loop".to_owned()
            }
        }
    }

    /// The report, unless the loop's pin is lost and nobody can continue it.
    pub fn unless_lost(self, record: &Record, standing: &PinState) -> Self {
        Self { next: pinned::next_where_lost(record, standing).unwrap_or(self.next), ..self }
    }

    pub fn write(&self, text: &mut String) {
        if !self.at_work.is_empty() {
            let _ = writeln!(text, "  Now: {}", self.at_work);
        }
        if self.last_sign_at.is_known() {
            let state = match self.session_state {
                SessionState::Works => "its session is at work",
                SessionState::Idle => "its session is idle",
                SessionState::Waits => "its session waits for you",
                SessionState::Runs => "its session runs",
                SessionState::Gone => "its session is gone",
                SessionState::Unknown => "whether its session still runs cannot be seen",
            };
            let _ = writeln!(text, "  Sign of life: {} ago; {state}", age(self.last_sign_at.age()));
        }
        for what in &self.waits_for {
            let _ = writeln!(text, "  Waiting: for {what}");
        }
    }

    /// The work of the running iteration, behind its number; empty before a session has the loop.
    pub fn so_far(&self) -> String {
        if !self.last_sign_at.is_known() {
            return String::new();
        }
        let more = if self.turn_more_calls { "more than " } else { "" };
        let calls = match self.turn_tool_calls {
            None => "tool calls cannot be seen".to_owned(),
            Some(0) => "no tool call yet".to_owned(),
            Some(calls) => format!("so far {more}{}", counted(calls, "tool call")),
        };
        let tokens = match self.turn_tokens {
            0 => String::new(),
            tokens => format!(", {}", counted(tokens, "token")),
        };
        format!(" ({calls}{tokens})")
    }

    /// Writes the person's next step, the last line about a loop.
    pub fn write_next(&self, text: &mut String) {
        let _ = writeln!(text, "  Next: {}", self.next);
    }
}

/// The current task or group on one line; empty if nothing is open.
pub fn at_work(list: Option<&TaskList>) -> String {
    let tasks = list.map(TaskList::next).unwrap_or_default();
    match tasks.as_slice() {
        [] => String::new(),
        [task] => format!("{} {}", printable(&task.id), crate::text::title(&task.title, TITLE)),
        group => {
            let ids: Vec<_> = group.iter().map(|task| printable(&task.id)).collect();
            crate::text::title(&format!("{} (side by side)", ids.join(", ")), TITLE)
        }
    }
}
