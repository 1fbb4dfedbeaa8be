//! What a project's own file may say without the person's trust: it may tighten, and nothing else.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::file::PROJECT_FILE;
use super::layers::Layers;
use super::resolve::resolve;
use crate::session::pinned::{self, indented};
use crate::settings::{Chosen, Made, Origin, Rule, Setting};
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
    pinned::trusted(root, &layers.of_every_loop)
        .map_err(|refusal| anyhow!("{refusal}, or use --trust-project for this once"))?;
    // A value that is wrong is reported before trust is asked for.
    resolve(&layers, String::new(), root)?;
    for made in bold(&layers) {
        // What cannot be read is no trust.
        if store::trust::trusts(root, PROJECT_FILE, &lines(&made)).unwrap_or_default() {
            continue;
        }
        let what = match made.setting.rule {
            Rule::Program => "says which programs run or how the work is reviewed",
            Rule::Word(_) => "changes what holds without it",
            _ if number(made.setting, Some(&made)) != Some(0) => {
                layers.leave_out(made.setting);
                continue;
            }
            _ => "takes a limit away",
        };
        let values = made.values.iter().map(|value| ["\n  ", &indented(value)].concat());
        bail!(
            "{} {what}, and this project is not trusted:{}\n{HOW}",
            made.named(),
            values.collect::<String>()
        )
    }
    Ok(layers)
}

/// Returns what the project's own file says that needs the person's trust, a line for each.
pub fn needs_trust(layers: &Layers) -> Vec<String> {
    bold(layers).iter().flat_map(lines).collect()
}

fn lines(made: &Made) -> Vec<String> {
    let name = made.setting.name;
    made.values.iter().map(|value| format!("{name} = {value}")).collect()
}

/// The settings of the project's own file that say which programs run, or make the loop looser than it is
/// without them.
fn bold(layers: &Layers) -> Vec<Made> {
    let without = Layers { project: Chosen::default(), ..layers.clone() }.merged();
    let is_of_project = |made: &Made| matches!(made.origin, Origin::Project(..));
    let of_project = layers.merged().0.into_iter().filter(is_of_project);
    of_project.filter(|made| is_bold(made, without.made(made.setting))).collect()
}

/// Whether a setting names a program, lets the loop run longer, end as done sooner, or do more than without it.
fn is_bold(made: &Made, without: Option<&Made>) -> bool {
    let setting = made.setting;
    let [with, before] = [Some(made), without].map(|made| number(setting, made));
    // No limit is the highest, but nobody waits for a usage limit who has not said so.
    let height = |limit: Option<u64>| match limit {
        Some(0) => u64::MAX,
        limit => limit.unwrap_or_default(),
    };
    match setting.rule {
        Rule::Free | Rule::Never => false,
        Rule::Program => true,
        Rule::Limit => height(with) > height(before),
        Rule::AtMost => with > before,
        Rule::AtLeast => with < before,
        Rule::Word(tightest) => {
            let before = without.map_or(setting.default, |made| made.values[0].as_str());
            let with = made.values[0].as_str();
            // A switch that nothing sets is off.
            with != before && with != tightest && (with != "false" || before == "true")
        }
    }
}

/// The number of a setting, or that of its default; `None` where it has none.
fn number(setting: &Setting, made: Option<&Made>) -> Option<u64> {
    setting.kind.number(made.map_or(setting.default, |made| &made.values[0]))
}

/// Whether the person's own file names the project; a project's file cannot get here.
fn names_project(person: &Chosen, root: &Path) -> bool {
    person.trusted_projects().iter().any(|folder| {
        let path = match (folder.strip_prefix("~/"), world::home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(folder),
        };
        path.is_absolute() && real_path(&path).is_ok_and(|folder| folder == root)
    })
}
