//! `spool setup`: installs the plugin for this user, and removes exactly that.

mod answer;
mod data_folder;
mod files;
mod install;
mod remove;
mod site;

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::environment::Environment;
use super::person::in_agents_session;
pub use answer::SetupArgs;
use site::SetupSite;

/// Fails if the plugin could not be registered or unregistered. An agent does not remove it: every loop in a session lives
/// by its hook, also those of other projects.
pub fn run(args: &SetupArgs) -> Result<ExitCode> {
    if args.remove && !args.dry_run && in_agents_session() {
        bail!(
            "without the plugin every loop in a session is let go, and this is an agent's session\nonly a person removes it: `spool setup --remove` in a terminal of their own"
        );
    }
    let environment = Environment::of_this_process()?;
    let site = SetupSite::new(&environment, args.claude.as_deref())?;
    if args.remove { remove::run(&site, args) } else { install::run(&site, args) }
}
