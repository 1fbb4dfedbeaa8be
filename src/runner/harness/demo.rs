//! An embedded scripted agent.

use anyhow::{Result, bail};

use super::{Harness, Launch, Order, Reader};

/// An embedded scripted agent.
#[derive(Clone, Copy, Debug)]
pub struct Demo;

impl Harness for Demo {
    fn name(&self) -> &'static str {
        "demo"
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
