//! `spool setup`: what it does for a user, with a scripted `claude` in the place of the real one.

use crate::support::has::Has;
use std::fs;
use std::thread;

use serde_json::{Value, json};

use crate::plugin::scratch::{Home, SPOOL, Said, files, tree};
use crate::support::schema::holds;

/// A `claude` that keeps its registry in two files and writes down what it was asked.
const CLAUDE: &str = r#"
registry=$CLAUDE_CONFIG_DIR
mkdir -p "$registry"
echo "$*" >>"$registry/asked"
case "$*" in
  --version) echo "${FAKE_VERSION:-2.1.332} (Claude Code)" ;;
  "plugin list --json") if [ -e "$registry/plugin" ]; then cat "$registry/plugin"; else echo "[]"; fi ;;
  "plugin marketplace list --json")
    if [ -e "$registry/market" ]; then cat "$registry/market"; else echo "[]"; fi ;;
  "plugin marketplace add --scope user "*)
    printf '[{"name":"ralph-speckit","source":"directory","path":"%s"}]\n' "${6}" >"$registry/market" ;;
  "plugin marketplace remove ralph-speckit") rm "$registry/market" ;;
  "plugin install --scope user speckit@ralph-speckit")
    if [ -n "$FAKE_FAULT" ]; then echo "$FAKE_FAULT" >&2; exit 1; fi
    copy=$registry/plugins/cache/ralph-speckit/speckit/1.0.0
    mkdir -p "$copy" && cp -R "$HOME/.local/share/ralph-speckit/plugin/." "$copy"
    printf '[{"id":"speckit@ralph-speckit","version":"1.0.0","scope":"user","enabled":true,"installPath":"%s"}]\n' \
      "$copy" >"$registry/plugin" ;;
  "plugin enable --scope user speckit@ralph-speckit")
    sed 's/:false/:true/' "$registry/plugin" >"$registry/new" && mv "$registry/new" "$registry/plugin" ;;
  "plugin uninstall --scope user --keep-data speckit@ralph-speckit") rm "$registry/plugin" ;;
  "plugin uninstall --scope user speckit@ralph-speckit") rm "$registry/plugin" ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
"#;

fn with_claude() -> Home {
    let mut scratch = Home::new();
    scratch.script("client/claude", CLAUDE);
    scratch.search_first("client");
    let folder = scratch.home().join(".claude");
    scratch.set("CLAUDE_CONFIG_DIR", folder);
    scratch
}

fn setup(scratch: &Home, arguments: &[&str]) -> Said {
    scratch.run(SPOOL, &[&["setup"], arguments].concat())
}

/// What `claude` was asked that changes something, since the last time it was looked at.
fn changes_asked(scratch: &Home) -> Vec<String> {
    let path = scratch.home().join(".claude/asked");
    let asked = fs::read_to_string(&path).unwrap_or_default();
    let _forgotten = fs::remove_file(path);
    asked
        .lines()
        .filter(|line| !line.contains("list") && *line != "--version")
        .map(str::to_owned)
        .collect()
}

#[test]
fn setup_installs_and_remove_leaves_nothing() {
    let scratch = with_claude();
    let outcome = setup(&scratch, &[]).with_code(0);
    outcome.out.has_all(&[
        "wrote the plugin 1.0.0",
        "copied `spool` and",
        "added the mark",
        "installed the",
        "restart Claude Code in a spec-kit project, and type /speckit:implement\nanywhere else, type /speckit:ralph-loop \"TASK\"\n",
    ]);
    let spool = scratch.data().join("bin/spool");
    assert!(scratch.data().join("plugin/bin/ralph-hook").is_file());
    assert!(spool.is_file());
    assert!(outcome.out.contains(&format!("PATH: `{} doctor`", spool.display())), "{outcome}");
    let plugin = scratch.data().join("plugin").display().to_string();
    assert_eq!(
        changes_asked(&scratch),
        [
            format!("plugin marketplace add --scope user {plugin}"),
            "plugin install --scope user speckit@ralph-speckit".to_owned(),
        ]
    );

    setup(&scratch, &["--remove"]).with_code(0);
    assert_eq!(
        changes_asked(&scratch),
        [
            "plugin uninstall --scope user speckit@ralph-speckit",
            "plugin marketplace remove ralph-speckit",
        ]
    );
    let left: Vec<_> = tree(&scratch.home()).into_keys().collect();
    let theirs = [".claude", ".claude/plugins", ".claude/plugins/cache"];
    assert_eq!(left, theirs.map(std::path::PathBuf::from), "only folders of Claude Code's own");
}

