//! The prompt of one iteration.

mod documents;

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use self::documents::Documents;
use crate::engine::promise::marker;
use crate::engine::proof::LeastProof;
use crate::engine::{Contract, NearLimit, Shortfall};
use crate::evidence::task_list::TaskFile;
use crate::feature::HANDOFF;
use crate::feature::converge::ConvergeCommand;
use crate::runner::options::DoneWhen;
use crate::runner::target::{Change, SpecKitRules};
use crate::session::messages::HONEST;
use crate::session::messages::shortfall::{Reader, explain};

#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// The change, with its proposal, design, tasks and module.
    pub change: &'a Change,
    /// The person's own words.
    pub task: &'a str,
    /// Words of `--add-context`; empty for none.
    pub context: &'a str,
    pub contract: &'a Contract,
    pub done: DoneWhen,
    /// From 1.
    pub iteration: u32,
    /// What was missing at the end of the last iteration; empty in the first.
    pub missing: &'a [Shortfall],
    /// The driver's remarks: a time limit that cut the last iteration short, denied tools.
    pub remarks: &'a [String],
    /// The limit that this iteration may reach, for which it leaves a handoff.
    pub near_limit: Option<NearLimit>,
    /// The file with the task list.
    pub tasks: Option<&'a Path>,
    /// The list, if it was just read.
    pub list: Option<&'a TaskFile>,
    /// Spec-kit's converge command, if the iteration runs that and nothing else.
    pub converge: Option<&'a ConvergeCommand>,
    /// The agent continues its last session, and knows the change.
    pub resumed: bool,
    /// The proof that a tick needs to count.
    pub proof: LeastProof,
    /// Spec-kit's rules for the change.
    pub spec_kit: &'a SpecKitRules,
}

/// The prompt. An error if the proposal cannot be read.
///
/// The person's words are unchanged, except for a NUL, which no argument can carry: it becomes `U+FFFD`. The same
/// material gives the same text.
pub fn prompt(material: &Material<'_>) -> Result<String> {
    let mut text = String::new();
    opening(&mut text, material);
    if let Some(command) = material.converge {
        converge(&mut text, material, command);
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
    missing(&mut text, material);
    rules(&mut text, material);
    landing(&mut text, material);
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
    handoff_rule(text, material);
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
    let typed = |commands: &[String]| format!("/{}", commands.join(", /"));
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

/// Writes what was missing, and the driver's remarks.
fn missing(text: &mut String, material: &Material<'_>) {
    let promise = material.contract.token.as_deref().map(marker);
    let reader = Reader {
        who: "It",
        promise: promise.as_deref().unwrap_or_default(),
        without: if promise.is_some() { "It ended without" } else { "" },
        open: "Tasks are open.",
        finished: "tick the box of what is really done",
        bullet: "- ",
        output: 4_000,
    };
    let mut lines = String::new();
    for remark in material.remarks {
        let _ = writeln!(lines, "- {remark}");
    }
    explain(&mut lines, material.missing, reader);
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "\n# What the last iteration left open\n\n{lines}");
    if material.missing.iter().any(|one| matches!(one, Shortfall::CheckFailed(_))) {
        text.push_str("- Repair the work, never the check.\n");
    }
}

/// Asks for a handoff; writes nothing if no limit is near.
fn landing(text: &mut String, material: &Material<'_>) {
    let Some(near) = material.near_limit else { return };
    let which = match near {
        NearLimit::Iterations => "This is the last iteration of this loop.",
        NearLimit::Time => {
            "Nine tenths of this loop's time are used up: it may end in the middle of this iteration."
        }
        NearLimit::Tokens => {
            "Nine tenths of this loop's tokens are used up: this may be its last iteration."
        }
        NearLimit::Money => {
            "Nine tenths of this loop's money are used up: this may be its last iteration."
        }
        NearLimit::Usage => {
            "The usage limit of the agent program is near: it may end this iteration in its middle, and the loop with it."
        }
    };
    let path = documents::shown(material.change, &material.change.folder.join(HANDOFF));
    let _ = write!(
        text,
        "\n# A limit is near\n\n{which} Unless all of the work is done by its end:\n\n\
         - Begin nothing that you cannot finish in it, and leave a work tree that builds.\n\
         - Write into `{path}`, in at most 60 lines, what is done, what is open and what comes next: the next loop reads it first.\n"
    );
}

/// Writes the rule on an earlier loop's handoff; nothing without one.
fn handoff_rule(text: &mut String, material: &Material<'_>) {
    let path = material.change.folder.join(HANDOFF);
    if path.is_file() {
        let path = documents::shown(material.change, &path);
        let _ = writeln!(
            text,
            "- `{path}` is what an earlier loop wrote at its limit. Where it and the files differ, the files count; remove it when nothing in it is open."
        );
    }
}

/// Asks the agent for the command by its file, which every agent program can read.
fn converge(text: &mut String, material: &Material<'_>, command: &ConvergeCommand) {
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
