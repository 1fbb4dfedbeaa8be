//! Which change is meant.

use crate::support::has::Has;
use crate::support::limited::Limited;
use std::fs;

use crate::targets::support::{Bench, CHANGE};

const TWO: [&str; 2] = [CHANGE, "002-02_ralph-status"];

#[test]
fn run_against_a_change_proposal() {
    let bench = Bench::with(&[CHANGE]);
    let told = bench.plan(&["--change", CHANGE]).told();
    let file = ".spool/changes/002-01_add-ralph-loop/proposal.md";
    assert!(told.contains(&format!("  proposal: {file} (whole)")), "{told}");
    let prompt = told.split("The first prompt").nth(1).unwrap();
    let proposal = prompt.find("# The proposal of 002-01_add-ralph-loop").unwrap();
    assert!(proposal < prompt.find("# What is asked of you\n\ngo\n").unwrap(), "{told}");
}

#[test]
fn resolve_module_from_change() {
    let told = Bench::with(&[CHANGE]).plan(&["--change", CHANGE]).told();
    assert!(told.contains("Change: 002-01_add-ralph-loop (module: 002)"), "{told}");
    assert!(told.contains("You work on the change `002-01_add-ralph-loop` (module 002)"), "{told}");
}

#[test]
fn non_interactive_error_when_omitted() {
    let bench = Bench::with(&TWO);
    bench.write(".spool/changes/002-01_add-ralph-loop/tasks.md", "- [x] T001 a\n- [ ] T002 b\n");
    for arguments in [&[][..], &["--no-interactive"], &["--module", "002"]] {
        let said = bench.plan(arguments).refused();
        assert!(said.contains("--change is required"), "{said}");
        for id in TWO {
            assert!(said.contains(id), "{said}");
        }
        assert!(said.contains("002-01_add-ralph-loop (1 of 2 tasks done)"), "{said}");
    }
}

#[test]
fn short_forms_name_one_change() {
    let bench = Bench::with(&TWO);
    for (name, id) in [("2-1", TWO[0]), ("002-02", TWO[1]), ("loop", TWO[0]), ("status", TWO[1])] {
        assert_eq!(bench.plan(&["--change", name]).change(), id, "{name}");
    }
    let said = bench.plan(&["--change", "ralph"]).refused();
    assert!(said.contains("`ralph` may be 2 changes") && said.contains(TWO[1]), "{said}");
}

#[test]
fn unknown_change_gets_near_names() {
    let said =
        Bench::with(&["001-01_login", "001-02_logout"]).plan(&["--change", "logut"]).refused();
    assert!(said.contains("there is no change `logut`"), "{said}");
    assert!(said.find("001-02_logout").unwrap() < said.find("001-01_login").unwrap(), "{said}");
    said.has("\ndid you mean `001-02_logout`?\nthere are:\n  001-02_logout");
    let said = Bench::with(&["001-01_add-login"]).plan(&["--change", "add-lgoin"]).refused();
    assert!(said.trim_end().ends_with("\ndid you mean `001-01_add-login`?"), "{said}");
    let said = Bench::with(&["001-01_login", "001-02_logout"]).plan(&["--change", "xyz"]).refused();
    assert!(!said.contains("did you mean") && said.contains("\nthere are:\n"), "{said}");
}

#[test]
fn archived_changes_are_left_out() {
    let bench = Bench::with(&["002-02_new", "archive/002-01_old"]);
    bench.write("openspec/changes/archive/2025-01-01-old/proposal.md", "# Old\n");
    let said = bench.plan(&[]).refused();
    assert!(!said.contains("old") && !said.contains("archive"), "{said}");
    for name in ["002-01_old", "2-1", "old", "archive", "2025-01-01-old"] {
        let said = bench.plan(&["--change", name]).refused();
        assert!(said.contains(&format!("there is no change `{name}`")), "{said}");
    }
    bench.link(&bench.root.join(".spool/changes/archive/002-01_old"), ".spool/changes/back");
    assert!(bench.plan(&["--change", "back"]).refused().contains("there is no change"));
}

