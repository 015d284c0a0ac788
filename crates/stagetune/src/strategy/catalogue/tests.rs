//! Options by name: what is not given stays, what is given counts, and errors say which one and what it can be.

use serde_json::json;

use super::*;
use crate::space::{Cost, Module, Param};
use crate::strategy::Identity;

fn space() -> Space {
    let module = |name: &str, param: &str| {
        Module::new(name, [Param::float(param, 0.0, 1.0).unwrap()]).unwrap().cost(Cost::Given(1.0)).unwrap()
    };
    Space::new([module("first", "a"), module("second", "b"), module("third", "c")]).unwrap()
}

fn identity(name: &str, options: Value) -> Result<Identity, String> {
    let Value::Object(options) = options else { panic!("options are a map") };
    configured(name, &space(), &options, 7).map(|s| s.identity()).map_err(|error| error.to_string())
}

fn default(name: &str) -> Identity {
    by_name(name, &space(), 7).unwrap().identity()
}

#[test]
fn defaults_written_and_read_again_are_the_defaults() {
    for name in NAMES {
        assert_eq!(identity(name, json!({})).unwrap(), default(name));
        let written = (descriptor(name).unwrap().defaults)().unwrap();
        assert_eq!(identity(name, written).unwrap(), default(name), "{name}");
    }
}

#[test]
fn every_option_is_described_and_can_be_given_alone() {
    for name in NAMES {
        let described = describe(name).unwrap();
        assert_eq!(described.name, name);
        assert!(!described.about.is_empty());
        assert_eq!(described.options.is_empty(), name == "random");
        for option in described.options {
            assert!(!option.about.is_empty() && option.takes != "another value", "{name}: {}", option.name);
            let mut given = option.default.clone();
            if given.is_null() {
                given = json!("none");
            }
            for part in option.name.rsplit('.') {
                given = json!({ part: given });
            }
            assert_eq!(identity(name, given), Ok(default(name)), "{}", option.name);
        }
    }
}

#[test]
fn what_is_given_replaces_that_alone() {
    let given = json!({"model": {"family": "matern32"}, "design": {"sobol": 10}, "alpha": "log-ei"});
    let mut expected = crate::strategy::LamboOptions::paper();
    expected.model.family = crate::surrogate::Family::Matern32;
    expected.design = crate::strategy::Design::Sobol(10);
    expected.alpha = crate::strategy::lambo::Alpha::LogEi;
    let expected = crate::strategy::Lambo::new(&space(), expected, 7).unwrap().identity();
    assert_eq!(identity("lambo-paper", given).unwrap().options, expected.options);
}

#[test]
fn options_of_every_form_are_understood() {
    let fits = [
        ("lambo", json!({"alpha": {"lcb": {"fixed": 2}}, "losses": {"clip": {"low": 0, "high": 1}}})),
        ("lambo", json!({"alpha": {"mes": {"samples": 4}}, "depths": {"each": [2, 1]}})),
        (
            "lambo",
            json!({"alpha": {"gittins": 0.01}, "depths": "from-costs", "partition": {"diameter": 0.5}}),
        ),
        ("lambo", json!({"abandon": {"below": 0.1, "after": 10}, "growth": "none", "refresh_every": "none"})),
        ("lambo-paper", json!({"abandon": "none", "growth": {"every": 5}, "refresh_every": "none"})),
        ("lambo", json!({"alpha": "ei-per-cost", "losses": "gap", "anchors": "previous"})),
        ("lambo-paper", json!({"alpha": {"gittins-per-cost": {"lambda": 0.2, "decay": 1}}})),
        ("lambo", json!({"theory": {"horizon": 100}, "scores": [["a > 0.5", 0.25]]})),
        ("lambo", json!({"design": {"nested": {"points": 6, "every": 2}}, "effort": {"starts": 2}})),
        ("gp-ei", json!({"other_kernel": "none", "model": {"noise": {"known": 0.01}}})),
        ("gp-ucb", json!({"beta": "sqrt"})),
        ("ca-mobo", json!({"beta": 1, "scalarisation": "smallest-utility"})),
    ];
    for (name, options) in fits {
        let text = options.to_string();
        let identity = identity(name, options);
        assert!(identity.as_ref().is_ok_and(|identity| *identity != default(name)), "{text}: {identity:?}");
    }
}

