//! The interface of an adapter: its order, how its program is started, and the report on a run.

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HarnessChoice {
    Claude,
    Opencode,
    Codex,
    Gemini,
    Copilot,
    /// Any program, by its command line.
    Command(String),
    /// Any program that speaks the Agent Client Protocol, by its command line.
    Acp(String),
    Demo,
}

impl HarnessChoice {
    /// `name` is a value of `--harness`. `command` gets its command line from `--harness-command`.
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

/// One iteration's order to an agent program.
#[derive(Clone, Debug)]
pub struct AgentOrder<'a> {
    pub prompt: &'a str,
    /// In the agent program's words; `None` leaves the choice to the program.
    pub model: Option<&'a str>,
    /// Empty where the program does not say.
    pub version: &'a str,
    pub approval: Approval,
    /// A person's rules for tools, and extra arguments for the program.
    pub permissions: &'a Permissions,
    /// The session to continue; `None` starts a fresh one.
    pub resume: Option<&'a str>,
    /// The absolute path where the program starts.
    pub folder: &'a Path,
    /// This iteration's own folder, for files that the program writes about itself.
    pub scratch: &'a Path,
}

impl<'a> AgentOrder<'a> {
    /// An order to read the log of an earlier run: nothing is started.
    pub fn of_log(permissions: &'a Permissions, scratch: &'a Path) -> Self {
        Self {
            prompt: "",
            model: None,
            version: "",
            approval: Approval::Own,
            permissions,
            resume: None,
            folder: scratch,
            scratch,
        }
    }

    /// A reading program starts in its scratch folder. There it finds no settings, hooks, tool servers or instructions
    /// that the project's author put in place for it. `None` for a program that may write.
    pub fn own_folder(&self) -> Option<PathBuf> {
        (self.approval == Approval::ReadOnly).then(|| self.scratch.to_owned())
    }
}

/// What tools may do without a person's consent (spec 004, "Safety and permissions").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// The agent program's own rules apply.
    #[default]
    Own,
    All,
    /// Reading files only, whatever a person's settings allow. Needs [`Harness::can_only_read`].
    ReadOnly,
}

/// How a program is started: no shell takes part, and no argument is quoted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// A path, or a name on the `PATH`. Not a `PathBuf`, because serde refuses one that is not UTF-8.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Text behind the arguments that is not quoted: `cmd` reads its line by its own rules.
    #[cfg(windows)]
    pub line: OsString,
    /// Variables to set.
    pub set: Vec<(String, OsString)>,
    /// Variables to remove.
    pub unset: Vec<String>,
    pub input: Input,
    pub ending: Ending,
    /// `None` stands for the order's folder.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl Launch {
    /// The launch's own folder, else `given`; an error where the folder is missing.
    pub fn folder_in<'a>(&'a self, given: &'a Path) -> io::Result<&'a Path> {
        let folder = self.folder.as_deref().unwrap_or(given);
        let words = || format!("the folder `{}` is not there", folder.display());
        let missing = || io::Error::new(io::ErrorKind::NotADirectory, words());
        folder.is_dir().then_some(folder).ok_or_else(missing)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Standard input is closed.
    #[default]
    Nothing,
    /// Standard input is closed behind this text.
    Text(Vec<u8>),
    /// This text comes first, then whatever [`OutputReader::tells`] adds until it closes the input.
    Dialog(Vec<u8>),
}

/// An answer to a running program. Only [`Input::Dialog`] keeps the input open for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Text for standard input; may be empty.
    pub text: Vec<u8>,
    /// Standard input is closed behind the text.
    pub closes: bool,
}

/// The signal that ends a program best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    #[default]
    Terminate,
    /// Codex ends its tools on SIGINT only.
    Interrupt,
}

/// The meaning of a line of output, for the screen and the watch over the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// The agent's own words.
    Said(String),
    /// A tool starts.
    Called {
        tool: String,
        /// The tool's input on one line.
        what: String,
    },
    /// A tool call ended.
    Returned {
        /// The call's number, from 0, in the order shown.
        call: u64,
        outcome: CallOutcome,
    },
    /// Something went wrong, but the run goes on: a retry, a denied tool, a warning.
    Trouble(String),
    /// The result is there; the program only has to leave.
    Finished,
}

/// Reads the output of one run; unknown lines are skipped.
pub trait OutputReader {
    /// Takes one line without its end, in any encoding, and hands its events to `heard`.
    fn line(&mut self, stream: Stream, line: &[u8], heard: &mut dyn FnMut(AgentEvent));

    /// Takes what the program has to hear after the lines so far.
    fn tells(&mut self) -> Told {
        Told::default()
    }

    /// A message that asks the program to stop before a signal does; empty where only a signal works.
    fn cancels(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Lines show the beginning and the end of tool calls.
    fn shows_calls(&self) -> bool {
        true
    }

    /// Empty where the output reports nothing before its end.
    fn so_far(&self) -> SoFar<'_> {
        SoFar::default()
    }

    fn report(&mut self, left: &ExitInfo) -> AgentReport;
}

/// A run's figures so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar<'a> {
    /// This run alone, without earlier runs of its session.
    pub usage: TokenUsage,
    /// In millionths of a dollar; `None` where nothing was reported.
    pub cost: Option<u64>,
    /// The run used more since it reported the cost.
    pub costs_more: bool,
    pub session: Option<&'a str>,
    /// The model that answers.
    pub model: Option<&'a str>,
}

