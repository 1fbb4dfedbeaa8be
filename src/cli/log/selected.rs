//! The loops of the journals that are shown.

use anyhow::Result;

use super::lines::{LoggedLoop, RUNNER};
use crate::cli::handle::{LoopHandle, LoopName, NameKind};
use crate::cli::names::TypedName;
use crate::feature::project::{Project, is_feature_name};
use crate::store::loops::{Loops, TERMINAL};

/// The names of the loops that are shown. An error for several candidates, or if no loop has the name and none is waited
/// for. A session's name includes the sessions that its loop was taken over from.
pub fn names_to_show(
    typed: TypedName<'_>,
    known: &[LoopHandle],
    project: Option<&Project>,
    waits: bool,
) -> Result<Vec<LoopName>> {
    let mut names = typed.find(known, project)?;
    if names.is_empty() {
        if !waits {
            return Err(typed.unknown(known));
        }
        let kinds = [NameKind::Session, NameKind::Feature, NameKind::Change, NameKind::Task];
        let meant = kinds.into_iter().filter(|kind| typed.kind.is_none_or(|meant| meant == *kind));
        return Ok(meant.map(|kind| LoopName::new(kind, typed.text)).collect());
    }
    let is_session = |name: &&LoopName| name.kind == NameKind::Session;
    if let (Some(project), Some(session)) = (project, names.iter().find(is_session)) {
        let all = with_forerunners(&Loops::of(&project.root), &session.id);
        names.extend(all.iter().map(|session| LoopName::new(NameKind::Session, session)));
    }
    Ok(names)
}

/// A session, and those that its loop was taken over from.
pub fn with_forerunners(loops: &Loops, session: &str) -> Vec<String> {
    let mut all = vec![session.to_owned()];
    while let Some(from) = all.last().and_then(|last| loops.peek(last)?.adopted)
        && !all.contains(&from.from)
    {
        all.push(from.from);
    }
    all
}

/// Whether the loop has one of these names; `None` stands for all.
pub fn is_shown(names: Option<&[LoopName]>, logged: &LoggedLoop) -> bool {
    names.is_none_or(|names| handle_of(logged).is_one_of(names))
}

pub fn handle_of(logged: &LoggedLoop) -> LoopHandle {
    let about = match logged.whose.as_str() {
        RUNNER => NameKind::Change,
        _ if is_feature_name(&logged.about) && !logged.about.contains(' ') => NameKind::Feature,
        _ => NameKind::Task,
    };
    let session = Some(logged.whose.as_str()).filter(|whose| ![RUNNER, TERMINAL].contains(whose));
    LoopHandle::named([(NameKind::Session, session.unwrap_or_default()), (about, &logged.about)])
}
