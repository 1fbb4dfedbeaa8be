//! `spool doctor`: checks all that a loop needs, and tells how to fix the rest.

mod client_settings;
mod finding;
mod others;
mod plugin;
mod project;
mod settings;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use super::environment::Environment;
use crate::feature::project::Project;
use crate::forms;
use crate::forms::doctor::DoctorForm;
use crate::plugin::client::Client;
use crate::style;
use client_settings::SettingsFile;
use finding::{Finding, FindingStatus};

/// Check that everything a loop needs is in place.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 when nothing fails (warnings are fine), 1 otherwise.")]
pub struct DoctorArgs {
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,

    /// The Claude Code to look at, instead of the first `claude` on PATH
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
}

/// Succeeds when no check fails.
pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let environment = Environment::of_this_process()?;
    let program = args.claude.clone().or_else(|| environment.claude());
    let client = program.map(|program| {
        Client::new(&program, environment.claude_config.as_deref(), &environment.working_folder)
    });
    let checks = examine(&environment, client.as_ref());
    let ok = checks.iter().all(|check| check.status != FindingStatus::Fail);
    if args.json {
        dataln!("{}", forms::document(&DoctorForm { ok, checks })?);
    } else {
        print_for_people(&checks);
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All checks, in the order in which a person would fix things.
fn examine(environment: &Environment, client: Option<&Client>) -> Vec<Finding> {
    let project = project_folder(environment);
    let files = SettingsFile::all(environment, &project);
    let mut checks = vec![plugin::check_client(client)];
    let plugins = client.map(Client::plugins);
    checks.extend(plugins.iter().flat_map(plugin::check_plugin));
    checks.extend(settings::check_settings_files(&files));
    checks.push(settings::check_hooks_allowed(&files, environment));
    let spec_kit = Project::around(&environment.working_folder);
    checks.push(project::check_project_switch(spec_kit.as_ref()));
    checks.extend(project::check_runner_files(environment));
    if let Some(project) = &spec_kit {
        checks.extend(project::check_let_go(project));
        checks.extend(project::check_armed(project));
        checks.extend(project::check_list(project));
    }
    let plugins = plugins.and_then(Result::ok).unwrap_or_default();
    checks.push(others::check_other_loops(&plugins));
    checks.push(settings::check_block_cap(&files, environment));
    checks.push(others::check_stay_awake());
    checks
}

/// The nearest folder that looks like a project's root, else the working folder.
fn project_folder(environment: &Environment) -> PathBuf {
    let start = &environment.working_folder;
    let is_marked = |folder: &&Path| {
        [".claude", ".specify", ".git"].iter().any(|mark| folder.join(mark).exists())
    };
    let mut around = start.ancestors().take_while(|folder| *folder != environment.home);
    around.find(is_marked).unwrap_or(start).to_owned()
}

fn print_for_people(checks: &[Finding]) {
    for (at, check) in checks.iter().enumerate() {
        let (word, style) = match check.status {
            FindingStatus::Ok => ("ok  ", style::GOOD),
            FindingStatus::Warn => ("warn", style::WARN),
            FindingStatus::Fail => ("fail", style::BAD),
        };
        outln!("{style}{word}{style:#}  {}", check.found);
        // Advice that several lines share stands below the last one.
        let is_said = checks.get(at + 1).is_some_and(|below| below.next == check.next);
        if let Some(next) = check.next.as_ref().filter(|next| !is_said && !next.is_empty()) {
            outln!("      {next}");
        }
    }
    let fails = checks.iter().filter(|check| check.status == FindingStatus::Fail).count();
    let warnings = checks.iter().filter(|check| check.status == FindingStatus::Warn).count();
    outln!();
    match (fails, warnings) {
        (0, 0) => outln!("all checks passed"),
        (0, 1) => outln!("nothing is broken; one thing is worth a look"),
        (0, _) => outln!("nothing is broken; {warnings} things are worth a look"),
        (1, _) => outln!("a loop does not work: one thing must be fixed"),
        _ => outln!("a loop does not work: {fails} things must be fixed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The `hooks` check of a user whose organization drops these files in.
    fn hooks_under(managed: &[(&str, &str)]) -> Finding {
        let scratch = tempfile::tempdir().unwrap();
        for (name, text) in managed {
            let path = scratch.path().join("managed").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let environment = Environment {
            home: scratch.path().to_owned(),
            data_home: scratch.path().join("data"),
            claude_config: None,
            working_folder: scratch.path().to_owned(),
            program: PathBuf::from("spool"),
            managed_settings: scratch.path().join("managed"),
            client_variables: Vec::new(),
        };
        let mut checks = examine(&environment, None);
        let at = checks.iter().position(|check| check.name == "hooks").unwrap();
        checks.swap_remove(at)
    }

    #[test]
    fn strict_organization_stops_the_loop() {
        let only = r#"{"allowManagedHooksOnly":true}"#;
        for place in ["managed-settings.json", "managed-settings.d/10-hooks.json"] {
            let check = hooks_under(&[(place, only)]);
            assert_eq!(check.status, FindingStatus::Fail, "{check:?}");
            assert!(check.found.contains(place), "{check:?}");
            assert!(check.next.unwrap().contains("speckit@ralph-speckit"));
        }
    }

    #[test]
    fn enabled_plugin_may_run() {
        let check = hooks_under(&[
            ("managed-settings.json", r#"{"allowManagedHooksOnly":true}"#),
            (
                "managed-settings.d/20-plugins.json",
                r#"{"enabledPlugins":{"speckit@ralph-speckit":true}}"#,
            ),
        ]);
        assert_eq!(check.status, FindingStatus::Ok, "{check:?}");
    }

    #[test]
    fn organization_switches_hooks_off() {
        let check = hooks_under(&[("managed-settings.json", r#"{"disableAllHooks":true}"#)]);
        assert_eq!(check.status, FindingStatus::Fail, "{check:?}");
    }
}
