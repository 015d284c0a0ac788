//! An argument with placeholders: whatever is put in stays inside that one argument.

/// One argument of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// As it stands in the file.
    pub source: String,
    /// What it is made of.
    pub pieces: Vec<Piece>,
}

/// A part of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Itself.
    Text(String),
    /// `{out}`: the fresh directory of this run.
    Out,
    /// `{denoise}`: the finished output directory of the stage of that number.
    Stage(usize),
    /// `{lr}`: a parameter of this stage.
    Param(String),
}
