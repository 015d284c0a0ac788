//! The rows of a journal: studies and their records, through any connection.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::error::{damaged, database};
use crate::log::chain::{Chain, Sum};
use crate::log::{LogError, Stamped, read_record};

/// A row of the table `study`.
#[derive(Clone, Debug)]
pub struct Study {
    pub id: i64,
    pub name: String,
    /// When it was begun: tells it from an earlier study of the same name.
    pub began: f64,
}

impl Study {
    /// A text that tells this study from every other one, also from an earlier one of the same name.
    pub fn identity(&self) -> String {
        format!("{}@{}", self.name, self.began)
    }

    pub fn find(connection: &Connection, path: &Path, name: &str) -> Result<Self, LogError> {
        let query = "SELECT id, began FROM study WHERE name = ?1";
        let row =
            |row: &rusqlite::Row<'_>| Ok(Self { id: row.get(0)?, name: name.to_owned(), began: row.get(1)? });
        let found = connection.query_row(query, [name], row).optional();
        if let Some(study) = found.map_err(|error| database(path, &error))? {
            return Ok(study);
        }
        let known = names(connection).map_err(|error| database(path, &error))?;
        Err(LogError::NoStudy { path: path.to_owned(), name: name.to_owned(), known })
    }
}

/// The names of all studies, in the order begun.
pub fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare("SELECT name FROM study ORDER BY id")?;
    query.query_map([], |row| row.get(0))?.collect()
}

/// How many records a study has.
pub fn count(connection: &Connection, path: &Path, study: &Study) -> Result<u64, LogError> {
    let query = "SELECT position FROM event WHERE study = ?1 ORDER BY position DESC LIMIT 1";
    let last = connection
        .prepare_cached(query)
        .and_then(|mut query| query.query_row([study.id], |row| row.get::<_, i64>(0)).optional())
        .map_err(|error| database(path, &error))?;
    let Some(last) = last else { return Ok(0) };
    let last = u64::try_from(last).map_err(|_| damaged(path, &format!("a record has number {last}")))?;
    Ok(last + 1)
}

/// When the last record was made; nothing if there is none.
pub fn last_moment(connection: &Connection, study: &Study) -> rusqlite::Result<Option<f64>> {
    let query = "SELECT at FROM event WHERE study = ?1 ORDER BY position DESC LIMIT 1";
    connection.prepare_cached(query)?.query_row([study.id], |row| row.get(0)).optional()
}

/// The chain up to the first `position` records, which are there.
pub fn chain(connection: &Connection, path: &Path, study: &Study, position: u64) -> Result<Chain, LogError> {
    let Some(last) = position.checked_sub(1) else { return Ok(Chain::begin(&study.name, study.began)) };
    let wrong = |problem| LogError::Chain { study: study.name.clone(), position: last, problem };
    let stored = stored_sum(connection, study, last).map_err(|error| database(path, &error))?;
    let stored = stored.ok_or_else(|| wrong("it is missing".to_owned()))?;
    let sum = Sum::parse(&stored);
    let sum = sum.ok_or_else(|| wrong(format!("its checksum is `{stored}`, which is none")))?;
    Ok(Chain::after(&study.name, position, sum))
}

fn stored_sum(connection: &Connection, study: &Study, position: u64) -> rusqlite::Result<Option<String>> {
    let query = "SELECT sum FROM event WHERE study = ?1 AND position = ?2";
    let position = i64::try_from(position).unwrap_or(i64::MAX);
    connection.prepare_cached(query)?.query_row(params![study.id, position], |row| row.get(0)).optional()
}

/// The records after the first `position`, each checked against the one before it.
pub fn read(
    connection: &Connection,
    path: &Path,
    study: &Study,
    position: u64,
) -> Result<Vec<Stamped>, LogError> {
    if count(connection, path, study)? <= position {
        return Ok(Vec::new());
    }
    let mut chain = chain(connection, path, study, position)?;
    let query =
        "SELECT position, at, body, sum FROM event WHERE study = ?1 AND position >= ?2 ORDER BY position";
    let failed = |error: rusqlite::Error| database(path, &error);
    let mut query = connection.prepare_cached(query).map_err(failed)?;
    let from = i64::try_from(position).unwrap_or(i64::MAX);
    let mut rows = query.query(params![study.id, from]).map_err(failed)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let position = chain.position();
        let wrong = |problem: String| LogError::Chain { study: study.name.clone(), position, problem };
        let unfit = |error: rusqlite::Error| wrong(error.to_string());
        let found: i64 = row.get(0).map_err(unfit)?;
        if u64::try_from(found) != Ok(position) {
            return Err(wrong(format!("it is missing; the next one has number {found}")));
        }
        let at: f64 = row.get(1).map_err(unfit)?;
        let [body, sum] = [row.get_ref(2).map_err(unfit)?, row.get_ref(3).map_err(unfit)?];
        let body = body.as_str().map_err(|error| wrong(error.to_string()))?;
        chain.check(at, body, sum.as_str().map_err(|error| wrong(error.to_string()))?)?;
        let record = read_record(body);
        let unread = |problem| LogError::Record { study: study.name.clone(), position, problem };
        records.push(Stamped { at, record: record.map_err(unread)? });
    }
    Ok(records)
}

/// Adds a record at the chain's end.
pub fn insert(
    connection: &Connection,
    study: &Study,
    chain: &mut Chain,
    at: f64,
    body: &str,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO event (study, position, at, body, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let position = i64::try_from(chain.position()).unwrap_or(i64::MAX);
    let sum = chain.add(at, body).to_string();
    connection.prepare_cached(insert)?.execute(params![study.id, position, at, body, sum])?;
    Ok(())
}
