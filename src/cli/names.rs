//! A person's name for a loop: the session, feature or change, or a short form.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};

use super::handle::{LoopHandle, LoopName, NameKind, one_of};
use crate::feature::project::{Feature, FeatureError, Project, folder_typed, printable};
use crate::refusal::Refusal;
use crate::runner::target::{did_you_mean, matching};
use crate::store::loops::Loops;

/// The fewest letters of a session's id that stand for it unless the person says that they name a session.
const LEAST: usize = 4;

#[derive(Clone, Copy, Debug)]
pub struct TypedName<'a> {
    /// `None` where the person did not say what the text names.
    pub kind: Option<NameKind>,
    /// The name, or a short form.
    pub text: &'a str,
}

impl TypedName<'_> {
    /// All names with the one id that the text means; none where nothing matches. An error lists several candidates.
    ///
    /// A whole name comes first. Features and changes have the short forms of [`matching`], sessions the beginning of
    /// their ids. Live loops come before ended ones.
    pub fn find(self, all: &[LoopHandle], project: Option<&Project>) -> Result<Vec<LoopName>> {
        let is_path = self.text.contains(['/', '\\']);
        let of_path = project.filter(|_| is_path).map(|project| name_of_path(project, self.text));
        let Some(text) = of_path.unwrap_or(Ok(Some(self.text.to_owned())))? else {
            return Ok(Vec::new());
        };
        let text = text.as_str();
        let mut named = BTreeMap::new();
        for (name, lives) in self.of_kind(all) {
            *named.entry(name).or_default() |= lives;
        }
        let same: Vec<LoopName> =
            named.keys().filter(|name| name.id == text).copied().cloned().collect();
        if !same.is_empty() {
            return Ok(same);
        }
        let has_short =
            |name: &&&LoopName| matches!(name.kind, NameKind::Feature | NameKind::Change);
        let ids: Vec<String> = named.keys().filter(has_short).map(|name| name.id.clone()).collect();
        let meant = matching(text, &ids);
        let least = if self.kind.is_some() { 1 } else { LEAST };
        let is_short = |name: &LoopName| match name.kind {
            NameKind::Session => text.len() >= least && name.id.starts_with(text),
            NameKind::Feature | NameKind::Change => meant.contains(&name.id),
            NameKind::Task => false,
        };
        let mut found: Vec<(&LoopName, bool)> =
            named.into_iter().filter(|(name, _)| is_short(name)).collect();
        // An ended run keeps the name that a living loop has, too.
        let live = found.iter().filter(|(_, lives)| *lives).map(|(name, _)| name.id.clone());
        let live: Vec<String> = live.collect();
        found.retain(|(name, _)| live.is_empty() || live.contains(&name.id));
        let found: Vec<LoopName> = found.into_iter().map(|(name, _)| name.clone()).collect();
        if found.windows(2).any(|pair| pair[0].id != pair[1].id) {
            let handle = |name: &LoopName| LoopHandle::named([(name.kind, &name.id)]);
            return Err(self.several(&found.iter().map(handle).collect::<Vec<_>>()));
        }
        Ok(found)
    }

    /// The loop that the text means, of several the only one that lives; an error lists the candidates, or all names.
    ///
    /// A feature comes first: without a live loop it may still have a state file.
    pub fn meant(self, all: &[LoopHandle], project: Option<&Project>) -> Result<LoopHandle> {
        let found = self.find(all, project)?;
        let meant = || all.iter().filter(|one| one.is_one_of(&found));
        let live: Vec<LoopHandle> = meant().filter(|one| one.lives).cloned().collect();
        match live.as_slice() {
            [] => meant().next().cloned().ok_or_else(|| self.unknown(all)),
            [one] => Ok(one.clone()),
            several => Err(self.several(several)),
        }
    }

    /// Lists the candidates as a person types them.
    fn several(self, found: &[LoopHandle]) -> anyhow::Error {
        let what = if self.kind == Some(NameKind::Feature) { "features" } else { "loops" };
        anyhow!("`{}` may be {} {what}\n{}", printable(self.text), found.len(), one_of(found))
    }

    /// Lists all names, the nearest one first.
    pub fn unknown(self, all: &[LoopHandle]) -> anyhow::Error {
        let mut ids: Vec<String> = self.of_kind(all).map(|(name, _)| printable(&name.id)).collect();
        ids.sort_unstable();
        ids.dedup();
        let what = match self.kind {
            Some(NameKind::Session) => "no session with a loop here is called",
            Some(NameKind::Feature) => "no feature here is called",
            Some(NameKind::Change) => "`spool ralph` has not run here on a change that is called",
            Some(NameKind::Task) | None => "no loop here is called",
        };
        anyhow!("{what} `{}`\n{}", printable(self.text), did_you_mean(self.text, &ids))
    }

    /// Each name, and whether its loop lives.
    fn of_kind(self, all: &[LoopHandle]) -> impl Iterator<Item = (&LoopName, bool)> {
        let names = all.iter().flat_map(|one| one.names.iter().map(|name| (name, one.lives)));
        names.filter(move |(name, _)| self.kind.is_none_or(|kind| name.kind == kind))
    }
}

/// The feature or change in this folder, or a loop whose folder is gone. An error where the loop of this name is in
/// another folder.
fn name_of_path(project: &Project, path: &str) -> Result<Option<String>> {
    let found = project.feature_typed(path).ok();
    let folder = found.as_ref().map_or_else(|| folder_typed(path), |found| found.relative.clone());
    let name = folder.rsplit('/').next().unwrap_or_default();
    let pin = Loops::of(&project.root).found(name).ok().flatten();
    let is_its = pin.as_ref().is_some_and(|pin| pin.feature_folder() == folder);
    match pin.filter(|pin| pin.ended.is_none() && found.is_some() && !is_its) {
        Some(pin) => bail!(
            "the loop of `{name}` is that in `{other}`, and none is in `{}`\nname `{other}` where it is meant",
            printable(&folder),
            other = printable(pin.feature_folder())
        ),
        None => Ok(Some(name.to_owned()).filter(|_| found.is_some() || is_its)),
    }
}

