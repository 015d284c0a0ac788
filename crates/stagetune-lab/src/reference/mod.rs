//! The engine's numbers against files of numbers that were computed elsewhere.
//!
//! A file is a JSON object with a `tolerance` and one of five formats, recognised by its keys and never by its name:
//!
//! | format | keys | what is compared |
//! | --- | --- | --- |
//! | functions | `cases[].function` | values, box and minimum of a test function |
//! | acquisition | `expected_improvement`, `gittins`, `max_value_entropy` | EI, log EI, Gittins index, max-value entropy |
//! | bandit | `cases[].regions_per_module` | one update of the slowly moving bandit |
//! | gp | `cases[].gradient_log` | posterior mean and covariance, log marginal likelihood, its gradient |
//! | fit | `cases[].best_log_marginal_likelihood` | the likelihood that our fit reaches |
//!
//! [`Tally`] says how an error is measured. A file that cannot be read, is of no known format or lacks a key is an
//! error of its own, never a silent pass; keys that no check looks at are reported.

mod acquisition;
mod bandit;
mod fit;
mod functions;
mod gp;
mod reader;
mod report;
mod tally;

pub use reader::Complaint;
pub use report::Report;
pub use tally::Tally;

use reader::Node;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Why a directory or a file could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// The directory or a file in it cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is nothing to check.
    #[error("{} holds no .json file, so there is nothing to check", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// The file is not JSON.
    #[error("{file} is not valid JSON: {source}")]
    Syntax {
        /// The file.
        file: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The keys of the file belong to no format.
    #[error("{file} is of no known format: its keys are {keys}; known are {}", known_formats())]
    UnknownFormat {
        /// The file.
        file: String,
        /// What it holds.
        keys: String,
    },
    /// A key is missing, is of the wrong type or makes no sense.
    #[error("{file}: {complaint}")]
    Key {
        /// The file.
        file: String,
        /// Which key and what is wrong with it.
        complaint: Complaint,
    },
}

/// What the check of one file found.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The file's name.
    pub file: String,
    /// The recognised format.
    pub format: &'static str,
    /// The largest error that the file allows.
    pub tolerance: f64,
    /// Whether the largest error is within it.
    pub ok: bool,
    /// The errors.
    #[serde(flatten)]
    pub tally: Tally,
    /// Keys that no check looked at.
    pub ignored_keys: Vec<String>,
}

/// Checks every `.json` file of a directory, in the order of their names.
pub fn check_directory(directory: &Path) -> Result<Report, ReferenceError> {
    let unreadable = |source| ReferenceError::Read { path: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(ReferenceError::Empty { path: directory.to_owned() });
    }
    let mut report = Report::default();
    for path in files {
        match check_file(&path) {
            Ok(outcome) => report.outcomes.push(outcome),
            Err(error) => report.errors.push(error),
        }
    }
    Ok(report)
}

/// Checks one file.
pub fn check_file(path: &Path) -> Result<Outcome, ReferenceError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ReferenceError::Read { path: path.to_owned(), source })?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    check_text(&name, &text)
}

/// Checks the text of a file, which messages call `file`.
pub fn check_text(file: &str, text: &str) -> Result<Outcome, ReferenceError> {
    let file = file.to_owned();
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|source| ReferenceError::Syntax { file: file.clone(), source })?;
    let root = Node::root(&value);
    let Some(format) = FORMATS.iter().find(|format| (format.recognise)(&root)) else {
        return Err(ReferenceError::UnknownFormat { file, keys: root.describe_keys() });
    };
    let check = || {
        let tolerance = root.get("tolerance")?;
        let limit = tolerance.number()?;
        if limit < 0.0 {
            return Err(tolerance.complain("is negative; give the largest error to accept"));
        }
        let mut tally = Tally::default();
        (format.check)(&root, &mut tally)?;
        if tally.cases == 0 {
            return Err(root.complain("holds no cases, so that nothing would be checked"));
        }
        Ok((limit, tally))
    };
    let (tolerance, tally) =
        check().map_err(|complaint| ReferenceError::Key { file: file.clone(), complaint })?;
    let ok = tally.largest_error <= tolerance;
    Ok(Outcome {
        file,
        format: format.name,
        tolerance,
        ok,
        tally,
        ignored_keys: root.keys_beside(format.keys),
    })
}

/// One of the formats.
struct Format {
    name: &'static str,
    recognise: fn(&Node) -> bool,
    check: fn(&Node, &mut Tally) -> Result<(), Complaint>,
    /// The keys that the check looks at; `cases[].` is left out, for the keys of cases and of the file do not clash.
    keys: &'static [&'static str],
}

const FORMATS: [Format; 5] =
    [functions::FORMAT, acquisition::FORMAT, bandit::FORMAT, gp::FORMAT, fit::FORMAT];

fn known_formats() -> String {
    FORMATS.map(|format| format.name).join(", ")
}
