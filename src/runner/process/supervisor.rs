//! The supervisor between the runner and an agent program, which leaves nothing of the tree alive.
//!
//! It is this program again, with a socket to the runner as its standard input. Whatever happens to the runner, the
//! supervisor lives just long enough to end the tree.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getppid, kill_process_group, setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::handle::{SUPERVISOR, SupervisorCommand, SupervisorEvent, SupervisorOrder, hear, say};
use crate::exec::family;
use crate::exec::input::PendingInput;
use crate::exec::partner::supervisor_name;
use crate::exec::supervisor::awake_when_orphaned;
use crate::exec::tree::{self, Process};
use crate::runner::harness::{Ending, Input, Told};
use crate::world::{self, Deadline};

/// The agent program's grace after its runner was killed.
const GRACE_OF_ORPHANS: Duration = Duration::from_secs(2);
/// How long the tree's remains may take to leave unasked: their program may have asked them.
const SETTLING: Duration = Duration::from_millis(100);
/// The grace of the tree's remains.
const LEAVING: Duration = Duration::from_secs(1);
/// How often the tree's members are noted, where orphans cannot be adopted.
const NOTING: Duration = Duration::from_secs(5);
/// How often to look whether the runner is stopped. Elsewhere another program has to tell, which takes a while.
const LOOK: Duration = Duration::from_secs(if cfg!(target_os = "linux") { 1 } else { 5 });

/// How often to look whether the runner continues.
const LOOK_WHILE_HELD: Duration =
    Duration::from_millis(if cfg!(target_os = "linux") { 100 } else { 500 });
/// How often in a row a tree is searched: a process may have just started another one.
const ROUNDS: usize = 10;

enum FromRunner {
    Nothing,
    End,
    Kill,
    /// The runner is dead, or has given up.
    Silence,
}

struct Supervisor {
    /// `None` once the runner has gone.
    runner: Option<UnixStream>,
    wake: UnixStream,
    agent: Pid,
    feed: Option<PendingInput>,
    left: Option<WaitStatus>,
    /// Every orphan of the tree becomes a child of this process.
    adopts: bool,
    /// Nothing of the tree is left.
    alone: bool,
    /// Processes of the tree that had to be ended.
    ended: BTreeSet<i32>,
    /// Processes seen in the tree, where orphans are not adopted.
    seen: BTreeSet<i32>,
    /// The runner with which the tree stops; `None` once the tree ends.
    stops_with: Option<i32>,
    /// The next look at that runner.
    next_look: Option<Deadline>,
    /// Processes that were stopped here, parents first; `None` while the tree runs.
    held: Option<Vec<i32>>,
}

/// Becomes a supervisor and exits, if the runner started this process as one.
pub fn supervise_if_asked() {
    if world::raw_variable(SUPERVISOR).is_none() {
        return;
    }
    // In a person's terminal, the variable means nothing.
    let Some(runner) = runner() else { return };
    std::process::exit(i32::from(keep(runner).is_err()));
}

/// The runner, which may have been killed, still has a supervisor.
pub fn has_supervisor(runner: u32) -> bool {
    tree::names().contains(&supervisor_name(runner))
}

/// The socket to the runner; `None` for any other standard input.
fn runner() -> Option<UnixStream> {
    let stdin = io::stdin();
    let kind = rustix::fs::fstat(&stdin).ok()?.st_mode;
    if !rustix::fs::FileType::from_raw_mode(kind).is_socket() {
        return None;
    }
    stdin.as_fd().try_clone_to_owned().ok().map(UnixStream::from)
}

fn keep(mut runner: UnixStream) -> io::Result<()> {
    awake_when_orphaned();
    // Out of the terminal's reach: the runner handles Ctrl-C and hangups, and no tool can wait for a person there.
    let _ = setsid();
    let adopts = family::adopt_orphans();
    let nothing = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        // The agent program would inherit an ignored signal, so they are caught.
        signal_hook::flag::register(signal, Arc::clone(&nothing))?;
    }
    let (wake, waker) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, waker)?;

    say(&mut runner, &SupervisorEvent::Ready)?;
    let mut order: SupervisorOrder = hear(&mut runner)?;
    let started = start(&mut order);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    let (agent, feed) = match started {
        Ok(started) => started,
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
            return say(&mut runner, &SupervisorEvent::NotStarted(number));
        }
    };
    let stops_with = getppid().map(|id| id.as_raw_nonzero().get());
    let mut supervisor = Supervisor {
        runner: Some(runner),
        wake,
        agent,
        feed,
        left: None,
        adopts,
        alone: false,
        ended: BTreeSet::new(),
        seen: BTreeSet::new(),
        stops_with,
        next_look: stops_with.map(|_| Deadline::after(LOOK)),
        held: None,
    };
    supervisor.report(&SupervisorEvent::Started(agent.as_raw_nonzero().get()));
    supervisor.watch(&order);
    Ok(())
}

