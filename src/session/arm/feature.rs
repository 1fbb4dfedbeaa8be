//! Arming: a feature gets its state file, a session its record, and the two are bound.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::engine::tasks::TaskList;
use crate::engine::{Ledger, TerminalReason};
use crate::evidence::commits;
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::feature::STATE;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::settings::Settings;
use crate::feature::snapshot::{FeatureSnapshot, limits_of};
use crate::feature::state::{State, StateError};
use crate::refusal::Refusal;
use crate::session::arguments::feature::Request;
use crate::session::pinned;
use crate::session::reconcile::settle_session;
use crate::session::record::new_record;
use crate::store::closing::end_entry;
use crate::store::journal::Entry;
use crate::store::loops::{
    Claim, Loops, PATIENCE, Record, Session, TERMINAL, VerifyCommands, put_aside,
};
use crate::store::names::{ArmedBy, EndName, JournalEvent};
use crate::store::pins::{Limits, Pin, PinKey, PinState, Pins, SettingsThen};
use crate::store::undo::Undo;
use crate::world;

/// Who arms, and where that session's transcript stands.
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

/// What is said where the one who arms may be the agent.
const NOT_A_PERSON: &str = "It was armed inside of an agent's session, so no check and no Verify command is run for it, and the default limits hold: type /speckit:implement, or run `spool start` in a terminal of your own.";

/// A loop that is armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The feature.
    pub feature: Feature,
    /// Open tasks.
    pub open: usize,
    /// All tasks.
    pub total: usize,
    /// The id of the first open one.
    pub next: String,
    /// Its limits.
    pub limits: Limits,
    /// The lines that show what may be run for it, empty for nothing.
    pub shown: String,
    /// What else a person should know: a file kept aside, a loop taken over.
    pub notes: Vec<String>,
}

/// Arms the loop: writes the state file whole, binds the session, and returns what was armed.
///
/// On any refusal nothing is armed and no file of the feature is changed.
pub fn arm(project: &Project, request: &Request, armer: Armer<'_>) -> Result<Armed, Refusal> {
    let settings = Settings::to_arm(&project.root)?;
    let tracked = armer.is_person() && pinned::trusted(&project.root, &settings)?;
    let feature = match &request.feature {
        Some(name) => project.feature(name)?,
        None => project.current_feature()?.ok_or_else(|| {
            Refusal::new(
                "no feature is selected: neither `.specify/feature.json` nor `.specify/.current-feature` names one",
                "name it: /speckit:implement 001-name",
            )
        })?,
    };
    let (tasks, text) = open_tasks(&feature)?;
    let loops = Loops::of(&project.root);
    if let Some(session) = armer.session {
        // The loop that this one replaces is known by its notes.
        settle_session(&project.root, session)?;
    }
    let _books = loops.feature_lock(&feature.name, &feature.folder, PATIENCE)?;
    let _lock = loops.lock()?;
    let folder = armer.session.map(|session| loops.session(session)).transpose();
    let folder = folder?;
    let found = readable_state(&feature)?;
    // Refused is refused: whatever fails from here on, every file is put back.
    let mut undo = Undo::default();
    let pins = Pins::of(&project.root);
    for path in changed_files(&loops, &feature, folder.as_ref(), pins.as_ref().ok(), armer.session)
    {
        undo.remember(&path).map_err(|error| Refusal::unwritable(&path, &error))?;
    }
    let (mut state, kept_aside) = state_to_start_from(&feature, found, &mut undo)?;
    let mut notes = Vec::from_iter(kept_aside);
    let last = pins.as_ref().ok().and_then(|pins| last_limits(pins, &feature));
    notes.extend(lower_limits(&mut state, &tasks, request, last));
    fill(&mut state, &feature, &tasks, request);
    let mut claim = Claim {
        session: armer.session.map(str::to_owned),
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        armed_at: world::now(),
        commits_from: Some(commits::log_length(&project.root)),
        ..Claim::default()
    };
    let commands =
        if armer.is_person() { verify_commands(&tasks, &text) } else { VerifyCommands::new() };
    let mut pin = pin_of(&feature, &state, &settings, &claim, armer);
    pin.settings.tracked = tracked;
    let shown = pinned::shown_of(&pin, &commands);
    if *armer.by == ArmedBy::Command {
        let name = &feature.name;
        let instead = format!("run `spool start {name}` in a terminal: it prints all of them");
        pinned::fits_a_message(&shown, &instead)?;
    }
    let mut by = armer.by;
    if armer.is_person() {
        let kept = pinned::pin(pins.as_ref(), PinKey::Feature(&feature.name), &pin, &commands);
        if let Some(note) = kept? {
            notes.push(note);
            by = &ArmedBy::Unkept;
            claim.unkept = true;
        }
    } else {
        notes.push(NOT_A_PERSON.to_owned());
    }
    notes.extend(taken_from(&loops, &feature, armer));
    let before = loops.read_claim(&feature.name)?;
    if before.is_none_or(|before| before.closed.is_some()) {
        // Until the claim is open, no stop holds a session, also where nothing can be put back any more.
        let closed = Some(EndName::Stopped);
        loops.write_claim(&Claim { closed, ..claim.clone() })?;
    }
    notes.extend(ended_by(&loops, &feature, armer, &mut undo)?);
    let mut entries = Vec::new();
    if let Some(folder) = &folder {
        let snapshot = FeatureSnapshot::with_state(&feature, &state);
        let armer = Armer { by, ..armer };
        let replaced = bind(project, folder, &claim, armer, &snapshot)?;
        entries.extend(replaced);
    }
    state
        .write(&feature)
        .map_err(|error| Refusal::unwritable(&feature.folder.join(STATE), &error))?;
    if let (Ok(pins), Some(session), true) = (&pins, armer.session, armer.is_person()) {
        // Where the pin was kept, so is this.
        let bound = if claim.unkept { Ok(()) } else { pins.bind(session, &pin) };
        bound?;
    }
    loops.write_claim(&claim)?;
    undo.keep();
    // From here on it is armed, whatever the journal has.
    entries.push(armed_entry(&claim, armer, &pin, &commands));
    let in_journal = loops.note_all(armer.session.unwrap_or(TERMINAL), &entries);
    notes.extend(in_journal.err().map(|error| format!("It is not in the journal: {error}.")));
    let next = tasks.open().next().map(|task| task.id.clone()).unwrap_or_default();
    Ok(Armed {
        open: tasks.open().count(),
        total: tasks.tasks.len(),
        next,
        limits: pin.limits,
        shown,
        feature,
        notes,
    })
}

