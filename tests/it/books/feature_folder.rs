//! Where spec-kit says that a feature is, and every command looks there.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::hook::support::Bench;
use crate::support::scratch::Said;

const LIST: &str = "- [ ] T001 Make it\n- [x] T002 Plan it\n";

/// A project whose one feature lies in this folder, which `feature.json` names as it is `written`.
fn project(folder: &str, written: &str) -> Bench {
    let bench = Bench::project();
    bench.init();
    bench.write(format!("{folder}/tasks.md"), LIST);
    bench.write(format!("{folder}/spec.md"), "# What is wanted\n");
    let pointer = json!({"feature_directory": written}).to_string();
    bench.file(".specify/feature.json", &pointer)
}

fn armed(bench: &Bench, typed: &str) {
    let answer = bench.implement("s1", typed);
    assert!(answer.context().contains("1 of 2 tasks open"), "{typed}: {answer}");
}

#[test]
fn nested_feature_is_known_everywhere() {
    let bench = project("specs/feature/US123-x", "specs/feature/US123-x");
    armed(&bench, "");
    let said = |words: &str| Said::of(bench.spool().args(words.split(' ')));
    let status = said("status --json").json();
    assert_eq!(status["features"][0]["name"], "US123-x");
    assert_eq!(status["features"][0]["loop"]["session"], "s1");
    for typed in ["US123-x", "specs/feature/US123-x", "specs/feature/US123-x/tasks.md"] {
        assert_eq!(said(&format!("task list --json -f {typed}")).json()["total"], 2, "{typed}");
        said(&format!("ralph --dry-run --harness-command true --change {typed}")).ok();
    }
    let seen = bench.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(!seen.contains("speckit-state") && !seen.contains("progress.md"), "{seen}");
}

