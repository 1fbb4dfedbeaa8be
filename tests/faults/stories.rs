//! The operations of both programs, and what must hold when something breaks in them.

use serde_json::Value;

use super::facts::Facts;
use super::story::{Answer, Case, Outcome, Story, ensure, same};
use super::tracer::{Fault, Run};
use super::world::{CORRUPT, Call, FEATURE, OTHER, OURS, TASKS, World};

/// Extensions of spec-kit with a hook that must run.
const HOOKS: &str = "hooks:\n  before_implement:\n  - extension: git\n    command: speckit.git.commit\n    enabled: true\n    optional: false\n";

pub fn all() -> Vec<Story> {
    let ours = [arming(), stopping(), keeping_books(), moving_and_ending()];
    let others = [super::trusting::stories(), super::runner::stories()];
    ours.into_iter().chain(others).flatten().collect()
}

fn arming() -> Vec<Story> {
    vec![
        Story::new("implement", nothing, implement, armed),
        // Every second step is enough here: a part with hooks is armed in the same way.
        Story {
            stride_of_changes: 2,
            ..Story::new("implement, again", implemented, implement, armed)
        },
        Story::new("implement, from another", driven_by_other, implement_forced, taken),
        Story::new("implement, corrupt state", corrupt_state, implement, armed),
        Story {
            stride_of_looks: 4,
            stride_of_changes: 2,
            ..Story::new("implement, a part with hooks", with_hooks, implement_part, armed)
        },
        Story::new("spool start in a session", nothing, start_in_session, armed),
        Story::new("spool start in a terminal", nothing, start, started),
        Story::new("ralph loop", nothing, ralph, ralph_armed),
        Story::new("ralph loop, a long task", long_task, ralph_of_file, ralph_armed),
        Story::new("ralph loop, replaced", ralph_before, ralph_replaced, ralph_armed),
        Story::new("ralph loop in a feature's place", implemented, ralph_replaced, ralph_armed),
    ]
}

fn stopping() -> Vec<Story> {
    vec![
        Story::new("stop, go on", implemented, stop, goes_on),
        Story::new("stop, list changed", list_changed, stop, goes_on),
        Story::new("stop, two ticked by hand", two_ticked, stop, keeps_hand_ticks),
        Story::new("stop, done", all_ticked, stop, completes),
        Story::new("stop, last iteration", last_iteration, stop, ends_as_max_iters),
        Story::new("stop, no tool call", idle, stop, ends_as_no_progress),
        Story::new("stop, corrupt state", corrupt_in_loop, stop, goes_on),
        Story::new("stop, still corrupt", still_corrupt, stop, ends_as_corrupt),
        Story::new("stop, awaiting approval", awaiting, stop, waits),
        Story::new("stop, takes the loop", started_before, stop, claims),
        Story::new("stop beside another's loop", driven_by_other, stop, beside),
        Story::new("stop, tells of an end", blocked, stop, tells_blocked),
        Story::new("stop, a check passes", check_passes, stop, completes),
        Story::new("stop, a check fails", check_fails, stop, goes_on),
        Story::new("session start", implemented, compacted, changes_nothing),
        Story::new("failed turn", implemented, failed_turn, pauses_for_failure),
        Story::new("ralph stop, go on", ralph_before, stop, goes_on),
        Story::new("ralph stop, promise", ralph_before, stop_with_promise, completes),
        Story::new("ralph stop, last iteration", ralph_last, stop, ends_as_max_iters),
    ]
}

fn keeping_books() -> Vec<Story> {
    vec![
        Story::new("spool task block", implemented, task_block, blocks),
        Story::new("spool task done", implemented, task_done, ticks),
        Story::new("spool task fail", implemented, task_fail, counts),
        Story::new("spool task fail, with repair", recovering, task_fail, repairs),
        Story::new("spool task fail, last attempt", last_attempt, task_fail, fails_for_good),
        Story::new("spool task add", implemented, task_add, adds),
        Story::new("spool task verify", with_verify, task_verify, changes_no_loop),
        Story::new("spool task done, with a proof", with_verify, task_done, ticks),
        Story {
            stride_of_looks: 4,
            ..Story::new("spool task hook", part_with_hooks, task_hook, changes_no_loop)
        },
        Story::new("spool task next", implemented, task_next, changes_nothing),
        Story::new("spool status", implemented, status, changes_nothing),
        Story::new("spool log", implemented, log, changes_nothing),
    ]
}

