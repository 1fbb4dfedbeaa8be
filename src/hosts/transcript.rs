//! The transcript of a session, whichever host writes it.

use std::path::Path;
use std::time::Duration;

use crate::engine::TokenTotals;
use crate::store::loops::LastMessage;
use crate::world::WallTime;

/// A transcript that a host writes. Places in it are `u64` as the host counts them; 0 is the start.
pub trait Transcript {
    /// Returns where the transcript is.
    fn path(&self) -> &Path;

    /// Returns what the agent did in a part; `None` when there is no transcript to read.
    fn activity(&self, part: TranscriptPart) -> Option<Activity>;

    /// Returns the last text that the agent wrote after `from`, `None` when there is none.
    fn last_text(&self, from: u64) -> Option<String>;

    /// Returns whether the agent itself wrote `signal` alone on a line after `from`.
    fn says(&self, signal: &str, from: u64) -> bool;

    /// Returns whether the part after `from` shows this end of a turn.
    fn shows(&self, end: TurnEnd<'_>, from: u64) -> bool;

    /// Returns the commands that the agent has run itself after `from`, in their order, as far as the end of the
    /// transcript shows them.
    fn commands_run(&self, from: u64) -> Vec<String>;

    /// Returns whether the prompt that begins a turn now is one that the host entered by itself, because it had been
    /// scheduled; waits as long as the host may need to write that down. `started_in` is the session's first folder.
    fn enters_scheduled(&self, started_in: Option<&Path>) -> bool;

    /// Returns how long the transcript may lag behind its session.
    fn lag(&self) -> Duration;

    /// Returns the running programs of the host as its own list beside this transcript has them, none where it has no
    /// such list.
    fn programs(&self) -> Vec<HostProgram>;

    /// Returns name and arguments of the command of ours that this line runs when a person types it; `None` for any
    /// other line.
    fn command<'a>(&self, typed: &'a str) -> Option<(&'a str, &'a str)>;
}

/// A part of a transcript that is looked at: all after a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TranscriptPart {
    /// The place.
    pub from: u64,
    /// The message that was counted last.
    pub last: LastMessage,
    /// How many tool calls make a difference.
    pub needed: u64,
    /// Up to where the transcript was when a stop was let go for what had been typed, 0 for none: that alone lets no
    /// other stop go.
    pub let_go: u64,
    /// How long the transcript was when the program that has the session now took it up: what was typed before and not
    /// taken up, nobody takes up any more.
    pub taken_up: u64,
}

/// What the main thread's agent did in a part of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// How many tools it called, a little over 30 or what was needed at most; `None` when none is to be seen but something before was left out,
    /// such as a large tool result and the call that it answers.
    pub count: Option<u64>,
    /// How many of them were denied or failed, counted only where calls are needed.
    pub failed: u64,
    /// Whether there may have been more than were counted.
    pub more: bool,
    /// The tokens of its messages, each message once however many lines it has.
    pub tokens: TokenTotals,
    /// The last message of which tokens were counted.
    pub last: LastMessage,
    /// Up to where the transcript was read, in bytes from its start.
    pub read_up_to: u64,
    /// What a person typed while the agent worked and the client has not taken up yet, oldest first.
    pub typed_ahead: Vec<String>,
}

/// The end of a turn, as it has to show in the transcript.
#[derive(Clone, Copy, Debug)]
pub struct TurnEnd<'a> {
    /// The agent's last words, empty where the event has none.
    pub said: &'a str,
    /// When the loop began, in milliseconds since the Unix epoch.
    pub armed_at: WallTime,
    /// When the turn before was judged; words from before that are not this turn's.
    pub after: WallTime,
}

/// A running program of a host, as the host's own list has it. What the list does not say is empty or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostProgram {
    /// Its process.
    pub id: u32,
    /// When the process was started, as the system counts.
    pub start: u64,
    /// Where its process id means something.
    pub space: String,
    /// The session that it has now.
    pub session: String,
    /// What it does: `busy`, `shell`, `idle` or `waiting`.
    pub status: String,
    /// What it waits for, such as `permission prompt`.
    pub waits_for: String,
}
