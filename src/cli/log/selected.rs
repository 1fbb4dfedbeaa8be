//! Which loops of the journals are shown.

use anyhow::Result;

use super::lines::{LoggedLoop, RUNNER};
use crate::cli::names::{LoopName, NameKind, TypedName};
use crate::feature::project::{Project, is_feature_name};
use crate::store::loops::TERMINAL;

/// Which loops are shown.
#[derive(Clone, Debug, Default)]
pub struct ShownLoops {
    /// Those with one of these names, `None` for all.
    names: Option<Vec<LoopName>>,
}

impl ShownLoops {
    /// Returns those that are meant by a name; an error when it may be several, or when no loop is called so and none is waited
    /// for. A session's name stands for those that its loop was taken over from as well.
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
        let sessions: Vec<String> = names
            .iter()
            .filter(|it| it.kind == NameKind::Session)
            .flat_map(|it| forerunners(&it.id))
            .collect();
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

    /// Returns whether a loop is among them.
    pub fn has(&self, it: &LoggedLoop) -> bool {
        let is_named = |names: &Vec<LoopName>| names_of(it).iter().any(|it| names.contains(it));
        self.names.as_ref().is_none_or(is_named)
    }
}

/// Returns all that a loop in a journal is called.
pub fn names_of(it: &LoggedLoop) -> Vec<LoopName> {
    let about = match it.whose.as_str() {
        RUNNER => NameKind::Change,
        _ if is_feature_name(&it.about) && !it.about.contains(' ') => NameKind::Feature,
        _ => NameKind::Task,
    };
    let session = Some(it.whose.as_str()).filter(|whose| ![RUNNER, TERMINAL].contains(whose));
    let session = session.map(|session| LoopName::new(NameKind::Session, session));
    session.into_iter().chain([LoopName::new(about, &it.about)]).collect()
}
