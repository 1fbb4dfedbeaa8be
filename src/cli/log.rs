//! `spool log`: the journal, for people.

use std::process::ExitCode;

use anyhow::{Result, bail};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::context::{Where, whole};
use crate::feature::project::printable;
use crate::runner::report as runners;
use crate::runner::state::{changes_with_state, state_folder};
use crate::runner::target::{matching, one_of};
use crate::session::report::feature::sums;
use crate::store::journal::{self, Entry};
use crate::store::loops::Loops;
use crate::store::names::{EndName, JournalEvent, VerdictName};
use crate::store::read;
use crate::style;
use crate::text;
use crate::world::WallTime;

/// The most that is read of a runner's journal, in bytes.
const MOST: u64 = 256 << 20;

/// How far the further lines of an entry are indented, in columns.
const INDENT: usize = 4;

/// The most sessions that an error lists.
const LISTED: usize = 20;

/// Show every decision and why it was made.
#[derive(clap::Args)]
pub struct LogArgs {
    /// Only the last N entries
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<usize, 0, 1_000_000>)]
    last: Option<usize>,
    /// Only this session, with those that its loop was taken over from
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only the loops of `spool ralph` on this change
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    change: Option<String>,
    /// Print JSON for programs, one object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Where,
}

/// Whose a journal of a runner is.
const RUNNER: &str = "ralph";

