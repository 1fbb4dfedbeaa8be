//! For an agent that asks for the same again: each time the text says more clearly what to do instead.

use crate::engine::{Guardrails, Ledger, Shortfall};

#[derive(Clone, Copy, Debug)]
pub struct Insistence<'a> {
    /// What to do instead of ending the turn, in whole sentences.
    pub instead: &'a str,
    /// Said of an unchanged list; empty without a list.
    pub same_list: &'a str,
}

impl Insistence<'_> {
    /// A line for an agent that has not moved since it was sent back; empty for any other.
    pub fn line(self, ledger: &Ledger, rails: &Guardrails, missing: &[Shortfall]) -> String {
        let Self { instead, same_list } = self;
        let (idle, still) = (ledger.idle_stops, ledger.unchanged);
        let is_last = |so_far: u32, limit: u32| so_far > 0 && so_far.saturating_add(1) >= limit;
        // The first time, the agent had not been sent back yet.
        let again = ledger.continued > 1;
        if is_last(idle, rails.max_idle_stops) {
            return format!(
                "Last warning: {idle} stops in a row without a tool call. One more ends the loop (no_progress). {instead}\n"
            );
        }
        if is_last(still, rails.max_unchanged) {
            return format!(
                "Last warning: {still} iterations in a row got no further. One more that changes no file and commits nothing ends the loop (no_progress). {instead}\n"
            );
        }
        if again && idle > 0 {
            return format!("You were sent back and did nothing. {instead}\n");
        }
        let failed = missing.iter().any(|shortfall| matches!(shortfall, Shortfall::CheckFailed(_)));
        if ledger.same_failure == 2 && failed {
            return "The check fails as it did before: look for another cause.\n".to_owned();
        }
        if ledger.refused_claims > 1 && missing.iter().any(is_refused_claim) {
            let times = ledger.refused_claims;
            return format!("That claim was refused {times} times: words do not end the loop.\n");
        }
        let is_same = again && ledger.settled && !same_list.is_empty();
        if is_same { format!("{same_list}\n") } else { String::new() }
    }
}

fn is_refused_claim(shortfall: &Shortfall) -> bool {
    matches!(
        shortfall,
        Shortfall::ClaimedWithOpenTasks | Shortfall::PromiseNotMade | Shortfall::NoWork { .. }
    )
}
