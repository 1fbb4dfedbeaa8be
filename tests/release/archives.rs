//! The archives: nothing in them but what is needed, the same bytes each time, and enough for a bare machine.

use crate::server::{Shelf, serve};
use crate::support::left_out::left_out;
use crate::support::limited::Limited;
use crate::support::scratch::{checkout, files};
use crate::{VERSION, has, packed, platform, release, sums, unpack};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_speckit::plugin::files::FILES;
use serde_json::Value;

#[test]
fn plugin_archive_has_just_the_plugin() {
    let Some(release) = packed() else { return };
    let scratch = tempfile::tempdir().unwrap();
    unpack(&release.join(format!("speckit-{VERSION}.zip")), scratch.path());
    let mut expected: Vec<PathBuf> = FILES.iter().map(|file| file.path.into()).collect();
    for name in ["ralph-hook", "spool"] {
        expected.push(format!("bin/{name}").into());
        expected.push(format!("programs/{}/{name}", platform()).into());
    }
    expected.sort();
    let found = files(scratch.path());
    assert_eq!(found, expected);
    for path in found {
        let mode = fs::metadata(scratch.path().join(&path)).unwrap().permissions().mode() & 0o777;
        let is_program = path.starts_with("bin") || path.starts_with("programs");
        assert_eq!(mode, if is_program { 0o755 } else { 0o644 }, "{}", path.display());
    }
    for file in FILES {
        assert_eq!(
            fs::read(scratch.path().join(file.path)).unwrap(),
            file.content,
            "{}",
            file.path
        );
    }
}

#[test]
fn files_have_hashes_and_marketplaces() {
    let Some(release) = packed() else { return };
    let check = Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&release).finish();
    assert!(check.status.success(), "{check:?}");
    let names: Vec<String> = sums(&release).into_iter().map(|(name, _)| name).collect();
    let mut there: Vec<String> = fs::read_dir(&release)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "SHA256SUMS")
        .collect();
    there.sort();
    assert_eq!(names, there);
    let source = |name: &str| -> Value {
        let text = fs::read(release.join(name)).unwrap();
        let marketplace: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(marketplace["plugins"][0]["version"], VERSION);
        marketplace["plugins"][0]["source"].clone()
    };
    let archive = format!("speckit-{VERSION}.zip");
    let hash = &sums(&release).into_iter().find(|(name, _)| *name == archive).unwrap().1;
    assert_eq!(
        source("marketplace.json"),
        serde_json::json!({
            "source": "archive", "url": format!("https://releases.example/v1/{archive}"), "sha256": hash
        })
    );
    assert_eq!(source("marketplace-git.json")["ref"], format!("plugin-v{VERSION}"));
    // It is to take the place of the checkout's own after the release.
    let of = |path: &Path| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let mut ours = of(&checkout().join("marketplace.json"));
    ours["plugins"][0]["source"] = source("marketplace-git.json");
    assert_eq!(of(&release.join("marketplace-git.json")), ours);
}

