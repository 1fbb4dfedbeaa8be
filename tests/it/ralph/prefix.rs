//! `/ralph-loop` without the plugin's prefix: ours is known by its file, a person's own is left alone.

use crate::hook::outcome::Outcome;
use crate::hook::support::Bench;
use ralph_speckit::hosts::claude::commands::MARK;
use std::fs;

fn typed(bench: &Bench, name: &str, source: &str) -> Outcome {
    let call = bench.command("s1", name, "\"Make it\"").with("command_source", source);
    call.variable("HOME", bench.outside().to_str().unwrap()).run()
}

fn write(bench: &Bench, path: &str, text: &str) {
    let path = bench.outside().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn ours() -> String {
    format!("---\ndescription: ours\n---\n\n# Ours\n\n{MARK}\n")
}

#[test]
fn marked_command_arms_the_loop() {
    let bench = Bench::folder();
    for name in ["ralph-loop", "ulw-loop", "cancel-ralph"] {
        write(&bench, &format!(".claude/commands/{name}.md"), &ours());
    }
    assert!(typed(&bench, "ralph-loop", "userSettings").context().contains("Task:\nMake it"));
    assert!(typed(&bench, "cancel-ralph", "userSettings").reason().contains("nothing to cancel"));
    let bench = bench
        .command("s2", "ulw-loop", "\"Make it\"")
        .with("command_source", "userSettings")
        .variable("HOME", bench.outside().join("nowhere").to_str().unwrap())
        .variable("CLAUDE_CONFIG_DIR", bench.outside().join(".claude").to_str().unwrap())
        .run();
    assert!(bench.context().starts_with("ULTRAWORK MODE"), "{bench}");
}

#[test]
fn personal_command_is_left_alone() {
    let own = "---\ndescription: my own\n---\nDo $ARGUMENTS.\n";
    let mentions = format!("{MARK}\n{own}");
    let cases: [(&str, &[(&str, &str)]); 6] = [
        ("userSettings", &[]),
        ("userSettings", &[(".claude/commands/ralph-loop.md", own)]),
        ("userSettings", &[(".claude/commands/ralph-loop.md", &mentions)]),
        (
            "userSettings",
            &[
                (".claude/commands/ralph-loop.md", &ours()),
                (".claude/skills/ralph-loop/SKILL.md", own),
            ],
        ),
        ("projectSettings", &[(".claude/commands/ralph-loop.md", &ours())]),
        ("plugin", &[(".claude/commands/ralph-loop.md", &ours())]),
    ];
    for (source, files) in cases {
        let bench = Bench::folder();
        for (path, text) in files {
            write(&bench, path, text);
        }
        let before = bench.everything();
        typed(&bench, "ralph-loop", source).silent();
        assert_eq!(bench.everything(), before, "{source} {files:?}");
    }
}

#[test]
fn unprefixed_command_is_not_ours() {
    let bench = Bench::ready();
    for name in ["implement", "cancel", "status", "adopt"] {
        write(&bench, &format!(".claude/commands/{name}.md"), &ours());
        typed(&bench, name, "userSettings").silent();
    }
    typed(&bench, "other:ralph-loop", "plugin").silent();
}
