//! One review: the packet, the reader, its answer, and changes of the work meanwhile.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::armed;
use super::base::{Base, KnownLoop, LOST, base, known_loop};
use super::changes::Changes;
use super::evidence::{self, Ground};
use super::form::{self, ReviewJudgement, ReviewRequirement, ReviewSeverity};
use super::packet::{PacketMarks, PacketMaterial, SPECIFICATION, TASKS, prompt};
use super::record::{self, Review, ReviewOutcome};
use crate::checks::PASSED;
use crate::engine::order::few;
use crate::engine::tasks::TaskList;
use crate::engine::{CheckResult, Dollars};
use crate::evidence::contents::MOST_NAMED;
use crate::evidence::task_list;
use crate::evidence::tree::{Bounds, FoundFile, Go, Whole, look};
use crate::feature::project::{Feature, Project, printable};
use crate::feature::requirements::{self, Requirement, specification};
use crate::forms::plain::{JsonTime, words};
use crate::forms::spent::in_dollars;
use crate::judge::names::files_named_in;
use crate::runner::git::{Git, GitMoment};
use crate::runner::harness::{
    AgentOrder, AgentReport, Approval, Harness, OutputReader, Permissions, RunOutcome, Stream,
    TokenUsage,
};
use crate::runner::options::time_in_words;
use crate::runner::prices::{Allowance, BudgetsLeft, PriceTable};
use crate::runner::process::{self, Control, Cut, ProcessLimits, ProcessOutcome, Watcher};
use crate::runner::signals::Signals;
use crate::runner::state::make_state_folder;
use crate::runner::tokens::TokenCount;
use crate::session::view::FeatureView;
use crate::store::lock::Lock;
use crate::store::read::read_in;
use crate::store::receipts::{Receipts, armed_specification};
use crate::store::write::open_or_create;
use crate::system::{files, names};
use crate::world::{self, Deadline, FileTime, Stopwatch};

/// Requirements in one review.
const REQUIREMENTS: usize = 500;
/// Bytes that a reader may print: as much as its log holds.
const OUTPUT: u64 = 64 << 20;
/// The time to wait for another review of the feature.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time for git before the reader begins.
const GIT: Duration = Duration::from_mins(1);
/// The time for a reader after its answer, and after a request to end.
const LINGERING: Duration = Duration::from_secs(10);
/// The limits of the look at the files after the reader's end: time, and number of files.
const LOOK: Duration = Duration::from_secs(10);
const ENTRIES: usize = 200_000;

/// For checks that did not run for this review.
const OLD_CHECKS: &str =
    "the checks are those of the last loop: they may be older than the newest change";

/// Changes that are named.
const CHANGES: usize = 50;

pub struct ReviewOrder<'a> {
    pub project: &'a Project,
    pub feature: &'a Feature,
    /// Ids of the finished tasks to be reviewed; empty for all work.
    pub part: &'a [String],
    /// The agent program that reads.
    pub harness: Box<dyn Harness>,
    /// Empty if unknown.
    pub version: String,
    /// `None` for the agent program's own choice.
    pub model: Option<&'a str>,
    /// The permissions of its tools.
    pub approval: Approval,
    /// A person's name for the commit at which the changes begin; `None` for the arming of the loop.
    pub base: Option<&'a str>,
    pub limits: ReviewLimits,
    /// Prices for an agent program that reports no costs.
    pub prices: &'a PriceTable,
    /// Signals to this process.
    pub signals: &'a Signals,
    /// The loop's commands, which have just run; `None` outside of a loop.
    pub results: Option<Vec<CheckResult>>,
}

/// Limits that end a review early.
#[derive(Clone, Copy, Debug)]
pub struct ReviewLimits {
    /// `None` for no limit.
    pub time: Option<Duration>,
    /// `None` for no limit.
    pub tokens: Option<u64>,
    /// In millionths of a dollar.
    pub cost: Option<u64>,
    /// Time between asking the agent program to end and killing it.
    pub grace: Duration,
}

/// Files read before the reader begins.
struct ReviewInput {
    specification: String,
    tasks: Option<String>,
    requirements: Vec<Requirement>,
    /// The specification's changes since arming.
    changes: armed::SpecificationChanges,
    git: Option<Git>,
    known: Option<KnownLoop>,
    base: Base,
}

struct ReaderRun {
    report: AgentReport,
    ended: ProcessOutcome,
    halt: Option<Halt>,
    lasted: Duration,
}

