//! What `cargo publish` would upload, and what `cargo binstall` is told.

use crate::VERSION;
use crate::support::limited::Limited;
use crate::support::scratch::checkout;
use std::fs;
use std::process::Command;

use ralph_speckit::plugin::files::FILES;

/// What cargo would upload, one path a line.
fn listed() -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(checkout())
        .finish();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn cargo_uploads_only_what_is_built() {
    let listed = listed();
    let kinds = [
        "src/",
        ".cargo/config.toml",
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "schemas/",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "Cargo.toml.orig",
        ".cargo_vcs_info.json",
    ];
    for path in &listed {
        let is_of_plugin = FILES.iter().any(|file| file.path == path);
        assert!(
            is_of_plugin || kinds.iter().any(|kind| path.starts_with(kind)),
            "{path} is uploaded"
        );
    }
    for file in FILES {
        assert!(listed.iter().any(|path| path == file.path), "{} is missing", file.path);
    }
}

#[test]
fn cargo_binstall_finds_the_archives() {
    let manifest: toml::Table =
        fs::read_to_string(checkout().join("Cargo.toml")).unwrap().parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let fill = |text: &toml::Value, target: &str| {
        let text =
            text.as_str().unwrap().replace("{ version }", VERSION).replace("{ repo }", "REPO");
        text.replace("{ bin }", "spool").replace("{ binary-ext }", "").replace("{ target }", target)
    };
    let overrides = binstall["overrides"].as_table().unwrap();
    assert_eq!(overrides.len(), 5);
    let script = fs::read_to_string(checkout().join("scripts/release")).unwrap();
    for (target, entry) in overrides {
        let line = script
            .lines()
            .find(|line| line.ends_with(&format!("echo {target} ;;")))
            .unwrap_or_else(|| panic!("{target}"));
        let platform = line.trim().split(')').next().unwrap();
        let kind = if platform.starts_with("windows") { "zip" } else { "tar.gz" };
        assert_eq!(
            fill(&entry["pkg-url"], target),
            format!("REPO/releases/download/v{VERSION}/ralph-speckit-{VERSION}-{platform}.{kind}")
        );
        let inside = if kind == "zip" {
            "spool".to_owned()
        } else {
            format!("ralph-speckit-{VERSION}-{platform}/spool")
        };
        assert_eq!(fill(&entry["bin-dir"], target), inside);
    }
}
