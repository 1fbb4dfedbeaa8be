//! Arming: a session gets its record, and the record keeps the task and its contract.

use std::io;
use std::path::Path;

use crate::engine::{Check, Contract, Guardrails, Ledger, TerminalReason};
use crate::evidence::commits;
use crate::feature::settings::{Settings, with_more};
use crate::refusal::Refusal;
use crate::session::arguments::task::Request;
use crate::session::messages::task as messages;
use crate::session::pinned;
use crate::session::reconcile::settle_session;
use crate::session::record::{length_of, path_of};
use crate::store::closing::{end_entry, not_noted, unnoted};
use crate::store::journal::Entry;
use crate::store::loops::{Assignment, Claim, Loops, Record, Session, VerifyCommands};
use crate::store::names::{ArmedBy, EndName, JournalEvent, LoopKind};
use crate::store::pins::{Pin, PinKey, Pins, SettingsThen};
use crate::store::read;
use crate::store::undo::Undo;
use crate::store::write::{Flush, write_private};
use crate::text::counted;
use crate::world;

/// The most that is read of a file that holds the task, in bytes.
const MOST_TASK: u64 = 256 << 10;
/// The name of the file in the session's folder that holds a long task.
pub const TASK_FILE: &str = "task.md";

/// Who arms, where, and where that session's transcript stands.
#[derive(Clone, Copy, Debug)]
pub struct Armer<'a> {
    /// The folder the session was started in, a real path.
    pub root: &'a Path,
    /// The folder that a relative path of the person's is meant from.
    pub cwd: &'a Path,
    /// The session.
    pub session: &'a str,
    /// The session's transcript.
    pub transcript: Option<&'a Path>,
    /// Whether every text begins with the ultrawork instruction.
    pub flavour: Flavour,
}

/// Which of the two commands was typed (spec 002).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `/ralph-loop`.
    Plain,
    /// `/ulw-loop`.
    Ultrawork,
}

/// A loop that is armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The contract as the agent gets it.
    pub contract: String,
    /// The line for the person.
    pub line: String,
}

/// Arms the loop and returns what is said about it; on any refusal nothing is armed.
pub fn arm(request: &Request, armer: Armer<'_>) -> Result<Armed, Refusal> {
    let settings = Settings::to_arm(armer.root)?;
    let tracked = pinned::trusted(armer.root, &settings)?;
    let task = task_of(request, armer.cwd)?;
    let loops = Loops::of(armer.root);
    // The loop that this one replaces is known by its notes.
    settle_session(armer.root, armer.session)?;
    // The lock of the project comes first and the session's second, here as everywhere.
    let _lock = loops.lock()?;
    let folder = loops.session(armer.session)?;
    // A broken record is put aside before it is replaced.
    let earlier = folder.record()?;
    earlier.as_ref().map_or(Ok(()), |earlier| loops.settle(earlier))?;
    // Refused is refused: whatever fails from here on, every file is put back.
    let mut undo = Undo::default();
    for name in [TASK_FILE, "loop.json"] {
        undo.remember(&folder.path(name))?;
    }
    let (pins, whose) = (Pins::of(armer.root), PinKey::Session(armer.session));
    if let Ok(pins) = &pins {
        undo.remember(&pins.path(whose))?;
        undo.remember(&pins.verify_path(whose))?;
    }
    let mut entries = Vec::new();
    if let Some(live) = earlier.filter(|record| record.ledger.is_live()) {
        if !request.replace {
            return Err(messages::already_armed(&live));
        }
        entries.push(replace(&loops, &live, &mut undo)?);
    }
    let hash = settings.digest;
    let contract = contract_of(request, settings);
    let mut record = new_record(request, contract, &task, armer);
    let pin = pin_of(&record, SettingsThen { hash, tracked });
    let runs = pinned::shown_of(&pin, &VerifyCommands::new());
    pinned::fits_a_message(&runs, "put the checks into a script of your own, and name that")?;
    let note = pinned::pin(pins.as_ref(), whose, &pin, &VerifyCommands::new())?;
    if note.is_some() {
        record.armed_by = ArmedBy::Unkept;
    }
    keep(&folder, &record, &task)?;
    entries.push(armed_entry(&record));
    undo.keep();
    // From here on it is armed, whatever the journal has.
    let noted = not_noted(unnoted(loops.note_all(armer.session, &entries)));
    let lines = [messages::armed_line(&record), runs, note.unwrap_or_default()];
    let lines = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join("\n") + &noted;
    Ok(Armed { contract: messages::start(&record, &folder), line })
}

