//! The loop: gather, ask `decide`, carry out.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::books::{Books, Iteration, LoopState, holder, iso, read_state, state_folder};
use super::capture::capture;
use super::doubts::{self, Facts};
use super::ends;
use super::eyes::{Asked, Eyes, asked};
use super::files::Files;
use super::git::{Git, Moment, NO_COMMIT};
use super::harness::{self, Approval, Harness, Launch, Order, Outcome, Report};
use super::options::{Commits, DoneCriteria, Options, Sessions};
use super::process::{self, Cut, Ended, Limits};
use super::prompt::{self, Material};
use super::proofs;
use super::requests::Requests;
use super::screen::{Screen, counted, grouped, lasted};
use super::signals::Signals;
use super::target::Change;
use super::tokens::{self, Counted, Counter, Usage};
use super::words;
use super::work::{Looked, Tasks};
use crate::engine::{
    self, Change as Changed, Contract, Demand, Fingerprint, Hasher, Ledger, Observation, Shortfall,
    TerminalReason, Tree, Verdict, Waiting, Work, hash_of, wants_checks,
};
use crate::ralph::observe::keeps_promise;
use crate::store::journal::Entry;
use crate::world::{self, Stopwatch};

/// How long a program may linger once its result is there.
const LINGERING: Duration = Duration::from_secs(10);
/// The longest pause between two runs after failures.
const LONGEST_PAUSE: Duration = Duration::from_mins(15);
/// How long to wait at first for a usage limit of which nobody says when it is lifted; doubled each time.
const UNKNOWN_LIMIT: Duration = Duration::from_mins(1);
/// How long after the time that was told a usage limit is tried again.
const AFTER_LIMIT: Duration = Duration::from_secs(5);
/// How often a waiting loop looks for signals and requests.
const LOOK: Duration = Duration::from_millis(100);
/// The longest that the keeper of a killed runner takes to end its tree, with some room.
const ORPHANS: Duration = Duration::from_secs(10);
/// The most files of an iteration that are named in its history.
const MOST_FILES: usize = 200;
/// The longest that a commit may take, with the repository's hooks.
const COMMIT_LIMIT: Duration = Duration::from_mins(10);
/// The longest wait for a usage limit that is believed: the longest ones are lifted after a week.
const LONGEST_LIMIT: Duration = Duration::from_hours(8 * 24);
/// The longest that `wt-usage` may take.
const USAGE_LIMIT: Duration = Duration::from_secs(20);
/// The most characters of what the agent asks a person for.
const LONGEST_NEED: usize = 500;

/// Drives the loop of a change to its end and returns the exit code of that end.
///
/// An error means that the loop did not begin, or that its state could not be written any more.
pub fn run(change: &Change, options: &Options) -> Result<ExitCode> {
    let signals = Signals::listen().context("signals cannot be listened to")?;
    let harness = harness::harness(&options.harness)?;
    let version = match harness.check() {
        Ok(version) => version.unwrap_or_default(),
        Err(why) => {
            let style = crate::style::BAD;
            let words = format!("{}error{}: {why:#}", style.render(), style.render_reset());
            // A terminal that is gone is no reason to fail in another way.
            let _ = writeln!(anstream::stderr(), "{words}");
            return Ok(ExitCode::from(ends::HARNESS_FAILED));
        }
    };
    wait_for_the_keeper_before(change, &signals);
    let mut drive = Drive::new(change, options, harness, &version, &signals)?;
    drive.greet(&version);
    let end = drive.go();
    if let Err(error) = &end {
        drive.give_up(error);
    }
    drive.screen.close();
    end.map(ExitCode::from)
}

/// Waits until the tree of a runner that was killed has ended: two agents would work on the same files, and
/// what the first one still commits would be found in no iteration, or in the wrong one.
fn wait_for_the_keeper_before(change: &Change, signals: &Signals) {
    let folder = state_folder(&change.root, &change.id);
    let Ok(Some((before, _))) = read_state(&folder) else { return };
    if before.status.is_over() || holder(&folder).is_some() {
        return;
    }
    let waited = Stopwatch::start();
    while waited.elapsed() < ORPHANS && process::has_keeper(before.pid) {
        if signals.wait(LOOK / 2).is_some() {
            return;
        }
    }
}

struct Drive<'a> {
    change: &'a Change,
    options: &'a Options,
    harness: Box<dyn Harness>,
    contract: Contract,
    done: DoneCriteria,
    books: Books,
    requests: Requests,
    signals: &'a Signals,
    screen: Screen,
    git: Option<Git>,
    /// The repository at the start of the iteration.
    moment: Moment,
    /// The repository when it was last looked at.
    latest: Moment,
    tasks: Option<Tasks>,
    counter: Counter,
    /// Where `wt-usage` is, `None` for nowhere.
    usage: Option<PathBuf>,
    /// The program that stands between the runner and what it starts.
    keeper: PathBuf,
    clock: Stopwatch,
    /// A number for the files as the work left them: it stands still while nothing but ignored files changes.
    visible: u64,
    /// All files that were changed since the start.
    touched: BTreeSet<PathBuf>,
    /// Files that should have been committed, and could not be.
    uncommitted: BTreeSet<PathBuf>,
    /// The tasks that were open at the start, by id.
    open_at_start: Vec<String>,
    /// What is checked out, as far as it tells of work: a commit without any file of it does not count.
    head: Option<String>,
    /// Whether the commits of this iteration, when there are any, hold work.
    worked: bool,
    /// Whether any of the tokens were estimated.
    estimated: bool,
    /// All commits since the start.
    commits_made: u64,
    missing: Vec<Shortfall>,
    remarks: Vec<String>,
    /// Usage limits in a row.
    limits_in_a_row: u32,
    /// All boxes that were ticked since the start.
    ticked: usize,
}