#[test]
fn loop_without_current_feature_shows() {
    let bench = project("specs/group/US9-x", "specs/group/US9-x");
    armed(&bench, "");
    bench.write(".specify/feature.json", r#"{"feature_directory": "specs/002-y"}"#);
    bench.write("specs/002-y/tasks.md", LIST);
    let said = |words: &str| Said::of(bench.spool().args(words.split(' ')));
    let status = said("status --json").json();
    let names: Vec<_> =
        status["features"].as_array().unwrap().iter().map(|feature| &feature["name"]).collect();
    assert_eq!(names, ["002-y", "US9-x"]);
    for typed in ["US9-x", "specs/group/US9-x/tasks.md"] {
        said(&format!("status {typed}")).ok();
    }
    said("stop US9-x").ok();
    assert!(!bench.record("s1").ledger.is_live());
}

#[test]
fn shelf_hides_no_named_folder() {
    let bench = project("specs/feature/US123-x", "specs/feature/US123-x");
    bench.write("specs/US123-x/tasks.md", "- [ ] T009 Another\n");
    armed(&bench, "US123-x");
}

#[test]
fn windows_wrote_the_folder() {
    let bench = project("specs/001-x", r"specs\001-x");
    armed(&bench, "");
    Said::of(
        bench
            .spool()
            .args(["ralph", "--dry-run", "--harness-command", "true"])
            .args(["--change", r"specs\001-x"]),
    )
    .ok();
}

#[test]
fn a_monorepo_names_its_project() {
    for has_outer in [false, true] {
        let bench = if has_outer { Bench::ready() } else { Bench::folder() };
        bench.write("apps/web/specs/001-x/tasks.md", LIST);
        bench.write("apps/web/.specify/feature.json", r#"{"feature_directory": "specs/001-x"}"#);
        let call = bench.command("s1", "speckit:implement", "");
        let answer = call.variable("SPECIFY_INIT_DIR", "apps/web").run();
        assert!(answer.context().contains("feature 001-x, 1 of 2 tasks open"), "{answer}");
        let start = Said::of(
            bench.spool().env("SPECIFY_INIT_DIR", "apps/web").args(["task", "list", "--json"]),
        );
        assert_eq!(start.json()["feature"], "001-x");
    }
}

#[test]
fn an_invalid_init_dir_is_refused() {
    let bench = project("specs/001-x", "specs/001-x");
    let named = "`SPECIFY_INIT_DIR` is `gone`, and that is no spec-kit project";
    let call = bench.command("s1", "speckit:implement", "");
    let answer = call.variable("SPECIFY_INIT_DIR", "gone").run();
    assert!(answer.reason().contains(named), "{answer}");
    for words in ["task list", "start", "status", "ralph --dry-run --harness-command true"] {
        let said = Said::of(bench.spool().env("SPECIFY_INIT_DIR", "gone").args(words.split(' ')));
        assert!(said.code != Some(0) && said.err.contains(named), "{words}: {said}");
    }
    assert!(!bench.path(".claude/ralph").exists());
    // An agent goes into the folder that is named.
    bench.write("apps/web/.specify/feature.json", r#"{"feature_directory": "specs/002-y"}"#);
    bench.write("apps/web/specs/002-y/tasks.md", LIST);
    let mut list = bench.spool();
    list.env("SPECIFY_INIT_DIR", "apps/web").current_dir(bench.path("apps/web/specs"));
    assert_eq!(Said::of(list.args(["task", "list", "--json"])).json()["feature"], "002-y");
}

#[test]
fn number_before_task_names_feature() {
    let bench = project("specs/001-shop-cart", "specs/001-shop-cart");
    bench.write("specs/002-other/tasks.md", LIST);
    for typed in ["002 T001", "2 T001", "002-OTHER T001", "002-OTHER"] {
        let answer = bench.implement("s1", typed);
        assert!(answer.context().contains("feature 002-other"), "{typed}: {answer}");
        bench.cancel("s1", "");
    }
}

#[test]
fn a_path_names_no_other_folder() {
    let bench = project("specs/team/api/003-deep", "specs/team/api/003-deep");
    bench.write("specs/team/web/003-deep/tasks.md", LIST);
    armed(&bench, "");
    let said = |words: &str| Said::of(bench.spool().args(words.split(' ')));
    for command in ["stop", "pause", "status"] {
        let refused = said(&format!("{command} specs/team/web/003-deep")).refused();
        assert!(refused.contains("is that in `specs/team/api/003-deep`"), "{refused}");
    }
    said("stop specs/team/api/003-deep").ok();
}

#[test]
fn second_list_is_named() {
    let bench = project("specs/001-x", "specs/001-x");
    bench.write("specs/001-x/backend/tasks.md", LIST);
    let answer = bench.implement("s1", "");
    let named = "boxes are open in lists that the loop does not go by: backend/tasks.md";
    assert!(answer.message().contains(named), "{answer}");
    for command in [["status"].as_slice(), &["task", "list"], &["doctor"]] {
        let said = Said::of(bench.spool().args(command)).out;
        assert!(said.contains(named), "{command:?}: {said}");
    }
    bench.write("made.txt", "made\n");
    bench.write("specs/001-x/tasks.md", LIST.replace("[ ]", "[x]"));
    let answer = bench.stop("s1").run();
    assert!(answer.message().contains(named), "{answer}");
}

#[test]
fn linked_list_is_read() {
    let bench = project("specs/001-x", "specs/001-x");
    let ticked = LIST.replace("[ ]", "[x]");
    for (place, text, is_named) in [
        (bench.path("docs/todo.md"), LIST, true),
        (bench.path("docs/todo.md"), &*ticked, false),
        (bench.beside("elsewhere/todo.md"), &*ticked, true),
    ] {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, text).unwrap();
        symlink(&place, bench.path("specs/001-x/todo.md")).unwrap();
        let said = Said::of(bench.spool().args(["task", "list"])).ok();
        assert_eq!(said.contains("loop does not go by: todo.md"), is_named, "{place:?}: {said}");
        fs::remove_file(bench.path("specs/001-x/todo.md")).unwrap();
    }
}

#[test]
fn linked_shelf_is_named() {
    let bench = Bench::project();
    fs::create_dir_all(bench.beside("elsewhere/001-x")).unwrap();
    symlink(bench.beside("elsewhere"), bench.path("specs")).unwrap();
    let answer = bench.implement("s1", "001-x");
    assert!(answer.reason().contains("a link leads out of the project"), "{answer}");
}

#[test]
fn short_names_mean_the_same_everywhere() {
    let bench = project("specs/001-shop-cart", "specs/001-shop-cart");
    bench.write("specs/002-other/tasks.md", LIST);
    fs::remove_file(bench.path(".specify/feature.json")).unwrap();
    for typed in [
        "001",
        "1",
        "shop-cart",
        "001-shop-cart",
        "specs/001-shop-cart",
        "specs/001-shop-cart/",
        "specs/001-shop-cart/tasks.md",
    ] {
        armed(&bench, typed);
        let list = Said::of(bench.spool().args(["task", "list", "--json", "-f", typed])).json();
        assert_eq!(list["feature"], "001-shop-cart", "{typed}");
        let plan = ["ralph", "--dry-run", "--json", "--harness-command", "true", "--change", typed];
        let plan = Said::of(bench.spool().args(plan)).json();
        assert_eq!(plan["change"]["name"], "001-shop-cart", "{typed}");
        bench.cancel("s1", "");
    }
}
