//! The npm packages: installed with npm from a registry on loopback, without a script, for this platform only.

use crate::server::{Shelf, serve};
use crate::support::limited::Limited;
use crate::support::scratch::{Scratch, files};
use crate::{VERSION, has, packed, unpack};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// What a registry answers for every package of the release.
fn registry(release: &Path, address: &str, manifests: &mut Vec<Value>) -> Shelf {
    let scratch = tempfile::tempdir().unwrap();
    let mut shelf = Shelf::new();
    for entry in fs::read_dir(release).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "tgz") {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap();
        let folder = scratch.path().join(file);
        unpack(&path, &folder);
        let text = fs::read(folder.join("package/package.json")).unwrap();
        let mut manifest: Value = serde_json::from_slice(&text).unwrap();
        manifests.push(manifest.clone());
        let name = manifest["name"].as_str().unwrap().to_owned();
        manifest["dist"] = json!({"tarball": format!("{address}/{name}/-/{file}")});
        let packument = json!({
            "name": name, "dist-tags": {"latest": VERSION}, "versions": {VERSION: manifest},
        });
        shelf.insert(format!("/{name}"), packument.to_string().into_bytes());
        shelf.insert(format!("/{name}/-/{file}"), fs::read(&path).unwrap());
    }
    shelf
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    // What the test's own environment says to npm is not for this one.
    for name in ["npm_config_registry", "NPM_CONFIG_REGISTRY", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"]
    {
        command.env_remove(name);
    }
    command.env("HOME", folder).env("npm_config_cache", folder.join("cache"));
    command.env("npm_config_update_notifier", "false").env("npm_config_audit", "false");
    command.finish()
}

#[test]
fn npm_installs_and_npx_starts() {
    if !has("npm") {
        return;
    }
    let Some(release) = packed() else { return };
    let mut manifests = Vec::new();
    let address = serve(|address| registry(&release, address, &mut manifests));
    assert_eq!(manifests.len(), 3, "the program, its platform and the plugin: {manifests:#?}");
    for manifest in &manifests {
        assert_eq!(manifest.get("scripts"), None, "{manifest:#}");
        assert_eq!(manifest["version"], VERSION);
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let installed = run(folder, "npm", &["install", "ralph-speckit", "--registry", &address]);
    assert!(installed.status.success(), "{installed:?}");

    let demo = run(folder, "npx", &["spool", "demo", "--fast"]);
    let said = String::from_utf8_lossy(&demo.stdout);
    assert!(demo.status.success() && said.contains("the loop ended: completed"), "{demo:?}");
    // The name of the package is a command as well: that is what `npx ralph-speckit setup` asks for.
    let setup = run(folder, "npx", &["ralph-speckit", "setup", "--dry-run"]);
    let said = String::from_utf8_lossy(&setup.stdout);
    assert!(said.contains("would write the plugin"), "{setup:?}");
    let refused = run(folder, "npx", &["spool", "stauts"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");

    let removed = run(folder, "npm", &["uninstall", "ralph-speckit", "--registry", &address]);
    assert!(removed.status.success(), "{removed:?}");
    let left: Vec<_> =
        files(folder).into_iter().filter(|path| path.starts_with("node_modules")).collect();
    let left: Vec<_> = left.iter().filter(|path| !path.ends_with(".package-lock.json")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The launcher with a program that notes each signal that it gets, and leaves when it is told to.
fn launcher_with_signal_noting_program(scratch: &Scratch) -> std::path::PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release.d/npm");
    for name in ["start.js", "spool.js"] {
        fs::copy(from.join(name), scratch.beside(name)).unwrap();
    }
    let node = "process.stdout.write(`${process.platform}-${process.arch}`)";
    let platform = Command::new("node").args(["-e", node]).finish();
    let package =
        format!("node_modules/ralph-speckit-{}", String::from_utf8(platform.stdout).unwrap());
    let notes = "#!/bin/sh\nfor it in INT QUIT TERM HUP; do trap \"echo $it >>'$NOTES'\" \"$it\"; done\n\
                 echo there\nwhile [ ! -f \"$NOTES.done\" ]; do sleep 0.02; done\nexit 7\n";
    scratch.executable(&format!("{package}/spool"), notes);
    fs::write(scratch.beside(&package).join("package.json"), "{}").unwrap();
    scratch.beside("spool.js")
}

#[test]
fn launcher_passes_each_signal_once() {
    use crate::ran::Running;
    use crate::support::witness::PATIENCE;
    use ralph_speckit::world::{Deadline, pause};
    use rustix::process::Signal;
    use std::os::unix::process::CommandExt;
    use std::time::Duration;

    if !has("node") {
        return;
    }
    let heard_once = |notes: &Path, wanted: &str| {
        let deadline = Deadline::after(PATIENCE);
        while fs::read_to_string(notes).unwrap_or_default() != wanted {
            let found = fs::read_to_string(notes).unwrap_or_default();
            assert!(!deadline.is_over(), "{found:?} instead of {wanted:?}");
            pause(Duration::from_millis(10));
        }
        // A second one would come at once.
        pause(Duration::from_millis(300));
        assert_eq!(fs::read_to_string(notes).unwrap(), wanted);
        fs::write(notes.with_extension("done"), "").unwrap();
    };
    for (signal, name) in [
        (Signal::INT, "INT\n"),
        (Signal::QUIT, "QUIT\n"),
        (Signal::TERM, "TERM\n"),
        (Signal::HUP, "HUP\n"),
    ] {
        let mut scratch = Scratch::new("launcher-");
        let notes = scratch.beside("notes");
        scratch.set("NOTES", &notes);
        let launcher = launcher_with_signal_noting_program(&scratch);
        let mut running = Running::start(scratch.command("node").arg(&launcher).process_group(0));
        running.wait_for("there");
        running.signal(signal);
        heard_once(&notes, name);
        running.finish().with_code(7);
    }
    if Path::new("/usr/bin/script").exists() && cfg!(target_os = "linux") {
        let mut scratch = Scratch::new("launcher-");
        let notes = scratch.beside("notes");
        scratch.set("NOTES", &notes);
        let launcher = launcher_with_signal_noting_program(&scratch);
        let line = format!("exec node {}", launcher.display());
        let mut command = scratch.command("/usr/bin/script");
        command.args(["-qefc", &line, "/dev/null"]).stdin(std::process::Stdio::piped());
        let mut running = Running::start(&mut command);
        running.wait_for("there");
        running.types("\u{3}");
        heard_once(&notes, "INT\n");
        running.finish().with_code(7);
    }
}

#[test]
fn launcher_names_the_missing_package() {
    if !has("npm") {
        return;
    }
    let Some(release) = packed() else { return };
    let folder = tempfile::tempdir().unwrap();
    unpack(&release.join(format!("ralph-speckit-{VERSION}.tgz")), folder.path());
    let outcome = run(folder.path(), "node", &["package/spool.js", "status"]);
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(1), "{outcome:?}");
    assert!(said.contains("is not installed") && said.contains("--omit=optional"), "{said}");
}
