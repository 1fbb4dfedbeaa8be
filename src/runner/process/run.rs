//! The runner's side of a run: it starts the supervisor, reads the output, watches the limits, and has the tree ended.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Signal;

use super::handle::{SupervisorCommand, SupervisorEvent, SupervisorHandle, SupervisorOrder};
use super::watched::{
    Control, Cut, ProcessLimits, ProcessOutcome, WatchedRun, Watcher, not_started,
};
use crate::exec::family::{self, EndedProcesses, NOBODY};
use crate::exec::find::{find, is_name};
use crate::exec::tree;
use crate::runner::harness::{Launch, Told};
use crate::world::{self, Deadline};

/// How long a supervisor may work after the program's end, generously.
const REST_OF_THE_SUPERVISOR: Duration = Duration::from_secs(8);
/// How long a program may take to obey a message, before a signal asks it.
const CANCELLING: Duration = Duration::from_secs(2);
/// Runs a program in its own folder or in `folder`; nothing of its tree stays alive.
///
/// All output goes to `log`: the first 64 MiB as they come, and the last MiB. An error means: the program did not
/// start. `supervisor` is the program between the runner and the tree, so that nothing outlives a killed runner:
/// [`super::own_program`], which calls [`supervisor::supervise_if_asked`].
///
/// Where orphans cannot be adopted (macOS), a process that left the group *and* lost its parent is not found.
pub fn run(
    supervisor: &Path,
    launch: &Launch,
    folder: &Path,
    limits: &ProcessLimits,
    log: &mut File,
    watcher: &mut dyn Watcher,
) -> io::Result<ProcessOutcome> {
    let folder = launch.folder_in(folder)?;
    // The supervisor would search relative folders of the `PATH`, too: they lead into the project.
    let named: &Path = launch.program.as_ref();
    let by_path = Some(named.to_owned()).filter(|program| !is_name(program));
    let Some(program) = by_path.or_else(|| find(named)) else {
        return Err(not_started(named, folder, &Errno::NOENT.into()));
    };
    let order = SupervisorOrder {
        launch: Launch { program: program.clone().into(), ..launch.clone() },
        folder: folder.into(),
        grace: limits.grace,
    };
    // This comes before the supervisor's first child, so that none is lost with it.
    family::adopts();
    let mut supervisor = SupervisorHandle::start(supervisor)?;
    supervisor.order(&order)?;
    let mut run = SupervisedRun {
        run: WatchedRun::new(limits, log, watcher),
        grace: limits.grace,
        supervisor,
        stuck: None,
        cancelling: None,
        agent: None,
        left: None,
        survivors: 0,
        trouble: None,
    };
    match run.until_over() {
        Ok(()) => Ok(run.ended()),
        Err(error) => {
            let _ = run.supervisor.child.wait();
            Err(not_started(&program, folder, &error))
        }
    }
}

pub fn shell(line: &str) -> Launch {
    Launch { program: "sh".into(), arguments: vec!["-c".into(), line.into()], ..Launch::default() }
}

struct SupervisedRun<'a> {
    run: WatchedRun<'a>,
    grace: Duration,
    supervisor: SupervisorHandle,
    /// When to give up the supervisor.
    stuck: Option<Deadline>,
    /// When a signal follows a message that asked the program to end.
    cancelling: Option<Deadline>,
    agent: Option<i32>,
    left: Option<ExitStatus>,
    survivors: usize,
    trouble: Option<String>,
}

