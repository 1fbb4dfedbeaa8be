//! Where the reviewed work began, and which of its checks are known.

use anyhow::{Result, bail};

use crate::engine::CheckResult;
use crate::evidence::commits::{LogPlace, head_at};
use crate::feature::project::{Feature, Project, printable};
use crate::runner::git::{Git, NO_COMMIT};
use crate::runner::state::{of_run, read_state, state_folder, time_of};
use crate::store::loops::Loops;
use crate::world::WallTime;

/// The words for a history without the commit at arming, and without an older one.
pub const LOST: &str = "since the first commit: the one at which the loop was armed is gone";

/// Where the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// [`NO_COMMIT`] before the first commit; `None` without a repository.
    pub commit: Option<String>,
    /// The reason, for the reader and the person.
    pub words: String,
}

/// The known beginning of a feature's last loop, and its checks.
#[derive(Clone, Debug, Default)]
pub struct KnownLoop {
    pub armed_at: WallTime,
    /// The commit at the beginning; empty if nobody noted it.
    pub head: String,
    pub checks: Vec<CheckResult>,
}

/// The last loop of a feature, in a session or of the runner.
pub fn known_loop(project: &Project, feature: &Feature) -> Option<KnownLoop> {
    let both = [in_session(project, feature), of_runner(project, feature)];
    both.into_iter().flatten().max_by_key(|known| known.armed_at)
}

fn in_session(project: &Project, feature: &Feature) -> Option<KnownLoop> {
    let loops = Loops::of(&project.root);
    let pin = loops.found(&feature.name).ok()??;
    let checked = loops.peek(&pin.session).and_then(|record| record.assignment?.checked);
    let checks = checked.map(|checked| checked.results).unwrap_or_default();
    let log = LogPlace { length: pin.commits_from.unwrap_or_default(), line: pin.commits_line };
    let head = head_at(&project.root, log).unwrap_or_default();
    Some(KnownLoop { armed_at: pin.armed_at, head, checks })
}

fn of_runner(project: &Project, feature: &Feature) -> Option<KnownLoop> {
    let folder = state_folder(&project.root, &feature.name);
    let (state, running) = read_state(&folder).ok()??;
    let own = of_run(&folder, &state.started_at);
    let mut all = own.iter().chain(&running);
    let head = all.clone().next().map(|one| one.head_at_start.clone()).unwrap_or_default();
    let checks = all.rfind(|one| !one.checks.is_empty()).map(|one| one.checks.clone());
    let armed_at = time_of(&state.started_at).unwrap_or_default();
    Some(KnownLoop { armed_at, head, checks: checks.unwrap_or_default() })
}

/// Where the work began: the person's commit, else the arming of the last loop, else the last commit. An error if there
/// is no such commit.
pub fn base(git: Option<&Git>, named: Option<&str>, known: Option<&KnownLoop>) -> Result<Base> {
    let Some(git) = git else {
        if let Some(name) = named {
            bail!("`--base {}` needs a git repository, and there is none here", printable(name));
        }
        return Ok(Base { commit: None, words: "no git repository: no changes are known".into() });
    };
    if let Some(name) = named {
        let Some(commit) = git.commit_named(name) else {
            bail!(
                "`{}` is no commit of this repository\nname one with --base, such as `main` or `HEAD~3`",
                printable(name)
            );
        };
        return Ok(Base { commit: Some(commit), words: format!("since `{}`", printable(name)) });
    }
    let Some(known) = known else {
        let commit = git.commit_named("HEAD").unwrap_or_else(|| NO_COMMIT.to_owned());
        let words =
            "since the last commit: no loop is known here, --base REV names another beginning";
        return Ok(Base { commit: Some(commit), words: words.to_owned() });
    };
    // After a rebase, an old commit has other work in it than the current one.
    let head = Some(&known.head).filter(|head| *head == NO_COMMIT || git.is_in_head(head));
    let before = || git.commit_before(known.armed_at);
    let commit = head.cloned().or_else(before);
    let is_lost = commit.is_none() && !known.head.is_empty();
    let words = if is_lost { LOST } else { "since the loop was armed" }.to_owned();
    Ok(Base { commit: Some(commit.unwrap_or_else(|| NO_COMMIT.to_owned())), words })
}
