//! `spool setup`: installs the plugin for this user, and removes exactly that.

mod answer;
mod args;
mod data_folder;
mod files;
mod install;
mod remove;
mod site;

use std::process::ExitCode;

use anyhow::Result;

use super::environment::Environment;
pub use args::SetupArgs;
use site::SetupSite;

/// Fails if the plugin could not be registered or unregistered.
pub fn run(args: &SetupArgs) -> Result<ExitCode> {
    let environment = Environment::of_this_process()?;
    let site = SetupSite::new(&environment, args.claude.as_deref())?;
    if args.remove { remove::run(&site, args) } else { install::run(&site, args) }
}
