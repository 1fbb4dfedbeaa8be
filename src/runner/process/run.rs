//! The runner's side of a run: start the supervisor, read the output, watch the limits, have it ended.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Signal;

use super::handle::{FromSupervisor, SupervisorHandle};
use super::limits::{RunLimits, exit};
use super::log::Log;
use super::protocol::{SupervisorCommand, SupervisorEvent, SupervisorOrder};
use super::supervisor;
use super::watch::{Control, Cut, ProcessLimits, ProcessOutcome, Watcher};
use crate::exec::family::{self, EndedProcesses};
use crate::exec::find::{find, is_name};
use crate::exec::tree;
use crate::runner::harness::{ExitInfo, Launch, Told};
use crate::world::{self, Deadline};

/// The longest between two looks at the moment.
const MOMENT: Duration = Duration::from_millis(150);
/// How much is read at once, in bytes: what a pipe holds.
const PIECE: usize = 64 << 10;
/// The most that is read from a pipe when its program has left, in bytes.
const MOST_OF_THE_REST: usize = 4 << 20;
/// The longest that a supervisor works on after the end of the program, with some room.
const REST_OF_THE_SUPERVISOR: Duration = Duration::from_secs(8);
/// The longest that a program has to end by itself after it was told to cancel, before a signal asks it.
const CANCELLING: Duration = Duration::from_secs(2);
/// The parent of no process.
const NOBODY: i32 = -1;

/// Runs a program in `folder`, or in its own, to its end and returns how it ended; nothing of its tree is left alive.
///
/// All output goes to `log` as it comes: the first 64 MiB, and of more than that the last MiB. An error
/// means that it could not be started. `supervisor` is the program that is between the runner and the
/// tree, so that nothing outlives a killed runner: [`super::own_program`], which calls [`supervisor::supervise_if_asked`].
///
/// Where orphans cannot be adopted (macOS), what left the process group *and* lost its parent before the
/// end is not found.
pub fn run(
    supervisor: &Path,
    launch: &Launch,
    folder: &Path,
    limits: &ProcessLimits,
    log: &mut File,
    watcher: &mut dyn Watcher,
) -> io::Result<ProcessOutcome> {
    let folder = launch.folder_in(folder)?;
    // The supervisor would look for a name also in relative folders of the `PATH`, which are the project's.
    let by_path = Some(launch.program.clone()).filter(|it| !is_name(it));
    let Some(program) = by_path.or_else(|| find(&launch.program)) else {
        return Err(not_started(&launch.program, folder, Errno::NOENT.raw_os_error()));
    };
    let launch = &Launch { program, ..launch.clone() };
    // Before the supervisor has a child, so that none of them is lost with it.
    family::adopts();
    let mut supervisor = SupervisorHandle::start(supervisor)?;
    supervisor.order(&SupervisorOrder::written(launch, folder, limits.grace))?;
    let mut run = SupervisedRun {
        limits: RunLimits::new(limits, watcher.is_thinking()),
        grace: limits.grace,
        watcher,
        log: Log::new(log),
        supervisor,
        moment: Deadline::after(Duration::ZERO),
        stuck: None,
        cancelling: None,
        cut: None,
        agent: None,
        left: None,
        survivors: 0,
        trouble: None,
        piece: vec![0; PIECE],
    };
    match run.until_over() {
        Over::Ended => Ok(run.ended()),
        Over::NotStarted(number) => {
            let _ = run.supervisor.child.wait();
            Err(not_started(&launch.program, folder, number))
        }
    }
}

/// Returns how a command line of a person is started: by a shell.
pub fn shell(line: &str) -> Launch {
    Launch { program: "sh".into(), arguments: vec!["-c".into(), line.into()], ..Launch::default() }
}

fn not_started(program: &Path, folder: &Path, number: i32) -> io::Error {
    let cause = io::Error::from_raw_os_error(number);
    let why = match cause.kind() {
        io::ErrorKind::NotFound if !is_name(program) && folder.join(program).is_file() => {
            "the program that its first line names is not there".to_owned()
        }
        io::ErrorKind::NotFound => {
            "there is no such program\ninstall it, or give its whole path".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "it may not be run\nlook at its permissions with `ls -l`".to_owned()
        }
        io::ErrorKind::ArgumentListTooLong => {
            "its arguments are longer than this system allows".to_owned()
        }
        _ => cause.to_string(),
    };
    io::Error::new(cause.kind(), format!("cannot start `{}`: {why}", program.display()))
}

enum Over {
    /// Nothing of the tree is left.
    Ended,
    /// The program could not be started, for this error number.
    NotStarted(i32),
}

