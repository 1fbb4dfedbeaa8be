//! The crates that this is built from, held against `deny.toml` without any other program than cargo; and the
//! actions of the workflows.

use crate::support::limited::Limited;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::plugin::scratch::{checkout, files};

fn text(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn rules() -> toml::Table {
    text("deny.toml").parse().unwrap()
}

/// The strings of a list of `deny.toml`; of tables, their `crate`.
fn list(section: &str, key: &str) -> Vec<String> {
    let values = rules()[section][key].as_array().unwrap().clone();
    let name = |value: toml::Value| match value {
        toml::Value::String(name) => name,
        value => value["crate"].as_str().unwrap().to_owned(),
    };
    values.into_iter().map(name).collect()
}

/// All crates of the lock file that any build or test uses, as `cargo metadata` tells of them.
fn crates() -> Vec<Value> {
    // Crates that only other systems need may never have been downloaded here: then they are.
    let metadata = metadata(&["--offline"]).or_else(|_| metadata(&[])).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 30, "{} crates", packages.len());
    packages
}

fn metadata(more: &[&str]) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--all-features", "--format-version", "1"])
        .args(more)
        .current_dir(checkout())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let words = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| words())
}

/// Whether a license of these is enough for what an SPDX expression asks.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    // No crate nests deeper than `(A OR B) AND C`.
    expression.split(" AND ").all(|part| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.split(" OR ").any(|license| allowed.iter().any(|known| known == license.trim()))
    })
}

#[test]
fn s10_crate_licenses_are_allowed() {
    let allowed = list("licenses", "allow");
    for package in crates() {
        let license = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(license, &allowed), "{}: `{license}`", package["name"]);
    }
    assert!(!is_allowed("GPL-3.0", &allowed) && !is_allowed("", &allowed));
    assert!(!is_allowed("(MIT OR Apache-2.0) AND GPL-3.0", &allowed));
}

#[test]
fn s10_crates_come_with_checksums() {
    let allowed = list("sources", "allow-registry");
    let mut own = 0;
    for package in crates() {
        match package["source"].as_str() {
            None => own += 1,
            Some(source) => {
                let registry = source.strip_prefix("registry+").unwrap_or_default();
                assert!(
                    allowed.iter().any(|known| known == registry),
                    "{}: {source}",
                    package["name"]
                );
            }
        }
    }
    assert_eq!(own, 2, "only this crate and its helper for tests have no source");
    let lock: toml::Table = text("Cargo.lock").parse().unwrap();
    for package in lock["package"].as_array().unwrap() {
        assert!(
            package.get("checksum").is_some() == package.get("source").is_some(),
            "{}",
            package["name"]
        );
    }
}

/// The names and versions of the crates that are built on this system, for programs and tests.
fn built() -> BTreeSet<(String, String)> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--all-features", "--prefix", "none", "--format", "{p}"])
        .current_dir(checkout())
        .stdin(Stdio::null())
        .finish();
    let text = String::from_utf8(output.stdout).unwrap();
    let named = text.lines().filter_map(|line| line.split_once(" v"));
    let version = |rest: &str| rest.split(' ').next().unwrap_or_default().to_owned();
    let built: BTreeSet<_> = named.map(|(name, rest)| (name.to_owned(), version(rest))).collect();
    assert!(built.len() > 30, "{built:?} {}", String::from_utf8_lossy(&output.stderr));
    built
}

#[test]
fn s10_crates_are_allowed_and_single() {
    let banned = list("bans", "deny");
    for package in crates() {
        let name = package["name"].as_str().unwrap().to_owned();
        assert!(!banned.contains(&name), "{name} is banned in deny.toml");
    }
    let twice = list("bans", "skip");
    let mut names = BTreeSet::new();
    for (name, version) in built() {
        let skipped = twice.contains(&format!("{name}@{version}"));
        assert!(skipped || names.insert(name.clone()), "{name} is there in two versions");
    }
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    for (name, wanted) in manifest["dependencies"].as_table().unwrap() {
        let version = wanted.get("version").unwrap_or(wanted).as_str().unwrap();
        assert!(!version.contains('*'), "{name} = {version}");
    }
}

#[test]
fn s10_workflow_actions_are_pinned() {
    let folder = ".github/workflows";
    let mut seen = 0;
    for path in files(&checkout().join(folder)) {
        let path = format!("{folder}/{}", path.display());
        for line in text(&path).lines() {
            let Some((_, used)) = line.split_once("uses:") else { continue };
            // A workflow of this repository comes with the commit that calls it.
            if used.trim().starts_with("./") {
                continue;
            }
            let (action, version) = used.trim().split_once(" # ").unwrap_or((used.trim(), ""));
            let commit = action.split_once('@').map_or("", |(_, commit)| commit);
            let is_commit =
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit, "{path}: `{action}` is no commit");
            assert!(version.starts_with('v'), "{path}: {action} does not say its version");
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen} actions");
}

/// GitHub runs nothing of a workflow that is no YAML, and says so only there.
#[test]
fn every_workflow_is_yaml() {
    let folder = ".github/workflows";
    for path in files(&checkout().join(folder)) {
        let path = format!("{folder}/{}", path.display());
        let text = text(&path);
        for event in granit_parser::Parser::new_from_str(&text) {
            event.unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
    let wrong = granit_parser::Parser::new_from_str("run: cargo test -- windows:: hook").last();
    assert!(wrong.unwrap().is_err(), "the reader sees what it is there for");
}
