//! Every format is read for ever: a committed study of each format of the journal and of cache entries
//! goes on, and a committed file of each other format is read.
//!
//! `fixtures/format-2/` holds a pipeline file, a journal of format 2, what the journal comes to, and cache
//! entries of formats 1 and 2. When format 3 comes, leave that folder as it is, add
//! `fixtures/format-3/` with a pipeline file, and let [`FIXTURE`] name it: `STAGETUNE_UPDATE=1
//! cargo test -p stagetune-pipeline --test formats` then makes the rest. Without the variable
//! nothing is written.
//!
//! `packed-1/` holds a pack of small outputs, `witness-1/` a journal and its witness, `ended-1/` attempts
//! that ended in every way. When one of these formats changes, have its test read a new folder as well:
//! the same command makes folders that are not there, and never those that are.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use stagetune::study::{Event, Study, StudyError};
use stagetune::trial::{End, StageReport, TrialId};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Ended, Exit, Local, LocalOptions, read_end, write_end};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::ledger::{Ledger, TrialState};
use stagetune_pipeline::log::{Log, LogError, Sqlite, Stamped};
use stagetune_pipeline::outputs::{Cache, Claim, KEY_FORMAT, Outputs, Run, StageKey, Verdict};
use stagetune_pipeline::owner::{Owner, OwnerOptions, Quiet, RunError, study};

/// The folder of the newest format: the one that is made anew.
const FIXTURE: &str = "format-2";

fn fixture() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(FIXTURE);
    static MADE: std::sync::Once = std::sync::Once::new();
    MADE.call_once(|| {
        if std::env::var_os("STAGETUNE_UPDATE").is_some() {
            make(&folder);
        }
    });
    folder
}

fn pipeline(root: &Path, trials: usize) -> Pipeline {
    let text = fs::read_to_string(root.join("pipeline.toml")).unwrap();
    assert!(text.contains("trials = 9"));
    let text = text.replace("trials = 9", &format!("trials = {trials}"));
    Pipeline::parse(&text, Path::new("pipeline.toml"), root).unwrap()
}

fn run(root: &Path, trials: usize) -> Ledger {
    let attempts = root.join(".stagetune/attempts");
    let executor = Local::new(LocalOptions { attempts, ..LocalOptions::default() });
    let pipeline = pipeline(root, trials);
    let owner = Owner::open(&pipeline, OwnerOptions::default(), Arc::new(executor), &Quiet).unwrap();
    owner.run().unwrap().ledger
}

fn records(journal: &Path) -> Vec<Stamped> {
    Sqlite::open(journal, "fixture", Disk::default()).unwrap().read(0).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, &to).unwrap();
        }
    }
}

/// A directory in which the committed study goes on.
fn opened() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (from, state) = (fixture(), dir.path().join(".stagetune"));
    fs::create_dir_all(&state).unwrap();
    fs::copy(from.join("pipeline.toml"), dir.path().join("pipeline.toml")).unwrap();
    fs::copy(from.join("journal.db"), state.join("journal.db")).unwrap();
    copy(&from.join("cache"), &state.join("cache"));
    dir
}

