//! Everything at once: several trials open, failures at any stage, measured costs, both directions and cost models, and restarts.

use super::contestants::{all, make, measured};
use super::{bowl, spaces};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stagetune::space::CostModel;
use stagetune::study::{Direction, Event, Study};
use stagetune::trial::Proposed;

#[test]
fn a_study_survives_anything_and_every_restart() {
    let space = measured(&spaces::mixed());
    for (number, name) in all().enumerate() {
        let direction = [Direction::Minimize, Direction::Maximize][number % 2];
        let cost_model = [CostModel::Previous, CostModel::Cache][number / 2 % 2];
        let fresh = || -> Study {
            let study = Study::new(space.clone(), make(name, &space, 13));
            study.direction(direction).unwrap().cost_model(cost_model).unwrap()
        };
        let mut dice = ChaCha8Rng::seed_from_u64(number as u64);
        let mut study = fresh();
        let mut open: Vec<Proposed> = Vec::new();
        for _ in 0..60 {
            if open.is_empty() || (open.len() < 4 && dice.random::<f64>() < 0.5) {
                let trial = study.ask().unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(open.iter().all(|other| other.point() != trial.point()), "{name}");
                open.push(trial);
                continue;
            }
            let trial = open.swap_remove(dice.random_range(0..open.len()));
            let stages: Vec<Option<f64>> =
                (0..3).map(|m| dice.random_bool(0.7).then_some(4f64.powi(2 - m))).collect();
            if dice.random_bool(0.25) {
                let finished = dice.random_range(0..3);
                study.tell(trial.fail("no").after(finished).measured(stages).unwrap()).unwrap();
            } else {
                let value = bowl(&space, trial.point()) * if number % 2 == 0 { 1.0 } else { -1.0 };
                study.tell(trial.observe(value).unwrap().measured(stages).unwrap()).unwrap();
            }
            if dice.random_bool(0.1) {
                let text: Vec<String> =
                    study.events().iter().map(|e| serde_json::to_string(e).unwrap()).collect();
                let events: Vec<Event> =
                    text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
                let mut resumed = fresh().replay(events).unwrap_or_else(|error| panic!("{name}: {error}"));
                let again: Vec<String> =
                    resumed.events().iter().map(|e| serde_json::to_string(e).unwrap()).collect();
                assert_eq!(text, again, "{name}: to the last digit");
                let (a, b) = (resumed.ask().unwrap(), study.ask().unwrap());
                assert_eq!(a, b, "{name}");
                assert_eq!(resumed.why(a.id()), study.why(b.id()), "{name}");
                study = resumed;
                open.push(b);
            }
        }
    }
}

#[test]
fn what_is_expected_of_a_maximised_metric_has_its_sign() {
    let space = spaces::plain();
    for name in all().filter(|name| *name != "random") {
        let study = Study::new(space.clone(), make(name, &space, 14)).direction(Direction::Maximize);
        let mut study = study.unwrap();
        for _ in 0..30 {
            let trial = study.ask().unwrap();
            let why = study.why(trial.id()).unwrap().clone();
            // Values lie between 9 and 10.
            if let Some(belief) = why.belief {
                assert!(belief.mean > 5.0, "{name}: {why}");
            }
            let value = 10.0 - bowl(&space, trial.point()).min(1.0);
            study.tell(trial.observe(value).unwrap()).unwrap();
        }
    }
}
