//! The stages of the microCT pipeline.

pub mod denoise;
pub mod measure;
pub mod parts;
pub mod phantom;
pub mod picture;
pub mod reconstruct;
pub mod table;
pub mod unet;
pub mod volume;
