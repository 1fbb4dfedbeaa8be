//! A runner's books as a black box: killed programs, and `spool stop` from another terminal.

use crate::support::limited::{Ended, Limited, PATIENCE, within};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use ralph_speckit::forms::spent::Spent;
use ralph_speckit::runner::options::Counting;
use ralph_speckit::runner::requests::{Requests, RunnerRequest};
use ralph_speckit::runner::state::{
    Iteration, LoopState, LoopStatus, StateFiles, iso, state_folder,
};
use ralph_speckit::runner::target::{Change, ChangeKind};
#[cfg(target_os = "linux")]
use ralph_speckit::store::names::VerdictName;
use ralph_speckit::world::{self, Deadline};
use serde_json::Value;
use std::time::Duration;
use tempfile::TempDir;

const ID: &str = "002-01_add-ralph-loop";
/// Names the project in which the test's own program plays a runner.
const PROJECT: &str = "RUNNER_BOOKS_PROJECT";

fn project() -> (TempDir, PathBuf) {
    let scratch = TempDir::with_prefix("runner-books-").unwrap();
    let root = scratch.path().canonicalize().unwrap();
    (scratch, root)
}

fn open(root: &Path) -> StateFiles {
    let change = Change {
        id: ID.to_owned(),
        kind: ChangeKind::Spool,
        folder: root.to_owned(),
        root: root.to_owned(),
        worktree: root.to_owned(),
        module: None,
    };
    let state = LoopState { task: "Make it".to_owned(), ..LoopState::default() };
    StateFiles::open_with(&change, state, Counting::FromZero, |_, _| Spent::default()).unwrap()
}

fn iteration(n: u32) -> Iteration {
    Iteration { n, started: iso(world::now()), ..Iteration::default() }
}

#[test]
#[ignore = "the program that the tests below kill"]
fn a_runner_that_writes_its_books_until_it_is_killed() {
    let Some(root) = world::folder(PROJECT) else { return };
    let mut books = open(&root);
    books.state.status = LoopStatus::Running;
    for n in 1.. {
        books.begin(&iteration(n)).unwrap();
        println!("began {n}");
        books.end(&iteration(n)).unwrap();
        println!("ended {n}");
    }
}

