//! `StopFailure`: a turn broke off on an error of the service. Noted; nothing is counted.

use crate::claude::answer::Answer;
use crate::claude::input::Event;
use crate::speckit::project::{Project, printable};
use crate::store::journal::Entry;
use crate::store::loops::{Loops, is_session_id};
use crate::world;

/// Returns silence, after the failure has gone into the journal of the session's live loop.
pub fn answer(event: &Event) -> Answer {
    let session = event.session();
    if !is_session_id(session) {
        return Answer::silent();
    }
    let project = event.cwd().and_then(|cwd| Project::around_session(&cwd, session));
    let Some(project) = project else {
        return Answer::silent();
    };
    let loops = Loops::of(&project.root);
    let live = |session: &str| loops.peek(session).filter(|record| record.ledger.is_live());
    let Some(record) = live(session) else {
        return Answer::silent();
    };
    let entry = Entry {
        at: world::now(),
        event: "failure".to_owned(),
        about: record.about,
        iteration: record.ledger.iterations,
        words: format!("the turn broke off: {}; the loop stays armed", printable(event.error())),
        ..Entry::default()
    };
    match loops.session(session).and_then(|folder| folder.note(&entry)) {
        Ok(()) => Answer::silent(),
        Err(error) => Answer::silent().log(&format!("The journal cannot be written: {error}")),
    }
}
