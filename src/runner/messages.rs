//! What the runner says of an iteration and of an end, in one line each.

use crate::engine::{self, BudgetUnit, TerminalReason, Verdict, Waiting};
use crate::judge::promised::BY_WORD;
use crate::session::messages::person::reviews;
use crate::session::messages::shortfall::{brief, open_count};
use crate::session::waited_for;

use super::exit;
use super::harness::{Accepts, Approval};
use super::screen::{counted, grouped, lasted};
use super::state::{AgentShare, Iteration, LoopState};
use crate::forms::spent::{Amount, Spent};
use crate::text::title;

use std::time::Duration;

/// Returns why a loop in this state continues, waits or has ended, in a few words; `open` is how many tasks are open, `signal`
/// the one that stopped it.
pub fn verdict(
    verdict: &Verdict,
    state: &LoopState,
    open: Option<usize>,
    signal: Option<i32>,
) -> String {
    match verdict {
        Verdict::Continue(missing) => brief(missing, &open_count(open.unwrap_or(0) as u64)),
        Verdict::Wait(waiting) => {
            let words: Vec<String> = waiting.iter().map(wait).collect();
            words.join("; ")
        }
        // In the words of the end, so that the journal does not say it twice.
        Verdict::End(reason) => end(reason, state, signal),
    }
}

/// Returns why a loop in this state ended, in words for someone who was not there; `signal` is the one that stopped it.
pub fn end(reason: &TerminalReason, state: &LoopState, signal: Option<i32>) -> String {
    let words = exit::words(reason, signal);
    match reason {
        TerminalReason::Completed if !state.ledger.against.is_empty() => {
            [BY_WORD, &state.ledger.against].concat()
        }
        // The words begin with what is used.
        TerminalReason::Budget { unit: BudgetUnit::Money, .. } if whole_cost(state).estimated => {
            format!("~{words}")
        }
        _ => words,
    }
}

fn wait(waiting: &Waiting) -> String {
    match waiting {
        Waiting::UsageLimit(words) => format!("usage limit: {words}"),
        other => waited_for(std::slice::from_ref(other)),
    }
}

/// Returns why the loop continues, waits or has ended after an iteration, with the tools that were denied in it, the ticks that
/// were taken back,
/// where what it left is kept, and whether it was asked for a handoff.
pub fn with_notes(iteration: &Iteration) -> String {
    let denied = match iteration.denied.as_slice() {
        [] => String::new(),
        denied => format!("; denied: {}", some_denied(denied)),
    };
    let unproved = match iteration.unproved.as_slice() {
        [] => String::new(),
        unproved => format!("; open again: {}", unproved.join("; ")),
    };
    let kept = match iteration.kept_as.as_str() {
        "" => String::new(),
        name => format!("; unfinished work is kept as {name}"),
    };
    let handoff = if iteration.handoff_asked { "; a handoff was asked for" } else { "" };
    format!("{}{denied}{unproved}{kept}{handoff}", iteration.words)
}

/// The most tasks, or tools that were denied, that are named.
const NAMED: usize = 10;
/// The most letters of a tool that was denied, and of what it was to do.
const LONGEST_DENIED: usize = 80;
/// The most tools that are kept of all that were denied in a run.
pub const MOST_DENIED_OF_RUN: usize = 20;

/// Returns these ids as a list, at most ten of them.
pub fn some_of(ids: &[&str]) -> String {
    let more = if ids.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", ids[..ids.len().min(NAMED)].join(", "))
}

/// Returns what a person can do about tools that were denied where this is approved, by the flags that the agent program takes.
pub fn remedies(approval: Approval, accepts: Option<&Accepts>) -> String {
    if approval == Approval::All {
        return "--allow-all is set: look at --deny, and at the rules and hooks of the agent program's own settings"
            .to_owned();
    }
    let allow = accepts.filter(|it| it.allow.is_some()).map(|_| "--allow TOOL".to_owned());
    let modes = accepts.and_then(|it| it.mode).map(|(_, modes)| modes);
    // The first mode that permits something.
    let mode = modes.and_then(|modes| modes.iter().find(|it| PERMITTING.contains(it)));
    let mode = mode.map(|mode| format!("--permission-mode {mode}"));
    let some: Vec<String> = allow.into_iter().chain(mode).collect();
    if some.is_empty() {
        return "permit all of its tools with --allow-all".to_owned();
    }
    format!("permit them with {}, or all of its tools with --allow-all", some.join(" or "))
}

/// The modes that permit edits within the project.
const PERMITTING: [&str; 3] = ["acceptEdits", "workspace-write", "auto_edit"];

/// Returns which tools were denied in a run, empty for none.
pub fn denied(state: &LoopState) -> String {
    if state.denied_iterations == 0 {
        return String::new();
    }
    let times = counted(state.denied_iterations.into(), "iteration");
    let denied = in_short(&state.denied);
    format!("in {times}: {}", engine::some_denied(&denied, NAMED, MOST_DENIED_OF_RUN))
}

/// Returns the tools that were denied in an iteration as a list for one line: at most ten of them, and how many more.
pub fn some_denied(denied: &[String]) -> String {
    engine::some_denied(&in_short(denied), NAMED, engine::MOST_DENIED)
}

