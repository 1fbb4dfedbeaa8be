//! A plain checkout as the plugin: its launchers find the installed programs, and the loop is the same.

use crate::support::{client, on_every_client};
use crate::workshop::{Workshop, programs};
use scripted_model::ScriptedModel;
use std::fs;
use std::path::Path;

on_every_client! {
    night night checkout_finds_programs_and_loops
}

/// A path without our programs, wherever the tests run.
const PLAIN_PATH: &str = "/usr/bin:/bin";

/// Where `spool setup` puts the programs comes first, whatever is built in the checkout.
fn checkout_finds_programs_and_loops(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let data = workshop.project.path().join("data");
    fs::create_dir_all(data.join("ralph-speckit/bin")).expect("a folder");
    for (name, program) in programs().named() {
        fs::copy(program, data.join("ralph-speckit/bin").join(name)).expect("a program");
    }
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = client(version, &workshop.project, &model)
        .plugin(Path::new(env!("CARGO_MANIFEST_DIR")))
        .variable("PATH", PLAIN_PATH)
        .variable("XDG_DATA_HOME", &data);
    let run = client.succeeds("/speckit:implement");
    workshop.assert_all_done(3);
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
}