fn moving_and_ending() -> Vec<Story> {
    vec![
        Story::new("cancel in the session", implemented, cancel_command, cancelled),
        Story::new("spool cancel", implemented, cancel, cancelled),
        Story::new("spool pause", implemented, pause, paused),
        Story::new("spool resume", paused_before, resume, resumed),
        Story::new("spool block", implemented, block, blocks),
        Story::new("adopt a feature's loop", driven_by_other, adopt, adopted),
        Story::new("spool adopt a feature's loop", left_behind, spool_adopt, adopted_by_agent),
        Story::new("ralph cancel", ralph_before, cancel_ralph, ralph_cancelled),
        Story::new("ralph spool cancel", ralph_before, cancel, ralph_cancelled),
        Story::new("ralph block", ralph_before, block, blocks),
        Story::new("ralph adopt", ralph_of_other, adopt, adopted),
        Story::new("ralph adopt, replacing", ralph_of_both, adopt_replacing, adopted),
    ]
}

// ---- what is there before -------------------------------------------------------------------------

fn does(world: &World, call: &Call) {
    world.ages();
    let run = world.plain(call);
    assert_eq!(run.code, Some(0), "{run:?}");
}

fn nothing(_: &World) {}

fn implemented(world: &World) {
    does(world, &implement(world));
    does(world, &stop(world));
    world.works(OURS);
}

fn driven_by_other(world: &World) {
    does(world, &world.command(OTHER, "speckit:implement", ""));
    does(world, &world.stop(OTHER, "Working."));
}

/// The other session was heard of two hours ago.
fn left_behind(world: &World) {
    driven_by_other(world);
    for (path, bytes) in world.files() {
        let Ok(mut noted) = serde_json::from_slice::<Value>(&bytes) else { continue };
        if noted.get("armed_at").is_none() {
            continue;
        }
        for field in ["armed_at", "seen_at"] {
            if let Some(at) = noted[field].as_u64().filter(|at| *at > 0) {
                noted[field] = (at - 2 * 3_600_000).into();
            }
        }
        std::fs::write(path, noted.to_string()).unwrap();
    }
}

fn corrupt_state(world: &World) {
    std::fs::write(world.feature(".speckit-state.json"), CORRUPT).unwrap();
}

fn corrupt_in_loop(world: &World) {
    implemented(world);
    corrupt_state(world);
}

fn still_corrupt(world: &World) {
    corrupt_in_loop(world);
    does(world, &stop(world));
}

fn list_changed(world: &World) {
    implemented(world);
    world.tick("T002");
}

fn two_ticked(world: &World) {
    list_changed(world);
    world.tick("T003");
}

fn all_ticked(world: &World) {
    implemented(world);
    for id in ["T002", "T003", "T004"] {
        world.tick(id);
    }
}

fn last_iteration(world: &World) {
    does(world, &world.command(OURS, "speckit:implement", "--max-iterations 1"));
    world.works(OURS);
}

fn idle(world: &World) {
    implemented(world);
    for _ in 0..3 {
        does(world, &stop(world));
    }
}

fn awaiting(world: &World) {
    implemented(world);
    world.set_state("awaitingApproval", true);
}

fn started_before(world: &World) {
    does(world, &start(world));
    world.works(OURS);
}

fn blocked(world: &World) {
    implemented(world);
    does(world, &task_block(world));
}

fn paused_before(world: &World) {
    implemented(world);
    does(world, &pause(world));
}

fn recovering(world: &World) {
    does(world, &world.command(OURS, "speckit:implement", "--recovery-mode"));
}

fn last_attempt(world: &World) {
    does(world, &world.command(OURS, "speckit:implement", "--max-task-iterations 1"));
    world.works(OURS);
}

fn long_task(world: &World) {
    world.write("task.md", "Make it well. ".repeat(600));
}

fn ralph_before(world: &World) {
    does(world, &ralph(world));
    does(world, &stop(world));
    world.works(OURS);
}

fn ralph_last(world: &World) {
    does(world, &world.command(OURS, "speckit:ralph-loop", "\"Make it\" --max-iterations 1"));
    world.works(OURS);
}

fn ralph_of_other(world: &World) {
    does(world, &world.command(OTHER, "speckit:ralph-loop", "\"Make it\" --max-iterations 9"));
    does(world, &world.stop(OTHER, "Working."));
}

fn ralph_of_both(world: &World) {
    ralph_of_other(world);
    does(world, &world.command(OURS, "speckit:ralph-loop", "\"Something else\""));
}

