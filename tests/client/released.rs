//! The plugin as it is released: an archive, or a git repository, from a marketplace on loopback. Nothing else is installed.

use crate::left_out::left_out;
use crate::packaging::{Home, assert_valid, paths};
use crate::release_server::{Shelf, serve};
use crate::support::{Project, on_every_client};
use crate::workshop::{Worker, Workshop, programs};
use scripted_model::{Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use tempfile::TempDir;

on_every_client! {
    night night released_plugin_does_a_feature
    night night the_released_archive_is_valid
    night night npx_sets_up_and_removes
    night night plugin_installs_from_registry
}

/// A name that no machine has: the client refuses archives that lie on this machine.
const HOST: &str = "releases.example";

/// Runs a tool, which must succeed.
fn run(program: &str, arguments: &[&str], folder: &Path) {
    let output = Command::new(program).args(arguments).current_dir(folder).output().expect(program);
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
}

/// Packs the programs of this build once, as a release is packed; `None` where a tool is missing.
fn release() -> Option<PathBuf> {
    static RELEASE: OnceLock<Option<TempDir>> = OnceLock::new();
    let folder = RELEASE.get_or_init(|| {
        for tool in ["zip", "unzip", "strip", "openssl"] {
            if Command::new(tool).arg("--help").output().is_err() {
                left_out(&format!("{tool} is not installed"));
                return None;
            }
        }
        let dist = tempfile::tempdir().expect("a folder");
        let into = dist.path().join(format!("programs/linux-{}", std::env::consts::ARCH));
        fs::create_dir_all(&into).expect("a folder");
        for (name, program) in programs().named() {
            let (from, to) = (program.to_str().expect("a path"), into.join(name));
            run("strip", &["-o", to.to_str().expect("a path"), from], dist.path());
        }
        let output = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release"))
            .arg("pack")
            .env("DIST", dist.path())
            .env("RELEASE_URL", format!("https://{HOST}"))
            .output()
            .expect("scripts/release");
        assert!(output.status.success(), "{output:?}");
        Some(dist)
    });
    folder.as_ref().map(|dist| dist.path().join("release"))
}

/// A server with a certificate of its own, behind a proxy that leads every name to it.
struct Shop {
    folder: TempDir,
    server: Child,
    proxy: String,
}

impl Shop {
    /// The shop that hands out the files of a folder.
    fn with(files: &Path) -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("/CN={HOST}");
        let other = format!("subjectAltName=DNS:{HOST}");
        let request =
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem"];
        let rest = ["-out", "cert.pem", "-subj", &name, "-addext", &other];
        run("openssl", &[&request[..], &rest[..]].concat(), folder.path());
        // Free a moment ago; whoever took it since then makes the test fail, and does not make it pass.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a port");
        let server = Command::new("openssl")
            .args(["s_server", "-WWW", "-accept", &port.to_string()])
            .args(["-cert".as_ref(), folder.path().join("cert.pem").as_os_str()])
            .args(["-key".as_ref(), folder.path().join("key.pem").as_os_str()])
            .current_dir(files)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a proxy");
        let proxy = format!("http://{}", listener.local_addr().expect("an address"));
        let to = port.to_string();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let to = to.clone();
                thread::spawn(move || tunnel(stream, &to));
            }
        });
        Shop { folder, server, proxy }
    }

    /// What leads a client to the shop.
    fn variables(&self) -> [(&'static str, String); 2] {
        let certificate = self.folder.path().join("cert.pem").display().to_string();
        [("HTTPS_PROXY", self.proxy.clone()), ("NODE_EXTRA_CA_CERTS", certificate)]
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ended = self.server.kill().and_then(|()| self.server.wait());
    }
}

/// Leads one connection to the server; it is over when either side leaves.
fn tunnel(mut client: TcpStream, to: &str) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let mut server = TcpStream::connect(to).ok()?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    let (mut back, mut there) = (server.try_clone().ok()?, client.try_clone().ok()?);
    thread::spawn(move || {
        std::io::copy(&mut back, &mut there).map(|_| there.shutdown(std::net::Shutdown::Write))
    });
    std::io::copy(&mut reader.by_ref(), &mut server).ok()?;
    server.shutdown(std::net::Shutdown::Write).ok()
}

