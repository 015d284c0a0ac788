//! The plan that is kept up to date against the one that is made anew from all trials.

use proptest::prelude::*;

use super::*;
use crate::space::{Cost, Module, Param};

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

fn failed(finished: usize) -> End {
    End::Failed { stage: None, finished, reason: "broke".into() }
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
                Some(trial) if deed % 5 == 1 => {
                    state.report(trial.id(), "m3", StageReport::ran(None).with_metric("value", 1.0)).unwrap();
                    state.end_trial(trial.id(), &End::Finished, None).unwrap();
                }
                Some(trial) if deed % 5 == 2 => {
                    state.end_trial(trial.id(), &failed(usize::from(bits % 5)), None).unwrap();
                }
                Some(trial) if deed % 5 == 3 => {
                    for m in 0..bits % 4 {
                        state.report(trial.id(), &format!("m{m}"), StageReport::ran(None)).unwrap();
                    }
                    let end = End::Withdrawn { reason: "no".into() };
                    state.end_trial(trial.id(), &end, None).unwrap();
                }
                _ => drop(state.open_trial(point(&state.space, bits), None).unwrap()),
            }
            prop_assert_eq!(&state.planned, &planned_anew(&state));
        }
    }
}

#[test]
fn what_two_open_trials_share_stays_when_one_of_them_fails() {
    let mut state = State::new(space(false));
    state.cost_model = CostModel::Cache;
    let first = state.open_trial(point(&state.space, 0), None).unwrap();
    state.open_trial(point(&state.space, 8), None).unwrap();
    state.end_trial(first.id(), &failed(0), None).unwrap();
    let runs = |bits: u8| {
        state.planned.movement(&state.space, CostModel::Cache, &point(&state.space, bits)).unwrap().runs
    };
    assert!(runs(8).is_empty());
    assert_eq!(runs(0), [3].into_iter().collect());
}
