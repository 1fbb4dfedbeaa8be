//! Runs a program under ptrace and makes one of its system calls fail, write short, or be its last.
//!
//! A step is a system call after which files, or what the program knows of them, may differ. Its number is
//! its place among the steps of that run, so that a sweep visits each of them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::left_out::left_out;
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use ralph_speckit::world::Deadline;

/// So long a run may take; far longer than any does.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is done to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// This step fails, with one of the errors that its kind may give: which one, by turns.
    Fail(usize, usize),
    /// This step and each later one that would change the disk fail: it is broken from now on, or full, when
    /// the error is `ENOSPC`.
    BrokenFrom(usize, Errno),
    /// This step writes half of what it was asked to; the disk is full from then on.
    Torn(usize),
    /// The program is killed before this step.
    Kill(usize),
    /// The disk has room for so many bytes more; no step is touched.
    FullDisk(u64),
}

impl Fault {
    /// The number of the step that is hit first, `None` where no step is touched.
    fn step(self) -> Option<usize> {
        match self {
            Self::Fail(at, _) | Self::BrokenFrom(at, _) | Self::Torn(at) | Self::Kill(at) => {
                Some(at)
            }
            Self::None | Self::FullDisk(_) => None,
        }
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It opens a file that is there.
    Open,
    /// It opens a file and makes it where it is missing.
    Create,
    /// It reads.
    Read,
    /// It writes into a file.
    Write,
    /// It writes to standard output or standard error.
    Print,
    /// It looks at a file or a folder.
    Look,
    /// It moves a file, or swaps two.
    Rename,
    /// It removes a file.
    Remove,
    /// It makes a folder.
    Folder,
    /// It takes or frees a lock.
    Lock,
    /// It brings a file to the disk.
    Flush,
    /// It changes a file's permissions, times or length.
    Change,
    /// It starts a process or a thread.
    Start,
    /// It waits for somebody.
    Wait,
    /// It makes a pipe, a socket or another number for a file.
    Handle,
}

impl Kind {
    /// Whether a full disk makes it fail.
    pub fn needs_room(self) -> bool {
        matches!(self, Self::Write | Self::Create | Self::Folder)
    }

    /// One of its errors, the next one at each call.
    pub fn error(self, turn: usize) -> Errno {
        let errors: &[Errno] = match self {
            Self::Open => &[Errno::EACCES, Errno::EMFILE, Errno::EIO],
            Self::Create => &[Errno::ENOSPC, Errno::EACCES, Errno::EROFS, Errno::EMFILE],
            Self::Read => &[Errno::EIO, Errno::EINTR],
            Self::Write => &[Errno::ENOSPC, Errno::EIO, Errno::EDQUOT, Errno::EINTR],
            Self::Print => &[Errno::ENOSPC, Errno::EPIPE, Errno::EINTR],
            Self::Look => &[Errno::EACCES, Errno::EIO],
            Self::Rename => &[Errno::ENOSPC, Errno::EIO, Errno::EACCES, Errno::EINVAL],
            Self::Remove | Self::Change => &[Errno::EIO, Errno::EACCES],
            Self::Folder => &[Errno::ENOSPC, Errno::EACCES, Errno::EROFS],
            Self::Lock => &[Errno::EINTR, Errno::ENOLCK],
            Self::Flush => &[Errno::EIO, Errno::ENOSPC],
            Self::Start => &[Errno::EAGAIN, Errno::ENOMEM],
            Self::Wait => &[Errno::EINTR],
            Self::Handle => &[Errno::EMFILE],
        };
        errors[turn % errors.len()]
    }

    /// Whether it fails on a disk with this error. A full disk still removes and renames.
    fn fails_with(self, errno: Errno) -> bool {
        if errno == Errno::ENOSPC { self.needs_room() } else { self.changes_the_disk() }
    }

    /// Whether somebody may see afterwards that it was done.
    pub fn changes_something(self) -> bool {
        self.changes_the_disk() || matches!(self, Self::Lock | Self::Flush | Self::Print)
    }