/// Writes a marketplace whose plugin is in a git repository, as clients need it that know no archives.
fn marketplace_of_git(release: &Path, place: &Project) -> PathBuf {
    let repository = place.path().join("repository");
    fs::create_dir_all(&repository).expect("a folder");
    let archive = format!("speckit-{}.zip", env!("CARGO_PKG_VERSION"));
    let archive = release.join(archive);
    run("unzip", &["-q", archive.to_str().expect("a path")], &repository);
    for arguments in [
        &["init", "-q", "-b", "plugin"][..],
        &["add", "--all"],
        &[
            "-c",
            "user.name=a test",
            "-c",
            "user.email=a@test.example",
            "commit",
            "-q",
            "-m",
            "the plugin",
        ],
    ] {
        run("git", arguments, &repository);
    }
    let text = fs::read(release.join("marketplace-git.json")).expect("a marketplace");
    let mut marketplace: Value = serde_json::from_slice(&text).expect("a marketplace");
    let from = format!("file://{}", repository.display());
    marketplace["plugins"][0]["source"] = json!({"source": "url", "url": from});
    place.write("market/.claude-plugin/marketplace.json", &marketplace.to_string());
    place.path().join("market")
}

/// Fails unless nothing of ours is left; the client's own copy may wait, as a leftover, until the client sweeps it.
fn assert_gone(home: &Home) {
    assert_eq!(home.plugins(), json!([]));
    let config = home.path().join(".claude");
    let cache = config.join("plugins/cache/ralph-speckit");
    for path in paths(home.path()).iter().filter(|path| path.is_file()) {
        if path.starts_with(&cache) {
            let copy = cache.join("speckit").join(env!("CARGO_PKG_VERSION"));
            assert!(copy.join(".orphaned_at").is_file(), "{} was left", path.display());
            continue;
        }
        // What was said in the session is the person's.
        let is_history =
            path.starts_with(config.join("projects")) || path.ends_with(".claude/.claude.json");
        let text = String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned();
        assert!(
            is_history || !text.contains("speckit@"),
            "{} still names it: {text}",
            path.display()
        );
    }
}

