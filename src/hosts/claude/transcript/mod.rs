//! The transcript that Claude Code writes. The file lags behind its session; its lines have any length, and some are no
//! JSON.
//!
//! Only the main thread's lines count; a line that is no JSON is plain text.

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

/// How long the client takes to write a turn's end.
const LAG: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(40);

/// The client's list of prompts scheduled beyond a session's end. A project may bring such a file.
const SCHEDULED: &str = ".claude/scheduled_tasks.json";
/// How long the client may take to write that a scheduled prompt was entered; 0.1 s were seen.
const ENTERED: Duration = Duration::from_millis(200);

pub struct ClaudeTranscript {
    path: PathBuf,
}

impl ClaudeTranscript {
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
        // Without a tool call, only a file can have scheduled a prompt.
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

/// Finds a session's transcript in Claude Code's folder.
pub fn of_session(config: &Path, session: &str) -> Option<PathBuf> {
    let name = format!("{session}.jsonl");
    let projects = fs::read_dir(config.join("projects")).ok()?;
    let mut found = projects.flatten().map(|project| project.path().join(&name));
    found.find(|path| path.is_file())
}
