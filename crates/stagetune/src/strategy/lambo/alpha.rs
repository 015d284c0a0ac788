//! α_t: the acquisition function whose minimum over an arm is the arm's loss.
//!
//! The paper's is the lower confidence bound. Any other can take its place: acquisition functions here are larger where a trial is worth
//! more, so that α is minus their value.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::priced::Form;
use crate::acquisition::{Acquisition, AcquisitionError, Beta, Gittins, Lcb, LogEi};
use crate::strategy::StrategyError;
use crate::strategy::parts::max_value::max_value;
use crate::strategy::parts::model::Model;
use crate::strategy::parts::price::LEAST_LAMBDA;
use crate::surrogate::GaussianProcess;

/// Points at which the distribution of the minimum is looked up: a tenth of the authors', since every arm has a search of its own.
const MES_POINTS: usize = 1_000;

/// The acquisition function of LaMBO.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Alpha {
    /// μ − β_t s.
    Lcb(Beta),
    /// Minus the expected improvement; the search climbs its logarithm, which has the same minimiser and is nowhere flat.
    Ei,
    /// Minus its logarithm.
    LogEi,
    /// Minus the information about the minimum, from this many samples of it.
    Mes {
        /// Samples of the minimum.
        samples: usize,
    },
    /// The Gittins index where a trial costs this much, in standard deviations of the values.
    Gittins(f64),
    /// Minus the logarithm of the expected improvement per cost of what has to run.
    EiPerCost,
    /// The Gittins index at the price of what has to run: arms that move early modules are dearer.
    GittinsPerCost {
        /// λ at the first iteration: the price of a full run, in standard deviations of the values.
        lambda: f64,
        /// What λ is multiplied by when no arm's index beats the incumbent; 1 keeps it.
        decay: f64,
    },
    /// Whatever a caller makes of the state of affairs.
    #[serde(skip)]
    Custom(Arc<dyn MakeAcquisition>),
}

/// Makes an acquisition function anew at every iteration.
pub trait MakeAcquisition: Send + Sync {
    /// The acquisition function for this iteration.
    fn make(&self, situation: &Situation<'_>) -> Result<Box<dyn Acquisition>, AcquisitionError>;
}

/// What an acquisition function may depend on. Values are standardised.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The posterior, open trials fantasised.
    pub gp: &'a GaussianProcess,
    /// The lowest value observed.
    pub lowest: f64,
    /// How many parameters there are.
    pub params: usize,
    /// The iteration, from 1.
    pub t: usize,
}

impl fmt::Debug for Alpha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lcb(beta) => write!(f, "Lcb({beta:?})"),
            Self::Ei => write!(f, "Ei"),
            Self::LogEi => write!(f, "LogEi"),
            Self::Mes { samples } => write!(f, "Mes {{ samples: {samples} }}"),
            Self::Gittins(cost) => write!(f, "Gittins({cost:?})"),
            Self::EiPerCost => write!(f, "EiPerCost"),
            Self::GittinsPerCost { lambda, decay } => {
                write!(f, "GittinsPerCost {{ lambda: {lambda:?}, decay: {decay:?} }}")
            }
            Self::Custom(_) => write!(f, "Custom"),
        }
    }
}

impl Alpha {
    pub(super) fn check(&self) -> Result<(), StrategyError> {
        match self {
            Self::Lcb(beta) => Lcb::new(beta.at(1, 1)).map(|_| ())?,
            Self::Gittins(cost) => Gittins::new(*cost).map(|_| ())?,
            Self::Mes { samples: 0 } => {
                let problem = "max-value entropy needs at least one sample of the minimum".to_owned();
                return Err(StrategyError::Option { option: "alpha", problem });
            }
            Self::GittinsPerCost { lambda, decay } => {
                if !is_lambda(*lambda) {
                    let problem =
                        format!("its lambda is {lambda}; give a finite number of at least {LEAST_LAMBDA}");
                    return Err(StrategyError::Option { option: "alpha", problem });
                }
                if !(*decay > 0.0 && *decay <= 1.0) {
                    let problem = format!("its decay is {decay}; give a factor above 0 and at most 1");
                    return Err(StrategyError::Option { option: "alpha", problem });
                }
            }
            Self::Ei | Self::LogEi | Self::Mes { .. } | Self::EiPerCost | Self::Custom(_) => {}
        }
        Ok(())
    }

    /// Whether α is a value that the metric might take.
    pub(super) fn has_units(&self) -> bool {
        matches!(self, Self::Lcb(_) | Self::Gittins(_) | Self::GittinsPerCost { .. })
    }

    /// Whether α depends on what has to run.
    pub(super) fn knows_costs(&self) -> bool {
        matches!(self, Self::EiPerCost | Self::GittinsPerCost { .. })
    }

    /// λ at the first iteration, if it has one.
    pub(super) fn first_lambda(&self) -> Option<f64> {
        if let Self::GittinsPerCost { lambda, .. } = self { Some(*lambda) } else { None }
    }

    /// λ after an iteration at `lambda` whose largest acquisition value of any arm is `best`.
    pub(super) fn next_lambda(&self, lambda: f64, best: f64, lowest: f64) -> f64 {
        if let Self::GittinsPerCost { decay, .. } = self
            && -best >= lowest
        {
            return (lambda * decay).max(LEAST_LAMBDA);
        }
        lambda
    }

    /// The acquisition function at iteration `t`; `lambda` is the price of a full run where there is one.
    pub(super) fn make(
        &self,
        model: &Model,
        params: usize,
        t: usize,
        seed: u64,
        lambda: Option<f64>,
    ) -> Result<Form, StrategyError> {
        let (gp, lowest) = (&model.gp, model.lowest);
        let same: Box<dyn Acquisition> = match self {
            Self::EiPerCost => return Ok(Form::PerCost(LogEi::new(lowest)?)),
            Self::GittinsPerCost { lambda: first, .. } => return Ok(Form::Index(lambda.unwrap_or(*first))),
            Self::Lcb(beta) => Box::new(Lcb::at(*beta, params, t)?),
            Self::Ei | Self::LogEi => Box::new(LogEi::new(lowest)?),
            Self::Gittins(cost) => Box::new(Gittins::new(*cost)?),
            Self::Mes { samples } => Box::new(max_value(model, MES_POINTS, *samples, seed, t)?),
            Self::Custom(maker) => maker.make(&Situation { gp, lowest, params, t })?,
        };
        Ok(Form::Same(same))
    }

    /// α in the metric's units from the value of the acquisition function, where it has them.
    pub(super) fn loss(&self, model: &Model, value: f64) -> f64 {
        match self {
            Self::Lcb(_) | Self::Gittins(_) | Self::GittinsPerCost { .. } => model.scale.restore(-value),
            Self::Ei => -value.exp() * model.scale.scale,
            Self::LogEi | Self::Mes { .. } | Self::EiPerCost | Self::Custom(_) => -value,
        }
    }
}

/// Whether a λ is one.
pub(super) fn is_lambda(lambda: f64) -> bool {
    lambda.is_finite() && lambda >= LEAST_LAMBDA
}