/// The program gets its own process group.
#[expect(clippy::disallowed_methods, reason = "the supervisor itself starts it")]
fn start(order: &mut SupervisorOrder) -> io::Result<(Pid, Option<PendingInput>)> {
    let mut command = std::process::Command::new(&order.launch.program);
    command.args(&order.launch.arguments).current_dir(&order.folder).process_group(0);
    command.env_remove(SUPERVISOR);
    for name in &order.launch.unset {
        command.env_remove(name);
    }
    for (name, value) in &order.launch.set {
        command.env(name, value);
    }
    let stays = matches!(order.launch.input, Input::Dialog(_));
    let feed = match std::mem::take(&mut order.launch.input) {
        Input::Nothing => {
            command.stdin(Stdio::null());
            None
        }
        Input::Text(text) | Input::Dialog(text) => {
            let (mut input, reader) = PendingInput::of(text)?;
            input.stays = stays;
            command.stdin(reader);
            Some(input)
        }
    };
    let child = command.spawn()?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok((id.ok_or(Errno::SRCH)?, feed))
}

impl Supervisor {
    fn watch(&mut self, order: &SupervisorOrder) {
        let asked = self.until_it_left(order);
        let killed = Signal::KILL.as_raw();
        self.report(&SupervisorEvent::Left(self.left.map_or(killed, WaitStatus::as_raw)));
        self.end_the_rest(asked.map_or(LEAVING, |asked| asked.left().min(LEAVING)));
        self.ended.remove(&self.agent.as_raw_nonzero().get());
        self.report(&SupervisorEvent::Over(self.ended.len()));
    }

    /// Waits for the program to leave. If it had to be ended, returns when the tree's grace is over.
    fn until_it_left(&mut self, order: &SupervisorOrder) -> Option<Deadline> {
        let mut until: Option<Deadline> = None;
        let mut noting = (!self.adopts).then(|| Deadline::after(NOTING));
        while self.left.is_none() {
            let limits = [until.or(noting), self.next_look].into_iter().flatten();
            let heard = self.look(limits.map(|limit| limit.left()).min());
            if self.left.is_some() {
                break;
            }
            match heard {
                FromRunner::Nothing => {}
                FromRunner::End if until.is_some() => {}
                FromRunner::End => until = Some(self.ask(order, order.grace)),
                FromRunner::Kill => until = Some(Deadline::after(Duration::ZERO)),
                FromRunner::Silence => {
                    let left = until.map_or(order.grace, |until| until.left());
                    until = Some(self.ask(order, left.min(GRACE_OF_ORPHANS)));
                }
            }
            if until.is_some_and(|until| until.is_over()) {
                // Works even where the list of processes cannot be read.
                let _ = kill_process_group(self.agent, Signal::KILL);
                self.end_the_rest(Duration::ZERO);
                break;
            }
            self.hold();
            if noting.is_some_and(|noting| noting.is_over()) {
                self.note_the_tree();
                noting = Some(Deadline::after(NOTING));
            }
        }
        until
    }

    /// Asks as the terminal would.
    fn ask(&mut self, order: &SupervisorOrder, grace: Duration) -> Deadline {
        self.end_hold();
        self.note_the_tree();
        let signal = match order.launch.ending {
            Ending::Terminate => Signal::TERM,
            Ending::Interrupt => Signal::INT,
        };
        let _ = kill_process_group(self.agent, signal);
        Deadline::after(grace)
    }

    /// Ends the program and its remains; asks first if there is time.
    fn end_the_rest(&mut self, patience: Duration) {
        self.end_hold();
        let settling = SETTLING.min(patience);
        let rest = family::end_all(settling, patience, &mut |patience| self.living(patience));
        self.ended.extend(rest.ended);
    }

    /// The tree after an event, or after `patience`; `None` when nothing is left.
    fn living(&mut self, patience: Duration) -> Option<BTreeSet<i32>> {
        if let FromRunner::Kill = self.look(Some(patience)) {
            let members = self.members();
            tree::signal(&members, Signal::KILL);
            self.ended.extend(members);
        }
        (!self.alone).then(|| self.members())
    }

