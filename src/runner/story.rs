//! The story of one iteration, from the disk: its entry in the history, its prompt, and the agent program's log. The
//! readers of the running program read the log again.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use serde::Serialize;

use super::git::{Git, UnfinishedTry};
use super::harness::{
    AgentEvent, AgentOrder, Approval, CallOutcome, OutputReader, Permissions, Stream, of_history,
};
use super::process::LineSplitter;
use super::state::{
    HISTORY, Iteration, LoopState, Past, add_left_ticks, compact, find_state_folder, holder,
    prompt_beside, read_state, tail, time_of,
};
use crate::feature::project::printable;
use crate::forms::iteration::IterationForm;
use crate::forms::plain::{JsonNumber, words};
use crate::forms::story::{CommitMessage, FileLines, IterationStep, StepWord};
use crate::mask::masked_text;
use crate::store::read::{self, Problem};

/// Bytes read of a log: as much as a log may have.
const LOG: u64 = 66 << 20;
/// Bytes read of a prompt.
const PROMPT: u64 = 4 << 20;
/// Bytes of a log that are read at once.
const PIECE: usize = 64 << 10;
/// Commits whose messages are asked for.
const COMMITS: usize = 100;
/// Steps that are kept of the beginning, and of the end.
const STEPS: usize = 1_000;
/// Letters of an agent's words in one step.
const WORDS: usize = 4_000;

/// The iteration that a person wants to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichIteration {
    /// The newest one with this number.
    Number(u32),
    /// The last failure: the agent program failed or was cut short, or a check failed.
    LastFailed,
}

/// What happened in one iteration of `spool ralph`.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "StoryForm"))]
pub struct Story {
    /// The change.
    pub change: String,
    /// The agent program; null where it is not known.
    pub harness: Option<String>,
    /// What it came to.
    pub iteration: IterationForm,
    /// The prompt; null where it was not kept.
    pub prompt: Option<String>,
    /// What the agent did, in order.
    pub steps: Vec<IterationStep>,
    /// How many steps are left out in the middle of these.
    pub steps_left_out: JsonNumber,
    /// Why there are no steps, in words; null where the log could be read.
    pub log_problem: Option<String>,
    /// The lines that differ in each file, as far as git can say it: what was committed, or kept of a try that was cut short.
    pub changed_lines: Vec<FileLines>,
    /// The commits, with the first line of their messages.
    pub messages: Vec<CommitMessage>,
    /// The entry of the history.
    #[serde(skip)]
    pub past: Past,
    /// Where the prompt is kept.
    #[serde(skip)]
    pub prompt_file: PathBuf,
    /// What the agent program printed.
    #[serde(skip)]
    pub log: PathBuf,
}

#[derive(Debug, Default)]
pub struct Steps {
    first: Vec<(u64, IterationStep)>,
    last: VecDeque<(u64, IterationStep)>,
    left_out: u64,
    calls: u64,
    in_pieces: bool,
}

impl Story {
    /// An error names the existing iterations.
    pub fn of(root: &Path, change: &str, which: WhichIteration) -> Result<Self> {
        let folder = find_state_folder(root, change)?;
        let Some(folder) = folder else {
            bail!("no loop has run on the change `{}` yet", printable(change))
        };
        let mut all = tail(&folder, usize::MAX).map_err(|why| {
            let path = folder.join(HISTORY);
            anyhow!("`{}` cannot be read: {why}\nmake it readable", path.display())
        })?;
        add_left_ticks(all.iter_mut().map(|past| &mut past.iteration), root, change);
        let is_alive = matches!(holder(&folder), Ok(Some(_)));
        let (state, running) = read_state(&folder).ok().flatten().unwrap_or_default();
        all.extend(running.map(|iteration| not_over(iteration, &state, is_alive)));
        let past = which.of(&all, change)?;
        let harness = match past.iteration.harness.as_str() {
            // An older version did not write the program down.
            "" => state.harness,
            known => known.to_owned(),
        };
        let log = folder.join(&past.iteration.log);
        let has_log = !past.iteration.log.is_empty();
        let prompt_file = folder.join(prompt_beside(&past.iteration.log));
        let prompt = has_log.then(|| read::read(&prompt_file, PROMPT).ok()).flatten();
        let mut story = Self {
            change: change.to_owned(),
            harness: words(&harness),
            prompt: prompt.map(|text| String::from_utf8_lossy(&text.bytes).into_owned()),
            past: past.clone(),
            prompt_file,
            log,
            ..Self::default()
        };
        story.log_problem = story.read_log(&harness).err();
        story.ask_git(root);
        story.iteration = (&story.past).into();
        Ok(story)
    }

