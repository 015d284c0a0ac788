//! Starting designs: which points to try before there is anything to learn from.
//!
//! Point k of a design depends on the design, the space, the seed and k alone, so that strategies with the same seed start alike.
//! A *nested* design keeps early modules for several points: of N modules with parameters number m (from 0) is drawn anew every `every`^(N−1−m)
//! points; where that would leave it a single value, as often as the module after it. Two
//! modules that cost 10 and 1, 15 points and `every` = 3 cost 5·11 + 10·1 = 65 instead of 165.

use serde::{Deserialize, Serialize};

use super::fresh::{uniform, within};
use super::stream::{Purpose, seed_of, stream};
use crate::numeric::sobol::Sobol;
use crate::space::{Axis, Point, Space, SpaceError};
use crate::strategy::{StrategyError, View};

/// Where to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Design {
    /// This many uniform points.
    Uniform(usize),
    /// This many points of a scrambled Sobol' sequence.
    Sobol(usize),
    /// Early modules are kept for several points.
    Nested {
        /// How many points.
        points: usize,
        /// Points for which the last module but one is kept; the module before it is kept for the square of it, and so on.
        every: usize,
    },
}

/// A design that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// No points at all.
    #[error("a starting design needs at least one point")]
    Empty,
    /// A nested design that never draws anew.
    #[error("a nested design keeps early modules for `every` points, which is at least 1")]
    Every,
}