/// What is to be done after an iteration.
enum Next {
    /// The next one, after a pause.
    On(Duration),
    /// Wait until a usage limit is lifted.
    Until(Option<u64>),
    /// Nothing.
    Over(TerminalReason),
}

/// One run of the agent program, with what came of it.
struct Ran {
    report: Report,
    ended: Ended,
    asked: Option<Asked>,
    lasted: Duration,
}

impl<'a> Drive<'a> {
    fn new(
        change: &'a Change,
        options: &'a Options,
        harness: Box<dyn Harness>,
        version: &str,
        signals: &'a Signals,
    ) -> Result<Self> {
        let tasks = Tasks::of(change);
        let done = done_criteria(options, tasks.is_some());
        let contract = options.contract(done);
        let git = Git::of(&change.worktree);
        let state = LoopState {
            change_id: change.id.clone(),
            worktree_name: change.id.clone(),
            max_iterations: options.max_iterations.unwrap_or(0),
            task: options.task.clone(),
            done_criteria: done,
            stall_threshold: options.stall_threshold,
            iteration_timeout_min: options
                .iteration_timeout
                .map_or(0.0, |limit| limit.as_secs_f64() / 60.0),
            harness: harness.name().to_owned(),
            harness_version: version.to_owned(),
            model: options.model.clone().unwrap_or_default(),
            module: change.module.clone().unwrap_or_default(),
            pid: std::process::id(),
            doing: "starting".to_owned(),
            ..LoopState::default()
        };
        let commits = |head: &str| git.iter().flat_map(|git| git.commits_on_top_of(head)).collect();
        let books = Books::open_with(change, state, commits)?;
        let screen = Screen::new(&change.id, options.shown, options.form);
        let files = Files::of(&change.worktree, git.as_ref());
        let mut drive = Self {
            requests: books.requests(),
            moment: Moment::default(),
            latest: git.as_ref().map(|git| git.moment(None)).unwrap_or_default(),
            usage: on_the_path(tokens::USAGE),
            keeper: process::own_program().context("the running program cannot be found")?,
            tasks: tasks.filter(|_| done == DoneCriteria::Tasks),
            clock: Stopwatch::start(),
            visible: files.hash(),
            counter: Counter::default(),
            touched: BTreeSet::new(),
            missing: Vec::new(),
            remarks: Vec::new(),
            ticked: 0,
            uncommitted: BTreeSet::new(),
            open_at_start: Vec::new(),
            head: None,
            worked: false,
            estimated: false,
            commits_made: 0,
            limits_in_a_row: 0,
            change,
            options,
            harness,
            contract,
            done,
            books,
            signals,
            screen,
            git,
        };
        drive.head.clone_from(&drive.latest.head);
        if let Some(tasks) = &mut drive.tasks
            && let Work::List { open, .. } = tasks.look().work
        {
            drive.open_at_start = open;
        }
        // What stands there at the start is no progress of the first iteration.
        drive.books.state.ledger =
            Ledger { fingerprint: Some(drive.fingerprint(files.blind)), ..Ledger::default() };
        drive.books.save()?;
        Ok(drive)
    }

    fn greet(&mut self, version: &str) {
        for path in &self.books.put_aside {
            self.screen.warn(&format!(
                "a file of an earlier loop cannot be read and was kept as `{}`",
                path.display()
            ));
        }
        if let Some(recovered) = &self.books.recovered {
            let iteration = recovered.iteration.as_ref().map_or_else(String::new, |iteration| {
                format!(
                    " in iteration {}, with {}",
                    iteration.n,
                    counted(iteration.commits.len() as u64, "commit")
                )
            });
            self.screen.tell(
                "recovered",
                &format!(
                    "ralph: the runner before this one (process {}) was killed{iteration}",
                    recovered.pid
                ),
                json!({"pid": recovered.pid}),
            );
        }
        if self.options.allow_all == Approval::Own
            && let Some(words) = self.harness.without_consent()
        {
            self.screen.warn(words);
        }
        if let Some(words) = self.harness.caution(version) {
            self.screen.warn(&words);
        }
        self.warn_of_the_place();
        let until = match self.done {
            DoneCriteria::Tasks => "until every box of tasks.md is ticked".to_owned(),
            DoneCriteria::Manual => format!("until <promise>{}</promise>", self.options.promise),
            DoneCriteria::Check => "until every check passes".to_owned(),
        };
        let limit = match self.options.max_iterations {
            Some(limit) => format!("at most {}", counted(limit.into(), "iteration")),
            None => "with no limit of iterations (`spool stop` ends it)".to_owned(),
        };
        let name = self.harness.name();
        let words = format!(
            "ralph: {}{}, {name} {version}, {until}, {limit}",
            self.change.id,
            self.change.module.as_ref().map_or_else(String::new, |it| format!(" (module {it})")),
        );
        let fields = json!({
            "change_id": self.change.id, "module": self.change.module, "harness": name,
            "harness_version": version, "done_criteria": self.done,
            "max_iterations": self.books.state.max_iterations, "pid": std::process::id(),
        });
        self.screen.tell("start", &words.replace(" , ", ", "), fields);
    }

