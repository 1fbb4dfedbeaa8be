//! Spec-kit's rules around the implementation of a feature, as in its own implement command.

use super::change::{Change, ChangeKind};
use crate::feature::converge::ConvergeCommand;
use crate::feature::project::Project;
use crate::feature::{checklists, extensions};
use crate::session::messages::shortfall::hooks_in_words;
use crate::store::due::ExtensionHooks;

/// Spec-kit's rules for a change; empty unless the change is a feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecKitRules {
    /// The extension hooks that have to run.
    pub hooks: ExtensionHooks,
    /// The open checklists, in a few words each.
    pub open_checklists: Vec<String>,
    /// The command that compares code and specification before the end, if asked for.
    pub converge: Option<ConvergeCommand>,
    /// What is wrong with the hooks' file.
    pub wrong: Vec<String>,
}

impl SpecKitRules {
    pub fn of(change: &Change) -> Self {
        if change.kind != ChangeKind::SpecKit {
            return Self::default();
        }
        let project = Project { root: change.root.clone() };
        let feature = project.feature(&change.id).ok();
        let open_checklists = feature.map(|feature| checklists::named(&feature));
        let (hooks, wrong) = extensions::mandatory(&change.root);
        let open_checklists = open_checklists.unwrap_or_default();
        Self { hooks, open_checklists, converge: None, wrong }
    }

    /// The hooks and when they have to run; empty for none.
    pub fn hooks_in_words(&self) -> String {
        hooks_in_words(&self.hooks)
    }
}
