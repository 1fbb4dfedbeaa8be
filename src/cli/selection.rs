//! The loop that a person means: the same arguments for every command that shows or steers loops.

use anyhow::{Result, anyhow, bail};

use super::context::{Where, own_session};
use super::handle::{LoopHandle, NameKind, own_or_only};
use super::names::TypedName;
use super::person::in_agents_session;
use crate::exec::partner::in_run;
use crate::feature::project::{Project, printable};
use crate::refusal::Refusal;
use crate::session::cancel::feature_to_cancel;

/// The addition if no session has a loop yet.
pub const ONLY_ARMED: &str =
    "; one that is only armed begins when a session stops, and `spool stop` ends it before that";

/// Tells the agent of a run what to do instead of steering a loop.
pub const FOR_A_RUN: &str = "continue; when a person must decide, end your turn with <blocked>what the person must do</blocked>";
/// Tells the agent of another session.
const FOR_A_SESSION: &str = "the person does so in a terminal of their own";

/// Which loop of a session is meant.
#[derive(clap::Args)]
pub struct WhichSession {
    /// The loop, by its session, feature or change; a short form will do where only one answers to it
    #[arg(value_name = "NAME", conflicts_with_all = ["session", "feature"])]
    loop_name: Option<String>,
    /// The loop of this session, also by the beginning of its id
    #[arg(short, long, value_name = "ID", conflicts_with = "feature")]
    session: Option<String>,
    /// The loop of this feature, such as 001-login, 1 or login
    #[arg(short, long, value_name = "NAME")]
    feature: Option<String>,
}

/// Which loop is meant.
#[derive(clap::Args)]
pub struct WhichLoop {
    #[command(flatten)]
    of_session: WhichSession,
    /// The loop of `spool ralph` on this change, such as 002-01_add-login, 2-1 or login
    #[arg(short, long, value_name = "ID", conflicts_with_all = ["loop_name", "session", "feature"])]
    change: Option<String>,
    #[command(flatten)]
    pub place: Where,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    Stop,
    Pause,
    Resume,
}

impl WhichSession {
    pub fn typed(&self) -> Option<TypedName<'_>> {
        let all = [
            (None, &self.loop_name),
            (Some(NameKind::Session), &self.session),
            (Some(NameKind::Feature), &self.feature),
        ];
        all.into_iter().find_map(|(kind, text)| Some(TypedName { kind, text: text.as_ref()? }))
    }
}

impl WhichLoop {
    pub fn typed(&self) -> Option<TypedName<'_>> {
        let of_change = |text| TypedName { kind: Some(NameKind::Change), text };
        self.of_session.typed().or_else(|| self.change.as_deref().map(of_change))
    }

    /// The named loop; without a name this session's, or the only one. Fails without a loop, and with several
    /// candidates.
    pub fn selected(&self, steering: Steering) -> Result<LoopHandle> {
        let start = self.place.start()?;
        let project = self.place.with_loops().ok();
        let runners = self.place.runners();
        if project.is_none() && runners.is_none() {
            bail!(
                "no loop has run at `{}` or above, neither in a session nor of `spool ralph`\ngo to the project, or name it with --project DIR",
                start.display()
            );
        }
        let all = LoopHandle::all(project.as_ref(), runners.as_deref())?;
        let no_runner = || {
            let root = runners.as_deref().unwrap_or(&start).display();
            anyhow!("no runner is running in `{root}`\n`spool status` shows what has run")
        };
        let (own, found) = (own_session(), project.as_ref().ok_or_else(no_runner));
        let meant = match (self.typed(), steering) {
            (Some(typed), _) => typed.meant(&all, self.place.paths().as_ref()),
            (None, Steering::Stop) => to_stop(all, found, own.as_deref()),
            (None, Steering::Pause | Steering::Resume) => to_pause_or_resume(all, found, steering),
        }?;
        refuse_agents(&meant)?;
        Ok(meant)
    }
}

/// Refuses the agent of a run, and one that steers any loop but its own session's.
pub fn refuse_agents(meant: &LoopHandle) -> Result<()> {
    let is_others = (meant.lives || is_run(meant)) && !meant.is_of(own_session().as_deref());
    if in_run() || (in_agents_session() && is_others) {
        let otherwise = if in_run() { FOR_A_RUN } else { FOR_A_SESSION };
        let name = printable(&meant.names[0].id);
        bail!(
            "only a person stops, pauses, resumes or adds words to the loop of `{name}`\n{otherwise}"
        );
    }
    Ok(())
}

/// The loop to stop if none is named. Where none lives, or a session has none, the next stop may make one from the
/// current feature's state file.
fn to_stop(
    mut all: Vec<LoopHandle>,
    project: Result<&Project>,
    own: Option<&str>,
) -> Result<LoopHandle> {
    all.retain(|one| one.lives);
    if all.is_empty() || (own.is_some() && !all.iter().any(|one| one.is_of(own))) {
        let project = project?;
        return Ok(LoopHandle::of_feature(project, &feature_to_cancel(project, own)?));
    }
    own_or_only(&all, own, "live")
}

/// The loop to pause or resume if none is named.
fn to_pause_or_resume(
    mut all: Vec<LoopHandle>,
    project: Result<&Project>,
    steering: Steering,
) -> Result<LoopHandle> {
    let is_resume = steering == Steering::Resume;
    all.retain(|one| one.lives && (is_run(one) || one.name(NameKind::Session).is_some()));
    if is_resume {
        let any_paused = all.iter().any(|one| one.paused);
        all.retain(|one| if any_paused { one.paused } else { is_run(one) });
    }
    let (state, armed) = if is_resume { ("paused", "") } else { ("live", ONLY_ARMED) };
    if all.is_empty() {
        project?;
        return Err(Refusal::NoLoop(format!("no loop is {state} here{armed}")).into());
    }
    own_or_only(&all, own_session().as_deref(), state)
}

fn is_run(one: &LoopHandle) -> bool {
    one.name(NameKind::Change).is_some()
}
