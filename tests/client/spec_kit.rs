//! Spec-kit's own implement command, and what spec-kit asks for around it: its checklists before it, its extensions' hooks
//! after it.

use crate::headless::ClientRun;
use crate::screen::{assert_no_trouble, start, tmux_is_there, type_line};
use crate::support::on_every_client;
use crate::workshop::{Worker, Workshop};
use scripted_model::{Reply, ScriptedModel};
use serde_json::json;

on_every_client! {
    gate night checklists_and_hooks_take_part
    night night own_command_does_named_tasks
    night night own_command_works_printed
    gate night own_command_works_on_screen
    night night agent_called_command_arms_nothing
    night night a_scheduled_task_arms_nothing
}

const SKILL: &str =
    "---\nname: speckit-lint\ndescription: Look over the work\n---\n\nSay that all is well.\n";
const HOOKS: &str = "hooks:\n  after_implement:\n  - extension: lint\n    command: speckit.lint\n    enabled: true\n    optional: false\n    condition: null\n";

fn checklists_and_hooks_take_part(version: &str) {
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
    let client = workshop.client(version, &model);

    let refused = client.succeeds("/speckit:implement");
    assert!(refused.notices()[0].contains("ux.md: 1 of 1 open"), "{}", refused.describe());
    assert!(model.requests().is_empty(), "{}", refused.describe());

    let run = client.succeeds("/speckit:implement --ignore-checklists");
    assert_eq!(workshop.verdicts(), ["continue", "end completed"], "{}", run.describe());
    let requests = model.main_requests();
    assert_eq!(requests.len(), 4, "{}", run.describe());
    assert!(requests[2].last_text().contains("have not: /speckit-lint"), "{}", run.describe());
    workshop.assert_all_done(1);
}

/// What `specify init` writes for Claude Code.
const IMPLEMENT: &str = include_str!("../fixtures/spec-kit/implement-skill.md");
const REQUIREMENTS: &str = include_str!("../fixtures/spec-kit/requirements.md");
const TYPED: &str = "/speckit-implement T001-T005 use python 3.12";
const TASKS: &str = "specs/001-demo/tasks.md";
const LIST: &str = "\
# Tasks: Demo

## Phase 1: Setup
- [ ] T001 Create the project
- [ ] T002 [P] Add a linter
- [ ] T003 [P] Add a formatter

## Phase 2: User Story 1
- [ ] T004 [US1] Show the list in src/show.py
- [ ] T005 [US1] Store the list in src/store.py
- [ ] T006 [US1] Sort the list in src/sort.py

## Phase 3: Polish
- [ ] T007 Describe it in README.md
- [ ] T008 Time it
";
/// What a person reads when the command has armed the loop.
const ARMED: &str = "\
Ralph-speckit: armed: 001-demo · 5 open tasks · at most 100 iterations
No checks: the list decides. Add them in .claude/ralph-speckit.local.md.
Only these tasks: T001-T005. Every other box is left as it is.
Words for the agent: use python 3.12
To stop it: Esc, then /speckit:cancel";
/// What a person reads at each of the three stops at which the agent is sent back.
const SENT_BACK: [&str; 3] = [
    "Ralph-speckit: 1 of 5 done · iteration 1 · next T002",
    "Ralph-speckit: 2 of 5 done · iteration 2 · next T003",
    "Ralph-speckit: claimed done, but 2 of 5 are open · next T004",
];
const DONE: &str = "Ralph-speckit: done: 001-demo · 5 of 5 named tasks · 4 iterations · ";

/// A project as spec-kit 1.2.3 lays it out, with a list of eight tasks.
fn demo() -> Workshop {
    let workshop = Workshop::empty();
    let project = &workshop.project;
    project.write(".claude/skills/speckit-implement/SKILL.md", IMPLEMENT);
    project.write(".specify/feature.json", r#"{"feature_directory": "specs/001-demo"}"#);
    let checked = REQUIREMENTS.replace("- [ ]", "- [x]");
    project.write("specs/001-demo/checklists/requirements.md", &checked);
    project.write(TASKS, LIST);
    workshop
}

/// An agent that stops twice, claims once that all is done, and then does what is left. It ticks the boxes by hand.
fn agent() -> ScriptedModel {
    let work = |id: &str, file: &str| {
        let tick = format!("sed -i 's/^- \\[ \\] {id} /- [X] {id} /' {TASKS}");
        let command = format!("mkdir -p src && echo 'the work of {id}' >> {file} && {tick}");
        let input = json!({"command": command, "description": format!("do {id}")});
        Reply::text(&format!("I do {id}.")).and_tool("Bash", input)
    };
    let replies = vec![
        work("T001", "pyproject.toml"),
        Reply::text("That is one. I stop here."),
        work("T002", "lint.toml"),
        Reply::text("That is two. I stop here."),
        work("T003", "format.toml"),
        Reply::text("All five are done. I stop here.\n\nALL_TASKS_COMPLETE"),
        work("T004", "src/show.py"),
        work("T005", "src/store.py"),
        Reply::text("Now they are.\n\nALL_TASKS_COMPLETE"),
    ];
    ScriptedModel::playing(replies)
}

/// Fails unless the five boxes are ticked and no other, and every text of ours reached the model once.
fn assert_the_part_is_done(version: &str, workshop: &Workshop, model: &ScriptedModel) {
    let done = ["T001", "T002", "T003", "T004", "T005"].iter().fold(LIST.to_owned(), |list, id| {
        list.replace(&format!("- [ ] {id} "), &format!("- [X] {id} "))
    });
    assert_eq!(workshop.project.read(TASKS), done);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "continue", "end completed"]);
    let requests = model.main_requests();
    assert_eq!(requests.len(), 9);
    // Spec-kit's instructions are the prompt, with what was typed behind the command.
    let first = requests[0].first_text();
    assert!(first.contains("\n```text\nT001-T005 use python 3.12\n```\n"), "{first}");
    assert!(first.contains("6. Execute implementation following the task plan:"), "{first}");

    let last = requests[8].body["messages"].to_string();
    for words in [
        "ralph-speckit: the loop is armed: feature 001-demo, 5 of 5 tasks open, next T001.",
        "\\nOnly these tasks: T001-T005. Every other box is left as it is.\\n",
        "\\nWords for the agent: use python 3.12\\n",
        "Work by the outline of this command. Where the two differ, this counts:",
        "Continue feature: 001-demo (Task 2/5, Iter 1)",
        "Continue feature: 001-demo (Task 3/5, Iter 2)",
        "Continue feature: 001-demo (Task 4/5, Iter 3)",
    ] {
        assert_eq!(last.matches(words).count(), 1, "{words:?} in {last}");
    }
    assert_eq!(last.contains("Stop hook feedback"), version == "2.1.143", "{last}");
    assert_eq!(model.complaints(), [""; 0]);
}

