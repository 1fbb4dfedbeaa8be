//! A run as its watcher has it: its log, its lines, its limits, and why it is ended.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use super::lines::LineSplitter;
use super::log::Log;
use super::watch::{Control, Cut, ProcessLimits, ProcessOutcome, THINKING, Watcher};
use crate::exec::find::is_name;
use crate::runner::harness::{ExitInfo, Stream};
use crate::world::Deadline;

/// The longest between two looks at the moment.
const MOMENT: Duration = Duration::from_millis(150);

/// A run that has begun.
pub struct WatchedRun<'a> {
    limits: &'a ProcessLimits,
    /// The watcher.
    pub watcher: &'a mut dyn Watcher,
    /// Why it is ended.
    pub cut: Option<Cut>,
    log: Log<'a>,
    output: LineSplitter,
    errors: LineSplitter,
    moment: Deadline,
    wall: Option<Deadline>,
    silence: Option<Deadline>,
    lingering: Option<Deadline>,
}

impl<'a> WatchedRun<'a> {
    /// A run that begins now.
    pub fn new(limits: &'a ProcessLimits, log: &'a mut File, watcher: &'a mut dyn Watcher) -> Self {
        let mut new = Self {
            limits,
            watcher,
            cut: None,
            log: Log::new(log),
            output: LineSplitter::default(),
            errors: LineSplitter::default(),
            moment: Deadline::after(Duration::ZERO),
            wall: limits.wall.map(Deadline::after),
            silence: None,
            lingering: None,
        };
        new.heard();
        new
    }

    fn heard(&mut self) {
        let times = if self.watcher.is_thinking() { THINKING } else { 1 };
        self.silence = self.limits.silence.map(|most| Deadline::after(most.saturating_mul(times)));
    }

    /// Takes in a piece of output, an empty one at its end, and returns what the watcher makes of it.
    pub fn take(&mut self, stream: Stream, piece: &[u8]) -> Control {
        let (watcher, mut watch) = (&mut *self.watcher, Control::GoOn);
        let lines = match stream {
            Stream::Output => &mut self.output,
            Stream::Errors => &mut self.errors,
        };
        if piece.is_empty() {
            lines.finish(&mut |line| watch = watch.then(watcher.line(stream, line)));
            return watch;
        }
        self.log.take(piece);
        watch = watcher.printed(piece.len());
        lines.take(piece, &mut |line| watch = watch.then(watcher.line(stream, line)));
        self.heard();
        watch
    }

    /// What the watcher makes of the moment, `None` where it is not time to ask.
    pub fn moment(&mut self) -> Option<Control> {
        if !self.moment.is_over() {
            return None;
        }
        self.moment = Deadline::after(MOMENT);
        Some(self.watcher.moment())
    }

    /// Notes what the watcher has said of the result.
    pub fn note(&mut self, watch: Control) {
        match watch {
            Control::AtWork => self.lingering = None,
            Control::Finished => {
                self.lingering.get_or_insert_with(|| Deadline::after(self.limits.lingering));
            }
            Control::GoOn | Control::End | Control::Kill => {}
        }
    }

    /// What the run is to be ended for, `None` for nothing.
    pub fn exceeded(&self) -> Option<Cut> {
        let over = |limit: Option<Deadline>| limit.is_some_and(|limit| limit.is_over());
        // With the result there, no limit makes a failure of it.
        if self.lingering.is_some() {
            (over(self.lingering) || over(self.wall)).then_some(Cut::Lingering)
        } else if over(self.wall) {
            Some(Cut::Wall)
        } else {
            over(self.silence).then_some(Cut::Silence)
        }
    }

    /// How long nothing has to be looked at when nothing comes; what is being ended has no limits any more.
    #[cfg(unix)]
    pub fn patience(&self, is_ending: bool) -> Duration {
        let limits = [self.wall, self.silence, self.lingering].into_iter().flatten();
        let limits = limits.filter(|_| !is_ending).map(|limit| limit.left());
        limits.fold(self.moment.left(), Duration::min)
    }

    /// Hands on the last line of each output and returns how the run ended, which left in this way.
    pub fn ended(
        mut self,
        status: Option<ExitStatus>,
        survivors: usize,
        trouble: Option<String>,
    ) -> ProcessOutcome {
        self.take(Stream::Output, &[]);
        self.take(Stream::Errors, &[]);
        let (log, cut) = (self.log.finish(), self.cut);
        let left = ExitInfo {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(signal_of),
            lingered: cut == Some(Cut::Lingering),
            cut: matches!(cut, Some(Cut::Wall | Cut::Silence | Cut::Asked)),
        };
        ProcessOutcome {
            left,
            status,
            cut,
            survivors,
            trouble,
            log_trouble: log.lost,
            log_rest: log.waiting,
        }
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(windows)]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// The error of a program that could not be started in `folder`.
pub fn not_started(program: &Path, folder: &Path, cause: &io::Error) -> io::Error {
    let why = match cause.kind() {
        io::ErrorKind::NotFound if !is_name(program) && folder.join(program).is_file() => {
            "the program that its first line names is not there".to_owned()
        }
        io::ErrorKind::NotFound => {
            "there is no such program\ninstall it, or give its whole path".to_owned()
        }
        io::ErrorKind::PermissionDenied if cfg!(unix) => {
            "it may not be run\nlook at its permissions with `ls -l`".to_owned()
        }
        io::ErrorKind::ArgumentListTooLong if cfg!(unix) => {
            "its arguments are longer than this system allows".to_owned()
        }
        io::ErrorKind::InvalidInput if cfg!(windows) => {
            "a batch file takes no line breaks in its arguments\nleave {prompt} out of the command: the prompt is on its standard input then, or in a file with {prompt_file}".to_owned()
        }
        _ => cause.to_string(),
    };
    io::Error::new(cause.kind(), format!("cannot start `{}`: {why}", program.display()))
}
