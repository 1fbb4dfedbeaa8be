//! The files of a work tree that git tracks or does not ignore, by names, sizes and times alone.

use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::commits::last_commit;
use super::ignored::{MOST, Repository, Rules, is_noise};
use super::{index, work_trees};
use crate::engine::hash_of;
use crate::engine::order::sorted;
use crate::system::folders::{FileStat, FolderEntry, NameRoom, OpenFolder};
use crate::system::{EntryKind, names};
use crate::world::{Deadline, FileTime, WallTime};

/// The loop's own files change at every iteration and prove nothing.
const OWN_FILES: [&[u8]; 2] = [b".speckit-state.json", b".progress.md"];
/// For each ignored folder: the folders, itself included, that are searched for repositories.
const MOST_IGNORED: usize = 200;
/// Our own bit in the mode of a file that git ignores.
pub const IGNORED: u64 = 1 << 63;
/// Our own bit in the mode of a file in another work tree, and of a repository's log in this one.
pub const ASIDE: u64 = 1 << 62;
/// Names that are read for each one that may be looked at: ignored names are skipped at once.
const IGNORED_FOR_ONE: usize = 10;
/// The times of a folder and of a new entry may differ by this much: the files' clock goes in steps.
const STEP: Duration = Duration::from_millis(20);
/// A file is written at most this long before the move into its folder.
const WRITTEN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// All of it.
    Seen,
    /// Too many files and folders.
    TooLarge,
    /// Too slow, or the top cannot be opened, or a folder cannot be listed.
    Unfinished,
    /// The visitor had seen enough.
    Stopped,
}

/// Paths are relative to the root of the look.
#[derive(Clone, Copy, Debug)]
pub enum FoundFile<'a> {
    /// A file or a link that is work.
    File {
        /// The path of the folder, with its last slash.
        folder: &'a [u8],
        name: &'a [u8],
        /// The last change of content, name or mode.
        changed: FileTime,
        stat: &'a FileStat,
        /// [`IGNORED`], [`ASIDE`], both or none.
        marks: u64,
    },
    /// A folder with a removed or renamed entry: no entry changed at the same time.
    Folder {
        /// With the last slash.
        path: &'a [u8],
        changed: FileTime,
        /// A number for the names of the folder's work.
        names: u64,
    },
    /// An empty folder; only a look at all files shows these.
    Empty {
        /// With the last slash.
        path: &'a [u8],
    },
}

/// The visitor's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    On,
    /// The visitor has seen enough.
    Stop,
}

/// The bounds of a look.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Only changes at this time or later are shown. An unknown time shows all files, and no changed folders.
    pub since: FileTime,
    /// Files and folders; ignored ones count little.
    pub entries: usize,
    pub time: Duration,
    /// The beginning of the run whose agents made other work trees.
    pub run: Option<WallTime>,
}

