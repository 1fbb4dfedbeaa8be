//! Command lines: exactly what the real programs were driven with.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::super::command::Any;
use super::super::permissions::Permissions;
use super::super::{AgentOrder, Approval, Harness, Input, Launch};
use super::NONE;
use super::{harness_named, order};

fn arguments(launch: &Launch) -> Vec<&str> {
    launch.arguments.iter().map(|argument| argument.to_str().unwrap()).collect()
}

fn launch(name: &str, order: &AgentOrder<'_>) -> Launch {
    harness_named(name).launch(order).unwrap()
}

fn sets(launch: &Launch) -> Vec<(&str, &str)> {
    launch.set.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect()
}

#[test]
fn approval_must_be_asked_for() {
    let order = order("do it");
    for (name, expected) in [
        ("claude", &["-p", "do it", "--output-format", "stream-json", "--verbose"][..]),
        ("codex", &["exec", "--json", "--skip-git-repo-check", "do it"]),
        (
            "copilot",
            &[
                "-p",
                "do it",
                "--output-format",
                "json",
                "--usage-output-file",
                "/nowhere/copilot-usage.json",
            ],
        ),
        ("gemini", &["-p", "do it", "-o", "stream-json"]),
        ("opencode", &["run", "--format", "json", "--title", "spool ralph"]),
    ] {
        let launch = launch(name, &order);
        assert_eq!(arguments(&launch), expected, "{name}");
        assert_eq!(launch.program, Path::new(name));
        assert!(!sets(&launch).iter().any(|(name, _)| *name == "IS_SANDBOX"), "{name}");
    }
}

#[test]
fn allow_all_works_for_each() {
    let order = AgentOrder { approval: Approval::All, ..order("do it") };
    for (name, flags) in [
        ("claude", &["--dangerously-skip-permissions"][..]),
        ("codex", &["--dangerously-bypass-approvals-and-sandbox"]),
        ("copilot", &["--allow-all"]),
        ("gemini", &["--yolo", "--skip-trust"]),
        ("opencode", &["--auto"]),
    ] {
        let launch = launch(name, &order);
        for flag in flags {
            assert!(arguments(&launch).contains(flag), "{name}: {:?}", launch.arguments);
        }
    }
}

#[test]
fn claude_never_asks_anybody() {
    let asks_nobody = |version, approval, own: &[&str]| {
        let own = own.iter().map(|&word| word.to_owned()).collect();
        let permissions = &Permissions { arguments: own, ..Permissions::default() };
        let order = AgentOrder { version, approval, permissions, ..order("do it") };
        let launch = launch("claude", &order);
        arguments(&launch).windows(2).any(|pair| pair == ["--permission-prompts", "none"])
    };
    for version in ["2.1.259", "2.1.332", "3.0.0"] {
        assert!(asks_nobody(version, Approval::Own, &[]), "{version}");
        assert!(asks_nobody(version, Approval::ReadOnly, &[]), "{version}");
        assert!(!asks_nobody(version, Approval::All, &[]), "{version}");
    }
    // It would not know the flag, and end.
    for version in ["", "2.1.143", "2.1.258"] {
        assert!(!asks_nobody(version, Approval::Own, &[]), "{version}");
    }
    let tool = ["--permission-prompt-tool", "mcp__desk__ask"];
    assert!(!asks_nobody("2.1.332", Approval::Own, &tool), "a person has said who answers");
}

