//! `spool setup`: what must hold when something breaks while the plugin is installed or removed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::story::{Case, Outcome, Story, ensure, same};
use super::world::{Call, World};

/// A `claude` that knows what was asked of it.
const CLAUDE: &str = r#"#!/bin/sh
registry=$HOME/.claude
mkdir -p "$registry"
case "$*" in
  --version) echo "2.1.330 (Claude Code)" ;;
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

/// Returns the stories of `spool setup`; they write the programs themselves, which takes time and room.
pub fn stories() -> Vec<Story> {
    let story = |name, before, call, judge| Story {
        stride: 40,
        long_stride: 6,
        ..Story::new(name, before, call, judge)
    };
    vec![
        story("spool setup", with_claude, setup, installs),
        story("spool setup --remove", installed, remove, removes),
    ]
}

fn with_claude(world: &World) {
    let path = world.top().join("home/claude");
    fs::write(&path, CLAUDE).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
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

fn data(world: &World) -> PathBuf {
    world.top().join("home/.local/share/ralph-speckit")
}

fn is_whole(world: &World, when: &str) -> Outcome {
    for (copy, of) in [
        ("bin/spool", env!("CARGO_BIN_EXE_spool")),
        ("bin/ralph-hook", env!("CARGO_BIN_EXE_ralph-hook")),
    ] {
        let length = |path: PathBuf| fs::metadata(path).map_or(0, |meta| meta.len());
        same(&length(data(world).join(copy)), &length(of.into()), &format!("{when}: {copy}"))?;
    }
    ensure(data(world).join("setup.json").is_file(), &format!("{when}: no receipt"))
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
