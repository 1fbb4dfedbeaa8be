//! `spool log`: the journal, for people.

mod follow;
mod lines;
mod receipts;
mod selected;
mod since;
mod story;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::builder::Resettable;

use super::context::whole;
use super::handle::{LoopHandle, LoopName, NameKind};
use super::names::{TypedName, change_named};
use super::selection::WhichLoop;
use crate::engine::scoreboard::Scoreboard;
use crate::feature::project::printable;
use crate::forms;
use crate::forms::log::LogForm;
use crate::forms::loops::LoopDriver;
use crate::forms::proofs::ProofsForm;
use crate::print;
use crate::runner::signals::Signals;
use crate::runner::state::{changes_with_state, shares_in, state_folder};
use crate::runner::story::WhichIteration;
use crate::runner::target::did_you_mean;
use crate::session::report::feature::write_proofs;
use crate::store::journal::{self, Entry};
use crate::store::loops::{self, Loops, TERMINAL};
use crate::store::read;
use crate::world::WallTime;
use follow::Followed;
use lines::{LoggedLoop, LoopBegins, RUNNER};
use receipts::ReceiptsOfLog;
use selected::{handle_of, is_shown, names_to_show, with_forerunners};

/// Bytes of a journal.
const MOST: u64 = 256 << 20;
/// Journals that are read if none is named, the newest ones.
const NEWEST: usize = 100;
/// The interval of looks at followed journals.
const LOOK: Duration = Duration::from_millis(500);
/// Entries before the followed ones, unless a person wants others.
const BEFORE: usize = 10;

/// Arguments that choose entries, and mean nothing for one iteration.
const ALONE: [&str; 5] = ["since", "last", "follow", "session", "feature"];

/// Show every decision and why it was made, loop by loop.
#[derive(clap::Args)]
#[command(mut_arg("feature", |flag| flag.short(Resettable::Reset).help(OF_FEATURE)))]
pub struct LogArgs {
    #[command(flatten)]
    which: WhichLoop,
    /// Only what happened since then: 90s, 30m, 2h, 3d, 2026-11-22 or "2026-11-22 14:30"
    #[arg(long, value_name = "TIME", value_parser = since::since)]
    since: Option<WallTime>,
    /// Only the last N entries
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<usize, 0, 1_000_000>)]
    last: Option<usize>,
    /// Show the last entries, then each new one, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// What happened in this iteration of `spool ralph`: prompt, words, tools, files, commits, checks
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 1_000_000_000>, conflicts_with_all = ALONE)]
    iteration: Option<u32>,
    /// The same for the last iteration that failed, was cut short, or had a failed check
    #[arg(long, conflicts_with_all = ALONE, conflicts_with = "iteration")]
    failed: bool,
    /// What the last run of `spool ralph` said at its end, in at most 24 lines; the log of one change ends with it
    #[arg(long, conflicts_with_all = ALONE, conflicts_with_all = ["iteration", "failed"])]
    summary: bool,
    /// Print JSON for programs, one object a line
    #[arg(long)]
    json: bool,
}

/// The help of the one flag without its short form.
const OF_FEATURE: &str = "The loop of this feature, such as 001-login, 1 or login; it has no `-f` here, which is --follow";

impl LogArgs {
    /// The named loop; `None` for all.
    fn typed(&self) -> Option<TypedName<'_>> {
        self.which.typed()
    }

    /// The name, if it is of this kind.
    fn typed_as(&self, kind: NameKind) -> Option<&str> {
        self.typed().filter(|typed| typed.kind == Some(kind)).map(|typed| typed.text)
    }
}

/// A journal and its owner: a session, or `ralph` for a runner.
struct LogSource {
    whose: String,
    path: PathBuf,
}

