//! `PermissionRequest`: the client asks the person, and the loop waits. It is noted, and they are told; they decide.

use crate::checks::PersonNotice;
use crate::feature::project::Project;
use crate::feature::settings::Settings;
use crate::hosts::{HookAnswer, HookEvent};
use crate::session::{PATIENCE, pinned, tell};
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::JournalEvent;

/// Returns silence, which leaves the question to the person; `what` is what the agent wants to do.
pub fn answer(event: &HookEvent, what: &str) -> HookAnswer {
    let session = &event.session;
    if !is_session_id(session) {
        return HookAnswer::silent();
    }
    let project = event.cwd.as_ref().and_then(|cwd| Project::around_session(cwd, session));
    let Some(project) = project else { return HookAnswer::silent() };
    let loops = Loops::of(&project.root);
    let live = |record: &crate::store::loops::Record| record.ledger.is_live();
    let Some(record) = loops.peek(session).filter(live) else { return HookAnswer::silent() };
    if Settings::switch_off(&project.root) {
        return HookAnswer::silent();
    }
    let words = ["waits for a permission: ", what].concat();
    let noted = loops.note(session, &record.entry(JournalEvent::Permission, &words));
    let standing = pinned::standing(&project.root, &record);
    let notice = PersonNotice::of(&record.about, "permission", &words);
    tell(&loops, &record, standing.pin(), &notice, PATIENCE);
    match noted {
        Ok(()) => HookAnswer::silent(),
        Err(error) => HookAnswer::silent().log(&format!("It is not in the journal: {error}")),
    }
}
