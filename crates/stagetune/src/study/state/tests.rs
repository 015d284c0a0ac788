//! The plan that is kept up to date against the one that is made anew from all trials.

use proptest::prelude::*;

use super::*;
use crate::space::{Cost, Module, Param};
use crate::trial::Outcome;

/// Four modules of one int each: a chain, or two branches that meet.
fn space(graph: bool) -> Space {
    let module = |m: usize| {
        let param = Param::int(&format!("x{m}"), 0, 1).unwrap();
        Module::new(&format!("m{m}"), [param]).unwrap().cost(Cost::Given(1.0)).unwrap()
    };
    let space = Space::new((0..4).map(module)).unwrap();
    if graph { space.wired(&[vec![], vec![], vec![1], vec![0, 2]]).unwrap() } else { space }
}

/// The definition: the runs told, in that order, and after them open trials as if they had finished.
fn planned_anew(state: &State) -> RunHistory {
    let mut planned = state.told.clone();
    for trial in state.open() {
        planned.record(&state.space, trial.point()).unwrap();
    }
    planned
}

/// One of few points, so that trials share prefixes.
fn point(space: &Space, bits: u8) -> Point {
    let u: Vec<f64> = (0..4).map(|m| f64::from(bits >> m & 1)).collect();
    space.decode(&u).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_plan_is_what_was_told_and_then_what_is_open(
        deeds in prop::collection::vec((any::<u8>(), any::<u8>(), any::<usize>()), 0..60),
        graph: bool,
        cache: bool,
    ) {
        let mut state = State::new(space(graph));
        state.cost_model = if cache { CostModel::Cache } else { CostModel::Previous };
        for (deed, bits, which) in deeds {
            let open: Vec<Proposed> = state.open().cloned().collect();
            match open.get(which % open.len().max(1)) {
                Some(trial) if deed % 3 == 1 => {
                    state.close_trial(Outcome::Observed(trial.clone().observe(1.0).unwrap())).unwrap();
                }
                Some(trial) if deed % 3 == 2 => {
                    let failed = trial.clone().fail("broke").after(usize::from(bits % 5));
                    state.close_trial(Outcome::Failed(failed)).unwrap();
                }
                _ => drop(state.open_trial(point(&state.space, bits)).unwrap()),
            }
            prop_assert_eq!(&state.planned, &planned_anew(&state));
        }
    }
}

#[test]
fn what_two_open_trials_share_stays_when_one_of_them_fails() {
    let mut state = State::new(space(false));
    state.cost_model = CostModel::Cache;
    let first = state.open_trial(point(&state.space, 0)).unwrap();
    state.open_trial(point(&state.space, 8)).unwrap();
    state.close_trial(first.fail("broke").into()).unwrap();
    let runs = |bits: u8| {
        state.planned.movement(&state.space, CostModel::Cache, &point(&state.space, bits)).unwrap().runs
    };
    assert_eq!(runs(8), [false; 4]);
    assert_eq!(runs(0), [false, false, false, true]);
}