/// Shows `visit` the work files below `root`: what git tracks or does not ignore, without the loop's own notes. Links
/// are not followed.
///
/// The logs of heads are shown, too: of repositories that are not ignored, of ignored folders that are repositories,
/// and of repositories inside ignored folders, where at most `MOST_IGNORED` folders are searched. The last files are
/// those of other work trees with the project's work, by paths that may begin with `../`.
pub fn look(root: &Path, bounds: Bounds, visit: &mut dyn FnMut(FoundFile<'_>) -> Go) -> Whole {
    look_with(root, bounds, false, visit)
}

/// Like [`look`], without noise: leftovers of programs, and the folders of agents.
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
    // A root that cannot be opened is not an empty one.
    let Some(top) = OpenFolder::at(root) else { return Whole::Unfinished };
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

/// A repository of its own in the tree.
struct Part {
    found: Repository,
    /// The path of its top from the root, with its last slash; empty if the root is not above the top.
    top: Vec<u8>,
    /// Ignored paths from the top of the repository; a folder ends with a slash.
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
    /// Files and folders so far, without ignored ones.
    entries: usize,
    /// All names so far.
    listed: usize,
    parts: Vec<Part>,
    folders: Vec<Folder>,
    /// The current path from the top of its repository.
    path: Vec<u8>,
    /// Bytes of the folder in `path`, with its last slash.
    folder_length: usize,
    /// Ignored folders.
    ignored: Vec<Vec<u8>>,
    room: NameRoom,
}

/// The last time that an entry was added to a folder, renamed or removed.
#[derive(Clone, Copy)]
struct FolderChange {
    at: FileTime,
    /// An entry changed at the same time and explains the change.
    explained: bool,
}

impl FolderChange {
    fn compare(&mut self, stat: Option<&FileStat>) {
        let is_same = |stat: &FileStat| stat.changed().distance(self.at) <= STEP;
        // A file that was not written just before existed under another name.
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
            // Another work tree does not make the project too large.
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

    /// Enters a repository of its own, and shows the log of its head.
    fn enter(&mut self, path: Vec<u8>, found: Repository) -> Result<(), Whole> {
        if let Some(data) = &found.data {
            self.show_log(&work_trees::path_from(self.root, data))?;
        }
        let (rules, part) = (Rc::clone(&found.rules), self.parts.len());
        self.parts.push(Part::of(found, path.clone()));
        self.folders.push(Folder { path, rules, part });
        Ok(())
    }

    /// Shows the log of the repository with this data.
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

    /// Shows the logs of ignored repositories: the ignored folders themselves, then folders inside, the outer ones
    /// first.
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
        let Some(open) = self.top.below(path) else { return Ok(()) };
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
                Some(stat) if stat.is_file() => {
                    stat_of_file = Some(stat);
                    false
                }
                _ => return Ok(()),
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
        let Some(stat) = stat_of_file.or_else(|| entry.stat()) else { return Ok(()) };
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

    /// Tracked files are work, whatever the rules say.
    fn tracked(&mut self) -> Result<(), Whole> {
        for Part { found, top, left_out, marks } in std::mem::take(&mut self.parts) {
            let Some(data) = found.data.filter(|_| !left_out.is_empty()) else { continue };
            let left_out = sorted(left_out, Ord::cmp);
            let mut work = Vec::new();
            index::tracked(&data, &mut |name| {
                // No left out folder contains another: only the last one before the name can contain it.
                let after = left_out.partition_point(|out| out.as_slice() <= name);
                if after > 0 && is_in(&left_out[after - 1], name) {
                    work.push(name.to_vec());
                }
                self.listed += 1;
                !self.listed.is_multiple_of(256) || !self.deadline.is_over()
            });
            for name in work {
                let Some(below) = name.strip_prefix(&found.prefix[..]) else { continue };
                // An agent's folder may hold another work tree.
                if !self.skips_noise || !below.split(|byte| *byte == b'/').any(is_noise) {
                    self.tracked_file(&[&top, below].concat(), marks)?;
                }
            }
        }
        if self.deadline.is_over() { Err(Whole::Unfinished) } else { Ok(()) }
    }

    fn count(&mut self) -> Result<(), Whole> {
        self.entries += 1;
        if self.entries > self.bounds.entries { Err(Whole::TooLarge) } else { Ok(()) }
    }

    fn tracked_file(&mut self, path: &[u8], marks: u64) -> Result<(), Whole> {
        let place = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(place);
        let stat = self.top.stat_of(path);
        let Some(stat) = stat.filter(|_| !is_left_out(folder, name)) else { return Ok(()) };
        let changed = stat.changed();
        if changed < self.bounds.since || !stat.is_file() {
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

    /// A number for the names of the folder's work.
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
                // A sum does not depend on the order of the listing.
                sum = sum.wrapping_add(hash_of(name));
            }
            Ok(())
        });
        self.room = room;
        sum
    }

    /// Sets `path` to a folder.
    fn go_into(&mut self, folder: &Folder) {
        let part = &self.parts[folder.part];
        self.path.clear();
        self.path.extend_from_slice(&part.found.prefix);
        self.path.extend_from_slice(&folder.path[part.top.len()..]);
        self.folder_length = self.path.len();
    }

    /// Sets `path` to a name in that folder.
    fn path_from_top(&mut self, name: &[u8]) {
        self.path.truncate(self.folder_length);
        self.path.extend_from_slice(name);
    }

    /// Notes that `path` is ignored.
    fn leave_out(&mut self, part: usize, end: &[u8]) {
        let part = &mut self.parts[part];
        if part.found.data.is_some() {
            part.left_out.push([&self.path, end].concat());
        }
    }
}

/// The path is left out, or lies in a left out folder.
fn is_in(left_out: &[u8], path: &[u8]) -> bool {
    left_out == path || (left_out.ends_with(b"/") && path.starts_with(left_out))
}

/// The path holds a loop's notes, in any project of the tree.
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

/// The name is the loop's own, or left by an unfinished write.
fn is_left_out(folder: &[u8], name: &[u8]) -> bool {
    // Fast, since most names are none of these.
    if !matches!(name.first(), Some(b'.' | b'r' | b'l')) {
        return false;
    }
    let above = folder.strip_suffix(b"/").unwrap_or(folder);
    let above = above.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    OWN_FILES.contains(&name)
        || (name.starts_with(b".") && name.ends_with(b".tmp"))
        || is_note(above, name)
}
