//! Who descends from whom.

use crate::system::processes::{self, start_of};

/// As far as the system says. A parent that is younger than its child only got the number again.
pub fn descends_from(ancestor: u32) -> bool {
    /// The most ancestors that are looked at.
    const GENERATIONS: usize = 64;
    let (mut id, mut start) = (std::process::id(), start_of(std::process::id()));
    for _ in 0..GENERATIONS {
        let parent = processes::parent_of(id);
        let began = start_of(parent);
        if parent == 0 || start.is_none() || began.is_none() || began > start {
            return false;
        }
        if parent == ancestor {
            return true;
        }
        (id, start) = (parent, began);
    }
    false
}