    fn read_log(&mut self, name: &str) -> Result<(), String> {
        let iteration = &self.past.iteration;
        if iteration.log.is_empty() {
            return Err("it has no log".to_owned());
        }
        let Some(harness) = of_history(name) else {
            let name = printable(name);
            return Err(format!("this version does not know the agent program `{name}`"));
        };
        let scratch = self.log.with_extension("none");
        let is_acp = name == "acp";
        // The runner itself denied this kind of tool as a whole: the log has only the questions.
        let kinds = iteration.denied.iter().filter(|_| is_acp);
        let kinds = kinds.map(|denied| denied.split(": ").next().unwrap_or_default().to_owned());
        let permissions = Permissions { deny: kinds.collect(), ..Permissions::default() };
        let order = AgentOrder {
            prompt: self.prompt.as_deref().unwrap_or_default(),
            // If the history names no denied tool, a missing tool was not denied.
            approval: match iteration.denied.as_slice() {
                [_, ..] if !is_acp => Approval::Own,
                _ => Approval::All,
            },
            ..AgentOrder::of_log(&permissions, &scratch)
        };
        let mut reader = harness.reader(&order);
        let is_words = name == "command";
        let mut steps = Steps::in_pieces(name == "gemini");
        let logged = (self.log.as_path(), iteration.agent_log_bytes);
        read_again(reader.as_mut(), is_words, logged, &mut |event| steps.take(event))?;
        let (steps, left_out) = steps.finish();
        (self.steps, self.steps_left_out) = (steps, left_out.into());
        Ok(())
    }

    /// Asks git about files and commits. Without git, only their names are shown.
    fn ask_git(&mut self, root: &Path) {
        let iteration = &self.past.iteration;
        let unknown = |commit: &String| CommitMessage { commit: commit.clone(), message: None };
        self.messages = iteration.commits.iter().map(unknown).collect();
        let Ok(Some(git)) = Git::within(root, None, Box::new(|| false)) else { return };
        let newest = iteration.commits.len().saturating_sub(COMMITS);
        let subjects = git.subjects(&iteration.commits[newest..]).unwrap_or_default();
        for (commit, words) in subjects {
            let known = self.messages.iter_mut().filter(|message| message.commit == commit);
            known.for_each(|known| known.message = Some(masked_text(&words).into_owned()));
        }
        find_kept(&self.change, &mut self.past.iteration, &git);
        let iteration = &self.past.iteration;
        // Uncommitted work is in no commit, unless the iteration was cut short.
        let last = Some(&iteration.kept_as).filter(|name| !name.is_empty());
        let Some(last) = last.or(iteration.commits.last()) else { return };
        let from = git.commit_named(&iteration.head_at_start);
        let from = from.unwrap_or_else(|| super::git::NO_COMMIT.to_owned());
        if iteration.head_at_start.is_empty() {
            return;
        }
        let Some(last) = git.commit_named(last) else { return };
        self.changed_lines = git.changed_lines(&from, Some(&last)).unwrap_or_default();
        let iteration = &mut self.past.iteration;
        if iteration.files.len() as u64 == iteration.files_changed && !iteration.files.is_empty() {
            // Without commits, an earlier iteration's work lies between, too.
            self.changed_lines.retain(|lines| iteration.files.contains(&lines.file));
        } else if iteration.interrupted && iteration.files_changed == 0 {
            iteration.files = self.changed_lines.iter().map(|lines| lines.file.clone()).collect();
            iteration.files_changed = iteration.files.len() as u64;
        }
    }
}

/// The entry of an iteration that runs, or whose runner was killed.
fn not_over(running: Iteration, state: &LoopState, is_alive: bool) -> Past {
    let words = if is_alive {
        "nothing is counted before its end"
    } else {
        "the runner was killed in it; the next run counts it and continues"
    };
    let interrupted = !is_alive;
    let iteration = Iteration { words: words.to_owned(), interrupted, ..running };
    Past { run_started_at: state.started_at.clone(), iteration }
}

/// Finds the kept work of an iteration whose runner was killed: the next run keeps that work when it writes the
/// history's entry.
pub fn find_kept(change: &str, iteration: &mut Iteration, git: &Git) {
    if iteration.interrupted && iteration.kept_as.is_empty() {
        let began = time_of(&iteration.started).map(compact).unwrap_or_default();
        let unfinished = UnfinishedTry { change, iteration: iteration.n, began: &began, why: "" };
        iteration.kept_as = git.kept_of(&unfinished).unwrap_or_default();
    }
}

