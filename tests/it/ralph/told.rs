//! What a person reads of a loop: the right words, in the right number, and never a program's own.

use crate::hook::support::{ALL_DONE, Bench};
use crate::ralph::cli::{printed, spool};
use crate::ralph::{armed, works_and_says};
use crate::support::has::Has;

const CHECKS: &str = "---\nchecks:\n  - test -e src/built\n---\n";

/// A feature's loop with every box ticked and a check that fails.
fn failing(arguments: &str) -> Bench {
    let bench = Bench::ready().settings(CHECKS);
    bench.implement("s1", arguments).context();
    bench.write_tasks(ALL_DONE);
    bench
}

#[test]
fn d10_feature_end_names_failed_check() {
    let bench = failing("");
    let stop = works_and_says(&bench, "All is done.");
    assert_eq!(
        stop.message(),
        "Ralph-speckit: 3 of 3 done · iteration 1 · check failed: `test -e src/built` (exit code 1)"
    );
}

#[test]
fn d10_feature_end_says_check() {
    let bench = failing("--max-iterations 2");
    works_and_says(&bench, "All is done.").reason();
    let stop = works_and_says(&bench, "All is done.");
    stop.told().has("the limit of 2 iterations was reached; check failed: `test -e src/built` (exit code 1) · 3 of 3 tasks · ");
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("check failed: `test -e src/built` (exit code 1)"), "{status}");
}

#[test]
fn d10_program_words_stay_inside() {
    let bench = failing("");
    for _ in 0..4 {
        let stop = works_and_says(&bench, "All is done.");
        assert!(!stop.message().contains(['{', '[']), "{stop}");
    }
    bench.write_tasks("- [x] T001 Create it\n- [ ] T004 Another\n");
    works_and_says(&bench, "All is done.\n\nALL_TASKS_COMPLETE").reason();
    let log = printed(&spool(&bench, None, &["log"]));
    assert!(log.contains("the same failure 3 times in a row"), "{log}");
    assert!(!log.contains(['{', '[', '"']), "{log}");
    let bench = armed("\"Make it\" --completion-promise DONE --min-tool-calls 9");
    works_and_says(&bench, "no").reason();
    let log = printed(&spool(&bench, None, &["log"]));
    assert!(!log.contains(['{', '[', '"']), "{log}");
}

#[test]
fn d10_numbers_and_their_words_agree() {
    let bench = Bench::armed();
    bench.tick("T002");
    let stop = works_and_says(&bench, "All is done.\n\nALL_TASKS_COMPLETE");
    assert!(stop.message().ends_with(": claimed done, but 1 of 3 is open · next T003"), "{stop}");
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("\n  Sent back: 1 time; refused claims: 1\n"), "{status}");
    assert!(status.contains("\n  Before this iteration: 1 tool call\n"), "{status}");
    let first = "  Loop: live\n  Tasks: 2 of 3 done\n  Open: T003\n  Proved: 1 by files (1 receipt)\n  Now: T003 ";
    assert!(status.contains(first), "{status}");
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    let said = bench.command("s1", "speckit:cancel-ralph", "").run();
    assert!(
        said.reason()
            .starts_with("Ralph-speckit: ended (cancelled): Make it · 1 tool call · 1 iteration"),
        "{said}"
    );
}

#[test]
fn d11_cancel_works_outside_spec_kit() {
    let bench = armed("\"Make it\"");
    let status = bench.command("s2", "speckit:status", "").run();
    assert!(status.reason().contains("Task: Make it") && status.reason().contains("Loop: live"));
    let said = bench.command("s2", "speckit:cancel-ralph", "s9").run();
    assert!(said.reason().contains("no ralph loop of a session `s9` is live here"), "{said}");
    let said = bench.command("s2", "speckit:cancel-ralph", "s1").run();
    assert!(said.reason().starts_with("Ralph-speckit: ended (cancelled): Make it · "), "{said}");
    works_and_says(&bench, "no").told().has("ended (cancelled): Make it");
}

#[test]
fn d11_quoted_feature_name_is_found() {
    for text in
        ["\u{feff}001-login", "  001-login \r\n", "\u{feff} 001-login\r\n\r\n", "\t001-login"]
    {
        let bench = Bench::ready();
        bench.write(".specify/.current-feature", text);
        let context = bench.implement("s1", "");
        assert!(context.context().contains("001-login"), "{text:?}: {context}");
    }
    let bench = Bench::ready();
    let pointer = "\u{feff}{\"feature_directory\": \".specify/specs/001-login\"}\r\n";
    bench.write(".specify/feature.json", pointer);
    bench.implement("s1", "").context();
}

#[test]
fn d10_completed_is_not_cancelled() {
    let words = "The loop had ended before (completed); there was nothing to cancel.";
    let completed = || {
        let bench = Bench::armed();
        bench.write_tasks(ALL_DONE);
        works_and_says(&bench, "ALL_TASKS_COMPLETE").silent();
        bench
    };
    let said = completed().cancel("s1", "");
    assert!(said.reason().starts_with(words), "{said}");
    let said = printed(&spool(&completed(), None, &["cancel"]));
    assert!(said.contains(words) && !said.contains("Loop cancelled"), "{said}");
}
