//! The command line for people and agents.

use std::process::ExitCode;

fn main() -> ExitCode {
    ralph_speckit::cli::main()
}
