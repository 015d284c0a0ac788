//! The pipeline file: what a user types, and the checked pipeline that it means.

mod pipeline;
mod template;

pub use pipeline::{Budget, Pipeline, Stage, StageCost, StudyPlan};
pub use template::{Piece, Template};
