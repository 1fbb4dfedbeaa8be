//! A review that a person asks for when a loop is armed: what is shown of it, and when it is made.

use crate::hook::support::Bench;
use crate::support::has::Has;
use crate::support::scratch::Said;
use std::fs;

const SETTINGS: &str = ".claude/ralph-speckit.local.md";

fn ready() -> Bench {
    let bench = Bench::ready();
    fs::write(bench.feature_path("spec.md"), "# Login\n\n- **FR-001**: MUST log\n").unwrap();
    bench
}

#[test]
fn typed_review_outranks_the_settings() {
    let earlier = "Review by another agent program, run when the tasks of a phase are all ticked, and when all else says that the work is done:\n";
    let shown = ready().implement("s1", "--review --review-when phases").message().to_owned();
    assert!(shown.contains(earlier), "{shown}");
    shown.has("  spool review --harness claude --when phases (within 900 s)");

    let bench = ready();
    fs::create_dir_all(bench.root.join(".claude")).unwrap();
    fs::write(bench.root.join(SETTINGS), "---\nreview: { harness: codex, when: verify }\n---\n")
        .unwrap();
    let said = Said::of(bench.spool().args(["start"])).ok();
    assert!(said.contains("run when a [VERIFY] task is ticked, and when all else"), "{said}");
    let bench = ready();
    fs::create_dir_all(bench.root.join(".claude")).unwrap();
    fs::write(bench.root.join(SETTINGS), "---\nreview: { harness: codex, when: verify }\n---\n")
        .unwrap();
    let said = Said::of(bench.spool().args(["start", "--review-when", "end"])).ok();
    assert!(said.contains("program, run when all else says"), "{said}");
    assert!(said.contains("  spool review --harness codex (within 900 s)"), "{said}");
}

#[test]
fn empty_specification_is_refused_for_review() {
    for (spec, why) in [
        (None, "spec.md`: it does not exist"),
        (
            Some("# Login\n\nIt logs in.\n```\nFR-001\n```\n"),
            "spec.md` names nothing to judge: no id such as FR-001",
        ),
    ] {
        let bench = Bench::ready();
        if let Some(spec) = spec {
            fs::write(bench.feature_path("spec.md"), spec).unwrap();
        }
        let before = bench.everything();
        let said = bench.implement("s1", "--review").reason().to_owned();
        said.has("nothing is armed: a review is asked for, and `.specify/specs/");
        assert!(said.contains(why) && said.contains("--review=false"), "{said}");
        assert_eq!(bench.everything(), before);
        // Without a review nobody asks for ids.
        assert!(bench.implement("s1", "").message().contains("armed"));
    }
}

#[test]
fn when_alone_asks_no_review() {
    let bench = ready();
    let before = bench.everything();
    let refused = |arguments: &str| bench.implement("s1", arguments).reason().to_owned();
    let said = refused("--review-when phases");
    assert!(said.contains("`--review-when` does nothing without a review\nadd --review"), "{said}");
    let said = refused("--review --review-when=always");
    assert!(said.contains("`--review-when` needs `end`, `phases` or `verify`"), "{said}");
    assert_eq!(bench.everything(), before);
}
