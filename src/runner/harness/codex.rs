//! Codex.

use anyhow::{Result, bail};

use super::{Harness, Launch, Order, Reader};

/// Codex.
#[derive(Clone, Copy, Debug)]
pub struct Codex;

impl Harness for Codex {
    fn name(&self) -> &'static str {
        "codex"
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
