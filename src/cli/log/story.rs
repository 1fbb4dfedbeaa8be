//! `spool log --iteration N` and `--failed`: one iteration of `spool ralph`, for a person who was not there.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::context::Where;
use crate::cli::names::change_named;
use crate::feature::project::printable;
use crate::forms;
use crate::forms::plain::JsonNumber;
use crate::forms::story::{CallOutcome, CommitMessage, IterationStep, StepWord};
use crate::print;
use crate::runner::state::{changes_with_state, readable, time_of};
use crate::runner::story::{Story, WhichIteration};
use crate::runner::{messages, report as runners};
use crate::style::{BAD, BOLD, DIM, GOOD};
use crate::text;

/// Columns of the text.
const WIDTH: usize = 80;
/// Lines of the prompt, and of a check's output.
const LINES: usize = 20;

/// Prints one iteration.
pub fn show(
    place: &Where,
    change: Option<&str>,
    which: WhichIteration,
    as_json: bool,
) -> Result<ExitCode> {
    let (root, change) = meant(place, change)?;
    let story = Story::of(&root, &change, which)?;
    if as_json {
        dataln!("{}", forms::line(&story)?);
    } else {
        out!("{}", text_of(&story));
    }
    Ok(ExitCode::SUCCESS)
}

/// The change and the root of its project: without a name the running one, else the last one. An error means that no
/// loop has run on it.
pub fn meant(place: &Where, change: Option<&str>) -> Result<(PathBuf, String)> {
    let start = place.start()?;
    let root = place.runners().with_context(|| {
        let next = match place.with_loops() {
            Ok(_) => "without these flags, `spool log` shows the loops of sessions",
            Err(_) => "go to the project, or name it with --project DIR",
        };
        format!("no loop of `spool ralph` has run at `{}` or above\n{next}", start.display())
    })?;
    let change = match change {
        Some(name) => change_named(name, &changes_with_state(&root))?,
        None => runners::select(&root)?.context("no loop has run here yet")?,
    };
    Ok((root, change))
}

/// Within 80 columns, except for output of the agent program and the checks.
fn text_of(story: &Story) -> String {
    let iteration = &story.past.iteration;
    let began = time_of(&iteration.started).map(readable).unwrap_or_default();
    let mut out = format!("{BOLD}{} · iteration {}{BOLD:#}", printable(&story.change), iteration.n);
    let agent = story.harness.as_deref().map(printable);
    for part in agent.iter().chain([&began]) {
        let _ = write!(out, " · {part}");
    }
    out.push('\n');
    let is_over = iteration.ended.is_some();
    if is_over {
        indented(&mut out, &messages::figures(iteration));
    }
    let came = match iteration.verdict.as_str() {
        "" if is_over => "ended".to_owned(),
        "" if iteration.interrupted => "cut off".to_owned(),
        "" => "still running".to_owned(),
        verdict => printable(verdict),
    };
    let why = Some(printable(&iteration.words)).filter(|words| !words.is_empty());
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    indented(&mut out, &format!("{came}{why}"));
    if iteration.timed_out {
        indented(&mut out, "cut short by a time limit");
    }
    if iteration.interrupted && is_over {
        indented(&mut out, "interrupted");
    }
    if !iteration.failure.is_empty() {
        indented(&mut out, &format!("failed: {}", printable(&iteration.failure)));
    }
    for denied in &iteration.denied {
        indented(&mut out, &format!("denied: {}", printable(denied)));
    }
    for unproved in &iteration.unproved {
        indented(&mut out, &format!("open again: {}", printable(unproved)));
    }
    if let Some(prompt) = &story.prompt {
        heading(&mut out, "Prompt");
        let lines: Vec<&str> = prompt.lines().collect();
        for line in lines.iter().take(LINES) {
            let _ = writeln!(out, "  {}", text::narrow(line, WIDTH - 2));
        }
        if lines.len() > LINES {
            let more = text::counted((lines.len() - LINES) as u64, "more line");
            let _ = writeln!(out, "  … {more} in {}", story.prompt_file.display());
        }
    }
    heading(&mut out, "What the agent did");
    steps(&mut out, story);
    files(&mut out, story);
    if !iteration.commits.is_empty() {
        heading(&mut out, "Commits");
    }
    for CommitMessage { commit, message } in &story.messages {
        let short: String = commit.chars().take(10).collect();
        let message = message.as_deref().unwrap_or_default();
        let line = format!("{} {}", printable(&short), printable(message));
        let _ = writeln!(out, "  {}", text::narrow(line.trim_end(), WIDTH - 2));
    }
    checks(&mut out, story);
    let _ = writeln!(out, "\nAll that it printed: {}", story.log.display());
    out
}

