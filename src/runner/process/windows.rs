//! Windows: a run of an agent program, whose tree is in a job. The system ends all that is in it when the runner has gone, so
//! that no supervisor is needed.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::watch::{Control, Cut, ProcessLimits, ProcessOutcome, Watcher};
use super::watched::{WatchedRun, not_started};
use crate::exec::{Program, ProgramEnd, shell};
use crate::runner::harness::{Input, Launch};

/// Runs a program in `folder`, or in its own, to its end and returns how it ended; nothing of its tree is left alive.
///
/// All output goes to `log` as it comes: the first 64 MiB, and of more than that the last MiB. An error
/// means that it could not be started. No program can be asked to end here: it is ended.
pub fn run(
    _: &Path,
    launch: &Launch,
    folder: &Path,
    limits: &ProcessLimits,
    log: &mut File,
    watcher: &mut dyn Watcher,
) -> io::Result<ProcessOutcome> {
    let folder = launch.folder_in(folder)?;
    let mut command = Command::new(&launch.program);
    command.args(&launch.arguments).raw_arg(&launch.line).current_dir(folder);
    for name in &launch.unset {
        command.env_remove(name);
    }
    for (name, value) in &launch.set {
        command.env(name, value);
    }
    let input = match &launch.input {
        Input::Nothing => Vec::new(),
        Input::Text(text) | Input::Dialog(text) => text.clone(),
    };
    let run = RefCell::new(WatchedRun::new(limits, log, watcher));
    let ended = Program::unlimited(command, input).stream_tree(
        &mut || is_to_end(&mut run.borrow_mut()),
        &mut |source, piece| {
            let mut run = run.borrow_mut();
            let watch = run.take(source, piece);
            obey(&mut run, watch);
        },
    );
    let (end, rest) = ended.map_err(|error| not_started(&launch.program, folder, &error))?;
    let mut run = run.into_inner();
    let status = match end {
        ProgramEnd::Left(status) => {
            // It left by itself just when it was to be ended.
            run.cut = None;
            Some(status)
        }
        ProgramEnd::OverTime | ProgramEnd::Interrupted => None,
    };
    let trouble = (!rest.alive.is_empty()).then(|| {
        let ids: Vec<String> = rest.alive.iter().take(20).map(ToString::to_string).collect();
        format!("still alive after the end: process {}", ids.join(", "))
    });
    Ok(run.ended(status, rest.ended.len(), trouble))
}

/// Returns how a command line of a person is started: by the `sh` of Git for Windows, or without it by `cmd`.
pub fn shell(line: &str) -> Launch {
    if let Some(sh) = shell::sh() {
        let arguments = vec!["-c".into(), line.into()];
        return Launch { program: sh, arguments, ..Launch::default() };
    }
    let shell = shell::SystemShell::of(line);
    let arguments = shell.arguments.map(Into::into).to_vec();
    Launch { program: shell.program, arguments, line: shell.line.into(), ..Launch::default() }
}

fn is_to_end(run: &mut WatchedRun<'_>) -> bool {
    if run.cut.is_none() {
        run.cut = run.exceeded();
    }
    if run.cut.is_none()
        && let Some(watch) = run.moment()
    {
        obey(run, watch);
    }
    run.cut.is_some()
}

fn obey(run: &mut WatchedRun<'_>, watch: Control) {
    match watch {
        Control::GoOn | Control::AtWork | Control::Finished => run.note(watch),
        Control::End | Control::Kill => {
            run.cut.get_or_insert(Cut::Asked);
        }
    }
}

/// Does nothing: there are no supervisors here.
pub fn supervise_if_asked() {}

/// Returns whether the runner with this process id has a supervisor that is still there: there are none here.
pub fn has_supervisor(_: u32) -> bool {
    false
}