/// The work before the reader begins.
struct Before {
    /// The files' time: later changes have a later time, which no program can set back.
    since: FileTime,
    commits: GitMoment,
}

/// Why a review ended early, besides its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// More tokens or money than allowed.
    Tokens,
    /// More output than allowed.
    Output,
    Signal(i32),
}

pub struct ReviewWatch<'a> {
    pub reader: &'a mut dyn OutputReader,
    /// Signals to this process.
    pub signals: &'a Signals,
    /// The allowed tokens and money.
    pub allowance: Allowance<'a>,
    /// Bytes of output so far.
    pub printed: u64,
    pub halt: Option<Halt>,
}

/// Reviews a feature and keeps the result. An error says why no reader was started, or that the result cannot be kept.
/// `begins` is called right before the reader starts.
pub fn review(order: &ReviewOrder<'_>, begins: &dyn Fn()) -> Result<Review> {
    let ReviewInput { specification, tasks, requirements, changes: asked, git, known, base } =
        order.ready()?;
    let root = &order.project.root;
    let folder = make_state_folder(root, &order.feature.name)?;
    // A loop waits for a person's review.
    let patience = order.limits.time.filter(|_| order.results.is_some()).unwrap_or(PATIENCE);
    let lock = Lock::take(&folder.join("review.lock"), patience).map_err(|error| {
        anyhow!("another review of `{}` is at work: {error}\nwait for its end, or end it with Ctrl-C where it runs", order.feature.name)
    })?;
    let are_fresh = order.results.is_some();
    let of_last_loop = || known.as_ref().map(|known| known.checks.clone());
    let checks = order.results.clone().or_else(of_last_loop).unwrap_or_default();
    // Unreadable receipts are left out; a note says that some may be missing.
    let receipts = Receipts::named(root, &order.feature.name);
    let texts = (specification.as_str(), tasks.as_deref());
    let changes = order.changes(git.as_ref(), &base, known.as_ref(), texts);
    let [spec_path, tasks_path] =
        ["spec.md", "tasks.md"].map(|name| format!("{}/{name}", order.feature.relative));
    let marks = PacketMarks::new();
    let text = prompt(
        &PacketMaterial {
            feature: &order.feature.name,
            requirements: &requirements,
            reworded: &asked.reworded,
            then: asked.then.as_deref(),
            part: order.part,
            specification: (&spec_path, &specification),
            tasks: tasks.as_deref().map(|text| (tasks_path.as_str(), text)),
            since: &base.words,
            changes: &changes,
            root,
            checks: &checks,
            are_fresh,
            receipts: &receipts.map(|receipts| receipts.all()).unwrap_or_default(),
        },
        &marks,
    );
    let log_path = folder.join("review.log");
    let mut log = new_log(&log_path)?;
    let mut review = order.begun(base, &log_path);
    armed::note(&mut review, &asked, &spec_path);
    if !asked.gone.is_empty() {
        // No reader is needed.
        armed::missed(&mut review, asked.gone, &spec_path);
        record::write(&folder, &mut review)?;
        return Ok(review);
    }
    let old_checks = (!checks.is_empty() && !are_fresh).then(|| OLD_CHECKS.to_owned());
    let unnamed = not_judged(&specification, asked.then.as_deref(), &spec_path);
    let caveats = [old_checks, order.hears_the_project(), unnamed];
    review.caveats.extend(caveats.into_iter().flatten().chain(changes.caveats.clone()));
    let before = Before::now(git.as_ref(), &lock, &log);
    begins();
    let ran = order.read(&text, &mut log);
    let (outcome, words) = match &ran {
        Ok(ran) => ran.outcome(&order.limits),
        Err(error) => (ReviewOutcome::ReaderFailed, format!("{error:#}")),
    };
    review.outcome = outcome;
    review.problems.extend(Some(words).filter(|words| !words.is_empty()));
    if let Ok(ran) = &ran {
        ran.fill(&mut review, order.prices);
        review.problems.extend(ran.ended.trouble.clone());
        review.caveats.extend(ran.ended.log_trouble.clone());
        if outcome == ReviewOutcome::Passed {
            let ground = Ground {
                root,
                wishes: &[spec_path, tasks_path],
                checks: &checks,
                since: before.since,
                is_ignored: &|path| git.as_ref().is_some_and(|git| git.is_ignored(path)),
            };
            let (words, lacks) = (&ran.report.final_text, &changes.cut);
            judge(&mut review, words, &marks, (&requirements, lacks), &ground);
        }
    }
    before.compare(root, git.as_ref(), &mut review);
    review.exit_code = match ran.as_ref().map(|ran| ran.halt) {
        Ok(Some(Halt::Signal(signal))) => u8::try_from(128 + signal).unwrap_or(130),
        _ => review.outcome.exit_code(),
    };
    record::write(&folder, &mut review)?;
    Ok(review)
}

