//! What can be tuned.

mod batch;

pub use batch::Batch;
