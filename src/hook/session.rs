//! `SessionStart` after a compaction or a resume: one paragraph, so that the agent goes on where it was.

use crate::feature::project::Project;
use crate::feature::settings::Settings;
use crate::feature::snapshot::FeatureSnapshot;
use crate::hosts::claude::answer::Answer;
use crate::hosts::claude::input::Event;
use crate::session::messages::feature as messages;
use crate::store::loops::{Loops, is_session_id};
use crate::store::names::LoopKind;
use crate::world;

/// Returns the paragraph for a session with a live loop; silence for all others.
pub fn answer(event: &Event) -> Answer {
    if !matches!(event.source(), "compact" | "resume") {
        return Answer::silent();
    }
    let paragraph = paragraph(event);
    paragraph.map_or_else(Answer::silent, |text| Answer::context("SessionStart", &text))
}

fn paragraph(event: &Event) -> Option<String> {
    let session = event.session();
    if !is_session_id(session) {
        return None;
    }
    let cwd = event.cwd().or_else(|| world::folder("CLAUDE_PROJECT_DIR"))?;
    let project = Project::around_session(&cwd, session)?;
    let loops = Loops::of(&project.root);
    let record = loops.peek(session)?;
    if record.pause().is_some_and(|pause| !pause.ends_by_itself()) {
        // Whoever paused the loop does not want the agent to go on by itself.
        return None;
    }
    if record.kind == LoopKind::Task {
        let ours = record.ledger.is_live() && !Settings::switch_off(&project.root);
        let folder = loops.folder().join(session);
        return ours.then(|| crate::session::messages::task::reminder(&record, &folder));
    }
    let ours = record.ledger.is_live() && !Settings::switch_off(&project.root);
    let feature = project.feature_at(&record.folder).ok().filter(|_| ours)?;
    let snapshot = FeatureSnapshot::read(&feature).filter(FeatureSnapshot::in_execution)?;
    Some(messages::reminder(&snapshot, &record.ledger))
}
