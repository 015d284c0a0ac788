//! Journals that were damaged, cut, taken away or put back: what is noticed, and what a repair keeps.

use super::tests::{copied, raw, sqlite};
use super::*;
use crate::log::tests::records;
use crate::sqlite_file::with_ending;
use std::fs;
use std::io;

/// A journal of 60 trials, synced as an owner does: killed, with its write-ahead log, or closed in peace.
fn journal(killed: bool) -> (tempfile::TempDir, Vec<Stamped>) {
    let (dir, all) = (tempfile::tempdir().unwrap(), records(60, 4));
    let mut log = sqlite(dir.path());
    let mut syncer = log.syncer().unwrap();
    for (position, stamped) in all.iter().enumerate() {
        log.append(position as u64, std::slice::from_ref(stamped)).unwrap();
        if stamped.record.must_survive_power_cut() {
            syncer.sync().unwrap();
        }
    }
    syncer.rest();
    if killed {
        let copy = copied(dir.path(), &["-shm"]);
        return (copy, all);
    }
    drop((syncer, log));
    (dir, all)
}

fn open(dir: &Path) -> Result<Vec<Stamped>, LogError> {
    Sqlite::open(&dir.join("journal.db"), "study", Disk::default())?.read(0)
}

fn look(dir: &Path) -> Result<Vec<Stamped>, LogError> {
    Sqlite::look(&dir.join("journal.db"), "study")?.read(0)
}

/// The records after a repair, which must be needed.
fn repaired(dir: &Path) -> Vec<Stamped> {
    let path = dir.join("journal.db");
    Repair::plan(&path, "study").unwrap().expect("sound").carry_out(&Disk::default()).unwrap();
    assert!(Repair::plan(&path, "study").is_ok_and(|plan| plan.is_none()));
    let kept = match look(dir) {
        Err(LogError::NoStudy { .. }) => Vec::new(),
        kept => kept.unwrap(),
    };
    assert_eq!(open(dir).unwrap(), kept);
    kept
}

#[test]
fn the_witness_has_every_record_that_was_synced() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = sqlite(dir.path());
    let mut syncer = log.syncer().unwrap();
    for (position, stamped) in records(5, 4).iter().enumerate() {
        log.append(position as u64, std::slice::from_ref(stamped)).unwrap();
        syncer.sync().unwrap();
        syncer.rest();
        let witness = Witness::read(&dir.path().join("journal.db"), "study").unwrap();
        assert_eq!(witness.records, position as u64 + 1);
    }
}

/// Cuts the write-ahead log of a journal that is in use, and goes on.
fn cut_while_in_use(length: u64, appended: usize) -> (tempfile::TempDir, Vec<Stamped>, LogError) {
    let (dir, all) = (tempfile::tempdir().unwrap(), records(60, 4));
    let mut log = sqlite(dir.path());
    let mut syncer = log.syncer().unwrap();
    let half = all.len() / 2;
    let mut append = |range: std::ops::Range<usize>| {
        range.into_iter().try_for_each(|at| log.append(at as u64, std::slice::from_ref(&all[at])))
    };
    append(0..half).unwrap();
    // Half of it is in the file, and the rest in the write-ahead log alone.
    for _ in 0..50 {
        syncer.sync().unwrap();
    }
    append(half..half + 40).unwrap();
    syncer.sync().unwrap();
    let path = with_ending(&dir.path().join("journal.db"), "-wal");
    fs::File::options().write(true).open(path).unwrap().set_len(length).unwrap();
    let went_on = append(half + 40..half + 40 + appended);
    let synced = (0..60).try_for_each(|_| syncer.sync());
    let error = went_on.and(synced).unwrap_err();
    drop((syncer, log));
    (dir, all, error)
}

#[test]
fn a_write_ahead_log_that_is_cut_while_it_is_in_use_is_noticed_and_the_journal_stays_as_it_was() {
    for (length, appended) in [(0, 0), (0, 20), (40_000, 0), (40_000, 20)] {
        let (dir, all, error) = cut_while_in_use(length, appended);
        assert!(matches!(error, LogError::Damaged { .. }), "{length}, {appended}: {error}");
        let kept = repaired(dir.path());
        assert!(kept.len() >= all.len() / 2, "{length}, {appended}: {} are left", kept.len());
        assert_eq!(kept[..], all[..kept.len()]);
    }
}

