//! Movement regret: how far the values stayed above the optimum, and what moving cost on the way.
//!
//! ```text
//! R⁺(T, λ) = Σₜ ( f(xᵗ) − f* + λ Γᵗ )
//! ```
//!
//! - `f(xᵗ)`: the value of trial t, without noise where that is known;  `f*`: the lowest value there is
//! - `Γᵗ`: movement cost of trial t;  `λ`: what a unit of cost is worth in units of f, 0.1 in the paper's experiments
//!
//! Lin, Miano & Dyer (UAI 2021), section 2. Their theory leaves c_N out of Γ, their experiments charge it: pass costs whose last one is 0
//! to [`Account::movement_costs`](super::Account::movement_costs) for the former.

/// The movement regret of a run, trial by trial; values are minimised.
#[derive(Clone, Debug, PartialEq)]
pub struct MovementRegret {
    lambda: f64,
    optimum: f64,
    curve: Vec<f64>,
    lowest: Option<f64>,
}

/// Why a regret makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegretError {
    /// NaN, infinite, or negative where it must not be.
    #[error("the {what} of a movement regret is {value}; give a finite number{}", if *.signed { "" } else { " of at least 0" })]
    Number {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
        /// Whether it may be negative.
        signed: bool,
    },
    /// A sum past the largest double.
    #[error("the movement regret is more than a number can hold; use larger units")]
    Overflow,
}

impl MovementRegret {
    /// λ and f*, before the first trial.
    pub fn new(lambda: f64, optimum: f64) -> Result<Self, RegretError> {
        at_least_0("lambda", lambda)?;
        finite("optimum", optimum)?;
        Ok(Self { lambda, optimum, curve: Vec::new(), lowest: None })
    }

    /// Adds a trial: f(xᵗ) and Γᵗ. On an error nothing has changed.
    pub fn record(&mut self, value: f64, cost: f64) -> Result<(), RegretError> {
        finite("value", value)?;
        at_least_0("cost", cost)?;
        let total = self.total() + (value - self.optimum + self.lambda * cost);
        if !total.is_finite() {
            return Err(RegretError::Overflow);
        }
        self.curve.push(total);
        self.lowest = Some(self.lowest.map_or(value, |lowest| lowest.min(value)));
        Ok(())
    }

    /// R⁺(t, λ) for t = 1 … T.
    pub fn curve(&self) -> &[f64] {
        &self.curve
    }

    /// R⁺(T, λ).
    pub fn total(&self) -> f64 {
        self.curve.last().copied().unwrap_or(0.0)
    }

    /// Simple regret: the lowest value so far above f*; `None` before the first trial.
    pub fn simple(&self) -> Option<f64> {
        self.lowest.map(|lowest| lowest - self.optimum)
    }
}

fn finite(what: &'static str, value: f64) -> Result<(), RegretError> {
    if value.is_finite() { Ok(()) } else { Err(RegretError::Number { what, value, signed: true }) }
}

fn at_least_0(what: &'static str, value: f64) -> Result<(), RegretError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(RegretError::Number { what, value, signed: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_adds_what_was_missed_and_what_was_moved() {
        let mut regret = MovementRegret::new(0.5, -1.0).unwrap();
        assert_eq!((regret.total(), regret.simple()), (0.0, None));
        regret.record(1.0, 11.0).unwrap();
        regret.record(-1.0, 0.0).unwrap();
        regret.record(0.0, 1.0).unwrap();
        assert_eq!(regret.curve(), [7.5, 7.5, 9.0]);
        assert_eq!((regret.total(), regret.simple()), (9.0, Some(0.0)));
    }

    #[test]
    fn nonsense_is_refused_and_changes_nothing() {
        assert!(MovementRegret::new(-0.1, 0.0).unwrap_err().to_string().contains("lambda"));
        assert!(MovementRegret::new(0.1, f64::NAN).unwrap_err().to_string().contains("optimum"));
        let mut regret = MovementRegret::new(1.0, 0.0).unwrap();
        regret.record(1.0, 1.0).unwrap();
        let before = regret.clone();
        for (value, cost) in [(f64::NAN, 1.0), (1.0, -1.0), (1.0, f64::INFINITY), (f64::MAX, f64::MAX)] {
            assert!(regret.record(value, cost).is_err());
            assert_eq!(regret, before);
        }
    }
}
