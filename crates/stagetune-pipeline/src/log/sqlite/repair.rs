//! Repair: keeps of a damaged journal all that is sound, and puts the damaged files aside.
//!
//! Of every study the longest beginning is kept whose chain of checksums holds, from wherever its records are
//! found: the tables, the raw bytes of the file, those of its write-ahead log ([`carve`](super::carve)). So what was
//! damaged is given up with all that came after it, and nothing is kept that was not written.
//!
//! ```text
//! 1. journal.repaired                 the new journal is written, and is on the disk
//! 2. damaged-<when>/                  the files get a second name there
//! 3. journal.db-wal, journal.db-shm   go, so that the new journal does not take them for its own
//! 4. journal.db                       is replaced by the new one
//! 5. witness-<study>                  say what there is now
//! ```
//!
//! A process that is killed in between leaves a journal that is refused as before; the next repair finds the
//! write-ahead log in `damaged-<when>/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use stagetune::study::Event;

use super::carve::{Found, Row};
use super::create::write_journal;
use super::error::{database, refused};
use super::rows::{self, Study};
use super::{file_id, look};
use crate::clock;
use crate::disk::{Disk, DiskError};
use crate::log::chain::Chain;
use crate::log::witness::Witness;
use crate::log::{LogError, read_record};
use crate::sqlite_file::{is_absent, with_ending};

/// What a repair would do, or did.
#[derive(Debug)]
pub struct Repair {
    path: PathBuf,
    /// What is wrong.
    pub problem: LogError,
    /// What becomes of each study, in the order begun.
    pub studies: Vec<Repaired>,
    /// The journal is written anew; otherwise only the witnesses are.
    pub rewrites: bool,
    kept: Vec<(Study, Vec<Row>)>,
    witnesses: Vec<(String, Witness)>,
}

/// What becomes of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Its name.
    pub study: String,
    /// How many records are kept, from the first on.
    pub kept: u64,
    /// How many are given up.
    pub given_up: u64,
    /// How many trials are known afterwards.
    pub trials: u64,
    /// Trials that had ended and are open again: they are run once more, with what is in the cache.
    pub reopened: Vec<u64>,
    /// Trials of which nothing is known afterwards, as far as their records can still be read.
    pub forgotten: Vec<u64>,
}

impl Repair {
    /// What is to be done about the journal at this path; nothing if it is sound. `study` is who asks.
    pub fn plan(path: &Path, study: &str) -> Result<Option<Self>, LogError> {
        let witnesses = Witness::all(path);
        let problem = match look::check_all(path, study, &witnesses) {
            Ok(()) => return Ok(None),
            Err(error) if error.is_damage() => error,
            Err(error) => return Err(error),
        };
        let found = find(path)?;
        let kept = longest(&found, &witnesses);
        let in_itself = look::check_all(path, study, &[]);
        let rewrites = match in_itself {
            Ok(()) => kept.iter().any(|(study, rows)| has_fewer(path, study, rows)),
            Err(_) if is_absent(path) => !kept.is_empty(),
            Err(_) => true,
        };
        let mut names: Vec<&str> = kept.iter().map(|(study, _)| study.name.as_str()).collect();
        names.extend(
            witnesses
                .iter()
                .map(|(name, _)| name.as_str())
                .filter(|name| !kept.iter().any(|(study, _)| study.name == *name)),
        );
        let studies = names.iter().map(|name| report(name, &kept, &witnesses, &found)).collect();
        Ok(Some(Self { path: path.to_owned(), problem, studies, rewrites, kept, witnesses }))
    }

