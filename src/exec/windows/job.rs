//! Jobs: closing the last handle ends all processes in a job, also when its holder is killed.

use std::collections::BTreeSet;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use std::sync::OnceLock;

use win32job::{ExtendedLimitInfo, JobError};

/// Dropping it ends all that is in it.
pub struct Job(win32job::Job);

impl Job {
    pub fn new() -> io::Result<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = win32job::Job::create_with_limit_info(&limits).map_err(|error| said(&error))?;
        Ok(Self(job))
    }

    pub fn take_in(&self, child: &Child) -> io::Result<()> {
        self.0.assign_process(child.as_raw_handle() as isize).map_err(|error| said(&error))
    }

    pub fn members(&self) -> BTreeSet<u32> {
        let listed = self.0.query_process_id_list().unwrap_or_default();
        listed.into_iter().filter_map(|id| u32::try_from(id).ok()).collect()
    }
}

/// The job of this process and its descendants; `None` where the system refuses one.
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
