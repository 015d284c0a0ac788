//! Every format of the journal and of cache entries is read for ever: a committed study of each goes on.
//!
//! `fixtures/format-2/` holds a pipeline file, a journal of format 2, what the journal comes to, and cache
//! entries of formats 1 and 2. When format 3 comes, leave that folder as it is, add `fixtures/format-3/` with a
//! pipeline file, and let [`FIXTURE`] name it: `STAGETUNE_UPDATE=1 cargo test -p stagetune-pipeline --test
//! formats` then makes the rest. Without the variable nothing is written.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use stagetune::study::{Event, Study, StudyError};
use stagetune::trial::{End, StageReport, TrialId};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Local, LocalOptions};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::ledger::{Ledger, TrialState};
use stagetune_pipeline::log::{Log, Sqlite, Stamped};
use stagetune_pipeline::outputs::{Cache, Verdict};
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
