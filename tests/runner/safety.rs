//! What the agent of a run may have `spool task` run: what the person who started the run was shown.

use super::support::Bench;

const LIST: &str = "- [ ] T001 Create it\n  - Verify: `touch armed`\n- [ ] T002 Fill it\n";

#[test]
fn s1_the_agent_of_a_run_has_only_those_verify_commands_run_that_the_run_began_with() {
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
