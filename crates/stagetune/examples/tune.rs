//! Tunes a made-up three-stage pipeline: `cargo run --release --example tune`.
//!
//! LaMBO, which keeps early stages while it explores late ones, beside expected improvement, which turns every knob at every trial, and chance; each on the
//! same budget of minutes.

use std::error::Error;

use stagetune::space::{Cost, Module, Param, Point, Space};
use stagetune::study::{StopRules, Study};

/// Minutes: 30 runs of all stages.
const BUDGET: f64 = 330.0;
const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    println!("denoise (5 min) -> train (5 min) -> reconstruct (1 min), budget {BUDGET} min\n");
    let mut explained = None;
    for strategy in ["lambo", "gp-ei", "random"] {
        let mut study = Study::named(pipeline()?, strategy, SEED)?
            .stop(StopRules { cost: Some(BUDGET), ..StopRules::default() })?;
        while study.stopped().is_none() {
            let trial = study.ask()?;
            let value = error(trial.point());
            if strategy == "lambo" {
                explained = study.why(trial.id()).map(|why| (trial.id(), why.clone()));
            }
            study.tell(trial.observe(value)?)?;
        }
        report(strategy, &study)?;
    }
    if let Some((id, why)) = explained {
        println!("stagetune's trial {id}: {why}");
    }
    Ok(())
}

/// What can be tuned, and what each stage costs.
fn pipeline() -> Result<Space, Box<dyn Error>> {
    let denoise =
        Module::new("denoise", [Param::float("strength", 1.0, 15.0)?, Param::float("contrast", 1.0, 2.0)?])?
            .cost(Cost::Given(5.0))?;
    let train = Module::new(
        "train",
        [
            Param::float("lr", 1e-5, 1e-1)?.log()?,
            Param::int("batch", 2, 14)?.step(2)?,
            Param::choice("norm", ["batch", "group", "layer"])?,
        ],
    )?
    .cost(Cost::Given(5.0))?
    .forbid("lr > 0.05 and batch < 4")?;
    let reconstruct =
        Module::new("reconstruct", [Param::float("purity", 0.5, 0.8)?, Param::int("opening", 0, 4)?])?
            .cost(Cost::Given(1.0))?;
    Ok(Space::new([denoise, train, reconstruct])?)
}

/// A made-up error of the pipeline: smooth, with interactions between stages.
fn error(point: &Point) -> f64 {
    let float = |name: &str| point.get(name).and_then(|v| v.as_float()).unwrap_or(0.0);
    let int = |name: &str| point.get(name).and_then(|v| v.as_int()).unwrap_or(0) as f64;
    let strength = (float("strength") - 6.0) / 14.0;
    let contrast = float("contrast") - 1.3 - 0.3 * strength;
    let lr = (float("lr").log10() + 2.6 + 0.1 * (int("batch") - 8.0)) / 4.0;
    let norm = if point.get("norm").and_then(|v| v.as_choice()) == Some("group") { 0.0 } else { 0.08 };
    let purity = (float("purity") - 0.62 - 0.05 * strength) / 0.3;
    let opening = (int("opening") - 2.0) / 4.0;
    0.2 + strength * strength
        + contrast * contrast
        + lr * lr
        + norm
        + 0.5 * purity * purity
        + 0.3 * opening * opening
}

/// What a strategy reached, and which stage was the first to run how often.
fn report(strategy: &str, study: &Study) -> Result<(), Box<dyn Error>> {
    let best = study.best().ok_or("there was a trial")?;
    let charges = study.account().charges();
    println!("{strategy}: {} trials, error {:.4} at {}", charges.len(), best.value(), best.point());
    let firsts = study.space().modules().iter().enumerate().map(|(m, module)| {
        let count = charges.iter().filter(|charge| charge.movement.first_changed == Some(m)).count();
        format!("{count} {}", module.name())
    });
    println!("  first stage to run: {}\n", firsts.collect::<Vec<_>>().join(", "));
    Ok(())
}
