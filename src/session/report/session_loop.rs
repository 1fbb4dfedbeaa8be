//! A loop in a session, about a feature or a task, for `spool status`.

use std::fmt::Write;
use std::path::Path;

use super::{armed, live};
use crate::engine::Ledger;
use crate::engine::tasks::TaskList;
use crate::feature::project::printable;
use crate::forms::loops::{
    ConvergeForm, EndForm, LoopArmer, LoopCheck, LoopForm, LoopFormState, PauseForm, SessionState,
    StopForm,
};
use crate::forms::plain::{JsonTime, dollars, words};
use crate::session::life;
use crate::session::messages::person::{more_than, reviews};
use crate::store::loops::{LetGo, Loops, Record};
use crate::store::pins::{Pin, PinState};
use crate::text::{age, counted, grouped};
use crate::world::WallTime;

/// Lines of failed checks' output.
const OUTPUT: usize = 6;

#[derive(Clone, Debug)]
pub struct SessionLoop {
    /// The loop as programs read it.
    pub form: LoopForm,
    /// A person's arming of the live loop; `None` if no person armed it, or the pin cannot be read.
    pub pin: Option<Pin>,
    /// Lines about who armed the loop, and its terms; empty after its end.
    armed: String,
    /// The session's notes; `None` before a session has taken the loop.
    pub record: Option<Record>,
}

/// A loop before its session is looked at.
pub struct FoundLoop<'a> {
    /// The feature, or the first words of the task.
    pub about: &'a str,
    /// The session's notes.
    pub record: Option<Record>,
    pub end: Option<EndForm>,
    /// The person's next step after the end.
    pub next: String,
    /// The limit of iterations.
    pub max_iterations: Option<u32>,
    pub armed_at: WallTime,
    pub standing: &'a PinState,
    /// A session owns the loop, even if its record is gone.
    pub is_bound: bool,
    /// The list that the agent works through.
    pub tasks: Option<&'a TaskList>,
}

impl SessionLoop {
    pub fn of(root: &Path, loops: &Loops, found: FoundLoop<'_>) -> Self {
        let FoundLoop { record, end, standing, armed_at, .. } = found;
        let (known, pin, lives) = (record.as_ref(), standing.pin(), end.is_none());
        let alive = known.filter(|record| record.ledger.is_live());
        let life = alive.map(|record| life::of(loops, record)).unwrap_or_default();
        let state = match (lives, known) {
            (false, _) => LoopFormState::Ended,
            (true, None) if !found.is_bound => LoopFormState::Unbound,
            (true, Some(record)) if life.leaves_behind(record) => LoopFormState::Orphaned,
            (true, Some(record)) if record.pause().is_some() => LoopFormState::Paused,
            (true, _) => LoopFormState::Live,
        };
        let (session_state, process) = live::session_of(&life);
        let (waits_for, next) = match known {
            _ if !lives => (Vec::new(), found.next),
            Some(record) => (
                live::waits(record, &life, session_state),
                live::next_step(record, &life, session_state, standing),
            ),
            None => (vec![UNBOUND.to_owned()], BEGIN.to_owned()),
        };
        let turn = known.filter(|_| lives).map(live::turn);
        let in_turn = turn.clone().unwrap_or_default();
        let ledger = known.map(|record| record.ledger.clone()).unwrap_or_default();
        let asked = standing.asked(known);
        let armed_by = pin.map(|pin| &pin.armed_by).or(known.map(|record| &record.armed_by));
        let hooks_ran = known.map(|record| record.hooks_ran.clone()).unwrap_or_default();
        let due = pin.map(|pin| pin.hooks.left(&hooks_ran)).unwrap_or_default();
        let adopted = known.and_then(|record| record.adopted.as_ref());
        let form = LoopForm {
            about: found.about.to_owned(),
            task: known.and_then(Record::ralph).map(|assignment| assignment.task.clone()),
            state,
            session: known.and_then(|record| words(&record.session)),
            session_state: turn.as_ref().map(|_| session_state),
            process: process.filter(|_| lives),
            armed_at: JsonTime::of(known.map_or(armed_at, |record| record.armed_at)),
            armed_by: armed_by.and_then(LoopArmer::of),
            pinned: pin.is_some(),
            last_sign_at: known.and_then(|record| JsonTime::of(record.last_sign())),
            pause: known.and_then(Record::pause).map(PauseForm::from),
            iterations: ledger.iterations,
            max_iterations: found.max_iterations,
            tokens: known.map(|_| ledger.tokens.saturating_add(in_turn.tokens.get()).into()),
            tokens_complete: known.is_some(),
            review_tokens: ledger.review_tokens.into(),
            review_cost_usd: dollars(ledger.review_cost),
            review_cost_estimated: ledger.review_cost_estimated,
            tool_calls: known.map(|_| {
                let calls = in_turn.tool_calls.unwrap_or_default().get();
                ledger.tool_calls.saturating_add(calls).into()
            }),
            tool_calls_complete: known.is_some()
                && !ledger.more_calls
                && turn.as_ref().is_none_or(|turn| turn.tool_calls_complete),
            commits: ledger.commits.into(),
            sent_back: ledger.continued,
            refused_claims: ledger.refused_claims,
            turn,
            at_work: words(&live::at_work(found.tasks)).filter(|_| lives && known.is_some()),
            last_stop: known.and_then(|record| {
                Some(StopForm { at: JsonTime::of(record.seen_at)?, words: record.last_words() })
            }),
            checks: pin.iter().flat_map(|pin| pin.checks.iter().map(LoopCheck::from)).collect(),
            running_check: alive.and_then(|record| loops.running_check(&record.session)),
            hooks_due: [due.before, due.after].concat(),
            converge: pin.and_then(|pin| ConvergeForm::of(&pin.converge, &ledger)),
            notify: pin.and_then(|pin| words(&pin.notify)),
            only_tasks: asked.map(|asked| asked.tasks.clone()).filter(|tasks| !tasks.is_empty()),
            words_for_agent: asked.and_then(|asked| words(&asked.words)),
            waits_for,
            next: words(&next),
            taken_over_from: adopted.map(|adopted| adopted.from.clone()),
            taken_over_by: known.and_then(|record| words(&record.moved_to)),
            end,
            ..LoopForm::default()
        };
        let about_arming = || armed::lines(root, standing, known, armed_at);
        let armed = if lives { about_arming() } else { String::new() };
        Self { form, pin: pin.cloned(), armed, record }
    }

