//! Arming the loop of a feature: it gets its state file, the session its record, and the two are bound.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::exclude::keep_out;
use super::gate::{Gate, gate};
use super::state::{fill, lower_limits, readable_state, state_to_start_from};
use super::{Armed, Armer, Arming};
use crate::engine::edit::untick;
use crate::engine::order::map_of;
use crate::engine::proof::LeastProof;
use crate::engine::scope::in_runs;
use crate::engine::tasks::TaskList;
use crate::engine::{Check, Ledger, ReviewWhen};
use crate::evidence::commits;
use crate::evidence::task_list::{self, TASKS, TaskFile};
use crate::feature::lists::others_in_words;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::requirements::specification;
use crate::feature::settings::{SETTINGS, Settings, review_by};
use crate::feature::snapshot::{FeatureSnapshot, limits_of};
use crate::feature::state::State;
use crate::feature::{HANDOFF, STATE};
use crate::judge::words::part_of_judge;
use crate::mask::masked_text;
use crate::refusal::Refusal;
use crate::session::arguments::asked_tasks::Selection;
use crate::session::arguments::feature::FeatureRequest;
use crate::session::messages::person;
use crate::session::proof::{judge_of, list_of};
use crate::session::record::new_record;
use crate::session::select::drives;
use crate::session::task_log::refused;
use crate::session::{life, pinned};
use crate::settings::{Chosen, table};
use crate::store::journal::Entry;
use crate::store::loops::{Asked, Claim, Loops, Record, VerifyCommands};
use crate::store::names::{ArmedBy, EndName, JournalEvent, LoopKind};
use crate::store::pins::{LoopLimits, Pin, PinKey, PinState, Pins, SettingsThen};
use crate::store::receipts::Receipts;
use crate::text::{self, counted};
use crate::world::{self, Deadline};

/// What is said where the one who arms may be the agent.
const NOT_A_PERSON: &str = "It was armed inside of an agent's session, so no check and no Verify command is run for it, and the default limits hold: type /speckit:implement, or run `spool start` in a terminal of your own.";
/// What is shown where nothing is run before the work counts as done.
const NO_CHECKS: &str =
    "No checks: the task list decides. To add one: `checks:` in the settings.\n";
/// The most characters that the names of the tasks take, where not all of a list were asked for.
const LONGEST_RUNS: usize = 600;
/// The longest that the files are looked through.
const LOOK: Duration = Duration::from_millis(1_200);
const MAKE_A_LIST: &str = "make one with spec-kit's tasks command first";

