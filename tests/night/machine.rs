//! The machine on which the runners of a play are: its disk for what a loop keeps of its own is small, and it can sleep.
//!
//! Both are mounted in a namespace that outlives the runners, and that nobody else is in.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::geteuid;

use crate::scratch::Scratch;

/// Where a loop keeps what is its own, from the project: the small disk.
pub const STATE: &str = ".spool/.state";
/// What fills the disk up.
pub const BALLAST: &str = ".spool/.state/ballast";
/// The clock that counts a sleep too.
pub const CLOCK: &str = "/proc/uptime";
/// What that clock shows at first, in seconds.
pub const AWAKE: u64 = 1_000_000;

/// Mounts both, and holds them until its standard input is closed.
const HOLD: &str = "mount -t tmpfs -o size=48m,mode=755 tmpfs \"$1\" && mount --bind \"$2\" \"$3\" && echo mounted && read -r _";

/// A machine; it is gone when this is dropped.
pub struct Machine {
    holder: Child,
    project: PathBuf,
    /// How a program gets there.
    enter: Vec<String>,
}

/// What the clock shows, in a text that is always of the same length.
pub fn clock_at(seconds: u64) -> String {
    format!("{seconds:09}.00 1.00\n")
}

impl Machine {
    /// `None` with a printed line where the system has no namespaces for it.
    pub fn of(scratch: &Scratch) -> Option<Self> {
        let place = scratch.path(STATE);
        fs::create_dir_all(&place).unwrap();
        let clock = scratch.beside("uptime");
        fs::write(&clock, clock_at(AWAKE)).unwrap();
        let as_user: &[&str] =
            if geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
        let mut holder = Command::new("unshare");
        holder.args(as_user).args(["--mount", "sh", "-c", HOLD, "sh"]);
        holder.arg(place).arg(clock).arg(CLOCK);
        let holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        if let Ok(mut holder) = holder {
            let mut said = String::new();
            BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
            if said == "mounted\n" && Path::new("/usr/bin/nsenter").exists() {
                let enter = match as_user {
                    [] => "--mount --target",
                    _ => "--preserve-credentials --user --mount --target",
                };
                let enter = enter.split(' ').map(str::to_owned).chain([holder.id().to_string()]);
                let enter = enter.collect();
                return Some(Self { holder, project: scratch.root.clone(), enter });
            }
            drop(holder.stdin.take());
            let _ = holder.wait();
        }
        println!(
            "a full disk and a sleep are left out: they need `unshare` with mounts, and `nsenter`"
        );
        None
    }

    /// A program on it, in the project.
    pub fn command(&self, scratch: &Scratch, program: impl AsRef<OsStr>) -> Command {
        let mut command = scratch.command("nsenter");
        command.args(&self.enter).args(["sh", "-c", "cd \"$0\" && exec \"$@\""]);
        command.arg(&self.project).arg(program);
        command
    }

    /// A file of the project as it is on this machine.
    pub fn path(&self, name: &str) -> PathBuf {
        let project = self.project.strip_prefix("/").unwrap();
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(project).join(name)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