#[test]
fn remove_names_the_trust_folder() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    let kept = scratch.home().join(".local/state/ralph-speckit");
    fs::create_dir_all(&kept).unwrap();
    let outcome = setup(&scratch, &["--remove"]).with_code(0);
    assert!(outcome.out.contains(&format!("left `{}`", kept.display())), "{outcome}");
    assert!(kept.is_dir());
}

#[test]
fn killed_setup_leftovers_go() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &["--statusline", "--user-commands"]).code, Some(0));
    let (data, claude) = (scratch.data(), scratch.home().join(".claude"));
    // An earlier plugin, which had files that this one does not have, and parts of what is written.
    let earlier = data.join(".speckit-replaced-x/plugin");
    for folder in [data.join(".speckit-assembling-x"), earlier] {
        fs::create_dir_all(folder.join("commands")).unwrap();
        fs::write(folder.join("commands/of-old.md"), "").unwrap();
        let record = json!({"version": 1, "plugin": "speckit", "plugin_version": "0.9.0",
            "files": ["commands/of-old.md"]});
        fs::write(folder.join(".ralph-speckit-assembly.json"), record.to_string()).unwrap();
    }
    fs::create_dir(data.join(".speckit-assembling-y")).unwrap();
    fs::write(data.join(".speckit-assembling-y/LICENSE"), "a part").unwrap();
    for part in [
        data.join("bin/.spool-copy-x"),
        data.join(".setup.json.99999999.0.tmp"),
        claude.join(".settings.json.99999999.0.tmp"),
        claude.join("commands/.ralph-loop.md.99999999.0.tmp"),
    ] {
        fs::write(part, "a part").unwrap();
    }
    setup(&scratch, &["--remove"]).with_code(0);
    let left = files(&scratch.home());
    let registry = |path: &std::path::PathBuf| path.ends_with(".claude/asked");
    assert!(left.iter().all(registry), "{left:?}");
    assert!(!scratch.home().join(".local").exists());
}

#[test]
fn personal_files_are_named_and_left() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    for theirs in ["notes", ".speckit-assembling-x/notes"] {
        let theirs = scratch.data().join(theirs);
        fs::create_dir_all(theirs.parent().unwrap()).unwrap();
        fs::write(theirs, "of a person").unwrap();
    }
    let outcome = setup(&scratch, &["--remove"]).with_code(0);
    assert!(outcome.out.contains("in it is not of `spool setup`; remove it by hand"), "{outcome}");
    let left = files(&scratch.data());
    assert_eq!(left, [".speckit-assembling-x/notes", "notes"].map(std::path::PathBuf::from));
}

#[test]
fn two_setups_take_turns() {
    let scratch = with_claude();
    let one = || setup(&scratch, &["--user-commands"]);
    let said: Vec<Said> = thread::scope(|scope| {
        let setups: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        setups.into_iter().map(|setup| setup.join().unwrap()).collect()
    });
    for outcome in said {
        assert_eq!(outcome.code, Some(0), "{outcome}");
    }
    assert_eq!(changes_asked(&scratch).len(), 2, "added once, installed once");
    assert_eq!(setup(&scratch, &["--remove"]).code, Some(0));
    assert!(!scratch.home().join(".local").exists());
}

#[test]
fn setup_renews_a_stale_copy() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    changes_asked(&scratch);
    let copy = scratch.home().join(".claude/plugins/cache/ralph-speckit/speckit/1.0.0");
    fs::write(copy.join("bin/ralph-hook"), "of another build").unwrap();
    let outcome = setup(&scratch, &[]).with_code(0);
    assert!(outcome.out.contains("reinstalled the plugin"), "{outcome}");
    assert_eq!(
        changes_asked(&scratch),
        [
            "plugin uninstall --scope user --keep-data speckit@ralph-speckit",
            "plugin install --scope user speckit@ralph-speckit",
        ]
    );
}

