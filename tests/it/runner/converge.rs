//! spec-kit's converge command under `spool ralph`: an iteration of its own when every box is ticked, at most twice.

use super::support::{Bench, Call};
use crate::support::has::Has;

const FEATURE: &str = ".specify/specs/001-login";
const SKILL: &str = ".claude/skills/speckit-converge/SKILL.md";

/// A feature with one open task. Its agent does the first open task; told to converge, it does what this script says.
fn feature(converge: &str) -> Bench {
    let bench = Bench::new();
    bench.write(format!("{FEATURE}/spec.md"), "# Login\n\n- **FR-001**: System MUST greet\n");
    bench.write(format!("{FEATURE}/tasks.md"), "- [ ] T001 Make it\n");
    bench.write(SKILL, "---\nname: speckit-converge\n---\n");
    bench.commit("the feature");
    let list = format!("{FEATURE}/tasks.md");
    bench.agent(&format!(
        "list={list}\nif grep -q 'read `{SKILL}` and carry out' \"$DESK/prompt-$n\"; then\n{converge}\nelse\necho \"$n\" >> made.txt; sed -i '0,/- \\[ \\]/s//- [x]/' $list\nfi"
    ));
    bench
}

fn ralph<'a>(bench: &'a Bench, arguments: &str) -> Call<'a> {
    let call = bench.spool(&format!("ralph --change 001-login --retry-pause=10ms {arguments}"));
    call.arg("--harness-command").arg("agent").arg("Build it")
}

/// Appends an open task in a phase of its own, as the template of the command has it.
const APPENDS: &str = "printf '\\n## Phase %s: Convergence\\n\\n- [ ] T90%s Log it per FR-002 (missing)\\n' $n $n >> $list";

#[test]
fn unchanged_list_ends_as_done() {
    let bench = feature("true");
    let ran = ralph(&bench, "--converge --strict --check true").run().with_code(0);
    ran.says("converge found nothing missing");
    // The iteration of its own says what it is for.
    ran.says("-- iteration 2/50 · /speckit-converge\n");
    assert_eq!(bench.runs(), 2);
    let (first, second) = (bench.prompt(1), bench.prompt(2));
    assert!(!first.contains("onverge"), "{first}");
    second.has_all(&[
        "as if a person had typed `/speckit-converge` with nothing behind it",
        "The feature is the one in `.specify/specs/001-login`",
        "Change no file but `.specify/specs/001-login/tasks.md`",
    ]);
    assert!(!second.contains("Build it"), "{second}");
    let list = bench.read(&format!("{FEATURE}/tasks.md"));
    assert_eq!(list, "- [x] T001 Make it\n");
    let shown = bench.spool("ralph --status --change 001-login --json").run();
    let form: serde_json::Value = serde_json::from_str(&shown.output).unwrap();
    let converge = serde_json::json!({"command": "speckit-converge", "rounds": 1, "passed": true});
    assert_eq!(form["runner"]["loop"]["converge"], converge, "{shown}");
}

#[test]
fn appended_tasks_run_without_third_round() {
    let bench = feature(APPENDS);
    let ran = ralph(&bench, "--converge").run().with_code(0);
    ran.says("converge found more to do in both of its rounds: nobody has compared the code since");
    // The task, round one, its task, round two, its task.
    assert_eq!(bench.runs(), 5);
    let list = bench.read(&format!("{FEATURE}/tasks.md"));
    assert!(list.contains("- [x] T902") && list.contains("- [x] T904"), "{list}");
    assert!(!list.contains("[ ]"), "{list}");
    assert!(bench.prompt(3).contains("# Login") && !bench.prompt(3).contains("carry out what it"));
    ralph(&feature(APPENDS), "--converge --strict").run().with_code(11);
}

#[test]
fn failed_converge_counts_for_nothing() {
    let bench = feature("exit 1");
    let ran = ralph(&bench, "--converge --max-failures 2").run();
    assert_ne!(ran.code, Some(0), "{ran}");
    ran.says("spec-kit's converge command has not run");
    assert_eq!(bench.runs(), 3);
    // Without the command the same loop is done.
    ralph(&feature("exit 1"), "").run().with_code(0);
}

#[test]
fn added_personal_task_comes_first() {
    let bench = feature("true");
    // The check that passes adds it, once: the list is another one when the iteration would begin.
    let more =
        format!("test -e more || {{ touch more; echo '- [ ] T002 More' >> {FEATURE}/tasks.md; }}");
    let ran = ralph(&bench, "--converge").arg("--check").arg(&more).run().with_code(0);
    ran.says("converge found nothing missing");
    let is_converge = |run| bench.prompt(run).contains("carry out what it says");
    let runs: Vec<bool> = (1..=bench.runs()).map(is_converge).collect();
    assert_eq!(runs, [false, false, true]);
}

#[test]
fn missing_converge_is_refused_by_name() {
    let bench = feature("true");
    std::fs::remove_file(bench.path(SKILL)).unwrap();
    let ran = ralph(&bench, "--converge").run().with_code(2);
    ran.errors.has_all(&["spec-kit's converge command is asked for, and there is none of `.claude/skills/speckit-converge/SKILL.md`", "`.agents/skills/speckit-converge/SKILL.md`", "--converge=false"]);
    let ran = ralph(&bench, "--converge --done check --check true").run().with_code(2);
    assert!(ran.errors.contains("is for a feature of spec-kit whose task list decides"), "{ran}");
    bench.write(".claude/ralph-speckit.local.md", "---\nconverge: true\n---\n");
    ralph(&bench, "").run().with_code(2);
    assert_eq!(bench.runs(), 0);
    bench.write(".agents/skills/speckit-converge/SKILL.md", "x");
    let plan = ralph(&bench, "--dry-run").run().with_code(0);
    let line = "Converge: .agents/skills/speckit-converge/SKILL.md, before it counts as done\n";
    assert!(plan.output.contains(line), "{plan}");
    ralph(&bench, "--converge=false").run().with_code(0);
    assert_eq!(bench.runs(), 1);
}

#[test]
fn project_file_cannot_remove_it_unseen() {
    let bench = feature("true");
    bench.write(".claude/ralph-speckit.local.md", "---\nconverge: true\n---\n");
    bench.write(".spool/ralph.toml", "converge = false\n");
    let ran = ralph(&bench, "").run().with_code(2);
    assert!(ran.errors.contains("changes what holds without it"), "{ran}");
    assert_eq!(bench.runs(), 0);
}
