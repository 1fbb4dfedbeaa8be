use std::process::Command;
use std::time::Duration;

use super::*;
use crate::world::Deadline;

const PATIENCE: Duration = Duration::from_mins(1);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn run(script: &str, limit: Duration) -> ProgramOutput {
    Program::new(shell(script), limit).run(100, &mut || false).unwrap()
}

/// Whether a process is gone; one that nobody has asked about yet is.
fn is_gone(id: &[u8]) -> bool {
    let id: i32 = std::str::from_utf8(id).unwrap().trim().parse().unwrap();
    let deadline = Deadline::after(PATIENCE);
    while tree::all().iter().any(|process| process.id == id && !process.dead) {
        if deadline.is_over() {
            return false;
        }
        crate::world::pause(Duration::from_millis(5));
    }
    true
}

#[test]
fn both_outputs_and_the_status_arrive() {
    let ran = run("echo one; echo two >&2; exit 3", PATIENCE);
    assert_eq!((&ran.output[..], &ran.errors[..]), (&b"one\n"[..], &b"two\n"[..]));
    assert_eq!((ran.status().and_then(|status| status.code()), ran.cut), (Some(3), false));
}

#[test]
fn bound_is_kept_and_told() {
    let ran = run("head -c 300000 /dev/zero; head -c 100 /dev/zero >&2", PATIENCE);
    assert_eq!((ran.output.len(), ran.errors.len(), ran.cut), (100, 100, true));
    assert!(ran.is_success());
}

#[test]
fn input_and_output_never_block() {
    let input = vec![b'x'; 1 << 20];
    let mut count = 0;
    let program = Program::new(shell("cat"), PATIENCE).input(&input);
    let end = program.stream(&mut || false, &mut |_, piece| count += piece.len()).unwrap();
    assert!(matches!(end, ProgramEnd::Left(status) if status.success()), "{end:?}");
    assert_eq!(count, input.len());
    // Nobody reads it: no reason to wait.
    assert!(Program::new(shell("exit 0"), PATIENCE).input(&input).run(1, &mut || false).is_ok());
}

#[test]
fn missing_program_is_an_error() {
    let program = Program::new(Command::new("/no/such/program"), PATIENCE);
    assert_eq!(program.run(1, &mut || false).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn interrupted_program_may_speak() {
    let script = "trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let ready = std::cell::Cell::new(false);
    let mut said = Vec::new();
    let end = Program::new(shell(script), PATIENCE)
        .stream(&mut || ready.get(), &mut |_, piece| {
            ready.set(true);
            said.extend_from_slice(piece);
        })
        .unwrap();
    let said = String::from_utf8(said).unwrap();
    // The shell itself may have a word on its `sleep`.
    assert!(end == ProgramEnd::Interrupted && said.contains("asked\n"), "{end:?}: {said}");
}

#[test]
fn deaf_program_dies_with_children() {
    let script = "trap '' TERM; sleep 3600 & echo $!; while :; do sleep 1; done";
    let program = Program::new(shell(script), Duration::from_millis(300));
    let ran = program.run(100, &mut || false).unwrap();
    assert_eq!(ran.end, ProgramEnd::OverTime);
    assert!(is_gone(&ran.output));
}

#[cfg(target_os = "linux")]
#[test]
fn h5_session_child_dies_too() {
    assert!(is_gone(&run("setsid sleep 3600 & echo $!", PATIENCE).output));
    let ran = run("setsid sleep 3600 & echo $!; wait", Duration::from_millis(300));
    assert_eq!(ran.end, ProgramEnd::OverTime);
    assert!(is_gone(&ran.output));
}