fn ended(run: &ClientRun) {
    assert_eq!(run.exit_code, Some(0), "{}", run.describe());
    assert!(!run.timed_out, "{}", run.describe());
}

fn own_command_does_named_tasks(version: &str) {
    let (workshop, model) = (demo(), agent());
    let run = workshop.client(version, &model).run(TYPED).expect("a run");
    ended(&run);
    assert!(run.is_success(), "{}", run.describe());
    assert_the_part_is_done(version, &workshop, &model);
    assert_eq!(run.hook_feedbacks().len(), 3, "{}", run.describe());
    assert_eq!(run.system_messages("UserPromptExpansion"), [ARMED], "{}", run.describe());
    let told = run.system_messages("Stop");
    assert_eq!(told[..3], SENT_BACK, "{told:?}");
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[3].starts_with(DONE), "{told:?}");
}

fn own_command_works_printed(version: &str) {
    let (workshop, model) = (demo(), agent());
    let client = workshop.client(version, &model).argument("--output-format").argument("text");
    let run = client.run(TYPED).expect("a run");
    ended(&run);
    assert_eq!(run.lines, [""; 0], "{}", run.describe());
    assert_the_part_is_done(version, &workshop, &model);
    // Lines without a word are not kept.
    assert_eq!(run.stray_lines, ["Now they are.", "ALL_TASKS_COMPLETE"]);
}

fn own_command_works_on_screen(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let (workshop, model) = (demo(), agent());
    let terminal = start(&workshop, &workshop.client(version, &model));
    type_line(&terminal, TYPED);
    terminal.wait_for(DONE);
    assert_the_part_is_done(version, &workshop, &model);
    let screen = terminal.screen();
    // The client moves the lines behind the first one to the right.
    let shown = screen.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert!(shown.contains(ARMED), "{screen}");
    for line in SENT_BACK {
        assert_eq!(shown.matches(&format!("Stop says: {line}")).count(), 1, "{line}:\n{screen}");
    }
    // An older client has no answer but a block, and calls it an error.
    if version == "2.1.332" {
        assert_no_trouble(&screen, "I stop here.");
    }
}

/// Only what a person types arms a loop: the text of a repository can lead an agent to call the commands by itself.
fn agent_called_command_arms_nothing(version: &str) {
    let workshop = demo();
    workshop.project.write(".claude/ralph-speckit.local.md", "---\nchecks:\n  - touch ran\n---\n");
    let mut replies: Vec<Reply> = ["speckit-implement", "speckit:implement", "speckit:ralph-loop"]
        .iter()
        .map(|name| Reply::tool("Skill", json!({"skill": name, "args": "T001"})))
        .collect();
    replies.push(Reply::text("Done."));
    let model = ScriptedModel::playing(replies);
    let client = workshop.client(version, &model);
    let run = client.run("Work on the tasks").expect("a run");
    assert_eq!(model.main_requests().len(), 4, "{}", run.describe());
    assert!(!workshop.project.path().join(".claude/ralph").exists(), "{}", run.describe());
}

/// Nor does what an agent has scheduled: the client enters it as a prompt, as if a person had typed it.
fn a_scheduled_task_arms_nothing(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = demo();
    workshop.project.write(".claude/ralph-speckit.local.md", "---\nchecks:\n  - touch ran\n---\n");
    let model = ScriptedModel::start(move |asked| match asked.number {
        1 => Reply::tool("ToolSearch", json!({"query": "select:CronCreate"})),
        2 => Reply::tool(
            "CronCreate",
            json!({"cron": "* * * * *", "prompt": TYPED, "recurring": false}),
        ),
        _ => Reply::text("Scheduled, I think."),
    });
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client);
    type_line(&terminal, "Schedule it");
    model.wait_for_main_request(3);
    // The command runs without a loop, at the next minute.
    model.wait_for_main_request(4);
    terminal.wait_for("Ralph-speckit: no loop: a scheduled task entered this command");
    assert_eq!(model.main_requests().len(), 4, "no turn more:\n{}", terminal.screen());
    assert!(!workshop.project.path().join(".claude/ralph").exists(), "{}", terminal.screen());
    // What a person types arms, also after such a turn.
    type_line(&terminal, TYPED);
    terminal.wait_for("Ralph-speckit: armed: 001-demo · 5 open tasks");
}
