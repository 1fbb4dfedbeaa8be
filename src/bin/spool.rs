//! The command line for people and agents.
fn main() {}
