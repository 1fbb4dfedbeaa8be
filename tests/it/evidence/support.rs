//! Scratch repositories, and what git and the program say of them.

use crate::support::limited::Limited;
use crate::support::scratch::Scratch;
use ralph_speckit::evidence::tree::{Bounds, FoundFile, Go, Whole, look};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A scratch folder that may be a repository.
pub struct Place {
    scratch: Scratch,
}

impl Deref for Place {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Place {
    pub fn new() -> Self {
        Self { scratch: Scratch::new("evidence-") }
    }

    pub fn repository() -> Self {
        let place = Self::new();
        place.git(&["init", "--quiet"]);
        place
    }

    pub fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.git_in("", arguments)
    }

    pub fn git_in(&self, folder: &str, arguments: &[&str]) -> Vec<u8> {
        let output = self.try_git(folder, arguments, &[]);
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        output.stdout
    }

    pub fn try_git(&self, folder: &str, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "core.quotePath=false"]);
        command.args(arguments).current_dir(self.path(folder));
        for (name, _) in std::env::vars_os() {
            if name.as_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        let input_path = self.beside("input");
        fs::write(&input_path, input).unwrap();
        command.stdin(Stdio::from(fs::File::open(input_path).unwrap()));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap().finish()
    }

    /// What the program takes for work, relative to a folder of this place.
    pub fn work(&self, folder: &str) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let bounds = Bounds {
            since: ralph_speckit::world::FileTime::default(),
            entries: usize::MAX,
            time: Duration::from_mins(1),
            run: None,
        };
        let whole = look(&self.path(folder), bounds, &mut |one| {
            if let FoundFile::File { folder, name, .. } = one {
                let path = [folder, name].concat();
                let fresh = found.insert(PathBuf::from(OsStr::from_bytes(&path)));
                assert!(fresh, "shown twice: {path:?}");
            }
            Go::On
        });
        assert_eq!(whole, Whole::Seen);
        found
    }

    /// What git tracks, and what it does not ignore.
    pub fn work_by_git(&self, folder: &str) -> BTreeSet<PathBuf> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let printed = self.git_in(folder, &list);
        let names = printed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let paths = names.map(|name| PathBuf::from(OsStr::from_bytes(name)));
        paths.filter(|path| self.path(folder).join(path).symlink_metadata().is_ok()).collect()
    }

    #[track_caller]
    pub fn agrees_with_git(&self) {
        assert_eq!(self.work(""), self.work_by_git(""));
    }
}

/// The names of a set, for comparing.
pub fn names(work: &BTreeSet<PathBuf>) -> Vec<&str> {
    work.iter().map(|path| path.to_str().unwrap()).collect()
}
