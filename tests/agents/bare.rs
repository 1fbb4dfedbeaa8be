//! Each program by itself: started as its adapter starts it, it edits a real file and prints what its adapter reads.

use crate::agent::{Agent, on_every_agent};
use crate::stage::Stage;
use ralph_speckit::runner::harness::{
    AgentEvent, AgentOrder, AgentReport, Approval, ExitInfo, Input, Permissions, RunOutcome,
    Stream, harness,
};
use scripted_model::{Reply, Usage};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

on_every_agent! {
    gate gate gate stage_answers_as_programs_do
    night night night tool_call_edits_a_file
    night gate night long_prompts_arrive_whole
    night night night a_reader_reads_and_changes_nothing
}

const USAGE: Usage = Usage { input: 1000, cache_read: 40, cache_write: 0, output: 50, thinking: 7 };

fn stage_answers_as_programs_do(agent: Agent) {
    let stage = Stage::new(agent, |_| |_| Reply::text("never"));
    for (question, answer) in agent.answers() {
        let program = agent.installed();
        let said = stage.command(&program).args(question.split(' ')).output().expect("the program");
        let told = String::from_utf8_lossy(&said.stdout);
        assert!(told.contains(answer.trim_matches(['{', '}'])), "{question}: {said:?}");
    }
}

fn tool_call_edits_a_file(agent: Agent) {
    let stage = Stage::new(agent, |_| {
        move |asked| {
            if asked.tool_results().is_empty() {
                return agent.shell("echo edited > proof.txt").usage(USAGE);
            }
            Reply::text("All done.").usage(USAGE)
        }
    });
    let (report, events) = play(&stage, "Write the proof, please.", Approval::All);
    let facts = format!("{report:?}\n{events:?}\n{}", stage.facts());
    assert_eq!(stage.read("proof.txt"), "edited\n", "{facts}");
    assert_eq!(report.outcome, RunOutcome::Finished, "{facts}");
    assert_eq!(report.final_text, "All done.", "{facts}");
    assert_eq!(report.tool_calls, Some(1), "{facts}");
    assert!(report.denied.is_empty() && report.session.is_some(), "{facts}");
    let reported = stage.model.usage().0 + stage.model.usage().1;
    assert_eq!(reported, USAGE + USAGE, "{facts}");
    let tokens = report.tokens.expect("a count of tokens");
    assert_eq!(tokens.total(), reported.total(), "{facts}");
    assert_eq!(tokens.cache_read, 80, "{facts}");
    assert!(events.contains(&AgentEvent::Said("All done.".to_owned())), "{facts}");
    assert!(events.iter().any(|event| matches!(event, AgentEvent::Called { .. })), "{facts}");
    assert!(stage.model.complaints().is_empty(), "{facts}");
}

fn long_prompts_arrive_whole(agent: Agent) {
    let stage = Stage::new(agent, |_| |_| Reply::text("Read."));
    let line = "$(touch pwned) `touch pwned` \"quotes\" 'and' \\ <tags> — ünïcödé\n\n";
    let short = line.trim_end().to_owned();
    let long = format!("Begin.\n{}End.", line.repeat(3000));
    for prompt in [short, long] {
        let before = stage.model.main_requests().len();
        let (report, _) = play(&stage, &prompt, Approval::All);
        assert_eq!(report.final_text, "Read.", "{report:?}\n{}", stage.facts());
        let asked = &stage.model.main_requests()[before];
        let said = asked.first_text();
        let whole = asked.body["messages"].to_string();
        let escaped = serde_json::to_string(&prompt).expect("a string");
        assert!(
            said.contains(&prompt) || whole.contains(escaped.trim_matches('"')),
            "{} bytes of {}: {:.3000}",
            said.len(),
            prompt.len(),
            said
        );
    }
    assert!(!stage.path("pwned").exists());
}

fn a_reader_reads_and_changes_nothing(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        let file = |name: &str| scene.project.join(name);
        let (readme, proof) = (file("README.md"), file("proof.txt"));
        let mut calls = 0;
        move |_| {
            calls += 1;
            match calls {
                1 => agent.reads(&readme),
                2 => agent.shell("echo edited > proof.txt"),
                3 => agent.writes(&proof, "written"),
                _ => Reply::text("Read."),
            }
        }
    });
    // What a project or a person allows besides counts for the work, not here.
    agent.trust(&stage.home(), &stage.root);
    let allowed = r#"{"permissions": {"allow": ["Bash", "Write", "Edit"]}}"#;
    stage.write(".claude/settings.json", allowed);
    if agent == Agent::Codex {
        let config = stage.home().join(".codex/config.toml");
        let text = fs::read_to_string(&config).expect("its settings");
        fs::write(config, format!("sandbox_mode = \"danger-full-access\"\n{text}"))
            .expect("a file");
    }
    let before = stage.git(&["status", "--porcelain", "--ignored"]);
    let (report, _) = play(&stage, "Read the project, please.", Approval::ReadOnly);
    let facts = format!("{report:?}\n{}", stage.facts());
    assert_eq!(report.outcome, RunOutcome::Finished, "{facts}");
    assert_eq!(report.final_text, "Read.", "{facts}");
    assert_eq!(stage.git(&["status", "--porcelain", "--ignored"]), before, "{facts}");
    let asked = stage.model.main_requests();
    assert_eq!(asked.len(), 4, "all three calls were made: {facts}");
    // The sandbox of Codex needs what this machine may not have; without it nothing runs at all.
    let read = asked[1].tool_results().join("\n");
    assert!(read.contains("A project of a test.") || agent == Agent::Codex, "{read}\n{facts}");
}

/// Runs the program as its adapter starts it and returns what its adapter makes of it.
fn play(stage: &Stage, prompt: &str, approval: Approval) -> (AgentReport, Vec<AgentEvent>) {
    let scratch = stage.home().join("scratch");
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let order = AgentOrder {
        prompt,
        model: Some(stage.agent().model()),
        version: stage.agent().version(),
        approval,
        permissions: &Permissions::default(),
        resume: None,
        folder: &stage.root,
        scratch: &scratch,
    };
    let harness = harness(&stage.agent().choice()).expect("an adapter");
    let launch = harness.launch(&order).expect("a command line");
    let mut reader = harness.reader(&order);
    let mut command = stage.command(&launch.program);
    command.args(&launch.arguments).envs(launch.set.iter().map(|(name, value)| (name, value)));
    // Files, not pipes: Gemini CLI leaves without what a pipe has not yet taken.
    let (printed, errors) = (scratch.join("printed"), scratch.join("errors"));
    let file = |path: &Path| File::create(path).expect("a file for what is printed");
    command.stdin(Stdio::piped()).stdout(file(&printed)).stderr(file(&errors));
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    if let Input::Text(text) = launch.input {
        input.write_all(&text).expect("the prompt is taken");
    }
    drop(input);
    let status = child.wait().expect("the program ends");
    let mut events = Vec::new();
    for (stream, path) in [(Stream::Errors, &errors), (Stream::Output, &printed)] {
        let bytes = fs::read(path).expect("what was printed");
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            reader.line(stream, line, &mut |event| events.push(event));
        }
    }
    let left = ExitInfo { code: status.code(), signal: status.signal(), ..ExitInfo::default() };
    (reader.report(&left), events)
}
