//! `spool status`: the loops of a project.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use super::context::{has_loop, has_runner};
use super::handle::{LoopHandle, NameKind};
use super::names::TypedName;
use super::selection::WhichLoop;
use crate::evidence::work_trees::all_copies;
use crate::feature::project::Project;
use crate::forms;
use crate::forms::loops::LoopForm;
use crate::forms::plain::words;
use crate::forms::review::LastReview;
use crate::forms::runner::RunnerForm;
use crate::forms::status::StatusForm;
use crate::print;
use crate::review::{self, Review};
use crate::runner::report::{self as runners, RunnerReport};
use crate::runner::signals::Signals;
use crate::session::report::StatusReport;
use crate::session::report::feature::FeatureReport;
use crate::session::report::session_loop::SessionLoop;
use crate::text::{self, age};
use crate::world;

/// The interval between two drawings.
const REDRAW: Duration = Duration::from_secs(2);

/// Show the loops of this project.
#[derive(clap::Args)]
pub struct StatusArgs {
    #[command(flatten)]
    which: WhichLoop,
    /// Draw it again every two seconds, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// The loops in sessions, then those of `spool ralph`.
pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    if args.watch {
        return watch(args);
    }
    let now = Now::of_meant(&args.which)?;
    if args.json {
        let place = &args.which.place;
        let root = place.runners().map_or_else(|| place.start(), Ok)?;
        dataln!("{}", forms::document(&now.form(&root))?);
        return Ok(ExitCode::SUCCESS);
    }
    out!("{}", now.text());
    Ok(ExitCode::SUCCESS)
}

/// The loops of a project with this name; all for an empty one.
pub fn text(project: Project, name: &str) -> Result<String> {
    let root = project.root.clone();
    let runners = runners::root_around(&root);
    let typed = Some(TypedName { kind: None, text: name }).filter(|_| !name.is_empty());
    Ok(Now::of(Ok(project), runners, typed)?.text())
}

/// Draws the report again and again, until a signal.
fn watch(args: &StatusArgs) -> Result<ExitCode> {
    let is_plain = world::variable("TERM").is_none_or(|name| name == "dumb");
    if is_plain || print::size_of(io::stdout()).is_none() {
        bail!(
            "--watch draws on a terminal, and standard output is none\n`spool status` prints once, `spool log --follow` line by line"
        );
    }
    let signals = Signals::listen()?;
    print::clear()?;
    loop {
        let text = Now::of_meant(&args.which)?.text();
        print::screen(&text, "… and more: `spool status` shows all of it")?;
        if let Some(signal) = signals.wait(REDRAW) {
            outln!();
            return Ok(print::ended_by(signal));
        }
    }
}

/// The current loops.
struct Now {
    /// Loops in sessions; `None` without a project that has any.
    report: Option<StatusReport>,
    /// Loops of `spool ralph`.
    runners: Vec<RunnerReport>,
    /// The last review of each feature.
    reviews: BTreeMap<String, Review>,
    /// Other work trees of the repository with a loop, in words.
    elsewhere: String,
    /// Only the named loops are shown.
    is_named: bool,
}

impl Now {
    fn of_meant(which: &WhichLoop) -> Result<Self> {
        let place = &which.place;
        Self::of(place.with_loops(), place.runners().as_deref(), which.typed())
    }

