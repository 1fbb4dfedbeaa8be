//! The contents of a project's files at one moment: a hash of each tells a changed file from a touched one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::comments::Hashes;
use super::entries::{Entries, FileSeen, NamedFiles, SeenFile};
use super::grown::{MANY_NEW, MUCH_NEW, NoLook, fullest};
use super::pattern::end_bits;
use super::tree::{ASIDE, Bounds, FoundFile, Go, IGNORED, Whole, is_own, look_at_work};
use crate::engine::Hasher;
use crate::store::read;
use crate::system::files::real_path;
use crate::system::folders::FileStat;
use crate::system::names;
use crate::world::{self, Deadline, FileTime, WallTime};

/// Files in one look.
pub const MOST_FILES: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(2);
/// Bytes read of all files together, and of one file. For a longer file, size, beginning and end count.
pub const MOST: u64 = 128 << 20;
const MOST_OF_ONE: u64 = 2 << 20;
/// Marks the files of a stored look. Earlier versions wrote another mark, so their looks do not count.
const SEEN: &[u8] = b"seen5\0";
/// A file's time counts only if the file was left alone this long before the look: the files' clock goes in steps, and
/// a later write could have the same time.
const LEFT_ALONE: Duration = Duration::from_secs(3);
/// Files in one look that git ignores and the task list names.
pub const MOST_NAMED: usize = 500;
/// Files of a repository that git ignores.
const MOST_INNER: usize = 2_000;
/// The work files of a project: paths relative to the project, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(pub(super) Rc<Entries>);

#[derive(Clone, Copy, Debug)]
pub struct ContentsLook<'a> {
    /// The project.
    pub root: &'a Path,
    /// The path of a file that is left out.
    pub without: &'a str,
    /// Files and folders to look at even if git ignores them; a folder ends with a slash.
    pub named: &'a [String],
    /// Files untouched since this look are not read again.
    pub earlier: Option<&'a Contents>,
    /// At most 2 s.
    pub limit: Duration,
    /// The beginning of the run that looks.
    pub run: Option<WallTime>,
}

struct UnreadFile<'a> {
    path: Vec<u8>,
    stat: FileStat,
    marks: u64,
    /// The file's entry in the earlier look.
    then: Option<SeenFile<'a>>,
}

impl Contents {
    /// For each of `paths`: true if a file was at exactly this path.
    pub fn among(&self, paths: &[String]) -> Vec<bool> {
        let mut search = self.0.search();
        paths.iter().map(|path| search.find(path.as_bytes()).is_some()).collect()
    }

    /// `folder` has its last slash.
    pub fn has_below(&self, folder: &str) -> bool {
        self.0.iter().any(|file| file.path().starts_with(folder.as_bytes()))
    }

    /// `false` if the bytes are not known.
    pub fn had(&self, path: &str, bytes: &[u8]) -> bool {
        let seen = self.0.search().find(path.as_bytes());
        seen.is_some_and(|file| file.seen().content.bytes == Hashes::of(b"", bytes).bytes)
    }

    /// Paths that may have one of these ends (see [`end_bits`]).
    pub fn paths(&self, ends: u64) -> impl Iterator<Item = &str> {
        let paths =
            self.0.iter().map(SeenFile::path).filter(move |path| end_bits(path) & ends != 0);
        paths.filter_map(|path| std::str::from_utf8(path).ok())
    }

    /// Replaces the files at these paths by those of `others`.
    pub fn with_those_of(self, others: &Self, paths: &BTreeSet<&str>) -> Self {
        let is_asked = |path: &[u8]| str::from_utf8(path).is_ok_and(|text| paths.contains(text));
        let mut all = Entries::with_room_of(&self.0);
        let own = self.0.iter().filter(|file| !is_asked(file.path()));
        own.chain(others.0.iter().filter(|file| is_asked(file.path())))
            .for_each(|file| all.push_file(file));
        Self(Rc::new(all))
    }
}

/// Git's files except hooks, and our own.
fn is_never_work(path: &Path) -> bool {
    let is_gits = path.components().any(|part| part.as_os_str() == ".git");
    is_own(path) || (is_gits && !path.starts_with(".git/hooks"))
}

