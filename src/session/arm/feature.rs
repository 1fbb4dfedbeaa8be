//! Arms the loop of a feature: state file, record, and the bond between feature and session.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::exclude::keep_out;
use super::gate::{Gate, gate};
use super::state::{fill, lower_limits, readable_state, state_to_start_from};
use super::{Armed, Armer, Arming, replace};
use crate::engine::edit::untick_all;
use crate::engine::order::map_of;
use crate::engine::proof::LeastProof;
use crate::engine::scope::in_runs;
use crate::engine::tasks::TaskList;
use crate::engine::{Check, Demand, Ledger, ReviewWhen, ended_by};
use crate::evidence::commits;
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::feature::lists::{others_in_words, too_many_lists};
use crate::feature::project::{Feature, Project, printable};
use crate::feature::requirements::specification;
use crate::feature::settings::{SETTINGS, Settings, review_by};
use crate::feature::snapshot::{FeatureSnapshot, limits_of};
use crate::feature::state::State;
use crate::feature::{HANDOFF, PROGRESS, STATE};
use crate::mask::masked_text;
use crate::refusal::Refusal;
use crate::session::arguments::asked_tasks::Selection;
use crate::session::arguments::feature::FeatureRequest;
use crate::session::messages::person;
use crate::session::view::{FeatureView, judge_of, list_of};
use crate::session::{life, pinned};
use crate::settings::{Chosen, table};
use crate::store::amend::amend;
use crate::store::journal::Entry;
use crate::store::loops::{Asked, Loops, Record, VerifyCommands};
use crate::store::names::{ArmedBy, JournalEvent, LoopKind};
use crate::store::pins::{LoopLimits, Pin, PinKey, PinState, PinnedEnd, SettingsThen};
use crate::store::receipts::Receipts;
use crate::text::{self, counted};
use crate::world::{self, Deadline, WallTime};

/// Shown if an agent may have armed the loop.
const NOT_A_PERSON: &str = "It was armed inside of an agent's session, so no check and no Verify command is run for it, and the default limits hold: type /speckit:implement, or run `spool start` in a terminal of your own.";
/// Shown if no command runs before the work counts as done.
const NO_CHECKS: &str =
    "No checks: the list decides. Add them in .claude/ralph-speckit.local.md.\n";
/// Shown if arming has kept no contents to compare with.
const NOT_SEEN: &str = "The project has more files than can be looked at while it is armed: every tick counts on the agent's word.";
/// Characters for the names of the tasks, if only some were asked for.
const LONGEST_RUNS: usize = 600;
/// The limit of a look at the files.
const LOOK: Duration = Duration::from_millis(1_200);
const MAKE_A_LIST: &str = "make one with spec-kit's tasks command first";

