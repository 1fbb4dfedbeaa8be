//! Visits the steps of a story: each fails in one way after the other, is torn, breaks the disk, or is the last one.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use ralph_speckit::world::{self, Stopwatch};

use super::disk::Disk;
use super::story::{Stage, Story};
use super::tracer::{Fault, Kind, Step};
use super::world::World;

/// How many stories are played side by side: more than there are processors, for a program that arms a loop waits for the
/// line that the person typed.
const AT_ONCE: usize = 8;

/// How many amounts of free room there are on a full disk: no page, one page, and so on.
const ROOMS: usize = 16;
const PAGE: u64 = 4096;

/// Which part of all steps is visited: each number N says that every Nth is. Kills find the most, so up to four times as many
/// of them are visited.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub faults: usize,
    pub kills: usize,
}

impl Part {
    /// All of them, or what `FAULTS_EVERY` names.
    pub fn wanted() -> Part {
        let every = world::variable("FAULTS_EVERY").and_then(|number| number.parse().ok());
        let faults: usize = every.unwrap_or(1);
        Part { faults, kills: faults.div_ceil(4) }
    }
}

/// What was done, and what did not hold.
#[derive(Debug, Default)]
pub struct Tally {
    pub faults: usize,
    pub kills: usize,
    /// What did not hold, with one example: how often, and where.
    wrong: BTreeMap<String, (usize, String)>,
}

/// Plays all stories, each with the wanted part of its faults; returns the counts, and the report of what did not hold.
pub fn play(stories: &[Story]) -> (Tally, String) {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for turn in 0..AT_ONCE {
            let (next, all) = (&next, &all);
            scope.spawn(move || {
                stay_on_one_processor(turn);
                while let Some(story) = stories.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let clock = Stopwatch::start();
                    let tally = sweep(story);
                    let (name, took) = (story.name, clock.elapsed());
                    println!("{name}: {} faults, {} kills, {took:.1?}", tally.faults, tally.kills);
                    all.lock().unwrap().add(tally);
                }
            });
        }
    });
    let tally = all.into_inner().unwrap();
    let report = tally.report();
    (tally, report)
}

/// Keeps this thread, and what it starts, on one processor, in their turn: a program and its tracer take turns as well, and
/// to wake somebody on another processor takes longer than most steps.
fn stay_on_one_processor(turn: usize) {
    let this_thread = Pid::from_raw(0);
    let Ok(allowed) = sched_getaffinity(this_thread) else { return };
    let there: Vec<usize> =
        (0..CpuSet::count()).filter(|&at| allowed.is_set(at).unwrap_or(false)).collect();
    let mut one = CpuSet::new();
    if one.set(there[turn % there.len()]).is_ok() {
        // Without it the sweep is slower, and as good.
        let _ = sched_setaffinity(this_thread, &one);
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.faults += other.faults;
        self.kills += other.kills;
        self.wrong.extend(other.wrong);
    }

    /// What did not hold, for a person; empty where all did.
    fn report(&self) -> String {
        self.wrong.iter().fold(String::new(), |report, (what, (times, example))| {
            report + &format!("\n{times} times: {what}\n    {example}\n")
        })
    }

    /// Notes what did not hold; the same words of one story are noted once.
    pub fn note(&mut self, story: &str, fault: &str, why: &str) {
        let (first, rest) = why.split_once('\n').unwrap_or((why, ""));
        let entry = self.wrong.entry(format!("{story}: {first}"));
        entry.or_insert_with(|| (0, format!("{fault}\n{rest}"))).0 += 1;
    }
}

/// All faults of one story.
fn sweep(story: &Story) -> Tally {
    let stage = Stage::of(story, World::new());
    let mut tally = Tally::default();
    // Without a fault all holds, or the story is wrong.
    let (run, outcome) = stage.play(story, Fault::None, None);
    if let Err(why) = outcome {
        tally.note(story.name, "without any fault", &why);
        return tally;
    }
    if run.steps.is_empty() {
        tally.note(story.name, "without any fault", "no step was seen");
        return tally;
    }
    let turn = story.name.len();
    let part = Part::wanted();
    let all = run.steps.iter().enumerate().filter(|(_, step)| step.words.contains(story.about));
    let all: Vec<_> = all.collect();
    for (number, &(at, step)) in all.iter().enumerate() {
        let is_change = step.kind.changes_something();
        let stride = if is_change { story.stride_of_changes } else { story.stride_of_looks };
        // Counted in visits: by the number of the step, all visits would have the same error.
        let faults = faults(at, step, (turn + number) / (stride * part.faults));
        let is_wanted = |fault: &Fault| {
            let every = if matches!(fault, Fault::Kill(_)) { part.kills } else { part.faults };
            // At least one step of a short story.
            (turn + number).is_multiple_of((stride * every).min(all.len()))
        };
        for fault in faults.into_iter().filter(is_wanted) {
            let (run, outcome) = stage.play(story, fault, Some(step.kind));
            if !run.hit {
                continue;
            }
            if matches!(fault, Fault::Kill(_)) {
                tally.kills += 1;
            } else {
                tally.faults += 1;
            }
            if let Err(why) = outcome {
                let hit = run.steps.get(at);
                let words = hit.map_or("", |step| step.words.as_str());
                let error = match (fault, hit) {
                    (Fault::Fail(_, turn), Some(step)) => step.kind.error(turn).to_string(),
                    _ => String::new(),
                };
                tally.note(story.name, &format!("{fault:?} {error} {words}"), &why);
            }
        }
    }
    tally
}

/// Plays all stories on disks that are nearly full, one story at a time on each; returns how often, and the report.
pub fn play_on(disks: &[Disk], stories: &[Story]) -> (usize, String) {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for (turn, disk) in disks.iter().enumerate() {
            let (next, all) = (&next, &all);
            scope.spawn(move || {
                stay_on_one_processor(turn);
                while let Some(story) = stories.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = fill(disk, story);
                    all.lock().unwrap().add(tally);
                }
            });
        }
    });
    let tally = all.into_inner().unwrap();
    (tally.faults, tally.report())
}

/// One story, with less and less room.
fn fill(disk: &Disk, story: &Story) -> Tally {
    let mut tally = Tally::default();
    let stage = Stage::of(story, World::at(disk.folder()));
    // Each story begins with another amount of room, so that all amounts have their turn.
    let every = Part::wanted().faults;
    for pages in (story.name.len() % every..ROOMS).step_by(every) {
        let free = pages as u64 * PAGE;
        stage.restore();
        let _beside = (story.beside)(&stage.world);
        disk.fill(free);
        let run = stage.world.run(&stage.call, Fault::FullDisk(free));
        disk.make_room();
        let (_, outcome) = stage.judge(story, Fault::FullDisk(free), None, run);
        tally.faults += 1;
        if let Err(why) = outcome {
            tally.note(story.name, &format!("{free} bytes free"), &why);
        }
    }
    tally
}

/// What is done to a step; each of the errors that it may give has its turn.
fn faults(at: usize, step: &Step, turn: usize) -> Vec<Fault> {
    let mut faults = vec![Fault::Fail(at, turn)];
    if step.kind == Kind::Write {
        faults.push(Fault::Torn(at));
    }
    if step.kind.changes_the_disk() {
        let error = [Errno::ENOSPC, Errno::EROFS, Errno::EIO][turn % 3];
        faults.push(Fault::BrokenFrom(at, error));
    }
    // Between two looks nothing changes: a kill before the second is one before the next change.
    if step.kind.changes_something() {
        faults.push(Fault::Kill(at));
    }
    faults
}