impl ContentsLook<'_> {
    pub fn look(&self) -> Result<Contents, NoLook> {
        self.look_at(MOST_FILES)
    }

    /// A look at at most `entries` files and folders.
    pub fn look_at(&self, entries: usize) -> Result<Contents, NoLook> {
        let (began, none) = (world::now(), Entries::default());
        let earlier = self.earlier.map_or(&none, |earlier| &earlier.0);
        let mut before = earlier.search();
        let (mut found, mut known, mut left) = (Entries::with_room_of(earlier), 0, MOST);
        let files = self.named.iter().filter(|path| !path.ends_with('/'));
        let mut named = NamedFiles::of(files.take(MOST_NAMED));
        let time = self.limit.min(LIMIT);
        let (deadline, mut unread) = (Deadline::after(time), Vec::<UnreadFile<'_>>::new());
        let bounds = Bounds { since: FileTime::default(), entries, time, run: self.run };
        let (mut path, mut inner) = (Vec::new(), Vec::new());
        let whole = look_at_work(self.root, bounds, &mut |file| {
            let (folder, name, stat, marks) = match file {
                FoundFile::File { folder, name, stat, marks, .. } => (folder, name, stat, marks),
                FoundFile::Empty { path } => {
                    let (content, changed) = (Hashes::of_folder(), FileTime::default());
                    found.push(path, FileSeen { content, mode: 0, changed });
                    return Go::On;
                }
                FoundFile::Folder { .. } => return Go::On,
            };
            let next = before.next_in(folder, name);
            let then = next.or_else(|| {
                path.clear();
                path.extend_from_slice(folder);
                path.extend_from_slice(name);
                before.find(&path)
            });
            let path = then.map_or(path.as_slice(), SeenFile::path);
            // A repository that was not there before is a copy.
            if marks & ASIDE != 0 && (then.is_some() || self.earlier.is_none()) {
                let top = folder.strip_suffix(b".git/logs/").map(String::from_utf8_lossy);
                inner.extend(top.map(Cow::into_owned));
            }
            // Git may name a file several times during a merge.
            if path == self.without.as_bytes()
                || (next.is_none()
                    && (found.ends_with(path)
                        || unread.last().is_some_and(|last| last.path == path)))
            {
                return Go::On;
            }
            let read = read_of(stat);
            let is_within = read <= left;
            if !is_within && marks & ASIDE != 0 {
                return Go::On;
            }
            left = left.saturating_sub(read);
            known += usize::from(then.is_some());
            named.meet(path);
            match then.filter(|then| is_untouched(then.seen(), stat, marks)) {
                Some(then) => found.push_file(then),
                None => unread.push(UnreadFile { path: path.to_vec(), stat: *stat, marks, then }),
            }
            if is_within { Go::On } else { Go::Stop }
        });
        // The total is known before any file is read: usually only the reading takes long.
        match whole {
            Whole::Seen => {}
            Whole::Unfinished => return Err(self.too_slow(&unread)),
            Whole::TooLarge => return Err(self.too_large(&unread, |_| 1)),
            Whole::Stopped => return Err(self.too_large(&unread, read_of)),
        }
        for (place, UnreadFile { path, stat, marks, then }) in unread.iter().enumerate() {
            if place % 64 == 63 && deadline.is_over() {
                return Err(self.too_slow(&unread));
            }
            let seen = self.seen(path, stat, *then, began);
            found.push(path, FileSeen { mode: seen.mode | marks, ..seen });
        }
        for (path, mark) in self.ignored(&named, &inner, &found) {
            let Some(stat) = self.stat_of(path.as_bytes()) else { continue };
            if let Some(rest) = left.checked_sub(read_of(&stat)) {
                left = rest;
                let then = before.find(path.as_bytes());
                known += usize::from(then.is_some());
                let seen = self.seen(path.as_bytes(), &stat, then, began);
                found.push(path.as_bytes(), FileSeen { mode: seen.mode | mark, ..seen });
            }
        }
        if known < earlier.len() {
            self.add_missing(&mut found, earlier, &mut left, began);
        }
        Ok(Contents(Rc::new(found)))
    }

    /// Looks at these files only; a missing file has no content.
    pub fn look_at_these<'b>(&self, paths: impl Iterator<Item = &'b [u8]>) -> Contents {
        let (began, mut found) = (world::now(), Entries::default());
        for path in paths {
            let seen = self.stat_of(path).map(|stat| self.seen(path, &stat, None, began));
            let (content, changed) = (Hashes::of_nothing(), FileTime::default());
            found.push(path, seen.unwrap_or(FileSeen { content, mode: 0, changed }));
        }
        Contents(Rc::new(found))
    }

    /// Files that git ignores and that are looked at all the same, with their marks.
    fn ignored(
        &self,
        named: &NamedFiles<'_>,
        inner: &[String],
        found: &Entries,
    ) -> Vec<(String, u64)> {
        let below = self.below(self.named, MOST_NAMED, found);
        let unmet = named.files.iter().filter(|(_, met)| !met).map(|(path, _)| (*path).to_owned());
        let is_work = |path: &String| *path != self.without && !is_never_work(Path::new(path));
        let unmet = unmet.chain(below).filter(is_work).take(MOST_NAMED).map(|path| (path, IGNORED));
        let inner = self.below(inner, MOST_INNER, found).into_iter().map(|path| (path, 0));
        unmet.chain(inner).collect()
    }

    /// Files of the folders in which the look has met nothing, because git ignores them: at most `most` of each folder,
    /// and none where the time is over.
    fn below(&self, folders: &[String], most: usize, found: &Entries) -> Vec<String> {
        let mut files = Vec::new();
        // The target of a link may be another task's work.
        let is_real = |path: &str| {
            let folder = self.root.join(path);
            real_path(&folder).is_ok_and(|real| real == folder)
        };
        let is_unmet = |path: &&String| {
            path.ends_with('/')
                && !found.iter().any(|file| {
                    file.seen().mode & ASIDE == 0 && file.path().starts_with(path.as_bytes())
                })
                && is_real(path)
        };
        for path in folders.iter().filter(is_unmet) {
            let (before, since) = (files.len(), FileTime::default());
            let bounds = Bounds { since, entries: most, time: self.limit, run: None };
            let whole = look_at_work(&self.root.join(path), bounds, &mut |file| {
                if let FoundFile::File { folder, name, marks: 0, .. } = file {
                    let below = [folder, name].concat();
                    files.push([path, &*String::from_utf8_lossy(&below)].concat());
                }
                Go::On
            });
            if whole == Whole::Unfinished {
                files.truncate(before);
            }
        }
        files
    }

    /// Adds files of an earlier look that still exist and were not found.
    fn add_missing(&self, found: &mut Entries, known: &Entries, left: &mut u64, began: WallTime) {
        let mut now = found.search();
        let mut missing: Vec<SeenFile<'_>> = known.iter().collect();
        missing.retain(|file| now.find(file.path()).is_none());
        for file in missing {
            let (path, seen) = (file.path(), file.seen());
            // The file's folder could not be read, or git ignores the file by now: it is not gone, and may have
            // changed.
            let Some(stat) = self.stat_of(path) else { continue };
            let read = read_of(&stat);
            let mut again = seen;
            if read <= *left {
                *left -= read;
                again = self.seen(path, &stat, Some(file), began);
                again.mode |= IGNORED | (seen.mode & ASIDE);
            }
            found.push(path, again);
        }
    }

    /// Names the folder with most of the new files so far.
    fn too_large(&self, files: &[UnreadFile<'_>], weight: fn(&FileStat) -> u64) -> NoLook {
        let new = self.new_among(files).map(|file| (file.path.clone(), weight(&file.stat)));
        NoLook::TooLarge { folder: fullest(new.collect()) }
    }

    /// If many files are new, they made the look slow.
    fn too_slow(&self, files: &[UnreadFile<'_>]) -> NoLook {
        if self.new_among(files).count() >= MANY_NEW {
            return self.too_large(files, |_| 1);
        }
        if self.new_among(files).map(|file| read_of(&file.stat)).sum::<u64>() >= MUCH_NEW {
            return self.too_large(files, read_of);
        }
        NoLook::NotNow
    }

    fn new_among<'b>(
        &self,
        files: &'b [UnreadFile<'b>],
    ) -> impl Iterator<Item = &'b UnreadFile<'b>> {
        let has_earlier = self.earlier.is_some();
        files.iter().filter(move |file| has_earlier && file.then.is_none())
    }

    fn stat_of(&self, path: &[u8]) -> Option<FileStat> {
        FileStat::of_entry(&self.root.join(names::from_bytes(path))).filter(FileStat::is_file)
    }

    /// The file's entry; that of the earlier look if the file is untouched since.
    fn seen(
        &self,
        path: &[u8],
        stat: &FileStat,
        before: Option<SeenFile<'_>>,
        began: WallTime,
    ) -> FileSeen {
        let (changed, before) = (stat.changed(), before.map(SeenFile::seen));
        let untouched = before.filter(|then| then.changed.is_known() && then.changed == changed);
        let read = || {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            hashes_of_file(&self.root.join(names::from_bytes(path)), name, stat.size())
                // A file that cannot be read now keeps its content.
                .or(before.map(|before| before.content))
                .unwrap_or_else(|| Hashes::of_bytes(Hasher::default().with_number(stat.size())))
        };
        let content = untouched.map_or_else(read, |before| before.content);
        let is_left_alone = changed.seems_before(began, LEFT_ALONE);
        let changed = if is_left_alone { changed } else { FileTime::default() };
        FileSeen { content, mode: stat.mode(), changed }
    }
}

