//! The summary of a run, from its iterations on the disk: the changes, the cost of each finished task, and commands for
//! reading the work. That of the last run is kept to be read again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use anstream::adapter::strip_str;
use serde_json::{Value, json};

use super::git::{Git, NO_COMMIT};
use super::messages::some_of;
use super::screen::{counted, grouped, lasted, plain};
use super::state::Iteration;
use crate::evidence::task_list::TASKS as TASKS_FILE;
use crate::feature::project::printable;
use crate::forms::Versioned;
use crate::forms::events::{EventForm, RunnerEnd, RunnerEvent};
use crate::forms::loops::LoopFormState;
use crate::forms::plain::JsonNumber;
use crate::forms::proofs::ProofsForm;
use crate::forms::spent::Spent;
use crate::forms::story::FileLines;
use crate::forms::summary::{RunSummary, TaskCost};
use crate::mask::masked_text;
use crate::runner::messages;
use crate::runner::report::form::{self, CONTINUES};
use crate::runner::report::{RunnerReport, since};
use crate::runner::state::{add_left_ticks, of_run, seconds};
use crate::store::names::VerdictName;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, write_private};
use crate::text::{self, columns, narrow};

/// Columns of a line: 80 without the indent.
const WIDTH: usize = 73;
/// Columns for the names of tasks in one line.
const TASKS: usize = 24;
/// Lines about the cost of tasks.
const COSTS: usize = 4;
/// Refs of earlier tries that are named.
const TRIES: usize = 4;
/// Failed checks that are named.
const CHECKS: usize = 3;
/// Files whose lines are counted here, because git does not know them yet.
const NEW_FILES: usize = 200;
/// Bytes read of such a file.
const NEW_FILE: u64 = 1 << 20;
/// Letters of a commit's name.
pub const SHORT: usize = 12;
/// Its file in the state folder.
pub const KEPT: &str = "summary.json";
/// Bytes read of the file.
const MOST: u64 = 4 << 20;
/// Lines that are shown.
const LINES: usize = 24;
/// The word for a killed run, in place of status and reason.
const KILLED: &str = "killed";
/// A shell's exit code for a killed program.
const CODE: u8 = 128 + 9;

#[derive(Clone, Debug)]
pub struct KeptSummary {
    /// The start of the run, as in its state.
    pub run_started_at: String,
    /// The last line of `spool ralph --json` for the run.
    pub event: Value,
}

impl RunSummary {
    /// The summary of these iterations of one run, oldest first. `now`: the run has just ended, so uncommitted work is
    /// its own.
    pub fn of(iterations: &[Iteration], worktree: &Path, git: Option<&Git>, now: bool) -> Self {
        let first = iterations.first().map(|iteration| iteration.head_at_start.clone());
        let made = iterations.iter().flat_map(|entry| entry.commits.clone()).collect();
        let since = first.as_deref().filter(|head| !head.is_empty()).unwrap_or(NO_COMMIT);
        // An amended or rebased commit is not there twice.
        let commits = match git {
            Some(git) => git.lasting(since, made).ok(),
            None => Some(made),
        };
        let names = iterations.iter().flat_map(|entry| &entry.files);
        let last = iterations.last();
        let failed = last.into_iter().flat_map(|entry| &entry.checks).filter(|check| !check.passed);
        let mut kept: Vec<String> = iterations.iter().map(|entry| entry.kept_as.clone()).collect();
        // Unchanged work keeps its ref in the next iteration: list the ref once.
        kept.dedup();
        kept.retain(|name| git.is_some_and(|git| !name.is_empty() && git.has_kept(name)));
        let mut files: BTreeMap<PathBuf, FileLines> =
            names.map(|name| (PathBuf::from(name), FileLines::unknown(name))).collect();
        let mut summary = Self {
            from_commit: first.filter(|head| commits.is_some() && !head.is_empty()),
            to_commit: commits.as_ref().and_then(|all| all.last().cloned()),
            commits: commits.map(|all| all.len() as u64),
            costs: costs(iterations),
            failed_checks: failed.map(|one| format!("`{}`: {}", one.run, one.outcome)).collect(),
            kept,
            ..Self::default()
        };
        if let Some(git) = git {
            summary.count_lines(&mut files, worktree, git, now);
        }
        summary.files = files.into_values().collect();
        let sum = |of: fn(&FileLines) -> Option<JsonNumber>| {
            JsonNumber::from(summary.files.iter().filter_map(of).map(JsonNumber::get).sum::<u64>())
        };
        (summary.lines_added, summary.lines_removed) = (sum(|of| of.added), sum(|of| of.removed));
        summary.commands = summary.commands_in(None).into_iter().flatten().collect();
        summary
    }