/// Arms the loop: writes the state file whole, binds the session, and returns what was armed.
///
/// On any refusal nothing is armed and no file of the feature is changed.
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
        // Nothing is run, and nothing is held against the work, that no person has armed.
        settings = Settings { checks: Vec::new(), ..settings };
        chosen.0.retain(|made| [&table::include_optional, &table::landing].contains(&made.setting));
    }
    let optional = chosen.include_optional().unwrap_or_default();
    let is_judged = armer.is_person() && chosen.proof() == LeastProof::Files;
    let before = Loops::of(root).of_feature(&feature.name).filter(|_| is_judged);
    let refused = before.map(|it| refused(project, &feature, &it)).unwrap_or_default();
    let (all, text) = tasks_of(&feature, optional, &refused)?;
    let asked = Selection::of(words, &request.literal, &all, &text)?;
    let tasks = open_part(&feature, all, &asked, !settings.checks.is_empty())?;
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
    notes.extend(others_in_words(&feature.folder));
    notes.extend(kept_aside);
    notes.extend(handoff_note(&feature, &chosen));
    let last = arming.pins.as_ref().ok().and_then(|pins| last_limits(pins, &feature));
    notes.extend(lower_limits(&mut state, &tasks, request, last));
    fill(&mut state, &feature, &tasks, request);
    let mut claim = claim_of(project, &feature, armer);
    let commands = verify_commands(&tasks, &text, armer);
    let mut pin = pin_of(&feature, &state, &chosen, &claim, armer);
    pin.settings = SettingsThen { hash: settings.digest, tracked };
    pin.checks = settings.checks;
    if has_review {
        pin.checks.push(review_of(settings.review, chosen.review_when()));
    }
    pin.hooks = gate.hooks.clone();
    pin.converge.clone_from(&gate.converge);
    pin.asked = kept(&asked, request, &gate, optional);
    pin.verify = commands.len();
    let instead =
        format!("run `spool start {}` in a terminal: it prints all of them", feature.name);
    let key = PinKey::Feature(&feature.name);
    let (runs, unkept) = arming.keep_commands(Some(key), &pin, &commands, (0, &instead))?;
    let in_parts = pin.checks.last().is_some_and(|it| it.when() != ReviewWhen::End);
    let mut judges = String::new();
    if (pin.proof == LeastProof::Files || in_parts) && unkept.is_none() {
        match keep_contents(project, &feature, &pin, &text) {
            Ok(line) => judges = line,
            Err(why) => notes.push(why),
        }
    }
    notes.extend(reviewed.and_then(|it| keep_specification(root, &feature.name, &it).err()));
    let has_checks = !pin.checks.is_empty() || !commands.is_empty();
    let no_checks = if has_checks || !armer.is_person() { "" } else { NO_CHECKS };
    let shown = [no_checks, &runs, &judges].concat();
    claim.armed_by.clone_from(arming.by);
    notes.extend(unkept);
    notes.extend(Some(NOT_A_PERSON.to_owned()).filter(|_| !armer.is_person()));
    notes.extend(taken_from);
    notes.extend(bind(&mut arming, earlier, (&feature, &claim), &state, &pin, &refused)?);
    let path = feature.folder.join(STATE);
    state.write(&feature).map_err(|error| Refusal::unwritable(&path, &error))?;
    let is_named = arming.open(key, &pin)?;
    notes.extend(note_claim(&arming, &claim, is_named)?);
    let not_noted = arming.finish(armed_entry(&claim, armer, &pin, &commands));
    notes.extend(Some(not_noted.trim_start().to_owned()).filter(|note| !note.is_empty()));
    // The loop lives by now: nothing that goes wrong here can refuse it.
    notes.extend(keep_out(&feature.folder));
    Ok(armed(&feature, &tasks, pin.limits, shown, &notes, &gate))
}

/// Why the claim is not written, where the pin names the session: it has its loop then, whatever its note says.
fn note_claim(
    arming: &Arming<'_>,
    claim: &Claim,
    is_named: bool,
) -> Result<Option<String>, Refusal> {
    match arming.loops.write_claim(claim).map_err(Refusal::from) {
        Err(why) if is_named => Ok(Some(why.to_string())),
        written => written.map(|()| None),
    }
}

fn review_of(set: Option<Check>, when: Option<ReviewWhen>) -> Check {
    let review = set.unwrap_or_else(|| review_by(&Chosen::default()));
    match when {
        Some(when) => review.made(when),
        None => review,
    }
}

/// The specification; an error where a review is asked for and there is nothing to judge in it.
pub fn can_be_reviewed(folder: &Path, shown: &str) -> Result<Vec<u8>, Refusal> {
    let wrong = |why: String| {
        let what = ["nothing is armed: a review is asked for, and ", &why].concat();
        let next = "give each requirement an id such as FR-001, or leave the review out with --review=false";
        Refusal::new(what, next)
    };
    specification(folder, shown).map(|(bytes, _)| bytes).map_err(wrong)
}

/// Keeps what the specification of a feature says; an error says that it cannot be kept.
pub fn keep_specification(root: &Path, feature: &str, bytes: &[u8]) -> Result<(), String> {
    let receipts = Receipts::named(root, feature);
    receipts.and_then(|it| it.keep_specification(bytes)).map_err(|error| {
        format!("What the specification asks for could not be kept ({error}): a review does not see what is taken out of it.")
    })
}

/// The feature that is meant, and what was typed behind its name.
fn feature_of<'a>(
    project: &Project,
    request: &'a FeatureRequest,
    session: Option<&str>,
) -> Result<(Feature, &'a str), Refusal> {
    let (named, words) = request.feature(project)?;
    let current = || Ok::<_, Refusal>(project.current_feature()?);
    let selected = named.map_or_else(current, |feature| Ok(Some(feature)))?;
    // Nothing may be selected where a person continues with what this session has worked on.
    let last = || {
        let record = Loops::of(&project.root).peek(session?)?;
        project.feature_at(&record.folder).ok().filter(|_| record.kind != LoopKind::Task)
    };
    let feature = selected.or_else(last).ok_or_else(|| {
        Refusal::nothing(
            "no feature is selected: neither `.specify/feature.json` nor `.specify/.current-feature` names one",
            "name it: /speckit:implement 001-name",
        )
    })?;
    Ok((feature, words))
}

