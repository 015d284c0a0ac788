//! Spaces that strategies must cope with.

use stagetune::space::{Cost, Module, Param, Space};

fn module(name: &str, cost: f64, params: Vec<Param>) -> Module {
    Module::new(name, params).unwrap().cost(Cost::Given(cost)).unwrap()
}

fn float(name: &str) -> Param {
    Param::float(name, 0.0, 1.0).unwrap()
}

/// Two modules of two floats, 10 : 1.
pub fn plain() -> Space {
    Space::new([
        module("first", 10.0, vec![float("a"), float("b")]),
        module("second", 1.0, vec![float("c"), float("d")]),
    ])
    .unwrap()
}

/// Three modules with every kind of parameter, forbidden regions of a module and across modules, and cuts.
pub fn mixed() -> Space {
    let denoise = module(
        "denoise",
        40.0,
        vec![Param::float("strength", 1.0, 15.0).unwrap(), Param::bool("median").unwrap()],
    )
    .cut("strength", [4.0, 9.0])
    .unwrap();
    let train = module(
        "train",
        10.0,
        vec![
            Param::float("lr", 1e-5, 1e-1).unwrap().log().unwrap(),
            Param::int("batch", 2, 14).unwrap().step(2).unwrap(),
            Param::choice("norm", ["batch", "group", "layer", "none"]).unwrap(),
        ],
    )
    .forbid("lr > 0.02 and batch < 6")
    .unwrap();
    let post = module("post", 1.0, vec![float("purity"), Param::int("opening", 0, 4).unwrap()]);
    Space::new([denoise, train, post])
        .unwrap()
        .forbid("strength > 12 and norm == \"none\"")
        .unwrap()
        .forbid("purity < 0.2 and lr < 1e-4")
        .unwrap()
}

/// Three modules whose costs are measured.
pub fn measured() -> Space {
    let module =
        |name: &str, params: Vec<Param>| Module::new(name, params).unwrap().cost(Cost::Measured).unwrap();
    Space::new([
        module("first", vec![float("a")]),
        module("second", vec![float("b"), Param::choice("kind", ["x", "y", "z"]).unwrap()]),
        module("third", vec![float("c"), Param::int("k", 1, 4).unwrap()]),
    ])
    .unwrap()
    .forbid("a + c > 1.7")
    .unwrap()
}

/// Spaces at the edge of what makes sense, by name.
pub fn edges() -> Vec<(&'static str, Space)> {
    let choice = |name: &str| Param::choice(name, ["x", "y", "z"]).unwrap();
    vec![
        ("a single module", Space::new([module("only", 1.0, vec![float("a"), float("b")])]).unwrap()),
        (
            "modules of one parameter",
            Space::new([module("first", 5.0, vec![float("a")]), module("second", 1.0, vec![float("b")])])
                .unwrap(),
        ),
        (
            "categories only",
            Space::new([
                module("first", 5.0, vec![choice("a"), Param::bool("b").unwrap()]),
                module("second", 2.0, vec![choice("c")]),
                module("third", 1.0, vec![choice("d"), choice("e")]),
            ])
            .unwrap(),
        ),
        (
            "a choice of many values",
            Space::new([
                module("first", 5.0, vec![float("a")]),
                module("second", 1.0, vec![Param::choice("b", (0..90).map(|k| format!("v{k}"))).unwrap()]),
            ])
            .unwrap()
            .forbid("a > 0.5 and b == 'v3'")
            .unwrap(),
        ),
        (
            "zero costs",
            Space::new([module("first", 0.0, vec![float("a")]), module("second", 0.0, vec![float("b")])])
                .unwrap(),
        ),
        (
            "modules without parameters",
            Space::new([
                module("load", 3.0, vec![]),
                module("first", 5.0, vec![float("a")]),
                module("middle", 3.0, vec![]),
                module("second", 1.0, vec![float("b")]),
                module("save", 1.0, vec![]),
            ])
            .unwrap(),
        ),
        (
            "parameters of one value",
            Space::new([
                module(
                    "first",
                    5.0,
                    vec![Param::int("a", 3, 3).unwrap(), Param::choice("b", ["x"]).unwrap()],
                ),
                module("second", 1.0, vec![float("c")]),
            ])
            .unwrap(),
        ),
        (
            "almost everything forbidden",
            Space::new([module("first", 5.0, vec![float("a")]), module("second", 1.0, vec![float("b")])])
                .unwrap()
                .forbid("a < 0.99 or b > a - 0.9")
                .unwrap(),
        ),
    ]
}