/// Time, mode and marks are those of the earlier look.
fn is_untouched(then: FileSeen, stat: &FileStat, marks: u64) -> bool {
    then.changed.is_known() && then.changed == stat.changed() && then.mode == stat.mode() | marks
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptContents {
    /// Tells the looks of one loop from those of another.
    pub number: u64,
    /// `None` for a project that was too large to look through.
    pub contents: Option<Contents>,
}

impl KeptContents {
    /// `None` if the bytes are no look.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        let number = Self::number_in(&bytes)?;
        let start = memchr::memchr(0, &bytes)? + 1;
        if !bytes[start..].starts_with(SEEN) {
            return Some(Self { number, contents: None });
        }
        let contents = Contents(Rc::new(Entries::parse(bytes, start + SEEN.len())?));
        Some(Self { number, contents: Some(contents) })
    }

    /// The number of a kept look, without its files; `None` if the bytes are no look.
    pub fn number_in(bytes: &[u8]) -> Option<u64> {
        let head = &bytes[..memchr::memchr(0, bytes)?];
        // A look that was kept with receipts has a line of theirs before it.
        let number = head.rsplit(|byte| *byte == b'\n').next()?;
        u64::from_str_radix(std::str::from_utf8(number).ok()?, 16).ok()
    }

    /// The bytes of a kept look in two parts: head and files.
    pub fn parts(number: u64, contents: Option<&Contents>) -> (Vec<u8>, &[u8]) {
        let mut head = format!("{number:x}\0").into_bytes();
        let files = contents.map(|Contents(files)| {
            head.extend_from_slice(SEEN);
            files.as_bytes()
        });
        (head, files.unwrap_or_default())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let (head, files) = Self::parts(self.number, self.contents.as_ref());
        [&head, files].concat()
    }
}

