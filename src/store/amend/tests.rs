//! Whatever others write into a file meanwhile stays.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::world::Stopwatch;

const MOST: u64 = 1 << 20;

/// Changes a file until another program has written all its lines, and returns what it is then.
fn crossed(
    change: impl Fn(&[u8], usize) -> Vec<u8>,
    write: impl Fn(&Path, usize) + Sync,
) -> Vec<u8> {
    const LINES: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.md");
    fs::write(&path, "- [ ] T001 a\n- [ ] T002 b\n").unwrap();
    let written = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for line in 0..LINES {
                write(&path, line);
                written.store(line + 1, Ordering::Release);
            }
        });
        for turn in 0.. {
            let is_last = written.load(Ordering::Acquire) == LINES;
            amend(&path, MOST, |text| Some(change(text, turn))).unwrap();
            if is_last {
                break;
            }
        }
    });
    let text = fs::read(&path).unwrap();
    for line in 0..LINES {
        let line = format!("- [ ] mine {line}.\n");
        assert!(memchr::memmem::find(&text, line.as_bytes()).is_some(), "lost: {line}");
    }
    let others = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(others, 1, "no other file is left");
    text
}

/// A busy machine may let a writer stand still for longer than the old file is watched: such a writer writes again.
fn append(path: &Path, line: usize) {
    loop {
        let clock = Stopwatch::start();
        let mut file = File::options().append(true).open(path).unwrap();
        // In one write: the rest of a line would come behind what others append meanwhile.
        file.write_all(format!("- [ ] mine {line}.\n").as_bytes()).unwrap();
        if clock.elapsed() < LATE / 2 {
            break;
        }
    }
}

#[test]
fn n1_ticks_keep_what_others_append() {
    let text = crossed(
        |text, turn| {
            let mut text = text.to_vec();
            text[3] = if turn % 2 == 0 { b'x' } else { b' ' };
            text
        },
        append,
    );
    assert!(text.starts_with(b"- [x] T001 a\n") || text.starts_with(b"- [ ] T001 a\n"));
}

#[test]
fn n1_new_lines_keep_appended_ones() {
    let text = crossed(
        |text, turn| {
            [&text[..13], format!("- [ ] ours {turn}.\n").as_bytes(), &text[13..]].concat()
        },
        append,
    );
    let ours = text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"- [ ] ours"));
    assert!(ours.count() > 0);
}

/// As an editor saves: a new file takes the name of the old one.
fn save(path: &Path, line: usize) {
    let text = [fs::read(path).unwrap(), format!("- [ ] mine {line}.\n").into_bytes()].concat();
    let next = path.with_extension("md~");
    fs::write(&next, text).unwrap();
    fs::rename(&next, path).unwrap();
}

#[test]
fn n1_an_editor_loses_no_line() {
    crossed(
        |text, turn| [&text[..3], b"x "[turn % 2..=turn % 2].into(), &text[4..]].concat(),
        save,
    );
}

#[test]
fn a_refusal_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.md");
    fs::write(&path, "a").unwrap();
    assert_eq!(amend(&path, MOST, |_| None).unwrap(), None);
    assert_eq!(amend(&path, MOST, |text| Some(text.to_vec())).unwrap(), Some(b"a".to_vec()));
    assert!(amend(&path, 0, |text| Some(text.to_vec())).is_err(), "it is too large");
    assert!(amend(folder.path(), MOST, |text| Some(text.to_vec())).is_err(), "a folder");
    fs::remove_file(&path).unwrap();
    assert!(amend(&path, MOST, |text| Some(text.to_vec())).is_err(), "nothing is there");
}

#[test]
fn unwritable_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.md");
    fs::write(&path, "- [ ] a").unwrap();
    let mut allowed = path.metadata().unwrap().permissions();
    allowed.set_readonly(true);
    fs::set_permissions(&path, allowed).unwrap();
    amend(&path, MOST, |_| Some(b"- [x] a".to_vec())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"- [x] a");
    assert!(path.metadata().unwrap().permissions().readonly());
}
