//! `UserPromptExpansion`: our slash commands, answered before a token is spent.

use crate::claude::answer::Answer;
use crate::claude::input::Event;
use crate::speckit::arm::{Armer, Refusal, Request, arm};
use crate::speckit::cancel::{cancel, feature_to_cancel};
use crate::speckit::project::Project;
use crate::speckit::status::Report;
use crate::store::loops::is_session_id;
use crate::world;

/// Returns the answer to a slash command; silence for those that are not ours.
pub fn answer(event: &Event) -> Answer {
    let answered = match event.command() {
        "speckit:implement" => implement(event),
        "speckit:cancel" => cancelled(event),
        "speckit:status" => status(event),
        _ => return Answer::silent(),
    };
    answered.unwrap_or_else(|refusal| Answer::stop_command(&format!("Ralph-speckit: {refusal}")))
}

fn implement(event: &Event) -> Result<Answer, Refusal> {
    let request = Request::parse(event.arguments())?;
    let project = project(event)?;
    let session = event.session();
    if !is_session_id(session) {
        return Err(Refusal("the session has no usable id, so no loop can be bound to it.\nUpdate Claude Code to 2.1.143 or later.".to_owned()));
    }
    let transcript = event.transcript();
    let armer = Armer { session: Some(session), by: "command", transcript: transcript.as_deref() };
    let started = arm(&project, &request, armer)?;
    Ok(Answer::context("UserPromptExpansion", &started.summary())
        .log(&format!("Armed feature {} for session {session}", started.feature.name)))
}

fn cancelled(event: &Event) -> Result<Answer, Refusal> {
    let named = event.arguments().trim();
    let project = project(event)?;
    let named = Some(named).filter(|name| !name.is_empty());
    let feature = feature_to_cancel(&project, named, Some(event.session()))?;
    let cancelled = cancel(&project, &feature)?;
    let text = format!("Loop cancelled.\n\n{}\n\n{}", cancelled.summary, cancelled.cleanup);
    Ok(Answer::stop_command(&text).log(&format!("Cancelled feature {}", feature.name)))
}

fn status(event: &Event) -> Result<Answer, Refusal> {
    Ok(Answer::stop_command(&Report::of(&project(event)?).text()))
}

/// The project around the agent's folder, or the one that the session was started in.
fn project(event: &Event) -> Result<Project, Refusal> {
    let started_in = world::folder("CLAUDE_PROJECT_DIR");
    let cwd = event.cwd();
    let found = cwd.as_deref().and_then(Project::around);
    found.or_else(|| started_in.as_deref().and_then(Project::around)).ok_or_else(|| {
        Refusal(
            "this is no spec-kit project: no `.specify` folder here or above.\nRun `specify init`, or start Claude Code in the project.".to_owned(),
        )
    })
}
