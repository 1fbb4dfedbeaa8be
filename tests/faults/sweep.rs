//! Visits every step of a story: each fails in several ways, each is torn, each is the last one.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::errno::Errno;

use super::story::{Stage, Story};
use super::tracer::{Fault, Kind, Step};
use super::world::World;

/// How many stories are played side by side.
const AT_ONCE: usize = 2;

/// What was done, and what did not hold.
#[derive(Debug, Default)]
pub struct Tally {
    pub faults: usize,
    pub kills: usize,
    /// What did not hold, with one example: how often, and where.
    wrong: BTreeMap<String, (usize, String)>,
}

/// Plays all stories with all faults; prints the counts and returns the report of what did not hold.
pub fn play(stories: &[Story]) -> (Tally, String) {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(story) = stories.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = sweep(story);
                    println!("{}: {} faults, {} kills", story.name, tally.faults, tally.kills);
                    all.lock().unwrap().add(tally);
                }
            });
        }
    });
    let tally = all.into_inner().unwrap();
    let report = tally.wrong.iter().fold(String::new(), |report, (what, (times, example))| {
        report + &format!("\n{times} times: {what}\n    {example}\n")
    });
    (tally, report)
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.faults += other.faults;
        self.kills += other.kills;
        self.wrong.extend(other.wrong);
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
    let turn = story.name.len();
    for (at, step) in run.steps.iter().enumerate() {
        for fault in faults(at, step, turn + at) {
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
                let words = run.steps.get(at).map_or("", |step| step.words.as_str());
                tally.note(story.name, &format!("{fault:?} {words}"), &why);
            }
        }
    }
    tally
}

/// What is done to a step; each of the errors that it may give has its turn.
fn faults(at: usize, step: &Step, turn: usize) -> Vec<Fault> {
    let errors: &[Errno] = match step.kind {
        Kind::Open => &[Errno::EACCES, Errno::EMFILE, Errno::EIO],
        Kind::Create => &[Errno::ENOSPC, Errno::EACCES, Errno::EROFS, Errno::EMFILE],
        Kind::Read => &[Errno::EIO, Errno::EINTR],
        Kind::Write => &[Errno::ENOSPC, Errno::EIO, Errno::EDQUOT, Errno::EINTR],
        Kind::Print => &[Errno::ENOSPC, Errno::EPIPE, Errno::EINTR],
        Kind::Look => &[Errno::EACCES, Errno::EIO],
        Kind::Rename => &[Errno::ENOSPC, Errno::EIO, Errno::EACCES, Errno::EINVAL],
        Kind::Remove | Kind::Change => &[Errno::EIO, Errno::EACCES],
        Kind::Folder => &[Errno::ENOSPC, Errno::EACCES, Errno::EROFS],
        Kind::Lock => &[Errno::EINTR, Errno::ENOLCK],
        Kind::Flush => &[Errno::EIO, Errno::ENOSPC],
        Kind::Start => &[Errno::EAGAIN, Errno::ENOMEM],
        Kind::Wait => &[Errno::EINTR],
        Kind::Handle => &[Errno::EMFILE],
    };
    let mut faults = vec![Fault::Fail(at, errors[turn % errors.len()])];
    if step.kind == Kind::Write {
        faults.push(Fault::Torn(at));
    }
    if step.kind.changes_the_disk() {
        let error = [Errno::ENOSPC, Errno::EROFS, Errno::EIO][turn % 3];
        faults.push(Fault::FullFrom(at, error));
    }
    // Between two looks nothing changes: a kill before the second is one before the next change.
    if step.kind.changes_the_disk() || matches!(step.kind, Kind::Lock | Kind::Flush | Kind::Print) {
        faults.push(Fault::Kill(at));
    }
    faults
}
