//! Refusals, and grades of the other ticks.

use super::*;
use crate::judge::names::names_in;

fn task(id: &str, text: &str) -> TaskFacts {
    TaskFacts { id: id.to_owned(), names: names_in(text), ..TaskFacts::default() }
}

fn file(path: &str, change: FileChange) -> ChangedFile {
    ChangedFile { path: path.to_owned(), change, ignored: false, step: [0, 1], back: Vec::new() }
}

/// Files that have changed since the tick before, and so since arming; `known` existed then.
fn files(changed: &[(&str, FileChange)], known: &[&str]) -> FileFacts {
    let since: Vec<ChangedFile> =
        changed.iter().map(|(path, change)| file(path, *change)).collect();
    FileFacts {
        since_tick: Some(since.clone()),
        since_arming: since,
        known: known.iter().map(|path| (*path).to_owned()).collect(),
        beside: "specs/001".to_owned(),
        ..FileFacts::default()
    }
}

fn judge(tasks: &[TaskFacts], files: &FileFacts) -> Vec<JudgedTask> {
    super::judge(tasks, files, &|free| free)
}

fn one(task: TaskFacts, files: &FileFacts) -> JudgedTask {
    judge(&[task], files).remove(0)
}

fn grade(text: &str, files: &FileFacts) -> Result<Proof, Unproved> {
    one(task("T1", text), files).proof
}

fn nothing_changed() -> Unproved {
    Unproved::of(UnprovedReason::NothingChanged, &[])
}

fn of_source(reason: UnprovedReason) -> Unproved {
    Unproved::of(reason, &[SOURCE.to_owned()])
}

fn doubt(text: &str, files: &FileFacts) -> String {
    let judged = one(task("T1", text), files);
    assert_eq!(judged.proof, Ok(Proof::Tick), "{text}: {judged:?}");
    judged.doubt
}

const CONTENT: FileChange = FileChange::Content;
const SOURCE: &str = "src/sum.rs";

#[test]
fn only_what_is_certain_is_refused() {
    let nothing = files(&[], &[SOURCE]);
    assert_eq!(grade("Sum up in src/sum.rs", &nothing), Err(nothing_changed()));
    assert_eq!(grade("Be fast", &nothing), Err(nothing_changed()));
    let other = files(&[("src/main.rs", CONTENT)], &[SOURCE]);
    let unchanged = Err(of_source(UnprovedReason::NamedFilesUnchanged));
    assert_eq!(grade("Sum up in src/sum.rs", &other), unchanged);
    assert_eq!(grade("Sum up in `src/sum.rs`, as src/main.rs does", &other), Ok(Proof::Files));
    let mut missing = other.clone();
    missing.missing = vec!["src/new.rs".to_owned()];
    let nowhere = Err(Unproved::of(UnprovedReason::NamedFilesMissing, &missing.missing));
    assert_eq!(grade("Write src/new.rs, then src/later.rs", &missing), nowhere);
    assert_eq!(grade("Write src/new.rs beside src/main.rs", &missing), Ok(Proof::Files));
    let mut back = files(&[], &[SOURCE]);
    back.since_tick = Some(vec![file(SOURCE, CONTENT)]);
    assert_eq!(grade("Be fast", &back), Err(of_source(UnprovedReason::OnlyPutBack)));
    let text = files(&[("specs/001/plan.md", CONTENT)], &[SOURCE]);
    let unchanged = Err(of_source(UnprovedReason::NamedFilesUnchanged));
    assert_eq!(grade("Sum up in src/sum.rs", &text), unchanged);
    let held = FileFacts { protected: vec!["a.lock".to_owned()], ..other };
    assert!(grade("Be fast", &held).unwrap_err().holds_up_all());
}

#[test]
fn p4_no_word_passes_alone() {
    let other = files(&[("src/main.rs", CONTENT)], &[SOURCE]);
    for text in [
        "Handle an empty list in src/sum.rs",
        "Format the total in src/sum.rs",
        "Delete sums in src/sum.rs",
    ] {
        assert!(grade(text, &other).is_err(), "{text}");
    }
    let blanks = files(&[(SOURCE, FileChange::Blanks)], &[SOURCE]);
    assert_eq!(doubt("Format src/sum.rs", &blanks), "only blanks differ in src/sum.rs");
}

