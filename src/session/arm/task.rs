//! Arms a ralph loop: the session's record keeps the task and its contract.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Armed, Armer, Arming, replace};
use crate::engine::{Check, Contract, Fingerprint, Guardrails, Ledger};
use crate::evidence::commits;
use crate::feature::settings::{Settings, with_more};
use crate::judge::command::doubtful;
use crate::judge::promised::arm as arm_promise;
use crate::judge::words::doubtful_lines;
use crate::refusal::Refusal;
use crate::session::arguments::task::TaskRequest;
use crate::session::messages::task as messages;
use crate::session::pinned;
use crate::store::journal::Entry;
use crate::store::loops::{Assignment, Record, SessionFolder, VerifyCommands};
use crate::store::names::{ArmedBy, JournalEvent, LoopKind};
use crate::store::pins::{Pin, SettingsThen};
use crate::store::read;
use crate::store::write::{Flush, write_private};
use crate::text::counted;
use crate::world;

/// Bytes of a file that holds the task.
pub const MOST_TASK: u64 = 256 << 10;
/// The limit of a look at the files: the client waits for the command.
const LOOK: Duration = Duration::from_millis(1_200);
/// Shown if the agent's word alone ends the loop.
const NO_CHECK: &str = "No check: the agent's word decides. To add one: /speckit:ralph-loop \"TASK\" --check \"cargo test\"";
/// The file in the session's folder with a long task.
pub const TASK_FILE: &str = "task.md";

#[derive(Clone, Copy, Debug)]
pub struct TaskPlace<'a> {
    /// The folder in which the session was started, a real path.
    pub root: &'a Path,
    /// The folder for a person's relative paths.
    pub cwd: &'a Path,
    pub flavour: Flavour,
}

/// The command that was typed (spec 002).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `/ralph-loop`.
    Plain,
    /// `/ulw-loop`.
    Ultrawork,
}

/// Arms the loop in a session; after a refusal nothing is armed.
pub fn arm(
    request: &TaskRequest,
    place: TaskPlace<'_>,
    session: &str,
    transcript: Option<&Path>,
) -> Result<Armed, Refusal> {
    let settings = Settings::to_arm(place.root)?;
    let tracked = pinned::trusted(place.root, &settings)?;
    let task = task_of(request, place.cwd)?;
    let armer = Armer { session: Some(session), by: &ArmedBy::Command, transcript };
    let mut arming = Arming::begin(place.root, armer, None)?;
    let earlier = arming.earlier()?;
    let folder = arming.folder.iter();
    let paths: Vec<_> =
        folder.flat_map(|folder| [folder.path(TASK_FILE), folder.record_path()]).collect();
    arming.remember(&paths)?;
    if let Some(live) = earlier.filter(|record| record.ledger.is_live()) {
        if !request.chosen.replace() {
            return Err(messages::already_armed(&live));
        }
        arming.entries.push(replace(&arming.loops, &live, &mut arming.undo)?);
    }
    let (hash, notify) = (settings.digest, settings.chosen.notify());
    let (contract, head) = (contract_of(request, settings), commits::log_place(place.root));
    let pin = Pin {
        about: messages::title(&task),
        armed_at: world::now(),
        commits_from: Some(head.length),
        commits_line: head.line,
        armed_by: ArmedBy::Command,
        checks: contract.checks.clone(),
        notify,
        settings: SettingsThen { hash, tracked },
        ..Pin::default()
    };
    let mut record = record_of(request, place.flavour, &pin, contract, &task, armer);
    let instead = "put the checks into a script of your own, and name that";
    let none = VerifyCommands::new();
    let typed = request.chosen.check().len();
    let (shown, unkept) = arming.keep_commands(None, &pin, &none, (typed, instead))?;
    record.armed_by.clone_from(arming.armer.by);
    record.armed = unkept.is_none().then(|| Box::new(pin.clone()));
    let for_agent = match &arming.folder {
        Some(folder) => {
            keep(folder, &record, &task)?;
            messages::start(&record, folder)
        }
        None => String::new(),
    };
    let not_noted = arming.finish(armed_entry(&record));
    // No lock is held during this look. Without the look, the files' times judge a promise.
    let _ = pinned::promise_judge(place.root, &record)
        .and_then(|judge| arm_promise(&judge, &task, LOOK));
    let no_check = if pin.checks.is_empty() { NO_CHECK } else { "" }.to_owned();
    let stop = "To stop it: Esc, then /speckit:cancel-ralph".to_owned();
    let commands = pin.checks.iter().map(|check| check.run.as_str());
    let doubtful = doubtful_lines(&doubtful(commands, place.root));
    let (begin, unkept) = (messages::armed_line(&record), unkept.unwrap_or_default());
    let lines = [begin, no_check, shown.clone(), doubtful, unkept, stop];
    let lines = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty());
    let for_person = lines.collect::<Vec<_>>().join("\n") + &not_noted;
    Ok(Armed { about: record.about, for_agent, for_person, shown })
}

