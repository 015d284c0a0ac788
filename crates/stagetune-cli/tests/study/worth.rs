//! Stopping when going on is not worth its cost, and what `status` says is ahead.

use crate::harness::{Lab, THREE, text};

#[test]
fn an_automatic_budget_ends_the_study_and_says_why() {
    let lab =
        Lab::new(&THREE.replace("budget = { trials = 40 }", "budget = { price = \"auto\", trials = 150 }"));
    let said = lab.done(&["run"]);
    assert!(said.contains("expected to gain") && said.contains("that such a cost is worth"), "{said}");
    let status = lab.json(&["status", "--json"]);
    let trials = status["trials"].as_u64().unwrap();
    assert!((8..150).contains(&trials), "{trials}");
    assert_eq!(status["state"], "finished");
    assert!(status["closed"].as_str().unwrap().contains("expected to gain"), "{status}");
    // It is over until somebody says otherwise.
    lab.done(&["run"]);
    assert_eq!(lab.json(&["status", "--json"])["trials"].as_u64(), Some(trials));
    lab.write(&THREE.replace("{ trials = 40 }", &format!("{{ trials = {} }}", trials + 2)));
    lab.done(&["run"]);
    assert_eq!(lab.json(&["status", "--json"])["trials"].as_u64(), Some(trials + 2));
}

#[test]
fn auto_alone_is_a_budget_and_a_high_price_ends_early() {
    let lab = Lab::new(&THREE.replace("{ trials = 40 }", "\"auto\""));
    assert!(!lab.done(&["check"]).contains("no budget"));
    lab.write(&THREE.replace("{ trials = 40 }", "{ price = \"1e6 per unit\" }"));
    lab.done(&["run"]);
    assert_eq!(lab.json(&["status", "--json"])["trials"], 8);
}

#[test]
fn status_says_what_is_ahead_or_why_nobody_knows() {
    let few = Lab::new(&THREE.replace("trials = 40", "trials = 3"));
    few.done(&["run"]);
    assert!(few.done(&["status"]).contains("no forecast: 3 of the 5 values"));
    let status = few.json(&["status", "--json"]);
    assert!(status["forecast"].is_null() && status["no_forecast"].is_string(), "{status}");

    let lab = Lab::new(THREE);
    lab.done(&["run"]);
    let said = lab.done(&["status"]);
    assert!(
        said.contains("if you went on, next 10 full runs: expected gain")
            && said.contains("the best next trial gains"),
        "{said}"
    );
    let status = lab.json(&["status", "--json"]);
    let ahead = &status["forecast"];
    let number = |key: &str| ahead[key].as_f64().unwrap();
    assert!(status["no_forecast"].is_null() && ahead["horizon_seconds"].is_null());
    assert_eq!((number("horizon"), number("full_run"), number("horizon_full_runs")), (140.0, 14.0, 10.0));
    assert!(
        number("expected_gain") >= 0.0 && number("next_gain") >= 0.0 && number("next_cost") > 0.0,
        "{ahead}"
    );

    // A study that goes on is told of no more than it may spend.
    lab.write(&THREE.replace("{ trials = 40 }", "{ cost = 1000000 }"));
    let open = lab.json(&["status", "--json"]);
    assert_eq!(open["forecast"]["rest_of_budget"], false);
    let spent = open["spent"].as_f64().unwrap();
    lab.write(&THREE.replace("{ trials = 40 }", &format!("{{ cost = {} }}", spent + 30.0)));
    let said = lab.done(&["status"]);
    assert!(said.contains("rest of the budget (30"), "{said}");
    assert_eq!(lab.json(&["status", "--json"])["forecast"]["horizon"], 30.0);

    // Measured stages: an hour of them. Gains are above zero where higher is better, too.
    let text = THREE.replace("cost = 10\n", "").replace("cost = 3\n", "").replace("cost = 1\n", "");
    let up = Lab::new(&text.replace("minimize", "maximize").replace("trials = 40", "trials = 20"));
    up.done(&["run"]);
    let said = up.done(&["status"]);
    assert!(said.contains("next hour: expected gain"), "{said}");
    let ahead = &up.json(&["status", "--json"])["forecast"];
    assert_eq!(ahead["horizon_seconds"], 3600.0);
    assert!(
        ahead["expected_gain"].as_f64().unwrap() >= 0.0 && ahead["incumbent"].as_f64().unwrap() > 0.0,
        "{ahead}"
    );
}

#[test]
fn a_price_for_something_else_than_what_costs_are_in_is_warned_of() {
    let warned = |pipeline: &str| text(&Lab::new(pipeline).stagetune(&["check"]).stdout);
    let priced = |price: &str| THREE.replace("{ trials = 40 }", &format!("{{ price = \"{price}\" }}"));
    let measured =
        |text: &str| text.replace("cost = 10\n", "").replace("cost = 3\n", "").replace("cost = 1\n", "");
    assert!(warned(&priced("0.01 per hour")).contains("for a time while no stage is measured"));
    assert!(warned(&measured(&priced("0.01 per unit"))).contains("for units while stages are measured"));
    // What is reported may be seconds.
    let reported = priced("0.01 per hour").replace("cost = 10\n", "cost = \"reported\"\n");
    for right in [priced("0.01 per 5 units"), measured(&priced("0.01 per hour")), priced("auto"), reported] {
        assert!(!warned(&right).contains("the price is"), "{right}");
    }
}
