//! The spaces and circumstances that were recorded.

use serde_json::{Map, Value, json};
use stagetune::space::{Cost, CostModel, Module, Param, Space};
use stagetune::strategy::NAMES;
use stagetune::study::{Direction, StopRules};

/// A space, and how trials over it go.
pub struct Scenario {
    pub name: &'static str,
    pub space: Space,
    pub direction: Direction,
    pub cost_model: CostModel,
    pub rules: StopRules,
    pub trials: usize,
    /// How many trials are open at a time, at most.
    pub open: usize,
    /// One trial in so many fails; 0 is never.
    pub fail_every: usize,
    /// Values are rounded to multiples of this.
    pub step: f64,
    /// Who plays: names, with options that are not the default.
    pub players: Vec<(&'static str, Map<String, Value>)>,
}

fn module(name: &str, cost: Cost, params: Vec<Param>) -> Module {
    Module::new(name, params).unwrap().cost(cost).unwrap()
}

fn float(name: &str) -> Param {
    Param::float(name, 0.0, 1.0).unwrap()
}

fn choice(name: &str) -> Param {
    Param::choice(name, ["x", "y", "z"]).unwrap()
}

fn everybody() -> Vec<(&'static str, Map<String, Value>)> {
    NAMES.into_iter().map(|name| (name, Map::new())).collect()
}

fn with(name: &'static str, options: Value) -> (&'static str, Map<String, Value>) {
    (name, options.as_object().cloned().unwrap_or_default())
}

/// Options that lead strategies on other ways than the default ones.
fn variants() -> Vec<(&'static str, Map<String, Value>)> {
    vec![
        with("auto", json!({"bend": true, "odds": false, "steps": false, "stray": "none"})),
        with(
            "auto",
            json!({"start": "spread", "pace": false, "known": 0.0, "prefixes": 2, "least_share": 0.01}),
        ),
        with("gp-ei", json!({"rival": "squared-exponential", "design": {"sobol": 6}})),
        with("lambo", json!({"alpha": "ei-per-cost", "anchors": "prefixes", "design": {"sobol": 6}})),
        with(
            "lambo",
            json!({
                "alpha": {"gittins-per-cost": {"lambda": 0.1, "decay": 0.5}}, "anchors": "prefixes",
                "losses": "gap", "abandon": "none", "design": {"sobol": 6}
            }),
        ),
        with("lambo-paper", json!({"theory": {"horizon": 200}, "max_arms": 16, "design": {"uniform": 6}})),
        with("lambo-paper", json!({"partition": {"diameter": 0.6}, "depths": "from-costs", "max_arms": 16})),
        with("lambo-paper", json!({"alpha": {"mes": {"samples": 4}}})),
    ]
}

fn scenario(name: &'static str, space: Space) -> Scenario {
    Scenario {
        name,
        space,
        direction: Direction::Minimize,
        cost_model: CostModel::Previous,
        rules: StopRules::default(),
        trials: 32,
        open: 1,
        fail_every: 0,
        step: 0.0,
        players: everybody(),
    }
}

/// Two modules of two floats, 10 : 1.
fn chain() -> Space {
    Space::new([
        module("first", Cost::Given(10.0), vec![float("a"), float("b")]),
        module("second", Cost::Given(1.0), vec![float("c"), float("d")]),
    ])
    .unwrap()
}

/// Every kind of parameter, cuts and forbidden regions.
fn mixed(cost: impl Fn(f64) -> Cost) -> Space {
    let first = vec![Param::float("strength", 1.0, 15.0).unwrap(), Param::bool("median").unwrap()];
    let first = module("denoise", cost(40.0), first).cut("strength", [4.0, 9.0]).unwrap();
    let second = vec![
        Param::float("lr", 1e-5, 1e-1).unwrap().log().unwrap(),
        Param::int("batch", 2, 14).unwrap().step(2).unwrap(),
        Param::choice("norm", ["batch", "group", "layer", "none"]).unwrap(),
    ];
    let second = module("train", cost(10.0), second).forbid("lr > 0.02 and batch < 6").unwrap();
    let third = module("post", cost(1.0), vec![float("purity"), Param::int("opening", 0, 4).unwrap()]);
    Space::new([first, second, third]).unwrap().forbid("strength > 12 and norm == \"none\"").unwrap()
}

/// `left` and `right` need `load`, `join` needs both.
fn graph() -> Space {
    Space::new([
        module("load", Cost::Given(2.0), vec![float("a")]),
        module("left", Cost::Given(20.0), vec![float("b"), choice("kind")]),
        module("right", Cost::Given(10.0), vec![float("c")]),
        module("join", Cost::Given(1.0), vec![float("d")]),
    ])
    .unwrap()
    .wired(&[vec![], vec![0], vec![0], vec![1, 2]])
    .unwrap()
    .forbid("b > 0.9 and c > 0.9")
    .unwrap()
}

fn choices() -> Space {
    Space::new([
        module("first", Cost::Given(5.0), vec![choice("a"), Param::bool("b").unwrap()]),
        module("second", Cost::Given(2.0), vec![choice("c")]),
        module("third", Cost::Given(1.0), vec![choice("d"), Param::int("e", 0, 5).unwrap()]),
    ])
    .unwrap()
}

fn measured() -> Space {
    Space::new([
        module("first", Cost::Measured, vec![float("a"), float("b")]),
        module("second", Cost::Measured, vec![float("c"), choice("kind")]),
        module("third", Cost::Given(0.02), vec![float("d")]),
    ])
    .unwrap()
}

/// Choices of so many values that they take one coordinate each.
fn large_choices() -> Space {
    let large = |name: &str, count: usize| Param::choice(name, (0..count).map(|k| format!("v{k}"))).unwrap();
    Space::new([
        module("first", Cost::Given(5.0), vec![float("a"), large("b", 300)]),
        module("second", Cost::Given(1.0), vec![large("c", 100), choice("d")]),
    ])
    .unwrap()
    .forbid("a > 0.8 and c == 'v7'")
    .unwrap()
}

fn many_stages() -> Space {
    let stage = |m: usize| module(&format!("m{m}"), Cost::Measured, vec![float(&format!("x{m}"))]);
    Space::new((0..24).map(stage)).unwrap()
}

/// Everything that was recorded.
pub fn all() -> Vec<Scenario> {
    let trials = |trials: usize| StopRules { trials: Some(trials), ..StopRules::default() };
    let mut varied = everybody();
    varied.extend(variants());
    vec![
        Scenario { players: varied, ..scenario("chain", chain()) },
        Scenario {
            cost_model: CostModel::Cache,
            direction: Direction::Maximize,
            rules: trials(40),
            fail_every: 5,
            ..scenario("mixed-failures", mixed(Cost::Given))
        },
        Scenario { cost_model: CostModel::Cache, fail_every: 6, ..scenario("graph", graph()) },
        Scenario { cost_model: CostModel::Cache, ..scenario("choices", choices()) },
        Scenario { cost_model: CostModel::Cache, open: 4, fail_every: 7, ..scenario("four-open", chain()) },
        Scenario {
            cost_model: CostModel::Cache,
            rules: StopRules { cost: Some(4000.0), ..StopRules::default() },
            fail_every: 6,
            open: 2,
            ..scenario("measured", measured())
        },
        Scenario {
            direction: Direction::Maximize,
            fail_every: 8,
            ..scenario("measured-mixed", mixed(|_| Cost::Measured))
        },
        Scenario {
            cost_model: CostModel::Cache,
            direction: Direction::Maximize,
            rules: trials(80),
            trials: 64,
            step: 0.05,
            fail_every: 9,
            players: ["auto", "lambo", "lambo-paper", "pbgi", "eipu-prefix"]
                .map(|name| (name, Map::new()))
                .into(),
            ..scenario("long-steps", measured())
        },
        Scenario {
            cost_model: CostModel::Cache,
            trials: 24,
            fail_every: 7,
            ..scenario("large-choices", large_choices())
        },
        Scenario {
            cost_model: CostModel::Cache,
            trials: 18,
            players: ["auto", "eipu-prefix"].map(|name| (name, Map::new())).into(),
            ..scenario("many-stages", many_stages())
        },
        Scenario {
            trials: 24,
            ..scenario(
                "one-module",
                Space::new([module("only", Cost::Given(1.0), vec![float("a"), float("b")])]).unwrap(),
            )
        },
    ]
}
