//! The version of Claude Code that runs a turn, from its hook's environment.

use crate::world;

/// The program that a process works for: `claude-code_2-1-330_harness` in a hook of Claude Code, `_agent` at the end in
/// commands of its agent. Since 2.1.120, each version overwrites another Claude Code's name.
const AGENT: &str = "AI_AGENT";
/// The hook's session. Exactly the versions that continue a turn with more context set this.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// The first version that continues a turn when a Stop hook adds context.
const TAKES_CONTEXT: u64 = number([2, 1, 163]);

/// Whether the client that started a hook for this session continues a turn with more context. An inherited environment
/// names another session, or an agent: then the client is unknown.
pub fn takes_context(session: &str) -> Option<bool> {
    let version = world::variable(AGENT).and_then(|agent| version_in(&agent))?;
    let is_its_own = || world::variable(SESSION).is_some_and(|named| named == session);
    (version < TAKES_CONTEXT || is_its_own()).then_some(version >= TAKES_CONTEXT)
}

fn version_in(agent: &str) -> Option<u64> {
    let mut parts = agent.strip_prefix("claude-code_")?.strip_suffix("_harness")?.split('-');
    let mut next = || parts.next()?.parse::<u16>().ok();
    let version = [next()?, next()?, next()?];
    // Nobody has tried a release with four parts.
    parts.next().is_none().then(|| number(version))
}

/// Larger for newer versions.
const fn number([major, minor, patch]: [u16; 3]) -> u64 {
    (major as u64) << 32 | (minor as u64) << 16 | patch as u64
}

#[cfg(test)]
mod tests {
    use super::{TAKES_CONTEXT, number, version_in};

    #[test]
    fn only_release_names_are_versions() {
        assert_eq!(version_in("claude-code_2-1-332_harness"), Some(number([2, 1, 332])));
        assert_eq!(version_in("claude-code_2-1-143_harness"), Some(number([2, 1, 143])));
        for other in [
            "",
            "goose",
            "claude-code_2-1-332_agent",
            "claude-code_2-1_harness",
            "claude-code_2-1-332-beta_harness",
            "claude-code_2-1-99999_harness",
            "claude-code_2-1-x_harness",
            "claude-code_+2-1-332-_harness",
            "claude-code/2.1.332",
        ] {
            assert_eq!(version_in(other), None, "{other}");
        }
    }

    #[test]
    fn newer_version_is_larger() {
        let numbers = [[2, 1, 143], [2, 1, 162], [2, 1, 163], [2, 1, 332], [2, 2, 0], [3, 0, 0]];
        assert!(numbers.map(number).is_sorted());
        assert_eq!(number([2, 1, 163]), TAKES_CONTEXT);
    }
}
