//! `spool task done`: runs the Verify command of each task, judges its work, and ticks only what is proved.

use std::io;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::job::TaskJob;
use super::report::left_alone;
use super::verify::{prove, refused_as, without_run};
use crate::cli::context::whole;
use crate::engine::matched::Matched;
use crate::engine::promise::is_reason;
use crate::engine::proof::{LeastProof, Proof, Unproved};
use crate::engine::tasks::{Task, TaskList};
use crate::feature::project::printable;
use crate::feature::snapshot::armed_list;
use crate::forms;
use crate::forms::task::{ProvedTask, VerifyState};
use crate::judge::rules::{JudgedTask, SaidWord, TaskFacts, VerifyShown};
use crate::judge::ticks::shown;
use crate::judge::words::{REASON, answer, lack};
use crate::judge::{FilesSeen, LOOK, TickJudge, id_of, receipt_of};
use crate::refusal::Refusal;
use crate::runner::options::Form;
use crate::session::messages::shortfall::of_check;
use crate::session::task_log::{one_line, read_list};
use crate::session::view::{FeatureView, Unjudged};
use crate::store::names::JournalEvent;
use crate::store::receipts::{Receipt, VerifyRun, Witness};
use crate::world::Stopwatch;

/// Examples of reasons.
const NO_CHANGE: &str = "--no-change \"the limit is 10 already\"";
const ELSEWHERE: &str = "--elsewhere \"the sums moved to core.py\"";
const DROP: &str = "spool task drop ID \"it is not needed any more\"";

#[derive(clap::Args)]
pub struct DoneArgs {
    /// The ids of the tasks
    #[arg(required = true)]
    ids: Vec<String>,
    /// Why they rightly change nothing, in two words or more: a doubt that the person is told
    #[arg(long, value_name = "WHY")]
    no_change: Option<String>,
    /// Why their work is in other files than those that they name, in two words or more
    #[arg(long, value_name = "WHY", conflicts_with = "no_change")]
    elsewhere: Option<String>,
    /// A task that is ticked already, with whose work theirs was done (may be repeated)
    #[arg(long, value_name = "ID")]
    with: Vec<String>,
    /// Time limit for each Verify command, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 110, value_parser = whole::<u64, 1, 7_200>)]
    limit: u64,
}

/// The tasks of one call, and their judge.
struct Ticking<'a> {
    job: &'a TaskJob<'a>,
    list: Matched<'a>,
    judge: &'a Result<TickJudge, Unjudged>,
    seen: FilesSeen,
    facts: Vec<TaskFacts>,
    /// A task of this call was already ticked.
    continues_call: bool,
    /// The list after the last tick.
    ticked_list: Option<TaskList>,
}

