//! Stand-in.
/// x
#[derive(Debug)]
pub struct Signals;
impl Signals {
    /// x
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }
    /// x
    pub fn asked(&self) -> Option<i32> {
        None
    }
}
