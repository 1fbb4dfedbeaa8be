//! The summary of the morning, for people and for programs, held against the books of the agent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::agent::NOTES;
use crate::books::{Run, differences, lasting};
use crate::place::{CHANGE, MOST, Place};
use crate::plan::Happening;
use crate::schema;

/// So many lines say what single tasks cost; one more says it of the rest.
const SINGLE: usize = 3;
/// So many lines say where the work is of tries that did not come to their own end.
const TRIES: usize = 4;

/// So many files are in the summary for programs.
const MOST_FILES: usize = 200;
/// So many tries are kept.
const MOST_REFS: u32 = 20;

/// What it cost to finish a task, by the books.
#[derive(Clone, Default)]
struct Cost {
    tasks: Vec<String>,
    iterations: u64,
    tokens: u64,
    micros: u64,
    estimated: bool,
}

/// Whether the agent program did not live to say what its run cost: the table of prices does.
pub fn is_estimate(happening: Happening) -> bool {
    happening == Happening::Hung || happening.waits()
}

impl Cost {
    fn plus(self, other: Self) -> Self {
        Self {
            tasks: [self.tasks, other.tasks].concat(),
            iterations: self.iterations + other.iterations,
            tokens: self.tokens + other.tokens,
            micros: self.micros + other.micros,
            estimated: self.estimated || other.estimated,
        }
    }

    fn all(place: &Place, runs: &[Run]) -> Vec<Self> {
        let mut all = vec![Self::default()];
        for (run, number) in runs.iter().zip(1..) {
            let happening = place.plan().happening(number);
            let own = Self {
                tasks: run.ticks.clone(),
                iterations: u64::from(happening != Happening::Limit),
                tokens: run.tokens,
                micros: run.micros,
                estimated: is_estimate(happening),
            };
            let last = all.pop().unwrap().plus(own);
            let is_done = !last.tasks.is_empty();
            all.push(last);
            all.extend(is_done.then(Self::default));
        }
        all.pop();
        all
    }

    /// As a person reads it, without the time.
    fn words(&self, what: &str) -> String {
        let plural = if self.iterations == 1 { "" } else { "s" };
        let (tokens, money) = (grouped(self.tokens), money(self.micros, self.estimated));
        format!("Cost of {what}: {} iteration{plural}, {tokens} tokens, {money}", self.iterations)
    }
}

/// Compares all that the last run shows of itself: on the screen, in `spool log --summary` and as JSON.
pub fn compare(place: &Place, end: &Value, runs: &[Run], wrong: &mut Vec<String>) {
    let told = Told::of(place, end, runs);
    let mut differs = |what: &str, seen: &Value, expected: &Value| {
        if seen != expected {
            wrong.push(format!("summary, {what}:\n  seen  {seen:#}\n  books {expected:#}"));
        }
    };
    let kept = place.spool(&["log", "--change", CHANGE, "--summary", "--json"]).json();
    schema::holds("ralph-event", &kept);
    let without_time = |form: &Value| {
        let mut form = form.clone();
        form["at"].take();
        form["words"].take();
        form
    };
    differs("the kept one", &without_time(&kept), &without_time(end));
    for (what, seen, expected) in told.form() {
        differs(what, &seen, &expected);
    }
    let text = place.spool(&["ralph", "--status", "--change", CHANGE]).ok();
    for line in [
        format!("  Iteration: {} (of {MOST})", told.all.iterations),
        format!("  Tokens: {}", grouped(told.all.tokens)),
        format!("  Cost: {}", money(told.all.micros, told.all.estimated)),
    ] {
        differs("--status", &json!(text.lines().find(|shown| *shown == line)), &json!(line));
    }
    let text = place.spool(&["log", "--change", CHANGE, "--summary"]).ok();
    let words = end["words"].as_str().unwrap();
    differs("words", &json!(text.trim_end()), &json!(words.trim_end()));
    let lines = text.lines().map(|line| without_figure_of_time(line.trim_start()));
    differs("text", &json!(lines.collect::<Vec<_>>()), &json!(told.text()));
}

/// What a summary has to tell, by the books.
struct Told<'a> {
    place: &'a Place,
    runs: &'a [Run],
    form: &'a Value,
    costs: Vec<Cost>,
    all: Cost,
    /// The first and the last commit.
    base: String,
    last: String,
    /// Lines added and removed, by a comparison of its own: all that was written is committed.
    files: BTreeMap<&'a str, (u64, u64)>,
}

impl<'a> Told<'a> {
    fn of(place: &'a Place, end: &'a Value, runs: &'a [Run]) -> Self {
        let scratch = &place.scratch;
        let base = scratch.git(&["rev-list", "--max-parents=0", "HEAD"]);
        let last = runs.last().unwrap().commits.last().unwrap().0.clone();
        let mut files = BTreeMap::new();
        for file in runs.iter().flat_map(|run| run.changed.keys()) {
            let at = |commit: &str| {
                let name = format!("{commit}:{file}");
                let is_there = !scratch.git(&["ls-tree", "--name-only", commit, file]).is_empty();
                if is_there { scratch.git(&["show", &name]) } else { String::new() }
            };
            files.entry(file.as_str()).or_insert_with(|| differences(&at(&base), &at(&last)));
        }
        let costs = Cost::all(place, runs);
        let all = costs.iter().cloned().reduce(Cost::plus).unwrap();
        Self { place, runs, form: &end["summary"], costs, all, base, last, files }
    }

