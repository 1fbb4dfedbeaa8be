//! The loops of the journals that are shown.

use anyhow::Result;

use super::lines::LoggedLoop;
use crate::cli::context::Where;
use crate::cli::handle::{LoopHandle, LoopName, NameKind};
use crate::cli::names::TypedName;
use crate::feature::project::is_feature_name;
use crate::store::loops::{Loops, RUNNER, TERMINAL};

/// The names of the loops that are shown, among `all` that are logged and those that have no entry yet. An error for
/// several candidates, or if no loop has the name and none is waited for. A session's name includes the sessions that
/// its loop was taken over from.
pub fn names_to_show(
    typed: TypedName<'_>,
    mut all: Vec<LoopHandle>,
    place: &Where,
    waits: bool,
) -> Result<Vec<LoopName>> {
    let project = place.paths();
    all.extend(LoopHandle::all(project.as_ref(), place.runners().as_deref())?);
    let mut names = typed.find(&all, project.as_ref())?;
    if names.is_empty() {
        if !waits {
            return Err(typed.unknown(&all));
        }
        let kinds = [NameKind::Session, NameKind::Feature, NameKind::Change, NameKind::Task];
        let meant = kinds.into_iter().filter(|kind| typed.kind.is_none_or(|meant| meant == *kind));
        return Ok(meant.map(|kind| LoopName::new(kind, typed.text)).collect());
    }
    let loops = project.map(|project| Loops::of(&project.root));
    let is_session = |name: &&LoopName| name.kind == NameKind::Session;
    let mut session = names.iter().find(is_session).map(|name| name.id.clone());
    while let (Some(id), Some(loops)) = (session, &loops) {
        session = loops.peek(&id).and_then(|record| record.adopted).map(|from| from.from);
        let name = session.as_deref().map(|from| LoopName::new(NameKind::Session, from));
        match name.filter(|name| !names.contains(name)) {
            Some(name) => names.push(name),
            None => break,
        }
    }
    Ok(names)
}

/// Whether the loop has one of these names; no name stands for all.
pub fn is_shown(names: &[LoopName], logged: LoggedLoop<'_>) -> bool {
    names.is_empty() || handle_of(logged.whose(), logged.about()).is_one_of(names)
}

/// The names in a journal: its owner, and what its entries are about.
pub fn handle_of(whose: &str, about: &str) -> LoopHandle {
    let kind = match whose {
        RUNNER => NameKind::Change,
        _ if is_feature_name(about) && !about.contains(' ') => NameKind::Feature,
        _ => NameKind::Task,
    };
    let session = if [RUNNER, TERMINAL].contains(&whose) { "" } else { whose };
    LoopHandle::named([(NameKind::Session, session), (kind, about)])
}
