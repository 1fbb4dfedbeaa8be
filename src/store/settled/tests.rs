//! A file is taken when its writer has left it alone, and not later than the deadline.

use super::*;
use std::fs;
use std::path::PathBuf;
use std::thread;
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

/// Writes what is to come after a while, from another thread.
fn later(folder: &Path, after: u64, bytes: &'static [u8]) -> thread::JoinHandle<()> {
    let path = folder.join(NAME);
    thread::spawn(move || {
        world::pause(Duration::from_millis(after));
        fs::write(path, bytes).unwrap();
    })
}

#[test]
fn an_old_file_is_taken_as_it_is() {
    let (_scratch, folder) = folder();
    for bytes in [&b"{}"[..], b"{", b""] {
        written_long_ago(&folder, bytes);
        assert_eq!(settled(&folder).unwrap(), bytes);
    }
}

#[test]
fn a_file_that_is_completed_in_time_is_taken_whole() {
    let (_scratch, folder) = folder();
    fs::write(folder.join(NAME), "{\"a\":").unwrap();
    let writer = later(&folder, 600, b"{\"a\":1}");
    assert_eq!(settled(&folder).unwrap(), b"{\"a\":1}");
    writer.join().unwrap();
}

#[test]
fn the_newest_of_several_whole_contents_is_taken() {
    let (_scratch, folder) = folder();
    fs::write(folder.join(NAME), "{1}").unwrap();
    let writers = [later(&folder, 40, b"{22}"), later(&folder, 80, b"{333}")];
    assert_eq!(settled(&folder).unwrap(), b"{333}");
    for writer in writers {
        writer.join().unwrap();
    }
}

#[test]
fn a_file_that_is_never_completed_is_taken_at_the_deadline() {
    let (_scratch, folder) = folder();
    fs::write(folder.join(NAME), "{").unwrap();
    assert_eq!(settled(&folder).unwrap(), b"{");
    let over = Deadline::after(Duration::ZERO);
    let at_once = read_settled(&folder, NAME, 1 << 20, over, is_whole).unwrap();
    assert_eq!(at_once.bytes, b"{");
}

#[test]
fn a_date_in_the_future_says_nothing() {
    let (_scratch, folder) = folder();
    let path = folder.join(NAME);
    fs::write(&path, "{}").unwrap();
    filetime::set_file_mtime(path, filetime::FileTime::from_unix_time(32_503_680_000, 0)).unwrap();
    assert_eq!(settled(&folder).unwrap(), b"{}");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let (_scratch, folder) = folder();
    assert_eq!(settled(&folder), Err(Problem::Missing));
    fs::create_dir(folder.join(NAME)).unwrap();
    assert_eq!(settled(&folder), Err(Problem::NotAFile("a folder")));
}

#[test]
fn a_file_larger_than_allowed_is_refused() {
    let (_scratch, folder) = folder();
    written_long_ago(&folder, &[b' '; 101]);
    let found = read_settled(&folder, NAME, 100, Deadline::after(PATIENCE), is_whole);
    assert_eq!(found.unwrap_err(), Problem::TooLarge { size: 101, most: 100 });
}