    /// Says what will not go as a person expects, before the first token is spent.
    fn warn_of_the_place(&self) {
        if self.options.commits == Commits::EachIteration {
            match &self.git {
                None => self.screen.warn(
                    "nothing will be committed: there is no git repository here, or git cannot read it",
                ),
                Some(git) => {
                    if let Some(what) = git.in_the_middle_of() {
                        self.screen.warn(&format!(
                            "nothing will be committed while {what} is under way in the repository"
                        ));
                    }
                }
            }
        }
        if let Some(tasks) = self.tasks.as_ref().filter(|_| self.open_at_start.is_empty()) {
            self.screen.warn(&format!(
                "`{}` has no open task: a task is a line such as `- [ ] T001 Do it`",
                tasks.path.display()
            ));
        }
    }

    /// Goes round until the end and returns its exit code.
    fn go(&mut self) -> Result<u8> {
        loop {
            if let Some(asked) = self.wait_while_paused()? {
                return self.stop(asked);
            }
            if let Some(reason) = self.time_is_up() {
                return self.finish(&reason, None);
            }
            let next = self.iteration()?;
            let asked = match next {
                Next::Over(reason) => return self.finish(&reason, self.signals.asked()),
                Next::On(pause) if pause.is_zero() => None,
                Next::On(pause) => self.rest(pause, "a pause after a failed run")?,
                Next::Until(resets_at) => {
                    let words = "the usage limit";
                    let pause = limit_pause(resets_at.map(until), self.limits_in_a_row);
                    self.rest(pause, words)?
                }
            };
            if let Some(asked) = asked {
                return self.stop(asked);
            }
        }
    }

    /// One iteration from its prompt to its verdict.
    fn iteration(&mut self) -> Result<Next> {
        let number = self.books.state.ledger.iterations + 1;
        let began_at = world::now();
        self.look_at_git();
        self.moment.clone_from(&self.latest);
        let before = Files::of(&self.change.worktree, self.git.as_ref());
        let next_task = self.tasks.as_mut().and_then(|tasks| tasks.look().next);
        let text = self.prompt(number)?;
        let (mut log, log_name) = self.books.log(number)?;
        let mut entry = Iteration {
            n: number,
            started: iso(began_at),
            head_at_start: self.head_at_start(),
            log: log_name,
            ..Iteration::default()
        };
        self.books.state.status = super::books::Status::Running;
        self.books.state.doing = format!("iteration {number}");
        self.books.begin(&entry)?;
        let about = self.announce(number, next_task.as_ref());
        let used_before = self.used(&mut log);
        let ran = match self.run_agent(&text, &about, &mut log) {
            Ok(ran) => ran,
            Err(error) => Ran {
                report: Report { outcome: not_started(&error), ..Report::default() },
                ended: Ended::default(),
                asked: None,
                lasted: Duration::ZERO,
            },
        };
        self.screen.still();
        let used =
            self.usage.is_some().then(|| Usage { before: used_before, after: self.used(&mut log) });
        let folders = self.harness.session_folders();
        let counted = self.counter.count(used, &ran.report, &folders, began_at);
        if let Some(warning) = &counted.warning {
            self.screen.warn(warning);
        }
        let looked = self.tasks.as_mut().map(Tasks::look).unwrap_or_default();
        self.changed_files(&before, &looked, &ran, &mut entry, &mut log);
        self.fill(&mut entry, &ran, &counted, &looked);
        let verdict = self.judge(&ran, &counted, looked, &mut entry, &mut log);
        self.record(&mut entry, &ran, &verdict)?;
        Ok(self.after(verdict, &ran))
    }

    /// Looks what the repository looks like now; starts git only where something has moved.
    fn look_at_git(&mut self) {
        if let Some(git) = &self.git {
            self.latest = git.moment(Some(std::mem::take(&mut self.latest)));
        }
    }

    /// The commit on which an iteration begins, empty without a repository.
    fn head_at_start(&self) -> String {
        let none = self.git.as_ref().map(|_| NO_COMMIT.to_owned());
        self.moment.head.clone().or(none).unwrap_or_default()
    }

    fn prompt(&mut self, number: u32) -> Result<String> {
        let context = self.books.context().unwrap_or_else(|error| {
            self.screen.warn(&format!("the added context is left out: {error:#}"));
            String::new()
        });
        let text = prompt::prompt(&Material {
            change: self.change,
            task: &self.options.task,
            context: &context,
            contract: &self.contract,
            done: self.done,
            promise_match: self.options.promise_match,
            iteration: number,
            missing: &self.missing,
            remarks: &self.remarks,
            tasks: self.tasks.as_ref().map(|tasks| tasks.path.as_path()),
            resumed: self.resumes().is_some(),
        })?;
        self.remarks.clear();
        Ok(text)
    }

    /// Says that an iteration begins and returns what stands in front of the live line.
    fn announce(&self, number: u32, task: Option<&(String, String)>) -> String {
        let of = match self.options.max_iterations {
            Some(limit) => format!("{number}/{limit}"),
            None => format!("{number}/∞"),
        };
        self.screen.title(&of);
        let next = task.map_or_else(String::new, |(id, title)| {
            let title: String = super::screen::plain(title).chars().take(60).collect();
            if id.starts_with('@') { format!(" · {title}") } else { format!(" · {id} {title}") }
        });
        let words = format!("-- iteration {of}{next}");
        self.screen.tell("iteration", &words, json!({"n": number, "task": task.map(|it| &it.0)}));
        let used = match self.books.state.total_tokens {
            0 => String::new(),
            used => format!(" · {} tokens so far", grouped(used)),
        };
        format!("iteration {of}{next}{used}")
    }

