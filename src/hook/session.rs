//! A session continues after a compaction or a resume: one paragraph reminds the agent of its work.

use super::stop;
use crate::feature::project::{Project, printable};
use crate::feature::settings::Settings;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::{EventKind, HookAnswer, HookEvent};
use crate::session::adopt::{Adopter, adopt};
use crate::session::messages::feature as messages;
use crate::session::view::FeatureView;
use crate::session::{life, pinned};
use crate::store::loops::{Loops, Record, is_session_id};
use crate::store::names::LoopKind;

/// Silence for a session without a live loop.
pub fn answer(event: &HookEvent) -> HookAnswer {
    paragraph(event).map_or_else(HookAnswer::silent, HookAnswer::session_context)
}

/// A session's live loop with its project, unless the settings switch loops off.
pub fn live_loop(event: &HookEvent) -> Option<(Project, Loops, Record)> {
    live(event).filter(|(project, ..)| !Settings::switch_off(&project.root))
}

fn live(event: &HookEvent) -> Option<(Project, Loops, Record)> {
    let session = Some(&event.session).filter(|session| is_session_id(session))?;
    let project = stop::project(event)?;
    let loops = Loops::of(&project.root);
    let record = loops.peek(session).filter(|record| record.ledger.is_live())?;
    Some((project, loops, record))
}

/// The paragraph for a session that follows one with a live loop in the same process: the loop continues there.
pub fn carried_over(event: &HookEvent) -> Option<HookAnswer> {
    let (session, transcript) = (&event.session, event.transcript.as_deref());
    let own = is_session_id(session).then(|| life::client_of(session, transcript))??;
    let start = event.started_in.as_ref().or(event.cwd.as_ref())?;
    let project = Project::with_loops(start, None)?;
    let loops = Loops::of(&project.root);
    let is_own = |left: &Record| {
        let client = loops.client(&left.session);
        client
            .is_some_and(|id| (id.id, id.start, id.space) == (own.id, own.start, own.space.clone()))
    };
    let left = loops.live_records().into_iter().find(is_own);
    let left = left.filter(|_| !Settings::switch_off(&project.root))?;
    let adopter = Adopter {
        session,
        transcript: event.transcript_path(),
        from: Some(&left.session),
        force: true,
        replace: false,
    };
    match adopt(&project, adopter) {
        Ok(taken) => {
            life::note(&loops, session, transcript);
            let how = match left.pause().filter(|pause| !pause.ends_by_itself()) {
                Some(_) => "is paused in this session, too\nTo let it go on: `spool resume`",
                None => "goes on in this session\nTo stop it: Esc, then /speckit:cancel",
            };
            let line = format!("Ralph-speckit: the loop of {} {how}", printable(&left.about));
            Some(HookAnswer::session_context(taken.contract).also_notify(&line))
        }
        Err(refusal) => Some(HookAnswer::notify(&format!(
            "Ralph-speckit: the loop of {} stayed with the session before: {refusal}",
            printable(&left.about)
        ))),
    }
}

fn paragraph(event: &HookEvent) -> Option<String> {
    let (project, loops, record) = live(event)?;
    life::note(&loops, &record.session, event.transcript.as_deref());
    if event.kind == (EventKind::Resumed { taken_up: true }) {
        note_taken_up(&loops, event);
    }
    let is_paused = record.pause().is_some_and(|pause| !pause.ends_by_itself());
    if is_paused || Settings::switch_off(&project.root) {
        return None;
    }
    if record.kind == LoopKind::Task {
        let folder = loops.folder().join(&record.session);
        return Some(crate::session::messages::task::reminder(&record, &folder));
    }
    let feature = project.feature_at(&record.folder).ok()?;
    let standing = pinned::standing(&project.root, &record);
    let view = FeatureView::under(&project, &feature, standing, Some(&record));
    let snapshot = Some(view.snapshot()).filter(FeatureSnapshot::in_execution)?;
    Some(messages::reminder(&snapshot, &record, &view.standing))
}

/// Notes the transcript's length: nobody takes up what an earlier process of the client had in its queue.
fn note_taken_up(loops: &Loops, event: &HookEvent) {
    let length = event.transcript_path().and_then(|path| std::fs::metadata(path).ok());
    // Without the note, the rest of that queue lets one stop go.
    let _ = loops.note_taken_up(&event.session, length.map_or(0, |meta| meta.len()));
}
