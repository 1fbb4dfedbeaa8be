//! What an adapter is: what it is asked for, how its program is started, and what its output comes to.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::permissions::{Accepts, Permissions};
use super::usage::TokenUsage;
pub use crate::exec::Source as Stream;
use crate::exec::version::Version;
use crate::forms::harnesses::TokensKnown;
use crate::forms::story::CallOutcome;
use crate::settings::ACP;
use crate::world::WallTime;

/// Which agent program is driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HarnessChoice {
    /// Claude Code.
    Claude,
    /// opencode.
    Opencode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// Any program, by its command line.
    Command(String),
    /// Any program that speaks the Agent Client Protocol, by its command line.
    Acp(String),
    /// The embedded scripted agent.
    Demo,
}

impl HarnessChoice {
    /// Returns the agent program of a name that a setting takes: the command line of `command` comes from another one.
    pub fn of(name: &str) -> Self {
        match name {
            "claude" => Self::Claude,
            "opencode" => Self::Opencode,
            "codex" => Self::Codex,
            "gemini" => Self::Gemini,
            "copilot" => Self::Copilot,
            "command" => Self::Command(String::new()),
            "demo" => Self::Demo,
            other => Self::Acp(other.strip_prefix(ACP).unwrap_or(other).trim().to_owned()),
        }
    }
}

/// What an agent program is asked to do in one iteration.
#[derive(Clone, Debug)]
pub struct AgentOrder<'a> {
    /// The whole prompt.
    pub prompt: &'a str,
    /// The model to use, in the words of the agent program; `None` for its own choice.
    pub model: Option<&'a str>,
    /// The version of the agent program; empty where it is not known.
    pub version: &'a str,
    /// What tools may do without a person's consent.
    pub approval: Approval,
    /// What a person permits and forbids beside that, and arguments of the program's own.
    pub permissions: &'a Permissions,
    /// The session to continue with, `None` for a fresh one.
    pub resume: Option<&'a str>,
    /// The folder in which it is started, as a whole path.
    pub folder: &'a Path,
    /// A folder of this iteration's own, for files that the program writes about itself.
    pub scratch: &'a Path,
}

impl AgentOrder<'_> {
    /// Returns the folder for a program that may only read: one of its own, so that it finds no settings, hooks,
    /// servers of tools or instructions that whoever works on the project has put there for it. `None` for any other.
    pub fn own_folder(&self) -> Option<PathBuf> {
        (self.approval == Approval::ReadOnly).then(|| self.scratch.to_owned())
    }
}

/// What tools may do without a person's consent (spec 004, "Safety and permissions").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// What the agent program allows by itself.
    #[default]
    Own,
    /// Everything.
    All,
    /// Nothing but read files, whatever a person's settings allow; only where [`Harness::can_only_read`] says so.
    ReadOnly,
}

/// How a program is started: no shell, every argument as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The program, a path or a name to look for on the `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What follows them as it is: `cmd` reads its line by rules of its own.
    #[cfg(windows)]
    pub line: OsString,
    /// Variables that are set.
    pub set: Vec<(String, OsString)>,
    /// Variables that are taken out of the environment.
    pub unset: Vec<String>,
    /// What its standard input gets.
    pub input: Input,
    /// The signal that it ends best on.
    pub ending: Ending,
    /// The folder in which it is started, `None` for that of its order.
    pub folder: Option<PathBuf>,
}

impl Launch {
    /// Returns the folder of a run: its own, or the one that is given; an error where it is not there.
    pub fn folder_in<'a>(&'a self, given: &'a Path) -> io::Result<&'a Path> {
        let folder = self.folder.as_deref().unwrap_or(given);
        let words = || format!("the folder `{}` is not there", folder.display());
        let missing = || io::Error::new(io::ErrorKind::NotADirectory, words());
        folder.is_dir().then_some(folder).ok_or_else(missing)
    }
}

/// What a program's standard input gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Nothing: it is closed.
    #[default]
    Nothing,
    /// This text, then it is closed.
    Text(Vec<u8>),
    /// This text, then what [`OutputReader::tells`] returns, until that closes it.
    Dialog(Vec<u8>),
}

