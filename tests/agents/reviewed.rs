//! Reviews as the last check of `spool ralph`: the real Claude Code works, the real Codex and Claude Code review.

use crate::agent::Agent;
use crate::hostile_words;
use crate::limits::{limit_of_claude, seconds, subscription};
use crate::ralph::assert_nothing_is_left;
use crate::stage::Stage;
use scripted_model::{Asked, Reply, Usage};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Makes one test of each function for each reader. Before the function stands when Codex reads, and when Claude Code does.
macro_rules! by_every_reader {
    ($($codex:ident $claude:ident $test:ident)*) => {
        mod by_codex { $(crate::tier::play! { $codex $test super::play(super::Agent::Codex, super::$test) })* }
        mod by_claude { $(crate::tier::play! { $claude $test super::play(super::Agent::Claude, super::$test) })* }
    };
}

by_every_reader! {
    night night a_pass_completes_the_loop
    night night unmet_review_is_repaired_and_passes
    night night three_equal_verdicts_block_the_loop
    night night three_formless_answers_block_the_loop
    night night invented_evidence_is_no_verdict
    night night crashed_reader_gives_no_verdict
    night night limited_reader_gives_no_verdict
    night night overdue_reader_leaves_no_process
    night night ticked_check_has_tasks_reviewed_once
    night night foreign_words_in_reader_end_nothing
}

fn play(reader: Agent, test: fn(Agent)) {
    if Agent::Claude.program().is_none() {
        return Agent::Claude.play(test);
    }
    reader.play(test);
}

const SPEC: &str = "# Greeting\n\n- **FR-001**: System MUST greet\n- **FR-002**: System MUST log\n";
const LIST: &str = "specs/001-greeting/tasks.md";

/// A stage on which Claude Code works on a feature, and this program reviews it; `answer` is what the reader answers to
/// its n-th review, from 1, and `worker` what the worker does in each iteration besides ticking the box.
fn stage<S>(reader: Agent, mut answer: S) -> Stage
where
    S: FnMut(usize, &Asked) -> Reply + Send + 'static,
{
    with_tasks(reader, "- [ ] T001 Greet\n", move |number, asked| answer(number, asked))
}

/// The same with this list.
fn with_tasks<S>(reader: Agent, list: &str, mut answer: S) -> Stage
where
    S: FnMut(usize, &Asked) -> Reply + Send + 'static,
{
    let mut stage = Stage::new(Agent::Claude, |scene| {
        let mut reviews = 0;
        move |asked: &Asked| {
            let prompt = asked.body.to_string();
            if prompt.contains("The code of this review is") {
                reviews += 1;
                return answer(reviews, asked);
            }
            let usage = Usage { input: 100, output: 10, ..Usage::default() };
            if !asked.tool_results().is_empty() {
                return Reply::text("FR-002 is met: it logs.").usage(usage);
            }
            let log = scene.project.join("log.txt").display().to_string();
            // What a review sent back is repaired before the next box is ticked.
            let is_repair = prompt.contains("Check failed: a review");
            let box_of = if is_repair { "none" } else { "- \\[ \\]" };
            let work = format!(
                "echo greeted >> '{log}'; echo hello > greet.sh; sed -i '0,/{box_of}/s//- [x]/' {LIST}"
            );
            scene.agent.shell(&work).usage(usage)
        }
    });
    if reader != Agent::Claude {
        stage.also(reader);
    }
    stage.write(".specify/feature.json", "{\"feature_directory\": \"specs/001-greeting\"}");
    stage.write("specs/001-greeting/spec.md", SPEC);
    stage.write(LIST, list);
    stage.commit("the feature");
    stage
}

/// Runs the loop with reviews by this program.
fn run(stage: &Stage, reader: Agent, more: &[&str]) -> (Option<i32>, String) {
    let review = ["--review", "--review-harness", reader.name(), "--review-model", reader.model()];
    stage.ralph_on("001-greeting", &[&["--allow-all"], &review[..], more].concat()).end()
}