    pub fn lives(&self) -> bool {
        self.form.end.is_none()
    }

    /// Empty before a session has the loop.
    pub fn session(&self) -> &str {
        self.record.as_ref().map_or("", |record| &record.session)
    }

    /// The state in words; `cancel` is the command that ends the loop.
    pub fn words(&self, switch: &str, cancel: &str) -> String {
        match (self.form.state, &self.record, &self.form.end) {
            (_, _, Some(EndForm { name, words })) => {
                let words = more_than(name, words);
                let why = if words.is_empty() { "" } else { ": " };
                format!("{}{why}{words}", name.in_words())
            }
            (LoopFormState::Unbound, ..) if switch.is_empty() => {
                "armed; the first session that stops takes it".to_owned()
            }
            (LoopFormState::Unbound, ..) => format!("armed{switch}"),
            (LoopFormState::Orphaned, Some(record), _) => {
                let why = match self.form.session_state {
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
        if self.lives() {
            live::write(text, &self.form);
        }
        text.push_str(review);
        if let Some(check) = &self.form.running_check {
            let _ = writeln!(text, "  Checking: {}", printable(check));
        }
    }

    /// Writes the course so far. `awaits` is a line about what the loop waits for, `refused` the name of its refused
    /// words.
    pub fn write_course(&self, text: &mut String, awaits: &str, refused: &str, let_go: &[LetGo]) {
        let so_far = self.form.turn.as_ref().map(live::so_far).unwrap_or_default();
        let ledger = self.record.as_ref().map(|record| &record.ledger);
        // Another loop may have overwritten the record of an ended one.
        if self.lives() || ledger.is_some() {
            write_iteration(text, ledger, self.form.max_iterations, &so_far);
        }
        text.push_str(&self.armed);
        text.push_str(awaits);
        if let Some(record) = &self.record {
            write_session(text, record, refused);
        }
        for session in let_go {
            let _ = writeln!(text, "  Not blocked: {}", let_go_line(session));
        }
        if let Some(next) = &self.form.next {
            let _ = writeln!(text, "  Next: {next}");
        }
    }
}

/// Words about a loop without a session: who takes it, and the person's next step.
const UNBOUND: &str = "the first session that stops";
const BEGIN: &str = "start Claude Code in this project, and ask it to work through the tasks";

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

/// `12 tool calls, 3 commits, 4,100 tokens` without zeros; `None` if all are 0.
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
