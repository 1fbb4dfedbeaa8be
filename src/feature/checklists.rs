//! The checklists of a feature. spec-kit asks a person before it implements a feature with open ones.

use super::project::Feature;
use crate::engine::order::sorted;
use crate::engine::tasks::TaskList;
use crate::store::read::{self, Problem};
use crate::text;

const FOLDER: &str = "checklists";
/// Entries of the folder.
const MOST_FILES: usize = 200;
/// Bytes of one checklist.
const MOST: u64 = 1 << 18;

/// Checklists in one list.
const NAMED: usize = 12;

/// The open checklists, as many as a person can read, and the number of the others.
pub fn named(feature: &Feature) -> Vec<String> {
    let mut open = open(feature);
    let more = open.split_off(open.len().min(NAMED)).len();
    open.extend((more > 0).then(|| ["and ", &more.to_string(), " more"].concat()));
    open
}

/// A few words for each checklist with open items, or that cannot be read: `ux.md: 3 of 12 open`. In the order of
/// names.
fn open(feature: &Feature) -> Vec<String> {
    let unread = |name: &str, why: &dyn std::fmt::Display| {
        vec![[&text::title(name, 80), ": cannot be read: ", &why.to_string()].concat()]
    };
    let folder = match read::folder_inside(&feature.folder, &feature.folder.join(FOLDER)) {
        Ok(folder) => folder,
        Err(Problem::Missing | Problem::NotAFolder) => return Vec::new(),
        Err(problem) => return unread(FOLDER, &problem),
    };
    if let Err(error) = std::fs::read_dir(&folder) {
        return unread(FOLDER, &error);
    }
    let found = read::entries(&folder, MOST_FILES);
    if found.has_more {
        return unread(FOLDER, &"it holds too many files");
    }
    let names = found.entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.filter(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "md"));
    let names: Vec<String> = sorted(names.collect(), Ord::cmp);
    let states = names.iter().flat_map(|name| match read::read_in(&folder, name, MOST) {
        Ok(content) => match TaskList::boxes(&content.bytes) {
            (0, _) => Vec::new(),
            (open, all) => {
                let name = text::title(name, 80);
                vec![[&name, ": ", &open.to_string(), " of ", &all.to_string(), " open"].concat()]
            }
        },
        Err(problem) => unread(name, &problem),
    });
    states.collect()
}