/// The code of a review, from its prompt.
fn code_of(asked: &Asked) -> String {
    let prompt = asked.body.to_string();
    let code = prompt.split("The code of this review is `").nth(1).expect("a code");
    code.split('`').next().expect("its end").to_owned()
}

/// The answer of a reader: `greet.sh` greets with these words, and what FR-002 is.
fn judged(asked: &Asked, quote: &str, log: &str, why: &str) -> Reply {
    let answer = answered(&code_of(asked), quote, log, why);
    Reply::text(&answer).usage(Usage { input: 1_000, output: 100, ..Usage::default() })
}

/// The same as the answer to the review with this code.
fn answered(code: &str, quote: &str, log: &str, why: &str) -> String {
    let line = |id: &str, verdict: &str, why: &str| {
        format!(
            "{{\"id\":\"{id}\",\"verdict\":\"{verdict}\",\"why\":\"{why}\",\"evidence\":[{{\"file\":\"greet.sh\",\"line\":1,\"quote\":\"{quote}\"}}]}}"
        )
    };
    format!(
        "REVIEW {code}\n{}\n{}\nEND {code}\n<promise>COMPLETE</promise>\nALL_TASKS_COMPLETE",
        line("FR-001", "met", "it greets"),
        line("FR-002", log, why)
    )
}

fn journal(stage: &Stage) -> String {
    stage.read(".spool/.state/ralph/001-greeting/journal.jsonl")
}

fn reviews(stage: &Stage) -> usize {
    let asked = stage.model.requests();
    asked
        .iter()
        .filter(|prompt| prompt.body.to_string().contains("The code of this review is"))
        .count()
}

fn status(stage: &Stage) -> Value {
    let mut command = stage.command(crate::scratch::SPOOL);
    let said = command.args(["status", "--json"]).output().expect("spool");
    serde_json::from_slice(&said.stdout).unwrap_or_default()
}

fn a_pass_completes_the_loop(reader: Agent) {
    let stage = stage(reader, |_, asked| judged(asked, "hello", "met", "it logs"));
    let (code, printed) = run(&stage, reader, &[]);
    let facts = stage.facts();
    assert_eq!(code, Some(0), "{facts}");
    assert!(printed.contains("Review by another agent program"), "{facts}");
    assert!(printed.contains("Proved: 1 by a review\n"), "{facts}");
    let said = format!("review: passed (2 of 2 met), by {}", reader.name());
    assert!(journal(&stage).contains(&said), "{}\n{facts}", journal(&stage));
    assert_eq!(reviews(&stage), 1, "{facts}");
    assert_eq!(stage.state()["ledger"]["iterations"], 1, "{facts}");
    let status = status(&stage);
    let runner = &status["runners"][0]["loop"];
    assert_eq!(runner["review"]["outcome"], "passed", "{status}");
    assert!(runner["review_tokens"].as_u64().is_some_and(|tokens| tokens >= 1_000), "{status}");
    assert_eq!(runner["tokens"], 220, "{status}");
    assert_nothing_is_left(&stage);
}

trait RfindReview {
    fn rfind_review(self) -> String;
}

impl<I: DoubleEndedIterator<Item = String>> RfindReview for I {
    fn rfind_review(mut self) -> String {
        self.rfind(|body| body.contains("The code of this review is")).unwrap_or_default()
    }
}

fn unmet_review_is_repaired_and_passes(reader: Agent) {
    let stage = stage(reader, |number, asked| match number {
        1 => judged(asked, "hello", "not met", "no time stands in the log"),
        _ => judged(asked, "hello", "met", "it logs"),
    });
    let (code, _) = run(&stage, reader, &["--check", "test -s greet.sh && echo it-greets"]);
    let facts = stage.facts();
    assert_eq!(code, Some(0), "{facts}");
    assert_eq!(reviews(&stage), 2, "{facts}");
    let prompts = stage.model.requests();
    let told = prompts.iter().map(|request| request.body.to_string()).find(|body| {
        body.contains("FR-002 not met: no time stands in the log")
            && body.contains("not passed (1 of 2 met)")
    });
    assert!(told.is_some(), "{facts}");
    // The output of the checks that have just passed is evidence that the reader is given.
    let asked = prompts.iter().map(|prompt| prompt.body.to_string()).rfind_review();
    assert!(asked.contains("it-greets\\n>>>") && !asked.contains("may be older"), "{asked}");
    assert!(asked.contains("the receipts: what was seen"), "{asked}");
    assert!(asked.contains("T001; no Verify command ran; files greet.sh, log.txt"), "{asked}");
    assert_nothing_is_left(&stage);
}

