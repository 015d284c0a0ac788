//! A strategy that follows a script and takes note of all it sees.

use std::sync::{Arc, Mutex};

use stagetune::space::{Cost, Module, Param, Point, Space};
use stagetune::strategy::{Past, Proposal, Source, Strategy, StrategyError, View, Why};
use stagetune::study::Study;
use stagetune::trial::Proposed;

/// Proposes its points in turn, then errs.
#[derive(Clone, Debug)]
pub struct Script {
    pub points: Vec<Point>,
    /// The trial that it refuses to accept.
    pub refuses: Option<usize>,
    /// What it says its trials will cost, whatever they will.
    pub says: Option<f64>,
    /// What it saw whenever it accepted.
    pub seen: Arc<Mutex<Vec<String>>>,
    /// What it saw whenever it proposed.
    pub viewed: Arc<Mutex<Vec<String>>>,
}

impl Strategy for Script {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        self.viewed.lock().unwrap().push(format!("{view:?}"));
        let point = self.points.get(view.trials.len()).ok_or(StrategyError::Exhausted)?.clone();
        let movement = view.movement(&point).ok();
        let why = Why {
            source: Source::Random,
            first_changed: movement.as_ref().and_then(|movement| movement.first_changed),
            first_changed_module: None,
            first_to_run: None,
            expected_cost: self.says.or(movement.and_then(|movement| view.expected_cost(&movement))),
            belief: None,
            arm: None,
        };
        Ok(Proposal::new(point, why))
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        if self.refuses == Some(past.trials()) {
            return Err(StrategyError::Exhausted);
        }
        self.seen.lock().unwrap().push(format!("{past:?} {proposal:?}"));
        Ok(())
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

/// Three modules with one int each.
pub fn space(costs: [Cost; 3]) -> Space {
    let module = |(i, cost): (usize, Cost)| {
        let params = [Param::int(["a", "b", "c"][i], 0, 9).unwrap()];
        Module::new(["first", "second", "third"][i], params).unwrap().cost(cost).unwrap()
    };
    Space::new(costs.into_iter().enumerate().map(module)).unwrap()
}

pub fn given() -> Space {
    space([Cost::Given(100.0), Cost::Given(10.0), Cost::Given(1.0)])
}

pub fn point(space: &Space, [a, b, c]: [i64; 3]) -> Point {
    space.point([("a", a), ("b", b), ("c", c)]).unwrap()
}

/// A study that tries these points.
pub fn scripted(space: Space, points: &[[i64; 3]]) -> Study {
    watched(space, points).0
}

/// A study that tries these points, and what its strategy sees.
pub fn watched(space: Space, points: &[[i64; 3]]) -> (Study, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let points = points.iter().map(|p| point(&space, *p)).collect();
    let script = Script { points, refuses: None, says: None, seen: seen.clone(), viewed: Arc::default() };
    (Study::new(space, Box::new(script)), seen)
}

/// The next trial, told this value.
pub fn step(study: &mut Study, value: f64) -> Proposed {
    let trial = study.ask().unwrap();
    study.tell(trial.clone().observe(value).unwrap()).unwrap();
    trial
}
