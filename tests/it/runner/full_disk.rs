//! The disk with the loop's own files is full: the loop waits for room, loses nothing, and ends by name when there stays none.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::runner::claude::TOKENS;
use crate::runner::support::{Bench, CHANGE, Call, PROMISE, in_state, says};
use crate::support::schema::holds;

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
        println!("left out: it needs `unshare` and `nsenter` with a user and its mounts");
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

    /// The log of an iteration.
    fn log(&self, iteration: &serde_json::Value) -> String {
        fs::read_to_string(self.path(&in_state(iteration["log"].as_str().unwrap()))).unwrap()
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
fn a_disk_that_fills_under_the_agent_is_waited_for_and_nothing_is_lost_or_counted_twice() {
    let bench = Bench::new();
    let Some(disk) = SmallDisk::of(&bench) else { return };
    let gate = bench.gate();
    bench.claude(&format!(
        "cost=0.5\ncalls Bash\nif [ $n = 1 ]; then read -r _ < \"$DESK/gate\"; fi\ncalls Edit\n\
         i=0; while [ $i -lt 200 ]; do says \"line $i of $n\"; i=$((i + 1)); done\n\
         echo $n > made.txt\nif [ $n = 3 ]; then result '{PROMISE}'; else result 'On it.'; fi"
    ));
    let mut running = disk.seen_by(bench.ralph("--max-usd 9")).start();
    running.wait_for("Bash: true");
    let status = || {
        let call = bench.spool(&format!("ralph --status --json --change {CHANGE}"));
        let ran = disk.seen_by(call).run().with_code(0);
        let status: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
        holds("ralph-status", &status);
        status["runner"].clone()
    };
    disk.fill();
    assert_eq!(status()["waits_for_room_until"], serde_json::Value::Null);
    // From here on the runner finds out at any moment.
    gate.open();
    running.wait_for("ralph: the disk is full: ");
    assert_eq!(bench.runs(), 1, "no agent runs meanwhile");
    // The state cannot be written; until when it waits is told all the same.
    let waits = status();
    let until = waits["waits_for_room_until"].as_str().unwrap_or_default();
    assert!(until > waits["loop"]["armed_at"].as_str().unwrap(), "{waits:#}");
    let at_work = waits["loop"]["at_work"].as_str().unwrap();
    assert!(at_work.starts_with("waiting for room on the disk (until "), "{waits:#}");
    assert_eq!(waits["waits_until"], serde_json::Value::Null);
    disk.make_room();
    running.wait_for("ralph: the disk has room again, after ");
    let ran = running.finish().with_code(0);
    ran.says(
        ".log` cannot be written: No space left on device (os error 28); it is tried again until ",
    );
    ran.says(" (10 min 00 s), Ctrl-C or `spool stop --change ");
    assert_eq!(ran.output.matches("the disk is full").count(), 1, "{ran}");
    ran.says("$1.50");
    assert_eq!(bench.runs(), 3);
    let (state, history) = (bench.state(), disk.lines("history.jsonl"));
    assert_eq!(numbers(&history), [1, 2, 3]);
    assert_eq!(state["total_tokens"], 3 * TOKENS);
    assert_eq!(state["ledger"]["iterations"], 3);
    let journal = disk.lines("journal.jsonl");
    let entries = journal.iter().filter(|it| it["event"] == "iteration");
    assert_eq!(entries.count(), 3, "{journal:#?}");
    // In the morning it is still told.
    let waits: Vec<_> = journal.iter().filter(|it| it["event"] == "disk-full").collect();
    let [wait] = waits[..] else { panic!("{journal:#?}") };
    let words = wait["words"].as_str().unwrap();
    assert!(words.contains("No space left") && words.contains("; it was waited "), "{words}");
    ran.says(" for room on the disk, ");
    let log = disk.seen_by(bench.spool(&format!("log --change {CHANGE}"))).run().with_code(0);
    log.says("; it was waited ");
    for (iteration, n) in history.iter().zip(1..) {
        let log = disk.log(iteration);
        let whole = (0..200).all(|line| log.contains(&format!("\"line {line} of {n}\"")));
        assert!(whole && log.lines().last().unwrap().contains("\"result\""), "{n}: {log}");
    }
    assert!(!disk.path(&in_state("reserve")).exists(), "what is kept free is given back");
}

#[test]
fn a_disk_that_stays_full_is_a_named_end_and_the_next_run_goes_on_from_it() {
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
    let call = bench.ralph("--disk-wait 300ms --json").arg("--notify").arg(&notify);
    let mut running = disk.seen_by(call).start();
    running.wait_for("Bash: true");
    disk.fill();
    gate.open();
    let ran = running.finish().with_code(1);
    let events = ran.events();
    let waiting = events.iter().find(|it| it["event"] == "waiting").unwrap();
    assert_eq!(waiting["for"], "room on the disk");
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
    assert!(words.starts_with("the disk was full for 0.3 s: `"), "{words}");
    assert!(words.contains("No space left"), "{words}");
    assert!(fs::read_to_string(&notified).unwrap().starts_with("stopped: "));
    // The iteration is there, in the room that was kept free for it.
    assert_eq!(numbers(&disk.lines("history.jsonl")), [1]);
    assert_eq!(state["total_tokens"], TOKENS);
    // On a disk that is full to the last byte no run begins, and what is there stays.
    disk.fill();
    let full = disk.seen_by(bench.ralph("--disk-wait 0")).run().with_code(1);
    full.warns("No space left");
    assert_eq!((bench.runs(), numbers(&disk.lines("history.jsonl"))), (1, vec![1]));
    disk.make_room();
    let next = disk.seen_by(bench.ralph("")).run().with_code(0);
    next.says("ralph: continues: iteration 2 of 50, 420 tokens");
    assert_eq!(numbers(&disk.lines("history.jsonl")), [1, 2]);
    assert_eq!(bench.state()["total_tokens"], 2 * TOKENS);
}

#[test]
fn a_loop_that_waits_for_room_obeys_spool_stop_and_ctrl_c_at_once() {
    for way in ["spool stop", "Ctrl-C"] {
        let bench = Bench::new();
        let Some(disk) = SmallDisk::of(&bench) else { return };
        let gate = bench.gate();
        bench.agent(&format!("echo there\nread -r _ < \"$DESK/gate\"\n{}", says("Not yet.")));
        let mut running = disk.seen_by(bench.ralph("")).start();
        running.wait_for("there");
        disk.fill();
        gate.open();
        running.wait_for("ralph: the disk is full: ");
        if way == "Ctrl-C" {
            running.signal(Signal::INT);
        } else {
            disk.seen_by(bench.spool(&format!("stop --change {CHANGE}"))).run().with_code(0);
        }
        let ran = running.finish().with_code(130);
        ran.says("stopped");
        assert_eq!(bench.runs(), 1, "{way}");
        assert_eq!(bench.state()["status"], "stopped", "{way}");
        assert_eq!(numbers(&disk.lines("history.jsonl")), [1], "{way}");
    }
}

#[test]
fn what_the_log_has_no_room_for_is_named() {
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
    running.wait_for("ralph: the disk is full: ");
    disk.make_room();
    let ran = running.finish().with_code(0);
    ran.warns("the log of this iteration is not whole: ");
    ran.warns(" bytes of output are missing: the disk was full");
    let log = disk.log(&disk.lines("history.jsonl")[0]);
    assert!(log.len() > 4 << 20, "{}", log.len());
    assert!(log.contains("bytes of output are missing here, the disk was full]"));
}
