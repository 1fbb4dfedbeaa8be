//! Where the project is and which feature is meant: spec-kit's own layout, worktrees, submodules,
//! folders with blanks.

use crate::support::has::Has;
use crate::support::limited::Limited;
use std::fs;
use std::path::Path;

use super::support::{FEATURE, FOUR, Project};

const TEMPLATE: &str = include_str!("../../fixtures/lists/template-shape.md");

/// Runs git in a folder that may be a submodule.
fn git(project: &Project, folder: &Path, arguments: &[&str]) {
    let settings = ["user.name=t", "user.email=t@example.invalid", "protocol.file.allow=always"];
    let settings = settings.into_iter().flat_map(|setting| ["-c", setting]);
    let all: Vec<&str> = settings.chain(arguments.iter().copied()).collect();
    project.git_in(folder, &all);
}

/// A feature's folder with one task that names it.
fn feature(project: &Project, folder: &str) {
    project.write(format!("{folder}/tasks.md"), format!("- [ ] T001 Of {folder}\n"));
}

#[test]
fn environment_names_the_feature_first() {
    let project = Project::with("- [ ] T001 Unnamed\n").variable("CLAUDE_CODE_SESSION_ID", "");
    feature(&project, "specs/002-environment");
    feature(&project, "specs/003-pointer");
    feature(&project, ".specify/specs/004-older");
    project.write(".specify/.current-feature", "004-older\n");
    project.write(".specify/feature.json", r#"{"feature_directory":"specs/003-pointer"}"#);
    let named = project.variable("SPECIFY_FEATURE_DIRECTORY", "specs/002-environment/");
    assert!(named.task(&["show", "T001"]).ok().contains("Of specs/002-environment"));
    let absolute = named.root.join("specs/002-environment");
    let named = named.variable("SPECIFY_FEATURE_DIRECTORY", absolute.to_str().unwrap());
    assert!(named.task(&["show", "T001"]).ok().contains("Of specs/002-environment"));
    let project = named.variable("SPECIFY_FEATURE_DIRECTORY", "");
    assert!(project.task(&["show", "T001"]).ok().contains("Of specs/003-pointer"));
    fs::remove_file(project.root.join(".specify/feature.json")).unwrap();
    assert!(project.task(&["show", "T001"]).ok().contains("Of .specify/specs/004-older"));
    assert!(project.task(&["show", "T001", "--feature", "002-environment"]).ok().contains("002"));
    fs::remove_file(project.root.join(".specify/.current-feature")).unwrap();
    let said = project.task(&["next"]).refused();
    said.has("no feature is selected in this project\nname it with --feature");
}

#[test]
fn outside_names_are_refused() {
    let project = Project::with(FOUR).variable("CLAUDE_CODE_SESSION_ID", "");
    let outside = project.beside("elsewhere");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("tasks.md"), FOUR).unwrap();
    crate::support::system::symlink(&outside, project.root.join("specs/005-link")).unwrap();
    for name in ["../elsewhere", "-x", "a/b", "005-link", "", "a\u{1b}[31m"] {
        let said = project.task(&["done", "T002", &format!("--feature={name}")]);
        assert_eq!(said.code, Some(1), "{name:?}: {said:?}");
        assert!(!said.err.contains('\u{1b}'), "{said:?}");
    }
    for folder in ["../elsewhere", "specs/005-link", outside.to_str().unwrap(), "specs/.."] {
        project.write(
            ".specify/feature.json",
            serde_json::json!({"feature_directory": folder}).to_string(),
        );
        assert_eq!(project.task(&["done", "T002"]).code, Some(1), "{folder}");
    }
    assert_eq!(fs::read_to_string(outside.join("tasks.md")).unwrap(), FOUR);
}