fn with_verify(world: &World) {
    let list = TASKS.replace("T002 Fill it\n", "T002 Fill it\n  - Verify: `test -d src`\n");
    world.write(format!("specs/{FEATURE}/tasks.md"), list);
    implemented(world);
}

/// An open checklist, hooks that must run, and what a person asks for besides.
fn with_hooks(world: &World) {
    world.write(".specify/extensions.yml", HOOKS);
    std::fs::create_dir_all(world.feature("checklists")).unwrap();
    std::fs::write(world.feature("checklists/ux.md"), "- [ ] CHK001 Is it clear?\n").unwrap();
}

fn part_with_hooks(world: &World) {
    with_hooks(world);
    does(world, &implement_part(world));
    does(world, &stop(world));
    world.works(OURS);
}

fn with_check(world: &World, check: &str) {
    let settings = format!("---\nchecks:\n  - {check}\n---\n");
    world.write(".claude/ralph-speckit.local.md", settings);
    all_ticked(world);
}

fn check_passes(world: &World) {
    with_check(world, "test -d src");
}

fn check_fails(world: &World) {
    with_check(world, "test -d nowhere");
}

// ---- the calls ------------------------------------------------------------------------------------

fn implement(world: &World) -> Call {
    world.command(OURS, "speckit:implement", "")
}

fn implement_forced(world: &World) -> Call {
    world.command(OURS, "speckit:implement", "--force")
}

fn implement_part(world: &World) -> Call {
    world.command(OURS, "speckit:implement", "T002-T003 use python --ignore-checklists")
}

fn task_hook(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "hook", "speckit.git.commit"])
}

fn start_in_session(_: &World) -> Call {
    Call::spool(Some(OURS), &["start"])
}

fn start(_: &World) -> Call {
    Call::spool(None, &["start"])
}

fn stop(world: &World) -> Call {
    world.stop(OURS, "I stop here.")
}

fn stop_with_promise(world: &World) -> Call {
    world.stop(OURS, "All is done.\n<promise>DONE</promise>")
}

fn compacted(world: &World) -> Call {
    world.other_event(OURS, "SessionStart", ("source", "compact"))
}

fn failed_turn(world: &World) -> Call {
    world.other_event(OURS, "StopFailure", ("error", "rate_limit"))
}

fn cancel_command(world: &World) -> Call {
    world.command(OURS, "speckit:cancel", "")
}

fn cancel(_: &World) -> Call {
    Call::spool(None, &["cancel"])
}

fn pause(_: &World) -> Call {
    Call::spool(None, &["pause"])
}

fn resume(_: &World) -> Call {
    Call::spool(None, &["resume"])
}

fn task_block(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "block", "put the key into .env"])
}

fn block(_: &World) -> Call {
    Call::spool(Some(OURS), &["block", "put the key into .env"])
}

fn task_done(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "done", "T002"])
}

fn task_fail(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "fail", "T002", "no such module"])
}

fn task_add(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "add", "--after", "T002", "Write the manual"])
}

fn task_verify(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "verify", "T002"])
}

fn task_next(_: &World) -> Call {
    Call::spool(Some(OURS), &["task", "next"])
}

fn status(_: &World) -> Call {
    Call::spool(None, &["status"])
}

fn log(_: &World) -> Call {
    Call::spool(None, &["log"])
}

fn adopt(world: &World) -> Call {
    world.command(OURS, "speckit:ralph-loop", &format!("--adopt {OTHER} --force"))
}

fn adopt_replacing(world: &World) -> Call {
    world.command(OURS, "speckit:ralph-loop", &format!("--adopt {OTHER} --force --replace"))
}

fn spool_adopt(_: &World) -> Call {
    Call::spool(Some(OURS), &["adopt", "--session", OTHER])
}

fn ralph(world: &World) -> Call {
    world.command(OURS, "speckit:ralph-loop", "\"Make it\" --max-iterations 9")
}

fn ralph_of_file(world: &World) -> Call {
    world.command(OURS, "speckit:ralph-loop", "--prompt-file task.md --max-iterations 9")
}

fn ralph_replaced(world: &World) -> Call {
    world.command(OURS, "speckit:ralph-loop", "\"Make it\" --max-iterations 9 --replace")
}

fn cancel_ralph(world: &World) -> Call {
    world.command(OURS, "speckit:cancel-ralph", "")
}

// ---- what must hold -------------------------------------------------------------------------------