#[test]
fn a_tail_that_vanished_is_noticed_by_whoever_reads_or_writes() {
    let (_, all) = journal(false);
    type Loss<'a> = (&'a str, &'a dyn Fn(&Path));
    let losses: [Loss<'_>; 5] = [
        ("the last", &|dir| fs::remove_file(with_ending(&dir.join("journal.db"), "-wal")).unwrap()),
        ("is missing or empty", &|dir| {
            fs::remove_file(dir.join("journal.db")).unwrap();
        }),
        ("is missing or empty", &|dir| fs::write(dir.join("journal.db"), "").unwrap()),
        ("the study `study` that was here", &|dir| {
            let other = tempfile::tempdir().unwrap();
            drop(Sqlite::open(&other.path().join("journal.db"), "study", Disk::default()).unwrap());
            fs::copy(other.path().join("journal.db"), dir.join("journal.db")).unwrap();
            fs::remove_file(with_ending(&dir.join("journal.db"), "-wal")).unwrap();
        }),
        ("the last", &|dir| {
            raw(dir).execute("DELETE FROM event WHERE position > 20", []).unwrap();
        }),
    ];
    for (words, lose) in losses {
        let (dir, _) = journal(true);
        lose(dir.path());
        let before = fs::read(dir.path().join("journal.db")).unwrap_or_default();
        let (read, written) = (look(dir.path()).unwrap_err(), open(dir.path()).unwrap_err());
        assert!(matches!(read, LogError::Vanished { .. }), "{words}: {read}");
        assert_eq!(read.to_string(), written.to_string());
        assert!(read.to_string().contains(words), "{words}: {read}");
        assert_eq!(fs::read(dir.path().join("journal.db")).unwrap_or_default(), before, "{words}");
        let kept = repaired(dir.path());
        assert_eq!(kept, all[..kept.len()], "{words}");
    }
    // Another study of that directory does not begin either where there was a journal.
    let (dir, _) = journal(false);
    fs::remove_file(dir.path().join("journal.db")).unwrap();
    let other = Sqlite::open(&dir.path().join("journal.db"), "other", Disk::default());
    assert!(matches!(other, Err(LogError::Vanished { .. })));
}

#[test]
fn a_copy_that_went_on_elsewhere_is_not_taken_for_the_study() {
    let (dir, all) = journal(false);
    let path = dir.path().join("journal.db");
    let fork = all.len() as i64 - 3;
    raw(dir.path()).execute("DELETE FROM event WHERE position >= ?1", [fork]).unwrap();
    let witness = fs::read(dir.path().join("witness-study")).unwrap();
    fs::remove_file(dir.path().join("witness-study")).unwrap();
    let mut other = sqlite(dir.path());
    other.append(fork as u64, &all[..4]).unwrap();
    drop(other);
    fs::write(dir.path().join("witness-study"), witness).unwrap();
    let error = look(dir.path()).unwrap_err();
    assert!(error.to_string().contains("another copy of the study"), "{error}");
    assert_eq!(repaired(dir.path()).len(), all.len() + 1);
    assert!(Witness::read(&path, "study").is_some_and(|witness| witness.records == all.len() as u64 + 1));
}

#[test]
fn a_witness_is_never_ahead_of_the_disk_and_one_that_is_torn_or_behind_accuses_nobody() {
    let (dir, all) = (tempfile::tempdir().unwrap(), records(5, 9));
    let path = dir.path().join("journal.db");
    let mut log = sqlite(dir.path());
    let mut syncer = log.syncer().unwrap();
    for (position, stamped) in all.iter().enumerate() {
        log.append(position as u64, std::slice::from_ref(stamped)).unwrap();
        let witnessed = Witness::read(&path, "study").map_or(0, |witness| witness.records);
        assert!(witnessed <= position as u64, "record {position} was not synced");
        if position == 7 {
            syncer.sync().unwrap();
        }
        syncer.rest();
        let witnessed = Witness::read(&path, "study").map_or(0, |witness| witness.records);
        assert_eq!(witnessed, if position < 7 { 0 } else { 8 });
    }
    drop((syncer, log));
    assert_eq!(look(dir.path()).unwrap(), all);
    let whole = fs::read(dir.path().join("witness-study")).unwrap();
    raw(dir.path()).execute("DELETE FROM event WHERE position >= 5", []).unwrap();
    assert!(look(dir.path()).is_err());
    for cut in 0..whole.len() - 1 {
        fs::write(dir.path().join("witness-study"), &whole[..cut]).unwrap();
        assert_eq!(look(dir.path()).unwrap(), all[..5], "cut at {cut}");
    }
}

