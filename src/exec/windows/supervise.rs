//! No supervisor is needed here: the system ends a job's processes with their holder.

use super::family;

/// Declares that this process runs one program at a time.
pub fn supervise_if_asked() {
    family::alone();
}
