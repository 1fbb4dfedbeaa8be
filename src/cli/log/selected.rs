//! The loops of the journals that are shown.

use anyhow::Result;

use super::lines::{LoggedLoop, RUNNER};
use crate::cli::names::{LoopName, NameKind, TypedName};
use crate::feature::project::{Project, is_feature_name};
use crate::store::loops::TERMINAL;

#[derive(Clone, Debug, Default)]
pub struct ShownLoops {
    /// `None` for all loops.
    names: Option<Vec<LoopName>>,
}

impl ShownLoops {
    /// An error for several candidates, or if no loop has the name and none is waited for. A session's name includes
    /// the sessions that its loop was taken over from.
    pub fn of(
        typed: TypedName<'_>,
        all: &[LoopName],
        project: Option<&Project>,
        forerunners: impl Fn(&str) -> Vec<String>,
        waits: bool,
    ) -> Result<Self> {
        let mut known: Vec<LoopName> = Vec::new();
        for name in all {
            if !known.contains(name) {
                known.push(name.clone());
            }
        }
        let mut names = typed.find(&known, project)?;
        if names.is_empty() && !waits {
            return Err(typed.unknown(&known));
        }
        let sessions = names.iter().filter(|name| name.kind == NameKind::Session);
        let sessions: Vec<String> = sessions.flat_map(|name| forerunners(&name.id)).collect();
        for session in sessions {
            names.push(LoopName::new(NameKind::Session, &session));
        }
        if names.is_empty() {
            let kinds = [NameKind::Session, NameKind::Feature, NameKind::Change, NameKind::Task];
            let is_meant = |kind: &NameKind| typed.kind.is_none_or(|meant| meant == *kind);
            let kinds = kinds.into_iter().filter(is_meant);
            names.extend(kinds.map(|kind| LoopName::new(kind, typed.text)));
        }
        Ok(Self { names: Some(names) })
    }

    pub fn has(&self, logged: &LoggedLoop) -> bool {
        let is_named = |all: &Vec<LoopName>| names_of(logged).iter().any(|one| all.contains(one));
        self.names.as_ref().is_none_or(is_named)
    }
}

/// Every name of a loop in a journal.
pub fn names_of(logged: &LoggedLoop) -> Vec<LoopName> {
    let about = match logged.whose.as_str() {
        RUNNER => NameKind::Change,
        _ if is_feature_name(&logged.about) && !logged.about.contains(' ') => NameKind::Feature,
        _ => NameKind::Task,
    };
    let session = Some(logged.whose.as_str()).filter(|whose| ![RUNNER, TERMINAL].contains(whose));
    let session = session.map(|session| LoopName::new(NameKind::Session, session));
    session.into_iter().chain([LoopName::new(about, &logged.about)]).collect()
}
