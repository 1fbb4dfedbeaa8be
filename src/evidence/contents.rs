//! What the files of a project contained when a task began: a hash of each, which tells a changed file from a touched one.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::comments::Hashes;
use super::tree::{Bounds, FoundFile, Go, Whole, is_own, look};
use crate::engine::Hasher;
use crate::engine::order::sorted;
use crate::engine::proof::{ChangedFile, ContentChange};
use crate::store::read;
use crate::system::folders::FileStat;
use crate::system::names;
use crate::world::{self, FileTime, WallTime};

/// The most files that are looked at.
const MOST_FILES: usize = 20_000;
/// The longest that a look takes.
const LIMIT: Duration = Duration::from_secs(2);
/// The most that is read of all files together, and of one, in bytes: of a longer one, size and beginning count.
const MOST: u64 = 128 << 20;
const MOST_OF_ONE: u64 = 2 << 20;
/// What a kept look has before its files; what an earlier version kept has another word there, and is none.
const SEEN: &[u8] = b"seen3";
/// How long before a look a file must have been left alone: what is written later has another time then, for the clock of the
/// files goes in steps.
const LEFT_ALONE: Duration = Duration::from_secs(3);
/// The most files that are looked at although git ignores them, because the task list names them.
pub const MOST_NAMED: usize = 500;
/// What the mode of such a file has besides.
const IGNORED: u64 = 1 << 63;
/// Files that say something by being there, with nothing in them.
const EMPTY_BY_PURPOSE: [&[u8]; 6] =
    [b"__init__.py", b".gitkeep", b".keep", b"py.typed", b".nojekyll", b".npmignore"];

/// What is known of each file that is work, by its path relative to the project, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<Vec<u8>, FileSeen>);

/// A look at what the files of a project contain.
#[derive(Clone, Copy, Debug)]
pub struct ContentsLook<'a> {
    /// The project.
    pub root: &'a Path,
    /// The path of a file that is left out.
    pub without: &'a str,
    /// Files that are looked at also where git ignores them.
    pub named: &'a [String],
    /// An earlier look: what nobody has touched since is not read again.
    pub earlier: Option<&'a Contents>,
    /// The longest that it takes; none is longer than 2 s.
    pub limit: Duration,
}

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSeen {
    content: Hashes,
    /// Its kind, and whether it may be run; with [`IGNORED`] for a file that git ignores.
    mode: u64,
    /// When it was changed last, by the clock of the files; not known for one that was changed shortly before the look.
    changed: FileTime,
}

impl Contents {
    /// Returns the files that differ since an earlier look, in the order of their paths, and how. A new file is compared with
    /// an empty one: without any code in it, it is not content yet, unless its name says that it is empty by purpose.
    pub fn changed_since(&self, earlier: &Self) -> Vec<ChangedFile> {
        let (now, before) = (&self.0, &earlier.0);
        let new: Vec<_> = now.iter().filter(|(path, _)| !before.contains_key(*path)).collect();
        let gone: Vec<_> = before.iter().filter(|(path, _)| !now.contains_key(*path)).collect();
        let mut changed = Vec::new();
        for (path, seen) in now {
            let change = match before.get(path) {
                Some(before) => seen.differs_from(before),
                None if gone.iter().any(|(_, gone)| seen.is_moved_from(gone)) => {
                    Some(ContentChange::Moved)
                }
                None => Some(seen.as_new(path)),
            };
            changed.extend(change.map(|change| (path, seen.of_work(change))));
        }
        for (path, seen) in &gone {
            let is_moved = new.iter().any(|(_, new)| new.is_moved_from(seen));
            let change = if is_moved { ContentChange::Moved } else { ContentChange::Content };
            changed.push((path, seen.of_work(change)));
        }
        let changed = sorted(changed, |(one, _): &(&Vec<u8>, _), (other, _)| one.cmp(other));
        let file = |(path, change): (&Vec<u8>, ContentChange)| ChangedFile {
            path: String::from_utf8_lossy(path).into_owned(),
            change,
        };
        changed.into_iter().map(file).collect()
    }
}

