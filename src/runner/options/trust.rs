//! A project's own file may only tighten, unless the person trusts it.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::file::PROJECT_FILE;
use super::resolve::{Layers, resolve};
use crate::session::pinned::{self, indented};
use crate::settings::{Chosen, Made, Origin, Rule, Setting};
use crate::store;
use crate::system::files::real_path;
use crate::world;

#[cfg(test)]
mod properties;

/// The person's trust for this one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectTrust {
    /// `--trust-project`.
    Now,
    /// Only for projects that the person's file names.
    Listed,
}

/// Tells the person how to trust the project.
const HOW: &str = "run `spool trust` when you would type that yourself, or use --trust-project for this once; `trusted-projects` of your own file trusts whatever it says";

/// Ignores looser limits of the project's file. An error names settings that need trust: programs, commits, what counts
/// as done, and a limit of 0.
///
/// A project's file comes with the repository. A tighter setting is harmless. But a check is a command with the
/// person's rights, and agent programs differ in what they allow by themselves.
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
    // A wrong value is reported before trust is asked for.
    resolve(&layers, String::new(), root)?;
    for made in bold(&layers) {
        // An unreadable list means no trust.
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
        let values = made.values.iter().map(|value| format!("\n  {}", indented(value)));
        bail!(
            "{} {what}, and this project is not trusted:{}\n{HOW}",
            made.named(),
            values.collect::<String>()
        )
    }
    Ok(layers)
}

/// The settings of the project's own file that need the person's trust, a line each.
pub fn needs_trust(layers: &Layers) -> Vec<String> {
    bold(layers).iter().flat_map(lines).collect()
}

fn lines(made: &Made) -> Vec<String> {
    let name = made.setting.name;
    made.values.iter().map(|value| format!("{name} = {value}")).collect()
}

/// The settings of the project's own file that choose programs or loosen the loop.
fn bold(layers: &Layers) -> Vec<Made> {
    let without = Layers { project: Chosen::default(), ..layers.clone() }.merged();
    let is_of_project = |made: &Made| matches!(made.origin, Origin::Project(..));
    let of_project = layers.merged().0.into_iter().filter(is_of_project);
    of_project.filter(|made| is_bold(made, without.made(made.setting))).collect()
}

/// The setting chooses a program, or lets the loop run longer, end as done sooner, or do more.
fn is_bold(made: &Made, without: Option<&Made>) -> bool {
    let setting = made.setting;
    let [with, before] = [Some(made), without].map(|made| number(setting, made));
    // No limit is the highest. But without this setting, nobody waits for a usage limit.
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
            // A switch is off by default.
            with != before && with != tightest && (with != "false" || before == "true")
        }
    }
}

/// The number of a setting, or of its default.
fn number(setting: &Setting, made: Option<&Made>) -> Option<u64> {
    setting.kind.number(made.map_or(setting.default, |made| &made.values[0]))
}

/// The person's own file names the project. A project's file cannot get here.
fn names_project(person: &Chosen, root: &Path) -> bool {
    person.trusted_projects().iter().any(|folder| {
        let path = match (folder.strip_prefix("~/"), world::home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(folder),
        };
        path.is_absolute() && real_path(&path).is_ok_and(|folder| folder == root)
    })
}
