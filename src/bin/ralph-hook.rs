//! The program that Claude Code starts at every stop.
fn main() {}