#[test]
fn p5_any_name_is_seen() {
    for (text, path) in [
        ("Add a stage to Dockerfile", "Dockerfile"),
        ("Say it in LICENSE", "LICENSE"),
        ("Set the width in .editorconfig", ".editorconfig"),
        ("Run it in .husky/pre-commit", ".husky/pre-commit"),
        ("Show it in app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("Write `docs/my notes.md`", "docs/my notes.md"),
        ("Update calc.py", "lib/calc.py"),
    ] {
        let changed = files(&[(path, CONTENT), ("x.rs", CONTENT)], &[]);
        let judged = one(task("T1", text), &changed);
        assert_eq!(
            (judged.proof, judged.files),
            (Ok(Proof::Files), vec![path.to_owned()]),
            "{text}"
        );
    }
}

#[test]
fn p11_p12_doubts_lower_the_proof() {
    for (change, words) in DOUBTS {
        let changed = files(&[(SOURCE, change)], &[SOURCE]);
        assert_eq!(doubt("Sum up in src/sum.rs", &changed), format!("{words} src/sum.rs"));
        assert_eq!(doubt("Be fast", &changed), format!("{words} src/sum.rs"));
    }
    let other = files(&[("src/main.rs", CONTENT)], &[]);
    assert_eq!(
        doubt("Create `src/new.rs`", &other),
        "src/new.rs could be a file, and has not changed"
    );
    assert_eq!(
        doubt("Take `console.log` out", &other),
        "console.log could be a file, and has not changed"
    );
    let mut bare = files(&[("src/main.rs", CONTENT)], &[]);
    bare.maybe = vec!["Makefile".to_owned(), "calc.py".to_owned()];
    assert_eq!(doubt("Update calc.py", &bare), "calc.py could be a file, and has not changed");
    assert_eq!(
        doubt("Add a rule to the Makefile", &bare),
        "Makefile could be a file, and has not changed"
    );
    let attic = files(&[("attic/src/sum.rs", CONTENT)], &[SOURCE]);
    assert!(doubt("Sum up in src/sum.rs", &attic).starts_with("a file of the same name"));
    let text = files(&[("specs/001/research.md", CONTENT)], &[]);
    assert_eq!(doubt("Be fast", &text), "only texts about the feature have changed");
    assert_eq!(grade("Write specs/001/research.md", &text), Ok(Proof::Files));
    let folder = files(&[("src/models/", FileChange::Folder)], &[]);
    assert_eq!(
        doubt("Create the structure with src/models/", &folder),
        "only a new folder: src/models/"
    );
}

#[test]
fn p3_one_change_proves_once() {
    let changed = files(&[(SOURCE, CONTENT)], &[SOURCE]);
    let tasks = ["T1", "T2", "T3"].map(|id| task(id, "Sum up in src/sum.rs"));
    let judged = judge(&tasks, &changed);
    let grades: Vec<_> = judged.iter().map(|task| task.proof.clone().unwrap()).collect();
    assert_eq!(grades, [Proof::Files, Proof::Tick, Proof::Tick]);
    assert_eq!(judged[1].doubt, "src/sum.rs had changed once, for T1");
    let both = files(&[("src/main.rs", CONTENT), (SOURCE, CONTENT)], &[]);
    let tasks = [task("T1", "src/sum.rs and src/main.rs"), task("T2", "src/sum.rs")];
    assert!(judge(&tasks, &both).iter().all(|task| task.proof == Ok(Proof::Files)));
    let nameless = ["T1", "T2"].map(|id| task(id, "Be fast"));
    assert!(judge(&nameless, &both).iter().all(|task| task.proof == Ok(Proof::Tick)));
    let away = files(&[("old.rs", FileChange::Gone)], &["old.rs"]);
    assert_eq!(judge(&nameless, &away)[0].doubt, "gone: old.rs", "the receipt says what is gone");
}

#[test]
fn foreign_work_proves_nothing() {
    let claims = || vec![(SOURCE.to_owned(), "T1".to_owned())];
    let mut old = files(&[], &[SOURCE]);
    (old.since_arming, old.claimed) = (vec![file(SOURCE, CONTENT)], claims());
    let second = || task("T2", "Speed up src/sum.rs");
    assert_eq!(one(second(), &old).proof, Err(nothing_changed()));
    let with = TaskFacts { word: SaidWord::With("T1".to_owned()), ..second() };
    assert_eq!(one(with, &old).proof, Ok(Proof::Tick));
    let again = task("T1", "Sum up in src/sum.rs");
    assert_eq!(one(again, &old).proof, Ok(Proof::Files), "it was done before");
    let mut more = files(&[("src/main.rs", CONTENT)], &[SOURCE]);
    (more.since_arming, more.claimed) =
        (vec![file("src/main.rs", CONTENT), file(SOURCE, CONTENT)], claims());
    let judged = one(second(), &more);
    assert_eq!(
        (judged.proof, judged.doubt.as_str()),
        (Ok(Proof::Tick), "src/sum.rs has changed only for another task")
    );
    old.since_tick = Some(vec![file(SOURCE, FileChange::Blanks)]);
    for text in ["Speed up src/sum.rs", "Be fast"] {
        let judged = one(task("T2", text), &old);
        assert_eq!(
            (judged.proof, judged.doubt.as_str()),
            (Ok(Proof::Tick), "only blanks differ in src/sum.rs")
        );
    }
    // A file that no other task has taken waits for the task that names it, or for one that names nothing.
    (old.since_tick, old.claimed) = (Some(Vec::new()), vec![(SOURCE.to_owned(), String::new())]);
    assert_eq!(one(second(), &old).proof, Ok(Proof::Files));
    assert_eq!(doubt("Be fast", &old), "changed before the last tick already: src/sum.rs");
    // A file that a command wrote after a tick belongs to no task.
    old.claimed.clear();
    assert_eq!(grade("Be fast", &old), Err(nothing_changed()));
}

#[test]
fn agent_word_answers_refusal() {
    let other = files(&[("src/main.rs", CONTENT)], &[SOURCE]);
    let says = |word: SaidWord, files: &FileFacts| {
        one(TaskFacts { word, ..task("T1", "Sum up in src/sum.rs") }, files).proof
    };
    assert_eq!(says(SaidWord::Elsewhere("in main".to_owned()), &other), Ok(Proof::Tick));
    assert_eq!(says(SaidWord::NoChange("is there".to_owned()), &other), Ok(Proof::Word));
    let nothing = files(&[], &[SOURCE]);
    assert_eq!(says(SaidWord::NoChange("is there".to_owned()), &nothing), Ok(Proof::Word));
    assert_eq!(says(SaidWord::Elsewhere("in main".to_owned()), &nothing), Ok(Proof::Word));
}

#[test]
fn p7_p9_changed_tests_lower_proof() {
    let mut changed = files(&[(SOURCE, CONTENT), ("tests/a.rs", CONTENT)], &[SOURCE]);
    let passed = |tests: &[&str]| TaskFacts {
        verify: VerifyShown::Passed,
        tests: tests.iter().map(|path| (*path).to_owned()).collect(),
        ..task("T1", "Sum up in src/sum.rs")
    };
    assert_eq!(one(passed(&[]), &changed).proof, Ok(Proof::Command));
    let judged = one(passed(&["tests/a.rs"]), &changed);
    assert_eq!(
        (judged.proof, judged.doubt.as_str()),
        (Ok(Proof::Tick), "its tests were changed: tests/a.rs")
    );
    changed.judges = vec!["tests/a.rs".to_owned()];
    changed.since_arming.retain(|file| file.path != SOURCE);
    assert_eq!(doubt("Make the tests pass", &changed), "its tests were changed: tests/a.rs");
    let new = TaskFacts { has_new_command: true, ..task("T1", "Sum up in src/sum.rs") };
    assert_eq!(one(new, &files(&[(SOURCE, CONTENT)], &[])).proof, Ok(Proof::Tick));
    let nothing = files(&[], &[SOURCE]);
    assert_eq!(one(passed(&[]), &nothing).proof, Ok(Proof::Tick), "it may have passed before");
    let uncounted = TaskFacts { verify: VerifyShown::Uncounted, ..task("T1", "Be fast") };
    assert_eq!(one(uncounted, &files(&[(SOURCE, CONTENT)], &[])).proof, Ok(Proof::Files));
}

#[test]
fn checks_and_parents_need_no_change() {
    let nothing = files(&[], &[]);
    let check = TaskFacts { is_check: true, ..task("T1", "[VERIFY] Read it") };
    assert_eq!(one(check.clone(), &nothing).proof, Ok(Proof::Word));
    let passed = TaskFacts { verify: VerifyShown::Passed, ..check };
    assert_eq!(one(passed, &nothing).proof, Ok(Proof::Command));
    let parent = TaskFacts { has_done_parts: true, ..task("T1", "All of it") };
    assert_eq!(one(parent, &nothing).proof, Ok(Proof::Tick));
}

#[test]
fn ignored_work_follows_its_name() {
    let mut changed = files(&[], &[]);
    let ignored = vec![ChangedFile { ignored: true, ..file("config/local.env", CONTENT) }];
    (changed.since_tick, changed.since_arming) = (Some(ignored.clone()), ignored);
    assert_eq!(grade("Put it into config/local.env", &changed), Ok(Proof::Files));
    assert_eq!(grade("Be fast", &changed), Err(nothing_changed()));
}

#[test]
fn many_ticks_judge_at_once() {
    let tasks: Vec<TaskFacts> = (0..20_000)
        .map(|number| {
            task(&format!("T{number}"), &format!("Write src/{number}.rs and lib/x{number}.rs"))
        })
        .collect();
    let changed: Vec<String> = (0..2_000).map(|number| format!("src/{number}.rs")).collect();
    let mut changed: Vec<(&str, FileChange)> =
        changed.iter().map(|path| (path.as_str(), CONTENT)).collect();
    changed.sort_unstable_by_key(|(path, _)| *path);
    let judged = judge(&tasks, &files(&changed, &[]));
    assert_eq!(judged.iter().filter(|task| task.proof == Ok(Proof::Files)).count(), 2_000);
}

#[test]
fn ticked_work_proves_no_second_task() {
    let tasks = [task("T2", "Total in src/sum.rs"), task("T1", "Sum in src/sum.rs")];
    let mut seen = files(&[(SOURCE, CONTENT)], &[SOURCE]);
    seen.claimed = vec![(SOURCE.to_owned(), "T1".to_owned())];
    let proofs = |seen: &FileFacts| judge(&tasks, seen).into_iter().map(|one| one.proof.unwrap());
    seen.since_arming[0].step = [1, 1];
    assert!(proofs(&seen).eq([Proof::Tick, Proof::Files]), "{:?}", judge(&tasks, &seen));
    seen.since_arming[0].step = [1, 2];
    assert!(proofs(&seen).eq([Proof::Files, Proof::Tick]), "{:?}", judge(&tasks, &seen));
}
