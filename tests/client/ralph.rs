//! The ralph loop in the real client: one task, its promise, and every way out.

use crate::headless::{Client, ClientRun};
use crate::safety::by_person;
use crate::support::{Project, client, json_lines, on_every_client};
use crate::workshop::assembled_plugin;
use scripted_model::{Asked, Reply, ScriptedModel};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

on_every_client! {
    night night forty_iterations_end_promised
    gate night promise_is_earned_by_work
    night night lie_ends_on_word_alone
    gate night a_failing_check_turns_green
    night night long_check_keeps_its_answer
    night night three_iterations_at_most
    night night cancel_ends_midway
    gate night task_arrives_whole_unrun
    night night two_sessions_share_a_folder
    night night talking_agent_precedes_client_cap
    night night needing_agent_ends_the_loop
    night night a_mistyped_flag_costs_no_token
}

const PROMISE: &str = "<promise>DONE</promise>";

fn with_plugin(version: &str, project: &Project, model: &ScriptedModel) -> Client {
    client(version, project, model).plugin(assembled_plugin())
}

fn shell(command: &str) -> Reply {
    Reply::text("I work.").and_tool("Bash", json!({"command": command, "description": "work"}))
}

fn is_prompt(asked: &Asked) -> bool {
    asked.tool_results().is_empty()
}

fn spool(project: &Project, arguments: &[&str]) -> String {
    let spool = Command::new(env!("CARGO_BIN_EXE_spool"))
        .args(arguments)
        .current_dir(project.path())
        .env_clear()
        .output()
        .expect("spool");
    String::from_utf8(spool.stdout).expect("text")
}

fn journal(project: &Project) -> Vec<Value> {
    json_lines(&spool(project, &["log", "--json"]))
}

fn verdicts(project: &Project) -> Vec<String> {
    let words = |entry: Value| {
        let words =
            [&entry["verdict"], &entry["reason"]].map(|word| word.as_str().unwrap_or_default());
        words.join(" ").trim().to_owned()
    };
    journal(project).into_iter().map(words).filter(|words| !words.is_empty()).collect()
}

/// All the facts of a run and of its loop, for the message of a failed test: what the client printed, the
/// journal, and when each line of the transcript was written.
fn facts(project: &Project, run: &ClientRun) -> String {
    let journal: Vec<String> = journal(project).iter().map(Value::to_string).collect();
    let lines = run.transcript.iter().map(|line| {
        let kinds = line["message"]["content"].as_array().into_iter().flatten();
        let kinds: Vec<_> = kinds.map(|block| block["type"].to_string()).collect();
        format!("{} {} {}", line["timestamp"], line["type"], kinds.join(" "))
    });
    let lines: Vec<String> = lines.collect();
    let (journal, lines) = (journal.join("\n"), lines.join("\n"));
    format!("{}\njournal:\n{journal}\ntranscript:\n{lines}", run.describe())
}

/// The last line that a Stop hook showed to the person.
fn told(run: &ClientRun) -> String {
    run.system_messages("Stop").last().map(|line| (*line).to_owned()).unwrap_or_default()
}

fn forty_iterations_end_promised(version: &str) {
    let project = Project::new();
    let mut done = 0;
    let model = ScriptedModel::start(move |asked| {
        if !is_prompt(asked) {
            return Reply::text(if done < 40 { "That is one." } else { PROMISE });
        }
        done += 1;
        shell(&format!("echo {done} >> lines"))
    });
    let run = with_plugin(version, &project, &model);
    let run = run.run("/speckit:ralph-loop \"Write forty lines\"").expect("a run");
    let facts = facts(&project, &run);
    assert!(run.is_success(), "{facts}");
    assert_eq!(run.block_cap(), None, "{facts}");
    assert_eq!(project.read("lines").lines().count(), 40, "{facts}");
    assert_eq!(run.hook_feedbacks().len(), 39, "{facts}");
    assert!(told(&run).contains("(PROMISE_ACCEPTED): ") && told(&run).contains(" · 40 iterations"));
    let mut expected = vec!["continue"; 39];
    expected.push("end completed");
    assert_eq!(verdicts(&project), expected, "{facts}");
    assert_eq!(model.complaints(), [""; 0]);
}

fn promise_is_earned_by_work(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![
        Reply::text(PROMISE),
        shell("echo done > work"),
        Reply::text(&format!("Now it is done. {PROMISE}")),
    ]);
    let run = with_plugin(version, &project, &model);
    let run = run.succeeds("/speckit:ralph-loop \"Do the work\"");
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 1, "{}", run.describe());
    assert!(
        feedbacks[0].starts_with("Promise detected, but no tool calls/work"),
        "{}",
        feedbacks[0]
    );
    assert!(told(&run).contains("(PROMISE_ACCEPTED): ") && told(&run).contains(" · 2 iterations"));
    assert_eq!(verdicts(&project), ["continue", "end completed"]);
}

