//! What we believe: Gaussian processes over the unit cube, their posterior, their likelihood and the fit of their
//! hyper-parameters.

mod cholesky;
mod covariance;
mod error;
mod fit;
mod gp;
mod kernel;
mod likelihood;
mod pathwise;
mod posterior;
mod prior;
mod scale;

pub use error::SurrogateError;
pub use fit::{Fit, Fitted, HyperBounds};
pub use gp::{Fantasy, GaussianProcess};
pub use kernel::{Family, Hyper};
pub use likelihood::LogGradient;
pub use pathwise::Path;
pub use posterior::{Joint, Prediction, PredictionGradient};
pub use prior::{LogNormal, Priors};
pub use scale::OutputScale;