#[test]
fn hostile_id_is_refused_undrawn() {
    let bench = Bench::with(&[CHANGE]);
    fs::create_dir_all(bench.beside("elsewhere")).unwrap();
    fs::write(bench.beside("elsewhere/proposal.md"), "# Secret\n").unwrap();
    for id in
        ["../elsewhere", "../../elsewhere", "a/b", "..", "-rf", "a\nb", "\u{1b}[31mred", "", "a\\b"]
    {
        let said = bench.plan(&[&format!("--change={id}")]).refused();
        assert!(said.contains("cannot be a change"), "{id:?}: {said}");
        assert!(!said.contains('\u{1b}') && !said.contains("Secret"), "{id:?}: {said}");
    }
    let said = bench.plan(&["--module=../x"]).refused();
    assert!(said.contains("`../x` cannot be a module"), "{said}");
}

#[test]
fn linked_outside_folder_is_refused() {
    let bench = Bench::with(&[CHANGE]);
    fs::create_dir_all(bench.beside("elsewhere")).unwrap();
    fs::write(bench.beside("elsewhere/proposal.md"), "# Secret\n").unwrap();
    bench.link(&bench.beside("elsewhere"), ".spool/changes/002-09_away");
    let said = bench.plan(&["--change", "002-09_away"]).refused();
    assert!(said.contains("`002-09_away` cannot be used: a symbolic link leads out"), "{said}");
    assert!(!bench.plan(&[]).refused().contains("002-09_away"));
    // Inside the project a link is as good as a folder.
    bench.write("proposals/inside/proposal.md", "# Inside\n");
    bench.link(&bench.root.join("proposals/inside"), ".spool/changes/002-08_inside");
    assert_eq!(bench.plan(&["--change", "2-8"]).change(), "002-08_inside");
}

#[test]
fn terminal_code_names_stay_hidden() {
    let bench = Bench::with(&[CHANGE, "\u{1b}[2Jwiped", "-flag", ".hidden"]);
    let said = bench.plan(&[]).refused();
    assert!(
        !said.contains('\u{1b}') && !said.contains("-flag") && !said.contains("hidden"),
        "{said}"
    );
}

#[test]
fn openspec_changes_are_found_alike() {
    let bench = Bench::empty();
    bench.write("openspec/changes/add-two-factor/proposal.md", "# Two factors\n");
    bench.write("openspec/changes/add-two-factor/tasks.md", "- [ ] 1.1 Begin\n");
    bench.write("openspec/changes/empty/notes.txt", "");
    let told = bench.plan(&["--change", "factor"]).told();
    assert!(told.contains("Change: add-two-factor (module: none)"), "{told}");
    assert!(told.contains("# Two factors") && told.contains("- [ ] 1.1 Begin"), "{told}");
    assert!(!bench.plan(&[]).refused().contains("empty"));
}

#[test]
fn spool_change_precedes_openspec() {
    let bench = Bench::with(&["001-01_one"]);
    bench.write("openspec/changes/001-01_one/proposal.md", "# The other\n");
    let told = bench.plan(&["--change", "001-01_one"]).told();
    assert!(
        told.contains("# The proposal of 001-01_one") && !told.contains("# The other"),
        "{told}"
    );
}

