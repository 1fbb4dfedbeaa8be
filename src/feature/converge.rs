//! spec-kit's converge command in a project. The agent runs the command, this program never does.

use std::path::Path;

use crate::store::read::below;

/// The command's name in Claude Code as a skill.
const SKILL: &str = "speckit-converge";
/// The command's name in Claude Code as a command file.
const COMMAND: &str = "speckit.converge";

/// spec-kit's places for the command and its name there; Claude Code's places come first.
const PLACES: [(&[&str], &str); 9] = [
    (&[".claude", "skills", SKILL, "SKILL.md"], SKILL),
    (&[".claude", "commands", "speckit.converge.md"], COMMAND),
    (&[".agents", "skills", SKILL, "SKILL.md"], SKILL),
    (&[".opencode", "commands", "speckit.converge.md"], COMMAND),
    (&[".opencode", "command", "speckit.converge.md"], COMMAND),
    (&[".gemini", "commands", "speckit.converge.toml"], COMMAND),
    (&[".gemini", "skills", SKILL, "SKILL.md"], SKILL),
    (&[".github", "agents", "speckit.converge.agent.md"], COMMAND),
    (&[".github", "skills", SKILL, "SKILL.md"], SKILL),
];
/// Claude Code's part of `PLACES`.
const OF_CLAUDE: usize = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvergeCommand {
    /// Without the slash.
    pub name: &'static str,
    /// Relative to the project.
    pub file: String,
}

/// The command for a session of Claude Code; an error names the files that were searched.
pub fn in_session(root: &Path) -> Result<ConvergeCommand, String> {
    first_of(root, &PLACES[..OF_CLAUDE])
}

/// The command for any agent program, which is told to read the file. An error names the files that were searched.
pub fn for_any_agent(root: &Path) -> Result<ConvergeCommand, String> {
    first_of(root, &PLACES)
}

fn first_of(
    root: &Path,
    places: &[(&'static [&str], &'static str)],
) -> Result<ConvergeCommand, String> {
    let found = places.iter().find(|(path, _)| below(root, path).is_file());
    if let Some((path, name)) = found {
        return Ok(ConvergeCommand { name, file: path.join("/") });
    }
    let files: Vec<_> =
        places.iter().map(|(path, _)| ["`", &path.join("/"), "`"].concat()).collect();
    Err(["there is none of ", &files.join(", ")].concat())
}
