//! Each program through whole loops of `spool ralph`: five iterations, and what can go wrong in one.

use crate::agent::{Agent, on_every_agent};
use crate::limits::waited_for;
use crate::stage::{CHANGE, Run, Scene, Stage};
use rustix::process::Signal;
use scripted_model::{Asked, Reply, Usage};
use serde_json::Value;
use std::sync::Arc;

on_every_agent! {
    gate gate night denial_limit_interrupt_and_work
    night night night five_iterations_edit_and_count_tokens
    gate gate night continued_session_counts_tokens_once
    night night night loop_survives_a_service_limit
    night night night loop_survives_a_service_error
    night night gate denied_tool_is_named_and_passed
    night night night wall_of_denials_ends_the_loop
    night night night overdue_iteration_ends_with_its_tools
    night night night interrupt_ends_agent_and_tools
}

pub const PROMISE: &str = "It is done.\n<promise>COMPLETE</promise>";
/// A tool that never ends by itself, and says that it has begun.
pub const ENDLESS: &str = "echo $$ > begun.part; mv begun.part begun; tail -f /dev/null";

/// Tokens that differ from request to request, so that none is counted twice or for another.
pub fn usage(asked: &Asked) -> Usage {
    let number = asked.number as u64;
    Usage {
        input: 1000 * number,
        cache_read: 300 + number,
        cache_write: 0,
        output: 20,
        thinking: 7,
    }
}

/// One iteration after the other: a tool call, then words; the promise comes with the last one.
fn iterations(scene: Scene, last: usize) -> impl FnMut(&Asked) -> Reply {
    let mut begun = 0;
    move |asked| {
        if is_first(asked) {
            begun += 1;
            return edit(&scene, begun).usage(usage(asked));
        }
        let words = if begun == last { PROMISE } else { "One more trace is there." };
        Reply::text(words).usage(usage(asked))
    }
}

/// A whole iteration: the tool call, then the promise, which is not believed without one.
fn work(scene: &Scene, asked: &Asked) -> Reply {
    if is_first(asked) {
        return edit(scene, 1).usage(usage(asked));
    }
    Reply::text(PROMISE).usage(usage(asked))
}

/// Whether a prompt is asked for, and not a tool's result.
fn is_first(asked: &Asked) -> bool {
    asked.tool_results().is_empty()
}

/// Odd iterations use the shell, even ones the tool for writing files.
fn edit(scene: &Scene, iteration: usize) -> Reply {
    if iteration % 2 == 1 {
        return scene.agent.shell(&format!("echo iteration {iteration} >> traces.txt"));
    }
    let file = scene.project.join(format!("trace-{iteration}.txt"));
    scene.agent.writes(&file, &format!("iteration {iteration}"))
}