#[test]
fn setup_switches_the_plugin_on_again() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    let registry = scratch.home().join(".claude/plugin");
    let off =
        fs::read_to_string(&registry).unwrap().replace("\"enabled\":true", "\"enabled\":false");
    fs::write(&registry, off).unwrap();
    changes_asked(&scratch);
    setup(&scratch, &[]).with_code(0);
    assert_eq!(changes_asked(&scratch), ["plugin enable --scope user speckit@ralph-speckit"]);
}

#[test]
fn dry_run_does_nothing() {
    let scratch = with_claude();
    let outcome = setup(&scratch, &["--dry-run"]).with_code(0);
    assert_eq!(
        outcome.out.lines().filter(|line| line.starts_with("would ")).count(),
        4,
        "{outcome}"
    );
    assert_eq!(changes_asked(&scratch), Vec::<String>::new());
    assert!(!scratch.home().join(".local").exists());

    assert_eq!(setup(&scratch, &[]).code, Some(0));
    changes_asked(&scratch);
    let before = tree(&scratch.data());
    let outcome = setup(&scratch, &["--remove", "--dry-run"]).with_code(0);
    assert_eq!(
        outcome.out.lines().filter(|line| line.starts_with("would ")).count(),
        6,
        "{outcome}"
    );
    assert_eq!(changes_asked(&scratch), Vec::<String>::new());
    assert_eq!(tree(&scratch.data()), before);

    let empty = Home::new();
    fs::create_dir_all(empty.data().join("bin")).unwrap();
    assert_eq!(setup(&empty, &["--remove", "--dry-run"]).code, Some(0));
    assert!(empty.data().join("bin").is_dir());
    assert_eq!(setup(&empty, &["--remove"]).code, Some(0));
    assert!(!empty.data().exists());
}

#[test]
fn json_steps_are_one_document() {
    let scratch = with_claude();
    let asked = |arguments: &[&str]| {
        let outcome = setup(&scratch, &[arguments, &["--json"]].concat());
        let document: Value =
            serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{outcome}"));
        holds("setup", &document);
        assert_eq!((outcome.code, &*outcome.err), (Some(0), ""), "{outcome}");
        let steps = document["steps"].as_array().unwrap().iter();
        (steps.map(|step| step["name"].clone()).collect::<Vec<_>>(), document)
    };
    let all = ["write_plugin", "copy_programs", "add_marketplace", "install"];
    let (would, dry) = asked(&["--dry-run"]);
    let (did, done) = asked(&[]);
    assert_eq!((&would, &did), (&all.map(Value::from).to_vec(), &would));
    assert_eq!((&dry["dry_run"], &dry["next"]), (&Value::from(true), &Value::Null));
    assert!(done["next"].as_str().unwrap().starts_with("restart Claude Code"), "{done:#}");
    let all =
        ["uninstall", "remove_marketplace", "remove_copy", "remove_plugin", "remove_programs"];
    let all = [&all[..], &["remove_install_record"]].concat();
    let (would, _) = asked(&["--remove", "--dry-run"]);
    let (did, removed) = asked(&["--remove"]);
    let all: Vec<Value> = all.into_iter().map(Value::from).collect();
    assert_eq!((&would, &did), (&all, &would));
    assert_eq!(
        (&removed["remove"], &removed["left"]),
        (&Value::from(true), &serde_json::json!([]))
    );
    let (nothing, again) = asked(&["--remove"]);
    assert_eq!((nothing.len(), again["left"].as_array().unwrap().len()), (0, 1), "{again:#}");

    let alone = Home::new();
    let outcome = setup(&alone, &["--json"]);
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    holds("setup", &document);
    let problem = document["problem"].as_str().unwrap();
    assert!(problem.contains("spool setup --claude PATH"), "{problem}");
    assert_eq!((outcome.code, &*outcome.err), (Some(1), ""), "{outcome}");
}

