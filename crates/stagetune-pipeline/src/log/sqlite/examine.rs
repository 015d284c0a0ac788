//! Whether a journal is one of ours and sound: the same questions for whoever reads it and whoever writes it, so
//! that no two commands disagree. Records are checked by the chain, where they are read.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::create::{TABLES, check_format};
use super::error::{damaged, database};
use super::rows::{self, Study};
use crate::log::LogError;
use crate::log::chain::Chain;
use crate::log::witness::{Witness, missing_file, missing_study, missing_tail, other_records};

/// Refuses files of others, of other formats, and those whose structure is broken.
pub fn examine(connection: &Connection, path: &Path) -> Result<(), LogError> {
    check_format(connection, path)?;
    check_tables(connection, path)?;
    check_whole(connection, path)
}

/// Refuses tables that are not ours: no statement about them would mean what it says.
fn check_tables(connection: &Connection, path: &Path) -> Result<(), LogError> {
    for ours in TABLES.split(';').filter(|table| !table.trim().is_empty()) {
        let name = ours.split_whitespace().nth(2).unwrap_or_default();
        let query = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1";
        let found = connection.query_row(query, [name], |row| row.get::<_, String>(0)).optional();
        let found = found.map_err(|error| database(path, &error))?;
        if !found.is_some_and(|found| found.split_whitespace().eq(ours.split_whitespace())) {
            return Err(damaged(path, &format!("its table `{name}` is missing, or another one")));
        }
    }
    Ok(())
}

/// Refuses a file whose structure is broken.
pub fn check_whole(connection: &Connection, path: &Path) -> Result<(), LogError> {
    // The names of studies are found by an index, and only the second check compares it with the table.
    for check in ["PRAGMA quick_check(1)", "PRAGMA integrity_check(study)"] {
        let verdict = connection.query_row(check, [], |row| row.get::<_, String>(0));
        match verdict.map_err(|error| database(path, &error))?.as_str() {
            "ok" => {}
            problem => return Err(damaged(path, problem.lines().last().unwrap_or(problem))),
        }
    }
    Ok(())
}

/// Refuses a study that lacks records which its witness saw on the disk.
pub fn check_witness(
    connection: &Connection,
    path: &Path,
    name: &str,
    witness: Option<&Witness>,
) -> Result<(), LogError> {
    let Some(witness) = witness else { return Ok(()) };
    let study = match Study::find(connection, path, name) {
        Ok(study) if study.identity() == witness.study => study,
        Ok(_) | Err(LogError::NoStudy { .. }) => return Err(missing_study(path, name, witness)),
        Err(error) => return Err(error),
    };
    let found = rows::count(connection, path, &study)?;
    if found < witness.records {
        let last = rows::last_moment(connection, &study).map_err(|error| database(path, &error))?;
        return Err(missing_tail(path, name, witness, found, last));
    }
    let chain: Chain = rows::chain(connection, path, &study, witness.records)?;
    if chain.sum().to_string() == witness.sum {
        return Ok(());
    }
    // Where the records themselves do not hold, that is what is wrong.
    rows::read(connection, path, &study, 0)?;
    Err(other_records(path, name, witness))
}

/// Refuses to take a journal that is not there for one that never was.
pub fn check_absent(path: &Path, witnesses: &[(String, Witness)]) -> Result<(), LogError> {
    match witnesses.first() {
        Some((name, witness)) => Err(missing_file(path, name, witness)),
        None => Ok(()),
    }
}
