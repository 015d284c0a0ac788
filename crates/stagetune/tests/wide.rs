//! Wide spaces: large choices take one coordinate, and what is proposed and foreseen does not
//! depend on threads or on how much there is.

#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of what clippy takes for a test")]

use stagetune::bandit::Partition;
use stagetune::forecast::{Forecast, Horizon, forecast};
use stagetune::numeric::Batch;
use stagetune::space::{Axis, Cost, CostModel, LARGE_CHOICE, Module, Param, Point, RunHistory, Space};
use stagetune::strategy::{Proposal, View};
use stagetune::study::Study;
use stagetune::surrogate::{Family, GaussianProcess, Hyper};
use stagetune::trial::{Proposed, Trial, TrialId};

fn choice(name: &str, count: usize) -> Param {
    Param::choice(name, (0..count).map(|k| format!("v{k}"))).unwrap()
}

fn float(name: &str) -> Param {
    Param::float(name, 0.0, 1.0).unwrap()
}

fn module(name: &str, params: impl IntoIterator<Item = Param>) -> Module {
    Module::new(name, params).unwrap().cost(Cost::Given(1.0)).unwrap()
}

fn stages(count: usize) -> Space {
    Space::new((0..count).map(|m| module(&format!("m{m}"), [float(&format!("x{m}"))]))).unwrap()
}

fn value(space: &Space, point: &Point) -> f64 {
    space.encode(point).unwrap().iter().map(|u| (u - 0.4).powi(2)).sum()
}

#[test]
fn a_choice_of_a_thousand_values_takes_one_coordinate_and_every_value_comes_back() {
    let space = Space::new([module("m", [float("a"), choice("c", 1_000)])]).unwrap();
    assert_eq!((space.dim(), space.axes()[1]), (2, Axis::Category { len: 1_000 }));
    for k in 0..1_000 {
        let code = space.grid_code(1, k).unwrap();
        assert_eq!(space.grid_index(1, code), Some(k));
        let point = space.decode(&[0.5, code]).unwrap();
        assert_eq!(point.get("c").unwrap().as_choice(), Some(&*format!("v{k}")));
        assert_eq!(space.encode(&point).unwrap(), [0.5, code]);
    }
    let small = Space::new([module("m", [choice("c", LARGE_CHOICE)])]).unwrap();
    assert_eq!(small.dim(), LARGE_CHOICE);
    assert_eq!(space.squared_distance(&[0.5, 0.1], &[0.75, 0.9]), 1.0625);
}

#[test]
fn a_category_is_what_a_coordinate_for_each_value_comes_to() {
    // Two values are 1 apart instead of √2.
    let (wide, root) = (0.7_f64, 2.0_f64.sqrt());
    let hyper = |lengthscales: Vec<f64>| Hyper {
        lengthscales,
        signal_variance: 1.3,
        noise_variance: 0.02,
        mean: 0.1,
    };
    let rows = [(0.1, 0), (0.5, 1), (0.9, 1), (0.3, 2), (0.6, 0)];
    let y = vec![0.3, -0.4, 1.2, 0.0, 0.7];
    let one_hot = |(x, k): (f64, usize)| [x, f64::from(k == 0), f64::from(k == 1), f64::from(k == 2)];
    let coded = |(x, k): (f64, usize)| [x, (k as f64 + 0.5) / 3.0];
    for family in [Family::SquaredExponential, Family::Matern52, Family::RoughMatern52] {
        let plain = GaussianProcess::new(
            family,
            hyper(vec![0.4, wide * root, wide * root, wide * root]),
            Batch::from_rows(&rows.map(one_hot)),
            y.clone(),
        )
        .unwrap();
        let category = GaussianProcess::over(
            &[false, true],
            family,
            hyper(vec![0.4, wide]),
            Batch::from_rows(&rows.map(coded)),
            y.clone(),
        )
        .unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{family:?}: {a} and {b}");
        close(plain.log_marginal_likelihood(), category.log_marginal_likelihood());
        let slopes = [plain.likelihood_gradient().lengthscales, category.likelihood_gradient().lengthscales];
        close(slopes[0][0], slopes[1][0]);
        close(slopes[0][1..].iter().sum(), slopes[1][1]);
        let places = [(0.2, 1), (0.2, 2), (0.8, 0)];
        let joint = |gp: &GaussianProcess, at: Batch| {
            (gp.joint(&at).unwrap(), gp.predict_with_gradient(&at).unwrap())
        };
        let (one, gradient) = joint(&plain, Batch::from_rows(&places.map(one_hot)));
        let (other, moved) = joint(&category, Batch::from_rows(&places.map(coded)));
        one.mean.iter().zip(&other.mean).for_each(|(a, b)| close(*a, *b));
        one.covariance.iter().zip(&other.covariance).for_each(|(a, b)| close(*a, *b));
        for i in 0..3 {
            close(gradient.d_mean.row(i)[0], moved.d_mean.row(i)[0]);
            close(gradient.d_variance.row(i)[0], moved.d_variance.row(i)[0]);
            assert_eq!((moved.d_mean.row(i)[1], moved.d_variance.row(i)[1]), (0.0, 0.0));
        }
    }
}