#[test]
fn without_claude_setup_says_next_step() {
    let scratch = Home::new();
    let outcome = setup(&scratch, &[]).with_code(1);
    let plugin = scratch.data().join("plugin");
    assert!(plugin.join("bin/ralph-hook").is_file());
    assert!(outcome.err.contains("no `claude` was found"), "{outcome}");
    outcome.err.has(&format!("claude --plugin-dir '{}'", plugin.display()));

    setup(&scratch, &["--remove"]).with_code(0);
    assert!(tree(&scratch.home()).is_empty());
}

#[test]
fn a_claude_that_refuses_is_quoted() {
    let mut scratch = with_claude();
    scratch.set("FAKE_FAULT", "the moon is in the wrong house");
    let outcome = setup(&scratch, &[]).with_code(1);
    assert!(outcome.err.contains("the moon is in the wrong house"), "{outcome}");
    assert!(outcome.err.contains("run `spool setup` again"), "{outcome}");

    // What was done until then can be taken away.
    setup(&scratch, &["--remove"]).with_code(0);
    assert!(!scratch.home().join(".local").exists());
    assert!(!scratch.home().join(".claude/market").exists());
}

#[test]
fn old_claude_is_refused_first() {
    let mut scratch = with_claude();
    scratch.set("FAKE_VERSION", "2.1.142");
    let outcome = setup(&scratch, &[]).with_code(1);
    assert!(outcome.err.contains("2.1.142 is too old"), "{outcome}");
    assert!(!scratch.home().join(".local").exists());
}

#[test]
fn foreign_marketplace_is_left_alone() {
    let scratch = with_claude();
    let theirs = r#"[{"name":"ralph-speckit","source":"github","repo":"somebody/ralph-speckit"}]"#;
    let registry = scratch.write("home/.claude/market", theirs);
    let outcome = setup(&scratch, &[]).with_code(1);
    assert!(outcome.err.contains("claude plugin marketplace remove ralph-speckit"), "{outcome}");
    assert!(!scratch.home().join(".local").exists());
    assert_eq!(fs::read_to_string(registry).unwrap(), theirs);
}

#[test]
fn foreign_program_is_not_overwritten() {
    let scratch = with_claude();
    scratch.write("home/.local/share/ralph-speckit/bin/spool", "mine");
    let before = tree(&scratch.data());
    let outcome = setup(&scratch, &[]).with_code(1);
    assert!(outcome.err.contains("move it away"), "{outcome}");
    assert_eq!(tree(&scratch.data()), before);
}

#[test]
fn unreadable_install_record_is_kept() {
    let scratch = with_claude();
    scratch.write("home/.local/share/ralph-speckit/setup.json", "{half");
    for arguments in [&[] as &[&str], &["--remove"]] {
        let outcome = setup(&scratch, arguments).with_code(1);
        assert!(outcome.err.contains("could not understand"), "{outcome}");
    }
    assert_eq!(fs::read_to_string(scratch.data().join("setup.json")).unwrap(), "{half");
}

#[test]
fn later_install_notes_are_kept() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    let path = scratch.data().join("setup.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["later"] = "kept".into();
    record["registrations"][0]["later"] = "kept".into();
    fs::write(&path, record.to_string()).unwrap();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    let record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["later"], "kept");
    assert_eq!(record["registrations"][0]["later"], "kept");
}

#[test]
fn install_record_removes_no_other_folder() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    let theirs = scratch.write("precious/notes.txt", "mine");
    fs::create_dir(scratch.top().join("precious empty")).unwrap();
    let path = scratch.data().join("setup.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let folder = theirs.parent().unwrap().to_str().unwrap();
    record["registrations"][0]["copies"].as_array_mut().unwrap().push(folder.into());
    record["programs"].as_array_mut().unwrap().push("../../../../../precious/notes.txt".into());
    let empty = scratch.top().join("precious empty");
    record["made_folders"] = serde_json::json!([empty]);
    fs::write(&path, record.to_string()).unwrap();
    setup(&scratch, &["--remove"]).with_code(0);
    assert_eq!(fs::read_to_string(theirs).unwrap(), "mine");
    assert!(empty.is_dir());
}

