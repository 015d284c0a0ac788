//! What the log in SQLite does besides what every log does.

use super::*;
use crate::filesystem::Filesystem;
use crate::log::tests::{a_tail_sees_every_record_once, records};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;

pub(super) fn sqlite(dir: &Path) -> Sqlite {
    Sqlite::open(&dir.join("journal.db"), "study", Disk::default()).unwrap()
}

pub(super) fn raw(dir: &Path) -> Connection {
    Connection::open(dir.join("journal.db")).unwrap()
}

#[test]
fn studies_of_one_journal_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let mut one = Sqlite::open(&path, "one", Disk::default()).unwrap();
    let mut two = Sqlite::open(&path, "two", Disk::default()).unwrap();
    let all = records(2, 9);
    one.append(0, &all).unwrap();
    two.append(0, &all[..2]).unwrap();
    assert_eq!((one.read(0).unwrap().len(), two.read(0).unwrap().len()), (all.len(), 2));
    assert_eq!(one.studies().unwrap(), ["one", "two"]);
    assert_ne!(one.identity("one"), two.identity("two"));
    let Err(LogError::NoStudy { known, .. }) = Sqlite::look(&path, "three") else { panic!("found") };
    assert_eq!(known, ["one", "two"]);
}

#[test]
fn a_write_that_fails_leaves_the_journal_as_it_was() {
    let all = records(3, 9);
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        let disk = Disk::failing_at(at, io::ErrorKind::StorageFull);
        let mut written = 0;
        let outcome = (|| {
            let mut journal = Sqlite::open(&path, "study", disk.clone())?;
            for record in &all {
                journal.append(written, std::slice::from_ref(record))?;
                written += 1;
            }
            Ok::<(), LogError>(())
        })();
        let again = sqlite(dir.path());
        assert_eq!(again.read(0).unwrap(), all[..written as usize], "after write {at}");
        match outcome {
            Ok(()) => return assert!(at > 10, "{at}"),
            Err(error) => assert!(error.to_string().contains("free some space"), "{error}"),
        }
    }
}

#[test]
fn files_of_others_of_other_formats_and_of_nobody_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let open = || Sqlite::open(&path, "s", Disk::default());
    assert!(matches!(Sqlite::look(&path, "s"), Err(LogError::Missing { .. })));
    fs::write(&path, "this is no database, it is a text that somebody put here").unwrap();
    assert!(matches!(open(), Err(LogError::Damaged { .. })));
    assert!(matches!(Sqlite::look(&path, "s"), Err(LogError::Damaged { .. })));
    assert!(fs::read_to_string(&path).unwrap().starts_with("this is no"));
    fs::remove_file(&path).unwrap();
    raw(dir.path()).execute_batch("CREATE TABLE recipes (x)").unwrap();
    assert!(matches!(open(), Err(LogError::Foreign { .. })));
    fs::remove_file(&path).unwrap();
    drop(open().unwrap());
    raw(dir.path()).pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Sqlite::look(&path, "s"), Err(LogError::Newer { found: 99, .. })));
    assert!(matches!(open(), Err(LogError::Newer { found: 99, .. })));
    raw(dir.path()).pragma_update(None, "user_version", 1).unwrap();
    for refused in [open().map(|_| ()), Sqlite::look(&path, "s").map(|_| ())] {
        let error = refused.unwrap_err();
        assert!(matches!(error, LogError::Older { found: 1, .. }));
        assert!(error.to_string().contains("begins anew"), "{error}");
    }
}

#[test]
fn a_record_that_was_changed_or_removed_is_named_whence_ever_one_reads() {
    let tampers = [
        "UPDATE event SET body = replace(body, '0.', '1.') WHERE position = 3",
        "UPDATE event SET at = at + 1 WHERE position = 3",
        "UPDATE event SET sum = upper(sum) WHERE position = 3",
        "UPDATE event SET sum = (SELECT sum FROM event WHERE position = 2) WHERE position = 3",
        "UPDATE event SET body = x'ff' WHERE position = 3",
        "UPDATE event SET body = (SELECT body FROM event WHERE position = 4) WHERE position = 3",
        "DELETE FROM event WHERE position = 3",
    ];
    for tamper in tampers {
        let dir = tempfile::tempdir().unwrap();
        let mut log = sqlite(dir.path());
        log.append(0, &records(3, 9)).unwrap();
        let database = raw(dir.path());
        assert_eq!(database.execute(tamper, []).unwrap(), 1, "{tamper}");
        for from in 0..=3 {
            let error = log.read(from).unwrap_err();
            let LogError::Chain { study, position: 3, .. } = &error else { panic!("{tamper}: {error}") };
            assert_eq!(study, "study");
            assert!(error.to_string().contains("put back a copy"), "{error}");
        }
    }
}

