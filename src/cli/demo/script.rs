//! What the demo's agent does, turn by turn; it stops too early twice and claims too much once.

use crate::runner::script::ScriptStep;

/// How many tasks the list has.
pub const TASKS: usize = 7;
/// The feature's folder, relative to the project.
pub const FEATURE: &str = "specs/001-todo-list";

/// From one prompt to one attempt to stop.
pub struct ScriptTurn {
    /// What the agent does.
    pub steps: &'static [ScriptStep],
    /// What it says when it wants to stop.
    pub words: &'static str,
}

/// The whole play.
pub const TURNS: [ScriptTurn; 4] = [
    ScriptTurn {
        steps: &[
            ScriptStep::Write("todo.sh", PROGRAM_WITH_USAGE),
            ScriptStep::Tick("T001"),
            ScriptStep::Write("todo.sh", PROGRAM_WITH_ADD),
            ScriptStep::Tick("T002"),
        ],
        words: "The program can add a task now. I will stop here for now.",
    },
    ScriptTurn {
        steps: &[
            ScriptStep::Write("todo.sh", PROGRAM),
            ScriptStep::Tick("T003"),
            ScriptStep::Tick("T004"),
        ],
        words: "Listing and finishing work too. Shall I continue?",
    },
    ScriptTurn { steps: &[], words: "All done!\nALL_TASKS_COMPLETE" },
    ScriptTurn {
        steps: &[
            ScriptStep::Write("README.md", README),
            ScriptStep::Tick("T005"),
            ScriptStep::Write("test.sh", TEST),
            ScriptStep::Tick("T006"),
            ScriptStep::Run("sh test.sh"),
            ScriptStep::Tick("T007"),
        ],
        words: "ALL_TASKS_COMPLETE",
    },
];

/// The task list as the agent finds it.
pub const TASK_LIST: &str = include_str!("files/tasks.md");

/// The feature's specification.
pub const SPEC: &str = include_str!("files/spec.md");

const PROGRAM_WITH_USAGE: &str = include_str!("files/todo-usage.sh");

const PROGRAM_WITH_ADD: &str = include_str!("files/todo-add.sh");

const PROGRAM: &str = include_str!("files/todo.sh");

const README: &str = include_str!("files/README.md");

const TEST: &str = include_str!("files/test.sh");