/// The part of a list that was asked for; one without an open task is refused, unless checks may say that it is not done.
fn open_part(
    feature: &Feature,
    all: TaskList,
    asked: &Selection,
    may_fail: bool,
) -> Result<TaskList, Refusal> {
    let tasks = all.within(&asked.tasks);
    if tasks.open().next().is_some() || (may_fail && asked.tasks.is_empty()) {
        return Ok(tasks);
    }
    let (count, ids) = (tasks.tasks.len(), in_runs(&asked.tasks));
    if ids.is_empty() {
        return Err(nothing_open(&tasks, &feature.folder.join(TASKS)));
    }
    Err(Refusal::nothing(
        format!("nothing is open: all {count} tasks that you named are ticked ({ids})"),
        "name tasks that are open; `spool task list` shows them",
    ))
}

/// The refusal of a list in which every task is ticked.
fn nothing_open(list: &TaskList, path: &Path) -> Refusal {
    let (count, shown) = (list.tasks.len(), path.display());
    let beside = text::below(&list.asides_in_words());
    Refusal::nothing(
        format!("nothing is open: all {count} tasks in `{shown}` are ticked{beside}"),
        "add a task, or pick another feature",
    )
}

/// What is kept of what was asked for, `None` where it is the whole feature and nothing else.
fn kept(
    asked: &Selection,
    request: &FeatureRequest,
    gate: &Gate,
    optional: bool,
) -> Option<Box<Asked>> {
    let Selection { tasks, words } = asked;
    let (tasks, words) = (tasks.clone(), masked_text(words).into_owned());
    let (by_outline, open_checklists) = (request.by_outline, gate.open_checklists);
    let asked = Asked { tasks, words, by_outline, open_checklists, optional };
    (asked != Asked::default()).then(|| Box::new(asked))
}

/// What is said of the handoff of an earlier loop, `None` where there is none.
fn handoff_note(feature: &Feature, chosen: &Chosen) -> Option<String> {
    let path = feature.folder.join(HANDOFF).symlink_metadata();
    let is_there = chosen.landing() && path.is_ok_and(|meta| meta.is_file());
    is_there.then(|| {
        format!(
            "An earlier loop left {HANDOFF} beside {TASKS}: read it first. Where it and the files differ, the files count."
        )
    })
}

/// What is said of what was asked for, a line each.
fn asked_notes(tasks: &TaskList, asked: &Selection, refused: &[String]) -> Vec<String> {
    let mut notes: Vec<String> =
        tasks.asides_in_words().iter().map(|aside| text::line(aside).into()).collect();
    let ids = Some(printable(&in_runs(refused))).filter(|ids| !ids.is_empty());
    notes.extend(ids.map(|ids| format!("Ticked in the loop before, not proved, and open: {ids}.")));
    if !asked.tasks.is_empty() {
        let runs = text::title(&in_runs(&asked.tasks), LONGEST_RUNS);
        notes.push(format!("Only these tasks: {runs}. Every other box is left as it is."));
        let done = tasks.tasks.iter().filter(|task| task.done).map(|task| task.id.clone());
        let done = text::title(&in_runs(&done.collect::<Vec<_>>()), LONGEST_RUNS);
        notes.extend((!done.is_empty()).then(|| format!("Done already: {done}.")));
    }
    if !asked.words.is_empty() {
        notes.push(format!("Words for the agent: {}", asked.words));
    }
    notes
}

fn claim_of(project: &Project, feature: &Feature, armer: Armer<'_>) -> Claim {
    let log = commits::log_place(&project.root);
    Claim {
        session: armer.session.map(str::to_owned),
        about: feature.name.clone(),
        folder: feature.relative.clone(),
        armed_at: world::now(),
        armed_by: armer.by.clone(),
        commits_from: Some(log.length),
        commits_line: log.line,
        ..Claim::default()
    }
}

