//! `spool log`: the journal, for people.

mod follow;
mod lines;
mod receipts;
mod since;
mod story;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::builder::Resettable;

use super::context::{Where, whole};
use super::handle::{LoopHandle, LoopName, NameKind};
use super::names::TypedName;
use super::selection::WhichLoop;
use crate::engine::scoreboard::Scoreboard;
use crate::feature::project::is_feature_name;
use crate::forms;
use crate::forms::log::LogForm;
use crate::forms::loops::LoopDriver;
use crate::forms::proofs::ProofsForm;
use crate::print;
use crate::runner::signals::Signals;
use crate::runner::state::{changes_with_state, shares_in, state_folder};
use crate::runner::story::WhichIteration;
use crate::session::report::feature::write_proofs;
use crate::store::journal::Entry;
use crate::store::loops::{self, Loops, RUNNER, TERMINAL};
use crate::store::read::{self, Problem};
use crate::text;
use crate::world::WallTime;
use follow::Followed;
use lines::{LoggedEntry, LoggedLoop};
use receipts::ReceiptsOfLog;

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

type ShownEntry<'a> = (LoggedLoop<'a>, &'a LoggedEntry);

/// The path of a journal, and its session; `RUNNER` or `TERMINAL` if no session writes it.
type LogSource = (PathBuf, String);

impl LogArgs {
    /// How many of the last entries are wanted; `None` for all.
    fn last(&self) -> Option<usize> {
        self.last.or(Some(BEFORE).filter(|_| self.follow))
    }

    /// A journal of another owner than the named session or runner is not read.
    fn may_show(&self, names: &[LoopName], (_, whose): &LogSource) -> bool {
        match self.which.typed().and_then(|typed| typed.kind) {
            Some(NameKind::Session) => handle_of(whose, "").is_one_of(names),
            Some(NameKind::Change) => whose == RUNNER,
            _ => true,
        }
    }
}

