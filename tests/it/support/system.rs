//! What tests need of the system that each system has in its own way.

use std::path::Path;

/// Makes a link at `link` that leads to `target`.
#[cfg(unix)]
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Makes a link at `link` that leads to `target`; one of each kind, for it is not the same to a folder.
#[cfg(windows)]
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> std::io::Result<()> {
    let (target, link) = (target.as_ref(), link.as_ref());
    let leads_to = link.parent().unwrap_or(link).join(target);
    if leads_to.is_dir() {
        std::os::windows::fs::symlink_dir(target, link)
    } else {
        std::os::windows::fs::symlink_file(target, link)
    }
}

/// Whether a process lives; one that has ended and that nobody has asked about does not.
#[cfg(unix)]
#[allow(dead_code, reason = "not every test program looks at processes")]
pub fn is_alive(id: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']),
        Err(_) => {
            rustix::process::test_kill_process(rustix::process::Pid::from_raw(id).unwrap()).is_ok()
        }
    }
}
