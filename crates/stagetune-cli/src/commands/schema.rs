//! `stagetune schema`: what editors need to check and complete pipeline files.

use super::{Done, print_json};
use crate::exit::Code;

/// Prints the schema.
pub fn run() -> Done {
    print_json(&stagetune_pipeline::file::schema())?;
    Ok(Code::Done)
}
