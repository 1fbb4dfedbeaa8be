//! The checklist gate of spec-kit, with its own templates: an open checklist asks a person before the loop is armed.

use crate::hook::support::{Bench, THREE_TASKS};
use crate::support::has::Has;
use crate::support::scratch::Said;
use crate::support::system::symlink;
use std::fs;

/// What `/speckit-specify` of spec-kit 1.2.3 lays out.
const REQUIREMENTS: &str = include_str!("../../fixtures/spec-kit/requirements.md");
/// What `/speckit-checklist` begins with.
const TEMPLATE: &str = include_str!("../../fixtures/spec-kit/checklist-template.md");

/// A feature with a list and these checklists.
fn with_checklists(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::ready();
    fs::create_dir(bench.feature_path("checklists")).unwrap();
    for (name, text) in files {
        fs::write(bench.feature_path("checklists").join(name), text).unwrap();
    }
    bench
}

/// Arms, and returns why that was refused; no file is touched.
#[track_caller]
fn refused(bench: &Bench, arguments: &str) -> String {
    let before = bench.everything();
    let answer = bench.implement("s1", arguments);
    assert_eq!(bench.everything(), before, "nothing is armed: {answer}");
    bench.stop("s1").run().silent();
    answer.reason().to_owned()
}

#[test]
fn open_checklist_stops_the_command() {
    let half = TEMPLATE.replacen("- [ ]", "- [x]", 2).replacen("- [ ]", "- [X]", 1);
    let done = REQUIREMENTS.replace("- [ ]", "- [x]");
    let bench = with_checklists(&[
        ("ux.md", &half),
        ("requirements.md", REQUIREMENTS),
        ("security.md", &done),
        ("notes.txt", "- [ ] no checklist"),
    ]);
    assert_eq!(
        refused(&bench, ""),
        "Ralph-speckit: nothing is armed, because feature `001-login` has open checklists:\n  \
         requirements.md: 16 of 16 open\n  \
         ux.md: 3 of 6 open\n\
         tick what you have reviewed, or add --ignore-checklists to continue with them open"
    );
    // In a terminal it is the same.
    let said = Said::of(bench.spool().args(["start", "001-login"])).refused();
    assert!(said.contains("ux.md: 3 of 6 open\ntick what"), "{said}");
}

#[test]
fn person_continues_with_open_checklists() {
    let bench = with_checklists(&[("requirements.md", REQUIREMENTS)]);
    let answer = bench.implement("s1", "--ignore-checklists");
    let context = answer.context();
    let wanted = "Open checklists: requirements.md: 16 of 16 open. A person has decided to continue with them: do not ask about them, and do not tick them.";
    assert!(context.contains(wanted), "{context}");
    let shown = answer.message();
    assert!(shown.contains("\nOpen checklists, as you wish: requirements.md: 16 of 16 open\n"));
    bench.stop("s1").run().reason();
    let other = with_checklists(&[("requirements.md", REQUIREMENTS)]);
    let said = Said::of(other.spool().args(["start", "--ignore-checklists"])).ok();
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn no_agent_decides_on_checklists() {
    let bench = with_checklists(&[("requirements.md", REQUIREMENTS)]);
    let before = bench.everything();
    let mut start = bench.spool();
    start.args(["start", "--ignore-checklists"]).env("CLAUDECODE", "1");
    let said = Said::of(&mut start).refused();
    assert!(said.contains("only a person can continue with them open"), "{said}");
    assert_eq!(bench.everything(), before);
}

#[test]
fn done_checklists_ask_nothing() {
    let done = REQUIREMENTS.replace("- [ ]", "- [x]");
    for bench in [
        with_checklists(&[]),
        with_checklists(&[
            ("requirements.md", &done),
            ("empty.md", ""),
            ("prose.md", "[ ] a -[ ]"),
        ]),
        Bench::ready().tasks(THREE_TASKS),
    ] {
        let answer = bench.implement("s1", "");
        assert!(!answer.context().contains("hecklist"), "{answer}");
    }
}

#[test]
fn unreadable_checklist_counts_as_open() {
    let large = "- [x] done\n".repeat(50_000);
    let bench = with_checklists(&[("large.md", &large)]);
    fs::create_dir(bench.feature_path("checklists/folder.md")).unwrap();
    let secret = bench.outside().join("secret.md");
    fs::write(&secret, "- [ ] secret\n").unwrap();
    symlink(&secret, bench.feature_path("checklists/link.md")).unwrap();
    let said = refused(&bench, "");
    said.has_all(&[
        "folder.md: cannot be read: it is a folder, not a file",
        "large.md: cannot be read: it has 550000 bytes, and at most 262144 are read",
        "link.md: cannot be read: a symbolic link leads out of its folder",
    ]);
    bench.implement("s1", "--ignore-checklists").context();
    // A folder that is a link out of the project, and one of too many files.
    let bench = Bench::ready();
    symlink(bench.outside(), bench.feature_path("checklists")).unwrap();
    assert!(refused(&bench, "").contains("checklists: cannot be read: a symbolic link"));
    let bench = with_checklists(&[]);
    for number in 0..201 {
        fs::write(bench.feature_path(&format!("checklists/{number}.md")), "").unwrap();
    }
    assert!(refused(&bench, "").contains("checklists: cannot be read: it holds too many files"));
}

#[test]
fn long_table_is_cut_safely() {
    let names: Vec<String> = (0..15).map(|number| format!("{number:02}\u{1b}[31m.md")).collect();
    let files: Vec<_> =
        names.iter().map(|name| (name.as_str(), "- [x] one\r\n\t- [ ] two")).collect();
    let said = refused(&with_checklists(&files), "");
    assert!(said.contains("00�[31m.md: 1 of 2 open") && said.contains("  and 3 more\n"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains("12"), "{said}");
}

#[test]
fn fenced_example_is_no_item() {
    let fenced = include_str!("../../fixtures/spec-kit/checklist-example-in-a-fence.md");
    let commented = "- [x] CHK001 Seen\n\n<!--\n- [ ] CHK002 Not yet\n-->\n";
    let bench = with_checklists(&[("fenced.md", fenced), ("commented.md", commented)]);
    assert!(bench.implement("s1", "").context().contains("the loop is armed"));
}
