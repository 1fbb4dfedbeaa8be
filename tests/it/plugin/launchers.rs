//! The launchers of a plain checkout: they find the compiled program, or say once how to get it.

use crate::support::limited::Limited;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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
fn xdg_data_home_finds_the_program() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    program(&scratch, "home/.local/share/ralph-speckit/bin/spool", "default");
    program(&scratch, "elsewhere/ralph-speckit/bin/spool", "elsewhere");
    let folder = scratch.top().join("elsewhere");
    scratch.set("XDG_DATA_HOME", folder);
    assert_eq!(scratch.run(&launcher, &[]).out, "elsewhere\n");
}

#[test]
fn arguments_input_and_exit_pass_through() {
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
fn other_path_launcher_is_no_program() {
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
fn non_programs_are_passed_over() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    fs::create_dir_all(scratch.data().join("bin/spool")).unwrap();
    let plain = program(&scratch, "home/.cargo/bin/spool", "cargo");
    fs::set_permissions(plain, fs::Permissions::from_mode(0o644)).unwrap();
    program(&scratch, "check out/target/release/spool", "release");
    assert_eq!(scratch.run(&launcher, &[]).out, "release\n");
}

#[test]
fn relative_path_folders_are_not_searched() {
    let mut scratch = Home::new();
    let launcher = launcher(&scratch, "spool");
    program(&scratch, "spool", "from the project");
    program(&scratch, "bin/spool", "from the project");
    scratch.set("PATH", ".:bin::/usr/bin:/bin");
    assert_eq!(scratch.run(&launcher, &[]).code, Some(127));
}

#[test]
fn spool_launcher_names_the_missing_program() {
    let scratch = Home::new();
    let outcome = scratch.run(launcher(&scratch, "spool"), &["status"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(127), ""), "{outcome}");
    assert!(outcome.err.contains("cargo install --path ."), "{outcome}");
}

#[test]
fn hook_launcher_lets_stops_through() {
    for (name, words) in [("ralph-hook", &["claude", "Stop"][..]), ("spool", &["hook", "claude"])] {
        let mut scratch = Home::new();
        let launcher = launcher(&scratch, name);
        let folder = scratch.top().join("plugin data");
        scratch.set("CLAUDE_PLUGIN_DATA", folder);
        let event =
            format!("{{\"hook_event_name\":\"Stop\",\"filler\":\"{}\"}}", "x".repeat(300_000));

        let first = scratch.run_with_input(&launcher, words, &event);
        assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first}");
        assert_eq!(first.out.lines().count(), 1, "{first}");
        let said: Value = serde_json::from_str(&first.out).unwrap();
        assert_eq!(said.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
        assert!(said["systemMessage"].as_str().unwrap().contains("cargo install --path ."));

        let second = scratch.run_with_input(&launcher, words, &event);
        assert_eq!((second.code, second.out.as_str(), second.err.as_str()), (Some(0), "", ""));
        assert!(scratch.top().join("plugin data/install-hint-shown").exists());
    }
}

#[test]
fn twenty_hooks_say_it_once() {
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
fn homeless_hook_lets_stops_through() {
    let scratch = Home::new();
    let launcher = launcher(&scratch, "ralph-hook");
    let output = scratch.command(&launcher, &[]).env_remove("HOME").stdin(Stdio::null()).finish();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice::<Value>(&output.stdout).unwrap();
}

/// A released plugin: the launchers, and programs of two systems that say which one they are.
fn released(scratch: &Home, plugin: &str) -> PathBuf {
    for name in ["ralph-hook", "spool"] {
        scratch.copy(checkout().join("bin").join(name), &format!("{plugin}/bin/{name}"));
        for system in ["linux-x86_64", "linux-aarch64", "macos-aarch64"] {
            program(
                scratch,
                &format!("{plugin}/programs/{system}/{name}"),
                &format!("{name} of {system}"),
            );
        }
    }
    scratch.top().join(plugin).join("bin")
}

/// Makes the machine one of another system, as `uname` tells it.
fn on(scratch: &mut Home, system: &str) {
    scratch.script("systems/uname", &format!("echo '{system}'"));
    scratch.search_first("systems");
}

const X86: &str = "Linux x86_64";
const MAC: &str = "Darwin arm64";

#[test]
fn released_plugin_starts_system_program() {
    let mut scratch = Home::new();
    let bin = released(&scratch, "plugin");
    program(&scratch, "home/.cargo/bin/spool", "cargo");
    for (system, says) in
        [(X86, "linux-x86_64"), ("Linux aarch64", "linux-aarch64"), (MAC, "macos-aarch64")]
    {
        on(&mut scratch, system);
        let outcome = scratch.run(bin.join("spool"), &["a b"]);
        assert_eq!(outcome.out, format!("spool of {says}\n<a b>\n"), "{outcome}");
    }
    on(&mut scratch, "FreeBSD amd64");
    assert_eq!(scratch.run(bin.join("spool"), &[]).out, "cargo\n");
}

/// The programs that a launcher needs, as the folder has them in which the client starts it.
#[test]
fn launcher_starts_nothing_from_its_folder() {
    for relative in [".:", ":", "", "there:"] {
        let mut scratch = Home::new();
        let bin = released(&scratch, "plugin");
        for name in ["uname", "ln", "mv", "rm", "cp", "mkdir", "cat"] {
            for trap in [name.to_owned(), format!("there/{name}")] {
                scratch.script(&trap, "echo trapped >&2; exit 1");
            }
        }
        let path = if relative.is_empty() { "" } else { "/usr/bin:/bin" };
        scratch.set("PATH", format!("{relative}{path}"));
        for (name, program) in [("spool", "spool"), ("ralph-hook", "hook")] {
            let said = scratch.run(bin.join(name), &[]);
            assert!(said.out.contains(program), "PATH={relative}{path}: {said}");
            assert_eq!(said.err, "", "PATH={relative}{path}: {said}");
        }
        let checkout = launcher(&scratch, "ralph-hook");
        assert_eq!(scratch.run(checkout, &[]).err, "", "PATH={relative}{path}");
    }
}

/// The client then starts it without a shell: a stop costs what the program costs.
#[test]
fn released_hook_replaces_its_launcher() {
    let mut scratch = Home::new();
    let bin = released(&scratch, "plugin");
    on(&mut scratch, X86);
    for _first_then_again in 0..2 {
        let outcome = scratch.run(bin.join("ralph-hook"), &["claude", "Stop"]);
        assert_eq!(outcome.out, "ralph-hook of linux-x86_64\n<claude>\n<Stop>\n", "{outcome}");
        assert_eq!(outcome.err, "");
    }
    let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
    let program = bin.join("../programs/linux-x86_64/ralph-hook");
    assert_eq!(inode(bin.join("ralph-hook")), inode(program));
    assert_eq!(
        fs::read_dir(&bin).unwrap().count(),
        3,
        "the launchers, and the note of who settled"
    );
}

#[test]
fn shared_plugin_gets_its_launcher_back() {
    let mut scratch = Home::new();
    let bin = released(&scratch, "plugin");
    let hook = || fs::read_to_string(bin.join("ralph-hook")).unwrap();
    let launcher = hook();
    on(&mut scratch, MAC);
    scratch.run(bin.join("ralph-hook"), &[]);
    assert_ne!(hook(), launcher);
    on(&mut scratch, X86);
    assert_eq!(scratch.run(bin.join("spool"), &[]).out, "spool of linux-x86_64\n");
    assert_eq!(hook(), launcher);
    for (system, says) in [(X86, "linux-x86_64"), (MAC, "macos-aarch64"), (X86, "linux-x86_64")] {
        on(&mut scratch, system);
        assert_eq!(scratch.run(bin.join("ralph-hook"), &[]).out, format!("ralph-hook of {says}\n"));
        assert_eq!(hook(), launcher);
    }
}

#[test]
fn clone_stays_and_client_copy_changes() {
    let mut scratch = Home::new();
    on(&mut scratch, X86);
    for (plugin, is_settled) in [("clone", false), ("home/.claude/plugins/cache/of/speckit", true)]
    {
        let bin = released(&scratch, plugin);
        fs::create_dir(bin.join("../.git")).unwrap();
        scratch.run(bin.join("ralph-hook"), &[]);
        assert_eq!(bin.join(".settled").exists(), is_settled, "{plugin}");
    }
}

#[test]
fn twenty_first_starts_reach_the_program() {
    let mut scratch = Home::new();
    let bin = released(&scratch, "plugin");
    on(&mut scratch, X86);
    let mut started: Vec<_> = (0..20)
        .map(|_| {
            let mut hook = scratch.command(bin.join("ralph-hook"), &[]);
            hook.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for hook in started.drain(..) {
        let output = hook.finish();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ralph-hook of linux-x86_64\n");
    }
    assert_eq!(fs::read_dir(&bin).unwrap().count(), 3);
}
