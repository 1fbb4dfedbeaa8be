//! What becomes of a reader: it fails, it is limited, it writes, it is interrupted.

use rustix::process::Signal;

use crate::review::support::{Built, FR_001, FR_002, US1_1};
use crate::runner::claude::TOKENS;
use crate::runner::support::Bench;

#[test]
fn unrestrained_reader_program_is_refused() {
    let built = Built::new();
    built.reader(&[US1_1, FR_001, FR_002]);
    let ran = built.spool("review --harness-command agent").run().with_code(1);
    ran.warns("`command` cannot be held to reading, so it may change what it reviews");
    ran.warns("add --may-write");
    built
        .spool("review --harness demo")
        .run()
        .with_code(1)
        .warns("the demo's agent reviews nothing");
    assert_eq!(built.runs(), 0);
}

#[test]
fn writing_reader_is_no_pass() {
    let built = Built::new();
    let answer = |write: &str| {
        built.reader(&[US1_1, FR_001, FR_002]);
        let script = built.root.parent().unwrap().join("bin/agent");
        let text = std::fs::read_to_string(&script).unwrap();
        std::fs::write(&script, format!("{text}{write}\n")).unwrap();
        built.review("").with_code(6)
    };
    answer("echo x >> src/login.rs").says("  changed meanwhile: src/login.rs\n");
    // The time of a file can be set back, that of its change cannot.
    answer("printf 'fn x' > src/login.rs; touch -d 2001-01-01 src/login.rs")
        .says("  changed meanwhile: src/login.rs\n");
    built.git(&["checkout", "src/login.rs"]);
    answer("git commit -q --allow-empty -m more").says("changed meanwhile: the commits");
    answer("echo x > src/more.rs").says("changed meanwhile: src/more.rs\n");
    answer("rm src/more.rs").says("changed meanwhile: src/\n");
    // v15: the top has a name, too.
    built.write("top.rs", "fn top() {}\n");
    answer("rm top.rs").says("changed meanwhile: .\n");
    let review = built.last();
    assert_eq!((&review["outcome"], &review["exit_code"]), (&"tree_changed".into(), &6.into()));
}

#[test]
fn ignored_files_are_no_evidence() {
    let built = Built::new();
    built.write(".gitignore", "made/\n");
    built.commit("ignored");
    built.write("made/old.rs", "fn check_of_password() {}\n");
    let quoting = |file: &str| {
        FR_001
            .replace("src/login.rs", file)
            .replace("check(password)", "fn check_of_password()")
            .replace("\"line\":3", "\"line\":1")
    };
    built.reader(&[US1_1, &quoting("made/old.rs"), FR_002]);
    built
        .review("")
        .with_code(5)
        .says("`made/old.rs` is ignored by git, so it is no work of the project");
    built.reader(&[US1_1, &quoting("made/new.rs"), FR_002]);
    let script = built.beside("bin/agent");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(
        &script,
        format!("{text}\nprintf 'fn check_of_password() {{}}\\n' > made/new.rs\n"),
    )
    .unwrap();
    built.review("").with_code(5).says("`made/new.rs` has changed since the reader began");
}

#[test]
fn crashed_reader_is_told() {
    let built = Built::new();
    built.script("echo 'out of memory' >&2; exit 3");
    let ran = built.review("").with_code(9);
    ran.says("no pass: the agent program failed\n").says("out of memory");
    built.script("kill -9 $$");
    built.review("").with_code(9).says("no pass: the agent program failed\n");
    assert!(built.read(".spool/.state/ralph/001-login/review.log").is_empty());
}

#[test]
fn overdue_reader_ends_with_its_children() {
    let built = Built::new();
    let witness = Bench::witness();
    built.waits_for_nobody();
    built.script(&witness.stubborn());
    let ran = built.review("--timeout 1s").with_code(7);
    witness.is_over();
    ran.says("no pass: the reader was over its time\n").says("it had no answer within 1s");
}

#[test]
fn ctrl_c_ends_reader_and_children() {
    let built = Built::new();
    let witness = Bench::witness();
    built.waits_for_nobody();
    built.script(&witness.stubborn());
    let call = built.spool("review --may-write").arg("--harness-command").arg("agent");
    let running = call.start();
    witness.wait_for("ready");
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    witness.is_over();
    ran.says("no pass: interrupted\n");
    assert_eq!(built.last()["outcome"], "interrupted");
}

#[test]
fn claude_only_reads_and_counts_tokens() {
    let built = Built::new();
    built.claude(&Built::met());
    let ran = built.spool("review").run().with_code(0);
    ran.says("claude-sonnet-4-5, ").says(&format!("{TOKENS} tokens"));
    let arguments = built.arguments(1).join(" ");
    let held = "--tools Read,Grep,Glob --strict-mcp-config --setting-sources user";
    assert!(arguments.contains(held), "{arguments}");
    assert!(!arguments.contains("--dangerously-skip-permissions"), "{arguments}");
    let review = built.last();
    assert_eq!((&review["read_only"], &review["tokens"]), (&true.into(), &TOKENS.into()));
    // A reader over its tokens is no pass, whatever it says.
    let ran = built.spool("review --token-budget 100").run().with_code(8);
    ran.says("no pass: the reader was over its tokens\n").says("it used more than 100 tokens");
}

#[test]
fn default_reader_is_the_runner_one() {
    let built = Built::new();
    built.claude("limit 1");
    let config = "harness = \"claude\"\nmodel = \"opus\"\n";
    built.write("../home/.config/ralph-speckit/ralph.toml", config);
    let ran = built.spool("review").run().with_code(10);
    ran.says("Review of 001-login by claude: no pass: a usage limit\n");
    assert!(built.arguments(1).join(" ").contains("--model opus"));
    built.spool("review --harness claude").run().with_code(10);
    assert!(!built.arguments(2).join(" ").contains("--model"));
}
