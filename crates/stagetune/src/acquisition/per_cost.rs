//! Any acquisition function per unit of cost, or of cooled cost.
//!
//! ```text
//! value = α/c^a     on a linear scale (EIpu, Snoek et al. 2012, with a = 1)
//! value = ln α − a ln c  on a log scale
//! a_k = (τ − τ_k)/(τ − τ_init), within [0, 1]   (CArBO, Lee et al. 2020)
//! ```
//!
//! Dividing means something for quantities that are never negative, such as EI: of a negative α it would praise the dear trials.
//!
//! Glossary: c `cost`, a `exponent`, τ `budget`, τ_k `spent`, τ_init `initial`.

use super::{Acquisition, AcquisitionError, Scale, Score};

/// An acquisition function divided by cost^exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerCost<A> {
    inner: A,
    cost: f64,
    exponent: f64,
}

impl<A: Acquisition> PerCost<A> {
    /// `inner` per unit of `cost`, which must be finite and above 0.
    pub fn new(inner: A, cost: f64) -> Result<Self, AcquisitionError> {
        Self::cooled(inner, cost, 1.0)
    }

    /// `inner` divided by `cost`^`exponent`, the exponent within [0, 1].
    pub fn cooled(inner: A, cost: f64, exponent: f64) -> Result<Self, AcquisitionError> {
        if !(cost.is_finite() && cost > 0.0) {
            return Err(AcquisitionError::Cost { cost });
        }
        if !(0.0..=1.0).contains(&exponent) {
            return Err(AcquisitionError::Exponent { exponent });
        }
        Ok(Self { inner, cost, exponent })
    }
}

impl<A: Acquisition> Acquisition for PerCost<A> {
    fn score(&self, mean: f64, sd: f64) -> Score {
        let Score { value, d_mean, d_sd } = self.inner.score(mean, sd);
        match self.inner.scale() {
            Scale::Log => Score { value: value - self.exponent * self.cost.ln(), d_mean, d_sd },
            Scale::Linear => {
                let divisor = self.cost.powf(self.exponent);
                Score { value: value / divisor, d_mean: d_mean / divisor, d_sd: d_sd / divisor }
            }
        }
        .tamed()
    }

    fn scale(&self) -> Scale {
        self.inner.scale()
    }
}

/// How strongly CArBO weighs costs: 1 when the initial design is done, 0 when the budget is spent.
///
/// 0 too when the initial design was to take the whole budget.
pub fn cooling_exponent(budget: f64, spent: f64, initial: f64) -> Result<f64, AcquisitionError> {
    if [budget, spent, initial].iter().any(|v| !v.is_finite() || *v < 0.0) {
        return Err(AcquisitionError::Budget { budget, spent, initial });
    }
    let span = budget - initial;
    Ok(if span > 0.0 { ((budget - spent) / span).clamp(0.0, 1.0) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::{Ei, LogEi};

    #[test]
    fn both_scales_divide_alike() {
        let (ei, log_ei) = (Ei::new(0.2).unwrap(), LogEi::new(0.2).unwrap());
        let linear = PerCost::cooled(ei, 7.0, 0.4).unwrap().score(0.5, 0.3);
        let log = PerCost::cooled(log_ei, 7.0, 0.4).unwrap().score(0.5, 0.3);
        assert!((linear.value.ln() - log.value).abs() < 1e-14);
        assert!((linear.d_mean / linear.value - log.d_mean).abs() < 1e-13);
        assert_eq!(PerCost::new(ei, 4.0).unwrap().score(0.5, 0.3).value, ei.score(0.5, 0.3).value / 4.0);
    }

    #[test]
    fn wrappers_take_borrowed_and_boxed_functions() {
        let boxed: Box<dyn Acquisition> = Box::new(LogEi::new(0.2).unwrap());
        let by_reference = PerCost::new(&*boxed, 2.0).unwrap().score(0.5, 0.3);
        assert_eq!(PerCost::new(boxed, 2.0).unwrap().score(0.5, 0.3), by_reference);
    }

    #[test]
    fn costs_and_exponents_are_checked() {
        let ei = Ei::new(0.0).unwrap();
        for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(PerCost::new(ei, cost), Err(AcquisitionError::Cost { .. })));
        }
        for exponent in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(PerCost::cooled(ei, 1.0, exponent), Err(AcquisitionError::Exponent { .. })));
        }
    }

    #[test]
    fn cooling_runs_from_one_to_zero_and_stays_there() {
        let a = |spent| cooling_exponent(80.0, spent, 10.0).unwrap();
        assert_eq!([a(0.0), a(10.0), a(45.0), a(80.0), a(99.0)], [1.0, 1.0, 0.5, 0.0, 0.0]);
        assert_eq!(cooling_exponent(10.0, 3.0, 10.0), Ok(0.0));
        assert!(cooling_exponent(f64::NAN, 3.0, 10.0).is_err());
    }
}
