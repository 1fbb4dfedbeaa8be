//! Tells a released `spool` the commit that it is built from. Leaves what unwinds a stack (170 KB) out of the released hook:
//! a panic ends the hook at once, so nothing ever walks its stack.
//!
//! Not every linker can leave that out. LLVM's can, which Rust brings along: rustc calls that linker itself for musl, and by
//! way of a C compiler for glibc. GNU's linker leaves out the index alone (25 KB).

#![expect(
    clippy::disallowed_methods,
    reason = "a build script has cargo's words in its environment, and starts rustc and git"
)]

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/bin/ralph-hook.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo names the package's folder");
        let script = format!("-T{folder}/src/bin/ralph-hook.ld");
        let ways = [format!("-Wl,{script}"), script, "-Wl,--no-eh-frame-hdr".to_owned()];
        if let Some(argument) = ways.iter().find(|way| links_with(way)) {
            println!("cargo:rustc-link-arg-bin=ralph-hook={argument}");
        }
    }
    // A program for tests is not built again after every commit.
    if is("PROFILE", "release")
        && let Some(commit) = commit()
    {
        let version = env::var("CARGO_PKG_VERSION").expect("cargo names the version");
        println!("cargo:rustc-env=SPOOL_VERSION={version} ({commit})");
    }
}

/// Returns the commit that the sources are of, with `-dirty` behind it where they differ; `None` outside of a repository.
fn commit() -> Option<String> {
    println!("cargo:rerun-if-changed=src");
    // `cargo package` leaves this file in what it uploads.
    if let Ok(packed) = std::fs::read_to_string(".cargo_vcs_info.json") {
        let (_, behind) = packed.split_once("\"sha1\": \"")?;
        return behind.get(..LETTERS).map(str::to_owned);
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).stderr(Stdio::null()).output().ok()?;
        let words = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !words.is_empty()).then_some(words)
    };
    // The sources may lie, without a repository of their own, in somebody else's.
    let folder = env::var("CARGO_MANIFEST_DIR").ok()?;
    let is_ours = std::fs::canonicalize(git(&["rev-parse", "--show-toplevel"])?).ok()
        == std::fs::canonicalize(folder).ok();
    let log = is_ours.then(|| git(&["rev-parse", "--git-path", "logs/HEAD"])).flatten()?;
    println!("cargo:rerun-if-changed={log}");
    git(&["describe", "--always", "--dirty", "--exclude=*", &format!("--abbrev={LETTERS}")])
}

/// How much of a commit's name is told.
const LETTERS: usize = 9;

/// Returns whether an empty program can be linked with this argument, as the hook is linked.
fn links_with(argument: &str) -> bool {
    let (Ok(rustc), Ok(out), Ok(target)) =
        (env::var("RUSTC"), env::var("OUT_DIR"), env::var("TARGET"))
    else {
        return false;
    };
    let source = Path::new(&out).join("empty.rs");
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let linker = env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}"));
    let mut rustc = Command::new(rustc);
    rustc.arg(&source).args(linker).args([
        "--target",
        &target,
        "-C",
        "panic=abort",
        "-C",
        &format!("link-arg={argument}"),
    ]);
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    rustc
        .arg("-o")
        .arg(Path::new(&out).join("empty"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    rustc.status().is_ok_and(|status| status.success())
}
