//! What a repository's configuration and hooks have git start: only what was there when the loop was armed.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Git, GitProgram, path};
use crate::engine::hash_of;
use crate::evidence::commits::{repository_of, top_of};
use crate::evidence::ignored::{common_folder, config_files};
use crate::store::read::read;
use crate::system::files::changed_at;
use crate::text::title;
use crate::world::WallTime;

/// The sections and keys with which a command of ours starts a program, or takes in more of the configuration. Editors, pagers,
/// aliases, merge drivers and trailers belong to commands that no call of ours makes, and `diff` is told to leave its programs out;
/// `remote` and what it needs is there for the objects that a partial clone fetches later.
const SECTIONS: &str = "credential filter gpg hook include includeif protocol";
const KEYS: &str =
    "core.alternaterefscommand core.askpass core.gitproxy core.sshcommand gc.recentobjectshook";
const OF_REMOTES: &str = "promisor uploadpack vcs";
/// The most that is read of a hook, in bytes.
const HOOK: u64 = 1 << 20;

impl Git {
    /// Returns this repository for a loop that was armed at this time: what stands in a file that was changed later counts as new.
    pub fn armed_at(mut self, time: WallTime) -> Self {
        let is_old = |meta: io::Result<Metadata>| {
            meta.is_ok_and(|meta| changed_at(&meta).seems_before(time, Duration::ZERO))
        };
        // A link may be newer than what it leads to.
        self.armed.retain(|(_, file)| is_old(file.metadata()) && is_old(file.symlink_metadata()));
        self
    }

    /// Returns what git would start now; hooks are only started by a commit.
    pub(super) fn startable(&self, commits: bool) -> Result<Vec<GitProgram>> {
        let mut found = self.configured()?;
        let hooks = self.hooks.iter().filter(|_| commits).flat_map(fs::read_dir).flatten();
        for file in hooks.flatten().map(|hook| hook.path()) {
            let hash = read(&file, HOOK).map_or(0, |content| hash_of(&content.bytes));
            found.push((format!("{}\n{hash}", file.display()), file));
        }
        Ok(found)
    }

    /// Returns what the configuration starts; git is asked again once one of its files, or of those that it may have, is another.
    fn configured(&self) -> Result<Vec<GitProgram>> {
        // Each commit changes the time of a folder, such as `.git`.
        let meta = |file: &Path| file.metadata().ok().filter(Metadata::is_file);
        let time = |file: &Path| meta(file).as_ref().map(changed_at);
        if let Some((files, found)) = &*self.configured.borrow()
            && files.iter().all(|(file, then)| time(file) == *then)
        {
            return Ok(found.clone());
        }
        let printed = self.run(&["config", "--list", "--show-origin", "-z"], &[])?;
        let mut parts = printed.split(|byte| *byte == 0);
        // What git names without the whole path is named from the top.
        let top = top_of(&self.worktree).unwrap_or(&self.worktree);
        let data = repository_of(&self.worktree).unwrap_or_default();
        let mut files = config_files(&common_folder(&data));
        files.extend([data.join("config.worktree"), data.join("commondir"), top.join(".git")]);
        let mut found = Vec::new();
        while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
            let entry = String::from_utf8_lossy(entry).into_owned();
            let file = top.join(path(origin.strip_prefix(b"file:").unwrap_or(origin)));
            if starts_a_program(entry.lines().next().unwrap_or_default()) {
                found.push((entry, file.clone()));
            }
            if files.last() != Some(&file) {
                files.push(file);
            }
        }
        // A file that is included may come later.
        if printed.windows(8).any(|word| word == b"\0include") {
            return Ok(found);
        }
        let times: Vec<_> = files.iter().map(|file| time(file)).collect();
        let files = files.into_iter().zip(times).collect();
        *self.configured.borrow_mut() = Some((files, found.clone()));
        Ok(found)
    }

    /// Refuses to ask git for anything where it would start what was not there when the loop was armed.
    pub(super) fn refuse_new_programs(&self, commits: bool) -> Result<()> {
        let is_new = |(entry, _): &GitProgram| self.armed.iter().all(|(known, _)| known != entry);
        let Some((new, _)) = self.startable(commits)?.into_iter().find(is_new) else {
            return Ok(());
        };
        let words = format!(
            "git is not asked, for it would start a program: `{}` is new or other since the loop was armed",
            title(new.lines().next().unwrap_or_default(), 200)
        );
        *self.patience.silent.borrow_mut() = Some(words.clone());
        bail!("{words}")
    }
}

fn starts_a_program(key: &str) -> bool {
    let is_one_of = |all: &str, word: &str| all.split(' ').any(|known| known == word);
    let (section, name) = (key.split('.').next().unwrap_or(key), key.rsplit('.').next());
    is_one_of(SECTIONS, section)
        || is_one_of(KEYS, key)
        || (section == "remote" && name.is_some_and(|name| is_one_of(OF_REMOTES, name)))
}