/// Runs a study and writes it down as the fixture.
fn make(folder: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::copy(folder.join("pipeline.toml"), root.join("pipeline.toml")).unwrap();
    let state = root.join(".stagetune");
    fs::create_dir_all(&state).unwrap();
    let journal = state.join("journal.db");
    let control = |make: &dyn Fn(&Study) -> Result<Vec<Event>, RunError>| {
        let plan = pipeline(root, 9);
        let fresh = || study(&plan, plan.study.engine_strategy());
        let mut log = Sqlite::open(&journal, "fixture", Disk::default()).unwrap();
        // An open trial is the owner's to ask for; here it stands for an owner that was killed.
        let records = log.read(0).unwrap();
        let past = records.iter().map(|stamped| stamped.record.event.clone());
        let study = fresh().unwrap().replay(past).unwrap();
        let at = records.last().map_or(1.0, |last| last.at + 1.0);
        let made: Vec<Stamped> =
            make(&study).unwrap().into_iter().map(|event| Stamped { at, record: event.into() }).collect();
        log.append(records.len() as u64, &made).unwrap();
    };
    let attached = |study: &Study, mode: &str, from: &str| -> Result<Event, RunError> {
        let trial = TrialId::new(study.trials().len() as u64);
        let values = [("sigma", 0.25.into()), ("mode", mode.to_owned().into()), ("rate", 0.5.into())];
        let values: [(&str, stagetune::space::Value); 3] = values;
        let point = study.space().point(values).map_err(StudyError::from)?;
        Ok(Event::Attached { trial, point, from: Some(from.into()) })
    };
    control(&|study| Ok(vec![study.started(), attached(study, "broken", "somebody careless")?]));
    run(root, 6);
    control(&|study| {
        let attached = attached(study, "plain", "last year")?;
        let trial = TrialId::new(study.trials().len() as u64);
        let report = |stage: &str, name: &str, value: f64| Event::Reported {
            trial,
            stage: stage.into(),
            report: StageReport::ran(Some(2.0)).with_metric(name, value),
        };
        let reports = [report("clean", "noise", 0.25), report("fit", "f", 0.75)];
        let ended = Event::Ended { trial, end: End::Finished, cost: Some(4.0) };
        let withdrawn = study.ended(TrialId::new(2), End::Withdrawn { reason: "not meant".into() });
        let noted = Event::Noted { trial: Some(TrialId::new(1)), text: "odd".into() };
        Ok([vec![attached], reports.to_vec(), vec![ended, withdrawn?, noted]].concat())
    });
    control(&|study| {
        let trial = TrialId::new(study.trials().len() as u64);
        Ok(vec![Event::Asked { trial, proposal: Box::new(study.propose()?) }])
    });

    // The same records, owned by nobody's machine.
    let mut kept = records(&journal);
    for stamped in &mut kept {
        if let Event::Owned { by, .. } = &mut stamped.record.event {
            (by.host, by.process) = ("lab".into(), 4711);
            (by.interpreter, by.commit) = (None, None);
        }
    }
    let new = folder.join("journal.db");
    let _ = fs::remove_file(&new);
    Sqlite::open(&new, "fixture", Disk::default()).unwrap().append(0, &kept).unwrap();
    let _ = fs::remove_file(folder.join("journal.lock"));
    let ledger = Ledger::of("fixture", &kept);
    fs::write(folder.join("ledger.json"), serde_json::to_string_pretty(&ledger).unwrap() + "\n").unwrap();

    // Both stages of one trial; format 1 had no metrics.
    let _ = fs::remove_dir_all(folder.join("cache"));
    for (stage, format) in [(0, 1), (1, 2)] {
        let key = &ledger.trials[1].stages[stage].key;
        let to = folder.join("cache").join(key);
        copy(&state.join("cache").join(key), &to);
        let entry = fs::read(to.join("entry.json")).unwrap();
        let mut entry: Value = serde_json::from_slice(&entry).unwrap();
        if format == 1 {
            entry["format"] = 1.into();
            entry.as_object_mut().unwrap().remove("metrics");
        }
        fs::write(to.join("entry.json"), entry.to_string()).unwrap();
    }
}

#[test]
fn a_journal_of_format_2_comes_to_the_numbers_that_it_came_to() {
    let dir = opened();
    let ledger = Ledger::of("fixture", &records(&dir.path().join(".stagetune/journal.db")));
    let written = fs::read_to_string(fixture().join("ledger.json")).unwrap();
    assert_eq!(ledger, serde_json::from_str::<Ledger>(&written).unwrap());
    // By hand: 8 trials, of which number 0 failed, 2 was withdrawn and 7 is open.
    let states: Vec<&str> = ledger.trials.iter().map(|row| row.state.as_str()).collect();
    assert_eq!(states[..3], ["failed", "observed", "withdrawn"]);
    assert_eq!((states.len(), states[6], states[7]), (8, "observed", "open"));
    // Four runs of `clean`, three of them for 10, and seven of `fit`, six of them for 1; 2 each were told.
    assert_eq!((ledger.spent, ledger.saved), (40.0, 30.0));
    assert_eq!((ledger.observed, ledger.failed, ledger.best_trial()), (4, 2, Some(5)));
    let tally =
        |stage: usize| (ledger.stages[stage].ran, ledger.stages[stage].reused, ledger.stages[stage].cost);
    assert_eq!((tally(0), tally(1)), ((4, 3, 32.0), (4, 0, 8.0)));
    assert_eq!(ledger.trials[6].value, Some(0.75));
    assert_eq!(ledger.trials[6].cost, Some(4.0));
    assert_eq!(ledger.notes, [(Some(1), "odd".to_owned())]);
    let metrics: Vec<String> = ledger.metrics().iter().map(ToString::to_string).collect();
    assert_eq!(metrics, ["clean.noise", "fit.f", "fit.loss"]);
    assert_eq!((ledger.strategy.as_str(), ledger.owners.len()), ("auto", 1));
}