/// What a program is told after it was started; only one that was started with [`Input::Dialog`] hears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What goes into its standard input, empty for nothing.
    pub text: Vec<u8>,
    /// Whether its standard input is closed after that.
    pub closes: bool,
}

/// The signal that a program ends best on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// SIGTERM.
    #[default]
    Terminate,
    /// SIGINT: Codex ends its tools only on this one.
    Interrupt,
}

/// What a line of output says, for the screen and for the watch over the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// The agent's own words.
    Said(String),
    /// A tool is used.
    Called {
        /// The tool.
        tool: String,
        /// What with, on one line.
        what: String,
    },
    /// A tool call has ended.
    Returned {
        /// Which one, by how many calls were shown before it.
        call: u64,
        /// What came of it.
        outcome: CallOutcome,
    },
    /// Something went wrong that does not end the run: a retry, a denied tool, a warning.
    Trouble(String),
    /// The result is there; nothing but leaving is left to do.
    Finished,
}

/// Reads the output of one run of an agent program; unknown lines are skipped.
pub trait OutputReader {
    /// Takes in one line, without its end and whatever its bytes, and reports to `heard` what it says.
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(AgentEvent));

    /// Returns what the program is to be told after the lines so far, and forgets it.
    fn tells(&mut self) -> Told {
        Told::default()
    }

    /// Returns what the program is told before it is asked to end; empty where it is asked by a signal alone.
    fn cancels(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Returns whether the lines show tool calls, with their end.
    fn shows_calls(&self) -> bool {
        true
    }

    /// Returns what was reported so far; nothing where the output says nothing before its end.
    fn so_far(&self) -> SoFar<'_> {
        SoFar::default()
    }

    /// Returns what the whole run came to.
    fn report(&mut self, left: &ExitInfo) -> AgentReport;
}

/// What the output of a run has reported so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar<'a> {
    /// The tokens of this run alone.
    pub usage: TokenUsage,
    /// What it cost, in millionths of a dollar, `None` where nothing was reported of it.
    pub cost: Option<u64>,
    /// Whether more was used since it said that.
    pub costs_more: bool,
    /// The session, `None` before it is known.
    pub session: Option<&'a str>,
    /// The model that answers, `None` before it is known.
    pub model: Option<&'a str>,
}

/// How the process left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitInfo {
    /// Its exit code, `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the runner ended it because it lingered after [`AgentEvent::Finished`]: that is no failure.
    pub lingered: bool,
    /// Whether the runner cut it short: time limit, silence, or a person.
    pub cut: bool,
}

/// What one run of an agent program came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentReport {
    /// The agent's own final text, the only place where a promise counts.
    pub final_text: String,
    /// How many tool calls it made, `None` where the output does not say.
    pub tool_calls: Option<u64>,
    /// How many of them were denied or failed: they are no work.
    pub failed_calls: u64,
    /// Tools that were refused, by name or by what they were to do.
    pub denied: Vec<String>,
    /// The session, for `--continue-session`.
    pub session: Option<String>,
    /// The tokens of this run alone, `None` where the output does not say.
    pub tokens: Option<TokenUsage>,
    /// What this run alone cost, in millionths of a dollar, `None` where the output does not say.
    pub cost: Option<u64>,
    /// Whether it used tokens that its output does not report.
    pub missing: Missing,
    /// The status of the service's last answer, where it failed and that is known.
    pub status: Option<u64>,
    /// Whether the session's token count continues from the one before (Codex and
    /// Copilot CLI when they are resumed: subtract what it was).
    pub tokens_of_session: bool,
    /// The model that answered, as far as it is known.
    pub model: Option<String>,
    /// Whether it warned that its usage limit is near (Claude Code with a subscription).
    pub near_usage_limit: bool,
    /// How it ended.
    pub outcome: RunOutcome,
}

/// Whether a run used tokens that its output does not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// No.
    #[default]
    Nothing,
    /// What the program has written down about the session says: the run was cut, or agents of its own worked.
    Elsewhere,
    /// Some of them are reported nowhere: it was cut in the middle of a step.
    Lost,
}