/// Arms the loop: writes the state file, binds the session, and describes what was armed.
///
/// After a refusal nothing is armed. No file of the feature has changed, but boxes that the last loop refused may be open.
pub fn arm(
    project: &Project,
    request: &FeatureRequest,
    armer: Armer<'_>,
) -> Result<Armed, Refusal> {
    let root = &project.root;
    let mut settings = Settings::to_arm(root)?;
    let tracked = armer.is_person() && pinned::trusted(root, &settings)?;
    let (feature, words) = feature_of(project, request, armer.session)?;
    let mut chosen = request.chosen.clone().over(settings.chosen.clone());
    if !armer.is_person() {
        // Without a person, no command runs and no check counts.
        settings = Settings { checks: Vec::new(), ..settings };
        chosen.0.retain(|made| [&table::include_optional, &table::landing].contains(&made.setting));
    }
    let optional = chosen.include_optional();
    let is_judged = chosen.proof() == LeastProof::Files;
    let view = FeatureView::of(project, &feature);
    let mut refused = if is_judged { view.judged(LOOK).0 } else { Vec::new() };
    let (all, text) = tasks_of(&feature, optional, &mut refused)?;
    let features = || project.features_in_words();
    let asked = Selection::of(words, &request.literal, (&all, &text), features)?;
    let tasks = open_part(&view, all, &asked, !settings.checks.is_empty())?;
    let mut gate = gate(root, &feature, request, armer)?;
    gate.take_converge(root, &chosen, !asked.tasks.is_empty())?;
    let has_review = chosen.review().unwrap_or_default();
    if chosen.review_when().is_some() && !has_review {
        return Err(Refusal::new("`--review-when` does nothing without a review", "add --review"));
    }
    let reviewed = has_review.then(|| can_be_reviewed(&feature.folder, &feature.relative));
    let reviewed = reviewed.transpose()?;
    let mut arming = Arming::begin(root, armer, Some(&feature))?;
    let earlier = arming.earlier()?;
    let taken_from = taken_from(&arming.loops, &feature, armer, request)?;
    let found = readable_state(&feature)?;
    let paths = changed_files(&arming, project, &feature);
    arming.remember(&paths)?;
    let (mut state, kept_aside) = state_to_start_from(&feature, found, &mut arming.undo)?;
    let mut notes = asked_notes(&tasks, &asked, &refused);
    notes.extend(left_note(&view.snapshot().gone));
    notes.extend(others_in_words(&feature.folder));
    notes.extend(kept_aside.into_iter().chain(handoff_note(&feature, &chosen)));
    let key = PinKey::Feature(&feature.name);
    let before = arming.pins.as_ref().ok().and_then(|pins| pins.read(key).ok()?);
    notes.extend(lower_limits(&mut state, &tasks, request, before.map(|pin| pin.limits)));
    fill(&mut state, &feature, &tasks, request);
    let commands = verify_commands(&tasks, &text, armer);
    let mut pin = pin_of(project, (&feature, &state), &chosen, armer);
    pin.settings = SettingsThen { hash: settings.digest, tracked };
    pin.checks = settings.checks;
    pin.checks.extend(has_review.then(|| review_of(settings.review, chosen.review_when())));
    pin.hooks = gate.hooks.clone();
    pin.converge.clone_from(&gate.converge);
    pin.asked = kept(&asked, request, &gate, optional, pin.armed_at);
    pin.verify = commands.len();
    let instead =
        format!("run `spool start {}` in a terminal: it prints all of them", feature.name);
    let (runs, unkept) = arming.keep_commands(Some(key), &pin, &commands, (0, &instead))?;
    let in_parts = pin.checks.last().is_some_and(|check| check.when() != ReviewWhen::End);
    let mut judges = String::new();
    if (pin.proof == LeastProof::Files || in_parts || !asked.tasks.is_empty()) && unkept.is_none() {
        match keep_contents(project, &feature, &pin, &text) {
            Ok(line) => judges = line,
            Err(why) => notes.push(why),
        }
    }
    notes.extend(reviewed.and_then(|bytes| keep_specification(root, &feature.name, &bytes).err()));
    let has_checks = !pin.checks.is_empty() || !commands.is_empty();
    let no_checks = if has_checks || !armer.is_person() { "" } else { NO_CHECKS };
    let shown = [no_checks, &runs, &judges].concat();
    pin.armed_by.clone_from(arming.armer.by);
    notes.extend(unkept);
    notes.extend(Some(NOT_A_PERSON.to_owned()).filter(|_| !armer.is_person()));
    notes.extend(taken_from);
    open_boxes(&feature, &refused)?;
    notes.extend(bind(&mut arming, earlier, (&feature, &pin), &state)?);
    let path = feature.folder.join(STATE);
    state.write(&feature).map_err(|error| Refusal::unwritable(&path, &error))?;
    arming.loops.save_pin(&pin)?;
    let not_noted = arming.finish(armed_entry(armer, &pin, &commands));
    notes.extend(Some(not_noted.trim_start().to_owned()).filter(|note| !note.is_empty()));
    // The loop lives: an error from here on refuses nothing.
    notes.extend(keep_out(&feature.folder, &[STATE, PROGRESS]));
    Ok(armed(&feature, &tasks, pin.limits, shown, &notes, &gate))
}

fn review_of(set: Option<Check>, when: Option<ReviewWhen>) -> Check {
    let review = set.unwrap_or_else(|| review_by(&Chosen::default()));
    match when {
        Some(when) => review.made(when),
        None => review,
    }
}