#[test]
fn stray_plugin_file_stops_the_removal() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    scratch.write("home/.local/share/ralph-speckit/plugin/notes.txt", "mine");
    changes_asked(&scratch);
    let outcome = setup(&scratch, &["--remove"]).with_code(1);
    assert!(outcome.err.contains("`notes.txt`"), "{outcome}");
    assert_eq!(changes_asked(&scratch), Vec::<String>::new());
}

#[test]
fn remove_without_claude_remembers_the_rest() {
    let mut scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    scratch.set("PATH", "/usr/bin:/bin");
    let outcome = setup(&scratch, &["--remove"]).with_code(1);
    assert!(outcome.err.contains("spool setup --remove --claude PATH"), "{outcome}");
    assert!(!scratch.data().join("plugin").exists());
    assert!(!scratch.data().join("bin").exists());

    let claude = scratch.top().join("client/claude");
    setup(&scratch, &["--remove", "--claude", claude.to_str().unwrap()]).with_code(0);
    assert!(!scratch.home().join(".local").exists());
    assert!(!scratch.home().join(".claude/plugin").exists());
    assert!(!scratch.home().join(".claude/market").exists());
}

#[test]
fn remove_without_setup_does_nothing() {
    let scratch = with_claude();
    let outcome = setup(&scratch, &["--remove"]).with_code(0);
    assert!(outcome.out.starts_with("nothing to remove"), "{outcome}");
}

#[test]
fn agent_removes_no_plugin() {
    let mut scratch = with_claude();
    setup(&scratch, &[]).with_code(0);
    changes_asked(&scratch);
    let installed = tree(&scratch.home());
    scratch.set("CLAUDECODE", "1");
    let outcome = setup(&scratch, &["--remove"]).with_code(1);
    assert!(outcome.err.contains("only a person removes it"), "{outcome}");
    assert_eq!(tree(&scratch.home()), installed);
    let outcome = setup(&scratch, &["--remove", "--dry-run"]).with_code(0);
    assert!(outcome.out.contains("would uninstall the plugin"), "{outcome}");
    scratch.unset("CLAUDECODE");
    setup(&scratch, &["--remove"]).with_code(0);
}

#[test]
fn user_commands_come_and_go() {
    let scratch = with_claude();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    let folder = scratch.home().join(".claude/commands");
    assert!(!folder.exists(), "nobody asked for them");

    let outcome = setup(&scratch, &["--user-commands", "--dry-run"]);
    assert!(outcome.out.contains("would write the commands /ralph-loop"), "{outcome}");
    assert!(!folder.exists());
    setup(&scratch, &["--user-commands"]).with_code(0);
    let names = ["cancel-ralph.md", "ralph-loop.md", "ulw-loop.md"];
    assert_eq!(files(&folder), names.map(std::path::PathBuf::from));
    let text = fs::read_to_string(folder.join("ralph-loop.md")).unwrap();
    assert!(text.starts_with("---\ndescription: Keep this session at one task"), "{text}");

    // An update renews them without being asked again.
    fs::write(folder.join("ralph-loop.md"), text.replace("Keep this", "Hold this")).unwrap();
    assert_eq!(setup(&scratch, &[]).code, Some(0));
    assert_eq!(fs::read_to_string(folder.join("ralph-loop.md")).unwrap(), text);

    setup(&scratch, &["--remove"]).with_code(0);
    assert!(!folder.exists());
    assert!(!scratch.home().join(".local").exists());
}