/// A new log in place of the old one.
fn new_log(path: &Path) -> Result<File> {
    open_or_create(path, File::options().write(true).truncate(true))
        .with_context(|| format!("`{}` cannot be written", path.display()))
}

/// Takes the answer's judgements, and the outcome.
fn judge(
    review: &mut Review,
    words: &str,
    marks: &PacketMarks,
    (wanted, lacks): (&[Requirement], &BTreeSet<String>),
    ground: &Ground<'_>,
) {
    let mut answer = match form::parse(words, &marks.code, wanted, !review.tasks.is_empty()) {
        Ok(answer) => answer,
        Err(problems) => {
            review.outcome = ReviewOutcome::UnusableAnswer;
            review.problems.extend(problems);
            return;
        }
    };
    let invented = evidence::problems(&answer, ground);
    answer.requirements.iter_mut().zip(wanted).for_each(|(one, wanted)| doubt(one, wanted, lacks));
    let good = [ReviewJudgement::Met, ReviewJudgement::Later];
    let is_met = answer.requirements.iter().all(|judged| good.contains(&judged.verdict));
    let is_free = answer.findings.iter().all(|finding| finding.severity < ReviewSeverity::High);
    review.outcome = match (invented.is_empty(), is_met && is_free) {
        (false, _) => ReviewOutcome::InventedEvidence,
        (true, false) => ReviewOutcome::NotPassed,
        (true, true) => ReviewOutcome::Passed,
    };
    review.problems.extend(invented);
    (review.requirements, review.findings) = (answer.requirements, answer.findings);
}

/// Withholds a pass that names a file which the reader did not get in full and did not open.
fn doubt(judged: &mut ReviewRequirement, wanted: &Requirement, lacks: &BTreeSet<String>) {
    // Behind an id, `Verify` is a word like others.
    let text = format!("{}: {}", wanted.id, wanted.texts.join(" "));
    let named = files_named_in(text.as_bytes(), MOST_NAMED);
    let is = |file: &str, name: &str| Path::new(file).ends_with(name);
    let is_open = |file: &&String| !judged.evidence.iter().any(|evidence| is(&evidence.file, file));
    let mut lacks = lacks.iter().filter(|file| named.iter().any(|name| is(file, name)));
    if judged.verdict == ReviewJudgement::Met
        && let Some(file) = lacks.find(is_open)
    {
        judged.verdict = ReviewJudgement::CannotTell;
        judged.why = format!("it names `{file}`, of which the reader was not given all");
    }
}

/// Why the project was not looked through to the end; `None` if it was, or if enough was seen.
fn not_known(whole: Whole) -> Option<&'static str> {
    match whole {
        Whole::TooLarge => Some("the project has too many files"),
        Whole::Unfinished => Some("looking through the project took too long"),
        Whole::Seen | Whole::Stopped => None,
    }
}

/// Some folder of the project has a file of this name, ignored or not; or there are too many folders to tell.
fn has_one_of(root: &Path, name: &str) -> bool {
    let is_there = |folder: &Path| folder.join(name).symlink_metadata().is_ok();
    let (mut found, mut last) = (is_there(root), Vec::new());
    let since = FileTime::default();
    let bounds = Bounds { since, entries: ENTRIES, time: LOOK, run: None };
    let whole = look(root, bounds, &mut |file| {
        if let FoundFile::File { folder, .. } = file
            && last != folder
        {
            last = folder.to_vec();
            let path = root.join(names::from_vec(last.clone()));
            // A folder may hold nothing but another folder.
            found |= path.ancestors().take_while(|folder| folder.starts_with(root)).any(is_there);
        }
        if found { Go::Stop } else { Go::On }
    });
    found || not_known(whole).is_some()
}

/// Names items of the specification that nobody judges; what it had only when the loop was armed comes first.
fn not_judged(now: &str, then: Option<&str>, path: &str) -> Option<String> {
    let [now, mut items] =
        [now, then.unwrap_or_default()].map(|spec| requirements::asked(spec.as_bytes()).unnamed);
    items.retain(|item| !now.contains(item));
    let gone = items.iter().map(|item| format!("\"{item}\" (gone now)"));
    let items = few(&mut gone.chain(now.iter().map(|item| format!("\"{item}\""))), 3);
    (!items.is_empty())
        .then(|| format!("`{path}` has items without an id that nobody judged: {items}"))
}