    /// Whether it may change what is on the disk.
    pub fn changes_the_disk(self) -> bool {
        let moves = matches!(self, Self::Rename | Self::Remove | Self::Change);
        self.needs_room() || moves
    }
}

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Step {
    pub kind: Kind,
    /// The name of the system call, and the path or file it is about: of the step that is hit, and of every step of a
    /// run in which none is. To look it up takes longer than the step.
    pub words: String,
}

/// What became of a run.
#[derive(Debug)]
pub struct Run {
    /// The exit code, `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub steps: Vec<Step>,
    /// Whether the fault was reached.
    pub hit: bool,
    /// Whether it had to be ended because it did not end by itself.
    pub hung: bool,
}

impl Run {
    /// What became of a run that nobody watched.
    pub fn plain(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            steps: Vec::new(),
            hit: false,
            hung: false,
        }
    }
}

/// A thread or process under trace.
#[derive(Default)]
struct Tracee {
    /// Whether the next stop is the end of a call.
    in_call: bool,
    /// The answer that the present call gets.
    answer: Option<Errno>,
    /// Whether the runtime has reached `main`.
    begun: bool,
}

/// Runs the program with this fault; `input` is its standard input.
#[expect(clippy::zombie_processes, reason = "it is waited for by its tracer")]
pub fn run(command: &Command, input: &[u8], fault: Fault) -> Run {
    let (mut stdout, mut stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    // The shell waits for a line, and becomes the program only when it is watched.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read -r _; exec \"$0\" \"$@\""]).arg(command.get_program());
    shell.args(command.get_args()).env_clear().current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    shell.process_group(0).stdin(Stdio::piped());
    shell.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    let mut child = shell.spawn().unwrap();
    let main = Pid::from_raw(child.id().cast_signed());
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(main, options).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&[b"\n", input].concat()).unwrap();
    drop(stdin);
    let (over, hung) = (AtomicBool::new(false), AtomicBool::new(false));
    let (code, signal, steps, hit) = std::thread::scope(|scope| {
        let watchdog = scope.spawn(|| {
            let deadline = Deadline::after(PATIENCE);
            while !over.load(Ordering::Acquire) {
                if deadline.is_over() {
                    hung.store(true, Ordering::Release);
                    let _ = killpg(main, Signal::SIGKILL);
                }
                std::thread::park_timeout(Duration::from_secs(1));
            }
        });
        let mut trace = Trace {
            main,
            program: fs::canonicalize(command.get_program()).unwrap(),
            fault,
            tracees: HashMap::new(),
            steps: Vec::new(),
            hit: false,
            ended: (None, None),
        };
        trace.follow();
        over.store(true, Ordering::Release);
        watchdog.thread().unpark();
        (trace.ended.0, trace.ended.1, trace.steps, trace.hit)
    });
    let text = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (stdout, stderr) = (text(&mut stdout), text(&mut stderr));
    Run { code, signal, stdout, stderr, steps, hit, hung: hung.into_inner() }
}

struct Trace {
    main: Pid,
    program: PathBuf,
    fault: Fault,
    tracees: HashMap<Pid, Tracee>,
    steps: Vec<Step>,
    hit: bool,
    ended: (Option<i32>, Option<i32>),
}

