//! What spec-kit asks for around an implementation: its checklists before it, its extensions' hooks after it.

use crate::support::on_every_client;
use crate::workshop::{Worker, Workshop};
use scripted_model::{Reply, ScriptedModel};
use serde_json::json;

on_every_client! {
    open_checklists_stop_the_command_and_a_mandatory_hook_is_part_of_being_done
}

const SKILL: &str =
    "---\nname: speckit-lint\ndescription: Look over the work\n---\n\nSay that all is well.\n";
const HOOKS: &str = "hooks:\n  after_implement:\n  - extension: lint\n    command: speckit.lint\n    enabled: true\n    optional: false\n    condition: null\n";

fn open_checklists_stop_the_command_and_a_mandatory_hook_is_part_of_being_done(version: &str) {
    let workshop = Workshop::with_tasks(1);
    workshop.project.write(".claude/skills/speckit-lint/SKILL.md", SKILL);
    workshop.project.write(".specify/extensions.yml", HOOKS);
    workshop.project.write(&Workshop::in_feature("checklists/ux.md"), "- [ ] CHK001 Clear\n");
    let model = ScriptedModel::playing(vec![
        Worker::work_on("T001"),
        Reply::text("Everything is done.\n\nALL_TASKS_COMPLETE"),
        Reply::tool("Skill", json!({"skill": "speckit-lint"})),
        Reply::text("All is well.\n\nALL_TASKS_COMPLETE"),
    ]);
    let model = model.expect("a model");
    let client = workshop.client(version, &model);

    let refused = client.run("/speckit:implement").expect("a run");
    assert!(refused.is_success(), "{}", refused.describe());
    assert!(refused.notices()[0].contains("ux.md: 1 of 1 open"), "{}", refused.describe());
    assert!(model.requests().is_empty(), "{}", refused.describe());

    let run = client.run("/speckit:implement --ignore-checklists").expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(workshop.verdicts(), ["continue", "end completed"], "{}", run.describe());
    let requests = model.main_requests();
    assert_eq!(requests.len(), 4, "{}", run.describe());
    assert!(requests[2].last_text().contains("have not: /speckit-lint"), "{}", run.describe());
    workshop.assert_all_done(1);
}
