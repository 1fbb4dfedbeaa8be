//! A file is taken when its writer has left it alone, and not later than the deadline.

use super::*;
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const NAME: &str = "state.json";

fn folder() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let real = scratch.path().canonicalize().unwrap();
    (scratch, real)
}

fn is_whole(bytes: &[u8]) -> bool {
    bytes.ends_with(b"}")
}

fn settled(folder: &Path) -> Result<Vec<u8>, Problem> {
    let found = read_settled(folder, NAME, 1 << 20, Deadline::after(PATIENCE), is_whole);
    found.map(|content| content.bytes)
}

fn written_long_ago(folder: &Path, bytes: &[u8]) {
    let path = folder.join(NAME);
    fs::write(&path, bytes).unwrap();
    filetime::set_file_mtime(path, filetime::FileTime::from_unix_time(1_000_000, 0)).unwrap();
}

/// What is taken where each look at the file is followed by the next of these contents. Their dates lie in the future,
/// so that no file is old on a busy machine.
fn settled_while_written(folder: &Path, contents: &[&str]) -> Vec<u8> {
    let path = folder.join(NAME);
    let looks = Cell::new(0_u32);
    let write = |look: u32| {
        if let Some(content) = contents.get(look as usize) {
            fs::write(&path, content).unwrap();
            let later = filetime::FileTime::from_unix_time(5_000_000_000, look);
            filetime::set_file_mtime(&path, later).unwrap();
        }
        looks.set(look + 1);
    };
    write(0);
    let look = |bytes: &[u8]| {
        write(looks.get());
        is_whole(bytes)
    };
    let long = Deadline::after(Duration::from_mins(10));
    read_settled(folder, NAME, 1 << 20, long, look).unwrap().bytes
}

#[test]
fn old_file_is_taken() {
    let (_scratch, folder) = folder();
    for bytes in [&b"{}"[..], b"{", b""] {
        written_long_ago(&folder, bytes);
        assert_eq!(settled(&folder).unwrap(), bytes);
    }
}

#[test]
fn completed_file_is_taken_whole() {
    let (_scratch, folder) = folder();
    let halves = ["{\"a\":", "{\"a\":", "{\"a\":1", "{\"a\":1}"];
    assert_eq!(settled_while_written(&folder, &halves), b"{\"a\":1}");
}

#[test]
fn newest_whole_content_is_taken() {
    let (_scratch, folder) = folder();
    assert_eq!(settled_while_written(&folder, &["{1}", "{22}", "{333}"]), b"{333}");
}

#[test]
fn incomplete_file_comes_at_deadline() {
    let (_scratch, folder) = folder();
    fs::write(folder.join(NAME), "{").unwrap();
    assert_eq!(settled(&folder).unwrap(), b"{");
    let over = Deadline::after(Duration::ZERO);
    let at_once = read_settled(&folder, NAME, 1 << 20, over, is_whole).unwrap();
    assert_eq!(at_once.bytes, b"{");
}

#[test]
fn future_date_says_nothing() {
    let (_scratch, folder) = folder();
    let path = folder.join(NAME);
    fs::write(&path, "{}").unwrap();
    filetime::set_file_mtime(path, filetime::FileTime::from_unix_time(32_503_680_000, 0)).unwrap();
    assert_eq!(settled(&folder).unwrap(), b"{}");
}

#[test]
fn non_file_is_not_awaited() {
    let (_scratch, folder) = folder();
    assert_eq!(settled(&folder), Err(Problem::Missing));
    fs::create_dir(folder.join(NAME)).unwrap();
    assert_eq!(settled(&folder), Err(Problem::NotAFile("a folder")));
}

#[test]
fn overlarge_file_is_refused() {
    let (_scratch, folder) = folder();
    written_long_ago(&folder, &[b' '; 101]);
    let found = read_settled(&folder, NAME, 100, Deadline::after(PATIENCE), is_whole);
    assert_eq!(found.unwrap_err(), Problem::TooLarge { size: 101, most: 100 });
}