impl Trace {
    /// Follows the program and all that it starts of itself, until nobody is left.
    fn follow(&mut self) {
        // Another thread of these tests follows a run of its own.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            let status = match waitpid(None, Some(flags)) {
                Ok(status) => status,
                Err(Errno::EINTR) => continue,
                Err(Errno::ECHILD) => return,
                Err(error) => panic!("waitpid: {error}"),
            };
            match status {
                WaitStatus::Exited(pid, code) if pid == self.main => self.ended.0 = Some(code),
                WaitStatus::Signaled(pid, signal, _) if pid == self.main => {
                    self.ended.1 = Some(signal as i32);
                }
                WaitStatus::PtraceSyscall(pid) => self.call(pid),
                WaitStatus::PtraceEvent(pid, _, libc::PTRACE_EVENT_EXEC) => self.executes(pid),
                WaitStatus::PtraceEvent(pid, _, _) => self.go_on(pid, None),
                WaitStatus::Stopped(pid, signal) => self.go_on(pid, Some(signal)),
                _ => {}
            }
        }
    }

    /// Continues a tracee up to its next call. Once the one call of `Fault::Fail` has got its error, no other call of the
    /// run is watched.
    fn go_on(&self, pid: Pid, signal: Option<Signal>) {
        let has_failed = self.hit && matches!(self.fault, Fault::Fail(..));
        let is_answered = self.tracees.values().all(|tracee| tracee.answer.is_none());
        // A tracee that is gone by now is reported as ended later.
        let _ = if has_failed && is_answered {
            ptrace::cont(pid, signal)
        } else {
            ptrace::syscall(pid, signal)
        };
    }

    /// Another program than the one under test is left alone.
    fn executes(&mut self, pid: Pid) {
        let program = fs::read_link(format!("/proc/{pid}/exe"));
        if program.is_ok_and(|program| program == self.program) {
            self.tracees.insert(pid, Tracee { in_call: true, ..Tracee::default() });
            self.go_on(pid, None);
        } else if pid == self.main && !self.tracees.contains_key(&pid) {
            // The start of the shell is sometimes not over when the trace begins.
            self.go_on(pid, None);
        } else {
            self.tracees.remove(&pid);
            let _ = ptrace::detach(pid, None);
        }
    }

    /// A call begins or ends.
    fn call(&mut self, pid: Pid) {
        let Ok(mut registers) = ptrace::getregs(pid) else {
            return;
        };
        let threads_begin_at_once = self.tracees.values().any(|tracee| tracee.begun);
        let tracee = self.tracees.entry(pid).or_insert_with(|| Tracee {
            // A thread or a fork comes to life within a call, and is watched from its next one on.
            begun: threads_begin_at_once,
            ..Tracee::default()
        });
        if tracee.in_call {
            tracee.in_call = false;
            if let Some(errno) = tracee.answer.take() {
                registers.rax = i64::from(-(errno as i32)).cast_unsigned();
                let _ = ptrace::setregs(pid, registers);
            }
            return self.go_on(pid, None);
        }
        tracee.in_call = true;
        let call = registers.orig_rax.cast_signed();
        if call == libc::SYS_sigaltstack && registers.rdi != 0 {
            // What the runtime does before `main` is not the program's.
            tracee.begun = true;
        }
        // A call without an address asks what the system can do.
        let asks = call == libc::SYS_statx && registers.rsi == 0;
        let Some(kind) = kind_of(call, &registers).filter(|_| tracee.begun && !asks) else {
            return self.go_on(pid, None);
        };
        let step = self.steps.len();
        let is_read_later = self.fault.step().is_none_or(|at| at == step);
        let words = if is_read_later { describe(pid, call, &registers) } else { String::new() };
        self.steps.push(Step { kind, words });
        match self.fault {
            Fault::Fail(at, turn) if at == step => tracee.answer = Some(kind.error(turn)),
            Fault::BrokenFrom(at, errno) if at <= step && kind.fails_with(errno) => {
                tracee.answer = Some(errno);
            }
            Fault::Torn(at) if at == step => {
                registers.rdx /= 2;
                let _ = ptrace::setregs(pid, registers);
                self.hit = true;
            }
            Fault::Torn(at) if at < step && kind.needs_room() => {
                tracee.answer = Some(Errno::ENOSPC);
            }
            Fault::Kill(at) if at == step => {
                self.hit = true;
                let _ = kill(pid, Signal::SIGKILL);
                return;
            }
            _ => {}
        }
        if tracee.answer.is_some() {
            self.hit = true;
            // No call has this number: nothing is done, and the answer is put in its place afterwards.
            registers.orig_rax = u64::MAX;
            let _ = ptrace::setregs(pid, registers);
        }
        self.go_on(pid, None);
    }
}

fn kind_of(call: i64, registers: &libc::user_regs_struct) -> Option<Kind> {
    Some(match call {
        libc::SYS_openat if registers.rdx & libc::O_CREAT as u64 != 0 => Kind::Create,
        libc::SYS_open if registers.rsi & libc::O_CREAT as u64 != 0 => Kind::Create,
        libc::SYS_open | libc::SYS_openat => Kind::Open,
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_readlink | libc::SYS_getdents64 => {
            Kind::Read
        }
        libc::SYS_write | libc::SYS_writev if matches!(registers.rdi, 1 | 2) => Kind::Print,
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 => Kind::Write,
        libc::SYS_statx
        | libc::SYS_newfstatat
        | libc::SYS_stat
        | libc::SYS_lstat
        | libc::SYS_fstat
        | libc::SYS_getcwd
        | libc::SYS_access => Kind::Look,
        libc::SYS_rename | libc::SYS_renameat | libc::SYS_renameat2 => Kind::Rename,
        libc::SYS_unlink | libc::SYS_unlinkat | libc::SYS_rmdir => Kind::Remove,
        libc::SYS_mkdir | libc::SYS_mkdirat => Kind::Folder,
        libc::SYS_flock => Kind::Lock,
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_syncfs => Kind::Flush,
        libc::SYS_fchmod
        | libc::SYS_chmod
        | libc::SYS_fchmodat
        | libc::SYS_ftruncate
        | libc::SYS_utimensat
        | libc::SYS_link
        | libc::SYS_linkat
        | libc::SYS_symlinkat => Kind::Change,
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_vfork | libc::SYS_fork => Kind::Start,
        libc::SYS_wait4 | libc::SYS_waitid | libc::SYS_poll | libc::SYS_ppoll => Kind::Wait,
        libc::SYS_pipe2
        | libc::SYS_socketpair
        | libc::SYS_socket
        | libc::SYS_dup
        | libc::SYS_pidfd_open => Kind::Handle,
        _ => return None,
    })
}