#[test]
fn permissions_reach_programs_in_words() {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let arguments_for = |name: &str, permissions: &Permissions| {
        let order = AgentOrder { permissions, ..order("do it") };
        let launch = launch(name, &order);
        let variables = sets(&launch);
        let rules = variables.iter().find(|(name, _)| *name == "OPENCODE_PERMISSION");
        (words(&arguments(&launch)), rules.map(|(_, rules)| (*rules).to_owned()))
    };
    let permissions = |mode: Option<&str>, allow: &[&str], deny: &[&str]| Permissions {
        mode: mode.map(str::to_owned),
        allow: words(allow),
        deny: words(deny),
        arguments: words(&["--some-flag", "a value"]),
    };
    let claude = permissions(Some("acceptEdits"), &["Bash(git *)", "Edit"], &["WebFetch"]);
    let (given, _) = arguments_for("claude", &claude);
    let expected = [
        "-p",
        "do it",
        "--permission-mode=acceptEdits",
        "--allowedTools=Bash(git *)",
        "--allowedTools=Edit",
        "--disallowedTools=WebFetch",
        "--some-flag",
        "a value",
        "--output-format",
    ];
    assert_eq!(given[..expected.len()], expected);
    let (given, _) = arguments_for("codex", &permissions(Some("workspace-write"), &[], &[]));
    let expected = [
        "exec",
        "--json",
        "--sandbox=workspace-write",
        "--some-flag",
        "a value",
        "--skip-git-repo-check",
    ];
    assert_eq!(given[..expected.len()], expected);
    let (given, _) = arguments_for("gemini", &permissions(Some("auto_edit"), &["a", "b"], &[]));
    let expected = [
        "-p",
        "do it",
        "--approval-mode=auto_edit",
        "--allowed-tools=a",
        "--allowed-tools=b",
        "--some-flag",
        "a value",
        "-o",
    ];
    assert_eq!(given[..expected.len()], expected);
    let (given, _) = arguments_for("copilot", &permissions(None, &["shell(git:*)"], &["write"]));
    let expected = [
        "-p",
        "do it",
        "--allow-tool=shell(git:*)",
        "--deny-tool=write",
        "--some-flag",
        "a value",
        "--output-format",
    ];
    assert_eq!(given[..expected.len()], expected);
    let (given, rules) = arguments_for("opencode", &permissions(None, &["webfetch"], &["bash"]));
    assert_eq!(given[..5], ["run", "--some-flag", "a value", "--format", "json"]);
    assert_eq!(rules.unwrap(), r#"{"webfetch":"allow","bash":"deny"}"#);
    // Who permits nothing leaves a person's own variable alone.
    assert_eq!(arguments_for("opencode", &NONE).1, None);
}

#[test]
fn reader_only_has_reading_tools() {
    let order = AgentOrder { approval: Approval::ReadOnly, ..order("do it") };
    for (name, flags) in [
        (
            "claude",
            &["--tools", "Read,Grep,Glob", "--strict-mcp-config", "--setting-sources", "user"][..],
        ),
        ("codex", &["--sandbox", "read-only"]),
        (
            "copilot",
            &[
                "--available-tools=view,grep,glob",
                "--disable-builtin-mcps",
                "--no-custom-instructions",
                "--add-dir",
            ],
        ),
        (
            "gemini",
            &[
                "--approval-mode",
                "plan",
                "--skip-trust",
                "--allowed-mcp-server-names",
                "none",
                "--include-directories",
            ],
        ),
        ("opencode", &[]),
    ] {
        let launch = launch(name, &order);
        let arguments = arguments(&launch);
        let mut parts = arguments.windows(flags.len().max(1));
        assert!(flags.is_empty() || parts.any(|part| part == flags), "{arguments:?}");
        assert!(harness_named(name).can_only_read(), "{name}");
        // What the project has for agent programs is not where these look for it.
        let own = ["codex", "copilot", "gemini"].contains(&name).then(|| order.scratch.to_owned());
        assert_eq!(launch.folder, own, "{name}");
    }
    assert_eq!(launch("codex", &super::order("do it")).folder, None);
    for name in ["OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_DISABLE_CLAUDE_CODE"] {
        assert!(sets(&launch("opencode", &order)).contains(&(name, "1")), "{name}");
    }
    let permission = r#"{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}"#;
    assert!(sets(&launch("opencode", &order)).contains(&("OPENCODE_PERMISSION", permission)));
    assert!(!Any::new("agent").unwrap().can_only_read());
}

#[test]
fn model_and_session_are_handed_on() {
    let order = AgentOrder { model: Some("a/b-1"), resume: Some("id_1"), ..order("do it") };
    for (name, expected) in [
        (
            "claude",
            &[
                "-p",
                "do it",
                "--output-format",
                "stream-json",
                "--verbose",
                "--model",
                "a/b-1",
                "--resume",
                "id_1",
            ][..],
        ),
        (
            "codex",
            &["exec", "--json", "--skip-git-repo-check", "-m", "a/b-1", "resume", "id_1", "do it"],
        ),
        (
            "copilot",
            &[
                "-p",
                "do it",
                "--output-format",
                "json",
                "--model",
                "a/b-1",
                "--usage-output-file",
                "/nowhere/copilot-usage.json",
                "--resume=id_1",
            ],
        ),
        ("gemini", &["-p", "do it", "-m", "a/b-1", "-o", "stream-json", "-r", "id_1"]),
        ("opencode", &["run", "--format", "json", "-m", "a/b-1", "-s", "id_1"]),
    ] {
        assert_eq!(arguments(&launch(name, &order)), expected, "{name}");
    }
}

#[test]
fn flag_like_names_are_refused() {
    for name in ["claude", "codex", "copilot", "gemini", "opencode"] {
        for model in ["--yolo", "", " ", "a\nb"] {
            let order = AgentOrder { model: Some(model), ..order("do it") };
            let error = harness_named(name).launch(&order).unwrap_err().to_string();
            assert!(error.contains("is no name of a model"), "{name}: {error}");
        }
        for session in ["--yolo", "", "../x", "a b", "a\u{7f}"] {
            let order = AgentOrder { resume: Some(session), ..order("do it") };
            let error = harness_named(name).launch(&order).unwrap_err().to_string();
            assert!(error.contains("is no session id"), "{name}: {error}");
        }
        let error = harness_named(name).launch(&order(" \n")).unwrap_err().to_string();
        assert!(error.starts_with("the prompt is empty"), "{name}: {error}");
    }
}

#[test]
fn programs_start_without_nesting_marks() {
    for name in ["claude", "codex", "copilot", "gemini", "opencode"] {
        let launch = launch(name, &order("do it"));
        for mark in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"] {
            assert!(launch.unset.iter().any(|name| name == mark), "{name} sees {mark}");
        }
        assert!(!launch.unset.iter().any(|name| name.starts_with("ANTHROPIC_")), "{name}");
    }
}

