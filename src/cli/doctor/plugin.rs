//! Claude Code, the plugin, and the plugin's two programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::finding::{Finding, one_line};
use crate::plugin::call::call;
use crate::plugin::client::{self, Client, InstalledPlugin};
use crate::plugin::{IDENTIFIER, NAME, VERSION, programs};

pub fn check_client(client: Option<&Client>) -> Finding {
    let name = "client";
    let Some(client) = client else {
        let next = "install Claude Code, or give its path: spool doctor --claude PATH";
        return Finding::fail(name, "no `claude` was found on PATH", next);
    };
    let (at, oldest) = (client.program().display(), client::OLDEST);
    match client.version() {
        Ok(version) if version >= oldest => {
            Finding::ok(name, format!("Claude Code {version} at `{at}`"))
        }
        Ok(version) => {
            let found =
                format!("Claude Code {version} at `{at}` is too old: {oldest} or later is needed");
            Finding::fail(name, found, "update it: claude update")
        }
        Err(error) => {
            let why = one_line(&format!("{error:#}"));
            let next = "reinstall Claude Code, or give another path: spool doctor --claude PATH";
            Finding::fail(name, format!("Claude Code at `{at}` does not work: {why}"), next)
        }
    }
}

/// Our plugin has to be installed, enabled and of this version.
pub fn check_plugin(plugins: &Result<Vec<InstalledPlugin>>) -> Vec<Finding> {
    let name = "plugin";
    let ours = match plugins {
        Ok(plugins) => plugins.iter().find(|plugin| plugin.id == IDENTIFIER),
        Err(error) => {
            let why = one_line(&format!("{error:#}"));
            let found = format!("Claude Code does not list its plugins: {why}");
            let next = "run `claude plugin list` and fix what it reports";
            return vec![Finding::fail(name, found, next)];
        }
    };
    let Some(ours) = ours else {
        let found = format!("`{IDENTIFIER}` is not installed in Claude Code");
        return vec![Finding::fail(name, found, "install it: spool setup")];
    };
    vec![check_installed(name, ours), check_programs(ours)]
}

fn check_installed(name: &'static str, ours: &InstalledPlugin) -> Finding {
    if !ours.errors.is_empty() {
        let why = one_line(&ours.errors.join("; "));
        let found = format!("Claude Code cannot load `{IDENTIFIER}`: {why}");
        return Finding::fail(name, found, "install it again: spool setup");
    }
    if !ours.enabled {
        let next = format!("switch it on: claude plugin enable {IDENTIFIER}");
        return Finding::fail(name, format!("`{IDENTIFIER}` is switched off"), next);
    }
    let version = ours.version.as_deref().unwrap_or("unknown");
    if version != VERSION {
        let version = one_line(version);
        let found = format!("`{IDENTIFIER}` is of version {version}, this `spool` is {VERSION}");
        return Finding::fail(name, found, "bring both to one version: spool setup");
    }
    Finding::ok(name, format!("`{IDENTIFIER}` {VERSION} is installed and switched on"))
}

fn check_programs(ours: &InstalledPlugin) -> Finding {
    let name = "programs";
    let folder = ours.read_from_folder.as_ref().or(ours.install_path.as_ref());
    let Some(folder) = folder else {
        let found = "Claude Code does not say where the plugin is";
        return Finding::fail(name, found, "install it again: spool setup");
    };
    let bin = folder.join("bin");
    match try_programs(folder) {
        Ok(()) => {
            let found = format!("`ralph-hook` and `spool` {VERSION} run, from `{}`", bin.display());
            Finding::ok(name, found)
        }
        Err(error) => {
            Finding::fail(name, one_line(&format!("{error:#}")), "install them again: spool setup")
        }
    }
}

/// Starts both programs with a slash command, as Claude Code does. `spool` has to tell the status of an empty folder,
/// and the hook has to leave the command to `spool`, in words.
fn try_programs(plugin: &Path) -> Result<()> {
    let empty = tempfile::tempdir().context("could not make a temporary folder")?;
    let spool = plugin.join("bin").join(programs::SPOOL);
    let mut command = Command::new(&spool);
    command.arg("--version").current_dir(empty.path());
    let answer = call(command, "")?;
    // The name, the version and, in a release, the commit.
    if answer.output.split_whitespace().nth(1) != Some(VERSION) {
        bail!(
            "`{}` does not answer as version {VERSION}: {}{}",
            spool.display(),
            answer.output,
            answer.errors
        );
    }
    let hook = plugin.join("bin").join(programs::HOOK);
    let question = serde_json::json!({
        "hook_event_name": "UserPromptExpansion",
        "session_id": "00000000-0000-0000-0000-000000000000",
        "command_name": format!("{NAME}:status"),
        "command_args": "",
        "cwd": empty.path(),
    });
    for (program, words) in [(&spool, &["hook"][..]), (&hook, &[])] {
        let mut command = Command::new(program);
        // A launcher that finds no program leaves a note, which belongs into the temporary folder.
        command.args(words).current_dir(empty.path()).env("CLAUDE_PLUGIN_DATA", empty.path());
        command.env_remove("CLAUDE_PROJECT_DIR");
        let answer = call(command, &question.to_string())?;
        let said: Value = serde_json::from_str(&answer.output).unwrap_or_default();
        if !answer.status.success() || said["decision"] != "block" {
            bail!(
                "`{}` does not answer as it should: {}, {}{}",
                program.display(),
                answer.status,
                answer.output,
                answer.errors
            );
        }
    }
    Ok(())
}