/// Prints the journals of all sessions and runners loop by loop, in the order of their beginnings.
pub fn run(args: &LogArgs) -> Result<ExitCode> {
    let which = args.iteration.map(WhichIteration::Number);
    if let Some(which) = which.or(args.failed.then_some(WhichIteration::LastFailed)) {
        let change = args.typed().map(|typed| typed.text);
        return story::show(args.which.place(), change, which, args.json);
    }
    if args.summary {
        let change = args.typed().map(|typed| typed.text);
        return summary::show(args.which.place(), change, args.json);
    }
    let mut followed = Followed::default();
    let mut unread = 0;
    let mut loops = Vec::new();
    let sources = sources(args)?;
    for source in sources.iter().filter(|_| args.follow) {
        // An entry that is written meanwhile is shown twice rather than never.
        followed.skip(&source.path);
    }
    let (sources, older) = newest(args, sources);
    for source in sources {
        let text = read::read(&source.path, MOST).map(|file| file.bytes).unwrap_or_default();
        let (entries, broken) = journal::entries(&text);
        unread += broken;
        loops.extend(LoggedLoop::all(&source.whose, entries));
    }
    let names = shown_names(args, &loops)?;
    loops.sort_by_key(LoggedLoop::began);
    for place in 0..loops.len() {
        let next = loops[place + 1..].iter().find(|next| next.about == loops[place].about);
        loops[place].next_began = next.map(LoggedLoop::began);
    }
    let mut begins = LoopBegins::new();
    LoggedLoop::know_the_begin(&mut loops, &mut begins);
    loops.retain(|one| is_shown(names.as_deref(), one));
    let is_since = |entry: &Entry| args.since.is_none_or(|since| entry.at >= since);
    let is_news =
        |one: &LoggedLoop, entry: &Entry| is_since(entry) && (args.json || !one.has_said(entry));
    let mut all: Vec<_> =
        loops.iter().flat_map(|one| one.entries.iter().map(move |entry| (one, entry))).collect();
    let is_empty = all.is_empty();
    all.retain(|(one, entry)| is_news(one, entry));
    // In the order of time, to keep the last ones.
    all.sort_by_key(|(_, entry)| entry.at);
    let last = args.last.or(Some(BEFORE).filter(|_| args.follow));
    all.drain(..last.map_or(0, |last| all.len().saturating_sub(last)));
    if !args.json {
        // Loop by loop for a person.
        all.sort_by_key(|(one, _)| one.began());
    }
    let receipts = ReceiptsOfLog::of(args.which.place().paths().map(|own| own.root), args.follow);
    let mut shown = ShownLog { as_json: args.json, receipts, ..ShownLog::default() };
    shown.show_all(&all)?;
    if all.is_empty() && !args.follow && !args.json {
        match (is_empty, args.typed().is_some()) {
            (true, true) => outln!("{NOTHING_OF_IT}"),
            // A runner may have been killed before its first iteration ended.
            (true, false) => match summary::below(args.which.place(), None) {
                killed if killed.is_empty() => outln!("{NOTHING}"),
                killed => out!("{killed}"),
            },
            (false, _) => outln!("Nothing happened in that time."),
        }
    }
    let change = args.typed_as(NameKind::Change).filter(|_| !args.json && !args.follow);
    let below = change.map(|id| summary::below(args.which.place(), Some(id))).unwrap_or_default();
    if !below.is_empty() {
        out!("\n{below}");
    }
    if older > 0 {
        errln!("{older} older sessions are left out: `--since TIME` shows more, `--json` all.");
    }
    if unread > 0 && !args.json {
        errln!("{unread} lines could not be read and are left out.");
    }
    if args.follow {
        follow(args, names.as_deref(), (followed, begins), shown)
    } else {
        Ok(ExitCode::SUCCESS)
    }
}

const NOTHING: &str = "Nothing is written yet: no loop has run in this project.";

const NOTHING_OF_IT: &str = "Nothing is written of it yet: none of its iterations has ended.";

/// The output so far.
#[derive(Default)]
struct ShownLog {
    as_json: bool,
    /// Receipts of ticked tasks.
    receipts: ReceiptsOfLog,
    /// The title above the last entry.
    title: String,
    /// The beginning of the last entry's loop.
    began: WallTime,
    /// The last printed proofs of this loop.
    proofs: String,
}

impl ShownLog {
    fn show_all(&mut self, all: &[(&LoggedLoop, &Entry)]) -> Result<()> {
        let mut at_end = Scoreboard::default();
        for (place, (logged, entry)) in all.iter().enumerate() {
            let board = self.receipts.at_end(logged, entry);
            self.show(logged, entry, &board)?;
            if board.receipts > 0 {
                at_end = board;
            }
            // The runner writes an entry of its last iteration, and one of its end.
            let is_last = all.get(place + 1).is_none_or(|(next, _)| !std::ptr::eq(*logged, *next));
            if is_last && !self.as_json {
                self.show_proofs(&std::mem::take(&mut at_end));
            }
        }
        Ok(())
    }

    fn show_proofs(&mut self, board: &Scoreboard) {
        let mut proofs = String::new();
        write_proofs(&mut proofs, board);
        if proofs != self.proofs {
            out!("{proofs}");
        }
        self.proofs = proofs;
    }

    fn show(&mut self, logged: &LoggedLoop, entry: &Entry, board: &Scoreboard) -> Result<()> {
        if self.as_json {
            let (driver, session) = match logged.whose.as_str() {
                RUNNER => (LoopDriver::Runner, None),
                TERMINAL => (LoopDriver::Session, None),
                session => (LoopDriver::Session, Some(session)),
            };
            let receipts = self.receipts.with(entry);
            let proofs = ProofsForm::of(board);
            let agents = shares_in(entry).iter().map(Into::into).collect();
            let form = LogForm { agents, proofs, receipts, ..LogForm::of(entry, driver, session) };
            dataln!("{}", forms::line(&form)?);
            return Ok(());
        }
        let title = logged.title();
        let is_next = !logged.is_a_part && logged.began() != self.began;
        if title != self.title || is_next {
            if !self.title.is_empty() {
                outln!();
            }
            outln!("{title}");
            self.proofs.clear();
        }
        (self.title, self.began) = (title, logged.began());
        outln!("{}", logged.line(entry));
        Ok(())
    }
}

