//! What a run does only because a person said so: the agent's Verify commands, and what a repository's own file asks.

use super::support::{Bench, CHANGE};

const LIST: &str = "- [ ] T001 Create it\n  - Verify: `touch armed`\n- [ ] T002 Fill it\n";

#[test]
fn s1_runs_keep_their_first_commands() {
    let bench = Bench::new();
    bench.write("specs/001-login/spec.md", "# Login\n");
    bench.write("specs/001-login/tasks.md", LIST);
    bench.write(".specify/feature.json", r#"{"feature_directory":"specs/001-login"}"#);
    let spool = env!("CARGO_BIN_EXE_spool");
    bench.agent(&format!(
        "sed -i 's/T002 Fill it/T002 Fill it\\n  - Verify: `touch pwned`/' specs/001-login/tasks.md\n\
         {spool} task verify T002 > \"$DESK/new\" 2>&1\n\
         {spool} task done T001 > \"$DESK/known\" 2>&1\n\
         {spool} task done T002 >> \"$DESK/new\" 2>&1"
    ));
    let ran = bench
        .spool("ralph Build --change 001-login --max-iterations 1 --harness-command agent")
        .run();
    assert!(bench.desk("new").contains("`touch pwned`"), "{}", bench.desk("new"));
    assert!(!bench.root.join("pwned").exists());
    assert!(bench.root.join("armed").exists(), "{}", bench.desk("known"));
    assert!(ran.output.contains("touch armed  (T001)"), "{}", ran.output);
    // The run is over, and nobody has armed anything any more.
    std::fs::remove_file(bench.root.join("armed")).unwrap();
    bench.spool("task verify T001").run();
    assert!(!bench.root.join("armed").exists());
}

/// What a person has set for all projects.
fn person(bench: &Bench, text: &str) {
    let folder = bench.beside("home").join(".config/ralph-speckit");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("ralph.toml"), text).unwrap();
}

#[test]
fn s2_repository_takes_no_limits_away() {
    let bench = Bench::new();
    bench.agent("true");
    person(&bench, "max-iterations = 3\nmax-runtime = \"300s\"\n");
    for (name, value) in [("max-iterations", "0"), ("no-progress", "0"), ("max-runtime", "\"0s\"")]
    {
        bench.write(".spool/ralph.toml", format!("{name} = {value}\n"));
        // A run that the file does lengthen ends all the same.
        let ran = bench.ralph("--stall-threshold 9").run().with_code(2);
        ran.warns(&format!("`{name}` in `")).warns("takes a limit away").warns("spool trust");
    }
    assert_eq!(bench.runs(), 0);
}

#[test]
fn s2_repository_limits_only_get_stricter() {
    let bench = Bench::new();
    bench.agent("true");
    person(&bench, "max-iterations = 3\n");
    bench.write(".spool/ralph.toml", "max-iterations = 4\n");
    let ran = bench.ralph("").run().with_code(3);
    ran.warns("`max-iterations` in `").warns("line 1, does not count: `4` is looser");
    assert_eq!(bench.runs(), 3);
    let plan = bench.spool(&format!("ralph Build --change {CHANGE} --dry-run")).run().with_code(0);
    plan.says("  iterations: 3\n").says("does not count: max-iterations = 4 (");
    bench.write(".spool/ralph.toml", "max-iterations = 2\n");
    let ran = bench.ralph("").run().with_code(3);
    assert!(!ran.errors.contains("does not count") && bench.runs() == 5, "{ran:?}");
    bench.write(".spool/ralph.toml", "max-iterations = 4\n");
    bench.ralph("--trust-project").run().with_code(3);
    assert_eq!(bench.runs(), 9);
}

#[test]
fn s2_repository_sets_no_commits() {
    let bench = Bench::with_tasks("- [ ] T001 Begin it\n");
    bench.agent("echo 1 > made.txt\necho x '<promise>x</promise>'");
    for (asks, words) in [
        ("commit = true", "`commit` in `"),
        ("done = \"manual\"", "`done` in `"),
        ("completion-promise = \"x\"", "`completion-promise` in `"),
        ("promise-match = \"exact\"", "`promise-match` in `"),
    ] {
        bench.write(".spool/ralph.toml", asks);
        let ran = bench.ralph("--max-iterations 1").run().with_code(2);
        ran.warns(words).warns("changes what holds without it").warns("spool trust");
    }
    assert_eq!(bench.runs(), 0);
}

#[test]
fn s2_trust_shows_what_gets_looser() {
    let bench = Bench::new();
    bench.agent("true");
    person(&bench, "max-iterations = 3\n");
    bench.write(".spool/ralph.toml", "commit = true\nmax-iterations = 4\nmax-runtime = \"1h\"\n");
    let ran = bench.spool("trust --yes").run().with_code(0);
    ran.says("  commit = true\n").says("  max-iterations = 4\n");
    assert!(!ran.output.contains("max-runtime"), "{ran:?}");
    let ran = bench.ralph("").run().with_code(3);
    assert!(!ran.errors.contains("does not count") && bench.runs() == 4, "{ran:?}");
    bench.write(".spool/ralph.toml", "commit = true\nmax-iterations = 5\n");
    bench.ralph("").run().with_code(3).warns("`5` is looser");
    assert_eq!(bench.runs(), 7);
}
