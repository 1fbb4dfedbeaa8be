//! The command line for people and agents.

use std::process::ExitCode;

use clap::Parser;
use ralph_speckit::cli::{doctor, plugin, setup};

#[derive(Parser)]
#[command(version)]
enum Spool {
    /// Install the plugin for this user
    Setup(setup::SetupArgs),
    /// Tell whether everything is in order
    Doctor(doctor::DoctorArgs),
    /// Build the plugin
    Plugin(plugin::PluginArgs),
}

fn main() -> ExitCode {
    let result = match Spool::parse() {
        Spool::Setup(args) => setup::run(&args),
        Spool::Doctor(args) => doctor::run(&args),
        Spool::Plugin(args) => plugin::run(&args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
