//! An event of a session, in the words of no host.

use std::path::{Path, PathBuf};

use super::answer::AnswerForm;
use super::transcript::Transcript;

/// One event of a session. What the host does not say is empty.
#[derive(Default)]
pub struct HookEvent {
    /// What happened.
    pub kind: EventKind,
    /// The host in texts for people.
    pub host: HostName,
    /// The session's id; not checked yet.
    pub session: String,
    /// The folder that the agent works in; it changes with its `cd`.
    pub cwd: Option<PathBuf>,
    /// The folder that the session was started in.
    pub started_in: Option<PathBuf>,
    /// The session's transcript.
    pub transcript: Option<Box<dyn Transcript>>,
    /// The agent's last words.
    pub last_message: String,
    /// Whether this turn continues only because a hook blocked its end.
    pub reentered: bool,
    /// Whether the event comes from inside a subagent.
    pub in_subagent: bool,
    /// What the host asks the person about before the agent may do it, empty where it asks nothing or it is not known.
    pub asks: &'static str,
    /// What runs in the background and wakes the session when it ends.
    pub background: Vec<String>,
    /// The form in which the hook answers.
    pub form: AnswerForm,
    /// Returns what is known for certain of the client that runs this turn of a session.
    pub client: Option<fn(session: &str) -> KnownClient>,
}

/// What is known for certain of the client that runs a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownClient {
    /// A number for its version, 0 where it is not known.
    pub version: u64,
    /// Whether this version continues a turn when it gets more context.
    pub takes_context: bool,
}

/// A host in texts for people.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostName {
    /// Its name.
    pub title: &'static str,
    /// The oldest version that hands the hook all that it needs.
    pub oldest: &'static str,
}

/// What happened in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventKind {
    /// The agent wants to end its turn.
    #[default]
    Stop,
    /// A person typed one of our commands; nothing of it has reached the agent.
    Command {
        /// Its name, without a prefix.
        name: String,
        /// What was typed after it, untouched.
        arguments: String,
    },
    /// The session continues, and the agent may have forgotten what it was doing.
    Resumed {
        /// Whether a program of the host has taken the session up; it was compacted otherwise.
        taken_up: bool,
    },
    /// The person has cleared the session before this one, in the same program of the host.
    Cleared,
    /// A turn broke off on an error of the service.
    TurnFailed {
        /// The class of the error, such as `rate_limit`; empty where it is not known.
        class: String,
    },
    /// The host asks the person whether the agent may do something.
    AsksPermission {
        /// What it wants to do, such as `Bash(cargo test)`.
        what: String,
    },
    /// Nothing that the hook answers.
    Other,
}

/// What is known of an event that was not handed over in time.
pub enum LateEvent {
    /// A stop, as far as the environment shows it.
    Stop(Box<HookEvent>),
    /// A command of this host.
    Command(HostName),
    /// Nothing that the hook answers.
    Other,
}

impl HookEvent {
    /// Returns the path of the session's transcript, `None` when there is none.
    pub fn transcript_path(&self) -> Option<&Path> {
        self.transcript.as_ref().map(|transcript| transcript.path())
    }
}
