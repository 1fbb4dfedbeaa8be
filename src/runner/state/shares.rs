//! Each agent's share, in the journal's entry of a loop's end.

use serde_json::Value;

use super::loop_state::AgentShare;
use crate::store::journal::Entry;

const FIELD: &str = "agents";

pub fn with_shares(mut entry: Entry, agents: &[AgentShare]) -> Entry {
    let shares: Vec<Value> = agents.iter().flat_map(serde_json::to_value).collect();
    if !shares.is_empty() {
        entry.more.insert(FIELD.to_owned(), Value::Array(shares));
    }
    entry
}

/// Each agent's share by an entry; empty if the entry does not say.
pub fn shares_in(entry: &Entry) -> Vec<AgentShare> {
    let shares = entry.more.get(FIELD).cloned();
    shares.and_then(|shares| serde_json::from_value(shares).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_shares_read_again() {
        let share = |harness: &str| AgentShare {
            harness: harness.to_owned(),
            runs: 3,
            tokens: 5,
            ..AgentShare::default()
        };
        let agents = [share("claude"), share("codex")];
        let entry = with_shares(Entry::default(), &agents);
        let line = serde_json::to_string(&entry).unwrap();
        assert_eq!(shares_in(&serde_json::from_str(&line).unwrap()), agents);
        assert_eq!(with_shares(Entry::default(), &[]), Entry::default());
        let mut other = Entry::default();
        other.more.insert(FIELD.to_owned(), "all".into());
        assert!(shares_in(&other).is_empty());
    }
}
