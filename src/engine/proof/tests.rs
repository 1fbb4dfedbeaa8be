//! How well tasks are proved, in every combination of what can be seen.

use super::*;

fn task(id: &str, text: &str) -> TaskFacts {
    TaskFacts { id: id.to_owned(), text: format!("- [x] {id} {text}"), ..TaskFacts::default() }
}

fn changed(files: &[(&str, ContentChange)]) -> FileFacts {
    let file = |(path, change): &(&str, ContentChange)| ChangedFile {
        path: (*path).to_owned(),
        change: *change,
    };
    FileFacts { since_tick: Some(files.iter().map(file).collect()), ..FileFacts::default() }
}

fn proof(task: TaskFacts, files: &FileFacts) -> Result<Proof, Unproved> {
    judge(&[task], files).remove(0).proof
}

#[test]
fn files_that_a_text_names() {
    let paths = |text: &str| paths_in(text).into_iter().map(|it| it.path).collect::<Vec<_>>();
    assert_eq!(
        paths("Create User in src/models/user.py, and `README.md`."),
        ["src/models/user.py", "README.md"]
    );
    assert_eq!(
        paths("under `src/api/` and ./a/b.rs (see docs/x.md)"),
        ["src/api/", "a/b.rs", "docs/x.md"]
    );
    assert_eq!(
        paths("Set up Node.js 3.12 and/or CI/CD, e.g. https://a.b/c.html"),
        Vec::<String>::new()
    );
    assert_eq!(paths("Do it\n  - **Verify**: `pytest tests/test_a.py`"), Vec::<String>::new());
    assert_eq!(paths("`cargo test` /etc/passwd ../x.rs src/[name].py"), Vec::<String>::new());
    assert_eq!(paths("`.gitignore` and config/.env"), [".gitignore", "config/.env"]);
}

#[test]
fn a_word_that_no_file_has_is_none_and_other_capital_letters_are_the_same_file() {
    let files = changed(&[("src/sum.py", ContentChange::Content)]);
    let of = |text: &str, there: bool| {
        let since = files.since_tick.as_deref().unwrap();
        proof(task("T1", text).with_words(since, &|_| there, &|_| false), &files)
    };
    for text in [
        "Take `console.log` out",
        "Keep to `server.port`",
        "The route `users/`",
        "With `Node.js`",
        "Use Express.js/Vue.js",
        "As in example.com/spec.html",
    ] {
        assert_eq!(of(text, false), Ok(Proof::Tick), "{text}");
        assert!(of(text, true).is_err(), "{text} is a file");
        let idle = task("T1", text).with_words(&[], &|_| false, &|_| false);
        assert_eq!(proof(idle, &changed(&[])), Err(Unproved::NothingChanged), "{text}");
    }
    assert_eq!(of("Sum up in Src/Sum.py", false), Ok(Proof::Files));
    assert!(of("Sum up in Src/Sum.py", true).is_err(), "two files");
    for text in [
        "Create `src/new.py`",
        "Create `server.port`",
        "Show it in `Fresh.js`",
        "Put it into `notes/`",
        "Put the tests of the route into `tests/`",
        "Return `api/users/` of the route",
        "The limits of `.sumsrc.limits`",
        "Take `console.log` out of src/a.js",
    ] {
        assert!(of(text, false).is_err(), "{text}");
    }
}

