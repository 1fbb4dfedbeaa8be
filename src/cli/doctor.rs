//! `spool doctor`: looks at everything a loop needs, and says what to do about what is not in order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::environment::Environment;
use crate::engine::Guardrails;
use crate::exec::find::find;
use crate::feature::project::Project;
use crate::feature::settings::{SETTINGS, Settings, misnamed};
use crate::plugin::call::call;
use crate::plugin::client::{self, Client, InstalledPlugin};
use crate::plugin::{IDENTIFIER, NAME, VERSION, programs};
use crate::session::pinned;
use crate::session::report::feature::{Report, let_go};
use crate::store::loops::Loops;
use crate::store::read;
use crate::style;
use crate::text;

/// The most that is read of a settings file, in bytes.
const MOST: u64 = 1 << 20;

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

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// In order.
    Ok,
    /// A loop works, but not as somebody may expect.
    Warn,
    /// A loop does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at; stable, for programs.
    pub name: &'static str,
    /// How it came out.
    pub status: Status,
    /// What was found, in one line.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Returns success when no check fails.
pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let environment = Environment::of_this_process()?;
    let program = match &args.claude {
        Some(named) => Some(named.clone()),
        None => find("claude"),
    };
    let client = program.map(|program| {
        Client::new(&program, environment.claude_config.as_deref(), &environment.working_folder)
    });
    let checks = examine(&environment, client.as_ref());
    if args.json {
        print_json(&checks)?;
    } else {
        print_for_people(&checks);
    }
    let fails = checks.iter().any(|check| check.status == Status::Fail);
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns every check, in the order in which a person would put things right.
pub fn examine(environment: &Environment, client: Option<&Client>) -> Vec<Check> {
    let project = project_folder(environment);
    let settings = SettingsFile::all(environment, &project);
    let mut checks = vec![check_client(client)];
    let plugins = client.map(Client::plugins);
    match &plugins {
        Some(Ok(plugins)) => {
            checks.push(check_plugin(plugins));
            checks.extend(check_programs(plugins));
        }
        Some(Err(error)) => checks.push(Check::fail(
            "plugin",
            format!(
                "Claude Code does not tell which plugins it has: {}",
                one_line(&format!("{error:#}"))
            ),
            "run `claude plugin list` and put right what it says",
        )),
        None => {}
    }
    checks.extend(check_settings_files(&settings));
    checks.push(check_hooks_allowed(&settings, environment));
    checks.push(check_project_switch(environment));
    checks.extend(check_let_go(environment));
    checks.extend(check_armed(environment));
    let plugins = plugins.and_then(Result::ok).unwrap_or_default();
    checks.push(check_other_loops(&plugins));
    checks.push(check_other_stop_hooks(&settings, &plugins));
    checks.push(check_block_cap(&settings, environment));
    checks
}

fn check_client(client: Option<&Client>) -> Check {
    let name = "client";
    let Some(client) = client else {
        return Check::fail(
            name,
            "no `claude` was found on PATH",
            "install Claude Code, or give its path: spool doctor --claude PATH",
        );
    };
    let at = client.program().display();
    match client.version() {
        Ok(version) if version >= client::OLDEST => {
            Check::ok(name, format!("Claude Code {version} at `{at}`"))
        }
        Ok(version) => Check::fail(
            name,
            format!(
                "Claude Code {version} at `{at}` is too old: {} or later is needed",
                client::OLDEST
            ),
            "update it: claude update",
        ),
        Err(error) => Check::fail(
            name,
            format!("Claude Code at `{at}` does not work: {}", one_line(&format!("{error:#}"))),
            "reinstall Claude Code, or give another path: spool doctor --claude PATH",
        ),
    }
}

fn check_plugin(plugins: &[InstalledPlugin]) -> Check {
    let name = "plugin";
    let Some(ours) = plugins.iter().find(|plugin| plugin.id == IDENTIFIER) else {
        return Check::fail(
            name,
            format!("`{IDENTIFIER}` is not installed in Claude Code"),
            "install it: spool setup",
        );
    };
    if !ours.errors.is_empty() {
        return Check::fail(
            name,
            format!(
                "Claude Code cannot load `{IDENTIFIER}`: {}",
                one_line(&ours.errors.join("; "))
            ),
            "install it again: spool setup",
        );
    }
    if !ours.enabled {
        return Check::fail(
            name,
            format!("`{IDENTIFIER}` is switched off"),
            format!("switch it on: claude plugin enable {IDENTIFIER}"),
        );
    }
    let version = ours.version.as_deref().unwrap_or("unknown");
    if version != VERSION {
        return Check::fail(
            name,
            format!(
                "`{IDENTIFIER}` is of version {}, this `spool` is {VERSION}",
                one_line(version)
            ),
            "bring both to one version: spool setup",
        );
    }
    Check::ok(name, format!("`{IDENTIFIER}` {VERSION} is installed and switched on"))
}

