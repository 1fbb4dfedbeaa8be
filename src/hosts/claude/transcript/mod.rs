//! The transcript that Claude Code writes: it lags behind its session, has lines of any length and some that are no JSON.
//!
//! Only the main thread's own lines are taken; a line that is no JSON is plain text.

pub mod activity;
mod lag;
mod line;
mod queue;
mod scheduled;
mod skills;
pub mod tail;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{commands, sessions};
use crate::hosts::transcript::{Activity, HostProgram, Transcript, TranscriptPart, TurnEnd};
use crate::world::{self, Deadline};
use tail::TranscriptTail;

/// How long the end of a turn may take to be written.
const LAG: Duration = Duration::from_millis(500);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(40);

/// Where the client keeps what is scheduled beyond the end of a session; a project can come with such a file.
const SCHEDULED: &str = ".claude/scheduled_tasks.json";
/// How long after a scheduled prompt was entered its line may take to be written: it is there within 0.1 s.
const ENTERED: Duration = Duration::from_millis(200);

/// A transcript of Claude Code.
pub struct ClaudeTranscript {
    path: PathBuf,
}

impl ClaudeTranscript {
    /// Returns the transcript at this path.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Transcript for ClaudeTranscript {
    fn path(&self) -> &Path {
        &self.path
    }

    fn activity(&self, part: TranscriptPart) -> Option<Activity> {
        activity::since(&self.path, part)
    }

    fn last_text(&self, from: u64) -> Option<String> {
        TranscriptTail::read(&self.path, from)?.last_text()
    }

    fn says(&self, signal: &str, from: u64) -> bool {
        TranscriptTail::read_for_signal(&self.path, from).is_some_and(|tail| tail.says(signal))
    }

    fn shows(&self, end: TurnEnd<'_>, from: u64) -> bool {
        lag::shows(&self.path, end, from)
    }

    fn commands_run(&self, from: u64) -> Vec<String> {
        skills::run_since(&self.path, from)
    }

    fn enters_scheduled(&self, started_in: Option<&Path>) -> bool {
        // Nothing was scheduled where no tool was called yet, but what a file says.
        let has_some = |folder: &Path| folder.join(SCHEDULED).symlink_metadata().is_ok();
        let may_come = started_in.is_some_and(|folder| folder.ancestors().any(has_some))
            || scheduled::may_be_made(&self.path);
        let patience = Deadline::after(if may_come { ENTERED } else { Duration::ZERO });
        loop {
            let is_entered = scheduled::is_entered(&self.path);
            if is_entered || patience.is_over() {
                return is_entered;
            }
            world::pause(PAUSE);
        }
    }

    fn lag(&self) -> Duration {
        LAG
    }

    fn programs(&self) -> Vec<HostProgram> {
        sessions::beside(&self.path)
    }

    fn command<'a>(&self, typed: &'a str) -> Option<(&'a str, &'a str)> {
        commands::typed(typed)
    }
}

/// Returns the transcript of a session, looked up in the folder where Claude Code keeps its things;
/// `None` when there is none yet.
pub fn of_session(config: &Path, session: &str) -> Option<PathBuf> {
    let name = format!("{session}.jsonl");
    let projects = fs::read_dir(config.join("projects")).ok()?;
    let mut found = projects.flatten().map(|project| project.path().join(&name));
    found.find(|path| path.is_file())
}