impl Design {
    /// How many points it has.
    pub fn len(self) -> usize {
        match self {
            Self::Uniform(points) | Self::Sobol(points) | Self::Nested { points, .. } => points,
        }
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether it makes sense.
    pub fn check(self) -> Result<(), DesignError> {
        if self.is_empty() {
            return Err(DesignError::Empty);
        }
        match self {
            Self::Nested { every: 0, .. } => Err(DesignError::Every),
            Self::Nested { .. } | Self::Uniform(_) | Self::Sobol(_) => Ok(()),
        }
    }

    /// Point number `index` of the design, and beyond its end; allowed.
    pub fn point(self, space: &Space, seed: u64, index: usize) -> Result<Point, SpaceError> {
        let u = match self {
            Self::Uniform(_) => uniform(space, &mut stream(seed, Purpose::Design, index as u64))?,
            Self::Sobol(_) => {
                let u = quasi_random(space, seed_of(seed, Purpose::Design, 0), index);
                if space.allows_coded(&u) {
                    u
                } else {
                    uniform(space, &mut stream(seed, Purpose::Design, index as u64))?
                }
            }
            Self::Nested { points, every } => {
                nested(space, seed, index, &strides(space, points, every.max(1)))?
            }
        };
        space.decode(&u)
    }

    /// The point for the next trial of a study, away from those that are open.
    pub(crate) fn next(self, view: &View<'_>, seed: u64) -> Result<Point, StrategyError> {
        let index = view.trials.len();
        let point = self.point(view.space, seed, index)?;
        crate::strategy::parts::fresh::away_from_open(
            view,
            point,
            &mut stream(seed, Purpose::Chance, index as u64),
        )
    }
}

/// Point number `index` of a scrambled Sobol' sequence, on the codes of ints and choices.
pub(crate) fn quasi_random(space: &Space, seed: u64, index: usize) -> Vec<f64> {
    let mut sobol = Sobol::new(space.dim(), seed);
    sobol.skip(index as u64);
    let mut u = vec![0.5; space.dim()];
    // A sequence that has ended, after 2³² points, leaves the middle of the cube.
    let _ = sobol.next_into(&mut u);
    one_option_each(space, &mut u);
    let _ = space.snap(&mut u);
    u
}

/// Gives every choice the option whose coordinate was largest: each is as likely.
fn one_option_each(space: &Space, u: &mut [f64]) {
    for (i, axis) in space.axes().iter().enumerate() {
        if let Axis::OneHot { first, len } = *axis
            && first == i
        {
            let group = &mut u[first..first + len];
            let top = (0..len).max_by(|&a, &b| group[a].total_cmp(&group[b])).unwrap_or(0);
            group.iter_mut().enumerate().for_each(|(k, u)| *u = if k == top { 1.0 } else { 0.0 });
        }
    }
}

/// For how many points each module is kept; modules without parameters follow the one after them.
fn strides(space: &Space, points: usize, every: usize) -> Vec<usize> {
    let mut strides = vec![1; space.modules().len()];
    let (mut stride, mut is_last) = (1usize, true);
    for m in (0..strides.len()).rev() {
        if !space.module_params(m).is_empty() {
            let longer = stride.saturating_mul(every);
            // Every module has two values at least, if the design has two points.
            if !is_last && longer < points {
                stride = longer;
            }
            is_last = false;
        }
        strides[m] = stride;
    }
    strides
}

fn nested(space: &Space, seed: u64, index: usize, strides: &[usize]) -> Result<Vec<f64>, SpaceError> {
    let modules = space.modules().len();
    let sequence = seed_of(seed, Purpose::Design, 0);
    let mut u = vec![0.0; space.dim()];
    // Every module takes its own coordinates of the point whose number is how often it was drawn anew.
    for (m, kept) in strides.iter().enumerate() {
        let drawn = quasi_random(space, sequence, index / kept);
        let own = space.module_coordinates(m);
        u[own.clone()].copy_from_slice(&drawn[own]);
    }
    // Where the combination is forbidden, later modules give way first.
    let mut rng = stream(seed, Purpose::Design, index as u64);
    for m in (0..modules).rev() {
        if space.allows_coded(&u) {
            return Ok(u);
        }
        let keep = space.module_coordinates(m).start;
        let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
        lower[..keep].copy_from_slice(&u[..keep]);
        upper[..keep].copy_from_slice(&u[..keep]);
        if let Ok(found) = within(space, &lower, &upper, &mut rng) {
            return Ok(found);
        }
    }
    uniform(space, &mut rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Cost, Module, Param};

    fn space() -> Space {
        let module = |name: &str, params: Vec<Param>| {
            Module::new(name, params).unwrap().cost(Cost::Given(1.0)).unwrap()
        };
        let float = |name: &str| Param::float(name, 0.0, 1.0).unwrap();
        Space::new([
            module("first", vec![float("a"), Param::choice("kind", ["x", "y", "z"]).unwrap()]),
            module("second", vec![float("b"), Param::int("k", 1, 5).unwrap()]),
        ])
        .unwrap()
        .forbid("a + b > 1.5 or kind == \"z\" and k == 3")
        .unwrap()
    }

    #[test]
    fn every_design_gives_allowed_points_that_depend_on_seed_and_number_alone() {
        let space = space();
        for design in [Design::Uniform(9), Design::Sobol(9), Design::Nested { points: 9, every: 3 }] {
            for index in 0..60 {
                let point = design.point(&space, 5, index).unwrap();
                assert!(space.allows(&point), "{design:?}");
                assert_eq!(point, design.point(&space, 5, index).unwrap());
                assert_ne!(point, design.point(&space, 6, index).unwrap());
            }
        }
    }

    #[test]
    fn every_module_of_a_nested_design_has_two_values_or_more() {
        for modules in 2..9 {
            let module = |m: usize| {
                Module::new(&format!("m{m}"), [Param::float(&format!("x{m}"), 0.0, 1.0).unwrap()]).unwrap()
            };
            let space = Space::new((0..modules).map(module)).unwrap();
            let design = Design::Nested { points: 15, every: 3 };
            let points: Vec<Point> = (0..15).map(|i| design.point(&space, 1, i).unwrap()).collect();
            for m in 0..modules {
                let values: std::collections::BTreeSet<_> = points.iter().map(|p| &p.values()[m]).collect();
                let expected = [15, 5].get(modules - 1 - m).copied().unwrap_or(2);
                assert_eq!(values.len(), expected, "module {m} of {modules}");
            }
        }
    }

    #[test]
    fn choices_are_equally_likely() {
        let space = space();
        for design in [Design::Uniform(9), Design::Sobol(9)] {
            let count = |kind: &str| {
                let is = |i: &usize| {
                    design.point(&space, 1, *i).unwrap().get("kind").unwrap().as_choice() == Some(kind)
                };
                (0..600).filter(is).count()
            };
            // x and y are equally likely: 214 each, give or take 12.
            assert!(count("x").abs_diff(count("y")) < 75, "{design:?}");
        }
    }

    #[test]
    fn designs_that_make_no_sense_are_refused() {
        assert_eq!(Design::Uniform(0).check(), Err(DesignError::Empty));
        assert_eq!(Design::Nested { points: 4, every: 0 }.check(), Err(DesignError::Every));
        assert_eq!(Design::Sobol(1).check(), Ok(()));
    }
}