fn released_plugin_does_a_feature(version: &str) {
    let Some(release) = release() else { return };
    let home = Home::new(version);
    let place = Project::new();
    let shop = Shop::with(&release);
    let marketplace = match version {
        // It knows no archives, and says so.
        "2.1.143" => marketplace_of_git(&release, &place).display().to_string(),
        _ => format!("https://{HOST}/marketplace.json"),
    };
    for arguments in [
        &["plugin", "marketplace", "add", &marketplace][..],
        &["plugin", "install", "speckit@ralph-speckit"],
    ] {
        let output = home.claude_with(arguments, &shop.variables());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    let plugins = home.plugins();
    assert_eq!(plugins[0]["version"], env!("CARGO_PKG_VERSION"), "{plugins:#}");
    assert_eq!((&plugins[0]["enabled"], plugins[0].get("errors")), (&json!(true), None));
    let copy = PathBuf::from(plugins[0]["installPath"].as_str().expect("a path"));

    let workshop = Workshop::with_tasks(3);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| {
        // The first thing that the agent does is to ask for the program by its name alone.
        if asked.tool_results().is_empty() && worker.next_task().is_some_and(|id| id == "T001") {
            return Worker::run("spool task next && command -v spool >where && mkdir -p out");
        }
        if asked.tool_results().len() == 1 && worker.next_task().is_some_and(|id| id == "T001") {
            return Worker::work_on("T001");
        }
        worker.one_task_then_stop(asked)
    });
    let client = home.client(version, &workshop.project, &model).variable("PATH", "/usr/bin:/bin");
    let run = client.succeeds("/speckit:implement");
    workshop.assert_all_done(3);
    assert_eq!(
        workshop.verdicts(),
        ["continue", "continue", "end completed"],
        "{}",
        run.describe()
    );
    let found = workshop.project.read("where");
    assert_eq!(found.trim(), copy.join("bin/spool").to_str().expect("a path"));
    // From the second call on, the client starts the program itself.
    let hook = fs::read(copy.join("bin/ralph-hook")).expect("the hook");
    assert!(hook.starts_with(b"\x7fELF"), "a launcher is between the client and the hook");
    let doctor = home.run(copy.join("bin/spool"), &["doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout);
    assert!(told.ends_with("all checks passed\n"), "{told}");

    for arguments in [
        &["plugin", "uninstall", "speckit@ralph-speckit"][..],
        &["plugin", "marketplace", "remove", "ralph-speckit"],
    ] {
        let output = home.claude(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    assert_gone(&home);
    // A fresh session has no hook and no command of ours.
    let model = ScriptedModel::playing(vec![Reply::text("All is said.")]);
    let client = home.client(version, &workshop.project, &model);
    let run = client.run("/speckit:status").expect("a run");
    assert_eq!(run.system_messages("UserPromptExpansion"), [""; 0], "{}", run.describe());
    assert_eq!(run.system_messages("Stop"), [""; 0], "{}", run.describe());
}

fn the_released_archive_is_valid(version: &str) {
    let Some(release) = release() else { return };
    let place = Project::new();
    let archive = release.join(format!("speckit-{}.zip", env!("CARGO_PKG_VERSION")));
    run("unzip", &["-q", archive.to_str().expect("a path")], place.path());
    assert_valid(&Home::new(version), version, place.path());
}

/// The package of the plugin from a registry on loopback, which is the person's own one for npm: the client refuses any
/// other that is not encrypted.
fn plugin_installs_from_registry(version: &str) {
    const PACKAGE: &str = "ralph-speckit-plugin";
    let Some(release) = release() else { return };
    if !release.join("marketplace-npm.json").exists() {
        left_out("npm is not installed");
        return;
    }
    let number = env!("CARGO_PKG_VERSION");
    let package = fs::read(release.join(format!("{PACKAGE}-{number}.tgz"))).expect("a package");
    let registry = serve(|address| {
        let tarball = format!("{address}/{PACKAGE}.tgz");
        let manifest = json!({"name": PACKAGE, "version": number, "dist": {"tarball": tarball}});
        let all = json!({"name": PACKAGE, "dist-tags": {"latest": number}, "versions": {number: manifest}});
        let all = (format!("/{PACKAGE}"), all.to_string().into_bytes());
        Shelf::from([all, (format!("/{PACKAGE}.tgz"), package)])
    });
    let home = Home::new(version);
    fs::write(home.path().join(".npmrc"), format!("registry={registry}/\n")).expect("a setting");
    let place = Project::new();
    let marketplace = fs::read_to_string(release.join("marketplace-npm.json")).expect("a list");
    place.write("market/.claude-plugin/marketplace.json", &marketplace);
    let market = place.path().join("market").display().to_string();
    for arguments in [
        &["plugin", "marketplace", "add", &market][..],
        &["plugin", "install", "speckit@ralph-speckit"],
    ] {
        let output = home.claude(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    let plugins = home.plugins();
    assert_eq!(
        (&plugins[0]["version"], &plugins[0]["enabled"], plugins[0].get("errors")),
        (&json!(number), &json!(true), None),
        "{plugins:#}"
    );
    let copy = PathBuf::from(plugins[0]["installPath"].as_str().expect("a path"));

    let workshop = Workshop::with_tasks(1);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = home.client(version, &workshop.project, &model);
    let run = client.succeeds("/speckit:implement");
    workshop.assert_all_done(1);
    assert_eq!(workshop.verdicts(), ["end completed"], "{}", run.describe());
    let doctor = home.run(copy.join("bin/spool"), &["doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout);
    assert!(told.ends_with("all checks passed\n"), "{told}");

    let output = home.claude(&["plugin", "uninstall", "speckit@ralph-speckit"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.plugins(), json!([]));
}

/// With node alone: both packages from files, as a registry would give them.
fn npx_sets_up_and_removes(version: &str) {
    let Some(release) = release() else { return };
    let home = Home::new(version);
    let packages: Vec<_> = paths(&release)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "tgz"))
        .filter(|path| !path.to_string_lossy().contains("ralph-speckit-plugin"))
        .map(|path| path.display().to_string())
        .collect();
    if packages.is_empty() {
        left_out("npm is not installed");
        return;
    }
    let words: Vec<&str> = packages.iter().map(String::as_str).collect();
    let installed =
        home.run("npm", &[&["install", "--offline", "--no-audit"], &words[..]].concat());
    assert!(installed.status.success(), "{installed:?}");
    let setup = home.run("npx", &["ralph-speckit", "setup"]);
    assert!(setup.status.success(), "{setup:?}");
    let plugins = home.plugins();
    assert_eq!(
        (&plugins[0]["id"], &plugins[0]["enabled"]),
        (&json!("speckit@ralph-speckit"), &json!(true))
    );
    let doctor = home.run("npx", &["ralph-speckit", "doctor"]);
    let told = String::from_utf8_lossy(&doctor.stdout);
    assert!(told.ends_with("all checks passed\n"), "{told}");
    let removed = home.run("npx", &["ralph-speckit", "setup", "--remove"]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(home.plugins(), json!([]));
}
