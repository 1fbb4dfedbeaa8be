//! `Stop`: the agent wants to end its turn. What is common to all loops; each kind has its own file.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::{notices, stop_feature, stop_task};
use crate::checks::run_each;
use crate::claude::answer::Answer;
use crate::claude::input::Event;
use crate::engine::{CheckResult, Pending, Verdict, Waiting};
use crate::evidence::progress::Moment;
use crate::ralph::pause;
use crate::ralph::words::title;
use crate::speckit::armed;
use crate::speckit::project::Project;
use crate::speckit::reconcile::reconcile;
use crate::speckit::settings::{Settings, SettingsError};
use crate::store::journal::Entry;
use crate::store::loops::{Loops, Marks, RALPH, Record, is_session_id};
use crate::store::pins::{Pin, Pins, Standing, Whose};
use crate::world::{self, Deadline};

/// How long all checks together may take; `hooks.json` gives the hook a little more.
pub const CHECKS_LIMIT: Duration = Duration::from_mins(25);

/// How often notes are put right that are changed while they are read.
const TRIES: usize = 3;

/// Returns the answer to a stop: silence, a block, or a line that says why the loop ended.
///
/// Until the deadline it waits for those who are writing the feature's files.
pub fn answer(event: &Event, deadline: Deadline) -> Answer {
    let Some(project) = project(event) else {
        return Answer::silent();
    };
    let (settings, broken) = match Settings::read(&project.root) {
        Ok(settings) if !settings.enabled => {
            return switched_off(&project, event).unwrap_or_default();
        }
        Ok(settings) => (settings, None),
        // What was armed still holds; the person is told.
        Err(error) => (Settings { digest: error.digest, ..Settings::default() }, Some(error)),
    };
    let mut answer = match judge(&project, &settings, broken.as_ref(), event, deadline) {
        Ok(answer) => answer,
        Err(error) => {
            let message = format!(
                "Ralph-speckit allows the stop: its notes cannot be read or written: {error}. Fix that; the loop continues with your next prompt."
            );
            Answer::tell(&message).log(&message)
        }
    };
    if let Some(error) = broken {
        answer = answer.log(&error.one_line());
    }
    answer
}

/// Tells the person once of a live loop that the settings switch off; `None` where there is none.
fn switched_off(project: &Project, event: &Event) -> Option<Answer> {
    let (root, session) = (&project.root, event.session());
    let loops = Loops::of(root);
    if !is_session_id(session) {
        return None;
    }
    let is_pinned = is_pinned_in(project, session);
    if !is_pinned && !loops.knows(session) {
        return None;
    }
    let standing =
        if is_pinned { armed::of_session(root, session, None) } else { Standing::Nobody };
    let was_told = |pin: &Pin| pin.told.is_some_and(|told| told.switched_off);
    if standing.pin().is_some_and(was_told) {
        return None;
    }
    let transcript = event.transcript();
    // What cannot be put right now is put right at the next stop that counts.
    let wrong = match standing.pin() {
        Some(_) => reconcile(root, session, transcript.as_deref()).ok().flatten(),
        None => None,
    };
    let live = |record: &Record| record.ledger.is_live();
    let untold = |record: &Record| standing.pin().is_some() || !record.told.switched_off;
    loops.peek(session).filter(live).filter(untold)?;
    let folder = loops.session(session).ok()?;
    let mut record = folder.record().ok().flatten().filter(live)?;
    armed::recall_told(&mut record, &standing);
    let notice = notices::switched_off(&mut record)?;
    // What cannot be noted is told again at the next stop.
    let _ = folder.note(&notice.entry(&record)).and_then(|()| folder.save(&record));
    armed::keep(root, &record, &standing, &Verdict::Wait(Vec::new()));
    let mut notices = vec![notice];
    notices.extend(wrong.map(notices::tampered));
    Some(notices::told(Answer::silent(), &notices))
}

fn project(event: &Event) -> Option<Project> {
    let session = event.session();
    let around = |folder: &Path| {
        if is_session_id(session) {
            Project::around_session(folder, session)
        } else {
            Project::around(folder)
        }
    };
    let cwd = event.cwd();
    let found = cwd.as_deref().and_then(around);
    let knows_it = found.as_ref().is_some_and(|project| knows(project, session));
    if knows_it && found.as_ref().is_some_and(|project| is_pinned_in(project, session)) {
        return found;
    }
    // The agent may have gone elsewhere: its loop is where the session was started. Most often that
    // is one of the folders that were just looked at.
    let start = world::folder("CLAUDE_PROJECT_DIR")
        .filter(|start| cwd.is_none_or(|cwd| !Project::looks_at(&cwd, start)));
    let start = start.as_deref().and_then(around);
    let start = start.or_else(|| armed_in_start(event));
    match found {
        None => start,
        Some(near) => {
            // Notes alone can be made in any folder; what a person armed is found where they armed it.
            let has_its = |start: &Project| {
                is_pinned_in(start, session) || (!knows_it && knows(start, session))
            };
            start.filter(has_its).or(Some(near))
        }
    }
}

