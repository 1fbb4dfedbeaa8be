//! A change that a loop can work on, and spec-kit's rules around the implementation of a feature.

use std::path::PathBuf;

use super::names;
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::feature::converge::ConvergeCommand;
use crate::feature::lists::names_in;
use crate::feature::project::{Feature, Project};
use crate::feature::{checklists, extensions};
use crate::store::due::ExtensionHooks;
use crate::store::read;
use crate::system::names::with_slashes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// `.spool/changes/<id>/`.
    Spool,
    /// `openspec/changes/<id>/`.
    OpenSpec,
    /// A spec-kit feature.
    SpecKit,
}

/// A change that a loop can work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The folder's name, validated: no `/`, no `..`, no control characters, no leading `-`.
    pub id: String,
    pub kind: ChangeKind,
    /// A real path within the project.
    pub folder: PathBuf,
    /// The project's folder, a real path.
    pub root: PathBuf,
    /// The root of the git work tree around the project, or the project; a real path.
    pub worktree: PathBuf,
    /// Such as `002` of `002-01_add-ralph-loop`.
    pub module: Option<String>,
}

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

impl Change {
    /// The document that says what is wanted: `proposal.md`, or a feature's `spec.md`.
    pub fn primary(&self) -> &'static str {
        match self.kind {
            ChangeKind::Spool | ChangeKind::OpenSpec => "proposal.md",
            ChangeKind::SpecKit => "spec.md",
        }
    }

    /// The change as a feature, whose loops in sessions and receipts have its name.
    pub fn feature(&self) -> Feature {
        let relative = self.folder.strip_prefix(&self.root).unwrap_or(&self.folder);
        let (name, folder) = (self.id.clone(), self.folder.clone());
        Feature { name, folder, relative: with_slashes(relative) }
    }

    /// The change's own task list, or the one at the root of the work tree (spec 001). A link out of its folder is no
    /// list.
    pub fn tasks(&self) -> Option<PathBuf> {
        let mut folders = [&self.folder, &self.worktree].into_iter();
        folders.find(|folder| task_list::is_in(folder)).map(|folder| folder.join(TASKS))
    }

    /// `None` without a list, and while the list is unreadable.
    pub fn task_list(&self) -> Option<TaskFile> {
        task_list::read(self.tasks()?.parent()?).ok()
    }

    /// A line to choose from: the id, and how many tasks are done.
    pub fn label(&self) -> String {
        let Ok(TaskFile { list, .. }) = task_list::read(&self.folder) else {
            return self.id.clone();
        };
        format!("{} ({} of {} tasks done)", self.id, list.done(), list.tasks.len())
    }

    /// The document about the change's module.
    ///
    /// `.spool/modules/002_runner/module.md`, `.spool/modules/002/module.md` or `.spool/modules/002_runner.md`; the
    /// first by name.
    pub fn module_file(&self) -> Option<PathBuf> {
        let modules = self.root.join(".spool").join("modules");
        let modules = read::folder_inside(&self.root, &modules).ok()?;
        let module = self.module.as_deref()?;
        let (mut names, _) = names_in(&modules);
        names.retain(|name| names::belongs_to_module(name, module));
        names.iter().find_map(|name| {
            let path = modules.join(name);
            let Ok(folder) = read::folder_inside(&self.root, &path) else {
                return path.extension().is_some_and(|end| end == "md").then_some(path);
            };
            let files = ["module.md", "README.md"].into_iter();
            files.map(|file| folder.join(file)).find(|file| file.is_file())
        })
    }
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
}
