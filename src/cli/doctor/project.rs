//! Whether this project allows loops, who armed the live ones, and which sessions were not blocked.

use super::finding::{Finding, one_line};
use crate::cli::environment::Environment;
use crate::evidence::task_list::{self, TASKS};
use crate::feature::lists::others_in_words;
use crate::feature::project::{FeatureError, Project};
use crate::feature::settings::{SETTINGS, Settings, misnamed};
use crate::runner::options::file;
use crate::runner::target::root_around;
use crate::session::pinned;
use crate::session::report::StatusReport;
use crate::session::report::feature::let_go;
use crate::store::loops::Loops;
use crate::text;

/// The project's settings are valid and allow loops.
pub fn check_project_switch(project: Option<&Project>) -> Finding {
    let name = "project";
    let Some(project) = project else {
        return Finding::ok(
            name,
            "this folder is in no spec-kit project: /speckit:ralph-loop works here, /speckit:implement does not",
        );
    };
    let path = project.root.join(SETTINGS);
    let settings = match Settings::read(&project.root) {
        Ok(settings) => settings,
        Err(error) => {
            let what = format!("`{}` cannot be used: {}", path.display(), error.what());
            return Finding::fail(name, what, error.advice.replace('\n', "; "));
        }
    };
    if let Some(other) = misnamed(&project.root) {
        let what = format!("`{other}` is not the settings file: nothing in it counts");
        let next = format!("did you mean `{SETTINGS}`? rename it, or remove it");
        return Finding::fail(name, what, next);
    }
    if !settings.chosen.enabled() {
        let what = format!("the loop is switched off for this project, in `{}`", path.display());
        let next = "set `enabled: true` there, or remove the file, when you want it back";
        return Finding::warn(name, what, next);
    }
    if !settings.chosen.spec_kit_command() {
        let what = "the loop is not switched off for this project; spec-kit's own command does not arm it (`spec_kit_command: false`), /speckit:implement does";
        return Finding::ok(name, what);
    }
    if let Err(lost @ FeatureError::BadPointer(..)) = project.current_feature() {
        return Finding::fail(name, lost.to_string(), "mend that file, or name the feature");
    }
    let what = "the loop is not switched off for this project; /speckit-implement and /speckit:implement arm it";
    Finding::ok(name, what)
}

/// The commands that the live loops may run, and whether the settings need trust.
pub fn check_armed(project: &Project) -> Vec<Finding> {
    let name = "armed";
    let mut checks = Vec::new();
    let untrusted = Settings::read(&project.root)
        .is_ok_and(|settings| pinned::trusted(&project.root, &settings).is_err());
    if untrusted {
        let found =
            format!("`{SETTINGS}` came with the repository, and you have not trusted its commands");
        let next = "read them with `spool trust`; until then no loop is armed";
        checks.push(Finding::fail(name, found, next));
    }
    let features = StatusReport::of(project).features;
    let loops = features.iter().filter_map(|feature| feature.r#loop.as_ref());
    for report in loops.filter(|report| report.lives()) {
        let about = text::line(&report.form.about);
        checks.push(match &report.pin {
            Some(pin) => {
                let by = text::line(pin.armed_by.as_str());
                let checks = pinned::checks_in_words(&pin.checks);
                let checks = pinned::in_short(pin.checks.len(), &checks, pin.verify);
                Finding::ok(name, format!("the loop of {about} was armed by {by} with {checks}"))
            }
            None => Finding::warn(
                name,
                format!("no person armed the loop of {about}: no command is run for it"),
                "arm it with /speckit:implement or `spool start`, or end it with `spool stop`",
            ),
        });
    }
    checks
}

/// The files with the settings of `spool ralph` that cannot be used.
pub fn check_runner_files(environment: &Environment) -> Vec<Finding> {
    let root = root_around(&environment.working_folder).ok();
    let files = root.map(|root| file::of_project(&root)).into_iter().chain([file::of_person()]);
    let next = "repair it: until then `spool ralph` starts nothing";
    let wrong = files.filter_map(Result::err).map(|error| error.to_string());
    wrong.map(|error| Finding::fail("runner", one_line(&error), next)).collect()
}

/// Lines of the current feature's list that do not count, or have an odd mark.
pub fn check_list(project: &Project) -> Vec<Finding> {
    let Ok(Some(feature)) = project.current_feature() else { return Vec::new() };
    let settings = Settings::read(&project.root).unwrap_or_default();
    let file = task_list::read(&feature.folder).unwrap_or_default();
    let next = "`spool task list` shows what counts: lines such as `- [ ] T001 Create the project`";
    let finding = |aside: &String| {
        let found = format!("`{}/{TASKS}`: {}", text::line(&feature.relative), text::line(aside));
        Finding::warn("list", found, next)
    };
    file.list
        .with_optional(settings.chosen.include_optional())
        .asides_in_words()
        .iter()
        .chain(&others_in_words(&feature.folder))
        .map(finding)
        .collect()
}

/// Sessions that were not blocked because another session drives the loop: no fault, but people may wonder.
pub fn check_let_go(project: &Project) -> Option<Finding> {
    let loops = Loops::of(&project.root);
    let mut features = project.features().into_iter();
    let gone = features.find_map(|feature| let_go(&loops, &feature.name).into_iter().next())?;
    let [session, feature, owner] =
        [&gone.session, &gone.about, &gone.owner].map(|name| one_line(name));
    let found = format!(
        "session {session} stopped and was not blocked: feature {feature} is driven by session {owner}"
    );
    let next = "type /speckit:implement in the session that should continue it";
    Some(Finding::warn("let-go", found, next))
}