#[test]
fn of_a_directory_that_was_copied_only_one_that_was_copied_at_rest_is_held_to_its_witness() {
    for in_motion in [true, false] {
        let (dir, mut all) = (tempfile::tempdir().unwrap(), records(5, 9));
        if in_motion {
            all.iter_mut().for_each(|stamped| stamped.at = clock::now() + 60.0);
        }
        let mut log = sqlite(dir.path());
        let mut syncer = log.syncer().unwrap();
        log.append(0, &all[..9]).unwrap();
        let copy = copied(dir.path(), &["-shm"]);
        log.append(9, &all[9..]).unwrap();
        syncer.sync().unwrap();
        fs::copy(dir.path().join("witness-study"), copy.path().join("witness-study")).unwrap();
        assert_eq!(look(copy.path()).is_ok(), in_motion);
    }
}

/// Where a record that a damaged byte may belong to begins, at the earliest; all are kept where
/// there is none.
fn first_hit(files: &[(PathBuf, Vec<u8>)], file: usize, offset: usize, bodies: &[(String, String)]) -> usize {
    let bytes = &files[file].1;
    let begin = offset.saturating_sub(9000);
    let near = &bytes[begin..(offset + 9000).min(bytes.len())];
    let hit = |(body, sum): &(String, String)| {
        // A long record may lie on several pages.
        body.len() > 900
            || near.windows(sum.len()).enumerate().any(|(at, window)| {
                let sum_at = begin + at;
                window == sum.as_bytes()
                    && (sum_at.saturating_sub(body.len() + 40)..sum_at + sum.len()).contains(&offset)
            })
    };
    bodies.iter().position(hit).unwrap_or(bodies.len())
}

#[test]
fn a_flipped_byte_anywhere_shows_the_true_facts_or_is_refused_and_a_repair_keeps_what_came_before() {
    let mut dice = 7u64;
    let mut below = |limit: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % limit
    };
    let (mut refused, mut kept_all) = (0, 0);
    for killed in [false, true] {
        let (whole, all) = journal(killed);
        let names = if killed { &["journal.db", "journal.db-wal"][..] } else { &["journal.db"] };
        let read = |name: &&str| (PathBuf::from(*name), fs::read(whole.path().join(name)).unwrap());
        let files: Vec<(PathBuf, Vec<u8>)> = names.iter().map(read).collect();
        let copy = copied(whole.path(), &[]);
        let database = raw(copy.path());
        let mut query = database.prepare("SELECT body, sum FROM event ORDER BY position").unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let bodies: Vec<(String, String)> = query.query_map([], row).unwrap().map(Result::unwrap).collect();
        for round in 0..150 {
            let dir = copied(whole.path(), &["-shm"]);
            let file = below(files.len());
            let (name, bytes) = &files[file];
            // The header of the file is hit on purpose, too.
            let offset = if round < 100 { below(bytes.len()) } else { round - 100 };
            let mut broken = bytes.clone();
            broken[offset] ^= 1 << below(8);
            fs::write(dir.path().join(name), &broken).unwrap();
            let place = format!("{} byte {offset}", name.display());
            let copy = copied(dir.path(), &[]);
            let outcomes = [look(dir.path()), open(copy.path())];
            for outcome in &outcomes {
                match outcome {
                    Ok(found) => assert_eq!(found, &all, "{place}"),
                    Err(LogError::Newer { .. }) => {}
                    Err(error) => assert!(error.is_damage(), "{place}: {error}"),
                }
            }
            let dirs = [&dir, &copy].map(|dir| dir.path().display().to_string());
            let told = [0, 1].map(|i| match &outcomes[i] {
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string().replace(&dirs[i], "")),
            });
            assert_eq!(told[0], told[1], "{place}");
            if told[0].is_ok() || told[0].as_ref().is_err_and(|error| error.contains("reads up to")) {
                continue;
            }
            refused += 1;
            let kept = repaired(dir.path());
            assert_eq!(kept, all[..kept.len()], "{place}");
            let hit = first_hit(&files, file, offset, &bodies);
            assert!(kept.len() >= hit, "{place}: {} of {hit}", kept.len());
            kept_all += usize::from(kept.len() == all.len());
        }
    }
    assert!(refused > 100 && kept_all > 20, "{refused} {kept_all}");
}

