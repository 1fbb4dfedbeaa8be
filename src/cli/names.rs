//! What a person calls a loop by: its session, its feature or its change, also by a short form of it.

use anyhow::{Result, anyhow, bail};

use crate::feature::project::{Feature, FeatureError, Project, folder_typed, printable};
use crate::refusal::Refusal;
use crate::runner::target::{did_you_mean, matching};
use crate::store::loops::Loops;

/// The least letters of a session's id that stand for it where it is not said that they are a session's.
const LEAST: usize = 4;

/// What a loop is called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The id of its session.
    Session,
    /// The name of its feature.
    Feature,
    /// The id of the change that a runner works on.
    Change,
    /// The first words of its task.
    Task,
}

/// One name of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopName {
    /// What it names.
    pub kind: NameKind,
    /// The whole name.
    pub id: String,
    /// Whether that loop lives.
    pub lives: bool,
}

/// What a person typed.
#[derive(Clone, Copy, Debug)]
pub struct TypedName<'a> {
    /// What it is said to name, `None` where it may be any of them.
    pub kind: Option<NameKind>,
    /// The name, or a short form of it.
    pub text: &'a str,
}

impl LoopName {
    /// Returns the name of a loop of which it does not matter whether it lives.
    pub fn new(kind: NameKind, id: &str) -> Self {
        Self { kind, id: id.to_owned(), lives: false }
    }

    /// Returns how a person types it where it is one of several.
    fn typed(&self) -> String {
        let flag = match self.kind {
            NameKind::Session => "--session ",
            NameKind::Feature => "--feature ",
            NameKind::Change => "--change ",
            NameKind::Task => "",
        };
        format!("{flag}{}", printable(&self.id))
    }
}

impl TypedName<'_> {
    /// Returns the names that are meant, which are all the same one: none where nothing is called so; an error with the
    /// candidates where it may be several.
    ///
    /// The whole name comes first. A feature or a change has the short forms of [`matching`], a session the beginning of its
    /// id; a loop that lives comes before one that does not.
    pub fn find(self, all: &[LoopName], project: Option<&Project>) -> Result<Vec<LoopName>> {
        let is_path = self.text.contains(['/', '\\']);
        let of_path = project.filter(|_| is_path).map(|project| name_of_path(project, self.text));
        let Some(text) = of_path.unwrap_or(Ok(Some(self.text.to_owned())))? else {
            return Ok(Vec::new());
        };
        let text = text.as_str();
        let has_short = |it: &&LoopName| matches!(it.kind, NameKind::Feature | NameKind::Change);
        let ids: Vec<String> =
            self.of_kind(all).filter(has_short).map(|it| it.id.clone()).collect();
        let meant = matching(text, &ids);
        let least = if self.kind.is_some() { 1 } else { LEAST };
        let is_short = |it: &&LoopName| match it.kind {
            NameKind::Session => text.len() >= least && it.id.starts_with(text),
            NameKind::Feature | NameKind::Change => meant.contains(&it.id),
            NameKind::Task => false,
        };
        let is_same = |it: &&LoopName| it.id == text;
        let same: Vec<LoopName> = self.of_kind(all).filter(is_same).cloned().collect();
        if !same.is_empty() {
            return Ok(same);
        }
        let mut found: Vec<LoopName> = self.of_kind(all).filter(is_short).cloned().collect();
        if found.iter().any(|it| it.lives) {
            found.retain(|it| it.lives);
        }
        if found.windows(2).any(|pair| pair[0].id != pair[1].id) {
            return Err(self.several(&found));
        }
        Ok(found)
    }

    /// Returns the error for a name that may be several loops: the candidates, as they are typed.
    pub fn several(self, found: &[LoopName]) -> anyhow::Error {
        let what = if self.kind == Some(NameKind::Feature) { "features" } else { "loops" };
        anyhow!("`{}` may be {} {what}\n{}", printable(self.text), found.len(), one_of(found))
    }

    /// Returns the error for a name that no loop has: what there is, the nearest one first.
    pub fn unknown(self, all: &[LoopName]) -> anyhow::Error {
        let mut ids: Vec<String> = self.of_kind(all).map(|it| printable(&it.id)).collect();
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

    fn of_kind(self, all: &[LoopName]) -> impl Iterator<Item = &LoopName> {
        all.iter().filter(move |it| self.kind.is_none_or(|kind| it.kind == kind))
    }
}

