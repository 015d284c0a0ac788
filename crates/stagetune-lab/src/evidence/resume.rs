//! What a restart costs: a study of many trials is written as JSON, read and replayed, and asked for its next point.

use super::Finding;
use crate::simulate::Pipeline;
use anyhow::{Result, ensure};
use clap::Args;
use stagetune::strategy::by_name;
use stagetune::study::{Event, Study};
use std::time::Instant;

pub const CLAIM: &str =
    "a study of 1,000 trials resumes in under 2 seconds and proposes what the uninterrupted one proposes";

/// What a resumption may take.
const SECONDS: f64 = 2.0;

/// The size of the study.
#[derive(Debug, Args)]
pub struct Options {
    /// The strategy.
    #[arg(long, default_value = "lambo")]
    strategy: String,
    /// Trials told before the interruption.
    #[arg(long, default_value_t = 1_000)]
    trials: usize,
    /// Trials in a row that must agree afterwards.
    #[arg(long, default_value_t = 5)]
    after: usize,
}

/// Runs the study, resumes it from text, and lets both go on.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(
        options.trials > 0 && options.after > 0,
        "there must be something to resume and something to compare"
    );
    let pipeline = Pipeline::new("hartmann6@1", &[2, 2, 2], &[40.0, 10.0, 1.0], 0.0)?;
    let space = pipeline.space()?;
    let fresh =
        || -> Result<Study> { Ok(Study::new(space.clone(), by_name(&options.strategy, &space, seed)?)) };
    let step = |study: &mut Study| -> Result<_> {
        let trial = study.ask()?;
        let point = trial.point().clone();
        let value = pipeline.value(&point)?;
        study.tell(trial.observe(value)?)?;
        Ok(point)
    };
    let mut study = fresh()?;
    let started = Instant::now();
    for trial in 0..options.trials {
        step(&mut study)?;
        if (trial + 1).is_multiple_of(100) {
            eprintln!(
                "resume: trial {} of {}, {:.0} s",
                trial + 1,
                options.trials,
                started.elapsed().as_secs_f64()
            );
        }
    }
    let text: Vec<String> = study.events().iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    let bytes: usize = text.iter().map(String::len).sum();

    let started = Instant::now();
    let events: Vec<Event> = text.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    let read_seconds = started.elapsed().as_secs_f64();
    let mut resumed = fresh()?.replay(events)?;
    let resume_seconds = started.elapsed().as_secs_f64();

    let started = Instant::now();
    let mut agree = step(&mut resumed)? == step(&mut study)?;
    let two_asks_seconds = started.elapsed().as_secs_f64();
    for _ in 1..options.after {
        agree &= step(&mut resumed)? == step(&mut study)?;
    }
    Finding::new(
        agree && resume_seconds < SECONDS,
        &serde_json::json!({
            "strategy": options.strategy, "trials": options.trials, "events": text.len(), "bytes": bytes,
            "read_seconds": read_seconds, "resume_seconds": resume_seconds, "allowed_seconds": SECONDS,
            "next_two_asks_seconds": two_asks_seconds, "compared": options.after, "same_proposals": agree,
        }),
    )
}