impl ReviewOrder<'_> {
    /// Says that the reader takes a file of the project for instructions.
    fn hears_the_project(&self) -> Option<String> {
        let name = self.harness.instructions();
        let name = name.filter(|name| has_one_of(&self.project.root, name))?;
        Some(format!(
            "{} takes what a {name} of the project says for instructions, and whoever did the work may have written it",
            self.harness.name()
        ))
    }

    /// The changes, by git and by the files themselves.
    fn changes(
        &self,
        git: Option<&Git>,
        base: &Base,
        known: Option<&KnownLoop>,
        (specification, tasks): (&str, Option<&str>),
    ) -> Changes {
        let view = FeatureView::of(self.project, self.feature);
        let seen = view.judge().as_ref().map(|judge| judge.look(LOOK)).unwrap_or_default();
        let mut changes = Changes::of(&self.project.root, git, (base, known), &seen);
        let lost = (base.words == LOST).then(|| format!("the changes are those {LOST}"));
        let tasks = ("tasks.md", tasks.map_or(0, str::len), TASKS);
        let texts = [("spec.md", specification.len(), SPECIFICATION), tasks];
        let cut = texts.into_iter().filter(|(_, length, most)| length > most);
        let words =
            |name| format!("the reader did not get all of {}/{name}", self.feature.relative);
        changes.caveats.extend(lost.into_iter().chain(cut.map(|(name, ..)| words(name))));
        changes
    }

    /// A review that begins now, with the facts so far.
    fn begun(&self, base: Base, log: &Path) -> Review {
        Review {
            feature: self.feature.name.clone(),
            tasks: self.part.to_vec(),
            began_at: JsonTime::of(world::now()),
            harness: self.harness.name().to_owned(),
            harness_version: words(&self.version),
            model: self.model.map(str::to_owned),
            read_only: self.approval == Approval::ReadOnly,
            base: base.commit,
            since: base.words,
            log: log.display().to_string(),
            ..Review::default()
        }
    }

    fn ready(&self) -> Result<ReviewInput> {
        let folder = &self.feature.folder;
        let file = |name: &str| format!("{}/{name}", self.feature.relative);
        let known = known_loop(self.project, self.feature);
        let then =
            known.is_some().then(|| armed_specification(&self.project.root, &self.feature.name));
        // Only a loop with a review keeps one.
        let then = then.filter(|then| then.is_some() || self.results.is_some());
        let (spec, requirements) = match specification(folder, &self.feature.relative) {
            // Everything was removed since arming.
            Err(_) if matches!(then, Some(Some(_))) => (Vec::new(), Vec::new()),
            found => found
                .map_err(|why| anyhow!("{why}\ngive each requirement an id, then review again"))?,
        };
        if requirements.len() > REQUIREMENTS {
            bail!(
                "`{}` has {} requirements, and one review judges at most {REQUIREMENTS}\nsplit the feature",
                file("spec.md"),
                requirements.len()
            );
        }
        let tasks = if task_list::is_in(folder) {
            let list = read_in(folder, "tasks.md", 8 << 20).map_err(|problem| {
                anyhow!("`{}`: {problem}\nrepair it, then review again", file("tasks.md"))
            })?;
            Some(String::from_utf8_lossy(&list.bytes).into_owned())
        } else {
            None
        };
        let list = TaskList::parse(tasks.as_deref().unwrap_or_default().as_bytes());
        if let Some(id) = self.part.iter().find(|id| list.find(id).is_none()) {
            bail!(
                "`{}` has no task `{}`\nname tasks of it: --tasks T001,T002",
                file("tasks.md"),
                printable(id)
            );
        }
        let interrupted = self.signals.any();
        let interrupt = Box::new(move || interrupted.load(Ordering::Relaxed));
        let git = Git::within(&self.project.root, Some(Deadline::after(GIT)), interrupt);
        let git = git
            .ok()
            .flatten()
            .map(|git| known.iter().fold(git, |git, known| git.armed_at(known.armed_at)));
        let base = base(git.as_ref(), self.base, known.as_ref())?;
        let changes = then.map(|then| armed::changes(then.as_deref(), &spec));
        let changes = changes.unwrap_or_default();
        let specification = String::from_utf8_lossy(&spec).into_owned();
        Ok(ReviewInput { specification, tasks, requirements, changes, git, known, base })
    }

    /// Runs the reader to its end; nothing of its process tree is left.
    fn read(&self, prompt: &str, log: &mut File) -> Result<ReaderRun> {
        let scratch = tempfile::tempdir().context("a temporary folder cannot be made")?;
        let order = AgentOrder {
            prompt,
            model: self.model,
            version: &self.version,
            approval: self.approval,
            permissions: &Permissions::default(),
            resume: None,
            folder: &self.project.root,
            scratch: scratch.path(),
        };
        let supervisor = process::own_program().context("the running program cannot be found")?;
        let mut launch = self.harness.launch(&order)?;
        launch.set.push((world::RUNNER.to_owned(), std::process::id().to_string().into()));
        launch.unset.push(PASSED.to_owned());
        let mut reader = self.harness.reader(&order);
        let clock = Stopwatch::start();
        // The whole allowance may be used, to the last token.
        let [tokens, cost] = [self.limits.tokens, self.limits.cost]
            .map(|most| most.map(|sum| sum.saturating_add(1)));
        let left = BudgetsLeft { tokens, cost, prices: self.prices, model: self.model };
        let mut watch = ReviewWatch {
            reader: reader.as_mut(),
            signals: self.signals,
            allowance: Allowance::new(left, self.harness.as_ref(), world::now()),
            printed: 0,
            halt: None,
        };
        let limits = ProcessLimits {
            wall: self.limits.time,
            silence: None,
            lingering: LINGERING,
            grace: self.limits.grace,
        };
        let root = &self.project.root;
        let ended = process::run(&supervisor, &launch, root, &limits, log, &mut watch)
            .with_context(|| format!("cannot start `{}`", launch.program.display()))?;
        let halt = watch.halt;
        let report = reader.report(&ended.left);
        Ok(ReaderRun { report, ended, halt, lasted: clock.elapsed() })
    }
}