/// Starts a runner in a process of its own.
fn runner(root: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--ignored",
            "runner_books::a_runner_that_writes_its_books_until_it_is_killed",
            "--nocapture",
        ])
        .env(PROJECT, root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills it after this many lines, and returns the last line that it printed.
fn kill_after(mut runner: Child, lines: usize) -> String {
    let mut output = BufReader::new(runner.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ours = |line: &String| line.starts_with("began ") || line.starts_with("ended ");
    let output = within("so many lines", move || {
        output.by_ref().filter(ours).nth(lines).unwrap();
        output
    });
    runner.kill().unwrap();
    runner.ended();
    within("the last line", move || output.filter(ours).last().unwrap_or_default())
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn history(root: &Path) -> Vec<Value> {
    let text = fs::read_to_string(state_folder(root, ID).join("history.jsonl")).unwrap();
    // A kill may tear the line that was written; the next one then stands behind it.
    let entry =
        |line: &str| serde_json::from_str(&line[line.rfind("{\"run_started_at\":")?..]).ok();
    text.lines().filter_map(entry).collect()
}

#[test]
fn sigkill_leaves_loadable_files() {
    let (_scratch, root) = project();
    let document = root.join(".claude/loop-state.json");
    let mut before = 0;
    for round in 0..25 {
        let last = kill_after(runner(&root), round * 3 % 40);
        let left = json(&document);
        assert_eq!(left["status"], "running", "round {round}");
        let books = open(&root);
        assert!(books.put_aside.is_empty(), "round {round}: {:?}", books.put_aside);
        let all = history(&root);
        let run = &all[before..];
        let numbers: Vec<u64> = run.iter().map(|line| line["n"].as_u64().unwrap()).collect();
        let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected, "round {round}: one line for each, in order");
        assert!(run.iter().all(|line| line["ended"].is_string()), "round {round}");
        let cut_off = run.iter().filter(|line| line["interrupted"] == true).count();
        assert!(cut_off <= 1, "round {round}: {cut_off}");
        if let Some(number) = last.split(' ').nth(1).and_then(|number| number.parse::<u64>().ok()) {
            assert!(numbers.contains(&number), "round {round}: `{last}` was printed");
        }
        if let Some(iteration) =
            books.recovered.as_ref().and_then(|recovered| recovered.iteration.as_ref())
            && iteration.interrupted
        {
            assert_eq!(json(&document)["iterations"][0]["interrupted"], true, "round {round}");
        }
        before = all.len();
        drop(books);
    }
}

#[test]
fn dead_lock_is_taken_over() {
    let (_scratch, root) = project();
    let child = runner(&root);
    let pid = child.id();
    kill_after(child, 0);
    let books = open(&root);
    assert_eq!(books.recovered.as_ref().unwrap().pid, pid);
    assert_eq!(json(&root.join(".claude/loop-state.json"))["pid"], std::process::id());
}

fn spool(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spool"));
    command.args(arguments).env_clear().current_dir(root).finish()
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `spool` while the books are open, and ends the loop as a runner does once it is asked.
fn stopped_while_running(root: &Path, mut books: StateFiles, arguments: &[&str]) -> Output {
    std::thread::scope(|scope| {
        let command = scope.spawn(|| spool(root, arguments));
        let deadline = Deadline::after(PATIENCE);
        while Requests::of(&books.folder).pending() != Some(RunnerRequest::Stop) {
            assert!(!deadline.is_over(), "nothing was asked");
            world::pause(Duration::from_millis(5));
        }
        Requests::of(&books.folder).clear_stop();
        books.state.status = LoopStatus::Stopped;
        "a person stopped it".clone_into(&mut books.state.words);
        books.save().unwrap();
        drop(books);
        command.join().unwrap()
    })
}

#[test]
fn stop_asks_the_only_runner() {
    let (_scratch, root) = project();
    let below = root.join("src/deep");
    fs::create_dir_all(&below).unwrap();
    for arguments in [&["stop"][..], &["stop", "--change", ID]] {
        let mut books = open(&root);
        books.begin(&iteration(1)).unwrap();
        books.end(&iteration(1)).unwrap();
        let output = stopped_while_running(&below, books, arguments);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let words =
            format!("The loop of `{ID}` has ended after 1 iteration: a person stopped it.\n");
        assert_eq!(said, words);
    }
}

#[test]
fn stop_names_a_runner_that_stays() {
    let (_scratch, root) = project();
    let books = open(&root);
    let said = refused(&spool(&root, &["stop", "--wait", "1"]));
    let pid = std::process::id();
    for words in ["still there after 1 s", &format!("process {pid}"), &format!("kill {pid}")] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    let output = spool(&root, &["stop", "--wait", "0"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("was asked to end"));
    assert_eq!(Requests::of(&books.folder).pending(), Some(RunnerRequest::Stop));
}

#[test]
fn stop_without_runner_says_so() {
    let (_scratch, root) = project();
    let said = refused(&spool(&root, &["stop"]));
    assert!(
        said.contains("neither in a session nor of `spool ralph`") && said.contains("--project"),
        "{said}"
    );
    drop(open(&root));
    let said = refused(&spool(&root, &["stop"]));
    assert!(said.contains("no runner is running"), "{said}");
    for id in ["other", "../x", "-x", "a\u{1b}b"] {
        let said = refused(&spool(&root, &["stop", &format!("--change={id}")]));
        assert!(said.contains("has not run here on a change that is called"), "{said}");
        assert!(said.contains(&format!("there is only `{ID}`")), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
    let _books = open(&root);
    fs::create_dir(state_folder(&root, "other")).unwrap();
    let said = refused(&spool(&root, &["stop", "--change", "other"]));
    assert!(said.contains(&format!("runners are running on: {ID}")), "{said}");
}

/// The time that this thread has computed for, in nanoseconds.
#[cfg(target_os = "linux")]
fn computed() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Prints what a step costs after so many iterations; judges nothing, for a time is no matter for a test that has to pass
/// everywhere. `cargo test --release --test it runner_books:: -- --ignored --nocapture` runs it.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "it measures, it does not judge"]
fn what_the_books_cost() {
    let (_scratch, root) = project();
    let mut books = open(&root);
    books.state.status = LoopStatus::Running;
    let like_a_real_one = |n| Iteration {
        commits: vec!["4f2a6f0c9d1e8b7a6c5d4e3f2a1b0c9d8e7f6a5b".to_owned(); 2],
        files: (0..8).map(|file| format!("src/some/folder/file_{file}.rs")).collect(),
        files_changed: 8,
        tasks_ticked: vec!["T012".to_owned()],
        verdict: VerdictName::Continue,
        words: "12 tasks are open".to_owned(),
        session_id: "0b2f6a1e-4f0e-4d6b-9c55-2f7d8a3b1c90".to_owned(),
        ..iteration(n)
    };
    let mut from = computed();
    for n in 1..=10_000 {
        books.begin(&like_a_real_one(n)).unwrap();
        books.end(&like_a_real_one(n)).unwrap();
        if n % 100 == 0 {
            let now = computed();
            if matches!(n, 100 | 500 | 1000 | 2000 | 10_000) {
                println!("iterations {}-{n}: {} us of CPU each", n - 99, (now - from) / 100_000);
            }
            from = now;
        }
    }
    let size = |path: &Path| path.metadata().unwrap().len();
    println!("loop-state.json: {} bytes", size(&root.join(".claude/loop-state.json")));
    println!("history.jsonl: {} bytes", size(&books.folder.join("history.jsonl")));
    let from = computed();
    for _ in 0..100 {
        let report = ralph_speckit::runner::report::RunnerReport::of(&root, ID).unwrap();
        assert!(report.text().contains("Iteration: 10000"));
    }
    println!("--status of 10,000 iterations: {} us of CPU", (computed() - from) / 100_000);
}