#[test]
fn pages_of_nothing_nonsense_and_files_cut_short_lose_only_what_was_on_them() {
    let (whole, all) = journal(false);
    let bytes = fs::read(whole.path().join("journal.db")).unwrap();
    let pages = bytes.len() / 4096;
    let mut kept_sum = 0;
    for page in 0..pages {
        for (fill, cut) in [(0x00, false), (0xa7, false), (0x00, true)] {
            let dir = copied(whole.path(), &[]);
            let mut broken = bytes.clone();
            broken[page * 4096..(page + 1) * 4096].fill(fill);
            broken.truncate(if cut { page * 4096 + 100 } else { bytes.len() });
            fs::write(dir.path().join("journal.db"), &broken).unwrap();
            if look(dir.path()).is_ok() {
                assert_eq!(open(dir.path()).unwrap(), all);
                continue;
            }
            let kept = repaired(dir.path());
            assert_eq!(kept, all[..kept.len()], "page {page}");
            kept_sum += kept.len();
            let aside = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            let aside: Vec<_> = aside.filter(|path| path.is_dir()).collect();
            assert_eq!(fs::read(aside[0].join("journal.db")).unwrap(), broken, "nothing is deleted");
        }
    }
    assert!(kept_sum > pages * all.len() / 2, "{kept_sum}");
}

#[test]
fn a_repair_that_is_interrupted_anywhere_can_be_done_again_and_keeps_as_much() {
    let (whole, all) = journal(true);
    let path = |dir: &Path| dir.join("journal.db");
    let broken = copied(whole.path(), &["-shm"]);
    let log = with_ending(&path(broken.path()), "-wal");
    let mut bytes = fs::read(&log).unwrap();
    // In the first frame: SQLite takes none of those after it.
    bytes[200] ^= 4;
    fs::write(&log, bytes).unwrap();
    let reference = repaired(copied(broken.path(), &[]).path()).len();
    assert!(reference > 20 && reference <= all.len());
    for at in 1.. {
        let dir = copied(broken.path(), &[]);
        let plan = Repair::plan(&path(dir.path()), "study").unwrap().unwrap();
        let done = plan.carry_out(&Disk::failing_at(at, io::ErrorKind::StorageFull));
        if done.is_ok() {
            return assert!(at > 10, "{at}");
        }
        match Repair::plan(&path(dir.path()), "study").unwrap() {
            Some(plan) => drop(plan.carry_out(&Disk::default()).unwrap()),
            // The last step was done already.
            None => assert!(at > 8, "{at}"),
        }
        assert_eq!(look(dir.path()).unwrap(), all[..reference], "write {at}");
    }
}

#[test]
fn a_study_beside_a_damaged_one_is_kept_whole() {
    let (dir, all) = journal(false);
    let path = dir.path().join("journal.db");
    let mut other = Sqlite::open(&path, "other", Disk::default()).unwrap();
    let others = records(6, 9);
    other.append(0, &others).unwrap();
    let identity = other.identity("other");
    drop(other);
    let database = raw(dir.path());
    let change = "UPDATE event SET body = replace(body, '0.', '1.') WHERE position = 30 AND study = 1";
    assert_eq!(database.execute(change, []).unwrap(), 1);
    drop(database);
    let plan = Repair::plan(&path, "study").unwrap().unwrap();
    let study = &plan.studies[0];
    assert_eq!((study.kept, study.given_up), (30, all.len() as u64 - 30));
    assert!(!study.forgotten.is_empty() && study.forgotten.iter().all(|trial| *trial >= study.trials));
    assert_eq!((plan.studies[1].kept, plan.studies[1].given_up), (others.len() as u64, 0));
    plan.carry_out(&Disk::default()).unwrap();
    assert_eq!(look(dir.path()).unwrap(), all[..30]);
    let other = Sqlite::open(&path, "other", Disk::default()).unwrap();
    assert_eq!((other.read(0).unwrap(), other.identity("other")), (others, identity));
}

#[test]
fn a_sound_journal_and_one_that_never_was_are_left_alone() {
    for killed in [false, true] {
        let (dir, _) = journal(killed);
        let before = super::tests::traces(dir.path());
        assert!(Repair::plan(&dir.path().join("journal.db"), "study").unwrap().is_none());
        assert_eq!(super::tests::traces(dir.path()), before);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    assert!(matches!(Repair::plan(&path, "study"), Err(LogError::Missing { .. })));
    drop(sqlite(dir.path()));
    raw(dir.path()).pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Repair::plan(&path, "study"), Err(LogError::Newer { .. })));
    fs::write(&path, "this is no database").unwrap();
    let plan = Repair::plan(&path, "study").unwrap().unwrap();
    let aside = plan.carry_out(&Disk::default()).unwrap();
    assert_eq!(fs::read(aside.join("journal.db")).unwrap(), b"this is no database");
    assert!(matches!(Sqlite::look(&path, "study"), Err(LogError::NoStudy { .. })));
    assert_eq!(sqlite(dir.path()).read(0).unwrap(), []);
}