#[test]
fn a_record_of_a_newer_release_is_not_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = sqlite(dir.path());
    log.append(0, &records(1, 9)).unwrap();
    let position = log.len().unwrap();
    let mut chain = rows::chain(&log.connection, &log.path, &log.study, position).unwrap();
    rows::insert(&log.connection, &log.study, &mut chain, 9.0, "{\"record\":\"dreamt\"}").unwrap();
    let error = log.read(0).unwrap_err();
    assert!(matches!(&error, LogError::Record { position: at, .. } if *at == position), "{error}");
}

#[test]
fn an_append_never_goes_on_from_records_that_changed_under_it() {
    let dir = tempfile::tempdir().unwrap();
    let all = records(3, 9);
    let mut log = sqlite(dir.path());
    log.append(0, &all).unwrap();
    let position = all.len() as u64;
    let last = position - 1;
    let database = raw(dir.path());
    let other = "UPDATE event SET sum = '00000000000000000000000000000000' WHERE position = ?1";
    database.execute(other, [last as i64]).unwrap();
    assert!(
        matches!(log.append(position, &all[..1]), Err(LogError::Chain { position: at, .. }) if at == last)
    );
    drop(log);

    let dir = tempfile::tempdir().unwrap();
    let mut log = sqlite(dir.path());
    log.append(0, &all).unwrap();
    raw(dir.path()).execute("DELETE FROM event WHERE position = ?1", [last as i64]).unwrap();
    let error = log.append(position, &all[..1]).unwrap_err();
    assert!(matches!(error, LogError::Damaged { .. }), "{error}");
}

#[test]
fn a_broken_structure_is_called_damaged_and_not_somebody_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let all = records(60, 9);
    let mut log = sqlite(dir.path());
    log.append(0, &all).unwrap();
    drop(log);
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 10, "{pages}");
    let mut noticed = 0;
    // A page of nothing, and a page that belongs elsewhere, whose records hide those that were there.
    let damages = (1..pages).flat_map(|page| [(page, None), (page, Some(page % (pages - 1) + 1))]);
    for (page, copied) in damages {
        let mut broken = whole.clone();
        match copied {
            None => broken[page * 4096..(page + 1) * 4096].fill(0),
            Some(from) => broken.copy_within(from * 4096..(from + 1) * 4096, page * 4096),
        }
        fs::write(&path, &broken).unwrap();
        let outcome = Sqlite::open(&path, "study", Disk::default()).and_then(|mut log| {
            log.append(all.len() as u64, &all[..1])?;
            log.read(0)
        });
        match outcome {
            Err(LogError::Damaged { .. } | LogError::Chain { .. }) => noticed += 1,
            // An unused page has nothing to lose.
            Ok(records) => assert_eq!(records.len(), all.len() + 1, "page {page}"),
            Err(error) => panic!("page {page}, {copied:?}: {error}"),
        }
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(crate::sqlite_file::with_ending(&path, ending));
        }
    }
    assert!(noticed > pages, "{noticed} of {pages}");
}

#[test]
fn only_what_must_survive_a_power_cut_waits_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = sqlite(dir.path());
    let all = records(3, 2);
    let mut seen = [false, false];
    for (position, stamped) in all.iter().enumerate() {
        log.append(position as u64, std::slice::from_ref(stamped)).unwrap();
        let urgent = stamped.record.must_survive_power_cut();
        seen[usize::from(urgent)] = true;
        assert_eq!(synchronous(&log), if urgent { 2 } else { 1 }, "{:?}", stamped.record);
    }
    assert_eq!(seen, [true, true]);
    log.append(all.len() as u64, &[all[0].clone(), all[3].clone(), all[0].clone()]).unwrap();
    assert_eq!(synchronous(&log), 2, "one such record is enough");
}

