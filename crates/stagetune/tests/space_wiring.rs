//! What moving costs in a graph of modules, against the definition by outputs: a module runs when its output is not at hand.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use stagetune::space::{Cost, CostModel, Module, Param, Point, RunHistory, Space, StageSet, Wiring};

/// A pipeline: what each module needs, and values of two modules out of three; the others have no parameters.
fn space(after: &[Vec<usize>]) -> Space {
    let module = |m: usize| {
        let params = (m % 3 != 1).then(|| Param::int(&format!("x{m}"), 0, 2).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given((1 << m) as f64)).unwrap()
    };
    Space::new((0..after.len()).map(module)).unwrap().wired(after).unwrap()
}

/// Lists of direct needs, each from the modules before.
fn graph() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(any::<u8>(), 1..7).prop_map(|bits| {
        let needs = |(m, bits): (usize, u8)| (0..m).filter(|k| bits >> k & 1 == 1).collect();
        bits.into_iter().enumerate().map(needs).collect()
    })
}

/// The output of every module, written out: its own values and the outputs of what it needs.
fn outputs(space: &Space, after: &[Vec<usize>], point: &Point) -> Vec<String> {
    let mut outputs: Vec<String> = Vec::new();
    for (m, needs) in after.iter().enumerate() {
        let own = &point.values()[space.module_params(m)];
        let inputs: BTreeSet<&String> = needs.iter().map(|k| &outputs[*k]).collect();
        outputs.push(format!("m{m}{own:?}{inputs:?}"));
    }
    outputs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_module_runs_when_its_output_is_not_at_hand(
        after in graph(),
        runs in prop::collection::vec((prop::collection::vec(0.0..=1.0_f64, 6), 0..8_usize), 1..14),
    ) {
        let space = space(&after);
        let modules = after.len();
        let costs = space.given_costs().unwrap();
        let (mut history, mut cached, mut previous) = (RunHistory::new(), BTreeSet::new(), BTreeSet::new());
        for (u, done) in runs {
            let point = space.decode(&u[..space.dim()]).unwrap();
            let outputs = outputs(&space, &after, &point);
            for model in [CostModel::Previous, CostModel::Cache] {
                let at_hand: &BTreeSet<String> =
                    if model == CostModel::Cache { &cached } else { &previous };
                let mut expected: StageSet =
                    (0..modules).filter(|&m| !at_hand.contains(&outputs[m])).collect();
                let movement = history.movement(&space, model, &point).unwrap();
                prop_assert_eq!(movement.first_changed, expected.lowest());
                if model == CostModel::Previous {
                    expected.insert(modules - 1);
                }
                prop_assert_eq!(&movement.runs, &expected);
                let cost = expected.iter().map(|m| costs[m]).sum::<f64>();
                prop_assert_eq!(movement.cost(&costs).unwrap(), cost);
            }
            // Some runs break off: only the first modules have their outputs.
            history.record_until(&space, &point, done).unwrap();
            previous = outputs.iter().take(done).cloned().collect();
            cached.extend(previous.iter().cloned());
        }
    }

    #[test]
    fn who_feeds_whom_is_a_walk_along_needs(after in graph()) {
        let space = space(&after);
        let modules = after.len();
        let walk = |from: usize, to: usize| {
            let (mut reached, mut front) = (BTreeSet::from([to]), vec![to]);
            while let Some(m) = front.pop() {
                front.extend(after[m].iter().copied().filter(|k| reached.insert(*k)));
            }
            reached.contains(&from)
        };
        for k in 0..modules {
            for m in 0..modules {
                prop_assert_eq!(space.wiring().feeds(k, m), walk(k, m), "{} {}", k, m);
            }
        }
        let said_shortly: Vec<Vec<usize>> = (0..modules).map(|m| space.wiring().needs(m)).collect();
        let again = space.clone().wired(&said_shortly).unwrap();
        prop_assert_eq!(again.wiring(), space.wiring());
        let is_chain = (1..modules).all(|m| walk(m - 1, m));
        prop_assert_eq!(*space.wiring() == Wiring::Chain, is_chain);
    }
}
