//! A strategy that repeats a game.

use super::transcript::Transcript;
use stagetune::strategy::{Identity, Past, Proposal, Source, Strategy, StrategyError, View, Why};
use stagetune::trial::Trial;

/// Repeats what a peer asked for after the start.
#[derive(Clone, Debug)]
pub struct Replay {
    game: Transcript,
}

impl Replay {
    /// Of this game.
    pub fn new(game: Transcript) -> Self {
        Self { game }
    }
}

impl Strategy for Replay {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let refuse = |problem: String| StrategyError::Foreign { trial: view.trials.len(), problem };
        let start = self.game.start_values.len();
        // The values of the start stand for its points, the noise and the problem: with others the game would have gone another way.
        let seen = view.trials.iter().take(start).map(Trial::value);
        if !seen.eq(self.game.start_values.iter().map(|value| Some(*value))) {
            return Err(refuse("the game started with other values; play it again".to_owned()));
        }
        let next = view.trials.len().checked_sub(start).and_then(|turn| self.game.x.get(turn));
        let x = next.ok_or_else(|| refuse("the game is over; play a longer one".to_owned()))?;
        let point = view.space.decode(x)?;
        let why = Why::of(view, &point, Source::Model)?;
        Ok(Proposal::new(point, why))
    }

    fn accept(&mut self, _: &Past<'_>, _: &Proposal) -> Result<(), StrategyError> {
        Ok(())
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn identity(&self) -> Identity {
        Identity::of("replay", 0, &self.game.game)
    }
}