#[test]
fn a_place_in_a_file_names_the_file() {
    let paths = |text: &str| paths_in(text).into_iter().map(|it| it.path).collect::<Vec<_>>();
    for text in [
        "Fix src/a.rs:12, then stop",
        "Fix `src/a.rs:3-9`",
        "Fix \"src/a.rs:12:4\".",
        "Fix [it](../../src/a.rs#L3) or [`src/a.rs`]",
        "Let src/a.rs::adds pass",
        "Fix src\\a.rs and `.\\src\\a.rs`",
        "Fix “src/a.rs” — src/a.rs’s total",
        "修改src/a.rs，再（src/a.rs）里",
        "src/a.rsに合計を, src/a.rs에",
        "Fix @/src/a.rs",
    ] {
        assert_eq!(paths(text), ["src/a.rs"], "{text}");
    }
    assert_eq!(
        paths("docs/größe.md 文档/说明.md `修改a.md`"),
        ["docs/größe.md", "文档/说明.md", "修改a.md"]
    );
    assert_eq!(paths("src/my\\_file.rs"), ["src/my_file.rs"]);
    for text in ["`\\d+\\.js`", "`jest\\.config\\.js`", "http://a.b:80/c.html", "Std::fs/io"] {
        assert_eq!(paths(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_file_that_is_gone_is_the_work_of_a_task_that_says_so_and_a_doubt_for_another() {
    let files = changed(&[("src/a.rs", ContentChange::Gone)]);
    assert_eq!(proof(task("T1", "Remove src/a.rs"), &files), Ok(Proof::Files));
    assert_eq!(proof(task("T1", "Drop the dead code"), &files), Ok(Proof::Files));
    assert_eq!(proof(task("T1", "Implement it in src/a.rs"), &files), Ok(Proof::Tick));
    assert_eq!(proof(task("T1", "Do it"), &files), Ok(Proof::Tick));
    let passed = TaskFacts { verify: VerifyShown::Passed, ..task("T1", "Write src/a.rs") };
    assert_eq!(proof(passed, &files), Ok(Proof::Tick));
}

#[test]
fn of_a_path_that_is_there_itself_a_file_of_another_folder_is_a_doubt() {
    let files = changed(&[("attic/src/a.rs", ContentChange::Content)]);
    let of = |is_there: bool| {
        let since = files.since_tick.as_deref().unwrap();
        let facts = task("T1", "Write src/a.rs").with_words(since, &|_| true, &|_| is_there);
        proof(facts, &files)
    };
    assert_eq!(of(false), Ok(Proof::Files), "the project of the task is below the top");
    assert_eq!(of(true), Ok(Proof::Tick));
}

#[test]
fn a_text_about_the_feature_is_the_work_of_a_task_that_asks_for_it() {
    let file = |path: &str| {
        let change = ContentChange::Content;
        ChangedFile { path: path.to_owned(), change }.of_feature("specs/001-a")
    };
    let of = |text: &str, path: &str| {
        let files = FileFacts { since_tick: Some(vec![file(path)]), ..FileFacts::default() };
        proof(task("T1", text), &files)
    };
    let path = "specs/001-a/plan.md";
    assert_eq!(of("Do it", path), Ok(Proof::Tick));
    assert_eq!(of("Plan it", path), Ok(Proof::Files));
    assert_eq!(of("Write specs/001-a/plan.md", path), Ok(Proof::Files));
    assert_eq!(of("Do it", "specs/001-ab/plan.md"), Ok(Proof::Files));
    assert_eq!(of("Do it", "specs/001-a/contracts/api.yaml"), Ok(Proof::Files));
}

#[test]
fn a_task_that_names_both_names_of_a_file_wanted_it_renamed_in_any_language() {
    let moved = |paths: &[&str]| {
        changed(&paths.iter().map(|path| (*path, ContentChange::Moved)).collect::<Vec<_>>())
    };
    let both = task("T1", "Benenne src/a.rs in src/b.rs um");
    assert_eq!(proof(both.clone(), &moved(&["src/a.rs", "src/b.rs"])), Ok(Proof::Tick));
    assert!(proof(both, &moved(&["src/a.rs", "src/c.rs"])).is_err());
}

#[test]
fn files_that_a_list_names() {
    let list = "- [ ] T1 Write src/b.rs and docs/\n- [ ] T2 src/a.rs, src/b.rs\n  - Verify: `test src/c.rs`\n";
    assert_eq!(files_named_in(list.as_bytes(), 9), ["src/a.rs", "src/b.rs"]);
    assert_eq!(files_named_in(list.as_bytes(), 1), ["src/b.rs"]);
}

#[test]
fn a_file_that_git_ignores_is_the_work_of_a_task_that_names_it_and_of_no_other() {
    let files = changed(&[("config/local.env", ContentChange::Ignored)]);
    let named = task("T1", "Put the address into config/local.env");
    assert_eq!(proof(named, &files), Ok(Proof::Files));
    assert_eq!(proof(task("T1", "Do it"), &files), Err(Unproved::NothingChanged));
}

#[test]
fn a_tick_with_nothing_behind_it_counts_as_open() {
    for files in [vec![], vec![("a", ContentChange::Blanks)], vec![("a", ContentChange::Comments)]]
    {
        assert_eq!(proof(task("T1", "Do it"), &changed(&files)), Err(Unproved::NothingChanged));
    }
    assert_eq!(
        proof(task("T1", "Do it"), &changed(&[("a", ContentChange::Moved)])),
        Ok(Proof::Tick)
    );
    let named = task("T1", "Write src/a.rs");
    let wanted = Err(Unproved::NamedFilesUnchanged(vec!["src/a.rs".to_owned()]));
    for change in [ContentChange::Blanks, ContentChange::Comments, ContentChange::Moved] {
        assert_eq!(proof(named.clone(), &changed(&[("src/a.rs", change)])), wanted);
    }
    assert_eq!(proof(named.clone(), &changed(&[("src/b.rs", ContentChange::Content)])), wanted);
    assert_eq!(proof(named, &changed(&[("src/a.rs", ContentChange::Content)])), Ok(Proof::Files));
}

#[test]
fn what_a_task_asks_for_decides_which_changes_count() {
    for (text, change) in [
        ("Format src/a.rs", ContentChange::Blanks),
        ("Document src/a.rs", ContentChange::Comments),
        ("Rename b.rs to src/a.rs", ContentChange::Moved),
        ("Create an empty src/a.rs", ContentChange::Blanks),
        ("Make src/a.rs executable", ContentChange::Mode),
    ] {
        assert_eq!(proof(task("T1", text), &changed(&[("src/a.rs", change)])), Ok(Proof::Files));
    }
}

#[test]
fn a_path_says_nothing_of_what_is_to_be_done() {
    for (path, change) in [
        ("app/models/user.py", ContentChange::Mode),
        ("docs/information.js", ContentChange::Comments),
        ("lib/format/rename.py", ContentChange::Moved),
        ("lib/format/rename.py", ContentChange::Blanks),
    ] {
        let files = changed(&[(path, change)]);
        let named = task("T1", &format!("Improve the information in `{path}`"));
        assert!(proof(named, &files).is_err(), "{path} {change:?}");
    }
}

#[test]
fn a_reason_is_a_word_and_a_command_is_more_where_something_changed() {
    let no_change = Some("it is there".to_owned());
    let said = TaskFacts { no_change, ..task("T1", "Write src/a.rs") };
    assert_eq!(proof(said, &changed(&[])), Ok(Proof::Word));
    let passed = TaskFacts { verify: VerifyShown::Passed, ..task("T1", "Do it") };
    assert_eq!(proof(passed.clone(), &changed(&[])), Ok(Proof::Tick));
    assert_eq!(
        proof(passed.clone(), &changed(&[("a", ContentChange::Content)])),
        Ok(Proof::Command)
    );
    let check = TaskFacts { is_check: true, ..passed.clone() };
    assert_eq!(proof(check, &changed(&[])), Ok(Proof::Command));
    let empty = TaskFacts { verify: VerifyShown::NoTest, ..passed };
    assert_eq!(proof(empty, &changed(&[])), Err(Unproved::NothingChanged));
}

#[test]
fn tasks_that_were_ticked_together_share_only_what_nobody_names() {
    let group = [task("T1", "Write src/a.rs"), task("T2", "Do it"), task("T3", "Write src/c.rs")];
    let judged =
        |files: &FileFacts| judge(&group, files).into_iter().map(|it| it.proof).collect::<Vec<_>>();
    let a = ("src/a.rs", ContentChange::Content);
    let open = Err(Unproved::NamedFilesUnchanged(vec!["src/c.rs".to_owned()]));
    assert_eq!(judged(&changed(&[a])), [Ok(Proof::Files), Ok(Proof::Tick), open.clone()]);
    let other = ("b.rs", ContentChange::Content);
    assert_eq!(judged(&changed(&[a, other])), [Ok(Proof::Files), Ok(Proof::Files), open]);
    let two = [task("T1", "Do it"), task("T2", "Do that")];
    let all: Vec<_> = judge(&two, &changed(&[other])).into_iter().map(|it| it.proof).collect();
    assert_eq!(all, [Ok(Proof::Tick), Ok(Proof::Tick)]);
}

#[test]
fn protected_files_and_a_look_that_nobody_could_take() {
    let protected = FileFacts {
        protected: vec!["tests/a.rs".to_owned()],
        ..changed(&[("a", ContentChange::Content)])
    };
    let wanted = Err(Unproved::ProtectedChanged(vec!["tests/a.rs".to_owned()]));
    assert_eq!(proof(task("T1", "Do it"), &protected), wanted);
    assert_eq!(proof(task("T1", "Do it"), &FileFacts::default()), Ok(Proof::Word));
}

#[test]
fn a_task_whose_parts_are_all_ticked_is_done_with_them() {
    let of = |text: &str| {
        let list = TaskList::parse(text.as_bytes());
        let facts = TaskFacts::of(&list.tasks[0], text.as_bytes());
        let facts = facts.with_parts(&list.tasks[0], &list, None, &mut |_| None);
        proof(facts, &changed(&[]))
    };
    assert_eq!(of("- [x] 1 Page\n  - [x] 1.1 Form\n  - [x] 1.2 List\n"), Ok(Proof::Tick));
    let open = "- [x] 1 Page\n  - [x] 1.1 Form\n  - [ ] 1.2 List\n";
    assert_eq!(of(open), Err(Unproved::NothingChanged));
    assert_eq!(of("- [x] 1 Page\n- [x] 2 Form\n"), Err(Unproved::NothingChanged));
}

#[test]
fn only_parts_that_were_armed_or_are_proved_say_that_a_task_is_done() {
    let of = |armed: &str, text: &str, proved: &str| {
        let [armed, list] = [armed, text].map(|text| TaskList::parse(text.as_bytes()));
        let task = &list.tasks[0];
        let facts = TaskFacts::of(task, text.as_bytes());
        let work = || vec!["src/form.rs".to_owned()];
        let work_of = &mut |part: &Task| (part.id == proved).then(work);
        facts.with_parts(task, &list, Some(&armed), work_of).has_done_parts
    };
    let (alone, two) = ("- [ ] 1 Page\n", "- [ ] 1 Page\n  - [ ] 1.1 Form\n  - [ ] 1.2 List\n");
    let added = "- [x] 1 Page\n  - [x] 1.3 More\n";
    assert!(!of(alone, added, ""), "anybody can add one");
    assert!(of(alone, added, "1.3"));
    let [named, other] = ["src/form.rs", "src/other.rs"].map(|it| added.replace("Page", it));
    assert!(of("- [ ] 1 src/form.rs\n", &named, "1.3"));
    assert!(!of("- [ ] 1 src/other.rs\n", &other, "1.3"), "it is other work");
    assert!(of(two, "- [x] 1 Page\n  - [x] 1.1 Form\n  - [x] 1.2 List\n", ""));
    assert!(of(two, "- [x] 1 Page\n  - [x] 1.1 Form\n  - [x] 1.2 List\n  - [x] 1.3 More\n", ""));
    assert!(!of(two, "- [x] 1 Page\n  - [x] 1.1 Form\n", ""), "one is gone");
    assert!(!of(two, added, "1.3"), "both are gone");
    let moved = "- [x] 1 Page\n  - [x] 2 Form\n";
    assert!(!of("- [ ] 1 Page\n- [x] 2 Form\n", moved, ""), "it was no part of it");
}

#[test]
fn a_repeat_is_done_with_the_first() {
    let of = |armed: &str, text: &str| {
        let [armed, list] = [armed, text].map(|text| TaskList::parse(text.as_bytes()));
        let task = list.tasks.last().unwrap();
        let facts = TaskFacts::of(task, text.as_bytes());
        facts.with_parts(task, &list, Some(&armed), &mut |_| None).has_done_parts
    };
    let armed = "- [ ] T1 Page\n- [ ] T1 Page\n";
    assert!(of(armed, "- [x] T1 Page\n- [x] T1 Page\n"));
    assert!(!of(armed, "- [ ] T1 Page\n- [x] T1 Page\n"), "the first is open");
    assert!(!of("- [ ] T1 Page\n", "- [x] T1 Page\n- [x] T1 Page\n"), "anybody can add one");
    let other = "- [x] T1 Page\n- [x] T1 Form\n";
    assert!(!of(&other.replace('x', " "), other), "it is other work");
}

#[test]
fn work_that_was_done_before_another_task_was_ticked_counts() {
    let early = ChangedFile { path: "src/b.rs".to_owned(), change: ContentChange::Content };
    let files = FileFacts { unclaimed: vec![early], ..changed(&[]) };
    assert_eq!(proof(task("T2", "Write src/b.rs"), &files), Ok(Proof::Files));
    assert_eq!(proof(task("T2", "Do it"), &files), Err(Unproved::NothingChanged));
}

#[test]
fn the_bare_name_of_a_file_is_one_where_its_words_speak_of_a_change() {
    let files = changed(&[("app/calc.py", ContentChange::Content)]);
    let other = changed(&[("app/main.py", ContentChange::Content)]);
    let of = |text: &str, files: &FileFacts| {
        let facts = task("T1", text).with_bare_names(&|it| it.covers("app/calc.py"));
        let judged = judge(&[facts], files).remove(0);
        (judged.proof, judged.files.join(" "))
    };
    let lacks = Err(Unproved::NamedFilesUnchanged(vec!["calc.py".to_owned()]));
    for text in ["Update calc.py", "Remove the file calc.py", "Create a new calc.py, and test it"] {
        assert_eq!(of(text, &files), (Ok(Proof::Files), "app/calc.py".to_owned()), "{text}");
        assert_eq!(of(text, &other), (lacks.clone(), String::new()), "{text}");
    }
    for text in ["Handle an empty list in calc.py", "Fix calc.py", "Add a flag to calc.py"] {
        assert_eq!(of(text, &files), (Ok(Proof::Files), "app/calc.py".to_owned()), "{text}");
        assert_eq!(of(text, &other), (Ok(Proof::Tick), String::new()), "{text}");
        assert_eq!(of(text, &changed(&[])).0, Err(Unproved::NothingChanged), "{text}");
    }
    // What it does not speak of as its work, and what no file has.
    for text in
        ["Do it as calc.py does", "Run calc.py once more", "Update other.py", "Do it (calc)"]
    {
        assert_eq!(of(text, &other), (Ok(Proof::Files), "app/main.py".to_owned()), "{text}");
    }
    // A task that names a file asks for that one.
    let lacks = Err(Unproved::NamedFilesUnchanged(vec!["src/a.py".to_owned()]));
    assert_eq!(of("Write src/a.py, then update calc.py", &files), (lacks, String::new()));
}

#[test]
fn a_place_that_another_task_has_for_its_proof_asks_for_no_work_there() {
    let facts = |text: &str| task("T1", text).with_bare_names(&|it| it.covers("calc.py"));
    let mut files = changed(&[("main.py", ContentChange::Content)]);
    assert_eq!(proof(facts("Speed it up in calc.py"), &files), Ok(Proof::Tick));
    let claimed = ChangedFile { path: "calc.py".to_owned(), change: ContentChange::Content };
    files.unclaimed.push(claimed);
    assert_eq!(proof(facts("Speed it up in calc.py"), &files), Ok(Proof::Files));
}