/// Packs programs that are none, of all platforms, so that this takes no time.
fn packed_of_all(dist: &Path) -> Vec<(String, String)> {
    for platform in
        ["linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-aarch64", "windows-x86_64"]
    {
        let suffix = if platform.starts_with("windows") { ".exe" } else { "" };
        for name in ["ralph-hook", "spool"] {
            let path = dist.join(format!("programs/{platform}/{name}{suffix}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("#!/bin/sh\n# {name} of {platform}\n")).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let output = release(dist, &["pack"]);
    assert!(output.status.success(), "{output:?}");
    sums(&dist.join("release"))
}

#[test]
#[ignore = "nightly"]
fn same_programs_pack_to_same_bytes() {
    if !has("zip") {
        return;
    }
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let first = packed_of_all(one.path());
    // Unless the time were the one of the commit, two seconds later a zip would be another.
    assert_eq!(first, packed_of_all(other.path()));
    let with = |words: &str| first.iter().filter(|(name, _)| name.contains(words)).count();
    assert_eq!((with(".tar.gz"), with(".zip")), (4, 2), "{first:?}");
    let of = |name: &str| fs::read_to_string(one.path().join("release").join(name)).unwrap();
    for (file, part) in [
        ("ralph-speckit.rb", ".tar.gz"),
        ("install.sh", ".tar.gz"),
        ("install.ps1", "windows-x86_64.zip"),
        ("winget.yaml", "windows-x86_64.zip"),
    ] {
        let text = of(file);
        for (name, hash) in first.iter().filter(|(name, _)| name.contains(part)) {
            assert!(text.contains(hash.as_str()), "{file} does not name the hash of {name}");
        }
        assert!(text.contains("https://releases.example/v1") && text.contains(VERSION), "{file}");
        assert!(!text.contains("{{"), "{file} has a place that was not filled");
    }
}

#[test]
fn release_notes_come_from_the_changelog() {
    let Some(release) = packed() else { return };
    let notes = fs::read_to_string(release.join("notes.md")).unwrap();
    assert!(notes.starts_with("### ") || notes.lines().count() > 3, "{notes}");
    assert!(!notes.contains("\n## ["), "{notes}");
    let changelog = fs::read_to_string(checkout().join("CHANGELOG.md")).unwrap();
    assert!(changelog.contains(notes.trim_end()), "{notes}");
}

/// The exit code and the output of the installer. Without a home, the environment names none.
fn installer(release: &Path, home: Option<&Path>, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new("sh");
    command.arg(release.join("install.sh")).args(arguments).env_clear();
    let output =
        command.env("PATH", "/usr/bin:/bin").envs(home.map(|home| ("HOME", home))).finish();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), said.into_owned())
}

/// The address of a server that has the archive of this platform as `spoil` leaves it.
fn shop(release: &Path, spoil: fn(&mut Vec<u8>)) -> String {
    let name = format!("ralph-speckit-{VERSION}-{}.tar.gz", platform());
    let mut archive = fs::read(release.join(&name)).unwrap();
    spoil(&mut archive);
    serve(|_| Shelf::from([(format!("/{name}"), archive)]))
}

/// Runs the installer of the release, from a server that has its archives as `spoil` leaves them.
fn install(release: &Path, home: &Path, spoil: fn(&mut Vec<u8>)) -> (i32, String) {
    installer(release, Some(home), &["--from", &shop(release, spoil)])
}

/// What the installer calls, besides curl or wget.
const TOOLS: [&str; 11] =
    ["sh", "uname", "mktemp", "rm", "tar", "gzip", "sha256sum", "mkdir", "grep", "mv", "cat"];

#[test]
fn shell_installer_names_what_failed() {
    let Some(release) = packed() else { return };
    let address = serve(|_| Shelf::new());
    for fetcher in [Some("curl"), Some("wget"), None] {
        if fetcher.is_some_and(|tool| !has(tool)) {
            continue;
        }
        let home = tempfile::tempdir().unwrap();
        let tools = tempfile::tempdir().unwrap();
        for tool in TOOLS.into_iter().chain(fetcher) {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            let found = found.iter().find(|path| path.exists()).expect(tool);
            std::os::unix::fs::symlink(found, tools.path().join(tool)).unwrap();
        }
        let output = Command::new("sh")
            .arg(release.join("install.sh"))
            .args(["--from", &address])
            .env_clear()
            .env("PATH", tools.path())
            .env("HOME", home.path())
            .finish();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{fetcher:?}: {output:?}");
        let expected = match fetcher {
            Some(_) => "could not be fetched; nothing was installed",
            None => "neither curl nor wget is there",
        };
        assert!(said.contains(expected) && said.contains(&address), "{fetcher:?}: {said}");
        assert_eq!(files(home.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn shell_installer_installs_just_the_release() {
    if !has("curl or wget") {
        return;
    }
    let Some(release) = packed() else { return };
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join(".local/bin");
    let (code, said) = install(&release, home.path(), |archive| archive.push(b' '));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is not the archive that was released"), "{said}");
    assert_eq!(files(home.path()), Vec::<PathBuf>::new());
    for _first_then_again in 0..2 {
        let (code, said) = install(&release, home.path(), |_| ());
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("is not on your PATH yet"), "{said}");
    }
    let names = [".local/bin/ralph-hook", ".local/bin/spool"].map(PathBuf::from);
    assert_eq!(files(home.path()), names);
    let version = Command::new(bin.join("spool")).arg("--version").finish();
    assert!(String::from_utf8_lossy(&version.stdout).contains(VERSION), "{version:?}");
}

#[test]
fn shell_installer_leaves_personal_files() {
    if !has("curl or wget") {
        return;
    }
    let Some(release) = packed() else { return };
    for name in ["spool", "ralph-hook"] {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join(".local/bin");
        fs::create_dir_all(&bin).unwrap();
        // A program of another kind, a folder, and a link that leads nowhere.
        for kind in 0..3 {
            let theirs = bin.join(name);
            match kind {
                0 => fs::write(&theirs, "#!/bin/sh\n# of a person\n").unwrap(),
                1 => fs::create_dir(&theirs).unwrap(),
                _ => std::os::unix::fs::symlink("nowhere", &theirs).unwrap(),
            }
            let before = files(home.path());
            let (code, said) = install(&release, home.path(), |_| ());
            assert_eq!(code, 1, "{said}");
            assert!(said.contains(&format!("/{name} is there already")), "{said}");
            let (code, said) = installer(&release, Some(home.path()), &["--remove"]);
            assert_eq!(code, 1, "{said}");
            assert!(said.contains("is not of ralph-speckit, and stays"), "{said}");
            assert_eq!(files(home.path()), before);
            fs::remove_file(&theirs).or_else(|_| fs::remove_dir(&theirs)).unwrap();
        }
    }
}

#[test]
fn shell_installer_removes_what_it_installed() {
    if !has("curl or wget") {
        return;
    }
    let Some(release) = packed() else { return };
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("it's \"a\" folder\n$(id)");
    let to = to.to_str().unwrap();
    let address = shop(&release, |_| ());
    // What a killed run leaves: the number in its name is that of no process.
    let killed = Path::new(to).join(".ralph-speckit.99999999");
    for _first_then_again in 0..2 {
        fs::create_dir_all(&killed).unwrap();
        fs::write(killed.join("spool"), "a part").unwrap();
        let (code, said) = installer(&release, None, &["--to", to, "--from", &address]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(&format!("next: {to}/spool setup")), "{said}");
        assert_eq!(files(Path::new(to)), ["ralph-hook", "spool"].map(PathBuf::from));
    }
    let (code, said) = installer(&release, None, &["--remove", "--to", to]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("removed spool and ralph-hook from"), "{said}");
    assert_eq!(files(Path::new(to)), Vec::<PathBuf>::new());
    let (code, said) = installer(&release, None, &["--remove", "--to", to]);
    assert_eq!((code, said.starts_with("nothing to remove")), (0, true), "{said}");
    let (code, said) = installer(&release, None, &["--remove"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("HOME is not set") && said.contains("--to FOLDER"), "{said}");
}

#[test]
fn plugin_goes_before_its_programs() {
    let Some(release) = packed() else { return };
    let home = tempfile::tempdir().unwrap();
    let record = home.path().join(".local/share/ralph-speckit/setup.json");
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    fs::write(&record, "{}").unwrap();
    let (code, said) = installer(&release, Some(home.path()), &["--remove"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(".local/bin/spool setup --remove"), "{said}");
}

/// Lays out what the demo's own task asks for, a shell and four tools, and changes the root; the mount of the kernel's
/// `/proc` is gone with the process that made it.
const IN_A_BARE_ROOT: &str = r#"set -e
for tool in sh awk mktemp mv rm; do
    program=$(realpath "$(command -v "$tool")")
    install -D "$program" "$1/bin/$tool"
    ldd "$program" | grep -o '/[^ ]*' | while read -r library; do cp -L --parents "$library" "$1"; done
done
mount --bind /proc "$1/proc"
exec chroot "$1" "$2" demo --fast"#;

#[test]
fn archive_suffices_in_a_bare_root() {
    if !has("unshare") || !rustix::process::getuid().is_root() {
        left_out("only root may change the root");
        return;
    }
    let Some(release) = packed() else { return };
    let root = tempfile::tempdir().unwrap();
    let name = format!("ralph-speckit-{VERSION}-{}", platform());
    unpack(&release.join(format!("{name}.tar.gz")), root.path());
    for folder in ["tmp", "dev", "proc"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    fs::write(root.path().join("dev/null"), "").unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", IN_A_BARE_ROOT, "sh"])
        .arg(root.path())
        .arg(format!("/{name}/spool"))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .finish();
    if String::from_utf8_lossy(&output.stderr).contains("unshare failed") {
        left_out("mounts may not be made here");
        return;
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains("the loop ended: completed"), "{said}");
    for kind in ["man/spool.1", "completions/spool.bash", "LICENSE", "README.md"] {
        assert!(root.path().join(&name).join(kind).is_file(), "{kind}");
    }
}
