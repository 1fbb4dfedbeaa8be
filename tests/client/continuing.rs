//! How the client takes a stop that sends the agent back: as a block, or as more context in the versions that know it.

use crate::support::on_every_client;
use crate::workshop::Workshop;
use scripted_model::ScriptedModel;

on_every_client! {
    gate gate twenty_stops_reach_model_once
}

fn twenty_stops_reach_model_once(version: &str) {
    let workshop = Workshop::with_tasks(21);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(21);
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 20, "{}", run.describe());
    let takes_context = version == "2.1.332";
    assert_eq!(run.stop_contexts().len(), if takes_context { 20 } else { 0 });
    let mut verdicts = vec!["continue"; 20];
    verdicts.push("end completed");
    assert_eq!(workshop.verdicts(), verdicts);

    // The conversation as the model has it in the end.
    let requests = model.main_requests();
    let last = requests.last().expect("a request").body["messages"].to_string();
    for iteration in 1..=20 {
        let head = format!("(Task {}/21, Iter {iteration})", iteration + 1);
        assert_eq!(last.matches(&head).count(), 1, "{head}: {last}");
    }
    assert!(!last.contains("blocking error"), "{last}");
    assert_eq!(last.contains("Stop hook feedback"), !takes_context, "{last}");
    assert_eq!(model.complaints(), [""; 0]);
}
