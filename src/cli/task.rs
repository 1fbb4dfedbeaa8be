//! `spool task`: the program keeps the books; the agent asks, works and reports.
//!
//! Every answer is short: a model reads it hundreds of times.

use std::mem::ManuallyDrop;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Subcommand;
use serde_json::{Value, json};

use super::context::{Where, own_session};
use super::person::{can_be_asked, confirm, in_agents_session};
use crate::checks;
use crate::engine::tasks::{Task, TaskList};
use crate::engine::{CheckResult, TerminalReason};
use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::limits_of;
use crate::feature::state::State;
use crate::feature::{SIGNAL, STATE};
use crate::session::pinned;
use crate::session::task_log::{Books, Done, Failed, Proof, over, proof, read_list};
use crate::store::loops::{Loops, RALPH};
use crate::store::pins::{PinKey, Pins};
use crate::text;

/// The longest list that is shown whole, in lines: a model reads it.
const LINES: usize = 60;
/// The longest title in a list, in characters.
const TITLE: usize = 100;

/// Take the next task, tick it, or say that it failed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct TaskArgs {
    #[command(subcommand)]
    action: Action,
    /// The feature; without it, the one this session drives, or the current one
    #[arg(long, value_name = "NAME", global = true)]
    feature: Option<String>,
    #[command(flatten)]
    place: Where,
}

const EXAMPLES: &str = "\
The cycle:
  spool task next                      what to do now
  spool task done T003                 it is done: its Verify command runs, its box is ticked
  spool task fail T003 \"why\"           it failed: the attempt is counted
  spool task block \"what is needed\"    only a person can go on: the loop ends";