/// Prints the journals of all sessions in the order of time.
pub fn run(args: &LogArgs) -> Result<ExitCode> {
    let mut all: Vec<(String, Entry)> = Vec::new();
    let mut unread = 0;
    for (whose, text) in journals(args)? {
        let (entries, broken) = journal::entries(&text);
        unread += broken;
        all.extend(entries.into_iter().map(|entry| (whose.clone(), entry)));
    }
    // The end of a runner's loop that the entry of its last iteration has said already.
    let is_said = |whose: &str, entry: &Entry| {
        whose == RUNNER && entry.event == JournalEvent::Ended && entry.words.is_empty()
    };
    if !args.json {
        all.retain(|(whose, entry)| !is_said(whose, entry));
    }
    all.sort_by_key(|(_, entry)| entry.at);
    let skipped = args.last.map_or(0, |last| all.len().saturating_sub(last));
    if args.json {
        for (session, entry) in all.iter().skip(skipped) {
            let mut value = serde_json::to_value(entry)?;
            value["session"] = session.as_str().into();
            outln!("{}", text::json(&value.to_string()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        outln!("Nothing is written yet: no loop has run in this project.");
    }
    let width = columns().unwrap_or(usize::MAX);
    for (session, entry) in all.iter().skip(skipped) {
        outln!("{}", wrapped(&line(session, entry), width));
    }
    if unread > 0 {
        errln!("{unread} lines could not be read and are left out.");
    }
    Ok(ExitCode::SUCCESS)
}

/// The journals that are meant, each with whose it is: a session, or `ralph` for a runner.
fn journals(args: &LogArgs) -> Result<Vec<(String, Vec<u8>)>> {
    let start = args.place.start()?;
    let root = runners::root_around(&start);
    let mut all = Vec::new();
    let mut changes = root.map(changes_with_state).unwrap_or_default();
    if let Some(name) = &args.change {
        changes = matching(name, &changes);
        if changes.len() > 1 {
            let (name, several) = (printable(name), changes.len());
            bail!("`{name}` may be {several} changes\n{}", one_of(&changes));
        }
    }
    for change in changes {
        if args.session.is_none() {
            let path = root.map(|root| state_folder(root, &change).join("journal.jsonl"));
            let text = path.and_then(|path| read::read(&path, MOST).ok());
            all.push((RUNNER.to_owned(), text.map(|it| it.bytes).unwrap_or_default()));
        }
    }
    if let Some(change) = args.change.as_ref().filter(|_| all.is_empty()) {
        bail!(
            "`spool ralph` has not run on `{}` here\n`spool status` shows what has run",
            printable(change)
        );
    }
    let project = match args.place.with_loops() {
        _ if args.change.is_some() => return Ok(all),
        Ok(project) => project,
        // A project that only runners work on needs no `.specify`.
        Err(_) if !all.is_empty() => return Ok(all),
        Err(error) => return Err(error),
    };
    let loops = Loops::of(&project.root);
    let wanted = args.session.as_ref().map(|session| with_forerunners(&loops, session));
    let sessions = loops.sessions();
    let is_known = wanted.as_ref().is_none_or(|all| all.iter().any(|it| sessions.contains(it)));
    if let Some(session) = args.session.as_ref().filter(|_| !is_known) {
        let known: Vec<_> = sessions.iter().take(LISTED).map(|it| format!("  {it}")).collect();
        let more = sessions.len().saturating_sub(LISTED);
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        let known = if known.is_empty() { "  none".to_owned() } else { known.join("\n") };
        bail!(
            "session `{}` has no journal in `{}`\nthe sessions that have one:\n{known}{more}",
            printable(session),
            project.root.display()
        );
    }
    let sessions = sessions.into_iter();
    let meant = sessions.filter(|it| wanted.as_ref().is_none_or(|wanted| wanted.contains(it)));
    all.extend(meant.map(|session| (session.clone(), loops.journal(&session))));
    Ok(all)
}

/// A session and those that its loop was taken over from.
fn with_forerunners(loops: &Loops, session: &str) -> Vec<String> {
    let mut all = vec![session.to_owned()];
    while let Some(from) = all.last().and_then(|last| loops.peek(last)?.adopted)
        && !all.contains(&from.from)
    {
        all.push(from.from);
    }
    all
}

fn line(session: &str, entry: &Entry) -> String {
    let (style, what) = match (&entry.verdict, &entry.event) {
        (VerdictName::Continue, _) => (style::WARN, "continue".to_owned()),
        (VerdictName::Wait, _) => (style::DIM, "wait".to_owned()),
        (VerdictName::End, _) if entry.reason == EndName::Completed => {
            (style::GOOD, "end: completed".to_owned())
        }
        (VerdictName::End, _) => (style::BAD, format!("end: {}", entry.reason)),
        (_, event) => (style::BOLD, event.as_str().to_owned()),
    };
    let short: String = printable(session).chars().take(8).collect();
    let task = match entry.task.as_str() {
        "" => String::new(),
        task => format!(" task {}", printable(task)),
    };
    let sums = match entry.verdict {
        VerdictName::End => sums(entry.tool_calls, entry.commits, entry.tokens),
        _ => None,
    };
    let sums = sums.map_or_else(String::new, |sums| format!(" ({sums})"));
    format!(
        "{} {short} {} iteration {}{task}  {}{}{}  {}{sums}",
        local_time(entry.at),
        printable(&entry.about),
        entry.iteration,
        style.render(),
        printable(&what),
        style.render_reset(),
        printable(&entry.words),
    )
}

/// The columns of the terminal on standard output; nothing where there is none, or one too narrow for an indentation.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= 4 * INDENT)
}

/// A line in as many of at most `width` characters as it needs, broken at blanks, all but the first one indented.
/// Colors have no width.
fn wrapped(line: &str, width: usize) -> String {
    let mut wrapped = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let shown = shown_width(word.trim_end());
        if shown > 0 && column > INDENT && column + shown > width {
            wrapped.truncate(wrapped.trim_end().len());
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(INDENT));
            column = INDENT;
        }
        wrapped.push_str(word);
        column += shown_width(word);
    }
    wrapped
}

fn shown_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let plain = parts.next().unwrap_or_default().chars().count();
    let after_color = |part: &str| part.split_once('m').map_or(0, |(_, rest)| rest.chars().count());
    plain + parts.map(after_color).sum::<usize>()
}

/// The local time with its numeric offset, such as `2026-11-22 01:05:12 +01:00`.
fn local_time(at: WallTime) -> String {
    let time = i64::try_from(at.millis()).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    let zoned = time.map(|time| time.to_zoned(TimeZone::system()));
    zoned.map_or_else(|| "?".to_owned(), |time| time.strftime("%F %T %:z").to_string())
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn an_entry_that_is_wider_than_the_terminal_continues_indented() {
        let line = "12:00 one \u{1b}[31mend: blocked\u{1b}[0m  words that need a second line";
        let second =
            "12:00 one \u{1b}[31mend: blocked\u{1b}[0m\n    words that need a\n    second line";
        assert_eq!(wrapped(line, 22), second);
        assert_eq!(wrapped(line, usize::MAX), line);
        assert_eq!(
            wrapped("longer word-that-has-no-blank", 16),
            "longer\n    word-that-has-no-blank"
        );
        assert_eq!(wrapped("", 16), "");
    }
}
