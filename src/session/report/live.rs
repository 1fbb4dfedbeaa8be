//! The present state of a live loop, for a person while the agent works: only `spool` shows it.

use crate::engine::tasks::TaskList;
use crate::feature::project::printable;
use crate::forms::loops::{LoopForm, SessionState, TurnForm};
use crate::forms::plain::JsonNumber;
use crate::session::life::SessionLife;
use crate::session::observe::open_turn;
use crate::session::pinned;
use crate::store::loops::Record;
use crate::store::pins::PinState;
use crate::text::{age, counted, rows};

/// Characters of a task's title.
const TITLE: usize = 100;

/// The agent's turn since the last stop.
pub fn turn(record: &Record) -> TurnForm {
    let turn = open_turn(record);
    TurnForm {
        tool_calls: turn.count.map(Into::into),
        tool_calls_complete: turn.count.is_some() && !turn.more,
        tokens: turn.tokens.all.into(),
    }
}

/// The session's state and process; `None` if unknown.
pub fn session_of(life: &SessionLife) -> (SessionState, Option<u32>) {
    let SessionLife::Runs(program) = life else {
        let is_gone = *life == SessionLife::Gone;
        return (if is_gone { SessionState::Gone } else { SessionState::Unknown }, None);
    };
    let state = match program.status.as_str() {
        "busy" | "shell" => SessionState::Works,
        "idle" => SessionState::Idle,
        "waiting" => SessionState::Waits,
        _ => SessionState::Runs,
    };
    (state, Some(program.id).filter(|id| *id > 0))
}

pub fn waits(record: &Record, life: &SessionLife, state: SessionState) -> Vec<String> {
    let mut waits = Vec::new();
    if let SessionLife::Runs(program) = life
        && state == SessionState::Waits
    {
        let what = printable(&program.waits_for);
        let what = if what.is_empty() { String::new() } else { format!(" ({what})") };
        waits.push(format!("your answer in its terminal{what}"));
    }
    let of_last_stop = record.marks.waited && !record.waits_for.is_empty();
    if let Some(pause) = record.pause() {
        waits.push(format!("the end of a pause ({})", printable(&pause.words())));
    } else if of_last_stop && state != SessionState::Works {
        waits.push(printable(&record.waits_for));
    }
    waits
}

/// The person's next step.
pub fn next_step(
    record: &Record,
    life: &SessionLife,
    state: SessionState,
    standing: &PinState,
) -> String {
    if let Some(next) = pinned::next_where_lost(record, standing) {
        return next;
    }
    let session = printable(&record.session);
    // Background work wakes its session, and nothing else does.
    let mut waits = record.waits_for.split(", ");
    let wakes = record.marks.waited && waits.any(|one| one.starts_with("background "));
    match (state, record.pause()) {
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
        _ => "nothing; `spool pause` lets the agent stop, `spool stop` ends the loop".to_owned(),
    }
}

/// Writes the agent's current work, and what the loop waits for; nothing for a loop that has ended.
pub fn write(text: &mut String, form: &LoopForm) {
    rows(text, "Now", &form.at_work);
    if let (Some(at), Some(state)) = (form.last_sign_at, form.session_state) {
        let state = match state {
            SessionState::Works => "its session is at work",
            SessionState::Idle => "its session is idle",
            SessionState::Waits => "its session waits for you",
            SessionState::Runs => "its session runs",
            SessionState::Gone => "its session is gone",
            SessionState::Unknown => "whether its session still runs cannot be seen",
        };
        rows(text, "Sign of life", [format!("{} ago; {state}", age(at.wall().age()))]);
    }
    rows(text, "Waiting", form.waits_for.iter().map(|what| format!("for {what}")));
}

/// The work of the running iteration, behind its number.
pub fn so_far(turn: &TurnForm) -> String {
    let more = if turn.tool_calls_complete { "" } else { "more than " };
    let calls = match turn.tool_calls.map(JsonNumber::get) {
        None => "tool calls cannot be seen".to_owned(),
        Some(0) => "no tool call yet".to_owned(),
        Some(calls) => format!("so far {more}{}", counted(calls, "tool call")),
    };
    let tokens = match turn.tokens.get() {
        0 => String::new(),
        tokens => format!(", {}", counted(tokens, "token")),
    };
    format!(" ({calls}{tokens})")
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
