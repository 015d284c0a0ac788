//! Tunes a made-up three-stage pipeline with the engine's parts: `cargo run --release --example tune`.
//!
//! At every trial each stage may be the first to change: the stages before it keep their values bit for bit, log expected
//! improvement is maximised over the rest, and the gain per cost decides. Plain expected improvement, which turns every knob at every
//! trial, runs beside it on the same budget.

use std::error::Error;

use lambo::acquisition::{Best, LogEi, Maximiser, PerCost, Region, Surface};
use lambo::numeric::sobol::Sobol;
use lambo::space::{Batch, Cost, Module, Param, Point, Space};
use lambo::surrogate::{Family, Fit, GaussianProcess, OutputScale};

/// Minutes that a trial of all stages costs, times 20.
const BUDGET: f64 = 220.0;
/// Quasi-random trials before the first model.
const START: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let space = pipeline()?;
    println!("denoise (5 min) -> train (5 min) -> reconstruct (1 min), budget {BUDGET} min\n");
    let lazy = tune(&space, true, 7)?;
    let eager = tune(&space, false, 7)?;
    for (name, run) in [("gain per cost, stages kept", &lazy), ("plain expected improvement", &eager)] {
        let (error, point) = run.best();
        println!("{name}: {} trials, error {error:.4} at {point}", run.errors.len());
        println!(
            "  first stage to change: {} denoise, {} train, {} reconstruct\n",
            run.first[0], run.first[1], run.first[2]
        );
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

/// What a run has seen.
#[derive(Default)]
struct Run {
    points: Vec<Point>,
    errors: Vec<f64>,
    spent: f64,
    first: [usize; 3],
}

impl Run {
    fn best(&self) -> (f64, &Point) {
        let best =
            (0..self.errors.len()).min_by(|&a, &b| self.errors[a].total_cmp(&self.errors[b])).unwrap_or(0);
        (self.errors[best], &self.points[best])
    }

    /// Runs a trial and pays for the stages that must run.
    fn evaluate(&mut self, space: &Space, point: Point) -> Result<(), Box<dyn Error>> {
        let movement = space.movement(self.points.last(), &point)?;
        self.spent += movement.cost(&space.given_costs()?)?;
        self.first[movement.first_changed.unwrap_or(2)] += 1;
        self.errors.push(error(&point));
        self.points.push(point);
        Ok(())
    }
}

fn tune(space: &Space, lazy: bool, seed: u64) -> Result<Run, Box<dyn Error>> {
    let mut run = Run::default();
    let mut sobol = Sobol::new(space.dim(), seed);
    while run.points.len() < START {
        let mut u = vec![0.0; space.dim()];
        sobol.next_into(&mut u)?;
        if space.allows_coded(&u) {
            run.evaluate(space, space.decode(&u)?)?;
        }
    }
    while run.spent < BUDGET {
        let x = run.points.iter().map(|p| space.encode(p)).collect::<Result<Vec<_>, _>>()?;
        let x = Batch::from_slices(space.dim(), &x).ok_or("points of one space have one dimension")?;
        let y = OutputScale::of(&run.errors).standardise_all(&run.errors);
        let gp = Fit::with_priors(Family::Matern52, space.dim()).run(&x, &y)?.gp;
        let seed = run.points.len() as u64;
        let next = if lazy { lazy_step(space, &gp, seed)? } else { step(space, &gp, 0, seed)? };
        run.evaluate(space, next)?;
    }
    Ok(run)
}

/// The best of the points that keep the first 0, 1, 2 stages, by gain per cost.
fn lazy_step(space: &Space, gp: &GaussianProcess, seed: u64) -> Result<Point, Box<dyn Error>> {
    let costs = space.given_costs()?;
    let mut best: Option<Best> = None;
    for kept in 0..space.modules().len() {
        let found = search(space, gp, kept, costs[kept..].iter().sum(), seed)?;
        if best.as_ref().is_none_or(|best| found.value > best.value) {
            best = Some(found);
        }
    }
    Ok(space.decode(&best.ok_or("a space has at least one module")?.x)?)
}

fn step(space: &Space, gp: &GaussianProcess, kept: usize, seed: u64) -> Result<Point, Box<dyn Error>> {
    Ok(space.decode(&search(space, gp, kept, 1.0, seed)?.x)?)
}

/// The highest log expected improvement per cost with the first `kept` stages frozen where they are.
fn search(
    space: &Space,
    gp: &GaussianProcess,
    kept: usize,
    cost: f64,
    seed: u64,
) -> Result<Best, Box<dyn Error>> {
    let last = gp.x().row(gp.len() - 1);
    let region = Region::of(space).freeze(0, &last[..space.module_coordinates(kept).start])?;
    let lowest = gp.y().iter().copied().fold(f64::INFINITY, f64::min);
    let surface = Surface::new(gp, PerCost::new(LogEi::new(lowest)?, cost)?);
    Ok(Maximiser { seed, ..Maximiser::default() }.maximise(&surface, &region, &gp.lowest(5))?)
}
