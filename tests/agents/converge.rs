//! Spec-kit's converge command as an iteration of its own: the agent program reads its file and does what it says.

use crate::agent::{Agent, on_every_agent};
use crate::ralph::assert_nothing_is_left;
use crate::stage::Stage;
use scripted_model::{Asked, Reply};

on_every_agent! {
    night night night converge_tasks_run_without_third_round
}

/// What `specify init` writes for Claude Code; every agent program can read it.
const CONVERGE: &str = include_str!("../fixtures/spec-kit/converge-skill.md");
const SKILL: &str = ".claude/skills/speckit-converge/SKILL.md";
const LIST: &str = "specs/001-demo/tasks.md";

/// Whether the prompt of an iteration is to carry out the command.
fn is_to_converge(asked: &Asked) -> bool {
    asked.body.to_string().contains("and carry out what it says, as if a person had typed")
}

fn converge_tasks_run_without_third_round(agent: Agent) {
    let stage = Stage::new(agent, |scene| {
        let skill = scene.project.join(SKILL);
        let (mut rounds, mut step) = (0, 0);
        move |asked: &Asked| {
            step = if asked.tool_results().is_empty() { 0 } else { step + 1 };
            match (is_to_converge(asked), step) {
                (true, 0) => agent.reads(&skill),
                (true, 1) => {
                    rounds += 1;
                    // What it has read is what it carries out.
                    let text = asked.tool_results().concat();
                    assert!(text.contains("APPEND-ONLY, NEVER REWRITE"), "{text}");
                    let (phase, id) = (rounds + 1, rounds + 1);
                    agent.shell(&format!(
                        "printf '\\n## Phase {phase}: Convergence\\n\\n- [ ] T00{id} Log it in log.txt per FR-001 (partial)\\n' >> {LIST}"
                    ))
                }
                (true, _) => Reply::text("One task is appended."),
                (false, 0) => agent.shell(&format!(
                    "echo more >> log.txt; sed -i '0,/- \\[ \\]/s//- [X]/' {LIST}"
                )),
                (false, _) => Reply::text("The task is done."),
            }
        }
    });
    stage.write(".specify/feature.json", "{\"feature_directory\": \"specs/001-demo\"}");
    stage.write("specs/001-demo/spec.md", "# Demo\n\n- **FR-001**: System MUST log\n");
    stage.write(LIST, "## Phase 1: Setup\n\n- [ ] T001 Log in log.txt\n");
    stage.write(SKILL, CONVERGE);
    stage.commit("the feature");
    agent.trust(&stage.home(), &stage.root);
    let (printed, facts) =
        stage.ended(stage.ralph_on("001-demo", &["--allow-all", "--converge"]), 0);
    let words =
        "converge found more to do in both of its rounds: nobody has compared the code since";
    assert!(printed.contains(words), "{facts}");
    // The task, a round, its task, the second round, its task.
    assert_eq!(stage.state()["ledger"]["iterations"], 5, "{facts}");
    let is_begun = |request: &Asked| request.tool_results().is_empty();
    let requests = stage.model.main_requests();
    let begun = requests.iter().filter(|request| is_begun(request));
    let converged: Vec<bool> = begun.map(|request| is_to_converge(request)).collect();
    assert_eq!(converged, [false, true, false, true, false], "{facts}");
    let list = stage.read(LIST);
    for id in ["T001", "T002", "T003"] {
        assert!(list.contains(&format!("- [X] {id} ")), "{list}");
    }
    assert!(!list.contains("[ ]"), "{list}");
    assert_nothing_is_left(&stage);
}
