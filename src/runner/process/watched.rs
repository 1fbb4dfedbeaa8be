//! A run with its watcher: its log, lines, limits, and the reason for its end.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use super::lines::LineSplitter;
use super::log::Log;
use crate::exec::find::is_name;
use crate::runner::harness::{AgentEvent, ExitInfo, Stream, Told};
use crate::world::Deadline;

/// The longest time between two calls of [`Watcher::moment`].
const MOMENT: Duration = Duration::from_millis(150);
/// How much longer a program may be silent while only its model works.
pub const THINKING: u32 = 3;

pub struct WatchedRun<'a> {
    limits: &'a ProcessLimits,
    pub watcher: &'a mut dyn Watcher,
    pub cut: Option<Cut>,
    log: Log<'a>,
    output: LineSplitter,
    errors: LineSplitter,
    moment: Deadline,
    wall: Option<Deadline>,
    silence: Option<Deadline>,
    lingering: Option<Deadline>,
}

#[derive(Clone, Copy, Debug)]
pub struct ProcessLimits {
    /// `None` for no limit.
    pub wall: Option<Duration>,
    /// Time without output, `None` for no limit; [`THINKING`] times as long while a model thinks.
    pub silence: Option<Duration>,
    /// Time to leave after the result.
    pub lingering: Duration,
    /// Time between asking and killing.
    pub grace: Duration,
}

/// Why the runner ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Wall,
    Silence,
    /// A person or a signal asked.
    Asked,
    /// The program lingered after its result.
    Lingering,
}

/// A watcher's decision; a later one outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    GoOn,
    /// The program works, even if its result seemed to be there.
    AtWork,
    /// The result is there; the process may leave.
    Finished,
    /// Ask, then kill after the grace.
    End,
    Kill,
}

#[derive(Clone, Debug, Default)]
pub struct ProcessOutcome {
    pub left: ExitInfo,
    /// The system's status; `None` where the program was ended and the system does not tell.
    pub status: Option<ExitStatus>,
    /// `None` when the program left by itself.
    pub cut: Option<Cut>,
    /// Processes besides the program that had to be ended.
    pub survivors: usize,
    /// Trouble at the tree's end: its supervisor was killed, or something is alive.
    pub trouble: Option<String>,
    /// Output that is lost and not in the log, in words; a run continues without it.
    pub log_trouble: Option<String>,
}

impl<'a> WatchedRun<'a> {
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

    /// An empty piece is the end of a stream.
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

    /// `None` until it is time to ask.
    pub fn moment(&mut self) -> Option<Control> {
        if !self.moment.is_over() {
            return None;
        }
        self.moment = Deadline::after(MOMENT);
        Some(self.watcher.moment())
    }

    /// Notes the watcher's word on the result.
    pub fn note(&mut self, watch: Control) {
        match watch {
            Control::AtWork => self.lingering = None,
            Control::Finished => {
                self.lingering.get_or_insert_with(|| Deadline::after(self.limits.lingering));
            }
            Control::GoOn | Control::End | Control::Kill => {}
        }
    }

    /// The limit that the run has exceeded.
    pub fn exceeded(&self) -> Option<Cut> {
        let over = |limit: Option<Deadline>| limit.is_some_and(|limit| limit.is_over());
        // After the result, no limit makes the run a failure.
        if self.lingering.is_some() {
            (over(self.lingering) || over(self.wall)).then_some(Cut::Lingering)
        } else if over(self.wall) {
            Some(Cut::Wall)
        } else {
            over(self.silence).then_some(Cut::Silence)
        }
    }

    /// How long the run may wait for output. An ending run has no limits.
    #[cfg(unix)]
    pub fn patience(&self, is_ending: bool) -> Duration {
        let limits = [self.wall, self.silence, self.lingering].into_iter().flatten();
        let limits = limits.filter(|_| !is_ending).map(|limit| limit.left());
        limits.fold(self.moment.left(), Duration::min)
    }

    /// Hands on the last line of each output.
    pub fn ended(
        mut self,
        status: Option<ExitStatus>,
        survivors: usize,
        trouble: Option<String>,
    ) -> ProcessOutcome {
        self.take(Stream::Output, &[]);
        self.take(Stream::Errors, &[]);
        let (log_trouble, cut) = (self.log.finish(), self.cut);
        let left = ExitInfo {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(signal_of),
            lingered: cut == Some(Cut::Lingering),
            cut: matches!(cut, Some(Cut::Wall | Cut::Silence | Cut::Asked)),
        };
        ProcessOutcome { left, status, cut, survivors, trouble, log_trouble }
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

impl Control {
    pub fn of(event: &AgentEvent) -> Self {
        match event {
            AgentEvent::Finished => Self::Finished,
            AgentEvent::Said(_) | AgentEvent::Called { .. } => Self::AtWork,
            AgentEvent::Returned { .. } | AgentEvent::Trouble(_) => Self::GoOn,
        }
    }

    pub fn then(self, next: Self) -> Self {
        match (self, next) {
            (_, Self::GoOn) => self,
            (Self::End | Self::Kill, _) => self.max(next),
            _ => next,
        }
    }
}

/// Takes part in a run.
pub trait Watcher {
    /// One line of output without its end; a line of more than 8 MiB is cut.
    fn line(&mut self, stream: Stream, line: &[u8]) -> Control;

    /// New bytes of output, also those of a line that will be cut. Called before their lines.
    fn printed(&mut self, _bytes: usize) -> Control {
        Control::GoOn
    }

    /// Takes what the program has to hear after the lines so far.
    fn tells(&mut self) -> Told {
        Told::default()
    }

    /// A message that asks the program to stop before a signal does; empty where only a signal works.
    fn cancels(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Only the model is at work: no tool call is open.
    fn is_thinking(&self) -> bool {
        false
    }

    /// Called at least five times a second.
    fn moment(&mut self) -> Control;
}
