//! Each program by itself: started as its adapter starts it, it edits a real file and prints what its adapter reads.

use crate::agent::{Agent, on_every_agent};
use crate::stage::Stage;
use ralph_speckit::rehearsal::{Reply, ScriptedModel, Usage};

on_every_agent! {
    a_tool_call_edits_a_real_file_and_the_stream_tells_of_it
}

const USAGE: Usage = Usage { input: 1000, cache_read: 40, cache_write: 0, output: 50, thinking: 7 };

fn a_tool_call_edits_a_real_file_and_the_stream_tells_of_it(agent: Agent) {
    let model = ScriptedModel::start(move |asked| {
        if asked.tool_results().is_empty() {
            return agent.shell("echo edited > proof.txt").usage(USAGE);
        }
        Reply::text("All done.").usage(USAGE)
    });
    let stage = Stage::new(agent, model.expect("a model"));
    let line: &[&str] = match agent {
        Agent::Claude => &[
            "-p",
            "do it",
            "--output-format",
            "stream-json",
            "--verbose",
            "--dangerously-skip-permissions",
            "--model",
            agent.model(),
        ],
        Agent::Codex => &[
            "exec",
            "--json",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            "-m",
            agent.model(),
            "do it",
        ],
        Agent::Opencode => {
            &["run", "--format", "json", "-m", agent.model(), "--auto", "--title", "t", "do it"]
        }
        Agent::Gemini => {
            &["-p", "do it", "-m", agent.model(), "-o", "stream-json", "--yolo", "--skip-trust"]
        }
        Agent::Copilot => {
            &["-p", "do it", "--output-format", "json", "--yolo", "--model", agent.model()]
        }
    };
    let output = stage
        .command(&agent.program().unwrap())
        .args(line)
        .env("IS_SANDBOX", "1")
        .output()
        .expect("a run");
    let printed = String::from_utf8_lossy(&output.stdout);
    println!("{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    for asked in stage.model.requests() {
        println!(
            "{:?} {} {:?}",
            asked.asker,
            asked.number,
            asked.last_text().chars().take(300).collect::<String>()
        );
    }
    println!("{:?} {:?}", stage.model.usage(), stage.model.complaints());
    println!("{:?}", stage.processes());
    assert_eq!(stage.read("proof.txt"), "edited\n");
    assert!(output.status.success());
}
