//! `kill -9` at any moment: list and state always load, nothing that was reported is lost, and the
//! next call works.

use crate::support::amounts::few_or_all;
use crate::support::limited::Limited;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use serde_json::Value;

use super::support::{FOUR, Project, SESSION, SPOOL, Said, boxes};

/// How many calls each of three stories kills while they run.
fn kills() -> usize {
    few_or_all(16, 80)
}
const TASKS: usize = 240;

fn list() -> String {
    (1..=TASKS).fold(String::from("# Tasks\n\n"), |mut list, number| {
        let _ = writeln!(list, "- [ ] T{number:03} Do number {number}\n  - Files: src/{number}.rs");
        list
    })
}

/// A project whose programs are killed at moments spread over the length of a call.
struct Range {
    project: Project,
    length: Duration,
    random: u64,
    killed: usize,
}

impl Range {
    fn new(seed: u64) -> Self {
        let project = Project::armed_with(&list(), "--max-task-iterations 1000000");
        let mut range = Self { project, length: Duration::from_millis(5), random: seed, killed: 0 };
        // The length of a whole call, by the clock of this machine under its present load.
        let deadline = Deadline::after(Duration::from_mins(1));
        range.project.task(&["add", "--after", "T001", "Warm up"]).ok();
        range.length = Duration::from_mins(1).saturating_sub(deadline.left());
        range
    }

    /// A moment from the start of a call to a little behind its end.
    fn moment(&mut self) -> Duration {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = u32::try_from((self.random >> 33) % 1_200).unwrap();
        self.length * share / 1_000
    }

    /// Kills a call at some moment; what it said when it was over before.
    fn kill(&mut self, arguments: &[&str]) -> Option<Said> {
        let moment = self.moment();
        let mut command = self.project.command(SPOOL);
        command.arg("task").args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        pause(moment);
        child.kill().unwrap();
        let output = child.finish();
        if output.status.code().is_some() {
            // Calls have become shorter than they were: aim earlier.
            self.length = self.length * 19 / 20;
            return Some(Said::from(&output));
        }
        self.length = self.length * 101 / 100;
        self.killed += 1;
        None
    }

    /// Fails unless the list is the one we made but for ticks and added lines, and the state loads.
    fn assert_whole(&self) -> (String, Value) {
        let tasks = self.project.tasks();
        let ours =
            tasks.lines().filter(|line| !line.contains("Warm up") && !line.contains("Extra"));
        let ours: String = ours.fold(String::new(), |text, line| text + line + "\n");
        assert_eq!(ours.replace("[x]", "[ ]"), list(), "the list is not whole");
        let state = self.project.state();
        assert_eq!(state["phase"], "execution");
        (tasks, state)
    }

