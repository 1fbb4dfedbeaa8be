//! A program with everything it starts: run to its end or to its time limit, and nothing of it left behind.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::world::{self, Deadline};

/// How a program ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) timed_out: bool,
    pub(super) stderr: Vec<u8>,
}

/// The variable by which a process that left the group is known as one of ours.
const MARK: &str = "RALPH_REHEARSAL_RUN";
/// How long the output of a program that is over may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(2);

enum Event {
    Line(Vec<u8>),
    Stderr(Vec<u8>),
    Exited,
}

/// Runs a command in a process group of its own, hands on every line of its standard output, and kills what is left of the group
/// when the program ends or the limit is reached. Programs that left the group die too: on Linux those that still carry the mark
/// in their environment, elsewhere those that descend from the program at that moment.
pub(super) fn run(
    command: &mut Command,
    limit: Duration,
    on_line: &mut dyn FnMut(&[u8]),
) -> io::Result<Ended> {
    let deadline = Deadline::after(limit);
    let (mut group, events) = Group::start(command)?;
    let mut stderr = Vec::new();
    let mut timed_out = false;
    loop {
        match events.recv_timeout(deadline.left()) {
            Ok(Event::Line(line)) => on_line(&line),
            Ok(Event::Stderr(bytes)) => stderr = bytes,
            Ok(Event::Exited) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                timed_out = true;
                break;
            }
        }
    }
    let status = group.end()?;
    drain(&events, &mut stderr, on_line);
    Ok(Ended { status, timed_out, stderr })
}

/// A started program. Whatever becomes of the caller, the group does not outlive this value.
struct Group {
    child: Child,
    leader: Pid,
    mark: String,
    ended: Option<ExitStatus>,
}

impl Group {
    fn start(command: &mut Command) -> io::Result<(Group, Receiver<Event>)> {
        let mark = unique_mark();
        command.env(MARK, &mark).process_group(0);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let leader = Pid::from_child(&child);
        let (sender, events) = channel();
        if let Some(stdout) = child.stdout.take() {
            send_lines(stdout, sender.clone());
        }
        if let Some(stderr) = child.stderr.take() {
            send_stderr(stderr, sender.clone());
        }
        send_exit(leader, sender);
        Ok((Group { child, leader, mark, ended: None }, events))
    }

    /// Kills all that is left and reaps the program. The program is reaped last, so its number is its own until then.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        let family = descendants(self.leader);
        let _ = kill_process_group(self.leader, Signal::KILL);
        family.into_iter().for_each(kill);
        kill_marked(&self.mark);
        let status = self.child.wait()?;
        self.ended = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn drain(events: &Receiver<Event>, stderr: &mut Vec<u8>, on_line: &mut dyn FnMut(&[u8])) {
    let deadline = Deadline::after(LAST_WORDS);
    while let Ok(event) = events.recv_timeout(deadline.left()) {
        match event {
            Event::Line(line) => on_line(&line),
            Event::Stderr(bytes) => *stderr = bytes,
            Event::Exited => {}
        }
    }
}

// The receiver is gone when the time for last words is over; a reader then ends at its next line.
fn send_lines(stdout: impl Read + Send + 'static, sender: Sender<Event>) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            match reader.read_until(b'\n', &mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
            if sender.send(Event::Line(line)).is_err() {
                return;
            }
        }
    });
}

fn send_stderr(mut stderr: impl Read + Send + 'static, sender: Sender<Event>) {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read before an error is still worth showing.
        let _ = stderr.read_to_end(&mut bytes);
        let _ = sender.send(Event::Stderr(bytes));
    });
}

fn send_exit(pid: Pid, sender: Sender<Event>) {
    thread::spawn(move || {
        // Waits without reaping, so that the group can still be killed by its number.
        let exited = || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while exited().is_err_and(|error| error == Errno::INTR) {}
        let _ = sender.send(Event::Exited);
    });
}

/// Kills every process whose environment carries the mark, again and again until there is none, because one may just be starting another.
fn kill_marked(mark: &str) {
    let assignment = format!("{MARK}={mark}");
    for _ in 0..20 {
        let marked = marked_processes(Path::new("/proc"), assignment.as_bytes());
        if marked.is_empty() {
            return;
        }
        marked.into_iter().for_each(kill);
    }
}

fn marked_processes(proc: &Path, assignment: &[u8]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir(proc) else {
        return Vec::new();
    };
    let is_marked = |folder: &Path| {
        fs::read(folder.join("environ"))
            .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|pair| pair == assignment))
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            is_marked(&entry.path()).then_some(pid)
        })
        .collect()
}

/// Returns the processes that descend from `root`, as far as `ps` can tell.
fn descendants(root: Pid) -> Vec<Pid> {
    let Ok(listing) =
        Command::new("ps").args(["-A", "-o", "pid=", "-o", "ppid="]).stdin(Stdio::null()).output()
    else {
        return Vec::new();
    };
    let pairs: Vec<(i32, i32)> = String::from_utf8_lossy(&listing.stdout)
        .lines()
        .filter_map(|line| {
            let (pid, parent) = line.trim().split_once(char::is_whitespace)?;
            Some((pid.parse().ok()?, parent.trim().parse().ok()?))
        })
        .collect();
    let mut family = vec![root.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        family.extend(pairs.iter().filter(|pair| pair.1 == parent).map(|pair| pair.0));
    }
    family.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

fn kill(pid: Pid) {
    // A process that has just ended by itself is what we want.
    let _ = kill_process(pid, Signal::KILL);
}

fn unique_mark() -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let now = world::now();
    format!("{}-{}-{now}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_shell(script: &str, limit: Duration) -> (Ended, Vec<String>) {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let ended = run(&mut command, limit, &mut |line| {
            lines.push(String::from_utf8_lossy(line).trim().to_owned());
        });
        (ended.expect("a shell"), lines)
    }

    /// Waits until a process is gone. One that nobody has reaped yet is gone too.
    fn wait_until_gone(pid: &str) {
        loop {
            let listing = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("ps");
            let state = String::from_utf8_lossy(&listing.stdout).trim().to_owned();
            if state.is_empty() || state.starts_with('Z') {
                return;
            }
            thread::yield_now();
        }
    }

    #[test]
    fn lines_and_errors_and_the_status_arrive() {
        let (ended, lines) =
            run_shell("echo one; echo two; echo three >&2; exit 3", Duration::from_mins(1));
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(ended.stderr, b"three\n");
        assert_eq!(ended.status.code(), Some(3));
        assert!(!ended.timed_out);
    }

    #[test]
    fn a_program_that_leaves_a_child_behind_does_not_keep_us_waiting() {
        let (ended, lines) = run_shell("sleep 1000 & echo $!", Duration::from_mins(1));
        assert!(!ended.timed_out && ended.status.success());
        wait_until_gone(&lines[0]);
    }

    #[test]
    fn at_the_limit_the_whole_group_dies() {
        let (ended, lines) = run_shell("sleep 1000 & echo $!; wait", Duration::from_millis(300));
        assert!(ended.timed_out);
        assert_eq!(ended.status.code(), None);
        wait_until_gone(&lines[0]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_with_a_session_of_its_own_dies_too() {
        let (ended, lines) =
            run_shell("setsid sleep 1000 & echo $!; wait", Duration::from_millis(300));
        assert!(ended.timed_out);
        wait_until_gone(&lines[0]);
        let (ended, lines) = run_shell("setsid sleep 1000 & echo $!", Duration::from_mins(1));
        assert!(!ended.timed_out);
        wait_until_gone(&lines[0]);
    }
}
