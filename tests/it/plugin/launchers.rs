//! The launchers of a plain checkout: they find the compiled program, or say once how to get it.

use crate::support::limited::Limited;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::plugin::scratch::{HOOK, Home, checkout};

/// Copies a launcher to where no build lies beside it.
fn launcher(scratch: &Home, name: &str) -> PathBuf {
    scratch.copy(checkout().join("bin").join(name), &format!("check out/bin/{name}"))
}

/// A program that says which one it is and what it was given.
fn program(scratch: &Home, path: &str, says: &str) -> PathBuf {
    scratch.script(path, &format!("echo {says}; for word; do echo \"<$word>\"; done"))
}

#[test]
fn places_are_searched_in_order() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    scratch.search_first("on path");
    let places = [
        ("home/.local/share/ralph-speckit/bin/spool", "installed"),
        ("on path/spool", "on-path"),
        ("home/.cargo/bin/spool", "cargo"),
        ("check out/target/some-triple/release/spool", "triple"),
        ("check out/target/release/spool", "release"),
    ];
    for (path, says) in places {
        program(&scratch, path, says);
    }
    for (path, says) in places {
        let outcome = scratch.run(&launcher, &[]);
        assert_eq!(outcome.out, format!("{says}\n"), "{outcome}");
        fs::remove_file(scratch.top().join(path)).unwrap();
    }
    assert_eq!(scratch.run(&launcher, &[]).code, Some(127));
}

#[test]
fn xdg_data_home_says_where_the_installed_program_is() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    program(&scratch, "home/.local/share/ralph-speckit/bin/spool", "default");
    program(&scratch, "elsewhere/ralph-speckit/bin/spool", "elsewhere");
    let folder = scratch.top().join("elsewhere");
    scratch.set("XDG_DATA_HOME", folder);
    assert_eq!(scratch.run(&launcher, &[]).out, "elsewhere\n");
}

#[test]
fn arguments_input_and_exit_code_go_through_unchanged() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    scratch.script(
        "home/.local/share/ralph-speckit/bin/spool",
        "for word; do echo \"<$word>\"; done; cat; exit 7",
    );
    let outcome =
        scratch.run_with_input(&launcher, &["two words", "*", "", "$(touch x)", "-n"], "input\n");
    assert_eq!(outcome.out, "<two words>\n<*>\n<>\n<$(touch x)>\n<-n>\ninput\n", "{outcome}");
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(7), ""));
    assert!(!scratch.top().join("x").exists());
}

#[test]
fn a_real_hook_is_started() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "ralph-hook");
    scratch.copy(HOOK, "home/.local/share/ralph-speckit/bin/ralph-hook");
    let outcome = scratch.run_with_input(&launcher, &[], "{}");
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), ""), "{outcome}");
}

#[test]
fn another_launcher_on_path_is_not_taken_for_the_program() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    scratch.copy(checkout().join("bin/spool"), "other/spool");
    scratch.search_first("other");
    assert_eq!(scratch.run(&launcher, &[]).code, Some(127));

    // Behind it, the program is still found.
    program(&scratch, "home/.cargo/bin/spool", "cargo");
    assert_eq!(scratch.run(&launcher, &[]).out, "cargo\n");
}

#[test]
fn what_is_no_program_is_passed_over() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    fs::create_dir_all(scratch.data().join("bin/spool")).unwrap();
    let plain = program(&scratch, "home/.cargo/bin/spool", "cargo");
    fs::set_permissions(plain, fs::Permissions::from_mode(0o644)).unwrap();
    program(&scratch, "check out/target/release/spool", "release");
    assert_eq!(scratch.run(&launcher, &[]).out, "release\n");
}

#[test]
fn a_relative_folder_on_path_is_not_searched() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    program(&scratch, "spool", "from the project");
    program(&scratch, "bin/spool", "from the project");
    scratch.set("PATH", ".:bin::/usr/bin:/bin");
    assert_eq!(scratch.run(&launcher, &[]).code, Some(127));
}

#[test]
fn spool_without_its_program_says_how_to_get_it() {
    let scratch = Home::new();
    let outcome = scratch.run(launcher(&scratch, "spool"), &["status"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(127), ""), "{outcome}");
    assert!(outcome.err.contains("cargo install --path ."), "{outcome}");
}

#[test]
fn the_hook_without_its_program_lets_the_stop_through_and_says_so_once() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "ralph-hook");
    let folder = scratch.top().join("plugin data");
    scratch.set("CLAUDE_PLUGIN_DATA", folder);
    let event = format!("{{\"hook_event_name\":\"Stop\",\"filler\":\"{}\"}}", "x".repeat(300_000));

    let first = scratch.run_with_input(&launcher, &[], &event);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first}");
    assert_eq!(first.out.lines().count(), 1, "{first}");
    let said: Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!(said.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    assert!(said["systemMessage"].as_str().unwrap().contains("cargo install --path ."));

    let second = scratch.run_with_input(&launcher, &[], &event);
    assert_eq!((second.code, second.out.as_str(), second.err.as_str()), (Some(0), "", ""));
    assert!(scratch.top().join("plugin data/install-hint-shown").exists());
}

#[test]
fn twenty_hooks_at_once_say_it_once() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "ralph-hook");
    let children: Vec<_> = (0..20)
        .map(|_| {
            let mut command = scratch.command(&launcher, &[]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let said: Vec<String> = children
        .into_iter()
        .map(|child| String::from_utf8(child.finish().stdout).unwrap())
        .filter(|out| !out.is_empty())
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn without_a_home_the_hook_still_lets_the_stop_through() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "ralph-hook");
    let output = scratch.command(&launcher, &[]).env_remove("HOME").stdin(Stdio::null()).finish();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice::<Value>(&output.stdout).unwrap();
}
