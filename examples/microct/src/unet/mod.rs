//! `microct unet`: trains a U-Net on the annotated slices and writes what it makes of the whole volume.

mod command;
mod crops;
mod infer;
mod net;
mod train;

pub use command::{Options, run};
pub use infer::infer;
pub use net::Net;
pub use train::{CROPS, Diverged, Settings, Trained, train};
