//! spec-kit's converge command as the last gate before the review: asked for when all else says done, at most twice.

use crate::hook::extensions::runs;
use crate::hook::support::{ALL_DONE, Bench, THREE_TASKS};
use crate::support::has::Has;
use crate::support::scratch::Said;
use std::fs;

const SKILL: &str = ".claude/skills/speckit-converge/SKILL.md";
const SETTINGS: &str = "---\nconverge: true\nchecks:\n  - test -e built\n---\n";
const ASKED: &str = "run /speckit-converge with the Skill tool";

/// What the command appends where something is missing, as its template has it.
const MORE: &str = "\n## Phase 2: Convergence\n\n- [ ] T004 Log each call per FR-002 (missing)\n";

/// A loop that asks for the command, with a check that passes.
fn armed() -> Bench {
    let bench =
        Bench::ready().tasks(THREE_TASKS).settings(SETTINGS).file(SKILL, "---\nname: x\n---\n");
    bench.write("built", "");
    let answer = bench.implement("s1", "");
    answer.message().has("\nConverge: /speckit-converge before it counts as done");
    assert!(answer.context().contains("run spec-kit's /speckit-converge"), "{answer}");
    bench
}

/// Whether the next stop asks for the command.
#[track_caller]
fn asks(bench: &Bench) -> bool {
    bench.stop("s1").run().reason().contains(ASKED)
}

fn words(bench: &Bench) -> String {
    bench.journal("s1").last().unwrap()["words"].as_str().unwrap().to_owned()
}

#[test]
fn unchanged_run_after_ticks_passes() {
    let bench = armed();
    assert!(!asks(&bench));
    bench.write_tasks(ALL_DONE);
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains(ASKED), "{stop}");
    assert!(stop.reason().contains("When it appends tasks to tasks.md, they are open"), "{stop}");
    assert!(stop.message().contains("/speckit-converge still has to run"), "{stop}");
    runs(&bench, "speckit-converge");
    bench.stop("s1").run().silent();
    assert_eq!(words(&bench), "all the work is done; converge found nothing missing");
    let converging = bench.record("s1").ledger.converging;
    assert_eq!((converging.rounds, converging.passed), (1, true));
}

#[test]
fn second_converge_round_is_last() {
    let bench = armed();
    bench.write_tasks(ALL_DONE);
    assert!(asks(&bench));
    runs(&bench, "speckit-converge");
    bench.write_tasks(&[ALL_DONE, MORE].concat());
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("T004") && !stop.reason().contains(ASKED), "{stop}");
    // Done, and asked for again: what it adds now is done without a third round.
    let both = [ALL_DONE, &MORE.replace("[ ]", "[x]")].concat();
    bench.write_tasks(&both);
    let again = bench.stop("s1").run();
    assert!(again.reason().contains(ASKED), "{again}");
    assert!(again.message().contains("/speckit-converge still has to run"), "{again}");
    runs(&bench, "speckit.converge");
    let third = "\n## Phase 3: Convergence\n\n- [ ] T005 Log each error per FR-003 (partial)\n";
    bench.write_tasks(&[&both, third].concat());
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("T005") && !stop.reason().contains(ASKED), "{stop}");
    bench.write_tasks(&format!("{both}{}", third.replace("[ ]", "[x]")));
    bench.stop("s1").run().silent();
    assert!(words(&bench).ends_with(
        "converge found more to do in both of its rounds: nobody has compared the code since"
    ));
}

#[test]
fn failing_check_comes_before_converge() {
    let bench = armed();
    fs::remove_file(bench.path("built")).unwrap();
    bench.write_tasks(ALL_DONE);
    runs(&bench, "speckit-converge");
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("Check failed: `test -e built`"), "{stop}");
    assert!(!stop.reason().contains(ASKED), "{stop}");
    bench.write("built", "");
    assert!(asks(&bench));
}

#[test]
fn word_counts_only_once_asked() {
    let bench = armed();
    let spool = || Said::of(bench.spool().args(["task", "hook", "/speckit.converge"]));
    bench.stop("s1").run().reason();
    let early = spool().refused();
    early.has("`/speckit-converge` counts only when the loop has asked for it");
    bench.write_tasks(ALL_DONE);
    assert!(asks(&bench));
    assert!(spool().ok().starts_with("Noted. "));
    assert!(spool().ok().starts_with("Noted before. "));
    bench.stop("s1").run().silent();
    assert!(words(&bench).contains("converge found nothing missing"));
}

#[test]
fn unrun_command_ends_by_guards() {
    let bench = armed();
    bench.transcript("s1").user("begin");
    bench.write_tasks(ALL_DONE);
    assert!(asks(&bench));
    let stop = || {
        bench.transcript("s1").assistant("It is all done.");
        bench.stop("s1").held().run()
    };
    for _ in 0..2 {
        let asked = stop();
        assert!(!asked.reason().contains("The same tasks are open"), "none is: {asked}");
        assert!(asked.reason().contains("Run it now, or say what stops you: "), "{asked}");
    }
    let told = stop();
    told.message().has("; spec-kit's converge command has not run · 3 of 3 tasks");
    assert_eq!(bench.verdicts("s1").last().unwrap(), "end no_progress");
}

#[test]
fn armed_converge_holds() {
    let bench = armed();
    bench.write(".claude/ralph-speckit.local.md", "---\nconverge: false\n---\n");
    bench.write_tasks(ALL_DONE);
    assert!(asks(&bench));
    let none = Bench::ready().settings("---\nconverge: true\n---\n");
    let refused = none.implement("s1", "");
    refused.to_string().has_all(&["spec-kit's converge command is asked for, and there is none of `.claude/skills/speckit-converge/SKILL.md`, `.claude/commands/speckit.converge.md`", "--converge=false"]);
    none.stop("s1").run().silent();
    none.implement("s1", "--converge=false").context();
    let part = Bench::ready().tasks(THREE_TASKS).file(SKILL, "x");
    let refused = part.implement("s1", "T002 --converge");
    assert!(refused.to_string().contains("this loop is about some of its tasks"), "{refused}");
    part.write(".claude/ralph-speckit.local.md", "---\nconverge: true\n---\n");
    let armed = part.implement("s1", "T002");
    assert!(armed.message().contains("Converge: left out"), "{armed}");
}
