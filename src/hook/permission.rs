//! `PermissionRequest`: the client asks the person, and the loop waits. The hook notes that, tells the person, and
//! decides nothing.

use super::session::live_loop;
use crate::hosts::{HookAnswer, HookEvent};
use crate::notice::PersonNotice;
use crate::session::{PATIENCE, pinned, tell};
use crate::store::names::JournalEvent;

/// Silence, which leaves the question to the person; `what` is the agent's plan.
pub fn answer(event: &HookEvent, what: &str) -> HookAnswer {
    let Some((project, loops, record)) = live_loop(event) else { return HookAnswer::silent() };
    let words = ["waits for a permission: ", what].concat();
    let noted = loops.note(&event.session, &record.entry(JournalEvent::Permission, &words));
    let standing = pinned::standing(&project.root, &record);
    let notice = PersonNotice::of(&record.about, "permission", &words);
    tell(&loops, &record, standing.pin(), &notice, PATIENCE);
    match noted {
        Ok(()) => HookAnswer::silent(),
        Err(error) => HookAnswer::silent().log(&format!("It is not in the journal: {error}")),
    }
}
