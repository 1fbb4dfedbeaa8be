//! `spool adopt`: this session continues the loop of a session that is gone.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{Where, own_session};
use super::environment::Environment;
use super::handle::{LoopHandle, NameKind};
use super::names::TypedName;
use super::selection::{FOR_A_RUN, WhichSession};
use super::steered::Answer;
use crate::exec::partner::in_run;
use crate::feature::project::{Project, printable};
use crate::hosts::claude::transcript::{ClaudeTranscript, of_session};
use crate::refusal::Refusal;
use crate::session::adopt::{Adopter, adopt, list, orphans};
use crate::session::arm::refuse_agent;
use crate::session::life;
use crate::store::loops::Loops;

/// Continue the loop of a session that is gone.
///
/// For a session of Claude Code: it gets the loop with its task, its limits and all that was counted
/// so far; the other session has it no longer. From a terminal, this says what to type in a session.
#[derive(clap::Args)]
#[command(mut_arg("loop_name", |name| name.help(OF_LOOP)))]
pub struct AdoptArgs {
    #[command(flatten)]
    which: WhichSession,
    /// Also take it from a session that may still be there
    #[arg(long)]
    force: bool,
    /// End the loop that this session has now
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

/// The help of the name, which may be left out.
const OF_LOOP: &str = "The loop, by its session or feature; a short form will do where only one answers to it. Without it, the only one whose session is gone or has been silent for an hour";

/// An error lists the candidates, or the nearest name.
fn session_of(project: &Project, typed: TypedName<'_>) -> Result<String> {
    let mut live = LoopHandle::all(Some(project), None)?;
    live.retain(|one| one.lives && one.name(NameKind::Session).is_some());
    let meant = typed.meant(&live, Some(project))?;
    Ok(meant.name(NameKind::Session).unwrap_or_default().to_owned())
}

/// Takes the loop over and prints the agent's instructions.
pub fn run(args: &AdoptArgs) -> Result<ExitCode> {
    let project = args.place.with_loops()?;
    let from = args.which.typed().map(|typed| session_of(&project, typed)).transpose()?;
    if in_run() {
        bail!("only a person takes a loop over from a run\n{FOR_A_RUN}");
    }
    let Some(own) = own_session().filter(|_| !args.force) else {
        let orphans = orphans(&Loops::of(&project.root));
        let (found, named) = match (from.as_deref(), orphans.as_slice()) {
            (Some(session), _) => (String::new(), session),
            (None, []) => bail!("no loop was left behind here"),
            (None, [one]) => (format!("\nleft behind:\n{}", list(&orphans)), one.session.as_str()),
            (None, _) => (format!("\nleft behind:\n{}", list(&orphans)), "SESSION"),
        };
        bail!(
            "a loop is taken over in a session of Claude Code, with --force by a person alone\ntype there, in this project: /speckit:ralph-loop --adopt {}{}{found}",
            printable(named),
            if args.force { " --force" } else { "" }
        );
    };
    refuse_agent(&Loops::of(&project.root), Some(&own), "")?;
    let config = Environment::of_this_process().ok().map(|around| around.claude_folder());
    let transcript = config.and_then(|config| of_session(&config, &own));
    let adopter = Adopter {
        session: &own,
        transcript: transcript.as_deref(),
        from: from.as_deref(),
        force: false,
        replace: args.replace,
    };
    let taken = adopt(&project, adopter).map_err(Refusal::for_agent)?;
    let transcript = transcript.map(ClaudeTranscript::at);
    life::note(&Loops::of(&project.root), &own, transcript.as_ref().map(|own| own as _));
    let words = format!("{}\n\n{}", taken.line, taken.contract);
    args.answer.say(&words, &LoopHandle::at(&project.root, NameKind::Session, &own))
}
