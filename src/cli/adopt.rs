//! `spool adopt`: this session continues the loop of a session that is gone.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{Where, own_session};
use super::environment::Environment;
use super::steered::{Answer, Steered};
use crate::hosts::claude::transcript::{ClaudeTranscript, of_session};
use crate::session::adopt::{Adopter, OwnLoop, Silence, adopt, list, orphans};
use crate::session::life;
use crate::store::loops::Loops;

/// Continue the loop of a session that is gone.
///
/// For a session of Claude Code: it gets the loop with its task, its limits and all that was counted
/// so far; the other session has it no longer. From a terminal, this says what to type in a session.
#[derive(clap::Args)]
pub struct AdoptArgs {
    /// The session that has the loop, or the beginning of its id; without it, the only one that is
    /// gone or has been silent for an hour
    #[arg(long, value_name = "ID")]
    session: Option<String>,
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

/// Takes the loop over and prints what the agent has to know.
pub fn run(args: &AdoptArgs) -> Result<ExitCode> {
    let project = args.place.with_loops()?;
    let Some(own) = own_session() else {
        let orphans = orphans(&Loops::of(&project.root), None);
        let (found, named) = match (args.session.as_deref(), orphans.as_slice()) {
            (Some(session), _) => (String::new(), session),
            (None, []) => ("\nno loop was left behind here".to_owned(), "SESSION"),
            (None, [one]) => (format!("\nleft behind:\n{}", list(&orphans)), one.session.as_str()),
            (None, _) => (format!("\nleft behind:\n{}", list(&orphans)), "SESSION"),
        };
        bail!(
            "a loop continues in a session of Claude Code, and this terminal is not one\ntype there, in this project: /speckit:ralph-loop --adopt {}{found}",
            crate::feature::project::printable(named)
        );
    };
    let config = Environment::of_this_process().ok().map(|around| around.claude_folder());
    let transcript = config.and_then(|config| of_session(&config, &own));
    let adopter = Adopter {
        session: &own,
        transcript: transcript.as_deref(),
        from: args.session.as_deref(),
        silence: if args.force { Silence::Waived } else { Silence::Needed },
        own: if args.replace { OwnLoop::Ends } else { OwnLoop::Stays },
    };
    let taken = adopt(&project, adopter)?;
    let transcript = transcript.map(ClaudeTranscript::at);
    life::note(&Loops::of(&project.root), &own, transcript.as_ref().map(|it| it as _));
    let words = format!("{}\n\n{}", taken.line, taken.contract);
    args.answer.say(&words, &Steered::Session(&project, &own))
}