/// The names of the loops that are shown; `None` for all.
fn shown_names(args: &LogArgs, loops: &[LoggedLoop]) -> Result<Option<Vec<LoopName>>> {
    // For a session or a change, only its journals were read.
    let has_all = |kind| kind != Some(NameKind::Session) && kind != Some(NameKind::Change);
    let Some(typed) = args.typed().filter(|typed| has_all(typed.kind)) else { return Ok(None) };
    let place = args.which.place();
    let project = place.paths();
    let mut known: Vec<LoopHandle> = loops.iter().map(handle_of).collect();
    // These loops may have no entry yet.
    let changes = place.runners().as_deref().map(changes_with_state).unwrap_or_default();
    known.extend(changes.iter().map(|change| LoopHandle::named([(NameKind::Change, change)])));
    let features = project
        .iter()
        .flat_map(|own| own.features().into_iter().map(|one| LoopHandle::of_feature(own, &one)));
    known.extend(features);
    names_to_show(typed, &known, project.as_ref(), args.follow).map(Some)
}

/// Prints new entries until a signal, or until nobody reads any more.
fn follow(
    args: &LogArgs,
    names: Option<&[LoopName]>,
    (mut followed, mut begins): (Followed, LoopBegins),
    mut shown: ShownLog,
) -> Result<ExitCode> {
    let signals = Signals::listen()?;
    loop {
        if let Some(signal) = signals.wait(LOOK) {
            return Ok(print::ended_by(signal));
        }
        let mut new = Vec::new();
        for source in sources(args)? {
            let entries = followed.new_entries(&source.path);
            new.extend(LoggedLoop::parts(&source.whose, entries));
        }
        LoggedLoop::know_the_begin(&mut new, &mut begins);
        new.retain(|one| is_shown(names, one));
        new.sort_by_key(LoggedLoop::began);
        let mut all: Vec<_> =
            new.iter().flat_map(|one| one.entries.iter().map(move |entry| (one, entry))).collect();
        all.retain(|(one, entry)| args.json || !one.has_said(entry));
        shown.show_all(&all)?;
        if print::is_lost() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// The journals of the named loops.
fn sources(args: &LogArgs) -> Result<Vec<LogSource>> {
    let root = args.which.place().runners();
    let mut all = Vec::new();
    let mut changes = root.as_deref().map(changes_with_state).unwrap_or_default();
    let (session, change) = (args.typed_as(NameKind::Session), args.typed_as(NameKind::Change));
    if let Some(name) = change {
        changes = vec![change_named(name, &changes)?];
    }
    for change in changes {
        if session.is_none() {
            let path = root.as_ref().map(|root| state_folder(root, &change).join("journal.jsonl"));
            all.extend(path.map(|path| LogSource { whose: RUNNER.to_owned(), path }));
        }
    }
    let project = match args.which.place().with_loops() {
        _ if change.is_some() => return Ok(all),
        Ok(project) => project,
        // A project that only runners work on needs no `.specify`.
        Err(_) if !all.is_empty() => return Ok(all),
        Err(error) => return Err(error),
    };
    let loops = Loops::of(&project.root);
    let sessions = loops.journals();
    let asked = sessions.iter().filter(|_| session.is_some());
    let named = |id| LoopHandle::named([(NameKind::Session, id)]);
    let names: Vec<LoopHandle> = asked.map(|id: &String| named(id.as_str())).collect();
    let typed = args.typed().filter(|_| session.is_some());
    let found = typed.map(|typed| typed.find(&names, None)).transpose()?.unwrap_or_default();
    let wanted = found.first().map(|name| with_forerunners(&loops, &name.id));
    if let Some(session) = session.filter(|_| wanted.is_none()) {
        bail!(
            "session `{}` has no journal in `{}`\n{}",
            printable(session),
            project.root.display(),
            did_you_mean(session, &sessions)
        );
    }
    let sessions = sessions.into_iter();
    let meant = sessions.filter(|name| wanted.as_ref().is_none_or(|wanted| wanted.contains(name)));
    let path = |session: &str| read::below(loops.folder(), &[session, "journal.jsonl"]);
    all.extend(meant.map(|session| LogSource { path: path(&session), whose: session }));
    Ok(all)
}

/// The journals to read if no loop is named: the newest, and all that were written since the wanted time. Also the
/// number of the others, 0 if a time or a number of entries is wanted.
fn newest(args: &LogArgs, mut sources: Vec<LogSource>) -> (Vec<LogSource>, usize) {
    let (since, last) = (args.since, args.last.or(Some(BEFORE).filter(|_| args.follow)));
    // The last entries are in as many journals at most.
    let most = NEWEST.max(last.unwrap_or(0));
    let is_all = args.json && since.is_none() && last.is_none();
    if is_all || args.typed().is_some() || sources.len() <= most {
        return (sources, 0);
    }
    let all = sources.len();
    let paths = sources.iter().map(|source| &source.path);
    let mut is_read = loops::newest(paths, most, since).into_iter();
    sources.retain(|_| is_read.next() == Some(true));
    let left = if since.is_some() || last.is_some() { 0 } else { all - sources.len() };
    (sources, left)
}
