//! The supervisor as a program: when it is one, and that it can be started when its file is gone.

use crate::limited::{Ended, Limited};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use super::support::supervisor;

#[test]
fn variable_in_terminal_changes_no_command() {
    let output =
        Command::new(supervisor()).arg("--version").env("RALPH_RUNNER_SUPERVISOR", "1").finish();
    assert!(output.stdout.starts_with(b"spool "), "{output:?}");
}

#[test]
fn a_supervisor_without_a_runner_leaves() {
    let (own, its) = UnixStream::pair().unwrap();
    drop(own);
    let status = Command::new(supervisor())
        .env("RALPH_RUNNER_SUPERVISOR", "1")
        .stdin(OwnedFd::from(its))
        .spawn()
        .unwrap()
        .ended();
    assert_eq!(status.code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn replaced_program_supervises_itself() {
    use std::path::{Path, PathBuf};

    use super::support::{Scribe, no_limits, script};
    use ralph_speckit::runner::process;

    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("spool");
    std::fs::copy(supervisor(), &copy).unwrap();
    let (own, its) = UnixStream::pair().unwrap();
    let mut running = Command::new(&copy)
        .env("RALPH_RUNNER_SUPERVISOR", "1")
        .stdin(OwnedFd::from(its))
        .spawn()
        .unwrap();
    std::fs::remove_file(&copy).unwrap();
    std::fs::write(&copy, "not a program").unwrap();

    assert_eq!(process::own_program().unwrap(), Path::new("/proc/self/exe"));
    let program = PathBuf::from(format!("/proc/{}/exe", running.id()));
    let mut scribe = Scribe::new();
    let mut log = tempfile::tempfile().unwrap();
    let agent = script("echo kept");
    let ended = process::run(&program, &agent, Path::new("/"), &no_limits(), &mut log, &mut scribe);
    drop(own);
    running.ended();
    assert_eq!((ended.unwrap().left.code, scribe.output()), (Some(0), vec!["kept".to_owned()]));
}
