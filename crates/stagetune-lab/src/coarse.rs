//! What knobs and metrics are like in practice: variables that are choices without an order, a metric that moves in steps.
//!
//! A variable with k choices takes k places of its interval, evenly spread around it from the minimiser's own place on, so that the minimum stays
//! what it was. Which choice that is differs from variable to variable. A metric of s steps is ⌊s·regret⌋/s.

use crate::problems::Problem;
use stagetune::space::{Param, ParamError, Value};

/// How a problem is made coarse; by default it is left as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coarse {
    /// Choices of each variable, 0 where it stays a number; none at all where it is empty.
    pub choices: Vec<usize>,
    /// Steps of the metric between the minimum and the maximum.
    pub steps: Option<usize>,
}

impl Coarse {
    /// Whether it changes nothing.
    pub fn is_plain(&self) -> bool {
        self.steps.is_none() && self.choices.iter().all(|count| *count == 0)
    }

    /// The parameter that stands for variable `i`.
    pub fn param(&self, problem: &Problem, i: usize) -> Result<Param, ParamError> {
        let name = format!("x{}", i + 1);
        match self.choices_of(i) {
            Some(count) => Param::choice(&name, (0..count).map(choice)),
            None => {
                let (low, high) = problem.interval(i);
                Param::float(&name, low, high)
            }
        }
    }

    /// The coordinate that a value of variable `i` stands for; nothing for a value of another kind.
    pub fn coordinate(&self, problem: &Problem, i: usize, value: &Value) -> Option<f64> {
        let Some(count) = self.choices_of(i) else {
            return value.as_float().or_else(|| value.as_int().map(|index| index as f64));
        };
        let chosen = (0..count).find(|j| value.as_choice() == Some(choice(*j).as_str()))?;
        let (low, high) = problem.interval(i);
        let best = *problem.minimiser().get(i)?;
        // The minimiser's own choice is (i + 1) mod k; it is not to be rounded.
        let ahead = (chosen + count - (i + 1) % count) % count;
        if ahead == 0 {
            return Some(best);
        }
        let width = high - low;
        Some(low + (best - low + width * ahead as f64 / count as f64).rem_euclid(width))
    }

    /// What is seen of a regret.
    pub fn metric(&self, regret: f64) -> f64 {
        self.steps.map_or(regret, |steps| (regret * steps as f64).floor() / steps as f64)
    }

    fn choices_of(&self, i: usize) -> Option<usize> {
        self.choices.get(i).copied().filter(|count| *count > 0)
    }
}

/// The name of choice `j`.
fn choice(j: usize) -> String {
    format!("c{}", j + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_is_among_the_choices_and_only_once() {
        let problem: Problem = "levy4@3".parse().unwrap();
        let coarse = Coarse { choices: vec![3, 0, 2, 5], steps: None };
        for (i, count) in [(0, 3), (2, 2), (3, 5)] {
            let (low, high) = problem.interval(i);
            let places: Vec<f64> = (0..count)
                .map(|j| coarse.coordinate(&problem, i, &Value::from(choice(j).as_str())).unwrap())
                .collect();
            assert!(places.iter().all(|x| (low..=high).contains(x)), "{places:?}");
            let best: Vec<usize> = (0..count).filter(|j| places[*j] == problem.minimiser()[i]).collect();
            assert_eq!(best, [(i + 1) % count]);
            let mut sorted = places.clone();
            sorted.sort_by(f64::total_cmp);
            let gap = (high - low) / count as f64;
            assert!(sorted.windows(2).all(|pair| (pair[1] - pair[0] - gap).abs() < 1e-9), "{sorted:?}");
        }
        assert_eq!(coarse.coordinate(&problem, 1, &Value::from(0.5)), Some(0.5));
        assert_eq!(coarse.coordinate(&problem, 0, &Value::from("c4")), None);
    }

    #[test]
    fn a_metric_in_steps_is_never_above_the_regret_and_reaches_a_line_when_the_regret_does() {
        let coarse = Coarse { choices: Vec::new(), steps: Some(20) };
        assert_eq!([0.0, 0.049, 0.051, 0.999].map(|r| coarse.metric(r)), [0.0, 0.0, 0.05, 0.95]);
        assert!(Coarse::default().is_plain() && !coarse.is_plain());
        assert!(Coarse { choices: vec![0, 0], steps: None }.is_plain());
    }
}
