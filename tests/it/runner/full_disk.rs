//! The disk with the loop's own files is full: the loop ends by name and loses nothing.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::runner::claude::TOKENS;
use crate::runner::support::{Bench, Call, PROMISE, in_state, says};
use crate::support::left_out::left_out;

/// Where the loop keeps its files, from the project.
const STATE: &str = ".spool/.state";

/// A small disk for what a loop keeps of its own, which only the runners in its namespace see.
pub struct SmallDisk {
    holder: Child,
    project: PathBuf,
}

impl SmallDisk {
    /// `None` with a printed line where the system has no namespace for it.
    pub fn of(bench: &Bench) -> Option<Self> {
        let place = bench.root.join(STATE);
        fs::create_dir_all(&place).unwrap();
        // It holds the disk until its standard input is closed.
        let script = "mount -t tmpfs -o size=12m tmpfs \"$0\" && echo mounted && read -r _";
        let mut holder = Command::new("unshare");
        holder.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(&place);
        let holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut said = String::new();
        if let Ok(mut holder) = holder {
            BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
            if said == "mounted\n" && Path::new("/usr/bin/nsenter").exists() {
                return Some(Self { holder, project: bench.root.clone() });
            }
            let _ = holder.wait();
        }
        left_out("it needs `unshare` and `nsenter` with a user and its mounts");
        None
    }

    /// Has a program started where the disk is.
    pub fn seen_by<'a>(&self, call: Call<'a>) -> Call<'a> {
        let (holder, project) = (self.holder.id().to_string(), self.project.to_str().unwrap());
        let enter = ["nsenter", "--preserve-credentials", "--user", "--mount", "--target"];
        let there = ["sh", "-c", "cd \"$0\" && exec \"$@\"", project];
        call.started_by(&[&enter[..], &[&holder], &there].concat())
    }

    /// A file on it, as those see it who are not in the namespace.
    fn path(&self, name: &str) -> PathBuf {
        let project = self.project.strip_prefix("/").unwrap();
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(project).join(name)
    }

    pub fn fill(&self) {
        let mut file = File::create(self.path(STATE).join("ballast")).unwrap();
        loop {
            match file.write(&[0; 4096]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => return,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
            }
        }
    }

    pub fn make_room(&self) {
        fs::remove_file(self.path(STATE).join("ballast")).unwrap();
    }

    /// The lines of one of the loop's files: each is whole.
    fn lines(&self, name: &str) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.path(&in_state(name))).unwrap();
        assert!(text.ends_with('\n') && !text.contains("\n\n"), "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// The number of each iteration in the history.
fn numbers(history: &[serde_json::Value]) -> Vec<u64> {
    history.iter().map(|line| line["n"].as_u64().unwrap()).collect()
}

#[test]
fn full_disk_is_named_and_continued() {
    let bench = Bench::new();
    let Some(disk) = SmallDisk::of(&bench) else { return };
    let gate = bench.gate();
    let notified = bench.beside("desk/notified");
    let notify =
        format!("printf '%s: %s' \"$RALPH_REASON\" \"$RALPH_WORDS\" > '{}'", notified.display());
    bench.claude(&format!(
        "calls Bash\nif [ $n = 1 ]; then read -r _ < \"$DESK/gate\"; fi\necho $n > made.txt\n\
         if [ $n = 2 ]; then result '{PROMISE}'; else result 'On it.'; fi"
    ));
    let call = bench.ralph("--json").arg("--notify").arg(&notify);
    let mut running = disk.seen_by(call).start();
    running.wait_for("Bash: true");
    disk.fill();
    gate.open();
    let ran = running.finish().with_code(1);
    let events = ran.events();
    let end = events.last().unwrap();
    assert_eq!((&end["reason"], &end["exit_code"]), (&"stopped".into(), &1.into()), "{end:#}");
    assert_eq!(
        end["next"],
        "Make room on the disk, then run the same command again: it continues this loop."
    );
    assert_eq!(bench.runs(), 1);
    let state = bench.state();
    assert_eq!((&state["status"], &state["reason"]), (&"stopped".into(), &"stopped".into()));
    let words = state["words"].as_str().unwrap();
    assert!(words.starts_with("the disk was full: `"), "{words}");
    assert!(words.contains("No space left"), "{words}");
    assert!(fs::read_to_string(&notified).unwrap().starts_with("stopped: ended (stopped): "));
    // The iteration is there, in the room that was kept free for it.
    assert_eq!(numbers(&disk.lines("history.jsonl")), [1]);
    assert_eq!(state["total_tokens"], TOKENS);
    assert!(!disk.path(&in_state("reserve")).exists(), "what is kept free is used up");
    // On a disk that is full to the last byte no run begins, and what is there stays.
    disk.fill();
    let full = disk.seen_by(bench.ralph("")).run().with_code(1);
    full.warns("No space left");
    assert_eq!((bench.runs(), numbers(&disk.lines("history.jsonl"))), (1, vec![1]));
    disk.make_room();
    let next = disk.seen_by(bench.ralph("")).run().with_code(0);
    next.says("ralph: continues: iteration 2 of 50, 420 tokens");
    assert_eq!(numbers(&disk.lines("history.jsonl")), [1, 2]);
    assert_eq!(bench.state()["total_tokens"], 2 * TOKENS);
}

#[test]
fn full_log_is_named() {
    let bench = Bench::new();
    let Some(disk) = SmallDisk::of(&bench) else { return };
    let gate = bench.gate();
    // 6 MiB in lines of 64 KiB: more than is kept in memory.
    bench.agent(&format!(
        "echo there\nread -r _ < \"$DESK/gate\"\n\
         line=$(head -c 65535 /dev/zero | tr '\\0' x)\n\
         i=0; while [ $i -lt 96 ]; do echo \"$line\"; i=$((i + 1)); done\n{}",
        says(PROMISE)
    ));
    let mut running = disk.seen_by(bench.ralph("")).start();
    running.wait_for("there");
    disk.fill();
    gate.open();
    // The work is done all the same.
    let ran = running.finish().with_code(0);
    ran.warns("the log of this iteration is not whole: ");
    ran.warns(" bytes of output are missing: the disk was full");
    assert_eq!(numbers(&disk.lines("history.jsonl")), [1]);
}

#[test]
fn h9_file_that_may_not_grow() {
    let bench = Bench::new();
    // 1 MiB of output, and a log that may have a quarter.
    bench.agent(&format!(
        "head -c 1048576 /dev/zero | tr '\\0' x | fold -w 1000\necho $n >made.txt\n{}",
        says(PROMISE)
    ));
    let limited = ["sh", "-c", "ulimit -f 512; exec \"$0\" \"$@\""];
    let ran = bench.ralph("").started_by(&limited).run().with_code(0);
    ran.warns("the log of this iteration is not whole: ");
    let none = ["sh", "-c", "ulimit -f 0; exec \"$0\" \"$@\""];
    let ran = bench.ralph("").started_by(&none).run().with_code(1);
    assert_eq!(bench.runs(), 1, "{ran}");
}
