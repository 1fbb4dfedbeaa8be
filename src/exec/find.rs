//! Where a program is.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::system::files;
use crate::world;

/// Where the system looks for programs when there is no `PATH`.
const WITHOUT_PATH: &str = if cfg!(unix) { "/usr/bin:/bin" } else { "" };

/// The projects that this process works on, real paths.
static PROJECTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has no program looked for in a project, a real path: whoever works on the project can put another one in its place.
pub fn leave_out(project: &Path) {
    let mut projects = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !projects.iter().any(|known| known == project) {
        projects.push(project.to_owned());
    }
}

/// Returns where a program is: a path leads there by itself, a name is looked for in the absolute folders of the `PATH`, but in
/// no project; `None` when nothing there can be started.
///
/// A relative folder of the `PATH` means another one in each folder that a program is started in.
pub fn find(program: impl AsRef<Path>) -> Option<PathBuf> {
    let mut projects = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // A repository around the person's own folder has all that the person has installed there.
    let home = world::home().unwrap_or_default();
    projects.retain(|project| !home.starts_with(project));
    let path = world::raw_variable("PATH").unwrap_or_else(|| WITHOUT_PATH.into());
    find_in(program.as_ref(), &path, &projects)
}

/// Returns whether a program is a name, and no path: which file it is, only the `PATH` says.
pub fn is_name(program: &Path) -> bool {
    program.components().count() == 1
}

/// Whether a program is in this project, a real path, or leads there.
fn is_in(program: &Path, project: &Path) -> bool {
    let leads_there =
        |path: &Path| files::real_path(path).is_ok_and(|real| real.starts_with(project));
    program.starts_with(project)
        || leads_there(program)
        || program.parent().is_some_and(leads_there)
}

/// Returns the same command with the whole path of its program; an error where a name is in no folder of the `PATH` that
/// [`find`] looks through.
///
/// The system would also look in relative folders of the `PATH`, below the folder in which the program is started: there is
/// whatever the project has.
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

/// Returns a command with the arguments, the variables and the folder of another one.
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
    let startable = |path| files::names_of_program(path).find(|it| files::is_program(it));
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
    fn a_program_that_cannot_be_started_is_missing() {
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
    fn a_command_by_name_is_started_by_its_whole_path_with_all_that_was_set() {
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
    fn s13_no_program_of_a_project_is_found() {
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
