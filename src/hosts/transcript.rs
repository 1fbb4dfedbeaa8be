//! A session's transcript, whichever host writes it.

use std::path::Path;
use std::time::Duration;

use crate::engine::TokenTotals;
use crate::store::loops::LastMessage;
use crate::world::WallTime;

/// Places are `u64` as the host counts them, from 0.
pub trait Transcript {
    fn path(&self) -> &Path;

    /// The agent's work in a part; `None` without a readable transcript.
    fn activity(&self, part: TranscriptPart) -> Option<Activity>;

    /// The agent's last text after `from`.
    fn last_text(&self, from: u64) -> Option<String>;

    /// The agent itself wrote `signal` alone on a line after `from`.
    fn says(&self, signal: &str, from: u64) -> bool;

    /// The part after `from` shows this end of a turn.
    fn shows(&self, end: TurnEnd<'_>, from: u64) -> bool;

    /// Commands that the agent has run itself after `from`, in order, from the end of the transcript.
    fn commands_run(&self, from: u64) -> Vec<String>;

    /// The host itself entered the prompt that begins this turn, because it was scheduled. Waits as long as the host
    /// may take to write that. `started_in` is the session's first folder.
    fn enters_scheduled(&self, started_in: Option<&Path>) -> bool;

    /// How long the transcript may lag behind its session.
    fn lag(&self) -> Duration;

    /// The host's own list of its running programs, beside this transcript.
    fn programs(&self) -> Vec<HostProgram>;

    /// The name and arguments of our command, if a person types this line.
    fn command<'a>(&self, typed: &'a str) -> Option<(&'a str, &'a str)>;
}

/// The part of a transcript behind `from`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TranscriptPart {
    pub from: u64,
    /// The last message in an earlier count.
    pub last: LastMessage,
    /// How many tool calls make a difference.
    pub needed: u64,
    /// The transcript's length when the last stop was allowed for a person's input, 0 for none. That input alone allows
    /// no other stop.
    pub let_go: u64,
    /// The transcript's length when the present program took the session up. Nobody takes up input from before.
    pub taken_up: u64,
}

/// The main agent's work in a part of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Tool calls, at most a few more than 30 or the needed number. `None` when none is visible but something before
    /// was left out, such as a large tool result and its call.
    pub count: Option<u64>,
    /// Denied and failed calls, counted only where calls are needed.
    pub failed: u64,
    /// There may be more calls.
    pub more: bool,
    /// Each message once, however many lines it has.
    pub tokens: TokenTotals,
    /// The last message with counted tokens.
    pub last: LastMessage,
    /// The end of the part that was read, in bytes.
    pub read_up_to: u64,
    /// The person's input that the client has not passed on yet, oldest first.
    pub typed_ahead: Vec<String>,
}

/// The end of a turn, as the transcript has to show it.
#[derive(Clone, Copy, Debug)]
pub struct TurnEnd<'a> {
    /// Empty where the event has none.
    pub said: &'a str,
    /// When the loop began.
    pub armed_at: WallTime,
    /// When the turn before was judged; earlier words belong to that turn.
    pub after: WallTime,
}

/// A running program in the host's own list. Missing fields are empty or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostProgram {
    pub id: u32,
    /// When the process started, by the system's count.
    pub start: u64,
    /// The space in which the process id is unique.
    pub space: String,
    pub session: String,
    /// `busy`, `shell`, `idle` or `waiting`.
    pub status: String,
    /// Such as `permission prompt`.
    pub waits_for: String,
}
