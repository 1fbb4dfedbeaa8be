//! A program in the place of Claude Code: it prints the stream that the real one was seen to print.

use crate::runner::support::{Bench, PROMISE};

/// What it answers when it is asked about itself.
const ANSWERS: &str = r#"--version) echo "2.1.332 (Claude Code)"; exit ;;
auth) echo '{"loggedIn": true}'; exit ;;"#;

/// The words of a script: `begin`, `calls TOOL`, `says TEXT`, `result TEXT`, `limit EPOCH`, each a part of
/// the stream as it was recorded; a result says what it cost where `$cost` is set, and one with the promise has changed a file unless `$reads` is set. A message comes in several lines, one a block, all with its figures.
const WORDS: &str = r#"
session=26befd30-6e9a-467e-bd49-b244c2fc0894
message=0
block() {
    printf '{"type":"assistant","message":{"id":"msg_%s_%s","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":null,"usage":{"input_tokens":100,"output_tokens":1,"cache_read_input_tokens":40,"cache_creation_input_tokens":20}},"parent_tool_use_id":null,"session_id":"%s"}\n' "$n" "$message" "$1" "$session"
}
begin() {
    printf '{"type":"system","subtype":"init","cwd":"/home/user/project","session_id":"%s","tools":["Bash"],"model":"claude-sonnet-4-5","permissionMode":"default","claude_code_version":"2.1.332"}\n' "$session"
}
calls() {
    block "{\"type\":\"tool_use\",\"id\":\"toolu_${n}_$message\",\"name\":\"$1\",\"input\":{\"command\":\"true\"}}"
    printf '{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%s_%s","type":"tool_result","content":"%s","is_error":false}]},"parent_tool_use_id":null,"session_id":"%s"}\n' "$n" "$message" "${2:-fine}" "$session"
    message=$((message + 1))
}
says() {
    block "{\"type\":\"text\",\"text\":\"$1\"}"
}
result() {
    case "$1" in *'<promise>COMPLETE</promise>'*) [ -n "${reads:-}" ] || [ -e made.txt ] || echo "$n" > made.txt ;; esac
    printf '{%s"duration_api_ms":116,"stop_reason":"end_turn","session_id":"%s","usage":{"input_tokens":200,"cache_creation_input_tokens":40,"cache_read_input_tokens":80,"output_tokens":100},"modelUsage":{"claude-sonnet-4-5":{"inputTokens":200,"outputTokens":100,"cacheReadInputTokens":80,"cacheCreationInputTokens":40}},"permission_denials":[],"is_error":false,"num_turns":2,"subtype":"success","api_error_status":null,"result":"%s","type":"result"}\n' "${cost:+\"total_cost_usd\":$cost,}" "$session" "$1"
}
limit() {
    words="You have hit your 5-hour limit"
    printf '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%s,"rateLimitType":"five_hour","isUsingOverage":false},"session_id":"%s"}\n' "$1" "$session"
    printf '{"type":"assistant","message":{"id":"limited","model":"<synthetic>","role":"assistant","type":"message","usage":{"input_tokens":0,"output_tokens":0},"content":[{"type":"text","text":"%s"}]},"parent_tool_use_id":null,"session_id":"%s","error":"rate_limit","is_api_error_message":true,"api_error_status":429,"api_error":"usage_limit_reached"}\n' "$words" "$session"
    printf '{"duration_api_ms":0,"session_id":"%s","usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"modelUsage":{},"permission_denials":[],"terminal_reason":"api_error","is_error":true,"num_turns":1,"subtype":"success","api_error_status":429,"api_error_type":"rate_limit_error","api_error":"usage_limit_reached","result":"%s","type":"result"}\n' "$session" "$words"
    exit 1
}
begin
"#;

/// Tokens of one [`result`](WORDS), all four kinds together.
pub const TOKENS: u64 = 420;

impl Bench {
    /// Puts a `claude` on the search path that does what the script says.
    pub fn claude(&self, script: &str) -> &Self {
        self.named_agent("claude", ANSWERS, &format!("{WORDS}{script}"))
    }

    /// Puts a program on the search path that prints what the real one of this name was seen to print,
    /// with the promise as its last words.
    pub fn recorded(&self, name: &str, version: &str) -> &Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/streams");
        let answers = format!(
            "--version) echo '{version}'; exit ;;\n\
             auth) echo '{{\"loggedIn\": true}}'; exit ;;\n\
             login) echo 'Logged in using an API key'; exit ;;"
        );
        let script = format!(
            "echo $n > made.txt\nsed 's|All done: wrote proof.txt.|{PROMISE}|g' '{folder}/{name}.jsonl'"
        );
        self.named_agent(name, &answers, &script)
    }

    /// The arguments of a run of a named agent, from 1.
    pub fn arguments(&self, run: u32) -> Vec<String> {
        self.desk(&format!("arguments-{run}")).lines().map(str::to_owned).collect()
    }
}
