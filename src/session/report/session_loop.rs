//! A loop in a session, about a feature or a task, for `spool status`.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::armed;
use super::live::{self, LiveReport, SessionState};
use crate::engine::Ledger;
use crate::engine::tasks::TaskList;
use crate::feature::project::printable;
use crate::session::life;
use crate::session::messages::person::{more_than, reviews};
use crate::store::loops::{LetGo, Loops, Record};
use crate::store::names::EndName;
use crate::store::pins::{Pin, PinState};
use crate::text::{age, counted, grouped};
use crate::world::WallTime;

/// Lines of failed checks' output.
const OUTPUT: usize = 6;

/// How a loop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoopFormState {
    /// It is armed, and the first session that stops takes it.
    Unbound,
    /// It lives.
    #[default]
    Live,
    /// It lives, the agent may stop, and nothing is counted.
    Paused,
    /// It lives, and its session is gone or has been silent for an hour.
    Orphaned,
    /// Its runner was killed.
    Dead,
    /// It has ended.
    Ended,
    /// Its file cannot be read.
    Unreadable,
}

#[derive(Clone, Debug)]
pub struct SessionLoop {
    /// The feature, or the first words of the task.
    pub about: String,
    pub state: LoopFormState,
    /// The end's name and words; `None` while the loop lives.
    pub end: Option<(EndName, String)>,
    /// What a person does after the end; empty while the loop lives.
    pub next: String,
    /// The last iteration; `None` for no limit.
    pub max_iterations: Option<u32>,
    /// The running check with its number; empty for none.
    pub checking: String,
    /// A person's arming of the live loop; `None` if no person armed it, or nobody knows.
    pub pin: Option<Pin>,
    /// Lines about who armed the loop, and its terms; empty after its end.
    armed: String,
    /// The session's notes; `None` before a session has taken the loop.
    pub record: Option<Record>,
    /// `None` after the end.
    pub live: Option<LiveReport>,
}

/// A loop before its session is looked at.
pub struct FoundLoop<'a> {
    /// The feature, or the first words of the task.
    pub about: &'a str,
    /// The session's notes.
    pub record: Option<Record>,
    /// The end's name and words.
    pub end: Option<(EndName, String)>,
    /// What a person does after the end.
    pub next: String,
    /// The last iteration.
    pub max_iterations: Option<u32>,
    pub armed_at: WallTime,
    pub standing: &'a PinState,
    /// A session has the loop, although its notes may be gone.
    pub is_bound: bool,
    /// The list that the agent works through.
    pub tasks: Option<&'a TaskList>,
}

impl SessionLoop {
    pub fn of(root: &Path, loops: &Loops, found: FoundLoop<'_>) -> Self {
        let FoundLoop { record, end, standing, armed_at, .. } = found;
        let alive = record.as_ref().filter(|record| record.ledger.is_live());
        let life = alive.map(|record| life::of(loops, record)).unwrap_or_default();
        let state = match (&end, &record) {
            (Some(_), _) => LoopFormState::Ended,
            (None, None) if !found.is_bound => LoopFormState::Unbound,
            (None, Some(record)) if life.leaves_behind(record) => LoopFormState::Orphaned,
            (None, Some(record)) if record.pause().is_some() => LoopFormState::Paused,
            (None, _) => LoopFormState::Live,
        };
        let lines = || armed::lines(root, standing, record.as_ref(), armed_at);
        let moment = end.is_none().then(|| match &record {
            Some(record) => LiveReport::of(record, &life, live::at_work(found.tasks))
                .unless_lost(record, standing),
            None => LiveReport::unbound(armed_at),
        });
        Self {
            about: found.about.to_owned(),
            state,
            next: found.next,
            max_iterations: found.max_iterations,
            checking: checking(loops, record.as_ref()),
            armed: if end.is_none() { lines() } else { String::new() },
            pin: standing.pin().cloned(),
            live: moment,
            end,
            record,
        }
    }

    pub fn lives(&self) -> bool {
        self.end.is_none()
    }

    /// Empty before a session has the loop.
    pub fn session(&self) -> &str {
        self.record.as_ref().map_or("", |record| &record.session)
    }

    /// The state in words; `cancel` is the command that ends the loop.
    pub fn words(&self, switch: &str, cancel: &str) -> String {
        match (self.state, &self.record, &self.end) {
            (_, _, Some((name, words))) => {
                let words = more_than(name, words);
                let why = if words.is_empty() { "" } else { ": " };
                format!("{}{why}{words}", name.in_words())
            }
            (LoopFormState::Unbound, ..) if switch.is_empty() => {
                "armed; the first session that stops takes it".to_owned()
            }
            (LoopFormState::Unbound, ..) => format!("armed{switch}"),
            (LoopFormState::Orphaned, Some(record), _) => {
                let why = match self.live.as_ref().map(|live| live.session_state) {
                    Some(SessionState::Gone) => "is gone".to_owned(),
                    _ => format!("has been silent for {}", age(record.silent_for())),
                };
                let adopt = ["/speckit:ralph-loop --adopt ", &printable(&record.session)].concat();
                format!(
                    "live, but its session {why}\n    in another session: {adopt}\n    end it: {cancel}"
                )
            }
            (LoopFormState::Paused, Some(record), _) => {
                let since = record.pause().map(|pause| age(pause.at.age()));
                format!("paused for {}", since.unwrap_or_default())
            }
            _ => format!("live{switch}"),
        }
    }