    fn resumes(&self) -> Option<&str> {
        let session = self.books.state.session_id.as_str();
        let goes_on = self.options.sessions == Sessions::Continued && !session.is_empty();
        goes_on.then_some(session)
    }

    fn run_agent(&self, prompt: &str, about: &str, log: &mut File) -> Result<Ran> {
        let scratch = self.books.folder.join("scratch");
        // What the last iteration left there says nothing of this one.
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch)
            .with_context(|| format!("cannot make `{}`", scratch.display()))?;
        let order = Order {
            prompt,
            model: self.options.model.as_deref(),
            approval: self.options.allow_all,
            resume: self.resumes(),
            folder: &self.change.worktree,
            scratch: &scratch,
        };
        let mut launch = self.harness.launch(&order)?;
        launch.set.push((world::RUNNER.to_owned(), std::process::id().to_string().into()));
        let limits = Limits {
            wall: self.wall(),
            silence: self.options.idle_timeout,
            lingering: LINGERING,
            grace: self.options.grace,
        };
        let mut reader = self.harness.reader(&order);
        let clock = Stopwatch::start();
        let mut eyes = Eyes {
            reader: reader.as_mut(),
            screen: &self.screen,
            signals: self.signals,
            requests: &self.requests,
            about,
            clock,
            drawn: Duration::ZERO,
            asked: None,
            calls: 0,
        };
        let ended =
            process::run(&self.keeper, &launch, &self.change.worktree, &limits, log, &mut eyes)
                .with_context(|| format!("cannot start `{}`", launch.program.display()))?;
        let asked = eyes.asked;
        let report = reader.report(&ended.left);
        Ok(Ran { report, ended, asked, lasted: clock.elapsed() })
    }

    /// The end of a loop whose time a wait or a pause has used up: no agent is started for nothing.
    fn time_is_up(&mut self) -> Option<TerminalReason> {
        let reason = engine::time_is_up(&self.contract, self.clock.elapsed().as_secs())?;
        self.books.state.ledger.ended = Some(reason.clone());
        Some(reason)
    }

    /// The shorter one of the iteration's own limit and what is left for the whole loop.
    fn wall(&self) -> Option<Duration> {
        let left = self.options.max_runtime.map(|all| all.saturating_sub(self.clock.elapsed()));
        match (self.options.iteration_timeout, left) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        }
    }

    /// What `wt-usage` counts since the start of this run, `None` without it or when it fails.
    fn used(&self, log: &mut File) -> Option<u64> {
        let since = self.books.state.started_at.clone();
        let launch = Launch {
            program: self.usage.clone()?,
            arguments: ["--since", &since, "--format", "json"].map(Into::into).to_vec(),
            ..Launch::default()
        };
        let mut interrupted = || asked(self.signals, &self.requests).is_some();
        let folder = &self.change.worktree;
        let captured =
            capture(&self.keeper, &launch, folder, USAGE_LIMIT, log, &mut interrupted).ok()?;
        if captured.is_success() { tokens::printed_total(&captured.output) } else { None }
    }

    /// Finds out which files and commits the iteration made; commits them where that is asked for.
    fn changed_files(
        &mut self,
        before: &Files,
        looked: &Looked,
        ran: &Ran,
        entry: &mut Iteration,
        log: &mut File,
    ) {
        let after = Files::of(&self.change.worktree, self.git.as_ref());
        let mut changed = after.changed_since(before);
        if let Some(git) = &self.git {
            changed = git.not_ignored(changed);
        }
        if !changed.is_empty() {
            self.visible = after.hash();
        }
        if after.blind {
            self.visible = 0;
        }
        let commits = self.options.commits == Commits::EachIteration && ran.asked.is_none();
        if let Some(git) = self.git.as_ref().filter(|_| commits && !changed.is_empty()) {
            let done = looked.ticked.join(" ");
            let message =
                format!("ralph: {} iteration {} {done}", self.change.id, entry.n).trim().to_owned();
            let mut files = changed.clone();
            files.extend(self.uncommitted.iter().cloned());
            let (signals, requests, screen) = (self.signals, &self.requests, &self.screen);
            let clock = Stopwatch::start();
            let mut interrupted = || {
                screen.live(&format!("git commit · {}", lasted(clock.elapsed())));
                asked(signals, requests).is_some()
            };
            let (keeper, folder) = (&self.keeper, &self.change.worktree);
            let made = git.commit(&files, &message, &mut |launch| {
                Ok(capture(keeper, &launch, folder, COMMIT_LIMIT, log, &mut interrupted)?)
            });
            self.screen.still();
            self.uncommitted.clear();
            if let Err(error) = made {
                let words = format!("the runner could not commit this iteration: {error:#}");
                self.screen.warn(&words);
                self.remarks.push(words);
                // They are not lost: the next commit takes them along.
                self.uncommitted.extend(files);
            }
        }
        self.look_at_git();
        if let Some(git) = &self.git {
            let commits = git.commits_between(&self.moment, &self.latest);
            entry.commits = commits.unwrap_or_else(|error| {
                self.screen.warn(&format!("git cannot tell the commits: {error:#}"));
                Vec::new()
            });
            if !entry.commits.is_empty() {
                let committed = git.files_since(self.moment.head.as_deref());
                let known: BTreeSet<PathBuf> = changed.iter().cloned().collect();
                changed.extend(committed.into_iter().filter(|file| !known.contains(file)));
            }
        }
        self.commits_made += entry.commits.len() as u64;
        // A commit of nothing, or of the loop's own notes, gets the work no further.
        self.worked = entry.commits.is_empty() || !changed.is_empty();
        if self.worked {
            self.head.clone_from(&self.latest.head);
        }
        entry.files_changed = changed.len() as u64;
        entry.files =
            changed.iter().take(MOST_FILES).map(|file| file.display().to_string()).collect();
        self.touched.extend(changed);
    }

    fn fill(&mut self, entry: &mut Iteration, ran: &Ran, counted: &Counted, looked: &Looked) {
        let report = &ran.report;
        entry.tokens_used = counted.tokens;
        entry.tokens_estimated = counted.estimated;
        self.estimated |= counted.estimated && counted.tokens > 0;
        entry.timed_out = matches!(ran.ended.cut, Some(Cut::Wall | Cut::Silence));
        entry.interrupted = ran.asked.is_some();
        entry.seconds = (ran.lasted.as_secs_f64() * 1000.0).round() / 1000.0;
        entry.exit_code = ran.ended.left.code;
        entry.tool_calls = report.tool_calls;
        entry.denied.clone_from(&report.denied);
        entry.session_id = report.session.clone().unwrap_or_default();
        entry.tasks_ticked.clone_from(&looked.ticked);
        self.ticked += looked.ticked.len();
        if let Outcome::Failed(why) | Outcome::Lasting(why) = &report.outcome {
            entry.failure.clone_from(why);
        }
        if let Outcome::UsageLimit { words, .. } = &report.outcome {
            entry.failure.clone_from(words);
        }
        if !entry.session_id.is_empty() {
            self.books.state.session_id.clone_from(&entry.session_id);
        }
        self.books.state.total_tokens =
            self.books.state.total_tokens.saturating_add(counted.tokens);
    }

    /// Gathers the observation, runs the checks where they are wanted, and asks the engine.
    fn judge(
        &mut self,
        ran: &Ran,
        counted: &Counted,
        looked: Looked,
        entry: &mut Iteration,
        log: &mut File,
    ) -> Verdict {
        let mut seen = self.observe(ran, counted, looked, entry);
        if wants_checks(&self.contract, &self.books.state.ledger, &seen) {
            match self.check(log) {
                Ok(results) => {
                    entry.checks.clone_from(&results);
                    seen.checks = Some(results);
                }
                Err(Stopped) => seen.demand = Some(Demand::Stopped),
            }
        }
        let judgement = engine::decide(&self.contract, &self.books.state.ledger, &seen);
        entry.done_check = judgement.verdict == Verdict::End(TerminalReason::Completed);
        if self.contract.token.is_some() {
            let became = match (seen.claimed, entry.done_check) {
                (false, _) => "missing",
                (true, true) => "accepted",
                (true, false) => "refused",
            };
            became.clone_into(&mut entry.promise);
        }
        self.books.state.ledger = judgement.ledger;
        judgement.verdict
    }

    fn observe(
        &self,
        ran: &Ran,
        counted: &Counted,
        looked: Looked,
        entry: &Iteration,
    ) -> Observation {
        let report = &ran.report;
        let token = self.contract.token.as_deref();
        // Words count only when the agent program came to its own good end.
        let said =
            if report.outcome == Outcome::Finished { report.final_text.as_str() } else { "" };
        let claimed = keeps_promise(token, self.options.promise_match, said);
        let blind = self.visible == 0;
        let mut seen = Observation {
            work: looked.work,
            claimed,
            tampered: looked.tampered,
            tool_calls: report.tool_calls,
            commits: self
                .git
                .as_ref()
                .map(|_| if self.worked { entry.commits.len() as u64 } else { 0 }),
            tokens: counted.tokens,
            since_arming: match (self.touched.is_empty(), blind) {
                (false, _) => Changed::Changed,
                (true, true) => Changed::Unknown,
                (true, false) => Changed::Same,
            },
            fingerprint: self.fingerprint(blind),
            elapsed_seconds: self.clock.elapsed().as_secs(),
            ..Observation::default()
        };
        match &report.outcome {
            _ if ran.asked.is_some() => seen.demand = Some(Demand::Stopped),
            Outcome::Finished => {
                seen.demand = blocked(said).filter(|_| !claimed).map(Demand::Blocked);
            }
            Outcome::Lasting(why) if !is_complete(&seen.work) => {
                seen.demand = Some(Demand::HarnessFailed(why.clone()));
            }
            Outcome::Failed(why) | Outcome::Lasting(why) => seen.failed = Some(why.clone()),
            Outcome::UsageLimit { words, .. } => {
                seen.waiting = vec![Waiting::UsageLimit(words.clone())];
            }
            Outcome::Cut => {}
        }
        seen
    }

    /// What the work looks like now.
    fn fingerprint(&self, blind: bool) -> Fingerprint {
        let head = self.head.clone().unwrap_or_default();
        let tasks = self.tasks.as_ref().map_or(0, Tasks::hash);
        let work = Hasher::default().with_number(tasks).with_number(hash_of(head.as_bytes()));
        let tree = if blind { Tree::Unknown } else { Tree::Hash(self.visible) };
        Fingerprint { work: work.finish(), tree }
    }

    /// Runs the checks one after the other; an error means that a person stopped the loop meanwhile.
    fn check(
        &mut self,
        log: &mut File,
    ) -> std::result::Result<Vec<crate::engine::CheckResult>, Stopped> {
        let mut results = Vec::new();
        let all = self.contract.checks.len();
        for (place, check) in self.contract.checks.iter().enumerate() {
            let words = format!("checking `{}` ({} of {all})", check.run, place + 1);
            self.books.state.doing.clone_from(&words);
            // It is only for people who look on; the next step is written down in any case.
            let _ = self.books.save();
            self.screen.tell("check", &format!("  {words}"), json!({"run": check.run}));
            let (signals, requests, screen) = (self.signals, &self.requests, &self.screen);
            let clock = Stopwatch::start();
            let mut interrupted = || {
                screen.live(&format!("{words} · {}", lasted(clock.elapsed())));
                asked(signals, requests).is_some()
            };
            let folder = &self.change.worktree;
            let result = proofs::run(&self.keeper, check, folder, log, &mut interrupted);
            self.screen.still();
            if asked(self.signals, &self.requests).is_some() {
                return Err(Stopped);
            }
            let outcome = if result.passed { "passed" } else { "failed" };
            let line = format!("  `{}` {outcome}: {}", result.run, result.outcome);
            self.screen.tell("checked", &line, json!({"run": result.run, "passed": result.passed}));
            results.push(result);
        }
        Ok(results)
    }

    /// Writes the iteration down, says what it came to, and keeps what the next one must know.
    fn record(&mut self, entry: &mut Iteration, ran: &Ran, verdict: &Verdict) -> Result<()> {
        words::verdict_name(verdict).clone_into(&mut entry.verdict);
        entry.words = words::verdict(verdict);
        entry.ended = Some(iso(world::now()));
        let reason = match verdict {
            Verdict::End(reason) => Some(reason),
            _ => None,
        };
        let spec_002 = reason.map(|reason| words::spec_002(reason, entry.promise == "accepted"));
        self.books.note(&Entry {
            at: world::now(),
            event: "iteration".to_owned(),
            about: self.change.id.clone(),
            iteration: entry.n,
            task: self.tasks_line(),
            verdict: entry.verdict.clone(),
            reason: reason.map(|reason| reason.name().to_owned()).unwrap_or_default(),
            status: spec_002.unwrap_or_default().to_owned(),
            promise: entry.promise.clone(),
            words: entry.words.clone(),
            ..Entry::default()
        })?;
        if matches!(verdict, Verdict::Wait(_)) {
            self.books.give_back(entry)?;
        } else {
            self.books.end(entry)?;
        }
        let went = match (&entry.timed_out, &entry.interrupted, entry.failure.is_empty()) {
            (true, ..) if ran.ended.cut == Some(Cut::Silence) => {
                " (cut short: nothing was heard of it)".to_owned()
            }
            (true, ..) => " (cut short by its time limit)".to_owned(),
            (_, true, _) => " (interrupted)".to_owned(),
            (.., false) => format!(" (failed: {})", entry.failure),
            _ => String::new(),
        };
        let line =
            format!("-- iteration {}{went}: {}; {}", entry.n, words::figures(entry), entry.words);
        self.screen.tell("iteration_end", &line, json!({"iteration": &*entry}));
        self.keep_for_the_next(entry, ran, verdict);
        Ok(())
    }

    fn keep_for_the_next(&mut self, entry: &Iteration, ran: &Ran, verdict: &Verdict) {
        if let Verdict::Continue(missing) = verdict {
            self.missing.clone_from(missing);
        }
        match ran.ended.cut {
            Some(Cut::Wall) => self.remarks.push(format!(
                "The last iteration was cut short after {}: it had a time limit. Take smaller steps, and save your work often.",
                lasted(ran.lasted)
            )),
            Some(Cut::Silence) => self.remarks.push(
                "The last iteration was cut short because nothing was heard of it for too long."
                    .to_owned(),
            ),
            _ => {}
        }
        if !entry.denied.is_empty() {
            let denied = entry.denied.join(", ");
            self.remarks.push(format!("These tools were denied in the last iteration: {denied}."));
            self.screen.warn(&format!(
                "tools were denied: {denied}\n--allow-all lets the agent use all of its tools"
            ));
        }
        if ran.ended.survivors > 0 {
            let left = match ran.ended.survivors {
                1 => "1 process that the agent had left running was ended".to_owned(),
                many => format!(
                    "{} processes that the agent had left running were ended",
                    grouped(many as u64)
                ),
            };
            self.screen.tell(
                "survivors",
                &format!("  {left}"),
                json!({"survivors": ran.ended.survivors}),
            );
        }
    }

    fn after(&mut self, verdict: Verdict, ran: &Ran) -> Next {
        let waits = matches!(verdict, Verdict::Wait(_));
        self.limits_in_a_row = if waits { self.limits_in_a_row.saturating_add(1) } else { 0 };
        match verdict {
            Verdict::End(reason) => Next::Over(reason),
            Verdict::Wait(_) => Next::Until(match &ran.report.outcome {
                Outcome::UsageLimit { resets_at, .. } => *resets_at,
                _ => None,
            }),
            Verdict::Continue(_) => match self.books.state.ledger.failures {
                0 => Next::On(Duration::ZERO),
                times => Next::On(doubled(self.options.retry_pause, times)),
            },
        }
    }

    fn tasks_line(&self) -> String {
        let path = self.tasks.as_ref().map(|tasks| tasks.path.clone());
        let Some(Ok(bytes)) = path.map(fs::read) else { return String::new() };
        let list = crate::engine::tasks::TaskList::parse(&bytes);
        format!("{}/{}", list.done(), list.tasks.len())
    }

    /// Waits while a person wants a pause; returns what ends it.
    fn wait_while_paused(&mut self) -> Result<Option<Asked>> {
        let mut told = false;
        loop {
            if let Some(asked) = asked(self.signals, &self.requests) {
                return Ok(Some(asked));
            }
            if self.requests.paused().is_none() {
                if told {
                    self.screen.still();
                    self.screen.tell("resumed", "ralph: resumed", json!({}));
                }
                return Ok(None);
            }
            if !told {
                told = true;
                let words = format!(
                    "ralph: paused; `spool resume --change {}` goes on, `spool stop` ends it",
                    self.change.id
                );
                self.screen.tell("paused", &words, json!({}));
                "paused".clone_into(&mut self.books.state.doing);
                self.books.save()?;
            }
            self.screen.live("paused");
            self.signals.wait(LOOK);
        }
    }

    /// Waits; returns what ends it early. A limit of the whole loop is judged after the next iteration.
    fn rest(&mut self, length: Duration, what: &str) -> Result<Option<Asked>> {
        let length = match self.options.max_runtime {
            Some(all) => length.min(all.saturating_sub(self.clock.elapsed())),
            None => length,
        };
        // A moment that is still to come, also when the wait is shorter than a second.
        let until =
            (Duration::from_millis(world::now()) + length).as_millis().div_ceil(1000) as u64;
        self.books.state.doing = format!("waiting for {what}");
        self.books.state.waits_until = until;
        self.books.save()?;
        let clock = iso(until * 1000);
        let words = format!("   waiting for {what}, {} (until {clock})", lasted(length));
        self.screen.tell("waiting", &words, json!({"for": what, "until": clock}));
        let rest = Stopwatch::start();
        let mut found = None;
        while found.is_none() && rest.elapsed() < length && world::now() < until * 1000 {
            // The stopwatch stands still while the machine sleeps; the clock on the wall does not.
            let left = length.saturating_sub(rest.elapsed()).min(self::until(until));
            self.screen.live(&format!("waiting for {what}, {} left", lasted(left)));
            // A signal ends the wait at once, a request within a moment.
            self.signals.wait(LOOK.min(left));
            found = asked(self.signals, &self.requests);
        }
        self.screen.still();
        self.books.state.waits_until = 0;
        Ok(found)
    }

    /// Ends the loop between two iterations, because a person wants it.
    fn stop(&mut self, asked: Asked) -> Result<u8> {
        let seen = Observation {
            demand: Some(Demand::Stopped),
            fingerprint: self.fingerprint(self.visible == 0),
            ..Observation::default()
        };
        let iterations = self.books.state.ledger.iterations;
        let judgement = engine::decide(&self.contract, &self.books.state.ledger, &seen);
        // No iteration was run for this verdict.
        self.books.state.ledger = Ledger { iterations, ..judgement.ledger };
        let signal = match asked {
            Asked::Signal(signal) => Some(signal),
            Asked::Stop => None,
        };
        match judgement.verdict {
            Verdict::End(reason) => self.finish(&reason, signal),
            _ => self.finish(&TerminalReason::Stopped, signal),
        }
    }

    /// Writes the end down, says it, and returns its exit code.
    fn finish(&mut self, reason: &TerminalReason, signal: Option<i32>) -> Result<u8> {
        let code = ends::exit_code(reason, signal);
        let status = ends::status(reason);
        let words = ends::words(reason, signal);
        let state = &mut self.books.state;
        state.status = status;
        reason.name().clone_into(&mut state.reason);
        state.words.clone_from(&words);
        state.ended_at = iso(world::now());
        state.exit_code = Some(code);
        state.doing.clear();
        let saved = self.books.save();
        self.books.note(&Entry {
            at: world::now(),
            event: "ended".to_owned(),
            about: self.change.id.clone(),
            iteration: self.books.state.current_iteration,
            task: self.tasks_line(),
            reason: reason.name().to_owned(),
            words,
            ..Entry::default()
        })?;
        self.requests.clear_stop();
        self.screen.title(&status.word());
        self.summary(reason, code);
        saved.map(|()| code)
    }

    /// Puts down why the runner cannot go on; the books write it when they are closed.
    fn give_up(&mut self, error: &anyhow::Error) {
        let state = &mut self.books.state;
        if !state.status.is_over() {
            TerminalReason::Stopped.name().clone_into(&mut state.reason);
            state.words = format!("{error:#}");
            state.exit_code = Some(ends::FAILURE);
            self.screen.title(&super::books::Status::Stopped.word());
        }
    }

    fn summary(&self, reason: &TerminalReason, code: u8) {
        let state = &self.books.state;
        let tasks = self.tasks_line();
        let mut parts = vec![
            counted(state.current_iteration.into(), "iteration"),
            lasted(self.clock.elapsed()),
            format!(
                "{}{} tokens",
                if self.estimated { "about " } else { "" },
                grouped(state.total_tokens)
            ),
            counted(self.commits_made, "commit"),
            counted(self.touched.len() as u64, "file"),
        ];
        if !tasks.is_empty() {
            parts.push(format!("{tasks} tasks"));
        }
        let doubts = doubts::doubts(&Facts {
            worktree: &self.change.worktree,
            list: self.tasks.as_ref().map(|tasks| tasks.path.as_path()),
            open_at_start: &self.open_at_start,
            ticked: self.ticked,
            touched: &self.touched,
            by_word: *reason == TerminalReason::Completed
                && self.done == DoneCriteria::Manual
                && self.options.checks.is_empty(),
            uncommitted: self.uncommitted.len(),
        });
        let style = match (code, doubts.is_empty()) {
            (0, true) => crate::style::GOOD,
            _ => crate::style::WARN,
        };
        let word = ends::status(reason).word();
        let mut words = format!(
            "ralph: {}{word}{}: {}\n       {}",
            style.render(),
            style.render_reset(),
            state.words,
            parts.join(", ")
        );
        for doubt in &doubts {
            words = format!("{words}\n       {doubt}");
        }
        let next = ends::what_next(reason);
        if !next.is_empty() {
            words = format!("{words}\n       {next}");
        }
        let elsewhere = !self.options.start.starts_with(&self.change.root);
        let place = if elsewhere {
            format!(" --project {}", self.change.root.display())
        } else {
            String::new()
        };
        words = format!("{words}\n       spool ralph --status --change {}{place}", self.change.id);
        let fields = json!({
            "status": word, "reason": reason.name(), "exit_code": code,
            "iterations": state.current_iteration, "seconds": self.clock.elapsed().as_secs(),
            "total_tokens": state.total_tokens, "commits": self.commits_made,
            "files": self.touched.len(), "tasks": tasks, "next": next,
            "doubts": doubts,
        });
        self.screen.tell("end", &words, fields);
    }
}