impl WhichIteration {
    /// The iteration that is meant, of all, oldest first.
    fn of<'a>(self, all: &'a [Past], change: &str) -> Result<&'a Past> {
        let change = printable(change);
        if all.is_empty() {
            bail!(
                "no iteration of `{change}` has begun yet\n`spool ralph --status --change {change}` shows what its loop does"
            );
        }
        let is_meant = |past: &&Past| match self {
            Self::Number(number) => past.iteration.n == number,
            Self::LastFailed => past.iteration.has_failed(),
        };
        let Some(past) = all.iter().rev().find(is_meant) else {
            let last = all.last().map_or(0, |past| past.iteration.n);
            match self {
                Self::Number(number) => bail!(
                    "`{change}` has no iteration {number}: the last one is {last}\n`spool ralph --status --change {change}` shows the last ones"
                ),
                Self::LastFailed => bail!(
                    "no iteration of `{change}` has failed\n`spool log --change {change} --iteration {last}` shows the last one"
                ),
            }
        };
        Ok(past)
    }
}

/// Has a reader read a log again, as it read the running program's output. `is_words`: the program prints words and no
/// JSON. The number: bytes of the log by the agent program, 0 if unknown. An error in words if the log cannot be read.
pub fn read_again(
    reader: &mut dyn OutputReader,
    is_words: bool,
    (log, bytes): (&Path, u64),
    heard: &mut dyn FnMut(AgentEvent),
) -> Result<(), String> {
    let problem = |problem: Problem| match problem {
        Problem::Missing => "the log is gone: the oldest ones are removed".to_owned(),
        other => other.to_string(),
    };
    let (mut file, meta) = read::open(log).map_err(problem)?;
    let most = if bytes == 0 { LOG } else { bytes.min(LOG) };
    let mut line = |line: &[u8]| {
        // The log has both outputs; known agent programs print one JSON object a line.
        let is_output = is_words || line.trim_ascii_start().starts_with(b"{");
        let stream = if is_output { Stream::Output } else { Stream::Errors };
        reader.line(stream, line, heard);
    };
    each_line(&mut file, most.min(meta.len()), &mut line)
        .map_err(|error| format!("the log cannot be read: {error}"))
}

/// Hands on the lines within the first `most` bytes.
fn each_line(file: &mut File, most: u64, line: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    let mut rest = file.take(most);
    let mut piece = vec![0; PIECE];
    let mut lines = LineSplitter::default();
    loop {
        let count = rest.read(&mut piece)?;
        if count == 0 {
            break;
        }
        lines.take(&piece[..count], line);
    }
    lines.finish(line);
    Ok(())
}

impl Steps {
    /// `in_pieces`: the agent's words come in pieces that belong together.
    pub fn in_pieces(in_pieces: bool) -> Self {
        Self { in_pieces, ..Self::default() }
    }

    /// Takes a line of the log.
    pub fn take(&mut self, event: AgentEvent) {
        let (kind, tool, words) = match event {
            AgentEvent::Said(words) => (StepWord::Said, None, words),
            AgentEvent::Called { tool, what } => (StepWord::Called, Some(tool), what),
            AgentEvent::Trouble(words) => (StepWord::Trouble, None, words),
            AgentEvent::Returned { call, outcome } => return self.returned(call, outcome),
            AgentEvent::Finished => return,
        };
        if self.in_pieces
            && kind == StepWord::Said
            && let Some((_, step)) = self.newest()
            && step.kind == StepWord::Said
        {
            let room = WORDS.saturating_sub(step.words.chars().count());
            step.words.extend(words.chars().take(room));
            return;
        }
        let is_call = kind == StepWord::Called;
        if words.trim().is_empty() && !is_call {
            return;
        }
        let number = self.calls;
        self.calls += u64::from(is_call);
        let words = words.chars().take(WORDS).collect();
        self.push((number, IterationStep { kind, tool, outcome: None, words }));
    }

    /// The steps, and the number that is left out in the middle.
    pub fn finish(self) -> (Vec<IterationStep>, u64) {
        let all = self.first.into_iter().chain(self.last).map(|(_, step)| IterationStep {
            // The log has no keys, but an older version may have written some.
            words: masked_text(&step.words).trim().to_owned(),
            ..step
        });
        (all.collect(), self.left_out)
    }

    fn newest(&mut self) -> Option<&mut (u64, IterationStep)> {
        self.last.back_mut().or(self.first.last_mut())
    }

    fn push(&mut self, step: (u64, IterationStep)) {
        if self.first.len() < STEPS {
            self.first.push(step);
            return;
        }
        if self.last.len() == STEPS {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(step);
    }

    /// Notes a call's outcome; a denied call that failed counts as denied.
    fn returned(&mut self, call: u64, came: CallOutcome) {
        let all = self.first.iter_mut().chain(&mut self.last).rev();
        for (number, step) in all {
            if step.kind == StepWord::Called && *number == call {
                step.outcome = step.outcome.max(Some(came));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
