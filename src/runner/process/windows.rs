//! Windows: a run of an agent program, whose tree is in a job. The system ends all that is in it when the runner has gone, so
//! that no supervisor is needed.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::limits::{RunLimits, exit};
use super::lines::LineSplitter;
use super::log::Log;
use super::watch::{Control, Cut, ProcessLimits, ProcessOutcome, Watcher};
use crate::exec::{Program, ProgramEnd, Source, shell};
use crate::runner::harness::{Input, Launch, Stream};
use crate::world::Deadline;

/// The longest between two looks at the moment.
const MOMENT: Duration = Duration::from_millis(150);

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
    let run = RefCell::new(WatchedRun {
        limits: RunLimits::new(limits, watcher.is_thinking()),
        watcher,
        log: Log::new(log),
        output: LineSplitter::default(),
        errors: LineSplitter::default(),
        moment: Deadline::after(Duration::ZERO),
        cut: None,
    });
    let ended = Program::unlimited(command, input).stream_tree(
        &mut || run.borrow_mut().is_to_end(),
        &mut |source, piece| {
            run.borrow_mut().take(source, piece);
        },
    );
    let (end, rest) = ended.map_err(|error| not_started(&launch.program, &error))?;
    let mut run = run.into_inner();
    run.finish();
    let code = match end {
        ProgramEnd::Left(status) => {
            // It left by itself just when it was to be ended.
            run.cut = None;
            status.code()
        }
        ProgramEnd::OverTime | ProgramEnd::Interrupted => None,
    };
    let trouble = (!rest.alive.is_empty()).then(|| {
        let ids: Vec<String> = rest.alive.iter().take(20).map(ToString::to_string).collect();
        format!("still alive after the end: process {}", ids.join(", "))
    });
    let log = run.log.finish();
    Ok(ProcessOutcome {
        left: exit(code, None, run.cut),
        cut: run.cut,
        survivors: rest.ended.len(),
        trouble,
        log_trouble: log.lost,
        log_rest: log.waiting,
    })
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

fn not_started(program: &Path, cause: &io::Error) -> io::Error {
    let why = match cause.kind() {
        io::ErrorKind::NotFound => {
            "there is no such program\ninstall it, or give its whole path".to_owned()
        }
        io::ErrorKind::InvalidInput => {
            "a batch file takes no line breaks in its arguments\nleave {prompt} out of the command: the prompt is on its standard input then, or in a file with {prompt_file}".to_owned()
        }
        _ => cause.to_string(),
    };
    io::Error::new(cause.kind(), format!("cannot start `{}`: {why}", program.display()))
}

struct WatchedRun<'a> {
    limits: RunLimits<'a>,
    watcher: &'a mut dyn Watcher,
    log: Log<'a>,
    output: LineSplitter,
    errors: LineSplitter,
    moment: Deadline,
    cut: Option<Cut>,
}

impl WatchedRun<'_> {
    fn is_to_end(&mut self) -> bool {
        if self.cut.is_none() {
            self.cut = self.limits.exceeded();
        }
        if self.cut.is_none() && self.moment.is_over() {
            self.moment = Deadline::after(MOMENT);
            let watch = self.watcher.moment();
            self.obey(watch);
        }
        self.cut.is_some()
    }

    fn take(&mut self, source: Source, piece: &[u8]) {
        self.log.take(piece);
        let (stream, lines) = match source {
            Source::Output => (Stream::Output, &mut self.output),
            Source::Errors => (Stream::Errors, &mut self.errors),
        };
        let mut watch = self.watcher.printed(piece.len());
        lines.take(piece, &mut |line| watch = watch.then(self.watcher.line(stream, line)));
        self.limits.heard(self.watcher.is_thinking());
        self.obey(watch);
    }

    /// Hands on the last line of each output.
    fn finish(&mut self) {
        let watcher = &mut self.watcher;
        self.output.finish(&mut |line| {
            watcher.line(Stream::Output, line);
        });
        self.errors.finish(&mut |line| {
            watcher.line(Stream::Errors, line);
        });
    }

    fn obey(&mut self, watch: Control) {
        match watch {
            Control::GoOn | Control::AtWork | Control::Finished => self.limits.note(watch),
            Control::End | Control::Kill => {
                self.cut.get_or_insert(Cut::Asked);
            }
        }
    }
}

/// Does nothing: there are no supervisors here.
pub fn supervise_if_asked() {}

/// Returns whether the runner with this process id has a supervisor that is still there: there are none here.
pub fn has_supervisor(_: u32) -> bool {
    false
}
