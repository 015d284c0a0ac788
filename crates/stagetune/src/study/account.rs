//! What trials cost: which modules ran for each, what that was charged, and how good the best value was by then.
//!
//! ```text
//! charge of a trial   Σₘ of what module m was measured to cost, else of its given cost if it ran
//!                     unknown if nothing was measured and a module that ran has no given cost
//! ran                 the modules that had to run after the trials told before; of a failed trial those up to the one that broke
//! ```

use crate::space::{Cost, Movement, MovementError, Space};
use crate::trial::TrialId;

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

    pub(super) fn push(&mut self, charge: Charge) {
        self.unknown += usize::from(charge.cost.is_none());
        self.charges.push(charge);
    }
}

/// What a trial is charged; `None` if nobody knows.
pub(super) fn charge(space: &Space, movement: &Movement, stages: &[Option<f64>]) -> Option<f64> {
    let mut sum = 0.0;
    for (m, module) in space.modules().iter().enumerate() {
        let ran = movement.runs.get(m).copied().unwrap_or(false);
        sum += match (stages.get(m), module.cost_kind()) {
            (Some(Some(measured)), _) => *measured,
            (_, Cost::Given(given)) => given * f64::from(u8::from(ran)),
            // Whoever measures says what ran.
            (Some(None), _) => 0.0,
            (None, _) if ran => return None,
            (None, _) => 0.0,
        };
    }
    Some(sum)
}
