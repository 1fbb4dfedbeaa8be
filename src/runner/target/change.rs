//! A change that a loop can work on.

use std::path::{Path, PathBuf};

use super::names::{self, names_in};
use crate::engine::tasks::TaskList;
use crate::evidence::task_list::{self, MOST, TASKS, TaskFile};
use crate::feature::project::is_feature_name;
use crate::store::read;

/// The most folders of a change that are searched for lists.
const MOST_FOLDERS: usize = 1_000;
/// The most that is read of a file of OpenSpec, in bytes.
const MOST_OF_YAML: u64 = 64 << 10;
/// A folder whose documents are lists.
const LIST_FOLDER: &str = "tasks";

/// What kind of project a change is in.
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
    /// Its id, the name of its folder; checked: no `/`, no `..`, no control characters, no leading `-`.
    pub id: String,
    /// Where it is.
    pub kind: ChangeKind,
    /// Its folder, a real path inside the project.
    pub folder: PathBuf,
    /// The project's folder, a real path.
    pub root: PathBuf,
    /// The work tree, a real path: the root of the git work tree around the project, or the project.
    pub worktree: PathBuf,
    /// Its module, `002` of `002-01_add-ralph-loop`.
    pub module: Option<String>,
}

impl Change {
    /// Returns the name of the document that says what is wanted: `proposal.md`, or `spec.md` of a feature.
    pub fn primary(&self) -> &'static str {
        match self.kind {
            ChangeKind::Spool | ChangeKind::OpenSpec => "proposal.md",
            ChangeKind::SpecKit => "spec.md",
        }
    }

    /// Returns the task list: the change's own, or the one at the root of the work tree (spec 001);
    /// `None` where there is neither. A link out of its folder is no list.
    pub fn tasks(&self) -> Option<PathBuf> {
        let mut folders = [&self.folder, &self.worktree].into_iter();
        folders.find(|folder| task_list::is_in(folder)).map(|it| it.join(TASKS))
    }

    /// Returns the same, read; `None` also where it cannot be read at the moment.
    pub fn task_list(&self) -> Option<TaskFile> {
        task_list::read(self.tasks()?.parent()?).ok()
    }

    /// Returns the lists of the change that no loop goes by, by their names in its folder: those in folders inside of it, those in
    /// capitals, documents in a folder `tasks`, and what its schema of OpenSpec calls its list. A list that cannot be read is one of them.
    pub fn other_lists(&self) -> Vec<String> {
        let (tracked, mut found) = (self.tracked(), Vec::new());
        let mut folders = vec![String::new()];
        for at in 0.. {
            let Some(inside) = folders.get(at).cloned() else { break };
            if at == MOST_FOLDERS {
                found.push(format!("what is in `{inside}` and more folders than are searched"));
                break;
            }
            let folder = self.folder.join(&inside);
            for name in names_in(&folder).0 {
                let path = format!("{inside}{name}");
                let is_list = inside
                    .rsplit('/')
                    .nth(1)
                    .is_some_and(|name| name.eq_ignore_ascii_case(LIST_FOLDER))
                    && is_markdown(&name)
                    || name.eq_ignore_ascii_case(TASKS)
                    || tracked.as_deref().is_some_and(|tracked| is_called(&path, tracked));
                if folder.join(&name).is_dir() {
                    folders.push(path + "/");
                } else if is_list && path != TASKS && has_work(&folder, &name) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// What the schema of this change of OpenSpec calls the list of tasks.
    fn tracked(&self) -> Option<String> {
        let openspec = self.root.join("openspec");
        let own = value_of(&self.folder, ".openspec.yaml", "schema");
        let of_project = || {
            ["config.yaml", "config.yml"]
                .iter()
                .find_map(|name| value_of(&openspec, name, "schema"))
        };
        let schema = own.or_else(of_project)?;
        let schemas = openspec.join("schemas");
        is_feature_name(&schema)
            .then(|| value_of(&schemas.join(schema), "schema.yaml", "tracks"))?
    }

    /// Returns a line for a person who has to choose: the id, and how many tasks are done.
    pub fn label(&self) -> String {
        let Ok(TaskFile { list, .. }) = task_list::read(&self.folder) else {
            return self.id.clone();
        };
        format!("{} ({} of {} tasks done)", self.id, list.done(), list.tasks.len())
    }

    /// Returns the document that describes the change's module, `None` where there is none.
    ///
    /// `.spool/modules/002_runner/module.md`, `.spool/modules/002/module.md` or
    /// `.spool/modules/002_runner.md`; the first in the order of the alphabet.
    pub fn module_file(&self) -> Option<PathBuf> {
        let modules = self.root.join(".spool").join("modules");
        let modules = read::folder_inside(&self.root, &modules).ok()?;
        let module = self.module.as_deref()?;
        let (mut names, _) = names::names_in(&modules);
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

/// Whether a box of a list is open, also one that does not count, or may be: the list cannot be read.
fn has_work(folder: &Path, name: &str) -> bool {
    let list = read::read_in(folder, name, MOST).map(|file| TaskList::parse(&file.bytes));
    list.map_or(true, |list| list.open().next().is_some() || list.uncounted().is_some())
}

fn is_markdown(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"))
}

/// The value of a key in a file of YAML, at any depth.
fn value_of(folder: &Path, name: &str, key: &str) -> Option<String> {
    let file = read::read_in(folder, name, MOST_OF_YAML).ok()?;
    let text = String::from_utf8_lossy(&file.bytes);
    let value = |line: &str| {
        let value = line.trim().strip_prefix(key)?.strip_prefix(':')?.split(" #").next()?;
        Some(value.trim().trim_matches(['"', '\'']).to_owned())
    };
    text.lines().find_map(value)
}

/// Whether a path is the one that a schema names, where a star stands for anything.
fn is_called(path: &str, tracked: &str) -> bool {
    let tracked = tracked.trim_start_matches("./");
    match tracked.split_once('*') {
        Some((start, end)) => {
            path.starts_with(start) && path.ends_with(end.trim_start_matches(['*', '/']))
        }
        None => path == tracked,
    }
}
