//! opencode.

use anyhow::{Result, bail};

use super::{Harness, Launch, Order, Reader};

/// opencode.
#[derive(Clone, Copy, Debug)]
pub struct Opencode;

impl Harness for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
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