/// Says that the loop is armed, or that it is not; and it is so.
fn armed(case: &Case<'_>) -> Outcome {
    let says_armed = case.said("the loop is armed");
    if says_armed && !case.killed() {
        ensure(case.now.live() == [OURS], "it says armed, and no loop lives")?;
        same(&case.now.phase.as_str(), &"execution", "it says armed, and the phase is not it")?;
    } else if !case.killed() && !case.is_mute() {
        unchanged_loops(case, "it is refused")?;
        let is_free = case.before.phase.is_empty() && case.before.live().is_empty();
        if is_free && !is_corrupt(case) && !case.cannot_undo() {
            case.stops(OURS, "I stop here.").silent("refused, then a stop")?;
        }
    } else {
        let live = case.now.live();
        ensure(live.is_empty() || live == [OURS], &format!("the loop lives in {live:?}"))?;
    }
    ensure(case.now.tasks == case.before.tasks, "the list is another one")?;
    let now = case.again()?;
    ensure(now.live() == [OURS], "armed again, and no loop lives")?;
    case.stops(OURS, "I stop here.").held("armed again")
}

/// Whether a stop has something to say about the state file whatever happens.
fn is_corrupt(case: &Case<'_>) -> bool {
    std::fs::read(case.world.feature(".speckit-state.json"))
        .is_ok_and(|bytes| bytes == CORRUPT.as_bytes())
}

/// The loops are what they were before, and so is the phase.
fn unchanged_loops(case: &Case<'_>, when: &str) -> Outcome {
    if case.cannot_undo() {
        return Ok(());
    }
    same(&case.now.loops, &case.before.loops, &format!("{when}, and the loops are others"))?;
    same(&case.now.pins, &case.before.pins, &format!("{when}, and the pins are others"))
}

/// Arming takes a feature from another session.
fn taken(case: &Case<'_>) -> Outcome {
    let live = case.now.live();
    ensure(live.len() <= 1, &format!("the loop lives in {live:?}"))?;
    if case.said("the loop is armed") && !case.killed() {
        ensure(live == [OURS], "it says armed, and the loop is elsewhere")?;
    } else if !case.killed() && !case.is_mute() {
        unchanged_loops(case, "it is refused")?;
        if !case.cannot_undo() {
            case.stops(OTHER, "I stop here.").held("refused, then a stop of the old session")?;
        }
    }
    ensure(case.again()?.live() == [OURS], "armed again, and the loop is elsewhere")?;
    case.stops(OURS, "I stop here.").held("armed again")?;
    match case.stops(OTHER, "I stop here.") {
        Answer::Held(_) => Err("both sessions are held".to_owned()),
        _ => Ok(()),
    }
}

/// A person arms in a terminal; the first session that stops takes the loop.
fn started(case: &Case<'_>) -> Outcome {
    let pin = |facts: &Facts| facts.pins.get(FEATURE).cloned();
    if case.acknowledged() {
        same(&pin(&case.now), &Some((None, None)), "it says armed, and the pin is not open")?;
        case.stops(OURS, "I stop here.").held("armed in a terminal")?;
        return Ok(());
    }
    if !case.killed() && !case.is_mute() {
        let open = pin(&case.now).is_some_and(|(_, closed)| closed.is_none());
        ensure(!open || case.cannot_undo(), "it is refused, and the pin is open")?;
        if !case.cannot_undo() {
            case.stops(OURS, "I stop here.").silent("refused, then a stop")?;
        }
    }
    same(&pin(&case.again()?), &Some((None, None)), "armed again, and the pin is not open")?;
    case.stops(OURS, "I stop here.").held("armed again in a terminal")
}

/// A stop that sends the agent back, or lets it go where it could not be judged; the loop lives on.
fn goes_on(case: &Case<'_>) -> Outcome {
    ensure(case.now.live() == [OURS], "the loop does not live any more")?;
    let (before, now) = (case.before.loops[OURS].iterations, case.now.loops[OURS].iterations);
    ensure(now == before || now == before + 1, "iterations were lost or doubled")?;
    if case.said("\"decision\"") && !case.is_mute() {
        ensure(now == before + 1, "the agent was sent back, and it was not counted")?;
    }
    same(&case.now.tasks, &case.before.tasks, "the list is another one")?;
    if case.before.phase.is_empty() {
        return Ok(());
    }
    case.stops(OURS, "I stop again.").held("at the next stop")?;
    let after = case.facts()?.loops[OURS].iterations;
    ensure(after == now + 1, "the next iteration was lost or doubled")
}

/// How many stops follow at most until a loop is over that a fault has kept from its end.
const ROUNDS: usize = 5;

