//! The feature that an agent may write about: that of its own session's loop.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::cli::context::{has_loop, has_runner};
use crate::cli::person::in_agents_session;
use crate::evidence::work_trees;
use crate::exec::partner::in_run;
use crate::feature::project::{Feature, Project};
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
    let has_its = |root: &PathBuf| {
        session.is_some_and(|session| has_loop(root, Some(session)))
            || (in_run() && has_runner(root))
    };
    if !in_agents_session() || has_its(&near.root) {
        return Some(near);
    }
    let other = work_trees::all_copies(&near.root).into_iter().flatten().find(has_its);
    Some(other.map_or(near, |root| Project { root }))
}

/// Refuses an agent that means another feature than its session's, another project than its own, or a feature of
/// another session's loop: commands that an agent may run without a question reach no other task log. The other rules
/// also hold after the end of the agent's own loop. `here` is the project of [`project_here`].
pub fn only_its_own(
    (project, feature): (&Project, &Feature),
    here: Option<&Project>,
    session: Option<&str>,
) -> Result<()> {
    let refused = |what: &str| {
        anyhow!(
            "{what}, and may not change the task log of feature `{}` in `{}`\nleave out --feature and --project, or call it in a terminal of your own",
            text::line(&feature.name),
            project.root.display()
        )
    };
    if let (Some(own), Some(session)) = (here, session)
        && let loops = Loops::of(&own.root)
        && let Some(record) = loops.peek(session)
        && record.ledger.is_live()
        && record.kind != LoopKind::Task
        && loops.drives(&record)
    {
        if own.root == project.root && record.folder == feature.relative {
            return Ok(());
        }
        let (about, root) = (text::line(&record.about), own.root.display());
        return Err(refused(&format!("this session works on feature `{about}` in `{root}`")));
    }
    let pin = Loops::of(&project.root).live_pin(&feature.name);
    let owner = pin.as_ref().map(|pin| pin.session.as_str()).filter(|owner| !owner.is_empty());
    if !in_agents_session() || (owner.is_some() && owner == session) {
        return Ok(());
    }
    if let Some(other) = owner {
        let other = text::line(other);
        return Err(refused(&format!("this session has no loop here: session {other} has one")));
    }
    let nearest = std::env::current_dir().ok().and_then(|here| Project::around(&here));
    if here.into_iter().chain(&nearest).all(|found| found.root != project.root) {
        return Err(refused("this is an agent's session in another project"));
    }
    // A loop armed in a terminal is for the first session that stops, perhaps this one.
    let is_current = || project.current_feature().is_ok_and(|now| now.as_ref() == Some(feature));
    if pin.is_some() && !is_current() {
        return Err(refused("this session has no loop of that feature"));
    }
    Ok(())
}