/// Reads the specification for a review. Refuses one without anything to judge.
pub fn can_be_reviewed(folder: &Path, shown: &str) -> Result<Vec<u8>, Refusal> {
    let wrong = |why: String| {
        let what = ["nothing is armed: a review is asked for, and ", &why].concat();
        let next = "give each requirement an id such as FR-001, or leave the review out with --review=false";
        Refusal::new(what, next)
    };
    specification(folder, shown).map(|(bytes, _)| bytes).map_err(wrong)
}

pub fn keep_specification(root: &Path, feature: &str, bytes: &[u8]) -> Result<(), String> {
    let receipts = Receipts::named(root, feature);
    receipts.and_then(|receipts| receipts.keep_specification(bytes)).map_err(|error| {
        format!("What the specification asks for could not be kept ({error}): a review does not see what is taken out of it.")
    })
}

/// The feature, and the words behind its name.
fn feature_of<'a>(
    project: &Project,
    request: &'a FeatureRequest,
    session: Option<&str>,
) -> Result<(Feature, &'a str), Refusal> {
    let (named, words) = request.feature(project)?;
    let current = || Ok::<_, Refusal>(project.current_feature()?);
    let selected = named.map_or_else(current, |feature| Ok(Some(feature)))?;
    // No feature is selected: continue this session's last one.
    let last = || {
        let record = Loops::of(&project.root).peek(session?)?;
        project.feature_at(&record.folder).ok().filter(|_| record.kind != LoopKind::Task)
    };
    let feature = selected.or_else(last).ok_or_else(|| {
        Refusal::nothing(
            "no feature is selected: neither `.specify/feature.json` nor `.specify/.current-feature` names one",
            "name it: /speckit:implement 001-name, in a terminal spool start 001-name",
        )
    })?;
    Ok((feature, words))
}

/// The asked part of the list. Refuses a part without an open task, unless a check may still fail.
fn open_part(
    view: &FeatureView<'_>,
    all: TaskList,
    asked: &Selection,
    may_fail: bool,
) -> Result<TaskList, Refusal> {
    let tasks = all.within(&asked.tasks, None);
    if tasks.open().next().is_some() || (may_fail && asked.tasks.is_empty()) {
        return Ok(tasks);
    }
    let (count, ids) = (tasks.tasks.len(), in_runs(&asked.tasks));
    if ids.is_empty() {
        return Err(nothing_open(&tasks, view));
    }
    Err(Refusal::nothing(
        format!("nothing is open: all {count} tasks that you named are ticked ({ids})"),
        "name tasks that are open; `spool task list` shows them",
    ))
}

/// The refusal of a list with every task ticked.
fn nothing_open(list: &TaskList, view: &FeatureView<'_>) -> Refusal {
    let (count, folder) = (list.tasks.len(), &view.feature.folder);
    let mut beside = list.asides_in_words();
    beside.extend(others_in_words(folder));
    let gone = view.snapshot().gone;
    beside.extend(left_note(&gone));
    let (shown, beside) = (folder.join(TASKS), text::below(&beside));
    let shown = shown.display();
    let next = match gone.as_slice() {
        [] => "add a task, or pick another feature",
        _ => "put back what is to be done, or: spool task drop ID \"why\"",
    };
    let what = format!("nothing is open: all {count} tasks in `{shown}` are ticked{beside}");
    Refusal::nothing(what, next)
}

/// The request as the pin keeps it; `None` for a whole feature without extras.
fn kept(
    asked: &Selection,
    request: &FeatureRequest,
    gate: &Gate,
    optional: bool,
    now: WallTime,
) -> Option<Box<Asked>> {
    let Selection { tasks, words } = asked;
    let (tasks, words) = (tasks.clone(), masked_text(words).into_owned());
    let (by_outline, open_checklists) = (request.by_outline, gate.open_checklists);
    let armed_at = if tasks.is_empty() { WallTime::default() } else { now };
    let asked = Asked { tasks, words, by_outline, open_checklists, optional, armed_at };
    (asked != Asked::default()).then(|| Box::new(asked))
}

