//! Task lists in the shapes of real projects: what is a task in them, in which order they come, and
//! that a whole run changes boxes and nothing else.

use ralph_speckit::engine::tasks::TaskList;
use serde_json::{Value, json};

use super::support::{Project, text};

const TEMPLATE: &str = include_str!("../../fixtures/lists/template-shape.md");
const DO_FILES: &str = include_str!("../../fixtures/lists/do-files-verify.md");
const NESTED: &str = include_str!("../../fixtures/lists/nested-checklists.md");
const TRANSLATED: &str = include_str!("../../fixtures/lists/translated-crlf.md");
const TABLES: &str = include_str!("../../fixtures/lists/tables-and-diagrams.md");

/// The tasks of a list as `spool task list --json` gives them.
fn tasks(list: &str) -> Vec<Value> {
    let answer = Project::with(list).task(&["list", "--json"]).json();
    answer["tasks"].as_array().unwrap().clone()
}

fn ids(tasks: &[Value]) -> Vec<&str> {
    tasks.iter().map(|task| text(&task["id"])).collect()
}

/// Works through a list with `next` and `done`; returns the groups in which it was handed out.
fn work_through(list: &str) -> Vec<Vec<String>> {
    let project = Project::armed(list);
    let mut groups = Vec::new();
    loop {
        let next = project.task(&["next", "--json"]).json();
        let group = ids(next["tasks"].as_array().unwrap()).join(" ");
        if group.is_empty() {
            break;
        }
        let group: Vec<String> = group.split(' ').map(str::to_owned).collect();
        let mut call = vec!["done"];
        call.extend(group.iter().map(String::as_str));
        project.task(&call).ok();
        groups.push(group);
        assert!(groups.len() < 100, "it never ends: {groups:?}");
    }
    assert_only_boxes_differ(list, &project.tasks());
    let state = project.state();
    assert_eq!(state["taskIndex"], state["totalTasks"]);
    let ended = project.stop("ALL_TASKS_COMPLETE");
    match TaskList::parse(list.as_bytes()).uncounted() {
        None => ended.silent(),
        Some(_) => assert!(ended.told().contains("open and do"), "{}", ended.told()),
    }
    assert_eq!(project.end(), "completed");
    groups
}

/// Each byte that differs is the mark of a task that was open.
fn assert_only_boxes_differ(before: &str, after: &str) {
    assert_eq!(before.len(), after.len());
    let open: Vec<_> = TaskList::parse(before.as_bytes()).open().map(|task| task.mark_at).collect();
    let changed: Vec<_> = before
        .bytes()
        .zip(after.bytes())
        .enumerate()
        .filter(|(_, (before, after))| before != after)
        .map(|(at, (_, after))| {
            assert_eq!(after, b'x');
            at
        })
        .collect();
    assert_eq!(changed, open);
}

#[test]
fn shape_of_the_spec_kit_template() {
    let tasks = tasks(TEMPLATE);
    let expected: Vec<_> = (1..=17).map(|number| format!("T{number:03}")).collect();
    assert_eq!(ids(&tasks), expected);
    let with = |field: &str, value: Value| tasks.iter().filter(|task| task[field] == value).count();
    assert_eq!((with("done", json!(true)), with("parallel", json!(true))), (2, 9));
    assert_eq!(tasks[6]["phase"], "Tests for User Story 1 (OPTIONAL - only if tests requested) ⚠️");
    assert_eq!(tasks[5]["block"], "- [ ] T006 [P] Error answers in server/src/errors.ts");
    assert_eq!(tasks[10]["title"], "Service in server/src/lists.ts (depends on T009, T010)");
    assert_eq!(
        work_through(TEMPLATE),
        [
            vec!["T003"],
            vec!["T004"],
            vec!["T005", "T006"],
            vec!["T007", "T008"],
            vec!["T009", "T010"],
            vec!["T011"],
            vec!["T012"],
            vec!["T013"],
            vec!["T014"],
            vec!["T015"],
            vec!["T016"],
            vec!["T017"],
        ]
    );
}

#[test]
fn shape_with_do_files_and_commit() {
    let tasks = tasks(DO_FILES);
    assert_eq!(ids(&tasks), ["1.1", "1.2", "1.3", "1.4", "1.10", "2.1", "V4", "V5"]);
    let commands: Vec<_> = tasks.iter().map(|task| task["verify"].as_str()).collect();
    assert_eq!(
        commands,
        [
            Some("test -f src/limit/counter.ts"),
            Some("grep -q 429 src/limit/middleware.ts && echo PASS"),
            None,
            Some("true"),
            Some("node -e 'console.log(`ok`)'"),
            None,
            None,
            None,
        ]
    );
    let agents: Vec<_> = tasks.iter().map(|task| text(&task["agent"])).collect();
    assert_eq!(agents.iter().filter(|agent| **agent == "qa-engineer").count(), 3);
    assert!(text(&tasks[0]["block"]).ends_with("- _Design: Counter_"));
    // The commands have nothing to prove here; without them the whole list is worked through.
    let without = DO_FILES
        .replace("**Verify**: `", "**Check**: `")
        .replace("**Verify**: ``", "**Check**: ``");
    assert_eq!(
        work_through(&without),
        [vec!["1.2", "1.3"], vec!["1.4"], vec!["1.10"], vec!["2.1"], vec!["V4"], vec!["V5"]]
    );
}

