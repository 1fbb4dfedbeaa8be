//! Arming a loop, in one sequence for both kinds: lock, remember every file, write, journal. A file for each kind says
//! what is written.

pub mod exclude;
pub mod feature;
mod gate;
mod state;
pub mod task;

use std::io;
use std::path::{Path, PathBuf};

use crate::engine::{Demand, ended_by};
use crate::feature::project::{Feature, printable};
use crate::refusal::Refusal;
use crate::session::observe::count_open_turn;
use crate::session::pinned;
use crate::store::closing::{EndNotice, end_pin, not_noted};
use crate::store::journal::Entry;
use crate::store::lock::Lock;
use crate::store::loops::{Loops, PATIENCE, Record, SessionFolder, TERMINAL, VerifyCommands};
use crate::store::names::{ArmedBy, LoopKind};
use crate::store::pins::{Pin, PinKey, Pins};
use crate::store::undo::Undo;
use crate::system::processes::is_alive;

/// Tells an agent who may replace a person's loop.
const ONLY_A_PERSON: &str = "only a person replaces it: /speckit:implement, or `spool start` in a terminal; work on, or end your turn; where its session is gone, `spool adopt` continues it";

#[derive(Clone, Copy, Debug)]
pub struct Armer<'a> {
    /// `None` for a terminal: the first session that stops takes the loop.
    pub session: Option<&'a str>,
    pub by: &'a ArmedBy,
    pub transcript: Option<&'a Path>,
}

impl Armer<'_> {
    /// A person arms, and sees what may run.
    fn is_person(self) -> bool {
        matches!(self.by, ArmedBy::Command | ArmedBy::Terminal)
    }
}

/// The texts about an armed loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The feature's name, or the first words of the task.
    pub about: String,
    pub for_agent: String,
    pub for_person: String,
    /// The commands that may run; empty for none.
    pub shown: String,
}

/// An arming under way. Refused means unchanged: dropped before [`Arming::finish`], the arming puts every file back,
/// and then releases its locks.
struct Arming<'a> {
    armer: Armer<'a>,
    loops: Loops,
    pins: io::Result<Pins>,
    undo: Undo,
    entries: Vec<Entry>,
    /// `None` for a terminal.
    folder: Option<SessionFolder>,
    _locks: (Lock, Option<Lock>),
}

impl<'a> Arming<'a> {
    /// Takes the locks of feature, project and session, in the usual order.
    fn begin(root: &Path, armer: Armer<'a>, own: Option<&Feature>) -> Result<Self, Refusal> {
        let loops = Loops::of(root);
        if !armer.is_person() {
            refuse_agent(&loops, armer.session, own.map_or("", |of| &of.name))?;
        }
        let own = own.map(|of| loops.feature_lock(&of.name, &of.folder, PATIENCE)).transpose()?;
        let locks = (loops.lock()?, own);
        let folder = armer.session.map(|session| loops.session(session)).transpose()?;
        let pins = Pins::of(root);
        // The same error comes up again when the pin is written.
        let _made = pins.as_ref().map(Pins::make);
        Ok(Self {
            armer,
            pins,
            loops,
            undo: Undo::default(),
            entries: Vec::new(),
            folder,
            _locks: locks,
        })
    }

    fn remember(&mut self, paths: &[PathBuf]) -> Result<(), Refusal> {
        for path in paths {
            self.undo.remember(path).map_err(|error| Refusal::unwritable(path, &error))?;
        }
        Ok(())
    }

    /// The session's record before this arming. A record that cannot be parsed is moved aside before it is replaced.
    fn earlier(&self) -> io::Result<Option<Record>> {
        self.folder.as_ref().map_or(Ok(None), SessionFolder::record_or_aside)
    }

    /// Stores the Verify commands for [`Arming::open`]. Returns the lines about commands that may run, and a note if
    /// nothing can be stored. Refuses commands that a session cannot show in full; `instead` names the way out.
    /// `typed`: checks in the command line itself.
    fn keep_commands(
        &mut self,
        key: Option<PinKey<'_>>,
        pin: &Pin,
        commands: &VerifyCommands,
        (typed, instead): (usize, &str),
    ) -> Result<(String, Option<String>), Refusal> {
        let shown = pinned::shown_of(pin, commands, typed);
        if *self.armer.by == ArmedBy::Command {
            pinned::fits_a_message(&shown, instead)?;
        }
        if !self.armer.is_person() {
            return Ok((shown, None));
        }
        let unkept = pinned::keep_commands(self.pins.as_ref(), key, pin, commands)?;
        if unkept.is_some() {
            self.armer.by = &ArmedBy::Unkept;
        }
        Ok((shown, unkept))
    }

    /// Keeps all changes: the loop is armed, even if the journal cannot be written. Returns the person's line about
    /// missing journal entries; empty without any.
    fn finish(self, entry: Entry) -> String {
        let Self { armer, loops, undo, mut entries, .. } = self;
        undo.keep();
        entries.push(entry);
        not_noted(loops.note_all(armer.session.unwrap_or(TERMINAL), &entries))
    }
}

/// Refuses an agent that would replace a person's loop: in this session, or on the feature of this name, also by a runner.
/// A loop in this session that has just ended counts, too: the person has to hear of the end first.
pub fn refuse_agent(loops: &Loops, session: Option<&str>, name: &str) -> Result<(), Refusal> {
    let own = session.and_then(|session| loops.peek(session));
    let own = own.filter(|own| own.ledger.is_live() || (own.unnotified && own.moved_to.is_empty()));
    let run = loops.pins().read(PinKey::Change(name)).ok().flatten();
    let run = run.filter(|pin| is_alive(pin.process));
    let pins = [own.map(|own| own.bare_pin()), loops.live_pin(name), run];
    let by_person = |pin: &Pin| !matches!(pin.armed_by, ArmedBy::Session | ArmedBy::Claim);
    let Some(pin) = pins.into_iter().flatten().find(by_person) else { return Ok(()) };
    let what = format!("a person armed the loop of {}", printable(&pin.about));
    Err(Refusal::new(what, ONLY_A_PERSON))
}

/// Ends a session's live loop to make room for another one. Returns the journal entry about the end. The new record
/// overwrites the old one.
pub fn replace(loops: &Loops, live: &Record, undo: &mut Undo) -> io::Result<Entry> {
    let mut over = live.clone();
    count_open_turn(&mut over);
    over.end(ended_by(&Demand::Stopped), "another loop takes its place", EndNotice::Done);
    if live.kind != LoopKind::Task {
        loops.pins().files(&live.about).iter().try_for_each(|path| undo.remember(path))?;
    }
    end_pin(&loops.pins(), &over)?;
    Ok(over.end_entry())
}
