//! The plugin's files agree with each other and with what was promised about them.

use crate::support::has::Has;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ralph_speckit::plugin::files::FILES;
use serde_json::Value;

use crate::plugin::scratch::{checkout, files};

fn text(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines between the two `---` at the start of a file, and what follows.
fn front_matter(path: &str) -> (Vec<(String, String)>, String) {
    let text = text(path);
    let rest = text.strip_prefix("---\n").unwrap_or_else(|| panic!("{path} has no front matter"));
    let (front, body) = rest
        .split_once("\n---\n")
        .unwrap_or_else(|| panic!("{path}: the front matter does not end"));
    let pairs = front
        .lines()
        .map(|line| {
            let (key, value) =
                line.split_once(": ").unwrap_or_else(|| panic!("{path}: no `key: value`: {line}"));
            (key.to_owned(), value.to_owned())
        })
        .collect();
    (pairs, body.to_owned())
}

fn commands() -> Vec<String> {
    files(&checkout().join("commands"))
        .iter()
        .map(|path| format!("commands/{}", path.display()))
        .collect()
}

#[test]
fn fr_14_every_version_is_1_0_0() {
    assert_eq!(env!("CARGO_PKG_VERSION"), "1.0.0");
    assert_eq!(json(".claude-plugin/plugin.json")["version"], "1.0.0");
    assert_eq!(json(".claude-plugin/marketplace.json")["plugins"][0]["version"], "1.0.0");
    if let Ok(changelog) = fs::read_to_string(checkout().join("CHANGELOG.md")) {
        assert!(changelog.contains("1.0.0"), "CHANGELOG.md does not tell of 1.0.0");
    }
}

#[test]
fn manifests_name_plugin_and_marketplace() {
    let plugin = json(".claude-plugin/plugin.json");
    let marketplace = json(".claude-plugin/marketplace.json");
    assert_eq!(plugin["name"], "speckit");
    assert_eq!(marketplace["name"], "ralph-speckit");
    assert_eq!(marketplace["plugins"].as_array().unwrap().len(), 1);
    assert_eq!(marketplace["plugins"][0]["name"], plugin["name"]);
    assert_eq!(marketplace["plugins"][0]["description"], plugin["description"]);
    // An assembled plugin offers itself; the marketplace of the checkout may lead to a release.
    let mut carried = json("src/plugin/marketplace.json");
    assert_eq!(carried["plugins"][0]["source"], "./");
    carried["plugins"][0]["source"] = marketplace["plugins"][0]["source"].clone();
    assert_eq!(carried, marketplace);
    // The client reads hooks/hooks.json by itself, and refuses a plugin that names it again.
    assert_eq!(plugin.get("hooks"), None);
}

/// Claude Code reads those in `.claude-plugin`; who looks for them at the top level finds the same.
#[test]
fn top_level_manifests_are_equal() {
    for name in ["plugin.json", "marketplace.json"] {
        assert_eq!(text(name), text(&format!(".claude-plugin/{name}")), "{name}");
    }
}

/// The hook of an installed plugin runs in every session: that is said where a person decides to install it.
#[test]
fn manifest_lists_runs_and_kept_files() {
    let description = json("plugin.json")["description"].to_string();
    description.has_all(&[
        "runs in every session",
        "silent unless a loop is armed",
        "runs the checks that you configured",
        "~/.local/state/ralph-speckit",
    ]);
}

#[test]
fn icon_is_a_small_square_png() {
    let icon = fs::read(checkout().join(".claude-plugin/icon.png")).unwrap();
    assert_eq!(&icon[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(icon[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (512, 512));
    assert!(icon.len() < 32 * 1024, "{} bytes", icon.len());
}

#[test]
fn hooks_start_programs_without_shell() {
    let hooks = json("hooks/hooks.json");
    let events = hooks["hooks"].as_object().unwrap();
    let mut named: Vec<&String> = events.keys().collect();
    named.sort();
    assert_eq!(
        named,
        ["PermissionRequest", "SessionStart", "Stop", "StopFailure", "UserPromptExpansion"]
    );
    for (event, groups) in events {
        for hook in
            groups.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap())
        {
            assert_eq!(hook["type"], "command", "{event}");
            // Exec form has `args`: the host, so that it gets all that it can show, and two events, so that they are
            // answered also where they come too late.
            let args = match event.as_str() {
                "Stop" => vec!["claude", event],
                "UserPromptExpansion" => vec!["hook", "claude", event],
                _ => vec!["claude"],
            };
            assert_eq!(hook["args"], serde_json::json!(args), "{event}");
            // A stop may run the checks that a person configured; they have 25 minutes together.
            let limit = if event == "Stop" { 1800 } else { 10 };
            assert_eq!(hook["timeout"], limit, "{event}");
            assert!(!hook["statusMessage"].as_str().unwrap().is_empty(), "{event}");
            let command = hook["command"].as_str().unwrap();
            let program = command.strip_prefix("${CLAUDE_PLUGIN_ROOT}/").unwrap();
            let program = checkout().join(program);
            let mode = program.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{} cannot be started", program.display());
        }
    }
}

#[test]
fn prompt_hook_knows_only_our_commands() {
    let hooks = json("hooks/hooks.json");
    let groups = hooks["hooks"]["UserPromptExpansion"].as_array().unwrap();
    let matchers: Vec<&Value> = groups.iter().map(|group| &group["matcher"]).collect();
    // A person's own command of one of these names starts the hook, which knows it by its file.
    assert_eq!(matchers, ["^(speckit:|(speckit[.-]implement|ralph-loop|ulw-loop|cancel-ralph)$)"]);
}

#[test]
fn commands_have_useful_front_matter() {
    let names = ["cancel-ralph", "cancel", "implement", "ralph-loop", "status", "ulw-loop"]
        .map(String::from);
    assert_eq!(commands(), names.map(|name| format!("commands/{name}.md")));
    for path in commands() {
        let (pairs, body) = front_matter(&path);
        let value =
            |key: &str| pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        let description = value("description").unwrap_or_else(|| panic!("{path}: no description"));
        assert!(description.len() > 20, "{path}: {description}");
        // For YAML, a second colon before a blank is an error, and a client then drops all of the front matter.
        assert!(!description.contains(": "), "{path}: {description}");
        assert!(value("allowed-tools").is_some(), "{path}: no allowed-tools");
        // A loop is armed by a person; the model is not told that the command exists.
        assert_eq!(value("disable-model-invocation").map(String::as_str), Some("true"), "{path}");
        assert!(body.trim_start().starts_with("# "), "{path}: no title");
    }
}

#[test]
fn no_command_passes_words_to_shells() {
    for path in commands() {
        let (_, body) = front_matter(&path);
        assert!(!body.contains("$ARGUMENTS"), "{path}");
        assert!(!body.contains("!`"), "{path}");
        assert!(!body.lines().any(|line| line.trim_start().starts_with('!')), "{path}");
        assert!(!body.contains("```!"), "{path}");
    }
}

#[test]
fn ac_1_1_ac_5_1_fr_9_commands_mention_no_other_loop() {
    for path in ["commands/implement.md", "commands/cancel.md", "commands/status.md"] {
        let text = text(path);
        for other in ["ralph-loop", "ralph-wiggum", "ralph_loop", "cancel-ralph"] {
            assert!(!text.to_lowercase().contains(other), "{path} mentions {other}");
        }
    }
}

#[test]
fn ac_5_1_fr_11_implement_writes_no_prompt() {
    assert!(!text("commands/implement.md").contains("coordinator-prompt"));
}

#[test]
fn fr_10_implement_checks_no_dependency() {
    let implement = text("commands/implement.md").to_lowercase();
    assert!(!implement.contains("dependency check"));
    assert!(!implement.contains("plugin install"));
}

#[test]
fn ac_5_2_fr_9_implement_is_coordinator_prompt() {
    let (_, body) = front_matter("commands/implement.md");
    body.has_all(&[
        "coordinator",
        "spool task next",
        "spec-executor",
        "qa-engineer",
        "`[VERIFY]`",
        "parallel group",
        "in one message",
        ".speckit-state.json",
        ".progress.md",
        "Never ask",
    ]);
    assert!(body.lines().count() < 150, "{} lines", body.lines().count());
}

#[test]
fn implement_shows_the_signal_alone() {
    let (_, body) = front_matter("commands/implement.md");
    let with_signal: Vec<&str> =
        body.lines().filter(|line| line.contains("ALL_TASKS_COMPLETE")).collect();
    assert_eq!(with_signal, ["ALL_TASKS_COMPLETE"]);
}

#[test]
fn ac_4_2_fr_12_cancel_keeps_notes() {
    let (_, body) = front_matter("commands/cancel.md");
    assert!(body.contains("`.speckit-state.json` is deleted"));
    let kept =
        body.lines().skip_while(|line| !line.contains("is deleted")).collect::<Vec<_>>().join(" ");
    kept.has_all(&["`.progress.md`", "journal"]);
    assert!(body.contains("`spool stop`"));
}

#[test]
fn both_launchers_are_one_text() {
    assert_eq!(text("bin/ralph-hook"), text("bin/spool"));
    for name in ["bin/ralph-hook", "bin/spool"] {
        let mode = checkout().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name} cannot be started");
    }
}

#[test]
fn spool_carries_every_plugin_file() {
    let mut there: Vec<PathBuf> = ["LICENSE", "README.md"].map(PathBuf::from).to_vec();
    for folder in [".claude-plugin", "agents", "commands", "hooks"] {
        let path = checkout().join(folder);
        if path.is_dir() {
            there.extend(files(&path).into_iter().map(|file| Path::new(folder).join(file)));
        }
    }
    there.sort();
    let mut carried: Vec<PathBuf> = FILES.iter().map(|file| PathBuf::from(file.path)).collect();
    carried.sort();
    assert_eq!(carried, there);
}

#[test]
fn view_is_small_and_asks_spool() {
    let hooks = json("hooks/hooks.json");
    let mut keys: Vec<&String> = hooks.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["description", "hooks", "modules"]);
    assert_eq!(hooks["modules"], serde_json::json!(["./view.tsx"]));
    let view = text("hooks/view.tsx");
    assert!(view.lines().count() < 200, "{} lines", view.lines().count());
    let with = |words: &str| view.lines().filter(|line| line.contains(words)).collect::<Vec<_>>();
    let imports = with("import ");
    assert_eq!(imports, ["import type { EngineInterface, Register } from 'claude-code'"]);
    let heard: Vec<&str> =
        view.split(" on('").skip(1).map(|rest| rest.split('\'').next().unwrap()).collect();
    assert_eq!(heard, ["session.start", "command.run", "ui.close", "ui.render", "ui.render"]);
    assert_eq!(with("$.process.run").len(), 1);
    assert_eq!(with("/bin/spool`").len(), 1);
    assert_eq!(
        with("spool($, ["),
        [
            "  const text = await spool($, ['status'], folder).catch(error => `${error}`)",
            "  show($, JSON.parse(await spool($, ['statusline', '--json'], folder, asked)))",
        ]
    );
    // A client of before would complain about the types of its values.
    assert_eq!(json(".claude-plugin/plugin.json").get("types"), None);
}
