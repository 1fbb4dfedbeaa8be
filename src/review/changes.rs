//! The changes for the reader: in full, or with a word about what is missing.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::base::{Base, KnownLoop};
use super::evidence::{SECRET, is_among, is_work};
use crate::engine::order::few;
use crate::feature::project::printable;
use crate::judge::FilesSeen;
use crate::runner::git::Git;
use crate::store::read::{folder_inside, read_in};
use crate::system::names;
use crate::text;

/// Bytes of the patch, of all files shown as text, and of one such file.
const PATCH: usize = 256 << 10;
const TEXTS: usize = 128 << 10;
const TEXT: usize = 16 << 10;
/// Files that are named to the reader.
const NAMED: usize = 2_000;
const BULK: &str = include_str!("bulk.gitignore");

#[derive(Default)]
pub struct Changes {
    /// The patch, or a part; `None` if unknown.
    pub patch: Option<String>,
    /// The text of files that git does not know yet, or whose change no patch shows.
    pub texts: String,
    pub names: BTreeSet<String>,
    /// Files that the reader does not get in full.
    pub cut: BTreeSet<String>,
    /// What the reader does not get, a sentence each.
    pub caveats: Vec<String>,
}

impl Changes {
    /// The changes since the base. `seen` are files that changed since arming by their own content.
    pub fn of(
        root: &Path,
        git: Option<&Git>,
        (base, known): (&Base, Option<&KnownLoop>),
        seen: &FilesSeen,
    ) -> Self {
        let (mut changes, mut hidden, mut rest) = (Self::default(), BTreeSet::new(), Vec::new());
        let patch = git.zip(base.commit.as_ref()).map(|(git, commit)| {
            let patch = git.patch_since(commit)?;
            hidden.extend(changes.take_patch(&String::from_utf8_lossy(&patch)));
            hidden.extend(in_words(git.filtered(&changes.names)));
            hidden.extend(in_words(git.marked_unchanged(commit)));
            rest.extend(in_words(git.unknown_files()));
            let since = known.map(|last| last.armed_at);
            let left_out = since.map(|since| git.excluded_since(since)).unwrap_or_default();
            let is_by_hand = |name: &String| !is_among(BULK, &[name, "x"].concat());
            let outside = in_words(git.changed_outside(commit, since.unwrap_or_default()));
            let outside = outside.map(|name| format!(":/{name}"));
            let lacks = in_words(left_out).filter(is_by_hand).chain(outside);
            let lacks = lacks.filter(|name| is_work(Path::new(name)));
            lacks.for_each(|name| changes.add(&name, true));
            anyhow::Ok(())
        });
        let has = |name: &String| changes.names.contains(name) || hidden.contains(name);
        let is_file = |name: &String| !name.ends_with('/') && is_work(Path::new(name));
        let looked = seen.facts.since_arming.iter().map(|file| &file.path);
        let looked = looked.filter(|name| is_file(name) && !has(name) && !rest.contains(name));
        let looked: BTreeSet<String> = looked.cloned().collect();
        // Text may be called binary.
        let is_text = |name: &String| content(root, name).is_some();
        let (hidden, binary): (BTreeSet<_>, _) = hidden.into_iter().partition(is_text);
        let gone = "the repository is gone or broken that was there when the loop was armed";
        let behind =
            ", by .gitattributes or a mark in its index: the reader got their text instead";
        match patch {
            Some(Ok(())) => {
                changes.note("git shows no changes of", &hidden, behind);
                changes.note("git shows no changes of", &looked, ": the reader got what is there");
            }
            Some(Err(why)) => changes.caveats.push(format!("the reader got no patch: {why:#}")),
            None if known.is_none_or(|known| known.head.is_empty()) => {}
            None => changes.caveats.push(format!("the reader got no patch: {gone}")),
        }
        changes.take_texts(root, hidden.into_iter().chain(binary).chain(looked).chain(rest));
        let cut = changes.cut.iter().cloned();
        let (secret, cut): (BTreeSet<_>, _) = cut.partition(|name| is_among(SECRET, name));
        let unknown = git.filter(|_| seen.now.is_none()).map(Git::submodules).unwrap_or_default();
        let unknown = in_words(unknown).collect();
        changes.note("it is not known what changed inside of the submodules", &unknown, "");
        let behind = ", which may hold keys or passwords";
        changes.note("the reader got only the names of", &secret, behind);
        changes.note("the reader did not get all of", &cut, "");
        let before = format!("the reader got no names behind the first {NAMED}, those of");
        changes.note(&before, &changes.names.iter().skip(NAMED).cloned().collect(), "");
        changes
    }

