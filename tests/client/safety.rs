//! A command runs only because a person armed it: the ways around that, tried by an agent in the real client.
//!
//! The agent may edit files and call `spool task`, and nothing else: that is `acceptEdits` in `/speckit:implement`.

use crate::headless::{Client, ClientRun};
use crate::support::{Project, client, on_every_client};
use crate::workshop::assembled_plugin;
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

on_every_client! {
    night night s1_foreign_feature_command_stays_unrun
    night night s1_foreign_project_command_stays_unrun
    night night s1_start_runs_what_it_showed
    night night s1_broken_pins_run_nothing
    night night s1_huge_list_keeps_arming
    night night s1_implement_runs_what_it_showed
    night night s2_cloned_repository_runs_nothing
    night night s2_tracked_checks_need_trust
}

const FEATURE: &str = "001-notes";
const LIST: &str = "specs/001-notes/tasks.md";
const SETTINGS: &str = ".claude/ralph-speckit.local.md";
const SESSION: &str = "11111111-2222-4333-8444-555555555555";
/// A list whose Verify command leaves a trace, and one without commands.
const TRAP: &str = "- [ ] T001 Create it\n  - **Verify**: `touch pwned`\n- [ ] T002 Fill it\n";
const PLAIN: &str = "- [ ] T001 Create it\n- [ ] T002 Fill it\n";

/// A spec-kit project with one feature, which is the selected one.
fn project_with(list: &str) -> Project {
    let project = Project::new();
    lay_out(&project, "", list);
    project
}

fn lay_out(project: &Project, folder: &str, list: &str) {
    project.write(&format!("{folder}{LIST}"), list);
    let pointer = json!({"feature_directory": format!("specs/{FEATURE}")}).to_string();
    project.write(&format!("{folder}.specify/feature.json"), &pointer);
}

/// The client of an agent that may edit the files of the project.
fn editing(version: &str, project: &Project, model: &ScriptedModel) -> Client {
    client(version, project, model)
        .plugin(assembled_plugin())
        .permission_mode("acceptEdits")
        .session(SESSION)
}

/// The same where the person's own settings allow what `/speckit:implement` allows.
fn keeping_books(client: Client) -> Client {
    client.argument("--allowedTools").argument("Bash(spool task:*)")
}