/// How a run of an agent program ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunOutcome {
    /// With a result: the terminal event without an error, and exit code 0.
    #[default]
    Finished,
    /// It failed in a way that may pass: overload, network, a crash.
    Failed(String),
    /// It failed in a way that trying again does not fix: no login, no such model, no credit.
    Lasting(String),
    /// The session to continue is gone; a fresh one is the way out.
    SessionGone(String),
    /// A usage limit, known from a structured event.
    UsageLimit {
        /// When it is lifted, in seconds since the Unix epoch, `None` where it is not known.
        resets_at: Option<u64>,
        /// What the agent program says.
        words: String,
    },
    /// The runner cut it short.
    Cut,
}

/// What is known of an agent program before it is started.
#[derive(Clone, Copy, Debug)]
pub struct KnownProgram {
    /// The name under which it is started.
    pub name: &'static str,
    /// The name that people know.
    pub title: &'static str,
    /// How it is installed.
    pub install: &'static str,
    /// Variables that are set whenever it is started.
    pub set: &'static [(&'static str, &'static str)],
    /// The oldest version that is driven, `None` where none is known to fail.
    pub oldest: Option<Version>,
    /// The version with which everything here was seen.
    pub proven: Version,
    /// What standard error says when trying again does not help.
    pub lasting: &'static [&'static str],
    /// What it says when there is no such session.
    pub gone: &'static [&'static str],
    /// How it takes what a person permits.
    pub accepts: Accepts,
}

/// An agent program that the runner can drive.
pub trait Harness {
    /// Returns what is known of its program; `None` for one that a person names, and for the demo.
    fn known(&self) -> Option<&'static KnownProgram> {
        None
    }

    /// Returns its name as `--harness` takes it.
    fn name(&self) -> &'static str {
        self.known().map_or("", |program| program.name)
    }

    /// Returns its version when it can be used; an error says what is missing and what to do
    /// (no program, too old, not logged in), in one message before the first iteration.
    fn check(&self) -> Result<Option<String>> {
        let version = self.known().map(KnownProgram::check).transpose()?.flatten();
        Ok(version.map(|version| version.to_string()))
    }

    /// Returns the version that [`AgentOrder::version`] has in a loop; `None` where its command line does not depend on it,
    /// or where the program does not say.
    fn version(&self) -> Option<String> {
        None
    }

    /// Returns how to start it for one iteration.
    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch>;

    /// Returns how it takes what a person permits; `None` where it cannot.
    fn accepts(&self) -> Option<&'static Accepts> {
        self.known().map(|program| &program.accepts)
    }

    /// Returns whether it can be held to reading: [`Approval::ReadOnly`] then leaves it no tool that writes a file,
    /// runs a command that may, or belongs to somebody else.
    fn can_only_read(&self) -> bool {
        self.known().is_some()
    }

    /// Returns the name of the files that it takes for instructions also when it may only read, wherever they are in the
    /// project, and that nothing keeps from it; `None` where there are none.
    fn instructions(&self) -> Option<&'static str> {
        None
    }

    /// Returns when the tokens of a run are known.
    fn reports_tokens(&self) -> TokensKnown {
        TokensKnown::WhileItRuns
    }

    /// Returns whether it reports what a run of a fresh session has cost.
    fn reports_cost(&self) -> bool {
        false
    }

    /// Returns whether it reports that while the run goes on, and not only at its end.
    fn reports_cost_while_it_runs(&self) -> bool {
        false
    }

    /// Returns a reader for the output of one run.
    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader>;

    /// Returns the folders in which it keeps its sessions: the growth of a session's own file is the last
    /// resort for counting tokens (spec 001).
    fn session_folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the tokens that a session and its sub-agents used since a moment, in milliseconds since the Unix
    /// epoch, from what the program has written down about this session alone; `None` where it says nothing.
    fn session_tokens(&self, _session: &str, _since: WallTime) -> Option<TokenUsage> {
        None
    }

    /// Returns the same in the middle of a run; `None` also where it takes another program to find out.
    fn session_tokens_now(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        self.session_tokens(session, since)
    }

    /// Returns a line for the person when this version is older than the one that was proven; it may
    /// work all the same.
    fn caution(&self, version: &str) -> Option<String> {
        self.known()?.caution(version)
    }
}
