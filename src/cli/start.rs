//! `spool start`: arms a feature's loop, as `/speckit:implement` does.

use std::process::ExitCode;

use anyhow::Result;

use super::context::{Where, own_session};
use super::handle::{LoopHandle, NameKind};
use super::person::in_agents_session;
use super::steered::Answer;
use crate::session::arguments::feature::FeatureRequest;
use crate::session::arm::Armer;
use crate::session::arm::feature::arm;
use crate::settings::{Flags, IMPLEMENT};
use crate::store::names::ArmedBy;

/// Arm the loop for a feature, as /speckit:implement does.
///
/// The session that runs this command gets the loop; from a terminal, the first Claude Code session
/// that stops in the project takes it.
#[derive(clap::Args)]
pub struct StartArgs {
    /// The feature, such as 001-user-login (without it, the current one); tasks, such as T001 T003, T004-T010, US1 or
    /// phase 2 (without any, all); then words for the agent
    words: Vec<String>,
    /// Words for the agent, whatever they look like
    #[arg(last = true, value_name = "WORDS FOR THE AGENT")]
    literal: Vec<String>,
    #[command(flatten)]
    chosen: Flags<IMPLEMENT>,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

/// Tells a person in a terminal what to do next.
const FIRST: &str = "Now start Claude Code in this project and ask it to work through the tasks: the first session that stops takes the loop.\n";

pub fn run(args: &StartArgs) -> Result<ExitCode> {
    let request = FeatureRequest {
        words: args.words.join(" "),
        literal: args.literal.join(" "),
        by_outline: false,
        chosen: args.chosen.0.clone(),
    };
    let session = own_session();
    let by = if in_agents_session() { &ArmedBy::Session } else { &ArmedBy::Terminal };
    let armer = Armer { session: session.as_deref(), by, transcript: None };
    let project = args.place.project()?;
    let started = arm(&project, &request, armer)?;
    let first = if session.is_none() { FIRST } else { "" };
    let words = format!("{}\n{}{first}", started.for_agent, started.shown);
    args.answer.say(&words, &LoopHandle::at(&project.root, NameKind::Feature, &started.about))
}