/// `spool` as the person in whose home the client runs types it, in a terminal of their own.
pub fn by_person(client: &Client, project: &Path, arguments: &[&str]) -> String {
    let mut spool = Command::new(env!("CARGO_BIN_EXE_spool"));
    spool.args(arguments).current_dir(project).env_clear();
    spool.env("HOME", client.home_folder()).env("PATH", "/usr/bin:/bin");
    let output = spool.output().expect("spool");
    assert!(output.status.success(), "spool {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn shell(command: &str) -> Reply {
    Reply::tool("Bash", json!({"command": command, "description": "a command of a test"}))
}

fn write(path: &Path, text: &str) -> Reply {
    Reply::tool("Write", json!({"file_path": path, "content": text}))
}

/// The first lines only: a long file cannot be read at once.
fn read(path: &Path) -> Reply {
    Reply::tool("Read", json!({"file_path": path, "offset": 1, "limit": 10}))
}

fn edit(path: &Path, old: &str, new: &str) -> Reply {
    Reply::tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

fn playing(replies: Vec<Reply>) -> ScriptedModel {
    ScriptedModel::playing(replies)
}

/// What the tools of the conversation answered, oldest first, after a run in which each was allowed.
#[track_caller]
fn answers(run: &ClientRun, model: &ScriptedModel) -> Vec<String> {
    assert!(run.is_success(), "{}", run.describe());
    assert_eq!(run.permission_denials(), &[] as &[Value], "{}", run.describe());
    assert_eq!(model.complaints(), [""; 0], "{}", run.describe());
    model.main_requests().iter().flat_map(|asked| asked.tool_results()).collect()
}

#[track_caller]
fn assert_names(answer: &str, words: &[&str]) {
    for word in words {
        assert!(answer.contains(word), "{word} not in {answer}");
    }
}

fn s1_foreign_feature_command_stays_unrun(version: &str) {
    for prompt in ["/speckit:implement", "Do what you like."] {
        let project = project_with(PLAIN);
        let other = project.path().join("specs/002-x/tasks.md");
        let model = playing(vec![
            write(&other, TRAP),
            shell("spool task verify T001 --feature 002-x"),
            shell("spool task done T001 --feature 002-x"),
            Reply::text("I stop here."),
        ]);
        let armed = prompt.starts_with('/');
        let client = editing(version, &project, &model);
        let client = if armed { client } else { keeping_books(client) };
        let run = client.run(prompt).expect("a run");
        let answers = answers(&run, &model);
        assert_eq!(answers.len(), 3, "{}", run.describe());
        for answer in &answers[1..] {
            let words: &[&str] = if armed {
                &["002-x", FEATURE]
            } else {
                &["`touch pwned`", "no loop is live that a person armed"]
            };
            assert_names(answer, words);
        }
        assert!(!project.path().join("pwned").exists(), "{prompt}: {}", run.describe());
        let ticked = fs::read_to_string(&other).expect("a list").contains("[x]");
        assert!(!(armed && ticked), "the books of another feature are kept: {}", run.describe());
    }
}

fn s1_foreign_project_command_stays_unrun(version: &str) {
    let project = project_with(PLAIN);
    let inner = project.path().join("inner");
    let pointer = json!({"feature_directory": format!("specs/{FEATURE}")}).to_string();
    let model = playing(vec![
        write(&inner.join(".specify/feature.json"), &pointer),
        write(&inner.join(LIST), TRAP),
        shell("spool task verify T001 --project inner"),
        shell("spool task done T001 --project inner"),
        Reply::text("I stop here."),
    ]);
    let run = editing(version, &project, &model).run("/speckit:implement").expect("a run");
    let answers = answers(&run, &model);
    assert_eq!(answers.len(), 4, "{}", run.describe());
    for answer in &answers[2..] {
        assert_names(answer, &[inner.to_str().unwrap(), "this session works on feature"]);
    }
    assert_eq!(project.read("inner/specs/001-notes/tasks.md"), TRAP);
    for folder in [project.path(), &inner] {
        assert!(!folder.join("pwned").exists(), "{}", run.describe());
    }
}

fn s1_start_runs_what_it_showed(version: &str) {
    let armed = TRAP.replace("pwned", "armed");
    for stops in [0, 1] {
        let project = project_with(&armed);
        let list = project.path().join(LIST);
        let mut replies = vec![Reply::text("I rest first."); stops];
        replies.extend([
            read(&list),
            edit(&list, "T002 Fill it\n", "T002 Fill it\n  - **Verify**: `touch pwned`\n"),
            shell("spool task verify T002"),
            edit(&list, "`touch armed`", "`touch  pwned`"),
            shell("spool task verify T001"),
            shell("spool task done T001"),
            edit(&list, "`touch  pwned`", "`touch armed`"),
            shell("spool task done T001"),
            Reply::text("I stop here."),
        ]);
        let model = playing(replies);
        let client = keeping_books(editing(version, &project, &model));
        let shown = by_person(&client, project.path(), &["start"]);
        assert_names(&shown, &["touch armed  (T001)", LIST]);
        let run = client.run("Work through the tasks.").expect("a run");
        let answers = answers(&run, &model);
        assert_eq!(answers.len(), 8, "{}", run.describe());
        assert_names(&answers[2], &["`touch pwned`"]);
        assert_names(&answers[4], &["Put it back: `touch armed`"]);
        assert_names(&answers[5], &["Put it back: `touch armed`"]);
        assert!(!project.path().join("pwned").exists(), "{}", run.describe());
        // What the person was shown is run.
        assert!(project.path().join("armed").exists(), "{}", run.describe());
        assert!(project.read(LIST).contains("- [x] T001"), "{}", project.read(LIST));
        assert!(!run.hook_feedbacks().is_empty(), "the session has the loop: {}", run.describe());
    }
}

/// What a loop keeps: the notes in the project, the pins in the person's home.
fn kept(client: &Client, project: &Path) -> Vec<PathBuf> {
    let notes = project.join(".claude/ralph");
    let pins = client.home_folder().join(".local/state/ralph-speckit/projects");
    let of_project = fs::read_dir(pins).expect("pins").next().expect("a project").expect("pins");
    vec![
        of_project.path().join(format!("open-{SESSION}.txt")),
        notes.join(format!("armed-{FEATURE}")),
        of_project.path().join(format!("feature-{FEATURE}.json")),
        of_project.path().join(format!("verify-feature-{FEATURE}.json")),
    ]
}

/// What can have happened to a file; a folder is as good as a file that nobody may read, for root too.
enum Damage {
    Missing,
    Bytes(&'static str),
    Unreadable,
}

const DAMAGES: [Damage; 5] = [
    Damage::Missing,
    Damage::Bytes(""),
    Damage::Bytes("{"),
    Damage::Bytes("{\"verify\": null, \"T002\": \"touch pwned\"}"),
    Damage::Unreadable,
];

/// Puts a file aside and the damage in its place.
fn damage(path: &Path, aside: &Path, damage: &Damage) {
    fs::rename(path, aside).unwrap();
    match damage {
        Damage::Missing => (),
        Damage::Bytes(bytes) => {
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Damage::Unreadable => fs::create_dir(path).unwrap(),
    }
}

fn repair(path: &Path, aside: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    fs::rename(aside, path).unwrap();
}

fn s1_broken_pins_run_nothing(version: &str) {
    let project = project_with(&TRAP.replace("pwned", "armed"));
    let list = project.path().join(LIST);
    let added = [
        read(&list),
        edit(&list, "T002 Fill it\n", "T002 Fill it\n  - **Verify**: `touch pwned`\n"),
    ];
    let slot = Arc::new(Mutex::new(None::<Client>));
    let seen = Arc::clone(&slot);
    let root = project.path().to_owned();
    let aside = root.join("aside");
    let mut damaged: Option<PathBuf> = None;
    let model = ScriptedModel::start(move |asked| {
        if let Some(reply) = added.get(asked.number - 1) {
            return reply.clone();
        }
        if let Some(path) = damaged.take() {
            repair(&path, &aside);
        }
        let files = kept(seen.lock().unwrap().as_ref().expect("a client"), &root);
        let turn = asked.number - 1 - added.len();
        match files.get(turn / DAMAGES.len()) {
            Some(path) => {
                damage(path, &aside, &DAMAGES[turn % DAMAGES.len()]);
                damaged = Some(path.clone());
                shell("spool task verify T002")
            }
            None if turn == files.len() * DAMAGES.len() => shell("spool task verify T001"),
            None => Reply::text("I stop here."),
        }
    });
    let client = editing(version, &project, &model);
    *slot.lock().unwrap() = Some(client.clone());
    let run = client.run("/speckit:implement").expect("a run");
    let answers = answers(&run, &model);
    let count = 4 * DAMAGES.len();
    assert_eq!(answers.len(), 2 + count + 1, "{}", run.describe());
    for (number, answer) in answers[2..2 + count].iter().enumerate() {
        assert!(answer.contains("`touch pwned`"), "damage {number}: {answer}");
    }
    assert!(!project.path().join("pwned").exists(), "{}", run.describe());
    assert!(project.path().join("armed").exists(), "what was armed is run: {}", run.describe());
}

fn s1_huge_list_keeps_arming(version: &str) {
    const SECOND: &str = "T00002 Do this part of the work\n";
    let lines: Vec<_> = (1..=32_000)
        .map(|number| format!("- [ ] T{number:05} Do this part of the work\n"))
        .collect();
    let text = format!("{}- [ ] U001 Do\n  - **Verify**: `touch armed`\n", lines.concat());
    assert!(text.len() > 1024 * 1024);
    let project = project_with(&text);
    let list = project.path().join(LIST);
    let model = playing(vec![
        read(&list),
        edit(&list, SECOND, &format!("{SECOND}  - **Verify**: `touch pwned`\n")),
        shell("spool task verify T00002"),
        shell("spool task done T00002"),
        shell("spool task verify U001"),
        Reply::text("I stop here."),
    ]);
    let run = editing(version, &project, &model).run("/speckit:implement").expect("a run");
    let answers = answers(&run, &model);
    assert_eq!(answers.len(), 5, "{}", run.describe());
    assert_names(&answers[2], &["`touch pwned`"]);
    assert_names(&answers[3], &["`touch pwned`"]);
    assert!(!project.path().join("pwned").exists(), "{}", run.describe());
    assert!(project.path().join("armed").exists(), "what was armed is run: {}", run.describe());
}

fn s1_implement_runs_what_it_showed(version: &str) {
    let project = project_with(&TRAP.replace("pwned", "verified"));
    project.write(SETTINGS, "---\nchecks:\n  - touch checked\n---\n");
    let model = playing(vec![
        shell("spool task done T001"),
        shell("spool task done T002 --no-change 'nothing is to be done'"),
        Reply::text("All is done.\n\nALL_TASKS_COMPLETE"),
    ]);
    let run = editing(version, &project, &model).run("/speckit:implement").expect("a run");
    let answers = answers(&run, &model);
    assert_eq!(answers.len(), 2, "{}", run.describe());
    let told =
        run.system_messages("UserPromptExpansion").join("\n") + "\n" + &run.notices().join("\n");
    assert_names(&told, &["touch checked (within 300 s)", SETTINGS, "touch verified  (T001)"]);
    assert!(project.path().join("verified").exists(), "{}", run.describe());
    assert!(project.path().join("checked").exists(), "{}", run.describe());
    assert!(!project.read(LIST).contains("[ ]"), "{}", project.read(LIST));
    assert_eq!(run.hook_feedbacks(), [""; 0], "{}", run.describe());
}

/// Runs git in a folder as somebody without settings of their own.
fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("git");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

/// A clone of a repository that brings a loop in execution, a settings file with a check, and this list.
fn clone_of_a_trap(list: &str) -> Project {
    let origin = project_with(list);
    origin.write(SETTINGS, "---\nchecks:\n  - touch pwned\n---\n");
    let state = json!({
        "featureId": "001", "name": "notes", "basePath": format!("specs/{FEATURE}"),
        "phase": "execution", "taskIndex": 0, "totalTasks": 2, "globalIteration": 1,
        "maxGlobalIterations": 4_294_967_295_u32, "maxTaskIterations": 4_294_967_295_u32,
    });
    origin.write(&format!("specs/{FEATURE}/.speckit-state.json"), &state.to_string());
    git(origin.path(), &["init", "-q"]);
    git(origin.path(), &["add", "-A", "-f"]);
    git(origin.path(), &["commit", "-q", "-m", "all of it"]);
    let clone = Project::new();
    git(clone.path(), &["clone", "-q", origin.path().to_str().unwrap(), "."]);
    assert!(clone.path().join(SETTINGS).exists());
    clone
}

fn s2_cloned_repository_runs_nothing(version: &str) {
    // All is ticked: only the check is between the first stop and the end.
    let project = clone_of_a_trap(&TRAP.replace("[ ]", "[x]"));
    for words in ["Hello.", "ALL_TASKS_COMPLETE"] {
        let model = playing(vec![Reply::text(words)]);
        let client = client(version, &project, &model).plugin(assembled_plugin());
        let run = client.permission_mode("default").succeeds("hi");
        assert!(!project.path().join("pwned").exists(), "{}", run.describe());
        if words == "Hello." {
            let told = run.system_messages("Stop").join("\n");
            assert_names(&told, &["no person armed it, so the checks", SETTINGS, "were not run"]);
        }
    }

    // Tasks are open: the session is held within the default limits, and nothing is run by `spool task` either.
    let project = clone_of_a_trap(TRAP);
    let model = playing(vec![
        shell("spool task verify T001"),
        shell("spool task done T001"),
        Reply::text("I stop here."),
    ]);
    let client = client(version, &project, &model).plugin(assembled_plugin());
    let client = keeping_books(client.permission_mode("default"));
    let run = client.run("hi").expect("a run");
    let answers = answers(&run, &model);
    assert_eq!(answers.len(), 2, "{}", run.describe());
    for answer in answers {
        assert_names(&answer, &["`touch pwned`"]);
    }
    assert!(!project.path().join("pwned").exists(), "{}", run.describe());
    let told = run.system_messages("Stop").join("\n");
    assert_names(&told, &["no person armed the loop of 001-notes", "after 100 iterations"]);
    assert!(run.hook_feedbacks()[0].contains("of 100"), "{}", run.describe());
}

fn s2_tracked_checks_need_trust(version: &str) {
    let project = clone_of_a_trap(PLAIN);
    let asking = playing(vec![shell("spool trust --yes"), Reply::text("I stop here.")]);
    let client = client(version, &project, &asking).plugin(assembled_plugin());
    let client = client.permission_mode("acceptEdits");
    let refused = client.run("/speckit:implement").expect("a run");
    assert!(asking.requests().is_empty(), "{}", refused.describe());
    let why = refused.notices().join("\n");
    assert_names(&why, &["nothing is armed", "git tracks it", "touch pwned", "spool trust"]);

    // The agent cannot say it for the person, even where it may call all of `spool`.
    let allowed = client.clone().argument("--allowedTools").argument("Bash(spool:*)");
    let run = allowed.run("Trust it.").expect("a run");
    assert_names(&answers(&run, &asking).join("\n"), &["an agent's session"]);
    let again = client.run("/speckit:implement").expect("a run");
    assert_names(&again.notices().join("\n"), &["nothing is armed", "spool trust"]);
    assert!(!project.path().join("pwned").exists(), "{}", run.describe());

    let shown = by_person(&client, project.path(), &["trust", "--yes"]);
    assert_names(&shown, &["  touch pwned", "Trusted."]);
    let working = playing(vec![
        shell("spool task done T001 T002 --no-change 'nothing is to be done'"),
        Reply::text("All is done.\n\nALL_TASKS_COMPLETE"),
    ]);
    let trusting = client.variable("ANTHROPIC_BASE_URL", working.url());
    let run = trusting.run("/speckit:implement").expect("a run");
    assert_eq!(answers(&run, &working).len(), 1, "{}", run.describe());
    assert!(project.path().join("pwned").exists(), "what was trusted is run: {}", run.describe());
    assert_eq!(run.hook_feedbacks(), [""; 0], "{}", run.describe());
}
