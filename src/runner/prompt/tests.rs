//! Whole prompts, and what stands in them under which circumstances.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::engine::{Check, CheckResult, Guardrails, Tampered};
use crate::engine::{Contract, Shortfall};
use crate::runner::target::ChangeKind;

/// A change on the disk, and what a prompt about it is made of.
struct PromptBench {
    _scratch: TempDir,
    change: Change,
    contract: Contract,
    missing: Vec<Shortfall>,
    remarks: Vec<String>,
    context: String,
    spec_kit: SpecKitRules,
}

impl PromptBench {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let folder = root.join(".spool/changes/002-01_greet");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("proposal.md"), "# Greeting\n\nSay hello.\n").unwrap();
        let change = Change {
            id: "002-01_greet".to_owned(),
            kind: ChangeKind::Spool,
            folder,
            worktree: root.clone(),
            root,
            module: Some("002".to_owned()),
        };
        let contract = Contract {
            token: Some("COMPLETE".to_owned()),
            guardrails: Guardrails { max_iterations: Some(50), ..Guardrails::default() },
            ..Contract::default()
        };
        Self {
            _scratch: scratch,
            change,
            contract,
            missing: Vec::new(),
            remarks: Vec::new(),
            context: String::new(),
            spec_kit: SpecKitRules::default(),
        }
    }

    fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.change.folder.join(name)
    }

    fn material<'a>(&'a self, task: &'a str, tasks: Option<&'a Path>) -> Material<'a> {
        Material {
            change: &self.change,
            task,
            context: &self.context,
            contract: &self.contract,
            done: if tasks.is_some() { DoneWhen::Tasks } else { DoneWhen::Manual },
            iteration: 3,
            missing: &self.missing,
            remarks: &self.remarks,
            near_limit: None,
            tasks,
            list: None,
            proof: crate::engine::proof::LeastProof::Word,
            converge: None,
            resumed: false,
            spec_kit: &self.spec_kit,
        }
    }

    fn prompt(&self, task: &str) -> String {
        let tasks = self.change.tasks();
        self.told(&self.material(task, tasks.as_deref()))
    }

    /// The prompt with the scratch folder's name taken out.
    fn told(&self, material: &Material<'_>) -> String {
        let text = prompt(material).unwrap();
        text.replace(self.change.root.to_str().unwrap(), "/project")
    }
}

#[test]
fn whole_prompt_with_tasks() {
    let bench = PromptBench::new()
        .with("tasks.md", "- [x] T001 Write it\n- [ ] T002 Try it\n")
        .with("design.md", "In Rust.\n");
    let shelf = bench.change.root.join(".spool/modules/002_words");
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join("module.md"), "Words.\n").unwrap();
    insta::assert_snapshot!(bench.prompt("Build it."), @r"
    You work on the change `002-01_greet` (module 002), in iteration 3 of at most 50.
    Each iteration is a new session: it knows only what is in the files and in this text. Paths are relative to `/project`.

    # The proposal: `.spool/changes/002-01_greet/proposal.md`

    # Greeting

    Say hello.

    # The design: `.spool/changes/002-01_greet/design.md`

    In Rust.

    # The tasks: `.spool/changes/002-01_greet/tasks.md`

    - [x] T001 Write it
    - [ ] T002 Try it

    # The module: `.spool/modules/002_words/module.md`

    Words.

    # What is asked of you

    Build it.

    # Rules

    - Look first at what is there already: earlier iterations may have done a part.
    - Work on the next open task in `.spool/changes/002-01_greet/tasks.md`, and on those after it as far as you get.
    - Tick a box (`- [x]`) when its task is done and tested, not before. Take no open task out of the list, and do not reword one.
    - The work is done when every box is ticked. That is read from the file, whatever you say.
    - Only when all of the work is done, write <promise>COMPLETE</promise> in your final message: exactly so, the same letters in the same case.
    - Never write it for another reason: not to get out, not because you are stuck. It is checked against the files.
    - Completion is unproven until it is shown: name the evidence for each requirement.
    - Say whether each turn got further.
    - Blocked is only what a person alone can remove, after the rest was tried.
    - Leave everything in a state from which the next iteration can continue.
    - Make a commit only where the words above or the project's own instructions ask for one.
    - Leave `.spool/.state` and `.claude/loop-state.json` alone: they are the loop's own.
    - Nobody is there to answer. Do not ask: decide, and write down what you decided.
    - When only a person can continue, the loop is ended by this line in your final message, alone on its line:

    <blocked>what the person must do</blocked>
    ");
}

