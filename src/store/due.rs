//! Commands that spec-kit's extensions want before and after an implementation.

use serde::Serialize;

use crate::engine::fields::read_fields;

/// As the agent runs them, without the slash: `speckit-git-commit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExtensionHooks {
    /// Before the first task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// After the last task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

read_fields!(ExtensionHooks { before, after });

impl ExtensionHooks {
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// The commands that have not run.
    pub fn left(&self, ran: &Self) -> Self {
        let left = |all: &[String], ran: &[String]| {
            all.iter().filter(|command| !ran.contains(command)).cloned().collect()
        };
        Self { before: left(&self.before, &ran.before), after: left(&self.after, &ran.after) }
    }

    /// The commands that are due now; those after the last task only if the work is `done`.
    pub fn still_due(&self, ran: &Self, done: bool) -> Vec<String> {
        let Self { mut before, after } = self.left(ran);
        if done {
            before.extend(after);
        }
        before
    }

    /// Notes a command in `ran` if it was due: first as one before the first task, then, if the work is `done`, as one
    /// after the last. `false`: the command was not due.
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

/// The name by which a command is called: spec-kit registers a `.` as `-`.
pub fn name_of(command: &str) -> String {
    command.trim().trim_start_matches('/').replace('.', "-")
}