    /// Does it; where the files are that were put aside. Nobody may work on a study of this journal meanwhile.
    pub fn carry_out(&self, disk: &Disk) -> Result<PathBuf, LogError> {
        let path = &self.path;
        let failed = |error: DiskError| refused(&error.path, &error.source);
        let folder = path.parent().unwrap_or(Path::new("."));
        let repaired = path.with_extension("repaired");
        if self.rewrites {
            for leftover in ["", "-wal", "-shm", "-journal"] {
                disk.remove_file(&with_ending(&repaired, leftover)).map_err(failed)?;
            }
            disk.permit().map_err(|error| refused(&repaired, &error))?;
            self.write(&repaired).map_err(|error| database(&repaired, &error))?;
        }
        let aside = make_aside(path, disk).map_err(failed)?;
        let files = ["", "-wal"].map(|ending| with_ending(path, ending));
        let witnesses = self.witnesses.iter().map(|(name, _)| Witness::path(path, name));
        for file in files.into_iter().filter(|_| self.rewrites) {
            put_aside(&file, &aside, disk).map_err(failed)?;
        }
        for file in witnesses {
            let name = file.file_name().unwrap_or_default();
            disk.copy(&file, &aside.join(name)).map_err(failed)?;
        }
        disk.sync_dir(&aside).and_then(|()| disk.sync_dir(folder)).map_err(failed)?;
        if self.rewrites {
            for ending in ["-wal", "-shm", "-journal"] {
                disk.remove_file(&with_ending(path, ending)).map_err(failed)?;
            }
            disk.rename(&repaired, path).map_err(failed)?;
            disk.sync_dir(folder).map_err(failed)?;
        }
        for (name, _) in &self.witnesses {
            disk.remove_file(&Witness::path(path, name)).map_err(failed)?;
        }
        for (study, rows) in &self.kept {
            let mut chain = Chain::begin(&study.name, study.began);
            for row in rows {
                chain.add(row.at, &row.body);
            }
            let at = rows.last().map_or(study.began, |row| row.at);
            let witness = Witness::new(path, study.identity(), chain.position(), chain.sum(), at);
            witness.write(path, &study.name, disk).map_err(failed)?;
        }
        Ok(aside)
    }

    /// Writes what is kept into a journal of its own.
    fn write(&self, path: &Path) -> rusqlite::Result<()> {
        write_journal(path)?;
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "full")?;
        let change = connection.transaction()?;
        for (study, kept) in &self.kept {
            let insert = "INSERT INTO study (name, began) VALUES (?1, ?2)";
            change.execute(insert, params![study.name, study.began])?;
            let study = Study { id: change.last_insert_rowid(), ..study.clone() };
            let mut chain = Chain::begin(&study.name, study.began);
            for row in kept {
                rows::insert(&change, &study, &mut chain, row.at, &row.body)?;
            }
        }
        change.commit()?;
        connection.close().map_err(|(_, error)| error)
    }
}

/// All that may be a study or a record, from wherever it is.
fn find(path: &Path) -> Result<Found, LogError> {
    let mut found = Found::default();
    let (file, log) = (bytes(path)?, bytes(&with_ending(path, "-wal"))?);
    found.carve(&file, &log);
    // A repair that was interrupted may have put the write-ahead log aside.
    let folder = path.parent().unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let aside = entry.path();
        let same = aside.join(path.file_name().unwrap_or_default());
        let is_ours = entry.file_name().to_string_lossy().starts_with(ASIDE)
            && match (file_id(&same), file_id(path)) {
                (Ok(there), Ok(here)) => there == here,
                (there, here) => there.is_err() && here.is_err(),
            };
        if is_ours {
            found.carve(&file, &bytes(&with_ending(&same, "-wal"))?);
        }
    }
    // What can be read in the proper way needs no guess; where nothing can, the bytes are all there is.
    for (study, rows) in look::looking(path, |connection| Ok(tables(connection))).unwrap_or_default() {
        rows.into_iter().for_each(|(position, row)| found.add_record(study.id, position, row));
        found.add_study(study);
    }
    Ok(found)
}

/// The studies and their records as the tables have them, each up to the first that cannot be read.
fn tables(connection: &Connection) -> Vec<(Study, Vec<(u64, Row)>)> {
    let studies = || {
        let mut query = connection.prepare("SELECT id, name, began FROM study ORDER BY id")?;
        let study =
            |row: &rusqlite::Row<'_>| Ok(Study { id: row.get(0)?, name: row.get(1)?, began: row.get(2)? });
        let studies: Vec<Study> = query.query_map([], study)?.map_while(Result::ok).collect();
        Ok::<_, rusqlite::Error>(studies)
    };
    let records = |study: &Study| {
        let query = "SELECT position, at, body, sum FROM event WHERE study = ?1 ORDER BY position";
        let mut query = connection.prepare(query)?;
        let record = |row: &rusqlite::Row<'_>| {
            let position = row.get::<_, i64>(0)?;
            Ok((position as u64, Row { at: row.get(1)?, body: row.get(2)?, sum: row.get(3)? }))
        };
        let records: Vec<(u64, Row)> = query.query_map([study.id], record)?.map_while(Result::ok).collect();
        Ok::<_, rusqlite::Error>(records)
    };
    let studies = studies().unwrap_or_default().into_iter();
    studies.map(|study| (study.clone(), records(&study).unwrap_or_default())).collect()
}

/// The content of a file; nothing if it is not there.
fn bytes(path: &Path) -> Result<Vec<u8>, LogError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|error| refused(path, &error)),
    }
}

