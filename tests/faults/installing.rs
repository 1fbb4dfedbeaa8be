//! `spool setup` and `spool plugin build`: what must hold when something breaks while a plugin is written or removed.

use std::fs;
use std::path::PathBuf;

use ralph_speckit::plugin::files::FILES;

use super::story::{Case, Outcome, Story, ensure, same};
use super::world::{Call, World};

/// The programs of a plugin, and where they come from.
const PROGRAMS: [(&str, &str); 2] = [
    ("bin/spool", env!("CARGO_BIN_EXE_spool")),
    ("bin/ralph-hook", env!("CARGO_BIN_EXE_ralph-hook")),
];

/// A `claude` that knows what was asked of it.
const CLAUDE: &str = r#"#!/bin/sh
registry=$HOME/.claude
mkdir -p "$registry"
case "$*" in
  --version) echo "2.1.332 (Claude Code)" ;;
  "plugin list --json") if [ -e "$registry/plugin" ]; then cat "$registry/plugin"; else echo "[]"; fi ;;
  "plugin marketplace list --json")
    if [ -e "$registry/market" ]; then cat "$registry/market"; else echo "[]"; fi ;;
  "plugin marketplace add --scope user "*)
    printf '[{"name":"ralph-speckit","source":"directory","path":"%s"}]\n' "${6}" >"$registry/market" ;;
  "plugin marketplace remove ralph-speckit") rm -f "$registry/market" ;;
  "plugin install --scope user speckit@ralph-speckit")
    printf '[{"id":"speckit@ralph-speckit","version":"1.0.0","scope":"user","enabled":true,"installPath":"%s"}]\n' \
      "$HOME/.local/share/ralph-speckit/plugin" >"$registry/plugin" ;;
  "plugin uninstall "*) rm -f "$registry/plugin" ;;
  *) ;;
esac
"#;

/// The stories of the plugin; they write the programs themselves, which takes time and room.
pub fn stories() -> Vec<Story> {
    let story = |name, before, call, judge| Story {
        stride_of_looks: 40,
        stride_of_changes: 6,
        ..Story::new(name, before, call, judge)
    };
    vec![
        story("spool setup", with_claude, setup, installs),
        story("spool setup --remove", installed, remove, removes),
        Story { stride_of_changes: 11, ..story("spool plugin build", |_| {}, build, builds) },
        Story {
            stride_of_changes: 11,
            ..story("spool plugin build, again", built, build, replaces)
        },
        story("spool plugin build, foreign", foreign, build, refuses),
    ]
}

fn with_claude(world: &World) {
    world.executable("home/claude", CLAUDE);
}

fn installed(world: &World) {
    with_claude(world);
    let run = world.plain(&setup(world));
    assert_eq!(run.code, Some(0), "{run:?}");
}

fn setup(_: &World) -> Call {
    Call::spool(None, &["setup", "--claude", "../home/claude"])
}

fn remove(_: &World) -> Call {
    Call::spool(None, &["setup", "--remove", "--claude", "../home/claude"])
}

/// Where a plugin is built; not among the files that are looked through after each run.
const FOLDER: &str = "../home/.local/share/built/plugin";
/// A file of the plugin, and what an earlier version had in its place.
const PART: &str = "commands/implement.md";
const EARLIER: &str = "of an earlier version";

fn build(_: &World) -> Call {
    Call::spool(None, &["plugin", "build", FOLDER])
}

fn built(world: &World) {
    let run = world.plain(&build(world));
    assert_eq!(run.code, Some(0), "{run:?}");
    fs::write(plugin(world).join(PART), EARLIER).unwrap();
}

fn foreign(world: &World) {
    fs::create_dir_all(plugin(world)).unwrap();
    fs::write(plugin(world).join("notes.txt"), EARLIER).unwrap();
}

fn plugin(world: &World) -> PathBuf {
    world.path(FOLDER)
}

/// What is in the folder beside the plugin.
fn beside(world: &World) -> Vec<String> {
    let entries = fs::read_dir(plugin(world).parent().unwrap()).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Every file of the plugin is there, those of this version or those of the earlier one.
fn is_a_plugin(world: &World, earlier: bool, when: &str) -> Outcome {
    for (copy, of) in PROGRAMS {
        let length = |path: PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
        same(&length(plugin(world).join(copy)), &length(of.into()), &format!("{when}: {copy}"))?;
    }
    for file in FILES {
        let found = fs::read(plugin(world).join(file.path)).unwrap_or_default();
        let is_earlier = earlier && file.path == PART && found == EARLIER.as_bytes();
        let is_right = is_earlier || found == file.content;
        ensure(is_right, &format!("{when}: `{}` is not whole", file.path))?;
    }
    Ok(())
}

fn builds(case: &Case<'_>) -> Outcome {
    if !case.acknowledged() && !case.killed() && !case.cannot_undo() && !case.is_mute() {
        ensure(!plugin(case.world).exists(), "it is refused, and something is there")?;
    }
    is_built(case)
}

fn replaces(case: &Case<'_>) -> Outcome {
    is_a_plugin(case.world, true, "one in the place of another")?;
    is_built(case)
}

/// It is there where it says so, and in any case after another try.
fn is_built(case: &Case<'_>) -> Outcome {
    if case.acknowledged() {
        is_a_plugin(case.world, false, "it says built")?;
    }
    let again = case.later(case.call);
    same(&again.code, &Some(0), "built again: its code")?;
    is_a_plugin(case.world, false, "built again")?;
    same(&beside(case.world), &vec!["plugin".to_owned()], "built again, and litter stays")
}

fn refuses(case: &Case<'_>) -> Outcome {
    ensure(case.run.code != Some(0), "it says built, over a file of somebody else")?;
    let kept = fs::read(plugin(case.world).join("notes.txt")).unwrap_or_default();
    same(&kept, &EARLIER.as_bytes().to_vec(), "a file of somebody else")?;
    same(&beside(case.world), &vec!["plugin".to_owned()], "refused, and something is beside it")
}

fn data(world: &World) -> PathBuf {
    world.beside("home/.local/share/ralph-speckit")
}

fn is_whole(world: &World, when: &str) -> Outcome {
    for (copy, of) in PROGRAMS {
        let length = |path: PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
        same(&length(data(world).join(copy)), &length(of.into()), &format!("{when}: {copy}"))?;
    }
    ensure(data(world).join("setup.json").is_file(), &format!("{when}: no install record"))
}

fn installs(case: &Case<'_>) -> Outcome {
    if case.acknowledged() {
        is_whole(case.world, "it says installed")?;
    }
    let again = case.later(case.call);
    same(&again.code, &Some(0), "installed again: its code")?;
    is_whole(case.world, "installed again")?;
    let removed = case.later(&remove(case.world));
    same(&removed.code, &Some(0), "removed afterwards: its code")?;
    ensure(!data(case.world).exists(), "removed afterwards, and something is left")
}

fn removes(case: &Case<'_>) -> Outcome {
    if case.acknowledged() && !case.said("left `") {
        ensure(!data(case.world).exists(), "it says removed, and something is left")?;
    }
    let again = case.later(case.call);
    same(&again.code, &Some(0), "removed again: its code")?;
    ensure(!data(case.world).exists(), "removed again, and something is left")
}