/// Returns the same tools, each with as much of what it was to do as one line has room for.
pub fn in_short(denied: &[String]) -> Vec<String> {
    denied.iter().map(|it| title(it, LONGEST_DENIED)).collect()
}

/// Returns what a run and its reviews cost together, by the ledger.
pub fn whole_cost(state: &LoopState) -> Amount {
    let cost = state.spent().plus(state.spent_on_reviews()).cost;
    Amount { value: state.ledger.all_cost(), ..cost }
}

/// Returns what each agent of a loop did, on one line; `None` where one did all.
pub fn shares(agents: &[AgentShare]) -> Option<String> {
    let share = |it: &AgentShare| {
        let model = if it.model.is_empty() { String::new() } else { format!(" {}", it.model) };
        let Spent { tokens, cost } = it.spent();
        let runs = counted(it.runs.into(), "run");
        let mut words = format!("{}{model}: {runs}, {} tokens", it.harness, tokens.tokens());
        if let Some(cost) = cost.money() {
            words = format!("{words}, {cost}");
        }
        words
    };
    (agents.len() > 1).then(|| agents.iter().map(share).collect::<Vec<_>>().join("; "))
}

/// Returns in one line how long this program stood still, and that no limit counts it.
pub fn stood_still(length: Duration) -> String {
    let (what, with) = if cfg!(windows) {
        ("the machine slept", "")
    } else {
        ("this program was stopped for", ", and its agent with it")
    };
    format!("{what} {}{with}; that time is not counted", lasted(length))
}

/// Returns the same as a figure beside the time that counts; `None` for nothing.
pub fn not_counted(seconds: f64) -> Option<String> {
    let length = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let what = if cfg!(windows) { "slept" } else { "stopped for" };
    (!length.is_zero()).then(|| format!("{what} {}", lasted(length)))
}

/// Returns what a run came to, in a few words each.
pub fn figures_of_run(
    state: &LoopState,
    took: Duration,
    [commits, files]: [usize; 2],
) -> Vec<String> {
    let mut parts = vec![counted(state.current_iteration.into(), "iteration"), lasted(took)];
    parts.extend(not_counted(state.stopped_seconds));
    let Spent { tokens, cost } = state.spent();
    parts.push(tokens.some_tokens());
    parts.extend(cost.money());
    parts.extend([counted(commits as u64, "commit"), counted(files as u64, "file")]);
    let reviews = reviews(&state.ledger);
    parts.extend((!reviews.is_empty()).then(|| format!("reviews {reviews}")));
    parts
}

/// Returns what an iteration came to: time, tokens, commits, files, tasks.
pub fn figures(iteration: &Iteration) -> String {
    let mut parts = vec![lasted(Duration::from_secs_f64(iteration.seconds.max(0.0)))];
    parts.extend(not_counted(iteration.stopped_seconds));
    let Spent { tokens, cost } = iteration.spent();
    if tokens.partial || tokens.value > 0 {
        parts.push(tokens.some_tokens());
    }
    parts.extend(cost.money());
    if let Some(calls) = iteration.tool_calls {
        let failed = match iteration.failed_calls {
            0 => String::new(),
            failed => format!(" ({} failed or denied)", grouped(failed)),
        };
        parts.push(format!("{}{failed}", counted(calls, "tool call")));
    }
    if !iteration.commits.is_empty() {
        parts.push(counted(iteration.commits.len() as u64, "commit"));
    }
    parts.push(counted(iteration.files_changed, "file"));
    if !iteration.tasks_ticked.is_empty() {
        parts.push(format!("done: {}", iteration.tasks_ticked.join(" ")));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::harness::harness;
    use crate::runner::options::HarnessChoice;

    #[test]
    fn a_person_reads_only_flags_that_the_agent_program_takes() {
        for (choice, said) in [
            (HarnessChoice::Claude, "--allow TOOL or --permission-mode acceptEdits"),
            (HarnessChoice::Codex, "--permission-mode workspace-write"),
            (HarnessChoice::Opencode, "--allow TOOL"),
            (HarnessChoice::Gemini, "--allow TOOL or --permission-mode auto_edit"),
            (HarnessChoice::Copilot, "--allow TOOL"),
        ] {
            let harness = harness(&choice).unwrap();
            let whole = format!("permit them with {said}, or all of its tools with --allow-all");
            assert_eq!(remedies(Approval::Own, harness.accepts()), whole, "{choice:?}");
        }
    }

    #[test]
    fn an_agents_share_says_what_of_it_is_an_estimate_or_not_known() {
        let share = |harness: &str| AgentShare {
            harness: harness.to_owned(),
            runs: 1,
            tokens: 1_234,
            cost_usd: 0.5,
            ..AgentShare::default()
        };
        let codex = AgentShare {
            cost_estimated: true,
            cost_unknown: true,
            tokens_estimated: true,
            ..share("codex")
        };
        let gemini =
            AgentShare { tokens: 0, tokens_unknown: true, cost_usd: 0.0, ..share("gemini") };
        assert_eq!(
            shares(&[share("claude"), codex, gemini]).unwrap(),
            "claude: 1 run, 1,234 tokens, $0.5000; codex: 1 run, ~1,234 tokens, at least ~$0.5000; gemini: 1 run, unknown tokens"
        );
    }
}
