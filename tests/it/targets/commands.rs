//! A command of one's own: what it cannot do is refused by name.

use crate::targets::support::{Bench, CHANGE};

#[test]
fn d12_impossible_commands_are_refused() {
    let bench = Bench::with(&[CHANGE]);
    for (flag, command, words) in [
        ("--allow-all", "true", "`--allow-all` does nothing for a command of your own"),
        ("--yolo", "true", "`--allow-all` does nothing"),
        ("--model=x", "true", "`--model` does nothing for this command: it has no {model}"),
        ("--continue-session", "true", "it has no {session}"),
        ("--token-budget=9", "true", "`--token-budget` may do nothing here"),
        (
            "--max-usd=5",
            "true",
            "`--max-usd` does nothing for `command`: nothing tells what it costs",
        ),
    ] {
        let refused =
            bench.plan(&["--change", CHANGE, "--harness-command", command, flag]).refused();
        assert!(refused.contains(words), "{flag}: {refused}");
        let arguments = ["ralph", "go", "--change", CHANGE, "--harness-command", command, flag];
        assert!(bench.spool(&arguments).refused().contains(words), "{flag}");
    }
    bench.user_file("token-budget = 5\n");
    let refused = bench.plan(&["--change", CHANGE, "--harness-command", "true"]).refused();
    assert!(refused.contains("`token-budget` in `") && refused.contains("line 1"), "{refused}");
}

#[test]
fn money_limit_needs_prices() {
    let bench = Bench::with(&[CHANGE]);
    let plan = |flags: &str| {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        bench.plan(&[&["--change", CHANGE, "--max-usd", "2.50"], flags.as_slice()].concat())
    };
    for (flags, words) in [
        ("--harness codex", "`--max-usd` needs the prices of the model: `codex` does not report"),
        ("--continue-session", "`claude` does not report what a run costs with --continue-session"),
        ("--prices opus", "needs a model and its dollars for a million tokens"),
        ("--prices opus=5", "needs a model and its dollars for a million tokens"),
        ("--prices opus=5/x", "needs a model and its dollars for a million tokens"),
    ] {
        let refused = plan(flags).refused();
        assert!(refused.contains(words), "{flags}: {refused}");
    }
    for flags in ["", "--harness codex --prices gpt=2/10", "--continue-session --prices opus=5/25"]
    {
        let told = plan(flags).told();
        assert!(told.contains("dollars: $2.50\n"), "{flags}: {told}");
    }
}

#[test]
fn d12_possible_commands_are_planned() {
    let bench = Bench::with(&[CHANGE]);
    let command = "true --model {model} --session {session}";
    let flags =
        ["--change", CHANGE, "--harness-command", command, "--model=x", "--continue-session"];
    let told = bench.plan(&flags).told();
    assert!(told.contains("--model x --session ") && told.contains("Model: x"), "{told}");
}

#[test]
fn d12_command_places_are_documented() {
    let bench = Bench::with(&[CHANGE]);
    let help = bench.spool(&["ralph", "--help"]).told();
    let document = include_str!("../../../docs/agents.md");
    for place in ["{prompt}", "{prompt_file}", "{model}", "{session}"] {
        assert!(help.contains(place), "{place}: {help}");
        assert!(document.contains(&format!("`{place}`")), "{place}");
    }
}

#[test]
fn d12_quiet_keeps_the_list_warning() {
    let bench = Bench::with(&[CHANGE]);
    let plan = bench.plan(&["--change", CHANGE, "-q"]);
    assert!(plan.err.contains("No tasks.md found, using manual done criteria"), "{plan:?}");
}

#[test]
fn d12_typos_never_remove_consent() {
    let bench = Bench::with(&[CHANGE]);
    for typo in ["--yol", "--yollo", "--allow-al", "--dangerously-allow-al"] {
        let refused = bench.plan(&["--change", CHANGE, typo]).refused();
        assert!(!refused.contains("yolo'") && !refused.contains("allow-all'"), "{refused}");
    }
    let refused = bench.plan(&["--change", CHANGE, "--max-iteration=3"]).refused();
    assert!(refused.contains("--max-iterations"), "{refused}");
}
