//! Where a program is.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::system::files;
use crate::world;

/// Where programs are looked for without a `PATH`.
const WITHOUT_PATH: &str = if cfg!(unix) { "/usr/bin:/bin" } else { "" };

/// Real paths of the projects that this process works on.
static PROJECTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Excludes a project, by its real path, from the search: its authors could put another program in the place of the
/// real one.
pub fn leave_out(project: &Path) {
    let mut projects = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !projects.iter().any(|known| known == project) {
        projects.push(project.to_owned());
    }
}

/// Looks for a name in the absolute folders of the `PATH`, but in no project. A path stands for itself. `None` where
/// nothing there can be started.
///
/// A relative folder of the `PATH` would change with the folder in which a program starts.
pub fn find(program: impl AsRef<Path>) -> Option<PathBuf> {
    let mut projects = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // A repository around the home folder would hide all that the person has installed there.
    let home = world::home().unwrap_or_default();
    projects.retain(|project| !home.starts_with(project));
    let path = world::raw_variable("PATH").unwrap_or_else(|| WITHOUT_PATH.into());
    find_in(program.as_ref(), &path, &projects)
}

/// The program is a name, not a path: only the `PATH` tells its file.
pub fn is_name(program: &Path) -> bool {
    program.components().count() == 1
}

/// The program lies in this project (a real path), or leads there.
fn is_in(program: &Path, project: &Path) -> bool {
    let leads_there =
        |path: &Path| files::real_path(path).is_ok_and(|real| real.starts_with(project));
    program.starts_with(project)
        || leads_there(program)
        || program.parent().is_some_and(leads_there)
}

/// The command with the whole path of its program; an error where [`find`] does not find the name.
///
/// The system would search relative folders of the `PATH`, too, below the program's own folder: there it finds the
/// project's files.
pub fn resolved(command: Command) -> io::Result<Command> {
    let name = Path::new(command.get_program());
    let path = match find(name) {
        Some(path) if path != name => path,
        None if is_name(name) => {
            let words = format!("there is no program `{}` on the PATH", name.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, words));
        }
        _ => return Ok(command),
    };
    Ok(with_all_of(Command::new(path), &command))
}

/// Gives `program` the arguments, variables and folder of `command`.
pub fn with_all_of(mut program: Command, command: &Command) -> Command {
    program.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        program.current_dir(folder);
    }
    program
}

fn find_in(program: &Path, path: &OsStr, projects: &[PathBuf]) -> Option<PathBuf> {
    let startable = |path| files::names_of_program(path).find(|file| files::is_program(file));
    if !is_name(program) {
        return startable(program.to_owned());
    }
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut found = folders.filter_map(|folder| startable(folder.join(program)));
    found.find(|found| !projects.iter().any(|project| is_in(found, project)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unstartable_program_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plain"), "").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        for name in ["plain", "folder", "nothing"] {
            assert_eq!(find_in(Path::new(name), folder.path().as_os_str(), &[]), None, "{name}");
            assert_eq!(find(folder.path().join(name)), None, "{name}");
        }
        assert!(find_in(Path::new("sh"), "/nowhere:/bin:/usr/bin".as_ref(), &[]).is_some());
        assert_eq!(find_in(Path::new("sh"), "../bin:bin:".as_ref(), &[]), None);
    }

    #[test]
    fn named_command_starts_by_path() {
        let mut command = Command::new("sh");
        command.args(["-c", "true"]).current_dir("/").env("SET", "1").env_remove("GONE");
        let found = resolved(command).unwrap();
        assert!(Path::new(found.get_program()).is_absolute(), "{found:?}");
        assert_eq!(found.get_args().collect::<Vec<_>>(), ["-c", "true"]);
        assert_eq!(found.get_current_dir(), Some(Path::new("/")));
        assert_eq!(found.get_envs().count(), 2);
        let error = resolved(Command::new("no-such-program")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(error.to_string(), "there is no program `no-such-program` on the PATH");
        assert_eq!(resolved(Command::new("/no/such")).unwrap().get_program(), "/no/such");
    }

    #[test]
    fn s13_project_program_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (project, beside) = (top.join("project"), top.join("beside"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&beside).unwrap();
        std::os::unix::fs::symlink("/bin/sh", project.join("sh")).unwrap();
        std::fs::write(project.join("own"), "").unwrap();
        std::os::unix::fs::symlink(project.join("own"), beside.join("link")).unwrap();
        std::os::unix::fs::symlink(&project, beside.join("folder")).unwrap();
        for inside in ["project/sh", "project/own", "beside/link", "beside/folder/sh"] {
            assert!(is_in(&top.join(inside), &project), "{inside}");
        }
        assert!(!is_in(Path::new("/bin/sh"), &project));
        let searched = |folder: &str| {
            let path = std::env::join_paths([top.join(folder), "/bin".into()]).unwrap();
            find_in(Path::new("sh"), &path, std::slice::from_ref(&project)).unwrap()
        };
        assert_eq!(searched("project"), Path::new("/bin/sh"));
        assert_eq!(searched("beside/folder"), Path::new("/bin/sh"));
        std::os::unix::fs::symlink("/bin/sh", beside.join("sh")).unwrap();
        assert_eq!(searched("beside"), beside.join("sh"));
    }
}
