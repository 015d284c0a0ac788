//! The pipeline file: what a user types, and the checked pipeline that it means.
//!
//! [`Pipeline::load`] reads a file; a [`FileError`] holds everything that is wrong with it, each
//! problem with its line, the place in it, and what to write. [`Pipeline::parse`] does the same for
//! a text and looks at no other file.

mod budget;
mod check;
mod code;
mod command;
mod load;
mod names;
mod params;
mod paths;
mod pipeline;
mod problem;
mod reader;
mod shape;
mod space;
mod stage;
mod study;
mod syntax;
mod template;
mod units;

pub use load::find_program;
pub use pipeline::{Budget, DEAREST, DEFAULT_GRACE, Pipeline, Price, Stage, StageCost, StudyPlan};
pub use problem::{FileError, Problem};
pub use shape::{fits_shape, schema, starter};
pub use template::{Piece, Template, Unfilled, value_text};
pub use units::bytes as parse_bytes;
