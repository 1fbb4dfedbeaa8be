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
use crate::world::FileTime;

/// The most files that are looked at.
const MOST_FILES: usize = 20_000;
/// The longest that a look takes.
const LIMIT: Duration = Duration::from_secs(2);
/// The most that is read of all files together, and of one, in bytes: of a longer one, size and beginning count.
const MOST: u64 = 128 << 20;
const MOST_OF_ONE: u64 = 2 << 20;
/// What a kept look has before its files; what an earlier version kept has another word there, and is none.
const SEEN: &[u8] = b"seen2";
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

/// What is known of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSeen {
    content: Hashes,
    /// Its kind, and whether it may be run; with [`IGNORED`] for a file that git ignores.
    mode: u64,
}

impl Contents {
    /// Returns the contents as they are now, without the file at this path, and with those that are `named` also where git
    /// ignores them; `None` where there is more than can be looked through.
    pub fn look(root: &Path, without: &str, named: &[String]) -> Option<Self> {
        Self::look_within(root, without, named, LIMIT)
    }

    /// Returns the same; looks no longer than that.
    pub fn look_within(
        root: &Path,
        without: &str,
        named: &[String],
        limit: Duration,
    ) -> Option<Self> {
        let mut found = BTreeMap::new();
        let mut left = MOST;
        let bounds = Bounds { since: FileTime::default(), entries: MOST_FILES, time: limit };
        let whole = look(root, bounds, &mut |file| {
            let FoundFile::File { folder, name, stat, .. } = file else { return Go::On };
            let path = [folder, name].concat();
            if path == without.as_bytes() {
                return Go::On;
            }
            let read = stat.size().min(MOST_OF_ONE);
            if read > left {
                return Go::Stop;
            }
            left -= read;
            let content = hashes_of_file(&root.join(names::from_bytes(&path)), name, stat.size());
            found.insert(path, FileSeen { content, mode: stat.mode() });
            Go::On
        });
        if whole != Whole::Seen {
            return None;
        }
        for path in named.iter().take(MOST_NAMED).filter(|path| *path != without) {
            let at = Path::new(path);
            let is_work = !is_own(at) && !at.components().any(|part| part.as_os_str() == ".git");
            if !is_work || found.contains_key(path.as_bytes()) {
                continue;
            }
            let Some(stat) = FileStat::of_entry(&root.join(at)).filter(|stat| !stat.is_folder())
            else {
                continue;
            };
            let read = stat.size().min(MOST_OF_ONE);
            if read <= left {
                left -= read;
                let name = path.rsplit('/').next().unwrap_or(path).as_bytes();
                let content = hashes_of_file(&root.join(at), name, stat.size());
                let seen = FileSeen { content, mode: stat.mode() | IGNORED };
                found.insert(path.clone().into_bytes(), seen);
            }
        }
        Some(Self(found))
    }

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
            found.insert(path.to_owned(), FileSeen { content, mode: number()? });
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
            for (path, FileSeen { content, mode }) in files {
                let Hashes { bytes: all, words, code } = content;
                // No path has a zero byte.
                let line = format!("\0{all:x} {words:x} {code:x} {mode:x}\0");
                bytes.extend_from_slice(line.as_bytes());
                bytes.extend_from_slice(path);
            }
        }
        bytes
    }
}

fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// The hashes of what a file contains, or of where a link leads; what cannot be read is known by its size, and a long file by
/// its size and its beginning.
fn hashes_of_file(path: &Path, name: &[u8], size: u64) -> Hashes {
    let hash = Hasher::default().with_number(size);
    if let Ok(target) = fs::read_link(path) {
        return Hashes::of_bytes(hash.with(target.as_os_str().as_encoded_bytes()));
    }
    let mut bytes = Vec::new();
    let Ok((file, _)) = read::open(path) else { return Hashes::of_bytes(hash) };
    // What was read counts, whatever came after it.
    let _ = file.take(MOST_OF_ONE).read_to_end(&mut bytes);
    if size > MOST_OF_ONE {
        return Hashes::of_bytes(hash.with(&bytes));
    }
    Hashes::of(name, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_has_not_changed_and_what_is_gone_has() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for name in ["gone", "list", "same", "touched"] {
            write(name, name);
        }
        let before = Contents::look(folder.path(), "list", &[]).unwrap();
        let paths = |changed: Vec<ChangedFile>| {
            changed.into_iter().map(|file| file.path).collect::<Vec<_>>()
        };
        for contents in [Some(before.clone()), Some(Contents::default()), None] {
            let kept = KeptContents { number: 7, contents };
            assert_eq!(KeptContents::parse(&kept.to_bytes()), Some(kept));
        }
        assert_eq!(KeptContents::parse(b"x"), None);
        let earlier_form = KeptContents { number: 7, contents: None };
        assert_eq!(KeptContents::parse(b"7\0seen\x0012ab\0a.rs"), Some(earlier_form));
        write("touched", "touched");
        write("list", "ticked");
        write("new", "");
        fs::remove_file(folder.path().join("gone")).unwrap();
        std::os::unix::fs::symlink("gone", folder.path().join("link")).unwrap();
        let now = Contents::look(folder.path(), "list", &[]).unwrap();
        assert_eq!(paths(now.changed_since(&before)), ["gone", "link", "new"]);
        write("same", "sane");
        let later = Contents::look(folder.path(), "list", &[]).unwrap();
        assert_eq!(paths(later.changed_since(&now)), ["same"]);
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
        let look = || Contents::look(folder.path(), "tasks.md", &named).unwrap();
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
        let look = || Contents::look(folder.path(), "tasks.md", &[]).unwrap();
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
