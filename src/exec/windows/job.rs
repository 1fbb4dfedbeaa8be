//! Jobs: what is in one, with all that it starts, ends with the last handle of it, also when its holder is killed.

use std::collections::BTreeSet;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use std::sync::OnceLock;

use win32job::{ExtendedLimitInfo, JobError};

/// A job. Dropping it ends all that is in it.
pub struct Job(win32job::Job);

impl Job {
    /// Returns an empty one.
    pub fn new() -> io::Result<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = win32job::Job::create_with_limit_info(&limits).map_err(|error| said(&error))?;
        Ok(Self(job))
    }

    /// Takes in a program that was just started.
    pub fn take_in(&self, child: &Child) -> io::Result<()> {
        self.0.assign_process(child.as_raw_handle() as isize).map_err(|error| said(&error))
    }

    /// Returns the ids of the processes in it.
    pub fn members(&self) -> BTreeSet<u32> {
        let listed = self.0.query_process_id_list().unwrap_or_default();
        listed.into_iter().filter_map(|id| u32::try_from(id).ok()).collect()
    }
}

/// Returns the job that this process itself is in, and whatever descends from it; `None` where the system refuses one.
pub fn own() -> Option<&'static Job> {
    static OWN: OnceLock<Option<Job>> = OnceLock::new();
    let begin = || {
        let job = Job::new().ok()?;
        job.0.assign_current_process().ok()?;
        Some(job)
    };
    OWN.get_or_init(begin).as_ref()
}

fn said(error: &JobError) -> io::Error {
    io::Error::other(error.to_string())
}