    fn count_lines(
        &mut self,
        files: &mut BTreeMap<PathBuf, FileLines>,
        worktree: &Path,
        git: &Git,
        now: bool,
    ) {
        let Some(from) = self.from_commit.as_deref() else { return };
        let to = self.to_commit.as_deref().filter(|_| !now);
        if !now && to.is_none() {
            return;
        }
        for lines in git.changed_lines(from, to).unwrap_or_default() {
            if let Some(known) = files.get_mut(Path::new(&lines.file)) {
                *known = lines;
            }
        }
        if !now {
            return;
        }
        let unknown: BTreeSet<PathBuf> = git.unknown_files().into_iter().collect();
        let new = files.iter_mut().filter(|(path, _)| unknown.contains(*path));
        for (place, (path, lines)) in new.enumerate() {
            self.untracked += 1;
            if place >= NEW_FILES {
                continue;
            }
            let Ok(text) = read::read(&worktree.join(path), NEW_FILE) else { continue };
            if !text.bytes.contains(&0) {
                let count = String::from_utf8_lossy(&text.bytes).lines().count() as u64;
                (lines.added, lines.removed) = (Some(count.into()), Some(0.into()));
            }
        }
    }

    /// Lines for a person, of at most 73 columns. `elsewhere` is the folder for the commands, if it is not the current
    /// one.
    pub fn text(&self, elsewhere: Option<&Path>) -> Vec<String> {
        let mut text: Vec<String> = self.changed().into_iter().collect();
        text.extend(self.costs_in_words());
        let failed = |check: &String| narrow(&format!("Failed check: {}", plain(check)), WIDTH);
        text.extend(self.failed_checks.iter().take(CHECKS).map(failed));
        let more = self.failed_checks.len().saturating_sub(CHECKS);
        if more > 0 {
            text.push(format!("and {more} more failed checks"));
        }
        let commands = self.commands_in(elsewhere);
        text.extend(commands.iter().zip(["Commits: ", "All changes: "]).filter_map(
            |(command, what)| command.as_ref().map(|command| format!("{what}{command}")),
        ));
        if self.untracked > 0 && commands[1].is_some() {
            let files = counted(self.untracked, "new file");
            text.push(format!("             and {files} that git does not track yet"));
        }
        text
    }

    /// Where the work of unfinished tries is, newest first. `last` is this run's own unfinished work; empty for none.
    pub fn kept_in_words(&self, last: &str, elsewhere: Option<&Path>) -> Vec<String> {
        let git = git_in(elsewhere);
        let show = |name: &str| format!("{git} show {}", plain(name));
        let mut text = Vec::new();
        if !last.is_empty() {
            text.push(format!("Unfinished work: {}", show(last)));
        }
        let earlier: Vec<&String> = self.kept.iter().rev().filter(|name| *name != last).collect();
        let shown = if earlier.len() > TRIES { TRIES - 1 } else { earlier.len() };
        for (at, name) in earlier.iter().take(shown).enumerate() {
            let what = if at == 0 { "Earlier tries:" } else { "" };
            text.push(format!("{what:<15}{}", show(name)));
        }
        if let Some(folder) = earlier.get(shown).and_then(|name| Some(name.rsplit_once('/')?.0)) {
            let more = earlier.len() - shown;
            text.push(format!(
                "               and {more} more: {git} for-each-ref {}",
                plain(folder)
            ));
        }
        text
    }