/// Returns whether a stop that names no session may be one in a loop: its project has, or had, some.
pub fn may_be_in_a_loop(event: &Event) -> bool {
    project(event).is_some_and(|project| Loops::of(&project.root).folder().is_dir())
}

/// Returns the answer to a stop of which nobody knows whose it is: it is allowed, and told where a loop lives
/// that it may have ended the turn of.
pub fn unheard(event: &Event) -> Answer {
    let Some(project) = project(event) else { return Answer::silent() };
    let loops = Loops::of(&project.root);
    let records = loops.sessions().into_iter().filter_map(|session| loops.peek(&session));
    let live: Vec<Record> = records.filter(|record| record.ledger.is_live()).collect();
    if live.is_empty() {
        return Answer::silent();
    }
    let words = "a stop in this project was allowed unseen: Claude Code did not hand over its event in time";
    for record in live {
        let entry = Entry {
            at: world::now(),
            event: "unseen-stop".to_owned(),
            about: record.about.clone(),
            iteration: record.ledger.iterations,
            words: words.to_owned(),
            ..Entry::default()
        };
        // What cannot be noted is told all the same.
        let _ = loops.note(&record.session, &entry);
    }
    Answer::tell(&format!(
        "Ralph-speckit: {words}. A loop of this session stays armed: type anything to continue it."
    ))
}

/// The folder that the session was started in, where a person has armed a loop there: a ralph loop needs no
/// project, and its notes may have been taken away.
fn armed_in_start(event: &Event) -> Option<Project> {
    let root = world::folder("CLAUDE_PROJECT_DIR").or_else(|| event.cwd())?;
    let root = root.canonicalize().ok()?;
    Some(Project { root }).filter(|project| is_pinned_in(project, event.session()))
}

fn knows(project: &Project, session: &str) -> bool {
    is_session_id(session) && Loops::of(&project.root).knows(session)
}

/// Whether the notes of this session's loop there may have been taken away.
fn is_pinned_in(project: &Project, session: &str) -> bool {
    is_session_id(session) && project.has_pin_of(session)
}

fn judge(
    project: &Project,
    settings: &Settings,
    broken: Option<&SettingsError>,
    event: &Event,
    deadline: Deadline,
) -> io::Result<Answer> {
    let session = event.session();
    if !is_session_id(session) {
        let line = "The event names no usable session: the agent is let go";
        return Ok(Answer::silent().log(line));
    }
    let loops = Loops::of(&project.root);
    let scene = Scene { project, settings, broken, loops: &loops, event, deadline };
    if let Some(answer) = own_loop(&scene, None)? {
        return Ok(answer);
    }
    stop_feature::unowned(&scene)
}
/// Where a stop happens.
pub struct Scene<'a> {
    pub project: &'a Project,
    pub settings: &'a Settings,
    /// What is wrong with the settings, `None` when nothing is.
    pub broken: Option<&'a SettingsError>,
    pub loops: &'a Loops,
    pub event: &'a Event,
    pub deadline: Deadline,
}
/// Checks that were run for a stop.
pub struct Ran {
    /// What was to be judged before they ran.
    pub pending: Pending,
    /// Their results, in the order of the contract.
    pub results: Vec<CheckResult>,
    /// The times of the iterations, with what the look at the files has left in them.
    pub marks: Marks,
}

impl Scene<'_> {
    /// Returns when this stop looks at the files.
    pub fn moment(&self, record: &Record) -> Moment {
        Moment { seen_at: record.seen_at.max(record.armed_at), deadline: self.deadline }
    }
}

/// What became of a stop in the loop that this session has.
pub enum Turn {
    /// It was judged; `None` where the session has no loop that lives.
    Judged(Option<Answer>),
    /// The loop's notes say something else than what a person armed, and count for nothing.
    Contradicted,
}

/// The loop that this session already has; `None` when it has none that lives.
///
/// `ran` are the checks that were run for this stop.
pub fn own_loop(scene: &Scene<'_>, mut ran: Option<Ran>) -> io::Result<Option<Answer>> {
    let mut notices = Vec::new();
    for _ in 0..TRIES {
        match own_turn(scene, ran.take())? {
            // The notes were taken away while they were read.
            Turn::Judged(None) if is_pinned(scene)? => {}
            Turn::Judged(answer) if notices.is_empty() => return Ok(answer),
            Turn::Judged(answer) => {
                return Ok(Some(notices::told(answer.unwrap_or_default(), &notices)));
            }
            Turn::Contradicted => notices.extend(reconciled(scene)?),
        }
    }
    Err(io::Error::other(format!(
        "something changes `{}` while it is read",
        scene.loops.folder().display()
    )))
}