#[derive(Subcommand)]
enum Action {
    /// Show the task to do now, or the parallel group
    Next {
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Show one task with everything that belongs to it
    Show {
        /// The task's id
        id: String,
    },
    /// List the tasks: of a long list the open ones
    List {
        /// Show every task of a long list
        #[arg(long)]
        all: bool,
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Run the Verify command of each task, then tick its box
    Done {
        /// The ids of the tasks
        #[arg(required = true)]
        ids: Vec<String>,
        /// Seconds that each Verify command may take
        #[arg(long, value_name = "SECONDS", default_value_t = 110, value_parser = clap::value_parser!(u64).range(1..=7200))]
        limit: u64,
    },
    /// Count a failed attempt
    Fail {
        /// The task's id
        id: String,
        /// What went wrong and what was tried, in one line
        why: String,
    },
    /// End the loop because a person is needed
    Block {
        /// What the person must do, in one line
        need: String,
    },
    /// Put a new task behind another one
    Add {
        /// The id of the task before it
        #[arg(long, value_name = "ID")]
        after: String,
        /// What is to be done, in one line
        what: String,
    },
    /// Run the Verify command of a task and tick nothing
    Verify {
        /// The task's id
        id: String,
        /// Seconds that the command may take
        #[arg(long, value_name = "SECONDS", default_value_t = 110, value_parser = clap::value_parser!(u64).range(1..=7200))]
        limit: u64,
    },
}

/// Carries out one entry and prints what to do next.
pub fn run(args: &TaskArgs) -> Result<ExitCode> {
    let session = own_session();
    let project = project(args, session.as_deref())?;
    let meant = project.feature_meant(args.feature.as_deref(), session.as_deref());
    let feature = meant.map_err(|lost| anyhow!("{lost}"))?.context(
        "no feature is selected in this project\nname it with --feature 001-name, or select one with spec-kit",
    )?;
    only_its_own(&project, &feature, session.as_deref())?;
    let job = Job { project: &project, feature: &feature, session: session.as_deref() };
    match &args.action {
        Action::Next { json } => next(&job, *json),
        Action::Show { id } => show(&job, id),
        Action::List { json: true, .. } => list_as_json(&job),
        Action::List { all, .. } => list(&job, if *all { usize::MAX } else { LINES }),
        Action::Done { ids, limit } => done(&job, ids, Duration::from_secs(*limit)),
        Action::Fail { id, why } => fail(&job, id, why),
        Action::Block { need } => block(&job, need),
        Action::Add { after, what } => add(&job, after, what),
        Action::Verify { id, limit } => verify(&job, id, Duration::from_secs(*limit)),
    }
}

/// The project that is named, the one that this session has its loop in, or the nearest one.
///
/// An agent's folder drifts, also into a project inside the project; the hook looks the same way.
fn project(args: &TaskArgs, session: Option<&str>) -> Result<Project> {
    let here = std::env::current_dir().ok().filter(|_| args.place.project.is_none());
    let own = here.zip(session).and_then(|(here, session)| Project::around_session(&here, session));
    own.map_or_else(|| args.place.project(), Ok)
}

/// An error when an agent means something else than the feature of its session's loop, the project that it is in,
/// or a feature that another session's loop works on: what an agent may call without a question reaches no other
/// books. Where its own loop is over, or its notes say so, the rest holds all the same.
fn only_its_own(project: &Project, feature: &Feature, session: Option<&str>) -> Result<()> {
    let here = std::env::current_dir().ok();
    let around = |session| here.as_ref().and_then(|it| Project::around_session(it, session));
    let own = session.and_then(around);
    let refused = |what: &str| {
        anyhow!(
            "{what}, and keeps no books of feature `{}` in `{}`\nleave out --feature and --project, or call it in a terminal of your own",
            text::line(&feature.name),
            project.root.display()
        )
    };
    let mut pinned = None;
    if in_agents_session() {
        // The notes lie in the project, where the agent can write; what was armed does not.
        pinned = own
            .as_ref()
            .zip(session)
            .and_then(|(own, session)| pinned::of_session(&own.root, session, None).pin().cloned());
        let meant = pinned.as_ref().filter(|pin| pin.contract.is_none());
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
    let record = own.as_ref().zip(session).and_then(|(own, it)| Loops::of(&own.root).peek(it));
    let record = record.filter(|_| pinned.is_none());
    let live = record.filter(|it| it.ledger.is_live() && it.kind != RALPH);
    if let (Some(own), Some(record)) = (&own, live) {
        if own.root == project.root && record.folder == feature.relative {
            return Ok(());
        }
        let (about, root) = (text::line(&record.about), own.root.display());
        return Err(refused(&format!("this session works on feature `{about}` in `{root}`")));
    }
    let claim = Loops::of(&project.root).claim(&feature.name).filter(|it| it.closed.is_none());
    let of_claim = claim.as_ref().and_then(|claim| claim.session.clone());
    if !in_agents_session() || (of_claim.is_some() && of_claim.as_deref() == session) {
        return Ok(());
    }
    let nearest = here.as_ref().and_then(|here| Project::around(here));
    if ![own, nearest].iter().flatten().any(|it| it.root == project.root) {
        return Err(refused("this is an agent's session in another project"));
    }
    // The claim lies in the project, where the agent can write; what was armed does not.
    let pins = Pins::of(&project.root).ok();
    let pin = pins.and_then(|pins| pins.read(PinKey::Feature(&feature.name)).ok()?);
    let of_pin = pin.as_ref().map(|pin| pin.session.clone()).filter(|session| !session.is_empty());
    if let Some(other) = of_claim.or(of_pin).filter(|other| Some(other.as_str()) != session) {
        let other = text::line(&other).into_owned();
        return Err(refused(&format!("this session has no loop here: session {other} has one")));
    }
    // Armed in a terminal, it is for the session that stops first: that may be this one.
    let is_current = || project.current_feature().is_ok_and(|it| it.as_ref() == Some(feature));
    if (claim.is_some() || pin.is_some()) && !is_current() {
        return Err(refused("this session has no loop of that feature"));
    }
    Ok(())
}

fn next(job: &Job<'_>, as_json: bool) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    // The program ends with this answer: thousands of tasks need not be given back one by one.
    let list = ManuallyDrop::new(list);
    let ended = over(job.project, job.feature);
    let next = list.next();
    if as_json {
        let state = State::read_at_once(job.feature).unwrap_or_default();
        let tasks: Vec<_> = next.iter().map(|task| described(task, &list, &state, &text)).collect();
        let status = match (&ended, tasks.len()) {
            (Some(_), _) => "over",
            (None, 0) => "done",
            (None, 1) => "task",
            (None, _) => "group",
        };
        let answer = json!({
            "status": status,
            "reason": ended,
            "tasks": tasks,
            "done": list.done(),
            "total": list.tasks.len(),
        });
        outln!("{}", text::json(&answer.to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(reason) = ended {
        outln!("The loop of {} is over ({reason}). End your turn.", job.feature.name);
        return Ok(ExitCode::SUCCESS);
    }
    if next.is_empty() {
        outln!("{}", nothing_open(&list));
        return Ok(ExitCode::SUCCESS);
    }
    for task in &next {
        if let Some(parent) = list.parent_of(task) {
            outln!("Part of {} {}:", printable(&parent.id), printable(&parent.title));
        }
        outln!("{}\n", text::block(&list.block_text(task, &text)));
    }
    outln!("{}", job.instruction(&next, &list));
    Ok(ExitCode::SUCCESS)
}

fn show(job: &Job<'_>, id: &str) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let task = list.find(id).with_context(|| missing(id))?;
    outln!("{}", text::block(&list.block_text(task, &text)));
    Ok(ExitCode::SUCCESS)
}

fn list_as_json(job: &Job<'_>) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let state = State::read_at_once(job.feature).unwrap_or_default();
    let all = list.tasks.iter();
    let tasks: Vec<_> = all.map(|task| described(task, &list, &state, &text)).collect();
    let answer = json!({"feature": job.feature.name, "done": list.done(), "tasks": tasks});
    outln!("{}", text::json(&answer.to_string()));
    Ok(ExitCode::SUCCESS)
}

/// Shows all tasks when they fit into `most` lines, otherwise the first open ones.
fn list(job: &Job<'_>, most: usize) -> Result<ExitCode> {
    let (list, _) = job.list()?;
    let whole = list.tasks.len() <= most;
    let shown = list.tasks.iter().filter(|task| whole || !task.done).take(most);
    for task in shown {
        let mark = if task.done { 'x' } else { ' ' };
        outln!("[{mark}] {} {}", printable(&task.id), text::title(&task.title, TITLE));
    }
    let more = if whole { "" } else { "; `spool task list --all` shows every task" };
    outln!("{} of {} done{more}", list.done(), list.tasks.len());
    Ok(ExitCode::SUCCESS)
}

fn done(job: &Job<'_>, ids: &[String], limit: Duration) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let found = |id: &String| list.find(id).with_context(|| missing(id));
    let tasks = ids.iter().map(found).collect::<Result<Vec<_>>>()?;
    let mut refused = false;
    for task in tasks {
        // The command runs while the books are closed: it may take long, and others work meanwhile.
        let proof = if task.done { Proof::None } else { job.proof(task, &text) };
        let remark = match prove(task, proof, &job.project.root, limit)? {
            Proved::With(remark) => remark,
            Proved::Not(words) => {
                outln!("{words}");
                refused = true;
                continue;
            }
        };
        let mut books = job.open()?;
        let already = match books.done(&task.id)? {
            Done::Now => "",
            Done::Before => " already",
        };
        outln!("{} is done{already}.{remark}{}", task.id, left_alone(&books));
    }
    if refused {
        return Ok(ExitCode::FAILURE);
    }
    outln!("{}", job.what_next()?);
    Ok(ExitCode::SUCCESS)
}

fn fail(job: &Job<'_>, id: &str, why: &str) -> Result<ExitCode> {
    let mut books = job.open()?;
    let failed = books.fail(id, why)?;
    let note = left_alone(&books);
    drop(books);
    let text = match (failed, over(job.project, job.feature)) {
        (Failed::Ended(TerminalReason::TaskFailed { limit, .. }), _) => format!(
            "Counted: {id} used up its {limit} attempts, the loop is over (task_failed). End your turn now with what was tried and what a person must do."
        ),
        (Failed::Ended(reason), _) => {
            format!("The loop is over ({}). End your turn.", reason.name())
        }
        (_, Some(reason)) => format!("Noted. The loop is over ({reason}). End your turn."),
        (Failed::Again { used, limit }, None) => format!(
            "Counted: {id} failed {used} of {limit} times. Try it again in another way: spool task show {id}"
        ),
        (Failed::Repair { id: repair, used, limit }, None) => format!(
            "Counted: {id} failed {used} of {limit} times. Do its repair {repair} first, then {id} again: spool task next"
        ),
        (Failed::NotCounted, None) => format!(
            "Noted, not counted: there is no state file that can be read, so no loop is armed.{note} Try {id} again in another way, or say what a person must do."
        ),
    };
    outln!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn block(job: &Job<'_>, need: &str) -> Result<ExitCode> {
    job.open()?.block(need)?;
    let reason = over(job.project, job.feature).unwrap_or_default();
    outln!(
        "Noted, the loop is over ({reason}). End your turn now: say what the person must do and what is done so far."
    );
    Ok(ExitCode::SUCCESS)
}

fn add(job: &Job<'_>, after: &str, what: &str) -> Result<ExitCode> {
    let (id, done) = job.open()?.add(after, what)?;
    let id = printable(&id);
    match done {
        Done::Now => outln!("Added {id} behind {after}. {}", job.what_next()?),
        Done::Before => {
            outln!("{id} was added already after {after}. {}", job.what_next()?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(job: &Job<'_>, id: &str, limit: Duration) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let task = list.find(id).with_context(|| missing(id))?;
    let command = match job.proof(task, &text) {
        Proof::Run(command) => command,
        Proof::None => {
            outln!("{} has no Verify command in backticks: check it by reading.", task.id);
            return Ok(ExitCode::SUCCESS);
        }
        Proof::New(command) => {
            outln!(
                "The Verify command of {} was added after arming and is not run here: run it yourself: `{}`",
                printable(&task.id),
                text::line(&command)
            );
            return Ok(ExitCode::FAILURE);
        }
        Proof::Changed(known) => {
            outln!("{}", changed(task, &known));
            return Ok(ExitCode::FAILURE);
        }
        Proof::Unreadable(command, why) => {
            outln!("{}", unreadable(task, "proved", command.as_deref(), &why));
            return Ok(ExitCode::FAILURE);
        }
        Proof::Unarmed(command, why) => {
            if !person_agrees(task, &command)? {
                outln!("{}", unarmed(task, &command, &why));
                return Ok(ExitCode::FAILURE);
            }
            command
        }
    };
    let result = checks::run(&command, &job.project.root, limit);
    if result.passed {
        outln!("{} passes: `{}`", printable(&task.id), text::line(&command));
        return Ok(ExitCode::SUCCESS);
    }
    outln!("{}", failure(&result));
    Ok(ExitCode::FAILURE)
}

/// The feature that a command is about.
struct Job<'a> {
    project: &'a Project,
    feature: &'a Feature,
    session: Option<&'a str>,
}

impl Job<'_> {
    /// The list as it stands, for reading; nobody is kept from writing it.
    fn list(&self) -> Result<(TaskList, Vec<u8>)> {
        Ok(read_list(self.feature)?)
    }

    fn proof(&self, task: &Task, text: &[u8]) -> Proof {
        proof(self.project, self.feature, task, text)
    }

    fn open(&self) -> Result<Books<'_>> {
        Ok(Books::open(self.project, self.feature, self.session)?)
    }

    /// One short paragraph: the next task, or the end.
    fn what_next(&self) -> Result<String> {
        if let Some(reason) = over(self.project, self.feature) {
            return Ok(format!("The loop is over ({reason}). End your turn."));
        }
        let (list, _) = self.list()?;
        let next = list.next();
        if next.is_empty() {
            return Ok(nothing_open(&list));
        }
        let ids: Vec<_> = next.iter().map(|task| task.id.as_str()).collect();
        let left = list.tasks.len() - list.done();
        Ok(format!(
            "{left} of {} open, next {}: spool task next",
            list.tasks.len(),
            shortened(&ids)
        ))
    }

    /// Who does the next tasks, and how to report.
    fn instruction(&self, next: &[&Task], list: &TaskList) -> String {
        let left = list.tasks.len() - list.done();
        let ids: Vec<_> = next.iter().map(|task| task.id.as_str()).collect();
        let state = State::read_at_once(self.feature).unwrap_or_default();
        let attempt = next.first().map_or(1, |task| state.failures(&task.id) + 1);
        let standing = pinned::standing_of_feature(&self.project.root, &self.feature.name);
        let limit = limits_of(&standing, &state).max_task_iterations;
        let who = if next.len() > 1 {
            let agents: Vec<_> =
                next.iter().map(|task| format!("{} {}", task.id, agent(task))).collect();
            format!("A parallel group, delegate it in one message: {}.", agents.join(", "))
        } else {
            format!("Delegate it to {} (attempt {attempt} of {limit}).", agent(next[0]))
        };
        format!(
            "{who} {left} of {} open.\nThen: spool task done {}   or: spool task fail ID \"why\"",
            list.tasks.len(),
            ids.join(" "),
        )
    }
}

fn described(task: &Task, list: &TaskList, state: &State, text: &[u8]) -> Value {
    json!({
        "id": task.id,
        "title": task.title,
        "done": task.done,
        "parallel": task.parallel,
        "agent": agent(task),
        "fixes": task.fixes,
        "phase": &*task.phase,
        "line": task.line,
        "failures": state.failures(&task.id),
        "verify": task.verify_command(text),
        "block": list.block_text(task, text),
    })
}

/// A sentence on a state file that nobody can read; it is not overwritten.
fn left_alone(books: &Books<'_>) -> String {
    books.unreadable_state().map_or_else(String::new, |why| {
        format!(" {STATE} cannot be read and is left as it is: {}.", printable(why))
    })
}

fn agent(task: &Task) -> &'static str {
    if task.verify { "qa-engineer" } else { "spec-executor" }
}

fn nothing_open(list: &TaskList) -> String {
    if list.tasks.is_empty() {
        return format!("{TASKS} holds no task. An empty list is not done: restore it.");
    }
    format!(
        "All {} tasks are done. Look once more that nothing is left, then end with {SIGNAL} on a line of its own.",
        list.tasks.len()
    )
}

/// What came of the proof of a task.
enum Proved {
    /// Nothing speaks against it; a sentence on a command that was not run, or nothing.
    With(String),
    /// Why it is not ticked.
    Not(String),
}

/// Runs what proves a task and returns what came of it.
fn prove(task: &Task, proof: Proof, root: &Path, limit: Duration) -> Result<Proved> {
    let command = match proof {
        Proof::None => return Ok(Proved::With(String::new())),
        Proof::Run(command) => command,
        Proof::New(command) => {
            return Ok(Proved::With(format!(
                " Its Verify command was added after arming and was not run: run it yourself: `{}`.",
                text::line(&command)
            )));
        }
        Proof::Changed(known) => return Ok(Proved::Not(changed(task, &known))),
        Proof::Unreadable(command, why) => {
            return Ok(Proved::Not(unreadable(task, "ticked", command.as_deref(), &why)));
        }
        Proof::Unarmed(command, why) => {
            if !person_agrees(task, &command)? {
                outln!("{}", unarmed(task, &command, &why));
                return Ok(Proved::With(String::new()));
            }
            command
        }
    };
    let result = checks::run(&command, root, limit);
    Ok(if result.passed {
        Proved::With(String::new())
    } else {
        Proved::Not(refusal(task, &result))
    })
}

/// Whether a person at the terminal wants a command to be run that nobody armed. Nobody is asked in an
/// agent's session, or where no person can see the question and answer it.
fn person_agrees(task: &Task, command: &str) -> Result<bool> {
    if !can_be_asked() {
        return Ok(false);
    }
    errln!("No person armed the Verify command of {}:\n  {}", task.id, pinned::indented(command));
    confirm("Run it in this project?")
}

fn unarmed(task: &Task, command: &str, why: &str) -> String {
    format!(
        "The Verify command of {} is not run here, for {}: run it yourself: `{}`",
        task.id,
        text::line(why),
        text::line(command)
    )
}

/// What is said of a task whose armed Verify command cannot be known: whether it has one at all is not known either.
fn unreadable(task: &Task, what: &str, command: Option<&str>, why: &str) -> String {
    let now = command.map_or_else(String::new, |command| {
        format!("\nThe list has this one now, which is not run: `{}`", text::line(command))
    });
    format!(
        "{} is not {what}: the Verify commands that were armed cannot be read: {}{now}\nA person makes that file readable, or arms the loop again.",
        printable(&task.id),
        text::line(why)
    )
}

fn changed(task: &Task, known: &str) -> String {
    format!(
        "{} is not ticked: its Verify command is not the one that the loop was armed with.\nPut it back: `{}`",
        printable(&task.id),
        text::line(known)
    )
}

fn refusal(task: &Task, result: &CheckResult) -> String {
    format!(
        "{} is not ticked: {}\nRepair it and call done again, or: spool task fail {} \"why\"",
        task.id,
        failure(result),
        task.id
    )
}

fn failure(result: &CheckResult) -> String {
    let tail = if result.tail.is_empty() { "(it printed nothing)" } else { &result.tail };
    format!("`{}` failed: {}\n{}", text::line(&result.run), result.outcome, text::block(tail))
}

fn missing(id: &str) -> String {
    format!("there is no task `{}` in {TASKS}\n`spool task list` shows them", printable(id))
}

/// The first ids of a group, so that the line stays a line.
fn shortened(ids: &[&str]) -> String {
    let shown = ids.iter().take(8).copied().collect::<Vec<_>>().join(" ");
    if ids.len() > 8 { format!("{shown} …") } else { shown }
}
