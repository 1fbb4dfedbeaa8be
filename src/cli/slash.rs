//! Our slash commands, answered before they cost a token: Claude Code starts `spool hook` when a person types one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::handle::{LoopHandle, NameKind};
use super::names::TypedName;
use super::status;
use crate::feature::project::{Project, begin, printable};
use crate::feature::settings::Settings;
use crate::hook::{self, HookOutput};
use crate::hosts::{HookAnswer, HookEvent};
use crate::refusal::Refusal;
use crate::session::adopt::{Adopter, adopt};
use crate::session::arguments::feature::FeatureRequest;
use crate::session::arguments::flags::{take_flags, words};
use crate::session::arguments::task::TaskRequest;
use crate::session::arm::Armer;
use crate::session::arm::task::Flavour;
use crate::session::cancel::{CancelledFeature, cancel_feature, cancel_task, feature_to_cancel};
use crate::session::messages::feature::BY_OUTLINE;
use crate::session::{arm, life};
use crate::settings::Chosen;
use crate::store::closing::EndNotice;
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::ArmedBy;
use crate::system::files::real_path;

/// Makes this program a hook.
const ARGUMENT: &str = "hook";
const CANCEL: &str = "Usage: /speckit:cancel [FEATURE]";
const CANCEL_RALPH: &str = "Usage: /speckit:cancel-ralph [SESSION]";
const STATUS: &str = "Usage: /speckit:status [NAME]";

/// Answers a hook's event if this program was started for one: always with code 0, as `ralph-hook` does.
pub fn answer_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ARGUMENT {
        return None;
    }
    hook::run(arguments, answer);
    Some(ExitCode::SUCCESS)
}

/// Answers one event, a slash command or another.
pub fn answer_event(input: &[u8]) -> HookOutput {
    hook::answer(input, answer)
}

fn answer(event: &HookEvent, command: &str, arguments: &str) -> HookAnswer {
    let request = || FeatureRequest::parse(arguments);
    let answered = match command {
        "implement" => typed(event).and_then(|()| implement(event, &request()?)),
        "speckit-implement" => spec_kit(event, arguments),
        "cancel" => name_in(arguments, CANCEL).and_then(|named| cancelled(event, named)),
        "status" => name_in(arguments, STATUS).and_then(|named| shown(event, named)),
        "ralph-loop" => ralph(event, arguments, Flavour::Plain),
        "ulw-loop" => ralph(event, arguments, Flavour::Ultrawork),
        "cancel-ralph" => name_in(arguments, CANCEL_RALPH).and_then(|id| cancel_ralph(event, id)),
        _ => return HookAnswer::silent(),
    };
    answered
        .unwrap_or_else(|refusal| HookAnswer::stop_command(&format!("Ralph-speckit: {refusal}")))
}

/// The name behind a command that has no flags.
fn name_in<'a>(arguments: &'a str, usage: &'static str) -> Result<&'a str, Refusal> {
    let (name, flags) = words(arguments);
    match take_flags(&mut Chosen::default(), 0, flags) {
        Ok("") => Ok(name.trim()),
        Ok(_) => Err(Refusal::Usage("nothing goes behind `--` here".to_owned(), usage)),
        Err(why) => Err(Refusal::Usage(why, usage)),
    }
}

/// Refuses a command that nobody typed. An agent or a file of the project can schedule one, but a person has to see
/// what a command arms.
fn typed(event: &HookEvent) -> Result<(), Refusal> {
    match &event.transcript {
        Some(transcript) if transcript.enters_scheduled(event.started_in.as_deref()) => {
            Err(Refusal::nothing(
                "a scheduled task entered this command, and only a person arms a loop",
                "type it yourself",
            ))
        }
        _ => Ok(()),
    }
}

fn implement(event: &HookEvent, request: &FeatureRequest) -> Result<HookAnswer, Refusal> {
    let project = project(event)?;
    let session = usable_session(event)?;
    let transcript = event.transcript_path();
    let armer = Armer { session: Some(session), by: &ArmedBy::Command, transcript };
    let started = arm::feature::arm(&project, request, armer)?;
    note_client(&project.root, event);
    let rules = if request.by_outline { BY_OUTLINE } else { "" };
    let for_person = started.for_person + &asks(event);
    Ok(HookAnswer::command_context(started.for_agent + rules, &for_person)
        .log(&format!("Armed feature {} for session {session}", started.about)))
}

/// A line about a mode in which the session asks the person.
fn asks(event: &HookEvent) -> String {
    if event.asks.is_empty() {
        return String::new();
    }
    format!(
        "\nThis session asks you about {}, and the loop waits meanwhile.\nAllow what it needs: /permissions, or shift+tab for another mode.",
        event.asks
    )
}