/// Puts this session's notes right, and returns what the person is told of it.
fn reconciled(scene: &Scene<'_>) -> io::Result<Option<notices::Notice>> {
    let transcript = scene.event.transcript();
    let root = &scene.project.root;
    let wrong = reconcile(root, scene.event.session(), transcript.as_deref())?;
    Ok(wrong.map(notices::tampered))
}

fn own_turn(scene: &Scene<'_>, ran: Option<Ran>) -> io::Result<Turn> {
    let session = scene.event.session();
    let known = scene.loops.knows(session);
    let record = if known { scene.loops.peek(session) } else { None };
    let to_judge = |record: &Record| record.ledger.is_live() || record.untold;
    let Some(record) = record.filter(to_judge) else {
        if is_pinned(scene)? {
            return Ok(Turn::Contradicted);
        }
        if known {
            // One that cannot be read is looked at under the lock, and put aside.
            scene.loops.session(session)?.record()?;
        }
        return Ok(Turn::Judged(None));
    };
    if record.kind == RALPH {
        return stop_task::own_turn(scene, &record, ran);
    }
    stop_feature::own_turn(scene, &record, ran)
}

/// Whether a person armed a loop for this session that is not over, whatever its notes say.
fn is_pinned(scene: &Scene<'_>) -> io::Result<bool> {
    let (root, session) = (&scene.project.root, scene.event.session());
    if !Pins::has(root, Whose::Session(session)) {
        return Ok(false);
    }
    match armed::of_session(root, session, None) {
        Standing::Armed(_) => Ok(true),
        Standing::Unknown(why) => Err(io::Error::other(why)),
        Standing::Ended(_) | Standing::Lost(_) | Standing::Nobody => Ok(false),
    }
}

/// Runs the checks of this session's loop and returns their results, with what was observed before. The
/// journal names the one that runs, and a lock tells as long as it does: `spool status` shows it, because
/// the client's own line cannot change.
pub fn run_checks(scene: &Scene<'_>, pending: Pending, record: &Record) -> Ran {
    let session = scene.event.session();
    let _running = scene.loops.checking(session);
    let mut marks = record.marks.clone();
    let checks = pending.checks();
    let results = run_each(checks, &scene.project.root, CHECKS_LIMIT, &mut |check, number| {
        // A journal that cannot be written is told of when the verdict is to be written.
        let _ = scene.loops.note(
            session,
            &Entry {
                at: world::now(),
                event: "checks".to_owned(),
                about: record.about.clone(),
                iteration: record.ledger.iterations.saturating_add(1),
                words: format!("running `{}` ({number} of {})", title(&check.run), checks.len()),
                ..Entry::default()
            },
        );
        if marks.checking == 0 {
            marks.checking = scene.loops.noted_at(session);
        }
    });
    Ran { pending, results, marks }
}

/// Marks a pause that this verdict waits for as told and returns what the person reads of it; `None`
/// when it was told before.
pub fn pause_to_tell(record: &mut Record, verdict: &Verdict) -> Option<String> {
    let Verdict::Wait(waiting) = verdict else {
        return None;
    };
    waiting.iter().find(|one| matches!(one, Waiting::Paused(_)))?;
    let message = pause::told(record)?;
    if let Some(pause) = record.paused.as_mut().filter(|pause| !pause.told) {
        pause.told = true;
        return Some(message);
    }
    None
}

/// Returns the name of a verdict in the journal, and the name of the reason of an end.
pub fn names_of(verdict: &Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Continue(_) => ("continue", ""),
        Verdict::Wait(_) => ("wait", ""),
        Verdict::End(reason) => ("end", reason.name()),
    }
}

/// Returns the answer that lets the agent stop and stays armed; the log says for what.
pub fn waiting_answer(waiting: &[Waiting]) -> Answer {
    match waiting {
        [Waiting::Unproven] => Answer::silent().log(
            "The turn was held by another hook before this loop ever did: the agent is let go",
        ),
        _ => Answer::silent().log(&format!("Waiting: {}", waited_for(waiting))),
    }
}

/// Returns the same, with a line for the person where there is one to tell.
pub fn waiting_and_telling(waiting: &[Waiting], message: Option<&str>) -> Answer {
    let answer = waiting_answer(waiting);
    match message {
        Some(message) => Answer { stdout: Answer::tell(message).stdout, ..answer },
        None => answer,
    }
}

/// Returns in words what is waited for.
pub fn waited_for(waiting: &[Waiting]) -> String {
    let words = waiting.iter().map(|one| match one {
        Waiting::Approval => "a person's approval".to_owned(),
        Waiting::Background(what) => format!("background {what}"),
        Waiting::Paused(why) => format!("the end of a pause ({why})"),
        Waiting::Typed(command) => format!("`{command}`, which was typed and runs now"),
        Waiting::UsageLimit(words) => words.clone(),
        Waiting::NoTasks => "tasks; there are none".to_owned(),
        Waiting::Unproven => "a turn of its own".to_owned(),
    });
    words.collect::<Vec<_>>().join(", ")
}