/// The loop comes to this end, now or at the next stop, and keeps its name.
fn ends(case: &Case<'_>, reason: &str, words: Option<&str>) -> Outcome {
    let end = case.now.end(OURS);
    ensure(end.is_empty() || end == reason, &format!("it ended as {end}"))?;
    let told = !case.is_mute() && words.is_some_and(|words| case.said(words));
    if told && !case.killed() {
        same(&end, &reason, "the person was told of an end, and it is not there")?;
    }
    // Nobody can tell twice what was on its way when the program was killed or could not print.
    let mut is_told = told || case.killed() || case.is_mute();
    let mut is_over = case.now.end(OURS) == reason;
    for _ in 0..ROUNDS {
        let run = case.repeats();
        is_told |= words.is_none_or(|words| run.stdout.contains(words));
        let is_held = run.stdout.contains("\"decision\"");
        ensure(!is_over || !is_held, "the agent is held after the end")?;
        is_over = case.facts()?.end(OURS) == reason;
    }
    ensure(is_told, &format!("nobody was ever told of `{}`", words.unwrap_or_default()))?;
    let after = case.facts()?;
    same(&after.end(OURS), &reason, "the end has another name")?;
    if let Some((_, closed)) = after.pins.get(FEATURE) {
        same(&closed.as_deref(), &Some(reason), "the end of the pin has another name")?;
    }
    Ok(())
}

/// The work is done. A box that was ticked by hand has one receipt, where one could be kept.
fn completes(case: &Case<'_>) -> Outcome {
    ends(case, "completed", None)?;
    let now = case.facts()?;
    for id in ["T002", "T003", "T004"].into_iter().filter(|id| case.before.is_done(id)) {
        let receipts = now.receipts_of(id);
        let can_keep = case.killed() || case.fault == Fault::None;
        ensure(
            receipts <= 1 && (receipts == 1 || !can_keep),
            &format!("{id}: {receipts} receipts"),
        )?;
    }
    Ok(())
}

/// Each box that was ticked by hand gets one receipt, at this stop or at the next one, and the work counts for no third one.
fn keeps_hand_ticks(case: &Case<'_>) -> Outcome {
    ensure(case.now.live() == [OURS], "the loop does not live any more")?;
    same(&case.now.tasks, &case.before.tasks, "the list is another one")?;
    case.stops_idle(OURS, "I stop again.").held("at the next stop")?;
    let next = case.facts()?;
    // Where a file could not be read or written, less can be proved, and it is told.
    let sees_all = case.killed() || case.fault == Fault::None;
    for id in ["T002", "T003"] {
        let (then, receipts) = (case.now.receipts_of(id), next.receipts_of(id));
        ensure(then <= receipts && receipts <= 1, &format!("{id}: {then}, then {receipts}"))?;
        ensure(receipts == 1 || !sees_all, &format!("{id} has no receipt"))?;
    }
    // They share the work, whenever they are judged.
    let is_shared = next.receipts.iter().all(|(_, proof)| proof == "tick");
    ensure(is_shared || !sees_all, &format!("proofs: {:?}", next.receipts))?;
    case.world.tick("T004");
    let answer = case.stops_idle(OURS, "All is done.");
    if sees_all {
        answer.held("with a box that nothing proves")?;
        same(&case.facts()?.receipts_of("T004"), &0, "receipts of what is not done")?;
    }
    Ok(())
}

fn ends_as_max_iters(case: &Case<'_>) -> Outcome {
    ends(case, "max_iters", Some("max_iters"))
}

fn ends_as_no_progress(case: &Case<'_>) -> Outcome {
    ends(case, "no_progress", Some("ended (no_progress)"))
}

fn ends_as_corrupt(case: &Case<'_>) -> Outcome {
    ends(case, "corrupt_state", Some("corrupt_state"))
}

fn tells_blocked(case: &Case<'_>) -> Outcome {
    ends(case, "blocked", Some("put the key into .env"))
}

fn waits(case: &Case<'_>) -> Outcome {
    ensure(case.now.live() == [OURS], "the loop does not live any more")?;
    let (before, now) = (case.before.loops[OURS].iterations, case.now.loops[OURS].iterations);
    let held = case.said("\"decision\"");
    // A state file that cannot be read for once is no approval.
    ensure(now == before || held, "waiting, and an iteration is counted")?;
    ensure(!held || case.kind.is_some(), "waiting, and the agent is held")?;
    match case.stops(OURS, "I wait.") {
        Answer::Held(_) => Err("held while a person is asked".to_owned()),
        _ => Ok(()),
    }
}