fn three_equal_verdicts_block_the_loop(reader: Agent) {
    let stage = stage(reader, |number, asked| {
        judged(asked, "hello", "not met", &format!("words number {number}"))
    });
    let (code, printed) = run(&stage, reader, &[]);
    let facts = stage.facts();
    assert_eq!(code, Some(6), "{facts}");
    assert_eq!(reviews(&stage), 3, "{facts}");
    for words in
        ["3 reviews in a row came to the same", "words number 3", "FR-002 is met: it logs."]
    {
        assert!(printed.contains(words), "{words}: {facts}");
    }
    assert_eq!(stage.state()["reason"], "blocked", "{facts}");
    assert_nothing_is_left(&stage);
}

/// Fails unless three reviews without a verdict ended the loop as blocked, and no agent was told that it failed.
fn assert_no_verdict(stage: &Stage, ended: (Option<i32>, String), words: &str) {
    let facts = stage.facts();
    let (code, printed) = ended;
    assert_eq!(code, Some(6), "{facts}");
    assert_eq!(stage.state()["reason"], "blocked", "{facts}");
    assert!(printed.contains("3 reviews in a row came to no verdict"), "{facts}");
    assert!(printed.contains(words), "{words}: {facts}");
    let told = |request: &Asked| {
        let text = request.body.to_string();
        !text.contains("The code of this review is") && text.contains("Check failed")
    };
    assert!(!stage.model.requests().iter().any(|request| told(request)), "{facts}");
    let soft = |request: &Asked| request.body.to_string().contains("that says nothing of the work");
    assert!(stage.model.requests().iter().any(|request| soft(request)), "{facts}");
    assert_nothing_is_left(stage);
}

fn three_formless_answers_block_the_loop(reader: Agent) {
    let stage = stage(reader, |_, _| {
        Reply::text("All is met.\n\nALL_TASKS_COMPLETE\n<promise>COMPLETE</promise>")
    });
    let ended = run(&stage, reader, &[]);
    assert_no_verdict(&stage, ended, "the answer cannot be used");
}

fn invented_evidence_is_no_verdict(reader: Agent) {
    let stage = stage(reader, |_, asked| judged(asked, "good evening", "met", "it logs"));
    let ended = run(&stage, reader, &[]);
    assert_no_verdict(&stage, ended, "evidence is not there");
}

fn crashed_reader_gives_no_verdict(reader: Agent) {
    let stage = stage(reader, |_, asked| judged(asked, "hello", "met", "it logs"));
    // The worker is Claude Code as well: only a reader is told to use no tool that writes.
    let real = reader.installed();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) ;; *Read,Grep,Glob*|*read-only*) kill -9 $$;; esac\nexec '{}' \"$@\"\n",
        real.display()
    );
    stage.program(reader.name(), &script);
    let ended = run(&stage, reader, &[]);
    assert_no_verdict(&stage, ended, "the agent program failed");
}

fn limited_reader_gives_no_verdict(reader: Agent) {
    let stage = stage(reader, move |_, _| match reader {
        Agent::Codex => {
            Reply::error(429, "usage_limit_reached", "The usage limit has been reached")
                .detail("plan_type", serde_json::json!("plus"))
        }
        _ => limit_of_claude(seconds() + 3_600),
    });
    let stage = if reader == Agent::Claude { subscription(stage) } else { stage };
    let (code, printed) = run(&stage, reader, &[]);
    let facts = stage.facts();
    // Without `--max-limit-wait` nobody waits, and the next run reviews again.
    assert_eq!(code, Some(13), "{facts}");
    assert_eq!(stage.state()["reason"], "usage_limit", "{facts}");
    assert!(printed.contains("no pass: a usage limit"), "{facts}");
    assert_nothing_is_left(&stage);
}

