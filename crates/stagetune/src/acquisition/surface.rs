//! An acquisition function over the unit cube: what the maximiser climbs.

use super::{Acquisition, Score};
use crate::space::Batch;
use crate::surrogate::{GaussianProcess, SurrogateError};

/// A function over the unit cube, evaluated many points at a time.
pub trait Objective: Sync {
    /// The value at each point.
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError>;

    /// The value and the gradient at each point.
    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError>;
}

/// An acquisition function applied to the posterior of a Gaussian process.
///
/// ```
/// use stagetune::acquisition::{LogEi, Objective, Surface};
/// use stagetune::space::Batch;
/// use stagetune::surrogate::{Family, GaussianProcess, Hyper};
/// let hyper = Hyper { lengthscales: vec![0.3], signal_variance: 1.0, noise_variance: 1e-4, mean: 0.0 };
/// let gp = GaussianProcess::new(Family::Matern52, hyper, Batch::from_rows(&[[0.2], [0.8]]), vec![-1.0, 1.0])?;
/// let surface = Surface::new(&gp, LogEi::new(-1.0)?);
/// let values = surface.values(&Batch::from_rows(&[[0.1], [0.8]]))?;
/// assert!(values[0] > values[1], "beside the better point there is more to gain than at the worse one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a, A> {
    gp: &'a GaussianProcess,
    acquisition: A,
}

impl<'a, A: Acquisition> Surface<'a, A> {
    /// The acquisition function over what `gp` believes.
    pub fn new(gp: &'a GaussianProcess, acquisition: A) -> Self {
        Self { gp, acquisition }
    }
}

impl<A: Acquisition> Objective for Surface<'_, A> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        let belief = self.gp.predict(at)?;
        let pairs = belief.mean.iter().zip(&belief.variance);
        Ok(pairs.map(|(&mean, &variance)| self.acquisition.score(mean, variance.sqrt()).value).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let belief = self.gp.predict_with_gradient(at)?;
        let mut gradients = belief.d_mean;
        let mut values = Vec::with_capacity(at.len());
        for i in 0..at.len() {
            let sd = belief.variance[i].sqrt();
            let Score { value, d_mean, d_sd } = self.acquisition.score(belief.mean[i], sd);
            values.push(value);
            // ∂sd/∂x = ∂variance/∂x / (2 sd); the variance has a positive floor.
            let by_variance = d_sd / (2.0 * sd);
            let gradient = gradients.row_mut(i);
            for (g, d_variance) in gradient.iter_mut().zip(belief.d_variance.row(i)) {
                *g = d_mean * *g + by_variance * d_variance;
            }
        }
        Ok((values, gradients))
    }
}