/// Whether the programs run; nothing where there is no plugin, which is said already.
fn check_programs(plugins: &[InstalledPlugin]) -> Option<Check> {
    let name = "programs";
    let ours = plugins.iter().find(|plugin| plugin.id == IDENTIFIER)?;
    let Some(folder) = ours.folder() else {
        return Some(Check::fail(
            name,
            "Claude Code does not tell where the plugin lies",
            "install it again: spool setup",
        ));
    };
    Some(match try_programs(folder) {
        Ok(()) => Check::ok(
            name,
            format!(
                "`ralph-hook` and `spool` {VERSION} run, from `{}`",
                folder.join("bin").display()
            ),
        ),
        Err(error) => {
            Check::fail(name, one_line(&format!("{error:#}")), "install them again: spool setup")
        }
    })
}

/// Starts both programs; the hook is asked, as Claude Code would ask it, for the status of an empty folder.
fn try_programs(plugin: &Path) -> Result<()> {
    let empty = tempfile::tempdir().context("could not make a temporary folder")?;
    let spool = plugin.join("bin").join(programs::SPOOL);
    let mut command = Command::new(&spool);
    command.arg("--version").current_dir(empty.path());
    let answer = call(command, "")?;
    if answer.output.split_whitespace().last() != Some(VERSION) {
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
    let mut command = Command::new(&hook);
    // A launcher that finds no program notes that it said so; that note belongs with the folder.
    command.current_dir(empty.path()).env("CLAUDE_PLUGIN_DATA", empty.path());
    command.env_remove("CLAUDE_PROJECT_DIR");
    let answer = call(command, &question.to_string())?;
    let said: Value = serde_json::from_str(&answer.output).unwrap_or_default();
    if !answer.status.success() || said["decision"] != "block" {
        bail!(
            "`{}` does not answer as it should: {}, {}{}",
            hook.display(),
            answer.status,
            answer.output,
            answer.errors
        );
    }
    Ok(())
}

fn check_settings_files(settings: &[SettingsFile]) -> Vec<Check> {
    settings
        .iter()
        .filter_map(|file| {
            let fault = file.fault.as_deref()?;
            Some(Check::warn(
                "settings",
                format!("`{}` cannot be read: {fault}", file.path.display()),
                "put it right: Claude Code may ignore it or refuse to start",
            ))
        })
        .collect()
}

fn check_hooks_allowed(settings: &[SettingsFile], environment: &Environment) -> Check {
    let name = "hooks";
    let managed = || settings.iter().filter(|file| file.level == Level::Managed);
    if let Some(file) = managed().find(|file| file.says("allowManagedHooksOnly")) {
        let enabled_there =
            managed().any(|file| file.content["enabledPlugins"][IDENTIFIER] == Value::Bool(true));
        if !enabled_there {
            return Check::fail(
                name,
                format!(
                    "`{}` allows only the hooks that your organisation manages",
                    file.path.display()
                ),
                format!("ask whoever manages it to enable the plugin `{IDENTIFIER}` there"),
            );
        }
    }
    // The last file that says anything wins, as in the client.
    let disabled = settings.iter().rev().find(|file| file.content["disableAllHooks"].is_boolean());
    if let Some(file) = disabled.filter(|file| file.says("disableAllHooks")) {
        return Check::fail(
            name,
            format!(
                "all hooks are switched off, by `disableAllHooks` in `{}`",
                file.path.display()
            ),
            "remove that line",
        );
    }
    let variables = variables(settings, environment);
    for variable in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"] {
        if let Some((value, place)) = variables.get(variable)
            && is_switched_on(value)
        {
            return Check::fail(
                name,
                format!("`{variable}` switches hooks and plugins off, in {place}"),
                "unset it",
            );
        }
    }
    Check::ok(name, "no setting switches hooks off")
}