#[test]
fn personal_command_is_never_touched() {
    for theirs in ["commands/ralph-loop.md", "skills/ulw-loop/SKILL.md"] {
        let scratch = with_claude();
        let path = scratch.write(format!("home/.claude/{theirs}"), "mine");
        let outcome = setup(&scratch, &["--user-commands"]).with_code(1);
        assert!(outcome.err.contains("leave --user-commands out"), "{outcome}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        assert!(!scratch.home().join(".local").exists(), "nothing was done");
        assert!(!scratch.home().join(".claude/commands/cancel-ralph.md").exists());
    }
    let scratch = with_claude();
    scratch.write("home/.claude/commands/other.md", "mine");
    assert_eq!(setup(&scratch, &["--user-commands"]).code, Some(0));
    let path = scratch.write("home/.claude/commands/ralph-loop.md", "mine by now");
    let outcome = setup(&scratch, &["--remove"]).with_code(0);
    assert!(outcome.err.contains("left alone: "), "{outcome}");
    assert!(outcome.out.contains("removed /cancel-ralph, /ulw-loop from `"), "{outcome}");
    assert!(!outcome.out.contains("the commands"), "{outcome}");
    assert_eq!(fs::read_to_string(path).unwrap(), "mine by now");
    let left = files(&scratch.home().join(".claude/commands"));
    assert_eq!(left, ["other.md", "ralph-loop.md"].map(std::path::PathBuf::from));
}

#[test]
fn user_commands_go_without_claude() {
    let mut scratch = with_claude();
    assert_eq!(setup(&scratch, &["--user-commands"]).code, Some(0));
    scratch.set("PATH", "/usr/bin:/bin");
    setup(&scratch, &["--remove"]).with_code(1);
    assert!(!scratch.home().join(".claude/commands").exists());
}

#[test]
fn status_line_goes_byte_for_byte() {
    let scratch = with_claude();
    let settings = scratch.home().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let theirs = "{\n  // mine\n  \"model\": \"opus\", \"unknown\": [1]\n}\n";
    fs::write(&settings, theirs).unwrap();
    let outcome = setup(&scratch, &["--statusline", "--dry-run"]);
    assert!(outcome.out.contains("would write the status line to `"), "{outcome}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), theirs);

    let outcome = setup(&scratch, &["--statusline"]).with_code(0);
    assert!(outcome.out.contains("wrote the status line to `"), "{outcome}");
    let spool = scratch.data().join("bin/spool").display().to_string();
    let command = format!("\"'{spool}' statusline\"");
    let text = fs::read_to_string(&settings).unwrap();
    assert_eq!(
        text,
        theirs.replacen(
            '{',
            &format!("{{\n  \"statusLine\": {{\"type\": \"command\", \"command\": {command}}},"),
            1
        )
    );
    setup(&scratch, &["--statusline"]).with_code(0);
    assert_eq!(fs::read_to_string(&settings).unwrap(), text, "once is enough");

    let outcome = setup(&scratch, &["--remove"]);
    assert!(outcome.out.contains("removed the status line from `"), "{outcome}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), theirs);
}

#[test]
fn removal_is_silent_about_changed_files() {
    for (theirs, says) in [
        (Some(r#"{"statusLine": {"type": "command", "command": "theirs"}}"#), "left alone: "),
        (Some("{}"), ""),
        (None, ""),
    ] {
        let scratch = with_claude();
        let settings = scratch.home().join(".claude/settings.json");
        assert_eq!(setup(&scratch, &["--statusline", "--user-commands"]).code, Some(0));
        fs::remove_file(&settings).unwrap();
        fs::remove_dir_all(scratch.home().join(".claude/commands")).unwrap();
        if let Some(theirs) = theirs {
            fs::write(&settings, theirs).unwrap();
        }
        let outcome = setup(&scratch, &["--remove"]).with_code(0);
        assert!(outcome.err.contains(says), "{outcome}");
        assert!(!outcome.out.contains("status line"), "{outcome}");
        assert!(!outcome.out.contains("the commands"), "{outcome}");
    }
}

#[test]
fn foreign_status_line_is_left_alone() {
    for (theirs, says) in [
        (
            r#"{"statusLine": {"type": "command", "command": "theirs"}}"#,
            "it stays as it is: theirs",
        ),
        ("{ broken", "could not understand"),
    ] {
        let scratch = with_claude();
        let settings = scratch.write("h/x", theirs);
        let config = scratch.home().join(".claude");
        fs::create_dir_all(&config).unwrap();
        fs::rename(settings, config.join("settings.json")).unwrap();
        let outcome = setup(&scratch, &["--statusline"]);
        assert!(outcome.clone().refused().contains(says), "{outcome}");
        assert_eq!(fs::read_to_string(config.join("settings.json")).unwrap(), theirs);
        assert!(!scratch.data().exists(), "nothing was changed");
    }
}
