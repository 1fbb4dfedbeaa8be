//! Who continues where the real Claude Code is overloaded or at its usage limit, and what each of them used and cost.

use crate::agent::Agent;
use crate::limits::{limit_of_claude, seconds, subscription};
use crate::ralph::{PROMISE, assert_nothing_is_left};
use crate::stage::{Scene, Stage};
use scripted_model::{Asked, Reply, Usage};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The model that continues, and the beginning of its name and of that of the first choice.
const SMALL: &str = "claude-haiku-4-5";
const MAIN: &str = "claude-sonnet";
/// What they cost by the list of their maker, as Claude Code knows it: dollars for a million tokens sent, received, read from a
/// cache; and what `--prices` says of Codex.
const PRICE_OF_SMALL: [f64; 3] = [1.0, 5.0, 0.1];
const PRICE_OF_MAIN: [f64; 3] = [3.0, 15.0, 0.3];
const PRICE_OF_CODEX: [f64; 3] = [2.0, 10.0, 0.2];

fn model(asked: &Asked) -> String {
    asked.body["model"].as_str().unwrap_or_default().to_owned()
}

/// What the model has answered, and to whom.
#[derive(Clone, Default)]
struct Books {
    answers: Arc<Mutex<Vec<(String, Usage)>>>,
}

impl Books {
    /// A whole iteration of an agent: this call of a tool, then these words.
    fn works(&self, call: Reply, words: &str, asked: &Asked) -> Reply {
        let is_first = asked.tool_results().is_empty();
        self.says(if is_first { call } else { Reply::text(words) }, asked)
    }

    /// A reply, with what it used.
    fn says(&self, reply: Reply, asked: &Asked) -> Reply {
        let number = asked.number as u64;
        let usage = Usage {
            input: 1000 + number,
            cache_read: 300,
            cache_write: 0,
            output: 20,
            thinking: 7,
        };
        self.answers.lock().unwrap().push((model(asked), usage));
        reply.usage(usage)
    }

    /// Fails unless the share of an agent is what was answered to models whose names begin like this, at these prices.
    fn assert_share(&self, share: &Value, beginning: &str, prices: [f64; 3], facts: &str) {
        let answers = self.answers.lock().unwrap();
        let its = answers.iter().filter(|(model, _)| model.starts_with(beginning));
        let used = its.fold(Usage::default(), |sum, (_, usage)| sum + *usage);
        assert_eq!(share["tokens"], used.total(), "{share}: {facts}");
        let [sent, received, cached] = prices;
        let (input, output) = (used.input as f64, (used.output + used.thinking) as f64);
        let dollars = (sent * input + received * output + cached * used.cache_read as f64) / 1e6;
        let cost = share["cost_usd"].as_f64().unwrap_or_default();
        assert!((cost - dollars).abs() < 2e-6, "{cost} instead of {dollars}: {facts}");
    }
}

/// Fails unless all that the state sums up is all that the model has counted, and the shares of the agents are all of it.
fn assert_sums(stage: &Stage, shares: &[Value]) {
    let (main, side) = stage.model.usage();
    let books = stage.state();
    assert_eq!(books["total_tokens"], (main + side).total(), "{}", stage.facts());
    let of_all =
        |name: &str| -> f64 { shares.iter().filter_map(|share| share[name].as_f64()).sum() };
    assert_eq!(books["total_tokens"].as_f64(), Some(of_all("tokens")), "{}", stage.facts());
    let cost = books["total_cost_usd"].as_f64().unwrap_or_default();
    assert!((cost - of_all("cost_usd")).abs() < 1e-9, "{cost}: {}", stage.facts());
}

#[test]
#[ignore = "nightly"]
fn fallback_continues_after_three_busy_iterations() {
    Agent::Claude.play(|agent| {
        let books = Books::default();
        let own = books.clone();
        let stage = Stage::new(agent, |scene: Scene| {
            move |asked: &Asked| {
                if model(asked) == SMALL {
                    return own.works(agent.shell("echo small > small.txt"), PROMISE, asked);
                }
                let status = [529, 503, 529][scene.iterations_ended().min(2)];
                Reply::error(status, "overloaded_error", "Overloaded")
            }
        });
        let flags = ["--allow-all", "--fallback-model", SMALL, "--retry-pause", "10ms"];
        let (printed, facts) = stage.ended(stage.ralph(&flags), 0);
        let words = "claude claude-haiku-4-5 continues: claude claude-sonnet-4-5 is overloaded";
        assert_eq!(printed.matches(words).count(), 1, "{facts}");
        assert_eq!(stage.read("small.txt"), "small\n", "{facts}");
        let shares = stage.state()["agents"].as_array().cloned().unwrap_or_default();
        let runs: Vec<_> = shares.iter().map(|share| (&share["model"], &share["runs"])).collect();
        let (main, small) = (json!(agent.model()), json!(SMALL));
        assert_eq!(runs, [(&main, &json!(3)), (&small, &json!(1))], "{facts}");
        assert_eq!(shares[0]["tokens"], 0, "{facts}");
        books.assert_share(&shares[1], SMALL, PRICE_OF_SMALL, &facts);
        assert_sums(&stage, &shares);
        assert_nothing_is_left(&stage);
    });
}

