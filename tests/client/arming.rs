//! Commands that cost no token: a refused start, and the report.

use crate::support::{Project, client, on_every_client};
use crate::workshop::{STATE, Workshop, assembled_plugin};
use scripted_model::{Reply, ScriptedModel};
use std::fs;

on_every_client! {
    night night unstartable_command_arms_nothing
    night night status_spends_no_request
}

fn unstartable_command_arms_nothing(version: &str) {
    let bare = Project::new();
    let empty = Project::new();
    empty.write(".specify/memory/constitution.md", "Be kind.\n");
    let without_list = Workshop::with_tasks(1);
    fs::remove_file(without_list.path_of("tasks.md")).expect("a list to remove");
    let finished = Workshop::with_tasks(1);
    let ticked =
        finished.project.read(&Workshop::in_feature("tasks.md")).replace("[ ] T001", "[x] T001");
    finished.project.write(&Workshop::in_feature("tasks.md"), &ticked);
    let ready = Workshop::with_tasks(1);

    let cases = [
        (&bare, "/speckit:implement", "this is no spec-kit project"),
        (&empty, "/speckit:implement", "no feature is selected"),
        (&empty, "/speckit:implement 009-nothing", "there is no folder for feature `009-nothing`"),
        (&without_list.project, "/speckit:implement", "has no task list to work through"),
        (&finished.project, "/speckit:implement", "nothing is open: all 1 tasks"),
        (&ready.project, "/speckit:implement --max-iterations none", "needs a whole number"),
        (&ready.project, "/speckit:implement --fast", "unknown option `--fast`"),
        (&ready.project, "/speckit:implement ../001-long-list", "cannot be a feature"),
        (&ready.project, "/speckit:cancel", "nothing to cancel"),
    ];
    for (project, command, words) in cases {
        let model = ScriptedModel::playing(vec![Reply::text("never")]);
        let client = client(version, project, &model).plugin(assembled_plugin());
        let run = client.run(command).expect("a run");
        assert!(run.is_success(), "{command}: {}", run.describe());
        assert!(model.requests().is_empty(), "{command}: {}", run.describe());
        let notices = run.notices();
        assert_eq!(notices.len(), 1, "{command}: {}", run.describe());
        assert!(notices[0].contains(words), "{command}: {}", run.describe());
        assert!(notices[0].contains("Ralph-speckit: "), "{command}: {}", run.describe());
        assert!(!project.path().join(".claude").exists(), "{command} left something behind");
        let state = project.path().join(Workshop::in_feature(STATE));
        assert!(!state.exists(), "{command} left a state file");
    }
}

fn status_spends_no_request(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = workshop.client(version, &model);
    let before = client.succeeds("/speckit:status");
    assert!(before.notices()[0].contains("Loop: none"), "{}", before.describe());
    assert!(model.requests().is_empty(), "{}", before.describe());

    client.succeeds("/speckit:implement");
    let spent = model.requests().len();

    let after = client.succeeds("/speckit:status");
    assert_eq!(model.requests().len(), spent, "{}", after.describe());
    let report = after.notices().remove(0);
    for words in ["Loop: done: ", "Tasks: 3 of 3 done", "Sent back: 2 times"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert_eq!(workshop.journal().len(), 4, "{:?}", workshop.journal());
}