/// The limits that a person armed this feature with before.
fn last_limits(pins: &Pins, feature: &Feature) -> Option<LoopLimits> {
    pins.read(PinKey::Feature(&feature.name)).ok()?.map(|pin| pin.limits)
}

/// The list of a feature with its bytes, where these boxes are open.
fn tasks_of(
    feature: &Feature,
    optional: bool,
    refused: &[String],
) -> Result<(TaskList, Vec<u8>), Refusal> {
    let path = feature.folder.join(TASKS);
    let shown = path.display();
    let mut file = task_list::read(&feature.folder).map_err(|problem| {
        let what = format!(
            "feature `{}` has no task list to work through: `{shown}`: {problem}",
            feature.name
        );
        let is_there = path.is_file();
        Refusal::nothing(what, if is_there { "put the file itself there" } else { MAKE_A_LIST })
    })?;
    if !refused.is_empty() {
        let open = file.list.tasks.iter().rev().filter(|task| refused.contains(&task.id));
        file = TaskFile::of(open.fold(file.bytes, |bytes, task| untick(&bytes, task)));
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

/// What is armed for a feature, as it is kept outside of the project.
fn pin_of(
    feature: &Feature,
    state: &State,
    chosen: &Chosen,
    claim: &Claim,
    armer: Armer<'_>,
) -> Pin {
    let person = armer.is_person();
    let limits = LoopLimits {
        max_iterations: state.max_global_iterations(),
        max_task_iterations: state.max_task_iterations(),
        recovery: state.recovers(),
    };
    Pin {
        about: feature.name.clone(),
        session: claim.session.clone().unwrap_or_default(),
        armed_at: claim.armed_at,
        armed_by: armer.by.clone(),
        notify: chosen.notify(),
        list: format!("{}/{TASKS}", feature.relative),
        proof: if person { chosen.proof() } else { LeastProof::Word },
        protect: chosen.protect(),
        limits: if person { limits } else { limits_of(&PinState::Nobody, state) },
        ..Pin::default()
    }
}

/// Keeps what the files contain and which boxes are open, and returns the line on the files that the commands run; an error says
/// that it cannot be kept.
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
    let Some(files) = files.filter(|_| pin.proof == LeastProof::Files) else {
        return Ok(String::new());
    };
    let how = format!("`protect:` in {SETTINGS}");
    Ok(part_of_judge(&judge.run_by_commands(files.paths(u64::MAX)), &how))
}

/// What is said of the session that drives the feature now; an error where it is still there, a person armed its loop, and
/// nobody forces it.
fn taken_from(
    loops: &Loops,
    feature: &Feature,
    armer: Armer<'_>,
    request: &FeatureRequest,
) -> Result<Option<String>, Refusal> {
    let claim = loops.claim(&feature.name).filter(|claim| claim.closed.is_none());
    let other = claim.and_then(|claim| claim.session);
    let Some(other) = other.filter(|other| Some(other.as_str()) != armer.session) else {
        return Ok(None);
    };
    let record = loops.peek(&other).filter(|record| record.ledger.is_live());
    let is_there = record.is_some_and(|record| {
        record.armed_by != ArmedBy::Claim && !life::of(loops, &record).leaves_behind(&record)
    });
    let other = printable(&other);
    if is_there && !request.chosen.force() {
        return Err(Refusal::new(
            format!("session {other} works on feature `{}`", feature.name),
            "let it work, end its loop there with /speckit:cancel, or take the loop over with --force",
        ));
    }
    Ok(Some(format!("It was driven by session {other} before; that one may stop.")))
}

/// The files that arming writes whole.
fn changed_files(arming: &Arming<'_>, project: &Project, feature: &Feature) -> Vec<PathBuf> {
    let mut paths = vec![feature.folder.join(STATE)];
    let whose = PinKey::Feature(&feature.name);
    paths.extend(arming.pins.iter().flat_map(|pins| [pins.path(whose), pins.verify_path(whose)]));
    paths.extend(arming.loops.claim_path(&feature.name));
    let folder = arming.folder.iter();
    paths.extend(folder.flat_map(|folder| [folder.open_tasks_path(), folder.record_path()]));
    let receipts = Receipts::of(&project.root, &feature.name, &list_of(feature));
    paths.extend(receipts.iter().flat_map(Receipts::armed_paths));
    paths
}

/// Makes the session the one that drives the feature, and ends the loop that it had. Returns what the person is
/// told about that one. The claim that is left here opens the loop: until it is written, no stop blocks a session,
/// also where nothing can be put back any more.
fn bind(
    arming: &mut Arming<'_>,
    earlier: Option<Record>,
    (feature, claim): (&Feature, &Claim),
    state: &State,
    pin: &Pin,
    refused: &[String],
) -> Result<Option<String>, Refusal> {
    let live = arming.loops.read_claim(&feature.name)?.filter(|before| before.closed.is_none());
    // Also where nothing changes: a note that cannot be written refuses while all can be undone.
    let closed = || Claim { closed: Some(EndName::Stopped), ..claim.clone() };
    arming.loops.write_claim(&live.unwrap_or_else(closed))?;
    if arming.folder.is_none() {
        return Ok(None);
    }
    // A loop that another session took over lives on there.
    let is_other = |own: &Record| {
        own.is_live_ralph()
            || (own.about != feature.name && drives(arming.loops.claim(&own.about).as_ref(), own))
    };
    let mut note = None;
    if let Some(own) = earlier.filter(|own| own.ledger.is_live() && is_other(own)) {
        note = Some(if own.is_live_ralph() {
            "The ralph loop in this session ends with this.".to_owned()
        } else {
            format!("The loop of {} in this session ends with this.", own.about)
        });
        arming.replace(&own)?;
    }
    let Armer { session, transcript, .. } = arming.armer;
    let mut record = new_record(claim, session.unwrap_or_default(), arming.by, transcript);
    record.had_list = true;
    record.asked.clone_from(&pin.asked);
    // What the work looks like at the start: the first stop can tell what has changed.
    let snapshot = FeatureSnapshot::with_state(feature, state);
    let nobody = (PinState::Nobody, Deadline::after(Duration::ZERO));
    let mut snapshot = snapshot.under(&nobody.0, Some(&record), nobody.1);
    snapshot.open_again(refused);
    let fingerprint = Some(snapshot.work_fingerprint());
    record.ledger = Ledger { fingerprint, ..Ledger::default() };
    record.tasks_hash = snapshot.tasks_hash();
    record.refused = refused.to_vec();
    if let Some(folder) = &arming.folder {
        folder.save_open_tasks(&snapshot.open_tasks())?;
        folder.save(&record)?;
    }
    Ok(note)
}

/// The Verify commands of the list as the person who arms it has it before them; none where no person does.
fn verify_commands(tasks: &TaskList, text: &[u8], armer: Armer<'_>) -> VerifyCommands {
    let tasks = tasks.tasks.iter().filter(|_| armer.is_person());
    let commands = tasks.filter_map(|task| {
        let command = task.verify_command(text)?;
        Some((task.id.clone(), command))
    });
    map_of(commands)
}

fn armed_entry(claim: &Claim, armer: Armer<'_>, pin: &Pin, commands: &VerifyCommands) -> Entry {
    let named = pinned::checks_in_words(&pin.checks);
    let mut what = pinned::in_short(pin.checks.len(), &named, commands.len());
    if !pin.converge.is_empty() {
        what += &[", /", &pin.converge, " before the end"].concat();
    }
    Entry {
        at: claim.armed_at,
        event: JournalEvent::Armed,
        about: claim.about.clone(),
        words: format!("armed by {}: {what}", armer.by),
        ..Entry::default()
    }
}

/// What is said: to the model and in a terminal, and in short to the person who typed the command.
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
    let for_agent = format!(
        "ralph-speckit: the loop is armed: feature {name}, {open} of {total} tasks open, next {}. Limits: {} iterations, {} attempts a task. State: {}{notes}{}",
        tasks.present().map(|task| task.id.as_str()).unwrap_or_default(),
        limits.max_iterations,
        limits.max_task_iterations,
        feature.folder.join(STATE).display(),
        gate.for_agent,
    );
    let tasks = counted(open as u64, "open task");
    let most = format!("at most {}", counted(limits.max_iterations.into(), "iteration"));
    let for_person = format!(
        "{}\n{}{notes}{}\nTo stop it: /speckit:cancel",
        person::line("armed: ", &[name, &tasks, &most]),
        shown.trim_end(),
        gate.for_person
    );
    Armed { about: name.clone(), for_agent, for_person, shown }
}
