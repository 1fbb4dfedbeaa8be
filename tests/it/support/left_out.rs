//! A test that leaves itself out says so, past test runners, which keep what a passing test prints to themselves.

use std::fs::File;
use std::io::{Write, stderr};

use ralph_speckit::world;

/// Tells why, and which test: in the file that `RALPH_TEST_LEFT_OUT` names, which the gate prints, or on standard error.
pub fn left_out(why: &str) {
    let thread = std::thread::current();
    let line = format!("left out: {}: {why}\n", thread.name().unwrap_or_default());
    let mut place: Box<dyn Write> = match world::raw_variable("RALPH_TEST_LEFT_OUT") {
        Some(file) => Box::new(File::options().append(true).create(true).open(file).unwrap()),
        None => Box::new(stderr()),
    };
    place.write_all(line.as_bytes()).unwrap();
}