    /// Writes the agent's current work; `review` is a line about the last review.
    pub fn write_now(&self, text: &mut String, review: &str) {
        if let Some(live) = &self.live {
            live.write(text);
        }
        text.push_str(review);
        if !self.checking.is_empty() {
            let _ = writeln!(text, "  Checking: {}", printable(&self.checking));
        }
    }

    /// Writes the course so far. `awaits` is a line about what the loop waits for, `refused` the name of its refused
    /// words.
    pub fn write_course(&self, text: &mut String, awaits: &str, refused: &str, let_go: &[LetGo]) {
        let so_far = self.live.as_ref().map(LiveReport::so_far).unwrap_or_default();
        let ledger = self.record.as_ref().map(|record| &record.ledger);
        // Another loop may have overwritten the record of an ended one.
        if self.lives() || ledger.is_some() {
            write_iteration(text, ledger, self.max_iterations, &so_far);
        }
        text.push_str(&self.armed);
        text.push_str(awaits);
        if let Some(record) = &self.record {
            write_session(text, record, refused);
        }
        for session in let_go {
            let _ = writeln!(text, "  Not blocked: {}", let_go_line(session));
        }
        if let Some(live) = &self.live {
            live.write_next(text);
        }
        if !self.next.is_empty() {
            let _ = writeln!(text, "  Next: {}", self.next);
        }
    }
}

/// The running check of a live loop; empty for none.
fn checking(loops: &Loops, record: Option<&Record>) -> String {
    let live = record.filter(|record| record.ledger.is_live());
    live.and_then(|record| loops.running_check(&record.session)).unwrap_or_default()
}

/// Writes a session's work so far; `refused` is the name of its refused words.
fn write_session(text: &mut String, record: &Record, refused: &str) {
    let ledger = &record.ledger;
    let ago = |at: WallTime| age(at.age());
    let _ = writeln!(text, "  Session: {}", record.session);
    if let Some(adopted) = &record.adopted {
        let (from, ago) = (printable(&adopted.from), ago(adopted.at));
        let _ = writeln!(text, "  Taken over from session {from}, {ago} ago");
    }
    let times = counted(ledger.continued.into(), "time");
    let _ = writeln!(text, "  Sent back: {times}; {refused}: {}", ledger.refused_claims);
    text.push_str(&counted_line(ledger));
    let reviews = reviews(ledger);
    if !reviews.is_empty() {
        let _ = writeln!(text, "  Reviews beside that: {reviews}");
    }
    if record.seen_at.is_known() {
        // The words of an end stand behind "Loop: ".
        let words = Some(record.last_words()).filter(|_| ledger.is_live());
        let words = words.map_or_else(String::new, |words| [": ", &printable(&words)].concat());
        let _ = writeln!(text, "  Last stop: {} ago{words}", ago(record.seen_at));
    }
    for line in record.output.lines().take(OUTPUT) {
        let _ = writeln!(text, "    {}", printable(line));
    }
    if record.output.lines().nth(OUTPUT).is_some() {
        text.push_str("    …: `spool log` has all of it\n");
    }
}

fn let_go_line(session: &LetGo) -> String {
    format!(
        "session {} stopped {} ago and was not blocked: the loop is session {}'s; /speckit:implement {} --force takes it over",
        printable(&session.session),
        age(session.at.age()),
        printable(&session.owner),
        printable(&session.about)
    )
}

/// What a loop has used and made, as far as it was seen, in a few words; `None` for nothing.
pub fn sums(tool_calls: u64, commits: u64, tokens: u64) -> Option<String> {
    let counts = [(tool_calls, "tool call"), (commits, "commit"), (tokens, "token")];
    let words: Vec<_> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Writes the number of the running iteration and its work, or the number of all.
fn write_iteration(text: &mut String, ledger: Option<&Ledger>, limit: Option<u32>, so_far: &str) {
    let over = ledger.map_or(0, |ledger| ledger.iterations);
    let limit = limit.map_or_else(|| ", no limit".to_owned(), |limit| format!(" of {limit}"));
    let _ = if ledger.is_some_and(Ledger::is_live) {
        writeln!(text, "  Iteration: {}{limit}{so_far}", over.saturating_add(1))
    } else {
        writeln!(text, "  Iterations: {over}{limit}")
    };
}

/// A line about what a loop used and made until its last judgement; empty for nothing.
fn counted_line(ledger: &Ledger) -> String {
    let (all, written) = (ledger.tokens, ledger.written_tokens);
    let sums = sums(ledger.tool_calls, ledger.commits, all);
    let written =
        if all > 0 { format!(" ({} of them written)", grouped(written)) } else { String::new() };
    let when = if ledger.is_live() { "Before this iteration" } else { "Seen since it was armed" };
    sums.map_or_else(String::new, |sums| format!("  {when}: {sums}{written}\n"))
}
