//! The documents of a change in a prompt: short ones in full, long ones by path and beginning.

use std::borrow::Cow;
use std::fmt::Write;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::engine::tasks::TaskList;
use crate::evidence::task_list::{self, TaskFile};
use crate::feature::HANDOFF;
use crate::runner::target::{Change, ChangeKind};
use crate::store::read::{self, Problem};
use crate::system::names;
use crate::text;
use crate::world::{self, Deadline};

/// The time in which an empty document is read again: an editor may be writing it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes read of a document: the task list is one.
const MOST: u64 = task_list::MOST;
/// Bytes quoted of the proposal.
const PROPOSAL: usize = 32 << 10;
/// Bytes of any other document that is quoted in full.
const OTHER: usize = 8 << 10;
/// Bytes quoted of a longer document.
const BEGINNING: usize = 2 << 10;
/// Open tasks of a long list that are named.
const OPEN: usize = 20;
/// Further documents that are named.
const NAMED: usize = 40;
/// Levels of folders that are searched for further documents.
const DEEPEST: usize = 3;
/// Entries of one folder that are looked at.
const MOST_ENTRIES: usize = 1_000;
/// Characters of a task's title.
const TITLE: usize = 160;

/// A change's documents, in the order of the prompt.
pub struct Documents<'a> {
    change: &'a Change,
    primary: PathBuf,
    others: Vec<Document>,
    /// Only named.
    more: Vec<PathBuf>,
    /// The task list, if it was just read.
    pub list: Option<&'a TaskFile>,
}

struct Document {
    what: &'static str,
    path: PathBuf,
    is_list: bool,
}

impl<'a> Documents<'a> {
    /// The existing documents.
    pub fn of(change: &'a Change, tasks: Option<&Path>) -> Self {
        let mut others = Vec::new();
        let mut add = |what, path: PathBuf, is_list| {
            if path.is_file() {
                others.push(Document { what, path, is_list });
            }
        };
        let design = match change.kind {
            ChangeKind::Spool | ChangeKind::OpenSpec => "design.md",
            ChangeKind::SpecKit => "plan.md",
        };
        add("The design", change.folder.join(design), false);
        if let Some(tasks) = tasks {
            add("The tasks", tasks.to_owned(), true);
        }
        add("The handoff of an earlier loop", change.folder.join(HANDOFF), false);
        if let Some(module) = change.module_file() {
            add("The module", module, false);
        }
        let more = more_documents(change);
        let primary = change.folder.join(change.primary());
        Self { change, primary, others, more, list: None }
    }

    /// An error if the proposal cannot be read.
    pub fn quote(&self, text: &mut String) -> Result<()> {
        let read_now = || read(self.change, &self.primary);
        let (mut found, deadline) = (read_now(), Deadline::after(PATIENCE));
        while found.as_ref().is_ok_and(|text| text.trim().is_empty()) && !deadline.is_over() {
            world::pause(PATIENCE / 60);
            found = read_now();
        }
        let proposal = match found {
            Ok(proposal) if !proposal.trim().is_empty() => proposal,
            // A feature may have nothing but its list.
            Ok(_) | Err(Problem::Missing)
                if self.change.kind == ChangeKind::SpecKit && !self.others.is_empty() =>
            {
                String::new()
            }
            Ok(_) => bail!("`{}` is empty\nwrite into it what is wanted", self.primary.display()),
            Err(problem) => bail!(
                "`{}` cannot be read: {problem}\na loop needs it to know what is wanted",
                self.primary.display()
            ),
        };
        if !proposal.is_empty() {
            self.head(text, "The proposal", &self.primary);
            self.body(text, &self.primary, &proposal, PROPOSAL, PROPOSAL);
        }
        for document in &self.others {
            self.head(text, document.what, &document.path);
            let list = self.list.filter(|_| document.is_list);
            let known = list.map(|file| Ok(String::from_utf8_lossy(&file.bytes)));
            let content = || read(self.change, &document.path).map(Cow::Owned);
            match known.unwrap_or_else(content) {
                Ok(content) if document.is_list && content.len() > OTHER => {
                    self.open_tasks(text, &document.path, &content);
                }
                Ok(content) => self.body(text, &document.path, &content, OTHER, BEGINNING),
                Err(problem) => {
                    let _ = writeln!(text, "It cannot be quoted here: {problem}.");
                }
            }
        }
        if !self.more.is_empty() {
            text.push_str(
                "\n# More documents of the change\n\nRead those that your task touches:\n",
            );
            self.list_more(text);
        }
        Ok(())
    }

    fn list_more(&self, text: &mut String) {
        for path in self.more.iter().take(NAMED) {
            let _ = writeln!(text, "- `{}`", text::line(&shown(self.change, path)));
        }
        if self.more.len() > NAMED {
            let _ = writeln!(text, "- … and {} more beside them", self.more.len() - NAMED);
        }
    }