    fn changed(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let (added, removed) = (self.lines_added.get(), self.lines_removed.get());
        let mut head = format!("Changed: {}", counted(self.files.len() as u64, "file"));
        if added + removed > 0 {
            head = format!("{head}, {} lines", plus_minus(added, removed));
        }
        let number = |lines: Option<JsonNumber>| lines.map_or(0, JsonNumber::get);
        let mut files: Vec<_> = self.files.iter().collect();
        // Ticks are told elsewhere.
        let is_list = |file: &FileLines| Path::new(&file.file).ends_with(TASKS_FILE);
        files.sort_by_key(|file| {
            (is_list(file), std::cmp::Reverse(number(file.added) + number(file.removed)))
        });
        let mut line = format!("{head}:");
        for (at, lines) in files.iter().enumerate() {
            let mut one = plain(&lines.file);
            if let (Some(added), Some(removed)) = (lines.added, lines.removed) {
                one = format!("{one} {}", plus_minus(added.get(), removed.get()));
            }
            let next = if at == 0 { format!("{line} {one}") } else { format!("{line}, {one}") };
            if columns(&next) + 3 > WIDTH && at > 0 {
                return Some(narrow(&format!("{line}, …"), WIDTH));
            }
            line = next;
        }
        Some(narrow(&line, WIDTH))
    }

    /// The cost of tasks; empty if that is the whole cost of the run.
    fn costs_in_words(&self) -> Vec<String> {
        if self.costs.len() < 2 {
            return Vec::new();
        }
        let shown = if self.costs.len() > COSTS { COSTS - 1 } else { COSTS };
        let mut lines: Vec<String> = self.costs.iter().take(shown).map(TaskCost::words).collect();
        if let Some(rest) = self.costs.get(shown..).filter(|rest| !rest.is_empty()) {
            let rest = rest.iter().fold(TaskCost::default(), TaskCost::plus);
            lines.push(format!("Cost of {} more: {}", rest.tasks.len(), rest.figures()));
        }
        lines
    }

    /// The commands that show the commits, and all changes; `None` for what does not exist.
    fn commands_in(&self, elsewhere: Option<&Path>) -> [Option<String>; 2] {
        let Some(from) = self.from_commit.as_deref() else { return [None, None] };
        let git = git_in(elsewhere);
        let short = |commit: &str| commit.chars().take(SHORT).collect::<String>();
        let log = self.to_commit.as_deref().map(|to| match from {
            NO_COMMIT => format!("{git} log --stat {}", short(to)),
            from => format!("{git} log --stat {}..{}", short(from), short(to)),
        });
        let is_first = from == NO_COMMIT;
        let diff =
            (!is_first && !self.files.is_empty()).then(|| format!("{git} diff {}", short(from)));
        [log, diff]
    }
}

impl TaskCost {
    fn words(&self) -> String {
        let ids: Vec<&str> = self.tasks.iter().map(String::as_str).collect();
        let what = match ids.as_slice() {
            [] => "No task finished".to_owned(),
            ids => format!("Cost of {}", narrow(&plain(&some_of(ids)), TASKS)),
        };
        format!("{what}: {}", self.figures())
    }

    fn figures(&self) -> String {
        let mut parts =
            vec![counted(self.iterations.into(), "iteration"), lasted(seconds(self.seconds))];
        let Spent { tokens, cost } = self.spent;
        parts.extend(tokens.words(grouped).map(|tokens| format!("{tokens} tokens")));
        parts.extend(cost.money());
        parts.join(", ")
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            tasks: self.tasks.iter().chain(&other.tasks).cloned().collect(),
            iterations: self.iterations + other.iterations,
            seconds: ((self.seconds + other.seconds) * 1000.0).round() / 1000.0,
            spent: self.spent.plus(other.spent),
        }
    }
}

/// The cost of each finished task: iterations that finished none belong to the next task. A task that was opened and
/// ticked again is finished in the last of these iterations, and all of them are its own.
fn costs(iterations: &[Iteration]) -> Vec<TaskCost> {
    let last: BTreeMap<&str, usize> = iterations
        .iter()
        .enumerate()
        .flat_map(|(place, entry)| entry.tasks_ticked.iter().map(move |id| (id.as_str(), place)))
        .collect();
    let (mut costs, mut home) = (BTreeMap::<usize, TaskCost>::new(), usize::MAX);
    for (place, iteration) in iterations.iter().enumerate().rev() {
        let ticked: BTreeSet<&String> = iteration.tasks_ticked.iter().collect();
        home = ticked.iter().map(|id| last[id.as_str()]).min().unwrap_or(home);
        let finished = ticked.into_iter().filter(|id| last[id.as_str()] == place);
        let sum = costs.remove(&home).unwrap_or_default().plus(&TaskCost {
            tasks: finished.cloned().collect(),
            // An iteration at a usage limit has used something, but is not counted as an iteration.
            iterations: u32::from(iteration.verdict != VerdictName::Wait),
            seconds: iteration.seconds,
            spent: iteration.spent(),
        });
        costs.insert(home, sum);
    }
    costs.into_values().collect()
}