/// A loop that was armed in a terminal is taken by the first session that stops.
fn claims(case: &Case<'_>) -> Outcome {
    let live = case.now.live();
    ensure(live.is_empty() || live == [OURS], &format!("the loop lives in {live:?}"))?;
    if case.said("\"decision\"") && !case.is_mute() {
        ensure(live == [OURS], "the agent was sent back, and the loop is not there")?;
    }
    case.stops(OURS, "I stop again.").held("at the next stop")?;
    let now = case.facts()?;
    ensure(now.live() == [OURS], "the loop is not there after the next stop")?;
    ensure(now.noted("claimed") <= 1, "claimed twice")?;
    match case.stops(OTHER, "I stop here.") {
        Answer::Held(_) => Err("both sessions are held".to_owned()),
        _ => Ok(()),
    }
}

/// Another session's loop is none of ours.
fn beside(case: &Case<'_>) -> Outcome {
    unchanged_loops(case, "a stop beside")?;
    ensure(!case.said("\"decision\""), "held for another session's loop")?;
    case.stops(OURS, "I stop again.").silent("a stop beside")?;
    case.stops(OTHER, "I stop here.").held("the session that has the loop")
}

/// What a command proves is said, and no loop is touched.
fn changes_no_loop(case: &Case<'_>) -> Outcome {
    same(&case.now.loops, &case.before.loops, "the loops are others")?;
    same(&case.now.tasks, &case.before.tasks, "the list is another one")?;
    case.stops(OURS, "I stop here.").held("at the next stop")
}

fn changes_nothing(case: &Case<'_>) -> Outcome {
    same(&case.now, case.before, "what only looks has changed something")?;
    case.stops(OURS, "I stop here.").held("at the next stop")
}

fn pauses_for_failure(case: &Case<'_>) -> Outcome {
    ensure(case.now.live() == [OURS], "the loop does not live any more")?;
    if case.said("systemMessage") && !case.is_mute() {
        ensure(case.now.loops[OURS].paused, "it says paused, and it is not")?;
    }
    case.stops(OURS, "I stop again.").held("after the next prompt")
}

/// The agent may stop; what was cancelled in a terminal is told, once.
fn lets_go(case: &Case<'_>, when: &str) -> Outcome {
    let answer = case.stops(OURS, "I stop here.");
    if matches!(&answer, Answer::Told(words) if words.contains("ended (cancelled)")) {
        ensure(!case.call.is_hook(), &format!("{when}, the person hears it twice"))?;
        return case.stops(OURS, "I stop here.").silent(when);
    }
    answer.silent(when)
}

/// A person has cancelled the loop, and reads whether it is so.
fn cancelled(case: &Case<'_>) -> Outcome {
    let says = !case.killed()
        && if case.call.is_hook() {
            case.said("cancelled") && !case.said("cannot")
        } else {
            case.acknowledged()
        };
    if says {
        ensure(case.now.live().is_empty(), "it says cancelled, and the loop lives")?;
        lets_go(case, "cancelled, then a stop")?;
    }
    same(&case.now.tasks, &case.before.tasks, "the list is another one")?;
    let now = case.again()?;
    ensure(now.live().is_empty(), "cancelled again, and the loop lives")?;
    if let Answer::Held(_) = case.stops(OURS, "I stop here.") {
        return Err("held after the cancel".to_owned());
    }
    let end = case.facts()?;
    same(&end.end(OURS), &"cancelled", "the end has another name")
}

fn paused(case: &Case<'_>) -> Outcome {
    ensure(case.now.live() == [OURS], "the loop does not live any more")?;
    let is = case.now.loops[OURS].paused;
    if case.acknowledged() {
        ensure(is, "it says paused, and it is not")?;
    } else if !case.killed() && !case.is_mute() {
        ensure(!is, "it says that it failed, and the loop is paused")?;
    }
    ensure(case.again()?.loops[OURS].paused, "paused again, and it is not")?;
    ensure(case.facts()?.noted("paused") <= 1, "noted twice")?;
    match case.stops(OURS, "I stop here.") {
        Answer::Held(_) => Err("held in a pause".to_owned()),
        _ => Ok(()),
    }
}

fn resumed(case: &Case<'_>) -> Outcome {
    ensure(case.now.live() == [OURS], "the loop does not live any more")?;
    let is = case.now.loops[OURS].paused;
    if case.acknowledged() {
        ensure(!is, "it says that it goes on, and it is paused")?;
    } else if !case.killed() && !case.is_mute() {
        ensure(is, "it says that it failed, and the loop goes on")?;
    }
    ensure(!case.again()?.loops[OURS].paused, "resumed again, and it is paused")?;
    case.stops(OURS, "I stop here.").held("after the pause")
}

