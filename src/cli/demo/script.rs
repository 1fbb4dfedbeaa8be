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
pub const TASK_LIST: &str = "\
# Tasks: a to-do list for the shell

## Phase 1: Setup
- [ ] T001 Create todo.sh with a usage text

## Phase 2: Commands
- [ ] T002 Add a task with `sh todo.sh add TEXT` in todo.sh
- [ ] T003 List the tasks with `sh todo.sh list` in todo.sh
- [ ] T004 Finish a task with `sh todo.sh done N` in todo.sh

## Phase 3: Proof
- [ ] T005 [P] Write README.md with an example
- [ ] T006 [P] Write test.sh
- [ ] T007 [VERIFY] Run `sh test.sh`
";

/// The feature's specification.
pub const SPEC: &str = "\
# A to-do list for the shell

One program, `todo.sh`, keeps a list in the file `todo.txt`: it adds a task, lists the tasks and
finishes one. Nothing but a POSIX shell is needed.
";

const PROGRAM_WITH_USAGE: &str = "\
#!/bin/sh
# A to-do list for the shell.
case ${1:-} in
  *) echo 'usage: todo.sh add TEXT | list | done N' >&2; exit 2 ;;
esac
";

const PROGRAM_WITH_ADD: &str = r#"#!/bin/sh
# A to-do list for the shell.
list=${TODO_FILE:-todo.txt}
case ${1:-} in
  add) shift; printf '%s\n' "$*" >>"$list" ;;
  *) echo 'usage: todo.sh add TEXT | list | done N' >&2; exit 2 ;;
esac
"#;

const PROGRAM: &str = r#"#!/bin/sh
# A to-do list for the shell.
list=${TODO_FILE:-todo.txt}
case ${1:-} in
  add) shift; printf '%s\n' "$*" >>"$list" ;;
  list) [ ! -s "$list" ] || awk '{ print NR ". " $0 }' "$list" ;;
  done) awk -v gone="${2:?which one}" 'NR != gone' "$list" >"$list.new" && mv "$list.new" "$list" ;;
  *) echo 'usage: todo.sh add TEXT | list | done N' >&2; exit 2 ;;
esac
"#;

const README: &str = "\
# todo.sh

    sh todo.sh add buy milk
    sh todo.sh list
    sh todo.sh done 1
";

const TEST: &str = r#"#!/bin/sh
# Adds two tasks, finishes the first, and expects the second to be left.
set -eu
TODO_FILE=$(mktemp)
export TODO_FILE
trap 'rm -f "$TODO_FILE"' EXIT
sh todo.sh add buy milk
sh todo.sh add water the plants
sh todo.sh done 1
[ "$(sh todo.sh list)" = '1. water the plants' ]
echo 'all tests passed'
"#;