/// The limits that a person armed this feature with before.
fn last_limits(pins: &Pins, feature: &Feature) -> Option<Limits> {
    pins.read(PinKey::Feature(&feature.name)).ok()?.map(|pin| pin.limits)
}

const MAKE_A_LIST: &str = "make one with spec-kit's tasks command first";

fn open_tasks(feature: &Feature) -> Result<(TaskList, Vec<u8>), Refusal> {
    let path = feature.folder.join(TASKS);
    let shown = path.display();
    let TaskFile { list: tasks, bytes } = task_list::read(&feature.folder).map_err(|problem| {
        Refusal::new(
            format!(
                "feature `{}` has no task list to work through: `{shown}`: {problem}",
                feature.name
            ),
            MAKE_A_LIST,
        )
    })?;
    if tasks.tasks.is_empty() {
        return Err(Refusal::new(
            format!(
                "`{shown}` holds no task: a task is a line such as `- [ ] T001 Create the project`"
            ),
            MAKE_A_LIST,
        ));
    }
    if tasks.open().next().is_none() {
        return Err(Refusal::new(
            format!("nothing is open: all {} tasks in `{shown}` are ticked", tasks.tasks.len()),
            "add a task, or pick another feature",
        ));
    }
    Ok((tasks, bytes))
}

/// What is armed for a feature, as it is kept outside of the project.
fn pin_of(
    feature: &Feature,
    state: &State,
    settings: &Settings,
    claim: &Claim,
    armer: Armer<'_>,
) -> Pin {
    let person = armer.is_person();
    let limits = Limits {
        max_iterations: state.max_global_iterations(),
        max_task_iterations: state.max_task_iterations(),
        recovery: state.recovers(),
    };
    Pin {
        about: feature.name.clone(),
        session: claim.session.clone().unwrap_or_default(),
        armed_at: claim.armed_at,
        armed_by: armer.by.clone(),
        checks: if person { settings.checks.clone() } else { Vec::new() },
        list: format!("{}/{TASKS}", feature.relative),
        limits: if person { limits } else { limits_of(&PinState::Nobody, state) },
        settings: SettingsThen { hash: settings.digest, tracked: false },
        ..Pin::default()
    }
}

/// What is said when another session drives the feature.
fn taken_from(loops: &Loops, feature: &Feature, armer: Armer<'_>) -> Option<String> {
    let claim = loops.claim(&feature.name).filter(|claim| claim.closed.is_none())?;
    let other = claim.session.filter(|other| Some(other.as_str()) != armer.session)?;
    Some(format!("It was driven by session {} before; that one is let go.", printable(&other)))
}

