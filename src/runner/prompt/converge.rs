//! The prompt of an iteration that runs spec-kit's converge command and nothing else.

use std::fmt::Write;

use super::documents;
use super::material::Material;
use crate::feature::converge::ConvergeCommand;

/// Asks the agent for the command by its file, which every agent program can read.
pub fn write(text: &mut String, material: &Material<'_>, command: &ConvergeCommand) {
    let folder = documents::shown(material.change, &material.change.folder);
    let list = material.tasks.map(|path| documents::shown(material.change, path));
    let (ConvergeCommand { name, file }, list) = (command, list.unwrap_or_default());
    let _ = write!(
        text,
        "\n# What is asked of you\n\n\
         Every task of the list is ticked. See whether the code does what the specification asks for, as spec-kit's converge command does: read `{file}` and carry out what it says, as if a person had typed `/{name}` with nothing behind it.\n\n\
         # Rules\n\n\
         - The feature is the one in `{folder}`, whatever else a script of spec-kit finds.\n\
         - Change no file but `{list}`, and that only as the command says: where something is missing, new open tasks at its end. Do not begin with them: the next iterations do them.\n\
         - Where nothing is missing, leave `{list}` as it is, byte for byte.\n\
         - Extension hooks that the command itself demands (`before_converge`, `after_converge`) are a part of it.\n\
         - Nobody is there to answer. Do not ask: decide, and say in your final message what you found.\n"
    );
}
