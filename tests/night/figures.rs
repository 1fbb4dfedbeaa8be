//! What the runner shows, held against the books of the agent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::books::{self, Came, Line, Run, lasting};
use crate::place::{CHANGE, Ended, Place};
use crate::plan::Happening;
use crate::schema;
use crate::summary::{self, is_estimate};

/// So many iterations are in the document for other programs.
const MOST_ITERATIONS: usize = 200;

/// What all runners of a play have shown.
pub struct Figures<'a> {
    place: &'a Place,
    ended: Vec<Ended>,
}

impl<'a> Figures<'a> {
    pub fn of(place: &'a Place) -> Self {
        Self { place, ended: Vec::new() }
    }

    /// Takes in what a runner has shown.
    pub fn take(&mut self, ended: Ended) {
        self.ended.push(ended);
    }

    /// Holds everything against the books.
    pub fn hold(&self) {
        let runs = books::all(&self.place.desk());
        assert_eq!(runs.len(), self.place.plan().runs as usize);
        let history = self.place.history();
        assert_eq!(history.len(), runs.len(), "a line of the history for each run");
        let mut wrong = Vec::new();
        for (place, (entry, run)) in history.iter().zip(&runs).enumerate() {
            let what = format!("history, run {}", place + 1);
            self.compare_entry(&what, entry, (place, run), &mut wrong);
            let came = came_by_history(entry);
            if came != came_of(self.happening(place)) {
                wrong.push(format!("{what}: {came:?}, {entry}"));
            }
        }
        self.compare_events(&runs, &mut wrong);
        self.compare_stories(&history, &runs, &mut wrong);
        self.compare_the_end(&runs, &mut wrong);
        self.compare_the_journal(&runs, &mut wrong);
        self.compare_the_tree(&runs, &mut wrong);
        self.compare_the_document(&runs, &mut wrong);
        assert!(wrong.is_empty(), "{} figures are wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    /// What happened in a run, from 0.
    fn happening(&self, run: usize) -> Happening {
        self.place.plan().happening(run as u32 + 1)
    }

    /// An entry as the runner writes it. The ticks of a killed one are judged behind it: all who read it add them.
    fn compare_entry(
        &self,
        what: &str,
        entry: &Value,
        (place, run): (usize, &Run),
        wrong: &mut Vec<String>,
    ) {
        let is_killed = self.happening(place).is_killed();
        let ticks = if is_killed { Vec::new() } else { run.ticks.clone() };
        Self::compare(what, &Seen::of_history(entry), &Run { ticks, ..run.clone() }, wrong);
    }

    /// What other programs read of the loop: its sums, and the newest iterations.
    fn compare_the_document(&self, runs: &[Run], wrong: &mut Vec<String>) {
        let text = self.place.scratch.read(".claude/loop-state.json");
        let document: Value = serde_json::from_str(&text).unwrap();
        let iterations = document["iterations"].as_array().unwrap();
        // What only waited is taken back.
        let counted = |place: &usize| self.happening(*place) != Happening::Limit;
        let counted: Vec<usize> = (0..runs.len()).filter(counted).collect();
        let first = counted.len().saturating_sub(MOST_ITERATIONS);
        equal(
            "the document: iterations",
            &json!(iterations.len()),
            &json!(counted.len() - first),
            wrong,
        );
        for (entry, &place) in iterations.iter().zip(&counted[first..]) {
            let what = format!("the document, run {}", place + 1);
            self.compare_entry(&what, entry, (place, &runs[place]), wrong);
        }
        let tokens: u64 = runs.iter().map(|run| run.tokens).sum();
        let micros: u64 = runs.iter().map(|run| run.micros).sum();
        let denied: BTreeSet<&String> = runs.iter().flat_map(|run| &run.denied).collect();
        let with_denials = runs.iter().filter(|run| !run.denied.is_empty()).count();
        for (name, expected) in [
            ("status", json!("done")),
            ("current_iteration", json!(counted.len())),
            ("iterations_left_out", json!(first)),
            ("total_tokens", json!(tokens)),
            ("total_cost_usd", json!(micros as f64 / 1e6)),
            ("denied", json!(denied)),
            ("denied_iterations", json!(with_denials)),
        ] {
            equal(&format!("the document: {name}"), &document[name], &expected, wrong);
        }
    }

    fn compare(what: &str, seen: &Seen, run: &Run, wrong: &mut Vec<String>) {
        let expected = Seen::of_books(run);
        if *seen != expected {
            wrong.push(format!("{what}:\n  seen  {seen:?}\n  books {expected:?}"));
        }
    }

    /// The ends of iterations among the lines of `--json`, in order: one for each run that its runner outlived.
    fn compare_events(&self, runs: &[Run], wrong: &mut Vec<String>) {
        let events = || self.ended.iter().flat_map(|run| &run.events);
        let ends: Vec<&Value> =
            events().filter(|event| event["event"] == "iteration_end").collect();
        let is_outlived = |run: &usize| !self.happening(*run).is_killed();
        let outlived: Vec<usize> = (0..runs.len()).filter(is_outlived).collect();
        assert_eq!(ends.len(), outlived.len());
        for (end, run) in ends.into_iter().zip(outlived) {
            let seen = Seen::of_form(&end["iteration"]);
            Self::compare(&format!("--json, run {}", run + 1), &seen, &runs[run], wrong);
        }
        let called = events().filter(|event| event["event"] == "called").count() as u64;
        let calls: u64 = runs.iter().map(|run| run.calls).sum();
        equal("lines `called` of --json", &json!(called), &json!(calls), wrong);
    }

    /// `spool log --iteration N --json` for all that it can show: a number that two runs have is the newer one's.
    fn compare_stories(&self, history: &[Value], runs: &[Run], wrong: &mut Vec<String>) {
        let number = |entry: &Value| entry["n"].as_u64().unwrap();
        let newest: BTreeMap<u64, usize> =
            history.iter().enumerate().map(|(run, entry)| (number(entry), run)).collect();
        for (number, run) in newest {
            let story = self.place.story(number);
            let what = format!("story of iteration {number}, run {}", run + 1);
            let (form, run) = (&story["iteration"], &runs[run]);
            Self::compare(&what, &Seen::of_form(form), run, wrong);
            let steps = story["steps"].as_array().unwrap();
            let steps: Vec<String> = steps.iter().map(step_of_story).collect();
            let expected: Vec<String> = run.steps.iter().map(step_of_books).collect();
            if steps != expected {
                wrong.push(format!("{what}:\n  steps {steps:#?}\n  books {expected:#?}"));
            }
            let prompt = story["prompt"].as_str().unwrap_or_default();
            equal(
                &format!("{what}: prompt"),
                &json!(prompt.trim()),
                &json!(run.prompt.trim()),
                wrong,
            );
            let lines = |file: &Value| {
                (
                    file["file"].as_str().unwrap().to_owned(),
                    (file["added"].as_u64(), file["removed"].as_u64()),
                )
            };
            let lines: BTreeMap<_, _> =
                story["changed_lines"].as_array().unwrap().iter().map(lines).collect();
            let changed: BTreeMap<_, _> = (run.changed.iter())
                .map(|(file, (added, removed))| (file.clone(), (Some(*added), Some(*removed))))
                .collect();
            if lines != changed {
                wrong.push(format!("{what}:\n  lines {lines:?}\n  books {changed:?}"));
            }
            let message = |commit: &Value| json!([commit["commit"], commit["message"]]);
            let messages: Vec<Value> =
                story["messages"].as_array().unwrap().iter().map(message).collect();
            equal(&format!("{what}: commits"), &json!(messages), &json!(run.commits), wrong);
            let whole = json!([story["steps_left_out"], story["log_problem"]]);
            equal(&format!("{what}: whole"), &whole, &json!([0, null]), wrong);
            // The clock of file times, by which a killed runner's last sign of life is known, is behind by up to a tick.
            let least = run.lasted.saturating_sub(20) as f64 / 1000.0;
            if form["seconds"].as_f64().is_none_or(|seconds| seconds < least || seconds > 600.0) {
                wrong.push(format!("{what}: it took {}", form["seconds"]));
            }
        }
    }

    /// The last line of `--json` and `--status --json`, which count over all runners of the loop.
    fn compare_the_end(&self, runs: &[Run], wrong: &mut Vec<String>) {
        let end = self.ended.last().unwrap().events.last().unwrap();
        let plan = self.place.plan();
        let waits = plan.count(|happening| happening == Happening::Limit) as usize;
        let tokens: u64 = runs.iter().map(|run| run.tokens).sum();
        let micros: u64 = runs.iter().map(|run| run.micros).sum();
        let denied: BTreeSet<&String> = runs.iter().flat_map(|run| &run.denied).collect();
        let files: BTreeSet<&String> = runs.iter().flat_map(|run| run.changed.keys()).collect();
        let commits = lasting(runs).len();
        let ticks: usize = runs.iter().map(|run| run.ticks.len()).sum();
        for (name, expected) in [
            ("event", json!("end")),
            ("status", json!("done")),
            ("reason", json!("completed")),
            ("exit_code", json!(0)),
            ("iterations", json!(runs.len() - waits)),
            ("tokens", json!(tokens)),
            ("tokens_complete", json!(true)),
            ("cost_usd", json!(micros as f64 / 1e6)),
            ("cost_complete", json!(true)),
            ("denied_tools", json!(denied)),
            ("commits", json!(commits)),
            ("files_changed", json!(files.len())),
            ("tasks", json!(format!("{ticks}/{ticks}"))),
            ("taken_back", json!([])),
            ("doubts", json!([])),
            ("kept_as", json!(null)),
        ] {
            equal(&format!("the end: {name}"), &end[name], &expected, wrong);
        }
        let estimated = (1..=plan.runs).any(|run| is_estimate(plan.happening(run)));
        equal("the end: cost_estimated", &end["cost_estimated"], &json!(estimated), wrong);
        let agent = json!([{"harness": "claude", "model": null, "runs": runs.len(), "tokens": tokens,
            "tokens_estimated": false, "tokens_complete": true, "cost_usd": micros as f64 / 1e6,
            "cost_estimated": estimated, "cost_complete": true}]);
        equal("the end: agents", &end["agents"], &agent, wrong);
        summary::compare(self.place, end, runs, wrong);
        equal("the end: proofs", &end["proofs"]["by_files"], &json!(ticks), wrong);
        let status = self.place.spool(&["ralph", "--status", "--change", CHANGE, "--json"]).json();
        schema::holds("ralph-status", &status);
        let status = &status["runner"];
        let looped = &status["loop"];
        let shown = json!([looped["tokens"], status["cost_usd"], looped["proofs"]]);
        let ended = json!([end["tokens"], end["cost_usd"], end["proofs"]]);
        equal("--status", &shown, &ended, wrong);
    }

    /// `spool log --json`: an entry for each run, and one receipt for each task.
    fn compare_the_journal(&self, runs: &[Run], wrong: &mut Vec<String>) {
        let log = self.place.spool(&["log", "--change", CHANGE, "--json"]).ok();
        let entries: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for entry in &entries {
            schema::holds("log", entry);
        }
        let mut receipts: Vec<(String, String)> = Vec::new();
        for receipt in entries.iter().flat_map(|entry| entry["receipts"].as_array().unwrap()) {
            let word = |name: &str| receipt[name].as_str().unwrap_or("nothing").to_owned();
            receipts.push((word("task"), word("proof")));
        }
        let ticks = runs.iter().flat_map(|run| &run.ticks);
        let expected: Vec<(String, String)> =
            ticks.map(|task| (task.clone(), "files".to_owned())).collect();
        equal("receipts", &json!(receipts), &json!(expected), wrong);
        let of = |event: &str| entries.iter().filter(|entry| entry["event"] == event).count();
        let killed = self.place.plan().count(Happening::is_killed) as usize;
        equal("entries of iterations", &json!(of("iteration")), &json!(runs.len() - killed), wrong);
        let of_killed = entries
            .iter()
            .filter(|entry| entry["event"] == "interrupted" && entry["reason"] == "stopped");
        equal("entries of killed runners", &json!(of_killed.count()), &json!(killed), wrong);
        equal("entries of ends", &json!(of("ended")), &json!(self.ended.len() - killed), wrong);
    }

    /// Nothing of the work is lost, and nothing is in the tree that nobody made.
    fn compare_the_tree(&self, runs: &[Run], wrong: &mut Vec<String>) {
        let scratch = &self.place.scratch;
        let commits = lasting(runs);
        let log = scratch.git(&["log", "--reverse", "--format=%H", "HEAD"]);
        let log: Vec<&str> = log.lines().skip(1).collect();
        equal("git log", &json!(log), &json!(commits), wrong);
        for (what, arguments) in
            [("status", &["status", "--porcelain"][..]), ("stash", &["stash", "list"])]
        {
            equal(what, &json!(scratch.git(arguments)), &json!(""), wrong);
        }
        scratch.git(&["fsck", "--strict", "--no-dangling"]);
        let written =
            (1..=self.place.plan().runs).map(|run| match self.place.plan().happening(run) {
                Happening::Work(_) | Happening::Dies(..) => 2,
                Happening::Half
                | Happening::ErrorLater(_)
                | Happening::Killed
                | Happening::Stopped => u64::from(run % 4 + 1),
                _ => 0,
            });
        let written: u64 = written.sum();
        let mut lines = 0;
        for number in 1..=self.place.plan().tasks() {
            let text = scratch.read(&format!("src/part{number:03}.txt"));
            if !text.contains(&format!("the whole of T{number:03}\n")) {
                wrong.push(format!("part {number}: {text}"));
            }
            lines += text.lines().count() as u64;
        }
        equal("lines of all parts", &json!(lines), &json!(written), wrong);
    }
}

impl Figures<'_> {
    /// What the runner itself uses stays the same over the whole night: memory, and processor time of an iteration.
    pub fn hold_what_it_costs(&self) {
        let runs = books::all(&self.place.desk());
        let at = |run: usize| runs[run - 1].runner.unwrap();
        let between = |first: usize, last: usize| {
            let ((process, before, _), (other, after, _)) = (at(first), at(last));
            assert_eq!(process, other, "a runner for all of them");
            (after - before) as f64 / (last - first) as f64
        };
        // Before that the document for other programs, which has 200 iterations at most, is nearly empty.
        let (first, last) = (between(41, 91), between(331, 400));
        let peak = |run: usize| at(run).2;
        println!("processor time of an iteration: {first:.1} ms at first, {last:.1} ms at last");
        println!(
            "memory at most: {} KiB after 50, {} KiB after 90, {} KiB at last",
            peak(51),
            peak(90),
            peak(400)
        );
        // The system counts in hundredths of a second, and other work on the machine moves each figure by half of it.
        assert!(last <= 2.0 * first + 5.0, "{first} ms, {last} ms");
        // Without optimization it takes several times as long; `scripts/bench` holds its budget.
        let most = if cfg!(debug_assertions) { 100.0 } else { 10.0 };
        assert!(first.max(last) <= most, "{first} ms, {last} ms");
        assert!(peak(90) <= peak(30) + 2_048, "{} KiB, {} KiB", peak(30), peak(90));
        assert!(peak(400) <= peak(51) + 2_048, "{} KiB, {} KiB", peak(51), peak(400));
        assert!((1..=runs.len()).all(|run| peak(run) < 64 << 10));
    }
}

/// How a run ended, in a few words.
fn came_of(happening: Happening) -> &'static [&'static str] {
    match happening {
        Happening::Work(_) | Happening::Half | Happening::Denied | Happening::Renames => &[],
        Happening::Error(_) => &["failed"],
        Happening::ErrorLater(_) => &["failed", "kept"],
        Happening::Hung => &["timed out"],
        Happening::Limit => &["failed", "waits"],
        Happening::Stopped => &["interrupted", "kept"],
        // What it left is kept by the next runner.
        Happening::Killed | Happening::Dies(..) => &["interrupted"],
    }
}