    /// Handles the next event, or returns after `patience`.
    fn look(&mut self, patience: Option<Duration>) -> FromRunner {
        let patience = patience.and_then(|wait| Timespec::try_from(wait).ok());
        let mut wanted = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let runner = self.runner.as_ref().map(|runner| {
            wanted.push(PollFd::new(runner, PollFlags::IN));
            wanted.len() - 1
        });
        if let Some(feed) = self.feed.as_ref().filter(|feed| feed.is_waiting()) {
            wanted.push(PollFd::new(&feed.pipe, PollFlags::OUT));
        }
        let looked = poll(&mut wanted, patience.as_ref());
        let spoke = runner.is_some_and(|place| !wanted[place].revents().is_empty());
        drop(wanted);
        // Where orphans are adopted, a process without children has no descendants.
        if self.bury() {
            self.alone = self.adopts || self.members().is_empty();
        }
        self.feed = self.feed.take().and_then(PendingInput::go_on);
        if looked.is_ok() && spoke { self.receive() } else { FromRunner::Nothing }
    }

    fn receive(&mut self) -> FromRunner {
        match self.runner.as_mut().map(|runner| hear(runner)) {
            Some(Ok(SupervisorCommand::End)) => FromRunner::End,
            Some(Ok(SupervisorCommand::Kill)) => FromRunner::Kill,
            Some(Ok(SupervisorCommand::Tell(Told { text, closes }))) => {
                self.feed = self.feed.take().and_then(|feed| feed.add(&text, !closes));
                FromRunner::Nothing
            }
            Some(Err(_)) | None => {
                self.runner = None;
                FromRunner::Silence
            }
        }
    }

    /// Reaps the program and orphans; returns whether no child is left.
    fn bury(&mut self) -> bool {
        let mut bytes = [0; 64];
        while self.wake.read(&mut bytes).is_ok_and(|count| count == bytes.len()) {}
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((id, status))) if id == self.agent => self.left = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// The tree, without this process.
    fn members(&mut self) -> BTreeSet<i32> {
        let members = self.members_among(&tree::all());
        self.bury_the_list();
        members
    }

    fn members_among(&self, all: &[Process]) -> BTreeSet<i32> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let group = (!self.adopts).then(|| self.agent.as_raw_nonzero().get());
        tree::members(all, own, group, &self.seen)
    }

    /// The end of the program that listed the processes is no news.
    fn bury_the_list(&mut self) {
        if !self.adopts {
            self.bury();
        }
    }

    /// Looks at the runner if it is time, and stops or continues the tree.
    fn hold(&mut self) {
        let is_due = self.next_look.is_some_and(|next| next.is_over());
        let Some(runner) = self.stops_with.filter(|_| is_due) else { return };
        let is_stopped = tree::is_stopped(runner);
        if !is_stopped {
            self.let_go();
        } else if self.held.is_none() {
            self.held = Some(self.stop());
        }
        self.next_look = Some(Deadline::after(if is_stopped { LOOK_WHILE_HELD } else { LOOK }));
        self.bury_the_list();
    }

    /// Continues the tree, and never stops it again.
    fn end_hold(&mut self) {
        (self.stops_with, self.next_look) = (None, None);
        self.let_go();
    }

    fn let_go(&mut self) {
        let Some(held) = self.held.take() else { return };
        // Another process may have the id by now.
        let members = self.members();
        tree::signal(held.iter().rev().filter(|id| members.contains(*id)), Signal::CONT);
    }

    /// Stops the tree and lists it. Parents stop first, so that none of them notices a stopped child.
    fn stop(&self) -> Vec<i32> {
        let mut held = Vec::new();
        for _ in 0..ROUNDS {
            let all = tree::all();
            // Somebody else stopped these, and continues them.
            let is_stopped =
                |id: &i32| all.iter().any(|process| process.id == *id && process.stopped);
            let mut new = self.members_among(&all);
            new.retain(|id| !held.contains(id) && !is_stopped(id));
            if new.is_empty() {
                break;
            }
            let new = tree::parents_first(&all, &new);
            tree::signal(&new, Signal::STOP);
            held.extend(new);
        }
        held
    }

    /// Notes the tree's members while parents and children still hang together. Forgets the rest, because other
    /// processes may get their ids.
    fn note_the_tree(&mut self) {
        if !self.adopts {
            self.seen = self.members();
        }
    }

    fn report(&mut self, news: &SupervisorEvent) {
        if let Some(runner) = &mut self.runner {
            // A missing runner shows when the supervisor next listens.
            let _ = say(runner, news);
        }
    }
}
