//! Any program that takes a prompt on its standard input and answers on its standard output.

use anyhow::{Result, bail};

use super::{Harness, Launch, Order, Reader};

/// Any program.
#[derive(Clone, Debug)]
pub struct Any;

impl Any {
    /// Returns the harness for a command line; it is split as a shell would, and never given to one.
    pub fn new(line: &str) -> Result<Self> {
        bail!("not built yet: {line}")
    }
}

impl Harness for Any {
    fn name(&self) -> &'static str {
        "command"
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
