//! `spool task done`: the Verify command of each task runs, its work is judged, and only what is proved is ticked.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::job::TaskJob;
use super::report::left_alone;
use super::verify::prove;
use crate::engine::promise::is_reason;
use crate::engine::proof::{JudgedTask, LeastProof, Proof, TaskFacts, Unproved, VerifyShown};
use crate::engine::tasks::{Task, TaskList};
use crate::feature::project::printable;
use crate::forms;
use crate::forms::task::{ProvedTask, VerifyState};
use crate::refusal::Refusal;
use crate::runner::options::Form;
use crate::session::messages::proof::{REASON, lack, remedy};
use crate::session::proof::{FilesSeen, TaskProofs, Unjudged, armed_id, at_least_word, facts_of};
use crate::session::task_log::{ArmedVerify, Done, Tick, is_together, no_task, one_line};
use crate::world::Stopwatch;

/// The longest that the files are looked through.
const LOOK: Duration = Duration::from_secs(2);

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct DoneRequest<'a> {
    /// The tasks that are done.
    pub ids: &'a [String],
    /// Why they change nothing, in the agent's words.
    pub no_change: Option<&'a str>,
    /// Tasks that were ticked before, with whose work theirs was done.
    pub with: &'a [String],
    /// The limit for each Verify command.
    pub limit: Duration,
}

/// The tasks of one call, and what they are judged by.
struct Ticking<'a> {
    job: &'a TaskJob<'a>,
    list: &'a TaskList,
    proofs: Result<TaskProofs<'a>, Unjudged>,
    seen: FilesSeen,
    facts: Vec<TaskFacts>,
    is_shared: bool,
    /// Whether a task of this call was ticked already.
    continues_call: bool,
    /// The list after the last tick.
    ticked_list: Option<TaskList>,
}