/// A note on the handoff of an earlier loop; `None` without one.
fn handoff_note(feature: &Feature, chosen: &Chosen) -> Option<String> {
    let path = feature.folder.join(HANDOFF).symlink_metadata();
    let is_there = chosen.landing() && path.is_ok_and(|meta| meta.is_file());
    is_there.then(|| {
        format!(
            "An earlier loop left {HANDOFF} beside {TASKS}: read it first. Where it and the files differ, the files count."
        )
    })
}

/// A note on tasks whose boxes the arming opens; `None` without any.
pub fn opened_note(refused: &[String]) -> Option<String> {
    let ids = printable(&in_runs(refused));
    let note = format!(
        "Ticked in the loop before, not proved, and open: {ids}. Where the work is there, `spool task done ID` ticks it."
    );
    (!refused.is_empty()).then_some(note)
}

/// A note on tasks that the loop before knew and this one does not; `None` without any.
pub fn left_note(gone: &[String]) -> Option<String> {
    let ids = printable(&in_runs(gone));
    let note = format!("Open in the loop before, and gone from {TASKS}: {ids}.");
    (!gone.is_empty()).then_some(note)
}

/// Notes on the request, a line each.
fn asked_notes(tasks: &TaskList, asked: &Selection, refused: &[String]) -> Vec<String> {
    let mut notes: Vec<String> =
        tasks.asides_in_words().iter().map(|aside| text::line(aside).into()).collect();
    notes.extend(opened_note(refused));
    if !asked.tasks.is_empty() {
        let runs = text::title(&in_runs(&asked.tasks), LONGEST_RUNS);
        notes.push(format!("Only these tasks: {runs}. Every other box is left as it is."));
        let done = tasks.tasks.iter().filter(|task| task.done).map(|task| task.id.clone());
        let done = text::title(&in_runs(&done.collect::<Vec<_>>()), LONGEST_RUNS);
        notes.extend((!done.is_empty()).then(|| format!("Done already: {done}.")));
    }
    let has_words = !asked.words.is_empty();
    notes.extend(has_words.then(|| format!("Words for the agent: {}", asked.words)));
    notes
}

/// The feature's list and its bytes, with these tasks open; `refused` keeps only ids that are ticked.
fn tasks_of(
    feature: &Feature,
    optional: bool,
    refused: &mut Vec<String>,
) -> Result<(TaskList, Vec<u8>), Refusal> {
    let path = feature.folder.join(TASKS);
    let shown = path.display();
    let mut file = task_list::read(&feature.folder).map_err(|problem| {
        let name = &feature.name;
        let what =
            format!("feature `{name}` has no task list to work through: `{shown}`: {problem}");
        match too_many_lists(&feature.folder) {
            _ if path.is_file() => Refusal::nothing(what, "put the file itself there"),
            Some((why, next)) => Refusal::nothing(why, next),
            None => Refusal::nothing(what, MAKE_A_LIST),
        }
    })?;
    refused.retain(|id| file.list.find(id).is_some_and(|task| task.done));
    if !refused.is_empty() {
        file = TaskFile::of(untick_all(&file.bytes, refused));
    }
    let tasks = file.list.with_optional(optional);
    if tasks.tasks.is_empty() {
        let beside = text::below(&tasks.asides_in_words());
        let what = format!(
            "`{shown}` holds no task: a task is a line such as `- [ ] T001 Create the project`{beside}"
        );
        return Err(Refusal::nothing(what, MAKE_A_LIST));
    }
    Ok((tasks, file.bytes))
}

/// The content of the feature's pin.
fn pin_of(
    project: &Project,
    (feature, state): (&Feature, &State),
    chosen: &Chosen,
    armer: Armer<'_>,
) -> Pin {
    let (person, log) = (armer.is_person(), commits::log_place(&project.root));
    let limits = LoopLimits {
        max_iterations: state.max_global_iterations(),
        max_task_iterations: state.max_task_iterations(),
        recovery: state.recovers(),
    };
    Pin {
        about: feature.name.clone(),
        session: armer.session.unwrap_or_default().to_owned(),
        armed_at: world::now(),
        commits_from: Some(log.length),
        commits_line: log.line,
        armed_by: armer.by.clone(),
        notify: chosen.notify(),
        list: format!("{}/{TASKS}", feature.relative),
        proof: if person { chosen.proof() } else { LeastProof::Word },
        protect: chosen.protect(),
        limits: if person { limits } else { limits_of(&PinState::Nobody, state) },
        ..Pin::default()
    }
}