/// Five iterations in three runs: the agent is denied a tool, is limited, is interrupted, and works twice.
fn denial_limit_interrupt_and_work(agent: Agent) {
    // Copilot calls every 429 a usage limit, which is no iteration.
    let refused = if agent == Agent::Copilot { out_of_order } else { limit };
    let stage = Stage::new(agent, |scene| {
        let (mut begun, mut is_limited) = (0, false);
        move |asked: &Asked| {
            // A program makes a request that was refused once more, or does not.
            is_limited = is_limited && scene.iterations_ended() < 2;
            if is_limited {
                return refused();
            }
            if !is_first(asked) {
                let words = if begun == 5 { PROMISE } else { "That is all for now." };
                return Reply::text(words).usage(usage(asked));
            }
            begun += 1;
            let reply = match begun {
                1 => unwanted(&scene),
                2 => {
                    is_limited = true;
                    return refused();
                }
                3 => agent.shell(ENDLESS),
                _ => edit(&scene, begun - 3),
            };
            reply.usage(usage(asked))
        }
    });
    agent.trust(&stage.home(), &stage.root);
    let (_, facts) =
        stage.ended(stage.ralph(&["--max-iterations", "2", "--retry-pause", "10ms"]), 3);
    assert!(!stage.path("denied.txt").exists(), "{facts}");
    assert!(!stage.path("../denied.txt").exists(), "{facts}");
    let books = stage.state();
    let done = list(&books);
    assert_eq!(done.len(), 2, "{facts}");
    assert_denied(agent, &done[0], &facts);
    assert_ne!(done[1]["failure"].as_str().unwrap_or_default(), "", "{facts}");
    assert_counted(&stage);

    let mut run = stage.ralph(&["--allow-all"]);
    run.wait_until(|_| stage.path("begun").exists());
    stopped(run, &stage);

    let before = stage.model.main_requests().len();
    let (_, facts) = stage.ended(stage.ralph(&["--allow-all"]), 0);
    assert_eq!(stage.read("traces.txt"), "iteration 1\n", "{facts}");
    assert_eq!(stage.read("trace-2.txt").trim_end(), "iteration 2", "{facts}");
    let books = stage.state();
    assert_eq!(books["status"], "done", "{facts}");
    let requests = stage.model.main_requests();
    let (done, requests) = (list(&books), &requests[before..]);
    assert_eq!((done.len(), requests.len()), (5, 4), "{facts}");
    assert_each_counted(&done[3..], requests, &facts);
    assert_eq!(done[4]["promise"], "accepted", "{facts}");
    assert_nothing_is_left(&stage);
}

fn five_iterations_edit_and_count_tokens(agent: Agent) {
    let stage = Stage::new(agent, |scene| iterations(scene, 5));
    let (_, facts) = stage.ended(stage.ralph(&["--allow-all", "--max-iterations", "8"]), 0);
    assert_eq!(stage.read("traces.txt"), "iteration 1\niteration 3\niteration 5\n", "{facts}");
    for iteration in [2, 4] {
        let text = stage.read(&format!("trace-{iteration}.txt"));
        assert_eq!(text.trim_end(), format!("iteration {iteration}"), "{facts}");
    }
    let books = stage.state();
    assert_eq!(books["status"], "done", "{facts}");
    assert_eq!(books["change_id"], CHANGE, "{facts}");
    assert_eq!(books["harness"], agent.name(), "{facts}");
    let done = list(&books);
    assert_eq!(done.len(), 5, "{facts}");
    let requests = stage.model.main_requests();
    assert_eq!(requests.len(), 10, "{facts}");
    assert_each_counted(done, &requests, &facts);
    assert_eq!(done[4]["promise"], "accepted", "{facts}");
    assert_counted(&stage);
    assert_nothing_is_left(&stage);
}

fn continued_session_counts_tokens_once(agent: Agent) {
    let stage = Stage::new(agent, |scene| iterations(scene, 3));
    let (_, facts) = stage.ended(stage.ralph(&["--allow-all", "--continue-session"]), 0);
    let books = stage.state();
    let done = list(&books);
    assert_eq!(done.len(), 3, "{facts}");
    let sessions: Vec<_> = done.iter().map(|iteration| &iteration["session_id"]).collect();
    assert!(
        sessions.iter().all(|session| session.is_string() && *session == sessions[0]),
        "{facts}"
    );
    let last = stage.model.main_requests().pop().expect("a request");
    let history = last.body["messages"].to_string();
    assert!(history.matches("One more trace is there.").count() >= 2, "{history}");
    assert_counted(&stage);
    assert_nothing_is_left(&stage);
}

fn loop_survives_a_service_limit(agent: Agent) {
    if agent == Agent::Copilot {
        // It calls every 429 a limit.
        return waited_for(agent, limit);
    }
    failing(agent, limit);
}

fn loop_survives_a_service_error(agent: Agent) {
    failing(agent, out_of_order);
}

fn out_of_order() -> Reply {
    Reply::error(500, "api_error", "out of order").header("retry-after-ms", "1")
}

