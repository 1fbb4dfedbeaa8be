//! Where a program is.

use std::path::{Path, PathBuf};

use crate::system::files;
use crate::world;

/// Returns where a program is: a path leads there by itself, a name is looked for in the absolute folders of the
/// `PATH`; `None` when nothing there can be started.
///
/// A relative folder of the `PATH` means another one in each folder that a program is started in.
pub fn find(program: impl AsRef<Path>) -> Option<PathBuf> {
    find_in(program.as_ref(), &world::raw_variable("PATH").unwrap_or_default())
}

fn find_in(program: &Path, path: &std::ffi::OsStr) -> Option<PathBuf> {
    let startable = |path| files::names_of_program(path).find(|it| files::is_program(it));
    if program.components().count() > 1 {
        return startable(program.to_owned());
    }
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find_map(startable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_be_started_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plain"), "").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        for name in ["plain", "folder", "nothing"] {
            assert_eq!(find_in(Path::new(name), folder.path().as_os_str()), None, "{name}");
            assert_eq!(find(folder.path().join(name)), None, "{name}");
        }
        assert!(find_in(Path::new("sh"), "/nowhere:/bin:/usr/bin".as_ref()).is_some());
        assert_eq!(find_in(Path::new("sh"), "../bin:bin:".as_ref()), None);
    }
}