fn check_project_switch(environment: &Environment) -> Check {
    let name = "project";
    let start = &environment.working_folder;
    let Some(project) = Project::around(start) else {
        return Check::ok(
            name,
            "this folder is in no spec-kit project: there is nothing to switch off",
        );
    };
    let path = project.root.join(SETTINGS);
    let settings = match Settings::read(&project.root) {
        Ok(settings) => settings,
        Err(error) => {
            let what = format!("`{}` cannot be used: {}", path.display(), error.what());
            return Check::fail(name, what, error.next_step());
        }
    };
    if let Some(other) = misnamed(&project.root) {
        let what = format!("`{other}` is not the settings file: nothing in it counts");
        return Check::fail(
            name,
            what,
            format!("did you mean `{SETTINGS}`? rename it, or remove it"),
        );
    }
    if !settings.enabled {
        return Check::warn(
            name,
            format!("the loop is switched off for this project, in `{}`", path.display()),
            "set `enabled: true` there, or remove the file, when you want it back",
        );
    }
    Check::ok(name, "the loop is not switched off for this project")
}

/// What may be run for the live loops of this project, and whether its settings need trust.
fn check_armed(environment: &Environment) -> Vec<Check> {
    let name = "armed";
    let Some(project) = Project::around(&environment.working_folder) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    let untrusted = Settings::read(&project.root)
        .is_ok_and(|settings| pinned::trusted(&project.root, &settings).is_err());
    if untrusted {
        checks.push(Check::fail(
            name,
            format!("`{SETTINGS}` came with the repository, and you have not trusted its checks"),
            "read them with `spool trust`; until then no loop is armed",
        ));
    }
    let live = |status: &str| !matches!(status, "none" | "ended");
    for feature in Report::of(&project).features.iter().filter(|it| live(&it.loop_status)) {
        let about = text::line(&feature.name);
        checks.push(match &feature.pin {
            Some(pin) => Check::ok(
                name,
                format!(
                    "the loop of {about} was armed by {} with {}{}",
                    text::line(&pin.armed_by),
                    pinned::in_short(pin.checks.len(), pin.verify),
                    pinned::checks_in_words(&pin.checks)
                ),
            ),
            None => Check::warn(
                name,
                format!("no person armed the loop of {about}: no command is run for it"),
                "arm it with /speckit:implement or `spool start`, or end it with `spool cancel`",
            ),
        });
    }
    checks
}

/// The sessions that were not held because the loop is another's: nothing is wrong, but somebody may
/// wonder.
fn check_let_go(environment: &Environment) -> Option<Check> {
    let project = Project::around(&environment.working_folder)?;
    let loops = Loops::of(&project.root);
    let mut features = project.features().into_iter();
    let (feature, session) = features
        .find_map(|feature| Some((let_go(&loops, &feature.name).into_iter().next()?, feature)))
        .map(|(session, feature)| (feature.name, session))?;
    Some(Check::warn(
        "let-go",
        format!(
            "session {} stopped and was not held: feature {} is driven by session {}",
            one_line(&session.session),
            one_line(&feature),
            one_line(&session.owner)
        ),
        "type /speckit:implement in the session that is to go on with it",
    ))
}

fn check_other_loops(plugins: &[InstalledPlugin]) -> Check {
    let name = "other-loops";
    let others: Vec<&InstalledPlugin> = plugins
        .iter()
        .filter(|plugin| plugin.enabled && plugin.id != IDENTIFIER && is_loop(&plugin.id))
        .collect();
    if others.is_empty() {
        return Check::ok(name, "no other loop plugin is switched on");
    }
    let names: Vec<String> =
        others.iter().map(|plugin| format!("`{}`", one_line(&plugin.id))).collect();
    let commands: Vec<String> = others
        .iter()
        .map(|plugin| format!("claude plugin disable {}", one_line(&plugin.id)))
        .collect();
    Check::warn(
        name,
        format!("another loop may hold the same session: {}", names.join(", ")),
        format!("use one loop at a time: {}", commands.join("; ")),
    )
}

fn check_other_stop_hooks(settings: &[SettingsFile], plugins: &[InstalledPlugin]) -> Check {
    let mut others = Vec::new();
    for file in settings {
        for command in stop_hooks(&file.content["hooks"]) {
            others.push(format!("`{command}` in `{}`", file.path.display()));
        }
    }
    for plugin in plugins
        .iter()
        .filter(|plugin| plugin.enabled && plugin.id != IDENTIFIER && !is_loop(&plugin.id))
    {
        if plugin.folder().is_some_and(has_stop_hook) {
            others.push(format!("the plugin `{}`", one_line(&plugin.id)));
        }
    }
    if others.is_empty() {
        return Check::ok("stop-hooks", "no other Stop hook is configured");
    }
    Check::ok(
        "stop-hooks",
        format!(
            "other Stop hooks run beside ours, and each has its own say: {}",
            others.join(", ")
        ),
    )
}