#[test]
fn a_cut_takes_one_value_out_of_a_large_choice() {
    let module = module("m", [choice("c", 100)]).cut_where("c == 'v37'").unwrap();
    let space = Space::new([module, self::module("n", [float("a")])]).unwrap();
    let partition = Partition::by_cuts(&space, 0).unwrap();
    let cells: Vec<usize> = partition
        .cells()
        .iter()
        .map(|cell| (0..100).filter(|&k| cell.contains(&[space.grid_code(0, k).unwrap()])).count())
        .collect();
    assert_eq!(cells, [37, 1, 62]);
}

/// What `auto` proposes after so many of its own trials.
fn proposals(space: &Space, trials: usize) -> Vec<Proposal> {
    let mut study = Study::named(space.clone(), "auto", 3).unwrap().cost_model(CostModel::Cache).unwrap();
    let mut proposals = Vec::new();
    for _ in 0..trials {
        proposals.push(study.propose().unwrap());
        let trial = study.ask().unwrap();
        let value = value(space, trial.point());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
    proposals
}

fn wide_spaces() -> Vec<Space> {
    let many = (0..70).map(|i| float(&format!("x{i}")));
    vec![
        Space::new([module("m", [float("a"), choice("c", 300)]), module("n", [choice("d", 100)])]).unwrap(),
        stages(20),
        Space::new([module("m", many)]).unwrap(),
    ]
}

fn with_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

#[test]
fn a_wide_space_is_proposed_in_the_same_way_by_any_number_of_threads() {
    for space in wide_spaces() {
        let one = with_threads(1, || proposals(&space, 16));
        assert_eq!(one, with_threads(3, || proposals(&space, 16)));
        assert!(one.iter().any(|proposal| proposal.why.source.is_model()));
    }
}

#[test]
fn a_choice_whose_values_were_all_tried_but_one_is_used_up_by_that_one() {
    let space = Space::new([module("m", [choice("c", 100)])]).unwrap();
    let mut study = Study::named(space.clone(), "auto", 1).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let trial = study.ask().unwrap();
        seen.insert(trial.point().to_string());
        let value = value(&space, trial.point());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
    assert_eq!(seen.len(), 100);
}

fn foreseen(space: &Space, count: usize) -> Forecast {
    let mut history = RunHistory::new();
    let trials: Vec<Trial> = (0..count)
        .map(|i| {
            let u: Vec<f64> = (0..space.dim()).map(|d| (0.37 * (i * 7 + d * 3 + 1) as f64).fract()).collect();
            let point = space.decode(&u).unwrap();
            history.record(space, &point).unwrap();
            let value = value(space, &point);
            Trial::Observed(Proposed::new(TrialId::new(i as u64), point).observe(value).unwrap())
        })
        .collect();
    let view = View {
        space,
        trials: &trials,
        costs: None,
        cost_model: CostModel::Cache,
        history: &history,
        spent: 0.0,
        budget: None,
        most_trials: None,
    };
    forecast(&view, Horizon::FullRuns(5.0), 1).unwrap()
}

#[test]
fn a_forecast_over_a_wide_space_is_the_same_with_any_number_of_threads() {
    for space in wide_spaces() {
        let one = with_threads(1, || foreseen(&space, 40));
        assert_eq!(one, with_threads(3, || foreseen(&space, 40)));
        assert!(one.expected_gain > 0.0 && one.next_cost > 0.0);
    }
}
