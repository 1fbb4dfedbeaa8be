//! The runner's words on an iteration and an end, in one line each.

use crate::engine::{self, BudgetUnit, TerminalReason, Verdict, Waiting};
use crate::judge::promised::doubt;
use crate::session::messages::person::reviews;
use crate::session::messages::shortfall::{brief, open_count};
use crate::session::waited_for;

use super::exit;
use super::harness::{Accepts, Approval};
use super::screen::{counted, grouped, lasted};
use super::state::{AgentShare, Iteration, LoopState, MOST_DENIED_OF_RUN};
use crate::forms::spent::{Amount, Spent};
use crate::text::title;

use std::time::Duration;

/// Why a loop continues, waits or has ended, in a few words. `open` is the number of open tasks, `signal` the one that
/// stopped the loop.
pub fn verdict(
    verdict: &Verdict,
    state: &LoopState,
    open: Option<usize>,
    signal: Option<i32>,
) -> String {
    match verdict {
        Verdict::Continue(missing) => brief(missing, &open_count(open.unwrap_or(0) as u64)),
        Verdict::Wait(waiting) => waiting.iter().map(wait).collect::<Vec<_>>().join("; "),
        // The end has these words, so that the journal does not say them twice.
        Verdict::End(reason) => end(reason, state, signal),
    }
}

