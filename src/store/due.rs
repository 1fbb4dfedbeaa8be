//! The commands that spec-kit's extensions want to be run before and after an implementation.

use serde::Serialize;

use crate::engine::fields::read_fields;

/// Commands as the agent runs them, such as `speckit-git-commit`, without the slash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExtensionHooks {
    /// Those before the first task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Those after the last one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

read_fields!(ExtensionHooks { before, after });

impl ExtensionHooks {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Returns those that are not among the ones that `ran`.
    #[must_use]
    pub fn left(&self, ran: &Self) -> Self {
        let left = |all: &[String], ran: &[String]| {
            all.iter().filter(|command| !ran.contains(command)).cloned().collect()
        };
        Self { before: left(&self.before, &ran.before), after: left(&self.after, &ran.after) }
    }

    /// Returns those that are left and due now: those after the last task only where the work is `done`.
    pub fn still_due(&self, ran: &Self, done: bool) -> Vec<String> {
        let Self { mut before, after } = self.left(ran);
        if done {
            before.extend(after);
        }
        before
    }

    /// Returns whether a command that ran is one of these that were due, and notes it in `ran`: as one before the first
    /// task where it is wanted there, then as one after the last, which counts only where the work is `done`.
    pub fn note(&self, ran: &mut Self, command: &str, done: bool) -> bool {
        let command = name_of(command);
        let due =
            |all: &[String], ran: &[String]| all.contains(&command) && !ran.contains(&command);
        if due(&self.before, &ran.before) {
            ran.before.push(command);
        } else if done && due(&self.after, &ran.after) {
            ran.after.push(command);
        } else {
            return false;
        }
        true
    }
}

/// The name under which a command is called: spec-kit has `-` there where it registers a `.`.
pub fn name_of(command: &str) -> String {
    command.trim().trim_start_matches('/').replace('.', "-")
}