/// What is armed, as it is kept outside of the project.
fn pin_of(record: &Record, settings: SettingsThen) -> Pin {
    let contract = record.ralph().map(|assignment| assignment.contract.clone());
    Pin {
        about: record.about.clone(),
        session: record.session.clone(),
        armed_at: record.armed_at,
        armed_by: ArmedBy::Command,
        checks: contract.as_ref().map(|contract| contract.checks.clone()).unwrap_or_default(),
        contract,
        assignment: record.assignment.clone(),
        told: Some(record.told),
        paused: Some(false),
        settings,
        ..Pin::default()
    }
}

fn task_of(request: &Request, cwd: &Path) -> Result<String, Refusal> {
    let Some(named) = &request.prompt_file else {
        return Ok(request.task.clone());
    };
    let path = cwd.join(named);
    let wrong = |why: &str| {
        Refusal::new(
            format!("the task cannot be read from `{}`: {why}", path.display()),
            "name a text file, relative to the folder of the session",
        )
    };
    let content = read::read(&path, MOST_TASK).map_err(|problem| wrong(&problem.to_string()))?;
    let text = String::from_utf8(content.bytes).map_err(|_| wrong("it is not UTF-8 text"))?;
    if text.trim().is_empty() {
        return Err(wrong("it is empty"));
    }
    Ok(text)
}

/// Gives up the feature of the live loop that this session has, so that another one can take its place, and
/// returns the journal's line on its end; its record is overwritten by the new one.
pub fn replace(loops: &Loops, live: &Record, undo: &mut Undo) -> io::Result<Entry> {
    let reason = TerminalReason::Stopped;
    let entry =
        end_entry(&live.about, live.ledger.iterations, &reason, "another loop takes its place");
    if live.kind != LoopKind::Task
        && let Some(claim) = loops.read_claim(&live.about)?
        && claim.session.as_ref() == Some(&live.session)
    {
        undo.remember(&loops.claim_path(&live.about)?)?;
        pinned::remove(&loops.root()?, &claim, undo)?;
        loops.write_claim(&Claim { closed: Some(EndName::of(&reason)), ..claim })?;
    }
    Ok(entry.with_sums(&live.ledger))
}

fn new_record(request: &Request, contract: Contract, task: &str, armer: Armer<'_>) -> Record {
    let length = armer.transcript.map_or(0, length_of);
    let start = commits::fingerprint(armer.root);
    let long = task.chars().count() > messages::SHORT;
    Record {
        kind: LoopKind::Task,
        session: armer.session.to_owned(),
        about: messages::title(task),
        armed_at: world::now(),
        armed_by: ArmedBy::Command,
        transcript_from: length,
        transcript_read: length,
        transcript: path_of(armer.transcript),
        commits_read: commits::log_length(armer.root),
        ledger: Ledger { fingerprint: Some(start), settled: true, ..Ledger::default() },
        assignment: Some(Box::new(Assignment {
            task: if long { messages::beginning(task) } else { task.to_owned() },
            task_file: if long { TASK_FILE.to_owned() } else { String::new() },
            contract,
            promise_match: request.promise_match,
            ultrawork: armer.flavour == Flavour::Ultrawork,
            start,
            ..Assignment::default()
        })),
        ..Record::default()
    }
}

/// The project's checks hold in this loop too, before those that were typed.
fn contract_of(request: &Request, settings: Settings) -> Contract {
    let limit_seconds = request.check_timeout;
    let typed = request.checks.iter().map(|run| Check { run: run.clone(), limit_seconds });
    let checks = with_more(settings.checks, typed);
    let usual = Guardrails::default();
    Contract {
        token: request.promise.clone(),
        min_tool_calls: request.min_tool_calls,
        without_work: request.without_work,
        min_iterations: request.min_iterations,
        checks,
        guardrails: Guardrails {
            max_iterations: Some(request.max_iterations).filter(|limit| *limit > 0),
            max_unchanged: request.no_progress.unwrap_or(usual.max_unchanged),
            ..usual
        },
    }
}

fn keep(folder: &Session, record: &Record, task: &str) -> io::Result<()> {
    if let Some(long) = record.ralph().filter(|assignment| !assignment.task_file.is_empty()) {
        write_private(&folder.path(&long.task_file), task.as_bytes(), Flush::ToSystem)?;
    }
    folder.save(record)
}

fn armed_entry(record: &Record) -> Entry {
    let checks = record.ralph().map(|it| &*it.contract.checks).filter(|checks| !checks.is_empty());
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
