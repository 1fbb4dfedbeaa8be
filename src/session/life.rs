//! Whether the session of a loop is still there, as far as its client's process can be seen. What cannot be seen is
//! not known, and never gone.

use std::time::Duration;

use crate::exec::alive::{ProcessLife, id_space};
use crate::hosts::transcript::{HostProgram, Transcript};
use crate::hosts::transcript_at;
use crate::store::client::ClientProcess;
use crate::store::loops::{Loops, Record};
use crate::system::processes;
use crate::world;

/// How long a session must have been silent before it counts as gone: what was just written is still on its way.
const QUIET: Duration = Duration::from_secs(4);

/// Whether a session is still there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionLife {
    /// Nobody can say.
    #[default]
    Unknown,
    /// Its client runs, and this is what the client's list says of it.
    Runs(HostProgram),
    /// Its client has ended, was killed, or has left it for another session.
    Gone,
}

/// Notes which process has this session, for whoever asks later whether it is still there.
pub fn note(loops: &Loops, session: &str, transcript: Option<&dyn Transcript>) {
    // A loop that lives without it is as good: it then takes an hour of silence until it counts as left behind.
    let _ = loops.note_client(session, client_of(session, transcript).as_ref());
}

/// The process that has this session, and has started this hook; `None` where its client does not list it.
pub fn client_of(session: &str, transcript: Option<&dyn Transcript>) -> Option<ClientProcess> {
    let programs = transcript.map(Transcript::programs).unwrap_or_default();
    let space = id_space();
    let is_own = |program: &HostProgram| {
        // The list may still have the session that the program began with; but it has started this hook.
        (program.id == processes::parent_id() || program.session == session)
            && is_here(program, &space)
            && ProcessLife::of(program.id).is_of(program.start)
    };
    let HostProgram { id, start, .. } = programs.into_iter().find(is_own)?;
    Some(ClientProcess { id, start, space, at: world::now() })
}

/// Returns whether the session of this loop is still there.
pub fn of(loops: &Loops, record: &Record) -> SessionLife {
    let space = id_space();
    let programs = transcript_at(&record.transcript).programs();
    let mut has_left = false;
    for program in programs.iter().filter(|it| it.session == record.session) {
        if !is_here(program, &space) {
            return SessionLife::Unknown;
        }
        match ProcessLife::of(program.id) {
            ProcessLife::Hidden => return SessionLife::Unknown,
            life if life.is_of(program.start) => return SessionLife::Runs(program.clone()),
            _ => has_left |= !program.space.is_empty(),
        }
    }
    let mut quiet = record.silent_for();
    if let Some(known) = loops.client(&record.session).filter(|known| known.space == space) {
        let has_another = programs.iter().any(|it| it.id == known.id && is_here(it, &space));
        match ProcessLife::of(known.id) {
            ProcessLife::Hidden => return SessionLife::Unknown,
            life if life.is_of(known.start) && !has_another => {
                return SessionLife::Runs(HostProgram::default());
            }
            _ => has_left = true,
        }
        quiet = quiet.min(known.at.age());
    }
    if has_left && quiet >= QUIET { SessionLife::Gone } else { SessionLife::Unknown }
}

impl SessionLife {
    /// Returns whether a loop counts as left behind: it lives, no person has paused it, and its session is gone or has
    /// been silent for an hour.
    pub fn leaves_behind(&self, record: &Record) -> bool {
        record.is_orphaned() || (record.may_be_left_behind() && *self == Self::Gone)
    }
}

/// Whether the id of a listed process means the same here. An older client does not say where it does: what then is no
/// process of ours is not known by the list alone.
fn is_here(program: &HostProgram, space: &str) -> bool {
    program.space.is_empty() || program.space == space
}