impl ContentsLook<'_> {
    /// Returns the contents as they are now; `None` where there is more than can be looked through.
    pub fn contents(&self) -> Option<Contents> {
        let began = world::now();
        let mut found = BTreeMap::new();
        let mut left = MOST;
        let time = self.limit.min(LIMIT);
        let bounds = Bounds { since: FileTime::default(), entries: MOST_FILES, time };
        let whole = look(self.root, bounds, &mut |file| {
            let FoundFile::File { folder, name, stat, .. } = file else { return Go::On };
            let path = [folder, name].concat();
            if path == self.without.as_bytes() {
                return Go::On;
            }
            let read = stat.size().min(MOST_OF_ONE);
            if read > left {
                return Go::Stop;
            }
            left -= read;
            let seen = self.seen(&path, name, stat, began);
            found.insert(path, seen);
            Go::On
        });
        if whole != Whole::Seen {
            return None;
        }
        for path in self.named.iter().take(MOST_NAMED).filter(|path| *path != self.without) {
            let at = Path::new(path);
            let is_work = !is_own(at) && !at.components().any(|part| part.as_os_str() == ".git");
            if !is_work || found.contains_key(path.as_bytes()) {
                continue;
            }
            let stat = FileStat::of_entry(&self.root.join(at)).filter(|stat| !stat.is_folder());
            let Some(stat) = stat else { continue };
            let read = stat.size().min(MOST_OF_ONE);
            if read <= left {
                left -= read;
                let name = path.rsplit('/').next().unwrap_or(path).as_bytes();
                let seen = self.seen(path.as_bytes(), name, &stat, began);
                let seen = FileSeen { mode: seen.mode | IGNORED, ..seen };
                found.insert(path.clone().into_bytes(), seen);
            }
        }
        for (path, seen) in self.earlier.iter().flat_map(|earlier| &earlier.0) {
            if found.contains_key(path) {
                continue;
            }
            // A folder that could not be read now, or a file that git ignores since: it is not gone, and may have changed.
            let there = FileStat::of_entry(&self.root.join(names::from_bytes(path)));
            let Some(stat) = there.filter(|stat| !stat.is_folder()) else { continue };
            let read = stat.size().min(MOST_OF_ONE);
            let mut again = *seen;
            if read <= left {
                left -= read;
                let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
                again = self.seen(path, name, &stat, began);
                again.mode |= IGNORED;
            }
            found.insert(path.clone(), again);
        }
        Some(Contents(found))
    }

    /// What is known of a file, from the earlier look where nobody has touched it since.
    fn seen(&self, path: &[u8], name: &[u8], stat: &FileStat, began: WallTime) -> FileSeen {
        let changed = stat.changed();
        let before = self.earlier.and_then(|earlier| earlier.0.get(path));
        let untouched = before.filter(|it| it.changed.is_known() && it.changed == changed);
        let read = || {
            hashes_of_file(&self.root.join(names::from_bytes(path)), name, stat.size())
                // What cannot be read now is not another file for that.
                .or(before.map(|before| before.content))
                .unwrap_or_else(|| Hashes::of_bytes(Hasher::default().with_number(stat.size())))
        };
        let content = untouched.map_or_else(read, |before| before.content);
        let is_left_alone = changed.seems_before(began, LEFT_ALONE);
        let changed = if is_left_alone { changed } else { FileTime::default() };
        FileSeen { content, mode: stat.mode(), changed }
    }
}

impl FileSeen {
    /// The same change, as far as it shows work: git ignores what programs make as they run.
    fn of_work(&self, change: ContentChange) -> ContentChange {
        match change {
            ContentChange::Content if self.mode & IGNORED != 0 => ContentChange::Ignored,
            change => change,
        }
    }

