//! A loop in a session, about a feature or a task, for `spool status`.

use std::fmt::Write;
use std::path::Path;

use super::{armed, live};
use crate::engine::Ledger;
use crate::engine::tasks::TaskList;
use crate::feature::project::printable;
use crate::feature::settings::Settings;
use crate::forms::loops::{
    ConvergeForm, EndForm, LoopArmer, LoopCheck, LoopForm, LoopFormState, PauseForm, SessionState,
    StopForm,
};
use crate::forms::plain::{JsonNumber, JsonTime, words};
use crate::session::life;
use crate::session::messages::person::{more_than, reviews};
use crate::store::loops::{LetGo, Loops, Record};
use crate::store::pins::{Pin, PinState};
use crate::text::{age, counted, grouped, rows};
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
    /// What is known without the session: the name, the limit, the end and the next step after it, the ledger's sums.
    pub form: LoopForm,
    /// The session's notes.
    pub record: Option<Record>,
    pub standing: &'a PinState,
    /// A session owns the loop, even if its record is gone.
    pub is_bound: bool,
    /// The list that the agent works through.
    pub tasks: Option<&'a TaskList>,
}

impl SessionLoop {
    pub fn of(root: &Path, loops: &Loops, found: FoundLoop<'_>) -> Self {
        let FoundLoop { form, record, standing, is_bound, tasks } = found;
        let (known, pin, lives) = (record.as_ref(), standing.pin(), form.end.is_none());
        let alive = known.filter(|record| record.ledger.is_live());
        let life = alive.map(|record| life::of(loops, record)).unwrap_or_default();
        let state = match (lives, known) {
            (false, _) => LoopFormState::Ended,
            (true, None) if !is_bound => LoopFormState::Unbound,
            (true, Some(record)) if life.leaves_behind(record) => LoopFormState::Orphaned,
            (true, Some(record)) if record.pause().is_some() => LoopFormState::Paused,
            (true, _) => LoopFormState::Live,
        };
        let (session_state, process) = live::session_of(&life);
        let (waits_for, next) = match known {
            _ if !lives => (Vec::new(), form.next.clone()),
            Some(_) if Settings::switch_off(root) => (Vec::new(), words(SWITCH_ON)),
            Some(record) => (
                live::waits(record, &life, session_state),
                words(&live::next_step(record, &life, session_state, standing)),
            ),
            None => (vec![UNBOUND.to_owned()], words(BEGIN)),
        };
        let turn = known.filter(|_| lives).map(live::turn);
        let in_turn = turn.clone().unwrap_or_default();
        let more = |sum: u64, in_turn: JsonNumber| sum.saturating_add(in_turn.get()).into();
        let asked = standing.asked(known);
        let armed_by = pin.map(|pin| &pin.armed_by).or(known.map(|record| &record.armed_by));
        let hooks_ran = known.map(|record| record.hooks_ran.clone()).unwrap_or_default();
        let due = pin.map(|pin| pin.hooks.left(&hooks_ran)).unwrap_or_default();
        let adopted = known.and_then(|record| record.adopted.as_ref());
        let ledger = known.map(|record| &record.ledger);
        let form = LoopForm {
            task: known.and_then(Record::ralph).map(|assignment| assignment.task.clone()),
            state,
            session: known.and_then(|record| words(&record.session)),
            session_state: turn.as_ref().map(|_| session_state),
            process: process.filter(|_| lives),
            armed_by: armed_by.and_then(LoopArmer::of),
            pinned: pin.is_some(),
            last_sign_at: known.and_then(|record| JsonTime::of(record.last_sign())),
            pause: known.and_then(Record::pause).map(PauseForm::from),
            tokens: ledger.map(|ledger| more(ledger.tokens, in_turn.tokens)),
            tokens_complete: known.is_some(),
            tool_calls: form
                .tool_calls
                .map(|calls| more(calls.get(), in_turn.tool_calls.unwrap_or_default())),
            tool_calls_complete: form.tool_calls_complete
                && turn.as_ref().is_none_or(|turn| turn.tool_calls_complete),
            turn,
            at_work: words(&live::at_work(tasks)).filter(|_| lives && known.is_some()),
            last_stop: known.and_then(|record| {
                Some(StopForm { at: JsonTime::of(record.seen_at)?, words: record.last_words() })
            }),
            checks: pin.iter().flat_map(|pin| pin.checks.iter().map(LoopCheck::from)).collect(),
            running_check: alive.and_then(|record| loops.running_check(&record.session)),
            converge: pin.and_then(|pin| {
                ConvergeForm::of(&pin.converge, &ledger.cloned().unwrap_or_default())
            }),
            notify: pin.and_then(|pin| words(&pin.notify)),
            only_tasks: asked.map(|asked| asked.tasks.clone()).filter(|tasks| !tasks.is_empty()),
            words_for_agent: asked.and_then(|asked| words(&asked.words)),
            waits_for,
            next,
            taken_over_from: adopted.map(|adopted| adopted.from.clone()),
            taken_over_by: known.and_then(|record| words(&record.moved_to)),
            ..form
        };
        let armed = if lives { armed::lines(root, standing, &form, &due) } else { String::new() };
        let form = LoopForm { hooks_due: [due.before, due.after].concat(), ..form };
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
            (LoopFormState::Unbound, ..) => {
                let open = "; the first session that stops takes it";
                format!("armed{}", if switch.is_empty() { open } else { switch })
            }
            (LoopFormState::Orphaned, Some(record), _) => {
                let why = match self.form.session_state {
                    Some(SessionState::Gone) => "is gone".to_owned(),
                    _ => format!("has been silent for {}", age(record.silent_for())),
                };
                let adopt = format!("/speckit:ralph-loop --adopt {}", printable(&record.session));
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

    /// Writes the agent's current work; `review` is the last review, in words.
    pub fn write_now(&self, text: &mut String, review: &str) {
        live::write(text, &self.form);
        rows(text, "Review", [printable(review)]);
        rows(text, "Checking", self.form.running_check.as_deref().map(printable));
    }

    /// Writes the course so far. `awaits` says what the loop waits for, `refused` the name of its refused
    /// words.
    pub fn write_course(&self, text: &mut String, awaits: &str, refused: &str, let_go: &[LetGo]) {
        let so_far = self.form.turn.as_ref().map(live::so_far).unwrap_or_default();
        let ledger = self.record.as_ref().map(|record| &record.ledger);
        // Another loop may have overwritten the record of an ended one.
        if self.lives() || ledger.is_some() {
            write_iteration(text, ledger, self.form.max_iterations, &so_far);
        }
        text.push_str(&self.armed);
        rows(text, "Waiting", [awaits]);
        if let Some(record) = &self.record {
            write_session(text, record, refused);
        }
        rows(text, "Not blocked", let_go.iter().map(let_go_line));
        rows(text, "Next", &self.form.next);
    }
}

/// Words about a loop without a session: who takes it, and the person's next step.
const UNBOUND: &str = "the first session that stops";
const SWITCH_ON: &str = "set `enabled: true` in .claude/ralph-speckit.local.md";
const BEGIN: &str = "start Claude Code in this project, and ask it to work through the tasks";

/// Writes a session's work so far; `refused` is the name of its refused words.
fn write_session(text: &mut String, record: &Record, refused: &str) {
    let ledger = &record.ledger;
    let ago = |at: WallTime| age(at.age());
    rows(text, "Session", [&record.session]);
    if let Some(adopted) = &record.adopted {
        let (from, ago) = (printable(&adopted.from), ago(adopted.at));
        let _ = writeln!(text, "  Taken over from session {from}, {ago} ago");
    }
    let times = counted(ledger.continued.into(), "time");
    rows(text, "Sent back", [format!("{times}; {refused}: {}", ledger.refused_claims)]);
    let when = if ledger.is_live() { "Before this iteration" } else { "Seen since it was armed" };
    let (all, written) = (ledger.tokens, grouped(ledger.written_tokens));
    let written = if all > 0 { format!(" ({written} of them written)") } else { String::new() };
    let sums = sums(ledger.tool_calls, ledger.commits, all);
    rows(text, when, sums.map(|sums| sums + &written));
    rows(text, "Reviews beside that", [reviews(ledger)]);
    // The words of an end stand behind "Loop: ".
    let words = Some(record.last_words()).filter(|_| ledger.is_live());
    let words = words.map_or_else(String::new, |words| format!(": {}", printable(&words)));
    let last = format!("{} ago{words}", ago(record.seen_at));
    rows(text, "Last stop", Some(last).filter(|_| record.seen_at.is_known()));
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
