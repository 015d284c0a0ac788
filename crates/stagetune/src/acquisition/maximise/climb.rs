//! Climbing from a group of starts: quasi-Newton steps in the continuous coordinates, jumps in the others.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{BATCH, Best, MaximiseError, evaluate};
use crate::acquisition::region::{Block, Region};
use crate::acquisition::surface::Objective;
use crate::numeric::quasi_newton::{Options, QuasiNewton};
use crate::space::Batch;

/// An improvement below this share of the spread of raw values ends a climb.
const TOLERANCE: f64 = 1e-6;

/// Rounds of continuous steps and jumps; each but the last must improve, and few starts need more than three.
const ROUNDS: usize = 12;

/// Values of an int that are all tried; with more, distances 1, 2, 4, … are.
const TRY_ALL: u64 = 8;

/// The moves that a region allows.
pub(super) struct Walk<'a> {
    region: &'a Region<'a>,
    continuous: Vec<usize>,
    blocks: Vec<Block>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(region: &'a Region<'a>) -> Result<Self, MaximiseError> {
        Ok(Self { region, continuous: region.continuous(), blocks: region.blocks()? })
    }

    /// How many numbers say everything about a point of the region.
    pub(super) fn decisions(&self) -> usize {
        self.continuous.len() + self.blocks.len()
    }

    /// Writes the point that numbers in [0, 1) stand for.
    pub(super) fn map(&self, u: &[f64], x: &mut [f64]) {
        let (lower, upper) = (self.region.lower(), self.region.upper());
        let (coordinates, values) = u.split_at(self.continuous.len());
        for (&i, &u) in self.continuous.iter().zip(coordinates) {
            x[i] = (lower[i] + u * (upper[i] - lower[i])).min(upper[i]);
        }
        for (block, &u) in self.blocks.iter().zip(values) {
            let count = block.len();
            block.write(self.region, ((u * count as f64) as u64).min(count - 1), x);
        }
    }

    /// Writes the point of the region nearest to any point of the cube.
    pub(super) fn place(&self, from: &[f64], x: &mut [f64]) {
        let (lower, upper) = (self.region.lower(), self.region.upper());
        for i in 0..x.len() {
            x[i] = if from[i] > lower[i] { from[i].min(upper[i]) } else { lower[i] };
        }
        for block in &self.blocks {
            block.write(self.region, block.read(self.region, from), x);
        }
    }

    /// Moves every continuous coordinate by up to `width` of its side, and jumps with probability `width`.
    pub(super) fn scatter(&self, width: f64, rng: &mut ChaCha8Rng, x: &mut [f64]) {
        let (lower, upper) = (self.region.lower(), self.region.upper());
        for &i in &self.continuous {
            let step = width * (upper[i] - lower[i]) * (2.0 * rng.random::<f64>() - 1.0);
            x[i] = (x[i] + step).clamp(lower[i], upper[i]);
        }
        for block in &self.blocks {
            if rng.random::<f64>() < width {
                block.write(self.region, (rng.random::<f64>() * block.len() as f64) as u64, x);
            }
        }
    }

    /// Shows every combination of the jumping decisions, if there are at most this many.
    pub(super) fn each(&self, most: u64, mut show: impl FnMut(&[f64])) {
        let count = self.blocks.iter().try_fold(1u64, |count, block| count.checked_mul(block.len()));
        let Some(count) = count.filter(|count| *count <= most) else { return };
        let mut x = self.region.lower().to_vec();
        for number in 0..count {
            let mut rest = number;
            for block in &self.blocks {
                block.write(self.region, rest % block.len(), &mut x);
                rest /= block.len();
            }
            show(&x);
        }
    }

    /// The points that one jump leads to.
    pub(super) fn neighbours(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let jumps = |block: &Block| -> Vec<Vec<f64>> {
            let here = block.read(self.region, x);
            let jump = |k: u64| {
                let mut x = x.to_vec();
                block.write(self.region, k, &mut x);
                x
            };
            neighbours(block, here).into_iter().map(jump).collect()
        };
        self.blocks.iter().flat_map(jumps).collect()
    }

    /// Improves every start of a group until neither steps nor jumps help.
    pub(super) fn climb(
        &self,
        objective: &dyn Objective,
        mut group: Vec<Best>,
        spread: f64,
        max_evaluations: usize,
    ) -> Result<Vec<Best>, MaximiseError> {
        // Values are measured in units of their spread, so that one tolerance serves all acquisition functions.
        let unit = if spread > 0.0 && spread.is_finite() { spread } else { 1.0 };
        let mut active: Vec<usize> = (0..group.len()).collect();
        for _ in 0..ROUNDS {
            if !self.continuous.is_empty() {
                self.step(objective, &mut group, &active, unit, max_evaluations)?;
            }
            if self.blocks.is_empty() {
                break;
            }
            active = self.jump(objective, &mut group, &active, unit)?;
            if active.is_empty() {
                break;
            }
        }
        Ok(group)
    }

    /// Quasi-Newton steps of all active starts side by side.
    fn step(
        &self,
        objective: &dyn Objective,
        group: &mut [Best],
        active: &[usize],
        unit: f64,
        max_evaluations: usize,
    ) -> Result<(), MaximiseError> {
        let pick = |x: &[f64]| -> Vec<f64> { self.continuous.iter().map(|&i| x[i]).collect() };
        let (lower, upper) = (pick(self.region.lower()), pick(self.region.upper()));
        let options = Options {
            value_tolerance: TOLERANCE,
            gradient_tolerance: TOLERANCE,
            max_evaluations,
            ..Options::default()
        };
        let mut searches: Vec<QuasiNewton> =
            active.iter().map(|&i| QuasiNewton::new(&pick(&group[i].x), &lower, &upper, options)).collect();
        let mut batch = Batch::new(self.region.dim());
        loop {
            batch.truncate(0);
            let mut asked = Vec::new();
            for (search, &i) in searches.iter_mut().zip(active) {
                // A forbidden point is as good as an infinite one: the line search steps back from it.
                while let Some(trial) = search.ask() {
                    let mut x = group[i].x.clone();
                    self.continuous.iter().zip(trial).for_each(|(&c, &v)| x[c] = v);
                    if self.region.contains(&x) {
                        let _ = batch.push(&x);
                        asked.push(search);
                        break;
                    }
                    search.tell(f64::INFINITY, &[]);
                }
            }
            if batch.is_empty() {
                break;
            }
            let (values, gradients) = objective.values_and_gradients(&batch)?;
            for (k, search) in asked.into_iter().enumerate() {
                let gradient: Vec<f64> =
                    self.continuous.iter().map(|&c| -gradients.row(k)[c] / unit).collect();
                search.tell(-values[k] / unit, &gradient);
            }
        }
        for (search, &i) in searches.iter().zip(active) {
            let (trial, value) = search.best();
            if -value * unit > group[i].value {
                self.continuous.iter().zip(trial).for_each(|(&c, &v)| group[i].x[c] = v);
                group[i].value = -value * unit;
            }
        }
        Ok(())
    }

    /// Moves every active start to its best neighbour; returns those that moved.
    fn jump(
        &self,
        objective: &dyn Objective,
        group: &mut [Best],
        active: &[usize],
        unit: f64,
    ) -> Result<Vec<usize>, MaximiseError> {
        let mut batch = Batch::new(self.region.dim());
        let mut owners = Vec::new();
        let mut best = group.to_vec();
        let mut weigh = |batch: &mut Batch, owners: &mut Vec<usize>| -> Result<(), MaximiseError> {
            for (k, value) in evaluate(objective, batch)?.into_iter().enumerate() {
                if value > best[owners[k]].value {
                    best[owners[k]] = Best { x: batch.row(k).to_vec(), value };
                }
            }
            batch.truncate(0);
            owners.clear();
            Ok(())
        };
        for &i in active {
            for block in &self.blocks {
                let here = block.read(self.region, &group[i].x);
                for k in neighbours(block, here) {
                    let mut x = group[i].x.clone();
                    block.write(self.region, k, &mut x);
                    if self.region.contains(&x) {
                        let _ = batch.push(&x);
                        owners.push(i);
                    }
                }
                if batch.len() >= BATCH {
                    weigh(&mut batch, &mut owners)?;
                }
            }
        }
        weigh(&mut batch, &mut owners)?;
        let moved =
            active.iter().copied().filter(|&i| best[i].value > group[i].value + TOLERANCE * unit).collect();
        group.clone_from_slice(&best);
        Ok(moved)
    }
}

/// Other values to try: all of them if they are few or have no order, else those at distances 1, 2, 4, ….
fn neighbours(block: &Block, here: u64) -> Vec<u64> {
    let count = block.len();
    if count <= TRY_ALL || matches!(block, Block::OneHot { .. } | Block::Category { .. }) {
        return (0..count).filter(|&k| k != here).collect();
    }
    let distances = (0..63).map(|p| 1_u64 << p).take_while(|&d| d < count);
    distances
        .flat_map(|d| [here.checked_sub(d), here.checked_add(d).filter(|&k| k < count)])
        .flatten()
        .collect()
}