/// A person stopped the loop while checks ran.
struct Stopped;

/// What counts as done: what was asked for, or else the list where there is one (spec 001).
fn done_criteria(options: &Options, has_list: bool) -> DoneCriteria {
    match options.done {
        Some(done) => done,
        None if has_list => DoneCriteria::Tasks,
        None => DoneCriteria::Manual,
    }
}

/// What the agent says that a person must do: `<blocked>…</blocked>`, at the beginning of a line.
fn blocked(text: &str) -> Option<String> {
    let start = text.rfind("<blocked>")?;
    let line = text[..start].rsplit('\n').next().unwrap_or_default();
    let need = text[start..].strip_prefix("<blocked>")?.split_once("</blocked>")?.0.trim();
    let need: String = super::screen::plain(need).chars().take(LONGEST_NEED).collect();
    (line.trim().is_empty() && !need.is_empty()).then_some(need)
}

fn is_complete(work: &Work) -> bool {
    matches!(work, Work::List { done: 1.., open } if open.is_empty())
}

/// How a run counts that could not even be started: a missing program stays missing, want of memory
/// or of processes passes.
fn not_started(error: &anyhow::Error) -> Outcome {
    let kind = error.chain().find_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
    let words = format!("{error:#}");
    match kind {
        None | Some(io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            Outcome::Lasting(words)
        }
        Some(_) => Outcome::Failed(words),
    }
}

