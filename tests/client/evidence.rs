//! A person's own settings in the real client: checks that outrank the agent's word, and the switch.

use crate::support::on_every_client;
use crate::workshop::{Worker, Workshop};
use scripted_model::{Reply, ScriptedModel};

const SETTINGS: &str = ".claude/ralph-speckit.local.md";

on_every_client! {
    night night failing_check_sends_output_back
    night night switched_off_loop_holds_nobody
}

fn failing_check_sends_output_back(version: &str) {
    let workshop = Workshop::with_tasks(1);
    let check = "cat out/proof || { echo the proof is missing; exit 3; }";
    workshop.project.write("check.sh", &format!("{check}\n"));
    workshop.project.write(SETTINGS, "---\nenabled: true\nchecks:\n  - sh check.sh\n---\n");
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| {
        if asked.hook_feedback().iter().any(|reason| reason.contains("Check failed")) {
            return Worker::run("echo proved > out/proof");
        }
        match worker.next_task() {
            Some(id) => Worker::work_on(&id),
            None => Reply::text("All is done.\n\nALL_TASKS_COMPLETE"),
        }
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(1);
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 1, "{}", run.describe());
    for words in ["Check failed: `sh check.sh` (exit code 3)", "the proof is missing"] {
        assert!(feedbacks[0].contains(words), "{words}: {}", feedbacks[0]);
    }
    assert_eq!(workshop.verdicts(), ["continue", "end completed"]);
    assert_eq!(model.complaints(), [""; 0]);
}

fn switched_off_loop_holds_nobody(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| match asked.number {
        // A person switches it off while the second task is being done.
        3 => Worker::run(&format!("printf -- '---\\nenabled: false\\n---\\n' > {SETTINGS}")),
        _ => worker.one_task_then_stop(asked),
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    assert_eq!(model.main_requests().len(), 4, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 1, "{}", run.describe());
    let said = run.system_messages("Stop");
    assert_eq!(said.len(), 2, "{}", run.describe());
    assert!(said[1].contains("switches the loop of"), "{}", said[1]);
    assert_eq!(workshop.verdicts(), ["continue"]);
}