/// Of each study that has any, the longest beginning whose chain holds, in the order begun.
fn longest(found: &Found, witnesses: &[(String, Witness)]) -> Vec<(Study, Vec<Row>)> {
    let mut candidates = found.studies.clone();
    // Where the table of studies is lost, the witness knows when its study began.
    let ids: BTreeSet<i64> = found.records.keys().map(|(id, _)| *id).collect();
    for (name, witness) in witnesses {
        let Some(began) = witness.began() else { continue };
        candidates.extend(ids.iter().map(|id| Study { id: *id, name: name.clone(), began }));
    }
    let mut kept: BTreeMap<String, (Study, Vec<Row>)> = BTreeMap::new();
    for study in candidates {
        let mut chain = Chain::begin(&study.name, study.began);
        let mut rows = Vec::new();
        while let Some(candidates) = found.records.get(&(study.id, chain.position())) {
            let holds = |row: &&Row| chain.check(row.at, &row.body, &row.sum).is_ok();
            let Some(row) = candidates.iter().find(holds) else { break };
            rows.push(row.clone());
        }
        if rows.len() > kept.get(&study.name).map_or(0, |(_, rows)| rows.len()) {
            kept.insert(study.name.clone(), (study, rows));
        }
    }
    let mut kept: Vec<_> = kept.into_values().collect();
    kept.sort_by_key(|(study, _)| study.id);
    kept
}

/// Whether the journal has fewer records of a study than were found.
fn has_fewer(path: &Path, study: &Study, rows: &[Row]) -> bool {
    let count = look::looking(path, |connection| {
        let here = Study::find(connection, path, &study.name)?;
        rows::count(connection, path, &here)
    });
    count.map_or(true, |count| count < rows.len() as u64)
}

/// What becomes of a study.
fn report(
    name: &str,
    kept: &[(Study, Vec<Row>)],
    witnesses: &[(String, Witness)],
    found: &Found,
) -> Repaired {
    let mut known = Trials::default();
    let mut lost = Trials::default();
    let mut after = 0;
    let mut records = 0;
    if let Some((study, rows)) = kept.iter().find(|(study, _)| study.name == name) {
        records = rows.len() as u64;
        for row in rows {
            known.add(row);
        }
        let later = found.records.range((study.id, records)..=(study.id, u64::MAX));
        for ((_, position), rows) in later {
            if rows.iter().any(|row| lost.add(row)) {
                after = position + 1;
            }
        }
    }
    let witness = witnesses.iter().find(|(witness, _)| witness == name);
    let had = witness.map_or(0, |(_, witness)| witness.records).max(after);
    Repaired {
        study: name.to_owned(),
        kept: records,
        given_up: had.saturating_sub(records),
        trials: known.all.len() as u64,
        reopened: lost.ended.intersection(&known.all).filter(|t| !known.ended.contains(t)).copied().collect(),
        forgotten: lost.all.difference(&known.all).copied().collect(),
    }
}

/// The trials that some records are about.
#[derive(Default)]
struct Trials {
    all: BTreeSet<u64>,
    ended: BTreeSet<u64>,
}

impl Trials {
    /// Takes in a record; whether it is one.
    fn add(&mut self, row: &Row) -> bool {
        let Ok(record) = read_record(&row.body) else { return false };
        if let Some(trial) = record.event.trial() {
            self.all.insert(trial.index());
            if matches!(record.event, Event::Ended { .. }) {
                self.ended.insert(trial.index());
            }
        }
        true
    }
}

/// What directories of damaged files are called, before their date.
const ASIDE: &str = "damaged-";

/// Makes a directory for the damaged files, with the time of day in UTC.
fn make_aside(path: &Path, disk: &Disk) -> Result<PathBuf, DiskError> {
    let (date, milliseconds) = clock::civil(clock::now()).unwrap_or_default();
    let seconds = milliseconds / 1000;
    let time = format!("{:02}{:02}{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut number = 1;
    loop {
        let again = if number == 1 { String::new() } else { format!("-{number}") };
        let aside = path.with_file_name(format!("{ASIDE}{date}T{time}{again}"));
        match disk.make_new_dir(&aside) {
            Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| aside),
        }
    }
}

/// Gives a file a second name in a directory, or copies it where it cannot have two; one that is not there is fine.
fn put_aside(file: &Path, aside: &Path, disk: &Disk) -> Result<(), DiskError> {
    let to = aside.join(file.file_name().unwrap_or_default());
    match disk.link(file, &to) {
        Err(error) if error.source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => disk.copy(file, &to),
        Ok(()) => Ok(()),
    }
}