#[test]
fn whole_prompt_without_tasks() {
    let mut bench = PromptBench::new();
    bench.contract.checks =
        vec![Check { run: "cargo test".to_owned(), limit_seconds: 300, ..Check::default() }];
    bench.contract.min_iterations = 5;
    bench.contract.guardrails.max_commitless = Some(4);
    bench.context = "Leave the database alone.".to_owned();
    insta::assert_snapshot!(bench.prompt("Build it."), @r"
    You work on the change `002-01_greet` (module 002), in iteration 3 of at most 50.
    Each iteration is a new session: it knows only what is in the files and in this text. Paths are relative to `/project`.

    # The proposal: `.spool/changes/002-01_greet/proposal.md`

    # Greeting

    Say hello.

    # What is asked of you

    Build it.

    # Added by the person while the loop runs

    Leave the database alone.

    # Rules

    - Look first at what is there already: earlier iterations may have done a part.
    - Take the next step that brings the work forward, and test it.
    - Only when all of the work is done, write <promise>COMPLETE</promise> in your final message: exactly so, the same letters in the same case.
    - Never write it for another reason: not to get out, not because you are stuck. It is checked against the files.
    - These commands have to pass. They are run for you when the work seems to be done:
      - `cargo test` (within 300 s)
    - The loop continues at least until iteration 5. When all seems done, look for what is missing or wrong.
    - Completion is unproven until it is shown: name the evidence for each requirement.
    - Say whether each turn got further.
    - Blocked is only what a person alone can remove, after the rest was tried.
    - Leave everything in a state from which the next iteration can continue.
    - Commit what is finished, and only that: 4 iterations in a row without a commit end the loop.
    - Leave `.spool/.state` and `.claude/loop-state.json` alone: they are the loop's own.
    - Nobody is there to answer. Do not ask: decide, and write down what you decided.
    - When only a person can continue, the loop is ended by this line in your final message, alone on its line:

    <blocked>what the person must do</blocked>
    ");
}

#[test]
fn personal_words_arrive_whole() {
    let words = "it's $(touch pwned) `id` \"$&\" \\1 %s {} ---\n---\n\ttab\r\n  </promise> é 🦀 --max-iterations=3";
    let mut bench = PromptBench::new();
    bench.context = words.to_owned();
    let text = bench.prompt(words);
    assert_eq!(text.matches(words).count(), 2, "{text}");
    assert_eq!(text, bench.prompt(words), "the same material, another text");
}

#[test]
fn missing_parts_show_output() {
    let mut bench = PromptBench::new().with("tasks.md", "- [ ] T001 Write it\n");
    let failed = CheckResult {
        run: "cargo test".to_owned(),
        passed: false,
        outcome: "exit code 101".to_owned(),
        tail: "test greets ... FAILED\n$(touch pwned)\n".to_owned(),
        review: None,
    };
    bench.missing = vec![
        Shortfall::CheckFailed(failed),
        Shortfall::SameFailure { times: 3 },
        Shortfall::Tampered(Tampered {
            removed: vec!["T002".to_owned()],
            reworded: vec!["T003".to_owned()],
        }),
    ];
    bench.remarks = vec!["The last iteration was cut short after 60m.".to_owned()];
    let text = bench.prompt("Build it.");
    let told = text.split("# What the last iteration left open").nth(1).unwrap();
    insta::assert_snapshot!(told.split("# Rules").next().unwrap(), @r#"
    - The last iteration was cut short after 60m.
    - The same check has failed in the same way 3 times in a row: change the approach.
    - Open tasks have left tasks.md: T002. They are still open. Put them back, each with its own line and box, or drop one: `spool task drop ID "why"`. Open tasks were reworded in tasks.md: T003. Do what they asked for first.
    - Check failed: `cargo test` (exit code 101)
    The end of its output:
    | test greets ... FAILED
    | $(touch pwned)
    - Repair the work, never the check.
    "#);
}

#[test]
fn shortfalls_have_own_words() {
    let all = [
        Shortfall::ClaimedWithOpenTasks,
        Shortfall::OpenTasks,
        Shortfall::EmptyList,
        Shortfall::NoToken,
        Shortfall::PromiseNotMade,
        Shortfall::NoWork { calls: 0, needed: 1 },
        Shortfall::NoWork { calls: 2, needed: 3 },
        Shortfall::UnseenWork(
            "there is no record to read, and no changed file was seen".to_owned(),
        ),
        Shortfall::TooEarly { first: 4 },
        Shortfall::Unreadable,
    ];
    let mut bench = PromptBench::new();
    let mut said = Vec::new();
    for one in all {
        bench.missing = vec![one];
        let text = bench.prompt("Build it.");
        let told = text.split("left open\n\n").nth(1).unwrap().split("\n\n").next().unwrap();
        said.push(told.to_owned());
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    - It wrote <promise>COMPLETE</promise>, but tasks are still open. The list decides: finish them, or tick the box of what is really done.
    - Tasks are open.
    - tasks.md is gone or holds no task any more. Restore the list, one `- [ ]` line for each task: an empty one is not done.
    - It ended without <promise>COMPLETE</promise>.
    - It wrote <promise>COMPLETE</promise>, but in code, in quotation marks, in a sentence that denies it, or not where it has to be: that is not the completion promise. When the task is fully complete, write it alone on the last line.
    - Promise detected, but no tool calls/work were performed; you must actually complete the task before emitting the promise.
    - Promise detected, but only 2 tool calls of 3 were performed; you must actually complete the task before emitting the promise.
    - Promise detected, but nothing stands behind it: there is no record to read, and no changed file was seen. When the task is really complete, write <promise>COMPLETE</promise> again.
    - The loop does not end before iteration 4: use this one to look for what is missing or wrong.
    - tasks.md cannot be read. Repair the file.
    ");
}

#[test]
fn failing_output_loses_its_front() {
    let mut bench = PromptBench::new();
    let failed = |number: usize| {
        Shortfall::CheckFailed(CheckResult {
            run: format!("check {number}"),
            passed: false,
            outcome: "exit code 1".to_owned(),
            tail: format!("{}the end of {number}", "é".repeat(9_000)),
            review: None,
        })
    };
    bench.missing = (1..=6).map(failed).collect();
    let text = bench.prompt("Build it.");
    assert!(text.contains("the end of 4") && !text.contains("the end of 5"), "{text}");
    assert!(text.contains("- 2 more checks failed."), "{text}");
    assert!(text.chars().count() < 8_000, "{}", text.chars().count());
}

#[test]
fn long_documents_show_beginnings() {
    let proposal = format!("# Begin\n{}the end", "a line of it\n".repeat(4_000));
    let design = format!("# Design\n{}last word", "é\n".repeat(5_000));
    let list: String = (1..=400).fold(String::new(), |list, number| {
        list + &format!(
            "- [{}] T{number:03} Do it, then try it\n",
            if number < 100 { 'x' } else { ' ' }
        )
    });
    let bench = PromptBench::new()
        .with("proposal.md", &proposal)
        .with("design.md", &design)
        .with("tasks.md", &list);
    let text = bench.prompt("Build it.");
    for words in [
        "[This is the beginning. Read the rest of `.spool/changes/002-01_greet/proposal.md`",
        "[This is the beginning. Read the rest of `.spool/changes/002-01_greet/design.md`",
        "301 of 400 tasks are open. Read `.spool/changes/002-01_greet/tasks.md`",
        "- [ ] T100 Do it, then try it\n",
        "- [ ] T119 Do it, then try it\n",
    ] {
        assert!(text.contains(words), "{words}");
    }
    for words in ["the end", "last word", "T120", "T099"] {
        assert!(!text.contains(words), "{words}");
    }
    assert!(text.len() < 40_000, "{}", text.len());
}

#[test]
fn continued_agent_gets_names() {
    let bench = PromptBench::new().with("tasks.md", "- [ ] T001 Write it\n");
    let tasks = bench.change.tasks();
    let material = Material { resumed: true, ..bench.material("Build it.", tasks.as_deref()) };
    let text = bench.told(&material);
    assert!(text.contains("You continue your earlier session."), "{text}");
    assert!(text.contains("- The proposal: `.spool/changes/002-01_greet/proposal.md`"), "{text}");
    assert!(!text.contains("Say hello."), "{text}");
    assert!(text.contains("Build it."), "{text}");
}

#[test]
fn promise_is_asked_only_where_counted() {
    let mut bench = PromptBench::new();
    let text = bench.prompt("Build it.");
    assert!(text.contains("<promise>COMPLETE</promise> in your final message"), "{text}");
    bench.contract.token = None;
    let text = bench.prompt("Build it.");
    assert!(!text.contains("<promise>"), "{text}");
}

#[test]
fn uncounted_list_is_not_called_counted() {
    let bench = PromptBench::new().with("tasks.md", "- [ ] T001 Write it\n");
    let tasks = bench.change.tasks();
    let material =
        Material { done: DoneWhen::Manual, ..bench.material("Build it.", tasks.as_deref()) };
    let text = bench.told(&material);
    assert!(text.contains("- [ ] T001 Write it") && !text.contains("every box"), "{text}");
}

#[test]
fn missing_proposal_makes_no_prompt() {
    let bench = PromptBench::new();
    fs::remove_file(bench.path("proposal.md")).unwrap();
    let said = prompt(&bench.material("Build it.", None)).unwrap_err().to_string();
    assert!(said.contains("proposal.md` cannot be read: it does not exist"), "{said}");
    fs::write(bench.path("proposal.md"), "\n \n").unwrap();
    let said = prompt(&bench.material("Build it.", None)).unwrap_err().to_string();
    assert!(said.contains("proposal.md` is empty"), "{said}");
}

#[test]
fn feature_lives_from_list() {
    let mut bench = PromptBench::new().with("tasks.md", "- [ ] T001 Write it\n");
    bench.change.kind = ChangeKind::SpecKit;
    assert!(bench.prompt("Build it.").contains("- [ ] T001 Write it"));
}

#[test]
fn n2_empty_specification_counts_as_missing() {
    let mut bench =
        PromptBench::new().with("tasks.md", "- [ ] T001 Write it\n").with("spec.md", "\n");
    bench.change.kind = ChangeKind::SpecKit;
    assert!(bench.prompt("Build it.").contains("- [ ] T001 Write it"));
}

#[cfg(unix)]
#[test]
fn outside_document_is_never_quoted() {
    let bench = PromptBench::new();
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "the secret").unwrap();
    std::os::unix::fs::symlink(secret.path(), bench.path("design.md")).unwrap();
    std::os::unix::fs::symlink(secret.path(), bench.path("tasks.md")).unwrap();
    let text = bench.prompt("Build it.");
    assert!(!text.contains("the secret"), "{text}");
    assert!(text.contains("It cannot be quoted here: a symbolic link leads out"), "{text}");
    fs::remove_file(bench.path("proposal.md")).unwrap();
    std::os::unix::fs::symlink(secret.path(), bench.path("proposal.md")).unwrap();
    assert!(prompt(&bench.material("Build it.", None)).is_err());
}

#[test]
fn impossible_argument_bytes_stay_out() {
    let bench = PromptBench::new().with("design.md", "a\0b");
    fs::write(bench.path("proposal.md"), b"# Say \xff hello\n").unwrap();
    let text = bench.prompt("Build it.");
    assert!(!text.contains('\0') && text.contains("a\u{fffd}b"), "{text}");
}

#[test]
fn d13_other_documents_are_named() {
    let mut bench = PromptBench::new();
    for name in ["specs/greeting/spec.md", "specs/farewell/spec.md", "specs/.hidden.md"] {
        fs::create_dir_all(bench.path(name).parent().unwrap()).unwrap();
        fs::write(bench.path(name), "WHOLE").unwrap();
    }
    let text = bench.prompt("Build it");
    let folder = ".spool/changes/002-01_greet";
    let farewell = format!("- `{folder}/specs/farewell/spec.md`\n");
    let greeting = format!("- `{folder}/specs/greeting/spec.md`\n");
    assert!(text.contains(&format!("{farewell}{greeting}")), "{text}");
    assert!(!text.contains("hidden") && !text.contains("WHOLE"), "{text}");
    bench.change.kind = ChangeKind::SpecKit;
    let text = bench.with("spec.md", "# Spec\n").prompt("Build it");
    assert!(!text.contains("specs/greeting"), "spec-kit's own documents only: {text}");
}

#[test]
fn d13_plan_documents_are_named() {
    let mut bench = PromptBench::new().with("spec.md", "# Spec\n");
    bench.change.kind = ChangeKind::SpecKit;
    for name in ["research.md", "data-model.md", "quickstart.md", "contracts/api.yaml"] {
        fs::create_dir_all(bench.path(name).parent().unwrap()).unwrap();
        fs::write(bench.path(name), "WHOLE").unwrap();
    }
    for number in 0..60 {
        fs::write(bench.path(&format!("contracts/z{number:02}.yaml")), "").unwrap();
    }
    let text = bench.prompt("Build it");
    for name in ["research.md", "data-model.md", "quickstart.md", "contracts/api.yaml"] {
        assert!(
            text.contains(&format!("- `.spool/changes/002-01_greet/{name}`\n")),
            "{name}: {text}"
        );
    }
    assert!(text.contains("- … and 24 more beside them\n") && !text.contains("WHOLE"), "{text}");
}