#[test]
fn errors_name_the_option_and_say_what_it_can_be() {
    let cases = [
        (
            "lambo",
            json!({"etta": 1}),
            "option `etta` of strategy `lambo`: there is no such option; use one of",
        ),
        ("lambo", json!({"model": {"famly": 1}}), "option `model.famly`"),
        ("random", json!({"eta": 1}), "nor any other"),
        ("lambo", json!({"eta": "fast"}), "option `eta` of strategy `lambo`: \"fast\" does not fit"),
        ("lambo", json!({"eta": "fast"}), "give a number above 0"),
        ("lambo", json!({"eta": -1}), "option `eta`: it is -1; give a finite number above 0"),
        ("lambo", json!({"design": {"grid": 3}}), "give { uniform = 15 }, { sobol = 15 } or"),
        ("lambo", json!({"design": {"nested": {"points": 3, "evry": 3}}}), "unknown field `evry`"),
        ("lambo", json!({"model": 3}), "give a table of options"),
        (
            "lambo",
            json!({"model": {"family": "linear"}}),
            "\"rough-matern52\" or \"additive-rough-matern52\"",
        ),
        ("lambo", json!({"refresh_every": 2.5}), "give a whole number of at least 1, or \"none\""),
        ("lambo", json!({"effort": {"seed": 3}}), "option `effort.seed`"),
        ("lambo-paper", json!({"abandon": {"below": 2}}), "option `abandon.below`"),
        // It is switched off there, so that all of it must be given.
        ("lambo", json!({"abandon": {"below": 0.1}}), "give { below = 0.1, after = 10 } or \"none\""),
        ("lambo", json!({"anchors": "best"}), "give \"previous\" or \"prefixes\""),
        ("bogo", json!({}), "there is no strategy `bogo`"),
    ];
    for (name, options, expected) in cases {
        let text = options.to_string();
        let error = identity(name, options).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn options_under_their_earlier_names_give_the_same_strategy() {
    let renamed = [
        ("auto", json!({"odds": false}), json!({"feasibility": false})),
        ("auto", json!({"bend": true}), json!({"warping": true})),
        ("auto", json!({"steps": false}), json!({"quantisation": false})),
        ("auto", json!({"pace": false}), json!({"trial_overhead": false})),
        ("auto", json!({"stray": "none"}), json!({"lengthscale_spread": "none"})),
        ("auto", json!({"stray": 0.5}), json!({"lengthscale_spread": 0.5})),
        ("auto", json!({"known": 0.01}), json!({"known_margin": 0.01})),
        ("auto", json!({"rivals": ["rough-matern52"]}), json!({"kernels": ["rough-matern52"]})),
        ("gp-ei", json!({"rival": "none"}), json!({"other_kernel": "none"})),
    ];
    for (name, before, now) in renamed {
        let text = before.to_string();
        let expected = identity(name, now).unwrap();
        assert_ne!(expected, default(name), "{text}");
        assert_eq!(identity(name, before), Ok(expected), "{text}");
    }
    let error = identity("auto", json!({"feasibility": false, "odds": true})).unwrap_err();
    assert!(
        error.contains("option `feasibility` of strategy `auto`: it is given twice, also as `odds`"),
        "{error}"
    );
}

#[test]
fn a_complete_map_is_sorted_and_stays_as_it_is() {
    for name in NAMES {
        let complete = complete_options(name, &Map::new()).unwrap();
        assert!(complete.keys().is_sorted(), "{name}");
        assert_eq!(complete_options(name, &complete).unwrap(), complete, "{name}");
        assert_eq!(default(name).options, complete, "{name}");
        assert_eq!(default(name).name, name);
    }
}
