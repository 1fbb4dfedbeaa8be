//! Arming a loop. The sequence is one for both kinds: lock, remember every file, write, journal. What a
//! feature's loop and a task's write is in a file of its own.

mod exclude;
pub mod feature;
mod gate;
mod state;
pub mod task;

use std::io;
use std::path::{Path, PathBuf};

use crate::engine::TerminalReason;
use crate::feature::project::Feature;
use crate::refusal::Refusal;
use crate::session::pinned;
use crate::store::closing::{end_entry, not_noted, unnoted};
use crate::store::journal::Entry;
use crate::store::lock::Lock;
use crate::store::loops::{Loops, PATIENCE, Record, Session, TERMINAL, VerifyCommands};
use crate::store::names::{ArmedBy, LoopKind};
use crate::store::pins::{Pin, PinKey, Pins};
use crate::store::undo::Undo;

/// Who arms, and where that session's transcript is.
#[derive(Clone, Copy, Debug)]
pub struct Armer<'a> {
    /// The session, or `None` from a terminal: the first session that stops takes the loop.
    pub session: Option<&'a str>,
    /// How it is armed.
    pub by: &'a ArmedBy,
    /// The session's transcript.
    pub transcript: Option<&'a Path>,
}

impl Armer<'_> {
    /// Whether a person arms, who sees what may be run.
    fn is_person(self) -> bool {
        matches!(self.by, ArmedBy::Command | ArmedBy::Terminal)
    }
}

/// What is said of a loop that is armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The feature's name, or the first words of the task.
    pub about: String,
    /// What the agent has to know.
    pub for_agent: String,
    /// The lines for the person.
    pub for_person: String,
    /// The lines that show what may be run for it, empty for nothing.
    pub shown: String,
}

/// An arming under way. Refused is refused: dropped before [`Arming::finish`], it puts every file back, and only
/// then are the locks released.
struct Arming<'a> {
    armer: Armer<'a>,
    /// How the loop was armed, as its record says.
    by: &'a ArmedBy,
    loops: Loops,
    pins: io::Result<Pins>,
    undo: Undo,
    entries: Vec<Entry>,
    /// The session's folder, `None` from a terminal.
    folder: Option<Session>,
    _locks: (Lock, Option<Lock>),
}

impl<'a> Arming<'a> {
    /// Takes the locks: that of a feature first, then the project's, then the session's, here as everywhere.
    fn begin(root: &Path, armer: Armer<'a>, its: Option<&Feature>) -> Result<Self, Refusal> {
        let loops = Loops::of(root);
        let its = its.map(|it| loops.feature_lock(&it.name, &it.folder, PATIENCE)).transpose()?;
        let locks = (loops.lock()?, its);
        let folder = armer.session.map(|session| loops.session(session)).transpose()?;
        let pins = Pins::of(root);
        // Where the place cannot be made, that is said with what cannot be kept there.
        let _made = pins.as_ref().map(Pins::make);
        Ok(Self {
            armer,
            by: armer.by,
            pins,
            loops,
            undo: Undo::default(),
            entries: Vec::new(),
            folder,
            _locks: locks,
        })
    }

    /// Remembers the files that will be written.
    fn remember(&mut self, paths: &[PathBuf]) -> Result<(), Refusal> {
        for path in paths {
            self.undo.remember(path).map_err(|error| Refusal::unwritable(path, &error))?;
        }
        Ok(())
    }

    /// The session's record before this arming. One that cannot be taken apart is moved aside before it is replaced.
    fn earlier(&self) -> io::Result<Option<Record>> {
        self.folder.as_ref().map_or(Ok(None), Session::record_or_aside)
    }

    /// Ends the live loop that the session has; its record is overwritten by the new one.
    fn replace(&mut self, live: &Record) -> io::Result<()> {
        self.entries.push(replace(&self.loops, live, &mut self.undo)?);
        Ok(())
    }

    /// Keeps the Verify commands of what a person arms, for [`Arming::open`]. Returns the lines that show what may be run, and
    /// what the person has to know where nothing can be kept. What a command in a session arms and cannot show is refused;
    /// `instead` says what to do. `typed` is how many checks the command itself has.
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
            self.by = &ArmedBy::Unkept;
        }
        Ok((shown, unkept))
    }

    /// Leaves everything in place: the loop is armed, whatever the journal has. Returns the line for the person on
    /// entries that are not in the journal, empty where they are.
    fn finish(self, entry: Entry) -> String {
        let Self { armer, loops, undo, mut entries, .. } = self;
        undo.keep();
        entries.push(entry);
        not_noted(unnoted(loops.note_all(armer.session.unwrap_or(TERMINAL), &entries)))
    }
}

/// Gives up the feature of the live loop that a session has, so that another one can take its place, and returns
/// the journal's line on its end; its record is overwritten by the new one.
pub fn replace(loops: &Loops, live: &Record, undo: &mut Undo) -> io::Result<Entry> {
    let reason = TerminalReason::Stopped;
    let entry =
        end_entry(&live.about, live.ledger.iterations, &reason, "another loop takes its place");
    if live.kind != LoopKind::Task
        && let Some(pin) = loops.found(&live.about)?.filter(|pin| pin.is_live_in(&live.session))
    {
        loops.pins().files(&live.about).iter().try_for_each(|path| undo.remember(path))?;
        loops.save_pin(&pin.closed(reason, &entry.words))?;
    }
    Ok(entry.with_sums(&live.ledger))
}