/// The same, as the history has it.
fn came_by_history(entry: &Value) -> Vec<&'static str> {
    let has_failed = entry["failure"] != "" && entry["timed_out"] != true;
    let words = [
        ("failed", has_failed),
        ("timed out", entry["timed_out"] == true),
        ("interrupted", entry["interrupted"] == true),
        ("kept", entry["kept_as"].is_string()),
        ("waits", entry["verdict"] == "wait"),
    ];
    words.into_iter().filter(|(_, is_so)| *is_so).map(|(word, _)| word).collect()
}

/// What of a run is shown in several places.
#[derive(Debug, PartialEq)]
struct Seen {
    tokens: Option<u64>,
    micros: Option<u64>,
    calls: Option<u64>,
    failed: u64,
    denied: Vec<String>,
    files: Vec<String>,
    files_changed: Option<u64>,
    commits: Vec<String>,
    ticks: Vec<String>,
}

impl Seen {
    fn of_books(run: &Run) -> Self {
        Self {
            tokens: Some(run.tokens),
            micros: Some(run.micros),
            calls: Some(run.calls),
            failed: run.failed,
            denied: run.denied.clone(),
            files: run.changed.keys().cloned().collect(),
            files_changed: Some(run.changed.len() as u64),
            commits: run.commits.iter().map(|(name, _)| name.clone()).collect(),
            ticks: run.ticks.clone(),
        }
    }

