//! A small disk of its own, where the system lets a test mount one.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::Command;

use crate::left_out::left_out;
use tempfile::TempDir;

/// Enough for a project and its notes.
const SIZE: &str = "size=4m";

/// A file system in memory that can be filled.
pub struct Disk(TempDir);

impl Disk {
    /// A new disk, `None` with a printed line where none can be mounted.
    pub fn mount() -> Option<Self> {
        let folder = TempDir::with_prefix("faults-disk-").unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => return Some(Self(folder)),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr);
                left_out(&format!("no disk can be mounted here: {}", why.trim()));
            }
            Err(error) => left_out(&format!("there is no `mount` here: {error}")),
        }
        None
    }

    /// A new folder on it.
    pub fn folder(&self) -> TempDir {
        TempDir::with_prefix_in("world-", self.0.path()).unwrap()
    }

    fn ballast(&self) -> PathBuf {
        self.0.path().join("ballast")
    }

    /// Fills it until only so many bytes are free.
    pub fn fill(&self, free: u64) {
        let mut file = File::create(self.ballast()).unwrap();
        let mut written = 0_u64;
        loop {
            match file.write(&[0; 4096]) {
                Ok(count) => written += count as u64,
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
            }
        }
        assert!(written > free, "the disk is too small: {written} bytes were free");
        file.set_len(written - free).unwrap();
    }

    /// Somebody makes room again.
    pub fn make_room(&self) {
        // A child of another test that has not become its program yet may still hold the file open.
        File::create(self.ballast()).unwrap();
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What is left of it is gone with the machine's memory.
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}
