//! The files of a work tree that git tracks or does not ignore, from names, sizes and times alone.

use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::commits::last_commit;
use super::ignored::{MOST, Repository, Rules, is_noise};
use super::{index, work_trees};
use crate::engine::hash_of;
use crate::system::EntryKind;
use crate::system::folders::{FileStat, FolderEntry, NameRoom, OpenFolder};
use crate::system::names;
use crate::world::{Deadline, FileTime, WallTime};

/// The loop's own files: they change at every iteration and prove nothing.
const OWN_FILES: [&[u8]; 2] = [b".speckit-state.json", b".progress.md"];
/// How many folders in an ignored one are looked at for repositories.
const MOST_IGNORED: usize = 200;
/// What the mode of a file has besides where git ignores it.
pub const IGNORED: u64 = 1 << 63;
/// The same for a file in another work tree, and for the log of a repository in this one.
pub const ASIDE: u64 = 1 << 62;
/// How many names are read for each one that may be looked at: what is ignored is passed over at once.
const IGNORED_FOR_ONE: usize = 10;
/// How far the times of a folder and of what was put into it may lie apart: the clock of
/// the files goes in steps.
const STEP: Duration = Duration::from_millis(20);
/// How long before it was put into its folder a file is written.
const WRITTEN: Duration = Duration::from_secs(1);

/// Whether all of a tree was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// All of it.
    Seen,
    /// There are too many files and folders.
    TooLarge,
    /// It took too long, its top cannot be opened, or a folder cannot be listed.
    Unfinished,
    /// The visitor had seen enough.
    Stopped,
}

/// What is found on the way through a tree; paths are relative to its root.
#[derive(Clone, Copy, Debug)]
pub enum FoundFile<'a> {
    /// A file or a link that is work.
    File {
        /// The path of its folder, with the last slash.
        folder: &'a [u8],
        /// Its name.
        name: &'a [u8],
        /// When its content, name or mode last changed.
        changed: FileTime,
        /// What the system says of it.
        stat: &'a FileStat,
        /// [`IGNORED`] or [`ASIDE`], where it is that.
        marks: u64,
    },
    /// A folder in which something was removed or renamed: nothing that is in it changed at the same time.
    Folder {
        /// Its path, with the last slash.
        path: &'a [u8],
        /// When it was changed.
        changed: FileTime,
        /// A number for the names of the work in it.
        names: u64,
    },
    /// A folder with nothing in it; only a look at all files shows these.
    Empty {
        /// Its path, with the last slash.
        path: &'a [u8],
    },
}

/// What a visitor says after each thing it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Show more.
    On,
    /// It has seen enough.
    Stop,
}

/// How far a look goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Only what changed at this time or later is shown, in nanoseconds since the Unix epoch; all files
    /// and no folders with 0.
    pub since: FileTime,
    /// The most files and folders that are looked at; what is ignored counts little.
    pub entries: usize,
    /// The longest that it may take.
    pub time: Duration,
    /// When the run began whose agents have made other work trees, `None` for no run.
    pub run: Option<WallTime>,
}

