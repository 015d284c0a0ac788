//! Any lines are events that a study goes on from, or an error; what was replayed is written as it was read.
#![no_main]

use lambo::space::{Cost, Module, Param, Space};
use lambo::study::{Event, Study};

/// More lines than this make the target slow and find nothing new.
const MOST_LINES: usize = 200;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut events = Vec::new();
    for line in text.lines().take(MOST_LINES) {
        let Some(event) = read(line) else { break };
        events.push(event);
    }
    let Some(study) = new_study() else { return };
    if let Ok(study) = study.replay(events.clone()) {
        assert_eq!(study.events(), &events[..]);
        let (_, _, _) = (study.best(), study.account().spent(), study.open().count());
    }
});

/// One record of a journal.
fn read(line: &str) -> Option<Event> {
    let event: Event = serde_json::from_str(line).ok()?;
    let written = serde_json::to_string(&event).ok()?;
    let again: Event = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(again, event);
    Some(event)
}

/// The study that the seeds belong to.
fn new_study() -> Option<Study> {
    let clean = Module::new("clean", [Param::float("sigma", 1.0, 15.0).ok()?]).ok()?.cost(Cost::Measured).ok()?;
    let params = [Param::int("batch", 2, 14).ok()?, Param::choice("norm", ["a", "b"]).ok()?, Param::bool("flip").ok()?];
    let fit = Module::new("fit", params).ok()?.cost(Cost::Measured).ok()?;
    Study::named(Space::new([clean, fit]).ok()?, "random", 7).ok()
}
