//! The real agent programs as readers under `spool review`: held to reading, with a fresh context, judged by their answer.

use std::process::Command;

use crate::agent::{Agent, on_every_agent};
use crate::limited::Limited;
use crate::ralph::assert_nothing_is_left;
use crate::scratch::SPOOL;
use crate::stage::Stage;
use scripted_model::{Asked, Reply};
use serde_json::Value;

on_every_agent! {
    night night night reader_that_finds_all_met_passes
    gate gate night writing_reader_changes_nothing
    night night night reader_without_verdict_is_no_pass
    night night night overdue_reader_leaves_nothing
    night night night heavy_project_hides_nothing_from_reader
}

const SPEC: &str = "# Greeting\n\n- **FR-001**: System MUST greet\n";

/// A stage with a feature that is built, and a model that reads it.
pub fn stage<S>(agent: Agent, script: impl FnOnce(crate::stage::Scene) -> S) -> Stage
where
    S: FnMut(&Asked) -> Reply + Send + 'static,
{
    let stage = Stage::new(agent, script);
    stage.write(".specify/feature.json", "{\"feature_directory\": \"specs/001-greeting\"}");
    stage.write("specs/001-greeting/spec.md", SPEC);
    stage.write("specs/001-greeting/tasks.md", "- [x] T001 Greet\n");
    stage.write("greet.sh", "echo hello world\n");
    stage.commit("the work");
    agent.trust(&stage.home(), &stage.root);
    stage
}

/// Runs `spool review` and returns its exit code, what it printed, and the review.
pub fn review(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String, Value) {
    let mut command: Command = stage.command(SPOOL);
    command.args(["review", "--harness", stage.agent().name(), "--model", stage.agent().model()]);
    let said = command.args(["--json"]).args(arguments).finish();
    let printed = String::from_utf8_lossy(&said.stdout).into_owned();
    let errors = String::from_utf8_lossy(&said.stderr).into_owned();
    let form = serde_json::from_str(&printed).unwrap_or_default();
    (said.status.code(), printed + &errors, form)
}

/// The answer to the prompt of a review: `greet.sh` greets with these words.
pub fn answer(asked: &Asked, quote: &str) -> Reply {
    let prompt = asked.body.to_string();
    let code = prompt.split("The code of this review is `").nth(1).expect("a code");
    let code = code.split('`').next().expect("its end");
    Reply::text(&format!(
        "Done.\n\nREVIEW {code}\n{{\"id\":\"FR-001\",\"verdict\":\"met\",\"why\":\"it greets\",\"evidence\":[{{\"file\":\"greet.sh\",\"line\":1,\"quote\":\"{quote}\"}}]}}\nEND {code}"
    ))
}

/// A stage with a reader that looks at `greet.sh` and finds all met.
pub fn with_a_good_reader(agent: Agent) -> Stage {
    stage(agent, |scene| {
        let file = scene.project.join("greet.sh");
        move |asked| {
            if asked.tool_results().is_empty() {
                agent.reads(&file)
            } else {
                answer(asked, "echo hello world")
            }
        }
    })
}