#[test]
fn shape_with_nested_lists() {
    let tasks = tasks(NESTED);
    let own: Vec<_> = ids(&tasks).into_iter().filter(|id| !id.starts_with('@')).collect();
    assert_eq!(own, ["1", "1.1", "1.2", "2", "2.1", "2.2", "T010", "3"]);
    assert_eq!(tasks.len(), 15, "{:#?}", ids(&tasks));
    assert_eq!(tasks.iter().filter(|task| task["done"] == true).count(), 2);
    let groups = work_through(NESTED).concat();
    let named: Vec<_> = groups.iter().filter(|id| !id.starts_with('@')).collect();
    // The parts of a task come before it.
    assert_eq!(named, ["1.2", "1", "2.1", "2.2", "2", "T010", "3"]);
    assert_eq!(groups.len(), 13);
}

#[test]
fn task_and_part_show_belongings() {
    let project = Project::with(NESTED);
    let next = project.task(&["next"]).ok();
    assert!(
        next.starts_with(
            "Part of 1 Lay out the project:\n  - [ ] 1.2 Write the entry point\n    - Parse flags\n"
        ),
        "{next}"
    );
    let shown = project.task(&["show", "2.1"]).ok();
    assert_eq!(
        shown,
        "  - [ ] 2.1 Write a note\n    - [ ] empty titles are refused\n    - [ ] the file appears whole or not at all\n"
    );
}

#[test]
#[cfg_attr(
    windows,
    ignore = "its `Verify` commands are for a POSIX shell, and there is none under Wine"
)]
fn shape_in_other_languages() {
    let tasks = tasks(TRANSLATED);
    assert_eq!(tasks.len(), 9);
    assert_eq!(ids(&tasks)[..5], ["T001", "T002", "T003", "T004", "T005"]);
    assert_eq!(ids(&tasks)[7..], ["T006.F1", "T006"]);
    assert_eq!(ids(&tasks)[6], format!("{}~2", ids(&tasks)[5]), "the same words twice");
    assert_eq!(tasks[2]["title"], "Создать модель пользователя в `src/пользователь.py`");
    assert_eq!(tasks[3]["verify"], "printf \"готово\\n\" | grep -q готово");
    assert_eq!(tasks[3]["phase"], "阶段 2：実装");
    let same = format!("{}~2", ids(&tasks)[5]);
    assert_eq!(
        work_through(TRANSLATED),
        [
            vec!["T002", "T003"],
            vec!["T004"],
            vec![ids(&tasks)[5]],
            vec![&same],
            vec!["T006.F1"],
            vec!["T006"]
        ]
    );
}

#[test]
fn shape_with_tables_and_fences() {
    let tasks = tasks(TABLES);
    let (slip, letter) = ("@a-slip-no-blank-behind-the", "@a-letter-that-is-no-tick");
    assert_eq!(
        ids(&tasks),
        ["T001", "T002", "T003", "T004", "TASK-5", "T006", slip, letter, "T007"]
    );
    let parallel: Vec<_> = tasks.iter().map(|task| task["parallel"] == true).collect();
    assert_eq!(parallel, [false, true, true, false, false, false, false, false, false]);
    assert!(text(&tasks[0]["block"]).contains("T902"), "a fence belongs to its task");
    assert_eq!(
        work_through(TABLES),
        [
            vec!["T002", "T003"],
            vec!["T004"],
            vec!["TASK-5"],
            vec!["T006"],
            vec![letter],
            vec!["T007"]
        ]
    );
}

#[test]
fn same_task_twice_is_one() {
    let twice = "## Work\n- [ ] T001 Write a.py\n- [ ] T002 Write b.py\n## Order\n- [ ] T001 Write a.py\n- [ ] T002 Write b.py\n";
    let project = Project::armed(twice);
    project.call(&["done", "T001~2"]).refused();
    project.write("a.py", "a = 1\n");
    project.call(&["done", "T001"]).ok();
    project.call(&["done", "T001~2"]).ok();
    project.write("b.py", "b = 1\n");
    project.call(&["done", "T002", "T002~2"]).ok();
    project.stop("ALL_TASKS_COMPLETE").silent();
    assert_eq!(project.end(), "completed");
}