/// How git is typed for another folder.
pub fn git_in(elsewhere: Option<&Path>) -> String {
    match elsewhere {
        Some(folder) => {
            let folder = folder.display().to_string();
            format!("git -C {}", shell_words::quote(&folder))
        }
        None => "git".to_owned(),
    }
}

fn plus_minus(added: u64, removed: u64) -> String {
    match (added, removed) {
        (0, 1..) => format!("-{}", grouped(removed)),
        (_, 0) => format!("+{}", grouped(added)),
        _ => format!("+{} -{}", grouped(added), grouped(removed)),
    }
}

/// Keeps the end's words about the run that was started at this time.
pub fn keep(folder: &Path, run: &str, event: &RunnerEvent, words: &str) -> io::Result<()> {
    let words = masked_text(&strip_str(words).to_string()).into_owned();
    let event = Versioned::of(EventForm::now(event.clone(), words));
    let kept = json!({ "run_started_at": run, "event": event });
    write_private(&folder.join(KEPT), masked_text(&kept.to_string()).as_bytes(), Flush::ToSystem)
}

impl KeptSummary {
    /// The summary of the last run that ended; `None` for none. An error if it cannot be read.
    pub fn of(folder: &Path) -> Result<Option<Self>, Problem> {
        let Some(found) = read::read_if_there(&folder.join(KEPT), MOST)? else { return Ok(None) };
        let mut kept: Value = serde_json::from_slice(&found.bytes).unwrap_or_default();
        let run_started_at = kept["run_started_at"].as_str().unwrap_or_default().to_owned();
        let event = kept["event"].take();
        Ok(event.is_object().then_some(Self { run_started_at, event }))
    }

    /// At most 24 lines for a person.
    pub fn text(&self) -> String {
        let words = text::block(self.event["words"].as_str().unwrap_or_default()).into_owned();
        let lines: Vec<&str> = words.lines().collect();
        let mut shown: Vec<String> = lines.iter().copied().take(LINES).map(str::to_owned).collect();
        if lines.len() > LINES {
            shown.truncate(LINES - 1);
            shown.push(format!("       … and {} more lines: add --json", lines.len() + 1 - LINES));
        }
        shown.join("\n") + "\n"
    }
}