    fn lines(&self) -> (u64, u64) {
        self.files.values().fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1))
    }

    /// Each part of the JSON: its name, what is seen and what is expected.
    fn form(&self) -> Vec<(&'static str, Value, Value)> {
        let form = self.form;
        let list = |name: &str, of: &dyn Fn(&Value) -> Value| {
            form[name].as_array().unwrap().iter().map(of).collect::<Value>()
        };
        let costs = list("costs", &|cost| {
            let micros = format!("{:.0}", cost["cost_usd"].as_f64().unwrap() * 1e6);
            let (tasks, iterations) = (&cost["tasks"], &cost["iterations"]);
            let (tokens, is_whole) = (&cost["tokens"], &cost["tokens_complete"]);
            json!([tasks, iterations, tokens, micros, cost["cost_estimated"], is_whole])
        });
        let booked = self.costs.iter().map(|cost| {
            let micros = cost.micros.to_string();
            json!([cost.tasks, cost.iterations, cost.tokens, micros, cost.estimated, true])
        });
        let files = list("files", &|file| json!([file["file"], file["added"], file["removed"]]));
        let changed = self.files.iter().map(|(file, lines)| {
            // It came and went.
            let lines = Some(*lines).filter(|lines| *lines != (0, 0));
            json!([file, lines.map(|(added, _)| added), lines.map(|(_, removed)| removed)])
        });
        let changed = changed.take(MOST_FILES);
        let (added, removed) = self.lines();
        let kept = self.place.plan().count(|happening| {
            matches!(happening, Happening::ErrorLater(_) | Happening::Killed | Happening::Stopped)
        });
        let kept = kept.min(MOST_REFS);
        let refs = form["kept"].as_array().unwrap().len();
        let ends = json!([form["from_commit"], form["to_commit"]]);
        let lines = json!([form["lines_added"], form["lines_removed"]]);
        vec![
            ("costs", costs, booked.collect()),
            ("commits", ends, json!([self.base, self.last])),
            ("files", files, changed.collect()),
            ("lines", lines, json!([added, removed])),
            ("kept", json!(refs), json!(kept)),
        ]
    }

    /// As a person reads it, without the figures of time.
    fn text(&self) -> Vec<String> {
        let Cost { tasks, iterations, tokens, micros, estimated } = &self.all;
        let (tasks, files) = (tasks.len(), self.files.len());
        let commits = lasting(self.runs).len();
        let (tokens, money) = (grouped(*tokens), money(*micros, *estimated));
        let denied: Vec<&Run> = self.runs.iter().filter(|run| !run.denied.is_empty()).collect();
        let (added, removed) = self.lines();
        let (notes_added, notes_removed) = self.files[NOTES];
        let mut text = vec![
            "ralph: done: all the work is done".to_owned(),
            format!(
                "{iterations} iterations, {tokens} tokens, {money}, {commits} commits, {files} files, {tasks}/{tasks} tasks"
            ),
            format!("Proved: {tasks} by files"),
            format!("Tools were denied in {} iterations: {}", denied.len(), denied[0].denied[0]),
            "permit them with --allow TOOL or --permission-mode acceptEdits, or all of its tools with --allow-all"
                .to_owned(),
        ];
        text.extend(kept_in_words(self.place));
        text.push(format!(
            "Changed: {files} files, +{} -{} lines: {NOTES} +{notes_added} -{notes_removed}, …",
            grouped(added),
            grouped(removed)
        ));
        text.extend(self.costs[..SINGLE].iter().map(|cost| cost.words(&cost.tasks.join(", "))));
        let rest = self.costs[SINGLE..].iter().cloned().reduce(Cost::plus).unwrap();
        text.push(rest.words(&format!("{} more", rest.tasks.len())));
        let [base, last] = [&self.base, &self.last].map(|commit| &commit[..12]);
        text.push(format!("Commits: git log --stat {base}..{last}"));
        text.push(format!("All changes: git diff {base}"));
        text.push(format!("spool ralph --status --change {CHANGE}"));
        text
    }
}

/// Where the work is of tries that did not come to their own end, the newest first, as git itself lists them.
fn kept_in_words(place: &Place) -> Vec<String> {
    let folder = format!("refs/ralph/{CHANGE}");
    let refs =
        place.scratch.git(&["for-each-ref", "--sort=-refname", "--format=%(refname)", &folder]);
    let refs: Vec<&str> = refs.lines().collect();
    let named = if refs.len() > TRIES { TRIES - 1 } else { refs.len() };
    let mut text: Vec<String> =
        refs[..named].iter().map(|name| format!("git show {name}")).collect();
    text[0].insert_str(0, "Earlier tries: ");
    if named < refs.len() {
        text.push(format!("and {} more: git for-each-ref {folder}", refs.len() - named));
    }
    text
}

/// A line without how long it took, which is the second figure of its kind, and without the files behind the first one.
fn without_figure_of_time(line: &str) -> String {
    if let Some((head, files)) = line.split_once(" lines: ") {
        let first = files.split(", ").next().unwrap();
        return format!("{head} lines: {first}, …");
    }
    let is_time = |part: &str| {
        part.ends_with(" s") && part.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let parts: Vec<&str> = line.split(", ").filter(|part| !is_time(part)).collect();
    parts.join(", ")
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|digits| std::str::from_utf8(digits).unwrap())
        .collect();
    groups.join(",")
}

/// Dollars with two digits, below one with four; what is less is left out.
fn money(micros: u64, estimated: bool) -> String {
    let about = if estimated { "~" } else { "" };
    match micros {
        0..1_000_000 => format!("{about}$0.{:04}", micros / 100),
        _ => format!("{about}${}.{:02}", micros / 1_000_000, micros / 10_000 % 100),
    }
}
