//! Flags, the files beside them, and a repository that one does not trust.

use crate::support::has::Has;
use crate::support::limited::Limited;
use crate::targets::support::{Bench, CHANGE};

const PROJECT_FILE: &str = ".spool/ralph.toml";

#[test]
fn values_take_blank_or_equals_sign() {
    let bench = Bench::with(&[CHANGE]);
    for arguments in [
        ["--max-iterations=08", "--iteration-timeout=30"].as_slice(),
        &["--max-iterations", "08", "--iteration-timeout", "30"],
    ] {
        let mut all = vec!["--change", CHANGE];
        all.extend(arguments);
        let told = bench.plan(&all).told();
        told.has("  iterations: 8\n").has("  an iteration: 30m\n");
    }
    for wrong in [
        "--max-iterations=x",
        "--max-iterations=-1",
        "--iteration-timeout=soon",
        "--max-iterations",
        "--max-iteration=3",
    ] {
        bench.plan(&["--change", CHANGE, wrong]).refused();
    }
}

#[test]
fn help_defaults_are_true() {
    let bench = Bench::with(&[CHANGE]);
    let told = bench.plan(&["--change", CHANGE]).told();
    let help = bench.spool(&["ralph", "--help"]).told();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = [
        (
            "--max-iterations <N> End after this many iterations; 0 for no limit [default: 50]",
            "iterations: 50",
        ),
        (
            "in a row without a commit; 0 for never [default: 0]",
            "iterations without a commit: none",
        ),
        (
            "in a row that changed nothing; 0 for never [default: 10]",
            "iterations that change nothing: 10",
        ),
        ("none of them gets any answer [default: 12]", "failed runs in a row: 12"),
        ("may take; 0 for no limit [default: 60 minutes]", "an iteration: 1h"),
        ("if its output shows which; 0 for no limit [default: 0]", "silence: none"),
        (
            "the whole loop may take, such as 8h; 0 for no limit [default: 0]",
            "the whole loop: none",
        ),
        ("the loop may use; 0 for no limit [default: 0]", "tokens: none"),
        ("a plain number is seconds [default: 10s]", "between asking and killing: 10s"),
        ("is seconds [default: 5s]", "the pause after a failed run: 5s"),
        ("when all is done [default: COMPLETE]", "<promise>COMPLETE</promise>"),
        ("[default: claude]", "Agent: claude"),
    ];
    for (in_help, in_plan) in table {
        assert!(help.contains(in_help), "{in_help}\n{help}");
        assert!(told.contains(in_plan), "{in_plan}\n{told}");
    }
    let checked = bench.plan(&["--change", CHANGE, "--check", "true"]).told();
    help.has("seconds [default: 300]");
    checked.has("(within 300 s)");
}

#[test]
fn allow_all_aliases() {
    let bench = Bench::with(&[CHANGE]);
    let plan = |flag: &[&str]| {
        let mut all = vec!["--change", CHANGE];
        all.extend(flag);
        bench.plan(&all).told()
    };
    assert!(plan(&[]).contains("Tools: what the agent program allows by itself"));
    let whole = plan(&["--allow-all"]);
    assert!(whole.contains("Tools: every tool runs without asking"), "{whole}");
    assert_eq!(plan(&["--yolo"]), whole);
    assert_eq!(plan(&["--dangerously-allow-all"]), whole);
}

#[test]
fn environment_places_the_personal_file() {
    let bench = Bench::with(&[CHANGE]);
    bench.user_file("max-iterations = 30\n");
    let config = bench.beside("config");
    std::fs::create_dir_all(config.join("ralph-speckit")).unwrap();
    std::fs::write(config.join("ralph-speckit/ralph.toml"), "max-iterations = 40\n").unwrap();
    let mut command = bench.command(&["ralph", "go", "--change", CHANGE, "--dry-run"]);
    let told = command.env("XDG_CONFIG_HOME", &config).finish().stdout;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("  iterations: 40\n"), "{told}");
    told.has("  max-iterations = 40 (").has("ralph.toml, line 1)");
}

#[test]
fn project_file_may_hold_changes() {
    let bench = Bench::with(&[CHANGE, "002-02_other"]);
    bench.write(PROJECT_FILE, "change = \"2-1\"\n");
    assert_eq!(bench.plan(&[]).change(), CHANGE);
}

#[test]
fn project_files_share_one_place() {
    let bench = Bench::empty();
    bench.write(".specify/feature.json", "{}");
    bench.write("specs/001-login/spec.md", "# Login\n");
    bench.write(PROJECT_FILE, "max-iterations = 7\n");
    let told = bench.plan(&["--change", "login"]).told();
    assert!(told.contains("  iterations: 7\n"), "{told}");
    let bench = Bench::empty();
    bench.write("openspec/changes/one/proposal.md", "# One\n");
    bench.write(PROJECT_FILE, "max-iterations = 7\n");
    let told = bench.plan(&["--change", "one"]).told();
    assert!(told.contains("  iterations: 7\n"), "{told}");
}

#[test]
fn cloned_repository_grants_nothing() {
    let bench = Bench::with(&[CHANGE]);
    let before = bench.listing().len();
    for (hostile, words) in [
        ("allow-all = true", "cannot be set by a project"),
        ("harness-command = \"touch pwned\"", "cannot be set by a project"),
        ("trusted-projects = [\"/\"]", "cannot be set by a project"),
        ("check = [\"touch pwned\"]", "this project is not trusted"),
        ("notify = \"touch pwned\"", "this project is not trusted"),
        ("harness = \"opencode\"", "this project is not trusted"),
        ("model = \"--dangerously-skip-permissions\"", "needs a name such as"),
        ("prompt-file = \"../home/secret\"", "leads out of the project"),
        ("prompt-file = \"/etc/hostname\"", "leads out of the project"),
    ] {
        std::fs::write(bench.beside("home/secret"), "the secret").unwrap();
        bench.write(PROJECT_FILE, hostile);
        let prompt = if hostile.starts_with("prompt-file") { &[][..] } else { &["go"] };
        for last in ["--dry-run", "--no-interactive"] {
            let mut all = vec!["ralph", "--change", CHANGE, last];
            all.extend(prompt);
            let said = bench.spool(&all).refused();
            assert!(said.contains(words), "{hostile}: {said}");
            assert!(!said.contains("the secret"), "{hostile}: {said}");
        }
    }
    assert_eq!(bench.listing().len(), before + 1, "more than the settings was written");
}

#[test]
fn project_check_is_shown_whole() {
    let bench = Bench::with(&[CHANGE]);
    let long = format!("true {} && touch pwned", "x".repeat(500));
    bench.write(PROJECT_FILE, format!("check = [\"{long}\", \"echo \\u001b[2Jwiped\"]\n"));
    let said = bench.plan(&["--change", CHANGE]).refused();
    assert!(said.contains(&long) && !said.contains('\u{1b}'), "{said}");
    let told = bench.plan(&["--change", CHANGE, "--trust-project"]).told();
    assert!(told.contains("&& touch pwned (within 300 s)") && !told.contains('\u{1b}'), "{told}");
    bench.user_file(&format!("trusted-projects = ['{}']\n", bench.root.display()));
    assert!(bench.plan(&["--change", CHANGE]).told().contains("&& touch pwned"));
}
