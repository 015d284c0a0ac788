//! The result of checking a directory, as a table, as JSON and as an exit code.

use super::{Outcome, ReferenceError};
use serde_json::json;
use std::fmt;

/// What came out for each file.
#[derive(Debug, Default)]
pub struct Report {
    /// The files that could be checked.
    pub outcomes: Vec<Outcome>,
    /// Why the others could not.
    pub errors: Vec<ReferenceError>,
}

impl Report {
    /// 0: all within tolerance; 1: a number is past it; 2: a file could not be checked.
    pub fn exit_code(&self) -> u8 {
        match (self.errors.is_empty(), self.outcomes.iter().all(|outcome| outcome.ok)) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        }
    }

    /// The same facts for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let errors: Vec<String> = self.errors.iter().map(ReferenceError::to_string).collect();
        json!({ "ok": self.exit_code() == 0, "files": self.outcomes, "errors": errors })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["file", "format", "cases", "values", "largest error", "where", "tolerance", ""];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(self.outcomes.iter().map(row));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        for outcome in self.outcomes.iter().filter(|outcome| !outcome.ignored_keys.is_empty()) {
            writeln!(f, "note: {}: no check looks at {}", outcome.file, outcome.ignored_keys.join(", "))?;
        }
        for error in &self.errors {
            writeln!(f, "error: {error}")?;
        }
        Ok(())
    }
}

fn row(outcome: &Outcome) -> [String; 8] {
    let tally = &outcome.tally;
    [
        outcome.file.clone(),
        outcome.format.to_owned(),
        tally.cases.to_string(),
        tally.values.to_string(),
        format!("{:.2e}", tally.largest_error),
        tally.place.clone(),
        format!("{:e}", outcome.tolerance),
        if outcome.ok { "ok" } else { "FAIL" }.to_owned(),
    ]
}