fn overdue_reader_leaves_no_process(reader: Agent) {
    let stage = stage(reader, |_, _| Reply::silence());
    let ended = run(&stage, reader, &["--review-timeout", "2s"]);
    assert_no_verdict(&stage, ended, "the reader was over its time");
}

fn ticked_check_has_tasks_reviewed_once(reader: Agent) {
    let list = "- [ ] T001 Greet in greet.sh and log.txt\n- [ ] T002 [VERIFY] See log.txt\n- [ ] T003 Log in log.txt\n";
    let stage = with_tasks(reader, list, |number, asked| {
        let log = ["not met", "later", "met"][(number - 1).min(2)];
        judged(asked, "hello", log, "about the log")
    });
    let (code, printed) = run(&stage, reader, &["--review-when", "verify"]);
    let facts = stage.facts();
    assert_eq!(code, Some(0), "{facts}");
    assert!(printed.contains("run when a [VERIFY] task is ticked, and when all else"), "{facts}");
    // T001; T002 and a review that does not pass; its repair and one that does; T003 and that of all.
    assert_eq!(stage.state()["ledger"]["iterations"], 4, "{facts}");
    let asked: Vec<String> =
        stage.model.requests().iter().map(|request| request.body.to_string()).collect();
    let asked: Vec<&String> =
        asked.iter().filter(|body| body.contains("The code of this")).collect();
    let of_a_part = asked.iter().map(|body| body.contains("these tasks: T001, T002. Judge"));
    assert_eq!(of_a_part.collect::<Vec<_>>(), [true, true, false], "{facts}");
    assert!(
        journal(&stage).contains("review: passed (1 of 1 met, 1 later), T001, T002, by"),
        "{facts}"
    );
    assert_nothing_is_left(&stage);
}

/// First it calls the commands that end a loop, and has the hostile words as the reason of a verdict; then it says them around the
/// whole answer to the review before; then it passes the work.
fn foreign_words_in_reader_end_nothing(reader: Agent) {
    let mut earlier = String::new();
    let project = Arc::new(OnceLock::new());
    let place = Arc::clone(&project);
    let stage = stage(reader, move |number, asked| match number {
        1 => {
            let project: &PathBuf = place.get().expect("a project");
            let (spool, project) = (crate::scratch::SPOOL, project.display());
            reader.shell(&format!(
                "cd '{project}'; '{spool}' stop --change 001-greeting; '{spool}' task block no; touch reached"
            ))
        }
        2 => {
            earlier = code_of(asked);
            judged(asked, "hello", "not met", &hostile_words::in_json())
        }
        3 => {
            let words = hostile_words::text();
            Reply::text(&format!("{words}\n{}\n{words}", answered(&earlier, "hello", "met", "x")))
        }
        _ => judged(asked, "hello", "met", "it logs"),
    });
    project.set(stage.root.clone()).expect("the first time");
    let (code, printed) = run(&stage, reader, &[]);
    let facts = stage.facts();
    assert_eq!(code, Some(0), "{facts}");
    assert_eq!(reviews(&stage), 4, "{facts}");
    assert!(!stage.path("reached").exists(), "{facts}");
    assert_eq!(stage.state()["ledger"]["iterations"], 3, "{facts}");
    let journal = journal(&stage);
    for outcome in ["not passed (1 of 2 met)", "the answer cannot be used", "passed (2 of 2 met)"] {
        assert!(
            journal.contains(&format!("{outcome}, by {}", reader.name())),
            "{outcome}: {journal}"
        );
    }
    assert!(printed.chars().all(|sign| !sign.is_control() || sign == '\n'), "{printed:?}");
    assert_nothing_is_left(&stage);
}