/// A pause that is doubled with each time after the first, up to [`LONGEST_PAUSE`].
fn doubled(pause: Duration, times: u32) -> Duration {
    let longer = 2_u32.saturating_pow(times.saturating_sub(1).min(16));
    pause.saturating_mul(longer).min(LONGEST_PAUSE)
}

/// How long it is until a moment in seconds since the Unix epoch.
fn until(at: u64) -> Duration {
    Duration::from_millis((at.saturating_mul(1000)).saturating_sub(world::now()))
}

/// How long to wait for a usage limit that is lifted after this time, as far as that is told, and was hit
/// `times` in a row.
///
/// A clock that goes wrong, here or there, makes neither a loop without rest of it nor one that rests for ever.
fn limit_pause(left: Option<Duration>, times: u32) -> Duration {
    let Some(left) = left.filter(|left| *left <= LONGEST_LIMIT) else {
        return doubled(UNKNOWN_LIMIT, times);
    };
    left + doubled(AFTER_LIMIT, times)
}

fn on_the_path(program: &str) -> Option<PathBuf> {
    let path = world::raw_variable("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| is_program(it))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_limit_with_a_clock_that_is_wrong_is_neither_hammered_nor_waited_for_for_ever() {
        let pauses: Vec<u64> =
            [1, 2, 3, 30].map(|times| limit_pause(Some(Duration::ZERO), times).as_secs()).into();
        assert_eq!(pauses, [5, 10, 20, 900]);
        assert_eq!(limit_pause(Some(Duration::from_mins(2)), 1), Duration::from_secs(125));
        // Milliseconds in the place of seconds.
        assert_eq!(limit_pause(Some(until(1_795_000_000_000)), 1), UNKNOWN_LIMIT);
        assert_eq!(limit_pause(Some(until(u64::MAX)), 1), UNKNOWN_LIMIT);
        assert_eq!(limit_pause(None, 1), UNKNOWN_LIMIT);
    }

    #[test]
    fn a_need_stands_at_the_beginning_of_a_line() {
        let need = |text| blocked(text);
        assert_eq!(need("I stop.\n<blocked>set API_KEY</blocked>"), Some("set API_KEY".to_owned()));
        assert_eq!(need("  <blocked>\nset it\n</blocked>\nBye."), Some("set it".to_owned()));
        assert_eq!(need("I do not say <blocked>x</blocked> yet"), None);
        assert_eq!(need("<blocked></blocked>"), None);
        assert_eq!(need("<blocked>never closed"), None);
        assert_eq!(need("<blocked>\u{1b}[31mx</blocked>"), Some("[31mx".to_owned()));
    }
}