/// The agent needs a person: that is an end with its name and its words.
fn blocks(case: &Case<'_>) -> Outcome {
    let words = "put the key into .env";
    if case.acknowledged() {
        case.stops(OURS, "I need a key.").told(words, "blocked, then a stop")?;
        return same(&case.facts()?.end(OURS), &"blocked", "the end has another name");
    }
    match case.stops(OURS, "I need a key.") {
        Answer::Silent => Err("the agent may stop, and nobody is told why".to_owned()),
        told @ Answer::Told(_) => {
            told.told(words, "broken off, then a stop")?;
            same(&case.facts()?.end(OURS), &"blocked", "the end has another name")
        }
        Answer::Held(_) => {
            case.again()?;
            case.stops(OURS, "I need a key.").told(words, "blocked again, then a stop")?;
            same(&case.facts()?.end(OURS), &"blocked", "the end has another name")
        }
    }
}

/// A box is ticked, once in every book.
fn ticks(case: &Case<'_>) -> Outcome {
    let has_none = case.now.receipts_of("T002") == 0;
    if case.acknowledged() {
        ensure(case.now.is_done("T002"), "it says done, and the box is open")?;
        let says = case.said("Its receipt could not be kept") || case.is_mute();
        ensure(says || !has_none, "it says done, there is no receipt, and nobody is told")?;
    }
    ensure(has_none || case.now.is_done("T002"), "there is a receipt, and the box is open")?;
    let now = case.again()?;
    same(&now.receipts_of("T002"), &1, "done again: receipts")?;
    // Where a file could not be read, less can be proved, and it is told.
    let sees_all = case.killed() || case.fault == Fault::None;
    let proofs: Vec<_> = now.receipts.iter().map(|(_, proof)| proof.as_str()).collect();
    let is_proved = proofs.contains(&"files") || proofs.contains(&"command");
    ensure(is_proved || !sees_all, &format!("its proof is {proofs:?}"))?;
    ensure(now.is_done("T002"), "done again, and the box is open")?;
    same(&now.noted("done T002"), &1, "lines of the journal")?;
    let noted = now.progress.iter().filter(|line| line.starts_with("- [done] T002 ")).count();
    same(&noted, &1, "lines of the progress notes")?;
    others_unchanged(case, &now, &["T002"])?;
    // Its work is no work of the next task.
    if is_proved {
        let next = case.later(&Call::spool(Some(OURS), &["task", "done", "T003"]));
        ensure(next.code != Some(0), "another task is done by the same work")?;
        same(&case.facts()?.receipts_of("T003"), &0, "receipts of what is not done")?;
    }
    case.stops(OURS, "I stop here.").held("at the next stop")
}

/// All lines of the list but those of these tasks are what they were.
fn others_unchanged(case: &Case<'_>, now: &Facts, but: &[&str]) -> Outcome {
    let others = |facts: &Facts| -> Vec<String> {
        let ours = |line: &&String| !but.iter().any(|id| line.contains(id));
        facts.tasks.iter().filter(ours).cloned().collect()
    };
    same(&others(now), &others(case.before), "the list is not whole")
}

fn counts(case: &Case<'_>) -> Outcome {
    let count = |facts: &Facts| facts.attempts.get("T002").copied().unwrap_or(0);
    let first = count(&case.now);
    ensure(first <= 1, "counted twice")?;
    if case.acknowledged() {
        same(&first, &1, "it says counted, and it is not")?;
        same(&case.now.noted("failed T002"), &1, "lines of the journal")?;
    }
    same(&count(&case.again()?), &(first + 1), "failed again: attempts")?;
    case.stops(OURS, "I stop here.").held("at the next stop")
}

fn repairs(case: &Case<'_>) -> Outcome {
    let repairs = |facts: &Facts| {
        facts.tasks.iter().filter(|line| line.contains("Remove what made it fail")).count()
    };
    ensure(repairs(&case.now) <= 1, "two repairs")?;
    if case.acknowledged() {
        same(&repairs(&case.now), &1, "it says that there is a repair, and there is none")?;
    }
    let now = case.again()?;
    same(&repairs(&now), &1, "failed again: repairs")?;
    others_unchanged(case, &now, &["Remove what made it fail"])?;
    case.stops(OURS, "I stop here.").held("at the next stop")
}

