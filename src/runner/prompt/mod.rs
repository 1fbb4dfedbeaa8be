//! The prompt of one iteration.

mod converge;
mod documents;
mod landing;
mod material;
mod missing;

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use super::options::DoneWhen;
use super::target::{Change, SpecKitRules};
use crate::engine::promise::marker;
use crate::engine::proof::LeastProof;
use crate::session::messages::HONEST;
use documents::Documents;

pub use material::Material;

/// The prompt. An error if the proposal cannot be read.
///
/// The person's words are unchanged, except for a NUL, which no argument can carry: it becomes `U+FFFD`. The same
/// material gives the same text.
pub fn prompt(material: &Material<'_>) -> Result<String> {
    let mut text = String::new();
    opening(&mut text, material);
    if let Some(command) = material.converge {
        converge::write(&mut text, material, command);
        return Ok(text.replace('\0', "\u{fffd}"));
    }
    let mut documents = Documents::of(material.change, material.tasks);
    documents.list = material.list;
    if material.resumed {
        documents.name(&mut text);
    } else {
        documents.quote(&mut text)?;
    }
    let _ = write!(text, "\n# What is asked of you\n\n{}\n", material.task);
    if !material.context.trim().is_empty() {
        let _ =
            write!(text, "\n# Added by the person while the loop runs\n\n{}\n", material.context);
    }
    missing::write(&mut text, material);
    rules(&mut text, material);
    landing::write(&mut text, material);
    Ok(text.replace('\0', "\u{fffd}"))
}

/// The prompt's files, each with its treatment: in full, its beginning, or its name.
pub fn files(change: &Change, tasks: Option<&Path>) -> Vec<String> {
    Documents::of(change, tasks).described()
}

fn opening(text: &mut String, material: &Material<'_>) {
    let change = material.change;
    let what = match &change.module {
        Some(module) => format!("the change `{}` (module {module})", change.id),
        None => format!("the change `{}`", change.id),
    };
    let limit = material.contract.guardrails.max_iterations;
    let of = limit.map_or_else(String::new, |limit| format!(" of at most {limit}"));
    let _ = writeln!(text, "You work on {what}, in iteration {}{of}.", material.iteration);
    let memory = if material.resumed {
        "You continue your earlier session."
    } else {
        "Each iteration is a new session: it knows only what is in the files and in this text."
    };
    let _ = writeln!(text, "{memory} Paths are relative to `{}`.", change.worktree.display());
}

fn rules(text: &mut String, material: &Material<'_>) {
    text.push_str("\n# Rules\n\n");
    text.push_str(
        "- Look first at what is there already: earlier iterations may have done a part.\n",
    );
    landing::write_rule(text, material);
    match (material.done, material.tasks) {
        (DoneWhen::Tasks, Some(path)) => {
            let path = documents::shown(material.change, path);
            let _ = write!(
                text,
                "- Work on the next open task in `{path}`, and on those after it as far as you get.\n\
                 - Tick a box (`- [x]`) when its task is done and tested, not before. Take no open task out of the list, and do not reword one.\n\
                 - The work is done when every box is ticked. That is read from the file, whatever you say.\n"
            );
            if material.proof == LeastProof::Files {
                text.push_str(
                    "- A tick with no work behind it is taken back. When a task rightly changes nothing, tick it and write in your final message, alone on its line: `<no-change>ID: why</no-change>`; when its work is in other files than it names: `<elsewhere>ID: why</elsewhere>`. A task that is not to be done stays in the list.\n",
                );
            }
        }
        _ => text.push_str("- Take the next step that brings the work forward, and test it.\n"),
    }
    around(text, material.spec_kit);
    ending(text, material);
    for rule in HONEST {
        let _ = writeln!(text, "- {rule}");
    }
    text.push_str("- Leave everything in a state from which the next iteration can continue.\n");
    match material.contract.guardrails.max_commitless {
        Some(limit) => {
            let _ = writeln!(
                text,
                "- Commit what is finished, and only that: {limit} iterations in a row without a commit end the loop."
            );
        }
        None => text.push_str(
            "- Make a commit only where the words above or the project's own instructions ask for one.\n",
        ),
    }
    text.push_str(
        "- Leave `.spool/.state` and `.claude/loop-state.json` alone: they are the loop's own.\n\
         - Nobody is there to answer. Do not ask: decide, and write down what you decided.\n\
         - When only a person can continue, the loop is ended by this line in your final message, alone on its line:\n\n\
         <blocked>what the person must do</blocked>\n",
    );
}

/// Spec-kit's rules around the work.
fn around(text: &mut String, rules: &SpecKitRules) {
    let typed = |commands: &[String]| ["/", &commands.join(", /")].concat();
    let hooks = &rules.hooks;
    if !hooks.before.is_empty() {
        let _ = writeln!(
            text,
            "- Before the first task, run what spec-kit's extensions demand, each as the command or skill of that name, unless an earlier iteration did: {}.",
            typed(&hooks.before)
        );
    }
    if !hooks.after.is_empty() {
        let _ = writeln!(
            text,
            "- When the last box is ticked, run what spec-kit's extensions demand then, before you end: {}.",
            typed(&hooks.after)
        );
    }
    if !hooks.is_empty() {
        text.push_str("- Say in your final message which of them you have run.\n");
    }
    if !rules.open_checklists.is_empty() {
        text.push_str(
            "- Checklists of the feature are open, and the person has decided to continue with them: do not ask about them, and do not tick them.\n",
        );
    }
}

/// The ways to end the loop: the promise, and the checks.
fn ending(text: &mut String, material: &Material<'_>) {
    if let Some(token) = &material.contract.token {
        let marker = marker(token);
        let _ = write!(
            text,
            "- Only when all of the work is done, write {marker} in your final message: exactly so, the same letters in the same case.\n\
             - Never write it for another reason: not to get out, not because you are stuck. It is checked against the files.\n"
        );
    }
    let checks = &material.contract.checks;
    if !checks.is_empty() {
        text.push_str(
            "- These commands have to pass. They are run for you when the work seems to be done:\n",
        );
    }
    for check in checks {
        let _ = writeln!(text, "  - `{}` ({})", check.run, check.terms());
    }
    let first = material.contract.min_iterations;
    if first > material.iteration {
        let _ = writeln!(
            text,
            "- The loop continues at least until iteration {first}. When all seems done, look for what is missing or wrong."
        );
    }
}
