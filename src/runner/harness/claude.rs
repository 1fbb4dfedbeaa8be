//! Claude Code.

use anyhow::{Result, bail};

use super::{Harness, Launch, Order, Reader};

/// Claude Code.
#[derive(Clone, Copy, Debug)]
pub struct Claude;

impl Harness for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn check(&self) -> Result<Option<String>> {
        bail!("not built yet")
    }

    fn launch(&self, _: &Order<'_>) -> Result<Launch> {
        bail!("not built yet")
    }

    fn reader(&self, _: &Order<'_>) -> Box<dyn Reader> {
        unreachable!("not built yet")
    }
}
