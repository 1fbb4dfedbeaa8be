//! What a person permits or forbids on the command line of `spool ralph` holds in the real programs.

use scripted_model::{Asked, Reply};

use crate::agent::{Agent, on_every_agent};
use crate::ralph::{PROMISE, assert_nothing_is_left};
use crate::stage::Stage;

on_every_agent! {
    night night night only_permitted_tools_run
}

/// The command that leaves the file.
const TOUCH: &str = "touch made.txt";

/// What the agent tries.
#[derive(Clone, Copy, Debug)]
enum Tries {
    /// The program's own tool for writing files, within the project.
    Write,
    /// The same, beside the project.
    WriteBeside,
    /// Its shell.
    Shell,
}

/// The flags, what the agent tries, and whether it is done.
type Case = (&'static [&'static str], Tries, bool);

fn cases(agent: Agent) -> &'static [Case] {
    match agent {
        Agent::Claude | Agent::OldClaude => &[
            (&["--permission-mode", "acceptEdits"], Tries::Write, true),
            (&["--allow", "Bash(touch made.txt)"], Tries::Shell, true),
            (&["--allow", "Bash(touch other.txt)", "--allow", "Edit"], Tries::Shell, false),
            (&["--allow-all", "--deny", "Bash"], Tries::Shell, false),
        ],
        Agent::Codex => &[
            (&["--permission-mode", "workspace-write"], Tries::Shell, true),
            (&["--permission-mode", "read-only"], Tries::Shell, false),
        ],
        Agent::Opencode => &[
            (&["--allow", "external_directory"], Tries::WriteBeside, true),
            (&["--allow-all", "--deny", "bash"], Tries::Shell, false),
        ],
        Agent::Gemini => &[
            (&["--permission-mode", "auto_edit"], Tries::Write, true),
            (&["--allow", "run_shell_command"], Tries::Shell, true),
            (&["--permission-mode", "auto_edit"], Tries::Shell, false),
        ],
        Agent::Copilot => &[
            (&["--allow", "write"], Tries::Write, true),
            (&["--allow", "shell(touch)"], Tries::Shell, true),
            (&["--allow-all", "--deny", "shell"], Tries::Shell, false),
        ],
    }
}

fn only_permitted_tools_run(agent: Agent) {
    for (flags, tries, is_done) in cases(agent) {
        let stage = Stage::new(agent, |scene| {
            move |asked: &Asked| {
                if !asked.tool_results().is_empty() {
                    return Reply::text(PROMISE);
                }
                let beside = scene.project.parent().expect("a parent").join("made.txt");
                match tries {
                    Tries::Write => agent.writes(&scene.project.join("made.txt"), "made"),
                    Tries::WriteBeside => agent.writes(&beside, "made"),
                    Tries::Shell => agent.shell(TOUCH),
                }
            }
        });
        agent.trust(&stage.home(), &stage.root);
        let flags = [&["--max-iterations", "1"], *flags].concat();
        stage.ralph(&flags).end();
        let facts = stage.facts();
        let made = stage.path("made.txt").exists() || stage.path("../made.txt").exists();
        assert_eq!(made, *is_done, "{flags:?} {tries:?}: {facts}");
        assert_nothing_is_left(&stage);
    }
}