#[test]
fn a_study_of_format_2_goes_on_with_the_proposals_that_it_recorded() {
    let dir = opened();
    let journal = dir.path().join(".stagetune/journal.db");
    let before = records(&journal);
    let ledger = run(dir.path(), 9);
    let after = records(&journal);
    assert_eq!(after[..before.len()], before[..]);
    let open = Ledger::of("fixture", &before).trials[7].clone();
    assert_eq!(ledger.trials[7].point, open.point);
    assert_ne!(ledger.trials[7].state, TrialState::Open);
    assert_eq!((ledger.trials.len(), ledger.open()), (9, vec![]));
}

#[test]
fn cache_entries_of_formats_1_and_2_are_sound_and_found() {
    let dir = opened();
    let cache = Cache::at(&dir.path().join(".stagetune"), Disk::default(), None);
    let listed = cache.list().unwrap();
    let mut seen = Vec::new();
    for listed in &listed {
        let entry = listed.entry.as_ref().unwrap();
        assert!(matches!(cache.verify(listed), Verdict::Sound));
        assert!(cache.find(&entry.key).unwrap().is_some());
        seen.push((entry.format, entry.metrics.len(), entry.cost));
    }
    seen.sort_by_key(|(format, _, _)| *format);
    assert_eq!(seen, [(1, 0, 10.0), (2, 2, 1.0)]);
}

/// A moment before every test.
const LONG_AGO: f64 = 1.7e9;

/// The folder of another format; made if that is wanted and it is not there.
fn kept(folder: &str, make: fn(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    if std::env::var_os("STAGETUNE_UPDATE").is_some() && !folder.exists() {
        fs::create_dir_all(&folder).unwrap();
        make(&folder);
    }
    folder
}

fn key(x: usize) -> StageKey {
    StageKey {
        format: KEY_FORMAT,
        stage: "a".into(),
        run: vec!["tool".into()],
        params: BTreeMap::from([("x".to_owned(), x.to_string())]),
        inputs: BTreeMap::new(),
        env: BTreeMap::new(),
        after: BTreeMap::new(),
    }
}

/// Keeps outputs until there are so many files that small ones are packed; one of them stays in the pack.
fn make_pack(folder: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), Disk::default(), None).unwrap();
    for x in 0..12 {
        let Claim::Mine(permit) = cache.claim(&key(x)).unwrap() else { panic!("{x} is there") };
        let out = dir.path().join(format!("attempts/{x}/out"));
        fs::create_dir_all(out.join("sub/empty")).unwrap();
        fs::write(out.join("value"), format!("{x}.5")).unwrap();
        fs::write(out.join("sub/program"), "#!").unwrap();
        fs::set_permissions(out.join("sub/program"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("../value", out.join("sub/link")).unwrap();
        for more in 0..if x == 0 { 0 } else { 28 } {
            fs::write(out.join(format!("more-{more}")), "").unwrap();
        }
        let metrics = BTreeMap::from([("f".to_owned(), 0.25)]);
        cache.publish(permit, &out, Run { cost: 3.0, metrics, ..Run::default() }).unwrap();
        if x == 0 {
            let entry = dir.path().join("cache").join(key(0).id().as_str()).join("entry.json");
            let used = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(LONG_AGO);
            fs::File::open(entry).unwrap().set_modified(used).unwrap();
        }
    }
    for listed in cache.list().unwrap() {
        assert!(listed.id == key(0).id() || cache.remove(&listed.id).unwrap());
    }
    drop(cache);
    fs::copy(dir.path().join("cache/packed.db"), folder.join("packed.db")).unwrap();
}

#[test]
fn a_packed_output_of_format_1_is_found_and_given_its_directory_back() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), Disk::default(), None).unwrap();
    fs::copy(kept("packed-1", make_pack).join("packed.db"), dir.path().join("cache/packed.db")).unwrap();
    assert_eq!(cache.unusable_pack().unwrap(), None);
    let listed = cache.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].packed && listed[0].id == key(0).id() && listed[0].used == LONG_AGO);
    assert_eq!(cache.verify(&listed[0]), Verdict::Sound);
    let found = cache.find(&key(0)).unwrap().unwrap();
    assert_eq!((found.entry.cost, found.entry.metrics["f"], found.dir.exists()), (3.0, 0.25, false));

    let out = Outputs::open(&cache, &key(0)).unwrap().unwrap().dir;
    assert_eq!(out, dir.path().join("cache").join(key(0).id().as_str()).join("out"));
    assert_eq!(fs::read_to_string(out.join("sub/link")).unwrap(), "0.5");
    assert_eq!(fs::read_link(out.join("sub/link")).unwrap(), Path::new("../value"));
    assert_eq!(fs::metadata(out.join("sub/program")).unwrap().permissions().mode() & 0o777, 0o555);
    assert!(out.join("sub/empty").is_dir());
    assert!(!cache.list().unwrap()[0].packed);
}