fn lie_ends_on_word_alone(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![
        shell("true"),
        Reply::text(PROMISE),
        shell("true"),
        Reply::text(PROMISE),
    ]);
    let client = with_plugin(version, &project, &model);
    let run = client.succeeds("/speckit:ralph-loop \"Do the work\"");
    assert_eq!(run.hook_feedbacks().len(), 1, "{}", run.describe());
    let words = "on the agent's word alone: no check, no changed file";
    assert!(told(&run).contains(words), "{}", facts(&project, &run));
    let status = by_person(&client, project.path(), &["status"]);
    assert!(status.contains(words), "{status}");
    assert_eq!(verdicts(&project), ["continue", "end completed"]);
}

fn a_failing_check_turns_green(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![
        shell("true"),
        Reply::text(PROMISE),
        shell("echo green > state"),
        Reply::text(PROMISE),
    ]);
    let run = with_plugin(version, &project, &model);
    let prompt = "/speckit:ralph-loop \"Make it green\" --completion-promise DONE --check 'grep green state'";
    let run = run.succeeds(prompt);
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 1, "{}", run.describe());
    assert!(
        feedbacks[0].starts_with("Check failed: `grep green state` (exit code 2)"),
        "{}",
        feedbacks[0]
    );
    assert_eq!(verdicts(&project), ["continue", "end completed"]);
    let log = spool(&project, &["log"]);
    assert!(log.contains("grep: state: No such file or directory"), "{log}");
}

/// A hook has 60 seconds where nothing else is said; what it answers after that is lost.
fn long_check_keeps_its_answer(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![
        Reply::text("It is made."),
        shell("echo green > state"),
        Reply::text("Now it is."),
    ]);
    let client = with_plugin(version, &project, &model).limit(Duration::from_mins(4));
    // The slow one is slow only once.
    let check = "test -f state || { sleep 61; false; }";
    let run = client.succeeds(&format!("/speckit:ralph-loop \"Make it\" --check \"{check}\""));
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 1, "{}", run.describe());
    assert!(feedbacks[0].starts_with("Check failed: `test -f state"), "{}", feedbacks[0]);
    assert!(told(&run).contains("every check passed · 2 iterations"));
    assert_eq!(verdicts(&project), ["continue", "end completed"]);
}

fn three_iterations_at_most(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::start(|asked| {
        if is_prompt(asked) { shell("date +%N >> work") } else { Reply::text("not yet") }
    });
    let run = with_plugin(version, &project, &model);
    let run = run.succeeds("/speckit:ralph-loop \"Never done\" --max-iterations 3");
    assert_eq!(project.read("work").lines().count(), 3);
    assert!(
        told(&run).starts_with("Ralph-speckit: ended (max_iters, MAX_ITERATIONS_REACHED)"),
        "{}",
        told(&run)
    );
    assert_eq!(verdicts(&project), ["continue", "continue", "end max_iters"]);
}

fn cancel_ends_midway(version: &str) {
    const SESSION: &str = "21111111-2222-4333-8444-555555555555";
    let project = Project::new();
    let model = ScriptedModel::start(|asked| match asked.number {
        1..=4 if is_prompt(asked) => shell("date +%N >> work"),
        5 => Reply::error(403, "permission_error", "not now"),
        _ => Reply::text("I stop here."),
    });
    let client = with_plugin(version, &project, &model);
    let first =
        client.clone().session(SESSION).run("/speckit:ralph-loop \"Go on\"").expect("a run");
    assert_eq!(first.hook_feedbacks().len(), 2, "{}", first.describe());
    let spent = model.requests().len();
    let cancelled = client.clone().resume(SESSION).succeeds("/speckit:cancel-ralph");
    assert_eq!(model.requests().len(), spent, "{}", cancelled.describe());
    let notice = cancelled.notices().remove(0);
    assert!(notice.contains("ended (cancelled): "), "{notice}");
    let later = client.resume(SESSION).run("One more thing.").expect("a run");
    assert_eq!(later.hook_feedbacks(), [""; 0], "{}", later.describe());
    assert_eq!(verdicts(&project), ["continue", "continue", "end cancelled"]);
}

