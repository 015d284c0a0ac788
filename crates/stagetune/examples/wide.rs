//! What `auto` reaches in wide spaces, and how long an ask takes: `cargo run --release -p stagetune --example wide -- TRIALS SEEDS [PROBLEM …]`.
//!
//! The figures of `experiments/engine/wide.md` come from it, run in this version and in the one before wide spaces had bounds.

#![allow(clippy::disallowed_methods)] // The engine has no clock, but its user does.

use std::time::Instant;

use stagetune::space::{Cost, Module, Param, Point, Space, Value};
use stagetune::study::Study;

/// A space and a function over it.
struct Problem {
    name: &'static str,
    space: Space,
}

/// Stages of so many floats, each half as dear as the one before where there are few of them; the last so many have a choice of a thousand values.
fn stages(count: usize, each: usize, choices: usize) -> Result<Space, Box<dyn std::error::Error>> {
    let mut modules = Vec::new();
    for m in 0..count {
        let mut params = Vec::new();
        for i in 0..each {
            params.push(Param::float(&format!("x{m}-{i}"), 0.0, 1.0)?);
        }
        if m + choices >= count {
            params.push(Param::choice(&format!("c{m}"), (0..1_000).map(|k| format!("v{k}")))?);
        }
        let cost = if count <= 10 { 0.5_f64.powi(m as i32) } else { 1.0 };
        modules.push(Module::new(&format!("m{m}"), params)?.cost(Cost::Given(cost))?);
    }
    Ok(Space::new(modules)?)
}

/// A sum over parameters: bowls off the centre, of which later ones matter less, and a twentieth of the values of a choice that are better than all others.
fn value(point: &Point) -> f64 {
    let (mut sum, mut floats) = (0.0, 0);
    for value in point.values() {
        match value {
            Value::Float(x) => {
                let centre = 0.2 + 0.6 * (0.37 * f64::from(floats)).fract();
                sum += (x - centre).powi(2) / (1.0 + f64::from(floats) / 20.0);
                floats += 1;
            }
            Value::Choice(text) => {
                let k: u32 = text.trim_start_matches('v').parse().unwrap_or(0);
                sum += if k % 20 == 7 { 0.2 + f64::from(k % 100) / 500.0 } else { 1.0 };
            }
            _ => {}
        }
    }
    sum
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, otherwise: u64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(otherwise);
    let (trials, seeds) = (number(0, 60), number(1, 5));
    let wanted = arguments.get(2..).unwrap_or_default();
    let problems = [
        Problem { name: "one-choice", space: stages(4, 1, 1)? },
        Problem { name: "four-choices", space: stages(4, 1, 4)? },
        Problem { name: "200-parameters", space: stages(4, 50, 0)? },
        Problem { name: "100-stages", space: stages(100, 1, 0)? },
    ];
    for problem in problems.iter().filter(|p| wanted.is_empty() || wanted.iter().any(|name| name == p.name)) {
        let (mut ends, mut spent, mut asks) = (Vec::new(), 0.0, Vec::new());
        for seed in 1..=seeds {
            let mut study = Study::named(problem.space.clone(), "auto", seed)?;
            let mut best = f64::INFINITY;
            for _ in 0..trials {
                let start = Instant::now();
                let trial = study.ask()?;
                asks.push(start.elapsed().as_secs_f64());
                let value = value(trial.point());
                best = best.min(value);
                study.tell(trial.observe(value)?)?;
            }
            eprintln!("{} seed {seed}: {best:.3}", problem.name);
            ends.push(best);
            spent += study.account().spent() / seeds as f64;
        }
        asks.sort_by(f64::total_cmp);
        let mean = ends.iter().sum::<f64>() / ends.len() as f64;
        let ends: Vec<String> = ends.iter().map(|end| format!("{end:.3}")).collect();
        let (name, ends, median) = (problem.name, ends.join(" "), asks[asks.len() / 2]);
        println!("{name}: best {mean:.3} ({ends}), cost {spent:.1}, median ask {median:.3} s");
    }
    Ok(())
}