/// An error names the nearest feature, or all candidates.
pub fn feature_named(project: &Project, text: &str) -> Result<Feature> {
    match project.feature_typed(text) {
        Err(FeatureError::NoFolder(..)) => {}
        found => return found.map_err(|error| Refusal::from(error).into()),
    }
    let features = project.features();
    let handle =
        |feature: &Feature| LoopHandle::at(&project.root, NameKind::Feature, &feature.name);
    let all: Vec<LoopHandle> = features.iter().map(handle).collect();
    let typed = TypedName { kind: Some(NameKind::Feature), text };
    Ok(typed.meant(&all, Some(project))?.feature()?)
}

/// The id of the only change that the text means. An error lists the changes.
pub fn change_named(text: &str, changes: &[String]) -> Result<String> {
    let handle = |id: &String| LoopHandle::named([(NameKind::Change, id)]);
    let all: Vec<LoopHandle> = changes.iter().map(handle).collect();
    let typed = TypedName { kind: Some(NameKind::Change), text };
    Ok(typed.meant(&all, None)?.names.swap_remove(0).id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lives: &[&str]) -> Vec<LoopHandle> {
        let all = [
            (NameKind::Session, "3b458a5d-f15e"),
            (NameKind::Session, "3b459999-aaaa"),
            (NameKind::Feature, "001-login"),
            (NameKind::Feature, "002-logout"),
            (NameKind::Change, "002-01_add-login"),
            (NameKind::Change, "002-logout"),
            (NameKind::Task, "Make it"),
        ];
        let handle = |(kind, id)| LoopHandle {
            lives: lives.contains(&id)
                || (kind == NameKind::Feature
                    && lives.contains(&["feature ", id].concat().as_str())),
            ..LoopHandle::named([(kind, id)])
        };
        all.map(handle).to_vec()
    }

    fn found(kind: Option<NameKind>, text: &str, lives: &[&str]) -> Result<Vec<String>, String> {
        let found = TypedName { kind, text }.find(&names(lives), None);
        let ids = |found: Vec<LoopName>| found.iter().map(LoopName::typed).collect();
        found.map(ids).map_err(|error| error.to_string())
    }

    #[test]
    fn name_finds_session_or_change() {
        let any = |text| found(None, text, &[]).unwrap();
        assert_eq!(any("3b458a5d-f15e"), ["--session 3b458a5d-f15e"]);
        assert_eq!(any("3b458"), ["--session 3b458a5d-f15e"]);
        assert_eq!(any("001"), ["--feature 001-login"]);
        assert_eq!(any("1"), ["--feature 001-login"]);
        assert_eq!(any("2-1"), ["--change 002-01_add-login"]);
        assert_eq!(any("Make it"), ["Make it"]);
        // One name of two loops: the caller chooses the live one, or shows both.
        assert_eq!(any("002-logout"), ["--feature 002-logout", "--change 002-logout"]);
        let of = |kind, text| found(Some(kind), text, &[]).unwrap();
        assert_eq!(of(NameKind::Change, "002-logout"), ["--change 002-logout"]);
        assert_eq!(of(NameKind::Feature, "login"), ["--feature 001-login"]);
        assert_eq!(of(NameKind::Session, "3b458"), ["--session 3b458a5d-f15e"]);
        for (kind, text) in [
            (None, "3b4"),
            (None, "Make"),
            (None, "lgoin"),
            (None, ""),
            (Some(NameKind::Session), ""),
            (Some(NameKind::Change), "001"),
            (Some(NameKind::Session), "001-login"),
        ] {
            assert_eq!(found(kind, text, &[]), Ok(Vec::new()), "{text}");
        }
    }

    #[test]
    fn ambiguous_name_needs_living_loop() {
        let error = found(None, "login", &[]).unwrap_err();
        assert_eq!(
            error,
            "`login` may be 2 loops\nname one of them:\n  --feature 001-login\n  --change 002-01_add-login"
        );
        let one = found(None, "login", &["002-01_add-login"]);
        assert_eq!(one.unwrap(), ["--change 002-01_add-login"]);
        // An ended run of the same name stays beside a living loop.
        let both = found(None, "logout", &["feature 002-logout"]).unwrap();
        assert_eq!(both, ["--feature 002-logout", "--change 002-logout"]);
        assert!(found(None, "login", &["002-01_add-login", "001-login"]).is_err());
        assert!(found(None, "3b45", &[]).unwrap_err().contains("--session 3b459999-aaaa"));
        assert!(found(Some(NameKind::Session), "3", &[]).is_err());
        // The whole name wins, whichever loop lives.
        let whole = found(None, "001-login", &["002-01_add-login"]);
        assert_eq!(whole.unwrap(), ["--feature 001-login"]);
    }

    #[test]
    fn unknown_name_proposes_one() {
        let unknown = |kind, text| TypedName { kind, text }.unknown(&names(&[])).to_string();
        let said = unknown(None, "001-lgoin");
        assert!(said.starts_with("no loop here is called `001-lgoin`\ndid you mean `001-login`?"));
        assert!(said.contains("\n  Make it"), "{said}");
        let said = unknown(Some(NameKind::Session), "x\u{1b}");
        assert!(said.starts_with("no session with a loop here is called `x\u{fffd}`\n"), "{said}");
        assert!(!said.contains("login"), "{said}");
    }
}