/// Ticks the tasks whose Verify command passes and whose work can be seen, and prints what to do next. A failure if one
/// is not ticked.
pub fn done(job: &TaskJob<'_>, request: &DoneArgs) -> Result<ExitCode> {
    let (view, list, text) = job.look()?;
    let tasks = request.ids.iter().map(|id| job.feature.task(&list, id));
    let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    let mut ticking = Ticking::of(job, &view, (&list, &text), &tasks, request)?;
    let (mut answers, refused): (Vec<ProvedTask>, _) = (Vec::new(), view.refused());
    for (number, task) in tasks.iter().enumerate() {
        let is_known = task.done && !refused.contains(&task.id) && ticking.knows(task);
        // The command may take long, and others write meanwhile: the task log is not locked.
        let clock = Stopwatch::start();
        let mut proved = if is_known {
            without_run(task, VerifyState::None, None)
        } else {
            let armed_id = ticking.list.lasting_id(task);
            prove(&job.view(), (task, armed_id), &text, Duration::from_secs(request.limit))?
        };
        if proved.done {
            ticking.tick(&mut proved, number, task, is_known, clock.elapsed())?;
        } else if let Some(check) = &proved.check {
            // The answer says it as well: an unwritable journal does not hide it.
            let _noted = job.open().map(|books| books.unverified(&task.id, &of_check(check)));
        }
        if job.form == Form::Words {
            outln!("{}", proved.words.as_deref().unwrap_or_default());
        }
        answers.push(proved);
    }
    let refused = answers.iter().any(|answer| !answer.done || answer.unproved.is_some());
    if job.form == Form::Json {
        dataln!("{}", forms::line(&job.proved(answers))?);
    } else if !refused && let Some(list) = ticking.ticked_list {
        outln!("{}", view.again().what_next(list));
    }
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl<'a> Ticking<'a> {
    /// Looks at the files before a command can write some.
    fn of(
        job: &'a TaskJob<'a>,
        view: &'a FeatureView<'_>,
        (list, text): (&'a TaskList, &[u8]),
        tasks: &[&'a Task],
        request: &DoneArgs,
    ) -> Result<Self> {
        let word = match (&request.no_change, &request.elsewhere, &*request.with) {
            (Some(why), ..) => SaidWord::NoChange(reason(NO_CHANGE, why)?),
            (_, Some(why), _) => SaidWord::Elsewhere(reason(ELSEWHERE, why)?),
            (_, _, []) => SaidWord::None,
            (_, _, others) => SaidWord::With(others.join(" and ")),
        };
        let (judge, list) = (view.judge(), view.matched(list));
        let seen = judge.as_ref().map(|judge| judge.look(LOOK)).unwrap_or_default();
        let seen_by =
            |task: &Task| receipt_of(task, &list, &seen.receipts).map(|receipt| receipt.by);
        let mut dropped =
            tasks.iter().filter(|task| task.done && seen_by(task) == Some(Witness::Drop));
        if let Some(task) = dropped.next() {
            let what = format!("{} was dropped, and is not to be done", printable(&task.id));
            return Err(Refusal::new(what, "to do it after all, open its box first").into());
        }
        let facts = tasks.iter().map(|task| match judge {
            Ok(judge) => {
                let facts = judge.facts(task, (&list, text), &seen.receipts);
                TaskFacts { word: word.clone(), ..facts }
            }
            Err(_) => TaskFacts::default(),
        });
        let (facts, continues_call, ticked_list) = (facts.collect(), false, None);
        let mut ticking = Self { job, list, judge, seen, facts, continues_call, ticked_list };
        ticking.share(request)?;
        Ok(ticking)
    }

    /// Adds the work of the tasks that these were done with.
    fn share(&mut self, request: &DoneArgs) -> Result<()> {
        if self.judge.is_err() {
            return Ok(());
        }
        for id in &request.with {
            let other = self.job.feature.task(self.list.later, id)?;
            let known = Rc::clone(&self.seen.receipts);
            let Some(receipt) = receipt_of(other, &self.list, &known) else {
                let id = printable(&other.id);
                let what = format!("{id} has no receipt in this loop, so no work of it is known");
                let next = format!("tick both in one call: spool task done {id} ID");
                return Err(Refusal::new(what, next).into());
            };
            self.seen.add_work_of(receipt);
        }
        Ok(())
    }

    /// The loop has a receipt of the task, and the work still exists. Where every tick counts, no receipt is needed.
    fn knows(&self, task: &'a Task) -> bool {
        let judges = |judge: &&TickJudge| judge.armed.least == LeastProof::Files;
        self.judge.as_ref().ok().filter(judges).is_none_or(|judge| {
            let is_gone = || judge.gone(&self.list, &self.seen).iter().any(|one| one.id == task.id);
            receipt_of(task, &self.list, &self.seen.receipts).is_some() && !is_gone()
        })
    }

    /// Ticks the task if its work is proved, and puts the result into the answer.
    fn tick(
        &mut self,
        proved: &mut ProvedTask,
        number: usize,
        task: &Task,
        is_known: bool,
        took: Duration,
    ) -> Result<()> {
        if let Err(Unjudged::Unreadable(why)) = self.judge {
            let id = printable(&task.id);
            let words = format!(
                "{id} is not ticked: what was armed for it cannot be read: {}\nCall done again. If that does not help, a person makes that file readable, or arms the loop again.",
                printable(why)
            );
            *proved = ProvedTask { done: false, words: Some(words), ..proved.clone() };
            return Ok(());
        }
        let mut judged = None;
        if let Some(judge) = self.judge.as_ref().ok().filter(|_| !is_known) {
            let passed = proved.check.as_ref().filter(|_| proved.verify == VerifyState::Passed);
            self.facts[number].verify =
                passed.map_or(VerifyShown::Nothing, |check| shown(&check.run, &check.tail));
            let judgement = judge.judge(&self.facts, &self.seen).swap_remove(number);
            if let (LeastProof::Files, Err(unproved)) = (judge.armed.least, &judgement.proof) {
                let gone = judge.gone(&self.list, &self.seen).into_iter();
                let gone = gone.filter(|one| one.id == task.id).map(|one| one.why).next();
                *proved = refused(proved, task, gone.as_ref().unwrap_or(unproved));
                return Ok(());
            }
            judged = Some(judgement);
        }
        let mut books = self.job.open()?;
        let attempt = books.attempts(task).0.saturating_add(1);
        let already = if books.done(&task.id, &JournalEvent::Done)? { " already" } else { "" };
        // Where every tick counts, an unproved task has the agent's word.
        proved.proof = judged.as_ref().map(|judged| judged.proof.clone().unwrap_or(Proof::Word));
        let millis = took.as_millis() as u64;
        let verify = proved.check.clone().map(|result| VerifyRun { result, millis });
        let kept = match self.judge {
            Ok(judge) if judged.is_some() || !is_known => {
                let last = self.continues_call.then(|| judge.receipts.last()).flatten();
                let shared = last.and_then(|receipt| receipt.commits).unwrap_or_default();
                // The command's files are not the work of the next task.
                let again =
                    verify.as_ref().and_then(|_| judge.contents(self.seen.now.as_ref(), LOOK).ok());
                let form = Receipt { verify, attempt, ..Receipt::default() };
                let receipt = self.receipt(number, judged.as_ref(), proved.proof, form);
                let now = again.as_ref().or(self.seen.now.as_ref());
                books.keep_receipt(judge, receipt, shared, now)
            }
            Ok(_) => Ok(()),
            Err(Unjudged::Unreadable(why) | Unjudged::Nowhere(why)) => {
                Err(io::Error::other(why.clone()))
            }
        };
        self.continues_call = true;
        let left = left_alone(&books) + &without_receipt(kept);
        self.ticked_list = Some(std::mem::take(&mut books.list));
        let remark = proved.words.take().map_or_else(String::new, |remark| format!(" {remark}"));
        let doubt = judged.map(|judged| judged.doubt).filter(|doubt| !doubt.is_empty());
        let doubt = doubt
            .map_or_else(String::new, |doubt| format!(" Proved by tick: {}.", printable(&doubt)));
        proved.words = Some(format!("{} is done{already}.{doubt}{remark}{left}", task.id));
        Ok(())
    }

    fn receipt(
        &self,
        number: usize,
        judged: Option<&JudgedTask>,
        proof: Option<Proof>,
        form: Receipt,
    ) -> Receipt {
        let facts = &self.facts[number];
        let said = match &facts.word {
            SaidWord::NoChange(why) | SaidWord::Elsewhere(why) if proof == Some(Proof::Word) => {
                Some(why.clone())
            }
            _ => None,
        };
        let form = Receipt {
            task: facts.id.clone(),
            by: Witness::Done,
            proof,
            doubt: judged.map(|judged| judged.doubt.clone()).filter(|doubt| !doubt.is_empty()),
            no_change: said,
            ..form
        };
        self.seen.receipt(judged.map_or(&[], |judged| &judged.files), form)
    }
}

/// Drops a task: it is not to be done, and the person reads why. A task that is still in the list is ticked as well.
pub fn drop_task(job: &TaskJob<'_>, id: &str, why: &str) -> Result<ExitCode> {
    let why = reason(DROP, why)?;
    let (view, list, _) = job.look()?;
    let judge = view.judge().as_ref().map_err(|why| {
        let (Unjudged::Unreadable(why) | Unjudged::Nowhere(why)) = why;
        let (id, why) = (printable(id), printable(why));
        let what = format!("{id} cannot be dropped, because nothing can be kept of it: {why}");
        Refusal::new(what, "a person takes it out of the list")
    })?;
    let missing = view.missing(&list);
    // Another task may have taken the id of one that has left the list.
    let is_missing = missing.iter().any(|gone| gone.eq_ignore_ascii_case(id));
    let found = list.find(id).filter(|_| !is_missing);
    let (known, matched) = (judge.known(), judge.matched(&list));
    let is_done = |task: &&Task| {
        let newest = receipt_of(task, &matched, &known);
        let counts = task.done && !view.counted(list.clone()).1.contains(&task.id);
        counts && newest.is_none_or(|receipt| receipt.by != Witness::Drop)
    };
    if let Some(task) = found.filter(is_done) {
        let what = format!("{} is done", printable(&task.id));
        return Err(Refusal::new(what, "to drop it all the same, open its box first").into());
    }
    // The loop may be over: its list is still kept.
    let armed_at = view.record.as_ref().map(|record| record.armed_at).unwrap_or_default();
    let armed = armed_list(job.feature, armed_at.max(judge.armed.at));
    let left = armed.as_ref().and_then(|armed| armed.find(id));
    let task = found.or(left).ok_or_else(|| job.feature.no_task(&list, id))?;
    let mut books = job.open()?;
    if found.is_some() {
        books.done(&task.id, &JournalEvent::Dropped)?;
    } else {
        books.note(&JournalEvent::Dropped, &format!("{} {}", task.id, printable(&task.title)))?;
    }
    let id = printable(&task.id);
    let lasting = |task| id_of(task, &matched, &known).to_owned();
    let task = found.map_or_else(|| task.id.clone(), lasting);
    let (by, proof, no_change) = (Witness::Drop, Some(Proof::Word), Some(why));
    let receipt = Receipt { task, by, proof, no_change, ..Receipt::default() };
    // A drop claims no file: the work since the last tick waits for its own.
    books.keep_receipt(judge, receipt, 0, None)?;
    drop(books);
    let (now, list) = (view.again(), read_list(job.feature)?.0);
    let next = now.what_next(list);
    job.answer(&now.noted(format!("{id} is dropped, and `spool status` says why. {next}")))
}

/// A reason on one line; refuses words that say nothing.
fn reason(example: &str, text: &str) -> Result<String, Refusal> {
    if is_reason(text) {
        return one_line(text);
    }
    let what = format!("`{}` is no reason", printable(text));
    Err(Refusal::new(what, format!("{REASON}: {example}")))
}

/// The answer about a task without visible work.
fn refused(proved: &ProvedTask, task: &Task, unproved: &Unproved) -> ProvedTask {
    let id = printable(&task.id);
    let what = refused_as(task);
    let verify = proved.words.as_ref().map_or_else(String::new, |words| format!("\n{words}"));
    let (lack, answer) = (lack(unproved), answer(&id, unproved, true));
    let then = if unproved.holds_up_all() { ", and call done again." } else { "" };
    let words = format!("{id} {what}: {lack}.{verify}\n{answer}{then}");
    ProvedTask {
        done: false,
        unproved: Some(unproved.clone()),
        words: Some(words),
        ..proved.clone()
    }
}

/// A sentence about a receipt that could not be kept; the task is done all the same.
fn without_receipt(kept: io::Result<()>) -> String {
    kept.err().map_or_else(String::new, |error| {
        format!(" Its receipt could not be kept: {}.", printable(&error.to_string()))
    })
}