    /// Names the documents for an agent that has read them.
    pub fn name(&self, text: &mut String) {
        text.push_str("\n# The documents\n\n");
        let _ = writeln!(text, "- The proposal: `{}`", shown(self.change, &self.primary));
        for document in &self.others {
            let _ = writeln!(text, "- {}: `{}`", document.what, shown(self.change, &document.path));
        }
        self.list_more(text);
    }

    /// A line for each document.
    pub fn described(&self) -> Vec<String> {
        let first = ("The proposal", &self.primary, PROPOSAL);
        let others = self.others.iter().map(|document| (document.what, &document.path, OTHER));
        let line = |(what, path, most): (&str, &PathBuf, usize)| {
            let part = match read(self.change, path) {
                Ok(content) if content.len() <= most => "whole".to_owned(),
                Ok(content) => format!("its beginning, of {} bytes", content.len()),
                Err(problem) => format!("not read: {problem}"),
            };
            let what = what.trim_start_matches("The ");
            format!("{what}: {} ({part})", shown(self.change, path))
        };
        let more = self.more.iter().take(NAMED);
        let more = more.map(|path| format!("more: {} (named)", shown(self.change, path)));
        std::iter::once(first).chain(others).map(line).chain(more).collect()
    }

    fn head(&self, text: &mut String, what: &str, path: &Path) {
        let _ = write!(text, "\n# {what}: `{}`\n\n", shown(self.change, path));
    }

    fn body(&self, text: &mut String, path: &Path, content: &str, whole: usize, part: usize) {
        if content.len() <= whole {
            let _ = writeln!(text, "{}", content.trim_end());
            return;
        }
        let _ = write!(
            text,
            "{}\n\n[This is the beginning. Read the rest of `{}` before you work on what it is about.]\n",
            beginning(content, part),
            shown(self.change, path)
        );
    }

    /// The state of a list that is too long to be quoted at every iteration.
    fn open_tasks(&self, text: &mut String, path: &Path, content: &str) {
        let parsed = || Cow::Owned(TaskList::parse(content.as_bytes()));
        let list = self.list.map_or_else(parsed, |file| Cow::Borrowed(&file.list));
        let open = list.tasks.len() - list.done();
        let path = shown(self.change, path);
        let _ = writeln!(
            text,
            "{open} of {} tasks are open. Read `{path}` for the details of those that you work on. The first open ones:",
            list.tasks.len()
        );
        for task in list.open().take(OPEN) {
            let title: String = task.title.chars().take(TITLE).collect();
            let id = if task.has_own_id() { format!("{} ", task.id) } else { String::new() };
            let _ = writeln!(text, "- [ ] {id}{title}");
        }
    }
}

/// Documents of spec-kit's plan, and deltas of the specs.
fn more_documents(change: &Change) -> Vec<PathBuf> {
    let (files, folder): (&[&str], &str) = match change.kind {
        ChangeKind::SpecKit => (&["research.md", "data-model.md", "quickstart.md"], "contracts"),
        ChangeKind::Spool | ChangeKind::OpenSpec => (&[], "specs"),
    };
    let mut more: Vec<PathBuf> = files.iter().map(|name| change.folder.join(name)).collect();
    more.retain(|path| path.is_file());
    more.extend(files_below(&change.folder.join(folder), DEEPEST));
    more
}

/// Files in a folder and below, by name, without hidden ones and links.
fn files_below(folder: &Path, levels: usize) -> Vec<PathBuf> {
    let is_shown = |entry: &DirEntry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|name| !name.starts_with('.') && text::is_plain(name))
    };
    let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    let entries = is_folder.then(|| std::fs::read_dir(folder).ok()).flatten();
    let mut entries: Vec<DirEntry> =
        entries.into_iter().flatten().flatten().take(MOST_ENTRIES).filter(is_shown).collect();
    entries.sort_by_key(DirEntry::file_name);
    let mut found = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && levels > 0 => {
                found.extend(files_below(&entry.path(), levels - 1));
            }
            _ => {}
        }
    }
    found
}

/// The path for a prompt: relative to the work tree if it is inside.
pub fn shown(change: &Change, path: &Path) -> String {
    names::with_slashes(path.strip_prefix(&change.worktree).unwrap_or(path))
}

/// A document's text. A link out of the project or its work tree is refused.
fn read(change: &Change, path: &Path) -> Result<String, Problem> {
    let folder = path.parent().unwrap_or(&change.folder);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = read::folder_inside(&change.worktree, folder)
        .or_else(|_| read::folder_inside(&change.root, folder))?;
    let content = read::read_in(&folder, &name, MOST)?;
    Ok(String::from_utf8_lossy(&content.bytes).into_owned())
}

/// The first lines, in at most `most` bytes.
fn beginning(text: &str, most: usize) -> &str {
    let text = &text[..text.floor_char_boundary(most)];
    text.rfind('\n').map_or(text, |line| text[..line].trim_end())
}