    /// How it differs from what it was, `None` where it does not.
    fn differs_from(&self, before: &Self) -> Option<ContentChange> {
        let (now, then) = (&self.content, &before.content);
        match () {
            () if now.bytes == then.bytes && (self.mode ^ before.mode) & !IGNORED == 0 => None,
            () if now.bytes == then.bytes => Some(ContentChange::Mode),
            () if now.words == then.words => Some(ContentChange::Blanks),
            () if now.code == then.code => Some(ContentChange::Comments),
            () => Some(ContentChange::Content),
        }
    }

    /// Whether it is a file that is gone, at another path.
    fn is_moved_from(&self, gone: &Self) -> bool {
        let (now, then) = (&self.content, &gone.content);
        let is_empty = now.code == Hashes::of_nothing().code;
        !is_empty && (now.bytes == then.bytes || now.code == then.code)
    }

    /// How a new file differs from none.
    fn as_new(&self, path: &[u8]) -> ContentChange {
        let nothing = Hashes::of_nothing();
        match () {
            () if self.content.code != nothing.code => ContentChange::Content,
            () if EMPTY_BY_PURPOSE.iter().any(|name| path.ends_with(name)) => {
                ContentChange::Content
            }
            () if self.content.words != nothing.words => ContentChange::Comments,
            () => ContentChange::Blanks,
        }
    }
}

/// A look at the contents that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptContents {
    /// What tells the look of one loop from that of another.
    pub number: u64,
    /// What was seen; `None` where there was more than could be looked through.
    pub contents: Option<Contents>,
}

impl KeptContents {
    /// Returns the look in the bytes of a file, `None` where they are no look.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.split(|byte| *byte == 0);
        let number = hex(parts.next()?)?;
        if parts.next()? != SEEN {
            return Some(Self { number, contents: None });
        }
        let mut found = BTreeMap::new();
        while let (Some(seen), Some(path)) = (parts.next(), parts.next()) {
            let mut numbers = seen.split(|byte| *byte == b' ').map(hex);
            let mut number = || numbers.next().flatten();
            let content = Hashes { bytes: number()?, words: number()?, code: number()? };
            let (mode, changed) = (number()?, FileTime::of(0, number()?));
            found.insert(path.to_owned(), FileSeen { content, mode, changed });
        }
        Some(Self { number, contents: Some(Contents(found)) })
    }

    /// Returns the number of the look in the bytes of a file, `None` where they are no look; its files are not read.
    pub fn number_in(bytes: &[u8]) -> Option<u64> {
        hex(bytes.split(|byte| *byte == 0).next()?)
    }

    /// Returns the look as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{:x}\0", self.number).into_bytes();
        if let Some(Contents(files)) = &self.contents {
            bytes.extend_from_slice(SEEN);
            for (path, FileSeen { content, mode, changed }) in files {
                let Hashes { bytes: all, words, code } = content;
                let changed = changed.nanoseconds();
                // No path has a zero byte.
                let line = format!("\0{all:x} {words:x} {code:x} {mode:x} {changed:x}\0");
                bytes.extend_from_slice(line.as_bytes());
                bytes.extend_from_slice(path);
            }
        }
        bytes
    }
}

/// The number that these digits are, of which there are thousands in a kept look; `None` for anything else.
fn hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |number, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(number << 4 | u64::from(digit))
    })
}

