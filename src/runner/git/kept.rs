//! The work of an unfinished try, kept as a commit under a ref of ours.
//!
//! The commit uses its own index: the person's branch, index, stashes and files stay, and no hook of the repository
//! runs.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::scratch::ScratchFolder;
use super::{Git, is_commit_name, joined};
use crate::evidence::tree::is_own;
use crate::store::read;

/// The prefix of all our refs.
const REFS: &str = "refs/ralph/";
/// The most refs of one change; the oldest ones go.
const MOST_REFS: usize = 20;
const MOST_FILES: usize = 20_000;
/// The largest file in a commit, in bytes.
const LARGEST: u64 = 64 << 20;
/// The most bytes in a commit, and the largest index that is copied.
const MOST_BYTES: u64 = 256 << 20;
/// A fixed signature, because the work is nobody's yet, and the person may have no name set.
const SIGNATURE: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "ralph-speckit"),
    ("GIT_AUTHOR_EMAIL", "ralph-speckit@localhost"),
    ("GIT_COMMITTER_NAME", "ralph-speckit"),
    ("GIT_COMMITTER_EMAIL", "ralph-speckit@localhost"),
];

/// A try that did not reach its own end.
#[derive(Clone, Copy, Debug)]
pub struct UnfinishedTry<'a> {
    pub change: &'a str,
    pub iteration: u32,
    /// The start, for a name: `20261123-145000`.
    pub began: &'a str,
    /// The reason, in words.
    pub why: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWork {
    /// Such as `refs/ralph/add-login/20261123-145000-3`.
    pub name: String,
    /// Files that are only in the work tree: they are too large, unreadable, or repositories of their own.
    pub left_out: Vec<PathBuf>,
}

impl Git {
    /// Keeps all files that differ from the commit, including new ones, without ignored ones. `None` where none
    /// differs. Work that a ref of the change already holds is not kept twice. An error is git's own, and nothing is
    /// changed then.
    pub fn keep(&self, unfinished: &UnfinishedTry<'_>) -> Result<Option<KeptWork>> {
        let mut dirty = self.status()?.dirty();
        dirty.retain(|file| !file.ancestors().any(is_own));
        if dirty.is_empty() {
            return Ok(None);
        }
        let (files, left_out) = self.within_bounds(dirty);
        let scratch =
            ScratchFolder::of(&self.worktree).context("no temporary folder can be made")?;
        let index = scratch.0.join("index");
        self.copy_index(&index)?;
        let set = [("GIT_INDEX_FILE", index.as_os_str()), ("GIT_NO_LAZY_FETCH", OsStr::new("1"))];
        let git = |arguments: &[&str], input: &[u8]| self.run_with(&set, arguments, input);
        // Mixed line ends are no reason to lose a file.
        let quiet = ["-c", "core.splitIndex=false", "-c", "core.safecrlf=false"];
        let add = [&quiet[..], &["update-index", "--add", "--remove", "--replace"]].concat();
        git(&[&add[..], &["-z", "--stdin"]].concat(), &joined(&files))
            .context("`git update-index` failed")?;
        let tree = one_line(&git(&["write-tree", "--missing-ok"], &[])?);
        let head = self.commit_named("HEAD");
        if let Some(head) = &head
            && one_line(&git(&["rev-parse", &format!("{head}^{{tree}}")], &[])?) == tree
        {
            return Ok(None);
        }
        // git cannot list refs to a missing commit. This try is kept all the same.
        let refs = self.kept_below(&folder_of(unfinished.change)).unwrap_or_default();
        if let Some((name, _)) = refs.iter().find(|(_, kept)| *kept == tree) {
            return Ok(Some(KeptWork { name: name.clone(), left_out }));
        }
        let commit = self.commit_tree(&tree, head.as_deref(), unfinished)?;
        let name = free_name(unfinished, &refs);
        let new = format!("option no-deref\ncreate {name} {commit}\n");
        git(&["update-ref", "--stdin"], new.as_bytes()).context("`git update-ref` failed")?;
        let many = (refs.len() + 1).saturating_sub(MOST_REFS);
        let oldest: Vec<String> = refs[..many.min(refs.len())]
            .iter()
            // The agent may have made a symbolic ref; deleting it must not delete its target.
            .map(|(old, _)| format!("option no-deref\ndelete {old}\n"))
            .collect();
        if !oldest.is_empty() {
            // The new ref counts; the next try removes old ones again.
            let _ = git(&["update-ref", "--stdin"], oldest.concat().as_bytes());
        }
        Ok(Some(KeptWork { name, left_out }))
    }