/// Bytes that are read of a file.
fn read_of(stat: &FileStat) -> u64 {
    stat.size().min(MOST_OF_ONE)
}

/// The [`FileSeen::number`] of a file now.
pub fn number_of(root: &Path, path: &[u8], stat: &FileStat) -> u64 {
    let (named, earlier) = (&[], None);
    let look = ContentsLook { root, without: "", named, earlier, limit: LIMIT, run: None };
    look.seen(path, stat, None, WallTime::default()).number()
}

/// Hashes of a file's content, or of a link's target. A long file is known by its size, beginning and end.
fn hashes_of_file(path: &Path, name: &[u8], size: u64) -> Option<Hashes> {
    let hash = Hasher::default().with_number(size);
    if let Ok(target) = fs::read_link(path) {
        return Some(Hashes::of_link(hash.with(target.as_os_str().as_encoded_bytes())));
    }
    // Spare room saves the reader a try: it does not know the size.
    let room = usize::try_from(size.min(MOST_OF_ONE)).unwrap_or_default() + 32;
    let (mut bytes, (mut file, _)) = (Vec::with_capacity(room), read::open(path).ok()?);
    if size > MOST_OF_ONE {
        file.by_ref().take(MOST_OF_ONE / 2).read_to_end(&mut bytes).ok()?;
        file.seek(SeekFrom::Start(size - MOST_OF_ONE / 2)).ok()?;
        file.take(MOST_OF_ONE / 2).read_to_end(&mut bytes).ok()?;
        return Some(Hashes::of_bytes(hash.with(&bytes)).or_nothing(&bytes));
    }
    file.take(MOST_OF_ONE).read_to_end(&mut bytes).ok()?;
    Some(Hashes::of(name, &bytes))
}

#[cfg(test)]
mod tests;
