//! How a file of results came about: what stands beside every number.

use crate::clock;
use anyhow::Result;

/// How a file came about.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The command line, with the program's name in place of its path.
    pub command: String,
    /// Now, in UTC.
    pub date: String,
    /// Of the machine.
    pub cores: usize,
    /// Of the laboratory.
    pub version: &'static str,
    /// Whether this build is optimised.
    pub optimised: bool,
}

/// Of this process.
pub fn provenance() -> Result<Provenance> {
    let words = std::iter::once("stagetune-lab".to_owned()).chain(std::env::args().skip(1));
    Ok(Provenance {
        command: words.collect::<Vec<_>>().join(" "),
        date: clock::now(),
        cores: std::thread::available_parallelism()?.get(),
        version: env!("CARGO_PKG_VERSION"),
        optimised: !cfg!(debug_assertions),
    })
}