fn heading(out: &mut String, words: &str) {
    let _ = writeln!(out, "\n{BOLD}{words}{BOLD:#}");
}

/// Wraps words between two columns of indent and the width.
fn indented(out: &mut String, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    *out += &print::indented(&format!("  {}\n", words.join(" ")), WIDTH, 2);
}

fn steps(out: &mut String, story: &Story) {
    if let Some(problem) = &story.log_problem {
        indented(out, problem);
    } else if story.steps.is_empty() {
        indented(out, "nothing that its output tells");
    }
    let middle = story.steps.len() / 2;
    for (at, step) in story.steps.iter().enumerate() {
        let IterationStep { kind, tool, outcome, words } = step;
        let left_out = story.steps_left_out.get();
        if at == middle && left_out > 0 {
            let _ = writeln!(out, "  … {} are left out here", text::counted(left_out, "step"));
        }
        match kind {
            StepWord::Said => words.lines().filter(|row| !row.trim().is_empty()).for_each(|line| {
                indented(out, line);
            }),
            StepWord::Trouble => {
                let _ = writeln!(out, "  ! {}", text::narrow(words, WIDTH - 4));
            }
            StepWord::Called => {
                let (style, came) = match outcome {
                    Some(CallOutcome::Done) => (GOOD, "done  "),
                    Some(CallOutcome::Failed) => (BAD, "failed"),
                    Some(CallOutcome::Denied) => (BAD, "denied"),
                    None => (DIM, "no end"),
                };
                let what = text::narrow(
                    &format!("{}: {words}", tool.as_deref().unwrap_or_default()),
                    WIDTH - 10,
                );
                let _ = writeln!(out, "  {style}{came}{style:#}  {what}");
            }
        }
    }
}

/// The files, those with known lines first.
fn files(out: &mut String, story: &Story) {
    let iteration = &story.past.iteration;
    if iteration.files_changed == 0 && story.changed_lines.is_empty() {
        return;
    }
    heading(out, "Files");
    for lines in &story.changed_lines {
        let number = |sign: char, number: Option<JsonNumber>| match number {
            Some(number) => format!("{sign}{}", text::grouped(number.get())),
            None => format!("{sign}?"),
        };
        let count = format!("{} {}", number('+', lines.added), number('-', lines.removed));
        let file = printable(&lines.file);
        let _ = writeln!(out, "  {count:<12} {}", text::narrow(&file, WIDTH - 15));
    }
    let is_new = |file: &&String| {
        !story.changed_lines.iter().any(|lines| Path::new(&lines.file) == Path::new(file))
    };
    for file in iteration.files.iter().filter(is_new) {
        let _ = writeln!(out, "  {:<12} {}", "", text::narrow(&printable(file), WIDTH - 15));
    }
    let more = iteration.files_changed.saturating_sub(iteration.files.len() as u64);
    if more > 0 {
        let _ = writeln!(out, "  … and {} more", text::grouped(more));
    }
}

fn checks(out: &mut String, story: &Story) {
    let checks = &story.past.iteration.checks;
    if !checks.is_empty() {
        heading(out, "Checks");
    }
    for check in checks {
        let (style, came) = if check.passed { (GOOD, "passed") } else { (BAD, "failed") };
        let words = format!("`{}`: {}", printable(&check.run), printable(&check.outcome));
        let _ = writeln!(out, "  {style}{came}{style:#}  {}", text::narrow(&words, WIDTH - 10));
        let lines: Vec<&str> = check.tail.lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            let _ = writeln!(out, "    {}", text::narrow(line, WIDTH - 4));
        }
    }
}