/// The files that arming writes whole.
fn changed_files(
    loops: &Loops,
    feature: &Feature,
    folder: Option<&Session>,
    pins: Option<&Pins>,
    session: Option<&str>,
) -> Vec<PathBuf> {
    let mut paths = vec![feature.folder.join(STATE)];
    let whose = PinKey::Feature(&feature.name);
    paths.extend(pins.map(|pins| pins.path(whose)));
    paths.extend(pins.map(|pins| pins.verify_path(whose)));
    let own = pins.zip(session);
    paths.extend(own.map(|(pins, session)| pins.path(PinKey::Session(session))));
    paths.extend(loops.claim_path(&feature.name));
    paths.extend(folder.map(|folder| folder.path("open-tasks.json")));
    paths.extend(folder.map(|folder| folder.path("loop.json")));
    paths
}

/// Gives up the other feature that this session drives, and says so.
fn ended_by(
    loops: &Loops,
    feature: &Feature,
    armer: Armer<'_>,
    undo: &mut Undo,
) -> std::io::Result<Option<String>> {
    let Some(own) = armer.session.and_then(|session| loops.peek(session)) else {
        return Ok(None);
    };
    if own.is_live_ralph() {
        return Ok(Some("The ralph loop in this session ends with this.".to_owned()));
    }
    if !own.ledger.is_live() || own.about == feature.name {
        return Ok(None);
    }
    let claim = loops.read_claim(&own.about)?.filter(|claim| claim.session == Some(own.session));
    let Some(claim) = claim else {
        return Ok(None);
    };
    undo.remember(&loops.claim_path(&own.about)?)?;
    pinned::remove(&loops.root()?, &claim, undo)?;
    loops.write_claim(&Claim { closed: Some(EndName::Stopped), ..claim })?;
    Ok(Some(format!("The loop of {} in this session ends with this.", own.about)))
}

/// The state file as it is found; one that cannot be opened may be as good as ever and refuses.
fn readable_state(feature: &Feature) -> Result<Result<State, StateError>, Refusal> {
    match State::read(feature) {
        Err(StateError::Unopened { why }) => {
            Err(Refusal::Unreadable(feature.folder.join(STATE), why))
        }
        found => Ok(found),
    }
}

/// The state file there is, without its counters; a corrupt one is kept aside.
fn state_to_start_from(
    feature: &Feature,
    found: Result<State, StateError>,
    undo: &mut Undo,
) -> Result<(State, Option<String>), Refusal> {
    match found {
        Ok(state) => Ok((state, None)),
        Err(StateError::Missing) => Ok((State::default(), None)),
        Err(StateError::Corrupt { why, .. } | StateError::Unopened { why }) => {
            let path = feature.folder.join(STATE);
            let aside = put_aside(&path).map_err(|error| {
                Refusal::new(
                    format!(
                        "`{}` is corrupt ({why}) and cannot be moved aside: {error}",
                        path.display()
                    ),
                    "move it away by hand, then try again",
                )
            })?;
            undo.renamed(&path, &aside);
            let name = aside.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((State::default(), Some(format!("The corrupt state file was kept as {name}."))))
        }
    }
}

/// How many iterations so many tasks get: the schema's default of 100 would end a long list early.
fn enough_iterations(tasks: usize) -> u32 {
    u32::try_from(tasks).unwrap_or(u32::MAX).saturating_mul(3).max(Limits::default().max_iterations)
}

/// Lowers limits of the state file that are above the default, unless a person asks for them now or did so for
/// the loop that still runs: the file may have come with the repository, and the agent can write it. Returns
/// what the person should know of it.
fn lower_limits(
    state: &mut State,
    tasks: &TaskList,
    request: &Request,
    last: Option<Limits>,
) -> Vec<String> {
    let last = last.unwrap_or_default();
    let default = Limits::default();
    // What an earlier arming gave the whole list is not above the default.
    let iterations = enough_iterations(tasks.tasks.len()).max(last.max_iterations);
    let attempts = default.max_task_iterations.max(last.max_task_iterations);
    let mut notes = Vec::new();
    let asked = state.max_global_iterations();
    if request.max_iterations.is_none() && asked > iterations {
        let lower = enough_iterations(tasks.open().count());
        state.set("maxGlobalIterations", lower);
        notes.push(lowered(asked, lower, "iterations", "--max-iterations"));
    }
    let asked = state.max_task_iterations();
    if request.max_task_iterations.is_none() && asked > attempts {
        let lower = default.max_task_iterations;
        state.set("maxTaskIterations", lower);
        notes.push(lowered(asked, lower, "attempts a task", "--max-task-iterations"));
    }
    notes
}

fn lowered(asked: u32, lower: u32, what: &str, flag: &str) -> String {
    format!(
        "The state file asked for {asked} {what}; a limit above the default has to be typed, so it is {lower} now (to change it: `{flag} N`)."
    )
}

