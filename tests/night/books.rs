//! What the scripted agent writes down about itself, outside of the project: what every figure is held against.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What a tool call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Came {
    Done,
    Failed,
    Denied,
    /// Nobody was told.
    Nothing,
}

/// One line of the books.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "lowercase")]
pub enum Line {
    /// The prompt that it was given.
    Prompt { text: String },
    /// A call of the model: the tokens of each kind, and millionths of a dollar.
    Call { input: u64, output: u64, cache_read: u64, cache_write: u64, micros: u64 },
    /// Words, or the client's own word for a fault.
    Said { text: String, fault: bool },
    /// A tool call, and what it was used with.
    Tool { tool: String, with: String, came: Came },
    /// A file that it changed, as it differs from the last commit.
    Changed { file: String, added: u64, removed: u64 },
    /// A commit and its message.
    Commit { name: String, message: String },
    /// A commit that is in the history no more.
    Gone { name: String },
    /// A box that it ticked.
    Tick { task: String },
    /// Milliseconds from the beginning of the run to the end of its work.
    Lasted { millis: u64 },
    /// What the runner has used when this run begins: milliseconds of processor time, and KiB at most.
    Runner { process: u32, cpu: u64, peak: u64 },
}

/// The open books of one run of the agent program.
pub struct Books(File);

impl Books {
    /// Those of a run.
    pub fn open(desk: &Path, run: u32) -> Self {
        Self(File::create(desk.join(format!("books-{run:04}"))).unwrap())
    }

    pub fn write(&mut self, line: &Line) {
        let text = serde_json::to_string(line).unwrap() + "\n";
        self.0.write_all(text.as_bytes()).unwrap();
    }
}

/// What one run came to, by the books.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub prompt: String,
    pub tokens: u64,
    pub micros: u64,
    /// Words and tool calls in the order in which they came.
    pub steps: Vec<Line>,
    pub calls: u64,
    pub failed: u64,
    pub denied: Vec<String>,
    pub changed: BTreeMap<String, (u64, u64)>,
    pub commits: Vec<(String, String)>,
    /// Those that it took out of the history, of whichever run.
    pub gone: Vec<String>,
    pub ticks: Vec<String>,
    pub lasted: u64,
    /// Its process, processor time and memory.
    pub runner: Option<(u32, u64, u64)>,
}

/// The books of all runs so far, from the first.
pub fn all(desk: &Path) -> Vec<Run> {
    let read = |run: u32| fs::read_to_string(desk.join(format!("books-{run:04}"))).ok();
    (1..).map_while(read).map(|text| Run::of(&text)).collect()
}

/// Lines added and removed between two texts: all that is in no longest row of lines that both have.
pub fn differences(before: &str, now: &str) -> (u64, u64) {
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    // The longest rows of the lines of `before` so far with each beginning of `now`.
    let mut longest = vec![0; now.len() + 1];
    for line in &before {
        let mut above = 0;
        for (at, other) in now.iter().enumerate() {
            let both = if line == other { above + 1 } else { longest[at].max(longest[at + 1]) };
            above = std::mem::replace(&mut longest[at + 1], both);
        }
    }
    let same = longest[now.len()];
    (now.len() as u64 - same, before.len() as u64 - same)
}

impl Run {
    fn of(text: &str) -> Self {
        let mut run = Self::default();
        for line in text.lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            match line.clone() {
                Line::Prompt { text } => run.prompt = text,
                Line::Call { input, output, cache_read, cache_write, micros } => {
                    run.tokens += input + output + cache_read + cache_write;
                    run.micros += micros;
                }
                Line::Said { .. } => run.steps.push(line),
                Line::Tool { tool, with, came } => {
                    run.steps.push(line);
                    run.calls += 1;
                    run.failed += u64::from(matches!(came, Came::Failed | Came::Denied));
                    if came == Came::Denied {
                        run.denied.push(format!("{tool}: {with}"));
                    }
                }
                Line::Changed { file, added, removed } => {
                    run.changed.insert(file, (added, removed));
                }
                Line::Commit { name, message } => run.commits.push((name, message)),
                Line::Gone { name } => {
                    run.commits.retain(|(other, _)| *other != name);
                    run.gone.push(name);
                }
                Line::Tick { task } => run.ticks.push(task),
                Line::Lasted { millis } => run.lasted = millis,
                Line::Runner { process, cpu, peak } => run.runner = Some((process, cpu, peak)),
            }
        }
        run
    }
}

/// The commits of all runs that no later run has replaced, the oldest first.
pub fn lasting(runs: &[Run]) -> Vec<&str> {
    let gone: BTreeSet<&str> = runs.iter().flat_map(|run| &run.gone).map(String::as_str).collect();
    let commits = runs.iter().flat_map(|run| &run.commits).map(|(name, _)| name.as_str());
    commits.filter(|name| !gone.contains(name)).collect()
}
