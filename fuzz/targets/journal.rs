//! Any lines are records of a log that a study and a ledger take in, or an error that changes nothing.
#![no_main]

use stagetune::space::{Cost, Module, Param, Space};
use stagetune::study::{Event, Study};
use stagetune_pipeline::ledger::Ledger;
use stagetune_pipeline::log::{Record, Stamped, read_record};

/// More lines than this make the target slow and find nothing new.
const MOST_LINES: usize = 200;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut records = Vec::new();
    for (at, line) in text.lines().take(MOST_LINES).enumerate() {
        // A line that is no record is left out, so that what follows it is taken in too.
        let Some(record) = read(line) else { continue };
        records.push(Stamped { at: at as f64, record });
    }
    // What is shown of a study that makes no sense makes no sense either, but it is shown.
    let ledger = Ledger::of("fuzzed", &records);
    let _ = (ledger.open(), ledger.metrics(), ledger.best_trial());
    let mut study = STUDY.with(Study::snapshot);
    let mut taken: Vec<Event> = Vec::new();
    for Stamped { record, .. } in &records {
        let before =
            (study.events().len(), study.trials().len(), study.open().count(), study.account().spent());
        match study.apply(&record.event) {
            Ok(()) => taken.push(record.event.clone()),
            Err(_) => {
                let after = (
                    study.events().len(),
                    study.trials().len(),
                    study.open().count(),
                    study.account().spent(),
                );
                assert!(before == after, "an error changes nothing");
            }
        }
    }
    for trial in study.open() {
        let _ = study.next(trial.id());
    }
    let again = STUDY.with(Study::snapshot);
    let again = again.replay(taken).expect("what was taken once is taken again");
    assert_eq!(again.best(), study.best());
    assert_eq!(again.account(), study.account());
});

/// One record of a log; a bare event counts as a record of it.
fn read(line: &str) -> Option<Record> {
    let bare = || serde_json::from_str::<Event>(line).ok().map(Record::from);
    let record = read_record(line).ok().or_else(bare)?;
    let written = serde_json::to_string(&record).ok()?;
    let again = read_record(&written).expect("what was written can be read");
    assert_eq!(again, record);
    Some(record)
}

thread_local! {
    /// The study that the seeds belong to, before its first event.
    static STUDY: Study = new_study().expect("the study is in order");
}

fn new_study() -> Option<Study> {
    let clean =
        Module::new("clean", [Param::float("sigma", 1.0, 15.0).ok()?]).ok()?.cost(Cost::Measured).ok()?;
    let params = [
        Param::int("batch", 2, 14).ok()?,
        Param::choice("norm", ["a", "b"]).ok()?,
        Param::bool("flip").ok()?,
    ];
    let fit = Module::new("fit", params).ok()?.cost(Cost::Measured).ok()?;
    Study::named(Space::new([clean, fit]).ok()?, "random", 7).ok()
}
