//! Two sessions in one project: the loop holds the one that it belongs to, and nobody else.

use crate::support::on_every_client;
use crate::workshop::Workshop;
use scripted_model::{Reply, ScriptedModel};
use std::sync::mpsc::channel;
use std::thread;

on_every_client! {
    gate night second_session_is_never_held
}

fn second_session_is_never_held(version: &str) {
    let workshop = Workshop::with_tasks(4);
    let worker = workshop.worker();
    let (second_is_gone, wait_for_second) = channel();
    let model = ScriptedModel::start(move |asked| {
        // The first loop stands in the middle of its second task until the second session has come and gone.
        if asked.number == 3 {
            wait_for_second.recv().expect("the second session");
        }
        worker.one_task_then_stop(asked)
    });
    let neighbour = ScriptedModel::playing(vec![Reply::text("Four is the answer.")]);
    let first_client = workshop.client(version, &model);
    // A run reads what was added to all transcripts of its home: this one has a home of its own.
    let home = tempfile::tempdir().expect("a home");
    let second_client = workshop.client(version, &neighbour).home(home.path());

    thread::scope(|scope| {
        let first = scope.spawn(|| first_client.run("/speckit:implement").expect("a run"));
        model.wait_for_main_request(3);
        let before = workshop.journal();
        let second = second_client.run("What is two and two?").expect("a run");
        let after = workshop.journal();
        second_is_gone.send(()).expect("the first session");
        let first = first.join().expect("the first session");

        assert!(second.is_success(), "{}", second.describe());
        assert_eq!(neighbour.main_requests().len(), 1, "{}", second.describe());
        assert_eq!(second.hook_feedbacks(), [""; 0], "{}", second.describe());
        assert_eq!(second.system_messages("Stop"), [""; 0], "{}", second.describe());
        assert_eq!(before, after, "the second session has left a trace");
        assert_eq!(before.len(), 2, "the first one has a loop with one stop: {before:?}");

        assert!(first.is_success(), "{}", first.describe());
        workshop.assert_all_done(4);
        assert_eq!(first.hook_feedbacks().len(), 3, "{}", first.describe());
        assert_eq!(workshop.verdicts(), ["continue", "continue", "continue", "end completed"]);
        let owners = workshop.journal();
        assert!(owners.iter().all(|entry| entry["session"].as_str() == first.session_id()));
    });
}