    /// Leftovers of killed writers harm nobody and are swept up once they are old.
    fn assert_no_litter(&self) {
        let leftovers = || -> Vec<_> {
            let entries = fs::read_dir(&self.project.feature).unwrap().flatten();
            entries
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|end| end == "tmp"))
                .collect()
        };
        let found = leftovers();
        println!("{} kills, {} temporary files left behind", self.killed, found.len());
        for path in found {
            filetime::set_file_mtime(path, filetime::FileTime::from_unix_time(1, 0)).unwrap();
        }
        self.project.task(&["done", "T002"]).ok();
        assert_eq!(leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn reported_box_survives_a_kill() {
    let mut range = Range::new(1);
    let mut reported = BTreeSet::new();
    let mut ticked_silently = 0;
    let mut number = 10;
    while range.killed < kills() && number < TASKS {
        number += 1;
        let id = format!("T{number}", number = format_args!("{number:03}"));
        range.project.work_on(&[&id]);
        let said = range.kill(&["done", &id]);
        let (tasks, _) = range.assert_whole();
        if said.is_some() {
            reported.insert(id);
            continue;
        }
        ticked_silently += usize::from(tasks.contains(&format!("- [x] {id} ")));
        // The next call works; every second time it is the same one again.
        if number % 2 == 0 {
            range.project.task(&["done", &id]).ok();
            reported.insert(id);
        } else {
            range.project.task(&["next"]).ok();
        }
        let tasks = range.project.tasks();
        let lost = reported.iter().find(|id| !tasks.contains(&format!("- [x] {id} ")));
        assert_eq!(lost, None, "reported done and open again");
    }
    assert!(range.killed >= kills(), "only {} calls were killed while they ran", range.killed);
    println!("{ticked_silently} were killed behind the tick");
    range.assert_no_litter();
    // What is reported is in all books.
    let (progress, entries) = (range.project.progress(), range.project.entries());
    for id in &reported {
        let line = format!("done {id} ");
        assert_eq!(entries.iter().filter(|entry| entry.starts_with(&line)).count(), 1, "{id}");
        assert_eq!(progress.matches(&format!("- [done] {id} ")).count(), 1, "{id}");
    }
    let boxes = boxes(&range.project.tasks());
    let state = range.project.state();
    assert_eq!(state["totalTasks"], boxes.len());
    assert_eq!(state["taskIndex"], boxes.iter().position(|ticked| !ticked).unwrap());
}

#[test]
fn counts_of_failures_only_ever_grow() {
    let mut range = Range::new(2);
    range.project.set_state(
        &serde_json::json!({"recoveryMode": true, "maxFixTasksPerOriginal": 0, "keep": "me"}),
    );
    let count = |state: &Value| state["taskAttempts"]["T050"].as_u64().unwrap_or(0);
    let mut reported = 0;
    while range.killed < kills() {
        let before = count(&range.project.state());
        let said = range.kill(&["fail", "T050", "no"]);
        let (_, state) = range.assert_whole();
        let after = count(&state);
        assert!((before..=before + 1).contains(&after), "{before} became {after}");
        if let Some(said) = said {
            assert!(said.ok().contains(&format!("T050 failed {after} of 1000000 times")));
            reported += 1;
        }
        let said = range.project.task(&["fail", "T050", "no"]).ok();
        assert!(said.contains(&format!("T050 failed {} of", after + 1)), "{said}");
        reported += 1;
    }
    let (_, state) = range.assert_whole();
    assert_eq!(state["keep"], "me");
    let noted = range.project.entries().len() as u64;
    assert!(
        reported < noted && noted <= count(&state) + 1,
        "{reported} reported, {noted} noted, {} counted",
        count(&state)
    );
    range.assert_no_litter();
}

#[test]
fn reported_addition_survives_a_kill() {
    let mut range = Range::new(3);
    let mut reported = Vec::new();
    let mut calls = 0;
    while range.killed < kills() {
        calls += 1;
        let what = format!("Extra {calls}.");
        let said = range.kill(&["add", "--after", "T200", &what]);
        range.assert_whole();
        let again = format!("Extra {calls} again.");
        let second = range.project.task(&["add", "--after", "T200", &again]);
        for said in said.into_iter().chain([second]) {
            let said = said.ok();
            let id = said.strip_prefix("Added ").unwrap().split(' ').next().unwrap().to_owned();
            reported.push(id);
        }
    }
    let (tasks, _) = range.assert_whole();
    let ids: Vec<_> =
        tasks.lines().filter_map(|line| line.strip_prefix("- [ ] ")?.split(' ').next()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id was given twice");
    let missing = reported.iter().find(|id| !ids.contains(&id.as_str()));
    assert_eq!(missing, None);
    range.assert_no_litter();
}

#[test]
fn killed_end_traps_no_agent() {
    let mut range = Range::new(4);
    let mut closed_silently = 0;
    while range.killed < few_or_all(8, 25) {
        range.project.arm("");
        let said = range.kill(&["block", "a key"]);
        range.assert_whole();
        let over = range.project.task(&["next", "--json"]).json()["status"] == "over";
        match (said, over) {
            (Some(_), over) => {
                assert!(over);
                assert!(range.project.stop("I need a key.").told().contains("a key"));
            }
            (None, true) => {
                closed_silently += 1;
                let stop = range.project.stop("I need a key.");
                assert!(stop.answer.is_none_or(|answer| answer.get("decision").is_none()));
            }
            (None, false) => {
                range.project.task(&["block", "a key"]).ok();
                assert!(range.project.stop("I need a key.").told().contains("a key"));
            }
        }
        range.project.stop("I need a key.").silent();
    }
    println!("{closed_silently} were killed behind the end");
}

#[test]
fn dead_writer_blocks_nobody() {
    let project = Project::armed(&list());
    // A lock file and temporary files of another process, as a power cut leaves them.
    project.write(".claude/ralph/feature-001-user-login.lock", "");
    for attempt in 0..70 {
        project.write(format!("specs/001-user-login/.tasks.md.1.{attempt}.tmp"), "half a li");
    }
    project.write("specs/001-user-login/..speckit-state.json.1.0.tmp", "{");
    project.task(&["done", "T001"]).ok();
    project.assert_books_agree();
}

#[test]
fn l1_entry_behind_torn_line_stays() {
    let project = Project::armed(FOUR);
    let journal = project.notes_of(SESSION).join("journal.jsonl");
    let whole = journal.metadata().unwrap().len();
    // A full disk has torn the last line.
    fs::File::options().write(true).open(&journal).unwrap().set_len(whole - 5).unwrap();
    project.task(&["done", "T002"]).ok();
    let text = fs::read_to_string(&journal).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).expect(&text);
    assert_eq!(last["words"], "T002 Model in src/user.py", "{text}");
}

#[test]
fn t13_dead_files_are_removed() {
    let project = Project::armed(FOUR);
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let (dead, alive) = (child.id(), std::process::id());
    let at = |name: String| format!("specs/001-user-login/{name}");
    let ours = ["tasks.md", ".speckit-state.json", ".progress.md"]
        .map(|name| at(format!(".{name}.{dead}.0.tmp")));
    let kept = [
        at(format!(".tasks.md.{alive}.0.tmp")),
        at(format!("tasks.md.{dead}.0.tmp")),
        at(".tasks.md.me.0.tmp".to_owned()),
        at(".mine.tmp".to_owned()),
    ];
    for name in ours.iter().chain(&kept) {
        project.write(name, "half");
    }
    project.task(&["done", "T002"]).ok();
    assert!(ours.iter().all(|name| !project.path(name).exists()));
    assert!(kept.iter().all(|name| project.path(name).exists()));
}
