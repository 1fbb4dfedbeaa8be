//! The program that Claude Code starts at every stop: one event in, one answer out, always code 0.

fn main() {
    ralph_speckit::hook::main();
}
