//! Journals of every format so far: what was told is still there, and the study goes on.
//!
//! `fixtures/journal-N.db` was written by a release with journal format N for `fixtures/journal-N.toml`.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lambo_pipeline::disk::Disk;
use lambo_pipeline::file::Pipeline;
use lambo_pipeline::journal::{FORMAT, Journal, Sqlite, Summary};
use lambo_pipeline::run_loop::{Quiet, Session, SessionOptions, record};
use lambo_pipeline::runner::Processes;
use std::fs;
use std::path::Path;

#[test]
fn a_journal_of_any_format_is_read_and_continued() {
    for format in 1..=FORMAT {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let dir = tempfile::tempdir().unwrap();
        let (file, state) = (dir.path().join("pipeline.toml"), dir.path().join(".lambo"));
        fs::create_dir(&state).unwrap();
        fs::copy(fixtures.join(format!("journal-{format}.db")), state.join("journal.db")).unwrap();
        let text = fs::read_to_string(fixtures.join(format!("journal-{format}.toml"))).unwrap();
        fs::write(&file, text.replace("trials = 6", "trials = 9")).unwrap();

        let journal = Sqlite::look(&state.join("journal.db"), "older").unwrap();
        let records = journal.read(0).unwrap();
        assert_eq!(journal.summary().unwrap(), Summary::of(&records), "format {format}");
        let before = record("older", &records);
        assert_eq!((before.trials.len(), before.metric.as_str()), (6, "f"), "format {format}");
        assert!(before.trials.iter().any(|trial| trial.reason.is_some()), "format {format}");
        drop(journal);

        let pipeline = Pipeline::load(&file).unwrap();
        let runner = Processes::new(None, Disk::default());
        let session = Session::open(&pipeline, SessionOptions::default(), &runner, &Quiet).unwrap();
        session.run().unwrap();
        let records = Sqlite::look(&state.join("journal.db"), "older").unwrap().read(0).unwrap();
        let after = record("older", &records);
        assert_eq!(after.trials.len(), 9, "format {format}");
        assert_eq!(after.trials[..6], before.trials[..], "format {format}");
    }
}