fn task_arrives_whole_unrun(version: &str) {
    let task =
        "Say \"it's $(touch pwned)\" and `touch pwned`\n---\nkey: 'value' -- $& \\1 \u{1f600}";
    let project = Project::new();
    let model = ScriptedModel::playing(vec![
        shell("true"),
        Reply::text("not yet"),
        shell("true"),
        Reply::text(PROMISE),
    ]);
    let run = with_plugin(version, &project, &model);
    let prompt = format!("/speckit:ralph-loop \"{task}\" --max-iterations=9");
    let run = run.succeeds(&prompt);
    let first = model.main_requests()[0].body.to_string();
    let escaped = json!(format!("Task:\n{task}\n\nThe rules are strict")).to_string();
    assert!(first.contains(escaped.trim_matches('"')), "{first}");
    let feedback = &run.hook_feedbacks()[0];
    assert_repeats(feedback, task);
    assert!(!project.path().join("pwned").exists());
}

/// Fails unless an agent that is sent back reads its task again.
pub fn assert_repeats(feedback: &str, task: &str) {
    let (_, told) = feedback.rsplit_once("Original task: ").expect("the task");
    assert_eq!(told, task);
}

fn two_sessions_share_a_folder(version: &str) {
    let project = Project::new();
    // Each of them waits in its third request until the other one is there.
    let (one_is_there, wait_for_one) = channel();
    let (other_is_there, wait_for_other) = channel();
    let agent = |name: &'static str,
                 here: std::sync::mpsc::Sender<()>,
                 there: std::sync::mpsc::Receiver<()>| {
        ScriptedModel::start(move |asked| {
            if asked.number == 3 {
                here.send(()).expect("the other session");
                there.recv().expect("the other session");
            }
            match asked.number {
                1 | 3 | 5 => shell(&format!("echo {name} >> {name}")),
                6 => Reply::text(&format!("<promise>{name}</promise>")),
                _ => Reply::text("<promise>NO</promise>"),
            }
        })
    };
    let one = agent("ONE", one_is_there, wait_for_other);
    let other = agent("OTHER", other_is_there, wait_for_one);
    let clients = [with_plugin(version, &project, &one), with_plugin(version, &project, &other)];
    let names = ["ONE", "OTHER"];
    thread::scope(|scope| {
        let runs: Vec<_> = clients
            .iter()
            .zip(names)
            .map(|(client, name)| {
                let prompt =
                    format!("/speckit:ralph-loop \"Write {name}\" --completion-promise {name}");
                scope.spawn(move || client.run(&prompt).expect("a run"))
            })
            .collect();
        for (run, name) in runs.into_iter().zip(names) {
            let run = run.join().expect("a session");
            assert!(run.is_success(), "{}", run.describe());
            let feedbacks = run.hook_feedbacks();
            assert_eq!(feedbacks.len(), 2, "{}", run.describe());
            assert!(
                feedbacks
                    .iter()
                    .all(|feedback| feedback.ends_with(&format!("Original task: Write {name}")))
            );
            assert!(
                told(&run).contains("(PROMISE_ACCEPTED): ")
                    && told(&run).contains(" · 3 iterations")
            );
        }
    });
}

fn talking_agent_precedes_client_cap(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![Reply::text("Shall I begin?")]);
    let run = with_plugin(version, &project, &model);
    let run = run.succeeds("/speckit:ralph-loop \"Do it\"");
    assert_eq!(model.main_requests().len(), 3, "{}", run.describe());
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    assert!(told(&run).contains("(no_progress)"), "{}", told(&run));
    assert_eq!(verdicts(&project), ["continue", "continue", "end no_progress"]);
}

fn needing_agent_ends_the_loop(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![
        shell("spool block 'Give me the password'"),
        Reply::text("I need the password."),
    ]);
    let run = with_plugin(version, &project, &model);
    let run = run.succeeds("/speckit:ralph-loop \"Do it\"");
    assert_eq!(run.hook_feedbacks(), [""; 0], "{}", run.describe());
    assert!(
        told(&run).contains("(blocked)") && told(&run).contains("Give me the password"),
        "{}",
        told(&run)
    );
    assert_eq!(verdicts(&project), ["end blocked"]);
}

fn a_mistyped_flag_costs_no_token(version: &str) {
    let project = Project::new();
    let model = ScriptedModel::playing(vec![Reply::text("nothing")]);
    let run = with_plugin(version, &project, &model);
    let run = run.succeeds("/speckit:ralph-loop \"Do it\" --max-iteration 3");
    assert_eq!(model.requests().len(), 0, "{}", run.describe());
    assert!(run.notices()[0].contains("unknown option `--max-iteration`"), "{:?}", run.notices());
    assert!(!project.path().join(".claude").exists());
}
