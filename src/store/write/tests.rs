//! A file is written whole or not at all, and nothing else changes.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn file_is_replaced_cleanly() {
    let scratch = scratch();
    let path = scratch.path().join("a.json");
    for (bytes, flush) in
        [(&b"one"[..], Flush::ToDisk), (b"", Flush::ToSystem), (b"three", Flush::ToSystem)]
    {
        write_whole(&path, bytes, flush).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    assert_eq!(names(scratch.path()), ["a.json"]);
}

#[test]
fn permissions_are_kept() {
    let scratch = scratch();
    let path = scratch.path().join("a.json");
    for mode in [0o600, 0o640, 0o444] {
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        write_whole(&path, b"after", Flush::ToSystem).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn readers_see_whole_contents() {
    let scratch = scratch();
    let path = scratch.path().join("a.json");
    let contents = [vec![b'a'; 100_000], vec![b'b'; 200_000]];
    fs::write(&path, &contents[0]).unwrap();
    std::thread::scope(|threads| {
        let writing = threads.spawn(|| {
            for turn in 0..50 {
                write_whole(&path, &contents[turn % 2], Flush::ToSystem).unwrap();
            }
        });
        while !writing.is_finished() {
            assert!(contents.contains(&fs::read(&path).unwrap()));
        }
    });
}

#[test]
fn non_file_is_left_alone() {
    let scratch = scratch();
    let (path, other) = (scratch.path().join("a.json"), scratch.path().join("other"));
    fs::create_dir(&path).unwrap();
    assert!(write_whole(&path, b"x", Flush::ToSystem).is_err());
    assert!(open_or_create(&path, File::options().append(true)).is_err());
    fs::remove_dir(&path).unwrap();
    fs::write(&other, "kept").unwrap();
    symlink(&other, &path).unwrap();
    assert!(write_whole(&path, b"x", Flush::ToSystem).is_err());
    assert!(append_line(&path, b"x").is_err());
    assert_eq!(fs::read(&other).unwrap(), b"kept");
    assert_eq!(names(scratch.path()), ["a.json", "other"], "no leftover");
}

#[test]
fn killed_leftover_is_no_obstacle() {
    let scratch = scratch();
    let path = scratch.path().join("a.json");
    let leftover = scratch.path().join(format!(".a.json.{}.0.tmp", std::process::id()));
    fs::write(&leftover, "half").unwrap();
    write_whole(&path, b"whole", Flush::ToSystem).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::read(&leftover).unwrap(), b"half", "it is not ours to take");
}

#[test]
fn failed_write_leaves_nothing() {
    let scratch = scratch();
    let gone = scratch.path().join("gone/a.json");
    assert_eq!(
        write_whole(&gone, b"x", Flush::ToSystem).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    // A name that leaves no room for the temporary one.
    let long = scratch.path().join("x".repeat(255));
    assert!(write_whole(&long, b"x", Flush::ToSystem).is_err());
    assert_eq!(names(scratch.path()), Vec::<String>::new());
}

#[test]
fn lines_are_not_torn() {
    let scratch = scratch();
    let path = scratch.path().join("journal.jsonl");
    std::thread::scope(|threads| {
        for writer in 0..8_u8 {
            let path = &path;
            threads.spawn(move || {
                for _ in 0..50 {
                    append_line(path, &[b'a' + writer; 300]).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 400);
    for line in text.lines() {
        assert_eq!(line.len(), 300);
        assert!(line.bytes().all(|byte| byte == line.as_bytes()[0]), "{line}");
    }
}

#[test]
fn l1_endless_line_spares_next() {
    let scratch = scratch();
    let path = scratch.path().join("journal.jsonl");
    for (before, after) in [
        ("", "new\n"),
        ("old\n", "old\nnew\n"),
        ("old\n{\"to", "old\n{\"to\nnew\n"),
        ("\0", "\0\nnew\n"),
    ] {
        fs::write(&path, before).unwrap();
        append_line(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
    }
}

#[test]
fn l8_old_leftovers_are_removed() {
    let scratch = scratch();
    let old = [".loop.json.12.0.tmp", ".open-tasks.txt.3.63.tmp", "..gitignore.1.0.tmp"];
    let kept = [".loop.json.12.tmp", ".mine.tmp", "loop.json.1.0.tmp", ".a.x.0.tmp"];
    for name in old.into_iter().chain(kept) {
        fs::write(scratch.path().join(name), "half").unwrap();
    }
    remove_all_leftovers(scratch.path(), LEFT_ALONE);
    assert_eq!(names(scratch.path()).len(), 7, "somebody may be writing them");
    for name in old.into_iter().chain(kept) {
        let long_ago = filetime::FileTime::from_unix_time(1, 0);
        filetime::set_file_mtime(scratch.path().join(name), long_ago).unwrap();
    }
    remove_all_leftovers(scratch.path(), LEFT_ALONE);
    let mut expected = kept.map(str::to_owned);
    expected.sort();
    assert_eq!(names(scratch.path()), expected);
}
