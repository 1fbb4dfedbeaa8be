//! `spool statusline`: one session's loop on one line, for an agent program's status line.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::context::with_loops;
use crate::feature::project::{Project, printable};
use crate::feature::snapshot::{FeatureSnapshot, TaskPosition};
use crate::forms;
use crate::forms::loops::EndForm;
use crate::forms::status::StatuslineForm;
use crate::session::messages::ends;
use crate::session::messages::person::more_than;
use crate::session::pinned;
use crate::session::view::FeatureView;
use crate::store::loops::{Loops, Record, is_session_id};
use crate::store::names::EndName;
use crate::system::input::StandardInput;
use crate::text;
use crate::world::Deadline;

/// The longest input that is read, in bytes.
const MOST: usize = 1 << 20;
/// How long the caller may take for its input.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest name, in columns.
const NAME: usize = 20;
/// The width of the bar, in columns.
const BAR: u64 = 8;

/// Print a loop on one line, for the status line of Claude Code
///
/// Reads the JSON that Claude Code hands to a status line command. Prints nothing
/// where the session has no loop, and never fails. `spool setup --statusline` puts
/// it in place; in a status line script of your own, hand it the same input:
///
///   input=$(cat); printf '%s' "$input" | spool statusline
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct StatuslineArgs {
    /// Print JSON for programs: the line, and how the loop ended
    #[arg(long)]
    json: bool,
}

/// Prints the line; missing or broken input is no error.
pub fn run(args: &StatuslineArgs) -> Result<ExitCode> {
    let input: Value = serde_json::from_slice(&handed_over()).unwrap_or_default();
    let status = of(&input).unwrap_or(StatuslineForm { line: None, end: None });
    if args.json {
        outln!("{}", forms::line(&status)?);
    } else if let Some(line) = &status.line {
        outln!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// `None` for a session without a loop.
fn of(input: &Value) -> Option<StatuslineForm> {
    let session = input["session_id"].as_str().filter(|session| is_session_id(session))?;
    let place = &input["workspace"];
    let folders = [&place["project_dir"], &place["current_dir"], &input["cwd"]];
    let folders = folders.into_iter().filter_map(Value::as_str).map(Path::new);
    let has_loop = |folder: &Path| {
        let project = with_loops(folder, Some(session))?;
        Loops::of(&project.root).knows(session).then_some(project)
    };
    let project = folders.filter(|folder| folder.is_absolute()).find_map(has_loop)?;
    let loops = Loops::of(&project.root);
    let record = loops.peek(session).filter(|record| record.moved_to.is_empty())?;
    let name = text::narrow(&printable(&record.about), NAME);
    if let Some(reason) = &record.ledger.ended {
        let ended = EndName::of(reason);
        let how = match ended {
            EndName::Completed if !record.ledger.against.is_empty() => record.words.clone(),
            _ => ended.in_words(),
        };
        let why = more_than(&ended, &reason.to_string());
        // A cancel removes the state file, but the list still tells the progress.
        let list = list_of(&project, &record).filter(|list| list.place().total > 0);
        let place = list.as_ref().map(|list| list.place().words()).unwrap_or_default();
        let open = list.and_then(|list| ends::uncounted(&list));
        let open = open.map_or_else(String::new, |open| format!(", but {open}"));
        let more = match (&ended, why.as_str(), place.as_str()) {
            (EndName::Completed, _, "") | (_, "", "") => String::new(),
            (EndName::Completed, _, place) => format!(": {place}{open}"),
            (_, "", place) => format!(" · {place}"),
            (_, why, "") => format!(": {why}"),
            (_, why, place) => format!(": {why} · {place}"),
        };
        let iterations = text::counted(record.ledger.iterations.into(), "iteration");
        let words = format!("{name} · {how}{more} · {iterations}");
        let end = Some(EndForm { name: ended, words });
        return Some(StatuslineForm { line: None, end });
    }
    if !loops.drives(&record) {
        return None;
    }
    let list = list_of(&project, &record);
    let mut parts =
        vec![list.as_ref().map_or_else(|| name.clone(), |list| bar(&name, list.place()))];
    parts.push(format!("iteration {}", record.ledger.iterations + 1));
    if let Some(check) = loops.running_check(session) {
        parts.push(format!("check {}", text::narrow(&check, NAME)));
    } else if record.pause().is_some() {
        parts.push("paused".to_owned());
    } else {
        let next = list.as_ref().and_then(|list| list.tasks.as_ref()?.present());
        parts.extend(next.map(|task| format!("next {}", text::narrow(&printable(&task.id), NAME))));
    }
    parts.push(format!("{} ago", text::age(record.silent_for())));
    Some(StatuslineForm { line: Some(parts.join(" · ")), end: None })
}

/// A feature's list, counted as a stop counts; `None` for the loop of a task.
fn list_of(project: &Project, record: &Record) -> Option<FeatureSnapshot> {
    let feature = project.feature(&record.about).ok().filter(|_| record.ralph().is_none())?;
    let standing = pinned::standing(&project.root, record);
    Some(FeatureView::under(project, &feature, standing, Some(record)).snapshot())
}

/// As in `001-demo ████░░░░ 2 of 4`.
fn bar(name: &str, TaskPosition { done, total, .. }: TaskPosition) -> String {
    let full = (done.min(total) * BAR / total.max(1)) as usize;
    let bar = "█".repeat(full) + &"░".repeat(BAR as usize - full);
    format!("{name} {bar} {done} of {total}")
}

/// Standard input, up to its limits. A terminal has none.
fn handed_over() -> Vec<u8> {
    let mut bytes = Vec::new();
    let deadline = Deadline::after(PATIENCE);
    if io::stdin().is_terminal() {
        errln!(
            "`spool statusline` reads what Claude Code hands to a status line command; see `spool status`"
        );
        return bytes;
    }
    let mut input = StandardInput::of_this_process();
    while bytes.len() < MOST && input.is_readable(deadline) {
        match input.read(MOST, &mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        // Some callers do not close their end; the last bracket ends the input.
        if bytes.trim_ascii_end().ends_with(b"}")
            && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok()
        {
            break;
        }
    }
    bytes
}
