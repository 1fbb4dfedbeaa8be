//! Copilot CLI.

use anyhow::{Result, bail};

use super::{Harness, Launch, Order, Reader};

/// Copilot CLI.
#[derive(Clone, Copy, Debug)]
pub struct Copilot;

impl Harness for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
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