fn task_of(request: &TaskRequest, cwd: &Path) -> Result<String, Refusal> {
    let Some(named) = request.chosen.prompt_file() else { return Ok(request.task.clone()) };
    task_in(&cwd.join(named))
}

pub fn task_in(path: &Path) -> Result<String, Refusal> {
    let wrong = |why: &str| {
        let what = format!("the task cannot be read from `{}`: {why}", path.display());
        Refusal::new(what, "name a text file")
    };
    let content = read::read(path, MOST_TASK).map_err(|problem| wrong(&problem.to_string()))?;
    match String::from_utf8(content.bytes) {
        Err(_) => Err(wrong("it is not UTF-8 text")),
        Ok(text) if text.trim().is_empty() => Err(wrong("it is empty")),
        Ok(text) if text.contains('\0') => Err(wrong("it is not text: there is a NUL in it")),
        Ok(text) => Ok(text),
    }
}

fn record_of(
    request: &TaskRequest,
    flavour: Flavour,
    pin: &Pin,
    contract: Contract,
    task: &str,
    armer: Armer<'_>,
) -> Record {
    let fingerprint = Some(Fingerprint::default());
    let long = task.chars().count() > messages::SHORT;
    let session = armer.session.unwrap_or_default();
    Record {
        kind: LoopKind::Task,
        ledger: Ledger { fingerprint, settled: true, ..Ledger::default() },
        assignment: Some(Box::new(Assignment {
            task: if long { messages::beginning(task) } else { task.to_owned() },
            task_file: if long { TASK_FILE.to_owned() } else { String::new() },
            contract,
            promise_match: request.chosen.promise_match(),
            ultrawork: flavour == Flavour::Ultrawork,
            ..Assignment::default()
        })),
        ..Record::new(pin, session, armer.by, armer.transcript)
    }
}

/// The project's checks run first, then the typed ones.
fn contract_of(request: &TaskRequest, settings: Settings) -> Contract {
    let chosen = &request.chosen;
    let limit_seconds = chosen.check_limit().as_secs();
    let typed =
        chosen.check().into_iter().map(|run| Check { run, limit_seconds, ..Check::default() });
    let checks = with_more(settings.checks, typed);
    let usual = Guardrails::default();
    Contract {
        token: request.promise(),
        min_tool_calls: chosen.min_tool_calls(),
        without_work: chosen.on_promise_no_work(),
        min_iterations: chosen.min_iterations(),
        checks,
        no_final_check: chosen.no_final_check(),
        converge: String::new(),
        guardrails: Guardrails {
            max_iterations: chosen.max_iterations(),
            max_unchanged: chosen.max_unchanged(),
            ..usual
        },
    }
}

fn keep(folder: &SessionFolder, record: &Record, task: &str) -> io::Result<()> {
    if let Some(long) = record.ralph().filter(|assignment| !assignment.task_file.is_empty()) {
        write_private(&folder.path(&long.task_file), task.as_bytes(), Flush::ToSystem)?;
    }
    folder.save(record)
}

fn armed_entry(record: &Record) -> Entry {
    let checks = record.ralph().map(|task| &*task.contract.checks).filter(|all| !all.is_empty());
    let checks = checks.map_or_else(String::new, |checks| {
        format!("; {}{}", counted(checks.len() as u64, "check"), pinned::checks_in_words(checks))
    });
    Entry {
        at: record.armed_at,
        event: JournalEvent::Armed,
        about: record.about.clone(),
        words: format!("{}{checks}", messages::limits(record)),
        ..Entry::default()
    }
}
