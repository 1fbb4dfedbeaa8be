//! A short night of the real Claude Code: all that goes wrong in one, and every token that the model counted. The long one, with
//! a scripted agent, is in tests/night.

use crate::agent::Agent;
use crate::ralph::{PROMISE, assert_nothing_is_left};
use crate::stage::Stage;
use ralph_speckit::world;
use rustix::process::Signal;
use scripted_model::{Asked, Reply, Usage};
use serde_json::Value;

/// A command that never ends by itself.
const ENDLESS: &str = "sh endless.sh";

/// What the model does in an iteration.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    /// Has a file written, and says so.
    Works,
    /// Fails with this status, each time that it is asked.
    Fails(u16),
    /// Wants what nobody has permitted.
    WantsTooMuch,
    /// Is at the limit of the subscription, for two seconds.
    IsLimited,
    /// Calls a tool that never comes back.
    Hangs,
}

/// The iterations; in the second one that hangs the runner is killed.
const TURNS: [Turn; 10] = [
    Turn::Works,
    Turn::Fails(529),
    Turn::Works,
    Turn::WantsTooMuch,
    Turn::Fails(500),
    Turn::IsLimited,
    Turn::Hangs,
    Turn::Fails(429),
    Turn::Hangs,
    Turn::Works,
];

fn usage(asked: &Asked) -> Usage {
    let number = asked.number as u64;
    Usage { input: 1000 + number, cache_read: 300, cache_write: 40, output: 20, thinking: 0 }
}

/// Which turn a request belongs to: each begins with a fresh session, and a request that failed is made once more.
#[derive(Default)]
struct Place {
    turn: Option<usize>,
    asked: u32,
}

impl Place {
    fn of(&mut self, asked: &Asked) -> usize {
        let is_again =
            self.turn.is_some_and(|turn| matches!(TURNS[turn], Turn::Fails(_)) && self.asked < 2);
        if asked.tool_results().is_empty() && !is_again {
            self.turn = Some(self.turn.map_or(0, |turn| turn + 1));
            self.asked = 0;
        }
        self.asked += 1;
        self.turn.unwrap()
    }
}

#[test]
#[ignore = "nightly"]
fn short_claude_night_counts_all_tokens() {
    Agent::Claude.play(|agent| {
        let stage = Stage::new(agent, |scene| {
            let mut place = Place::default();
            move |asked: &Asked| {
                let turn = place.of(asked);
                let reply = match (TURNS[turn], asked.tool_results().is_empty()) {
                    (Turn::Fails(status), _) => {
                        return Reply::error(status, "overloaded_error", "Overloaded");
                    }
                    (Turn::IsLimited, _) => return limit(),
                    (Turn::Works, true) => {
                        let file = scene.project.join(format!("trace-{turn}.txt"));
                        agent.writes(&file, &format!("turn {turn}"))
                    }
                    (Turn::WantsTooMuch, true) => agent.shell("curl https://example.org"),
                    (Turn::Hangs, true) => agent.shell(ENDLESS),
                    (_, false) if turn + 1 == TURNS.len() => Reply::text(PROMISE),
                    (_, false) => Reply::text("There is more to do."),
                };
                reply.usage(usage(asked))
            }
        });
        let stage = stage.with("CLAUDE_CODE_OAUTH_TOKEN", "scratch-token", "ANTHROPIC_API_KEY");
        stage.write("endless.sh", "exec tail -f /dev/null\n");
        stage.commit("a program that hangs");
        let flags = [
            "--permission-mode",
            "acceptEdits",
            "--allow",
            "Bash(sh endless.sh)",
            "--commit",
            "--json",
            "--idle-timeout",
            "15s",
            "--max-limit-wait=0",
            "--retry-pause",
            "10ms",
            "--grace",
            "2s",
        ];
        let mut run = stage.ralph(&flags);
        let hangs = TURNS.iter().filter(|turn| **turn == Turn::Hangs).count();
        // As the event of the call has it: the end of the iteration names the tool, too.
        let called = format!("\"words\":\"Bash: {ENDLESS}\"");
        run.wait_until(|printed| printed.matches(&called).count() == hangs);
        run.signal(Signal::KILL);
        run.end();
        let (printed, facts) = stage.ended(stage.ralph(&flags), 0);
        assert_nothing_is_left(&stage);
        let (main, side) = stage.model.usage();
        let end: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        assert_eq!(end["event"], "end", "{facts}");
        assert_eq!(end["tokens"], (main + side).total(), "{facts}");
        assert_eq!(end["iterations"], TURNS.len() - 1, "{facts}");
        assert_eq!(end["commits"], 3, "{facts}");
        assert_eq!(
            end["denied_tools"],
            serde_json::json!(["Bash: curl https://example.org"]),
            "{facts}"
        );
        for turn in [0, 2, 9] {
            let text = stage.read(&format!("trace-{turn}.txt"));
            assert_eq!(text.trim_end(), format!("turn {turn}"), "{facts}");
        }
    });
}

fn limit() -> Reply {
    let lifted = world::now().millis() / 1000 + 2;
    Reply::error(429, "rate_limit_error", "This request would exceed your account's rate limit.")
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", &lifted.to_string())
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
}