/// Prompts that a careless launch breaks on.
const HARD: [&str; 6] = [
    "-p --yolo do it",
    "say \"hello\" and 'hello' and `hello`",
    "first line\nsecond line\n\n  third",
    "run $(touch pwned) and `touch pwned`; touch pwned & touch pwned | touch pwned",
    "* ? [a-z] ~ {a,b} \\ % ! #",
    "ünïcödé … \u{1f600} \u{7}",
];

/// Starts the launch with a program in the place of the real one that writes down what it got.
fn started(launch: &Launch, folder: &Path) -> (Vec<String>, String) {
    let script = folder.join("agent");
    std::fs::write(&script, "printf '%s\\0' \"$@\" > arguments\ncat > input\n").unwrap();
    let input = folder.join("given");
    match &launch.input {
        Input::Nothing => std::fs::write(&input, "").unwrap(),
        Input::Text(text) | Input::Dialog(text) => std::fs::write(&input, text).unwrap(),
    }
    let status = Command::new("sh")
        .arg(&script)
        .args(&launch.arguments)
        .current_dir(folder)
        .stdin(std::fs::File::open(&input).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    let text = std::fs::read_to_string(folder.join("arguments")).unwrap();
    let arguments = text.split_terminator('\0').map(str::to_owned).collect();
    (arguments, std::fs::read_to_string(folder.join("input")).unwrap())
}

#[test]
fn any_prompt_arrives_whole() {
    for name in ["claude", "codex", "copilot", "gemini", "opencode"] {
        for prompt in HARD {
            let folder = tempfile::tempdir().unwrap();
            let (arguments, input) = started(&launch(name, &order(prompt)), folder.path());
            let whole = arguments.iter().filter(|argument| *argument == prompt).count();
            assert_eq!(
                (whole, input.as_str()),
                if input.is_empty() { (1, "") } else { (0, prompt) },
                "{name}: {arguments:?}"
            );
            assert!(!folder.path().join("pwned").exists(), "{name}: {prompt}");
        }
    }
}

#[test]
fn own_command_places_the_prompt() {
    for prompt in HARD {
        let folder = tempfile::tempdir().unwrap();
        let order = AgentOrder { scratch: folder.path(), ..order(prompt) };
        for (line, expected) in [
            ("my-agent 'two words' --flag", vec!["two words", "--flag"]),
            ("my-agent '{prompt}' x {prompt}", vec![prompt, "x", prompt]),
        ] {
            let launch = Any::new(line).unwrap().launch(&order).unwrap();
            let (arguments, input) = started(&launch, folder.path());
            assert_eq!(arguments, expected, "{line}");
            assert_eq!(input, if line.contains("{prompt}") { "" } else { prompt }, "{line}");
        }
        let launch = Any::new("my-agent --file={prompt_file}").unwrap().launch(&order).unwrap();
        assert_eq!(launch.input, Input::Nothing);
        let file = launch.arguments[0].to_str().unwrap().strip_prefix("--file=").unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), prompt);
        assert!(!folder.path().join("pwned").exists(), "{prompt}");
    }
}

