//! `random`: uniform over what is allowed; the rival that everybody must beat.

use super::fresh::{away_from_open, uniform};
use super::stream::{Purpose, stream};
use super::{Proposal, Source, Strategy, StrategyError, View, Why};

/// Uniform points.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
}

impl Random {
    /// With this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Strategy for Random {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let mut rng = stream(self.seed, Purpose::Chance, view.trials.len() as u64);
        let point = view.space.decode(&uniform(view.space, &mut rng)?)?;
        let point = away_from_open(view, point, &mut rng)?;
        let why = Why::of(view, &point, Source::Random)?;
        Ok(Proposal::new(point, why))
    }

    fn settings(&self) -> String {
        format!("random seed {}", self.seed)
    }

    fn accept(&mut self, _: &View<'_>, _: &Proposal) -> Result<(), StrategyError> {
        Ok(())
    }
}