fn fails_for_good(case: &Case<'_>) -> Outcome {
    if case.acknowledged() {
        case.stops(OURS, "It fails.").told("task_failed", "failed for good, then a stop")?;
        return same(&case.facts()?.end(OURS), &"task_failed", "the end has another name");
    }
    match case.stops(OURS, "It fails.") {
        Answer::Silent => Err("the agent may stop, and nobody is told why".to_owned()),
        told @ Answer::Told(_) => {
            told.told("task_failed", "broken off, then a stop")?;
            same(&case.facts()?.end(OURS), &"task_failed", "the end has another name")
        }
        Answer::Held(_) => {
            case.again()?;
            case.stops(OURS, "It fails.").told("task_failed", "failed again, then a stop")?;
            same(&case.facts()?.end(OURS), &"task_failed", "the end has another name")
        }
    }
}

fn adds(case: &Case<'_>) -> Outcome {
    let added = |facts: &Facts| {
        facts.tasks.iter().filter(|line| line.ends_with(" Write the manual")).count()
    };
    ensure(added(&case.now) <= 1, "added twice")?;
    if case.acknowledged() {
        same(&added(&case.now), &1, "it says added, and it is not there")?;
    } else {
        same(&added(&case.again()?), &1, "added again")?;
    }
    others_unchanged(case, &case.facts()?, &["Write the manual"])?;
    case.stops(OURS, "I stop here.").held("at the next stop")
}

/// A loop moves from one session to another: it is in exactly one, whatever breaks.
fn adopted(case: &Case<'_>) -> Outcome {
    moved_over(case, &|| case.repeats())
}

/// An agent takes only a silent loop: a person takes it again.
fn adopted_by_agent(case: &Case<'_>) -> Outcome {
    moved_over(case, &|| case.later(&adopt(case.world)))
}

fn moved_over(case: &Case<'_>, again: &dyn Fn() -> Run) -> Outcome {
    let at = case.now.live();
    ensure(at.contains(&OTHER) || at.contains(&OURS), "the loop is in no session")?;
    let moved = !case.now.end(OTHER).is_empty() || !at.contains(&OTHER);
    let says = !case.killed() && case.said("Loop taken over from");
    if says {
        ensure(moved && at == [OURS], &format!("it says that it moved, and it is in {at:?}"))?;
    } else if !case.killed() && !case.is_mute() {
        ensure(!moved, "it is refused, and the loop has moved")?;
    }
    let held = [OURS, OTHER].map(|session| case.stops(session, "I stop here."));
    let held = held.map(|answer| matches!(answer, Answer::Held(_)));
    ensure(held != [false, false], "no session is held")?;
    let both_had_one = case.before.live().len() == 2;
    ensure(both_had_one || held != [true, true], "both sessions are held")?;
    ensure(again().signal.is_none(), "made again, it ended by a signal")?;
    ensure(case.facts()?.live() == [OURS], "taken over again, and it is elsewhere")?;
    let held = [OURS, OTHER].map(|session| case.stops(session, "I stop again."));
    let held = held.map(|answer| matches!(answer, Answer::Held(_)));
    same(&held, &[true, false], "taken over again: who is held")
}

fn ralph_armed(case: &Case<'_>) -> Outcome {
    let is_new = |facts: &Facts| {
        facts.loops.get(OURS).is_some_and(|armed| {
            armed.kind == "ralph"
                && armed.end.is_empty()
                && Some(armed) != case.before.loops.get(OURS)
        })
    };
    let says = !case.killed() && case.said("additionalContext") && !case.said("cannot");
    if says {
        ensure(is_new(&case.now), "it says armed, and it is not")?;
    } else if !case.killed() && !case.is_mute() {
        unchanged_loops(case, "it is refused")?;
    }
    case.again()?;
    case.stops(OURS, "I stop here.").held("armed again")
}

fn ralph_cancelled(case: &Case<'_>) -> Outcome {
    let says = !case.killed()
        && if case.call.is_hook() { case.said("ended (cancelled)") } else { case.acknowledged() };
    if says {
        same(&case.now.end(OURS), &"cancelled", "it says cancelled, and it is not")?;
        lets_go(case, "cancelled, then a stop")?;
    } else if !case.killed() && !case.is_mute() {
        same(&case.now.end(OURS), &"", "it says that it failed, and the loop is over")?;
    }
    same(&case.again()?.end(OURS), &"cancelled", "cancelled again: the end")?;
    lets_go(case, "cancelled again, then a stop")
}
