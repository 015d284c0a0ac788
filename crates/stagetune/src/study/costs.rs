//! What a run of each module is expected to cost: given, or the mean of the runs that were measured.

use crate::space::{Cost, Space};
use crate::trial::{How, StageReport};

/// A mean for each module, updated by c̄ ← c̄ + (c − c̄) / n, which cannot overflow.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    modules: Vec<Mean>,
    expected: Option<Vec<f64>>,
}

#[derive(Clone, Copy, Debug)]
enum Mean {
    Given(f64),
    Measured { runs: u64, mean: f64 },
    Unknown,
}

impl Costs {
    /// Before any run.
    pub(super) fn of(space: &Space) -> Self {
        let kind = |cost| match cost {
            Cost::Given(cost) => Mean::Given(cost),
            Cost::Measured => Mean::Measured { runs: 0, mean: 0.0 },
            Cost::Unknown => Mean::Unknown,
        };
        let mut costs =
            Self { modules: space.modules().iter().map(|m| kind(m.cost_kind())).collect(), expected: None };
        costs.expected = costs.numbers();
        costs
    }

    /// One number per module, if there is one for all.
    pub(super) fn expected(&self) -> Option<&[f64]> {
        self.expected.as_deref()
    }

    /// Learns from the first `finished` modules of a run; one that broke off says little about a whole run.
    pub(super) fn learn(&mut self, reports: &[Option<StageReport>], finished: usize) {
        for (module, report) in self.modules.iter_mut().zip(reports).take(finished) {
            let cost = report.as_ref().filter(|report| report.how == How::Ran).and_then(|report| report.cost);
            if let (Mean::Measured { runs, mean }, Some(cost)) = (module, cost) {
                *runs = runs.saturating_add(1);
                *mean += (cost - *mean) / *runs as f64;
            }
        }
        self.expected = self.numbers();
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        let number = |module: &Mean| match *module {
            Mean::Given(cost) => Some(cost),
            Mean::Measured { runs, mean } => (runs > 0).then_some(mean),
            Mean::Unknown => None,
        };
        self.modules.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param};

    fn costs(kinds: [Cost; 2]) -> Costs {
        let module = |(i, cost): (usize, Cost)| {
            Module::new(["a", "b"][i], [Param::bool(["x", "y"][i]).unwrap()]).unwrap().cost(cost).unwrap()
        };
        Costs::of(&Space::new(kinds.into_iter().enumerate().map(module)).unwrap())
    }

    /// A report of each stage that was measured.
    fn ran<const N: usize>(costs: [Option<f64>; N]) -> Vec<Option<StageReport>> {
        costs.into_iter().map(|cost| cost.map(|cost| StageReport::ran(Some(cost)))).collect()
    }

    #[test]
    fn given_costs_stand_whatever_is_measured() {
        let mut costs = costs([Cost::Given(10.0), Cost::Given(1.0)]);
        costs.learn(&ran([Some(5.0), Some(5.0)]), 2);
        assert_eq!(costs.expected(), Some(&[10.0, 1.0][..]));
    }

    #[test]
    fn a_measured_cost_is_the_mean_of_the_runs_that_came_to_their_end() {
        let mut costs = costs([Cost::Given(10.0), Cost::Measured]);
        assert_eq!(costs.expected(), None);
        costs.learn(&ran([None, Some(4.0)]), 1);
        assert_eq!(costs.expected(), None);
        costs.learn(&ran([None, Some(2.0)]), 2);
        costs.learn(&ran([None, None]), 2);
        costs.learn(&ran([]), 2);
        costs.learn(&ran([Some(3.0), Some(1.0)]), 2);
        assert_eq!(costs.expected(), Some(&[10.0, 1.5][..]));
        costs.learn(&ran([None, Some(f64::MAX)]), 2);
        assert!(costs.expected().is_some_and(|costs| costs.iter().all(|cost| cost.is_finite())));
    }

    #[test]
    fn an_unknown_cost_stays_unknown() {
        let mut costs = costs([Cost::Unknown, Cost::Given(1.0)]);
        costs.learn(&ran([Some(1.0), Some(1.0)]), 2);
        assert_eq!(costs.expected(), None);
    }
}
