//! Pipelines that are graphs: two branches that meet.

use super::contestants::study;
use super::{bowl, drive};
use stagetune::space::{Cost, CostModel, Module, Param, Space};
use stagetune::study::{Event, Study};

/// Those who are tried: each way to freeze, and those who freeze nothing.
const NAMES: [&str; 10] = [
    "auto",
    "random",
    "gp-ei",
    "eipu-prefix",
    "carbo",
    "eeipu",
    "switch-eipu-ahead",
    "pbgi",
    "lambo, short",
    "lambo-paper, theory",
];

/// `left` and `right` both need `load`, and `join` needs both.
fn graph() -> Space {
    let module = |name: &str, cost: f64, params: &[&str]| {
        let params: Vec<Param> = params.iter().map(|p| Param::float(p, 0.0, 1.0).unwrap()).collect();
        Module::new(name, params).unwrap().cost(Cost::Given(cost)).unwrap()
    };
    Space::new([
        module("load", 2.0, &["a"]),
        module("left", 20.0, &["b", "c"]),
        module("right", 10.0, &["d"]),
        module("join", 1.0, &["e"]),
    ])
    .unwrap()
    .wired(&[vec![], vec![0], vec![0], vec![1, 2]])
    .unwrap()
    .forbid("b > 0.9 and d > 0.9")
    .unwrap()
}

fn new(name: &str, seed: u64, model: CostModel) -> Study {
    study(name, &graph(), seed).cost_model(model).unwrap()
}

#[test]
fn points_are_allowed_and_cost_what_was_expected() {
    let space = graph();
    for name in NAMES {
        for model in [CostModel::Previous, CostModel::Cache] {
            let mut study = new(name, 3, model);
            let points = drive(&mut study, 26, |_, point| Some(bowl(&space, point)));
            assert!(points.iter().all(|point| space.allows(point)), "{name}");
            for charge in study.account().charges() {
                let expected = study.why(charge.trial).unwrap().expected_cost;
                assert_eq!(charge.cost, expected, "{name}: trial {}", charge.trial);
            }
        }
    }
}

#[test]
fn a_study_of_a_graph_goes_on_where_it_was_cut_off() {
    let space = graph();
    for name in NAMES {
        let value = |i: usize, point: &_| (i % 7 != 5).then(|| bowl(&space, point));
        let mut live = new(name, 4, CostModel::Cache);
        drive(&mut live, 19, value);
        live.ask().unwrap();
        let text: Vec<String> = live.events().iter().map(|e| serde_json::to_string(e).unwrap()).collect();
        let events: Vec<Event> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut resumed = new(name, 4, CostModel::Cache).replay(events.clone()).unwrap();
        let [a, b] = [&mut resumed, &mut live].map(|study| drive(study, 5, value));
        assert_eq!(a, b, "{name}");
        // The same modules one after another are another space.
        let chain = graph().wired(&[vec![], vec![0], vec![1], vec![2]]).unwrap();
        let refused = study(name, &chain, 4).cost_model(CostModel::Cache).unwrap().replay(events);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("space is `after nothing`"), "{name}: {refused}");
    }
}

#[test]
fn who_freezes_moves_the_first_branch_while_the_second_stays() {
    let space = graph();
    for name in ["eipu-prefix", "pbgi"] {
        let mut study = new(name, 5, CostModel::Previous);
        let points = drive(&mut study, 40, |_, point| Some(bowl(&space, point)));
        let moved = |pair: &[stagetune::space::Point], param: &str| pair[0].get(param) != pair[1].get(param);
        let alone = points.windows(2).filter(|pair| moved(pair, "b") && !moved(pair, "d")).count();
        assert!(alone > 0, "{name} never kept `right` while `left` moved");
    }
}
