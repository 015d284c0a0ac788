//! What trials cost: which modules ran for each, what that was charged, and how good the best value was by then.
//!
//! ```text
//! charge of a trial   Σₘ of what module m was measured to cost, else of its given cost if it ran
//!                     unknown if nothing was measured and a module that ran has no given cost
//! ran                 the modules that had to run after the trials told before; of a failed trial those up to the one that broke
//! ```

use crate::objective::Direction;
use crate::space::{Cost, Movement, MovementError, Space};
use crate::trial::{How, StageReport, TrialId};

/// What one trial cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// The trial.
    pub trial: TrialId,
    /// Which modules ran, after the trials told before this one; with other costs it gives another Γ.
    pub movement: Movement,
    /// What was charged; `None` if nobody knows.
    pub cost: Option<f64>,
    /// The known costs up to here, this one included.
    pub cumulative: f64,
    /// The value in the user's direction; `None` for a failure.
    pub value: Option<f64>,
    /// The best value up to here, in the user's direction.
    pub best: Option<f64>,
    /// Whether the trial counts as one that was told; one that was withdrawn does not.
    pub counts: bool,
}

/// What the trials of a study cost, in the order they were told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    charges: Vec<Charge>,
    unknown: usize,
}

impl Account {
    /// One for each trial told, in that order.
    pub fn charges(&self) -> &[Charge] {
        &self.charges
    }

    /// Those of trials that count: all but the withdrawn ones.
    pub fn counted(&self) -> impl Iterator<Item = &Charge> {
        self.charges.iter().filter(|charge| charge.counts)
    }

    /// The sum of all costs that are known.
    pub fn spent(&self) -> f64 {
        self.charges.last().map_or(0.0, |charge| charge.cumulative)
    }

    /// How many trials nobody knows the cost of; they add nothing to what was spent.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// The best value so far, in the user's direction.
    pub fn best(&self) -> Option<f64> {
        self.charges.last().and_then(|charge| charge.best)
    }

    /// Γ of every trial told under other costs, one per module; the last one 0 leaves c_N out as the theory does.
    pub fn movement_costs(&self, costs: &[f64]) -> Result<Vec<f64>, MovementError> {
        self.charges.iter().map(|charge| charge.movement.cost(costs)).collect()
    }

    /// Takes back the value of a trial; what it was charged stays.
    pub(super) fn forget(&mut self, trial: TrialId, direction: Direction) {
        let mut best: Option<f64> = None;
        for charge in &mut self.charges {
            if charge.trial == trial {
                (charge.value, charge.counts) = (None, false);
            }
            if charge.value.is_some_and(|value| best.is_none_or(|best| direction.is_better(value, best))) {
                best = charge.value;
            }
            charge.best = best;
        }
    }

    pub(super) fn push(&mut self, charge: Charge) {
        self.unknown += usize::from(charge.cost.is_none());
        self.charges.push(charge);
    }
}

/// What a trial is charged; `None` if nobody knows.
///
/// A stage that said what it cost is charged that. One that was reused costs nothing. Of others, those that had to run cost what was given.
pub(super) fn charge(space: &Space, movement: &Movement, reports: &[Option<StageReport>]) -> Option<f64> {
    let mut sum = 0.0;
    for (m, module) in space.modules().iter().enumerate() {
        let ran = movement.runs.contains(m);
        let report = reports.get(m).and_then(Option::as_ref);
        sum += match (report, module.cost_kind()) {
            (Some(StageReport { cost: Some(cost), .. }), _) => *cost,
            (Some(StageReport { how: How::Reused, .. }), _) => 0.0,
            (_, Cost::Given(given)) => given * f64::from(u8::from(ran)),
            (_, Cost::Measured | Cost::Unknown) if ran => return None,
            (_, Cost::Measured | Cost::Unknown) => 0.0,
        };
    }
    Some(sum)
}
