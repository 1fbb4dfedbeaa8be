//! Reviews as the last check of a loop, over a program in the place of Claude Code that works and reads.

use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::review::support::{Built, FR_001, FR_002, US1_1};
use crate::runner::ran::Running;
use crate::support::witness::PATIENCE;

const REVIEW: &str = ".spool/.state/ralph/001-login/review.json";
const LIST: &str = "specs/001-login/tasks.md";
/// Work that ticks the first open box by hand.
const TICK: &str = "echo more >> src/more.rs\nsed -i '0,/- \\[ \\]/s//- [x]/' specs/001-login/tasks.md\nresult worked";

/// An answer that leaves all for later where a part is reviewed, and finds all of the work good.
fn later_then_met() -> String {
    let later = ["US1.1", "FR-001", "FR-002"];
    let later = later.map(|id| format!(r#"{{"id":"{id}","verdict":"later"}}"#));
    let later = Built::answer_of_claude(&later.each_ref().map(String::as_str));
    let met = Built::met();
    format!("case \"$*\" in *'now, these tasks: '*)\n{later}\n;; *)\n{met}\n;; esac")
}

#[test]
fn postponing_review_proves_no_task() {
    let built = Built::new();
    built.write(LIST, "## Phase 1\n\n- [ ] T001 Write src/more.rs\n\n## Phase 2\n\n- [ ] T002 More\n- [ ] T003 Even more\n");
    built.commit("open tasks");
    built.worker_and_reader(TICK, &later_then_met());
    let ran = built.loop_with("--review --review-when phases --max-iterations 2").with_code(3);
    assert_eq!(built.reviews(), 1, "{ran}");
    ran.says("passed (0 judged, 3 later), T001, by claude").says("Proved: 2 by files\n");
    assert!(!ran.output.contains("by a review"), "{ran}");
    let status = status(&built);
    let of_runner = &status["runners"][0]["loop"]["review"];
    assert_eq!((&of_runner["met"], &of_runner["requirements"]), (&json!(0), &json!(0)));
    // What it left for later is judged at the end, and that proves the tasks of this loop.
    let ran = built.loop_with("--review --review-when phases").with_code(0);
    assert_eq!(built.reviews(), 2, "{ran}");
    ran.says("passed: passed (3 of 3 met), by claude");
    ran.says("Proved: 1 by a review");
}

#[test]
fn stop_review_proves_a_hand_tick() {
    let built = Built::new();
    built.write(LIST, "- [ ] T001 Write src/more.rs\n- [ ] T002 Write src/next.rs\n");
    built.commit("open tasks");
    built.worker_and_reader("exit 1", &Built::met());
    built.spool("start 001-login --review").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    built.write("src/more.rs", "fn more() {}\n");
    built.write("src/next.rs", "fn next() {}\n");
    built.write(LIST, "- [x] T001 Write src/more.rs\n- [x] T002 Write src/next.rs\n");
    let said = built.stop("ALL_TASKS_COMPLETE");
    assert_eq!(built.reviews(), 1, "{said}");
    let status = built.spool("status").run().with_code(0);
    status.says("  Proved: 2 by a review (2 receipts)\n");
    let shown = built.spool("task show T001 --json").run().with_code(0);
    let shown: Value = serde_json::from_str(&shown.output).unwrap();
    let receipt = &shown["receipts"][0];
    assert_eq!((&receipt["by"], &receipt["reviewer"]), (&json!("stop"), &json!("claude")));
}

/// A loop on one task, whose box is ticked by hand, with a reader that finds nothing logged.
fn not_met() -> String {
    Built::answer_of_claude(&[US1_1, FR_001, r#"{"id":"FR-002","verdict":"not met"}"#])
}

fn status(built: &Built) -> Value {
    serde_json::from_str(&built.spool("status --json").run().with_code(0).output).unwrap()
}

#[test]
fn agent_and_reader_cost_end_it() {
    let built = Built::open();
    let (work, read) = (format!("cost=0.20\n{TICK}"), format!("cost=0.25\n{}", not_met()));
    built.worker_and_reader(&work, &read);
    // Two iterations and two reviews cost 90 cents; neither side alone reaches the limit.
    let ran = built.loop_with("--review --max-usd 0.85").with_code(8);
    assert_eq!(built.reviews(), 2, "{ran}");
    ran.says("  `spool review --harness claude` failed: not passed (2 of 3 met), by claude, 420 tokens, $0.2500\n");
    ran.says("ralph: ended (budget): $0.9000 are used, and $0.8500 are allowed\n");
    ran.says(" 840 tokens, $0.4000, ").says(", reviews 840 tokens, $0.5000, ");
    let runner = &status(&built)["runners"][0];
    assert_eq!(runner["loop"]["review_cost_usd"], json!(0.5), "{runner:#}");
    assert_eq!(runner["loop"]["review_cost_estimated"], json!(false), "{runner:#}");
    assert_eq!(runner["cost_usd"], json!(0.4), "{runner:#}");
    let shown = built.spool("ralph --status --change 001-login").run().with_code(0);
    shown.says("  Reviews beside that: 840 tokens, $0.5000\n");
    let log = built.spool("log").run().with_code(0);
    log.says("reviews 840 tokens, $0.5000)");
}

#[test]
fn silent_reader_cost_is_estimated() {
    let built = Built::open();
    built.worker_and_reader(&format!("cost=0.20\n{TICK}"), &not_met());
    // A dollar for each thousand tokens of every kind: 42 cents a review.
    let prices = "--prices other=1/1 --prices claude-sonnet=1000/1000";
    let ran = built.loop_with(&format!("--review --max-usd 0.60 {prices}")).with_code(8);
    assert_eq!(built.reviews(), 1, "{ran}");
    ran.says("by claude, 420 tokens, ~$0.4200\n").says(" reviews 420 tokens, ~$0.4200, ");
    ran.says("ralph: ended (budget): ~$0.6200 are used, and $0.6000 are allowed");
    let runner = &status(&built)["runners"][0]["loop"];
    assert_eq!(runner["review_cost_usd"], json!(0.42), "{runner:#}");
    assert_eq!(runner["review_cost_estimated"], json!(true), "{runner:#}");
    assert_eq!(runner["review"]["cost_estimated"], json!(true), "{runner:#}");
    built.spool("log").run().with_code(0).says("reviews 420 tokens, ~$0.4200)");
    // A review by itself takes the same prices, from the command line and from the person's own file.
    built
        .spool(&format!("review {prices}"))
        .run()
        .with_code(3)
        .says("420 tokens, ~$0.4200; changes");
    assert_eq!(built.last()["cost_estimated"], json!(true));
    built.spool("review").run().with_code(3).says(", 420 tokens; changes");
    built.write("../home/.config/ralph-speckit/ralph.toml", "prices = [\"claude=1000/1000\"]\n");
    built.spool("review").run().with_code(3).says(", 420 tokens, ~$0.4200; changes");
}

#[test]
fn unpriced_review_is_named() {
    let built = Built::open();
    built.worker_and_reader(&format!("cost=0.20\n{TICK}"), &Built::met());
    let ran = built.loop_with("--review --max-usd 1").with_code(0);
    ran.warns("nothing tells what this review cost, so --max-usd does not count it; --prices does");
}

#[test]
fn agent_started_review_proves_nothing() {
    let built = Built::new();
    built.write(LIST, "- [ ] T001 Write src/more.rs\n- [ ] T002 b\n");
    built.commit("open tasks");
    let met = Built::met();
    built.worker_and_reader("exit 1", &met);
    built.spool("start 001-login --review").run().with_code(0);
    built.write("src/more.rs", "fn more() {}\n");
    built.spool("task done T001").run().with_code(0);
    // With the variable that a driver sets, by the reader of the loop and by a program of its own.
    built.spool("review 001-login").env("RALPH_CHECKS", "\u{1e}").run().with_code(0);
    built.reader(&[US1_1, FR_001, FR_002]);
    let call = built.spool("review --may-write --harness-command agent 001-login");
    call.env("RALPH_CHECKS", "\u{1e}").run().with_code(0).says("passed (3 of 3 met)");
    built.review("").with_code(0);
    let status = built.spool("status").run().with_code(0);
    status.says("  Proved: 1 by files (1 receipt)\n");
}

#[test]
fn driver_review_proves_old_ticks() {
    let built = Built::new();
    built.write(LIST, "- [ ] T001 Write src/more.rs\n- [ ] T002 Write src/next.rs\n");
    built.commit("open tasks");
    let met = Built::met();
    // In a session: `spool task done` writes the receipts, and the stop notes its review in them.
    built.worker_and_reader("exit 1", &met);
    built.spool("start 001-login --review").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    for (file, id) in [("src/more.rs", "T001"), ("src/next.rs", "T002")] {
        built.write(file, "fn new() {}\n");
        built.spool(&format!("task done {id}")).run().with_code(0);
    }
    let said = built.stop("ALL_TASKS_COMPLETE");
    assert_eq!(built.reviews(), 1, "{said}");
    let status = built.spool("status").run().with_code(0);
    status.says("  Proved: 2 by a review (4 receipts)\n");
    // In the runner.
    built.write(LIST, "- [ ] T001 Write src/more.rs\n- [ ] T002 Write src/next.rs\n");
    built.commit("open tasks again");
    // The first task is ticked an iteration before the review, and has its receipt from there.
    built.worker_and_reader(&format!("echo next >> src/next.rs\n{TICK}"), &met);
    let ran = built.loop_with("--review").with_code(0);
    assert_eq!(built.reviews(), 2, "{ran}");
    ran.says("Proved: 2 by a review");
    let shown = built.spool("task show T001 --json").run().with_code(0);
    let shown: Value = serde_json::from_str(&shown.output).unwrap();
    let all = shown["receipts"].as_array().unwrap();
    let last = all.last().unwrap();
    assert_eq!((&last["by"], &last["reviewer"]), (&json!("review"), &json!("claude")), "{shown:#}");
}

/// A loop whose reader is at work, and has said what its first call used.
fn at_work_in_a_review(built: &Built) -> Running {
    built.write(LIST, "- [ ] T001 Write src/more.rs\n");
    built.commit("open tasks");
    let read = "calls Read\nread -r _ < \"$DESK/gate\"\nexec sleep 60";
    built.worker_and_reader(&format!("cost=0.20\n{TICK}"), read);
    let gate = built.gate();
    let call = built.spool("ralph --change 001-login --review --no-stay-awake").arg("Build it");
    let running = call.start();
    gate.open();
    running
}

#[test]
fn stopped_review_is_counted_as_partial() {
    let ways = [("Ctrl-C", Some(Signal::INT), 130), ("SIGTERM", Some(Signal::TERM), 143)];
    for (way, signal, code) in ways.into_iter().chain([("spool stop", None, 130)]) {
        let built = Built::new();
        let running = at_work_in_a_review(&built);
        match signal {
            Some(signal) => running.signal(signal),
            None => {
                built.spool("stop").run().with_code(0);
            }
        }
        let ran = running.finish().with_code(code);
        ran.says("at least 420 tokens, at least $0.2000").says(", reviews 161 tokens, ");
        let runner = &status(&built)["runners"][0];
        assert_eq!(runner["loop"]["review_tokens"], json!(161), "{way}: {runner:#}");
        assert_eq!(runner["cost_complete"], json!(false), "{way}: {runner:#}");
        // It is not counted again by the run that continues the loop.
        let met = Built::met();
        built.worker_and_reader("cost=0.20\nresult done", &format!("cost=0.25\n{met}"));
        let ran = built.loop_with("--review").with_code(0);
        ran.says("at least $0.4000").says("reviews 581 tokens, $0.2500");
    }
}

/// A loop whose runner is killed while its reader is at work.
fn killed_in_a_review(built: &Built) {
    let running = at_work_in_a_review(built);
    running.signal(Signal::KILL);
    running.finish();
    let lock = std::fs::File::open(built.root.join(".spool/.state/ralph/001-login/lock")).unwrap();
    lock.lock_shared().unwrap();
    // The reader is ended with its runner, and its review says so.
    let deadline = Deadline::after(PATIENCE);
    while !built.root.join(REVIEW).exists() {
        assert!(!deadline.is_over(), "the review wrote nothing");
        pause(Duration::from_millis(5));
    }
    let met = Built::met();
    built.worker_and_reader("cost=0.20\nresult done", &format!("cost=0.25\n{met}"));
}

#[test]
fn killed_review_is_counted_as_partial() {
    for is_written in [true, false] {
        let built = Built::new();
        killed_in_a_review(&built);
        if !is_written {
            std::fs::remove_file(built.root.join(REVIEW)).unwrap();
        }
        let ran = built.loop_with("--review").with_code(0);
        // One call of the cut off review, and the whole of the next one.
        ran.says("at least 581 tokens, at least $0.2000").says("reviews 581 tokens, $0.2500");
        let runner = &status(&built)["runners"][0];
        assert_eq!(runner["cost_complete"], json!(false), "{runner:#}");
    }
}

#[test]
fn n5_deaths_in_reviews_keep_books() {
    let built = Built::new();
    killed_in_a_review(&built);
    let ran = built.loop_with("--review").with_code(0);
    let killed = &built.iterations()[0];
    assert_eq!(killed["tasks_ticked"], json!(["T001"]), "{ran}");
    assert_eq!(killed["files"], json!([LIST, "src/more.rs"]), "{ran}");
    ran.says(", 2 files, ").says("Changed: 2 files");
}

#[test]
fn finished_review_is_counted_whole() {
    let built = Built::new();
    killed_in_a_review(&built);
    let at = ralph_speckit::world::now().millis();
    let review = json!({
        "outcome": "passed", "began_at": at, "tokens": 1000, "cost": 300_000, "cost_estimated": true,
    });
    built.write(REVIEW, review.to_string());
    let ran = built.loop_with("--review").with_code(0);
    ran.says("reviews 1,420 tokens, ~$0.5500");
}

#[test]
fn removed_requirement_is_no_pass() {
    let built = Built::open();
    let met = format!(
        "if grep -q FR-002 specs/001-login/spec.md; then\n{}\nelse\n{}\nfi",
        Built::met(),
        Built::answer_of_claude(&[US1_1, FR_001])
    );
    let less = "if [ -f src/more.rs ]; then git checkout -q specs/001-login/spec.md; else sed -i '/FR-002/d' specs/001-login/spec.md; fi";
    let told = "printf '%s' \"$*\" > \"$DESK/told\"";
    built.worker_and_reader(&format!("{told}\n{less}\n{TICK}"), &met);
    let ran = built.loop_with("--review --max-iterations 3").with_code(0);
    assert_eq!((built.reviews(), built.iterations().len()), (1, 2), "{ran}");
    let told = built.read("../desk/told");
    let why =
        "`specs/001-login/spec.md` had it when the loop was armed, and has not now: put it back";
    assert!(told.contains("FR-002") && told.contains(why), "{told}");
    ran.says("passed: passed (3 of 3 met), by claude");
}

#[test]
fn reworded_requirement_is_a_doubt() {
    let built = Built::open();
    let met = Built::met();
    let read = format!("printf '%s' \"$*\" > \"$DESK/asked\"\n{met}");
    let less = "sed -i 's/log each try/log some tries/' specs/001-login/spec.md";
    built.worker_and_reader(&format!("{less}\n{TICK}"), &read);
    let ran = built.loop_with("--review --strict").with_code(11);
    assert_eq!(built.reviews(), 1, "{ran}");
    let asked = built.read("../desk/asked");
    let both = "FR-002 then: - FR-002: System MUST log each try\nFR-002 now: - FR-002: System MUST log some tries\n";
    assert!(asked.contains(both) && !asked.contains("FR-001 then"), "{asked}");
    assert!(asked.contains("where it asks for less than the one of then"), "{asked}");
    ran.says("passed: passed (3 of 3 met, 1 reworded), by claude");
    ran.says("spec.md was reworded since the loop was armed, FR-002: `spool review --last` has both texts\n");
    let last = built.spool("review --last").run().with_code(0);
    last.says("note: FR-002 was reworded since the loop was armed: \"- FR-002: System MUST log each try\" is \"- FR-002: System MUST log some tries\" now\n");
    assert_eq!(built.last()["reworded"], json!(["FR-002"]));
}

#[test]
fn unchanged_specification_is_no_doubt() {
    for by_person in [false, true] {
        let built = Built::open();
        let spec = "specs/001-login/spec.md";
        if by_person {
            let text = built.read(spec).replace("log each try", "log some tries");
            built.write(spec, text);
        }
        let met = Built::met();
        let read = format!("printf '%s' \"$*\" > \"$DESK/asked\"\n{met}");
        built.worker_and_reader(TICK, &read);
        let ran = built.loop_with("--review --strict").with_code(0);
        assert!(!built.read("../desk/asked").contains("reworded"), "{ran}");
        assert!(!ran.output.contains("reworded"), "{ran}");
    }
}

#[test]
fn uncommitted_specification_change_is_shown() {
    let built = Built::new();
    built.write(LIST, "- [ ] T001 Write src/more.rs\n");
    built.git(&["rm", "-q", "--cached", "specs/001-login/spec.md"]);
    built.git(&["commit", "-q", "-m", "open tasks, and no specification"]);
    let less = "sed -i 's/log each try/log some tries/' specs/001-login/spec.md";
    built.worker_and_reader(&format!("{less}\n{TICK}"), &Built::met());
    built.loop_with("--review").with_code(0);
    let last = built.spool("review --last").run().with_code(0);
    last.says("note: FR-002 was reworded since the loop was armed: \"- FR-002: System MUST log each try\" is \"- FR-002: System MUST log some tries\" now\n");
}
