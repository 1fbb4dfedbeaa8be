//! What spec-kit asks for around the implementation of a feature, as its own implement command does.

use super::change::{Change, ChangeKind};
use crate::feature::converge::ConvergeCommand;
use crate::feature::project::Project;
use crate::feature::{checklists, extensions};
use crate::session::messages::shortfall::hooks_in_words;
use crate::store::due::ExtensionHooks;

/// What spec-kit asks for around a change; nothing where the change is no feature of spec-kit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecKitRules {
    /// The extension hooks that have to run.
    pub hooks: ExtensionHooks,
    /// The checklists that are open, a few words each.
    pub open_checklists: Vec<String>,
    /// The command that has to compare code and specification before the end; `None` where it was not asked for.
    pub converge: Option<ConvergeCommand>,
    /// What is wrong with the file of the hooks.
    pub wrong: Vec<String>,
}

impl SpecKitRules {
    /// Returns what holds for a change.
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

    /// Returns which hooks have to run when, in a few words; empty for none.
    pub fn hooks_in_words(&self) -> String {
        hooks_in_words(&self.hooks)
    }
}