struct SupervisedRun<'a> {
    limits: RunLimits<'a>,
    grace: Duration,
    watcher: &'a mut dyn Watcher,
    log: Log<'a>,
    supervisor: SupervisorHandle,
    moment: Deadline,
    /// When the supervisor is given up.
    stuck: Option<Deadline>,
    /// When a program that was told to cancel is asked by a signal.
    cancelling: Option<Deadline>,
    cut: Option<Cut>,
    agent: Option<i32>,
    left: Option<ExitInfo>,
    survivors: usize,
    trouble: Option<String>,
    piece: Vec<u8>,
}

impl SupervisedRun<'_> {
    fn until_over(&mut self) -> Over {
        loop {
            let ready = self.supervisor.wait(self.patience());
            // From the last to the first, because one that is at its end is taken out.
            for place in (0..ready.outputs.len()).rev() {
                if ready.outputs[place] && matches!(self.read(place), Portion::Last) {
                    self.close(place);
                }
            }
            if ready.news {
                match self.supervisor.receive() {
                    Ok(
                        FromSupervisor::Nothing
                        | FromSupervisor::SupervisorEvent(SupervisorEvent::Ready),
                    ) => {}
                    Ok(FromSupervisor::SupervisorEvent(SupervisorEvent::Started(id))) => {
                        self.agent = Some(id);
                    }
                    Ok(FromSupervisor::SupervisorEvent(SupervisorEvent::NotStarted(number))) => {
                        return Over::NotStarted(number);
                    }
                    Ok(FromSupervisor::SupervisorEvent(SupervisorEvent::LeftWithCode(code))) => {
                        self.leave(Some(code), None);
                    }
                    Ok(FromSupervisor::SupervisorEvent(SupervisorEvent::LeftBySignal(signal))) => {
                        self.leave(None, Some(signal));
                    }
                    Ok(FromSupervisor::SupervisorEvent(SupervisorEvent::Over(survivors))) => {
                        self.survivors = usize::try_from(survivors).unwrap_or(0);
                        return Over::Ended;
                    }
                    Ok(FromSupervisor::Silence) | Err(_) => {
                        self.end_without_supervisor();
                        return Over::Ended;
                    }
                }
            }
            if let Some(cut) = self.limits.exceeded() {
                self.end(cut, SupervisorCommand::End);
            }
            if self.moment.is_over() {
                self.moment = Deadline::after(MOMENT);
                self.supervisor.keep_going();
                let watch = self.watcher.moment();
                self.obey(watch);
            }
            if self.cancelling.is_some_and(|until| until.is_over()) {
                self.cancelling = None;
                self.supervisor.ask(SupervisorCommand::End);
            }
            if self.stuck.is_some_and(|stuck| stuck.is_over()) {
                self.end_without_supervisor();
                return Over::Ended;
            }
        }
    }

    /// How long nothing has to be looked at, when nothing comes.
    fn patience(&self) -> Duration {
        // What is being ended has only the supervisor's limits.
        let is_free = self.cut.is_none() && self.left.is_none();
        let all = self.limits.all().filter(|_| is_free).chain(self.stuck);
        all.map(|limit| limit.left()).fold(self.moment.left(), Duration::min)
    }

    /// Reads one piece of output and hands it on.
    fn read(&mut self, place: usize) -> Portion {
        let output = &mut self.supervisor.outputs[place];
        let count = match output.pipe.read(&mut self.piece) {
            Ok(0) => return Portion::Last,
            Ok(count) => count,
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return Portion::NotYet,
                io::ErrorKind::Interrupted => return Portion::More(0),
                _ => return Portion::Last,
            },
        };
        let piece = &self.piece[..count];
        self.log.take(piece);
        let (stream, mut watch) = (output.stream, self.watcher.printed(count));
        output.lines.take(piece, &mut |line| watch = watch.then(self.watcher.line(stream, line)));
        self.limits.heard(self.watcher.is_thinking());
        let told = self.watcher.tells();
        self.supervisor.tell(&told);
        self.obey(watch);
        Portion::More(count)
    }

    /// Hands on the last line of an output, and listens to it no more.
    fn close(&mut self, place: usize) {
        let mut output = self.supervisor.outputs.remove(place);
        let (stream, mut watch) = (output.stream, Control::GoOn);
        output.lines.finish(&mut |line| watch = watch.then(self.watcher.line(stream, line)));
        self.obey(watch);
    }

    fn obey(&mut self, watch: Control) {
        match watch {
            Control::GoOn | Control::AtWork | Control::Finished => self.limits.note(watch),
            Control::End => self.end(Cut::Asked, SupervisorCommand::End),
            Control::Kill if self.cut.is_none() && self.left.is_none() => {
                self.end(Cut::Asked, SupervisorCommand::Kill);
            }
            // What is being ended already, and what the program left behind.
            Control::Kill => self.supervisor.ask(SupervisorCommand::Kill),
        }
    }

    fn end(&mut self, cut: Cut, how: SupervisorCommand) {
        if self.cut.is_some() || self.left.is_some() {
            return;
        }
        self.cut = Some(cut);
        let cancel = match how {
            SupervisorCommand::End if cut != Cut::Lingering => self.watcher.cancels(),
            _ => Vec::new(),
        };
        let mut patience = self.grace + REST_OF_THE_SUPERVISOR;
        if cancel.is_empty() {
            self.supervisor.ask(how);
        } else {
            self.supervisor.tell(&Told { text: cancel, closes: false });
            let most = CANCELLING.min(self.grace);
            self.cancelling = Some(Deadline::after(most));
            patience += most;
        }
        self.stuck = Some(Deadline::after(patience));
    }

    fn leave(&mut self, code: Option<i32>, signal: Option<i32>) {
        self.cancelling = None;
        self.left = Some(exit(code, signal, self.cut));
        self.stuck = Some(Deadline::after(REST_OF_THE_SUPERVISOR));
    }

    /// Ends the tree of a supervisor that was killed, or does not answer: what lost its parent with it is a
    /// child of this process now, where the system allows that.
    fn end_without_supervisor(&mut self) {
        let _ = self.supervisor.child.kill();
        let status = self.supervisor.child.wait();
        // One that has left may have lent its number to someone else by now.
        let seen = self.agent.filter(|_| self.left.is_none()).into_iter().collect();
        if self.left.is_none() {
            let signal = status.ok().and_then(|status| status.signal());
            self.leave(None, signal.or(Some(Signal::KILL.as_raw())));
        }
        let rest = if family::adopts() { family::end_descendants() } else { self.end_group(&seen) };
        let mut words =
            "the supervisor of the agent program was killed or did not answer".to_owned();
        if !rest.alive.is_empty() {
            let _ = write!(words, "; still alive: {}", listed(&rest.alive));
        } else if !family::adopts() {
            words.push_str("; what had left the agent's process group may still be alive");
        }
        self.trouble = Some(words);
        let agent = self.agent.unwrap_or(NOBODY);
        self.survivors = rest.ended.into_iter().filter(|id| *id != agent).count();
    }

    /// Kills the agent's process group, and what is still known to descend from it.
    fn end_group(&self, seen: &BTreeSet<i32>) -> EndedProcesses {
        let mut rest = EndedProcesses::default();
        let Some(agent) = self.agent else { return rest };
        let deadline = Deadline::after(supervisor::KILLING);
        loop {
            let members = tree::members(&tree::all(), NOBODY, Some(agent), seen);
            tree::signal(&members, Signal::KILL);
            if members.is_empty() || deadline.is_over() {
                rest.alive = members;
                return rest;
            }
            rest.ended.extend(members);
            world::pause(Duration::from_millis(20));
        }
    }

    fn ended(mut self) -> ProcessOutcome {
        // It has nothing left to do, and may not keep anybody waiting.
        let _ = self.supervisor.child.kill();
        let _ = self.supervisor.child.wait();
        let rest = family::end_descendants();
        self.survivors += rest.ended.len();
        if !rest.alive.is_empty() {
            self.trouble = Some(format!("still alive after the end: {}", listed(&rest.alive)));
        }
        for place in (0..self.supervisor.outputs.len()).rev() {
            // What escaped may hold the pipe, and continue writing: it is not waited for.
            let mut read = 0;
            while let Portion::More(count) = self.read(place) {
                read += count;
                if read >= MOST_OF_THE_REST {
                    break;
                }
            }
            self.close(place);
        }
        let rest = self.log.finish();
        ProcessOutcome {
            left: self.left.unwrap_or_default(),
            cut: self.cut,
            survivors: self.survivors,
            trouble: self.trouble,
            log_trouble: rest.lost,
            log_rest: rest.waiting,
        }
    }
}

fn listed(ids: &BTreeSet<i32>) -> String {
    let ids: Vec<String> = ids.iter().take(20).map(ToString::to_string).collect();
    format!("process {}", ids.join(", "))
}

/// What one read of an output gave.
enum Portion {
    /// So many bytes, and there may be more.
    More(usize),
    /// Nothing now.
    NotYet,
    /// Nothing, for good.
    Last,
}