/// Prints the journals of all sessions and runners loop by loop, in the order of their beginnings.
pub fn run(args: &LogArgs) -> Result<ExitCode> {
    let (place, typed) = (&args.which.place, args.which.typed());
    let change = typed.map(|typed| typed.text);
    let which = args.iteration.map(WhichIteration::Number);
    if let Some(which) = which.or(args.failed.then_some(WhichIteration::LastFailed)) {
        return story::show(place, change, which, args.json);
    }
    if args.summary {
        return summary::show(place, change, args.json);
    }
    let mut followed = Followed::new(args.follow);
    let mut sources = sources(place)?;
    // The owner of a journal tells the session, without a look into the journal.
    let of_session = typed.filter(|typed| typed.kind == Some(NameKind::Session));
    let owners = || sources.iter().map(|(_, whose)| handle_of(whose, "")).collect();
    let names = of_session.map(|typed| names_to_show(typed, owners(), place, args.follow));
    let mut names = names.transpose()?.unwrap_or_default();
    sources.retain(|source| args.may_show(&names, source));
    let (sources, older) = newest(args, sources, &mut followed);
    let mut entries = Vec::new();
    read_new(&mut entries, sources, &mut followed);
    let loops = LoggedLoop::all(&mut entries);
    if let Some(typed) = typed.filter(|_| of_session.is_none()) {
        let logged = loops.iter().map(|one| handle_of(one.whose(), one.about())).collect();
        names = names_to_show(typed, logged, place, args.follow)?;
    }
    let mut all = wanted(args, &names, &loops);
    all.drain(..args.last().map_or(0, |last| all.len().saturating_sub(last)));
    let receipts = ReceiptsOfLog::of(place.paths().map(|own| own.root), args.follow);
    let mut shown = ShownLog { as_json: args.json, receipts, ..ShownLog::default() };
    shown.show_all(&mut all)?;
    // A runner writes the first entry of its journal after an iteration.
    followed.unopened.retain(|_, problem| !matches!(problem, Problem::Missing));
    for (path, problem) in &followed.unopened {
        errln!("the journal `{}` cannot be read: {problem}", text::line(&path.to_string_lossy()));
    }
    if all.is_empty() && followed.unopened.is_empty() && !args.follow && !args.json {
        let is_empty = !loops.iter().any(|one| is_shown(&names, *one));
        match (is_empty, typed.is_some()) {
            (true, true) => outln!("{NOTHING_OF_IT}"),
            // A runner may have been killed before its first iteration ended.
            (true, false) => match summary::below(place, None) {
                killed if killed.is_empty() => outln!("{NOTHING}"),
                killed => out!("{killed}"),
            },
            (false, _) => outln!("Nothing happened in that time."),
        }
    }
    let is_change = typed.is_some_and(|typed| typed.kind == Some(NameKind::Change));
    let change = change.filter(|_| is_change && !args.json && !args.follow);
    let below = change.map(|id| summary::below(place, Some(id))).unwrap_or_default();
    if !below.is_empty() {
        out!("\n{below}");
    }
    if older > 0 {
        errln!("{older} older sessions are left out: `--since TIME` shows more, `--json` all.");
    }
    if followed.unread > 0 && !args.json {
        errln!("{} lines could not be read and are left out.", followed.unread);
    }
    if args.follow {
        follow(args, &names, (followed, entries), shown)
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
    /// Loop by loop for a person, in the order of time for a program.
    fn show_all(&mut self, all: &mut [ShownEntry<'_>]) -> Result<()> {
        all.sort_by_key(|(one, _)| Some(one.began()).filter(|_| !self.as_json));
        let mut at_end = Scoreboard::default();
        for (place, (logged, entry)) in all.iter().enumerate() {
            let board = self.receipts.at_end(*logged, entry);
            self.show(*logged, &entry.entry, &board)?;
            if board.receipts > 0 {
                at_end = board;
            }
            // The runner writes an entry of its last iteration, and one of its end.
            let is_last = all
                .get(place + 1)
                .is_none_or(|(next, _)| !std::ptr::eq(logged.entries, next.entries));
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

    fn show(&mut self, logged: LoggedLoop<'_>, entry: &Entry, board: &Scoreboard) -> Result<()> {
        if self.as_json {
            let (driver, session) = match logged.whose() {
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
        if title != self.title || logged.began() != self.began {
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

/// Adds the entries since the last look.
fn read_new(all: &mut Vec<LoggedEntry>, sources: Vec<LogSource>, followed: &mut Followed) {
    for (path, whose) in sources {
        let logged = |entry| LoggedEntry { whose: whose.clone(), entry, is_old: false };
        all.extend(followed.new_entries(&path).into_iter().map(logged));
    }
}

/// The new entries of these loops that a person or a program wants, in the order of time.
fn wanted<'a>(args: &LogArgs, names: &[LoopName], loops: &[LoggedLoop<'a>]) -> Vec<ShownEntry<'a>> {
    let is_wanted = |entry: &LoggedEntry| {
        !entry.is_old
            && args.since.is_none_or(|since| entry.entry.at >= since)
            && (args.json || !entry.is_said())
    };
    let loops = loops.iter().copied().filter(|one| is_shown(names, *one));
    let entries = loops.flat_map(|one| one.entries.iter().map(move |entry| (one, entry)));
    let mut all: Vec<_> = entries.filter(|(_, entry)| is_wanted(entry)).collect();
    all.sort_by_key(|(_, entry)| entry.entry.at);
    all
}

/// Prints new entries until a signal, or until nobody reads any more.
fn follow(
    args: &LogArgs,
    names: &[LoopName],
    (mut followed, mut entries): (Followed, Vec<LoggedEntry>),
    mut shown: ShownLog,
) -> Result<ExitCode> {
    let signals = Signals::listen()?;
    loop {
        if let Some(signal) = signals.wait(LOOK) {
            return Ok(print::ended_by(signal));
        }
        let known = entries.len();
        for entry in &mut entries {
            entry.is_old = true;
        }
        let mut sources = sources(&args.which.place)?;
        sources.retain(|source| args.may_show(names, source));
        read_new(&mut entries, sources, &mut followed);
        if entries.len() > known {
            let loops = LoggedLoop::all(&mut entries);
            shown.show_all(&mut wanted(args, names, &loops))?;
        }
        if print::is_lost() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// The journals of runners and of sessions.
fn sources(place: &Where) -> Result<Vec<LogSource>> {
    let mut all = Vec::new();
    if let Some(root) = place.runners() {
        let path = |change: String| state_folder(&root, &change).join("journal.jsonl");
        let paths = changes_with_state(&root).into_iter().map(path);
        all.extend(paths.map(|path| (path, RUNNER.to_owned())));
    }
    match place.with_loops() {
        Ok(project) => {
            let loops = Loops::of(&project.root);
            let path = |session: &str| read::below(loops.folder(), &[session, "journal.jsonl"]);
            let sessions = loops.journals().into_iter();
            all.extend(sessions.map(|session| (path(&session), session)));
        }
        // A project that only runners work on needs no `.specify`.
        Err(_) if !all.is_empty() => {}
        Err(error) => return Err(error),
    }
    Ok(all)
}

/// The journals to read if no loop is named: the newest, and all that were written since the wanted time. Also the
/// number of the others, 0 if a time or a number of entries is wanted.
fn newest(
    args: &LogArgs,
    mut sources: Vec<LogSource>,
    followed: &mut Followed,
) -> (Vec<LogSource>, usize) {
    let (since, last) = (args.since, args.last());
    // The last entries are in as many journals at most.
    let most = NEWEST.max(last.unwrap_or(0));
    let is_all = args.json && since.is_none() && last.is_none();
    if is_all || args.which.typed().is_some() || sources.len() <= most {
        return (sources, 0);
    }
    let all = sources.len();
    let paths = sources.iter().map(|(path, _)| path);
    let mut is_read = loops::newest(paths, most, since).into_iter();
    sources.retain(|(path, _)| {
        let is_read = is_read.next() == Some(true);
        if !is_read && args.follow {
            followed.skip(path);
        }
        is_read
    });
    let left = if since.is_some() || last.is_some() { 0 } else { all - sources.len() };
    (sources, left)
}

/// The names of the loops that are shown, among `all` that are logged and those that have no entry yet. An error for
/// several candidates, or if no loop has the name and none is waited for. A session's name includes the sessions that
/// its loop was taken over from.
fn names_to_show(
    typed: TypedName<'_>,
    mut all: Vec<LoopHandle>,
    place: &Where,
    waits: bool,
) -> Result<Vec<LoopName>> {
    let project = place.paths();
    all.extend(LoopHandle::all(project.as_ref(), place.runners().as_deref())?);
    let mut names = typed.find(&all, project.as_ref())?;
    if names.is_empty() {
        if !waits {
            return Err(typed.unknown(&all));
        }
        let kinds = [NameKind::Session, NameKind::Feature, NameKind::Change, NameKind::Task];
        let meant = kinds.into_iter().filter(|kind| typed.kind.is_none_or(|meant| meant == *kind));
        return Ok(meant.map(|kind| LoopName::new(kind, typed.text)).collect());
    }
    let loops = project.map(|project| Loops::of(&project.root));
    let is_session = |name: &&LoopName| name.kind == NameKind::Session;
    let mut session = names.iter().find(is_session).map(|name| name.id.clone());
    while let (Some(id), Some(loops)) = (session, &loops) {
        session = loops.peek(&id).and_then(|record| record.adopted).map(|from| from.from);
        let name = session.as_deref().map(|from| LoopName::new(NameKind::Session, from));
        match name.filter(|name| !names.contains(name)) {
            Some(name) => names.push(name),
            None => break,
        }
    }
    Ok(names)
}

/// Whether the loop has one of these names; no name stands for all.
fn is_shown(names: &[LoopName], logged: LoggedLoop<'_>) -> bool {
    names.is_empty() || handle_of(logged.whose(), logged.about()).is_one_of(names)
}

/// The names in a journal: its owner, and what its entries are about.
fn handle_of(whose: &str, about: &str) -> LoopHandle {
    let kind = match whose {
        RUNNER => NameKind::Change,
        _ if is_feature_name(about) && !about.contains(' ') => NameKind::Feature,
        _ => NameKind::Task,
    };
    let session = if [RUNNER, TERMINAL].contains(&whose) { "" } else { whose };
    LoopHandle::named([(NameKind::Session, session), (kind, about)])
}