    /// Adds a caveat about these files; none for no files.
    fn note(&mut self, before: &str, names: &BTreeSet<String>, behind: &str) {
        let names = few(&mut names.iter().map(|name| printable(name)), 3);
        if !names.is_empty() {
            self.caveats.push(format!("{before} {names}{behind}"));
        }
    }

    fn add(&mut self, name: &str, is_cut: bool) {
        self.names.insert(name.to_owned());
        if is_cut {
            self.cut.insert(name.to_owned());
        }
    }

    /// Takes the patches of as many files as there is room for: those of a person before those of programs, and short
    /// ones first. The result: files whose content is not in it.
    fn take_patch(&mut self, patch: &str) -> Vec<String> {
        let (patch, mut text, mut binary) = (format!("\n{patch}"), String::new(), Vec::new());
        let parts = patch.split("\ndiff --git ").skip(1).map(|part| {
            let head = part.lines().next().unwrap_or_default();
            // Both names are the same; names with odd letters are quoted.
            let from = if head.starts_with('"') { 3 } else { 2 };
            (head.get(from..head.len() / 2).unwrap_or(head).trim_end_matches('"'), part)
        });
        let mut parts: Vec<(&str, &str)> = parts.collect();
        if patch.len() > PATCH {
            parts.sort_by_key(|(name, part)| (is_among(BULK, name), part.len()));
        }
        for (name, part) in parts {
            let room = PATCH.saturating_sub(text.len());
            let (is_secret, fits) = (is_among(SECRET, name), part.len() <= room);
            if !is_secret && (fits || room > TEXT) {
                let _ = writeln!(text, "diff --git {}", cut(part, room, name));
            }
            // A submodule is a commit alone.
            let is_link = part.lines().take(3).any(|line| line.ends_with(" 160000"));
            if is_link || part.contains("\nBinary files ") {
                binary.push(name.to_owned());
            }
            self.add(name, is_secret || !fits);
        }
        self.patch = Some(text);
        binary
    }

    /// Takes these files' contents while there is room.
    fn take_texts(&mut self, root: &Path, files: impl Iterator<Item = String>) {
        for name in files {
            let has_room = self.texts.len() < TEXTS && !is_among(SECRET, &name);
            let content = content(root, &name).filter(|_| has_room);
            let is_there = || root.join(&name).exists();
            self.add(&name, content.as_ref().map_or_else(is_there, |text| text.len() > TEXT));
            if let Some(all) = content {
                let name = text::title(&name, 200);
                let _ = writeln!(self.texts, "{name}:\n{}", cut(&all, TEXT, &name).trim_end());
            }
        }
    }

    /// All names, with a mark for those that are not given in full.
    pub fn all_names(&self) -> String {
        let line = |name: &String| {
            let note = if self.cut.contains(name) { " (not all of it is below)" } else { "" };
            text::title(name, 200) + note + "\n"
        };
        self.names.iter().take(NAMED).map(line).collect()
    }
}

fn in_words(files: Vec<PathBuf>) -> impl Iterator<Item = String> {
    files.into_iter().map(|file| names::with_slashes(&file))
}

/// The file's lines, each behind a `+`; `None` for an unread file, and for one that is no text.
fn content(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name);
    let folder = folder_inside(root, path.parent()?).ok()?;
    let content = read_in(&folder, path.file_name()?.to_str()?, 4 << 20).ok()?;
    let content = String::from_utf8(content.bytes).ok().filter(|text| !text.contains('\0'))?;
    Some(content.lines().fold(String::new(), |text, line| text + "+" + line + "\n"))
}

