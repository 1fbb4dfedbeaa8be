//! System calls that fail, programs that are killed between two of them, disks that are full: for every
//! operation of both programs, what must hold afterwards.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::io::Write;

mod disk;
mod facts;
mod installing;
#[path = "../it/support/left_out.rs"]
mod left_out;
#[path = "../it/support/limited.rs"]
mod limited;
mod runner;
#[path = "../it/support/scratch.rs"]
mod scratch;
mod stories;
mod story;
mod sweep;
mod tracer;
mod trusting;
mod world;

/// How many stories are played on full disks at once.
const DISKS: usize = 3;

/// These stories, or those of them with some words of `FAULTS_ONLY` in their names, such as `plugin build|adopt`.
fn wanted(stories: Vec<story::Story>) -> Vec<story::Story> {
    let only = ralph_speckit::world::variable("FAULTS_ONLY").unwrap_or_default();
    let is_wanted = |story: &story::Story| only.split('|').any(|words| story.name.contains(words));
    stories.into_iter().filter(is_wanted).collect()
}

/// Prints a line past the test runner, which keeps what passing tests print to itself.
fn say(words: &str) {
    let mut terminal = std::io::stderr();
    terminal.write_all(format!("faults: {words}\n").as_bytes()).unwrap();
}

#[test]
fn faults_lose_no_facts() {
    if !tracer::can_trace() {
        return;
    }
    let mut all = installing::stories();
    all.extend(stories::all());
    let (tally, report) = sweep::play(&wanted(all));
    say(&format!("{} faults, {} kills", tally.faults, tally.kills));
    assert!(report.is_empty(), "{report}");
    let is_whole = ralph_speckit::world::variable("FAULTS_ONLY").is_none();
    let part = sweep::Part::wanted();
    let enough = tally.faults * part.faults >= 11_500 && tally.kills * part.kills >= 2_000;
    assert!(!is_whole || enough, "too few were visited");
}

#[test]
fn full_disk_loses_no_facts() {
    if !tracer::can_trace() {
        return;
    }
    let disks: Option<Vec<_>> = (0..DISKS).map(|_| disk::Disk::mount()).collect();
    let Some(disks) = disks else {
        return;
    };
    let (times, report) = sweep::play_on(&disks, &wanted(stories::all()));
    say(&format!("{times} runs on a full disk"));
    assert!(report.is_empty(), "{report}");
}