/// A journal of three notes that are on the disk, and what its syncer says of it.
fn make_witness(folder: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Sqlite::open(&dir.path().join("journal.db"), "fixture", Disk::default()).unwrap();
    let note = |i: u32| Stamped {
        at: LONG_AGO + f64::from(i),
        record: Event::Noted { trial: None, text: format!("note {i}") }.into(),
    };
    log.append(0, &[note(0), note(1), note(2)]).unwrap();
    log.syncer().unwrap().sync().unwrap();
    drop(log);
    for name in ["journal.db", "witness-fixture"] {
        fs::copy(dir.path().join(name), folder.join(name)).unwrap();
    }
}

#[test]
fn a_witness_accuses_a_journal_that_is_shorter_or_gone_and_no_other() {
    let refused = |kept: Result<(), LogError>, what: &str| {
        let LogError::Vanished { problem, .. } = kept.unwrap_err() else { panic!("another error") };
        assert!(problem.contains(what), "{problem}");
    };
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal.db");
    let open = || Sqlite::open(&journal, "fixture", Disk::default()).map(drop);
    let look = || Sqlite::look(&journal, "fixture").map(drop);
    copy(&kept("witness-1", make_witness), dir.path());
    assert_eq!(records(&journal).len(), 3);
    look().unwrap();

    let raw = rusqlite::Connection::open(&journal).unwrap();
    assert_eq!(raw.execute("DELETE FROM event WHERE position = 2", []).unwrap(), 1);
    drop(raw);
    let short = "of the 3 records that study `fixture` had at 2023-11-14 22:13 UTC, the last 1 are missing";
    refused(open(), short);
    refused(look(), short);

    fs::remove_file(&journal).unwrap();
    let gone = "it is missing or empty, and had 3 records of study `fixture`";
    refused(open(), gone);
    refused(look(), gone);
}

/// An attempt that ended in each way, by the folder that it is in.
fn ends() -> Vec<(&'static str, Ended)> {
    let exits = [
        ("success", Exit::Success),
        ("code", Exit::Code(3)),
        ("signal", Exit::Signal(9)),
        ("timeout", Exit::Timeout(0.5)),
        ("stopped", Exit::Stopped),
        ("not-started", Exit::NotStarted("no such program".into())),
        ("no-room", Exit::NoRoom("no memory".into())),
        ("raised", Exit::Raised("a \"quoted\" error".into())),
    ];
    let ended = |exit| Ended {
        exit,
        seconds: 1.5,
        began: LONG_AGO,
        ended: LONG_AGO + 1.5,
        host: "lab".into(),
        process: 4711,
    };
    exits.into_iter().map(|(name, exit)| (name, ended(exit))).collect()
}

fn make_ends(folder: &Path) {
    for (name, ended) in ends() {
        fs::create_dir_all(folder.join(name)).unwrap();
        write_end(&folder.join(name), &ended, &Disk::default()).unwrap();
    }
}

#[test]
fn however_an_attempt_ended_its_end_is_read() {
    let folder = kept("ended-1", make_ends);
    for (name, ended) in ends() {
        assert_eq!(read_end(&folder.join(name)).unwrap(), Some(ended), "{name}");
    }
}
