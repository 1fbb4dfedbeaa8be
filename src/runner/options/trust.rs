//! What a project's own file may say without the person's trust: it may tighten, and nothing else.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::choices::{Commits, DoneWhen, Doubted};
use super::file::PROJECT_FILE;
use super::resolve::{Options, resolve};
use super::settings::{FromProject, Layers, Origin, ProjectChecks, RunnerSettings, Setting};
use crate::engine::PromiseMatch;
use crate::engine::proof::LeastProof;
use crate::feature::settings::SETTINGS;
use crate::session::pinned::indented;
use crate::store;
use crate::system::files::real_path;
use crate::world;

#[cfg(test)]
mod properties;

/// Whether the person trusts the project for this once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectTrust {
    /// `--trust-project`.
    Now,
    /// Only where the person's file names the project.
    Listed,
}

/// What the person does to trust it.
const HOW: &str = "run `spool trust` when you would type that yourself, or use --trust-project for this once; `trusted-projects` of your own file trusts whatever it says";

/// Returns the settings that count: without the limits of the project's file that are looser than what holds
/// without it. An error names what the person has not trusted and what takes effect only with trust: programs,
/// commits, what counts as done, and a limit of 0.
///
/// A project's file comes with the repository. What it tightens is harmless; a check is a command that runs with
/// the person's rights and asks nobody, and agent programs differ in what they allow by themselves.
pub fn only_what_is_trusted(
    mut layers: Layers,
    root: &Path,
    trusted: ProjectTrust,
) -> Result<Layers> {
    if trusted == ProjectTrust::Now || names_project(&layers.person, root) {
        return Ok(layers);
    }
    let ProjectChecks { checks, review, foreign, .. } = &layers.of_every_loop;
    let checks: Vec<_> = checks.iter().chain(review).collect();
    let commands: Vec<String> = checks.iter().map(|check| check.run.clone()).collect();
    let is_known = |file: &str, commands: &[String]| {
        // What cannot be read is no trust.
        store::trust::trusts(root, file, commands).unwrap_or_default()
    };
    if *foreign && !checks.is_empty() && !is_known(SETTINGS, &commands) {
        let runs: Vec<_> = checks.iter().map(|it| format!("  {}", indented(&it.run))).collect();
        bail!(
            "`checks` in `{SETTINGS}` come with the repository and are commands, and this project is not trusted:\n{}\n{HOW}",
            runs.join("\n")
        );
    }
    // A value that is wrong is reported before trust is asked for.
    resolve(&layers, String::new(), root)?;
    for setting in bold(&layers) {
        if is_known(PROJECT_FILE, &lines(&setting)) {
            continue;
        }
        let is_none = !setting.values.concat().contains(|it: char| matches!(it, '1'..='9'));
        let what = match (setting.rule, setting.name) {
            (FromProject::Limit, _) if !is_none => {
                layers.leave_out(&setting);
                continue;
            }
            (FromProject::Limit, "strict") => "takes your `strict` away",
            (FromProject::Limit, "converge") => "takes your `converge` away",
            (FromProject::Limit, "include-optional") => "takes your `include-optional` away",
            (FromProject::Limit, "proof") => "lets every tick count",
            (FromProject::Limit, _) => "takes a limit away",
            (_, "harness" | "fallback-harness" | "check" | "notify") => "says which programs run",
            (_, name) if name.starts_with("review") => "says who reviews the work",
            (_, "commit") => "lets the loop commit",
            _ => "says when the loop is done",
        };
        let values: Vec<String> =
            setting.values.iter().map(|value| format!("  {}", indented(value))).collect();
        bail!(
            "{} {what}, and this project is not trusted:\n{}\n{HOW}",
            setting.named(),
            values.join("\n")
        )
    }
    Ok(layers)
}

/// Returns what the project's own file says that needs the person's trust, a line for each.
pub fn needs_trust(layers: &Layers) -> Vec<String> {
    bold(layers).iter().flat_map(lines).collect()
}

fn lines(setting: &Setting) -> Vec<String> {
    let name = setting.name;
    setting.values.iter().map(|value| format!("{name} = {value}")).collect()
}

/// The settings of the project's own file that say which programs run, or make the loop looser than it is
/// without them.
fn bold(layers: &Layers) -> Vec<Setting> {
    let options = |layers: &Layers| resolve(layers, String::new(), Path::new("/"));
    let with = options(layers);
    let is_bold = |setting: &Setting| {
        if !matches!(setting.origin, Origin::Project(..)) {
            return false;
        }
        match (setting.rule, setting.name) {
            (FromProject::Free | FromProject::Never, _) => false,
            (_, "check" | "harness" | "fallback-harness" | "notify") => true,
            (_, name) if name.starts_with("review") => true,
            (_, name) => {
                let mut without = layers.clone();
                without.leave_out(setting);
                match (&with, options(&without)) {
                    (Ok(with), Ok(without)) => is_looser(name, with, &without),
                    // Where one of them makes no loop, nobody can say that the setting is tighter.
                    _ => true,
                }
            }
        }
    };
    layers.merged().made().into_iter().filter(is_bold).collect()
}

/// Whether a setting lets the loop run longer, end as done sooner, or do more; one that is not known does.
fn is_looser(name: &str, with: &Options, without: &Options) -> bool {
    /// Whether a limit is higher than another one; none is the highest.
    fn higher<T: Ord>(with: Option<T>, without: Option<T>) -> bool {
        without.is_some_and(|without| with.is_none_or(|with| with > without))
    }
    let some = |limit: u32| (limit > 0).then_some(limit);
    match name {
        "max-iterations" => higher(with.max_iterations, without.max_iterations),
        "stall-threshold" => higher(some(with.stall_threshold), some(without.stall_threshold)),
        "no-progress" => higher(some(with.no_progress), some(without.no_progress)),
        "max-failures" => with.max_failures > without.max_failures,
        "iteration-timeout" => higher(with.iteration_timeout, without.iteration_timeout),
        "idle-timeout" => higher(with.idle_timeout, without.idle_timeout),
        "max-runtime" => higher(with.max_runtime, without.max_runtime),
        "token-budget" => higher(with.token_budget, without.token_budget),
        "max-limit-wait" => with.limit_wait > without.limit_wait,
        "max-usd" => higher(with.max_cost, without.max_cost),
        "grace" => with.grace > without.grace,
        "check-timeout" => with.check_timeout > without.check_timeout,
        "retry-pause" => with.retry_pause < without.retry_pause,
        "min-iterations" => with.min_iterations < without.min_iterations,
        "strict" => with.doubted == Doubted::Told && without.doubted == Doubted::Fails,
        "converge" => without.converge && !with.converge,
        "include-optional" => without.include_optional && !with.include_optional,
        "proof" => with.proof == LeastProof::Word && without.proof == LeastProof::Files,
        "commit" => with.commits == Commits::EachIteration && without.commits == Commits::Never,
        "done" => with.done != without.done && with.done != Some(DoneWhen::Tasks),
        "completion-promise" => with.promise != without.promise,
        "promise-match" => {
            with.promise_match == PromiseMatch::Anywhere
                && without.promise_match == PromiseMatch::OwnLine
        }
        _ => true,
    }
}

/// Whether the person's own file names the project; a project's file cannot get here.
fn names_project(person: &RunnerSettings, root: &Path) -> bool {
    person.trusted_projects.iter().any(|folder| {
        let path = match (folder.value.strip_prefix("~/"), world::home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(&folder.value),
        };
        path.is_absolute() && real_path(&path).is_ok_and(|folder| folder == root)
    })
}
