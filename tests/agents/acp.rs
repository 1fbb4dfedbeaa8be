//! Real programs over the Agent Client Protocol: whole loops, what is refused, and a turn that is cancelled.

use crate::agent::Agent;
use crate::ralph::{ENDLESS, PROMISE, assert_nothing_is_left, stopped};
use crate::stage::Stage;
use scripted_model::{Asked, Reply, Usage};
use serde_json::{Value, json};

/// Makes one test of each function for each program. Before the function stands when opencode plays it; the others play by night.
macro_rules! on_every_speaker {
    ($($opencode:ident $test:ident)*) => {
        mod opencode { $(crate::tier::play! { $opencode $test crate::agent::Agent::Opencode.play(super::$test) })* }
        mod copilot { $(crate::tier::play! { night $test crate::agent::Agent::Copilot.play(super::$test) })* }
        mod gemini { $(crate::tier::play! { night $test crate::agent::Agent::Gemini.play(super::$test) })* }
    };
}

on_every_speaker! {
    night five_iterations_edit_and_commit
    night refused_tool_is_named
    night interrupt_cancels_turn_and_tools
}

fn usage() -> Usage {
    Usage { input: 1000, cache_read: 300, cache_write: 0, output: 20, thinking: 7 }
}

fn is_first(asked: &Asked) -> bool {
    asked.tool_results().is_empty()
}

fn iterations(state: &Value) -> &[Value] {
    state["iterations"].as_array().map_or(&[], Vec::as_slice)
}

fn five_iterations_edit_and_commit(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        let mut begun = 0;
        move |asked: &Asked| {
            if is_first(asked) {
                begun += 1;
                let file = scene.project.join(format!("trace-{begun}.txt"));
                return agent.writes(&file, &format!("iteration {begun}")).usage(usage());
            }
            let words = if begun == 5 { PROMISE } else { "One more trace is there." };
            Reply::text(words).usage(usage())
        }
    });
    agent.trust(&stage.home(), &stage.root);
    let flags = ["--allow-all", "--commit", "--max-iterations", "8"];
    let (_, facts) = stage.ended(stage.speaks(&flags), 0);
    let books = stage.state();
    assert_eq!(books["status"], "done", "{facts}");
    assert_eq!(books["harness"], "acp", "{facts}");
    let done = iterations(&books);
    assert_eq!(done.len(), 5, "{facts}");
    for (at, iteration) in (1..).zip(done) {
        let text = stage.read(&format!("trace-{at}.txt"));
        assert_eq!(text.trim_end(), format!("iteration {at}"), "{facts}");
        assert_eq!(iteration["tool_calls"], 1, "{facts}");
        assert_eq!(iteration["files_changed"], 1, "{facts}");
        assert_eq!(iteration["tokens_estimated"] == true, agent != Agent::Copilot, "{facts}");
    }
    let (main, side) = stage.model.usage();
    let all = main + side;
    let known = match agent {
        // It counts only the last reply of each turn, which is half of all, and not what it asks for a title.
        Agent::Opencode => main.total() / 2,
        // It leaves out what was thought.
        Agent::Gemini => all.total() - all.thinking,
        _ => all.total(),
    };
    assert_eq!(books["total_tokens"], known, "{facts}");
    let log = stage.git(&["log", "--oneline", "--", "trace-*.txt"]);
    assert_eq!(log.lines().count(), 5, "{log}\n{facts}");
    assert_nothing_is_left(&stage);
}

fn refused_tool_is_named(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        move |asked: &Asked| {
            let reply = if !is_first(asked) {
                Reply::text(PROMISE)
            } else if scene.iterations_ended() > 0 {
                // Nothing is behind a promise without a changed file.
                std::fs::write(scene.project.join("seen.txt"), "seen").expect("a file");
                agent.reads(&scene.project.join("README.md"))
            } else {
                agent.shell("echo no > denied.txt")
            };
            reply.usage(usage())
        }
    });
    agent.trust(&stage.home(), &stage.root);
    if agent == Agent::Opencode {
        // By itself it asks only for what is outside of the project.
        stage.write("opencode.json", json!({"permission": {"bash": "ask"}}).to_string());
    }
    let (code, _) = stage.speaks(&[]).end();
    let facts = stage.facts();
    assert!(!stage.path("denied.txt").exists(), "{facts}");
    assert_eq!(code, Some(0), "{facts}");
    let books = stage.state();
    let done = iterations(&books);
    assert_eq!(done.len(), 2, "{facts}");
    let denied = done[0]["denied"].to_string();
    assert!(denied.contains("execute: "), "{denied}\n{facts}");
    assert_nothing_is_left(&stage);
}

fn interrupt_cancels_turn_and_tools(agent: Agent) {
    let stage = Stage::new(agent, |_| move |_: &Asked| agent.shell(ENDLESS).usage(usage()));
    agent.trust(&stage.home(), &stage.root);
    let mut run = stage.speaks(&["--allow-all"]);
    run.wait_until(|_| stage.path("begun").exists());
    let (books, facts) = stopped(run, &stage);
    assert_eq!(iterations(&books).len(), 1, "{facts}");
}
