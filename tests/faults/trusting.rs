//! `spool trust`: what must hold when something breaks while a person's word is written down.

use std::fs;

use serde_json::{Value, json};

use super::story::{Case, Outcome, Story, ensure, same};
use super::world::{Call, World};

const KEPT: &str = "../home/.local/state/ralph-speckit/trust.json";
/// What the person trusts in another project.
const ELSEWHERE: &str = "/somewhere/else";

pub fn stories() -> Vec<Story> {
    vec![
        Story::new("spool trust", with_commands, trust, trusts),
        Story::new("spool trust, other commands", trusted_before, trust, trusts_others),
        Story::new("spool trust --remove", trusted, remove, removes),
        Story::new("spool trust --list", trusted, list, only_looks),
    ]
}

fn with_commands(world: &World) {
    world.write(".claude/ralph-speckit.local.md", "---\nchecks:\n  - test -d src\n  - true\n---\n");
    world.write(".spool/ralph.toml", "check = [\"test -d work\"]\n");
}

/// Another project is trusted too, and nothing of it is lost.
fn trusted(world: &World) {
    with_commands(world);
    let run = world.plain(&trust(world));
    assert_eq!(run.code, Some(0), "{run:?}");
    let mut kept: Value = serde_json::from_slice(&fs::read(world.path(KEPT)).unwrap()).unwrap();
    let other = json!({"project": ELSEWHERE, "file": "x", "commands": ["make"], "at": 1});
    kept["trusted"].as_array_mut().unwrap().push(other);
    fs::write(world.path(KEPT), kept.to_string()).unwrap();
}

fn trusted_before(world: &World) {
    trusted(world);
    world.write(".claude/ralph-speckit.local.md", "---\nchecks:\n  - test -d other\n---\n");
    world.write(".spool/ralph.toml", "check = [\"test -d others\"]\n");
}

fn trust(_: &World) -> Call {
    Call::spool(None, &["trust", "--yes"])
}

fn remove(_: &World) -> Call {
    Call::spool(None, &["trust", "--remove"])
}

fn list(_: &World) -> Call {
    Call::spool(None, &["trust", "--list"])
}

/// The commands that are trusted, in this project and in the other one.
fn kept(world: &World) -> (Vec<String>, Vec<String>) {
    let kept = fs::read(world.path(KEPT)).unwrap_or_default();
    let kept: Value = serde_json::from_slice(&kept).unwrap_or_default();
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    for entry in kept["trusted"].as_array().into_iter().flatten() {
        let commands = entry["commands"].as_array().into_iter().flatten();
        let commands = commands.map(|command| command.as_str().unwrap_or_default().to_owned());
        if entry["project"] == ELSEWHERE { &mut elsewhere } else { &mut here }.extend(commands);
    }
    (here, elsewhere)
}

/// The commands that the files of the project name now.
fn named(world: &World) -> Vec<String> {
    let all =
        ["test -d src", "true", "check = test -d work", "test -d other", "check = test -d others"];
    let runner = fs::read_to_string(world.path(".spool/ralph.toml")).unwrap();
    let is_new = runner.contains("others");
    all.iter()
        .filter(|command| command.contains("other") == is_new)
        .map(|&command| command.to_owned())
        .collect()
}

/// What the person trusts elsewhere is as it was.
fn others_are_kept(case: &Case<'_>) -> Outcome {
    same(&kept(case.world).1, &vec!["make".to_owned()], "what is trusted elsewhere")
}

fn trusts_others(case: &Case<'_>) -> Outcome {
    others_are_kept(case)?;
    trusts(case)?;
    others_are_kept(case)
}

fn trusts(case: &Case<'_>) -> Outcome {
    let (here, named) = (kept(case.world).0, named(case.world));
    let is_new = here.iter().any(|command| named.contains(command));
    if case.acknowledged() {
        same(&here, &named, "it says trusted: the commands")?;
    } else if !case.killed() && !case.is_mute() {
        ensure(!is_new, "it says that it failed, and something is trusted")?;
    }
    ensure(!is_new || here == named, "half of it is trusted")?;
    let again = case.later(case.call);
    same(&again.code, &Some(0), "trusted again: its code")?;
    same(&kept(case.world).0, &named, "trusted again: the commands")
}

fn removes(case: &Case<'_>) -> Outcome {
    let is_gone = kept(case.world).0.is_empty();
    if case.acknowledged() {
        ensure(is_gone, "it says removed, and it is trusted")?;
    } else if !case.killed() && !case.is_mute() {
        ensure(!is_gone, "it says that it failed, and nothing is trusted")?;
    }
    others_are_kept(case)?;
    let again = case.later(case.call);
    same(&again.code, &Some(0), "removed again: its code")?;
    ensure(kept(case.world).0.is_empty(), "removed again, and it is trusted")?;
    others_are_kept(case)
}

fn only_looks(case: &Case<'_>) -> Outcome {
    if case.acknowledged() {
        for command in ["test -d src", "test -d work", "make"] {
            ensure(case.said(command), &format!("`{command}` is not listed"))?;
        }
    }
    same(&kept(case.world).0, &named(case.world), "what only looks has changed something")?;
    others_are_kept(case)
}