#[test]
fn own_command_avoids_shells() {
    let any = Any::new(r#"/usr/bin/env A=1 "b c" '$(touch pwned)' d\ e"#).unwrap();
    let launch = any.launch(&order("do it")).unwrap();
    assert_eq!(launch.program, Path::new("/usr/bin/env"));
    assert_eq!(arguments(&launch), ["A=1", "b c", "$(touch pwned)", "d e"]);
    for (line, words) in [
        ("", "the command is empty"),
        ("   ", "the command is empty"),
        ("agent 'unclosed", "cannot be split"),
        ("{prompt}", "is no program"),
        (
            "agent {prompt_fil}",
            "`{prompt_fil}` is no placeholder\nthere are {prompt_file}, {prompt}",
        ),
        ("agent --task={task}", "`{task}` is no placeholder"),
        ("sh -c 'agent < {promt_file}'", "`{promt_file}` is no placeholder"),
    ] {
        let error = format!("{:#}", Any::new(line).unwrap_err());
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn s12_no_prompt_runs_as_code() {
    for (line, word) in [
        ("sh -c 'agent \"{prompt}\"'", "agent \"{prompt}\""),
        ("script -qec 'agent {prompt}' /dev/null", "agent {prompt}"),
        ("agent {prompt} --message={prompt}", "--message={prompt}"),
        ("env A=1 /bin/bash -lc {prompt}", "-lc"),
        ("flock /tmp/f -c {prompt}", "-c"),
        ("su nobody --command {prompt}", "--command"),
        ("perl -e {prompt}", "-e"),
        ("cmd /C agent {prompt}", "cmd"),
        ("ssh host agent {prompt}", "ssh"),
        ("env watch agent {prompt}", "watch"),
    ] {
        let error = format!("{:#}", Any::new(line).unwrap_err());
        let told =
            format!("`{word}` could run the words of the prompt as commands\nput {{prompt_file}}");
        assert!(error.starts_with(&told), "{line}: {error}");
    }
    for line in [
        "sh -c 'agent \"$1\"' sh {prompt}",
        "sh -c 'agent < {prompt_file}'",
        "agent --exec {prompt}",
        "agent -message {prompt} --file={prompt_file}",
        "sh -c 'agent ${x} | awk \"{print}\"'",
        "agent --set '{\"a\": {}}'",
    ] {
        assert!(Any::new(line).is_ok(), "{line}");
    }
}

#[test]
fn shell_like_model_is_refused() {
    let any = Any::new("sh -c 'agent -m {model}'").unwrap();
    for model in ["opus", "anthropic/claude-sonnet-4.5:1", "opus[1m]", "claude@20250514"] {
        assert!(
            any.launch(&AgentOrder { model: Some(model), ..order("do it") }).is_ok(),
            "{model}"
        );
    }
    for model in ["x$(touch pwned)", "a;b", "a b", "`a`", "a&b", "a|b", "a>b", "it's", "a\"b", "a*"]
    {
        let launch = any.launch(&AgentOrder { model: Some(model), ..order("do it") });
        let error = launch.unwrap_err().to_string();
        assert!(error.contains("cannot stand in a command as {model}"), "{model}: {error}");
    }
    assert!(any.launch(&AgentOrder { model: Some("-x"), ..order("do it") }).is_err());
}

#[test]
fn own_command_gets_model() {
    let folder = tempfile::tempdir().unwrap();
    let any = Any::new("my-agent -m {model} -s {session}").unwrap();
    let plain = AgentOrder { scratch: folder.path(), ..order("do it") };
    let error = any.launch(&plain).unwrap_err().to_string();
    assert!(error.starts_with("the command asks for {model}"), "{error}");
    let order = AgentOrder { model: Some("m-1"), ..plain.clone() };
    let first = any.launch(&order).unwrap();
    assert_eq!(any.launch(&order).unwrap(), first, "one order, one session");
    let session = arguments(&first)[3].to_owned();
    assert_eq!(session.len(), 36, "{session}");
    // The reader tells the same session, so that the next iteration can go on with it.
    let report = any.reader(&order).report(&super::code(0));
    assert_eq!(report.session.as_deref(), Some(session.as_str()));
    let next = AgentOrder { resume: Some(&session), ..order.clone() };
    assert_eq!(arguments(&any.launch(&next).unwrap()), ["-m", "m-1", "-s", session.as_str()]);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = any.launch(&AgentOrder { scratch: other.path(), ..order }).unwrap();
    assert_ne!(elsewhere, first, "another iteration, another session");
}

#[test]
fn long_argument_prompt_is_refused() {
    let long = "a long prompt ".repeat(20_000);
    let error = Any::new("my-agent {prompt}").unwrap().launch(&order(&long)).unwrap_err();
    assert!(error.to_string().contains("put {prompt_file}"), "{error}");
    let launch = Any::new("my-agent").unwrap().launch(&order(&long)).unwrap();
    assert_eq!(launch.arguments, Vec::<OsString>::new());
    assert_eq!(launch.input, Input::Text(long.into_bytes()));
}
