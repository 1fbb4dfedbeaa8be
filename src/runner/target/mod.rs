//! Finds a loop's change: spool's own, OpenSpec's, or a spec-kit feature.

mod change;
mod names;
mod place;
mod shelf;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::feature::project::{is_feature_name, printable};
use place::Place;
use shelf::Listing;

pub use change::{Change, ChangeKind, SpecKitRules};
pub use names::{did_you_mean, matching, one_of};
pub use place::worktree_around;

#[derive(Clone, Debug, Default)]
pub struct ChangeQuery<'a> {
    /// `--change`, or a short form.
    pub change: Option<&'a str>,
    /// `--module`.
    pub module: Option<&'a str>,
}

#[derive(Clone, Debug)]
pub enum FoundChange {
    /// The change of the given name or module.
    One(Change),
    /// Without a name, a person chooses, even from a single change. Archived changes are left out.
    Several(Vec<Change>),
}

/// An error tells what was looked for, where, and the candidates.
///
/// The project is the nearest folder with changes, at or above `start`. A name is an id, or a short form of exactly one
/// id: `2-1` for `002-01_add-ralph-loop`, the beginning of the id, or a word of it.
pub fn find(start: &Path, wanted: &ChangeQuery<'_>) -> Result<FoundChange> {
    let place = Place::around(start)?;
    let listing = shelf::list(&place);
    if let Some(module) = wanted.module
        && !is_feature_name(module)
    {
        bail!("`{}` cannot be a module: a module is a number such as `002`", printable(module));
    }
    match wanted.change {
        Some(name) => named(&place, &listing, name, wanted.module).map(FoundChange::One),
        None => unnamed(&place, &listing, wanted.module),
    }
}

/// The changes of the project at or above a folder.
pub fn ids(start: &Path) -> Vec<String> {
    let listing = Place::around(start).map(|place| shelf::list(&place)).unwrap_or_default();
    listing.all().map(|change| change.id.clone()).collect()
}

/// A real path; an error tells what was looked for.
pub fn root_around(start: &Path) -> Result<PathBuf> {
    Place::around(start).map(|place| place.root)
}

fn named(place: &Place, listing: &Listing, name: &str, module: Option<&str>) -> Result<Change> {
    if name.contains(['/', '\\'])
        && let Some(change) = listing.all().find(|change| place.is_at(name, &change.folder))
    {
        return Ok(change.clone());
    }
    if !is_feature_name(name) {
        bail!(
            "`{}` cannot be a change: no change has this path, and a name has no `/`, no `..`, no control characters and no leading `-`\n{}",
            printable(name),
            names::one_of(&listing.all().map(|change| change.id.clone()).collect::<Vec<_>>())
        );
    }
    let in_module = |change: &&Change| module.is_none_or(|module| is_of_module(change, module));
    let all: Vec<&Change> = listing.all().collect();
    let ids = |all: &[&Change]| all.iter().map(|change| change.id.clone()).collect::<Vec<_>>();
    if let Some((_, why)) = listing.refused.iter().find(|(id, _)| id == name)
        && !all.iter().any(|change| change.id == name)
    {
        bail!("the change `{name}` cannot be used: {why}");
    }
    let narrowed: Vec<&Change> = all.iter().copied().filter(in_module).collect();
    let matching = names::matching(name, &ids(&narrowed));
    match matching.as_slice() {
        [id] => {
            let change = narrowed.into_iter().find(|change| change.id == *id).cloned();
            change.with_context(|| format!("the change `{id}` is gone"))
        }
        [] => {
            let elsewhere = names::matching(name, &ids(&all));
            if let (Some(module), [id]) = (module, elsewhere.as_slice()) {
                bail!("the change `{id}` does not belong to module `{module}`");
            }
            if all.is_empty() {
                bail!(
                    "there is no change `{name}`, and no other: {}",
                    place.nothing(&listing.refused)
                );
            }
            let near = if narrowed.is_empty() { &all } else { &narrowed };
            bail!(
                "there is no change `{name}` in `{}`\n{}",
                place.root.display(),
                names::did_you_mean(name, &ids(near))
            )
        }
        several => {
            bail!("`{name}` may be {} changes\n{}", several.len(), names::one_of(several))
        }
    }
}

fn unnamed(place: &Place, listing: &Listing, module: Option<&str>) -> Result<FoundChange> {
    let offered = listing.offered(place)?;
    let Some(module) = module else {
        if offered.is_empty() {
            bail!("there is no active change: {}", place.nothing(&listing.refused));
        }
        return Ok(FoundChange::Several(offered));
    };
    let all: Vec<Change> = listing.all().cloned().collect();
    let mut of_module: Vec<Change> =
        all.iter().filter(|change| is_of_module(change, module)).cloned().collect();
    if of_module.is_empty() {
        let mut modules: Vec<String> = all.into_iter().filter_map(|change| change.module).collect();
        modules.sort_unstable();
        modules.dedup();
        bail!("there is no active change of module `{module}`\n{}", names::one_of(&modules));
    }
    // A module with one change names that change.
    if of_module.len() == 1 {
        return Ok(FoundChange::One(of_module.remove(0)));
    }
    Ok(FoundChange::Several(of_module))
}

fn is_of_module(change: &Change, module: &str) -> bool {
    change.module.as_deref().is_some_and(|own| names::is_same_module(own, module))
}
