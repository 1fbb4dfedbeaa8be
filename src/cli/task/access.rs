//! The feature that an agent may write about: that of its own session's loop.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::cli::context::{has_loop, has_runner};
use crate::cli::person::in_agents_session;
use crate::evidence::task_list::TASKS;
use crate::evidence::work_trees;
use crate::exec::partner::{self, RunnerProof};
use crate::feature::project::{Feature, Project};
use crate::session::pinned;
use crate::store::loops::Loops;
use crate::store::names::LoopKind;
use crate::text;

/// The project with this session's loop, or with the run around it, also in another work tree of the repository; else
/// the nearest project. An agent may have changed its folder, also into a project inside the project.
pub fn project_here(session: Option<&str>) -> Option<Project> {
    let here = std::env::current_dir().ok()?;
    let near = match session {
        Some(session) => Project::around_session(&here, session),
        None => Project::around(&here),
    }?;
    let in_run = matches!(partner::runner(), RunnerProof::Proven(_));
    let has_its = |root: &PathBuf| {
        session.is_some_and(|session| has_loop(root, Some(session))) || (in_run && has_runner(root))
    };
    if !in_agents_session() || has_its(&near.root) {
        return Some(near);
    }
    let other = work_trees::all_copies(&near.root).into_iter().flatten().find(has_its);
    Some(other.map_or(near, |root| Project { root }))
}

/// Refuses an agent that means another feature than its session's, another project than its own, or a feature of
/// another session's loop: commands that an agent may run without a question reach no other task log. The other rules
/// also hold after the end of the agent's own loop.
pub fn only_its_own(project: &Project, feature: &Feature, session: Option<&str>) -> Result<()> {
    let here = project_here(session);
    let own = here.clone().filter(|_| session.is_some());
    let refused = |what: &str| {
        anyhow!(
            "{what}, and may not change the task log of feature `{}` in `{}`\nleave out --feature and --project, or call it in a terminal of your own",
            text::line(&feature.name),
            project.root.display()
        )
    };
    let mut pinned = None;
    if in_agents_session() {
        // The notes lie in the project, where the agent can write; the record and the pin do not.
        pinned = own.as_ref().zip(session).and_then(|(own, session)| {
            let record =
                Loops::of(&own.root).peek(session).filter(|record| record.ledger.is_live())?;
            let standing = pinned::standing(&own.root, &record);
            let is_its = record.kind == LoopKind::Task;
            standing.pin().filter(|pin| is_its || pin.session == session).cloned()
        });
        let meant = pinned.as_ref().filter(|pin| !pin.list.is_empty());
        if let (Some(pin), Some(own)) = (meant, &own) {
            if own.root == project.root && pin.list == format!("{}/{TASKS}", feature.relative) {
                return Ok(());
            }
            let (about, root) = (text::line(&pin.about), own.root.display());
            return Err(refused(&format!("this session works on feature `{about}` in `{root}`")));
        }
        let standing = pinned::standing_of_feature(&project.root, &feature.name);
        let other = standing.pin().map(|pin| pin.session.clone()).unwrap_or_default();
        if !other.is_empty() && Some(other.as_str()) != session {
            let other = text::line(&other).into_owned();
            return Err(refused(&format!(
                "this session has no loop here: session {other} has one"
            )));
        }
    }
    let record = own.as_ref().zip(session).and_then(|(own, id)| Loops::of(&own.root).peek(id));
    let record = record.filter(|_| pinned.is_none());
    let live = record.filter(|record| record.ledger.is_live() && record.kind != LoopKind::Task);
    if let (Some(own), Some(record)) = (&own, live) {
        if own.root == project.root && record.folder == feature.relative {
            return Ok(());
        }
        let (about, root) = (text::line(&record.about), own.root.display());
        return Err(refused(&format!("this session works on feature `{about}` in `{root}`")));
    }
    let claim = Loops::of(&project.root).claim(&feature.name).filter(|one| one.closed.is_none());
    let of_claim = claim.as_ref().and_then(|claim| claim.session.clone());
    if !in_agents_session() || (of_claim.is_some() && of_claim.as_deref() == session) {
        return Ok(());
    }
    let nearest = std::env::current_dir().ok().and_then(|here| Project::around(&here));
    if ![here, nearest].iter().flatten().any(|found| found.root == project.root) {
        return Err(refused("this is an agent's session in another project"));
    }
    if let Some(other) = of_claim.filter(|other| Some(other.as_str()) != session) {
        let other = text::line(&other).into_owned();
        return Err(refused(&format!("this session has no loop here: session {other} has one")));
    }
    // A loop armed in a terminal is for the first session that stops, perhaps this one.
    let is_current = || project.current_feature().is_ok_and(|now| now.as_ref() == Some(feature));
    if claim.is_some() && !is_current() {
        return Err(refused("this session has no loop of that feature"));
    }
    Ok(())
}