/// The hashes of what a file contains, or of where a link leads; a long file is known by its size and its beginning. `None`
/// for one that cannot be read.
fn hashes_of_file(path: &Path, name: &[u8], size: u64) -> Option<Hashes> {
    let hash = Hasher::default().with_number(size);
    if let Ok(target) = fs::read_link(path) {
        return Some(Hashes::of_bytes(hash.with(target.as_os_str().as_encoded_bytes())));
    }
    let mut bytes = Vec::new();
    let (file, _) = read::open(path).ok()?;
    file.take(MOST_OF_ONE).read_to_end(&mut bytes).ok()?;
    if size > MOST_OF_ONE {
        return Some(Hashes::of_bytes(hash.with(&bytes)));
    }
    Some(Hashes::of(name, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_at(root: &Path, without: &str, named: &[String]) -> Option<Contents> {
        ContentsLook { root, without, named, earlier: None, limit: LIMIT }.contents()
    }

    #[test]
    fn what_nobody_has_touched_since_an_earlier_look_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["old", "new"] {
            fs::write(root.join(name), name).unwrap();
        }
        // A look of later: both were left alone by then.
        let stat = |name: &str| FileStat::of_entry(&root.join(name)).unwrap();
        let later = world::now().after(Duration::from_secs(9));
        let look = ContentsLook { root, without: "", named: &[], earlier: None, limit: LIMIT };
        let seen = |name: &str| look.seen(name.as_bytes(), name.as_bytes(), &stat(name), later);
        let wrong = Hashes::of(b"", b"it is not read");
        let known = |name: &str| FileSeen { content: wrong, ..seen(name) };
        let earlier = ["old", "new"].map(|name| (name.as_bytes().to_vec(), known(name)));
        let earlier = Contents(earlier.into());
        let again = ContentsLook { earlier: Some(&earlier), ..look };
        assert_eq!(again.contents().unwrap().0[&b"old"[..]].content, wrong);
        world::pause(Duration::from_millis(30));
        fs::write(root.join("new"), "age").unwrap();
        assert_eq!(again.contents().unwrap().0[&b"new"[..]].content, Hashes::of(b"new", b"age"));
        // What was changed right before a look is read again at the next one.
        let now = look.contents().unwrap();
        assert!(now.0.values().all(|seen| !seen.changed.is_known()), "{now:?}");
    }

    #[test]
    fn what_is_touched_has_not_changed_and_what_is_gone_has() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for name in ["gone", "list", "same", "touched"] {
            write(name, name);
        }
        let before = look_at(folder.path(), "list", &[]).unwrap();
        let paths = |changed: Vec<ChangedFile>| {
            changed.into_iter().map(|file| file.path).collect::<Vec<_>>()
        };
        for contents in [Some(before.clone()), Some(Contents::default()), None] {
            let kept = KeptContents { number: 7, contents };
            assert_eq!(KeptContents::parse(&kept.to_bytes()), Some(kept));
        }
        assert_eq!(KeptContents::parse(b"x"), None);
        let earlier_form = KeptContents { number: 7, contents: None };
        for bytes in [&b"7\0seen\x0012ab\0a.rs"[..], b"7\0seen2\x001 2 3 4\0a.rs"] {
            assert_eq!(KeptContents::parse(bytes), Some(earlier_form.clone()));
        }
        write("touched", "touched");
        write("list", "ticked");
        write("new", "");
        fs::remove_file(folder.path().join("gone")).unwrap();
        std::os::unix::fs::symlink("gone", folder.path().join("link")).unwrap();
        let now = look_at(folder.path(), "list", &[]).unwrap();
        assert_eq!(paths(now.changed_since(&before)), ["gone", "link", "new"]);
        write("same", "sane");
        let later = look_at(folder.path(), "list", &[]).unwrap();
        assert_eq!(paths(later.changed_since(&now)), ["same"]);
    }

    #[test]
    fn what_cannot_be_looked_at_now_is_not_gone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join(".git/info")).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        for name in ["a", "gone", "later.log", "sub/b"] {
            fs::write(root.join(name), name).unwrap();
        }
        let look = |earlier| {
            let named = &[];
            ContentsLook { root, without: "", named, earlier, limit: LIMIT }.contents()
        };
        let before = look(None).unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join(".git/info/exclude"), "*.log\n").unwrap();
        // It can be searched and not be listed; a person who may read all sees it in any case.
        let mode = |bits| fs::Permissions::from_mode(bits);
        fs::set_permissions(root.join("sub"), mode(0o300)).unwrap();
        let changed = look(Some(&before)).unwrap().changed_since(&before);
        fs::set_permissions(root.join("sub"), mode(0o700)).unwrap();
        let paths: Vec<_> = changed.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["gone"]);
        fs::write(root.join("later.log"), "another").unwrap();
        let changed = look(Some(&before)).unwrap().changed_since(&before);
        let hidden = |it: &&ChangedFile| it.path == "later.log";
        assert_eq!(changed.iter().find(hidden).unwrap().change, ContentChange::Ignored);
        let without = ContentsLook {
            root: &root.join("nowhere"),
            without: "",
            named: &[],
            earlier: None,
            limit: LIMIT,
        };
        assert_eq!(without.contents(), None);
    }

    #[test]
    fn a_file_that_git_ignores_counts_where_the_list_names_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/info")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(".gitignore", "*.env\n");
        for name in ["a.env", "b.env", "gone.env", "old.env", "seen.txt"] {
            write(name, name);
        }
        let named = ["a.env", "gone.env", "new.env", "old.env", "seen.txt", ".git/HEAD", ".git"];
        let named = named.map(str::to_owned);
        let look = || look_at(folder.path(), "tasks.md", &named).unwrap();
        let before = look();
        let kept = KeptContents { number: 7, contents: Some(before.clone()) };
        assert_eq!(KeptContents::parse(&kept.to_bytes()), Some(kept));
        for name in ["a.env", "b.env", "new.env", "seen.txt", ".git/HEAD"] {
            write(name, "another");
        }
        fs::remove_file(folder.path().join("gone.env")).unwrap();
        let changed: Vec<_> =
            look().changed_since(&before).into_iter().map(|it| (it.path, it.change)).collect();
        let wanted = [
            ("a.env", ContentChange::Ignored),
            ("gone.env", ContentChange::Ignored),
            ("new.env", ContentChange::Ignored),
            ("seen.txt", ContentChange::Content),
        ];
        assert_eq!(changed, wanted.map(|(path, change)| (path.to_owned(), change)));
        // Git does not ignore it any more, and nothing else is different.
        let ignored = look();
        write(".gitignore", "");
        let changed = look().changed_since(&ignored);
        let paths: Vec<_> = changed.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, [".gitignore", "b.env"]);
    }

    #[test]
    fn how_a_file_differs() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let look = || look_at(folder.path(), "tasks.md", &[]).unwrap();
        for name in
            ["blanks.rs", "code.rs", "comment.rs", "from.rs", "gone.rs", "mode.sh", "twin.rs"]
        {
            write(name, &format!("fn a() {{ \"{name}\" }}\n"));
        }
        let before = look();
        write("blanks.rs", "fn a()\r\n{ \"blanks.rs\" }\r\n\r\n");
        write("code.rs", "fn b() {}\n");
        write("comment.rs", "// It is.\nfn a() { \"comment.rs\" }\n");
        fs::rename(folder.path().join("from.rs"), folder.path().join("to.rs")).unwrap();
        fs::remove_file(folder.path().join("gone.rs")).unwrap();
        fs::set_permissions(folder.path().join("mode.sh"), PermissionsExt::from_mode(0o755))
            .unwrap();
        write("copy.rs", "fn a() { \"twin.rs\" }\n");
        write("empty.rs", "\n");
        write("remark.rs", "// TODO\n");
        write("__init__.py", "");
        let changed: Vec<_> =
            look().changed_since(&before).into_iter().map(|it| (it.path, it.change)).collect();
        let wanted = [
            ("__init__.py", ContentChange::Content),
            ("blanks.rs", ContentChange::Blanks),
            ("code.rs", ContentChange::Content),
            ("comment.rs", ContentChange::Comments),
            ("copy.rs", ContentChange::Content),
            ("empty.rs", ContentChange::Blanks),
            ("from.rs", ContentChange::Moved),
            ("gone.rs", ContentChange::Content),
            ("mode.sh", ContentChange::Mode),
            ("remark.rs", ContentChange::Comments),
            ("to.rs", ContentChange::Moved),
        ];
        assert_eq!(changed, wanted.map(|(path, change)| (path.to_owned(), change)));
    }
}
