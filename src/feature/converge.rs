//! spec-kit's converge command: where a project has it. The agent runs it, this program never does.

use std::path::Path;

use crate::store::read::below;

/// The name of the command in a session of Claude Code where it is a skill.
const SKILL: &str = "speckit-converge";
/// The same where it is a file of commands.
const COMMAND: &str = "speckit.converge";

/// Where spec-kit puts it, the places of Claude Code first; each with the name under which it is called.
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
/// How many of them Claude Code reads.
const OF_CLAUDE: usize = 2;

/// spec-kit's converge command as a project has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvergeCommand {
    /// Its name without the slash.
    pub name: &'static str,
    /// Its file, relative to the project.
    pub file: String,
}

/// Returns the command that a session of Claude Code can run in a project; an error names the files that were looked for.
pub fn in_session(root: &Path) -> Result<ConvergeCommand, String> {
    first_of(root, &PLACES[..OF_CLAUDE])
}

/// Returns the command for any agent program: it is told to read the file. An error names the files that were looked for.
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