#[test]
#[ignore = "nightly"]
fn usage_limit_falls_back_then_returns() {
    both(|| {
        let books = Books::default();
        let own = books.clone();
        let (mut lifted, mut small_was_asked) = (None, false);
        let mut stage = Stage::new(Agent::Claude, |_| {
            move |asked: &Asked| {
                let name = model(asked);
                let lifted = *lifted.get_or_insert_with(|| seconds() + 30);
                if name == SMALL {
                    small_was_asked = true;
                    return limit_of_claude(seconds() + 3600);
                }
                if !name.starts_with(MAIN) {
                    // At work until the first choice is tried again, five seconds after its limit.
                    let reply = if asked.tool_results().is_empty() {
                        Agent::Codex.shell("echo codex > codex.txt")
                    } else if seconds() < lifted + 6 {
                        Agent::Codex.shell("sleep 1")
                    } else {
                        Reply::text("There is more to do.")
                    };
                    return own.says(reply, asked);
                }
                if !small_was_asked {
                    return limit_of_claude(lifted);
                }
                own.works(Agent::Claude.shell("echo main > main.txt"), PROMISE, asked)
            }
        });
        stage.also(Agent::Codex);
        let stage = subscription(stage);
        let flags = [
            "--allow-all",
            "--fallback-model",
            SMALL,
            "--fallback-harness",
            "codex",
            "--prices",
            "other=2/10/0.2/2",
        ];
        let (printed, facts) = stage.ended(stage.ralph(&flags), 0);
        for words in [
            "claude claude-haiku-4-5 continues: claude claude-sonnet-4-5 is at its usage limit",
            "codex continues: claude claude-haiku-4-5 is at its usage limit",
            "ralph: claude claude-sonnet-4-5 works again",
        ] {
            assert_eq!(printed.matches(words).count(), 1, "{words}: {facts}");
        }
        // Nobody has waited, and nothing of what is at a limit is an iteration.
        assert!(!printed.contains("waiting for"), "{facts}");
        assert_eq!(stage.read("codex.txt"), "codex\n", "{facts}");
        assert_eq!(stage.read("main.txt"), "main\n", "{facts}");
        assert_eq!(stage.state()["harness"], "claude", "{facts}");
        let shares = stage.state()["agents"].as_array().cloned().unwrap_or_default();
        let who: Vec<_> = shares.iter().map(|share| (&share["harness"], &share["runs"])).collect();
        let (claude, codex) = (json!("claude"), json!("codex"));
        assert_eq!(
            who,
            [(&claude, &json!(2)), (&claude, &json!(1)), (&codex, &json!(1))],
            "{facts}"
        );
        assert_eq!(stage.state()["ledger"]["iterations"], 2, "{facts}");
        books.assert_share(&shares[0], MAIN, PRICE_OF_MAIN, &facts);
        assert_eq!(shares[1]["tokens"], 0, "{facts}");
        books.assert_share(&shares[2], "scripted", PRICE_OF_CODEX, &facts);
        assert_eq!(shares[2]["cost_estimated"], true, "{facts}");
        assert_sums(&stage, &shares);
        assert_nothing_is_left(&stage);
    });
}

#[test]
#[ignore = "nightly"]
fn nobody_waits_for_late_limits() {
    both(|| {
        let (of_codex, of_claude) = (seconds() + 3600, seconds() + 7200);
        let mut stage = Stage::new(Agent::Claude, |_| {
            move |asked: &Asked| {
                if model(asked).starts_with(MAIN) {
                    return limit_of_claude(of_claude);
                }
                Reply::error(429, "usage_limit_reached", "The usage limit has been reached")
                    .detail("plan_type", json!("plus"))
                    .detail("resets_at", json!(of_codex))
            }
        });
        stage.also(Agent::Codex);
        let stage = subscription(stage);
        let flags = ["--allow-all", "--fallback-harness", "codex", "--max-limit-wait", "30m"];
        let (printed, facts) = stage.ended(stage.ralph(&flags), 13);
        assert_eq!(stage.state()["reason"], "usage_limit", "{facts}");
        assert!(printed.contains("; --max-limit-wait is 30m"), "{facts}");
        assert_eq!(stage.model.main_requests().len(), 2, "{facts}");
        assert_eq!(stage.state()["total_tokens"], 0, "{facts}");
        assert_eq!(stage.state()["ledger"]["iterations"], 0, "{facts}");
        assert_nothing_is_left(&stage);
    });
}

/// Runs a test with Claude Code and Codex, if both are installed.
fn both(test: fn()) {
    for agent in [Agent::Claude, Agent::Codex] {
        if agent.program().is_none() {
            return agent.play(|_| ());
        }
    }
    test();
}
