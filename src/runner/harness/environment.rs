//! Variables that an agent program must not see.

use crate::world;

/// Variables that a running agent program sets. An agent that sees its own variable believes that it runs inside
/// itself: it refuses to start, or joins a foreign session.
///
/// Seen in the environment of commands under Claude Code (2.1.143 and 2.1.330), Codex, opencode, Gemini CLI and Copilot
/// CLI. A person's settings and credentials are not among them.
const MARKS: &str = "\
    CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SSE_PORT \
    CLAUDE_CODE_EXECPATH CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_CHILD_NOTES_DIR \
    CLAUDE_CODE_MESSAGING_SOCKET CLAUDE_CODE_MESSAGING_TOKEN CLAUDE_CODE_SESSION_ATTENDED \
    CLAUDE_EFFORT CLAUDE_PID CLAUDE_PROJECT_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA AI_AGENT \
    OPENCODE OPENCODE_PID CODEX_CI CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED \
    CODEX_SESSION_ID CODEX_THREAD_ID CODEX_TOOL_CALL_ID CODEX_VERSION GEMINI_CLI \
    COPILOT_AGENT_SESSION_ID COPILOT_CLI COPILOT_CLI_BINARY_VERSION \
    COPILOT_CLI_RESOLVED_DIST_DIR COPILOT_LOADER_PID";

/// The prefix of our own variables, which steer our programs only.
const OURS: &str = "RALPH_";

pub fn scrubbed() -> Vec<String> {
    scrubbed_of(world::names_of_variables())
}

fn scrubbed_of(names: Vec<String>) -> Vec<String> {
    let ours = names.into_iter().filter(|name| name.starts_with(OURS));
    MARKS.split(' ').map(str::to_owned).chain(ours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_marks_go() {
        let names = [
            "RALPH_SUPERVISOR",
            "RALPH_CLIENTS",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_MAX_RETRIES",
            "CODEX_HOME",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENCODE_CONFIG",
            "GITHUB_TOKEN",
            "COPILOT_PROVIDER_API_KEY",
            "PATH",
            "HOME",
        ];
        let scrubbed = scrubbed_of(names.map(String::from).to_vec());
        for mark in [
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_SSE_PORT",
            "RALPH_SUPERVISOR",
            "RALPH_CLIENTS",
        ] {
            assert!(scrubbed.iter().any(|name| name == mark), "{mark} stays");
        }
        for own in &names[2..] {
            assert!(!scrubbed.iter().any(|name| name == own), "{own} goes");
        }
    }
}
