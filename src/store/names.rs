//! The words of our files as enums. An unknown word, from a newer version, is kept and written back.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::engine::{TerminalReason, Verdict};

/// Makes an enum of a field's words; the default is the empty word.
macro_rules! names {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A word that this version does not know.
            Other(String),
        }

        impl $name {
            /// The word as the file has it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::from(String::new())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }

        /// A word that this version does not know is possible, so the schema has the known ones as examples.
        #[cfg(test)]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<&str> = [$($word),+].into_iter().filter(|word| !word.is_empty()).collect();
                schemars::json_schema!({"type": "string", "examples": words})
            }
        }
    )+};
}

names! {
    /// What a loop is about.
    LoopKind {
        /// A feature of a spec-kit project.
        Feature = "speckit",
        /// One task in one session (spec 002).
        Task = "ralph",
    }

    /// How a loop was armed.
    ArmedBy {
        /// By a person, with a slash command.
        Command = "command",
        /// By a person, in a terminal.
        Terminal = "terminal",
        /// By a command inside of an agent's session: perhaps not by a person, so nothing is pinned for it.
        Session = "session",
        /// By a person, where nothing can be kept outside of the project: it has no pin.
        Unkept = "unkept",
        /// By a person, and what was armed is not found.
        Lost = "lost",
        /// By a person who started `spool ralph`.
        Runner = "runner",
        /// By nobody: a session found a state file that asks for a loop.
        Claim = "claim",
    }

    /// Where a pause comes from.
    PausedBy {
        /// A person, in a terminal.
        Terminal = "terminal",
        /// The person or the agent, inside of the loop's session.
        Session = "session",
        /// An error of the service, which ended the turn.
        Failure = "failure",
    }

    /// What a line of the journal is about.
    JournalEvent {
        /// A loop was armed.
        Armed = "armed",
        /// A session took the loop of a feature that had no session.
        Claimed = "claimed",
        /// A session took the loop of another one over.
        Adopted = "adopted",
        /// A stop was judged.
        Stop = "stop",
        /// A stop came without its event.
        UnseenStop = "unseen-stop",
        /// An iteration of the runner was judged.
        Iteration = "iteration",
        /// A check began.
        Checks = "checks",
        /// A loop was paused.
        Paused = "paused",
        /// A pause ended.
        Resumed = "resumed",
        /// An error of the service ended the turn.
        Failure = "failure",
        /// A task was done.
        Done = "done",
        /// A task was dropped.
        Dropped = "dropped",
        /// An attempt of a task failed.
        Failed = "failed",
        /// A repair task was added after a failed attempt.
        Repair = "repair",
        /// A task was added.
        Added = "added",
        /// An extension hook of spec-kit has run, by the agent's word.
        Hook = "hook",
        /// The agent needs a person.
        Blocked = "blocked",
        /// Notes that contradict what a person armed were put right.
        Tampered = "tampered",
        /// The person was notified that no person armed the loop.
        Unarmed = "unarmed",
        /// The person was notified that the state file has another phase.
        Phase = "phase",
        /// The person was notified that the settings switch the loop off.
        SwitchedOff = "switched-off",
        /// The person was notified of changed settings.
        Settings = "settings",
        /// The person was notified that the state file asks for an approval.
        Approval = "approval",
        /// The person's command for notices failed.
        Notify = "notify",
        /// The agent waits for a permission.
        Permission = "permission",
        /// A loop ended outside of a stop.
        Ended = "ended",
        /// A person canceled a loop.
        Cancelled = "cancelled",
        /// A runner was killed in the middle of an iteration.
        Interrupted = "interrupted",
    }

    /// The verdict of a line of the journal.
    VerdictName {
        /// It has none.
        None = "",
        /// The loop continues.
        Continue = "continue",
        /// The loop waits.
        Wait = "wait",
        /// The loop ended.
        End = "end",
    }

    /// The name of a [`TerminalReason`].
    EndName {
        /// The loop has not ended.
        None = "",
        /// [`TerminalReason::Completed`].
        Completed = "completed",
        /// [`TerminalReason::MaxIters`].
        MaxIters = "max_iters",
        /// [`TerminalReason::NoProgress`].
        NoProgress = "no_progress",
        /// [`TerminalReason::TaskFailed`].
        TaskFailed = "task_failed",
        /// [`TerminalReason::Blocked`].
        Blocked = "blocked",
        /// [`TerminalReason::Cancelled`].
        Cancelled = "cancelled",
        /// [`TerminalReason::Stopped`].
        Stopped = "stopped",
        /// [`TerminalReason::TimedOut`].
        TimedOut = "timed_out",
        /// [`TerminalReason::HarnessFailed`].
        HarnessFailed = "harness_failed",
        /// [`TerminalReason::UsageLimit`].
        UsageLimit = "usage_limit",
        /// [`TerminalReason::Budget`].
        Budget = "budget",
        /// [`TerminalReason::CorruptState`].
        CorruptState = "corrupt_state",
    }

    /// The end of a loop in the words of spec 002, which has some ends only.
    EndStatus {
        /// It has none for this one.
        None = "",
        /// The promise was made, and everything else is done as well.
        PromiseAccepted = "PROMISE_ACCEPTED",
        /// The limit of iterations was reached.
        MaxIterationsReached = "MAX_ITERATIONS_REACHED",
    }

    /// What became of the promise in an iteration.
    PromiseState {
        /// No promise is asked for.
        None = "",
        /// It was not made.
        Missing = "missing",
        /// It was made too early.
        Refused = "refused",
        /// It was made, and the loop ended with it.
        Accepted = "accepted",
    }
}

