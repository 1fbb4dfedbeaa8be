//! No supervisor is needed here: the system ends the processes of a job when the process that holds it has gone.

use super::family;

/// Notes that this process runs one program at a time.
pub fn supervise_if_asked() {
    family::alone();
}