    /// The loops in the sessions of `project` and those of `spool ralph` in `root`.
    fn of(
        project: Result<Project>,
        root: Option<&Path>,
        typed: Option<TypedName<'_>>,
    ) -> Result<Self> {
        let paths = project.as_ref().ok().cloned();
        let paths = paths.or_else(|| Some(Project { root: root?.to_owned() }));
        let runners = root.map(runners::all).unwrap_or_default();
        let mut report = match project {
            Ok(project) => {
                let mut report = StatusReport::of(&project);
                // A person may name any feature.
                report.features.retain(|feature| typed.is_some() || feature.is_begun());
                Some(report)
            }
            // A project that only runners work on needs no `.specify`.
            Err(_) if !runners.is_empty() => None,
            Err(error) => return Err(error),
        };
        let mut reviews = BTreeMap::new();
        if let Some(StatusReport { project, features, .. }) = &mut report {
            for feature in features {
                let name = &feature.facts.name;
                let is_its = |one: &&RunnerReport| one.change_id == *name && one.is_alive();
                feature.runner =
                    runners.iter().find(is_its).map(RunnerReport::line).unwrap_or_default();
                // `spool review --last` reports a review that cannot be read.
                if let Ok(Some(review)) = review::last(Path::new(project), name) {
                    let ago = review.began_at.map(|at| format!(", {} ago", age(at.wall().age())));
                    feature.review = format!("{}{}", review.short(), ago.unwrap_or_default());
                    if let Some(own) = &mut feature.r#loop {
                        own.form.review = Some(LastReview::from(&review));
                    }
                    reviews.insert(feature.facts.name.clone(), review);
                }
            }
        }
        let project = report.as_ref().map(|report| Path::new(&report.project));
        let others = project.and_then(all_copies).into_iter().flatten();
        let others = others.filter(|root| has_loop(root, None) || has_runner(root)).map(|root| {
            let root = text::line(&root.to_string_lossy()).into_owned();
            let typed = shell_words::quote(&root);
            format!("A loop is in the work tree {root}: spool status --project {typed}\n")
        });
        let elsewhere = others.collect();
        let mut now = Self { report, runners, reviews, elsewhere, is_named: false };
        if let Some(typed) = typed {
            let all = now.handles();
            let found = typed.find(&all, paths.as_ref())?;
            if found.is_empty() {
                return Err(typed.unknown(&all));
            }
            if let Some(report) = &mut now.report {
                report.features.retain(|feature| of_feature(feature).is_one_of(&found));
                report.tasks.retain(|task| of_task(task).is_one_of(&found));
            }
            now.runners.retain(|runner| of_runner(runner).is_one_of(&found));
            now.is_named = true;
        }
        Ok(now)
    }

    /// The loops with their names.
    fn handles(&self) -> Vec<LoopHandle> {
        let report = || self.report.iter();
        let features = report().flat_map(|report| &report.features).map(of_feature);
        let tasks = report().flat_map(|report| &report.tasks).map(of_task);
        features.chain(tasks).chain(self.runners.iter().map(of_runner)).collect()
    }

    /// For programs; `root` is the project where only runners work.
    fn form(&self, root: &Path) -> StatusForm {
        let report = self.report.as_ref();
        let tasks = self.report.iter().flat_map(|report| &report.tasks);
        let root = || root.display().to_string();
        let features = report.into_iter().flat_map(|report| &report.features);
        let reviewed = |own: LoopForm| {
            let review = self.reviews.get(&own.about).map(LastReview::from);
            LoopForm { review, ..own }
        };
        let runner = |report: &RunnerReport| {
            let form = RunnerForm::from(report);
            RunnerForm { r#loop: form.r#loop.map(reviewed), ..form }
        };
        StatusForm {
            project: report.map_or_else(root, |report| report.project.clone()),
            enabled: report.is_none_or(|report| report.enabled),
            settings_problem: report.and_then(|report| words(&report.settings_problem)),
            features: features.map(FeatureReport::form).collect(),
            tasks: tasks.map(|task| task.form.clone()).collect(),
            runners: self.runners.iter().map(runner).collect(),
        }
    }

    fn text(&self) -> String {
        let text = |report: &StatusReport| {
            let is_other = self.is_named && report.features.is_empty();
            if is_other { report.tasks_text().trim_start().to_owned() } else { report.text() }
        };
        let mut text = self.report.as_ref().map(text).unwrap_or_default();
        text.push_str(&self.elsewhere);
        if self.is_named {
            for runner in &self.runners {
                let gap = if text.is_empty() { "" } else { "\n" };
                text = format!("{text}{gap}{}", text::block(&runner.text()));
            }
            return text;
        }
        if !self.runners.is_empty() {
            text.push_str(
                "Loops of `spool ralph` (more: `spool status --change ID`, `spool log --summary --change ID`):\n",
            );
        }
        for runner in &self.runners {
            let _ = writeln!(text, "  {}", runner.line());
        }
        text
    }
}

fn of_feature(feature: &FeatureReport) -> LoopHandle {
    let session = feature.r#loop.as_ref().map_or("", SessionLoop::session);
    LoopHandle::named([(NameKind::Feature, &feature.facts.name), (NameKind::Session, session)])
}

fn of_task(task: &SessionLoop) -> LoopHandle {
    LoopHandle::named([(NameKind::Session, task.session()), (NameKind::Task, &task.form.about)])
}

fn of_runner(runner: &RunnerReport) -> LoopHandle {
    LoopHandle::named([(NameKind::Change, &runner.change_id)])
}
