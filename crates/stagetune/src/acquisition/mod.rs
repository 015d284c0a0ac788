//! What looks promising: acquisition functions, each a number that is larger where a trial is worth more.
//!
//! An acquisition function sees a posterior, never a model: the mean and the standard deviation of f at one point.
//!
//! | function | `value` | scale |
//! | --- | --- | --- |
//! | [`Lcb`] | β s − μ | linear |
//! | [`Ei`] | E[(best − f)₊] | linear |
//! | [`LogEi`] | ln E[(best − f)₊] | log |
//! | [`Mes`] | information about the minimum | linear |
//! | [`Gittins`] | −g, where E[(g − f)₊] = λ c | linear |
//! | [`PerCost`] | any of them per unit of (cooled) cost | of the inner one |
//!
//! ```
//! use stagetune::acquisition::{Acquisition, LogEi, PerCost};
//! let cheap = PerCost::new(LogEi::new(0.3)?, 1.0)?;
//! let dear = PerCost::new(LogEi::new(0.3)?, 11.0)?;
//! assert!(cheap.score(0.5, 0.2).value > dear.score(0.5, 0.2).value);
//! # Ok::<(), stagetune::acquisition::AcquisitionError>(())
//! ```

mod ei;
mod error;
mod gittins;
mod gumbel;
mod lcb;
mod log_ei;
mod maximise;
mod mes;
mod per_cost;
mod region;
mod surface;
mod told;

pub use ei::Ei;
pub use error::AcquisitionError;
pub use gittins::Gittins;
pub use gumbel::{GumbelMinimum, sample_minima};
pub use lcb::{Beta, Lcb};
pub use log_ei::LogEi;
pub use maximise::{Best, MaximiseError, Maximiser};
pub use mes::Mes;
pub use per_cost::{PerCost, cooling_exponent};
pub use region::Region;
pub use surface::{Objective, Surface};
pub(crate) use told::Told;

/// What an acquisition function says of one point, and how that changes with the posterior there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The acquisition value; larger is more promising.
    pub value: f64,
    /// ∂ value / ∂ mean.
    pub d_mean: f64,
    /// ∂ value / ∂ sd.
    pub d_sd: f64,
}

impl Score {
    /// The score of a point that no maximiser may pick: −∞, and flat.
    pub const NEVER: Self = Self { value: f64::NEG_INFINITY, d_mean: 0.0, d_sd: 0.0 };

    /// Makes a score safe to compare and to follow: NaN becomes [`Score::NEVER`], and what overflowed upwards,
    /// or a slope that overflowed, the largest double of its sign.
    fn tamed(self) -> Self {
        if self.value.is_nan() || self.value == f64::NEG_INFINITY {
            return Self::NEVER;
        }
        let slope = |d: f64| if d.is_nan() { 0.0 } else { d.clamp(-f64::MAX, f64::MAX) };
        Self { value: self.value.min(f64::MAX), d_mean: slope(self.d_mean), d_sd: slope(self.d_sd) }
    }
}

/// Whether values of an acquisition function are themselves or logarithms: dividing by a cost differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// `value` is the quantity itself.
    Linear,
    /// `value` is its natural logarithm.
    Log,
}

/// An acquisition function of a minimisation problem.
///
/// `score` answers any floats. Where the mean or sd is not finite, or sd is negative, it gives [`Score::NEVER`], so that
/// a broken prediction is never chosen; else `value` is a number below +∞, and the derivatives are finite.
pub trait Acquisition: Sync {
    /// The value and its derivatives where f is believed to have this mean and standard deviation.
    fn score(&self, mean: f64, sd: f64) -> Score;

    /// Whether values are logarithms.
    fn scale(&self) -> Scale {
        Scale::Linear
    }
}

impl<A: Acquisition + ?Sized> Acquisition for &A {
    fn score(&self, mean: f64, sd: f64) -> Score {
        (**self).score(mean, sd)
    }

    fn scale(&self) -> Scale {
        (**self).scale()
    }
}

impl<A: Acquisition + ?Sized> Acquisition for Box<A> {
    fn score(&self, mean: f64, sd: f64) -> Score {
        (**self).score(mean, sd)
    }

    fn scale(&self) -> Scale {
        (**self).scale()
    }
}

/// Whether a posterior is one: a finite mean and a finite standard deviation that is not negative.
fn is_posterior(mean: f64, sd: f64) -> bool {
    mean.is_finite() && sd.is_finite() && sd >= 0.0
}

/// (a − b)/sd, where a certain posterior (sd = 0) gives 0 for a = b and ±∞ otherwise.
fn standardised(a: f64, b: f64, sd: f64) -> f64 {
    if a == b { 0.0 } else { (a - b) / sd }
}