    /// Of a line of `history.jsonl`.
    fn of_history(entry: &Value) -> Self {
        let of = |name: &str| entry[name].as_u64();
        Self {
            tokens: of("tokens_used").filter(|_| entry["tokens_unknown"] != true),
            failed: of("failed_calls").unwrap_or(0),
            denied: words(&entry["denied"]),
            ..Self::of_both(entry)
        }
    }

    /// Of an iteration as programs read it.
    fn of_form(form: &Value) -> Self {
        Self {
            tokens: form["tokens"].as_u64(),
            failed: form["failed_calls"].as_u64().unwrap_or(u64::MAX),
            denied: words(&form["denied_tools"]),
            ..Self::of_both(form)
        }
    }

    /// What has the same name in both.
    fn of_both(value: &Value) -> Self {
        let mut files = words(&value["files"]);
        files.sort();
        Self {
            tokens: None,
            micros: value["cost_usd"]
                .as_f64()
                .and_then(|dollars| format!("{:.0}", dollars * 1e6).parse().ok()),
            calls: value["tool_calls"].as_u64(),
            failed: 0,
            denied: Vec::new(),
            files,
            files_changed: value["files_changed"].as_u64(),
            commits: words(&value["commits"]),
            ticks: words(&value["tasks_ticked"]),
        }
    }
}

fn words(list: &Value) -> Vec<String> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn equal(what: &str, seen: &Value, expected: &Value, wrong: &mut Vec<String>) {
    if seen != expected {
        wrong.push(format!("{what}:\n  seen  {seen}\n  books {expected}"));
    }
}

fn step_of_story(step: &Value) -> String {
    let of = |name: &str| step[name].as_str().unwrap_or("-");
    match of("kind") {
        "called" => format!("{} {}: {}", of("outcome"), of("tool"), of("words")),
        kind => format!("{kind}: {}", of("words")),
    }
}

fn step_of_books(line: &Line) -> String {
    match line {
        Line::Said { text, fault: false } => format!("said: {text}"),
        Line::Said { text, fault: true } => format!("trouble: {text}"),
        Line::Tool { tool, with, came } => {
            let came = match came {
                Came::Done => "done",
                Came::Failed => "failed",
                Came::Denied => "denied",
                Came::Nothing => "-",
            };
            format!("{came} {tool}: {with}")
        }
        other => panic!("{other:?} is no step"),
    }
}