impl ReaderRun {
    /// Adds time, tokens and cost.
    fn fill(&self, review: &mut Review, prices: &PriceTable) {
        let report = &self.report;
        review.seconds = (self.lasted.as_secs_f64() * 1000.0).round() / 1000.0;
        let tokens = report.tokens.map(TokenUsage::total);
        review.tokens = tokens.map(Into::into);
        let counted = TokenCount {
            tokens: tokens.unwrap_or(0),
            unknown: tokens.is_none(),
            usage: report.tokens,
            ..TokenCount::default()
        };
        let cost = prices.of_run(report, &counted, None);
        let known = cost.filter(|cost| cost.value > 0 || report.cost.is_some());
        review.cost_usd = known.map(|cost| in_dollars(cost.value));
        review.cost_estimated = cost.is_some_and(|cost| cost.estimated);
        if report.model.is_some() {
            review.model.clone_from(&report.model);
        }
        if let RunOutcome::UsageLimit { resets_at, .. } = report.outcome {
            review.resets_at = resets_at;
        }
    }

    /// How the reader itself ended, with words about a missing answer; `Passed` if there is an answer to judge.
    fn outcome(&self, limits: &ReviewLimits) -> (ReviewOutcome, String) {
        let tokens = self.report.tokens.map_or(0, TokenUsage::total);
        let is_over = limits.tokens.is_some_and(|most| tokens > most);
        match (self.halt, self.ended.cut, &self.report.outcome) {
            (Some(Halt::Signal(_)), ..) => (ReviewOutcome::Interrupted, String::new()),
            (Some(Halt::Output), ..) => {
                let words = format!("it printed more than {} MiB", OUTPUT >> 20);
                (ReviewOutcome::OutputLimit, words)
            }
            (Some(Halt::Tokens), ..) => (ReviewOutcome::TokenLimit, over(limits, is_over)),
            (None, _, _) if is_over => (ReviewOutcome::TokenLimit, over(limits, is_over)),
            (None, Some(Cut::Wall | Cut::Silence), _) => {
                let most = limits.time.map(time_in_words).unwrap_or_default();
                (ReviewOutcome::TimeLimit, format!("it had no answer within {most}"))
            }
            (None, _, RunOutcome::UsageLimit { words, .. }) => {
                (ReviewOutcome::UsageLimit, words.clone())
            }
            (None, _, RunOutcome::Finished) => (ReviewOutcome::Passed, String::new()),
            (None, _, RunOutcome::Cut) => (ReviewOutcome::ReaderFailed, "it was ended".to_owned()),
            (
                None,
                _,
                RunOutcome::Failed(why) | RunOutcome::Lasting(why) | RunOutcome::SessionGone(why),
            ) => (ReviewOutcome::ReaderFailed, why.clone()),
        }
    }
}