    /// The ref of a try.
    pub fn kept_of(&self, unfinished: &UnfinishedTry<'_>) -> Option<String> {
        Some(name_of(unfinished)).filter(|name| self.has_kept(name))
    }

    /// The name is one of our refs, and exists.
    pub fn has_kept(&self, name: &str) -> bool {
        name.starts_with(REFS) && self.commit_named(name).is_some()
    }

    /// Files that can be kept, and the others.
    fn within_bounds(&self, dirty: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut bytes, mut files) = (0_u64, 0_usize);
        dirty.into_iter().partition(|file| {
            // A slash at the end marks a repository, which no index takes.
            if file.as_os_str().as_encoded_bytes().ends_with(b"/") {
                return false;
            }
            let path = self.worktree.join(file);
            let meta = path.symlink_metadata();
            let size = meta.as_ref().map_or(0, Metadata::len);
            // One unreadable file would make git take none.
            let is_shut = meta.is_ok_and(|meta| meta.is_file()) && read::open(&path).is_err();
            let fits = size <= LARGEST && bytes + size <= MOST_BYTES && files < MOST_FILES;
            let fits = fits && !is_shut;
            if fits {
                (bytes, files) = (bytes + size, files + 1);
            }
            fits
        })
    }

    /// A copy of the person's index saves git from reading every file again.
    fn copy_index(&self, to: &Path) -> Result<()> {
        let printed = self.run(&["rev-parse", "--git-path", "index"], &[])?;
        let printed = printed.strip_suffix(b"\n").unwrap_or(&printed);
        let index = self.worktree.join(super::path(printed));
        match index.symlink_metadata() {
            // Nothing was ever added.
            Err(_) => return Ok(()),
            Ok(meta) if meta.len() > MOST_BYTES => {
                bail!("the index has more than {} MiB", MOST_BYTES >> 20)
            }
            Ok(_) => {}
        }
        fs::copy(&index, to).with_context(|| format!("cannot copy `{}`", index.display()))?;
        Ok(())
    }

    fn commit_tree(
        &self,
        tree: &str,
        head: Option<&str>,
        unfinished: &UnfinishedTry<'_>,
    ) -> Result<String> {
        let UnfinishedTry { change, iteration, why, .. } = unfinished;
        let message = format!(
            "ralph: {change} iteration {iteration}, unfinished: {why}\n\n\
             All that was not committed in the work tree then, kept by spool ralph; no branch has it.\n"
        );
        let set = SIGNATURE.map(|(name, value)| (name, OsStr::new(value)));
        let parent: Vec<&str> = head.iter().flat_map(|head| ["-p", *head]).collect();
        let asked = [&["commit-tree", tree][..], &parent].concat();
        let commit = one_line(&self.run_with(&set, &asked, message.as_bytes())?);
        if !is_commit_name(&commit) {
            bail!("`git commit-tree` named no commit");
        }
        Ok(commit)
    }

    /// The name and the tree of each ref, oldest first.
    fn kept_below(&self, folder: &str) -> Result<Vec<(String, String)>> {
        let form = "--format=%(refname) %(tree)";
        let printed = self.run(&["for-each-ref", "--sort=refname", form, folder], &[])?;
        let printed = String::from_utf8_lossy(&printed);
        let kept = printed.lines().filter_map(|line| line.split_once(' '));
        Ok(kept.map(|(name, tree)| (name.to_owned(), tree.to_owned())).collect())
    }
}

/// The prefix of a change's refs.
fn folder_of(change: &str) -> String {
    format!("{REFS}{}/", ref_part(change))
}

fn name_of(unfinished: &UnfinishedTry<'_>) -> String {
    let UnfinishedTry { change, iteration, began, .. } = unfinished;
    format!("{}{began}-{iteration}", folder_of(change))
}

/// A free name: two tries may begin in the same second.
fn free_name(unfinished: &UnfinishedTry<'_>, refs: &[(String, String)]) -> String {
    let name = name_of(unfinished);
    let is_taken = |name: &String| refs.iter().any(|(kept, _)| kept == name);
    let more = (2..).map(|again| format!("{name}-{again}"));
    std::iter::once(name.clone()).chain(more).find(|name| !is_taken(name)).unwrap_or(name)
}

/// A change's id in a ref's name, which allows fewer characters.
fn ref_part(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    id.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn one_line(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_name_makes_a_ref() {
        assert_eq!(ref_part("002-01_add-login"), "002-01_add-login");
        assert_eq!(ref_part("v1.2..x@{y}.lock ä"), "v1%2E2%2E%2Ex%40%7By%7D%2Elock%20%C3%A4");
    }
}
