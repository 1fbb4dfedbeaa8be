//! A feature of spec-kit under `spool ralph`: the gate of its checklists, and the mandatory hooks of its extensions.

use super::support::Bench;
use crate::support::has::Has;

const FEATURE: &str = ".specify/specs/001-login";
const HOOKS: &str = "\
hooks:
  before_implement:
  - {command: speckit.git.commit, enabled: true, optional: false}
  after_implement:
  - {command: speckit.review.run, optional: false}
  - {command: speckit.offer, optional: true}
";

/// A feature with one open task; its agent ticks it.
fn feature() -> Bench {
    let bench = Bench::new();
    bench.write(format!("{FEATURE}/spec.md"), "# Login\n");
    bench.write(format!("{FEATURE}/tasks.md"), "- [ ] T001 Make it\n");
    bench.commit("the feature");
    bench.agent(&format!("echo made > made.txt; echo '- [x] T001 Make it' > {FEATURE}/tasks.md"));
    bench
}

fn ralph<'a>(bench: &'a Bench, arguments: &str) -> super::support::Call<'a> {
    let call = bench.spool(&format!("ralph --change 001-login --retry-pause=10ms {arguments}"));
    call.arg("--harness-command").arg("agent").arg("Build it")
}

#[test]
fn empty_specification_is_refused_for_review() {
    let bench = feature();
    let ran = ralph(&bench, "--review --review-harness codex").run().with_code(2);
    let said =
        "a review is asked for, and `.specify/specs/001-login/spec.md` names nothing to judge";
    assert!(ran.errors.contains(said) && ran.errors.contains("--review=false"), "{ran}");
    assert_eq!(bench.runs(), 0);
}

#[test]
fn git_shows_the_work_alone() {
    let bench = feature();
    let spool = env!("CARGO_BIN_EXE_spool");
    bench.agent(&format!("echo made > made.txt; {spool} task done T001 --feature 001-login"));
    ralph(&bench, "").run().with_code(0);
    assert!(bench.path(&format!("{FEATURE}/.progress.md")).exists());
    let shown = bench.git(&["status", "--short", "-uall"]);
    let shown: Vec<&str> =
        shown.lines().map(|line| line.trim().rsplit(' ').next().unwrap()).collect();
    assert_eq!(shown, [&format!("{FEATURE}/tasks.md"), "made.txt"]);
}

#[test]
fn open_checklists_refuse_the_start() {
    let bench = feature();
    bench.write(format!("{FEATURE}/checklists/ux.md"), "- [x] CHK001 Done\n- [ ] CHK002 Open\n");
    let ran = ralph(&bench, "").run().with_code(2);
    ran.errors.has_all(&["nothing is started, because feature `001-login` has open checklists:\n  ux.md: 1 of 2 open", "add --ignore-checklists to continue with them open"]);
    assert_eq!(bench.runs(), 0);
    assert!(!bench.path(".spool").join(".state").exists() && !bench.path(".claude").exists());

    // An agent decides nothing of that.
    let ran = ralph(&bench, "--ignore-checklists").env("CLAUDECODE", "1").run().with_code(2);
    assert!(ran.errors.contains("only a person can continue with them open"), "{ran}");
    assert_eq!(bench.runs(), 0);

    let ran = ralph(&bench, "--ignore-checklists").run().with_code(0);
    assert!(ran.errors.contains("open checklists, as you wish: ux.md: 1 of 2 open"), "{ran}");
    let prompt = bench.prompt(1);
    assert!(prompt.contains("do not ask about them, and do not tick them"), "{prompt}");
}

#[test]
fn mandatory_hooks_reach_the_agent() {
    let bench = feature();
    bench.write(".specify/extensions.yml", HOOKS);
    let plan = ralph(&bench, "--dry-run").run().with_code(0);
    let words = "before the first task /speckit-git-commit; after the last one /speckit-review-run";
    assert!(plan.output.contains(&format!("Extension hooks: {words}\n")), "{plan}");
    let ran = ralph(&bench, "--strict").run().with_code(11);
    ran.says(&format!(
        "whether the extension hooks of spec-kit ran cannot be seen from here: {words}"
    ));
    let prompt = bench.prompt(1);
    prompt.has_all(&[
        "Before the first task, run what spec-kit's extensions demand",
        "unless an earlier iteration did: /speckit-git-commit.",
        "before you end: /speckit-review-run.",
    ]);
    assert!(!prompt.contains("speckit-offer"), "{prompt}");
}

#[test]
fn silent_spec_kit_adds_nothing() {
    let bench = feature();
    bench.write(format!("{FEATURE}/checklists/ux.md"), "- [x] CHK001 Done\n");
    let ran = ralph(&bench, "--strict").run().with_code(0);
    assert!(!ran.errors.contains("hecklist") && !ran.output.contains("xtension"), "{ran}");
    let prompt = bench.prompt(1);
    assert!(!prompt.contains("hecklist") && !prompt.contains("xtension"), "{prompt}");
    // A change of another kind is no feature.
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    bench.write(".specify/extensions.yml", HOOKS);
    bench.agent("echo more >> made.txt");
    bench.ralph("--max-iterations 1").run().with_code(3);
    assert!(!bench.prompt(1).contains("xtension"));
}

#[test]
fn agent_arms_nothing_in_run() {
    let bench = feature();
    let spool = crate::support::scratch::SPOOL;
    bench.agent(&format!(
        "({spool} start 001-login T001; {spool} task done T001 -f 001-login) > \"$DESK/said\" 2>&1 || true"
    ));
    ralph(&bench, "--max-iterations 1").run().with_code(3);
    let said = bench.desk("said");
    said.has("a person armed the loop of 001-login").has("T001 is not ticked: nothing in");
}