fn reader_that_finds_all_met_passes(agent: Agent) {
    let stage = with_a_good_reader(agent);
    let (code, printed, form) = review(&stage, &[]);
    let facts = format!("{printed}\n{}", stage.facts());
    assert_eq!(code, Some(0), "{facts}");
    assert_eq!((&form["outcome"], &form["read_only"]), (&"passed".into(), &true.into()), "{facts}");
    assert!(form["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{facts}");
    assert!(form["changed"] == serde_json::json!([]), "{facts}");
    assert_nothing_is_left(&stage);
}

fn writing_reader_changes_nothing(agent: Agent) {
    let stage = stage(agent, |scene| {
        let file = scene.project.join("greet.sh");
        move |asked| {
            if asked.tool_results().is_empty() {
                agent.writes(&file, "echo good evening")
            } else {
                answer(asked, "echo good evening")
            }
        }
    });
    let (code, printed, form) = review(&stage, &[]);
    let facts = format!("{printed}\n{}", stage.facts());
    assert_eq!(code, Some(5), "{facts}");
    assert_eq!(form["outcome"], "invented_evidence", "{facts}");
    assert!(printed.contains("`echo good evening` does not stand in `greet.sh`"), "{facts}");
    assert_eq!(stage.read("greet.sh"), "echo hello world\n", "{facts}");
    assert_nothing_is_left(&stage);
}

fn reader_without_verdict_is_no_pass(agent: Agent) {
    let stage = stage(agent, |_| |_: &Asked| Reply::text("All requirements are met."));
    let (code, printed, form) = review(&stage, &[]);
    let facts = format!("{printed}\n{}", stage.facts());
    assert_eq!(code, Some(4), "{facts}");
    assert_eq!(form["outcome"], "unusable_answer", "{facts}");
    assert_nothing_is_left(&stage);
}

fn overdue_reader_leaves_nothing(agent: Agent) {
    let stage = stage(agent, |_| |_: &Asked| Reply::silence());
    let (code, printed, form) = review(&stage, &["--timeout", "1s"]);
    let facts = format!("{printed}\n{}", stage.facts());
    assert_eq!((code, &form["outcome"]), (Some(7), &"time_limit".into()), "{facts}");
    assert_nothing_is_left(&stage);
}

/// Two megabytes of changes, a submodule with changes of its own, a file of secrets and a key in the source.
fn heavy_project_hides_nothing_from_reader(agent: Agent) {
    let key = format!("ghp_{}", "abcDEF0123456789abcDEF0123456789abcDEF01");
    let stage = stage(agent, |scene| {
        let file = scene.project.join("src/part_255.rs");
        move |asked| {
            if asked.tool_results().is_empty() {
                agent.reads(&file)
            } else {
                answer(asked, "echo hello world")
            }
        }
    });
    let part = |number: usize| format!("src/part_{number:03}.rs");
    let written = |round: &str| {
        for number in 0..256 {
            let line = format!("fn part_{number:03}() {{ say(\"{round}, in so many words\") }}\n");
            stage.write(part(number), line.repeat(150));
        }
    };
    written("before");
    let commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm sub";
    let submodule = format!(
        "git init -q ../sub && cd ../sub && echo one > sub.rs && {commit} && cd - && git -c protocol.file.allow=always submodule -q add ../sub sub"
    );
    let mut shell = stage.command("sh");
    assert!(shell.args(["-c", &submodule]).finish().status.success());
    stage.commit("before");
    written("now");
    stage.write("sub/sub.rs", "fn back_door() {}\n");
    stage.write(".env", "WORD=SECRET_OF_ENV\n");
    stage.write("src/key.rs", format!("let token = \"{key}\";\n"));
    let (code, printed, form) = review(&stage, &[]);
    let facts = format!("{printed}\n{}", stage.facts());
    assert_eq!((code, &form["outcome"]), (Some(0), &"passed".into()), "{facts}");
    let caveats = form["caveats"].to_string();
    for words in ["of src/part_", "more", "inside of the submodules sub", "only the names of .env"]
    {
        assert!(caveats.contains(words), "{words}: {caveats}");
    }
    let asked: Vec<String> =
        stage.model.requests().iter().map(|request| request.body.to_string()).collect();
    let asked: Vec<&String> =
        asked.iter().filter(|body| body.contains("The code of this review is")).collect();
    assert!(asked[0].len() < 1 << 20, "{} bytes", asked[0].len());
    assert!(asked[0].contains(&part(255)) && !asked[0].contains("fn part_255"), "{caveats}");
    assert!(asked.last().unwrap().contains("fn part_255"), "the reader opens the rest itself");
    for secret in ["SECRET_OF_ENV", &key] {
        assert!(!asked.iter().any(|body| body.contains(secret)), "{secret}");
    }
    assert_nothing_is_left(&stage);
}