/// Fills in the fields that spec 003's schema names; all others stay.
fn fill(state: &mut State, feature: &Feature, tasks: &TaskList, request: &Request) {
    let digits = feature.name.bytes().take_while(u8::is_ascii_digit).count();
    let (id, name) = feature.name.split_at(digits);
    state.set_default("version", 1);
    state.set("featureId", id);
    state.set("name", if id.is_empty() { name } else { name.trim_start_matches('-') });
    state.set("basePath", feature.relative.as_str());
    state.set("phase", "execution");
    state.set("taskIndex", tasks.first_open());
    state.set("totalTasks", tasks.tasks.len());
    state.set("taskIteration", 1);
    // A person armed anew: every task has its attempts again.
    state.set("taskAttempts", Value::Object(Map::new()));
    state.set_default("maxTaskIterations", 5);
    state.set("globalIteration", 1);
    let enough = enough_iterations(tasks.open().count());
    if state.max_global_iterations() == 0 || !state.has("maxGlobalIterations") {
        state.set("maxGlobalIterations", enough);
    }
    state.set("awaitingApproval", false);
    state.set_default("recoveryMode", false);
    state.set_default("maxFixTasksPerOriginal", 3);
    state.set_default("fixTaskMap", Value::Object(Map::new()));
    if let Some(limit) = request.max_iterations {
        state.set("maxGlobalIterations", limit);
    }
    if let Some(limit) = request.max_task_iterations {
        state.set("maxTaskIterations", limit);
    }
    if request.recovery_mode {
        state.set("recoveryMode", true);
    }
}

/// Writes a session's record for a claim and returns the journal's line on the loop whose place it takes;
/// `snapshot` is the feature as it will be when the loop is armed.
fn bind(
    project: &Project,
    folder: &Session,
    claim: &Claim,
    armer: Armer<'_>,
    snapshot: &FeatureSnapshot,
) -> std::io::Result<Option<Entry>> {
    let session = armer.session.unwrap_or_default();
    let mut record = new_record(claim, session, armer.by, armer.transcript);
    record.had_list = true;
    // What the work looks like at the start: the first stop can tell what has changed.
    let fingerprint = Some(snapshot.work_fingerprint(project));
    record.ledger = Ledger { fingerprint, ..Ledger::default() };
    record.tasks_hash = snapshot.tasks_hash();
    folder.save_open_tasks(&snapshot.open_tasks())?;
    // A record that cannot be read is put aside before it is replaced.
    let earlier = folder.record()?;
    earlier.as_ref().map_or(Ok(()), |earlier| Loops::of(&project.root).settle(earlier))?;
    folder.save(&record)?;
    let words = "a feature's loop takes its place";
    let replaced = earlier.filter(Record::is_live_ralph).map(|own| {
        end_entry(&own.about, own.ledger.iterations, &TerminalReason::Stopped, words)
            .with_sums(&own.ledger)
    });
    Ok(replaced)
}

/// The Verify commands of the list as the person who arms it has it before them.
fn verify_commands(tasks: &TaskList, text: &[u8]) -> VerifyCommands {
    let commands = tasks.tasks.iter().filter_map(|task| {
        let command = task.verify_command(text)?;
        Some((task.id.clone(), command))
    });
    commands.collect()
}

fn armed_entry(claim: &Claim, armer: Armer<'_>, pin: &Pin, commands: &VerifyCommands) -> Entry {
    let what = pinned::in_short(pin.checks.len(), commands.len());
    Entry {
        at: claim.armed_at,
        event: JournalEvent::Armed,
        about: claim.about.clone(),
        words: format!("armed by {}: {what}{}", armer.by, pinned::checks_in_words(&pin.checks)),
        ..Entry::default()
    }
}

impl Armed {
    /// Returns the path of the state file that was written.
    pub fn state_path(&self) -> PathBuf {
        self.feature.folder.join(STATE)
    }

    /// Returns the lines that say what was armed, for the model and for people.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "ralph-speckit: the loop is armed: feature {}, {} of {} tasks open, next {}. Limits: {} iterations, {} attempts a task. State: {}",
            self.feature.name,
            self.open,
            self.total,
            self.next,
            self.limits.max_iterations,
            self.limits.max_task_iterations,
            self.state_path().display(),
        );
        for note in &self.notes {
            text.push('\n');
            text.push_str(note);
        }
        text
    }

    /// Returns what a person reads who arms: the same in short, with every command that may be run.
    pub fn for_person(&self) -> String {
        let runs = if self.shown.is_empty() { "No command is run for it.\n" } else { &self.shown };
        let mut text = format!(
            "Ralph-speckit: the loop of {} is armed, {} of {} tasks open, at most {} iterations.\n{runs}",
            self.feature.name, self.open, self.total, self.limits.max_iterations
        );
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}