/// Shows `visit` the files below `root` that are work: what git tracks or does not ignore, the loop's
/// own notes left out. Links are not followed. The log of the head is shown of each repository that is not ignored, of an ignored
/// folder that is one, and of those directly in it; and
/// at last the files of the other work trees in which the project's work goes on, by paths that may begin with `../`.
pub fn look(root: &Path, bounds: Bounds, visit: &mut dyn FnMut(FoundFile<'_>) -> Go) -> Whole {
    look_with(root, bounds, false, visit)
}

/// Does the same without what is never a task's work: what programs leave behind, and the folders of agents.
pub fn look_at_work(
    root: &Path,
    bounds: Bounds,
    visit: &mut dyn FnMut(FoundFile<'_>) -> Go,
) -> Whole {
    look_with(root, bounds, true, visit)
}

fn look_with(
    root: &Path,
    bounds: Bounds,
    skips_noise: bool,
    visit: &mut dyn FnMut(FoundFile<'_>) -> Go,
) -> Whole {
    // Nothing seen is not the same as nothing there.
    let Some(top) = OpenFolder::at(root) else {
        return Whole::Unfinished;
    };
    let first = Part::of(Repository::around(root), Vec::new());
    let rules = Rc::clone(&first.found.rules);
    let mut walk = Walk {
        root,
        top,
        bounds,
        skips_noise,
        visit,
        deadline: Deadline::after(bounds.time),
        entries: 0,
        listed: 0,
        parts: vec![first],
        folders: vec![Folder { path: Vec::new(), rules, part: 0 }],
        path: Vec::new(),
        folder_length: 0,
        ignored: Vec::new(),
        room: NameRoom::default(),
    };
    walk.all().err().unwrap_or(Whole::Seen)
}

/// A part of the tree that is a repository of its own.
struct Part {
    found: Repository,
    /// The path of its top from the root, with its last slash; empty where the root is not above it.
    top: Vec<u8>,
    /// What its rules ignore, from the top of the repository: files, and folders with a slash.
    left_out: Vec<Vec<u8>>,
    /// [`ASIDE`] for another work tree of a repository.
    marks: u64,
}

impl Part {
    fn of(found: Repository, top: Vec<u8>) -> Self {
        let above = found.data.as_deref().and_then(Path::parent);
        let is_work_tree = above.is_some_and(|above| above.ends_with("worktrees"));
        let marks = if is_work_tree && !top.is_empty() { ASIDE } else { 0 };
        Self { found, top, left_out: Vec::new(), marks }
    }
}

struct Folder {
    path: Vec<u8>,
    rules: Rc<Rules>,
    part: usize,
}

struct Walk<'a> {
    root: &'a Path,
    top: OpenFolder,
    bounds: Bounds,
    skips_noise: bool,
    visit: &'a mut dyn FnMut(FoundFile<'_>) -> Go,
    deadline: Deadline,
    /// The files and folders so far, without those that are ignored.
    entries: usize,
    /// All names so far.
    listed: usize,
    parts: Vec<Part>,
    folders: Vec<Folder>,
    /// The path of what is looked at from the top of its repository.
    path: Vec<u8>,
    /// How long that of its folder is, with its last slash.
    folder_length: usize,
    /// The paths of folders that are ignored.
    ignored: Vec<Vec<u8>>,
    /// Where the system puts the names of a folder.
    room: NameRoom,
}

/// When something was put into a folder, renamed in it or removed from it.
#[derive(Clone, Copy)]
struct FolderChange {
    at: FileTime,
    /// Whether something is in it that changed at the same time, and speaks for itself.
    explained: bool,
}

impl FolderChange {
    fn compare(&mut self, stat: Option<&FileStat>) {
        let is_same = |stat: &FileStat| stat.changed().distance(self.at) <= STEP;
        // What was not written just before was there under another name.
        let is_new = |stat: &FileStat| stat.modified().after(WRITTEN) >= self.at;
        self.explained = self.explained || stat.is_some_and(|stat| is_same(stat) && is_new(stat));
    }
}

impl Walk<'_> {
    fn all(&mut self) -> Result<(), Whole> {
        self.folders()?;
        self.repositories()?;
        for copy in work_trees::copies(self.root, self.bounds.run) {
            let path = work_trees::path_from(self.root, &copy);
            if self.parts.iter().skip(1).any(|part| path.starts_with(&part.top)) {
                continue;
            }
            // A project that can be looked at stays so beside another work tree.
            self.entries = 0;
            self.enter(path, Repository::around(&copy))?;
            self.folders()?;
        }
        self.tracked()
    }

    fn folders(&mut self) -> Result<(), Whole> {
        while let Some(folder) = self.folders.pop() {
            self.folder(folder)?;
        }
        Ok(())
    }

    /// Goes into a part that is a repository of its own; the log of its head is shown.
    fn enter(&mut self, path: Vec<u8>, found: Repository) -> Result<(), Whole> {
        if let Some(data) = &found.data {
            self.show_log(&work_trees::path_from(self.root, data))?;
        }
        let (rules, part) = (Rc::clone(&found.rules), self.parts.len());
        self.parts.push(Part::of(found, path.clone()));
        self.folders.push(Folder { path, rules, part });
        Ok(())
    }

    /// Shows the log of the head of the repository with its data there.
    fn show_log(&mut self, data: &[u8]) -> Result<(), Whole> {
        let folder = &[data, b"logs/"].concat();
        let path = [folder, &b"HEAD"[..]].concat();
        let Some(stat) = self.top.stat_of(&path) else { return Ok(()) };
        let is_new = |time: &FileTime| *time >= self.bounds.since;
        let made = || last_commit(&self.root.join(names::from_bytes(&path)));
        let changed = Some(stat.changed()).filter(is_new).and_then(|log| Some(made()?.min(log)));
        match changed.filter(is_new) {
            Some(changed) => self.show(FoundFile::File {
                folder,
                name: b"HEAD",
                changed,
                stat: &stat,
                marks: ASIDE | IGNORED,
            }),
            None => Ok(()),
        }
    }

    /// Shows the logs of repositories that are ignored: such a folder itself, or those in it, the outer ones first.
    fn repositories(&mut self) -> Result<(), Whole> {
        for path in std::mem::take(&mut self.ignored) {
            let mut tops = vec![path];
            let mut at = 0;
            while let Some(top) = tops.get(at).cloned() {
                at += 1;
                self.show_log(&[&top, &b".git/"[..]].concat())?;
                let below = top.strip_suffix(b"/").and_then(|top| self.top.below(top));
                let Some(open) = below.filter(|_| tops.len() < MOST_IGNORED) else { continue };
                let _some = open.list(&mut self.room, &mut |entry| {
                    if entry.kind() == EntryKind::Folder && !entry.name().starts_with(b".") {
                        tops.push([&top, entry.name(), b"/"].concat());
                    }
                    if tops.len() < MOST_IGNORED { Ok(()) } else { Err(()) }
                });
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: Folder) -> Result<(), Whole> {
        let path = folder.path.strip_suffix(b"/").unwrap_or_default();
        let Some(open) = self.top.below(path) else {
            return Ok(());
        };
        if self.parts[folder.part].top != folder.path && open.has(c".git") {
            let found = Repository::at(&self.root.join(names::from_bytes(path)));
            return self.enter(folder.path, found);
        }
        self.go_into(&folder);
        let rules = folder.rules.with(&open.bytes_of(c".gitignore", MOST), self.path.len());
        let folder = Folder { rules, ..folder };
        let mut change = open
            .stat()
            .filter(|_| self.bounds.since.is_known())
            .map(|stat| FolderChange { at: stat.modified(), explained: false })
            .filter(|change| change.at >= self.bounds.since);
        let before = self.listed;
        let part = &self.parts[folder.part];
        let is_asked = !self.bounds.since.is_known() && part.marks == 0 && part.top != folder.path;
        let mut room = std::mem::take(&mut self.room);
        let listed = open.list(&mut room, &mut |entry| self.entry(&folder, entry, change.as_mut()));
        self.room = room;
        if !listed? {
            return Err(Whole::Unfinished);
        }
        if is_asked && self.listed == before {
            self.show(FoundFile::Empty { path: &folder.path })?;
        }
        match change {
            Some(FolderChange { at, explained: false }) => {
                let names = self.names(&folder, &open);
                self.show(FoundFile::Folder { path: &folder.path, changed: at, names })
            }
            _ => Ok(()),
        }
    }

    fn entry(
        &mut self,
        folder: &Folder,
        entry: &FolderEntry<'_>,
        mut change: Option<&mut FolderChange>,
    ) -> Result<(), Whole> {
        let name = entry.name();
        if matches!(name, b"." | b".." | b".git") {
            return Ok(());
        }
        self.listed += 1;
        if self.listed > self.bounds.entries.saturating_mul(IGNORED_FOR_ONE) {
            return Err(Whole::TooLarge);
        }
        if self.listed.is_multiple_of(256) && self.deadline.is_over() {
            return Err(Whole::Unfinished);
        }
        if is_left_out(&folder.path, name) || (self.skips_noise && is_noise(name)) {
            if let Some(change) = &mut change {
                change.compare(entry.stat().as_ref());
            }
            return Ok(());
        }
        let mut stat_of_file = None;
        let is_folder = match entry.kind() {
            EntryKind::Folder => true,
            EntryKind::File => false,
            EntryKind::Unknown => match entry.stat() {
                Some(stat) if stat.is_folder() => true,
                Some(stat) => {
                    stat_of_file = Some(stat);
                    false
                }
                None => return Ok(()),
            },
            EntryKind::Other => return Ok(()),
        };
        if is_folder {
            if let Some(change) = &mut change {
                change.compare(entry.stat().as_ref());
            }
            self.path_from_top(name);
            if folder.rules.ignore(&self.path, name, true) {
                self.leave_out(folder.part, b"/");
                self.ignored.push([&folder.path, name, b"/"].concat());
                return Ok(());
            }
            self.count()?;
            let path = [&folder.path, name, b"/"].concat();
            self.folders.push(Folder { path, rules: Rc::clone(&folder.rules), part: folder.part });
            return Ok(());
        }
        let Some(stat) = stat_of_file.or_else(|| entry.stat()) else {
            return Ok(());
        };
        let changed = stat.changed();
        if changed < self.bounds.since {
            return self.count();
        }
        if let Some(change) = &mut change {
            change.compare(Some(&stat));
        }
        self.path_from_top(name);
        if folder.rules.ignore(&self.path, name, false) {
            self.leave_out(folder.part, b"");
            return Ok(());
        }
        self.count()?;
        let marks = self.parts[folder.part].marks;
        self.show(FoundFile::File { folder: &folder.path, name, changed, stat: &stat, marks })
    }

    /// What is tracked is work, whatever the rules say of it.
    fn tracked(&mut self) -> Result<(), Whole> {
        for Part { found, top, mut left_out, marks } in std::mem::take(&mut self.parts) {
            let Some(data) = found.data.filter(|_| !left_out.is_empty()) else { continue };
            left_out.sort_unstable();
            let mut work = Vec::new();
            index::tracked(&data, &mut |name| {
                // No folder that is left out has another one in it: only the last one before can have it.
                let after = left_out.partition_point(|out| out.as_slice() <= name);
                if after > 0 && is_in(&left_out[after - 1], name) {
                    work.push(name.to_vec());
                }
                self.listed += 1;
                !self.listed.is_multiple_of(256) || !self.deadline.is_over()
            });
            for name in work {
                let Some(below) = name.strip_prefix(&found.prefix[..]) else { continue };
                // The folder of an agent may be where another work tree is.
                if !self.skips_noise || !below.split(|byte| *byte == b'/').any(is_noise) {
                    self.tracked_file(&[&top, below].concat(), marks)?;
                }
            }
        }
        if self.deadline.is_over() { Err(Whole::Unfinished) } else { Ok(()) }
    }

    /// Counts a file or folder that is work.
    fn count(&mut self) -> Result<(), Whole> {
        self.entries += 1;
        if self.entries > self.bounds.entries { Err(Whole::TooLarge) } else { Ok(()) }
    }

    fn tracked_file(&mut self, path: &[u8], marks: u64) -> Result<(), Whole> {
        let place = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(place);
        let stat = self.top.stat_of(path);
        let Some(stat) = stat.filter(|_| !is_left_out(folder, name)) else {
            return Ok(());
        };
        let changed = stat.changed();
        if changed < self.bounds.since || stat.is_folder() {
            return Ok(());
        }
        self.count()?;
        self.show(FoundFile::File { folder, name, changed, stat: &stat, marks })
    }

    fn show(&mut self, found: FoundFile<'_>) -> Result<(), Whole> {
        match (self.visit)(found) {
            Go::On => Ok(()),
            Go::Stop => Err(Whole::Stopped),
        }
    }

    /// A number for the names of the work in a folder.
    fn names(&mut self, folder: &Folder, open: &OpenFolder) -> u64 {
        let mut sum = 0_u64;
        let mut room = std::mem::take(&mut self.room);
        let _all = open.list(&mut room, &mut |entry| -> Result<(), Whole> {
            let name = entry.name();
            if matches!(name, b"." | b".." | b".git") || is_left_out(&folder.path, name) {
                return Ok(());
            }
            self.path_from_top(name);
            if !folder.rules.ignore(&self.path, name, entry.kind() == EntryKind::Folder) {
                // A sum does not depend on the order in which the system lists them.
                sum = sum.wrapping_add(hash_of(name));
            }
            Ok(())
        });
        self.room = room;
        sum
    }

    /// Puts the path of a folder into `path`.
    fn go_into(&mut self, folder: &Folder) {
        let part = &self.parts[folder.part];
        self.path.clear();
        self.path.extend_from_slice(&part.found.prefix);
        self.path.extend_from_slice(&folder.path[part.top.len()..]);
        self.folder_length = self.path.len();
    }

    /// Puts the path of a name in that folder into `path`.
    fn path_from_top(&mut self, name: &[u8]) {
        self.path.truncate(self.folder_length);
        self.path.extend_from_slice(name);
    }

    /// Notes that what `path` names is ignored.
    fn leave_out(&mut self, part: usize, end: &[u8]) {
        let part = &mut self.parts[part];
        if part.found.data.is_some() {
            part.left_out.push([&self.path, end].concat());
        }
    }
}

/// Whether a path is the one that is left out, or in the folder that is.
fn is_in(left_out: &[u8], path: &[u8]) -> bool {
    left_out == path || (left_out.ends_with(b"/") && path.starts_with(left_out))
}

/// Returns whether a path holds the notes of a loop, in whichever project of the tree.
pub fn is_own(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    let above = path.parent().and_then(Path::file_name).map(OsStr::as_encoded_bytes);
    is_note(above.unwrap_or_default(), name)
}

fn is_note(above: &[u8], name: &[u8]) -> bool {
    match name {
        b".state" => above == b".spool",
        b"ralph" => above == b".claude",
        _ => above == b".claude" && name.starts_with(b"loop-state."),
    }
}

/// Whether a name in a folder is the loop's own, or a leftover of a write in progress.
fn is_left_out(folder: &[u8], name: &[u8]) -> bool {
    // Most names are none of these.
    if !matches!(name.first(), Some(b'.' | b'r' | b'l')) {
        return false;
    }
    let above = folder.strip_suffix(b"/").unwrap_or(folder);
    let above = above.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    OWN_FILES.contains(&name)
        || (name.starts_with(b".") && name.ends_with(b".tmp"))
        || is_note(above, name)
}
