//! `random`: uniform over what is allowed; the rival that everybody must beat.

use serde_json::{Map, Value};

use crate::strategy::descriptor::Descriptor;
use crate::strategy::parts::fresh::{away_from_open, uniform};
use crate::strategy::parts::stream::{Purpose, stream};
use crate::strategy::{Identity, Past, Proposal, Source, Strategy, StrategyError, View, Why};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "random",
    about: "points by chance: what everybody has to beat",
    options: &[],
    defaults: || Ok(Value::Object(Map::new())),
    rewrite: Ok,
    build: |_, _, _, seed| Ok(Box::new(Random::new(seed))),
};

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

    fn identity(&self) -> Identity {
        Identity { name: DESCRIPTOR.name.to_owned(), seed: self.seed, options: Map::new() }
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, _: &Past<'_>, _: &Proposal) -> Result<(), StrategyError> {
        Ok(())
    }
}
