//! Settings of Claude Code that stop hooks, or end a turn before the loop does.

use serde_json::Value;

use super::client_settings::{SettingsFile, variables};
use super::finding::{Finding, one_line};
use crate::cli::environment::Environment;
use crate::engine::Guardrails;
use crate::plugin::IDENTIFIER;

pub fn check_settings_files(settings: &[SettingsFile]) -> Vec<Finding> {
    let next = "fix it: Claude Code may ignore it or refuse to start";
    let finding = |file: &SettingsFile| {
        let fault = file.fault.as_deref()?;
        let found = format!("`{}` cannot be read: {fault}", file.path.display());
        Some(Finding::warn("settings", found, next))
    };
    settings.iter().filter_map(finding).collect()
}

pub fn check_hooks_allowed(settings: &[SettingsFile], environment: &Environment) -> Finding {
    let name = "hooks";
    let managed = || settings.iter().filter(|file| file.is_managed);
    if let Some(file) = managed().find(|file| file.says("allowManagedHooksOnly")) {
        let enabled_there =
            managed().any(|file| file.content["enabledPlugins"][IDENTIFIER] == Value::Bool(true));
        if !enabled_there {
            let path = file.path.display();
            return Finding::fail(
                name,
                format!("`{path}` allows only the hooks that your organization manages"),
                format!("ask the person who manages it to enable the plugin `{IDENTIFIER}` there"),
            );
        }
    }
    // The last file that sets a value wins, as in the client.
    let disabled = settings.iter().rev().find(|file| file.content["disableAllHooks"].is_boolean());
    if let Some(file) = disabled.filter(|file| file.says("disableAllHooks")) {
        let path = file.path.display();
        let found = format!("all hooks are switched off, by `disableAllHooks` in `{path}`");
        return Finding::fail(name, found, "remove that line");
    }
    let variables = variables(settings, environment);
    for variable in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"] {
        if let Some((value, place)) = variables.get(variable)
            && is_switched_on(value)
        {
            let found = format!("`{variable}` switches hooks and plugins off, in {place}");
            return Finding::fail(name, found, "unset it");
        }
    }
    Finding::ok(name, "no setting switches hooks off")
}

/// Claude Code's own limit of refused stops has to be higher than ours.
pub fn check_block_cap(settings: &[SettingsFile], environment: &Environment) -> Finding {
    let name = "block-cap";
    let variable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
    let idle = i64::from(Guardrails::default().max_idle_stops);
    let variables = variables(settings, environment);
    let Some((value, place)) = variables.get(variable) else {
        return Finding::ok(
            name,
            "Claude Code ends a turn after 8 refused stops without a tool call; the loop ends itself before",
        );
    };
    match value.trim().parse::<i64>() {
        Ok(cap) if cap <= 0 => Finding::ok(
            name,
            format!("`{variable}` is {cap} in {place}: Claude Code sets no limit of its own"),
        ),
        // The loop allows the stop of an agent that only talks; a cap at or below that limit comes first.
        Ok(cap) if cap <= idle => Finding::warn(
            name,
            format!(
                "`{variable}` is {cap} in {place}: Claude Code ends the turn before the loop can say why"
            ),
            format!("unset it, or make it larger than {idle}"),
        ),
        Ok(cap) => Finding::ok(name, format!("`{variable}` is {cap} in {place}")),
        Err(_) => {
            let value = one_line(value);
            let found = format!("`{variable}` is `{value}` in {place}, which is no number");
            Finding::warn(name, found, "unset it")
        }
    }
}

fn is_switched_on(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}