fn over(limits: &ReviewLimits, has_tokens: bool) -> String {
    let most = match (limits.tokens, limits.cost) {
        (_, Some(cost)) if !has_tokens => Dollars(cost).to_string(),
        (tokens, _) => format!("{} tokens", crate::text::grouped(tokens.unwrap_or_default())),
    };
    format!("it used more than {most}")
}

impl Before {
    fn now(git: Option<&Git>, lock: &Lock, log: &File) -> Self {
        lock.outlasts_step();
        // The log is new at this moment, and only changes from here on.
        let touched = log.set_len(0).and_then(|()| log.metadata());
        let since = touched.map(|meta| files::changed_at(&meta)).unwrap_or_default();
        Self { since, commits: git.map(|git| git.moment(None)).unwrap_or_default() }
    }

    /// Names the changes since then; with changes there is no verdict.
    fn compare(&self, root: &Path, git: Option<&Git>, review: &mut Review) {
        let bounds = Bounds { since: self.since, entries: ENTRIES, time: LOOK, run: None };
        let changed = &mut review.changed;
        let whole = look(root, bounds, &mut |found| {
            let path = match found {
                FoundFile::File { folder, name, .. } => [folder, name].concat(),
                FoundFile::Folder { path, .. } | FoundFile::Empty { path } => path.to_vec(),
            };
            let path = names::with_slashes(&PathBuf::from(names::from_vec(path)));
            changed.push(if path.is_empty() { ".".to_owned() } else { path });
            if changed.len() < CHANGES { Go::On } else { Go::Stop }
        });
        if git.is_some_and(|git| !git.moment(None).has_commits_of(&self.commits)) {
            review.changed.push("the commits of the repository".to_owned());
        }
        if let Some(why) = not_known(whole) {
            review.caveats.push(format!("whether the work changed meanwhile is not known: {why}"));
        }
        let has_verdict = matches!(
            review.outcome,
            ReviewOutcome::Passed
                | ReviewOutcome::NotPassed
                | ReviewOutcome::UnusableAnswer
                | ReviewOutcome::InventedEvidence
        );
        if has_verdict && !review.changed.is_empty() {
            review.outcome = ReviewOutcome::TreeChanged;
        }
    }
}

impl Watcher for ReviewWatch<'_> {
    fn printed(&mut self, bytes: usize) -> Control {
        self.printed = self.printed.saturating_add(bytes as u64);
        if self.printed > OUTPUT {
            self.halt = self.halt.or(Some(Halt::Output));
            return Control::End;
        }
        Control::GoOn
    }

    fn line(&mut self, stream: Stream, line: &[u8]) -> Control {
        let mut watch = Control::GoOn;
        let mut heard = |event| watch = watch.then(Control::of(&event));
        self.reader.line(stream, line, &mut heard);
        if self.allowance.is_passed_after_line(self.reader.so_far()) {
            self.halt = self.halt.or(Some(Halt::Tokens));
        }
        if self.halt.is_some() { watch.then(Control::End) } else { watch }
    }

    fn moment(&mut self) -> Control {
        if let Some(signal) = self.signals.asked() {
            self.halt = self.halt.or(Some(Halt::Signal(signal)));
        }
        match self.halt {
            Some(_) if self.signals.hurry() => Control::Kill,
            Some(_) => Control::End,
            None => Control::GoOn,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn slow_look_names_no_number() {
        assert_eq!(not_known(Whole::Unfinished), Some("looking through the project took too long"));
        assert_eq!(not_known(Whole::TooLarge), Some("the project has too many files"));
        assert_eq!(not_known(Whole::Seen), None);
    }

    #[test]
    fn reader_files_are_found_everywhere() {
        for folder in ["", "src", "src/deep"] {
            let root = tempfile::tempdir().unwrap();
            let root = root.path();
            fs::create_dir_all(root.join("src/deep/er")).unwrap();
            fs::write(root.join("src/deep/er/a.rs"), "").unwrap();
            fs::write(root.join(".gitignore"), "GEMINI.md\n").unwrap();
            assert!(!has_one_of(root, "GEMINI.md"));
            fs::write(root.join(folder).join("GEMINI.md"), "").unwrap();
            assert!(has_one_of(root, "GEMINI.md"), "{folder}");
        }
    }
}