/// The run as an event and in words; `None` if its runner was not killed.
pub fn killed(report: &RunnerReport, worktree: &Path) -> Option<(RunnerEvent, String)> {
    if report.is != LoopFormState::Dead {
        return None;
    }
    let (state, cut_off) = (&report.state, report.running_iteration.as_ref());
    let mut own = of_run(Path::new(&report.folder), &state.started_at);
    add_left_ticks(own.iter_mut(), worktree, &report.change_id);
    let came = RunSummary::of(&own, worktree, None, true);
    let took = seconds(state.ran_seconds);
    let at = cut_off.map(|iteration| format!(" in iteration {}", iteration.n)).unwrap_or_default();
    let mut words = format!(
        "ralph: {KILLED}: process {} was killed{at}, or the machine went down; last sign of life {}\n       {}",
        state.pid,
        since(&state.updated_at),
        messages::figures_of_run(state, took, came.commits, came.files.len()).join(", "),
    );
    let mut lines = vec![printable(&report.proofs.line())];
    lines.extend(cut_off.map(|iteration| {
        let left = "the next run counts it from its log, judges its ticks and names its files";
        format!("Not in it: what iteration {} used and left; {left}", iteration.n)
    }));
    lines.push(CONTINUES.to_owned());
    lines.extend(came.text(None));
    lines.push(format!("spool ralph --status --change {}", printable(&report.change_id)));
    lines.retain(|line| !line.is_empty());
    words = [vec![words], lines].concat().join("\n       ");
    let end = RunnerEnd {
        status: KILLED.to_owned(),
        reason: KILLED,
        exit_code: CODE,
        seconds: took.as_secs().into(),
        commits: came.commits.unwrap_or_default().into(),
        files_changed: (came.files.len() as u64).into(),
        proofs: ProofsForm::of(&report.proofs),
        next: Some(CONTINUES.to_owned()),
        summary: came,
        ..form::end(state)
    };
    Some((RunnerEvent::End(Box::new(end)), words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iteration(n: u32, ticked: &[&str], tokens: u64) -> Iteration {
        Iteration {
            n,
            seconds: 60.0,
            tokens_used: tokens,
            cost_usd: Some(0.5),
            tasks_ticked: ticked.iter().map(|id| (*id).to_owned()).collect(),
            files: vec![format!("src/{n}.rs")],
            ..Iteration::default()
        }
    }

    fn summary(iterations: &[Iteration]) -> RunSummary {
        RunSummary::of(iterations, Path::new("/nowhere"), None, true)
    }

    #[test]
    fn unfinished_iterations_join_next_task() {
        let run = [
            iteration(1, &[], 100),
            iteration(2, &["T001", "T002"], 20),
            iteration(3, &["T003"], 3),
            iteration(4, &[], 7),
        ];
        let summary = summary(&run);
        let costs: Vec<(usize, u32, u64)> = summary
            .costs
            .iter()
            .map(|cost| (cost.tasks.len(), cost.iterations, cost.spent.tokens.value))
            .collect();
        assert_eq!(costs, [(2, 2, 120), (1, 1, 3), (0, 1, 7)]);
        let text = summary.text(None);
        assert_eq!(
            text,
            [
                "Changed: 4 files: src/1.rs, src/2.rs, src/3.rs, src/4.rs",
                "Cost of T001, T002: 2 iterations, 2 min 00 s, 120 tokens, $1.00",
                "Cost of T003: 1 iteration, 1 min 00 s, 3 tokens, $0.5000",
                "No task finished: 1 iteration, 1 min 00 s, 7 tokens, $0.5000",
            ]
        );
    }

    #[test]
    fn n3_a_task_is_counted_once() {
        let run: Vec<Iteration> =
            (1..=300).map(|n| iteration(n, &[&format!("T{:03}", n % 20), "T000"], 1)).collect();
        let costs = summary(&run).costs;
        let tasks: Vec<String> = costs.iter().flat_map(|cost| cost.tasks.clone()).collect();
        let named: BTreeSet<&String> = tasks.iter().collect();
        assert_eq!((tasks.len(), named.len()), (20, 20), "{tasks:?}");
        assert_eq!(costs.iter().map(|cost| cost.iterations).sum::<u32>(), 300);
    }

    #[test]
    fn n3_undone_ticks_cost_their_task() {
        let run = [
            iteration(1, &["T001"], 100),
            iteration(2, &["T002"], 20),
            iteration(3, &[], 3),
            iteration(4, &["T001"], 4),
        ];
        let costs = summary(&run).costs;
        let told: Vec<_> = costs
            .iter()
            .map(|cost| (cost.tasks.join(" "), cost.iterations, cost.spent.tokens.value))
            .collect();
        assert_eq!(told, [("T002".to_owned(), 1, 20), ("T001".to_owned(), 3, 107)]);
    }

    #[test]
    fn limited_iteration_costs_something() {
        let limited = || Iteration { verdict: VerdictName::Wait, ..iteration(1, &[], 30) };
        let costs = |run: &[Iteration]| summary(run).costs;
        let [cost] = &costs(&[limited(), iteration(1, &["T001"], 4)])[..] else { panic!() };
        assert_eq!((cost.iterations, cost.spent.tokens.value), (1, 34));
        let [cost] = &costs(&[limited()])[..] else { panic!() };
        assert_eq!((cost.iterations, cost.spent.tokens.value), (0, 30));
    }

    #[test]
    fn any_run_fits_few_lines() {
        let long = "写一个解析器".repeat(40);
        let mut run: Vec<Iteration> = (1..=200)
            .map(|n| Iteration {
                files: vec![format!("{n}/{long}.rs"), format!("{n}.txt")],
                ..iteration(n, &[&format!("T{n:03}")], 1_234_567)
            })
            .collect();
        let check = |run: &str| crate::engine::CheckResult {
            run: run.to_owned(),
            outcome: long.clone(),
            ..Default::default()
        };
        if let Some(last) = run.last_mut() {
            last.checks = (0..50).map(|n| check(&format!("test {n}"))).collect();
        }
        let text = summary(&run).text(None);
        assert!(text.len() <= 12, "{text:#?}");
        for line in &text {
            assert!(columns(line) <= WIDTH, "{line}");
        }
        let rest = text.iter().find(|line| line.contains(" more: ")).unwrap();
        let expected = "Cost of 197 more: 197 iterations, 3 h 17 min, 243,209,699 tokens, $98.50";
        assert_eq!(rest, expected);
    }

    #[test]
    fn newest_kept_tries_are_named() {
        let kept = |numbers: std::ops::Range<u32>| RunSummary {
            kept: numbers.map(|n| format!("refs/ralph/a/20261123-145000-{n}")).collect(),
            ..RunSummary::default()
        };
        let name = |n: u32| format!("git show refs/ralph/a/20261123-145000-{n}");
        assert_eq!(kept(0..0).kept_in_words("", None), [""; 0]);
        let last = "refs/ralph/a/20261123-145000-2";
        assert_eq!(
            kept(1..3).kept_in_words(last, None),
            [format!("Unfinished work: {}", name(2)), format!("Earlier tries: {}", name(1))]
        );
        let gap = " ".repeat(15);
        assert_eq!(
            kept(1..10).kept_in_words("", None),
            [
                format!("Earlier tries: {}", name(9)),
                format!("{gap}{}", name(8)),
                format!("{gap}{}", name(7)),
                format!("{gap}and 6 more: git for-each-ref refs/ralph/a"),
            ]
        );
    }

    #[test]
    fn task_list_follows_work_files() {
        let lines = |path: &str, added: u64| FileLines {
            file: path.to_owned(),
            added: Some(added.into()),
            removed: Some(0.into()),
        };
        let all = [lines("specs/001/tasks.md", 40), lines("a.rs", 1), lines("b.rs", 2)];
        let lines_added = 43.into();
        let summary = RunSummary { files: all.into(), lines_added, ..RunSummary::default() };
        let said = "Changed: 3 files, +43 lines: b.rs +2, a.rs +1, specs/001/tasks.md +40";
        assert_eq!(summary.text(None), [said]);
    }

    #[test]
    fn commands_name_commits_and_folder() {
        let head = |from: &str| RunSummary {
            from_commit: Some(from.to_owned()),
            to_commit: Some("b".repeat(40)),
            files: vec![FileLines::unknown("x")],
            ..RunSummary::default()
        };
        let a = "a".repeat(40);
        let [log, diff] = head(&a).commands_in(None);
        assert_eq!(log.unwrap(), "git log --stat aaaaaaaaaaaa..bbbbbbbbbbbb");
        assert_eq!(diff.unwrap(), "git diff aaaaaaaaaaaa");
        let [log, diff] = head(NO_COMMIT).commands_in(Some(Path::new("/a b")));
        assert_eq!(
            (log.unwrap(), diff),
            ("git -C '/a b' log --stat bbbbbbbbbbbb".to_owned(), None)
        );
        assert_eq!(RunSummary::default().commands_in(None), [None, None]);
    }

    #[test]
    fn long_summary_fits_24_lines() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KeptSummary::of(folder.path()).unwrap().is_none());
        let words = "\u{1b}[32mralph: done\u{1b}[0m\n       a \u{7}line\n".to_owned();
        let long = format!("{words}{}", "       more\n".repeat(40));
        keep(folder.path(), "now", &RunnerEvent::Paused, &long).unwrap();
        let kept = KeptSummary::of(folder.path()).unwrap().unwrap();
        let text = kept.text();
        assert_eq!((kept.run_started_at.as_str(), text.lines().count()), ("now", 24), "{text}");
        assert!(text.starts_with("ralph: done\n       a line\n"), "{text:?}");
        assert!(text.ends_with("\n       … and 19 more lines: add --json\n"), "{text}");
        std::fs::write(folder.path().join(KEPT), "[torn").unwrap();
        assert!(KeptSummary::of(folder.path()).unwrap().is_none());
    }
}
