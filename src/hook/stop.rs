//! `Stop`: the agent wants to end its turn. This file finds the project and its settings; `session::stop` does the
//! rest.

use std::path::Path;

use crate::feature::project::Project;
use crate::feature::settings::Settings;
use crate::hosts::{HookAnswer, HookEvent};
use crate::session::{StopContext, stop};
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::JournalEvent;
use crate::system::files::real_path;
use crate::world::Deadline;

/// Silence, a block, or a line that says why the loop ended.
///
/// Waits until the deadline for programs that write the feature's files.
pub fn answer(event: &HookEvent, deadline: Deadline) -> HookAnswer {
    let Some(project) = project(event) else { return HookAnswer::silent() };
    // The arming still holds if they cannot be read; the person is notified.
    let (settings, broken) = match Settings::read(&project.root) {
        Ok(settings) => (settings, None),
        Err(error) => (Settings { digest: error.digest, ..Settings::default() }, Some(error)),
    };
    let loops = &Loops::of(&project.root);
    let (project, settings, unreadable) = (&project, &settings, broken.as_ref());
    let context = StopContext { project, settings, broken: unreadable, loops, event, deadline };
    let answer = stop::answer(&context).unwrap_or_else(|error| {
        let message = format!(
            "Ralph-speckit allows the stop: its notes cannot be read or written: {error}. Fix that; the loop continues with your next prompt."
        );
        HookAnswer::notify(&message).log(&message)
    });
    match broken {
        Some(error) => answer.log(&error.one_line()),
        None => answer,
    }
}

/// The project with this session's loop, else the nearest one.
pub fn project(event: &HookEvent) -> Option<Project> {
    let session = &event.session;
    let around = |folder: &Path| {
        if is_session_id(session) {
            Project::around_session(folder, session)
        } else {
            Project::around(folder)
        }
    };
    let cwd = event.cwd.as_deref();
    // The agent may have changed its folder: its loop is where the session started, mostly one of the folders just
    // looked at.
    let is_far = |start: &&Path| cwd.is_none_or(|cwd| !Project::looks_at(cwd, start));
    let start = event.started_in.as_deref().filter(is_far);
    let mut near: Option<Project> = None;
    for project in [cwd, start].into_iter().flatten().filter_map(around) {
        // Anybody can make notes in a folder; an arming is only found where a person armed.
        if is_kept_in(&project, session) {
            return Some(project);
        }
        near = near.filter(|near| knows(near, session) || !knows(&project, session));
        near.get_or_insert(project);
    }
    // A ralph loop needs no project.
    let root = event.started_in.as_deref().or(cwd).and_then(|root| real_path(root).ok());
    let bare = root.map(|root| Project { root }).filter(|project| is_kept_in(project, session));
    bare.or(near)
}

/// A stop without a session's name may be one in a loop: its project has, or had, loops.
pub fn may_be_in_a_loop(event: &HookEvent) -> bool {
    project(event).is_some_and(|project| Loops::of(&project.root).folder().is_dir())
}

/// A stop of an unknown session is allowed, and reported if a loop lives whose turn it may have ended.
pub fn unheard(event: &HookEvent) -> HookAnswer {
    let Some(project) = project(event) else { return HookAnswer::silent() };
    let loops = Loops::of(&project.root);
    let live = loops.live_records();
    if live.is_empty() {
        return HookAnswer::silent();
    }
    let words = format!(
        "a stop in this project was allowed unseen: {} did not hand over its event in time",
        event.host.title
    );
    for record in live {
        let entry = record.entry(JournalEvent::UnseenStop, &words);
        // Reported even if the note fails.
        let _ = loops.note(&record.session, &entry);
    }
    HookAnswer::notify(&format!(
        "Ralph-speckit: {words}. A loop of this session stays armed: type anything to continue it."
    ))
}

fn knows(project: &Project, session: &str) -> bool {
    is_session_id(session) && Loops::of(&project.root).knows(session)
}

/// This session's loop is kept where no agent makes notes.
fn is_kept_in(project: &Project, session: &str) -> bool {
    is_session_id(session) && project.keeps(session)
}