#[test]
fn d16_spec_kit_features_are_changes() {
    let bench = Bench::empty();
    for name in ["001-login", "002-logout"] {
        bench.write(format!("specs/{name}/spec.md"), format!("# Spec of {name}\n"));
        bench.write(format!("specs/{name}/plan.md"), "# The plan\n");
        bench.write(format!("specs/{name}/tasks.md"), "- [ ] T001 Begin\n");
    }
    bench.write(".specify/feature.json", r#"{"feature_directory": "specs/002-logout"}"#);
    let said = bench.plan(&[]).refused();
    assert!(said.contains("--change is required"), "{said}");
    assert!(said.find("002-logout").unwrap() < said.find("001-login").unwrap(), "{said}");
    let told = bench.plan(&["--change", "1"]).told();
    assert!(told.contains("Change: 001-login (module: none)"), "{told}");
    told.has_all(&["# Spec of 001-login", "# The plan", "- [ ] T001 Begin"]);
    fs::remove_file(bench.root.join(".specify/feature.json")).unwrap();
    let said = bench.plan(&[]).refused();
    assert!(said.contains("002-logout") && said.contains("001-login"), "{said}");
}

#[test]
fn d13_prompt_names_other_documents() {
    for (folder, start, others) in [
        (
            "specs/001-login",
            "spec.md",
            &["research.md", "data-model.md", "quickstart.md", "contracts/api.yaml"][..],
        ),
        ("openspec/changes/add-login", "proposal.md", &["specs/login/spec.md"]),
    ] {
        let bench = Bench::empty();
        bench.write(".specify/feature.json", r#"{"feature_directory": "specs/001-login"}"#);
        bench.write(format!("{folder}/{start}"), "# Login\n");
        bench.write(format!("{folder}/tasks.md"), "- [ ] T001 Begin\n");
        for name in others {
            bench.write(format!("{folder}/{name}"), "# More\n");
        }
        let change = folder.rsplit('/').next().unwrap();
        let told = bench.plan(&["--change", change]).told();
        let prompt = told.split_once("The first prompt").unwrap().1;
        for name in others {
            assert!(prompt.contains(&format!("`{folder}/{name}`")), "{name} is not named: {told}");
        }
    }
}

#[test]
fn features_need_names_beside_changes() {
    let bench = Bench::with(&[CHANGE]);
    bench.write(".specify/feature.json", r#"{"feature_directory": "specs/007-login"}"#);
    bench.write("specs/007-login/spec.md", "# Login\n");
    assert!(!bench.plan(&[]).refused().contains("007-login"));
    assert_eq!(bench.plan(&["--change", "login"]).change(), "007-login");
}

#[test]
fn module_names_its_only_change() {
    let bench = Bench::with(&[TWO[0], TWO[1], "003-01_ralph-title"]);
    assert_eq!(bench.plan(&["--module", "3"]).change(), "003-01_ralph-title");
    assert_eq!(
        bench.plan(&["--module", "003", "--change", "ralph"]).change(),
        "003-01_ralph-title"
    );
    let said = bench.plan(&["--module", "003", "--change", "2-1"]).refused();
    assert!(said.contains("`002-01_add-ralph-loop` does not belong to module `003`"), "{said}");
    let said = bench.plan(&["--module", "4"]).refused();
    assert!(said.contains("no active change of module `4`") && said.contains("002"), "{said}");
}

#[test]
fn nearest_project_or_named_folder_wins() {
    let bench = Bench::with(&[CHANGE]);
    bench.write("inner/.spool/changes/001-01_inner/proposal.md", "# Inner\n");
    bench.write("inner/src/main.rs", "");
    let run = |folder: &str, arguments: &[&str]| {
        let mut all = vec!["ralph", "go", "--dry-run"];
        all.extend(arguments);
        let output = bench.command(&all).current_dir(bench.root.join(folder)).finish();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("inner/src", &["--change", "1-1"]).contains("Change: 001-01_inner"));
    let root = &bench.root;
    let told = run("inner/src", &["--change", "2-1", "--project", root.to_str().unwrap()]);
    assert!(told.contains("Change: 002-01_add-ralph-loop"), "{told}");
}

#[test]
fn missing_project_names_the_search() {
    let said = Bench::empty().plan(&["--change", "x"]).refused();
    assert!(said.contains("no project at") && said.contains("`.spool/changes`"), "{said}");
    let bench = Bench::empty();
    fs::create_dir_all(bench.root.join(".spool/changes/archive")).unwrap();
    let said = bench.plan(&[]).refused();
    said.has("there is no active change")
        .has("write a proposal first, `.spool/changes/NAME/proposal.md`, with your list beside it");
    let said = bench.plan(&["--change", "x"]).refused();
    assert!(said.contains("there is no change `x`, and no other"), "{said}");
}

#[test]
fn git_file_marks_a_work_tree() {
    let bench = Bench::empty();
    bench.write("app/.spool/changes/001-01_one/proposal.md", "# One\n");
    let plan = || {
        let mut command = bench.command(&["ralph", "go", "--dry-run", "--change", "1-1"]);
        String::from_utf8(command.current_dir(bench.root.join("app")).finish().stdout).unwrap()
    };
    let tree = |folder: &str| format!("Work tree: {}\n", bench.root.join(folder).display());
    assert!(plan().contains(&tree("app")), "{}", plan());
    fs::create_dir_all(bench.root.join(".git")).unwrap();
    assert!(plan().contains(&tree("app")), "an empty `.git` is no repository: {}", plan());
    bench.write(".git/HEAD", "ref: refs/heads/main\n");
    let whole = format!("Work tree: {}\n", bench.root.display());
    assert!(plan().contains(&whole), "{}", plan());
    fs::remove_dir_all(bench.root.join(".git")).unwrap();
    bench.write(".git", "gitdir: /elsewhere/.git/worktrees/project\n");
    assert!(plan().contains(&whole), "{}", plan());
}
