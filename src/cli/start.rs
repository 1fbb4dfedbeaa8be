//! `spool start`: arms the loop for a feature, as `/speckit:implement` does.

use std::process::ExitCode;

use anyhow::Result;

use super::context::{Where, own_session, whole};
use super::person::in_agents_session;
use super::steered::{Answer, Steered};
use crate::engine::ReviewWhen;
use crate::session::arguments::feature::FeatureRequest;
use crate::session::arm::Armer;
use crate::session::arm::feature::arm;
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
    /// End the loop after this many iterations
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 1_000_000>)]
    max_iterations: Option<u32>,
    /// End the loop when one task needs more attempts than this
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 1_000_000>)]
    max_task_iterations: Option<u32>,
    /// Put a repair task behind one that failed
    #[arg(long)]
    recovery_mode: bool,
    /// Continue although checklists of the feature are open
    #[arg(long)]
    ignore_checklists: bool,
    /// Take the loop also from another session that is still there
    #[arg(long)]
    force: bool,
    /// Have another agent program review the work before it counts as done; --review=false for not, whatever the settings say
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    review: Option<bool>,
    /// When it is made besides the end: phases (when all tasks of a phase are ticked), verify (when a [VERIFY] task is), or end
    /// [default: end]
    #[arg(long, value_name = "WHEN", value_parser = review_when)]
    review_when: Option<ReviewWhen>,
    /// Have the agent run spec-kit's converge command before the work counts as done: it appends to the list what the code
    /// lacks; --converge=false for not, whatever the settings say
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    converge: Option<bool>,
    /// Have optional tasks (`- [ ]* 1.2`) count; --include-optional=false for not, whatever the settings say
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    include_optional: Option<bool>,
    #[command(flatten)]
    answer: Answer,
    #[command(flatten)]
    place: Where,
}

/// What a person does who armed it in a terminal.
const FIRST: &str = "Now start Claude Code in this project and ask it to work through the tasks: the first session that stops takes the loop.\n";

fn review_when(text: &str) -> Result<ReviewWhen, String> {
    ReviewWhen::of(text).ok_or_else(|| "it is end, phases or verify".to_owned())
}

/// Arms and says what was armed.
pub fn run(args: &StartArgs) -> Result<ExitCode> {
    let request = FeatureRequest {
        words: args.words.join(" "),
        literal: args.literal.join(" "),
        by_outline: false,
        max_task_iterations: args.max_task_iterations,
        max_iterations: args.max_iterations,
        recovery_mode: args.recovery_mode,
        ignore_checklists: args.ignore_checklists,
        force: args.force,
        review: args.review,
        review_when: args.review_when,
        converge: args.converge,
        include_optional: args.include_optional,
    };
    let session = own_session();
    let by = if in_agents_session() { &ArmedBy::Session } else { &ArmedBy::Terminal };
    let armer = Armer { session: session.as_deref(), by, transcript: None };
    let project = args.place.project()?;
    let started = arm(&project, &request, armer)?;
    let mut words = format!("{}\n{}", started.for_agent, started.shown);
    if session.is_none() {
        words.push_str(FIRST);
    }
    args.answer.say(&words, &Steered::Feature(&project, &started.about))
}