#[test]
fn any_project_folder_will_do() {
    let list =
        format!("{FOUR}\n- [ ] T005 Prove it\n  - Verify: `test -d specs && touch 'it is'`\n");
    let project = Project::in_folder("my project (copy) \u{fc} $HOME", &list);
    project.arm("");
    let deep = project.root.join("src/a b/c");
    fs::create_dir_all(&deep).unwrap();
    assert!(project.task_in(&deep, &["done", "T002"]).ok().contains("T002 is done."));
    assert!(project.task_in(&project.feature.clone(), &["next"]).ok().contains("T003"));
    let elsewhere = project.beside(".");
    let root = project.root.to_str().unwrap().to_owned();
    project.task_in(&elsewhere, &["done", "T003", "--project", &root]).ok().has("T003 is done.");
    project.task_in(&elsewhere, &["--project", deep.to_str().unwrap(), "next"]).ok().has("T004");
    let said = project.task_in(&elsewhere, &["next"]).refused();
    assert!(said.contains("no spec-kit project at"), "{said}");
    project.assert_books_agree();
    // The Verify command runs in such a folder too.
    project.task_in(&deep, &["done", "T005"]).ok();
    assert!(project.root.join("it is").exists());
}

#[test]
fn strayed_agent_keeps_its_books() {
    let project = Project::armed(FOUR);
    project
        .write("examples/demo/.specify/feature.json", r#"{"feature_directory":"specs/009-inner"}"#);
    project.write("examples/demo/specs/009-inner/tasks.md", "- [ ] T001 Inner\n");
    let inner = project.root.join("examples/demo/specs");
    assert!(
        project.task_in(&inner, &["next"]).ok().contains("T002"),
        "the session's loop is outside"
    );
    let person = project.variable("CLAUDE_CODE_SESSION_ID", "");
    assert!(
        person.task_in(&inner, &["next"]).ok().contains("Inner"),
        "a person is where he stands"
    );
}

#[test]
fn work_trees_have_own_books() {
    let project = Project::with(FOUR);
    project.init();
    project.commit("start");
    let tree = project.beside("work tree");
    project.git(&["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    project.arm("");
    project.task(&["done", "T002"]).ok();
    let arming = project
        .command(super::support::SPOOL)
        .args(["start", "--project"])
        .arg(&tree)
        .env("CLAUDE_CODE_SESSION_ID", "side-session")
        .finish();
    assert!(arming.status.success(), "{arming:?}");
    let project = project.variable("CLAUDE_CODE_SESSION_ID", "side-session");
    assert!(project.task_in(&tree, &["done", "T003"]).ok().contains("T003 is done."));
    let other = fs::read_to_string(tree.join("specs").join(FEATURE).join("tasks.md")).unwrap();
    assert_eq!(other, FOUR.replace("[ ] T003", "[x] T003"));
    assert_eq!(project.tasks(), FOUR.replace("[ ] T002", "[x] T002"));
    assert!(tree.join(".claude/ralph/side-session/journal.jsonl").exists());
    project.assert_books_agree();
}

#[test]
fn submodule_may_be_a_project() {
    let project = Project::armed(FOUR);
    for (name, is_project) in [("plain", false), ("kit", true)] {
        let source = project.beside(name);
        fs::create_dir_all(source.join("src")).unwrap();
        fs::write(source.join("src/lib"), "x").unwrap();
        if is_project {
            fs::create_dir_all(source.join(".specify")).unwrap();
            fs::create_dir_all(source.join("specs/007-kit")).unwrap();
            fs::write(
                source.join(".specify/feature.json"),
                r#"{"feature_directory":"specs/007-kit"}"#,
            )
            .unwrap();
            fs::write(source.join("specs/007-kit/tasks.md"), "- [ ] T001 Of the kit\n").unwrap();
        }
        git(&project, &source, &["init", "-q"]);
        git(&project, &source, &["add", "-A"]);
        git(&project, &source, &["commit", "-qm", "start"]);
    }
    project.init();
    for name in ["plain", "kit"] {
        git(
            &project,
            &project.root,
            &["submodule", "add", "-q", project.beside(name).to_str().unwrap(), name],
        );
    }
    let project = project.variable("CLAUDE_CODE_SESSION_ID", "");
    assert!(project.task_in(&project.root.join("plain/src"), &["next"]).ok().contains("T002"));
    assert!(project.task_in(&project.root.join("kit/src"), &["next"]).ok().contains("Of the kit"));
}

/// Lays out what `specify init` of spec-kit 1.2.3 lays out, and what its scripts make for one
/// feature: the same names, contents of our own.
fn lay_out_spec_kit(root: &Path, tasks: &str) {
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for script in [
        "check-prerequisites",
        "common",
        "create-new-feature",
        "resolve-template",
        "setup-plan",
        "setup-tasks",
    ] {
        write(&format!(".specify/scripts/bash/{script}.sh"), "#!/usr/bin/env bash\n");
    }
    for template in ["checklist", "constitution", "plan", "spec"] {
        write(&format!(".specify/templates/{template}-template.md"), "- [ ] T001 Of a template\n");
    }
    write(".specify/templates/tasks-template.md", tasks);
    write(".specify/memory/constitution.md", "# Constitution\n");
    write(".specify/memory/.constitution-template.json", "{}");
    write(".specify/integrations/claude.manifest.json", "{}");
    write(".specify/integrations/speckit.manifest.json", "{}");
    write(".specify/workflows/speckit/workflow.yml", "name: speckit\n");
    write(".specify/workflows/workflow-registry.json", "{}");
    write(
        ".specify/init-options.json",
        r#"{"ai":"claude","feature_numbering":"sequential","script":"sh","speckit_version":"1.2.3"}"#,
    );
    write(".specify/integration.json", r#"{"version":"1.2.3","integration":"claude"}"#);
    write(".specify/.gitignore", "feature.json\n");
    for skill in [
        "analyze",
        "checklist",
        "clarify",
        "constitution",
        "converge",
        "implement",
        "plan",
        "specify",
        "tasks",
        "taskstoissues",
    ] {
        write(&format!(".claude/skills/speckit-{skill}/SKILL.md"), "---\nname: x\n---\n");
    }
    write("specs/001-user-login/spec.md", "# Spec\n");
    write("specs/001-user-login/plan.md", "# Plan\n");
    write("specs/001-user-login/checklists/requirements.md", "- [x] CHK001 Is it clear?\n");
    write("specs/001-user-login/tasks.md", tasks);
    write(".specify/feature.json", "{\"feature_directory\":\"specs/001-user-login\"}\n");
}

#[test]
fn fresh_specify_project_works() {
    let project = Project::with("");
    fs::remove_dir_all(&project.root).unwrap();
    lay_out_spec_kit(&project.root, TEMPLATE);
    let count = |folder: &str| fs::read_dir(project.root.join(folder)).unwrap().count();
    let before = (count(".specify"), count(".claude"), count("specs/001-user-login"));
    project.arm("");
    let next = project.task(&["next"]).ok();
    assert!(next.starts_with("- [ ] T003 [P] Configure the linter"), "{next}");
    while let Some(id) = project.task(&["next", "--json"]).json()["tasks"][0]["id"].as_str() {
        project.task(&["done", id]).ok();
    }
    let state = project.state();
    assert_eq!((state["taskIndex"].as_u64(), state["totalTasks"].as_u64()), (Some(17), Some(17)));
    assert_eq!(project.entries().len(), 15, "two were done before");
    project.stop("Done.\n\nALL_TASKS_COMPLETE").silent();
    assert_eq!(project.end(), "completed");
    let after = (count(".specify"), count(".claude"), count("specs/001-user-login"));
    assert_eq!(
        after,
        (before.0, before.1 + 1, before.2 + 2),
        "our folder, the state file and the notes"
    );
    let untouched =
        fs::read_to_string(project.root.join(".specify/templates/tasks-template.md")).unwrap();
    assert_eq!(untouched, TEMPLATE);
    assert_eq!(fs::read_to_string(project.root.join(".claude/ralph/.gitignore")).unwrap(), "*\n");
}

#[test]
fn hook_and_program_search_alike() {
    let project = Project::armed(FOUR);
    let deep = project.root.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let mut event = project.stop_event("Not yet.");
    event["cwd"] = deep.to_str().into();
    assert!(project.hook(&event).reason().contains("3 of 4: T002, T003, T004"));
    assert!(project.task_in(&deep, &["next"]).ok().contains("T002"));
}