/// The text, or its beginning with a line about the rest.
pub fn cut(content: &str, most: usize, whole: &str) -> String {
    if content.len() <= most {
        return content.to_owned();
    }
    let kept = &content[..content.floor_char_boundary(most)];
    let kept = kept.rfind('\n').map_or(kept, |end| &kept[..end]);
    format!(
        "{kept}\n[cut here: {} of {} bytes are shown; the rest is in {whole}]",
        kept.len(),
        content.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_text_files_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("new.rs"), "fn new() {}\n").unwrap();
        std::fs::write(project.join("image"), b"a\0b").unwrap();
        std::fs::write(root.join("secret"), "SECRET").unwrap();
        std::os::unix::fs::symlink(root.join("secret"), project.join("link")).unwrap();
        let files = ["new.rs", "image", "link", "gone"].map(str::to_owned);
        let mut changes = Changes::default();
        changes.take_texts(&project, files.into_iter());
        assert_eq!(changes.texts, "new.rs:\n+fn new() {}\n");
        assert_eq!(Vec::from_iter(&changes.names), ["gone", "image", "link", "new.rs"]);
        assert_eq!(Vec::from_iter(&changes.cut), ["image", "link"]);
    }

    #[test]
    fn v3_source_precedes_generated_files() {
        let part = |name: &str, lines: usize| {
            let head = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n");
            head + &"+a line that was added here\n".repeat(lines)
        };
        let patch = [("Cargo.lock", 4_000), ("dist/app.js", 9_000), ("src/zed.rs", 3_000)];
        let patch: String = patch.iter().map(|(name, lines)| part(name, *lines)).collect();
        let mut changes = Changes::default();
        changes.take_patch(&(patch + &part("src/y z.rs", 2)));
        let names = ["Cargo.lock", "dist/app.js", "src/y z.rs", "src/zed.rs"];
        assert_eq!(Vec::from_iter(&changes.names), names);
        assert_eq!(Vec::from_iter(&changes.cut), ["dist/app.js"]);
        let patch = changes.patch.unwrap();
        assert!(patch.starts_with("diff --git a/src/y z.rs") && patch.len() < PATCH + 200);
        assert!(patch.contains("[cut here: "), "what is left of the room is used");
    }

    #[test]
    fn v3_each_file_is_whole_or_cut() {
        for (files, lines) in [(300, 30), (2_600, 1), (252, 35), (40, 400), (9, 2_000), (200, 47)] {
            let part = |at: usize| {
                let (name, lines) = (format!("m/f{at}.rs"), 1 + (at * 7 + lines) % (2 * lines));
                let head = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n");
                head + &"+a line that was added here\n".repeat(lines)
                    + &format!("+end of {name};\n")
            };
            let mut changes = Changes::default();
            changes.take_patch(&(0..files).map(part).collect::<String>());
            let patch = changes.patch.as_deref().unwrap();
            assert_eq!(changes.names.len(), files);
            for name in &changes.names {
                let is_whole = patch.contains(&format!("+end of {name};\n"));
                assert_ne!(is_whole, changes.cut.contains(name), "{name} of {files}");
            }
        }
    }

    #[test]
    fn v5_secret_files_are_known() {
        for path in [
            ".env",
            "app/.env.local",
            "prod.env",
            "certs/server.PEM",
            "id_ed25519",
            "home/.ssh/config",
            ".ssh/config",
            "config/secrets.yml",
            "credentials.json",
            ".npmrc",
            "infra/prod.tfvars",
            ".secrets",
            "deploy/secrets/db.txt",
            "home/.docker/config.json",
            ".vault_pass",
            ".dev.vars",
            "kubeconfig",
            "infra/terraform.tfstate",
            "terraform.tfstate.backup",
            ".my.cnf",
            ".s3cfg",
            "password.txt",
            "passwords.csv",
            "key.asc",
            "server.pem.bak",
            "my-service-account-1.json",
            "app/.yarnrc.yml",
            "env",
            "local.settings.json",
        ] {
            assert!(is_among(SECRET, path), "{path}");
        }
        for path in [
            ".env.example",
            "src/env.rs",
            "id_rsa.pub",
            "src/secrets.rs",
            "src/login.rs",
            "environment",
            "docs/credentials.md",
            "a.environment",
            "src/password.rs",
            "src/secrets/mod.rs",
            "env/setup.py",
            "src/password_reset.html",
        ] {
            assert!(!is_among(SECRET, path), "{path}");
        }
    }
}
