//! A plain checkout as the plugin: its launchers find the installed programs, or say how to install them.

use crate::support::{Project, client, on_every_client};
use crate::workshop::{Workshop, programs};
use ralph_speckit::plugin::files::FILES;
use ralph_speckit::rehearsal::{Reply, ScriptedModel};
use std::fs;
use std::path::{Path, PathBuf};

on_every_client! {
    a_checkout_without_programs_lets_the_agent_stop_and_says_once_how_to_install
    a_checkout_finds_the_installed_programs_and_loops
}

/// A path without our programs, wherever the tests run.
const PLAIN_PATH: &str = "/usr/bin:/bin";

fn a_checkout_without_programs_lets_the_agent_stop_and_says_once_how_to_install(version: &str) {
    let workshop = Workshop::with_tasks(2);
    let checkout = copy_of_the_checkout(&workshop.project);
    let model = ScriptedModel::playing(vec![Reply::text("Done for today.")]).expect("a model");
    let client = client(version, &workshop.project, &model).plugin(&checkout);
    let client = client.variable("PATH", PLAIN_PATH);

    let first = client.run("hello").expect("a run");
    assert!(first.is_success(), "{}", first.describe());
    assert_eq!(first.final_text(), "Done for today.");
    let said = first.system_messages("Stop");
    assert_eq!(said.len(), 1, "{}", first.describe());
    assert!(said[0].contains("`cargo install --path .`, then `spool setup`"), "{}", said[0]);

    // Also a command reaches the model as it is written, and nothing is said a second time.
    let second = client.run("/speckit:implement").expect("a run");
    assert!(second.is_success(), "{}", second.describe());
    assert_eq!(model.main_requests().len(), 2, "{}", second.describe());
    assert_eq!(second.hook_feedbacks(), [""; 0], "{}", second.describe());
    assert_eq!(second.system_messages("Stop"), [""; 0], "{}", second.describe());
    assert_eq!(second.system_messages("UserPromptExpansion"), [""; 0], "{}", second.describe());
    assert!(!workshop.project.path().join(".claude").exists());
}

fn a_checkout_finds_the_installed_programs_and_loops(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let data = workshop.project.path().join("data");
    fs::create_dir_all(data.join("ralph-speckit/bin")).expect("a folder");
    for (name, program) in programs().named() {
        fs::copy(program, data.join("ralph-speckit/bin").join(name)).expect("a program");
    }
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let model = model.expect("a model");
    let client = client(version, &workshop.project, &model)
        .plugin(Path::new(env!("CARGO_MANIFEST_DIR")))
        .variable("PATH", PLAIN_PATH)
        .variable("XDG_DATA_HOME", &data);
    let run = client.run("/speckit:implement").expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    workshop.assert_all_done(3, &run);
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
}

/// Copies what git holds of the plugin to where no build lies beside it.
fn copy_of_the_checkout(project: &Project) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = project.path().join("checkout");
    let launchers = ["bin/ralph-hook", "bin/spool"];
    for path in FILES.iter().map(|file| file.path).chain(launchers) {
        let to = there.join(path);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(here.join(path), to).expect("a file of the checkout");
    }
    there
}