impl ArmedBy {
    /// Whether a person armed the loop, and was shown what may be run.
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Command | Self::Terminal | Self::Runner)
    }
}

impl VerdictName {
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Continue(_) => Self::Continue,
            Verdict::Wait(_) => Self::Wait,
            Verdict::End(_) => Self::End,
        }
    }
}

impl EndName {
    pub fn of(reason: &TerminalReason) -> Self {
        Self::from(reason.name().to_owned())
    }

    /// The head of every message about an end.
    pub fn in_words(&self) -> String {
        match self {
            Self::Completed => "done".to_owned(),
            Self::None => "ended".to_owned(),
            name => format!("ended ({name})"),
        }
    }
}

impl EndStatus {
    /// `promised`: a promise was asked for and made.
    pub fn of(reason: &TerminalReason, promised: bool) -> Self {
        match reason {
            TerminalReason::Completed if promised => Self::PromiseAccepted,
            TerminalReason::MaxIters { .. } => Self::MaxIterationsReached,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Obstacle;

    #[test]
    fn newer_word_is_kept() {
        let text = r#"["checks","","teleported"]"#;
        let events: Vec<JournalEvent> = serde_json::from_str(text).unwrap();
        assert_eq!(events[0], JournalEvent::Checks);
        assert_eq!(events[2], JournalEvent::Other("teleported".to_owned()));
        assert_eq!(serde_json::to_string(&events).unwrap(), text);
        assert_eq!(serde_json::from_str::<VerdictName>("\"\"").unwrap(), VerdictName::None);
    }

    #[test]
    fn end_name_is_reason_name() {
        let reasons = [
            TerminalReason::Completed,
            TerminalReason::MaxIters { limit: 1 },
            TerminalReason::NoProgress { stall: crate::engine::Stall::NoCommit, times: 1 },
            TerminalReason::TaskFailed { task: String::new(), used: 1, limit: 1 },
            TerminalReason::Blocked { need: String::new(), by: Obstacle::Other },
            TerminalReason::Cancelled,
            TerminalReason::Stopped,
            TerminalReason::TimedOut { limit: 1 },
            TerminalReason::HarnessFailed { why: String::new() },
            TerminalReason::UsageLimit { why: String::new() },
            TerminalReason::Budget { used: 1, limit: 1, unit: crate::engine::BudgetUnit::Tokens },
            TerminalReason::CorruptState,
        ];
        for reason in reasons {
            let name = EndName::of(&reason);
            assert!(!matches!(name, EndName::Other(_)), "{name}");
        }
    }
}