/// The name of the feature or change in the folder with this path, or of a loop whose folder is gone; `None` where there is neither, an
/// error where the loop of this name is in another folder.
fn name_of_path(project: &Project, path: &str) -> Result<Option<String>> {
    let found = project.feature_typed(path).ok();
    let folder = found.as_ref().map_or_else(|| folder_typed(path), |it| it.relative.clone());
    let name = folder.rsplit('/').next().unwrap_or_default();
    let claim = Loops::of(&project.root).claim(name);
    let is_its = claim.as_ref().is_some_and(|claim| claim.folder == folder);
    match claim.filter(|claim| claim.closed.is_none() && found.is_some() && !is_its) {
        Some(claim) => bail!(
            "the loop of `{name}` is that in `{other}`, and none is in `{}`\nname `{other}` where it is meant",
            printable(&folder),
            other = printable(&claim.folder)
        ),
        None => Ok(Some(name.to_owned()).filter(|_| found.is_some() || is_its)),
    }
}

/// Returns the feature of a project that is called so, also by a short form; an error with the nearest one, or with all that it
/// may be.
pub fn feature_named(project: &Project, text: &str) -> Result<Feature> {
    match project.feature_typed(text) {
        Err(FeatureError::NoFolder(..)) => {}
        found => return found.map_err(|error| Refusal::from(error).into()),
    }
    let features = project.features();
    let names: Vec<LoopName> =
        features.iter().map(|it| LoopName::new(NameKind::Feature, &it.name)).collect();
    let typed = TypedName { kind: Some(NameKind::Feature), text };
    let found = typed
        .find(&names, Some(project))?
        .into_iter()
        .next()
        .ok_or_else(|| typed.unknown(&names))?;
    project.feature(&found.id).map_err(|error| Refusal::from(error).into())
}

/// Returns the lines that name loops as a person types them, to choose one.
pub fn one_of(names: &[LoopName]) -> String {
    let lines: Vec<String> = names.iter().map(LoopName::typed).collect();
    format!("name one of them:\n  {}", lines.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lives: &[&str]) -> Vec<LoopName> {
        let all = [
            (NameKind::Session, "3b458a5d-f15e"),
            (NameKind::Session, "3b459999-aaaa"),
            (NameKind::Feature, "001-login"),
            (NameKind::Feature, "002-logout"),
            (NameKind::Change, "002-01_add-login"),
            (NameKind::Change, "002-logout"),
            (NameKind::Task, "Make it"),
        ];
        let name = |(kind, id)| LoopName { lives: lives.contains(&id), ..LoopName::new(kind, id) };
        all.map(name).to_vec()
    }

    fn found(kind: Option<NameKind>, text: &str, lives: &[&str]) -> Result<Vec<String>, String> {
        let found = TypedName { kind, text }.find(&names(lives), None);
        let ids = |found: Vec<LoopName>| found.iter().map(LoopName::typed).collect();
        found.map(ids).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_is_a_session_a_feature_or_a_change_or_a_short_form_of_one() {
        let any = |text| found(None, text, &[]).unwrap();
        assert_eq!(any("3b458a5d-f15e"), ["--session 3b458a5d-f15e"]);
        assert_eq!(any("3b458"), ["--session 3b458a5d-f15e"]);
        assert_eq!(any("001"), ["--feature 001-login"]);
        assert_eq!(any("1"), ["--feature 001-login"]);
        assert_eq!(any("2-1"), ["--change 002-01_add-login"]);
        assert_eq!(any("Make it"), ["Make it"]);
        // One name of two loops: who asks chooses the one that lives, or shows both.
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
    fn a_name_that_may_be_several_loops_is_refused_unless_one_of_them_lives() {
        let error = found(None, "login", &[]).unwrap_err();
        assert_eq!(
            error,
            "`login` may be 2 loops\nname one of them:\n  --feature 001-login\n  --change 002-01_add-login"
        );
        let one = found(None, "login", &["002-01_add-login"]);
        assert_eq!(one.unwrap(), ["--change 002-01_add-login"]);
        assert!(found(None, "login", &["002-01_add-login", "001-login"]).is_err());
        assert!(found(None, "3b45", &[]).unwrap_err().contains("--session 3b459999-aaaa"));
        assert!(found(Some(NameKind::Session), "3", &[]).is_err());
        // The whole name is that one, whichever lives.
        let whole = found(None, "001-login", &["002-01_add-login"]);
        assert_eq!(whole.unwrap(), ["--feature 001-login"]);
    }

    #[test]
    fn a_name_that_no_loop_has_is_refused_with_the_nearest_one() {
        let unknown = |kind, text| TypedName { kind, text }.unknown(&names(&[])).to_string();
        let said = unknown(None, "001-lgoin");
        assert!(said.starts_with("no loop here is called `001-lgoin`\ndid you mean `001-login`?"));
        assert!(said.contains("\n  Make it"), "{said}");
        let said = unknown(Some(NameKind::Session), "x\u{1b}");
        assert!(said.starts_with("no session with a loop here is called `x\u{fffd}`\n"), "{said}");
        assert!(!said.contains("login"), "{said}");
    }
}