#[test]
fn once_the_syncer_is_taken_no_append_waits_and_the_write_ahead_log_stays_short() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = sqlite(dir.path());
    let mut syncer = log.syncer().unwrap();
    let all = records(400, 2);
    for (position, stamped) in all.iter().enumerate() {
        log.append(position as u64, std::slice::from_ref(stamped)).unwrap();
        assert_eq!(synchronous(&log), 1, "{:?}", stamped.record);
        if stamped.record.must_survive_power_cut() {
            syncer.sync().unwrap();
        }
    }
    let whole = fs::metadata(dir.path().join("journal.db")).unwrap().len();
    let wal = fs::metadata(dir.path().join("journal.db-wal")).unwrap().len();
    assert!(whole > 100_000 && wal < 4_000_000, "{whole} {wal}");
    // A power cut leaves what was synced: the file and its write-ahead log.
    let after = tempfile::tempdir().unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        fs::copy(dir.path().join(name), after.path().join(name)).unwrap();
    }
    assert_eq!(sqlite(after.path()).read(0).unwrap(), all);
    // One whose name is gone keeps nothing.
    fs::remove_file(dir.path().join("journal.db-wal")).unwrap();
    let error = syncer.sync().unwrap_err();
    assert!(matches!(error, LogError::Gone { .. }), "{error}");
}

/// 1 is `NORMAL`, 2 is `FULL`.
fn synchronous(log: &Sqlite) -> i64 {
    log.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
}

#[test]
fn a_journal_that_was_removed_or_replaced_is_noticed_at_the_next_append() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let all = records(1, 9);
    let mut log = sqlite(dir.path());
    log.append(0, &all).unwrap();
    fs::remove_file(&path).unwrap();
    let error = log.append(all.len() as u64, &all).unwrap_err();
    assert!(matches!(error, LogError::Gone { .. }), "{error}");
    // Another one in its place, with the old one's write-ahead log beside it, which is not its own.
    let other = sqlite(dir.path());
    assert_eq!(other.read(0).unwrap(), []);
    let error = log.append(all.len() as u64, &all).unwrap_err();
    assert!(error.to_string().contains("replaced by another file"), "{error}");
    assert_eq!(other.read(0).unwrap(), []);
}

#[test]
fn a_network_file_system_is_refused_for_writing_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let disk = Disk::on(Filesystem::Network { kind: "NFS".into() });
    for _ in 0..2 {
        let error = Sqlite::open(&path, "study", disk.clone()).unwrap_err();
        assert!(matches!(error, LogError::Network { .. }));
        let text = error.to_string();
        assert!(text.contains("NFS") && text.contains("local disk") && text.contains("journal.db"), "{text}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was written");
    }
    Sqlite::open(&path, "study", Disk::on(Filesystem::Local)).unwrap();
}

/// Everything about a directory that writing would change.
pub(super) fn traces(dir: &Path) -> Vec<(String, Vec<u8>, i64, i64)> {
    let mut traces: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let file = entry.metadata().unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap(), file.mtime(), file.mtime_nsec())
        })
        .collect();
    traces.sort();
    traces
}

/// A directory as a process that was killed at this moment leaves it.
pub(super) fn copied(from: &Path, without: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !without.iter().any(|ending| name.ends_with(ending)) {
            fs::copy(entry.path(), dir.path().join(name)).unwrap();
        }
    }
    dir
}