/// Stores the files' contents and the list. Returns a line about files that the commands run. The error says what
/// cannot be stored.
fn keep_contents(
    project: &Project,
    feature: &Feature,
    pin: &Pin,
    list: &[u8],
) -> Result<String, String> {
    let judge = judge_of(project, feature, Some(pin));
    let kept = judge.and_then(|judge| Ok((judge.arm(list, LOOK)?, judge)));
    let (files, judge) = kept.map_err(|error| {
        format!("What the files contain could not be kept ({error}): every tick counts as it is.")
    })?;
    if pin.proof != LeastProof::Files {
        return Ok(String::new());
    }
    let files = files.ok_or(NOT_SEEN)?;
    let how = format!("`protect:` in {SETTINGS}");
    Ok(judge.armed_lines(&files, &how))
}

/// A note about the session that drives the feature now. Refuses the arming if that session may be alive, its loop was
/// armed, and no person says `--force`.
fn taken_from(
    loops: &Loops,
    feature: &Feature,
    armer: Armer<'_>,
    request: &FeatureRequest,
) -> Result<Option<String>, Refusal> {
    let pin = loops.live_pin(&feature.name).filter(|pin| !pin.session.is_empty());
    let other = pin.map(|pin| pin.session).filter(|other| Some(other.as_str()) != armer.session);
    let Some(other) = other else { return Ok(None) };
    let record = loops.peek(&other).filter(|record| record.ledger.is_live());
    let meant = record.filter(|record| record.armed_by != ArmedBy::Claim);
    let refusal = meant.and_then(|record| life::kept_from_others(loops, &record));
    match refusal {
        Some(refusal) if !armer.is_person() => return Err(refusal.for_agent()),
        Some(refusal) if !request.chosen.force() => return Err(refusal),
        _ => {}
    }
    let other = printable(&other);
    Ok(Some(format!("It was driven by session {other} before; that one may stop.")))
}

/// The files that arming writes.
fn changed_files(arming: &Arming<'_>, project: &Project, feature: &Feature) -> Vec<PathBuf> {
    let mut paths = vec![feature.folder.join(STATE)];
    paths.extend(arming.loops.pins().files(&feature.name));
    let folder = arming.folder.iter();
    paths.extend(folder.flat_map(|folder| [folder.open_tasks_path(), folder.record_path()]));
    let receipts = Receipts::of(&project.root, &feature.name, &list_of(feature));
    paths.extend(receipts.iter().flat_map(Receipts::armed_paths));
    paths
}

/// The list says what is counted: these ticks count no more.
fn open_boxes(feature: &Feature, refused: &[String]) -> Result<(), Refusal> {
    if refused.is_empty() {
        return Ok(());
    }
    let path = feature.folder.join(TASKS);
    let opened = amend(&path, task_list::MOST, |text| Some(untick_all(text, refused)));
    opened.map(|_| ()).map_err(|error| Refusal::unwritable(&path, &error))
}

