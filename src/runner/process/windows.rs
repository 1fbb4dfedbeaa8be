//! A run of an agent program on Windows: the tree is in a job. The system ends the job with the runner, so no
//! supervisor is needed.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::watched::{
    Control, Cut, ProcessLimits, ProcessOutcome, WatchedRun, Watcher, not_started,
};
use crate::exec::{Program, ProgramEnd, shell};
use crate::runner::harness::{Input, Launch};

/// Runs a program in its own folder or in `folder`; nothing of its tree stays alive.
///
/// All output goes to `log`: the first 64 MiB as they come, and the last MiB. An error means: the program did not
/// start. A program cannot be asked to end here, so it is killed.
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
    let (end, rest) =
        ended.map_err(|error| not_started(launch.program.as_ref(), folder, &error))?;
    let mut run = run.into_inner();
    let status = match end {
        ProgramEnd::Left(status) => {
            // The program left by itself just before its end.
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

/// Uses the `sh` of Git for Windows, or else `cmd`.
pub fn shell(line: &str) -> Launch {
    if let Some(sh) = shell::sh() {
        let arguments = vec!["-c".into(), line.into()];
        return Launch { program: sh.into(), arguments, ..Launch::default() };
    }
    let shell = shell::SystemShell::of(line);
    let arguments = shell.arguments.map(Into::into).to_vec();
    Launch {
        program: shell.program.into(),
        arguments,
        line: shell.line.into(),
        ..Launch::default()
    }
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

/// There are no supervisors here.
pub fn supervise_if_asked() {}

/// There are no supervisors here.
pub fn has_supervisor(_: u32) -> bool {
    false
}