/// The call by name, with its path or its file: for a person who reads what failed.
fn describe(pid: Pid, call: i64, registers: &libc::user_regs_struct) -> String {
    let at = |address: u64| text_at(pid, address);
    let file = |number: u64| {
        let link = fs::read_link(format!("/proc/{pid}/fd/{number}"));
        link.map_or_else(|_| format!("file {number}"), |path| path.display().to_string())
    };
    match call {
        libc::SYS_openat | libc::SYS_mkdirat | libc::SYS_unlinkat => {
            let name = match call {
                libc::SYS_openat => "openat",
                libc::SYS_mkdirat => "mkdirat",
                _ => "unlinkat",
            };
            format!("{name} {}", at(registers.rsi))
        }
        libc::SYS_open => format!("open {}", at(registers.rdi)),
        libc::SYS_stat | libc::SYS_lstat => format!("stat {}", at(registers.rdi)),
        libc::SYS_fstat => format!("stat {}", file(registers.rdi)),
        libc::SYS_statx | libc::SYS_newfstatat => {
            let path = at(registers.rsi);
            format!("stat {}", if path.is_empty() { file(registers.rdi) } else { path })
        }
        libc::SYS_read => format!("read {}", file(registers.rdi)),
        libc::SYS_pread64 => format!("pread {}", file(registers.rdi)),
        libc::SYS_getdents64 => format!("getdents {}", file(registers.rdi)),
        libc::SYS_readlink => format!("readlink {}", at(registers.rdi)),
        libc::SYS_write | libc::SYS_writev => format!("write {}", file(registers.rdi)),
        libc::SYS_rename => format!("rename {} to {}", at(registers.rdi), at(registers.rsi)),
        libc::SYS_renameat | libc::SYS_renameat2 => {
            format!("rename {} to {} ({})", at(registers.rsi), at(registers.r10), registers.r8)
        }
        libc::SYS_unlink => format!("unlink {}", at(registers.rdi)),
        libc::SYS_rmdir => format!("rmdir {}", at(registers.rdi)),
        libc::SYS_mkdir => format!("mkdir {}", at(registers.rdi)),
        libc::SYS_flock => format!("flock {} ({})", file(registers.rdi), registers.rsi),
        libc::SYS_fsync | libc::SYS_fdatasync => format!("fsync {}", file(registers.rdi)),
        libc::SYS_fchmod => format!("fchmod {}", file(registers.rdi)),
        libc::SYS_ftruncate => format!("ftruncate {}", file(registers.rdi)),
        other => format!("system call {other}"),
    }
}

/// The text that stands there in the memory of a program that is stopped.
fn text_at(pid: Pid, address: u64) -> String {
    let mut bytes = [0; 512];
    let memory = File::open(format!("/proc/{pid}/mem"));
    let read = memory.and_then(|memory| memory.read_at(&mut bytes, address)).unwrap_or(0);
    let end = bytes[..read].iter().position(|byte| *byte == 0).unwrap_or(read);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Whether programs can be traced here. If not, it prints a line.
pub fn can_trace() -> bool {
    let mut child = Command::new("/bin/sh").args(["-c", "read -r _"]).stdin(Stdio::piped()).spawn();
    let child = child.as_mut().unwrap();
    let tried = ptrace::seize(Pid::from_raw(child.id().cast_signed()), Options::empty());
    child.kill().unwrap();
    child.wait().unwrap();
    if let Err(error) = tried {
        left_out(&format!("no program may be traced here ({error})"));
    }
    tried.is_ok()
}