/// How the process left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitInfo {
    /// `None` when a signal ended the process.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The runner ended a process that lingered after [`AgentEvent::Finished`]: no failure.
    pub lingered: bool,
    /// The runner cut the run short: time limit, silence, or a person.
    pub cut: bool,
}

/// The result of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentReport {
    /// The agent's final text, the only place where a promise counts.
    pub final_text: String,
    /// `None` where the output does not say.
    pub tool_calls: Option<u64>,
    /// Denied and failed calls: they are no work.
    pub failed_calls: u64,
    /// Refused tools, each by its name or its purpose.
    pub denied: Vec<String>,
    /// The session, for `--continue-session`.
    pub session: Option<String>,
    /// This run alone; `None` where the output does not say.
    pub tokens: Option<TokenUsage>,
    /// This run alone, in millionths of a dollar; `None` where the output does not say.
    pub cost: Option<u64>,
    pub missing: Missing,
    /// The HTTP status of a failed last answer, where known.
    pub status: Option<u64>,
    /// `tokens` counts the whole session, so the caller subtracts the count before the run. Resumed sessions of Codex
    /// and Copilot CLI report this way.
    pub tokens_of_session: bool,
    pub model: Option<String>,
    /// Claude Code with a subscription warned that a usage limit is near.
    pub near_usage_limit: bool,
    pub outcome: RunOutcome,
}

/// Whether the output left out some of the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    #[default]
    Nothing,
    /// The program's own files have them: the run was cut, or sub-agents worked.
    Elsewhere,
    /// Nothing reports them: the run was cut in the middle of a step.
    Lost,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunOutcome {
    /// The terminal event reported no error, and the exit code was 0.
    #[default]
    Finished,
    /// May pass: overload, network, a crash.
    Failed(String),
    /// Trying again does not help: no login, no such model, no credit.
    Lasting(String),
    /// The session to continue is gone; the caller starts a fresh one.
    SessionGone(String),
    /// Known from a structured event.
    UsageLimit {
        /// In seconds since the Unix epoch.
        resets_at: Option<u64>,
        /// The agent program's message.
        words: String,
    },
    /// The runner cut the run short.
    Cut,
}

/// Facts about an agent program that hold before its start.
#[derive(Clone, Copy, Debug)]
pub struct KnownProgram {
    /// The name of the executable.
    pub name: &'static str,
    /// The command that installs the program.
    pub install: &'static str,
    /// Variables for each start.
    pub set: &'static [(&'static str, &'static str)],
    /// Older versions are refused; `None` where every version is accepted.
    pub oldest: Option<Version>,
    /// The version with which all this was tested.
    pub proven: Version,
    /// Texts on standard error that mean: trying again does not help.
    pub lasting: &'static [&'static str],
    /// Texts that mean: there is no such session.
    pub gone: &'static [&'static str],
    pub accepts: Accepts,
}

/// An agent program that the runner can drive.
pub trait Harness {
    /// `None` for a program that a person names, and for the demo.
    fn known(&self) -> Option<&'static KnownProgram> {
        None
    }

    /// The name that `--harness` takes.
    fn name(&self) -> &'static str {
        self.known().map_or("", |program| program.name)
    }

    /// The version of a usable program. An error tells, before the first iteration, what is missing and what to do: no
    /// program, too old, not logged in.
    fn check(&self) -> Result<Option<String>> {
        let version = self.known().map(KnownProgram::check).transpose()?.flatten();
        Ok(version.map(|version| version.to_string()))
    }

    /// The version for [`AgentOrder::version`]; `None` where the command line does not depend on the version, or the
    /// program does not say.
    fn version(&self) -> Option<String> {
        None
    }

    fn launch(&self, order: &AgentOrder<'_>) -> Result<Launch>;

    /// How the program takes permissions; `None` where it takes none.
    fn accepts(&self) -> Option<&'static Accepts> {
        self.known().map(|program| &program.accepts)
    }

    /// [`Approval::ReadOnly`] can leave the program no tool that writes a file, runs a command, or belongs to somebody
    /// else.
    fn can_only_read(&self) -> bool {
        self.known().is_some()
    }

    /// Instruction files that the program reads anywhere in the project even under [`Approval::ReadOnly`].
    fn instructions(&self) -> Option<&'static str> {
        None
    }

    /// When a run's tokens are known.
    fn reports_tokens(&self) -> TokensKnown {
        TokensKnown::WhileItRuns
    }

    /// The output has the cost of a fresh session.
    fn reports_cost(&self) -> bool {
        false
    }

    /// The cost is reported during the run, too, not only at its end.
    fn reports_cost_while_it_runs(&self) -> bool {
        false
    }

    fn reader(&self, order: &AgentOrder<'_>) -> Box<dyn OutputReader>;

    /// The folders of the program's sessions. The growth of a session's own file is the last resort for counting tokens
    /// (spec 001).
    fn session_folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The tokens of a session and its sub-agents since a moment, from the program's own files about this session.
    fn session_tokens(&self, _session: &str, _since: WallTime) -> Option<TokenUsage> {
        None
    }

    /// As [`Self::session_tokens`], during a run; `None` also where only another program could tell.
    fn session_tokens_now(&self, session: &str, since: WallTime) -> Option<TokenUsage> {
        self.session_tokens(session, since)
    }

    /// A warning when this version is older than the proven one; it may work all the same.
    fn caution(&self, version: &str) -> Option<String> {
        self.known()?.caution(version)
    }
}