/// Ticks the tasks whose Verify command passes and whose work can be seen, and prints what to do next; a failure when one is
/// not ticked.
pub fn done(job: &TaskJob<'_>, request: DoneRequest<'_>) -> Result<ExitCode> {
    let (list, text) = job.list()?;
    let found = |id: &String| list.find(id).ok_or_else(|| no_task(job.feature, &list, id));
    let tasks = request.ids.iter().map(found).collect::<Result<Vec<_>, _>>()?;
    let mut ticking = Ticking::of(job, &list, &text, &tasks, request)?;
    let mut answers: Vec<ProvedTask> = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        let is_known = task.done && ticking.knows(task);
        // The command runs while the task log is not locked: it may take long, and others write meanwhile.
        let verify = if is_known {
            ArmedVerify::None
        } else {
            job.armed_verify(task, ticking.armed_id(task).as_deref(), &text)
        };
        let clock = Stopwatch::start();
        let mut proved = prove(task, verify, &job.project.root, request.limit)?;
        if proved.done {
            ticking.tick(&mut proved, number, task, is_known, clock.elapsed())?;
        }
        if job.form == Form::Words {
            outln!("{}", proved.words.as_deref().unwrap_or_default());
        }
        answers.push(proved);
    }
    let refused = answers.iter().any(|answer| !answer.done || answer.unproved.is_some());
    if job.form == Form::Json {
        dataln!("{}", forms::line(&job.proved(answers))?);
    } else if !refused {
        let list = ticking.ticked_list.map_or_else(|| Ok(job.list()?.0), anyhow::Ok)?;
        outln!("{}", job.what_next_in(list));
    }
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl<'a> Ticking<'a> {
    /// Looks at the files, before any command writes some.
    fn of(
        job: &'a TaskJob<'a>,
        list: &'a TaskList,
        text: &[u8],
        tasks: &[&Task],
        request: DoneRequest<'_>,
    ) -> Result<Self> {
        let no_change = request.no_change.map(reason).transpose()?;
        let proofs = TaskProofs::standing(job.project, job.feature);
        let armed = proofs.as_ref().ok().and_then(TaskProofs::armed_list);
        let facts = tasks.iter().map(|task| {
            let facts = facts_of(armed, task, list, text);
            let facts = TaskFacts { no_change: no_change.clone(), ..facts };
            match &proofs {
                Ok(proofs) => proofs.with_parts(facts, task, list),
                Err(_) => facts,
            }
        });
        let facts = facts.collect();
        let seen = proofs.as_ref().map(|proofs| proofs.look(LOOK)).unwrap_or_default();
        let (is_shared, continues_call, ticked_list) = (false, false, None);
        let mut ticking =
            Self { job, list, proofs, seen, facts, is_shared, continues_call, ticked_list };
        ticking.share(tasks, request)?;
        Ok(ticking)
    }

    /// Takes in the work of the tasks that these were done with: those that are named, and the one before in a parallel group.
    fn share(&mut self, tasks: &[&Task], request: DoneRequest<'_>) -> Result<()> {
        let Ok(proofs) = &self.proofs else { return Ok(()) };
        for id in request.with {
            let other =
                self.list.find(id).ok_or_else(|| no_task(self.job.feature, self.list, id))?;
            let Some(receipt) = proofs.receipts_of(other, self.list).last() else {
                let id = printable(&other.id);
                let what = format!("{id} has no receipt in this loop, so no work of it is known");
                let next = format!("tick both in one call: spool task done {id} ID");
                return Err(Refusal::new(what, next).into());
            };
            self.seen.add_work_of(&receipt);
            self.is_shared = true;
        }
        for task in tasks.iter().filter(|task| !task.done) {
            // A box that was opened again needs no more work than what is still there of its own.
            if let Some(receipt) = proofs.receipts_of(task, self.list).last() {
                self.is_shared |= self.seen.add_rest_of(&receipt);
            }
        }
        let last = proofs.receipts.last().filter(|it| it.at >= proofs.armed_at);
        if let Some(last) = last
            && tasks.iter().any(|task| is_together(self.list, task, &last))
        {
            self.seen.add_work_of(&last);
        }
        Ok(())
    }

    /// The id under which the Verify command of a task was armed, `None` for a task that was added since.
    fn armed_id(&self, task: &Task) -> Option<String> {
        armed_id(self.proofs.as_ref().ok(), task, self.list)
    }

    /// Whether the loop has a receipt of a task; where every tick counts, none is missed.
    fn knows(&self, task: &Task) -> bool {
        let judges = |it: &&TaskProofs<'_>| it.least == LeastProof::Files;
        self.proofs
            .as_ref()
            .ok()
            .filter(judges)
            .is_none_or(|proofs| proofs.has_receipt(task, self.list))
    }

    /// Ticks a task that may be ticked where its work is proved, and says in the answer what came of it.
    fn tick(
        &mut self,
        proved: &mut ProvedTask,
        number: usize,
        task: &Task,
        is_known: bool,
        took: Duration,
    ) -> Result<()> {
        if let Err(Unjudged::Unreadable(why)) = &self.proofs {
            let id = printable(&task.id);
            let words = format!(
                "{id} is not ticked: what was armed for it cannot be read: {}\nCall done again. If that does not help, a person makes that file readable, or arms the loop again.",
                printable(why)
            );
            *proved = ProvedTask { done: false, words: Some(words), ..proved.clone() };
            return Ok(());
        }
        let mut judged = None;
        if let Some(proofs) = self.proofs.as_ref().ok().filter(|_| !is_known) {
            self.facts[number].verify = match proved.verify {
                VerifyState::Passed => VerifyShown::Passed,
                VerifyState::NoTest => VerifyShown::NoTest,
                _ => VerifyShown::Nothing,
            };
            let it = proofs.judge(&self.facts, &self.seen, self.list).swap_remove(number);
            if let (LeastProof::Files, Err(unproved)) = (proofs.least, &it.proof) {
                *proved = refused(proved, task, unproved);
                return Ok(());
            }
            judged = Some(it);
        }
        let mut books = self.job.open()?;
        let attempt = books.attempts(task).0.saturating_add(1);
        let done = books.done(&task.id)?;
        let already = match done {
            Done::Now => "",
            Done::Before => " already",
        };
        proved.proof = judged.as_ref().map(|judged| self.proof_of(judged));
        let verify = proved.check.as_ref().map(|check| check.lasted(took));
        let tick = Tick { verify, attempt, ..Tick::default() };
        let kept = match &self.proofs {
            Ok(proofs) if !(done == Done::Before && proofs.has_receipt(task, self.list)) => {
                let last = proofs.receipts.last().filter(|it| it.at >= proofs.armed_at);
                let with = |it: &_| self.continues_call || is_together(self.list, task, it);
                let tick = Tick {
                    proof: proved.proof,
                    own: judged.map(|judged| judged.files).unwrap_or_default(),
                    no_change: self.facts[number].no_change.clone(),
                    seen: self.seen.clone(),
                    // What the command wrote is not the work of the next task.
                    now: (tick.verify.as_ref())
                        .and_then(|_| proofs.look_again(self.seen.now.as_ref(), LOOK))
                        .or_else(|| self.seen.now.clone()),
                    shared_commits: last.filter(with).and_then(|it| it.commits).unwrap_or_default(),
                    ..tick
                };
                books.keep_receipt(proofs, &task.id, &tick)
            }
            Ok(_) => Ok(()),
            Err(Unjudged::Unreadable(why)) => Err(io::Error::other(why.clone())),
            Err(Unjudged::Nowhere(error)) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        self.continues_call = true;
        let left = left_alone(&books) + &without_receipt(kept);
        self.ticked_list = Some(std::mem::take(&mut books.list));
        let remark = proved.words.take().map_or_else(String::new, |remark| format!(" {remark}"));
        proved.words = Some(format!("{} is done{already}.{remark}{left}", task.id));
        Ok(())
    }

    /// How well a task is proved: files that another task was ticked with may be that one's work alone.
    fn proof_of(&self, judged: &JudgedTask) -> Proof {
        match at_least_word(judged) {
            Proof::Files if self.is_shared => Proof::Tick,
            proof => proof,
        }
    }
}

/// Why tasks change nothing, in one line; a refusal for what says nothing.
fn reason(text: &str) -> Result<String, Refusal> {
    if is_reason(text) {
        return one_line(text);
    }
    let what = format!("`{}` says nothing on why no file changes", printable(text));
    Err(Refusal::new(what, format!("{REASON}: --no-change \"the limit is 10 already\"")))
}

/// The answer on a task whose work cannot be seen.
fn refused(proved: &ProvedTask, task: &Task, unproved: &Unproved) -> ProvedTask {
    let id = printable(&task.id);
    let what = if task.done { "is ticked by hand and not proved" } else { "is not ticked" };
    let verify = proved.words.as_ref().map_or_else(String::new, |words| format!("\n{words}"));
    let lack = lack(unproved);
    let words = if let Some(remedy) = remedy(unproved) {
        format!("{id} {what}: {lack}.{verify}\n{remedy}, and call done again.")
    } else {
        format!(
            "{id} {what}: {lack}.{verify}\nDo the work and call done again. If it was done together with a ticked task: spool task done {id} --with ID. If it rightly changes nothing: spool task done {id} --no-change \"why\""
        )
    };
    ProvedTask {
        done: task.done,
        unproved: Some(unproved.into()),
        words: Some(words),
        ..proved.clone()
    }
}

/// A sentence on a receipt that could not be kept: the task is done all the same.
fn without_receipt(kept: io::Result<()>) -> String {
    kept.err().map_or_else(String::new, |error| {
        format!(" Its receipt could not be kept: {}.", printable(&error.to_string()))
    })
}
