//! α_t at the price of what has to run.
//!
//! ```text
//! c = Σ over modules that run of c_m, in full runs, at least LEAST_SHARE
//! EI per cost: ln EI − ln c          Gittins index per cost: g solves EI(x; g) = λ c
//! ```
//!
//! Where costs are unknown, everything costs a full run.

use crate::acquisition::{Acquisition, AcquisitionError, Gittins, LogEi, PerCost};
use crate::space::StageSet;
use crate::strategy::parts::price::LEAST_SHARE;

/// How α depends on the price.
pub(super) enum Form {
    /// It does not.
    Same(Box<dyn Acquisition>),
    /// Its logarithm falls by that of the price.
    PerCost(LogEi),
    /// The Gittins index, a full run at this price.
    Index(f64),
}

/// α_t and what modules cost.
pub(super) struct Priced<'a> {
    pub(super) form: Form,
    pub(super) costs: Option<&'a [f64]>,
}

impl Priced<'_> {
    /// α_t where these modules run.
    pub(super) fn at(&self, runs: &StageSet) -> Result<Box<dyn Acquisition + '_>, AcquisitionError> {
        Ok(match &self.form {
            Form::Same(alpha) => Box::new(alpha.as_ref()),
            Form::PerCost(log_ei) => Box::new(PerCost::new(*log_ei, share(self.costs, runs))?),
            Form::Index(lambda) => {
                let price = (lambda * share(self.costs, runs)).clamp(f64::MIN_POSITIVE, f64::MAX);
                Box::new(Gittins::new(price)?)
            }
        })
    }
}

/// What these modules cost, in full runs.
fn share(costs: Option<&[f64]>, runs: &StageSet) -> f64 {
    let most = costs.unwrap_or_default().iter().copied().fold(0.0, f64::max);
    let Some(costs) = costs.filter(|_| most > 0.0 && most.is_finite()) else { return 1.0 };
    // In units of the dearest, so that no sum overflows.
    let full: f64 = costs.iter().map(|c| c / most).sum();
    let run: f64 = runs.iter().filter_map(|m| costs.get(m)).map(|c| c / most).sum();
    let share = run / full;
    if share.is_finite() { share.clamp(LEAST_SHARE, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(numbers: &[usize]) -> StageSet {
        numbers.iter().copied().collect()
    }

    #[test]
    fn what_runs_is_charged_in_full_runs() {
        let costs = [40.0, 9.0, 1.0];
        assert_eq!(share(Some(&costs), &StageSet::all(3)), 1.0);
        assert_eq!(share(Some(&costs), &stages(&[1, 2])), 0.2);
        assert_eq!(share(Some(&costs), &StageSet::empty()), LEAST_SHARE);
        assert_eq!(share(Some(&[0.0; 3]), &StageSet::empty()), 1.0);
        assert_eq!(share(Some(&[1e308; 3]), &StageSet::first(2)), 2.0 / 3.0);
        assert_eq!(share(None, &stages(&[2])), 1.0);
    }

    #[test]
    fn a_dearer_trial_is_worth_less_under_both_rules() {
        let costs = [10.0, 1.0];
        for form in [Form::PerCost(LogEi::new(0.0).unwrap()), Form::Index(0.1)] {
            let priced = Priced { form, costs: Some(&costs) };
            let value = |runs: &[usize]| priced.at(&stages(runs)).unwrap().score(0.2, 0.5).value;
            assert!(value(&[1]) > value(&[0, 1]));
        }
        let same = Form::Same(Box::new(LogEi::new(0.0).unwrap()));
        let priced = Priced { form: same, costs: Some(&costs) };
        let value = |runs: &[usize]| priced.at(&stages(runs)).unwrap().score(0.2, 0.5).value;
        assert_eq!(value(&[1]), value(&[0, 1]));
    }
}