fn check_block_cap(settings: &[SettingsFile], environment: &Environment) -> Check {
    let name = "block-cap";
    let variable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
    let idle = i64::from(Guardrails::default().max_idle_stops);
    let variables = variables(settings, environment);
    let Some((value, place)) = variables.get(variable) else {
        return Check::ok(
            name,
            "Claude Code ends a turn after 8 refused stops without a tool call; the loop ends itself before",
        );
    };
    match value.trim().parse::<i64>() {
        Ok(cap) if cap <= 0 => Check::ok(
            name,
            format!("`{variable}` is {cap} in {place}: Claude Code sets no limit of its own"),
        ),
        // The loop lets an agent go that only talks; a cap at or below that limit is met first.
        Ok(cap) if cap <= idle => Check::warn(
            name,
            format!(
                "`{variable}` is {cap} in {place}: Claude Code ends the turn before the loop can say why"
            ),
            format!("unset it, or make it larger than {idle}"),
        ),
        Ok(cap) => Check::ok(name, format!("`{variable}` is {cap} in {place}")),
        Err(_) => Check::warn(
            name,
            format!("`{variable}` is `{}` in {place}, which is no number", one_line(value)),
            "unset it",
        ),
    }
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), next: None }
    }

    fn warn(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, status: Status::Warn, found: found.into(), next: Some(next.into()) }
    }

    fn fail(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, status: Status::Fail, found: found.into(), next: Some(next.into()) }
    }
}

/// PinKey settings a file holds, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    User,
    Project,
    Local,
    Managed,
}

#[derive(Debug)]
struct SettingsFile {
    level: Level,
    path: PathBuf,
    /// `null` when it could not be read.
    content: Value,
    fault: Option<String>,
}

impl SettingsFile {
    /// Every settings file that exists, the weakest first.
    fn all(environment: &Environment, project: &Path) -> Vec<Self> {
        let mut places = vec![(Level::User, environment.claude_folder().join("settings.json"))];
        if project.join(".claude") != environment.claude_folder() {
            places.push((Level::Project, project.join(".claude/settings.json")));
            places.push((Level::Local, project.join(".claude/settings.local.json")));
        }
        places.push((Level::Managed, environment.managed_settings.join("managed-settings.json")));
        let mut dropped_in: Vec<PathBuf> =
            fs::read_dir(environment.managed_settings.join("managed-settings.d"))
                .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
                .unwrap_or_default();
        dropped_in.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        dropped_in.sort();
        places.extend(dropped_in.into_iter().map(|path| (Level::Managed, path)));
        places
            .into_iter()
            .filter(|(_, path)| path.exists())
            .map(|(level, path)| Self::read(level, path))
            .collect()
    }

    fn read(level: Level, path: PathBuf) -> Self {
        let fault = match read::read(&path, MOST) {
            Ok(content) => match serde_json::from_slice(&content.bytes) {
                Ok(content) => return Self { level, path, content, fault: None },
                Err(error) => error.to_string(),
            },
            Err(problem) => problem.to_string(),
        };
        Self { level, path, content: Value::Null, fault: Some(fault) }
    }

    fn says(&self, key: &str) -> bool {
        self.content[key] == Value::Bool(true)
    }
}

/// The client's variables with their values and where they come from: settings override the shell, later files earlier ones.
fn variables(
    settings: &[SettingsFile],
    environment: &Environment,
) -> BTreeMap<String, (String, String)> {
    let mut found: BTreeMap<String, (String, String)> = environment
        .client_variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (value.clone(), "the environment".to_owned())))
        .collect();
    for file in settings {
        let Some(environment) = file.content["env"].as_object() else {
            continue;
        };
        for (name, value) in environment {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            found.insert(name.clone(), (value, format!("`{}`", file.path.display())));
        }
    }
    found
}