/// For a person who was not there; `signal` is the one that stopped the loop.
pub fn end(reason: &TerminalReason, state: &LoopState, signal: Option<i32>) -> String {
    let words = exit::words(reason, signal);
    match reason {
        TerminalReason::Completed if !state.ledger.against.is_empty() => doubt(&state.ledger),
        // The words begin with the use.
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

/// What broke an iteration off, and why the loop continues, waits or has ended after it.
pub fn causes(iteration: &Iteration) -> String {
    let Iteration { words, failure, .. } = iteration;
    let is_new = !failure.is_empty() && !words.contains(failure);
    let parts = [
        ("over its time limit", iteration.timed_out),
        (&failure.replace('\n', "; "), is_new),
        (words, !words.is_empty()),
    ];
    let parts = parts.into_iter().filter(|(_, is_so)| *is_so).map(|(words, _)| words);
    parts.collect::<Vec<_>>().join("; ")
}

/// The [`causes`]. Also names denied tools, ticks that were taken back,
/// the ref of unfinished work, and a handoff.
pub fn with_notes(iteration: &Iteration) -> String {
    let Iteration { denied, unproved, kept_as, .. } = iteration;
    let mut notes = vec![causes(iteration)];
    notes.extend((!denied.is_empty()).then(|| format!("denied: {}", some_denied(denied))));
    notes.extend((!unproved.is_empty()).then(|| format!("open again: {}", unproved.join("; "))));
    let kept = || format!("unfinished work is kept as {kept_as}");
    notes.extend((!kept_as.is_empty()).then(kept));
    notes.extend(iteration.handoff_asked.then(|| "a handoff was asked for".to_owned()));
    notes.join("; ")
}

/// The most tasks or denied tools in a line.
const NAMED: usize = 10;
/// The most letters of a denied tool with its purpose.
const LONGEST_DENIED: usize = 80;

/// At most ten ids.
pub fn some_of(ids: &[&str]) -> String {
    let more = if ids.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", ids[..ids.len().min(NAMED)].join(", "))
}

/// A person's remedies for denied tools, by the agent program's flags.
pub fn remedies(approval: Approval, accepts: Option<&Accepts>) -> String {
    if approval == Approval::All {
        return "--allow-all is set: look at --deny, and at the rules and hooks of the agent program's own settings"
            .to_owned();
    }
    let allow = accepts.and_then(|accepts| accepts.allow).map(|_| "--allow TOOL".to_owned());
    let modes = accepts.and_then(|accepts| accepts.mode).map(|(_, modes)| modes);
    // The first mode that permits something.
    let mode = modes.and_then(|modes| modes.iter().find(|mode| PERMITTING.contains(mode)));
    let mode = mode.map(|mode| format!("--permission-mode {mode}"));
    let some: Vec<String> = allow.into_iter().chain(mode).collect();
    if some.is_empty() {
        return "permit all of its tools with --allow-all".to_owned();
    }
    format!("permit them with {}, or all of its tools with --allow-all", some.join(" or "))
}

/// The modes that permit edits within the project.
const PERMITTING: [&str; 3] = ["acceptEdits", "workspace-write", "auto_edit"];

/// The denied tools of a run; empty for none.
pub fn denied(state: &LoopState) -> String {
    if state.denied_iterations == 0 {
        return String::new();
    }
    let times = counted(state.denied_iterations.into(), "iteration");
    let denied = in_short(&state.denied);
    format!("in {times}: {}", engine::some_denied(&denied, NAMED, MOST_DENIED_OF_RUN))
}

/// At most ten tools on one line, and how many more.
pub fn some_denied(denied: &[String]) -> String {
    engine::some_denied(&in_short(denied), NAMED, engine::MOST_DENIED)
}

/// The tools, each shortened for one line.
pub fn in_short(denied: &[String]) -> Vec<String> {
    denied.iter().map(|tool| title(tool, LONGEST_DENIED)).collect()
}

/// The cost of a run with its reviews, by the ledger.
pub fn whole_cost(state: &LoopState) -> Amount {
    let cost = state.spent().plus(state.spent_on_reviews()).cost;
    Amount { value: state.ledger.all_cost(), ..cost }
}

/// The agents' shares on one line; `None` for a single agent.
pub fn shares(agents: &[AgentShare]) -> Option<String> {
    let share = |agent: &AgentShare| {
        let model =
            if agent.model.is_empty() { String::new() } else { format!(" {}", agent.model) };
        let Spent { tokens, cost } = agent.spent();
        let runs = counted(agent.runs.into(), "run");
        let cost = cost.money().map_or_else(String::new, |cost| format!(", {cost}"));
        format!("{}{model}: {runs}, {} tokens{cost}", agent.harness, tokens.tokens())
    };
    (agents.len() > 1).then(|| agents.iter().map(share).collect::<Vec<_>>().join("; "))
}

/// How long this program stood still, which no limit counts.
pub fn stood_still(length: Duration) -> String {
    let (what, with) = if cfg!(windows) {
        ("the machine slept", "")
    } else {
        ("this program was stopped for", ", and its agent with it")
    };
    format!("ralph: {what} {}{with}; that time is not counted", lasted(length))
}

/// The figures of a run, in a few words each.
pub fn figures_of_run(
    state: &LoopState,
    took: Duration,
    commits: Option<u64>,
    files: usize,
) -> Vec<String> {
    let mut parts = vec![counted(state.current_iteration.into(), "iteration"), lasted(took)];
    let Spent { tokens, cost } = state.spent();
    parts.push(tokens.some_tokens());
    parts.extend(cost.money());
    let commits = commits.map_or("commits unknown".to_owned(), |count| counted(count, "commit"));
    parts.extend([commits, counted(files as u64, "file")]);
    let reviews = reviews(&state.ledger);
    parts.extend((!reviews.is_empty()).then(|| format!("reviews {reviews}")));
    parts
}

/// Time, tokens, commits, files and tasks of an iteration.
pub fn figures(iteration: &Iteration) -> String {
    let mut parts = vec![lasted(Duration::from_secs_f64(iteration.seconds.max(0.0)))];
    let Spent { tokens, cost } = iteration.spent();
    parts.extend((tokens.partial || tokens.value > 0).then(|| tokens.some_tokens()));
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
    let done = &iteration.tasks_ticked;
    parts.extend((!done.is_empty()).then(|| format!("done: {}", done.join(" "))));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::harness::harness;
    use crate::runner::options::HarnessChoice;

    #[test]
    fn person_reads_supported_flags() {
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
    fn agent_share_marks_estimates() {
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