/// Spec-kit's own command arms the loop and runs. Without work for a loop, the command runs as usual. A person's
/// mistake or open decision stops it.
fn spec_kit(event: &HookEvent, arguments: &str) -> Result<HookAnswer, Refusal> {
    let settings = project(event).map(|project| Settings::read(&project.root));
    if let Ok(Ok(Settings { chosen, .. })) = settings
        && !(chosen.enabled() && chosen.spec_kit_command())
    {
        const OFF: &str = "Ralph-speckit: no loop: `spec_kit_command: false` in the settings. /speckit:implement keeps working until every task is done.";
        return Ok(if chosen.enabled() { HookAnswer::notify(OFF) } else { HookAnswer::silent() });
    }
    let request = || FeatureRequest::parse(arguments);
    let armed = typed(event)
        .and_then(|()| implement(event, &FeatureRequest { by_outline: true, ..request()? }));
    match armed {
        Err(Refusal::Nothing(why, _)) => {
            Ok(HookAnswer::notify(&format!("Ralph-speckit: no loop: {why}")))
        }
        answer => answer,
    }
}

fn cancelled(event: &HookEvent, named: &str) -> Result<HookAnswer, Refusal> {
    // The agent's folder may be in a project within the loop's project.
    let own = project_of_session(event);
    let record = own.as_ref().and_then(|own| Loops::of(&own.root).peek(&event.session));
    if named.is_empty() && record.is_some_and(|record| record.is_live_ralph()) {
        return cancel_ralph(event, "");
    }
    let project = own.map_or_else(|| project(event), Ok)?;
    let feature = match called(&project, named)? {
        Some(one) if one.name(NameKind::Feature).is_none() => {
            return cancel_ralph(event, &one.names[0].id);
        }
        Some(one) => one.feature()?,
        None if named.is_empty() => feature_to_cancel(&project, Some(&event.session))?,
        None => project.feature(named)?,
    };
    let handle = LoopHandle::of_feature(&project, &feature);
    let is_own = handle.name(NameKind::Session).is_none_or(|driver| driver == event.session);
    let telling = if is_own { EndNotice::Done } else { EndNotice::AtNextStop };
    let CancelledFeature { summary, headline, cleanup } =
        cancel_feature(&project, &feature, None, telling)?;
    let text = format!("{headline}\n\n{summary}\n\n{cleanup}");
    Ok(HookAnswer::stop_command(&text).log(&format!("Feature {}: {headline}", feature.name)))
}

fn shown(event: &HookEvent, named: &str) -> Result<HookAnswer, Refusal> {
    // A ralph loop needs no spec-kit project, and this session may have no loop at all.
    let found = project_of_session(event).or_else(|| project_with_loops(event, None));
    let project = found.map_or_else(|| project(event), Ok)?;
    let text = status::text(project, named).map_err(|error| Refusal::Worded(error.to_string()))?;
    Ok(HookAnswer::stop_command(&text))
}

fn ralph(event: &HookEvent, arguments: &str, flavour: Flavour) -> Result<HookAnswer, Refusal> {
    typed(event)?;
    let request = TaskRequest::parse(arguments)?;
    let session = usable_session(event)?;
    if request.chosen.adopt().is_some() {
        return adopted(event, session, &request);
    }
    let root = start_folder(event)?;
    let cwd = event.cwd.clone().unwrap_or_else(|| root.clone());
    let place = arm::task::TaskPlace { root: &root, cwd: &cwd, flavour };
    let armed = arm::task::arm(&request, place, session, event.transcript_path())?;
    note_client(&root, event);
    let shown = armed.for_person + &asks(event);
    let answer = HookAnswer::command_context(armed.for_agent, &shown);
    Ok(answer.log(&format!("Armed a ralph loop for session {session}")))
}

fn adopted(event: &HookEvent, session: &str, request: &TaskRequest) -> Result<HookAnswer, Refusal> {
    let from = request.chosen.adopt().filter(|from| !from.is_empty());
    let from = from.as_deref();
    let start = event.cwd.clone().map_or_else(|| start_folder(event), Ok)?;
    let nothing = || {
        Refusal::new(
            "there is no loop to take over: this folder has none, nor has one above it",
            format!("start {} in the project of that loop", event.host.title),
        )
    };
    let project = Project::with_loops(&start, from).ok_or_else(nothing)?;
    let transcript = event.transcript_path();
    let adopter = Adopter {
        session,
        transcript,
        from,
        force: request.chosen.force(),
        replace: request.chosen.replace(),
    };
    let taken = adopt(&project, adopter)?;
    note_client(&project.root, event);
    let answer = HookAnswer::command_context(taken.contract, &taken.line);
    Ok(answer.log(&format!("Session {session}: {}", taken.line)))
}

