//! What each program tells of runs that are cut, of sessions that are gone, and of errors that no retry fixes.

use crate::agent::{Agent, on_every_agent};
use crate::ralph::{ENDLESS, PROMISE, assert_nothing_is_left, usage};
use crate::stage::{Scene, Stage};
use rustix::process::Signal;
use scripted_model::{Asked, Reply};
use serde_json::{Value, json};
use std::fs;

on_every_agent! {
    night night night d7_cut_iterations_count_own_sessions
    night night night d4_fresh_session_follows_a_lost_one
    night night night d5_missing_model_ends_at_once
    night night night d5_missing_credit_ends_at_once
}

fn d7_cut_iterations_count_own_sessions(agent: Agent) {
    let stage = Stage::new(agent, |_| {
        move |asked: &Asked| {
            let command =
                if asked.tool_results().is_empty() { "echo 1 > one.txt" } else { ENDLESS };
            agent.shell(command).usage(usage(asked))
        }
    });
    let mut run = stage.ralph(&["--allow-all"]);
    run.wait_until(|_| stage.path("begun").exists());
    run.signal(Signal::INT);
    run.end();
    assert_nothing_is_left(&stage);
    let facts = stage.facts();
    let (main, side) = stage.model.usage();
    let entry = &stage.state()["iterations"][0];
    if agent == Agent::Opencode {
        // A step tells what it used when its tool is done: the second one never was.
        assert_eq!(entry["tokens_used"], usage_of(1), "{facts}");
        assert_eq!(entry["tokens_estimated"], true, "{facts}");
        return;
    }
    assert_eq!(entry["tokens_used"], (main + side).total(), "{facts}");
    assert_ne!(entry["tokens_estimated"], true, "{facts}");
}

/// What the request of this number used, in all.
fn usage_of(number: u64) -> u64 {
    1000 * number + 300 + number + 27
}

fn d4_fresh_session_follows_a_lost_one(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        let mut begun = 0;
        move |asked: &Asked| {
            if asked.tool_results().is_empty() {
                begun += 1;
                return agent.shell(&format!("echo {begun} >> traces.txt"));
            }
            // The end of the run follows at once: the sessions go when it is over.
            if begun == 1 { Reply::text("More is to be done.") } else { promise(&scene) }
        }
    });
    let forget = stage.home().join("forget.sh");
    let folders = ".claude/projects .codex/sessions .local/share/opencode .gemini/tmp .copilot/session-state .copilot/session-store.db";
    let text = format!("#!/bin/sh\ncd '{}' && rm -rf {folders}\n", stage.home().display());
    fs::write(&forget, text).expect("a script");
    // A check runs between two iterations only where all seems done: `wt-usage` is asked before and after each.
    stage.program("wt-usage", &format!("#!/bin/sh\nsh '{}'\necho 0\n", forget.display()));
    let (printed, facts) = stage.ended(stage.ralph(&["--allow-all", "--continue-session"]), 0);
    assert_eq!(printed.matches("the session to continue is gone").count(), 1, "{facts}");
    assert_eq!(stage.state()["iterations"].as_array().map(Vec::len), Some(2), "{facts}");
    assert_eq!(stage.read("traces.txt"), "1\n2\n", "{facts}");
    assert_nothing_is_left(&stage);
}

fn promise(_scene: &Scene) -> Reply {
    Reply::text(PROMISE)
}

fn d5_missing_model_ends_at_once(agent: Agent) {
    ends_at_once(agent, || {
        Reply::error(404, "model_not_found", "The model `scripted` does not exist.")
            .detail("code", json!("model_not_found"))
    });
}

fn d5_missing_credit_ends_at_once(agent: Agent) {
    ends_at_once(
        agent,
        match agent {
            Agent::Claude | Agent::OldClaude => {
                || Reply::error(400, "invalid_request_error", "Your credit balance is too low.")
            }
            _ => || {
                Reply::error(429, "insufficient_quota", "You exceeded your current quota.")
                    .detail("code", json!("insufficient_quota"))
                    .header("retry-after-ms", "1")
            },
        },
    );
}

fn ends_at_once(agent: Agent, error: fn() -> Reply) {
    let stage = Stage::new(agent, |_| move |_: &Asked| error());
    let (_, facts) = stage.ended(stage.ralph(&["--allow-all"]), 9);
    let books = stage.state();
    assert_eq!(books["reason"], "harness_failed", "{facts}");
    assert_eq!(books["iterations"].as_array().map(Vec::len), Some(1), "{facts}");
    assert_nothing_is_left(&stage);
}

#[test]
#[ignore = "nightly"]
fn d7_opencode_sub_agents_are_counted() {
    Agent::Opencode.play(|agent| {
        let stage = Stage::new(agent, |scene| {
            move |asked: &Asked| {
                if asked.last_text().contains("LOOK AFTER IT") {
                    return Reply::text("I have looked.").usage(usage(asked));
                }
                // Nothing is behind a promise without a changed file.
                std::fs::write(scene.project.join("seen.txt"), "seen").expect("a file");
                if asked.tool_results().is_empty() {
                    let task = json!({"description": "look", "prompt": "LOOK AFTER IT", "subagent_type": "general"});
                    return Reply::tool("task", task).usage(usage(asked));
                }
                Reply::text(PROMISE).usage(usage(asked))
            }
        });
        let (_, facts) = stage.ended(stage.ralph(&["--allow-all"]), 0);
        let (main, side) = stage.model.usage();
        assert_eq!(stage.model.requests().len(), 3, "{facts}");
        assert_eq!(stage.state()["total_tokens"], (main + side).total(), "{facts}");
    });
}

#[test]
#[ignore = "nightly"]
fn d6_opencode_rule_denials_are_named() {
    Agent::Opencode.play(|agent| {
        let stage = Stage::new(agent, |_| {
            move |asked: &Asked| {
                if asked.tool_results().is_empty() {
                    return agent.shell("echo no > denied.txt").usage(usage(asked));
                }
                Reply::text("It was denied.").usage(usage(asked))
            }
        });
        let path = stage.home().join(".config/opencode/opencode.json");
        let text = fs::read_to_string(&path).expect("its settings");
        let mut settings: Value = serde_json::from_str(&text).expect("its settings");
        settings["permission"] = json!({"bash": "deny"});
        fs::write(&path, settings.to_string()).expect("its settings");
        let (printed, facts) =
            stage.ended(stage.ralph(&["--allow-all", "--max-iterations", "1"]), 3);
        assert!(printed.contains("Tools were denied in 1 iteration: bash"), "{facts}");
        assert_eq!(stage.state()["iterations"][0]["denied"][0], "bash", "{facts}");
    });
}
