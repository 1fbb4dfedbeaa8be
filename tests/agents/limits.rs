//! Usage limits that a service tells in a form of its own: the loop waits until they are lifted, and counts nothing.

use crate::agent::Agent;
use crate::ralph::{assert_nothing_is_left, stopped};
use crate::stage::Stage;
use ralph_speckit::world;
use rustix::process::Signal;
use scripted_model::{Asked, Reply};
use serde_json::json;

#[test]
#[ignore = "nightly"]
fn claude_continues_after_its_limit() {
    Agent::Claude.play(|agent| {
        let stage = subscription(Stage::new(agent, |scene| {
            move |asked: &Asked| {
                if asked.number == 1 {
                    return limit_of_claude(seconds() + 2);
                }
                if asked.tool_results().is_empty() {
                    return agent.writes(&scene.project.join("proof.txt"), "written");
                }
                Reply::text("<promise>COMPLETE</promise>")
            }
        }));
        let (printed, facts) = stage.ended(stage.ralph(&["--allow-all", "--max-limit-wait=0"]), 0);
        assert!(printed.contains("waiting for the usage limit"), "{facts}");
        assert_eq!(stage.read("proof.txt").trim_end(), "written", "{facts}");
        assert_eq!(stage.state()["ledger"]["iterations"], 1, "{facts}");
    });
}

#[test]
#[ignore = "nightly"]
fn claude_tells_its_limit_to_seconds() {
    Agent::Claude.play(|agent| {
        let lifted = seconds() + 3600;
        let stage = subscription(Stage::new(agent, |_| move |_: &Asked| limit_of_claude(lifted)));
        assert_waits(&stage, lifted, 30);
    });
}

#[test]
fn codex_tells_its_limit_to_minutes() {
    Agent::Codex.play(|agent| {
        let lifted = seconds() + 7200;
        let stage = Stage::new(agent, |_| {
            move |_: &Asked| {
                Reply::error(429, "usage_limit_reached", "The usage limit has been reached")
                    .detail("plan_type", json!("plus"))
                    .detail("resets_at", json!(lifted))
            }
        });
        assert_waits(&stage, lifted, 90);
    });
}

#[test]
#[ignore = "nightly"]
fn gemini_daily_quota_is_awaited() {
    Agent::Gemini.play(|agent| {
        waited_for(agent, || {
            let quota = json!({
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
            });
            Reply::error(429, "quota", "You exceeded your current quota.")
                .detail("details", json!([quota]))
        });
    });
}

/// A limit of which nobody says when it is lifted: the loop waits, counts nothing, and ends when it is interrupted.
pub fn waited_for(agent: Agent, limit: fn() -> Reply) {
    let stage = Stage::new(agent, |_| move |_: &Asked| limit());
    let mut run = stage.ralph(&["--allow-all", "--max-limit-wait=0"]);
    run.wait_until(|printed| printed.contains("waiting for the usage limit"));
    let (books, facts) = stopped(run, &stage);
    assert_eq!(books["ledger"]["iterations"], 0, "{facts}");
}

/// The loop waits until the limit is lifted and at most so many seconds longer, in which a busy machine has time to look at its
/// clock; it says so, and ends when it is interrupted.
fn assert_waits(stage: &Stage, lifted: u64, longer: u64) {
    let mut run = stage.ralph(&["--allow-all", "--max-limit-wait=0"]);
    run.wait_until(|printed| printed.contains("waiting for the usage limit"));
    run.wait_until(|_| stage.state()["waits_until"] != 0);
    let until = stage.state()["waits_until"].as_u64().expect("a time");
    run.signal(Signal::INT);
    let (code, _) = run.end();
    let facts = stage.facts();
    assert!((lifted..=lifted + longer).contains(&until), "{lifted} {until}: {facts}");
    assert_eq!(code, Some(130), "{facts}");
    assert_eq!(stage.state()["ledger"]["iterations"], 0, "{facts}");
    assert_eq!(stage.model.main_requests().len(), 1, "{facts}");
    assert_nothing_is_left(stage);
}

/// Claude Code with a subscription in place of a key: only then does the service tell when a limit is lifted.
pub fn subscription(stage: Stage) -> Stage {
    stage.with("CLAUDE_CODE_OAUTH_TOKEN", "scratch-token", "ANTHROPIC_API_KEY")
}

pub fn limit_of_claude(lifted: u64) -> Reply {
    Reply::error(429, "rate_limit_error", "This request would exceed your account's rate limit.")
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", &lifted.to_string())
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
}

pub fn seconds() -> u64 {
    world::now().millis() / 1000
}
