//! `gp-ei` takes the likelier of two kernels, and a study that goes on remembers which.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use stagetune::space::{Module, Param, Space};
use stagetune::strategy::{Design, GpEi, GpEiOptions};
use stagetune::study::Study;
use stagetune::surrogate::Family;

/// What a proposal remembers.
#[derive(serde::Deserialize)]
struct Chosen {
    family: Family,
}

/// The families that `gp-ei` turned to over 12 trials of a function of one variable.
fn chosen(f: impl Fn(f64) -> f64) -> Vec<Family> {
    let space = Space::new([Module::new("only", [Param::float("x", 0.0, 1.0).unwrap()]).unwrap()]).unwrap();
    let options = GpEiOptions { design: Design::Sobol(8), ..GpEiOptions::default() };
    let strategy = GpEi::new(&space, options, 3).unwrap();
    let mut study = Study::new(space, Box::new(strategy));
    let mut chosen = Vec::new();
    for _ in 0..12 {
        let trial = study.ask().unwrap();
        let memory = study.proposal(trial.id()).unwrap().memory.clone();
        chosen.extend(memory.map(|memory| memory.read::<Chosen>().unwrap().family));
        let value = f(trial.point().values()[0].as_float().unwrap());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
    chosen
}

#[test]
fn the_likelier_kernel_is_taken_and_a_change_is_noted_once() {
    // As smooth as can be; and with a kink, which shows once there are points beside it.
    assert_eq!(chosen(|x| (6.0 * x).sin()), [Family::SquaredExponential]);
    assert_eq!(chosen(|x| (x - 0.37).abs()), [Family::SquaredExponential, Family::Matern52]);
}
