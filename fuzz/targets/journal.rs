//! Any lines are events that a study goes on from, or an error; what was replayed is written as it was read.
#![no_main]

use stagetune::space::{Cost, Module, Param, Space};
use stagetune::study::{Event, Study};
use stagetune_pipeline::journal::{Record, Stamped, Summary, read_record};
use stagetune_pipeline::run_loop::record;

/// More lines than this make the target slow and find nothing new.
const MOST_LINES: usize = 200;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut records = Vec::new();
    for (at, line) in text.lines().take(MOST_LINES).enumerate() {
        let Some(record) = read(line) else { break };
        records.push(Stamped { at: at as f64, record });
    }
    // What is shown of a study that makes no sense makes no sense either, but it is shown.
    let (summary, story) = (Summary::of(&records), record("fuzzed", &records));
    assert!(summary.trials as usize >= story.trials.len());
    let events: Vec<Event> = records.iter().filter_map(|stamped| stamped.record.event().cloned()).collect();
    let Some(study) = new_study() else { return };
    if let Ok(study) = study.replay(events.clone()) {
        assert_eq!(study.events(), &events[..]);
        let (_, _, _) = (study.best(), study.account().spent(), study.open().count());
    }
});

/// One record of a journal; a bare event counts as a record of it.
fn read(line: &str) -> Option<Record> {
    let bare = || serde_json::from_str(line).ok().map(|event| Record::Study { event });
    let record = read_record(line).ok().or_else(bare)?;
    let written = serde_json::to_string(&record).ok()?;
    let again = read_record(&written).expect("what was written can be read");
    assert_eq!(again, record);
    Some(record)
}

/// The study that the seeds belong to.
fn new_study() -> Option<Study> {
    let clean = Module::new("clean", [Param::float("sigma", 1.0, 15.0).ok()?]).ok()?.cost(Cost::Measured).ok()?;
    let params = [Param::int("batch", 2, 14).ok()?, Param::choice("norm", ["a", "b"]).ok()?, Param::bool("flip").ok()?];
    let fit = Module::new("fit", params).ok()?.cost(Cost::Measured).ok()?;
    Study::named(Space::new([clean, fit]).ok()?, "random", 7).ok()
}
