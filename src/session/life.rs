//! Whether a loop's session is still there, by its client's process. A process that cannot be seen is unknown, never
//! gone.

use std::time::Duration;

use crate::exec::alive::{ProcessLife, id_space};
use crate::feature::project::printable;
use crate::hosts::transcript::{HostProgram, Transcript};
use crate::hosts::transcript_at;
use crate::refusal::Refusal;
use crate::store::client::ClientProcess;
use crate::store::loops::{Loops, Record};
use crate::store::names::LoopKind;
use crate::system::processes;
use crate::text;
use crate::world;

/// A live loop that is silent for longer counts as left behind.
const SILENT: Duration = Duration::from_hours(1);
/// The silence after which a session counts as gone: a line that was just written may still be on its way.
const QUIET: Duration = Duration::from_secs(4);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionLife {
    #[default]
    Unknown,
    /// The client runs, and its list says this about it.
    Runs(HostProgram),
    /// The client has ended, was killed, or has gone on to another session.
    Gone,
}

/// Notes the session's process, to tell later whether the session is still there.
pub fn note(loops: &Loops, session: &str, transcript: Option<&dyn Transcript>) {
    // A missing note does no harm: the loop then counts as left behind after an hour of silence.
    let _ = loops.note_client(session, client_of(session, transcript).as_ref());
}

/// The process that has this session and started this hook; `None` if the client does not list it.
pub fn client_of(session: &str, transcript: Option<&dyn Transcript>) -> Option<ClientProcess> {
    let programs = transcript.map(Transcript::programs).unwrap_or_default();
    let space = id_space();
    let is_own = |program: &HostProgram| {
        // The list may still have the program's first session, but the program has started this hook.
        (program.id == processes::parent_id() || program.session == session)
            && is_here(program, &space)
            && ProcessLife::of(program.id).is_of(program.start)
    };
    let HostProgram { id, start, .. } = programs.into_iter().find(is_own)?;
    Some(ClientProcess { id, start, space, at: world::now() })
}

pub fn of(loops: &Loops, record: &Record) -> SessionLife {
    let space = id_space();
    let programs = transcript_at(&record.transcript).programs();
    let mut has_left = false;
    for program in programs.iter().filter(|program| program.session == record.session) {
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
        let has_another = programs.iter().any(|one| one.id == known.id && is_here(one, &space));
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

/// Refuses a takeover without `--force` while the session may be alive; `None` if the loop was left behind.
pub fn kept_from_others(loops: &Loops, record: &Record) -> Option<Refusal> {
    if of(loops, record).leaves_behind(record) {
        return None;
    }
    let (session, about) = (printable(&record.session), printable(&record.about));
    if record.pause().is_some_and(|pause| !pause.ends_by_itself()) {
        let what = format!("the loop of session {session} is paused");
        let next =
            format!("continue it with `spool resume --session {session}`, or take it with --force");
        return Some(Refusal::Kept(what.into(), next.into()));
    }
    let (of, cancel) = match record.kind {
        LoopKind::Task => ("", format!("cancel-ralph {session}")),
        _ => ("feature ", format!("cancel {about}")),
    };
    let what = format!(
        "session {session} works on {of}`{about}`: it gave a sign of life {} ago; a loop is taken over when its session is gone, or after an hour of silence",
        text::age(record.silent_for())
    );
    let next = format!(
        "let it work, end its loop with /speckit:{cancel}, or take the loop over with --force"
    );
    Some(Refusal::Kept(what.into(), next.into()))
}

impl SessionLife {
    /// The loop is left behind: it lives, no person has paused it, and its session is gone or has been silent for an
    /// hour.
    pub fn leaves_behind(&self, record: &Record) -> bool {
        let is_kept = record.pause().is_some_and(|pause| !pause.ends_by_itself());
        let has_left = *self == Self::Gone || record.silent_for() > SILENT;
        record.ledger.is_live() && !is_kept && has_left
    }
}

/// True if the program's process id may be from this id space. An older client does not name its space.
fn is_here(program: &HostProgram, space: &str) -> bool {
    program.space.is_empty() || program.space == space
}