/// The loop or feature that a person names; `None` where nothing is called so.
fn called(project: &Project, text: &str) -> Result<Option<LoopHandle>, Refusal> {
    let (project, typed) = (Some(project), TypedName { kind: None, text });
    let meant = || {
        let all = LoopHandle::all(project, None)?;
        let is_any = !typed.find(&all, project)?.is_empty();
        is_any.then(|| typed.meant(&all, project)).transpose()
    };
    meant().map_err(|error: anyhow::Error| Refusal::Worded(error.to_string()))
}

fn cancel_ralph(event: &HookEvent, named: &str) -> Result<HookAnswer, Refusal> {
    let named = Some(named).filter(|name| !name.is_empty());
    let nothing = || {
        let of = |name| format!("no ralph loop of a session `{}` is live here", printable(name));
        let whose = named.map_or_else(|| "this session has no ralph loop".to_owned(), of);
        Refusal::new(
            format!("nothing to cancel: {whose}"),
            "`spool status` lists the loops; /speckit:cancel ends a feature's",
        )
    };
    let name = named.unwrap_or(&event.session);
    let own = project_of_session(event).filter(|_| name == event.session);
    let found = own.or_else(|| project_with_loops(event, Some(name)));
    let project = found.ok_or_else(nothing)?;
    let called = named.map(|name| called(&project, name)).transpose()?.flatten();
    let session = called.as_ref().map_or(name, |one| one.name(NameKind::Session).unwrap_or(name));
    if !is_session_id(session) {
        return Err(nothing());
    }
    let is_own = session == event.session;
    let telling = if is_own { EndNotice::Done } else { EndNotice::AtNextStop };
    let text = cancel_task(&Loops::of(&project.root), session, telling)?.ok_or_else(nothing)?;
    Ok(HookAnswer::stop_command(&text)
        .log(&format!("Cancelled the ralph loop of session {session}")))
}

/// Notes the session's process, so that `spool status` sees when it is gone.
fn note_client(root: &Path, event: &HookEvent) {
    life::note(&Loops::of(root), &event.session, event.transcript.as_deref());
}

/// The project in which this session has a loop.
fn project_of_session(event: &HookEvent) -> Option<Project> {
    let session = Some(&event.session).filter(|session| is_session_id(session))?;
    let starts = [event.cwd.clone(), event.started_in.clone()];
    let around =
        starts.iter().flatten().filter_map(|start| Project::around_session(start, session));
    // A ralph loop needs no project, and its notes may be gone.
    let folders = starts.iter().flatten().filter_map(|folder| real_path(folder).ok());
    let projects = around.chain(folders.map(|root| Project { root }));
    let knows = |project: &Project| Loops::of(&project.root).knows(session);
    let own: Vec<_> = projects.filter(|one| knows(one) || one.keeps(session)).collect();
    // Anybody can make notes in any folder; a loop is kept where no agent does.
    own.iter().find(|project| project.keeps(session)).or(own.first()).cloned()
}

/// This session's loop comes first.
fn project_with_loops(event: &HookEvent, session: Option<&str>) -> Option<Project> {
    let starts = [event.cwd.clone(), event.started_in.clone()];
    let knows = |one: &&Project| session.is_some_and(|own| Loops::of(&one.root).knows(own));
    let with_loops = |start: &PathBuf| Project::with_loops(start, session);
    let near: Vec<Project> = starts.iter().flatten().filter_map(with_loops).collect();
    near.iter().find(knows).or(near.first()).cloned()
}

/// The folder where the session started: a ralph loop needs no project.
fn start_folder(event: &HookEvent) -> Result<PathBuf, Refusal> {
    let folder = event.started_in.clone().or_else(|| event.cwd.clone());
    let real = folder.as_deref().and_then(|folder| real_path(folder).ok());
    real.ok_or_else(|| {
        Refusal::new(
            "the folder of the session cannot be found",
            format!("start {} in a folder that exists", event.host.title),
        )
    })
}

fn usable_session(event: &HookEvent) -> Result<&str, Refusal> {
    let session = Some(&*event.session).filter(|session| is_session_id(session));
    session.ok_or_else(|| {
        Refusal::nothing(
            "the session has no usable id, so no loop can be bound to it",
            format!("update {} to {} or later", event.host.title, event.host.oldest),
        )
    })
}

/// The project around the agent's folder, or around the session's first folder.
fn project(event: &HookEvent) -> Result<Project, Refusal> {
    event.cwd.as_deref().map(begin).transpose()?;
    let mut starts = [&event.cwd, &event.started_in].into_iter().flatten();
    starts.find_map(|start| Project::around(start)).ok_or_else(|| {
        Refusal::nothing(
            "this is no spec-kit project: no `.specify` folder here or above",
            format!("/speckit:ralph-loop \"TASK\" works in any folder; for a list of tasks run `specify init`, or start {} in the project", event.host.title),
        )
    })
}
