//! A session continues after a compaction or a resume: one paragraph, so that the agent continues where it was.

use crate::feature::project::Project;
use crate::feature::settings::Settings;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::{EventKind, HookAnswer, HookEvent};
use crate::session::life;
use crate::session::messages::feature as messages;
use crate::session::pinned;
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::LoopKind;

/// Returns the paragraph for a session with a live loop; silence for all others.
pub fn answer(event: &HookEvent) -> HookAnswer {
    paragraph(event).map_or_else(HookAnswer::silent, HookAnswer::session_context)
}

fn paragraph(event: &HookEvent) -> Option<String> {
    let session = &event.session;
    if !is_session_id(session) {
        return None;
    }
    let cwd = event.cwd.as_ref().or(event.started_in.as_ref())?;
    let project = Project::around_session(cwd, session)?;
    let loops = Loops::of(&project.root);
    let record = loops.peek(session)?;
    if record.ledger.is_live() {
        life::note(&loops, session, event.transcript.as_deref());
        if event.kind == (EventKind::Resumed { taken_up: true }) {
            note_taken_up(&loops, event);
        }
    }
    if record.pause().is_some_and(|pause| !pause.ends_by_itself()) {
        return None;
    }
    if record.kind == LoopKind::Task {
        let ours = record.ledger.is_live() && !Settings::switch_off(&project.root);
        let folder = loops.folder().join(session);
        return ours.then(|| crate::session::messages::task::reminder(&record, &folder));
    }
    let ours = record.ledger.is_live() && !Settings::switch_off(&project.root);
    let feature = project.feature_at(&record.folder).ok().filter(|_| ours)?;
    let standing = pinned::standing(&project.root, &record);
    let snapshot = Some(FeatureSnapshot::of_loop(&feature, &standing, Some(&record)));
    let snapshot = snapshot.filter(FeatureSnapshot::in_execution)?;
    Some(messages::reminder(&snapshot, &record, &standing))
}

/// Notes how long the transcript is now: what an earlier process of the client had on its queue, nobody takes up again.
fn note_taken_up(loops: &Loops, event: &HookEvent) {
    let length = event.transcript_path().and_then(|path| std::fs::metadata(path).ok());
    // Without it, what is left on that queue lets one stop go.
    let _ = loops.note_taken_up(&event.session, length.map_or(0, |meta| meta.len()));
}
