//! Every strategy proposes what it proposed when the logs beside this file were recorded, each
//! proposal given the recorded history.
//!
//! A log is neutral: steps of asking and telling in plain JSON, without the types of the engine. On
//! the instruction set of the recording numbers agree bit for bit, on others to 1e-9. `RECORD=1
//! cargo test --test recorded` writes the logs anew; a change of a proposal is then in the diff, to
//! be explained.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

mod compare;
mod drive;
mod log;
mod scenarios;

use scenarios::Scenario;
use stagetune::strategy::NAMES;

#[test]
fn every_strategy_proposes_what_was_recorded() {
    let mut compared = 0;
    for scenario in scenarios::all() {
        if std::env::var_os("RECORD").is_some() {
            drive::record(&scenario).write(scenario.name);
        }
        compared += compare::check(&scenario, &log::Log::read(scenario.name));
    }
    assert!(compared > 3_000, "only {compared} proposals were compared");
}

#[test]
fn every_strategy_has_a_recorded_log_on_six_spaces() {
    let logs: Vec<log::Log> = scenarios::all().iter().map(|scenario| log::Log::read(scenario.name)).collect();
    let asks = |run: &log::Run| run.steps.iter().any(|step| matches!(step, log::Step::Asked(_)));
    for name in NAMES {
        let has = |log: &&log::Log| log.runs.iter().any(|run| run.strategy == name && asks(run));
        let spaces = logs.iter().filter(has).count();
        assert!(spaces >= 6, "`{name}` is in {spaces} logs; record it with RECORD=1 on at least 6 spaces");
    }
}

#[test]
fn a_proposal_that_differs_in_its_last_bit_is_noticed() {
    let scenario: Scenario = scenarios::all().remove(0);
    let mut log = log::Log::read(scenario.name);
    let steps = log.runs.iter_mut().flat_map(|run| &mut run.steps);
    let last = steps.filter_map(log::Step::asked_mut).next_back().unwrap();
    let (_, value) = last.point.iter_mut().next().unwrap();
    let number = value.as_f64().unwrap();
    *value = f64::from_bits(number.to_bits() + 1).into();
    if log.instructions == log::instructions() {
        assert!(std::panic::catch_unwind(|| compare::check(&scenario, &log)).is_err());
    }
}