fn is_switched_on(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

/// Names of plugins that hold a session by a Stop hook of their own, and other plugins with our commands.
fn is_loop(identifier: &str) -> bool {
    let name = identifier.split('@').next().unwrap_or(identifier);
    name == NAME || name.starts_with("oh-my-") || LOOP_PLUGINS.contains(&name)
}

const LOOP_PLUGINS: &[&str] =
    &["ralph", "ralph-loop", "ralph-speckit", "ralph-specum", "ralph-wiggum", "smart-ralph"];

/// What each Stop hook of a `hooks` object runs, shortened for showing.
fn stop_hooks(hooks: &Value) -> Vec<String> {
    let groups = hooks["Stop"].as_array().into_iter().flatten();
    groups
        .flat_map(|group| group["hooks"].as_array().into_iter().flatten())
        .map(|hook| {
            let said =
                ["command", "prompt", "url", "type"].iter().find_map(|key| hook[*key].as_str());
            text::title(&one_line(said.unwrap_or("unknown")), 80)
        })
        .collect()
}

fn has_stop_hook(plugin: &Path) -> bool {
    let read = |path: PathBuf| -> Value {
        let content = read::read(&path, MOST).ok();
        content.and_then(|content| serde_json::from_slice(&content.bytes).ok()).unwrap_or_default()
    };
    let listed = read(plugin.join(".claude-plugin/plugin.json"))["hooks"].take();
    let named = listed.as_str().map_or(Value::Null, |path| read(plugin.join(path)));
    [&listed, &named["hooks"], &read(plugin.join("hooks/hooks.json"))["hooks"]]
        .iter()
        .any(|hooks| !stop_hooks(hooks).is_empty())
}

/// The nearest folder at or above the working folder that looks like a project's root, otherwise the working folder.
fn project_folder(environment: &Environment) -> PathBuf {
    let start = &environment.working_folder;
    start
        .ancestors()
        .take_while(|folder| *folder != environment.home)
        .find(|folder| {
            [".claude", ".specify", ".git"].iter().any(|mark| folder.join(mark).exists())
        })
        .unwrap_or(start)
        .to_owned()
}

/// The text in one line, without what could steer a terminal.
fn one_line(text: &str) -> String {
    text::line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

fn print_json(checks: &[Check]) -> Result<()> {
    #[derive(Serialize)]
    struct Report<'a> {
        version: u32,
        ok: bool,
        checks: &'a [Check],
    }
    let ok = checks.iter().all(|check| check.status != Status::Fail);
    let report = serde_json::to_string_pretty(&Report { version: 1, ok, checks })?;
    outln!("{}", text::json(&report));
    Ok(())
}

fn print_for_people(checks: &[Check]) {
    for check in checks {
        let (word, style) = match check.status {
            Status::Ok => ("ok  ", style::GOOD),
            Status::Warn => ("warn", style::WARN),
            Status::Fail => ("fail", style::BAD),
        };
        outln!("{style}{word}{style:#}  {}", check.found);
        if let Some(next) = &check.next {
            outln!("      {next}");
        }
    }
    let fails = checks.iter().filter(|check| check.status == Status::Fail).count();
    let warnings = checks.iter().filter(|check| check.status == Status::Warn).count();
    outln!();
    match (fails, warnings) {
        (0, 0) => outln!("everything is in order"),
        (0, 1) => outln!("nothing is broken; one thing is worth a look"),
        (0, _) => outln!("nothing is broken; {warnings} things are worth a look"),
        (1, _) => outln!("a loop does not work: one thing must be put right"),
        _ => outln!("a loop does not work: {fails} things must be put right"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `hooks` check of a user whose organisation drops these files in.
    fn hooks_under(managed: &[(&str, &str)]) -> Check {
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
    fn an_organisation_that_allows_only_its_own_hooks_stops_the_loop() {
        let only = r#"{"allowManagedHooksOnly":true}"#;
        for place in ["managed-settings.json", "managed-settings.d/10-hooks.json"] {
            let check = hooks_under(&[(place, only)]);
            assert_eq!(check.status, Status::Fail, "{check:?}");
            assert!(check.found.contains(place), "{check:?}");
            assert!(check.next.unwrap().contains("speckit@ralph-speckit"));
        }
    }

    #[test]
    fn a_plugin_that_the_organisation_enables_may_run_its_hooks() {
        let check = hooks_under(&[
            ("managed-settings.json", r#"{"allowManagedHooksOnly":true}"#),
            (
                "managed-settings.d/20-plugins.json",
                r#"{"enabledPlugins":{"speckit@ralph-speckit":true}}"#,
            ),
        ]);
        assert_eq!(check.status, Status::Ok, "{check:?}");
    }

    #[test]
    fn an_organisation_may_switch_all_hooks_off() {
        let check = hooks_under(&[("managed-settings.json", r#"{"disableAllHooks":true}"#)]);
        assert_eq!(check.status, Status::Fail, "{check:?}");
    }

    #[test]
    fn text_from_elsewhere_cannot_steer_a_terminal() {
        assert_eq!(one_line("a\u{1b}[2J\n\tb\u{7}  c"), "a�[2J b� c");
    }

    #[test]
    fn loop_plugins_are_known_by_name_and_ours_is_not_taken_for_another() {
        for id in ["ralph-loop@a", "ralph-wiggum@b", "oh-my-claudecode@omc", "speckit@elsewhere"] {
            assert!(is_loop(id), "{id}");
        }
        for id in ["spec-kit@a", "ralphs-notes@b", "my-oh-my-tool@c"] {
            assert!(!is_loop(id), "{id}");
        }
    }
}
