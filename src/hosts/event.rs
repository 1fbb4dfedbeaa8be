//! An event of a session, independent of the host, and what each host does with its events.

use std::path::{Path, PathBuf};

use super::answer::{AnswerForm, HookAnswer};
use super::transcript::Transcript;

/// An agent program that starts the hook.
pub trait Host: Sync {
    /// The hook's first argument for this host.
    fn name(&self) -> &'static str;

    /// `None` for an incomplete event.
    fn read(&self, bytes: &[u8]) -> Option<HookEvent>;

    /// The facts on an event that was not delivered in time. `event` is the name from the hook's arguments.
    fn late(&self, event: &str) -> LateEvent;

    /// One line in the host's own format; `None` for silence.
    fn render(&self, answer: &HookAnswer, form: AnswerForm) -> Option<String>;
}

/// Fields that the host does not deliver are empty.
#[derive(Default)]
pub struct HookEvent {
    pub kind: EventKind,
    /// The host in texts for people.
    pub host: HostName,
    /// The session's id, which is not validated yet.
    pub session: String,
    /// The agent's folder; `cd` changes it.
    pub cwd: Option<PathBuf>,
    /// The folder where the session started.
    pub started_in: Option<PathBuf>,
    pub transcript: Option<Box<dyn Transcript>>,
    /// The agent's last words.
    pub last_message: String,
    /// This turn continues only because a hook blocked its end.
    pub reentered: bool,
    pub in_subagent: bool,
    /// What needs the person's permission; empty for nothing, or where it is not known.
    pub asks: &'static str,
    /// Work in the background that wakes the session at its end.
    pub background: Vec<String>,
    pub form: AnswerForm,
    /// Whether the client that runs this session's turn continues it when the hook adds context; `None` if unknown.
    pub takes_context: Option<fn(session: &str) -> Option<bool>>,
}

/// A host in texts for people.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostName {
    pub title: &'static str,
    /// The oldest version that delivers all that the hook needs.
    pub oldest: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventKind {
    /// The agent wants to end its turn.
    #[default]
    Stop,
    /// A person typed one of our commands; the agent has not seen it.
    Command {
        /// Without a prefix.
        name: String,
        /// The unchanged text behind the name.
        arguments: String,
    },
    /// The session continues, and the agent may have forgotten its work.
    Resumed {
        /// Another program of the host has the session now; otherwise the session was compacted.
        taken_up: bool,
    },
    /// The person cleared the earlier session in the same program.
    Cleared,
    /// An error of the service broke the turn off.
    TurnFailed {
        /// Such as `rate_limit`; empty if unknown.
        class: String,
    },
    /// The host asks for the person's permission.
    AsksPermission {
        /// As in `Bash(cargo test)`.
        what: String,
    },
    /// Nothing that the hook answers.
    Other,
}

/// The facts on an event that was not delivered in time.
pub enum LateEvent {
    /// From the environment.
    Stop(Box<HookEvent>),
    Command(HostName),
    /// Nothing that the hook answers.
    Other,
}

impl HookEvent {
    pub fn transcript_path(&self) -> Option<&Path> {
        self.transcript.as_ref().map(|transcript| transcript.path())
    }
}