/// The program's own tries follow at once where it looks at this header.
fn limit() -> Reply {
    Reply::error(429, "rate_limit_error", "slow down").header("retry-after-ms", "1")
}

/// The service fails until the first iteration is over; the second one does the work.
fn failing(agent: Agent, failure: fn() -> Reply) {
    let stage = Stage::new(agent, |scene| {
        move |asked: &Asked| {
            if scene.iterations_ended() == 0 {
                return failure();
            }
            work(&scene, asked)
        }
    });
    let (_, facts) = stage.ended(stage.ralph(&["--allow-all", "--retry-pause", "1"]), 0);
    let books = stage.state();
    assert_eq!(books["status"], "done", "{facts}");
    let done = list(&books);
    assert_eq!(done.len(), 2, "{facts}");
    assert_ne!(done[0]["failure"].as_str().unwrap_or_default(), "", "{facts}");
    assert_eq!(done[1]["failure"].as_str().unwrap_or_default(), "", "{facts}");
    assert_eq!(stage.read("traces.txt"), "iteration 1\n", "{facts}");
    let reported = stage.model.usage().0;
    assert_eq!(done[1]["tokens_used"], reported.total(), "{facts}");
    assert_nothing_is_left(&stage);
}

fn denied_tool_is_named_and_passed(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        move |asked: &Asked| {
            if scene.iterations_ended() > 0 {
                let readme = scene.project.join("README.md");
                // Nothing is behind a promise without a changed file.
                std::fs::write(scene.project.join("seen.txt"), "seen").expect("a file");
                let reply =
                    if is_first(asked) { agent.reads(&readme) } else { Reply::text(PROMISE) };
                return reply.usage(usage(asked));
            }
            if is_first(asked) {
                return unwanted(&scene).usage(usage(asked));
            }
            Reply::text("It was denied.").usage(usage(asked))
        }
    });
    agent.trust(&stage.home(), &stage.root);
    let (code, _) = stage.ralph(&[]).end();
    let facts = stage.facts();
    assert!(!stage.path("denied.txt").exists(), "{facts}");
    assert!(!stage.path("../denied.txt").exists(), "{facts}");
    assert_eq!(code, Some(0), "{facts}");
    let books = stage.state();
    let done = list(&books);
    assert_eq!(done.len(), 2, "{facts}");
    assert_denied(agent, &done[0], &facts);
    assert_counted(&stage);
    assert_nothing_is_left(&stage);
}

fn wall_of_denials_ends_the_loop(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        move |asked: &Asked| {
            let reply =
                if is_first(asked) { unwanted(&scene) } else { Reply::text("It was denied.") };
            reply.usage(usage(asked))
        }
    });
    agent.trust(&stage.home(), &stage.root);
    // What Codex denies is seen as a run without a tool call.
    let (end, last, limit) = if agent == Agent::Codex { (5, 3, "3") } else { (6, 2, "10") };
    let (code, _) = stage.ralph(&["--no-progress", limit]).end();
    let facts = stage.facts();
    assert!(!stage.path("denied.txt").exists(), "{facts}");
    assert_eq!(code, Some(end), "{facts}");
    let books = stage.state();
    assert_eq!(list(&books).len(), last, "{facts}");
    let words = books["words"].as_str().unwrap_or_default();
    assert_eq!(words.contains("denied in 2 iterations that changed nothing"), end == 6, "{facts}");
    assert_nothing_is_left(&stage);
}

/// A tool call that the program denies without a person's consent: a file is written. opencode allows that within the project.
fn unwanted(scene: &Scene) -> Reply {
    if scene.agent == Agent::Opencode {
        let outside = scene.project.parent().expect("a parent").join("denied.txt");
        return scene.agent.writes(&outside, "no");
    }
    scene.agent.shell("echo no > denied.txt")
}