/// Makes this session the feature's owner and ends the session's other loop. Returns the person's line about that loop.
///
/// Unless the feature has a live pin, an ended pin is written first and the final pin last: a crash in between leaves
/// an ended loop, never a half-armed one.
fn bind(
    arming: &mut Arming<'_>,
    earlier: Option<Record>,
    (feature, pin): (&Feature, &Pin),
    state: &State,
) -> Result<Option<String>, Refusal> {
    let broken = [ErrorKind::InvalidData];
    let before = arming.loops.pin_or_aside(&feature.name, &broken, &mut arming.undo)?;
    if before.is_none_or(|before| before.ended.is_some()) {
        // Older than any record, so that no stop reports this end.
        let (session, armed_at) = (String::new(), WallTime::default());
        let none = Pin { session, armed_at, ..pin.clone() };
        let (reason, words) = (ended_by(&Demand::Stopped), "armed in part".to_owned());
        arming.loops.save_pin(&none.closed(PinnedEnd { reason, words, unnotified: false }))?;
    }
    if arming.folder.is_none() {
        return Ok(None);
    }
    // A loop that another session adopted lives on there.
    let is_other = |own: &Record| {
        own.is_live_ralph() || (own.about != feature.name && arming.loops.drives(own))
    };
    let mut note = None;
    if let Some(own) = earlier.filter(|own| own.ledger.is_live() && is_other(own)) {
        note = Some(if own.is_live_ralph() {
            "The ralph loop in this session ends with this.".to_owned()
        } else {
            format!("The loop of {} in this session ends with this.", own.about)
        });
        arming.entries.push(replace(&arming.loops, &own, &mut arming.undo)?);
    }
    let Armer { session, by, transcript } = arming.armer;
    let mut record = Record::new(pin, session.unwrap_or_default(), by, transcript);
    record.had_list = true;
    record.asked.clone_from(&pin.asked);
    // The fingerprint at the start: the first stop compares with it.
    let snapshot = FeatureSnapshot::with_state(feature, state);
    let nobody = (PinState::Nobody, Deadline::after(Duration::ZERO));
    let snapshot = snapshot.under(&nobody.0, Some(&record), nobody.1);
    let fingerprint = Some(snapshot.work_fingerprint());
    record.ledger = Ledger { fingerprint, ..Ledger::default() };
    record.tasks_hash = snapshot.tasks_hash();
    if let Some(folder) = &arming.folder {
        folder.note_tasks(&snapshot.task_lines())?;
        folder.save(&record)?;
    }
    Ok(note)
}

/// The list's Verify commands; empty unless a person arms the loop.
fn verify_commands(tasks: &TaskList, text: &[u8], armer: Armer<'_>) -> VerifyCommands {
    let tasks = tasks.tasks.iter().filter(|_| armer.is_person());
    map_of(tasks.filter_map(|task| Some((task.id.clone(), task.verify_command(text)?))))
}

fn armed_entry(armer: Armer<'_>, pin: &Pin, commands: &VerifyCommands) -> Entry {
    let named = pinned::checks_in_words(&pin.checks);
    let mut what = pinned::in_short(pin.checks.len(), &named, commands.len());
    if !pin.converge.is_empty() {
        what += &[", /", &pin.converge, " before the end"].concat();
    }
    Entry {
        at: pin.armed_at,
        event: JournalEvent::Armed,
        about: pin.about.clone(),
        words: format!("armed by {}: {what}", armer.by),
        ..Entry::default()
    }
}

/// The texts about the loop: for the model and a terminal, and a short one for the person who typed the command.
fn armed(
    feature: &Feature,
    tasks: &TaskList,
    limits: LoopLimits,
    shown: String,
    notes: &[String],
    gate: &Gate,
) -> Armed {
    let (name, open, total) = (&feature.name, tasks.open().count(), tasks.tasks.len());
    let notes = notes.iter().fold(String::new(), |text, note| text + "\n" + note);
    let next = tasks.present().map(|task| [", next ", &task.id].concat()).unwrap_or_default();
    let for_agent = format!(
        "ralph-speckit: the loop is armed: feature {name}, {open} of {total} tasks open{next}. Limits: {} iterations, {} attempts a task. State: {}{notes}{}",
        limits.max_iterations,
        limits.max_task_iterations,
        feature.folder.join(STATE).display(),
        gate.for_agent,
    );
    let tasks = counted(open as u64, "open task");
    let most = format!("at most {}", counted(limits.max_iterations.into(), "iteration"));
    let for_person = format!(
        "{}\n{}{notes}{}\nTo stop it: Esc, then /speckit:cancel",
        person::line("armed: ", &[name, &tasks, &most]),
        shown.trim_end(),
        gate.for_person
    );
    Armed { about: name.clone(), for_agent, for_person, shown }
}
