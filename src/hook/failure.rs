//! An error of the service broke the turn off: the loop pauses, and nothing is counted.

use std::io;

use super::session::live_loop;
use crate::feature::project::printable;
use crate::hosts::{HookAnswer, HookEvent};
use crate::session::messages::task::title;
use crate::session::{self, pause, pinned};
use crate::store::loops::{Loops, Pause};
use crate::store::names::PausedBy;
use crate::world;

/// A line about the pause; silence without a live loop.
///
/// Claude Code up to 2.1.330 does not show the line: `spool status` and the journal show the pause. The next prompt
/// ends the pause, but no hook runs at a prompt: the next stop shows that there was one. A hook at every prompt would
/// cost every session a process for the sake of a failed one.
pub fn answer(event: &HookEvent, class: &str) -> HookAnswer {
    let Some((_, loops, _)) = live_loop(event) else { return HookAnswer::silent() };
    // The class of the error; without one, the client's own line about it.
    let what = if class.is_empty() { title(&event.last_message) } else { printable(class) };
    match pause_after(&loops, &event.session, &what) {
        Ok(answer) => answer,
        Err(error) => HookAnswer::silent().log(&format!("The pause cannot be noted: {error}")),
    }
}

fn pause_after(loops: &Loops, session: &str, error: &str) -> io::Result<HookAnswer> {
    let (at, error) = (world::now(), error.to_owned());
    let pause = Pause { at, by: PausedBy::Failure, error, notified: true, ..Pause::default() };
    let Some((record, noted)) = pause::pause(loops, session, pause)? else {
        return Ok(HookAnswer::silent());
    };
    if record.pause().is_some_and(|pause| !pause.ends_by_itself()) {
        // A person's pause is that person's to end.
        return noted.map(|()| HookAnswer::silent());
    }
    let message = pause::told(&record).unwrap_or_default();
    let answer = HookAnswer::notify(&message).log(&message);
    let answer = answer.alert(&record.about, "failure", &message);
    let standing = pinned::standing(&loops.root()?, &record);
    // The client does not show the message.
    if let Some(alert) = &answer.alert {
        session::tell(loops, &record, standing.pin(), &alert.notice, session::PATIENCE);
    }
    Ok(answer)
}