#[test]
fn a_look_writes_nothing_whatever_a_process_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = sqlite(dir.path());
    let newborn = copied(dir.path(), &[]);
    let all = records(40, 4);
    log.append(0, &all).unwrap();
    let working = copied(dir.path(), &[]);
    let without_index = copied(dir.path(), &["-shm"]);
    drop(log);
    let at_peace = copied(dir.path(), &[]);
    assert!(
        working.path().join("journal.db-wal").exists() && !at_peace.path().join("journal.db-wal").exists()
    );
    for (state, expected) in
        [(newborn, 0), (working, all.len()), (without_index, all.len()), (at_peace, all.len())]
    {
        let path = state.path().join("journal.db");
        for entry in fs::read_dir(state.path()).unwrap() {
            fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
        }
        fs::set_permissions(state.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let before = traces(state.path());
        let look = Sqlite::look(&path, "study").unwrap();
        assert_eq!(look.read(0).unwrap(), all[..expected]);
        assert_eq!(look.read(expected as u64).unwrap(), []);
        assert_eq!(
            (look.len().unwrap(), look.studies().unwrap()),
            (expected as u64, vec!["study".to_owned()])
        );
        assert!(matches!(look.clone().append(0, &all), Err(LogError::OnlyRead { .. })));
        assert!(matches!(Sqlite::look(&path, "other"), Err(LogError::NoStudy { .. })));
        assert_eq!(traces(state.path()), before);
        fs::set_permissions(state.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn an_empty_file_is_no_study_yet_and_becomes_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    fs::write(&path, "").unwrap();
    assert!(matches!(Sqlite::look(&path, "study"), Err(LogError::NoStudy { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"");
    let all = records(1, 9);
    sqlite(dir.path()).append(0, &all).unwrap();
    assert_eq!(Sqlite::look(&path, "study").unwrap().read(0).unwrap(), all);
}

#[test]
fn a_look_follows_a_journal_while_a_writer_of_the_same_process_appends() {
    let dir = tempfile::tempdir().unwrap();
    let writer = sqlite(dir.path());
    let look = Sqlite::look(&dir.path().join("journal.db"), "study").unwrap();
    a_tail_sees_every_record_once(look, writer);
}

#[test]
fn a_path_with_any_characters_can_be_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("a b?c#d%20é");
    fs::create_dir(&odd).unwrap();
    let all = records(1, 9);
    sqlite(&odd).append(0, &all).unwrap();
    assert_eq!(Sqlite::look(&odd.join("journal.db"), "study").unwrap().read(0).unwrap(), all);
}

#[test]
fn a_look_notices_that_the_study_was_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    drop(sqlite(dir.path()));
    let look = Sqlite::look(&path, "study").unwrap();
    assert_eq!(look.read(0).unwrap(), []);
    fs::remove_file(&path).unwrap();
    assert!(matches!(look.read(0), Err(LogError::Gone { .. })));
    drop(sqlite(dir.path()));
    assert!(matches!(look.read(0), Err(LogError::Replaced { .. })));
}

/// The locks that this process has on a file, without the numbers that the system lists them by: while others lock and
/// unlock, its list may show one twice.
#[cfg(target_os = "linux")]
fn locks(path: &Path) -> std::collections::BTreeSet<String> {
    let (process, inode) = (format!(" {} ", std::process::id()), format!(":{} ", file_id(path).unwrap().1));
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let ours = locks.lines().filter(|line| line.contains(&process) && line.contains(&inode));
    ours.filter_map(|line| Some(line.split_once(": ")?.1.to_owned())).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_look_does_not_take_away_the_locks_of_a_writer_in_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let mut log = sqlite(dir.path());
    log.append(0, &records(1, 9)).unwrap();
    let held = locks(&path);
    assert!(!held.is_empty());
    let look = Sqlite::look(&path, "study").unwrap();
    assert_eq!(look.read(0).unwrap(), records(1, 9));
    assert_eq!(locks(&path), held);
}

#[test]
fn a_look_is_taken_again_if_the_journal_moved_under_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    drop(sqlite(dir.path()));
    // Stands for another process: the look does not know of it.
    let other = raw(dir.path());
    let begin_study = "INSERT INTO study (name, began) SELECT 'n' || count(*), 1.0 FROM study";
    let looks = |change: &str| {
        let times = std::cell::Cell::new(0);
        let names = look::looking(&path, |connection| {
            times.set(times.get() + 1);
            let names = rows::names(connection).map_err(|error| database(&path, &error));
            if times.get() == 1 {
                other.execute_batch(change).unwrap();
            }
            names
        });
        (times.get(), names.unwrap().len())
    };
    assert_eq!(looks(""), (1, 1));
    assert_eq!(looks(begin_study), (2, 2), "a write-ahead log came to be");
    assert_eq!(looks(begin_study), (1, 2), "what is added to it does no harm");
    let restart = format!("PRAGMA wal_checkpoint(RESTART); {begin_study}");
    assert_eq!(looks(&restart), (2, 4), "it began anew");
}

#[test]
fn damage_that_a_checkpoint_feigned_is_looked_at_again_and_real_damage_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    drop(sqlite(dir.path()));
    let other = raw(dir.path());
    other.execute_batch("INSERT INTO study (name, began) VALUES ('n', 1.0)").unwrap();
    let looks = |change: &str, failing: u32| {
        let times = std::cell::Cell::new(0);
        let looked = look::looking(&path, |_| {
            times.set(times.get() + 1);
            if times.get() == 1 {
                other.execute_batch(change).unwrap();
            }
            if times.get() <= failing { Err(error::damaged(&path, "it seems")) } else { Ok(()) }
        });
        (times.get(), looked.is_ok())
    };
    assert_eq!(looks("PRAGMA wal_checkpoint(PASSIVE)", 1), (2, true));
    assert_eq!(looks("", 1), (1, false));
}