fn overdue_iteration_ends_with_its_tools(agent: Agent) {
    // How long a program takes to its first tool depends on the machine, so a time that was too short is doubled.
    let mut seconds = if matches!(agent.name(), "claude" | "codex") { 3 } else { 12 };
    loop {
        let stage = Stage::new(agent, |scene| {
            move |asked: &Asked| {
                if scene.iterations_ended() > 0 {
                    return work(&scene, asked);
                }
                agent.shell(ENDLESS).usage(usage(asked))
            }
        });
        let limit = format!("{seconds}s");
        let (code, _) = stage.ralph(&["--allow-all", "--iteration-timeout", &limit]).end();
        assert_nothing_is_left(&stage);
        let facts = stage.facts();
        let books = stage.state();
        let done = list(&books);
        assert_eq!(done[0]["timed_out"], true, "{facts}");
        let too_short = done.iter().skip(1).any(|one| one["timed_out"] == true);
        if (stage.read("begun").is_empty() || too_short) && seconds < 100 {
            seconds *= 2;
            continue;
        }
        assert_ne!(stage.read("begun"), "", "{facts}");
        assert_eq!(code, Some(0), "{facts}");
        assert_eq!(done.len(), 2, "{facts}");
        assert_eq!(books["status"], "done", "{facts}");
        return;
    }
}

fn interrupt_ends_agent_and_tools(agent: Agent) {
    let stage =
        Stage::new(agent, |_| move |asked: &Asked| agent.shell(ENDLESS).usage(usage(asked)));
    let mut run = stage.ralph(&["--allow-all"]);
    run.wait_until(|_| stage.path("begun").exists());
    let (books, facts) = stopped(run, &stage);
    let done = list(&books);
    assert_eq!(done.len(), 1, "{facts}");
    assert!(done[0]["ended"].is_string(), "{facts}");
}

fn list(state: &Value) -> &[Value] {
    state["iterations"].as_array().map_or(&[], Vec::as_slice)
}

/// The denied tool of an iteration is named. Codex tells its model alone that its sandbox has denied something.
fn assert_denied(agent: Agent, iteration: &Value, facts: &str) {
    let denied = iteration["denied"].as_array().map_or(0, Vec::len);
    assert_eq!(denied > 0, agent != Agent::Codex, "{facts}");
}

/// Each iteration called one tool, changed one file, and used what its two requests used.
fn assert_each_counted(iterations: &[Value], requests: &[Arc<Asked>], facts: &str) {
    for (iteration, asked) in iterations.iter().zip(requests.chunks(2)) {
        let reported = usage(&asked[0]) + usage(&asked[1]);
        assert_eq!(iteration["tokens_used"], reported.total(), "{facts}");
        assert_ne!(iteration["tokens_estimated"], true, "{facts}");
        assert_eq!(iteration["tool_calls"], 1, "{facts}");
        assert_eq!(iteration["exit_code"], 0, "{facts}");
        assert_eq!(iteration["files_changed"], 1, "{facts}");
    }
}

/// The tokens of the loop are those that the model has reported, no more and no fewer.
fn assert_counted(stage: &Stage) {
    let (main, side) = stage.model.usage();
    assert_eq!(stage.state()["total_tokens"], (main + side).total(), "{}", stage.facts());
    assert!(stage.model.complaints().is_empty(), "{}", stage.facts());
}

/// Interrupts a run, which leaves nothing and says that it was stopped. Gives its books, and the facts.
pub fn stopped(run: Run, stage: &Stage) -> (Value, String) {
    run.signal(Signal::INT);
    let (code, _) = run.end();
    assert_nothing_is_left(stage);
    let (books, facts) = (stage.state(), stage.facts());
    assert_eq!(code, Some(130), "{facts}");
    assert_eq!(books["status"], "stopped", "{facts}");
    (books, facts)
}

/// No process of the loop is alive.
pub fn assert_nothing_is_left(stage: &Stage) {
    let left = stage.processes();
    assert!(left.is_empty(), "{left:?}\n{}", stage.facts());
}