impl SupervisedRun<'_> {
    /// Waits until nothing of the tree is left; an error if the program did not start.
    fn until_over(&mut self) -> io::Result<()> {
        loop {
            let is_ending = self.run.cut.is_some() || self.left.is_some();
            let patience = self.run.patience(is_ending);
            let patience = self.stuck.map_or(patience, |stuck| stuck.left().min(patience));
            let (run, mut watch, mut printed) = (&mut self.run, Control::GoOn, false);
            let speaks = self.supervisor.turn(patience, &mut |source, piece| {
                watch = watch.then(run.take(source, piece));
                printed |= !piece.is_empty();
            });
            if printed {
                self.supervisor.tell(self.run.watcher.tells());
            }
            self.obey(watch);
            if speaks {
                match self.supervisor.hear() {
                    Some(SupervisorEvent::Ready) => {}
                    Some(SupervisorEvent::Started(id)) => self.agent = Some(id),
                    Some(SupervisorEvent::NotStarted(number)) => {
                        return Err(io::Error::from_raw_os_error(number));
                    }
                    Some(SupervisorEvent::Left(status)) => self.leave(status),
                    Some(SupervisorEvent::Over(survivors)) => {
                        self.survivors = survivors;
                        return Ok(());
                    }
                    None => {
                        self.end_without_supervisor();
                        return Ok(());
                    }
                }
            }
            if let Some(cut) = self.run.exceeded() {
                self.end(cut, &SupervisorCommand::End);
            }
            if let Some(watch) = self.run.moment() {
                self.supervisor.keep_going();
                self.obey(watch);
            }
            if self.cancelling.is_some_and(|until| until.is_over()) {
                self.cancelling = None;
                self.supervisor.ask(&SupervisorCommand::End);
            }
            if self.stuck.is_some_and(|stuck| stuck.is_over()) {
                self.end_without_supervisor();
                return Ok(());
            }
        }
    }

    fn obey(&mut self, watch: Control) {
        match watch {
            Control::GoOn | Control::AtWork | Control::Finished => self.run.note(watch),
            Control::End => self.end(Cut::Asked, &SupervisorCommand::End),
            Control::Kill if self.run.cut.is_none() && self.left.is_none() => {
                self.end(Cut::Asked, &SupervisorCommand::Kill);
            }
            // The tree may be ending already, or the program may have left it behind.
            Control::Kill => self.supervisor.ask(&SupervisorCommand::Kill),
        }
    }

    fn end(&mut self, cut: Cut, how: &SupervisorCommand) {
        if self.run.cut.is_some() || self.left.is_some() {
            return;
        }
        self.run.cut = Some(cut);
        let cancel = match how {
            SupervisorCommand::End if cut != Cut::Lingering => self.run.watcher.cancels(),
            _ => Vec::new(),
        };
        let mut patience = self.grace + REST_OF_THE_SUPERVISOR;
        if cancel.is_empty() {
            self.supervisor.ask(how);
        } else {
            self.supervisor.tell(Told { text: cancel, closes: false });
            let most = CANCELLING.min(self.grace);
            self.cancelling = Some(Deadline::after(most));
            patience += most;
        }
        self.stuck = Some(Deadline::after(patience));
    }

    /// `status` is as the system encodes it.
    fn leave(&mut self, status: i32) {
        self.cancelling = None;
        self.left = Some(ExitStatus::from_raw(status));
        self.stuck = Some(Deadline::after(REST_OF_THE_SUPERVISOR));
    }

    /// Ends the tree of a supervisor that was killed or hangs. If this process is a subreaper, the orphans are its
    /// children now.
    fn end_without_supervisor(&mut self) {
        let _ = self.supervisor.child.kill();
        let status = self.supervisor.child.wait();
        // After the agent's end, another process may have its id.
        let seen = self.agent.filter(|_| self.left.is_none()).into_iter().collect();
        if self.left.is_none() {
            let signal = status.ok().and_then(|status| status.signal());
            self.leave(signal.unwrap_or(Signal::KILL.as_raw()));
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

    /// Kills the agent's process group, and its known descendants.
    fn end_group(&self, seen: &BTreeSet<i32>) -> EndedProcesses {
        let Some(agent) = self.agent else { return EndedProcesses::default() };
        family::end_all(Duration::ZERO, Duration::ZERO, &mut |patience| {
            world::pause(patience);
            let members = tree::members(&tree::all(), NOBODY, Some(agent), seen);
            (!members.is_empty()).then_some(members)
        })
    }

    fn ended(mut self) -> ProcessOutcome {
        // The supervisor has nothing left to do, and nobody should wait for it.
        let _ = self.supervisor.child.kill();
        let _ = self.supervisor.child.wait();
        let rest = family::end_descendants();
        self.survivors += rest.ended.len();
        if !rest.alive.is_empty() {
            self.trouble = Some(format!("still alive after the end: {}", listed(&rest.alive)));
        }
        let Self { mut run, mut supervisor, left, survivors, trouble, .. } = self;
        supervisor.take_the_rest(&mut |source, piece| {
            run.take(source, piece);
        });
        run.ended(left, survivors, trouble)
    }
}

fn listed(ids: &BTreeSet<i32>) -> String {
    let ids: Vec<String> = ids.iter().take(20).map(ToString::to_string).collect();
    format!("process {}", ids.join(", "))
}
